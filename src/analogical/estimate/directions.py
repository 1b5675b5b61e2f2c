"""Does a label go with a value in the same direction everywhere? The Cochran-Mantel-Haenszel test within contexts.

In a context of n rows with n_v rows of value v and L_l rows of label l, the rows of v that have l are expected to be
n_v L_l / n if the rows had received their labels in any order, with a covariance that is known as well. Observed less
expected adds up over contexts, and so does the covariance; their quadratic form is the generalised
Cochran-Mantel-Haenszel statistic (general association; Landis, Heyman and Koch 1978). It sees a change that has the
same direction in many contexts, needs no repeated rows, and is blind to changes that cancel.

Its chi-square tail holds where every cell has room on both sides of what is expected, so rare values and rare labels
are merged until it has. What is rare is tested cell by cell, exactly. All that decides which test is made are the
numbers of values and labels in the contexts, never which label went with which value.
"""

import math
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from itertools import pairwise, product
from typing import TYPE_CHECKING

import numpy as np

from analogical._types import Bools, Floats, Ints, Positions
from analogical.count.contexts import Stack
from analogical.estimate.laws import ENOUGH, Law, PValue, law_of_contexts, smallest_of

if TYPE_CHECKING:
    from scipy.sparse import csc_array

__all__ = ["DirectionTests", "Kinds", "TableSums", "diagonals", "informative_tables"]

MAX_KINDS = 8
"""Values, or labels, that are told apart; the rarest of more are taken together, which no label can influence."""
EXACT = 100.0
"""Below this room a table of two by two has its exact p-value. With a room of 5 a chi-square tail of .0001 stands for a
chance seven times as large, with 25 for twice and with 100 for 1.3 times as large (upper tail of a Poisson number)."""
CHUNK = 2_000_000
"""Numbers that are held at once for contexts."""


@dataclass(frozen=True)
class Kinds:
    """Values (or labels) that are told apart, from the most frequent to the rarest, and where they may be merged.

    Values of the same size are merged together or not at all: a choice among them would depend on their numbering.
    """

    of_value: Ints
    """For each value its kind."""
    n: int
    levels: tuple[int, ...]
    """Numbers of kinds, from many to few, to which they can be merged: the last one is then the rest."""
    all_apart: bool
    """Whether every value has its own kind."""

    @classmethod
    def of(cls, sizes: Ints) -> "Kinds":
        """Kinds of values with so many rows.

        Up to MAX_KINDS, and up to three times as many if the border would divide values of the same size.
        """
        order = np.argsort(-sizes, kind="stable")
        falling = sizes[order]
        n_values = int(np.count_nonzero(sizes))
        # k values may stand alone if the next one is rarer; with one more kind for the rest, if there is a rest
        alone = [k for k in range(1, n_values + 1) if k == n_values or falling[k - 1] > falling[k]]
        fits = [k for k in alone if k + (k < n_values) <= MAX_KINDS]
        wider = [k for k in alone if k + (k < n_values) <= 3 * MAX_KINDS]
        n_alone = fits[-1] if fits else wider[0] if wider else 0
        n = max(n_alone + (n_alone < n_values), 1)
        of_value = np.full(len(sizes), n - 1)
        of_value[order[:n_alone]] = np.arange(n_alone)
        merged = [k + 1 for k in alone if k + 1 < n]
        levels = tuple(sorted({n, *merged}, reverse=True)) if n > 1 else ()
        return cls(of_value, n, levels, n_alone == n_values)

    def sets(self) -> Floats:
        """Which kinds each set holds, shape (sets, kinds): every kind alone, then the rest of each level but the first.

        The rest of the first level is the last kind itself.
        """
        rests = [np.arange(self.n) >= level - 1 for level in self.levels[1:]]
        return np.vstack([np.eye(self.n), *rests])

    def members(self, level: int) -> list[int]:
        """The sets that make up a level."""
        at = self.levels.index(level)
        return [*range(level - 1), self.n - 1 + at]


