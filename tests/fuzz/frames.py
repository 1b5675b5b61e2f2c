"""Odd tables, labels and arguments, as people may pass them by mistake, the same for the same seed."""

import enum
import math
import warnings
from collections.abc import Callable
from dataclasses import dataclass
from datetime import date, datetime
from decimal import Decimal
from fractions import Fraction
from pathlib import PurePosixPath
from typing import Any

import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
from fuzz.tables import Rng, Table, contain, containers_for, random_table

import analogical


class Colour(enum.Enum):
    """An enumeration as cells."""

    RED = 1
    BLUE = 2


@dataclass(frozen=True)
class Odd:
    """What a change is made to: the features in their container, and the table that they came from."""

    X: Any
    table: Table
    rng: Rng

    @property
    def n(self) -> int:
        return self.table.n_rows


@dataclass(frozen=True)
class Question:
    """A call of the library, and what is odd about it."""

    function: Any
    arguments: list[Any]
    options: dict[str, Any]
    story: list[str]

    def ask(self) -> Any:
        return self.function(*self.arguments, **self.options)


def odd_question(*seed: int) -> Question:
    """A call from a seed, odd in one to three ways."""
    rng = np.random.default_rng(seed)
    table = random_table(*seed, 2)
    containers = containers_for(table)
    container = containers[rng.integers(len(containers))]
    story = [container]
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        X: Any = contain(table, container)
        if rng.random() < 0.4:
            X = _oddly(Odd(X, table, rng), story)
        y: Any = list(table.labels)
        if rng.random() < 0.25:
            y = _pick(rng, LABELS, story)(Odd(X, table, rng))
    options: dict[str, Any] = {}
    if table.weights is not None:
        options["weights"] = table.weights
    for _ in range(int(rng.choice([0, 0, 1, 2]))):
        name, values = OPTIONS[rng.integers(len(OPTIONS))]
        options[name] = values[rng.integers(len(values))]
        story.append(f"{name}={options[name]!r}")
    function = FUNCTIONS[rng.integers(len(FUNCTIONS))]
    story.append(function.__name__)
    if function is not analogical.relevance:
        options = {k: v for k, v in options.items() if k in COMMON_OPTIONS}
        if function is analogical.interactions:
            return Question(function, [X, y], options, story)
        third = FEATURES[rng.integers(len(FEATURES))] if rng.random() < 0.3 else 0  # a feature, or how many of them
        return Question(
            function, [X, y, third or None] if function is analogical.select else [X, y, third], options, story
        )
    return Question(function, [X, y], options, story)


FUNCTIONS = [
    analogical.relevance,
    analogical.relevance,
    analogical.evidence,
    analogical.audit,
    analogical.transitions,
    analogical.select,
    analogical.interactions,
]
COMMON_OPTIONS = (
    "weights",
    "features",
    "ignore",
    "missing",
    "bins",
    "max_values",
    "ids",
    "classes",
    "scale",
    "ordered",
    "fold_case",
    "feature_names",
)
FEATURES: list[Any] = [0, 1, -1, 99, "f0", "f1", "F0", "", None, 1.0, True, ("f0",), [0], np.int64(0), b"f0"]


def _pick(rng: Rng, choices: dict[str, Any], story: list[str]) -> Any:
    name = list(choices)[rng.integers(len(choices))]
    story.append(name)
    return choices[name]


# ---------------------------------------------------------------- tables

ODD_CELLS: list[Any] = [
    [1, 2],
    {"a": 1},
    {1, 2},
    b"bytes",
    bytearray(b"x"),
    1 + 2j,
    object,
    lambda: 0,
    np.array([1, 2]),
    ...,
    10**400,
    Fraction(1, 3),
    Decimal("sNaN"),
    Decimal("Infinity"),
    Colour.RED,
    PurePosixPath("/a/b"),
    pd.Interval(0, 1),
    pd.Period("2024-01"),
    pd.Timestamp("2024-01-01", tz="Asia/Tokyo"),
    pd.NA,
    pd.NaT,
    np.datetime64("NaT"),
    np.timedelta64(5, "ns"),
    np.float32(0.1),
    np.int8(1),
    np.str_("a"),
    np.bool_(True),
    date(1, 1, 1),
    datetime(9999, 12, 31),
    math.nan,
    -0.0,
    "\ud800",
    "",
    (),
    range(3),
    NotImplemented,
]


