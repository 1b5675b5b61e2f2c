"""Rows that lie on Spark, and the engine that counts them there."""

import pickle
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any, TypeVar

import numpy as np

from analogical._types import CodedRows, Margins
from analogical.count.contexts import Contexts
from analogical.count.counts import PairCounts
from analogical.count.pairs import ContextSums, join_blocks
from analogical.errors import SparkError
from analogical.spark.parts import (
    PART_SCHEMA,
    CountPart,
    DrawRows,
    GroupRows,
    SumMargins,
    add_parts,
    read_parts,
    rows_of_batches,
)
from analogical.spark.planning import SparkPlan, choose_plan
from analogical.spark.session import collect, ship_package
from analogical.spark.words import LABEL, WEIGHT, Layout

if TYPE_CHECKING:
    from pyspark.sql import DataFrame, SparkSession

__all__ = ["SparkEngine", "SparkRows"]

Summary = TypeVar("Summary")

ADDED_TOGETHER = 64
"""Partial sums that one task adds up; this process adds up twice as many. Those of a skewed table are megabytes each,
and Spark brings no more than a gigabyte here unless it is told to."""


@dataclass(frozen=True)
class SparkRows:
    """A labelled table as words on Spark: all that counting needs to know of it."""

    frame: "DataFrame"
    """The words of the layout, the label and, if rows are weighted, the weight; no cell is missing."""
    layout: Layout
    margins: Margins
    plan: SparkPlan
    is_weighted: bool = False

    @classmethod
    def spread(cls, session: "SparkSession", rows: CodedRows, n_partitions: int = 4) -> "SparkRows":
        """Rows of this process on Spark, in so many partitions."""
        import pyarrow as pa

        if rows.weights is not None:
            rows = rows.take(rows.weights > 0)
        sizes = tuple(rows.value_sizes(i) for i in range(rows.n_features))
        margins = Margins(rows.label_sizes(), sizes)
        plan = replace(choose_plan(margins, rows, len(rows.codes), n_partitions), n_partitions=n_partitions)
        layout = Layout(tuple(rows.n_values.tolist()), plan.blocks)
        cells = dict(zip(layout.names, layout.pack(list(rows.codes.T)), strict=True))
        cells[LABEL] = rows.labels.astype(np.int64)
        if rows.weights is not None:
            cells[WEIGHT] = rows.weights
        frame = session.createDataFrame(pa.table(cells)).repartition(n_partitions)
        return cls(frame, layout, margins, plan, rows.weights is not None)

    @property
    def n_features(self) -> int:
        """Columns of the table."""
        return self.margins.n_features

    @property
    def n_rows(self) -> int:
        """Rows that the table stands for: the total weight."""
        return self.margins.n_rows

    @property
    def columns(self) -> list[str]:
        """Columns of the frame."""
        return [*self.layout.names, LABEL, *([WEIGHT] if self.is_weighted else [])]

    def merged(self) -> "SparkRows":
        """Identical rows with the same label as one row with their number; Spark adds up before it shuffles."""
        from pyspark.sql import functions as F

        number = F.sum(WEIGHT) if self.is_weighted else F.count(F.lit(1))
        grouped = self.frame.groupBy(*self.layout.names, LABEL).agg(number.cast("long").alias(WEIGHT))
        return replace(self, frame=grouped, is_weighted=True)

    def distinct(self) -> "SparkRows":
        """Each (row, label) once; the frame is kept by Spark until it is let go with ``frame.unpersist()``."""
        frame = self.frame.select(*self.layout.names, LABEL).distinct().persist()
        count = SumMargins(self.layout, self.margins.n_labels)
        counted = collect(frame.mapInArrow(count.__call__, "margins binary"), "counting distinct rows")
        parts = [pickle.loads(cell.as_py()) for cell in counted.column("margins")]  # noqa: S301 (our own)
        by_label, *by_value = (sum(sizes) for sizes in zip(*parts, strict=True))
        return replace(self, frame=frame, is_weighted=False, margins=Margins(by_label, tuple(by_value)))

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
            draw = DrawRows(share, seed)
            drawn = self.frame.mapInArrow(draw.__call__, ", ".join(f"{name} long" for name in self.columns))
        else:  # Spark draws by itself, so that rows need not go to Python
            drawn = self.frame if share == 1 else self.frame.sample(share, seed)
        return self._read(collect(drawn, "drawing a sample of the rows"))

    def groups(self, sets: Sequence[Sequence[int]], limit: int) -> list[CodedRows] | None:
        """For each set of features the rows by their values and label, with their number; None beyond the limit.

        One job for all sets. Rows are grouped in every partition before they are shuffled.
        """
        from pyspark.sql import functions as F

        group = GroupRows(self.layout, self.margins.n_labels, tuple(tuple(features) for features in sets))
        parts = self.frame.mapInArrow(group.__call__, group.schema)
        grouped = parts.groupBy("place", *group.keys).agg(F.sum("n").cast("long").alias("n"))
        found = collect(grouped.limit(limit + 1), "grouping the rows")
        if found.num_rows > limit:
            return None
        rows = group.read(found)
        for one in rows:
            self.refuse_other_rows(one.n_rows)
        return rows

    def refuse_other_rows(self, seen: int) -> None:
        """Whoever counts must have seen every row, once; of a table that changes while it is read it would not."""
        if seen != self.n_rows:
            raise SparkError(
                f"Spark counted {seen:,} rows instead of {self.n_rows:,}: the table changed during the count, or is not"
                " the same each time it is computed; write it to a file first and count that."
            )

    def here(self, limit: int) -> CodedRows | None:
        """All rows, in this process; None if they are more than the limit."""
        frame = self.frame.limit(limit + 1)
        found = collect(frame, "bringing groups of rows here")
        return None if found.num_rows > limit else self._read(found)

    def _read(self, found: Any) -> CodedRows:
        rows = rows_of_batches(iter(found.to_batches()), self.layout, self.margins.n_labels)
        if rows is not None:
            return rows
        nothing = np.zeros(0, np.uint8)
        return CodedRows(nothing.reshape(0, self.n_features), nothing, self.margins.n_values, self.margins.n_labels)


