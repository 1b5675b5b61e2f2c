"""The road from a Spark table to codes: which columns, which rows, which values, and what they become.

The same decisions as for a table in memory, made by the same functions, on the values of each column and how many rows
have them. Columns with very many numbers are looked at in many small steps first, so that their values never come here.
"""

from dataclasses import dataclass, replace
from functools import partial
from typing import TYPE_CHECKING, Any

import numpy as np

from analogical._checks import brief
from analogical._types import CodedRows, Ints, Margins, Note, NoteKind
from analogical.errors import InputError
from analogical.spark.cells import ByValue, Steps, numbers_of, pack_batches, place_batches
from analogical.spark.session import collect
from analogical.spark.values import MOST_VALUES, ValueCounts, count_values
from analogical.spark.words import LABEL, WEIGHT, Layout
from analogical.table.binning import BinRule
from analogical.table.choosing import choose_features, find_column, refuse_repeated
from analogical.table.columns import MISSING, Column
from analogical.table.encode import EncodedTable, own_bins, refuse_constants, refuse_single_class
from analogical.table.folding import fold_notes
from analogical.table.frames import as_series
from analogical.table.meaning import ColumnMeaning
from analogical.table.preparing import NO_COMPLETE_ROW, TreatedColumn, missing_values, note_bins, treat_column
from analogical.table.reading import encode_cells
from analogical.table.roles import Role, encode_label, refuse_no_counts, sort_classes
from analogical.table.rules import NEARLY_ALL, Rules, counts_rows

if TYPE_CHECKING:
    import pyarrow as pa
    from pyspark.sql import DataFrame

__all__ = ["SparkTable", "encode_spark_table"]

N_STEPS = 10_000
"""Steps of about equally many rows in which the numbers of a column with very many values are looked at."""
UNSURE = (0.9, 0.99)
"""If the estimated share of different values lies between these, they are counted, to tell whether it is an id."""
_PLAIN = ("string", "char", "varchar", "boolean", "tinyint", "smallint", "int", "bigint", "float", "double", "decimal")
_TIMES = ("date", "timestamp", "timestamp_ntz")
_NUMBERS = ("tinyint", "smallint", "int", "bigint", "float", "double", "decimal")


@dataclass(frozen=True)
class SparkTable:
    """A table on Spark, and how its cells become codes."""

    frame: "DataFrame"
    """The features as ``c0``, ``c1``, ..., the label and, if rows have weights, the weight; only rows that count."""
    columns: tuple[ColumnMeaning, ...]
    encoders: tuple[ByValue | Steps, ...]
    """One for each feature, and a last one for the label."""
    label_meaning: ColumnMeaning
    margins: Margins
    is_weighted: bool
    notes: tuple[Note, ...]

    def encoded(self, rows: CodedRows) -> EncodedTable:
        """Some or all of the rows as an encoded table, with the meaning of all codes."""
        return EncodedTable(
            codes=rows.codes,
            columns=self.columns,
            weights=rows.weights,
            labels=rows.labels,
            label_meaning=self.label_meaning,
            groups=None,
            origin=None,
            frame=None,
            notes=self.notes,
        )

    def words(self, blocks: tuple[tuple[int, ...], ...]) -> "DataFrame":
        """The rows as words, block by block, with label and weight."""
        layout = Layout(tuple(self.margins.n_values.tolist()), blocks)
        names = [*layout.names, LABEL, *([WEIGHT] if self.is_weighted else [])]
        schema = ", ".join(f"{name} long" for name in names)
        return self.frame.mapInArrow(partial(pack_batches, layout, self.encoders), schema)


