"""A relevance as a view: the effect of every feature in points, and what it rests on."""

import math
from collections.abc import Iterable, Iterator

import numpy as np

from analogical._types import Floats
from analogical.questions.relevance import Relevance
from analogical.show.notes import leaks_of
from analogical.show.sentences import (
    MIXED,
    NOT_ADJUSTED,
    NOT_CAUSES,
    PAPER_STATUSES,
    STATUSES,
    assumed,
    describe_direction,
    has_direction,
    held_fixed,
    sizes_in_points,
    status_cell,
)
from analogical.show.views import Cell, Column, Marks, Table, View, number_column, tabulate, text_column
from analogical.show.words import (
    LONG_NAME,
    counted,
    in_points,
    list_all,
    list_first,
    marked,
    number,
    p_value,
    percent,
    point_interval,
    points_of,
    quoted,
    shorten,
    shorten_end,
    shown,
    signed,
    three_decimals,
    verb,
)

__all__ = ["explain_statuses", "say_effects", "say_given", "view_relevance"]

MAX_VALUE_LENGTH = 10
"""Maximum length of a value in the table, so that a line has room for the numbers."""
SMALLEST_SCALE = 0.2
"""Difference of shares that a full bar represents, unless an effect is larger."""
FEW_NAMES = 8
"""Names that a sentence lists."""


def view_relevance(
    result: Relevance, *, top: int | None = None, paper: bool = False, alone: Floats | None = None
) -> View:
    """The effects of the features, best first, or with ``paper`` their index and status in the paper.

    With ``top``, only the best features are shown; with ``alone``, also their effects given nothing.
    """
    if paper:
        return _view_paper(result, top)
    return View(
        headline=say_effects(result),
        tables=(tabulate(result.order().tolist(), [_name_column(result), *_effect_columns(result, alone)], most=top),),
        lines=tuple(filter(None, (say_given(result), _say_caution(result)))),
        about=_about(result),
        explanation=tuple(_explain(result)),
        details=(_detail_table(result, top),),
    )


def _view_paper(result: Relevance, top: int | None) -> View:
    """The index of the paper (ARI) with its counts and the paper's statuses."""
    relevant = [i for i, status in enumerate(result.paper_status) if status == "relevant"]

    def index(i: int) -> Cell:
        share = float(result.ari[i])
        return Cell(f"{share:.3f}", bar=share if share <= 1 else math.nan)  # the paper's 2 is not a share

    columns = [
        _name_column(result),
        number_column("ARI", index),
        number_column("pairs", lambda i: number(result.pairs[i]), drop_order=2),
        number_column("changed", lambda i: number(result.changed[i]), drop_order=2),
        text_column("in the paper", lambda i: result.paper_status[i]),
    ]
    return View(
        headline=f"{len(relevant):,} of {counted(len(result.names), 'feature')} {verb(relevant, 'is', 'are')} relevant"
        f" for {quoted(result.label)} as the paper defines it.",
        tables=(tabulate(result.order().tolist(), columns, most=top),),
        lines=(
            "ARI: share of changed labels among pairs of rows that differ on one feature only; noise is not"
            " subtracted.",
        ),
        about=_about(result),
        explanation=tuple(
            f"{status}: {meaning}." for status, meaning in PAPER_STATUSES.items() if status in result.paper_status
        ),
    )


def _about(result: Relevance) -> tuple[str, ...]:
    return counted(result.n_rows, "row"), counted(len(result.names), "feature")


# ---------------------------------------------------------------- tables


def _name_column(result: Relevance) -> Column:
    return text_column("feature", lambda i: shown(result.names[i]), may_shorten=True)


