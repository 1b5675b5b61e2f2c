"""A selection and redundancies as views: which features predict the label together, and which columns add nothing."""

from collections.abc import Sequence
from typing import TYPE_CHECKING, NamedTuple

from analogical.questions.redundancies import COPY, Redundancies
from analogical.questions.select import Selection
from analogical.show.notes import leaks_of
from analogical.show.relevance import StatusWords
from analogical.show.views import Cell, View, number_column, tabulate, text_column
from analogical.show.words import LONG_NAME, counted, list_all, percent, quoted, shown, verb

if TYPE_CHECKING:
    from analogical.questions.selector import Dropped

REASONS: dict[str, StatusWords] = {
    "gain": StatusWords("good", "adds most"),
    "interaction": StatusWords("accent", "act together"),
    "significant": StatusWords("plain", "significant given the others"),
    "next": StatusWords("muted", "next"),
}
"""Why a feature was selected."""


class Step(NamedTuple):
    """Features that were selected at once: one, or several that act only together."""

    features: Sequence[str]
    adds: float
    """Share of the variance of the label that they explain beyond the features before them; 0 if it is negative."""
    explained: float
    why: str
    reason: str
    """The same as in the result."""


def view_selection(result: Selection) -> View:
    """The features in the order selected with what they explain, why the selection stopped, and what was left out."""
    steps, leaks, n = selection_steps(result), set(leaks_of(result.notes)), counted(len(result.names), "feature")

    def why(step: Step) -> Cell:
        return Cell(f"{step.why}, leak?" if leaks & set(step.features) else step.why, REASONS[step.reason].tone)

    columns = [
        text_column("feature", lambda step: " × ".join(map(shown, step.features)), may_shorten=True),
        number_column("adds", lambda step: percent(step.adds)),
        number_column("explained", lambda step: Cell(percent(step.explained), bar=step.explained)),
        text_column("why", why, may_wrap=True, drop_order=1),
    ]
    headline = f"None of {n} predicts {quoted(result.label)}, alone or with one or two others."
    if result.features:
        together = " together" if len(result.features) > 1 else ""
        headline = (
            f"{len(result.features):,} of {n} {verb(result.features, 'explains', 'explain')}"
            f" {percent(float(result.explained[-1]))} of {quoted(result.label)}{together}."
        )
    return View(
        headline=headline,
        tables=(tabulate(steps, columns),) if result.features else (),
        lines=(_describe_stop(result),),
        about=(counted(result.n_rows, "row"), n),
        explanation=tuple(_explain(result)),
    )


def selection_steps(result: Selection) -> list[Step]:
    """The lines of the table; features that act only together share a line."""
    steps, place = list[Step](), 0
    while place < len(result.features):
        group = [place]
        if result.why[place] == "interaction":
            partners = {result.features[place], *result.partners[place]}
            while (after := group[-1] + 1) < len(result.features) and result.features[after] in partners:
                group.append(after)
        alone = result.why[place] == "interaction" and len(group) == 1
        why = f"acts together with {list_all(result.partners[place])}" if alone else REASONS[result.why[place]].meaning
        adds, explained = float(result.adds[group].sum()), float(result.explained[group[-1]])
        steps.append(Step([result.features[k] for k in group], max(adds, 0.0), explained, why, result.why[place]))
        place = group[-1] + 1
    return steps


def _describe_stop(result: Selection) -> str:
    following = f"; the next is {shown(result.next_feature, LONG_NAME)}." if result.next_feature is not None else "."
    if not result.features:
        return f"No feature is significant{following}"
    if len(result.features) != result.stop:
        return f"Without k, {counted(result.stop, 'feature')} would be selected{following}"
    if result.next_feature is None:
        return "All features were selected."
    return f"No other feature is significant given these{following}"


def _explain(result: Selection) -> list[str]:
    """What the columns mean."""
    sentences = [
        "explained: share of the variance of the label that the features up to this line explain, each row left out of"
        " the fit that predicts it. adds: the part that this line adds; of features that come next, about what each"
        " would add.",
    ]
    if result.k is not None and result.k > len(result.features):
        sentences.append(f"k is {result.k:,}, but the table has {counted(len(result.names), 'feature')}.")
    return sentences


# ---------------------------------------------------------------- redundancies


def view_redundancies(result: Redundancies) -> View:
    """One line per finding: constants, columns with the same information, those that others determine, near-copies."""
    lines = [  # a column, why it is redundant, and how many rows tested it
        *((name, "one value only", "") for name in result.constants),
        *((name, f"same information as {shown(first)}", "") for first, *rest in result.renamings for name in rest),
        *((d.feature, f"determined by {list_all(d.determined_by)}", f"{d.support:,}") for d in result.dependencies),
    ]
    near = [(c.feature, f"{shown(c.of)} leaves {percent(c.left)} of it open", "") for c in result.near_copies]
    columns = [
        text_column("column", lambda line: shown(line[0]), may_shorten=True),
        text_column("redundancy", lambda line: line[1], may_wrap=True),
        *([number_column("tests", lambda line: line[2], drop_order=1)] if result.dependencies else []),
    ]
    exact = {name for name, *_ in lines}
    n, n_exact, n_near = counted(len(result.names), "column"), len(exact), len({name for name, *_ in near} - exact)
    headline = f"{n_exact:,} of {n} {'is' if n_exact == 1 else 'are'}" if n_exact else f"None of {n} is"
    nearly = f"; {n_near:,} {'more ' if n_exact else ''}nearly {'is' if n_near == 1 else 'are'}" if n_near else ""
    open_means = "Open: share of a column's entropy that is left when the other is known; numbers are compared in their"
    return View(
        f"{headline} redundant{nearly}.",
        tables=(tabulate([*lines, *near], columns),) if lines or near else (),
        lines=tuple(filter(None, [f"{open_means} bins." if near else "", _not_searched(result)])),
        about=(counted(result.n_rows, "row"), n),
        explanation=(
            *(["tests: rows that could have contradicted the dependency, and did not."] if result.dependencies else []),
            *([f"relevance treats a column as a copy if at most {percent(COPY)} of it is open."] if near else []),
        ),
    )


def _not_searched(result: Redundancies) -> str:
    """What was not searched: too many columns, or not requested."""
    if not result.searched_one:
        return "Dependencies on one column and near-copies were not searched: there are too many columns."
    if not result.searched_near:
        return "Dependencies on two columns and near-copies were not searched: there are too many columns."
    return "" if result.searched_two else "Dependencies on two columns were not searched."


def describe_dropped(dropped: "Dropped") -> str:
    """Why a feature was left out, in one line."""
    why = {"constant": "one value only", "id": "an identifier, distinct in most rows"}.get(dropped.reason)
    return f"{shown(dropped.feature)}: {why or f'the same information as {shown(dropped.in_favour_of[0])}'}"
