"""Dataframes of every library, read and built; narwhals is used in this file only."""

from collections.abc import Hashable, Iterator, Mapping, Sequence
from typing import Any, cast

import narwhals.stable.v2 as nw
import numpy as np

from analogical.encoding.choosing import refuse_repeated
from analogical.encoding.columns import MISSING, Column, compact, encode_array, encode_objects, plain, refuse_infinite
from analogical.errors import InputError, MissingDependencyError

__all__ = ["Frame", "as_series", "build_frame", "encode_series", "is_frame", "open_frame"]

LIBRARIES = ("pandas", "polars", "pyarrow", "modin", "cudf")


class Frame:
    """A dataframe of any library: its columns, their names, and the names of its rows."""

    def __init__(self, frame: "nw.DataFrame[Any]", keys: Sequence[Hashable]) -> None:
        self._frame = frame
        self.keys = tuple(keys)
        self.n_rows = len(frame)
        self.backend = str(frame.implementation.value)

    def columns(self) -> Iterator[Any]:
        """The columns, in order."""
        yield from self._frame.iter_columns()

    def row_names(self, positions: Sequence[int]) -> list[Hashable]:
        """Index labels of rows, where the dataframe has an index without repeats; otherwise their positions."""
        index = getattr(self._frame.to_native(), "index", None)
        if index is None or not hasattr(index, "take") or not index.is_unique:
            return list(positions)
        return [plain(name) for name in index.take(positions).tolist()]


def is_frame(X: Any) -> bool:
    """Whether X is a dataframe of a library that we read natively."""
    if isinstance(X, np.ndarray):
        return False
    return isinstance(nw.from_native(X, eager_only=True, pass_through=True), nw.DataFrame)


def open_frame(X: Any) -> Frame | None:
    """The dataframe behind X, None if it is not one; column names may repeat, which the caller refuses."""
    try:
        frame: Any = nw.from_native(X, eager_only=True, pass_through=True)
        if not isinstance(frame, nw.DataFrame):
            return None
        return Frame(frame, frame.columns)
    except nw.exceptions.DuplicateError:
        refuse_repeated([str(name) for name in X.columns])
        raise


def as_series(cells: Any) -> Any:
    """Cells of a dataframe library as one kind of series; anything else as it is."""
    return cells if isinstance(cells, np.ndarray) else nw.from_native(cells, series_only=True, pass_through=True)


def is_series(cells: Any) -> bool:
    """Whether these are the cells of a dataframe library."""
    return isinstance(cells, nw.Series)


def encode_series(series: "nw.Series[Any]", what: str) -> Column:
    """Codes of a dataframe's column, by the fastest exact road that its library has."""
    native: Any = series.to_native()
    dtype = series.dtype
    if dtype.is_integer() or dtype == nw.Boolean:
        if series.null_count() == 0:
            return encode_array(series.to_numpy(), what)
    elif dtype.is_float():
        refuse_infinite(series.to_numpy(), what)
    try:
        if series.implementation.is_pandas_like():
            if dtype == nw.Categorical or dtype == nw.Enum:
                return compact(native.cat.codes.to_numpy(), native.cat.categories)
            codes, values = native.factorize()
            return Column(np.asarray(codes), values)
        if series.implementation.is_polars():
            return _encode_polars(native, what)
        if series.implementation.is_pyarrow():
            return _encode_arrow(native)
    except TypeError:  # unhashable cells, which the road for Python objects names
        return encode_objects(series.to_list(), what)
    return encode_array(series.to_numpy(), what)


def _encode_polars(series: Any, what: str) -> Column:
    import polars as pl

    if series.dtype.is_nested() or series.dtype == pl.Object:
        return encode_objects(series.to_list(), what)
    if series.dtype.is_float():
        series = series.fill_nan(None)
    if series.dtype == pl.String:
        codes = series.cast(pl.Categorical).to_physical()
    elif series.dtype in (pl.Categorical, pl.Enum):
        codes = series.to_physical()
    else:
        codes = series.rank("dense")
    if series.null_count():
        codes = codes.cast(pl.Int64).fill_null(MISSING)
    dense = compact(codes.to_numpy(), range(int(codes.max()) + 1))
    return Column(dense.codes, series.gather(dense.first_positions()).to_list())


def _encode_arrow(cells: Any) -> Column:
    import pyarrow as pa

    if pa.types.is_floating(cells.type):
        import pyarrow.compute as pc

        cells = pc.if_else(pc.is_nan(cells), None, cells)
    if not pa.types.is_dictionary(cells.type):
        cells = cells.dictionary_encode()
    whole = cells.unify_dictionaries().combine_chunks()
    if isinstance(whole, pa.ChunkedArray):
        whole = whole.chunk(0)
    return compact(
        whole.indices.cast(pa.int64()).fill_null(MISSING).to_numpy(zero_copy_only=False),
        whole.dictionary.to_pylist(),
    )


def build_frame(columns: Mapping[str, Sequence[Any]], backend: str) -> Any:
    """A dataframe of the named library, or one sentence on why that cannot be had."""
    if backend not in LIBRARIES:
        raise InputError(f"backend must be one of {', '.join(LIBRARIES)}, got {backend!r}.")
    try:
        return nw.from_dict(columns, backend=cast("Any", backend)).to_native()
    except ModuleNotFoundError:
        raise MissingDependencyError(
            f"A dataframe of {backend} was asked for, which is not installed. Install it with: pip install {backend}"
        ) from None
