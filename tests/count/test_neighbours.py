"""Pairs beyond distance 1: counts by disagreement set with ==, samples, and what pairs of classes weigh."""

from itertools import combinations

import numpy as np
import pytest
from conftest import coded
from engine_contract import CASES
from naive import naive_counts, naive_disagreements

from analogical.count import neighbours
from analogical.count.groups import draw_rows
from analogical.count.neighbours import count_distances, count_neighbours, pairs_kept, rows_compared


def as_dict(found):
    members = found.member
    return {
        tuple(np.flatnonzero(row).tolist()): (int(p), int(c))
        for row, p, c in zip(members, found.n_pairs, found.n_changed, strict=True)
    }


SHAPES = [(40, 5, 2, 2, 1), (40, 5, 2, 2, 3), (60, 7, 3, 3, 7), (30, 70, 2, 2, 70), (30, 130, 2, 4, 60)]
SHAPES += [(25, 64, 3, 2, 64), (5, 1, 2, 2, 1), (2, 3, 2, 2, 3), (80, 4, 60, 2, 4), (50, 6, 300, 3, 6)]


@pytest.mark.parametrize(("m", "n", "v", "k", "radius"), SHAPES)
@pytest.mark.parametrize("is_weighted", [False, True])
def test_counts_by_disagreement_set_equal_the_loops(m, n, v, k, radius, is_weighted):
    rng = np.random.default_rng(m * n)
    rows, labels = rng.integers(0, v, (m, n)), rng.integers(0, k, m)
    weights = rng.integers(1, 5, m) if is_weighted else None
    found = count_neighbours(coded(rows, labels, weights), radius=radius)
    plain = rows.tolist(), labels.tolist()
    assert as_dict(found) == naive_disagreements(*plain, radius, weights)
    assert len(as_dict(found)) == len(found.sets)
    assert found.n_pairs.dtype == found.n_changed.dtype == np.int64
    assert not found.is_sampled
    assert found.distance.tolist() == [len(differing) for differing in as_dict(found)]
    if radius == 1:
        exact = naive_counts(*plain, weights)
        pairs, changed = found.n_pairs @ found.member.astype(int), found.n_changed @ found.member.astype(int)
        assert (pairs.tolist(), changed.tolist()) == (exact["pairs"], exact["changed"])


def test_blocks_and_threads_change_nothing(monkeypatch):
    rng = np.random.default_rng(0)
    rows = coded(np.column_stack([np.arange(300), rng.integers(0, 2, (300, 8))]), rng.integers(0, 2, 300))
    one = count_neighbours(rows, radius=4)
    monkeypatch.setattr(neighbours, "BLOCK", 37)
    monkeypatch.setattr(neighbours, "TILE", 5)
    steps = []
    many = count_neighbours(rows, radius=4, n_jobs=3, progress=lambda done, total: steps.append((done, total)))
    assert as_dict(one) == as_dict(many)
    assert steps == [(i, 9) for i in range(1, 10)]


def test_distances_are_counted():
    rng = np.random.default_rng(1)
    codes = rng.integers(0, 3, (200, 6)).astype(np.uint8)
    rows = coded(codes, np.zeros(200))
    expected = np.zeros(7)
    for a, b in combinations(range(200), 2):
        expected[(codes[a] != codes[b]).sum()] += 1
    assert (count_distances(rows) == expected).all()
    sampled = count_distances(rows, n_sampled=100)
    assert not (sampled == expected).all()
    assert sampled == pytest.approx(expected, rel=0.2, abs=60)


def test_distances_of_rows_with_a_weight_are_those_of_the_rows_repeated():
    for rows, labels, weights in CASES:
        if weights is not None:
            repeated = coded(np.repeat(rows, weights, axis=0), np.repeat(labels, weights))
            assert count_distances(coded(rows, labels, weights)).tolist() == count_distances(repeated).tolist()


def test_pairs_are_sampled_within_the_budget_and_weigh_back():
    rng = np.random.default_rng(3)
    rows = coded(rng.integers(0, 3, (1500, 20)), rng.integers(0, 2, 1500))
    options = {"radius": 20, "decay": 0.7, "max_pairs": 50_000, "random_state": 5}
    one = count_neighbours(rows, **options)
    assert abs(one.n_pairs_used - 50_000) < 2_500
    assert as_dict(one) == as_dict(count_neighbours(rows, **options, n_jobs=2))
    assert as_dict(one) != as_dict(count_neighbours(rows, **options | {"random_state": 6}))
    assert one.is_sampled
    probability = one.keep_probability
    assert (probability[0], probability.max()) == (0.0, 1.0)
    thinned = probability[(probability > 0) & (probability < 1)]
    assert thinned[1:] / thinned[:-1] == pytest.approx(0.7)
    estimated = np.bincount(one.distance, one.n_pairs / probability[one.distance], minlength=21)
    exact = np.bincount((rows.codes[:, None] != rows.codes).sum(axis=2)[np.triu_indices(1500, 1)], minlength=21)
    common = exact > 20_000
    assert estimated[common] == pytest.approx(exact[common], rel=0.05)
    few = count_neighbours(rows, radius=20, max_compared=100_000)
    assert (few.n_rows_used, few.n_rows, few.is_sampled) == (448, 1500, True)


