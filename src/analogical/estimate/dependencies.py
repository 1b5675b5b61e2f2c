"""Which columns other columns determine, how well that was tested, and which ones they leave hardly open.

Columns determine another one if rows that agree on them agree on it. Among such rows every row after the first is a
test, and a dependency counts only if an unrelated column with the same values would rarely have passed all tests: a
column of distinct numbers "determines" everything, and no row could have shown otherwise.

A column is a near-copy of another one that leaves little of its entropy open, more than chance could take.
"""

import math
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from itertools import combinations
from typing import Protocol

import numpy as np

from analogical._types import CodedRows, Codes, Floats, Ints, Positions
from analogical.count.groups import equal_columns
from analogical.estimate.deciding import share_left, shares_left

__all__ = [
    "NEAR",
    "ColumnRows",
    "Dependencies",
    "Found",
    "Near",
    "TableRows",
    "find_dependencies",
    "near_among",
]

CHANCE = 0.05
"""A dependency counts if an unrelated column would pass its tests less often than this, over all candidates."""
N_HEAD = 1_000
"""Rows that a dependency is tried on before all of them."""
N_LOOKS = 8
"""Pairs of rows that are looked at first; a few refute nearly all dependencies."""
ENTRIES = 2**18
"""Codes that are looked at together: they stay in cache."""
MAX_ONE = 30_000
"""Columns up to which all are tried as the one that determines: about ten seconds."""
MAX_TWO = 464
"""Columns up to which every two are tried: about ten seconds."""
RARELY_EQUAL = 50_000
"""Combinations of values from which hardly any of the first rows agree on two columns, so that all rows are sorted."""
MAX_SORTED = 400_000_000
"""Rows that may have to be sorted, for all such twos of columns: about twenty seconds."""
NEAR = 0.25
"""A column is a near-copy if another one leaves at most this share of its entropy open. In five bins that is what
normal numbers with a correlation of .995 leave. Radius, perimeter and area of the breast-cancer cells leave .07 to .23
of each other, the next pair .33."""
NEAR_LOOKS = 500_000_000
"""Codes that are looked at in search of near-copies, rows times columns times columns: two or three seconds."""
NEAR_VALUES, NEAR_VALUES_IN_ALL = 1_000, 16_000
"""Values of a column, and of all columns, with which near-copies are searched: every two columns make a table."""


@dataclass(frozen=True)
class Found:
    """A dependency between columns, by position."""

    determined: int
    by: tuple[int, ...]
    support: int
    """Tests that it passed."""


@dataclass(frozen=True)
class Near:
    """A column and the one that leaves least of it open, by position."""

    column: int
    of: int
    left: float
    """Share of its entropy that is left when the other one is known."""


@dataclass(frozen=True)
class Dependencies:
    """All dependencies among columns, by position."""

    renamings: tuple[tuple[int, ...], ...]
    """Columns that divide the rows in the same way."""
    determined: tuple[Found, ...]
    """Of each group of renamings the first column only."""
    near: tuple[Near, ...]
    """Near-copies, those that leave least open first; each column once."""
    searched_one: bool
    searched_two: bool
    searched_near: bool


class ColumnRows(Protocol):
    """Rows of a table, in memory or elsewhere, as the search asks about them: columns by number, without a label."""

    n_values: Ints
    n_rows: int
    """Rows, counted with their weights."""
    n_listed: int
    """Rows that have to be sorted."""
    head: Codes
    """Some rows, with all columns, that dependencies are tried on before all rows; no result depends on which."""

    def value_sizes(self, column: int) -> Ints:
        """Rows of each value of a column."""
        ...

    def group_sizes(self, by: tuple[int, ...]) -> Ints:
        """Rows of each group that agrees on some columns."""
        ...

    def agreeing(self, by: tuple[int, ...], targets: Positions) -> list[int]:
        """The targets on which all rows agree that agree on some columns."""
        ...

    def alike(self, columns: Sequence[int]) -> list[tuple[int, ...]]:
        """Groups of two or more columns that divide the rows in the same way."""
        ...

    def near_pairs(self, columns: Positions, limits: Floats, n_looked_at: int) -> list[Near]:
        """Columns of which another one leaves no more open than a limit, with what is left on the rows looked at."""
        ...

    def share_left(self, column: int, of: int) -> float:
        """Share of the entropy of a column that is left when another one is known."""
        ...


