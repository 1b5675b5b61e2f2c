"""Tests for dependent rows: several visits of a patient, or copies of a row, are one group.

The score test adds up x s over all rows: x is 1 for a value and 0 for others, s the same for a label, less what is
expected in the context of the row. Two rows of a group are alike, with a correlation r, so they say more about how they
differ than about what they have in common, and the sum is that of

    x s / (1 - r)                over rows, where x and s are deviations from the mean of the group, and of
    x s n / (1 + (n - 1) r)      over groups of n rows, where they are these means.

That is the score of generalised estimating equations with exchangeable rows (Liang and Zeger 1986). The variance comes
from the sums of whole groups: if r is wrong, or rows are alike in another way, only power is lost.
"""

import math
import sys
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from typing import TypeAlias

import numpy as np

from analogical._types import Bools, Codes, Floats, Positions
from analogical.count.contexts import Stack
from analogical.count.given import RowContexts
from analogical.count.groups import CodedRows
from analogical.count.pairs import find_contexts
from analogical.estimate.sizes import ENOUGH_GROUPS, ROUNDING
from analogical.estimate.tests import Scores, combine, test_stack

APART = 0.1
"""Share of the level for effects that differ between contexts. Of 30 groups of two rows, an exclusive or of 80 points
is found in 92 to 100 % of the tables (with .02: 74 %), and an effect that is the same everywhere in 2 % fewer."""
PLAIN_KURTOSIS = 2.0
"""Kurtosis of the deviations up to which no group stands out; a larger one reduces the effective number of groups. Even
shares have 1.8, a value of k of n groups about n / k. With 1, ten groups detect less than half of what they do with 2;
with 2, p <= .05 in at most 6 % of the tables of every setting of benchmarks/coverage if the feature has no effect."""

_Split: TypeAlias = tuple[Floats, Floats, Floats]
"""Deviations of each row from the mean of its group, and of these means, divided so that they have equal variances; and
their sums of squares within and between groups, of shape (2, groups)."""


def group_p_value(rows: CodedRows, scores: Floats | None = None, *, in_common: bool = False) -> float:
    """P-value of the feature in column 0, given the columns between it and the group of each row, the last column.

    Each value is tested against each label, or column of ``scores``: over all contexts, and, unless only what contexts
    have ``in_common`` is asked for, over those that share a value of a given column. With too few groups, rows of a
    group and context are compared as if they were independent, which only labels allow. NaN if no test can be made.
    """
    of_labels = (held.astype(np.float64) for held in _values(rows.labels))
    columns = list(of_labels if scores is None else scores.T)
    groups = _Groups.of(rows, columns)
    labels = [groups.split(numbers) for numbers in columns]

    def smallest(some: Iterable[Bools]) -> float:
        splits = (groups.split(value & held) for held in some for value in _values(rows.codes[:, 0]))
        return combine([groups.p_value(x, label) for x in splits for label in labels])

    known = [(column, np.unique(column)) for column in rows.codes[:, 1:-1].T]
    p = smallest([np.ones(len(rows.codes), np.bool_)])
    if in_common and not math.isnan(p):
        return p
    p_apart = smallest(column == code for column, codes in known if len(codes) > 1 for code in codes)
    if math.isnan(p) or math.isnan(p_apart):
        p = combine((p, p_apart))
        return _p_within(rows) if math.isnan(p) and scores is None else p
    return min(1.0, p / (1 - APART), p_apart / APART)


def _p_within(rows: CodedRows) -> float:
    """The tests of independent rows, with the group as one more given column."""
    contexts = find_contexts(rows, [0])[0]
    (tested,) = test_stack(Stack.of([contexts]), Scores.of_classes(rows.label_sizes()), [None])
    return math.nan if tested is None else tested.p_value


def _values(codes: Codes) -> Iterator[Bools]:
    """Where each code occurs; of two codes only the first, which determines the other."""
    known = np.unique(codes)
    return (codes == code for code in (known if len(known) > 2 else known[:1]))


