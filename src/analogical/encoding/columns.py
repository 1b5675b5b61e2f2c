"""One column to codes: two cells get the same code exactly when their values are equal."""

from collections.abc import Hashable, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from analogical._types import Bools, Ints
from analogical.encoding.integers import dense_codes
from analogical.errors import InputError

__all__ = ["MISSING", "Column", "compact", "encode_array", "encode_objects", "plain", "refuse_infinite"]

MISSING = -1
"""The code of a missing cell while a column is being encoded; it never leaves this package."""


@dataclass(frozen=True)
class Column:
    """One column as codes; ``values[c]`` is the value that code c stands for, and every code from 0 occurs."""

    codes: NDArray[Any]
    values: Sequence[Any]

    def is_missing(self) -> Bools:
        """Which cells are missing."""
        missing: Bools = self.codes == MISSING
        return missing

    def first_positions(self) -> Ints:
        """Row in which each value occurs first."""
        firsts = np.empty(len(self.values), dtype=np.int64)
        rows = np.flatnonzero(self.codes != MISSING)[::-1]
        firsts[self.codes[rows]] = rows
        return firsts

    def take(self, rows: Bools) -> "Column":
        """The column on some rows, without the values that do not occur there."""
        return compact(self.codes[rows], self.values)

    def has_same_groups_as(self, other: "Column") -> bool:
        """Whether both columns put the same rows together: they are equal up to the names of their values."""
        if len(self.values) != len(other.values) or len(self.codes) != len(other.codes):
            return False
        if self.is_missing().any() or other.is_missing().any():
            return False
        partner = np.empty(len(self.values), dtype=np.int64)
        partner[self.codes] = other.codes
        return bool((partner[self.codes] == other.codes).all())


def encode_array(cells: NDArray[Any], what: str) -> Column:
    """Codes of a one-dimensional numpy array; missing cells get the code MISSING."""
    kind = cells.dtype.kind
    if kind == "O":
        return encode_objects(cells.tolist(), what)
    if kind == "b":
        return compact(cells.view(np.uint8), [False, True])
    if kind in "iu":
        dense, (known,) = dense_codes(cells.reshape(-1, 1))
        return Column(dense[:, 0], known)
    if kind == "f":
        refuse_infinite(cells, what)
    values, codes = np.unique(cells, return_inverse=True)
    if kind in "fmM" and (gaps := np.isnat(values) if kind in "mM" else np.isnan(values)).any():
        values = values[~gaps]  # numpy sorts missing values last
        codes = np.where(codes < len(values), codes, MISSING)
    return Column(codes, values.tolist())


def encode_objects(cells: Sequence[Any], what: str) -> Column:
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
        return Column(renumbered[codes], [v for v, gap in zip(values, gaps, strict=True) if not gap])
    return Column(codes, values)


def compact(codes: NDArray[Any], values: Sequence[Any]) -> Column:
    """Drop the values that do not occur, so that the codes are dense; codes below 0 are missing."""
    present = codes[codes >= 0] if codes.dtype.kind == "i" else codes
    occurs = np.bincount(present.astype(np.intp, copy=False), minlength=len(values)) > 0
    has_gaps = len(present) < len(codes)
    if not occurs.all():
        renumbered = np.append(np.cumsum(occurs) - 1, MISSING)  # the code -1 reads the last entry
        codes = renumbered[codes]
        values = [values[c] for c in np.flatnonzero(occurs).tolist()]
    elif has_gaps:
        codes = codes.astype(np.int64)
        codes[codes < 0] = MISSING
    return Column(codes, values)


def refuse_infinite(cells: NDArray[Any], what: str) -> None:
    """Refuse infinite numbers by name and row."""
    if np.isinf(cells).any():
        row = int(np.isinf(cells).argmax())
        raise InputError(f"The {what} is infinite in row {row}; an infinity is not a category: replace it by a value.")


def plain(value: Any) -> Any:
    """A value without its numpy wrapping, so that it prints as the user wrote it."""
    return value.item() if isinstance(value, np.generic) else value


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
