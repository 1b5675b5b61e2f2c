"""Effect and noise against loops over pairs, over all deals of the labels, and without each row."""

import math

import numpy as np
import pytest
from conftest import coded, random_table
from naive import naive_deals, naive_effect_losses, naive_effect_sums, naive_pairs

from analogical import relevance
from analogical.count.pairs import find_contexts
from analogical.estimate.sizes import EffectSums, effect_interval


def lists(rows, labels):
    return [tuple(row) for row in np.asarray(rows).tolist()], np.asarray(labels).tolist()


def effect_of(rows, labels, feature=0, weights=None):
    """The sums of one feature; None without pairs."""
    found = find_contexts(coded(rows, labels, weights), [feature])[feature]
    return EffectSums.of(found, np.eye(int(np.max(labels)) + 1)) if len(found) else None


def losses_of(effect):
    """How many rows lose how much, without those that lose nothing."""
    found = {}
    for pairs, part, rows in zip(
        effect.lost_pairs.tolist(), effect.lost_effect.tolist(), effect.rows.tolist(), strict=True
    ):
        key = pairs, round(part, 9) + 0.0
        found[key] = found.get(key, 0) + rows
    return {key: n for key, n in found.items() if key[0]}


def repeated_table(seed, n_rows=14, n_labels=3):
    """Few distinct rows, so that values repeat beside each other: once, twice, three times."""
    rng = np.random.default_rng(seed)
    return rng.integers(0, [3, 2], size=(n_rows, 2)), rng.integers(0, n_labels, size=n_rows)


@pytest.mark.parametrize("seed", range(25))
def test_effect_and_noise_are_those_of_the_loops(seed):
    rows, labels = repeated_table(seed)
    found = effect_of(rows, labels)
    n_pairs, changed, noise = naive_effect_sums(*lists(rows, labels), 0)
    assert found.n_pairs == n_pairs
    assert found.profile.n_changed == changed
    assert found.noise == pytest.approx(noise)
    if n_pairs:
        assert found.effect() == pytest.approx((changed - noise) / n_pairs)
        assert found.noise_rate() == pytest.approx(noise / n_pairs)


@pytest.mark.parametrize("seed", range(10))
def test_result_carries_effect_noise_and_pairs(seed):
    rows, labels = random_table(np.random.default_rng(seed), n_features=3, n_values=2, n_rows=20)
    result = relevance(rows, labels, given="all")
    for i in range(3):
        n_pairs, changed, noise = naive_effect_sums(*lists(rows, labels), i)
        pairs = naive_pairs(*lists(rows, labels), i)
        assert result.compared[i] == len(pairs)
        if not pairs:
            assert np.isnan([result.effect[i], result.index[i], result.effect_low[i], result.effect_high[i]]).all()
            continue
        assert result.index[i] == sum(labels[r] != labels[s] for r, s in pairs) / len(pairs)
        if not n_pairs:  # no repeated rows: the index, as if there were no noise
            assert np.isnan(result.noise_rate[i])
            assert result.effect[i] >= result.index[i]
            continue
        assert result.noise_rate[i] == pytest.approx(noise / n_pairs)
        if not noise:
            assert result.effect[i] == pytest.approx(changed / n_pairs)


@pytest.mark.parametrize("seed", range(8))
def test_effect_is_0_on_average_over_all_deals_of_the_labels(seed):
    rng = np.random.default_rng(seed)
    rows = [
        (0, 0),
        (0, 0),
        (1, 0),
        (1, 0),
        (int(rng.integers(3)), 0),
        (0, 1),
        (0, 1),
        (1, 1),
        (int(rng.integers(2)), 1),
    ]
    labels = rng.integers(0, 3, size=len(rows)).tolist()
    labels[:2] = 0, 1
    effects = []
    for dealt in set(map(tuple, naive_deals(rows, labels, 0))):
        found = effect_of(rows, dealt)
        effects.append(found.effect())
    assert len(effects) > 5
    assert np.mean(effects) == pytest.approx(0, abs=1e-12)


@pytest.mark.parametrize("seed", range(25))
def test_losses_are_those_of_deleting_each_row(seed):
    rows, labels = repeated_table(seed)
    expected = {}
    for pairs, part in naive_effect_losses(*lists(rows, labels), 0):
        key = pairs, round(part, 9) + 0.0
        expected[key] = expected.get(key, 0) + 1
    assert losses_of(effect_of(rows, labels)) == {key: n for key, n in expected.items() if key[0]}