def _oddly(o: Odd, story: list[str]) -> Any:
    for kind, changes in CHANGES.items():
        if isinstance(o.X, kind):
            return _pick(o.rng, changes, story)(o)
    return o.X


def _odd_cell(rng: Rng) -> Any:
    return ODD_CELLS[rng.integers(len(ODD_CELLS))]


def _odd_cells(rng: Rng, n: int, base: Any) -> Any:
    """An array of objects with an odd cell among usual ones, or many."""
    cells = np.empty(n, dtype=object)
    cells[:] = base
    odd, share = _odd_cell(rng), rng.random()
    for r in range(n):
        if r == 0 or rng.random() < share:
            cells[r] = odd
    return cells


def _with_column(make: Callable[[Odd], Any]) -> Callable[[Odd], Any]:
    """A pandas frame with one more column."""

    def change(o: Odd) -> Any:
        X = o.X.copy()
        cells = make(o)
        try:
            X["odd"] = pd.Series(cells, index=X.index)
        except UnicodeEncodeError:  # half a character: pandas keeps it as an object only
            X["odd"] = pd.Series(cells, index=X.index, dtype=object)
        return X

    return change


def _renamed(make: Callable[[list[str]], Any]) -> Callable[[Odd], Any]:
    def change(o: Odd) -> Any:
        X = o.X.copy()
        X.columns = make(list(X.columns))
        return X

    return change


def _reindexed(make: Callable[[int], Any]) -> Callable[[Odd], Any]:
    return lambda o: o.X.set_axis(make(o.n), axis=0)


PANDAS: dict[str, Callable[[Odd], Any]] = {
    "odd cells": _with_column(lambda o: _odd_cells(o.rng, o.n, "a")),
    "odd cells among numbers": _with_column(lambda o: _odd_cells(o.rng, o.n, 1)),
    "complex": _with_column(lambda o: np.arange(o.n) * 1j),
    "intervals": _with_column(lambda o: pd.cut(np.arange(o.n), 3) if o.n > 1 else [None] * o.n),
    "periods": _with_column(lambda o: pd.period_range("2024-01", periods=o.n, freq="M")),
    "sparse": _with_column(lambda o: pd.arrays.SparseArray([0, 1] * o.n)[: o.n]),
    "nanoseconds": _with_column(lambda o: pd.date_range("2024", periods=o.n, freq="ns")),
    "far times": _with_column(lambda o: np.array(["-9999-01-01", "12024-01-01"] * o.n, "datetime64[s]")[: o.n]),
    "float16": _with_column(lambda o: np.linspace(0, 1, o.n).astype(np.float16)),
    "nested": _with_column(lambda o: pd.array([[1]] * o.n, pd.ArrowDtype(pa.list_(pa.int64())))),
    "binary": _with_column(lambda o: pd.array([b"a"] * o.n, pd.ArrowDtype(pa.binary()))),
    "large categories": _with_column(lambda o: pd.Categorical([0] * o.n, categories=range(1000))),
    "categories of times": _with_column(lambda o: pd.Categorical(pd.date_range("2024", periods=o.n))),
    "ordered": _with_column(lambda o: pd.Categorical(["b"] * o.n, ["a", "b"], ordered=True)),
    "names repeated": _renamed(lambda names: ["a"] * len(names)),
    "no names": _renamed(lambda names: [None] * len(names)),
    "names of numbers": _renamed(lambda names: list(range(len(names)))),
    "names of numbers and text": _renamed(lambda names: [k if k % 2 else str(k) for k in range(len(names))]),
    "names of tuples": _renamed(lambda names: pd.MultiIndex.from_tuples([("a", n) for n in names])),
    "names of times": _renamed(lambda names: pd.date_range("2024", periods=len(names))),
    "names that are missing": _renamed(lambda names: [math.nan, *names[1:]]),
    "rows of two levels": _reindexed(lambda n: pd.MultiIndex.from_product([[0], range(n)])),
    "rows of times": _reindexed(lambda n: pd.date_range("2024", periods=n)),
    "rows without names": _reindexed(lambda n: [math.nan] * n),
    "no rows": lambda o: o.X.iloc[:0],
    "no columns": lambda o: o.X.iloc[:, :0],
    "one row": lambda o: o.X.iloc[:1],
    "a series": lambda o: o.X.iloc[:, 0],
    "transposed": lambda o: o.X.T,
    "its dictionary": lambda o: o.X.to_dict("list") if o.X.columns.is_unique else {},
    "its rows": lambda o: [o.X.iloc[r] for r in range(o.n)],
    "its records": lambda o: o.X.to_dict("records"),
}