def _effect_columns(result: Relevance, alone: Floats | None) -> list[Column]:
    """Size in points with its interval and a bar, direction, p and status; ARI if it is defined for every feature."""
    longest = MAX_VALUE_LENGTH if alone is None else 24  # the page is wider than a terminal
    others = np.full(len(result), math.nan) if alone is None else alone
    ends = [100 * math.sqrt(x) for x in (*result.effect, *result.effect_high, *others) if x == x]
    axis = next(end for end in (1, 2, 5, 10, 20, 30, 40, 50, 60, 80, 100) if end >= min(max(ends, default=0), 100))
    scale = max([SMALLEST_SCALE, *(math.sqrt(effect) for effect in result.effect if effect == effect)])

    def size(i: int) -> Cell:
        sizes = sizes_in_points(result, i)
        marks = Marks(0.0, *(points / axis for points in (*sizes, points_of(others[i]))))
        return Cell(in_points(sizes.size), chart=marks)

    def interval(i: int) -> Cell:
        effect, sizes = result.effect[i], sizes_in_points(result, i)
        bar = math.sqrt(effect) / scale if effect == effect else math.nan
        return Cell(point_interval(sizes.low, sizes.high), bar=bar)

    has_ari = all(n > 0 or status == "constant" for n, status in zip(result.pairs, result.status, strict=True))
    return [
        number_column("points", size, axis=("0", f"{axis / 2:g}", f"{axis:g} points")),
        number_column(f"{100 * result.settings.confidence:g}% CI", interval, drop_order=2),
        text_column(_direction_title(result), lambda i: _direction(result, i, longest), drop_order=1),
        *(
            [
                number_column(
                    "ARI", lambda i: three_decimals(result.ari[i] if result.pairs[i] else math.nan), drop_order=4
                )
            ]
            if has_ari and alone is None
            else []
        ),
        number_column("p adj.", lambda i: p_value(result.p_adjusted[i]), drop_order=3),
        *([] if alone is None else [number_column("alone", lambda i: in_points(points_of(alone[i])), drop_order=3)]),
        text_column("status", lambda i: status_cell(result.status[i])),
    ]


def _detail_table(result: Relevance, top: int | None) -> Table:
    """The numbers behind the effects."""
    columns = [
        _name_column(result),
        number_column("index", lambda i: three_decimals(result.index[i]), drop_order=2),
        number_column("noise", lambda i: three_decimals(result.noise_rate[i]), drop_order=3),
        number_column("pairs compared", lambda i: number(result.compared[i])),
    ]
    if result.settings.given == "auto":
        columns.append(
            text_column("given", lambda i: Cell(", ".join(map(shown, result.given[i])) or "-", "muted"), may_wrap=True)
        )
    return tabulate(result.order().tolist(), columns, most=top)


def _direction_title(result: Relevance) -> str:
    """With two classes, the direction is about the second one."""
    two = len(result.classes) == 2
    return f"share of {shorten(quoted(result.classes[1]), MAX_VALUE_LENGTH)}" if two else "value: label"


def _direction(result: Relevance, i: int, longest: int) -> Cell:
    """The value with which the label is more or less frequent, and by how many points; or the feature copied."""
    points, copied = result.points[i], result.same_as[i]
    if copied is not None:
        return Cell(f"same as {shorten(shown(copied), longest)}", "muted")
    if points is None or not has_direction(result, i):
        return Cell("mixed" if result.status[i] == "effect" and points is not None else "-", "muted")
    label = "" if len(result.classes) == 2 else f": {shorten(quoted(points.label), longest)}"
    is_range = bool(result.feature_columns[i].edges)  # keep its lower end
    value = shorten_end(marked(points.value), longest + 2) if is_range else shorten(marked(points.value), longest)
    return Cell(f"{value}{label} {signed(points.points)}")


# ---------------------------------------------------------------- the answer


def say_effects(result: Relevance) -> str:
    """The answer: how many features have an effect."""
    effects = result.with_status("effect")
    n, label = counted(len(result.names), "feature"), quoted(result.label)
    if result.settings.duplicates == "once":
        return f"Repeated rows were counted once, so nothing was tested: {n} for {label}."
    if not effects:
        return f"None of {n} has a significant effect on {label}."
    return f"{len(effects):,} of {n} {verb(effects, 'has', 'have')} a significant effect on {label}."


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
    mixed = [i for i in result.order().tolist() if _is_mixed(result, i)]
    return f"mixed: {MIXED} ({list_first([result.names[i] for i in mixed], 3)})." if mixed else ""


def _is_mixed(result: Relevance, i: int) -> bool:
    return result.status[i] == "effect" and result.points[i] is not None and not has_direction(result, i)


# ---------------------------------------------------------------- explanations


