"""How sure the relaxed score is: standard errors against simulated tables, p-values against shuffled labels."""

import math

import numpy as np
import pytest
from conftest import coded
from scipy.stats import gamma

from analogical import relevance
from analogical._types import CodedRows
from analogical.counting.neighbours import count_neighbours
from analogical.scoring import relaxed
from analogical.scoring.attribution import Attribution, fit_noisy_or
from analogical.scoring.relaxed import RelaxedFit, _units, gamma_tail, sandwich_interval, shuffled_p_values

WEIGHT = np.append([0.0, 1.0], 0.5 ** np.arange(1, 6))
NORMAL_95 = 1.959963984540054


def fitted(rows, labels, *, leak=True, radius=3):
    found = count_neighbours(coded(rows, labels), radius=radius)
    return found, fit_noisy_or(found, WEIGHT, leak)


def simulated(rng, n_rows=120):
    """Two features matter, with noise; four do not."""
    rows = rng.integers(0, 2, (n_rows, 6))
    return rows, (rows[:, 0] & rows[:, 1]) ^ (rng.random(n_rows) < 0.1)


def test_standard_errors_are_near_the_spread_over_simulated_tables():
    rng = np.random.default_rng(0)
    scores, errors = [], []
    for _ in range(80):
        found, fit = fitted(*simulated(rng))
        scores.append(fit.score[:2])
        errors.append(sandwich_interval(found, fit, WEIGHT, NORMAL_95)[0][:2])
    assert np.nanmean(errors, axis=0) == pytest.approx(np.std(scores, axis=0), rel=0.25)


def sandwich_in_loops(found, fit, weight):
    """H^-1 M H^-1 pair by pair; M row by row, less what the rows count twice."""
    flips = np.append(fit.flips, fit.leak)
    active = np.flatnonzero(flips > 1e-3)
    rates = -np.log1p(-flips)
    balanced = found.pair_weights()[1]
    scale = np.array([weight[found.distance[s]] * b for s, b in zip(found.set_of_pair, balanced, strict=True)])
    scale /= scale.mean()
    of_rows = {}
    of_pairs, curvature = (np.zeros((len(active), len(active))) for _ in range(2))
    for r, s, a, w in zip(found.left, found.right, found.set_of_pair, scale, strict=True):
        member = np.append(found.member[a], 1).astype(float)
        stay = math.exp(-(member @ rates))
        changed = found.rows.labels[r] != found.rows.labels[s]
        g = w * member[active] * (stay / (1 - stay) if changed else -1.0)
        for row in (r, s):
            of_rows[row] = of_rows.get(row, 0) + g
        of_pairs += np.outer(g, g)
        if changed:
            curvature += w * stay / (1 - stay) ** 2 * np.outer(member[active], member[active])
    middle = sum(np.outer(u, u) for u in of_rows.values()) - of_pairs
    assert (np.diag(middle) > 0).all()
    inverse = np.linalg.inv(curvature)
    return active, np.sqrt(np.diag(inverse @ middle @ inverse)), rates


def test_standard_errors_and_intervals_are_those_of_the_loops(monkeypatch):
    found, fit = fitted(*simulated(np.random.default_rng(1), 60))
    active, of_rates, rates = sandwich_in_loops(found, fit, WEIGHT)
    monkeypatch.setattr(relaxed, "CHUNK", 100)
    std_error, low, high = sandwich_interval(found, fit, WEIGHT, 2.0)
    shrink = fit.coverage / (fit.coverage + 0.01)
    assert set(active) >= {0, 1, 6}
    for place, i in enumerate(active.tolist()):
        if i < 6:
            assert std_error[i] == pytest.approx(of_rates[place] * (1 - fit.flips[i]) * shrink[i])
            ends = [rates[i] - 2 * of_rates[place], rates[i] + 2 * of_rates[place]]
            expected = [(1 - math.exp(-max(end, 0))) * shrink[i] for end in ends]
            assert [low[i], high[i]] == pytest.approx(expected)
            assert low[i] <= fit.score[i] <= high[i]
    others = [i for i in range(6) if i not in active]
    assert np.isnan(std_error[others]).all()
    assert np.isnan(low[others]).all()


def test_no_interval_where_nothing_flips_or_for_very_many_features(monkeypatch):
    rows, labels = simulated(np.random.default_rng(1), 60)
    found, fit = fitted(rows, labels)
    nothing = Attribution(np.zeros(6), np.zeros(6), 0.0, fit.coverage, (), True)
    assert np.isnan(sandwich_interval(found, nothing, WEIGHT, 2.0)).all()
    monkeypatch.setattr(relaxed, "MAX_FEATURES", 5)
    assert np.isnan(sandwich_interval(found, fit, WEIGHT, 2.0)).all()


