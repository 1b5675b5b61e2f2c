"""The user's table as columns: dataframes of every library, arrays, sparse matrices and lists of rows.

narwhals is used in this file only, and imported when a dataframe is read or built.
"""

from collections import Counter
from collections.abc import Hashable, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any, TypeAlias, cast

import numpy as np
from numpy.typing import NDArray

from analogical._checks import brief, listing
from analogical._types import Note
from analogical.columns.columns import (
    MISSING,
    Column,
    Kind,
    code_type,
    compact,
    encode_array,
    encode_objects,
    plain,
)
from analogical.errors import InputError, MissingDependencyError

if TYPE_CHECKING:
    import narwhals.stable.v2 as nw


ENGINES = {"polars": "Polars", "duckdb": "DuckDB", "pyspark": "Spark", "ibis": "Ibis", "sqlframe": "SQLFrame"}
"""Libraries whose lazy frames are read by ``outside/``, by their package."""
FAR_DATES = (
    "The {what} has dates outside of the years 1 to 9999, or durations of more than 999,999,999 days; leave the column"
    " out, or make them missing."
)


@dataclass(frozen=True)
class PlainColumns:
    """The columns of an array, a sparse matrix or a list of rows, or with their names those of a built-in table."""

    cells: Sequence[Any]
    n_rows: int
    keys: tuple[Hashable, ...]
    matrix: NDArray[Any] | None = None
    """The whole table, if it is a numpy array of whole numbers or booleans, which is encoded at once."""
    backend: str | None = None
    """The library of dataframes of results, if the columns have names of their own."""
    index = None
    notes = ()

    def __getitem__(self, position: int) -> Any:
        return self.cells[position]

    def whole_numbers(self, chosen: Sequence[int]) -> NDArray[Any] | None:
        """The chosen columns as one array, if all hold whole numbers or booleans without a missing cell."""
        if self.matrix is None:
            return None
        return self.matrix if len(chosen) == len(self.keys) else self.matrix[:, list(chosen)]

    def row_names(self, positions: Sequence[int]) -> list[Hashable]:
        """The positions themselves."""
        return list(positions)


class Frame:
    """A dataframe of any library: its columns, their names, and the names of its rows."""

    def __init__(self, frame: "nw.DataFrame[Any]", notes: tuple[Note, ...]) -> None:
        self._frame = frame
        self.keys: tuple[Hashable, ...] = tuple(frame.columns)
        self.n_rows = len(frame)
        self.backend = str(frame.implementation.value)
        self._notes = notes
        self.schema = list(frame.schema.values())

    @property
    def notes(self) -> tuple[Note, ...]:
        """What was done to the dataframe."""
        return self._notes

    def __getitem__(self, position: int) -> Any:
        """A column, as a series of narwhals."""
        return self._frame[:, position]

    def whole_numbers(self, chosen: Sequence[int]) -> NDArray[Any] | None:
        """Chosen columns as one array, if all hold whole numbers of at most 64 bits and no cell is missing."""
        if len(chosen) < 2 or not all(_fits_numpy(self.schema[p]) for p in chosen) or not self.n_rows:
            return None
        part = self._frame if len(chosen) == len(self.keys) else self._frame[:, list(chosen)]
        array = part.to_numpy()  # floats or objects, if a cell is missing
        return array if array.dtype.kind in "iu" else None

    def row_names(self, positions: Sequence[int]) -> list[Hashable]:
        """Index labels of rows, if the dataframe has a unique index; otherwise their positions."""
        index = self.index
        if index is None or not index.is_unique:
            return list(positions)
        return [plain(name) for name in index.take(positions).tolist()]

    @property
    def index(self) -> Any:
        """The pandas index; None for libraries without one."""
        return _index_of(self._frame.to_native())


Table: TypeAlias = Frame | PlainColumns
"""The user's table: ``keys`` name its columns, ``table[position]`` are cells; ``backend`` is None without names."""


