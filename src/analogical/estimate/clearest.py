"""The direction of an effect: the clearest difference in label shares between two values of a feature."""

from collections.abc import Iterable
from dataclasses import dataclass
from itertools import product
from statistics import NormalDist

from analogical.estimate.sizes import ROUNDING, Size

__all__ = ["ValueDifference", "clearest_difference"]


@dataclass(frozen=True)
class ValueDifference:
    """How much more often a value has a label than another value; values and label are codes."""

    against: int
    value: int
    label: int
    difference: float
    """Share of the label with the value less that with the other one, as far as all contexts agree; -1 to 1."""
    error: float
    """Its standard error."""

    def points(self, confidence: float) -> tuple[float, float, float]:
        """The difference and its interval in percentage points, rounded because sums have rounding errors."""
        reach = NormalDist().inv_cdf((1 + confidence) / 2) * self.error
        ends = (self.difference + move for move in (0.0, -reach, reach))
        point, low, high = (round(100 * min(max(end, -1.0), 1.0), 9) for end in ends)
        return point, low, high


def clearest_difference(size: Size, values: Iterable[tuple[int, int]], labels: Iterable[int]) -> ValueDifference | None:
    """Of pairs of values, the reference first, and labels the difference that is largest for its standard error."""
    differences = []
    for (against, value), label in product(values, labels):
        places = int(size.values[against]), int(size.values[value]), int(size.labels[label])
        differences.append(ValueDifference(against, value, label, *size.common.between(*places)))
    # rounded, so that rounding errors of sums do not decide which value is named
    return max(
        differences,
        key=lambda d: (round(abs(d.difference) / max(d.error, ROUNDING), 6), d.difference > 0),
        default=None,
    )
