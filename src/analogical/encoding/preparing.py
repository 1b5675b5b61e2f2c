"""From encoded columns to features: ids are set aside, missing cells get their place, numbers their bins."""

from dataclasses import dataclass
from typing import Any

import numpy as np

from analogical._checks import brief
from analogical._types import Bools, Ints, Note, NoteKind
from analogical.encoding.binning import BinRule
from analogical.encoding.choosing import listing
from analogical.encoding.columns import MISSING, Column
from analogical.encoding.treatment import Treatment, is_time
from analogical.errors import InputError

__all__ = ["Prepared", "prepare"]


@dataclass(frozen=True)
class Prepared:
    """Columns without a missing cell, by position, and what was done to them."""

    columns: dict[int, Column]
    weights: Ints | None
    edges: dict[int, tuple[Any, ...]]
    """Of the columns that were binned."""
    n_missing: dict[int, int]
    """Missing cells of the columns that have some."""
    rows: Bools | None
    """Which rows are left; None means all."""
    notes: tuple[Note, ...]


def prepare(
    columns: dict[int, Column],
    names: dict[int, str],
    weights: Ints | None,
    treatment: Treatment,
    *,
    wanted: set[int],
    bins_of: dict[int, BinRule],
) -> Prepared:
    """Treat every column as the user wants.

    ``wanted`` are columns that are never set aside, ``bins_of`` the rules of single columns.
    """
    notes: list[Note] = []
    ids = _ids(columns, names, weights, treatment, wanted | bins_of.keys())
    if ids:
        notes.append(Note("set-aside", tuple(names[p] for p in ids)))
        columns = {p: column for p, column in columns.items() if p not in ids}
    n_missing = {p: n for p, column in columns.items() if (n := _count_missing(column))}
    rows = None
    if n_missing:
        if treatment.missing == "error":
            raise _missing_error(columns, names, n_missing)
        if treatment.missing == "drop":
            rows = _complete_rows([columns[p] for p in n_missing])
            columns = {p: column.take(rows) for p, column in columns.items()}
            weights = None if weights is None else weights[rows]
            dropped = (int((~rows).sum()), len(rows))
            notes.append(Note("missing-dropped", tuple(names[p] for p in n_missing), dropped))
            n_missing = {}
        else:
            notes.append(Note("missing-value", tuple(names[p] for p in n_missing), tuple(n_missing.values())))
    before = columns
    columns, edges = _bin(columns, names, weights, treatment, bins_of)
    for kind, places in _by_kind(edges, before).items():
        n_bins = tuple(len(columns[p].values) for p in places)
        notes.append(Note(kind, tuple(names[p] for p in places), n_bins, tuple(edges[p] for p in places)))
    if n_missing:
        columns = {p: _missing_as_value(column) if p in n_missing else column for p, column in columns.items()}
    return Prepared(columns, weights, edges, n_missing, rows, tuple(notes))


def _ids(
    columns: dict[int, Column], names: dict[int, str], weights: Ints | None, treatment: Treatment, wanted: set[int]
) -> set[int]:
    """Columns with another value in nearly every row; none if there is no other column."""
    if treatment.ids == "keep":
        return set()
    ids = {p for p, column in columns.items() if p not in wanted and treatment.is_id(column, names[p], weights)}
    return ids if len(ids) < len(columns) else set()


def _count_missing(column: Column) -> int:
    """Missing cells; only signed codes can hold one."""
    return int(np.count_nonzero(column.codes < 0)) if column.codes.dtype.kind == "i" else 0


def _missing_error(columns: dict[int, Column], names: dict[int, str], n_missing: dict[int, int]) -> InputError:
    """All columns with missing cells together."""
    found = [
        f"{names[p]!r} ({n:,} of {len(columns[p].codes):,} rows, first in row {columns[p].is_missing().argmax()})"
        for p, n in n_missing.items()
    ]
    return InputError(
        f'Missing values (NaN or None) in {listing(found)}; take them as a value of their own with missing="value", or'
        ' leave out their rows with missing="drop" (--missing drop).'
    )


def _complete_rows(columns: list[Column]) -> Bools:
    """Rows without a missing cell."""
    rows = np.ones(len(columns[0].codes), np.bool_)
    for column in columns:
        rows &= ~column.is_missing()
    if not rows.any():
        raise InputError(
            'Every row has a missing value, so missing="drop" leaves none; leave out the columns that are mostly empty,'
            ' or use missing="value".'
        )
    return rows


def _bin(
    columns: dict[int, Column],
    names: dict[int, str],
    weights: Ints | None,
    treatment: Treatment,
    bins_of: dict[int, BinRule],
) -> tuple[dict[int, Column], dict[int, tuple[Any, ...]]]:
    """The columns with their numbers in bins, and the edges of those that were binned."""
    done, edges = {}, {}
    for p, column in columns.items():
        rule = bins_of.get(p)
        if rule is not None and rule.method != "none" and column.kind == "category":
            raise InputError(f"bins names {names[p]!r}, which does not hold numbers or dates; leave it out of bins.")
        binned = treatment.group(column, rule, weights, f"feature {brief(names[p])}")
        done[p] = column if binned is None else binned.column
        if binned is not None:
            edges[p] = binned.edges
    return done, edges


def _by_kind(edges: dict[int, tuple[Any, ...]], columns: dict[int, Column]) -> dict[NoteKind, list[int]]:
    """The columns that were binned, numbers and times apart."""
    times = [p for p in edges if is_time(columns[p])]
    numbers = [p for p in edges if p not in times]
    kinds: dict[NoteKind, list[int]] = {"binned": numbers, "binned-time": times}
    return {kind: places for kind, places in kinds.items() if places}


def _missing_as_value(column: Column) -> Column:
    """Missing cells as the last value, None."""
    codes = np.where(column.codes == MISSING, len(column.values), column.codes)
    return Column(codes, [*column.values, None], column.kind)
