"""What the page says in sentences: the verdict, whether the table can answer, what is given, the limits."""

import math
from collections.abc import Sequence

from analogical.show.relevance import has_direction
from analogical.show.report.words import each, in_points, signed, some, value, word
from analogical.show.words import counted, percent, verb
from analogical.verbs.relevance import NEGLIGIBLE, Points, Relevance
from analogical.verbs.report import Doubt, Report, Turn

__all__ = [
    "describe_answer",
    "describe_direction",
    "describe_given",
    "describe_limits",
    "describe_turn",
    "equal_on",
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
            return f"None of {n} has an effect on {word(found.label)} of {in_points(size_of(NEGLIGIBLE))} or more."
        return f"No feature among {n} has a significant effect on {word(found.label)}. Some may have one all the same."
    start = f"{len(names):,} of {n} {verb(names, 'has', 'have')} an effect on {word(found.label)}: {some(names, 5)}."
    i = found.names.index(names[0])
    points = found.points[i]
    if points is None or not has_direction(found, i):
        return start
    return f"{start} The largest is that of {word(names[0])}: {describe_direction(points)}."


def describe_direction(points: Points) -> str:
    """How much more often the label occurs with one value than with another, and how sure that is."""
    more = "more" if points.points >= 0 else "less"
    return (
        f"with {value(points.value)}, '{value(points.label)}' is {in_points(points.points)} {more} frequent than with"
        f" {value(points.against)} ({signed(points.low)} to {signed(points.high)})"
    )


def equal_on(names: Sequence[str]) -> str:
    """The features that compared rows are equal on, in a sentence."""
    return f"equal on {some(names, 5)}" if names else "not held equal on any other feature"


# ---------------------------------------------------------------- can this table answer?


def describe_answer(report: Report) -> list[str]:
    """On what the answer rests, and what stands against it."""
    found = report.relevance
    if report.answer == "no" and not found.compared.any():
        return ["No two rows can be compared for any feature. Collect more rows, or leave out columns."]
    if report.answer == "no":
        return ["No feature is significant, and none is surely small: there are too few rows to tell."]
    effects, none = found.with_status("effect"), found.with_status("none")
    said = []
    if effects:
        said.append(f"{counted(len(effects), 'feature has', 'features have')} an effect.")
    if none:
        size = in_points(size_of(NEGLIGIBLE))
        said.append(f"{counted(len(none), 'feature has', 'features have')} none, or one of less than {size}.")
    return [*said, *(_doubt(report, doubt) for doubt in report.doubts())]


def _doubt(report: Report, doubt: Doubt) -> str:
    found = report.relevance
    if doubt == "unclear":
        names = found.with_status("unclear")
        return f"{some(names)} {verb(names, 'is', 'are')} unclear: neither an effect nor surely none."
    if doubt == "stand-ins":
        names = [name for name in found.ranking() if found.stand_ins[found.names.index(name)]]
        return (
            f"In place of {some(names)} another feature would do nearly as well; the table hardly tells which matters."
        )
    if doubt == "copies":
        names = found.with_status("same")
        return (
            f"{some(names)} {verb(names, 'says', 'say')} the same as another feature, so no test can tell them apart."
        )
    if doubt == "few-compared":
        shares = [panel.n_compared / found.n_rows for panel in report.panels if panel.n_compared]
        return (
            f"Many rows have no partner to be compared with: {percent(min(shares))} to {percent(max(shares))} of all"
            " rows are compared, depending on the feature."
        )
    names = [name for note in found.notes if note.kind == "leak" for name in note.columns]
    return f"{some(names)} alone {verb(names, 'tells', 'tell')} the label nearly always: the answer, or a leak of it?"


# ---------------------------------------------------------------- given what


def describe_given(report: Report) -> str:
    """On which features compared rows are equal."""
    found = report.relevance
    given = found.settings.given
    if given == "all":
        return "Every feature is compared between rows that are equal on all other features, as was asked for."
    if given != "auto":
        return f"As was asked for, rows that are compared are {equal_on(given)}."
    if not found.deciding:
        return "No features predict the label together, so nothing is held equal: rows are compared as they are."
    if len(found.deciding) == 1:
        return (
            f"{word(found.deciding[0])} predicts the label, and nothing else adds to it. Other features are compared"
            " between rows that are equal on it."
        )
    return (
        "These features predict the label together, or are significant beside those that do. Every feature is compared"
        " between rows that are equal on them (a member: on the other members), so what it shows is not theirs."
    )


def describe_turn(report: Report, item: Turn) -> str:
    """Why a feature is judged otherwise alone."""
    found = report.relevance
    i = found.names.index(item.feature)
    alone = in_points(size_of(float(report.alone[i])))
    if item.reason == "explained":
        is_none = found.status[i] == "none"
        left = "none is left" if is_none else "nothing significant is left"
        return f"Alone it shows {alone}; among rows {equal_on(item.others)} {left}."
    if item.reason == "together":
        return f"Alone it shows nothing significant ({alone}): what it does depends on {each(item.others)}."
    return (
        f"Alone it shows nothing significant ({alone}); among rows {equal_on(item.others)} it shows"
        f" {in_points(size_of(float(found.effect[i])))}."
    )


# ---------------------------------------------------------------- what the numbers are


def measure_of(found: Relevance) -> str:
    """What the size of an effect is."""
    return (
        f"Effect: how far the shares of {word(found.label)} lie apart between two values of the feature, in percentage"
        " points, among rows that are equal on what is given. p is adjusted for the number of features."
    )


def describe_limits(report: Report) -> list[str]:
    """Three limits of what the page says."""
    settings = report.relevance.settings
    if settings.n_groups is None:
        independent = "Intervals and p-values take rows as independent; rows that belong together need groups."
    else:
        independent = (
            f"Intervals and p-values take {counted(settings.n_groups, 'group')} of rows as independent; those of pairs"
            " of features take single rows."
        )
    return [
        "Association, not cause. Rows are equal on recorded columns only; something that was not recorded may be"
        " behind a difference.",
        f"{independent} An interval at {100 * settings.confidence:g} % says nothing about rows of another time or"
        " place.",
        "“Unclear” is not “none”: what could not be compared, or on too few rows, may still matter.",
    ]
