"""Few possible rows: a table with one entry for each possible (label, row).

Adding up along the axis of a feature leaves one entry per (label, context). Costs about one addition per entry and
feature.
"""

import math
from collections.abc import Callable, Sequence
from functools import partial
from typing import Any

import numpy as np
from numpy.typing import NDArray

from analogical._types import CodedRows, Ints
from analogical.count.contexts import Contexts, contexts_of_tables
from analogical.count.counts import RowProfile
from analogical.count.packing import PairSums, pack_codes, pairs_between
from analogical.count.threads import Task, run_tasks

__all__ = ["fits_in_table", "sum_in_table"]

ENTRIES_PER_ROW = 6  # a table may have this many entries for each row of the data,
MANY_ENTRIES = 2**22  # but no more than this plus one for each row, for the sake of memory
LARGEST_BITS = 40  # no table has so many entries; the product of all values may be a number of thousands of digits


def fits_in_table(rows: CodedRows) -> bool:
    """Whether the possible rows are few enough for a table."""
    if np.log2(rows.n_values).sum() > LARGEST_BITS:
        return False
    n_entries = math.prod(rows.n_values.tolist()) * rows.n_labels
    return bool(0 < n_entries <= min(ENTRIES_PER_ROW * len(rows.codes), MANY_ENTRIES + len(rows.codes)))


def sum_in_table(
    rows: CodedRows,
    n_threads: int,
    visit: Callable[[int, Contexts], None] | None = None,
    features: Sequence[int] | None = None,
) -> PairSums:
    """Sums of pairs for every feature; with ``visit``, the contexts of each of ``features`` are handed to it.

    Features with one value are no axes of the table; without them groups by context are groups by row.
    """
    sums = PairSums.zeros(rows.n_features)
    axes = np.flatnonzero(rows.n_values > 1).tolist()
    axis_of = {feature: axis for axis, feature in enumerate(axes)}
    sizes = rows.n_values[axes].tolist()
    entries = _tabulate(rows, axes)
    by_row = entries.sum(axis=0)
    total = int(by_row.sum())
    sums.n_distinct = int(np.count_nonzero(by_row))
    tasks: list[Task] = []
    if visit is not None:
        sums.repeats = _repeats(entries, by_row)
        largest = int(entries.max())
        narrow = entries.astype(np.uint8 if largest < 2**8 else np.uint16 if largest < 2**16 else np.int64)
        views = _Views(narrow, sizes)

        def hand_over(feature: int) -> list[Task]:
            visit(feature, contexts_of_tables(views.along(axis_of[feature])))
            return []

        tasks += [
            partial(hand_over, feature) for feature in (axes if features is None else features) if feature in axis_of
        ]
    else:
        sums.by_row = pairs_between(by_row, total)
        sums.by_row_and_label = pairs_between(entries, total)
        sums.by_context[:], sums.by_context_and_label[:] = sums.by_row, sums.by_row_and_label
        views = _Views(entries, sizes)
        views_by_row = _Views(by_row[None], sizes)

        def count(feature: int) -> list[Task]:
            axis = axis_of[feature]
            sums.by_context[feature] = _sum_along(views_by_row.along(axis), sums.by_row, total)
            sums.by_context_and_label[feature] = _sum_along(views.along(axis), sums.by_row_and_label, total)
            return []

        tasks += [partial(count, feature) for feature in axes]
    run_tasks(tasks, n_threads)
    return sums


class _Views:
    """A table of shape (labels, possible rows), seen along any axis.

    Along outer axes whole runs of entries are added and multiplied, which is quick, so each half of the features has
    its turn outside: the table is kept in two orders.
    """

    def __init__(self, entries: NDArray[Any], sizes: list[int]) -> None:
        self.sizes = sizes
        self.half = len(sizes) // 2
        self.entries = entries
        n_first = math.prod(sizes[: self.half])
        self.turned = np.ascontiguousarray(entries.reshape(len(entries), n_first, -1).transpose(0, 2, 1))

    def along(self, axis: int) -> NDArray[Any]:
        """The table in shape (labels, outer, values of the axis, inner)."""
        start, table = (0, self.entries) if axis < self.half else (self.half, self.turned)
        n_outer = math.prod(self.sizes[start:axis])
        return table.reshape(len(table), n_outer, self.sizes[axis], -1)


def _sum_along(entries: NDArray[np.int64], in_entries: int, total: int) -> int:
    """Sum of C2 over the groups left when the values are ignored, given that over single entries, and the rows."""
    entries = entries.reshape(-1, *entries.shape[2:])
    if entries.shape[1] == 2:  # C2(a + b) = C2(a) + C2(b) + a b, and the products alone are quicker
        return in_entries + int(np.einsum("ij,ij->", entries[:, 0], entries[:, 1]))
    return pairs_between(entries.sum(axis=1), total)


def _tabulate(rows: CodedRows, axes: Sequence[int]) -> NDArray[np.int64]:
    """How many rows fall on each possible (label, row): shape (n_labels, number of possible rows)."""
    sizes = rows.n_values[axes].tolist()
    places = [math.prod(sizes[axis + 1 :]) for axis in range(len(sizes))]
    n_possible = math.prod(sizes)
    keys = pack_codes(rows.codes, axes, places)
    keys += rows.labels * np.uint64(n_possible)
    entries = np.bincount(keys.view(np.int64), rows.weights, minlength=rows.n_labels * n_possible)
    return entries.astype(np.int64, copy=False).reshape(rows.n_labels, n_possible)


def _repeats(entries: Ints, by_row: Ints) -> RowProfile:
    """How many rows have how many identical ones, and how many of those have another label."""
    label, row = np.nonzero(entries)
    sizes, same = by_row[row], entries[label, row]
    return RowProfile.of(sizes - 1, sizes - same, same)
