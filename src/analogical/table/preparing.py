"""From columns to features, one at a time: ids are set aside, missing cells get their place, numbers their bins."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from analogical._checks import brief
from analogical._types import Bools, Codes, Ints, Note, NoteKind
from analogical.errors import InputError
from analogical.estimate.leaks import tell_by_cut
from analogical.table.binning import BinRule, fine_codes, ranks_of
from analogical.table.choosing import Chosen, listing, name_of
from analogical.table.columns import Column, plain
from analogical.table.dates import parts_of
from analogical.table.folding import Folded, fold_notes, fold_values
from analogical.table.integers import code_type
from analogical.table.reading import ChosenColumns
from analogical.table.rules import Rules, is_time, looks_like_unit

__all__ = [
    "NO_COMPLETE_ROW",
    "Gaps",
    "Prepared",
    "Preparing",
    "TreatedColumn",
    "missing_values",
    "prepare",
    "treat_column",
]

NO_COMPLETE_ROW = (
    'Every row has a missing value, so missing="drop" leaves none; leave out the columns that are mostly empty, or use'
    ' missing="value".'
)


@dataclass(frozen=True)
class TreatedColumn:
    """A feature: a column without a missing cell, its numbers in bins where they are to be."""

    codes: NDArray[Any]
    """Those of the column itself, if nothing had to be done to it."""
    values: Sequence[Any]
    """``values[c]`` is what code c stands for; None, the last one, for missing cells."""
    edges: tuple[Any, ...] | None
    """Where the bins but the first begin; None if every value is a category."""
    n_missing: int
    holds_times: bool
    """Whether it was dates or times that were binned."""
    fine: NDArray[np.uint8] | None = None
    """The numbers in many more bins; None for categories and for bins with edges of the user's own."""
    fine_ends: tuple[tuple[Any, Any], ...] = ()
    """The lowest and the highest number in each of these."""
    folded: Folded | None = None
    """Spellings of one value that were merged, or could be; None if there are none."""


def treat_column(
    column: Column, name: str, weights: Ints | None, rules: Rules, rule: BinRule | None = None
) -> TreatedColumn:
    """One column as the user wants it; ``rule`` is the user's own for it."""
    if rule is not None and rule.method != "none" and column.kind == "category":
        raise InputError(f"bins names {name!r}, which does not hold numbers or dates; leave it out of bins.")
    n_missing = count_missing(column)
    folded = fold_values(column, weights, rules.fold_case)
    column = folded.column
    binned = rules.group(column, rule, weights, f"feature {brief(name)}")
    done = column if binned is None else binned.column
    codes, values = done.codes, done.values
    if not isinstance(values, list | range):
        values = [plain(value) for value in values]  # of a column that was read in batches
    if n_missing:
        codes, values = done.recoded(_with_gaps_last(len(values))), [*values, None]
    edges = None if binned is None else binned.edges
    fine = None
    fine_ends: tuple[tuple[Any, Any], ...] = ()
    if binned is not None and (rule or rules.bin_rule).method == "quantiles":
        fine, fine_ends = fine_codes(column, weights)
    holds_times = edges is not None and is_time(column)
    spellings = folded._replace(column=None) if folded.done or folded.possible else None
    return TreatedColumn(codes, values, edges, n_missing, holds_times, fine, fine_ends, spellings)


@dataclass(frozen=True)
class Prepared:
    """All features side by side, and what was done to them, by position."""

    codes: Codes
    columns: dict[int, TreatedColumn]
    """Without their codes."""
    parts: dict[str, TreatedColumn]
    """Parts of dates by their names, without their codes, which are beside those of the columns."""
    weights: Ints | None
    rows: Bools | None
    """Which rows are left; None means all."""
    notes: tuple[Note, ...]
    cuts: dict[int, float]
    """Numbers of which the label is a cut, by place, with the share of the rows that one cut tells right."""

    def all_columns(self) -> list[TreatedColumn]:
        """Columns and parts, in the order of the codes."""
        return [*self.columns.values(), *self.parts.values()]


def prepare(
    columns: ChosenColumns,
    weights: Ints | None,
    rules: Rules,
    *,
    wanted: set[int],
    bins_of: dict[int, BinRule],
    features: Chosen,
    labels: Codes | None = None,
    look_for_units: bool = False,
) -> Prepared:
    """Treat every column as the user wants.

    ``wanted`` are columns that are never set aside, ``bins_of`` the rules of single columns; ``features`` says which
    parts of dates were named. With ``labels`` it is looked for numbers of which the label is a cut. ``look_for_units``
    asks for a note on a column that could be groups.
    """
    work = _RowsHere(columns, weights, rules, wanted, bins_of, features, labels)
    work.treat_all(look_for_units=look_for_units)
    return work.done()


