"""Codes packed into one whole number per row."""

from collections.abc import Sequence

import numpy as np

from analogical._types import Codes, Keys, Positions

__all__ = ["PACKED_BITS", "pack_codes"]

PACKED_BITS = 53  # codes are packed by a matrix product in float64, exact below 2**53
CHUNK = 2**17  # codes packed at a time: stays in cache, and too few for BLAS to start threads of its own
SPREAD = 8
"""Columns that lie among more than so many others each are picked out first."""


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
