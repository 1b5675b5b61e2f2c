"""A relevance as a view: the table of features, and what it says."""

import math
from collections.abc import Callable

import numpy as np

from analogical._relevance import Relevance
from analogical._types import Floats
from analogical.presenting.notes import describe_notes
from analogical.presenting.views import Cell, Heading, Table, Tone, View
from analogical.presenting.words import (
    counted,
    interval,
    listed,
    marked,
    number,
    p_value,
    percent,
    quoted,
    shares,
    shown,
    some_of,
    verb,
)

__all__ = ["describe_radius", "view_relevance"]

MAX_FEATURES = 50
"""Features that a short table shows if there are more than MORE_FEATURES."""
MORE_FEATURES = 60
FEW_EFFECTIVE = 30
"""Effective rows below which intervals are rough."""
TONES: dict[str, Tone] = {
    "effect": "good",
    "unclear": "plain",
    "noise-unknown": "warning",
    "none-seen": "muted",
    "no-pairs": "warning",
    "constant": "muted",
}


def view_relevance(result: Relevance, *, top: int | None = None, paper: bool = False) -> View:
    """The table of features, best first, and what it says; with ``top``, the best ones only.

    With ``paper``, the paper's index where there is nothing to count: 0 for a constant feature and 2 without pairs.
    """
    order = result.order()
    n_shown = top if top is not None else MAX_FEATURES if len(order) > MORE_FEATURES else len(order)
    columns = _columns(result, paper)
    n_more = len(order) - min(n_shown, len(order))
    note = "" if not n_more else f"... and {n_more:,} more; to_frame() has all"
    if top is not None and n_more:
        note = f"Best {len(order) - n_more:,} of {len(order):,} features shown."
    table = Table(
        headings=tuple(heading for heading, _ in columns),
        rows=tuple(tuple(cell(int(i)) for _, cell in columns) for i in order[:n_shown]),
        note=note,
    )
    beyond = (f"Score: {describe_radius(result)}.",) if result.settings.radius > 1 else ()
    return View(
        headline=f"Relevance of {counted(len(result.names), 'feature')} for {quoted(result.label)}"
        f" ({counted(len(result.classes), 'class', 'classes')}), {counted(result.n_rows, 'row')}",
        summary=_summarise(result),
        notes=(*describe_notes(result.notes), *_describe_plan(result)),
        tables=(table,),
        findings=tuple(_explain(result)),
        bullets=tuple(_sum_up(result)),
        brief=(*beyond, *_explain_basis(result), _noise_floor(result)),
    )


def _describe_plan(result: Relevance) -> tuple[str, ...]:
    """How the rows were counted, if not in this process."""
    plan = result.settings.plan
    if plan is None:
        return ()
    if plan.kind == "grouped":
        return ("Counted by Spark: identical rows were grouped there, and the distinct rows counted here",)
    merged = ", identical rows merged first" if plan.is_merged else ""
    return (
        f"Counted by Spark in {counted(len(plan.blocks), 'block')} of columns,"
        f" {counted(plan.n_partitions, 'partition')} each{merged};"
        f" the largest holds up to {plan.skew:.1f} times the mean",
    )


