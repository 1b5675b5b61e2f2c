"""The commands that ask a question about a table: score, select, evidence, interactions, audit, report and others.

Each one calls the function of the library of the same name (score calls relevance), which the package imports when it
is used, so that help pages are fast.
"""

import shlex
import sys
from dataclasses import replace
from pathlib import Path
from typing import Annotated, Any, Literal

import typer

import analogical
from analogical._checks import check_whole
from analogical._progress import stop_clock
from analogical.cli.options import Confidence, GivenOption, Limit, Seed, Source, reads_table, split_names
from analogical.cli.streams import say_notes, shows_progress
from analogical.cli.writing import Output
from analogical.errors import InputError
from analogical.show.views import view_of


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

    First finds the deciding set: features that are each significant given the others. Then compares rows that agree on
    this set and differ on one feature. points is the difference in label shares between two values of the feature, in
    percentage points, averaged over the compared pairs (its square, the effect, is in --json and --csv). The next
    column is the direction: with which value the label occurs more often, and by how much. p is adjusted for the number
    of features.
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
    result = analogical.relevance(
        source.frame,
        source.label,
        **source.options,
        given=source.given(given),
        duplicates=duplicates,
        confidence=confidence,
        progress=shows_progress(),
    )
    also = {}
    if output.as_json:
        view = view_of(result)
        also["explanation"] = [view.headline, *view.lines, *view.explanation]
    output.write(result, source, also=also, paper=paper)


@reads_table(without=("groups", "top"))
def select(
    source: Source,
    output: Output,
    k: Annotated[
        int | None,
        typer.Option("--k", "-k", metavar="K", help="Number of features to select; the deciding set by default."),
    ] = None,
) -> None:
    """Select the features that predict the label best together.

    The best features of a ranking may be redundant. Here a feature is selected for its gain over the others: how much
    better each row is predicted from the other rows. Features that act only together are found too. Without --k, the
    result is the deciding set, the features that score uses as given. The output shows how much of the label each
    feature explains, and what was left out because selected features carry the same information.

    Example: analogical select survey.csv --label churned --k 5
    """
    output.write(analogical.select(source.frame, source.label, k, **source.options), source)


@reads_table(without=("top", "as_csv", "csv_safe"))
def evidence(
    source: Source,
    output: Output,
    feature: Annotated[str, typer.Option(metavar="COL", help="The feature whose pairs to show.")],
    given: GivenOption = "auto",
    limit: Limit = 6,
) -> None:
    """Show the pairs of rows behind the effect of a feature.

    The rows of a pair agree on the given features and differ on this one. Changed pairs come first, from as many
    contexts as possible, then the number of pairs for each transition of value and label. If the label is a number, the
    pairs with the largest differences come first, then pairs near the median difference, then mean labels by value.

    Example: analogical evidence monks-1 --feature jacket_color --limit 3
    """
    check_whole("--limit", limit, low=0)
    from analogical.questions import evidence as library

    rows = library.compare_rows(
        library.evidence, source.frame, source.label, feature, source.given(given), source.options
    )
    result, transitions = library.evidence_of(rows, rows.example_pairs(limit)), library.transitions_of(rows)
    also = {"transitions": transitions.to_dict()["transitions"]}
    output.write(result, source, *([transitions] if transitions.counts else []), also=also)


@reads_table(without=("groups", "top"))
def interactions(
    source: Source,
    output: Output,
    given: GivenOption = "auto",
    pair: Annotated[
        str | None,
        typer.Option(
            metavar="COL,COL",
            help="Show the label shares of one pair of features by their values, and the rows of broken squares.",
        ),
    ] = None,
    limit: Annotated[int, typer.Option(help="Number of broken squares to show with --pair.")] = 4,
    confidence: Confidence = 0.95,
) -> None:
    """Find features that act together: the effect of one depends on the other.

    A square is four rows that agree on the given features and have two values of each of two features in all four
    combinations. It is broken if the labels do not change alike along opposite sides. With --features, only pairs of
    those columns are tested; rows may still have to agree on the other columns.

    Example: analogical interactions monks-1 --pair head_shape,body_shape
    """
    options: Any = {**source.options, "given": source.given(given), "confidence": confidence}
    if pair is None:
        output.write(analogical.interactions(source.frame, source.label, **options), source)
        return
    two = split_names(pair)
    if len(set(two)) != 2:
        raise InputError(f"--pair must name two columns, separated by a comma, got {pair!r}.")
    check_whole("--limit", limit, low=0)
    from analogical.questions.interactions import describe_pair

    result = analogical.interactions(source.frame, source.label, **{**options, "features": two})
    output.write(describe_pair(result, (two[0], two[1]), limit), source)


