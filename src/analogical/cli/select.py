"""``analogical select``: the features that predict the label best together."""

from typing import Annotated

import typer

from analogical.cli.options import Csv, Json, Plot, reads_table, refuse_two_formats
from analogical.cli.reading import Source
from analogical.cli.writing import CsvSafe, write_result

__all__ = ["select"]


@reads_table(without=("groups",))
def select(
    source: Source,
    k: Annotated[
        int | None,
        typer.Option(
            "--k",
            "-k",
            metavar="K",
            help="Number of features to select; the deciding set by default.",
            show_default=False,
        ),
    ] = None,
    plot: Plot = None,
    as_json: Json = False,
    as_csv: Csv = False,
    csv_safe: CsvSafe = False,
) -> None:
    """Select the features that predict the label best together.

    The best features of a ranking may be redundant. Here a feature is selected for its gain over the others: how much
    better each row is predicted from the other rows. Features that act only together are found too. Without --k, the
    result is the deciding set, the features that score holds fixed. The output shows the gain of each feature, and what
    was left out because selected features carry the same information.

    Example: analogical select survey.csv --label churned --k 5
    """
    refuse_two_formats(as_json, as_csv or csv_safe)
    from analogical.verbs import select as library

    found = library.select(*source.data, k, **source.options)
    write_result(found, source, as_json=as_json, as_csv=as_csv, csv_safe=csv_safe, plot=plot)
