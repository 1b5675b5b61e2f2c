"""A look at the columns of a table that lies elsewhere: their values with the rows of each, or steps of very many."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from typing import Any

import numpy as np

from analogical._checks import brief
from analogical._types import Ints
from analogical.engines.cells import Steps, numbers_of
from analogical.engines.relation import LABEL, UNIT, WEIGHT, Kind, Relation
from analogical.engines.values import CountValues, ValueCounts
from analogical.errors import InputError
from analogical.table.columns import Column
from analogical.table.dates import PARTS, part_column, parts_that_may_vary
from analogical.table.frames import as_series
from analogical.table.reading import encode_cells
from analogical.table.rules import NEARLY_ALL, counts_rows, names_units

__all__ = ["NUMBERS", "TIMES", "FullColumn", "Look", "Part"]

N_STEPS = 10_000
"""Steps of about equally many rows in which the numbers of a column with very many values are looked at."""
NUMBERS: tuple[Kind, ...] = ("whole", "real", "decimal", "duration")
TIMES: tuple[Kind, ...] = ("day", "time")


@dataclass(frozen=True)
class FullColumn:
    """What is known of a column with more values than can come here."""

    n_values: int
    """About how many there are."""
    is_id: bool
    """Whether they name the rows, or whom a row is about."""
    is_unit: bool


@dataclass(frozen=True)
class Part:
    """The month, the weekday or the hour of dates: one row for each number of it, with the rows of the table."""

    column: Column
    weights: Ints


@dataclass(frozen=True)
class Look:
    """The rows that count, and what is known of their columns."""

    relation: Relation
    """The columns as ``p0``, ``p1``, ... by their positions, label, weight, unit and the number of the row."""
    names: Mapping[int, str]
    """Of the columns, by position."""
    kinds: Mapping[str, Kind]
    is_weighted: bool
    whole: Relation
    """The same with the rows that do not count."""
    n_table: int
    """Rows of that."""
    n_unlabelled: int
    """Those without a label."""

    @cached_property
    def n_rows(self) -> int:
        """Rows that count, each once."""
        return int(self.relation.look({"n": "count(*)"}, "counting the rows")["n"])

    @cached_property
    def counts(self) -> dict[str, ValueCounts]:
        """The values of the label and of all columns."""
        names = [LABEL, *(f"p{p}" for p in self.names)]
        counts = self.relation.count_values(names, self.relation.most_values)
        in_order = [name for name in names if counts[name].is_in_order and counts[name].values is not None]
        if self.relation is not self.whole and in_order:  # as in memory, by all rows
            of_all = self.whole.count_values(in_order, self.relation.most_values)
            counts |= {name: counts[name].ordered_as(of_all[name].values) for name in in_order}
        return {name: counts[name].sorted() for name in names}

    @property
    def weight(self) -> int:
        """Total weight of the rows that count."""
        return self.counts[LABEL].weight

    def is_full(self, position: int) -> bool:
        """Whether a column has more values than can come here."""
        return self.counts[f"p{position}"].is_full

    def kind_of(self, position: int) -> Kind:
        """What a column holds."""
        return self.kinds[f"p{position}"]

    def without_gaps(self, positions: Sequence[int]) -> "Look":
        """A look at the rows that have a value in each of some columns."""
        condition = " AND ".join(f"p{p} IS NOT NULL" for p in positions)
        return replace(self, relation=self.relation.where(condition))

    def values_of(self, position: int) -> ValueCounts:
        """The values of a column in increasing order, or the steps that they lie on."""
        return self.steps[position] if self.is_full(position) else self.counts[f"p{position}"]

    def column(self, position: int) -> Column:
        """A column with one row for each of its values, and a last one if cells are missing."""
        if self.is_full(position) and self.full[position].is_id:
            return Column(np.zeros(0, np.int64), [], "time" if self.kind_of(position) in TIMES else "category")
        counted = self.values_of(position)
        kind = self.kind_of(position)
        column = column_of(counted, kind, f"feature {brief(self.names[position])}")
        return replace(column, is_sorted=True) if kind in (*NUMBERS, *TIMES) else column

    def weights_of(self, position: int) -> Ints:
        """How many rows each row of such a column stands for."""
        if self.is_full(position) and self.full[position].is_id:
            return np.zeros(0, np.int64)
        return weights_of(self.values_of(position))

    @cached_property
    def full(self) -> dict[int, FullColumn]:
        """Columns with very many values; how many these are is estimated and, where that is close, counted."""
        positions = [p for p in self.names if self.is_full(p)]
        if not positions:
            return {}
        dialect, about = self.relation.dialect, dict[str, str]()
        for p in positions:
            about |= {
                f"n{p}": dialect.about_distinct.format(f"p{p}"),
                f"low{p}": f"min(p{p})",
                f"high{p}": f"max(p{p})",
            }
        seen = self.relation.look(about, "looking at columns with very many values")
        rows = {p: self.counts[f"p{p}"].weight for p in positions}
        unsure = [p for p in positions if abs(seen[f"n{p}"] / rows[p] - NEARLY_ALL) < dialect.distinct_error]
        if unsure:
            exact = {f"n{p}": f"count(DISTINCT p{p})" for p in unsure}
            seen |= self.relation.look(exact, "counting distinct values")
        return {p: self._full(p, int(seen[f"n{p}"]), rows[p], seen[f"low{p}"], seen[f"high{p}"]) for p in positions}

    def _full(self, position: int, n_values: int, weight: int, low: Any, high: Any) -> FullColumn:
        name, kind = self.names[position], self.kind_of(position)
        if kind in ("real", "decimal", "duration"):
            return FullColumn(n_values, is_id=False, is_unit=False)
        is_unit = kind in ("whole", "text") and names_units(name) and 2 * n_values <= weight
        is_id = n_values >= NEARLY_ALL * weight and (kind != "whole" or counts_rows(name, n_values, low, high))
        return FullColumn(n_values, is_id=is_id or (is_unit and kind == "whole"), is_unit=is_unit)

    @cached_property
    def steps(self) -> dict[int, ValueCounts]:
        """Where steps of the columns with very many numbers begin, with how many rows lie on each."""
        wanted = [p for p, full in self.full.items() if not full.is_id]
        for p in wanted:
            if self.kind_of(p) not in (*NUMBERS, *TIMES):
                raise InputError(
                    f"The feature {brief(self.names[p])} has more than {self.relation.most_values:,} values, too many"
                    " to collect, and is neither a number nor an identifier; leave it out with ignore, or merge its"
                    " values first."
                )
        starts = {f"p{p}": self.relation.steps(f"p{p}", N_STEPS) for p in wanted}
        numbers = {name: Steps(numbers_of(values)) for name, values in starts.items()}
        weight = [WEIGHT] if self.is_weighted else []
        counting = CountValues(tuple(starts), N_STEPS + 1, numbers)
        counts = self.relation.sum_batches([*starts, *weight], counting, "looking at the columns") if starts else {}
        known = {}
        for p in wanted:
            counted = counts[f"p{p}"].sorted()
            known[p] = replace(counted, values=starts[f"p{p}"].take(counted.values), is_in_order=True)
        return known

    def parts_of(self, position: int) -> dict[str, Part]:
        """Parts of the dates in a column with very many of them, those that vary over two cycles or more."""
        name, dialect = f"p{position}", self.relation.dialect
        numbers = {
            "month": f"month({name}) - 1",
            "weekday": dialect.weekday.format(name),
            "hour": f"hour({name})" if self.kind_of(position) == "time" else "0",
        }
        ends = self.relation.look(
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
                codes = np.append(np.arange(len(known)), [-1] * bool(counted.n_missing)).astype(np.int64)
                found[part] = Part(part_column(part, known, codes), weights_of(counted))
        return found

    @cached_property
    def units(self) -> ValueCounts:
        """The groups that rows belong to."""
        counted = self.relation.count_values([UNIT], self.relation.most_values)[UNIT].sorted()
        if counted.is_full:
            raise InputError(
                f"groups have more than {self.relation.most_values:,} values, too many to collect; leave groups out."
            )
        return counted


def column_of(counted: ValueCounts, kind: Kind, what: str) -> Column:
    """A column with one row for each value, and a last one if cells are missing."""
    import pyarrow as pa

    values: Any = counted.values
    if kind == "duration" and pa.types.is_integer(values.type):
        values = values.cast(pa.duration("us"))
    if counted.n_missing:
        values = pa.concat_arrays([values, pa.nulls(1, values.type)])
    return encode_cells(as_series(pa.chunked_array([values])), what)


def weights_of(counted: ValueCounts) -> Ints:
    """How many rows each row of such a column stands for."""
    weights: Ints = counted.weights
    return np.append(weights, counted.weight_missing) if counted.n_missing else weights
