"""Rows of a lazy frame come home: they are read one column at a time, and only their codes stay.

A table that is not already a file or in memory is written to a temporary Parquet file first, so that its library reads
every row once. Columns become codes by memory's code, but for texts and for very many numbers.
"""

import tempfile
from collections.abc import Callable, Collection, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import replace
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Any

import narwhals.stable.v2 as nw
import numpy as np

from analogical._checks import brief
from analogical._types import Note, NoteKind
from analogical.columns.columns import CHUNK_ROWS, MISSING, Column
from analogical.columns.frames import Frame, encode_series
from analogical.errors import MissingDependencyError
from analogical.outside.lazy import LazyTable, table_changed

if TYPE_CHECKING:
    import polars as pl

__all__ = ["MANY", "HomeFrame", "identifier", "rows_at_home"]

FEW_CELLS = 4_000_000
"""A table with at most this many cells is collected instead of written to a file."""
MANY = 100_000
"""Distinct texts of a column beyond which it is an identifier; and distinct numbers among the rows that are looked at,
beyond which those of a sample of a million rows, 10,000 of them, stand for all."""


class HomeFrame(Frame):
    """The columns of a table that came home, each encoded when it is asked for."""

    backend, index = "polars", None

    def __init__(self, keys: Sequence[str], n_rows: int, column: Callable[[int], Column] | None = None) -> None:
        self.keys, self.n_rows, self.column = tuple(keys), n_rows, column
        """``column`` encodes the column at a position; None after all were."""
        self.noted: dict[NoteKind, dict[str, None]] = {"edges-of-sample": {}, "many-texts": {}}
        """What was done because there are many values, and to which columns."""

    def __getitem__(self, position: int) -> Any:
        """A column as codes."""
        return None if self.column is None else self.column(position)

    def whole_numbers(self, chosen: Sequence[int]) -> None:
        """None: columns are encoded one by one."""

    @property
    def notes(self) -> tuple[Note, ...]:
        """What was done because there are many values."""
        return tuple(Note(kind, tuple(keys)) for kind, keys in self.noted.items() if keys)


@contextmanager
def rows_at_home(table: LazyTable, names: Sequence[str], n_rows: int, exact: Collection[Any]) -> Iterator[HomeFrame]:
    """The table as columns in this process, whose rows do not change while they are read.

    ``exact`` are columns that are encoded exactly, whatever they hold: those with a role, and those that the user named.

    Yields
    ------
    HomeFrame
        What memory's code encodes. Files that were written for it are removed at the end of the block.
    """
    chosen, home = table.with_frame(table.frame.select(*names)), HomeFrame(table.keys, n_rows)
    if n_rows * len(names) <= FEW_CELLS:
        here = table.collect(chosen.frame, "reading the rows")
        if len(here) != n_rows:
            raise table_changed()
        home.column = lambda position: encode_series(here[f"c{position}"], f"column {brief(table.keys[position])}")
        yield home
        return
    try:
        import polars as pl
    except ModuleNotFoundError:
        raise MissingDependencyError(
            "Large tables are read with polars, which is not installed: pip install polars"
        ) from None
    with tempfile.TemporaryDirectory(prefix="analogical-", ignore_cleanup_errors=True) as folder:
        if not table.is_plain:
            chosen.write(Path(folder))
        rows: Any = chosen.frame.to_native() if table.is_plain else pl.scan_parquet(f"{folder}/**/*.parquet")
        if rows.select(pl.len()).collect().item() != n_rows:
            raise table_changed()
        home.column = partial(_encode_many, home, rows, exact)
        yield home


def _encode_many(home: HomeFrame, rows: "pl.LazyFrame", exact: Collection[Any], position: int) -> Column:
    """A column of many rows."""
    import polars as pl

    key, name = home.keys[position], f"c{position}"
    cells, starts = rows.select(name), range(0, home.n_rows, home.n_rows // 4 + 1)
    looked_at = pl.concat([cells.slice(start, 5 * MANY // 2) for start in starts]).collect(engine="streaming")[name]
    has_many = key not in exact and looked_at.n_unique() > MANY
    if looked_at.dtype == pl.String:
        texts = [] if has_many else cells.drop_nulls().unique(maintain_order=True).collect(engine="streaming")[name]
        if has_many or (len(texts) > MANY and key not in exact):
            home.noted["many-texts"][key] = None
            return identifier(home.n_rows)
        place = pl.col(name).cast(pl.Enum(texts)).to_physical().cast(pl.Int32).fill_null(MISSING)
        return Column(cells.select(place).collect(engine="streaming")[name].to_numpy(), list(texts))
    series = cells.collect(engine="streaming")[name]
    if not has_many or not (series.dtype.is_numeric() or series.dtype.is_temporal()):
        return encode_series(nw.from_native(series, series_only=True), f"column {brief(key)}")
    series = series.fill_nan(None) if series.dtype.is_float() else series
    known = series.drop_nulls()
    if not series.dtype.is_integer() or series.n_unique() < 0.9 * home.n_rows:  # not numbers of rows, which are ids
        home.noted["edges-of-sample"][key] = None
        known = known.gather(np.random.default_rng(0).integers(0, len(known), 10 * MANY)).sort().gather_every(100)
    known, codes = known.unique().sort(), np.empty(home.n_rows, np.int32)
    for start in range(0, home.n_rows, CHUNK_ROWS):
        part = series[start : start + CHUNK_ROWS]
        above = known.search_sorted(part.fill_null(known[0]), side="right").to_numpy().astype(np.int32)
        codes[start : start + CHUNK_ROWS] = np.where(part.is_null(), MISSING, np.maximum(above - 1, 0))
    return replace(encode_series(nw.from_native(known, series_only=True), f"column {brief(key)}"), codes=codes)


def identifier(n_rows: int) -> Column:
    """A column that is set aside as if it were distinct in every row; its cells were not read."""
    return Column(np.zeros(0, np.uint8), range(n_rows), known_sizes=np.broadcast_to(np.int64(1), n_rows))
