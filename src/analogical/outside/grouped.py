"""Tables too large to come home: their library groups the rows, and a sample of them is encoded by memory's code.

Each column is decided on its distinct values and their numbers of rows, which the library counts. To learn the code of
each value, the rows that are encoded are the sample and, below it, rows in which every value of every column occurs.
"""

import tempfile
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, replace
from decimal import Decimal
from pathlib import Path
from typing import Any

import narwhals.stable.v2 as nw
import numpy as np

from analogical._checks import brief, listing
from analogical._types import CodedRows, Ints, Note, code_type
from analogical.columns.columns import MISSING, Column
from analogical.columns.encode import EncodedTable, encode_features, encode_table, refuse_single_class
from analogical.columns.frames import encode_series
from analogical.columns.rules import Rules
from analogical.count.counts import PairCounts, refuse_too_many_rows
from analogical.count.groups import evenly, merge_rows
from analogical.errors import InputError
from analogical.outside.home import MANY, HomeFrame, identifier, table_changed
from analogical.outside.lazy import LazyTable

__all__ = ["GroupedRows", "encode_grouped"]

SEARCHED, DRAWN = 20_000, 200_000
"""Rows of the sample that are kept, for the search of the deciding set; and those that it is drawn from, which also
give the edges of very many distinct numbers."""
MOST_GROUPS = 1_000_000
"""Most groups of rows that depend on each other."""


@dataclass(frozen=True)
class Key:
    """What rows are grouped by for a column, and the code of each of its values."""

    expression: "nw.Expr"
    code_of: Mapping[Any, int]
    missing: int
    """The code of a missing cell."""
    n_codes: int

    def decoded(self, cells: Any) -> Ints:
        """The codes of the values that groups have."""
        column = encode_series(nw.from_native(cells, series_only=True), "column")
        try:
            codes = np.array([*(self.code_of[value] for value in column.values), self.missing], np.int64)
        except KeyError:
            raise table_changed() from None
        return codes[column.codes.astype(np.int64)]


