"""A relevance as a view: the effect of every feature in points, what it rests on, and sentences that views share."""

import math
from collections.abc import Iterator, Sequence
from typing import TYPE_CHECKING, Any, NamedTuple, TypeGuard, TypeVar

import numpy as np

from analogical._types import Floats
from analogical.questions.evidence import OfOneFeature
from analogical.questions.relevance import Direction, Relevance, Settings, Slope, Status
from analogical.show.notes import leaks_of
from analogical.show.views import Cell, Column, Marks, Tone, View, number_column, tabulate, text_column
from analogical.show.words import (
    LONG_NAME,
    Measure,
    counted,
    list_first,
    marked,
    number,
    p_value,
    percent,
    quoted,
    shorten,
    shorten_end,
    shown,
    three_decimals,
    three_digits,
    verb,
)

if TYPE_CHECKING:
    from analogical.questions.interactions import Interactions

Clear = TypeVar("Clear", Direction, Slope)
FEW_NAMES = 8
"""Names that a sentence lists."""


def view_relevance(
    result: Relevance, *, top: int | None = None, paper: bool = False, alone: Floats | None = None
) -> View:
    """The effects of the features, best first, or with ``paper`` their index and status in the paper.

    With ``top``, only the best features are shown; with ``alone``, also their effects given nothing.
    """
    about = counted(result.n_rows, "row"), counted(len(result.names), "feature")
    order = result.order().tolist()
    name = text_column("feature", lambda i: shown(result.names[i]), may_shorten=True)
    if paper:
        relevant, ari = [i for i, status in enumerate(result.paper_status) if status == "relevant"], result.ari
        columns = [
            name,
            number_column("ARI", lambda i: Cell(f"{ari[i]:.3f}", bar=ari[i] if ari[i] <= 1 else math.nan)),
            number_column("pairs", lambda i: number(result.pairs[i]), drop_order=2),
            number_column("changed", lambda i: number(result.changed[i]), drop_order=2),
            text_column("in the paper", lambda i: result.paper_status[i]),
        ]
        return View(
            headline=f"{len(relevant):,} of {about[1]} {verb(relevant, 'is', 'are')} relevant for"
            f" {quoted(result.label)} as the paper defines it.",
            tables=(tabulate(order, columns, most=top),),
            lines=(
                "ARI: share of changed labels among pairs of rows that differ on one feature only; noise is not"
                " subtracted.",
            ),
            about=about,
            explanation=tuple(
                f"{status}: {meaning}." for status, meaning in PAPER_STATUSES.items() if status in result.paper_status
            ),
        )
    measure = measure_of(result.settings)

    def share(mean: float) -> str:  # of numbers the root, because squares of prices cannot be read
        return three_decimals(mean) if measure.are_classes else measure.text(measure.size(mean))

    root = "" if measure.are_classes else "root of "
    numbers = [
        name,
        number_column(f"{root}index", lambda i: share(result.index[i]), drop_order=2),
        number_column(f"{root}noise", lambda i: share(result.noise_rate[i]), drop_order=3),
        number_column("pairs compared", lambda i: number(result.compared[i])),
        text_column("given", lambda i: Cell(_list_given(result, i), "muted"), may_wrap=True),
    ]
    return View(
        headline=say_effects(result),
        tables=(tabulate(order, [name, *_effect_columns(result, alone)], most=top),),
        lines=tuple(
            filter(
                None,
                (say_scale(result), say_given(result), _say_caution(result)),
            )
        ),
        about=about,
        explanation=tuple(_explain(result)),
        details=(tabulate(order, numbers if result.settings.given == "auto" else numbers[:-1], most=top),),
    )


