"""``analogical redundancies``: columns that say the same, and columns that others determine."""

from typing import Annotated

import typer

from analogical.cli.options import (
    Csv,
    Features,
    File,
    Header,
    Ignore,
    Json,
    Label,
    Separator,
    Weights,
    refuse_two_formats,
)
from analogical.cli.reading import read_source
from analogical.cli.writing import write_result

__all__ = ["redundancies"]


def redundancies(
    file: File,
    label: Label = None,
    weights: Weights = None,
    features: Features = None,
    ignore: Ignore = None,
    max_determinants: Annotated[
        int, typer.Option(metavar="1|2", help="Look for columns determined by one other column, or also by two.")
    ] = 2,
    as_json: Json = False,
    as_csv: Csv = False,
    separator: Separator = None,
    header: Header = True,
) -> None:
    """Find columns that are constant, that carry the same information, or that others determine.

    The label is left out. Each finding comes with the number of rows that could have broken it.

    Example: analogical redundancies survey.csv --label churned
    """
    refuse_two_formats(as_json, as_csv)
    from analogical import _redundancy as library

    source = read_source(
        file,
        label=label,
        weights=weights,
        features=features,
        ignore=ignore,
        separator=separator,
        header=header,
    )
    found = library.redundancies(source.frame.drop(source.label), **source.options, max_determinants=max_determinants)
    write_result(found, source, as_json=as_json, as_csv=as_csv)
