"""One p-value per feature, combined from several tests, and the correction for many features.

All tests assign the labels of each context to its rows at random, and detect different changes. ``permutations`` has
the test of a difference in any direction, where rows repeat. Here are those of a common direction. Which tests are made
depends on the numbers of rows by value and by label in the contexts only, never on which labels go with which values.

*The same direction in many contexts.* n_v L_l / n rows of value v are expected to have label l in a context of n rows
(n_v have the value, L_l the label), with a known covariance. Observed minus expected counts, and their covariances, are
summed over contexts; their quadratic form is the generalised Cochran-Mantel-Haenszel statistic (general association;
Landis, Heyman and Koch 1978). It needs no repeated rows, and misses changes that cancel. Its chi-square approximation
needs room in every cell, above and below the expected count, so rare values and rare labels are merged until there is
enough. Rare cells are tested one by one, exactly.

*The same direction where another feature has the same value* finds interactions without repeated rows, as in an
exclusive or. Contexts that share a value of one other feature form a stratum: the deviations are summed within each
stratum, and the quadratic forms of the strata are summed. The smallest p-value over the other features is multiplied by
their number. With more other features than a deciding set has members it would detect little, and is not made.

The smallest p-value of all tests is multiplied by their number (Bonferroni), which is valid however they depend on each
other.
"""

import math
import sys
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from itertools import pairwise, product
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from analogical._types import Bools, Floats, Ints, Positions
from analogical.count.contexts import Stack
from analogical.estimate.permutations import (
    ENOUGH,
    PValue,
    distribution_of_contexts,
    p_values_any_direction,
    smallest_of,
)
from analogical.estimate.sizes import diagonals

if TYPE_CHECKING:
    from scipy.sparse import csc_array

__all__ = [
    "DirectionTests",
    "Kinds",
    "TableSums",
    "Tested",
    "adjust_for_features",
    "combine",
    "informative_tables",
    "p_values_of",
    "pools_contexts",
    "strata_p_values",
    "test_stack",
]

MAX_KINDS = 8
"""Values, or labels, that are kept apart; the rarest of more are merged, whatever their labels: time and memory."""
EXACT = 100.0
"""Below this room a table of two by two has its exact p-value. With a room of 5 a chi-square tail of .0001 stands for a
probability seven times as large, with 25 twice and with 100 1.3 times as large (upper tail of a Poisson number)."""


@dataclass(frozen=True)
class Kinds:
    """Values (or labels) that are kept apart, from the most frequent to the rarest, and how they can be merged.

    Values of equal size are merged together or not at all: a choice among them would depend on the order of values.
    """

    of_value: Ints
    """The kind of each value."""
    n: int
    levels: tuple[int, ...]
    """Numbers of kinds, in falling order, to which they can be merged; the last kind is then the rest."""
    all_apart: bool
    """Whether every value has its own kind."""

    @classmethod
    def of(cls, sizes: Ints) -> "Kinds":
        """From the number of rows of each value.

        Up to ``MAX_KINDS``, or three times as many if the limit would separate values of equal size.
        """
        order = np.argsort(-sizes, kind="stable")
        falling = sizes[order]
        n_values = int(np.count_nonzero(sizes))
        # k values may stand alone if the next one is rarer; the rest, if there is one, is one more kind
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
        """Sets of kinds as a 0/1 matrix (sets, kinds): each single kind, then the rest at each level but the first.

        The rest at the first level is the last kind itself.
        """
        rests = [np.arange(self.n) >= level - 1 for level in self.levels[1:]]
        return np.vstack([np.eye(self.n), *rests])

    def members(self, level: int) -> list[int]:
        """Positions of the sets that make up a level."""
        at = self.levels.index(level)
        return [*range(level - 1), self.n - 1 + at]


