"""Many possible rows: contexts as sorted keys, dropping rows that agree with nobody.

A context becomes one unsigned integer, and equal contexts are neighbours once sorted. When there are many more possible
contexts than rows, most rows agree with nobody: rows that are alone on the features outside a block of features form no
pair for the block, so they are dropped before the features of the block are looked at. Wide tables lose nearly all rows
after one sort per half. Most rows that are alone are not even sorted: a count of hashes, several times quicker than a
sort, finds them. Which rows agree is always decided by their whole keys.
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

SPARSE_BITS = 3  # a block is worth isolating when its outside has 2**3 times more possible values than there are rows
MAX_PARTS = 64  # a block is divided into no more parts
CHUNK = 2**17  # keys that are changed together: they stay in cache, and long tables need little more than their keys
SMALL_SORT = 2**16  # keys; up to here nothing is gained by leaving out those that are alone
SLOT_BITS = 2  # hashes are counted in 2**2 to 2**3 slots for each key: of keys that are alone about a sixth stay


def contexts_by_sorting(
    rows: CodedRows, n_threads: int, visit: Callable[[int, Contexts], None], features: Sequence[int] | None = None
) -> EqualRows:
    """Hand the contexts of every feature, or of some, to ``visit``; and count identical rows."""
    everything = range(rows.n_features)
    sorter = _Sorter(rows, visit, everything if features is None else features)
    run_tasks([partial(sorter.look, sorter.whole, everything)], n_threads)
    return sorter.identical_rows()


@dataclass(frozen=True)
class _Branch:
    """Rows that agree with another row on all features outside a block (None: all rows), and the group of each."""

    n_rows: int
    n_groups: int = 1
    rows: Positions | None = None
    group: NDArray[np.uint32] | None = None

    def of_rows(self, numbers: NDArray[Any]) -> NDArray[Any]:
        """Those numbers, one for each row of the table, that belong to the rows of the branch."""
        return numbers if self.rows is None else numbers[self.rows]


class _Sorter:
    """Visits contexts, task by task; each feature is dealt with by exactly one task."""

    def __init__(self, rows: CodedRows, visit: Callable[[int, Contexts], None], wanted: Sequence[int]) -> None:
        self.rows = rows
        self.visit = visit
        self.wanted = np.zeros(rows.n_features, np.bool_)
        """Features to deal with; those with one value have no pairs."""
        self.wanted[list(wanted)] = True
        self.wanted &= rows.n_values > 1
        self.n_wanted = np.append(0, np.cumsum(self.wanted))
        self.bits = [int(n - 1).bit_length() for n in rows.n_values.tolist()]
        self.spans_before: list[float] = np.append(0, np.cumsum(np.log2(rows.n_values))).tolist()
        self.label_bits = (rows.n_labels - 1).bit_length()
        self.whole = _Branch(len(rows.codes))
        self.agreeing: tuple[_Branch, Sequence[int]] = self.whole, range(rows.n_features)
        """Rows among which all identical ones are, and the features on which they may differ."""

    def look(self, branch: _Branch, block: range) -> list[Task]:
        """Deal with the features of a block inside the groups of a branch, at once or part by part."""
        if branch.n_rows < 2 or self.n_wanted[block.stop] == self.n_wanted[block.start]:
            return []
        parts = self.parts(branch, block)
        if len(parts) > 1:
            return [partial(self.isolate, branch, block, part) for part in parts]
        if not self.fits(branch, block):  # a single feature with very many values
            return [partial(self.collect_large, branch, block[0])]
        keys = self.pack(branch, block, with_label=True)
        offsets = np.cumsum([self.label_bits, *(self.bits[feature] for feature in reversed(block))]).tolist()
        places = zip(reversed(block), offsets, strict=False)
        return [partial(self.collect, branch, keys, f, offset) for f, offset in places if self.wanted[f]]

    def parts(self, branch: _Branch, block: range) -> list[range]:
        """The block itself if its features are best dealt with one by one, else parts to isolate from each other.

        Isolating a part costs about as much as two features do; it pays when most rows are then alone.
        """
        if len(block) == 1 or (len(block) * branch.n_rows <= SMALL_SORT and self.fits(branch, block)):
            return [block]
        needed = math.log2(branch.n_rows) + SPARSE_BITS - math.log2(branch.n_groups)
        for n_parts in range(2, min(-(-len(block) // 3), MAX_PARTS) + 1):
            parts = _split(block, n_parts)
            if self.span(block) - max(self.span(part) for part in parts) >= needed:
                return parts
        return [block] if self.fits(branch, block) else _split(block, 2)

    def span(self, block: range) -> float:
        """Bits of information in the features of a block, at most."""
        return self.spans_before[block.stop] - self.spans_before[block.start]

    def isolate(self, branch: _Branch, block: range, part: range) -> list[Task]:
        """Deal with a part of a block, among the rows that agree with another row on the rest of the block."""
        if self.n_wanted[part.stop] == self.n_wanted[part.start]:
            return []
        narrowed = self.narrowed(branch, [feature for feature in block if feature not in part])
        if branch is self.whole:
            self.agreeing = narrowed, part
        return self.look(narrowed, part)

    def narrowed(self, branch: _Branch, features: Sequence[int]) -> _Branch:
        """The rows of a branch that also agree with another row on some features, one key at a time."""
        while len(features) and branch.n_rows > 1:
            word = self.next_word(branch, features)
            branch = self.regroup(branch, word)
            features = features[len(word) :]
        return branch

    def identical_rows(self) -> EqualRows:
        """Rows that are equal on every feature."""
        rows, same = self.rows, self.narrowed(*self.agreeing)
        group = np.zeros(same.n_rows, np.int64) if same.group is None else same.group.astype(np.int64)
        keys, weights, alone = group * rows.n_labels + same.of_rows(rows.labels).astype(np.int64), None, 0
        if rows.weights is not None:
            weights = same.of_rows(rows.weights)
            alone = pairs_within(rows.weights) - pairs_within(weights)  # a row of weight w has pairs with itself
        groups, sizes = count_keys(group, same.n_groups, weights)
        _, with_label = count_keys(keys, same.n_groups * rows.n_labels, weights)
        n_pairs, n_unchanged = pairs_within(sizes), pairs_within(with_label)
        return EqualRows(len(rows.codes) - same.n_rows + len(groups), n_pairs + alone, n_pairs - n_unchanged)

    def collect(self, branch: _Branch, keys: Codes, feature: int, offset: int) -> list[Task]:
        """Hand over the contexts of a feature whose code begins at a bit of the keys."""
        kind, value_bits, label_bits = keys.dtype.type, self.bits[feature], self.label_bits
        keys = _moved_down(keys, offset, value_bits, label_bits)
        met = _may_meet(keys, value_bits + label_bits)
        keys, weights = keys[met], None if self.rows.weights is None else branch.of_rows(self.rows.weights)[met]
        if weights is None:
            keys.sort()
        else:
            order = np.argsort(keys)
            keys, weights = keys[order], weights[order]
        new_context = differs_from_last(keys >> kind(value_bits + label_bits))
        meets = _not_alone(new_context)
        keys, weights = keys[meets], None if weights is None else weights[meets]
        values, labels = keys >> kind(label_bits) & kind((1 << value_bits) - 1), keys & kind((1 << label_bits) - 1)
        self.visit(feature, contexts_of_rows(new_context[meets], values, labels, weights).compacted())
        return []

    def collect_large(self, branch: _Branch, feature: int) -> list[Task]:
        """Hand over the contexts of a feature whose code does not go into a key beside group and label."""
        values, labels = branch.of_rows(self.rows.codes[:, feature]), branch.of_rows(self.rows.labels)
        groups = np.zeros(branch.n_rows, np.uint32) if branch.group is None else branch.group
        order = np.lexsort((labels, values, groups))
        weights = None if self.rows.weights is None else branch.of_rows(self.rows.weights)[order]
        new_context = differs_from_last(groups[order])
        self.visit(feature, contexts_of_rows(new_context, values[order], labels[order], weights).compacted())
        return []

    def regroup(self, branch: _Branch, features: Sequence[int]) -> _Branch:
        """Split the groups of a branch by some more features, and drop the rows that are alone then."""
        keys = self.pack(branch, features, with_label=False)
        met = _may_meet(keys, 0)
        keys, order = _sort_with_order(keys[met], self.n_bits(branch, features))
        is_new = differs_from_last(keys)
        meets = _not_alone(is_new)
        number = np.zeros(branch.n_rows, np.uint32)  # of the group, from 1; 0 is alone
        number[met[order[meets]]] = np.cumsum(is_new[meets], dtype=np.uint32)
        left = np.flatnonzero(number)
        rows = left if branch.rows is None else branch.rows[left]
        return _Branch(len(left), int(np.count_nonzero(is_new[meets])), rows, number[left] - np.uint32(1))

    def pack(self, branch: _Branch, features: Sequence[int], *, with_label: bool) -> Codes:
        """One integer for each row of a branch: its group, its codes on the features and, lowest, its label."""
        n_bits = self.n_bits(branch, features) + (self.label_bits if with_label else 0)
        offsets = np.cumsum([0, *(self.bits[feature] for feature in reversed(features))]).tolist()
        n_packed = offsets.pop()
        keys = pack_codes(self.rows.codes, features, [1 << offset for offset in reversed(offsets)], branch.rows)
        for start in range(0, len(keys), CHUNK):
            chunk = slice(start, start + CHUNK)
            part = keys[chunk]
            if branch.group is not None:
                part |= branch.group[chunk].astype(np.uint64) << np.uint64(n_packed)
            if with_label:
                part <<= np.uint64(self.label_bits)
                part |= self.rows.labels[chunk if branch.rows is None else branch.rows[chunk]]
        return keys.astype(np.uint32) if n_bits <= 32 else keys

    def n_bits(self, branch: _Branch, features: Sequence[int]) -> int:
        """Bits of a key that holds the group and the features."""
        return (branch.n_groups - 1).bit_length() + sum(self.bits[feature] for feature in features)

    def fits(self, branch: _Branch, features: Sequence[int]) -> bool:
        """Whether group, features and label go into one key."""
        n_packed = sum(self.bits[feature] for feature in features)
        return n_packed <= PACKED_BITS and self.n_bits(branch, features) + self.label_bits <= 64

    def next_word(self, branch: _Branch, features: Sequence[int]) -> Sequence[int]:
        """As many of the features as one sort can take beside the group and the row's position; at least one."""
        room = min(PACKED_BITS, 64 - (branch.n_rows - 1).bit_length() - self.n_bits(branch, ()))
        n_taken, used = 1, self.bits[features[0]]
        while n_taken < len(features) and used + self.bits[features[n_taken]] <= room:
            used += self.bits[features[n_taken]]
            n_taken += 1
        return features[:n_taken]


