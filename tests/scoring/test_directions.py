"""Observed less expected rows and their covariance, against all deals of the labels."""

import math

import numpy as np
import pytest
from conftest import coded
from naive import naive_deals, naive_value_label_counts

from analogical.counting.pairs import contexts_themselves, sum_contexts
from analogical.scoring.directions import (
    DirectionSums,
    informative_tables,
    merge_rare,
    moments_of_tables,
    quadratic_forms,
)
from analogical.scoring.exact_deals import exact_p_values


def small_table(seed, n_labels=3):
    rng = np.random.default_rng(seed)
    rows = rng.integers(0, [3, 2], size=(8, 2))
    rows[:3, 0] = 0, 1, 2
    labels = rng.integers(0, n_labels, size=8)
    labels[:n_labels] = np.arange(n_labels)
    return rows, labels


def tables_of(rows, labels):
    """Informative contexts of the first feature."""
    contexts = sum_contexts(coded(rows, labels), contexts_themselves, features=[0]).summaries[0]
    if contexts is None:
        return np.zeros((0, 3, 3)), np.zeros(0)
    return informative_tables(contexts, np.arange(3), np.arange(int(labels.max()) + 1))


def all_counts(rows, labels, n_labels=3):
    """Rows by value and label under every deal, as an array, and as observed."""
    plain = [tuple(row) for row in rows.tolist()]
    deals = np.array(
        [
            naive_value_label_counts(plain, dealt, 0, range(3), range(n_labels))
            for dealt in naive_deals(plain, labels.tolist(), 0)
        ],
        float,
    )
    return deals, np.array(naive_value_label_counts(plain, labels.tolist(), 0, range(3), range(n_labels)), float)


@pytest.mark.parametrize("n_labels", [2, 3])
@pytest.mark.parametrize("seed", range(6))
def test_deviation_and_covariance_are_those_of_all_deals(seed, n_labels):
    rows, labels = small_table(seed, n_labels)
    deals, observed = all_counts(rows, labels, n_labels)
    found = DirectionSums.of_tables(*tables_of(rows, labels))
    assert found.deviation == pytest.approx(observed - deals.mean(axis=0), abs=1e-9)
    assert found.covariance == pytest.approx(np.cov(deals.T, bias=True), abs=1e-9)


@pytest.mark.parametrize("seed", range(6))
def test_moments_of_single_tables_add_up_to_the_sums(seed):
    tables, times = tables_of(*small_table(seed))
    deviation, covariance = moments_of_tables(tables)
    summed = DirectionSums.of_tables(tables, np.array([3.0, 2.0][: len(times)]))
    weights = np.array([3.0, 2.0][: len(times)])
    assert summed.deviation == pytest.approx(weights @ deviation)
    assert summed.covariance == pytest.approx(np.einsum("c,cij->ij", weights, covariance))


def test_two_values_and_labels_give_the_mantel_haenszel_statistic():
    """Three contexts: (sum of a - E a)^2 / sum of Var a, with one degree of freedom."""
    from scipy.stats import chi2

    tables = np.array([[[7, 3], [2, 8]], [[4, 1], [5, 5]], [[1, 3], [2, 9]]], float)
    a, rows, columns = tables[:, 0, 0], tables.sum(axis=2), tables.sum(axis=1)
    n = rows.sum(axis=1)
    expected = rows[:, 0] * columns[:, 0] / n
    variance = rows.prod(axis=1) * columns.prod(axis=1) / (n**2 * (n - 1))
    statistic = (a - expected).sum() ** 2 / variance.sum()
    assert DirectionSums.of_tables(tables, np.ones(3)).p_value() == pytest.approx(chi2.sf(statistic, 1))


def test_order_of_values_and_labels_does_not_change_the_p_value():
    rng = np.random.default_rng(0)
    tables = rng.integers(0, 5, (6, 4, 3)).astype(float)
    found = DirectionSums.of_tables(tables, np.ones(6)).p_value()
    turned = DirectionSums.of_tables(tables[:, ::-1, [2, 0, 1]], np.ones(6)).p_value()
    assert turned == pytest.approx(found)


def test_directions_that_cannot_vary_are_no_degrees_of_freedom():
    deviations = np.array([[1.0, -1.0], [0.0, 0.0], [1.0, 2.0]])
    covariances = np.array([[[2.0, -2.0], [-2.0, 2.0]], np.zeros((2, 2)), np.diag([4.0, 1.0])])
    statistics, freedoms = quadratic_forms(deviations, covariances)
    assert statistics.tolist() == pytest.approx([0.5, 0.0, 4.25])
    assert freedoms.tolist() == [1, 0, 2]


def test_no_context_that_tells_gives_no_p_value():
    assert math.isnan(DirectionSums.of_tables(np.zeros((0, 2, 2)), np.zeros(0)).p_value())


