"""The engine on a real cluster: one master, two workers, each a process of its own; and what happens when they die."""

import os
import threading
import time

import numpy as np
import pytest
from conftest import coded
from context_tables import TablesAfterDeath, die, slow_tables, tables_of
from engine_contract import CASES, assert_counts
from naive import naive_counts
from spark_sessions import all_need_spark, session_on, spread
from standalone import Cluster

import analogical
from analogical.count.pairs import no_summary, sum_contexts
from analogical.errors import SparkError

pytestmark = [*all_need_spark(), pytest.mark.slow]


@pytest.fixture(scope="module")
def cluster(tmp_path_factory):
    found = Cluster(tmp_path_factory.mktemp("cluster"))
    yield found
    session_on(found.url).stop()
    found.stop()


@pytest.fixture
def session(cluster):
    """A session on two living workers."""
    for name in {"worker-0", "worker-1"} - set(cluster.processes):
        cluster.add_worker(name)
    cluster.wait_for_workers(2)
    return session_on(cluster.url)


def table_for_faults():
    rng = np.random.default_rng(0)
    return coded(rng.integers(0, 3, (400, 4)), rng.integers(0, 2, 400))


def count_while(session, action):
    """Count in one thread and do something else half a second after tasks have begun; what was counted."""
    found = {}

    def count():
        try:
            found["sums"] = spread(session, table_for_faults(), 6).sum_contexts(slow_tables)
        except SparkError as error:
            found["error"] = error

    spread(session, table_for_faults()).sum_contexts(no_summary)  # executors are up, with their Python workers
    counting = threading.Thread(target=count)
    counting.start()
    tracker = session.sparkContext.statusTracker()
    ends = time.monotonic() + 60
    while not any(
        (stage := tracker.getStageInfo(number)) is not None and stage.numActiveTasks and stage.numTasks >= 6
        for number in tracker.getActiveStageIds()
    ):
        assert time.monotonic() < ends, "no task began"
        time.sleep(0.05)
    time.sleep(0.5)
    assert counting.is_alive(), "the job ended before anything could be killed"
    action()
    counting.join(120)
    assert not counting.is_alive(), "the job hangs"
    return found


def assert_right(found):
    expected = sum_contexts(table_for_faults(), tables_of)
    assert found.counts.pairs.tolist() == expected.counts.pairs.tolist()
    assert found.counts.changed.tolist() == expected.counts.changed.tolist()
    assert found.summaries == expected.summaries


def test_counts_on_the_cluster_are_those_of_the_oracle(session):
    def count(rows, labels, weights=None):
        return spread(session, coded(rows, labels, weights), 5).sum_contexts(no_summary).counts

    for rows, labels, weights in CASES[::17]:
        assert_counts(count(rows, labels, weights), naive_counts(rows.tolist(), labels, weights))
    rng = np.random.default_rng(1)
    skewed = np.where(rng.random((200, 5)) < 0.95, 0, rng.integers(0, 3, (200, 5)))
    labels = rng.integers(0, 2, 200)
    assert_counts(count(skewed, labels), naive_counts(skewed.tolist(), labels, None))


def test_relevance_on_the_cluster_is_that_in_memory(session):
    table = analogical.load_table("titanic")
    frame = table.to_frame("pandas")
    found = analogical.spark.relevance(session.createDataFrame(frame).repartition(4), table.label, weights="count")
    expected = analogical.relevance(frame, table.label, weights="count")
    assert found.deciding == expected.deciding
    for name in ("pairs", "changed", "compared"):
        assert getattr(found, name).tolist() == getattr(expected, name).tolist()
    for name in ("effect", "effect_low", "effect_high", "p_value"):
        np.testing.assert_allclose(getattr(found, name), getattr(expected, name), rtol=1e-9)


def test_an_executor_that_is_killed_costs_time_and_no_row(session, cluster):
    (first, *_) = cluster.executors()
    found = count_while(session, lambda: os.kill(first, 9))
    assert first not in cluster.executors()
    assert_right(found["sums"])


def test_a_worker_that_is_lost_costs_time_and_no_row(session, cluster):
    found = count_while(session, lambda: cluster.kill_worker("worker-1"))
    assert set(cluster.processes) == {"master", "worker-0"}
    assert_right(found["sums"])


def test_a_python_worker_that_dies_gives_the_right_counts_or_an_error(session, tmp_path):
    """The first task to reach this point kills its own process; Spark repeats it."""
    mark = tmp_path / "has died"
    assert_right(spread(session, table_for_faults()).sum_contexts(TablesAfterDeath(str(mark))))
    assert mark.exists()


def test_a_python_worker_that_always_dies_gives_an_error_and_no_count(session):
    with pytest.raises(SparkError, match="Spark could not finish the count"):
        spread(session, table_for_faults(), 2).sum_contexts(die)


def test_rows_are_spread_over_both_workers(session):
    from pyspark.sql import functions as F

    rows = spread(session, table_for_faults(), 8)
    sizes = rows.frame.groupBy(F.spark_partition_id()).count().toArrow().column("count").to_pylist()
    assert len(sizes) == 8
    assert sum(sizes) == 400
