"""The size of an effect, with its interval: the part that all contexts share, and the part that differs between them.

*Effect and noise.* For values a and b of a feature in one context, with label shares p_a and p_b,

    P(labels differ across a and b) = (P(differ within a) + P(differ within b)) / 2  +  |p_a - p_b|^2 / 2

so the index is noise plus effect: the mean over pairs of half the squared distance between the label shares of their
two values. If a value has two rows or more, pairs of its own rows, which are identical, estimate without bias how often
its labels differ. The *whole* effect is the mean over all pairs of rows of such values of (labels differ) - (mean of
the two within-value rates). It is unbiased: 0 in expectation if the feature changes no label share, and the index
itself if labels have no noise. With two classes its root is the root mean square difference of label shares.

*The common part.* A squared difference is unstable in small contexts. A common difference is stable: least squares with
a constant for each context gives one share per value and label (for two values the difference of Mantel and Haenszel),
and half its square, minus its variance, is the common part of the effect. It needs no repeated rows, and it is 0 for an
exclusive or. The difference v between the whole effect and the common part has the weight v^2 / (v^2 + variance):
little if it is mostly chance. On 408 features of known rules the root of the sum has a root mean square error of .052,
the whole effect alone of .062, the common part alone of .193, the larger of the two of .050, but that trusts a
difference between two pairs of rows.

*Standard errors of shares of pairs.* One row is in many pairs, so pairs are not independent. For a feature with P
pairs, C of them changed, theta = C / P, and a row r in d_r pairs, c_r of them changed, the index without row r is
(C - c_r) / (P - d_r): the jackknife over rows in closed form. A pair depends on two rows, so the jackknife counts the
variance of single pairs, theta (1 - theta) / P, twice; it is subtracted once (Efron and Stein 1981; the same correction
makes a variance robust to dyads, Aronow et al. 2015).
"""

import math
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from itertools import pairwise, product
from statistics import NormalDist
from typing import Any, NamedTuple

import numpy as np
from scipy.special import stdtrit

from analogical._types import CodedRows, Floats, Ints, Positions
from analogical.count.contexts import Contexts, Stack
from analogical.count.counts import RowProfile
from analogical.count.given import RowContexts
from analogical.count.groups import merge_rare

__all__ = [
    "ROUNDING",
    "CommonDifference",
    "EffectSums",
    "Size",
    "ValueDifference",
    "corrected_variance",
    "diagonals",
    "jackknife_variance",
    "measure_size_of_groups",
    "measure_sizes",
    "share_interval",
    "share_variance",
    "skewed_interval",
    "student_quantile",
    "t_quantile",
    "upper_end",
    "wilson",
]

ROUNDING_SHARE = 1e-12
"""A variance below this share of the variances that it is computed from is rounding error."""
MANY = 30
"""Effective rows, pairs, or degrees of freedom, from which a sum is treated as normal: the usual convention."""
FEWEST_FREE = 3.0
"""Smallest degrees of freedom: with fewer, Student's quantile is too large to be useful."""
MOST_VALUES = 64
"""Largest number of values, and of labels, in the common difference; the rarest of more are merged: the cost grows with
the cube."""
PSEUDO_ROWS = 4.0
"""Rows of a value for which the variance of its share is doubled: two rows with equal labels do not show that there is
no variance (Agresti and Coull add four rows, half of them with the label)."""
ROUNDING = 1e-9
"""Differences of shares, and their standard errors, below this are rounding error."""


def share_interval(profile: RowProfile, n_rows: int, confidence: float) -> tuple[float, float]:
    """Interval of the share of changed pairs in a table of n_rows rows.

    Wilson's interval for a share, on the number of independent pairs that would have this variance. Where no pair or
    every pair changed the variance is 0, and Kish's effective number of pairs is used. A row with a rare value is in
    hundreds of pairs: where Kish's number is small, it is an upper limit, and where few rows dominate the variance,
    Student's quantile replaces the normal one.
    """
    share, variance = profile.n_changed / profile.n_pairs, share_variance(profile, n_rows)
    pair_variance, n_kish = share * (1 - share), max(profile.n_effective, 0.5)  # 0.5: that of pairs within one group
    n = pair_variance / variance if variance > 0 and pair_variance > 0 else n_kish  # a share may be rounded to 1
    if n_kish < MANY:
        n = min(n, n_kish)
    pulls = np.asarray(share * profile.pairs - profile.changed, np.float64) * (variance > 0)
    return wilson(share, min(n, profile.n_pairs), student_quantile(pulls, profile.rows, confidence))


