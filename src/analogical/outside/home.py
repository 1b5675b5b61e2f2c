"""Rows of a lazy frame come home: they are read one column at a time, and only their codes stay.

A table that is not already a file or in memory is written to a temporary Parquet file first, so that its library reads
every row once. Columns become codes by memory's code, or where there are millions of rows by the same code on the
distinct values.
"""

import shutil
import tempfile
from collections.abc import Collection, Hashable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

import narwhals.stable.v2 as nw
import numpy as np

from analogical._checks import brief
from analogical._types import Note, code_type
from analogical.columns.columns import MISSING, Column
from analogical.columns.frames import Frame, encode_series
from analogical.errors import InputError, MissingDependencyError
from analogical.outside.lazy import LazyTable, ask

if TYPE_CHECKING:
    import polars as pl

__all__ = ["MANY", "HomeFrame", "identifier", "rows_at_home", "table_changed"]

FEW_CELLS = 4_000_000
"""A table with at most this many cells is collected instead of written to a file."""
MANY = 100_000
"""Distinct texts of a column beyond which it is an identifier; and distinct numbers in the first million rows that are
looked at, beyond which quantiles of a sample stand for all of them."""
N_STEPS = 10_000
"""These quantiles, so that edges of bins are within .01 % of the rows or a little more."""


