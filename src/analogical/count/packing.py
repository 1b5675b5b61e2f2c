"""Codes packed into one whole number per row, and pairs within groups of equal numbers."""

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from analogical._types import Codes, Ints, Keys, Positions

__all__ = ["PACKED_BITS", "PairSums", "pack_codes", "pairs_between"]

PACKED_BITS = 53  # codes are packed by a matrix product in float64, exact below 2**53
CHUNK = 2**17  # codes packed at a time: stays in cache, and too few for BLAS to start threads of its own
SPREAD = 8
"""Columns that lie among more than so many others each are picked out first."""


@dataclass
class PairSums:
    """Sums of C2(c) = c (c - 1) / 2 over groups of c equal rows; the arrays have one entry per feature."""

    by_context: Ints
    by_context_and_label: Ints
    by_row: int = 0
    by_row_and_label: int = 0
    n_distinct: int = 0

    @classmethod
    def zeros(cls, n_features: int) -> "PairSums":
        """No groups yet."""
        return cls(np.zeros(n_features, np.int64), np.zeros(n_features, np.int64))


def pairs_between(sizes: NDArray[np.int64], apart: int) -> int:
    """Pairs inside groups of these sizes, whose members have the sum of squares `apart` when taken one by one.

    Textbook: sum(c * (c - 1) // 2 for c in sizes), with members of weight 1. The squares are summed modulo 2**64, which
    is exact once `apart` is taken off: twice the number of pairs is below 2**64, because there are at most 2**31 rows.
    """
    sizes = sizes.ravel()
    return (int(np.einsum("i,i->", sizes, sizes)) - apart) % 2**64 // 2


def pack_codes(codes: Codes, features: Sequence[int], places: Sequence[int], rows: Positions | None = None) -> Keys:
    """Sum over the features of place times code, for the given rows (None: all); below 2**53, exact in float64."""
    n_rows = len(codes) if rows is None else len(rows)
    keys = np.zeros(n_rows, np.uint64)
    if not features:
        return keys
    first, width = min(features), max(features) + 1 - min(features)
    if width > SPREAD * len(features):
        codes, first, width = codes[:, features], 0, len(features)
        factors = np.array(places, np.float64)
    else:
        factors = np.zeros(width)
        factors[np.subtract(features, first)] = places
    step = max(1024, CHUNK // width)
    for start in range(0, n_rows, step):
        chunk = slice(start, start + step)
        part = codes[chunk if rows is None else rows[chunk], first : first + width]
        keys[chunk] = part.astype(np.float64) @ factors
    return keys
