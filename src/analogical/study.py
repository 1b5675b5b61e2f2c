"""Study: one table for several questions, with its deciding set and what each feature is compared given."""

import math
from collections.abc import Callable, Hashable, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from typing import Any, Literal, Self, TypeAlias, TypeVar, Unpack

import numpy as np

from analogical._types import Bools, CodedRows, EngineName, Note, Positions
from analogical.count.groups import collapse_rows, evenly
from analogical.count.threads import n_threads_for
from analogical.engines.open import engine_of, engine_study_of
from analogical.estimate.deciding import COPY, MOST, MOST_TRIED, Decider, Deciding, shares_left, told_by_chance
from analogical.estimate.significance import adjust_for_features
from analogical.estimate.status import LEVEL
from analogical.estimate.votes import Voting
from analogical.table.encode import EncodedTable, encode_table
from analogical.table.meaning import EngineMeaning
from analogical.table.rules import ColumnOptions, asked_of, rules_of, written_call
from analogical.table_counts import Duplicates, TableCounts

__all__ = ["Context", "Duplicates", "Given", "Study", "is_auto"]

Given: TypeAlias = Literal["auto", "all"] | Sequence[Any]
"""The features on which compared rows must be equal: the deciding set, all others, or those named."""

SEARCH_ROWS = 20_000
"""Rows on which the deciding set is chosen, evenly spaced in larger tables: a feature without a visible effect on this
many rows confounds little, and only the choice depends on them."""
INDEX_ROWS = 1_000
"""Rows for the relaxed index as a screen of very many features: its cost grows with their square."""
TIED = 2.0
"""A number is binned more finely for a feature outside the set if the finer bins explain more of the feature than this
many times what chance would. On 24 tables of correlated numbers the false discoveries fell from .083 to .038; without
this condition, 120 known rules lost .007 of their true features."""

Answer = TypeVar("Answer")


@dataclass(frozen=True)
class Context:
    """What a feature is compared given."""

    columns: tuple[int, ...]
    same_as: int | None = None
    """The feature that it copies, if it does."""
    stand_ins: tuple[int, ...] = ()
    """Features that would predict nearly as well in its place in the deciding set."""


