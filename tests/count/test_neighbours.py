"""Pairs beyond distance 1: counts by disagreement set with ==, and all distances."""

from itertools import combinations

import numpy as np
import pytest
from conftest import coded
from naive import naive_counts, naive_disagreements

from analogical.count.neighbours import count_distances, find_near_pairs


def all_within(codes, radius, n_threads=1):
    keep = (np.arange(codes.shape[1] + 1) <= radius).astype(float)
    keep[0] = 0
    return find_near_pairs(codes, keep, np.random.SeedSequence(0), n_threads)


def as_dict(found, labels, weights):
    """Pairs and changed pairs by disagreement set."""
    together = np.array(weights)[found.left] * np.array(weights)[found.right]
    changed = together * (np.array(labels)[found.left] != np.array(labels)[found.right])
    sets = [tuple(np.flatnonzero(row).tolist()) for row in found.member]
    assert len(set(sets)) == len(sets)
    numbers = (np.add.reduceat(values, found.starts).tolist() if len(sets) else [] for values in (together, changed))
    return dict(zip(sets, zip(*numbers, strict=True), strict=True))


SHAPES = [(40, 5, 2, 2, 1), (40, 5, 2, 2, 3), (60, 7, 3, 3, 7), (30, 70, 2, 2, 70), (30, 130, 2, 4, 60)]
SHAPES += [(25, 64, 3, 2, 64), (5, 1, 2, 2, 1), (2, 3, 2, 2, 3), (80, 4, 60, 2, 4), (50, 6, 300, 3, 6)]


@pytest.mark.parametrize(("m", "n", "v", "k", "radius"), SHAPES)
@pytest.mark.parametrize("is_weighted", [False, True])
def test_counts_by_disagreement_set_equal_the_loops(m, n, v, k, radius, is_weighted):
    rng = np.random.default_rng(m * n)
    rows, labels = rng.integers(0, v, (m, n)), rng.integers(0, k, m)
    weights = rng.integers(1, 5, m) if is_weighted else np.ones(m, int)
    found = all_within(coded(rows, labels).codes, radius)
    counts = as_dict(found, labels, weights)
    plain = rows.tolist(), labels.tolist()
    assert counts == naive_disagreements(*plain, radius, weights)
    assert (found.left < found.right).all()
    assert found.member.sum(axis=1).tolist() == [len(differing) for differing in counts]
    if radius == 1:
        exact = naive_counts(*plain, weights)
        for i in range(n):
            assert counts.get((i,), (0, 0)) == (exact["pairs"][i], exact["changed"][i])


def test_rows_are_compared_over_all_strips_and_threads_change_nothing():
    rng = np.random.default_rng(0)
    codes = coded(np.column_stack([np.arange(1300), rng.integers(0, 2, (1300, 8))]), np.zeros(1300)).codes
    differs = codes[:, None] != codes
    expected = np.argwhere(np.triu(differs.sum(axis=2) <= 2, k=1))
    for n_threads in (1, 3):
        found = all_within(codes, 2, n_threads=n_threads)
        pairs = np.column_stack([found.left, found.right])
        assert sorted(pairs.tolist()) == expected.tolist()
        of_set = np.repeat(np.arange(len(found.member)), np.diff(found.starts, append=len(found.left)))
        assert np.array_equal(differs[found.left, found.right], found.member[of_set])


def test_pairs_are_kept_with_the_probability_of_their_distance():
    rng = np.random.default_rng(3)
    codes = coded(rng.integers(0, 3, (1500, 20)), np.zeros(1500)).codes
    keep = np.append(0, np.full(20, 0.1))
    keep[10] = 0.0
    one, again, other = (find_near_pairs(codes, keep, np.random.SeedSequence(s), 2) for s in (5, 5, 6))
    assert np.array_equal(one.member, again.member)
    assert not np.array_equal(one.member, other.member)
    sizes = np.bincount(np.repeat(one.member.sum(axis=1), np.diff(one.starts, append=len(one.left))), minlength=21)
    exact = count_distances(coded(codes, np.zeros(1500)))
    assert sizes[10] == 0
    common = (exact > 50_000) & (np.arange(21) != 10)
    assert sizes[common] == pytest.approx(0.1 * exact[common], rel=0.05)


@pytest.mark.parametrize("is_weighted", [False, True])
def test_distances_are_counted(is_weighted):
    rng = np.random.default_rng(1)
    codes, weights = rng.integers(0, 3, (60, 6)), rng.integers(1, 4, 60) if is_weighted else np.ones(60, int)
    expected = np.zeros(7, int)
    repeated = np.repeat(codes, weights, axis=0)
    for a, b in combinations(range(len(repeated)), 2):
        expected[(repeated[a] != repeated[b]).sum()] += 1
    found = count_distances(coded(codes, np.zeros(60), weights if is_weighted else None))
    assert (found.tolist(), found.dtype) == (expected.tolist(), np.int64)


def test_distances_beyond_16_bits_are_counted():
    rows = np.zeros((3, 40_000), np.uint8)
    rows[1], rows[2, :35_000] = 1, 2
    table = coded(rows, [0, 1, 1])
    distances = count_distances(table)
    assert (np.flatnonzero(distances).tolist(), distances.sum()) == ([35_000, 40_000], 3)
    assert sorted(all_within(table.codes, 40_000).member.sum(axis=1).tolist()) == [35_000, 40_000]
