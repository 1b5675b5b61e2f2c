"""How sure the relaxed score is: standard errors against simulated tables, p-values against shuffled labels."""

import math
from dataclasses import replace

import numpy as np
import pytest
from conftest import coded
from scipy.stats import gamma

from analogical import relevance
from analogical._relevance import _status
from analogical.counting.neighbours import count_neighbours
from analogical.engines.memory import MemoryEngine
from analogical.scoring import relaxed
from analogical.scoring.attribution import Attribution, fit_noisy_or
from analogical.scoring.radius import score_within_radius
from analogical.scoring.relaxed import GridFit, RelaxedFit, gamma_tail, sandwich_interval, shuffled_p_values
from analogical.scoring.significance import feature_p_values
from analogical.scoring.summaries import summarise_contexts

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
    """H^-1 M H^-1 pair by pair; M row by row, less what the rows count twice; a row of weight w is w rows."""
    flips = np.append(fit.flips, fit.leak)
    active = np.flatnonzero(flips > 1e-3)
    rates = -np.log1p(-flips)
    balanced = found.pair_weights()[1]
    scale = np.array([weight[found.distance[s]] * b for s, b in zip(found.set_of_pair, balanced, strict=True)])
    scale /= scale.mean()
    row_weights = found.rows.weights_or_ones()
    of_rows = {}
    of_pairs, curvature = (np.zeros((len(active), len(active))) for _ in range(2))
    for r, s, a, w in zip(found.left, found.right, found.set_of_pair, scale, strict=True):
        member = np.append(found.member[a], 1).astype(float)
        stay = math.exp(-(member @ rates))
        changed = found.rows.labels[r] != found.rows.labels[s]
        g = w * member[active] * (stay / (1 - stay) if changed else -1.0)
        for row in (r, s):
            of_rows[row] = of_rows.get(row, 0) + g
        of_pairs += np.outer(g, g) / (row_weights[r] * row_weights[s])
        if changed:
            curvature += w * stay / (1 - stay) ** 2 * np.outer(member[active], member[active])
    crossed = sum(np.outer(u, u) / row_weights[row] for row, u in of_rows.items())
    assert (np.diag(crossed - of_pairs) > 0).all()
    inverse = np.linalg.inv(curvature)
    variance, safe = (np.diag(inverse @ middle @ inverse) for middle in (crossed - of_pairs, crossed / 2))
    return active, np.sqrt(np.where(variance > 0, variance, safe)), rates


def test_standard_errors_and_intervals_are_those_of_the_loops(monkeypatch):
    found, fit = fitted(*simulated(np.random.default_rng(1), 60))
    active, of_rates, rates = sandwich_in_loops(found, fit, WEIGHT)
    monkeypatch.setattr(relaxed, "ENTRIES", 600)
    std_error, low, high = sandwich_interval(found, fit, WEIGHT, 2.0)
    shrink = fit.coverage / (fit.coverage + 0.01)
    assert set(active) >= {0, 1, 4, 6}  # the correction would leave feature 4 a variance below 0
    assert (std_error[active[:-1]] > 0).all()
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
        p_values.append(shuffled_p_values([GridFit(found, fit, WEIGHT, True)], seed))
    assert (np.concatenate(p_values) <= 0.05).mean() <= 0.1


def test_features_of_an_exclusive_or_have_small_p_values():
    rng = np.random.default_rng(3)
    rows = rng.integers(0, 2, (300, 6))
    labels = rows[:, 0] ^ rows[:, 1] ^ (rng.random(300) < 0.05)
    found, fit = fitted(rows, labels)
    p_values = shuffled_p_values([GridFit(found, fit, WEIGHT, True)], 0)
    assert (p_values[:2] < 0.05).all()
    assert (p_values[2:] > 0.05).all()
    assert p_values.tolist() == RelaxedFit((GridFit(found, fit, WEIGHT, True),), np.arange(6), 6).p_values(0).tolist()
    assert ((p_values > 0) & (p_values <= 1)).all()


def test_features_without_pairs_have_no_p_value_and_no_interval():
    rows, labels = simulated(np.random.default_rng(4), 60)
    rows[:, 5] = 0
    found, fit = fitted(rows, labels)
    assert np.isnan(fit.score[5])
    assert np.isnan(shuffled_p_values([GridFit(found, fit, WEIGHT, True)], 0)).tolist() == [False] * 5 + [True]
    std_error, low, high = sandwich_interval(found, fit, WEIGHT, 2.0)
    assert np.isnan([std_error[5], low[5], high[5]]).all()
    assert not np.isnan([std_error[0], low[0], high[0]]).any()


def test_relabelled_pairs_are_those_of_a_table_with_these_labels():
    rng = np.random.default_rng(5)
    rows, labels = np.column_stack([np.arange(50), rng.integers(0, 2, (50, 5))]), rng.integers(0, 3, 50)
    found = count_neighbours(coded(rows, labels), radius=4)
    other = rng.permutation(found.rows.labels)
    turned = found.relabelled(other)
    direct = count_neighbours(coded(found.rows.codes, other), radius=4)
    for name in ("sets", "n_pairs", "n_changed", "keep_probability"):
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


