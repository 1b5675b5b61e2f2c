"""The place of a cell among the values or the bins of its column, as an SQL expression."""

from collections.abc import Sequence
from typing import Any

from analogical.duck.relation import DuckRelation
from analogical.engines.cells import ByValue, Encoder, Steps

__all__ = ["place_in_sql"]

MOST_COMPARED = 256
"""Largest number of bins found by comparisons in SQL, eight for each cell."""
MOST_WORDS = 10_000
"""Largest number of texts looked up in SQL, by an ENUM type."""


def place_in_sql(encoder: Encoder, relation: DuckRelation) -> str | None:
    """The place of a cell, the number of places if it is missing; None where the encoder is to look it up."""
    cell, places, kind = encoder.source, encoder.places, relation.kinds[encoder.source]
    if isinstance(places, ByValue):
        if kind == "text" and relation.session is not None and 0 < len(places) <= MOST_WORDS:
            texts = relation.session.enum_type(places.values)
            return f"coalesce(enum_code(TRY_CAST({cell} AS {texts}))::UINTEGER, {len(places)})"
        if kind in ("bool", "whole") and 0 < len(places) <= MOST_COMPARED:
            cases = " ".join(f"WHEN {value} THEN {k}" for k, value in enumerate(places.values.to_pylist()))
            return f"CASE {cell} {cases} ELSE {len(places)} END"
    if isinstance(places, Steps) and kind in ("whole", "real") and len(places) <= MOST_COMPARED:
        number = cell if kind == "whole" else f"CAST({cell} AS DOUBLE)"
        return f"CASE WHEN {cell} IS NULL THEN {len(places)} ELSE {_step(number, places.starts.tolist())} END"
    return None


def _step(number: str, starts: Sequence[Any], first: int = 0) -> str:
    """The last of these starts that is not above a number, found by halving; the first one has the place ``first``."""
    if len(starts) == 1:
        return str(first)
    half = len(starts) // 2
    below, above = _step(number, starts[:half], first), _step(number, starts[half:], first + half)
    start = starts[half] if isinstance(starts[half], int) else f"CAST('{starts[half]!r}' AS DOUBLE)"
    return f"CASE WHEN {number} < {start} THEN {below} ELSE {above} END"
