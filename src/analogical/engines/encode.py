"""The encoding of a table that DuckDB or Spark holds: which columns, rows and values there are, and their codes.

The decisions are those for a table in memory, made by the same functions on the values of each column and the number
of rows that have them. Rows do not come here. What the engines use::

    table = encode_relation(relation, "y", rules)      # a duck.relation.DuckRelation or a spark.relation.SparkRelation
    table.relation       # rows that count: columns p0, ... and label, weight (if table.is_weighted), unit and row
    table.encoders       # one for each column of the study: features, their bins (table.bins), and last the unit if any
    table.label_encoder
    encode_batch(batch, [*table.encoders, table.label_encoder])     # codes of an Arrow batch of table.sources
    table.n_codes        # codes of each column of the study are below these
    table.refuse_changed(by_label, by_column)           # rows of each code, as a later pass counted them

Numbers with more values than ``relation.most_values`` are counted in many small steps, so that their values do not
come here; a note says so.
"""

from collections.abc import Hashable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any, NamedTuple

import numpy as np

from analogical._checks import brief
from analogical._types import Ints, Margins, Note, NoteKind
from analogical.engines.cells import ByValue, DatePart, Encoder, Places, Steps, UnitEncoder, numbers_of
from analogical.engines.leaks import find_leaks_there
from analogical.engines.looking import NUMBERS, TIMES, Look, weights_of
from analogical.engines.relation import LABEL, ROW, UNIT, WEIGHT, Kind, Relation
from analogical.engines.values import ValueCounts
from analogical.errors import InputError
from analogical.table.binning import NUMBERS_OF_BINS, BinRule, merge_bins
from analogical.table.choosing import Chosen, find_column, name_of, refuse_repeated
from analogical.table.columns import MISSING, Column
from analogical.table.dates import WEEKDAYS
from analogical.table.encode import (
    choose_names,
    columns_asked_for,
    leak_notes,
    own_bins,
    refuse_constants,
    refuse_single_class,
)
from analogical.table.frames import as_series
from analogical.table.meaning import ColumnMeaning, EngineMeaning
from analogical.table.preparing import NO_COMPLETE_ROW, Gaps, Preparing, TreatedColumn, missing_values, treat_column
from analogical.table.roles import Role, encode_label, refuse_no_counts, sort_classes
from analogical.table.rules import Rules

__all__ = ["EngineTable", "encode_relation", "table_changed"]


@dataclass(frozen=True, kw_only=True)
class EngineTable(EngineMeaning):
    """What the codes of a table that an engine holds mean, and how its cells become codes."""

    relation: Relation
    """The rows that count, with the columns that the encoders read."""
    margins: Margins
    """Rows of each label, and of each value of every feature."""
    encoders: tuple[Encoder, ...]
    """For each column of the study: the features, their bins, and last the unit, if there are groups."""
    label_encoder: Encoder
    bins: tuple[tuple[int, int], ...]
    """For each column after the features: the place of its feature, and the number of bins."""
    bin_sizes: tuple[Ints, ...]
    """Rows of each of these bins."""
    fine_encoders: Mapping[int, Encoder]
    """For features that are numbers, by place: the finer bins from which all others are merged."""

    @property
    def n_codes(self) -> Ints:
        """For each column of the study the number of its codes."""
        return np.array([encoder.n_codes for encoder in self.encoders], dtype=np.int64)

    @property
    def sources(self) -> list[str]:
        """Columns of the relation that the encoders read, with the weight."""
        unit = self.encoders[-1] if self.n_units is not None else None
        row = [ROW] if isinstance(unit, UnitEncoder) and unit.last_row >= 0 else []
        read = [encoder.source for encoder in (*self.encoders, self.label_encoder)]
        return [*dict.fromkeys(read), *row, *([WEIGHT] if self.is_weighted else [])]

    def refuse_changed(self, by_label: Ints, by_column: Sequence[Ints]) -> None:
        """Refuse a table if a later pass counted other rows; ``by_column`` are those of features, then of bins."""
        known = (self.margins.by_label, *self.margins.by_value, *self.bin_sizes)
        if not all(map(np.array_equal, (by_label, *by_column), known)):
            raise table_changed()


def table_changed() -> InputError:
    """The error for a table of which two passes saw different rows."""
    return InputError(
        "The table changed while it was read: its columns hold other values than before. Write it to a file, or"
        " keep it (df.cache()), and use that."
    )


