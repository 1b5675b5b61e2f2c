"""Contexts from sorted keys, for tables with many possible rows.

A context is packed into one unsigned integer (its key), so that equal contexts are neighbours after sorting. If there
are many more possible contexts than rows, most rows agree with no other row. A row that agrees with no other row on the
features outside a block of features has no pair for any feature of the block, so it is dropped before the block is
counted. Wide tables lose nearly all rows after one sort per half of the features.

Most unique keys are found by counting hashes, which is several times faster than sorting. Equality is always decided
on the keys themselves.
"""

import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import partial
from itertools import pairwise
from typing import Any

import numpy as np
from numpy.typing import NDArray

from analogical._types import Bools, CodedRows, Codes, Positions
from analogical.count.contexts import Contexts, contexts_of_rows, differs_from_last
from analogical.count.counts import EqualRows, pairs_within
from analogical.count.groups import PACKED_BITS, count_keys, pack_codes
from analogical.count.threads import Task, run_tasks

__all__ = ["contexts_by_sorting"]

SPARSE_BITS = 3  # a block is isolated if the features outside it have 2**3 times more possible values than rows
MAX_PARTS = 64  # most parts that a block is divided into
KEYS_AT_ONCE = 2**17  # keys computed at a time: they stay in cache and temporary arrays stay small
SLOT_BITS = 2  # hashes are counted in 4 to 8 slots per key: about a sixth of the unique keys are not recognised


def contexts_by_sorting(
    rows: CodedRows, n_threads: int, visit: Callable[[int, Contexts], None], features: Sequence[int] | None = None
) -> EqualRows:
    """Call ``visit`` with the contexts of every feature, or of some; return the counts of identical rows."""
    all_features = range(rows.n_features)
    sorter = _Sorter(rows, visit, all_features if features is None else features)
    run_tasks([partial(sorter.visit_block, sorter.whole, all_features)], n_threads)
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

    def __init__(self, rows: CodedRows, visit: Callable[[int, Contexts], None], wanted: Sequence[int]) -> None:
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
        for n_parts in range(2, min(-(-len(block) // 3), MAX_PARTS) + 1):
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
            word = self.next_word(branch, features)
            branch = self.regroup(branch, word)
            features = features[len(word) :]
        return branch

    def identical_rows(self) -> EqualRows:
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
        return EqualRows(len(rows.codes) - same.n_rows + len(groups), n_pairs + alone, n_pairs - n_unchanged)

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
        keys, order = _sort_with_order(keys[candidates], self.n_bits(branch, features))
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
        for start in range(0, len(keys), KEYS_AT_ONCE):
            chunk = slice(start, start + KEYS_AT_ONCE)
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

    def next_word(self, branch: _Branch, features: Sequence[int]) -> Sequence[int]:
        """The first features, as many as fit in one key beside the group and the row's position; at least one."""
        room = min(PACKED_BITS, 64 - (branch.n_rows - 1).bit_length() - self.n_bits(branch, ()))
        n_taken, used = 1, self.bits[features[0]]
        while n_taken < len(features) and used + self.bits[features[n_taken]] <= room:
            used += self.bits[features[n_taken]]
            n_taken += 1
        return features[:n_taken]


def _moved_down(keys: Codes, offset: int, value_bits: int, label_bits: int) -> Codes:
    """The keys with the code that begins at bit ``offset`` moved next to the label, below its context."""
    kind = keys.dtype.type
    moved = np.empty_like(keys)
    for start in range(0, len(keys), KEYS_AT_ONCE):
        part = keys[start : start + KEYS_AT_ONCE]
        above = part & kind((1 << 8 * keys.itemsize) - (1 << offset + value_bits))
        between = part & kind((1 << offset) - (1 << label_bits))
        value = part >> kind(offset) & kind((1 << value_bits) - 1)
        label = part & kind((1 << label_bits) - 1)
        moved[start : start + KEYS_AT_ONCE] = above | between << kind(value_bits) | value << kind(label_bits) | label
    return moved


def _may_repeat(keys: Codes, n_low: int) -> Positions:
    """Positions of the keys that may equal another key, apart from their lowest bits; the others are unique.

    A key is unique if no other key has its hash. Counts of hashes are bytes; if one overflows, which shows in their
    sum, all positions are returned.
    """
    kind, n_bits = keys.dtype.type, 8 * keys.itemsize
    slot_bits = min(len(keys).bit_length() + SLOT_BITS, n_bits)
    factor = kind(0x9E3779B97F4A7C15 >> (64 - n_bits) | 1)  # Fibonacci hashing

    def slots(start: int) -> Positions:
        part = keys[start : start + KEYS_AT_ONCE] >> kind(n_low)
        part ^= part >> kind(n_bits // 2)
        part *= factor
        part >>= kind(n_bits - slot_bits)
        return part.astype(np.intp)

    counts = np.zeros(1 << slot_bits, np.uint8)
    starts = range(0, len(keys), KEYS_AT_ONCE)
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


def _sort_with_order(keys: Codes, n_bits: int) -> tuple[Codes, Positions]:
    """Sorted keys of n_bits bits, and the position that each came from; may overwrite the given keys.

    Equivalent to np.argsort; sorting the key and its position as one integer is several times faster.
    """
    position_bits = (len(keys) - 1).bit_length()
    if n_bits + position_bits > 64:
        order = np.argsort(keys)
        return keys[order], order
    both = keys.astype(np.uint64, copy=False)
    both <<= np.uint64(position_bits)
    both |= np.arange(len(both), dtype=np.uint64)
    both.sort()
    return both >> np.uint64(position_bits), (both & np.uint64((1 << position_bits) - 1)).view(np.intp)


def _split(block: range, n_parts: int) -> list[range]:
    """Consecutive parts of a block, of nearly equal lengths."""
    cuts = [block.start + len(block) * part // n_parts for part in range(n_parts + 1)]
    return [range(start, stop) for start, stop in pairwise(cuts)]
