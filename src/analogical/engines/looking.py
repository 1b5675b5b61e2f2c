"""What is known of the columns of a table in an engine: their values with the rows of each, or steps of too many."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property
from typing import Any

import numpy as np

from analogical._checks import brief
from analogical.columns.columns import MANY_NUMBERS, Values
from analogical.columns.dates import PARTS, PartOfDates, part_values, parts_that_may_vary
from analogical.columns.frames import as_series
from analogical.columns.reading import encode_cells
from analogical.columns.rules import NEARLY_ALL, counts_rows, names_units
from analogical.engines.cells import Steps, numbers_of, table_changed
from analogical.engines.relation import LABEL, UNIT, WEIGHT, Kind, Relation
from analogical.engines.values import CountValues, ValueCounts
from analogical.errors import InputError

__all__ = ["NUMBERS", "TIMES", "FullColumn", "Look"]

N_STEPS = 10_000
"""Quantiles at which numbers are counted if a column has too many values to collect."""
HELD = 200_000
"""Largest number of values of a column that stay in memory; columns with more are counted one at a time."""
MOST_OTHERS, MOST_LABELS = 2_000_000, 1_000_000
"""Largest number of texts or times of a column, and of values of a label, to collect: each is a Python object."""
NO_LIMIT = 2**62
NUMBERS: tuple[Kind, ...] = ("whole", "real", "decimal", "duration")
TIMES: tuple[Kind, ...] = ("day", "time")
NEVER_IDS: tuple[Kind, ...] = ("real", "decimal", "duration", *TIMES)
"""Kinds of values that are never identifiers."""


@dataclass(frozen=True)
class FullColumn:
    """A column with too many values to collect."""

    n_values: int
    """Estimated number of values."""
    is_id: bool
    """Whether they identify rows or units."""
    is_unit: bool


@dataclass
class Look:
    """The rows that count, and what is known of their columns."""

    relation: Relation
    """Columns ``p0``, ``p1``, ... by position in the user's table, label, weight, unit and row."""
    names: Mapping[int, str]
    """Names of the columns by position."""
    kinds: Mapping[str, Kind]
    is_weighted: bool
    whole: Relation
    """The same with all rows of the table."""
    n_table: int
    """Number of all rows."""
    n_unlabelled: int
    """Rows without a label."""
    _last: dict[int, ValueCounts] = field(init=False, default_factory=dict)
    """The column that was counted last, of those that are counted one at a time."""
    _steps: dict[int, ValueCounts] = field(init=False, default_factory=dict)
    """Steps of columns with too many values."""

    @cached_property
    def n_rows(self) -> int:
        """Number of rows that count, without weights."""
        return int(self.relation.aggregate({"n": "count(*)"}, "counting the rows")["n"])

    @cached_property
    def counts(self) -> dict[str, ValueCounts]:
        """The values of the label and of all columns; full for columns with too many to stay in memory."""
        return self._count([LABEL, *(f"p{p}" for p in self.names)], min(HELD, self.relation.most_values))

    @cached_property
    def label(self) -> ValueCounts:
        """The values of the label, up to a higher limit."""
        limit = min(MOST_LABELS, self.relation.most_values)
        return self._count([LABEL], limit)[LABEL] if self.counts[LABEL].is_full and limit > HELD else self.counts[LABEL]

    def _count(self, names: Sequence[str], limit: int) -> dict[str, ValueCounts]:
        """The values of columns in increasing order; of texts in order of their first rows, if rows have an order."""
        counts = self.relation.count_values(names, limit)
        in_order = [name for name in names if counts[name].is_in_order and counts[name].values is not None]
        if self.relation is not self.whole and in_order:  # as in memory, by all rows
            of_all = self.whole.count_values(in_order, limit)
            counts |= {name: counts[name].ordered_as(of_all[name].values) for name in in_order}
        return {name: counts[name].sorted() for name in names}

    @property
    def weight(self) -> int:
        """Total weight of the rows that count."""
        return self.counts[LABEL].weight

    def kind_of(self, position: int) -> Kind:
        """What a column holds."""
        return self.kinds[f"p{position}"]

    def without_gaps(self, positions: Sequence[int]) -> "Look":
        """A look at the rows that have a value in each of some columns."""
        condition = " AND ".join(f"p{p} IS NOT NULL" for p in positions)
        return replace(self, relation=self.relation.where(condition))

    def is_full(self, position: int) -> bool:
        """Whether a column has too many values to collect."""
        return position in self.full

    def counts_of(self, position: int) -> ValueCounts:
        """The values of a column in order, or the starts of its steps; many values are kept for one column only."""
        name = f"p{position}"
        if not self.counts[name].is_full:
            return self.counts[name]
        if self.is_full(position):
            return self._steps_of(position)
        if position not in self._last:
            self._last.clear()
            self._last[position] = self._count([name], NO_LIMIT)[name]
        return self._last[position]

    def values(self, position: int) -> Values:
        """The values of a column as those of a column in memory, or the starts of its steps."""
        import pyarrow as pa

        kind, counted = self.kind_of(position), self.counts_of(position)
        known: Any = counted.values
        if kind in ("whole", "real") and len(known) > MANY_NUMBERS:
            known = known.to_numpy(zero_copy_only=False)
            return Values(known, counted.weights, kind, n_missing=counted.n_missing, is_sorted=True)
        if kind == "duration" and pa.types.is_integer(known.type):
            known = known.cast(pa.duration("us"))
        column = encode_cells(as_series(pa.chunked_array([known])), f"feature {brief(self.names[position])}")
        if len(column.values) != len(counted.weights):  # a damaged file may hold a value in two forms
            raise table_changed()
        is_sorted = column.is_sorted or kind in (*NUMBERS, *TIMES)
        return Values(column.values, counted.weights, column.kind, n_missing=counted.n_missing, is_sorted=is_sorted)

    @cached_property
    def full(self) -> dict[int, FullColumn]:
        """Columns with too many values; their number is estimated, and counted where an identifier depends on it."""
        many = [p for p in self.names if self.counts[f"p{p}"].is_full]
        if not many:
            return {}
        dialect, about = self.relation.dialect, dict[str, str]()
        for p in many:
            about[f"n{p}"] = dialect.about_distinct.format(f"p{p}")
            about |= {f"low{p}": f"min(p{p})", f"high{p}": f"max(p{p})"}
        seen = self.relation.aggregate(about, "looking at columns with very many values")
        most = self.relation.most_values
        if most > HELD:
            many = [p for p in many if seen[f"n{p}"] > (most if self.kind_of(p) in NUMBERS else min(most, MOST_OTHERS))]
        rows = {p: self.counts[f"p{p}"].weight for p in many}
        unsure = [p for p in many if self.kind_of(p) not in NEVER_IDS]
        unsure = [p for p in unsure if abs(seen[f"n{p}"] / rows[p] - NEARLY_ALL) < dialect.distinct_error]
        if unsure:
            exact = {f"n{p}": f"count(DISTINCT p{p})" for p in unsure}
            seen |= self.relation.aggregate(exact, "counting distinct values")
        return {p: self._full(p, int(seen[f"n{p}"]), rows[p], seen[f"low{p}"], seen[f"high{p}"]) for p in many}

    def _full(self, position: int, n_values: int, weight: int, low: Any, high: Any) -> FullColumn:
        name, kind = self.names[position], self.kind_of(position)
        if kind in NEVER_IDS:
            return FullColumn(n_values, is_id=False, is_unit=False)
        is_unit = kind in ("whole", "text") and names_units(name) and 2 * n_values <= weight
        is_id = n_values >= NEARLY_ALL * weight and (kind != "whole" or counts_rows(name, n_values, low, high))
        return FullColumn(n_values, is_id=is_id or (is_unit and kind == "whole"), is_unit=is_unit)

    def _steps_of(self, position: int) -> ValueCounts:
        """The starts of the steps of a column with too many numbers, and the rows of each."""
        if position not in self._steps:
            others = [p for p, full in self.full.items() if not full.is_id and p not in self._steps]
            self._steps.update(self._find_steps(sorted({position, *others})))
        return self._steps[position]

    def _find_steps(self, positions: Sequence[int]) -> dict[int, ValueCounts]:
        """The steps of some columns."""
        for p in positions:
            if self.kind_of(p) not in (*NUMBERS, *TIMES):
                raise InputError(
                    f"The feature {brief(self.names[p])} has more than {self.relation.most_values:,} values, too many"
                    " to collect, and is neither a number nor an identifier; leave it out with ignore, or merge its"
                    " values first."
                )
        starts = {f"p{p}": self.relation.quantiles(f"p{p}", N_STEPS) for p in positions}
        numbers = {name: Steps(numbers_of(values)) for name, values in starts.items()}
        weight = [WEIGHT] if self.is_weighted else []
        counting = CountValues(tuple(starts), NO_LIMIT, numbers)
        counts = self.relation.sum_batches([*starts, *weight], counting, "looking at the columns")
        steps = {}
        for p in positions:
            counted = counts[f"p{p}"].sorted()
            steps[p] = replace(counted, values=starts[f"p{p}"].take(counted.values), is_in_order=True)
        return steps

    def parts_of(self, position: int) -> dict[str, PartOfDates]:
        """Parts of the dates in a column with too many values, those that vary over two cycles or more."""
        name, dialect = f"p{position}", self.relation.dialect
        numbers = {
            "month": f"month({name}) - 1",
            "weekday": dialect.weekday.format(name),
            "hour": f"hour({name})" if self.kind_of(position) == "time" else "0",
        }
        ends = self.relation.aggregate(
            {"low": f"min({name})", "high": f"max({name})", "days": f"count(DISTINCT day({name}))"}, "looking at dates"
        )
        may_vary = parts_that_may_vary((ends["high"] - ends["low"]).total_seconds() / 86_400, ends["days"])
        weight = {WEIGHT: WEIGHT} if self.is_weighted else {}
        is_there = f"CASE WHEN {name} IS NOT NULL THEN {{}} END"
        parts = self.relation.project({part: is_there.format(numbers[part]) for part in PARTS} | weight)
        counts = parts.count_values(may_vary, 100) if may_vary else {}
        found = {}
        for part in may_vary:
            counted = counts[part].sorted()
            known = numbers_of(counted.values).astype(np.int64)
            if len(known) > 1:
                found[part] = PartOfDates(part_values(part, known, counted.weights, counted.n_missing), known)
        return found

    @cached_property
    def units(self) -> ValueCounts:
        """The groups of the rows."""
        limit = (
            self.relation.most_values if self.kinds[UNIT] in NUMBERS else min(self.relation.most_values, MOST_OTHERS)
        )
        counted = self.relation.count_values([UNIT], limit)[UNIT].sorted()
        if counted.is_full:
            raise InputError(
                f"groups have more than {limit:,} values, too many to collect; leave groups out, or give coarser ones."
            )
        return counted
