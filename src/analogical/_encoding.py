"""Any table to small integer codes; everything after this file sees integers only.

Two cells of a column get the same code exactly when their values are equal. Columns that carry codes of
their own (pandas categories, polars Categorical and Enum, Arrow dictionaries, small integers) are used as
they are. What cannot be encoded is refused here, in one sentence, and nowhere else.
"""

from collections.abc import Hashable, Iterable, Sequence
from dataclasses import dataclass
from typing import Any, cast

import narwhals.stable.v2 as nw
import numpy as np
from numpy.typing import NDArray

from analogical._counting import refuse_too_many_rows
from analogical._integers import Codes, code_type, dense_codes
from analogical.errors import InputError

__all__ = ["EncodedTable", "encode_table", "is_frame", "unknown_column"]

MISSING = -1
"""The code of a missing cell while a column is being encoded; it never leaves this file."""


@dataclass(frozen=True)
class EncodedTable:
    """A table as codes, with the words that the codes stand for kept beside them."""

    codes: Codes
    """Shape (rows, features); column i holds every code from 0 to n_values[i] - 1."""
    labels: Codes
    """Shape (rows,); codes into ``classes``."""
    weights: NDArray[np.int64] | None
    """How many rows each row stands for, all positive; None means one each."""
    n_values: NDArray[np.int64]
    names: tuple[str, ...]
    label: str
    classes: tuple[Hashable, ...]
    backend: str | None
    """Name of the dataframe library that the table came in, for results in the same one."""


@dataclass(frozen=True)
class _Column:
    """One column as codes; ``values[c]`` is the value that code c stands for."""

    codes: NDArray[Any]
    values: Sequence[Any]


def encode_table(
    X: Any,
    y: Any,
    *,
    weights: Any = None,
    feature_names: Sequence[str] | None = None,
) -> EncodedTable:
    """Turn a table and its label into codes, or say in one sentence why that cannot be done.

    ``y`` and ``weights`` may name columns of ``X`` when it is a dataframe; those are then no features.
    """
    frame = _as_frame(X)
    if frame is None:
        _refuse_column_name(y, "label")
        _refuse_column_name(weights, "weights")
        columns = _array_columns(X) if isinstance(X, np.ndarray) else _list_columns(X)
        names = tuple(f"x{i}" for i in range(len(columns)))
        label, label_cells, weight_cells = getattr(y, "name", None), y, weights
    else:
        label, label_cells = _pick(frame, y, "label")
        weights_name, weight_cells = _pick(frame, weights, "weights")
        taken = {name for name, given in ((label, y), (weights_name, weights)) if isinstance(given, str)}
        columns = [series for series in frame.iter_columns() if series.name not in taken]
        names = tuple(str(series.name) for series in columns)
    if feature_names is not None:
        names = _check_names(feature_names, len(columns))
    if not columns:
        raise InputError("The table has no features; give at least one column besides the label.")
    n_rows = len(columns[0])
    if n_rows == 0:
        raise InputError("The table is empty (0 rows); give at least two rows with different labels.")

    label = "y" if label is None else str(label)
    labels = _encode_labels(label_cells, label, n_rows)
    counts = _encode_weights(weight_cells, n_rows)
    kept = None
    if counts is not None and not counts.all():
        kept = counts > 0
        counts, labels = counts[kept], _keep(labels, kept)
    labels = _in_order(labels)
    _refuse_single_class(labels, label, counts)
    codes, n_values = _encode_matrix(X, kept) if _is_matrix(X) else _encode_columns(columns, names, kept)
    if (n_values == 1).all():
        raise InputError(
            f"All {len(names)} features have one value only in these {n_rows:,} rows, so no two rows can be"
            " compared; look at the filter applied before, or give columns that vary."
        )
    return EncodedTable(
        codes=codes,
        labels=labels.codes.astype(code_type(len(labels.values))),
        weights=counts,
        n_values=n_values,
        names=names,
        label=label,
        classes=tuple(labels.values),
        backend=None if frame is None else str(frame.implementation.value),
    )


# ---------------------------------------------------------------- the table's shape


