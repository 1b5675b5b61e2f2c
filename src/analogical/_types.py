"""Types that the stages pass to each other: kinds of arrays, coded rows and notes."""

from collections.abc import Sequence
from dataclasses import dataclass, is_dataclass, replace
from functools import cached_property
from typing import Any, Literal, TypeAlias

import numpy as np
from numpy.typing import NDArray

__all__ = [
    "Bools",
    "CodedRows",
    "Codes",
    "EngineName",
    "Floats",
    "Ints",
    "Keys",
    "Margins",
    "Note",
    "NoteKind",
    "Positions",
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
EngineName = Literal["memory", "duckdb", "spark"]
"""Where the rows of a table are held and counted."""

FEW_CODES = 8
"""Up to this many codes are counted one by one."""


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
        return same(vars(one), vars(other))
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
    n_bins: Ints | None = None
    """Number of bins of each column of binned numbers: codes below it are bins in order, others (missing) are not.
    0 for categories; None if no column is numeric."""

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

    @property
    def has_numbers(self) -> bool:
        """Whether some column has bins that can be merged."""
        return self.n_bins is not None and bool((self.n_bins > 2).any())

    def coarser(self, n_bins: int) -> "CodedRows":
        """Merge neighbouring bins into at most ``n_bins`` of about equal size; columns of categories are unchanged."""
        n_values = self.n_values.copy()
        bins = np.zeros_like(n_values) if self.n_bins is None else self.n_bins.copy()
        codes = self.codes.copy()
        for i in np.flatnonzero(bins > n_bins).tolist():
            rows = np.bincount(self.codes[:, i], self.weights, minlength=int(n_values[i]))
            below = np.cumsum(rows[: bins[i]])
            middle = (below - rows[: bins[i]] / 2) / max(below[-1], 1)
            merged = np.minimum((middle * n_bins).astype(np.int64), n_bins - 1)
            merged = np.unique(merged, return_inverse=True)[1]
            table = np.append(merged, merged.max() + 1 + np.arange(n_values[i] - bins[i]))
            codes[:, i] = table.astype(codes.dtype)[codes[:, i]]
            n_values[i] -= bins[i] - (merged.max() + 1)
            bins[i] = merged.max() + 1
        return replace(self, codes=codes, n_values=n_values, n_bins=bins)

    def select(self, features: Sequence[int]) -> "CodedRows":
        """Some of the features, in the given order."""
        if list(features) == list(range(self.n_features)):
            return self
        chosen = list(features)
        codes = np.asfortranarray(self.codes[:, chosen])
        bins = None if self.n_bins is None else self.n_bins[chosen]
        return CodedRows(codes, self.labels, self.n_values[chosen], self.n_labels, self.weights, bins)


def _sizes(codes: Codes, weights: Ints | None, n_codes: int) -> Ints:
    """Rows of each code, with their weights.

    Textbook: bincount; of few codes it is several times slower than comparing, because it converts them.
    """
    if weights is None and n_codes <= FEW_CODES:
        return np.array([np.count_nonzero(codes == code) for code in range(n_codes)], np.int64)
    return np.bincount(codes, weights, minlength=n_codes).astype(np.int64)


@dataclass(frozen=True)
class Margins:
    """Counts of rows by label and by value."""

    by_label: Ints
    by_value: tuple[Ints, ...]
    """For each feature the rows of each of its values."""

    @cached_property
    def n_values(self) -> Ints:
        """Number of values of every feature."""
        return np.array([len(sizes) for sizes in self.by_value], dtype=np.int64)

    @property
    def n_labels(self) -> int:
        """Number of labels."""
        return len(self.by_label)

    @property
    def n_features(self) -> int:
        """Number of columns."""
        return len(self.by_value)

    @property
    def n_rows(self) -> int:
        """Number of rows: the total weight."""
        return int(self.by_label.sum())

    def label_sizes(self) -> Ints:
        """Rows of each label."""
        return self.by_label

    def value_sizes(self, feature: int) -> Ints:
        """Rows of each value of a feature."""
        return self.by_value[feature]


NoteKind = Literal[
    "label-taken-out",
    "weights-taken-out",
    "groups-taken-out",
    "label-name-kept",
    "weights-name-kept",
    "groups-name-kept",
    "looks-like-groups",
    "leak",
    "label-missing",
    "label-binned",
    "missing-value",
    "missing-dropped",
    "binned",
    "binned-time",
    "binned-in-steps",
    "date-parts",
    "set-aside",
    "folded",
    "may-fold",
    "aligned",
    "index-differs",
    "collected",
    "encoding",
    "not-utf-8",
    "blank-lines",
    "separator",
    "first-line-is-data",
    "header-has-numbers",
    "unnamed-columns",
    "numbered-names",
    "empty-column",
    "first-sheet",
    "held-by-duckdb",
    "spaces-stripped",
    "read-as-missing",
    "decimal-commas",
    "read-as-numbers",
    "read-as-dates",
    "words-read-as-missing",
    "numbers-and-words",
]
"""Those from "encoding" on are about files."""


@dataclass(frozen=True)
class Note:
    """Something that was done to the table before counting, to be reported next to the numbers."""

    kind: NoteKind
    columns: tuple[str, ...] = ()
    counts: tuple[int, ...] = ()
    """Numbers of rows, cells, values or bins, or per cent, depending on the note; one per column, or one for all."""
    edges: tuple[tuple[Any, ...], ...] = ()
    """For each binned column, the lower edges of its bins without the first."""
    words: tuple[str, ...] = ()
    """Words of a file, or how its cells are written."""
