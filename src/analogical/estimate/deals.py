"""Is it more than noise? A test that deals the labels of each context to its rows at random.

Within a context, rows with the same value are identical: how often their labels differ is the noise at those very rows.
The statistic is the mean number of other rows of its value that share a row's label, added up over all rows: the more
the labels go with the values, the larger (the between-group part of Light and Margolin's analysis of variance for
categories, 1971). If the feature does nothing, the rows of a context could have received their labels in any order.
Over all orders the statistic has a known mean, variance and skewness, and these fix a gamma distribution (Pearson's
type III, as in the tests of Mielke and Berry). Nothing is assumed about the noise, which may differ from context to
context, nor about the number of pairs that a row sits in. A context tells something only if it holds two values, two
labels and a repeated row. Where few rows could be dealt another label the statistic takes few values and no smooth tail
holds: then ``exact_deals`` goes through all deals, or the test is left out.
"""

import math
import sys
from dataclasses import dataclass
from decimal import Decimal, localcontext
from typing import Any

import numpy as np
from numpy.typing import NDArray

from analogical._types import Bools, Floats, Ints, Positions
from analogical.count.contexts import Contexts, Parts, Stack, differs_from_last
from analogical.estimate.laws import ENOUGH

__all__ = ["DealMoments", "can_tell", "largest_parts", "pearson_tail"]

DIGITS = 100
"""Digits of decimal numbers: what is left of sums of cubes of up to 2^31 rows, less each other, is exact."""
ROUNDING = 1e-15
"""Rounding error of a sum of floats, relative to its terms."""
PRECISION = 1e-5
"""Contexts whose third moment is not known so well in floats, relative to the variance of all, are computed in decimal
numbers: it is what is left of cubes of the mean, less each other."""
ZERO = Decimal("1e-30")
"""A variance below this part of the squared mean is 0 but for the rounding of decimal numbers."""


@dataclass(frozen=True)
class DealMoments:
    """The statistic of a feature less its mean over all deals, and its second and third central moments.

    All three add over contexts, because each context deals its labels by itself.
    """

    deviation: float
    variance: float
    third: float
    spread: float = 0.0
    """Squared variance over the room of each context, added up: small if many contexts, or roomy ones, vary."""

    def __add__(self, other: "DealMoments") -> "DealMoments":
        return DealMoments(
            self.deviation + other.deviation,
            self.variance + other.variance,
            self.third + other.third,
            self.spread + other.spread,
        )

    @classmethod
    def of(cls, contexts: Contexts) -> "DealMoments":
        """Moments of the contexts of a feature."""
        return cls.of_stack(Stack.of([contexts]))[0]

    @classmethod
    def of_stack(cls, stack: Stack) -> "list[DealMoments]":
        """Moments of the contexts of each of several features."""
        contexts, n_rows = stack.contexts, stack.contexts.n_rows
        tells = can_tell(contexts)
        observed = contexts.sizes * (contexts.sizes - 1) / (2 * contexts.value_sizes)
        total = stack.sums_of_cells(np.where(tells[contexts.owner], contexts.times[contexts.owner] * observed, 0.0))
        sums = np.zeros((4, stack.n_features))
        sums[0] = total
        if tells.any():

            def moments(some: Bools, in_decimals: bool) -> tuple[NDArray[Any], NDArray[Any], NDArray[Any]]:
                values, labels = contexts.value_parts, contexts.label_parts
                sides = (_Shapes.of(values, some, in_decimals, shared=True), _Shapes.of(labels, some, in_decimals))
                return _moments(_numbers(n_rows[some], in_decimals), *sides)

            mean, variance, third = moments(tells, False)
            times, feature = contexts.times[tells], stack.feature[tells]
            largest = np.bincount(feature, times * variance, minlength=stack.n_features).clip(0)
            bar = np.array([PRECISION * of_all**1.5 for of_all in largest.tolist()])
            cancels = times * mean**3 * ROUNDING > bar[feature]
            room = _room(contexts)[tells]
            kept = ~cancels
            in_floats = (numbers[kept] for numbers in (feature, times, room, mean, variance, third))
            sums += _summed(stack.n_features, *in_floats)
            if cancels.any():
                some = tells.copy()
                some[tells] = cancels
                with localcontext(prec=DIGITS):
                    mean, variance, third = moments(some, True)
                    varies = variance > mean**2 * ZERO
                    of_contexts = feature[cancels], times[cancels], room[cancels]
                    sums += _summed(stack.n_features, *of_contexts, mean, variance * varies, third * varies)
        return [cls(*of_feature) for of_feature in sums.T.tolist()]

    @property
    def room(self) -> float:
        """Rows expected to have neither the most frequent value nor the most frequent label of their context.

        A sum over contexts, if all vary alike; the less, the more of the variance comes from contexts with little room.
        """
        return self.variance**2 / self.spread if self.spread > 0 else 0.0

    def p_value(self) -> float:
        """Probability of a statistic at least this large if the feature had no effect.

        NaN if no context tells, and if so few rows tell that the tail does not hold.
        """
        if self.room < ENOUGH:
            return math.nan
        p = pearson_tail(self.deviation / math.sqrt(self.variance), self.third / self.variance**1.5)
        return max(p, sys.float_info.min)


