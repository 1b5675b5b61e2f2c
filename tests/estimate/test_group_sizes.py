"""Sizes of dependent rows: sums over pairs of groups against loops over pairs of rows, and known effects."""

from itertools import combinations

import numpy as np
import pytest
from conftest import coded

from analogical.estimate.sizes import _GroupCells, measure_size_of_groups

SCORES = {"classes": np.eye(2), "a number": np.array([[-1.0], [2.5]]), "vectors": np.array([[1.0, 0.5], [-2.0, 0.0]])}


def products_between(context, group, value, scores):
    """Pairs of rows of different groups and values, and the sum of their effects: (M_aa + M_bb) / 2 - M_ab, doubled."""
    products = {}
    for r, s in combinations(range(len(value)), 2):
        if context[r] == context[s] and group[r] != group[s]:
            key = context[r], *sorted((value[r], value[s]))
            products.setdefault(key, []).append(scores[r] @ scores[s])
    n_pairs, total = 0, 0.0
    for (c, a, b), found in products.items():
        if a != b and (c, a, a) in products and (c, b, b) in products:
            n_pairs += len(found)
            total += (np.mean(products[c, a, a]) + np.mean(products[c, b, b]) - 2 * np.mean(found)) * len(found)
    return n_pairs, total


def products_within(context, group, value, scores):
    """Pairs of rows of one group with different values, and the sum of products of the differences of two groups."""
    moves = {}
    for c, g in sorted(set(zip(context, group, strict=True))):
        own = (context == c) & (group == g)
        for a, b in combinations(sorted(set(value[own])), 2):
            one, two = scores[own & (value == a)], scores[own & (value == b)]
            n = len(one) * len(two)
            moves.setdefault((c, a, b), []).append((n, n / (len(one) + len(two)), one.mean(axis=0) - two.mean(axis=0)))
    n_pairs, total = 0, 0.0
    for found in moves.values():
        twos = list(combinations(found, 2))
        if twos:
            n = sum(n for n, _, _ in found)
            mean = sum(w * v * (d @ e) for (_, w, d), (_, v, e) in twos) / sum(w * v for (_, w, _), (_, v, _) in twos)
            n_pairs, total = n_pairs + n, total + n * mean
    return n_pairs, total


@pytest.mark.parametrize("kind", SCORES)
@pytest.mark.parametrize("way", ["between", "within"])
@pytest.mark.parametrize("seed", range(4))
def test_effect_and_variance_of_groups_are_those_of_pairs_of_rows(way, kind, seed):
    rng = np.random.default_rng(seed)
    n_rows = 60 if way == "between" else 30  # between groups every value stays in two groups
    context, group, value = rng.integers(0, 2, n_rows), rng.integers(0, 9, n_rows), rng.integers(0, 3, n_rows)
    labels = rng.integers(0, 2, n_rows)
    scores, loop = SCORES[kind], {"between": products_between, "within": products_within}[way]
    rows = coded(np.column_stack([value, context, group]), labels)
    found = getattr(_GroupCells.of(np.stack([context, group, value]), rows, scores), way)()
    weight = 0.5 if scores.shape[1] > 1 else 1.0
    n_pairs, total = loop(context, group, value, scores[labels])
    assert found.n_pairs == n_pairs
    assert found.effect() == pytest.approx(weight * total / n_pairs)
    assert found.noise_rate() > 0
    without = []
    for g in range(9):
        pairs, left = loop(*(part[group != g] for part in (context, group, value, scores[labels])))
        without.append(weight * left / pairs if pairs else found.effect())
    assert found.variance(9) == pytest.approx(8 * np.var(without))


def test_weights_of_rows_in_groups_are_so_many_rows():
    rng = np.random.default_rng(1)
    rows, labels, weights = rng.integers(0, [3, 2, 12], (80, 3)), rng.integers(0, 2, 80), rng.integers(1, 4, 80)
    one = measure_size_of_groups(coded(rows, labels, weights), np.eye(2), 0.95)
    two = measure_size_of_groups(coded(np.repeat(rows, weights, axis=0), np.repeat(labels, weights)), np.eye(2), 0.95)
    assert (one.effect, one.low, one.high) == pytest.approx((two.effect, two.low, two.high))


def exclusive_or(rng, n_units, rows_each, kinds):
    """The exclusive or of two features, right in nine of ten rows; labels of a unit are alike."""
    unit = np.repeat(np.arange(n_units), rows_each)
    columns = [
        rng.integers(0, 2, len(unit)) if kind == "varies" else rng.permutation(n_units)[unit] % 2 for kind in kinds
    ]
    is_wrong = np.where(rng.random(len(unit)) < 0.5, (rng.random(n_units) < 0.1)[unit], rng.random(len(unit)) < 0.1)
    return np.column_stack([*columns, unit]), columns[0] ^ columns[1] ^ is_wrong


@pytest.mark.parametrize("rows_each", [2, 6])
@pytest.mark.parametrize("kinds", [("varies", "varies"), ("varies", "fixed"), ("fixed", "varies"), ("fixed", "fixed")])
def test_an_exclusive_or_has_its_size_with_dependent_rows(rows_each, kinds):
    rng = np.random.default_rng(0)
    sizes = []
    for _ in range(10):
        rows, labels = exclusive_or(rng, 60, rows_each, kinds)
        sizes.append(measure_size_of_groups(coded(rows, labels), np.eye(2), 0.95))
    assert np.mean([size.effect for size in sizes]) ** 0.5 == pytest.approx(0.8, abs=0.05)
    assert np.mean([size.low < 0.64 < size.high for size in sizes]) >= 0.8


def test_copies_of_rows_in_a_group_show_no_effect():
    rng = np.random.default_rng(2)
    unit, effects = np.repeat(np.arange(60), 6), []
    for _ in range(20):
        value, context, label = (rng.integers(0, 2, 60)[unit] for _ in range(3))
        size = measure_size_of_groups(coded(np.column_stack([value, context, unit]), label), np.eye(2), 0.95)
        effects.append(size.effect)
        assert size.low < 0.02
    assert abs(np.mean(effects)) < 0.02


def test_values_of_one_group_each_leave_the_size_open():
    rows = np.column_stack([[0, 0, 1, 1], [0, 0, 1, 1]])
    size = measure_size_of_groups(coded(rows, [0, 1, 1, 1]), np.eye(2), 0.95)
    assert (size.low, size.high) == (0.0, 1.0)
    assert np.isnan(size.noise_rate)
    one = measure_size_of_groups(coded(np.zeros((4, 2), int), [0, 1, 1, 1]), np.eye(2), 0.95)
    assert np.isnan(one.effect)
