"""What runs on the executors: one whole partition to its sums, and sums to one sum.

These functions are sent to the executors by name, with the package; see ``session.ship_package``.
"""

import pickle
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from functools import cached_property
from typing import Any, Generic, TypeVar

import numpy as np

from analogical._types import CodedRows, Ints
from analogical.count.contexts import Contexts, differs_from_last
from analogical.count.pairs import ContextSums, sum_contexts
from analogical.spark.words import LABEL, WEIGHT, Layout

__all__ = ["PART_SCHEMA", "CountPart", "DrawRows", "GroupRows", "add_parts", "read_parts", "rows_of"]

PART_SCHEMA = "block int, sums binary"
"""Columns of the frame of partial sums."""
GROUPED_TOGETHER = 500_000
"""Rows of a partition that are grouped at a time: few enough for the memory of a Python worker, and so many that most
rows of few groups are added up before Spark sees them."""
LOOKUP = 2**22
"""Keys below this are counted in a table of that size instead of being sorted."""

Summary = TypeVar("Summary")


def rows_of(table: Any, layout: Layout, n_labels: int) -> CodedRows:
    """The rows of an Arrow table of words."""
    weights = table.column(WEIGHT).to_numpy() if WEIGHT in table.column_names else None
    labels = table.column(LABEL).to_numpy().astype(np.min_scalar_type(n_labels - 1))
    codes = layout.unpack([table.column(name).to_numpy() for name in layout.names])
    return CodedRows(codes, labels, np.array(layout.n_values, dtype=np.int64), n_labels, weights)


@dataclass(frozen=True)
class DrawRows:
    """Draws rows of a partition that have weights: a row of weight w is drawn as w rows."""

    share: float
    seed: int | None

    def __call__(self, batches: Iterator[Any]) -> Iterator[Any]:
        """Batches of the rows that were drawn, with how often."""
        import pyarrow as pa
        from pyspark import TaskContext

        context = TaskContext.get()
        place = 0 if context is None else context.partitionId()
        rng = np.random.default_rng(None if self.seed is None else [self.seed, place])
        for batch in batches:
            times = rng.binomial(batch.column(WEIGHT).to_numpy(), self.share)
            drawn = batch.set_column(batch.schema.get_field_index(WEIGHT), WEIGHT, pa.array(times))
            yield drawn.filter(pa.array(times > 0))


@dataclass(frozen=True)
class GroupRows:
    """Counts the rows of a partition by label and by the values of some features, for several sets of features."""

    layout: Layout
    n_labels: int
    sets: tuple[tuple[int, ...], ...]

    @cached_property
    def layouts(self) -> tuple[Layout, ...]:
        """For each set which bits of which word hold its features and, last, the label."""
        sizes = [(*(self.layout.n_values[i] for i in features), self.n_labels) for features in self.sets]
        return tuple(Layout(n_values, (tuple(range(len(n_values))),)) for n_values in sizes)

    @property
    def keys(self) -> list[str]:
        """Columns of the words; sets with fewer words have zeros in the others."""
        return max((layout.names for layout in self.layouts), key=len)

    @property
    def schema(self) -> str:
        """Columns of the frame of groups: the set by number, the words and the rows."""
        return ", ".join(["place int", *(f"{key} long" for key in self.keys), "n long"])

    def __call__(self, batches: Iterator[Any]) -> Iterator[Any]:
        """Batches of groups; a group may come again, from other rows."""
        import pyarrow as pa

        for some in _lumps(batches, GROUPED_TOGETHER):
            rows = rows_of(pa.Table.from_batches(some), self.layout, self.n_labels)
            for place in range(len(self.sets)):
                yield self._groups(rows, place)

    def _groups(self, rows: CodedRows, place: int) -> Any:
        import pyarrow as pa

        cells = [*(rows.codes[:, i] for i in self.sets[place]), rows.labels]
        words, n = _count_words(self.layouts[place].pack(cells), rows.weights)
        words += [np.zeros(len(n), np.int64)] * (len(self.keys) - len(words))
        columns = [pa.array(np.full(len(n), place, np.int32)), *(pa.array(word) for word in words), pa.array(n)]
        return pa.RecordBatch.from_arrays(columns, names=["place", *self.keys, "n"])

    def read(self, found: Any) -> list[CodedRows]:
        """The rows of each set, one for each combination of values and label that occurs, with their number."""
        places = found.column("place").to_numpy()
        words, n = [found.column(key).to_numpy() for key in self.keys], found.column("n").to_numpy()
        order = np.lexsort((*words, places))  # as Spark orders them, floats would add up otherwise each time
        bounds = np.searchsorted(places[order], np.arange(len(self.sets) + 1))
        rows = []
        for place, layout in enumerate(self.layouts):
            own = order[bounds[place] : bounds[place + 1]]
            codes = layout.unpack([word[own] for word in words[: len(layout.names)]])
            labels = codes[:, -1].astype(np.min_scalar_type(self.n_labels - 1))
            n_values = np.array(layout.n_values[:-1], dtype=np.int64)
            rows.append(CodedRows(codes[:, :-1], labels, n_values, self.n_labels, n[own]))
        return rows


@dataclass(frozen=True)
class CountPart(Generic[Summary]):
    """Counts the features of a block in one whole partition; Spark hands it over in batches."""

    block: int
    layout: Layout
    n_labels: int
    summarise: Callable[[int, Contexts], Summary]

    def __call__(self, batches: Iterator[Any]) -> Iterator[Any]:
        """One batch with the sums, or none for an empty partition."""
        import pyarrow as pa

        some = [batch for batch in batches if batch.num_rows]
        if some:
            rows = rows_of(pa.Table.from_batches(some), self.layout, self.n_labels)
            features = self.layout.blocks[self.block]
            yield _batch({self.block: sum_contexts(rows, self.summarise, features=features, n_jobs=1)})


def _lumps(batches: Iterator[Any], n_rows: int) -> Iterator[list[Any]]:
    """Batches together until they have so many rows."""
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
    """The different rows of words, and how many rows each stands for."""
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
    """Partial sums to one sum for each block."""
    sums = read_parts(batches)
    if sums:
        yield _batch(sums)


def read_parts(batches: Iterator[Any]) -> dict[int, ContextSums[Any]]:
    """The sums of each block."""
    found: dict[int, ContextSums[Any]] = {}
    for batch in batches:
        for block, cells in zip(batch.column("block").to_pylist(), batch.column("sums"), strict=True):
            sums = pickle.loads(cells.as_py())  # noqa: S301 (written by _batch, on an executor of this session)
            found[block] = found[block] + sums if block in found else sums
    return found


def _batch(sums: dict[int, ContextSums[Any]]) -> Any:
    import pyarrow as pa
    from pyspark import cloudpickle

    blobs = [cloudpickle.dumps(one) for one in sums.values()]  # type: ignore[no-untyped-call]
    return pa.RecordBatch.from_arrays(
        [pa.array(list(sums), pa.int32()), pa.array(blobs, pa.binary())], names=["block", "sums"]
    )
