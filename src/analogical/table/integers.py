"""Integer tables to dense codes: the values of every column numbered 0, 1, 2, ... in increasing order.

Most integer tables are dense codes already, and then nothing is copied: one quick pass finds the smallest and largest
value of every column, and a few rows show that every value in between occurs. Only columns that leave a doubt are read
again.
"""

from collections.abc import Sequence
from typing import Any, TypeAlias

import numpy as np
from numpy.typing import NDArray

from analogical._types import Codes

__all__ = ["Integers", "code_type", "dense_codes"]


Integers: TypeAlias = NDArray[Any]
"""An array of any integer type."""

FOLD = 64
"""Rows laid side by side when looking for extremes."""
SAMPLE = 256
"""Rows that usually show all values of a column with few values."""
CHUNK = 2**16
"""Rows looked at before asking whether all values have been seen."""
WIDEST = 2**16
"""A column is numbered through a lookup table if its values span less than this, or less than its length."""


def dense_codes(X: Integers) -> tuple[Codes, list[Sequence[int]]]:
    """Dense codes of an integer table of at least one row, and what they stand for in each column.

    ``values[i][codes[r, i]] == X[r, i]``, and every value of column i occurs. ``codes`` is ``X`` itself if it is
    unsigned, of at most 32 bits and dense already.

    Examples
    --------
    >>> codes, values = dense_codes(np.array([[-5, 0], [7, 1], [-5, 1]]))
    >>> codes.tolist(), values
    ([[0, 0], [1, 1], [0, 1]], [[-5, 7], range(0, 2)])
    """
    lowest, highest = _extremes(X, np.minimum), _extremes(X, np.maximum)
    ranges = [range(low, high + 1) for low, high in zip(lowest.tolist(), highest.tolist(), strict=True)]
    complete = _seen_complete(X[:SAMPLE], lowest, ranges)
    values: list[Sequence[int]] = [
        span if whole else _values(X[:, i], lowest[i], span)
        for i, (span, whole) in enumerate(zip(ranges, complete, strict=True))
    ]
    dtype = code_type(max(len(known) for known in values))
    if not lowest.any() and all(len(known) == _size(span) for known, span in zip(values, ranges, strict=True)):
        return X if X.dtype.kind == "u" and X.itemsize <= 4 else X.astype(dtype), values
    codes = np.empty(X.shape, dtype, order="F" if X.flags.f_contiguous else "C")
    for i, (known, span) in enumerate(zip(values, ranges, strict=True)):
        codes[:, i] = _number(X[:, i], known, lowest[i], span)
    return codes, values


def code_type(n_values: int) -> type[np.unsignedinteger[Any]]:
    """The narrowest type for the codes of a column with so many values."""
    if n_values <= 2**8:
        return np.uint8
    return np.uint16 if n_values <= 2**16 else np.uint32


def _size(span: range) -> int:
    """Numbers in a span; len() refuses more than 2^63."""
    return span.stop - span.start


def _extremes(X: Integers, extreme: np.ufunc) -> Integers:
    """The smallest or largest value of each column.

    Textbook: extreme.reduce(X, axis=0), which is slow on narrow tables in row order; rows laid side by side make
    them wide.
    """
    m, n = X.shape
    folded = m // FOLD * FOLD if X.flags.c_contiguous and n < 1024 else 0
    tops = [extreme.reduce(X[folded:], axis=0)] if folded < m else []
    if folded:
        wide = extreme.reduce(X[:folded].reshape(-1, FOLD * n), axis=0)
        tops.append(extreme.reduce(wide.reshape(FOLD, n), axis=0))
    result: Integers = extreme.reduce(tops, axis=0)
    return result


def _seen_complete(sample: Integers, lowest: Integers, ranges: list[range]) -> NDArray[np.bool_]:
    """Whether a few rows show every value from the lowest to the highest of each column."""
    lengths = np.array([_size(span) if _size(span) <= len(sample) else 0 for span in ranges])
    columns = np.flatnonzero(lengths)
    seen = np.zeros((len(columns), len(sample)), np.bool_)
    seen[np.arange(len(columns)), _above(sample[:, columns], lowest[columns])] = True
    complete = np.zeros(len(ranges), np.bool_)
    complete[columns] = np.count_nonzero(seen, axis=1) == lengths[columns]
    return complete


def _values(x: Integers, low: Any, span: range) -> Sequence[int]:
    """The values that occur in a column, increasing; all lie in the span."""
    if _size(span) > max(WIDEST, len(x)):
        return list(np.unique(x).tolist())
    seen = np.zeros(len(span), np.bool_)
    for start in range(0, len(x), CHUNK):
        seen[_above(x[start : start + CHUNK], low).astype(np.intp)] = True
        if seen.all():
            return span
    return [span[place] for place in np.flatnonzero(seen).tolist()]


def _number(x: Integers, known: Sequence[int], low: Any, span: range) -> Integers:
    """The place of each entry among the known values."""
    if len(known) == _size(span):
        return _above(x, low)
    values = np.array(known, x.dtype)
    if _size(span) > max(WIDEST, len(x)):
        return np.searchsorted(values, x)
    place: Integers = np.zeros(len(span), code_type(len(known)))
    place[_above(values, low)] = np.arange(len(known), dtype=place.dtype)
    return place.take(_above(x, low).astype(np.intp, copy=False))  # numpy 2.0 takes no unsigned 64-bit places


def _above(x: Integers, low: Any) -> Integers:
    """Distance of x above low; differences of signed integers may need the unsigned type of the same size."""
    if not low.any():
        return x
    unsigned = np.dtype(f"u{x.dtype.itemsize}")
    above: Integers = x.astype(unsigned) - low.astype(unsigned)
    return above