def _columns(result: Relevance, paper: bool) -> list[tuple[Heading, Callable[[int], Cell]]]:
    """Headings and cells: first what features are ranked by with its interval, then what it comes from."""
    settings = result.settings
    level = "" if settings.confidence is None else f"{100 * settings.confidence:g}% CI"
    is_relaxed = settings.radius > 1
    is_noisy = "effect" in result.score_basis or "index less pooled noise" in result.score_basis
    found: list[tuple[Heading, Callable[[int], Cell]]] = [
        (Heading("feature", is_text=True, may_shorten=True), lambda i: Cell(shown(result.names[i])))
    ]

    def add_ranked(title: str, numbers: Floats, low: Floats | None, high: Floats | None) -> None:
        drawn = np.where(numbers <= 1, numbers, np.nan)  # the paper's 2 is not a share
        found.append((Heading(title), lambda i: Cell(shares(numbers[i]), bar=_bar(drawn[i]))))
        if low is not None and high is not None:
            found.append((Heading(level, leaves=1), lambda i: Cell(interval(low[i], high[i]))))

    def add_number(title: str, numbers: Floats, leaves: int) -> None:
        found.append((Heading(title, leaves=leaves), lambda i: Cell(shares(numbers[i]))))

    index = result.ari if paper else np.where(result.pairs > 0, result.ari, np.nan)
    if is_relaxed:
        add_ranked("score", result.score, result.score_low, result.score_high)
        if settings.reason == "noisy-labels":  # then distance 1 has pairs enough to show effects
            add_number("effect", result.effect, leaves=5)
        add_number("ARI", index, leaves=3)
    elif is_noisy:
        add_ranked("effect", result.effect, result.effect_low, result.effect_high)
        add_number("noise", result.noise_rate, leaves=5)
        add_number("ARI", index, leaves=3)
    else:
        add_ranked("ARI", index, result.ari_low, result.ari_high)
    found.append((Heading("pairs", leaves=4), lambda i: Cell(number(result.pairs[i]))))
    if not is_noisy and not is_relaxed:
        found.append((Heading("changed", leaves=5), lambda i: Cell(number(result.changed[i]))))
    if result.p_adjusted is not None and not settings.noise_free:
        p = result.p_adjusted
        found.append((Heading("p", leaves=2), lambda i: Cell(p_value(p[i]))))
    leaks = {name for note in result.notes if note.kind == "leak" for name in note.columns}
    found.append((Heading("status", is_text=True), lambda i: _status(result, i, leaks)))
    return found


def _noise_floor(result: Relevance) -> str:
    """How often identical rows differ in label, over the whole table."""
    noise = result.noise
    if noise.rate is None:
        once = result.settings.duplicates == "once"
        return f"Noise: unknown, because {'repeated rows were counted once' if once else 'no row repeats'}."
    known = noise.rate_low is not None and noise.rate_high is not None
    bounds = f" ({percent(noise.rate_low)} to {percent(noise.rate_high)})" if known else ""  # type: ignore[arg-type]
    return (
        f"Noise: identical rows differ in label in {percent(noise.rate)}{bounds} of"
        f" {counted(result.n_identical, 'pair')}."
    )


def _summarise(result: Relevance) -> str:
    """What was read: rows, features, label, repeated rows and contradictions."""
    classes = ", ".join(marked(value, 20) for value in result.classes[:6])
    parts = [
        counted(result.n_rows, "row"),
        counted(len(result.names), "feature"),
        f"label {quoted(result.label)} with {counted(len(result.classes), 'class', 'classes')}"
        f" ({classes}{', ...' if len(result.classes) > 6 else ''})",
    ]
    repeated = result.n_rows - result.n_distinct
    if repeated == 0:
        return ", ".join([*parts, "no repeated rows"])
    once = ", counted once" if result.settings.duplicates == "once" else ""
    parts.append(f"{counted(result.n_distinct, 'distinct row')} ({repeated:,} repeated{once})")
    identical = f"{counted(result.n_contradictions, 'contradiction')} in {counted(result.n_identical, 'pair')}"
    parts.append(f"{identical} of identical rows" if result.n_contradictions else "no contradictions")
    return ", ".join(parts)


def _explain(result: Relevance) -> list[str]:
    """What the numbers say, one sentence each, with their limits."""
    of_status: dict[str, list[str]] = {}
    for i in result.order():
        of_status.setdefault(result.status[i], []).append(result.names[i])
    return [
        *_explain_effects(result, of_status),
        *_explain_none_seen(result, of_status.get("none-seen", [])),
        *_explain_no_pairs(result),
        *_explain_ids(result),
        *_explain_constants(of_status.get("constant", [])),
        *_explain_radius(result),
        *_explain_basis(result),
        *_explain_few_rows(result),
        _noise_floor(result),
        *_explain_assumptions(result),
    ]


