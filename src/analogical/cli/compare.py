"""``analogical compare``: several methods on one table, side by side."""

from typing import Annotated

import typer

from analogical.cli.options import Seed, reads_table
from analogical.cli.reading import Source
from analogical.cli.writing import Output
from analogical.errors import InputError
from analogical.rivals import MAX_ROWS, METHODS, choose_methods

__all__ = ["compare"]


@reads_table(without=("groups", "engine", "master"))
def compare(
    source: Source,
    output: Output,
    methods: Annotated[
        str | None,
        typer.Option(
            metavar="NAMES",
            help=f"Methods, separated by commas: {', '.join(METHODS)}. The table is sorted by the first.",
            show_default="all that are installed and fast enough",
        ),
    ] = None,
    max_rows: Annotated[
        int,
        typer.Option(
            metavar="N", help="Maximum number of rows, drawn at random, for slow methods: forest, relief, relieff."
        ),
    ] = MAX_ROWS,
    seed: Seed = 0,
) -> None:
    """Score the features of a table by several methods, side by side.

    Each method's scores are shown as shares of their sum, with the rank in parentheses. A dash means that the
    method has no evidence for the feature. Methods that would take more than a few seconds are left out, with a note,
    unless they are named with --methods.

    Examples
    --------
    - analogical compare monks-1

    - analogical compare survey.csv --label churned --methods ari,mi --top 10 --plot methods.png
    """
    if seed < 0:
        raise InputError(f"--seed must be a whole number from 0, got {seed}.")
    names = None if methods is None else methods.split(",")
    choose_methods(names)
    from analogical.show.comparison import describe_not_installed
    from analogical.verbs import compare as library

    result = library.compare(*source.data, **source.options, methods=names, max_rows=max_rows, random_state=seed)
    notes = describe_not_installed() if methods is None else ()
    output.write(result, source, notes=notes)
