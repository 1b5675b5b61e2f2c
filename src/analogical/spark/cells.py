"""Cells of a Spark column to codes, on the executors: by a list of values, or by where bins of numbers begin.

Executors import this file: of other libraries it needs NumPy and PyArrow only.
"""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from analogical._types import Floats, Ints
from analogical.spark.values import normal
from analogical.spark.words import LABEL, WEIGHT, Layout

if TYPE_CHECKING:
    import pyarrow as pa

__all__ = ["ByValue", "Steps", "numbers_of", "pack_batches", "place_batches"]


@dataclass(frozen=True)
class ByValue:
    """Codes of the values of a column."""

    values: Any
    """An Arrow array: all values of the column."""
    codes: Ints
    """One for each value, and a last one for missing cells."""

    def encode(self, cells: "pa.Array") -> Ints:
        """Codes of the cells of a batch."""
        import pyarrow as pa
        import pyarrow.compute as pc

        cells = normal(cells)
        places = pc.index_in(cells, value_set=self.values.cast(cells.type))
        if places.null_count != cells.null_count:
            raise ValueError("a column holds a value that the first pass did not see; write the table to a file first")
        found: Ints = pc.fill_null(places.cast(pa.int64()), len(self.values)).to_numpy(zero_copy_only=False)
        return self.codes[found]


@dataclass(frozen=True)
class Steps:
    """Codes of numbers or times by the step they lie on: from one of many steps up to the next."""

    steps: NDArray[Any]
    codes: Ints
    """One for each step, and a last one for missing cells."""

    def place(self, cells: "pa.Array") -> Ints:
        """The step of each cell; the number of steps if it is missing."""
        cells = normal(cells)
        present = cells.is_valid().to_numpy(zero_copy_only=False)
        found = np.full(len(cells), len(self.steps), np.int64)
        numbers = numbers_of(cells.drop_null())
        found[present] = np.maximum(np.searchsorted(self.steps, numbers, side="right") - 1, 0)
        return found

    def encode(self, cells: "pa.Array") -> Ints:
        """Codes of the cells of a batch."""
        return self.codes[self.place(cells)]


def numbers_of(cells: "pa.Array") -> NDArray[Any]:
    """Numbers, or times as whole numbers, that can be compared; decimals as floats."""
    import pyarrow as pa

    kind = cells.type
    if pa.types.is_date32(kind):
        cells = cells.cast(pa.int32())
    elif pa.types.is_temporal(kind):
        cells = cells.cast(pa.int64())
    elif pa.types.is_decimal(kind):
        cells = cells.cast(pa.float64())
    return np.asarray(cells.to_numpy(zero_copy_only=False))


def pack_batches(layout: Layout, encoders: Sequence["ByValue | Steps"], batches: Iterator[Any]) -> Iterator[Any]:
    """Batches of words: the codes of columns ``c0``, ``c1``, ... packed, and beside them those of the label."""
    import pyarrow as pa

    for batch in batches:
        *codes, label = (encoder.encode(batch.column(place)) for place, encoder in enumerate(encoders))
        cells = [pa.array(column) for column in (*layout.pack(codes), label)]
        if WEIGHT in batch.schema.names:
            cells.append(batch.column(WEIGHT))
        names = [*layout.names, LABEL, WEIGHT][: len(cells)]
        yield pa.RecordBatch.from_arrays(cells, names=names)


def place_batches(steps: dict[str, Floats], weight: list[str], batches: Iterator[Any]) -> Iterator[Any]:
    """The step of each cell by its number, missing where the cell is, with the weights."""
    import pyarrow as pa

    nothing = np.zeros(0, np.int64)
    for batch in batches:
        cells = []
        for name, begins in steps.items():
            places = Steps(begins, nothing).place(batch.column(name))
            cells.append(pa.array(places, mask=places == len(begins)))
        cells += [batch.column(name) for name in weight]
        yield pa.RecordBatch.from_arrays(cells, names=[*steps, *weight])
