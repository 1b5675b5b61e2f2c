"""Spark Connect gives what a classic session gives."""

import pytest
from spark_sessions import all_need_spark, connected

import analogical
from analogical import interactions

pytestmark = all_need_spark()
pytest.importorskip("grpc_status", reason="Spark Connect needs grpcio-status")


@pytest.mark.parametrize("plan", ["grouped", "blocks"])
def test_spark_connect_gives_the_same_answers(session, plan, monkeypatch):
    if plan == "blocks":
        monkeypatch.setattr("analogical.spark.opening.finishes_in_memory", lambda *_: False)
    frame = analogical.load_table("titanic").to_frame("pandas")
    here = analogical.Study(frame, "survived", weights="count")
    with connected(session) as client:
        table = client.createDataFrame(frame).repartition(3)
        assert type(table).__module__ == "pyspark.sql.connect.dataframe"
        there = analogical.Study(table, "survived", weights="count")
        found, selected, pairs = (ask(there) for ask in (analogical.relevance, analogical.select, interactions))
    expected = analogical.relevance(here)
    assert found.settings.plan.kind == plan
    assert (found.pairs.tolist(), found.changed.tolist()) == (expected.pairs.tolist(), expected.changed.tolist())
    assert found.status == expected.status
    assert selected.features == analogical.select(here).features
    expected = interactions(here)
    assert (pairs.squares, pairs.broken, pairs.status) == (expected.squares, expected.broken, expected.status)