class Preparing:
    """The columns on their way to features: what is done to each, and in which order it is said.

    Where the rows lie is known to a subclass, which loads columns, counts their missing cells and keeps their codes.
    """

    def __init__(
        self,
        names: dict[int, str],
        rules: Rules,
        wanted: set[int],
        bins_of: dict[int, BinRule],
        features: Chosen,
    ) -> None:
        self.names = names
        self.rules = rules
        self.wanted = wanted | bins_of.keys()
        self.bins_of = bins_of
        self.features = set(features.columns)
        self.named_parts = features.named_parts
        self.treated: dict[int, TreatedColumn] = {}
        self.parts: dict[str, TreatedColumn] = {}
        """Parts of dates by their names."""
        self.notes: list[Note] = []
        self.units: dict[int, tuple[int, int]] = {}
        """Columns that look like names of units, with how many there are and about how many rows each has."""

    def look(self, position: int) -> Column:
        """A column that is going to be loaded as well."""
        return self.load(position)

    def load(self, position: int) -> Column:
        """A column; once rows were left out, on the rows that are left."""
        raise NotImplementedError

    def weights_of(self, position: int) -> Ints | None:
        """How many rows each row of a column stands for."""
        raise NotImplementedError

    def gaps(self) -> "Gaps":
        """A count of missing cells."""
        raise NotImplementedError

    def drop_rows(self, gaps: "Gaps") -> tuple[int, int]:
        """Leave out the rows with missing cells; how many these are, and of how many."""
        raise NotImplementedError

    def taken_names(self) -> set[str]:
        """Names that no part of a date may have."""
        raise NotImplementedError

    def keep(self, position: int, column: Column, treated: TreatedColumn) -> None:
        """One more feature that is a column."""
        raise NotImplementedError

    def treat_all(self, *, look_for_units: bool) -> None:
        """Treat all columns as the user wants."""
        if self.rules.missing == "drop":
            self.leave_out_rows()
        else:
            self.treat_as_they_are()
        if look_for_units:
            self.name_units()
        kinds: tuple[NoteKind, ...] = ("binned", "binned-time", "binned-in-steps")
        for kind in kinds:
            some = {self.names[p]: t for p, t in self.treated.items() if self.bin_note(p, t) == kind}
            self.notes += note_bins(kind, some)
        if self.parts:
            self.notes.append(Note("date-parts", tuple(self.parts)))
        self.notes += fold_notes({self.names[p]: one.folded for p, one in self.treated.items() if one.folded})

    def bin_note(self, position: int, treated: TreatedColumn) -> NoteKind:  # noqa: ARG002
        """What is to be said of a column if it was binned."""
        return "binned-time" if treated.holds_times else "binned"

    def is_id(self, position: int, column: Column) -> bool:
        """Whether a column is to be set aside."""
        if self.rules.ids == "keep" or position in self.wanted or position not in self.features:
            return False
        return self.rules.is_id(column, self.names[position], self.weights_of(position))

    def leave_out_rows(self) -> None:
        """Look at all columns for missing cells first, and treat them on the rows that have none."""
        ids, others = self.gaps(), self.gaps()
        aside: set[int] = set()
        for position in self.names:
            column = self.look(position)
            is_id = self.is_id(position, column)
            (ids if is_id and not self.find_parts(position, column) else others).add(position, column)
            if is_id:
                aside.add(position)
                self.note_unit(position, column)
        if not others.seen:  # there is no other column
            ids, others, aside = others, ids, set()
        self.set_aside(sorted(aside))
        if others.n_missing:
            dropped = self.drop_rows(others)
            self.notes.append(Note("missing-dropped", tuple(self.names[p] for p in others.n_missing), dropped))
        for position in others.seen:
            self.add(position, self.load(position), is_id=position in aside)

    def treat_as_they_are(self) -> None:
        """Treat all columns, of which the ids are set aside; none of them if there is no other column."""
        ids: list[int] = []
        gaps = self.gaps()
        problem: InputError | None = None
        for position in self.names:
            column = self.load(position)
            is_id = self.is_id(position, column)
            if is_id:
                ids.append(position)
                self.note_unit(position, column)
                if not self.find_parts(position, column):
                    continue
            gaps.add(position, column)
            if problem is None and not (gaps.n_missing and self.rules.missing == "error"):
                try:
                    self.add(position, column, is_id=is_id)
                except InputError as error:  # columns that cannot be read, or that have missing cells, come first
                    problem = error
        if len(ids) == len(self.names) and not self.parts:
            self.wanted = set(ids)
            self.treat_as_they_are()
            return
        self.set_aside(ids)
        if gaps.n_missing and self.rules.missing == "error":
            raise gaps.error(self.names)
        if problem is not None:
            raise problem
        if gaps.n_missing:
            names = tuple(self.names[p] for p in gaps.n_missing)
            self.notes.append(Note("missing-value", names, tuple(gaps.n_missing.values())))

    def set_aside(self, ids: Sequence[int]) -> None:
        """Say which columns are not features."""
        if ids:
            self.notes.append(Note("set-aside", tuple(self.names[p] for p in ids)))

    def add(self, position: int, column: Column, *, is_id: bool) -> None:
        """One more feature, and the parts of dates; of what is set aside, or named by its parts only, these alone."""
        if not is_id and position in self.features:
            self.add_column(position, column)
        treated = self.treated.get(position)
        parts = {} if treated is not None and treated.edges is None else self.find_parts(position, column)
        named = self.named_parts.get(position, set())
        is_asked = self.rules.features is not None
        for part in sorted(named - parts.keys()):
            raise InputError(
                f"{'features' if is_asked else 'ignore'} names {self.names[position] + '.' + part!r}, but"
                f" {brief(self.names[position])} has no {part} to compare: it must hold more dates than max_values, and"
                f" the {part} must vary over two cycles or more."
            )
        for part, cells in parts.items():
            name = f"{self.names[position]}.{part}"
            if (part in named) == is_asked or (treated is not None and is_asked):
                self.add_part(name, position, part, cells)

    def find_parts(self, position: int, column: Column) -> dict[str, Column]:
        """Parts of the dates in a column, but those that the table has a column of that name for."""
        if not self.rules.date_parts or not is_time(column):
            return {}
        taken = self.taken_names()
        parts = self.parts_of(position, column)
        return {p: cells for p, cells in parts.items() if f"{self.names[position]}.{p}" not in taken}

    def parts_of(self, position: int, column: Column) -> dict[str, Column]:  # noqa: ARG002
        """All parts of the dates in a column."""
        return parts_of(column)

    def add_part(self, name: str, position: int, part: str, cells: Column) -> None:  # noqa: ARG002
        """One more feature that is a part of the dates in a column."""
        self.parts[name] = treat_column(cells, name, self.weights_of(position), self.rules)

    def add_column(self, position: int, column: Column) -> None:
        """One more feature that is a column."""
        self.note_unit(position, column)
        name, rule = self.names[position], self.bins_of.get(position)
        self.keep(position, column, treat_column(column, name, self.weights_of(position), self.rules, rule))

    def note_unit(self, position: int, column: Column) -> None:
        """Keep in mind a column that looks like names of units."""
        weights = self.weights_of(position)
        if looks_like_unit(column, self.names[position], weights):
            n_rows = int(column.count_values(weights).sum())
            self.units[position] = len(column.values), round(n_rows / len(column.values))

    def name_units(self) -> None:
        """Point to the column that looks like names of units, the one with most values; nothing is done to it."""
        if self.units:
            position = max(self.units, key=lambda p: self.units[p][0])
            self.notes.append(Note("looks-like-groups", (self.names[position],), self.units[position]))


