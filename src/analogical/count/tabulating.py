"""Contexts and pairs from a dense table of counts with one entry for each possible (label, row).

For tables with few possible rows. The sum along the axis of a feature has one entry per (label, context). The cost is
about one addition per entry and feature. Entries have the smallest type that holds the largest sum.
"""

import math
from collections.abc import Callable, Sequence
from functools import partial
from typing import Any

import numpy as np
from numpy.typing import NDArray

from analogical._types import CodedRows, Ints
from analogical.count.contexts import Contexts, contexts_of_tables
from analogical.count.counts import EqualRows
from analogical.count.groups import pack_codes
from analogical.count.threads import run_tasks

__all__ = ["contexts_in_table", "count_in_table", "fits_in_table"]

ENTRIES_PER_ROW = 6  # most entries per row of the data,
MANY_ENTRIES = 2**22  # and at most this many plus one per row, to limit memory
SMALL_ENTRIES = 32  # most entries per row if they are single bytes, which is enough to count unweighted pairs
LARGEST_BITS = 40  # no table is this large; checked first, because the exact product may have thousands of digits
CONTEXTS_AT_ONCE = 2**16  # contexts summed at a time: they stay in cache


def fits_in_table(rows: CodedRows, *, for_contexts: bool = False) -> bool:
    """Whether there are few enough possible rows for a dense table, to count pairs or to list contexts."""
    if np.log2(rows.n_values).sum() > LARGEST_BITS:
        return False
    n_entries, n_rows = math.prod(rows.n_values.tolist()) * rows.n_labels, len(rows.codes)
    if rows.weights is None and not for_contexts:
        return bool(0 < n_entries <= SMALL_ENTRIES * n_rows)
    return bool(0 < n_entries <= min(ENTRIES_PER_ROW * n_rows, MANY_ENTRIES + n_rows))


def count_in_table(rows: CodedRows, n_threads: int) -> tuple[Ints, Ints, EqualRows]:
    """Pairs and changed pairs of every feature, and identical rows."""
    table = _Table(rows)
    pairs, changed = np.zeros((2, rows.n_features), np.int64)
    identical = table.equal_rows(None)

    def count(axis: int, feature: int) -> None:
        equal = table.equal_rows(axis)
        pairs[feature] = equal.n_pairs - identical.n_pairs
        changed[feature] = equal.n_contradictions - identical.n_contradictions

    run_tasks([partial(count, *place) for place in enumerate(table.axes)], n_threads)
    return pairs, changed, identical


def contexts_in_table(
    rows: CodedRows, n_threads: int, visit: Callable[[int, Contexts], None], features: Sequence[int] | None = None
) -> EqualRows:
    """Call ``visit`` with the contexts of every feature, or of some; return the counts of identical rows."""
    table = _Table(rows)

    def visit_feature(axis: int, feature: int) -> None:
        visit(feature, contexts_of_tables(table.along(axis)))

    wanted = set(table.axes if features is None else features)
    run_tasks([partial(visit_feature, axis, f) for axis, f in enumerate(table.axes) if f in wanted], n_threads)
    return table.equal_rows(None)


class _Table:
    """A dense table of shape (labels, possible rows) that can be summed along any feature with two or more values.

    Sums along outer axes are quick, because they add whole runs of entries. So the rows are counted a second
    time with the second half of the axes first.
    """

    def __init__(self, rows: CodedRows) -> None:
        self.axes: list[int] = np.flatnonzero(rows.n_values > 1).tolist()
        """The feature of each axis."""
        axes = self.axes
        self.sizes: list[int] = rows.n_values[axes].tolist()
        self.half = len(self.sizes) // 2
        self.total = rows.n_rows
        self.entries = _tabulate(rows, axes)
        # the smallest type that holds the sums of entries along an axis and over the labels
        small = np.min_scalar_type(int(self.entries.max(initial=0)) * max(self.sizes, default=1) * rows.n_labels)
        self.entries = self.entries.astype(small, copy=False)
        self.turned = self.entries
        if self.half:
            self.turned = _tabulate(rows, [*axes[self.half :], *axes[: self.half]]).astype(small, copy=False)

    def along(self, axis: int) -> NDArray[Any]:
        """The table in shape (labels, outer, values of the axis, inner)."""
        start, table = (0, self.entries) if axis < self.half else (self.half, self.turned)
        n_outer = math.prod(self.sizes[start:axis])
        return table.reshape(len(table), n_outer, self.sizes[axis], -1)

    def equal_rows(self, axis: int | None) -> EqualRows:
        """Rows with the same context along an axis (None: identical rows)."""
        table = self.entries[:, None, None] if axis is None else self.along(axis)
        _, n_outer, n_values, n_inner = table.shape
        step = max(CONTEXTS_AT_ONCE // n_inner, 1)
        squares = squares_with_label = n_held = 0
        for start in range(0, n_outer, step):
            for inner in range(0, n_inner, CONTEXTS_AT_ONCE):
                part = table[:, start : start + step, :, inner : inner + CONTEXTS_AT_ONCE]
                sums = part[:, :, 0]
                for value in range(1, n_values):
                    sums = sums + part[:, :, value]
                together = sums[0]
                for label in range(1, len(sums)):
                    together = together + sums[label]
                square = np.min_scalar_type(int(together.max(initial=0)) ** 2)
                squares += _total(np.square(together, dtype=square))
                squares_with_label += _total(np.square(sums, dtype=square))
                n_held += int(np.count_nonzero(together))
        # Twice the pairs inside groups of c rows are the sum of c^2 less the rows. Squares are summed modulo 2**64,
        # which is exact in the difference: there are at most 2**31 rows.
        n_pairs, n_unchanged = ((total - self.total) % 2**64 // 2 for total in (squares, squares_with_label))
        return EqualRows(n_held, n_pairs, n_pairs - n_unchanged)


def _total(numbers: NDArray[Any]) -> int:
    """The sum of whole numbers, modulo 2**64; bytes are summed in 32 bits, which is twice as fast."""
    return int(numbers.sum(dtype=np.uint32 if numbers.itemsize == 1 else np.uint64))


def _tabulate(rows: CodedRows, axes: Sequence[int]) -> NDArray[Any]:
    """Counts of shape (labels, possible rows), in bytes if counts are small."""
    sizes = rows.n_values[axes].tolist()
    n_possible = math.prod(sizes)
    keys = pack_codes(rows.codes, axes, [math.prod(sizes[place + 1 :]) for place in range(len(sizes))])
    keys += rows.labels * np.uint64(n_possible)
    places, shape = keys.view(np.int64), (rows.n_labels, n_possible)
    if rows.weights is None and math.prod(shape) > len(places):
        for kind in (np.uint8, np.uint32):
            entries = np.zeros(math.prod(shape), kind)
            np.add.at(entries, places, kind(1))
            if int(entries.sum(dtype=np.uint32)) == len(places):  # otherwise a count overflowed
                break
        return entries.reshape(shape)
    entries = np.bincount(places, rows.weights, minlength=math.prod(shape))
    return entries.astype(np.int64, copy=False).reshape(shape)
