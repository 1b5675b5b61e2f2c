"""A study of a table that an engine holds: the engine groups the rows, and the groups are analysed in this process."""

import math
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import replace
from functools import cached_property
from typing import Any, Self

import numpy as np

from analogical._types import CodedRows, Ints, Margins
from analogical.columns.meaning import EngineMeaning
from analogical.count.contexts import Contexts, Stack
from analogical.count.counts import PairCounts
from analogical.count.engine import Engine
from analogical.count.given import Cells, count_one
from analogical.count.groups import merge_rows
from analogical.count.listing import ListedRows
from analogical.count.pairs import ContextSums
from analogical.engines.dependencies import GroupedRows
from analogical.errors import InputError
from analogical.estimate.dependencies import Dependencies, find_dependencies
from analogical.study import SEARCH_ROWS, Duplicates, Study
from analogical.table_counts import Item, MergedRows

__all__ = ["EngineStudy"]


class EngineStudy(Study):
    """A study whose rows are in a database or on a cluster.

    Results come from all rows, grouped by the engine. Only the search for the deciding set uses a sample.
    """

    table: EngineMeaning
    engine: Engine
    most_combinations = 5_000_000
    """Combinations of values and label that come here at once, a few hundred megabytes. Four times as many are held;
    beyond that the oldest are dropped, and grouped again if they are needed."""
    most_cells = 20_000_000
    """Cells of the contexts of all features given all others, from all parts: 480 MB, half of Spark's default limit."""
    _groups: dict[tuple[int, ...], CodedRows]

    @classmethod
    def of(
        cls,
        table: EngineMeaning,
        engine: Engine,
        *,
        duplicates: Duplicates = "count",
        plan: Any = None,
    ) -> Self:
        """The study of an engine and the meaning of its codes; ``plan`` is part of the settings of results."""
        study = cls.__new__(cls)
        study._begin(table, duplicates, None)
        study.n_rows = engine.margins.n_rows
        study.engine = engine.distinct() if duplicates == "once" else engine
        study.engine_name, study.plan = engine.name, plan
        study._groups = {}
        return study

    @cached_property
    def margins(self) -> Margins:
        """How many rows have each label and each value."""
        return self.engine.margins

    @cached_property
    def counts(self) -> PairCounts:
        """The paper's counts: pairs of rows that differ on one feature only."""
        return self._given_all.counts if "_given_all" in vars(self) else self.engine.sum_contexts(0).counts

    @cached_property
    def _given_all(self) -> ContextSums:
        """The paper's counts with the contexts of every feature given all others."""
        return self.engine.sum_contexts(self.most_cells // (self.engine.n_parts * self.n_features))

    # ------------------------------------------------------------ rows

    def n_values_of(self, columns: Sequence[int]) -> Ints:
        """Number of values of each column."""
        return np.array([self.engine.n_values_of(column) for column in columns], np.int64)

    def rows_of(self, columns: Sequence[int]) -> CodedRows:
        """Rows by these columns and the label, with their number; a combination may come several times."""
        self.hold([columns])
        held = next(one for one in self._groups if set(columns).issubset(one))
        return self._groups[held].select([held.index(column) for column in columns])

    def merged_by(self, sets: Sequence[Sequence[int]], *, refuse: bool = True) -> Iterator[MergedRows]:
        """Grouped rows that hold all columns of some of the sets, until every set was there.

        Sets with too many combinations of values are refused, or left out.
        """
        left = {place: set(columns) for place, columns in enumerate(sets)}
        for columns in self._bring(sets, refuse=refuse):
            members = [place for place, one in left.items() if one.issubset(columns)]
            for place in members:
                del left[place]
            if members:
                yield MergedRows(members, columns, self._groups[columns])

    def listed(self, features: Sequence[int], given: Sequence[int]) -> ListedRows:
        """Rows by features, given columns and label, with their number; by their first row, if rows have an order."""
        columns = [*features, *sorted(given)]
        rows = self._grouped(columns)
        positions = self.engine.first_rows(columns, rows)
        keys = (rows.labels, *rows.codes.T) if positions is None else (positions,)
        order = np.lexsort(keys)
        rows = rows.take(order)
        cells = Cells.by(rows, range(len(features), rows.n_features))
        return ListedRows.of(rows.select(range(len(features))), cells, None if positions is None else positions[order])

    def first_rows(self, feature: int) -> Ints:
        """The first row of each value of a feature; the order of the values if rows have no order."""
        rows = self._grouped([feature])
        positions = self.engine.first_rows([feature], rows)
        n_values = int(self.margins.n_values[feature])
        if positions is None:
            return np.arange(n_values)
        firsts = np.full(n_values, np.iinfo(np.int64).max)
        np.minimum.at(firsts, rows.codes[:, 0], positions)
        return firsts

    # ------------------------------------------------------------ contexts

    def _count(self, items: Sequence[Item]) -> Iterator[tuple[list[Item], Stack]]:
        """Count the contexts of items on rows that are collected in few jobs, or in the engine."""
        for item in items:
            if self._is_everything(item[1]):
                yield [item], Stack.of([self._contexts_given_all(item[0])])
        rest = [item for item in items if not self._is_everything(item[1])]
        unit = () if self.unit is None else (self.unit,)  # only p-values need it
        self.hold([(feature, *given, *unit) for feature, given in rest])
        yield from super()._count(rest)

    def _count_given(self, items: Sequence[Item]) -> Iterator[tuple[list[Item], Stack]]:
        """Count the contexts of items with their codes, from rows that are grouped by all of their columns."""
        for feature, given in items:
            columns = feature, *given
            yield [(feature, given)], count_one(self.rows_of(columns), columns, feature, given)

    def _contexts_given_all(self, feature: int) -> Contexts:
        """The contexts of a feature given all others."""
        kept = self._given_all.kept[feature]
        if kept.parts is None:
            raise InputError(
                f"The feature {self.table.names[feature]!r} has too many distinct contexts given all others to collect;"
                " give fewer features (given=[...], --given). The paper's index is part of every result."
            )
        return kept.contexts

    def dependencies(self, max_determinants: int) -> Dependencies:
        """Which features others determine or nearly determine; not searched where combinations were too many."""
        rows = GroupedRows(self, self._sample.rows)
        known = find_dependencies(rows, max_determinants)
        return replace(
            known,
            searched_one=known.searched_one and 1 not in rows.uncounted,
            searched_two=known.searched_two and 2 not in rows.uncounted,
            searched_near=known.searched_near and rows.is_near_complete,
        )

    @cached_property
    def _sample(self) -> Study:
        """The study of some rows, in this process."""
        part = Study.of_rows(self.table, self.engine.sample(SEARCH_ROWS), duplicates=self.duplicates)
        part.n_jobs = self.n_jobs
        return part

    def _is_everything(self, given: Sequence[int]) -> bool:
        """Whether these columns are all others, and whole rows too many to collect."""
        return len(given) == self.n_features - 1 and self._most(range(self.n_features)) > self.most_combinations

    # ------------------------------------------------------------ groups

    def _most(self, columns: Iterable[int]) -> int:
        """Largest possible number of combinations of values and label."""
        possible = math.prod(self.engine.n_values_of(column) for column in columns) * self.margins.n_labels
        return min(possible, self.margins.n_rows)

    def _grouped(self, columns: Sequence[int]) -> CodedRows:
        """Each combination of values of these columns and label once, with its number of rows."""
        rows = merge_rows(self.rows_of(columns))
        return rows.weighted(rows.weights_or_ones())

    def hold(self, sets: Sequence[Sequence[int]]) -> None:
        """Collect the rows grouped by each of these sets."""
        for _ in self._bring(sets):
            pass

    def _bring(self, sets: Sequence[Sequence[int]], *, refuse: bool = True) -> Iterator[tuple[int, ...]]:
        """Group the rows by each of these sets, in as few jobs as the limit allows; yields the columns of groups."""
        wanted: list[tuple[int, ...]] = []
        for columns in sorted({tuple(sorted(set(columns))) for columns in sets}, key=lambda one: (-len(one), one)):
            held = next((one for one in self._groups if set(columns).issubset(one)), None)
            if held is not None:
                yield held
            elif not any(set(columns).issubset(one) for one in wanted):
                wanted.append(columns)
        while wanted:
            some = [wanted.pop(0)]
            room = self.most_combinations - self._most(some[0])
            while wanted and (room := room - self._most(wanted[0])) >= 0:
                some.append(wanted.pop(0))
            groups = self.engine.group(some, self.most_combinations)
            if groups is not None:
                self._groups.update(zip(some, groups, strict=True))
                self._drop_oldest()
                yield from some
            elif refuse:  # a single set: several are within the limit
                names = ", ".join("groups" if c == self.unit else self.names_of([c])[0] for c in some[0])
                raise InputError(
                    f"More than {self.most_combinations:,} combinations of values of {names} occur, too many to"
                    " collect; give fewer features (given=[...], --given), or bin them more coarsely."
                )

    def _drop_oldest(self) -> None:
        """Drop the oldest groups if too many are held; the newest stays."""
        n_held = sum(len(rows.codes) for rows in self._groups.values())
        for columns in list(self._groups)[:-1]:
            if n_held <= 4 * self.most_combinations:
                break
            n_held -= len(self._groups.pop(columns).codes)
