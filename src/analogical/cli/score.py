"""``analogical score``: the relevance of every feature of a table."""

from typing import Annotated, Literal

import typer

from analogical.cli.options import (
    GIVEN_HELP,
    Confidence,
    Csv,
    Json,
    Plot,
    Top,
    check_top,
    read_given,
    reads_table,
    refuse_two_formats,
)
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
from analogical.show.views import view_of

__all__ = ["score"]


@reads_table()
def score(
    source: Source,
    given: Annotated[str, typer.Option(metavar="auto|all|none|NAMES", help=GIVEN_HELP)] = "auto",
    duplicates: Annotated[
        Literal["count", "once"],
        typer.Option(help="Count identical rows with the same label as often as they occur, or once."),
    ] = "count",
    confidence: Confidence = 0.95,
    engine: Annotated[
        Literal["auto", "memory", "spark"],
        typer.Option(
            help="Where to count: in memory or on Apache Spark. auto counts in memory, and suggests Spark if memory is"
            " short."
        ),
    ] = "auto",
    master: Annotated[  # noqa: ARG001 (the table is opened there)
        str | None,
        typer.Option(
            metavar="URL",
            help="Where Spark runs: local[4], spark://host:7077, yarn, or sc://host:15002 for Spark Connect; all cores"
            " of this machine by default. All workers must be able to read the file.",
            show_default=False,
        ),
    ] = None,
    top: Top = None,
    explain: Annotated[
        bool,
        typer.Option("--explain", help="Explain the result: pairs, noise, assumptions and limits."),
    ] = False,
    paper: Annotated[
        bool,
        typer.Option(
            "--paper",
            help="Show the ARI as in the paper: 0 for a constant feature and 2 without pairs, instead of a dash.",
        ),
    ] = False,
    plot: Plot = None,
    as_json: Json = False,
    as_csv: Csv = False,
    csv_safe: CsvSafe = False,
) -> None:
    """Score every feature of a table: how much the label depends on it, given the others.

    First finds the deciding set: features that together predict the label. Then compares rows that agree on this set
    and differ on one feature. effect is half the squared difference in label shares between two values of the feature;
    with two classes its square root is the difference in shares. points is the direction: how much more often the label
    occurs with a value, in percentage points. p is adjusted for the number of features. With --given all,
    rows are compared as in the paper, and ARI is the share of pairs whose labels differ.

    Examples
    --------
    - analogical score titanic

    - analogical score survey.csv --label churned --ignore id,date --top 10

    - analogical score survey.csv --label churned --explain --plot relevance.png

    - analogical score monks-1 --given all

    - analogical score berkeley --given none

    - cat survey.csv | analogical score - --json

    - analogical score /data/visits --label readmitted --engine spark --master spark://host:7077
    """
    refuse_two_formats(as_json, as_csv or csv_safe)
    check_top(top)
    if engine == "spark":
        from analogical.spark import relevance
    else:
        from analogical.verbs.relevance import relevance  # type: ignore[assignment]

    result = relevance(
        *source.data,
        **source.options,
        given=read_given(given),
        duplicates=duplicates,
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
