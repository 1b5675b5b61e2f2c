"""Entropy of columns: the share that remains given another column, and the share that chance explains."""

from dataclasses import replace

import numpy as np

from analogical._types import CodedRows, Codes, Floats, Ints
from analogical.count.given import Cells, tables_given

__all__ = ["entropies", "explained_by_chance", "remaining_entropies", "remaining_entropy"]


def remaining_entropy(rows: CodedRows, feature: int, other: int) -> float:
    """Share of the entropy of a column that remains given another one; 1 for a constant column."""
    return float(remaining_entropies(rows.select([feature]), rows.codes[:, other])[0])


def remaining_entropies(rows: CodedRows, column: Codes) -> Floats:
    """The same for every feature of the rows, given one column."""
    remaining = np.ones(rows.n_features)
    unlabelled = replace(rows, labels=np.zeros(len(column), np.uint8), n_labels=1)
    for features, counts in tables_given(unlabelled, Cells.of([column], len(column)), range(rows.n_features)):
        tables = counts[..., 0]
        whole = entropies(tables.sum(axis=1))
        together, alone = entropies(tables.reshape(len(features), -1)), entropies(tables.sum(axis=2))
        remaining[features] = np.divide(
            np.maximum(together - alone, 0.0), whole, out=np.ones_like(whole), where=whole > 0
        )
    return remaining


def entropies(sizes: Ints) -> Floats:
    """The entropy of each row of sizes."""
    from scipy.special import xlogy

    share = sizes / sizes.sum(axis=1, keepdims=True)
    return np.asarray(-xlogy(share, share).sum(axis=1))


def explained_by_chance(rows: CodedRows, feature: int, n_values: int) -> float:
    """Expected share of the entropy of a column that an unrelated column of n_values explains (Miller and Madow)."""
    sizes = rows.value_sizes(feature)
    whole = float(entropies(sizes[None])[0])
    return (np.count_nonzero(sizes) - 1) * (n_values - 1) / (2 * sizes.sum() * whole) if whole > 0 else 0.0
