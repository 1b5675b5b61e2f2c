"""What the page says in sentences: the verdict, whether the table can answer, why orders disagree, the limits."""

import math

from analogical._report import Change, Disagreement, Doubt, Report
from analogical.presenting.relevance import describe_radius
from analogical.presenting.report.words import each, signed, some, value, word
from analogical.presenting.words import counted, percent, verb

__all__ = [
    "describe_answer",
    "describe_change",
    "describe_disagreement",
    "describe_limits",
    "measure_of",
    "verdict",
    "without_direction",
]

FLAT = 0.005
"""Differences in shares that are shown as 0 points."""


def verdict(report: Report) -> str:
    """The answer in a sentence or two."""
    found = report.relevance
    told = [found.names[i] for i in found.order() if found.status[i] == "effect"]
    n = counted(len(found.names), "feature")
    if not told:
        return f"No feature is told from noise among {n}. That is not evidence that none matters."
    what = "changes the label" if found.settings.noise_free else "goes with the label beyond noise"
    whats = "change the label" if found.settings.noise_free else "go with the label beyond noise"
    start = f"{len(told):,} of {n} {verb(told, what, whats)}, all else equal: {some(told, 5)}."
    best = next((panel for panel in report.panels if panel.feature == told[0]), None)
    change = None if best is None else best.change
    if change is None or not change.is_matched or change.difference_low <= 0 <= change.difference_high:
        return start
    a, b = (value(cell) for cell in change.values)
    how = f"{_points(change.difference, _quoted(change.label))} for {b} than for {a}"
    return f"{start} First comes {word(told[0])}: {how} {_bounds(change)}, over {counted(change.n_rows, 'row')}."


def describe_change(change: Change) -> str:
    """Which change of value moves which class by how many points over how many rows."""
    a, b = (value(cell) for cell in change.values)
    step, label = f"{a} → {b}", _quoted(change.label)
    if not change.is_matched:
        how = _points(change.crude, label)
        return (
            f"{step}: {how} over {counted(change.n_rows, 'row')}, without matching. No two rows with these values are"
            " equal on everything else."
        )
    over = f"over {counted(change.n_rows, 'row')}"
    if without_direction(change):
        if not change.gained and not change.lost:
            return f"{step}: {label} does not change in any of {counted(change.pairs, 'pair')}, {over}."
        return (
            f"{step}: {label} is gained in {counted(change.gained, 'pair')} and lost in {change.lost:,}, {over}: which"
            " way it goes depends on the other features."
        )
    return f"{step}: {_points(change.difference, label)} {_bounds(change)}, {over}."


def _quoted(label: object) -> str:
    return f"'{value(label)}'"


def _bounds(change: Change) -> str:
    return f"({signed(change.difference_low)} to {signed(change.difference_high)})"


def without_direction(change: Change) -> bool:
    """Whether gains and losses of a label cancel each other."""
    return change.is_matched and abs(change.difference) < FLAT


def _points(difference: float, label: str) -> str:
    return f"{label} is {100 * abs(difference):.1f} points {'more' if difference >= 0 else 'less'} frequent"


# ---------------------------------------------------------------- can this table answer?


def describe_answer(report: Report) -> list[str]:
    """On what the answer rests, and what stands against it."""
    found = report.relevance
    varying = [i for i in range(len(found.names)) if found.n_values[i] > 1]
    if report.answer == "no" and (found.pairs_within > 0).any():
        return [
            "No two rows differ on one feature alone, and rows that differ on several tell no feature from noise."
            " Collect more rows, or leave out columns."
        ]
    if report.answer == "no":
        return [
            "No two rows can be compared for any feature, so nothing is known. Leave out columns that say the same, or"
            " collect more rows."
        ]
    pairs = [int(found.pairs[i]) for i in varying if found.pairs[i]]
    said = []
    if pairs:
        several = f"{min(pairs):,} to {max(pairs):,} pairs" if min(pairs) < max(pairs) else counted(pairs[0], "pair")
        said.append(
            f"{len(pairs):,} of {len(varying):,} features that vary have pairs of rows that differ on them alone:"
            f" {several} each."
        )
    else:
        said.append("No two rows differ on one feature alone.")
    return [*said, _repeats(report), *(sentence for doubt in report.doubts() if (sentence := _doubt(report, doubt)))]


def _repeats(report: Report) -> str:
    found = report.relevance
    repeated = found.n_rows - found.n_distinct
    if not repeated:
        return "No row repeats, so how often labels differ by noise alone is not known from repeated rows."
    share = percent(repeated / found.n_rows)
    if found.noise.rate is None:
        return f"{counted(repeated, 'row')} ({share}) {'repeats' if repeated == 1 else 'repeat'} another one."
    start = (
        f"{counted(repeated, 'row')} ({share}) {'repeats' if repeated == 1 else 'repeat'} another one. Identical rows"
    )
    if not found.n_contradictions:
        return f"{start} always have the same label: they show no noise."
    return f"{start} differ in label in {percent(found.noise.rate)} of their pairs: that is the noise."