@dataclass(frozen=True)
class GroupedRows:
    """All rows of a table, grouped by its library: what a study asks instead of the rows."""

    table: LazyTable
    """The rows that count."""
    columns: Mapping[int, Column]
    """The distinct values of each column of the user's table that is used, by position."""
    codes: Mapping[int, Ints]
    """For each feature the code of each value of its column, and last that of missing cells."""
    fine: Mapping[int, Ints]
    """The same for the finest bins of numbers."""
    sources: Sequence[tuple[int, str]]
    """For each feature the position of its column, and the part of its dates; an empty text for the column itself."""
    label: Key
    groups: Key | None
    weights: str | None
    """The column of weights."""
    n_rows: int
    """Rows with their weights, identical ones too."""
    is_once: bool
    """Whether identical rows with the same label count once."""

    @property
    def n_groups(self) -> int | None:
        """Groups of rows that depend on each other; None if rows are independent."""
        return None if self.groups is None else self.groups.n_codes

    def group(self, columns: Sequence[Any], most: int) -> CodedRows | None:
        """The distinct rows by these columns and the label, with their counts; None if they are more than ``most``."""
        keys = [self._key(column.feature, column.bins) for column in columns]
        names = [f"k{k}" for k in range(len(keys))]
        rows = self._rows({**dict(zip(names, keys, strict=True)), "label": self.label})
        if self.is_once:
            features = {f"k{i}": self._key(i, None) for i in range(len(self.sources))}
            rows = self._distinct(features)
            places = {name: nw.col(f"k{column.feature}") for name, column in zip(names, columns, strict=True)}
            rows = rows.select("label", "n", **places)
        grouped = rows.group_by(*names, "label").agg(n=nw.col("n").sum().cast(nw.Int64))
        found = self.table.collect(grouped.head(most + 1), "grouping the rows")
        if len(found) > most:
            return None
        sizes = found["n"].to_numpy().astype(np.int64)
        if not self.is_once and int(sizes.sum()) != self.n_rows:
            raise table_changed()
        codes = np.zeros((len(found), len(keys)), np.int64)
        for k, key in enumerate(keys):
            codes[:, k] = key.decoded(found[names[k]])
        n_values = np.array([key.n_codes for key in keys], np.int64)
        labels = self.label.decoded(found["label"])
        coded = CodedRows(
            codes.astype(code_type(int(n_values.max(initial=1)))),
            labels.astype(code_type(self.label.n_codes)),
            n_values,
            self.label.n_codes,
            sizes,
        )
        return merge_rows(coded)

    def count_pairs(self) -> PairCounts:
        """The paper's counts: groups of rows that agree but for one feature, each from a group-by of distinct rows."""
        refuse_too_many_rows(self.n_rows)
        features = {f"k{i}": self._key(i, None) for i in range(len(self.sources))}
        with self._kept(self._distinct(features)) as distinct:
            n_distinct, n_equal, n_alike = _pairs(self.table, distinct, [*features])
            counted = [_pairs(self.table, distinct, [one for one in features if one != name]) for name in features]
        pairs = np.array([pairs - n_equal for _, pairs, _ in counted], np.int64)
        unchanged = np.array([alike - n_alike for *_, alike in counted], np.int64)
        return PairCounts(pairs, pairs - unchanged, self.n_rows, n_distinct, n_equal, n_equal - n_alike)

    def _rows(self, keys: Mapping[str, Key]) -> Any:
        """All rows with these keys, by name, and the number of rows that each stands for."""
        n = nw.lit(1) if self.weights is None else nw.col(self.weights)
        return self.table.frame.select(n=n.cast(nw.Int64), **{name: key.expression for name, key in keys.items()})

    def _distinct(self, features: Mapping[str, Key]) -> Any:
        """The distinct rows by these keys and the label, with their counts, or each once."""
        rows = self._rows({**features, "label": self.label})
        distinct = rows.group_by(*features, "label").agg(n=nw.col("n").sum().cast(nw.Int64))
        return distinct.with_columns(n=nw.lit(1).cast(nw.Int64)) if self.is_once else distinct

    def _key(self, feature: int | None, bins: Any) -> Key:
        """What rows are grouped by for a feature, in some bins of its finest ones; None is the group of each row."""
        if feature is None and self.groups is not None:
            return self.groups
        position, part = self.sources[feature or 0]
        codes = self.codes[feature or 0] if bins is None else np.asarray(bins, np.int64)[self.fine[feature or 0]]
        return key_of(f"c{position}", self.columns[position], codes, part)

    @contextmanager
    def _kept(self, distinct: Any) -> Iterator[Any]:
        """Distinct rows that are not found again for every question."""
        if self.table.engine == "pyspark":
            native = distinct.to_native().persist()
            try:
                yield nw.from_native(native)
            finally:
                native.unpersist()
        elif self.table.engine in ("duckdb", "polars"):
            with tempfile.TemporaryDirectory(prefix="analogical-") as folder:
                self.table.with_frame(distinct).write(Path(folder))
                from analogical.outside.duck import hold_parquet

                yield nw.from_native(hold_parquet(f"{folder}/*.parquet"))
        else:
            yield distinct


def _pairs(table: LazyTable, distinct: Any, columns: Sequence[str]) -> tuple[int, int, int]:
    """Groups of rows that agree on some columns, pairs of rows within them, and those of them with equal labels."""
    m, n = nw.col("m"), nw.col("n")
    by_label = distinct.group_by(*columns, "label").agg(m=n.sum().cast(nw.Int64))
    by_label = by_label.with_columns(alike=m * (m - 1))
    if columns:
        groups = by_label.group_by(*columns).agg(m=m.sum().cast(nw.Int64), alike=nw.col("alike").sum().cast(nw.Int64))
    else:
        groups = by_label.select(m=m.sum().cast(nw.Int64), alike=nw.col("alike").sum().cast(nw.Int64))
    sums = groups.select(
        groups=nw.len(), pairs=(m * (m - 1)).sum().cast(nw.Int64), alike=nw.col("alike").sum().cast(nw.Int64)
    )
    (row,) = table.collect(sums, "counting pairs").to_pylist()
    return int(row["groups"]), int(row["pairs"]) // 2, int(row["alike"]) // 2


