"""A relevance as a view: the table of features, and what it says."""

import math
from collections.abc import Callable, Sequence

from analogical._types import Floats
from analogical.show.notes import describe_notes
from analogical.show.views import Cell, Heading, Table, Tone, View
from analogical.show.words import (
    and_more,
    counted,
    interval,
    listed,
    marked,
    number,
    p_value,
    quoted,
    shares,
    shorten,
    shown,
    signed,
    some_of,
    verb,
)
from analogical.verbs.relevance import NEGLIGIBLE, Points, Relevance, Status

__all__ = ["describe_given", "describe_points", "has_direction", "view_relevance"]

MAX_FEATURES = 50
"""Features that a short table shows if there are more than MORE_FEATURES."""
MORE_FEATURES = 60
LONGEST_VALUE = 10
"""Characters of a value in the table, so that a line has room for the numbers."""
MOST_DIRECTIONS = 10
"""Features whose direction is written as a sentence."""
TONES: dict[Status, Tone] = {
    "effect": "good",
    "unclear": "plain",
    "none": "muted",
    "same": "muted",
    "constant": "muted",
}
Column = tuple[Heading, Callable[[int], Cell]]


def view_relevance(result: Relevance, *, top: int | None = None, paper: bool = False) -> View:
    """The table of features, best first, and what it says; with ``top``, the best ones only.

    With ``paper``, the paper's index where there is nothing to count: 0 for a constant feature and 2 without pairs.
    """
    order = result.order()
    n_shown = top if top is not None else MAX_FEATURES if len(order) > MORE_FEATURES else len(order)
    n_more = len(order) - min(n_shown, len(order))
    note = and_more(n_more)
    if top is not None and n_more:
        note = f"Best {len(order) - n_more:,} of {len(order):,} features shown."

    def table(columns: list[Column], note: str) -> Table:
        rows = tuple(tuple(cell(int(i)) for _, cell in columns) for i in order[:n_shown])
        return Table(tuple(heading for heading, _ in columns), rows, note=note)

    return View(
        headline=f"Relevance of {counted(len(result.names), 'feature')} for {quoted(result.label)}"
        f" ({counted(len(result.classes), 'class', 'classes')}), {counted(result.n_rows, 'row')}",
        summary=_summarise(result),
        notes=describe_notes(result.notes),
        tables=(table(_columns(result, paper), note),),
        details=(table(_detail_columns(result, paper), ""),),
        findings=tuple(_explain(result)),
        bullets=tuple(_sum_up(result)),
        brief=(describe_given(result),),
    )


def _summarise(result: Relevance) -> str:
    """What was read: rows, features and label."""
    classes = ", ".join(marked(value, 20) for value in result.classes[:6])
    return (
        f"{counted(result.n_rows, 'row')}, {counted(len(result.names), 'feature')}, label {quoted(result.label)}"
        f" ({classes}{', ...' if len(result.classes) > 6 else ''})"
        f"{', repeated rows counted once' if result.settings.duplicates == 'once' else ''}"
    )


# ---------------------------------------------------------------- tables


def _columns(result: Relevance, paper: bool) -> list[Column]:
    """Headings and cells; where all other features are given, the paper's index and its counts come first."""
    is_paper = result.settings.given == "all"
    effect = result.effect
    leaks = {name for note in result.notes if note.kind == "leak" for name in note.columns}
    found = [_name_column(result)]
    if is_paper:
        found += _paper_columns(result, paper, leaves=4)
    bars = [math.nan if is_paper or e != e else math.sqrt(max(e, 0.0)) for e in effect]
    found += [
        (Heading("effect"), lambda i: Cell(shares(effect[i]), bar=None if is_paper else _bar(bars[i]))),
        (Heading(f"{100 * result.settings.confidence:g}% CI", leaves=3), lambda i: Cell(_interval(result, i))),
        (Heading(_points_title(result), is_text=True, leaves=5 if is_paper else 1), lambda i: _direction(result, i)),
        (Heading("p", leaves=2), lambda i: Cell(p_value(result.p_adjusted[i]))),
        (Heading("status", is_text=True), lambda i: _status(result, i, leaks)),
    ]
    return found


