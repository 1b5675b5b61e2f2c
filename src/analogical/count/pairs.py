"""Exact counts of pairs at distance 1, without making pairs, and the contexts of each feature.

Two rows with the same context for a feature are either a pair for it or identical. So, with C2(c) = c (c - 1) / 2
summed over groups of c equal rows,

    pairs(i)     = sum of C2 over groups by context  -  sum of C2 over groups by whole row
    unchanged(i) = the same with the label added to both groupings
    changed(i)   = pairs(i) - unchanged(i)

and only the sizes of groups are needed. If there are few possible rows, they come from a dense table with an entry for
each. Otherwise contexts are packed into keys and sorted.
"""

import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import partial
from itertools import pairwise
from typing import Any, TypeAlias

import numpy as np
from numpy.typing import NDArray

from analogical._types import Bools, Codes, Ints, Positions
from analogical.count.contexts import (
    Contexts,
    PairCounts,
    contexts_of_rows,
    contexts_of_tables,
    differs_from_last,
    pairs_within,
    refuse_too_many_rows,
)
from analogical.count.groups import AT_ONCE, PACKED_BITS, CodedRows, count_keys, pack_codes
from analogical.count.threads import Task, n_threads_for, run_tasks

Visit: TypeAlias = Callable[[int, Contexts], None]
"""Is given the contexts of one feature."""
Identical: TypeAlias = tuple[int, int, int]
"""Distinct rows, pairs of identical rows, and how many of these have different labels."""

SPARSE_BITS = 3
"""A block is isolated if the features outside it have 2**3 times more possible values than rows."""


def count_pairs(rows: CodedRows, *, n_jobs: int | None = None) -> PairCounts:
    """Pairs of rows that differ on one feature only, for every feature; values that do not occur are allowed.

    ``n_jobs`` is the number of threads, by joblib's conventions; the counts do not depend on it. Time is close to
    linear in rows and features, and no array has more than a few entries per row.

    Examples
    --------
    >>> codes = np.array([[0, 0], [0, 1], [1, 1], [1, 1]], dtype=np.uint8)
    >>> labels = np.array([0, 1, 1, 0], dtype=np.uint8)
    >>> count_pairs(CodedRows(codes, labels, n_values=np.array([2, 2]), n_labels=2))
    PairCounts(pairs=array([2, 1]), changed=array([1, 1]), n_rows=4, n_distinct=3, n_identical=1, n_contradictions=1)
    """
    rows = _without_weight_zero(rows)
    n_threads = n_threads_for(n_jobs, rows.codes.size)
    pairs, changed = np.zeros((2, rows.n_features), np.int64)

    def visit(feature: int, contexts: Contexts) -> None:
        pairs[feature], changed[feature] = contexts.profile.n_pairs, contexts.profile.n_changed

    if fits_in_table(rows):
        identical = _count_in_table(rows, n_threads, pairs, changed)
    else:
        identical = _contexts_by_sorting(rows, n_threads, visit, range(rows.n_features))
    return PairCounts(pairs, changed, rows.n_rows, *identical)


def find_contexts(
    rows: CodedRows, features: Sequence[int] | None = None, *, n_jobs: int | None = None
) -> list[Contexts]:
    """The contexts of each feature, or of some; no contexts for features without pairs or not asked for."""
    rows = _without_weight_zero(rows)
    wanted = range(rows.n_features) if features is None else features
    # Those asked for come first: one search for rows that agree serves neighbouring features.
    order = [*wanted, *(feature for feature in range(rows.n_features) if feature not in set(wanted))]
    found = [Contexts.none()] * rows.n_features

    def visit(place: int, contexts: Contexts) -> None:
        if len(contexts):
            found[order[place]] = contexts

    visit_all = _contexts_in_table if fits_in_table(rows, for_contexts=True) else _contexts_by_sorting
    visit_all(rows.select(order), n_threads_for(n_jobs, rows.codes.size), visit, range(len(wanted)))
    return found


def _without_weight_zero(rows: CodedRows) -> CodedRows:
    """The rows of positive weight, without weights if all are 1."""
    weights = rows.weights
    refuse_too_many_rows(len(rows.codes) if weights is None else float(weights.sum(dtype=np.float64)))
    if weights is None or (weights == 1).all():
        return rows.weighted(None)
    if not weights.all():
        rows, weights = rows.take(np.flatnonzero(weights)), weights[weights > 0]
    return rows.weighted(None) if (weights == 1).all() else rows


