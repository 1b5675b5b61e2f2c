"""The label, the weights and the groups of a table that an engine holds."""

from dataclasses import dataclass
from typing import Any, NamedTuple

import numpy as np

from analogical._checks import brief
from analogical._types import Ints, Note
from analogical.engines.cells import ByValue, Encoder, UnitEncoder
from analogical.engines.looking import Look
from analogical.engines.preparing import Placed
from analogical.engines.relation import LABEL, ROW, UNIT, Kind, Relation
from analogical.engines.values import ValueCounts
from analogical.errors import InputError
from analogical.table.choosing import find_column
from analogical.table.columns import MISSING, Column
from analogical.table.encode import refuse_single_class
from analogical.table.frames import as_series
from analogical.table.meaning import ColumnMeaning
from analogical.table.roles import Role, encode_label, refuse_no_counts, sort_classes
from analogical.table.rules import Rules

__all__ = ["Classes", "Label", "check_weights", "encode_unit", "find_roles", "one_class"]


def find_roles(keys: list[str], label: Any, rules: Rules) -> dict[str, int]:
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


def check_weights(relation: Relation, column: str, name: str, kind: Kind, type_name: str) -> None:
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


@dataclass(frozen=True)
class Label:
    """The label: its values, and the class of each."""

    name: str
    values: Any
    """An Arrow array."""
    column: Column
    """One row for each value."""
    notes: tuple[Note, ...]

    @classmethod
    def of(cls, look: Look, name: str, rules: Rules) -> "Label":
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

    def settle(self, look: Look) -> "Classes":
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
        placed = Placed.of(values, look.kinds[LABEL], [codes])
        encoder = Encoder(LABEL, placed.places, np.append(codes[placed.first], MISSING))
        sizes = np.bincount(codes, weights, minlength=len(column.values)).astype(np.int64)
        return Classes(ColumnMeaning(self.name, self.name, column.values), encoder, sizes)


class Classes(NamedTuple):
    """The classes of the rows that are left: what they mean, how labels become classes, and the rows of each."""

    meaning: ColumnMeaning | None
    encoder: Encoder
    sizes: Ints


def one_class(look: Look) -> Classes:
    """The class of all rows of a table without a label."""
    encoder = Encoder(LABEL, ByValue(look.label.values), np.array([0, MISSING]))
    return Classes(None, encoder, np.array([look.weight]))


def encode_unit(look: Look) -> UnitEncoder:
    """The numbers of the groups."""
    units = look.units
    last_row = -1
    if units.n_missing:
        rows = look.relation.where(f"{UNIT} IS NULL").look({"last": f"max({ROW})"}, "looking at the groups")
        last_row = int(rows["last"])
    places = Placed.of(units, look.kinds[UNIT], [np.arange(len(units.weights) + bool(units.n_missing))]).places
    return UnitEncoder(UNIT, places, np.arange(len(places)), last_row)