class TableRows:
    """Rows in memory (see ``ColumnRows``)."""

    def __init__(self, codes: Codes, n_values: Ints, weights: Ints | None) -> None:
        self.rows = CodedRows(codes, np.zeros(len(codes), np.uint8), n_values, 1, weights)
        self.n_values, self.n_rows, self.n_listed = n_values, self.rows.n_rows, len(codes)
        self.head: Codes = np.ascontiguousarray(codes[np.random.default_rng(0).permutation(len(codes))[:N_HEAD]])
        self._sorted: tuple[tuple[int, ...], _Sorted] | None = None

    def value_sizes(self, column: int) -> Ints:
        """Rows of each value of a column."""
        return self.rows.value_sizes(column)

    def group_sizes(self, by: tuple[int, ...]) -> Ints:
        """Rows of each group that agrees on some columns."""
        found = self._sorted_by(by)
        starts = np.delete(np.arange(len(found.order)), found.repeats + 1)
        return np.add.reduceat(self.rows.weights_or_ones()[found.order], starts)

    def agreeing(self, by: tuple[int, ...], targets: Positions) -> list[int]:
        """The targets on which all rows agree that agree on some columns."""
        determined: list[int] = _agreeing(self.rows.codes, self._sorted_by(by), targets).tolist()
        return determined

    def alike(self, columns: Sequence[int]) -> list[tuple[int, ...]]:
        """Groups of two or more columns that divide the rows in the same way."""
        return [group for group in equal_columns(self.rows.codes, self.n_values, columns) if len(group) > 1]

    def near_pairs(self, columns: Positions, limits: Floats, n_looked_at: int) -> list[Near]:
        """Columns of which another one leaves no more open than a limit, on all rows or so many drawn ones."""
        some = self.rows.select(columns.tolist())
        if n_looked_at < self.n_listed:
            some = some.take(np.random.default_rng(0).permutation(self.n_listed)[:n_looked_at])
        return near_among(some, columns, limits)

    def share_left(self, column: int, of: int) -> float:
        """Share of the entropy of a column that is left when another one is known."""
        return share_left(self.rows, column, of)

    def _sorted_by(self, by: tuple[int, ...]) -> "_Sorted":
        """The rows in the order of some columns; the last order is kept."""
        if self._sorted is None or self._sorted[0] != by:
            self._sorted = by, _Sorted.of(self.rows.codes, self.n_values, by)
        return self._sorted[1]


def find_dependencies(rows: ColumnRows, max_determinants: int) -> Dependencies:
    """Columns that are equal up to the names of their values, and those that one or two others determine.

    Examples
    --------
    >>> towns, countries = [0, 1, 2, 0, 1, 2] * 5, [0, 0, 1, 0, 0, 1] * 5
    >>> codes = np.column_stack([towns, countries]).astype(np.uint8)
    >>> find_dependencies(TableRows(codes, np.array([3, 2]), None), 1).determined
    (Found(determined=1, by=(0,), support=27),)
    """
    search, n_values = _Search(rows), rows.n_values
    varying = np.flatnonzero(n_values > 1).tolist()
    renamings = search.renamings(varying)
    left_out = {i for group in renamings for i in group[1:]}
    columns = np.array([i for i in varying if i not in left_out], np.intp)
    searched_one = len(columns) <= MAX_ONE
    searched_two = max_determinants == 2 and len(columns) <= MAX_TWO
    if searched_two:
        n_sorted = int(np.count_nonzero(np.outer(n_values[columns], n_values[columns]) > RARELY_EQUAL)) // 2
        searched_two = n_sorted * rows.n_listed <= MAX_SORTED
    determined: list[Found] = []
    if searched_one:
        determined += search.by_one(columns)
    if searched_two:
        determined += search.by_two(columns, determined)
    determined.sort(key=lambda found: (len(found.by), found.determined, found.by))
    near = _near_copies(rows, columns, determined)
    return Dependencies(
        tuple(renamings), tuple(determined), tuple(near or ()), searched_one, searched_two, near is not None
    )