def encode_spark_table(frame: "DataFrame", label: Any, rules: Rules) -> SparkTable:
    """Settle what becomes of the columns of a Spark table, from a few passes over it; no row comes here."""
    if frame.isStreaming:
        raise InputError("df is a streaming dataframe, which cannot be counted; write it to a table first.")
    keys = list(frame.columns)
    refuse_repeated(keys)
    roles = _find_roles(keys, label, rules.weights)
    label_name = keys[roles["label"]]
    taken = {position: what for what, position in roles.items()}
    chosen = choose_features(keys, taken, rules.features, rules.ignore).columns
    if not chosen:
        raise InputError("The table has no features; give at least one column besides the label.")
    types = dict(frame.dtypes)
    _refuse_types({keys[p]: types[keys[p]] for p in [*chosen, *roles.values()]})
    look = _Look.at(frame, keys, chosen, roles, types)
    label_column, label_encoder, label_notes = _treat_label(look, label_name, rules)
    wanted = set(chosen) if rules.features is not None else set()
    bins_of = own_bins(rules, keys, chosen, label_name)
    ids = look.find_ids(rules, wanted | bins_of.keys())
    notes = list(label_notes)
    if ids:
        notes.append(Note("set-aside", tuple(keys[p] for p in sorted(ids))))
    look = look.without(ids)
    look, missing_notes = look.settle_missing(rules)
    treated = [look.treat(position, rules, bins_of.get(position)) for position in look.positions]
    if missing_notes and rules.missing == "drop":  # labels may have gone with the rows
        label_column, label_encoder, _ = _treat_label(look, label_name, rules)
    notes += missing_notes
    kinds: tuple[NoteKind, ...] = ("binned", "binned-time", "binned-in-steps")
    for kind in kinds:
        notes += note_bins(kind, {one.meaning.name: one.column for one in treated if one.note == kind})
    if rules.date_parts:
        binned = [p for p, one in zip(look.positions, treated, strict=True) if one.column.edges is not None]
        times = [keys[p] for p in sorted([*ids, *binned]) if types[keys[p]] in _TIMES]
        notes += [Note("no-date-parts", tuple(times))] if times else []
    notes += fold_notes({one.meaning.name: one.column.folded for one in treated if one.column.folded is not None})
    margins = Margins(
        _sizes(label_encoder, look.counts[LABEL], len(label_column.values)), tuple(one.sizes for one in treated)
    )
    refuse_constants(margins.n_values, look.n_rows)
    free = [p for p in range(len(keys)) if p not in taken]
    return SparkTable(
        frame=look.renamed(),
        columns=tuple(
            replace(one.meaning, position=free.index(p)) for one, p in zip(treated, look.positions, strict=True)
        ),
        encoders=(*(one.encoder for one in treated), label_encoder),
        label_meaning=ColumnMeaning(label_name, label_name, label_column.values),
        margins=margins,
        is_weighted=look.is_weighted,
        notes=tuple(notes),
    )


def _find_roles(keys: list[str], label: Any, weights: Any) -> dict[str, int]:
    """Positions of the label and the weights."""
    roles = {}
    for what, given in (("label", label), ("weights", weights)):
        if given is None and what == "weights":
            continue
        if not isinstance(given, str):
            raise InputError(f"The {what} of a Spark table must be the name of a column, got {type(given).__name__}.")
        roles[what] = find_column(given, keys, what)
    if len(set(roles.values())) < len(roles):
        raise InputError(f"The column {label!r} cannot be both the label and the weights; choose another one.")
    return roles


def _refuse_types(types: dict[str, str]) -> None:
    for name, kind in types.items():
        base = kind.split("(")[0].split("<")[0].split(" ")[0]
        if base not in (*_PLAIN, *_TIMES, "void", "interval"):
            raise InputError(
                f"The column {brief(name)} has the type {kind}, which is not one value per row; leave the column out,"
                " or split it into one column for each part."
            )


@dataclass(frozen=True)
class _Treated:
    """One feature: what its codes mean, how cells get them, and how many rows have each."""

    meaning: ColumnMeaning
    column: TreatedColumn
    encoder: ByValue | Steps
    sizes: Ints
    note: NoteKind
    """What to say if it was binned."""