def can_tell(contexts: Contexts) -> Bools:
    """Which contexts hold two values, two labels, a repeated value and a repeated label."""
    n_values, n_labels = (
        np.bincount(parts.owner, minlength=len(contexts)) for parts in (contexts.value_parts, contexts.label_parts)
    )
    n_rows = contexts.n_rows
    tells: Bools = (n_values > 1) & (n_values < n_rows) & (n_labels > 1) & (n_labels < n_rows)
    return tells


def largest_parts(contexts: Contexts) -> tuple[Ints, Ints]:
    """Rows of each context with its most frequent value, and with its most frequent label."""
    value, label = (
        np.maximum.reduceat(parts.sizes, np.flatnonzero(differs_from_last(parts.owner)))
        for parts in (contexts.value_parts, contexts.label_parts)
    )
    return value, label


def _room(contexts: Contexts) -> Floats:
    """Rows of each context that are expected to have neither its most frequent value nor its most frequent label."""
    value, label = largest_parts(contexts)
    room: Floats = (contexts.n_rows - value) * (1 / contexts.n_rows) * (contexts.n_rows - label)
    return room


def pearson_tail(z: float, skewness: float) -> float:
    """Chance of at least z under the distribution of type III with mean 0, variance 1 and this skewness."""
    from scipy.special import gammainc, gammaincc, ndtr

    if abs(skewness) < 1e-4:
        return float(ndtr(-z))
    shape = 4 / skewness**2
    if skewness > 0:
        return float(gammaincc(shape, max(shape + z * math.sqrt(shape), 0.0)))
    return float(gammainc(shape, max(shape - z * math.sqrt(shape), 0.0)))


@dataclass(frozen=True)
class _Shapes:
    """Ways to place up to three pairs of rows, in order, so that both rows of each lie in one part of a context.

    A placement counts with the product of the weights of its pairs; the names say how the pairs meet. Two ordered pairs
    of rows can be the same two rows, share one row, or share none; three pairs can be the same two rows, lie on three
    rows (a triangle, or two pairs of a path of which one counts twice), on four rows that hang together, on two rows
    that count twice and two others, on three rows that hang together and two others, or on six rows. Each sum below is
    one of these: with n(k) = n (n - 1) ... (n - k + 1) ordered choices of k rows within a part of n rows, pairs that
    must lie in the same part give a sum of n(k) w^j, and pairs that lie in any two parts give the product of their
    sums,
    less the choices that used a row twice.
    """

    pair: NDArray[Any]
    pair_twice: NDArray[Any]
    pair_thrice: NDArray[Any]
    path: NDArray[Any]
    """Two pairs with a row in common."""
    path_thrice: NDArray[Any]
    """Three pairs on three rows: a triangle, or a path with one of its pairs twice."""
    star: NDArray[Any]
    """Three pairs that hold together four rows: a star or a path."""
    apart: NDArray[Any]
    apart_thrice: NDArray[Any]
    """Two pairs apart, the first of them twice."""
    path_and_pair: NDArray[Any]
    all_apart: NDArray[Any]

    @classmethod
    def of(cls, parts: Parts, some: Bools, in_decimals: bool, *, shared: bool = False) -> "_Shapes":
        """The shapes found in the parts of some contexts.

        With ``shared``, a pair of rows counts one over the size of its part, instead of one.
        """
        mine = some[parts.owner]
        owner, sizes = parts.owner[mine], parts.sizes[mine]
        times: Ints | int = 1
        if in_decimals:  # decimal numbers are slow, and parts of n rows have at most sqrt(2 n) different sizes
            base = int(sizes.max()) + 1
            known, times = np.unique(owner * base + sizes, return_counts=True)
            owner, sizes = np.divmod(known, base)
        starts = np.flatnonzero(differs_from_last(owner))
        n1 = _numbers(sizes, in_decimals)
        n2 = n1 * (n1 - 1)
        n3 = n2 * (n1 - 2)
        n4 = n3 * (n1 - 3)
        n5 = n4 * (n1 - 4)
        w = _ratio(n1**0, n1 if shared else n1**0)

        def total(terms: NDArray[Any]) -> NDArray[Any]:
            sums: NDArray[Any] = np.add.reduceat(times * terms, starts)
            return sums

        x = n2 * w
        two, two2, x2 = total(x), total(x * w), total(x**2)
        path2, four2 = total(n3 * w**2), total(n4 * w**2)
        four3 = total(n4 * w**3)
        return cls(
            pair=two,
            pair_twice=two2,
            pair_thrice=total(x * w**2),
            path=path2,
            path_thrice=total(n3 * w**3),
            star=four3,
            apart=two**2 - x2 + four2,
            apart_thrice=two2 * two - total(x**2 * w) + four3,
            path_and_pair=path2 * two - total(n3 * w**2 * x) + total(n5 * w**3),
            all_apart=two**3
            - 3 * two * x2
            + 2 * total(x**3)
            + 3 * (four2 * two - total(n4 * w**2 * x))
            + total(n5 * (n1 - 5) * w**3),
        )


