"""Screening of all pairs and sets of three, against sums one by one."""

from itertools import combinations

import numpy as np
import pytest

from analogical import search
from analogical.search import n_screened, screen_pairs, screen_threes


def table(n_rows, n_values, n_classes=2, seed=0):
    rng = np.random.default_rng(seed)
    codes = np.column_stack([rng.integers(0, n, n_rows) for n in n_values]).astype(np.uint8)
    shares = rng.dirichlet(np.full(n_classes, 4.0), n_rows)[:, 1:]
    weights = rng.integers(1, 3, n_rows)[:, None]
    residuals = weights * ((rng.random((n_rows, 1)) < shares) - shares)
    return codes, np.array(n_values), residuals, weights * shares * (1 - shares)


def naive_z(codes, residuals, variances, features):
    """Chi-square of the cells of some features, as a normal score."""
    statistic = freedom = 0
    for cell in np.unique(codes[:, features], axis=0):
        rows = (codes[:, features] == cell).all(axis=1)
        for residual, variance in zip(residuals[rows].T, variances[rows].T, strict=True):
            if variance.sum() > 1.001:
                statistic += residual.sum() ** 2 / variance.sum()
                freedom += 1
    if not freedom:
        return -np.inf
    return (np.cbrt(statistic / freedom) - (1 - 2 / (9 * freedom))) / np.sqrt(2 / (9 * freedom))


@pytest.mark.parametrize(("size", "screen"), [(2, screen_pairs), (3, screen_threes)])
@pytest.mark.parametrize(
    ("n_values", "n_classes"), [([2] * 8, 2), ([3, 2, 5, 2, 3, 9, 4], 2), ([3, 1, 2, 4, 30], 4), ([2, 3], 2)]
)
def test_the_best_sets_are_those_of_sums_one_by_one(size, screen, n_values, n_classes):
    codes, n_values, *residuals = table(300, n_values, n_classes)
    sets = [s for s in combinations(range(len(n_values)), size) if size == 2 or np.prod(n_values[list(s)]) <= 300]
    z = {some: naive_z(codes, *residuals, list(some)) for some in sets}
    expected = sorted((some for some in sets if z[some] > -np.inf), key=lambda some: -z[some])[:4]
    found = screen(codes, n_values, *residuals)
    assert [some for _, some in found] == expected
    assert [score for score, _ in found] == pytest.approx([z[some] for some in expected], abs=2e-4)


def test_of_equal_pairs_those_of_earlier_columns_come_first(monkeypatch):
    monkeypatch.setattr(search, "LIKELY", 15)
    codes, n_values, *residuals = table(200, [2, 2, 3])
    best = screen_pairs(codes, n_values, *residuals)
    twice = screen_pairs(codes.repeat(2, axis=1), n_values.repeat(2), *residuals)
    found = [(i, j) for _, (i, j) in twice if i // 2 != j // 2]  # not a column with its copy
    assert found == [(2 * i + k, 2 * j + m) for _, (i, j) in best for k in (0, 1) for m in (0, 1)]


def test_pairs_of_many_features_are_screened_in_blocks():
    codes, n_values, *residuals = table(60, [3] * 1_200)  # six blocks
    codes[:, 1_100] = codes[:, 7] ^ (residuals[0][:, 0] > 0)
    assert len(search._blocks(n_values)) == 6
    found = screen_pairs(codes, n_values, *residuals)
    assert found[0][1] == (7, 1_100)
    z = [naive_z(codes, *residuals, list(pair)) for _, pair in found]
    assert z == sorted(z, reverse=True)
    assert min(z) > max(naive_z(codes, *residuals, [i, 900]) for i in range(8, 400))


def test_threes_with_more_combinations_than_rows_are_not_screened():
    codes, n_values, *residuals = table(800, [20, 20, 2, 2, 2])
    assert screen_threes(codes, n_values, *residuals)
    fewer = screen_threes(codes[:799], n_values, *(some[:799] for some in residuals))
    assert all(not {0, 1} <= set(three) for _, three in fewer)


def test_work_is_limited():
    assert n_screened(np.full(20_000, 3), 1_500, 1, 2) == 11_470
    assert n_screened(np.full(20_000, 3), 10**6, 1, 2) < n_screened(np.full(20_000, 2), 10**6, 1, 2) == 13_608
    assert n_screened(np.full(1_000, 3), 1_500, 1, 3) == 74
    assert n_screened(np.full(60, 3), 1_500, 7, 3) == n_screened(np.full(60, 3), 10, 7, 2) == 60
    assert n_screened(np.array([], np.int64), 10, 1, 2) == 0