def share_variance(profile: RowProfile, n_rows: int) -> float:
    """Variance of the share of changed pairs in a table of n_rows rows."""
    n_pairs, n_changed = profile.n_pairs, profile.n_changed
    share = n_changed / n_pairs
    variance = jackknife_variance(n_pairs, n_changed, profile.pairs, profile.changed, profile.rows, n_rows)
    return corrected_variance(variance, share * (1 - share) / n_pairs)


def jackknife_variance(n_pairs: int, total: float, pairs: Ints, parts: Ints | Floats, rows: Ints, n_rows: int) -> float:
    """Variance of total / n_pairs by leaving out one row of n_rows at a time.

    ``rows`` rows are in ``pairs`` pairs each, which contribute ``parts`` to ``total``; rows without pairs may be left
    out of these arrays. A row that is in every pair leaves no pairs: since parts - ratio * pairs is 0 for it, it counts
    as changing nothing.
    """
    ratio = total / n_pairs
    remaining = n_pairs - pairs
    moves = np.where(remaining > 0, (ratio * pairs - parts) / np.maximum(remaining, 1), 0.0)
    mean = float((rows * moves).sum()) / n_rows
    n_without = n_rows - int(rows.sum())  # rows without pairs change nothing
    squares = float((rows * (moves - mean) ** 2).sum()) + n_without * mean**2
    return (n_rows - 1) / n_rows * squares


def corrected_variance(jackknife: float, pair_variance: float) -> float:
    """The jackknife variance minus the variance of single pairs, which it counts twice.

    The true variance is between half of the jackknife variance and all of it, whatever the pairs share.
    """
    variance = min(max(jackknife - pair_variance, jackknife / 2), jackknife)
    return variance if variance > max(ROUNDING_SHARE * pair_variance, 1e-24) else 0.0


def student_quantile(pulls: Floats, rows: Ints, confidence: float) -> float:
    """Quantile for an interval whose variance is the sum of squared ``pulls``, of ``rows`` rows each.

    If few rows dominate the sum, it is uncertain itself: Student's t with Satterthwaite's degrees of freedom,
    (sum u^2)^2 / sum u^4.
    """
    squares = pulls.astype(np.float64) ** 2
    fourth = float((rows * squares**2).sum())
    return t_quantile(float((rows * squares).sum()) ** 2 / fourth if fourth > 0 else math.inf, confidence)


def t_quantile(freedom: float, confidence: float) -> float:
    """Two-sided quantile of Student's t with 3 degrees of freedom or more, from 30 on of the normal distribution."""
    if freedom >= MANY:
        return NormalDist().inv_cdf((1 + confidence) / 2)
    from scipy.special import stdtrit

    return float(stdtrit(max(freedom, FEWEST_FREE), (1 + confidence) / 2))


def upper_end(effect: float, variance: float, slope: float, quantile: float) -> float:
    """Upper end of the interval of an effect whose variance grows with it, at most 1.

    The end x solves (x - effect)^2 = q^2 (variance + slope (x - effect)), as in Wilson's interval for a share. A
    negative effect counts as 0.
    """
    half = quantile**2 * slope / 2
    return min(max(effect, 0.0) + half + math.sqrt(half**2 + quantile**2 * variance), 1.0)


def wilson(share: float, n: float, quantile: float) -> tuple[float, float]:
    """Wilson's interval for a share of n independent trials; n need not be whole."""
    z2 = quantile**2
    middle = (share + z2 / (2 * n)) / (1 + z2 / n)
    half = math.sqrt(z2 / n * (share * (1 - share) + z2 / (4 * n))) / (1 + z2 / n)
    return (0.0 if share == 0 else max(middle - half, 0.0)), (1.0 if share == 1 else min(middle + half, 1.0))


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


