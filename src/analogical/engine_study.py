"""A study of a table that an engine holds: rows are grouped there, and the groups, which are few, are studied here."""

import math
from collections.abc import Iterable, Iterator, Sequence
from functools import cached_property

from analogical._types import CodedRows, Margins
from analogical.count.contexts import Contexts
from analogical.count.counts import PairCounts
from analogical.count.engine import Engine
from analogical.count.given import Counted, count_one
from analogical.count.kept import KeepContexts, KeptContexts
from analogical.count.pairs import ContextSums, no_summary
from analogical.errors import InputError
from analogical.estimate.significance import pools_contexts, test_contexts
from analogical.estimate.sizes import Size
from analogical.study import FEW_CELLS, Context, Duplicates, Given, Item, Study
from analogical.table.encode import EncodedTable

__all__ = ["EngineStudy"]

MOST_COMBINATIONS = 5_000_000
"""Combinations of values and label that are brought here at once, a few hundred megabytes; four times as many are
held, and the oldest let go and brought here again if they are asked for."""
MOST_CELLS = 20_000_000
"""Cells of contexts, of all features given all others, that come from all parts: 480 MB, half of what Spark brings here
unless it is told to."""


class EngineStudy(Study):
    """A study whose rows lie in a database or on a cluster.

    Numbers come from all rows, which the engine groups by the columns that are asked for. ``table`` and ``rows`` hold a
    sample, for the search of the deciding set alone. Numbers are in their own bins everywhere.
    """

    def __init__(
        self,
        sample: EncodedTable,
        engine: Engine,
        *,
        duplicates: Duplicates = "count",
        most_combinations: int = MOST_COMBINATIONS,
        most_cells: int = MOST_CELLS,
    ) -> None:
        self._begin(sample, duplicates, None)
        self.engine = engine
        self.most_combinations, self.most_cells = most_combinations, most_cells
        self._groups: dict[tuple[int, ...], CodedRows] = {}

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

    def rows_of(self, columns: Sequence[int]) -> CodedRows:
        """Rows by these columns and the label, with their number; a combination may come several times."""
        held, rows = self._holding(columns)
        return rows.select([held.index(column) for column in columns])

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
                contexts = self._held[item] = self._contexts_given_all(item[0])
                sizes = self.value_sizes(item[0]), self.margins.label_sizes()
                self._tested[item] = test_contexts(contexts, *sizes, None)
        super().test(wanted)

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
        return Study.of_table(self.table, duplicates=self.duplicates)

    def _is_everything(self, given: Sequence[int]) -> bool:
        """Whether these columns are all others, and whole rows too many to come here."""
        return len(given) == self.n_features - 1 and self._most(range(self.n_features)) > self.most_combinations

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
            room = self.most_combinations - self._most(some[0])
            while wanted and (room := room - self._most(wanted[0])) >= 0:
                some.append(wanted.pop(0))
            groups = self.engine.group(some, self.most_combinations)
            if groups is None:  # then there is one set: several hold no more than that
                names = ", ".join(self.names_of(some[0]))
                raise InputError(
                    f"More than {self.most_combinations:,} combinations of values of {names} occur, too many to"
                    " collect; give fewer features (given=[...], --given), or bin them more coarsely."
                )
            self._groups.update(zip(some, groups, strict=True))
            self._let_go()

    def _let_go(self) -> None:
        """The oldest groups, if too many are held; the newest stay."""
        n_held = sum(len(rows.codes) for rows in self._groups.values())
        for columns in list(self._groups)[:-1]:
            if n_held <= 4 * self.most_combinations:
                break
            n_held -= len(self._groups.pop(columns).codes)