def encode_relation(
    relation: Relation,
    label: Any,
    rules: Rules | None = None,
    *,
    keep: Sequence[Any] = (),
    look_for_leaks: bool = True,
    look_for_units: bool = False,
) -> EngineTable:
    """The encoding of a table that an engine holds, from a few passes over it.

    The arguments are those of :func:`analogical.table.encode.encode_table`; label, weights and groups are names of
    columns. Without a label all rows have the same one, and all features may be constant.
    """
    rules = rules or Rules()
    keys = list(relation.columns)
    refuse_repeated(keys)
    roles = _find_roles(keys, label, rules)
    taken = {position: what for what, position in roles.items()}
    free = [position for position in range(len(keys)) if position not in taken]
    names, called, asked = choose_names(keys, taken, free, rules)
    chosen = asked.columns
    look = _look_at(relation, {p: names[p] for p in sorted({*chosen, *asked.named_parts})}, roles, keys)
    label_of = _Label.of(look, keys[roles["label"]], rules) if "label" in roles else None
    work = _RowsElsewhere(
        look,
        rules,
        set(chosen) if rules.features is not None else columns_asked_for(keep, called, chosen, free),
        own_bins(rules, called, chosen, None if label_of is None else label_of.name),
        asked,
        keys,
        {position: place for place, position in enumerate(free)},
    )
    work.treat_all(look_for_units=look_for_units and rules.groups is None)
    look = work.look_there
    classes = _one_class(look) if label_of is None else label_of.settle(look)
    features = [*work.built, *work.built_parts]
    columns = tuple(feature.meaning for feature in features)
    encoders = [feature.coded.encoder for feature in features]
    margins = Margins(classes.sizes, tuple(feature.coded.sizes for feature in features))
    if label_of is not None:
        refuse_constants(margins.n_values, look.n_rows)
    unit = [_encode_unit(look)] if "groups" in roles else []
    leaks = {}
    if look_for_leaks and label_of is not None:
        leaks = find_leaks_there(look, encoders, columns, classes.encoder, classes.sizes)
    label_notes = () if label_of is None else label_of.notes
    bins = [coded for feature in features for coded in feature.bins.values()]
    fine = {i: feature.fine for i, feature in enumerate(features) if feature.fine is not None}
    return EngineTable(
        relation=look.relation,
        columns=columns,
        label_meaning=classes.meaning,
        margins=margins,
        encoders=(*encoders, *(coded.encoder for coded in bins), *unit),
        label_encoder=classes.encoder,
        bins=tuple((i, n_bins) for i, feature in enumerate(features) for n_bins in feature.bins),
        bin_sizes=tuple(coded.sizes for coded in bins),
        fine_encoders={i: coded.encoder for i, coded in fine.items()},
        fine_sizes={i: coded.sizes for i, coded in fine.items()},
        n_units=len(look.units.weights) + look.units.n_missing if unit else None,
        is_weighted=look.is_weighted,
        notes=(*label_notes, *work.notes, *leak_notes([column.name for column in columns], leaks)),
    )


# ---------------------------------------------------------------- which columns and rows


def _find_roles(keys: list[str], label: Any, rules: Rules) -> dict[str, int]:
    """Positions of the label, the weights and the groups."""
    roles: dict[str, int] = {}
    for what, given in (("label", label), ("weights", rules.weights), ("groups", rules.groups)):
        if given is None:
            continue
        if not isinstance(given, str):
            raise InputError(
                f"The {what} of a table on Spark or DuckDB must be the name of a column, got {type(given).__name__}."
            )
        position = find_column(given, keys, what)
        for other, its_position in roles.items():
            if its_position == position:
                raise InputError(f"The column {given!r} cannot be both the {other} and the {what}; choose another one.")
        roles[what] = position
    return roles


def _look_at(relation: Relation, names: Mapping[int, str], roles: Mapping[str, int], keys: list[str]) -> Look:
    """A look at the columns with these names, on the rows that have a label and a weight."""
    kinds, types = relation.kinds, relation.types
    for what, position in [*(("feature", p) for p in names), *roles.items()]:
        if kinds[keys[position]] == "other":
            raise InputError(
                f"The {what} {brief(keys[position])} has the type {types[keys[position]]}, which is not one value per"
                " row; leave the column out, or split it into one column for each part."
            )
    kind_at = [kinds[key] for key in keys]
    there = relation.numbered()
    columns = {f"p{p}": _normal(there, f"s{p}", kind_at[p]) for p in names}
    label_kind: Kind = kind_at[roles["label"]] if "label" in roles else "whole"
    columns[LABEL] = _normal(there, f"s{roles['label']}", label_kind) if "label" in roles else "0"
    if "weights" in roles:
        name = keys[roles["weights"]]
        _check_weights(there, f"s{roles['weights']}", name, kind_at[roles["weights"]], types[name])
        columns[WEIGHT] = f"CAST(s{roles['weights']} AS {relation.dialect.long})"
    if "groups" in roles:
        columns[UNIT] = _normal(there, f"s{roles['groups']}", kind_at[roles["groups"]])
    there = there.project(columns | {ROW: ROW})
    numbers = {"n": "count(*)", "labelled": f"count({LABEL})"}
    seen = there.look(numbers, "counting the rows")
    n_rows = int(seen["n"])
    if n_rows == 0:
        raise InputError("The table is empty (0 rows); give at least two rows with different labels.")
    if seen["labelled"] == 0:
        raise InputError(
            f"The label {brief(keys[roles['label']])} is missing in all {n_rows:,} rows; choose another column as the"
            " label."
        )
    condition = f"{LABEL} IS NOT NULL" + (f" AND {WEIGHT} > 0" if "weights" in roles else "")
    kind_of: dict[str, Kind] = {f"p{p}": kind_at[p] for p in names}
    kind_of |= {LABEL: label_kind, UNIT: kind_at[roles["groups"]] if "groups" in roles else "nothing"}
    is_all = seen["labelled"] == n_rows and "weights" not in roles
    return Look(
        there if is_all else there.where(condition),
        names,
        kind_of,
        is_weighted="weights" in roles,
        whole=there,
        n_table=n_rows,
        n_unlabelled=n_rows - int(seen["labelled"]),
    )