@reads_table(without=("features", "top"))
def audit(
    source: Source,
    output: Output,
    feature: Annotated[str, typer.Option(metavar="COL", help="The feature to audit.")],
    given: GivenOption = "auto",
    reference: Annotated[
        str | None,
        typer.Option(metavar="VALUE", help="Value to compare the others with; the most frequent one by default."),
    ] = None,
    confidence: Confidence = 0.95,
    limit: Limit = 6,
) -> None:
    """Audit one feature: the difference in label shares or means between its values, given other features.

    Compares rows that agree on the given features and differ on this one. Shows how many rows were compared, the
    adjusted and the crude difference with interval, odds ratio and p-value, and example pairs. If the label is a
    number, differences are those of its mean, in its unit, without odds ratio.

    Examples
    --------
    - analogical audit berkeley --label admitted --feature gender

    - analogical audit loans.csv --label approved --feature gender --given income,debt

    - analogical audit staff.csv --label pay --feature gender --given job,grade
    """
    result = analogical.audit(
        source.frame,
        source.label,
        feature,
        given=source.given(given),
        **source.options,
        reference=reference,
        confidence=confidence,
        limit=limit,
    )
    output.write(result, source)


@reads_table(without=("groups", "classes", "scale", "ordered", "top"))
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
    from analogical.columns.roles import unknown_column

    if source.label not in source.columns:
        raise unknown_column(source.label, source.columns, "label")
    options: Any = dict(source.options)
    if "features" not in options:
        options["ignore"] = [*options.get("ignore", ()), source.label]
    output.write(analogical.redundancies(source.frame, **options, max_determinants=max_determinants), source)


@reads_table(without=("groups", "engine", "master"))
def compare(
    source: Source,
    output: Output,
    methods: Annotated[
        str | None,
        typer.Option(
            metavar="NAMES",
            help="Methods, separated by commas: effect, ari, chi2, mi, forest, permutation, relief, relieff; for a"
            " number as label effect, f, mi, forest, permutation, relieff. The table is sorted by the first.",
            show_default="all that are installed and fast enough",
        ),
    ] = None,
    max_rows: Annotated[
        int,
        typer.Option(
            metavar="N",
            help="Maximum number of rows, drawn at random, for slow methods: forest, permutation, relief, relieff, and"
            " mi of a number.",
        ),
    ] = 3_000,
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
    check_whole("--seed", seed, low=0)
    from analogical.show.comparison import describe_not_installed

    names = None if methods is None else methods.split(",")
    result = analogical.compare(
        source.frame, source.label, **source.options, methods=names, max_rows=max_rows, random_state=seed
    )
    notes = describe_not_installed() if methods is None else ()
    output.write(result, source, notes=notes)


@reads_table(without=tuple(Output.__dataclass_fields__))
def report(
    source: Source,
    _: Output,
    given: GivenOption = "auto",
    out: Annotated[str, typer.Option(metavar="FILE", help="Where to write the page.")] = "report.html",
    protected: Annotated[
        list[str] | None,
        typer.Option(metavar="COLS", help="Columns to audit, such as gender. May be repeated, or separated by commas."),
    ] = None,
    title: Annotated[str | None, typer.Option(metavar="TEXT", help="Title of the page.")] = None,
    top: Annotated[
        int, typer.Option(metavar="K", help="Number of features with a panel of their own; all are in the table.")
    ] = 20,
    confidence: Confidence = 0.95,
    force: Annotated[bool, typer.Option("--force", help="Overwrite a file that is not a report.")] = False,
) -> None:
    """Write a report on a table: which features have an effect, given which others, and the rows behind it.

    The report is one self-contained HTML file; it opens offline and without JavaScript. It says whether the table can
    answer at all, ranks the features by their effects, shows the deciding set, redundant columns,
    interactions and example pairs of the best features, and audits protected columns.

    Examples
    --------
    - analogical report titanic

    - analogical report loans.csv --label approved --protected gender,age --out loans.html
    """
    from analogical.show.report import require_jinja

    target = Path(out)
    require_jinja()
    _refuse_target(target, force=force)
    audited = [name for names in protected or [] for name in split_names(names, source.columns)]
    result = analogical.report(
        source.frame,
        source.label,
        **source.options,
        given=source.given(given),
        protected=list(dict.fromkeys(audited)) or None,
        title=title,
        top=top,
        confidence=confidence,
        progress=shows_progress(),
    )
    result = replace(
        result, source=source.title, reading=source.notes, command=shlex.join(["analogical", *sys.argv[1:]])
    )
    result.save(target)
    stop_clock()
    say_notes(source.notes)
    say_notes([f"written to {target} ({target.stat().st_size / 1000:,.0f} kB)"])


def _refuse_target(target: Path, *, force: bool) -> None:
    """Refuse, before the work, a file that cannot be written or is not a report of ours."""
    from analogical.show.report import MARK

    if target.is_dir():
        raise InputError(f"{str(target)!r} is a folder; name a file with --out.")
    if not target.parent.is_dir():
        raise InputError(f"The folder of {str(target)!r} does not exist; create it, or name another file with --out.")
    if target.is_file() and not force:
        with target.open("rb") as file:
            is_ours = f'content="{MARK}"'.encode() in file.read(2_000)
        if not is_ours:
            raise InputError(
                f"{str(target)!r} was not written by analogical report and would be overwritten; name another file with"
                " --out, or overwrite it with --force."
            )
