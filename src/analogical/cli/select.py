"""``analogical select``: the features that predict the label best together."""

from typing import Annotated

import typer

from analogical.cli.options import reads_table
from analogical.cli.reading import Source
from analogical.cli.writing import Output

__all__ = ["select"]


@reads_table(without=("groups",), writes=("explain", "plot", "as_json", "as_csv", "csv_safe"))
def select(
    source: Source,
    output: Output,
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
) -> None:
    """Select the features that predict the label best together.

    The best features of a ranking may be redundant. Here a feature is selected for its gain over the others: how much
    better each row is predicted from the other rows. Features that act only together are found too. Without --k, the
    result is the deciding set, the features that score holds fixed. The output shows how much of the label each
    feature explains, and what was left out because selected features carry the same information.

    Example: analogical select survey.csv --label churned --k 5
    """
    from analogical.verbs import select as library

    output.write(library.select(*source.data, k, **source.options), source)