def read_table(X: Any) -> Table:
    """The columns of a dataframe, an array, a sparse matrix or a list of rows; anything else is refused."""
    if isinstance(X, np.ndarray):
        return _read_array(X)
    if type(X).__module__.startswith("scipy.sparse"):  # importing it takes a quarter of a second
        return _read_sparse(X)
    if isinstance(X, PlainColumns | Frame):
        return X
    if isinstance(X, list | tuple):
        return _read_rows(list(X))
    is_table = not isinstance(X, str | bytes | dict | set)
    if is_table and not isinstance(X, memoryview) and (frame := open_frame(X)) is not None:
        refuse_repeated([name_of(key) for key in frame.keys])
        return frame
    if not is_table or not hasattr(X, "__len__"):
        raise InputError(f"X must be a table (dataframe, 2-d array or list of rows), got {type(X).__name__}.")
    is_array = hasattr(X, "__array__") or isinstance(X, memoryview)
    return _read_array(np.asarray(X)) if is_array else _read_rows(list(X))


def _read_array(X: NDArray[Any]) -> PlainColumns:
    """Columns of a numpy array, as views."""
    if X.dtype.names is not None:
        raise InputError(
            "X is a structured array; give a dataframe, such as pandas.DataFrame(X), or the columns as a 2-d array."
        )
    if isinstance(X, np.matrix):
        X = np.asarray(X)
    if X.ndim != 2:
        how = "reshape it with X.reshape(-1, 1) if it is one feature" if X.ndim == 1 else "flatten each row"
        raise InputError(f"X must have two dimensions (rows, features), got {X.ndim}: {how}.")
    if X.dtype.kind in "cV":
        raise InputError(f"X has dtype {X.dtype}, which has no categories; give numbers, strings or objects.")
    n_rows, n_features = X.shape
    keys = tuple(f"x{i}" for i in range(n_features))
    if X.dtype.kind in "iub" and n_rows and n_features and not isinstance(X, np.ma.MaskedArray):
        return PlainColumns([], n_rows, keys, matrix=X)
    return PlainColumns(list(X.T), n_rows, keys)


def _read_sparse(X: Any) -> PlainColumns:
    """Columns of a scipy sparse matrix, made dense one at a time."""
    if X.ndim != 2:
        raise InputError(f"X must have two dimensions (rows, features), got {X.ndim}.")
    columns = X.tocsc(copy=True)
    columns.sum_duplicates()
    n_rows, n_features = columns.shape
    cells = []
    for i in range(n_features):
        part = slice(columns.indptr[i], columns.indptr[i + 1])
        cells.append(_SparseCells(columns.indices[part], columns.data[part], n_rows))
    return PlainColumns(cells, n_rows, tuple(f"x{i}" for i in range(n_features)))


@dataclass(frozen=True)
class _SparseCells:
    """The stored cells of one column of a sparse matrix; all others are 0."""

    rows: NDArray[Any]
    stored: NDArray[Any]
    n_rows: int

    def encode(self, what: str) -> Column:
        """Codes of the column."""
        stored_and_zero = np.append(self.stored, np.zeros(1, self.stored.dtype))
        column = encode_array(stored_and_zero, what)
        codes = np.full(self.n_rows, column.codes[-1], dtype=np.promote_types(code_type(len(column.values)), np.int8))
        codes[self.rows] = column.codes[:-1]
        return replace(compact(codes, column.values), kind=column.kind)


def _read_rows(rows: list[Any]) -> PlainColumns:
    """Columns of a list of rows."""
    rows = [row.tolist() if hasattr(row, "tolist") else row for row in rows]  # arrays and series
    for position, row in enumerate(rows):
        if isinstance(row, str | bytes | dict | set) or not hasattr(row, "__len__"):
            raise InputError(
                "X must have two dimensions: a list of rows, each a list of values;"
                f" row {position} is {brief(row)} ({type(row).__name__})."
            )
        if len(row) != len(rows[0]):
            raise InputError(
                f"X has ragged rows: row 0 has {len(rows[0])} values and row {position} has {len(row)};"
                " give every row the same number of values."
            )
    n_features = len(rows[0]) if rows else 0
    keys = tuple(f"x{i}" for i in range(n_features))
    return PlainColumns(list(zip(*rows, strict=True)), len(rows), keys)


