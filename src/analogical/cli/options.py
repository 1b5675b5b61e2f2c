"""Arguments and options that several commands share: one meaning, one name, one help text."""

from typing import Annotated

import typer

__all__ = ["Confidence", "Csv", "File", "Header", "Ignore", "Json", "Label", "Separator", "Weights", "columns_of"]

File = Annotated[
    str,
    typer.Argument(
        help="CSV, TSV, Parquet or Arrow/Feather file; - for CSV on stdin; or a built-in table"
        " (see: analogical tables).",
        show_default=False,
    ),
]
Label = Annotated[
    str | None,
    typer.Option(metavar="COL", help="Column with the label; the last one if not given.", show_default=False),
]
Weights = Annotated[
    str | None,
    typer.Option(metavar="COL", help="Column that says how many rows each row stands for.", show_default=False),
]
Ignore = Annotated[
    str | None,
    typer.Option(
        metavar="COLS",
        help="Columns to leave out, separated by commas: ids, time stamps and whatever does not define two rows as"
        " equal.",
        show_default=False,
    ),
]
Confidence = Annotated[float, typer.Option(help="Level of the intervals.")]
Json = Annotated[bool, typer.Option("--json", help="Print JSON, in the order of the table's columns.")]
Csv = Annotated[bool, typer.Option("--csv", help="Print CSV, best feature first.")]
Separator = Annotated[
    str | None,
    typer.Option(metavar="CHAR", help="Separator of a text file, if its ending does not tell.", show_default=False),
]
Header = Annotated[bool, typer.Option(help="Whether the first line of a text file names the columns.")]


def columns_of(names: str | None) -> tuple[str, ...]:
    """Column names that were given with commas between them."""
    return tuple(name.strip() for name in names.split(",")) if names else ()
