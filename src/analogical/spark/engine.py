"""A table on Spark, grouped and counted there."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from functools import cached_property, reduce
from typing import TYPE_CHECKING, Any, TypeVar

from analogical._types import CodedRows, Margins
from analogical.count.contexts import Contexts
from analogical.count.pairs import ContextSums, join_blocks
from analogical.errors import SparkError
from analogical.spark.parts import PART_SCHEMA, CountPart, DrawRows, GroupRows, add_parts, read_parts, rows_of
from analogical.spark.planning import SparkPlan
from analogical.spark.session import collect
from analogical.spark.words import LABEL, WEIGHT, Layout

if TYPE_CHECKING:
    from pyspark.sql import DataFrame

__all__ = ["SparkEngine"]

Summary = TypeVar("Summary")

ADDED_TOGETHER = 64
"""Partial sums that one task adds up; this process adds up twice as many. Those of a skewed table are megabytes each,
and Spark brings no more than a gigabyte here unless it is told to."""


@dataclass(frozen=True)
class SparkEngine:
    """A labelled table as words on Spark (see ``count.engine.Engine``)."""

    frame: "DataFrame"
    """The words of the layout, the label and, if rows are weighted, the weight; no cell is missing."""
    margins: Margins
    plan: SparkPlan
    is_weighted: bool = False

    @cached_property
    def layout(self) -> Layout:
        """Where each code lies in the words."""
        return Layout(tuple(self.margins.n_values.tolist()), self.plan.blocks)

    @property
    def n_rows(self) -> int:
        """Rows that the table stands for: the total weight."""
        return self.margins.n_rows

    @property
    def n_parts(self) -> int:
        """Parts of the table whose sums come to this process, at most."""
        return min(self.plan.n_partitions, 2 * ADDED_TOGETHER)

    def group(self, sets: Sequence[Sequence[int]], limit: int) -> list[CodedRows] | None:
        """For each set of features the rows by their values and label, with their number; None beyond the limit.

        One job for all sets. Rows are grouped in every partition before they are shuffled.
        """
        groups = self._group(sets, limit)
        for rows in groups or ():
            self._refuse_other_rows(rows.n_rows)
        return groups

    def sum_contexts(self, summarise: Callable[[int, Contexts], Summary]) -> ContextSums[Summary]:
        """The paper's counts, and a summary of the contexts of every feature given all others.

        For each block of features the rows that agree outside of it come together, and whole partitions are counted.
        """
        blocks, n_partitions = self.plan.blocks, self.plan.n_partitions
        frame = (self.merged() if self.plan.is_merged else self).frame
        parts = []
        for number in range(len(blocks)):
            keys = self.layout.outside(number)
            rows = frame.repartition(n_partitions, *keys) if keys else frame.repartition(1)
            count = CountPart(number, self.layout, self.margins.n_labels, summarise)
            parts.append(rows.mapInArrow(count.__call__, PART_SCHEMA))
        together = reduce(lambda one, other: one.union(other), parts)
        n_parts = n_partitions * len(blocks)
        while n_parts > 2 * ADDED_TOGETHER:
            n_parts = -(-n_parts // ADDED_TOGETHER)
            together = together.repartition(n_parts).mapInArrow(add_parts, PART_SCHEMA)
        sums = read_parts(iter(collect(together, "the count").to_batches()))
        for number in range(len(blocks)):
            self._refuse_other_rows(sums[number].counts.n_rows if number in sums else 0)
        return join_blocks([sums[number] for number in range(len(blocks))], blocks)

    def merged(self) -> "SparkEngine":
        """Identical rows with the same label as one row with their number; Spark adds up before it shuffles."""
        from pyspark.sql import functions as F

        number = F.sum(WEIGHT) if self.is_weighted else F.count(F.lit(1))
        grouped = self.frame.groupBy(*self.layout.names, LABEL).agg(number.cast("long").alias(WEIGHT))
        return replace(self, frame=grouped, is_weighted=True)

    def distinct(self) -> "SparkEngine":
        """Each (row, label) once; the frame is kept by Spark until it is let go with ``frame.unpersist()``."""
        frame = self.frame.select(*self.layout.names, LABEL).distinct().persist()
        once = replace(self, frame=frame, is_weighted=False)
        by_feature = once._group([[i] for i in range(self.margins.n_features)]) or []
        margins = Margins(by_feature[0].label_sizes(), tuple(rows.value_sizes(0) for rows in by_feature))
        return replace(once, margins=margins)

    def estimate_distinct(self) -> float:
        """About how many different (row, label) there are."""
        from pyspark.sql import functions as F

        key = F.xxhash64(*self.layout.names, LABEL)  # of whole numbers without a null
        found = collect(self.frame.agg(F.approx_count_distinct(key, 0.02).alias("n")), "looking at the rows")
        return float(found.column("n")[0].as_py())

    def sample(self, n_rows: int, seed: int | None) -> CodedRows:
        """About so many rows, drawn on the executors; all rows, if there are no more."""
        share = min(1.0, n_rows / max(self.n_rows, 1))
        if self.is_weighted:
            names = [*self.layout.names, LABEL, WEIGHT]
            draw = DrawRows(share, seed)
            drawn = self.frame.mapInArrow(draw.__call__, ", ".join(f"{name} long" for name in names))
        else:  # Spark draws by itself, so that rows need not go to Python
            drawn = self.frame if share == 1 else self.frame.sample(share, seed)
        return self._read(collect(drawn, "drawing a sample of the rows"))

    def here(self, limit: int) -> CodedRows | None:
        """All rows, in this process; None if they are more than the limit."""
        table = collect(self.frame.limit(limit + 1), "bringing groups of rows here")
        return None if table.num_rows > limit else self._read(table)

    def _read(self, table: Any) -> CodedRows:
        return rows_of(table, self.layout, self.margins.n_labels)

    def _group(self, sets: Sequence[Sequence[int]], limit: int | None = None) -> list[CodedRows] | None:
        """Rows by the values of each set of features and their label; None beyond the limit."""
        from pyspark.sql import functions as F

        group = GroupRows(self.layout, self.margins.n_labels, tuple(tuple(features) for features in sets))
        parts = self.frame.mapInArrow(group.__call__, group.schema)
        grouped = parts.groupBy("place", *group.keys).agg(F.sum("n").cast("long").alias("n"))
        table = collect(grouped if limit is None else grouped.limit(limit + 1), "grouping the rows")
        return None if limit is not None and table.num_rows > limit else group.read(table)

    def _refuse_other_rows(self, seen: int) -> None:
        """Whoever counts must have seen every row, once; of a table that changes while it is read it would not."""
        if seen != self.n_rows:
            raise SparkError(
                f"Spark counted {seen:,} rows instead of {self.n_rows:,}: the table changed during the count, or is not"
                " the same each time it is computed; write it to a file first and count that."
            )
