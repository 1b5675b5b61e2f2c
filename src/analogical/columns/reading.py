"""The user's table as columns that are not yet encoded: a dataframe, an array, a sparse matrix or a list of rows."""

from collections.abc import Hashable, Sequence
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from analogical._checks import brief
from analogical._types import Codes, Note, code_type
from analogical.columns.choosing import name_of, refuse_repeated
from analogical.columns.columns import Column, compact, encode_array, encode_objects
from analogical.columns.integers import dense_codes
from analogical.errors import InputError

if TYPE_CHECKING:
    from analogical.columns.frames import Frame

__all__ = ["NamedLists", "RawTable", "encode_cells", "encode_whole_numbers", "read_table"]


@dataclass(frozen=True)
class NamedLists:
    """Columns as lists with names: a built-in table, read without importing a dataframe library."""

    lists: dict[str, list[Any]]
    backend = "polars"
    index = None

    @property
    def columns(self) -> list[str]:
        """Names of the columns."""
        return list(self.lists)

    keys = columns

    @property
    def n_rows(self) -> int:
        """Number of rows."""
        return len(next(iter(self.lists.values()), []))

    def __getitem__(self, position: int) -> list[Any]:
        return self.lists[self.columns[position]]

    def whole_numbers(self, chosen: Sequence[int]) -> None:
        """None: columns are encoded one by one."""

    def row_names(self, positions: Sequence[int]) -> list[Hashable]:
        """The positions themselves."""
        return list(positions)


@dataclass(frozen=True)
class RawTable:
    """The user's columns, not yet encoded."""

    keys: tuple[Hashable, ...]
    cells: "Sequence[Any] | Frame | NamedLists"
    n_rows: int
    frame: "Frame | NamedLists | None" = None
    matrix: NDArray[Any] | None = None
    """The whole table, if it is a numpy array of whole numbers or booleans, which is encoded at once."""
    notes: tuple[Note, ...] = ()

    def whole_numbers(self, chosen: Sequence[int]) -> NDArray[Any] | None:
        """The chosen columns as one array, if all hold whole numbers or booleans without a missing cell."""
        if self.frame is not None:
            return self.frame.whole_numbers(chosen)
        if self.matrix is None:
            return None
        return self.matrix if len(chosen) == len(self.keys) else self.matrix[:, list(chosen)]

    def encode(self, position: int, name: str) -> Column:
        """Codes of one column; whole numbers of arrays and lists are categories."""
        column = encode_cells(self.cells[position], f"feature {brief(name)}")
        return replace(column, kind="category") if self.frame is None and column.kind == "whole" else column


def encode_cells(cells: Any, what: str) -> Column:
    """Codes of one column: cells of a sparse matrix, an array, a list or a series."""
    if isinstance(cells, Column):
        return cells
    if isinstance(cells, _SparseCells):
        return cells.encode(what)
    if isinstance(cells, np.ndarray):
        return encode_array(cells, what)
    if isinstance(cells, list | tuple):
        return encode_objects(cells, what)
    from analogical.columns.frames import encode_series

    return encode_series(cells, what)


def encode_whole_numbers(part: NDArray[Any]) -> tuple[Codes, list[Sequence[Any]]]:
    """Codes of a table of whole numbers or booleans, and the values of each column."""
    if part.dtype.kind != "b":
        codes, values = dense_codes(part)
        return codes, list(values)
    codes, values = dense_codes(part.view(np.uint8))
    return codes, [[bool(value) for value in known] for known in values]


def read_table(X: Any) -> RawTable:
    """The columns of a dataframe, an array, a sparse matrix or a list of rows; anything else is refused."""
    if isinstance(X, np.ndarray):
        return _read_array(X)
    if type(X).__module__.startswith("scipy.sparse"):  # importing it takes a quarter of a second
        return _read_sparse(X)
    if isinstance(X, memoryview):
        return _read_array(np.asarray(X))
    if isinstance(X, NamedLists):
        return RawTable(tuple(X.columns), X, X.n_rows, frame=X)
    if isinstance(X, list | tuple):
        return _read_rows(list(X))
    from analogical.columns.frames import Frame, open_frame

    if isinstance(X, Frame):
        return RawTable(X.keys, X, X.n_rows, frame=X)
    frame = None if isinstance(X, str | bytes | dict | set) else open_frame(X)
    if frame is not None:
        names = [name_of(key) for key in frame.keys]
        refuse_repeated(names)
        notes = (Note("collected"),) if frame.was_lazy else ()
        return RawTable(frame.keys, frame, frame.n_rows, frame=frame, notes=notes)
    if isinstance(X, str | bytes | dict | set) or not hasattr(X, "__len__"):
        raise InputError(f"X must be a table (dataframe, 2-d array or list of rows), got {type(X).__name__}.")
    return _read_array(np.asarray(X)) if hasattr(X, "__array__") else _read_rows(list(X))


def _read_array(X: NDArray[Any]) -> RawTable:
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
        return RawTable(keys, [], n_rows, matrix=X)
    return RawTable(keys, list(X.T), n_rows)


def _read_sparse(X: Any) -> RawTable:
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
    return RawTable(tuple(f"x{i}" for i in range(n_features)), cells, n_rows)


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


def _read_rows(rows: list[Any]) -> RawTable:
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
    return RawTable(keys, list(zip(*rows, strict=True)), len(rows))
