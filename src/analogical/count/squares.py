"""Squares of two features: rows by context, value of the one, value of the other and label.

A square is four rows of one context that take two values u, u' of feature i and two values v, v' of feature j in all
four combinations: a = (u, v), b = (u', v), c = (u, v'), d = (u', v'). It is kept if the labels of a and b are equal and
those of c and d are, or those of a and c and those of b and d; otherwise it is broken.

With A, B, C, D the rows of the four cells by label, the squares of these cells are |A| |B| |C| |D|, and

    kept = (A.B)(C.D) + (A.C)(B.D) - sum over labels of A_l B_l C_l D_l

Each product is f_v f_v' with a number f_v that depends on u, u' and v only (or the same with the features exchanged).
So sums over all pairs of values are matrix products: f_v f_v' summed over v < v' is ((sum of f)^2 - sum of f^2) / 2.
"""

import math
from collections.abc import Iterator
from itertools import pairwise
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from analogical._types import Codes, Ints, Positions
from analogical.count.given import RowContexts
from analogical.count.groups import CodedRows, count_keys
from analogical.errors import InputError

MAX_CELLS = 2**22
"""Most entries of the tables that are made at a time."""
FEW_LABELS = 16
"""Up to this many labels, every table has a place for each label."""
EXACT_PAIRS = math.isqrt(2**53)
EXACT = math.isqrt(EXACT_PAIRS)
"""Most rows of a context for which sums of products of two, and of four, counts are exact in float64."""


class PairTable(NamedTuple):
    """Rows counted by context, value of i, value of j and label."""

    counts: Ints
    """Shape (contexts, values of i, values of j, labels)."""
    rows: Positions | slice
    """The rows that are counted."""
    places: Positions
    """Where each of them is counted, in the flattened table."""


