"""Random whole tables over many kinds of columns, the same for the same seed, and their content in every container.

Imports nothing from analogical.
"""

import math
from collections.abc import Callable
from dataclasses import dataclass, replace
from datetime import UTC, date, datetime, time, timedelta
from decimal import Decimal
from typing import Any

import numpy as np

Cells = list[Any]
Rng = np.random.Generator


@dataclass(frozen=True)
class Column:
    """One column: Python values, None where a cell is missing."""

    name: str
    kind: str
    cells: Cells
    number: int = 0
    """Place in the table as it was made; decides in which form containers hold the column."""

    @property
    def family(self) -> str:
        return KINDS[self.kind][0]


@dataclass(frozen=True)
class Table:
    """A table with labels and perhaps weights and groups; ``seed`` decides about the forms in containers."""

    columns: list[Column]
    labels: Cells
    weights: list[int] | None = None
    groups: Cells | None = None
    seed: tuple[int, ...] = (0,)

    @property
    def n_rows(self) -> int:
        return len(self.labels)

    @property
    def names(self) -> list[str]:
        return [column.name for column in self.columns]

    def take(self, rows: list[int]) -> "Table":
        """Some of the rows, perhaps repeated."""
        return replace(
            self,
            columns=[replace(column, cells=[column.cells[r] for r in rows]) for column in self.columns],
            labels=[self.labels[r] for r in rows],
            weights=None if self.weights is None else [self.weights[r] for r in rows],
            groups=None if self.groups is None else [self.groups[r] for r in rows],
        )

    def select(self, places: list[int]) -> "Table":
        """Some of the columns."""
        return replace(self, columns=[self.columns[p] for p in places])

    def rng(self, *more: int) -> Rng:
        return np.random.default_rng([*self.seed, *more])


# ---------------------------------------------------------------- kinds of columns


def _pick(*values: Any) -> Callable[[Rng, int], Cells]:
    """Cells drawn from a few values."""
    return lambda rng, n: [values[k] for k in rng.integers(len(values), size=n)]


def _whole(low: int, high: int) -> Callable[[Rng, int], Cells]:
    return lambda rng, n: rng.integers(low, high, size=n).tolist()


def _rare(common: Any, rare: Any) -> Callable[[Rng, int], Cells]:
    return lambda rng, n: [rare if x < 0.1 else common for x in rng.random(n)]


def _unique(make: Callable[[int], Any]) -> Callable[[Rng, int], Cells]:
    """Another value in every row."""
    return lambda rng, n: [make(k) for k in rng.permutation(n).tolist()]


def _zero_inflated(make: Callable[[float], Any]) -> Callable[[Rng, int], Cells]:
    return lambda rng, n: [make(0.0) if x < 0.7 else make(y) for x, y in zip(rng.random(n), rng.random(n), strict=True)]


FIRST_DAY = date(2024, 2, 28)
FIRST_TIME = datetime(2024, 2, 28, 23, 59, 58)