class _RowsHere(Preparing):
    """Columns in this process, of which only codes and values are kept."""

    def __init__(
        self,
        columns: ChosenColumns,
        weights: Ints | None,
        rules: Rules,
        wanted: set[int],
        bins_of: dict[int, BinRule],
        features: Chosen,
        labels: Codes | None,
    ) -> None:
        super().__init__(columns.names, rules, wanted, bins_of, features)
        self.columns = columns
        self.weights = weights
        self.labels = labels
        self.cuts: dict[int, float] = {}
        self.rows: Bools | None = None
        self.stack = _Stack(columns)

    def look(self, position: int) -> Column:
        """A column that is going to be loaded as well."""
        return self.columns.look(position)

    def load(self, position: int) -> Column:
        """A column, on the rows that are left."""
        column = self.columns.load(position)
        return column if self.rows is None else column.take(self.rows)

    def weights_of(self, position: int) -> Ints | None:  # noqa: ARG002
        """Those of the rows, whatever the column."""
        return self.weights

    def gaps(self) -> "Gaps":
        """A count of missing cells."""
        return Gaps(self.columns.n_rows)

    def drop_rows(self, gaps: "Gaps") -> tuple[int, int]:
        """Leave out the rows with missing cells; how many these are, and of how many."""
        rows = gaps.complete
        if not rows.any():
            raise InputError(NO_COMPLETE_ROW)
        self.rows = rows
        self.weights = None if self.weights is None else self.weights[rows]
        self.labels = None if self.labels is None else self.labels[rows]
        return int((~rows).sum()), len(rows)

    def taken_names(self) -> set[str]:
        """Names of all columns, before and after they were named anew."""
        return {*map(name_of, self.columns.raw.keys), *self.names.values()}

    def keep(self, position: int, column: Column, treated: TreatedColumn) -> None:
        """One more feature, its codes in the stack."""
        if self.labels is not None and treated.edges is not None:
            share = tell_by_cut(ranks_of(column), self.labels, self.weights)
            if share is not None:
                self.cuts[position] = share
        self.stack.add(treated, is_unchanged=treated.codes is column.codes)
        self.treated[position] = replace(treated, codes=np.zeros(0, treated.codes.dtype))

    def done(self) -> Prepared:
        """Everything side by side."""
        if self.parts:
            self.stack.append(list(self.parts.values()))
        cuts = {place: self.cuts[p] for place, p in enumerate(self.treated) if p in self.cuts}
        parts = {name: replace(part, codes=np.zeros(0, part.codes.dtype)) for name, part in self.parts.items()}
        return Prepared(self.stack.matrix(), self.treated, parts, self.weights, self.rows, tuple(self.notes), cuts)


