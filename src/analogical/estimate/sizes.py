"""The size of an effect, with its interval: the part that all contexts share, and the part that differs between them.

*Scores.* A label is a vector of scores: a class is a unit vector, a number is itself. The distance of two labels is
half the squared distance of their scores, so it is 1 for two classes that differ. A single column of scores stands for
two, itself and its negative, so that its distance is the squared difference: the classes 0 and 1 are the numbers 0, 1.

*Effect and noise.* For values a and b of a feature in one context, with mean scores p_a and p_b,

    mean distance across a and b = (mean distance within a + mean distance within b) / 2  +  |p_a - p_b|^2 / 2

so the index is noise plus effect. Pairs of rows of one value show how much its labels differ by noise alone, so the
*whole* effect, over pairs of rows whose values both have two rows or more, is unbiased: 0 in expectation if the feature
changes no mean score, and the index itself if labels have no noise. With two classes its root is the root mean square
difference of label shares, and with numbers that of means.

*The common part.* A squared difference is unstable in small contexts. A common difference is stable: least squares with
a constant for each context gives one mean per value and score (for two values the difference of Mantel and Haenszel),
and half its square, minus its variance, is the common part of the effect. It needs no repeated rows, and it is 0 for an
exclusive or. The difference v between the whole effect and the common part has the weight v^2 / (v^2 + variance):
little if it is mostly chance. On 408 features of known rules the root of the sum has a root mean square error of .052,
the whole effect alone of .062, the common part alone of .193.

*Standard errors of shares of pairs.* One row is in many pairs, so pairs are not independent: the jackknife leaves out
one row at a time. A pair depends on two rows, so the jackknife counts the variance of single pairs, s (1 - s) / P for a
share s of P pairs, twice; it is subtracted once (Efron and Stein 1981; the same correction makes a variance robust to
dyads, Aronow et al. 2015).
"""

import math
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from itertools import pairwise, product
from statistics import NormalDist
from typing import Any, NamedTuple

import numpy as np
from scipy.special import stdtrit

from analogical._types import Floats, Ints, Positions
from analogical.count.contexts import Contexts, RowProfile, Stack
from analogical.count.given import RowContexts
from analogical.count.groups import CodedRows, merge_rare

ROUNDING_SHARE = 1e-12
"""A variance below this share of the variances that it is computed from is rounding error."""
MANY = 30
"""Effective rows, pairs, or degrees of freedom, from which a sum is treated as normal: the usual convention."""
ENOUGH_GROUPS = 5.0
"""Effective groups needed for the test between groups (with fewer, p <= .05 is hardly ever possible), and effective
pairs of groups from which sizes may come from within groups."""
FEWEST_FREE = 3.0
"""Smallest degrees of freedom: with fewer, Student's quantile is too large to be useful."""
MOST_VALUES = 64
"""Largest number of values, and of classes; the rarest of more are merged: the cost grows with the cube."""
PSEUDO_ROWS = 4.0
"""Rows of a value for which the variance of its share is doubled: two rows with equal labels do not show that there is
no variance (Agresti and Coull add four rows, half of them with the label)."""
ROUNDING = 1e-9
"""Differences of shares, and their standard errors, below this are rounding error."""


def class_scores(label_sizes: Ints) -> Floats:
    """The score vector of each class, a unit vector; the rarest of more than 64 classes share the last one."""
    return np.eye(min(len(label_sizes), MOST_VALUES))[merge_rare(label_sizes, MOST_VALUES)]


def share_interval(profile: RowProfile, n_rows: int, confidence: float) -> tuple[float, float]:
    """Interval of the share of changed pairs in a table of n_rows rows.

    Wilson's, on the number of independent pairs that would have this variance. Without a variance it is Kish's
    effective number of pairs, which is an upper limit if it is small: a row with a rare value is in hundreds of pairs.
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
    out. A row that is in every pair changes nothing.
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
    return float(stdtrit(max(freedom, FEWEST_FREE), (1 + confidence) / 2))


def wilson(share: float, n: float, quantile: float) -> tuple[float, float]:
    """Wilson's interval for a share of n independent trials; n need not be whole."""
    z2 = quantile**2
    middle = (share + z2 / (2 * n)) / (1 + z2 / n)
    half = math.sqrt(z2 / n * (share * (1 - share) + z2 / (4 * n))) / (1 + z2 / n)
    return (0.0 if share == 0 else max(middle - half, 0.0)), (1.0 if share == 1 else min(middle + half, 1.0))


