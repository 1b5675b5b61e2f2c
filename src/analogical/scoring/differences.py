"""How much more often one value has a label than another, all else equal: the numbers of an audit.

For two values a and b and one label, a context holds n_a rows of a and n_b rows of b. Its n_a n_b pairs
compare rows that are equal on everything else. The difference is the mean over all pairs of (b has the label) -
(a has the label). Its interval leaves out one row at a time, because a row sits in many pairs. The test
deals the labels of each context to its rows at random: with one row of each value in a context it is
McNemar's exact test of gained against lost, with more rows it stays exact, while McNemar's test on all pairs would
count every row many times.
"""

import math
from collections.abc import Sequence
from dataclasses import dataclass
from statistics import NormalDist

import numpy as np

from analogical._types import Floats, Ints
from analogical.counting.contexts import Contexts
from analogical.scoring.intervals import corrected_variance, jackknife_variance
from analogical.scoring.significance import pearson_tail

__all__ = [
    "PairedDifference",
    "TwoValues",
    "compared_values",
    "difference_interval",
    "exact_test",
    "holm",
    "measure_difference",
    "split_two_values",
]

MAX_WORK = 10**9
"""The test adds up all possible outcomes as long as that takes fewer steps than this."""
NEGLIGIBLE = 46.0
"""Outcomes of a context that are e^46 (about 10^20) times less likely than its likeliest one are left out."""


@dataclass(frozen=True)
class PairedDifference:
    """The difference between two values for one label."""

    pairs: int
    changed: int
    gained: int
    lost: int
    difference: float
    difference_low: float
    difference_high: float
    p_value: float
    smallest_p: float
    """The smallest p-value that these rows could have given, whatever their labels did."""


@dataclass(frozen=True)
class TwoValues:
    """Rows of two values by label, in the contexts that hold both; shape (contexts, labels)."""

    first: Ints
    second: Ints
    times: Ints
    """How many contexts look like this one."""


def compared_values(contexts: Contexts, order: Sequence[int], limit: int) -> tuple[list[tuple[int, int]], int]:
    """Every two values that some context holds, in the given order of values, and how many twos there are.

    If there are more than ``limit``, those with the most pairs.
    """
    from scipy.sparse import csr_array

    rank = np.argsort(order)
    shape = (len(contexts), len(order))
    rows = csr_array((contexts.sizes, (contexts.owner, rank[contexts.values])), shape=shape)
    times = csr_array((contexts.sizes * contexts.times[contexts.owner], (contexts.owner, rank[contexts.values])), shape)
    together = (rows.T @ times).tocoo()
    first, second = together.coords
    above = np.flatnonzero(first < second)
    most = above[np.lexsort((second[above], first[above], -together.data[above]))][:limit]
    found = sorted(zip(first[most].tolist(), second[most].tolist(), strict=True))
    return [(order[a], order[b]) for a, b in found], len(above)


def split_two_values(contexts: Contexts, first: int, second: int, n_labels: int) -> TwoValues:
    """The rows of two values, context by context."""
    cells = {value: np.flatnonzero(contexts.values == value) for value in (first, second)}
    shared = np.intersect1d(contexts.owner[cells[first]], contexts.owner[cells[second]])
    sides = []
    for found in cells.values():
        mine = found[np.isin(contexts.owner[found], shared)]
        by_label = np.zeros((len(shared), n_labels), dtype=np.int64)
        by_label[np.searchsorted(shared, contexts.owner[mine]), contexts.labels[mine]] = contexts.sizes[mine]
        sides.append(by_label)
    return TwoValues(sides[0], sides[1], contexts.times[shared])


def measure_difference(rows: TwoValues, label: int, confidence: float) -> PairedDifference:
    """Difference, interval and test for two values and one label."""
    a, b, times = rows.first.sum(axis=1), rows.second.sum(axis=1), rows.times
    a_with, b_with = rows.first[:, label], rows.second[:, label]
    pairs = int((times * a * b).sum())
    gained, lost = int((times * (a - a_with) * b_with).sum()), int((times * a_with * (b - b_with)).sum())
    # Four kinds of rows in each context, with the sum of (b has it) - (a has it) over the pairs of each.
    kinds = np.tile(times, 4) * np.concatenate([a_with, a - a_with, b_with, b - b_with])
    row_pairs = np.concatenate([b, b, a, a])
    parts = np.concatenate([b_with - b, b_with, a - a_with, -a_with])
    n_rows = int(kinds.sum())
    jackknife = jackknife_variance(pairs, gained - lost, row_pairs, parts, kinds, n_rows)
    low, high = difference_interval(pairs, gained, lost, jackknife, n_rows, confidence)
    p_value, smallest_p = exact_test(a, b, a_with, b_with, times)
    return PairedDifference(
        pairs=pairs,
        changed=pairs - int((times * (rows.first * rows.second).sum(axis=1)).sum()),
        gained=gained,
        lost=lost,
        difference=(gained - lost) / pairs,
        difference_low=low,
        difference_high=high,
        p_value=p_value,
        smallest_p=smallest_p,
    )


