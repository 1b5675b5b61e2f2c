"""The rows that are compared for one feature, and how they are named."""

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np

from analogical._types import Bools, CodedRows
from analogical.count.contexts import Contexts
from analogical.count.listing import ContextRows, find_pairs
from analogical.errors import InputError
from analogical.study import Context, Given, Study, asked_about, check_given, study_of
from analogical.table.binning import name_bins
from analogical.table.choosing import as_list
from analogical.table.columns import plain
from analogical.table.rules import ColumnOptions

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
        return None if self.context.same_as is None else self.study.table.names[self.context.same_as]

    @cached_property
    def contexts(self) -> Contexts:
        """Rows by context, value and label."""
        return Contexts.none() if self.same_as is not None else self.study.contexts(self.feature, self.columns)

    @cached_property
    def rows(self) -> CodedRows:
        """All rows, with the feature as their only column."""
        return self.study.rows_of([self.feature])

    def code_of(self, value: Any) -> int:
        """The code of a value of the feature."""
        return [plain(known) for known in self.study.table.columns[self.feature].values].index(value)

    def has_label(self, label: Any) -> Bools:
        """Which rows have a label."""
        return np.asarray(self.rows.labels == self.study.table.classes.index(label))

    @cached_property
    def by_context(self) -> ContextRows:
        """All rows, brought together by context."""
        cells = self.study.cells(tuple(sorted(self.columns)))
        return ContextRows.of(cells.of_row, len(cells))

    def find_pairs(self, limit: int | None, among: Bools | None = None) -> list[tuple[int, int]]:
        """Pairs of rows: changed ones first, in turn from each context; with ``among``, changed ones of those rows."""
        return find_pairs(self.rows, self.by_context, limit, among) if len(self.contexts) and limit != 0 else []


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


def name_contexts(study: Study, columns: Sequence[int], rows: Sequence[int]) -> list[NamedContext]:
    """For each of some rows the names and values of columns."""
    named = zip(study.names_of(columns), columns, strict=True)
    cells = [[(name, cell) for cell in _cells(study, rows, column)] for name, column in named]
    return list(zip(*cells, strict=True)) if cells else [()] * len(rows)


def _cells(study: Study, rows: Sequence[int], column: int) -> Iterator[Any]:
    """What rows hold in a column; of a number in other bins than its own, the range of the bin."""
    if column < study.n_features:
        yield from study.table.cells(rows, column)
        return
    feature, codes = int(study.owner[column]), study.codes(column)
    ends, fine = study.table.columns[feature].fine_ends, study.table.fine[feature]
    known = [np.unique(fine[codes == code]) for code in range(int(codes.max()) + 1)]
    bins = [(some[0], some[-1]) for some in known if some[0] < len(ends)]  # the last one is that of missing cells
    names = name_bins([(ends[low][0], ends[high][1]) for low, high in bins])
    yield from (names[code] if code < len(names) else None for code in codes[list(rows)].tolist())
