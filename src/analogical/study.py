"""One table and what was counted on it: the deciding set, and every feature in the contexts that it is compared in."""

import math
from collections import Counter
from collections.abc import Callable, Hashable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cached_property, partial
from typing import Any, Literal, Self, TypeAlias, TypeVar, Unpack

import numpy as np

from analogical._checks import check_choice
from analogical._types import Bools, CodedRows, Codes, EngineName, Floats, Ints, Margins, Positions
from analogical.count.contexts import Contexts, Stack
from analogical.count.counts import PairCounts
from analogical.count.given import Cells, Counted, count_given, count_one, join
from analogical.count.groups import collapse_rows, evenly, first_rows, merge_rows
from analogical.count.listing import ContextRows
from analogical.count.pairs import contexts_themselves, count_pairs, sum_contexts
from analogical.count.threads import n_threads_for
from analogical.engines.open import engine_of, engine_study_of, refuse_elsewhere
from analogical.errors import InputError
from analogical.estimate.clusters import unit_p_value, with_unit
from analogical.estimate.deciding import COPY, MOST, MOST_TRIED, Decider, Deciding, shares_left, told_by_chance
from analogical.estimate.dependencies import Dependencies, TableRows, find_dependencies
from analogical.estimate.effect import EffectSums
from analogical.estimate.radius import relaxed_scores
from analogical.estimate.significance import Tested, adjust_for_features, pools_contexts, test_contexts, test_counted
from analogical.estimate.sizes import Size, measure_size_of_units, measure_sizes
from analogical.estimate.status import LEVEL
from analogical.estimate.votes import Voting
from analogical.table.binning import NUMBERS_OF_BINS, merge_bins
from analogical.table.encode import EncodedTable, encode_features, encode_table
from analogical.table.meaning import EngineMeaning, TableMeaning
from analogical.table.rules import ColumnOptions, asked_of, rules_of, written_call

__all__ = ["Context", "Duplicates", "Given", "Study", "asked_about", "check_given", "is_auto", "study_of"]

Duplicates = Literal["count", "once"]
Given: TypeAlias = Literal["auto", "all"] | Sequence[Any]
"""On which other features two compared rows are equal: the deciding set, all of them, or those named."""
Item: TypeAlias = tuple[int, tuple[int, ...]]
"""A feature, and the columns that it is compared given, in order."""

SEARCH_ROWS = 20_000
"""Rows that the deciding set is chosen on, evenly spaced in larger tables: what does not show among so many rows
confounds little, and no number but the choice depends on it."""
INDEX_ROWS = 1_000
"""Rows that the relaxed index is asked on, as a screen of very many features: its cost grows with their square."""
FEW_CELLS = 2**15
"""Contexts up to which equal ones are not looked for among them, and so many more that hold eight rows on average."""
CELLS, HELD_CELLS = 2**20, 2**22
"""Cells of contexts that are computed with at once, and those that are kept for the next question: memory."""
TIED = 2.0
"""A number is cut finer for a feature outside the set if the finer bins tell more about it than so many times what
chance would. On 24 tables of correlated numbers the false discoveries fell from .083 to .038; without asking for a
tie, 120 known rules lost .007 of their true features."""

Answer = TypeVar("Answer")


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


@dataclass(frozen=True)
class Context:
    """What a feature is compared given: columns of the study, and the feature that it copies, if it does."""

    columns: tuple[int, ...]
    same_as: int | None = None
    stand_ins: tuple[int, ...] = ()
    """Features that would do nearly as well in its place in the deciding set."""