@dataclass(frozen=True)
class EffectSums:
    """Sums over the pairs of a feature whose values both have repeated rows.

    The arrays have an entry for each cell: the pairs of one of its rows, their distances, and the pairs and the sum of
    effects that are lost without the row.
    """

    rows: Ints
    pairs: Ints
    distance: Floats
    noise: float
    """Sum over the pairs of the mean of the two distances within values."""
    lost_pairs: Ints
    lost_effect: Floats

    @classmethod
    def of(cls, contexts: Contexts, scores: Floats) -> "EffectSums":
        """From the contexts of a feature, and the scores of each label."""
        return cls.of_stack(Stack.of([contexts]), scores)[0]

    @classmethod
    def of_stack(cls, stack: Stack, scores: Floats) -> "list[EffectSums]":
        """For each of several features, from their contexts; a value of two rows loses all its pairs with either."""
        repeated = stack.with_repeats()
        contexts, weight = repeated.contexts, _weight_of(scores)
        if not len(contexts):
            nothing, nowhere = np.zeros(0, np.int64), np.zeros(0)
            return [cls(nothing, nothing, nowhere, 0.0, nothing, nowhere)] * stack.n_features
        labels, sizes, value = contexts.labels, contexts.sizes, contexts.value_of_cell
        columns, squares = (column[labels] for column in scores.T), (scores**2).sum(axis=1)[labels]
        kinds = contexts.owner, value, np.arange(len(sizes))
        found = _between(kinds, np.ones(len(sizes)), columns, squares, sizes)
        pairs, (distance, effect, lost) = found[0].astype(np.int64), (weight * of_row for of_row in found[1:])
        is_last = contexts.value_sizes == 2
        lost = np.where(is_last, np.add.reduceat(sizes * lost, contexts.value_starts)[value], lost)
        rows, lost_pairs = sizes * contexts.times[contexts.owner], np.where(is_last, 2, 1) * pairs
        noise = repeated.sums_of_cells(rows * (distance / 2 - effect)).tolist()
        return [
            cls(rows[own], pairs[own], distance[own], noise[k], lost_pairs[own], lost[own])
            for k, own in enumerate(repeated.cells())
        ]

    @cached_property
    def profile(self) -> RowProfile:
        """How many rows are in how many of these pairs, and for classes, in how many changed ones."""
        changed = np.minimum(np.rint(self.distance), self.pairs)  # squares of large numbers do not fit into integers
        return RowProfile(self.pairs, changed.astype(np.int64), self.rows)

    @cached_property
    def n_pairs(self) -> int:
        """Pairs that the effect is computed from."""
        return self.profile.n_pairs

    def index(self) -> float:
        """The mean distance of these pairs."""
        return float(self.rows @ self.distance) / (2 * self.n_pairs) if self.n_pairs else math.nan

    def effect(self) -> float:
        """The effect; NaN if no context has two values with repeated rows."""
        return self.index() - self.noise_rate()

    def noise_rate(self) -> float:
        """The mean distance of labels by noise alone in these pairs: for classes, how often they differ."""
        return self.noise / self.n_pairs if self.n_pairs else math.nan

    def variance(self, n_rows: int) -> float:
        """Variance of the effect by leaving out one row of n_rows at a time."""
        total = self.effect() * self.n_pairs
        return jackknife_variance(self.n_pairs, total, self.lost_pairs, self.lost_effect, self.rows, n_rows)


def effect_interval(effect: float, variance: float, quantile: float, largest: float = 1.0) -> tuple[float, float]:
    """Interval of an effect between 0 and the largest one.

    The variance of half a squared difference is about proportional to it: Wilson's interval for as many trials as have
    this variance. That of a small estimate is too small, so it counts as two standard errors from an end.
    """
    if variance <= 0:
        return max(effect, 0.0), min(max(effect, 0.0), largest)
    std_error = math.sqrt(variance)
    edge = min(2 * std_error, largest / 2)
    inside = min(max(effect, edge), largest - edge)
    share = min(max(effect, 0.0), largest) / largest
    low, high = (largest * end for end in wilson(share, inside * (largest - inside) / variance, quantile))
    return min(low, max(effect - quantile * std_error, 0.0)), high


