"""Reproduced tables as Markdown, CSV, JSON and LaTeX, and the page to read first."""

import csv
import io
import json
import os
from collections.abc import Callable, Iterator, Sequence
from decimal import Decimal
from pathlib import Path

from analogical.errors import InputError
from analogical.paper.protocol import Plan
from analogical.paper.results import PrintedCell, ReproducedTable
from analogical.paper.texts import PAGE_TITLE, READING, row_title

__all__ = ["FORMATS", "as_csv", "as_json", "as_latex", "as_markdown", "as_page", "refuse_foreign_folder"]

DIFFERS = "✗"
MAX_DIFFERENCES = 12
"""Most differing cells that the page lists per table."""


def refuse_foreign_folder(folder: "str | os.PathLike[str]") -> None:
    """Refuse a folder that cannot be written to, or whose README.md was not written by ``reproduce``."""
    page = Path(folder) / "README.md"
    if page.parent.is_dir() and not os.access(page.parent, os.W_OK):
        raise InputError(f"The folder {str(folder)!r} cannot be written to; name another with --out.")
    if not page.exists():
        return
    if not page.is_file() or not page.read_bytes().startswith(PAGE_TITLE.encode()):
        raise InputError(
            f"{str(page)!r} was not written by analogical reproduce and would be overwritten; name another folder with"
            " --out."
        )


# ---------------------------------------------------------------- one table


def as_markdown(table: ReproducedTable) -> str:
    """The table for reading, with printed, computed and expected values below each other."""
    parts = [f"# {table.title}", "", f"Variant: **{table.variant}**. {table.about}", ""]
    parts += [line for note in table.notes for line in (f"> {note}", "")]
    parts += [_agreement_sentence(table), ""]
    for group, cells_by_row in table.groups().items():
        header, *rows = _grid(table.name, group, cells_by_row)
        parts += _markdown_table(header, rows)
        parts.append("")
    return "\n".join(parts)


def as_latex(table: ReproducedTable) -> str:
    """The table for a paper; needs the package booktabs."""
    parts = [
        f"% {table.title}",
        f"% Variant: {table.variant}. A printed number that differs is set bold.",
    ]
    for group, cells_by_row in table.groups().items():
        header, *rows = _grid(table.name, group, cells_by_row)
        parts += [
            r"\begin{tabular}{l" + "r" * (len(header) - 1) + "}",
            r"\toprule",
            _latex_row(header),
            r"\midrule",
            *(_latex_row(row) for row in rows),
            r"\bottomrule",
            r"\end{tabular}",
            "",
        ]
    return "\n".join(parts)


def as_csv(table: ReproducedTable) -> str:
    """One line per cell."""
    text = io.StringIO()
    rows = [{"table": table.name, "variant": table.variant, **cell.to_dict()} for cell in table.cells]
    writer = csv.DictWriter(text, list(rows[0]), lineterminator="\n")
    writer.writeheader()
    writer.writerows(rows)
    return text.getvalue()


def as_json(table: ReproducedTable) -> str:
    """The whole table as JSON."""
    return json.dumps(table.to_dict(), indent=1, ensure_ascii=False, allow_nan=False) + "\n"


FORMATS: dict[str, Callable[[ReproducedTable], str]] = {
    "md": as_markdown,
    "csv": as_csv,
    "json": as_json,
    "tex": as_latex,
}
"""Writers by file extension."""


def _agreement_sentence(table: ReproducedTable) -> str:
    """How many printed numbers agree, in total and by method or sample size."""
    agreeing, judged = table.agreement()
    if judged == 0:
        return "No printed number could be judged."
    marked = "." if agreeing == judged else f"; the others are marked {DIFFERS}."
    by_part = (f"{row_title(part)}: {its.agreeing} of {its.judged}" for part, its in table.agreement_by_part().items())
    return f"**{agreeing:,} of {judged:,} printed numbers agree**{marked} {', '.join(by_part)}."