def name_of(key: Hashable) -> str:
    """The name of a column as text; the levels of a pandas MultiIndex are joined."""
    return " / ".join(str(level) for level in key if str(level)) if isinstance(key, tuple) else str(key)


def refuse_repeated(names: Sequence[str]) -> None:
    """Refuse names that occur more than once."""
    repeated = sorted(name for name, times in Counter(names).items() if times > 1)
    if repeated:
        raise InputError(
            f"Column names must differ, but {listing([repr(name) for name in repeated])}"
            f" {'occurs' if len(repeated) == 1 else 'occur'} more than once; rename or drop the repeated columns."
        )


# ---------------------------------------------------------------- dataframes


def _fits_numpy(dtype: Any) -> bool:
    """Whether a type holds whole numbers of at most 64 bits."""
    import narwhals.stable.v2 as nw

    return dtype.is_integer() and dtype not in (nw.Int128, nw.UInt128)


def _index_of(native: Any) -> Any:
    """The index of a pandas object; None for libraries without one."""
    index = getattr(native, "index", None)
    return index if hasattr(index, "take") and hasattr(index, "is_unique") else None


def is_outside(X: Any) -> bool:
    """Whether a table is not in this process, found without importing a library."""
    package = type(X).__module__.partition(".")[0].lstrip("_")
    return type(X).__name__ == "LazyFrame" if package in ("polars", "narwhals") else package in ENGINES


def is_frame(X: Any) -> bool:
    """Whether X is a dataframe of a supported library."""
    import narwhals.stable.v2 as nw

    if isinstance(X, np.ndarray):
        return False
    try:
        return isinstance(nw.from_native(X, pass_through=True), nw.DataFrame | nw.LazyFrame)
    except nw.exceptions.DuplicateError:  # opening the frame names the repeated columns
        open_frame(X)
        return True


def open_frame(X: Any) -> Frame | None:
    """X as a frame, None if it is not a dataframe; a lazy one is collected."""
    import narwhals.stable.v2 as nw

    try:
        if type(X).__name__ == "RecordBatch" and type(X).__module__.startswith("pyarrow"):
            import pyarrow as pa

            X = pa.Table.from_batches([X])
        frame: Any = nw.from_native(X, allow_series=True, pass_through=True)
        if isinstance(frame, nw.Series):
            raise InputError("X is a series, of one dimension; give a dataframe, such as X.to_frame() for one feature.")
        was_lazy = isinstance(frame, nw.LazyFrame)
        if was_lazy:
            try:
                frame = frame.collect()
            except Exception as error:  # any error of the user's library
                reason = (str(error).strip().splitlines() or [type(error).__name__])[0]
                raise InputError(f"X is a lazy frame that cannot be collected: {reason}.") from error
        if not isinstance(frame, nw.DataFrame):
            return None
        return Frame(frame, (Note("collected"),) if was_lazy else ())
    except InputError:
        raise
    except (nw.exceptions.DuplicateError, ValueError):
        names = [name_of(name) for name in getattr(X, "column_names", getattr(X, "columns", ()))]
        refuse_repeated(names)
        raise


def as_series(cells: Any) -> Any:
    """A series, or a dataframe of one column, as a series of narwhals; anything else as it is."""
    import narwhals.stable.v2 as nw

    if isinstance(cells, np.ndarray):
        return cells
    series = nw.from_native(cells, allow_series=True, pass_through=True)
    if isinstance(series, nw.LazyFrame):
        series = series.collect()
    if isinstance(series, nw.DataFrame):
        if len(series.columns) != 1:
            raise InputError(
                f"A dataframe of {len(series.columns)} columns was given where one value per row is needed;"
                " give one of its columns."
            )
        return series[series.columns[0]]
    return series


def is_series(cells: Any) -> bool:
    """Whether cells are a series of narwhals."""
    import narwhals.stable.v2 as nw

    return isinstance(cells, nw.Series)


