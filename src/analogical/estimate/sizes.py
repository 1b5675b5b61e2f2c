"""The size of an effect: the part that all contexts share, and the part that differs between them.

The effect is the mean over pairs of half the squared distance between the label shares of their two values. If rows
repeat there is an unbiased estimate (``effect``), but a squared difference is unstable in small contexts. A *common*
difference is stable: least squares with a constant for each context gives one share per value and label (for two values
the difference of Mantel and Haenszel), and half its square, minus its variance, is the common part of the effect. It
needs no repeated rows, and it is 0 for an exclusive or. The difference v between the whole effect and the common part
has the weight v^2 / (v^2 + variance): little if it is mostly chance. On 408 features of known rules the root of the sum
has a root mean square error of .052, the whole effect alone of .062, the common part alone of .193, the larger of the
two of .050, but that trusts a difference between two pairs of rows.
"""

import math
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from itertools import pairwise, product
from typing import Any, NamedTuple

import numpy as np
from scipy.special import stdtrit

from analogical._types import CodedRows, Floats, Ints, Positions
from analogical.count.contexts import Contexts, Stack
from analogical.count.counts import RowProfile
from analogical.count.given import Cells
from analogical.count.groups import merge_rare
from analogical.estimate.directions import diagonals
from analogical.estimate.effect import EffectSums, skewed_interval
from analogical.estimate.intervals import FEWEST_FREE, LEAST, MANY, share_interval, t_quantile

__all__ = ["ROUNDING", "CommonDifference", "Size", "ValueDifference", "measure_size_of_units", "measure_sizes"]

MOST_VALUES = 64
"""Largest number of values, and of labels, in the common difference; the rarest of more are merged: the cost grows with
the cube."""
PSEUDO_ROWS = 4.0
"""Rows of a value for which the variance of its share is doubled: two rows with equal labels do not show that there is
no variance (Agresti and Coull add four rows, half of them with the label)."""
ROUNDING = 1e-9
"""Differences of shares, and their standard errors, below this are rounding error."""


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
class _Cells:
    """Rows of the contexts of several features by value, label and unit; rare values and labels are merged."""

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
    unit: Positions | None = None

    def by_context(self, kind: Positions, n_kinds: int) -> Floats:
        """Rows of each context by value or by label."""
        n_contexts = len(self.times)
        flat = np.bincount(self.context * n_kinds + kind, self.sizes, minlength=n_contexts * n_kinds)
        return flat.astype(np.float64).reshape(n_contexts, n_kinds)

    def products(self, first: Floats, weight: Floats, second: Floats) -> Floats:
        """For each feature the sum over its contexts of weight times first x second."""
        spans = [slice(start, stop) for start, stop in pairwise(self.bounds)]
        return np.stack([(first[own] * weight[own, None]).T @ second[own] for own in spans])