def key_of(name: str, column: Column, codes: Ints, part: str = "") -> Key:
    """What rows are grouped by so that groups have these codes: for each value of a column, and last missing cells."""
    values, missing = list(column.values), int(codes[-1])
    of_values, n_codes = codes[:-1], int(codes.max(initial=0)) + 1
    if part and column.kind == "time":
        numbers = [value.isoweekday() if part == "weekday" else getattr(value, part) for value in values]
        code_of = {number: int(code) for number, code in zip(numbers, of_values, strict=True)}
        if part == "weekday" and 7 in code_of:
            code_of[0] = code_of[7]  # Sunday on Spark, by narwhals 2.28
        return Key(getattr(nw.col(name).dt, part)(), code_of, missing, n_codes)
    starts = np.flatnonzero(np.diff(of_values)) + 1
    if column.kind == "category" or not column.is_sorted or len(starts) + 1 >= len(values):
        first_of = {int(code): value for code, value in reversed(list(zip(of_values, values, strict=True)))}
        expression: Any = nw.col(name)
        for value, code in zip(values, of_values, strict=True):  # spellings of one value
            if first_of[int(code)] != value and column.kind == "category":
                expression = nw.when(nw.col(name) == value).then(nw.lit(first_of[int(code)])).otherwise(expression)
        return Key(expression, dict(zip(values, of_values.tolist(), strict=True)), missing, n_codes)
    cell: Any = nw.col(name).cast(nw.Float64) if isinstance(values[0], Decimal) else nw.col(name)
    edges = [float(edge) if isinstance(edge, Decimal) else edge for edge in (values[place] for place in starts)]
    run = nw.sum_horizontal(nw.lit(0), *[(cell >= nw.lit(edge)).cast(nw.Int32) for edge in edges])
    code_of = dict(enumerate(of_values[[0, *starts]].tolist()))
    return Key(nw.when(~nw.col(name).is_null()).then(run), code_of, missing, n_codes)


class _Sample(HomeFrame):
    """Columns that were encoded already: a sample, and rows with every value of every column."""

    def __getitem__(self, position: int) -> Column:
        column: Column = self.here[position]
        return column


def encode_grouped(
    table: LazyTable,
    y: Any,
    rules: Rules,
    places: Mapping[str, int],
    names: Mapping[int, str],
    n_rows: int,
    *,
    keep: Sequence[Any],
    duplicates: str,
    how: Mapping[str, Any],
) -> EncodedTable:
    """A sample of a table as codes, with the meaning that they have by all rows, and the source of all rows.

    ``places`` are the columns with a role, ``names`` those that may be features, by position; ``how`` are further
    arguments of memory's encoder.
    """
    rows, notes = _rows_that_count(table, places, n_rows)
    whole = replace(rules, missing="value")
    encoded = _encode(rows, y, whole, places, names, keep=keep, duplicates=duplicates, how=how)
    gaps = {column.name: column.n_missing for column in encoded.columns if column.n_missing}
    if gaps and rules.missing == "error":
        columns = listing([f"{name!r} ({n:,} cells)" for name, n in gaps.items()])
        raise InputError(
            f"Missing values (NaN or None) in {columns}; count them as a separate value with"
            ' missing="value", or leave out their rows with missing="drop" (--missing drop).'
        )
    if gaps and rules.missing == "drop":
        used = sorted({f"c{p}" for p, _ in encoded.source.sources if encoded.source.columns[p].n_missing})
        n_before, complete = rows.n_rows(), rows.with_frame(rows.frame.drop_nulls(used))
        n_left = complete.n_rows()
        if not n_left:
            raise InputError("Every row has a missing value, so missing='drop' leaves none; use missing='value'.")
        encoded = _encode(complete, y, rules, places, names, keep=keep, duplicates=duplicates, how=how)
        notes += (Note("missing-dropped", tuple(gaps), (n_before - n_left, n_before)),)
    return replace(encoded, notes=(*notes, *encoded.notes))


