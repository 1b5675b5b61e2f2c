"""Permutations of the labels within each context: exact distributions, and the test of a difference in any direction.

If a feature has no effect, every assignment of the labels of a context to its rows is equally likely. In a context of n
rows, a with a value and b with a label, the number of rows with both is then hypergeometric. Contexts are independent,
so the distribution of a sum over contexts is the convolution of theirs. All terms are positive: nothing cancels, and a
probability of 10^-200 has as many correct digits as one of .1.

The test of a difference in any direction: rows of a context with the same value are identical, and how often their
labels differ is the noise. The statistic is, summed over all rows, the mean number of other rows of the same value with
the same label: the more the labels go with the values, the larger it is (the between-group part of Light and Margolin's
analysis of variance for categories, 1971). Over all permutations it has a known mean, variance and skewness, which
determine a gamma distribution (Pearson's type III, as in the tests of Mielke and Berry). Nothing is assumed about the
noise, which may differ between contexts, nor about the number of pairs of a row. A context is informative only if it
holds two values, two labels and a repeated row. With few informative rows the statistic takes few values and no smooth
tail holds: then all permutations are enumerated, if they are few, or the test is left out.
"""

import math
import sys
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from functools import lru_cache
from itertools import islice
from typing import Any

import numpy as np

from analogical._types import Bools, Floats, Ints
from analogical.count.contexts import ContextParts, Contexts, Stack, differs_from_last
from analogical.estimate.sizes import ROUNDING, ROUNDING_SHARE

__all__ = [
    "ENOUGH",
    "Distribution",
    "FewPermutations",
    "PValue",
    "PermutationMoments",
    "distribution_of_contexts",
    "hypergeometric",
    "is_informative",
    "largest_parts",
    "p_values_any_direction",
    "pearson_tail",
    "smallest_of",
]

ENOUGH = 5.0 - 1e-9
"""Room that a cell needs for a smooth tail; 5, less the rounding of sums, whose order must not matter. The room is how
far the count can be below or above its expectation, whichever is less, summed over contexts. In one context this is
Cochran's rule of five expected rows. Mantel and Fleiss (1980) sum both sides first and then take the smaller one; where
the most frequent label differs between contexts that finds room on either side though hardly a row can move (p <= .01
in 2.3 % of tables without an effect; with this rule, and a room of 4 to 6, in .5 to 1.1 %: ``benchmarks/coverage``)."""
MOST_PERMUTATIONS = 500
"""Largest number of tables of all contexts together: some hundredths of a second. With more, the tail is used, or the
test is left out. It depends on the rows by value and by label only. It also limits the depth of the recursion: a
context has at least as many tables as values, or labels."""


@dataclass(frozen=True)
class PValue:
    """A p-value, and the smallest one that is possible with these numbers of rows by value and label."""

    p: float
    smallest: float = 0.0


