"""Tests for dependent rows: several visits of a patient, or copies of a row, are one unit.

A feature is tested in two ways, and twice the smaller p-value is used. *Within units*, rows of the same unit and
context are compared: what is particular to a unit cancels, and if the feature has no effect, every order of the labels
of a unit is equally likely. *Between units*, each unit is one observation: how much more often than expected from its
contexts it has a value, against how much more often it has a label.
"""

import math
import sys
from dataclasses import dataclass
from typing import Any

import numpy as np

from analogical._types import Bools, CodedRows, Codes, Floats, Positions
from analogical.count.contexts import Stack
from analogical.count.given import Cells
from analogical.count.pairs import find_contexts
from analogical.estimate.significance import combine, test_stack

__all__ = ["unit_p_value", "varies_within_units"]

ENOUGH_UNITS = 5.0
"""Effective units needed for the test between units; with fewer, p <= .05 is hardly ever possible."""
PLAIN_KURTOSIS = 2.0
"""Kurtosis of the deviations up to which no unit stands out; a larger one reduces the effective number of units.

Evenly spread shares have 1.8, a value that k of n units have about n / k. With 1, ten units detect less than half of
the effects that they detect with 2; with 2, every setting of benchmarks/coverage has p <= .05 in at most 6 % of the
tables if the feature has no effect."""
FEW_UNITS = 3
"""Units with a value, or label, that the test between units needs: with fewer, small p-values are impossible."""
ROUNDING = 1e-9
"""Share of the whole below which a number is rounding error."""


def unit_p_value(rows: CodedRows) -> float:
    """P-value of the feature in column 0, given the columns between it and the unit of each row, the last column.

    Rows of the same unit may depend on each other. NaN if neither of the two tests can be made.
    """
    return combine((_p_within(rows), _p_between(rows)))


def varies_within_units(rows: CodedRows) -> bool:
    """Whether the feature in column 0 varies in a context within a unit, the last column."""
    columns = range(rows.n_features)
    return len(Cells.by(rows, columns)) > len(Cells.by(rows, columns[1:]))


def _p_within(rows: CodedRows) -> float:
    """The tests of independent rows, with the unit as one more given column, without the test that pools contexts."""
    contexts = find_contexts(rows, [0])[0]
    (tested,) = test_stack(Stack.of([contexts]), [rows.value_sizes(0)], rows.label_sizes())
    return math.nan if tested is None else tested.p_value


def _p_between(rows: CodedRows) -> float:
    """Every value against every label with units as observations; the smallest p-value times their number."""
    context = Cells.by(rows, range(1, rows.n_features - 1)).of_row.astype(np.intp)
    unit = np.unique(rows.codes[:, -1], return_inverse=True)[1]
    units = _Units.of(unit, context, rows.weights_or_ones().astype(np.float64), rows.labels)
    values = rows.codes[:, 0]
    of_labels = [units.deviations(rows.labels == label) for label in _held_by_units(rows.labels, unit)]
    p_values = []
    for value in _held_by_units(values, unit):
        of_value = units.deviations(values == value)
        p_values += [units.p_value(of_value, of_label) for of_label in of_labels]
    return combine(p_values)


