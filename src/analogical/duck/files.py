"""Large files to tables that DuckDB reads when they are needed: Parquet as it is, text by way of Parquet."""

from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Any, cast

import numpy as np

from analogical._types import Note
from analogical.duck.opening import DuckTable
from analogical.duck.relation import DuckRelation
from analogical.duck.session import Session, ask
from analogical.engines.text import type_cells
from analogical.errors import InputError
from analogical.io.formats import TextFormat

if TYPE_CHECKING:
    import pyarrow as pa

    from analogical.io.text import TextShape

__all__ = ["NotFaithful", "open_batches", "open_parquet", "open_text"]

ODD = ("chr(13) || chr(10)", "chr(0)")
"""What a cell may not hold: line ends that memory reads as one character, and characters that end texts."""


class NotFaithful(Exception):  # noqa: N818 (reading the file as a whole copes with it, or says what is wrong)
    """DuckDB does not read a text, or not as a text is read in memory."""


def open_parquet(paths: str) -> DuckTable:
    """The table in Parquet files: one, or all that a pattern names, in the order of their names."""
    session = Session()
    return DuckTable(_parquet(session, paths))


def open_batches(batches: "pa.RecordBatchReader") -> DuckTable:
    """The table in Arrow batches, which are read once and held as Parquet."""
    session = Session()
    session.connection.register("batches", batches)
    return DuckTable(_parquet(session, _stored(session, "SELECT * FROM batches")))


def open_text(path: str, shape: "TextShape", given: TextFormat) -> tuple[DuckTable, tuple[Note, ...]]:
    """The table in a text of UTF-8 that has this shape, with its cells as what they hold."""
    import duckdb

    session = Session()
    names = [f"c{k}" for k in range(len(shape.names))]
    settings: dict[str, Any] = {
        "auto_detect": False,
        "header": shape.has_header,
        "delim": shape.separator,
        "quote": '"',
        "escape": '"',
        "columns": dict.fromkeys(names, "VARCHAR"),
        "strict_mode": True,
    }
    written = ", ".join(f"{name} = {_literal(value)}" for name, value in settings.items())
    try:
        stored = _stored(session, f"SELECT * FROM read_csv({_literal(path)}, {written})")  # noqa: S608
    except InputError as error:
        if isinstance(error.__cause__, duckdb.OutOfMemoryException):
            raise
        raise NotFaithful(str(error)) from None
    relation = _parquet(session, stored).with_row()
    if not relation.look({"n": "count(*)"}, "counting the rows")["n"]:
        raise NotFaithful("there are no rows")
    kept, notes = list(shape.names), list[Note]()
    if shape.may_end_empty and not relation.look({"n": f"count({names[-1]})"}, "looking at the cells")["n"]:
        notes.append(Note("empty-column"))
        kept = kept[:-1]
    odd = {k: " OR ".join(f"contains(c{k}, {text})" for text in ODD) for k in range(len(kept))}
    conditions = {f"c{k}": {f"n{k}": condition} for k, condition in odd.items()}
    if any(relation.count_where({name: name for name in conditions}, conditions).values()):
        raise NotFaithful("cells hold line ends of Windows, or zeros")
    typed = type_cells(relation, kept, given.na, shape.separator)
    return DuckTable(replace(cast("DuckRelation", typed.relation), names=tuple(kept))), (*notes, *typed.notes)


def _stored(session: Session, query: str, name: str = "table") -> str:
    """The path of a Parquet file with the result of a query, in the folder of the session."""
    path = str(Path(session.folder) / f"{name}.parquet")
    session.run(f"COPY ({query}) TO {_literal(path)} (FORMAT parquet)", "reading the file")
    return path


def _parquet(session: Session, paths: str) -> DuckRelation:
    """Parquet files as a relation; the position of a row is known from their sizes."""
    sizes = session.arrow(
        f"SELECT num_rows FROM parquet_file_metadata({_literal(paths)})",  # noqa: S608
        "reading the file",
    )
    ends = np.cumsum(sizes.column("num_rows").to_numpy())
    starts = [0, *ends.tolist()[:-1]]
    relation = ask(
        session.connection,
        lambda: session.connection.read_parquet(paths, hive_partitioning="**" in paths),
        "reading the file",
    )
    row = "file_row_number" if len(starts) == 1 else f"({starts}::BIGINT[])[file_index::BIGINT + 1] + file_row_number"
    return DuckRelation(relation, session, row=row)


def _literal(value: Any) -> str:
    """A setting in SQL."""
    if isinstance(value, dict):
        return "{" + ", ".join(f"{_literal(key)}: {_literal(one)}" for key, one in value.items()) + "}"
    return str(value).lower() if isinstance(value, bool | int) else "'" + str(value).replace("'", "''") + "'"
