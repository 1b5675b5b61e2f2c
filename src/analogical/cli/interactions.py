"""``analogical interactions``: which features act together."""

from typing import Annotated, Any

import typer

from analogical.cli.options import Confidence, Csv, Json, Plot, Seed, reads_table, refuse_two_formats
from analogical.cli.reading import Source, split_names
from analogical.cli.writing import CsvSafe, write_result
from analogical.errors import InputError

__all__ = ["interactions"]


@reads_table(without=("groups",))
def interactions(
    source: Source,
    top: Annotated[
        int | None,
        typer.Option(
            metavar="K",
            help="Look at pairs among the K best features of the relaxed index only; if not given, at all pairs up to"
            " 5,000.",
            show_default=False,
        ),
    ] = None,
    contexts: Annotated[
        str,
        typer.Option(
            metavar="auto|all|K|COLS",
            help="On which features the rows of a square must be equal besides the two: all others if rows repeat"
            " enough and otherwise those that are told from noise (auto), all others, the K best ones, or columns"
            " separated by commas.",
        ),
    ] = "auto",
    pair: Annotated[
        str | None,
        typer.Option(
            metavar="COL,COL",
            help="Show the label shares of one pair by value and value, and squares of rows.",
            show_default=False,
        ),
    ] = None,
    limit: Annotated[int, typer.Option(help="How many squares to show with --pair.")] = 4,
    confidence: Confidence = 0.95,
    seed: Seed = 0,
    plot: Plot = None,
    as_json: Json = False,
    as_csv: Csv = False,
    csv_safe: CsvSafe = False,
) -> None:
    """Find features that act together: what one does to the label depends on the other.

    Four rows that are equal but for two features, with two values of each in all four combinations, are a square. It
    is broken if the labels do not change alike along its sides. With --features, only pairs of those columns are
    looked at; the other columns may still form contexts.

    Example: analogical interactions monks-1 --pair head_shape,body_shape
    """
    refuse_two_formats(as_json, as_csv or csv_safe)
    equal_on = _contexts(contexts, source)
    if pair is not None:
        from analogical import _squares

        two = split_names(pair)
        if len(two) != 2:
            raise InputError(f"--pair must name two columns, separated by a comma, got {pair!r}.")
        if top is not None:
            raise InputError("--pair and --top cannot be used together; give one of them.")
        options = {name: value for name, value in source.options.items() if name != "features"}
        shown = _squares.squares(
            *source.data, two[0], two[1], **options, contexts=equal_on, random_state=seed, limit=limit
        )
        write_result(shown, source, as_json=as_json, as_csv=as_csv, csv_safe=csv_safe, plot=plot)
        return
    from analogical import _interactions as library

    found = library.interactions(
        *source.data, **source.options, contexts=equal_on, top=top, confidence=confidence, random_state=seed
    )
    write_result(found, source, as_json=as_json, as_csv=as_csv, csv_safe=csv_safe, plot=plot)


def _contexts(given: str, source: Source) -> Any:
    """What --contexts says: a word, a number or columns."""
    if given in ("auto", "all"):
        return given
    if given.isdecimal() and given not in source.frame.columns:
        return int(given)
    return split_names(given)
