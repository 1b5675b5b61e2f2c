"""The test against noise: its moments against all deals of the labels, and what it finds."""

import math

import numpy as np
import pytest
from conftest import coded, random_table
from naive import naive_deals, naive_moments, naive_separation

import analogical
from analogical import relevance
from analogical.count.contexts import Stack
from analogical.count.pairs import find_contexts
from analogical.estimate import permutations
from analogical.estimate.permutations import PermutationMoments, pearson_tail
from analogical.study import Study


def moments_of(rows, labels, feature, weights=None):
    contexts = find_contexts(coded(rows, labels, weights), [feature])[feature]
    return PermutationMoments.of_stack(Stack.of([contexts]))[0] if len(contexts) else None


@pytest.mark.parametrize("seed", range(30))
def test_moments_are_those_of_all_deals_of_the_labels(seed):
    rng = np.random.default_rng(seed)
    rows, labels = rng.integers(0, [2, 3], size=(7, 2)), rng.integers(0, 3, size=7)
    plain, classes = [tuple(row) for row in rows.tolist()], labels.tolist()
    found = moments_of(rows, labels, 1)
    statistics = [naive_separation(plain, dealt) for dealt in naive_deals(plain, classes, 1)]
    mean, variance, skewness = naive_moments(statistics)
    if found is None:
        assert variance == 0
        return
    assert found.deviation == pytest.approx(naive_separation(plain, classes) - mean, abs=1e-9)
    assert found.variance == pytest.approx(variance, abs=1e-9)
    assert found.third == pytest.approx(skewness * variance**1.5, abs=1e-9)
    assert math.isnan(found.p_value())  # seven rows have no room


@pytest.mark.parametrize("seed", range(10))
def test_the_p_value_is_the_tail_of_the_law_with_these_moments(seed):
    rng = np.random.default_rng(seed)
    rows, labels = rng.integers(0, [3, 2], size=(120, 2)), rng.integers(0, 3, size=120)
    found = moments_of(rows, labels, 1)
    z, skewness = found.deviation / found.variance**0.5, found.third / found.variance**1.5
    assert found.p_value() == pytest.approx(pearson_tail(z, skewness), abs=1e-6)


@pytest.mark.parametrize("seed", range(10))
def test_a_weight_is_so_many_rows(seed):
    rng = np.random.default_rng(seed)
    rows, labels = random_table(rng, n_features=2, n_values=3, n_rows=20)
    weights = rng.integers(0, 4, 20)
    weighted = moments_of(rows, labels, 0, weights)
    expanded = moments_of(np.repeat(rows, weights, axis=0), np.repeat(labels, weights), 0)
    assert (weighted is None) == (expanded is None)
    if weighted is not None:
        assert vars(weighted) == pytest.approx(vars(expanded), abs=1e-9)


def test_moments_do_not_add_over_arbitrary_chunks_of_rows():
    rows, labels = [[0], [0], [1], [1]], [0, 0, 1, 1]
    assert moments_of(rows, labels, 0).variance > 0
    for half in (slice(0, 2), slice(2, 4)):
        assert moments_of(rows[half], labels[half], 0) is None


def test_two_values_with_their_own_labels_in_numbers():
    """Two rows of each value, labels 0 0 1 1: six deals, of which two put equal labels together.

    The statistic is the pairs of identical rows with equal labels over the two rows of a value: 1 in two deals, else 0.
    """
    found = moments_of([[0], [0], [1], [1]], [0, 0, 1, 1], 0)
    assert found.deviation == pytest.approx(1 - 1 / 3)
    assert found.variance == pytest.approx(1 / 3 * 2 / 3)
    assert found.third == pytest.approx(1 / 3 * (2 / 3) ** 3 - 2 / 3 * (1 / 3) ** 3)


@pytest.mark.parametrize(
    ("rows", "labels"),
    [
        ([[0], [1], [2]], [0, 1, 0]),  # no repeated row
        ([[0], [0], [1]], [0, 0, 0]),  # one label
        ([[0], [0], [1]], [0, 1, 2]),  # no label twice
    ],
)
def test_contexts_that_cannot_tell_give_no_p_value(rows, labels):
    assert math.isnan(moments_of(rows, labels, 0).p_value())


def test_room_is_expected_rows_with_neither_the_most_frequent_value_nor_label():
    """Contexts of 4 and 4 rows of two values with labels 6 and 2: 4 times 2 of 8; three that vary alike add up."""
    rows = [(value, context) for context in range(3) for value in (0, 0, 0, 0, 1, 1, 1, 1)]
    labels = [0, 0, 1, 1, 0, 0, 0, 0] * 3
    assert moments_of(rows[:8], labels[:8], 0).room == pytest.approx(1.0)
    assert moments_of(rows, labels, 0).room == pytest.approx(3.0)


