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
    "Preparing",
    "RowsHere",
    "TreatedColumn",
    "missing_values",
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
    n_missing = column.n_missing
    folded = fold_values(column, weights, rules.fold_case)
    column = folded.column
    binned = rules.group(column, rule, weights, f"feature {brief(name)}")
    done = column if binned is None else binned.column
    codes, values = done.codes, done.values
    if not isinstance(values, list | range):
        values = [plain(value) for value in values]  # of a column that was read in batches
    if n_missing:
        code_of = np.arange(len(values) + 1, dtype=code_type(len(values) + 1))  # the last one is that of missing cells
        codes, values = done.recoded(code_of), [*values, None]
    edges = None if binned is None else binned.edges
    fine = None
    fine_ends: tuple[tuple[Any, Any], ...] = ()
    if binned is not None and (rule or rules.bin_rule).method == "quantiles":
        fine, fine_ends = fine_codes(column, weights)
    holds_times = edges is not None and is_time(column)
    spellings = folded._replace(column=None) if folded.done or folded.possible else None
    return TreatedColumn(codes, values, edges, n_missing, holds_times, fine, fine_ends, spellings)


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
        """Treat all columns as the user wants; with a note, if asked for, on the one that looks most like units."""
        self.treat_columns()
        if look_for_units and self.units:
            position = max(self.units, key=lambda p: self.units[p][0])
            self.notes.append(Note("looks-like-groups", (self.names[position],), self.units[position]))
        kinds: tuple[NoteKind, ...] = ("binned", "binned-time", "binned-in-steps")
        for kind in kinds:
            some = {self.names[p]: t for p, t in self.treated.items() if self.bin_note(p, t) == kind}
            self.notes += note_bins(kind, some)
        if self.parts:
            self.notes.append(Note("date-parts", tuple(self.parts)))
        self.notes += fold_notes({self.names[p]: one.folded for p, one in self.treated.items() if one.folded})

    def treat_columns(self) -> None:
        """Treat all columns on the rows that are to be kept; ids are set aside, unless there is no other column."""
        drops = self.rules.missing == "drop"  # rows with a gap in any column, so all are looked at first
        ids: list[int] = []
        gaps = self.gaps()
        problem: InputError | None = None
        for position in self.names:
            column = self.look(position) if drops else self.load(position)
            is_id = self.is_id(position, column)
            if is_id:
                ids.append(position)
                self.note_unit(position, column)
                if not self.find_parts(position, column).keys() - self.named_parts.get(position, set()):
                    continue
            gaps.add(position, column)
            if not drops and problem is None and not (gaps.n_missing and self.rules.missing == "error"):
                try:
                    self.add(position, column, is_id=is_id)
                except InputError as error:  # columns that cannot be read, or that have missing cells, come first
                    problem = error
        if not gaps.seen:
            self.wanted = set(ids)
            self.treat_columns()
            return
        if ids:
            self.notes.append(Note("set-aside", tuple(self.names[p] for p in ids)))
        if gaps.n_missing and self.rules.missing == "error":
            raise gaps.error(self.names)
        if problem is not None:
            raise problem
        with_gaps = tuple(self.names[p] for p in gaps.n_missing)
        if gaps.n_missing and drops:
            self.notes.append(Note("missing-dropped", with_gaps, self.drop_rows(gaps)))
        elif gaps.n_missing:
            self.notes.append(Note("missing-value", with_gaps, tuple(gaps.n_missing.values())))
        for position in gaps.seen if drops else ():
            self.add(position, self.load(position), is_id=position in ids)

    def bin_note(self, position: int, treated: TreatedColumn) -> NoteKind:  # noqa: ARG002
        """What is to be said of a column if it was binned."""
        return "binned-time" if treated.holds_times else "binned"

    def is_id(self, position: int, column: Column) -> bool:
        """Whether a column is to be set aside."""
        if self.rules.ids == "keep" or position in self.wanted or position not in self.features:
            return False
        return self.rules.is_id(column, self.names[position], self.weights_of(position))

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


class RowsHere(Preparing):
    """Columns in this process."""

    def __init__(
        self,
        columns: ChosenColumns,
        weights: Ints | None,
        rules: Rules,
        *,
        wanted: set[int],
        bins_of: dict[int, BinRule],
        features: Chosen,
        labels: Codes | None,
    ) -> None:
        super().__init__(columns.names, rules, wanted, bins_of, features)
        self.columns = columns
        self.weights = weights
        self.labels = labels
        """With labels, it is looked for numbers of which the label is a cut."""
        self.cuts: dict[int, float] = {}
        """Such columns, with the share of the rows that one cut tells right."""
        self.rows: Bools | None = None
        """Which rows are left; None means all."""
        self.is_unchanged = True
        """Whether the codes of all columns are those that the table was read with."""

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
        """One more feature that is a column."""
        if self.labels is not None and treated.edges is not None:
            share = tell_by_cut(ranks_of(column), self.labels, self.weights)
            if share is not None:
                self.cuts[position] = share
        self.is_unchanged &= treated.codes is column.codes
        if self.columns.matrix is None:  # all columns wait for each other in the narrowest type
            treated = replace(treated, codes=treated.codes.astype(code_type(len(treated.values)), copy=False))
        self.treated[position] = treated

    def all_features(self) -> list[TreatedColumn]:
        """Columns and parts, in the order of the codes."""
        return [*self.treated.values(), *self.parts.values()]

    def side_by_side(self) -> Codes:
        """The codes of all features; a table that was read as whole numbers is not copied if nothing was done to it."""
        sizes = [len(feature.values) for feature in self.all_features()]
        matrix = self.columns.matrix
        if matrix is not None and self.is_unchanged and len(sizes) == matrix.shape[1]:
            return matrix
        n_rows = self.columns.n_rows if self.rows is None else int(self.rows.sum())
        codes = np.empty((n_rows, len(sizes)), code_type(max(sizes)), order="F")
        place = 0
        both: tuple[dict[Any, TreatedColumn], ...] = (self.treated, self.parts)
        for some in both:
            for key, feature in some.items():
                codes[:, place] = feature.codes
                some[key] = replace(feature, codes=codes[:, place])  # frees those that it had
                place += 1
        return codes


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
        if n_missing := column.n_missing:
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
