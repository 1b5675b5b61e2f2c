"""How much more often one value has a label than another, other features being equal: the numbers of an audit.

Two values and one label make a table of two by two in each context. First come the usual statistics: the difference of
shares of Mantel and Haenszel (interval by Sato 1989), the pooled odds ratio (Robins, Breslow and Greenland 1986), the
exact Cochran-Mantel-Haenszel test, and a test whether the odds ratio is the same in all contexts (Breslow and Day's,
with Tarone's correction, or a score test if contexts are small). In addition there is the mean over all pairs of rows,
which weights large contexts more; its interval is a jackknife over rows, because a row is in many pairs.

A share is the mean of a score of 0 and 1, and labels that are numbers have other scores. Their difference of means has
the same weights of contexts, so it is least squares with a constant for each. Its test and its interval are Student's,
with variances of their own for both values: Welch's test if there is one context. If scores are permuted in contexts
instead, a value of few rows with a larger variance has p <= .05 in 14 to 31 % of tables without any difference.
"""

import math
import sys
from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from analogical._types import Bools, Floats, Ints, Positions
from analogical.count.contexts import Contexts, differs_from_last
from analogical.count.groups import CodedRows
from analogical.count.listing import ListedRows, count_label_pairs
from analogical.estimate.groups import group_p_value
from analogical.estimate.permutations import distribution_of_contexts, hypergeometric, pearson_tail
from analogical.estimate.sizes import (
    FEWEST_FREE,
    MANY,
    ROUNDING,
    are_shares,
    common_difference_of_groups,
    corrected_variance,
    jackknife_variance,
    t_quantile,
)

NORMAL = 10_000.0
"""Variance from which the sum over contexts is treated as normal; its skewness is then at most one hundredth."""
ENOUGH_EXPECTED = 5.0
"""Expected rows that every cell needs for Breslow and Day's test: Cochran's rule for chi-square tests."""


@dataclass(frozen=True, kw_only=True)
class PairedDifference:
    """The difference between two values for one label, or for labels that are numbers."""

    pairs: int
    changed: int
    """Pairs whose labels differ, whichever they are."""
    gained: int
    """Pairs in which the second value has the label and the first does not; of numbers, in which it has the larger."""
    lost: int
    """Pairs in which the first value has the label and the second does not; of numbers, in which it has the larger."""
    difference: float
    """The Mantel-Haenszel difference: how much more often the second value has the label, -1 to 1; of numbers, how much
    larger they are on average, with the same weights of contexts."""
    difference_low: float
    difference_high: float
    odds_ratio: float
    """The pooled odds ratio (Mantel-Haenszel) of the second value against the first; NaN or infinite if undefined, NaN
    for numbers."""
    odds_low: float
    odds_high: float
    p_value: float
    """Exact Cochran-Mantel-Haenszel test: probability of a deviation at least this large, in either direction, if
    the feature has no effect; of numbers Student's test of the difference, with a variance for each value (Welch's if
    there is one context). With groups the score test of groups; NaN if there are too few groups."""
    smallest_p: float
    """The smallest p-value that is possible with these rows, if labels are permuted within contexts; NaN if ``p_value``
    is."""
    p_homogeneity: float
    """Test that the odds ratio is the same in all contexts, of numbers that the difference is; NaN if contexts are too
    small, or with groups."""
    pair_difference: float
    """(gained - lost) / pairs, or the mean difference of numbers: the mean over all pairs, which weights large contexts
    more."""
    pair_low: float
    pair_high: float


def compared_with(contexts: Contexts, reference: int, others: Sequence[int]) -> list[int]:
    """The other values that are in a context together with the reference."""
    holds = np.zeros(len(contexts), np.bool_)
    holds[contexts.owner[contexts.values == reference]] = True
    met = set(np.unique(contexts.values[holds[contexts.owner]]).tolist())
    return [value for value in others if value in met]


def contexts_of_two(contexts: Contexts, values: tuple[int, int]) -> Contexts:
    """The rows of two values, in the contexts that hold both."""
    of_two = contexts.part(np.isin(contexts.values, values))
    n_values = np.bincount(of_two.value_parts.owner, minlength=len(of_two))
    return of_two.part(n_values[of_two.owner] == 2)