KINDS: dict[str, tuple[str, Callable[[Rng, int], Cells]]] = {
    "two codes": ("int", _pick(0, 1)),
    "three codes": ("int", _pick(0, 1, 2)),
    "few codes": ("int", _whole(1, 7)),
    "many codes": ("int", _whole(0, 60)),
    "one code": ("int", _pick(7)),
    "rare code": ("int", _rare(0, 1)),
    "row numbers": ("int", _unique(int)),
    "large ids": ("int", _unique(lambda k: 10**12 + 7919 * k)),
    "negative": ("int", _whole(-4, 2)),
    "bytes": ("int", _whole(0, 256)),
    "ends of 64 bits": ("int", _pick(2**63 - 1, -(2**63), 0, -1)),
    "beyond 53 bits": ("int", _pick(2**53, 2**53 + 1, 2**53 + 2)),
    "days as numbers": ("int", _pick(19910108, 19991231, 20240229)),
    "years": ("int", _whole(1990, 2030)),
    "zero-inflated counts": ("int", _zero_inflated(lambda x: int(1000 * x))),
    "beyond 64 bits": ("mixed", _pick(2**64, 2**64 + 1, 2**200, 0)),
    "whole floats": ("float", _pick(0.0, 1.0, 2.0)),
    "negative zero": ("float", _pick(0.0, -0.0, 1.0)),
    "measured": ("float", lambda rng, n: rng.normal(size=n).tolist()),
    "rounded": ("float", lambda rng, n: np.round(rng.normal(size=n), 1).tolist()),
    "a hair apart": ("float", _pick(1.0, math.nextafter(1.0, 2.0), math.nextafter(1.0, 0.0))),
    "infinite": ("float", _pick(math.inf, -math.inf, 0.0, 1.5)),
    "huge and tiny": ("float", _pick(1e308, -1e308, 5e-324, 0.1)),
    "one float": ("float", _pick(0.5)),
    "zero-inflated": ("float", _zero_inflated(lambda x: math.exp(5 * x) if x else 0.0)),
    "prices": ("float", _pick(9.99, 19.99, 99.9)),
    "float ids": ("float", _unique(lambda k: k + 0.5)),
    "all missing": ("float", _pick(None)),
    "yes or no": ("bool", _pick(True, False)),
    "always": ("bool", _pick(True)),
    "rarely": ("bool", _rare(False, True)),
    "letters": ("str", _pick("a", "b", "c")),
    "one word": ("str", _pick("same")),
    "colours": ("str", _pick("red", "green", "blue", "Red", "red ")),
    "names": ("str", _unique(lambda k: f"person {k}")),
    "many words": ("str", lambda rng, n: [f"w{k}" for k in rng.integers(40, size=n)]),
    "numbers as text": ("str", _pick("1", "1.0", "01", "1e0")),
    "codes with zeros": ("str", _pick("007", "07", "7")),
    "words for missing": ("str", _pick("NA", "?", "nan", "None", "null", "-")),
    "empty and blank": ("str", _pick("", " ", "  ", "\t")),
    "markup": ("str", _pick("[red]x", "[/]x", "[unknown]", "<b>x</b>", "<script>", "&amp;")),
    "control": ("str", _pick("\x1b[31mred", "\x9b2J", "a\x07", "a\x00", "a", "\x7f")),
    "quotes": ("str", _pick('"', '""', "'", 'a"b', "a,b", "a;b")),
    "line ends": ("str", _pick("a\nb", "a\r\nb", "a\rb", "a\u2028b")),
    "formulas": ("str", _pick("=1+1", "+cmd|' /C calc'!A0", "@x", "-1")),
    "bidi": ("str", _pick("\u202eabc", "\u2066x", "\u200b", "x")),
    "letters of the world": ("str", _pick("é", "e\u0301", "日本", "🙂", "ß", "SS")),
    "long text": ("str", _pick("x" * 3000, "x" * 3001, "y")),
    "lone surrogates": ("mixed", _pick("\ud800", "\udfff", "a")),
    "few days": ("date", lambda rng, n: [FIRST_DAY + timedelta(int(k)) for k in rng.integers(3, size=n)]),
    "many days": ("date", lambda rng, n: [FIRST_DAY + timedelta(int(k)) for k in rng.integers(900, size=n)]),
    "times": ("datetime", lambda rng, n: [FIRST_TIME + timedelta(seconds=int(k)) for k in rng.integers(4, size=n)]),
    "time stamps": ("datetime", _unique(lambda k: FIRST_TIME + timedelta(microseconds=k))),
    "zoned": ("zoned", lambda rng, n: [FIRST_TIME.replace(tzinfo=UTC, hour=int(k)) for k in rng.integers(3, size=n)]),
    "durations": ("duration", _pick(timedelta(0), timedelta(seconds=90), timedelta(days=-1))),
    "times of day": ("time", _pick(time(0), time(12, 30), time(23, 59, 59))),
    "amounts": ("decimal", _pick(Decimal("1.10"), Decimal("1.20"), Decimal("-0.05"))),
    "kinds mixed": ("mixed", _pick(1, "1", "a", 2.5, None)),
    "equal to Python": ("mixed", _pick(1, True, 1.0, 0, False)),
    "tuples": ("mixed", _pick((0, 1), (1, 0), (), (0, (1, "a")))),
    "sets": ("mixed", _pick(frozenset({1}), frozenset({1, 2}), frozenset())),
}
"""Kinds of columns: to which family of types each belongs, and how its cells are made."""