def _bar(share: float) -> float:
    """A share to be drawn; unknown ones are one and the same NaN, so that equal views are equal."""
    return float(share) if share == share else math.nan


def _status(result: Relevance, i: int, leaks: set[str]) -> Cell:
    """The status of a feature, with a mark if it may be the label under another name."""
    status = result.status[i]
    return Cell(f"{status}, leak?" if result.names[i] in leaks else status, TONES[status])


def _explain_effects(result: Relevance, of_status: dict[str, list[str]]) -> list[str]:
    effect, unclear, unknown = (of_status.get(word, []) for word in ("effect", "unclear", "noise-unknown"))
    n = counted(len(result.names), "feature")
    changes = "changes the label" if result.settings.noise_free else "has an effect beyond noise"
    change = "change the label" if result.settings.noise_free else "have an effect beyond noise"
    sentences = [
        f"{len(effect):,} of {n} {verb(effect, changes, change)} ({some_of(effect)})."
        if effect
        else f"No effect beyond noise was found among {n}."
    ]
    if unclear:
        sentences.append(
            f"{len(unclear):,} changed labels, but not significantly more than noise ({some_of(unclear)})."
            if result.p_adjusted is not None
            else f"{len(unclear):,} changed labels; without confidence nothing was tested ({some_of(unclear)})."
        )
    if unknown:
        sentences.append(
            f"{len(unknown):,} changed labels, but nothing shows how much of that is noise ({some_of(unknown)}): the"
            " index is an upper bound of the effect. If labels have no noise, say so with noise_free (--noise-free)."
        )
    return sentences


def _explain_none_seen(result: Relevance, none_seen: list[str]) -> list[str]:
    if not none_seen:
        return []
    is_relaxed = result.settings.radius > 1
    what = verb(none_seen, "has a score of about 0", "have a score of about 0")
    if not is_relaxed:
        what = f"changed no label in {verb(none_seen, 'its pairs', 'their pairs')}"
    sentences = [f"{len(none_seen):,} {what} ({some_of(none_seen)})."]
    positions = [result.names.index(name) for name in none_seen]
    partly = [i for i in positions if 0 < result.value_pairs_compared[i] < result.value_pairs[i]]
    if partly:
        examples = [_describe_coverage(result, i) for i in partly[:3]]
        more = f"; and {len(partly) - 3} more" if len(partly) > 3 else ""
        where = "At distance 1 not" if is_relaxed else "Not"
        sentences.append(f"{where} all of their values were compared: {'; '.join(examples)}{more}.")
    return sentences


def _describe_coverage(result: Relevance, i: int) -> str:
    compared, all_twos = int(result.value_pairs_compared[i]), int(result.value_pairs[i])
    a, b = result.not_compared[i][0]
    return f"{shown(result.names[i])}: {compared} of {all_twos} value pairs, {shown(a, 20)} never with {shown(b, 20)}"


def _explain_no_pairs(result: Relevance) -> list[str]:
    without = [result.names[i] for i in result.order() if result.paper_status[i] == "no-pairs"]
    sentences = []
    determined = result.determined_by or ((),) * len(result.names)
    by = dict(zip(result.names, determined, strict=True))
    if redundant := [name for name in without if by[name]]:
        reasons = [f"{shown(name)} by {listed(by[name])}" for name in redundant]
        sentences.append(
            f"{len(redundant):,} {verb(redundant, 'is', 'are')} redundant, determined by other features, and so"
            f" {verb(redundant, 'has', 'have')} no pair ({some_of(reasons)}); to score one, ignore"
            " those that determine it."
        )
    if unexplained := [name for name in without if not by[name]]:
        reason = _why_no_pairs(result)
        sentences.append(
            f"{len(unexplained):,} {verb(unexplained, 'has', 'have')} no pair of rows that differ on"
            f" {verb(unexplained, 'it', 'them')} alone, so the index says nothing ({some_of(unexplained)}):"
            f" {reason} (the paper writes 2)."
        )
    return sentences


