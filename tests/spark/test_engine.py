"""The engine on Spark keeps the contract of all engines: two threads, rows spread over several partitions."""

from dataclasses import replace

import numpy as np
import pytest
from conftest import coded
from context_tables import tables_of
from engine_contract import EngineContract, assert_counts, margins_of, pytest_generate_tests  # noqa: F401
from naive import naive_counts
from spark_sessions import all_need_spark, spread

from analogical.count.pairs import no_summary, sum_contexts
from analogical.errors import SparkError

pytestmark = all_need_spark()


class TestSpark(EngineContract):
    every = 13

    @pytest.fixture
    def engine_of(self, session):
        return lambda rows: spread(session, rows, 3)


def check(session, rows, labels, weights=None, n_partitions=4):
    found = spread(session, coded(rows, labels, weights), n_partitions).sum_contexts(no_summary)
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


@pytest.mark.parametrize("is_weighted", [False, True])
def test_a_sample_of_all_rows_is_all_rows_and_a_smaller_one_is_drawn_by_weight(session, is_weighted):
    rng = np.random.default_rng(0)
    weights = rng.integers(1, 9, 500) if is_weighted else None
    table = coded(rng.integers(0, 3, (500, 3)), rng.integers(0, 2, 500), weights)
    rows = spread(session, table, 5)
    whole = rows.sample(10_000, 0)
    assert sorted(map(tuple, whole.codes.tolist())) == sorted(map(tuple, table.codes.tolist()))
    assert whole.n_rows == rows.n_rows == table.n_rows
    part, again, other = (rows.sample(table.n_rows // 4, seed) for seed in (1, 1, 2))
    assert abs(part.n_rows - table.n_rows / 4) < 6 * (table.n_rows * 3 / 16) ** 0.5
    assert part.codes.tolist() == again.codes.tolist()
    assert part.codes.tolist() != other.codes.tolist()


def test_merged_and_distinct_rows(session):
    table = coded([[0, 1], [0, 1], [0, 1], [1, 1]], [0, 0, 1, 1], [2, 3, 1, 1])
    rows = spread(session, table, 3)
    merged = rows.merged().here(limit=3)
    found = zip(map(tuple, merged.codes.tolist()), merged.labels.tolist(), merged.weights.tolist(), strict=True)
    assert sorted(found) == [((0, 1), 0, 5), ((0, 1), 1, 1), ((1, 1), 1, 1)]
    assert rows.merged().here(limit=2) is None
    once = rows.distinct()
    assert (once.n_rows, once.margins.by_label.tolist()) == (3, [1, 2])
    assert [sizes.tolist() for sizes in once.margins.by_value] == [[2, 1], [0, 3]]
    assert rows.estimate_distinct() == 3
    once.frame.unpersist()


def test_sums_of_parts_are_added_up_on_the_executors_where_there_are_many(session, monkeypatch):
    monkeypatch.setattr("analogical.spark.engine.ADDED_TOGETHER", 2)
    rng = np.random.default_rng(6)
    table = coded(rng.integers(0, 3, (200, 5)), rng.integers(0, 2, 200))
    found = spread(session, table, 7).sum_contexts(tables_of)
    expected = sum_contexts(table, tables_of)
    assert found.summaries == expected.summaries
    assert found.counts.pairs.tolist() == expected.counts.pairs.tolist()


def test_a_table_that_changes_while_it_is_counted_is_refused(session):
    table = coded([[0, 0], [0, 1], [1, 1]], [0, 1, 1])
    rows = spread(session, table, 2)
    fewer = replace(rows, frame=rows.frame.limit(2))
    with pytest.raises(SparkError, match="counted 2 rows instead of 3"):
        fewer.sum_contexts(no_summary)
    with pytest.raises(SparkError, match="counted 2 rows instead of 3"):
        fewer.group([[0]], 10)
