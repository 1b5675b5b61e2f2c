"""Tables too large to be held: columns that are read batch by batch, as often as needed, straight into narrow codes.

A column is encoded with the values seen so far. While these are few, each batch becomes codes of one or two bytes at
once. Numbers and times with very many values are gathered and sorted; texts with very many values are dealt with in
parts, by their hashes, so that only a part of them is held at a time. Everything is exact: hashes only say which part.
"""

from collections.abc import Callable, Hashable, Iterable, Iterator, Sequence
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from analogical._progress import Progress
from analogical._types import Bools, Positions
from analogical.table.columns import MISSING, Column, encode_objects

if TYPE_CHECKING:
    import polars as pl

__all__ = ["BatchColumn", "BatchTable", "DictionaryColumn", "HeldColumn", "TextCodes"]

FEW = 2**16
"""Values up to which a column is encoded with the values seen so far."""
PART = 2**21
"""Rows of a column of many texts that are looked at together."""
CHUNK = 2**20
"""Rows whose codes are found together."""


@dataclass(frozen=True)
class BatchColumn:
    """One column, read in batches."""

    name: str
    dtype: Any
    """Of polars."""
    n_rows: int
    batches: Callable[[], Iterator["pl.Series"]]
    """Reads the column, from the first row to the last; may be called again."""

    def __len__(self) -> int:
        return self.n_rows

    def __getitem__(self, row: int) -> Any:
        """One cell."""
        for batch in self.batches():
            if row < len(batch):
                return batch[row]
            row -= len(batch)
        raise IndexError(row)

    def __array__(self, dtype: Any = None, copy: bool | None = None) -> NDArray[Any]:
        return np.asarray(self.collect().to_numpy(), dtype)

    def collect(self) -> "pl.Series":
        """The column as a whole."""
        import polars as pl

        return pl.concat(list(self.batches())).alias(self.name)

    def encode(self, what: str) -> Column:
        """Codes of the column, as if it had been read as a whole."""
        import polars as pl

        from analogical.table.frames import as_series, encode_series

        kind = encode_series(as_series(pl.Series([None], dtype=self.dtype)), what).kind  # refuses what has no values
        if self.dtype in (pl.String, pl.Categorical):
            return replace(_encode_texts(self), kind=kind)
        if self.dtype == pl.Null:
            return Column(np.full(self.n_rows, MISSING, np.int8), [], kind)
        if not (self.dtype.is_temporal() or self.dtype.is_float() or _is_small_whole(self.dtype)):
            return replace(encode_series(as_series(self.collect()), what), kind=kind)
        return replace(_encode_numbers(self), kind=kind, is_sorted=kind != "category")


def _is_small_whole(dtype: Any) -> bool:
    """Whether values are whole numbers of at most 64 bits, or numbered values."""
    import polars as pl

    return dtype in (pl.Boolean, pl.Enum) or (
        dtype.is_integer() and not str(dtype).endswith("Int128")
    )  # polars 1.20 has no UInt128


@dataclass(frozen=True)
class DictionaryColumn(BatchColumn):
    """A column that is held as codes of its different cells."""

    codes: Callable[[], NDArray[Any]]
    """Reads the codes: MISSING, or a place among the cells."""
    cells: "pl.Series"

    @classmethod
    def of(cls, read: Callable[[], NDArray[Any]], n_rows: int, cells: "pl.Series") -> "DictionaryColumn":
        """From codes and what they stand for."""

        def batches() -> Iterator["pl.Series"]:
            import polars as pl

            codes = read()
            for start in range(0, len(codes), CHUNK):
                part = pl.Series(codes[start : start + CHUNK])
                yield cells.gather(part.set(part < 0, None).cast(pl.UInt32)).alias(cells.name)

        return cls(cells.name, cells.dtype, n_rows, batches, read, cells)

    def encode(self, what: str) -> Column:
        """Codes of the column: several of its cells may have the same value, such as 1 and 1.0."""
        from analogical.table.frames import as_series, encode_series

        if not len(self.cells):
            return super().encode(what)
        found = encode_series(as_series(self.cells), what)
        table = np.append(found.codes, MISSING).astype(_signed(len(found.values)))
        return replace(found, codes=Column(self.codes(), ()).recoded(table))