@dataclass(frozen=True)
class _Groups:
    """Rows in groups, which are alike beyond their contexts."""

    group: Positions
    context: Positions
    weight: Floats
    """Group, context and weight of each row."""
    n_rows: Floats
    """Rows of each group."""
    alike: float
    """Correlation of two rows of a group; at least 0 and below 1."""
    free: Floats
    """Share of others in the contexts of each group: 0 if it is alone there, so that nothing is expected."""

    @classmethod
    def of(cls, rows: CodedRows, columns: Iterable[Floats]) -> "_Groups":
        """From the rows, and the scores of their labels."""
        context = RowContexts.by(rows, range(1, rows.n_features - 1)).of_row.astype(np.intp)
        group = np.unique(rows.codes[:, -1], return_inverse=True)[1]
        weight = rows.weights_or_ones().astype(np.float64)
        n_rows = np.bincount(group, weight).astype(np.float64)
        n_groups, n_pairs, together, own = len(n_rows), float((n_rows * (n_rows - 1)).sum()), 0.0, 0.0
        for numbers in columns:
            off = numbers - _means(numbers, weight, context)
            together += float((np.bincount(group, weight * off) ** 2).sum())
            own += float(weight @ off**2)
        alike = (together - own) / n_pairs / (own / n_rows.sum()) if n_pairs and own > 0 else 0.0
        alike = min(max(alike, 0.0), 1 - ROUNDING)
        size = weight / (1 + (n_rows[group] - 1) * alike)
        cells, cell = np.unique(context * n_groups + group, return_inverse=True)
        of_cell = np.bincount(cell, size)
        others = of_cell * (1 - of_cell / np.bincount(context, size)[cells // n_groups])
        free = np.bincount(cells % n_groups, others) / np.bincount(group, size)
        return cls(group, context, weight, n_rows, alike, free)

    def split(self, numbers: Floats | Bools) -> _Split:
        """Deviations of one number for each row from what is expected in contexts.

        Groups deviate from contexts by a random number, which is estimated first (one step of Henderson's equations).
        """
        numbers, rate = numbers - np.average(numbers, weights=self.weight), 1 + (self.n_rows - 1) * self.alike
        numbers = numbers / (math.sqrt(np.average(numbers**2, weights=self.weight)) or 1.0)
        off = numbers - _means(numbers, self.weight / rate[self.group], self.context)
        own = self.alike / rate * np.bincount(self.group, self.weight * off)
        off = numbers - _means(numbers - own[self.group], self.weight, self.context)
        sums = np.bincount(self.group, self.weight * off)
        within = (off - (sums / self.n_rows)[self.group]) * np.sqrt(self.weight / (1 - self.alike))
        between = sums / np.sqrt(self.n_rows * rate)
        within[np.abs(within) <= ROUNDING], between[np.abs(between) <= ROUNDING] = 0, 0
        return within, between, np.array([np.bincount(self.group, within**2), between**2])

    def p_value(self, x: _Split, s: _Split) -> float:
        """P-value of the sum of products of two deviations; NaN with too few effective groups.

        Each group has its own variance (HC2: MacKinnon and White 1985), in case values depend on the sizes of groups.
        Between groups it is at least that of permuting them, in case few groups have a value.
        """
        from scipy.special import stdtr

        held = self.free > ROUNDING
        root, n_free = np.sqrt(self.free[held]), float(self.free[held].sum())
        if n_free < ENOUGH_GROUPS:
            return math.nan
        both = np.array([np.bincount(self.group, x[0] * s[0]), x[1] * s[1]])
        x_s, x_x, s_s = (part[:, held] / root for part in (both, x[2], s[2]))
        x_sums, s_sums = x_x.sum(axis=1), s_s.sum(axis=1)
        product, of_x = x_s.sum(axis=0), (s_sums > 0) @ x_x
        # what varies within groups counts as far as the other does, too
        n_effective = n_free * _evenness(s_sums @ x_x) * _evenness(x_sums @ s_s)
        if n_effective < ENOUGH_GROUPS:
            return math.nan
        moved = np.abs(product)[np.abs(product) > ROUNDING]
        if not len(moved):
            return 1.0
        # if all products are u or -u, their sum has steps of 2 u: the correction for continuity of McNemar's test
        step = float(moved.min())
        permuted = float(x_sums[1] * s_sums[1] - (x_s[1] @ root) ** 2) / (n_free - 1)
        variance = _variance(product, of_x, root, step) + max(0.0, permuted - _variance(x_s[1], x_x[1], root, step))
        variance = max(variance, ROUNDING * float(x_sums @ s_sums) / len(root))
        p = 2 * float(stdtr(n_effective - 1, -max(abs(float(product @ root)) - step, 0.0) / math.sqrt(variance)))
        if x_x[0].any() and s_s[0].any():  # each group has one of two signs
            return max(p, 2.0 ** (1 - len(moved)), sys.float_info.min)
        return max(p, _rarest_permutation(*(part[1][held] / np.sqrt(root) for part in (x, s))), sys.float_info.min)


def _means(numbers: Floats, weight: Floats, context: Positions) -> Floats:
    """The weighted mean of the context of each row."""
    means = np.bincount(context, weight * numbers) / np.bincount(context, weight)
    return np.asarray(means[context])


def _variance(product: Floats, squares: Floats, root: Floats, step: float) -> float:
    """Variance of the sum of products of x and s, given the squares of x: s less its regression on x, by group."""
    leverage = np.minimum(squares / max(float(squares.sum()), ROUNDING), 1 - ROUNDING)
    total = float(product @ root)
    left = product - math.copysign(max(abs(total) - step, 0.0), total) * leverage
    return float((left**2 / (1 - leverage)).sum())


def _evenness(squares: Floats) -> float:
    """Effective share of the groups (Kish); 1 if no group stands out, 0 if no group deviates."""
    return min(1.0, PLAIN_KURTOSIS * float(squares.mean() ** 2 / max(float((squares**2).mean()), sys.float_info.min)))


def _rarest_permutation(a: Floats, b: Floats) -> float:
    """Probability of the largest sum of products, of either sign, if one of two lists is permuted at random.

    The largest sum pairs sorted numbers. With a_i equal numbers in one list, b_j in the other and n_ij in both, that
    permutation has the probability prod a_i! prod b_j! / (n! prod n_ij!).
    """
    from scipy.special import gammaln

    a, b = (np.round(np.sort(x / np.abs(x).max()), 9) for x in (a, b))
    sums, probability = [abs(float(a @ other)) for other in (b, b[::-1])], 0.0
    for total, other in zip(sums, (b, b[::-1]), strict=True):
        if total >= max(sums) * (1 - ROUNDING):
            runs = (np.unique(x, axis=1, return_counts=True)[1] for x in ([a], [other], [a, other]))
            of_a, of_b, of_both = (float(gammaln(n + 1).sum()) for n in runs)
            probability += math.exp(of_a + of_b - of_both - float(gammaln(len(a) + 1)))
    return probability
