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

import numpy as np
from numpy.typing import NDArray

from analogical._types import Bools, CodedRows, Codes, Ints, Positions
from analogical.count.contexts import Contexts, contexts_of_keys, contexts_of_rows, differs_from_last
from analogical.count.packing import PACKED_BITS, PairSums, pack_codes, pairs_between
from analogical.count.threads import Task, run_tasks

__all__ = ["sum_by_sorting"]

SPARSE_BITS = 3  # a block is worth isolating when its outside has 2**3 times more possible values than there are rows
MAX_PARTS = 64  # a block is divided into no more parts
CHUNK = 2**17  # keys that are changed together: they stay in cache, and long tables need little more than their keys
SMALL_SORT = 2**16  # keys; features are sorted together up to here, to save calls
SLOT_BITS = 2  # hashes are counted in 2**2 to 2**3 slots for each key: of keys that are alone about a sixth stay


def sum_by_sorting(
    rows: CodedRows,
    n_threads: int,
    visit: Callable[[int, Contexts], None] | None = None,
    features: Sequence[int] | None = None,
) -> PairSums:
    """Sums of pairs for every feature; with ``visit``, the contexts of each of ``features`` are handed to it."""
    everything = range(rows.n_features)
    sorter = _Sorter(rows, visit, everything if features is None else features)
    if len(rows.codes) > 1:
        run_tasks([partial(sorter.look, _Branch(len(rows.codes)), everything, rows_too=True)], n_threads)
    sums = sorter.sums
    constant = rows.n_values == 1  # without them groups by context are groups by row
    sums.by_context[constant], sums.by_context_and_label[constant] = sums.by_row, sums.by_row_and_label
    if rows.weights is not None:  # the pairs that a row of weight w forms with itself
        within = pairs_between(rows.weights, int(rows.weights.sum()))
        sums.by_context += within
        sums.by_context_and_label += within
        sums.by_row += within
        sums.by_row_and_label += within
    return sums


@dataclass(frozen=True)
class _Branch:
    """Rows that agree with another row on all features outside a block (None: all rows), and the group of each."""

    n_rows: int
    n_groups: int = 1
    rows: Positions | None = None
    group: NDArray[np.uint32] | None = None