def _moved_down(keys: Codes, offset: int, value_bits: int, label_bits: int) -> Codes:
    """Keys in which the code that begins at a bit has been moved next to the label, so that its context comes first."""
    kind = keys.dtype.type
    moved = np.empty_like(keys)
    for start in range(0, len(keys), CHUNK):
        part = keys[start : start + CHUNK]
        above = part & kind((1 << 8 * keys.itemsize) - (1 << offset + value_bits))
        between = part & kind((1 << offset) - (1 << label_bits))
        value = part >> kind(offset) & kind((1 << value_bits) - 1)
        label = part & kind((1 << label_bits) - 1)
        moved[start : start + CHUNK] = above | between << kind(value_bits) | value << kind(label_bits) | label
    return moved


def _may_meet(keys: Codes, n_low: int) -> Positions:
    """Where the keys are that may equal another one above their lowest bits; the others are alone.

    Few keys are all taken, since sorting them costs no more.
    Keys with equal hashes fall into one slot; a key whose slot holds no other is alone. Counts of 256 and more would go
    round, which shows in their sum; then no key is left out.
    """
    if len(keys) <= SMALL_SORT:
        return np.arange(len(keys))
    kind, n_bits = keys.dtype.type, 8 * keys.itemsize
    slot_bits = min(len(keys).bit_length() + SLOT_BITS, n_bits)
    factor = kind(0x9E3779B97F4A7C15 >> (64 - n_bits) | 1)  # Fibonacci hashing: the golden ratio mixes bits upwards

    def slots(start: int) -> Positions:
        part = keys[start : start + CHUNK] >> kind(n_low)
        part ^= part >> kind(n_bits // 2)
        part *= factor
        part >>= kind(n_bits - slot_bits)
        return part.astype(np.intp)

    held = np.zeros(1 << slot_bits, np.uint8)
    starts = range(0, len(keys), CHUNK)
    for start in starts:
        np.add.at(held, slots(start), np.uint8(1))
    if int(held.sum(dtype=np.int64)) < len(keys):
        return np.arange(len(keys))
    return np.concatenate([start + np.flatnonzero(held[slots(start)] > 1) for start in starts])


def _not_alone(is_new: Bools) -> Positions:
    """Where sorted keys equal the one before or the one after, from whether each differs from the one before."""
    alone = is_new.copy()
    alone[:-1] &= is_new[1:]
    return np.flatnonzero(~alone)


def _sort_with_order(keys: Codes, n_bits: int) -> tuple[Codes, Positions]:
    """Sorted keys of n_bits bits, and where each came from; the given keys are lost.

    Textbook: np.argsort; sorting the key and its position in one integer is several times faster.
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
