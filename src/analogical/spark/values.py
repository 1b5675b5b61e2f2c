"""Which values the columns of a Spark table hold, and how often: one pass over the rows, added up on the executors."""

import pickle
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field
from functools import partial
from typing import TYPE_CHECKING, Any

import numpy as np

from analogical.spark.session import collect
from analogical.spark.words import WEIGHT

if TYPE_CHECKING:
    import pyarrow as pa
    from pyspark.sql import DataFrame

__all__ = ["MOST_VALUES", "ValueCounts", "count_values", "normal"]

MOST_VALUES = 200_000
"""Different values of a column that are brought to this process at most."""
_MERGE_AFTER = 400_000
_MOST_WAITING = 100
"""Entries, or batches, after which what was counted so far is added up."""
_ADDED_TOGETHER = 16
_SCHEMA = "counts binary"


@dataclass
class ValueCounts:
    """The values of one column with the rows of each, their weight, and the rows without a value."""

    values: "pa.Array | None" = None
    """None if there are more than a limit."""
    weights: Any = field(default_factory=lambda: np.zeros(0, np.int64))
    n_missing: int = 0
    weight_missing: int = 0
    weight: int = 0
    """Of all rows that have a value."""
    is_full: bool = False
    """Whether there are more values than are kept."""

    def add(self, others: Iterable["ValueCounts"], limit: int) -> "ValueCounts":
        """These counts and others together, as long as the values are no more than the limit."""
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
        found = values.dictionary_encode()
        if len(found.dictionary) > limit:
            total.is_full = True
            return total
        weights = np.concatenate([part.weights for part in known])
        total.values = found.dictionary
        places = pc.cast(found.indices, pa.int64()).to_numpy(zero_copy_only=False)
        sums = np.zeros(len(found.dictionary), np.int64)
        np.add.at(sums, places, weights)
        total.weights = sums
        return total


def normal(cells: "pa.Array") -> "pa.Array":
    """Cells whose equality is that of values: NaN is missing, -0.0 is 0.0."""
    import pyarrow as pa
    import pyarrow.compute as pc

    if pa.types.is_dictionary(cells.type):
        cells = cells.dictionary_decode()
    if not pa.types.is_floating(cells.type):
        return cells
    return pc.if_else(pc.is_nan(cells), None, pc.add(cells, pa.scalar(0.0, cells.type)))


def count_values(
    frame: "DataFrame", columns: list[str], n_parts: int, limit: int = MOST_VALUES
) -> dict[str, ValueCounts]:
    """The values of the columns of a frame; rows count with the column ``weight`` if there is one."""
    counted = frame.mapInArrow(partial(_count_partition, columns, limit), _SCHEMA)
    while n_parts > _ADDED_TOGETHER:
        n_parts = -(-n_parts // _ADDED_TOGETHER)
        counted = counted.repartition(n_parts).mapInArrow(partial(_add_counts, limit), _SCHEMA)
    found = _read(iter(collect(counted, "looking at the columns").to_batches()), limit)
    return found or {name: ValueCounts() for name in columns}


def _count_partition(columns: list[str], limit: int, batches: Iterator[Any]) -> Iterator[Any]:
    """Count the values of a partition; runs on the executors."""
    counts = {name: ValueCounts() for name in columns}
    waiting: dict[str, list[ValueCounts]] = {name: [] for name in columns}
    for batch in batches:
        weights = batch.column(WEIGHT).to_numpy() if WEIGHT in batch.schema.names else None
        for name in columns:
            waiting[name].append(_count(batch.column(name), weights, counts[name].is_full))
            if sum(len(part.weights) for part in waiting[name]) > _MERGE_AFTER or len(waiting[name]) > _MOST_WAITING:
                counts[name] = counts[name].add(waiting[name], limit)
                waiting[name] = []
    yield _write({name: counts[name].add(waiting[name], limit) for name in columns})


def _count(cells: "pa.Array", weights: Any, is_full: bool) -> ValueCounts:
    """The values of one batch."""
    import pyarrow as pa
    import pyarrow.compute as pc

    cells = normal(cells)
    present = cells.is_valid().to_numpy(zero_copy_only=False)
    weights = np.ones(len(cells), np.int64) if weights is None else weights
    found = ValueCounts(
        n_missing=int(len(cells) - present.sum()),
        weight_missing=int(weights[~present].sum()),
        weight=int(weights[present].sum()),
        is_full=is_full,
    )
    if is_full or not present.any():
        return found
    coded = cells.dictionary_encode()
    places = pc.cast(coded.indices, pa.int64()).drop_null().to_numpy(zero_copy_only=False)
    found.values = coded.dictionary
    found.weights = np.bincount(places, weights[present], minlength=len(coded.dictionary)).astype(np.int64)
    return found


def _add_counts(limit: int, batches: Iterator[Any]) -> Iterator[Any]:
    found = _read(batches, limit)
    if found:
        yield _write(found)


def _read(batches: Iterator[Any], limit: int) -> dict[str, ValueCounts]:
    parts = [pickle.loads(cell.as_py()) for batch in batches for cell in batch.column("counts")]  # noqa: S301
    if not parts:
        return {}
    return {name: parts[0][name].add((part[name] for part in parts[1:]), limit) for name in parts[0]}


def _write(counts: dict[str, ValueCounts]) -> Any:
    import pyarrow as pa

    return pa.RecordBatch.from_arrays([pa.array([pickle.dumps(counts)], pa.binary())], names=["counts"])
