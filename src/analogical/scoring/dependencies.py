"""Which features other features determine, how well that was tested, and which ones to leave out.

A feature that others determine has no pairs: two rows that differ on it differ on them too. A feature may also have no
pairs because there are too few rows. The two are told apart by looking for one or two features that determine it, and
by asking whether the data could have shown otherwise: among rows with equal determinants every row after the first is a
test, and a dependency counts only if an unrelated column with the same values would rarely have passed them all.
"""

import math
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from typing import Literal

import numpy as np

from analogical._types import CodedRows, Codes, Ints
from analogical.engines.base import Engine

__all__ = ["Found", "LeftOut", "Reason", "Resolution", "Search", "find_determinants", "resolve"]

CHANCE = 0.05
"""A dependency counts if an unrelated column would pass its tests less often than this, over all candidates."""
N_WITNESSES = 2_000
"""Pairs of rows that a search for two determinants tries before it looks at all rows."""
N_SAMPLE = 20_000
"""Rows among which pairs are sought that refute a dependency."""
MAX_ENTRIES = 20_000_000
"""Entries of a matrix of pairs of rows and columns."""
CHUNK = 256
"""Targets that are looked at together."""
N_HEAD = 1_000
"""Rows that a dependency is tried on before all of them."""
MAX_SEARCH = 1_000_000
"""Two determinants are looked for if features without pairs times features squared stay below this."""

Reason = Literal["constant", "same information", "determined"]


@dataclass(frozen=True)
class Found:
    """A dependency between columns, by position."""

    determined: int
    by: tuple[int, ...]
    support: int