def _rows_that_count(table: LazyTable, places: Mapping[str, int], n_rows: int) -> tuple[LazyTable, tuple[Note, ...]]:
    """The rows with a label and a weight, in which NaN is missing, and a note on the others."""
    real = [name for name, dtype in table.schema.items() if dtype.is_float()]
    present = [nw.when(~nw.col(name).is_nan()).then(nw.col(name)).alias(name) for name in real]
    frame = table.frame.with_columns(*present) if present else table.frame
    notes: tuple[Note, ...] = ()
    if "label" in places:
        label, key = f"c{places['label']}", table.keys[places["label"]]
        frame = frame.filter(~nw.col(label).is_null())
        n_labelled = table.with_frame(frame).n_rows()
        if not n_labelled:
            raise InputError(
                f"The label {brief(key)} is missing in all {n_rows:,} rows; choose another column as the label."
            )
        notes = (Note("label-missing", (key,), (n_rows - n_labelled,)),) if n_labelled < n_rows else ()
    if "weights" in places:
        weight = nw.col(f"c{places['weights']}")
        frame = frame.filter((weight != 0) | weight.is_null())
    return table.with_frame(frame), notes


def _encode(
    table: LazyTable,
    y: Any,
    rules: Rules,
    places: Mapping[str, int],
    names: Mapping[int, str],
    *,
    keep: Sequence[Any],
    duplicates: str,
    how: Mapping[str, Any],
) -> EncodedTable:
    """The same on rows that count."""
    n_rows, weights = table.n_rows(), f"c{places['weights']}" if "weights" in places else None
    drawn = table.sample(DRAWN, n_rows)
    exact = {*places.values()}
    if rules.ids == "keep" or rules.features is not None:
        exact |= names.keys()
    exact |= {p for p, name in names.items() if name in keep}
    home = _Sample(table, None, {}, ())
    for position in sorted({*names, *places.values()}):
        counts_weights = weights is not None and position != places["weights"]
        home.here[position] = _values_of(table, position, drawn, home, exact, weights if counts_weights else None)
    if "label" in places:
        labels = home.here[places["label"]]
        refuse_single_class(labels, table.keys[places["label"]], int(labels.known_sizes.sum()))
    n_drawn, n_probe = len(drawn), max(len(column.values) for column in home.here.values()) + 1
    home.n_rows = n_drawn + n_probe
    columns = dict(home.here)
    for position, column in columns.items():
        every = np.zeros(n_probe, np.int64)
        every[: len(column.values)] = np.arange(len(column.values))
        every[len(column.values)] = MISSING if column.known_missing else 0
        codes = np.concatenate([column.codes, every]) if len(column.codes) or not n_drawn else column.codes
        home.here[position] = replace(column, codes=codes)
    encoded = encode_table(home, y, rules, keep=keep, **how) if "label" in places else encode_features(home, rules)
    probe = slice(n_drawn, None)
    position_of = {name: position for position, name in names.items()}
    sources = []
    for meaning in encoded.columns:
        if meaning.position < len(table.keys) - len(places):
            sources.append((table.keys.index(str(meaning.key)), ""))
        else:
            stem, _, part = meaning.name.rpartition(".")
            sources.append((position_of[stem], part))

    def of_values(codes: Any, position: int) -> Ints:
        return np.asarray(codes[probe][: len(columns[position].values) + 1], np.int64)

    def role(what: str, codes: Any) -> Key:
        return key_of(f"c{places[what]}", columns[places[what]], of_values(codes, places[what]))

    one = Key(nw.lit(0), {0: 0}, 0, 1)
    source = GroupedRows(
        table,
        columns,
        {i: of_values(encoded.codes[:, i], position) for i, (position, _) in enumerate(sources)},
        {i: of_values(codes, sources[i][0]) for i, codes in encoded.fine.items()},
        sources,
        role("label", encoded.labels) if "label" in places else one,
        role("groups", encoded.groups) if "groups" in places else None,
        weights,
        n_rows if weights is None else int(next(iter(home.here.values())).known_sizes.sum()),
        duplicates == "once",
    )
    kept = evenly(n_drawn, SEARCHED) if n_drawn > SEARCHED else np.arange(n_drawn)

    def some(cells: Any) -> Any:
        return None if cells is None else cells[kept]

    return replace(
        encoded,
        codes=np.asfortranarray(encoded.codes[kept]),
        labels=some(encoded.labels),
        weights=some(encoded.weights),
        groups=some(encoded.groups),
        fine={i: codes[kept] for i, codes in encoded.fine.items()},
        fine_sizes={i: _sizes_of(columns[sources[i][0]], codes) for i, codes in source.fine.items()},
        notes=encoded.notes,
        origin=None,
        frame=None,
        engine=table.engine,
        has_order=False,
        source=source,
    )


