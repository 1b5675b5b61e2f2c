"""Cells to a table of codes in DuckDB: by SQL where that is quick, by the encoders themselves elsewhere."""

from collections.abc import Iterator
from dataclasses import dataclass
from functools import cached_property
from typing import TYPE_CHECKING
from weakref import finalize

import numpy as np

from analogical._types import Ints
from analogical.duck.cells import SqlCells, kind_below
from analogical.duck.engine import DuckEngine
from analogical.duck.relation import DuckRelation
from analogical.duck.session import Session, ask
from analogical.engines.cells import Encoder, UnitEncoder, encode_batch
from analogical.engines.encode import EngineTable, table_changed
from analogical.engines.relation import LABEL, ROW, WEIGHT
from analogical.errors import InputError

if TYPE_CHECKING:
    import pyarrow as pa

__all__ = ["write_codes"]


def write_codes(
    session: Session, table: EngineTable, relation: DuckRelation, n_rows: int, *, is_own: bool, is_whole: bool
) -> DuckEngine:
    """The rows that count as codes, in the order of the user's table; a table that changed meanwhile is refused.

    The relation is that of the table; ``is_own`` says that it lies in the same session, ``is_whole`` that no row of the
    user's table was left out.
    """
    writing = _Writing(SqlCells(relation, session), table, is_whole, session.new_name("codes"))
    session.make_room(n_rows * len(writing.sources))
    connection = session.cursor()
    if is_own and not writing.by_encoder:
        source = f"({relation.project({name: name for name in writing.sources}).relation.sql_query()})"
    else:
        source = "given"
        connection.register(source, writing.reader())
    try:
        ask(connection, lambda: connection.execute(writing.query(source)).fetchall(), "encoding the rows")
    except InputError:
        if writing.is_unseen:
            raise table_changed() from None
        raise
    finally:
        connection.close()
    n_values = (*table.margins.n_values.tolist(), *table.n_codes.tolist()[len(table.columns) :])
    unit = None if table.n_units is None else len(n_values) - 1
    engine = DuckEngine(session, writing.name, table.margins, n_values, table.is_weighted, unit)
    drop = f"DROP VIEW {writing.name}; DROP TABLE {writing.name}_stored"
    finalize(engine, session.connection.execute, drop).atexit = False
    _refuse_changed(engine, table)
    return engine


def _refuse_changed(engine: DuckEngine, table: EngineTable) -> None:
    """Refuse a table that was not the same when it was encoded as when it was looked at."""
    columns = range(len(table.columns) + len(table.bins))
    most = sum(engine.n_values[c] + 1 for c in columns) * (table.margins.n_labels + 1)
    groups = engine.group([[c] for c in columns], most) or []
    sizes = [np.bincount(rows.codes[:, 0], rows.weights).astype(np.int64) for rows in groups]
    by_label = [np.bincount(rows.labels, rows.weights).astype(np.int64) for rows in groups[:1]]
    table.refuse_changed(by_label[0] if by_label else np.zeros(0, np.int64), sizes)


@dataclass
class _Writing:
    """How each column of the codes is written."""

    cells: SqlCells
    table: EngineTable
    is_whole: bool
    """Whether no row was left out, so that places in the table are those in the user's table."""
    name: str
    """Of the table of codes."""
    is_unseen: bool = False
    """Whether an encoder met a value that it does not know."""

    @cached_property
    def encoders(self) -> dict[str, Encoder]:
        """By the names of the columns."""
        return {f"c{c}": encoder for c, encoder in enumerate(self.table.encoders)} | {LABEL: self.table.label_encoder}

    @cached_property
    def places(self) -> dict[int, str]:
        """For what tells places apart in SQL the expression; each once, several columns may use it."""
        known: dict[int, str] = {}
        for encoder in self.encoders.values():
            key = id(encoder.places)
            if key not in known and (written := self.cells.place(encoder)) is not None:
                known[key] = written
        return known

    @property
    def by_encoder(self) -> list[str]:
        """Columns whose codes are made here, batch by batch."""
        return [name for name, encoder in self.encoders.items() if id(encoder.places) not in self.places]

    @property
    def sources(self) -> list[str]:
        """What is read of the user's table."""
        return list(dict.fromkeys([*self.table.sources, *([] if self.is_whole else [ROW])]))

    def query(self, source: str) -> str:
        """Statements that write the places of cells, once for a number and all of its bins, and name the codes."""
        numbers = {key: f"q{k}" for k, key in enumerate(self.places)}
        stored, shown = [], []
        for key, written in self.places.items():
            n_places = next(len(one.places) for one in self.encoders.values() if id(one.places) == key)
            stored.append(f"CAST({written} AS {kind_below(n_places + 1)}) AS {numbers[key]}")
        for name, encoder in self.encoders.items():
            code, kind = f"h_{name}", kind_below(encoder.n_codes + 1)
            if name not in self.by_encoder:
                code = _code(encoder, numbers[id(encoder.places)])
            if name in self.by_encoder or isinstance(encoder, UnitEncoder):
                stored.append(f"CAST({code} AS {kind}) AS {name}")
                code = name
            shown.append(f"CAST({code} AS {kind}) AS {name}")
        beside = [*([WEIGHT] if self.table.is_weighted else []), *([] if self.is_whole else [ROW])]
        shown += [*([WEIGHT] if self.table.is_weighted else []), f"{'rowid' if self.is_whole else ROW} AS position"]
        return (
            f"CREATE TABLE {self.name}_stored AS SELECT {', '.join([*stored, *beside])} FROM {source};"  # noqa: S608
            f"CREATE VIEW {self.name} AS SELECT {', '.join(shown)}, rowid AS place FROM {self.name}_stored"
        )

    def reader(self) -> "pa.RecordBatchReader":
        """The rows as Arrow batches, with the codes that are made here."""
        import pyarrow as pa

        batches = self._batches()
        first = next(batches)
        return pa.RecordBatchReader.from_batches(first.schema, (batch for some in ([first], batches) for batch in some))

    def _batches(self) -> Iterator["pa.RecordBatch"]:
        import pyarrow as pa

        chosen = {name: self.encoders[name] for name in self.by_encoder}
        for batch in self.cells.relation.batches(self.sources):
            try:
                codes = encode_batch(batch, list(chosen.values()))
            except ValueError:
                self.is_unseen = True
                raise
            columns = [*batch.columns, *map(pa.array, codes)]
            yield pa.RecordBatch.from_arrays(columns, [*self.sources, *(f"h_{name}" for name in chosen)])


def _code(encoder: Encoder, place: str) -> str:
    """The code of a place; one that is none, which changes the counts, for a cell that cannot be."""
    if isinstance(encoder, UnitEncoder):
        alone = f"{len(encoder.places)} + {ROW}" if encoder.last_row >= 0 else place
        return f"CASE WHEN {place} = {len(encoder.places)} THEN {alone} ELSE {place} END"
    codes: Ints = np.where(encoder.codes < 0, encoder.n_codes, encoder.codes)
    if np.array_equal(codes, np.arange(len(codes))):
        return place
    return f"([{', '.join(map(str, codes.tolist()))}])[{place} + 1]"
