"""A Spark dataframe, as :mod:`analogical.engines.relation` describes a table."""

import pickle
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property, partial
from typing import TYPE_CHECKING, Any, TypeVar

import numpy as np

from analogical.engines.relation import ROW, WEIGHT, Dialect, Kind, Summing
from analogical.engines.values import CountValues, ValueCounts
from analogical.errors import InputError
from analogical.spark.session import collect

if TYPE_CHECKING:
    import pyarrow as pa
    from pyspark.sql import DataFrame

__all__ = ["MOST_COLLECTED", "SparkRelation"]

Sum = TypeVar("Sum")

MOST_COLLECTED = 200_000
"""Largest number of distinct values of a column to collect."""
ADDED_TOGETHER = 16
"""Sums of parts of a table that one task adds up."""
SEED = 0

_KINDS: dict[str, Kind] = {
    "string": "text",
    "char": "text",
    "varchar": "text",
    "boolean": "bool",
    "float": "real",
    "double": "real",
    "decimal": "decimal",
    "date": "day",
    "timestamp": "time",
    "timestamp_ntz": "time",
    "interval": "duration",
    "void": "nothing",
    "tinyint": "whole",
    "smallint": "whole",
    "int": "whole",
    "bigint": "whole",
}

DIALECT = Dialect(
    weekday="weekday({})",
    about_distinct="approx_count_distinct({}, 0.01)",
    distinct_error=0.04,
    duration="{}",
    timestamp="TIMESTAMP_NTZ",
    matches="rlike({}, {})",
    replaced="regexp_replace({}, {}, {})",
    group="$",
    stripped="btrim({}, {})",
    escapes={"'": "\\'", "\\": "\\\\"},
)


