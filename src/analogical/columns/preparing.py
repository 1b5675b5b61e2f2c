"""From columns to features, one at a time: ids are set aside, missing cells get a code, and numbers are binned."""

from abc import ABC, abstractmethod
from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from typing import Any, Generic, TypeVar

import numpy as np
from numpy.typing import NDArray

from analogical._checks import brief
from analogical._types import Bools, Codes, Ints, Note, NoteKind, code_type
from analogical.columns.binning import FINE_BINS, BinRule, bin_values, name_bins
from analogical.columns.choosing import ChosenColumns, listing, name_of
from analogical.columns.columns import Column, Kind, Values, plain
from analogical.columns.dates import PartOfDates, parts_of
from analogical.columns.folding import Spellings, find_spellings, fold_notes, merge_spellings
from analogical.columns.meaning import ColumnMeaning
from analogical.columns.reading import RawTable, encode_whole_numbers
from analogical.columns.rules import Rules, is_time, looks_like_unit
from analogical.errors import InputError
from analogical.estimate.leaks import predicted_by_cut

__all__ = ["NO_COMPLETE_ROW", "Feature", "MemoryPreparer", "Preparer", "TreatedColumn", "treat_column"]

NO_COMPLETE_ROW = (
    'Every row has a missing value, so missing="drop" leaves none; leave out the columns that are mostly empty, or use'
    ' missing="value".'
)

Coded = TypeVar("Coded")


@dataclass(frozen=True)
class TreatedColumn:
    """What was decided about a column, from its values: the code of each, and what the codes mean."""

    meaning: ColumnMeaning
    code_of: Ints
    """The code of each value, and last that of missing cells; MISSING if no cell is missing."""
    fine_of: Ints | None = None
    """The same for numbers in up to 120 bins; None for categories, and unless bins are quantiles."""
    holds_times: bool = False
    """Whether dates or times were binned."""
    spellings: Spellings = field(default_factory=Spellings)
    """Spellings of one value that were merged, or could be."""

    @property
    def keeps_codes(self) -> bool:
        """Whether every value has its own place as code."""
        return self.meaning.edges is None and not self.meaning.n_missing and not self.spellings.merged


def treat_column(values: Values, name: str, rules: Rules, own_rule: BinRule | None = None) -> TreatedColumn:
    """One column as a feature; ``own_rule`` is the bin rule that the user gave for it."""
    if own_rule is not None and own_rule.method != "none" and values.kind == "category":
        raise InputError(f"bins names {name!r}, which does not hold numbers or dates; leave it out of bins.")
    rule = rules.bin_rule_of(values, own_rule)
    if rule is None:
        spellings = find_spellings(values, rules.fold_case)
        merged, code_of = merge_spellings(values, spellings.merged)
        known = merged.values
        if not isinstance(known, list | range):
            known = [plain(value) for value in known]  # of a column that was read in batches
        meaning = ColumnMeaning(name, name, [*known, None] if values.n_missing else known, n_missing=values.n_missing)
        return TreatedColumn(meaning, _with_missing(code_of, len(known), values), spellings=spellings)
    what = f"feature {brief(name)}"
    binned = bin_values(values, rule, what)
    names: list[str | None] = [*name_bins(binned.ends)]
    meaning = ColumnMeaning(
        name, name, [*names, None] if values.n_missing else names, edges=binned.edges, n_missing=values.n_missing
    )
    fine_of = None
    if rule.method == "quantiles":
        fine = bin_values(values, BinRule("quantiles", FINE_BINS), what)
        fine_of = _with_missing(fine.code_of, len(fine.ends), values)
        meaning = replace(meaning, fine_ends=tuple(fine.ends))
    return TreatedColumn(meaning, _with_missing(binned.code_of, len(names), values), fine_of, is_time(values))


def _with_missing(code_of: Ints, n_codes: int, values: Values) -> Ints:
    """The table with a code for missing cells after all others, if there are any."""
    return np.append(code_of[:-1], n_codes) if values.n_missing else code_of


@dataclass
class Feature(Generic[Coded]):
    """A feature: what its codes mean, and the codes."""

    meaning: ColumnMeaning
    codes: Coded
    """The codes of all rows, or how an engine makes them."""
    fine: Coded | None
    """The same for its finer bins."""


