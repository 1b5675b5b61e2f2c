"""Squares of two features: rows by context, value of the one, value of the other and label.

A square is four rows of one context that take two values u, u' of feature i and two values v, v' of feature j in all
four combinations: a = (u, v), b = (u', v), c = (u, v'), d = (u', v'). It is kept if the labels of a and b are equal and
those of c and d are, or those of a and c and those of b and d; otherwise it is broken.

With A, B, C, D the rows of the four cells by label, the squares of these cells are |A| |B| |C| |D|, and

    kept = (A.B)(C.D) + (A.C)(B.D) - sum over labels of A_l B_l C_l D_l

Each product is f_v f_v' with a number f_v that depends on u, u' and v only (or one with the two features exchanged), so
products are added over all twos of values at once, as products of matrices: f_v f_v' summed over v < v' is
((sum of f)^2 - sum of f^2) / 2.
"""

import math
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from analogical._types import Bools, CodedRows, Codes, Ints, Keys, Positions
from analogical.errors import InputError

__all__ = ["MAX_CELLS", "PairTables", "context_numbers", "count_squares", "pair_tables", "repeated_cells"]

MAX_CELLS = 2**22
"""Entries of the tables that are made at a time."""
FEW_LABELS = 8
"""Up to so many labels, every table has a place for each of them."""
LEAST_ROWS = 4
"""Different rows that a context with a square holds."""
LOOKUP = 8
"""The values of contexts are looked up in a table of at most so many entries for each row; beyond, they are sorted."""
EXACT_PAIRS = math.isqrt(2**53)
EXACT = math.isqrt(EXACT_PAIRS)
"""Rows of a context whose square and fourth power are exact in float64, and with it sums of products of two and four
cells."""


@dataclass(frozen=True)
class PairTables:
    """Rows of some contexts by value of i, value of j and label, in tables of one shape.

    A table has places for the values that its context holds (and for the labels, where these are many), so that tables
    stay small. Places may be empty; where there are fewer places than labels, the last one is.
    """

    counts: Ints
    """Shape (contexts, values of i, values of j, labels)."""
    first: Positions
    """Values of i in the places of each context, of shape (contexts, values of i)."""
    second: Positions
    labels: Positions
    n_labels: int
    """Labels of the whole table."""
    is_whole: bool = False
    """Whether every value and label has a place, in their order."""

    @classmethod
    def whole(cls, counts: Ints) -> "PairTables":
        """Tables with a place for every value and label."""
        first, second, labels = (np.broadcast_to(np.arange(n), (len(counts), n)) for n in counts.shape[1:])
        return cls(counts, first, second, labels, counts.shape[3], is_whole=True)

    def of_some(self, contexts: Positions) -> "PairTables":
        """The tables of some contexts."""
        counts, first, second, labels = (each[contexts] for each in (self.counts, self.first, self.second, self.labels))
        return PairTables(counts, first, second, labels, self.n_labels, self.is_whole)


def context_numbers(ids: Keys) -> tuple[Positions, int]:
    """Numbers of groups from 0 without gaps, and how many groups there are."""
    known, numbers = np.unique(ids, return_inverse=True)
    return numbers.astype(np.intp), len(known)


def pair_tables(rows: CodedRows, groups: Positions, n_groups: int, i: int, j: int) -> Iterator[PairTables]:
    """Tables of the contexts that may hold squares of two features; ``groups`` is the context of each row.

    Tables of all values are made if they have fewer entries than there are rows. Otherwise contexts with a single value
    of i or of j, which hold no square, are left out, and the others have places for their own values only.
    """
    shape = (int(rows.n_values[i]), int(rows.n_values[j]), rows.n_labels)
    n_cells = shape[0] * shape[1] * shape[2]
    if n_cells > 4 * MAX_CELLS:
        raise InputError(
            f"Two features with {shape[0]:,} and {shape[1]:,} values have too many combinations to count squares;"
            " bin them, merge rare values, or leave one of them out."
        )
    if n_groups * n_cells <= len(groups):
        keys = ((groups * shape[0] + rows.codes[:, i]) * shape[1] + rows.codes[:, j]) * shape[2] + rows.labels
        yield PairTables.whole(_counted(keys, rows.weights, n_groups * n_cells).reshape(n_groups, *shape))
        return
    yield from _SmallTables.of(rows, groups, n_groups, i, j).by_shape()


def _counted(keys: Positions, weights: Ints | None, n_keys: int) -> Ints:
    """Rows of each key."""
    return np.bincount(keys, weights, minlength=n_keys).astype(np.int64)  # sums of weights are below 2**53


def _of_contexts(groups: Positions, kept: Bools) -> tuple[Positions, Positions, int]:
    """The rows of some contexts, their contexts in new numbers, and how many contexts there are."""
    chosen = np.flatnonzero(kept[groups])
    return chosen, (np.cumsum(kept) - 1)[groups[chosen]], int(np.count_nonzero(kept))


