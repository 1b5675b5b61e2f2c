"""The features of a table that an engine holds: decided as in memory, from distinct values and how often they occur."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any, NamedTuple

import numpy as np

from analogical._checks import brief
from analogical._types import Ints, NoteKind, merge_bins
from analogical.engines.cells import ByValue, DatePart, Encoder, Places, Steps, numbers_of
from analogical.engines.looking import NUMBERS, TIMES, Look, weights_of
from analogical.engines.relation import Kind
from analogical.engines.values import ValueCounts
from analogical.errors import InputError
from analogical.table.binning import NUMBERS_OF_BINS, BinRule
from analogical.table.choosing import Chosen, name_of
from analogical.table.columns import MISSING, Column
from analogical.table.dates import WEEKDAYS
from analogical.table.meaning import ColumnMeaning
from analogical.table.preparing import NO_COMPLETE_ROW, Gaps, Preparing, TreatedColumn, missing_values, treat_column
from analogical.table.rules import Rules

__all__ = ["Feature", "Placed", "RowsElsewhere"]


class RowsElsewhere(Preparing):
    """Columns of a table that an engine holds: one row for each value, weighted by the rows that have it."""

    def __init__(
        self,
        look: Look,
        rules: Rules,
        wanted: set[int],
        bins_of: dict[int, BinRule],
        features: Chosen,
        keys: Sequence[str],
        place_of: Mapping[int, int],
    ) -> None:
        super().__init__(dict(look.names), rules, wanted, bins_of, features)
        self.look_there = look
        self.keys, self.place_of = keys, place_of
        self.built: list[Feature] = []
        self.built_parts: list[Feature] = []

    def load(self, position: int) -> Column:
        """A column, on the rows that are left."""
        look = self.look_there
        if look.is_full(position) and self._is_full_id(position):  # none of its values is looked at
            return Column(np.zeros(0, np.int64), [])
        return look.column(position)

    def weights_of(self, position: int) -> Ints | None:
        """The rows of each of its values."""
        return self.look_there.weights_of(position)

    def gaps(self) -> Gaps:
        """A count of missing cells."""
        return _GapsThere(self)

    def drop_rows(self, gaps: Gaps) -> tuple[int, int]:
        """Leave out the rows with missing cells; how many these are, and of how many."""
        before, self.look_there = self.look_there, self.look_there.without_gaps(list(gaps.n_missing))
        if not self.look_there.n_rows:
            raise InputError(NO_COMPLETE_ROW)
        return before.n_rows - self.look_there.n_rows, before.n_rows

    def taken_names(self) -> set[str]:
        """Names of all columns."""
        return {*map(name_of, self.keys), *self.names.values()}

    def is_id(self, position: int, column: Column) -> bool:
        """Whether a column is to be set aside."""
        if not self.look_there.is_full(position):
            return super().is_id(position, column)
        return self._is_full_id(position)

    def _is_full_id(self, position: int) -> bool:
        """Whether a column with too many values is to be set aside."""
        is_wanted = self.rules.ids == "keep" or position in self.wanted or position not in self.features
        return self.look_there.full[position].is_id and not is_wanted

    def note_unit(self, position: int, column: Column) -> None:
        """Keep in mind a column that looks like names of units."""
        if not self.look_there.is_full(position):
            super().note_unit(position, column)
        elif (full := self.look_there.full[position]).is_unit:
            weight = self.look_there.counts[f"p{position}"].weight
            self.units[position] = full.n_values, round(weight / full.n_values)

    def parts_of(self, position: int, column: Column) -> dict[str, Column]:
        """All parts of the dates in a column."""
        if not self.look_there.is_full(position):
            return super().parts_of(position, column)
        return {part: there.column for part, there in self.look_there.parts_of(position).items()}

    def add_part(self, name: str, position: int, part: str, cells: Column) -> None:
        """One more feature that is a part of the dates in a column."""
        look = self.look_there
        is_full = look.is_full(position)
        weights = look.parts_of(position)[part].weights if is_full else look.weights_of(position)
        n_missing = look.counts[f"p{position}"].n_missing
        treated = replace(treat_column(cells, name, weights, self.rules), n_missing=n_missing)
        meaning = treated.meaning(name, name, len(self.place_of) + len(self.parts))
        known = _part_numbers(part, cells)
        self.built_parts.append(Feature.of(meaning, f"p{position}", DatePart(part), known, treated, weights))
        self.parts[name] = _without_codes(treated)

    def keep(self, position: int, column: Column, treated: TreatedColumn) -> None:  # noqa: ARG002
        """One more feature that is a column."""
        look = self.look_there
        if look.is_full(position) and treated.edges is None:  # its values are not known, only the steps they lie on
            raise InputError(
                f"The feature {brief(self.names[position])} has more than {look.relation.most_values:,} distinct"
                " numbers, too many to be categories; give it bins, such as bins=5, and a number as max_values, or"
                " leave it out with ignore."
            )
        counted = look.values_of(position)
        treated = replace(treated, n_missing=counted.n_missing)
        codes = [treated.codes] if treated.fine is None else [treated.codes, treated.fine]
        placed = Placed.of(counted, look.kind_of(position), codes)
        fine = None if treated.fine is None else treated.fine[placed.first]
        of_places = replace(treated, codes=treated.codes[placed.first], fine=fine)
        meaning = treated.meaning(self.keys[position], self.names[position], self.place_of[position])
        known = np.arange(len(placed.first), dtype=np.int64)
        self.built.append(Feature.of(meaning, f"p{position}", placed.places, known, of_places, placed.weights))
        self.treated[position] = _without_codes(treated)

    def bin_note(self, position: int, treated: TreatedColumn) -> NoteKind:
        """What is to be said of a column if it was binned."""
        return "binned-in-steps" if self.look_there.is_full(position) else super().bin_note(position, treated)


class _GapsThere(Gaps):
    """Missing cells of some columns: how many each has."""

    def __init__(self, work: RowsElsewhere) -> None:
        super().__init__(0)
        self._work = work

    def add(self, position: int, column: Column) -> None:  # noqa: ARG002
        """One more column."""
        self.seen.append(position)
        n_missing = self._work.look_there.counts[f"p{position}"].n_missing
        if n_missing:
            self.n_missing[position] = n_missing

    def error(self, names: dict[int, str]) -> InputError:
        """All columns with missing cells together."""
        n_rows = self._work.look_there.n_rows
        return missing_values([f"{names[p]!r} ({n:,} of {n_rows:,} rows)" for p, n in self.n_missing.items()])


class _Coded(NamedTuple):
    """How the cells of a column become codes, and how many rows have each code."""

    encoder: Encoder
    sizes: Ints


@dataclass(frozen=True)
class Feature:
    """A feature; of numbers also the finer bins, and by their number the bins that are merged from these."""

    meaning: ColumnMeaning
    coded: _Coded
    fine: _Coded | None = None
    bins: Mapping[int, _Coded] = field(default_factory=dict)

    @classmethod
    def of(
        cls, meaning: ColumnMeaning, source: str, places: Places, known: Ints, treated: TreatedColumn, weights: Ints
    ) -> "Feature":
        """The feature with these codes at the ``known`` places, where ``weights`` rows of the table lie."""

        def coded(codes: Any, n_codes: int = 1) -> _Coded:
            code_at = np.full(len(places) + 1, MISSING, np.int64)
            code_at[known] = codes
            sizes = np.bincount(codes, weights, minlength=n_codes).astype(np.int64)
            return _Coded(Encoder(source, places, code_at), sizes)

        own = coded(treated.codes, len(treated.values))
        if treated.fine is None:
            return cls(meaning, own)
        fine = coded(treated.fine)
        merged = {n: merge_bins(fine.sizes, n, treated.n_missing > 0) for n in NUMBERS_OF_BINS}
        return cls(meaning, own, fine, {n: coded(code_of[treated.fine]) for n, code_of in merged.items()})


def _without_codes(treated: TreatedColumn) -> TreatedColumn:
    """The column without its codes, which need memory."""
    return replace(treated, codes=np.zeros(0, np.int64), fine=None)


def _part_numbers(part: str, cells: Column) -> Ints:
    """The place of each row of a part of dates: month and weekday from 0, and 24 where the date is missing."""
    if part == "weekday":
        known = [WEEKDAYS.index(name) for name in cells.values]
    else:
        known = [value - (part == "month") for value in cells.values]
    numbers: Ints = np.array([*known, len(DatePart(part))], dtype=np.int64)[cells.codes]
    return numbers


@dataclass(frozen=True)
class Placed:
    """The places of the values of a column: numbers share one as long as their codes are equal."""

    places: Places
    first: Ints
    """For each place, and then for missing cells if there are any, the number of the first value there."""
    weights: Ints
    """The rows of the table at each of these."""

    @classmethod
    def of(cls, counted: ValueCounts, kind: Kind, codes: Sequence[Any]) -> "Placed":
        """Places of values in increasing order; each of ``codes`` has one per value, and a last one for missing."""
        n = len(counted.weights)
        weights = weights_of(counted)
        numbers = numbers_of(counted.values) if kind in (*NUMBERS, *TIMES) and n > 1 else None
        if numbers is None or not (numbers[1:] > numbers[:-1]).all():  # decimals may be equal as floats
            return cls(ByValue(counted.values), np.arange(len(weights)), weights)
        is_start = np.ones(len(weights), np.bool_)
        is_start[1:n] = np.logical_or.reduce([some[1:n] != some[: n - 1] for some in codes])
        first = np.flatnonzero(is_start)
        return cls(Steps(numbers[is_start[:n]]), first, np.add.reduceat(weights, first))
