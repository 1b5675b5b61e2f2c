"""From columns to features, one at a time: ids are set aside, missing cells get their place, numbers their bins."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
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
    "Preparation",
    "TreatedColumn",
    "missing_values",
    "note_bins",
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


@dataclass
class Preparation:
    """The columns of a table on their way to features, one at a time, and what was done to them."""

    columns: ChosenColumns
    weights: Ints | None
    rules: Rules
    wanted: set[int]
    """Columns that are never set aside."""
    bins_of: dict[int, BinRule]
    """The rules of single columns."""
    chosen: Chosen
    labels: Codes | None
    """With labels, it is looked for numbers of which the label is a cut."""
    treated: dict[int, TreatedColumn] = field(default_factory=dict)
    """Features by position."""
    parts: dict[str, TreatedColumn] = field(default_factory=dict)
    """Parts of dates by their names; their codes come after those of the columns."""
    rows: Bools | None = None
    """Which rows are left; None means all."""
    notes: list[Note] = field(default_factory=list)
    cuts: dict[int, float] = field(default_factory=dict)
    """Columns of which the label is a cut, with the share of the rows that one cut tells right."""
    units: dict[int, tuple[int, int]] = field(default_factory=dict)
    """Columns that look like names of units, with how many there are and about how many rows each has."""
    is_unchanged: bool = True
    """Whether the codes of all columns are those that the table was read with."""

    def __post_init__(self) -> None:
        self._features = set(self.chosen.columns)

    def run(self, *, look_for_units: bool = False) -> Codes:
        """Codes of all features; with a note, if asked for, on the column that looks most like units."""
        self._treat_columns()
        if look_for_units and self.units:
            position = max(self.units, key=lambda p: self.units[p][0])
            self.notes.append(Note("looks-like-groups", (self.names[position],), self.units[position]))
        kinds: tuple[NoteKind, ...] = ("binned", "binned-time")
        for kind in kinds:
            some = {self.names[p]: t for p, t in self.treated.items() if t.holds_times == (kind == "binned-time")}
            self.notes += note_bins(kind, some)
        if self.parts:
            self.notes.append(Note("date-parts", tuple(self.parts)))
        self.notes += fold_notes({self.names[p]: one.folded for p, one in self.treated.items() if one.folded})
        return self._side_by_side()

    @property
    def names(self) -> dict[int, str]:
        """Names of the columns by position."""
        return self.columns.names

    def features(self) -> list[TreatedColumn]:
        """Columns and parts, in the order of the codes."""
        return [*self.treated.values(), *self.parts.values()]

    def _treat_columns(self) -> None:
        """Treat all columns on the rows that are to be kept; ids are set aside, unless there is no other column."""
        drops = self.rules.missing == "drop"  # rows with a gap in any column, so all are looked at first
        ids: list[int] = []
        gaps = _Gaps(self.columns.n_rows)
        problem: InputError | None = None
        for position, name in self.names.items():
            column = self.columns.look(position) if drops else self.columns.load(position)
            is_id = self._is_id(position, column)
            if is_id:
                ids.append(position)
                self._note_unit(position, column)
                if not self._find_parts(position, column).keys() - self.chosen.named_parts.get(position, set()):
                    continue
            gaps.add(position, name, column)
            if not drops and problem is None and not (gaps.n_missing and self.rules.missing == "error"):
                try:
                    self._add(position, column, is_id=is_id)
                except InputError as error:  # columns that cannot be read, or that have missing cells, come first
                    problem = error
        if not gaps.seen:
            self.wanted = set(ids)
            self._treat_columns()
            return
        if ids:
            self.notes.append(Note("set-aside", tuple(self.names[p] for p in ids)))
        if gaps.n_missing and self.rules.missing == "error":
            raise missing_values(gaps.described)
        if problem is not None:
            raise problem
        if drops:
            self._drop_rows(gaps)
            for position in gaps.seen:
                column = self.columns.load(position)
                self._add(position, column if self.rows is None else column.take(self.rows), is_id=position in ids)
        elif gaps.n_missing:
            names = tuple(self.names[p] for p in gaps.n_missing)
            self.notes.append(Note("missing-value", names, tuple(gaps.n_missing.values())))

    def _is_id(self, position: int, column: Column) -> bool:
        """Whether a column is to be set aside."""
        is_kept = position in self.wanted or position in self.bins_of or position not in self._features
        return self.rules.ids == "drop" and not is_kept and self.rules.is_id(column, self.names[position], self.weights)

    def _drop_rows(self, gaps: "_Gaps") -> None:
        """Leave out the rows with a missing cell."""
        if not gaps.n_missing:
            return
        self.rows = rows = gaps.complete
        if not rows.any():
            raise InputError(NO_COMPLETE_ROW)
        n_dropped = int((~rows).sum())
        names = tuple(self.names[p] for p in gaps.n_missing)
        self.notes.append(Note("missing-dropped", names, (n_dropped, len(rows))))
        self.weights = None if self.weights is None else self.weights[rows]
        self.labels = None if self.labels is None else self.labels[rows]

    def _add(self, position: int, column: Column, *, is_id: bool) -> None:
        """One more feature, and the parts of dates; of what is set aside, or named by its parts only, these alone."""
        if not is_id and position in self._features:
            self._add_column(position, column)
        treated = self.treated.get(position)
        parts = {} if treated is not None and treated.edges is None else self._find_parts(position, column)
        named = self.chosen.named_parts.get(position, set())
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
                self.parts[name] = treat_column(cells, name, self.weights, self.rules)

    def _find_parts(self, position: int, column: Column) -> dict[str, Column]:
        """Parts of the dates in a column, but those that the table has a column of that name for."""
        if not self.rules.date_parts or not is_time(column):
            return {}
        taken = {*map(name_of, self.columns.raw.keys), *self.names.values()}
        return {p: cells for p, cells in parts_of(column).items() if f"{self.names[position]}.{p}" not in taken}

    def _add_column(self, position: int, column: Column) -> None:
        """One more feature that is a column."""
        self._note_unit(position, column)
        treated = treat_column(column, self.names[position], self.weights, self.rules, self.bins_of.get(position))
        if self.labels is not None and treated.edges is not None:
            share = tell_by_cut(ranks_of(column), self.labels, self.weights)
            if share is not None:
                self.cuts[position] = share
        self.is_unchanged &= treated.codes is column.codes
        if self.columns.matrix is None:  # all columns wait for each other in the narrowest type
            treated = replace(treated, codes=treated.codes.astype(code_type(len(treated.values)), copy=False))
        self.treated[position] = treated

    def _note_unit(self, position: int, column: Column) -> None:
        """Keep in mind a column that looks like names of units."""
        if looks_like_unit(column, self.names[position], self.weights):
            n_rows = int(column.count_values(self.weights).sum())
            self.units[position] = len(column.values), round(n_rows / len(column.values))

    def _side_by_side(self) -> Codes:
        """The codes of all features; a table that was read as whole numbers is not copied if nothing was done to it."""
        sizes = [len(feature.values) for feature in self.features()]
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


class _Gaps:
    """Missing cells of some columns: how many each has, where the first one is, and which rows have none."""

    def __init__(self, n_rows: int) -> None:
        self.seen: list[int] = []
        self.n_missing: dict[int, int] = {}
        self.described: list[str] = []
        self.complete = np.ones(n_rows, np.bool_)

    def add(self, position: int, name: str, column: Column) -> None:
        """One more column."""
        self.seen.append(position)
        if n_missing := column.n_missing:
            is_missing = column.is_missing()
            self.n_missing[position] = n_missing
            n_rows, first = len(self.complete), is_missing.argmax()
            self.described.append(f"{name!r} ({n_missing:,} of {n_rows:,} rows, first in row {first})")
            self.complete &= ~is_missing


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