def pair_tables(rows: CodedRows, contexts: RowContexts, i: int, j: int) -> Iterator[PairTable]:
    """Counts of rows by context, value of i, value of j and label, for all contexts that may have squares.

    A table has a place for every value and label if there
    are fewer places than rows. Otherwise contexts with a single value of i or of j, which have no squares, are left
    out, and the tables of the others have places for their own values only (and, of more than ``FEW_LABELS`` labels,
    for their own labels), the tables of one shape together. Shapes are rounded up, so places may be empty;
    few tables of few labels get the shape of the largest.
    """
    n_values = int(rows.n_values[i]), int(rows.n_values[j]), rows.n_labels
    if math.prod(n_values) > 4 * MAX_CELLS:
        raise InputError(
            f"Two features with {n_values[0]:,} and {n_values[1]:,} values have too many combinations to count squares;"
            " bin them, merge rare values, or leave one of them out."
        )
    groups, n_groups = contexts.of_row.astype(np.intp, copy=False), len(contexts)
    columns, weights = (rows.codes[:, i], rows.codes[:, j], rows.labels), rows.weights
    if n_groups * math.prod(n_values) <= len(groups):
        yield _counted((groups, *columns), weights, (n_groups, *n_values), slice(None))
        return
    is_large = (np.bincount(groups, minlength=n_groups) >= 4)[groups]  # a square has four rows
    chosen = np.flatnonzero(is_large)
    groups, columns = groups[chosen], (columns[0][chosen], columns[1][chosen], columns[2][chosen])
    weights = None if weights is None else weights[chosen]
    placed: list[tuple[Codes | Positions, Ints]] = [
        _places(groups, n_groups, column, n) for column, n in zip(columns[:2], n_values[:2], strict=True)
    ]
    if rows.n_labels > FEW_LABELS:
        placed.append(_places(groups, n_groups, columns[2], rows.n_labels))
    else:
        placed.append((columns[2], np.full(n_groups, rows.n_labels)))
    shapes = np.stack([_rounded_up(n_held, n) for (_, n_held), n in zip(placed, n_values, strict=True)])
    may_have_squares = (placed[0][1] > 1) & (placed[1][1] > 1)
    largest = shapes[:, may_have_squares].max(axis=1, initial=0)
    n_places = np.count_nonzero(may_have_squares) * math.prod(largest.tolist())
    if rows.n_labels <= FEW_LABELS and n_places <= 2**14:  # one array is faster than many small ones
        shapes[:] = largest[:, None]
    by_shape = np.lexsort((*shapes, ~may_have_squares))[: np.count_nonzero(may_have_squares)]
    number = np.full(n_groups, len(by_shape))
    number[by_shape] = np.arange(len(by_shape))
    number = number[groups]
    order = np.argsort(number, kind="stable")
    number = number[order]
    starts = np.flatnonzero((np.diff(shapes[:, by_shape], prepend=0) != 0).any(axis=0))
    for start, stop in pairwise([*starts.tolist(), len(by_shape)]):
        shape = tuple(shapes[:, by_shape[start]].tolist())
        at_once = max(MAX_CELLS // math.prod(shape), 1)
        for begin in range(start, stop, at_once):
            end = min(begin + at_once, stop)
            first, last = np.searchsorted(number, (begin, end)).tolist()
            own = order[first:last]
            keys = number[first:last] - begin, *(places[own] for places, _ in placed)
            yield _counted(keys, None if weights is None else weights[own], (end - begin, *shape), chosen[own])


def _counted(
    keys: tuple[Codes | Positions, ...], weights: Ints | None, shape: tuple[int, ...], rows: Positions | slice
) -> PairTable:
    """Counts of rows by context and by the places of their two values and of their label."""
    places = np.ravel_multi_index(keys, shape)
    sizes = np.bincount(places, weights, minlength=math.prod(shape))
    return PairTable(sizes.astype(np.int64).reshape(shape), rows, places)  # sums of weights are below 2**53


def _places(groups: Positions, n_groups: int, values: Codes, n_values: int) -> tuple[Positions, Ints]:
    """The place of each row's value among the values in its context, and the number of values in each context."""
    keys = groups * n_values + values
    held, _ = count_keys(keys, n_groups * n_values, None)
    n_held = np.bincount(held // n_values, minlength=n_groups)
    return np.searchsorted(held, keys) - (np.cumsum(n_held) - n_held)[groups], n_held


def _rounded_up(n_held: Ints, most: int) -> Ints:
    """Numbers of places, at most ``most``: exact up to 8, then rounded up in steps of an eighth to a quarter."""
    steps = 2 ** np.maximum(np.ceil(np.log2(np.maximum(n_held, 1))).astype(np.int64) - 3, 0)
    return np.asarray(np.minimum(-(-n_held // steps) * steps, most))


# ---------------------------------------------------------------- squares


def count_squares(counts: Ints) -> tuple[Ints | NDArray[np.object_], Ints | NDArray[np.object_]]:
    """Exact numbers of squares and broken squares of each context, from counts of :func:`pair_tables`.

    They are int64, or Python integers if a context has very many rows.
    """
    n_rows = counts.sum(axis=(1, 2, 3))
    is_large = n_rows > EXACT
    if is_large.any() and not is_large.all():
        squares, broken = np.zeros((2, len(counts)), object)
        for some in (is_large, ~is_large):
            squares[some], broken[some] = count_squares(counts[some])
        return squares, broken
    large = bool(is_large.any())
    n = counts if large and n_rows.max() > EXACT_PAIRS else counts.astype(np.float64)
    squares, kind = _add_products(n.sum(axis=3)[:, None, :, :, None], large), object if large else np.int64
    if n.shape[3] == 1:
        return squares.astype(kind), np.zeros(len(n), kind)
    same = _add_products(n.transpose(0, 3, 1, 2)[..., None], large)  # label by label
    kept = _add_products(n[:, None], large) + _add_products(n.transpose(0, 2, 1, 3)[:, None], large) - same
    return squares.astype(kind), (squares - kept).astype(kind)


def _add_products(n: NDArray[Any], is_large: bool) -> NDArray[Any]:
    """For each context, the sum of (n_uv . n_u'v) (n_uv' . n_u'v') over all values u < u' and v < v'.

    ``n`` has shape (contexts, tables, values of i, values of j, labels); products are over labels, summed over tables.
    With f_v = n_uv . n_u'v, the result is (sum of f)^2 - sum of f^2, over all u != u', divided by four.
    """
    every_v = n.reshape(*n.shape[:3], n.shape[3] * n.shape[4])
    one_v = n.swapaxes(2, 3).reshape(len(n), n.shape[1] * n.shape[3], n.shape[2], n.shape[4])
    return np.asarray((_square_products(every_v, is_large) - _square_products(one_v, is_large)) // 4)


def _square_products(lines: NDArray[Any], is_large: bool) -> NDArray[Any]:
    """For each context, the squared products of every two different lines, in both orders, summed over tables.

    ``lines`` has shape (contexts, tables, lines, numbers). The sum of squares of x x' equals that of the smaller x' x.
    """
    turned = lines.swapaxes(2, 3)
    products = lines @ turned if lines.shape[2] <= lines.shape[3] else turned @ lines
    return np.asarray(_sum_squares(products, is_large) - _sum_squares((lines**2).sum(axis=3), is_large))


def _sum_squares(numbers: NDArray[Any], is_large: bool) -> NDArray[Any]:
    """The sum of squares for each context; of integers below 2**62, if they are large, from products of 16 bits."""
    flat = numbers.reshape(len(numbers), -1)
    if not is_large:
        return np.asarray(np.einsum("gx,gx->g", flat, flat))
    sums = []
    for line in flat.astype(np.int64):
        parts = line[:, None] >> 16 * np.arange(4) & 0xFFFF
        products = parts.T @ parts
        sums.append(sum(int(products[a, b]) << 16 * (a + b) for a in range(4) for b in range(4)))
    return np.array(sums, object)
