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
from dataclasses import dataclass
from itertools import pairwise
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from analogical._types import Bools, CodedRows, Codes, Ints, Positions
from analogical.count.given import Cells
from analogical.count.groups import count_keys
from analogical.errors import InputError

__all__ = ["MAX_CELLS", "PairTables", "count_squares", "pair_tables", "repeated_cells"]

MAX_CELLS = 2**22
"""Most entries of the tables that are made at a time."""
FEW_LABELS = 16
"""Up to this many labels, every table has a place for each label."""
ROWS_OF_SQUARE = 4
"""Fewest rows of a context with a square."""
EXACT_PAIRS = math.isqrt(2**53)
EXACT = math.isqrt(EXACT_PAIRS)
"""Most rows of a context for which sums of products of two, and of four, counts are exact in float64."""


@dataclass(frozen=True)
class PairTables:
    """Counts of rows of some contexts by value of i, value of j and label, in tables of one shape.

    To keep tables small, they have places only for the values in their context (and for its labels, if there are many
    labels). Places may be empty. If there are fewer places than labels, the last place is empty and stands for all
    labels that are not in the context.
    """

    counts: Ints
    """Shape (contexts, values of i, values of j, labels)."""
    first: Positions
    """Values of i in the places of each context, of shape (contexts, values of i)."""
    second: Positions
    labels: Positions
    is_whole: bool = False
    """Whether every value and label has a place, in their order."""

    @classmethod
    def whole(cls, counts: Ints) -> "PairTables":
        """Tables with a place for every value and label."""
        first, second, labels = (np.broadcast_to(np.arange(n), (len(counts), n)) for n in counts.shape[1:])
        return cls(counts, first, second, labels, is_whole=True)

    def of_some(self, contexts: Positions) -> "PairTables":
        """The tables of some of the contexts."""
        counts, first, second, labels = (each[contexts] for each in (self.counts, self.first, self.second, self.labels))
        return PairTables(counts, first, second, labels, self.is_whole)


def pair_tables(rows: CodedRows, contexts: Cells, i: int, j: int) -> Iterator[PairTables]:
    """Tables of the contexts that may have squares of two features.

    Tables have places for all values if they have fewer entries than there are rows. Otherwise contexts with a single
    value of i or of j, which have no squares, are left out, and the others have places for their own values only.
    """
    n_first, n_second = int(rows.n_values[i]), int(rows.n_values[j])
    n_cells = n_first * n_second * rows.n_labels
    if n_cells > 4 * MAX_CELLS:
        raise InputError(
            f"Two features with {n_first:,} and {n_second:,} values have too many combinations to count squares;"
            " bin them, merge rare values, or leave one of them out."
        )
    groups, n_groups = contexts.of_row.astype(np.intp, copy=False), len(contexts)
    if n_groups * n_cells <= len(groups):
        keys = (groups, rows.codes[:, i], rows.codes[:, j], rows.labels)
        yield PairTables.whole(_counted(keys, rows.weights, (n_groups, n_first, n_second, rows.n_labels)))
    else:
        yield from _small_tables(rows, groups, n_groups, i, j)


def _counted(keys: tuple[Codes | Positions, ...], weights: Ints | None, shape: tuple[int, ...]) -> Ints:
    """Counts of rows by context and by the places of their two values and of their label."""
    sizes = np.bincount(np.ravel_multi_index(keys, shape), weights, minlength=math.prod(shape))
    return sizes.astype(np.int64).reshape(shape)  # sums of weights are below 2**53


def _small_tables(rows: CodedRows, groups: Positions, n_groups: int, i: int, j: int) -> Iterator[PairTables]:
    """Tables of the contexts with two values of both features, by shape; shapes are rounded up, so there are fewer."""
    is_large = np.bincount(groups, minlength=n_groups) >= ROWS_OF_SQUARE
    rows, groups = rows.select([i, j]).take(is_large[groups]), groups[is_large[groups]]
    first, n_first = _places(groups, n_groups, rows.codes[:, 0], int(rows.n_values[0]))
    second, n_second = _places(groups, n_groups, rows.codes[:, 1], int(rows.n_values[1]))
    labels, n_labels = _label_places(groups, n_groups, rows.labels, rows.n_labels)
    most = *rows.n_values.tolist(), rows.n_labels
    shapes = np.stack([_rounded_up(n, top) for n, top in zip((n_first, n_second, n_labels), most, strict=True)])
    ordered, bounds = _by_shape(shapes, (n_first > 1) & (n_second > 1))
    number = np.full(n_groups, n_groups)
    number[ordered] = np.arange(len(ordered))
    order = np.argsort(number[groups], kind="stable")
    placed = _PlacedRows(rows.take(order), number[groups[order]], first[order], second[order], labels[order])
    for start, stop in pairwise(bounds):
        yield from placed.tables(start, stop, tuple(shapes[:, ordered[start]].tolist()))


