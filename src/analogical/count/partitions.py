"""How columns divide the rows: which divisions may be equal to, or finer than, which others, among very many columns.

A column determines another one if its division of the rows is finer. Every row has a random number, and a group of rows
their sum, so the sum of a union of groups is known without looking at rows again. A column with few values has few
coarser divisions, and a table of the sums of all columns finds them. What is found is certain only after a look at the
rows; what is not found is not there.
"""

from collections.abc import Iterator

import numpy as np
from numpy.typing import NDArray

from analogical._types import Codes, Floats, Ints, Keys, Positions

__all__ = ["ENTRIES", "FEW_VALUES", "Divisions", "Refuter"]

FEW_VALUES = 6
"""Up to so many values, the coarser divisions of a column are listed: 203 for 6 values, 877 for 7."""
SUM_BITS = 53
"""Sums of row numbers stay below two to this, so that they are exact in float64."""
ENTRIES = 2**18
"""Codes that are looked at together: they stay in cache."""
N_PAIRS = 512
"""Pairs of rows on which the agreement of all columns is known."""
N_LOOKS = 8
"""Pairs that agree on a column, on which others are tried before all rows are looked at."""


class Divisions:
    """The divisions of the rows by each column, as numbers that can be compared."""

    def __init__(self, codes: Codes, n_values: Ints) -> None:
        self.codes = codes
        self.n_values = n_values
        n_bits = SUM_BITS - len(codes).bit_length()
        self.numbers = np.random.default_rng(0).integers(1, 2**n_bits, len(codes)).astype(np.float64)

    def keys(self, columns: Positions) -> Keys:
        """A number for each column; columns that divide the rows in the same way have the same."""
        keys = np.zeros(len(columns), np.uint64)
        few = np.flatnonzero(self.n_values[columns] <= FEW_VALUES)
        keys[few] = _keys(self._sums(columns[few]))
        for place in np.flatnonzero(self.n_values[columns] > FEW_VALUES).tolist():
            keys[place] = _keys(np.bincount(self.codes[:, columns[place]], self.numbers)[None].astype(np.float64))[0]
        return keys

    def finer(self, targets: Positions, candidates: Positions) -> tuple[Positions, Positions]:
        """Twos (target, candidate), by place in these lists, whose candidate is likely to be finer.

        All of them if the candidates have few values; candidates with more are left out.
        """
        able = np.flatnonzero(self.n_values[targets] <= FEW_VALUES)
        keys = self.keys(targets[able])
        order = np.argsort(keys)
        found = [(np.zeros(0, np.intp), np.zeros(0, np.intp))]
        for n_values in range(2, FEW_VALUES + 1):
            places = np.flatnonzero(self.n_values[candidates] == n_values)
            sums = self._sums(candidates[places])
            for merging in _mergings(n_values) if len(places) else ():
                merged = np.zeros((len(places), n_values))
                for value, group in enumerate(merging):
                    merged[:, group] += sums[:, value]
                wanted = _keys(merged)
                first = np.searchsorted(keys, wanted, sorter=order)
                n_equal = np.searchsorted(keys, wanted, side="right", sorter=order) - first
                which = np.repeat(first - np.cumsum(n_equal) + n_equal, n_equal) + np.arange(n_equal.sum())
                found.append((able[order[which]], np.repeat(places, n_equal)))
        return np.concatenate([target for target, _ in found]), np.concatenate([by for _, by in found])

    def _sums(self, columns: Positions) -> Floats:
        """For each column the sum of the numbers of the rows with each value."""
        sums = np.zeros((len(columns), FEW_VALUES))
        step = max(1, ENTRIES // len(self.codes))
        for start in range(0, len(columns), step):
            part = self.codes[:, columns[start : start + step]]
            for value in range(int(part.max(initial=0)) + 1):
                sums[start : start + step, value] = self.numbers @ (part == value)
        return sums


class Refuter:
    """Finds which of many targets a column with many values may determine.

    Rows that agree on the column must agree on the target. Pairs of rows are drawn once, and of each is kept as bits on
    which targets it agrees. A few of these words of bits refute nearly all targets; for the others all rows are looked
    at.
    """

    def __init__(self, codes: Codes, targets: Positions, rng: np.random.Generator) -> None:
        self.codes = codes
        self.targets = targets
        if len(codes) * (len(codes) - 1) // 2 <= N_PAIRS:
            self.rows, self.others = np.triu_indices(len(codes), 1)
        else:
            self.rows, self.others = rng.integers(0, len(codes), (2, N_PAIRS))
        self.agree = np.zeros((len(self.rows), -(-len(targets) // 8)), np.uint8)
        for pair, (row, other) in enumerate(zip(self.rows.tolist(), self.others.tolist(), strict=True)):
            self.agree[pair] = np.packbits((codes[row] == codes[other])[targets])

    def coarser_than(self, candidate: int, possible: NDArray[np.uint8]) -> Positions:
        """The other targets, by place, on which rows agree whenever they agree on a column; possible ones as bits."""
        column = self.codes[:, candidate]
        pairs = np.flatnonzero(column[self.rows] == column[self.others])[:N_LOOKS]
        octets = np.bitwise_and.reduce(self.agree[pairs], axis=0) & possible
        held = np.flatnonzero(octets)
        octet, bit = np.nonzero(np.unpackbits(octets[held, None], axis=1))
        left: Positions = held[octet] * 8 + bit
        left = left[self.targets[left] != candidate]
        if not len(left):
            return left
        order = np.argsort(column, kind="stable")
        agree = np.flatnonzero(column[order[1:]] == column[order[:-1]])
        start = 0
        while start < len(agree) and len(left):
            looks = agree[start : start + max(1, ENTRIES // len(left))]
            some = self.targets[left]
            one, other = (self.codes[np.ix_(order[side], some)] for side in (looks, looks + 1))
            left = left[(one == other).all(axis=0)]
            start += len(looks)
        return left


def _keys(sums: Floats) -> Keys:
    """One number for each line of sums, whatever their order; sums of 0 change nothing."""
    mixed = sums.astype(np.uint64)
    for shift, factor in ((30, 0xBF58476D1CE4E5B9), (27, 0x94D049BB133111EB)):  # splitmix64
        mixed = (mixed ^ mixed >> np.uint64(shift)) * np.uint64(factor)
    return np.asarray((mixed ^ mixed >> np.uint64(31)).sum(axis=1, dtype=np.uint64))


def _mergings(n_values: int) -> Iterator[list[int]]:
    """All ways to divide values into groups: for each value the number of its group, the groups in order of values."""

    def extend(groups: list[int]) -> Iterator[list[int]]:
        if len(groups) == n_values:
            yield groups
            return
        for group in range(max(groups, default=-1) + 2):
            yield from extend([*groups, group])

    return extend([])
