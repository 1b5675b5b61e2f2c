"""How much more often one value has a label than another, other features being equal: the numbers of an audit.

Two values a and b and one label make a table of two by two in each context. First come the usual statistics: the
Mantel-Haenszel difference of shares (interval by Sato 1989), the pooled odds ratio (interval by Robins, Breslow and
Greenland 1986), the exact Cochran-Mantel-Haenszel test, and a test whether the odds ratio is the same in all contexts
(Breslow and Day's, with Tarone's correction, or a score test if contexts are small). In addition there is the mean over
all pairs of (b has the label) - (a has the label), which weights large contexts more; its interval is a jackknife over
rows, because a row is in many pairs.
"""

import math
import sys
from collections.abc import Sequence
from dataclasses import dataclass, replace

import numpy as np

from analogical._types import Floats, Ints
from analogical.count.contexts import Contexts
from analogical.count.groups import CodedRows
from analogical.estimate.groups import group_p_value
from analogical.estimate.permutations import distribution_of_contexts, hypergeometric, pearson_tail
from analogical.estimate.sizes import (
    ROUNDING,
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
    """The difference between two values for one label."""

    pairs: int
    changed: int
    """Pairs whose labels differ, whichever they are."""
    gained: int
    """Pairs in which the second value has the label and the first does not."""
    lost: int
    """Pairs in which the first value has the label and the second does not."""
    difference: float
    """The Mantel-Haenszel difference: how much more often the second value has the label, -1 to 1."""
    difference_low: float
    difference_high: float
    odds_ratio: float
    """The pooled odds ratio (Mantel-Haenszel) of the second value against the first; NaN or infinite if undefined."""
    odds_low: float
    odds_high: float
    p_value: float
    """Exact Cochran-Mantel-Haenszel test: probability of a deviation at least this large, in either direction, if
    the feature has no effect. With groups the score test of groups; NaN if there are too few groups."""
    smallest_p: float
    """The smallest p-value that is possible with these rows; NaN if ``p_value`` is."""
    p_homogeneity: float
    """Test that the odds ratio is the same in all contexts; NaN if contexts are too small, or with groups."""
    pair_difference: float
    """(gained - lost) / pairs: the mean over all pairs, which weights large contexts more."""
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


def measure_difference(contexts: Contexts, values: tuple[int, int], label: int, confidence: float) -> PairedDifference:
    """Differences, odds ratio, intervals and tests for one label and two values, in the contexts that hold both."""
    times, has_label = contexts.times, contexts.labels == label
    is_first, is_second = (contexts.values == value for value in values)
    a, b, a_with, b_with = (
        np.bincount(contexts.owner, contexts.sizes * cells, minlength=len(contexts)).astype(np.int64)
        for cells in (is_first, is_second, is_first & has_label, is_second & has_label)
    )
    pairs = contexts.profile.n_pairs
    gained, lost = int((times * (a - a_with) * b_with).sum()), int((times * a_with * (b - b_with)).sum())
    # Four kinds of rows in each context, each with the sum of (b has the label) - (a has the label) over its pairs.
    kinds = np.tile(times, 4) * np.concatenate([a_with, a - a_with, b_with, b - b_with])
    row_pairs = np.concatenate([b, b, a, a])
    parts = np.concatenate([b_with - b, b_with, a - a_with, -a_with])
    n_rows = int(kinds.sum())
    jackknife = jackknife_variance(pairs, gained - lost, row_pairs, parts, kinds, n_rows)
    pair_low, pair_high = difference_interval(pairs, gained, lost, jackknife, n_rows, confidence)
    table = (a, b, a_with, b_with, times)
    quantile = t_quantile(math.inf, confidence)
    difference, std_error = risk_difference(*table)
    ratio, log_error = odds_ratio(*table)
    p_value, smallest_p = exact_cmh(*table)
    with np.errstate(over="ignore"):
        spread = float(np.exp(quantile * log_error))
    return PairedDifference(
        pairs=pairs,
        changed=contexts.profile.n_changed,
        gained=gained,
        lost=lost,
        difference=difference,
        difference_low=max(difference - quantile * std_error, -1.0) if std_error > 0 else pair_low,
        difference_high=min(difference + quantile * std_error, 1.0) if std_error > 0 else pair_high,
        odds_ratio=ratio,
        odds_low=ratio / spread if math.isfinite(ratio) else math.nan,
        odds_high=ratio * spread if math.isfinite(ratio) else math.nan,
        p_value=p_value,
        smallest_p=smallest_p,
        p_homogeneity=homogeneity(*table, ratio),
        pair_difference=(gained - lost) / pairs,
        pair_low=pair_low,
        pair_high=pair_high,
    )


def measure_difference_of_groups(
    compared: PairedDifference, rows: CodedRows, values: tuple[int, int], label: int, confidence: float
) -> PairedDifference:
    """A difference with a test and interval for independent groups; statistics that need independent rows are NaN.

    ``rows`` have the feature in column 0, followed by the given columns and the group.
    """
    from scipy.special import stdtrit

    held = np.flatnonzero((rows.codes[:, 0] == values[0]) | (rows.codes[:, 0] == values[1]))
    part = rows.take(held)
    part = replace(part, labels=(part.labels == label).astype(np.uint8), n_labels=2)
    p_value = group_p_value(part, in_common=True)
    n_groups = len(np.unique(part.codes[:, -1]))
    error = reach = 0.0
    if n_groups > 1:
        common, places = common_difference_of_groups(part, np.eye(2))
        error = common.between(int(places[values[0]]), int(places[values[1]]), 1)[1]
        reach = float(stdtrit(max(common.freedom, 1.0), (1 + confidence) / 2)) * error
    low, high = compared.difference - reach, compared.difference + reach
    if error <= ROUNDING:  # all groups are alike: an interval on half as many pairs as groups
        low, high = difference_interval(compared.pairs, compared.gained, compared.lost, 0.0, n_groups, confidence)
    return replace(
        compared,
        difference_low=max(low, -1.0),
        difference_high=min(high, 1.0),
        odds_low=math.nan,
        odds_high=math.nan,
        p_value=p_value,
        smallest_p=math.nan if math.isnan(p_value) else compared.smallest_p,
        p_homogeneity=math.nan,
        pair_low=math.nan,
        pair_high=math.nan,
    )


def crude_difference(rows: CodedRows, feature: int, values: tuple[int, int], label: int) -> float:
    """How much more often the second value of a feature has a label than the first, in all rows."""
    weights, has_label = rows.weights_or_ones(), rows.labels == label
    first, second = (rows.codes[:, feature] == value for value in values)
    shares = [float(weights[side & has_label].sum() / weights[side].sum()) for side in (first, second)]
    return shares[1] - shares[0]


def base_rates(contexts: Contexts, label_sizes: Ints) -> tuple[Floats, Floats]:
    """Share of each label in all rows, and in the rows of contexts (NaN if there are none)."""
    compared = np.bincount(contexts.labels, contexts.sizes * contexts.times[contexts.owner], minlength=len(label_sizes))
    among_compared = compared / compared.sum() if len(contexts) else np.full(len(label_sizes), math.nan)
    return label_sizes / label_sizes.sum(), among_compared


def largest_context(contexts: Contexts) -> float:
    """Share of the pairs that are in the largest context; NaN without pairs."""
    pairs = np.bincount(contexts.owner, contexts.sizes * contexts.pairs, minlength=1) / 2
    return float(pairs.max()) / contexts.profile.n_pairs if len(contexts) else math.nan


def risk_difference(a: Ints, b: Ints, a_with: Ints, b_with: Ints, times: Ints) -> tuple[float, float]:
    """The Mantel-Haenszel difference of shares, b minus a, and its standard error (Sato 1989)."""
    n_a, n_b, x, y = (counts.astype(np.float64) for counts in (a, b, a_with, b_with))  # their cubes overflow int64
    n = n_a + n_b
    total = float((times * n_a * n_b / n).sum())
    difference = float((times * (y * n_a - x * n_b) / n).sum()) / total
    p = (n_b**2 * x - n_a**2 * y + n_a * n_b * (n_a - n_b) / 2) / n**2
    q = (y * (n_a - x) + x * (n_b - y)) / (2 * n)
    variance = (difference * float((times * p).sum()) + float((times * q).sum())) / total**2
    return difference, math.sqrt(max(variance, 0.0))


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

    Breslow and Day's test, with Tarone's correction, if every cell of every context has five expected rows. In small
    contexts it rejects far too often, and the score test of ``_varies`` is used.
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

    Half a pair is added to each of gained, lost, both and neither, so that the interval has a width if no pair or every
    pair changed.
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
