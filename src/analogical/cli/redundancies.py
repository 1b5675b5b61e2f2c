"""``analogical redundancies``: columns with the same information, that others determine, and near-copies."""

from typing import Annotated

import typer

from analogical.cli.options import reads_table
from analogical.cli.reading import Source
from analogical.cli.writing import Output

__all__ = ["redundancies"]


@reads_table(without=("groups", "bin_label"), writes=("explain", "plot", "as_json", "as_csv", "csv_safe"))
def redundancies(
    source: Source,
    output: Output,
    max_determinants: Annotated[
        int, typer.Option(metavar="1|2", help="Search for columns determined by one other column, or also by two.")
    ] = 2,
) -> None:
    """Find columns that are constant, copies or near-copies of others, or determined by them.

    The label is left out. Each dependency comes with the number of rows that could have contradicted it, each near-copy
    with the share of its entropy that another column leaves open; numbers are compared in their bins.

    Example: analogical redundancies survey.csv --label churned
    """
    from analogical.verbs import redundancies as library

    result = library.redundancies(source.frame, **source.without_label(), max_determinants=max_determinants)
    output.write(result, source)
