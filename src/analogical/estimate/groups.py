"""Tests for dependent rows: several visits of a patient, or copies of a row, are one group.

A feature is tested in two ways, and twice the smaller p-value is used. *Within groups*, rows of the same group and
context are compared: what is particular to a group cancels, and if the feature has no effect, every order of the labels
of a group is equally likely. *Between groups*, each group is one observation: how much more often than expected from
its contexts it has a value, against how much more often it has a label.
"""

import math
import sys
from dataclasses import dataclass
from typing import Any

import numpy as np

from analogical._types import Bools, CodedRows, Codes, Floats, Positions
from analogical.count.contexts import Stack
from analogical.count.given import RowContexts
from analogical.count.pairs import find_contexts
from analogical.estimate.sizes import ENOUGH_GROUPS, ROUNDING
from analogical.estimate.tests import Scores, combine, test_stack

__all__ = ["group_p_value"]

PLAIN_KURTOSIS = 2.0
"""Kurtosis of the deviations up to which no group stands out; a larger one reduces the effective number of groups.

Evenly spread shares have 1.8, a value that k of n groups have about n / k. With 1, ten groups detect less than half of
the effects that they detect with 2; with 2, every setting of benchmarks/coverage has p <= .05 in at most 6 % of the
tables if the feature has no effect."""


def group_p_value(rows: CodedRows) -> float:
    """P-value of the feature in column 0, given the columns between it and the group of each row, the last column.

    Rows of the same group may depend on each other. NaN if neither of the two tests can be made.
    """
    return combine((_p_within(rows), _p_between(rows)))


def _p_within(rows: CodedRows) -> float:
    """The tests of independent rows, with the group as one more given column, without the test that pools contexts."""
    contexts = find_contexts(rows, [0])[0]
    (tested,) = test_stack(Stack.of([contexts]), Scores.of_classes(rows.label_sizes()), [None])
    return math.nan if tested is None else tested.p_value


def _p_between(rows: CodedRows) -> float:
    """Every value against every label with groups as observations; the smallest p-value times their number."""
    context = RowContexts.by(rows, range(1, rows.n_features - 1)).of_row.astype(np.intp)
    group = np.unique(rows.codes[:, -1], return_inverse=True)[1]
    groups = _Groups.of(group, context, rows.weights_or_ones().astype(np.float64), rows.labels)
    values = rows.codes[:, 0]
    of_labels = [groups.deviations(rows.labels == label) for label in _held_by_groups(rows.labels, group)]
    p_values = []
    for value in _held_by_groups(values, group):
        of_value = groups.deviations(values == value)
        p_values += [groups.p_value(of_value, of_label) for of_label in of_labels]
    return combine(p_values)


def _held_by_groups(codes: Codes, group: Positions) -> list[Any]:
    """Values that three groups or more have, as with fewer small p-values are impossible.

    Of two values only the first, which determines the other.
    """
    known, place = np.unique(codes, return_inverse=True)
    span = int(group.max()) + 1
    n_groups = np.bincount(np.unique(place.astype(np.int64) * span + group) // span, minlength=len(known))
    enough: list[Any] = known[n_groups >= 3].tolist()
    return enough if len(known) > 2 else enough[:1] * (len(enough) == len(known) == 2)


@dataclass(frozen=True)
class _Groups:
    """Groups as observations.

    A group of n rows has the weight n / (1 + (n - 1) r), where r is the correlation of labels within groups: n if they
    are independent, 1 if they are equal.
    """

    group: Positions
    context: Positions
    weight: Floats
    """Group, context and weight of each row."""
    size: Floats
    """Weight of each group."""
    own: Floats
    """Share of each group in its contexts: 1 if it is alone there, so that it has no expectation."""

    @classmethod
    def of(cls, group: Positions, context: Positions, weight: Floats, labels: Codes) -> "_Groups":
        """From the rows."""
        alike = _likeness(group, context, weight, labels)
        weight = weight / (1 + (np.bincount(group, weight)[group] - 1) * alike)
        size: Floats = np.bincount(group, weight).astype(np.float64)
        cells, cell = np.unique(context.astype(np.int64) * len(size) + group, return_inverse=True)
        shares = np.bincount(cell, weight) / np.bincount(context, weight)[cells // len(size)]
        own = np.bincount(cells % len(size), np.bincount(cell, weight) * shares) / size
        return cls(group, context, weight, size, own)

    def deviations(self, holds: Bools) -> Floats:
        """How much more often than in its contexts ``holds`` is true in each group, scaled to about equal variances."""
        kept = 1 - self.own > ROUNDING
        deviations = _deviations(self.group, self.context, self.weight, holds)[kept]
        scaled: Floats = deviations / np.sqrt(self.size[kept]) / (1 - self.own[kept]) ** 0.25
        return scaled

    def p_value(self, a: Floats, b: Floats) -> float:
        """P-value of the sum of products of two deviations; NaN with too few effective groups.

        The smaller of two t values is used. One permutes the deviations over the groups, as in the test of a
        correlation, and is valid if few groups have a value. The other allows every group its own variance (HC3:
        MacKinnon and White 1985), and is valid if values depend on the sizes of groups.
        """
        from scipy.special import stdtr

        free = 1 - self.own[1 - self.own > ROUNDING]
        n_free = float(free.sum())
        squares = float((a**2).sum()), float((b**2).sum())
        if min(squares) <= ROUNDING * self.size.sum():
            return math.nan
        n_effective = n_free * _evenness(a) * _evenness(b)
        if n_effective < ENOUGH_GROUPS:
            return math.nan
        total = float((a * b) @ np.sqrt(free))
        permuted = total**2 * len(a) / (squares[0] * squares[1])
        t = math.sqrt(permuted * (n_free - 1) / max(n_free - permuted, ROUNDING))
        leverage = np.minimum(a**2 / squares[0], 1 - ROUNDING)
        own = float((a**2) @ ((b - total / squares[0] * a) / (1 - leverage)) ** 2)
        t = min(t, abs(total) / math.sqrt(max(own, ROUNDING * squares[0] * squares[1] / len(a))))
        p = 2 * float(stdtr(n_effective - 1, -t))
        return max(p, _rarest_permutation(a, b), sys.float_info.min)


def _deviations(group: Positions, context: Positions, weight: Floats, holds: Bools) -> Floats:
    """For each group, the rows in which ``holds`` is true minus those expected from the shares of their contexts."""
    share = np.bincount(context, weight * holds) / np.bincount(context, weight)
    return np.asarray(np.bincount(group, weight * (holds - share[context])), np.float64)


def _likeness(group: Positions, context: Positions, weight: Floats, labels: Codes) -> float:
    """Correlation of the labels of two rows of a group beyond their contexts; at least 0."""
    n_rows = np.bincount(group, weight)
    n_pairs = float((n_rows * (n_rows - 1)).sum())
    together = alone = 0.0
    of_context = np.bincount(context, weight)
    for label in np.unique(labels).tolist():
        holds = labels == label
        held = np.bincount(context, weight * holds)
        own = float((held * (1 - held / of_context)).sum())
        together += float((_deviations(group, context, weight, holds) ** 2).sum()) - own
        alone += own
    return min(max(together / n_pairs / (alone / n_rows.sum()), 0.0), 1.0) if n_pairs and alone > ROUNDING else 0.0


def _evenness(deviations: Floats) -> float:
    """Effective share of the groups (Kish); 1 if no group stands out."""
    squares = deviations**2
    return min(1.0, PLAIN_KURTOSIS * float(squares.mean() ** 2 / (squares**2).mean()))


def _rarest_permutation(a: Floats, b: Floats) -> float:
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
