"""The commands: each one parses, reads, calls the library and writes."""

import sys
from typing import Annotated

import typer
from rich.console import Console
from rich.table import Table
from rich.text import Text

from analogical._relevance import Duplicates, relevance
from analogical._tables import load_table, table_names
from analogical.cli import trust
from analogical.cli.compare import compare
from analogical.cli.options import Confidence, Csv, File, Header, Ignore, Json, Label, Separator, Weights, columns_of
from analogical.cli.reading import read_source
from analogical.cli.reproduce import reproduce
from analogical.cli.writing import show_relevance, write_csv, write_json, write_relevance_csv
from analogical.errors import AnalogicalError, InputError
from analogical.experiments import FUNCTIONS, sample

__all__ = ["app", "run"]

app = typer.Typer(
    no_args_is_help=True,
    add_completion=False,
    pretty_exceptions_enable=False,
    rich_markup_mode="markdown",
    context_settings={"help_option_names": ["-h", "--help"]},
    epilog="First run: analogical score titanic",
)


def _version(wanted: bool) -> None:
    if wanted:
        from importlib.metadata import version

        typer.echo(f"analogical {version('analogical')}")
        raise typer.Exit


@app.callback()
def _about(
    version: Annotated[
        bool, typer.Option("--version", callback=_version, is_eager=True, help="Print the version and stop.")
    ] = False,
) -> None:
    """Which features decide the label, all else being equal.

    Two rows that differ on one feature only are a natural experiment: if their labels differ, that
    feature mattered. The index (ARI) of a feature is the share of such pairs whose labels differ.
    """


@app.command()
def score(
    file: File,
    label: Label = None,
    weights: Weights = None,
    ignore: Ignore = None,
    radius: Annotated[
        str,
        typer.Option(
            metavar="R",
            help="On how many features two rows may differ for the score: a number, or auto for as many as the table"
            " needs. ARI is always at 1.",
        ),
    ] = "auto",
    duplicates: Annotated[
        Duplicates, typer.Option(help="Whether identical rows with the same label all count, or once.")
    ] = "count",
    confidence: Confidence = 0.95,
    top: Annotated[
        int | None, typer.Option(metavar="K", help="Show the best K features only.", show_default=False)
    ] = None,
    as_json: Json = False,
    as_csv: Csv = False,
    separator: Separator = None,
    header: Header = True,
) -> None:
    """Score every feature of a table: how often it alone changes the label.

    ARI is the share of pairs of rows, equal but for that feature, whose labels differ: 1 means that a
    change of it always changes the label, 0 that it never does (or the feature is constant), and 2 that
    there is no such pair. The interval says how sure the index is, and p how likely noise alone is
    to set the values of the feature as far apart. Where such pairs are too few, a score from pairs that
    differ on more features stands before it, and the output says how far it looked and why.

    Examples
    --------
    - analogical score titanic

    - analogical score survey.csv --label churned --ignore id,date --top 10

    - cat survey.csv | analogical score - --json
    """
    if as_json and as_csv:
        raise InputError("--json and --csv exclude each other; give one of them.")
    if top is not None and top < 1:
        raise InputError(f"--top must be a whole number from 1, got {top}.")
    source = read_source(
        file, label=label, weights=weights, ignore=columns_of(ignore), separator=separator, header=header
    )
    result = relevance(
        source.frame,
        source.label,
        weights=source.weights,
        radius="auto" if radius == "auto" else _whole(radius, "--radius"),
        duplicates=duplicates,
        confidence=confidence,
        progress=sys.stderr.isatty(),
    )
    if as_json:
        write_json(result, {"title": source.title, "notes": list(source.notes)}, top)
    elif as_csv:
        for note in source.notes:
            typer.echo(note, err=True)
        write_relevance_csv(result, top)
    else:
        show_relevance(result, source.title, source.notes, top)


def _whole(text: str, option: str) -> int:
    try:
        return int(text)
    except ValueError:
        raise InputError(f"{option} must be a whole number or auto, got {text!r}.") from None


@app.command()
def generate(
    function: Annotated[
        str,
        typer.Argument(
            help="One of the paper's functions: " + "; ".join(f"{f.name}: {f.formula}" for f in FUNCTIONS.values()),
            show_default=False,
            metavar="g1..g8",
        ),
    ],
    features: Annotated[int, typer.Option(help="Number of features.")] = 10,
    values: Annotated[int, typer.Option(help="Values per feature, counted from 0.")] = 2,
    rows: Annotated[
        int | None,
        typer.Option(help="Rows, drawn without repetition; all there are if not given.", show_default=False),
    ] = None,
    seed: Annotated[
        int | None, typer.Option(help="Seed of the sample, to draw the same rows again.", show_default=False)
    ] = None,
) -> None:
    """Write a table labelled by one of the paper's eight functions, as CSV on stdout.

    Example: analogical generate g1 --rows 500 --seed 0 | analogical score -
    """
    X, y = sample(function, features, values, rows, seed)
    names = [f"x{i}" for i in range(1, features + 1)]
    write_csv([*names, "class"], ((*row, label) for row, label in zip(X.tolist(), y.tolist(), strict=True)))


@app.command()
def tables() -> None:
    """List the built-in tables, which can be given wherever a file is asked for."""
    listing = Table(box=None, pad_edge=False, padding=(0, 2, 0, 0), header_style="bold")
    for column in ("name", "rows", "features", "label", "source"):
        listing.add_column(column, justify="right" if column in ("rows", "features") else "left")
    for name in table_names():
        table = load_table(name)
        listing.add_row(
            Text(name, style="green"),
            f"{table.n_rows:,}",
            str(len(table.feature_names)),
            table.label,
            table.source,
        )
    Console(highlight=False).print(listing)


trust.register(app)
app.command()(compare)
app.command()(reproduce)


def run() -> None:
    """Run the command that was typed; what we refuse becomes one line on stderr and exit code 2."""
    try:
        app()
    except AnalogicalError as refused:
        sys.stderr.write(f"{refused}\n")
        raise SystemExit(2) from None