@dataclass(frozen=True)
class _Look:
    """The rows that count, and what is known of their columns."""

    frame: "DataFrame"
    """The columns as ``p0``, ``p1``, ... by their positions, label and weight."""
    keys: list[str]
    types: dict[str, str]
    positions: list[int]
    """Of the features."""
    counts: dict[str, ValueCounts]
    steps: frozenset[int]
    """Columns with very many numbers, of which the steps they lie on are known."""
    is_weighted: bool
    n_label_missing: int
    n_parts: int

    @classmethod
    def at(
        cls, frame: "DataFrame", keys: list[str], chosen: list[int], roles: dict[str, int], types: dict[str, str]
    ) -> "_Look":
        """Look at the columns that were chosen, in the rows that have a label and a weight."""
        from pyspark.sql import functions as F

        frame = frame.toDF(*(f"s{p}" for p in range(len(keys))))  # by position: names may differ in case only

        def source(position: int) -> Any:
            cells = F.col(f"s{position}")
            return cells.cast("string") if types[keys[position]] == "void" else cells

        columns = [source(p).alias(f"p{p}") for p in chosen] + [source(roles["label"]).alias(LABEL)]
        is_weighted = "weights" in roles
        if is_weighted:
            name = keys[roles["weights"]]
            _check_weights(frame, source(roles["weights"]), name, types[name])
            columns.append(source(roles["weights"]).cast("long").alias(WEIGHT))
        selected = frame.select(*columns)
        gap = _is_missing(LABEL, types[keys[roles["label"]]])
        seen = collect(selected.agg(F.count(F.lit(1)).alias("n"), F.count_if(gap).alias("gaps")), "counting the rows")
        n_rows, n_gaps = seen.column("n")[0].as_py(), seen.column("gaps")[0].as_py()
        if n_rows == 0:
            raise InputError("The table is empty (0 rows); give at least two rows with different labels.")
        label = keys[roles["label"]]
        if n_gaps == n_rows:
            raise InputError(
                f"The label {brief(label)} is missing in all {n_rows:,} rows; choose another column as the label."
            )
        selected = selected.filter(~gap)
        if is_weighted:
            selected = selected.filter(F.col(WEIGHT) > 0)
        types = {**types, LABEL: types[label]}
        look = cls(selected, keys, types, list(chosen), {}, frozenset(), is_weighted, n_gaps, _n_parts(frame))
        return look.counted()

    def counted(self) -> "_Look":
        """The same rows with the values of all columns counted anew."""
        counts = count_values(self.frame, [*(f"p{p}" for p in self.positions), LABEL], self.n_parts, MOST_VALUES)
        if not counts[LABEL].weight:
            raise InputError("No row has both a label and a weight above 0; look at the label and the weights.")
        return replace(self, counts=counts)

    @property
    def n_rows(self) -> int:
        """Total weight of the rows that count."""
        return self.counts[LABEL].weight

    def kind_of(self, position: int) -> str:
        """Spark's type of a column, without its parameters."""
        return self.types[self.keys[position]].split("(")[0]

    def column(self, position: int) -> tuple[Column, Ints]:
        """A column with one row for each of its values, sorted, and one if cells are missing; and the rows of each."""
        import pyarrow as pa

        found = self.counts[f"p{position}"]
        values, weights = _sorted(found)
        if found.n_missing:
            values = pa.concat_arrays([values, pa.nulls(1, values.type)])
            weights = np.append(weights, found.weight_missing)
        column = encode_cells(as_series(pa.chunked_array([values])), f"feature {brief(self.keys[position])}")
        return column, weights

    def find_ids(self, rules: Rules, wanted: set[int]) -> set[int]:
        """Columns with another value in nearly every row; none if there is no other column."""
        if rules.ids == "keep":
            return set()
        full = [p for p in self.positions if self.counts[f"p{p}"].is_full and p not in wanted]
        full = [p for p in full if self.kind_of(p) not in ("float", "double", "decimal")]
        ids = self._ids_among(full)
        for p in self.positions:
            if p not in wanted and not self.counts[f"p{p}"].is_full:
                column, weights = self.column(p)
                if rules.is_id(column, self.keys[p], weights):
                    ids.add(p)
        return ids if len(ids) < len(self.positions) else set()

    def _ids_among(self, positions: list[int]) -> set[int]:
        """The ids among columns with very many values, whose number is estimated and, where that is close, counted."""
        from pyspark.sql import functions as F

        if not positions:
            return set()
        about: list[Any] = []
        for p in positions:
            about.append(F.approx_count_distinct(f"p{p}", 0.01).alias(f"n{p}"))
            about += [F.min(f"p{p}").alias(f"low{p}"), F.max(f"p{p}").alias(f"high{p}")]
        found = collect(self.frame.agg(*about), "looking at columns with very many values").to_pylist()[0]
        rows = {p: self.counts[f"p{p}"].weight for p in positions}
        unsure = [p for p in positions if UNSURE[0] * rows[p] <= found[f"n{p}"] <= UNSURE[1] * rows[p]]
        if unsure:
            exact = self.frame.agg(*(F.count_distinct(f"p{p}").alias(f"n{p}") for p in unsure))
            found |= collect(exact, "counting distinct values").to_pylist()[0]
        ids = {p for p in positions if found[f"n{p}"] >= NEARLY_ALL * rows[p]}
        return {
            p
            for p in ids
            if self.kind_of(p) not in _NUMBERS
            or counts_rows(self.keys[p], found[f"n{p}"], found[f"low{p}"], found[f"high{p}"])
        }

    def without(self, positions: set[int]) -> "_Look":
        """The look without some features; of those left, columns with very many numbers are divided into steps."""
        left = [p for p in self.positions if p not in positions]
        names = [f"p{p}" for p in self.positions if p in positions]
        return replace(self, frame=self.frame.drop(*names), positions=left).with_steps()

    def with_steps(self) -> "_Look":
        """Steps, and how many rows lie on each, for columns with very many numbers."""
        full = [p for p in self.positions if self.counts[f"p{p}"].is_full]
        for p in full:
            if self.kind_of(p) not in (*_NUMBERS, *_TIMES):
                raise InputError(
                    f"The feature {brief(self.keys[p])} has more than {MOST_VALUES:,} values, too many to collect,"
                    " and is neither a number nor an identifier; leave it out with ignore, or merge its values first."
                )
        if not full:
            return self
        steps = {p: self._find_steps(p) for p in full}
        stepped = _on_steps(self.frame, {f"p{p}": steps[p] for p in full})
        counts = count_values(stepped, [f"p{p}" for p in full], self.n_parts)
        known = {}
        for p in full:
            found = counts[f"p{p}"]
            known[f"p{p}"] = replace(found, values=steps[p].take(found.values))
        return replace(self, counts={**self.counts, **known}, steps=frozenset(full))

    def _find_steps(self, position: int) -> "pa.Array":
        """Where steps of about equally many rows begin, lowest value first, as the column's own type."""
        import pyarrow as pa
        from pyspark.sql import functions as F

        name, kind = f"p{position}", self.kind_of(position)
        column = F.col(name)
        numbers = column.cast("double")
        if kind == "date":
            numbers = F.unix_date(column).cast("double")
        elif kind.startswith("timestamp"):
            numbers = F.unix_micros(column.cast("timestamp")).cast("double")
        frame = self.frame.select(numbers.alias(name)).filter(F.col(name).isNotNull() & ~F.isnan(name))
        shares = (np.arange(N_STEPS + 1) / N_STEPS).tolist()
        found = np.unique(np.array(frame.approxQuantile(name, shares, 0.5 / N_STEPS)))
        arrow = self.frame.select(name).limit(0).toArrow().schema.field(name).type
        if pa.types.is_floating(arrow):
            return pa.array(found, pa.float64()).cast(arrow, safe=False)
        if pa.types.is_decimal(arrow):
            return pa.array(found, pa.float64())
        whole = pa.array(np.unique(np.floor(found)).astype(np.int64))
        return whole.cast(pa.int32()).cast(arrow) if pa.types.is_date32(arrow) else whole.cast(arrow)

    def settle_missing(self, rules: Rules) -> tuple["_Look", tuple[Note, ...]]:
        """Missing cells refused, their rows left out, or said to be a value of their own."""
        gaps = {p: n for p in self.positions if (n := self.counts[f"p{p}"].n_missing)}
        if not gaps:
            return self, ()
        names = tuple(self.keys[p] for p in gaps)
        if rules.missing == "error":
            found = [f"{self.keys[p]!r} ({n:,} rows)" for p, n in gaps.items()]
            raise missing_values(found)
        if rules.missing == "value":
            return self, (Note("missing-value", names, tuple(gaps.values())),)
        frame = self.frame
        for p in gaps:
            frame = frame.filter(~_is_missing(f"p{p}", self.types[self.keys[p]]))
        n_before = self._count_rows()
        try:
            look = replace(self, frame=frame, steps=frozenset()).counted().with_steps()
        except InputError:
            raise InputError(NO_COMPLETE_ROW) from None
        return look, (Note("missing-dropped", names, (n_before - look._count_rows(), n_before)),)

    def _count_rows(self) -> int:
        """Rows, each counted once."""
        return int(self.frame.count())

    def treat(self, position: int, rules: Rules, rule: BinRule | None) -> _Treated:
        """One feature: categories or bins, with a place for missing cells."""
        name, found = self.keys[position], self.counts[f"p{position}"]
        column, weights = self.column(position)
        done = treat_column(column, name, weights, rules, rule)
        in_steps = position in self.steps
        if in_steps and done.edges is None:  # its values are not known, only the steps they lie on
            raise InputError(
                f"The feature {brief(name)} has more than {MOST_VALUES:,} distinct numbers, too many to be categories"
                " on Spark; give it bins, such as bins=5, and a number as max_values, or leave it out with ignore."
            )
        codes = done.codes.astype(np.int64)
        ordered, _ = _sorted(found)
        of_cell = np.append(codes[: len(ordered)], codes[-1] if found.n_missing else MISSING)
        meaning = ColumnMeaning(
            key=name,
            name=name,
            values=done.values,
            treatment="categories" if done.edges is None else "bins",
            edges=done.edges or (),
            n_missing=found.n_missing,
        )
        return _Treated(
            meaning,
            done,
            Steps(numbers_of(ordered), of_cell) if in_steps else ByValue(ordered, of_cell),
            np.bincount(codes, weights, minlength=len(done.values)).astype(np.int64),
            "binned-in-steps" if in_steps else "binned-time" if done.holds_times else "binned",
        )

    def renamed(self) -> "DataFrame":
        """The features as c0, c1, ... in their order, the label and the weight."""
        from pyspark.sql import functions as F

        columns = [F.col(f"p{p}").alias(f"c{i}") for i, p in enumerate(self.positions)]
        return self.frame.select(*columns, LABEL, *([WEIGHT] if self.is_weighted else []))