def _doubt(report: Report, doubt: Doubt) -> str:
    found = report.relevance
    by = found.determined_by or ((),) * len(found.names)
    silent = [i for i in found.order().tolist() if found.n_values[i] > 1 and not found.pairs[i]]
    if doubt == "looked-further":
        return f"The score had to look further: {describe_radius(found)}."
    if doubt == "redundant":
        names = [found.names[i] for i in silent if by[i]]
        return (
            f"{some(names)} {verb(names, 'is', 'are')} determined by other columns, so no two rows differ on"
            f" {verb(names, 'it', 'one of them')} alone; ignore what determines a column to compare it."
        )
    if doubt == "no-pairs":
        names = [found.names[i] for i in silent if not by[i]]
        return f"{some(names)} {verb(names, 'has', 'have')} no pair of rows to compare: there are not enough rows."
    if doubt == "noise-unknown":
        names = [found.names[i] for i in found.order() if found.status[i] == "noise-unknown"]
        return f"{some(names)} changed labels, and nothing shows how much of that is noise."
    if doubt == "few-compared":
        shares = [panel.n_compared / found.n_rows for panel in report.panels if panel.n_compared]
        return (
            "Only some rows have a partner that differs on one feature alone:"
            f" {percent(min(shares))} to {percent(max(shares))} of all rows, depending on the feature. The exact"
            " comparison speaks of these rows."
        )
    names = [name for note in found.notes if note.kind == "leak" for name in note.columns]
    return f"{some(names)} alone {verb(names, 'tells', 'tell')} the label nearly always: the answer, or a leak of it?"


# ---------------------------------------------------------------- beside mutual information


def describe_disagreement(report: Report, item: Disagreement) -> str:
    """Why a feature stands elsewhere in the order of mutual information."""
    found = report.relevance
    i = found.names.index(item.feature)
    panel = next((panel for panel in report.panels if panel.feature == item.feature), None)
    change = None if panel is None else panel.change
    if item.reason == "interaction":
        return f"An interaction: what it does depends on {each(item.others)}, which no feature shows alone."
    if item.reason == "determined":
        return (
            f"Redundant: {each(item.others)} {verb(item.others, 'determines', 'determine')} it, so no two rows"
            " differ on it alone."
        )
    if item.reason == "carried":
        if len(item.others) > 3:
            return f"Redundant: what it tells alone is told by {some(item.others, 3)} together."
        return f"Redundant: what it tells alone, {each(item.others)} {verb(item.others, 'tells', 'tell')} as well."
    if item.reason == "never-compared":
        compared, possible = int(found.value_pairs_compared[i]), int(found.value_pairs[i])
        start = f"Values never compared: {possible - compared:,} of {possible:,} value pairs"
        if not found.not_compared[i]:
            return f"{start}; no two rows differ on it alone, while mutual information takes all rows."
        a, b = (value(cell, 24) for cell in found.not_compared[i][0])
        return f"{start}, such as {a} with {b}, while mutual information takes all rows."
    if item.reason in ("shared", "unmasked") and change is not None:
        a, b = (value(cell, 24) for cell in change.values)
        crude, equal = (f"{100 * abs(d):.1f}" for d in (change.crude, change.difference))
        end = "other features account for the rest" if item.reason == "shared" else "other features mask part of it"
        return f"{a} → {b}: the label moves by {crude} points over all rows, and by {equal} all else equal; {end}."
    if item.reason == "passed":
        return f"{each(item.others)} {verb(item.others, 'stands', 'stand')} above it because of interactions."
    if item.reason == "adds":
        return f"It adds to {some(item.others, 3)} what {verb(item.others, 'that does', 'those do')} not tell."
    return "None of the reasons that were looked for; where intervals overlap, the order is not certain."


# ---------------------------------------------------------------- what the numbers are


def measure_of(report: Report) -> tuple[str, str]:
    """What features are ranked by: a title, and a sentence."""
    found = report.relevance
    if found.settings.radius > 1:
        return (
            "score",
            "Score: how often a change of the feature alone would change the label, estimated from pairs that may"
            " differ on other features too.",
        )
    if {"effect", "index less pooled noise"} & set(found.score_basis):
        roots = (
            " With two classes its root is the typical difference in label shares: 0.04 is 20 points."
            if len(found.classes) == 2
            else ""
        )
        return (
            "effect",
            "Effect beyond noise: how often labels differ between rows that are equal but for the feature, less how"
            f" often they differ by noise alone.{roots}",
        )
    noise = (
        "Identical rows have the same label, so no noise is subtracted."
        if found.n_identical
        else "No row repeats, so no noise could be subtracted."
    )
    return (
        "index",
        f"Index (ARI): how often labels differ between rows that are equal but for the feature. {noise}",
    )


def describe_limits(report: Report) -> list[str]:
    """Three limits of what the page says."""
    found, settings = report.relevance, report.relevance.settings
    if settings.n_groups is None:
        independent = "Intervals and p-values take rows as independent; rows that belong together need groups."
    else:
        independent = (
            f"Intervals and p-values take {counted(settings.n_groups, 'group')} of rows as independent; interactions"
            " and the best set take single rows."
        )
    partly = sum(0 <= c < n for c, n in zip(found.value_pairs_compared, found.value_pairs, strict=True))
    return [
        "Association, not cause. Rows are equal on the recorded columns only; something that was not recorded may be"
        " behind a difference.",
        f"{independent} An interval at {100 * (settings.confidence or math.nan):g} % says nothing about rows of another"
        " time or place.",
        "What was not compared is not known. No change seen is not evidence of no effect"
        + (
            f"; {counted(partly, 'feature has', 'features have')} values that were never compared with each other."
            if partly
            else "."
        ),
    ]
