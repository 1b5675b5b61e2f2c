"""A study of a table that an engine holds: the engine groups the rows, and the groups are analysed in this process."""

import math
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import replace
from functools import cached_property, partial
from typing import Any, Self

import numpy as np

from analogical._types import CodedRows, Ints, Margins
from analogical.count.contexts import Contexts
from analogical.count.counts import PairCounts
from analogical.count.engine import Engine
from analogical.count.given import Cells, Counted, count_one
from analogical.count.groups import merge_rows
from analogical.count.kept import KeepContexts, KeptContexts
from analogical.count.pairs import ContextSums, no_summary
from analogical.engines.dependencies import GroupedRows
from analogical.errors import InputError
from analogical.estimate.dependencies import Dependencies, find_dependencies
from analogical.estimate.significance import pools_contexts, test_contexts
from analogical.estimate.sizes import Size
from analogical.study import SEARCH_ROWS, Duplicates, Study
from analogical.table.meaning import EngineMeaning
from analogical.table_counts import FEW_CELLS, Item, ListedRows, MergedRows, RowNames, UnitRows

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

    @property
    def margins(self) -> Margins:
        """How many rows have each label and each value."""
        return self.engine.margins

    @cached_property
    def counts(self) -> PairCounts:
        """The paper's counts: pairs of rows that differ on one feature only."""
        return self._given_all.counts if "_given_all" in vars(self) else self.engine.sum_contexts(no_summary).counts

    @cached_property
    def _given_all(self) -> ContextSums[KeptContexts]:
        """The paper's counts with the contexts of every feature given all others."""
        return self.engine.sum_contexts(KeepContexts(self.most_cells // (self.engine.n_parts * self.n_features)))

    # ------------------------------------------------------------ rows

    def n_values_of(self, columns: Sequence[int]) -> Ints:
        """Number of values of each column."""
        return np.array([self.engine.n_values_of(column) for column in columns], np.int64)

    def rows_of(self, columns: Sequence[int]) -> CodedRows:
        """Rows by these columns and the label, with their number; a combination may come several times."""
        self.hold([columns])
        held = next(one for one in self._groups if set(columns).issubset(one))
        return self._groups[held].select([held.index(column) for column in columns])

    def units_of(self, columns: Sequence[int]) -> UnitRows:
        """Rows by these columns, the unit and the label, with their number."""
        if self.engine.unit is None:
            raise ValueError("rows are independent")
        rows = self.rows_of([*columns, self.engine.unit])
        return UnitRows(rows.select(range(len(columns))), rows.codes[:, -1].astype(np.int64))

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
        return ListedRows(
            rows.select(range(len(features))),
            Cells.of([rows.codes[:, k] for k in range(len(features), rows.n_features)], len(rows.codes)),
            None if positions is None else partial(_named, positions[order]),
        )

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

    def test(self, items: Iterable[Item]) -> None:
        """Test those features given columns that were not tested yet, with few jobs."""
        new = [item for item in dict.fromkeys(items) if item not in self._tested]
        for item in new:
            if self._is_everything(item[1]):
                contexts = self._held[item] = self._contexts_given_all(item[0])
                sizes = self.value_sizes(item[0]), self.margins.label_sizes()
                self._tested[item] = test_contexts(contexts, *sizes, None)
        unit = () if self.engine.unit is None else (self.engine.unit,)  # only p-values need it
        self.hold([(feature, *given, *unit) for feature, given in new if not self._is_everything(given)])
        super().test(new)

    def sizes(self, items: Iterable[Item], confidence: float) -> Iterator[tuple[Item, Size | None]]:
        """Effects of features in the contexts of columns; None where there is no pair."""
        wanted = list(items)
        self.test(wanted)
        return super().sizes(wanted, confidence)

    def _contexts_given_all(self, feature: int) -> Contexts:
        """The contexts of a feature given all others."""
        kept = self._given_all.summaries[feature]
        contexts = Contexts.none() if kept is None else kept.contexts
        if contexts is None:
            raise InputError(
                f"The feature {self.table.names[feature]!r} has too many distinct contexts given all others to collect;"
                " give fewer features (given=[...], --given). The paper's index is part of every result."
            )
        return contexts

    def _count_all(self) -> None:
        """Nothing to do: :meth:`test` collects the rows, or the engine counts them."""

    def _parts(self, items: Sequence[Item]) -> Iterator[tuple[tuple[int, ...], Counted]]:
        """The contexts of features given columns, from rows that are grouped by all of these."""
        for feature, given in items:
            columns = feature, *given
            yield given, count_one(self.rows_of(columns), columns, feature, given)

    def _has_few_contexts(self, item: Item) -> bool:
        """Whether there are so few contexts that equal ones need not be merged."""
        return pools_contexts(1 + len(item[1])) and self._most(item[1]) <= FEW_CELLS

    def dependencies(self, max_determinants: int) -> Dependencies:
        """Which features others determine or nearly determine; not searched where combinations were too many."""
        rows = GroupedRows(self, self._sample.rows)
        known = find_dependencies(rows, max_determinants)
        return replace(
            known,
            searched_one=known.searched_one and 1 not in rows.untold,
            searched_two=known.searched_two and 2 not in rows.untold,
            searched_near=known.searched_near and rows.is_near_told,
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
                names = ", ".join("groups" if c == self.engine.unit else self.names_of([c])[0] for c in some[0])
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


def _named(positions: Ints, some: Sequence[int]) -> RowNames:
    """Positions of some rows in the user's table."""
    places = positions[list(some)].tolist()
    return RowNames(places, places)
