"""The test in any direction over all deals, against loops."""

import math

import numpy as np
import pytest
from conftest import coded
from naive import naive_deals, naive_separation

from analogical.count.contexts import Stack
from analogical.count.pairs import find_contexts
from analogical.estimate import permutations
from analogical.estimate.permutations import FewPermutations, PermutationMoments, is_informative, p_values_any_direction


def contexts_of(rows, labels, weights=None):
    return find_contexts(coded(rows, labels, weights), [0])[0]


def few_deals(rows, labels, weights=None):
    contexts = contexts_of(rows, labels, weights)
    return FewPermutations.of(contexts, is_informative(contexts))


@pytest.mark.parametrize("seed", range(12))
def test_p_value_is_the_share_of_all_deals(seed):
    rng = np.random.default_rng(seed)
    rows, labels = rng.integers(0, [3, 2], size=(8, 2)), rng.integers(0, 3, size=8)
    rows[:3, 0], labels[:3] = (0, 1, 2), (0, 1, 2)
    plain = [tuple(row) for row in rows.tolist()]
    contexts = contexts_of(rows, labels)
    informative = is_informative(contexts)
    found = FewPermutations.of(contexts, informative).p_value()
    dealt = np.array([naive_separation(plain, other) for other in naive_deals(plain, labels.tolist(), 0)])
    observed = naive_separation(plain, labels.tolist())
    if np.ptp(dealt) < 1e-9:
        assert math.isnan(found.p)
        return
    assert found.p == pytest.approx((dealt >= observed - 1e-9).mean())
    assert found.smallest == pytest.approx((dealt >= dealt.max() - 1e-9).mean())


def test_a_context_that_occurs_twice_is_dealt_twice():
    """Two rows of each value, labels apart, in two contexts: 2 of 6 deals each are as far."""
    rows = [(v, c) for c in (0, 1) for v in (0, 0, 1, 1)]
    found = few_deals(rows, [0, 0, 1, 1] * 2)
    assert len(found.more) == 9
    assert found.p_value().p == pytest.approx((2 / 6) ** 2)


def test_no_more_than_500_deals_are_gone_through():
    """n rows of each of two values and labels have n + 1 deals, and those of two contexts multiply."""
    assert len(few_deals([(0,), (1,)], [0, 1], [499, 499]).more) == 500
    assert few_deals([(0,), (1,)], [0, 1], [500, 500]) is None
    rows, labels = [(0, 0), (1, 0), (0, 1), (1, 1)], [0, 1, 0, 1]
    assert len(few_deals(rows, labels, [19, 19, 24, 24]).more) == 20 * 25
    assert few_deals(rows, labels, [19, 19, 25, 25]) is None


@pytest.mark.parametrize("n_rows", [2, 5, 30])
def test_tables_are_counted(n_rows):
    """n rows of each of two values and labels can become n + 1 tables."""
    found = few_deals([(0,), (1,)], [0, 1], [n_rows, n_rows])
    assert len(found.more) == n_rows + 1


@pytest.mark.parametrize("seed", range(30))
def test_no_context_has_fewer_deals_than_it_seems(seed):
    rng = np.random.default_rng(seed)
    n_values, n_labels = int(rng.integers(2, 6)), int(rng.integers(2, 4))
    rows, labels = rng.integers(0, n_values, size=(9, 1)), rng.integers(0, n_labels, size=9)
    rows[:2, 0], labels[:2] = (0, 1), (0, 1)
    contexts = contexts_of(rows, labels)
    if is_informative(contexts).all():
        (least,) = permutations._fewest_permutations(contexts)
        assert 2 <= least <= len(few_deals(rows, labels).more)


def test_very_many_values_are_seen_to_have_many_deals_before_any_is_made():
    """Of 400 values any can have one rare label, and any two can have two."""
    one, two = (np.append(np.zeros(800 - k, int), np.ones(k, int)) for k in (1, 2))
    fewest = [permutations._fewest_permutations(contexts_of([(v,) for v in range(400)] * 2, y))[0] for y in (one, two)]
    assert fewest == [400, 400 * 399 / 2]


def test_many_values_are_not_counted():
    rows = [(v,) for v in range(permutations.MOST_PERMUTATIONS + 1)] * 2
    assert few_deals(rows, [0] * (len(rows) - 1) + [1]) is None  # any of the values can have the rare label


def test_differences_that_are_small_beside_the_statistic_count():
    """One row of a value among a million, labels 500,001 and 499,999: it has either label by chance."""
    labels, weights = [0, 0, 1], [1, 500_000, 499_999]
    contexts = contexts_of([(0,), (1,), (1,)], labels, weights)
    assert p_values_any_direction(Stack.of([contexts]))[0].p == pytest.approx(1.0)
    contexts = contexts_of([(0,), (1,), (1,)], [1, 0, 1], [1, 500_001, 499_998])
    assert p_values_any_direction(Stack.of([contexts]))[0].p == pytest.approx(0.499999)


def test_where_deals_are_many_the_tail_is_taken_if_there_is_room():
    rng = np.random.default_rng(0)
    rows, labels = rng.integers(0, [3, 4], size=(300, 2)), rng.integers(0, 2, size=300)
    contexts = contexts_of(rows, labels)
    assert FewPermutations.of(contexts, is_informative(contexts)) is None
    assert (
        p_values_any_direction(Stack.of([contexts]))[0].p
        == PermutationMoments.of_stack(Stack.of([contexts]))[0].p_value()
    )