@dataclass(frozen=True)
class SparkRelation:
    """A dataframe of Spark."""

    frame: "DataFrame"
    most_values: int = field(default_factory=lambda: MOST_COLLECTED)
    dialect: Dialect = DIALECT

    def __post_init__(self) -> None:
        if self.frame.isStreaming:
            raise InputError("df is a streaming dataframe, which cannot be counted; write it to a table first.")

    @cached_property
    def columns(self) -> tuple[str, ...]:
        """Names of the columns."""
        return tuple(self.frame.columns)

    @cached_property
    def types(self) -> dict[str, str]:
        """Spark's types of the columns."""
        return dict(self.frame.dtypes)

    @cached_property
    def kinds(self) -> dict[str, Kind]:
        """What each column holds."""
        return {name: _KINDS.get(base, "other") for name, base in self.bases.items()}

    @property
    def bases(self) -> dict[str, str]:
        """Spark's types without lengths and digits."""
        return {name: kind.split("(")[0].split("<")[0].split(" ")[0] for name, kind in self.types.items()}

    def numbered(self) -> "SparkRelation":
        """The columns as ``s0``, ``s1``, ... in their order, and a number of each row, which is not its position."""
        frame = self.frame.toDF(*(f"s{p}" for p in range(len(self.columns))))  # names may differ in case only
        return replace(self, frame=frame.selectExpr("*", f"monotonically_increasing_id() AS {ROW}"))

    def project(self, columns: Mapping[str, str]) -> "SparkRelation":
        """Columns by name, each as an expression of the present ones."""
        return replace(self, frame=self.frame.selectExpr(*(f"{how} AS {name}" for name, how in columns.items())))

    def where(self, condition: str) -> "SparkRelation":
        """The rows for which a condition is true."""
        return replace(self, frame=self.frame.filter(condition))

    def aggregate(self, numbers: Mapping[str, str], doing: str) -> dict[str, Any]:
        """One row of aggregates."""
        from pyspark.sql import functions as F

        wanted = [F.expr(how).alias(name) for name, how in numbers.items()]
        (row,) = collect(self.frame.agg(*wanted), doing).to_pylist()
        return dict(row)

    def count_where(self, cells: Mapping[str, str], conditions: Mapping[str, Mapping[str, str]]) -> dict[str, int]:
        """How many rows meet conditions on columns, in one pass."""
        every = {name: condition for own in conditions.values() for name, condition in own.items()}
        wanted = {name: f"count(CASE WHEN {condition} THEN 1 END)" for name, condition in every.items()}
        return self.project(cells).aggregate(wanted, "looking at the cells") if wanted else {}

    def count_values(self, columns: Sequence[str], limit: int) -> dict[str, ValueCounts]:
        """The values of columns, with the rows of each."""
        weight = [WEIGHT] if WEIGHT in self.columns else []
        return self.sum_batches([*columns, *weight], CountValues(tuple(columns), limit), "looking at the columns")

    def quantiles(self, column: str, n_parts: int) -> "pa.Array":
        """Distinct quantiles that divide the rows into about ``n_parts`` equal parts."""
        import pyarrow as pa

        number = {"day": f"unix_date({column})", "time": f"unix_micros(CAST({column} AS TIMESTAMP))"}
        how = f"CAST({number.get(self.kinds[column], column)} AS DOUBLE)"
        frame = self.frame.selectExpr(f"{how} AS {column}").filter(f"{column} IS NOT NULL")
        shares = (np.arange(n_parts + 1) / n_parts).tolist()
        starts = np.unique(np.array(frame.approxQuantile(column, shares, 0.5 / n_parts)))
        arrow = self.frame.select(column).limit(0).toArrow().schema.field(column).type
        if pa.types.is_floating(arrow):
            return pa.array(starts, pa.float64()).cast(arrow, safe=False)
        if pa.types.is_decimal(arrow):
            return pa.array(starts, pa.float64())
        whole = pa.array(np.unique(np.floor(starts)).astype(np.int64))
        return whole.cast(pa.int32()).cast(arrow) if pa.types.is_date32(arrow) else whole.cast(arrow)

    def sample(self, columns: Sequence[str], n_rows: int, of_rows: int) -> "pa.Table":
        """About ``n_rows`` of the ``of_rows`` rows, drawn at random; all if there are no more."""
        chosen = self.frame.select(*columns)
        return collect(
            chosen.sample(n_rows / of_rows, SEED) if of_rows > n_rows else chosen, "drawing a sample of the rows"
        )

    def sum_batches(self, columns: Sequence[str], summing: Summing[Sum], doing: str) -> Sum:
        """The sum over all rows, from the sums of the partitions."""
        sums = self.frame.select(*columns).mapInArrow(partial(_sum_partition, summing), "sums binary")
        n_parts = self._n_parts
        while n_parts > ADDED_TOGETHER:
            n_parts = -(-n_parts // ADDED_TOGETHER)
            sums = sums.repartition(n_parts).mapInArrow(partial(_add_sums, summing), "sums binary")
        found = _read(iter(collect(sums, doing).to_batches()))
        return summing.add(found) if found else summing.count(iter(()))

    @cached_property
    def _n_parts(self) -> int:
        """About how many partitions the frame has; only classic sessions tell."""
        try:
            return int(self.frame.rdd.getNumPartitions())
        except Exception:  # Spark Connect has no RDD
            return 64


def _sum_partition(summing: Summing[Any], batches: Iterator[Any]) -> Iterator[Any]:
    """The sum of a partition; runs on the executors."""
    yield _write(summing.count(batches))


def _add_sums(summing: Summing[Any], batches: Iterator[Any]) -> Iterator[Any]:
    sums = _read(batches)
    if sums:
        yield _write(summing.add(sums))


def _read(batches: Iterator[Any]) -> list[Any]:
    return [pickle.loads(cell.as_py()) for batch in batches for cell in batch.column("sums")]  # noqa: S301


def _write(summed: Any) -> Any:
    import pyarrow as pa

    return pa.RecordBatch.from_arrays([pa.array([pickle.dumps(summed)], pa.binary())], names=["sums"])
