"""Rows brought together by their values on some features and by their label.

Whatever depends on those values and the label alone is then computed once for each entry, not once for each row.
"""

from dataclasses import dataclass

import numpy as np

from analogical._types import CodedRows, Ints, Positions
from analogical.count.groups import count_keys

__all__ = ["Entries", "Parts"]


@dataclass(frozen=True)
class Parts:
    """Entries divided by the values of one more feature; only the parts that hold rows."""

    parent: Positions
    """Entry that each part is of."""
    value: Positions
    sizes: Ints
    owner: Positions
    """Which of several features, each by itself, the entries are divided by; 0 if there is one."""
    n_owners: int = 1

    def __len__(self) -> int:
        return len(self.sizes)


@dataclass(frozen=True)
class Entries:
    """The distinct (values on some features, label) of a table, in an order that does not depend on that of the rows.

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
    """Rows that each entry stands for, with their weights."""
    first_row: Positions
    """A row of each entry, to look up its values."""

    @classmethod
    def by_label(cls, rows: CodedRows) -> "Entries":
        """One entry for each label."""
        labels, first, of_row = np.unique(rows.labels, return_index=True, return_inverse=True)
        sizes = np.bincount(of_row, rows.weights, minlength=len(labels))
        return cls(of_row.astype(np.intp), labels.astype(np.intp), sizes.astype(np.int64), first)

    def __len__(self) -> int:
        return len(self.sizes)

    def divided(self, rows: CodedRows, features: list[int]) -> Parts:
        """What each entry consists of if its rows are divided by some features; values count the last one fastest."""
        keys, n_values = self._keys(rows, features)
        held, sizes = count_keys(keys, len(self) * n_values, rows.weights)
        parent, value = np.divmod(held, n_values)
        return Parts(parent, value, sizes, np.zeros_like(parent))

    def divided_by_each(self, rows: CodedRows, features: list[int]) -> Parts:
        """What each entry consists of if its rows are divided by one feature, for each of several features."""
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
        """Entries by these features as well, in the order of their :meth:`divided` parts."""
        keys, n_values = self._keys(rows, features)
        held, first, of_row = np.unique(keys, return_index=True, return_inverse=True)
        sizes = np.bincount(of_row, rows.weights, minlength=len(held)).astype(np.int64)
        return Entries(of_row, self.labels[held // n_values], sizes, first)

    def _keys(self, rows: CodedRows, features: list[int]) -> tuple[Positions, int]:
        """A number for each row, of its entry and of its values on the features."""
        keys, n_values = self.of_row, 1
        for feature in features:
            size = int(rows.n_values[feature])
            keys = keys * size
            keys += rows.codes[:, feature]
            n_values *= size
        return keys, n_values
