"""Sizes of labels that are vectors of scores: classes, numbers, several numbers, against loops over pairs of rows."""

from itertools import combinations

import numpy as np
import pytest
from conftest import coded

from analogical.count.contexts import Stack
from analogical.count.pairs import find_contexts
from analogical.estimate.sizes import MOST_VALUES, EffectSums, class_scores, measure_sizes

KINDS = ("two classes", "four classes", "0 and 1", "a number", "three numbers", "a number per row")


def table_of(kind, seed, n_rows=16):
    """Rows, their label codes and the scores of each code."""
    rng = np.random.default_rng(seed)
    rows = rng.integers(0, [3, 2], size=(n_rows, 2))
    if kind == "a number per row":
        return rows, np.arange(n_rows), 50 + 9 * rng.normal(size=(n_rows, 1))
    n_codes = 2 if kind in ("two classes", "0 and 1") else 4
    labels = rng.integers(0, n_codes, n_rows)
    labels[:n_codes] = range(n_codes)
    many = {"0 and 1": np.array([[0.0], [1.0]]), "a number": 1000 + 7 * rng.normal(size=(4, 1))}
    many["three numbers"] = rng.normal(size=(4, 3)) * [1, 10, 100]
    return rows, labels, many.get(kind, np.eye(n_codes))


def distance(a, b):
    """Half the squared distance; of single numbers, which stand for themselves and their negatives, all of it."""
    half = sum((x - y) ** 2 for x, y in zip(a, b, strict=True)) / 2
    return 2 * half if len(a) == 1 else half


def loops(rows, scores):
    """Pairs of rows that differ on the first column, if both repeat; sums of their distances and of their noise."""
    within = {}
    for row in set(rows):
        of_row = [s for r, s in zip(rows, scores, strict=True) if r == row]
        if len(of_row) > 1:
            within[row] = np.mean([distance(a, b) for a, b in combinations(of_row, 2)])
    n_pairs, total, noise = 0, 0.0, 0.0
    for (r, a), (s, b) in combinations(zip(rows, scores, strict=True), 2):
        if r[0] != s[0] and r[1:] == s[1:] and r in within and s in within:
            n_pairs += 1
            total += distance(a, b)
            noise += (within[r] + within[s]) / 2
    return n_pairs, total, noise


def found_in(rows, labels):
    return find_contexts(coded(rows, labels), [0])[0]


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("seed", range(5))
def test_effect_noise_and_variance_are_those_of_pairs_of_rows(kind, seed):
    rows, labels, scores = table_of(kind, seed)
    found = EffectSums.of(found_in(rows, labels), scores)
    plain = [tuple(row) for row in rows.tolist()], scores[labels].tolist()
    n_pairs, total, noise = loops(*plain)
    assert found.n_pairs == n_pairs
    assert found.effect() == pytest.approx((total - noise) / n_pairs)
    assert found.noise_rate() == pytest.approx(noise / n_pairs)
    without = []
    for r in range(len(rows)):
        pairs, some, left = loops(*(part[:r] + part[r + 1 :] for part in plain))
        without.append((some - left) / pairs if pairs else found.effect())
    assert found.variance(len(rows)) == pytest.approx((len(rows) - 1) * np.var(without))