def _detail_columns(result: Relevance, paper: bool) -> list[Column]:
    """Headings and cells of what the effects rest on."""
    found = [_name_column(result)]
    if result.settings.given != "all":
        found += [
            (Heading("index", leaves=2), lambda i: Cell(shares(result.index[i]))),
            (Heading("noise", leaves=3), lambda i: Cell(shares(result.noise_rate[i]))),
            (Heading("compared"), lambda i: Cell(number(result.compared[i]))),
            *_paper_columns(result, paper, leaves=5, with_bars=False),
        ]
        if result.settings.given == "auto":
            found.append((Heading("given", is_text=True, may_wrap=True, leaves=4), lambda i: _given(result, i)))
    else:
        found.append((Heading("noise"), lambda i: Cell(shares(result.noise_rate[i]))))
    return found


def _name_column(result: Relevance) -> Column:
    return Heading("feature", is_text=True, may_shorten=True), lambda i: Cell(shown(result.names[i]))


def _paper_columns(result: Relevance, paper: bool, *, leaves: int, with_bars: bool = True) -> list[Column]:
    """The paper's index with its counts; a dash where there is nothing to count, unless its numbers are asked for."""
    index: Floats = result.ari.copy()
    if not paper:
        index[result.pairs == 0] = math.nan
    drawn = [_bar(share if share <= 1 else math.nan) for share in index]  # the paper's 2 is not a share
    return [
        (Heading("ARI"), lambda i: Cell(shares(index[i]), bar=drawn[i] if with_bars else None)),
        (Heading("pairs", leaves=leaves), lambda i: Cell(number(result.pairs[i]))),
        (Heading("changed", leaves=leaves), lambda i: Cell(number(result.changed[i]))),
    ]


def _interval(result: Relevance, i: int) -> str:
    return interval(result.effect_low[i], result.effect_high[i])


def _bar(share: float) -> float:
    """A share to be drawn; unknown ones are one and the same NaN, so that equal views are equal."""
    return float(share) if share == share else math.nan


def _points_title(result: Relevance) -> str:
    """With two classes, points are about the second one."""
    return (
        f"points for {shorten(marked(result.classes[1]), 2 * LONGEST_VALUE)}" if len(result.classes) == 2 else "points"
    )


def _direction(result: Relevance, i: int) -> Cell:
    """The direction of a feature in a few words; the feature that it copies."""
    found, copied = result.points[i], result.same_as[i]
    if copied is not None:
        return Cell(f"same as {shown(copied, 30)}", "muted")
    if found is None:
        return Cell("-", "muted")
    if not has_direction(result, i):
        return Cell("mixed" if result.status[i] == "effect" else "-", "muted")
    label = "" if len(result.classes) == 2 else f"{_short(found.label)} "
    return Cell(f"{_short(found.value)}: {label}{signed(found.points)} ({_bounds(found)})")


def _short(value: object) -> str:
    return shorten(marked(value), LONGEST_VALUE)


def _bounds(points: Points) -> str:
    """The ends of an interval in points; the sign of the first one stands before it."""
    return f"{_rounded(points.low)} to {_rounded(points.high)}"


def _rounded(number_of_points: float) -> str:
    return f"{number_of_points:.0f}".replace("-0", "0") if abs(number_of_points) < 0.5 else f"{number_of_points:.0f}"


def _status(result: Relevance, i: int, leaks: set[str]) -> Cell:
    """The status of a feature, with a mark if it may be the label under another name."""
    status = result.status[i]
    return Cell(f"{status}, leak?" if result.names[i] in leaks else status, TONES[status])


def _given(result: Relevance, i: int) -> Cell:
    return Cell(some_of(result.given[i], len(result.given[i])) if result.given[i] else "-", "muted")


# ---------------------------------------------------------------- what can be said of a feature


