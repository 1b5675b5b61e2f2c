"""The tables and the figure of the paper, reproduced and written to a folder with a page to read first."""

import csv
import io
import json
import os
import tomllib
from collections.abc import Iterator, Sequence
from dataclasses import asdict
from decimal import Decimal
from functools import cache
from importlib.resources import files
from pathlib import Path
from typing import TYPE_CHECKING, Any, NamedTuple, cast

import numpy as np

from analogical.errors import InputError
from analogical.paper.datasets import find_folder
from analogical.paper.tables import Plan, PrintedCell, ReproducedTable, Variant, build_table
from analogical.plot.canvas import COLOURS, plain_text, require_matplotlib, save_figure
from analogical.rivals import METHODS

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure
    from matplotlib.layout_engine import ConstrainedLayoutEngine

PARTS = ("table1", "table2", "table3", "table4", "table5", "table6", "figure")
"""The parts of the paper that can be reproduced."""
VARIANTS: tuple[Variant, ...] = ("as-published", "corrected")
DIFFERS = "✗"


class Reproduction(NamedTuple):
    """What was run and written; the first file is the page to read first."""

    tables: tuple[ReproducedTable, ...]
    files: tuple[Path, ...]


def reproduce(
    parts: Sequence[str] = PARTS,
    out: str | os.PathLike[str] = "results",
    *,
    variants: Sequence[Variant] = VARIANTS,
    plan: Plan | None = None,
    data: str | os.PathLike[str] | None = None,
) -> Reproduction:
    """Reproduce parts of the paper and write them to a folder, with a README.md to read first.

    ``parts`` are some of :data:`PARTS`, ``variants`` some of :data:`VARIANTS`. The data files are read from the folder
    ``data``, by default that of the variable ANALOGICAL_DATA, if it is set.
    """
    unknown = [part for part in parts if part not in PARTS]
    if unknown or not parts:
        what = f"There is no part {unknown[0]!r}" if unknown else "No part was named"
        raise InputError(f"{what}; choose from {', '.join(PARTS)}.")
    plan = plan or Plan()
    folder = find_folder(data)
    target = Path(out)
    try:
        target.mkdir(parents=True, exist_ok=True)
    except OSError as error:
        raise InputError(
            f"The folder {str(target)!r} cannot be created: {error.strerror}; name another with --out."
        ) from None
    if "figure" in parts:
        require_matplotlib()  # raise the error before the work, not after
    tables: dict[tuple[str, Variant], ReproducedTable] = {}
    written = [target / "README.md"]
    for part in (part for part in PARTS[:-1] if part in parts):
        for variant in VARIANTS[1:] if part == "table5" else variants:  # Table 5 is arithmetic
            tables[part, variant] = table = build_table(part, variant, plan, folder)
            for ending, write in FORMATS.items():
                written.append(target / f"{_stem(table)}.{ending}")
                written[-1].write_text(write(table), encoding="utf-8")
    drawn = variants if "figure" in parts else ()
    for variant in drawn:
        figure = draw_figure(tables.get(("table1", variant)) or build_table("table1", variant, plan, folder))
        for ending in ("png", "svg"):
            written.append(target / f"figure-{variant}.{ending}")
            save_figure(figure, written[-1])
    written[0].write_text(as_page(list(tables.values()), drawn, plan), encoding="utf-8")
    return Reproduction(tuple(tables.values()), tuple(written))


def refuse_foreign_folder(folder: str | os.PathLike[str]) -> None:
    """Refuse a folder that cannot be written to, or whose README.md was not written by ``reproduce``."""
    page = Path(folder) / "README.md"
    if page.parent.is_dir() and not os.access(page.parent, os.W_OK):
        raise InputError(f"The folder {str(folder)!r} cannot be written to; name another with --out.")
    if page.exists() and not (page.is_file() and page.read_bytes().startswith(texts()["title"].encode())):
        raise InputError(
            f"{str(page)!r} was not written by analogical reproduce and would be overwritten; name another folder with"
            " --out."
        )