@dataclass(frozen=True)
class CommonDifference:
    """Mean scores by value that are common to all contexts, up to a constant; of classes, their shares."""

    means: Floats
    """Shape (columns of scores, values)."""
    covariance: Floats
    """Shape (columns of scores, values, values)."""
    pairs: Floats
    """Shape (values, values): pairs of rows of two values, over all contexts."""

    squared: float = math.nan
    """Half the mean squared difference, not corrected for its bias."""
    bias: float = math.nan
    """Bias of ``squared``, from the variance of the means."""
    slope: float = math.nan
    """Standard error of ``squared`` for a large difference."""
    spread: float = math.nan
    """Standard error of ``squared`` without any difference."""
    largest: float = 1.0
    """The largest possible effect: 1 for classes."""
    freedom: float = math.inf
    """Of the variance between groups, by Satterthwaite: small if few groups contribute most of it."""

    def effect(self) -> float:
        """The common part of the effect, unbiased; may be negative."""
        return min(self.squared - self.bias, self.largest)

    def interval(self, quantile: float) -> tuple[float, float]:
        """Interval of the common part, computed for its root, whose error does not depend on its size."""
        effect = max(self.effect(), 0.0)
        error = self.slope / math.sqrt(self.squared) if self.squared > ROUNDING**2 * self.largest else 0.0
        root = math.sqrt(effect)
        low = max(root - quantile * error, 0.0) ** 2
        return low, min(max((root + quantile * error) ** 2, effect + quantile * self.spread), self.largest)

    def between(self, first: int, second: int, column: int) -> tuple[float, float]:
        """Mean score with the second value minus that with the first, and its standard error."""
        places = np.arange(self.means.shape[1])
        return self.along((places == second) * 1.0 - (places == first), column)

    def along(self, contrast: Floats, column: int) -> tuple[float, float]:
        """The sum of mean scores times a contrast of the values, and its standard error."""
        variance = contrast @ self.covariance[column] @ contrast
        return float(contrast @ self.means[column]), math.sqrt(max(float(variance), 0.0))


class ValueDifference(NamedTuple):
    """How much larger a score is with a value than with another one: for classes, how much more often it occurs."""

    against: int
    value: int
    column: int
    """Column of the scores."""
    difference: float
    """Mean score with the value less that with the other one, as far as all contexts agree."""
    error: float
    """Its standard error."""

    def interval(self, confidence: float) -> tuple[float, float, float]:
        """The difference and its interval."""
        reach = t_quantile(math.inf, confidence) * self.error
        return self.difference, self.difference - reach, self.difference + reach


@dataclass(frozen=True)
class Size:
    """An effect with its interval."""

    effect: float
    low: float
    high: float
    common: CommonDifference
    values: Ints
    """Position of each value of the feature in the common difference."""
    noise_rate: float = math.nan
    """How often labels differ by noise alone, or half their mean squared distance; NaN without repeated rows."""

    def clearest_difference(self, values: Iterable[tuple[int, int]], columns: Iterable[int]) -> ValueDifference | None:
        """Of pairs of values, the reference first, and scores the difference that is largest for its standard error."""
        differences = []
        for (against, value), column in product(values, columns):
            places = int(self.values[against]), int(self.values[value]), column
            differences.append(ValueDifference(against, value, column, *self.common.between(*places)))
        least = ROUNDING * math.sqrt(self.common.largest)
        # rounded, so that rounding errors of sums do not decide which value is named
        return max(
            differences,
            key=lambda d: (round(abs(d.difference) / max(d.error, least), 6), d.difference > 0),
            default=None,
        )


@dataclass(frozen=True)
class _WeightedRows:
    """Rows of the contexts of several features by value, label and group; rare values are merged.

    Every feature has a context, and the contexts of a feature follow one another.
    """

    context: Positions
    value: Positions
    label: Positions
    sizes: Floats
    times: Floats
    """How often each context occurs."""
    bounds: Positions
    """First context of each feature, and the end of the last one."""
    n_values: int
    group: Positions | None = None

    def sums(self, of_row: Floats) -> Floats:
        """Sums by context and value."""
        n_contexts = len(self.times)
        flat = np.bincount(self.context * self.n_values + self.value, of_row, minlength=n_contexts * self.n_values)
        return flat.astype(np.float64).reshape(n_contexts, self.n_values)

    def totals(self, of_context: Floats) -> Floats:
        """Sums over the contexts of each feature."""
        totals: Floats = np.add.reduceat(of_context, self.bounds[:-1])
        return totals

    def products(self, first: Floats, second: Floats) -> Floats:
        """For each feature the sum over its contexts of first x second."""
        spans = [slice(start, stop) for start, stop in pairwise(self.bounds.tolist())]
        return np.stack([first[own].T @ second[own] for own in spans])


