"""Every verb on a Spark dataframe gives what it gives in memory, whether the rows stay there or come here."""

import sys
from dataclasses import replace
from datetime import date, datetime
from decimal import Decimal
from functools import cache

import numpy as np
import pandas as pd
import pytest
from engine_contract import rule_of_three
from spark_sessions import LOCAL, all_need_spark, plain, session_on
from test_engine_study import assert_same, measured

import analogical
from analogical import InputError, Study
from analogical.errors import SparkError
from analogical.show.notes import describe_notes
from analogical.spark import opening

pytestmark = all_need_spark()

VERBS = {
    "relevance": analogical.relevance,
    "relevance given all": lambda study: analogical.relevance(study, given="all"),
    "relevance given some": lambda study: analogical.relevance(study, given=["sex", "age"]),
    "select": analogical.select,
    "select some": lambda study: analogical.select(study, k=3),
    "interactions": analogical.interactions,
    "pair": lambda study: analogical.interactions(study)["town", "sex"],
    "audit": lambda study: analogical.audit(study, "town"),
    "transitions": lambda study: analogical.transitions(study, "sex"),
    "evidence": lambda study: analogical.evidence(study, "sex"),
    "redundancies": analogical.redundancies,
    "report": analogical.report,
}
WITH_GROUPS = ("relevance", "relevance given some", "audit", "report")


def sorted_frame():
    """Values occur in their order, which is that of values on Spark."""
    frame = measured(1200)
    return frame.sort_values(["town", "sex", "country", "nearly", "noise"], kind="stable").reset_index(drop=True)


OPTIONS = {
    "weights": {"weights": "times", "ignore": ["who"]},
    "groups": {"groups": "who", "weights": "times"},
}


@pytest.fixture(scope="module")
def studies_with():
    """Studies with some options, made once: tests come in any order."""
    return cache(_studies_with)


@pytest.fixture(params=OPTIONS)
def studies(request, studies_with):
    return studies_with(request.param)


def _studies_with(name):
    """A study whose rows stay on Spark, in several partitions, however few they are; and one in memory."""
    options = OPTIONS[name]
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr("analogical.spark.opening.finishes_in_memory", lambda *_: False)
        patch.setattr("analogical.spark.planning.CELLS_EACH", 2_000)
        there = Study(session_on(LOCAL).createDataFrame(sorted_frame()).repartition(4), "y", **options)
    assert there.plan.kind == "blocks"
    assert there.plan.n_partitions > 1
    return there, Study(sorted_frame(), "y", **options)


ASKED = [(options, verb) for options in OPTIONS for verb in VERBS if options != "groups" or verb in WITH_GROUPS]


@pytest.mark.parametrize(("studies", "verb"), ASKED, indirect=["studies"])
def test_every_verb_says_what_it_says_in_memory(studies, verb):
    there, here = studies
    found, expected = VERBS[verb](there), VERBS[verb](here)
    assert type(found) is type(expected)
    told, memory = plain(found.to_dict()), plain(expected.to_dict())
    for panel in [*told.get("panels", ()), *memory.get("panels", ())]:
        del panel["transitions"]  # bins are named in the order in which they occur
    assert_same(told, memory)


def test_a_study_on_spark_says_what_it_is_and_has_no_numbers_of_rows(studies):
    there, here = studies
    assert repr(there).splitlines()[:5] == repr(here).splitlines()[:5]
    assert analogical.evidence(there, "sex").pairs[0].rows is None


def test_whole_rows_are_refused_by_name(studies):
    with pytest.raises(InputError, match="compare compares whole rows, and this table lies on Spark"):
        analogical.compare(studies[0])


@pytest.mark.parametrize(
    "options",
    [
        {"weights": "times", "groups": "who"},
        {"weights": "times", "ignore": ["who"], "duplicates": "once", "given": "all"},
    ],
)
def test_few_rows_come_here_merged(session, options):
    table = session.createDataFrame(sorted_frame()).repartition(3)
    found = analogical.spark.relevance(table, "y", **options)
    assert (found.settings.engine, found.settings.plan.kind) == ("spark", "grouped")
    expected = analogical.relevance(sorted_frame(), "y", **options)
    assert_same(plain(found.to_dict()), plain(expected.to_dict()))


@pytest.mark.parametrize("options", OPTIONS.values(), ids=OPTIONS)
def test_small_tables_come_here(session, options, monkeypatch):
    monkeypatch.setattr(opening, "HERE_BYTES", 2**29)
    frame = measured(300)
    there = Study(session.createDataFrame(frame).coalesce(1), "y", **options)
    here = Study(frame, "y", **options)
    assert (there.engine_name, there.plan.kind) == ("spark", "collected")
    for verb in WITH_GROUPS if "groups" in options else VERBS:
        assert_same(plain(VERBS[verb](there).to_dict()), plain(VERBS[verb](here).to_dict()))
    if "groups" not in options:
        assert analogical.evidence(there, "sex").pairs[0].rows is None
    with pytest.raises(InputError, match="compare compares whole rows, and this table lies on Spark"):
        analogical.compare(there)


@pytest.mark.parametrize(("n_bytes", "kind"), [(2 * 8 + 4 * 2 + 3, "collected"), (2 * 8 + 4 * 2 + 2, "grouped")])
def test_what_is_small_is_told_by_types_and_lengths_of_texts(session, n_bytes, kind, monkeypatch):
    monkeypatch.setattr(opening, "HERE_BYTES", n_bytes)
    table = session.createDataFrame([(1, "ab"), (2, "c")], "a bigint, y string")
    assert Study(table, "y").plan.kind == kind