# ---------------------------------------------------------------- words


@cache
def texts() -> dict[str, Any]:
    """The texts of the tables, of the figure and of the page to read first."""
    return tomllib.loads((files("analogical.paper") / "texts.toml").read_text(encoding="utf-8"))


def row_title(row: str) -> str:
    """The name of a row as it is shown: the title of a method, a sample size, or the name itself."""
    if row in METHODS:
        return METHODS[row].title
    return f"{int(row):,} rows" if row.isdigit() else row


def _stem(table: ReproducedTable) -> str:
    """Name of the files of a table without extension."""
    return table.name if table.name == "table5" else f"{table.name}-{table.variant}"


def _about(table: ReproducedTable) -> str:
    """How the numbers of a table were computed."""
    names = ["table4", "table6"] if table.name == "table6" else [table.name]  # samples of another universe
    return " ".join(filter(None, (texts()[name][table.variant] for name in names)))


def _agreement(table: ReproducedTable) -> str:
    """How many printed numbers agree, in total and by method or sample size."""
    agreeing, judged = table.agreement()
    if judged == 0:
        return "No printed number could be judged."
    marked = "." if agreeing == judged else f"; the others are marked {DIFFERS}."
    parts = {part: table.agreement(part) for part in map(table.part_of, table.cells)}
    by_part = (f"{row_title(part)}: {agree} of {of}" for part, (agree, of) in parts.items() if of)
    return f"**{agreeing:,} of {judged:,} printed numbers agree**{marked} {', '.join(by_part)}."


def _number(value: float | None, decimals: int | None, sd: float | None = None) -> str:
    """A number as text: integers without decimals; others with ``decimals``, or four significant digits."""
    if value is None:
        return "–"
    if sd:
        return f"{_number(value, decimals)} ± {_number(sd, decimals)}"
    if value == int(value):
        return f"{int(value):,}"
    return format(Decimal(f"{value:.4g}"), "f") if decimals is None else f"{value:.{decimals}f}"


# ---------------------------------------------------------------- one table


def _grids(table: ReproducedTable) -> Iterator[list[list[str]]]:
    """Header and rows of each group, with lines for printed, computed and expected values."""
    decimals = None if table.name == "table5" else 2
    for group, rows in table.groups().items():
        grid = [[group, *(cell.column for cell in next(iter(rows.values())))]]
        for row, cells in rows.items():
            lines: dict[str, list[str]] = {"printed": [], "ours": [], "expected": []}
            for cell in cells:
                mark = f" {DIFFERS}" if cell.verdict == "differs" else ""
                sd = cell.sd if table.name == "table3" or cell.printed_sd is not None else None
                lines["printed"].append(_number(cell.printed, decimals, cell.printed_sd) + mark)
                lines["ours"].append(_number(cell.ours, decimals, sd))
                lines["expected"].append(_number(cell.expected, decimals))
            known = {what: line for what, line in lines.items() if what == "ours" or set(line) != {"–"}}
            grid += [[f"{row_title(row)}, {what}", *line] for what, line in known.items()]
        yield grid


def as_markdown(table: ReproducedTable) -> str:
    """The table for reading, with printed, computed and expected values below each other."""
    head = f"# {texts()[table.name]['title']}\n\nVariant: **{table.variant}**. {_about(table)}"
    notes = [f"> {note}" for note in table.notes]
    return "\n\n".join([head, *notes, _agreement(table), *map(_markdown_table, _grids(table))]) + "\n"


def as_latex(table: ReproducedTable) -> str:
    """The table for a paper; needs the package booktabs."""
    title = texts()[table.name]["title"]
    text = f"% {title}\n% Variant: {table.variant}. A printed number that differs is set bold.\n"
    for grid in _grids(table):
        header, *lines = (" & ".join(map(_latex_cell, words)) + r" \\" for words in grid)
        rows = [r"\toprule", header, r"\midrule", *lines, r"\bottomrule", r"\end{tabular}"]
        text += "\n".join([r"\begin{tabular}{l" + "r" * (len(grid[0]) - 1) + "}", *rows]) + "\n\n"
    return text.removesuffix("\n")


