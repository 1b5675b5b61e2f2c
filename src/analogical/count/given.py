"""Contexts of many features given the same columns, in few passes over the rows.

Rows that are equal on the given columns are in one context of every other feature. Contexts are numbered once. Then
rows are counted by (context, value, label) for each feature, for many features at a time where these tables are small.
Equal contexts are not merged, so that their values on the given columns stay known.
"""

import math
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from functools import partial
from typing import Any

import numpy as np
from numpy.typing import NDArray

from analogical._types import Codes, Floats, Ints
from analogical.count.contexts import Stack, contexts_of_cells, refuse_too_many_rows
from analogical.count.groups import AT_ONCE, CodedRows, are_few, count_keys, number_groups
from analogical.count.threads import run_tasks

ENTRIES = 2**21
"""Entries of the tables that are counted at once, to limit memory."""


@dataclass(frozen=True)
class RowContexts:
    """The context of each row: its values on some columns."""

    of_row: NDArray[Any]
    """Context of each row; contexts are numbered from 0 without gaps."""
    codes: NDArray[Any]
    """Values of each context, of shape (contexts, columns)."""

    @classmethod
    def by(cls, rows: CodedRows, columns: Iterable[int]) -> "RowContexts":
        """The contexts of rows on some of their columns."""
        return cls.of([rows.codes[:, column] for column in columns], len(rows.codes))

    @classmethod
    def of(cls, columns: Sequence[Codes], n_rows: int) -> "RowContexts":
        """The contexts of rows with the codes of these columns; one context if there is no column."""
        sizes = [int(column.max(initial=0)) + 1 for column in columns]
        n_possible = math.prod(sizes)
        is_number = n_possible <= 2**62  # then the codes can be computed from a key
        if is_number:
            keys: NDArray[Any] = np.zeros(n_rows, np.int32 if n_possible < 2**31 else np.int64)
            for column, size in zip(columns, sizes, strict=True):
                keys *= size
                keys += column.astype(keys.dtype)
        else:
            keys = number_groups(np.column_stack(columns), np.array(sizes), range(len(sizes))).astype(np.int64)
            n_possible = n_rows
        if are_few(n_possible, n_rows):
            is_held = np.zeros(n_possible, np.bool_)
            is_held[keys] = True
            held = np.flatnonzero(is_held)
            of_row = keys if len(held) == n_possible else (np.cumsum(is_held, dtype=np.int32) - np.int32(1))[keys]
        else:
            held, of_row = np.unique(keys, return_inverse=True)
        codes = np.zeros((len(held), len(columns)), np.int64)
        varying = [place for place, size in enumerate(sizes) if size > 1]  # NumPy allows 64 dimensions
        if is_number and varying:
            codes[:, varying] = np.column_stack(np.unravel_index(held, [sizes[place] for place in varying]))
        elif varying:
            a_row = np.zeros(len(held), np.intp)
            a_row[of_row] = np.arange(n_rows)
            for place, column in enumerate(columns):
                codes[:, place] = column[a_row]
        return cls(of_row, codes)

    def merged(self, rows: CodedRows, n_values: Ints) -> CodedRows:
        """The distinct rows by these columns and the label, with their counts."""
        keys = self.of_row.astype(np.int64) * rows.n_labels
        keys += rows.labels.astype(np.int64)
        sizes = np.bincount(keys, rows.weights)
        held = np.flatnonzero(sizes)
        context, label = np.divmod(held, rows.n_labels)
        return CodedRows(self.codes[context], label, n_values, rows.n_labels, sizes[held].astype(np.int64))

    def __len__(self) -> int:
        return len(self.codes)


def count_given(
    rows: CodedRows, given: RowContexts, features: Sequence[int], n_threads: int
) -> Iterator[tuple[list[int], Stack]]:
    """The contexts of features given the columns by which rows are divided; some features at a time."""
    for block in _blocks(rows, given, features):
        yield block, _stacked(rows, given, block, n_threads)


