"""What is kept of the contexts of a feature: small, and additive over parts of a table that share no context."""

import math
from dataclasses import dataclass
from functools import partial

import numpy as np

from analogical._types import Bools, CodedRows, Floats, Ints, Margins
from analogical.counting.contexts import Contexts
from analogical.counting.counts import RowProfile
from analogical.scoring.deals import DealMoments
from analogical.scoring.directions import MAX_KINDS, DirectionSums, informative_tables, merge_rare
from analogical.scoring.effect import EffectSums
from analogical.scoring.exact_deals import exact_p_values

__all__ = ["FeatureSummary", "summarise_contexts"]

FEW_ROWS = 200
"""Up to so many rows in contexts with two values and two labels, p-values are exact where that is quick."""
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
    few: tuple[Floats, Floats] | None
    """The informative contexts as tables, with how often each occurs, if they hold few rows."""
    compared: Bools | None
    """Which values were compared with which, shape (values, values); None for features with very many values."""

    def __add__(self, other: "FeatureSummary") -> "FeatureSummary":
        few = None
        if self.few is not None and other.few is not None:
            few = tuple(np.concatenate(two) for two in zip(self.few, other.few, strict=True))
        compared = None
        if self.compared is not None and other.compared is not None:
            compared = self.compared | other.compared
        return FeatureSummary(
            self.profile + other.profile,
            self.effect + other.effect,
            self.deals + other.deals,
            self.direction + other.direction,
            few if few is None or _n_rows(*few) <= FEW_ROWS else None,  # type: ignore[arg-type]
            compared,
        )

    def p_values(self) -> tuple[float, float]:
        """P-values of the test in any direction and of that in a common one; NaN where nothing tells."""
        p_any, p_direction = self.deals.p_value(), self.direction.p_value()
        if self.few is None or math.isnan(p_direction):
            return p_any, p_direction
        exact = exact_p_values(
            *self.few, self.direction.deviation, self.direction.covariance, with_any=not math.isnan(p_any)
        )
        return exact or (p_any, p_direction)

    @property
    def n_told(self) -> float:
        """Share of the pairs that the test in any direction rests on."""
        return self.effect.n_pairs / self.profile.n_pairs


def summarise_contexts(rows: CodedRows | Margins) -> "partial[FeatureSummary]":
    """The function that summarises the contexts of a feature of these rows: (feature, contexts) to summary."""
    return partial(_summarise, rows, merge_rare(rows.label_sizes()))


def _summarise(rows: CodedRows | Margins, label_kinds: Ints, feature: int, contexts: Contexts) -> FeatureSummary:
    n_values = int(rows.n_values[feature])
    value_kinds = merge_rare(rows.value_sizes(feature)) if n_values > MAX_KINDS else np.arange(n_values)
    tables, times = informative_tables(contexts, value_kinds, label_kinds)
    return FeatureSummary(
        profile=contexts.profile,
        effect=EffectSums.of(contexts),
        deals=DealMoments.of(contexts),
        direction=DirectionSums.of_tables(tables, times),
        few=(tables, times) if _n_rows(tables, times) <= FEW_ROWS else None,
        compared=_compared(contexts, n_values) if n_values <= MAX_COVERED else None,
    )


def _n_rows(tables: Floats, times: Floats) -> float:
    return float(tables.sum(axis=(1, 2)) @ times)


def _compared(contexts: Contexts, n_values: int) -> Bools:
    """Which two values some context holds."""
    holds = np.zeros((len(contexts), n_values), np.float32)
    holds[contexts.owner, contexts.values] = 1
    compared: Bools = holds.T @ holds > 0
    np.fill_diagonal(compared, False)
    return compared