COMMON = ["two codes", "three codes", "few codes", "letters", "yes or no", "whole floats"]
"""Kinds with few values, so that tables have pairs."""
HOSTILE_NAMES = [
    "[red]a",
    "a\nb",
    "",
    "x1",
    "\x1b[31mx",
    "=1+1",
    " ",
    "y",
    "0",
    "1",
    "name",
    "é\u202e",
    "a,b",
    "*",
    "a?",
]


def random_table(*seed: int, n_rows: int | None = None, n_features: int | None = None) -> Table:
    """A table from a seed: small unless its size is given, now and then larger or wide."""
    rng = np.random.default_rng(seed)
    usual_rows = int(rng.integers(1, 41)) if rng.random() < 0.95 else int(rng.integers(41, 200))
    usual_features = int(rng.integers(1, 8)) if rng.random() < 0.95 else int(rng.integers(8, 70))
    n_rows, n_features = n_rows or usual_rows, n_features or usual_features
    columns: list[Column] = []
    is_plain = rng.random() < 0.5
    for number in range(n_features):
        pool = COMMON if is_plain or rng.random() < 0.5 else list(KINDS)
        kind = pool[rng.integers(len(pool))]
        columns.append(Column(f"f{number}", kind, KINDS[kind][1](rng, n_rows), number))
    columns = _with_copies(rng, columns)
    columns = [_with_gaps(rng, column) for column in columns]
    columns = _with_neighbours(rng, columns, n_rows)
    if rng.random() < 0.2:
        names = [HOSTILE_NAMES[k] for k in rng.permutation(len(HOSTILE_NAMES)).tolist()]
        columns = [replace(c, name=name) for c, name in zip(columns, names, strict=False)] + columns[len(names) :]
    weights = rng.integers(0, 21, size=n_rows).tolist() if rng.random() < 0.3 else None
    groups = rng.integers(0, max(2, n_rows // 2), size=n_rows).tolist() if rng.random() < 0.15 else None
    return Table(columns, _random_labels(rng, columns, n_rows), weights, groups, seed)


def _with_copies(rng: Rng, columns: list[Column]) -> list[Column]:
    """Now and then a column is a copy of another one, or decided by it."""
    for place in range(1, len(columns)):
        if rng.random() < 0.06:
            source = columns[rng.integers(place)]
            columns[place] = replace(source, name=columns[place].name, number=columns[place].number)
        elif rng.random() < 0.04:
            source = columns[rng.integers(place)]
            code_of: dict[Any, int] = {}
            codes = [code_of.setdefault(cell, len(code_of)) % 2 for cell in source.cells]
            columns[place] = replace(columns[place], kind="two codes", cells=codes)
    return columns


def _with_gaps(rng: Rng, column: Column) -> Column:
    if rng.random() > 0.2:
        return column
    share = rng.random() ** 2
    return replace(column, cells=[None if rng.random() < share else cell for cell in column.cells])


def _with_neighbours(rng: Rng, columns: list[Column], n_rows: int) -> list[Column]:
    """Rows that equal another row, or differ from it on one column only."""
    cells = [list(column.cells) for column in columns]
    share = rng.random()
    for r in range(n_rows):
        if rng.random() < share:
            s, changed = int(rng.integers(n_rows)), int(rng.integers(-2, len(columns)))
            for place, mine in enumerate(cells):
                mine[r] = mine[int(rng.integers(n_rows))] if place == changed else mine[s]
    return [replace(column, cells=mine) for column, mine in zip(columns, cells, strict=True)]


CLASS_NAMES: list[Callable[[int], Any]] = [
    int,
    lambda k: f"class {k}",
    bool,
    float,
    lambda k: ["no", "yes", "[red]", "\x1b[1m", "a\nb"][k % 5],
    lambda k: FIRST_DAY + timedelta(k),
    lambda k: (k, "tuple"),
]


def _random_labels(rng: Rng, columns: list[Column], n_rows: int) -> Cells:
    """A rule on some columns with noise, or anything; few or many classes, some missing."""
    n_classes = int(rng.choice([2, 2, 2, 3, 4, 30, 1]))
    if rng.random() < 0.7:
        deciding = [columns[rng.integers(len(columns))].cells for _ in range(int(rng.integers(1, 4)))]
        number: dict[Any, int] = {}
        numbers = [number.setdefault(tuple(repr(c[r]) for c in deciding), len(number)) for r in range(n_rows)]
        noise = rng.choice([0, 0, 0.1, 0.3])
        codes = [int(rng.integers(n_classes)) if rng.random() < noise else k % n_classes for k in numbers]
    else:
        codes = rng.integers(n_classes, size=n_rows).tolist()
    name = CLASS_NAMES[rng.integers(len(CLASS_NAMES))] if rng.random() < 0.5 else CLASS_NAMES[0]
    labels = [name(code) for code in codes]
    if rng.random() < 0.1:
        labels = [None if rng.random() < 0.2 else label for label in labels]
    return labels


# ---------------------------------------------------------------- the same content in every container


def containers_for(table: Table) -> list[str]:
    """Containers that can hold the table."""
    families = {column.family for column in table.columns}
    has_gaps = any(cell is None for column in table.columns for cell in column.cells)
    found = ["rows", "lists", "objects", "pandas"]
    if families == {"int"} and not has_gaps:
        found += ["array", "sparse"]
    if "mixed" not in families:
        found.append("pyarrow")
    return [*found, "polars", "lazy"]


def contain(table: Table, container: str) -> Any:
    """The features in a container; which form each column has there is decided by the table's seed."""
    import warnings

    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        return _MAKERS[container](table)


def _gap(table: Table, column: Column) -> Any:
    """What stands for a missing cell among Python objects."""
    import pandas as pd

    gaps = [None, math.nan, pd.NA, pd.NaT, np.float64("nan"), np.datetime64("NaT"), Decimal("NaN")]
    return gaps[table.rng(column.number, 1).integers(len(gaps))]


def _objects(table: Table, column: Column) -> Cells:
    gap = _gap(table, column)
    return [gap if cell is None else cell for cell in column.cells]


def _as_rows(table: Table) -> list[tuple[Any, ...]]:
    return list(zip(*(_objects(table, column) for column in table.columns), strict=True))


def _as_object_array(table: Table) -> Any:
    array = np.empty((table.n_rows, len(table.columns)), dtype=object)
    for place, column in enumerate(table.columns):
        cells = np.empty(table.n_rows, dtype=object)
        cells[:] = _objects(table, column)
        array[:, place] = cells
    return array


def _as_array(table: Table) -> Any:
    array = np.array([column.cells for column in table.columns], dtype=np.int64).T
    order = table.rng(2).integers(3)
    return array if order == 0 else np.ascontiguousarray(array) if order == 1 else np.repeat(array, 2, axis=0)[::2]


def _as_sparse(table: Table) -> Any:
    from scipy import sparse

    makers = [sparse.csr_array, sparse.csc_matrix, sparse.coo_array, sparse.lil_matrix]
    return makers[table.rng(2).integers(len(makers))](_as_array(table))


def _form(table: Table, column: Column, forms: list[str]) -> str:
    return forms[table.rng(column.number, 3).integers(len(forms))]


_PANDAS_FORMS = {
    "int": ["plain", "plain", "object", "category", "Int64", "arrow", "small"],
    "float": ["plain", "plain", "object", "category", "Float64", "arrow"],
    "bool": ["object", "category", "boolean", "arrow", "plain"],
    "str": ["plain", "object", "category", "string[python]", "string[pyarrow]", "arrow", "arrow dictionary"],
    "date": ["object", "arrow", "datetime64[s]"],
    "datetime": ["object", "arrow", "datetime64[us]", "category"],
    "zoned": ["object", "datetime64[us, UTC]"],
    "duration": ["object", "timedelta64[us]", "arrow"],
    "time": ["object", "arrow"],
    "decimal": ["object", "arrow"],
    "mixed": ["object"],
}


def _as_pandas(table: Table) -> Any:
    import pandas as pd

    index: Any = None
    kind = table.rng(4).integers(4)
    if kind == 1:
        index = table.rng(5).permutation(table.n_rows)
    elif kind == 2:
        index = [f"row {k}" for k in range(table.n_rows)]
    elif kind == 3:
        index = [k // 2 for k in range(table.n_rows)]
    series = [_pandas_series(table, column, index) for column in table.columns]
    frame = pd.concat(series, axis=1) if series else pd.DataFrame(index=index)
    frame.columns = pd.Index(table.names, dtype=object)
    return frame


def _pandas_series(table: Table, column: Column, index: Any) -> Any:
    import pandas as pd
    import pyarrow as pa

    form = _form(table, column, _PANDAS_FORMS[column.family])
    cells = column.cells
    has_gaps = None in cells
    is_large = column.family == "int" and any(cell is not None and abs(cell) > 2**53 for cell in cells)
    if form == "plain" and (is_large or column.family == "bool") and has_gaps:
        form = "object"
    if form == "object":
        return pd.Series(_objects(table, column), dtype=object, index=index)
    if form == "category":
        known = list(dict.fromkeys(cell for cell in cells if cell is not None))
        unused = {"int": [-77], "float": [0.123], "str": ["unused"], "bool": [], "datetime": []}[column.family]
        categories = pd.Index([*unused, *known], dtype=object if is_large or table.rng(6).random() < 0.5 else None)
        return pd.Series(pd.Categorical(cells, categories=categories), index=index)
    if form.startswith("arrow"):
        array = _arrow_array(column)
        array = array.dictionary_encode() if form == "arrow dictionary" else array
        return pd.Series(pd.arrays.ArrowExtensionArray(pa.chunked_array([array])), index=index)
    if form == "small":
        numbers = [cell for cell in cells if cell is not None]
        fits = not has_gaps and numbers and min(numbers) >= 0 and max(numbers) < 256
        return pd.Series(cells, dtype="uint8" if fits else "Int64", index=index)
    if form == "plain":
        natural = {"int": "float64" if has_gaps else "int64", "float": "float64", "bool": "bool", "str": "str"}
        return pd.Series([math.nan if c is None else c for c in cells], dtype=natural[column.family], index=index)
    return pd.Series(cells, dtype=form, index=index)


def _arrow_type(family: str) -> Any:
    import pyarrow as pa

    return {
        "int": pa.int64(),
        "float": pa.float64(),
        "bool": pa.bool_(),
        "str": pa.string(),
        "date": pa.date32(),
        "datetime": pa.timestamp("us"),
        "zoned": pa.timestamp("us", "UTC"),
        "duration": pa.duration("us"),
        "time": pa.time64("us"),
        "decimal": pa.decimal128(10, 2),
    }[family]


def _arrow_array(column: Column) -> Any:
    import pyarrow as pa

    return pa.array(column.cells, type=_arrow_type(column.family))


def _as_pyarrow(table: Table) -> Any:
    import pyarrow as pa

    return pa.Table.from_arrays([_arrow_column(table, column) for column in table.columns], names=table.names)


def _arrow_column(table: Table, column: Column) -> Any:
    import pyarrow as pa
    import pyarrow.compute as pc

    array = _arrow_array(column)
    form = _form(table, column, ["plain", "plain", "chunks", "dictionary", "repeated dictionary", "runs", "sliced"])
    if form == "chunks":
        middle = table.n_rows // 2
        return pa.chunked_array([array[:middle], array[middle:], array[:0]], type=array.type)
    if form == "dictionary":
        return array.dictionary_encode()
    if form == "repeated dictionary":  # every entry twice, a missing one at the end, and cells that use all of them
        entries = list(dict.fromkeys(cell for cell in column.cells if cell is not None))
        place = {entry: k for k, entry in enumerate(entries)}
        rng = table.rng(column.number, 7)
        codes = [
            2 * len(entries) if cell is None else place[cell] + len(entries) * int(rng.integers(2))
            for cell in column.cells
        ]
        dictionary = pa.array([*entries, *entries, None], type=array.type)
        return pa.DictionaryArray.from_arrays(pa.array(codes, pa.int32()), dictionary, safe=False)
    if form == "runs" and column.family in ("int", "float", "bool", "str") and len(array):
        return pc.run_end_encode(array)
    if form == "sliced":
        return pa.concat_arrays([array[:1], array]).slice(1)
    return array


def _as_polars(table: Table) -> Any:
    import polars as pl

    return pl.DataFrame({column.name: _polars_series(table, column) for column in table.columns})


def _polars_series(table: Table, column: Column) -> Any:
    import polars as pl

    if column.family == "mixed":
        return pl.Series(column.name, column.cells, dtype=pl.Object)
    natural = {
        "int": pl.Int64,
        "float": pl.Float64,
        "bool": pl.Boolean,
        "str": pl.String,
        "date": pl.Date,
        "datetime": pl.Datetime("us"),
        "zoned": pl.Datetime("us", "UTC"),
        "duration": pl.Duration("us"),
        "time": pl.Time,
        "decimal": pl.Decimal(10, 2),
    }[column.family]
    series = pl.Series(column.name, column.cells, dtype=natural)
    form = _form(table, column, ["plain", "plain", "category", "enum", "NaN", "chunks", "wide"])
    if column.family == "str" and form == "category":
        return series.cast(pl.Categorical)
    if column.family == "str" and form == "enum":
        return series.cast(pl.Enum(["unused", *series.drop_nulls().unique(maintain_order=True)]))
    if column.family == "float" and form == "NaN":
        return series.fill_null(math.nan)
    if column.family == "int" and form == "wide":
        return series.cast(pl.Int128)
    if form == "chunks":
        return series[: table.n_rows // 2].append(series[table.n_rows // 2 :])
    return series


_MAKERS: dict[str, Callable[[Table], Any]] = {
    "rows": _as_rows,
    "lists": lambda table: [list(row) for row in _as_rows(table)],
    "objects": _as_object_array,
    "array": _as_array,
    "sparse": _as_sparse,
    "pandas": _as_pandas,
    "polars": _as_polars,
    "lazy": lambda table: _as_polars(table).lazy(),
    "pyarrow": _as_pyarrow,
}


def contain_labels(table: Table, X: Any) -> Any:
    """The labels as a list, an array or a series."""
    import pandas as pd
    import polars as pl

    form = table.rng(8).integers(4)
    if form == 1:
        array = np.empty(table.n_rows, dtype=object)
        array[:] = table.labels
        return array
    if form == 2 and isinstance(X, pd.DataFrame):
        return pd.Series(table.labels, index=X.index, dtype=object)
    if form == 3 and isinstance(X, pl.DataFrame) and not isinstance(table.labels[0], tuple):
        return pl.Series(table.labels, strict=False) if None not in table.labels else table.labels
    return table.labels
