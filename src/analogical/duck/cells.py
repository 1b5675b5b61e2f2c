"""The place of a cell among the values or the bins of its column, in SQL."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from analogical.duck.engine import SQL_TYPES, code_type
from analogical.duck.relation import DuckRelation
from analogical.duck.session import Session
from analogical.engines.cells import ByValue, Encoder, Steps

__all__ = ["SqlCells", "kind_below"]

MOST_COMPARED = 256
"""Numbers that are told apart by comparisons in SQL, eight for each cell."""
MOST_LISTED, MOST_WORDS = 64, 10_000
"""Texts that are looked for in a list, which DuckDB does once for each entry of a file's own list of texts, and those
that are looked up as a type of their own."""


@dataclass(frozen=True)
class SqlCells:
    """Cells of a relation."""

    relation: DuckRelation
    session: Session | None
    """Where texts may become a type of their own; None if the relation lies in a session of the user."""

    def place(self, encoder: Encoder) -> str | None:
        """The place of a cell in SQL, the number of places if it is missing; None if the encoder does it."""
        cell, places, kind = encoder.source, encoder.places, self.relation.kinds[encoder.source]
        if isinstance(places, ByValue):
            if kind == "text" and 0 < len(places) <= MOST_LISTED:
                words = ", ".join(map(self.relation.dialect.literal, places.values.to_pylist()))
                return f"coalesce(list_position([{words}], {cell}) - 1, {len(places)})"
            if kind == "text" and self.session is not None and 0 < len(places) <= MOST_WORDS:
                name = self.session.name_texts(places.values)
                return f"coalesce(enum_code(TRY_CAST({cell} AS {name}))::UINTEGER, {len(places)})"
            if kind in ("bool", "whole") and len(places) <= MOST_COMPARED:
                cases = " ".join(f"WHEN {value} THEN {k}" for k, value in enumerate(places.values.to_pylist()))
                return f"CASE {cell} {cases} ELSE {len(places)} END" if cases else "0"
            return None
        if not isinstance(places, Steps) or len(places) > MOST_COMPARED:
            return None
        number = {"whole": cell, "real": f"CAST({cell} AS DOUBLE)"}.get(kind)
        if number is None:
            return None
        starts = places.starts.tolist()
        if kind == "whole" and starts == list(range(starts[0], starts[0] + len(starts))) and _are_small(starts):
            place = f"least(greatest({cell}, {starts[0]}), {starts[-1]})::SMALLINT - {starts[0]}::SMALLINT"
        else:
            place = _compared(number, starts)
        return f"CASE WHEN {cell} IS NULL THEN {len(places)} ELSE {place} END"


def kind_below(n_codes: int) -> str:
    """The smallest type of whole numbers below this."""
    return SQL_TYPES[code_type(n_codes).name]


def _are_small(numbers: Sequence[int]) -> bool:
    """Whether differences of whole numbers have two bytes."""
    return numbers[0] >= -(2**14) and numbers[-1] < 2**14


def _compared(number: str, starts: Sequence[Any], first: int = 0) -> str:
    """The last of these that a number is not below, by its place, in as few comparisons as tell."""
    if len(starts) == 1:
        return str(first)
    half = len(starts) // 2
    below, above = _compared(number, starts[:half], first), _compared(number, starts[half:], first + half)
    start = starts[half] if isinstance(starts[half], int) else f"CAST('{starts[half]!r}' AS DOUBLE)"
    return f"CASE WHEN {number} < {start} THEN {below} ELSE {above} END"
