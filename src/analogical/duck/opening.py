"""A relation of DuckDB, or a large file, to a study of it: encoded and counted in a DuckDB of our own."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, cast

from analogical.duck.codes import write_codes
from analogical.duck.relation import DuckRelation
from analogical.duck.session import Session
from analogical.engines.encode import encode_relation
from analogical.engines.study import EngineStudy
from analogical.table.rules import Rules

if TYPE_CHECKING:
    from duckdb import DuckDBPyRelation

    from analogical.study import Duplicates

__all__ = ["DuckTable", "open_study"]


@dataclass(frozen=True)
class DuckTable:
    """A table in a file that DuckDB reads when it is needed; every function takes it as X."""

    session: Session
    relation: DuckRelation

    @property
    def columns(self) -> list[str]:
        """Names of the columns."""
        return list(self.relation.columns)


def open_study(
    X: "DuckTable | DuckDBPyRelation",
    label: Any,
    rules: Rules,
    *,
    keep: Sequence[Any] = (),
    look_for_leaks: bool = True,
    look_for_units: bool = False,
    duplicates: "Duplicates" = "count",
) -> EngineStudy:
    """The study of a table in DuckDB; see :func:`analogical.engines.open.engine_study_of`.

    Its codes are written to a DuckDB of our own: in memory up to a limit, and beyond it in a temporary folder, which
    goes with the study.
    """
    is_own = isinstance(X, DuckTable)
    session, relation = (X.session, X.relation) if isinstance(X, DuckTable) else (Session(), DuckRelation(X))
    looks: Any = {"look_for_leaks": look_for_leaks, "look_for_units": look_for_units}
    table = encode_relation(relation, label, rules, keep=keep, **looks)
    engine = write_codes(session, table, cast("DuckRelation", table.relation), is_own=is_own)
    return EngineStudy.of(table, engine, duplicates=duplicates)
