"""One column to codes: two cells have the same code if and only if their values are equal."""

from collections.abc import Callable, Hashable, Sequence
from dataclasses import dataclass, replace
from datetime import date, timedelta
from functools import cached_property
from numbers import Real
from typing import Any, Literal

import numpy as np
from numpy.typing import NDArray

from analogical._checks import brief
from analogical._types import Bools, Ints, Positions
from analogical.columns.integers import dense_codes
from analogical.errors import InputError

__all__ = [
    "MANY_NUMBERS",
    "MISSING",
    "Column",
    "Kind",
    "Values",
    "compact",
    "encode_array",
    "encode_objects",
    "plain",
    "sortable",
]

MISSING = -1
"""The code of a missing cell while a column is being encoded; it never leaves this package."""

CHUNK_ROWS = 2**20
"""Rows processed at once, so that a long column needs little memory besides its codes."""

MANY_NUMBERS = 2**16
"""Distinct numbers of a column beyond which no Python objects are made of them."""

Kind = Literal["category", "whole", "real", "time"]
"""What the values of a column are: categories, whole numbers, other numbers and durations, or dates and times."""


class Values:
    """The distinct values of a column with the rows of each: all decisions about a column are made on these.

    What is decided is a table ``code_of``, with the code of each value and, last, that of missing cells.
    """

    def __init__(
        self,
        values: Sequence[Any],
        sizes: Ints | Callable[[], Ints],
        kind: Kind = "category",
        *,
        n_missing: int = 0,
        is_sorted: bool = False,
    ) -> None:
        self.values = values
        self._sizes = sizes
        self.kind = kind
        self.n_missing = n_missing
        """Number of rows without a value."""
        self.is_sorted = is_sorted
        """Whether values are known to increase."""

    def __len__(self) -> int:
        return len(self.values)

    @cached_property
    def sizes(self) -> Ints:
        """Rows of each value, counted with their weights; most columns with few values are never counted."""
        return self._sizes() if callable(self._sizes) else self._sizes

    @cached_property
    def n_present(self) -> int:
        """Rows that have a value, counted with their weights."""
        return int(self.sizes.sum())

    @cached_property
    def order(self) -> Positions:
        """Positions of the values in increasing order."""
        return np.arange(len(self)) if self.is_sorted else np.argsort(sortable(self.values), kind="stable")

    @cached_property
    def rank_of(self) -> Ints:
        """For each value its place in increasing order, and last the code of missing cells."""
        ranks = np.full(len(self) + 1, MISSING)
        ranks[self.order] = np.arange(len(self))
        return ranks

    def take(self, positions: Positions) -> "Values":
        """Some of the values, with all missing cells."""
        return Values(
            _at(self.values, positions),
            self.sizes[positions],
            self.kind,
            n_missing=self.n_missing,
            is_sorted=self.is_sorted,
        )

    @cached_property
    def ordered(self) -> "Values":
        """The same values, increasing."""
        if self.is_sorted:
            return self
        values = _at(sortable(self.values), self.order)
        return Values(values, self.sizes[self.order], self.kind, n_missing=self.n_missing, is_sorted=True)


@dataclass(frozen=True)
class Column:
    """One column as codes; ``values[c]`` is the value that code c stands for, and every code from 0 occurs."""

    codes: NDArray[Any]
    values: Sequence[Any]
    kind: Kind = "category"
    is_sorted: bool = False
    """Whether values are known to increase with their codes."""

    def is_missing(self) -> Bools:
        """Which cells are missing."""
        missing: Bools = self.codes == MISSING
        return missing

    @property
    def n_missing(self) -> int:
        """Number of missing cells; only signed codes can have any."""
        return int(np.count_nonzero(self.codes < 0)) if self.codes.dtype.kind == "i" else 0

    def first_positions(self) -> Ints:
        """First row of each value."""
        firsts = np.empty(len(self.values), dtype=np.int64)
        rows = np.flatnonzero(self.codes != MISSING)[::-1]
        firsts[self.codes[rows]] = rows
        return firsts

    def take(self, rows: Bools) -> "Column":
        """The column on some rows, without the values that do not occur there."""
        return replace(compact(self.codes[rows], self.values), kind=self.kind, is_sorted=self.is_sorted)

    def counted(self, weights: Ints | None = None) -> "Values":
        """The values with the rows of each, which are counted with their weights when they are first asked for."""
        return Values(
            self.values,
            lambda: self._count_rows(weights),
            self.kind,
            n_missing=self.n_missing,
            is_sorted=self.is_sorted,
        )

    def _count_rows(self, weights: Ints | None) -> Ints:
        """Rows of each value, counted with their weights."""
        sizes = np.zeros(len(self.values) + 1, np.int64)  # the first entry is for missing cells
        step = max(CHUNK_ROWS, len(sizes))
        for start in range(0, len(self.codes), step):
            part = slice(start, start + step)
            places = self.codes[part].astype(np.intp) + 1
            of_part = np.bincount(places, None if weights is None else weights[part], minlength=len(sizes))
            np.add(sizes, of_part, out=sizes, casting="unsafe")  # sums of weights come as floats, exact below 2**53
        return sizes[1:]

    def recoded(self, code_of: NDArray[Any]) -> NDArray[Any]:
        """New codes: ``code_of`` has one for each value and, last, one for missing cells."""
        codes = np.empty(len(self.codes), code_of.dtype)
        for start in range(0, len(codes), CHUNK_ROWS):
            part = slice(start, start + CHUNK_ROWS)
            codes[part] = code_of[self.codes[part]]
        return codes

    def has_same_groups_as(self, other: "Column") -> bool:
        """Whether both columns group the rows alike: they are equal except for the names of their values."""
        if len(self.values) != len(other.values) or len(self.codes) != len(other.codes):
            return False
        if not np.array_equal(self.is_missing(), other.is_missing()):
            return False
        partner = np.empty(len(self.values) + 1, dtype=np.int64)  # the last entry is for missing cells
        partner[self.codes] = other.codes
        return bool((partner[self.codes] == other.codes).all())


