"""The encoding of a table that DuckDB or Spark holds: which columns, rows and values there are, and their codes.

The decisions are those for a table in memory, made by the same functions on the values of each column and the number
of rows that have them. Rows do not come here. What the engines use::

    table = encode_relation(relation, "y", rules)      # a duck.relation.DuckRelation or a spark.relation.SparkRelation
    table.relation       # rows that count: columns p0, ... and label, weight (if table.is_weighted), unit and row
    table.encoders       # one for each column of the study: features, their bins (table.bins), and last the unit if any
    table.label_encoder
    encode_batch(batch, [*table.encoders, table.label_encoder])     # codes of an Arrow batch of table.sources
    table.n_codes        # codes of each column of the study are below these
    table.encoders[0].sizes      # rows of each code, which later passes must find again

Numbers with more values than ``relation.most_values`` are counted in many small steps, so that their values do not
come here; a note says so.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np

from analogical._checks import brief
from analogical._types import Ints, Margins, merge_bins
from analogical.columns.binning import NUMBERS_OF_BINS
from analogical.columns.choosing import ChosenColumns, refuse_repeated
from analogical.columns.encode import leak_notes, refuse_constants
from analogical.columns.meaning import EngineMeaning
from analogical.columns.rules import Rules
from analogical.engines.cells import Encoder, UnitEncoder
from analogical.engines.leaks import find_leaks_there
from analogical.engines.looking import Look
from analogical.engines.preparing import EnginePreparer
from analogical.engines.relation import LABEL, ROW, UNIT, WEIGHT, Kind, Relation
from analogical.engines.roles import Label, check_weights, encode_unit, find_roles, one_class
from analogical.errors import InputError

__all__ = ["EngineTable", "encode_relation"]


@dataclass(frozen=True, kw_only=True)
class EngineTable(EngineMeaning):
    """What the codes of a table that an engine holds mean, and how its cells become codes."""

    relation: Relation
    """The rows that count, with the columns that the encoders read."""
    encoders: tuple[Encoder, ...]
    """For each column of the study: the features, their bins, and last the unit, if there are groups."""
    label_encoder: Encoder
    bins: tuple[tuple[int, int], ...]
    """For each column after the features: the place of its feature, and the number of bins."""
    fine_encoders: Mapping[int, Encoder]
    """For features that are numbers, by place: the finer bins from which all others are merged."""

    @cached_property
    def margins(self) -> Margins:
        """Rows of each label, and of each value of every feature."""
        by_value = tuple(encoder.sizes for encoder in self.encoders[: len(self.columns)])
        return Margins(self.label_encoder.sizes, by_value)

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


def encode_relation(
    relation: Relation,
    label: Any,
    rules: Rules | None = None,
    *,
    keep: Sequence[Any] = (),
) -> EngineTable:
    """The encoding of a table that an engine holds, from a few passes over it.

    The arguments are those of :func:`analogical.columns.encode.encode_table`; label, weights and groups are names of
    columns. Without a label all rows have the same one, and all features may be constant.
    """
    rules = rules or Rules()
    keys = list(relation.columns)
    refuse_repeated(keys)
    roles = find_roles(keys, label, rules)
    taken = {position: what for what, position in roles.items()}
    chosen = ChosenColumns.of(keys, taken, rules)
    look = _look_at(relation, chosen.names, roles, keys)
    label_of = Label.of(look, keys[roles["label"]], rules) if "label" in roles else None
    work = EnginePreparer(
        look,
        chosen=chosen,
        rules=rules,
        wanted=chosen.asked_for(keep),
        bins_of=chosen.own_bins(rules, None if label_of is None else label_of.name),
    )
    work.treat_all()
    look = work.look
    label_meaning, label_encoder = (None, one_class(look)) if label_of is None else label_of.settle(look)
    columns = tuple(feature.meaning for feature in work.features)
    encoders = [feature.codes for feature in work.features]
    if label_of is not None:
        refuse_constants(np.array([len(encoder.sizes) for encoder in encoders]), look.n_rows)
    unit = [encode_unit(look)] if "groups" in roles else []
    leaks = {}
    if label_of is not None:
        leaks = find_leaks_there(look, encoders, columns, label_encoder)
    label_notes = () if label_of is None else label_of.notes
    fine = {i: feature.fine for i, feature in enumerate(work.features) if feature.fine is not None}
    bins = [(i, n_bins) for i in fine for n_bins in NUMBERS_OF_BINS]
    merges = [merge_bins(fine[i].sizes, n_bins, columns[i].n_missing > 0) for i, n_bins in bins]
    merged = [fine[i].merged(code_of.astype(np.int64)) for (i, _), code_of in zip(bins, merges, strict=True)]
    return EngineTable(
        relation=look.relation,
        columns=columns,
        label_meaning=label_meaning,
        encoders=(*encoders, *merged, *unit),
        label_encoder=label_encoder,
        bins=tuple(bins),
        fine_encoders=fine,
        fine_sizes={i: encoder.sizes for i, encoder in fine.items()},
        n_units=len(look.units.weights) + look.units.n_missing if unit else None,
        is_weighted=look.is_weighted,
        notes=(*label_notes, *work.notes, *leak_notes([column.name for column in columns], leaks)),
    )


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
        check_weights(there, f"s{roles['weights']}", name, kind_at[roles["weights"]], types[name])
        columns[WEIGHT] = f"CAST(s{roles['weights']} AS BIGINT)"
    if "groups" in roles:
        columns[UNIT] = _normal(there, f"s{roles['groups']}", kind_at[roles["groups"]])
    there = there.project(columns | {ROW: ROW})
    numbers = {"n": "count(*)", "labelled": f"count({LABEL})"}
    seen = there.aggregate(numbers, "counting the rows")
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
        return f"CAST({name} AS STRING)"
    return relation.dialect.duration.format(name) if kind == "duration" else name