class Gaps:
    """Missing cells of some columns: how many each has, where the first one is, and which rows have none."""

    def __init__(self, n_rows: int) -> None:
        self.seen: list[int] = []
        self.n_missing: dict[int, int] = {}
        self.first: dict[int, int] = {}
        self.complete = np.ones(n_rows, np.bool_)

    def add(self, position: int, column: Column) -> None:
        """One more column."""
        self.seen.append(position)
        n_missing = count_missing(column)
        if n_missing:
            is_missing = column.is_missing()
            self.n_missing[position] = n_missing
            self.first[position] = int(is_missing.argmax())
            self.complete &= ~is_missing

    def error(self, names: dict[int, str]) -> InputError:
        """All columns with missing cells together."""
        found = [
            f"{names[p]!r} ({n:,} of {len(self.complete):,} rows, first in row {self.first[p]})"
            for p, n in self.n_missing.items()
        ]
        return missing_values(found)


def missing_values(found: Sequence[str]) -> InputError:
    """The error that names columns with missing cells."""
    return InputError(
        f"Missing values (NaN or None) in {listing(found)}; count them as a separate value with"
        ' missing="value", or leave out their rows with missing="drop" (--missing drop).'
    )


def note_bins(kind: NoteKind, columns: Mapping[str, TreatedColumn]) -> list[Note]:
    """A note on those of the columns that were binned, if there are any."""
    binned = {name: column for name, column in columns.items() if column.edges is not None}
    n_bins = tuple(len(column.values) - (column.n_missing > 0) for column in binned.values())
    edges = tuple(column.edges or () for column in binned.values())
    return [Note(kind, tuple(binned), n_bins, edges)] if binned else []


class _Stack:
    """Codes of features, put side by side as they come in the narrowest unsigned type that holds all of them."""

    def __init__(self, columns: ChosenColumns) -> None:
        self._whole = columns.matrix
        """Codes of all columns; nothing is copied as long as none was changed or left out."""
        self._n_columns = len(columns.names)
        self._waiting: list[TreatedColumn] = []
        self._codes: Codes | None = None
        self._n_added = 0

    def add(self, treated: TreatedColumn, *, is_unchanged: bool) -> None:
        """Put one more feature beside the others."""
        self._waiting.append(treated)
        if self._whole is None or not is_unchanged:
            self._whole = None
            self._write()

    def append(self, parts: list[TreatedColumn]) -> None:
        """Make room for parts of dates, and put them after all columns."""
        self._whole = None
        self._write()
        self._n_columns = self._n_added + len(parts)
        self._waiting = parts

    def matrix(self) -> Codes:
        """All features."""
        if self._whole is not None and len(self._waiting) == self._n_columns:
            return self._whole
        self._write()
        if self._codes is None:
            raise AssertionError("a table has at least one feature")
        return self._codes[:, : self._n_added]

    def _write(self) -> None:
        for treated in self._waiting:
            kind = np.dtype(code_type(len(treated.values)))
            if self._codes is None or kind.itemsize > self._codes.itemsize or self._n_added == self._codes.shape[1]:
                kind = kind if self._codes is None else np.promote_types(kind, self._codes.dtype)
                wider = np.empty((len(treated.codes), self._n_columns), kind, order="F")
                if self._codes is not None:
                    wider[:, : self._n_added] = self._codes[:, : self._n_added]
                self._codes = wider
            self._codes[:, self._n_added] = treated.codes
            self._n_added += 1
        self._waiting = []


def _with_gaps_last(n_values: int) -> NDArray[Any]:
    """For every code itself, and for missing cells, which read the last entry, the next number."""
    return np.arange(n_values + 1, dtype=code_type(n_values + 1))


def count_missing(column: Column) -> int:
    """Missing cells; only signed codes can hold one."""
    return int(np.count_nonzero(column.codes < 0)) if column.codes.dtype.kind == "i" else 0