def _object_series(cells: Any) -> Any:
    """Python objects in polars, which guesses by the first of them what they are."""
    return pl.Series(["a", *cells], dtype=pl.Object)[1:]


POLARS: dict[str, Callable[[Odd], Any]] = {
    "lists": lambda o: o.X.with_columns(odd=pl.lit([1, 2])),
    "structs": lambda o: o.X.with_columns(odd=pl.struct(pl.lit(1).alias("a"))),
    "binary": lambda o: o.X.with_columns(odd=pl.lit(b"x")),
    "nulls": lambda o: o.X.with_columns(odd=pl.lit(None)),
    "Int128": lambda o: o.X.with_columns(odd=pl.int_range(pl.len()).cast(pl.Int128)),
    "UInt64": lambda o: o.X.with_columns(odd=pl.lit(2**64 - 1, dtype=pl.UInt64)),
    "Float32": lambda o: o.X.with_columns(odd=pl.int_range(pl.len()).cast(pl.Float32) / 3),
    "wide decimals": lambda o: o.X.with_columns(odd=pl.int_range(pl.len()).cast(pl.Decimal(38, 9))),
    "nanoseconds": lambda o: o.X.with_columns(odd=pl.int_range(pl.len()).cast(pl.Datetime("ns"))),
    "arrays": lambda o: o.X.with_columns(odd=pl.Series([[1, 2]] * o.n, dtype=pl.Array(pl.Int8, 2))),
    "odd cells": lambda o: o.X.with_columns(odd=_object_series(_odd_cells(o.rng, o.n, "a"))),
    "no rows": lambda o: o.X[:0],
    "no columns": lambda o: o.X[:, :0],
    "a series": lambda o: o.X.to_series(0),
    "grouped": lambda o: o.X.group_by(o.X.columns[0]),
}
ARROW: dict[str, Callable[[Odd], Any]] = {
    "lists": lambda o: o.X.append_column("odd", pa.array([[1]] * o.n)),
    "structs": lambda o: o.X.append_column("odd", pa.array([{"a": 1}] * o.n)),
    "maps": lambda o: o.X.append_column("odd", pa.array([[("a", 1)]] * o.n, pa.map_("str", "int8"))),
    "nulls": lambda o: o.X.append_column("odd", pa.nulls(o.n)),
    "half floats": lambda o: o.X.append_column("odd", pa.array(np.ones(o.n, np.float16))),
    "views": lambda o: o.X.append_column("odd", pa.array(["a", "b"] * o.n).cast(pa.string_view())[: o.n]),
    "large text": lambda o: o.X.append_column("odd", pa.array(["a"] * o.n, pa.large_string())),
    "wide decimals": lambda o: o.X.append_column("odd", pa.array([Decimal(1)] * o.n, pa.decimal256(50, 3))),
    "months": lambda o: o.X.append_column("odd", pa.array([(1, 2, 3)] * o.n, pa.month_day_nano_interval())),
    "names repeated": lambda o: pa.Table.from_arrays([*o.X.columns, o.X.column(0)], [*o.X.column_names, "f0"]),
    "a batch": lambda o: o.X.combine_chunks().to_batches()[0] if o.n else o.X,
    "no rows": lambda o: o.X[:0],
    "a column": lambda o: o.X.column(0),
}
ARRAYS: dict[str, Callable[[Odd], Any]] = {
    "one dimension": lambda o: o.X.ravel(),
    "three dimensions": lambda o: o.X[:, :, None],
    "masked": lambda o: np.ma.array(o.X, mask=o.rng.random(o.X.shape) < 0.3),
    "text": lambda o: np.array([[f"v{k % 3}" for k in range(o.X.shape[1])]] * o.n),
    "bytes": lambda o: np.array([[b"a"] * o.X.shape[1]] * o.n),
    "complex": lambda o: np.ones(o.X.shape, complex),
    "structured": lambda o: np.zeros(o.n, [("a", int), ("b", "U2")]),
    "times": lambda o: np.full(o.X.shape, np.datetime64("2024-01-01", "ns")),
    "booleans": lambda o: o.rng.random(o.X.shape) < 0.5,
    "half floats": lambda o: o.rng.random(o.X.shape).astype(np.float16),
    "long floats": lambda o: o.rng.random(o.X.shape).astype(np.longdouble),
    "odd cells": lambda o: np.column_stack([_odd_cells(o.rng, o.n, 1)] * o.X.shape[1]),
    "no rows": lambda o: o.X[:0],
    "no columns": lambda o: o.X[:, :0],
    "a memory view": lambda o: memoryview(np.ones((o.n, 2))),
    "read only": lambda o: np.broadcast_to(np.arange(3), (o.n, 3)),
}
LISTS: dict[str, Callable[[Odd], Any]] = {
    "ragged": lambda o: [*o.X[:-1], list(o.X[-1])[:-1]],
    "odd cells": lambda o: [[*row, odd] for row, odd in zip(o.X, _odd_cells(o.rng, o.n, 1), strict=True)],
    "a row of text": lambda o: [*o.X[:-1], "text"],
    "dictionaries": lambda o: [dict(enumerate(row)) for row in o.X],
    "a generator": lambda o: (row for row in o.X),
    "arrays": lambda o: [np.array(range(3)) for _ in o.X],
    "empty": lambda _: [],
    "empty rows": lambda o: [[] for _ in o.X],
    "one row": lambda o: o.X[0],
    "text": lambda _: "a table",
    "nothing": lambda _: None,
    "a set": lambda _: {1, 2},
    "mixed rows": lambda o: [row if k % 2 else tuple(row) for k, row in enumerate(o.X)],
}
CHANGES: dict[type, dict[str, Callable[[Odd], Any]]] = {
    pd.DataFrame: PANDAS,
    pl.DataFrame: POLARS,
    pa.Table: ARROW,
    np.ndarray: ARRAYS,
    list: LISTS,
}


