"""The size of an effect: its common part against least squares on rows, its parts, intervals and units."""

import numpy as np
import pytest
from conftest import coded

from analogical import relevance
from analogical.count.contexts import Stack
from analogical.count.pairs import find_contexts
from analogical.estimate.sizes import CommonDifference, Size, measure_size_of_groups, measure_sizes


def size_of(columns, labels, weights=None, confidence=0.95):
    rows = coded(np.column_stack(columns), labels, weights)
    contexts = find_contexts(rows, [0])[0]
    return measure_sizes(Stack.of([contexts]), np.eye(2), [int(rows.n_values[0])], rows.n_rows, confidence)[0]


def least_squares(value, context, label):
    """Share of label 1 by value, with a constant for each context, by numpy's own solver."""
    design = np.column_stack(
        [value == v for v in range(1, value.max() + 1)] + [context == c for c in np.unique(context)]
    ).astype(float)
    found = np.linalg.lstsq(design, label.astype(float), rcond=None)[0]
    return np.append(0.0, found[: value.max()])


@pytest.mark.parametrize("seed", range(5))
def test_common_shares_are_those_of_least_squares_on_rows(seed):
    rng = np.random.default_rng(seed)
    value, context = rng.integers(0, 3, 200), rng.integers(0, 6, 200)
    label = (rng.random(200) < 0.2 + 0.2 * value + 0.05 * context).astype(int)
    found = size_of([value, context], label).common
    expected = least_squares(value, context, label)
    for v in (1, 2):
        assert found.between(0, v, 1)[0] == pytest.approx(expected[v])
        assert found.between(0, v, 0)[0] == pytest.approx(-expected[v])


def test_a_single_pair_has_the_whole_difference():
    assert size_of([np.array([0, 1]), np.array([0, 0])], [0, 1]).common.squared == pytest.approx(1)


def covariance_by_rows(value, context, label):
    """Covariance of the common shares, row by row: the residual of a row, what its leverage and rare values hide."""
    n_values, overall = value.max() + 1, label.mean()
    n, sizes = np.bincount(context), np.bincount(value)
    held = np.eye(n_values)[value]
    x = held - np.array([held[context == c].mean(axis=0) for c in range(len(n))])[context]
    mean = np.array([label[context == c].mean() for c in range(len(n))])[context]
    inverse = np.linalg.pinv(x.T @ x)
    left = label - mean - x @ (inverse @ x.T @ label)
    leverage = 1 / n[context] + np.einsum("ri,ij,rj->r", x, inverse, x)
    of_context = (mean * n[context] + overall) / (n[context] + 1)
    of_value = ((np.bincount(value, label) + 1) / (sizes + 2))[value]
    few = (4 / (sizes + 4))[value]
    variance = left**2 + leverage * of_context * (1 - of_context) + few * of_value * (1 - of_value)
    return inverse @ (x.T * variance) @ x @ inverse


@pytest.mark.parametrize("seed", range(5))
def test_the_error_of_a_common_difference_is_that_of_all_rows(seed):
    rng = np.random.default_rng(seed)
    value, context = rng.integers(0, 3, 90), rng.integers(0, 6, 90)
    label = (rng.random(90) < 0.2 + 0.2 * value + 0.05 * context).astype(int)
    found, covariance = size_of([value, context], label).common, covariance_by_rows(value, context, label)
    for a, b in ((0, 1), (0, 2), (1, 2)):
        variance = covariance[a, a] + covariance[b, b] - 2 * covariance[a, b]
        assert found.between(a, b, 1)[1] == pytest.approx(variance**0.5)
        assert found.between(a, b, 0)[1] == pytest.approx(variance**0.5)


def test_two_values_have_the_difference_of_mantel_and_haenszel():
    rng = np.random.default_rng(1)
    value, context = rng.integers(0, 2, 120), rng.integers(0, 4, 120)
    label = (rng.random(120) < 0.3 + 0.4 * value).astype(int)
    above = below = 0.0
    for c in range(4):
        a, b = label[(value == 0) & (context == c)], label[(value == 1) & (context == c)]
        weight = len(a) * len(b) / (len(a) + len(b))
        above, below = above + weight * (b.mean() - a.mean()), below + weight
    assert size_of([value, context], label).common.between(0, 1, 1)[0] == pytest.approx(above / below)