# ---------------------------------------------------------------- few possible rows: a dense table of counts


def fits_in_table(rows: CodedRows, *, for_contexts: bool = False) -> bool:
    """Whether there are few enough possible rows for a dense table, to count pairs or to list contexts.

    It has at most 6 entries per row and, to limit memory, 2**22 plus one per row. To count unweighted pairs, entries
    are single bytes, so there may be 32 per row.
    """
    if np.log2(rows.n_values).sum() > 40:  # the exact product may have thousands of digits
        return False
    n_entries, n_rows = math.prod(rows.n_values.tolist()) * rows.n_labels, len(rows.codes)
    if rows.weights is None and not for_contexts:
        return bool(0 < n_entries <= 32 * n_rows)
    return bool(0 < n_entries <= min(6 * n_rows, 2**22 + n_rows))


def _count_in_table(rows: CodedRows, n_threads: int, pairs: Ints, changed: Ints) -> Identical:
    """Set the pairs and changed pairs of every feature; return the counts of identical rows."""
    table = _Table(rows)
    identical = table.equal_rows(None)

    def count(axis: int, feature: int) -> None:
        _, n_pairs, n_contradictions = table.equal_rows(axis)
        pairs[feature], changed[feature] = n_pairs - identical[1], n_contradictions - identical[2]

    run_tasks([partial(count, *place) for place in enumerate(table.axes)], n_threads)
    return identical


def _contexts_in_table(rows: CodedRows, n_threads: int, visit: Visit, features: Sequence[int]) -> None:
    """Visit the contexts of some features."""
    table = _Table(rows)

    def visit_feature(axis: int, feature: int) -> None:
        visit(feature, contexts_of_tables(table.along(axis)))

    run_tasks([partial(visit_feature, axis, f) for axis, f in enumerate(table.axes) if f in features], n_threads)