# ---------------------------------------------------------------- labels and options


def _shuffled(o: Odd) -> Any:
    index = getattr(o.X, "index", None)
    index = index if hasattr(index, "__len__") and len(index) == o.n else range(o.n)
    return pd.Series(o.table.labels, dtype=object, index=pd.Index(index)).iloc[o.rng.permutation(o.n)]


LABELS: dict[str, Callable[[Odd], Any]] = {
    "label by name": lambda o: o.table.names[0],
    "label by number": lambda _: 0,
    "label by an unknown name": lambda _: "unknown",
    "label as a series in another order": _shuffled,
    "label too long": lambda o: [*o.table.labels, 1],
    "label as a frame": lambda o: pd.DataFrame({"y": pd.Series(o.table.labels, dtype=object)}),
    "label as two columns": lambda o: pd.DataFrame({"a": [0] * o.n, "b": 1}),
    "label as a column of arrays": lambda o: np.arange(o.n).reshape(-1, 1) % 2,
    "label of two dimensions": lambda o: np.zeros((o.n, 2)),
    "label of odd cells": lambda o: _odd_cells(o.rng, o.n, 1).tolist(),
    "label of many numbers": lambda o: o.rng.normal(size=o.n),
    "label masked": lambda o: np.ma.array(np.arange(o.n) % 3, mask=o.rng.random(o.n) < 0.5),
    "label complex": lambda o: np.arange(o.n) * 1j,
    "label of categories": lambda o: pd.Categorical(["a"] * o.n, ["a", "b"]),
    "label all missing": lambda o: [None] * o.n,
    "label a dictionary": lambda o: dict.fromkeys(range(o.n), 1),
    "label a generator": lambda o: (label for label in o.table.labels),
    "label an arrow array": lambda o: pa.array([k % 2 for k in range(o.n)]),
    "label chunked": lambda o: pa.chunked_array([[k % 2 for k in range(o.n)]]),
    "no label": lambda _: None,
    "label a number": lambda _: 3.5,
    "label of lists": lambda o: pl.Series([[1]] * o.n),
}
OPTIONS: list[tuple[str, list[Any]]] = [
    ("weights", ["f0", -1, [1.5], [], {}, "unknown", 2, np.array([]), [2**62, 2**62], [math.nan], ["1"]]),
    ("groups", ["f0", "unknown", [], [0], 1, {}]),
    ("features", [["f0"], "f0", [], "f*", ["f0", "f0"], [0], 0, None, ["["], "unknown", [None], {"f0"}, 1.5]),
    ("ignore", ["f0", [], "*", ["f1", "f2"], "x?", [1], -1, ["x0"]]),
    ("missing", ["drop", "error", "value", None, "DROP", 1]),
    (
        "bins",
        [2, 3, 1, 0, None, "widths:3", "widths:0", "quantiles:4", {"f0": 2}, {"*": None}, {"f9": 2}, [0.5, 1], [1, 0]],
    ),
    ("bins", ["", 10**9, 2.0, True, {"f0": [0, 1]}, {0: 2}, ["a"], [None], {"f0": None}, {}, np.array([0, 1.5])]),
    ("max_values", [None, 1, 2, 0, -1, 1e3, "20", 10**30]),
    ("ids", ["keep", "drop", None, True]),
    ("fold_case", [True, False, None, "yes"]),
    ("classes", [2, 3, 1, None, "2", 1000, 2.0]),
    ("scale", ["number", "ranks", "log", "classes", "auto", "log10", None, 1]),
    ("ordered", [["b", "a"], ["a", "b", "c"], [0, 1], "ab", [], 1, [None], iter(["a", "b"])]),
    ("given", ["auto", "all", [], ["f0"], [0], [-1], ["f9"], {"f0"}, "AUTO", "f0", None, 1, [None], np.array(["f0"])]),
    ("duplicates", ["once", "count", None, 1]),
    ("confidence", [None, 0.5, 0.999999, 0, 1, "0.95", math.nan, -1]),
    ("n_jobs", [2, -1, 0, 1]),
    ("feature_names", [["a"], ["a", "a"], [], "ab", [1, 2], iter(["a", "b"]), [None], None]),
]
"""Odd and usual values of the options of ``relevance``."""

KEPT: dict[str, Callable[[], Question]] = {
    "a record batch of several types": lambda: _question(
        pa.record_batch({"a": [0.5, 1.5], "b": pa.array([date(2024, 1, 1)] * 2)})
    ),
    "weights of 128 bits": lambda: _question(
        pl.DataFrame({"a": [0, 1], "w": pl.Series([1, 2], dtype=pl.Int128)}), weights="w"
    ),
    "a series of 128 bits": lambda: _question(pl.Series([0, 1], dtype=pl.Int128)),
    "long rows as dictionaries": lambda: _question([{"a": "x" * 5000}] * 2),
    "long cells that are no values": lambda: _question([[["x" * 5000]], [0]]),
}
"""Questions that found a bug."""


def _question(X: Any, **options: Any) -> Question:
    return Question(analogical.relevance, [X, [0, 1]], options, [])