def measure_difference(
    contexts: Contexts, values: tuple[int, int], score: Floats, confidence: float
) -> PairedDifference:
    """Differences, odds ratio, intervals and tests for two values, in the contexts that hold both.

    ``score`` has a number for each label code; it is 0 and 1 for a label that others do not have.
    """
    from scipy.special import stdtr

    times, owner, profile, is_share = contexts.times, contexts.owner, contexts.profile, are_shares(score)
    d, unit = score[contexts.labels].astype(np.float64), 1.0
    if not is_share:
        # In units of the largest difference within a context numbers are as shares. Less the mean of their context,
        # large ones that differ little keep their digits.
        unit = float((np.maximum.reduceat(d, contexts.starts) - np.minimum.reduceat(d, contexts.starts)).max()) or 1.0
        d = (d - (_by_context(contexts, d) / contexts.n_rows)[owner]) / unit
    sides = [contexts.values == value for value in values]
    a, b, x, y, *squares = (_by_context(contexts, of * side) for of in (np.ones_like(d), d, d**2) for side in sides)
    pairs, rows = profile.n_pairs, contexts.sizes * times[owner]
    gained, lost = (_pairs_above(contexts, d > 0.5 if is_share else contexts.labels, side) for side in sides)
    is_second, total, n_rows = sides[1], float((times * (y * a - x * b)).sum()), int(rows.sum())
    of_row = np.where(is_second, a[owner], b[owner]).astype(np.int64)
    moved = np.where(is_second, a[owner] * d - x[owner], y[owner] - b[owner] * d)  # sum of its pairs
    jackknife, pair_difference = jackknife_variance(pairs, total, of_row, moved, rows, n_rows), total / pairs
    difference, std_error = mean_difference(a, b, x, y, times, () if is_share else squares)
    ratio, spread, quantile = math.nan, math.nan, t_quantile(math.inf, confidence)
    if is_share:
        of_a, of_b, a_with, b_with = (part.astype(np.int64) for part in (a, b, x, y))
        table = of_a, of_b, a_with, b_with, times
        ratio, log_error = odds_ratio(*table)
        with np.errstate(over="ignore"):
            spread = float(np.exp(quantile * log_error)) if math.isfinite(ratio) else math.nan
        (p_value, smallest_p), p_homogeneity = exact_cmh(*table), homogeneity(*table, ratio)
        pair_ends = difference_interval(pairs, gained, lost, jackknife, n_rows, confidence)
        ends = max(difference - quantile * std_error, -1.0), min(difference + quantile * std_error, 1.0)
        ends = ends if std_error > 0 else pair_ends
    else:
        share = np.where(is_second, a[owner], -b[owner]) / (a + b)[owner]  # of a row in the difference
        freedom = _freedom(share * (d - difference * share), contexts)
        reach = _reach(std_error**2, freedom, n_rows, confidence)
        squared = float((times * (a * squares[1] + b * squares[0] - 2 * x * y)).sum()) / pairs
        variance = corrected_variance(jackknife, (squared - pair_difference**2) / pairs)
        pair_reach = _reach(variance, _freedom(pair_difference * of_row - moved, contexts), n_rows, confidence)
        ends, pair_ends = ((mean - by, mean + by) for mean, by in ((difference, reach), (pair_difference, pair_reach)))
        smallest_p, p_homogeneity = _smallest_p(contexts, d, b), same_difference(a, b, x, y, times, squares)
        p_value = smallest_p if abs(difference) > ROUNDING else 1.0
        if std_error > ROUNDING:
            p_value = max(2 * float(stdtr(freedom, -abs(difference) / std_error)), smallest_p, sys.float_info.min)
    return PairedDifference(
        pairs=pairs,
        changed=profile.n_changed,
        gained=gained,
        lost=lost,
        difference=unit * difference,
        difference_low=unit * ends[0],
        difference_high=unit * ends[1],
        odds_ratio=ratio,
        odds_low=ratio / spread,
        odds_high=ratio * spread,
        p_value=p_value,
        smallest_p=smallest_p,
        p_homogeneity=p_homogeneity,
        pair_difference=unit * pair_difference,
        pair_low=unit * pair_ends[0],
        pair_high=unit * pair_ends[1],
    )


def _by_context(contexts: Contexts, of_cell: Floats | Bools) -> Floats:
    """Sums over the rows of each context."""
    return np.bincount(contexts.owner, contexts.sizes * of_cell, minlength=len(contexts)).astype(np.float64)


