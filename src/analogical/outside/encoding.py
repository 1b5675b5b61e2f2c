"""Tables that lie elsewhere as codes: all rows come home, or a sample of rows that their library groups.

Rows come home by a temporary Parquet file, unless they are few or in a file already, and are read column by column.
Where the library groups, each column is decided on its distinct values and their numbers of rows. To learn the code of
each value, the rows that are encoded are the sample and, below it, rows in which every value of every column occurs.
"""

import tempfile
from collections.abc import Callable, Collection, Hashable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, replace
from functools import partial
from importlib import import_module
from pathlib import Path
from typing import Any, NamedTuple, cast

import narwhals.stable.v2 as nw
import numpy as np

from analogical._checks import brief
from analogical._types import Ints, Note
from analogical.columns.columns import CHUNK_ROWS, MISSING, Column, code_type, sortable
from analogical.columns.encode import EncodedTable, missing_cells, no_complete_row, refuse_single_class
from analogical.columns.frames import Frame, encode_series
from analogical.columns.rules import Rules
from analogical.count.contexts import PairCounts, refuse_too_many_rows
from analogical.count.groups import CodedRows, evenly, merge_rows
from analogical.errors import InputError
from analogical.outside.lazy import LazyTable, ask, hold_parquet

FEW_CELLS = 4_000_000
"""A table with at most this many cells is collected instead of written to a file."""
MANY = 100_000
"""Distinct texts of a column beyond which it is an identifier; and distinct numbers among the rows that are looked at,
beyond which those of a sample of a million rows, 10,000 of them, stand for all."""
SEARCHED, DRAWN = 20_000, 200_000
"""Rows of the sample that are kept, for the search of the deciding set; and those that it is drawn from, which also
give the edges of very many distinct numbers."""
MOST_GROUPS = 1_000_000
"""Most groups of rows that depend on each other."""
CHANGED = "The table changed while it was read; give a table that stays as it is, such as a copy of it."


class HomeFrame(Frame):
    """The columns of a table that came home, each encoded when it is asked for."""

    backend, index = "polars", None

    def __init__(self, keys: Sequence[str], n_rows: int, column: Callable[[int], Column] | None = None) -> None:
        self.keys, self.n_rows, self.column = tuple(keys), n_rows, column
        """``column`` encodes the column at a position; None after all were."""
        self.noted: dict[str, dict[Hashable, bool]] = {"edges-of-sample": {}, "many-texts": {}}
        """What was done because there are many values, and to which columns; True if they were asked for since."""

    def __getitem__(self, position: int) -> Any:
        """A column as codes; one with very many texts is asked for again only if no other is left."""
        column, texts = None if self.column is None else self.column(position), self.noted["many-texts"]
        key = self.keys[position]
        if texts.get(key):
            raise InputError(
                f"The column {brief(key)} has more than {MANY:,} distinct texts, and there is no other"
                ' to compare; cast it to numbers or dates if it holds them, or keep it with ids="keep" (--ids keep).'
            )
        if key in texts:
            texts[key] = True
        return column

    def whole_numbers(self, chosen: Sequence[int]) -> None:
        """None: columns are encoded one by one."""

    @property
    def notes(self) -> tuple[Note, ...]:
        """What was done because there are many values."""
        return tuple(Note(kind, tuple(map(str, keys))) for kind, keys in self.noted.items() if keys)


@contextmanager
def rows_at_home(table: LazyTable, names: Sequence[str], n_rows: int, exact: Collection[Any]) -> Iterator[HomeFrame]:
    """The table as columns in this process, whose rows do not change while they are read.

    ``exact`` are columns of which all values are needed: those with a role, and those that the user named. Files that
    were written for the table are removed at the end of the block.
    """
    chosen, home = table.with_frame(table.frame.select(*names)), HomeFrame(table.keys, n_rows)
    if n_rows * len(names) <= FEW_CELLS:
        here = table.collect(chosen.frame, "reading the rows")
        if len(here) != n_rows:
            raise InputError(CHANGED)
        home.column = lambda position: encode_series(here[f"c{position}"], f"column {brief(table.keys[position])}")
        yield home
        return
    pl: Any = ask("polars", lambda: import_module("polars"), "starting, for a large table", "; pip install polars")
    with tempfile.TemporaryDirectory(prefix="analogical-", ignore_cleanup_errors=True) as folder:
        if not table.is_plain:
            chosen.write(Path(folder))
        rows: Any = chosen.frame.to_native() if table.is_plain else pl.scan_parquet(f"{folder}/**/*.parquet")
        if rows.select(pl.len()).collect().item() != n_rows:
            raise InputError(CHANGED)
        home.column = partial(_encode_many, home, rows, exact)
        yield home