def is_frame(X: Any) -> bool:
    """Whether X is a dataframe of a library that we read natively."""
    if isinstance(X, np.ndarray):
        return False
    return isinstance(nw.from_native(X, eager_only=True, pass_through=True), nw.DataFrame)


def _as_frame(X: Any) -> "nw.DataFrame[Any] | None":
    """Wrap a dataframe of any library, None for arrays and lists; refuse what is no table."""
    if isinstance(X, np.ndarray):
        return None
    from scipy.sparse import issparse

    if issparse(X):
        raise InputError(
            "X is a sparse matrix; relevance compares whole rows and needs a dense table:"
            " give X.toarray(), or the categorical columns before they were one-hot encoded."
        )
    if isinstance(X, str | bytes | dict) or not hasattr(X, "__len__"):
        if hasattr(X, "collect"):
            raise InputError("X is a lazy frame; call .collect() on it first.")
        raise InputError(f"X must be a table (dataframe, 2-d array or list of rows), got {type(X).__name__}.")
    try:
        frame: Any = nw.from_native(X, eager_only=True, pass_through=True)
        if not isinstance(frame, nw.DataFrame):
            return None
        names = [str(name) for name in frame.columns]
    except nw.exceptions.DuplicateError:
        names = [str(name) for name in X.columns]
    _refuse_duplicates(names)
    return cast("nw.DataFrame[Any]", frame)


def _array_columns(X: NDArray[Any]) -> list[Any]:
    """Columns of a numpy array, as views."""
    if X.ndim != 2:
        how = "reshape it with X.reshape(-1, 1) if it is one feature" if X.ndim == 1 else "flatten each row"
        raise InputError(f"X must have two dimensions (rows, features), got {X.ndim}: {how}.")
    if X.dtype.names is not None or X.dtype.kind in "cV":
        raise InputError(f"X has dtype {X.dtype}, which has no categories; give numbers, strings or objects.")
    return [X[:, i] for i in range(X.shape[1])]


def _list_columns(X: Any) -> list[Any]:
    """Columns of a list of rows."""
    if hasattr(X, "__array__"):
        return _array_columns(np.asarray(X))
    rows = list(X)
    if not rows:
        raise InputError("The table is empty (0 rows); give at least two rows with different labels.")
    for position, row in enumerate(rows):
        if isinstance(row, str | bytes | dict) or not hasattr(row, "__len__"):
            raise InputError(
                "X must have two dimensions: a list of rows, each a list of values;"
                f" row {position} is {row!r} ({type(row).__name__})."
            )
        if len(row) != len(rows[0]):
            raise InputError(
                f"X has ragged rows: row 0 has {len(rows[0])} values and row {position} has {len(row)};"
                " give every row the same number of values."
            )
    return [[row[i] for row in rows] for i in range(len(rows[0]))]


def _pick(frame: "nw.DataFrame[Any]", given: Any, role: str) -> tuple[str | None, Any]:
    """The name and the cells of a label or weight, which may be named or given."""
    if not isinstance(given, str):
        return getattr(given, "name", None), given
    if given not in frame.columns:
        raise unknown_column(given, frame.columns, role)
    return given, frame[given]


def unknown_column(given: str, columns: Iterable[Any], role: str) -> InputError:
    """Error for a column name that the table does not have, with the nearest ones it has."""
    from difflib import get_close_matches

    names = [str(name) for name in columns]
    near = get_close_matches(given, names, n=1) or get_close_matches(given.lower(), names, n=1)
    hint = f"did you mean {near[0]!r}?" if near else f"it has {_listing([repr(name) for name in names])}."
    return InputError(f"The table has no column {given!r} to take as {role}; {hint}")


def _refuse_column_name(given: Any, role: str) -> None:
    if isinstance(given, str):
        raise InputError(f"The {role} {given!r} names a column, but X is no dataframe; give the values, one per row.")


def _check_names(names: Sequence[str], n_features: int) -> tuple[str, ...]:
    if isinstance(names, str) or len(names) != n_features:
        raise InputError(f"feature_names must have one name for each of the {n_features} features, got {names!r}.")
    checked = tuple(str(name) for name in names)
    _refuse_duplicates(checked)
    return checked