def _by_shape(shapes: Ints, is_varied: Bools) -> tuple[Positions, list[int]]:
    """The varied contexts ordered by shape, and the bounds of the runs of one shape."""
    ordered = np.lexsort((*shapes, ~is_varied))[: np.count_nonzero(is_varied)]
    starts = np.flatnonzero((np.diff(shapes[:, ordered], prepend=0) != 0).any(axis=0))
    return ordered, [*starts.tolist(), len(ordered)]


class _PlacedRows(NamedTuple):
    """Rows of two features, sorted by context, with their places in the table of their context."""

    rows: CodedRows
    context: Positions
    first: Positions
    second: Positions
    label: Codes | Positions

    def tables(self, start: int, stop: int, shape: tuple[int, ...]) -> Iterator[PairTables]:
        """The tables of some contexts, all of one shape, at most ``MAX_CELLS`` entries at a time."""
        at_once = max(MAX_CELLS // math.prod(shape), 1)
        for begin in range(start, stop, at_once):
            n_tables = min(at_once, stop - begin)
            own = np.arange(*np.searchsorted(self.context, (begin, begin + n_tables)))
            some, context = self.rows.take(own), self.context[own] - begin
            places = self.first[own], self.second[own], self.label[own]
            counts = _counted((context, *places), some.weights, (n_tables, *shape))
            first, second, labels = (np.zeros((n_tables, n_places), np.intp) for n_places in shape)
            first[context, places[0]], second[context, places[1]] = some.codes[:, 0], some.codes[:, 1]
            labels[context, places[2]] = some.labels
            yield PairTables(counts, first, second, labels)


def _places(groups: Positions, n_groups: int, values: Codes, n_values: int) -> tuple[Positions, Ints]:
    """The place of each row's value among the values in its context, and the number of values in each context."""
    keys = groups * n_values + values
    held, _ = count_keys(keys, n_groups * n_values, None)
    n_held = np.bincount(held // n_values, minlength=n_groups)
    return np.searchsorted(held, keys) - (np.cumsum(n_held) - n_held)[groups], n_held


def _label_places(groups: Positions, n_groups: int, labels: Codes, n_labels: int) -> tuple[Codes | Positions, Ints]:
    """The same for labels: a place for each, or, if there are many, for those in a context and an empty one."""
    if n_labels <= FEW_LABELS:
        return labels, np.full(n_groups, n_labels)
    places, n_held = _places(groups, n_groups, labels, n_labels)
    return places, n_held + 1


def _rounded_up(n_held: Ints, most: int) -> Ints:
    """Numbers of places, at most ``most``: exact up to 8, then rounded up in steps of an eighth to a quarter."""
    steps = 2 ** np.maximum(np.ceil(np.log2(np.maximum(n_held, 1))).astype(np.int64) - 3, 0)
    return np.asarray(np.minimum(-(-n_held // steps) * steps, most))


def repeated_cells(counts: Ints) -> Ints:
    """The tables without cells of a single row."""
    repeated: Ints = counts * (counts.sum(axis=3, keepdims=True) > 1)
    return repeated


# ---------------------------------------------------------------- squares


def count_squares(counts: Ints) -> tuple[Ints | NDArray[np.object_], Ints | NDArray[np.object_]]:
    """Exact numbers of squares and broken squares of each context.

    Parameters
    ----------
    counts : ndarray of shape (contexts, values of i, values of j, labels)
        Rows, as in :class:`PairTables`.

    Returns
    -------
    squares, broken : ndarray
        One number per context: int64, or Python integers if a context has very many rows.
    """
    is_large = counts.sum(axis=(1, 2, 3)) > EXACT
    if is_large.all() or not is_large.any():
        return _count(counts, is_large=bool(is_large.any()))
    squares, broken = np.zeros((2, len(counts)), object)
    for some in (is_large, ~is_large):
        squares[some], broken[some] = _count(counts[some], is_large=bool(is_large[some].any()))
    return squares, broken


def _count(counts: Ints, *, is_large: bool) -> tuple[Ints | NDArray[np.object_], Ints | NDArray[np.object_]]:
    """Squares and broken squares of contexts that are all large, or all small."""
    n = counts if is_large and counts.sum(axis=(1, 2, 3)).max() > EXACT_PAIRS else counts.astype(np.float64)
    squares = _add_products(n.sum(axis=3)[:, None, :, :, None], is_large)
    same = _add_products(n.transpose(0, 3, 1, 2)[..., None], is_large)  # label by label
    kept = _add_products(n[:, None], is_large) + _add_products(n.transpose(0, 2, 1, 3)[:, None], is_large) - same
    if is_large:
        return squares, squares - kept
    return squares.astype(np.int64), (squares - kept).astype(np.int64)


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
    """The sum of squares for each context."""
    flat = numbers.reshape(len(numbers), -1)
    if is_large:
        return np.array([_exact_squares(line.astype(np.int64)) for line in flat], object)
    return np.asarray(np.einsum("gx,gx->g", flat, flat))


def _exact_squares(numbers: Ints) -> int:
    """The sum of squares of integers below 2**62, from products of 16 bits each."""
    parts = numbers[:, None] >> 16 * np.arange(4) & 0xFFFF
    products = parts.T @ parts
    return sum(int(products[a, b]) << 16 * (a + b) for a in range(4) for b in range(4))
