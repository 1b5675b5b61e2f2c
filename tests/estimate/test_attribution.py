"""Whom to credit when rows differ on several features: the fit against another optimiser, and its constants."""

import tracemalloc
from dataclasses import replace

import numpy as np
import pytest
from conftest import coded
from naive import naive_counts, naive_disagreements
from scipy.optimize import brentq, minimize

from analogical.estimate.attribution import FEW, _first_features, _Likelihood, noisy_or
from analogical.estimate.sampling import Neighbours, find_neighbours


def neighbours(sets, n_features):
    """Pairs by disagreement set, from {features: (pairs, changed)}."""
    member = np.array([[i in features for i in range(n_features)] for features in sets], np.uint8)
    pairs, changed = np.array(list(sets.values()), dtype=float).T
    return Neighbours(member, member.sum(axis=1).astype(int), pairs, changed)


def unbalanced(rows, labels, radius):
    """Pairs of rows, of all classes with the same weight."""
    found = find_neighbours(coded(rows, labels), radius, 1.0)
    sets = naive_disagreements(np.asarray(rows).tolist(), np.asarray(labels).tolist(), radius)
    numbers = [sets[tuple(np.flatnonzero(line).tolist())] for line in found.member]
    pairs, changed = np.array(numbers, float).T
    return replace(found, pairs=pairs, changed=changed)


def noisy_table(seed=0, n_rows=120, flipped=0.2):
    """The label is the first of six features, flipped in some rows."""
    rng = np.random.default_rng(seed)
    rows = rng.integers(0, 2, (n_rows, 6))
    return rows, rows[:, 0] ^ (rng.random(n_rows) < flipped)


def test_noisy_or_at_distance_one_is_ari():
    rng = np.random.default_rng(2)
    rows, labels = rng.integers(0, 3, (200, 4)), rng.integers(0, 2, 200)
    found = unbalanced(rows, labels, 1)
    exact = naive_counts(rows.tolist(), labels.tolist())
    expected = [changed / pairs for changed, pairs in zip(exact["changed"], exact["pairs"], strict=True)]
    assert noisy_or(found).score == pytest.approx(expected, abs=1e-6)


@pytest.mark.parametrize("seed", range(8))
@pytest.mark.parametrize("leak", [False, True])
def test_the_fit_is_the_maximum_of_the_likelihood(seed, leak):
    rng = np.random.default_rng(seed)
    rows = rng.integers(0, 2 + seed % 2, (80, 6))
    labels = (rows[:, 0] > 0) ^ (rows[:, 1] > 0) ^ (rng.random(80) < 0.1)
    found = unbalanced(rows, labels, 4)
    fit = noisy_or(found, leak=leak)
    members = found.member.astype(float)
    if leak:
        members = np.hstack([members, np.ones((len(members), 1))])

    def loss(theta):
        x = np.maximum(members @ theta, 1e-12)
        return -(found.changed @ np.log(-np.expm1(-x)) - (found.pairs - found.changed) @ x)

    bounds = [(1e-9, 30)] * members.shape[1]
    options = {"maxiter": 5000, "ftol": 1e-15, "gtol": 1e-10}
    best = minimize(loss, np.full(members.shape[1], 0.3), bounds=bounds, method="L-BFGS-B", options=options)
    assert fit.score == pytest.approx(-np.expm1(-best.x[:6]), abs=1e-4)


def test_the_maximum_in_closed_form():
    """{0} says t0 = 1/2; {0, 1} changes in 3/4 = 1 - (1 - t0)(1 - t1), so t1 = 1/2 too."""
    found = neighbours({(0,): (100, 50), (0, 1): (100, 75)}, 2)
    assert noisy_or(found).score == pytest.approx([0.5, 0.5], abs=1e-6)


def test_distances_weigh_in_the_likelihood_as_given():
    """Feature 0 alone changes 1/2 of the pairs, with feature 1, which does nothing, 1/4: t0 lies between by weight."""
    found = neighbours({(0,): (100, 50), (0, 1): (100, 25), (1,): (10**6, 0)}, 2)
    t0 = [noisy_or(found.weighted(np.array([0.0, 1.0, w]))).score[0] for w in (1.0, 0.5, 1e-9)]
    assert t0 == pytest.approx([0.375, (50 + 12.5) / 150, 0.5], abs=1e-3)