class Study:
    """A table with its label, encoded once, for several questions.

    ``relevance(study)``, ``select(study)``, ``audit(study, "sex")`` and all the others take a study in place of the
    table and its label. Counts are reused between questions, and the deciding set is searched once. A single question
    needs no study.

    Parameters
    ----------
    X : dataframe, 2-d array or list of rows
        The table, as in :func:`analogical.relevance`; also one that lies in DuckDB or on Spark.
    y : array-like of shape (rows,), or name of a column
        The label.
    duplicates : {"count", "once"}
        Whether identical rows with the same label count as often as they occur, or once. With ``"once"`` only
        :func:`analogical.relevance` and :func:`analogical.select` can be asked.
    n_jobs : int, optional
        Threads, by joblib's conventions; no result depends on it.
    **columns : options of columns
        The roles of columns and how cells are encoded: see :class:`analogical.ColumnOptions`. The other functions do
        not take them again.

    Attributes
    ----------
    n_features : int
        Number of features.
    call : str
        The call that creates it, with data by name.

    Examples
    --------
    >>> from analogical import Study, audit, load_table, relevance, select
    >>> study = Study(load_table("titanic").to_frame(), "survived", weights="count")
    >>> relevance(study).ranking(), select(study, k=1).features
    (['sex', 'age', 'class'], ('sex',))
    >>> round(audit(study, "sex", given=["class"]).differences[0].difference, 3)
    0.497
    >>> study
    Study of 3 features for 'survived' (2 classes), 2,201 rows: class, sex and age
    ask                            to learn
    relevance(study)               which features have an effect, given the others
    select(study)                  which features predict the label best together
    interactions(study)            which features act together
    squares(study, first, second)  label shares and rows of two features together
    audit(study, feature)          how the label differs between its values
    evidence(study, feature)       which pairs of rows show its effect
    transitions(study, feature)    how values and labels change in its pairs
    redundancies(study)            which features carry the same information
    relaxed_index(study)           a screen for features that act only together
    compare(study)                 what other methods say
    report(study)                  all of this on one page
    """

    call = "study"
    engine_name: EngineName = "memory"
    """Who holds the rows and counts them."""
    plan: Any = None
    """How Spark counts."""
    _encoded: EncodedTable | None = None
    """The user's rows, if they are in this process."""

    def __new__(
        cls,
        X: Any = None,
        y: Any = None,
        *,
        duplicates: Duplicates = "count",
        n_jobs: int | None = None,
        **columns: Unpack[ColumnOptions],
    ) -> Self:
        """The study of a table that lies elsewhere is an ``EngineStudy``, which is then complete."""
        if engine_of(X) == "memory":
            return super().__new__(cls)
        rules = rules_of(columns, Study)
        study: Any = engine_study_of(X, y, rules, look_for_units=True, duplicates=duplicates, n_jobs=n_jobs)
        return study  # type: ignore[no-any-return]

    def __init__(
        self,
        X: Any,
        y: Any,
        *,
        duplicates: Duplicates = "count",
        n_jobs: int | None = None,
        **columns: Unpack[ColumnOptions],
    ) -> None:
        if engine_of(X) == "memory":
            self._begin_here(encode_table(X, y, rules_of(columns, Study), look_for_units=True), duplicates, n_jobs)
        options = {**asked_of(columns), "duplicates": (duplicates, "count")}
        self.call = written_call("Study", ["X", repr(y) if isinstance(y, str) else "y"], options)

    @classmethod
    def of_table(cls, table: EncodedTable, *, duplicates: Duplicates = "count", n_jobs: int | None = None) -> Self:
        """The study of a table that is encoded already."""
        study = cls.__new__(cls)
        study._begin_here(table, duplicates, n_jobs)
        return study

    def _begin_here(self, table: EncodedTable, duplicates: Duplicates, n_jobs: int | None) -> None:
        """A study of the user's rows, in this process."""
        n_groups = None if table.groups is None else int(table.groups.max()) + 1
        self._begin(table, duplicates, n_jobs, table.fine, n_groups)
        self.rows = collapse_rows(table.coded) if duplicates == "once" else table.coded
        self.groups, self._encoded = table.groups, table
        self.n_rows, self.is_weighted = table.coded.n_rows, table.weights is not None

    @classmethod
    def of_rows(
        cls,
        table: EngineMeaning,
        rows: CodedRows,
        *,
        duplicates: Duplicates = "count",
        engine_name: EngineName = "memory",
        plan: Any = None,
    ) -> "Study":
        """The study of rows of an engine that came here, all of them or some, with all columns of the study.

        Equal rows may be one row with their number: rows have no place in the user's table.
        """
        study, n_features = Study.__new__(Study), len(table.columns)
        study._begin(table, duplicates, None, table.fine_sizes, table.n_units)
        codes = np.asfortranarray(rows.codes[:, :n_features])
        features = CodedRows(codes, rows.labels, table.n_values, rows.n_labels, rows.weights, table.n_bins)
        study.rows = collapse_rows(features) if duplicates == "once" else features
        study.groups = None if table.n_units is None else rows.codes[:, -1].astype(np.int64)
        study._cut = {c: rows.codes[:, c] for c in range(n_features, len(study.owner))}
        study._fine_sizes = dict(table.fine_sizes)
        study.n_rows, study.is_weighted = rows.n_rows, table.is_weighted
        study.engine_name, study.plan = engine_name, plan
        return study

    def _begin(
        self,
        table: TableMeaning,
        duplicates: Duplicates,
        n_jobs: int | None,
        numbers: Iterable[int],
        n_groups: int | None,
    ) -> None:
        """Nothing is counted yet.

        Columns 0 to n - 1 are the features; those after them are ``numbers`` in other numbers of bins, for contexts.
        """
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
        self._cut: dict[int, Codes] = {}
        self._fine_sizes: dict[int, Ints] = {}
        self._forget()

    def _forget(self) -> None:
        """Nothing was counted yet."""
        self._tested: dict[Item, Tested | None] = {}
        self._p_values: dict[Item, float] = {}
        self._left: dict[int, Floats] = {}
        self._value_sizes: dict[int, Ints] = {}
        self._held: dict[Item, Contexts] = {}
        self._n_held = 0
        self._n_cells: dict[tuple[int, ...], int] = {}
        self._divided: tuple[tuple[int, ...], Cells] | None = None

    def __repr__(self) -> str:
        from analogical.show import as_text

        return as_text(self)

    def _repr_html_(self) -> str:
        from analogical.show import as_html

        return as_html(self)

    @cached_property
    def _answers(self) -> dict[Hashable, Any]:
        return {}

    def once(self, question: Hashable, find: Callable[[], Answer]) -> Answer:
        """The answer to a question, found when it is first asked."""
        if question not in self._answers:
            self._answers[question] = find()
        answer: Answer = self._answers[question]
        return answer

    # ------------------------------------------------------------ columns and contexts

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

    @property
    def _fine(self) -> Mapping[int, Codes]:
        """Numbers in the finer bins."""
        return {} if self._encoded is None else self._encoded.fine

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
        named = None if self._encoded is None else partial(_names_of_rows, self._encoded)
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

    def size(self, feature: int, given: Sequence[int], confidence: float) -> Size | None:
        """Effect of a feature in the contexts of some columns; None if there is no pair."""
        return next(size for _, size in self.sizes([(feature, tuple(sorted(given)))], confidence))

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

    # ------------------------------------------------------------ what rows must be equal on

    def given(self, given: Given) -> list[Context]:
        """For every feature what it is compared given."""
        if isinstance(given, str) and given == "all":
            self._count_all()
        contexts = [self.given_of(i, given) for i in range(self.n_features)]
        self.test((i, tuple(sorted(context.columns))) for i, context in enumerate(contexts) if context.same_as is None)
        return contexts

    def given_of(self, feature: int, given: Given) -> Context:
        """What one feature is compared given."""
        if is_auto(given):
            return self._given_what_matters(feature)
        chosen = range(self.n_features) if isinstance(given, str) else [self.table.find(name) for name in given]
        return Context(tuple(c for c in chosen if c != feature))

    @cached_property
    def deciding(self) -> tuple[int, ...]:
        """The columns of the deciding set, grown by outside features that are significant beside it."""
        members, sample = list(self.found.columns), self._sample
        while len(members) < min(MOST, len(self.decider.varying)):
            gains = self.decider.further(members, self.found.together)
            tried = sorted(gains, key=lambda i: (-round(gains[i].gain, 6), int(self.rank[i])))[:MOST_TRIED]
            p = np.ones(self.n_features)
            contexts = {i: sample._beside(i, members) for i in [*tried, *(int(self.owner[c]) for c in members)]}
            told = {i: context for i, context in contexts.items() if context.same_as is None}
            sample.test((i, tuple(sorted(context.columns))) for i, context in told.items())
            for i, context in told.items():
                p[i] = sample._p(i, context)
            adjusted = adjust_for_features(p)
            new = [i for i in tried if adjusted[i] <= LEVEL and self.decider.has_room([*members, i])]
            if not new:
                break
            members.append(min(new, key=lambda i: (round(math.log(p[i]), 6), int(self.rank[i]))))
        return tuple(members)

    def name_of(self, feature: int | None) -> str | None:
        """Name of a feature, if there is one."""
        return None if feature is None else self.table.names[feature]

    def names_of(self, columns: Sequence[int]) -> tuple[str, ...]:
        """Names of the features that columns are of."""
        return tuple(self.table.names[int(self.owner[c])] for c in columns)

    def _given_what_matters(self, feature: int) -> Context:
        """The deciding set less the feature, and what would do nearly as well in its place."""
        return replace(self._beside(feature, self.deciding), stand_ins=self.found.stand_ins.get(feature, ()))

    def _beside(self, feature: int, members: Sequence[int]) -> Context:
        """A set of columns less the feature; or the one that it copies."""
        given = [c for c in members if int(self.owner[c]) != feature]
        left = {c: self.entropy_left(feature, c) for c in given}
        if given and min(left.values()) <= COPY:
            return Context((), int(self.owner[min(given, key=lambda c: left[c])]))
        if len(given) == len(members):
            given = self._finer(feature, given, left)
        return Context(tuple(given))

    def _finer(self, feature: int, given: list[int], left: dict[int, float]) -> list[int]:
        """The same columns, numbers cut finer where they are tied to the feature and the rows allow, those most first.

        What a number does to the label within its bins would else be credited to a feature that goes with it.
        """
        rows = self.decider.voting.rows
        n_bins = rows.n_values
        for column in sorted(given, key=lambda c: (left[c], int(self.rank[self.owner[c]]))):
            finer_ones = [c for c in self.decider.bins[int(self.owner[column])] if n_bins[c] > n_bins[column]]
            for finer in sorted(finer_ones, key=lambda c: -int(n_bins[c])):
                more, fewer = (told_by_chance(rows, feature, int(n_bins[c])) for c in (finer, column))
                is_tied = left[column] - self.entropy_left(feature, finer) > TIED * (more - fewer)
                changed = [finer if c == column else c for c in given]
                if is_tied and self.decider.has_room(changed):
                    given = changed
                    break
        return given

    def _p(self, feature: int, context: Context) -> float:
        p = self.p_value(feature, context.columns)
        return 1.0 if np.isnan(p) else p

    def entropy_left(self, feature: int, column: int) -> float:
        """Share of the entropy of a feature that is left when a column is known, on the rows that are searched."""
        sample = self._sample
        if column not in sample._left:
            sample._left[column] = shares_left(sample.rows, sample.codes(column))
        return float(sample._left[column][feature])

    @property
    def is_outside(self) -> Bools:
        """Which features the search for the deciding set did not choose.

        Of those that are significant by Benjamini and Hochberg's method nearly half were false on known rules (35 of
        78; 9 of 491 of the chosen ones), so their p-values are adjusted by Holm's.
        """
        outside = np.ones(self.n_features, np.bool_)
        outside[[int(self.owner[c]) for c in self.found.columns]] = False
        return outside

    @property
    def explained(self) -> float:
        """Share of the uncertainty of the label that the deciding set explains, on the rows that are searched."""
        return self.decider.explained(self.deciding, self.found.together)

    @property
    def searched_rows(self) -> int:
        """Rows that the deciding set is chosen on, with their weights."""
        return self._sample.rows.n_rows

    @property
    def _sample(self) -> "Study":
        """The study itself, or of so many of its rows.

        A study does not keep itself, so that its table and what that has on disk go with it.
        """
        return self if len(self.rows.codes) <= SEARCH_ROWS else self._part

    @cached_property
    def _part(self) -> "Study":
        """The study of some rows, evenly spaced."""
        some = evenly(len(self.rows.codes), SEARCH_ROWS)
        part = Study.__new__(Study)
        part._begin(self.table, self.duplicates, self.n_jobs, {i for i, _ in self.bins}, self.n_groups)
        part.rows = self.rows.take(some)
        part.groups = None if self.groups is None else self.groups[some]
        part._cut = {c: self.codes(c)[some] for c in range(self.n_features, len(self.owner))}
        return part

    @cached_property
    def decider(self) -> Decider:
        """The search for the deciding set."""
        if self._sample is not self:
            return self._sample.decider
        n_jobs, searched, rank = self.n_jobs, self.rows, self.rank  # not self: a study must not keep itself
        rows = self.rows_of(range(len(self.owner)))

        def index() -> Positions:
            some = searched.take(evenly(len(searched.codes), INDEX_ROWS))
            scores = np.nan_to_num(relaxed_scores(some, n_jobs=n_jobs), nan=-1.0)
            return np.lexsort((rank, -scores.round(6)))

        return Decider(Voting(rows, n_threads_for(n_jobs, rows.codes.size)), self.owner, index, self.rank)

    @cached_property
    def found(self) -> Deciding:
        """The deciding set as its search found it, with what each member adds."""
        return self.decider.decide()