class SparkEngine:
    """Counts on the executors of Spark.

    Parameters
    ----------
    session : SparkSession
        Classic or Connect.
    n_partitions : int
        Partitions that rows of this process are spread over.
    """

    def __init__(self, session: "SparkSession", *, n_partitions: int = 4) -> None:
        self.session = session
        self.n_partitions = n_partitions

    def count_pairs(self, rows: CodedRows | SparkRows) -> PairCounts:
        """Pairs at distance 1, for every feature."""
        return self.sum_contexts(rows, _nothing).counts

    def sum_contexts(
        self,
        rows: CodedRows | SparkRows,
        summarise: Callable[[int, Contexts], Summary],
        *,
        features: Sequence[int] | None = None,
    ) -> ContextSums[Summary]:
        """The same counts and a summary of the contexts of every feature."""
        ship_package(self.session)
        if isinstance(rows, CodedRows):
            rows = SparkRows.spread(self.session, rows, self.n_partitions)
        whole = rows
        rows = rows.merged() if rows.plan.is_merged else rows
        wanted = frozenset(range(rows.n_features) if features is None else features)
        parts = [self._count_block(rows, block, summarise, wanted) for block in range(len(rows.layout.blocks))]
        together = parts[0]
        for part in parts[1:]:
            together = together.union(part)
        n_parts = rows.plan.n_partitions * len(parts)
        while n_parts > 2 * ADDED_TOGETHER:
            n_parts = -(-n_parts // ADDED_TOGETHER)
            together = together.repartition(n_parts).mapInArrow(add_parts, PART_SCHEMA)
        sums = read_parts(iter(collect(together, "the count").to_batches()))
        for block in range(len(parts)):
            whole.refuse_other_rows(sums[block].counts.n_rows if block in sums else 0)
        return join_blocks([sums[block] for block in range(len(parts))], rows.layout.blocks)

    def _count_block(
        self, rows: SparkRows, block: int, summarise: Callable[[int, Contexts], Any], wanted: frozenset[int]
    ) -> "DataFrame":
        """Partial sums of a block: rows that agree outside of it come together, whole partitions are counted."""
        keys = rows.layout.outside(block)
        together = rows.frame.repartition(rows.plan.n_partitions, *keys) if keys else rows.frame.repartition(1)
        count = CountPart(block, rows.layout, rows.margins.n_labels, summarise, wanted)
        return together.mapInArrow(count.__call__, PART_SCHEMA)


def _nothing(feature: int, contexts: Contexts) -> tuple[()]:  # noqa: ARG001
    """The summary that keeps nothing; it adds up to nothing."""
    return ()
