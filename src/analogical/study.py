"""Study: one table, each thing counted once, with its deciding set; and the study of a public function's arguments."""

import math
from collections import Counter
from collections.abc import Callable, Hashable, Iterable, Iterator, Mapping, Sequence
from dataclasses import replace
from functools import cached_property
from itertools import chain
from typing import Any, Literal, NamedTuple, Protocol, TypeAlias, TypeVar, Unpack

import numpy as np

from analogical._checks import check_choice
from analogical._types import Codes, Floats, Ints, Note, Positions
from analogical.columns.binning import NUMBERS_OF_BINS, merge_bins
from analogical.columns.columns import code_type
from analogical.columns.encode import EncodedTable, encode_table
from analogical.columns.frames import is_outside
from analogical.columns.rules import ColumnOptions, Rules, asked_of, rules_of, written_call
from analogical.count.contexts import Contexts, PairCounts, Stack, contexts_of_cells
from analogical.count.given import RowContexts, count_given, count_one
from analogical.count.groups import CodedRows, collapse_rows, evenly, first_rows, merge_rows, order_by_contents
from analogical.count.listing import ListedRows
from analogical.count.pairs import count_pairs, find_contexts
from analogical.count.threads import n_threads_for
from analogical.errors import InputError
from analogical.estimate.dependencies import (
    Dependencies,
    confirmed,
    find_dependencies,
    find_leaks,
    predicted_by_cut,
    remaining_entropies,
)
from analogical.estimate.fit import Left, Term, explained_share, further_shares, what_is_left
from analogical.estimate.groups import group_p_value
from analogical.estimate.repeats import count_copies, find_unit
from analogical.estimate.sizes import EffectSums, Size, class_scores, measure_size_of_groups, measure_sizes
from analogical.estimate.status import LEVEL
from analogical.estimate.tests import Scores, Tested, p_values_of, ranks_of, test_stack
from analogical.explain import Explanation, GivenColumns
from analogical.outside import encode_outside
from analogical.search import COPY, SCREENED_ROWS, Decider, Voting

Duplicates = Literal["count", "once"]
Given: TypeAlias = Literal["auto", "all"] | Sequence[Any]
"""The features on which compared rows must be equal: the deciding set, all others, or those named."""
Asked: TypeAlias = Literal["auto", "all"] | tuple[Any, ...]
"""The argument ``given`` after it was checked, and in results, where features are named."""
Item: TypeAlias = tuple[int, tuple[int, ...]]
"""A feature, and the columns that it is compared given, sorted."""

SEARCH_ROWS = 20_000
"""Rows of a larger table on which the deciding set is chosen: a feature without a visible effect on this many rows
confounds little, and only the choice depends on them."""
CLASSES_OF_NUMBER = 5
"""Classes of about equal size that stand for a label that is a number in the votes of the search."""
BINS_OF_FIT = 8
"""Bins of a number in a fit, beside its rank."""
FEW_GIVEN = 10
"""Given columns up to which contexts are counted by their codes; with more, equal rows are searched."""
MOST_GROUPS = 5_000_000
"""Combinations of values and label that come here at once from an engine, a few hundred megabytes; four times as many
are held."""
CELLS = 2**20
"""Cells of contexts that are computed with at once; four times as many are cached."""

Answer = TypeVar("Answer")
Part = TypeVar("Part")


class SourceColumn(NamedTuple):
    """A column by which a source groups its rows."""

    feature: int | None
    """Place of the feature; None for the group of each row."""
    bins: Codes | None = None
    """None for the feature's own codes; or the wanted code of each of its finest bins, missing cells last."""


class Source(Protocol):
    """All rows of a table that lies elsewhere, of which only groups can come here."""

    n_rows: int
    """Rows with their weights, identical ones too."""
    n_groups: int | None
    """Groups of rows that depend on each other; None if rows are independent."""

    def group(self, columns: Sequence[SourceColumn], most: int) -> CodedRows | None:
        """The distinct rows by these columns and the label, with their counts; None if they are more than ``most``."""
        ...

    def count_pairs(self) -> PairCounts:
        """The paper's counts."""
        ...


class MergedRows(NamedTuple):
    """The distinct rows by some columns and the label, with their counts, for some of the sets of columns asked for."""

    members: Sequence[int]
    """Positions of these sets."""
    columns: tuple[int, ...]
    rows: CodedRows


