"""Types that the stages pass to each other: kinds of arrays, codes and bins, coded rows and notes."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, fields, is_dataclass, replace
from typing import Any, TypeAlias

import numpy as np
from numpy.typing import NDArray

__all__ = [
    "Bools",
    "CodedRows",
    "Codes",
    "Floats",
    "Ints",
    "Keys",
    "Note",
    "Positions",
    "RawCells",
    "Scale",
    "code_type",
    "merge_bins",
    "same",
]

Codes: TypeAlias = NDArray[np.unsignedinteger[Any]]
"""Values or labels as integers from 0."""
Ints: TypeAlias = NDArray[np.int64]
"""Counts: exact for the pairs of up to 2^31 rows."""
Floats: TypeAlias = NDArray[np.float64]
Bools: TypeAlias = NDArray[np.bool_]
Keys: TypeAlias = NDArray[np.uint64]
"""Several codes packed into one integer."""
Positions: TypeAlias = NDArray[np.intp]
"""Positions in another array."""


def code_type(n_values: int) -> np.dtype[Any]:
    """The smallest unsigned type for this many codes."""
    return np.min_scalar_type(max(n_values - 1, 0))


def merge_bins(sizes: Ints, n_bins: int, has_missing: bool) -> NDArray[np.uint8]:
    """For each fine bin, its bin among about ``n_bins`` of equally many rows; missing cells have the last one."""
    numbers = sizes[:-1] if has_missing else sizes
    middle = (np.cumsum(numbers) - numbers / 2) / max(float(numbers.sum()), 1.0)
    merged = np.unique(np.minimum((middle * n_bins).astype(np.int64), n_bins - 1), return_inverse=True)[1]
    return (np.append(merged, merged.max() + 1) if has_missing else merged).astype(np.uint8)


def same(one: Any, other: Any) -> bool:
    """Whether two fields of a result are equal, element by element; NaN equals NaN."""
    if isinstance(one, np.ndarray) and isinstance(other, np.ndarray):
        return np.array_equal(one, other, equal_nan=one.dtype.kind == "f" and other.dtype.kind == "f")
    if isinstance(one, np.ndarray) or isinstance(other, np.ndarray):
        return False
    if isinstance(one, dict) and isinstance(other, dict):
        return one.keys() == other.keys() and all(same(value, other[key]) for key, value in one.items())
    if isinstance(one, tuple) and isinstance(other, tuple):
        return len(one) == len(other) and all(map(same, one, other))
    if is_dataclass(one) and type(one) is type(other):
        names = [f.name for f in fields(one) if f.compare]
        return all(same(getattr(one, name), getattr(other, name)) for name in names)
    is_nan = isinstance(one, float) and isinstance(other, float) and one != one and other != other
    return is_nan or bool(one == other)


@dataclass(frozen=True)
class CodedRows:
    """A labelled table as integer codes, the input of counting."""

    codes: Codes
    """Shape (m, n), in any memory order; column i is below ``n_values[i]``."""
    labels: Codes
    """Shape (m,); below ``n_labels``."""
    n_values: Ints
    n_labels: int
    weights: Ints | None = None
    """Number of rows that each row represents, 0 or more; None means one each."""
    has_missing: Bools | None = None
    """Whether the last code of a feature stands for missing cells; None if no feature has any."""

    @property
    def n_features(self) -> int:
        """Number of columns."""
        return int(self.codes.shape[1])

    @property
    def n_rows(self) -> int:
        """Number of rows: the total weight."""
        return len(self.codes) if self.weights is None else int(self.weights.sum())

    def take(self, rows: Positions | Bools) -> "CodedRows":
        """Some of the rows, with their weights."""
        weights = None if self.weights is None else self.weights[rows]
        return replace(self, codes=self.codes[rows], labels=self.labels[rows], weights=weights)

    def weights_or_ones(self) -> Ints:
        """Number of rows that each row represents."""
        return np.ones(len(self.codes), np.int64) if self.weights is None else self.weights

    def weighted(self, weights: Ints | None) -> "CodedRows":
        """The same rows with other weights."""
        return replace(self, weights=weights)

    def label_sizes(self) -> Ints:
        """Rows of each label, with their weights."""
        return _sizes(self.labels, self.weights, self.n_labels)

    def value_sizes(self, feature: int) -> Ints:
        """Rows of each value of a feature, with their weights."""
        return _sizes(self.codes[:, feature], self.weights, int(self.n_values[feature]))

    def select(self, features: Sequence[int]) -> "CodedRows":
        """Some of the features, in the given order."""
        chosen = list(features)
        if len(chosen) == self.n_features and chosen == list(range(self.n_features)):
            return self
        codes = np.asfortranarray(self.codes[:, chosen])
        has_missing = None if self.has_missing is None else self.has_missing[chosen]
        return CodedRows(codes, self.labels, self.n_values[chosen], self.n_labels, self.weights, has_missing)


def _sizes(codes: Codes, weights: Ints | None, n_codes: int) -> Ints:
    """Rows of each code, with their weights.

    Textbook: bincount; of few codes it is several times slower than comparing, because it converts them.
    """
    if weights is None and n_codes <= 8:
        together = np.ascontiguousarray(codes)
        return np.array([np.count_nonzero(together == code) for code in range(n_codes)], np.int64)
    return np.bincount(codes, weights, minlength=n_codes).astype(np.int64)


@dataclass(frozen=True, eq=False)
class Scale:
    """How labels that are numbers are compared."""

    kind: str
    """``"number"``, ``"log"`` (its natural logarithm), ``"ranks"`` (share of the rows below, in per cent) or
    ``"ordered"`` (the place of a class in the order of all)."""
    unit: str
    """Unit of a number, where it is known: days, hours, seconds."""
    scores: Floats
    """The score of each label code, increasing."""


@dataclass(frozen=True, eq=False)
class RawCells:
    """Cells as they were read, before columns were set aside or binned, of all rows or of some drawn at random."""

    names: tuple[str, ...]
    """All columns that were read, and last the label."""
    codes: Codes
    """Shape (rows, columns); 0 is a missing cell."""
    n_values: Ints
    units: Mapping[int, bool]
    """Columns that may name units with several rows each, and whether their codes increase with their values."""


@dataclass(frozen=True)
class Note:
    """Something that was done to the table before counting, to be reported next to the numbers."""

    kind: str
    """One of those that ``show.notes.NOTES`` has words for."""
    columns: tuple[str, ...] = ()
    counts: tuple[int, ...] = ()
    """Numbers of rows, cells, values or bins, or per cent, depending on the note; one per column, or one for all."""
    edges: tuple[tuple[Any, ...], ...] = ()
    """For each binned column, the lower edges of its bins without the first."""
    words: tuple[str, ...] = ()
    """Words of a file, or how its cells are written."""
