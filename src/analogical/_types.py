"""What the stages hand to each other: kinds of arrays, and the table as numbers."""

from collections.abc import Sequence
from dataclasses import dataclass, is_dataclass, replace
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
"""Values or labels as whole numbers from 0."""
Ints: TypeAlias = NDArray[np.int64]
"""Counts: exact, and large enough for the pairs of 2^31 rows."""
Floats: TypeAlias = NDArray[np.float64]
Bools: TypeAlias = NDArray[np.bool_]
Keys: TypeAlias = NDArray[np.uint64]
"""Several codes packed into one whole number."""
Positions: TypeAlias = NDArray[np.intp]
"""Positions in another array."""
EngineName = Literal["memory", "duckdb", "spark"]
"""Who holds the rows of a table and counts them."""


def same(one: Any, other: Any) -> bool:
    """Whether two fields of a result hold the same: arrays and records element by element, NaN equal to NaN."""
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
    """A labelled table as whole numbers: all that counting needs to know of it."""

    codes: Codes
    """Shape (m, n), in any memory order; column i is below ``n_values[i]``."""
    labels: Codes
    """Shape (m,); below ``n_labels``."""
    n_values: Ints
    n_labels: int
    weights: Ints | None = None
    """How many rows each row stands for, 0 or more; None means one each."""
    n_bins: Ints | None = None
    """Of columns that hold binned numbers, how many bins: codes below it are bins in order, others (missing) are not.
    0 for categories; None if there are no numbers."""

    @property
    def n_features(self) -> int:
        """Columns of the table."""
        return int(self.codes.shape[1])

    @property
    def n_rows(self) -> int:
        """Rows that the table stands for: the total weight."""
        return len(self.codes) if self.weights is None else int(self.weights.sum())

    def take(self, rows: Positions | Bools) -> "CodedRows":
        """Some of the rows, with their weights."""
        weights = None if self.weights is None else self.weights[rows]
        return replace(self, codes=self.codes[rows], labels=self.labels[rows], weights=weights)

    def weights_or_ones(self) -> Ints:
        """How many rows each row stands for."""
        return np.ones(len(self.codes), np.int64) if self.weights is None else self.weights

    def weighted(self, weights: Ints | None) -> "CodedRows":
        """The same rows with other weights."""
        return replace(self, weights=weights)

    def label_sizes(self) -> Ints:
        """Rows of each label, counted with their weights."""
        return np.bincount(self.labels, self.weights, minlength=self.n_labels).astype(np.int64)

    def value_sizes(self, feature: int) -> Ints:
        """Rows of each value of a feature, counted with their weights."""
        sizes = np.bincount(self.codes[:, feature], self.weights, minlength=int(self.n_values[feature]))
        return sizes.astype(np.int64)

    @property
    def has_numbers(self) -> bool:
        """Whether some column has bins that can be merged."""
        return self.n_bins is not None and bool((self.n_bins > 2).any())

    def coarser(self, n_bins: int) -> "CodedRows":
        """Numbers in at most so many bins of about as many rows each, made by merging neighbours; the rest as it is."""
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


@dataclass(frozen=True)
class Margins:
    """How many rows of a table have each label and each value: what is known of rows that lie elsewhere."""

    by_label: Ints
    by_value: tuple[Ints, ...]
    """For each feature the rows of each of its values."""

    @property
    def n_values(self) -> Ints:
        """Number of values of every feature."""
        return np.array([len(sizes) for sizes in self.by_value], dtype=np.int64)

    @property
    def n_labels(self) -> int:
        """Number of labels."""
        return len(self.by_label)

    @property
    def n_features(self) -> int:
        """Columns of the table."""
        return len(self.by_value)

    @property
    def n_rows(self) -> int:
        """Rows that the table stands for: the total weight."""
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
"""The last ones are about files."""


@dataclass(frozen=True)
class Note:
    """Something that was done to the table before it was counted, to be said next to the numbers."""

    kind: NoteKind
    columns: tuple[str, ...] = ()
    counts: tuple[int, ...] = ()
    """Rows, cells, values, bins or per cent, whichever the note is about; one for each column, or one for all."""
    edges: tuple[tuple[Any, ...], ...] = ()
    """For each column that was binned, where its bins but the first begin."""
    words: tuple[str, ...] = ()
    """Words of a file, or how its cells are written."""