class Search:
    """Finds which columns determine which, with the tests that each dependency passed."""

    def __init__(self, codes: Codes, n_values: Ints, weights: Ints | None) -> None:
        self.codes = codes
        self.n_values = n_values
        self.weights = np.ones(len(codes), dtype=np.int64) if weights is None else weights
        self.n_rows = int(self.weights.sum())
        self.rng = np.random.default_rng(0)  # which rows are tried first; no result depends on it
        some = self.rng.choice(len(codes), N_SAMPLE) if len(codes) > N_SAMPLE else self.rng.permutation(len(codes))
        self.sample = codes[some]
        self.head = self.sample[:N_HEAD]

    def renamings(self, columns: Iterable[int]) -> list[tuple[int, ...]]:
        """Groups of two or more columns that divide the rows in the same way, in the given order."""
        groups: dict[bytes, list[int]] = {}
        columns = [i for i in columns if self.n_values[i] > 1]
        for i in columns:
            groups.setdefault(_division(self.codes[:, i], int(self.n_values[i])).tobytes(), []).append(i)
        return [
            tuple(group)
            for group in groups.values()
            if len(group) > 1 and self._support(self._sizes((group[0],)), group[1], len(columns) - 1) is not None
        ]

    def single(self, targets: Iterable[int], candidates: Sequence[int]) -> Iterator[Found]:
        """Every candidate that determines a target alone, target by target."""
        wanted = list(targets)
        for start in range(0, len(wanted), CHUNK):
            chunk = wanted[start : start + CHUNK]
            for target, possible in zip(chunk, self._not_refuted(chunk, candidates), strict=True):
                for i in possible:
                    if i != target and self.n_values[i] >= self.n_values[target] and self._holds((i,), target):
                        support = self._support(self._sizes((i,)), target, len(candidates) - 1)
                        if support is not None:
                            yield Found(target, (i,), support)

    def _not_refuted(self, targets: Sequence[int], candidates: Sequence[int]) -> list[list[int]]:
        """For each target the candidates that no pair of sampled rows refutes: they agree on it and not on the target.

        All candidates and targets at once, as a product of two matrices of pairs of rows and columns.
        """
        n_pairs = max(1, min(N_WITNESSES, MAX_ENTRIES // (len(candidates) + 1)))
        rows, others = self.rng.integers(0, len(self.sample), (2, n_pairs))
        agrees = (self.sample[rows][:, candidates] == self.sample[others][:, candidates]).astype(np.float32)
        differs = (self.sample[rows][:, targets] != self.sample[others][:, targets]).astype(np.float32)
        possible = differs.T @ agrees == 0
        return [[candidates[k] for k in np.flatnonzero(row).tolist()] for row in possible]

    def double(self, target: int, candidates: Sequence[int]) -> Iterator[Found]:
        """Every two candidates that determine a target together, where neither does alone."""
        n_pairs = len(candidates) * (len(candidates) - 1) // 2
        if n_pairs == 0:
            return
        alone = {i for i in self._not_refuted([target], candidates)[0] if self._holds((i,), target)}
        # Pairs of rows that differ on the target: two columns on which such rows agree do not determine it.
        rows, others = self._witnesses(target)
        agree = (rows[:, candidates] == others[:, candidates]).astype(np.float32)
        refuted = agree.T @ agree > 0
        for a, b in zip(*np.nonzero(np.triu(~refuted, 1)), strict=True):
            by = (candidates[a], candidates[b])
            if alone.isdisjoint(by) and self._holds(by, target):
                support = self._support(self._sizes(by), target, n_pairs)
                if support is not None:
                    yield Found(target, by, support)

    def _holds(self, by: tuple[int, ...], target: int) -> bool:
        """Whether rows that agree on ``by`` agree on the target."""
        return all(
            _determines(self._joint(codes, by), codes[:, target], self._n_joint(by))
            for codes in (self.head, self.codes)
        )

    def _n_joint(self, by: tuple[int, ...]) -> int:
        return math.prod(int(self.n_values[i]) for i in by)

    def _joint(self, codes: Codes, by: tuple[int, ...]) -> Ints:
        """The columns ``by`` as one column of codes."""
        joint = codes[:, by[0]].astype(np.int64)
        for i in by[1:]:
            joint = joint * int(self.n_values[i]) + codes[:, i]
        return joint

    def _sizes(self, by: tuple[int, ...]) -> Ints:
        """Rows in each group of rows that agree on ``by``."""
        _, ids = np.unique(self._joint(self.codes, by), return_inverse=True)
        return np.bincount(ids, weights=self.weights).astype(np.int64)

    def _support(self, sizes: Ints, target: int, n_candidates: int) -> int | None:
        """Tests that a dependency passed; None if an unrelated column may well have passed them too."""
        shares = np.bincount(self.codes[:, target], weights=self.weights) / self.n_rows
        size, times = np.unique(sizes, return_counts=True)
        # log of sum over values of share^size: the probability that all rows of a group have the same value
        largest = float(shares.max())
        luck = size * math.log(largest) + np.log(((shares / largest) ** size[:, None]).sum(axis=1))
        if float((times * luck).sum()) + math.log(max(n_candidates, 1)) > math.log(CHANCE):
            return None
        return self.n_rows - len(sizes)

    def _witnesses(self, target: int) -> tuple[Codes, Codes]:
        """Pairs of rows that differ on the target: one with its commonest value, one without."""
        rows = self.sample
        if (rows[:, target] == rows[0, target]).all():  # so rare a value is not in the sample
            rows = self.codes
        column = rows[:, target]
        common = column == np.bincount(column).argmax()
        one, other = (rows[self.rng.choice(np.flatnonzero(side), size=N_WITNESSES)] for side in (common, ~common))
        return one, other


def _division(column: Codes, n_values: int) -> Ints:
    """The column with its values numbered by first appearance: equal for columns equal up to renaming."""
    firsts = np.full(n_values, len(column), dtype=np.int64)
    np.minimum.at(firsts, column, np.arange(len(column)))
    return firsts[column]


def _determines(joint: Ints, column: Codes, n_joint: int) -> bool:
    """Whether rows with equal ``joint`` have equal ``column``."""
    if n_joint > max(4 * len(joint), 2**16):
        joint = np.unique(joint, return_inverse=True)[1]
        n_joint = len(joint)
    last = np.zeros(n_joint, dtype=column.dtype)
    last[joint] = column
    return bool((last[joint] == column).all())


@dataclass(frozen=True)
class LeftOut:
    """A column that is left out, by position, why, and in favour of which ones."""

    column: int
    reason: Reason
    in_favour_of: tuple[int, ...]
    support: int
    """Tests that the dependency passed; 0 for a constant."""


@dataclass(frozen=True)
class Resolution:
    """Columns that remain, by position, and the ones left out."""

    remaining: tuple[int, ...]
    left_out: tuple[LeftOut, ...] = ()


def resolve(engine: Engine, rows: CodedRows, priority: Sequence[int]) -> Resolution:
    """Leave out what others determine until every feature has pairs or nothing explains that it has none.

    ``priority`` lists all columns, the ones to keep first. Columns of equal information leave the first of
    them; a column that one other column determines goes in favour of that one, which says more; of columns
    that two others determine the last one goes, the pairs are counted again, and so on.
    """
    search = Search(rows.codes, rows.n_values, rows.weights)
    rank = {column: r for r, column in enumerate(priority)}
    left_out = [LeftOut(column, "constant", (), 0) for column in priority if rows.n_values[column] == 1]
    remaining = [column for column in priority if rows.n_values[column] > 1]
    while len(remaining) > 1:
        counts = engine.count_pairs(rows.select(remaining))
        silent = [column for column, pairs in zip(remaining, counts.pairs.tolist(), strict=True) if pairs == 0]
        found = list(_next_left_out(search, silent, remaining, rank))
        if not found:
            break
        left_out += found
        gone = {item.column for item in found}
        remaining = [column for column in remaining if column not in gone]
    favoured = {item.column: item.in_favour_of for item in left_out}
    return Resolution(
        remaining=tuple(sorted(remaining)),
        left_out=tuple(
            LeftOut(item.column, item.reason, _remaining_of(item.in_favour_of, favoured, rank), item.support)
            for item in sorted(left_out, key=lambda item: item.column)
        ),
    )


def _next_left_out(
    search: Search, silent: Sequence[int], remaining: Sequence[int], rank: dict[int, int]
) -> Iterator[LeftOut]:
    """The next columns to leave out: renamings, else columns with one determinant, else one with two."""
    groups = search.renamings(silent)
    for first, *others in groups:
        support = search.n_rows - int(search.n_values[first])
        yield from (LeftOut(column, "same information", (first,), support) for column in others)
    if groups:
        return
    by_one: dict[int, Found] = {}
    for found in search.single(silent, remaining):
        by_one.setdefault(found.determined, found)
    yield from (LeftOut(column, "determined", found.by, found.support) for column, found in by_one.items())
    if by_one:
        return
    for target in sorted(silent, key=lambda column: -rank[column]):
        for found in search.double(target, [column for column in remaining if column != target]):
            yield LeftOut(target, "determined", found.by, found.support)
            return


def _remaining_of(by: tuple[int, ...], favoured: dict[int, tuple[int, ...]], rank: dict[int, int]) -> tuple[int, ...]:
    """The columns that remain in the end, for those that were left out themselves later."""
    ends: set[int] = set()
    for column in by:
        ends.update(_remaining_of(favoured[column], favoured, rank) if column in favoured else (column,))
    return tuple(sorted(ends, key=rank.__getitem__))


def find_determinants(rows: CodedRows, silent: Sequence[int]) -> dict[int, tuple[int, ...]]:
    """For features without pairs: which one or two features determine them; none means too few rows."""
    if not silent:
        return {}
    search = Search(rows.codes, rows.n_values, rows.weights)
    varying = np.flatnonzero(rows.n_values > 1).tolist()
    by: dict[int, tuple[int, ...]] = {}
    for found in search.single(silent, varying):
        by.setdefault(found.determined, found.by)
    if len(silent) * len(varying) ** 2 <= MAX_SEARCH:
        for target in silent:
            if target not in by:
                first = next(search.double(target, [column for column in varying if column != target]), None)
                if first is not None:
                    by[target] = first.by
    return by
