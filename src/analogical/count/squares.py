"""Squares of two features: rows by context, value of the one, value of the other and label.

A square is four rows of one context that take two values u, u' of feature i and two values v, v' of feature j in all
four combinations: a = (u, v), b = (u', v), c = (u, v'), d = (u', v'). It is kept if the labels of a and b are equal and
those of c and d are, or those of a and c and those of b and d; otherwise it is broken.

With A, B, C, D the rows of the four cells by label, the squares of these cells are |A| |B| |C| |D|, and

    kept = (A.B)(C.D) + (A.C)(B.D) - sum over labels of A_l B_l C_l D_l

These products are added over all twos of values from sums of products over the values of i, never one by one: over
u < u', f_u f_u' summed is ((sum of f)^2 - sum of f^2) / 2.
"""

from collections.abc import Iterator

import numpy as np
from numpy.typing import NDArray

from analogical._types import CodedRows, Codes, Ints, Keys, Positions
from analogical.count.contexts import differs_from_last
from analogical.errors import InputError

__all__ = ["MAX_CELLS", "context_numbers", "count_squares", "pair_tables", "repeated_cells"]

MAX_CELLS = 2**22
"""Entries of the tables that are made at a time."""
SAFE = 2**62
"""Numbers that stay below this are computed in 64 bits, larger ones with Python's whole numbers."""


def context_numbers(ids: Keys) -> tuple[Positions, int]:
    """Numbers of groups from 0 without gaps, and how many groups there are."""
    known, numbers = np.unique(ids, return_inverse=True)
    return numbers.astype(np.intp), len(known)


def pair_tables(rows: CodedRows, groups: Positions, n_groups: int, i: int, j: int) -> Iterator[Ints]:
    """Rows by context, value of i, value of j and label, in arrays of shape (contexts, values, values, labels).

    ``groups`` is the context of each row. Contexts that hold a single value of i or of j have no square and are left
    out where there are many contexts. Each array has at most ``MAX_CELLS`` entries, or one context.
    """
    shape = (int(rows.n_values[i]), int(rows.n_values[j]), rows.n_labels)
    n_cells = shape[0] * shape[1] * shape[2]
    if n_cells > 4 * MAX_CELLS:
        raise InputError(
            f"Two features with {shape[0]:,} and {shape[1]:,} values have too many combinations to count squares;"
            " bin them, merge rare values, or leave one of them out."
        )
    first, second, labels = rows.codes[:, i], rows.codes[:, j], rows.labels
    weights = rows.weights
    if n_groups * n_cells > MAX_CELLS:
        kept = _is_varied(groups, n_groups, first, shape[0]) & _is_varied(groups, n_groups, second, shape[1])
        chosen = np.flatnonzero(kept[groups])
        groups, n_groups = context_numbers(groups[chosen].astype(np.uint64))
        order = np.argsort(groups, kind="stable")
        chosen, groups = chosen[order], groups[order]
        first, second, labels = first[chosen], second[chosen], labels[chosen]
        weights = None if weights is None else weights[chosen]
    keys = ((groups * shape[0] + first) * shape[1] + second) * shape[2] + labels
    at_once = max(MAX_CELLS // n_cells, 1)
    if n_groups <= at_once:
        yield _counted(keys, weights, (n_groups, *shape))
        return
    starts = np.searchsorted(groups, np.arange(0, n_groups, at_once))
    for k, (start, stop) in enumerate(zip(starts, [*starts[1:], len(groups)], strict=True)):
        some = min(at_once, n_groups - k * at_once)
        part = slice(int(start), int(stop))
        yield _counted(keys[part] - k * at_once * n_cells, None if weights is None else weights[part], (some, *shape))


def _counted(keys: NDArray[np.intp], weights: Ints | None, shape: tuple[int, ...]) -> Ints:
    counts = np.bincount(keys, weights, minlength=int(np.prod(shape)))
    return np.reshape(counts.astype(np.int64), shape)  # sums of weights are below 2**53


def _is_varied(groups: Positions, n_groups: int, values: Codes, n_values: int) -> NDArray[np.bool_]:
    """For each group, whether it holds two values or more."""
    keys = np.unique(groups * n_values + values)
    owner = keys // n_values
    starts = np.flatnonzero(differs_from_last(owner))
    varied = np.zeros(n_groups, np.bool_)
    varied[owner[starts]] = np.diff(starts, append=len(owner)) > 1
    return varied


def repeated_cells(tables: Ints) -> Ints:
    """The tables without the cells that hold a single row."""
    told: Ints = tables * (tables.sum(axis=3, keepdims=True) > 1)
    return told


def count_squares(tables: Ints) -> tuple[NDArray[np.object_] | Ints, NDArray[np.object_] | Ints]:
    """Squares and broken squares of each context, exactly.

    Parameters
    ----------
    tables : ndarray of shape (contexts, values of i, values of j, labels)
        Rows, as :func:`pair_tables` makes them.

    Returns
    -------
    squares, broken : ndarray
        One number per context: int64 if the fourth power of its rows is below 2**62, so that no sum of products can
        overflow, and Python's whole numbers otherwise.
    """
    if tables.shape[1] < tables.shape[2]:  # the sums run over the longer axis, so there are fewer of them
        tables = tables.transpose(0, 2, 1, 3)
    n_contexts, n_u, n_v, n_labels = tables.shape
    largest = int(tables.sum(axis=(1, 2, 3)).max(initial=0))
    kind = np.int64 if largest**4 < SAFE else object
    cells = tables.transpose(0, 2, 3, 1)  # contexts, values of j, labels, values of i
    totals = cells.sum(axis=2)
    squares = np.zeros(n_contexts, kind)
    kept = np.zeros(n_contexts, kind)
    for v in range(n_v - 1):
        later = slice(v + 1, n_v)
        # Sums over the values u of i of the products of two cells, and of their squares.
        both = totals[:, v, None] * totals[:, later]
        squares = squares + _twos(both, kind).sum(axis=1)
        agreeing = np.zeros((n_contexts, n_v - 1 - v, n_u), np.int64)
        for a in range(n_labels):
            same = cells[:, v, None, a] * cells[:, later, a]
            agreeing += same
            kept = kept - _twos(same, kind).sum(axis=1)
            for b in range(n_labels):
                mixed = cells[:, v, None, a] * cells[:, later, b]
                kept = kept + _twos(mixed, kind).sum(axis=1)
        kept = kept + _twos(agreeing, kind).sum(axis=1)
    return squares, squares - kept


def _twos(products: Ints, kind: type) -> NDArray[np.object_] | Ints:
    """Sum over all twos u < u' of the last axis of the product of their numbers."""
    numbers = products if kind is np.int64 else products.astype(object)
    found: NDArray[np.object_] | Ints = (numbers.sum(axis=-1) ** 2 - (numbers**2).sum(axis=-1)) // 2
    return found