class _Search:
    """Finds which columns determine which, with the tests that each dependency passed."""

    def __init__(self, rows: ColumnRows) -> None:
        self.rows = rows
        self.evidence = np.array([self._evidence(i) for i in range(len(rows.n_values))])

    def _shares(self, column: int) -> Floats:
        return np.asarray(self.rows.value_sizes(column) / self.rows.n_rows)

    def _evidence(self, column: int) -> float:
        """The most that a test can tell: minus the log of the sum of the squared shares of the values.

        An unrelated column passes with a probability of sum over values of share^size in a group of rows. That is the
        mean of share^(size - 1), at least the (size - 1)-th power of the mean share, which is the sum of the squares.
        """
        return -math.log(min(float((self._shares(column) ** 2).sum()), 1.0))

    def renamings(self, varying: Sequence[int]) -> list[tuple[int, ...]]:
        """Groups of two or more columns that divide the rows in the same way, in the given order."""
        candidates = equal_columns(self.rows.head, self.rows.n_values, varying)
        groups = [group for alike in candidates if len(alike) > 1 for group in self.rows.alike(alike)]
        return sorted(group for group in groups if self._supported((group[0],), [group[1]], len(varying) - 1))

    def by_one(self, columns: Positions) -> Iterator[Found]:
        """Every column that another one determines."""
        n_candidates = len(columns) - 1
        needed = math.log(max(n_candidates, 1) / CHANCE)
        for i in columns.tolist():
            targets = self._determined((i,), columns[columns != i], needed)
            yield from self._supported((i,), targets, n_candidates)

    def by_two(self, columns: Positions, by_one: Sequence[Found]) -> Iterator[Found]:
        """Every column that two others determine together, where neither does alone."""
        alone = {i: self._determined((i,), columns[columns != i], 0.0) for i in columns.tolist()}
        n_known = np.bincount([found.determined for found in by_one], minlength=len(self.rows.n_values))
        for a, b in combinations(columns.tolist(), 2):
            others = columns[(columns != a) & (columns != b)]
            for target in self._determined((a, b), others, math.log(1 / CHANCE)):
                if target not in alone[a] and target not in alone[b]:
                    n_candidates = math.comb(len(columns) - 1 - int(n_known[target]), 2)
                    yield from self._supported((a, b), [target], n_candidates)

    def _determined(self, by: tuple[int, ...], targets: Positions, needed: float) -> list[int]:
        """The targets that agree wherever rows agree on some columns, if tests can tell as much as is needed."""
        head = self.rows.head
        tried = _Sorted.of(head, self.rows.n_values, by)
        one, other = (head[tried.order[tried.repeats[:N_LOOKS] + step]] for step in (0, 1))
        left = targets[(one == other).all(axis=0)[targets]]
        left = _agreeing(head, replace(tried, repeats=tried.repeats[N_LOOKS:]), left)
        if not len(left):
            return []
        n_tests = self.rows.n_rows - len(self.rows.group_sizes(by))
        return self.rows.agreeing(by, left[n_tests * self.evidence[left] >= needed - 1e-9])

    def _supported(self, by: tuple[int, ...], targets: Sequence[int], n_candidates: int) -> list[Found]:
        """The dependencies that an unrelated column would rarely show, with their tests."""
        if not targets:
            return []
        sizes = self.rows.group_sizes(by)
        size, times = np.unique(sizes, return_counts=True)
        needed = math.log(max(n_candidates, 1) / CHANCE)
        supported = []
        for target in targets:
            shares = self._shares(target)
            # log of sum over values of share^size: the probability that all rows of a group have the same value
            largest = float(shares.max())
            luck = size * math.log(largest) + np.log(((shares / largest) ** size[:, None]).sum(axis=1))
            if float((times * luck).sum()) <= -needed:
                supported.append(Found(target, by, self.rows.n_rows - len(sizes)))
        return supported