def _why_no_pairs(result: Relevance) -> str:
    """Why features that nothing was found to determine may have no pair."""
    if not result.settings.redundancies:
        return "redundant, or too few rows"
    if result.settings.searched_one and result.settings.searched_two:
        return "not enough rows"
    return "not enough rows, or determined by two others, which was not looked for among so many features"


def _explain_ids(result: Relevance) -> list[str]:
    unique = [result.names[i] for i in result.order() if result.n_values[i] == result.n_rows > 2]
    if not unique:
        return []
    return [
        f"{listed(unique)} {verb(unique, 'has', 'have')} a different value in every row, so no two rows are equal on"
        f" {verb(unique, 'it', 'them')}: ignore what is an identifier."
    ]


def _explain_constants(constant: list[str]) -> list[str]:
    if not constant:
        return []
    return [f"{len(constant):,} {verb(constant, 'has', 'have')} one value only ({some_of(constant)})."]


def _explain_radius(result: Relevance) -> list[str]:
    if result.settings.radius == 1:
        return []
    typical = max(0.0005, float(np.nanmean(result.score)))
    best = [result.names[i] for i in result.order() if result.score[i] >= typical][:3]
    end = f" It ranks {listed(best)} highest." if best else " It finds nothing either."
    return [f"The score looks further: {describe_radius(result)}.{_describe_grids(result)}{end}"]


def _describe_grids(result: Relevance) -> str:
    """In which other bins numbers were compared."""
    if not result.settings.coarser:
        return ""
    bins = listed(result.settings.coarser)
    return f" Numbers are also compared in {bins} bins, and the scores averaged."


def _explain_basis(result: Relevance) -> list[str]:
    """What stands in for the noise of features whose own noise is not known well."""
    pooled = result.settings.pooled_noise
    names = [result.names[i] for i in result.order() if result.score_basis[i] == "index less pooled noise"]
    if pooled is None or not names:
        return []
    return [
        f"Ranked by the index less {percent(pooled)}, the noise in the contexts of all features, because"
        f" {verb(names, 'its', 'their')} own noise rests on too few repeated rows: {some_of(names)}."
    ]


def _explain_few_rows(result: Relevance) -> list[str]:
    if result.settings.confidence is None or result.settings.radius > 1:
        return []
    few = [i for i in result.order() if result.pairs[i] and result.effective_rows[i] < FEW_EFFECTIVE]
    if not few:
        return []
    names = [f"{shown(result.names[i])} {math.floor(result.effective_rows[i])}" for i in few]
    return [
        f"Rough intervals: some rows sit in many pairs, so the pairs are worth fewer than {FEW_EFFECTIVE} independent"
        f" ones (effective rows: {some_of(names)})."
    ]


def _explain_assumptions(result: Relevance) -> list[str]:
    settings = result.settings
    if settings.confidence is None:
        return []
    sentences = []
    if settings.n_groups is None:
        need = "a count in memory with groups" if settings.engine == "spark" else "groups"
        sentences.append(f"Intervals and p take rows as independent; rows that belong together need {need} (--groups).")
    else:
        sentences.append(
            f"{counted(settings.n_groups, 'group')} of rows: intervals leave out whole groups; p and effect take one"
            " row of each at random."
        )
    n_possible = math.prod(result.n_values.tolist())
    if result.n_rows == result.n_distinct == n_possible:
        sentences.append(
            "Every combination of values occurs exactly once: if these rows are the whole population, there is no"
            " sampling error and the intervals do not apply."
        )
    return sentences