def common_differences(cells: _WeightedRows, scores: Floats, largest: float) -> list[CommonDifference]:
    """Least squares of scores on values, with a constant for each context; for each feature.

    With x a row's value as an indicator minus the mean of its context, A = sum of x x' and u = sum of x y, the means
    are A^+ u and their covariance is A^+ (sum over groups of r r') A^+, where r is the sum of x e over the rows of a
    group and e the residual of the score. The residual of a row is too small by its leverage h; h times the variance of
    the score in its context is added, and for values of few rows a part of the variance of their own mean. Each
    context has one row more, with the overall moments, and each value two, with the smallest and the largest score. For
    numbers these moments are those about the means of contexts, and the two rows have the overall variance.
    """
    n_values, t = cells.n_values, cells.times
    n_features = len(cells.bounds) - 1
    feature = np.repeat(np.arange(n_features), np.diff(cells.bounds))  # of each context
    rows = cells.sums(cells.sizes)
    n: Floats = rows @ np.ones(n_values)
    mean_value = rows / n[:, None]
    weighted = t[:, None] * rows
    of_value = cells.totals(weighted)
    pairs = cells.products(weighted, rows)
    squares = diagonals(of_value) - cells.products(weighted, mean_value)
    inverse: Floats = np.linalg.pinv(squares, rcond=1e-9, hermitian=True).astype(np.float64)
    # for the mean m of each context A^+ m, and m' A^+ m
    at_mean = np.concatenate(
        [mean_value[start:stop] @ inverse[k] for k, (start, stop) in enumerate(pairwise(cells.bounds.tolist()))]
    )
    both = np.einsum("cv,cv->c", at_mean, mean_value)
    leverage = (1 / n + both)[:, None] + inverse.diagonal(axis1=1, axis2=2)[feature] - 2 * at_mean
    leverage = np.clip(leverage, 0.0, 1.0)
    few = PSEUDO_ROWS / (of_value + PSEUDO_ROWS)
    n_rows = of_value.sum(axis=1)[:, None]
    means = np.zeros((n_features, scores.shape[1], n_values))
    covariance = np.zeros((*means.shape, n_values))
    moves: dict[int, Floats] = {}
    for k, column in enumerate(scores.T):
        score, ends = column[cells.label], np.array([column.min(), column.max()])
        is_share = are_shares(column)
        first = cells.sums(cells.sizes * score)
        second = first if is_share else cells.sums(cells.sizes * score**2)
        mean: Floats = first.sum(axis=1) / n
        means[:, k] = mean_of = np.einsum(
            "fvw,fw->fv", inverse, cells.totals(t[:, None] * (first - rows * mean[:, None]))
        )
        fitted = mean_of[feature] + (mean - np.einsum("cv,cv->c", mean_value, mean_of[feature]))[:, None]
        if cells.group is None:
            moments = [first, second]
            if not is_share:  # about the mean of the context, which may be far from the others
                away = mean[:, None]
                moments = [first - rows * away, second - 2 * away * first + rows * away**2]
            totals = [cells.totals(t[:, None] * moment) for moment in moments]
            overall = [(total.sum(axis=1)[:, None] / n_rows)[feature, 0] for total in totals]
            more = [ends.sum(), (ends**2).sum()] if is_share else [0.0, 2 * overall[1][cells.bounds[:-1], None]]
            smooth = [
                (moment.sum(axis=1) + all_rows) / (n + 1) for moment, all_rows in zip(moments, overall, strict=True)
            ]
            of_few = [(total + of_more) / (of_value + 2) for total, of_more in zip(totals, more, strict=True)]
            variance = leverage * (smooth[1] - smooth[0] ** 2)[:, None] + (few * (of_few[1] - of_few[0] ** 2))[feature]
            own = first / np.maximum(rows, 1)
            spread = second - first * own + rows * ((own - fitted) ** 2 + variance)
            meat = _meat(cells, t[:, None] * spread, mean_value)
        else:
            left = score - fitted[cells.context, cells.value]
            of_group = _sums_of_groups(cells, cells.group, left, mean_value)
            moves[k] = of_group @ inverse[0]
            meat = (of_group.T @ of_group)[None]
        covariance[:, k] = inverse @ meat @ inverse
    pairs[:, np.arange(n_values), np.arange(n_values)] = 0.0
    shown = _moments(means, covariance, pairs, _weight_of(scores))
    found = list(map(CommonDifference, means, covariance, pairs, *shown, [largest] * n_features))
    if moves:  # the variance of each group in the bias
        parts = sum(
            ((diagonals(pairs.sum(axis=2)) - pairs)[0] @ move.T * move.T).sum(axis=0) for move in moves.values()
        )
        found[0] = replace(found[0], freedom=float(parts.sum() ** 2 / max((parts**2).sum(), 1e-300)))
    return found


