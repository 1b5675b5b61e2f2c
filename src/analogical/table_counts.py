"""The rows of one table and everything counted on them: contexts, tests and effects of features, each computed once."""

import math
from collections import Counter
from collections.abc import Callable, Hashable, Iterable, Iterator, Mapping, Sequence
from dataclasses import replace
from functools import cached_property
from typing import Literal, NamedTuple, TypeAlias, TypeVar

import numpy as np

from analogical._checks import check_choice
from analogical._types import CodedRows, Codes, Ints, Margins, merge_bins
from analogical.columns.binning import NUMBERS_OF_BINS
from analogical.columns.encode import EncodedTable
from analogical.count.contexts import Contexts, Stack
from analogical.count.counts import PairCounts
from analogical.count.given import Cells, count_given, count_one
from analogical.count.groups import first_rows, merge_rows
from analogical.count.listing import ListedRows
from analogical.count.pairs import count_pairs, sum_contexts
from analogical.count.threads import n_threads_for
from analogical.errors import InputError
from analogical.estimate.clusters import unit_p_value, varies_within_units
from analogical.estimate.dependencies import Dependencies, TableRows, find_dependencies
from analogical.estimate.effect import EffectSums
from analogical.estimate.significance import Tested, pools_contexts, test_stack
from analogical.estimate.sizes import Size, measure_size_of_units, measure_sizes

__all__ = ["Duplicates", "Item", "MergedRows", "TableCounts"]

Duplicates = Literal["count", "once"]
Item: TypeAlias = tuple[int, tuple[int, ...]]
"""A feature, and the columns that it is compared given, sorted."""

CELLS, HELD_CELLS = 2**20, 2**22
"""Cells of contexts that are computed with at once, and cells that are cached, to limit memory."""

Part = TypeVar("Part")


class MergedRows(NamedTuple):
    """The distinct rows by some columns and the label, with their counts, for some of the sets of columns asked for."""

    members: Sequence[int]
    """Positions of these sets."""
    columns: tuple[int, ...]
    rows: CodedRows


class BinColumn(NamedTuple):
    """A numeric feature in another number of bins, as a column for contexts."""

    feature: int
    n_bins: int