def _treat_label(look: _Look, name: str, rules: Rules) -> tuple[Column, ByValue, tuple[Note, ...]]:
    """The classes, sorted, how cells become their codes, and what is to be said."""
    found = look.counts[LABEL]
    if found.is_full:
        raise InputError(
            f"The label {brief(name)} has more than {MOST_VALUES:,} values, too many for classes; choose another label,"
            " or bin it before."
        )
    values, weights = _sorted(found)
    import pyarrow as pa

    role = Role("label", name, as_series(pa.chunked_array([values])))
    column, notes = encode_label(role, weights, rules)
    column = sort_classes(column)
    refuse_single_class(column, name, look.n_rows)
    if look.n_label_missing:
        notes = (Note("label-missing", (name,), (look.n_label_missing,)), *notes)
    return column, ByValue(values, np.append(column.codes.astype(np.int64), MISSING)), notes


def _sizes(encoder: ByValue, found: ValueCounts, n_values: int) -> Ints:
    """Rows of each class."""
    _, weights = _sorted(found)
    return np.bincount(encoder.codes[:-1], weights, minlength=n_values).astype(np.int64)


def _sorted(found: ValueCounts) -> tuple["pa.Array", Ints]:
    """Values in order, so that codes do not depend on how rows were spread, and the rows of each."""
    import pyarrow as pa
    import pyarrow.compute as pc

    if found.values is None:
        return pa.array([], pa.string()), np.zeros(0, np.int64)
    order = pc.array_sort_indices(found.values)
    return found.values.take(order), found.weights[order.to_numpy()]


