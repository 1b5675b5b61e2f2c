"""A table in DuckDB, as :mod:`analogical.engines.relation` describes it."""

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from typing import TYPE_CHECKING, Any, ClassVar, TypeVar

import numpy as np

from analogical.duck.session import Session, ask
from analogical.engines.relation import LABEL, ROW, WEIGHT, Dialect, Kind, Summing
from analogical.engines.values import ValueCounts

if TYPE_CHECKING:
    import pyarrow as pa
    from duckdb import DuckDBPyRelation

__all__ = ["MOST_COLLECTED", "DuckRelation"]

Sum = TypeVar("Sum")
Answer = TypeVar("Answer")

MOST_COLLECTED = 10_000_000
"""Largest number of distinct values of a column to collect, one column at a time: 80 MB of numbers."""
BATCH_ROWS = 2**17
"""Rows of an Arrow batch."""
SURELY = 1.2
"""A column whose estimated number of values is this many times the limit is not counted."""

_KINDS: dict[str, Kind] = {
    "boolean": "bool",
    "varchar": "text",
    "enum": "text",
    "uuid": "text",
    "float": "real",
    "double": "real",
    "decimal": "decimal",
    "date": "day",
    "time": "clock",
    "time_ns": "clock",
    "interval": "duration",
    "null": "nothing",
}
for _name in ("tinyint", "smallint", "integer", "bigint", "hugeint"):
    _KINDS |= {_name: "whole", f"u{_name}": "whole"}
for _name in ("", "_s", "_ms", "_ns", " with time zone"):
    _KINDS[f"timestamp{_name}"] = "time"
_MOST = {"boolean": 2, "tinyint": 2**8, "utinyint": 2**8, "smallint": 2**16, "usmallint": 2**16}
"""Largest number of values of some types."""

DIALECT = Dialect(
    weekday="isodow({}) - 1",
    about_distinct="approx_count_distinct({})",
    distinct_error=0.15,
    duration="CAST(epoch({}) * 1000000 AS BIGINT)",
    timestamp="TIMESTAMP",
    matches="regexp_matches({}, {})",
    replaced="regexp_replace({}, {}, {}, 'g')",
    group="\\",
    stripped="trim({}, {})",
    escapes={"'": "''"},
)