def _moments(n: NDArray[Any], values: _Shapes, labels: _Shapes) -> tuple[NDArray[Any], NDArray[Any], NDArray[Any]]:
    """Mean, variance and third central moment of the coincidences of contexts of n rows.

    A coincidence is a pair of rows with the same value and the same label, when labels are dealt at random. The
    powers of their number are sums over two or three pairs of rows; the chance of each way in which
    these meet is one for the values times one for the labels.
    """
    n2 = n * (n - 1)
    n3 = n2 * (n - 2)
    n4 = n3 * (n - 3)
    n5 = n4 * (n - 4)
    mean = _ratio(values.pair * labels.pair, 2 * n2)
    square = (
        _ratio(values.pair_twice * labels.pair_twice, 2 * n2)
        + _ratio(values.path * labels.path, n3)
        + _ratio(values.apart * labels.apart, 4 * n4)
    )
    cube = (
        _ratio(values.pair_thrice * labels.pair_thrice, 2 * n2)
        + 4 * _ratio(values.path_thrice * labels.path_thrice, n3)
        + 3 * _ratio(values.apart_thrice * labels.apart_thrice, 4 * n4)
        + 4 * _ratio(values.star * labels.star, n4)
        + 3 * _ratio(values.path_and_pair * labels.path_and_pair, 2 * n5)
        + _ratio(values.all_apart * labels.all_apart, 8 * n5 * (n - 5))
    )
    return mean, square - mean**2, cube - 3 * square * mean + 2 * mean**3


def _summed(
    n_features: int,
    feature: Positions,
    times: Ints,
    room: Floats,
    mean: NDArray[Any],
    variance: NDArray[Any],
    third: NDArray[Any],
) -> Floats:
    """For each feature less the mean, variance, third moment and spread of its contexts, each so many times."""
    starts = np.flatnonzero(differs_from_last(feature))
    sums = np.zeros((4, n_features))
    if len(starts):
        spread = times * variance.astype(np.float64) ** 2 / room
        for k, terms in enumerate((-(times * mean), times * variance, times * third, spread)):
            sums[k, feature[starts]] = np.add.reduceat(terms, starts).astype(np.float64)
    return sums


def _numbers(counts: Ints, in_decimals: bool) -> NDArray[Any]:
    """Counts as numbers to calculate with."""
    if not in_decimals:
        return counts.astype(np.float64)
    return np.array([Decimal(count) for count in counts.tolist()], dtype=np.object_)


def _ratio(numerator: NDArray[Any], denominator: NDArray[Any]) -> NDArray[Any]:
    """The quotient; 0 where there are too few rows for the shape."""
    quotient: NDArray[Any] = np.divide(numerator, denominator, out=np.zeros_like(numerator), where=denominator > 0)
    return quotient