class TableCounts:
    """The rows of a table with its label, and what was counted on them.

    Columns 0 to n - 1 are the features. The columns after them are numeric features in other numbers of bins, for
    contexts only; and last, if rows depend on each other, the unit of each row.

    Most methods take *items*: a feature and the columns that it is compared given. The contexts of an item are counted
    once, tested at once and cached. Given few columns, many features are counted at a time, and each context is known
    by its codes on the given columns until it is tested; given more, rows that agree are searched for.
    """

    table: EncodedTable
    rows: CodedRows
    """The features of all rows."""
    n_rows: int
    """Rows of the table, with their weights; identical rows count even with ``duplicates="once"``."""
    _named: EncodedTable | None = None
    """The table that knows the positions and names of rows in the user's table."""

    def _begin(self, table: EncodedTable, duplicates: Duplicates, n_jobs: int | None) -> None:
        """Set everything but the rows."""
        check_choice("duplicates", duplicates, ("count", "once"))
        if table.n_units is not None and duplicates == "once":
            raise InputError('groups and duplicates="once" cannot be used together; groups need every row.')
        self.table, self.n_jobs, self.duplicates, self.n_groups = table, n_jobs, duplicates, table.n_units
        self.is_weighted, self.n_features = table.is_weighted, len(table.names)
        sizes = {i: np.bincount(codes, table.weights).astype(np.int64) for i, codes in table.fine.items()}
        self.fine_sizes: Mapping[int, Ints] = sizes if duplicates == "count" else {}
        self.bins = [BinColumn(i, n_bins) for i in sorted(self.fine_sizes) for n_bins in NUMBERS_OF_BINS]
        self.owner: Ints = np.array([*range(self.n_features), *(column.feature for column in self.bins)])
        """The feature of each column but the unit."""
        self.unit = None if self.n_groups is None else len(self.owner)
        """The column of units; None if rows are independent."""
        by_name = sorted(range(self.n_features), key=lambda i: table.names[i])
        self.rank: Ints = np.argsort(by_name)
        """Rank of each feature by name, which decides between features that predict equally well."""
        self._fine_codes: Mapping[int, Codes] = {}
        """Codes of numeric features in their finest bins."""
        self._more_codes: dict[int, Codes] = {}
        """Codes of columns after the features, by column."""
        self._tested: dict[Item, Tested | None] = {}
        self._p_values: dict[Item, float] = {}
        self._held: dict[Item, Contexts] = {}
        """Cached contexts."""
        self._n_held = 0
        self._divided: tuple[tuple[int, ...], Cells] | None = None

    @cached_property
    def margins(self) -> Margins:
        """Counts of rows by label and by value."""
        return Margins(self.rows.label_sizes(), tuple(map(self.rows.value_sizes, range(self.n_features))))

    @cached_property
    def counts(self) -> PairCounts:
        """The paper's counts: pairs of rows that differ on one feature only."""
        return count_pairs(self.rows, n_jobs=self.n_jobs)

    def codes(self, column: int) -> Codes:
        """Codes of a column for all rows."""
        if column < self.n_features:
            return self.rows.codes[:, column]
        if column not in self._more_codes:
            self._more_codes[column] = self.bins_of_fine(column)[self._fine_codes[int(self.owner[column])]]
        return self._more_codes[column]

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
        n_values = [
            int(self.rows.n_values[column]) if column < self.n_features else int(code.max(initial=0)) + 1
            for column, code in zip(columns, codes, strict=True)
        ]
        return CodedRows(np.stack(codes).T, self.rows.labels, np.array(n_values), self.rows.n_labels, self.rows.weights)

    def merged_by(self, sets: Sequence[Sequence[int]]) -> Iterator[MergedRows]:
        """For some sets of columns at a time, the distinct rows by all their columns, with their counts."""
        columns = tuple(sorted(set[int]().union(*sets)))
        yield MergedRows(range(len(sets)), columns, merge_rows(self.rows_of(columns)))

    def listed(self, features: Sequence[int], given: Sequence[int]) -> ListedRows:
        """The rows with some features, divided by given columns, for listing them one by one."""
        positions = None
        if self._named is not None:
            origin = self._named.origin
            positions = np.arange(len(self.rows.codes)) if origin is None else origin
        return ListedRows.of(self.rows_of(features), self.cells(tuple(sorted(given))), positions)

    def row_names(self, listed: ListedRows, rows: Sequence[int]) -> Sequence[Hashable]:
        """Labels of listed rows in the index of the user's table; their positions if it has none."""
        if self._named is not None:
            return self._named.row_names(rows)
        return [] if listed.positions is None else listed.positions[list(rows)].tolist()

    def first_rows(self, feature: int) -> Ints:
        """Where each value of a feature occurs first; only the order of these numbers is meaningful."""
        return first_rows(self.codes(feature), int(self.margins.n_values[feature]))

    def value_sizes(self, feature: int) -> Ints:
        """Rows of each value of a feature."""
        return self.margins.value_sizes(feature)

    def test(self, items: Iterable[Item]) -> None:
        """Test items that were not tested before, many at a time."""
        for _ in self._stacks([item for item in dict.fromkeys(items) if item not in self._tested]):
            pass

    def tested(self, feature: int, given: Sequence[int]) -> Tested | None:
        """Pairs and p-value of a feature given some columns; None if it has no pair."""
        item = feature, tuple(sorted(given))
        self.test([item])
        return self._tested[item]

    def p_value(self, feature: int, given: Sequence[int]) -> float:
        """P-value of a feature given some columns; NaN if it cannot be tested."""
        if self.unit is None:
            tested = self.tested(feature, given)
            return math.nan if tested is None else tested.p_value
        item = feature, tuple(sorted(given))
        if item not in self._p_values:
            self._p_values[item] = unit_p_value(self.rows_of([feature, *item[1], self.unit]))
        return self._p_values[item]

    def contexts(self, feature: int, given: Sequence[int]) -> Contexts:
        """The contexts of a feature given some columns: rows by context, value and label."""
        return next(stack.contexts for _, stack in self._stacks([(feature, tuple(sorted(given)))]))

    def sizes(self, items: Iterable[Item], confidence: float) -> Iterator[tuple[Item, Size | None]]:
        """Effects of items, many at a time; None for an item without pairs."""
        if self.unit is not None:
            for feature, given in items:
                rows = self.rows_of([feature, *given, self.unit])
                size = measure_size_of_units(rows, confidence, within=varies_within_units(rows))
                noise_rate = EffectSums.of(self.contexts(feature, given)).noise_rate()
                yield (feature, given), None if math.isnan(size.effect) else replace(size, noise_rate=noise_rate)
            return
        margins = self.margins
        for block, stack in self._stacks(list(items)):
            with_pairs = np.flatnonzero(np.diff(stack.bounds)).tolist()
            n_values = [int(margins.n_values[block[k][0]]) for k in with_pairs]
            part = stack.part(with_pairs)
            sizes = measure_sizes(part, n_values, margins.n_labels, margins.n_rows, confidence) if with_pairs else []
            size_of = dict(zip(with_pairs, sizes, strict=True))
            yield from ((item, size_of.get(k)) for k, item in enumerate(block))

    # ------------------------------------------------------------ counting contexts

    def _stacks(self, items: Sequence[Item]) -> Iterator[tuple[list[Item], Stack]]:
        """The contexts of items, many items at a time: first cached contexts, then new ones, which are tested too."""
        held = [item for item in items if item in self._held]
        new = [item for item in items if item not in self._held]
        for block in _blocks(held, lambda item: len(self._held[item].sizes)):
            yield block, Stack.of([self._held[item] for item in block])
        for block, stack in self._count(new):
            if any(item not in self._tested for item in block):
                value_sizes = [self.value_sizes(feature) for feature, _ in block]
                tested = test_stack(stack, value_sizes, self.margins.label_sizes())
                self._tested.update(zip(block, tested, strict=True))
            self._hold(block, stack)
            yield block, stack.merged

    def _hold(self, block: list[Item], stack: Stack) -> None:
        """Cache contexts; those whose codes are known are counted again quickly, so there is a limit for them."""
        if stack.given is not None:
            self._n_held += len(stack.merged.contexts.sizes)
        if stack.given is None or self._n_held <= HELD_CELLS:
            self._held.update(zip(block, stack.merged.split(), strict=True))

    def _count(self, items: Sequence[Item]) -> Iterator[tuple[list[Item], Stack]]:
        """Count the contexts of items: given few columns, with the codes of contexts, many items at a time.

        Given more columns, items with the same columns are counted in one search for rows that agree.
        """
        few = [item for item in items if pools_contexts(1 + len(item[1]))]
        for parts in _blocks(self._count_given(few), lambda part: len(part[1].contexts.sizes)):
            yield [item for block, _ in parts for item in block], Stack.joined([stack for _, stack in parts])
        alike: dict[tuple[int, ...], list[Item]] = {}
        for feature, given in items:
            if not pools_contexts(1 + len(given)):
                alike.setdefault(tuple(sorted((feature, *given))), []).append((feature, given))
        for columns, some in alike.items():
            place = {column: k for k, column in enumerate(columns)}
            features = [place[feature] for feature, _ in some]
            kept = sum_contexts(self.rows_of(columns), features=features, n_jobs=self.n_jobs).kept
            for item in some:
                yield [item], Stack.of([kept[place[item[0]]].contexts])

    def _count_given(self, items: Sequence[Item]) -> Iterator[tuple[list[Item], Stack]]:
        """Count the contexts of items with their codes, some features with the same given columns at a time.

        Members of a set, each given the others, are counted on the distinct rows by the whole set.
        """
        wholes = Counter(tuple(sorted((feature, *given))) for feature, given in items)
        whole, times = wholes.most_common(1)[0] if items else ((), 0)
        features_given: dict[tuple[int, ...], list[int]] = {}
        merged = self.cells(whole).merged(self.rows, self.n_values_of(whole)) if times > 1 else None
        for feature, given in items:
            if merged is not None and set(whole) == {feature, *given}:
                yield [(feature, given)], count_one(merged, whole, feature, given)
            else:
                features_given.setdefault(given, []).append(feature)
        for given, features in features_given.items():
            n_threads = n_threads_for(self.n_jobs, self.rows.codes.size)
            for some, stack in count_given(self.rows, self.cells(given), features, n_threads):
                yield [(feature, given) for feature in some], stack

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