def likelihood_of(found, weight):
    """A function of rates: minus the mean log-likelihood of a pair, and its derivatives."""
    mass = weight[found.distance] / (weight[found.distance] * found.pairs).sum()
    pairs, changed = mass * found.pairs, mass * found.changed
    members = found.member.astype(float)

    def loss(rates):
        x = np.maximum(members @ rates, 1e-12)
        slope = members.T @ (pairs - changed - changed / np.expm1(x))
        return -(changed @ np.log(-np.expm1(-x)) - (pairs - changed) @ x), slope

    return loss


def slow_minimum(loss, n_features):
    """The smallest loss, by a general optimiser."""
    start = np.full(n_features, 0.5 / n_features)
    options = {"maxiter": 20_000, "maxfun": 50_000, "ftol": 1e-16, "gtol": 1e-12}
    return minimize(loss, start, jac=True, bounds=[(0, 30)] * n_features, method="L-BFGS-B", options=options).fun


@pytest.mark.parametrize("seed", range(20))
def test_no_slow_optimiser_finds_a_larger_likelihood(seed):
    """Tall and wide tables, with few features from the start and with features that join later."""
    rng = np.random.default_rng(seed)
    n_rows, n_features = int(rng.integers(5, 60)), int(rng.choice([3, 8, 20, 90, 200]))
    rows = rng.integers(0, rng.integers(2, 5), (n_rows, n_features))
    labels = rng.integers(0, rng.integers(2, 4), n_rows) if seed % 2 else rows[:, 0]
    weight = 0.9 ** np.arange(n_features + 1)
    found = find_neighbours(coded(rows, labels), n_features, 1.0)
    loss, score = likelihood_of(found, weight), noisy_or(found.weighted(weight)).score
    rates = -np.log1p(-np.where(score > 1e-9, score, 0.0))  # smaller scores only order features without a rate
    assert loss(rates)[0] <= slow_minimum(loss, n_features) + 2e-5  # what the ridge may cost


def test_features_on_which_the_same_pairs_differ_share_alike():
    found = neighbours({(0, 1, 2): (100, 50), (2,): (100, 20)}, 3)
    score = noisy_or(found).score
    assert score[0] == pytest.approx(score[1], abs=1e-9)
    assert (1 - score[0]) * (1 - score[1]) * (1 - score[2]) == pytest.approx(0.5, abs=1e-5)


def test_features_without_credit_are_ordered_by_what_they_lack():
    """Feature 0 explains all changes; feature 1 goes with more of them than feature 2, though it adds nothing."""
    found = neighbours({(0,): (100, 50), (0, 1): (100, 50), (1,): (50, 0), (2,): (100, 0)}, 3)
    score = noisy_or(found).score
    assert score[0] == pytest.approx(0.5, abs=1e-6)
    assert 1e-9 > score[1] > score[2] >= 0


def test_a_pair_of_no_weight_is_not_fitted():
    found = neighbours({(0,): (100, 50), (1,): (10, 10)}, 2)
    nothing = replace(found, pairs=np.array([100.0, 1e-20]), changed=np.array([50.0, 1e-20]))
    assert noisy_or(nothing).score == pytest.approx([0.5, 0], abs=1e-6)


def test_a_leak_takes_label_noise_from_the_features():
    rows, labels = noisy_table()
    found = unbalanced(rows, labels, 4)
    without, with_leak = (noisy_or(found, leak=leak).score for leak in (False, True))
    assert (with_leak < without).all()
    assert without[1:].max() > 0.05
    assert with_leak[1:].mean() < without[1:].mean() / 2
    assert with_leak[0] > 3 * with_leak[1:].max()


def test_the_leak_is_no_feature():
    found = neighbours({(0,): (100, 50), (0, 1): (100, 75)}, 2)
    fit = noisy_or(found, leak=True)
    assert fit.score.shape == fit.coverage.shape == (2,)


def test_without_changes_but_noise_the_leak_takes_everything():
    """Every set changes in one pair of four, so the leak is 1/4 and no feature has a score."""
    found = neighbours({(0,): (400, 100), (1,): (400, 100), (0, 1): (400, 100)}, 2)
    fit = noisy_or(found, leak=True)
    assert fit.score == pytest.approx([0, 0], abs=1e-6)


