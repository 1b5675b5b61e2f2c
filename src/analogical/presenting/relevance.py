"""A relevance as a view: the table of features, and what it says."""

from collections.abc import Callable

import numpy as np

from analogical._relevance import Relevance
from analogical.presenting.views import Cell, Heading, Table, Tone, View, describe_notes
from analogical.presenting.words import (
    counted,
    interval,
    listed,
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


def view_relevance(result: Relevance, *, top: int | None = None) -> View:
    """The table of features, best first, and what it says; with ``top``, the best ones only."""
    order = result.order()
    n_shown = top if top is not None else MAX_FEATURES if len(order) > MORE_FEATURES else len(order)
    columns = _relevance_columns(result)
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
        notes=describe_notes(result.notes),
        tables=(table,),
        findings=tuple(_explain(result)),
        brief=(*beyond, _noise_floor(result)),
    )


def _relevance_columns(result: Relevance) -> list[tuple[Heading, Callable[[int], Cell]]]:
    """Headings and cells: the score if it is not the index, intervals and p if they were asked for."""
    settings = result.settings
    level = "" if settings.confidence is None else f"{100 * settings.confidence:g}% CI"
    is_relaxed = settings.radius > 1
    found: list[tuple[Heading, Callable[[int], Cell]]] = [
        (Heading("feature", is_text=True, may_shorten=True), lambda i: Cell(shown(result.names[i])))
    ]
    if is_relaxed:
        found.append((Heading("score"), lambda i: Cell(shares(result.score[i]), bar=float(result.score[i]))))
        if result.score_low is not None and result.score_high is not None:
            low, high = result.score_low, result.score_high
            found.append((Heading(level), lambda i: Cell(interval(low[i], high[i]))))
    found.append(
        (Heading("ARI"), lambda i: Cell(f"{result.ari[i]:.3f}", bar=None if is_relaxed else float(result.score[i])))
    )
    if result.ari_low is not None and result.ari_high is not None and not (is_relaxed and result.score_low is not None):
        ari_low, ari_high = result.ari_low, result.ari_high
        found.append((Heading(level), lambda i: Cell(interval(ari_low[i], ari_high[i]))))
    found.append((Heading("pairs"), lambda i: Cell(number(result.pairs[i]))))
    found.append((Heading("changed"), lambda i: Cell(number(result.changed[i]))))
    if result.p_value is not None and not is_relaxed:
        p = result.p_value
        found.append((Heading("p"), lambda i: Cell(p_value(p[i]))))
    if result.p_value is None:
        found.append((Heading("values"), lambda i: Cell(f"{result.n_values[i]:,}")))
    tones: dict[str, Tone] = {"relevant": "good", "irrelevant": "muted", "constant": "muted", "no-pairs": "warning"}
    found.append((Heading("status", is_text=True), lambda i: Cell(result.status[i], tones[result.status[i]])))
    return found


def _noise_floor(result: Relevance) -> str:
    """How often identical rows differ in label."""
    noise = result.noise
    if noise.rate is None:
        once = result.settings.duplicates == "once"
        return f"Noise floor: unknown, because {'repeated rows were counted once' if once else 'no row repeats'}."
    known = noise.rate_low is not None and noise.rate_high is not None
    bounds = f" ({percent(noise.rate_low)} to {percent(noise.rate_high)})" if known else ""  # type: ignore[arg-type]
    return (
        f"Noise floor: identical rows differ in label in {percent(noise.rate)}{bounds}"
        f" of {counted(result.n_identical, 'pair')}."
    )


def _summarise(result: Relevance) -> str:
    """What was read: rows, features, label, repeated rows and contradictions."""
    classes = ", ".join(shown(value, 20) for value in result.classes[:6])
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
        *_explain_changes(result, of_status.get("relevant", []), of_status.get("irrelevant", [])),
        *_explain_no_pairs(result, of_status.get("no-pairs", [])),
        *_explain_ids(result),
        *_explain_constants(of_status.get("constant", [])),
        *_explain_radius(result),
        *_explain_noise(result),
    ]