def _held_by_units(codes: Codes, unit: Positions) -> list[Any]:
    """Values that enough units have; of two values only the first, which determines the other."""
    known, place = np.unique(codes, return_inverse=True)
    span = int(unit.max()) + 1
    n_units = np.bincount(np.unique(place.astype(np.int64) * span + unit) // span, minlength=len(known))
    enough: list[Any] = known[n_units >= FEW_UNITS].tolist()
    return enough if len(known) > 2 else enough[:1] * (len(enough) == len(known) == 2)


@dataclass(frozen=True)
class _Units:
    """Units as observations.

    A unit of n rows has the weight n / (1 + (n - 1) r), where r is the correlation of labels within units: n if they
    are independent, 1 if they are equal.
    """

    unit: Positions
    context: Positions
    weight: Floats
    """Unit, context and weight of each row."""
    size: Floats
    """Weight of each unit."""
    own: Floats
    """Share of each unit in its contexts: 1 if it is alone there, so that it has no expectation."""

    @classmethod
    def of(cls, unit: Positions, context: Positions, weight: Floats, labels: Codes) -> "_Units":
        """From the rows."""
        alike = _likeness(unit, context, weight, labels)
        weight = weight / (1 + (np.bincount(unit, weight)[unit] - 1) * alike)
        size: Floats = np.bincount(unit, weight).astype(np.float64)
        cells, cell = np.unique(context.astype(np.int64) * len(size) + unit, return_inverse=True)
        shares = np.bincount(cell, weight) / np.bincount(context, weight)[cells // len(size)]
        own = np.bincount(cells % len(size), np.bincount(cell, weight) * shares) / size
        return cls(unit, context, weight, size, own)

    def deviations(self, holds: Bools) -> Floats:
        """How much more often than in its contexts ``holds`` is true in each unit, scaled to about equal variances."""
        kept = 1 - self.own > ROUNDING
        deviations = _deviations(self.unit, self.context, self.weight, holds)[kept]
        scaled: Floats = deviations / np.sqrt(self.size[kept]) / (1 - self.own[kept]) ** 0.25
        return scaled

    def p_value(self, a: Floats, b: Floats) -> float:
        """P-value of the sum of products of two deviations; NaN with too few effective units.

        The smaller of two t values is used. One permutes the deviations over the units, as in the test of a
        correlation, and is valid if few units have a value. The other allows every unit its own variance (HC3:
        MacKinnon and White 1985), and is valid if values depend on the sizes of units.
        """
        from scipy.special import stdtr

        free = 1 - self.own[1 - self.own > ROUNDING]
        n_free = float(free.sum())
        squares = float((a**2).sum()), float((b**2).sum())
        if min(squares) <= ROUNDING * self.size.sum():
            return math.nan
        n_effective = n_free * _evenness(a) * _evenness(b)
        if n_effective < ENOUGH_UNITS:
            return math.nan
        total = float((a * b) @ np.sqrt(free))
        dealt = total**2 * len(a) / (squares[0] * squares[1])
        t = math.sqrt(dealt * (n_free - 1) / max(n_free - dealt, ROUNDING))
        leverage = np.minimum(a**2 / squares[0], 1 - ROUNDING)
        own = float((a**2) @ ((b - total / squares[0] * a) / (1 - leverage)) ** 2)
        t = min(t, abs(total) / math.sqrt(max(own, ROUNDING * squares[0] * squares[1] / len(a))))
        p = 2 * float(stdtr(n_effective - 1, -t))
        return max(p, _rarest_deal(a, b), sys.float_info.min)


def _deviations(unit: Positions, context: Positions, weight: Floats, holds: Bools) -> Floats:
    """For each unit, the rows in which ``holds`` is true minus those expected from the shares of their contexts."""
    share = np.bincount(context, weight * holds) / np.bincount(context, weight)
    return np.asarray(np.bincount(unit, weight * (holds - share[context])), np.float64)


def _likeness(unit: Positions, context: Positions, weight: Floats, labels: Codes) -> float:
    """Correlation of the labels of two rows of a unit beyond their contexts; at least 0."""
    n_rows = np.bincount(unit, weight)
    n_pairs = float((n_rows * (n_rows - 1)).sum())
    together = alone = 0.0
    of_context = np.bincount(context, weight)
    for label in np.unique(labels).tolist():
        holds = labels == label
        held = np.bincount(context, weight * holds)
        own = float((held * (1 - held / of_context)).sum())
        together += float((_deviations(unit, context, weight, holds) ** 2).sum()) - own
        alone += own
    return min(max(together / n_pairs / (alone / n_rows.sum()), 0.0), 1.0) if n_pairs and alone > ROUNDING else 0.0


def _evenness(deviations: Floats) -> float:
    """Effective share of the units (Kish); 1 if no unit stands out."""
    squares = deviations**2
    return min(1.0, PLAIN_KURTOSIS * float(squares.mean() ** 2 / (squares**2).mean()))


def _rarest_deal(a: Floats, b: Floats) -> float:
    """Probability of the largest sum of products, of either sign, if one of two lists is permuted at random.

    The largest sum pairs sorted numbers. With a_i equal numbers in one list, b_j in the other and n_ij in both, that
    permutation has the probability prod a_i! prod b_j! / (n! prod n_ij!).
    """
    from scipy.special import gammaln

    a, b = (np.round(np.sort(x / np.abs(x).max()), 9) for x in (a, b))
    sums = abs(float(a @ b)), abs(float(a @ b[::-1]))
    probability = 0.0
    for total, other in zip(sums, (b, b[::-1]), strict=True):
        if total >= max(sums) * (1 - ROUNDING):
            new_a, new_other = np.diff(a) != 0, np.diff(other) != 0
            runs = [
                np.diff(np.flatnonzero(np.concatenate([[True], is_new, [True]])))
                for is_new in (new_a, new_other, new_a | new_other)
            ]
            of_a, of_b, of_both = (float(gammaln(n + 1).sum()) for n in runs)
            probability += math.exp(of_a + of_b - of_both - float(gammaln(len(a) + 1)))
    return probability
