"""The rows of a table as codes: in this process, or in a table of our own in DuckDB.

Both ways read the same Arrow batches (:class:`CodedCells`) and refuse a table that changed since its values were
counted.
"""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import cached_property, partial
from typing import TYPE_CHECKING, Any, cast
from weakref import finalize

import numpy as np

from analogical._types import Ints, code_type
from analogical.columns.encode import EncodedTable
from analogical.duck.engine import SQL_TYPES, DuckEngine
from analogical.duck.relation import DuckRelation
from analogical.duck.session import Session, ask
from analogical.engines.cells import ByValue, Encoder, Steps, UnitEncoder, table_changed
from analogical.engines.encode import EngineTable
from analogical.engines.relation import LABEL, ROW, UNIT, WEIGHT

if TYPE_CHECKING:
    import pyarrow as pa

__all__ = ["CodedCells", "read_codes", "write_codes"]

MOST_COMPARED = 256
"""Largest number of bins found by comparisons in SQL, eight for each cell."""
MOST_TEXTS = 10_000
"""Largest number of texts looked up in SQL, by an ENUM type."""


@dataclass(frozen=True)
class CodedCells:
    """The cells of all rows as small whole numbers, in the order of the user's table.

    The column ``c0``, ``c1``, ... of a feature holds its codes. That of a feature in several numbers of bins holds
    places: its codes and those of all its bins follow from these. ``label``, ``unit``, ``weight`` and ``row`` are
    beside them, the last one if rows of the user's table were left out.
    """

    table: EngineTable
    is_whole: bool
    """Whether no row of the user's table was left out."""

    @property
    def relation(self) -> DuckRelation:
        """The rows that count."""
        return cast("DuckRelation", self.table.relation)

    @cached_property
    def encoders(self) -> dict[str, Encoder]:
        """By column."""
        features = {f"c{i}": encoder for i, encoder in enumerate(self.table.encoders[: len(self.table.columns)])}
        unit = {} if self.table.n_units is None else {UNIT: self.table.encoders[-1]}
        return features | {LABEL: self.table.label_encoder} | unit

    @cached_property
    def placed(self) -> frozenset[str]:
        """Columns that hold places."""
        return frozenset(f"c{i}" for i in self.table.fine_encoders)

    @property
    def beside(self) -> list[str]:
        """Columns that are not encoded."""
        return [*([WEIGHT] if self.table.is_weighted else []), *([] if self.is_whole else [ROW])]

    def n_numbers(self, name: str) -> int:
        """How many numbers a column may hold: codes and one for cells that cannot occur, or places and missing."""
        encoder = self.encoders[name]
        return 1 + (len(encoder.places) if name in self.placed else encoder.n_codes)

    def type_of(self, name: str) -> np.dtype[Any]:
        """The type of a column."""
        return code_type(self.n_numbers(name))

    def batches(self) -> Iterator["pa.RecordBatch"]:
        """All rows."""
        import pyarrow as pa

        query = {}
        by_encoder = []
        for name, encoder in self.encoders.items():
            place = place_in_sql(encoder, self.relation)
            if place is None:
                by_encoder.append(name)
                query[name] = encoder.source
            else:
                number = place if name in self.placed else code_in_sql(encoder, place)
                query[name] = f"CAST({number} AS {SQL_TYPES[self.type_of(name).name]})"
        rows = [ROW] if ROW in self.table.sources else []
        query |= {name: name for name in [*self.beside, *rows]}
        for batch in self.relation.project(query).batches(list(query)):
            columns = {name: batch.column(name) for name in [*self.encoders, *self.beside]}
            for name in by_encoder:
                columns[name] = pa.array(self._encoded(name, batch).astype(self.type_of(name)))
            yield pa.RecordBatch.from_pydict(columns)

    def _encoded(self, name: str, batch: "pa.RecordBatch") -> Ints:
        encoder = self.encoders[name]
        try:
            places = encoder.places.place(batch.column(name))
            return places if name in self.placed else encoder.codes_at(places, batch)
        except KeyError:  # the first unit that is missing
            raise table_changed() from None


def place_in_sql(encoder: Encoder, relation: DuckRelation) -> str | None:
    """The place of a cell, the number of places if it is missing; None where the encoder is to look it up."""
    cell, places, kind = encoder.source, encoder.places, relation.kinds[encoder.source]
    if isinstance(places, ByValue):
        if kind == "text" and relation.session is not None and 0 < len(places) <= MOST_TEXTS:
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


def code_in_sql(encoder: Encoder, place: str) -> str:
    """The code of a place; one above all codes for a cell that cannot occur, so that the counts differ."""
    if isinstance(encoder, UnitEncoder):
        alone = f"{len(encoder.places)} + {ROW}" if encoder.last_row >= 0 else place
        return f"CASE WHEN {place} = {len(encoder.places)} THEN {alone} ELSE {place} END"
    codes = _known_codes(encoder)
    if np.array_equal(codes, np.arange(len(codes))):
        return place
    return f"([{', '.join(map(str, codes.tolist()))}])[{place} + 1]"


def _known_codes(encoder: Encoder) -> Ints:
    """The code of each place; one above all codes where there is none."""
    return np.where(encoder.codes < 0, encoder.n_codes, encoder.codes)