def test_each_row_once_on_spark(session, on_spark):
    options = {"weights": "times", "ignore": ["who", "age", "dose"], "duplicates": "once"}
    found = analogical.relevance(session.createDataFrame(sorted_frame()), "y", **options)
    assert found.settings.plan.kind == "blocks"
    assert_same(plain(found.to_dict()), plain(analogical.relevance(sorted_frame(), "y", **options).to_dict()))


@pytest.fixture
def on_spark(monkeypatch):
    """Rows never come here, however few they are, and lie in several partitions."""
    monkeypatch.setattr("analogical.spark.opening.finishes_in_memory", lambda *_: False)
    monkeypatch.setattr("analogical.spark.planning.CELLS_EACH", 2_000)


def test_a_large_table_stays_on_spark_with_all_defaults(session):
    """The deciding set is chosen on a sample, and all numbers come from all rows."""
    frame = rule_of_three(20_800)
    found = analogical.relevance(session.createDataFrame(frame).repartition(3), "y")
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


# ---------------------------------------------------------------- columns


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
            "price": [Decimal(25 * int(k)).scaleb(-2) for k in rng.integers(0, 3, n)],
            "w": rng.integers(0, 4, n),
        }
    )
    label = np.where((frame.text == "x") ^ (frame.few == 1) ^ (rng.random(n) < 0.1), "p", "q").astype(object)
    label[:9] = None
    return frame.assign(y=label)


@pytest.mark.parametrize("options", [{"ignore": ["w"]}, {"weights": "w", "missing": "drop"}])
def test_every_kind_of_column_is_encoded_as_in_memory(session, options):
    """All other cases are tried on DuckDB, by the same code."""
    frame = mixed()
    found = analogical.relevance(session.createDataFrame(frame).repartition(5), "y", given=[], **options)
    expected = analogical.relevance(frame, "y", given=[], **options)
    assert {"binned", "set-aside", "date-parts"} <= {note.kind for note in found.notes}
    assert_same(plain(found.to_dict()), plain(expected.to_dict()))


# ---------------------------------------------------------------- very many values


@pytest.fixture
def few_values_come_here(monkeypatch):
    monkeypatch.setattr("analogical.spark.relation.MOST_COLLECTED", 40)
    monkeypatch.setattr("analogical.engines.looking.N_STEPS", 200)


def test_numbers_with_very_many_values_are_binned_in_steps_and_it_is_said(session, few_values_come_here):
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
    options = {"weights": "w"}
    found = analogical.spark.relevance(session.createDataFrame(frame), "y", **options)
    expected = analogical.relevance(frame, "y", **options)
    (note,) = [note for note in found.notes if note.kind == "binned-in-steps"]
    assert note.columns == ("real", "whole", "time", "day", "price", "gaps")
    assert "edges are approximate" in describe_notes([note])[0]
    for near, exact in zip(found.feature_columns, expected.feature_columns, strict=True):
        assert (near.n_values, near.n_missing) == (exact.n_values, exact.n_missing)
    kept = frame[frame.w > 0]
    rows = kept.w
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


# ---------------------------------------------------------------- what is refused


def small(session, **columns):
    return session.createDataFrame(pd.DataFrame({"a": [0, 1, 0, 1], "b": [0, 0, 1, 1], "y": [0, 1, 1, 0]} | columns))


@pytest.mark.parametrize(
    ("change", "options", "message"),
    [
        ({}, {"y": ["y"]}, "must be the name of a column, got list"),
        ({}, {"y": None}, "y is missing: give the name of the column with the label"),
        ({"y": [1, 1, 1, 1]}, {}, "one class only"),
        ({"w": ["1", "2", "1", "1"]}, {"weights": "w"}, "weights must be whole numbers"),
        ({"a": [[1], [2], [1], [2]]}, {}, "which is not one value per row"),
    ],
)  # fmt: skip
@pytest.mark.parametrize("n_bytes", [0, 2**29])
def test_bad_input_gets_a_sentence(session, change, options, message, n_bytes, monkeypatch):
    monkeypatch.setattr(opening, "HERE_BYTES", n_bytes)
    with pytest.raises(InputError, match=message):
        analogical.relevance(small(session, **change), **({"y": "y"} | options))


def test_a_stream_is_refused(session):
    with pytest.raises(InputError, match="df is a stream"):
        analogical.relevance(session.readStream.format("rate").load(), "value")


def test_a_table_that_changes_between_two_reads_is_refused(session, monkeypatch):
    """The first look sees one table, and whoever packs its rows another one."""
    from pyspark.sql import functions as F

    def packed(table, plan):
        frame = table.relation.frame.withColumn("p0", F.lit(0).cast("bigint"))
        return pack(replace(table, relation=replace(table.relation, frame=frame)), plan)

    pack = opening._packed
    monkeypatch.setattr(opening, "_packed", packed)
    with pytest.raises(SparkError, match=r"The columns hold other values than before: the table changed"):
        Study(small(session), "y")


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


def test_a_job_that_fails_is_one_error(session):
    from pyspark.sql import functions as F

    broken = small(session).withColumn("a", F.when(F.col("a") == 0, F.raise_error(F.lit("a broken disk"))).otherwise(1))
    with pytest.raises(SparkError, match=r"Spark could not finish .*a broken disk"):
        analogical.spark.relevance(broken, "y")


def test_the_package_that_is_shipped_is_for_the_executors_only(session):
    """Processes that this one starts have its path: they would import the package from the archive."""
    frame = session.createDataFrame(pd.DataFrame({"a": [0, 1, 0, 1], "b": [0, 0, 1, 1], "y": [0, 1, 1, 0]}))
    analogical.spark.relevance(frame, "y")
    assert not [place for place in sys.path if "analogical_" in place and place.endswith(".zip")]
