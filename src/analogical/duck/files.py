"""Large files as tables that DuckDB reads when needed: Parquet as it is, text converted to Parquet first."""

from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Any, NamedTuple, cast

import numpy as np

from analogical._types import Note
from analogical.duck.relation import DuckRelation
from analogical.duck.session import Session, ask
from analogical.engines.text import type_cells
from analogical.errors import InputError
from analogical.io.files import FileTable, TextFormat

if TYPE_CHECKING:
    import pyarrow as pa

    from analogical.io.text import TextShape

__all__ = ["NotFaithful", "open_batches", "open_parquet", "open_text"]

ODD = ("chr(13) || chr(10)", "chr(0)")
"""What a cell must not contain: Windows line ends, which memory reads as one character, and zeros."""

BLOCK_BYTES = 2**24
"""Bytes of a file that are read together."""


class NotFaithful(Exception):  # noqa: N818 (reading the file as a whole copes with it, or says what is wrong)
    """DuckDB cannot read a text, or would read it differently from memory."""


def open_parquet(paths: str) -> DuckRelation:
    """The table in one Parquet file, or in all files that match a pattern, in the order of their names."""
    return _parquet(Session(), paths)


def open_batches(batches: "pa.RecordBatchReader") -> DuckRelation:
    """The table in Arrow batches, which are written to Parquet."""
    session = Session()
    session.connection.register("batches", batches)
    return _parquet(session, _stored(session, "SELECT * FROM batches"))


def open_text(path: str, shape: "TextShape", given: TextFormat, shape_notes: Sequence[Note]) -> FileTable:
    """The table in a UTF-8 text of this shape with typed cells, and all notes in the order that memory has them in."""
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
    n_rows = relation.aggregate({"n": "count(*)"}, "counting the rows")["n"]
    if not n_rows:
        raise NotFaithful("there are no rows")
    kept, notes = list(shape.names), list(shape_notes)
    lines = _count_lines(path, shape.separator)
    n_more = lines.n_all - lines.n_empty - shape.has_header - n_rows
    if n_more and n_more != _count_line_ends(relation, names) + sum(name.count("\n") for name in shape.names):
        raise NotFaithful(
            "not every line was read as a row"
        )  # DuckDB 2.0 skips lines of more than 2 MB without an error
    if lines.n_empty:
        notes.insert(0, Note("blank-lines", counts=(lines.n_empty,)))
    if shape.may_end_empty and not relation.aggregate({"n": f"count({names[-1]})"}, "looking at the cells")["n"]:
        notes.append(Note("empty-column"))
        kept = kept[:-1]
    odd = {k: " OR ".join(f"contains(c{k}, {text})" for text in ODD) for k in range(len(kept))}
    conditions = {f"c{k}": {f"n{k}": condition} for k, condition in odd.items()}
    if any(relation.count_where({name: name for name in conditions}, conditions).values()):
        raise NotFaithful("cells hold line ends of Windows, or zeros")
    typed = cast("DuckRelation", type_cells(relation, kept, given.na, shape.separator, notes))
    return FileTable(replace(typed, names=tuple(kept)), tuple(notes))


class _Lines(NamedTuple):
    """Lines of a text, up to the last one that is not blank."""

    n_all: int
    n_empty: int


def _count_lines(path: str, separator: str) -> _Lines:
    """Count the lines of a text; a line of separators holds empty cells."""
    blank = b" \t\r\n\x1a".replace(separator.encode(), b"")
    known, at_end = np.zeros((2, 2), np.int64)  # line ends and empty lines: before the last cell, and after it
    is_last_end = False
    with Path(path).open("rb") as stream:
        while raw := stream.read(BLOCK_BYTES):
            block = raw.replace(b"\r\n", b"\n")
            is_end = np.frombuffer(block, np.uint8) == ord("\n")
            is_empty = is_end & np.append(is_last_end, is_end[:-1])
            n_kept = len(block.rstrip(blank))
            if n_kept:
                known += at_end
                known += [is_end[:n_kept].sum(), is_empty[:n_kept].sum()]
                at_end[:] = 0
            at_end += [is_end[n_kept:].sum(), is_empty[n_kept:].sum()]
            is_last_end = bool(is_end[-1])
    n_ends, n_empty = known.tolist()
    return _Lines(n_ends + 1, n_empty)


def _count_line_ends(relation: DuckRelation, names: Sequence[str]) -> int:
    """Line ends within cells."""
    ends = [f"coalesce(sum(length({name}) - length(replace({name}, chr(10), ''))), 0)" for name in names]
    return int(relation.aggregate({"n": " + ".join(ends)}, "looking at the cells")["n"])


def _stored(session: Session, query: str, name: str = "table") -> str:
    """The path of a Parquet file with the result of a query, in the folder of the session."""
    path = str(Path(session.folder) / f"{name}.parquet")
    session.run(f"COPY ({query}) TO {_literal(path)} (FORMAT parquet)", "reading the file")
    return path


def _parquet(session: Session, paths: str) -> DuckRelation:
    """Parquet files as a relation; the position of a row follows from their numbers of rows."""
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
