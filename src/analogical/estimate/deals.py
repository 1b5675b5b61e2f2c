"""The test of a difference in any direction: a permutation test of the labels within each context.

Rows of a context with the same value are identical: how often their labels differ is the noise. The statistic is,
summed over all rows, the mean number of other rows of the same value with the same label: the more the labels go with
the values, the larger it is (the between-group part of Light and Margolin's analysis of variance for categories, 1971).
If the feature has no effect, every assignment ("deal") of the labels of a context to its rows is equally likely. Over
all deals the statistic has a known mean, variance and skewness, which determine a gamma distribution (Pearson's type
III, as in the tests of Mielke and Berry). Nothing is assumed about the noise, which may differ between contexts, nor
about the number of pairs of a row. A context is informative only if it holds two values, two labels and a repeated row.
With few informative rows the statistic takes few values and no smooth tail holds: then ``exact_deals`` enumerates all
deals, or the test is left out.
"""

import math
import sys
from dataclasses import dataclass
from typing import Any

import numpy as np

from analogical._types import Bools, Floats, Ints
from analogical.count.contexts import ContextParts, Contexts, Stack, differs_from_last
from analogical.estimate.intervals import ROUNDING_SHARE
from analogical.estimate.laws import ENOUGH

__all__ = ["DealMoments", "is_informative", "largest_parts", "pearson_tail"]


@dataclass(frozen=True)
class DealMoments:
    """The statistic of a feature minus its mean over all deals, and its second and third central moments.

    All are sums over contexts, because the deals of contexts are independent.
    """

    deviation: float
    variance: float
    third: float
    spread: float = 0.0
    """Sum over contexts of the squared variance divided by the room of the context."""

    @classmethod
    def of_stack(cls, stack: Stack) -> "list[DealMoments]":
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
            terms = _deviation(contexts)[informative], variance, third, variance**2 / _room(contexts)[informative]
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
    """The statistic of each context minus its mean over all deals.

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


def _room(contexts: Contexts) -> Floats:
    """Expected rows of each context with neither its most frequent value nor its most frequent label."""
    value, label = largest_parts(contexts)
    room: Floats = (contexts.n_rows - value) * (1 / contexts.n_rows) * (contexts.n_rows - label)
    return room


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
    deals is a sum for the values times a sum for the labels, divided by the number of choices of rows.
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
