"""The rows of one table and everything counted on them: contexts, tests and effects of features, each computed once."""

import math
from collections import Counter
from collections.abc import Callable, Hashable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cached_property, partial
from typing import Literal, NamedTuple, TypeAlias, TypeVar

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
from analogical.table.meaning import EngineMeaning

__all__ = ["Duplicates", "Item", "ListedRows", "MergedRows", "RowNames", "TableCounts", "UnitRows"]

Duplicates = Literal["count", "once"]
Item: TypeAlias = tuple[int, tuple[int, ...]]
"""A feature, and the columns that it is compared given, sorted."""

FEW_CELLS = 2**15
"""Up to this many contexts, or one per eight rows, equal contexts are not merged."""
CELLS, HELD_CELLS = 2**20, 2**22
"""Cells of contexts that are computed with at once, and cells that are cached, to limit memory."""

Part = TypeVar("Part")


@dataclass(frozen=True)
class UnitRows:
    """Rows, and the unit (group of dependent rows) of each."""

    rows: CodedRows
    units: Ints


@dataclass(frozen=True)
class MergedRows:
    """The distinct rows by some columns and the label, with their counts, for some of the sets of columns asked for."""

    members: Sequence[int]
    """Positions of these sets."""
    columns: tuple[int, ...]
    rows: CodedRows


@dataclass(frozen=True)
class RowNames:
    """Where rows are in the user's table."""

    positions: Sequence[int]
    names: Sequence[Hashable]
    """Labels of the table's index; the positions if it has none."""


@dataclass(frozen=True)
class ListedRows:
    """Rows with some features, in the order in which they are listed, and divided by given columns."""

    rows: CodedRows
    cells: Cells
    """The rows divided by the given columns, in order."""
    named: Callable[[Sequence[int]], RowNames] | None
    """Returns where rows are in the user's table, the first one for merged rows; None if that is unknown."""

    @cached_property
    def by_context(self) -> ContextRows:
        """The rows, grouped by context."""
        return ContextRows.of(self.cells.of_row, len(self.cells))


class BinColumn(NamedTuple):
    """A numeric feature in another number of bins, as a column for contexts."""

    feature: int
    n_bins: int