def _normal(relation: Relation, name: str, kind: Kind) -> str:
    """An expression whose results are equal where values are: NaN becomes missing, -0.0 becomes 0.0."""
    if kind == "real":
        return f"CASE WHEN isnan({name}) THEN NULL WHEN {name} = 0 THEN 0 ELSE {name} END"
    if kind == "nothing":
        return f"CAST({name} AS {relation.dialect.text})"
    return relation.dialect.duration.format(name) if kind == "duration" else name


def _check_weights(relation: Relation, column: str, name: str, kind: Kind, type_name: str) -> None:
    """Weights must be whole numbers from 0, not all 0."""
    expected = "weights must be whole numbers from 0 (how many rows each row stands for)"
    if kind not in ("whole", "real", "decimal"):
        raise InputError(f"{expected}, and {brief(name)} has the type {type_name}.")
    number = f"CAST({column} AS DOUBLE)"
    is_bad = f"({number} IS NULL OR isnan({number}) OR {number} < 0 OR {number} != floor({number}))"
    above = f"CASE WHEN {number} > 0 THEN {number} END"
    seen = relation.look(
        {
            "bad": f"count(CASE WHEN {is_bad} THEN 1 END)",
            "one": f"min(CASE WHEN {is_bad} THEN {number} END)",
            "top": f"max({number})",
            "low": f"min({above})",
            "n": f"count({above})",
            "distinct_ones": relation.dialect.about_distinct.format(above),
        },
        "looking at the weights",
    )
    if seen["bad"]:
        one = "a missing one" if seen["one"] is None else f"{seen['one']:g}"
        raise InputError(
            f"{expected}, got {one} in {brief(name)}, and {seen['bad']:,} such weights in all; use counts, not shares."
        )
    if seen["top"] == 0:
        raise InputError(f"{expected}, and at least one above 0; all weights in {brief(name)} are zero.")
    if seen["n"]:
        refuse_no_counts(name, seen["n"], seen["distinct_ones"], seen["low"], seen["top"])


# ---------------------------------------------------------------- the label and the groups


@dataclass(frozen=True)
class _Label:
    """The label: its values, and the class of each."""

    name: str
    values: Any
    """An Arrow array."""
    column: Column
    """One row for each value."""
    notes: tuple[Note, ...]

    @classmethod
    def of(cls, look: Look, name: str, rules: Rules) -> "_Label":
        """The label of all rows that count, before rows with missing cells are left out."""
        import pyarrow as pa

        counted = look.label
        if counted.is_full:
            raise InputError(
                f"The label {brief(name)} has more than {look.relation.most_values:,} values, too many for classes;"
                " choose another label, or bin it before."
            )
        if not counted.weight:
            raise InputError("No row has both a label and a weight above 0; look at the label and the weights.")
        role = Role("label", name, as_series(pa.chunked_array([counted.values])))
        column, notes = encode_label(role, counted.weights, rules)
        if look.n_unlabelled:
            notes = (Note("label-missing", (name,), (look.n_unlabelled,)), *notes)
        return cls(name, counted.values, column, notes)

    def settle(self, look: Look) -> "_Classes":
        """The classes that are left, sorted."""
        import pyarrow as pa
        import pyarrow.compute as pc

        left = look.label
        places = pc.index_in(self.values, value_set=left.values)
        is_left = places.is_valid().to_numpy(zero_copy_only=False)
        weights = left.weights[places.drop_null().to_numpy()]
        column = sort_classes(self.column.take(is_left))
        n_before = len(self.column.values)
        if n_before == 1 and look.is_weighted:
            ends = look.whole.look({"low": f"min({LABEL})", "high": f"max({LABEL})"}, "looking at the label")
            n_before += ends["low"] != ends["high"]
        if len(column.values) == 1:
            refuse_single_class(column, self.name, look.weight, n_before, look.n_table - look.n_rows)
        codes = column.codes.astype(np.int64)
        values = ValueCounts(self.values.filter(pa.array(is_left)), weights)
        placed = _Placed.of(values, look.kinds[LABEL], [codes])
        encoder = Encoder(LABEL, placed.places, np.append(codes[placed.first], MISSING))
        sizes = np.bincount(codes, weights, minlength=len(column.values)).astype(np.int64)
        return _Classes(ColumnMeaning(self.name, self.name, column.values), encoder, sizes)