def test_few_features_have_small_p_values_on_shuffled_labels():
    rng = np.random.default_rng(2)
    p_values = []
    for seed in range(15):
        rows, labels = simulated(rng, 100)
        found, fit = fitted(rows, rng.permutation(labels))
        p_values.append(shuffled_p_values(found, fit, WEIGHT, True, seed))
    assert (np.concatenate(p_values) <= 0.05).mean() <= 0.1


def test_features_of_an_exclusive_or_have_small_p_values():
    rng = np.random.default_rng(3)
    rows = rng.integers(0, 2, (300, 6))
    labels = rows[:, 0] ^ rows[:, 1] ^ (rng.random(300) < 0.05)
    found, fit = fitted(rows, labels)
    p_values = shuffled_p_values(found, fit, WEIGHT, True, 0)
    assert (p_values[:2] < 0.05).all()
    assert (p_values[2:] > 0.05).all()
    assert p_values.tolist() == RelaxedFit(found, fit, WEIGHT, True).p_values(0).tolist()
    assert ((p_values > 0) & (p_values <= 1)).all()


def test_features_without_pairs_have_no_p_value_and_no_interval():
    rows, labels = simulated(np.random.default_rng(4), 60)
    rows[:, 5] = 0
    found, fit = fitted(rows, labels)
    assert np.isnan(fit.score[5])
    assert np.isnan(shuffled_p_values(found, fit, WEIGHT, True, 0)).tolist() == [False] * 5 + [True]
    std_error, low, high = sandwich_interval(found, fit, WEIGHT, 2.0)
    assert np.isnan([std_error[5], low[5], high[5]]).all()
    assert not np.isnan([std_error[0], low[0], high[0]]).any()


def test_relabelled_pairs_are_those_of_a_table_with_these_labels():
    rng = np.random.default_rng(5)
    rows, labels = rng.integers(0, 2, (50, 5)), rng.integers(0, 3, 50)
    other = rng.permutation(labels)
    turned = count_neighbours(coded(rows, labels), radius=3).relabelled(coded(rows, other).labels)
    direct = count_neighbours(coded(rows, other), radius=3)
    for name in ("sets", "n_pairs", "n_changed", "left", "right", "set_of_pair", "keep_probability"):
        assert np.array_equal(getattr(turned, name), getattr(direct, name))
    assert turned.balanced_changed == pytest.approx(direct.balanced_changed)
    assert turned.balanced_pairs == pytest.approx(direct.balanced_pairs)


def test_the_order_of_the_rows_does_not_change_the_shuffles():
    rng = np.random.default_rng(7)
    rows, labels = rng.integers(0, 3, (60, 12)), rng.integers(0, 2, 60)
    one = relevance(rows, labels)
    order = rng.permutation(60)
    other = relevance(rows[order], labels[order])
    assert one.settings.radius > 1
    np.testing.assert_allclose(one.p_value, other.p_value, rtol=1e-6)


def test_identical_rows_with_the_same_label_are_shuffled_as_one():
    rows = CodedRows(
        np.array([[0, 1], [1, 1], [0, 1], [0, 1]], np.uint8), np.array([0, 1, 0, 1], np.uint8), np.array([2, 2]), 2
    )
    labels, unit_of_row = _units(rows)
    assert sorted(labels.tolist()) == [0, 1, 1]
    assert unit_of_row[0] == unit_of_row[2]
    assert len(set(unit_of_row.tolist())) == 3
    assert labels[unit_of_row].tolist() == [0, 1, 0, 1]


def test_the_tail_is_that_of_a_gamma_distribution_with_the_moments_of_the_scores_above_0():
    null = np.array([0.0, 0.0, 0.1, 0.2, 0.3])
    expected = 4 / 6 * gamma.sf([0.1, 0.5], a=0.2**2 / 0.01, scale=0.01 / 0.2)
    assert gamma_tail(np.array([0.1, 0.5, np.nan]), null, 1.0)[:2] == pytest.approx(expected)
    wider = 4 / 6 * gamma.sf(0.5, a=0.2**2 / 0.03, scale=0.03 / 0.2)
    assert gamma_tail(np.array([0.5]), null, 3.0)[0] == pytest.approx(wider)
    assert np.isnan(gamma_tail(np.array([np.nan]), null, 1.0)[0])
    assert gamma_tail(np.array([0.5]), np.array([0.0, 0.0, 0.3]), 1.0)[0] == 0.5