def common_differences(cells: _Cells) -> list[CommonDifference]:
    """Least squares of label shares on values, with a constant for each context; for each feature.

    With x a row's value as an indicator minus the mean of its context, A = sum of x x' and u = sum of x y, the shares
    are A^+ u and their covariance is A^+ (sum over units of s s') A^+, where s is the sum of x e over the rows of a
    unit and e the residual of the label. The residual of a row is too small by its leverage h; h times the label
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
    own, both = _at_mean(cells, mean_value, inverse, owner, value)
    leverage = 1 / n[owner] + inverse[feature[owner], value, value] - 2 * own + both[owner]
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
        if cells.unit is None:
            in_context = (mean * n + overall[feature, label]) / (n + 1)
            of_label = (table[:, :, label] + 1) / (of_value + 2)
            variance = leverage * (in_context * (1 - in_context))[owner]
            variance += (few * of_label * (1 - of_label))[feature[owner], value]
            spread = np.bincount(cell, cells.sizes * left**2, minlength=len(owner)) + rows * variance
            meat = _meat(cells, feature, owner, value, spread * t[owner], mean_value)
        else:
            meat = _meat_of_units(cells, left, mean_value)[None]
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
        cells = _Cells(
            contexts.owner,
            _placed(values, some, contexts.values),
            _placed(labels, some, contexts.labels),
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
        index, (_, index_high) = _share(contexts.profile), share_interval(contexts.profile, n_rows, confidence)
        return Size(max(effect, index), low, max(high, index_high), common, *kinds)
    if not whole.n_pairs:  # rows repeat for one value only: there is no unbiased estimate
        return Size(effect, min(low, max(effect, 0.0)), max(high, effect), common, *kinds)
    if whole.noise <= 1e-12 * whole.n_pairs:  # labels without noise: the effect is a share of pairs
        low, high = share_interval(whole.profile, n_rows, confidence)
        return Size(whole.effect(), low, high, common, *kinds, whole.noise_rate())
    varies = whole.effect() - effect
    if varies > 0:
        variance = _variance(whole, n_rows)
        share = varies**2 / (varies**2 + variance)
        whole_low, whole_high = skewed_interval(whole.effect(), variance, quantile)
        effect += share * varies
        low += share * max(whole_low - low, 0.0)
        high = max(high, whole_high)
    return Size(effect, min(low, max(effect, 0.0)), max(high, effect), common, *kinds, whole.noise_rate())


def _variance(whole: EffectSums, n_rows: int) -> float:
    """Variance of the whole effect; with few effective pairs at least that of a share of as many independent pairs.

    A value of two rows has no pairs without one of them, so the jackknife underestimates its variance.
    """
    variance = whole.variance(n_rows)
    n_kish = max(whole.profile.n_effective, LEAST)
    share = _share(whole.profile)
    return max(variance, share * (1 - share) / n_kish) if n_kish < MANY else variance


def measure_size_of_units(rows: CodedRows, confidence: float, *, within: bool) -> Size:
    """Effect of the feature in column 0, given the columns between it and the unit of each row, the last column.

    ``within`` gives the unit too. Rows of the same unit may depend on each other: repeated rows of one unit do not show
    the noise, so this is the common part alone, with a variance between units.
    """
    unit = np.unique(rows.codes[:, -1], return_inverse=True)[1]
    contexts = Cells.by(rows, range(rows.n_features - (1 if within else 2), 0, -1))
    n_values, n_labels = int(rows.n_values[0]), rows.n_labels
    weights = rows.weights_or_ones().astype(np.float64)
    values = _places(rows.codes[:, 0], weights, n_values)
    labels = _places(rows.labels, weights, n_labels)
    cells = _Cells(
        contexts.of_row,
        values[rows.codes[:, 0]],
        labels[rows.labels],
        weights,
        np.ones(len(contexts)),
        [0, len(contexts)],
        int(values.max()) + 1,
        int(labels.max()) + 1,
        unit,
    )
    (common,) = common_differences(cells)
    if not common.pairs.any():
        return Size(math.nan, math.nan, math.nan, common, values, labels)
    n_units = int(unit.max()) + 1
    quantile = float(stdtrit(max(n_units - 1, 1), (1 + confidence) / 2))
    effect, (low, high) = common.effect(), common.interval(quantile)
    return Size(effect, min(low, max(effect, 0.0)), max(high, effect), common, values, labels)


def _places(codes: Any, weights: Floats, n: int) -> Ints:
    """The position of each of n codes in the common difference."""
    return merge_rare(np.bincount(codes, weights, minlength=n), MOST_VALUES)


def _placed(places: Sequence[Ints], stack: Stack, codes: Any) -> Positions:
    """The position of the code of each cell, from the positions of the codes of each feature."""
    firsts = np.cumsum([0, *map(len, places)])
    placed: Positions = np.concatenate(places)[firsts[stack.feature_of_cell] + codes]
    return placed


def _at_mean(
    cells: _Cells, mean_value: Floats, inverse: Floats, owner: Positions, value: Positions
) -> tuple[Floats, Floats]:
    """For the mean m of each context: A^+ m at each of its values, and m' A^+ m."""
    spans = enumerate(slice(start, stop) for start, stop in pairwise(cells.bounds))
    at_mean = np.concatenate([mean_value[own] @ inverse[k] for k, own in spans])
    return at_mean[owner, value], np.einsum("cv,cv->c", at_mean, mean_value)


def _meat(
    cells: _Cells, feature: Positions, owner: Positions, value: Positions, spread: Floats, mean_value: Floats
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


def _meat_of_units(cells: _Cells, left: Floats, mean_value: Floats) -> Floats:
    """Sum over units of s s', where s is the sum of x e over the rows of a unit."""
    from scipy.sparse import csr_array

    unit = cells.unit if cells.unit is not None else np.zeros(0, np.intp)
    score = cells.sizes * left
    n_units = int(unit.max()) + 1
    own = csr_array((score, (unit, cells.value)), shape=(n_units, cells.n_values)).toarray()
    of_context = csr_array((score, (unit, cells.context)), shape=(n_units, len(mean_value)))
    s = own - of_context @ mean_value
    return np.asarray(s.T @ s * n_units / max(n_units - 1, 1))


def _share(profile: RowProfile) -> float:
    """Share of the pairs whose labels differ."""
    return profile.n_changed / profile.n_pairs
