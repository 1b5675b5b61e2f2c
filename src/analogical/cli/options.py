"""Arguments and options that several commands share: one meaning, one name, one help text."""

import inspect
from collections.abc import Callable
from functools import wraps
from typing import TYPE_CHECKING, Annotated, Any, Literal

import typer

from analogical.cli.reading import read_source, split_names
from analogical.cli.streams import be_quiet
from analogical.errors import InputError

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

Confidence = Annotated[float, typer.Option(help="Level of the intervals.")]
GIVEN_HELP = (
    "Other features on which compared rows are equal: auto (the deciding set, which is found first), all (as in the"
    " paper), none, or names separated by commas."
)
GivenOption = Annotated[str, typer.Option("--given", metavar="auto|all|none|NAMES", help=GIVEN_HELP)]
Limit = Annotated[int, typer.Option(help="How many pairs to show.")]
Seed = Annotated[int, typer.Option(help="Seed; the same seed gives the same numbers.")]
Json = Annotated[bool, typer.Option("--json", help="Print JSON.")]
Csv = Annotated[bool, typer.Option("--csv", help="Print CSV.")]
Plot = Annotated[
    str | None,
    typer.Option(
        metavar="FILE",
        help="Draw the result to a .png, .svg or .pdf file as well: 20 rows at most, best first.",
        show_default=False,
    ),
]
Top = Annotated[int | None, typer.Option(metavar="K", help="Show the best K features only.", show_default=False)]
Quiet = Annotated[
    bool, typer.Option("--quiet", "-q", help="Say nothing on stderr but errors: no notes and no progress.")
]


GIVEN_HELP = (
    "On which other features compared rows are equal: the deciding set (auto), all others (all), no others (none), or"
    " columns separated by commas."
)


def _option(kind: Any, default: Any, *names: str, **settings: Any) -> tuple[Any, Any]:
    if default is None:
        settings["show_default"] = False
    return Annotated[kind, typer.Option(*names, **settings)], default


_FILE = Annotated[
    str,
    typer.Argument(
        help="CSV or TSV (compressed too), Parquet, Arrow/Feather or workbook; - for CSV on stdin; or a built-in table"
        " (see: analogical tables).",
        show_default=False,
    ),
]

_COLUMNS = {
    "label": _option(str | None, None, metavar="COL", help="Column with the label; the last one if not given."),
    "weights": _option(str | None, None, metavar="COL", help="Column that says how many rows each row stands for."),
    "groups": _option(
        str | None,
        None,
        metavar="COL",
        help="Column that says which rows depend on each other, such as a patient's visits: intervals and tests then"
        " take whole groups as the independent units.",
    ),
    "features": _option(
        str | None,
        None,
        metavar="COLS",
        help="Columns to use as features, separated by commas; patterns such as 'price_*' too. All but the label and"
        " the weights if not given.",
    ),
    "ignore": _option(
        str | None,
        None,
        metavar="COLS",
        help="Columns to leave out, separated by commas; patterns such as 'date_*' too. A name with a comma in it is"
        " put in double quotes.",
    ),
}
"""Which columns are what."""

_READING = {
    "missing": _option(
        Literal["value", "drop", "error"],
        "value",
        help="Missing cells: a value of their own, their rows left out, or an error.",
        rich_help_panel=READING,
    ),
    "na": _option(
        str | None,
        None,
        metavar="WORDS",
        help="Cells of a text file that are missing, besides empty ones, separated by commas; ?, NA, N/A, NaN, null, -"
        " and the like if not given.",
        rich_help_panel=READING,
    ),
    "bins": _option(
        list[str] | None,
        None,
        metavar="RULE",
        help="How numbers become categories: K groups of about equal size (5 if not given), widths:K, or none for every"
        " distinct value. For one column: NAME=RULE, or NAME=EDGE,EDGE,... (one edge: NAME=EDGE,). May be repeated.",
        rich_help_panel=READING,
    ),
    "max_values": _option(
        int,
        20,
        metavar="N",
        help="Whole numbers and dates with at most so many values are categories; a numeric label with more is"
        " refused.",
        rich_help_panel=READING,
    ),
    "ids": _option(
        Literal["drop", "keep"],
        "drop",
        help="Columns with another value in nearly every row: set aside, or kept.",
        rich_help_panel=READING,
    ),
    "bin_label": _option(
        int | None,
        None,
        metavar="K",
        help="Make K classes of about equally many rows from a numeric label.",
        rich_help_panel=READING,
    ),
    "separator": _option(
        str | None,
        None,
        metavar="CHAR",
        help="Separator of a text file, \\t for a tab; found by looking if not given.",
        rich_help_panel=READING,
    ),
    "header": _option(
        bool, True, help="Whether the first line of a text file names the columns.", rich_help_panel=READING
    ),
    "names": _option(
        str | None,
        None,
        metavar="COLS",
        help="Names for the columns of a text file without a header, separated by commas; x1, x2, ... if not given.",
        rich_help_panel=READING,
    ),
}
"""How a file becomes a table."""


def reads_table(*, without: tuple[str, ...] = ()) -> Callable[[Callable[..., None]], Callable[..., None]]:
    """Give a command the options that say what to read and how; it receives the table as its first argument."""

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
    """Where Spark runs, if it is to count: the master that was named, or this machine."""
    if engine != "spark":
        if master is not None:
            raise InputError(f"--master {master} says where Spark runs; give --engine spark as well.")
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
    """Refuse a number of features that cannot be meant."""
    if top is not None and top < 1:
        raise InputError(f"--top must be a whole number from 1, got {top}.")


def refuse_two_formats(as_json: bool, as_csv: bool) -> None:
    """Only one of the formats for machines can be printed."""
    if as_json and as_csv:
        raise InputError("--json and --csv cannot be used together; give one of them.")
