"""What is kept of the contexts of a feature: small, and additive over parts of a table that share no context."""

import math
from dataclasses import dataclass
from functools import partial

import numpy as np

from analogical._types import Bools, CodedRows, Margins
from analogical.count.contexts import Contexts
from analogical.count.counts import RowProfile
from analogical.estimate.deals import DealMoments, can_tell
from analogical.estimate.directions import DirectionSums, Kinds, informative_tables
from analogical.estimate.effect import EffectSums
from analogical.estimate.exact_deals import FewDeals
from analogical.estimate.laws import PValue

__all__ = ["FeatureSummary", "summarise_contexts"]

MAX_COVERED = 64
"""Features with more values are not looked at for which of their values were compared."""


@dataclass(frozen=True)
class FeatureSummary:
    """All that effect, intervals and tests of one feature need."""

    profile: RowProfile
    """How many rows sit in how many pairs: for the interval of the index."""
    effect: EffectSums
    deals: DealMoments
    """The test in any direction."""
    direction: DirectionSums
    """The test in a common direction."""
    few: FewDeals | None
    """The test in any direction exactly, if the labels can be dealt in few ways."""
    compared: Bools | None
    """Which values were compared with which, shape (values, values); None for features with very many values."""

    def __add__(self, other: "FeatureSummary") -> "FeatureSummary":
        """The summary of two parts that share no context, both summarised by the margins of the whole table."""
        compared = None
        if self.compared is not None and other.compared is not None:
            compared = self.compared | other.compared
        return FeatureSummary(
            self.profile + other.profile,
            self.effect + other.effect,
            self.deals + other.deals,
            self.direction + other.direction,
            None if self.few is None else self.few + other.few,
            compared,
        )

    def p_values(self) -> tuple[PValue, PValue, PValue]:
        """P-values in any direction, and in a common one of what is frequent and of what is rare; NaN if not known."""
        if self.direction.sees_all:  # then it would be paid for twice
            p_any = PValue(math.nan)
        else:
            p_any = PValue(self.deals.p_value()) if self.few is None else self.few.p_value()
        return (p_any, *self.direction.p_values())


def summarise_contexts(rows: CodedRows | Margins) -> "partial[FeatureSummary]":
    """The function that summarises the contexts of a feature of these rows: (feature, contexts) to summary."""
    return partial(_summarise, rows, Kinds.of(rows.label_sizes()))


def _summarise(rows: CodedRows | Margins, labels: Kinds, feature: int, contexts: Contexts) -> FeatureSummary:
    n_values = int(rows.n_values[feature])
    values = Kinds.of(rows.value_sizes(feature))
    return FeatureSummary(
        profile=contexts.profile,
        effect=EffectSums.of(contexts),
        deals=DealMoments.of(contexts),
        direction=DirectionSums.of_tables(*informative_tables(contexts, values, labels), values, labels),
        few=FewDeals.of(contexts, can_tell(contexts)),
        compared=_compared(contexts, n_values) if n_values <= MAX_COVERED else None,
    )


def _compared(contexts: Contexts, n_values: int) -> Bools:
    """Which two values some context holds."""
    holds = np.zeros((len(contexts), n_values), np.float32)
    holds[contexts.owner, contexts.values] = 1
    compared: Bools = holds.T @ holds > 0
    np.fill_diagonal(compared, False)
    return compared