@pytest.mark.parametrize("kind", KINDS)
def test_weights_and_merged_contexts_are_so_many_rows(kind):
    rows, labels, scores = table_of(kind, 3)
    weights = np.random.default_rng(3).integers(0, 4, len(rows))
    weighted = find_contexts(coded(rows, labels, weights), [0])[0]
    expanded = found_in(np.repeat(rows, weights, axis=0), np.repeat(labels, weights))
    twice = np.concatenate([rows, rows + np.array([0, 2])])
    twice = found_in(twice, np.concatenate([labels, labels]))
    one, two = (EffectSums.of(contexts, scores) for contexts in (weighted, expanded))
    assert (one.effect(), one.noise, one.variance(30)) == pytest.approx((two.effect(), two.noise, two.variance(30)))
    one, two = (EffectSums.of(contexts, scores) for contexts in (twice, twice.compacted()))
    assert (one.effect(), one.noise, one.variance(30)) == pytest.approx((two.effect(), two.noise, two.variance(30)))


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("seed", range(3))
def test_common_means_and_their_errors_are_those_of_least_squares_on_rows(kind, seed):
    rows, labels, scores = table_of(kind, seed, n_rows=120)
    value, context = rows.T
    found = measure_sizes(Stack.of([found_in(rows, labels)]), scores, [3], len(rows), 0.95)[0].common
    design = np.column_stack([value == 1, value == 2, context == 0, context == 1]).astype(float)
    solve = np.linalg.pinv(design)
    leverage = np.einsum("rc,cr->r", design, solve)
    for k, score in enumerate(scores.T):
        y = score[labels]
        fit = np.linalg.lstsq(design, y, rcond=None)[0]
        variance = (y - design @ fit) ** 2
        ends = [score.min(), score.max()]
        if not set(score) <= {0.0, 1.0}:  # numbers count from the mean of their context
            y = y - np.array([y[context == c].mean() for c in (0, 1)])[context]
            ends = [-y.std(), y.std()]
        for c in (0, 1):  # one row more in each context, with the moments of all rows
            own = context == c
            moments = [((y[own] ** power).sum() + (y**power).mean()) / (own.sum() + 1) for power in (1, 2)]
            variance[own] += leverage[own] * (moments[1] - moments[0] ** 2)
        for v in range(3):  # two rows more for each value
            own = value == v
            variance[own] += 4 / (own.sum() + 4) * np.append(y[own], ends).var()
        covariance = solve @ np.diag(variance) @ solve.T
        for a, b, contrast in ((0, 1, [1, 0]), (0, 2, [0, 1]), (1, 2, [-1, 1])):
            expected = np.dot(contrast, fit[:2]), np.dot(contrast, covariance[:2, :2] @ contrast) ** 0.5
            assert found.between(a, b, k) == pytest.approx(expected)


@pytest.mark.parametrize("n_rows", [4, 12, 60, 300])
@pytest.mark.parametrize("seed", range(10))
def test_classes_coded_as_0_and_1_have_the_size_of_classes(n_rows, seed):
    rng = np.random.default_rng([seed, n_rows])
    rows = rng.integers(0, [3, max(n_rows // 10, 1)], size=(n_rows, 2))
    rows[:2] = [[0, 0], [1, 0]]
    labels = rows[:, 0] % 2 if seed == 0 else rng.integers(0, 2, n_rows)
    stack = Stack.of([found_in(rows, labels)])
    one, two = (measure_sizes(stack, scores, [3], n_rows, 0.95)[0] for scores in (np.eye(2), np.array([[0.0], [1.0]])))
    numbers = [(size.effect, size.low, size.high, size.noise_rate, size.common.spread) for size in (one, two)]
    assert numbers[0] == pytest.approx(numbers[1], rel=1e-9, abs=1e-12, nan_ok=True)
    assert one.common.between(0, 1, 1) == pytest.approx(two.common.between(0, 1, 0), rel=1e-9)


def test_another_unit_changes_sizes_by_its_square_and_another_origin_nothing():
    rows, labels, scores = table_of("a number", 1, n_rows=80)
    stack = Stack.of([found_in(rows, labels)])
    first = measure_sizes(stack, scores, [3], 80, 0.95)[0]
    for unit, origin in ((1e-6, 0.0), (1e6, 0.0), (1.0, 1e5), (1e3, -1e8)):
        other = measure_sizes(stack, unit * scores + origin, [3], 80, 0.95)[0]
        numbers = np.array([other.effect, other.low, other.high, other.noise_rate]) / unit**2
        assert numbers == pytest.approx([first.effect, first.low, first.high, first.noise_rate], rel=1e-6)
        named = [size.clearest_difference([(0, 1), (0, 2)], [0])[:3] for size in (first, other)]
        assert named[0] == named[1]


def test_the_size_of_a_number_is_the_squared_difference_of_means():
    rng = np.random.default_rng(0)
    rows = rng.integers(0, 2, (4000, 2))
    y = np.where(rows[:, 1] == 0, 5.0, -5.0) * rows[:, 0] + rng.normal(size=4000) + 30
    size = measure_sizes(Stack.of([found_in(rows, np.arange(4000))]), y[:, None], [2], 4000, 0.95)[0]
    assert size.effect**0.5 == pytest.approx(5, abs=0.1)
    assert size.low < 25 < size.high
    assert size.noise_rate == pytest.approx(2, abs=0.1)  # mean squared difference of two rows
    assert size.common.effect() < 0.1


def test_the_rarest_of_many_classes_share_a_column():
    sizes = np.arange(1, 101)
    scores = class_scores(sizes)
    assert scores.shape == (100, MOST_VALUES)
    assert (scores.sum(axis=1) == 1).all()
    assert (scores[: 101 - MOST_VALUES] == scores[0]).all()
    assert (scores[101 - MOST_VALUES :].sum(axis=0) <= 1).all()
    assert class_scores(sizes[:3]).tolist() == np.eye(3).tolist()