def has_direction(result: Relevance, i: int) -> bool:
    """Whether the points of a feature go one way: their interval does not hold 0."""
    found = result.points[i]
    return found is not None and (found.low > 0 or found.high < 0)


def describe_points(result: Relevance, i: int) -> str:
    """The direction of a feature in words: female: +49 points (44 to 53) vs. male."""
    found = result.points[i]
    if found is None:
        return ""
    if not has_direction(result, i) and result.status[i] == "effect":
        return "the direction depends on other features"
    label = "" if len(result.classes) == 2 else f" for {quoted(found.label, 40)}"
    return (
        f"{marked(found.value, 40)}: {signed(found.points)} points{label} ({_bounds(found)}) vs."
        f" {marked(found.against, 40)}"
    )


def describe_given(result: Relevance) -> str:
    """On which other features compared rows agree, in one sentence."""
    settings = result.settings
    if len(result.names) == 1:
        return "Given nothing: there is only one feature."
    if settings.given == "all":
        return "Given all other features: compared rows differ on one feature only, as in the paper."
    if settings.given == "auto":
        if not result.deciding:
            return "Given nothing: no set of features predicts the label, so all rows are compared."
        part = settings.searched_rows if settings.searched_rows != result.n_rows else None
        chosen = "" if part is None else f", chosen on {part:,} of the rows"
        names = _listed_fully(result.deciding)
        if len(result.deciding) == 1:
            who, on = "the other features are", "it"
        else:
            who, on = "each feature is", "the others"
        return f"Given {names} (the deciding set{chosen}): {who} compared between rows that agree on {on}."
    if not settings.given:
        return "Given nothing (univariate): all rows are compared, whatever their other values."
    return f"Given {_listed_fully(settings.given)}: compared rows agree on {verb(settings.given, 'it', 'these')}."


def _listed_fully(names: Sequence[str], limit: int = 12) -> str:
    return listed(names) if len(names) <= limit else some_of(names, limit)


# ---------------------------------------------------------------- sentences

FEW_NAMES = 8
"""Names that a sentence lists."""


def _sum_up(result: Relevance) -> list[str]:
    """The answer, one line for each other status that occurs, and what was given."""
    return [_say_effects(result), *_say_others(result), describe_given(result)]


def _say_effects(result: Relevance) -> str:
    found = result.with_status("effect")
    n = counted(len(result.names), "feature")
    if result.settings.duplicates == "once":
        return "Nothing was tested: repeated rows were counted once, and the tests need every row."
    if not found:
        return f"None of {n} has a significant effect."
    return f"{len(found):,} of {n} {verb(found, 'has', 'have')} a significant effect: {some_of(found, FEW_NAMES)}."


def _say_others(result: Relevance) -> list[str]:
    """One sentence for each status without an effect, and for effects without a direction or a lower end."""
    said = []
    order = [int(i) for i in result.order()]
    effects = [i for i in order if result.status[i] == "effect"]
    if mixed := [result.names[i] for i in effects if result.points[i] is not None and not has_direction(result, i)]:
        ranges = ", or is not monotonic" if any(result[name]["edges"] for name in mixed) else ""
        said.append(f"mixed: the direction depends on other features{ranges} ({some_of(mixed, FEW_NAMES)}).")
    if at_most := [result.names[i] for i in effects if result.effect_low[i] == 0 and math.isnan(result.noise_rate[i])]:
        said.append(
            f"Upper bounds ({some_of(at_most, FEW_NAMES)}): no rows repeat, so noise cannot be estimated, and the"
            " effect is at most the index."
        )
    if replaced := [i for i in order if result.status[i] == "unclear" and result.stand_ins[i]]:
        names = [f"{shown(result.names[i])} (or {_either(result.stand_ins[i])})" for i in replaced]
        said.append(
            f"unclear, because other features could replace them: {'; '.join(names[:FEW_NAMES])}{_more(names)}."
        )
    unclear = [result.names[i] for i in order if result.status[i] == "unclear" and not result.stand_ins[i]]
    if unclear:
        said.append(
            f"unclear: not significant, but an effect of {NEGLIGIBLE:g} or more is not ruled out"
            f" ({some_of(unclear, FEW_NAMES)})."
        )
    if none := result.with_status("none"):
        said.append(
            f"none: not significant, and the interval ends at or below {NEGLIGIBLE:g} ({some_of(none, FEW_NAMES)})."
        )
    if copies := result.with_status("same"):
        names = [f"{shown(name)} of {shown(result[name]['same_as'])}" for name in copies]
        said.append(f"same: a copy ({some_of(names, FEW_NAMES)}); no test can distinguish the two.")
    if constant := result.with_status("constant"):
        said.append(f"constant: one value only ({some_of(constant, FEW_NAMES)}).")
    return said