def difference_interval(
    pairs: int, gained: int, lost: int, jackknife: float, n_rows: int, confidence: float
) -> tuple[float, float]:
    """Agresti and Min's interval for matched pairs, on as many pairs as independent ones would be worth.

    Half a pair is added to each of gained, lost, both and neither, so that the interval has a
    width where no pair or every pair changed.
    """
    difference = (gained - lost) / pairs
    pair_variance = (gained + lost) / pairs - difference**2
    variance = corrected_variance(jackknife, pair_variance / pairs)
    n = min(pair_variance / variance if variance > 0 and pair_variance > 0 else n_rows / 2, pairs)
    more, less = (n * gained / pairs + 0.5) / (n + 2), (n * lost / pairs + 0.5) / (n + 2)
    half = NormalDist().inv_cdf((1 + confidence) / 2) * math.sqrt((more + less - (more - less) ** 2) / (n + 2))
    return max(more - less - half, -1.0), min(more - less + half, 1.0)


def exact_test(a: Ints, b: Ints, a_with: Ints, b_with: Ints, times: Ints | None = None) -> tuple[float, float]:
    """Two-sided p-value of gained - lost if each context deals its labels to its rows at random.

    Also the smallest p-value that other labels could have given. In a context of n rows, k of them with the
    label, gained - lost is n times the rows of b that have it, less k times the rows of b: a hypergeometric
    number on a grid of steps n. Their sum over the contexts is added up exactly on the common grid; where that
    would be too long, its mean, variance and skewness are exact and fix a distribution of type III.
    """
    times = np.ones(len(a), np.int64) if times is None else times
    with_label = a_with + b_with
    tells = (np.minimum(b, with_label) > np.maximum(0, with_label - a)) & (a > 0) & (b > 0)
    if not tells.any():
        return 1.0, 1.0
    observed = abs(int((times * ((a - a_with) * b_with - a_with * (b - b_with)))[tells].sum()))
    kinds, kind_of = np.unique(np.column_stack([a + b, with_label, b])[tells], axis=0, return_inverse=True)
    n_kinds = np.bincount(kind_of.ravel(), weights=times[tells]).astype(np.int64)
    deals = [_Deal(*kind) for kind in kinds.tolist()]
    grid = math.gcd(*(deal.n for deal in deals))
    length = sum(len(deal.chances) * deal.n // grid * n for deal, n in zip(deals, n_kinds.tolist(), strict=True))
    if length * sum(len(d.chances) * n for d, n in zip(deals, n_kinds.tolist(), strict=True)) > MAX_WORK:
        variance, third = ((n_kinds * [deal.moment(k) for deal in deals]).sum() for k in (2, 3))
        z, skewness = observed / math.sqrt(variance), third / variance**1.5
        return min(pearson_tail(z, skewness) + pearson_tail(z, -skewness), 1.0), 0.0
    chances, lowest = np.ones(1), 0
    for deal, n in zip(deals, n_kinds.tolist(), strict=True):
        for _ in range(n):
            chances = _add_deal(chances, deal.chances, deal.n // grid)
            lowest += deal.lowest
    differences = np.abs(lowest + grid * np.arange(len(chances)))
    largest = differences[chances > 0].max()
    return (
        min(float(chances[differences >= observed].sum()), 1.0),
        min(float(chances[differences >= largest].sum()), 1.0),
    )


class _Deal:
    """The rows of b that get the label when a context of n rows deals k labels, b to rows of b."""

    def __init__(self, n: int, k: int, b: int) -> None:
        from scipy.special import gammaln

        # what lies further from the mean than that has no probability that a float could hold
        mean, reach = k * b / n, 1 + 40 * math.sqrt(k * b / n * (n - k) / n * (n - b) / max(n - 1, 1))
        lowest, highest = max(0, k + b - n, math.floor(mean - reach)), min(b, k, math.ceil(mean + reach))
        x = np.arange(lowest, highest + 1)
        logs = -(gammaln(x + 1) + gammaln(k - x + 1) + gammaln(b - x + 1) + gammaln(n - k - b + x + 1))
        likely = logs > logs.max() - NEGLIGIBLE
        x, logs = x[likely], logs[likely]
        self.n = n
        self.chances: Floats = np.exp(logs - logs.max())
        self.chances /= self.chances.sum()
        self.lowest = n * int(x[0]) - k * b
        self._differences = n * x - k * b

    def moment(self, power: int) -> float:
        """A moment of gained - lost in this context; its mean is 0."""
        return float((self.chances * self._differences.astype(np.float64) ** power).sum())


def _add_deal(chances: Floats, deal: Floats, step: int) -> Floats:
    """Probabilities of the sum of a number on the grid and one on every ``step``-th point of it."""
    added = np.zeros(len(chances) + step * (len(deal) - 1))
    for j, chance in enumerate(deal.tolist()):
        added[j * step : j * step + len(chances)] += chance * chances
    return added


def holm(p_values: Sequence[float]) -> list[float]:
    """P-values with Holm's correction for how many there are."""
    order = sorted(range(len(p_values)), key=p_values.__getitem__)
    adjusted, worst = [1.0] * len(p_values), 0.0
    for rank, k in enumerate(order):
        worst = max(worst, min(p_values[k] * (len(p_values) - rank), 1.0))
        adjusted[k] = worst
    return adjusted