def encode_array(cells: NDArray[Any], what: str) -> Column:
    """Codes of a one-dimensional numpy array; missing and masked cells have the code MISSING."""
    if isinstance(cells, np.ma.MaskedArray):
        gaps = np.ma.getmaskarray(cells)
        column = encode_array(cells.data, what)
        return replace(
            compact(np.where(gaps, MISSING, column.codes.astype(np.int64)), column.values),
            kind=column.kind,
            is_sorted=column.is_sorted,
        )
    kind = cells.dtype.kind
    if kind == "O":
        return encode_objects(cells.tolist(), what)
    if kind in "cV":
        raise InputError(f"The {what} has dtype {cells.dtype}, which has no categories; give numbers or strings.")
    if kind == "b":
        return compact(cells.view(np.uint8), [False, True])
    if kind in "iu":
        dense, (known,) = dense_codes(cells.reshape(-1, 1)) if len(cells) else (cells.reshape(-1, 1), [[]])
        return Column(dense[:, 0], known, "whole", is_sorted=True)
    values, codes = np.unique(cells, return_inverse=True)
    if kind in "fmM" and (gaps := np.isnat(values) if kind in "mM" else np.isnan(values)).any():
        values = values[~gaps]  # numpy sorts missing values last
        codes = np.where(codes < len(values), codes, MISSING)
    kinds: dict[str, Kind] = {"f": "real", "m": "real", "M": "time"}
    numbers: Any = values if kind == "f" and len(values) > MANY_NUMBERS else _python_values(values)
    return Column(codes, numbers, kinds.get(kind, "category"), is_sorted=True)


def _python_values(values: NDArray[Any]) -> list[Any]:
    """Values as Python objects; times beyond Python's precision or range as numpy's."""
    if values.dtype.kind not in "mM":
        return list(values.tolist())
    if np.datetime_data(values.dtype)[0] in ("ns", "ps", "fs", "as"):
        coarse = values.astype(f"{values.dtype.kind}8[us]")
        values = coarse if (coarse == values).all() else values
    return [value.item() if isinstance(value.item(), date | timedelta) else value for value in values]


def encode_objects(cells: Sequence[Any], what: str) -> Column:
    """Codes of Python objects, equal when Python calls them equal."""
    code_of: dict[Hashable, int] = {}
    try:
        codes = np.fromiter((code_of.setdefault(cell, len(code_of)) for cell in cells), np.int64, len(cells))
    except TypeError:
        row, cell = next((r, c) for r, c in enumerate(cells) if not _is_hashable(c))
        raise InputError(
            f"The {what} holds a value that cannot be compared as a category: row {row} is {brief(cell)}"
            f" ({type(cell).__name__}); give strings, numbers or other hashable values."
        ) from None
    values = list(code_of)
    gaps = np.fromiter((_is_missing(value) for value in values), np.bool_, len(values))
    if gaps.any():
        renumbered = np.where(gaps, MISSING, np.cumsum(~gaps) - 1)
        codes, values = renumbered[codes], [v for v, gap in zip(values, gaps, strict=True) if not gap]
    return Column(codes, values, _kind_of(values))


def _kind_of(values: Sequence[Any]) -> Kind:
    """The kind of Python objects; booleans and mixtures are categories."""
    types = {type(plain(value)) for value in values}
    if not types or bool in types:
        return "category"
    if types == {int}:
        return "whole"
    if all(issubclass(each, Real) or each.__name__ == "Decimal" for each in types):
        return "real"
    if all(issubclass(each, timedelta) for each in types):
        return "real"
    is_time = len(types) == 1 and issubclass(next(iter(types)), date)
    with_zone = {getattr(value, "tzinfo", None) is not None for value in values}
    return "time" if is_time and len(with_zone) == 1 else "category"


def compact(codes: NDArray[Any], values: Sequence[Any]) -> Column:
    """Drop the values that do not occur, so that the codes are dense; codes below 0 are missing."""
    present = codes[codes >= 0] if codes.dtype.kind == "i" else codes
    occurs = np.bincount(present.astype(np.intp, copy=False), minlength=len(values)) > 0
    has_gaps = len(present) < len(codes)
    if not occurs.all():
        renumbered = np.append(np.cumsum(occurs) - 1, MISSING)  # the code -1 reads the last entry
        codes = renumbered[np.maximum(codes, MISSING) if has_gaps else codes]
        values = _at(values, np.flatnonzero(occurs))
    elif has_gaps:
        codes = codes.astype(np.int64)
        codes[codes < 0] = MISSING
    return Column(codes, values)


def _at(values: Any, places: Positions) -> Sequence[Any]:
    """Some of the values; those of an array stay an array, so that no Python objects are made."""
    if isinstance(values, np.ndarray):
        return values[places]  # type: ignore[return-value]  # an array serves as a sequence
    return [values[place] for place in places.tolist()]


def sortable(values: Sequence[Any]) -> NDArray[Any]:
    """An array of the values that can be sorted; numbers beyond 64 bits and decimals as Python objects."""
    array = np.asarray(values)
    if array.dtype.kind in "iufmM":
        return array
    objects = np.empty(len(values), dtype=object)
    objects[:] = list(values)
    return objects


def plain(value: Any) -> Any:
    """A value as a Python object instead of numpy's, so that it prints as the user wrote it."""
    if isinstance(value, np.datetime64 | np.timedelta64) and isinstance(value.item(), int):
        return value  # a time beyond Python's precision or range: Python would have a number
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