def _explain(result: Relevance) -> list[str]:
    """What the numbers mean, and their limits."""
    searched = result.settings.searched_rows if result.settings.given == "auto" else None
    part = "" if searched is None or searched == result.n_rows else f"{searched:,} of the rows"
    return [
        *_explain_directions(result),
        *explain_statuses(result),
        *([f"The deciding set was chosen on {part}; all numbers come from all rows."] if part else []),
        "points: root mean square difference in label shares between two values of the feature, in percentage points,"
        " over the compared pairs; with more than two classes, root of half the squared difference summed over"
        " classes. Its square, the effect, is the index (share of pairs whose labels differ) minus the noise (the same"
        " share for rows with equal values).",
        f"{assumed(result.settings.n_groups)} p is adjusted for {counted(len(result.names), 'feature')}"
        f" (Benjamini-Hochberg; Holm outside the deciding set). {NOT_ADJUSTED}",
        NOT_CAUSES,
    ]


def _explain_directions(result: Relevance) -> list[str]:
    """The direction of the features with an effect, with intervals."""
    sentences = [
        f"{shown(result.names[i], LONG_NAME)}: {describe_direction(points)}."
        for i in result.order().tolist()
        if (points := result.points[i]) is not None and result.status[i] == "effect" and has_direction(result, i)
    ]
    n_more = len(sentences) - FEW_NAMES
    return [*sentences[:FEW_NAMES], *([f"{counted(n_more, 'more direction')} in the JSON."] if n_more > 0 else [])]


def explain_statuses(result: Relevance) -> Iterator[str]:
    """Sentences about features that have something in common."""

    def named(features: Iterable[int]) -> str:
        return list_first([result.names[i] for i in features], FEW_NAMES)

    order = result.order().tolist()
    if mixed := [i for i in order if _is_mixed(result, i)]:
        ranges = ", or is not monotonic" if any(result.feature_columns[i].edges for i in mixed) else ""
        yield f"mixed: {MIXED}{ranges} ({named(mixed)})."
    if bounds := [i for i in order if _is_upper_bound(result, i)]:
        yield (
            f"Upper bounds ({named(bounds)}): no rows repeat, so noise cannot be estimated, and the effect is at most"
            " the index."
        )
    replaced = [i for i in order if result.status[i] == "unclear" and result.stand_ins[i]]
    if replaced:
        pairs = [f"{shown(result.names[i])} (or {list_all(result.stand_ins[i], 'or')})" for i in replaced]
        yield f"unclear, because other features could replace them: {list_first(pairs, FEW_NAMES)}."
    for status, words in STATUSES.items():
        others = [_name_and_origin(result, i) for i in order if result.status[i] == status and i not in replaced]
        if others and status != "effect":
            yield f"{status}: {words.meaning} ({list_first(others, FEW_NAMES)})."
    tested = [i for i in order if result.status[i] not in ("same", "constant")]
    if without := [i for i in tested if result.compared[i] == 0]:
        yield (
            f"{counted(len(without), 'feature')} {verb(without, 'has', 'have')} no pairs ({named(without)}): the given"
            f" features determine {verb(without, 'it', 'them')}, or there are too few rows."
        )
    if untested := [i for i in tested if result.compared[i] and math.isnan(result.p_value[i])]:
        yield f"No p ({named(untested)}): the labels of compared rows never differ, so there is nothing to test."
    if thin := [i for i in tested if set(result.given[i]) < set(result.deciding) - {result.names[i]}]:
        yield (
            f"{counted(len(thin), 'feature')} {verb(thin, 'was', 'were')} compared given a part of the deciding set,"
            f" because too few rows agree on all of it ({named(thin)})."
        )


def _is_upper_bound(result: Relevance, i: int) -> bool:
    """Whether only an upper bound of the effect is known, because there is no estimate of the noise."""
    return result.status[i] == "effect" and result.effect_low[i] == 0 and math.isnan(result.noise_rate[i])


def _name_and_origin(result: Relevance, i: int) -> str:
    """The name of a feature, and of which feature it is a copy."""
    copied = result.same_as[i]
    return result.names[i] if copied is None else f"{shown(result.names[i])} of {shown(copied)}"
