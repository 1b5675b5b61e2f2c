"""Study: one table for several questions, with its deciding set and what each feature is compared given."""

import math
from collections.abc import Callable, Hashable, Sequence
from dataclasses import dataclass, replace
from functools import cached_property, wraps
from typing import Any, Literal, Self, TypeAlias, TypeVar, Unpack

import numpy as np

from analogical._types import Bools, Note, Positions, code_type
from analogical.columns.encode import EncodedTable, encode_table
from analogical.columns.rules import ColumnOptions, asked_of, rules_of, written_call
from analogical.count.groups import collapse_rows, evenly
from analogical.count.threads import n_threads_for
from analogical.estimate.deciding import COPY, MOST_MEMBERS, MOST_TRIED, Decider, Deciding
from analogical.estimate.entropies import explained_by_chance, remaining_entropies
from analogical.estimate.significance import adjust_for_features
from analogical.estimate.status import LEVEL
from analogical.estimate.votes import Voting
from analogical.outside import encode_outside, is_outside
from analogical.table_counts import Duplicates, Item, TableCounts

__all__ = ["Asked", "Duplicates", "Given", "GivenColumns", "Study"]

Given: TypeAlias = Literal["auto", "all"] | Sequence[Any]
"""The features on which compared rows must be equal: the deciding set, all others, or those named."""
Asked: TypeAlias = Literal["auto", "all"] | tuple[Any, ...]
"""The argument ``given`` after it was checked, and in results, where features are named."""

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


def of_the_sample(find: "Callable[[Study], Answer]") -> "cached_property[Answer]":
    """A cached property that is found on the rows searched: a study with a sample asks its sample."""

    @wraps(find)
    def ask(study: "Study") -> Answer:
        sample = study._sample
        answer: Answer = find(study) if sample is study else getattr(sample, find.__name__)
        return answer

    return cached_property(ask)