class _Table:
    """Counts of shape (labels, possible rows) that can be summed along any feature with two or more values.

    Such a sum has one entry per (label, context), and costs about one addition per entry. Sums along outer axes are
    quick, because they add whole runs of entries. So the rows are counted a second time with the second half of the
    axes first. Entries have the smallest type that holds the largest sum.
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

    def equal_rows(self, axis: int | None) -> Identical:
        """Groups, pairs and contradictions of rows with the same context along an axis (None: of identical rows)."""
        table = self.entries[:, None, None] if axis is None else self.along(axis)
        _, n_outer, n_values, n_inner = table.shape
        n_at_once = 2**16  # contexts: they stay in cache
        step = max(n_at_once // n_inner, 1)
        squares = squares_with_label = n_held = 0
        for start in range(0, n_outer, step):
            for inner in range(0, n_inner, n_at_once):
                part = table[:, start : start + step, :, inner : inner + n_at_once]
                sums = part[:, :, 0]
                for value in range(1, n_values):
                    sums = sums + part[:, :, value]
                together = sums[0]
                for label in range(1, len(sums)):
                    together = together + sums[label]
                square = np.min_scalar_type(int(together.max(initial=0)) ** 2)
                # modulo 2**64; bytes are summed in 32 bits, which is twice as fast
                kind = np.uint32 if square.itemsize == 1 else np.uint64
                squares += int(np.square(together, dtype=square).sum(dtype=kind))
                squares_with_label += int(np.square(sums, dtype=square).sum(dtype=kind))
                n_held += int(np.count_nonzero(together))
        # Twice the pairs inside groups of c rows are the sum of c^2 less the rows. Squares are summed modulo 2**64,
        # which is exact in the difference: there are at most 2**31 rows.
        n_pairs, n_unchanged = ((total - self.total) % 2**64 // 2 for total in (squares, squares_with_label))
        return n_held, n_pairs, n_pairs - n_unchanged


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


# ---------------------------------------------------------------- many possible rows: sorted keys


def _contexts_by_sorting(rows: CodedRows, n_threads: int, visit: Visit, features: Sequence[int]) -> Identical:
    """Visit the contexts of some features; return the counts of identical rows.

    A context is packed into one unsigned integer (its key), so that equal contexts are neighbours after sorting. If
    there are many more possible contexts than rows, most rows agree with no other row. A row that agrees with no other
    row on the features outside a block of features has no pair for any feature of the block, so it is dropped before
    the block is counted. Wide tables lose nearly all rows after one sort per half of the features.

    Most unique keys are found by counting hashes, which is several times faster than sorting. Equality is always
    decided on the keys themselves.
    """
    sorter = _Sorter(rows, visit, features)
    run_tasks([partial(sorter.visit_block, sorter.whole, range(rows.n_features))], n_threads)
    return sorter.identical_rows()


@dataclass(frozen=True)
class _Branch:
    """The rows that agree with another row on some features, in groups of rows that agree."""

    n_rows: int
    n_groups: int = 1
    rows: Positions | None = None
    """Positions in the table; None for all rows."""
    group: NDArray[np.uint32] | None = None
    """Group of each row; None if there is one group."""

    def of_rows(self, numbers: NDArray[Any]) -> NDArray[Any]:
        """The entries of an array over all rows that belong to the rows of the branch."""
        return numbers if self.rows is None else numbers[self.rows]


class _Sorter:
    """Visits the contexts of features, in tasks; each feature is visited by exactly one task."""

    def __init__(self, rows: CodedRows, visit: Visit, wanted: Sequence[int]) -> None:
        self.rows = rows
        self.visit = visit
        self.wanted = np.zeros(rows.n_features, np.bool_)
        """Features to visit; those with one value have no pairs."""
        self.wanted[list(wanted)] = True
        self.wanted &= rows.n_values > 1
        self.n_wanted = np.append(0, np.cumsum(self.wanted))
        self.bits = [int(n - 1).bit_length() for n in rows.n_values.tolist()]
        self.spans_before: list[float] = np.append(0, np.cumsum(np.log2(rows.n_values))).tolist()
        self.label_bits = (rows.n_labels - 1).bit_length()
        self.whole = _Branch(len(rows.codes))
        self.agreeing: tuple[_Branch, Sequence[int]] = self.whole, range(rows.n_features)
        """A branch that holds all rows with an identical row, and the features that are not compared in it yet."""

    def visit_block(self, branch: _Branch, block: range) -> list[Task]:
        """Tasks that visit the features of a block; rows of a branch agree on all features outside the block."""
        if branch.n_rows < 2 or self.n_wanted[block.stop] == self.n_wanted[block.start]:
            return []
        parts = self.parts(branch, block)
        if len(parts) > 1:
            return [partial(self.isolate, branch, block, part) for part in parts]
        if not self.fits(branch, block):  # a single feature with very many values
            return [partial(self.visit_large, branch, block[0])]
        keys = self.pack(branch, block, with_label=True)
        offsets = np.cumsum([self.label_bits, *(self.bits[feature] for feature in reversed(block))]).tolist()
        places = zip(reversed(block), offsets, strict=False)
        return [partial(self.visit_feature, branch, keys, f, offset) for f, offset in places if self.wanted[f]]

    def parts(self, branch: _Branch, block: range) -> list[range]:
        """The parts into which a block is divided; the block itself if its features are best visited one by one.

        Isolating a part costs about as much as visiting two features. It pays if it drops most rows.
        """
        if len(block) == 1:
            return [block]
        needed = math.log2(branch.n_rows) + SPARSE_BITS - math.log2(branch.n_groups)
        for n_parts in range(2, min(-(-len(block) // 3), 64) + 1):
            parts = _split(block, n_parts)
            if self.span(block) - max(self.span(part) for part in parts) >= needed:
                return parts
        return [block] if self.fits(branch, block) else _split(block, 2)

    def span(self, block: range) -> float:
        """Upper bound of the entropy of the features of a block, in bits."""
        return self.spans_before[block.stop] - self.spans_before[block.start]

    def isolate(self, branch: _Branch, block: range, part: range) -> list[Task]:
        """Visit a part of a block, among the rows that agree with another row on the rest of the block."""
        if self.n_wanted[part.stop] == self.n_wanted[part.start]:
            return []
        narrowed = self.narrowed(branch, [feature for feature in block if feature not in part])
        if branch is self.whole:
            self.agreeing = narrowed, part  # any part will do
        return self.visit_block(narrowed, part)

    def narrowed(self, branch: _Branch, features: Sequence[int]) -> _Branch:
        """The rows of a branch that agree with another row on these features too."""
        while len(features) and branch.n_rows > 1:
            # As many features as fit in one key beside the group and the position of the row; at least one.
            most = min(PACKED_BITS, 64 - (branch.n_rows - 1).bit_length() - self.n_bits(branch, ()))
            ends = np.cumsum([self.bits[feature] for feature in features])
            n_taken = max(int(np.searchsorted(ends, most, side="right")), 1)
            branch = self.regroup(branch, features[:n_taken])
            features = features[n_taken:]
        return branch

    def identical_rows(self) -> Identical:
        """Counts of rows that are equal on every feature."""
        rows, same = self.rows, self.narrowed(*self.agreeing)
        group = np.zeros(same.n_rows, np.int64) if same.group is None else same.group.astype(np.int64)
        keys, weights, alone = group * rows.n_labels + same.of_rows(rows.labels).astype(np.int64), None, 0
        if rows.weights is not None:
            weights = same.of_rows(rows.weights)
            alone = pairs_within(rows.weights) - pairs_within(weights)  # the copies that a weight stands for are pairs
        groups, sizes = count_keys(group, same.n_groups, weights)
        _, with_label = count_keys(keys, same.n_groups * rows.n_labels, weights)
        n_pairs, n_unchanged = pairs_within(sizes), pairs_within(with_label)
        return len(rows.codes) - same.n_rows + len(groups), n_pairs + alone, n_pairs - n_unchanged

    def visit_feature(self, branch: _Branch, keys: Codes, feature: int, offset: int) -> None:
        """Visit the contexts of a feature whose code begins at bit ``offset`` of the keys."""
        kind, value_bits, label_bits = keys.dtype.type, self.bits[feature], self.label_bits
        keys = _moved_down(keys, offset, value_bits, label_bits)
        candidates = _may_repeat(keys, value_bits + label_bits)
        weights = None if self.rows.weights is None else branch.of_rows(self.rows.weights)[candidates]
        keys = keys[candidates]
        if weights is None:
            keys.sort()
        else:
            order = np.argsort(keys)
            keys, weights = keys[order], weights[order]
        new_context = differs_from_last(keys >> kind(value_bits + label_bits))
        repeated = _repeated(new_context)
        keys, weights = keys[repeated], None if weights is None else weights[repeated]
        values, labels = keys >> kind(label_bits) & kind((1 << value_bits) - 1), keys & kind((1 << label_bits) - 1)
        self.visit(feature, contexts_of_rows(new_context[repeated], values, labels, weights).compacted())

    def visit_large(self, branch: _Branch, feature: int) -> None:
        """Visit the contexts of a feature whose code does not fit in a key beside group and label."""
        values, labels = branch.of_rows(self.rows.codes[:, feature]), branch.of_rows(self.rows.labels)
        groups = np.zeros(branch.n_rows, np.uint32) if branch.group is None else branch.group
        order = np.lexsort((labels, values, groups))
        weights = None if self.rows.weights is None else branch.of_rows(self.rows.weights)[order]
        new_context = differs_from_last(groups[order])
        self.visit(feature, contexts_of_rows(new_context, values[order], labels[order], weights).compacted())

    def regroup(self, branch: _Branch, features: Sequence[int]) -> _Branch:
        """Split the groups of a branch by more features, and drop the rows that then agree with no other row."""
        keys = self.pack(branch, features, with_label=False)
        candidates = _may_repeat(keys, 0)
        keys, n_low = keys[candidates], (len(candidates) - 1).bit_length()
        if self.n_bits(branch, features) + n_low > 64:
            order = np.argsort(keys)
            keys = keys[order]
        else:  # equivalent; sorting the key and its position as one integer is several times faster
            both = keys.astype(np.uint64, copy=False)
            both <<= np.uint64(n_low)
            both |= np.arange(len(both), dtype=np.uint64)
            both.sort()
            keys, order = both >> np.uint64(n_low), (both & np.uint64((1 << n_low) - 1)).view(np.intp)
        is_new = differs_from_last(keys)
        repeated = _repeated(is_new)
        number = np.zeros(branch.n_rows, np.uint32)  # of the group, from 1; 0 for rows to drop
        number[candidates[order[repeated]]] = np.cumsum(is_new[repeated], dtype=np.uint32)
        kept = np.flatnonzero(number)
        rows = kept if branch.rows is None else branch.rows[kept]
        return _Branch(len(kept), int(np.count_nonzero(is_new[repeated])), rows, number[kept] - np.uint32(1))

    def pack(self, branch: _Branch, features: Sequence[int], *, with_label: bool) -> Codes:
        """One key per row of a branch: its group, its codes on the features and, in the lowest bits, its label."""
        n_bits = self.n_bits(branch, features) + (self.label_bits if with_label else 0)
        offsets = np.cumsum([0, *(self.bits[feature] for feature in reversed(features))]).tolist()
        n_packed = offsets.pop()
        keys = pack_codes(self.rows.codes, features, [1 << offset for offset in reversed(offsets)], branch.rows)
        for start in range(0, len(keys), AT_ONCE):
            chunk = slice(start, start + AT_ONCE)
            part = keys[chunk]
            if branch.group is not None:
                part |= branch.group[chunk].astype(np.uint64) << np.uint64(n_packed)
            if with_label:
                part <<= np.uint64(self.label_bits)
                part |= self.rows.labels[chunk if branch.rows is None else branch.rows[chunk]]
        return keys.astype(np.uint32) if n_bits <= 32 else keys

    def n_bits(self, branch: _Branch, features: Sequence[int]) -> int:
        """Number of bits of a key with the group and the features."""
        return (branch.n_groups - 1).bit_length() + sum(self.bits[feature] for feature in features)

    def fits(self, branch: _Branch, features: Sequence[int]) -> bool:
        """Whether group, features and label fit in one key."""
        n_packed = sum(self.bits[feature] for feature in features)
        return n_packed <= PACKED_BITS and self.n_bits(branch, features) + self.label_bits <= 64


def _moved_down(keys: Codes, offset: int, value_bits: int, label_bits: int) -> Codes:
    """The keys with the code that begins at bit ``offset`` moved next to the label, below its context."""
    kind = keys.dtype.type
    moved = np.empty_like(keys)
    for start in range(0, len(keys), AT_ONCE):
        part = keys[start : start + AT_ONCE]
        above = part & kind((1 << 8 * keys.itemsize) - (1 << offset + value_bits))
        between = part & kind((1 << offset) - (1 << label_bits))
        value = part >> kind(offset) & kind((1 << value_bits) - 1)
        label = part & kind((1 << label_bits) - 1)
        moved[start : start + AT_ONCE] = above | between << kind(value_bits) | value << kind(label_bits) | label
    return moved


def _may_repeat(keys: Codes, n_low: int) -> Positions:
    """Positions of the keys that may equal another key, apart from their lowest bits; the others are unique.

    A key is unique if no other key has its hash. Counts of hashes are bytes; if one overflows, which shows in their
    sum, all positions are returned.
    """
    kind, n_bits = keys.dtype.type, 8 * keys.itemsize
    slot_bits = min(len(keys).bit_length() + 2, n_bits)  # 4 to 8 slots per key: a sixth of the unique keys share one
    factor = kind(0x9E3779B97F4A7C15 >> (64 - n_bits) | 1)  # Fibonacci hashing

    def slots(start: int) -> Positions:
        part = keys[start : start + AT_ONCE] >> kind(n_low)
        part ^= part >> kind(n_bits // 2)
        part *= factor
        part >>= kind(n_bits - slot_bits)
        return part.astype(np.intp)

    counts = np.zeros(1 << slot_bits, np.uint8)
    starts = range(0, len(keys), AT_ONCE)
    for start in starts:
        np.add.at(counts, slots(start), np.uint8(1))
    if int(counts.sum(dtype=np.int64)) < len(keys):
        return np.arange(len(keys))
    return np.concatenate([start + np.flatnonzero(counts[slots(start)] > 1) for start in starts])


def _repeated(is_new: Bools) -> Positions:
    """Positions of the sorted keys that equal a neighbour, from whether each differs from the key before it."""
    is_unique = is_new.copy()
    is_unique[:-1] &= is_new[1:]
    return np.flatnonzero(~is_unique)


def _split(block: range, n_parts: int) -> list[range]:
    """Consecutive parts of a block, of nearly equal lengths."""
    cuts = [block.start + len(block) * part // n_parts for part in range(n_parts + 1)]
    return [range(start, stop) for start, stop in pairwise(cuts)]