class Study(TableCounts):
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
    """Where the rows are held and counted."""
    plan: Any = None
    """Spark's plan for counting."""

    def __new__(
        cls,
        X: Any = None,
        y: Any = None,
        *,
        duplicates: Duplicates = "count",
        n_jobs: int | None = None,
        **columns: Unpack[ColumnOptions],
    ) -> Self:
        """Return a complete ``EngineStudy`` for a table in DuckDB or on Spark."""
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
            self._set_table(encode_table(X, y, rules_of(columns, Study), look_for_units=True), duplicates, n_jobs)
        options = {**asked_of(columns), "duplicates": (duplicates, "count")}
        self.call = written_call("Study", ["X", repr(y) if isinstance(y, str) else "y"], options)

    @classmethod
    def of_table(
        cls,
        table: EncodedTable,
        *,
        duplicates: Duplicates = "count",
        n_jobs: int | None = None,
        engine_name: EngineName = "memory",
        plan: Any = None,
    ) -> Self:
        """The study of an encoded table; rows that come from Spark have no position in the user's table."""
        study = cls.__new__(cls)
        study._set_table(table, duplicates, n_jobs)
        study.engine_name, study.plan = engine_name, plan
        if engine_name == "spark":
            study._named = None
        return study

    def _set_table(self, table: EncodedTable, duplicates: Duplicates, n_jobs: int | None) -> None:
        """Begin the study of an encoded table."""
        coded = table.coded
        fine_sizes = {i: np.bincount(codes, coded.weights).astype(np.int64) for i, codes in table.fine.items()}
        n_groups = None if table.groups is None else int(table.groups.max()) + 1
        self._begin(table, duplicates, n_jobs, fine_sizes, n_groups)
        self.rows = collapse_rows(coded) if duplicates == "once" else coded
        self.groups, self._fine_codes, self._named = table.groups, table.fine, table
        self.n_rows, self.is_weighted = coded.n_rows, table.weights is not None

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
        """The study of rows that were collected from an engine, all of them or a sample, with all columns of the study.

        Equal rows may be merged into one with their count, so rows have no position in the user's table.
        """
        study, n_features = Study.__new__(Study), len(table.columns)
        study._begin(table, duplicates, None, table.fine_sizes, table.n_units)
        codes = np.asfortranarray(rows.codes[:, :n_features])
        features = CodedRows(codes, rows.labels, table.n_values, rows.n_labels, rows.weights, table.n_bins)
        study.rows = collapse_rows(features) if duplicates == "once" else features
        study.groups = None if table.n_units is None else rows.codes[:, -1].astype(np.int64)
        study._bin_codes = {c: rows.codes[:, c] for c in range(n_features, len(study.owner))}
        study.n_rows, study.is_weighted = rows.n_rows, table.is_weighted
        study.engine_name, study.plan = engine_name, plan
        return study

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
        """The answer to a question, computed when it is first asked."""
        if question not in self._answers:
            self._answers[question] = find()
        answer: Answer = self._answers[question]
        return answer

    # ------------------------------------------------------------ what each feature is compared given

    def given(self, given: Given) -> list[Context]:
        """What each feature is compared given; tests every feature that is not a copy."""
        if isinstance(given, str) and given == "all":
            self._count_all()
        contexts = [self.given_of(i, given) for i in range(self.n_features)]
        self.test((i, tuple(sorted(context.columns))) for i, context in enumerate(contexts) if context.same_as is None)
        return contexts

    def given_of(self, feature: int, given: Given) -> Context:
        """What one feature is compared given."""
        if is_auto(given):
            stand_ins = self.searched.stand_ins.get(feature, ())
            return replace(self._beside(feature, self.deciding), stand_ins=stand_ins)
        return Context(tuple(c for c in self.named(given) if c != feature))

    def named(self, given: Given) -> Sequence[int]:
        """Positions of all features, or of those named."""
        return range(self.n_features) if isinstance(given, str) else [self.table.find(name) for name in given]

    def copied(self, feature: int, columns: Sequence[int]) -> int | None:
        """The feature among those of some columns that a feature copies, if there is one."""
        left = {c: self.entropy_left(feature, c) for c in columns if int(self.owner[c]) != feature}
        least = min(left, key=lambda c: left[c], default=None)
        return int(self.owner[least]) if least is not None and left[least] <= COPY else None

    @cached_property
    def deciding(self) -> tuple[int, ...]:
        """The columns of the deciding set, including other features that are significant given it."""
        members, sample = list(self.searched.columns), self._sample
        while len(members) < min(MOST, len(self.decider.varying)):
            gains = self.decider.further(members, self.searched.together)
            tried = sorted(gains, key=lambda i: (-round(gains[i].gain, 6), int(self.rank[i])))[:MOST_TRIED]
            p = np.ones(self.n_features)
            contexts = {i: sample._beside(i, members) for i in [*tried, *(int(self.owner[c]) for c in members)]}
            testable = {i: context for i, context in contexts.items() if context.same_as is None}
            sample.test((i, tuple(sorted(context.columns))) for i, context in testable.items())
            for i, context in testable.items():
                p[i] = np.nan_to_num(sample.p_value(i, context.columns), nan=1.0)
            adjusted = adjust_for_features(p)
            new = [i for i in tried if adjusted[i] <= LEVEL and self.decider.has_room([*members, i])]
            if not new:
                break
            members.append(min(new, key=lambda i: (round(math.log(p[i]), 6), int(self.rank[i]))))
        return tuple(members)

    def _beside(self, feature: int, members: Sequence[int]) -> Context:
        """What a feature is compared given if the deciding set has these members: the others, or what it copies."""
        same_as = self.copied(feature, members)
        if same_as is not None:
            return Context((), same_as)
        given = [c for c in members if int(self.owner[c]) != feature]
        return Context(tuple(given if len(given) < len(members) else self._finer(feature, given)))

    def _finer(self, feature: int, given: list[int]) -> list[int]:
        """The given columns, with finer bins for numbers that are tied to the feature, where there are enough rows.

        Otherwise the effect of a number within its bins would be attributed to a feature that is correlated with it.
        The number that explains most of the feature comes first.
        """
        rows, left = self.decider.voting.rows, {c: self.entropy_left(feature, c) for c in given}
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

    def entropy_left(self, feature: int, column: int) -> float:
        """Conditional entropy of a feature given a column, as a share of its entropy, on the rows searched."""
        sample = self._sample
        shares = sample.once(("entropy left", column), lambda: shares_left(sample.rows, sample.codes(column)))
        return float(shares[feature])

    @property
    def notes(self) -> tuple[Note, ...]:
        """What was done to the table before counting."""
        return self.table.notes

    @property
    def is_outside(self) -> Bools:
        """Which features the search for the deciding set did not choose.

        Their p-values are adjusted by Holm's method: of those significant by Benjamini and Hochberg's, nearly half were
        false on known rules (35 of 78; 9 of 491 among the chosen features).
        """
        outside = np.ones(self.n_features, np.bool_)
        outside[[int(self.owner[c]) for c in self.searched.columns]] = False
        return outside

    @property
    def explained(self) -> float:
        """Share of the entropy of the label that the deciding set explains, on the rows searched."""
        return self.decider.explained(self.deciding, self.searched.together)

    @property
    def searched_rows(self) -> int:
        """Number of rows, with their weights, on which the deciding set is chosen."""
        return self._sample.rows.n_rows

    @property
    def _sample(self) -> "Study":
        """The study of the rows searched: this study if it has few rows.

        Not cached: a study that refers to itself would keep its table, and the files of that, after its last use.
        """
        return self if len(self.rows.codes) <= SEARCH_ROWS else self._subsample

    @cached_property
    def _subsample(self) -> "Study":
        """The study of evenly spaced rows."""
        chosen = evenly(len(self.rows.codes), SEARCH_ROWS)
        sample = Study.__new__(Study)
        sample._begin(self.table, self.duplicates, self.n_jobs, self.fine_sizes, self.n_groups)
        sample.rows = self.rows.take(chosen)
        sample.groups = None if self.groups is None else self.groups[chosen]
        sample._bin_codes = {c: self.codes(c)[chosen] for c in range(self.n_features, len(self.owner))}
        return sample

    @cached_property
    def decider(self) -> Decider:
        """The search for the deciding set."""
        if self._sample is not self:
            return self._sample.decider
        n_jobs, searched, rank = self.n_jobs, self.rows, self.rank  # not self: a study must not refer to itself
        rows = self.rows_of(range(len(self.owner)))

        def by_relaxed_index() -> Positions:
            from analogical.estimate.radius import relaxed_scores  # slow to import, and few tables need it

            few_rows = searched.take(evenly(len(searched.codes), INDEX_ROWS))
            scores = np.nan_to_num(relaxed_scores(few_rows, n_jobs=n_jobs), nan=-1.0)
            return np.lexsort((rank, -scores.round(6)))

        return Decider(Voting(rows, n_threads_for(n_jobs, rows.codes.size)), self.owner, by_relaxed_index, self.rank)

    @cached_property
    def searched(self) -> Deciding:
        """The deciding set as the search found it, with the gain of each member."""
        return self.decider.decide()


def is_auto(given: Given) -> bool:
    """Whether ``given`` is "auto": the deciding set."""
    return isinstance(given, str) and given == "auto"