@dataclass(frozen=True)
class GivenColumns:
    """What a feature is compared given."""

    columns: tuple[int, ...]
    same_as: int | None = None
    """The feature that it copies, if it does."""
    stand_ins: tuple[int, ...] = ()
    """Features that would predict nearly as well in its place in the deciding set."""

    def item(self, feature: int) -> Item:
        """The feature with these columns, to be counted and tested."""
        return feature, tuple(sorted(self.columns))


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
    table: EncodedTable

    def __init__(
        self,
        X: Any,
        y: Any,
        *,
        duplicates: Duplicates = "count",
        n_jobs: int | None = None,
        **columns: Unpack[ColumnOptions],
    ) -> None:
        rules = rules_of(columns, Study)
        table = encode_outside(X, y, rules) if is_outside(X) else encode_table(X, y, rules)
        self._set_table(table, duplicates, n_jobs)
        options = {**asked_of(columns), "duplicates": (duplicates, "count")}
        self.call = written_call("Study", ["X", repr(y) if isinstance(y, str) else "y"], options)

    @classmethod
    def of_table(
        cls,
        table: EncodedTable,
        *,
        duplicates: Duplicates = "count",
        n_jobs: int | None = None,
    ) -> Self:
        """The study of an encoded table."""
        study = cls.__new__(cls)
        study._set_table(table, duplicates, n_jobs)
        return study

    def _set_table(self, table: EncodedTable, duplicates: Duplicates, n_jobs: int | None) -> None:
        """Begin the study of an encoded table."""
        coded = table.coded
        self._begin(table, duplicates, n_jobs)
        self.rows = collapse_rows(coded) if duplicates == "once" else coded
        if table.groups is not None:
            self._more_codes[len(self.owner)] = table.groups.astype(code_type(int(table.groups.max()) + 1))
        self._fine_codes, self._named = table.fine, table if table.has_order else None
        self.n_rows = coded.n_rows

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

    def given(self, given: Asked) -> list[GivenColumns]:
        """What each feature is compared given; tests every feature that is not a copy."""
        contexts = [self.given_of(i, given) for i in range(self.n_features)]
        self.test(context.item(i) for i, context in enumerate(contexts) if context.same_as is None)
        return contexts

    def given_of(self, feature: int, given: Asked) -> GivenColumns:
        """What one feature is compared given."""
        if given == "auto":
            stand_ins = self.searched.stand_ins.get(feature, ())
            return replace(self._beside(feature, self.deciding), stand_ins=stand_ins)
        return GivenColumns(tuple(c for c in self.positions_of(given) if c != feature))

    def positions_of(self, given: Asked) -> Sequence[int]:
        """Positions of all features, or of those named."""
        return range(self.n_features) if isinstance(given, str) else [self.table.find(name) for name in given]

    def copied(self, feature: int, columns: Sequence[int]) -> int | None:
        """The feature among those of some columns that a feature copies, if there is one."""
        left = {c: self.entropy_left(feature, c) for c in columns if int(self.owner[c]) != feature}
        least = min(left, key=lambda c: left[c], default=None)
        return int(self.owner[least]) if least is not None and left[least] <= COPY else None

    @of_the_sample
    def deciding(self) -> tuple[int, ...]:
        """The columns of the deciding set, including other features that are significant given it."""
        members = list(self.searched.columns)
        while len(members) < min(MOST_MEMBERS, len(self.decider.varying)):
            gains = self.decider.further(members, self.searched.together)
            tried = sorted(gains, key=lambda i: (-round(gains[i].gain, 6), int(self.rank[i])))[:MOST_TRIED]
            p = np.ones(self.n_features)
            contexts = {i: self._beside(i, members) for i in [*tried, *(int(self.owner[c]) for c in members)]}
            testable = {i: context for i, context in contexts.items() if context.same_as is None}
            self.test(context.item(i) for i, context in testable.items())
            for i, context in testable.items():
                p[i] = np.nan_to_num(self.p_value(i, context.columns), nan=1.0)
            adjusted = adjust_for_features(p)
            new = [i for i in tried if adjusted[i] <= LEVEL and self.decider.has_room([*members, i])]
            if not new:
                break
            members.append(min(new, key=lambda i: (round(math.log(p[i]), 6), int(self.rank[i]))))
        return tuple(members)

    def _beside(self, feature: int, members: Sequence[int]) -> GivenColumns:
        """What a feature is compared given if the deciding set has these members: the others, or what it copies."""
        same_as = self.copied(feature, members)
        if same_as is not None:
            return GivenColumns((), same_as)
        given = [c for c in members if int(self.owner[c]) != feature]
        return GivenColumns(tuple(given if len(given) < len(members) else self._finer(feature, given)))

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
                more, fewer = (explained_by_chance(rows, feature, int(n_bins[c])) for c in (finer, column))
                is_tied = left[column] - self.entropy_left(feature, finer) > TIED * (more - fewer)
                changed = [finer if c == column else c for c in given]
                if is_tied and self.decider.has_room(changed):
                    given = changed
                    break
        return given

    def entropy_left(self, feature: int, column: int) -> float:
        """Conditional entropy of a feature given a column, as a share of its entropy, on the rows searched."""
        sample = self._sample
        shares = sample.once(("entropy left", column), lambda: remaining_entropies(sample.rows, sample.codes(column)))
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
        sample._begin(self.table, self.duplicates, self.n_jobs)
        sample.rows = self.rows.take(chosen)
        n_columns = len(self.owner) if self.unit is None else self.unit + 1
        sample._more_codes = {c: self.codes(c)[chosen] for c in range(self.n_features, n_columns)}
        return sample

    @of_the_sample
    def decider(self) -> Decider:
        """The search for the deciding set."""
        # not self below: a study must not refer to itself
        n_jobs, searched, n_bins, rank = self.n_jobs, self.rows, self.table.n_bins, self.rank
        rows = self.rows_of(range(len(self.owner)))

        def by_relaxed_index() -> Positions:
            from analogical.estimate.radius import relaxed_scores  # slow to import, and few tables need it

            few_rows = searched.take(evenly(len(searched.codes), INDEX_ROWS))
            scores = np.nan_to_num(relaxed_scores(few_rows, n_bins=n_bins, n_jobs=n_jobs), nan=-1.0)
            return np.lexsort((rank, -scores.round(6)))

        return Decider(Voting(rows, n_threads_for(n_jobs, rows.codes.size)), self.owner, by_relaxed_index, self.rank)

    @of_the_sample
    def searched(self) -> Deciding:
        """The deciding set as the search found it, with the gain of each member."""
        return self.decider.decide()
