"""Relevance on Spark is that in memory, for every kind of column and whatever the plan."""

import sys
from datetime import date, datetime
from decimal import Decimal

import numpy as np
import pandas as pd
import pytest
from analogical.spark.verbs import count_pairs
from engine_contract import rule_of_three
from spark_sessions import all_need_spark

import analogical
from analogical import InputError
from analogical._types import same
from analogical.show.notes import describe_notes

pytestmark = all_need_spark()


@pytest.fixture
def on_spark(monkeypatch):
    """Rows never come here, however few they are, and lie in several partitions."""
    monkeypatch.setattr("analogical.spark.verbs.finishes_in_memory", lambda *_: False)
    monkeypatch.setattr("analogical.spark.planning.CELLS_EACH", 2_000)


@pytest.fixture
def no_fine_bins(monkeypatch):
    """In memory numbers are in their own bins too, as they are on Spark."""
    monkeypatch.setattr("analogical.study.NUMBERS_OF_BINS", ())


def assert_same(found, expected):
    """All but who counted and what came in: whole numbers equal, others up to the last digits."""
    for name, value in vars(expected).items():
        if name == "settings":
            continue
        other = getattr(found, name)
        if isinstance(value, np.ndarray) and value.dtype.kind == "f":
            np.testing.assert_allclose(other, value, rtol=1e-9, atol=1e-12, err_msg=name)
        elif name == "notes":  # Spark has no groups to point to
            assert same(other, tuple(note for note in value if note.kind != "looks-like-groups"))
        elif name == "points":
            for one, two in zip(other, value, strict=True):
                assert (one is None) == (two is None)
                if one is not None:
                    assert (one.value, one.against, one.label) == (two.value, two.against, two.label)
                    numbers = [(p.points, p.low, p.high) for p in (one, two)]
                    np.testing.assert_allclose(*numbers, rtol=1e-9, atol=1e-9)
        else:
            assert same(other, value), name
    names = ("given", "confidence", "duplicates", "weighted", "searched_rows", "n_groups")
    assert [getattr(found.settings, n) for n in names] == [getattr(expected.settings, n) for n in names]
    assert found.settings.engine == "spark"


def mixed(n=1500, seed=1):
    """Text with gaps, whole numbers, floats with gaps and both zeros, booleans, an id, dates, decimals, labels."""
    rng = np.random.default_rng(seed)
    frame = pd.DataFrame(
        {
            "text": rng.choice(["x", "y", "z", None], n),
            "few": rng.integers(0, 2, n),
            "many": rng.integers(0, 60, n),
            "real": np.where(rng.random(n) < 0.1, np.nan, rng.choice([0.0, -0.0, 1.5, 2.5, 3.5, 1e9], n)),
            "flag": rng.random(n) < 0.5,
            "id": np.arange(n) + 10**12,
            "day": [date(2020, 1, 1 + int(k)) for k in rng.integers(0, 28, n)],
            "price": [Decimal(int(k)) / 4 for k in rng.integers(0, 3, n)],
            "w": rng.integers(0, 4, n),
        }
    )
    label = np.where((frame.text == "x") ^ (frame.few == 1) ^ (rng.random(n) < 0.1), "p", "q").astype(object)
    label[:9] = None
    return frame.assign(y=label)


CASES = {
    "all others given": ("blocks", {"given": "all"}),
    "weights, what matters given": ("blocks", {"weights": "w"}),
    "weights, each row once": ("blocks", {"weights": "w", "duplicates": "once", "given": ["few", "many"]}),
    "what matters given": ("grouped", {}),
    "some given": ("grouped", {"given": ["text", "few"], "confidence": 0.9}),
    "rows with gaps left out": ("grouped", {"missing": "drop"}),
    "own bins": ("grouped", {"bins": {"many": "widths:3", "real": [0.5, 2.0], "*": 4}, "given": []}),
    "some features": ("grouped", {"features": ["text", "few", "id"]}),
    "weights, each row once, here": ("grouped", {"weights": "w", "duplicates": "once", "given": "all"}),
}


