"""Codes to counts of pairs, exactly, at distance 1, without ever making a pair.

Two rows with the same context for a feature are either a pair for it or identical. So, with C2(c) = c (c - 1) / 2
summed over groups of equal rows,

    pairs(i)     = sum of C2 over groups by context  -  sum of C2 over groups by whole row
    unchanged(i) = the same with the label added to both groupings
    changed(i)   = pairs(i) - unchanged(i)

and only the sizes of groups are wanted. There are two ways to them:

*Counting table* (few possible rows): one cell per possible (label, row); adding up along the axis of feature i leaves
one cell per (label, context). Costs about one addition per cell and feature.

*Sorting* (all else): a context becomes one unsigned integer, and equal contexts are neighbours once sorted. When there
are many more possible contexts than rows, most rows agree with nobody: rows that are alone on the features outside a
block of features form no pair for the block, so they are dropped before the features of the block are looked at. Wide
tables lose nearly all rows after one sort per half.
"""

import math
from collections.abc import Callable, Iterable, Sequence
from concurrent.futures import FIRST_COMPLETED, Future, ThreadPoolExecutor, wait
from dataclasses import dataclass
from functools import partial
from itertools import pairwise
from typing import Any, TypeAlias

import numpy as np
from numpy.typing import NDArray

from analogical._integers import Codes
from analogical.errors import InputError

__all__ = ["PairCounts", "collapse_rows", "count_pairs", "n_threads_for", "refuse_too_many_rows"]

Weights: TypeAlias = NDArray[np.int64]
Task: TypeAlias = Callable[[], "list[Task]"]

MAX_TOTAL = 2**31  # rows; with more, products of two sizes would not fit int64
CELLS_PER_ROW = 6  # a counting table may have this many cells for each row of the data,
MANY_CELLS = 2**22  # but no more than this plus one for each row, for the sake of memory
PACKED_BITS = 53  # codes are packed by a matrix product in float64, exact below 2**53
SPARSE_BITS = 3  # a block is worth isolating when its outside has 2**3 times more possible values than there are rows
SMALL_WORK = 2**21  # codes; below this, starting threads costs more than it gives
SMALL_SORT = 2**16  # keys; features are sorted together up to here, to save calls
CHUNK = 2**17  # codes packed at a time: stays in cache, and too few for BLAS to start threads of its own


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

    pairs: NDArray[np.int64]
    changed: NDArray[np.int64]
    n_rows: int
    n_distinct: int
    n_identical: int
    n_contradictions: int


def count_pairs(
    codes: Codes,
    labels: Codes,
    n_values: Sequence[int] | NDArray[np.integer[Any]],
    n_labels: int,
    weights: Weights | None = None,
    *,
    n_jobs: int | None = None,
) -> PairCounts:
    """Pairs of rows that differ on one feature only, for every feature.

    Parameters
    ----------
    codes : unsigned integers, shape (m, n), any memory order
        ``codes[:, i] < n_values[i]``.
    labels : unsigned integers, shape (m,)
        ``labels < n_labels``.
    n_values, n_labels
        Exclusive upper bounds of the codes; values that do not occur cost a little time and change nothing.
    weights : int64, shape (m,), optional
        How often each row was seen, 0 or more.
    n_jobs : int, optional
        Threads, by joblib's conventions: None is 1, -1 is one per CPU. The counts do not depend on it.

    Raises
    ------
    InputError
        If the total weight exceeds 2**31, where the number of pairs may leave int64.

    Notes
    -----
    Time is close to linear in m and in n; no object has more than m rows or a few times m cells.

    Examples
    --------
    >>> codes = np.array([[0, 0], [0, 1], [1, 1], [1, 1]], dtype=np.uint8)
    >>> labels = np.array([0, 1, 1, 0], dtype=np.uint8)
    >>> count_pairs(codes, labels, n_values=[2, 2], n_labels=2)
    PairCounts(pairs=array([2, 1]), changed=array([1, 1]), n_rows=4, n_distinct=3, n_identical=1, n_contradictions=1)
    """
    total = len(codes) if weights is None else float(weights.sum(dtype=np.float64))  # exact up to 2**53
    refuse_too_many_rows(total)
    if weights is not None and not weights.all():
        seen = np.flatnonzero(weights)
        codes, labels, weights = codes[seen], labels[seen], weights[seen]
    if weights is not None and (weights == 1).all():
        weights = None
    table = _Table(codes, labels, tuple(map(int, n_values)), int(n_labels), weights)
    n_threads = n_threads_for(n_jobs, codes.size)
    n_cells = math.prod(table.n_values) * table.n_labels
    count = (
        _count_in_table
        if 0 < n_cells <= min(CELLS_PER_ROW * len(codes), MANY_CELLS + len(codes))
        else _count_by_sorting
    )
    groups = count(table, n_threads)
    pairs = groups.by_context - groups.by_row
    unchanged = groups.by_context_and_label - groups.by_row_and_label
    return PairCounts(
        pairs=pairs,
        changed=pairs - unchanged,
        n_rows=int(total),
        n_distinct=groups.n_distinct,
        n_identical=groups.by_row,
        n_contradictions=groups.by_row - groups.by_row_and_label,
    )