def _moments(means: Floats, covariance: Floats, pairs: Floats, weight: float) -> tuple[list[float], ...]:
    """For each feature half the mean squared difference, its bias, and its standard errors; NaN without pairs.

    With L and P such that x' L x / P is the mean squared difference of x over pairs.
    """
    laplacian = diagonals(pairs.sum(axis=2)) - pairs
    total = pairs.sum(axis=(1, 2)) / 2
    total = np.where(total > 0, total, math.nan) / weight
    along = means @ laplacian  # shape (features, columns, values)
    moved = laplacian[:, None] @ covariance
    squared = (along * means).sum(axis=(1, 2)) / total
    bias = moved.trace(axis1=2, axis2=3).sum(axis=1) / total
    # at worst scores are fully correlated, so their standard errors are summed
    slope = (along[:, :, None] @ covariance @ along[..., None])[:, :, 0, 0]
    spread = 2 * (moved * moved.transpose(0, 1, 3, 2)).sum(axis=(2, 3))
    errors = (np.sqrt(np.maximum(variance, 0.0)).sum(axis=1) / total for variance in (slope, spread))
    return tuple(numbers.tolist() for numbers in (squared, bias, *errors))


def measure_sizes(stack: Stack, scores: Floats, n_values: Sequence[int], n_rows: int, confidence: float) -> list[Size]:
    """Effects of several features in their contexts, with intervals; each feature has contexts.

    ``scores`` has a row for each label code. The size of a number is bounded by the range of its scores.
    """
    scores, largest = _centred(scores)
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
        cells = _WeightedRows(
            contexts.owner,
            np.concatenate(values)[np.cumsum([0, *map(len, values)])[some.feature_of_cell] + contexts.values],
            contexts.labels.astype(np.intp),
            contexts.sizes.astype(np.float64),
            contexts.times.astype(np.float64),
            some.bounds,
            n,
        )
        freedom = (some.sums(contexts.n_rows * contexts.times) - some.sums(contexts.times) - n + 1).astype(np.float64)
        quantile = stdtrit(np.maximum(freedom, FEWEST_FREE), (1 + confidence) / 2).tolist()
        wholes, commons, split = (
            EffectSums.of_stack(some, scores),
            common_differences(cells, scores, largest),
            some.split(),
        )
        for place, k in enumerate(features):
            parts_of = commons[place], wholes[place], values[place]
            sizes[k] = _size(split[place], _is_classes(scores), *parts_of, n_rows, confidence, quantile[place])
    return [sizes[k] for k in range(stack.n_features)]


def _size(
    contexts: Contexts,
    is_classes: bool,
    common: CommonDifference,
    whole: EffectSums,
    values: Ints,
    n_rows: int,
    confidence: float,
    quantile: float,
) -> Size:
    """The effect of one feature from its common part and its whole."""
    effect, (low, high) = common.effect(), common.interval(quantile)
    if is_classes and contexts.value_parts.sizes.max() == 1:
        # without repeated rows the labels may have no noise; the index is then the effect
        profile = contexts.profile
        index, (_, index_high) = profile.n_changed / profile.n_pairs, share_interval(profile, n_rows, confidence)
        return Size(max(effect, index), low, max(high, index_high), common, values)
    if not whole.n_pairs:  # rows repeat for one value only: there is no unbiased estimate
        return Size(effect, min(low, max(effect, 0.0)), max(high, effect), common, values)
    if is_classes and whole.noise <= 1e-12 * whole.n_pairs:  # labels without noise: the effect is a share of pairs
        low, high = share_interval(whole.profile, n_rows, confidence)
        return Size(whole.effect(), low, high, common, values, whole.noise_rate())
    return _combined(common, whole, values, n_rows, quantile)