@pytest.mark.parametrize("case", CASES)
@pytest.mark.usefixtures("no_fine_bins")
def test_the_same_relevance_as_in_memory(session, case, request):
    plan, options = CASES[case]
    if plan == "blocks":
        request.getfixturevalue("on_spark")
    if "features" not in options and "weights" not in options:
        options = {"ignore": ["w"]} | options
    frame = mixed()
    table = session.createDataFrame(frame).repartition(5)
    found = analogical.spark.relevance(table, "y", **options)
    assert found.settings.plan.kind == plan
    assert_same(found, analogical.relevance(frame, "y", **options))


def test_a_large_table_stays_on_spark_with_all_defaults(session):
    """The deciding set is chosen on a sample, and all numbers come from all rows."""
    frame = rule_of_three(20_800)
    table = session.createDataFrame(frame).repartition(3)
    found = analogical.spark.relevance(table, "y")
    assert found.settings.plan.kind == "blocks"
    assert (found.settings.searched_rows, found.n_rows) == (20_000, 20_800)
    assert set(found.deciding) == {"f0", "f1", "f2"}
    assert found.with_status("effect") == found.ranking()[:3]
    assert found.same_as[12] == "f0"
    expected = analogical.relevance(frame, "y", given=list(found.deciding))
    tested = [i for i in range(13) if found.same_as[i] is None]
    for name in ("effect", "effect_low", "effect_high", "p_value", "index", "noise_rate", "compared"):
        np.testing.assert_allclose(getattr(found, name)[tested], getattr(expected, name)[tested], rtol=1e-9)
    assert (found.pairs.tolist(), found.changed.tolist()) == (expected.pairs.tolist(), expected.changed.tolist())
    told = found.to_dict()["settings"]
    assert (told["engine"], told["plan"]["kind"]) == ("spark", "blocks")
    assert sorted(name for block in told["plan"]["blocks"] for name in block) == sorted(found.names)
    counts, plan = count_pairs(table, "y")
    assert (counts.pairs.tolist(), plan.kind) == (found.pairs.tolist(), "blocks")


def test_columns_that_tell_the_label_are_named_with_their_share_of_all_rows(session, on_spark):
    rng = np.random.default_rng(0)
    frame = pd.DataFrame({"a": rng.integers(0, 4, 2000), "b": rng.integers(0, 3, 2000)})
    frame = frame.assign(y=rng.integers(0, 2, 2000))
    frame["leak"] = np.where(np.arange(2000) % 50 == 0, 1 - frame.y, frame.y)
    found = analogical.spark.relevance(session.createDataFrame(frame), "y")
    expected = analogical.relevance(frame, "y")
    assert [n for n in found.notes if n.kind == "leak"] == [n for n in expected.notes if n.kind == "leak"] != []


# ---------------------------------------------------------------- very many values


@pytest.fixture
def few_values_come_here(monkeypatch):
    monkeypatch.setattr("analogical.spark.relation.MOST_VALUES", 40)
    monkeypatch.setattr("analogical.engines.looking.N_STEPS", 200)


