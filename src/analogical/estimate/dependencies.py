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

from analogical._progress import Progress
from analogical._types import Codes, Floats, Ints, Keys, Positions
from analogical.count.partitions import ENTRIES, FEW_VALUES, Divisions, Refuter
from analogical.count.threads import one_blas_thread

__all__ = [
    "MAX_LISTED_SEARCH",
    "Found",
    "Reason",
    "Search",
]

CHANCE = 0.05
"""A dependency counts if an unrelated column would pass its tests less often than this, over all candidates."""
N_WITNESSES = 2_000
"""Pairs of rows that a search for two determinants tries before it looks at all rows."""
N_SAMPLE = 20_000
"""Rows among which pairs are sought that refute a dependency."""
MAX_TRIED = 10_000_000_000
"""Twos of columns that are tried because one of them has many values: about ten seconds."""
MANY_VALUES = 32
MANY_ROWS = 5_000
"""Up to so many values and rows, those of many columns are counted together; beyond, column by column."""
PROGRESS_STEP = 256
"""Columns between two reports of progress."""
N_HEAD = 1_000
"""Rows that a dependency is tried on before all of them."""
MAX_LISTED_SEARCH = 100_000_000
"""Two determinants are looked for if columns cubed stay below this: about ten seconds, for 460 columns."""