def _pairs_above(contexts: Contexts, ranks: Any, is_below: Bools) -> int:
    """Pairs of a row of some cells and a row of another value that has a higher rank; ``ranks`` are those of cells."""
    key = contexts.owner * (int(ranks.max()) + 1) + ranks
    order = np.argsort(key, kind="stable")
    key, owner, sizes, below = key[order], contexts.owner[order], contexts.sizes[order], is_below[order]
    n_below = np.append(0, np.cumsum(sizes * below))
    first, start = (np.searchsorted(of, of) for of in (key, owner))
    return int((contexts.times[owner] * sizes * ~below * (n_below[first] - n_below[start])).sum())


def _freedom(pulls: Any, contexts: Contexts) -> float:
    """Degrees of freedom of the variance of a difference of numbers, as in ``t_quantile``: from 30 on it is normal.

    ``pulls`` is by how much a row of each cell moves the difference. They are Satterthwaite's, with the fourth moment
    of the pulls, of which normal ones have three times the squared second: fewer if few rows matter most.
    """
    rows = contexts.sizes * contexts.times[contexts.owner]
    fourth = float((rows * pulls**4).sum())
    freedom = 3 * float((rows * pulls**2).sum()) ** 2 / fourth if fourth > 0 else math.inf
    freedom = max(min(freedom, int(rows.sum()) - int(contexts.times.sum()) - 1), FEWEST_FREE)
    return math.inf if freedom >= MANY else freedom


def _reach(variance: float, freedom: float, n_rows: int, confidence: float) -> float:
    """Half the interval of a difference of numbers, in units of the largest one.

    If nothing varies it is that of ``difference_interval``, for half as many pairs as rows.
    """
    if variance <= ROUNDING**2:
        return t_quantile(math.inf, confidence) / (n_rows / 2 + 2)
    return t_quantile(freedom, confidence) * math.sqrt(variance)


def measure_difference_of_groups(
    compared: PairedDifference, rows: CodedRows, values: tuple[int, int], score: Floats, confidence: float
) -> PairedDifference:
    """A difference with a test and interval for independent groups; statistics that need independent rows are NaN.

    ``rows`` have the feature in column 0, followed by the given columns and the group.
    """
    from scipy.special import stdtrit

    held = np.flatnonzero((rows.codes[:, 0] == values[0]) | (rows.codes[:, 0] == values[1]))
    part, is_share, of_row = rows.take(held), are_shares(score), score[rows.labels[held], None]
    unit = 1.0 if is_share else float(np.ptp(of_row)) or 1.0
    labels = replace(part, labels=(of_row[:, 0] == 1).astype(np.uint8), n_labels=2) if is_share else part
    p_value = group_p_value(labels, None if is_share else of_row, in_common=True)
    n_groups = len(np.unique(part.codes[:, -1]))
    error = reach = 0.0
    if n_groups > 1:
        common, places = common_difference_of_groups(part, score[:, None])
        error = common.between(int(places[values[0]]), int(places[values[1]]), 0)[1]
        reach = float(stdtrit(max(common.freedom, 1.0), (1 + confidence) / 2)) * error
    is_alike = error <= ROUNDING * unit  # of all groups: an interval on half as many pairs as groups
    if is_alike and not is_share:
        reach = unit * t_quantile(math.inf, confidence) / (n_groups / 2 + 2)
    low, high = compared.difference - reach, compared.difference + reach
    if is_alike and is_share:
        low, high = difference_interval(compared.pairs, compared.gained, compared.lost, 0.0, n_groups, confidence)
    return replace(
        compared,
        difference_low=max(low, -unit),
        difference_high=min(high, unit),
        odds_low=math.nan,
        odds_high=math.nan,
        p_value=p_value,
        smallest_p=math.nan if math.isnan(p_value) else compared.smallest_p,
        p_homogeneity=math.nan,
        pair_low=math.nan,
        pair_high=math.nan,
    )


def crude_difference(rows: CodedRows, feature: int, values: tuple[int, int], score: Floats) -> float:
    """How much larger the mean score is with the second value of a feature than with the first, in all rows."""
    weights, of_row = rows.weights_or_ones(), score[rows.labels]
    first, second = (rows.codes[:, feature] == value for value in values)
    means = [float((weights[side] * of_row[side]).sum() / weights[side].sum()) for side in (first, second)]
    return means[1] - means[0]