@pytest.mark.parametrize("weights", [None, "w"])
def test_numbers_with_very_many_values_are_binned_in_steps_and_it_is_said(session, few_values_come_here, weights):
    rng = np.random.default_rng(3)
    n = 3000
    frame = pd.DataFrame(
        {
            "real": np.where(rng.random(n) < 0.3, 0.0, rng.normal(size=n)),
            "whole": rng.integers(0, 900, n),
            "time": pd.Timestamp("2020-01-01") + pd.to_timedelta(rng.integers(0, 900, n), "h"),
            "day": [date.fromordinal(737_000 + int(k)) for k in rng.integers(0, 500, n)],
            "price": [Decimal(int(k)) / 4 for k in rng.integers(0, 500, n)],
            "gaps": np.where(rng.random(n) < 0.1, np.nan, rng.normal(size=n)),
            "w": rng.integers(0, 4, n),
        }
    )
    frame["y"] = np.where(frame.real > 0.2, "p", "q")
    options = {"weights": weights} if weights else {"ignore": ["w"]}
    found = analogical.spark.relevance(session.createDataFrame(frame), "y", **options)
    expected = analogical.relevance(frame, "y", **options)
    (note,) = [note for note in found.notes if note.kind == "binned-in-steps"]
    assert note.columns == ("real", "whole", "time", "day", "price", "gaps")
    assert "edges are approximate" in describe_notes([note])[0]
    for near, exact in zip(found.feature_columns, expected.feature_columns, strict=True):
        assert (near.n_values, near.n_missing) == (exact.n_values, exact.n_missing)
    kept = frame[frame.w > 0] if weights else frame
    rows = kept.w if weights else pd.Series(1, kept.index)
    for name, near, exact in zip(found.names, found.feature_columns, expected.feature_columns, strict=True):
        if "." in name:  # parts of dates are exact
            assert near == exact
            continue
        for one, other in zip(near.edges, exact.edges, strict=True):
            near_edge = pd.Timestamp(one).tz_localize(None) if isinstance(one, datetime) else one
            below = kept[name].map(float) if name == "price" else kept[name]
            edges = [float(edge) if name == "price" else edge for edge in (near_edge, other)]
            shares = [rows[below < edge].sum() / rows.sum() for edge in edges]
            assert abs(shares[0] - shares[1]) < 0.02, name
    assert found.ranking()[0] == "real"


def test_ids_are_set_aside_and_texts_with_very_many_values_refused(session, few_values_come_here):
    n = 600
    frame = pd.DataFrame({"id": [f"u{k}" for k in range(n)], "a": np.arange(n) % 2, "y": np.arange(n) % 3})
    found = analogical.spark.relevance(session.createDataFrame(frame), "y")
    assert found.names == ("a",)
    assert [(note.kind, note.columns) for note in found.notes if note.kind == "set-aside"] == [("set-aside", ("id",))]
    frame["id"] = [f"u{k // 2}" for k in range(n)]
    with pytest.raises(InputError, match="The feature 'id' has more than 40 values, too many to collect"):
        analogical.spark.relevance(session.createDataFrame(frame), "y")
    number = frame.assign(id=np.arange(n) * 1000)
    assert analogical.spark.relevance(session.createDataFrame(number), "y").names == ("a",)  # by its name
    number = number.rename(columns={"id": "income"})
    for options in ({"bins": None}, {"max_values": None}):
        with pytest.raises(InputError, match="'income' has more than 40 distinct numbers, too many to be categories"):
            analogical.spark.relevance(session.createDataFrame(number), "y", **options)
    assert analogical.spark.relevance(session.createDataFrame(number), "y").names == ("income", "a")


# ---------------------------------------------------------------- what is refused


def small(session, **columns):
    return session.createDataFrame(pd.DataFrame({"a": [0, 1, 0, 1], "b": [0, 0, 1, 1], "y": [0, 1, 1, 0]} | columns))