@dataclass(frozen=True)
class HeldColumn(BatchColumn):
    """A column of Python objects that are in memory: no library of dataframes is needed to encode it."""

    cells: Sequence[Any]

    @classmethod
    def of(cls, name: str, cells: Sequence[Any]) -> "HeldColumn":
        """From the name and the cells."""

        def batches() -> Iterator["pl.Series"]:
            import polars as pl

            yield pl.Series(name, cells)

        return cls(name, None, len(cells), batches, cells)

    def __array__(self, dtype: Any = None, copy: bool | None = None) -> NDArray[Any]:
        return np.asarray(self.cells, dtype)

    def encode(self, what: str) -> Column:
        """Codes of the column."""
        return encode_objects(self.cells, what)


class BatchTable:
    """A table whose columns are read in batches; it stands for a dataframe."""

    index = None

    def __init__(self, columns: Sequence[BatchColumn], progress: Progress | None = None) -> None:
        self._columns = list(columns)
        self.backend = "polars"
        self.n_rows = len(columns[0]) if columns else 0
        self.progress = progress
        """Told how many of the columns have been read."""

    @property
    def columns(self) -> list[str]:
        """Names of the columns."""
        return [column.name for column in self._columns]

    keys = columns

    @property
    def width(self) -> int:
        """Number of columns."""
        return len(self._columns)

    def __len__(self) -> int:
        return len(self._columns)

    def __getitem__(self, position: int) -> BatchColumn:
        return self._columns[position]

    def column(self, name: str) -> BatchColumn:
        """A column by its name."""
        return self._columns[self.columns.index(name)]

    def drop(self, names: str | Iterable[str]) -> "BatchTable":
        """The table without some columns."""
        left_out = {names} if isinstance(names, str) else set(names)
        return BatchTable([column for column in self._columns if column.name not in left_out], self.progress)

    def collect(self) -> "pl.DataFrame":
        """All columns as a dataframe in memory."""
        import polars as pl

        return pl.DataFrame([column.collect() for column in self._columns])

    def whole_numbers(self, chosen: Sequence[int]) -> None:
        """Nothing: columns are never held side by side."""

    def row_names(self, positions: Sequence[int]) -> list[Hashable]:
        """The positions themselves."""
        return list(positions)


class _Codes:
    """Codes of one column, row after row, in the narrowest signed type that holds all of them and MISSING."""

    def __init__(self, n_rows: int) -> None:
        self.array: NDArray[Any] = np.empty(n_rows, np.int8)
        self._n_added = 0

    def so_far(self) -> NDArray[Any]:
        """The rows that were added."""
        return self.array if self._n_added == len(self.array) else self.array[: self._n_added]

    def add(self, codes: NDArray[Any], n_values: int) -> None:
        """The codes of the next rows; there may be more rows than expected."""
        kind = max(_signed(n_values), self.array.dtype, key=lambda kind: kind.itemsize)
        n_needed = self._n_added + len(codes)
        if kind != self.array.dtype or n_needed > len(self.array):
            n_rows = len(self.array) if n_needed <= len(self.array) else n_needed + n_needed // 4
            other = np.empty(n_rows, kind)
            other[: self._n_added] = self.array[: self._n_added]
            self.array = other
        self.array[self._n_added : self._n_added + len(codes)] = codes
        self._n_added += len(codes)

    def renumber(self, new: NDArray[Any]) -> None:
        """Give every code another number, missing cells their own."""
        table = np.append(new, MISSING).astype(self.array.dtype)
        for start in range(0, len(self.array), CHUNK):
            part = self.array[start : start + CHUNK]
            part[:] = table[part]


def _signed(n_values: int) -> np.dtype[Any]:
    """The narrowest type for so many codes and MISSING."""
    return np.dtype(np.int8 if n_values <= 2**7 else np.int16 if n_values <= 2**15 else np.int32)


