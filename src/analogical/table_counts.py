"""The rows of one table, and what was counted on them, each thing once: contexts, tests and effects of features."""

import math
from collections import Counter
from collections.abc import Callable, Hashable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cached_property, partial
from typing import Literal, TypeAlias

import numpy as np

from analogical._checks import check_choice
from analogical._types import CodedRows, Codes, Ints, Margins
from analogical.count.contexts import Contexts, Stack
from analogical.count.counts import PairCounts
from analogical.count.given import Cells, Counted, count_given, count_one, join
from analogical.count.groups import first_rows, merge_rows
from analogical.count.listing import ContextRows
from analogical.count.pairs import contexts_themselves, count_pairs, sum_contexts
from analogical.count.threads import n_threads_for
from analogical.errors import InputError
from analogical.estimate.clusters import unit_p_value, with_unit
from analogical.estimate.dependencies import Dependencies, TableRows, find_dependencies
from analogical.estimate.effect import EffectSums
from analogical.estimate.significance import Tested, pools_contexts, test_contexts, test_counted
from analogical.estimate.sizes import Size, measure_size_of_units, measure_sizes
from analogical.table.binning import NUMBERS_OF_BINS, merge_bins
from analogical.table.encode import EncodedTable
from analogical.table.meaning import TableMeaning

__all__ = ["Duplicates", "Item", "ListedRows", "MergedRows", "RowNames", "TableCounts", "UnitRows"]

Duplicates = Literal["count", "once"]
Item: TypeAlias = tuple[int, tuple[int, ...]]
"""A feature, and the columns that it is compared given, in order."""

FEW_CELLS = 2**15
"""Contexts up to which equal ones are not looked for among them, and so many more that hold eight rows on average."""
CELLS, HELD_CELLS = 2**20, 2**22
"""Cells of contexts that are computed with at once, and those that are kept for the next question: memory."""


@dataclass(frozen=True)
class UnitRows:
    """Rows, and the unit of each."""

    rows: CodedRows
    units: Ints


@dataclass(frozen=True)
class MergedRows:
    """Rows that are different on some columns or the label, with their number, for some of the sets asked for."""

    members: Sequence[int]
    """Which sets, by position."""
    columns: tuple[int, ...]
    rows: CodedRows


@dataclass(frozen=True)
class RowNames:
    """Rows of the user's table."""

    positions: Sequence[int]
    names: Sequence[Hashable]
    """Their labels, if the table has an index; otherwise the positions again."""


@dataclass(frozen=True)
class ListedRows:
    """Rows in the order in which they are listed, by some features and by what they are given."""

    rows: CodedRows
    cells: Cells
    """Its columns are those given, in order."""
    named: Callable[[Sequence[int]], RowNames] | None
    """Where some of them stand in the user's table, the first one of rows that are one here; None if not known."""

    @cached_property
    def by_context(self) -> ContextRows:
        """The rows, brought together by context."""
        return ContextRows.of(self.cells.of_row, len(self.cells))


