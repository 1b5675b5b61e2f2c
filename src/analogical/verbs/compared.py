"""The rows that are compared for one feature, and how they are named."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np

from analogical._types import Bools, CodedRows
from analogical.arguments import asked_about, check_given, study_of
from analogical.count.contexts import Contexts
from analogical.count.listing import find_pairs
from analogical.errors import InputError
from analogical.study import Context, Given, Study
from analogical.table.binning import name_bins
from analogical.table.choosing import as_list
from analogical.table.columns import plain
from analogical.table.rules import ColumnOptions
from analogical.table_counts import ListedRows

__all__ = ["ComparedRows", "NamedContext", "compare_rows", "name_contexts"]

NamedContext = tuple[tuple[str, Any], ...]
"""Names and values of the given features."""


@dataclass(frozen=True)
class ComparedRows:
    """The rows that are compared for one feature: grouped once, for all that is said of them."""

    study: Study
    feature: int
    context: Context

    @classmethod
    def of(cls, study: Study, feature: int, given: Given = "auto") -> "ComparedRows":
        """The rows of a feature given the deciding set, all other features or those named."""
        return cls(study, feature, study.given_of(feature, check_given(given)))

    @property
    def columns(self) -> tuple[int, ...]:
        """The columns that are given."""
        return self.context.columns

    @property
    def given(self) -> tuple[str, ...]:
        """The names of the features that are given."""
        return self.study.names_of(self.columns)

    @property
    def same_as(self) -> str | None:
        """The feature that this one copies: then no rows are compared."""
        return self.study.name_of(self.context.same_as)

    @cached_property
    def contexts(self) -> Contexts:
        """Rows by context, value and label."""
        return Contexts.none() if self.same_as is not None else self.study.contexts(self.feature, self.columns)

    @cached_property
    def listed(self) -> ListedRows:
        """The rows as they are listed, with the feature as their only column."""
        return self.study.listed([self.feature], self.columns)

    @property
    def rows(self) -> CodedRows:
        """All rows, with the feature as their only column."""
        return self.listed.rows

    def code_of(self, value: Any) -> int:
        """The code of a value of the feature."""
        return [plain(known) for known in self.study.table.columns[self.feature].values].index(value)

    def has_label(self, label: Any) -> Bools:
        """Which rows have a label."""
        return np.asarray(self.rows.labels == self.study.table.classes.index(label))

    def find_pairs(self, limit: int | None, among: Bools | None = None) -> list[tuple[int, int]]:
        """Pairs of rows: changed ones first, in turn from each context; with ``among``, changed ones of those rows."""
        return find_pairs(self.rows, self.listed.by_context, limit, among) if len(self.contexts) and limit != 0 else []


def compare_rows(
    verb: Callable[..., Any],
    X: Any,
    y: Any,
    feature: Any,
    given: Given,
    columns: ColumnOptions,
    *,
    without: Sequence[str] = (),
) -> ComparedRows:
    """The rows of one feature of a table or a study; columns that are named are never set aside as ids."""
    y, feature = asked_about(verb, X, y, feature=feature)
    ignore = columns.get("ignore")
    if ignore is not None and feature in as_list(ignore, "ignore"):
        raise InputError(f"ignore names {feature!r}, the feature in question; leave it out of ignore.")
    named = [] if isinstance(given, str) else list(check_given(given))
    study = study_of(verb, X, y, columns, without=without, keep=[feature, *named])
    return ComparedRows.of(study, study.table.find(feature), given)


def name_contexts(study: Study, columns: Sequence[int], listed: ListedRows, some: Sequence[int]) -> list[NamedContext]:
    """For each of some listed rows the names and values of the columns that they are divided by."""
    codes = listed.cells.codes[listed.cells.of_row[list(some)]]
    place = {column: k for k, column in enumerate(sorted(columns))}
    cells = [
        [(name, cell) for cell in _named(study, column, codes[:, place[column]].tolist())]
        for name, column in zip(study.names_of(columns), columns, strict=True)
    ]
    return list(zip(*cells, strict=True)) if cells else [()] * len(some)


def _named(study: Study, column: int, codes: Sequence[int]) -> list[Any]:
    """What codes of a column stand for; of a number in other bins than its own, the range of the bin."""
    if column < study.n_features:
        return study.table.named(column, codes)
    ends, bin_of = study.table.columns[int(study.owner[column])].fine_ends, study.bins_of_fine(column)
    known = [np.flatnonzero(bin_of == code) for code in range(int(bin_of.max()) + 1)]
    bins = [(some[0], some[-1]) for some in known if some[0] < len(ends)]  # the last one is that of missing cells
    names = name_bins([(ends[low][0], ends[high][1]) for low, high in bins])
    return [names[code] if code < len(names) else None for code in codes]