# ---------------------------------------------------------------- texts


class TextCodes:
    """Codes of texts that come in batches, numbered in the order in which they occur first."""

    def __init__(self, n_rows: int) -> None:
        self.known: list[str] = []
        self._codes = _Codes(n_rows)

    def add(self, cells: "pl.Series") -> bool:
        """Take the next texts in; nothing is done, and the answer is no, if there are too many different ones."""
        import polars as pl

        found = cells.cast(pl.Enum(self.known), strict=False)
        if found.null_count() > cells.null_count():
            fresh = cells.filter(found.is_null()).drop_nulls().unique(maintain_order=True).to_list()
            if len(self.known) + len(fresh) > FEW:
                return False
            self.known += fresh
            found = cells.cast(pl.Enum(self.known))
        numbers = found.to_physical().cast(pl.Int32)
        self._codes.add(numbers.fill_null(MISSING).to_numpy(), len(self.known))
        return True

    @property
    def codes(self) -> NDArray[Any]:
        """Of the rows so far."""
        return self._codes.so_far()


def _encode_texts(column: BatchColumn) -> Column:
    """Texts in the order in which they occur first."""
    import polars as pl

    texts = TextCodes(column.n_rows)
    for batch in column.batches():
        if not texts.add(batch.cast(pl.String)):
            return _encode_many_texts(column)
    return Column(texts.codes, texts.known)


