"""Exact distributions of the number of rows of one value with one label, summed over contexts.

In a context of n rows, a with the value and b with the label, the number is hypergeometric if labels are assigned at
random. Contexts are independent, so the distribution of the sum is the convolution of theirs. All terms are positive:
nothing cancels, and a probability of 10^-200 has as many correct digits as one of .1.
"""

import math
import sys
from collections.abc import Iterable
from dataclasses import dataclass
from functools import lru_cache

import numpy as np

from analogical._types import Floats, Ints

__all__ = ["ENOUGH", "NOTHING", "Law", "PValue", "hypergeometric", "law_of_contexts", "smallest_of"]

ENOUGH = 5.0 - 1e-9
"""Room that a cell needs for a smooth tail; 5, less the rounding of sums, whose order must not matter. The room is how
far the count can be below or above its expectation, whichever is less, summed over contexts. In one context this is
Cochran's rule of five expected rows. Mantel and Fleiss (1980) sum both sides first and then take the smaller one; where
the most frequent label differs between contexts that finds room on either side though hardly a row can move (p <= .01
in 2.3 % of tables without an effect; with this rule, and a room of 4 to 6, in .5 to 1.1 %: ``benchmarks/coverage``)."""
EQUAL_CHANCES = 1e-9
"""Relative difference of probabilities that are equal up to rounding."""
SMALLEST_CHANCE = 1e-300
"""Smaller probabilities are left out: products of two of them would underflow."""


@dataclass(frozen=True)
class PValue:
    """A p-value, and the smallest one that is possible with these numbers of rows by value and label."""

    p: float
    smallest: float = 0.0


@dataclass(frozen=True)
class Law:
    """A distribution over integers: ``chances`` are the probabilities from ``lowest`` on."""

    lowest: int
    chances: Floats

    def __add__(self, other: "Law") -> "Law":
        """The distribution of the sum of two independent numbers."""
        return _trimmed(self.lowest + other.lowest, np.convolve(self.chances, other.chances))

    def times(self, n: int) -> "Law":
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
            float(self.chances[self.chances <= chance * (1 + EQUAL_CHANCES)].sum())
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

    def corrected(p: float) -> float:
        return min(1.0, p * sum(test.smallest <= p * (1 + EQUAL_CHANCES) for test in known))

    return PValue(min(corrected(test.p) for test in known), min(corrected(test.smallest) for test in known))


NOTHING = Law(0, np.ones(1))
"""The distribution of an empty sum."""


def law_of_contexts(n: Ints, a: Ints, b: Ints, times: Ints) -> Law:
    """The rows of the value that have the label, over contexts of n rows, a with the value and b with the label."""
    law, sure = NOTHING, 0
    kinds: dict[tuple[int, int, int], int] = {}
    for kind, how_often in zip(zip(n.tolist(), a.tolist(), b.tolist(), strict=True), times.tolist(), strict=True):
        kinds[kind] = kinds.get(kind, 0) + how_often
    for (rows, of_value, of_label), how_often in sorted(kinds.items()):
        if 0 < of_value < rows and 0 < of_label < rows:
            law = law + _known_law(rows, of_value, of_label).times(how_often)
        else:
            sure += how_often * max(0, of_value + of_label - rows)
    return Law(law.lowest + sure, law.chances)


def hypergeometric(n: int, a: int, b: int, odds: float = 1.0) -> Law:
    """Rows of the value among b rows drawn from n rows, a of which have it; Fisher's noncentral law with an odds ratio.

    ``scipy.stats.hypergeom.pmf`` loses digits to logarithms of factorials when n is large, so that equally likely
    outcomes differ; sums of the logarithms of ratios of neighbours do not.
    """
    least, most = max(0, a + b - n), min(a, b)
    # The mode is the last outcome that is likelier than the one before: the root of a quadratic equation.
    linear, product = (a + b + 2) * odds + n - a - b, (a + 1) * (b + 1) * odds
    root = math.sqrt(max(linear**2 - 4 * (odds - 1) * product, 0.0))
    likeliest = min(max(int(2 * product / (linear + root)), least), most)
    cells = (likeliest, a - likeliest, b - likeliest, n - a - b + likeliest)
    # Probabilities outside this reach are below SMALLEST_CHANCE, as those of a Poisson or normal distribution.
    reach = 200 + int(40 / math.sqrt(sum(1 / (cell + 0.5) for cell in cells)))
    lowest, highest = max(least, likeliest - reach), min(most, likeliest + reach)
    x = np.arange(lowest, highest, dtype=np.float64)
    ratios = np.log((a - x) / (x + 1)) + np.log((b - x) / (n - a - b + x + 1)) + math.log(odds)
    logs = np.append(0.0, np.cumsum(ratios))
    chances = np.exp(logs - logs.max())
    return _trimmed(lowest, chances / chances.sum())


_known_law = lru_cache(maxsize=4096)(hypergeometric)
"""Cached, because features with the same given columns share many contexts."""


def _trimmed(lowest: int, chances: Floats) -> Law:
    if chances[0] > SMALLEST_CHANCE and chances[-1] > SMALLEST_CHANCE:
        return Law(lowest, chances)
    kept = np.flatnonzero(chances > SMALLEST_CHANCE)
    return Law(lowest + int(kept[0]), chances[kept[0] : kept[-1] + 1])
