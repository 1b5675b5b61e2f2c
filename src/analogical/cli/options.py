"""Options that commands share, and the table that they stand for; names of columns go to the library as typed."""

import csv
import inspect
import re
from collections.abc import Callable, Collection, Sequence
from dataclasses import dataclass, fields
from functools import wraps
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any, Literal, cast

import typer

from analogical._types import Note
from analogical.cli.streams import be_quiet
from analogical.cli.writing import Output
from analogical.columns.frames import PlainColumns
from analogical.columns.rules import ColumnOptions, Ids, LabelScale, Missing, Rules
from analogical.datasets import WEIGHTS, load_table, table_names
from analogical.errors import InputError
from analogical.io.files import NA, TextFormat, refuse_text_options
from analogical.show.notes import describe_notes, sum_up_notes, warnings_of
from analogical.show.words import quoted

if TYPE_CHECKING:
    from analogical.study import Given

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
File = Annotated[
    str,
    typer.Argument(
        help="CSV or TSV (also compressed), Parquet (also a folder or a pattern), Arrow/Feather or workbook; - for CSV"
        " on stdin; or a built-in table (see: analogical tables)."
    ),
]


@dataclass(frozen=True)
class Source:
    """A table that was read, and how its columns are used."""

    title: str
    frame: Any
    """A dataframe, or a table that is held elsewhere."""
    columns: tuple[str, ...]
    """Names of its columns."""
    label: str
    options: ColumnOptions
    """The column options that were typed, as every function of the library takes them."""
    notes: tuple[str, ...]
    """What was detected or chosen for the user, a sentence each."""
    about: tuple[str, ...]
    """The same in a few words."""
    warnings: tuple[str, ...]
    """What casts doubt on the whole answer."""

    def given(self, text: str) -> "Given":
        """The value of ``--given`` as the library takes it."""
        if text == "auto" or text == "all":
            return text
        return [] if text == "none" else split_names(text, self.columns)


def _about(name: str) -> str:
    """The first sentence of the documentation of a column option, without markup."""
    entry = re.search(rf"^{name} : .*\n((?: +.*\n?)+)", inspect.getdoc(ColumnOptions) or "", re.MULTILINE)
    sentence, _, _ = " ".join(entry[1].split() if entry else ()).partition(". ")
    return f"{sentence.rstrip('.')}.".replace("``", "")


def _reads(help: str, metavar: str | None = None) -> Any:  # noqa: A002 (as typer calls it)
    """An option on how the table is read, in a panel of its own of the help pages."""
    return typer.Option(help=help, metavar=metavar, rich_help_panel="Reading the table")