class TableCounts:
    """The rows of a table with its label, and what was counted on them.

    Columns 0 to n - 1 are the features. The columns after them are numeric features in other numbers of bins; they are
    used in contexts only.

    Most methods take *items*: a feature and the columns that it is compared given. Contexts of an item are counted in
    one of two ways. If they are few, each context is kept with its values on the given columns, and many features are
    counted at a time (``Counted``). If they are many, equal contexts are merged, one feature at a time.
    """

    table: EncodedTable | EngineMeaning
    rows: CodedRows
    """The features of all rows; not there if an engine holds the rows."""
    groups: Ints | None
    """The unit of each row, if rows depend on each other."""
    n_rows: int
    """Rows of the table, with their weights; identical rows count even with ``duplicates="once"``."""
    _named: EncodedTable | None = None
    """The table that knows the positions and names of rows in the user's table."""

    def _begin(self, table: EncodedTable | EngineMeaning, duplicates: Duplicates, n_jobs: int | None) -> None:
        """Set everything but the rows."""
        check_choice("duplicates", duplicates, ("count", "once"))
        if table.n_units is not None and duplicates == "once":
            raise InputError('groups and duplicates="once" cannot be used together; groups need every row.')
        self.table, self.n_jobs, self.duplicates, self.n_groups = table, n_jobs, duplicates, table.n_units
        self.is_weighted, self.n_features = table.is_weighted, len(table.names)
        self.fine_sizes: Mapping[int, Ints] = table.fine_sizes if duplicates == "count" else {}
        self.bins = [BinColumn(i, n_bins) for i in sorted(self.fine_sizes) for n_bins in NUMBERS_OF_BINS]
        self.owner: Ints = np.array([*range(self.n_features), *(column.feature for column in self.bins)])
        """The feature of each column."""
        by_name = sorted(range(self.n_features), key=lambda i: table.names[i])
        self.rank: Ints = np.argsort(by_name)
        """Rank of each feature by name, which decides between features that predict equally well."""
        self._fine_codes: Mapping[int, Codes] = {}
        """Codes of numeric features in their finest bins."""
        self._bin_codes: dict[int, Codes] = {}
        """Codes of columns of bins, by column."""
        self._tested: dict[Item, Tested | None] = {}
        self._p_values: dict[Item, float] = {}
        self._value_sizes: dict[int, Ints] = {}
        self._held: dict[Item, Contexts] = {}
        """Cached contexts."""
        self._n_held = 0
        self._n_cells: dict[tuple[int, ...], int] = {}
        """Number of contexts, by given columns."""
        self._divided: tuple[tuple[int, ...], Cells] | None = None

    @property
    def margins(self) -> CodedRows | Margins:
        """Counts of rows by label and by value."""
        return self.rows

    @cached_property
    def counts(self) -> PairCounts:
        """The paper's counts: pairs of rows that differ on one feature only."""
        return count_pairs(self.rows, n_jobs=self.n_jobs)

    def codes(self, column: int) -> Codes:
        """Codes of a column for all rows."""
        if column < self.n_features:
            return self.rows.codes[:, column]
        if column not in self._bin_codes:
            self._bin_codes[column] = self.bins_of_fine(column)[self._fine_codes[int(self.owner[column])]]
        return self._bin_codes[column]

    def bins_of_fine(self, column: int) -> Codes:
        """The code of a column of bins for each of the finest bins of its feature."""
        feature, n_bins = self.bins[column - self.n_features]
        return merge_bins(self.fine_sizes[feature], n_bins, self.table.columns[feature].n_missing > 0)

    def n_values_of(self, columns: Sequence[int]) -> Ints:
        """Number of values of columns."""
        features, bins = self.margins.n_values, [n_bins + 1 for _, n_bins in self.bins]  # one more for missing cells
        return np.append(features, bins)[list(columns)].astype(np.int64)

    def rows_of(self, columns: Sequence[int]) -> CodedRows:
        """The rows with some columns only."""
        if all(column < self.n_features for column in columns):
            return self.rows.select(columns)
        codes = [self.codes(column) for column in columns]
        n_values = np.array([int(code.max(initial=0)) + 1 for code in codes], dtype=np.int64)
        return CodedRows(np.stack(codes).T, self.rows.labels, n_values, self.rows.n_labels, self.rows.weights)

    def units_of(self, columns: Sequence[int]) -> UnitRows:
        """The rows with some columns only, and the unit of each: rows of the same unit depend on each other."""
        if self.groups is None:
            raise ValueError("rows are independent")
        return UnitRows(self.rows_of(columns), self.groups)

    def merged_by(self, sets: Sequence[Sequence[int]]) -> Iterator[MergedRows]:
        """For some sets of columns at a time, the distinct rows by all their columns, with their counts."""
        columns = tuple(sorted(set[int]().union(*sets)))
        yield MergedRows(range(len(sets)), columns, merge_rows(self.rows_of(columns)))

    def listed(self, features: Sequence[int], given: Sequence[int]) -> ListedRows:
        """The rows with some features, divided by given columns, for listing them one by one."""
        named = None if self._named is None else partial(_names_of_rows, self._named)
        return ListedRows(self.rows_of(features), self.cells(tuple(sorted(given))), named)

    def first_rows(self, feature: int) -> Ints:
        """Where each value of a feature occurs first; only the order of these numbers is meaningful."""
        return first_rows(self.codes(feature), int(self.margins.n_values[feature]))

    def value_sizes(self, feature: int) -> Ints:
        """Rows of each value of a feature."""
        if feature not in self._value_sizes:
            self._value_sizes[feature] = self.margins.value_sizes(feature)
        return self._value_sizes[feature]

    def test(self, items: Iterable[Item]) -> None:
        """Test items that were not tested before, many at a time."""
        new = [item for item in dict.fromkeys(items) if item not in self._tested]
        if not new:
            return
        label_sizes = self.margins.label_sizes()
        for block, counted in self._count(item for item in new if self._has_few_contexts(item)):
            self._tested.update(zip(block, test_counted(counted, label_sizes), strict=True))
        for item in new:
            if item not in self._tested:
                columns = [item[0], *item[1]]
                rows = self.rows_of(columns) if pools_contexts(len(columns)) else None
                contexts = self._held[item] if item in self._held else self._merged_contexts(item)
                self._tested[item] = test_contexts(contexts, self.value_sizes(item[0]), label_sizes, rows)

    def tested(self, feature: int, given: Sequence[int]) -> Tested | None:
        """Pairs and p-value of a feature given some columns; None if it has no pair."""
        item = feature, tuple(sorted(given))
        self.test([item])
        return self._tested[item]

    def p_value(self, feature: int, given: Sequence[int]) -> float:
        """P-value of a feature given some columns; NaN if it cannot be tested."""
        if self.n_groups is None:
            tested = self.tested(feature, given)
            return math.nan if tested is None else tested.p_value
        item = feature, tuple(sorted(given))
        if item not in self._p_values:
            by_unit = self.units_of([feature, *item[1]])
            self._p_values[item] = unit_p_value(by_unit.rows, by_unit.units)
        return self._p_values[item]

    def contexts(self, feature: int, given: Sequence[int]) -> Contexts:
        """The contexts of a feature given some columns: rows by context, value and label."""
        item = feature, tuple(sorted(given))
        self.test([item])  # which caches the contexts
        return next(stack.contexts for _, stack in self._stacks([item]))

    def sizes(self, items: Iterable[Item], confidence: float) -> Iterator[tuple[Item, Size | None]]:
        """Effects of items, many at a time; None for an item without pairs."""
        if self.n_groups is not None:
            for feature, given in items:
                by_unit = self.units_of([feature, *given])
                joined = with_unit(by_unit.rows, by_unit.units) or by_unit.rows
                size = measure_size_of_units(joined, by_unit.units, confidence)
                noise_rate = EffectSums.of(self.contexts(feature, given)).noise_rate()
                yield (feature, given), None if math.isnan(size.effect) else replace(size, noise_rate=noise_rate)
            return
        margins = self.margins
        for block, stack in self._stacks(list(items)):
            with_pairs = np.flatnonzero(np.diff(stack.bounds)).tolist()
            n_values = [int(margins.n_values[block[k][0]]) for k in with_pairs]
            part = stack.part(with_pairs)[0]
            sizes = measure_sizes(part, n_values, margins.n_labels, margins.n_rows, confidence) if with_pairs else []
            size_of = dict(zip(with_pairs, sizes, strict=True))
            yield from ((item, size_of.get(k)) for k, item in enumerate(block))

    # ------------------------------------------------------------ counting contexts

    def _stacks(self, items: list[Item]) -> Iterator[tuple[list[Item], Stack]]:
        """The contexts of items, many items at a time: first cached contexts, then new ones."""
        held = [item for item in items if item in self._held]
        new = [item for item in items if item not in self._held]
        for block in _blocks(held, lambda item: len(self._held[item].sizes)):
            yield block, Stack.of([self._held[item] for item in block])
        for block, counted in self._count(item for item in new if self._has_few_contexts(item)):
            yield block, counted.stack
        for item in new:
            if not self._has_few_contexts(item):
                yield [item], Stack.of([self._merged_contexts(item)])

    def _has_few_contexts(self, item: Item) -> bool:
        """Whether there are so few contexts that equal ones need not be merged.

        Then the test that pools contexts, if it is made, knows their values on the given columns.
        """
        given = item[1]
        if not pools_contexts(1 + len(given)):
            return False
        if given not in self._n_cells:
            n_possible = math.prod(self.n_values_of(given).tolist())
            self._n_cells[given] = n_possible if n_possible <= FEW_CELLS else len(self.cells(given))
        return self._n_cells[given] <= max(FEW_CELLS, len(self.rows.codes) // 8)

    def _merged_contexts(self, item: Item) -> Contexts:
        """Count the contexts of one item, equal ones merged, and cache them."""
        rows = self.rows_of([item[0], *item[1]])
        contexts = sum_contexts(rows, contexts_themselves, features=[0], n_jobs=self.n_jobs).summaries[0]
        self._held[item] = contexts or Contexts.none()
        return self._held[item]

    def _count_all(self) -> None:
        """Count every feature given all others in one search for rows that agree, if contexts are many."""
        items = [(i, tuple(c for c in range(self.n_features) if c != i)) for i in range(self.n_features)]
        if not all(map(self._has_few_contexts, items)):
            contexts = sum_contexts(self.rows, contexts_themselves, n_jobs=self.n_jobs).summaries
            self._held.update((item, contexts[item[0]] or Contexts.none()) for item in items)

    def _count(self, items: Iterable[Item]) -> Iterator[tuple[list[Item], Counted]]:
        """Count items with few contexts, many items at a time, and cache their contexts."""
        for parts in _blocks(self._parts(list(items)), lambda part: len(part[1].stack.contexts.sizes)):
            block = [(feature, given) for given, counted in parts for feature in counted.features]
            counted = join([counted for _, counted in parts])
            self._value_sizes.update(zip(counted.features, counted.value_sizes, strict=True))
            self._n_held += len(counted.stack.contexts.sizes)
            if self._n_held <= HELD_CELLS:
                self._held.update(zip(block, counted.stack.split(), strict=True))
            yield block, counted

    def _parts(self, items: Sequence[Item]) -> Iterator[tuple[tuple[int, ...], Counted]]:
        """Count items with few contexts, some features with the same given columns at a time, and name these columns.

        Members of a set, each given the others, are counted on the distinct rows by the whole set.
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
        """The rows divided by some columns; the last division is cached."""
        if self._divided is None or self._divided[0] != columns:
            self._divided = columns, Cells.of([self.codes(column) for column in columns], len(self.rows.codes))
        return self._divided[1]

    # ------------------------------------------------------------ other questions

    def dependencies(self, max_determinants: int) -> Dependencies:
        """Which features are determined by others, exactly or nearly."""
        rows = TableRows(self.rows.codes, self.rows.n_values, self.rows.weights)
        return find_dependencies(rows, max_determinants)

    def name_of(self, feature: int | None) -> str | None:
        """Name of a feature; None for None."""
        return None if feature is None else self.table.names[feature]

    def names_of(self, columns: Sequence[int]) -> tuple[str, ...]:
        """Names of the features of columns."""
        return tuple(self.table.names[int(self.owner[c])] for c in columns)


def _names_of_rows(table: EncodedTable, rows: Sequence[int]) -> RowNames:
    return RowNames(table.positions(rows), table.row_names(rows))


def _blocks(parts: Iterable[Part], n_cells: Callable[[Part], int]) -> Iterator[list[Part]]:
    """Consecutive parts in blocks of about ``CELLS`` cells."""
    block, n_cells_of_block = list[Part](), 0
    for part in parts:
        block.append(part)
        n_cells_of_block += n_cells(part)
        if n_cells_of_block >= CELLS:
            yield block
            block, n_cells_of_block = [], 0
    if block:
        yield block
