"""``analogical select``: the features that predict the label best together."""

from typing import Annotated

import typer

from analogical.cli.options import Csv, Json, Plot, reads_table, refuse_two_formats
from analogical.cli.reading import Source
from analogical.cli.streams import shows_progress
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
            help="How many features to choose; the deciding set if not given.",
            show_default=False,
        ),
    ] = None,
    plot: Plot = None,
    as_json: Json = False,
    as_csv: Csv = False,
    csv_safe: CsvSafe = False,
) -> None:
    """Choose the features that predict the label best together.

    The best features of a ranking may say the same thing. Here a feature is chosen for what it adds to the others: how
    much better every row is predicted by the other rows. Features that act only together are found too. Without --k it
    chooses the deciding set, the features that score holds fixed. The output says what each one adds, and what was left
    out because a chosen feature carries the same information.

    Example: analogical select survey.csv --label churned --k 5
    """
    refuse_two_formats(as_json, as_csv or csv_safe)
    from analogical.verbs import select as library

    found = library.select(*source.data, k, **source.options, progress=shows_progress())
    write_result(found, source, as_json=as_json, as_csv=as_csv, csv_safe=csv_safe, plot=plot)