def test_a_context_without_room_that_varies_most_leaves_no_room():
    """20 single rows among 10,020 have room and hardly vary; three rows of each of two values vary and have none."""
    rows = [(v, 0) for v in range(21)] * 2 + [(0, 1), (20, 1)] * 2
    labels = [0] * 21 + [1] * 21 + [0, 0, 1, 1]
    weights = [1] * 20 + [5_000] + [0] * 20 + [5_003] + [3, 0, 0, 3]
    alone = moments_of(rows[:42], labels[:42], 0, weights[:42])
    together = moments_of(rows, labels, 0, weights)
    assert alone.room > permutations.ENOUGH
    assert together.room < 2
    assert math.isnan(together.p_value())


@pytest.mark.parametrize("n_ones", [990, 997, 999, 1003])
def test_a_tiny_variance_is_not_rounding(n_ones):
    """One row of a value among 2,000: two outcomes, whose moments are known."""
    rows, labels, weights = [[0], [1], [1]], [1, 0, 1], [1, 2000 - n_ones, n_ones - 1]
    found = moments_of(rows, labels, 0, weights)
    p = n_ones / 2000  # the single row has label 1
    step = ((n_ones - 1) ** 2 + (2000 - n_ones) ** 2 - n_ones**2 - (1999 - n_ones) ** 2) / (2 * 1999)
    assert found.variance == pytest.approx(p * (1 - p) * step**2, rel=1e-6)
    assert found.third == pytest.approx(p * (1 - p) * (1 - 2 * p) * step**3, rel=1e-4)


def test_a_variance_of_zero_is_zero():
    """One row of a value and 1,000 of each label: either outcome has the same statistic."""
    found = moments_of([[0], [1], [1]], [1, 0, 1], 0, [1, 1000, 999])
    assert (found.variance, found.third, found.room) == (0.0, 0.0, 0.0)


def test_pearson_tail_is_a_gamma_tail_on_either_side_and_normal_in_the_middle():
    from scipy.stats import norm, pearson3

    for z in (-3.0, -1.0, 0.0, 0.5, 2.0, 5.0):
        for skewness in (-1.5, -0.2, 0.3, 2.0):
            assert pearson_tail(z, skewness) == pytest.approx(pearson3.sf(z, skewness), abs=1e-12)
        assert pearson_tail(z, 0.0) == pytest.approx(norm.sf(z))


def test_real_effect_has_a_small_p_value_and_a_column_of_noise_has_not():
    rng = np.random.default_rng(3)
    rows = rng.integers(0, 2, size=(400, 4))
    labels = rows[:, 0] ^ (rng.random(400) < 0.1)
    p = relevance(rows, labels).p_value
    assert p[0] < 1e-6
    assert (p[1:] > 0.05).all()


def test_values_apart_count_even_where_fewer_labels_change_than_by_noise():
    """The class on the Titanic: its index is the noise floor, and yet the classes differ."""
    table = analogical.load_table("titanic")
    result = relevance(table.X, table.y, weights=table.weights, feature_names=table.feature_names)
    counts = Study(table.X, table.y, weights=table.weights).counts
    assert result.index[0] == pytest.approx(counts.n_contradictions / counts.n_identical, abs=0.002)
    assert result.p_value[0] < 1e-6


def test_moments_of_a_large_context_are_exact():
    """Two values and two labels: the statistic depends on one hypergeometric number, so its moments can be added up."""
    from scipy.stats import hypergeom

    table = [[0], [0], [1], [1]], [0, 1, 0, 1], [10_000, 10_003, 10_005, 10_000]
    found = moments_of(*table[:2], 0, table[2])
    a, b, k = 20_003, 20_005, 20_005  # rows of each value, and rows with label 0
    x = np.arange(k - b, a + 1)  # rows of the first value with label 0
    chances = hypergeom.pmf(x, a + b, k, a)
    x, chances = x[chances > 1e-25], chances[chances > 1e-25]

    def statistic(x):
        return sum(n * (n - 1) / 2 for n in (x, a - x)) / a + sum(n * (n - 1) / 2 for n in (k - x, b - k + x)) / b

    moves = statistic(x) - statistic(x[np.argmax(chances)])
    mean = chances @ moves
    assert found.variance == pytest.approx(chances @ (moves - mean) ** 2, rel=1e-6)
    assert found.third == pytest.approx(chances @ (moves - mean) ** 3, rel=1e-5)


@pytest.mark.parametrize("times", [1_000, 10_000_000])
def test_moments_of_very_large_contexts_tend_to_those_of_chi_square(times):
    """With l labels, equally common, it is chi-square with (values - 1) (l - 1) degrees of freedom over 2 l."""
    values, labels = np.divmod(np.arange(6), 2)
    found = moments_of(values[:, None], labels, 0, np.full(6, times))
    assert found.deviation == pytest.approx(-1 / 2, rel=1e-3)  # every cell is as expected, and two degrees of freedom
    assert found.variance == pytest.approx(1 / 4, rel=1e-3)
    assert found.third == pytest.approx(1 / 4, rel=1e-2)


def test_a_room_of_exactly_five_is_enough_in_whatever_order_it_was_added_up():
    for spread in (0.2, 0.2 + 1e-15):
        assert not math.isnan(PermutationMoments(0.5, 1.0, 0.0, spread).p_value())
    assert math.isnan(PermutationMoments(0.5, 1.0, 0.0, 0.2001).p_value())
