"""Beyond distance 1: counts by disagreement set with ==, the fit against another optimiser, the choice of radius."""

import warnings
from itertools import combinations, product

import numpy as np
import pytest
from scipy.optimize import minimize

from analogical import _neighbours
from analogical._attribution import ConvergenceWarning, _Likelihood, count_per_feature, noisy_or, share
from analogical._counting import count_pairs
from analogical._neighbours import count_distances, count_neighbours
from analogical._relaxed import relax


def naive_sets(codes, labels, weights, radius):
    """Pairs and changed pairs by disagreement set, one pair after another."""
    found = {}
    for a, b in combinations(range(len(codes)), 2):
        differ = tuple(np.flatnonzero(codes[a] != codes[b]).tolist())
        if 1 <= len(differ) <= radius:
            pairs, changed = found.get(differ, (0, 0))
            together = int(weights[a] * weights[b])
            found[differ] = (pairs + together, changed + together * int(labels[a] != labels[b]))
    return found


def as_dict(found):
    members = found.membership(slice(None), np.int64)
    return {
        tuple(np.flatnonzero(row).tolist()): (int(p), int(c))
        for row, p, c in zip(members, found.n_pairs, found.n_changed, strict=True)
    }


def counts_of(codes, labels, weights=None):
    n_values = codes.max(axis=0).astype(int) + 1
    return count_pairs(codes, labels.astype(np.uint8), n_values, int(labels.max()) + 1, weights)


SHAPES = [(40, 5, 2, 2, 1), (40, 5, 2, 2, 3), (60, 7, 3, 3, 7), (30, 70, 2, 2, 70), (30, 130, 2, 4, 60)]
SHAPES += [(25, 64, 3, 2, 64), (5, 1, 2, 2, 1), (2, 3, 2, 2, 3), (80, 4, 60, 2, 4), (50, 6, 300, 3, 6)]


@pytest.mark.parametrize(("m", "n", "v", "k", "radius"), SHAPES)
@pytest.mark.parametrize("is_weighted", [False, True])
def test_counts_by_disagreement_set_equal_the_loops(m, n, v, k, radius, is_weighted):
    rng = np.random.default_rng(m * n)
    codes = rng.integers(0, v, (m, n)).astype(np.uint16)
    labels = rng.integers(0, k, m).astype(np.uint8)
    weights = rng.integers(1, 5, m) if is_weighted else np.ones(m, int)
    found = count_neighbours(codes, labels, weights if is_weighted else None, radius=radius)
    assert as_dict(found) == naive_sets(codes, labels, weights, radius)
    assert len(as_dict(found)) == len(found.sets)
    assert found.n_pairs.dtype == found.n_changed.dtype == np.int64
    assert not found.is_sampled
    pairs, changed = count_per_feature(found)
    exact = counts_of(codes, labels, weights)
    if radius == 1:
        assert pairs.tolist() == exact.pairs.tolist()
        assert changed.tolist() == exact.changed.tolist()


def test_blocks_and_threads_change_nothing(monkeypatch):
    rng = np.random.default_rng(0)
    codes, labels = rng.integers(0, 2, (300, 8)).astype(np.uint8), rng.integers(0, 2, 300).astype(np.uint8)
    one = count_neighbours(codes, labels, radius=4)
    monkeypatch.setattr(_neighbours, "BLOCK", 37)
    steps = []
    many = count_neighbours(codes, labels, radius=4, n_jobs=3, progress=lambda done, total: steps.append((done, total)))
    assert as_dict(one) == as_dict(many)
    assert steps == [(i, 9) for i in range(1, 10)]


def test_distances_are_counted():
    rng = np.random.default_rng(1)
    codes = rng.integers(0, 3, (200, 6)).astype(np.uint8)
    expected = np.zeros(7)
    for a, b in combinations(range(200), 2):
        expected[(codes[a] != codes[b]).sum()] += 1
    assert (count_distances(codes) == expected).all()
    sampled = count_distances(codes, n_sampled=100)
    assert sampled.sum() == pytest.approx(expected.sum())


