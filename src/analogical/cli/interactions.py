"""``analogical interactions``: which features act together."""

from typing import Annotated

import typer

from analogical.cli.options import Confidence, GivenOption, read_given, reads_table
from analogical.cli.reading import Source, split_names
from analogical.cli.writing import Output
from analogical.errors import InputError

__all__ = ["interactions"]


@reads_table(without=("groups",), writes=("explain", "plot", "as_json", "as_csv", "csv_safe"))
def interactions(
    source: Source,
    output: Output,
    given: GivenOption = "auto",
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
) -> None:
    """Find features that act together: the effect of one depends on the other.

    A square is four rows that agree on the given features and have two values of each of two features in all four
    combinations. It is broken if the labels do not change alike along opposite sides. With --features, only pairs of
    those columns are tested; rows may still have to agree on the other columns.

    Example: analogical interactions monks-1 --pair head_shape,body_shape
    """
    equal_on = read_given(given)
    if pair is not None:
        from analogical.verbs import squares as _squares

        two = split_names(pair)
        if len(two) != 2:
            raise InputError(f"--pair must name two columns, separated by a comma, got {pair!r}.")
        options = source.options.copy()
        options.pop("features", None)
        output.write(_squares.squares(*source.data, *two, **options, given=equal_on, limit=limit), source)
        return
    from analogical.verbs import interactions as library

    output.write(library.interactions(*source.data, **source.options, given=equal_on, confidence=confidence), source)