def test_weights_count_as_repeated_rows():
    rng = np.random.default_rng(2)
    value, context, label = rng.integers(0, 3, 60), rng.integers(0, 3, 60), rng.integers(0, 2, 60)
    weights = rng.integers(1, 4, 60)
    one = size_of([value, context], label, weights)
    two = size_of([np.repeat(value, weights), np.repeat(context, weights)], np.repeat(label, weights))
    assert (one.effect, one.low, one.high) == pytest.approx((two.effect, two.low, two.high))


def test_exclusive_or_has_no_common_part_and_a_whole_effect():
    value, context = np.tile([0, 0, 1, 1], 50), np.tile([0, 1, 0, 1], 50)
    rng = np.random.default_rng(0)
    label = np.where(rng.random(200) < 0.1, 1, 0) ^ value ^ context
    found = size_of([value, context], label)
    assert found.common.effect() < 0.02
    assert 0.5 < found.effect < 0.8
    assert found.low > 0.4


def test_labels_without_noise_have_their_index_as_effect():
    value, context = np.tile([0, 0, 1, 1], 8), np.tile([0, 1, 0, 1], 8)
    found = size_of([value, context], value & context)
    assert (found.effect, found.noise_rate) == (0.5, 0.0)


def test_without_repeated_rows_the_index_bounds_the_effect():
    value, context = np.array([0, 1, 0, 1]), np.array([0, 0, 1, 1])
    found = size_of([value, context], value ^ context)
    assert found.effect == 1.0
    assert np.isnan(found.noise_rate)
    assert found.low == 0.0


def test_a_single_row_of_a_value_has_no_more_than_the_common_part():
    found = size_of([np.array([1] + [0] * 199)], np.array([1] + [0, 1] * 99 + [0]))
    assert found.effect < 0.1
    assert np.isnan(found.noise_rate)
    assert (found.low, found.high) == (0.0, 1.0)


def test_two_rows_of_a_rare_value_leave_nearly_everything_open():
    value = np.array([1, 1] + [0] * 1998)
    label = np.array([1, 1] + [0, 1] * 999)
    found = size_of([value], label)
    assert found.low == 0.0
    assert found.high > 0.8
    result = relevance(value[:, None], label)
    assert (result.effect_low[0], result.status[0]) == (0.0, "unclear")


@pytest.mark.parametrize(("share", "other"), [(0.3, 0.3), (0.3, 0.6)])
def test_intervals_hold_the_truth_nearly_as_often_as_they_say(share, other):
    rng = np.random.default_rng(4)
    held = []
    for _ in range(150):
        value, context = rng.integers(0, 2, 240), rng.integers(0, 8, 240)
        label = (rng.random(240) < np.where(value == 1, other, share)).astype(int)
        found = size_of([value, context], label)
        held.append(found.low <= (other - share) ** 2 <= found.high)
    assert 0.9 <= np.mean(held) <= 1.0


def test_interval_of_units_is_wider_than_that_of_rows_they_copy():
    rng = np.random.default_rng(5)
    value, label = rng.integers(0, 2, 40), rng.integers(0, 2, 40)
    unit = np.arange(40)
    once = measure_size_of_groups(coded(np.column_stack([value, unit]), label), np.eye(2), 0.95)
    ten = coded(np.repeat(np.column_stack([value, unit]), 10, axis=0), np.repeat(label, 10))
    copied = measure_size_of_groups(ten, np.eye(2), 0.95)
    assert copied.common.between(0, 1, 1) == pytest.approx(once.common.between(0, 1, 1))
    as_rows = size_of([np.repeat(value, 10)], np.repeat(label, 10))
    assert copied.common.between(0, 1, 1)[1] > 2 * as_rows.common.between(0, 1, 1)[1]


def test_of_equally_clear_differences_one_that_is_positive_is_named():
    common = CommonDifference(np.array([[0.5, 0.3, 0.7]]), np.eye(3)[None] / 100, np.ones((3, 3)))
    size = Size(0.1, 0.0, 0.2, common, np.arange(3))
    clearest = size.clearest_difference([(0, 1), (0, 2)], [0])
    assert (clearest.against, clearest.value) == (0, 2)
    assert clearest.interval(0.95) == pytest.approx((0.2, 0.2 - 1.96 * 0.02**0.5, 0.2 + 1.96 * 0.02**0.5), abs=1e-4)
    assert size.clearest_difference([], [0]) is None
