"""What runs on the executors: grouping and counting the rows of a partition, and adding up the sums.

The executors get the package by ``session.ship_package``.
"""

import pickle
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np

from analogical._types import CodedRows, Ints
from analogical.count.contexts import differs_from_last
from analogical.count.pairs import ContextSums, sum_contexts
from analogical.spark.words import LABEL, WEIGHT, Layout

__all__ = ["PART_SCHEMA", "CountPart", "CountedPart", "GroupRows", "add_parts", "read_parts", "rows_of"]

PART_SCHEMA = "block int, sums binary"
"""Columns of the frame of partial sums."""
GROUPED_TOGETHER = 500_000
"""Rows of a partition that are grouped at a time: few enough for the memory of a Python worker, and enough to leave
Spark few groups to add up."""
LOOKUP = 2**22
"""Keys below this are counted in an array instead of being sorted."""
LABEL_FIRST = -1
"""The label, among numbers of columns."""
BEGUN = 16
"""Packed prefixes of sets of columns that are kept for the next sets: four megabytes each."""


def rows_of(table: Any, layout: Layout, n_labels: int, columns: Sequence[int]) -> CodedRows:
    """Some columns of the rows of an Arrow table of words."""
    weights = table.column(WEIGHT).to_numpy() if WEIGHT in table.column_names else None
    labels = table.column(LABEL).to_numpy().astype(np.min_scalar_type(n_labels - 1))
    codes = layout.unpack(_words_of(table, layout), columns)
    return CodedRows(codes, labels, np.array([layout.n_values[c] for c in columns], dtype=np.int64), n_labels, weights)


def _words_of(table: Any, layout: Layout) -> dict[str, Ints]:
    """The words in an Arrow table."""
    return {name: table.column(name).to_numpy() for name in layout.names if name in table.column_names}


@dataclass(frozen=True)
class GroupRows:
    """Counts the rows of a partition by label and by the values of some features, for several sets of features."""

    layout: Layout
    n_labels: int
    sets: tuple[tuple[int, ...], ...]

    @cached_property
    def columns(self) -> list[int]:
        """All columns of the sets, the most frequent ones first."""
        often = Counter(column for columns in self.sets for column in columns)
        return sorted(often, key=lambda column: (-often[column], column))

    @cached_property
    def orders(self) -> tuple[tuple[int, ...], ...]:
        """The columns of each set in the order in which they are packed, so that sets share prefixes."""
        return tuple(tuple(c for c in self.columns if c in columns) for columns in self.sets)

    @cached_property
    def layouts(self) -> tuple[Layout, ...]:
        """The layout of each set: the label, then its columns."""
        sizes = [(self.n_labels, *(self.layout.n_values[c] for c in order)) for order in self.orders]
        return tuple(Layout(n_values, (tuple(range(len(n_values))),)) for n_values in sizes)

    @property
    def keys(self) -> list[str]:
        """Names of the words; sets with fewer words have zeros in the others."""
        return max((layout.names for layout in self.layouts), key=len)

    @property
    def schema(self) -> str:
        """Columns of the groups: the number of the set, the words and the number of rows."""
        return ", ".join(["place int", *(f"{key} long" for key in self.keys), "n long"])

    def __call__(self, batches: Iterator[Any]) -> Iterator[Any]:
        """Batches of groups; a group may occur in several batches."""
        import pyarrow as pa

        for some in _lumps(batches, GROUPED_TOGETHER):
            table = pa.Table.from_batches(some)
            words = _words_of(table, self.layout)
            weights = table.column(WEIGHT).to_numpy() if WEIGHT in table.column_names else None
            packed = _Packed(self.layout, words, table.column(LABEL).to_numpy())
            for place, (order, layout) in enumerate(zip(self.orders, self.layouts, strict=True)):
                yield self._groups(place, packed.of(order, layout), weights)

    def _groups(self, place: int, packed: list[Ints], weights: Ints | None) -> Any:
        import pyarrow as pa

        words, n = _count_words(packed, weights)
        words += [np.zeros(len(n), np.int64)] * (len(self.keys) - len(words))
        columns = [pa.array(np.full(len(n), place, np.int32)), *(pa.array(word) for word in words), pa.array(n)]
        return pa.RecordBatch.from_arrays(columns, names=["place", *self.keys, "n"])

    def read(self, table: Any) -> list[CodedRows]:
        """For each set one row per combination of values and label that occurs, with its number of rows."""
        places = table.column("place").to_numpy()
        words, n = {key: table.column(key).to_numpy() for key in self.keys}, table.column("n").to_numpy()
        bounds = np.searchsorted(np.sort(places), np.arange(len(self.sets) + 1))
        by_place = np.argsort(places, kind="stable")
        rows = []
        for place, (columns, layout) in enumerate(zip(self.sets, self.layouts, strict=True)):
            own = by_place[bounds[place] : bounds[place + 1]]
            codes = layout.unpack({key: word[own] for key, word in words.items()}, range(len(layout.n_values)))
            codes = codes[:, [0, *(1 + self.orders[place].index(c) for c in columns)]]
            order = np.lexsort(codes.T)  # Spark has another order each time, and sums of floats depend on it
            labels = codes[order, 0].astype(np.min_scalar_type(self.n_labels - 1))
            n_values = np.array([self.layout.n_values[c] for c in columns], dtype=np.int64)
            rows.append(CodedRows(np.asfortranarray(codes[order, 1:]), labels, n_values, self.n_labels, n[own][order]))
        return rows


