"""The values of columns and how many rows have each, counted in one pass over Arrow batches.

The executors of Spark import this file; it needs only NumPy and PyArrow.
"""

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from analogical._types import Ints
from analogical.engines.relation import WEIGHT

if TYPE_CHECKING:
    import pyarrow as pa

    from analogical.engines.cells import Encoder, Steps

__all__ = ["CountLabels", "CountValues", "ValueCounts", "ValuesByColumn", "normal"]

_MERGE_AFTER = 400_000
_MOST_WAITING = 100
"""Entries, or batches, after which the counts so far are added up."""


@dataclass
class ValueCounts:
    """The values of one column with the weight of each, and the rows without a value."""

    values: Any = None
    """An Arrow array; None if ``is_full``."""
    weights: Any = field(default_factory=lambda: np.zeros(0, np.int64))
    """Total weight of each value; or of each value and label."""
    n_missing: int = 0
    weight_missing: int = 0
    weight: int = 0
    """Total weight of the rows that have a value."""
    is_full: bool = False
    """Whether there are more values than the limit."""
    is_in_order: bool = False
    """Whether values are in order of their first rows."""

    def add(self, others: Iterable["ValueCounts"], limit: int) -> "ValueCounts":
        """The sum of these counts and others; full if the values are more than the limit."""
        import pyarrow as pa
        import pyarrow.compute as pc

        parts = [self, *others]
        total = ValueCounts(
            n_missing=sum(part.n_missing for part in parts),
            weight_missing=sum(part.weight_missing for part in parts),
            weight=sum(part.weight for part in parts),
            is_full=any(part.is_full for part in parts),
        )
        known = [part for part in parts if part.values is not None]
        if total.is_full or not known:
            return total
        values = pa.concat_arrays([part.values for part in known])
        coded = values.dictionary_encode()
        if len(coded.dictionary) > limit:
            total.is_full = True
            return total
        weights = np.concatenate([part.weights for part in known])
        total.values = coded.dictionary
        places = pc.cast(coded.indices, pa.int64()).to_numpy(zero_copy_only=False)
        sums = np.zeros((len(coded.dictionary), *weights.shape[1:]), np.int64)
        np.add.at(sums, places, weights)
        total.weights = sums
        return total

    def ordered_as(self, values: "pa.Array | None") -> "ValueCounts":
        """The same in the order of ``values``, which hold all of these; unchanged if they are None."""
        import pyarrow.compute as pc

        if values is None:
            return self
        order = pc.index_in(values, value_set=self.values).drop_null()
        return replace(self, values=pc.take(self.values, order), weights=self.weights[order.to_numpy()])

    def sorted(self) -> "ValueCounts":
        """The same with values in increasing order, unless they are in order of their first rows."""
        import pyarrow as pa
        import pyarrow.compute as pc

        if self.values is None:
            self.values = pa.nulls(0, pa.string())
        if self.is_in_order:
            return self
        if pa.types.is_integer(self.values.type) or pa.types.is_floating(self.values.type):  # much faster than Arrow
            places = np.argsort(self.values.to_numpy(zero_copy_only=False))
            order = pa.array(places)
        else:
            order = pc.array_sort_indices(self.values)
            places = order.to_numpy()
        self.values, self.weights = self.values.take(order), self.weights[places]
        return self


ValuesByColumn = dict[str, ValueCounts]


def normal(cells: "pa.Array") -> "pa.Array":
    """Cells with NaN as null and -0.0 as 0.0."""
    import pyarrow as pa
    import pyarrow.compute as pc

    if pa.types.is_dictionary(cells.type):
        cells = cells.dictionary_decode()
    if not pa.types.is_floating(cells.type):
        return cells
    return pc.if_else(pc.is_nan(cells), None, pc.add(cells, pa.scalar(0.0, cells.type)))