def _refuse_duplicates(names: Sequence[str]) -> None:
    repeated = sorted({name for name in names if names.count(name) > 1})
    if repeated:
        raise InputError(
            f"Column names must differ, but {_listing([repr(name) for name in repeated])} occurs more than"
            " once; rename or drop the repeated columns."
        )


# ---------------------------------------------------------------- columns to codes


def _is_matrix(X: Any) -> bool:
    """Whether all columns can be encoded in one go: a numpy array of whole numbers or booleans."""
    return isinstance(X, np.ndarray) and X.dtype.kind in "iub"


def _encode_matrix(X: NDArray[Any], kept: NDArray[np.bool_] | None) -> tuple[Codes, NDArray[np.int64]]:
    """Codes and number of values of every feature of an array of whole numbers."""
    X = X.view(np.uint8) if X.dtype.kind == "b" else X
    codes, values = dense_codes(X if kept is None else X[kept])
    return codes, np.array([len(known) for known in values], dtype=np.int64)


def _encode_columns(
    columns: Sequence[Any], names: Sequence[str], kept: NDArray[np.bool_] | None
) -> tuple[Codes, NDArray[np.int64]]:
    """Codes and number of values of every feature, column by column; bad columns are reported together."""
    encoded, missing = [], []
    for name, cells in zip(names, columns, strict=True):
        column = _encode_column(cells, f"feature {name!r}")
        gaps = column.codes == MISSING
        if gaps.any():
            missing.append(f"{name!r} ({int(gaps.sum()):,} of {len(gaps):,} rows, first in row {gaps.argmax()})")
        encoded.append(column)
    if missing:
        raise InputError(
            f"Missing values (NaN or None) in {_listing(missing)}; every cell needs a value:"
            " drop those rows, or give the gap a value of its own, such as 'missing'."
        )
    if kept is not None:
        encoded = [_keep(column, kept) for column in encoded]
    return _stack(encoded), np.array([len(column.values) for column in encoded], dtype=np.int64)


def _encode_labels(cells: Any, label: str, n_rows: int) -> _Column:
    if cells is None:
        raise InputError("The label y is missing (None); give one label per row, or a column name.")
    cells = _as_cells(cells, f"The label {label!r}", n_rows)
    column = _encode_column(cells, f"label {label!r}")
    gaps = column.codes == MISSING
    if gaps.any():
        raise InputError(
            f"The label {label!r} is missing (NaN or None) in {int(gaps.sum()):,} of {n_rows:,} rows,"
            f" first in row {gaps.argmax()}; drop those rows, or give them a class of their own."
        )
    return column


def _in_order(labels: _Column) -> _Column:
    """Classes sorted, or in order of appearance if they cannot be: the same for every kind of table."""
    values = list(labels.values)
    try:
        order = sorted(range(len(values)), key=values.__getitem__)
    except TypeError:
        order = np.argsort(_first_positions(labels)).tolist()
    if order == list(range(len(values))):
        return labels
    return _Column(np.argsort(order)[labels.codes], [values[c] for c in order])


def _refuse_single_class(labels: _Column, label: str, weights: NDArray[np.int64] | None) -> None:
    if len(labels.values) == 1:
        n_rows = len(labels.codes) if weights is None else int(weights.sum())
        raise InputError(
            f"The label {label!r} has one class only ({labels.values[0]!r}, {n_rows:,} rows); relevance compares"
            " rows whose labels differ. Look at the filter applied before."
        )