Reason = Literal["constant", "id", "same information", "determined"]


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
        first, others = self._some_rows()
        self.sample = np.ascontiguousarray(codes[np.concatenate([first, others])])
        self.head = self.sample[: len(first) + N_HEAD]
        self.is_complete = True
        """Whether all columns could be tried so far."""

    def _some_rows(self) -> tuple[Positions, Positions]:
        """A few rows in which no column is constant that is not, and others: all in random order, or a sample."""
        if len(self.codes) <= N_HEAD:
            return np.zeros(0, np.intp), self.rng.permutation(len(self.codes))
        # the first row with another value than the first row, which is nearly always near
        other = (self.codes[:N_HEAD] != self.codes[0]).argmax(axis=0)
        for column in np.flatnonzero((other == 0) & (self.n_values > 1)).tolist():
            other[column] = (self.codes[:, column] != self.codes[0, column]).argmax()
        m = len(self.codes)
        return np.unique(np.append(other, 0)), self.rng.permutation(m) if m <= N_SAMPLE else self.rng.choice(
            m, N_SAMPLE
        )

    def renamings(self, columns: Iterable[int]) -> list[tuple[int, ...]]:
        """Groups of two or more columns that divide the rows in the same way, in the given order."""
        varying = np.array([i for i in columns if self.n_values[i] > 1], np.intp)
        with one_blas_thread():
            keys = Divisions(self.sample, self.n_values).keys(varying)
        _, key, n_equal = np.unique(keys, return_inverse=True, return_counts=True)
        groups: dict[bytes, list[int]] = {}
        for i in varying[n_equal[key] > 1].tolist():
            groups.setdefault(_division(self.codes[:, i], int(self.n_values[i])).tobytes(), []).append(i)
        return [
            tuple(group)
            for group in groups.values()
            if len(group) > 1 and self._support(self._sizes((group[0],)), group[1], len(varying) - 1) is not None
        ]

    def single(
        self,
        targets: Iterable[int],
        candidates: Sequence[int],
        *,
        first_only: bool = False,
        progress: Progress | None = None,
    ) -> Iterator[Found]:
        """Every candidate that determines a target alone, target by target; or only the first one of each target."""
        wanted, possible = np.array(list(targets), np.intp), np.array(candidates, np.intp)
        if not len(wanted) or len(possible) < 2:
            return
        by_target, by = self._may_determine(wanted, possible, first_only=first_only, progress=progress)
        last = -1
        for place, other in zip(by_target.tolist(), by.tolist(), strict=True):
            target, i = int(wanted[place]), int(possible[other])
            if i == target or (first_only and place == last) or not self._holds((i,), target):
                continue
            support = self._support(self._sizes((i,)), target, len(candidates) - 1)
            if support is not None:
                last = place
                yield Found(target, (i,), support)

    def _may_determine(
        self, targets: Positions, candidates: Positions, *, first_only: bool, progress: Progress | None
    ) -> tuple[Positions, Positions]:
        """Twos (target, candidate), by place, that sampled rows do not refute and that could count; in order."""
        tried = np.arange(len(candidates))
        with one_blas_thread():
            if first_only and len(self.codes) <= N_SAMPLE:
                # of columns that are equal up to renaming, the first determines all others, the second it
                tried = _first_two(Divisions(self.sample, self.n_values).keys(candidates))
            by_target, by = Divisions(self.head, self.n_values).finer(targets, candidates[tried])
        is_other = targets[by_target] != candidates[tried[by]]
        by_target, by = by_target[is_other], by[is_other]
        found = [(by_target, tried[by])]
        many = tried[self.n_values[candidates[tried]] > FEW_VALUES]
        if not len(many) and not len(by):
            return by_target, by
        with one_blas_thread():
            evidence = self._evidence(targets)
        needed = math.log(max(len(candidates) - 1, 1) / CHANCE)
        refuter = Refuter(self.sample, targets, self.rng)
        possible = {
            n_values: np.packbits(
                ((self.n_rows - n_values) * evidence >= needed) & (self.n_values[targets] <= n_values)
            )
            for n_values in np.unique(self.n_values[candidates[many]]).tolist()
        }
        for number, place in enumerate(many.tolist()):
            if number * len(targets) > MAX_TRIED:
                self.is_complete = False
                break
            column = int(candidates[place])
            left = refuter.coarser_than(column, possible[int(self.n_values[column])])
            found.append((left, np.full(len(left), place)))
            if progress is not None and (number % PROGRESS_STEP == 0 or number == len(many) - 1):
                progress(number + 1, len(many))
        by_target, by = (np.concatenate(part) for part in zip(*found, strict=True))
        could = (self.n_rows - self.n_values[candidates[by]]) * evidence[by_target] >= needed
        by_target, by = by_target[could], by[could]
        order = np.lexsort((by, by_target))
        return by_target[order], by[order]

    def _evidence(self, targets: Positions) -> Floats:
        """The most that a test can tell about each target: minus the log of the sum of its squared shares of values.

        An unrelated column passes with a probability of sum over values of share^size in a group of rows. That is the
        mean of share^(size - 1), at least the (size - 1)-th power of the mean share, which is the sum of the squares.
        """
        squares = np.zeros(len(targets))
        weights = self.weights.astype(np.float64)
        step = max(1, ENTRIES // len(self.codes))
        for start in range(0, len(targets), step):
            part = self.codes[:, targets[start : start + step]]
            n_values = int(part.max(initial=0)) + 1
            if n_values <= MANY_VALUES and len(part) <= MANY_ROWS:
                for value in range(n_values):
                    squares[start : start + step] += (weights @ (part == value) / self.n_rows) ** 2
            else:
                for place, column in enumerate(part.T, start):
                    squares[place] = ((np.bincount(column, weights) / self.n_rows) ** 2).sum()
        return -np.log(np.minimum(squares, 1.0))

    def _not_refuted(self, target: int, candidates: Sequence[int]) -> list[int]:
        """The candidates that no pair of sampled rows refutes: they agree on it and not on the target."""
        rows, others = self.rng.integers(0, len(self.sample), (2, N_WITNESSES))
        one, other = self.sample[rows], self.sample[others]
        agrees = one[:, candidates] == other[:, candidates]
        refuted = agrees[one[:, target] != other[:, target]].any(axis=0)
        return [candidates[k] for k in np.flatnonzero(~refuted).tolist()]

    def double(self, target: int, candidates: Sequence[int]) -> Iterator[Found]:
        """Every two candidates that determine a target together, where neither does alone."""
        n_pairs = len(candidates) * (len(candidates) - 1) // 2
        if n_pairs == 0:
            return
        alone = {i for i in self._not_refuted(target, candidates) if self._holds((i,), target)}
        # Pairs of rows that differ on the target: two columns on which such rows agree do not determine it.
        rows, others = self._witnesses(target)
        agree = (rows[:, candidates] == others[:, candidates]).astype(np.float32)
        with one_blas_thread():
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


def _first_two(keys: Keys) -> Positions:
    """Where each key stands for the first and for the second time."""
    order = np.argsort(keys, kind="stable")
    is_new = np.append(True, keys[order[1:]] != keys[order[:-1]])
    return np.sort(order[is_new | np.append(False, is_new[:-1])])


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
