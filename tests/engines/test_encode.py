"""A table in DuckDB is encoded as the same table in memory, whatever its columns hold and whatever is asked for."""

from datetime import date, datetime, timedelta
from decimal import Decimal

import duckdb
import numpy as np
import polars as pl
import pyarrow as pa
import pytest
from encoded_there import assert_same_as_in_memory
from fuzz.tables import random_table

from analogical import InputError
from analogical.duck.relation import DuckRelation
from analogical.engines.encode import encode_relation
from analogical.table.rules import Rules

M = 60


CONNECTION = duckdb.connect()
CONNECTION.sql("SET TimeZone = 'UTC'")


def same_in_duckdb(frame, label="y", *, most_values=None, keep=(), **options):
    more = {} if most_values is None else {"most_values": most_values}
    relation = DuckRelation(CONNECTION.from_arrow(frame.to_arrow()), **more)
    return assert_same_as_in_memory(
        frame, relation, lambda table: table.relation.batches(table.sources), label, keep=keep, **options
    )


DAYS = [date(2024, 1, 1) + timedelta(days=k // 2) for k in range(M)]
COLUMNS = {
    "booleans": [k % 2 == 0 for k in range(M)],
    "strings": ["red", "blue", "green"] * 20,
    "few whole numbers": [k % 20 for k in range(M)],
    "many whole numbers": [17 * (k // 2) for k in range(M)],
    "row numbers": list(range(M)),
    "patient": [7 * (k // 2) for k in range(M)],
    "spellings": ["Yes", "yes ", "no", "no"] * 15,
    "single letters": ["Y", "y", "n", None] * 15,
    "days as numbers": [int(f"{day:%Y%m%d}") for day in DAYS],
    "floats": [0.5 * k for k in range(M)],
    "floats that are whole": [float(k % 3) for k in range(M)],
    "both zeros": [(0.0, -0.0, 1.5, None)[k % 4] for k in range(M)],
    "mostly 0": [0.0] * 48 + [0.5 * k for k in range(1, 13)],
    "not a number": [(float("nan"), 1.5, 2.5)[k % 3] for k in range(M)],
    "infinite": [(float("inf"), -float("inf"), 0.5 * k)[k % 3] for k in range(M)],
    "decimals": [Decimal(k // 2) / 4 for k in range(M)],
    "durations": [timedelta(hours=k // 2) for k in range(M)],
    "few dates": [DAYS[k % 5] for k in range(M)],
    "dates": DAYS,
    "dates over years": [date(2021, 1, 1) + timedelta(days=29 * (k // 2)) for k in range(M)],
    "firsts of months": [date(2015 + k % 7, 1 + k % 12, 1) for k in range(M)],
    "time stamps": [datetime(2024, 1, 1) + timedelta(minutes=17 * k) for k in range(M)],
    "time stamps over weeks": [datetime(2024, 1, 1) + timedelta(hours=7 * k) for k in range(M)],
    "times of day": [datetime(2024, 1, 1, k % 3, 30).time() for k in range(M)],
    "names": [f"customer {k}" for k in range(M)],
    "gaps": ["a", "b", None] * 20,
    "numbers with gaps": [None if k % 7 == 0 else 0.5 * k for k in range(M)],
    "dates with gaps": [None if k % 7 == 0 else DAYS[k] for k in range(M)],
    "nothing": [None] * M,
}


def table_of(*names, **more):
    return pl.DataFrame(
        {name: COLUMNS[name] for name in names}
        | {"other": [k % 2 for k in range(M)], "y": [k * k % 7 % 2 for k in range(M)]}
        | more
    )


@pytest.mark.parametrize("kind", COLUMNS)
@pytest.mark.parametrize("missing", ["value", "drop", "error"])
def test_every_kind_of_column(kind, missing):
    same_in_duckdb(table_of(kind), missing=missing)


OPTIONS = {
    "bins": {"bins": 3},
    "widths": {"bins": "widths:4"},
    "no bins": {"bins": None},
    "own bins": {"bins": {"floats": [3, 9.5], "many whole numbers": "widths:3", "dates": ["2024-01-09"], "*": 4}},
    "edges outside": {"bins": {"floats": [-5, 100]}},
    "few values": {"max_values": 2},
    "no limit": {"max_values": None},
    "ids kept": {"ids": "keep"},
    "some features": {"features": ["floats", "row numbers", "dates.weekday"]},
    "a pattern": {"features": ["*numbers", "dates"]},
    "some left out": {"ignore": ["dates", "names", "dates over years.month"]},
    "no parts of dates": {"date_parts": False},
    "all spellings": {"fold_case": True},
    "no spellings": {"fold_case": False},
    "weights": {"weights": "few whole numbers"},
    "groups": {"groups": "patient"},
    "groups of texts with gaps": {"groups": "gaps"},
    "groups that are dates with gaps": {"groups": "dates with gaps", "missing": "drop"},
    "weights and groups": {"weights": "few whole numbers", "groups": "strings", "missing": "drop"},
    "new names": {"feature_names": [f"n{k}" for k in range(len(COLUMNS) + 1)], "bins": {"n3": 2}},
    "asked about": {"keep": ["row numbers", "names", 5]},
}


@pytest.mark.parametrize("options", OPTIONS)
def test_every_option(options):
    chosen = OPTIONS[options]
    without = {"nothing"} if chosen.get("missing") == "drop" else {"infinite"} if options == "widths" else set()
    found, _ = same_in_duckdb(table_of(*(name for name in COLUMNS if name not in without)), **chosen)
    assert not isinstance(found, str), found


@pytest.mark.parametrize(
    ("label", "options"),
    [
        (["p", "P ", "q", None] * 15, {}),
        (["p", "P ", "q", None] * 15, {"fold_case": False}),
        (["y", "Y", "no", "n"] * 15, {"fold_case": True}),
        ([0.5 * k for k in range(M)], {"bin_label": 3}),
        ([None if k % 5 == 0 else date(2024, 1, 1) + timedelta(days=k) for k in range(M)], {"bin_label": 4}),
        ([k % 5 for k in range(M)], {}),
        ([k % 5 == 0 for k in range(M)], {"weights": "w"}),
        (["rare" if k < 5 else "pq"[k % 2] for k in range(M)], {"missing": "drop"}),
        ([Decimal(k % 3) for k in range(M)], {}),
    ],
)
def test_every_kind_of_label(label, options):
    frame = table_of("floats", gaps=[None if k < 5 else k % 3 for k in range(M)], y=label, w=[k % 3 for k in range(M)])
    found, _ = same_in_duckdb(frame, **options)
    assert not isinstance(found, str), found


@pytest.mark.parametrize(
    ("change", "options"),
    [
        ({"y": [1] * M}, {}),
        ({"y": [None if k else 1 for k in range(M)]}, {}),
        ({"y": [None] * M}, {}),
        ({"y": [k % 2 for k in range(M)], "w": [k % 2 for k in range(M)]}, {"weights": "w"}),
        ({"y": [0.5 * k for k in range(M)]}, {}),
        ({"y": [f"label {k}" for k in range(M)]}, {}),
        ({"y": ["a", "b"] * 30}, {"bin_label": 3}),
        ({"other": [0] * M}, {"features": ["other"]}),
        ({"w": [None, *range(1, M)]}, {"weights": "w"}),
        ({"w": [0] * M}, {"weights": "w"}),
        ({"w": [2000 + k % 20 for k in range(M)]}, {"weights": "w"}),
        ({"w": ["a"] * M}, {"weights": "w"}),
        ({}, {"bins": {"strings": 3}}),
        ({}, {"bins": {"y": 3}}),
        ({}, {"features": ["unknown"]}),
        ({}, {"features": ["strings.month"]}),
        ({"a": [None, 1] * 30, "b": [1, None] * 30}, {"missing": "drop"}),
        ({"list": [[1]] * M}, {}),
    ],
)
def test_what_memory_refuses_is_refused(change, options):
    found, expected = same_in_duckdb(table_of("strings", **change), **options)
    assert isinstance(found, str)
    assert found[:20] == expected[:20]


def test_an_empty_table_and_labels_that_are_no_names_are_refused():
    relation = DuckRelation(CONNECTION.from_arrow(table_of("floats").to_arrow()[:0]))
    with pytest.raises(InputError, match="The table is empty"):
        encode_relation(relation, "y")
    with pytest.raises(InputError, match="The label of a table on Spark or DuckDB must be the name of a column"):
        encode_relation(relation, [0, 1])
    for role in ("weights", "groups"):
        with pytest.raises(InputError, match=f"The column 'y' cannot be both the label and the {role}"):
            encode_relation(relation, "y", Rules(**{role: "y"}))


# ---------------------------------------------------------------- leaks


def telling(n, n_wrong=0, seed=0):
    """Columns of which some tell the label: a copy, a category, a number that it is a cut of, dates, and none."""
    rng = np.random.default_rng(seed)
    number = rng.permutation(n) / 4
    y = (number > np.quantile(number, 0.4)).astype(int)
    wrong = np.arange(n) % max(1, n // max(1, n_wrong)) == 0 if n_wrong else np.zeros(n, bool)
    return pl.DataFrame(
        {
            "copy": np.where(y == 1, "one", "none"),
            "category": np.where(wrong, 1 - y, y) * 3 + rng.integers(0, 3, n),
            "number": np.where(wrong, 0, number),
            "gaps": [None if k % 41 == 3 else float(x) for k, x in enumerate(number)],
            "day": [date(2000, 1, 1) + timedelta(days=int(4 * x)) for x in number],
            "noise": rng.normal(size=n),
            "few": rng.integers(0, 3, n),
            "w": rng.integers(0, 4, n),
            "y": y,
        }
    )


@pytest.mark.parametrize("n_wrong", [0, 3])
@pytest.mark.parametrize("weights", [None, "w"])
@pytest.mark.parametrize("n_sampled", [20_000, 100])
def test_columns_that_tell_the_label(monkeypatch, n_wrong, weights, n_sampled):
    monkeypatch.setattr("analogical.engines.leaks.N_SAMPLE", n_sampled)
    found, _ = same_in_duckdb(telling(400, n_wrong), weights=weights)
    (leak,) = [note for note in found.notes if note.kind == "leak"]
    assert leak.columns[:2] == ("copy", "category")
    assert "number" in leak.columns


def test_cuts_into_several_classes(monkeypatch):
    monkeypatch.setattr("analogical.engines.leaks.N_SAMPLE", 100)
    frame = (
        telling(400)
        .with_columns(y=(pl.col("number") > 20).cast(int) + (pl.col("number") > 60).cast(int))
        .drop("copy", "category")
    )
    found, _ = same_in_duckdb(frame)
    assert found.notes[-1].columns == ("number", "gaps")


def test_no_leaks_are_looked_for_unless_asked():
    relation = DuckRelation(CONNECTION.from_arrow(telling(400).to_arrow()))
    assert not [n for n in encode_relation(relation, "y", look_for_leaks=False).notes if n.kind == "leak"]


# ---------------------------------------------------------------- random tables


def arrow_of(table):
    """A random table with its label as Arrow columns; None if Arrow cannot hold it."""
    from fuzz.tables import _arrow_array

    if any(column.family == "mixed" for column in table.columns):
        return None
    try:
        cells = {f"{k} {c.name}": _arrow_array(c) for k, c in enumerate(table.columns)} | {
            "label": pa.array(table.labels)
        }
    except pa.ArrowException:
        return None
    cells |= {} if table.weights is None else {"weight": pa.array(table.weights)}
    cells |= {} if table.groups is None else {"group": pa.array(table.groups)}
    return pa.table(cells)


def test_random_tables():
    n_encoded = 0
    for seed in range(60):
        table = random_table(seed, 27)
        arrow = arrow_of(table)
        if arrow is None or pa.types.is_nested(arrow.schema.field("label").type):
            continue
        rng = np.random.default_rng(seed)
        options = {} if table.weights is None else {"weights": "weight"}
        options |= {} if table.groups is None else {"groups": "group"}
        options |= {"missing": str(rng.choice(["value", "drop"])), "bins": int(rng.integers(2, 6))}
        options |= {"max_values": int(rng.choice([3, 20])), "ids": str(rng.choice(["drop", "keep"]))}
        options |= {"fold_case": [None, True, False][rng.integers(3)]}
        found, _ = same_in_duckdb(pl.from_arrow(arrow), "label", **options)
        n_encoded += not isinstance(found, str)
    assert n_encoded > 25