def _effect_columns(result: Relevance, alone: Floats | None) -> list[Column]:
    """Size in points with its interval and a bar, direction, p and status; ARI if it is defined for every feature."""
    longest = 10 if alone is None else 24  # of values; the page is wider than a terminal
    others = np.full(len(result.names), math.nan) if alone is None else alone
    measure = measure_of(result.settings)
    ends = [measure.size(x) for x in (*result.effect, *result.effect_high, *others) if x == x]
    largest = max((measure.size(effect) for effect in result.effect if effect == effect), default=0.0)
    are_classes = measure.are_classes
    axis = axis_end(min(max(ends, default=0.0), 100.0 if are_classes else 3 * largest or 1.0))
    scale = max(20.0, largest) if are_classes else largest or 1.0  # of a full bar
    is_binary = are_classes and len(result.classes) == 2
    has_ranges = any(note.kind == "label-binned" for note in result.notes)  # keep their lower ends, too

    def size(i: int) -> Cell:
        marks = Marks.on(0.0, *(end / axis for end in (*sizes_of(result, i), measure.size(others[i]))))
        return Cell(measure.text(measure.size(result.effect[i])), chart=marks)

    def interval(i: int) -> Cell:
        points, low, high = sizes_of(result, i)
        return Cell(measure.interval(low, high), bar=points / scale if points == points else math.nan)

    def direction(i: int) -> Cell:
        found, copied = result.direction[i], result.same_as[i]
        if copied is not None:
            return Cell(f"same as {shorten(shown(copied), longest)}", "muted")
        if not has_direction(found):
            return Cell("mixed" if _is_mixed(result, i) else "-", "muted")
        slope = None if are_classes else result.slope[i]
        if has_direction(slope):
            return Cell(f"per {slope.step:,g} {measure.change(slope.difference)}")
        label = "" if is_binary or found.label is None else f": {shorten(quoted(found.label), longest)}"
        if label and has_ranges:
            label = f": {shorten_end(marked(found.label), longest)}"
        is_range = bool(result.feature_columns[i].edges)  # keep its lower end
        value = shorten_end(marked(found.value), longest + 2) if is_range else shorten(marked(found.value), longest)
        return Cell(f"{value}{label} {measure.change(found.difference)}")

    heading = f"share of {shorten(quoted(result.classes[1]), 10)}" if is_binary else "value: label"
    columns = [
        number_column(
            measure.name or "size", size, axis=("0", three_digits(axis / 2), f"{three_digits(axis)}{measure.words}")
        ),
        number_column(f"{100 * result.settings.confidence:g}% CI", interval, drop_order=2),
        text_column(heading if are_classes else "difference", direction, drop_order=1),
        number_column("p adj.", lambda i: p_value(result.p_adjusted[i]), drop_order=3),
        text_column("status", lambda i: status_cell(result.status[i])),
    ]
    if alone is not None:
        columns.insert(4, number_column("alone", lambda i: measure.text(measure.size(alone[i])), drop_order=3))
    elif are_classes and all((result.pairs > 0) | (np.array(result.status) == "constant")):
        ari = np.where(result.pairs > 0, result.ari, math.nan)
        columns.insert(3, number_column("ARI", lambda i: three_decimals(ari[i]), drop_order=4))
    return columns


def _list_given(result: Relevance, i: int) -> str:
    """The features on which rows agree, and those that are subtracted from the label."""
    held, subtracted = (", ".join(map(shown, names)) for names in (result.given[i], result.adjusted_for[i]))
    return f"{held or '-'}; subtracted: {subtracted}" if subtracted else held or "-"


# ---------------------------------------------------------------- the answer


def say_effects(result: Relevance) -> str:
    """The answer: how many features have an effect."""
    effects = result.with_status("effect")
    n, label = counted(len(result.names), "feature"), quoted(result.label)
    if not effects:
        return f"None of {n} has a significant effect on {label}."
    return f"{len(effects):,} of {n} {verb(effects, 'has', 'have')} a significant effect on {label}."