def _encode_weights(cells: Any, n_rows: int) -> NDArray[np.int64] | None:
    """Whole-number frequencies as int64, None if there are none."""
    if cells is None:
        return None
    cells = _as_cells(cells, "weights", n_rows)
    expected = "weights must be whole numbers from 0 (how many rows each row stands for)"
    try:
        numbers = np.asarray(cells, dtype=np.float64)
    except (TypeError, ValueError):
        raise InputError(f"{expected}, got {cells[0]!r} in row 0.") from None
    with np.errstate(invalid="ignore"):
        bad = ~((numbers >= 0) & (numbers == np.floor(numbers)) & np.isfinite(numbers))
    if bad.any():
        row = int(bad.argmax())
        raise InputError(f"{expected}, got {numbers[row]:g} in row {row}; use counts, not shares.")
    if not numbers.any():
        raise InputError(f"{expected}, and at least one above 0; all {n_rows:,} weights are zero.")
    refuse_too_many_rows(float(numbers.sum()))
    return numbers.astype(np.int64)


def _as_cells(cells: Any, what: str, n_rows: int) -> Any:
    """One-dimensional cells of the right length, as a series, an array or a list."""
    series = cells if isinstance(cells, np.ndarray) else nw.from_native(cells, series_only=True, pass_through=True)
    if not isinstance(series, np.ndarray | nw.Series | list | tuple):
        if hasattr(series, "__array__"):
            series = np.asarray(series)
        elif isinstance(series, str | bytes) or not hasattr(series, "__len__"):
            raise InputError(f"{what} must be one value per row, got {type(cells).__name__}.")
        else:
            series = list(series)
    if isinstance(series, np.ndarray) and series.ndim != 1:
        raise InputError(f"{what} must have one dimension, got an array of shape {series.shape}; give one column.")
    if len(series) != n_rows:
        raise InputError(f"{what} has {len(series):,} values and X has {n_rows:,} rows; give one value per row.")
    return series


def _encode_column(cells: Any, what: str) -> _Column:
    """Codes of one column of any kind; missing cells get the code MISSING."""
    if isinstance(cells, nw.Series):
        return _encode_series(cells, what)
    if isinstance(cells, np.ndarray):
        return _encode_array(cells, what)
    return _encode_objects(cells, what)


def _encode_series(series: "nw.Series[Any]", what: str) -> _Column:
    """Codes of a dataframe's column, by the fastest exact road its library has."""
    native: Any = series.to_native()
    dtype = series.dtype
    if dtype.is_integer() or dtype == nw.Boolean:
        if series.null_count() == 0:
            return _encode_array(series.to_numpy(), what)
    elif dtype.is_float():
        _refuse_infinite(series.to_numpy(), what)
    try:
        if series.implementation.is_pandas_like():
            if dtype == nw.Categorical or dtype == nw.Enum:
                return _compact(native.cat.codes.to_numpy(), native.cat.categories)
            codes, values = native.factorize()
            return _Column(np.asarray(codes), values)
        if series.implementation.is_polars():
            return _encode_polars(native, what)
        if series.implementation.is_pyarrow():
            return _encode_arrow(native)
    except TypeError:  # unhashable cells, which the road for Python objects names
        return _encode_objects(series.to_list(), what)
    return _encode_array(series.to_numpy(), what)


def _encode_polars(series: Any, what: str) -> _Column:
    import polars as pl

    if series.dtype.is_nested() or series.dtype == pl.Object:
        return _encode_objects(series.to_list(), what)
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
    dense = _compact(codes.to_numpy(), range(int(codes.max()) + 1))
    return _Column(dense.codes, series.gather(_first_positions(dense)).to_list())


def _encode_arrow(cells: Any) -> _Column:
    import pyarrow as pa

    if pa.types.is_floating(cells.type):
        import pyarrow.compute as pc

        cells = pc.if_else(pc.is_nan(cells), None, cells)
    if not pa.types.is_dictionary(cells.type):
        cells = cells.dictionary_encode()
    whole = cells.unify_dictionaries().combine_chunks()
    if isinstance(whole, pa.ChunkedArray):
        whole = whole.chunk(0)
    return _compact(
        whole.indices.cast(pa.int64()).fill_null(MISSING).to_numpy(zero_copy_only=False),
        whole.dictionary.to_pylist(),
    )