def read_codes(cells: CodedCells, n_rows: int) -> EncodedTable:
    """The rows as an ordinary table of codes."""
    table, counting = cells.table, _Counting(cells)
    n_features = len(table.columns)
    codes = np.empty((n_rows, n_features), code_type(int(table.n_values.max())), order="F")
    labels = np.empty(n_rows, code_type(table.label_encoder.n_codes))
    units = None if table.n_units is None else np.empty(n_rows, np.int64)
    beside = {name: np.empty(n_rows, np.int64) for name in cells.beside}
    fine = {i: np.empty(n_rows, code_type(encoder.n_codes)) for i, encoder in table.fine_encoders.items()}
    n_read = 0
    for batch in cells.batches():
        part = slice(n_read, n_read := n_read + batch.num_rows)
        if n_read > n_rows:
            raise table_changed()
        counting.add(batch)
        for i in range(n_features):
            numbers = batch.column(f"c{i}").to_numpy()
            codes[part, i] = table.encoders[i].codes[numbers] if i in fine else numbers
            if i in fine:
                fine[i][part] = table.fine_encoders[i].codes[numbers]
        labels[part] = batch.column(LABEL).to_numpy()
        if units is not None:
            units[part] = batch.column(UNIT).to_numpy()
        for name, column in beside.items():
            column[part] = batch.column(name).to_numpy()
    counting.refuse_changed()
    if units is not None:  # rows without a unit are units of their own
        n_named = len(table.encoders[-1].places)
        alone = np.flatnonzero(units >= n_named)
        units[alone] = n_named + np.arange(len(alone))
    return EncodedTable(
        codes=codes,
        columns=table.columns,
        weights=beside.get(WEIGHT),
        labels=labels,
        label_meaning=table.label_meaning,
        groups=units,
        origin=beside.get(ROW),
        frame=None,
        notes=table.notes,
        fine=fine,
    )


class _Counting:
    """The rows of each number in the columns of batches."""

    def __init__(self, cells: CodedCells) -> None:
        self.cells = cells
        self.sizes = {name: np.zeros(cells.n_numbers(name), np.int64) for name in cells.encoders if name != UNIT}

    def add(self, batch: "pa.RecordBatch") -> None:
        """Count the rows of a batch."""
        weights = batch.column(WEIGHT).to_numpy() if self.cells.table.is_weighted else None
        for name in self.sizes:
            sizes = np.bincount(batch.column(name).to_numpy(), weights, minlength=len(self.sizes[name]))
            self.sizes[name] += sizes.astype(np.int64)

    def refuse_changed(self) -> None:
        """Refuse a table whose rows are not those of the first pass."""
        fine = ((f"c{i}", encoder) for i, encoder in self.cells.table.fine_encoders.items())
        for name, encoder in (*self.cells.encoders.items(), *fine):
            if name == UNIT:
                continue
            sizes = self.sizes[name]
            if name in self.cells.placed:
                sizes = np.bincount(_known_codes(encoder), sizes, minlength=encoder.n_codes + 1).astype(np.int64)
            if not np.array_equal(sizes, np.append(encoder.sizes, 0)):
                raise table_changed()


def write_codes(cells: CodedCells, session: Session, n_rows: int) -> DuckEngine:
    """The rows as a table of our own in DuckDB, and the engine that groups them."""
    table, name = cells.table, session.new_name("codes")
    session.make_room(n_rows * len(cells.encoders))
    _store(cells, session, f"{name}_stored")
    session.run(f"CREATE VIEW {name} AS SELECT {', '.join(_shown(cells))} FROM {name}_stored", "encoding the rows")  # noqa: S608 (names of our own)
    n_values = (*table.margins.n_values.tolist(), *table.n_codes.tolist()[len(table.columns) :])
    unit = None if table.n_units is None else len(n_values) - 1
    engine = DuckEngine(session, name, table.margins, n_values, table.is_weighted, unit)
    finalize(engine, session.connection.execute, f"DROP VIEW {name}; DROP TABLE {name}_stored").atexit = False
    return engine


def _store(cells: CodedCells, session: Session, name: str) -> None:
    """Write the rows to a new table."""
    connection, counting = session.cursor(), _Counting(cells)
    statement = f"CREATE TABLE {name} AS FROM batch"
    try:
        for batch in cells.batches():
            counting.add(batch)
            connection.register("batch", batch)
            ask(connection, partial(connection.execute, statement), "encoding the rows")
            statement = f"INSERT INTO {name} FROM batch"
    finally:
        connection.close()
    counting.refuse_changed()


def _shown(cells: CodedCells) -> list[str]:
    """The columns of the engine, in SQL: those of the study, label, weight, position and place."""
    table, shown = cells.table, []
    sources = [*range(len(table.columns)), *(feature for feature, _ in table.bins)]
    names = [*(f"c{feature}" for feature in sources), *([] if table.n_units is None else [UNIT])]
    for c, (name, encoder) in enumerate(zip(names, table.encoders, strict=True)):
        code = code_in_sql(encoder, name) if name in cells.placed else name
        shown.append(f"CAST({code} AS {SQL_TYPES[code_type(encoder.n_codes + 1).name]}) AS c{c}")
    weight = [WEIGHT] if table.is_weighted else []
    return [*shown, LABEL, *weight, f"{'rowid' if cells.is_whole else ROW} AS position", "rowid AS place"]