def test_budgets_are_kept_weighted_back_and_repeatable():
    rng = np.random.default_rng(3)
    codes, labels = rng.integers(0, 3, (1500, 20)).astype(np.uint8), rng.integers(0, 2, 1500).astype(np.uint8)
    options = {"radius": 20, "decay": 0.7, "max_pairs": 50_000, "random_state": 5}
    one = count_neighbours(codes, labels, **options)
    assert abs(one.n_pairs_used - 50_000) < 2_500
    assert as_dict(one) == as_dict(count_neighbours(codes, labels, **options, n_jobs=2))
    assert one.is_sampled
    estimated = (one.n_pairs / one.kept[one.distance]).sum()
    assert estimated == pytest.approx(1500 * 1499 / 2, rel=0.05)
    few = count_neighbours(codes, labels, radius=20, max_compared=100_000)
    assert (few.n_rows_used, few.n_rows, few.is_sampled) == (448, 1500, True)


def test_noisy_or_at_distance_one_is_ari_to_the_last_bit():
    rng = np.random.default_rng(2)
    codes, labels = rng.integers(0, 3, (200, 4)).astype(np.uint8), rng.integers(0, 2, 200).astype(np.uint8)
    found = count_neighbours(codes, labels, radius=1)
    exact = counts_of(codes, labels)
    assert (noisy_or(found).score == exact.changed / exact.pairs).all()
    assert (share(found).score == exact.changed / exact.pairs).all()
    em = _Likelihood.of(found, found.n_pairs.astype(float), found.n_changed.astype(float), False).maximise(1e-10, 1000)
    assert np.allclose(em.score, exact.changed / exact.pairs, atol=1e-9)


@pytest.mark.parametrize("seed", range(8))
@pytest.mark.parametrize("leak", [False, True])
def test_likelihood_never_falls_and_the_fit_is_its_maximum(seed, leak):
    rng = np.random.default_rng(seed)
    codes = rng.integers(0, 2 + seed % 2, (80, 6)).astype(np.uint8)
    labels = ((codes[:, 0] > 0) ^ (codes[:, 1] > 0) ^ (rng.random(80) < 0.1)).astype(np.uint8)
    found = count_neighbours(codes, labels, radius=4)
    fit = noisy_or(found, tolerance=1e-8, max_steps=50_000, leak=leak)
    assert fit.converged
    assert (np.diff(fit.log_likelihood) >= -1e-12).all()
    members = found.membership(slice(None), float)
    if leak:
        members = np.hstack([members, np.ones((len(members), 1))])

    def loss(theta):
        x = np.maximum(members @ theta, 1e-12)
        return -(found.n_changed @ np.log(-np.expm1(-x)) - (found.n_pairs - found.n_changed) @ x)

    bounds = [(1e-9, 30)] * members.shape[1]
    options = {"maxiter": 5000, "ftol": 1e-15, "gtol": 1e-10}
    best = minimize(loss, np.full(members.shape[1], 0.3), bounds=bounds, method="L-BFGS-B", options=options)
    assert np.allclose(fit.score, -np.expm1(-best.x[:6]), atol=2e-3)


def test_a_fit_that_is_cut_short_warns():
    rng = np.random.default_rng(0)
    codes = rng.integers(0, 2, (80, 6)).astype(np.uint8)
    labels = (codes[:, 0] ^ codes[:, 1]).astype(np.uint8)
    found = count_neighbours(codes, labels, radius=4)
    with pytest.warns(ConvergenceWarning, match="did not reach its tolerance 1e-09 within 5 steps"):
        assert not noisy_or(found, tolerance=1e-9, max_steps=5).converged


def test_no_changed_pair_means_zero_and_no_pair_nan():
    codes = np.array([[0, 0, 1], [1, 1, 1], [0, 1, 1]], np.uint8)
    found = count_neighbours(codes, np.zeros(3, np.uint8), radius=3)
    for fit in (noisy_or(found), share(found)):
        assert fit.score[:2].tolist() == [0, 0]
        assert np.isnan(fit.score[2])


def test_auto_is_ari_on_a_whole_universe():
    codes = np.array(list(product([0, 1, 2], [0, 1, 2], [0, 1], [0, 1, 2], [0, 1, 2, 3], [0, 1])), np.uint8)
    labels = ((codes[:, 0] == codes[:, 1]) | (codes[:, 4] == 0)).astype(np.uint8)
    counts = counts_of(codes, labels)
    found = relax(codes, labels, None, counts)
    assert found.radius == 1
    assert (found.score == counts.changed / counts.pairs).all()
    assert found.reason == "radius 1: every feature has at least 216 pairs at distance 1"