def say_scale(result: Relevance) -> str:
    """How a label that is a number is compared, and what sizes are in; nothing for classes."""
    classes, settings = result.classes, result.settings
    name, unit = quoted(result.label), settings.unit or "its unit"
    bounded = ", far numbers bounded," if any(note.kind == "label-clipped" for note in result.notes) else ","
    ends = " to ".join(shown(classes[end], 20) for end in (0, -1)) if classes else ""
    return {
        "number": f"{name} is a number: sizes are differences of its mean{bounded} in {unit}.",
        "log": f"{name} is compared by its logarithm: sizes are differences of its geometric mean, in per cent.",
        "ranks": f"{name} is compared by its rank (per cent of all rows below): sizes are differences of ranks.",
        "ordered": f"{name} has {len(classes)} classes in order, {ends}: sizes are in steps from one to the next.",
    }.get(settings.scale, "")


def say_given(result: Relevance) -> str:
    """On which other features compared rows agree, in one sentence."""
    settings = result.settings
    given = held_fixed(settings.given, result.deciding)
    if len(result.names) == 1:
        return "Given nothing: there is only one feature."
    if settings.given == "all":
        return f"Given {given}: compared rows differ on one feature only, as in the paper."
    if settings.given == "auto" and result.deciding:
        explained = "" if settings.explained is None else f" It explains {percent(settings.explained)} of the label."
        return f"Given the deciding set: {given}.{explained}"
    if settings.given == "auto":
        return "Given nothing: no set of features predicts the label, so all rows are compared."
    if not settings.given:
        return "Given nothing (univariate): all rows are compared, whatever their other values."
    return f"Given {given}: compared rows agree on {verb(settings.given, 'it', 'these')}."


def _say_caution(result: Relevance) -> str:
    """The first thing that may mislead: a possible leak of the label, or effects without a common direction."""
    leaks = leaks_of(result.notes)
    if leaks:
        predict = verb(leaks, "alone predicts", "each predict")
        return f"{list_first(leaks, 1)} {predict} nearly all labels: known before the label?"
    mixed = [result.names[i] for i in result.order() if _is_mixed(result, i)]
    return f"mixed: {MIXED} ({list_first(mixed, 3)})." if mixed else ""


def _is_mixed(result: Relevance, i: int) -> bool:
    found = result.direction[i]
    return result.status[i] == "effect" and found is not None and not has_direction(found)


# ---------------------------------------------------------------- explanations


def _explain(result: Relevance) -> Iterator[str]:
    """The directions with intervals, what the numbers mean, and their limits."""
    directions = [
        f"{shown(result.names[i], LONG_NAME)}: {describe_direction(found, measure_of(result.settings))}."
        for i in result.order().tolist()
        if has_direction(found := result.direction[i]) and result.status[i] == "effect"
    ]
    yield from directions[:FEW_NAMES]
    if (n_more := len(directions) - FEW_NAMES) > 0:
        yield f"{counted(n_more, 'more direction')} in the JSON."
    yield from explain_statuses(result)
    searched, is_once = result.settings.searched_rows, result.settings.duplicates == "once"
    if is_once:
        yield (
            "Identical rows with the same label were counted once, as copies of one record: p assumes that no two"
            " independent rows are identical."
        )
    elif result.settings.given == "auto" and searched is not None and searched != result.n_rows:
        yield f"The deciding set was chosen on {searched:,} of the rows; all numbers come from all rows."
    measure, size = measure_of(result.settings), SIZE_OF_SHARES
    if not measure.are_classes:
        mean = f"{measure.name or 'size'}: root mean square difference of the {measure.mean} of {quoted(result.label)}"
        size = f"{mean} between two values of the feature{SIZE_OF_NUMBERS[measure.kind]}"
    yield size
    yield (
        f"{assumed(result.settings.n_groups)} p is adjusted for {counted(len(result.names), 'feature')}"
        f" (Holm). {NOT_ADJUSTED}"
    )
    yield NOT_CAUSES


