"""``analogical interactions``: which features act together."""

from typing import Annotated

import typer

from analogical.cli.options import GIVEN_HELP, Confidence, Csv, Json, Plot, read_given, reads_table, refuse_two_formats
from analogical.cli.reading import Source, split_names
from analogical.cli.writing import CsvSafe, write_result
from analogical.errors import InputError

__all__ = ["interactions"]


@reads_table(without=("groups",))
def interactions(
    source: Source,
    given: Annotated[str, typer.Option(metavar="auto|all|none|NAMES", help=GIVEN_HELP)] = "auto",
    pair: Annotated[
        str | None,
        typer.Option(
            metavar="COL,COL",
            help="Show the label shares of one pair of features by their values, and example squares.",
            show_default=False,
        ),
    ] = None,
    limit: Annotated[int, typer.Option(help="Number of squares to show with --pair.")] = 4,
    confidence: Confidence = 0.95,
    plot: Plot = None,
    as_json: Json = False,
    as_csv: Csv = False,
    csv_safe: CsvSafe = False,
) -> None:
    """Find features that act together: the effect of one depends on the other.

    A square is four rows that agree on the given features and have two values of each of two features in all four
    combinations. It is broken if the labels do not change alike along opposite sides. With --features, only pairs of
    those columns are tested; rows may still have to agree on the other columns.

    Example: analogical interactions monks-1 --pair head_shape,body_shape
    """
    refuse_two_formats(as_json, as_csv or csv_safe)
    equal_on = read_given(given)
    if pair is not None:
        from analogical.verbs import squares as _squares

        two = split_names(pair)
        if len(two) != 2:
            raise InputError(f"--pair must name two columns, separated by a comma, got {pair!r}.")
        options = source.options.copy()
        options.pop("features", None)
        shown = _squares.squares(*source.data, two[0], two[1], **options, given=equal_on, limit=limit)
        write_result(shown, source, as_json=as_json, as_csv=as_csv, csv_safe=csv_safe, plot=plot)
        return
    from analogical.verbs import interactions as library

    found = library.interactions(*source.data, **source.options, given=equal_on, confidence=confidence)
    write_result(found, source, as_json=as_json, as_csv=as_csv, csv_safe=csv_safe, plot=plot)
