"""``analogical score``: the relevance of every feature of a table."""

from typing import Annotated, Literal

import typer

from analogical.cli.options import Confidence, Csv, Json, Plot, Top, check_top, reads_table, refuse_two_formats
from analogical.cli.reading import Source
from analogical.cli.streams import shows_progress
from analogical.cli.writing import (
    CsvSafe,
    best_entries,
    draw_result,
    most_rows,
    show_result,
    write_json,
    write_records,
)
from analogical.errors import InputError
from analogical.presenting.views import view_of

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
    engine: Annotated[
        Literal["auto", "memory", "spark"],
        typer.Option(
            help="Who counts: this process, or Apache Spark. auto is this process, and says when Spark would be the"
            " better choice."
        ),
    ] = "auto",
    master: Annotated[  # noqa: ARG001 (the table is opened there)
        str | None,
        typer.Option(
            metavar="URL",
            help="Where Spark runs: local[4], spark://host:7077, yarn, or sc://host:15002 for Spark Connect; all cores"
            " of this machine if not given. The path must be one that all workers see.",
            show_default=False,
        ),
    ] = None,
    top: Top = None,
    explain: Annotated[
        bool,
        typer.Option("--explain", help="Say more: what the numbers rest on, and their limits."),
    ] = False,
    paper: Annotated[
        bool,
        typer.Option("--paper", help="Show the paper's ARI: 0 for a constant feature and 2 without pairs, not a dash."),
    ] = False,
    plot: Plot = None,
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
    far it looked. Three bullets sum it up; --explain says more.

    Examples
    --------
    - analogical score titanic

    - analogical score survey.csv --label churned --ignore id,date --top 10

    - analogical score survey.csv --label churned --explain --plot relevance.png

    - cat survey.csv | analogical score - --json

    - analogical score /data/visits --label readmitted --engine spark --master spark://host:7077
    """
    refuse_two_formats(as_json, as_csv or csv_safe)
    check_top(top)
    if engine == "spark":
        from analogical.spark import relevance
    else:
        from analogical._relevance import relevance  # type: ignore[assignment]

    result = relevance(
        *source.data,
        **source.options,
        radius="auto" if radius == "auto" else _whole(radius, "--radius"),
        duplicates=duplicates,
        noise_free=noise_free,
        confidence=confidence,
        progress=shows_progress(),
    )
    if plot is not None:
        draw_result(result, plot, top=most_rows(top))
    if as_json:
        said = {"features": best_entries(result, top), "explanation": list(view_of(result).findings)}
        write_json(result.to_dict() | said, source)
    elif as_csv or csv_safe:
        write_records(result, source, top=top, csv_safe=csv_safe)
    else:
        show_result(result, source, explain=explain, top=top, paper=paper)


def _whole(text: str, option: str) -> int:
    try:
        return int(text)
    except ValueError:
        raise InputError(f"{option} must be a whole number or auto, got {text!r}.") from None