def _names_of_rows(table: EncodedTable, some: Sequence[int]) -> RowNames:
    return RowNames(table.positions(some), table.row_names(some))


def study_of(
    verb: Callable[..., Any],
    X: Any,
    y: Any,
    columns: ColumnOptions,
    *,
    without: Sequence[str] = (),
    keep: Sequence[Any] = (),
    look_for_leaks: bool = True,
    duplicates: Duplicates | None = None,
    n_jobs: int | None = None,
    needs_rows: bool = False,
    needs_label: bool = True,
) -> Study:
    """The study that a public function was given, or that of the table and the label that it was given.

    The function has all column options but those ``without`` which it does; ``duplicates`` is None if it counts every
    row. ``keep`` are features that it is asked about. One that needs whole rows refuses a table that lies elsewhere;
    one that needs no label gets a study without any.
    """
    if isinstance(X, Study):
        rules_of(columns, verb, without)
        beside = {"duplicates": duplicates not in (None, "count"), "n_jobs": n_jobs is not None}
        _refuse_beside_study(verb.__name__, y, [*columns, *(name for name, is_given in beside.items() if is_given)])
        if duplicates is None and X.duplicates == "once":
            raise InputError(
                f'{verb.__name__} needs every row, and this Study has duplicates="once"; make one without it.'
            )
        if needs_rows:
            refuse_elsewhere(verb.__name__, X.engine_name)
        return X
    rules, look_for_units = rules_of(columns, verb, without), "groups" not in without
    counted: Duplicates = "count" if duplicates is None else duplicates
    if engine_of(X) == "memory":
        looks: Any = {"look_for_leaks": look_for_leaks, "look_for_units": look_for_units}
        table = encode_table(X, y, rules, keep=keep, **looks) if needs_label else encode_features(X, rules)
        return Study.of_table(table, duplicates=counted, n_jobs=n_jobs)
    if needs_rows:
        refuse_elsewhere(verb.__name__, engine_of(X))
    return engine_study_of(
        X,
        y,
        rules,
        keep=keep,
        look_for_leaks=look_for_leaks,
        look_for_units=look_for_units,
        duplicates=counted,
        n_jobs=n_jobs,
        needs_label=needs_label,
    )