def _values_of(
    table: LazyTable, position: int, drawn: Any, home: HomeFrame, exact: set[int], weights: str | None
) -> Column:
    """The distinct values of a column with their numbers of rows, and the codes of the rows that were drawn."""
    name, key = f"c{position}", table.keys[position]
    cells = nw.from_native(drawn[name], series_only=True)
    sampled = encode_series(cells.cast(nw.Duration("us")) if name in table.durations else cells, f"column {brief(key)}")
    is_text = cells.dtype == nw.String
    limit = MOST_GROUPS if position in exact else MANY
    found = None
    if position in exact or len(sampled.values) <= DRAWN // 10:
        n = nw.len() if weights is None else nw.col(weights).sum().cast(nw.Int64)
        grouped = table.frame.group_by(name).agg(n.alias("n"), nw.len().alias("rows")).head(limit + 1)
        found = table.collect(grouped, "counting values")
    if found is not None and len(found) <= limit:
        series = nw.from_native(found[name], series_only=True)
        known = encode_series(series.cast(nw.Duration("us")) if name in table.durations else series, "column")
        sizes = found["n"].to_numpy().astype(np.int64)
        is_there = known.codes >= 0
        by_value = np.bincount(known.codes[is_there], sizes[is_there], minlength=len(known.values)).astype(np.int64)
        order = _order(known.values)
        values, by_value = [known.values[k] for k in order], by_value[order]
        n_missing = int(found["rows"].to_numpy()[~is_there].sum())  # without weights, as in memory
    elif position in exact:
        raise InputError(f"The column {brief(key)} has more than {limit:,} distinct values; bin or merge them before.")
    elif is_text:
        home.many_texts[key] = None
        return identifier(len(drawn))
    else:
        home.steps[key] = None
        order = _order(sampled.values)[:: max(1, len(sampled.values) // 10_000)]
        values, known = [sampled.values[k] for k in order], sampled
        n_missing = round(sampled.n_missing / max(1, len(drawn)) * table.n_rows())
        by_value = np.zeros(0, np.int64)
    ranks = _places(sampled, values, is_exact=len(by_value) > 0 or not values)
    if not len(by_value) and values:
        share = table.n_rows() / max(1, len(drawn))
        by_value = np.round(np.bincount(ranks[ranks >= 0], minlength=len(values)) * share).astype(np.int64)
    is_sorted = sampled.kind != "category"
    return Column(ranks, values, known.kind, is_sorted, known_sizes=by_value, known_missing=n_missing)


def _sizes_of(column: Column, code_of: Ints) -> Ints:
    """Rows of each code of the values of a column, and of its missing cells."""
    counted = column.counted()
    return np.bincount(code_of, [*counted.sizes, counted.n_missing]).astype(np.int64)


def _order(values: Sequence[Any]) -> list[int]:
    """Positions of values in increasing order, by their text if they cannot be compared."""
    try:
        return sorted(range(len(values)), key=values.__getitem__)
    except TypeError:
        return sorted(range(len(values)), key=lambda k: str(values[k]))


def _places(sampled: Column, values: Sequence[Any], *, is_exact: bool) -> Ints:
    """The place of each drawn cell among some values, or of the last value that is not above it."""
    if is_exact:
        place = {value: k for k, value in enumerate(values)}
        try:
            of_value = [place[value] for value in sampled.values]
        except KeyError:
            raise table_changed() from None
    else:
        from bisect import bisect_right

        of_value = [max(0, bisect_right(values, value) - 1) for value in sampled.values]
    return np.array([*of_value, MISSING], np.int64)[sampled.codes.astype(np.int64)]
