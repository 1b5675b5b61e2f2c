"""The study of a DuckDB relation or of a large file that DuckDB reads."""

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

from analogical.columns.rules import Rules
from analogical.duck.codes import CodedCells, read_codes, write_codes
from analogical.duck.relation import DuckRelation
from analogical.duck.session import Session
from analogical.engines.encode import encode_relation
from analogical.engines.relation import ROW
from analogical.engines.study import EngineStudy
from analogical.study import Duplicates, Study

if TYPE_CHECKING:
    from duckdb import DuckDBPyRelation

__all__ = ["open_study"]

HERE_CELLS = 600_000_000
"""Cells of the largest table whose codes are held in this process: a byte each, and as much again to count them."""


def open_study(
    X: "DuckRelation | DuckDBPyRelation",
    label: Any,
    rules: Rules,
    *,
    keep: Sequence[Any] = (),
    duplicates: Duplicates = "count",
) -> Study:
    """The study of a table in DuckDB; see :func:`analogical.engines.open.engine_study_of`.

    Its codes are held in this process if they are few enough. Otherwise they are written to a DuckDB of our own: in
    memory up to a limit, and beyond it in a temporary folder that is removed with the study.
    """
    relation = X if isinstance(X, DuckRelation) else DuckRelation(X)
    table = encode_relation(relation, label, rules, keep=keep)
    ends = table.relation.aggregate({"n": "count(*)", "last": f"max({ROW})"}, "counting the rows")
    n_rows = int(ends["n"])
    cells = CodedCells(table, is_whole=ends["last"] == n_rows - 1)
    if n_rows * len(table.columns) > HERE_CELLS:
        engine = write_codes(cells, relation.session or Session(), n_rows)
        return EngineStudy.of(table, engine, duplicates=duplicates)
    return Study.of_table(read_codes(cells, n_rows), duplicates=duplicates, engine_name="duckdb")