def _is_missing(name: str, kind: str) -> Any:
    """Whether a cell is missing, for Spark; a NaN is."""
    from pyspark.sql import functions as F

    column = F.col(name)
    return column.isNull() | F.isnan(column) if kind in ("float", "double") else column.isNull()


def _check_weights(frame: "DataFrame", column: Any, name: str, kind: str) -> None:
    """Weights must be whole numbers from 0, not all 0."""
    from pyspark.sql import functions as F

    expected = "weights must be whole numbers from 0 (how many rows each row stands for)"
    if kind.split("(", maxsplit=1)[0] not in _NUMBERS:
        raise InputError(f"{expected}, and {brief(name)} has the type {kind}.")
    number = column.cast("double")
    is_bad = number.isNull() | F.isnan(number) | (number < 0) | (number != F.floor(number))
    seen = collect(
        frame.agg(
            F.count_if(is_bad).alias("bad"),
            F.min(F.when(is_bad, number)).alias("one"),
            F.max(number).alias("top"),
            F.min(F.when(number > 0, number)).alias("low"),
            F.count_if(number > 0).alias("rows"),
            F.approx_count_distinct(F.when(number > 0, number)).alias("distinct"),
        ),
        "looking at the weights",
    ).to_pylist()[0]
    if seen["bad"]:
        one = "a missing one" if seen["one"] is None else f"{seen['one']:g}"
        raise InputError(
            f"{expected}, got {one} in {brief(name)}, and {seen['bad']:,} such weights in all; use counts, not shares."
        )
    if seen["top"] == 0:
        raise InputError(f"{expected}, and at least one above 0; all weights in {brief(name)} are zero.")
    refuse_no_counts(name, seen["rows"], seen["distinct"], seen["low"], seen["top"])


def _on_steps(frame: "DataFrame", steps: dict[str, "pa.Array"]) -> "DataFrame":
    """The steps that cells lie on, by number, with the weights."""
    weight = [WEIGHT] if WEIGHT in frame.columns else []
    schema = ", ".join([*(f"{name} long" for name in steps), *(f"{name} long" for name in weight)])
    numbers = {name: numbers_of(found) for name, found in steps.items()}
    return frame.select(*steps, *weight).mapInArrow(partial(place_batches, numbers, weight), schema)


def _n_parts(frame: "DataFrame") -> int:
    """About how many partitions a frame has; only classic sessions tell."""
    try:
        return int(frame.rdd.getNumPartitions())
    except Exception:  # Spark Connect has no RDD
        return 64