@dataclass(frozen=True)
class _Table:
    """The data: codes (m, n), labels (m,), how many values each may have, and weights (m,) unless all are 1."""

    codes: Codes
    labels: Codes
    n_values: tuple[int, ...]
    n_labels: int
    weights: Weights | None


@dataclass
class _Groups:
    """Sums of C2 over groups of rows; the arrays have one entry per feature."""

    by_context: NDArray[np.int64]
    by_context_and_label: NDArray[np.int64]
    by_row: int = 0
    by_row_and_label: int = 0
    n_distinct: int = 0

    @classmethod
    def zeros(cls, n_features: int) -> "_Groups":
        """No groups yet."""
        return cls(np.zeros(n_features, np.int64), np.zeros(n_features, np.int64))


def _pairs_between(sizes: NDArray[np.int64], apart: int) -> int:
    """Pairs inside groups of these sizes, whose members have the sum of squares `apart` when taken one by one.

    Textbook: sum(c * (c - 1) // 2 for c in sizes), with members of weight 1. The squares are summed modulo 2**64, which
    is exact once `apart` is taken off: twice the number of pairs is below 2**64 (see MAX_TOTAL).
    """
    sizes = sizes.ravel()
    return (int(np.einsum("i,i->", sizes, sizes)) - apart) % 2**64 // 2


# ---- Few possible rows: a counting table


def _count_in_table(table: _Table, n_threads: int) -> _Groups:
    """Groups from a table with one cell per possible (label, row)."""
    n_features = len(table.n_values)
    groups = _Groups.zeros(n_features)
    cells = _tabulate(table)
    by_row = cells.sum(axis=0)
    total = int(by_row.sum())
    groups.by_row = _pairs_between(by_row, total)
    groups.by_row_and_label = _pairs_between(cells, total)
    groups.n_distinct = int(np.count_nonzero(by_row))

    def count(cells: NDArray[np.int64], by_row: NDArray[np.int64], n_outer: int, feature: int) -> list[Task]:
        """Count a feature whose axis comes after n_outer possibilities of other features."""
        n_values = table.n_values[feature]
        by_row = by_row.reshape(n_outer, n_values, -1)
        cells = cells.reshape(table.n_labels * n_outer, n_values, -1)
        groups.by_context[feature] = _sum_along(by_row, groups.by_row, total)
        groups.by_context_and_label[feature] = _sum_along(cells, groups.by_row_and_label, total)
        return []

    # Along outer axes whole runs of cells are added and multiplied, so each half of the features has its turn outside.
    half = n_features // 2
    n_first = math.prod(table.n_values[:half])
    turned = np.ascontiguousarray(cells.reshape(table.n_labels, n_first, -1).transpose(0, 2, 1))
    turned_by_row = turned.sum(axis=0)
    tasks: list[Task] = []
    for feature in range(n_features):
        if feature < half:
            tasks.append(partial(count, cells, by_row, math.prod(table.n_values[:feature]), feature))
        else:
            tasks.append(partial(count, turned, turned_by_row, math.prod(table.n_values[half:feature]), feature))
    _run(tasks, n_threads)
    return groups


def _sum_along(cells: NDArray[np.int64], in_cells: int, total: int) -> int:
    """Sum of C2 over the groups left when the middle axis is ignored, given that over single cells, and the rows."""
    if cells.shape[1] == 2:  # C2(a + b) = C2(a) + C2(b) + a b, and the products alone are quicker
        return in_cells + int(np.einsum("ij,ij->", cells[:, 0], cells[:, 1]))
    return _pairs_between(cells.sum(axis=1), total)


def _tabulate(table: _Table) -> NDArray[np.int64]:
    """How many rows fall on each possible (label, row): shape (n_labels, number of possible rows)."""
    places = [math.prod(table.n_values[feature + 1 :]) for feature in range(len(table.n_values))]
    n_rows = math.prod(table.n_values)
    keys = _combine(table.codes, range(len(places)), places)
    keys += table.labels * np.uint64(n_rows)
    cells = np.bincount(keys.view(np.int64), table.weights, minlength=table.n_labels * n_rows)
    return cells.astype(np.int64, copy=False).reshape(table.n_labels, n_rows)