def _combined(common: CommonDifference, whole: EffectSums, values: Ints, n_units: int, quantile: float) -> Size:
    """The common part, and what varies between contexts with a weight that grows with its size for its error."""
    effect, (low, high) = common.effect(), common.interval(quantile)
    varies = whole.effect() - effect
    if varies > 0:
        # A value of two rows has no pairs without one of them, so the jackknife underestimates its variance: with few
        # effective pairs it is at least the largest variance that as many independent pairs can have.
        variance, n_kish = whole.variance(n_units), max(whole.profile.n_effective, 0.5)
        index = whole.index()
        if n_kish < MANY and common.freedom == math.inf:  # groups may be as few
            variance = max(variance, index * (common.largest - index) / n_kish)
        share = varies**2 / (varies**2 + variance)
        whole_low, whole_high = effect_interval(whole.effect(), variance, quantile, common.largest)
        effect += share * varies
        low += share * max(whole_low - low, 0.0)
        high = max(high, whole_high)
    return Size(effect, min(low, max(effect, 0.0)), max(high, effect), common, values, whole.noise_rate())


def measure_size_of_groups(rows: CodedRows, scores: Floats, confidence: float) -> Size:
    """Effect of the feature in column 0, given the columns between it and the group of each row, the last column.

    Rows of a group may depend on each other, so all estimates come from pairs of groups. Rows are compared between
    groups or within them, whichever has the smaller variance of the common part.
    """
    scores, largest = _centred(scores)
    common, values = common_difference_of_groups(rows, scores)
    inside, _ = common_difference_of_groups(rows, scores, is_within=True)
    group = np.unique(rows.codes[:, -1], return_inverse=True)[1]
    context = RowContexts.by(rows, range(1, rows.n_features - 1)).of_row
    keys = np.stack([context, group, values[rows.codes[:, 0]]]).astype(np.int64)
    cells = _GroupCells.of(keys, rows, scores if scores.shape[1] > 1 else scores - scores.mean())  # as two classes
    whole, whole_inside = cells.between(), cells.within()
    is_better = inside.bias < common.bias and whole_inside.profile.n_effective >= ENOUGH_GROUPS
    if is_better or math.isnan(common.bias):
        common, whole = inside, whole_inside
    if math.isnan(common.bias):
        return Size(math.nan, math.nan, math.nan, common, values)
    n_groups = int(group.max()) + 1
    quantile = float(stdtrit(max(common.freedom, 1.0), (1 + confidence) / 2))
    if whole.n_pairs:
        return _combined(common, whole, values, n_groups, quantile)
    return Size(common.effect(), 0.0, largest, common, values)


def common_difference_of_groups(
    rows: CodedRows, scores: Floats, *, is_within: bool = False
) -> tuple[CommonDifference, Ints]:
    """The common difference of the feature in column 0, and the position of each of its values there.

    Given the columns between it and the group, the last column, and if ``is_within`` given the group, too.
    """
    contexts = RowContexts.by(rows, range(1, rows.n_features - (0 if is_within else 1)))
    weights = rows.weights_or_ones().astype(np.float64)
    values = _places(rows.codes[:, 0], weights, int(rows.n_values[0]))
    cells = _WeightedRows(
        contexts.of_row,
        values[rows.codes[:, 0]],
        rows.labels.astype(np.intp),
        weights,
        np.ones(len(contexts)),
        np.array([0, len(contexts)]),
        int(values.max()) + 1,
        np.unique(rows.codes[:, -1], return_inverse=True)[1],
    )
    return common_differences(cells, *_centred(scores))[0], values