@dataclass(frozen=True)
class Reading:
    """The options for reading a table, as typed: the roles of the columns, how cells are read, who holds the rows."""

    label: Annotated[
        str | None, typer.Option(metavar="COL", help="Column with the label; the last one by default.")
    ] = None
    weights: Annotated[str | None, typer.Option(metavar="COL", help=_about("weights"))] = None
    groups: Annotated[str | None, typer.Option(metavar="COL", help=_about("groups"))] = None
    features: Annotated[str | None, typer.Option(metavar="COLS", help=f"{_about('features')} Separated by commas.")] = (
        None
    )
    ignore: Annotated[
        str | None,
        typer.Option(
            metavar="COLS",
            help=f"{_about('ignore')} Separated by commas; put a name that contains a comma in double quotes.",
        ),
    ] = None
    missing: Annotated[Missing, _reads(_about("missing"))] = Rules.missing
    na: Annotated[
        str | None,
        _reads(
            "Words of a text file to read as missing, besides empty cells, separated by commas; ?, NA, N/A, NaN, null,"
            " - and the like by default.",
            "WORDS",
        ),
    ] = None
    bins: Annotated[
        list[str] | None,
        _reads(
            f"{_about('bins')} K bins of about equal size ({Rules.bins} by default), widths:K for equal widths, or"
            " none to keep every distinct value. For one column: NAME=RULE, or NAME=EDGE,EDGE,... (one edge:"
            " NAME=EDGE,). May be repeated.",
            "RULE",
        ),
    ] = None
    max_values: Annotated[int | None, _reads(_about("max_values"), "N")] = Rules.max_values
    ids: Annotated[Ids, _reads(_about("ids"))] = Rules.ids
    classes: Annotated[int | None, _reads(_about("classes"), "K")] = Rules.classes
    scale: Annotated[LabelScale, _reads(_about("scale"))] = Rules.scale
    ordered: Annotated[str | None, _reads(f"{_about('ordered')} Separated by commas.", "CLASSES")] = None
    date_parts: Annotated[bool, _reads(_about("date_parts"))] = Rules.date_parts
    fold_case: Annotated[bool | None, _reads(_about("fold_case"))] = Rules.fold_case
    separator: Annotated[
        str | None, _reads("Separator of a text file, \\t for a tab; detected by default.", "CHAR")
    ] = None
    header: Annotated[bool, _reads("Whether the first line of a text file names the columns.")] = True
    names: Annotated[
        str | None,
        _reads(
            "Names for the columns of a text file without a header, separated by commas; x0, x1, ... by default.",
            "COLS",
        ),
    ] = None
    engine: Annotated[
        Literal["auto", "memory", "duckdb", "spark"],
        _reads(
            "Where the table is held: in memory, in DuckDB (Parquet files, on this machine) or on Apache Spark (Parquet"
            " files). auto reads large files, and folders of Parquet files, without holding them in memory."
        ),
    ] = "auto"
    master: Annotated[
        str | None,
        _reads(
            "Where Spark runs: local[4], spark://host:7077, yarn, or sc://host:15002 for Spark Connect; all cores of"
            " this machine by default. All workers must be able to read the file.",
            "URL",
        ),
    ] = None

    def read(self, file: str) -> Source:
        """The table in a file, on standard input, or built in, with the options for the library."""
        if self.master is not None and self.engine != "spark":
            raise InputError(f"--master {self.master} applies to Spark only; add --engine spark.")
        text_format = TextFormat(
            self.separator,
            self.header,
            None if self.names is None else tuple(split_names(self.names)),
            NA if self.na is None else tuple(split_names(self.na)),
        )
        named = [field for field in fields(self) if field.name in ColumnOptions.__annotations__]
        options = {f.name: value for f in named if (value := getattr(self, f.name)) not in (f.default, [])}
        file_notes: tuple[Note, ...] = ()
        own_label = None
        try:
            is_built_in = not Path(file).exists() and file in table_names()
        except OSError:  # no name of a file
            is_built_in = False
        if is_built_in:
            if self.engine not in ("auto", "memory"):
                raise InputError(f"The built-in table {file} is counted in memory; leave out --engine {self.engine}.")
            refuse_text_options(text_format, f"the built-in table {file}")
            if options.setdefault("weights", WEIGHTS) != WEIGHTS:
                raise InputError(f"The built-in table {file} has its weights, {WEIGHTS!r}; leave out --weights.")
            table = load_table(file)
            lists = table.columns()
            columns = tuple(lists)
            # no dataframe library is loaded
            frame: Any = PlainColumns(list(lists.values()), len(lists[table.label]), columns, backend="polars")
            title, own_label = f"built-in table {file}", table.label
        else:
            title, frame, file_notes = _open(file, text_format, self.engine, self.master)
            schema = getattr(frame, "collect_schema", None)  # polars' lazy frames warn when asked for their columns
            columns = tuple(frame.columns if schema is None else schema().names())
        notes, about = list(describe_notes(file_notes)), list[str]()
        first, last = columns[0], columns[-1]
        label = self.label or own_label or last
        if not self.label and own_label is None:
            likely = ("class", "label", "target", "y", "outcome")
            is_first_likely = first.lower() in likely and last.lower() not in likely
            notes.append(
                f"label: the last column, {last!r} (override with --label"
                f"{f'; is it {first!r}, the first column?' if is_first_likely else ''})"
            )
            about.append(f"label: last column{f', or {quoted(first)}?' if is_first_likely else ''}")
        options |= {role: split_names(options[role], columns) for role in ("features", "ignore") if role in options}
        if self.ordered is not None:
            options["ordered"] = split_names(self.ordered)
        if self.ignore is not None:
            notes.append(f"ignored: {', '.join(options['ignore'])}")
        if "bins" in options:
            options["bins"] = _parse_bins(options["bins"])
        about += sum_up_notes(file_notes)
        typed = cast("ColumnOptions", options)
        return Source(title, frame, columns, label, typed, tuple(notes), tuple(about), warnings_of(file_notes))


