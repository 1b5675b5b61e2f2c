"""The user's table as columns that are not yet encoded: a dataframe, an array, a sparse matrix or a list of rows."""

from collections.abc import Hashable, Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from analogical._checks import brief
from analogical._types import Bools, Codes, Note
from analogical.encoding.choosing import name_of, refuse_repeated
from analogical.encoding.columns import Column, Kind, encode_array, encode_objects
from analogical.encoding.frames import Frame, encode_series, is_series, open_frame
from analogical.encoding.integers import code_type, dense_codes
from analogical.errors import InputError

__all__ = ["EncodedColumns", "RawTable", "encode_cells", "read_table"]


@dataclass(frozen=True)
class RawTable:
    """The user's columns, not yet encoded."""

    keys: tuple[Hashable, ...]
    cells: Sequence[Any] | Frame
    n_rows: int
    frame: Frame | None = None
    matrix: NDArray[Any] | None = None
    """The whole table, if it is a numpy array of whole numbers or booleans, which is encoded in one go."""
    notes: tuple[Note, ...] = ()

    def encode(self, chosen: Sequence[int], names: Sequence[str], kept: Bools) -> "EncodedColumns":
        """Codes of the chosen columns on the kept rows."""
        part = self._whole_numbers(chosen)
        if part is not None:
            codes, values = _encode_whole_numbers(part if kept.all() else part[kept])
            kind: Kind = "category" if self.frame is None else "whole"
            columns = [Column(codes[:, k], known, kind) for k, known in enumerate(values)]
            return EncodedColumns(dict(zip(chosen, columns, strict=True)), codes)
        columns = [self._encode_one(p, name) for p, name in zip(chosen, names, strict=True)]
        if not kept.all():
            columns = [column.take(kept) for column in columns]
        return EncodedColumns(dict(zip(chosen, columns, strict=True)))

    def _whole_numbers(self, chosen: Sequence[int]) -> NDArray[Any] | None:
        """The chosen columns as one array, if all hold whole numbers or booleans without a missing cell."""
        if self.frame is not None:
            return self.frame.whole_numbers(chosen)
        if self.matrix is None:
            return None
        return self.matrix if len(chosen) == len(self.keys) else self.matrix[:, list(chosen)]

    def _encode_one(self, position: int, name: str) -> Column:
        """Codes of one column; the whole numbers of arrays and lists are names, as codes of categories are."""
        column = encode_cells(self.cells[position], f"feature {brief(name)}")
        return replace(column, kind="category") if self.frame is None and column.kind == "whole" else column


@dataclass(frozen=True)
class EncodedColumns:
    """Columns by position, and the matrix whose columns they are, if they were encoded in one go."""

    columns: dict[int, Column]
    matrix: NDArray[Any] | None = None

    def stack(self, columns: dict[int, Column]) -> Codes:
        """Columns in one matrix of the narrowest unsigned type; nothing is copied if none was changed or left out."""
        is_unchanged = list(columns) == list(self.columns) and all(c is self.columns[p] for p, c in columns.items())
        if self.matrix is not None and is_unchanged:
            return self.matrix
        widest = max(len(column.values) for column in columns.values())
        n_rows = len(next(iter(columns.values())).codes)
        codes = np.empty((n_rows, len(columns)), dtype=code_type(widest), order="F")
        for place, column in enumerate(columns.values()):
            codes[:, place] = column.codes
        return codes


def encode_cells(cells: Any, what: str) -> Column:
    """Codes of one column of any kind."""
    if is_series(cells):
        return encode_series(cells, what)
    if isinstance(cells, _SparseCells):
        return cells.encode(what)
    return encode_array(cells, what) if isinstance(cells, np.ndarray) else encode_objects(cells, what)


def _encode_whole_numbers(part: NDArray[Any]) -> tuple[Codes, list[Sequence[Any]]]:
    """Codes of a table of whole numbers or booleans, and what they stand for in each column."""
    if part.dtype.kind != "b":
        codes, values = dense_codes(part)
        return codes, list(values)
    codes, values = dense_codes(part.view(np.uint8))
    return codes, [[bool(value) for value in known] for known in values]


def read_table(X: Any) -> RawTable:
    """The columns of a dataframe, an array, a sparse matrix or a list of rows; anything else is refused."""
    if isinstance(X, np.ndarray):
        return _read_array(X)
    if type(X).__module__.startswith("scipy.sparse"):  # without importing it, which takes a quarter of a second
        return _read_sparse(X)
    if isinstance(X, memoryview):
        return _read_array(np.asarray(X))
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
    """Columns of a scipy sparse matrix, never made dense as a whole."""
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
    """One column of a sparse matrix: the cells that are stored; all others are 0."""

    rows: NDArray[Any]
    stored: NDArray[Any]
    n_rows: int

    def encode(self, what: str) -> Column:
        """Codes of the column, missing cells of what is stored included."""
        cells = np.append(self.stored, np.zeros(1, self.stored.dtype))  # the last one stands for all that are 0
        found = encode_array(cells, what)
        codes = np.full(self.n_rows, found.codes[-1], dtype=np.promote_types(code_type(len(found.values)), np.int8))
        codes[self.rows] = found.codes[:-1]
        is_zero_there = len(self.rows) < self.n_rows or bool((found.codes[:-1] == found.codes[-1]).any())
        column = Column(codes, found.values, found.kind)
        return column if is_zero_there else column.take(np.ones(self.n_rows, np.bool_))


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
