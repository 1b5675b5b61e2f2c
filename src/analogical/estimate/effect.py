"""Effect and noise: how much of the index a feature explains, and how much identical rows differ anyway.

For values a and b of a feature in one context, with label shares p_a and p_b,

    P(labels differ across a and b) = (P(differ within a) + P(differ within b)) / 2  +  |p_a - p_b|^2 / 2

so the index is noise plus effect. If a value has two rows or more, pairs of its own rows, which are identical, estimate
without bias how often its labels differ. The effect is the mean over all pairs of rows of such values of (labels
differ) - (mean of the two within-value rates). It is unbiased: 0 in expectation if the feature changes no label share,
and the index itself if labels have no noise. With two classes its root is the root mean square difference of label
shares.
"""

import math
from dataclasses import dataclass

import numpy as np

from analogical._types import Floats, Ints
from analogical.count.contexts import Contexts, Stack
from analogical.count.counts import RowProfile
from analogical.estimate.intervals import jackknife_variance, upper_end

__all__ = ["EffectSums", "skewed_interval"]


@dataclass(frozen=True)
class EffectSums:
    """Sums over the pairs of a feature whose values both have repeated rows.

    The arrays have an entry for each entry of the profile: the pairs, and the sum of effects, that are lost without a
    row.
    """

    profile: RowProfile
    """How many rows are in how many of these pairs."""
    noise: float
    """Sum over the pairs of the mean of the two within-value rates."""
    lost_pairs: Ints
    lost_effect: Floats

    @classmethod
    def of(cls, contexts: Contexts) -> "EffectSums":
        """From the contexts of a feature."""
        return cls.of_stack(Stack.of([contexts]))[0]

    @classmethod
    def of_stack(cls, stack: Stack) -> "list[EffectSums]":
        """For each of several features, from their contexts."""
        repeated = stack.with_repeats()
        contexts = repeated.contexts
        if not len(contexts):
            nothing, no_pulls = np.zeros(0, np.int64), np.zeros(0)
            return [cls(RowProfile(nothing, nothing, nothing), 0.0, nothing, no_pulls)] * stack.n_features
        n, first = contexts.value_parts.sizes, contexts.value_starts  # rows of each value of each context
        value, owner = contexts.value_of_cell, contexts.value_parts.owner
        agreeing = np.add.reduceat(contexts.sizes * (contexts.sizes - 1), first)
        within = 1 - agreeing / (n * (n - 1))
        others = contexts.n_rows[owner] - n  # rows of the other values
        # Sums over the values of each context: of n w and of n w (rows of other values); half the latter is its noise.
        disagreeing = np.bincount(owner, weights=n * within).astype(np.float64)
        doubled_noise = np.bincount(owner, weights=n * within * others)
        lost_pairs, lost_noise = _losses(contexts, n, within, agreeing, disagreeing)
        of_value = np.add.reduceat(contexts.sizes * contexts.changed, first)
        lost_effect = np.where(n[value] > 2, contexts.changed, of_value[value]) - lost_noise
        rows = contexts.sizes * contexts.times[contexts.owner]
        noise = (repeated.sums(contexts.times * doubled_noise) / 2).tolist()
        return [
            cls(
                RowProfile(contexts.pairs[cells], contexts.changed[cells], rows[cells]),
                noise[k],
                lost_pairs[cells],
                lost_effect[cells],
            )
            for k, cells in enumerate(repeated.cells())
        ]

    @property
    def n_pairs(self) -> int:
        """Pairs that the effect is computed from."""
        return self.profile.n_pairs

    def effect(self) -> float:
        """The effect; NaN if no context has two values with repeated rows."""
        return (self.profile.n_changed - self.noise) / self.n_pairs if self.n_pairs else math.nan

    def noise_rate(self) -> float:
        """How often labels differ by noise alone in these pairs."""
        return self.noise / self.n_pairs if self.n_pairs else math.nan

    def variance(self, n_rows: int) -> float:
        """Variance of the effect by leaving out one row of n_rows at a time."""
        total = self.effect() * self.n_pairs
        return jackknife_variance(self.n_pairs, total, self.lost_pairs, self.lost_effect, self.profile.rows, n_rows)


def skewed_interval(effect: float, variance: float, quantile: float) -> tuple[float, float]:
    """Interval of an effect whose variance grows with it.

    An effect is half a squared difference, so its variance is about proportional to it, and a small estimate has a
    variance that is too small. At the upper end the variance is larger in proportion; the lower end is the usual one.
    """
    std_error = math.sqrt(variance)
    slope = variance / max(effect, 2 * std_error) if variance > 0 else 0.0
    return max(effect - quantile * std_error, 0.0), upper_end(effect, variance, slope, quantile)


def _losses(contexts: Contexts, n: Ints, within: Floats, agreeing: Ints, disagreeing: Floats) -> tuple[Ints, Floats]:
    """The pairs and the noise that are lost without one row, for each cell.

    Without a row, the within-value rate of a value of n > 2 rows is estimated from n - 1 rows; a value of two rows has
    no rate any more, and all of its pairs are lost. In a context of N rows, with g = sum of n w over its values, the
    noise of the pairs is the sum of n w (N - n) / 2.
    """
    value = contexts.value_of_cell
    n_v, w, g = n[value].astype(np.float64), within[value], disagreeing[contexts.owner]
    others = contexts.n_rows[contexts.owner] - n_v
    is_last = n_v == 2
    remaining_agreeing = agreeing[value] - 2.0 * (contexts.sizes - 1)
    remaining_within = 1 - remaining_agreeing / np.where(is_last, 1.0, (n_v - 1) * (n_v - 2))
    doubled = n_v * w * others + np.where(is_last, 2.0, 1.0) * (g - n_v * w)
    doubled -= np.where(is_last, 0.0, (n_v - 1) * remaining_within * others)
    pairs = np.where(is_last, 2 * others, others)
    return pairs.astype(np.int64), doubled / 2
