"""Permutations of the labels within each context: exact distributions.

If a feature has no effect, every assignment of the labels of a context to its rows is equally likely. In a context of n
rows, a with a value and b with a label, the number of rows with both is then hypergeometric. Contexts are independent,
so the distribution of a sum over contexts is the convolution of theirs. All terms are positive: nothing cancels, and a
probability of 10^-200 has as many correct digits as one of .1.
"""

import math
import sys
from collections.abc import Iterable
from dataclasses import dataclass
from functools import lru_cache

import numpy as np

from analogical._types import Floats, Ints
from analogical.estimate.sizes import ROUNDING


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


def smallest_of(p_values: Iterable[PValue]) -> float:
    """The smallest of several p-values, multiplied by the number of those that could be so small; NaNs do not count.

    This is Bonferroni's correction in Tarone's form (1990) for discrete tests: a test whose smallest possible p-value
    is above p could not have given p. It is valid: the corrected value rises with p, so it is at most t only if some p
    is at most some s, and the probability of that is at most s times the number of tests that count at s, which is at
    most t.
    """
    known = [(test.p, test.smallest) for test in p_values if not math.isnan(test.p)]
    if not known:
        return math.nan
    tests, possible = np.array(known).T
    possible.sort()
    return float(np.minimum(tests * np.searchsorted(possible, tests * (1 + ROUNDING), "right"), 1.0).min())


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


def pearson_tail(z: float, skewness: float) -> float:
    """Upper tail at z of Pearson's type III distribution with mean 0, variance 1 and this skewness."""
    from scipy.special import gammainc, gammaincc, ndtr

    if abs(skewness) < 1e-4:
        return float(ndtr(-z))
    shape = 4 / skewness**2
    if skewness > 0:
        return float(gammaincc(shape, max(shape + z * math.sqrt(shape), 0.0)))
    return float(gammainc(shape, max(shape - z * math.sqrt(shape), 0.0)))
