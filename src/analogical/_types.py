"""What the stages hand to each other: kinds of arrays, and the table as numbers."""

from collections.abc import Sequence
from dataclasses import dataclass, is_dataclass
from typing import Any, Literal, TypeAlias

import numpy as np
from numpy.typing import NDArray

__all__ = ["Bools", "CodedRows", "Codes", "Floats", "Ints", "Keys", "Note", "NoteKind", "Positions", "same"]

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
        return CodedRows(self.codes[rows], self.labels[rows], self.n_values, self.n_labels, weights)

    def weights_or_ones(self) -> Ints:
        """How many rows each row stands for."""
        return np.ones(len(self.codes), np.int64) if self.weights is None else self.weights

    def weighted(self, weights: Ints | None) -> "CodedRows":
        """The same rows with other weights."""
        return CodedRows(self.codes, self.labels, self.n_values, self.n_labels, weights)

    def select(self, features: Sequence[int]) -> "CodedRows":
        """Some of the features, in the given order."""
        if list(features) == list(range(self.n_features)):
            return self
        chosen = list(features)
        codes = np.asfortranarray(self.codes[:, chosen])
        return CodedRows(codes, self.labels, self.n_values[chosen], self.n_labels, self.weights)


NoteKind = Literal[
    "label-taken-out",
    "label-equals-column",
    "weights-taken-out",
    "weights-look-like-survey",
    "groups-taken-out",
    "label-name-kept",
    "weights-name-kept",
    "groups-name-kept",
]


@dataclass(frozen=True)
class Note:
    """Something that was done to the table before it was counted, to be said next to the numbers."""

    kind: NoteKind
    columns: tuple[str, ...]
