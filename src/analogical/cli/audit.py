"""``analogical audit``: differences between the values of one feature, given the deciding set."""

from typing import Annotated

import typer

from analogical.cli.options import Confidence, GivenOption, Limit, read_given, reads_table
from analogical.cli.reading import Source, refuse_role
from analogical.cli.writing import Output

__all__ = ["audit"]


@reads_table(without=("features",), writes=("explain", "plot", "as_json", "as_csv", "csv_safe"))
def audit(
    source: Source,
    output: Output,
    feature: Annotated[str, typer.Option(metavar="COL", help="The feature to audit.", show_default=False)],
    given: GivenOption = "auto",
    reference: Annotated[
        str | None,
        typer.Option(
            metavar="VALUE",
            help="Value to compare the others with; the most frequent one by default.",
            show_default=False,
        ),
    ] = None,
    confidence: Confidence = 0.95,
    limit: Limit = 6,
) -> None:
    """Audit one feature: the difference in label shares between its values, adjusted for the given features.

    Compares rows that agree on the given features and differ on this one. Shows how many rows were compared, the
    adjusted and the crude difference with interval, odds ratio and p-value, and example pairs.

    Examples
    --------
    - analogical audit berkeley --label admitted --feature gender

    - analogical audit loans.csv --label approved --feature gender --given income,debt
    """
    from analogical.verbs import audit as library

    refuse_role(feature, source, "--feature")
    result = library.audit(
        *source.data,
        feature,
        given=read_given(given),
        **source.options,
        reference=reference,
        confidence=confidence,
        limit=limit,
    )
    output.write(result, source)
