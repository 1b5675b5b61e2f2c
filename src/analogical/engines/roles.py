"""The label, the weights and the groups of a table that an engine holds."""

from dataclasses import dataclass
from typing import Any

import numpy as np

from analogical._checks import brief
from analogical._types import Note
from analogical.columns.choosing import Names
from analogical.columns.columns import MISSING, Column, Values
from analogical.columns.encode import refuse_single_class
from analogical.columns.frames import as_series
from analogical.columns.meaning import ColumnMeaning
from analogical.columns.reading import encode_cells
from analogical.columns.roles import TreatedLabel, refuse_no_counts, sort_classes, treat_label
from analogical.columns.rules import Rules
from analogical.engines.cells import ByValue, Encoder, UnitEncoder
from analogical.engines.looking import Look
from analogical.engines.preparing import find_places
from analogical.engines.relation import LABEL, ROW, UNIT, Kind, Relation
from analogical.engines.values import ValueCounts
from analogical.errors import InputError

__all__ = ["Label", "check_weights", "encode_unit", "find_roles", "one_class"]


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
        position = Names(keys).find_one(given, what)
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
    seen = relation.aggregate(
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
    treated: TreatedLabel
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
        column = encode_cells(as_series(pa.chunked_array([counted.values])), f"label {brief(name)}")
        values = Values(column.values, counted.weights, column.kind, is_sorted=column.is_sorted)
        treated = treat_label(values, name, rules)
        missing = (Note("label-missing", (name,), (look.n_unlabelled,)),) if look.n_unlabelled else ()
        return cls(name, counted.values, treated, (*missing, *treated.notes))

    def settle(self, look: Look) -> tuple[ColumnMeaning, Encoder]:
        """The classes that are left, sorted, and how labels become classes."""
        import pyarrow as pa
        import pyarrow.compute as pc

        left = look.label
        places = pc.index_in(self.values, value_set=left.values)
        is_left = places.is_valid().to_numpy(zero_copy_only=False)
        weights = left.weights[places.drop_null().to_numpy()]
        class_of_value = Column(self.treated.code_of[:-1], self.treated.classes)
        classes = sort_classes(class_of_value.take(is_left))
        n_before = len(self.treated.classes)
        if n_before == 1 and look.is_weighted:
            ends = look.whole.aggregate({"low": f"min({LABEL})", "high": f"max({LABEL})"}, "looking at the label")
            n_before += ends["low"] != ends["high"]
        refuse_single_class(classes, self.name, look.weight, n_before, look.n_table - look.n_rows)
        code_of = np.append(classes.codes, MISSING)
        placed = find_places(ValueCounts(self.values.filter(pa.array(is_left)), weights), look.kinds[LABEL], [code_of])
        sizes = np.bincount(classes.codes, weights, minlength=len(classes.values)).astype(np.int64)
        encoder = Encoder(LABEL, placed.places, code_of[placed.first], sizes)
        return ColumnMeaning(self.name, self.name, classes.values), encoder


def one_class(look: Look) -> Encoder:
    """The class of all rows of a table without a label."""
    return Encoder(LABEL, ByValue(look.label.values), np.array([0, MISSING]), np.array([look.weight]))


def encode_unit(look: Look) -> UnitEncoder:
    """The numbers of the groups."""
    units = look.units
    last_row = -1
    if units.n_missing:
        rows = look.relation.where(f"{UNIT} IS NULL").aggregate({"last": f"max({ROW})"}, "looking at the groups")
        last_row = int(rows["last"])
    places = find_places(units, look.kinds[UNIT], [np.arange(len(units.weights) + 1)]).places
    return UnitEncoder(UNIT, places, np.arange(len(places)), np.zeros(0, np.int64), last_row)