@dataclass(frozen=True)
class _GroupCells:
    """Rows with the same context, group and value, ordered by these: their number, and sums of their scores."""

    keys: Ints
    """Context, group and value of each cell."""
    n: Floats
    scores: Floats
    squares: Floats
    """Sum of |s|^2."""
    weight: float

    @classmethod
    def of(cls, keys: Ints, rows: CodedRows, scores: Floats) -> "_GroupCells":
        """From rows, with the context, group and value of each."""
        cell = _numbers(keys)
        held = keys[:, np.unique(cell, return_index=True)[1]]
        score = scores[rows.labels]
        of_row = np.column_stack([np.ones(len(score)), (score**2).sum(axis=1), score])
        sums = _sums_by(cell, of_row * rows.weights_or_ones()[:, None])
        return cls(held, sums[:, 0], sums[:, 2:], sums[:, 1], _weight_of(scores))

    def between(self) -> EffectSums:
        """Sums over the pairs of rows of different groups and values, both of which several groups of the context have.

        If one of only two groups that have a value is left out, the noise of the value stays.
        """
        kept = _total(_numbers(self.keys[[0, 2]]), self.n) > self.n
        keys = self.keys[:, kept]
        kinds = keys[0].astype(np.intp), _numbers(keys[[0, 2]]), _numbers(keys[:2])
        found = _between(kinds, self.n[kept], self.scores[kept].T, self.squares[kept])
        return self._sums(keys[1], *found[:3], found[0], found[3])

    def within(self) -> EffectSums:
        """Sums over the pairs of rows of one group with different values, both of which several groups have.

        Differences of means are independent in different groups, so their products are free of noise.
        """
        unit, context = _numbers(self.keys[:2]), self.keys[0]
        lags = range(1, int(np.bincount(unit).max(initial=0)))
        firsts = [np.flatnonzero(unit[lag:] == unit[:-lag]) for lag in lags]
        one = np.concatenate([np.zeros(0, np.intp), *firsts])
        two = one + np.repeat(np.array(lags, np.intp), [len(first) for first in firsts])
        kind = _numbers(np.stack([context[one], self.keys[2][one], self.keys[2][two]]))
        n_one, n_two = self.n[one], self.n[two]
        pairs, weight = n_one * n_two, n_one * n_two / (n_one + n_two)
        moved = weight[:, None] * (self.scores[one] / n_one[:, None] - self.scores[two] / n_two[:, None])
        distance = n_two * self.squares[one] + n_one * self.squares[two]
        distance -= 2 * (self.scores[one] * self.scores[two]).sum(axis=1)
        own, own_product = weight * (_total(kind, weight) - weight), (moved * (_total(kind, moved) - moved)).sum(axis=1)
        all_own, all_product, n_kind = (_total(kind, x) for x in (own, own_product, pairs))
        kept = all_own > ROUNDING * n_kind
        left = np.where(kept, all_own - 2 * own, 0.0)
        is_left = left > ROUNDING * n_kind
        mean = all_product / np.where(kept, all_own, 1.0)
        mean_left = np.where(is_left, (all_product - 2 * own_product) / np.where(is_left, left, 1.0), 0.0)
        lost_pairs = np.where(is_left, pairs, n_kind)
        numbers = 2 * pairs, 2 * distance, pairs * mean, lost_pairs, n_kind * mean - (n_kind - lost_pairs) * mean_left
        return self._sums(self.keys[1][one][kept], *(x[kept] for x in numbers))

    def _sums(self, group: Ints, *of_part: Floats) -> EffectSums:
        """From pairs, distances, effect, lost pairs and lost effect of the parts of groups."""
        n_groups = int(self.keys[1].max(initial=0)) + 1
        sums = [np.bincount(group, x, minlength=n_groups).astype(np.float64) for x in of_part]
        pairs, lost_pairs = (np.rint(some).astype(np.int64) for some in (sums[0], sums[3]))
        distance, effect, lost = (self.weight * sums[k] for k in (1, 2, 4))
        noise = float(distance.sum() / 2 - effect.sum())
        return EffectSums(np.ones(n_groups, np.int64), pairs, distance, noise, lost_pairs, lost)


def _between(
    kinds: tuple[Positions, Positions, Positions],
    n: Floats,
    columns: Iterable[Floats],
    squares: Floats,
    copies: Ints | int = 1,
) -> tuple[Floats, Floats, Floats, Floats]:
    """Of each cell its pairs with other units and values, and over these the distances, the effects and what is lost.

    ``kinds`` are the context, value and unit of each cell; it has n rows, with these sums of scores by column and of
    |s|^2, and there are so many copies of it, units of their own. Distances are |s - s'|^2. With M_ab the mean product
    of the scores of rows of a and b of different units, the effect of a pair is M_aa + M_bb - 2 M_ab; half of it is
    the cell's. Without the cell its pairs are lost, and M_aa changes for others.
    """
    context, value, unit = kinds

    def total(kind: Positions, of_cell: Floats) -> Floats:
        return _total(kind, copies * of_cell)

    def away(of_cell: Floats) -> Floats:
        return total(context, of_cell) - total(value, of_cell) - _total(unit, of_cell) + of_cell

    product, own_product = np.zeros((2, len(n)))
    for s in columns:
        product += s * away(s)
        own_product += s * (total(value, s) - s)
    n_v, n_u, others = total(value, n), _total(unit, n), away(n)
    pairs, own = n * others, n * (n_v - n)
    all_own, all_product = total(value, own), total(value, own_product)
    mean, left = all_product / all_own, all_own - 2 * own
    mean_left = np.where(left > 0, (all_product - 2 * own_product) / np.where(left > 0, left, 1.0), mean)
    of_others = (n_v - n) * (n_u - n)  # pairs of the value in other units with other values in this one
    lost = (pairs + of_others - n_u * n_v) * mean + n * total(context, n * mean)
    lost += (total(value, pairs) - pairs - of_others) * (mean - mean_left) - 2 * product
    return pairs, squares * others + n * away(squares) - 2 * product, pairs * mean - product, lost