@dataclass(frozen=True)
class CommonDifference:
    """Shares of each label by value that are common to all contexts, up to a constant."""

    shares: Floats
    """Shape (labels, values)."""
    covariance: Floats
    """Shape (labels, values, values)."""
    pairs: Floats
    """Shape (values, values): pairs of rows of two values, over all contexts."""

    squared: float = math.nan
    """Half the mean squared difference, not corrected for its bias."""
    bias: float = math.nan
    """Bias of ``squared``, from the variance of the shares."""
    slope: float = math.nan
    """Standard error of ``squared`` for a large difference."""
    spread: float = math.nan
    """Standard error of ``squared`` without any difference."""

    def effect(self) -> float:
        """The common part of the effect, unbiased; may be negative, and is at most 1."""
        return min(self.squared - self.bias, 1.0)

    def interval(self, quantile: float) -> tuple[float, float]:
        """Interval of the common part, computed for its root, whose error does not depend on its size."""
        effect = max(self.effect(), 0.0)
        error = self.slope / math.sqrt(self.squared) if self.squared > ROUNDING**2 else 0.0
        root = math.sqrt(effect)
        low = max(root - quantile * error, 0.0) ** 2
        return low, min(max((root + quantile * error) ** 2, effect + quantile * self.spread), 1.0)

    def between(self, first: int, second: int, label: int) -> tuple[float, float]:
        """Share of the label with the second value minus that with the first, and its standard error."""
        cov = self.covariance[label]
        variance = cov[first, first] + cov[second, second] - 2 * cov[first, second]
        share = self.shares[label]
        return float(share[second] - share[first]), math.sqrt(max(float(variance), 0.0))


class ValueDifference(NamedTuple):
    """How much more often a value has a label than another value; values and label are codes."""

    against: int
    value: int
    label: int
    difference: float
    """Share of the label with the value less that with the other one, as far as all contexts agree; -1 to 1."""
    error: float
    """Its standard error."""

    def points(self, confidence: float) -> tuple[float, float, float]:
        """The difference and its interval in percentage points, rounded because sums have rounding errors."""
        reach = t_quantile(math.inf, confidence) * self.error
        ends = (self.difference + move for move in (0.0, -reach, reach))
        point, low, high = (round(100 * min(max(end, -1.0), 1.0), 9) for end in ends)
        return point, low, high


@dataclass(frozen=True)
class Size:
    """An effect with its interval."""

    effect: float
    low: float
    high: float
    common: CommonDifference
    values: Ints
    """Position of each value of the feature in the common difference."""
    labels: Ints
    noise_rate: float = math.nan
    """How often labels differ by noise alone; NaN without repeated rows."""

    def clearest_difference(self, values: Iterable[tuple[int, int]], labels: Iterable[int]) -> ValueDifference | None:
        """Of pairs of values, the reference first, and labels the difference that is largest for its standard error."""
        differences = []
        for (against, value), label in product(values, labels):
            places = int(self.values[against]), int(self.values[value]), int(self.labels[label])
            differences.append(ValueDifference(against, value, label, *self.common.between(*places)))
        # rounded, so that rounding errors of sums do not decide which value is named
        return max(
            differences,
            key=lambda d: (round(abs(d.difference) / max(d.error, ROUNDING), 6), d.difference > 0),
            default=None,
        )


@dataclass(frozen=True)
class _WeightedRows:
    """Rows of the contexts of several features by value, label and group; rare values and labels are merged."""

    context: Positions
    value: Positions
    label: Positions
    sizes: Floats
    times: Floats
    """How often each context occurs."""
    bounds: list[int]
    """Bounds of the contexts of each feature."""
    n_values: int
    n_labels: int
    group: Positions | None = None

    def by_context(self, kind: Positions, n_kinds: int) -> Floats:
        """Rows of each context by value or by label."""
        n_contexts = len(self.times)
        flat = np.bincount(self.context * n_kinds + kind, self.sizes, minlength=n_contexts * n_kinds)
        return flat.astype(np.float64).reshape(n_contexts, n_kinds)

    def products(self, first: Floats, weight: Floats, second: Floats) -> Floats:
        """For each feature the sum over its contexts of weight times first x second."""
        spans = [slice(start, stop) for start, stop in pairwise(self.bounds)]
        return np.stack([(first[own] * weight[own, None]).T @ second[own] for own in spans])


