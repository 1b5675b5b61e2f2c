"""The engine on a real cluster: one master, two workers, each a process of its own; and what happens when they die."""

import os
import socket
import threading
import time

import numpy as np
import pytest
from conftest import coded
from context_tables import CountAfter, DieOnce, SlowWhile, die, tables_of, wait
from engine_contract import CASES, assert_counts, rule_of_three
from naive import naive_counts
from spark_sessions import all_need_spark, plain, session_on, spread
from standalone import Cluster
from test_engine_study import assert_same

import analogical
from analogical.count.pairs import sum_contexts
from analogical.errors import SparkError
from analogical.spark.parts import CountPart
from analogical.spark.session import GREETINGS, _check_reached

pytestmark = [*all_need_spark(), pytest.mark.slow]


@pytest.fixture(scope="module")
def cluster(tmp_path_factory):
    found = Cluster(tmp_path_factory.mktemp("cluster"))
    yield found
    session_on(found.url).stop()
    found.stop()


def test_a_master_answers_the_request_that_looks_for_it(cluster):
    _check_reached(cluster.url)
    port = int(cluster.url.rpartition(":")[2])
    with socket.create_connection(("127.0.0.1", port), 5) as connection:
        connection.sendall(GREETINGS["spark"])
        assert len(connection.recv(8)) == 8  # the length of an answer, not the end of the connection


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


def count_while(session, count, action, n_tasks=6):
    """Count in one thread and do something else half a second after tasks have begun; what was counted."""
    answer = {}

    def run():
        try:
            answer["counted"] = count()
        except SparkError as error:
            answer["error"] = error

    counting = threading.Thread(target=run)
    counting.start()
    tracker = session.sparkContext.statusTracker()
    ends = time.monotonic() + 180
    while not any(
        (stage := tracker.getStageInfo(number)) is not None and stage.numActiveTasks and stage.numTasks >= n_tasks
        for number in tracker.getActiveStageIds()
    ):
        assert time.monotonic() < ends, "no task began"
        time.sleep(0.05)
    time.sleep(0.5)
    assert counting.is_alive(), "the job ended before anything could be killed"
    action()
    counting.join(120)
    assert not counting.is_alive(), "the job hangs"
    assert "error" not in answer, answer
    return answer["counted"]


@pytest.fixture
def count_after(session, monkeypatch):
    """Counts the table for faults, where something happens before each partition is counted."""

    def count(happen, n_partitions=6):
        spread(session, table_for_faults()).sum_contexts(0)  # executors are up, with their Python workers
        monkeypatch.setattr("analogical.spark.engine.CountPart", lambda *parts: CountAfter(happen, CountPart(*parts)))
        return lambda: spread(session, table_for_faults(), n_partitions).sum_contexts(10_000)

    return count


def assert_right(found):
    expected = sum_contexts(table_for_faults())
    assert found.counts.pairs.tolist() == expected.counts.pairs.tolist()
    assert found.counts.changed.tolist() == expected.counts.changed.tolist()
    for one, other in zip(found.kept, expected.kept, strict=True):
        assert tables_of(one.contexts) == tables_of(other.contexts)


def test_counts_on_the_cluster_are_those_of_the_oracle(session):
    def count(rows, labels, weights=None):
        return spread(session, coded(rows, labels, weights), 5).sum_contexts(0).counts

    for rows, labels, weights in CASES[::17]:
        assert_counts(count(rows, labels, weights), naive_counts(rows.tolist(), labels, weights))
    rng = np.random.default_rng(1)
    skewed = np.where(rng.random((200, 5)) < 0.95, 0, rng.integers(0, 3, (200, 5)))
    labels = rng.integers(0, 2, 200)
    assert_counts(count(skewed, labels), naive_counts(skewed.tolist(), labels, None))


VERBS = {
    "relevance": lambda study: analogical.relevance(study, given="all"),
    "select": lambda study: analogical.select(study, k=3),
    "interactions": analogical.interactions,
}
"""Each is asked of a study of its own, so that each brings all rows together or groups them on the cluster."""


@pytest.fixture
def slow_table(session, monkeypatch, tmp_path):
    """Rows stay on the cluster, and each of six parts takes half a second to read while a file is there."""
    monkeypatch.setattr("analogical.spark.opening.finishes_in_memory", lambda *_: False)
    monkeypatch.setattr("analogical.spark.planning.CELLS_EACH", 2_000)
    frame = rule_of_three(1500).iloc[:, [0, 1, 2, 3, 4, 13]]
    table = session.createDataFrame(frame).repartition(6)
    return frame, table.mapInArrow(SlowWhile(str(tmp_path / "slow")), table.schema), tmp_path / "slow"


@pytest.mark.parametrize(
    ("verb", "who"), [("relevance", "executor"), ("select", "worker"), ("interactions", "Python worker")]
)
def test_who_dies_while_a_verb_is_asked_costs_time_and_no_row(session, cluster, slow_table, verb, who):
    frame, table, mark = slow_table
    there = None
    if verb != "select":  # which asks for nothing but the sample that a study begins with
        there = analogical.Study(table, "y")
        there.engine.kept.frame.unpersist(blocking=True)  # what is asked reads the table again
    kill = {
        "executor": lambda: os.kill(next(iter(cluster.executors())), 9),
        "worker": lambda: cluster.kill_worker("worker-1"),
        "Python worker": lambda: os.kill(cluster.python_workers()[0], 9),
    }

    def kill_once():
        kill[who]()
        mark.unlink()

    mark.touch()
    found = count_while(session, lambda: VERBS[verb](there or analogical.Study(table, "y")), kill_once)
    assert_same(plain(found.to_dict()), plain(VERBS[verb](analogical.Study(frame, "y")).to_dict()))


def test_a_worker_that_is_lost_costs_time_and_no_row(session, cluster, count_after):
    found = count_while(session, count_after(wait), lambda: cluster.kill_worker("worker-1"))
    assert set(cluster.processes) == {"master", "worker-0"}
    assert_right(found)


def test_a_python_worker_that_dies_gives_the_right_counts_or_an_error(count_after, tmp_path):
    """The first task to reach this point kills its own process; Spark repeats it."""
    mark = tmp_path / "has died"
    assert_right(count_after(DieOnce(str(mark)))())
    assert mark.exists()


def test_a_python_worker_that_always_dies_gives_an_error_and_no_count(count_after):
    with pytest.raises(SparkError, match="Spark could not finish the count"):
        count_after(die, 2)()


def test_rows_are_spread_over_both_workers(session):
    from pyspark.sql import functions as F

    rows = spread(session, table_for_faults(), 8)
    sizes = rows.frame.groupBy(F.spark_partition_id()).count().toArrow().column("count").to_pylist()
    assert len(sizes) == 8
    assert sum(sizes) == 400