class HomeFrame(Frame):
    """The columns of a table that came home, encoded when they are asked for."""

    def __init__(self, table: LazyTable, rows: "pl.LazyFrame | None", here: Any, exact: Collection[Any]) -> None:
        self.table, self.keys, self.rows, self.here = table, table.keys, rows, here
        """The rows are collected (``here``), or many and in a file."""
        self.backend = "polars"
        self.exact = exact
        """Columns that are encoded exactly, whatever they hold: those with a role, and those that the user named."""
        self.steps: dict[Hashable, None] = {}
        """Columns of numbers of which only quantiles were encoded."""
        self.many_texts: dict[Hashable, None] = {}
        """Columns that were set aside because of their many texts."""
        self.n_rows = 0

    def __getitem__(self, position: int) -> Column:
        """A column as codes."""
        name, what = f"c{position}", f"column {brief(self.keys[position])}"
        self.table.refuse_nested(position)
        if self.rows is None:
            series = nw.from_native(self.here[name], series_only=True)
            is_duration = name in self.table.durations
            return encode_series(series.cast(nw.Duration("us")) if is_duration else series, what)
        column = self._encode_many(position, self.rows.select(name), what)
        if column.known_sizes is not None:
            return column
        n_codes = len(column.values)
        kind = np.min_scalar_type(-max(n_codes, 1)) if column.n_missing else code_type(n_codes)
        return replace(column, codes=column.codes.astype(kind, copy=False))

    def _encode_many(self, position: int, cells: "pl.LazyFrame", what: str) -> Column:
        """A column of many rows, from its distinct values."""
        import polars as pl

        key, name = self.keys[position], f"c{position}"
        is_exact = key in self.exact
        dtype = cells.collect_schema()[name]
        parts = [cells.slice(start, 5 * MANY // 2) for start in np.linspace(0, self.n_rows, 4, dtype=int).tolist()]
        has_many = not is_exact and pl.concat(parts).collect(engine="streaming")[name].n_unique() > MANY
        if dtype == pl.String and not has_many:
            first = parts[0].drop_nulls().unique(maintain_order=True)
            for distinct in (first, cells.drop_nulls().unique(maintain_order=True)):  # most texts occur early
                texts = distinct.collect(engine="streaming")[name]
                has_many = not is_exact and len(texts) > MANY
                place = pl.col(name).cast(pl.Enum(texts), strict=False).to_physical()
                place = pl.when(pl.col(name).is_null()).then(len(texts)).otherwise(place)
                found = None if has_many else cells.select(place).collect(engine="streaming").to_series()
                if found is not None and not found.null_count():
                    return _with_missing(Column(found.to_numpy(), texts.to_list()))
        if dtype == pl.String and has_many:
            self.many_texts[key] = None
            return identifier(self.n_rows)
        series = cells.collect(engine="streaming")[name]
        if name in self.table.durations:
            series = series.cast(pl.Duration("us"))
        if dtype.is_float():
            series = series.fill_nan(None)
        is_number = dtype.is_numeric() or dtype.is_temporal()
        if not is_number or dtype.is_decimal() or (dtype.is_integer() and not series.null_count() and not has_many):
            return encode_series(nw.from_native(series, series_only=True), what)
        if not has_many or (dtype.is_integer() and series.n_unique() >= 0.9 * self.n_rows):
            known = series.drop_nulls().unique()
        else:
            self.steps[key] = None
            present = series.drop_nulls()
            some = present.gather(np.random.default_rng(0).integers(0, len(present), 100 * N_STEPS)).sort()
            known = some.gather_every(100).unique()
        known = known.sort()
        values = encode_series(nw.from_native(known, series_only=True), what)
        codes = np.empty(self.n_rows, np.uint32)
        for start in range(0, self.n_rows, 2**20):
            part = slice(start, start + 2**20)
            above = known.search_sorted(series[part].fill_null(known[-1] if len(known) else None), side="right")
            codes[part] = np.maximum(above.to_numpy().astype(np.int64) - 1, 0)
            codes[part][series[part].is_null().to_numpy()] = len(known)
        return _with_missing(replace(values, codes=codes))

    def without_rows(self) -> "HomeFrame":
        """The same without its rows, which are not needed after they were encoded."""
        return HomeFrame(self.table, None, None, self.exact)

    def whole_numbers(self, chosen: Sequence[int]) -> None:
        """None: columns are encoded one by one."""

    def row_names(self, positions: Sequence[int]) -> list[Hashable]:
        """The positions themselves."""
        return list(positions)

    @property
    def index(self) -> None:
        """None: rows have no names."""

    @property
    def notes(self) -> tuple[Note, ...]:
        """What was done because there are many rows."""
        kinds = (("edges-of-sample", self.steps), ("many-texts", self.many_texts))
        return tuple(Note(kind, tuple(map(str, keys))) for kind, keys in kinds if keys)


def _with_missing(column: Column) -> Column:
    """A column whose missing cells have the code after all others."""
    n_values = len(column.values)
    is_missing = column.codes == n_values
    if not is_missing.any():
        return column
    codes = column.codes.astype(np.min_scalar_type(-max(n_values, 1)))
    codes[is_missing] = MISSING
    return replace(column, codes=codes)


def identifier(n_rows: int) -> Column:
    """A column that is set aside as if it were distinct in every row; its cells were not read."""
    return Column(np.zeros(0, np.uint8), range(n_rows), known_sizes=np.broadcast_to(np.int64(1), n_rows))


@contextmanager
def rows_at_home(table: LazyTable, names: Sequence[str], n_rows: int, exact: Collection[Any]) -> Iterator[HomeFrame]:
    """The table as columns in this process, whose rows do not change while they are read.

    Yields
    ------
    HomeFrame
        What memory's code encodes. Files that were written for it are removed at the end of the block.
    """
    chosen = table.with_frame(table.frame.select(*names))
    is_few, folder = n_rows * len(names) <= FEW_CELLS, None
    try:
        if is_few:
            frame = chosen.frame
            here = ask(
                table.engine,
                lambda: frame.collect("polars") if table.engine == "polars" else frame.collect("pyarrow"),
                "reading the rows",
            ).to_native()
            home = HomeFrame(table, None, here, exact)
            home.n_rows = len(here)
        else:
            try:
                import polars as pl
            except ModuleNotFoundError:
                raise MissingDependencyError(
                    "Large tables are read with polars, which is not installed: pip install polars"
                ) from None
            if table.is_plain:
                rows: pl.LazyFrame = chosen.frame.to_native()
            else:
                folder = tempfile.mkdtemp(prefix="analogical-")
                chosen.write(Path(folder))
                rows = pl.scan_parquet(f"{folder}/**/*.parquet")
            home = HomeFrame(table, rows, None, exact)
            home.n_rows = int(rows.select(pl.len()).collect().item())
        if home.n_rows != n_rows:
            raise table_changed()
        yield home
    finally:
        if folder is not None:
            shutil.rmtree(folder, ignore_errors=True)


def table_changed() -> InputError:
    """The error for a table that is not the same when it is read again."""
    return InputError("The table changed while it was read; give a table that stays as it is, such as a copy of it.")