def _latex_cell(word: str) -> str:
    text = word.removesuffix(f" {DIFFERS}")
    for sign, escape in {"χ²": r"$\chi^2$", "±": r"$\pm$", "–": "--", "%": r"\%", "_": r"\_"}.items():
        text = text.replace(sign, escape)
    return text if text == word or not word.endswith(DIFFERS) else rf"\textbf{{{text}}}"


def _cells(table: ReproducedTable) -> list[dict[str, Any]]:
    return [asdict(cell) | {"verdict": cell.verdict} for cell in table.cells]


def as_csv(table: ReproducedTable) -> str:
    """One line per cell."""
    text, rows = io.StringIO(), [{"table": table.name, "variant": table.variant} | cell for cell in _cells(table)]
    writer = csv.DictWriter(text, list(rows[0]), lineterminator="\n")
    writer.writeheader()
    writer.writerows(rows)
    return text.getvalue()


def as_json(table: ReproducedTable) -> str:
    """The whole table as JSON."""
    agreeing, judged = table.agreement()
    content = {
        "table": table.name,
        "variant": table.variant,
        "title": texts()[table.name]["title"],
        "about": _about(table),
        "notes": list(table.notes),
        "printed_cells_judged": judged,
        "printed_cells_agreeing": agreeing,
        "cells": _cells(table),
    }
    return json.dumps(content, indent=1, ensure_ascii=False, allow_nan=False) + "\n"


FORMATS = {"md": as_markdown, "csv": as_csv, "json": as_json, "tex": as_latex}
"""Writers by file extension."""


def _markdown_table(rows: Sequence[list[str]], words: Sequence[int] = (0,)) -> str:
    """A table, the header first; columns are numbers, except those of ``words``."""
    rule = ["---" if column in words else "---:" for column in range(len(rows[0]))]
    return "\n".join(f"| {' | '.join(cells)} |" for cells in (rows[0], rule, *rows[1:]))


# ---------------------------------------------------------------- the page to read first


def as_page(tables: Sequence[ReproducedTable], figures: Sequence[Variant], plan: Plan) -> str:
    """The page to read first: how to read the results, what agrees and what differs; and the variants drawn."""
    run = f"Written by `analogical reproduce` with {plan.repetitions} repetitions and seed {plan.seed}."
    parts = [f"{texts()['title']}\n\n{run}\n\n{texts()['reading']}"]
    if tables:
        rows = [["table", "variant", "agree", "of", "files"]]
        for table in tables:
            kind = "arithmetic" if table.name == "table5" else table.variant
            links = ", ".join(f"[{ending}]({_stem(table)}.{ending})" for ending in FORMATS)
            rows.append([table.name, kind, *(f"{n:,}" for n in table.agreement()), links])
        parts.append(f"## Printed numbers that agree\n\n{_markdown_table(rows, words=(0, 1, 4))}\n")
    for table in tables:
        title, file = texts()[table.name]["title"], f"{_stem(table)}.md"
        notes = [f"> {note}" for note in table.notes]
        content = [_about(table), _agreement(table), *notes, *_differences(table), f"All cells: [{file}]({file})"]
        heading = title if table.name == "table5" else f"{title}; {table.variant}"
        parts.append("\n\n".join([f"## {heading}", *content]) + "\n")
    for variant in figures:
        picture = f"![Bar charts of g8, {variant}](figure-{variant}.png)"
        parts.append(f"## Figure: four methods on g8; {variant}\n\n{picture}\n")
    return "\n".join(parts)


