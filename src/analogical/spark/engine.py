"""A table on Spark, grouped and counted there."""

import weakref
from collections.abc import Sequence
from contextlib import suppress
from dataclasses import dataclass, field, replace
from functools import cached_property, reduce
from typing import TYPE_CHECKING, Any, Literal

import numpy as np

from analogical._types import CodedRows, Ints, Margins
from analogical.count.groups import merge_rows
from analogical.count.pairs import ContextSums, join_blocks
from analogical.errors import SparkError
from analogical.spark.parts import PART_SCHEMA, CountPart, GroupRows, add_parts, read_parts, rows_of
from analogical.spark.planning import SparkPlan
from analogical.spark.session import collect
from analogical.spark.words import LABEL, WEIGHT, Layout

if TYPE_CHECKING:
    from pyspark.sql import DataFrame

__all__ = ["KeptFrame", "SparkEngine"]

ADDED_TOGETHER = 64
"""Partial sums that one task adds up; this process adds up twice as many. Those of a skewed table are megabytes each,
and by default Spark collects at most a gigabyte."""
DRAWN = 1.05
"""Rows that Spark draws for each row of a sample, because it draws only about as many as asked for."""
SEED = 0


class KeptFrame:
    """A frame that Spark persists until this object is deleted."""

    def __init__(self, frame: "DataFrame") -> None:
        self.frame = frame.persist()
        weakref.finalize(self, _unpersist, self.frame).atexit = False


def _unpersist(frame: "DataFrame") -> None:
    with suppress(Exception):  # the session may have ended, and its frames with it
        frame.unpersist()