def _numbers(keys: Ints) -> Positions:
    """The columns of keys numbered in their order, so that equal ones have the same number."""
    numbers = keys[0]
    for key in keys[1:]:
        numbers = np.unique(numbers * (int(key.max(initial=0)) + 1) + key, return_inverse=True)[1]
    return np.asarray(numbers, np.intp)


def _sums_by(kind: Positions, numbers: Floats) -> Floats:
    """Sums of rows of numbers by kind."""
    columns = [np.bincount(kind, column) for column in np.atleast_2d(numbers.T)]
    return np.column_stack(columns)


def _total(kind: Positions, numbers: Floats) -> Floats:
    """For each entry, the sum over entries of its kind."""
    totals: Floats = _sums_by(kind, numbers)[kind].reshape(numbers.shape)
    return totals


def _is_classes(scores: Floats) -> bool:
    """Whether labels are classes: unit vectors, or the numbers 0 and 1."""
    return are_shares(scores) and (scores.shape[1] == 1 or bool((scores.sum(axis=1) == 1).all()))


def are_shares(scores: Floats) -> bool:
    """Whether all scores are 0 or 1, so that their means are shares."""
    return bool(((scores == 0) | (scores == 1)).all())


def _weight_of(scores: Floats) -> float:
    """The weight of squared differences in a distance: half, but a single column stands for itself and its negative."""
    return 1.0 if scores.shape[1] == 1 else 0.5


def _centred(scores: Floats) -> tuple[Floats, float]:
    """Scores about 0, so that sums of squares keep their digits, and the largest possible effect."""
    if _is_classes(scores):
        return scores, 1.0
    return scores - scores.mean(axis=0), _weight_of(scores) * float((np.ptp(scores, axis=0) ** 2).sum())


def _places(codes: Any, weights: Floats, n: int) -> Ints:
    """The position of each of n codes in the common difference."""
    return merge_rare(np.bincount(codes, weights, minlength=n), MOST_VALUES)


def _meat(cells: _WeightedRows, spread: Floats, mean_value: Floats) -> Floats:
    """Sum of x x' times the spread; for x = e_v - m, x x' = e_v e_v' - (e_v - m / 2) m' - m (e_v - m / 2)'."""
    across = cells.products(spread - spread.sum(axis=1)[:, None] / 2 * mean_value, mean_value)
    meat: Floats = diagonals(cells.totals(spread)) - across - across.transpose(0, 2, 1)
    return meat


def _sums_of_groups(cells: _WeightedRows, group: Positions, left: Floats, mean_value: Floats) -> Floats:
    """For each group s, the sum of x e over its rows, as if the residuals e came from a fit without the group.

    The leverage of a group is about its share of the rows of the value, and of the context, less that of all rows; the
    constant of a context that is in one group is no part of it.
    """
    from scipy.sparse import csr_array

    n, n_groups = cells.sizes, int(group.max()) + 1
    shares = [
        _total(_numbers(np.stack([group, place])), n) / _total(place, n)
        for place in (cells.value, cells.context, np.zeros_like(group))
    ]
    leverage = shares[0] + np.where(shares[1] < 1, shares[1] - shares[2], 0.0)
    score = n * left / np.maximum(1 - leverage, 1 / n_groups)
    own = csr_array((score, (group, cells.value)), shape=(n_groups, cells.n_values)).toarray()
    of_context = csr_array((score, (group, cells.context)), shape=(n_groups, len(mean_value)))
    sums: Floats = own - of_context @ mean_value
    return sums


def diagonals(rows: Floats) -> Floats:
    """A diagonal matrix for each row."""
    square = np.zeros((*rows.shape, rows.shape[1]))
    k = np.arange(rows.shape[1])
    square[:, k, k] = rows
    return square