def _explain_changes(result: Relevance, relevant: list[str], irrelevant: list[str]) -> list[str]:
    n = counted(len(result.names), "feature")
    if relevant:
        changes = verb(relevant, "changes", "change")
        sentences = [f"{len(relevant)} of {n} {changes} the label with all else equal ({some_of(relevant)})."]
    else:
        sentences = [f"None of the {n} was seen to change the label with all else equal."]
    if result.p_value is not None:
        weak = [name for name in relevant if result.p_value[result.names.index(name)] > 0.05]
        if weak:
            sentences.append(f"Noise alone could explain {len(weak)} of them (p > .05: {some_of(weak)}).")
    if irrelevant:
        never = verb(irrelevant, "does", "do")
        sentences.append(f"{len(irrelevant)} never {never}, in the pairs there are ({some_of(irrelevant)}).")
    return sentences


def _explain_no_pairs(result: Relevance, without_pairs: list[str]) -> list[str]:
    sentences = []
    determined = result.determined_by or ((),) * len(result.names)
    by = dict(zip(result.names, determined, strict=True))
    if redundant := [name for name in without_pairs if by[name]]:
        reasons = [f"{shown(name)} by {listed(by[name])}" for name in redundant]
        sentences.append(
            f"{len(redundant)} {verb(redundant, 'is', 'are')} redundant, determined by other features, and so"
            f" {verb(redundant, 'has', 'have')} no pair ({some_of(reasons)})."
        )
    if unexplained := [name for name in without_pairs if not by[name]]:
        reason = "not enough rows" if result.settings.redundancies else "redundant, or too few rows"
        sentences.append(
            f"{len(unexplained)} {verb(unexplained, 'has', 'have')} no pair of rows that differ on"
            f" {verb(unexplained, 'it', 'them')} alone, so the index says nothing ({some_of(unexplained)}):"
            f" {reason} (the paper writes 2)."
        )
    return sentences


def _explain_ids(result: Relevance) -> list[str]:
    unique = [result.names[i] for i in result.order() if result.n_values[i] == result.n_rows > 2]
    if not unique:
        return []
    return [
        f"{listed(unique)} {verb(unique, 'is', 'are')} unique in every row, so that no two rows are equal on"
        f" {verb(unique, 'it', 'them')}: leave out what is an id."
    ]


def _explain_constants(constant: list[str]) -> list[str]:
    if not constant:
        return []
    return [f"{len(constant)} {verb(constant, 'has', 'have')} one value only ({some_of(constant)})."]


def _explain_radius(result: Relevance) -> list[str]:
    if result.settings.radius == 1:
        return []
    typical = max(0.0005, float(np.nanmean(result.score)))
    best = [result.names[i] for i in result.order() if result.score[i] >= typical][:3]
    end = f" It ranks {listed(best)} highest." if best else " It finds nothing either."
    return [f"The score looks further: {describe_radius(result)}.{end}"]


def _explain_noise(result: Relevance) -> list[str]:
    sentence = _noise_floor(result)
    if result.n_contradictions and result.settings.duplicates == "count":
        sentence += (
            " An index near it may be noise; p is the probability of a difference at least this large if the feature"
            " had no effect."
        )
    return [sentence]


def describe_radius(result: Relevance) -> str:
    """Which pairs the score rests on, and why."""
    settings = result.settings
    fewest = settings.fewest_pairs
    reasons = {
        "asked": "asked for",
        "enough-pairs": f"every feature has at least {counted(fewest, 'pair')} at distance 1",
        "no-variation": "no feature has a second value",
        "nothing-further": "no two rows differ on more than one feature",
        "no-pairs": "there is no pair at distance 1",
        "none-changed": "at distance 1 no pair changed its label",
        "few-pairs": f"at distance 1 some feature has {f'only {fewest:,} pairs' if fewest > 1 else 'hardly a pair'}",
    }
    weighed = (
        ""
        if settings.attribution == "share" or settings.decay is None
        else (f", a pair's weight falling to {settings.decay:.2f} with each feature it differs on")
    )
    sampled = ", a random sample of those there are" if settings.is_sampled else ""
    stopped = "" if settings.converged else "; the fit did not fully converge"
    return (
        f"radius {settings.radius}{weighed}: {reasons[settings.reason]}"
        f" ({counted(settings.n_pairs_used, 'pair')} used{sampled}{stopped})"
    )