def common_differences(cells: _WeightedRows) -> list[CommonDifference]:
    """Least squares of label shares on values, with a constant for each context; for each feature.

    With x a row's value as an indicator minus the mean of its context, A = sum of x x' and u = sum of x y, the shares
    are A^+ u and their covariance is A^+ (sum over groups of s s') A^+, where s is the sum of x e over the rows of a
    group and e the residual of the label. The residual of a row is too small by its leverage h; h times the label
    variance in its context is added, and for values of few rows a part of the variance of their own share.
    """
    n_values, n_labels, t = cells.n_values, cells.n_labels, cells.times
    n_features = len(cells.bounds) - 1
    feature = np.repeat(np.arange(n_features), np.diff(cells.bounds))  # of each context
    mean_value = cells.by_context(cells.value, n_values)
    mean_label = cells.by_context(cells.label, n_labels)
    owner, value = np.nonzero(mean_value)  # one entry for each context and value
    rows = mean_value[owner, value]
    n: Floats = mean_value @ np.ones(n_values)
    mean_value /= n[:, None]
    mean_label /= n[:, None]
    place = (feature[cells.context] * n_values + cells.value) * n_labels + cells.label
    counts = np.bincount(place, cells.sizes * t[cells.context], minlength=n_features * n_values * n_labels)
    table: Floats = counts.astype(np.float64).reshape(n_features, n_values, n_labels)
    of_value = table.sum(axis=2)
    pairs = cells.products(mean_value, t * n, mean_value * n[:, None])
    squares = diagonals(of_value) - cells.products(mean_value, t * n, mean_value)
    moved = table - cells.products(mean_value, t * n, mean_label)
    inverse: Floats = np.linalg.pinv(squares, rcond=1e-9, hermitian=True).astype(np.float64)
    shares = (inverse @ moved).transpose(0, 2, 1)
    # for the mean m of each context A^+ m, and m' A^+ m
    spans = enumerate(slice(start, stop) for start, stop in pairwise(cells.bounds))
    at_mean = np.concatenate([mean_value[own] @ inverse[k] for k, own in spans])
    both = np.einsum("cv,cv->c", at_mean, mean_value)
    leverage = 1 / n[owner] + inverse[feature[owner], value, value] - 2 * at_mean[owner, value] + both[owner]
    leverage = np.clip(leverage, 0.0, 1.0)
    cell = np.searchsorted(owner * n_values + value, cells.context * n_values + cells.value)
    overall = table.sum(axis=1) / np.maximum(of_value.sum(axis=1), 1.0)[:, None]
    few = PSEUDO_ROWS / (of_value + PSEUDO_ROWS)
    covariance = np.zeros((n_features, n_labels, n_values, n_values))
    for label in range(n_labels):
        share, mean = shares[:, label], mean_label[:, label]
        centre = np.einsum("cv,cv->c", mean_value, share[feature])
        fitted = mean[owner] + share[feature[owner], value] - centre[owner]
        left = (cells.label == label) - fitted[cell]
        if cells.group is None:
            in_context = (mean * n + overall[feature, label]) / (n + 1)
            of_label = (table[:, :, label] + 1) / (of_value + 2)
            variance = leverage * (in_context * (1 - in_context))[owner]
            variance += (few * of_label * (1 - of_label))[feature[owner], value]
            spread = np.bincount(cell, cells.sizes * left**2, minlength=len(owner)) + rows * variance
            meat = _meat(cells, feature, owner, value, spread * t[owner], mean_value)
        else:
            meat = _meat_of_groups(cells, left, mean_value)[None]
        covariance[:, label] = inverse @ meat @ inverse
    pairs[:, np.arange(n_values), np.arange(n_values)] = 0.0
    return list(map(CommonDifference, shares, covariance, pairs, *_moments(shares, covariance, pairs)))


