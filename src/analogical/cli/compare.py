"""``analogical compare``: several methods on one table, side by side."""

import json
import sys
from typing import Annotated

import typer
from rich.console import Console
from rich.table import Table
from rich.text import Text

from analogical.cli.options import Csv, File, Header, Ignore, Json, Label, Separator, Weights, columns_of
from analogical.cli.reading import Source, read_source
from analogical.cli.writing import write_csv
from analogical.errors import InputError
from analogical.experiments.comparison import MAX_ROWS, Comparison, compare_methods
from analogical.experiments.methods import METHODS, choose_methods

__all__ = ["compare"]


def compare(
    file: File,
    label: Label = None,
    weights: Weights = None,
    ignore: Ignore = None,
    methods: Annotated[
        str | None,
        typer.Option(
            metavar="NAMES",
            help=f"Methods, separated by commas, of {', '.join(METHODS)}; the table is ordered by the first.",
            show_default="all that are installed",
        ),
    ] = None,
    max_rows: Annotated[
        int,
        typer.Option(metavar="N", help="Rows, drawn at random, for methods that compare all rows with each other."),
    ] = MAX_ROWS,
    seed: Annotated[int, typer.Option(help="Seed of that draw.")] = 0,
    plot: Annotated[
        str | None,
        typer.Option(metavar="FILE", help="Draw bar charts to a .png, .svg or .pdf file.", show_default=False),
    ] = None,
    as_json: Json = False,
    as_csv: Csv = False,
    separator: Separator = None,
    header: Header = True,
) -> None:
    """Score the features of a table by several methods, side by side.

    Each method's scores are shown as shares of their sum, with the rank of the feature in brackets. A dash
    means that the method has no evidence for the feature.

    Examples
    --------
    - analogical compare monks-1

    - analogical compare survey.csv --label churned --methods ari,mi --plot methods.png
    """
    if as_json and as_csv:
        raise InputError("--json and --csv exclude each other; give one of them.")
    if seed < 0:
        raise InputError(f"--seed must be a whole number from 0, got {seed}.")
    names = methods.split(",") if methods is not None else _installed()
    choose_methods(names)
    source = read_source(
        file, label=label, weights=weights, ignore=columns_of(ignore), separator=separator, header=header
    )
    found = compare_methods(
        source.frame, source.label, weights=source.weights, methods=names, max_rows=max_rows, random_state=seed
    )
    notes = [*source.notes, *found.notes]
    if methods is None:
        notes += [
            f'{method.title} left out: {method.package} is not installed (pip install "analogical[compare]")'
            for method in METHODS.values()
            if not method.is_available
        ]
    if plot is not None:
        _draw(found, source, plot)
    if as_json:
        content = {"source": {"title": source.title, "label": source.label, "notes": notes}, **found.to_dict()}
        sys.stdout.write(json.dumps(content, indent=2, ensure_ascii=False) + "\n")
    elif as_csv:
        for note in notes:
            typer.echo(note, err=True)
        _write_csv(found)
    else:
        _show(found, source, notes)


def _installed() -> list[str]:
    return [method.name for method in METHODS.values() if method.is_available]


def _draw(found: Comparison, source: Source, path: str) -> None:
    from analogical.plotting import bar_charts, save_figure

    order = found.order()
    figure = bar_charts(
        [found.names[i] for i in order],
        {method.title: found.shares[method.name][order] for method in found.methods},
        title=f"Relevance for {source.label} in {source.title}",
        caption="; ".join(["scores as shares of their sum, a dash where there is no evidence", *found.notes]),
    )
    save_figure(figure, path)
    typer.echo(f"drawn to {path}", err=True)


def _show(found: Comparison, source: Source, notes: list[str]) -> None:
    console = Console(highlight=False)
    console.print(Text(f"{source.title}: relevance for {source.label!r} by {len(found.methods)} methods"))
    for note in notes:
        console.print(Text(note, style="dim"))
    table = Table(box=None, pad_edge=False, padding=(0, 2, 0, 0), header_style="bold")
    table.add_column("feature", overflow="ellipsis", no_wrap=True, min_width=7)
    for method in found.methods:
        table.add_column(method.title, justify="right", no_wrap=True)
    shares, ranks = found.shares, found.ranks
    for i in found.order():
        cells = []
        for method in found.methods:
            share, rank = shares[method.name][i], ranks[method.name][i]
            text = "–" if share != share else f"{share:.3f} ({rank})"
            cells.append(Text(text, style="bold green" if rank == 1 and share > 0 else ""))
        table.add_row(Text(found.names[i]), *cells)
    console.print()
    console.print(table)
    console.print()
    for method in found.methods:
        console.print(Text(f"{method.title}: {method.about}", style="dim"))


def _write_csv(found: Comparison) -> None:
    """One line per feature, best of the first method first."""
    columns = ("score", "share", "rank")
    header = ["feature", *(f"{method.name}_{column}" for method in found.methods for column in columns)]
    features = found.to_dict()["features"]
    rows = (
        [features[i]["name"], *(features[i][method.name][column] for method in found.methods for column in columns)]
        for i in found.order()
    )
    write_csv(header, rows)
