"""``analogical compare``: several methods on one table, side by side."""

from typing import TYPE_CHECKING, Annotated

import typer

from analogical.cli.options import Csv, Json, Seed, reads_table, refuse_two_formats
from analogical.cli.reading import Source
from analogical.cli.streams import say
from analogical.cli.writing import CsvSafe, write_result
from analogical.errors import InputError
from analogical.presenting.views import view_of
from analogical.rivals import MAX_ROWS, METHODS, choose_methods

if TYPE_CHECKING:
    from analogical._comparison import Comparison

__all__ = ["compare"]


@reads_table(without=("groups",))
def compare(
    source: Source,
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
        typer.Option(metavar="N", help="Rows, drawn at random, for slow methods: forest, relief, relieff."),
    ] = MAX_ROWS,
    seed: Seed = 0,
    plot: Annotated[
        str | None,
        typer.Option(metavar="FILE", help="Draw bar charts to a .png, .svg or .pdf file.", show_default=False),
    ] = None,
    as_json: Json = False,
    as_csv: Csv = False,
    csv_safe: CsvSafe = False,
) -> None:
    """Score the features of a table by several methods, side by side.

    Each method's scores are shown as shares of their sum, with the rank of the feature in brackets. A dash
    means that the method has no evidence for the feature.

    Examples
    --------
    - analogical compare monks-1

    - analogical compare survey.csv --label churned --methods ari,mi --plot methods.png
    """
    refuse_two_formats(as_json, as_csv or csv_safe)
    if seed < 0:
        raise InputError(f"--seed must be a whole number from 0, got {seed}.")
    names = None if methods is None else methods.split(",")
    choose_methods(names)
    from analogical import _comparison as library

    found = library.compare(*source.data, **source.options, methods=names, max_rows=max_rows, random_state=seed)
    notes = _missing() if methods is None else ()
    if plot is not None:
        _draw(found, source, plot)
    write_result(found, source, as_json=as_json, as_csv=as_csv, csv_safe=csv_safe, notes=notes)


def _missing() -> tuple[str, ...]:
    """The methods that were left out because their library is not installed."""
    return tuple(
        f'{method.title} left out: {method.package} is not installed (pip install "analogical[compare]")'
        for method in METHODS.values()
        if not method.is_available
    )


def _draw(found: "Comparison", source: Source, path: str) -> None:
    from analogical.plotting import bar_charts, save_figure

    order = found.order()
    figure = bar_charts(
        [found.names[i] for i in order],
        {method.title: found.shares[method.name][order] for method in found.methods},
        title=f"Relevance for {source.label} in {source.title}",
        caption="; ".join(["scores as shares of their sum, a dash where there is no evidence", *view_of(found).notes]),
    )
    save_figure(figure, path)
    say(f"drawn to {path}")
