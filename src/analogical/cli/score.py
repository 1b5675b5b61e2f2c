"""``analogical score``: the relevance of every feature of a table."""

from typing import Annotated, Literal

import typer

from analogical.cli.options import Confidence, GivenOption, read_given, reads_table
from analogical.cli.reading import Source
from analogical.cli.streams import shows_progress
from analogical.cli.writing import Output
from analogical.show.views import view_of

__all__ = ["score"]


@reads_table()
def score(
    source: Source,
    output: Output,
    given: GivenOption = "auto",
    duplicates: Annotated[
        Literal["count", "once"],
        typer.Option(help="Count identical rows with the same label as often as they occur, or once."),
    ] = "count",
    confidence: Confidence = 0.95,
    paper: Annotated[
        bool,
        typer.Option("--paper", help="Show the index of the paper (ARI) with its own words, in place of the effects."),
    ] = False,
) -> None:
    """Score every feature of a table: how much the label depends on it, given the others.

    First finds the deciding set: features that together predict the label. Then compares rows that agree on this set
    and differ on one feature. points is the difference in label shares between two values of the feature, in percentage
    points, averaged over the compared pairs (its square, the effect, is in --json and --csv). The next column is the
    direction: with which value the label occurs more often, and by how much. p is adjusted for the number of features.
    ARI, the index of the paper, is the share of changed labels among rows that differ on one feature only.

    Examples
    --------
    - analogical score titanic

    - analogical score survey.csv --label churned --ignore id,date --top 10

    - analogical score survey.csv --label churned --explain --plot relevance.png

    - analogical score monks-1 --paper

    - analogical score berkeley --given none

    - cat survey.csv | analogical score - --json

    - analogical score /data/visits --label readmitted --engine spark --master spark://host:7077
    """
    from analogical.verbs.relevance import relevance

    result = relevance(
        *source.data,
        **source.options,
        given=read_given(given),
        duplicates=duplicates,
        confidence=confidence,
        progress=shows_progress(),
    )
    view = view_of(result)
    output.write(result, source, also={"explanation": [view.headline, *view.lines, *view.explanation]}, paper=paper)
