"""``analogical score``: the relevance of every feature of a table."""

import sys
from typing import Annotated, Literal

import typer

from analogical.cli.options import Confidence, Csv, Json, reads_table, refuse_two_formats
from analogical.cli.reading import Source
from analogical.cli.writing import CsvSafe, show_result, write_json, write_records
from analogical.errors import InputError

__all__ = ["score"]


@reads_table()
def score(
    source: Source,
    radius: Annotated[
        str,
        typer.Option(
            metavar="R",
            help="On how many features two rows may differ for the score: a number, or auto for as many as the table"
            " needs. ARI is always at 1.",
        ),
    ] = "auto",
    duplicates: Annotated[
        Literal["count", "once"], typer.Option(help="Whether identical rows with the same label all count, or once.")
    ] = "count",
    noise_free: Annotated[
        bool, typer.Option("--noise-free", help="Say that the labels have no noise: one changed pair shows an effect.")
    ] = False,
    confidence: Confidence = 0.95,
    top: Annotated[
        int | None, typer.Option(metavar="K", help="Show the best K features only.", show_default=False)
    ] = None,
    as_json: Json = False,
    as_csv: Csv = False,
    csv_safe: CsvSafe = False,
) -> None:
    """Score every feature of a table: how often it alone changes the label.

    ARI is the share of pairs of rows, equal but for that feature, whose labels differ: 1 means that a
    change of it always changes the label, 0 that it never does. Where rows repeat, the noise (how often identical
    rows differ in label, in the same contexts) is taken out, and what is left is the effect. p is the probability of
    labels that go with the feature at least this much if it had no effect, adjusted for the number of features. Where
    such pairs are too few, a score from pairs that differ on more features takes their place, and the output says how
    far it looked and why.

    Examples
    --------
    - analogical score titanic

    - analogical score survey.csv --label churned --ignore id,date --top 10

    - cat survey.csv | analogical score - --json
    """
    refuse_two_formats(as_json, as_csv or csv_safe)
    if top is not None and top < 1:
        raise InputError(f"--top must be a whole number from 1, got {top}.")
    from analogical._relevance import relevance

    result = relevance(
        *source.data,
        **source.options,
        radius="auto" if radius == "auto" else _whole(radius, "--radius"),
        duplicates=duplicates,
        noise_free=noise_free,
        confidence=confidence,
        progress=sys.stderr.isatty(),
    )
    if as_json:
        content = result.to_dict()
        if top is not None:
            best = set(result.ranking()[:top])
            content["features"] = [feature for feature in content["features"] if feature["name"] in best]
        write_json(content, source)
    elif as_csv or csv_safe:
        write_records(result, source, top=top, csv_safe=csv_safe)
    else:
        show_result(result, source, top=top)


def _whole(text: str, option: str) -> int:
    try:
        return int(text)
    except ValueError:
        raise InputError(f"{option} must be a whole number or auto, got {text!r}.") from None