def explain_statuses(result: Relevance) -> Iterator[str]:
    """Sentences about features that have something in common: a status, or what limits their numbers."""

    def named(features: Sequence[int]) -> str:
        return list_first([result.names[i] for i in features], FEW_NAMES)

    order, status = result.order().tolist(), result.status
    if mixed := [i for i in order if _is_mixed(result, i)]:
        ranges = ", or is not monotonic" if any(result.feature_columns[i].edges for i in mixed) else ""
        yield f"mixed: {MIXED}{ranges} ({named(mixed)})."
    only_bounds = (result.effect_low == 0) & np.isnan(result.noise_rate)
    if bounds := [i for i in order if status[i] == "effect" and only_bounds[i]]:
        yield (
            f"Upper bounds ({named(bounds)}): no rows repeat, so noise cannot be estimated, and the effect is at most"
            " the index."
        )
    for known, words in STATUSES.items():
        others = [i for i in order if status[i] == known and known != "effect"]
        of = ["" if result.same_as[i] is None else f" of {shown(result.same_as[i])}" for i in others]
        if others:
            texts = [f"{shown(result.names[i])}{copied}" for i, copied in zip(others, of, strict=True)]
            meaning = words.meaning.format(small=small_size(result.settings))
            yield f"{known}: {meaning} ({list_first(texts, FEW_NAMES)})."
    tested = [i for i in order if status[i] not in ("same", "constant")]
    if without := [i for i in tested if result.compared[i] == 0]:
        yield (
            f"{counted(len(without), 'feature')} {verb(without, 'has', 'have')} no pairs ({named(without)}): the given"
            f" features determine {verb(without, 'it', 'them')}, or there are too few rows."
        )
    if untested := [i for i in tested if result.compared[i] and math.isnan(result.p_value[i])]:
        yield f"No p ({named(untested)}): the labels of compared rows never differ, so there is nothing to test."
    if thin := [i for i in tested if set(result.given[i]) < set(result.deciding) - {result.names[i]}]:
        rest = "; the rest is subtracted from the label" if all(result.adjusted_for[i] for i in thin) else ""
        yield (
            f"{counted(len(thin), 'feature')} {verb(thin, 'was', 'were')} compared given a part of the deciding set,"
            f" because too few rows agree on all of it{rest} ({named(thin)})."
        )


# ---------------------------------------------------------------- sentences that several views share


class StatusWords(NamedTuple):
    """How a status or a reason is shown, and what it means."""

    tone: Tone
    meaning: str


STATUSES: dict[Status, StatusWords] = {
    "effect": StatusWords("good", "significant"),
    "unclear": StatusWords("plain", "not significant, but an effect of {small} or more is not ruled out"),
    "none": StatusWords("muted", "not significant, and the interval ends at or below {small}"),
    "same": StatusWords("muted", "a copy of another feature; no test can distinguish the two"),
    "constant": StatusWords("muted", "one value only"),
}
"""The status of a feature, or of a pair of features; ``{small}`` is the largest negligible size."""
PAPER_STATUSES = {
    "relevant": "some pair changed its label",
    "irrelevant": "there are pairs, and none changed its label",
    "no-pairs": "the feature varies, but no two rows differ on it only (ARI 2)",
    "constant": "one value only (ARI 0)",
}
"""The statuses of the paper, and what they mean."""
MIXED = "the direction depends on other features"
NOT_CAUSES = "Differences are associations given the recorded features, not causes."
NOT_ADJUSTED = "Intervals are not adjusted: one may exclude 0 beside a p that is not significant."
ROW_NAMES = "Rows have the names of the dataframe, or numbers from 0."


SIZE_OF_SHARES = (
    "points: root mean square difference in label shares between two values of the feature, in percentage points,"
    " over the compared pairs; with more than two classes, root of half the squared difference summed over"
    " classes. Its square, the effect, is the index (share of pairs whose labels differ) minus the noise (the same"
    " share for rows with equal values)."
)
"""What the size of an effect is."""
SIZE_OF_NUMBERS = {
    "number": (
        ", in its unit, over the compared pairs. Its square, the effect, is the index (mean squared difference of the"
        " labels of a pair) minus the noise (the same for rows with equal values)."
    ),
    "log": ", as a ratio less 1.",
    "ranks": "; a rank is the share of all rows below, in per cent.",
    "ordered": "; neighbouring classes are one step apart.",
}
"""How the same sentence ends for labels that are numbers."""