def _moments(shares: Floats, covariance: Floats, pairs: Floats) -> tuple[list[float], ...]:
    """For each feature half the mean squared difference, its bias, and its standard errors; NaN without pairs.

    With L and P such that x' L x / P is the mean squared difference of x over pairs.
    """
    laplacian = diagonals(pairs.sum(axis=2)) - pairs
    total = pairs.sum(axis=(1, 2)) / 2
    total = np.where(total > 0, total, math.nan)
    along = shares @ laplacian  # shape (features, labels, values)
    moved = laplacian[:, None] @ covariance
    squared = (along * shares).sum(axis=(1, 2)) / (2 * total)
    bias = moved.trace(axis1=2, axis2=3).sum(axis=1) / (2 * total)
    # at worst labels are fully correlated, so their standard errors are summed
    slope = (along[:, :, None] @ covariance @ along[..., None])[:, :, 0, 0]
    spread = 2 * (moved * moved.transpose(0, 1, 3, 2)).sum(axis=(2, 3))
    errors = (np.sqrt(np.maximum(variance, 0.0)).sum(axis=1) / (2 * total) for variance in (slope, spread))
    return tuple(numbers.tolist() for numbers in (squared, bias, *errors))


def measure_sizes(stack: Stack, n_values: Sequence[int], n_labels: int, n_rows: int, confidence: float) -> list[Size]:
    """Effects of several features in their contexts, with intervals."""
    alike: dict[int, list[int]] = {}
    for k, n in enumerate(n_values):
        alike.setdefault(min(n, MOST_VALUES), []).append(k)
    sizes: dict[int, Size] = {}
    for n, features in alike.items():
        some = stack.part(features)
        contexts = some.contexts
        weights = (contexts.sizes * contexts.times[contexts.owner]).astype(np.float64)
        parts = list(zip(some.cells(), features, strict=True))
        values = [_places(contexts.values[own], weights[own], n_values[k]) for own, k in parts]
        labels = [_places(contexts.labels[own], weights[own], n_labels) for own, _ in parts]
        of_value, of_label = (
            np.concatenate(places)[np.cumsum([0, *map(len, places)])[some.feature_of_cell] + codes]
            for places, codes in ((values, contexts.values), (labels, contexts.labels))
        )
        cells = _WeightedRows(
            contexts.owner,
            of_value,
            of_label,
            contexts.sizes.astype(np.float64),
            contexts.times.astype(np.float64),
            some.bounds.tolist(),
            n,
            min(n_labels, MOST_VALUES),
        )
        freedom = (some.sums(contexts.n_rows * contexts.times) - some.sums(contexts.times) - n + 1).astype(np.float64)
        quantile = stdtrit(np.maximum(freedom, FEWEST_FREE), (1 + confidence) / 2).tolist()
        wholes, commons, split = EffectSums.of_stack(some), common_differences(cells), some.split()
        for place, k in enumerate(features):
            kinds = values[place], labels[place]
            sizes[k] = _size(split[place], commons[place], wholes[place], kinds, n_rows, confidence, quantile[place])
    return [sizes[k] for k in range(stack.n_features)]


def _size(
    contexts: Contexts,
    common: CommonDifference,
    whole: EffectSums,
    kinds: tuple[Ints, Ints],
    n_rows: int,
    confidence: float,
    quantile: float,
) -> Size:
    """The effect of one feature from its common part and its whole."""
    effect, (low, high) = common.effect(), common.interval(quantile)
    if contexts.value_parts.sizes.max() == 1:
        # without repeated rows the labels may have no noise; the index is then the effect
        profile = contexts.profile
        index, (_, index_high) = profile.n_changed / profile.n_pairs, share_interval(profile, n_rows, confidence)
        return Size(max(effect, index), low, max(high, index_high), common, *kinds)
    profile = whole.profile
    if not profile.n_pairs:  # rows repeat for one value only: there is no unbiased estimate
        return Size(effect, min(low, max(effect, 0.0)), max(high, effect), common, *kinds)
    if whole.noise <= 1e-12 * profile.n_pairs:  # labels without noise: the effect is a share of pairs
        low, high = share_interval(profile, n_rows, confidence)
        return Size(whole.effect(), low, high, common, *kinds, whole.noise_rate())
    varies = whole.effect() - effect
    if varies > 0:
        # A value of two rows has no pairs without one of them, so the jackknife underestimates its variance: with few
        # effective pairs it is at least that of a share of as many independent pairs.
        variance, n_kish = whole.variance(n_rows), max(profile.n_effective, 0.5)
        index = profile.n_changed / profile.n_pairs
        variance = max(variance, index * (1 - index) / n_kish) if n_kish < MANY else variance
        share = varies**2 / (varies**2 + variance)
        whole_low, whole_high = skewed_interval(whole.effect(), variance, quantile)
        effect += share * varies
        low += share * max(whole_low - low, 0.0)
        high = max(high, whole_high)
    return Size(effect, min(low, max(effect, 0.0)), max(high, effect), common, *kinds, whole.noise_rate())


