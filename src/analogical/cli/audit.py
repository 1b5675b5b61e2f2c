"""``analogical audit``: the all-else-equal audit of one feature."""

from typing import Annotated

import typer

from analogical.cli.options import Confidence, GivenOption, Json, Limit, Plot, read_given, reads_table
from analogical.cli.reading import Source, refuse_role
from analogical.cli.writing import write_result

__all__ = ["audit"]


@reads_table(without=("features",))
def audit(
    source: Source,
    feature: Annotated[str, typer.Option(metavar="COL", help="The feature to audit.", show_default=False)],
    given: GivenOption = "auto",
    reference: Annotated[
        str | None,
        typer.Option(
            metavar="VALUE",
            help="Value that the others are compared with; the most frequent if not given.",
            show_default=False,
        ),
    ] = None,
    confidence: Confidence = 0.95,
    limit: Limit = 6,
    plot: Plot = None,
    as_json: Json = False,
) -> None:
    """Audit one feature, all else equal: which of its values has the label more often, and by how much.

    Rows that are equal on what is given and differ on the feature are compared with each other. The audit says who was
    compared, which value has which label more often, by how much and how sure that is, and shows examples.

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
    write_result(result, source, as_json=as_json, plot=plot)