class TableCounts:
    """The rows of a table with its label, and what was counted on them.

    Columns 0 to n - 1 are the features; those after them are numbers in other numbers of bins, for contexts.
    """

    table: TableMeaning
    rows: CodedRows
    groups: Ints | None
    """The unit of each row, if rows depend on each other."""
    _named: EncodedTable | None = None
    """The table that knows where its rows stand in the user's."""

    def _begin(
        self,
        table: TableMeaning,
        duplicates: Duplicates,
        n_jobs: int | None,
        numbers: Iterable[int],
        n_groups: int | None,
    ) -> None:
        """Nothing is counted yet; ``numbers`` are the features that stand here in other numbers of bins too."""
        check_choice("duplicates", duplicates, ("count", "once"))
        if n_groups is not None and duplicates == "once":
            raise InputError('groups and duplicates="once" cannot be used together; groups need every row.')
        self.table, self.n_jobs, self.duplicates, self.n_groups = table, n_jobs, duplicates, n_groups
        self.n_features = len(table.names)
        self.bins = [(i, k) for i in sorted(numbers) for k in NUMBERS_OF_BINS] if duplicates == "count" else []
        self.owner: Ints = np.array([*range(self.n_features), *(i for i, _ in self.bins)])
        by_name = sorted(range(self.n_features), key=lambda i: table.names[i])
        self.rank: Ints = np.argsort(by_name)
        """Place of each feature by name: what decides between features that predict equally well."""
        self._fine: Mapping[int, Codes] = {}
        """Numbers in the finer bins."""
        self._cut: dict[int, Codes] = {}
        self._fine_sizes: dict[int, Ints] = {}
        self._tested: dict[Item, Tested | None] = {}
        self._p_values: dict[Item, float] = {}
        self._value_sizes: dict[int, Ints] = {}
        self._held: dict[Item, Contexts] = {}
        self._n_held = 0
        self._n_cells: dict[tuple[int, ...], int] = {}
        self._divided: tuple[tuple[int, ...], Cells] | None = None

    @property
    def margins(self) -> CodedRows | Margins:
        """How many rows have each label and each value."""
        return self.rows

    @cached_property
    def counts(self) -> PairCounts:
        """The paper's counts: pairs of rows that differ on one feature only."""
        return count_pairs(self.rows, n_jobs=self.n_jobs)

    def codes(self, column: int) -> Codes:
        """Codes of a column for all rows."""
        if column < self.n_features:
            return self.rows.codes[:, column]
        if column not in self._cut:
            self._cut[column] = self.bins_of_fine(column)[self._fine[int(self.owner[column])]]
        return self._cut[column]

    def fine_sizes(self, feature: int) -> Ints:
        """Rows in each of the finer bins of a number; missing cells have the last one."""
        if feature not in self._fine_sizes:
            self._fine_sizes[feature] = np.bincount(self._fine[feature], self.rows.weights).astype(np.int64)
        return self._fine_sizes[feature]

    def bins_of_fine(self, column: int) -> Codes:
        """The code of a column of bins for each finer bin of its number."""
        feature, n_bins = self.bins[column - self.n_features]
        return merge_bins(self.fine_sizes(feature), n_bins, self.table.columns[feature].n_missing > 0)

    def n_values_of(self, columns: Sequence[int]) -> Ints:
        """How many values columns have."""
        features, bins = self.margins.n_values, [n_bins + 1 for _, n_bins in self.bins]  # one more for missing cells
        return np.append(features, bins)[list(columns)].astype(np.int64)

    def rows_of(self, columns: Sequence[int]) -> CodedRows:
        """The rows with some columns only."""
        if all(column < self.n_features for column in columns):
            return self.rows.select(columns)
        codes = [self.codes(column) for column in columns]
        kind = np.result_type(*codes)
        n_values = np.array([int(code.max(initial=0)) + 1 for code in codes], dtype=np.int64)
        matrix = np.empty((len(self.rows.codes), len(codes)), kind, order="F")
        for place, code in enumerate(codes):
            matrix[:, place] = code
        return CodedRows(matrix, self.rows.labels, n_values, self.rows.n_labels, self.rows.weights)

    def units_of(self, columns: Sequence[int]) -> UnitRows:
        """The rows with some columns only, and the unit of each: rows of the same unit depend on each other."""
        if self.groups is None:
            raise ValueError("rows are independent")
        return UnitRows(self.rows_of(columns), self.groups)

    def merged_by(self, sets: Sequence[Sequence[int]]) -> Iterator[MergedRows]:
        """For sets of columns, some sets at a time, the rows with all columns of these.

        Yields
        ------
        MergedRows
            Rows that are different, with their number.
        """
        columns = tuple(sorted({column for one in sets for column in one}))
        yield MergedRows(range(len(sets)), columns, merge_rows(self.rows_of(columns)))

    def listed(self, features: Sequence[int], given: Sequence[int]) -> ListedRows:
        """The rows as they are listed one by one: by some features, and divided by given columns."""
        named = None if self._named is None else partial(_names_of_rows, self._named)
        return ListedRows(self.rows_of(features), self.cells(tuple(sorted(given))), named)

    def first_rows(self, feature: int) -> Ints:
        """Where each value of a feature occurs first; their order alone has a meaning."""
        return first_rows(self.codes(feature), int(self.margins.n_values[feature]))

    def value_sizes(self, feature: int) -> Ints:
        """Rows of each value of a feature."""
        if feature not in self._value_sizes:
            self._value_sizes[feature] = self.margins.value_sizes(feature)
        return self._value_sizes[feature]

    def test(self, items: Iterable[Item]) -> None:
        """Test features given columns, all that were not yet, many at a time."""
        new = [item for item in dict.fromkeys(items) if item not in self._tested]
        if not new:
            return
        label_sizes = self.margins.label_sizes()
        for some, counted in self._count(new):
            self._tested.update(zip(some, test_counted(counted, label_sizes), strict=True))
        for item in new:
            if item not in self._tested:
                columns = [item[0], *item[1]]
                (contexts,) = (stack.contexts for _, stack in self._stacks([item]))
                rows = self.rows_of(columns) if pools_contexts(len(columns)) else None
                sizes = self.value_sizes(item[0]), label_sizes
                self._tested[item] = test_contexts(contexts, *sizes, rows)

    def tested(self, feature: int, given: Sequence[int]) -> Tested | None:
        """Pairs, noise and test of a feature in the contexts of some columns; None if there is no pair."""
        item = feature, tuple(sorted(given))
        self.test([item])
        return self._tested[item]

    def p_value(self, feature: int, given: Sequence[int]) -> float:
        """P-value of a feature in the contexts of some columns; NaN if nothing can be tested."""
        if self.n_groups is None:
            tested = self.tested(feature, given)
            return math.nan if tested is None else tested.p_value
        item = feature, tuple(sorted(given))
        if item not in self._p_values:
            by_unit = self.units_of([feature, *item[1]])
            self._p_values[item] = unit_p_value(by_unit.rows, by_unit.units)
        return self._p_values[item]

    def contexts(self, feature: int, given: Sequence[int]) -> Contexts:
        """Rows by context, value and label."""
        item = feature, tuple(sorted(given))
        self.test([item])  # from the same count
        return next(stack.contexts for _, stack in self._stacks([item]))

    def sizes(self, items: Iterable[Item], confidence: float) -> Iterator[tuple[Item, Size | None]]:
        """Effects of features in the contexts of columns, many at a time.

        Yields
        ------
        tuple of Item and Size or None
            A feature with its given columns, and its effect; None where there is no pair.
        """
        if self.n_groups is not None:
            for feature, given in items:
                by_unit = self.units_of([feature, *given])
                joined = with_unit(by_unit.rows, by_unit.units) or by_unit.rows
                one = measure_size_of_units(joined, by_unit.units, confidence)
                noise_rate = EffectSums.of(self.contexts(feature, given)).noise_rate()
                yield (feature, given), None if math.isnan(one.effect) else replace(one, noise_rate=noise_rate)
            return
        margins = self.margins
        for some, stack in self._stacks(list(items)):
            held = np.flatnonzero(np.diff(stack.bounds)).tolist()
            n_values = [int(margins.n_values[some[k][0]]) for k in held]
            part = stack.part(held)[0]
            told = measure_sizes(part, n_values, margins.n_labels, margins.n_rows, confidence) if held else []
            size_of = dict(zip(held, told, strict=True))
            yield from ((item, size_of.get(k)) for k, item in enumerate(some))

    def _stacks(self, items: list[Item]) -> Iterator[tuple[list[Item], Stack]]:
        """The contexts of features given columns, many at a time: those that are kept, and new ones."""
        block, n_cells = list[Item](), 0
        for item in items:
            if item in self._held:
                block.append(item)
                n_cells += len(self._held[item].sizes)
                if n_cells >= CELLS:
                    yield block, Stack.of([self._held[one] for one in block])
                    block, n_cells = [], 0
        if block:
            yield block, Stack.of([self._held[one] for one in block])
        new = [item for item in items if item not in self._held]
        for some, counted in self._count(new):
            yield some, counted.stack
        for item in new:
            if not self._is_small(item):
                rows = self.rows_of([item[0], *item[1]])
                contexts = sum_contexts(rows, contexts_themselves, features=[0], n_jobs=self.n_jobs).summaries[0]
                self._held[item] = Contexts.none() if contexts is None else contexts
                yield [item], Stack.of([self._held[item]])

    def _count(self, items: Sequence[Item]) -> Iterator[tuple[list[Item], Counted]]:
        """The contexts of features given columns, unless they are very many; of many features at a time."""
        some, parts, n_cells = list[Item](), list[Counted](), 0
        for given, counted in self._parts([item for item in items if self._is_small(item)]):
            some += [(feature, given) for feature in counted.features]
            parts.append(counted)
            self._value_sizes.update(zip(counted.features, counted.value_sizes, strict=True))
            n_cells += len(counted.stack.contexts.sizes)
            if n_cells >= CELLS:
                yield some, self._kept(some, join(parts))
                some, parts, n_cells = [], [], 0
        if parts:
            yield some, self._kept(some, join(parts))

    def _kept(self, items: list[Item], counted: Counted) -> Counted:
        """What was counted, which is kept as long as that is not too much."""
        self._n_held += len(counted.stack.contexts.sizes)
        if self._n_held <= HELD_CELLS:
            self._held.update(zip(items, counted.stack.split(), strict=True))
        return counted

    def _parts(self, items: Sequence[Item]) -> Iterator[tuple[tuple[int, ...], Counted]]:
        """The same before they are joined, each with the columns that are given.

        Members of a set, each given the others, are counted on rows that are grouped by the whole set.
        """
        wholes = Counter(tuple(sorted((feature, *given))) for feature, given in items)
        whole, times = wholes.most_common(1)[0] if items else ((), 0)
        groups: dict[tuple[int, ...], list[int]] = {}
        grouped = self.cells(whole).merged(self.rows, self.n_values_of(whole)) if times > 1 else None
        for feature, given in items:
            if grouped is not None and set(whole) == {feature, *given}:
                yield given, count_one(grouped, whole, feature, given)
            else:
                groups.setdefault(given, []).append(feature)
        for given, features in groups.items():
            n_threads = n_threads_for(self.n_jobs, self.rows.codes.size)
            for counted in count_given(self.rows, self.cells(given), features, n_threads):
                yield given, counted

    def cells(self, columns: tuple[int, ...]) -> Cells:
        """The rows divided by some columns; the last division is kept."""
        if self._divided is None or self._divided[0] != columns:
            self._divided = columns, Cells.of([self.codes(column) for column in columns], len(self.rows.codes))
        return self._divided[1]

    def _is_small(self, item: Item) -> bool:
        """Whether contexts are so few that equal ones need not be put together.

        Then the test that pools them, if it is made, knows them by what they are given.
        """
        given = item[1]
        if given not in self._n_cells:
            n_cells = math.prod(self.n_values_of(given).tolist())
            if pools_contexts(1 + len(given)) and n_cells > FEW_CELLS:
                n_cells = len(self.cells(given))
            self._n_cells[given] = n_cells
        return pools_contexts(1 + len(given)) and self._n_cells[given] <= max(FEW_CELLS, len(self.rows.codes) // 8)

    def _count_all(self) -> None:
        """Every feature given all others, from one search for rows that agree: never one for each feature."""
        items = [(i, tuple(c for c in range(self.n_features) if c != i)) for i in range(self.n_features)]
        if not all(map(self._is_small, items)):
            contexts = sum_contexts(self.rows, contexts_themselves, n_jobs=self.n_jobs).summaries
            self._held.update((item, contexts[item[0]] or Contexts.none()) for item in items)

    def dependencies(self, max_determinants: int) -> Dependencies:
        """Which features others determine, or leave hardly open."""
        rows = TableRows(self.rows.codes, self.rows.n_values, self.rows.weights)
        return find_dependencies(rows, max_determinants)

    def name_of(self, feature: int | None) -> str | None:
        """Name of a feature, if there is one."""
        return None if feature is None else self.table.names[feature]

    def names_of(self, columns: Sequence[int]) -> tuple[str, ...]:
        """Names of the features that columns are of."""
        return tuple(self.table.names[int(self.owner[c])] for c in columns)


def _names_of_rows(table: EncodedTable, some: Sequence[int]) -> RowNames:
    return RowNames(table.positions(some), table.row_names(some))