@pytest.mark.parametrize("seed", range(10))
def test_variance_is_the_jackknife_over_rows(seed):
    rows, labels = repeated_table(seed)
    plain = lists(rows, labels)
    n_pairs, changed, noise = naive_effect_sums(*plain, 0)
    whole = (changed - noise) / n_pairs
    without = []
    for r in range(len(rows)):
        left, kept_changed, kept_noise = naive_effect_sums(
            plain[0][:r] + plain[0][r + 1 :], plain[1][:r] + plain[1][r + 1 :], 0
        )
        without.append((kept_changed - kept_noise) / left if left else whole)
    n = len(rows)
    assert effect_of(rows, labels).variance(n) == pytest.approx((n - 1) * np.var(without))


def test_without_noise_the_effect_is_the_index():
    rows = [(a, b) for a in (0, 1) for b in (0, 1) for _ in range(3)]
    found = effect_of(rows, [a for a, _ in rows])
    assert (found.effect(), found.noise_rate()) == (1.0, 0.0)


def test_no_repeated_value_beside_another_has_no_effect():
    found = effect_of([(0, 0), (0, 0), (1, 0), (1, 1), (1, 1)], [0, 1, 0, 1, 1])
    assert found.n_pairs == 0
    assert math.isnan(found.effect())
    assert math.isnan(found.noise_rate())


def test_effect_in_numbers():
    """Three rows of a with labels 0 0 1, two of b with 1 1: 4 of 6 pairs changed; noise (2/3 + 0) / 2."""
    found = effect_of([[0], [0], [0], [1], [1]], [0, 0, 1, 1, 1])
    assert found.effect() == pytest.approx(4 / 6 - 1 / 3)
    assert found.noise_rate() == pytest.approx(1 / 3)
    # without a row of a with 0: labels 0 1 and 1 1, 2 of 4 pairs changed, noise 4 (1 + 0) / 2
    assert losses_of(found)[2, round(2 - (2 - 2.0), 9)] == 2


@pytest.mark.parametrize("seed", range(10))
def test_a_weight_is_so_many_rows(seed):
    rows, labels = repeated_table(seed)
    weights = np.random.default_rng(seed).integers(0, 4, len(rows))
    weighted = effect_of(rows, labels, 0, weights)
    expanded = effect_of(np.repeat(rows, weights, axis=0), np.repeat(labels, weights))
    assert weighted.noise == pytest.approx(expanded.noise)
    assert losses_of(weighted) == losses_of(expanded)


def test_interval_of_an_effect_by_hand():
    """16 trials; Wilson's upper end at 2 is (.2 + 2 / 16 + 2 sqrt(.16 / 16 + 1 / 256)) / 1.25."""
    low, high = effect_interval(0.2, 0.01, 2.0)
    assert high == pytest.approx((0.2 + 0.125 + 2 * (0.01 + 1 / 256) ** 0.5) / 1.25)
    assert low == pytest.approx(0.0, abs=1e-12)  # .2 less two standard errors
    low, high = effect_interval(0.7, 0.01, 1.0)  # 21 trials
    assert low == pytest.approx((0.7 + 1 / 42 - (0.01 + 1 / 42**2) ** 0.5) / (1 + 1 / 21))
    assert low == pytest.approx(1 - effect_interval(0.3, 0.01, 1.0)[1])
    assert effect_interval(7.0, 1.0, 1.0, 10.0) == pytest.approx((10 * low, 10 * high))


def test_interval_of_an_effect_below_its_error_takes_two_errors_for_it():
    """Standard error .2: as if the effect were .4, 6 trials; Wilson's upper end of 0 is q^2 / (n + q^2)."""
    assert effect_interval(-0.1, 0.04, 1.0) == pytest.approx((0.0, 1 / 7))


def test_interval_of_an_effect_stays_between_0_and_1():
    low, high = effect_interval(0.9, 0.25, 2.0)
    assert low == 0.0
    assert 0.9 < high < 1.0
    assert effect_interval(0.3, 0.0, 2.0) == (0.3, 0.3)
    assert effect_interval(-0.3, 0.0, 2.0) == (0.0, 0.0)
    assert effect_interval(1.1, 0.0, 2.0)[1] == 1.0
