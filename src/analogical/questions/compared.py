"""The rows that are compared for one feature, and their values as the user knows them."""

from collections.abc import Callable, Hashable, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np

from analogical._types import Bools, CodedRows
from analogical.columns.binning import name_bins
from analogical.columns.columns import plain
from analogical.columns.roles import as_list
from analogical.columns.rules import ColumnOptions
from analogical.count.contexts import Contexts
from analogical.count.listing import ListedRows, find_pairs
from analogical.errors import InputError
from analogical.study import Asked, Given, GivenColumns, Study, asked_about, check_given, study_of

__all__ = ["ComparedRows", "ExampleRows", "NamedContext", "compare_rows", "name_contexts", "name_examples"]

NamedContext = tuple[tuple[str, Any], ...]
"""Names and values of the given features."""


@dataclass(frozen=True)
class ComparedRows:
    """The rows that are compared for one feature, grouped once for several questions."""

    study: Study
    feature: int
    context: GivenColumns

    @classmethod
    def of(cls, study: Study, feature: int, given: Asked = "auto") -> "ComparedRows":
        """The rows of a feature given the deciding set, all other features or those named."""
        return cls(study, feature, study.given_of(feature, given))

    @property
    def columns(self) -> tuple[int, ...]:
        """The given columns."""
        return self.context.columns

    @property
    def given(self) -> tuple[str, ...]:
        """The names of the given features."""
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
        """The rows in the order in which they are listed, with the feature as their only column."""
        return self.study.listed([self.feature], self.columns)

    @property
    def rows(self) -> CodedRows:
        """All rows, with the feature as their only column."""
        return self.listed.rows

    def has_value(self, value: Any) -> Bools:
        """Which rows have a value of the feature."""
        values = [plain(known) for known in self.study.table.columns[self.feature].values]
        return np.asarray(self.rows.codes[:, 0] == values.index(value))

    def has_label(self, label: Any) -> Bools:
        """Which rows have a label."""
        return np.asarray(self.rows.labels == self.study.table.classes.index(label))

    def find_pairs(self, limit: int | None, among: Bools | None = None) -> list[tuple[int, int]]:
        """Pairs of rows: changed ones first, in turn from each context; with ``among``, changed ones of those rows."""
        return find_pairs(self.listed, limit, among) if len(self.contexts) and limit != 0 else []


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
    asked = check_given(given)
    named = () if isinstance(asked, str) else asked
    study = study_of(verb, X, y, columns, without=without, keep=[feature, *named])
    return ComparedRows.of(study, study.table.find(feature), asked)


@dataclass(frozen=True)
class ExampleRows:
    """Rows that agree on the given features: two that differ on one feature, or the four rows of a square.

    Examples
    --------
    >>> from analogical import evidence, load_table
    >>> first = evidence(load_table("titanic").to_frame(), "survived", "sex", weights="count")[0]
    >>> first.context, first.values, first.labels, first.weight
    ((('class', '1st'), ('age', 'adult')), ('male', 'female'), ('no', 'yes'), 16520)
    """

    DERIVED = ("changed",)

    rows: tuple[int, ...] | None
    """Their positions in the table, counted from 0; None on Spark, where rows have no order."""
    index: tuple[Hashable, ...]
    """Their row labels, if the dataframe has an index; otherwise the positions again; empty on Spark."""
    context: NamedContext
    """Names and values of the given features, on which they agree."""
    values: tuple[Any, ...]
    """The feature's value in each row; the two values in each row of a square."""
    labels: tuple[Any, ...]
    weight: int
    """Pairs or squares that these rows represent: the product of their weights."""

    @property
    def changed(self) -> bool:
        """Whether the labels differ."""
        return any(label != self.labels[0] for label in self.labels)


def name_examples(
    study: Study,
    features: Sequence[int],
    given: Sequence[int],
    listed: ListedRows,
    examples: Sequence[Sequence[int]],
    weights: Sequence[int],
) -> tuple[ExampleRows, ...]:
    """Examples of some listed rows each, with the user's values of the features and of the given columns."""
    wanted, table, coded = sorted({row for rows in examples for row in rows}), study.table, listed.rows
    place = {row: k for k, row in enumerate(wanted)}
    contexts = name_contexts(study, given, listed, listed.context[wanted].tolist())
    positions = None if listed.positions is None else listed.positions[wanted].tolist()
    names = [] if positions is None else table.row_names(wanted)
    columns = [table.named(i, coded.codes[wanted, k].tolist()) for k, i in enumerate(features)]
    values = columns[0] if len(columns) == 1 else list(zip(*columns, strict=True))
    labels = [table.classes[label] for label in coded.labels[wanted].tolist()]
    found = []
    for rows, weight in zip(examples, weights, strict=True):
        own = [place[row] for row in rows]
        found.append(
            ExampleRows(
                rows=None if positions is None else tuple(positions[k] for k in own),
                index=() if positions is None else tuple(names[k] for k in own),
                context=contexts[own[0]],
                values=tuple(values[k] for k in own),
                labels=tuple(labels[k] for k in own),
                weight=weight,
            )
        )
    return tuple(found)


def name_contexts(
    study: Study, given: Sequence[int], listed: ListedRows, contexts: Sequence[int]
) -> list[NamedContext]:
    """For each of some contexts of listed rows the names and values of the given columns."""
    codes = listed.given[list(contexts)]
    place = {column: k for k, column in enumerate(sorted(given))}
    cells = [
        [(name, value) for value in _values_of(study, column, codes[:, place[column]].tolist())]
        for name, column in zip(study.names_of(given), given, strict=True)
    ]
    return list(zip(*cells, strict=True)) if cells else [()] * len(contexts)


def _values_of(study: Study, column: int, codes: Sequence[int]) -> list[Any]:
    """The values of codes of a column; of a number in other bins than its own, the range of the bin."""
    if column < study.n_features:
        return study.table.named(column, codes)
    ends, bin_of = study.table.columns[int(study.owner[column])].fine_ends, study.bins_of_fine(column)
    fine_bins = [np.flatnonzero(bin_of == code) for code in range(int(bin_of.max()) + 1)]
    ranges = [(fine[0], fine[-1]) for fine in fine_bins if fine[0] < len(ends)]  # the last bin is that of missing cells
    names = name_bins([(ends[low][0], ends[high][1]) for low, high in ranges])
    return [names[code] if code < len(names) else None for code in codes]
