"""All rows of a table in DuckDB as codes in this process, if they are few enough."""

import numpy as np

from analogical._types import Codes, Ints
from analogical.duck.cells import SqlCells, kind_below
from analogical.duck.engine import code_type
from analogical.duck.relation import DuckRelation
from analogical.duck.session import Session
from analogical.engines.encode import EngineTable
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
    cells, lookups = SqlCells(relation, session), list(table.lookups.items())
    written = {f"q{k}": cells.place(encoder) for k, (_, encoder) in enumerate(lookups)}
    columns, placed = dict[str, str](), dict[int, Codes]()
    for (key, encoder), (name, place) in zip(lookups, written.items(), strict=True):
        n_places = len(encoder.places) + 1
        columns[name] = encoder.source if place is None else f"CAST({place} AS {kind_below(n_places)})"
        placed[key] = np.empty(n_rows, code_type(n_places))
    names = [*([] if is_whole else [ROW]), *([WEIGHT] if table.is_weighted else [])]
    beside: dict[str, Ints] = {name: np.empty(n_rows, np.int64) for name in names}
    columns |= {name: name for name in names}
    done = 0
    for batch in relation.project(columns).batches(list(columns)):
        part = slice(done, done := done + len(batch))
        if done > n_rows:
            break
        for (key, encoder), (name, place) in zip(lookups, written.items(), strict=True):
            column = batch.column(name)
            try:
                placed[key][part] = encoder.places.place(column) if place is None else column.to_numpy()
            except ValueError:
                table.refuse_changed(np.zeros(0, np.int64), ())
        for name, numbers in beside.items():
            numbers[part] = batch.column(name).to_numpy()
    if done != n_rows:
        table.refuse_changed(np.zeros(0, np.int64), ())
    return table.encoded(placed, beside.get(WEIGHT), beside.get(ROW))
