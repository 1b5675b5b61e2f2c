"""The engine on Spark keeps the contract of all engines: two threads, rows spread over several partitions."""

from collections import Counter

import numpy as np
import pytest
from conftest import coded
from context_tables import tables_of
from engine_contract import EngineContract, assert_counts, pytest_generate_tests  # noqa: F401
from naive import naive_counts
from spark_sessions import needs_spark

from analogical._types import Margins
from analogical.count.pairs import sum_contexts
from analogical.spark.engine import SparkEngine, SparkRows
from analogical.spark.planning import choose_plan, deal_features, finishes_in_memory, largest_part
from analogical.spark.words import Layout

pytestmark = needs_spark


class TestSparkLocal(EngineContract):
    every = 13

    @pytest.fixture
    def make_engine(self, session):
        return lambda: SparkEngine(session, n_partitions=3)


def check(session, rows, labels, weights=None, n_partitions=4):
    found = SparkEngine(session, n_partitions=n_partitions).count_pairs(coded(rows, labels, weights))
    assert_counts(found, naive_counts(np.asarray(rows).tolist(), labels, weights))


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


# ---------------------------------------------------------------- words


def test_words_hold_every_code_block_by_block():
    rng = np.random.default_rng(0)
    n_values = (2, 1, 300, 70_000, 3, 2**33, 5, 2)
    codes = np.column_stack([rng.integers(0, n, 50) for n in n_values]).astype(np.uint64)
    layout = Layout(n_values, ((0, 3, 5), (1, 2, 4, 6, 7)))
    words = layout.pack(list(codes.T))
    assert all(word.dtype == np.int64 and (word >= 0).all() for word in words)
    assert layout.unpack(words).tolist() == codes.tolist()
    assert [word.block for word in layout.words] == [0, 1]
    assert layout.outside(0) == ["w1"]


def test_a_feature_never_lies_across_two_words():
    layout = Layout((2**40, 2**40, 2), ((0, 1, 2),))
    assert [word.features for word in layout.words] == [(0,), (1, 2)]
    assert layout.word_of(2) == (layout.words[1], 40)


def test_constant_features_need_no_word_but_a_block_has_one():
    layout = Layout((1, 1), ((0,), (1,)))
    assert [word.name for word in layout.words] == ["w0", "w1"]
    assert layout.unpack(layout.pack([np.zeros(3, int), np.zeros(3, int)])).tolist() == [[0, 0]] * 3


# ---------------------------------------------------------------- plans


def margins_of(rows):
    return Margins(rows.label_sizes(), tuple(rows.value_sizes(i) for i in range(rows.n_features)))


def test_features_are_dealt_so_that_all_blocks_vary():
    sizes = [np.array([99, 1])] * 5 + [np.array([50, 50])] * 5
    blocks = deal_features(Margins(np.array([50, 50]), tuple(sizes)), 2)
    assert sorted(i for block in blocks for i in block) == list(range(10))
    assert sorted(sum(i >= 5 for i in block) for block in blocks) == [2, 3]


def test_a_part_is_as_large_as_its_largest_group_makes_it():
    rows = coded([[0, 0], [0, 0], [1, 0], [2, 1]], [0, 1, 0, 1])
    assert largest_part(rows, (1,), 4) == 2.0  # half of the rows have 0 outside
    assert largest_part(rows, (0,), 4) == 3.0
    assert largest_part(rows, (0, 1), 4) == 4.0  # nothing is outside


def test_more_blocks_are_tried_and_rows_merged_when_one_part_is_too_large():
    rng = np.random.default_rng(0)
    even = coded(rng.integers(0, 3, (4000, 12)), rng.integers(0, 2, 4000))
    plan = choose_plan(margins_of(even), even, 4000, 200)
    assert (plan.kind, len(plan.blocks), plan.is_merged, plan.n_partitions) == ("blocks", 2, False, 1)
    skewed = coded(np.where(rng.random((4000, 12)) < 0.95, 0, 1), rng.integers(0, 2, 4000))
    sizes = Margins(margins_of(skewed).by_label * 10_000, tuple(s * 10_000 for s in margins_of(skewed).by_value))
    plan = choose_plan(sizes, skewed, 40_000_000, 200)
    assert len(plan.blocks) == 4
    assert plan.skew > 2
    assert plan.is_merged
    assert plan.n_partitions == 96  # 480 million cells, five million in each
    assert choose_plan(sizes, skewed, 40_000_000, 5).n_partitions == 24  # no more than 20 million cells in one


def test_identical_rows_are_grouped_here_if_they_are_few():
    assert finishes_in_memory(10_000_000, 500_000, needs_rows=False)
    assert not finishes_in_memory(600_000, 500_000, needs_rows=False)
    assert finishes_in_memory(600_000, 500_000, needs_rows=True)
    assert not finishes_in_memory(10_000_000, 1_500_000, needs_rows=True)


