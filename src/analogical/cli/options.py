"""Arguments and options that several commands share."""

import inspect
import re
from collections.abc import Callable
from functools import wraps
from typing import TYPE_CHECKING, Annotated, Any, Literal

import typer

from analogical.cli.reading import read_source, refuse_to_overwrite, split_names
from analogical.cli.streams import be_quiet
from analogical.cli.writing import Output
from analogical.columns.rules import ColumnOptions, Ids, Missing, Rules

if TYPE_CHECKING:
    from analogical.study import Given

__all__ = ["Confidence", "GivenOption", "Limit", "Quiet", "Seed", "read_given", "reads_table"]

READING = "Reading the table"
"""Heading of the options on reading a file in the help pages."""

Confidence = Annotated[float, typer.Option(help="Confidence level of the intervals.")]
GivenOption = Annotated[
    str,
    typer.Option(
        "--given",
        metavar="auto|all|none|NAMES",
        help="Other features on which compared rows agree: auto (the deciding set), all (as in the paper), none, or"
        " names separated by commas.",
    ),
]
Limit = Annotated[int, typer.Option(help="Number of pairs to show.")]
Seed = Annotated[int, typer.Option(help="Random seed.")]
Quiet = Annotated[bool, typer.Option("--quiet", "-q", help="Print only errors on stderr, no notes or progress.")]


def _option(kind: Any, default: Any, *names: str, **settings: Any) -> tuple[Any, Any]:
    if default is None:
        settings["show_default"] = False
    return Annotated[kind, typer.Option(*names, **settings)], default


def _column_option(name: str, kind: Any, *, more: str = "", **settings: Any) -> tuple[Any, Any]:
    """An option of the library, with its default and the first sentence of its documentation."""
    return _option(kind, getattr(Rules, name), help=f"{_about(name)} {more}".strip(), **settings)


def _about(name: str) -> str:
    """The first sentence of the documentation of a column option, without markup."""
    entry = re.search(rf"^{name} : .*\n((?: +.*\n?)+)", inspect.getdoc(ColumnOptions) or "", re.MULTILINE)
    sentence, _, _ = " ".join(entry[1].split() if entry else ()).partition(". ")
    return f"{sentence.rstrip('.')}.".replace("``", "")


_FILE = Annotated[
    str,
    typer.Argument(
        help="CSV or TSV (also compressed), Parquet (also a folder or a pattern), Arrow/Feather or workbook; - for CSV"
        " on stdin; or a built-in table (see: analogical tables).",
        show_default=False,
    ),
]

_COLUMNS = {
    "label": _option(str | None, None, metavar="COL", help="Column with the label; the last one by default."),
    "weights": _column_option("weights", str | None, metavar="COL"),
    "groups": _column_option("groups", str | None, metavar="COL"),
    "features": _column_option("features", str | None, more="Separated by commas.", metavar="COLS"),
    "ignore": _column_option(
        "ignore",
        str | None,
        more="Separated by commas; put a name that contains a comma in double quotes.",
        metavar="COLS",
    ),
}
"""The roles of the columns."""

_READING = {
    "missing": _column_option("missing", Missing, rich_help_panel=READING),
    "na": _option(
        str | None,
        None,
        metavar="WORDS",
        help="Words of a text file to read as missing, besides empty cells, separated by commas; ?, NA, N/A, NaN, null,"
        " - and the like by default.",
        rich_help_panel=READING,
    ),
    "bins": _option(
        list[str] | None,
        None,
        metavar="RULE",
        help=f"{_about('bins')} K bins of about equal size ({Rules.bins} by default), widths:K for equal widths, or"
        " none to keep every distinct value. For one column: NAME=RULE, or NAME=EDGE,EDGE,... (one edge: NAME=EDGE,)."
        " May be repeated.",
        rich_help_panel=READING,
    ),
    "max_values": _column_option("max_values", int, metavar="N", rich_help_panel=READING),
    "ids": _column_option("ids", Ids, rich_help_panel=READING),
    "bin_label": _column_option("bin_label", int | None, metavar="K", rich_help_panel=READING),
    "date_parts": _column_option("date_parts", bool, rich_help_panel=READING),
    "fold_case": _column_option("fold_case", bool | None, rich_help_panel=READING),
    "separator": _option(
        str | None,
        None,
        metavar="CHAR",
        help="Separator of a text file, \\t for a tab; detected by default.",
        rich_help_panel=READING,
    ),
    "header": _option(
        bool, True, help="Whether the first line of a text file names the columns.", rich_help_panel=READING
    ),
    "names": _option(
        str | None,
        None,
        metavar="COLS",
        help="Names for the columns of a text file without a header, separated by commas; x0, x1, ... by default.",
        rich_help_panel=READING,
    ),
    "engine": _option(
        Literal["auto", "memory", "duckdb", "spark"],
        "auto",
        help="Where the table is held and counted: in memory, in DuckDB (on this machine, for tables larger than"
        " memory) or on Apache Spark. auto uses DuckDB for large files and for folders of Parquet files.",
        rich_help_panel=READING,
    ),
    "master": _option(
        str | None,
        None,
        metavar="URL",
        help="Where Spark runs: local[4], spark://host:7077, yarn, or sc://host:15002 for Spark Connect; all cores of"
        " this machine by default. All workers must be able to read the file.",
        rich_help_panel=READING,
    ),
}
"""How a file is read, and where the table is held."""


