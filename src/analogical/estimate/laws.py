"""Exact laws of sums over contexts: rows of one value that get one label when each context deals its labels.

In a context of n rows, of which a have the value and b the label, their number is hypergeometric; contexts deal by
themselves, so the law of the sum is the convolution of theirs. All terms are positive: nothing cancels, and a chance of
10^-200 has as many right digits as one of .1.
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
"""5, less the rounding of sums, whose order must not decide. Room that a cell needs for a smooth tail: how far its rows
can go below or above the expected ones, whichever is less, added up over contexts. In one context this is Cochran's
rule of five expected rows. Mantel and Fleiss (1980) add up both sides first and then take the less; where the most
frequent label changes from context to context that finds room on either side though hardly a row can move (p <= .01 in
2.3 % of tables without an effect; with this rule, and a room of 4 to 6, in .5 to 1.1 %: ``benchmarks/coverage``)."""
TIE = 1e-9
"""Chances, relative to each other, that are equal but for rounding."""
TINY = 1e-300
"""Chances below this are left out of a law: products of two of them leave the floats."""


@dataclass(frozen=True)
class PValue:
    """A p-value, and the smallest that these numbers of values and labels in the contexts could have given."""

    p: float
    smallest: float = 0.0


@dataclass(frozen=True)
class Law:
    """The chances of a whole number, from ``lowest`` on."""

    lowest: int
    chances: Floats

    def __add__(self, other: "Law") -> "Law":
        """The law of the sum of two independent numbers."""
        return _trimmed(self.lowest + other.lowest, np.convolve(self.chances, other.chances))

    def times(self, n: int) -> "Law":
        """The law of the sum of n independent numbers with this law, by squaring."""
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
        """Chance of all outcomes that are not more likely than the observed one, as in Fisher's exact test."""
        place = observed - self.lowest
        inside = 0 <= place < len(self.chances)
        rarest = float(self.chances[self.chances > 0].min())
        p, smallest = (
            float(self.chances[self.chances <= chance * (1 + TIE)].sum())
            for chance in (float(self.chances[place]) if inside else 0.0, rarest)
        )
        # An outcome that was left out as too rare is no more likely than the rarest one kept.
        return PValue(min(max(p, sys.float_info.min), 1.0), min(smallest, 1.0))


def smallest_of(p_values: Iterable[PValue]) -> PValue:
    """The smallest of several p-values, multiplied by how many of them could be so small.

    This is Bonferroni's correction as Tarone (1990) has it for discrete tests: a test whose smallest possible p-value
    is above p could not have given p, so it does not count. What is corrected grows with p; it is at most t where some
    p is at most some s, and the chance of that is at most s times the number of tests that count at s, which is at most
    t. Unknown ones (NaN) do not count; NaN if all are unknown.
    """
    known = [one for one in p_values if not math.isnan(one.p)]
    if not known:
        return PValue(math.nan)

    def corrected(p: float) -> float:
        return min(1.0, p * sum(one.smallest <= p * (1 + TIE) for one in known))

    return PValue(min(corrected(one.p) for one in known), min(corrected(one.smallest) for one in known))


NOTHING = Law(0, np.ones(1))
"""The law of a sum without terms."""


def law_of_contexts(n: Ints, a: Ints, b: Ints, times: Ints) -> Law:
    """The law of rows of the value that have the label, over contexts of n rows, a of the value, b with the label."""
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

    ``scipy.stats.hypergeom.pmf`` loses digits to logarithms of factorials when n is large, so that outcomes which are
    equally likely differ; ratios of neighbours, added up, do not.
    """
    least, most = max(0, a + b - n), min(a, b)
    # The likeliest outcome is the last one that is likelier than the one before: the root of a quadratic equation.
    linear, product = (a + b + 2) * odds + n - a - b, (a + 1) * (b + 1) * odds
    root = math.sqrt(max(linear**2 - 4 * (odds - 1) * product, 0.0))
    likeliest = min(max(int(2 * product / (linear + root)), least), most)
    cells = (likeliest, a - likeliest, b - likeliest, n - a - b + likeliest)
    # Chances outside of this reach are below TINY: a Poisson or normal law has none beyond.
    reach = 200 + int(40 / math.sqrt(sum(1 / (cell + 0.5) for cell in cells)))
    lowest, highest = max(least, likeliest - reach), min(most, likeliest + reach)
    x = np.arange(lowest, highest, dtype=np.float64)
    ratios = np.log((a - x) / (x + 1)) + np.log((b - x) / (n - a - b + x + 1)) + math.log(odds)
    logs = np.append(0.0, np.cumsum(ratios))
    chances = np.exp(logs - logs.max())
    return _trimmed(lowest, chances / chances.sum())


_known_law = lru_cache(maxsize=4096)(hypergeometric)
"""Features that are compared given the same columns meet the same numbers again and again."""


def _trimmed(lowest: int, chances: Floats) -> Law:
    if chances[0] > TINY and chances[-1] > TINY:
        return Law(lowest, chances)
    kept = np.flatnonzero(chances > TINY)
    return Law(lowest + int(kept[0]), chances[kept[0] : kept[-1] + 1])