def test_repeated_rows_are_shuffled_as_one():
    """Three distinct (row, label) are shuffled, however often each occurs."""
    rows, labels = [[0, 1], [1, 1], [0, 1], [0, 1]], [0, 1, 0, 1]
    found = count_neighbours(coded(rows, labels), radius=2)
    assert sorted(found.rows.labels.tolist()) == [0, 1, 1]
    assert sorted(found.rows.weights_or_ones().tolist()) == [1, 1, 2]


def test_a_row_of_weight_w_has_the_standard_error_of_w_rows():
    rng = np.random.default_rng(7)
    rows, labels = simulated(rng, 60)
    weights = rng.integers(1, 5, 60)
    weighted = count_neighbours(coded(rows, labels, weights), radius=3)
    flips = np.full(6, 0.2)
    fit = Attribution(flips, flips, 0.1, np.full(6, 0.5), (), True)
    of_rows = np.repeat(weighted.rows.codes, weighted.rows.weights_or_ones(), axis=0)
    of_labels = np.repeat(weighted.rows.labels, weighted.rows.weights_or_ones())
    of_pairs = [(r, s) for r in range(len(of_rows)) for s in range(r) if 1 <= (of_rows[r] != of_rows[s]).sum() <= 3]
    left, right = np.array(of_pairs, np.int32).T
    sets = {tuple(row): k for k, row in enumerate(weighted.member.tolist())}
    set_of_pair = [sets[tuple((of_rows[r] != of_rows[s]).astype(int).tolist())] for r, s in of_pairs]
    repeated = replace(
        weighted,
        left=left,
        right=right,
        set_of_pair=np.array(set_of_pair, np.int32),
        rows=coded(of_rows, of_labels, n_values=[2] * 6, n_labels=2),
    )
    one, other = (sandwich_interval(found, fit, WEIGHT, 2.0)[0] for found in (weighted, repeated))
    assert one == pytest.approx(other)


def test_the_tail_is_that_of_a_gamma_distribution_with_the_moments_of_the_scores_above_0():
    null = np.array([0.0, 0.0, 0.1, 0.2, 0.3])
    expected = 4 / 6 * gamma.sf([0.1, 0.5], a=0.2**2 / 0.01, scale=0.01 / 0.2)
    assert gamma_tail(np.array([0.1, 0.5, np.nan]), null, 1.0)[:2] == pytest.approx(expected)
    wider = 4 / 6 * gamma.sf(0.5, a=0.2**2 / 0.03, scale=0.03 / 0.2)
    assert gamma_tail(np.array([0.5]), null, 3.0)[0] == pytest.approx(wider)
    assert np.isnan(gamma_tail(np.array([np.nan]), null, 1.0)[0])
    assert gamma_tail(np.array([0.5]), np.array([0.0, 0.0, 0.3]), 1.0)[0] == 0.5


def test_all_sets_of_bins_hold_the_same_rows_so_that_noise_is_not_averaged_away():
    rng = np.random.default_rng(1)
    rows = replace(coded(rng.integers(0, 5, (60, 6)), rng.integers(0, 2, 60)), n_bins=np.full(6, 5))
    engine = MemoryEngine()
    fit = score_within_radius(engine, rows, engine.count_pairs(rows), radius=6).fit
    first, *others = fit.grids
    assert len(others) == 2
    for grid in others:
        assert grid.found.rows.labels.tolist() == first.found.rows.labels.tolist()
        assert len(grid.found.rows.codes) == 60


def test_numbers_without_an_effect_rarely_have_small_p_values():
    p_values = []
    for seed in range(30):
        rng = np.random.default_rng(seed)
        p_values += relevance(rng.random((120, 8)), rng.integers(0, 2, 120), redundancies=False).p_value.tolist()
    assert np.mean(np.array(p_values) <= 0.05) <= 0.08


def test_tests_within_contexts_count_beside_shuffled_labels_where_pairs_at_distance_one_are_many():
    rng = np.random.default_rng(3)
    rows = rng.integers(0, 2, (1500, 9))
    labels = rows[:, 0] ^ rows[:, 1] ^ (rng.random(1500) < 0.2)
    result = relevance(rows, labels)
    assert result.settings.reason == "noisy-labels"
    table = coded(rows, labels)
    engine = MemoryEngine()
    sums = engine.sum_contexts(table, summarise_contexts(table))
    shuffled = score_within_radius(engine, table, sums.counts, summaries=sums.summaries).fit.p_values(0)
    within = feature_p_values(table, sums.summaries)
    assert result.p_value == pytest.approx(np.minimum(1, 2 * np.minimum(shuffled, within)))
    assert (within[:2] < 1e-6).all()
    few = coded(rows[:60], labels[:60])
    fit = score_within_radius(engine, few, engine.count_pairs(few)).fit
    assert relevance(rows[:60], labels[:60]).p_value == pytest.approx(fit.p_values(0))


def test_a_feature_with_a_small_p_value_has_an_effect_even_if_its_relaxed_score_is_zero():
    """The tests within contexts may see what the fit attributes to noise or to other features."""
    rng = np.random.default_rng(3)
    rows, labels = rng.integers(0, 3, (60, 12)), rng.integers(0, 2, 60)
    result = relevance(rows, labels)
    p_value = np.append([0.004, 0.009], np.ones(10))
    words = _status(replace(result, score=np.zeros(12), p_value=p_value))
    assert words[:2] == ("effect", "none-seen")  # 12 * .004 is .048, 12 / 2 * .009 is .054