class _Sorter:
    """Fills in `sums`, or visits contexts, task by task; each feature is dealt with by exactly one task."""

    def __init__(self, rows: CodedRows, visit: Callable[[int, Contexts], None] | None, wanted: Sequence[int]) -> None:
        self.rows = rows
        self.visit = visit
        self.wanted = np.zeros(rows.n_features, np.bool_)
        """Features to deal with; those with one value have no pairs."""
        self.wanted[list(wanted)] = True
        self.wanted &= rows.n_values > 1
        self.n_wanted = np.append(0, np.cumsum(self.wanted))
        self.sums = PairSums.zeros(rows.n_features)
        self.sums.n_distinct = len(rows.codes)
        self.bits = [int(n - 1).bit_length() for n in rows.n_values.tolist()]
        self.spans_before: list[float] = np.append(0, np.cumsum(np.log2(rows.n_values))).tolist()
        self.label_bits = (rows.n_labels - 1).bit_length()

    def look(self, branch: _Branch, block: range, *, rows_too: bool) -> list[Task]:
        """Deal with the features of a block inside the groups of a branch, at once or part by part.

        On request, with identical rows as well.
        """
        if not (rows_too or self.wants(block)):
            return []
        parts = self.parts(branch, block)
        if len(parts) == 1:
            return self.look_at_block(branch, block, rows_too=rows_too)
        tasks: list[Task] = []
        for part in parts:
            outside = [feature for feature in block if feature not in part]
            tasks.append(partial(self.isolate, branch, outside, part, rows_too=rows_too and part is parts[0]))
        return tasks

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

    def wants(self, block: range) -> bool:
        """Whether some feature of a block is to be dealt with."""
        return bool(self.n_wanted[block.stop] > self.n_wanted[block.start])

    def isolate(self, branch: _Branch, outside: Sequence[int], part: range, *, rows_too: bool) -> list[Task]:
        """Keep the rows that also agree with another row on the features outside a part, one key at a time."""
        if not (rows_too or self.wants(part)):
            return []
        word = self.next_word(branch, outside)
        branch = self.regroup(branch, word)
        if branch.n_rows < 2:
            return []
        if len(word) < len(outside):
            return [partial(self.isolate, branch, outside[len(word) :], part, rows_too=rows_too)]
        return self.look(branch, part, rows_too=rows_too)

    def look_at_block(self, branch: _Branch, block: range, *, rows_too: bool) -> list[Task]:
        """Tasks for the features of a block, one or several at a time, and for whole rows."""
        if not self.fits(branch, block):  # a single feature with very many values: it is left out of the keys
            return self.look_at_large_feature(branch, block, rows_too=rows_too)
        keys = self.pack(branch, block, with_label=True)
        offsets: dict[int, int] = {}
        offset = self.label_bits
        for feature in reversed(block):
            offsets[feature] = offset
            offset += self.bits[feature]
        if self.visit is not None:
            tasks: list[Task] = [partial(self.count, branch, keys, {None: 0})] if rows_too else []
            chosen = [feature for feature in block if self.wanted[feature]]
            return [*tasks, *(partial(self.collect, branch, keys, f, offsets[f]) for f in chosen)]
        masks: dict[int | None, int] = {None: 0} if rows_too else {}
        masks |= {f: (1 << self.bits[f]) - 1 << offset for f, offset in offsets.items() if self.wanted[f]}
        step = max(1, SMALL_SORT // branch.n_rows)
        items = list(masks.items())
        return [partial(self.count, branch, keys, dict(items[i : i + step])) for i in range(0, len(items), step)]

    def look_at_large_feature(self, branch: _Branch, block: range, *, rows_too: bool) -> list[Task]:
        """Tasks for a feature that does not go into a key beside group and label."""
        keys = self.pack(branch, (), with_label=True)
        tasks: list[Task] = []
        if rows_too:
            same = self.regroup(branch, block)
            tasks.append(partial(self.count, same, self.pack(same, (), with_label=True), {None: 0}))
        if self.visit is not None:
            return [*tasks, partial(self.collect_large, branch, keys, block[0])]
        return [*tasks, partial(self.count, branch, keys, {block[0]: 0})]

    def count(self, branch: _Branch, keys: Codes, masks: dict[int | None, int]) -> list[Task]:
        """Count groups of equal keys for each feature (None: whole rows), its bits masked out of the keys."""
        masked = keys & ~np.array(list(masks.values()), keys.dtype)[:, None]
        weights = self.weights(branch)
        if len(masked) == 1:
            met = _may_meet(masked[0], self.label_bits)
            masked, weights = masked[:, met], None if weights is None else weights[met]
        counts = _sum_groups(masked, self.label_bits, weights)
        for feature, n_pairs, n_unchanged, n_groups in zip(masks, *counts, strict=True):
            if feature is None:
                self.sums.by_row, self.sums.by_row_and_label = n_pairs, n_unchanged
                self.sums.n_distinct -= masked.shape[1] - n_groups
            else:
                self.sums.by_context[feature], self.sums.by_context_and_label[feature] = n_pairs, n_unchanged
        return []

    def collect(self, branch: _Branch, keys: Codes, feature: int, offset: int) -> list[Task]:
        """Hand over the contexts of a feature whose code begins at a bit of the keys."""
        value_bits = self.bits[feature]
        n_low = value_bits + self.label_bits
        keys = _move_down(keys, offset, value_bits, self.label_bits)
        weights = self.weights(branch)
        met = _may_meet(keys, n_low)
        keys, weights = keys[met], None if weights is None else weights[met]
        if weights is None:
            keys.sort()
        else:
            order = np.argsort(keys)
            keys, weights = keys[order], weights[order]
        new_context = _starts(keys >> keys.dtype.type(n_low))
        meets = _not_alone(new_context)
        keys, new_context = keys[meets], new_context[meets]
        if weights is None:
            found = contexts_of_keys(keys, new_context, value_bits, self.label_bits)
        else:
            values = keys >> keys.dtype.type(self.label_bits) & keys.dtype.type((1 << value_bits) - 1)
            labels = keys & keys.dtype.type((1 << self.label_bits) - 1)
            found = contexts_of_rows(new_context, values, labels, weights[meets])
        self.hand_over(feature, found)
        return []

    def collect_large(self, branch: _Branch, keys: Codes, feature: int) -> list[Task]:
        """Hand over the contexts of a feature that is not in the keys."""
        values = self.rows.codes[:, feature] if branch.rows is None else self.rows.codes[branch.rows, feature]
        labels = keys & keys.dtype.type((1 << self.label_bits) - 1)
        groups = keys >> keys.dtype.type(self.label_bits)
        order = np.lexsort((labels, values, groups))
        weights = self.weights(branch)
        found = contexts_of_rows(
            differs_from_last(groups[order]), values[order], labels[order], None if weights is None else weights[order]
        )
        self.hand_over(feature, found)
        return []

    def hand_over(self, feature: int, contexts: Contexts) -> None:
        if self.visit is not None:
            self.visit(feature, contexts)

    def regroup(self, branch: _Branch, features: Sequence[int]) -> _Branch:
        """Split the groups of a branch by some more features, and drop the rows that are alone then."""
        keys = self.pack(branch, features, with_label=False)
        met = _may_meet(keys, 0)
        keys, order = _sort_with_order(keys[met], self.n_bits(branch, features))
        starts = _starts(keys)
        del keys
        meets = _not_alone(starts)
        first = starts[meets]
        number = np.zeros(branch.n_rows, np.uint32)  # of the group, from 1; 0 is alone
        number[met[order[meets]]] = np.cumsum(first, dtype=np.uint32)
        left = np.flatnonzero(number)
        rows = left if branch.rows is None else branch.rows[left]
        return _Branch(len(left), max(1, int(np.count_nonzero(first))), rows, number[left] - np.uint32(1))

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
                labels = self.rows.labels[chunk if branch.rows is None else branch.rows[chunk]]
                part <<= np.uint64(self.label_bits)
                part |= labels
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

    def weights(self, branch: _Branch) -> Ints | None:
        """Weights of the rows of a branch."""
        weights = self.rows.weights
        return weights if weights is None or branch.rows is None else weights[branch.rows]


def _move_down(keys: Codes, offset: int, value_bits: int, label_bits: int) -> Codes:
    """Keys in which the code that begins at a bit has been moved next to the label, so that its context comes first."""
    kind = keys.dtype.type
    if offset == label_bits:
        return keys.copy()
    moved = np.empty_like(keys)
    for start in range(0, len(keys), CHUNK):
        part = keys[start : start + CHUNK]
        low = part & kind((1 << label_bits) - 1)
        value = part >> kind(offset) & kind((1 << value_bits) - 1)
        between = part >> kind(label_bits) & kind((1 << offset - label_bits) - 1)
        above = np.zeros_like(part) if offset + value_bits >= 8 * keys.itemsize else part >> kind(offset + value_bits)
        above <<= kind(offset - label_bits)
        above |= between
        above <<= kind(value_bits + label_bits)
        above |= value << kind(label_bits)
        above |= low
        moved[start : start + CHUNK] = above
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


def _sum_groups(keys: Codes, label_bits: int, weights: Ints | None) -> tuple[list[int], list[int], list[int]]:
    """For each line of keys: pairs between rows of equal keys, and the number of different keys.

    Pairs are counted without and with the label, which stands in the lowest bits; keys are told apart without it.
    Sorts the keys in place.
    """
    if weights is None:
        keys.sort(axis=1)
    else:
        order = np.argsort(keys, axis=1)
        keys = np.take_along_axis(keys, order, axis=1)
        weights = weights[order].ravel()
    n_lines, n_keys = keys.shape
    starts = _starts(keys >> keys.dtype.type(label_bits))
    n_groups = [int(np.count_nonzero(line)) for line in starts]
    meets = _not_alone(starts)
    lines = np.searchsorted(meets, np.arange(n_lines + 1) * n_keys)
    if weights is not None:
        weights = weights[meets]
    by_context = _pairs_in_runs(starts.ravel()[meets], lines, weights)
    by_context_and_label = _pairs_in_runs(_starts(keys).ravel()[meets], lines, weights)
    return by_context, by_context_and_label, n_groups


def _pairs_in_runs(starts: Bools, lines: Positions, weights: Ints | None) -> list[int]:
    """Pairs between rows of the same run, for each line: `starts` begin a run, `lines` bound the lines."""
    first = np.append(np.flatnonzero(starts), len(starts))
    if weights is None:
        sizes, apart = np.diff(first), np.diff(lines)
    else:
        sizes, apart = _sums(weights, first), _sums(weights * weights, lines)
    squares = _sums(sizes * sizes, np.searchsorted(first, lines))
    pairs: list[int] = ((squares - apart).view(np.uint64) >> np.uint64(1)).tolist()  # modulo 2**64: see pairs_between
    return pairs


def _sums(x: Ints, bounds: Positions) -> Ints:
    """Sums of x from each bound to the next."""
    sums = np.add.reduceat(np.append(x, 0), bounds[:-1])
    sums[bounds[1:] == bounds[:-1]] = 0  # reduceat takes one element of an empty slice
    return sums


def _starts(keys: Codes) -> Bools:
    """Whether each of the sorted keys differs from the one before, line by line."""
    starts = np.ones(keys.shape, np.bool_)
    np.not_equal(keys[..., 1:], keys[..., :-1], out=starts[..., 1:])
    return starts


def _not_alone(starts: Bools) -> Positions:
    """Where the sorted keys, all lines in a row, equal the one before or the one after."""
    alone = starts.flatten()
    alone[:-1] &= starts.ravel()[1:]
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
    for start in range(0, len(both), CHUNK):
        part = both[start : start + CHUNK]
        part <<= np.uint64(position_bits)
        part |= np.arange(start, start + len(part), dtype=np.uint64)
    both.sort()
    found = both >> np.uint64(position_bits)
    both &= np.uint64((1 << position_bits) - 1)
    return found, both.view(np.intp)


def _split(block: range, n_parts: int) -> list[range]:
    """Consecutive parts of a block, of nearly equal lengths."""
    cuts = [block.start + len(block) * part // n_parts for part in range(n_parts + 1)]
    return [range(start, stop) for start, stop in pairwise(cuts)]
