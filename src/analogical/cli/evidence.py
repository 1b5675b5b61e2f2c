"""``analogical evidence``: the pairs of rows behind the index of a feature."""

from typing import Annotated

import typer

from analogical.cli.options import Json, Limit, reads_table
from analogical.cli.reading import Source, refuse_role
from analogical.cli.writing import show_result, write_json
from analogical.errors import InputError

__all__ = ["evidence"]


@reads_table(without=("groups",))
def evidence(
    source: Source,
    feature: Annotated[str, typer.Option(metavar="COL", help="The feature to look at.", show_default=False)],
    limit: Limit = 6,
    as_json: Json = False,
) -> None:
    """Show the pairs of rows that a feature's index was counted on.

    Each pair is two rows that are equal but for the feature. Changed pairs come first, from as many
    different contexts as possible; then follows how many pairs go from which value and label to which.

    Example: analogical evidence monks-1 --feature jacket_color --limit 3
    """
    if limit < 0:
        raise InputError(f"--limit must be a whole number from 0, got {limit}.")
    from analogical import _evidence as library

    refuse_role(feature, source, "--feature")
    found = library.evidence(*source.data, feature, **source.options, limit=limit)
    changes = library.transitions(*source.data, feature, **source.options)
    if as_json:
        write_json(found.to_dict() | {"transitions": changes.to_dict()["transitions"]}, source)
    else:
        show_result(found, source, *([changes] if changes.counts else []))