@dataclass(frozen=True)
class _Axis:
    """One side of tables that have places for what each context holds."""

    values: Codes
    """Value of each row."""
    places: Positions
    """Place of the value of each row in the table of its context."""
    n_held: Ints
    """Values that each context holds."""
    n_places: Ints
    """Places that the table of each context has: at least as many, so that there are fewer shapes."""

    @classmethod
    def of_values(cls, groups: Positions, n_groups: int, values: Codes, n_values: int) -> "_Axis":
        """Places for the values that contexts hold."""
        if n_groups * n_values <= LOOKUP * len(groups):
            held = np.zeros((n_groups, n_values), np.bool_)
            held[groups, values] = True
            n_below = np.cumsum(held, axis=1, dtype=np.int32)
            places, n_held = n_below[groups, values].astype(np.intp) - 1, n_below[:, -1].astype(np.int64)
        else:
            keys, key = np.unique(groups * n_values + values, return_inverse=True)
            owner = keys // n_values
            starts = np.searchsorted(owner, np.arange(n_groups))
            places, n_held = (np.arange(len(keys)) - starts[owner])[key], np.bincount(owner, minlength=n_groups)
        return cls(values, places, n_held, _rounded_up(n_held, n_values))

    @classmethod
    def of_labels(cls, groups: Positions, n_groups: int, labels: Codes, n_labels: int) -> "_Axis":
        """A place for every label; or, of many, for those that contexts hold and an empty one."""
        if n_labels <= FEW_LABELS:
            every = np.full(n_groups, n_labels)
            return cls(labels, labels.astype(np.intp), every, every)
        held = cls.of_values(groups, n_groups, labels, n_labels)
        return cls(labels, held.places, held.n_held, _rounded_up(held.n_held + 1, n_labels))

    def of_some(self, rows: Positions, contexts: Bools) -> "_Axis":
        """The same for some rows and contexts."""
        return _Axis(self.values[rows], self.places[rows], self.n_held[contexts], self.n_places[contexts])

    def codes(self, groups: Positions, contexts: Positions, rows: Positions) -> Positions:
        """The values in the places of some contexts, one context after the other; 0 in empty places."""
        sizes = self.n_places[contexts]
        starts = _starts(contexts, sizes, len(self.n_places))
        codes = np.zeros(int(sizes.sum()), np.intp)
        codes[starts[groups[rows]] + self.places[rows]] = self.values[rows]
        return codes


