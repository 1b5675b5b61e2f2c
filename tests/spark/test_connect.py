"""Spark Connect gives what a classic session gives."""

import pytest
from spark_sessions import all_need_spark, connected

import analogical

pytestmark = all_need_spark()
pytest.importorskip("grpc_status", reason="Spark Connect needs grpcio-status")


@pytest.mark.parametrize("plan", ["grouped", "blocks"])
def test_spark_connect_gives_the_same_counts(session, plan, monkeypatch):
    if plan == "blocks":
        monkeypatch.setattr("analogical.spark.verbs.finishes_in_memory", lambda *_: False)
    frame = analogical.load_table("titanic").to_frame("pandas")
    expected = analogical.relevance(frame, "survived", weights="count")
    with connected(session) as client:
        table = client.createDataFrame(frame).repartition(3)
        assert type(table).__module__ == "pyspark.sql.connect.dataframe"
        found = analogical.spark.relevance(table, "survived", weights="count")
    assert found.settings.plan.kind == plan
    assert (found.pairs.tolist(), found.changed.tolist()) == (expected.pairs.tolist(), expected.changed.tolist())
    assert found.status == expected.status
