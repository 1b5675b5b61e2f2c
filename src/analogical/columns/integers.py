"""Integer tables to dense codes: the values of every column numbered 0, 1, 2, ... in increasing order.

Most integer tables are dense codes already, and then nothing is copied: the smallest and the largest value of every
column are found in one pass, and the first rows usually contain every value in between. ``np.unique`` on each column
would take longer than counting: 0.8 s instead of 0.02 s for a million rows of 20 columns.
"""

from collections.abc import Sequence
from typing import Any, TypeAlias

import numpy as np
from numpy.typing import NDArray

from analogical._types import Codes, code_type

__all__ = ["Integers", "dense_codes"]


Integers: TypeAlias = NDArray[Any]
"""An array of any integer type."""

FOLD = 64
"""Rows joined into one when looking for extremes."""
CHECKED_ROWS = 2**12
"""Rows read before checking whether all values have occurred."""
WIDEST = 2**16
"""A column is numbered with a lookup table if its range is at most this, or at most its length."""


def dense_codes(X: Integers) -> tuple[Codes, list[Sequence[int]]]:
    """Dense codes of an integer table of at least one row, and the values they stand for in each column.

    ``values[i][codes[r, i]] == X[r, i]``, and every value of column i occurs. ``codes`` is ``X`` itself if it is
    unsigned, of at most 32 bits and dense already.

    Examples
    --------
    >>> codes, values = dense_codes(np.array([[-5, 0], [7, 1], [-5, 1]]))
    >>> codes.tolist(), values
    ([[0, 0], [1, 1], [0, 1]], [[-5, 7], range(0, 2)])
    """
    lowest, highest = _extremes(X, np.minimum).tolist(), _extremes(X, np.maximum).tolist()
    values = [_values(X[:, i], low, high) for i, (low, high) in enumerate(zip(lowest, highest, strict=True))]
    dtype = code_type(max(map(len, values)))
    if all(isinstance(known, range) and known.start == 0 for known in values):
        return X if X.dtype.kind == "u" and X.itemsize <= 4 else X.astype(dtype), values
    codes = np.empty(X.shape, dtype, order="F" if X.flags.f_contiguous else "C")
    for i, known in enumerate(values):
        codes[:, i] = _number(X[:, i], known)
    return codes, values


def _extremes(X: Integers, extreme: np.ufunc) -> Integers:
    """The smallest or largest value of each column.

    Textbook: extreme.reduce(X, axis=0), which is slow on narrow tables in row order; joining rows makes them wide.
    """
    m, n = X.shape
    folded = m // FOLD * FOLD if X.flags.c_contiguous and n < 1024 else 0
    tops = [extreme.reduce(X[folded:], axis=0)] if folded < m else []
    if folded:
        wide = extreme.reduce(X[:folded].reshape(-1, FOLD * n), axis=0)
        tops.append(extreme.reduce(wide.reshape(FOLD, n), axis=0))
    result: Integers = extreme.reduce(tops, axis=0)
    return result


def _values(x: Integers, low: int, high: int) -> Sequence[int]:
    """The values that occur in a column, increasing; a range if all from the lowest to the highest do."""
    if high - low >= max(WIDEST, len(x)):
        return list(np.unique(x, return_inverse=True)[0].tolist())  # sorts; without the inverse numpy hashes, slower
    occurs = np.zeros(high - low + 1, np.bool_)
    for start in range(0, len(x), CHECKED_ROWS):
        occurs[_above(x[start : start + CHECKED_ROWS], low)] = True
        if occurs.all():
            return range(low, high + 1)
    return [low + place for place in np.flatnonzero(occurs).tolist()]


def _number(x: Integers, known: Sequence[int]) -> Integers:
    """The place of each entry among the known values."""
    low, high = known[0], known[-1]
    if isinstance(known, range):
        return _above(x, low)
    if high - low >= max(WIDEST, len(x)):
        return np.unique(x, return_inverse=True)[1]
    place = np.zeros(high - low + 1, code_type(len(known)))
    place[_above(np.array(known, x.dtype), low)] = np.arange(len(known))
    return place[_above(x, low)]


def _above(x: Integers, low: int) -> Integers:
    """Distance of x above low, as indices; large uint64 wrap around in both terms, so their difference is right."""
    above: Integers = x.astype(np.intp, copy=False) - x.dtype.type(low).astype(np.intp)
    return above
