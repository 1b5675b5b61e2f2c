"""All rows of a table in DuckDB as codes in this process, if they are few enough."""

from dataclasses import dataclass

import numpy as np

from analogical._types import Codes, Ints
from analogical.duck.cells import SqlCells, kind_below
from analogical.duck.engine import code_type
from analogical.duck.relation import DuckRelation
from analogical.duck.session import Session
from analogical.engines.cells import Encoder
from analogical.engines.encode import EngineTable, PlacedRows, table_changed
from analogical.engines.relation import ROW, WEIGHT
from analogical.table.encode import EncodedTable

__all__ = ["read_rows"]


def read_rows(
    table: EngineTable, relation: DuckRelation, n_rows: int, session: Session | None, *, is_whole: bool
) -> EncodedTable:
    """The rows that count, in the order of the user's table; a table that changed meanwhile is refused.

    Each cell comes as one small number: its place among the values or the finest bins of its column. ``is_whole`` says
    that no row of the user's table was left out.
    """
    features = table.encoders[: len(table.columns)]
    encoders = [*features, table.label_encoder, *([] if table.n_units is None else [table.encoders[-1]])]
    kinds = [code_type(len(encoder.places) + 1) for encoder in encoders]
    cells = np.empty((n_rows, len(features)), np.result_type(*kinds[: len(features)]), order="F")
    labels, *units = (np.empty(n_rows, kind) for kind in kinds[len(features) :])
    beside: dict[str, Ints] = {} if is_whole else {ROW: np.empty(n_rows, np.int64)}
    beside |= {WEIGHT: np.empty(n_rows, np.int64)} if table.is_weighted else {}
    reading = _Reading(SqlCells(relation, session), encoders, [*cells.T, labels, *units], beside)
    if not reading.fills(n_rows):
        raise table_changed()
    return table.encoded(
        PlacedRows(
            cells,
            labels,
            units=units[0] if units else None,
            weights=beside.get(WEIGHT),
            positions=beside.get(ROW),
        )
    )


@dataclass(frozen=True)
class _Reading:
    """Arrays to be filled: the places of cells, and what stands beside them."""

    cells: SqlCells
    encoders: list[Encoder]
    placed: list[Codes]
    """For each encoder."""
    beside: dict[str, Ints]
    """By the columns of the relation."""

    def fills(self, n_rows: int) -> bool:
        """Whether there are so many rows, and no cell that an encoder has not seen before."""
        places = [self.cells.place(encoder) for encoder in self.encoders]
        query = {name: name for name in self.beside}
        for k, (encoder, place) in enumerate(zip(self.encoders, places, strict=True)):
            kind = kind_below(len(encoder.places) + 1)
            query[f"q{k}"] = encoder.source if place is None else f"CAST({place} AS {kind})"
        done = 0
        for batch in self.cells.relation.project(query).batches(list(query)):
            part = slice(done, done := done + len(batch))
            if done > n_rows:
                return False
            for name, numbers in self.beside.items():
                numbers[part] = batch.column(name).to_numpy()
            try:
                for k, encoder in enumerate(self.encoders):
                    cell = batch.column(f"q{k}")
                    self.placed[k][part] = encoder.places.place(cell) if places[k] is None else cell.to_numpy()
            except ValueError:
                return False
        return done == n_rows