def base_rates(contexts: Contexts, label_sizes: Ints, scores: Floats) -> tuple[Floats, Floats]:
    """Mean of each column of scores, such as the share of a label, in all rows and in those of contexts (or NaN)."""
    compared = np.bincount(contexts.labels, contexts.sizes * contexts.times[contexts.owner], minlength=len(label_sizes))
    n_compared = compared.sum() if len(contexts) else math.nan
    return label_sizes @ scores / label_sizes.sum(), compared @ scores / n_compared


def means_by_context(listed: ListedRows, chosen: Bools, score: Floats) -> Floats:
    """Mean score of the chosen rows of each context; NaN without any."""
    of_row = (listed.rows.weights_or_ones() * score[listed.rows.labels])[chosen]
    n, n_contexts = listed.count_by_context(chosen), len(listed.given)
    total = np.bincount(listed.context[chosen], of_row, minlength=n_contexts).astype(np.float64)
    return np.asarray(np.divide(total, n, out=np.full(n_contexts, math.nan), where=n > 0))


def means_by_values(contexts: Contexts, score: Floats) -> tuple[Ints, Ints, Floats, Floats, Ints]:
    """For every two values that are compared: the values, the mean score of either over the pairs, and the pairs."""
    from scipy.sparse import csr_array

    owner, values = contexts.owner, contexts.values.astype(np.int64)
    shape = len(contexts), int(values.max()) + 1
    n, s = (csr_array((contexts.sizes * of, (owner, values)), shape=shape) for of in (1, score[contexts.labels]))
    times = contexts.times[:, None]
    pairs, sums = (n.multiply(times).T @ n).tocoo(), (s.multiply(times).T @ n).toarray()
    held = pairs.row < pairs.col
    a, b, n_pairs = (of[held].astype(np.int64) for of in (pairs.row, pairs.col, pairs.data))
    return a, b, sums[a, b] / n_pairs, sums[b, a] / n_pairs, n_pairs


