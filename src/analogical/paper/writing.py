"""A reproduced table as Markdown, CSV, JSON and LaTeX."""

import csv
import io
import json
import os
from collections.abc import Callable, Iterator
from decimal import Decimal
from pathlib import Path

from analogical.errors import InputError
from analogical.paper.results import Cell, ReproducedTable

__all__ = ["FORMATS", "as_csv", "as_json", "as_latex", "as_markdown", "refuse_foreign_folder"]

DIFFERS = "✗"
PAGE_TITLE = "# The Analogical Relevance Index paper, run again"
"""First line of the page to read first; a page that begins otherwise is somebody else's."""


def refuse_foreign_folder(folder: "str | os.PathLike[str]") -> None:
    """Refuse a folder that cannot be written to, or whose README.md was written by somebody else."""
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


def as_markdown(table: ReproducedTable) -> str:
    """The table for reading: under each other what was printed, what we got and what is expected."""
    parts = [f"# {table.title}", "", f"Variant: **{table.variant}**. {table.about}", ""]
    parts += [line for note in table.notes for line in (f"> {note}", "")]
    parts += [agreement_sentence(table), ""]
    for group in table.groups():
        header, *rows = _grid(table, group)
        parts += [_markdown_row(header), _markdown_row(["---"] + ["---:"] * (len(header) - 1))]
        parts += [_markdown_row(row) for row in rows]
        parts.append("")
    return "\n".join(parts)


def as_latex(table: ReproducedTable) -> str:
    """The table for a paper; needs the package booktabs."""
    parts = [
        f"% {table.title}",
        f"% Variant: {table.variant}. A printed number that differs is set bold.",
    ]
    for group in table.groups():
        header, *rows = _grid(table, group)
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
    rows = [cell.to_dict() for cell in table.cells]
    writer = csv.DictWriter(text, ["table", "variant", *rows[0]], lineterminator="\n")
    writer.writeheader()
    writer.writerows({"table": table.name, "variant": table.variant, **row} for row in rows)
    return text.getvalue()


def as_json(table: ReproducedTable) -> str:
    """Everything, for machines."""
    return json.dumps(table.to_dict(), indent=1, ensure_ascii=False, allow_nan=False) + "\n"


FORMATS: dict[str, Callable[[ReproducedTable], str]] = {
    "md": as_markdown,
    "csv": as_csv,
    "json": as_json,
    "tex": as_latex,
}
"""Writers by file ending."""


def agreement_sentence(table: ReproducedTable) -> str:
    """How many printed numbers agree, in all and by method or by sample size."""
    agrees, judged = table.agreement()
    if judged == 0:
        return "No printed number could be judged."
    marked = "." if agrees == judged else f"; the others are marked {DIFFERS}."
    sentence = f"**{agrees:,} of {judged:,} printed numbers agree**{marked}"
    by = ((table.row_titles.get(key, key), *counts) for key, counts in table.agreement_by_part().items())
    return sentence + " " + ", ".join(f"{title}: {good} of {all_}" for title, good, all_ in by) + "."


def _grid(table: ReproducedTable, group: str) -> Iterator[list[str]]:
    """Header and rows of one group as words: printed, ours and expected, each on a line where there is one."""
    first = table.cells_of(group, table.rows(group)[0])
    yield [group, *(cell.column for cell in first)]
    shows_spread = table.name == "table3"
    for row in table.rows(group):
        cells = table.cells_of(group, row)
        title = table.row_titles[row]
        if any(cell.printed is not None for cell in cells):
            yield [f"{title}, printed", *(_printed(cell, table.decimals) for cell in cells)]
        yield [f"{title}, ours", *(_ours(cell, table.decimals, shows_spread) for cell in cells)]
        if any(cell.expected is not None for cell in cells):
            yield [f"{title}, expected", *(_number(cell.expected, table.decimals) for cell in cells)]


def _printed(cell: Cell, decimals: int | None) -> str:
    text = _number(cell.printed, decimals)
    if cell.printed_sd:
        text += f" ± {_number(cell.printed_sd, decimals)}"
    return f"{text} {DIFFERS}" if cell.verdict == "differs" else text


def _ours(cell: Cell, decimals: int | None, shows_spread: bool) -> str:
    text = _number(cell.ours, decimals)
    if cell.sd and (shows_spread or cell.printed_sd is not None):
        text += f" ± {_number(cell.sd, decimals)}"
    return text


def _number(value: float | None, decimals: int | None) -> str:
    """A number as words: whole ones without digits, others with so many decimals, or four significant digits."""
    if value is None:
        return "–"
    if value == int(value):
        return f"{int(value):,}"
    if decimals is None:
        return format(Decimal(f"{value:.4g}"), "f")
    return f"{value:.{decimals}f}"


def _markdown_row(words: list[str]) -> str:
    return f"| {' | '.join(words)} |"


def _latex_row(words: list[str]) -> str:
    cells = []
    for word in words:
        text = word.removesuffix(f" {DIFFERS}").replace("χ²", r"$\chi^2$").replace("±", r"$\pm$").replace("–", "--")
        text = text.replace("%", r"\%").replace("_", r"\_")
        cells.append(rf"\textbf{{{text}}}" if word.endswith(DIFFERS) else text)
    return " & ".join(cells) + r" \\"