_OUTPUT = {
    "top": _option(int | None, None, metavar="K", help="Show only the best K features."),
    "explain": _option(bool, False, "--explain", help="Explain the result: what was done, assumptions and limits."),
    "plot": _option(
        str | None,
        None,
        metavar="FILE",
        help="Also plot the result to a .png, .svg or .pdf file: the best 20 rows.",
    ),
    "as_json": _option(bool, False, "--json", help="Print JSON."),
    "as_csv": _option(bool, False, "--csv", help="Print CSV."),
    "csv_safe": _option(
        bool,
        False,
        "--csv-safe",
        help="Print CSV for a spreadsheet: text that could be read as a formula (starting with =, +, - or @) gets a '"
        " in front. --csv leaves text unchanged.",
    ),
}
"""How the result is written."""


def reads_table(
    *, without: tuple[str, ...] = (), writes: tuple[str, ...] = tuple(_OUTPUT)
) -> Callable[[Callable[..., None]], Callable[..., None]]:
    """Add the options for reading a table and writing a result to a command, which is called with both."""

    def decorate(command: Callable[..., None]) -> Callable[..., None]:
        own = [
            parameter.replace(kind=inspect.Parameter.KEYWORD_ONLY)
            for parameter in list(inspect.signature(command).parameters.values())[2:]
        ]
        output = {name: option for name, option in _OUTPUT.items() if name in writes}
        columns = {name: option for name, option in _COLUMNS.items() if name not in without}
        reading = {name: option for name, option in _READING.items() if name not in without}

        @wraps(command)
        def read_and_run(file: str, quiet: bool, **typed: Any) -> None:
            if quiet:
                be_quiet()
            own_options = {parameter.name: typed.pop(parameter.name) for parameter in own}
            written = Output(**{name: typed.pop(name) for name in output})
            refuse_to_overwrite(file, {"plot": written.plot, "out": own_options.get("out")})
            command(read_source(file, **typed), written, **own_options)

        parameters = [
            _parameter("file", _FILE, inspect.Parameter.empty),
            *(parameter for parameter in own if _is_required(parameter)),
            *(_parameter(name, *option) for name, option in columns.items()),
            *(parameter for parameter in own if not _is_required(parameter)),
            *(_parameter(name, *option) for name, option in output.items()),
            _parameter("quiet", Quiet, False),
            *(_parameter(name, *option) for name, option in reading.items()),
        ]
        read_and_run.__signature__ = inspect.Signature(parameters)  # type: ignore[attr-defined]
        read_and_run.__annotations__ = {parameter.name: parameter.annotation for parameter in parameters}
        return read_and_run

    return decorate


def _parameter(name: str, annotation: Any, default: Any) -> inspect.Parameter:
    return inspect.Parameter(name, inspect.Parameter.KEYWORD_ONLY, default=default, annotation=annotation)


def _is_required(parameter: inspect.Parameter) -> bool:
    return parameter.default is inspect.Parameter.empty


def read_given(text: str) -> "Given":
    """The value of ``--given`` as the library takes it: auto, all, or a list of names."""
    if text == "auto" or text == "all":
        return text
    return [] if text == "none" else split_names(text)