def _encode_many_texts(column: BatchColumn) -> Column:
    """The same for very many texts: those whose hashes leave the same rest, one rest after the other."""
    import polars as pl

    n_parts = -(-column.n_rows // PART)
    codes = np.full(column.n_rows, MISSING, np.int32)
    firsts: list[Positions] = []
    n_values = 0
    for part in range(n_parts):
        rows, cells, place = [], [], 0
        for batch in column.batches():
            texts = batch.cast(pl.String)
            chosen = np.flatnonzero((texts.hash(0) % n_parts == part) & texts.is_not_null())
            rows.append(chosen + place)
            cells.append(texts.gather(chosen))
            place += len(batch)
        row_of = np.concatenate(rows)
        together = pl.concat(cells)
        del rows, cells
        number = (together.rank("dense") - 1).to_numpy().astype(np.int64)
        n_here = int(number.max(initial=-1)) + 1
        first = np.empty(n_here, np.int64)
        first[number[::-1]] = row_of[::-1]
        codes[row_of] = number + n_values
        firsts.append(first)
        n_values += n_here
    first_rows = np.concatenate(firsts)
    is_first = np.zeros(column.n_rows, np.bool_)
    is_first[first_rows] = True
    order = np.cumsum(is_first, dtype=np.int32)[first_rows] - 1
    table = np.append(order, np.int32(MISSING))
    for start in range(0, len(codes), CHUNK):
        codes[start : start + CHUNK] = table[codes[start : start + CHUNK]]
    return Column(codes, _TextsAt(column, np.flatnonzero(is_first)))


class _TextsAt(Sequence[str]):
    """Texts of a column in some rows, read when they are asked for: those of an id never are."""

    def __init__(self, column: BatchColumn, rows: Positions) -> None:
        self._column = column
        self._rows = rows
        self._texts: list[str] | None = None

    def __len__(self) -> int:
        return len(self._rows)

    def gather(self, places: Positions) -> "_TextsAt":
        """Some of them."""
        return _TextsAt(self._column, self._rows[places])

    def __getitem__(self, place: Any) -> Any:
        if self._texts is None:
            self._texts = []
            start = 0
            for batch in self._column.batches():
                low, high = np.searchsorted(self._rows, (start, start + len(batch)))
                self._texts += batch.gather(self._rows[low:high] - start).to_list()
                start += len(batch)
        return self._texts[place]


# ---------------------------------------------------------------- numbers, times and numbered values


def _encode_numbers(column: BatchColumn) -> Column:
    """Numbers in increasing order."""
    known: NDArray[Any] | None = None
    code_of: NDArray[Any] = np.zeros(0, np.int32)
    codes = _Codes(column.n_rows)
    for batch in column.batches():
        cells, gaps = _as_numbers(batch)
        known = cells[:0] if known is None else known
        places = _places(known, cells)
        is_new = ~gaps if not len(known) else ~gaps & (known[np.minimum(places, len(known) - 1)] != cells)
        if is_new.any():
            fresh = _distinct(cells[is_new])
            if len(known) + len(fresh) > FEW:
                return _encode_many_numbers(column)
            at = np.searchsorted(known, fresh)
            code_of = np.insert(code_of, at, np.arange(len(known), len(known) + len(fresh), dtype=np.int32))
            known = np.insert(known, at, fresh)
            places = _places(known, cells)
        found = np.append(code_of, MISSING)[np.where(gaps, len(known), np.minimum(places, len(known)))]
        codes.add(found, len(known))
    order = np.empty(len(code_of), np.int32)
    order[code_of] = np.arange(len(code_of))
    codes.renumber(order)
    return Column(codes.array, list(_meant(known, column.dtype)))


def _encode_many_numbers(column: BatchColumn) -> Column:
    """The same for very many numbers, which are sorted together."""
    cells: NDArray[Any] | None = None
    gaps = np.zeros(column.n_rows, np.bool_)
    place = 0
    for batch in column.batches():
        part, its_gaps = _as_numbers(batch)
        cells = np.empty(column.n_rows, part.dtype) if cells is None else cells
        cells[place : place + len(part)] = part
        gaps[place : place + len(part)] = its_gaps
        place += len(part)
    if cells is None:
        raise AssertionError("there are many numbers")
    values = _distinct(cells[~gaps] if gaps.any() else cells.copy())
    codes = np.empty(column.n_rows, np.int32)
    for start in range(0, len(codes), CHUNK):
        chunk = slice(start, start + CHUNK)
        order = np.argsort(cells[chunk])  # neighbours are then found near each other
        codes[start + order] = np.searchsorted(values, cells[chunk][order])
    codes[gaps] = MISSING
    return Column(codes, _meant(values, column.dtype))


def _as_numbers(batch: "pl.Series") -> tuple[NDArray[Any], Bools]:
    """Cells as numbers of numpy, and which are missing."""
    import polars as pl

    if batch.dtype.is_float():
        batch = batch.fill_nan(None)
    numbers = batch.cast(pl.UInt8) if batch.dtype == pl.Boolean else batch.to_physical()
    gaps = numbers.is_null().to_numpy()
    return numbers.fill_null(0).to_numpy(), gaps


def _places(known: NDArray[Any], cells: NDArray[Any]) -> Positions:
    return np.searchsorted(known, cells)


def _distinct(cells: NDArray[Any]) -> NDArray[Any]:
    """Different values, increasing; of 0.0 and -0.0, which are equal, the first. Sorts the cells in place."""
    zeros = np.flatnonzero(cells == 0)[:1] if cells.dtype.kind == "f" else np.zeros(0, np.intp)
    zero = cells[zeros].copy()
    cells.sort()
    is_first = np.ones(len(cells), np.bool_)
    np.not_equal(cells[1:], cells[:-1], out=is_first[1:])
    values: NDArray[Any] = cells if is_first.all() else cells[is_first]
    if len(zero):
        values[values == 0] = zero
    return values


def _meant(values: NDArray[Any] | None, dtype: Any) -> Sequence[Any]:
    """What numbers stand for: as a list where they are few."""
    import polars as pl

    if values is None:
        return []
    if dtype == pl.Enum:
        names = dtype.categories
        return [names[int(value)] for value in values]
    if dtype == pl.Boolean:
        return [bool(value) for value in values]
    found: Any = pl.Series(values).cast(dtype) if dtype.is_temporal() else values
    return list(found.to_list() if dtype.is_temporal() else found.tolist()) if len(values) <= FEW else found
