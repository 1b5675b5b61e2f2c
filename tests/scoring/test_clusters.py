"""Rows that depend on each other: groups against loops, one row of each group, and what groups change."""

import numpy as np
import pytest
from conftest import coded, random_table
from naive import naive_cluster_profile

from analogical import InputError, relevance
from analogical.engines.memory import MemoryEngine
from analogical.scoring import clusters
from analogical.scoring.clusters import cluster_profile, draw_one_of_each, resample_clusters
from analogical.scoring.effect import skewed_interval
from analogical.scoring.intervals import share_interval


@pytest.mark.parametrize("seed", range(15))
def test_profile_counts_the_pairs_that_touch_each_group(seed):
    rng = np.random.default_rng(seed)
    rows, labels = random_table(rng, n_features=2, n_values=3, n_rows=16)
    groups = rng.integers(0, 5, size=16)
    groups[:5] = range(5)
    for feature in range(2):
        found = cluster_profile(coded(rows, labels), feature, groups)
        expected = {}
        plain = [tuple(row) for row in rows.tolist()]
        for key in naive_cluster_profile(plain, labels.tolist(), feature, groups.tolist()):
            expected[key] = expected.get(key, 0) + 1
        entries = zip(found.pairs.tolist(), found.changed.tolist(), found.rows.tolist(), strict=True)
        assert {(pairs, changed): n for pairs, changed, n in entries} == expected


def test_weighted_rows_of_a_group_are_so_many_rows_of_it():
    rng = np.random.default_rng(0)
    rows, labels = random_table(rng, n_features=2, n_values=2, n_rows=12)
    weights, groups = rng.integers(1, 4, 12), np.arange(12) % 4
    one = cluster_profile(coded(rows, labels, weights), 0, groups)
    two = cluster_profile(
        coded(np.repeat(rows, weights, axis=0), np.repeat(labels, weights)), 0, np.repeat(groups, weights)
    )
    for name in ("pairs", "changed", "rows"):
        assert getattr(one, name).tolist() == getattr(two, name).tolist()


def test_a_draw_takes_one_row_of_each_group_and_any_of_them():
    groups = np.array([0, 1, 1, 2, 0, 2, 2, 3])
    draws = list(draw_one_of_each(groups, 0))
    assert len(draws) == clusters.N_DRAWS
    for picked in draws:
        assert groups[picked].tolist() == sorted(groups[picked].tolist(), key=groups[picked].tolist().index)
        assert sorted(groups[picked].tolist()) == [0, 1, 2, 3]
    assert {int(r) for picked in draws for r in picked} == set(range(8))
    again = list(draw_one_of_each(groups, 0))
    assert all(np.array_equal(one, two) for one, two in zip(draws, again, strict=True))


def noisy_table(seed=0, n_rows=120):
    rng = np.random.default_rng(seed)
    rows = rng.integers(0, 2, (n_rows, 3))
    return rows, rows[:, 0] ^ (rng.random(n_rows) < 0.25)


def test_groups_of_one_row_give_the_effect_without_groups():
    rows, labels = noisy_table()
    plain = relevance(rows, labels, radius=1)
    grouped = relevance(rows, labels, radius=1, groups=np.arange(120))
    assert grouped.effect == pytest.approx(plain.effect)
    assert grouped.noise_rate == pytest.approx(plain.noise_rate)
    assert grouped.effect_pairs.tolist() == plain.effect_pairs.tolist()
    assert grouped.p_value == pytest.approx(np.minimum(1, 2 * plain.p_value))
    assert grouped.pairs.tolist() == plain.pairs.tolist()
    assert (grouped.settings.n_groups, plain.settings.n_groups) == (120, None)
    found = resample_clusters(MemoryEngine(), coded(rows, labels), np.arange(120), 0.95, 0)
    assert found.effect == pytest.approx(plain.effect)


def test_interval_of_the_index_leaves_out_whole_groups():
    rows, labels = noisy_table()
    groups = np.arange(120) // 3
    result = relevance(rows, labels, radius=1, groups=groups)
    for i in range(3):
        profile = cluster_profile(coded(rows, labels), i, groups)
        totals = int(result.pairs[i]), int(result.changed[i])
        expected = share_interval(profile, 40, 0.95, totals=totals)
        assert (result.ari_std_error[i], result.ari_low[i], result.ari_high[i]) == pytest.approx(expected)


def test_copies_of_rows_are_no_evidence_with_groups():
    rows, labels = noisy_table(n_rows=60)
    copied, twice = np.repeat(rows, 20, axis=0), np.repeat(labels, 20)
    naive = relevance(copied, twice, radius=1)
    grouped = relevance(copied, twice, radius=1, groups=np.repeat(np.arange(60), 20))
    plain = relevance(rows, labels, radius=1)
    assert naive.p_value[1] < 1e-3
    assert grouped.p_value == pytest.approx(np.minimum(1, 2 * plain.p_value))
    assert grouped.effect == pytest.approx(plain.effect)


def test_draws_are_put_together_by_mean_median_and_what_they_vary_less():
    """Three draws of made-up effects: mean effect, twice the median p-value, mean variance less that of the draws."""
    rows, labels = noisy_table()
    table, groups = coded(rows, labels), np.arange(120) // 2
    found = resample_clusters(MemoryEngine(), table, groups, 0.9, 3)
    effects, variances, p_values = [], [], []
    for picked in draw_one_of_each(groups, 3):
        one = relevance(rows[picked], labels[picked], radius=1)
        effects.append(one.effect[0])
        p_values.append(one.p_value[0])
        from_sums = clusters.summarise_contexts(table.take(picked))
        sums = MemoryEngine().sum_contexts(table.take(picked), from_sums).summaries[0]
        variances.append(sums.effect.variance(60))
    assert found.effect[0] == pytest.approx(np.mean(effects))
    assert found.p_value[0] == pytest.approx(min(1, 2 * np.median(p_values)))
    variance = max(np.mean(variances) - np.var(effects, ddof=1), np.mean(variances) / clusters.N_DRAWS)
    expected = skewed_interval(np.mean(effects), variance, 1.6448536269514722)
    assert (found.effect_low[0], found.effect_high[0]) == pytest.approx(expected)


def test_groups_exclude_rows_counted_once():
    with pytest.raises(InputError, match="groups need every row"):
        relevance([(0,), (1,), (1,)], [0, 1, 1], groups=[0, 0, 1], duplicates="once")