def _encode_array(cells: NDArray[Any], what: str) -> _Column:
    """Codes of a one-dimensional numpy array."""
    kind = cells.dtype.kind
    if kind == "O":
        return _encode_objects(cells.tolist(), what)
    if kind == "b":
        return _compact(cells.view(np.uint8), [False, True])
    if kind in "iu":
        dense, (known,) = dense_codes(cells.reshape(-1, 1))
        return _Column(dense[:, 0], known)
    if kind == "f":
        _refuse_infinite(cells, what)
    values, codes = np.unique(cells, return_inverse=True)
    if kind in "fmM" and (gaps := np.isnat(values) if kind in "mM" else np.isnan(values)).any():
        values = values[~gaps]  # numpy sorts missing values last
        codes = np.where(codes < len(values), codes, MISSING)
    return _Column(codes, values.tolist())


def _encode_objects(cells: Sequence[Any], what: str) -> _Column:
    """Codes of Python objects, equal when Python calls them equal."""
    code_of: dict[Hashable, int] = {}
    try:
        codes = np.fromiter((code_of.setdefault(cell, len(code_of)) for cell in cells), np.int64, len(cells))
    except TypeError:
        row, cell = next((r, c) for r, c in enumerate(cells) if not _is_hashable(c))
        raise InputError(
            f"The {what} holds a value that cannot be compared as a category: row {row} is {cell!r}"
            f" ({type(cell).__name__}); give strings, numbers or other hashable values."
        ) from None
    values = list(code_of)
    gaps = np.fromiter((_is_missing(value) for value in values), np.bool_, len(values))
    if gaps.any():
        renumbered = np.where(gaps, MISSING, np.cumsum(~gaps) - 1)
        return _Column(renumbered[codes], [v for v, gap in zip(values, gaps, strict=True) if not gap])
    return _Column(codes, values)


def _compact(codes: NDArray[Any], values: Sequence[Any]) -> _Column:
    """Drop the values that do not occur, so that the codes are dense; codes below 0 are missing."""
    present = codes[codes >= 0] if codes.dtype.kind == "i" else codes
    occurs = np.bincount(present.astype(np.intp, copy=False), minlength=len(values)) > 0
    gaps = len(present) < len(codes)
    if not occurs.all():
        renumbered = np.append(np.cumsum(occurs) - 1, MISSING)  # the code -1 reads the last entry
        codes = renumbered[codes]
        values = [values[c] for c in np.flatnonzero(occurs).tolist()]
    elif gaps:
        codes = codes.astype(np.int64)
        codes[codes < 0] = MISSING
    return _Column(codes, values)


def _first_positions(column: _Column) -> NDArray[np.int64]:
    """Row in which each code occurs first."""
    firsts = np.empty(len(column.values), dtype=np.int64)
    rows = np.flatnonzero(column.codes != MISSING)[::-1]
    firsts[column.codes[rows]] = rows
    return firsts


def _keep(column: _Column, rows: NDArray[np.bool_]) -> _Column:
    return _compact(column.codes[rows], column.values)


def _stack(columns: Sequence[_Column]) -> Codes:
    """All columns in one matrix of the narrowest unsigned type, column after column in memory."""
    widest = max(len(column.values) for column in columns)
    codes = np.empty((len(columns[0].codes), len(columns)), dtype=code_type(widest), order="F")
    for i, column in enumerate(columns):
        codes[:, i] = column.codes
    return codes


def _refuse_infinite(cells: NDArray[Any], what: str) -> None:
    if np.isinf(cells).any():
        row = int(np.isinf(cells).argmax())
        raise InputError(f"The {what} is infinite in row {row}; an infinity is no category: replace it by a value.")


def _is_hashable(value: Any) -> bool:
    try:
        hash(value)
    except TypeError:
        return False
    return True


def _is_missing(value: Any) -> bool:
    if value is None:
        return True
    try:
        return bool(value != value)  # only missing values differ from themselves
    except (TypeError, ValueError):
        return type(value).__name__ == "NAType"  # pandas.NA, without importing pandas


def _listing(words: Sequence[str], limit: int = 8) -> str:
    """At most eight words, and how many more there are."""
    shown = ", ".join(words[:limit])
    return shown if len(words) <= limit else f"{shown} and {len(words) - limit} more"