def measure_size_of_groups(rows: CodedRows, confidence: float, *, within: bool) -> Size:
    """Effect of the feature in column 0, given the columns between it and the group of each row, the last column.

    ``within`` gives the group too. Rows of the same group may depend on each other, so repeated rows of one group do
    not show the noise: this is the common part alone, with a variance between groups.
    """
    group = np.unique(rows.codes[:, -1], return_inverse=True)[1]
    contexts = RowContexts.by(rows, range(rows.n_features - (1 if within else 2), 0, -1))
    n_values, n_labels = int(rows.n_values[0]), rows.n_labels
    weights = rows.weights_or_ones().astype(np.float64)
    values = _places(rows.codes[:, 0], weights, n_values)
    labels = _places(rows.labels, weights, n_labels)
    cells = _WeightedRows(
        contexts.of_row,
        values[rows.codes[:, 0]],
        labels[rows.labels],
        weights,
        np.ones(len(contexts)),
        [0, len(contexts)],
        int(values.max()) + 1,
        int(labels.max()) + 1,
        group,
    )
    (common,) = common_differences(cells)
    if not common.pairs.any():
        return Size(math.nan, math.nan, math.nan, common, values, labels)
    n_groups = int(group.max()) + 1
    quantile = float(stdtrit(max(n_groups - 1, 1), (1 + confidence) / 2))
    effect, (low, high) = common.effect(), common.interval(quantile)
    return Size(effect, min(low, max(effect, 0.0)), max(high, effect), common, values, labels)


def _places(codes: Any, weights: Floats, n: int) -> Ints:
    """The position of each of n codes in the common difference."""
    return merge_rare(np.bincount(codes, weights, minlength=n), MOST_VALUES)


def _meat(
    cells: _WeightedRows, feature: Positions, owner: Positions, value: Positions, spread: Floats, mean_value: Floats
) -> Floats:
    """Sum of x x' times the spread, with x x' = e_v e_v' - e_v m_c' - m_c e_v' + m_c m_c' for x = e_v - m_c."""
    n_contexts, n_values = mean_value.shape
    by_cell = np.zeros((n_contexts, n_values))
    by_cell[owner, value] = spread
    ones = np.ones(n_contexts)
    across = cells.products(by_cell, ones, mean_value)
    inner = cells.products(mean_value, by_cell @ np.ones(n_values), mean_value)
    n_features = len(across)
    flat = np.bincount(feature[owner] * n_values + value, spread, minlength=n_features * n_values).astype(np.float64)
    meat: Floats = diagonals(flat.reshape(n_features, n_values)) - across - across.transpose(0, 2, 1) + inner
    return meat


def _meat_of_groups(cells: _WeightedRows, left: Floats, mean_value: Floats) -> Floats:
    """Sum over groups of s s', where s is the sum of x e over the rows of a group."""
    from scipy.sparse import csr_array

    group = cells.group if cells.group is not None else np.zeros(0, np.intp)
    score = cells.sizes * left
    n_groups = int(group.max()) + 1
    own = csr_array((score, (group, cells.value)), shape=(n_groups, cells.n_values)).toarray()
    of_context = csr_array((score, (group, cells.context)), shape=(n_groups, len(mean_value)))
    s = own - of_context @ mean_value
    return np.asarray(s.T @ s * n_groups / max(n_groups - 1, 1))


def diagonals(rows: Floats) -> Floats:
    """A diagonal matrix for each row."""
    square = np.zeros((*rows.shape, rows.shape[1]))
    k = np.arange(rows.shape[1])
    square[:, k, k] = rows
    return square