def _encode_many(home: HomeFrame, rows: Any, exact: Collection[Any], position: int) -> Column:
    """A column of many rows."""
    import polars as pl

    key, name = home.keys[position], f"c{position}"
    cells, starts = rows.select(name), range(0, home.n_rows, home.n_rows // 4 + 1)
    looked_at = pl.concat([cells.slice(start, 5 * MANY // 2) for start in starts]).collect(engine="streaming")[name]
    has_many = key not in exact and looked_at.n_unique() > MANY
    if looked_at.dtype == pl.String:
        texts: Any = (
            [] if has_many else cells.drop_nulls().unique(maintain_order=True).collect(engine="streaming")[name]
        )
        if has_many or (len(texts) > MANY and key not in exact):
            home.noted["many-texts"].setdefault(key, False)
            return identifier(home.n_rows)
        place = pl.col(name).cast(pl.Enum(texts)).to_physical().cast(pl.Int32).fill_null(MISSING)
        return Column(cells.select(place).collect(engine="streaming")[name].to_numpy(), list(texts))
    series = cells.collect(engine="streaming")[name]
    if not has_many or not (series.dtype.is_numeric() or series.dtype.is_temporal()):
        return encode_series(nw.from_native(series, series_only=True), f"column {brief(key)}")
    series = series.fill_nan(None) if series.dtype.is_float() else series
    known = series.drop_nulls()
    if not series.dtype.is_integer() or series.n_unique() < 0.9 * home.n_rows:  # not numbers of rows, which are ids
        home.noted["edges-of-sample"][key] = False
        known = known.gather(np.random.default_rng(0).integers(0, len(known), 10 * MANY)).sort().gather_every(100)
    known, codes = known.unique().sort(), np.empty(home.n_rows, np.int32)
    for start in range(0, home.n_rows, CHUNK_ROWS):
        part = series[start : start + CHUNK_ROWS]
        above = known.search_sorted(part.fill_null(known[0]), side="right").to_numpy().astype(np.int32)
        codes[start : start + CHUNK_ROWS] = np.where(part.is_null(), MISSING, np.maximum(above - 1, 0))
    return replace(encode_series(nw.from_native(known, series_only=True), f"column {brief(key)}"), codes=codes)


def identifier(n_rows: int) -> Column:
    """A column that is set aside as if it were distinct in every row; its cells were not read."""
    return Column(np.zeros(0, np.uint8), range(n_rows), known_sizes=np.broadcast_to(np.int64(1), n_rows))


# ---------------------------------------------------------------- rows that stay, and are grouped there


class Key(NamedTuple):
    """What rows are grouped by for a column, and the code of each of its values."""

    expression: "nw.Expr"
    code_of: Mapping[Any, int]
    """None is a missing cell."""

    @property
    def n_codes(self) -> int:
        """Number of codes."""
        return max(self.code_of.values()) + 1

    def decoded(self, cells: Any) -> Ints:
        """The codes of the values that groups have."""
        column = encode_series(cells, "column")
        try:
            codes = np.array([self.code_of[value] for value in (*column.values, None)], np.int64)
        except KeyError:
            raise InputError(CHANGED) from None
        return codes[column.codes.astype(np.int64)]


class Coded(NamedTuple):
    """A feature or a role: its column, or a part of the dates there, and the code of each value of the column."""

    position: int
    column: Column
    codes: Ints
    """The code of each value of the column, and last that of missing cells."""
    part: str = ""
    fine: Ints | None = None
    """The codes of the finest bins of numbers."""

    def key(self, bins: Any = None) -> Key:
        """What rows are grouped by so that groups have these codes, or those that some bins have by the finest ones."""
        codes = self.codes if bins is None else np.asarray(bins, np.int64)[self.fine]
        values, kind, cell = list(self.column.values), self.column.kind, nw.col(f"c{self.position}")
        of_values, missing = codes[:-1].tolist(), {None: int(codes[-1])}
        if self.part and kind == "time":
            is_day = self.part == "weekday"
            cell = getattr(cell.dt, self.part)()
            if is_day:
                cell = nw.when(cell == 0).then(nw.lit(7)).otherwise(cell)  # Sunday on Spark, by narwhals 2.28
            numbers = [value.isoweekday() if is_day else getattr(value, self.part) for value in values]
            code_of = dict(sorted(zip(numbers, of_values, strict=True)))
            values, of_values = list(code_of), list(code_of.values())
        starts = np.flatnonzero(np.diff(of_values)) + 1
        expression: Any = cell
        if kind == "category" or len(starts) + 1 >= len(values):
            first_of = dict(zip(reversed(of_values), reversed(values), strict=True))
            for value, code in zip(values, of_values, strict=True):  # spellings of one value
                if first_of[code] != value and kind == "category":
                    expression = nw.when(cell == value).then(nw.lit(first_of[code])).otherwise(expression)
            return Key(expression, dict(zip(values, of_values, strict=True)) | missing)
        above = [(cell >= nw.lit(values[place])).cast(nw.Int32) for place in starts]
        expression = nw.when(~cell.is_null()).then(nw.sum_horizontal(nw.lit(0), *above))
        return Key(expression, dict(enumerate(of_values[place] for place in (0, *starts))) | missing)


@dataclass(frozen=True)
class GroupedRows:
    """All rows of a table, grouped by its library: what a study asks instead of the rows."""

    table: LazyTable
    """The rows that count."""
    features: Sequence[Coded]
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
        names = [f"k{column.feature if self.is_once else k}" for k, column in enumerate(columns)]
        keys = [
            self.groups or self.label if c.feature is None else self.features[c.feature].key(c.bins) for c in columns
        ]
        rows = self._distinct() if self.is_once else self._rows(dict(zip(names, keys, strict=True)))
        grouped = rows.group_by(*names, "label").agg(n=nw.col("n").sum().cast(nw.Int64))
        found = self.table.collect(grouped.head(most + 1), "grouping the rows")
        if len(found) > most:
            return None
        sizes = found["n"].to_numpy().astype(np.int64)
        if not self.is_once and int(sizes.sum()) != self.n_rows:
            raise InputError(CHANGED)
        n_values = np.array([key.n_codes for key in keys], np.int64)
        codes = np.zeros((len(found), len(keys)), code_type(int(n_values.max(initial=1))))
        for k, key in enumerate(keys):
            codes[:, k] = key.decoded(found[names[k]])
        labels = self.label.decoded(found["label"]).astype(code_type(self.label.n_codes))
        return merge_rows(CodedRows(codes, labels, n_values, self.label.n_codes, sizes))

    def count_pairs(self) -> PairCounts:
        """The paper's counts: groups of rows that agree but for one feature, each from a group-by of distinct rows."""
        refuse_too_many_rows(self.n_rows)
        names = [f"k{i}" for i in range(len(self.features))]
        with tempfile.TemporaryDirectory(prefix="analogical-", ignore_cleanup_errors=True) as folder:
            self.table.with_frame(self._distinct()).write(Path(folder))  # found once, and not for every feature
            distinct = replace(self.table, engine="duckdb", frame=nw.from_native(hold_parquet(folder)))
            n_distinct, n_equal, n_alike = _pairs(distinct, names)
            counted = [_pairs(distinct, [one for one in names if one != name]) for name in names]
        pairs = np.array([pairs - n_equal for _, pairs, _ in counted], np.int64)
        unchanged = np.array([alike - n_alike for *_, alike in counted], np.int64)
        return PairCounts(pairs, pairs - unchanged, self.n_rows, n_distinct, n_equal, n_equal - n_alike)

    def _rows(self, keys: Mapping[str, Key]) -> Any:
        """All rows with these keys and the label, and the number of rows that each stands for."""
        n, named = nw.lit(1) if self.weights is None else nw.col(self.weights), {**keys, "label": self.label}
        return self.table.frame.select(n=n.cast(nw.Int64), **{name: key.expression for name, key in named.items()})

    def _distinct(self) -> Any:
        """The distinct rows by all features and the label, with their counts, or each once."""
        keys = {f"k{i}": feature.key() for i, feature in enumerate(self.features)}
        distinct = self._rows(keys).group_by(*keys, "label").agg(n=nw.col("n").sum().cast(nw.Int64))
        return distinct.with_columns(n=nw.lit(1).cast(nw.Int64)) if self.is_once else distinct


def _pairs(distinct: LazyTable, columns: Sequence[str]) -> tuple[int, int, int]:
    """Groups of rows that agree on some columns, pairs of rows within them, and those of them with equal labels."""
    m, alike = nw.col("m"), nw.col("alike").sum().cast(nw.Int64)
    groups = distinct.frame.group_by(*columns, "label").agg(m=nw.col("n").sum().cast(nw.Int64))
    groups = groups.with_columns(alike=m * (m - 1), all=nw.lit(0))
    groups = groups.group_by("all", *columns).agg(m=m.sum().cast(nw.Int64), alike=alike)
    sums = groups.select(groups=nw.len(), pairs=(m * (m - 1)).sum().cast(nw.Int64), alike=alike)
    n_groups, n_pairs, n_alike = distinct.collect(sums, "counting pairs").row(0)
    return int(n_groups), int(n_pairs) // 2, int(n_alike) // 2


@dataclass(frozen=True)
class Grouping:
    """A table that is encoded by a sample, with the meaning that codes have by all rows, and the source of all rows."""

    table: LazyTable
    places: Mapping[str, int]
    """Positions of the columns with a role."""
    names: Mapping[int, str]
    """Columns that may be features, by position."""
    exact: Collection[Any]
    """Columns whose values are all needed."""
    encode: Callable[[HomeFrame, Rules], EncodedTable]
    is_once: bool

    def encoded(self, rules: Rules) -> EncodedTable:
        """The sample as codes."""
        rows, notes = self._rows_that_count()
        encoded = self._encoded(rows, replace(rules, missing="value"))
        gaps = {column.name: column.n_missing for column in encoded.columns if column.n_missing}
        if gaps and rules.missing == "error":
            raise missing_cells([f"{name!r} ({n:,} cells)" for name, n in gaps.items()])
        if gaps and rules.missing == "drop":
            used = {f"c{feature.position}" for feature in encoded.source.features}
            complete = rows.with_frame(rows.frame.drop_nulls(sorted(used)))
            n_before, n_left = rows.n_rows(), complete.n_rows()
            if not n_left:
                raise no_complete_row()
            encoded = self._encoded(complete, rules)
            notes += (Note("missing-dropped", tuple(gaps), (n_before - n_left, n_before)),)
        return replace(encoded, notes=(*notes, *encoded.notes))

    def _rows_that_count(self) -> tuple[LazyTable, tuple[Note, ...]]:
        """The rows with a label and a weight, in which NaN is missing, and a note on the others."""
        table, frame, notes = self.table, self.table.frame, list[Note]()
        for name, dtype in table.schema.items():
            if dtype.is_float() or dtype.is_decimal():
                cell = nw.col(name).cast(nw.Float64)
                frame = frame.with_columns(nw.when(~cell.is_nan()).then(cell).alias(name))
        if "label" in self.places:
            label, key = nw.col(f"c{self.places['label']}"), table.keys[self.places["label"]]
            counts = frame.select(rows=nw.len(), label=label.count())
            n_rows, n_labelled = table.collect(counts, "counting labels").row(0)
            if not n_labelled:
                raise InputError(
                    f"The label {brief(key)} is missing in all {n_rows:,} rows; choose another column as the label."
                )
            notes += [Note("label-missing", (key,), (n_rows - n_labelled,))] if n_labelled < n_rows else []
            frame = frame.filter(~label.is_null())
        if "weights" in self.places:
            weight = nw.col(f"c{self.places['weights']}")
            frame = frame.filter((weight != 0) | weight.is_null())
        return table.with_frame(frame), tuple(notes)

    def _encoded(self, rows: LazyTable, rules: Rules) -> EncodedTable:
        """The same on rows that count."""
        used = [f"c{position}" for position in sorted({*self.names, *self.places.values()})]
        weights = f"c{self.places['weights']}" if "weights" in self.places else None
        total = nw.len() if weights is None else nw.col(weights).sum()
        missing = {name: nw.col(name).null_count() for name in used}
        sums = rows.collect(rows.frame.select(rows=nw.len(), all=total, **missing), "counting the rows")
        n_rows, n_all, *n_missing = map(int, sums.row(0))
        drawn, home = rows.sample(DRAWN, n_rows), HomeFrame(rows.keys, 0)
        n_drawn, columns = len(drawn), dict[int, Column]()
        for name, n in zip(used, n_missing, strict=True):
            of_column = None if name == weights else weights
            columns[int(name[1:])] = self._values_of(rows, name, drawn[name], of_column, (n_rows, n), home)
        if "label" in self.places:
            labels = columns[self.places["label"]]
            refuse_single_class(labels, rows.keys[self.places["label"]], int(labels.sizes.sum()))
        n_probe = max(len(column.values) for column in columns.values()) + 1
        home.n_rows = n_drawn + n_probe

        def with_every_value(position: int) -> Column:
            column = columns[position]
            every = np.full(n_probe, MISSING if column.n_missing else 0)
            every[: len(column.values)] = np.arange(len(column.values))
            known = len(column.codes) == n_drawn
            return replace(column, codes=np.concatenate([column.codes, every])) if known else column

        def coded(position: int, codes: Any, part: str = "", fine: Any = None) -> Coded:
            column, some = columns[position], slice(n_drawn, n_drawn + len(columns[position].values) + 1)
            fine_codes = None if fine is None else fine[some].astype(np.int64)
            return Coded(position, column, codes[some].astype(np.int64), part, fine_codes)

        def role(what: str, codes: Any) -> Key | None:
            return None if codes is None else coded(self.places[what], codes).key()

        home.column = with_every_value
        encoded, features, fine_sizes = self.encode(home, rules), list[Coded](), dict[int, Ints]()
        place_of = {name: (position, "") for position, name in self.names.items()}
        for i, meaning in enumerate(encoded.columns):
            stem, _, part = meaning.name.rpartition(".")
            position, part = place_of.get(meaning.name) or (place_of[stem][0], part)
            feature = coded(position, encoded.codes[:, i], part, encoded.fine.get(i))
            features.append(feature)
            if feature.fine is not None:
                sizes = [*feature.column.sizes, feature.column.n_missing]
                fine_sizes[i] = np.bincount(feature.fine, sizes).astype(np.int64)
        label = role("label", encoded.labels) or Key(nw.lit(0), {0: 0, None: 0})
        groups = role("groups", encoded.groups)
        kept = evenly(n_drawn, SEARCHED) if n_drawn > SEARCHED else np.arange(n_drawn)
        roles = ("labels", "weights", "groups")
        some: Any = {name: cells[kept] for name in roles if (cells := getattr(encoded, name)) is not None}
        return replace(
            encoded,
            codes=np.asfortranarray(encoded.codes[kept]),
            **some,
            fine={i: codes[kept] for i, codes in encoded.fine.items()},
            fine_sizes=fine_sizes,
            origin=None,
            raw=None,
            source=GroupedRows(rows, features, label, groups, weights, n_all, self.is_once),
        )

    def _values_of(
        self, rows: LazyTable, name: str, cells: Any, weights: str | None, sizes: tuple[int, int], home: HomeFrame
    ) -> Column:
        """The distinct values of a column with their numbers of rows, and the codes of the rows that were drawn.

        ``sizes`` are the numbers of all rows, and of those with a missing cell.
        """
        key, (n_rows, n_missing) = rows.keys[int(name[1:])], sizes
        limit, found = MOST_GROUPS if key in self.exact else MANY, cast(Any, None)
        drawn = encode_series(cells, f"column {brief(key)}")
        if key in self.exact or len(drawn.values) <= limit:
            n = nw.len() if weights is None else nw.col(weights).sum()
            present = rows.frame.filter(~nw.col(name).is_null())
            counted = present.group_by(name).agg(n=n.cast(nw.Int64)).head(limit + 1)
            found = rows.collect(counted, "counting values")
        is_all = found is not None and len(found) <= limit
        if is_all:
            known = encode_series(found[name], "column").counted(found["n"].to_numpy())
            values = known.pick(known.order)
            if not np.isin(sortable(drawn.values), sortable(values.values)).all():
                raise InputError(CHANGED)
        elif key in self.exact and (drawn.kind == "category" or name != f"c{self.places.get('label')}"):
            raise InputError(
                f"The column {brief(key)} has more than {limit:,} distinct values; bin or merge them before."
            )
        elif cells.dtype == nw.String:
            home.noted["many-texts"].setdefault(key, False)
            return identifier(len(cells))
        else:
            home.noted["edges-of-sample"][key] = False
            values = drawn.pick(drawn.order[:: max(1, len(drawn.values) // 10_000)])
        places = np.searchsorted(sortable(values.values), sortable(drawn.values), side="right") - 1
        ranks = np.append(np.maximum(places, 0), MISSING)[drawn.codes.astype(np.int64)]
        n_of_values = values.sizes
        if not is_all:
            n_of_values = np.bincount(ranks[ranks >= 0], minlength=len(values.values)) * n_rows // len(cells)
        is_sorted = drawn.kind != "category"
        return Column(ranks, values.values, drawn.kind, is_sorted, known_sizes=n_of_values, known_missing=n_missing)