@dataclass(frozen=True)
class SparkEngine:
    """A labelled table as words on Spark (see ``count.engine.Engine``)."""

    kept: KeptFrame
    """The words of the layout, the label and, if rows are weighted, the weight; no cell is missing."""
    margins: Margins
    plan: SparkPlan
    n_codes: tuple[int, ...] = ()
    """Number of codes of each column after the features."""
    bin_sizes: tuple[Ints, ...] = ()
    """Rows of each bin, for the columns after the features that hold bins."""
    has_unit: bool = False
    """Whether the last column is the unit."""
    is_weighted: bool = False
    name: Literal["spark"] = "spark"
    _samples: dict[int, CodedRows] = field(default_factory=dict, repr=False, compare=False)

    @property
    def frame(self) -> "DataFrame":
        """The rows."""
        return self.kept.frame

    @cached_property
    def layout(self) -> Layout:
        """Where each code lies in the words."""
        return Layout((*self.margins.n_values.tolist(), *self.n_codes), self.plan.blocks)

    @property
    def n_rows(self) -> int:
        """Total weight of the rows."""
        return self.margins.n_rows

    @property
    def n_parts(self) -> int:
        """Parts of the table whose sums come to this process, at most."""
        return min(self.plan.n_partitions, 2 * ADDED_TOGETHER)

    @property
    def unit(self) -> int | None:
        """The column of units, which is the last one; None if rows are independent."""
        return len(self.layout.n_values) - 1 if self.has_unit else None

    def n_values_of(self, column: int) -> int:
        """Codes of a column: they are below this number."""
        return self.layout.n_values[column]

    def group(self, sets: Sequence[Sequence[int]], limit: int) -> list[CodedRows] | None:
        """For each set of columns the rows by their values and label, with their number; None beyond the limit.

        One job for all sets. Rows are grouped in every partition before they are shuffled.
        """
        groups = self._group(sets, limit)
        for columns, rows in zip(sets, groups, strict=True) if groups is not None else ():
            self._refuse_changed(rows, columns)
        return groups

    def sum_contexts(self, most_cells: int) -> ContextSums:
        """The paper's counts, and the contexts of every feature given all others, up to so many cells of each.

        For each block of features the rows that agree outside of it come together, and whole partitions are counted.
        """
        blocks, n_partitions = self.plan.blocks, self.plan.n_partitions
        layout = self.layout.features_only()
        words = self._merged(layout) if self.plan.is_merged else self._columns(layout.names)
        parts = []
        for number in range(len(blocks)):
            keys = layout.outside(number)
            rows = words.repartition(n_partitions, *keys) if keys else words.repartition(1)
            count = CountPart(number, layout, self.margins.n_labels, most_cells)
            parts.append(rows.mapInArrow(count.__call__, PART_SCHEMA))
        together = reduce(lambda one, other: one.union(other), parts)
        n_parts = n_partitions * len(blocks)
        while n_parts > 2 * ADDED_TOGETHER:
            n_parts = -(-n_parts // ADDED_TOGETHER)
            together = together.repartition(n_parts).mapInArrow(add_parts, PART_SCHEMA)
        counted = read_parts(iter(collect(together, "the count").to_batches()))
        for number in range(len(blocks)):
            part = counted.get(number)
            self._refuse_other(*(np.zeros(1, np.int64), {}) if part is None else (part.by_label, part.by_value))
        return join_blocks([counted[number].sums for number in range(len(blocks))], blocks)

    def distinct(self) -> "SparkEngine":
        """Each row of the features with its label once, without weights; it has no other columns."""
        layout = self.layout.features_only()
        kept = KeptFrame(self.frame.select(*layout.names, LABEL).distinct())
        once = replace(self, kept=kept, n_codes=(), bin_sizes=(), has_unit=False, is_weighted=False, _samples={})
        by_feature = once._group([[i] for i in range(self.margins.n_features)]) or []
        margins = Margins(by_feature[0].label_sizes(), tuple(rows.value_sizes(0) for rows in by_feature))
        return replace(once, margins=margins)

    def first_rows(self, columns: Sequence[int], rows: CodedRows) -> None:  # noqa: ARG002
        """None: rows have no order on Spark."""
        return

    def sample(self, n_rows: int) -> CodedRows:
        """At most so many rows, with all columns and weights, sorted; drawn once."""
        if n_rows not in self._samples:
            self._samples[n_rows] = self._draw(n_rows)
        return self._samples[n_rows]

    def _draw(self, n_rows: int) -> CodedRows:
        n_words = self._n_words
        frame = self.frame if n_words <= n_rows else self.frame.sample(min(1.0, DRAWN * n_rows / n_words), SEED)
        drawn = self._read(collect(frame, "drawing a sample of the rows"))
        order = np.lexsort((drawn.weights_or_ones(), drawn.labels, *drawn.codes.T))
        if len(order) > n_rows:
            order = order[np.sort(np.random.default_rng(SEED).permutation(len(order))[:n_rows])]
        return drawn.take(order)

    def estimate_distinct(self) -> int:
        """About how many distinct rows of all columns and the label there are."""
        from pyspark.sql import functions as F

        key = F.xxhash64(*self.layout.names, LABEL)  # of whole numbers without a null
        estimate = collect(self.frame.agg(F.approx_count_distinct(key, 0.02).alias("n")), "looking at the rows")
        return int(estimate.column("n")[0].as_py())

    def here(self, limit: int) -> CodedRows | None:
        """All distinct rows with their numbers, in this process; None if they are more than the limit."""
        table = collect(self._merged(self.layout).limit(limit + 1), "bringing groups of rows here")
        if table.num_rows > limit:
            return None
        rows = merge_rows(self._read(table))  # sorted: Spark has another order each time
        self._refuse_changed(rows, range(rows.n_features))
        return rows

    @cached_property
    def _n_words(self) -> int:
        """Rows of the frame."""
        return int(self.frame.count()) if self.is_weighted else self.n_rows

    def _columns(self, words: Sequence[str]) -> "DataFrame":
        """Some words with the label and the weight."""
        return self.frame.select(*words, LABEL, *([WEIGHT] if self.is_weighted else []))

    def _merged(self, layout: Layout) -> "DataFrame":
        """Identical rows with the same label as one row with their number; Spark adds up before it shuffles."""
        from pyspark.sql import functions as F

        number = F.sum(WEIGHT) if self.is_weighted else F.count(F.lit(1))
        return self.frame.groupBy(*layout.names, LABEL).agg(number.cast("long").alias(WEIGHT))

    def _read(self, table: Any) -> CodedRows:
        return rows_of(table, self.layout, self.margins.n_labels, range(len(self.layout.n_values)))

    def _group(self, sets: Sequence[Sequence[int]], limit: int | None = None) -> list[CodedRows] | None:
        """Rows by the values of each set of columns and their label; None beyond the limit."""
        from pyspark.sql import functions as F

        group = GroupRows(self.layout, self.margins.n_labels, tuple(tuple(columns) for columns in sets))
        parts = self._columns(self.layout.holding(group.columns)).mapInArrow(group.__call__, group.schema)
        grouped = parts.groupBy("place", *group.keys).agg(F.sum("n").cast("long").alias("n"))
        table = collect(grouped if limit is None else grouped.limit(limit + 1), "grouping the rows")
        return None if limit is not None and table.num_rows > limit else group.read(table)

    def _refuse_changed(self, rows: CodedRows, columns: Sequence[int]) -> None:
        """Refuse groups of some columns that do not have the rows counted at first."""
        n_known = len(self.margins.by_value) + len(self.bin_sizes)
        sizes = {column: rows.value_sizes(place) for place, column in enumerate(columns) if column < n_known}
        self._refuse_other(rows.label_sizes(), sizes)

    def _refuse_other(self, by_label: Ints, by_column: dict[int, Ints]) -> None:
        """Refuse counts of other rows, or of other values, than those counted at first."""
        n_seen = int(by_label.sum())
        if n_seen != self.n_rows:
            raise SparkError(
                f"Spark counted {n_seen:,} rows instead of {self.n_rows:,}: the table changed during the count, or is"
                " not the same each time it is computed; write it to a file first and count that."
            )
        known = (*self.margins.by_value, *self.bin_sizes)
        same = [np.array_equal(sizes, known[column]) for column, sizes in by_column.items()]
        if not np.array_equal(by_label, self.margins.by_label) or not all(same):
            raise SparkError(
                "The columns hold other values than before: the table changed during the count, or is not the same"
                " each time it is computed; write it to a file first and count that."
            )
