"""Arguments and options that several commands share: one meaning, one name, one help text."""

import inspect
import re
from collections.abc import Callable
from functools import wraps
from typing import TYPE_CHECKING, Annotated, Any

import typer

from analogical.cli.reading import read_source, refuse_to_overwrite, split_names
from analogical.cli.streams import be_quiet
from analogical.errors import InputError
from analogical.table.rules import ColumnOptions, Ids, Missing, Rules

if TYPE_CHECKING:
    from analogical.study import Given

__all__ = [
    "GIVEN_HELP",
    "Confidence",
    "Csv",
    "GivenOption",
    "Json",
    "Limit",
    "Plot",
    "Quiet",
    "Seed",
    "Top",
    "check_top",
    "read_given",
    "reads_table",
    "refuse_two_formats",
]

READING = "Reading the table"
"""Heading in the help pages of the options that say how a file becomes a table."""

Confidence = Annotated[float, typer.Option(help="Confidence level of the intervals.")]
GIVEN_HELP = (
    "Other features on which compared rows agree: auto (the deciding set), all (as in the paper), none, or names"
    " separated by commas."
)
GivenOption = Annotated[str, typer.Option("--given", metavar="auto|all|none|NAMES", help=GIVEN_HELP)]
Limit = Annotated[int, typer.Option(help="Number of pairs to show.")]
Seed = Annotated[int, typer.Option(help="Random seed.")]
Json = Annotated[bool, typer.Option("--json", help="Print JSON.")]
Csv = Annotated[bool, typer.Option("--csv", help="Print CSV.")]
Plot = Annotated[
    str | None,
    typer.Option(
        metavar="FILE",
        help="Also plot the result to a .png, .svg or .pdf file: the best 20 rows.",
        show_default=False,
    ),
]
Top = Annotated[int | None, typer.Option(metavar="K", help="Show only the best K features.", show_default=False)]
Quiet = Annotated[bool, typer.Option("--quiet", "-q", help="Print only errors on stderr, no notes or progress.")]


def _option(kind: Any, default: Any, *names: str, **settings: Any) -> tuple[Any, Any]:
    if default is None:
        settings["show_default"] = False
    return Annotated[kind, typer.Option(*names, **settings)], default


def _column_option(name: str, kind: Any, *, more: str = "", **settings: Any) -> tuple[Any, Any]:
    """An option of the library: its own default, and what its documentation says in the first sentence."""
    return _option(kind, getattr(Rules, name), help=f"{_about(name)} {more}".strip(), **settings)


def _about(name: str) -> str:
    """The first sentence about a column option, as a command line writes it."""
    entry = re.search(rf"^{name} : .*\n((?: +.*\n?)+)", inspect.getdoc(ColumnOptions) or "", re.MULTILINE)
    sentence, _, _ = " ".join(entry[1].split() if entry else ()).partition(". ")
    return f"{sentence.rstrip('.')}.".replace("``", "")


_FILE = Annotated[
    str,
    typer.Argument(
        help="CSV or TSV (also compressed), Parquet, Arrow/Feather or workbook; - for CSV on stdin; or a built-in"
        " table (see: analogical tables).",
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
"""Which columns are what."""

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
}
"""How a file becomes a table."""


def reads_table(*, without: tuple[str, ...] = ()) -> Callable[[Callable[..., None]], Callable[..., None]]:
    """Add the options for reading a table to a command; it receives the table as its first argument."""

    def decorate(command: Callable[..., None]) -> Callable[..., None]:
        own = list(inspect.signature(command).parameters.values())[1:]
        columns = {name: option for name, option in _COLUMNS.items() if name not in without}
        reading = {name: option for name, option in _READING.items() if name not in without}

        @wraps(command)
        def read_and_run(**given: Any) -> None:
            if given.pop("quiet"):
                be_quiet()
            own_given = {parameter.name: given.pop(parameter.name) for parameter in own}
            if own_given.get("plot") is not None:
                from analogical.plot.canvas import check_target

                check_target(own_given["plot"])
            refuse_to_overwrite(given["file"], {name: own_given.get(name) for name in ("plot", "out")})
            engine = own_given.get("engine", "memory")
            master = master_of(engine, own_given.get("master"))
            source = read_source(given.pop("file"), **given, master=master, may_suggest_spark=engine == "auto")
            command(source, **own_given)

        parameters = [
            _parameter("file", _FILE, inspect.Parameter.empty),
            *(parameter.replace(kind=inspect.Parameter.KEYWORD_ONLY) for parameter in own if _is_required(parameter)),
            *(_parameter(name, *option) for name, option in columns.items()),
            *(
                parameter.replace(kind=inspect.Parameter.KEYWORD_ONLY)
                for parameter in own
                if not _is_required(parameter)
            ),
            _parameter("quiet", Quiet, False),
            *(_parameter(name, *option) for name, option in reading.items()),
        ]
        read_and_run.__signature__ = inspect.Signature(parameters)  # type: ignore[attr-defined]
        read_and_run.__annotations__ = {parameter.name: parameter.annotation for parameter in parameters}
        return read_and_run

    return decorate


def master_of(engine: str, master: str | None) -> str | None:
    """Where Spark runs, if it counts: the given master, or this machine."""
    if engine != "spark":
        if master is not None:
            raise InputError(f"--master {master} applies to Spark only; add --engine spark.")
        return None
    return master or "local[*]"


def _parameter(name: str, annotation: Any, default: Any) -> inspect.Parameter:
    return inspect.Parameter(name, inspect.Parameter.KEYWORD_ONLY, default=default, annotation=annotation)


def _is_required(parameter: inspect.Parameter) -> bool:
    return parameter.default is inspect.Parameter.empty


def read_given(text: str) -> "Given":
    """What ``--given`` says: auto, all, nothing, or names."""
    if text == "auto" or text == "all":
        return text
    return [] if text == "none" else split_names(text)


def check_top(top: int | None) -> None:
    """Refuse a number of features below 1."""
    if top is not None and top < 1:
        raise InputError(f"--top must be a whole number from 1, got {top}.")


def refuse_two_formats(as_json: bool, as_csv: bool) -> None:
    """Only one of the formats for machines can be printed."""
    if as_json and as_csv:
        raise InputError("--json and --csv cannot be used together; give one of them.")