def _refuse_beside_study(verb: str, y: Any, options: Sequence[str]) -> None:
    """Refuse what a study has already: its label, and its options."""
    if y is not None:
        raise InputError(f"A Study has its label; leave y out of {verb}, and pass other arguments by name.")
    if options:
        raise InputError(f"A Study has its options already; give {' and '.join(options)} to Study, not to {verb}.")


def asked_about(verb: Callable[..., Any], X: Any, y: Any, **features: Any) -> tuple[Any, ...]:
    """The label and the features that a public function is asked about.

    A study has its label, so that features stand in its place: ``evidence(study, "age")``.
    """
    given = [value for value in (y, *features.values()) if value is not None]
    if isinstance(X, Study):
        if len(given) > len(features):
            _refuse_beside_study(verb.__name__, y, [])
        y = None
    else:
        given = given[y is not None :]
    if len(given) < len(features):
        verb_name, names = verb.__name__, ", ".join(features)
        raise InputError(
            f"{verb_name} needs {' and '.join(features)}: {verb_name}(X, y, {names}) or {verb_name}(study, {names})."
        )
    return y, *given


def is_auto(given: Given) -> bool:
    """Whether rows must be equal on the deciding set."""
    return isinstance(given, str) and given == "auto"


def check_given(given: Any) -> Given:
    """What was given, if it is a choice of features; else an error that says what may be."""
    if isinstance(given, str):
        check_choice("given", given, ("auto", "all"))
    elif not isinstance(given, Sequence | np.ndarray | set | frozenset):
        raise InputError(f'given must be "auto", "all" or a list of features, got {given!r}.')
    checked: Given = given
    return checked