def _differences(table: ReproducedTable, most: int = 12) -> list[str]:
    """The cells that differ most, relative to what chance allows: a table, and how many there are."""
    cells = [cell for cell in table.cells if cell.verdict == "differs"]
    cells.sort(key=lambda cell: -abs((cell.printed or 0) - (cell.reference or 0)) / (cell.bound or 1))
    rows = [[DIFFERS, "printed", "ours", "expected", "may differ by"]]
    for cell in cells[:most]:
        numbers = (cell.printed, cell.ours, cell.expected, cell.bound)
        shown = ("–" if number is None else f"{number:.4g}" for number in numbers)
        rows.append([f"{cell.group}, {row_title(cell.row)}, {cell.column}", *shown])
    more = [f"These are the {most} largest of {len(cells):,} differences."] if len(cells) > most else []
    return [_markdown_table(rows), *more] if cells else []


# ---------------------------------------------------------------- the figure


def draw_figure(table1: ReproducedTable) -> "Figure":
    """Bar charts of the g8 rows of Table 1, "the number is prime", with its printed values as marks."""
    with plain_text():
        figure = require_matplotlib()(figsize=(9.2, 6.0), layout="constrained", facecolor="white")
        cast("ConstrainedLayoutEngine", figure.get_layout_engine()).set(w_pad=0.12, h_pad=0.1)
        axes = figure.subplots(2, 2, sharey=True)
        highest = 0.05
        rows = table1.groups()["g8"]
        for ax, method in zip(axes.flat, ("ari", "chi2", "mi", "relief"), strict=True):
            _draw_bars(ax, rows[method])
            ax.set_title(METHODS[method].title, loc="left", fontsize=11, color=COLOURS.ink, fontweight="bold")
            highest = max(highest, *(number or 0.0 for cell in rows[method] for number in (cell.ours, cell.printed)))
        axes[0, 0].set_ylim(0, highest * 1.05)
        for ax in axes[:, 0]:
            ax.set_ylabel("share of the score", fontsize=9, color=COLOURS.muted)
        title = "Which binary digits decide whether a number is prime (g8)"
        figure.suptitle(title, x=0.01, ha="left", fontsize=13, color=COLOURS.ink, fontweight="bold")
        about = texts()["figure"][table1.variant]
        caption = f"{table1.variant}: {about}; a10 is the last digit, the highest bar stands out"
        figure.supxlabel(caption, x=0.01, ha="left", fontsize=9, color=COLOURS.muted)
        from matplotlib.lines import Line2D

        handle = Line2D([], [], color=COLOURS.ink, linewidth=1.6, label="printed in Table 1")
        figure.legend(handles=[handle], loc="upper right", frameon=False, fontsize=9, labelcolor=COLOURS.muted)
    return figure


def _draw_bars(ax: "Axes", cells: list[PrintedCell]) -> None:
    """Our shares as bars, the highest one highlighted; a dash where there is no evidence; printed ones as lines."""
    places = np.arange(len(cells))
    shares = np.array([np.nan if cell.ours is None else cell.ours for cell in cells])
    is_best = (shares == np.nanmax(shares, initial=0.0)) & (shares > 0)
    colours = np.where(is_best, COLOURS.changed, COLOURS.effect).tolist()
    ax.bar(places, np.nan_to_num(shares), width=0.72, color=colours, zorder=2)
    unknown = places[np.isnan(shares)]
    ax.scatter(unknown, np.zeros(len(unknown)), marker="_", s=60, color=COLOURS.muted, zorder=3, clip_on=False)
    printed = [cell.printed or 0.0 for cell in cells]
    ax.hlines(printed, places - 0.44, places + 0.44, color=COLOURS.ink, linewidth=1.6, zorder=3)
    ax.set_xticks(places, [cell.column for cell in cells], fontsize=8.5, color=COLOURS.ink)
    ax.tick_params(axis="y", labelsize=8.5, labelcolor=COLOURS.muted)
    ax.tick_params(length=0)
    ax.grid(axis="y", color=COLOURS.grid, linewidth=0.8, zorder=0)
    ax.margins(x=0.02)
    ax.spines[["top", "right", "left"]].set_visible(False)
    ax.spines["bottom"].set_color(COLOURS.muted)