class Study:
    """A table with its label, encoded once, for several questions.

    ``relevance(study)``, ``select(study)``, ``audit(study, "sex")`` and all the others take a study in place of the
    table and its label. Counts are reused between questions, and the deciding set is searched once. A single question
    needs no study.

    Parameters
    ----------
    X : dataframe, 2-d array or list of rows
        The table, as in :func:`analogical.relevance`; also one that lies elsewhere, such as in DuckDB or on Spark.
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
    ask                          to learn
    relevance(study)             which features have an effect, given the others
    select(study)                which features predict the label best together
    interactions(study)          which features act together
    audit(study, feature)        how the label differs between its values
    evidence(study, feature)     which pairs of rows show its effect
    transitions(study, feature)  how values and labels change in its pairs
    redundancies(study)          which features carry the same information
    compare(study)               what other methods say
    report(study)                all of this on one page
    """

    call = "study"

    def __init__(
        self,
        X: Any,
        y: Any = None,
        *,
        duplicates: Duplicates = "count",
        n_jobs: int | None = None,
        **columns: Unpack[ColumnOptions],
    ) -> None:
        check_choice("duplicates", duplicates, ("count", "once"))
        if not isinstance(X, EncodedTable):
            options = {**asked_of(columns), "duplicates": (duplicates, "count")}
            self.call = written_call("Study", ["X", repr(y) if isinstance(y, str) else "y"], options)
            X = _encode(X, y, rules_of(columns, Study), (), duplicates, needs_label=True)
        table: EncodedTable = X
        if table.groups is not None and duplicates == "once":
            raise InputError('groups and duplicates="once" cannot be used together; groups need every row.')
        self.table, self.source, self.duplicates, self.n_jobs = table, table.source, duplicates, n_jobs
        self.scale = table.scale
        """How labels are compared; None for classes."""
        self.rows = collapse_rows(table.coded) if duplicates == "once" else table.coded
        """The features of all rows; of a sample of them, if there is a source."""
        self.n_rows = table.coded.n_rows if self.source is None else self.source.n_rows
        """Rows of the table, with their weights; identical rows count even with ``duplicates="once"``."""
        self.n_groups = table.n_groups if self.source is None else self.source.n_groups
        self.total_rows = self.n_rows
        """Rows that are compared; of a sample, those of the whole table."""
        self.n_features = len(table.names)
        fine_sizes = table.fine_sizes
        if fine_sizes is None:
            fine_sizes = {i: np.bincount(codes, table.weights).astype(np.int64) for i, codes in table.fine.items()}
        self.fine_sizes: Mapping[int, Ints] = fine_sizes if duplicates == "count" else {}
        """Rows of each of the finest bins of a number, missing cells last, by feature."""
        self.bins = [(i, n_bins) for i in sorted(self.fine_sizes) for n_bins in NUMBERS_OF_BINS]
        """Columns after the features: numbers in other numbers of bins, for contexts only."""
        self.owner: Ints = np.array([*range(self.n_features), *(feature for feature, _ in self.bins)])
        """The feature of each column but that of groups."""
        self.group_column = None if table.groups is None else len(self.owner)
        """The column of groups, the last one; None if rows are independent."""
        by_name = sorted(range(self.n_features), key=lambda i: table.names[i])
        self.rank: Ints = np.argsort(by_name)
        """Rank of each feature by name, which decides between features that predict equally well."""
        self._more_codes: dict[int, Codes] = {}
        """Codes of columns after the features, by column."""
        if self.group_column is not None and table.groups is not None:
            self._more_codes[self.group_column] = table.groups.astype(code_type(int(table.groups.max()) + 1))
        self.answers: dict[Hashable, Any] = {}
        """What was found, by question."""
        self._tested: dict[Item, Tested | None] = {}
        self._held: dict[Item, Contexts] = {}
        """Cached contexts."""
        self._n_held = 0
        self._divided: tuple[tuple[int, ...], RowContexts] | None = None
        self._groups: dict[tuple[int, ...], CodedRows] = {}
        """Rows grouped by a source, by their columns."""

    def __repr__(self) -> str:
        from analogical.show import as_text

        return as_text(self)

    def _repr_html_(self) -> str:
        from analogical.show import as_html

        return as_html(self)

    def __getstate__(self) -> dict[str, Any]:
        return {
            name: value for name, value in vars(self).items() if name not in ("decider", "explanation")
        }  # they cannot be pickled

    def once(self, question: Hashable, find: Callable[[], Answer]) -> Answer:
        """The answer to a question, computed when it is first asked."""
        if question not in self.answers:
            self.answers[question] = find()
        answer: Answer = self.answers[question]
        return answer

    @cached_property
    def notes(self) -> tuple[Note, ...]:
        """What was done to the table before counting, and which columns predict the label nearly alone."""
        if self.table.label_meaning is None:
            return self.table.notes
        notes, raw = list(self.table.notes), self.table.raw
        leaks = find_leaks(self.in_classes(self.table.coded)) | dict(self.table.watched)
        shares = tuple(100 if share == 1 else min(99, round(100 * share)) for _, share in sorted(leaks.items()))
        names = tuple(self.table.names[i] for i in sorted(leaks))
        notes += [Note("leak", names, shares)] if leaks else []
        if raw is not None and self.duplicates == "count":
            if n_copies := count_copies(raw):
                notes.append(Note("copies", (), (n_copies, len(raw.codes))))
            elif (found := find_unit(raw, self.n_rows)) is not None:  # replaces one that is known by its name only
                (unit, *constant), sizes = found
                notes = [note for note in notes if note.kind != "looks-like-groups"]
                notes.append(Note("looks-like-groups", (unit,), sizes, words=tuple(constant)))
        return tuple(notes)

    @cached_property
    def counts(self) -> PairCounts:
        """The paper's counts: pairs of rows that differ on one feature only."""
        return count_pairs(self.rows, n_jobs=self.n_jobs) if self.source is None else self.source.count_pairs()

    @property
    def classes(self) -> tuple[Any, ...]:
        """The classes of the label; none if it is a number."""
        return self.table.classes if self.scale is None or self.scale.kind == "ordered" else ()

    @cached_property
    def label_sizes(self) -> Ints:
        """Rows of each label."""
        return self.rows_of([]).label_sizes()

    def value_sizes(self, feature: int) -> Ints:
        """Rows of each value of a feature."""
        return self.once(("value sizes", feature), lambda: self.rows_of([feature]).value_sizes(0))

    def codes(self, column: int) -> Codes:
        """Codes of a column for all rows that are here."""
        if column < self.n_features:
            return self.rows.codes[:, column]
        if column not in self._more_codes:
            self._more_codes[column] = self.bins_of_fine(column)[self.table.fine[int(self.owner[column])]]
        return self._more_codes[column]

    def bins_of_fine(self, column: int) -> Codes:
        """The code of a column of bins for each of the finest bins of its feature."""
        feature, n_bins = self.bins[column - self.n_features]
        return merge_bins(self.fine_sizes[feature], n_bins, self.table.columns[feature].n_missing > 0)

    def rows_of(self, columns: Sequence[int]) -> CodedRows:
        """The rows with some columns only; those of a source are grouped, and a combination may come several times."""
        if self.source is not None:
            return self._grouped(self.source, columns)
        if all(column < self.n_features for column in columns):
            return self.rows.select(columns)
        codes, n_values = list(map(self.codes, columns)), np.array(list(map(self._n_values, columns)))
        gaps = [c < len(self.owner) and self.table.columns[self.owner[c]].n_missing > 0 for c in columns]
        return replace(self.rows, codes=np.stack(codes).T, n_values=n_values, has_missing=np.array(gaps))

    def _n_values(self, column: int) -> int:
        """Number of values of a column."""
        return int(self.rows.n_values[column] if column < self.n_features else self.codes(column).max(initial=0) + 1)

    def _grouped(self, source: Source, columns: Sequence[int]) -> CodedRows:
        """The rows of a source grouped by these columns and the label; groups by more columns serve too."""
        held = next((one for one in self._groups if set(columns).issubset(one)), None)
        if held is None:
            held = tuple(sorted(set(columns)))
            features = {c: int(self.owner[c]) for c in held if c != self.group_column}
            bins = {c: self.bins_of_fine(c) for c in features if c >= self.n_features}
            rows = source.group([SourceColumn(features.get(c), bins.get(c)) for c in held], MOST_GROUPS)
            if rows is None:
                names = ", ".join("groups" if c == self.group_column else self.names_of([c])[0] for c in held)
                raise InputError(
                    f"More than {MOST_GROUPS:,} combinations of values of {names} occur, too many to collect; give"
                    " fewer features (given=[...], --given), or bin them more coarsely."
                )
            self._groups[held] = rows
            while len(self._groups) > 1 and sum(len(rows.codes) for rows in self._groups.values()) > 4 * MOST_GROUPS:
                del self._groups[next(iter(self._groups))]
        return self._groups[held].select([held.index(column) for column in columns])

    def merged_by(self, sets: Sequence[Sequence[int]]) -> Iterator[MergedRows]:
        """For some sets of columns at a time, the distinct rows by all their columns, with their counts."""
        if self.source is not None:
            yield from (MergedRows([k], tuple(one), self.rows_of(one)) for k, one in enumerate(sets))
        else:
            columns = tuple(sorted(set[int]().union(*sets)))
            yield MergedRows(range(len(sets)), columns, merge_rows(self.rows_of(columns)))

    def cells(self, columns: tuple[int, ...]) -> RowContexts:
        """The rows divided by some columns; the last division is cached."""
        if self._divided is None or self._divided[0] != columns:
            self._divided = columns, RowContexts.of([self.codes(column) for column in columns], len(self.rows.codes))
        return self._divided[1]

    def listed(self, features: Sequence[int], given: Sequence[int]) -> ListedRows:
        """The rows with some features, divided by given columns, for listing them one by one."""
        table = self.table
        if self.source is None:
            positions = np.arange(len(self.rows.codes)) if table.origin is None else table.origin
            cells = self.cells(tuple(sorted(given)))
            return ListedRows.of(self.rows_of(features), cells, positions if table.has_order else None)
        rows = merge_rows(self.rows_of([*features, *sorted(given)]))
        cells, first = RowContexts.by(rows, range(len(features), rows.n_features)), rows.select(range(len(features)))
        return ListedRows.of(first.weighted(rows.weights_or_ones()), cells, None)

    def first_rows(self, feature: int) -> Ints:
        """Where each value of a feature occurs first, for their order; the order of the codes if rows have no place."""
        n_values = int(self.table.n_values[feature])
        return np.arange(n_values) if self.source is not None else first_rows(self.codes(feature), n_values)

    def dependencies(self, max_determinants: int) -> Dependencies:
        """Which features are determined by others, exactly or nearly; what a sample shows is confirmed on all rows."""
        found = find_dependencies(self.rows, max_determinants)
        return found if self.source is None else confirmed(found, self.rows_of)

    def name_of(self, feature: int | None) -> str | None:
        """Name of a feature; None for None."""
        return None if feature is None else self.table.names[feature]

    def names_of(self, columns: Sequence[int]) -> tuple[str, ...]:
        """Names of the features of columns."""
        return tuple(self.table.names[int(self.owner[c])] for c in columns)

    def test(self, items: Iterable[Item]) -> None:
        """Test items that were not tested before, many at a time."""
        for _ in self._stacks([item for item in dict.fromkeys(items) if item not in self._tested]):
            pass

    def tested(self, feature: int, given: Sequence[int]) -> Tested | None:
        """Pairs and p-value of a feature given some columns; None if it has no pair."""
        item = feature, tuple(sorted(given))
        self.test([item])
        return self._tested[item]

    def p_value(self, feature: int, given: GivenColumns) -> float:
        """P-value of a feature given some columns and less others; NaN if it cannot be tested."""
        if self.group_column is not None:
            columns = [feature, *sorted(given.columns), self.group_column]
            question = "p-value", *columns, given.terms
            rows, scores = self.rows_of(columns), None
            if given.terms or self.scale is not None:
                scores = self.left(given.terms, feature).scores if given.terms else self.label_scores[rows.labels]
            return self.once(question, lambda: group_p_value(rows, scores))
        if not given.terms:
            tested = self.tested(feature, given.columns)
            return math.nan if tested is None else tested.p_value
        question = "p-value", given.item(feature), given.terms
        return self.once(question, lambda: self._adjusted_p_value(feature, given))

    def _adjusted_p_value(self, feature: int, given: GivenColumns) -> float:
        """P-value of a feature on what other features leave of the label, in units of the error that they expect."""
        contexts = self._rows_in_contexts(feature, given)
        if not len(contexts):
            return math.nan
        left = self.left(given.terms, feature)
        scores = Scores(*map(_with_nothing, left.standardized() if self.scores.are_classes else (left.scores,)))
        return float(p_values_of(Stack.of([contexts]), scores, [self.ranks(feature)])[0])

    def _rows_in_contexts(self, feature: int, given: GivenColumns) -> Contexts:
        """The contexts of a feature, with the row as label code.

        A context in which all rows have the same label shows nothing: what a fit leaves there is its own error. Its
        rows have the last code, whose scores are 0.
        """
        rows, cells = self.rows, self.cells(tuple(sorted(given.columns)))
        context = cells.of_row.astype(np.int64)
        labels = np.bincount(np.unique(context * rows.n_labels + rows.labels) // rows.n_labels, minlength=len(cells))
        codes = np.where(labels[context] > 1, np.arange(len(context)), len(context))
        values = rows.codes[:, feature]
        order = np.lexsort((codes, values, context))
        return contexts_of_cells(context[order], values[order], codes[order], rows.weights_or_ones()[order])[0]

    def _adjusted_size(self, feature: int, given: GivenColumns, confidence: float) -> Size | None:
        """Effect of a feature on what other features leave of the label."""
        contexts = self._rows_in_contexts(feature, given)
        if not len(contexts):
            return None
        n_values, n_rows = int(self.table.n_values[feature]), int(self.label_sizes.sum())
        scores = self._by_class(_with_nothing(self.left(given.terms, feature).scores))
        (size,) = measure_sizes(Stack.of([contexts]), scores, [n_values], n_rows, confidence)
        noise_rate = EffectSums.of(self.contexts(*given.item(feature)), self.label_scores).noise_rate()
        return replace(size, noise_rate=noise_rate)

    def _by_class(self, scores: Floats) -> Floats:
        """Scores of classes that tests keep apart as scores of all classes; those that share a score have none."""
        if self.scale is not None:
            return scores
        if len(self.label_sizes) == 2:
            return np.hstack([-scores, scores])
        apart = self.scores.table * (self.scores.table.sum(axis=0) == 1)
        return np.asarray(scores @ (apart.T @ self.label_scores))

    def left(self, terms: tuple[tuple[int, ...], ...], *without: int) -> Left:
        """What some terms leave of the label of each row, without those of some features."""
        places = [place for place, term in enumerate(terms) if not {*without} & {*term}]
        kept = tuple(terms[place] for place in places)
        return self.once(("left", terms, kept), lambda: self._left(terms, places))

    def explained(self, left: Left) -> float:
        """Share of the variance of the label that a fit explains, each row left out."""
        return explained_share(left.scores, self.left(()).scores, self.rows.weights_or_ones())

    def further(self, left: Left, terms: Iterable[tuple[int, ...]]) -> list[tuple[tuple[int, ...], float]]:
        """Terms with about the share that each would add to what a fit explains, the largest first, then by name."""
        terms, weights = list(terms), self.rows.weights_or_ones()
        codes = (self.codes(term[0]) if len(term) == 1 else self.cells(term).of_row for term in terms)
        shares = np.round(further_shares(codes, left.scores, self.left(()).scores, weights), 9).tolist()
        found = zip(terms, shares, strict=True)
        return sorted(found, key=lambda one: (-one[1], sorted(self.rank[list(one[0])].tolist())))

    def _left(self, terms: tuple[tuple[int, ...], ...], places: list[int]) -> Left:
        """What the terms in some places leave; their fit begins where that of all terms ended."""
        made, start = list(map(self._term, terms)), None
        if len(places) < len(terms):
            bounds = np.cumsum([1, *(term.width for term in made)])
            columns = np.concatenate([[0], *(np.arange(bounds[place], bounds[place + 1]) for place in places)])
            start = self.left(terms).coefficients[:, columns.astype(np.intp)]
        classes, fitted_on = self.scores.table[self.rows.labels], self.some_rows(SEARCH_ROWS)
        kept, are_classes = [made[place] for place in places], self.scores.are_classes
        return what_is_left(kept, classes, self.rows.weights, fitted_on, start, are_classes=are_classes)

    def _term(self, features: tuple[int, ...]) -> Term:
        """A term of a fit: numbers in eight bins, with their ranks."""
        if len(features) > 1:
            cells = RowContexts.of([self.codes(f) for f in features], len(self.rows.codes))
            codes = cells.of_row
            return Term.of(codes, np.bincount(codes, self.rows.weights).astype(np.float64))
        (feature,) = features
        if (feature, BINS_OF_FIT) not in self.bins:
            return Term.of(self.codes(feature), self.value_sizes(feature).astype(np.float64))
        codes = self.codes(self.n_features + self.bins.index((feature, BINS_OF_FIT)))
        rows = np.bincount(codes, self.rows.weights).astype(np.float64)
        return Term.of(codes, rows, self.table.fine[feature], self._ranks_of(feature, self.fine_sizes[feature]))

    @cached_property
    def scores(self) -> Scores:
        """The scores of labels in tests."""
        return Scores.of_classes(self.label_sizes) if self.scale is None else Scores(self.label_scores)

    @cached_property
    def label_scores(self) -> Floats:
        """The scores of each label code: a unit vector for a class, a single number for a number."""
        return class_scores(self.label_sizes) if self.scale is None else self.scale.scores[:, None]

    def in_classes(self, rows: CodedRows) -> CodedRows:
        """Rows with classes as labels; numbers in five classes of about equal size."""
        if self.scale is None:
            return rows
        class_of = merge_bins(self.label_sizes, CLASSES_OF_NUMBER, has_missing=False)
        return replace(rows, labels=class_of[rows.labels], n_labels=int(class_of.max()) + 1)

    def ranks(self, feature: int) -> Floats | None:
        """The rank of each bin of a number; None for categories."""
        if self.table.columns[feature].edges is None:
            return None
        return self._ranks_of(feature, self.value_sizes(feature))

    def _ranks_of(self, feature: int, sizes: Ints) -> Floats:
        """The rank of each bin with so many rows."""
        return ranks_of(sizes, self.table.columns[feature].n_missing > 0)

    def contexts(self, feature: int, given: Sequence[int]) -> Contexts:
        """The contexts of a feature given some columns: rows by context, value and label."""
        return next(stack.contexts for _, stack in self._stacks([(feature, tuple(sorted(given)))]))

    def sizes(self, given: Mapping[int, GivenColumns], confidence: float) -> Iterator[tuple[int, Size | None]]:
        """Effects of features given some columns and less others, many at a time; None for a feature without pairs."""
        scores = self.label_scores
        if self.group_column is not None:
            for feature, context in given.items():
                rows, table = self.rows_of([feature, *sorted(context.columns), self.group_column]), scores
                if context.terms:  # every row has a label of its own
                    table = self._by_class(self.left(context.terms, feature).scores)
                    rows = replace(
                        rows, labels=np.arange(len(table)).astype(code_type(len(table))), n_labels=len(table)
                    )
                size = measure_size_of_groups(rows, table, confidence)
                yield feature, None if math.isnan(size.effect) else size
            return
        n_rows = int(self.label_sizes.sum())
        plain = {context.item(f): f for f, context in given.items() if not context.terms}
        for block, stack in self._stacks(list(plain)):
            with_pairs = np.flatnonzero(np.diff(stack.bounds)).tolist()
            n_values = [int(self.table.n_values[block[k][0]]) for k in with_pairs]
            part = stack.part(with_pairs)
            sizes = measure_sizes(part, scores, n_values, n_rows, confidence) if with_pairs else []
            size_of = dict(zip(with_pairs, sizes, strict=True))
            yield from ((plain[item], size_of.get(k)) for k, item in enumerate(block))
        for feature, context in given.items():
            if context.terms:
                yield feature, self._adjusted_size(feature, context, confidence)

    def _stacks(self, items: Sequence[Item]) -> Iterator[tuple[list[Item], Stack]]:
        """The contexts of items, many items at a time: first cached contexts, then new ones, which are tested too."""
        held, new = ([item for item in items if (item in self._held) == is_held] for is_held in (True, False))
        for block in _blocks(held, lambda item: len(self._held[item].sizes)):
            yield block, Stack.of([self._held[item] for item in block])
        few, many = ([item for item in new if (len(item[1]) <= FEW_GIVEN) == are_few] for are_few in (True, False))
        given_few = (
            ([item for block, _ in parts for item in block], Stack.joined([stack for _, stack in parts]))
            for parts in _blocks(self._count_given(few), lambda part: len(part[1].contexts.sizes))
        )
        for block, stack in chain(given_few, self._count_alike(many)):
            if any(item not in self._tested for item in block):
                tested = test_stack(stack.merged, self.scores, [self.ranks(feature) for feature, _ in block])
                self._tested.update(zip(block, tested, strict=True))
            if stack.given is not None:  # these are counted again quickly, so there is a limit for them
                self._n_held += len(stack.merged.contexts.sizes)
            if stack.given is None or self._n_held <= 4 * CELLS:
                self._held.update(zip(block, stack.merged.split(), strict=True))
            yield block, stack.merged

    def _count_alike(self, items: Sequence[Item]) -> Iterator[tuple[list[Item], Stack]]:
        """Count the contexts of items given many columns: those with the same columns in one search for equal rows."""
        alike: dict[tuple[int, ...], list[Item]] = {}
        for feature, given in items:
            alike.setdefault(tuple(sorted((feature, *given))), []).append((feature, given))
        for columns, some in alike.items():
            places = [columns.index(feature) for feature, _ in some]
            found = find_contexts(self.rows_of(columns), places, n_jobs=self.n_jobs)
            for item, place in zip(some, places, strict=True):
                yield [item], Stack.of([found[place]])

    def _count_given(self, items: Sequence[Item]) -> Iterator[tuple[list[Item], Stack]]:
        """Count the contexts of items with their codes, some features with the same given columns at a time.

        Members of a set, each given the others, are counted on the distinct rows by the whole set.
        """
        if self.source is not None:
            for feature, given in items:
                columns = feature, *given
                yield [(feature, given)], count_one(self.rows_of(columns), columns, feature, given)
            return
        wholes = Counter(tuple(sorted((feature, *given))) for feature, given in items)
        whole, times = wholes.most_common(1)[0] if items else ((), 0)
        features_given: dict[tuple[int, ...], list[int]] = {}
        merged = self.cells(whole).merged(self.rows, np.array(list(map(self._n_values, whole)))) if times > 1 else None
        for feature, given in items:
            if merged is not None and set(whole) == {feature, *given}:
                yield [(feature, given)], count_one(merged, whole, feature, given)
            else:
                features_given.setdefault(given, []).append(feature)
        for given, features in features_given.items():
            n_threads = n_threads_for(self.n_jobs, self.rows.codes.size)
            for some, stack in count_given(self.rows, self.cells(given), features, n_threads):
                yield [(feature, given) for feature in some], stack

    def given(self, given: Asked) -> list[GivenColumns]:
        """What each feature is compared given; tests every feature that is not a copy."""
        contexts = [self.given_of(i, given) for i in range(self.n_features)]
        self.test(context.item(i) for i, context in enumerate(contexts) if context.same_as is None)
        return contexts

    def given_of(self, feature: int, given: Asked) -> GivenColumns:
        """What one feature is compared given."""
        if given == "auto":
            found = self.explanation.given_of(feature)  # of a source there are no rows to fit
            return found if self.source is None else replace(found, adjusted_for=(), terms=())
        return GivenColumns(tuple(c for c in self.positions_of(given) if c != feature))

    def positions_of(self, given: Asked) -> Sequence[int]:
        """Positions of all features, or of those named."""
        return range(self.n_features) if isinstance(given, str) else [self.table.find(name) for name in given]

    def copied(self, feature: int, columns: Sequence[int]) -> int | None:
        """The feature among those of some columns that a feature copies, if there is one."""
        own = self.owner[list(columns)].tolist()  # a number may be a member in other bins than a copy of it has
        left = {c: self.entropy_left(feature, c) for c in (*columns, *own) if int(self.owner[c]) != feature}
        least = min(left, key=lambda c: left[c], default=None)
        if least is None or left[least] > COPY:
            return None
        other, sample = int(self.owner[least]), self.sample
        says_more = sample.once(("says more", feature, other), lambda: sample._says_more(feature, other))
        return None if says_more else other

    def _says_more(self, feature: int, other: int) -> bool:
        """Whether a feature, as finely as it is known, predicts the label among rows that are equal on a near-copy."""
        first = self.decider.original
        if first.get(feature, feature) == first.get(other, other):
            return False
        codes = [self.table.fine[c] if c in self.fine_sizes else self.codes(c) for c in (feature, other)]
        if self.group_column is not None:
            codes.append(self.codes(self.group_column))
        rows = CodedRows(
            np.stack(codes).T,
            self.rows.labels,
            np.array([int(column.max()) + 1 for column in codes]),
            self.rows.n_labels,
            self.rows.weights,
        )
        if self.group_column is not None:
            scores = None if self.scale is None else self.label_scores[rows.labels]
            return group_p_value(rows, scores) * self.n_features <= LEVEL
        ranks = self._ranks_of(feature, rows.value_sizes(0)) if feature in self.fine_sizes else None
        (tested,) = test_stack(Stack.of([find_contexts(rows, [0])[0]]), self.scores, [ranks])
        return tested is not None and tested.p_value * self.n_features <= LEVEL

    def entropy_left(self, feature: int, column: int) -> float:
        """Conditional entropy of a feature given a column, as a share of its entropy, on the rows searched."""
        sample, question = self.sample, ("entropy left", column)
        if question not in sample.answers:
            sample.answers[question] = remaining_entropies(sample.rows, sample.codes(column))
        return float(sample.answers[question][feature])

    @property
    def search_notes(self) -> tuple[Note, ...]:
        """The notes, and how many features the search tried in sets of two and three, if not all."""
        counts = (len(self.decider.varying), *map(len, self.decider.screened.values()))
        return self.notes if len(set(counts)) == 1 else (*self.notes, Note("screened", (), counts))

    def some_rows(self, most: int) -> Positions:
        """All rows, or so many of them, chosen by what is in them, whatever their order."""
        n_rows = len(self.rows.codes)
        return np.arange(n_rows) if n_rows <= most else self._order[evenly(n_rows, most)]

    @cached_property
    def _order(self) -> Positions:
        """The rows in an order of their contents."""
        columns = list[tuple[Codes, Ints, Ints | None]]()
        for feature in np.argsort(self.rank).tolist():
            meaning, ties = self.table.columns[feature], None
            if meaning.edges is None:
                ties = np.argsort(np.argsort([str(value) for value in meaning.values], kind="stable"))
            columns.append((self.rows.codes[:, feature], self.value_sizes(feature), ties))
            if feature in self.fine_sizes:
                columns.append((self.table.fine[feature], self.fine_sizes[feature], None))
        groups = None if self.group_column is None else self.codes(self.group_column)
        return order_by_contents(columns, self.rows.labels, self.rows.weights, groups)

    @property
    def sample(self) -> "Study":
        """The study of the rows searched: this study if it has few rows.

        Not cached: a study that refers to itself would keep its table, and the files of that, after its last use.
        """
        is_small = self.source is None and len(self.rows.codes) <= SEARCH_ROWS
        return self if is_small else self.once("sample", self._subsample)

    def _subsample(self) -> "Study":
        """The study of some rows, or of the sample of a source."""
        table = self.table
        if self.source is None:
            chosen = self.some_rows(SEARCH_ROWS)
            rows = self.rows.take(chosen)
            table = replace(
                table,
                codes=rows.codes,
                labels=rows.labels,
                weights=rows.weights,
                groups=None if table.groups is None else table.groups[chosen],
                fine={i: table.fine[i][chosen] for i in self.fine_sizes},
                fine_sizes=self.fine_sizes,
            )
        sample = Study(replace(table, source=None), duplicates=self.duplicates, n_jobs=self.n_jobs)
        sample.total_rows = self.n_rows
        return sample

    @cached_property
    def decider(self) -> Decider:
        """The search for the deciding set."""
        if self.sample is not self:
            return self.sample.decider
        rows = self.in_classes(self.rows_of(range(len(self.owner))))
        groups = None if self.group_column is None else self.codes(self.group_column)
        voting = Voting(rows, n_threads_for(self.n_jobs, rows.codes.size), groups)
        return Decider(voting, self.owner, self.rank, {size: self.some_rows(n) for size, n in SCREENED_ROWS.items()})

    @cached_property
    def explanation(self) -> Explanation:
        """The explanation of the label, found on the rows searched."""
        return Explanation(self, self.total_rows) if self.sample is self else self.sample.explanation


def _with_nothing(scores: Floats) -> Floats:
    """Scores with a last row of zeros."""
    return np.vstack([scores, np.zeros(scores.shape[1])])


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


def _encode(
    X: Any, y: Any, rules: Rules, keep: Sequence[Any], duplicates: Duplicates, needs_label: bool
) -> EncodedTable:
    """A table in memory or elsewhere as codes; features in ``keep`` are never set aside as ids."""
    options: Any = {"keep": keep, "needs_label": needs_label, "watch": predicted_by_cut}
    if is_outside(X):
        return encode_outside(X, y, rules, duplicates=duplicates, **options)
    return encode_table(X, y, rules, **options)


def study_of(
    verb: Callable[..., Any],
    X: Any,
    y: Any,
    columns: ColumnOptions,
    *,
    without: Sequence[str] = (),
    keep: Sequence[Any] = (),
    duplicates: Duplicates | None = None,
    n_jobs: int | None = None,
    needs_rows: bool = False,
    needs_label: bool = True,
) -> Study:
    """The study that a public function was given, or the study of its table and label.

    ``without`` are column options that the function does not have, ``keep`` features that it is asked about, which are
    never set aside as ids. ``duplicates`` is None if the function has no such option and counts every row. A function
    that compares whole rows (``needs_rows``) refuses a table of which only groups come here.
    """
    rules, name = rules_of(columns, verb, without), verb.__name__
    if isinstance(X, Study):
        beside = {"duplicates": duplicates not in (None, "count"), "n_jobs": n_jobs is not None}
        options = [*columns, *(option for option, is_given in beside.items() if is_given)]
        if y is not None:
            raise InputError(f"A Study has its label; leave y out of {name}, and pass other arguments by name.")
        if options:
            raise InputError(f"A Study has its options already; give {' and '.join(options)} to Study, not to {name}.")
        if duplicates is None and X.duplicates == "once":
            raise InputError(f'{name} needs every row, and this Study has duplicates="once"; make one without it.')
        study = X
    else:
        counted: Duplicates = "count" if duplicates is None else duplicates
        table = _encode(X, y, rules, keep, counted, needs_label)
        study = Study(table, duplicates=counted, n_jobs=n_jobs)
    if needs_rows and study.source is not None:
        raise InputError(
            f"{name} compares whole rows, and this table is too large to collect its rows; give {name} a sample of"
            " them as a dataframe."
        )
    return study


def asked_about(verb: Callable[..., Any], X: Any, y: Any, **features: Any) -> tuple[Any, ...]:
    """The label and the features that a public function is asked about.

    A study has its own label, so a feature takes the place of ``y``: ``evidence(study, "age")``.
    """
    given = [value for value in (y, *features.values()) if value is not None]
    if not isinstance(X, Study):
        given = given[y is not None :]
    elif len(given) <= len(features):  # otherwise there is a label, which ``study_of`` refuses
        y = None
    if len(given) < len(features):
        verb_name, names = verb.__name__, ", ".join(features)
        raise InputError(
            f"{verb_name} needs {' and '.join(features)}: {verb_name}(X, y, {names}) or {verb_name}(study, {names})."
        )
    return y, *given[-len(features) :]


def check_given(given: Any) -> Asked:
    """The argument ``given`` as "auto", "all" or a tuple of features."""
    if isinstance(given, str):
        check_choice("given", given, ("auto", "all"))
        return "all" if given == "all" else "auto"
    if not isinstance(given, Sequence | np.ndarray | set | frozenset):
        raise InputError(f'given must be "auto", "all" or a list of features, got {given!r}.')
    return tuple(given)
