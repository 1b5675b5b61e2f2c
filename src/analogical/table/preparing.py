"""From columns to features, one at a time: ids are set aside, missing cells get a code, and numbers are binned."""

from abc import ABC, abstractmethod
from collections.abc import Hashable, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from analogical._checks import brief
from analogical._types import Bools, Codes, Ints, Note, NoteKind, code_type
from analogical.errors import InputError
from analogical.estimate.leaks import predicted_by_cut
from analogical.table.binning import BinRule, bin_column, fine_bins
from analogical.table.choosing import Chosen, listing, name_of
from analogical.table.columns import Column, plain
from analogical.table.dates import parts_of
from analogical.table.folding import Spellings, fold_notes, fold_values
from analogical.table.meaning import ColumnMeaning
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
    """A feature: a column with a code for missing cells, its numbers in bins if they are to be binned."""

    codes: NDArray[Any]
    """Those of the column itself, if nothing was done to it."""
    values: Sequence[Any]
    """``values[c]`` is what code c stands for; the last is None if cells are missing."""
    edges: tuple[Any, ...] | None
    """Where the bins except the first begin; None if every value is a category."""
    n_missing: int
    holds_times: bool
    """Whether dates or times were binned."""
    fine: NDArray[np.uint8] | None
    """The numbers in up to 120 bins; None for categories, and unless bins are quantiles."""
    fine_ends: tuple[tuple[Any, Any], ...]
    """The lowest and the highest number of each of these bins."""
    spellings: Spellings
    """Spellings of one value that were merged, or could be."""

    def meaning(self, key: Hashable, name: str, position: int) -> ColumnMeaning:
        """What its codes mean, for a column that the user calls ``key``."""
        return ColumnMeaning(
            key=key,
            name=name,
            values=self.values,
            position=position,
            treatment="categories" if self.edges is None else "bins",
            edges=self.edges or (),
            n_missing=self.n_missing,
            fine_ends=self.fine_ends,
        )


def treat_column(
    column: Column, name: str, weights: Ints | None, rules: Rules, own_rule: BinRule | None = None
) -> TreatedColumn:
    """One column as a feature; ``own_rule`` is the bin rule that the user gave for it."""
    if own_rule is not None and own_rule.method != "none" and column.kind == "category":
        raise InputError(f"bins names {name!r}, which does not hold numbers or dates; leave it out of bins.")
    n_missing = column.n_missing
    column, spellings = fold_values(column, weights, rules.fold_case)
    rule = rules.bin_rule_of(column, own_rule)
    edges, fine, holds_times = None, None, False
    fine_ends: tuple[tuple[Any, Any], ...] = ()
    if rule is not None:
        holds_times = is_time(column)
        numbers = column.sorted()
        if rule.method == "quantiles":
            fine, fine_ends = fine_bins(numbers, weights)
        column, edges = bin_column(numbers, rule, weights, f"feature {brief(name)}")
    codes, values = column.codes, column.values
    if not isinstance(values, list | range):
        values = [plain(value) for value in values]  # of a column that was read in batches
    if n_missing:
        new_codes = np.arange(len(values) + 1, dtype=code_type(len(values) + 1))  # the last one is for missing cells
        codes, values = column.recoded(new_codes), [*values, None]
    return TreatedColumn(codes, values, edges, n_missing, holds_times, fine, fine_ends, spellings)


