"""Codes to counts of pairs, exactly, at distance 1, without ever making a pair.

Two rows that agree outside feature i either form a pair for i or are identical. So, with
C2(c) = c (c - 1) / 2 summed over groups of rows,

    pairs(i)     = sum of C2 over groups by context of i           - sum of C2 over groups by row
    unchanged(i) = sum of C2 over groups by context of i and label - sum of C2 over groups by row and label

and changed = pairs - unchanged. Only the sizes of the groups are needed. Everything is int64.
"""

import math
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from analogical.errors import InputError

__all__ = ["PairCounts", "collapse_rows", "count_pairs"]

Codes = NDArray[np.unsignedinteger[Any]]
Ids = NDArray[Any]
"""One whole number per row; rows with the same number are in the same group."""

MAX_ROWS = 2**32
"""More rows could have more pairs than an int64 holds."""


@dataclass(frozen=True)
class PairCounts:
    """What counting found, in whole numbers; rows count with their weights."""

    pairs: NDArray[np.int64]
    """Per feature: pairs of rows that differ on this feature only."""
    changed: NDArray[np.int64]
    """Per feature: those of the pairs whose labels differ."""
    n_rows: int
    n_distinct: int
    """Distinct rows, labels left aside."""
    n_identical: int
    """Pairs of identical rows."""
    n_contradictions: int
    """Pairs of identical rows whose labels differ."""


def count_pairs(
    codes: Codes, labels: Codes, n_values: NDArray[np.int64], weights: NDArray[np.int64] | None = None
) -> PairCounts:
    """Count pairs and changed pairs of every feature.

    ``codes`` has shape (rows, features) with codes below ``n_values``; ``weights`` are positive and say
    how many rows each row stands for. Costs one grouping of the rows per feature.
    """
    n_rows = len(codes) if weights is None else int(weights.sum(dtype=object))
    if n_rows >= MAX_ROWS:
        raise InputError(
            f"The table stands for {n_rows:,} rows; pairs are counted exactly up to {MAX_ROWS - 1:,} rows."
            " Count disjoint parts of the table that share no context, or divide the weights."
        )
    row_ids, context_ids = _group_rows(codes, n_values)
    n_identical, n_same_label = _pairs_within(row_ids, labels, weights)
    n_together = [_pairs_within(ids, labels, weights) for ids in context_ids]
    n_pairs, n_unchanged = np.array(n_together, dtype=np.int64).T
    pairs = n_pairs - n_identical
    return PairCounts(
        pairs=pairs,
        changed=pairs - (n_unchanged - n_same_label),
        n_rows=n_rows,
        n_distinct=len(np.unique(row_ids)),
        n_identical=n_identical,
        n_contradictions=n_identical - n_same_label,
    )


def collapse_rows(
    codes: Codes, labels: Codes, n_values: NDArray[np.int64], weights: NDArray[np.int64] | None = None
) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
    """Positions of the distinct (row, label), and how many rows each of them stands for."""
    row_ids, _ = _group_rows(codes, n_values)
    _, firsts, ids = np.unique(_join(row_ids, labels), return_index=True, return_inverse=True)
    return firsts, _sizes(ids, weights)


def _group_rows(codes: Codes, n_values: NDArray[np.int64]) -> tuple[Ids, Iterator[Ids]]:
    """Ids of equal rows, and for each feature in turn the ids of equal contexts."""
    if math.prod(n_values.tolist()) <= 2**63:
        return _packed_groups(codes, n_values)
    return _chained_groups(codes)


def _packed_groups(codes: Codes, n_values: NDArray[np.int64]) -> tuple[Ids, Iterator[Ids]]:
    """A row as one number below 2^63, its values the digits; a context is the number without a digit."""
    place = np.cumprod(np.append(1, n_values[:-1]))
    keys = np.zeros(len(codes), dtype=np.int64)
    for i in range(codes.shape[1]):
        keys += codes[:, i] * place[i]
    return keys, (keys - codes[:, i] * place[i] for i in range(codes.shape[1]))


def _chained_groups(codes: Codes) -> tuple[Ids, Iterator[Ids]]:
    """Groups for any width: a context of i is a group by the columns before i and a group by those after."""
    n_features = codes.shape[1]
    nothing = np.zeros(len(codes), dtype=np.int64)
    after = [nothing]
    for i in reversed(range(1, n_features)):
        after.append(_join(after[-1], codes[:, i]))

    def contexts() -> Iterator[Ids]:
        before = nothing
        for i in range(n_features):
            yield _join(before, after[n_features - 1 - i])
            before = _join(before, codes[:, i])

    return _join(after[-1], codes[:, 0]), contexts()


def _join(ids: Ids, more: Ids) -> Ids:
    """Ids of the groups that agree on both, numbered from 0 so that they can be joined again."""
    ids = np.unique(ids, return_inverse=True)[1]
    return np.unique(ids * (int(more.max()) + 1) + more, return_inverse=True)[1]


def _pairs_within(ids: Ids, labels: Codes, weights: NDArray[np.int64] | None) -> tuple[int, int]:
    """Sum of C2 over the groups, and over the groups split by label."""
    return _sum_c2(_sizes(ids, weights)), _sum_c2(_sizes(_join(ids, labels), weights))


def _sizes(ids: Ids, weights: NDArray[np.int64] | None) -> NDArray[np.int64]:
    """Number of rows in each group."""
    order = np.argsort(ids, kind="stable")
    starts = np.flatnonzero(np.diff(ids[order], prepend=-1))
    if weights is None:
        return np.diff(starts, append=len(ids))
    return np.add.reduceat(weights[order], starts)


def _sum_c2(sizes: NDArray[np.int64]) -> int:
    """Pairs within groups of these sizes; sum of c (c - 1) / 2, halved before it can overflow."""
    return int((sizes // 2 * (sizes - 1 + sizes % 2)).sum())
