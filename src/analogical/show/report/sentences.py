"""The sentences of the page: the verdict, whether the table can answer, what is given, the limits."""

import math
from collections.abc import Sequence

from analogical.show.relevance import has_direction
from analogical.show.report.words import each, in_points, signed, some, value, word
from analogical.show.words import counted, percent, verb
from analogical.verbs.relevance import NEGLIGIBLE, Points, Relevance
from analogical.verbs.report import Doubt, Report, Turn

__all__ = [
    "agreeing_on",
    "describe_answer",
    "describe_direction",
    "describe_given",
    "describe_limits",
    "describe_turn",
    "measure_of",
    "size_of",
    "verdict",
]


def size_of(effect: float | None) -> float:
    """An effect as a difference of label shares, in points: 100 times its root; NaN if it is not known."""
    return math.nan if effect is None else 100 * math.sqrt(effect)


def verdict(report: Report) -> str:
    """The answer in a sentence or two."""
    found = report.relevance
    names = found.with_status("effect")
    n = counted(len(found.names), "feature")
    if not names:
        if all(status in ("none", "constant") for status in found.status):
            size = in_points(size_of(NEGLIGIBLE))
            return f"None of {n} has a significant effect on {word(found.label)}, and no interval exceeds {size}."
        return f"None of {n} has a significant effect on {word(found.label)}. Not all effects are ruled out."
    has = verb(names, "has", "have")
    start = f"{len(names):,} of {n} {has} a significant effect on {word(found.label)}: {some(names, 5)}."
    i = found.names.index(names[0])
    points = found.points[i]
    if points is None or not has_direction(found, i):
        return start
    return f"{start} The largest is {word(names[0])}: {describe_direction(points)}."


def describe_direction(points: Points) -> str:
    """How much more often the label occurs with one value than with another, with its interval."""
    more = "more" if points.points >= 0 else "less"
    return (
        f"with {value(points.value)}, '{value(points.label)}' is {in_points(points.points)} {more} frequent than with"
        f" {value(points.against)} ({signed(points.low)} to {signed(points.high)})"
    )


def agreeing_on(names: Sequence[str]) -> str:
    """What compared rows agree on, in a sentence."""
    return f"that agree on {some(names, 5)}" if names else "with nothing held fixed"


# ---------------------------------------------------------------- can this table answer?


def describe_answer(report: Report) -> list[str]:
    """What the answer is based on, and what limits it."""
    found = report.relevance
    if report.answer == "no" and not found.compared.any():
        return ["No two rows can be compared for any feature. Collect more rows, or leave out columns."]
    if report.answer == "no":
        return ["No feature is significant, and no effect is ruled out: there are too few rows."]
    effects, none = found.with_status("effect"), found.with_status("none")
    said = []
    if effects:
        said.append(f"{counted(len(effects), 'feature has', 'features have')} a significant effect.")
    if none:
        size = in_points(size_of(NEGLIGIBLE))
        said.append(f"{counted(len(none), 'feature has', 'features have')} none: the interval ends at or below {size}.")
    return [*said, *(_doubt(report, doubt) for doubt in report.doubts())]


def _doubt(report: Report, doubt: Doubt) -> str:
    found = report.relevance
    if doubt == "unclear":
        names = found.with_status("unclear")
        return f"{some(names)} {verb(names, 'is', 'are')} unclear: not significant, but not ruled out."
    if doubt == "stand-ins":
        names = [name for name in found.ranking() if found.stand_ins[found.names.index(name)]]
        return f"Other features could replace {some(names)}: the data hardly show which of them matters."
    if doubt == "copies":
        names = found.with_status("same")
        carry = verb(names, "carries", "carry")
        return f"{some(names)} {carry} the same information as another feature; no test can distinguish them."
    if doubt == "few-compared":
        shares = [panel.n_compared / found.n_rows for panel in report.panels if panel.n_compared]
        return (
            f"Many rows have no partner: {percent(min(shares))} to {percent(max(shares))} of all rows are compared,"
            " depending on the feature."
        )
    names = [name for note in found.notes if note.kind == "leak" for name in note.columns]
    known = verb(names, "alone predicts nearly all labels: is it", "each predict nearly all labels alone: are they")
    return f"{some(names)} {known} known before the label?"


# ---------------------------------------------------------------- given what


def describe_given(report: Report) -> str:
    """On which features compared rows agree."""
    found = report.relevance
    given = found.settings.given
    if given == "all":
        return "As requested, every feature is compared between rows that agree on all other features."
    if given != "auto":
        return f"As requested, every feature is compared between rows {agreeing_on(given)}."
    if not found.deciding:
        return "No set of features predicts the label, so nothing is held fixed: all rows are compared."
    if len(found.deciding) == 1:
        return (
            f"{word(found.deciding[0])} predicts the label, and no other feature adds to it. Other features are"
            " compared between rows that agree on it."
        )
    return (
        "These features together predict the label, or are significant given those that do. Every feature is compared"
        " between rows that agree on them (a member: on the other members)."
    )


def describe_turn(report: Report, item: Turn) -> str:
    """Why a feature has another status alone."""
    found = report.relevance
    i = found.names.index(item.feature)
    alone = in_points(size_of(float(report.alone[i])))
    if item.reason == "explained":
        is_none = found.status[i] == "none"
        left = "no effect remains" if is_none else "no significant effect remains"
        return f"{alone} alone; among rows {agreeing_on(item.others)}, {left}."
    if item.reason == "together":
        return f"Not significant alone ({alone}): its effect depends on {each(item.others)}."
    return (
        f"Not significant alone ({alone}); among rows {agreeing_on(item.others)}, the effect is"
        f" {in_points(size_of(float(found.effect[i])))}."
    )


# ---------------------------------------------------------------- what the numbers are


def measure_of(found: Relevance) -> str:
    """What the size of an effect is."""
    return (
        f"Effect: difference in the shares of {word(found.label)} between two values of the feature, in percentage"
        " points, among rows that agree on the given features. p is adjusted for the number of features."
    )


def describe_limits(report: Report) -> list[str]:
    """Three limits of what the page says."""
    settings = report.relevance.settings
    if settings.n_groups is None:
        independent = "Intervals and p-values assume independent rows; use groups if they are not."
    else:
        independent = (
            f"Intervals and p-values assume {counted(settings.n_groups, 'independent group')} of rows; those of pairs"
            " of features assume independent rows."
        )
    return [
        "Effects are associations, not causes. Rows agree on recorded columns only; an unrecorded one may explain a"
        " difference.",
        f"{independent} A {100 * settings.confidence:g} % interval does not extend to rows from another time or place.",
        "“Unclear” is not “none”: a feature compared on too few rows, or not at all, may still matter.",
    ]