def _grid(table: str, group: str, cells_by_row: dict[str, list[PrintedCell]]) -> Iterator[list[str]]:
    """Header and rows of one group as text, with lines for printed, computed and expected values."""
    first = next(iter(cells_by_row.values()))
    yield [group, *(cell.column for cell in first)]
    decimals = None if table == "table5" else 2
    for row, cells in cells_by_row.items():
        if any(cell.printed is not None for cell in cells):
            mark = {"differs": f" {DIFFERS}"}
            printed = (_number(cell.printed, decimals, cell.printed_sd) + mark.get(cell.verdict, "") for cell in cells)
            yield [f"{row_title(row)}, printed", *printed]
        sds = [cell.sd if table == "table3" or cell.printed_sd is not None else None for cell in cells]
        ours = (_number(cell.ours, decimals, sd) for cell, sd in zip(cells, sds, strict=True))
        yield [f"{row_title(row)}, ours", *ours]
        if any(cell.expected is not None for cell in cells):
            yield [f"{row_title(row)}, expected", *(_number(cell.expected, decimals) for cell in cells)]


def _number(value: float | None, decimals: int | None, sd: float | None = None) -> str:
    """A number as text: integers without decimals; others with ``decimals``, or four significant digits."""
    if sd:
        return f"{_number(value, decimals)} ± {_number(sd, decimals)}"
    if value is None:
        return "–"
    if value == int(value):
        return f"{int(value):,}"
    if decimals is None:
        return format(Decimal(f"{value:.4g}"), "f")
    return f"{value:.{decimals}f}"


def _markdown_table(header: list[str], rows: Sequence[list[str]], words: Sequence[int] = (0,)) -> list[str]:
    """Lines of a table; columns are numbers, except those of ``words``."""
    rule = ["---" if column in words else "---:" for column in range(len(header))]
    return [f"| {' | '.join(cells)} |" for cells in (header, rule, *rows)]


def _latex_row(words: list[str]) -> str:
    cells = []
    for word in words:
        text = word.removesuffix(f" {DIFFERS}").replace("χ²", r"$\chi^2$").replace("±", r"$\pm$").replace("–", "--")
        text = text.replace("%", r"\%").replace("_", r"\_")
        cells.append(rf"\textbf{{{text}}}" if word.endswith(DIFFERS) else text)
    return " & ".join(cells) + r" \\"


# ---------------------------------------------------------------- the page to read first


def as_page(tables: Sequence[ReproducedTable], figures: Sequence[str], plan: Plan) -> str:
    """The page to read first: how to read the results, what agrees and what differs; figures are file names."""
    parts = [
        PAGE_TITLE,
        "",
        f"Written by `analogical reproduce` with {plan.repetitions} repetitions and seed {plan.seed}.",
        "",
        READING,
    ]
    if tables:
        rows = [
            [
                table.name,
                "arithmetic" if table.name == "table5" else table.variant,
                *(f"{n:,}" for n in table.agreement()),
                ", ".join(f"[{ending}]({table.stem}.{ending})" for ending in FORMATS),
            ]
            for table in tables
        ]
        header = ["table", "variant", "agree", "of", "files"]
        parts += ["## Printed numbers that agree", "", *_markdown_table(header, rows, words=(0, 1, 4)), ""]
    for table in tables:
        heading = table.title if table.name == "table5" else f"{table.title}; {table.variant}"
        parts += [f"## {heading}", "", table.about, "", _agreement_sentence(table)]
        parts += [line for note in table.notes for line in ("", f"> {note}")]
        parts += [*_differences(table), "", f"All cells: [{table.stem}.md]({table.stem}.md)", ""]
    for name in figures:
        variant = Path(name).stem.removeprefix("figure-")
        parts += [f"## Figure: four methods on g8; {variant}", "", f"![Bar charts of g8, {variant}]({name})", ""]
    return "\n".join(parts)


def _differences(table: ReproducedTable) -> list[str]:
    """The cells that differ most, relative to what chance allows."""
    cells = [cell for cell in table.cells if cell.verdict == "differs"]
    if not cells:
        return []
    cells.sort(key=lambda cell: -abs((cell.printed or 0) - (cell.reference or 0)) / (cell.bound or 1))
    rows = [
        [
            f"{cell.group}, {row_title(cell.row)}, {cell.column}",
            *("–" if n is None else f"{n:.4g}" for n in (cell.printed, cell.ours, cell.expected, cell.bound)),
        ]
        for cell in cells[:MAX_DIFFERENCES]
    ]
    lines = ["", *_markdown_table([DIFFERS, "printed", "ours", "expected", "may differ by"], rows)]
    if len(cells) > MAX_DIFFERENCES:
        lines += ["", f"These are the {MAX_DIFFERENCES} largest of {len(cells):,} differences."]
    return lines