class Preparer(ABC, Generic[Coded]):
    """Turns columns into features, and collects notes on what was done.

    A subclass knows where the rows are: it loads the values of columns, and encodes the rows as was decided on these.
    """

    def __init__(
        self,
        *,
        chosen: ChosenColumns,
        rules: Rules,
        wanted: set[int],
        bins_of: dict[int, BinRule],
    ) -> None:
        self.chosen = chosen
        self.names = chosen.names
        self.feature_positions = set(chosen.features)
        self.rules = rules
        self.wanted = wanted | bins_of.keys()
        """Columns that are never set aside."""
        self.bins_of = bins_of
        self.columns: list[Feature[Coded]] = []
        self.parts: list[Feature[Coded]] = []
        """Parts of dates, which come after all columns."""
        self.notes: list[Note] = []
        self.units: dict[int, tuple[int, int]] = {}
        """Columns that seem to identify units: the number of units, and about how many rows each has."""
        self.n_missing: dict[int, int] = {}
        """Missing cells of the columns that have any."""
        self._binned: dict[NoteKind, list[ColumnMeaning]] = {"binned": [], "binned-time": []}
        self._spellings: dict[str, Spellings] = {}

    @abstractmethod
    def load(self, position: int) -> Values:
        """The values of a column, on the rows that were not dropped."""

    @abstractmethod
    def encode(self, position: int, values: Values, treated: TreatedColumn) -> Feature[Coded]:
        """The codes of the column that was loaded last."""

    @abstractmethod
    def encode_part(self, position: int, name: str, part: PartOfDates, treated: TreatedColumn) -> Feature[Coded]:
        """The codes of a part of the dates in that column."""

    @abstractmethod
    def drop_rows(self) -> tuple[int, int]:
        """Drop the rows with missing cells; the number of dropped rows, and of all rows before."""

    @abstractmethod
    def where_missing(self, position: int) -> str:
        """The missing cells of a column, in words."""

    @property
    def features(self) -> list[Feature[Coded]]:
        """Columns and parts of dates, in the order of the codes."""
        return [*self.columns, *self.parts]

    def treat_all(self) -> None:
        """Turn all columns into features; without groups, a note names a column that may be them."""
        self.treat_columns()
        if self.units and self.rules.groups is None:
            position = max(self.units, key=lambda p: self.units[p][0])
            self.notes.append(Note("looks-like-groups", (self.names[position],), self.units[position]))
        self.notes += [note_bins(kind, columns) for kind, columns in self._binned.items() if columns]
        if self.parts:
            self.notes.append(Note("date-parts", tuple(part.meaning.name for part in self.parts)))
        self.notes += fold_notes(self._spellings)

    def treat_columns(self) -> None:
        """Turn all columns into features, on the rows to keep; ids are set aside, unless all columns are ids."""
        drops = self.rules.missing == "drop"  # rows with a missing cell in any column, so all are loaded first
        ids: list[int] = []
        used: list[int] = []
        problem: InputError | None = None
        for position in self.names:
            values = self.load(position)
            if self.is_id(position, values):
                ids.append(position)
                self.note_unit(position, values)
                continue
            used.append(position)
            self.note_missing(position, values)
            if not drops and problem is None and not self.refuses_missing:
                try:
                    self.add(position, values)
                except InputError as error:  # errors of reading and of missing cells come first
                    problem = error
        if not used:
            self.wanted = set(ids)
            self.treat_columns()
            return
        if ids:
            self.notes.append(Note("set-aside", tuple(self.names[p] for p in ids)))
        if self.refuses_missing:
            raise self._missing_values()
        if problem is not None:
            raise problem
        with_missing = tuple(self.names[p] for p in self.n_missing)
        if with_missing and drops:
            self.notes.append(Note("missing-dropped", with_missing, self.drop_rows()))
        elif with_missing:
            self.notes.append(Note("missing-value", with_missing, tuple(self.n_missing.values())))
        for position in used if drops else ():
            self.add(position, self.load(position))

    @property
    def refuses_missing(self) -> bool:
        """Whether there are missing cells, and these are an error."""
        return bool(self.n_missing) and self.rules.missing == "error"

    def note_missing(self, position: int, values: Values) -> None:
        """Remember the missing cells of the column that was loaded last."""
        if values.n_missing:
            self.n_missing[position] = values.n_missing

    def _missing_values(self) -> InputError:
        """The error that names all columns with missing cells."""
        columns = [f"{self.names[p]!r} ({self.where_missing(p)})" for p in self.n_missing]
        return InputError(
            f"Missing values (NaN or None) in {listing(columns)}; count them as a separate value with"
            ' missing="value", or leave out their rows with missing="drop" (--missing drop).'
        )

    def bin_note(self, position: int, treated: TreatedColumn) -> NoteKind:  # noqa: ARG002
        """The kind of note for a column that was binned."""
        return "binned-time" if treated.holds_times else "binned"

    def is_id(self, position: int, values: Values) -> bool:
        """Whether a column is set aside as an identifier."""
        if self.rules.ids == "keep" or position in self.wanted or position not in self.feature_positions:
            return False
        return self.rules.is_id(values, self.names[position])

    def add(self, position: int, values: Values) -> None:
        """Add a column and the parts of its dates; only the parts if only these were named."""
        has_column = position in self.feature_positions
        if has_column:
            self.add_column(position, values)
        is_category = has_column and self.columns[-1].meaning.edges is None
        parts = {} if is_category else self.find_parts(position, values)
        named = self.chosen.named_parts.get(position, set())
        is_asked = self.chosen.is_asked
        for part in sorted(named - parts.keys()):
            raise InputError(
                f"{'features' if is_asked else 'ignore'} names {self.names[position] + '.' + part!r}, but"
                f" {brief(self.names[position])} has no {part} to compare: it must hold more dates than max_values, and"
                f" the {part} must vary over two cycles or more."
            )
        for part, found in parts.items():
            if (part in named) == is_asked or (has_column and is_asked):
                self.add_part(position, part, found)

    def add_column(self, position: int, values: Values) -> None:
        """Add a column to the features."""
        self.note_unit(position, values)
        treated = treat_column(values, self.names[position], self.rules, self.bins_of.get(position))
        meaning = replace(treated.meaning, key=self.chosen.keys[position], position=self.chosen.place_of[position])
        self.columns.append(self.encode(position, values, replace(treated, meaning=meaning)))
        if meaning.edges is not None:
            self._binned[self.bin_note(position, treated)].append(meaning)
        self._spellings[meaning.name] = treated.spellings

    def add_part(self, position: int, name: str, part: PartOfDates) -> None:
        """Add a part of the dates in a column to the features."""
        treated = treat_column(part.values, f"{self.names[position]}.{name}", self.rules)
        meaning = replace(treated.meaning, position=len(self.chosen.place_of) + len(self.parts))
        self.parts.append(self.encode_part(position, name, part, replace(treated, meaning=meaning)))

    def find_parts(self, position: int, values: Values) -> dict[str, PartOfDates]:
        """Parts of the dates in a column, without those whose names are in use."""
        if not self.rules.date_parts or not is_time(values):
            return {}
        taken = {*map(name_of, self.chosen.keys), *self.names.values()}
        parts = self.parts_of(position, values)
        return {part: found for part, found in parts.items() if f"{self.names[position]}.{part}" not in taken}

    def parts_of(self, position: int, values: Values) -> dict[str, PartOfDates]:  # noqa: ARG002
        """All parts of the dates in a column."""
        return parts_of(values)

    def note_unit(self, position: int, values: Values) -> None:
        """Remember a column that seems to identify units."""
        if looks_like_unit(values, self.names[position]):
            self.units[position] = len(values), round(values.n_present / len(values))