@dataclass(frozen=True)
class LabelPairs:
    """Pairs of rows by the bins of their two labels."""

    labels: tuple[Ints, Ints]
    """Bins of the two rows, of each kind of pairs, by increasing difference of their means."""
    differences: Floats
    pairs: Ints

    @classmethod
    def of(cls, contexts: Contexts, score: Floats, label_sizes: Ints, bin_of: Ints) -> "LabelPairs":
        """From the contexts of a feature, and the score, rows and bin of each label code."""
        mean = np.bincount(bin_of, label_sizes * score) / np.bincount(bin_of, label_sizes)
        counts = count_label_pairs(replace(contexts, labels=bin_of[contexts.labels].astype(np.uint32)), len(mean))
        p, q = np.nonzero(np.triu(counts))
        differences = np.abs(mean[p] - mean[q])
        order = np.argsort(differences, kind="stable")
        pairs = np.where(p == q, counts[p, q] // 2, counts[p, q])
        return cls((p[order], q[order]), differences[order], pairs[order])

    def median(self) -> float:
        """Half of the pairs differ by less, or by as much."""
        held = np.cumsum(self.pairs)
        return float(self.differences[np.searchsorted(held, held[-1] / 2)]) if len(held) else math.nan


def largest_context(contexts: Contexts) -> float:
    """Share of the pairs that are in the largest context; NaN without pairs."""
    pairs = np.bincount(contexts.owner, contexts.sizes * contexts.pairs, minlength=1) / 2
    return float(pairs.max()) / contexts.profile.n_pairs if len(contexts) else math.nan


def mean_difference(
    a: Floats | Ints, b: Floats | Ints, x: Floats | Ints, y: Floats | Ints, times: Ints, squares: Sequence[Floats] = ()
) -> tuple[float, float]:
    """The difference of means, b minus a, with the weights of Mantel and Haenszel, and its standard error.

    In each context a and b are numbers of rows, x and y sums of their scores, and ``squares`` sums of squared scores,
    which shares do not need. The standard error is Sato's (1989), which holds for few large and for many small
    contexts. With the weight w = a b / n of a context and W their sum, its square times W^2 is

        sum of w / 2 (mean squared difference of pairs - squared difference of means)
            + w (a - b) / 2 n (variance of b - variance of a)

    The difference of two shares determines that of their variances. For numbers these come from the rows of a value, or
    for a single row from its pairs, and the sum is divided by 1 - 1 / (2 W), because the difference is estimated.
    """
    n_a, n_b, x, y = (numbers.astype(np.float64) for numbers in (a, b, x, y))  # their cubes overflow int64
    n = n_a + n_b
    total = float((times * n_a * n_b / n).sum())
    difference = float((times * (y * n_a - x * n_b) / n).sum()) / total
    xx, yy = squares or (x, y)
    q = (n_a * yy + n_b * xx - 2 * x * y) / (2 * n)
    if squares:
        weight = n_a * n_b / n
        of_pair = 2 * q / weight - 2 * difference * (y / n_b - x / n_a) + difference**2
        of_a, of_b = (np.maximum(s - t**2 / k, 0.0) / np.maximum(k - 1, 1) for s, t, k in ((xx, x, n_a), (yy, y, n_b)))
        of_a, of_b = np.where(n_a == 1, of_pair - of_b, of_a), np.where(n_b == 1, of_pair - of_a, of_b)
        more = float((times * weight * (n_a - n_b) / (2 * n) * (of_b - of_a)).sum()) - difference**2 * total / 2
        left = max(1 - 1 / (2 * total), ROUNDING)
    else:
        p = (n_b**2 * x - n_a**2 * y + n_a * n_b * (n_a - n_b) / 2) / n**2
        more, left = difference * float((times * p).sum()), 1.0
    variance = (more + float((times * q).sum())) / total**2 / left
    return difference, math.sqrt(max(variance, 0.0))


def _smallest_p(contexts: Contexts, d: Floats, m: Floats) -> float:
    """Probability that m rows of each context have its largest scores, or its smallest, whichever is more extreme.

    ``d`` is the score of each cell less the mean of its context.
    """
    from scipy.special import gammaln

    def ways(n: Any, k: Floats) -> Floats:
        return np.asarray(gammaln(n + 1) - gammaln(k + 1) - gammaln(n - k + 1))

    by_label = contexts.owner * (int(contexts.labels.max()) + 1) + contexts.labels
    _, first, place = np.unique(by_label, return_index=True, return_inverse=True)
    score, sizes, owner = d[first], np.bincount(place, contexts.sizes).astype(np.float64), contexts.owner[first]
    below = np.cumsum(sizes) - sizes
    below -= np.minimum.reduceat(below, np.flatnonzero(differs_from_last(owner)))[owner]
    ends = []
    for before in (below, contexts.n_rows[owner] - below - sizes):
        taken = np.clip(m[owner] - before, 0, sizes)
        chance = (contexts.times[owner] * ways(sizes, taken)).sum() - (contexts.times * ways(contexts.n_rows, m)).sum()
        ends.append((abs(float((contexts.times[owner] * taken * score).sum())), math.exp(min(float(chance), 0.0))))
    largest = max(extreme for extreme, _ in ends)
    return min(sum(chance for extreme, chance in ends if extreme >= largest * (1 - ROUNDING)), 1.0)


def same_difference(a: Floats, b: Floats, x: Floats, y: Floats, times: Ints, squares: Sequence[Floats]) -> float:
    """P-value of a test that the difference of means is the same in all contexts; NaN if fewer than two have repeats.

    The weighted sum of squared deviations of the differences d of contexts, divided by its expectation, which follows
    from the variances v of d; both have the degrees of freedom of their variances (Brown and Forsythe 1974, Mehrotra
    1997), so that neither equal variances nor large contexts are needed.
    """
    from scipy.special import fdtrc

    held = (a > 1) & (b > 1)
    if int(times[held].sum()) < 2:
        return math.nan
    n_a, n_b, x, y, n, xx, yy = (numbers[held].astype(np.float64) for numbers in (a, b, x, y, times, *squares))
    weight, d = n_a * n_b / (n_a + n_b), y / n_b - x / n_a
    of_a, of_b = (np.maximum(s - t**2 / k, 0.0) / (k * (k - 1)) for s, t, k in ((xx, x, n_a), (yy, y, n_b)))
    total, v = float((n * weight).sum()), of_a + of_b
    statistic = float((n * weight * (d - float((n * weight * d).sum()) / total) ** 2).sum())
    part = weight * (1 - weight / total)
    expected = float((n * part * v).sum())
    if expected <= ROUNDING**2:
        return math.nan if statistic <= ROUNDING**2 else sys.float_info.min
    squared = float((n * (weight * v) ** 2 * (1 - 2 * weight / total)).sum())
    squared += float((n * weight**2 * v).sum()) ** 2 / total**2
    of_variance = float((n * part**2 * (of_a**2 / (n_a - 1) + of_b**2 / (n_b - 1))).sum())
    p = float(fdtrc(expected**2 / squared, expected**2 / of_variance, statistic / expected))
    return max(p, sys.float_info.min)


def odds_ratio(a: Ints, b: Ints, a_with: Ints, b_with: Ints, times: Ints) -> tuple[float, float]:
    """The pooled odds ratio of b against a, and the standard error of its logarithm (Robins, Breslow, Greenland)."""
    n = (a + b).astype(np.float64)
    agree, differ = b_with * (a - a_with) / n, a_with * (b - b_with) / n
    above, below = float((times * agree).sum()), float((times * differ).sum())
    if not above or not below:
        return (math.nan if not above and not below else math.inf if above else 0.0), math.inf
    p, q = (b_with + a - a_with) / n, (a_with + b - b_with) / n
    variance = (
        float((times * p * agree).sum()) / (2 * above**2)
        + float((times * (p * differ + q * agree)).sum()) / (2 * above * below)
        + float((times * q * differ).sum()) / (2 * below**2)
    )
    return above / below, math.sqrt(variance)


def homogeneity(a: Ints, b: Ints, a_with: Ints, b_with: Ints, times: Ints, ratio: float) -> float:
    """P-value of a test that all contexts have the same odds ratio; NaN if it is unknown or too few are informative.

    Breslow and Day's test if every cell has five expected rows; otherwise it rejects far too often (``_varies``).
    """
    from scipy.special import chdtrc

    k = a_with + b_with
    informative = (k > 0) & (k < a + b)
    if not math.isfinite(ratio) or ratio <= 0 or int(times[informative].sum()) < 2:
        return math.nan
    n_a, n_b, n_with, x, n = (numbers[informative].astype(np.float64) for numbers in (a, b, k, b_with, times))
    # The expected rows e of b with the label solve e (n_a - n_with + e) = ratio (n_b - e) (n_with - e). Of the two
    # forms of the root, the one that adds numbers of the same sign keeps its digits.
    linear = n_a - n_with + ratio * (n_b + n_with)
    root = np.sqrt(np.maximum(linear**2 - 4 * (ratio - 1) * ratio * n_b * n_with, 0.0))
    is_positive = linear > 0
    above = np.where(is_positive, 2 * ratio * n_b * n_with, linear - root)
    e = above / np.where(is_positive, linear + root, 2 * (ratio - 1))
    cells = np.array([e, n_with - e, n_b - e, n_a - n_with + e])
    if cells.min() < ENOUGH_EXPECTED:
        a, b, k, b_with, times = (numbers[informative] for numbers in (a, b, k, b_with, times))
        return _varies(a, b, k, b_with, times, ratio)
    variance = 1 / (1 / cells).sum(axis=0)
    statistic = float((n * (x - e) ** 2 / variance).sum())
    statistic -= float((n * (x - e)).sum()) ** 2 / float((n * variance).sum())
    return max(float(chdtrc(float(n.sum()) - 1, max(statistic, 0.0))), sys.float_info.min)


def _varies(a: Ints, b: Ints, n_with: Ints, b_with: Ints, times: Ints, ratio: float) -> float:
    """P-value of the score test that the logarithm of the odds ratio has no variance over contexts.

    Given the margins, the distribution of the rows x of b with the label depends on the odds ratio alone, with mean e
    and variance v at the ratio that fits all contexts best. The score is the sum of (x - e)^2 - v (Liang and Self
    1985), minus its regression on x - e, because the ratio was fitted. Its three moments are those of the exact
    distributions, and its tail is Pearson's (see ``permutations``), so contexts may be small. ``ratio`` is where the
    fit starts.
    """
    kinds, kind_of = np.unique(np.column_stack([a + b, b, n_with]), axis=0, return_inverse=True)
    n_kinds = np.bincount(kind_of.ravel(), weights=times)
    log_ratio, step = math.log(ratio), math.inf
    for _ in range(50):  # steps of Newton; four or five are usual
        exacts = [hypergeometric(n, of_b, k, math.exp(log_ratio)) for n, of_b, k in kinds.tolist()]
        mean, variance = np.array([exact.moments() for exact in exacts]).T
        if abs(step) < 1e-9:
            break
        step = float((times * b_with).sum() - n_kinds @ mean) / float(n_kinds @ variance)
        log_ratio += min(max(step, -2.0), 2.0)
    moves = [exact.lowest + np.arange(len(exact.chances)) - e for exact, e in zip(exacts, mean, strict=True)]
    third = np.array([exact.chances @ move**3 for exact, move in zip(exacts, moves, strict=True)])
    slope = float(n_kinds @ third) / float(n_kinds @ variance)
    parts = [move**2 - v - slope * move for move, v in zip(moves, variance, strict=True)]
    spread, skew = (
        sum(n * float(exact.chances @ part**k) for n, exact, part in zip(n_kinds, exacts, parts, strict=True))
        for k in (2, 3)
    )
    # in contexts of one row per value |x - e| is constant: nothing can vary
    if spread <= 1e-9 * float(n_kinds @ variance**2):
        return math.nan
    score = float((times * ((b_with - mean[kind_of.ravel()]) ** 2 - variance[kind_of.ravel()])).sum())
    return max(pearson_tail(score / math.sqrt(spread), skew / spread**1.5), sys.float_info.min)


def difference_interval(
    pairs: int, gained: int, lost: int, jackknife: float, n_rows: int, confidence: float
) -> tuple[float, float]:
    """Agresti and Min's interval for matched pairs, on the number of independent pairs that would have this variance.

    Half a pair is added to each of gained, lost, both and neither.
    """
    difference = (gained - lost) / pairs
    pair_variance = (gained + lost) / pairs - difference**2
    variance = corrected_variance(jackknife, pair_variance / pairs)
    n = min(pair_variance / variance if variance > 0 and pair_variance > 0 else n_rows / 2, pairs)
    more, less = (n * gained / pairs + 0.5) / (n + 2), (n * lost / pairs + 0.5) / (n + 2)
    half = t_quantile(math.inf, confidence) * math.sqrt((more + less - (more - less) ** 2) / (n + 2))
    return max(more - less - half, -1.0), min(more - less + half, 1.0)


def exact_cmh(a: Ints, b: Ints, a_with: Ints, b_with: Ints, times: Ints) -> tuple[float, float]:
    """Two-sided p-value of the Cochran-Mantel-Haenszel test, and the smallest one that is possible.

    In each context the rows of b with the label are hypergeometric. The distribution of their sum is exact, or normal
    if its variance is large.
    """
    n, k = a + b, a_with + b_with
    informative = (k > 0) & (k < n)
    if not informative.any():
        return 1.0, 1.0
    n, k, b, times, b_with = (numbers[informative] for numbers in (n, k, b, times, b_with))
    rows, with_label, of_b = (numbers.astype(np.float64) for numbers in (n, k, b))
    mean = float((times * with_label * of_b / rows).sum())
    spread = with_label / rows * (rows - with_label) * of_b / rows * (rows - of_b) / (rows - 1)
    variance = float((times * spread).sum())
    observed = abs(float((times * b_with).sum()) - mean)
    if variance > NORMAL:
        return max(math.erfc(observed / math.sqrt(2 * variance)), sys.float_info.min), 0.0
    distribution = distribution_of_contexts(n, b, k, times)
    distance = np.abs(distribution.lowest + np.arange(len(distribution.chances)) - mean)
    smallest = min(float(distribution.chances[distance >= distance.max() - 1e-9].sum()), 1.0)
    # Outcomes left out as negligible are no more likely than the rarest one kept.
    return max(min(float(distribution.chances[distance >= observed - 1e-9].sum()), 1.0), smallest), smallest


def means_of(by_label: Ints, scores: Floats) -> Floats:
    """The mean score of each row of counts by label code."""
    return np.asarray(by_label @ scores / by_label.sum(axis=1))


def quantiles_of(by_label: Ints, shares: Sequence[float]) -> Positions:
    """For each row of counts by label code, the first codes up to which at least these shares of it lie."""
    sums = np.cumsum(by_label, axis=1)
    reached = sums[:, None, :] >= np.array(shares)[:, None] * sums[:, None, -1:] * (1 - 1e-12)
    return np.asarray(reached.argmax(axis=2))
