"""The engine on Spark keeps the contract of all engines: two threads, rows spread over several partitions."""

import gc
from dataclasses import replace

import numpy as np
import pytest
from conftest import coded
from context_tables import tables_of
from engine_contract import EngineContract, assert_counts, listed, pytest_generate_tests  # noqa: F401
from naive import naive_counts
from spark_sessions import all_need_spark, spread

from analogical.count.pairs import sum_contexts
from analogical.errors import SparkError
from analogical.spark.engine import KeptFrame

pytestmark = all_need_spark()


class TestSpark(EngineContract):
    every = 13

    @pytest.fixture
    def engine_of(self, session):
        return lambda rows, n_features=None, has_unit=False: spread(session, rows, 3, n_features, has_unit)


def check(session, rows, labels, weights=None, n_partitions=4):
    found = spread(session, coded(rows, labels, weights), n_partitions).sum_contexts(0)
    assert_counts(found.counts, naive_counts(np.asarray(rows).tolist(), labels, weights))


def test_skewed_rows(session):
    rng = np.random.default_rng(1)
    rows = np.where(rng.random((300, 6)) < 0.97, 0, rng.integers(0, 3, (300, 6)))
    check(session, rows, rng.integers(0, 2, 300))


def test_one_constant_half(session):
    rng = np.random.default_rng(2)
    rows = np.hstack([np.zeros((120, 4), int), rng.integers(0, 2, (120, 4))])
    check(session, rows, rng.integers(0, 3, 120))


def test_a_column_with_another_value_in_every_row_beside_constant_ones(session):
    rng = np.random.default_rng(3)
    rows = np.column_stack([np.arange(60), np.zeros(60, int), rng.integers(0, 2, 60) * (np.arange(60) < 3)])
    check(session, rows, rng.integers(0, 2, 60))


def test_one_feature(session):
    check(session, [[0], [1], [1], [2]], [0, 1, 0, 1])


def test_more_partitions_than_rows_so_that_some_are_empty(session):
    rng = np.random.default_rng(4)
    check(session, rng.integers(0, 2, (3, 3)), [0, 1, 1], n_partitions=9)


def test_more_bits_than_a_word_holds(session):
    rng = np.random.default_rng(5)
    rows = rng.integers(0, 2, (40, 150))
    rows[1:] = rows[0]
    rows[np.arange(1, 40), rng.integers(0, 150, 39)] ^= 1
    check(session, rows, rng.integers(0, 2, 40), rng.integers(1, 4, 40))


# ---------------------------------------------------------------- rows on Spark


def test_a_sample_has_so_many_rows(session):
    rng = np.random.default_rng(0)
    table = coded(rng.integers(0, 3, (2000, 3)), rng.integers(0, 2, 2000))
    assert [len(spread(session, table, 5).sample(n).codes) for n in (500, 2000)] == [500, 2000]


def test_all_rows_come_here_merged_if_they_are_few(session):
    table = coded([[0, 1], [0, 1], [0, 1], [1, 1]], [0, 0, 1, 1], [2, 3, 1, 1])
    engine = spread(session, table, 3, n_features=1)
    assert listed(engine.here(limit=3)) == [[0, 1, 0, 5], [0, 1, 1, 1], [1, 1, 1, 1]]
    assert engine.here(limit=2) is None


def test_the_number_of_distinct_rows_is_estimated(session):
    rng = np.random.default_rng(2)
    table = coded(np.column_stack([rng.permutation(600) % 300, rng.permutation(600) % 300]), np.zeros(600, int))
    n_distinct = len(np.unique(table.codes, axis=0))
    assert abs(spread(session, table, 3).estimate_distinct() - n_distinct) < 30


def test_what_spark_keeps_is_let_go_with_the_engine(session):
    kept = session.sparkContext._jsc.getPersistentRDDs

    def n_kept():
        gc.collect()
        return len(kept())

    before = n_kept()
    engine = spread(session, coded([[0, 0], [0, 1], [1, 1]], [0, 1, 1]), 2)
    engine.sample(10)
    once = replace(engine).distinct()
    assert n_kept() == before + 2
    del engine
    assert n_kept() == before + 1
    del once
    assert n_kept() == before


def test_sums_of_parts_are_added_up_on_the_executors_where_there_are_many(session, monkeypatch):
    monkeypatch.setattr("analogical.spark.engine.ADDED_TOGETHER", 2)
    rng = np.random.default_rng(6)
    table = coded(rng.integers(0, 3, (200, 5)), rng.integers(0, 2, 200))
    found = spread(session, table, 7).sum_contexts(10_000)
    expected = sum_contexts(table)
    for one, other in zip(found.kept, expected.kept, strict=True):
        assert tables_of(one.contexts) == tables_of(other.contexts)
    assert found.counts.pairs.tolist() == expected.counts.pairs.tolist()


def changed(engine, how):
    """The same engine, whose table has changed meanwhile."""
    return replace(engine, kept=KeptFrame(how(engine.frame)))


def test_a_table_that_has_other_rows_than_before_is_refused(session):
    table = coded([[0, 0], [0, 1], [1, 1]], [0, 1, 1])
    fewer = changed(spread(session, table, 2), lambda frame: frame.limit(2))
    for ask in (lambda: fewer.sum_contexts(0), lambda: fewer.group([[0]], 10), lambda: fewer.here(10)):
        with pytest.raises(SparkError, match="counted 2 rows instead of 3"):
            ask()
    none = changed(fewer, lambda frame: frame.limit(0))
    with pytest.raises(SparkError, match="counted 0 rows instead of 3"):
        none.sum_contexts(0)


@pytest.mark.parametrize("column", ["w0", "w2", "label"])
def test_a_table_that_has_other_values_than_before_is_refused(session, column):
    rng = np.random.default_rng(1)
    table = coded(rng.integers(0, 2, (50, 4)), rng.integers(0, 2, 50))
    engine = spread(session, table, 2, n_features=3)
    other = changed(engine, lambda frame: frame.withColumn(column, 1 - frame[column] % 2))
    message = "The columns hold other values than before: the table changed"
    if column != "w2":  # the paper's counts look at features only
        with pytest.raises(SparkError, match=message):
            other.sum_contexts(0)
    with pytest.raises(SparkError, match=message):
        other.group([[0, 1, 2, 3]], 100)
    assert engine.group([[0, 1, 2, 3]], 100) is not None