def measure_of(one: Settings | OfOneFeature) -> Measure:
    """How the sizes of a result are shown; audits have differences of shares, not points."""
    is_share = isinstance(one, OfOneFeature) and one.scale == "classes"
    return Measure("shares" if is_share else one.scale, one.unit)


def axis_end(largest: float) -> float:
    """A round number at the end of an axis: 1, 2, 3, 4, 5, 6 or 8 times a power of ten."""
    power = 10.0 ** math.floor(math.log10(largest)) if largest > 0 else 1.0
    return next(end * power for end in (1, 2, 3, 4, 5, 6, 8, 10) if end * power >= largest * (1 - 1e-9))


def small_size(settings: Settings) -> str:
    """The size up to which a feature may have none, in words."""
    return measure_of(settings).amount_of(settings.negligible)


def status_cell(status: Status) -> Cell:
    """The status of a feature, or of a pair of features."""
    return Cell(status, STATUSES[status].tone)


def agreeing_on(names: Sequence[str]) -> str:
    """Which rows are compared, as part of a sentence."""
    return f"rows that agree on {list_first(names, 12)}" if names else "all rows"


def describe_context(context: Sequence[tuple[str, Any]]) -> str:
    """The values on which compared rows agree: class=1st, age=adult."""
    return ", ".join(f"{shown(name, LONG_NAME)}={marked(value, 30)}" for name, value in context)


def held_fixed(given: str | Sequence[str], deciding: Sequence[str]) -> str:
    """What was given, in a few words."""
    if given == "all":
        return "all other features"
    names = deciding if given == "auto" else given
    return list_first(names, 12) if names else "nothing"


def assumed(n_groups: int | None) -> str:
    """What intervals and p-values assume."""
    if n_groups is None:
        return "Intervals and p assume independent rows; use groups (--groups) if they are not."
    return f"Intervals and p assume {counted(n_groups, 'independent group')} of rows."


def no_partner(feature: str, given: Sequence[str], same_as: str | None) -> str:
    """Why there are no pairs for a feature."""
    if same_as is not None:
        return (
            f"{quoted(feature)} is a copy of {quoted(same_as)}: rows that agree on the deciding set do not differ on"
            " it. Name the given features yourself (given, --given)."
        )
    where = f" among {agreeing_on(given)}" if given else ""
    return f"No two rows differ on {quoted(feature)}{where}."


class Sizes(NamedTuple):
    """The size of an effect, and its interval; NaN if unknown."""

    size: float
    low: float
    high: float


def sizes_of(result: "Relevance | Interactions", i: int) -> Sizes:
    """The size of the effect of a feature in points, or in the unit of the label, with its interval.

    Of a pair it is by how much the effect of one differs with the other: 200 points for an exclusive or.
    """
    measure, times = measure_of(result.settings), 1 if isinstance(result, Relevance) else 4
    effects = result.effect[i], result.effect_low[i], result.effect_high[i]
    return Sizes(*(measure.size(times * effect) for effect in effects))


def has_direction(found: Clear | None) -> TypeGuard[Clear]:
    """Whether a difference has a direction: its interval excludes 0."""
    return found is not None and (found.low > 0 or found.high < 0)


def describe_direction(found: Direction, measure: Measure) -> str:
    """How the label differs between two values, with its interval."""
    is_more, than = measure.shown(found.difference) >= 0, f"with {marked(found.value, 40)} than with"
    what, more = "", "higher" if is_more else "lower"
    if found.label is not None:
        what, more = f"{quoted(found.label, 40)} is ", f"{'more' if is_more else 'less'} frequent"
    much = measure.amount(measure.shown(found.difference))
    return f"{what}{much} {more} {than} {marked(found.against, 40)} ({measure.changes(found.low, found.high)})"