class Preparing(ABC):
    """Turns columns into features, and collects notes on what was done.

    A subclass knows where the rows are: it loads columns, counts their missing cells and keeps their codes.
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
        """Parts of dates, by name."""
        self.notes: list[Note] = []
        self.units: dict[int, tuple[int, int]] = {}
        """Columns that seem to identify units: the number of units, and about how many rows each has."""

    @abstractmethod
    def load(self, position: int) -> Column:
        """A column, on the rows that were not dropped."""

    @abstractmethod
    def weights_of(self, position: int) -> Ints | None:
        """Weights of the rows of a column; None if each counts once."""

    @abstractmethod
    def gaps(self) -> "Gaps":
        """An empty count of missing cells."""

    @abstractmethod
    def drop_rows(self, gaps: "Gaps") -> tuple[int, int]:
        """Drop the rows with missing cells; the number of dropped rows, and of all rows before."""

    @abstractmethod
    def taken_names(self) -> set[str]:
        """Names that are in use, so that no part of a date may have them."""

    @abstractmethod
    def keep(self, position: int, column: Column, treated: TreatedColumn) -> None:
        """Add a column to the features."""

    def treat_all(self) -> None:
        """Turn all columns into features; without groups, a note names a column that may be them."""
        self.treat_columns()
        if self.units and self.rules.groups is None:
            position = max(self.units, key=lambda p: self.units[p][0])
            self.notes.append(Note("looks-like-groups", (self.names[position],), self.units[position]))
        kinds: tuple[NoteKind, ...] = ("binned", "binned-time", "binned-in-steps")
        for kind in kinds:
            self.notes += note_bins(
                kind, {self.names[p]: t for p, t in self.treated.items() if self.bin_note(p, t) == kind}
            )
        if self.parts:
            self.notes.append(Note("date-parts", tuple(self.parts)))
        self.notes += fold_notes({self.names[p]: treated.spellings for p, treated in self.treated.items()})

    def treat_columns(self) -> None:
        """Turn all columns into features, on the rows to keep; ids are set aside, unless all columns are ids."""
        drops = self.rules.missing == "drop"  # rows with a missing cell in any column, so all are loaded first
        ids: list[int] = []
        gaps = self.gaps()
        problem: InputError | None = None
        for position in self.names:
            column = self.load(position)
            if self.is_id(position, column):
                ids.append(position)
                self.note_unit(position, column)
                continue
            gaps.add(position, column)
            if not drops and problem is None and not (gaps.n_missing and self.rules.missing == "error"):
                try:
                    self.add(position, column)
                except InputError as error:  # errors of reading and of missing cells come first
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
            self.add(position, self.load(position))

    def bin_note(self, position: int, treated: TreatedColumn) -> NoteKind:  # noqa: ARG002
        """The kind of note for a column that was binned."""
        return "binned-time" if treated.holds_times else "binned"

    def is_id(self, position: int, column: Column) -> bool:
        """Whether a column is set aside as an identifier."""
        if self.rules.ids == "keep" or position in self.wanted or position not in self.features:
            return False
        return self.rules.is_id(column, self.names[position], self.weights_of(position))

    def add(self, position: int, column: Column) -> None:
        """Add a column and the parts of its dates; only the parts if only these were named."""
        if position in self.features:
            self.note_unit(position, column)
            weights, own_rule = self.weights_of(position), self.bins_of.get(position)
            self.keep(position, column, treat_column(column, self.names[position], weights, self.rules, own_rule))
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
        """Parts of the dates in a column, without those whose names are in use."""
        if not self.rules.date_parts or not is_time(column):
            return {}
        taken = self.taken_names()
        parts = self.parts_of(position, column)
        return {p: cells for p, cells in parts.items() if f"{self.names[position]}.{p}" not in taken}

    def parts_of(self, position: int, column: Column) -> dict[str, Column]:  # noqa: ARG002
        """All parts of the dates in a column."""
        return parts_of(column)

    def add_part(self, name: str, position: int, part: str, cells: Column) -> None:  # noqa: ARG002
        """Add a part of the dates in a column to the features."""
        self.parts[name] = treat_column(cells, name, self.weights_of(position), self.rules)

    def note_unit(self, position: int, column: Column) -> None:
        """Remember a column that seems to identify units."""
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
        """With labels, numbers are searched for one that predicts the label by a threshold."""
        self.cuts: dict[int, float] = {}
        """Such columns, with the share of the rows that a threshold predicts."""
        self.rows: Bools | None = None
        """Which rows were not dropped; None means all."""
        self.is_unchanged = True
        """Whether the codes of all columns are those that the table was read with."""
        self._held: dict[int, Column] = {}
        """Columns to be loaded again without the rows to drop."""

    def load(self, position: int) -> Column:
        """A column, on the rows that were not dropped."""
        column = self._held.pop(position, None)
        if column is None:
            column = self.columns.load(position)
            if self.rules.missing == "drop":
                self._held[position] = column
        return column if self.rows is None else column.take(self.rows)

    def weights_of(self, position: int) -> Ints | None:  # noqa: ARG002
        """Weights of the rows, the same for all columns."""
        return self.weights

    def gaps(self) -> "Gaps":
        """An empty count of missing cells."""
        return Gaps(self.columns.n_rows)

    def drop_rows(self, gaps: "Gaps") -> tuple[int, int]:
        """Drop the rows with missing cells; the number of dropped rows, and of all rows before."""
        rows = gaps.complete
        if not rows.any():
            raise InputError(NO_COMPLETE_ROW)
        self.rows = rows
        self.weights = None if self.weights is None else self.weights[rows]
        self.labels = None if self.labels is None else self.labels[rows]
        return int((~rows).sum()), len(rows)

    def taken_names(self) -> set[str]:
        """Names of all columns, before and after renaming."""
        return {*map(name_of, self.columns.raw.keys), *self.names.values()}

    def keep(self, position: int, column: Column, treated: TreatedColumn) -> None:
        """Add a column to the features."""
        if self.labels is not None and treated.edges is not None:
            share = predicted_by_cut(column.sorted().codes, self.labels, self.weights)
            if share is not None:
                self.cuts[position] = share
        self.is_unchanged &= treated.codes is column.codes
        if self.columns.matrix is None:  # all columns are held until the last is read
            treated = replace(treated, codes=treated.codes.astype(code_type(len(treated.values)), copy=False))
        self.treated[position] = treated

    def all_features(self) -> list[TreatedColumn]:
        """Columns and parts of dates, in the order of the codes."""
        return [*self.treated.values(), *self.parts.values()]

    def side_by_side(self) -> Codes:
        """The codes of all features; the table itself if it was read as whole numbers and nothing was changed."""
        sizes = [len(feature.values) for feature in self.all_features()]
        matrix = self.columns.matrix
        if matrix is not None and self.is_unchanged and len(sizes) == matrix.shape[1]:
            return matrix
        n_rows = self.columns.n_rows if self.rows is None else int(self.rows.sum())
        codes = np.empty((n_rows, len(sizes)), code_type(max(sizes)), order="F")
        place = 0
        columns_and_parts: tuple[dict[Any, TreatedColumn], ...] = (self.treated, self.parts)
        for features in columns_and_parts:
            for key, feature in features.items():
                codes[:, place] = feature.codes
                features[key] = replace(feature, codes=codes[:, place])  # frees the column's own codes
                place += 1
        return codes


class Gaps:
    """Missing cells by column: how many, and where the first one is; and the rows that have none."""

    def __init__(self, n_rows: int) -> None:
        self.seen: list[int] = []
        self.n_missing: dict[int, int] = {}
        self.first: dict[int, int] = {}
        self.complete = np.ones(n_rows, np.bool_)

    def add(self, position: int, column: Column) -> None:
        """Count the missing cells of a column."""
        self.seen.append(position)
        if n_missing := column.n_missing:
            is_missing = column.is_missing()
            self.n_missing[position] = n_missing
            self.first[position] = int(is_missing.argmax())
            self.complete &= ~is_missing

    def error(self, names: dict[int, str]) -> InputError:
        """The error that names all columns with missing cells."""
        columns = [
            f"{names[p]!r} ({n:,} of {len(self.complete):,} rows, first in row {self.first[p]})"
            for p, n in self.n_missing.items()
        ]
        return missing_values(columns)


def missing_values(columns: Sequence[str]) -> InputError:
    """The error that names columns with missing cells."""
    return InputError(
        f"Missing values (NaN or None) in {listing(columns)}; count them as a separate value with"
        ' missing="value", or leave out their rows with missing="drop" (--missing drop).'
    )


def note_bins(kind: NoteKind, columns: Mapping[str, TreatedColumn]) -> list[Note]:
    """A note on those of the columns that were binned; empty if there are none."""
    binned = {name: column for name, column in columns.items() if column.edges is not None}
    n_bins = tuple(len(column.values) - (column.n_missing > 0) for column in binned.values())
    edges = tuple(column.edges or () for column in binned.values())
    return [Note(kind, tuple(binned), n_bins, edges)] if binned else []
