"""What statuses mean, and sentences that several views share."""

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any, NamedTuple

from analogical.questions.relevance import NEGLIGIBLE, Points, Relevance, Status
from analogical.show.views import Cell, Tone
from analogical.show.words import (
    LONG_NAME,
    counted,
    in_points,
    interaction_points,
    list_first,
    marked,
    points_of,
    quoted,
    shown,
    signed,
)

if TYPE_CHECKING:
    from analogical.questions.interactions import Interactions


class StatusWords(NamedTuple):
    """How a status or a reason is shown, and what it means."""

    tone: Tone
    meaning: str


SMALL = f"{in_points(points_of(NEGLIGIBLE))} points"
STATUSES: dict[Status, StatusWords] = {
    "effect": StatusWords("good", "significant"),
    "unclear": StatusWords("plain", f"not significant, but an effect of {SMALL} or more is not ruled out"),
    "none": StatusWords("muted", f"not significant, and the interval ends at or below {SMALL}"),
    "same": StatusWords("muted", "a copy of another feature; no test can distinguish the two"),
    "constant": StatusWords("muted", "one value only"),
}
"""The status of a feature, or of a pair of features."""
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
    """The size of an effect in points, and its interval; NaN if unknown."""

    size: float
    low: float
    high: float


def sizes_in_points(result: Relevance, i: int) -> Sizes:
    """The size of the effect of a feature in points, with its interval."""
    return Sizes(points_of(result.effect[i]), points_of(result.effect_low[i]), points_of(result.effect_high[i]))


def interaction_sizes(result: "Interactions", k: int) -> Sizes:
    """By how many points the effect of one feature of a pair differs with the other, with its interval."""
    effects = (result.effect[k], result.effect_low[k], result.effect_high[k])
    return Sizes(*map(interaction_points, effects))


def has_direction(result: Relevance, i: int) -> bool:
    """Whether the effect of a feature has a direction: the interval of its points excludes 0."""
    points = result.points[i]
    return points is not None and (points.low > 0 or points.high < 0)


def describe_direction(points: Points) -> str:
    """How much more often the label occurs with one value than with another, with its interval."""
    return (
        f"{quoted(points.label, 40)} is {in_points(abs(points.points))} points"
        f" {'more' if points.points >= 0 else 'less'} frequent with {marked(points.value, 40)} than with"
        f" {marked(points.against, 40)} ({signed(points.low)} to {signed(points.high)})"
    )
