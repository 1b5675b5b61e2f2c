"""The features of a table that an engine holds: decided as in memory, from distinct values and how often they occur."""

from collections.abc import Sequence
from typing import NamedTuple

import numpy as np

from analogical._checks import brief
from analogical._types import Ints, NoteKind
from analogical.columns.binning import BinRule
from analogical.columns.choosing import ChosenColumns
from analogical.columns.columns import MISSING, Values
from analogical.columns.dates import PartOfDates
from analogical.columns.preparing import NO_COMPLETE_ROW, Feature, Preparer, TreatedColumn
from analogical.columns.rules import Rules
from analogical.engines.cells import ByValue, DatePart, Encoder, Places, Steps, numbers_of
from analogical.engines.looking import NUMBERS, TIMES, Look
from analogical.engines.relation import Kind
from analogical.engines.values import ValueCounts
from analogical.errors import InputError

__all__ = ["EnginePreparer", "find_places"]


class EnginePreparer(Preparer[Encoder]):
    """Prepares columns of a table that an engine holds."""

    def __init__(
        self, look: Look, *, chosen: ChosenColumns, rules: Rules, wanted: set[int], bins_of: dict[int, BinRule]
    ) -> None:
        super().__init__(chosen=chosen, rules=rules, wanted=wanted, bins_of=bins_of)
        self.look = look

    def load(self, position: int) -> Values:
        """The values of a column, on the rows that were not dropped."""
        if self.look.is_full(position) and self._is_full_id(position):  # none of its values is looked at
            return Values([], np.zeros(0, np.int64))
        return self.look.values(position)

    def drop_rows(self) -> tuple[int, int]:
        """Leave out the rows with missing cells; how many these are, and of how many."""
        n_before, self.look = self.look.n_rows, self.look.without_gaps(list(self.n_missing))
        if not self.look.n_rows:
            raise InputError(NO_COMPLETE_ROW)
        return n_before - self.look.n_rows, n_before

    def where_missing(self, position: int) -> str:
        """The missing cells of a column, in words."""
        return f"{self.n_missing[position]:,} of {self.look.n_rows:,} rows"

    def is_id(self, position: int, values: Values) -> bool:
        """Whether a column is set aside as an identifier."""
        return self._is_full_id(position) if self.look.is_full(position) else super().is_id(position, values)

    def _is_full_id(self, position: int) -> bool:
        """Whether a column with too many values is set aside."""
        is_wanted = self.rules.ids == "keep" or position in self.wanted or position not in self.feature_positions
        return self.look.full[position].is_id and not is_wanted

    def note_unit(self, position: int, values: Values) -> None:
        """Remember a column that seems to identify units."""
        if not self.look.is_full(position):
            super().note_unit(position, values)
        elif (full := self.look.full[position]).is_unit:
            weight = self.look.counts[f"p{position}"].weight
            self.units[position] = full.n_values, round(weight / full.n_values)

    def parts_of(self, position: int, values: Values) -> dict[str, PartOfDates]:
        """All parts of the dates in a column."""
        return self.look.parts_of(position) if self.look.is_full(position) else super().parts_of(position, values)

    def encode(self, position: int, values: Values, treated: TreatedColumn) -> Feature[Encoder]:
        """How the cells of a column become codes."""
        if self.look.is_full(position) and treated.meaning.edges is None:  # only the steps of its values are known
            raise InputError(
                f"The feature {brief(self.names[position])} has more than {self.look.relation.most_values:,} distinct"
                " numbers, too many to be categories; give it bins, such as bins=5, and a number as max_values, or"
                " leave it out with ignore."
            )
        tables = [treated.code_of] if treated.fine_of is None else [treated.code_of, treated.fine_of]
        placed = find_places(self.look.counts_of(position), self.look.kind_of(position), tables)
        return self._feature(position, placed, np.arange(len(placed.first)), values, treated)

    def encode_part(self, position: int, name: str, part: PartOfDates, treated: TreatedColumn) -> Feature[Encoder]:
        """How the dates in a column become codes of one of their parts."""
        places = DatePart(name)
        placed = Placed(places, np.append(np.arange(len(part.numbers)), MISSING))
        return self._feature(position, placed, np.append(part.numbers, len(places)), part.values, treated)

    def _feature(
        self, position: int, placed: "Placed", occurring: Ints, values: Values, treated: TreatedColumn
    ) -> Feature[Encoder]:
        """A feature whose values are at the ``occurring`` places, the last of which is that of missing cells."""
        weight_missing = self.look.counts[f"p{position}"].weight_missing

        def encoder(code_of: Ints) -> Encoder:
            codes = np.full(len(placed.places) + 1, MISSING)
            codes[occurring] = code_of[placed.first]
            sizes = np.bincount(code_of[:-1], values.sizes, minlength=int(code_of.max()) + 1).astype(np.int64)
            if values.n_missing:
                sizes[code_of[-1]] += weight_missing
            return Encoder(f"p{position}", placed.places, codes, sizes)

        fine = None if treated.fine_of is None else encoder(treated.fine_of)
        return Feature(treated.meaning, encoder(treated.code_of), fine)

    def bin_note(self, position: int, treated: TreatedColumn) -> NoteKind:
        """The kind of note for a column that was binned."""
        return "binned-in-steps" if self.look.is_full(position) else super().bin_note(position, treated)


class Placed(NamedTuple):
    """The places of the values of a column: numbers share one as long as their codes are equal."""

    places: Places
    first: Ints
    """For each place the number of the first value there, and last MISSING for missing cells."""


def find_places(counted: ValueCounts, kind: Kind, tables: Sequence[Ints]) -> Placed:
    """Places of values in increasing order; each of ``tables`` has the code of every value, and last of missing."""
    n = len(counted.weights)
    numbers = numbers_of(counted.values) if kind in (*NUMBERS, *TIMES) and n > 1 else None
    if numbers is None or not (numbers[1:] > numbers[:-1]).all():  # decimals may be equal as floats
        return Placed(ByValue(counted.values), np.append(np.arange(n), MISSING))
    is_start = np.ones(n, np.bool_)
    is_start[1:] = np.logical_or.reduce([code_of[1:n] != code_of[: n - 1] for code_of in tables])
    return Placed(Steps(numbers[is_start]), np.append(np.flatnonzero(is_start), MISSING))