@dataclass(frozen=True)
class Distribution:
    """A distribution over integers: ``chances`` are the probabilities from ``lowest`` on."""

    lowest: int
    chances: Floats

    def __add__(self, other: "Distribution") -> "Distribution":
        """The distribution of the sum of two independent numbers."""
        return _trimmed(self.lowest + other.lowest, np.convolve(self.chances, other.chances))

    def times(self, n: int) -> "Distribution":
        """The distribution of the sum of n independent numbers, by repeated doubling."""
        if n == 1:
            return self
        half = self.times(n // 2)
        return half + half + self if n % 2 else half + half

    def moments(self) -> tuple[float, float]:
        """Mean and variance."""
        x = np.arange(len(self.chances))
        mean = float(self.chances @ x)
        return self.lowest + mean, float(self.chances @ (x - mean) ** 2)

    def p_value(self, observed: int) -> PValue:
        """Probability of all outcomes that are not more likely than the observed one, as in Fisher's exact test."""
        place = observed - self.lowest
        inside = 0 <= place < len(self.chances)
        rarest = float(self.chances[self.chances > 0].min())
        p, smallest = (
            float(self.chances[self.chances <= chance * (1 + ROUNDING)].sum())
            for chance in (float(self.chances[place]) if inside else 0.0, rarest)
        )
        # Outcomes left out as too rare are no more likely than the rarest one kept.
        return PValue(min(max(p, sys.float_info.min), 1.0), min(smallest, 1.0))


def smallest_of(p_values: Iterable[PValue]) -> PValue:
    """The smallest of several p-values, multiplied by the number of those that could be so small; NaNs do not count.

    This is Bonferroni's correction in Tarone's form (1990) for discrete tests: a test whose smallest possible p-value
    is above p could not have given p. It is valid: the corrected value rises with p, so it is at most t only if some p
    is at most some s, and the probability of that is at most s times the number of tests that count at s, which is at
    most t.
    """
    known = [test for test in p_values if not math.isnan(test.p)]
    if not known:
        return PValue(math.nan)

    p, least = (
        min(min(1.0, p * sum(test.smallest <= p * (1 + ROUNDING) for test in known)) for p in numbers)
        for numbers in ([test.p for test in known], [test.smallest for test in known])
    )
    return PValue(p, least)


def distribution_of_contexts(n: Ints, a: Ints, b: Ints, times: Ints) -> Distribution:
    """The rows of the value that have the label, over contexts of n rows, a with the value and b with the label."""
    distribution, sure = Distribution(0, np.ones(1)), 0  # the distribution of an empty sum
    kinds: dict[tuple[int, int, int], int] = {}
    for kind, how_often in zip(zip(n.tolist(), a.tolist(), b.tolist(), strict=True), times.tolist(), strict=True):
        kinds[kind] = kinds.get(kind, 0) + how_often
    for (rows, of_value, of_label), how_often in sorted(kinds.items()):
        if 0 < of_value < rows and 0 < of_label < rows:
            distribution = distribution + _known_distribution(rows, of_value, of_label).times(how_often)
        else:
            sure += how_often * max(0, of_value + of_label - rows)
    return Distribution(distribution.lowest + sure, distribution.chances)


def hypergeometric(n: int, a: int, b: int, odds: float = 1.0) -> Distribution:
    """Rows of the value among b rows drawn from n rows, a of which have it; with odds, Fisher's noncentral one.

    ``scipy.stats.hypergeom.pmf`` loses digits to logarithms of factorials when n is large, so that equally likely
    outcomes differ; sums of the logarithms of ratios of neighbours do not.
    """
    least, most = max(0, a + b - n), min(a, b)
    # The mode is the last outcome that is likelier than the one before: the root of a quadratic equation.
    linear, product = (a + b + 2) * odds + n - a - b, (a + 1) * (b + 1) * odds
    root = math.sqrt(max(linear**2 - 4 * (odds - 1) * product, 0.0))
    likeliest = min(max(int(2 * product / (linear + root)), least), most)
    cells = (likeliest, a - likeliest, b - likeliest, n - a - b + likeliest)
    # Probabilities outside this reach are below 1e-300, as those of a Poisson or normal distribution.
    reach = 200 + int(40 / math.sqrt(sum(1 / (cell + 0.5) for cell in cells)))
    lowest, highest = max(least, likeliest - reach), min(most, likeliest + reach)
    x = np.arange(lowest, highest, dtype=np.float64)
    ratios = np.log((a - x) / (x + 1)) + np.log((b - x) / (n - a - b + x + 1)) + math.log(odds)
    logs = np.append(0.0, np.cumsum(ratios))
    chances = np.exp(logs - logs.max())
    return _trimmed(lowest, chances / chances.sum())


_known_distribution = lru_cache(maxsize=4096)(hypergeometric)
"""Cached, because features with the same given columns share many contexts."""


def _trimmed(lowest: int, chances: Floats) -> Distribution:
    """Without probabilities so small that products of two of them would underflow."""
    if chances[0] > 1e-300 and chances[-1] > 1e-300:
        return Distribution(lowest, chances)
    kept = np.flatnonzero(chances > 1e-300)
    return Distribution(lowest + int(kept[0]), chances[kept[0] : kept[-1] + 1])


@dataclass(frozen=True)
class PermutationMoments:
    """The statistic of a feature minus its mean over all permutations, and its second and third central moments.

    All are sums over contexts, because the permutations of contexts are independent.
    """

    deviation: float
    variance: float
    third: float
    spread: float = 0.0
    """Sum over contexts of the squared variance divided by the room of the context."""

    @classmethod
    def of_stack(cls, stack: Stack) -> "list[PermutationMoments]":
        """Moments of the contexts of each of several features."""
        contexts, informative = stack.contexts, is_informative(stack.contexts)
        sums = np.zeros((4, stack.n_features))
        if informative.any():
            n = contexts.n_rows[informative].astype(np.float64)
            values, labels = (
                _Pairs.of(contexts.value_parts, informative, shared=True),
                _Pairs.of(contexts.label_parts, informative),
            )
            variance, third = _moments(n, values, labels)
            # expected rows with neither the most frequent value nor the most frequent label of the context
            value, label = (contexts.n_rows - largest for largest in largest_parts(contexts))
            room = value * (1 / contexts.n_rows) * label
            terms = _deviation(contexts)[informative], variance, third, variance**2 / room[informative]
            of_context = np.zeros((4, len(contexts)))
            of_context[:, informative] = contexts.times[informative] * np.array(terms)
            sums = np.array([stack.sums(row) for row in of_context])
        return [cls(*of_feature) for of_feature in sums.T.tolist()]

    @property
    def room(self) -> float:
        """Expected rows with neither the most frequent value nor the most frequent label of their context.

        The sum over contexts if all vary alike; less if contexts with little room dominate the variance.
        """
        return self.variance**2 / self.spread if self.spread > 0 else 0.0

    def p_value(self) -> float:
        """Probability of a statistic at least this large if the feature has no effect; NaN with too little room."""
        if self.room < ENOUGH:
            return math.nan
        p = pearson_tail(self.deviation / math.sqrt(self.variance), self.third / self.variance**1.5)
        return max(p, sys.float_info.min)


def is_informative(contexts: Contexts) -> Bools:
    """Which contexts hold two values, two labels, a repeated value and a repeated label."""
    n_values, n_labels = (
        np.bincount(parts.owner, minlength=len(contexts)) for parts in (contexts.value_parts, contexts.label_parts)
    )
    n_rows = contexts.n_rows
    informative: Bools = (n_values > 1) & (n_values < n_rows) & (n_labels > 1) & (n_labels < n_rows)
    return informative


def largest_parts(contexts: Contexts) -> tuple[Ints, Ints]:
    """Rows of each context with its most frequent value, and with its most frequent label."""
    value, label = (
        np.maximum.reduceat(parts.sizes, np.flatnonzero(differs_from_last(parts.owner)))
        for parts in (contexts.value_parts, contexts.label_parts)
    )
    return value, label


def _deviation(contexts: Contexts) -> Floats:
    """The statistic of each context minus its mean over all permutations.

    With x of the n rows of a value having a label of L rows among N: half the sum of (x - n L / N)^2 / n over all
    values and labels, minus (values - 1) (N^2 - sum of L^2) / (N (N - 1)). Products of two sizes are exact integers.
    """
    n_all, n, size = contexts.n_rows, contexts.value_sizes, contexts.label_sizes
    moved = (contexts.sizes * n_all[contexts.owner] - n * size) / n_all[contexts.owner]
    labels, values = contexts.label_parts, contexts.value_parts
    squares = np.zeros(len(contexts), np.int64)
    np.add.at(squares, labels.owner, labels.sizes**2)
    missing = squares[values.owner] - np.add.reduceat(size**2, contexts.value_starts)  # of labels without the value
    expected = values.sizes / n_all[values.owner] ** 2.0 * missing
    held = np.bincount(contexts.owner, moved**2 / n) + np.bincount(values.owner, expected)
    n_values = np.bincount(values.owner)
    return np.asarray((held - (n_values - 1.0) * (n_all**2 - squares) / (n_all * (n_all - 1))) / 2)


def pearson_tail(z: float, skewness: float) -> float:
    """Upper tail at z of Pearson's type III distribution with mean 0, variance 1 and this skewness."""
    from scipy.special import gammainc, gammaincc, ndtr

    if abs(skewness) < 1e-4:
        return float(ndtr(-z))
    shape = 4 / skewness**2
    if skewness > 0:
        return float(gammaincc(shape, max(shape + z * math.sqrt(shape), 0.0)))
    return float(gammainc(shape, max(shape - z * math.sqrt(shape), 0.0)))


@dataclass(frozen=True)
class _Pairs:
    """A number K(r, s) for every two rows of a context, and sums of its products over distinct rows.

    K is w if the two rows are in the same part (1 / n for a part of n rows, or 1) and 0 otherwise, minus the mean c
    over all pairs of rows. So K sums to 0, and no sum below is a small difference of large ones. Sums over disjoint
    pairs follow from those over pairs that share rows.
    """

    pair_2: Floats
    """Sum over r, s of K(r, s)^2."""
    pair_3: Floats
    path: Floats
    """Over r, s, t of K(r, s) K(s, t)."""
    path_3: Floats
    """K(r, s)^2 K(s, t)."""
    triangle: Floats
    star: Floats
    """K(r, s) K(r, t) K(r, u)."""
    line: Floats
    """K(r, s) K(s, t) K(t, u)."""

    @classmethod
    def of(cls, parts: ContextParts, some: Bools, *, shared: bool = False) -> "_Pairs":
        """From the parts of some contexts; w is 1 over the size of the part if ``shared``, otherwise 1."""
        mine = some[parts.owner]
        starts = np.flatnonzero(differs_from_last(parts.owner[mine]))
        lengths = np.diff(starts, append=np.count_nonzero(mine))
        size = parts.sizes[mine]  # integers, whose products are exact: there are at most 2**31 rows
        one_over_w = size if shared else np.ones_like(size)

        def total(terms: Any) -> Any:
            return np.add.reduceat(terms, starts)

        def each(of_context: Any) -> Any:
            return np.repeat(of_context, lengths)

        n_all = total(size)
        pairs_all, within = n_all * (n_all - 1), total(size * (size - 1) // one_over_w)
        c_all = within / pairs_all
        n, n_others, c = size.astype(np.float64), (each(n_all) - size).astype(np.float64), each(c_all)
        k = (each(pairs_all) - one_over_w * each(within)) / (one_over_w * each(pairs_all).astype(np.float64))  # w - c
        # for each row r of a part the sums over s of K(r, s), of its square and of its cube
        row = ((size - 1) * each(n_all) - one_over_w * each(within)) / (one_over_w * each(n_all))
        row_2 = (n - 1) * k**2 + n_others * c**2
        row_3 = (n - 1) * k**3 - n_others * c**3
        pair_3, square_and_row = total(n * row_3), total(n * row_2 * row)
        others_apart = (each(n_all) - size) ** 2 - (each(total(size**2)) - size**2)  # pairs of rows in two other parts
        triangle = total(n * (n - 1) * ((n - 2) * k**3 + 3 * n_others * k * c**2) - n * others_apart * c**3)
        across = total((n * (n - 1) / one_over_w + c * n) * row**2)  # K(r, s) times the sums of r and of s
        return cls(
            pair_2=total(n * row_2),
            pair_3=pair_3,
            path=total(n * (row**2 - row_2)),
            path_3=square_and_row - pair_3,
            triangle=triangle,
            star=total(n * (row**3 - 3 * row * row_2 + 2 * row_3)),
            line=across - 2 * square_and_row + pair_3 - triangle,
        )

    @property
    def apart(self) -> Floats:
        """Over r, s, t, u of K(r, s) K(t, u): minus the sum over pairs that share one or both rows."""
        return -4 * self.path - 2 * self.pair_2

    @property
    def apart_3(self) -> Floats:
        """Two disjoint pairs, the first of them squared."""
        return -4 * self.path_3 - 2 * self.pair_3

    @property
    def path_and_pair(self) -> Floats:
        """K(r, s) K(s, t) K(u, v)."""
        return -4 * self.path_3 - 2 * self.triangle - 4 * self.line - 2 * self.star

    @property
    def all_apart(self) -> Floats:
        """K(r, s) K(t, u) K(v, w)."""
        return -4 * self.apart_3 - 8 * self.line - 8 * self.path_and_pair


def _moments(n: Floats, values: _Pairs, labels: _Pairs) -> tuple[Floats, Floats]:
    """Variance and third central moment of the statistic in contexts of n rows.

    The statistic minus its mean is half the sum over all pairs of rows of (K of the values) times (K of the labels).
    Its powers are sums over two or three pairs of rows; for each way in which these pairs share rows, the mean over all
    permutations is a sum for the values times a sum for the labels, divided by the number of choices of rows.
    """
    n2 = n * (n - 1)
    n3 = n2 * (n - 2)
    n4 = n3 * (n - 3)
    n5 = n4 * (n - 4)
    terms = [
        _ratio(values.pair_2 * labels.pair_2, 2 * n2),
        _ratio(values.path * labels.path, n3),
        _ratio(values.apart * labels.apart, 4 * n4),
    ]
    variance = terms[0] + terms[1] + terms[2]
    size = np.abs(terms[0]) + np.abs(terms[1]) + np.abs(terms[2])
    third = (
        _ratio(values.pair_3 * labels.pair_3, 2 * n2)
        + _ratio(values.triangle * labels.triangle + 3 * values.path_3 * labels.path_3, n3)
        + 3 * _ratio(values.apart_3 * labels.apart_3, 4 * n4)
        + _ratio(values.star * labels.star + 3 * values.line * labels.line, n4)
        + 3 * _ratio(values.path_and_pair * labels.path_and_pair, 2 * n5)
        + _ratio(values.all_apart * labels.all_apart, 8 * n5 * (n - 5))
    )
    varies = variance > ROUNDING_SHARE * size
    return np.where(varies, variance, 0.0), np.where(varies, third, 0.0)


def _ratio(numerator: Floats, denominator: Floats) -> Floats:
    """The quotient; 0 where there are too few rows."""
    quotient: Floats = np.divide(numerator, denominator, out=np.zeros_like(numerator), where=denominator > 0)
    return quotient


Table = tuple[tuple[int, ...], ...]
"""Rows by value and label."""


@dataclass(frozen=True)
class FewPermutations:
    """All permutations of the labels of the informative contexts."""

    more: Floats
    """Statistic of each permutation minus the observed one."""
    chances: Floats
    """Probability of each permutation."""

    @classmethod
    def of(cls, contexts: Contexts, informative: Bools) -> "FewPermutations | None":
        """The permutations of the contexts marked in ``informative``; None if there are too many."""
        more, chances = np.zeros(1), np.ones(1)
        ends = np.append(contexts.starts, len(contexts.sizes))
        for c in np.flatnonzero(informative).tolist():
            cells = slice(ends[c], ends[c + 1])
            values, rows = np.unique(contexts.values[cells], return_inverse=True)
            labels, columns = np.unique(contexts.labels[cells], return_inverse=True)
            if max(len(values), len(labels)) > MOST_PERMUTATIONS:
                return None
            table = np.zeros((len(values), len(labels)), np.int64)
            table[rows, columns] = contexts.sizes[cells]
            distribution = _enumerated(tuple(map(tuple, table.tolist())), MOST_PERMUTATIONS)
            for _ in range(int(contexts.times[c])):
                if distribution is None or len(more) * len(distribution.more) > MOST_PERMUTATIONS:
                    return None
                more = (more[:, None] + distribution.more).ravel()
                chances = (chances[:, None] * distribution.chances).ravel()
        return cls(more, chances)

    @classmethod
    def of_stack(cls, stack: Stack) -> "list[FewPermutations | None]":
        """For each of several features; None if there are too many permutations."""
        contexts, informative = stack.contexts, is_informative(stack.contexts)
        fewest = np.log(_fewest_permutations(contexts))
        may_be_few = (
            stack.sums(np.where(informative, contexts.times * fewest, 0.0)) <= math.log(MOST_PERMUTATIONS) + ROUNDING
        )
        found: list[FewPermutations | None] = [None] * stack.n_features
        if may_be_few.any():
            parts = stack.split()
            for k in np.flatnonzero(may_be_few).tolist():
                found[k] = cls.of(parts[k], informative[stack.bounds[k] : stack.bounds[k + 1]])
        return found

    def p_value(self) -> PValue:
        """Probability of a statistic of at least the observed one; NaN if no context is informative."""
        limit = ROUNDING * float(np.ptp(self.more))
        if not limit:
            return PValue(math.nan)
        p, smallest = (float(self.chances[self.more >= least - limit].sum()) for least in (0.0, self.more.max()))
        return PValue(min(p, 1.0), min(smallest, 1.0))


def p_values_any_direction(stack: Stack) -> list[PValue]:
    """The test in any direction of each feature: exact if they are few, otherwise by its tail; NaN if not made."""
    moments = PermutationMoments.of_stack(stack)
    return [
        PValue(of_many.p_value()) if few is None else few.p_value()
        for few, of_many in zip(FewPermutations.of_stack(stack), moments, strict=True)
    ]


def _fewest_permutations(contexts: Contexts) -> Floats:
    """A lower limit of the number of tables of each context.

    1 + the smallest margin, if its most frequent value and label are compared with all others. And if k rows have
    another label than the most frequent one: the choices of k values (or half of the values, if k is more) with one
    such row each. Likewise with values and labels exchanged.
    """
    from scipy.special import binom

    rows, largest = contexts.n_rows, largest_parts(contexts)
    value, label = (np.minimum(most, rows - most) for most in largest)
    n_values, n_labels = (
        np.bincount(parts.owner, minlength=len(contexts)) for parts in (contexts.value_parts, contexts.label_parts)
    )
    by_value = binom(n_values, np.minimum(label, n_values // 2))
    by_label = binom(n_labels, np.minimum(value, n_labels // 2))
    return np.asarray(np.maximum(1 + np.minimum(value, label), np.maximum(by_value, by_label)))


@lru_cache(maxsize=4096)
def _enumerated(table: Table, most: int) -> FewPermutations | None:
    """The permutations of one context; None if there are more than ``most``. Cached: features share many tables.

    In integers up to the division: the differences can be very small relative to the statistics.
    """
    by_value, by_label = [sum(row) for row in table], tuple(map(sum, zip(*table, strict=True)))
    observed = [sum(x * x for x in row) for row in table]
    total = math.lgamma(sum(by_value) + 1) - sum(math.lgamma(n + 1) for n in by_label)
    more, chances = [], []
    for rows, log_ways in islice(_tables(by_value, by_label), most + 1):
        permuted = [sum(x * x for x in row) for row in rows]
        more.append(sum((x - y) / (2 * n) for x, y, n in zip(permuted, observed, by_value, strict=True)))
        chances.append(log_ways - total)
    weights = np.exp(np.array(chances))
    return FewPermutations(np.array(more), weights / weights.sum()) if len(more) <= most else None


def _tables(by_value: list[int], by_label: tuple[int, ...]) -> Iterator[tuple[list[tuple[int, ...]], float]]:
    """All tables with these margins, with the logarithm of the number of permutations that give each.

    Every choice of the first rows can be completed, so the search never has to go back.
    """
    if len(by_value) == 1:
        yield [by_label], math.lgamma(by_value[0] + 1) - sum(math.lgamma(x + 1) for x in by_label)
        return
    n = by_value[0]
    for row in _rows(n, by_label):
        log_ways = math.lgamma(n + 1) - sum(math.lgamma(x + 1) for x in row)
        remaining = tuple(a - b for a, b in zip(by_label, row, strict=True))
        for rest, more in _tables(by_value[1:], remaining):
            yield [row, *rest], log_ways + more


def _rows(n: int, limits: tuple[int, ...]) -> Iterator[tuple[int, ...]]:
    """All ways to write n as a sum of numbers within limits."""
    if len(limits) == 1:
        if n <= limits[0]:
            yield (n,)
        return
    for first in range(max(0, n - sum(limits[1:])), min(n, limits[0]) + 1):
        for rest in _rows(n - first, limits[1:]):
            yield (first, *rest)