class MemoryPreparer(Preparer[NDArray[Any]]):
    """Prepares columns in this process, on the rows that count."""

    def __init__(
        self,
        raw: RawTable,
        rows: Bools,
        *,
        weights: Ints | None,
        labels: Codes | None,
        chosen: ChosenColumns,
        rules: Rules,
        wanted: set[int],
        bins_of: dict[int, BinRule],
    ) -> None:
        super().__init__(chosen=chosen, rules=rules, wanted=wanted, bins_of=bins_of)
        self.raw = raw
        self.weights = weights
        self.labels = labels
        """With labels, numbers are searched for one that predicts the label by a threshold."""
        self.cuts: dict[int, float] = {}
        """Such columns by place, with the share of the rows that a threshold predicts."""
        self.rows = rows
        """Which rows of the user's table count, and were not dropped."""
        self.n_rows = int(np.count_nonzero(rows))
        """Rows that count, before some were dropped."""
        self.complete = np.ones(self.n_rows, np.bool_)
        """Which of these have no missing cell."""
        self.is_dropped = False
        """Whether the others were dropped."""
        self.matrix: Codes | None = None
        """Codes of all chosen columns, if they could be encoded at once."""
        self.is_unchanged = True
        """Whether all features have the codes that the table was read with."""
        self._counting_rows = None if rows.all() else rows
        self._of_matrix = self._encode_at_once()
        self._loaded = Column(np.zeros(0, np.int64), [])
        """The column that was loaded last."""
        self._held: dict[int, Column] = {}
        """Columns to be loaded again without the rows to drop."""
        self._first_missing: dict[int, int] = {}

    def _encode_at_once(self) -> dict[int, Column]:
        """All columns, if they hold whole numbers or booleans without a missing cell; otherwise none."""
        part = self.raw.whole_numbers(list(self.names))
        if part is None:
            return {}
        rows = self._counting_rows
        self.matrix, values = encode_whole_numbers(part if rows is None else part[rows])
        kind: Kind = "category" if self.raw.frame is None else "whole"
        columns = [Column(self.matrix[:, k], known, kind, is_sorted=True) for k, known in enumerate(values)]
        return dict(zip(self.names, columns, strict=True))

    def load(self, position: int) -> Values:
        """The values of a column, on the rows that were not dropped."""
        column = self._held.pop(position, None) or self._read(position)
        if self.is_dropped:
            column = column.take(self.complete)
        elif self.rules.missing == "drop":
            self._held[position] = column
        self._loaded = column
        return column.counted(self.weights)

    def _read(self, position: int) -> Column:
        """A column, on the rows that count."""
        if position in self._of_matrix:
            return self._of_matrix[position]
        column = self.raw.encode(position, self.names[position])
        return column if self._counting_rows is None else column.take(self._counting_rows)

    def note_missing(self, position: int, values: Values) -> None:
        """Remember the missing cells of the column that was loaded last."""
        super().note_missing(position, values)
        if values.n_missing:
            is_missing = self._loaded.is_missing()
            self._first_missing[position] = int(is_missing.argmax())
            self.complete &= ~is_missing

    def where_missing(self, position: int) -> str:
        """The missing cells of a column, in words."""
        first = self._first_missing[position]
        return f"{self.n_missing[position]:,} of {self.n_rows:,} rows, first in row {first}"

    def drop_rows(self) -> tuple[int, int]:
        """Drop the rows with missing cells; the number of dropped rows, and of all rows before."""
        if not self.complete.any():
            raise InputError(NO_COMPLETE_ROW)
        self.is_dropped = True
        left = self.rows.copy()
        left[self.rows] = self.complete
        self.rows = left
        self.weights = None if self.weights is None else self.weights[self.complete]
        self.labels = None if self.labels is None else self.labels[self.complete]
        return self.n_rows - self.n_left, self.n_rows

    @property
    def n_left(self) -> int:
        """Rows that were not dropped."""
        return int(self.complete.sum()) if self.is_dropped else self.n_rows

    def encode(self, position: int, values: Values, treated: TreatedColumn) -> Feature[NDArray[Any]]:  # noqa: ARG002
        """The codes of the column that was loaded last."""
        if self.labels is not None and treated.meaning.edges is not None:
            ranks = self._loaded.codes if values.is_sorted else self._loaded.recoded(values.rank_of)
            share = predicted_by_cut(ranks, self.labels, self.weights)
            if share is not None:
                self.cuts[len(self.columns)] = share
        self.is_unchanged &= treated.keeps_codes
        if not treated.keeps_codes:
            return self._recoded(treated)
        codes = self._loaded.codes
        if self.matrix is None:  # all columns are held until the last is read
            codes = codes.astype(code_type(len(treated.meaning.values)), copy=False)
        return Feature(treated.meaning, codes, None)

    def encode_part(
        self,
        position: int,  # noqa: ARG002
        name: str,  # noqa: ARG002
        part: PartOfDates,
        treated: TreatedColumn,
    ) -> Feature[NDArray[Any]]:
        """The codes of a part of the dates in that column."""
        fine_of = None if treated.fine_of is None else treated.fine_of[part.code_of]
        return self._recoded(replace(treated, code_of=treated.code_of[part.code_of], fine_of=fine_of))

    def _recoded(self, treated: TreatedColumn) -> Feature[NDArray[Any]]:
        """A feature whose codes follow from those of the column that was loaded last."""
        code_of = treated.code_of.astype(code_type(len(treated.meaning.values)))
        fine_of = treated.fine_of
        fine = None if fine_of is None else self._loaded.recoded(fine_of.astype(np.uint8))
        return Feature(treated.meaning, self._loaded.recoded(code_of), fine)

    def side_by_side(self) -> Codes:
        """The codes of all features; the table itself if it was read as whole numbers and nothing was changed."""
        features = self.features
        matrix = self.matrix
        if matrix is not None and self.is_unchanged and len(features) == matrix.shape[1]:
            return matrix
        widest = code_type(max(len(feature.meaning.values) for feature in features))
        codes = np.empty((self.n_left, len(features)), widest, order="F")
        for place, feature in enumerate(features):
            codes[:, place] = feature.codes
            feature.codes = codes[:, place]  # frees the column's own codes
        return codes


def note_bins(kind: NoteKind, columns: Sequence[ColumnMeaning]) -> Note:
    """A note on columns that were binned."""
    n_bins = tuple(len(column.values) - (column.n_missing > 0) for column in columns)
    return Note(kind, tuple(column.name for column in columns), n_bins, tuple(column.edges or () for column in columns))
