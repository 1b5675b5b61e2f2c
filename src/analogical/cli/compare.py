"""``analogical compare``: several methods on one table, side by side."""

from typing import Annotated

import typer

from analogical.cli.options import Csv, Json, Plot, Seed, Top, check_top, reads_table, refuse_two_formats
from analogical.cli.reading import Source
from analogical.cli.writing import CsvSafe, best_entries, draw_result, most_rows, show_result, write_json, write_records
from analogical.errors import InputError
from analogical.rivals import MAX_ROWS, METHODS, choose_methods

__all__ = ["compare"]


@reads_table(without=("groups",))
def compare(
    source: Source,
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
    top: Top = None,
    plot: Plot = None,
    as_json: Json = False,
    as_csv: Csv = False,
    csv_safe: CsvSafe = False,
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
    refuse_two_formats(as_json, as_csv or csv_safe)
    check_top(top)
    if seed < 0:
        raise InputError(f"--seed must be a whole number from 0, got {seed}.")
    names = None if methods is None else methods.split(",")
    choose_methods(names)
    from analogical.show.comparison import describe_not_installed
    from analogical.verbs import compare as library

    found = library.compare(*source.data, **source.options, methods=names, max_rows=max_rows, random_state=seed)
    notes = describe_not_installed() if methods is None else ()
    if plot is not None:
        draw_result(found, plot, top=most_rows(top))
    if as_json:
        write_json(found.to_dict() | {"features": best_entries(found, top)}, source)
    elif as_csv or csv_safe:
        write_records(found, source, notes, top=top, csv_safe=csv_safe)
    else:
        show_result(found, source, notes=notes, top=top)