def test_no_pair_beyond_the_radius_is_kept():
    rng = np.random.default_rng(3)
    found = count_neighbours(coded(rng.integers(0, 2, (60, 9)), rng.integers(0, 2, 60)), radius=3)
    assert found.keep_probability.tolist() == [0, 1, 1, 1, 0, 0, 0, 0, 0, 0]
    assert found.distance.max() == 3


def test_rows_compared_have_the_pairs_allowed():
    assert rows_compared(100_000_000, 2_000) == 14_143
    assert rows_compared(50, 2_000) == 11
    assert rows_compared(100_000_000, 100_000) == 2_001  # 2 * 10^11 codes


def test_distances_beyond_16_bits_are_counted():
    rows = np.zeros((3, 40_000), np.uint8)
    rows[1], rows[2, :35_000] = 1, 2
    table = coded(rows, [0, 1, 1])
    distances = count_distances(table)
    assert (np.flatnonzero(distances).tolist(), distances.sum()) == ([35_000, 40_000], 3)
    found = count_neighbours(table, radius=40_000)
    assert sorted(found.distance.tolist()) == [35_000, 40_000]
    assert found.n_pairs.sum() == 3


def test_a_weighted_row_counts_as_so_many_rows_in_a_sample():
    """Nine of ten rows are the row with the weight: a sample of 100 holds it about 90 times."""
    rng = np.random.default_rng(0)
    rows = np.column_stack([np.arange(2_000), rng.integers(0, 2, (2_000, 5))])
    table = coded(rows, rng.integers(0, 2, 2_000), np.append(18_000, np.ones(1_999, int)))
    drawn = draw_rows(table, 100, rng)
    assert drawn.n_rows == 100
    assert 75 <= drawn.weights_or_ones().max() <= 100
    found = count_neighbours(table, radius=6, max_compared=5_000)
    assert (found.n_rows, found.n_rows_used, found.is_sampled) == (19_999, 101, True)


def test_a_search_that_is_interrupted_stops():
    rng = np.random.default_rng(0)
    rows = coded(np.column_stack([np.arange(5_000), rng.integers(0, 2, (5_000, 4))]), rng.integers(0, 2, 5_000))

    def interrupt(done, total):
        raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        count_neighbours(rows, radius=5, n_jobs=2, progress=interrupt)


@pytest.mark.parametrize(
    ("labels", "weights", "expected"),
    [
        ([0, 0, 0, 1], [1, 1, 1, 1], {(0, 1): 16 / 9, (0, 3): 16 / 3}),  # shares 3/4 and 1/4, exponent -1
        ([0, 0, 0, 1], [1, 1, 1, 3], {(0, 1): 4.0, (0, 3): 4.0}),  # shares 1/2 each
        ([0, 0, 1, 2], [1, 1, 1, 1], {(0, 1): 2.0, (0, 2): 8**0.5, (2, 3): 4.0}),  # three classes, exponent -1/2
        ([0, 0, 2, 4], [1, 1, 1, 1], {(0, 1): 2.0, (2, 3): 4.0}),  # labels that do not occur are no classes
        ([1, 1, 1, 1], [1, 1, 1, 1], {(0, 1): 1.0}),  # a resample may hold one class
    ],
)
def test_pairs_of_rare_classes_weigh_more(labels, weights, expected):
    left, right = np.array(list(expected)).T
    found = neighbours._class_weights(np.array(labels, np.uint8), np.array(weights), left, right)
    assert found == pytest.approx(list(expected.values()))


def test_two_classes_weigh_as_if_they_were_equally_common():
    """Four rows of one class and one of the other: repeating the one four times gives the same shares by set."""
    rows, labels = [[0, 0], [0, 1], [1, 0], [2, 2], [0, 2]], [0, 0, 0, 0, 1]
    skewed = count_neighbours(coded(rows, labels), radius=2)
    even = count_neighbours(coded(rows, labels, [1, 1, 1, 1, 4]), radius=2)
    changed = skewed.n_changed > 0
    assert as_dict(skewed).keys() == as_dict(even).keys()
    ratio = skewed.balanced_changed[changed] / even.n_changed[changed]
    assert ratio == pytest.approx(25 / 4 / 4)  # 1 / (4/5 * 1/5) for each pair, which stands for four
    assert even.balanced_pairs == pytest.approx(4 * even.n_pairs)


@pytest.mark.parametrize(
    ("n_features", "n_pairs"),
    [(1, 20_000_000), (50, 400_000), (4_000, 5_000), (10_000, 5_000), (100_000, 500), (10**9, 1)],
)
def test_wide_tables_keep_fewer_pairs_but_not_too_few(n_features, n_pairs):
    assert pairs_kept(n_features) == n_pairs