@pytest.mark.parametrize(
    ("change", "options", "message"),
    [
        ({}, {"label": "z"}, "no column 'z' to take as label"),
        ({}, {"label": ["y"]}, "must be the name of a column, got list"),
        ({}, {"weights": "y", "label": "y"}, "cannot be both the label and the weights"),
        ({"y": [1, 1, 1, 1]}, {}, "one class only"),
        ({"y": [np.nan] * 4}, {}, "missing in all 4 rows"),
        ({"a": [0] * 4, "b": [1] * 4}, {}, "All 2 features have one value only"),
        ({"w": [1, 2, -1, 1]}, {"weights": "w"}, "got -1 in 'w'"),
        ({"w": [1.5, 2, 1, 1]}, {"weights": "w"}, "got 1.5 in 'w'"),
        ({"w": ["1", "2", "1", "1"]}, {"weights": "w"}, "has the type string"),
        ({"w": [0, 0, 0, 0]}, {"weights": "w"}, "are zero"),
        ({"a": [[1], [2], [1], [2]]}, {}, "which is not one value per row"),
        ({"a": [None, "x", None, "x"]}, {"missing": "error"}, r"Missing values \(NaN or None\) in 'a' \(2 of 4 rows\)"),
        ({"a": [None, "x", None, "x"], "b": ["x", None, "y", None]}, {"missing": "drop"}, "leaves none"),
        ({}, {"bins": {"y": 3}}, "which is the label"),
        ({"y": [0.1, 0.2, 0.3, 0.4]}, {"max_values": 2}, "too many for classes"),
        ({}, {"given": "most"}, "given"),
        ({}, {"given": ["z"]}, "no column 'z' to take as feature; it has 'a', 'b'"),
        ({}, {"confidence": 2}, "confidence"),
        ({}, {"duplicates": "twice"}, "duplicates"),
    ],
)  # fmt: skip
def test_bad_input_gets_a_sentence(session, change, options, message):
    options = {"label": "y"} | options
    with pytest.raises(InputError, match=message):
        analogical.spark.relevance(small(session, **change), **options)


def test_other_tables_are_refused():
    with pytest.raises(InputError, match="must be a PySpark dataframe, got DataFrame of pandas; use analogical"):
        analogical.spark.relevance(pd.DataFrame({"a": [1], "y": [1]}), "y")


def test_a_stream_is_refused(session):
    with pytest.raises(InputError, match="df is a stream"):
        analogical.spark.relevance(session.readStream.format("rate").load(), "value")


def test_names_that_differ_in_case_only(session):
    frame = pd.DataFrame({"a": [0, 1, 0, 1], "A": [0, 0, 1, 1], "y": [0, 1, 1, 0]})
    found = analogical.spark.relevance(session.createDataFrame(frame), "y")
    assert found.names == ("a", "A")
    assert found.pairs.tolist() == [2, 2]


def test_an_empty_table_and_odd_names(session):
    with pytest.raises(InputError, match="The table is empty"):
        analogical.spark.relevance(small(session).limit(0), "y")
    odd = small(session).withColumnRenamed("a", "a.b `c`").withColumnRenamed("b", "weight")
    found = analogical.spark.relevance(odd, "y")
    assert found.names == ("a.b `c`", "weight")
    assert found.ari.tolist() == [1.0, 1.0]


def test_a_value_that_appears_later_is_an_error_and_never_a_missing_cell():
    import pyarrow as pa

    from analogical.engines.cells import ByValue

    places = ByValue(pa.array(["x", "y"]))
    assert places.place(pa.array(["y", None, "x"])).tolist() == [1, 2, 0]
    with pytest.raises(ValueError, match="a value that the first pass did not see"):
        places.place(pa.array(["z"]))


def test_a_job_that_fails_is_one_error(session):
    from pyspark.sql import functions as F

    from analogical.errors import SparkError

    broken = small(session).withColumn("a", F.when(F.col("a") == 0, F.raise_error(F.lit("a broken disk"))).otherwise(1))
    with pytest.raises(SparkError, match=r"Spark could not finish .*a broken disk"):
        analogical.spark.relevance(broken, "y")


def test_progress_ends_whatever_the_plan(session, capfd):
    analogical.spark.relevance(small(session), "y", progress=True)
    assert "on Spark, steps done: 4 of 4" in capfd.readouterr().err


def test_the_package_that_is_shipped_is_for_the_executors_only(session):
    """Processes that this one starts have its path: they would import the package from the archive."""
    frame = session.createDataFrame(pd.DataFrame({"a": [0, 1, 0, 1], "b": [0, 0, 1, 1], "y": [0, 1, 1, 0]}))
    analogical.spark.relevance(frame, "y")
    assert not [place for place in sys.path if "analogical_" in place and place.endswith(".zip")]