def test_auto_is_ari_where_all_pairs_are_at_distance_one():
    codes = np.array([[0, 0], [1, 0], [2, 0], [0, 0], [1, 0]], np.uint8)
    labels = np.array([0, 1, 1, 0, 0], np.uint8)
    counts = counts_of(codes, labels)
    found = relax(codes, labels, None, counts)
    assert (found.radius, found.score[0]) == (1, counts.changed[0] / counts.pairs[0])
    assert np.isnan(found.score[1])


def test_auto_is_ari_on_a_small_table_where_half_of_the_rows_have_partners():
    codes = np.array(list(product([0, 1], repeat=3)), np.uint8)
    labels = (codes[:, 0] ^ codes[:, 2]).astype(np.uint8)
    found = relax(codes, labels, None, counts_of(codes, labels))
    assert (found.radius, found.score.tolist()) == (1, [1.0, 0.0, 1.0])


def test_share_of_sampled_pairs_weighs_them_back():
    rng = np.random.default_rng(0)
    codes = rng.integers(0, 2, (800, 10)).astype(np.uint8)
    labels = codes[:, 0] | codes[:, 1]
    whole = share(count_neighbours(codes, labels, radius=10)).score
    sampled = share(count_neighbours(codes, labels, radius=10, decay=0.6, max_pairs=40_000)).score
    assert np.abs(whole - sampled).max() < 0.03


def xor_table(n_rows=500, n_features=30):
    rng = np.random.default_rng(4)
    codes = rng.integers(0, 3, (n_rows, n_features)).astype(np.uint8)
    return codes, ((codes[:, 0] > 0) ^ (codes[:, 1] > 0)).astype(np.uint8)


def test_auto_is_deterministic_and_finds_an_xor_without_pairs():
    codes, labels = xor_table()
    counts = counts_of(codes, labels)
    one = relax(codes, labels, None, counts, max_pairs=20_000, random_state=7)
    two = relax(codes, labels, None, counts, max_pairs=20_000, random_state=7, n_jobs=2)
    assert (one.score == two.score).all()
    assert set(np.argsort(-one.score)[:2].tolist()) == {0, 1}
    assert one.is_sampled
    assert "there is no pair at distance 1" in one.reason
    assert 1 < one.radius <= 30


def test_renaming_values_and_labels_changes_nothing():
    codes, labels = xor_table(200, 12)
    one = relax(codes, labels, None, counts_of(codes, labels))
    renamed = ((codes + 1) % 3).astype(np.uint8)
    two = relax(renamed, 1 - labels, None, counts_of(renamed, 1 - labels))
    assert np.allclose(one.score, two.score, atol=1e-9)
    assert one.pairs.tolist() == two.pairs.tolist()


@pytest.mark.parametrize("attribution", ["noisy-or", "share"])
def test_a_fixed_radius_is_taken_as_asked(attribution):
    codes, labels = xor_table(120, 8)
    counts = counts_of(codes, labels)
    one = relax(codes, labels, None, counts, radius=1, attribution=attribution)
    assert one.pairs.tolist() == counts.pairs.tolist()
    five = relax(codes, labels, None, counts, radius=5, attribution=attribution)
    assert (five.radius, five.reason) == (5, "radius 5: asked for")
    expected = naive_sets(codes, labels, np.ones(120, int), 5)
    assert five.pairs.tolist() == [sum(p for d, (p, _) in expected.items() if i in d) for i in range(8)]
    assert five.changed.tolist() == [sum(c for d, (_, c) in expected.items() if i in d) for i in range(8)]
    if attribution == "share":
        assert five.score.tolist() == (five.changed / five.pairs).tolist()


def test_no_changed_pair_at_distance_one_is_the_reason_given():
    # pairs at distance 1 keep the label, as on mushroom; the label needs two features to change together
    rng = np.random.default_rng(0)
    kinds = rng.integers(0, 2, 300)
    noise = rng.integers(0, 2, (300, 5))
    codes = np.column_stack([kinds, kinds, noise]).astype(np.uint8)
    labels = kinds.astype(np.uint8)
    found = relax(codes, labels, None, counts_of(codes, labels))
    assert "at distance 1" in found.reason
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        assert found.score[:2].min() > found.score[2:].max()