@dataclass(frozen=True)
class TableSums:
    """Sums over groups of contexts, whose values are merged alike; one entry for each group."""

    values: Kinds
    labels: Kinds
    deviation: Floats
    """Observed less expected rows by value and label, without the last of each: shape (groups, k)."""
    covariance: Floats
    """Shape (groups, k, k)."""
    room: Floats
    """How far rows of each set of values with each set of labels could move."""

    @classmethod
    def of(cls, tables: Floats, groupings: Sequence["csc_array"], values: Kinds, labels: Kinds) -> "list[TableSums]":
        """For several groupings: matrices of groups and contexts, with how often a context counts in a group."""
        size = (values.n - 1) * (labels.n - 1)
        sets = len(values.sets()), len(labels.sets())
        totals = [np.zeros((grouping.shape[0], size + size**2 + sets[0] * sets[1])) for grouping in groupings]
        step = max(CHUNK // (size**2 + 4 * sets[0] * sets[1]), 1)
        for start in range(0, len(tables), step):
            some = tables[start : start + step]
            parts = [*moments_of_tables(some), rooms_of_tables(some, values, labels)]
            flat = np.hstack([part.reshape(len(some), -1) for part in parts])
            for k, grouping in enumerate(groupings):
                totals[k] += grouping[:, start : start + step] @ flat
        summed = []
        for total in totals:
            deviation, covariance, room = np.split(total, np.cumsum([size, size**2]), axis=1)
            covariance, room = covariance.reshape(len(total), size, size), room.reshape(len(total), *sets)
            summed.append(cls(values, labels, deviation, covariance, room))
        return summed

    def finest(self) -> "FinestTables":
        """For each group the test of the finest table whose cells all have room."""
        n_values, n_labels, freedom = np.zeros((3, len(self.room)), np.int64)
        statistic = np.zeros(len(self.room))
        # Without the last kind, merging others into it changes nothing for those that stand alone.
        places = np.arange(self.deviation.shape[1]).reshape(self.values.n - 1, self.labels.n - 1)
        for level in finest_first(self.values, self.labels):
            cells = self.room[:, self.values.members(level[0])][:, :, self.labels.members(level[1])]
            told = np.flatnonzero((n_values == 0) & has_room(cells))
            if len(told):
                kept = places[: level[0] - 1, : level[1] - 1].ravel()
                n_values[told], n_labels[told] = level
                statistic[told], freedom[told] = quadratic_forms(
                    self.deviation[told][:, kept], self.covariance[told][:, kept][:, :, kept]
                )
        return FinestTables(n_values, n_labels, statistic, freedom)


@dataclass(frozen=True)
class FinestTables:
    """Cochran-Mantel-Haenszel tests of several tables: values and labels told apart, 0 if there is none; statistics."""

    n_values: Ints
    n_labels: Ints
    statistic: Floats
    freedom: Ints


@dataclass(frozen=True)
class DirectionTests:
    """The tests of one feature."""

    values: Kinds
    labels: Kinds
    room: Floats
    """How far rows of each set of values with each set of labels could move, over all contexts."""
    n_contexts: int
    told: tuple[int, int]
    """Values and labels of the finest table whose cells all have room; 0 if there is none."""
    p_told: float
    """Its p-value."""
    laws: dict[tuple[int, int], tuple[Law, int]] = field(repr=False)
    """For cells with little room, of kinds: the law of their rows, and their rows."""

    @classmethod
    def of_stack(cls, stack: Stack, values: Sequence[Kinds], labels: Kinds) -> "list[DirectionTests]":
        """For each of several features, from their contexts and the kinds of their values."""
        tests: dict[int, DirectionTests] = {}
        for features, tables, which in informative_tables(stack, values, labels):
            times = stack.contexts.times[which].astype(np.float64)
            place = np.searchsorted(features, stack.feature[which])
            alike = cls.of_tables(tables, times, place, [values[k] for k in features], labels)
            tests |= zip(features, alike, strict=True)
        return [tests[k] for k in range(stack.n_features)]

    @classmethod
    def of_tables(
        cls, tables: Floats, times: Floats, feature: Positions, kinds: list[Kinds], labels: Kinds
    ) -> "list[DirectionTests]":
        """Of several features whose values are merged alike, from the tables of each, one feature after the other."""
        from scipy.sparse import csc_array
        from scipy.special import chdtrc

        of_feature = csc_array((times, (feature, np.arange(len(tables)))), shape=(len(kinds), len(tables)))
        (sums,) = TableSums.of(tables, [of_feature], kinds[0], labels)
        finest = sums.finest()
        told = list(zip(finest.n_values.tolist(), finest.n_labels.tolist(), strict=True))
        p_told = chdtrc(finest.freedom, finest.statistic).tolist()
        bounds = np.searchsorted(feature, np.arange(len(kinds) + 1)).tolist()
        a, b = margins(tables)
        tests = []
        for k, own in enumerate(slice(*two) for two in pairwise(bounds)):
            one = cls(kinds[k], labels, sums.room[k], int(times[own].sum()), told[k], p_told[k], {})
            for v, c in cells_of(kinds[k].n, labels.n) if sums.deviation.shape[1] else ():
                if one._is_exact(v, c):
                    numbers = a[own].sum(axis=1), a[own, v], b[own, c], times[own]
                    law = law_of_contexts(*(x.astype(np.int64) for x in numbers))
                    one.laws[v, c] = law, int(times[own] @ tables[own, v, c])
            tests.append(one)
        return tests

    @property
    def sees_all(self) -> bool:
        """Whether these tests see a difference in any direction: in one context, if no value or label was merged."""
        finest = self.values.n, self.labels.n
        is_told = finest == (2, 2) or self.told == finest
        return self.n_contexts == 1 and self.values.all_apart and self.labels.all_apart and is_told

    def of_frequent(self) -> PValue:
        """The p-value of all that is frequent together; NaN without."""
        if self.told == (2, 2) and (0, 0) in self.laws:
            return self.of_cell(0, 0)
        return PValue(self.p_told if all(self.told) else math.nan)

    def of_rare(self) -> PValue:
        """The smallest p-value of cells that have little room, corrected for how many there are; NaN without."""
        rare = [cell for cell in self.laws if 0 < self.room[cell] < ENOUGH]
        return smallest_of(self.of_cell(*cell) for cell in sorted(rare))

    def of_cell(self, value: int, label: int) -> PValue:
        """The exact p-value of one cell."""
        law, rows = self.laws[value, label]
        return law.p_value(rows)

    def _is_exact(self, value: int, label: int) -> bool:
        """Whether a cell is tested exactly: if it is rare, or may be all that is left of the table."""
        return bool(self.room[value, label] < (ENOUGH if value or label else EXACT))


def cells_of(n_values: int, n_labels: int) -> Iterator[tuple[int, int]]:
    """Cells whose rows are not known from another cell's: of two values, or of two labels, the first is enough."""
    return product(range(1 if n_values == 2 else n_values), range(1 if n_labels == 2 else n_labels))


def finest_first(values: Kinds, labels: Kinds) -> list[tuple[int, int]]:
    """Numbers of values and labels that are told apart, from many degrees of freedom to few, then by values."""
    return sorted(product(values.levels, labels.levels), key=lambda two: (-(two[0] - 1) * (two[1] - 1), -two[0]))


def informative_tables(
    stack: Stack, values: Sequence[Kinds], labels: Kinds
) -> Iterator[tuple[list[int], Floats, Positions]]:
    """Tables of counts (contexts, kinds of values, kinds of labels) with two of each, and which contexts they are of.

    Features whose values are merged alike come together; they stand before their tables.
    """
    alike: dict[tuple[int, tuple[int, ...]], list[int]] = {}
    for k, one in enumerate(values):
        alike.setdefault((one.n, one.levels), []).append(k)
    for (n_values, _), features in alike.items():
        some, which = stack.part(features)
        contexts = some.contexts
        firsts = np.cumsum([0, *(len(values[k].of_value) for k in features)])
        of_value = np.concatenate([values[k].of_value for k in features])
        kind = of_value[firsts[some.feature_of_cell] + contexts.values]
        place = (contexts.owner * n_values + kind) * labels.n + labels.of_value[contexts.labels]
        flat = np.bincount(place, contexts.sizes, minlength=len(contexts) * n_values * labels.n)
        tables = flat.astype(np.float64).reshape(len(contexts), n_values, labels.n)
        tells = hold_two(tables)
        yield features, tables[tells], which[tells]


def has_room(rooms: Floats) -> Bools:
    """Whether every cell of tables (tables, values, labels) has room; a value or label that never varies is left out.

    A label that occurs only in contexts where all labels agree has no room at all, and tells nothing.
    """
    varies = (rooms.max(axis=2) > 0)[:, :, None] & (rooms.max(axis=1) > 0)[:, None, :]
    smallest = np.where(varies, rooms, np.inf).min(axis=(1, 2))
    return np.asarray(varies.any(axis=(1, 2)) & (smallest >= ENOUGH))


def hold_two(tables: Floats) -> Bools:
    """Which tables of counts (contexts, values, labels) hold two values and two labels."""
    by_value, by_label = margins(tables)
    two: Bools = ((by_value > 0) @ np.ones(by_value.shape[1]) > 1) & ((by_label > 0) @ np.ones(by_label.shape[1]) > 1)
    return two


def margins(tables: Floats) -> tuple[Floats, Floats]:
    """Rows by value and by label of tables (contexts, values, labels).

    Textbook: tables.sum(axis=2), tables.sum(axis=1); products with ones are several times quicker on short axes.
    """
    return tables @ np.ones(tables.shape[2]), np.ones(tables.shape[1]) @ tables


def moments_of_tables(tables: Floats) -> tuple[Floats, Floats]:
    """Observed less expected and its covariance for each table, without the last value and label.

    The rows of value v with label l follow the multivariate hypergeometric distribution: with a_v rows of v, b_l of l
    and n in all, cov = (n a_v [v = w] - a_v a_w) (n b_l [l = m] - b_l b_m) / (n^2 (n - 1)).
    """
    a, b = margins(tables)
    n = (a @ np.ones(a.shape[1]))[:, None, None]
    deviation = (tables - a[:, :, None] * b[:, None, :] / n)[:, :-1, :-1]
    a, b = a[:, :-1], b[:, :-1]
    of_values = (n * diagonals(a) - a[:, :, None] * a[:, None, :]) / (n**2 * (n - 1))
    of_labels = n * diagonals(b) - b[:, :, None] * b[:, None, :]
    size = deviation.shape[1] * deviation.shape[2]
    covariance = np.einsum("cvw,clm->cvlwm", of_values, of_labels)
    return deviation.reshape(len(tables), size), covariance.reshape(len(tables), size, size)


def rooms_of_tables(tables: Floats, values: Kinds, labels: Kinds) -> Floats:
    """How far each cell could be below or above its expectation, whichever is less, for all sets of values and labels.

    Of a rows of the value and b of the label among n, e = a b / n are expected, max(0, a + b - n) are the fewest and
    min(a, b) the most possible: the less is the smallest expected cell of the table of two by two.
    """
    by_value, by_label = margins(tables)
    a, b = by_value @ values.sets().T, by_label @ labels.sets().T
    n = (by_value @ np.ones(by_value.shape[1]))[:, None]
    return np.minimum(a, n - a)[:, :, None] * np.minimum(b, n - b)[:, None, :] / n[:, :, None]


def quadratic_forms(deviations: Floats, covariances: Floats) -> tuple[Floats, Ints]:
    """Deviation' covariance^-1 deviation of each row in the directions that can vary, and how many there are.

    Each deviation is divided by its standard deviation first, so that a rare cell is not taken for rounding beside a
    frequent one.
    """
    scale = np.sqrt(np.diagonal(covariances, axis1=1, axis2=2))
    inverse = np.divide(1.0, scale, out=np.zeros_like(scale), where=scale > 0)
    values, vectors = np.linalg.eigh(covariances * inverse[:, :, None] * inverse[:, None, :])
    varies = values > 1e-9
    along = ((deviations * inverse)[:, None, :] @ vectors)[:, 0]
    parts = np.divide(along**2, values, out=np.zeros_like(values), where=varies)
    return parts.sum(axis=1), np.count_nonzero(varies, axis=1)


def diagonals(rows: Floats) -> Floats:
    """A diagonal matrix for each row."""
    square = np.zeros((*rows.shape, rows.shape[1]))
    k = np.arange(rows.shape[1])
    square[:, k, k] = rows
    return square
