"""A study of a table on Spark: rows are grouped there, and the groups, which are few, are studied in this process."""

import math
from collections.abc import Iterable, Iterator, Sequence
from functools import cached_property

import numpy as np

from analogical._types import CodedRows, Margins
from analogical.count.contexts import Contexts
from analogical.count.counts import PairCounts
from analogical.count.given import Counted, count_one
from analogical.count.groups import merge_rows
from analogical.count.memory import MemoryEngine
from analogical.count.pairs import ContextSums
from analogical.errors import InputError
from analogical.estimate.kept import KeptSummary, SummariseAndKeep
from analogical.estimate.significance import Tested, pools_contexts
from analogical.estimate.sizes import CommonDifference, Size
from analogical.spark.engine import ADDED_TOGETHER, SparkEngine, SparkRows
from analogical.study import FEW_CELLS, Context, Duplicates, Given, Item, Study
from analogical.table.encode import EncodedTable

__all__ = ["SparkStudy"]

MOST_COMBINATIONS = 5_000_000
"""Combinations of values and label that are brought here at once; a few hundred megabytes."""
MOST_HELD = 20_000_000
"""Combinations that are held at the same time; the oldest are let go, and brought here again if they are asked for."""
MOST_CELLS = 20_000_000
"""Cells of contexts, of all features, that come from all partitions: 480 MB, half of what Spark brings here unless it
is told to. The effect of a feature with more is not known."""


