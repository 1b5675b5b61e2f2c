"""Samples of rows and of near pairs, and what pairs of classes weigh."""

import numpy as np
import pytest
from conftest import coded

from analogical.count.groups import draw_rows
from analogical.count.neighbours import count_distances
from analogical.estimate import sampling
from analogical.estimate.sampling import (
    class_weights,
    estimate_distances,
    find_neighbours,
    keep_probability,
    pairs_kept,
    rows_compared,
)


def test_distances_of_many_rows_are_estimated():
    rng = np.random.default_rng(1)
    rows = coded(rng.integers(0, 3, (2_000, 6)), np.zeros(2_000))
    exact, estimated = count_distances(rows), estimate_distances(rows)
    assert not (estimated == exact).all()
    assert estimated == pytest.approx(exact, rel=0.1, abs=3_000)
    assert estimated.sum() == pytest.approx(2_000 * 1_999 / 2)
    few = rows.take(np.arange(1_000))
    assert (estimate_distances(few) == count_distances(few)).all()


def test_pairs_are_kept_within_the_budget_near_ones_first():
    rng = np.random.default_rng(3)
    rows = coded(rng.integers(0, 3, (1_500, 20)), rng.integers(0, 2, 1_500))
    keep = keep_probability(rows, 20, 0.7, 50_000, np.random.default_rng(0))
    assert (keep[0], keep.max()) == (0.0, 1.0)
    assert (keep @ count_distances(rows)) == pytest.approx(50_000, rel=0.05)
    thinned = keep[(keep > 0) & (keep < 1)]
    assert thinned[1:] / thinned[:-1] == pytest.approx(0.7)
    within = keep_probability(rows.take(np.arange(60)).select(range(9)), 3, 0.7, 50_000, np.random.default_rng(0))
    assert within.tolist() == [0, 1, 1, 1, 0, 0, 0, 0, 0, 0]


def test_sampled_pairs_stand_for_the_ones_left_out(monkeypatch):
    rng = np.random.default_rng(3)
    rows = coded(rng.integers(0, 3, (1_500, 20)), np.arange(1_500) % 2)
    whole = find_neighbours(rows, 20, 0.7)
    monkeypatch.setattr(sampling, "MAX_PAIRS_KEPT", 50_000)
    some = find_neighbours(rows, 20, 0.7)
    assert len(some.pairs) < len(whole.pairs)
    exact, estimated = (np.bincount(found.distance, found.pairs, minlength=21) for found in (whole, some))
    common = exact > 300_000
    assert common.sum() > 3
    assert estimated[common] == pytest.approx(exact[common], rel=0.05)
    assert some.changed.sum() / some.pairs.sum() == pytest.approx(0.5, abs=0.02)


def test_no_more_rows_are_compared_than_may_be(monkeypatch):
    drawn = []
    monkeypatch.setattr(sampling, "MAX_COMPARED", 5_000)
    monkeypatch.setattr(sampling, "find_near_pairs", lambda codes, *_: drawn.append(len(codes)) or 1 / 0)
    rng = np.random.default_rng(0)
    rows = coded(np.column_stack([np.arange(300), rng.integers(0, 2, (300, 4))]), rng.integers(0, 2, 300))
    with pytest.raises(ZeroDivisionError):
        find_neighbours(rows, 5, 1.0)
    assert drawn == [rows_compared(5)] == [101]


def test_rows_compared_have_the_pairs_allowed():
    assert rows_compared(2_000) == 14_143
    assert rows_compared(100_000) == 2_001  # 2 * 10^11 codes


def test_a_weighted_row_counts_as_so_many_rows_in_a_sample():
    """Nine of ten rows are the row with the weight: a sample of 100 holds it about 90 times."""
    rng = np.random.default_rng(0)
    rows = np.column_stack([np.arange(2_000), rng.integers(0, 2, (2_000, 5))])
    table = coded(rows, rng.integers(0, 2, 2_000), np.append(18_000, np.ones(1_999, int)))
    drawn = draw_rows(table, 100, rng)
    assert drawn.n_rows == 100
    assert 75 <= drawn.weights_or_ones().max() <= 100


@pytest.mark.parametrize(
    ("labels", "weights", "expected"),
    [
        ([0, 0, 0, 1], [1, 1, 1, 1], {(0, 1): 16 / 9, (0, 3): 16 / 3}),  # shares 3/4 and 1/4, exponent -1
        ([0, 0, 0, 1], [1, 1, 1, 3], {(0, 1): 4.0, (0, 3): 4.0}),  # shares 1/2 each
        ([0, 0, 1, 2], [1, 1, 1, 1], {(0, 1): 2.0, (0, 2): 8**0.5, (2, 3): 4.0}),  # three classes, exponent -1/2
        ([0, 0, 2, 4], [1, 1, 1, 1], {(0, 1): 2.0, (2, 3): 4.0}),  # labels that do not occur are no classes
        ([1, 1, 1, 1], [1, 1, 1, 1], {(0, 1): 1.0}),  # a sample may hold one class
    ],
)
def test_pairs_of_rare_classes_weigh_more(labels, weights, expected):
    left, right = np.array(list(expected)).T
    found = class_weights(np.array(labels, np.uint8), np.array(weights), left, right)
    assert found == pytest.approx(list(expected.values()))


def test_two_classes_weigh_as_if_they_were_equally_common():
    """Four rows of one class and one of the other: repeating the one four times gives the same shares by set."""
    rows, labels = [[0, 0], [0, 1], [1, 0], [2, 2], [0, 2]], [0, 0, 0, 0, 1]
    skewed, even = (find_neighbours(coded(rows, labels, w), 2, 1.0) for w in (None, [1, 1, 1, 1, 4]))
    assert (skewed.member == even.member).all()
    assert (skewed.changed > 0).tolist() == (even.changed > 0).tolist()
    changed = skewed.changed > 0
    assert skewed.changed[changed] / even.changed[changed] == pytest.approx(25 / 4 / 4 / 4)


@pytest.mark.parametrize(
    ("n_features", "n_pairs"),
    [(1, 1_000_000), (20, 1_000_000), (50, 400_000), (4_000, 5_000), (10_000, 5_000), (100_000, 500), (10**9, 1)],
)
def test_wide_tables_keep_fewer_pairs_but_not_too_few(n_features, n_pairs):
    assert pairs_kept(n_features) == n_pairs
