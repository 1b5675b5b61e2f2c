"""Types that all stages share: kinds of arrays, cells as they were read, and notes."""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, TypeAlias

import numpy as np
from numpy.typing import NDArray

Codes: TypeAlias = NDArray[np.unsignedinteger[Any]]
"""Values or labels as integers from 0."""
Ints: TypeAlias = NDArray[np.int64]
"""Counts: exact for the pairs of up to 2^31 rows."""
Floats: TypeAlias = NDArray[np.float64]
Bools: TypeAlias = NDArray[np.bool_]
Keys: TypeAlias = NDArray[np.uint64]
"""Several codes packed into one integer."""
Positions: TypeAlias = NDArray[np.intp]
"""Positions in another array."""


@dataclass(frozen=True, eq=False)
class Scale:
    """How labels that are numbers are compared."""

    kind: str
    """``"number"``, ``"log"`` (its natural logarithm), ``"ranks"`` (share of the rows below, in per cent) or
    ``"ordered"`` (the place of a class in the order of all)."""
    unit: str
    """Unit of a number, where it is known: days, hours, seconds."""
    scores: Floats
    """The score of each label code, increasing."""


@dataclass(frozen=True, eq=False)
class RawCells:
    """Cells as they were read, before columns were set aside or binned, of all rows or of some drawn at random."""

    names: tuple[str, ...]
    """All columns that were read, and last the label."""
    codes: Codes
    """Shape (rows, columns); 0 is a missing cell."""
    n_values: Ints
    units: Mapping[int, bool]
    """Columns that may name units with several rows each, and whether their codes increase with their values."""


@dataclass(frozen=True)
class Note:
    """Something that was done to the table before counting, to be reported next to the numbers."""

    kind: str
    """One of those that ``show.notes.NOTES`` has words for."""
    columns: tuple[str, ...] = ()
    counts: tuple[int, ...] = ()
    """Numbers of rows, cells, values or bins, or per cent, depending on the note; one per column, or one for all."""
    edges: tuple[tuple[Any, ...], ...] = ()
    """For each binned column, the lower edges of its bins without the first."""
    words: tuple[str, ...] = ()
    """Words of a file, or how its cells are written."""