class SparkStudy(Study):
    """A study whose rows lie on Spark.

    Numbers come from all rows: they are grouped on the executors by the columns that are asked for. ``table`` and
    ``rows`` hold a sample, for the search of the deciding set alone. Numbers are in their own bins everywhere.
    """

    def __init__(
        self, sample: EncodedTable, engine: SparkEngine, rows: SparkRows, *, duplicates: Duplicates = "count"
    ) -> None:
        self._begin(sample, MemoryEngine(), duplicates)
        self.spark, self.far = engine, rows
        self._groups: dict[tuple[int, ...], CodedRows] = {}

    @property
    def margins(self) -> Margins:
        """How many rows have each label and each value."""
        return self.far.margins

    @cached_property
    def counts(self) -> PairCounts:
        """The paper's counts: pairs of rows that differ on one feature only."""
        return self.sums.counts if "sums" in vars(self) else self.spark.count_pairs(self.far)

    @cached_property
    def sums(self) -> ContextSums[KeptSummary]:
        """The paper's counts with what is known of every feature given all others."""
        n_parts = min(self.far.plan.n_partitions, 2 * ADDED_TOGETHER)
        most = MOST_CELLS // (n_parts * self.n_features)
        return self.spark.sum_contexts(self.far, SummariseAndKeep(self.margins, most))

    @property
    def counts_everything(self) -> bool:
        """Whether features given all others are summed up where their rows lie: too many combinations may occur."""
        return self._most(range(self.n_features)) > MOST_COMBINATIONS

    @property
    def not_sized(self) -> tuple[int, ...]:
        """Features whose effect given all others is not known, because their contexts were too many."""
        if "sums" not in vars(self):
            return ()
        return tuple(i for i, kept in enumerate(self.sums.summaries) if kept is not None and kept.parts is None)

    def rows_of(self, columns: Sequence[int]) -> CodedRows:
        """One row for each combination of values and label that occurs, with its number."""
        held, rows = self._holding(columns)
        selected = rows.select([held.index(column) for column in columns])
        return selected if len(set(columns)) == len(held) else merge_rows(selected)

    def given(self, given: Given) -> list[Context]:
        """For every feature what it is compared given; the rows of all of them are grouped in few jobs."""
        if isinstance(given, str) and given == "auto":
            others = self.deciding
        else:
            others = tuple(range(self.n_features)) if isinstance(given, str) else tuple(map(self.table.find, given))
        sets = [(i, *(c for c in others if c != i)) for i in range(self.n_features)]
        self._bring([columns for columns in sets if not self._is_everything(columns[1:])])
        return super().given(given)

    def test(self, items: Iterable[Item]) -> None:
        """Test features given columns, all that were not yet."""
        wanted = list(items)
        for item in wanted:
            if item not in self._tested and self._is_everything(item[1]):
                kept = self.sums.summaries[item[0]]
                self._tested[item] = None if kept is None else Tested.of(kept.summary, kept.summary.p_values())
                self._held[item] = Contexts.none() if kept is None else kept.contexts
        super().test(wanted)

    def sizes(self, items: Iterable[Item], confidence: float) -> Iterator[tuple[Item, Size | None]]:
        """Effects of features in the contexts of columns; None where there is no pair, NaN if it is not known."""
        wanted = list(items)
        self.test(wanted)
        unknown = [item for item in wanted if self._is_everything(item[1]) and item[0] in self.not_sized]
        for item in unknown:
            n_values, n_labels = int(self.margins.n_values[item[0]]), self.margins.n_labels
            nothing = np.zeros((n_values, n_values))
            common = CommonDifference(np.zeros((n_labels, n_values)), np.zeros((n_labels, 1, 1)), nothing)
            yield item, Size(math.nan, math.nan, math.nan, common, np.arange(n_values), np.arange(n_labels))
        yield from super().sizes([item for item in wanted if item not in unknown], confidence)

    def _count_all(self) -> None:
        """Nothing: rows are brought here by :meth:`given`, or counted where they lie."""

    def _parts(self, items: Sequence[Item]) -> Iterator[tuple[tuple[int, ...], Counted]]:
        """The contexts of features given columns, from rows that are grouped by all of these."""
        for feature, given in items:
            columns = feature, *given
            yield given, count_one(self.rows_of(columns), columns, feature, given)

    def _is_small(self, item: Item) -> bool:
        """Whether contexts are so few that equal ones need not be put together."""
        return pools_contexts(1 + len(item[1])) and self._most(item[1]) <= FEW_CELLS

    @cached_property
    def _sample(self) -> Study:
        """The study of the sample, in this process."""
        return Study.of_table(self.table, self.engine, duplicates=self.duplicates)

    def _is_everything(self, given: Sequence[int]) -> bool:
        """Whether these columns are all others, and whole rows too many to come here."""
        return len(given) == self.n_features - 1 and self.counts_everything

    def _most(self, columns: Sequence[int]) -> int:
        """Combinations of values and label that there can be."""
        possible = math.prod(int(n) for n in self.margins.n_values[list(columns)]) * self.margins.n_labels
        return min(possible, self.margins.n_rows)

    def _holding(self, columns: Sequence[int]) -> tuple[tuple[int, ...], CodedRows]:
        """Columns among which these are, and the rows by them."""
        wanted = set(columns)
        held = next((one for one in self._groups if wanted.issubset(one)), None)
        if held is None:
            held = tuple(sorted(wanted))
            self._bring([held])
        return held, self._groups[held]

    def _bring(self, sets: Sequence[Sequence[int]]) -> None:
        """Group the rows by each of these sets, in as few jobs as come here at once."""
        wanted: list[tuple[int, ...]] = []
        for columns in sorted({tuple(sorted(columns)) for columns in sets}, key=lambda one: (-len(one), one)):
            if not any(set(columns).issubset(one) for one in (*wanted, *self._groups)):
                wanted.append(columns)
        while wanted:
            some = [wanted.pop(0)]
            room = MOST_COMBINATIONS - self._most(some[0])
            while wanted and (room := room - self._most(wanted[0])) >= 0:
                some.append(wanted.pop(0))
            found = self.far.groups(some, MOST_COMBINATIONS)
            if found is None:  # then there is one set: several hold no more than that
                names = ", ".join(self.names_of(some[0]))
                raise InputError(
                    f"More than {MOST_COMBINATIONS:,} combinations of values of {names} occur, too many to"
                    " collect; give fewer features (given=[...], --given), or bin them more coarsely."
                )
            for columns, rows in zip(some, found, strict=True):
                self._groups[columns] = rows
            self._let_go()

    def _let_go(self) -> None:
        """The oldest groups, if too many are held; the newest stay."""
        n_held = sum(len(rows.codes) for rows in self._groups.values())
        for columns in list(self._groups)[:-1]:
            if n_held <= MOST_HELD:
                break
            n_held -= len(self._groups.pop(columns).codes)
