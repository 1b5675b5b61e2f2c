"""A table in DuckDB is encoded as the same table in memory, whatever its columns hold and whatever is asked for."""

from datetime import date, datetime, timedelta
from decimal import Decimal

import duckdb
import numpy as np
import polars as pl
import pyarrow as pa
import pytest
from encoded_there import COLUMNS, M, assert_same_as_in_memory, assert_same_sizes, columns_there, table_of
from fuzz.tables import random_table

from analogical import InputError
from analogical.columns.encode import encode_table
from analogical.columns.rules import Rules
from analogical.duck.relation import DuckRelation
from analogical.engines.encode import encode_relation

CONNECTION = duckdb.connect()
CONNECTION.sql("SET TimeZone = 'UTC'")


def same_in_duckdb(frame, label="y", *, most_values=None, keep=(), **options):
    more = {} if most_values is None else {"most_values": most_values}
    relation = DuckRelation(CONNECTION.from_arrow(frame.to_arrow()), **more)
    return assert_same_as_in_memory(
        frame, relation, lambda table: table.relation.batches(table.sources), label, keep=keep, **options
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
    assert found.notes[-1].columns == ("number", "gaps", "day")


# ---------------------------------------------------------------- very many values


def many(n=3000, seed=3):
    """Columns with more values than come here: numbers, times, names of rows and of units; and a few others."""
    rng = np.random.default_rng(seed)
    real = np.where(rng.random(n) < 0.3, 0.0, rng.normal(size=n))
    return pl.DataFrame(
        {
            "real": real,
            "whole": rng.integers(0, 900, n),
            "time": [datetime(2020, 1, 1) + timedelta(hours=int(k)) for k in rng.integers(0, 900, n)],
            "day": [date.fromordinal(737_000 + int(k)) for k in rng.integers(0, 900, n)],
            "price": pl.Series([Decimal(int(k)) / 4 for k in rng.integers(0, 500, n)], dtype=pl.Decimal(10, 2)),
            "gaps": [None if u < 0.1 else float(x) for u, x in zip(rng.random(n), rng.normal(size=n), strict=True)],
            "stamp": [datetime(2020, 1, 1) + timedelta(minutes=7 * k) for k in range(n)],
            "name": [f"u{k}" for k in range(n)],
            "number": np.arange(n) * 3,
            "patient": rng.integers(0, 700, n) * 17,
            "few": rng.integers(0, 3, n),
            "w": rng.integers(0, 4, n),
            "y": np.where(real > 0.2, "p", "q"),
        }
    )


@pytest.mark.parametrize(
    "options", [{}, {"weights": "w"}, {"missing": "drop", "bins": "widths:4"}, {"groups": "patient"}]
)
def test_columns_that_are_counted_one_at_a_time(monkeypatch, options):
    monkeypatch.setattr("analogical.engines.looking.HELD", 40)
    monkeypatch.setattr("analogical.engines.looking.MANY_NUMBERS", 100)
    found, _ = same_in_duckdb(many(), **options)
    assert not isinstance(found, str), found


@pytest.mark.parametrize("weights", [None, "w"])
def test_numbers_with_too_many_values_are_binned_in_steps_and_it_is_said(monkeypatch, weights):
    monkeypatch.setattr("analogical.engines.looking.N_STEPS", 300)
    frame = many().drop("name") if weights else many()  # with weights it is not an identifier
    rules = Rules(weights=weights, ignore=None if weights else ["w"])
    relation = DuckRelation(CONNECTION.from_arrow(frame.to_arrow()), most_values=40)
    found = encode_relation(relation, "y", rules)
    expected = encode_table(frame, "y", rules)
    assert [note.kind for note in found.notes] == [
        "set-aside", "missing-value", "looks-like-groups", "binned-in-steps", "date-parts", "leak"
    ]  # fmt: skip
    kept = [note for note in expected.notes if note.kind in ("set-aside", "missing-value", "date-parts", "leak")]
    assert [note for note in found.notes if note.kind in {note.kind for note in kept}] == kept
    assert found.notes[2].columns == ("patient",)
    (columns,) = [note.columns for note in found.notes if note.kind == "binned-in-steps"]
    binned = [name for note in expected.notes if note.kind in ("binned", "binned-time") for name in note.columns]
    assert sorted(columns) == sorted(binned)
    assert len(columns) == 8 - (weights is None)
    rows = frame.filter(pl.col("w") > 0) if weights else frame
    times = rows["w"].to_numpy() if weights else np.ones(len(rows))
    for near, exact in zip(found.columns, expected.columns, strict=True):
        if near.name not in columns:
            assert near == exact
            continue
        assert (len(near.values), near.n_missing) == (len(exact.values), exact.n_missing)
        for one, other in zip(near.edges, exact.edges, strict=True):
            below = [rows[near.name] < (float(edge) if near.name == "price" else edge) for edge in (one, other)]
            shares = [(times * side.fill_null(False).to_numpy()).sum() / times.sum() for side in below]
            assert abs(shares[0] - shares[1]) < 0.01, near.name
    codes = columns_there(found, found.relation.batches(found.sources))
    sizes = [np.bincount(code, codes[-1] if weights else None) for code in codes]
    n = len(found.encoders)
    assert_same_sizes(found, sizes[n], sizes[:n])


def test_names_and_numbers_with_too_many_values(monkeypatch):
    monkeypatch.setattr("analogical.engines.looking.N_STEPS", 300)

    def encoded(**options):
        frame = many().select(options.pop("columns", ["name", "number", "few", "y"]))
        relation = DuckRelation(CONNECTION.from_arrow(frame.to_arrow()), most_values=40)
        return encode_relation(relation, "y", Rules(**options))

    assert [column.name for column in encoded().columns] == ["few"]
    assert [column.name for column in encoded(features=["number", "few"]).columns] == ["number", "few"]
    with pytest.raises(InputError, match="The feature 'name' has more than 40 values, too many to collect"):
        encoded(ids="keep")
    for options in ({"bins": None}, {"max_values": None}):
        with pytest.raises(InputError, match="'whole' has more than 40 distinct numbers, too many to be categories"):
            encoded(columns=["whole", "few", "y"], **options)
    with pytest.raises(InputError, match="groups have more than 40 values"):
        encoded(columns=["patient", "few", "y"], groups="patient")
    named = DuckRelation(CONNECTION.from_arrow(many().select("few", y="name").to_arrow()), most_values=40)
    with pytest.raises(InputError, match="The label 'y' has more than 40 values, too many for classes"):
        encode_relation(named, "y")


def test_a_label_with_many_numbers_is_binned(monkeypatch):
    monkeypatch.setattr("analogical.engines.looking.HELD", 40)
    found, _ = same_in_duckdb(many().drop("y"), "real", bin_label=4)
    assert len(found.label_meaning.values) == 4


def test_what_duckdb_cannot_read_is_one_sentence():
    relation = CONNECTION.sql("SELECT CAST(x AS INTEGER) AS a, 1 AS b, x AS y FROM (VALUES ('1'), ('z')) t(x)")
    with pytest.raises(
        InputError, match=r"DuckDB could not finish looking at the columns \(Conversion Error.*\)\. Check the query"
    ):
        encode_relation(DuckRelation(relation), "y")


def test_sums_and_names_of_duckdb():
    relation = CONNECTION.sql(
        """SELECT sum(i) AS "a ""b" , i % 3 AS row, CAST(i % 2 AS VARCHAR)::ENUM('0', '1') AS weight, i % 5 = 0 AS y
        FROM range(40) t(i) GROUP BY i ORDER BY i"""
    )
    table = encode_relation(DuckRelation(relation), "y", Rules(ids="keep"))
    assert [column.name for column in table.columns] == ['a "b', "row", "weight"]
    assert [len(column.values) for column in table.columns] == [5, 3, 2]
    assert table.columns[0].edges == (8, 16, 24, 32)


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
