"""Effect and noise: how much of the index a feature explains, and how much identical rows differ anyway.

For values a and b of a feature in one context, with label shares p_a and p_b,

    P(labels differ across a and b) = (P(differ within a) + P(differ within b)) / 2  +  |p_a - p_b|^2 / 2

so the index is noise plus effect. Where a value has two rows or more, how often its labels differ is estimated without
bias from pairs of its own rows, which are identical. The effect is the mean over all pairs of rows of such values of
(labels differ) - (mean of the two within-value rates): without bias, 0 in expectation exactly where the feature changes
no label share, and the index itself where labels have no noise. With two classes its root is the root mean square of
the difference in label shares.
"""

import math
from dataclasses import dataclass

import numpy as np

from analogical._types import Floats, Ints
from analogical.count.contexts import Contexts, Stack
from analogical.count.counts import RowProfile
from analogical.estimate.intervals import jackknife_variance

__all__ = ["EffectSums", "skewed_interval"]


@dataclass(frozen=True)
class EffectSums:
    """Sums over the pairs of a feature whose values both have repeated rows.

    The arrays say what is lost without a row, for each entry of the profile: pairs, and the sum of effects over pairs.
    """

    profile: RowProfile
    """How many rows sit in how many of these pairs."""
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
        told = repeated.contexts
        if not len(told):
            nothing, no_pulls = np.zeros(0, np.int64), np.zeros(0)
            return [cls(RowProfile(nothing, nothing, nothing), 0.0, nothing, no_pulls)] * stack.n_features
        n, first = told.value_parts.sizes, told.value_starts  # rows of each value of each context
        value = told.value_of_cell
        agreeing = np.add.reduceat(told.sizes * (told.sizes - 1), first)
        within = 1 - agreeing / (n * (n - 1))
        owner = told.value_parts.owner
        others = told.n_rows[owner] - n  # rows of the other values
        # Sums over the values of each context: of n w and of n w (rows of other values); half the latter is its noise.
        disagreeing = np.bincount(owner, weights=n * within).astype(np.float64)
        doubled_noise = np.bincount(owner, weights=n * within * others)
        lost_pairs, lost_noise = _losses(told, n, within, agreeing, disagreeing)
        lost_changed = np.where(n[value] > 2, told.changed, np.add.reduceat(told.sizes * told.changed, first)[value])
        lost_effect = lost_changed - lost_noise
        rows = told.sizes * told.times[told.owner]
        noise = (repeated.sums(told.times * doubled_noise) / 2).tolist()
        return [
            cls(
                RowProfile(told.pairs[cells], told.changed[cells], rows[cells]),
                noise[k],
                lost_pairs[cells],
                lost_effect[cells],
            )
            for k, cells in enumerate(repeated.cells())
        ]

    @property
    def n_pairs(self) -> int:
        """Pairs that the effect rests on."""
        return self.profile.n_pairs

    def effect(self) -> float:
        """The effect; NaN if no value repeats beside another one that does."""
        return (self.profile.n_changed - self.noise) / self.n_pairs if self.n_pairs else math.nan

    def noise_rate(self) -> float:
        """How often labels differ by noise alone, in the contexts of these pairs."""
        return self.noise / self.n_pairs if self.n_pairs else math.nan

    def variance(self, n_rows: int) -> float:
        """Variance of the effect by leaving out one row of n_rows at a time."""
        total = self.effect() * self.n_pairs
        return jackknife_variance(self.n_pairs, total, self.lost_pairs, self.lost_effect, self.profile.rows, n_rows)


def skewed_interval(effect: float, variance: float, quantile: float) -> tuple[float, float]:
    """Interval of an effect whose variance grows with it.

    An effect is half a squared difference, so its variance is about proportional to it, and an estimate that happens to
    be small comes with a variance that is too small. The upper end solves (x - effect)^2 = q^2 b x with b the variance
    per effect, as Wilson's interval does for a share; the lower end is the usual one. Effects are not negative, so the
    upper end starts from 0 where the estimate is.
    """
    std_error = math.sqrt(variance)
    slope = variance / max(effect, 2 * std_error) if variance > 0 else 0.0
    shift = quantile**2 * slope / 2
    high = max(effect, 0.0) + shift + quantile * math.sqrt(variance + quantile**2 * slope**2 / 4)
    return max(effect - quantile * std_error, 0.0), min(high, 1.0)


def _losses(told: Contexts, n: Ints, within: Floats, agreeing: Ints, disagreeing: Floats) -> tuple[Ints, Floats]:
    """Pairs and noise that are lost without one row of each cell.

    Without a row, a value of n > 2 rows keeps n - 1 and its within-value rate is estimated from those; a value of two
    rows has no such rate any more, and all of its pairs are lost. In a context of N rows, with g = sum of n w over its
    values, the noise of the pairs is the sum of n w (N - n) / 2.
    """
    value = told.value_of_cell
    n_v, w, g = n[value].astype(np.float64), within[value], disagreeing[told.owner]
    others = told.n_rows[told.owner] - n_v
    is_last = n_v == 2
    left_agreeing = agreeing[value] - 2.0 * (told.sizes - 1)
    left_within = 1 - left_agreeing / np.where(is_last, 1.0, (n_v - 1) * (n_v - 2))
    doubled = n_v * w * others + np.where(is_last, 2.0, 1.0) * (g - n_v * w)
    doubled -= np.where(is_last, 0.0, (n_v - 1) * left_within * others)
    pairs = np.where(is_last, 2 * others, others)
    return pairs.astype(np.int64), doubled / 2
