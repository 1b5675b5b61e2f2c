"""A selection as a view: the features in the order selected, what they explain together, and what was left out."""

from collections.abc import Sequence
from typing import NamedTuple

from analogical.questions.select import Selection
from analogical.show.notes import leaks_of
from analogical.show.sentences import StatusWords
from analogical.show.views import Cell, View, number_column, tabulate, text_column
from analogical.show.words import LONG_NAME, counted, list_all, list_first, percent, quoted, shown, verb

__all__ = ["REASONS", "Step", "selection_steps", "view_selection"]

REASONS: dict[str, StatusWords] = {
    "gain": StatusWords("good", "adds most"),
    "interaction": StatusWords("accent", "act together"),
    "significant": StatusWords("plain", "significant given the others"),
    "next": StatusWords("muted", "next, but gains too little"),
}
"""Why a feature was selected."""


class Step(NamedTuple):
    """Features that were selected at once: one, or several that act only together."""

    features: Sequence[str]
    adds: float | None
    """Share of the uncertainty of the label that they explain beyond the features before them."""
    explained: float
    why: str
    reason: str
    """The same as in the result."""


def view_selection(result: Selection) -> View:
    """The features in the order selected with what they explain, why the selection stopped, and what was left out."""
    steps = selection_steps(result)
    leaks = leaks_of(result.notes)

    def why(step: Step) -> Cell:
        return Cell(f"{step.why}, leak?" if set(step.features) & set(leaks) else step.why, REASONS[step.reason].tone)

    table = tabulate(
        steps,
        [
            text_column("feature", lambda step: " × ".join(map(shown, step.features)), may_shorten=True),
            number_column("adds", lambda step: "-" if step.adds is None else percent(step.adds)),
            number_column("explained", lambda step: Cell(percent(step.explained), bar=step.explained)),
            text_column("why", why, may_wrap=True, drop_order=1),
        ],
    )
    return View(
        headline=_answer(result),
        tables=(table,) if result.features else (),
        lines=tuple(filter(None, (_describe_stop(result), _describe_carried(result)))),
        about=(counted(result.n_rows, "row"), counted(len(result.names), "feature")),
        explanation=tuple(_explain(result)),
    )


def _answer(result: Selection) -> str:
    n, label = counted(len(result.names), "feature"), quoted(result.label)
    if not result.features:
        return f"None of {n} predicts {label}, alone or with one or two others."
    together = " together" if len(result.features) > 1 else ""
    return (
        f"{len(result.features):,} of {n} {verb(result.features, 'explains', 'explain')}"
        f" {percent(float(result.explained[-1]))} of {label}{together}."
    )


def selection_steps(result: Selection) -> list[Step]:
    """The lines of the table; features that act only together share a line."""
    steps: list[Step] = []
    before, place = 0.0, 0
    while place < len(result.features):
        group = [place]
        if result.why[place] == "interaction":
            partners = {result.features[place], *result.partners[place]}
            while (after := group[-1] + 1) < len(result.features) and result.features[after] in partners:
                group.append(after)
        explained = float(result.explained[group[-1]])
        alone = result.why[place] == "interaction" and len(group) == 1
        why = f"acts together with {list_all(result.partners[place])}" if alone else REASONS[result.why[place]].meaning
        adds = None if alone else explained - before  # meaningless without its partners
        steps.append(Step([result.features[k] for k in group], adds, explained, why, result.why[place]))
        before, place = explained, group[-1] + 1
    return steps


def _describe_stop(result: Selection) -> str:
    following = shown(result.next_feature, LONG_NAME)
    if not result.features:
        return "" if result.next_feature is None else f"The best is {following}, which adds no more than chance would."
    if len(result.features) < result.stop:
        return f"Without k, {counted(result.stop, 'feature')} would be selected; the next is {following}."
    if len(result.features) > result.stop:
        rest = " The last ones gain too little." if "next" in result.why else ""
        return f"Without k, {counted(result.stop, 'feature')} would be selected.{rest}"
    if result.next_feature is None:
        return "All features were selected."
    if (result.next_gain or 0.0) >= result.need:  # the deciding set has its maximum size
        return f"More features would add to these; the next is {following}."
    return f"No other feature adds more than chance would, or is significant; the next is {following}."


def _describe_carried(result: Selection) -> str:
    """Features that predict the label alone and add little to one selected feature, or to all of them."""
    by: dict[str, list[str]] = {}
    for item in result.carried:
        other = shown(item.by[0], LONG_NAME) if len(item.by) == 1 else "all of these"
        by.setdefault(other, []).append(item.feature)
    groups = "; to ".join(f"{other}: {list_first(names, 3)}" for other, names in by.items())
    return f"Left out, because they add little to {groups}." if groups else ""


def _explain(result: Selection) -> list[str]:
    """What the columns mean, and the threshold of the selection."""
    sentences = [
        "explained: share of the uncertainty of the label (its log-likelihood) that the features up to this line"
        " explain, each row predicted from the other rows that agree with it. adds: the part that this line adds.",
        f"A feature must gain a log-likelihood of {result.need:.1f} nats: few do so by chance."
        + ("" if result.next_gain is None else f" The next would gain {result.next_gain:.1f}."),
    ]
    if result.k is not None and result.k > len(result.features):
        sentences.append(f"k is {result.k:,}, but the table has {counted(len(result.names), 'feature')}.")
    if result.n_classes < len(result.classes):
        n_rare = len(result.classes) - result.n_classes + 1
        sentences.append(f"The {n_rare:,} rarest of {len(result.classes):,} classes were merged.")
    return sentences
