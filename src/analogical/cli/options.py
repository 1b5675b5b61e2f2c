"""Arguments and options that several commands share: one meaning, one name, one help text."""

from typing import Annotated

import typer

__all__ = [
    "Confidence",
    "Csv",
    "Features",
    "File",
    "Groups",
    "Header",
    "Ignore",
    "Json",
    "Label",
    "Limit",
    "Seed",
    "Separator",
    "Weights",
    "refuse_two_formats",
]

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
Groups = Annotated[
    str | None,
    typer.Option(
        metavar="COL",
        help="Column that says which rows depend on each other, such as a patient's visits: intervals and tests then"
        " take whole groups as the independent units.",
        show_default=False,
    ),
]
Features = Annotated[
    str | None,
    typer.Option(
        metavar="COLS",
        help="Columns to use as features, separated by commas; all but the label and the weights if not given.",
        show_default=False,
    ),
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
Limit = Annotated[int, typer.Option(help="How many pairs to show.")]
Seed = Annotated[int, typer.Option(help="Seed; the same seed gives the same numbers.")]
Json = Annotated[bool, typer.Option("--json", help="Print JSON, in the order of the table's columns.")]
Csv = Annotated[bool, typer.Option("--csv", help="Print CSV, best feature first.")]
Separator = Annotated[
    str | None,
    typer.Option(
        metavar="CHAR",
        help="Separator of a text file, if the file extension does not determine it.",
        show_default=False,
    ),
]
Header = Annotated[bool, typer.Option(help="Whether the first line of a text file names the columns.")]


def refuse_two_formats(as_json: bool, as_csv: bool) -> None:
    """Only one of the formats for machines can be printed."""
    if as_json and as_csv:
        from analogical.errors import InputError

        raise InputError("--json and --csv cannot be used together; give one of them.")