def test_contexts_with_one_value_or_one_label_are_left_out():
    rows = [(0, 0), (1, 0), (0, 1), (1, 1), (0, 2), (0, 2)]
    tables, times = tables_of(np.array([*rows, (2, 3)]), np.array([0, 0, 0, 1, 0, 1, 1]))
    assert tables.tolist() == [[[1, 0], [0, 1], [0, 0]]]
    assert times.tolist() == [1.0]


def test_direction_sums_add():
    rng = np.random.default_rng(1)
    tables = rng.integers(1, 5, (6, 3, 3)).astype(float)
    times = np.arange(1.0, 7.0)
    whole = DirectionSums.of_tables(tables, times)
    together = DirectionSums.of_tables(tables[:2], times[:2]) + DirectionSums.of_tables(tables[2:], times[2:])
    assert together.deviation == pytest.approx(whole.deviation)
    assert together.covariance == pytest.approx(whole.covariance)
    assert together.p_value() == pytest.approx(whole.p_value())


def test_the_rarest_values_are_taken_together():
    assert merge_rare(np.array([5, 1, 9])).tolist() == [0, 1, 2]
    assert merge_rare(np.arange(8)).tolist() == list(range(8))
    sizes = np.array([3, 10, 1, 8, 2])
    kinds = merge_rare(sizes, 3)
    assert kinds[[1, 3]].tolist() == [0, 1]
    assert kinds[[0, 2, 4]].tolist() == [2, 2, 2]
    many = merge_rare(np.array([9, 8, 7, 6, 5, 4, 3, 2, 1]))
    assert many.tolist() == [0, 1, 2, 3, 4, 5, 6, 7, 7]


# ---------------------------------------------------------------- exact p-values


def agreement(rows, labels):
    """Pairs of identical rows that agree on the label, over the rows of their kind; only where a context tells."""
    total = 0.0
    for row in set(rows):
        same = [label for other, label in zip(rows, labels, strict=True) if other == row]
        total += sum(same.count(c) * (same.count(c) - 1) for c in set(same)) / (2 * len(same))
    return total


@pytest.mark.parametrize("n_labels", [2, 3])
@pytest.mark.parametrize("seed", range(6))
def test_exact_p_values_are_shares_of_all_deals(seed, n_labels):
    rows, labels = small_table(seed, n_labels)
    plain = [tuple(row) for row in rows.tolist()]
    tables, times = tables_of(rows, labels)
    found = DirectionSums.of_tables(tables, times)
    p_any, p_direction = exact_p_values(tables, times, found.deviation, found.covariance)
    deals, observed = all_counts(rows, labels, n_labels)
    inverse = np.linalg.pinv(found.covariance, rcond=1e-9, hermitian=True)
    moves = deals - deals.mean(axis=0)
    statistics = np.einsum("ij,jk,ik->i", moves, inverse, moves)
    move = observed - deals.mean(axis=0)
    assert p_direction == pytest.approx((statistics >= move @ inverse @ move - 1e-9).mean())
    dealt = np.array([agreement(plain, other) for other in naive_deals(plain, labels.tolist(), 0)])
    assert p_any == pytest.approx((dealt >= agreement(plain, labels.tolist()) - 1e-9).mean())
    alone = exact_p_values(tables, times, found.deviation, found.covariance, with_any=False)
    assert math.isnan(alone[0])
    assert alone[1] == pytest.approx(p_direction)


def test_a_context_that_occurs_twice_is_dealt_twice():
    """One pair with different labels per context: both go the same way in two of four deals."""
    tables, times = np.array([[[1.0, 0.0], [0.0, 1.0]]]), np.array([2.0])
    found = DirectionSums.of_tables(tables, times)
    assert exact_p_values(tables, times, found.deviation, found.covariance)[1] == pytest.approx(0.5)


@pytest.mark.parametrize(
    ("n_rows", "n_times", "is_exact"), [(499, 1, True), (500, 1, False), (1, 99, True), (1, 100, False)]
)
def test_too_many_deals_have_no_exact_p_value(n_rows, n_times, is_exact):
    """n + 1 tables of one context, at most 500; k contexts of two deals take k (k + 1) additions, at most 10,000."""
    tables, times = np.array([[[n_rows, 0.0], [0.0, n_rows]]]), np.array([float(n_times)])
    found = DirectionSums.of_tables(tables, times)
    p_values = exact_p_values(tables, times, found.deviation, found.covariance)
    assert (p_values is not None) == is_exact


def test_fishers_test_of_one_context_in_numbers():
    """Four rows of each value, labels apart: two of the 70 deals are as far from the mean, both values alike."""
    tables = np.array([[[4.0, 0.0], [0.0, 4.0]]])
    found = DirectionSums.of_tables(tables, np.ones(1))
    assert exact_p_values(tables, np.ones(1), found.deviation, found.covariance) == pytest.approx((2 / 70, 2 / 70))