@dataclass(frozen=True)
class DuckRelation:
    """A relation of DuckDB, or a file that DuckDB reads when it is needed; every function takes it as X."""

    relation: "DuckDBPyRelation"
    session: Session | None = None
    """The session that it belongs to; None for a relation of the user's."""
    row: str = "row_number() OVER () - 1"
    """The position of a row in the user's table, as an expression."""
    has_row: bool = False
    """Whether the last column holds that position, and is not one of the user's."""
    names: tuple[str, ...] | None = None
    """The user's names of the columns, where DuckDB has others: names may differ in case only."""
    most_values: int = MOST_COLLECTED
    dialect: ClassVar[Dialect] = DIALECT

    @property
    def columns(self) -> tuple[str, ...]:
        """Names of the columns."""
        return self._columns if self.names is None else self.names

    @property
    def _columns(self) -> tuple[str, ...]:
        """DuckDB's names of the columns."""
        return tuple(self.relation.columns[:-1] if self.has_row else self.relation.columns)

    @cached_property
    def kinds(self) -> dict[str, Kind]:
        """What each column holds."""
        types = self.relation.types[: len(self.columns)]
        return dict(zip(self.columns, (_KINDS.get(kind.id, "other") for kind in types), strict=True))

    @cached_property
    def types(self) -> dict[str, str]:
        """DuckDB's types of the columns."""
        return dict(zip(self.columns, map(str, self.relation.types[: len(self.columns)]), strict=True))

    def with_row(self) -> "DuckRelation":
        """The same with the position of each row as a last column, which :meth:`project` keeps."""
        return replace(self, relation=self.relation.project(f"*, {self.row} AS {ROW}"), row=ROW, has_row=True)

    def numbered(self) -> "DuckRelation":
        """The columns as ``s0``, ``s1``, ... in their order, and ``row``."""
        columns = []
        for place, (name, kind) in enumerate(zip(self._columns, self.relation.types, strict=not self.has_row)):
            cell = f'"{name.replace(chr(34), chr(34) * 2)}"'
            if kind.id in ("hugeint", "uhugeint"):  # as sums are
                cell = f"CAST({cell} AS BIGINT)"
            elif kind.id in ("enum", "uuid"):
                cell = f"CAST({cell} AS VARCHAR)"
            elif kind.id == "time_ns":
                cell = f"CAST({cell} AS TIME)"
            columns.append(f"{cell} AS s{place}")
        numbered = self.relation.project(", ".join([*columns, f"{self.row} AS {ROW}"]))
        return replace(self, relation=numbered, names=None, has_row=False)

    def project(self, columns: Mapping[str, str]) -> "DuckRelation":
        """Columns by name, each as an expression of the present ones."""
        written = [f"{expression} AS {name}" for name, expression in columns.items()]
        return replace(self, relation=self.relation.project(", ".join([*written, *([ROW] if self.has_row else [])])))

    def where(self, condition: str) -> "DuckRelation":
        """The rows for which a condition is true."""
        return replace(self, relation=self.relation.filter(condition))

    def aggregate(self, numbers: Mapping[str, str], doing: str) -> dict[str, Any]:
        """One row of aggregates."""
        written = ", ".join(f"{expression} AS {name}" for name, expression in numbers.items())
        (row,) = self._run(self.relation.aggregate(written), doing).to_pylist()
        return dict(row)

    def count_where(self, cells: Mapping[str, str], conditions: Mapping[str, Mapping[str, str]]) -> dict[str, int]:
        """How many rows meet conditions on columns, which see each distinct cell once, unless most are distinct."""
        counts: dict[str, int] = {}
        for column, own in conditions.items():
            sums = {name: f"coalesce(sum(CASE WHEN {condition} THEN n END), 0)" for name, condition in own.items()}
            if column in self._varied:
                rows = self.relation.project(f"{cells[column]} AS {column}, 1 AS n")
            else:
                different = self.relation.aggregate(f"{column}, count(*) AS n", column)
                rows = different.project(f"{cells[column]} AS {column}, n")
            seen = replace(self, relation=rows, names=None).aggregate(sums, "looking at the cells")
            counts |= {name: int(n) for name, n in seen.items()}
        return counts

    @cached_property
    def _varied(self) -> frozenset[str]:
        """Columns of which most cells of the first rows are distinct, so that grouping them saves nothing."""
        first = replace(self, relation=self.relation.limit(BATCH_ROWS))
        about = {name: f"approx_count_distinct({name})" for name in self._columns}
        seen = first.aggregate({"n": "count(*)"} | about, "looking at the cells")
        return frozenset(name for name in about if 2 * seen[name] > seen["n"])

    def count_values(self, columns: Sequence[str], limit: int) -> dict[str, ValueCounts]:
        """The values of columns with the rows of each; texts in order of their first rows."""
        weight = f"CAST(sum({WEIGHT}) AS BIGINT)" if WEIGHT in self.columns else "count(*)"
        is_few = self._are_few(columns, limit)
        about = {name: f"approx_count_distinct({name})" for name in columns if name not in is_few}
        seen = self.aggregate(about, "looking at the columns") if about else {}
        return {
            name: self._full(name, weight) if seen.get(name, 0) > SURELY * limit else self._counted(name, weight, limit)
            for name in columns
        }

    def _are_few(self, columns: Sequence[str], limit: int) -> set[str]:
        """Columns that cannot have more values than the limit, by their type or, of whole numbers, by their range."""
        few = {name for name in columns if _MOST.get(self.types[name].lower(), 2**62) <= limit}
        whole = [name for name in columns if self.kinds[name] == "whole" and name not in few]
        ends = {f"low_{name}": f"min({name})" for name in whole} | {f"high_{name}": f"max({name})" for name in whole}
        seen = self.aggregate(ends, "looking at the columns") if whole else {}
        return few | {name for name in whole if (seen[f"high_{name}"] or 0) - (seen[f"low_{name}"] or 0) < limit}

    def _full(self, name: str, weight: str) -> ValueCounts:
        """The counts of a column with more values than the limit."""
        missing = f"coalesce({weight} FILTER (WHERE {name} IS NULL), 0)"
        if WEIGHT in self.columns:
            missing = f"coalesce(CAST(sum({WEIGHT}) FILTER (WHERE {name} IS NULL) AS BIGINT), 0)"
        numbers = {"missing": f"count(*) - count({name})", "of_missing": missing, "of_all": weight}
        seen = self.aggregate(numbers, "looking at the columns")
        of_missing = int(seen["of_missing"])
        return ValueCounts(
            n_missing=int(seen["missing"]),
            weight_missing=of_missing,
            weight=int(seen["of_all"]) - of_missing,
            is_full=True,
        )

    def _counted(self, name: str, weight: str, limit: int) -> ValueCounts:
        """The values of a column; full if they are more than the limit."""
        is_text = self.kinds[name] == "text" and name != LABEL and ROW in self.columns
        first = f", min({ROW}) AS first" if is_text else ""
        grouped = self.relation.aggregate(f"{name}, {weight} AS times, count(*) AS n{first}", name)
        table = self._run(grouped.order("first") if is_text else grouped, "looking at the columns")
        values, times, n = (table.column(k).combine_chunks() for k in (name, "times", "n"))
        is_there = values.is_valid()
        present, weights = is_there.to_numpy(zero_copy_only=False), times.to_numpy().astype(np.int64)
        is_full = int(present.sum()) > limit
        return ValueCounts(
            values=None if is_full else values.filter(is_there),
            weights=np.zeros(0, np.int64) if is_full else weights[present],
            n_missing=int(n.to_numpy()[~present].sum()),
            weight_missing=int(weights[~present].sum()),
            weight=int(weights[present].sum()),
            is_full=is_full,
            is_in_order=is_text,
        )

    def quantiles(self, column: str, n_parts: int) -> "pa.Array":
        """Distinct quantiles that divide the rows into ``n_parts`` equal parts."""
        n_rows = self.aggregate({"n": f"count({column})"}, "looking at the columns")["n"]
        every = max(1, n_rows // n_parts)
        placed = self.project({column: column, "place": f"row_number() OVER (ORDER BY {column})"})
        starts = placed.where(f"{column} IS NOT NULL AND place % {every} = {1 % every}").relation
        table = self._run(starts.aggregate(column, column).order(column), "looking at the columns")
        return table.column(0).combine_chunks()

    def sample(self, columns: Sequence[str], n_rows: int, of_rows: int) -> "pa.Table":
        """About ``n_rows`` of the ``of_rows`` rows, evenly spaced in the user's table; all if there are no more."""
        chosen = self.relation
        if of_rows > n_rows:
            last = self.aggregate({"last": f"max({ROW})"}, "drawing a sample of the rows")["last"]
            chosen = chosen.filter(f"{ROW} % {max(1, (last + 1) // n_rows)} = 0")
        return self._run(chosen.project(", ".join(columns)), "drawing a sample of the rows")

    def batches(self, columns: Sequence[str], doing: str = "reading the table") -> Iterator["pa.RecordBatch"]:
        """All rows in order, as Arrow batches; the connection must not be used until they are read."""
        chosen = self.relation.project(", ".join(columns))
        reader = self._ask(lambda: chosen.to_arrow_reader(BATCH_ROWS), doing)
        while (batch := self._ask(lambda: next(reader, None), doing)) is not None:
            yield batch

    def sum_batches(self, columns: Sequence[str], summing: Summing[Sum], doing: str) -> Sum:
        """The sum over all rows."""
        return summing.count(self.batches(columns, doing))

    def _run(self, relation: "DuckDBPyRelation", doing: str) -> "pa.Table":
        """A small result as an Arrow table."""
        return self._ask(relation.to_arrow_table, doing)

    def _ask(self, question: Callable[[], Answer], doing: str) -> Answer:
        return ask(None if self.session is None else self.session.connection, question, doing)