@dataclass(frozen=True)
class CountValues:
    """Counts the values of columns (a :class:`~analogical.engines.relation.Summing`)."""

    columns: tuple[str, ...]
    limit: int
    steps: "Mapping[str, Steps]" = field(default_factory=dict)
    """Columns whose cells are replaced by their interval before they are counted."""
    label: "Encoder | None" = None
    """If given, values are counted by label."""

    def count(self, batches: Iterator["pa.RecordBatch"]) -> ValuesByColumn:
        """The values of some rows."""
        counts = {name: ValueCounts() for name in self.columns}
        waiting: dict[str, list[ValueCounts]] = {name: [] for name in self.columns}
        n_labels = 1 if self.label is None else self.label.n_codes
        for batch in batches:
            weights = _weights(batch)
            labels = None if self.label is None else self.label.encode(batch)
            for name in self.columns:
                cells = batch.column(name)
                cells = self.steps[name].numbered(cells) if name in self.steps else normal(cells)
                waiting[name].append(_count(cells, weights, labels, n_labels, counts[name].is_full))
                n_waiting = sum(len(part.weights) for part in waiting[name])
                if n_waiting > _MERGE_AFTER or len(waiting[name]) > _MOST_WAITING:
                    counts[name] = counts[name].add(waiting[name], self.limit)
                    waiting[name] = []
        return {name: counts[name].add(waiting[name], self.limit) for name in self.columns}

    def add(self, sums: Sequence[ValuesByColumn]) -> ValuesByColumn:
        """Counts of parts of a table together."""
        first, *others = sums
        return {name: first[name].add((other[name] for other in others), self.limit) for name in self.columns}


@dataclass(frozen=True)
class CountLabels:
    """Counts the rows of columns by code and label (a :class:`~analogical.engines.relation.Summing`)."""

    encoders: "tuple[Encoder, ...]"
    label: "Encoder"

    def count(self, batches: Iterator["pa.RecordBatch"]) -> tuple[Ints, ...]:
        """For each column the rows by code and label."""
        n_labels = self.label.n_codes
        tables = [np.zeros((encoder.n_codes, n_labels), np.int64) for encoder in self.encoders]
        for batch in batches:
            weights, labels = _weights(batch), self.label.encode(batch)
            for place, encoder in enumerate(self.encoders):
                keys = encoder.encode(batch) * n_labels + labels
                sizes = np.bincount(keys, weights, minlength=tables[place].size).astype(np.int64)
                tables[place] += sizes.reshape(-1, n_labels)
        return tuple(tables)

    def add(self, sums: Sequence[tuple[Ints, ...]]) -> tuple[Ints, ...]:
        """The tables of parts of a table together."""
        return tuple(np.sum(tables, axis=0) for tables in zip(*sums, strict=True))


def _weights(batch: "pa.RecordBatch") -> NDArray[Any] | None:
    return batch.column(WEIGHT).to_numpy() if WEIGHT in batch.schema.names else None


def _count(
    cells: "pa.Array", weights: NDArray[Any] | None, labels: Ints | None, n_labels: int, is_full: bool
) -> ValueCounts:
    """The values of one batch."""
    import pyarrow as pa
    import pyarrow.compute as pc

    present = cells.is_valid().to_numpy(zero_copy_only=False)
    weights = np.ones(len(cells), np.int64) if weights is None else weights
    counted = ValueCounts(
        n_missing=int(len(cells) - present.sum()),
        weight_missing=int(weights[~present].sum()),
        weight=int(weights[present].sum()),
        is_full=is_full,
    )
    if is_full or not present.any():
        return counted
    coded = cells.dictionary_encode()
    places = pc.cast(coded.indices, pa.int64()).drop_null().to_numpy(zero_copy_only=False)
    counted.values, n_values = coded.dictionary, len(coded.dictionary)
    if labels is None:
        counted.weights = np.bincount(places, weights[present], minlength=n_values).astype(np.int64)
    else:
        sizes = np.bincount(places * n_labels + labels[present], weights[present], minlength=n_values * n_labels)
        counted.weights = sizes.astype(np.int64).reshape(n_values, n_labels)
    return counted