def align(series: Any, frame: Table) -> tuple[Any, bool | None]:
    """The series in the order of the frame's rows, by their pandas indexes.

    The second value is None if there was nothing to align, True if the series was reordered, and False if the indexes
    name different rows, so that rows are matched by position.
    """
    if not is_series(series):
        return series, None
    ours, theirs = frame.index, _index_of(series.to_native())
    if ours is None or theirs is None or len(ours) != len(theirs) or ours.equals(theirs):
        return series, None
    if ours.is_unique and theirs.is_unique:
        places = theirs.get_indexer(ours)
        if (places >= 0).all():
            return series[places.tolist()], True
    return series, False


def encode_series(series: "nw.Series[Any]", what: str) -> Column:
    """Codes of a column of a dataframe, by the fastest exact method of its library."""
    import narwhals.stable.v2 as nw

    dtype = series.dtype
    if dtype.is_nested() or dtype == nw.Binary:
        raise not_a_value(what, dtype)
    if (_fits_numpy(dtype) or dtype == nw.Boolean) and series.null_count() == 0:
        cells = series.to_numpy()
        if cells.dtype.kind in "iub":
            return encode_array(cells, what)
    native: Any = series.to_native()
    if series.implementation.is_polars():
        column = _encode_polars(native, what)
    elif series.implementation.is_pyarrow():
        column = _encode_arrow(native, what)
    elif series.implementation.is_pandas_like():
        column = _encode_pandas(native, what, has_codes=dtype in (nw.Categorical, nw.Enum))
    else:
        column = encode_array(series.to_numpy(), what)
    if dtype in (nw.Object, nw.Unknown):
        return column  # its kind depends on the values
    is_real = dtype.is_float() or dtype.is_decimal() or dtype == nw.Duration
    is_time = dtype in (nw.Date, nw.Datetime)
    kind: Kind = "whole" if dtype.is_integer() else "real" if is_real else "time" if is_time else "category"
    return replace(column, kind=kind)


def not_a_value(what: str, dtype: Any) -> InputError:
    """Error for a column whose cells are not one value each."""
    return InputError(
        f"The {what} has the type {dtype}, which is not one value per row; leave the column out, or split it into one"
        " column for each part."
    )


def _encode_pandas(series: Any, what: str, *, has_codes: bool) -> Column:
    """Codes of a pandas series, in order of appearance."""
    if getattr(series.dtype, "pyarrow_dtype", None) is not None:
        import pyarrow as pa

        return _encode_arrow(pa.chunked_array(series.array.__arrow_array__()), what)
    if has_codes:
        return compact(series.cat.codes.to_numpy(), series.cat.categories)
    if getattr(series.dtype, "kind", "") == "c":
        raise not_a_value(what, series.dtype)
    if series.dtype == object:
        return encode_objects(series.tolist(), what)
    codes, values = series.factorize()
    return Column(np.asarray(codes), list(values))


def _encode_polars(series: Any, what: str) -> Column:
    """Codes of a polars series; strings in order of appearance, numbers and dates increasing."""
    import polars as pl

    if series.dtype == pl.Object:
        return encode_objects(series.to_list(), what)
    if series.dtype.is_float():
        series = series.fill_nan(None)
    if series.dtype == pl.Null:
        return Column(np.full(len(series), MISSING), [])
    if series.dtype == pl.String:
        series = series.cast(pl.Enum(series.drop_nulls().unique(maintain_order=True)))
    if series.dtype.is_temporal() and series.dtype != pl.Time:
        _refuse_far_dates(series, what)
    is_number = series.dtype not in (pl.Categorical, pl.Enum)
    codes = series.rank("dense") if is_number else series.to_physical()
    if series.null_count():
        codes = codes.cast(pl.Int64).fill_null(MISSING)
    dense = compact(codes.to_numpy(), range(int(codes.max()) + 1))
    values = series.gather(dense.first_positions()).to_list()
    return Column(dense.codes, values, is_sorted=is_number)