class _Packed:
    """The words of rows for several sets of columns; prefixes that sets share are packed once."""

    def __init__(self, layout: Layout, words: Mapping[str, Ints], labels: Ints) -> None:
        self._layout, self._words, self._labels = layout, words, labels
        self._begun: dict[tuple[int, ...], Ints] = {}

    def of(self, order: tuple[int, ...], layout: Layout) -> list[Ints]:
        """The words of one set."""
        where = (LABEL_FIRST, *order)
        return [self._pack(tuple(where[c] for c in word.columns), word.shifts) for word in layout.words]

    def _pack(self, columns: tuple[int, ...], shifts: tuple[int, ...]) -> Ints:
        """Some columns, each shifted to its first bit."""
        if not columns:
            return np.zeros(len(self._labels), np.int64)
        last = columns[-1]
        cells = self._labels if last == LABEL_FIRST else self._layout.codes(self._words, last)
        packed: Ints = cells.astype(np.int64) << shifts[-1]
        if len(columns) > 1:
            begin = columns[:-1]
            if begin not in self._begun:
                if len(self._begun) == BEGUN:
                    del self._begun[next(iter(self._begun))]
                self._begun[begin] = self._pack(begin, shifts[:-1])
            packed |= self._begun[begin]
        return packed


@dataclass(frozen=True)
class CountedPart:
    """What was counted for the features of a block, in some partitions."""

    sums: ContextSums
    by_label: Ints
    by_value: dict[int, Ints]
    """For each feature of the block the rows of each value, to check that the table is still the same."""

    def __add__(self, other: "CountedPart") -> "CountedPart":
        by_value = {feature: sizes + other.by_value[feature] for feature, sizes in self.by_value.items()}
        return CountedPart(self.sums + other.sums, self.by_label + other.by_label, by_value)


@dataclass(frozen=True)
class CountPart:
    """Counts the features of a block in one whole partition."""

    block: int
    layout: Layout
    n_labels: int
    most_cells: int

    def __call__(self, batches: Iterator[Any]) -> Iterator[Any]:
        """One batch with the sums, or none for an empty partition."""
        import pyarrow as pa

        some = [batch for batch in batches if batch.num_rows]
        if some:
            rows = rows_of(pa.Table.from_batches(some), self.layout, self.n_labels, range(self.layout.n_features))
            block = self.layout.blocks[self.block]
            sizes = {feature: rows.value_sizes(feature) for feature in block}
            sums = sum_contexts(rows, self.most_cells, features=block, n_jobs=1)
            yield _batch({self.block: CountedPart(sums, rows.label_sizes(), sizes)})


def _lumps(batches: Iterator[Any], n_rows: int) -> Iterator[list[Any]]:
    """Lists of batches with at least this many rows in total."""
    some: list[Any] = []
    for batch in batches:
        if batch.num_rows:
            some.append(batch)
        if sum(one.num_rows for one in some) >= n_rows:
            yield some
            some = []
    if some:
        yield some


def _count_words(words: list[Ints], weights: Ints | None) -> tuple[list[Ints], Ints]:
    """The distinct rows of words, and the weight of each."""
    if len(words) == 1 and int(words[0].max(initial=0)) < LOOKUP:
        sizes = np.bincount(words[0], weights).astype(np.int64)  # below 2**53
        known = np.flatnonzero(sizes)
        return [known.astype(np.int64)], sizes[known]
    order = np.lexsort(words)
    is_new = np.zeros(len(order), np.bool_)
    for word in words:
        is_new |= differs_from_last(word[order])
    starts = np.flatnonzero(is_new)
    sizes = np.diff(starts, append=len(order)) if weights is None else np.add.reduceat(weights[order], starts)
    return [word[order[starts]] for word in words], sizes.astype(np.int64)


def add_parts(batches: Iterator[Any]) -> Iterator[Any]:
    """One sum for each block, from partial sums."""
    sums = read_parts(batches)
    if sums:
        yield _batch(sums)


def read_parts(batches: Iterator[Any]) -> dict[int, CountedPart]:
    """The sums of each block."""
    found: dict[int, CountedPart] = {}
    for batch in batches:
        for block, cells in zip(batch.column("block").to_pylist(), batch.column("sums"), strict=True):
            sums = pickle.loads(cells.as_py())  # noqa: S301 (written by _batch, on an executor of this session)
            found[block] = found[block] + sums if block in found else sums
    return found


def _batch(sums: dict[int, CountedPart]) -> Any:
    import pyarrow as pa
    from pyspark import cloudpickle

    blobs = [cloudpickle.dumps(one) for one in sums.values()]  # type: ignore[no-untyped-call]
    return pa.RecordBatch.from_arrays(
        [pa.array(list(sums), pa.int32()), pa.array(blobs, pa.binary())], names=["block", "sums"]
    )