def _either(names: Sequence[str]) -> str:
    return " or ".join(shown(name) for name in names)


def _more(names: Sequence[str]) -> str:
    return f"; and {len(names) - FEW_NAMES:,} more" if len(names) > FEW_NAMES else ""


def _explain(result: Relevance) -> list[str]:
    """What the numbers say, one sentence each, with their limits."""
    return [
        _say_effects(result),
        *_explain_directions(result),
        *_say_others(result),
        *_explain_no_pairs(result),
        describe_given(result),
        *_explain_thin(result),
        "effect: half the squared difference in label shares between two values, averaged over the compared pairs. It"
        " is the index (share of pairs whose labels differ) minus the noise (the same share for rows with equal"
        f" values).{'' if result.settings.given == 'all' else ' Bars show its square root.'}",
        *_explain_assumptions(result),
    ]


def _explain_directions(result: Relevance) -> list[str]:
    """The direction of the best features with an effect."""
    effects = [int(i) for i in result.order() if result.status[i] == "effect" and has_direction(result, int(i))]
    lines = [f"{shown(result.names[i], 60)} = {describe_points(result, i)}" for i in effects[:MOST_DIRECTIONS]]
    if not lines:
        return []
    what = f"{quoted(result.label)} = {marked(result.classes[1], 40)}" if len(result.classes) == 2 else "a label"
    more = f"; and {len(effects) - len(lines):,} more" if len(effects) > len(lines) else ""
    return [f"Percentage points by which {what} is more frequent: {'; '.join(lines)}{more}."]


def _explain_no_pairs(result: Relevance) -> list[str]:
    """Features that vary, and have no pair to compare."""
    without = [
        result.names[i]
        for i in result.order()
        if result.compared[i] == 0 and result.status[i] not in ("same", "constant")
    ]
    if not without:
        return []
    return [
        f"{counted(len(without), 'feature')} {verb(without, 'has', 'have')} no pairs ({some_of(without, FEW_NAMES)}):"
        f" the given features determine {verb(without, 'it', 'them')}, or there are too few rows."
    ]


def _explain_thin(result: Relevance) -> list[str]:
    """Features that were compared given a part of the deciding set, because too few rows agree on all of it."""
    if result.settings.given != "auto":
        return []
    thin = [
        result.names[i]
        for i in result.order()
        if result.status[i] not in ("same", "constant")
        and set(result.given[i]) < set(result.deciding) - {result.names[i]}
    ]
    if not thin:
        return []
    return [
        f"{counted(len(thin), 'feature')} {verb(thin, 'was', 'were')} compared given a part of the deciding set,"
        f" because too few rows agree on all of it ({some_of(thin, FEW_NAMES)})."
    ]


def _explain_assumptions(result: Relevance) -> list[str]:
    """What intervals and p-values assume."""
    settings, said = result.settings, []
    if settings.n_groups is None:
        where = " with a count in memory" if settings.engine == "spark" else ""
        said.append(f"Intervals and p assume independent rows; use groups (--groups){where} if they are not.")
    else:
        said.append(f"Intervals and p assume {counted(settings.n_groups, 'independent group')} of rows.")
    said.append(
        f"p is adjusted for {counted(len(result.names), 'feature')} (Benjamini-Hochberg; Holm outside the deciding"
        " set). Effects are associations given the recorded features, not causes."
    )
    return said