def _stacked(rows: CodedRows, given: RowContexts, block: list[int], n_threads: int) -> Stack:
    """The contexts of a block of features."""
    refuse_too_many_rows(len(rows.codes) if rows.weights is None else float(rows.weights.sum(dtype=np.float64)))
    n_values = int(rows.n_values[block[0]])
    size = len(given) * n_values * rows.n_labels
    if are_few(size, len(rows.codes)):
        tables = _tables(rows, given, block, n_threads).ravel()
        places = np.flatnonzero(tables)
        sizes = tables[places]
    else:  # one feature; the entries that are not zero, without making the table
        keys = given.of_row.astype(np.int64) * n_values
        keys += rows.codes[:, block[0]].astype(np.int64)
        keys *= rows.n_labels
        keys += rows.labels.astype(np.int64)
        places, sizes = count_keys(keys, size, rows.weights)
    above, labels = np.divmod(places, rows.n_labels)
    context, values = np.divmod(above, n_values)
    contexts, numbers = contexts_of_cells(context, values, labels, sizes)
    feature, number = np.divmod(numbers, len(given))
    return Stack(contexts, feature, len(block), given.codes[number])


def tables_given(rows: CodedRows, given: RowContexts, features: Iterable[int]) -> Iterator[tuple[list[int], Ints]]:
    """Counts of shape (features, contexts, values, labels), for some features at a time."""
    for block in _blocks(rows, given, features):
        yield block, _tables(rows, given, block, 1)


def count_one(rows: CodedRows, columns: Sequence[int], feature: int, given: Sequence[int]) -> Stack:
    """The contexts of one feature given some columns; ``columns`` are the columns of the rows."""
    place = {column: k for k, column in enumerate(columns)}
    return _stacked(rows, RowContexts.by(rows, (place[column] for column in given)), [place[feature]], 1)


def _blocks(rows: CodedRows, given: RowContexts, features: Iterable[int]) -> Iterator[list[int]]:
    """Features with equally many values, as many as are counted at once; one if its table has many entries per row."""
    alike: dict[int, list[int]] = {}
    for feature in sorted(features):
        alike.setdefault(int(rows.n_values[feature]), []).append(feature)
    for n_values, some in alike.items():
        size = len(given) * n_values * rows.n_labels
        at_once = max(ENTRIES // size, 1) if are_few(size, len(rows.codes)) else 1
        yield from (some[start : start + at_once] for start in range(0, len(some), at_once))


def _tables(rows: CodedRows, given: RowContexts, block: list[int], n_threads: int) -> Ints:
    """Counts of shape (features, contexts, values, labels): rows by context, code and label, column by column."""
    n_rows, n_values, n_labels = len(rows.codes), int(rows.n_values[block[0]]), rows.n_labels
    size = len(given) * n_values * n_labels
    n_columns = min(max(AT_ONCE // n_rows, 1), len(block))
    n_parts = max(min(n_threads, n_rows // AT_ONCE), 1)
    tables = np.zeros((n_parts, len(block), size), np.int64)

    def count(part: int) -> None:
        stop = n_rows * (part + 1) // n_parts
        for start in range(n_rows * part // n_parts, stop, AT_ONCE):
            some = slice(start, min(start + AT_ONCE, stop))
            keys = given.of_row[some].astype(np.int64) * (n_values * n_labels)
            keys += rows.labels[some].astype(np.int64)
            weights = None if rows.weights is None else rows.weights[some]
            for first in range(0, len(block), n_columns):
                codes = rows.codes[some][:, block[first : first + n_columns]]
                places = np.multiply(codes, n_labels, dtype=np.int64)  # has the memory order of the codes
                places += keys[:, None]
                if n_columns > 1:
                    places += np.arange(0, codes.shape[1] * size, size)
                often: Floats | None = None
                if weights is not None:
                    often = np.empty_like(places, np.float64)
                    often[...] = weights[:, None]
                    often = often.ravel(order="K")  # sums of weights are below 2**53
                found = np.bincount(places.ravel(order="K"), often, minlength=codes.shape[1] * size)
                tables[part, first : first + n_columns] += found.astype(np.int64, copy=False).reshape(-1, size)

    run_tasks([partial(count, part) for part in range(n_parts)], n_parts)
    counts = tables[0] if n_parts == 1 else np.asarray(tables.sum(axis=0))
    return counts.reshape(len(block), len(given), n_values, n_labels)
