"""What counting returns: pairs per feature, and the number of rows by their number of pairs."""

from dataclasses import dataclass
from functools import cached_property

import numpy as np

from analogical._types import Ints
from analogical.count.groups import count_keys
from analogical.errors import InputError

__all__ = ["PairCounts", "RowProfile", "pairs_within", "refuse_too_many_rows"]

MAX_TOTAL = 2**31
"""Most rows; with more, products of two sizes would not fit in int64."""


@dataclass(frozen=True)
class PairCounts:
    """Exact counts of pairs of rows, each row counted with its weight.

    Attributes
    ----------
    pairs, changed : int64 arrays, one entry per feature
        Unordered pairs of rows that differ on this feature only, and how many of them have different labels.
    n_rows : int
        Rows, that is their total weight.
    n_distinct : int
        Distinct feature rows, labels ignored.
    n_identical, n_contradictions : int
        Pairs of rows that agree on every feature, and how many of them have different labels.
    """

    pairs: Ints
    changed: Ints
    n_rows: int
    n_distinct: int
    n_identical: int
    n_contradictions: int


@dataclass(frozen=True)
class RowProfile:
    """Number of rows by their number of pairs: all that intervals need to know about a feature.

    ``rows[k]`` rows are in ``pairs[k]`` pairs each, ``changed[k]`` of which have different labels. Rows without pairs
    may be left out.
    """

    pairs: Ints
    changed: Ints
    rows: Ints

    @classmethod
    def of(cls, pairs: Ints, changed: Ints, rows: Ints) -> "RowProfile":
        """Merge equal entries, and drop entries without rows."""
        if not len(pairs):
            return cls(pairs, changed, rows)
        base = int(changed.max()) + 1
        keys = pairs * base + changed  # below 2**62: at most 2**31 of each
        known, totals = count_keys(keys, int(keys.max()) + 1, rows)
        return cls(known // base, known % base, totals)

    @cached_property
    def n_pairs(self) -> int:
        """Number of pairs."""
        return int((self.pairs * self.rows).sum()) // 2

    @cached_property
    def n_changed(self) -> int:
        """Number of pairs whose labels differ."""
        return int((self.changed * self.rows).sum()) // 2

    @cached_property
    def n_effective(self) -> float:
        """Kish's effective number of pairs, 2 P^2 / sum of d^2 with d the pairs of each row.

        P if no row is in two pairs; small if one row is in most pairs.
        """
        squares = float((self.rows * self.pairs.astype(np.float64) ** 2).sum())
        return 2.0 * float(self.n_pairs) ** 2 / squares if squares else 0.0

    @property
    def n_paired_rows(self) -> int:
        """Number of rows with at least one pair."""
        return int(self.rows[self.pairs > 0].sum())


def pairs_within(sizes: Ints) -> int:
    """Number of pairs of rows within groups of these sizes; exact for at most 2**31 rows."""
    return int((sizes * (sizes - 1) // 2).sum())


def refuse_too_many_rows(total: float) -> None:
    """Refuse more rows than can have their pairs counted in int64."""
    if total > MAX_TOTAL:
        raise InputError(
            f"The table stands for {total:,.0f} rows; pairs are counted exactly in 64 bits up to {MAX_TOTAL:,} rows:"
            " divide the weights by a common factor, or count a sample of the rows."
        )