def test_a_feature_on_which_one_pair_in_a_hundred_differs_keeps_half_its_score():
    found = neighbours({(0,): (9_900, 4_950), (1,): (100, 50)}, 2)
    plain = noisy_or(found)
    shrunk = noisy_or(found, leak=False).shrunk
    assert plain.score == pytest.approx([0.5, 0.5], abs=0.01)
    assert plain.coverage == pytest.approx([0.99, 0.01])
    assert shrunk == pytest.approx(plain.score * [0.99 / 1.0, 0.5])


def test_no_changed_pair_means_zero_and_no_pair_nan():
    rows = [[0, 0, 1], [1, 1, 1], [0, 1, 1]]
    found = find_neighbours(coded(rows, [0, 0, 0], n_values=[2, 2, 2], n_labels=2), 3, 1.0)
    for score in (noisy_or(found).score, noisy_or(found, leak=True).shrunk):
        assert score[:2].tolist() == [0, 0]
        assert np.isnan(score[2])


@pytest.mark.parametrize("leak", [False, True])
def test_without_any_near_pair_nothing_has_a_score(leak):
    found = find_neighbours(coded([[0, 0, 0], [1, 1, 1]], [0, 1]), 2, 1.0)
    fit = noisy_or(found, leak=leak)
    assert np.isnan(fit.score).tolist() == [True] * 3
    assert fit.coverage.tolist() == [0, 0, 0]
    assert np.isnan(noisy_or(found, leak=leak).shrunk).all()


@pytest.mark.parametrize("leak", [False, True])
def test_copies_share_what_one_of_them_explains(leak):
    """The fit of a column and two copies of it, which are solved as one."""
    rows, labels = noisy_table(3)
    one, three = (find_neighbours(coded(table, labels), 8, 1.0) for table in (rows, rows[:, [0, 1, 0, 2, 3, 4, 5, 0]]))
    alone, shared = (noisy_or(found, leak=leak).score for found in (one, three))
    assert shared[[0, 2, 7]] == pytest.approx(shared[0], abs=1e-12)
    assert 1 - (1 - shared[0]) ** 3 == pytest.approx(alone[0], abs=1e-4)
    assert shared[[1, 3, 4, 5, 6]] == pytest.approx(alone[1:], abs=1e-4)


def test_thousands_of_copies_are_solved_as_one():
    rng = np.random.default_rng(0)
    rows = np.repeat(rng.integers(0, 2, (8, 1)), 20_000, axis=1)
    found = find_neighbours(coded(rows, rows[:, 0]), 20_000, 1.0)
    tracemalloc.start()
    score = noisy_or(found).score
    peak = tracemalloc.get_traced_memory()[1]
    tracemalloc.stop()
    assert peak < 2**26  # a matrix of all of them would take 3 GB
    assert (score == score[0]).all()
    assert score[0] > 0


@pytest.mark.parametrize("n_copies", [1, 2, 5])
def test_the_ridge_weighs_every_copy(n_copies):
    """All pairs differ on the copies and change: each has the rate r at which 1 / (exp(k r) - 1) is 1e-7 r."""
    score = noisy_or(neighbours({tuple(range(n_copies)): (100, 100)}, n_copies)).score
    rate = brentq(lambda r: 1e-7 * r - 1 / np.expm1(n_copies * r), 0.1, 50)
    assert 1 - score == pytest.approx(np.exp(-rate), rel=1e-3)


def test_of_many_features_a_fit_begins_with_the_steepest_ones_and_one_of_every_changed_set():
    rng = np.random.default_rng(3)
    member = (rng.random((150, 200)) < 0.02).astype(np.uint8)
    member[np.arange(150), rng.integers(0, 200, 150)] = 1
    likelihood = _Likelihood(member, np.full(150, 1 / 300), rng.random(200) / 100, np.full(200, 1e-7))
    start = np.full(200, 0.01)
    gradient = likelihood.gradient(start)
    steepest = set(np.argsort(-gradient)[:FEW].tolist())
    expected = set(steepest)
    for changed_set in member:
        features = set(np.flatnonzero(changed_set).tolist())
        if not features & steepest:
            expected.add(max(features, key=lambda feature: gradient[feature]))
    found = np.flatnonzero(_first_features(likelihood, start)).tolist()
    assert found == sorted(expected)
    assert FEW < len(found) < 200