@dataclass(frozen=True)
class TableSums:
    """Sums over groups of contexts; the first axis of every array is the group."""

    values: Kinds
    labels: Kinds
    deviation: Floats
    """Observed minus expected rows by value and label, without the last of each: shape (groups, k)."""
    covariance: Floats
    """Shape (groups, k, k)."""
    room: Floats
    """Room of each set of values with each set of labels (see ``rooms_of_tables``)."""

    @classmethod
    def of(cls, tables: Floats, groupings: Sequence["csc_array"], values: Kinds, labels: Kinds) -> "list[TableSums]":
        """For each of several groupings: a matrix (groups, contexts) of how often a context counts in a group."""
        size = (values.n - 1) * (labels.n - 1)
        sets = len(values.sets()), len(labels.sets())
        totals = [np.zeros((grouping.shape[0], size + size**2 + sets[0] * sets[1])) for grouping in groupings]
        # two million numbers at once: memory
        step = max(2_000_000 // (size**2 + 4 * sets[0] * sets[1]), 1)
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

    def finest(self) -> tuple[Ints, Ints, Floats, Ints]:
        """For each group its finest table whose cells all have enough room.

        Its numbers of values and labels (0 without such a table), its statistic and its degrees of freedom.
        """
        n_values, n_labels, freedom = np.zeros((3, len(self.room)), np.int64)
        statistic = np.zeros(len(self.room))
        # Merging kinds into the last one, which is left out, changes nothing for the others.
        places = np.arange(self.deviation.shape[1]).reshape(self.values.n - 1, self.labels.n - 1)
        levels = product(self.values.levels, self.labels.levels)
        # from many degrees of freedom to few, then from many values to few
        for level in sorted(levels, key=lambda two: (-(two[0] - 1) * (two[1] - 1), -two[0])):
            cells = self.room[:, self.values.members(level[0])][:, :, self.labels.members(level[1])]
            new = np.flatnonzero((n_values == 0) & has_room(cells))
            if len(new):
                kept = places[: level[0] - 1, : level[1] - 1].ravel()
                n_values[new], n_labels[new] = level
                statistic[new], freedom[new] = quadratic_forms(
                    self.deviation[new][:, kept], self.covariance[new][:, kept][:, :, kept]
                )
        return n_values, n_labels, statistic, freedom


@dataclass(frozen=True)
class DirectionTests:
    """P-values of one feature."""

    frequent: PValue
    """Of all frequent values and labels together; NaN if no table has enough room."""
    rare: PValue
    """The smallest of the cells with little room, corrected for their number; NaN without such cells."""
    sees_all: bool
    """Whether these tests detect a difference in any direction: in a single context, without merged values or labels.
    """

    @classmethod
    def of_tables(
        cls, tables: Floats, times: Floats, owner: Positions, kinds: list[Kinds], labels: Kinds
    ) -> "list[DirectionTests]":
        """Of several features whose values merge alike; ``owner`` is the feature of each table, in rising order."""
        from scipy.sparse import csc_array
        from scipy.special import chdtrc

        of_feature = csc_array((times, (owner, np.arange(len(tables)))), shape=(len(kinds), len(tables)))
        (sums,) = TableSums.of(tables, [of_feature], kinds[0], labels)
        *level, statistic, freedom = sums.finest()
        levels = list(zip(*(numbers.tolist() for numbers in level), strict=True))
        p_finest = chdtrc(freedom, statistic).tolist()
        bounds = np.searchsorted(owner, np.arange(len(kinds) + 1)).tolist()
        tests = []
        for k, own in enumerate(slice(*two) for two in pairwise(bounds)):
            mine, room, n_values = (tables[own], times[own]), sums.room[k], kinds[k].n
            if levels[k] == (2, 2) and room[0, 0] < EXACT:
                frequent = exact_cell(*mine, 0, 0)
            else:
                frequent = PValue(p_finest[k] if all(levels[k]) else math.nan)
            # of two values, or two labels, the first determines the other
            cells = product(*(range(1 if n == 2 else n) for n in (n_values, labels.n)))
            rare_cells = [cell for cell in cells if 0 < room[cell] < ENOUGH]
            sees_all = kinds[k].all_apart and labels.all_apart and int(times[own].sum()) == 1
            sees_all &= (n_values, labels.n) in ((2, 2), levels[k])
            tests.append(cls(frequent, smallest_of([exact_cell(*mine, *cell) for cell in rare_cells]), sees_all))
        return tests


def exact_cell(tables: Floats, times: Floats, value: int, label: int) -> PValue:
    """The exact p-value of one cell, over tables that occur so many times."""
    a, b = margins(tables)
    numbers = a.sum(axis=1), a[:, value], b[:, label], times
    distribution = distribution_of_contexts(*(x.astype(np.int64) for x in numbers))
    return distribution.p_value(int(times @ tables[:, value, label]))


class AlikeTables(NamedTuple):
    """Contexts of features whose values merge alike, as tables of counts."""

    features: list[int]
    tables: Floats
    """Shape (contexts, kinds of values, kinds of labels)."""
    times: Ints
    """How often each table occurs."""
    given: NDArray[Any] | None
    """Code of each table on each given column, as in the stack."""
    owner: Positions
    """For each table, the position of its feature in ``features``."""


def informative_tables(stack: Stack, values: Sequence[Kinds], labels: Kinds) -> Iterator[AlikeTables]:
    """The contexts with two kinds of values and two kinds of labels, for features whose values merge alike."""
    alike: dict[tuple[int, tuple[int, ...]], list[int]] = {}
    for k, kinds in enumerate(values):
        alike.setdefault((kinds.n, kinds.levels), []).append(k)
    for (n_values, _), features in alike.items():
        some = stack.part(features)
        contexts = some.contexts
        firsts = np.cumsum([0, *(len(values[k].of_value) for k in features)])
        of_value = np.concatenate([values[k].of_value for k in features])
        kind = of_value[firsts[some.feature_of_cell] + contexts.values]
        place = (contexts.owner * n_values + kind) * labels.n + labels.of_value[contexts.labels]
        flat = np.bincount(place, contexts.sizes, minlength=len(contexts) * n_values * labels.n)
        tables = flat.astype(np.float64).reshape(len(contexts), n_values, labels.n)
        counts = ((side > 0) @ np.ones(side.shape[1]) for side in margins(tables))
        is_informative = np.logical_and(*(n_held > 1 for n_held in counts))
        given = None if some.given is None else some.given[is_informative]
        yield AlikeTables(
            features, tables[is_informative], contexts.times[is_informative], given, some.feature[is_informative]
        )


def has_room(rooms: Floats) -> Bools:
    """Which tables (tables, values, labels) have enough room in every cell that can vary.

    A label that occurs only in contexts where all labels agree has no room at all, and is ignored.
    """
    varies = (rooms.max(axis=2) > 0)[:, :, None] & (rooms.max(axis=1) > 0)[:, None, :]
    smallest = np.where(varies, rooms, np.inf).min(axis=(1, 2))
    return np.asarray(varies.any(axis=(1, 2)) & (smallest >= ENOUGH))


def margins(tables: Floats) -> tuple[Floats, Floats]:
    """Rows by value and by label of tables (contexts, values, labels).

    Textbook: tables.sum(axis=2), tables.sum(axis=1); products with ones are several times quicker on short axes.
    """
    return tables @ np.ones(tables.shape[2]), np.ones(tables.shape[1]) @ tables


def moments_of_tables(tables: Floats) -> tuple[Floats, Floats]:
    """Observed minus expected rows and their covariance for each table, without the last value and label.

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
    """Room of all sets of values and labels: how far the count can be below or above its expectation, the smaller one.

    With a rows of the value and b of the label among n, a b / n are expected, and max(0, a + b - n) to min(a, b) are
    possible: the room is the smallest expected cell of the table of two by two.
    """
    by_value, by_label = margins(tables)
    a, b = by_value @ values.sets().T, by_label @ labels.sets().T
    n = (by_value @ np.ones(by_value.shape[1]))[:, None]
    return np.minimum(a, n - a)[:, :, None] * np.minimum(b, n - b)[:, None, :] / n[:, :, None]


def quadratic_forms(deviations: Floats, covariances: Floats) -> tuple[Floats, Ints]:
    """Deviation' covariance^-1 deviation in the directions that can vary, and the number of these; for each group.

    Each deviation is divided by its standard deviation first, so that the variance of a rare cell is not mistaken for
    rounding error.
    """
    scale = np.sqrt(np.diagonal(covariances, axis1=1, axis2=2))
    inverse = np.divide(1.0, scale, out=np.zeros_like(scale), where=scale > 0)
    values, vectors = np.linalg.eigh(covariances * inverse[:, :, None] * inverse[:, None, :])
    varies = values > 1e-9
    along = ((deviations * inverse)[:, None, :] @ vectors)[:, 0]
    parts = np.divide(along**2, values, out=np.zeros_like(values), where=varies)
    return parts.sum(axis=1), np.count_nonzero(varies, axis=1)


def strata_p_values(stack: Stack, values: Sequence[Kinds], labels: Kinds) -> Floats:
    """For each feature the smallest p-value over the given columns, times their number.

    A stratum is the contexts of a feature that share a value of the column. A column has no p-value if fewer than two
    strata have a table with room. NaN if no column has one, and if the codes of contexts on the given columns are not
    known.
    """
    from scipy.sparse import csc_array
    from scipy.special import chdtrc

    if stack.given is None:
        return np.full(stack.n_features, math.nan)
    p_values = np.full((stack.n_features, stack.given.shape[1]), math.nan)
    for some in informative_tables(stack, values, labels):
        kinds, given, n_features = values[some.features[0]], some.given, len(some.features)
        if kinds.n == 1 or labels.n == 1 or not len(some.tables) or given is None:
            continue
        n_codes = int(given.max(initial=0)) + 1
        owners, groupings = [], []
        for code in given.T:
            is_given = np.flatnonzero(code >= 0)
            strata, stratum = np.unique(some.owner[is_given] * n_codes + code[is_given], return_inverse=True)
            owners.append(strata // n_codes)
            groupings.append(csc_array((np.ones(len(is_given)), (stratum, is_given)), shape=(len(strata), len(code))))
        for j, sums in enumerate(TableSums.of(some.tables, groupings, kinds, labels)):
            n_kept, _, *finest = sums.finest()
            n_strata, statistic, freedom = (
                np.bincount(owners[j], numbers, minlength=n_features) for numbers in (n_kept > 0, *finest)
            )
            p_values[some.features, j] = np.where(n_strata > 1, chdtrc(freedom, statistic), math.nan)
    is_known = ~np.isnan(p_values)
    n_known = np.count_nonzero(is_known, axis=1)
    smallest = np.min(p_values, axis=1, initial=1.0, where=is_known)
    return np.where(n_known > 0, np.minimum(1.0, n_known * smallest), math.nan)


@dataclass(frozen=True, slots=True)
class Tested:
    """Pairs and p-value of a feature in its contexts."""

    n_pairs: int
    n_changed: int
    p_value: float
    """NaN if no test can be made."""


def test_stack(stack: Stack, value_sizes: Sequence[Ints], label_sizes: Ints) -> list[Tested | None]:
    """Test several features; None for those without pairs.

    The sizes are the rows of each value of each feature, and of each label, in the table. The test that pools contexts
    is made if their codes are known.
    """
    held = np.flatnonzero(np.diff(stack.bounds)).tolist()
    if not held:
        return [None] * stack.n_features
    values, labels = [Kinds.of(value_sizes[k]) for k in held], Kinds.of(label_sizes)
    some = stack.part(held)
    pooled = strata_p_values(some, values, labels).tolist()
    some = some.merged
    p_values = [
        max(smallest_of((*tests, PValue(p))).p, sys.float_info.min)
        for tests, p in zip(p_values_of(some, values, labels), pooled, strict=True)
    ]
    contexts = some.contexts
    rows = contexts.sizes * contexts.times[contexts.owner]
    pairs, changed = (some.sums_of_cells(rows * of_row) // 2 for of_row in (contexts.pairs, contexts.changed))
    tested = dict(zip(held, map(Tested, pairs.tolist(), changed.tolist(), p_values), strict=True))
    return [tested.get(k) for k in range(stack.n_features)]


def p_values_of(stack: Stack, values: Sequence[Kinds], labels: Kinds) -> list[tuple[PValue, ...]]:
    """For each feature the p-values in any direction, and in a common one for frequent values and for rare cells.

    NaN where a test is not made. The first one is left out where the others detect differences in any direction too.
    """
    p_any, p_values = p_values_any_direction(stack), {}
    for some in informative_tables(stack, values, labels):
        kinds = [values[k] for k in some.features]
        of_features = DirectionTests.of_tables(some.tables, some.times.astype(np.float64), some.owner, kinds, labels)
        for k, tests in zip(some.features, of_features, strict=True):
            p_values[k] = PValue(math.nan) if tests.sees_all else p_any[k], tests.frequent, tests.rare
    return [p_values[k] for k in range(stack.n_features)]


def pools_contexts(n_features: int) -> bool:
    """Whether the test that pools contexts, which needs the rows, is made for a table with this number of features."""
    return n_features <= 11  # as many others as the deciding set has members at most


def combine(p_values: Iterable[float]) -> float:
    """The smallest p-value times the number of p-values; NaNs do not count, NaN if all are NaN."""
    return smallest_of(PValue(p) for p in p_values).p


def adjust_for_features(p_values: Floats, strictly: Bools | None = None) -> Floats:
    """P-values adjusted by Benjamini and Hochberg's method, by Holm's where ``strictly``; NaNs stay NaN.

    Examples
    --------
    >>> adjust_for_features(np.array([0.01, np.nan, 0.04, 0.03])).tolist()
    [0.03, nan, 0.04, 0.04]
    >>> adjust_for_features(np.array([0.01, 0.04, 0.03]), np.array([False, True, True])).tolist()
    [0.03, 0.06, 0.06]
    """
    adjusted = np.full(len(p_values), np.nan)
    known = np.flatnonzero(~np.isnan(p_values))
    order = known[np.argsort(p_values[known], kind="stable")]
    p, n = p_values[order], len(order)
    # Textbook: scipy.stats.false_discovery_control; importing scipy.stats takes a second.
    shared = p * (n / np.arange(1, n + 1))
    adjusted[order] = np.minimum(np.minimum.accumulate(shared[::-1])[::-1], 1.0)
    if strictly is not None:
        # Holm's: the smallest of n p-values is multiplied by n, the next one by n - 1
        strict = np.minimum(np.maximum.accumulate(p * np.arange(n, 0, -1)), 1.0)
        adjusted[order] = np.where(strictly[order], strict, adjusted[order])
    return adjusted