# ---------------------------------------------------------------- rows on Spark


@pytest.mark.parametrize("is_weighted", [False, True])
def test_a_sample_of_all_rows_is_all_rows_and_a_smaller_one_is_drawn_by_weight(session, is_weighted):
    rng = np.random.default_rng(0)
    weights = rng.integers(1, 9, 500) if is_weighted else None
    table = coded(rng.integers(0, 3, (500, 3)), rng.integers(0, 2, 500), weights)
    rows = SparkRows.spread(session, table, 5)
    whole = rows.sample(10_000, 0)
    assert sorted(map(tuple, whole.codes.tolist())) == sorted(map(tuple, table.codes.tolist()))
    assert whole.n_rows == rows.n_rows == table.n_rows
    part, again, other = (rows.sample(table.n_rows // 4, seed) for seed in (1, 1, 2))
    assert abs(part.n_rows - table.n_rows / 4) < 6 * (table.n_rows * 3 / 16) ** 0.5
    assert part.codes.tolist() == again.codes.tolist()
    assert part.codes.tolist() != other.codes.tolist()


def test_merged_and_distinct_rows(session):
    table = coded([[0, 1], [0, 1], [0, 1], [1, 1]], [0, 0, 1, 1], [2, 3, 1, 1])
    rows = SparkRows.spread(session, table, 3)
    merged = rows.merged().here(limit=3)
    found = zip(map(tuple, merged.codes.tolist()), merged.labels.tolist(), merged.weights.tolist(), strict=True)
    assert sorted(found) == [((0, 1), 0, 5), ((0, 1), 1, 1), ((1, 1), 1, 1)]
    assert rows.merged().here(limit=2) is None
    once = rows.distinct()
    assert (once.n_rows, once.margins.by_label.tolist()) == (3, [1, 2])
    assert [sizes.tolist() for sizes in once.margins.by_value] == [[2, 1], [0, 3]]
    assert rows.estimate_distinct() == 3
    once.frame.unpersist()


def counted(codes, labels, weights):
    """How many rows have each combination of values and label."""
    found = Counter()
    for row, label, weight in zip(codes.tolist(), labels.tolist(), weights.tolist(), strict=True):
        found[(*row, label)] += weight
    return dict(found)


@pytest.mark.parametrize("is_weighted", [False, True])
def test_rows_are_grouped_by_several_sets_of_features_in_one_job(session, is_weighted, monkeypatch):
    monkeypatch.setattr("analogical.spark.parts.GROUPED_TOGETHER", 100)
    rng = np.random.default_rng(7)
    codes = np.column_stack([rng.integers(0, n, 400) for n in (2, 3, 1, 40_000, 40_000, 70_000, 70_000)])
    codes[:, 3:] = codes[rng.integers(0, 5, 400), 3:]
    weights = rng.integers(1, 9, 400) if is_weighted else None
    table = coded(codes, rng.integers(0, 3, 400), weights)
    rows = SparkRows.spread(session, table, 5)
    sets = ((1, 0), (3, 4, 5, 6), (2,), (), (0,))  # the second takes two words, and with the first no table is held
    found = rows.groups(sets, 1000)
    assert [one.n_rows for one in found] == [table.n_rows] * 5
    for features, one in zip(sets, found, strict=True):
        expected = counted(table.codes[:, list(features)], table.labels, table.weights_or_ones())
        assert counted(one.codes, one.labels, one.weights) == expected
        assert len(one.codes) == len(expected)
        assert one.n_values.tolist() == table.n_values[list(features)].tolist()
    total = sum(len(one.codes) for one in found)
    assert rows.groups(sets, total) is not None
    assert rows.groups(sets, total - 1) is None


def test_sums_of_parts_are_added_up_on_the_executors_where_there_are_many(session, monkeypatch):
    monkeypatch.setattr("analogical.spark.engine.ADDED_TOGETHER", 2)
    rng = np.random.default_rng(6)
    table = coded(rng.integers(0, 3, (200, 5)), rng.integers(0, 2, 200))
    found = SparkEngine(session, n_partitions=7).sum_contexts(table, tables_of)
    expected = sum_contexts(table, tables_of)
    assert found.summaries == expected.summaries
    assert found.counts.pairs.tolist() == expected.counts.pairs.tolist()


def test_a_table_that_changes_while_it_is_counted_is_refused(session):
    from dataclasses import replace

    from analogical.errors import SparkError

    table = coded([[0, 0], [0, 1], [1, 1]], [0, 1, 1])
    rows = SparkRows.spread(session, table, 2)
    fewer = replace(rows, frame=rows.frame.limit(2))
    with pytest.raises(SparkError, match="counted 2 rows instead of 3"):
        SparkEngine(session).count_pairs(fewer)
    with pytest.raises(SparkError, match="counted 2 rows instead of 3"):
        fewer.groups([[0]], 10)
