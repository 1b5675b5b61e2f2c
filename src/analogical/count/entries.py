"""Rows grouped by their values on some features and by their label.

What depends on these values and the label only is then computed once per entry instead of once per row.
"""

from dataclasses import dataclass

import numpy as np

from analogical._types import CodedRows, Ints, Positions
from analogical.count.groups import count_keys

__all__ = ["Entries", "Parts"]


@dataclass(frozen=True)
class Parts:
    """Entries divided by the values of another feature, or of several features, each separately; no empty parts."""

    parent: Positions
    """Entry of each part."""
    value: Positions
    """Value of each part."""
    sizes: Ints
    """Rows of each part."""
    owner: Positions
    """Position of the feature by whose values each part is made."""
    n_owners: int = 1
    """Number of these features."""


@dataclass(frozen=True)
class Entries:
    """The distinct (values on some features, label) of a table, in an order that is independent of the row order.

    Examples
    --------
    >>> codes = np.array([[0, 1], [0, 1], [1, 1], [0, 0]], dtype=np.uint8)
    >>> rows = CodedRows(codes, np.array([0, 0, 1, 1], dtype=np.uint8), n_values=np.array([2, 2]), n_labels=2)
    >>> entries = Entries.by_label(rows).refined(rows, [0])
    >>> entries.labels.tolist(), entries.sizes.tolist(), entries.of_row.tolist()
    ([0, 1, 1], [2, 1, 1], [0, 0, 2, 1])
    """

    of_row: Positions
    """Entry of each row."""
    labels: Positions
    """Label of each entry."""
    sizes: Ints
    """Rows of each entry, with their weights."""

    @classmethod
    def by_label(cls, rows: CodedRows) -> "Entries":
        """One entry for each label."""
        labels, of_row = np.unique(rows.labels, return_inverse=True)
        sizes = np.bincount(of_row, rows.weights, minlength=len(labels))
        return cls(of_row.astype(np.intp), labels.astype(np.intp), sizes.astype(np.int64))

    def __len__(self) -> int:
        return len(self.sizes)

    def divided(self, rows: CodedRows, features: list[int]) -> Parts:
        """The entries divided by the combined values of some features; the last feature varies fastest."""
        keys, n_values = self._keys(rows, features)
        held, sizes = count_keys(keys, len(self) * n_values, rows.weights)
        parent, value = np.divmod(held, n_values)
        return Parts(parent, value, sizes, np.zeros_like(parent))

    def divided_by_each(self, rows: CodedRows, features: list[int]) -> Parts:
        """The entries divided by each of several features separately."""
        if len(features) == 1:
            return self.divided(rows, features)
        n_values = int(rows.n_values[features].max())
        n_keys = len(self) * n_values
        keys = (self.of_row * n_values)[:, None] + rows.codes[:, features] + np.arange(len(features)) * n_keys
        weights = None if rows.weights is None else np.repeat(rows.weights, len(features))
        held, sizes = count_keys(keys.ravel(), n_keys * len(features), weights)
        owner, held = np.divmod(held, n_keys)
        parent, value = np.divmod(held, n_values)
        return Parts(parent, value, sizes, owner, len(features))

    def refined(self, rows: CodedRows, features: list[int]) -> "Entries":
        """The entries by these features too, in the order of the :meth:`divided` parts."""
        keys, n_values = self._keys(rows, features)
        held, of_row = np.unique(keys, return_inverse=True)
        sizes = np.bincount(of_row, rows.weights, minlength=len(held)).astype(np.int64)
        return Entries(of_row, self.labels[held // n_values], sizes)

    def _keys(self, rows: CodedRows, features: list[int]) -> tuple[Positions, int]:
        """A number for each row from its entry and its values on the features, and the number of possible values."""
        keys, n_values = self.of_row, 1
        for feature in features:
            size = int(rows.n_values[feature])
            keys = keys * size
            keys += rows.codes[:, feature]
            n_values *= size
        return keys, n_values