def _rounded_up(n_held: Ints, most: int) -> Ints:
    """Numbers of places: exact up to 8, then in steps of an eighth to a quarter."""
    steps = 2 ** np.maximum(np.ceil(np.log2(np.maximum(n_held, 1))).astype(np.int64) - 3, 0)
    return np.asarray(np.minimum(-(-n_held // steps) * steps, most))


@dataclass(frozen=True)
class _SmallTables:
    """Rows of contexts that hold two values of both features or more, on their way into tables."""

    groups: Positions
    """Context of each row."""
    first: _Axis
    second: _Axis
    labels: _Axis
    weights: Ints | None
    n_labels: int

    @classmethod
    def of(cls, rows: CodedRows, groups: Positions, n_groups: int, i: int, j: int) -> "_SmallTables":
        """The rows of contexts that may hold squares."""
        chosen, groups, n_groups = _of_contexts(groups, np.bincount(groups, minlength=n_groups) >= LEAST_ROWS)
        first = _Axis.of_values(groups, n_groups, rows.codes[chosen, i], int(rows.n_values[i]))
        second = _Axis.of_values(groups, n_groups, rows.codes[chosen, j], int(rows.n_values[j]))
        is_varied = (first.n_held > 1) & (second.n_held > 1)
        some, groups, n_groups = _of_contexts(groups, is_varied)
        chosen = chosen[some]
        return cls(
            groups,
            first.of_some(some, is_varied),
            second.of_some(some, is_varied),
            _Axis.of_labels(groups, n_groups, rows.labels[chosen], rows.n_labels),
            None if rows.weights is None else rows.weights[chosen],
            rows.n_labels,
        )

    def by_shape(self) -> Iterator[PairTables]:
        """Tables by shape, of at most ``MAX_CELLS`` entries or one context at a time."""
        shapes = np.stack([self.first.n_places, self.second.n_places, self.labels.n_places], axis=1)
        order = np.lexsort(shapes.T)
        part = (np.cumsum(shapes[order].prod(axis=1)) - 1) // MAX_CELLS
        part_of = np.empty(len(order), np.intp)
        part_of[order] = part
        for number in np.unique(part).tolist():
            yield from self._tables_of(order[part == number], np.flatnonzero(part_of[self.groups] == number), shapes)

    def _tables_of(self, contexts: Positions, rows: Positions, shapes: Ints) -> Iterator[PairTables]:
        """Tables of some contexts, which are in the order of their shapes, from their rows."""
        first, second, labels = self.first, self.second, self.labels
        shapes, groups = shapes[contexts], self.groups[rows]
        keys = first.places[rows] * second.n_places[groups] + second.places[rows]
        keys = keys * labels.n_places[groups] + labels.places[rows]
        sizes = shapes.prod(axis=1)
        keys += _starts(contexts, sizes, int(contexts.max()) + 1)[groups]
        weights = None if self.weights is None else self.weights[rows]
        counts = _counted(keys, weights, int(sizes.sum()))
        codes = [axis.codes(self.groups, contexts, rows) for axis in (first, second, labels)]
        bounds = np.flatnonzero(np.append(True, (np.diff(shapes, axis=0) != 0).any(axis=1)))
        for start, stop in zip(bounds.tolist(), [*bounds[1:].tolist(), len(shapes)], strict=True):
            n_tables, shape = stop - start, shapes[start].tolist()
            here, counts = np.split(counts, [n_tables * int(sizes[start])])
            of_first, of_second, of_labels = (part[: n_tables * n] for part, n in zip(codes, shape, strict=True))
            codes = [part[n_tables * n :] for part, n in zip(codes, shape, strict=True)]
            yield PairTables(
                here.reshape(n_tables, *shape),
                of_first.reshape(n_tables, -1),
                of_second.reshape(n_tables, -1),
                of_labels.reshape(n_tables, -1),
                self.n_labels,
            )


def _starts(contexts: Positions, sizes: Ints, n_contexts: int) -> Positions:
    """Where each context begins if contexts of these sizes stand one after the other, by number of the context."""
    starts = np.zeros(n_contexts, np.intp)
    starts[contexts] = np.cumsum(sizes) - sizes
    return starts


def repeated_cells(counts: Ints) -> Ints:
    """The tables without the cells that hold a single row."""
    repeated: Ints = counts * (counts.sum(axis=3, keepdims=True) > 1)
    return repeated


# ---------------------------------------------------------------- squares


def count_squares(counts: Ints) -> tuple[Ints | NDArray[np.object_], Ints | NDArray[np.object_]]:
    """Squares and broken squares of each context, exactly.

    Parameters
    ----------
    counts : ndarray of shape (contexts, values of i, values of j, labels)
        Rows, as in :class:`PairTables`.

    Returns
    -------
    squares, broken : ndarray
        One number per context: int64, or Python's whole numbers if some context holds very many rows.
    """
    is_large = counts.sum(axis=(1, 2, 3)) > EXACT
    if is_large.all() or not is_large.any():
        return _count(counts, is_large=bool(is_large.any()))
    squares, broken = np.zeros((2, len(counts)), object)
    for some in (is_large, ~is_large):
        squares[some], broken[some] = _count(counts[some], is_large=bool(is_large[some].any()))
    return squares, broken


def _count(counts: Ints, *, is_large: bool) -> tuple[Ints | NDArray[np.object_], Ints | NDArray[np.object_]]:
    """Squares and broken squares of contexts that all are large, or none."""
    n = counts if is_large and counts.sum(axis=(1, 2, 3)).max() > EXACT_PAIRS else counts.astype(np.float64)
    squares = _add_products(n.sum(axis=3)[:, None, :, :, None], is_large)
    same = _add_products(n.transpose(0, 3, 1, 2)[..., None], is_large)  # label by label
    kept = _add_products(n[:, None], is_large) + _add_products(n.transpose(0, 2, 1, 3)[:, None], is_large) - same
    if is_large:
        return squares, squares - kept
    return squares.astype(np.int64), (squares - kept).astype(np.int64)


def _add_products(n: NDArray[Any], is_large: bool) -> NDArray[Any]:
    """For each context, the sum of (n_uv . n_u'v) (n_uv' . n_u'v') over all twos of values u < u' and v < v'.

    Shape (contexts, tables, values of i, values of j, labels); products are sums over labels, added over tables. With
    f_v = n_uv . n_u'v it is (sum of f)^2 - sum of f^2, over all u != u', divided by four.
    """
    every_v = n.reshape(*n.shape[:3], n.shape[3] * n.shape[4])
    one_v = n.swapaxes(2, 3).reshape(len(n), n.shape[1] * n.shape[3], n.shape[2], n.shape[4])
    return np.asarray((_square_products(every_v, is_large) - _square_products(one_v, is_large)) // 4)


def _square_products(lines: NDArray[Any], is_large: bool) -> NDArray[Any]:
    """For each context, the squared products of every two different lines, in both orders, added over tables.

    Shape (contexts, tables, lines, numbers). The squares of all products x x' are those of the smaller matrix x' x.
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
    """The sum of squares of whole numbers below 2**62, from products of 16 bits each."""
    parts = numbers[:, None] >> 16 * np.arange(4) & 0xFFFF
    products = parts.T @ parts
    return sum(int(products[a, b]) << 16 * (a + b) for a in range(4) for b in range(4))
