"""The commands that ask one question about a table: score, select, evidence, interactions, audit, and others.

Each one calls the function of the library of the same name (score calls relevance), which is imported when the command
runs, so that help pages are fast.
"""

from typing import Annotated, Literal

import typer

from analogical.cli.options import Confidence, GivenOption, Limit, Seed, read_given, reads_table
from analogical.cli.reading import Source, refuse_role, split_names
from analogical.cli.streams import shows_progress
from analogical.cli.writing import Output
from analogical.errors import InputError
from analogical.show.views import view_of

__all__ = ["audit", "compare", "evidence", "interactions", "redundancies", "score", "select"]

METHOD_NAMES = ("effect", "ari", "chi2", "mi", "forest", "permutation", "relief", "relieff")
"""The methods of ``compare``, as in ``rivals.METHODS``, which is slow to import."""
MAX_ROWS = 3_000
"""Rows that slow methods are given by default, as in ``rivals``."""


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
    from analogical.questions.relevance import relevance

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
    from analogical.questions import select as library

    output.write(library.select(*source.data, k, **source.options), source)


@reads_table(writes=("explain", "plot", "as_json"))
def evidence(
    source: Source,
    output: Output,
    feature: Annotated[str, typer.Option(metavar="COL", help="The feature whose pairs to show.", show_default=False)],
    given: GivenOption = "auto",
    limit: Limit = 6,
) -> None:
    """Show the pairs of rows behind the effect of a feature.

    The rows of a pair agree on the given features and differ on this one. Changed pairs come first, from as many
    contexts as possible, then the number of pairs for each transition of value and label.

    Example: analogical evidence monks-1 --feature jacket_color --limit 3
    """
    if limit < 0:
        raise InputError(f"--limit must be a whole number from 0, got {limit}.")
    from analogical.questions import evidence as library
    from analogical.questions.compared import compare_rows

    refuse_role(feature, source, "--feature")
    rows = compare_rows(library.evidence, *source.data, feature, read_given(given), source.options)
    result, transitions = library.evidence_of(rows, rows.find_pairs(limit)), library.transitions_of(rows)
    also = {"transitions": transitions.to_dict()["transitions"]}
    output.write(result, source, *([transitions] if transitions.counts else []), also=also)


@reads_table(without=("groups",), writes=("explain", "plot", "as_json", "as_csv", "csv_safe"))
def interactions(
    source: Source,
    output: Output,
    given: GivenOption = "auto",
    pair: Annotated[
        str | None,
        typer.Option(
            metavar="COL,COL",
            help="Show the label shares of one pair of features by their values, and example squares.",
            show_default=False,
        ),
    ] = None,
    limit: Annotated[int, typer.Option(help="Number of squares to show with --pair.")] = 4,
    confidence: Confidence = 0.95,
) -> None:
    """Find features that act together: the effect of one depends on the other.

    A square is four rows that agree on the given features and have two values of each of two features in all four
    combinations. It is broken if the labels do not change alike along opposite sides. With --features, only pairs of
    those columns are tested; rows may still have to agree on the other columns.

    Example: analogical interactions monks-1 --pair head_shape,body_shape
    """
    equal_on = read_given(given)
    if pair is not None:
        from analogical.questions import squares as _squares

        two = split_names(pair)
        if len(two) != 2:
            raise InputError(f"--pair must name two columns, separated by a comma, got {pair!r}.")
        options = source.options.copy()
        options.pop("features", None)
        output.write(_squares.squares(*source.data, *two, **options, given=equal_on, limit=limit), source)
        return
    from analogical.questions import interactions as library

    output.write(library.interactions(*source.data, **source.options, given=equal_on, confidence=confidence), source)


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
    from analogical.questions import audit as library

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
    from analogical.questions import redundancies as library

    result = library.redundancies(source.frame, **source.without_label(), max_determinants=max_determinants)
    output.write(result, source)


@reads_table(without=("groups", "engine", "master"))
def compare(
    source: Source,
    output: Output,
    methods: Annotated[
        str | None,
        typer.Option(
            metavar="NAMES",
            help=f"Methods, separated by commas: {', '.join(METHOD_NAMES)}. The table is sorted by the first.",
            show_default="all that are installed and fast enough",
        ),
    ] = None,
    max_rows: Annotated[
        int,
        typer.Option(
            metavar="N",
            help="Maximum number of rows, drawn at random, for slow methods: forest, permutation, relief, relieff.",
        ),
    ] = MAX_ROWS,
    seed: Seed = 0,
) -> None:
    """Score the features of a table by several methods, side by side.

    Each method's scores are shown as shares of their sum, with the rank in parentheses. A dash means that the
    method has no evidence for the feature. Methods that would take more than a few seconds are left out, with a note,
    unless they are named with --methods.

    Examples
    --------
    - analogical compare monks-1

    - analogical compare survey.csv --label churned --methods ari,mi --top 10 --plot methods.png
    """
    if seed < 0:
        raise InputError(f"--seed must be a whole number from 0, got {seed}.")
    from analogical.questions import compare as library
    from analogical.show.comparison import describe_not_installed

    names = None if methods is None else methods.split(",")
    result = library.compare(*source.data, **source.options, methods=names, max_rows=max_rows, random_state=seed)
    notes = describe_not_installed() if methods is None else ()
    output.write(result, source, notes=notes)
