"""Cells of a column to codes, where the rows lie: by a list of values, by where bins begin, by month, weekday or hour.

Executors of Spark import this file: of other libraries it needs NumPy and PyArrow only.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from analogical._types import Ints
from analogical.engines.relation import ROW
from analogical.engines.values import normal
from analogical.table.dates import days_of_numbers, part_numbers

if TYPE_CHECKING:
    import pyarrow as pa

__all__ = ["ByValue", "DatePart", "Encoder", "Places", "Steps", "UnitEncoder", "encode_batch", "numbers_of"]

HASHED = 10_000
"""Values from which on their places are kept in a dictionary: Arrow would hash all of them for every batch."""


@dataclass(frozen=True)
class ByValue:
    """The place of a cell among the values of its column."""

    values: Any
    """An Arrow array."""

    def __len__(self) -> int:
        return len(self.values)

    def place(self, cells: "pa.Array") -> Ints:
        """The place of each cell; the number of places if it is missing."""
        import pyarrow as pa
        import pyarrow.compute as pc

        cells = normal(cells)
        if len(self.values) > HASHED:
            coded = cells.dictionary_encode()
            known = [self._place_of.get(value, -1) for value in coded.dictionary.to_pylist()]
            of_entry = np.array([*known, len(self.values)], dtype=np.int64)
            places: Ints = of_entry[pc.fill_null(coded.indices.cast(pa.int64()), -1).to_numpy(zero_copy_only=False)]
            if (places < 0).any():
                raise ValueError(UNSEEN)
            return places
        indices = pc.index_in(cells, value_set=self.values.cast(cells.type))
        if indices.null_count != cells.null_count:
            raise ValueError(UNSEEN)
        filled: Ints = pc.fill_null(indices.cast(pa.int64()), len(self.values)).to_numpy(zero_copy_only=False)
        return filled

    @cached_property
    def _place_of(self) -> dict[Any, int]:
        return {value: place for place, value in enumerate(self.values.to_pylist())}


UNSEEN = "a column holds a value that the first pass did not see; write the table to a file first"


@dataclass(frozen=True)
class Steps:
    """The step that a number or a time lies on: from one of some values up to the next."""

    starts: NDArray[Any]
    """Increasing; what is below the first lies on the first step."""

    def __len__(self) -> int:
        return len(self.starts)

    def place(self, cells: "pa.Array") -> Ints:
        """The step of each cell; the number of steps if it is missing."""
        cells = normal(cells)
        present = cells.is_valid().to_numpy(zero_copy_only=False)
        places = np.full(len(cells), len(self.starts), np.int64)
        numbers = numbers_of(cells.drop_null())
        places[present] = np.maximum(np.searchsorted(self.starts, numbers, side="right") - 1, 0)
        return places

    def numbered(self, cells: "pa.Array") -> "pa.Array":
        """The steps as an Arrow array."""
        import pyarrow as pa

        places = self.place(cells)
        return pa.array(places, mask=places == len(self.starts))


@dataclass(frozen=True)
class DatePart:
    """The month, the weekday or the hour of a date: their numbers from 0."""

    part: str

    def __len__(self) -> int:
        return 24

    def place(self, cells: "pa.Array") -> Ints:
        """The number of the part; 24 if the date is missing."""
        present = cells.is_valid().to_numpy(zero_copy_only=False)
        places = np.full(len(cells), len(self), np.int64)
        places[present] = part_numbers(_as_times(cells.drop_null()), self.part)
        return places


Places = ByValue | Steps | DatePart


@dataclass(frozen=True)
class Encoder:
    """How the cells of one column of a relation become the codes of one column of a study."""

    source: str
    """The column of the relation that it reads."""
    places: Places
    codes: Ints
    """One for each place, and a last one for missing cells; -1 where there is none."""

    @cached_property
    def n_codes(self) -> int:
        """Codes are below this."""
        return int(self.codes.max(initial=0)) + 1

    def encode(self, batch: "pa.RecordBatch") -> Ints:
        """Codes of the rows of a batch."""
        return self.codes_at(self.places.place(batch.column(self.source)), batch)

    def codes_at(self, places: Ints, batch: "pa.RecordBatch") -> Ints:  # noqa: ARG002
        """Codes of the rows of a batch whose places are known."""
        codes: Ints = self.codes[places]
        if codes.min(initial=0) < 0:
            raise ValueError(UNSEEN)
        return codes


@dataclass(frozen=True)
class UnitEncoder(Encoder):
    """The number of the group that a row belongs to; a row without a group is one of its own, by its own number."""

    last_row: int = -1
    """The highest number of a row without a group."""

    @cached_property
    def n_codes(self) -> int:
        """Codes are below this; not all of them occur."""
        return len(self.places) + self.last_row + 1

    def codes_at(self, places: Ints, batch: "pa.RecordBatch") -> Ints:
        """Numbers of groups."""
        alone = np.flatnonzero(places == len(self.places))
        codes = places.copy()
        if len(alone):
            codes[alone] += batch.column(ROW).to_numpy()[alone]
        return codes


def encode_batch(batch: "pa.RecordBatch", encoders: Sequence[Encoder]) -> list[Ints]:
    """Codes of the rows of a batch, column by column; encoders that share places look only once."""
    known: dict[int, Ints] = {}
    columns = []
    for encoder in encoders:
        key = id(encoder.places)
        if key not in known:
            known[key] = encoder.places.place(batch.column(encoder.source))
        columns.append(encoder.codes_at(known[key], batch))
    return columns


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


def _as_times(cells: "pa.Array") -> NDArray[Any]:
    """Dates and times, or days written as whole numbers, as numpy's, in the time of their zone."""
    import pyarrow as pa
    import pyarrow.compute as pc

    if pa.types.is_integer(cells.type):
        return days_of_numbers(cells.to_numpy())
    if pa.types.is_timestamp(cells.type) and cells.type.tz is not None:
        cells = pc.local_timestamp(cells)
    return np.asarray(cells.cast(pa.timestamp("us"), safe=False).to_numpy(zero_copy_only=False)).astype("M8[us]")