def _open(
    file: str, text_format: TextFormat, engine: Literal["auto", "memory", "duckdb", "spark"], master: str | None
) -> tuple[str, Any, tuple[Note, ...]]:
    """Title and table of a file, read or held elsewhere, with notes on how it was read."""
    from analogical.io.files import open_file, quiet_stderr

    if engine in ("auto", "memory"):
        read = open_file(file, **vars(text_format), lazy=False if engine == "memory" else None)
        return "standard input" if file == "-" else file, read.frame, read.notes
    if engine == "duckdb":
        from analogical.outside.lazy import hold_parquet

        refuse_text_options(text_format, f"{file!r} in DuckDB")
        return file, hold_parquet(file), ()
    from analogical.outside.spark import open_session, read_parquet

    if file == "-":
        raise InputError("--engine spark cannot read standard input; give a path that all workers can read.")
    refuse_text_options(text_format, f"{file!r} on Spark")
    master = master or "local[*]"
    with quiet_stderr():  # Java would write its logs to the stderr that it starts with
        session = open_session(master)
    return f"{file} on {master}", read_parquet(session, file), ()


def split_names(text: str, columns: Collection[str] = ()) -> list[str]:
    """Names separated by commas, those that contain a comma in double quotes; or the whole text, if it is a column."""
    if text in columns:
        return [text]
    return [name.strip() for name in next(csv.reader([text], skipinitialspace=True), [])]


def _parse_bins(given: Sequence[str]) -> Any:
    """One rule for all columns, or a rule per named column, and * for the others."""
    rules: dict[str, Any] = {}
    for text in given:
        name, _, rule = text.rpartition("=")
        if "," in rule:
            rules[name or "*"] = [_number(edge) for edge in rule.split(",") if edge.strip()]
        elif rule.lower() == "none":
            rules[name or "*"] = None
        else:
            rules[name or "*"] = int(rule) if rule.isdecimal() else rule
    return rules["*"] if list(rules) == ["*"] else rules


def _number(text: str) -> Any:
    try:
        return float(text)
    except ValueError:
        return text.strip()


# ---------------------------------------------------------------- commands that read a table


def reads_table(*, without: Collection[str] = ()) -> Callable[[Callable[..., None]], Callable[..., None]]:
    """Add the options for reading a table and writing a result to a command, which is called with both."""
    reading, output = (
        {name: option for name, option in inspect.signature(options).parameters.items() if name not in without}
        for options in (Reading, Output)
    )

    def decorate(command: Callable[..., None]) -> Callable[..., None]:
        own = list(inspect.signature(command).parameters.values())[2:]

        @wraps(command, assigned=("__name__", "__doc__"))
        def read_and_run(file: File, quiet: Quiet = False, **typed: Any) -> None:
            if quiet:
                be_quiet()
            written = Output(**{name: typed.pop(name) for name in output})
            options = {name: typed.pop(name) for name in reading}
            for option, target in (("plot", written.plot), ("out", typed.get("out"))):
                if target is not None and _is_same(file, target):
                    raise InputError(
                        f"--{option} {target} is the table that is read, which would be lost; name another file."
                    )
            if "engine" in without:
                options["engine"] = "memory"
            command(Reading(**options).read(file), written, **typed)

        def place(parameter: inspect.Parameter) -> tuple[bool, bool]:
            """Required ones come first, those in the panel on reading last."""
            panel = parameter.annotation.__metadata__[0].rich_help_panel
            return parameter.default is not parameter.empty, panel is not None

        file, quiet, _ = inspect.signature(read_and_run, follow_wrapped=False).parameters.values()
        together = (file, *reading.values(), *own, *output.values(), quiet)
        parameters = sorted((p.replace(kind=p.KEYWORD_ONLY) for p in together), key=place)
        read_and_run.__signature__ = inspect.Signature(parameters)  # type: ignore[attr-defined]
        read_and_run.__annotations__ = {parameter.name: parameter.annotation for parameter in parameters}
        return read_and_run

    return decorate


def _is_same(file: str, target: str) -> bool:
    try:
        return Path(target).exists() and Path(target).samefile(file)
    except (OSError, ValueError):
        return False
