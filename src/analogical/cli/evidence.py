"""``analogical evidence``: the pairs of rows behind the effect of a feature."""

from typing import Annotated

import typer

from analogical.cli.options import GivenOption, Limit, read_given, reads_table
from analogical.cli.reading import Source, refuse_role
from analogical.cli.writing import Output
from analogical.errors import InputError

__all__ = ["evidence"]


@reads_table(writes=("explain", "plot", "as_json"))
def evidence(
    source: Source,
    output: Output,
    feature: Annotated[str, typer.Option(metavar="COL", help="The feature whose pairs to show.", show_default=False)],
    given: GivenOption = "auto",
    limit: Limit = 6,
) -> None:
    """Show the pairs of rows behind the effect of a feature.

    The rows of a pair agree on the given features and differ on this one. Changed pairs come first, from as many
    contexts as possible, then the number of pairs for each transition of value and label.

    Example: analogical evidence monks-1 --feature jacket_color --limit 3
    """
    if limit < 0:
        raise InputError(f"--limit must be a whole number from 0, got {limit}.")
    from analogical.verbs import evidence as library
    from analogical.verbs.compared import compare_rows

    refuse_role(feature, source, "--feature")
    rows = compare_rows(library.evidence, *source.data, feature, read_given(given), source.options)
    result, transitions = library.evidence_of(rows, rows.find_pairs(limit)), library.transitions_of(rows)
    also = {"transitions": transitions.to_dict()["transitions"]}
    output.write(result, source, *([transitions] if transitions.counts else []), also=also)