def _near_copies(rows: ColumnRows, columns: Positions, determined: Sequence[Found]) -> list[Near] | None:
    """Columns of which another one leaves little open, each once; None if there are too many columns.

    On large tables pairs are looked for on some of the rows; what they leave open is counted on all.
    """
    columns = columns[rows.n_values[columns] <= NEAR_VALUES]
    n_looked_at = min(rows.n_listed, NEAR_LOOKS // max(len(columns), 1) ** 2)
    if n_looked_at < min(rows.n_listed, N_HEAD) or rows.n_values[columns].sum() > NEAR_VALUES_IN_ALL:
        return None
    limits = np.array([_most_left(rows, int(column), rows.n_values[columns]) for column in columns])
    known = {frozenset((found.determined, *found.by)) for found in determined}  # need not be counted again
    pairs = [two for two in rows.near_pairs(columns, limits, n_looked_at) if {two.of, two.column} not in known]
    pairs.sort(key=lambda pair: (round(pair.left, 2), pair.of, pair.column))  # of two near-copies the first stays
    return sorted(_each_once(rows, pairs), key=lambda pair: (round(pair.left, 2), pair.of, pair.column))


def near_among(some: CodedRows, columns: Positions, limits: Floats) -> list[Near]:
    """Columns of which another one leaves no more open than a limit, among these rows, whose columns these are."""
    pairs = []
    for place, of in enumerate(columns.tolist()):
        left = shares_left(some, some.codes[:, place])
        near = np.flatnonzero((left <= limits[:, place]) & (columns != of))
        pairs += [Near(int(columns[k]), of, float(left[k])) for k in near]
    return pairs


def _most_left(rows: ColumnRows, column: int, n_values: Ints) -> Floats:
    """The shares of its entropy that columns of so many values may leave open: less where chance could take much.

    Of two unrelated columns of r and c values, mutual information is at most ln(1 + X) with X the mean square
    contingency, which is (r - 1) (c - 1) / (n - 1) on average over all orders of the rows.
    """
    shares = rows.value_sizes(column) / rows.n_rows
    entropy = -float((shares * np.log(np.maximum(shares, 1e-300))).sum())
    by_chance = np.log1p((rows.n_values[column] - 1) * (n_values - 1) / (rows.n_rows - 1)) / entropy
    return np.asarray(NEAR * np.maximum(1 - by_chance, 0.0))


def _each_once(rows: ColumnRows, pairs: Sequence[Near]) -> Iterator[Near]:
    """Every column with the one that leaves least of it open, no two of each other; none that determines another."""
    chosen: dict[int, int] = {}
    for pair in pairs:
        last = pair.of
        while last in chosen and last != pair.column:
            last = chosen[last]
        if pair.column in chosen or last == pair.column:
            continue
        left, left_of_other = rows.share_left(pair.column, pair.of), rows.share_left(pair.of, pair.column)
        if min(left, left_of_other) > 1e-9 and left <= NEAR:  # on all rows
            chosen[pair.column] = pair.of
            yield Near(pair.column, pair.of, left)


@dataclass(frozen=True)
class _Sorted:
    """Rows in the order of some columns."""

    order: Positions
    repeats: Positions
    """Places in it from which the next row has the same values."""

    @classmethod
    def of(cls, codes: Codes, n_values: Ints, by: tuple[int, ...]) -> "_Sorted":
        """From all columns, and those that rows are sorted by."""
        joint = codes[:, by[0]].astype(np.int64)
        for i in by[1:]:
            joint = joint * int(n_values[i]) + codes[:, i]
        order = np.argsort(joint, kind="stable")
        ordered = joint[order]
        return cls(order, np.flatnonzero(ordered[1:] == ordered[:-1]))


def _agreeing(codes: Codes, found: _Sorted, columns: Positions) -> Positions:
    """The columns on which each repeated row agrees with the next one."""
    start = 0
    while start < len(found.repeats) and len(columns):
        some = found.repeats[start : start + max(ENTRIES // len(columns), 1)]
        one, other = (codes[np.ix_(found.order[some + step], columns)] for step in (0, 1))
        columns = columns[(one == other).all(axis=0)]
        start += len(some)
    return columns
