"""``analogical redundancies``: columns with the same information, and columns that others determine."""

from typing import Annotated

import typer

from analogical.cli.options import Csv, Json, reads_table, refuse_two_formats
from analogical.cli.reading import Source
from analogical.cli.writing import CsvSafe, write_result

__all__ = ["redundancies"]


@reads_table(without=("groups", "bin_label"))
def redundancies(
    source: Source,
    max_determinants: Annotated[
        int, typer.Option(metavar="1|2", help="Search for columns determined by one other column, or also by two.")
    ] = 2,
    as_json: Json = False,
    as_csv: Csv = False,
    csv_safe: CsvSafe = False,
) -> None:
    """Find columns that are constant, that carry the same information, or that others determine.

    The label is left out. Each dependency comes with the number of rows that could have contradicted it.

    Example: analogical redundancies survey.csv --label churned
    """
    refuse_two_formats(as_json, as_csv or csv_safe)
    from analogical.verbs import redundancies as library

    found = library.redundancies(source.frame.drop(source.label), **source.options, max_determinants=max_determinants)
    write_result(found, source, as_json=as_json, as_csv=as_csv, csv_safe=csv_safe)