# ---- Many possible rows: sort and drop


@dataclass(frozen=True)
class _Branch:
    """Rows that agree with another row on all features outside a block (None: all rows), and the group of each."""

    n_rows: int
    n_groups: int = 1
    rows: NDArray[np.intp] | None = None
    group: NDArray[np.uint32] | None = None


def _count_by_sorting(table: _Table, n_threads: int) -> _Groups:
    """Groups from sorted contexts, dropping rows as soon as they are known to be alone."""
    sorter = _Sorter(table)
    everything = _Branch(len(table.codes))
    features = range(len(table.n_values))
    _run([partial(sorter.visit, everything, features, rows_too=True)], n_threads)
    groups = sorter.groups
    if table.weights is not None:  # the pairs a row of weight w forms with itself
        within = _pairs_between(table.weights, int(table.weights.sum()))
        groups.by_context += within
        groups.by_context_and_label += within
        groups.by_row += within
        groups.by_row_and_label += within
    return groups


class _Sorter:
    """Fills in `groups`, task by task; each feature is written by exactly one task."""

    def __init__(self, table: _Table) -> None:
        self.table = table
        self.groups = _Groups.zeros(len(table.n_values))
        self.groups.n_distinct = len(table.codes)
        self.bits = [(n - 1).bit_length() for n in table.n_values]
        self.label_bits = (table.n_labels - 1).bit_length()

    def visit(self, branch: _Branch, block: range, *, rows_too: bool) -> list[Task]:
        """Count the features of a block inside the groups of a branch, at once or part by part.

        On request, identical rows as well.
        """
        if branch.n_rows < 2:
            return []
        parts = self.parts(branch, block)
        if len(parts) == 1:
            return self.count_block(branch, block, rows_too=rows_too)
        tasks: list[Task] = []
        for part in parts:
            outside = [feature for feature in block if feature not in part]
            tasks.append(partial(self.isolate, branch, outside, part, rows_too=rows_too and part is parts[0]))
        return tasks

    def parts(self, branch: _Branch, block: range) -> list[range]:
        """The block itself if its features are best counted one by one, else parts to isolate from each other.

        Isolating a part costs a sort, as much as two or three features do; it pays when most rows are then alone.
        """
        if len(block) == 1 or (len(block) * branch.n_rows <= SMALL_SORT and self.fits(branch, block)):
            return [block]
        spread = [math.log2(n) for n in self.table.n_values[block.start : block.stop]]
        wanted = math.log2(branch.n_rows) + SPARSE_BITS - math.log2(branch.n_groups)
        for n_parts in range(2, len(block) // 4 + 1):
            parts = _split(block, n_parts)
            inside = max(sum(spread[part.start - block.start : part.stop - block.start]) for part in parts)
            if sum(spread) - inside >= wanted:
                return parts
        return [block] if self.fits(branch, block) else _split(block, 2)

    def isolate(self, branch: _Branch, outside: Sequence[int], part: range, *, rows_too: bool) -> list[Task]:
        """Keep the rows that also agree with another row on the features outside a part, one key at a time."""
        word = self.next_word(branch, outside)
        branch = self.regroup(branch, word)
        if len(word) < len(outside):
            return [partial(self.isolate, branch, outside[len(word) :], part, rows_too=rows_too)]
        return self.visit(branch, part, rows_too=rows_too)

    def count_block(self, branch: _Branch, block: range, *, rows_too: bool) -> list[Task]:
        """Tasks to count the features of a block, one or several at a time; None stands for whole rows."""
        if not self.fits(branch, block):  # a single feature with very many values: it is left out anyway
            tasks: list[Task] = [partial(self.count, branch, self.pack(branch, (), with_label=True), {block[0]: 0})]
            if rows_too:
                same = self.regroup(branch, block)
                tasks.append(partial(self.count, same, self.pack(same, (), with_label=True), {None: 0}))
            return tasks
        keys = self.pack(branch, block, with_label=True)
        blanks: dict[int | None, int] = {None: 0} if rows_too else {}
        offset = self.label_bits
        for feature in reversed(block):
            blanks[feature] = (1 << self.bits[feature]) - 1 << offset
            offset += self.bits[feature]
        step = max(1, SMALL_SORT // branch.n_rows)
        items = list(blanks.items())
        return [partial(self.count, branch, keys, dict(items[i : i + step])) for i in range(0, len(items), step)]

    def count(self, branch: _Branch, keys: Codes, blanks: dict[int | None, int]) -> list[Task]:
        """Count groups of equal keys for each feature (None: whole rows), its bits blanked out of the keys."""
        blanked = keys & ~np.array(list(blanks.values()), keys.dtype)[:, None]
        counts = _sum_groups(blanked, self.label_bits, self.weights(branch))
        for feature, n_pairs, n_unchanged, n_groups in zip(blanks, *counts, strict=True):
            if feature is None:
                self.groups.by_row, self.groups.by_row_and_label = n_pairs, n_unchanged
                self.groups.n_distinct -= branch.n_rows - n_groups
            else:
                self.groups.by_context[feature], self.groups.by_context_and_label[feature] = n_pairs, n_unchanged
        return []

    def regroup(self, branch: _Branch, features: Sequence[int]) -> _Branch:
        """Split the groups of a branch by some more features, and drop the rows that are alone then."""
        keys = self.pack(branch, features, with_label=False)
        keys, order = _sort_with_order(keys, self.n_bits(branch, features))
        starts = _starts(keys)
        meets = _not_alone(starts)
        first = starts[meets]
        number = np.zeros(branch.n_rows, np.uint32)  # of the group, from 1; 0 is alone
        number[order[meets]] = np.cumsum(first, dtype=np.uint32)
        left = np.flatnonzero(number)
        rows = left if branch.rows is None else branch.rows[left]
        return _Branch(len(left), max(1, int(np.count_nonzero(first))), rows, number[left] - np.uint32(1))

    def pack(self, branch: _Branch, features: Sequence[int], *, with_label: bool) -> Codes:
        """One integer for each row of a branch: its group, its codes on the features and, lowest, its label."""
        n_bits = self.n_bits(branch, features) + (self.label_bits if with_label else 0)
        offsets = np.cumsum([0, *(self.bits[feature] for feature in reversed(features))]).tolist()
        n_packed = offsets.pop()
        keys = _combine(self.table.codes, features, [1 << offset for offset in reversed(offsets)], branch.rows)
        if branch.group is not None:
            keys |= branch.group.astype(np.uint64) << np.uint64(n_packed)
        if with_label:
            labels = self.table.labels if branch.rows is None else self.table.labels[branch.rows]
            keys <<= np.uint64(self.label_bits)
            keys |= labels
        return keys.astype(np.uint32) if n_bits <= 32 else keys

    def n_bits(self, branch: _Branch, features: Sequence[int]) -> int:
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

    def weights(self, branch: _Branch) -> Weights | None:
        weights = self.table.weights
        return weights if weights is None or branch.rows is None else weights[branch.rows]


def _sum_groups(keys: Codes, label_bits: int, weights: Weights | None) -> tuple[list[int], list[int], list[int]]:
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


def _pairs_in_runs(starts: NDArray[np.bool_], lines: NDArray[np.intp], weights: Weights | None) -> list[int]:
    """Pairs between rows of the same run, for each line: `starts` begin a run, `lines` bound the lines."""
    first = np.append(np.flatnonzero(starts), len(starts))
    if weights is None:
        sizes, apart = np.diff(first), np.diff(lines)
    else:
        sizes, apart = _sums(weights, first), _sums(weights * weights, lines)
    squares = _sums(sizes * sizes, np.searchsorted(first, lines))
    pairs: list[int] = ((squares - apart).view(np.uint64) >> np.uint64(1)).tolist()  # modulo 2**64, see _pairs_between
    return pairs


def _sums(x: NDArray[np.int64], bounds: NDArray[np.intp]) -> NDArray[np.int64]:
    """Sums of x from each bound to the next."""
    sums = np.add.reduceat(np.append(x, 0), bounds[:-1])
    sums[bounds[1:] == bounds[:-1]] = 0  # reduceat takes one element of an empty slice
    return sums


def _starts(keys: Codes) -> NDArray[np.bool_]:
    """Whether each of the sorted keys differs from the one before, line by line."""
    starts = np.ones(keys.shape, np.bool_)
    np.not_equal(keys[..., 1:], keys[..., :-1], out=starts[..., 1:])
    return starts


def _not_alone(starts: NDArray[np.bool_]) -> NDArray[np.intp]:
    """Where the sorted keys, all lines in a row, equal the one before or the one after."""
    alone = starts.flatten()
    alone[:-1] &= starts.ravel()[1:]
    return np.flatnonzero(~alone)


def _sort_with_order(keys: Codes, n_bits: int) -> tuple[Codes, NDArray[np.intp]]:
    """Sorted keys of n_bits bits, and where each came from.

    Textbook: np.argsort; sorting the key and its position in one integer is several times faster.
    """
    position_bits = (len(keys) - 1).bit_length()
    if n_bits + position_bits > 64:
        order = np.argsort(keys)
        return keys[order], order
    both = keys.astype(np.uint64) << np.uint64(position_bits) | np.arange(len(keys), dtype=np.uint64)
    both.sort()
    return both >> np.uint64(position_bits), (both & np.uint64((1 << position_bits) - 1)).view(np.intp)


# ---- Shared


def refuse_too_many_rows(total: float) -> None:
    """Refuse more rows than whole numbers of 64 bits can count the pairs of."""
    if total > MAX_TOTAL:
        raise InputError(
            f"The table stands for {total:,.0f} rows; pairs are counted exactly in 64 bits up to {MAX_TOTAL:,} rows:"
            " divide the weights by a common factor, or count a sample of the rows."
        )


def collapse_rows(codes: Codes, labels: Codes, n_values: NDArray[np.int64]) -> NDArray[np.intp]:
    """Positions of the first of each distinct (row, label), in increasing order."""
    bits = [int(n - 1).bit_length() for n in n_values]
    ids = labels.astype(np.uint64)
    for word in _words(bits, PACKED_BITS):
        places = np.cumsum([0, *(bits[feature] for feature in word[:-1])])
        keys = _combine(codes, word, [1 << place for place in places.tolist()])
        ids = _join(ids, keys)
    return np.sort(np.unique(ids, return_index=True)[1])


def _words(bits: Sequence[int], room: int) -> list[range]:
    """Runs of features that go into one key of so many bits together."""
    words = [range(0)]
    used = 0
    for feature, n_bits in enumerate(bits):
        if used + n_bits > room:
            words.append(range(feature, feature))
            used = 0
        words[-1] = range(words[-1].start, feature + 1)
        used += n_bits
    return words


def _join(ids: NDArray[np.uint64], keys: NDArray[np.uint64]) -> NDArray[np.uint64]:
    """Numbers of the groups that agree on both, each number below the number of rows."""
    order = np.lexsort((keys, ids))
    changes = (np.diff(ids[order]) != 0) | (np.diff(keys[order]) != 0)
    joined = np.empty(len(ids), dtype=np.uint64)
    joined[order] = np.concatenate([[0], np.cumsum(changes)])
    return joined


def _combine(
    codes: Codes, features: Sequence[int], places: Sequence[int], rows: NDArray[np.intp] | None = None
) -> NDArray[np.uint64]:
    """Sum over the features of place times code, for the given rows (None: all); below 2**53, exact in float64."""
    n_rows = len(codes) if rows is None else len(rows)
    keys = np.zeros(n_rows, np.uint64)
    if not features:
        return keys
    first, width = features[0], features[-1] + 1 - features[0]
    factors = np.zeros(width)
    factors[np.subtract(features, first)] = places
    step = max(1024, CHUNK // width)
    for start in range(0, n_rows, step):
        chunk = slice(start, start + step)
        part = codes[chunk if rows is None else rows[chunk], first : first + width]
        keys[chunk] = part.astype(np.float64) @ factors
    return keys


def _split(block: range, n_parts: int) -> list[range]:
    """Consecutive parts of a block, of nearly equal lengths."""
    cuts = [block.start + len(block) * part // n_parts for part in range(n_parts + 1)]
    return [range(start, stop) for start, stop in pairwise(cuts)]


def _run(tasks: Iterable[Task], n_threads: int) -> None:
    """Run tasks and the tasks they return, the latest first to free memory early.

    No more tasks are handed out than there are threads, so Ctrl-C waits for the running ones only.
    """
    stack = list(tasks)
    if n_threads == 1:
        while stack:
            stack.extend(stack.pop()())
        return
    with ThreadPoolExecutor(n_threads) as pool:
        running: set[Future[list[Task]]] = set()
        while stack or running:
            while stack and len(running) < n_threads:
                running.add(pool.submit(stack.pop()))
            done, running = wait(running, return_when=FIRST_COMPLETED)
            for task in done:
                stack.extend(task.result())


def n_threads_for(n_jobs: int | None, n_codes: int) -> int:
    """Threads for n_jobs, by joblib's conventions; one if the work is small."""
    if n_jobs is not None and (not isinstance(n_jobs, int | np.integer) or n_jobs == 0):
        raise InputError(f"n_jobs must be a whole number other than 0 (-1: one per processor) or None, got {n_jobs!r}.")
    if n_codes < SMALL_WORK:
        return 1
    from joblib import effective_n_jobs

    return int(effective_n_jobs(n_jobs))