def describe_radius(result: Relevance) -> str:
    """Which pairs the score rests on, and why."""
    settings = result.settings
    fewest = settings.fewest_pairs
    reasons = {
        "asked": "set by the user",
        "enough-pairs": f"every feature has at least {counted(fewest, 'pair')} at distance 1",
        "no-variation": "no feature has a second value",
        "nothing-further": "no two rows differ on more than one feature",
        "no-pairs": "there is no pair at distance 1",
        "none-changed": "at distance 1 no pair changed its label",
        "enough-weight": "other pairs have next to no weight",
        "noisy-labels": "labels are noisy, and distance 1 compares too few repeated rows to stand for all",
        "noise-unknown": "labels may be noisy, since few rows repeat, and distance 1 compares too few to stand for all",
        "few-pairs": f"at distance 1 some feature has only {counted(fewest, 'pair')}",
    }
    is_weighed = settings.attribution != "share" and settings.decay is not None
    weighed = f", a pair's weight falling to {settings.decay:.2f} with each feature it differs on" if is_weighed else ""
    sampled = ", a random sample of those there are" if settings.is_sampled else ""
    stopped = "" if settings.converged else "; the fit did not fully converge"
    return (
        f"radius {settings.radius}{weighed}: {reasons[settings.reason]}"
        f" ({counted(settings.n_pairs_used, 'pair')} used{sampled}{stopped})"
    )


# ---------------------------------------------------------------- in short

FEW_NAMES = 4
"""Names that a bullet lists."""


def _sum_up(result: Relevance) -> list[str]:
    """Three bullets at most: what has an effect, what can be said of the others, and what that rests on."""
    of_status: dict[str, list[str]] = {}
    for i in result.order():
        of_status.setdefault(result.status[i], []).append(result.names[i])
    found = _explain_effects(result, {"effect": of_status.get("effect", [])})
    others = _sum_up_others(result, of_status)
    return [*found, *([f"{'; '.join(others)}."] if others else []), _sum_up_basis(result)]


def _sum_up_others(result: Relevance, of_status: dict[str, list[str]]) -> list[str]:
    """What can be said of the features without an effect, a few words for each kind."""
    is_relaxed, is_tested = result.settings.radius > 1, result.p_adjusted is not None
    seen = "have a score of about 0" if is_relaxed else "changed no label"
    what = {
        "unclear": "cannot be told from noise" if is_tested else "changed labels, and nothing was tested",
        "noise-unknown": "changed labels, and noise cannot be ruled out",
        "none-seen": "has a score of about 0" if is_relaxed and len(of_status.get("none-seen", [])) == 1 else seen,
    }
    parts = [
        f"{len(of_status[status]):,} {words} ({some_of(of_status[status], FEW_NAMES)})"
        for status, words in what.items()
        if status in of_status
    ]
    determined = result.determined_by or ((),) * len(result.names)
    by = dict(zip(result.names, determined, strict=True))
    silent = of_status.get("no-pairs", [])
    if redundant := [name for name in silent if by[name]]:
        names = some_of([f"{shown(name)} by {listed(by[name])}" for name in redundant], FEW_NAMES)
        parts.append(f"{len(redundant):,} {verb(redundant, 'is', 'are')} determined by others ({names})")
    if lonely := [name for name in silent if not by[name]]:
        parts.append(f"{len(lonely):,} {verb(lonely, 'has', 'have')} no pair to compare ({some_of(lonely, FEW_NAMES)})")
    if constant := of_status.get("constant", []):
        parts.append(f"{len(constant):,} {verb(constant, 'is', 'are')} constant ({some_of(constant, FEW_NAMES)})")
    return parts


def _sum_up_basis(result: Relevance) -> str:
    """How far it looked, how noisy labels are, and what counts as independent."""
    settings, noise = result.settings, result.noise.rate
    parts = []
    if settings.radius > 1:
        why = "as asked for" if settings.reason == "asked" else "distance 1 alone does not settle the order"
        parts.append(f"The score uses pairs that differ on up to {settings.radius} features: {why}.")
    if noise is None:
        once = settings.duplicates == "once"
        parts.append(f"Noise is unknown: {'repeated rows were counted once' if once else 'no row repeats'}.")
    else:
        parts.append(f"Noise: identical rows differ in label in {percent(noise)} of their pairs.")
    if settings.confidence is not None and settings.radius == 1:
        units = "Rows" if settings.n_groups is None else counted(settings.n_groups, "group")
        has_groups = units == "Rows" and settings.engine == "memory"
        parts.append(f"{units} are taken as independent{'; see groups (--groups)' if has_groups else ''}.")
    return " ".join(parts)