def _refuse_far_dates(series: Any, what: str) -> None:
    """Refuse dates and durations that Python does not have; polars would panic."""
    import polars as pl

    per_second = {"ms": 1_000, "us": 1_000_000, "ns": 1_000_000_000}
    per_day = 1 if series.dtype == pl.Date else per_second[series.dtype.time_unit] * 86_400
    is_duration = series.dtype == pl.Duration  # dates count from January 1, 1970
    first, last = (-999_999_999, 999_999_999) if is_duration else (-719_162, 2_932_896)
    numbers = series.drop_nulls().to_physical()
    if len(numbers) and not first <= numbers.min() // per_day <= numbers.max() // per_day <= last:
        raise InputError(FAR_DATES.format(what=what))


def _encode_arrow(cells: Any, what: str) -> Column:
    """Codes of an Arrow array in chunks, in order of appearance."""
    import pyarrow as pa
    import pyarrow.compute as pc

    kind = cells.type
    if pa.types.is_run_end_encoded(kind):
        return _encode_arrow(pa.chunked_array([pc.run_end_decode(chunk) for chunk in cells.chunks]), what)
    binary = (pa.types.is_binary, pa.types.is_large_binary, pa.types.is_fixed_size_binary, pa.types.is_binary_view)
    if pa.types.is_nested(kind) or any(is_kind(kind) for is_kind in binary):
        raise not_a_value(what, kind)
    if pa.types.is_null(kind):
        return Column(np.full(len(cells), MISSING), [])
    if pa.types.is_float16(kind):
        cells, kind = cells.cast(pa.float32()), pa.float32()
    if pa.types.is_decimal(kind) and kind.bit_width < 128:
        kind = pa.decimal128(kind.precision, kind.scale)
        cells = cells.cast(kind)
    if pa.types.is_floating(kind):
        cells = pc.if_else(pc.is_nan(cells), None, pc.add(cells, pa.scalar(0.0, kind)))  # -0.0 + 0.0 is 0.0
    if not pa.types.is_dictionary(kind):
        cells = cells.dictionary_encode()
        if not cells.num_chunks:
            return Column(np.full(len(cells), MISSING), [])
    whole = cells.unify_dictionaries().combine_chunks()
    if isinstance(whole, pa.ChunkedArray):
        whole = whole.chunk(0)
    indices = whole.indices.cast(pa.int64()).fill_null(MISSING).to_numpy(zero_copy_only=False)
    if not pa.types.is_dictionary(kind):
        try:
            values = whole.dictionary.to_pylist()
        except OverflowError:
            raise InputError(FAR_DATES.format(what=what)) from None
        return compact(indices, values)
    # A dictionary made by the user may hold a value twice, or a missing one.
    entries = _encode_arrow(pa.chunked_array([whole.dictionary]), what)
    code_of_entry = np.append(entries.codes, MISSING)
    return compact(code_of_entry[indices], entries.values)


def ordered_categories(cells: Any) -> Sequence[Any] | None:
    """The categories of a series whose type gives them an order; None for other cells."""
    categories = getattr(getattr(cells, "dtype", None), "categories", None)
    if categories is None or not is_series(cells):
        return None
    return tuple(cells.cat.get_categories().to_list())


def build_frame(columns: Mapping[str, Sequence[Any]], backend: str) -> Any:
    """A dataframe of the named library; an error says if the library is unknown or not installed."""
    libraries = ("pandas", "polars", "pyarrow", "modin", "cudf")
    import narwhals.stable.v2 as nw

    if backend not in libraries:
        raise InputError(f"backend must be one of {', '.join(libraries)}, got {backend!r}.")
    try:
        return nw.from_dict(columns, backend=cast("Any", backend)).to_native()
    except ModuleNotFoundError:
        raise MissingDependencyError(
            f"A dataframe of {backend} was asked for, which is not installed. Install it with: pip install {backend}"
        ) from None


# ---------------------------------------------------------------- columns


def encode_cells(cells: Any, what: str) -> Column:
    """Codes of one column: cells of a sparse matrix, an array, a list or a series; or a column that has them."""
    if isinstance(cells, Column):
        return cells
    if isinstance(cells, _SparseCells):
        return cells.encode(what)
    if isinstance(cells, np.ndarray):
        return encode_array(cells, what)
    if isinstance(cells, list | tuple):
        return encode_objects(cells, what)
    return encode_series(cells, what)
