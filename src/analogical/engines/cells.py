"""The codes of cells in Arrow batches: by a list of values, by where bins begin, or by month, weekday or hour.

The executors of Spark import this file; it needs only NumPy and PyArrow.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from analogical._types import Ints
from analogical.columns.dates import days_of_numbers, part_numbers
from analogical.engines.relation import ROW
from analogical.engines.values import normal
from analogical.errors import InputError

if TYPE_CHECKING:
    import pyarrow as pa

__all__ = [
    "ByValue",
    "DatePart",
    "Encoder",
    "Places",
    "Steps",
    "UnitEncoder",
    "encode_batch",
    "numbers_of",
    "table_changed",
]


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

        coded = normal(cells).dictionary_encode()
        known = [self._place_of.get(value, -1) for value in coded.dictionary.to_pylist()]
        if -1 in known:
            raise table_changed()
        of_entry = np.array([*known, len(self.values)], dtype=np.int64)
        places: Ints = of_entry[pc.fill_null(coded.indices.cast(pa.int64()), -1).to_numpy(zero_copy_only=False)]
        return places

    @cached_property
    def _place_of(self) -> dict[Any, int]:
        return {value: place for place, value in enumerate(self.values.to_pylist())}


def table_changed() -> InputError:
    """The error for a table of which two passes saw different rows."""
    return InputError(
        "The table changed while it was read, or its file is damaged: its columns hold other values than before. Write"
        " it to a file again, or keep it (df.cache()), and use that."
    )


@dataclass(frozen=True)
class Steps:
    """The place of a number or a time among intervals, each from its start up to the next one."""

    starts: NDArray[Any]
    """In increasing order; what is below the first start belongs to the first interval."""

    def __len__(self) -> int:
        return len(self.starts)

    def place(self, cells: "pa.Array") -> Ints:
        """The interval of each cell; the number of intervals if it is missing."""
        cells = normal(cells)
        present = cells.is_valid().to_numpy(zero_copy_only=False)
        places = np.full(len(cells), len(self.starts), np.int64)
        numbers = numbers_of(cells.drop_null())
        places[present] = np.maximum(np.searchsorted(self.starts, numbers, side="right") - 1, 0)
        return places

    def numbered(self, cells: "pa.Array") -> "pa.Array":
        """The intervals as an Arrow array, with nulls."""
        import pyarrow as pa

        places = self.place(cells)
        return pa.array(places, mask=places == len(self.starts))


@dataclass(frozen=True)
class DatePart:
    """The month, the weekday or the hour of a date, as a number from 0."""

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
    """The code of each place, and last of missing cells; -1 for what does not occur."""
    sizes: Ints
    """Rows of each code, counted with their weights when the table was looked at; empty for units."""

    def merged(self, code_of: Ints) -> "Encoder":
        """The encoder with fewer codes; ``code_of`` has one for each of the present codes."""
        codes = np.where(self.codes < 0, -1, code_of[self.codes])
        return Encoder(self.source, self.places, codes, np.bincount(code_of, self.sizes).astype(np.int64))

    @cached_property
    def n_codes(self) -> int:
        """Number of codes."""
        return int(self.codes.max(initial=0)) + 1

    def encode(self, batch: "pa.RecordBatch") -> Ints:
        """Codes of the rows of a batch."""
        return self.codes_at(self.places.place(batch.column(self.source)), batch)

    def codes_at(self, places: Ints, batch: "pa.RecordBatch") -> Ints:  # noqa: ARG002
        """Codes of the rows of a batch, from their places."""
        codes: Ints = self.codes[places]
        if codes.min(initial=0) < 0:
            raise table_changed()
        return codes


@dataclass(frozen=True)
class UnitEncoder(Encoder):
    """The group of each row as a number; a row without a group is one of its own, numbered by its row."""

    last_row: int = -1
    """The last row without a group; -1 if all rows have one."""

    @cached_property
    def n_codes(self) -> int:
        """Number of codes, of which not all occur."""
        return len(self.places) + self.last_row + 1

    def codes_at(self, places: Ints, batch: "pa.RecordBatch") -> Ints:
        """Groups of the rows of a batch."""
        alone = np.flatnonzero(places == len(self.places))
        codes = places.copy()
        if len(alone):
            codes[alone] += batch.column(ROW).to_numpy()[alone]
        return codes


def encode_batch(batch: "pa.RecordBatch", encoders: Sequence[Encoder]) -> list[Ints]:
    """Codes of the rows of a batch, column by column; places that encoders share are found once."""
    known: dict[int, Ints] = {}
    columns = []
    for encoder in encoders:
        key = id(encoder.places)
        if key not in known:
            known[key] = encoder.places.place(batch.column(encoder.source))
        columns.append(encoder.codes_at(known[key], batch))
    return columns


def numbers_of(cells: "pa.Array") -> NDArray[Any]:
    """Numbers as they are, times as whole numbers, decimals as floats."""
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
    """Dates and times, or days such as 20240131, as NumPy times in their time zone."""
    import pyarrow as pa
    import pyarrow.compute as pc

    if pa.types.is_integer(cells.type):
        return days_of_numbers(cells.to_numpy())
    if pa.types.is_timestamp(cells.type) and cells.type.tz is not None:
        cells = pc.local_timestamp(cells)
    return np.asarray(cells.cast(pa.timestamp("us"), safe=False).to_numpy(zero_copy_only=False)).astype("M8[us]")