class _Classes(NamedTuple):
    """The classes of the rows that are left: what they mean, how labels become classes, and the rows of each."""

    meaning: ColumnMeaning | None
    encoder: Encoder
    sizes: Ints


def _one_class(look: Look) -> _Classes:
    """The class of all rows of a table without a label."""
    encoder = Encoder(LABEL, ByValue(look.label.values), np.array([0, MISSING]))
    return _Classes(None, encoder, np.array([look.weight]))


def _encode_unit(look: Look) -> UnitEncoder:
    """The numbers of the groups."""
    units = look.units
    last_row = -1
    if units.n_missing:
        rows = look.relation.where(f"{UNIT} IS NULL").look({"last": f"max({ROW})"}, "looking at the groups")
        last_row = int(rows["last"])
    places = _Placed.of(units, look.kinds[UNIT], [np.arange(len(units.weights) + bool(units.n_missing))]).places
    return UnitEncoder(UNIT, places, np.arange(len(places)), last_row)


# ---------------------------------------------------------------- the features


class _RowsElsewhere(Preparing):
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
        self.built: list[_Feature] = []
        self.built_parts: list[_Feature] = []

    def load(self, position: int) -> Column:
        """A column, on the rows that are left."""
        look = self.look_there
        if look.is_full(position) and self._is_full_id(position):  # none of its values is looked at
            return Column(np.zeros(0, np.int64), [], "time" if look.kind_of(position) in TIMES else "category")
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
        meaning = _meaning(name, name, len(self.place_of) + len(self.parts), treated)
        known = _part_numbers(part, cells)
        self.built_parts.append(_Feature.of(meaning, f"p{position}", DatePart(part), known, treated, weights))
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
        placed = _Placed.of(counted, look.kind_of(position), codes)
        fine = None if treated.fine is None else treated.fine[placed.first]
        of_places = replace(treated, codes=treated.codes[placed.first], fine=fine)
        meaning = _meaning(self.keys[position], self.names[position], self.place_of[position], treated)
        known = np.arange(len(placed.first), dtype=np.int64)
        self.built.append(_Feature.of(meaning, f"p{position}", placed.places, known, of_places, placed.weights))
        self.treated[position] = _without_codes(treated)

    def bin_note(self, position: int, treated: TreatedColumn) -> NoteKind:
        """What is to be said of a column if it was binned."""
        return "binned-in-steps" if self.look_there.is_full(position) else super().bin_note(position, treated)


class _GapsThere(Gaps):
    """Missing cells of some columns: how many each has."""

    def __init__(self, work: _RowsElsewhere) -> None:
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
class _Feature:
    """A feature; of numbers also the finer bins, and by their number the bins that are merged from these."""

    meaning: ColumnMeaning
    coded: _Coded
    fine: _Coded | None = None
    bins: Mapping[int, _Coded] = field(default_factory=dict)

    @classmethod
    def of(
        cls, meaning: ColumnMeaning, source: str, places: Places, known: Ints, treated: TreatedColumn, weights: Ints
    ) -> "_Feature":
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


def _meaning(key: Hashable, name: str, position: int, treated: TreatedColumn) -> ColumnMeaning:
    """What the codes of a feature mean."""
    return ColumnMeaning(
        key=key,
        name=name,
        values=treated.values,
        position=position,
        treatment="categories" if treated.edges is None else "bins",
        edges=treated.edges or (),
        n_missing=treated.n_missing,
        fine_ends=treated.fine_ends,
    )


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
class _Placed:
    """The places of the values of a column: numbers share one as long as their codes are equal."""

    places: Places
    first: Ints
    """For each place, and then for missing cells if there are any, the number of the first value there."""
    weights: Ints
    """The rows of the table at each of these."""

    @classmethod
    def of(cls, counted: ValueCounts, kind: Kind, codes: Sequence[Any]) -> "_Placed":
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
