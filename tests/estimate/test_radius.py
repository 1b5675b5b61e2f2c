"""The relaxed index: its constants, its laws, and all pairs of rows in slow loops."""

import warnings
from itertools import product

import numpy as np
import pytest
from conftest import coded
from naive import naive_relaxed_likelihood

from analogical.count.pairs import count_pairs
from analogical.estimate.attribution import noisy_or
from analogical.estimate.radius import choose_decay, choose_radius, choose_reach, coarser, relaxed_scores
from analogical.estimate.sampling import distance_weight, estimate_distances, find_neighbours, rows_compared


def score(rows, labels, radius="auto", weights=None):
    return relaxed_scores(coded(rows, labels, weights), radius)


def reach_of(rows, labels, radius="auto"):
    """How far the index looks."""
    table = coded(rows, labels)
    n_compared = min(len(rows), rows_compared(rows.shape[1]))
    return choose_reach(estimate_distances(table), n_compared, radius)


def compare_a_hundred_rows(monkeypatch):
    monkeypatch.setattr("analogical.estimate.sampling.MAX_COMPARED", 4_901)
    assert rows_compared(20) == 100


def xor_table(n_rows=500, n_features=30):
    rng = np.random.default_rng(4)
    rows = rng.integers(0, 3, (n_rows, n_features))
    return rows, ((rows[:, 0] > 0) ^ (rows[:, 1] > 0)).astype(int)


# ---------------------------------------------------------------- the constants


def test_weight_is_one_up_to_the_nearest_pairs_and_decays_beyond():
    assert distance_weight(np.array([5.0, 0, 3, 2, 1]), 0.5).tolist() == [1, 1, 1, 0.5, 0.25]
    assert distance_weight(np.array([0.0, 4, 3]), 0.1) == pytest.approx([1, 1, 0.1])
    assert distance_weight(np.array([7.0, 0, 0]), 0.5).tolist() == [1, 1, 0.5]


@pytest.mark.parametrize(
    ("n_effective", "decay"),
    [
        (180, 0.5),  # 100 (1 + d)^2 / (1 + d^2) = 180: d = 1/2
        (200, 1.0),
        (100, 0.0),
        (100 * 1.2**2 / 1.04, 0.2),
    ],
)
def test_decay_is_the_steepest_that_leaves_the_pairs_in_effect(n_effective, decay):
    assert choose_decay(np.array([50.0, 100, 100]), n_effective) == pytest.approx(decay, abs=1e-7)


def test_identical_rows_do_not_count_towards_the_decay():
    assert choose_decay(np.array([1e9, 100, 100]), 180) == choose_decay(np.array([0.0, 100, 100]), 180)


@pytest.mark.parametrize(
    ("distances", "decay", "radius"),
    [
        ([0, 97, 3], 1.0, 1),
        ([0, 96, 4], 1.0, 2),
        ([0, 10, 10, 10], 1.0, 3),
        ([10**6, 96, 4], 1.0, 2),  # identical rows are no pairs
        ([0, 80, 32, 32], 0.5, 3),  # 80 + 16 + 8: 96 of 104 is too little
        ([0, 80, 32, 8], 0.5, 2),  # 80 + 16 + 2: 96 of 98 is enough
        ([0, 0, 97, 3], 1.0, 2),
    ],
)
def test_radius_holds_97_percent_of_the_weight(distances, decay, radius):
    assert choose_radius(np.array(distances, float), decay) == radius


def effective_share(rows, decay):
    """Pairs in effect over pairs that are not identical, at a decay."""
    distances = (rows[:, None] != rows).sum(axis=2)[np.triu_indices(len(rows), 1)]
    distances = distances[distances > 0]
    weight = decay ** (distances - distances.min())
    return weight.sum() ** 2 / (weight**2).sum() / len(distances)


@pytest.mark.parametrize(("n_rows", "expected"), [(100, 0.6), (225, 0.4), (36, 1.0), (400, 0.3)])
def test_pairs_in_effect_are_three_times_rows_to_the_power_of_one_and_a_half(n_rows, expected):
    """3 m^1.5 of the m^2 / 2 pairs: a share of 6 / sqrt(m)."""
    rows, labels = xor_table(n_rows, 20)
    assert effective_share(rows, reach_of(rows, labels).decay) == pytest.approx(expected, rel=1e-6)


def test_rows_that_are_not_compared_do_not_steepen_the_decay(monkeypatch):
    rows, labels = xor_table(400, 20)
    compare_a_hundred_rows(monkeypatch)
    assert effective_share(rows, reach_of(rows, labels).decay) == pytest.approx(0.6, rel=1e-6)


# ---------------------------------------------------------------- what it is


@pytest.mark.parametrize("seed", range(4))
@pytest.mark.parametrize("radius", [2, 6])
def test_no_other_flip_probabilities_are_likelier_over_all_pairs(seed, radius):
    """The scores are the maximum of the likelihood that slow loops over all pairs give, rare features believed less."""
    rng = np.random.default_rng(seed)
    rows = rng.integers(0, 2 + seed % 2, (40, 6))
    labels = (rows[:, 0] > 0) ^ (rows[:, 1] > 0) ^ (rng.random(40) < 0.1)
    rows[7], labels[7] = rows[3], labels[3] ^ (seed < 2)
    leak = any((rows[r] == rows[s]).all() and labels[r] != labels[s] for r in range(40) for s in range(r))
    found = score(rows, labels, radius)
    distances = (rows[:, None] != rows).sum(axis=2)[np.triu_indices(40, 1)]
    n_effective = (distances > 0).sum() * min(1, 6 / 40**0.5)
    likelihood, coverage = naive_relaxed_likelihood(rows.tolist(), labels.tolist(), radius, n_effective, leak)
    flips = found * (np.array(coverage) + 0.01) / np.array(coverage)
    assert ((flips >= 0) & (flips <= 1 + 1e-9)).all()

    def best_leak(flips):
        return max(likelihood([*flips, t]) for t in (np.linspace(0, 0.6, 121) if leak else [0.0]))

    highest = best_leak(flips)
    for i, sign in product(range(6), (-1, 1)):
        moved = flips.copy()
        moved[i] = np.clip(moved[i] + sign * 0.02, 0, 1 - 1e-6)
        if moved[i] != flips[i] and abs(moved[i] - flips[i]) > 1e-3:
            assert best_leak(moved) < highest


def test_auto_is_the_weighed_balanced_and_shrunk_fit():
    rows, labels = xor_table(150, 8)
    labels[:5] ^= 1
    table, reach = coded(rows, labels), reach_of(rows, labels)
    fit = noisy_or(find_neighbours(table, reach.radius, reach.decay).weighted(reach.weight))
    assert (score(rows, labels) == fit.score * fit.coverage / (fit.coverage + 0.01)).all()


def test_there_is_a_leak_exactly_if_identical_rows_differ_in_label():
    rng = np.random.default_rng(0)
    rows = rng.integers(0, 2, (60, 7))
    rows[30:33] = rows[0]
    labels = rows[:, 0] ^ (rng.random(60) < 0.2)
    for other in (0, 1):
        same = (rows[:, None] == rows).all(axis=2)
        alike = labels[np.argmax(same, axis=1)]  # identical rows have one label
        alike[30] = alike[0] ^ other
        found, reach = score(rows, alike), reach_of(rows, alike)
        neighbours = find_neighbours(coded(rows, alike), reach.radius, reach.decay).weighted(reach.weight)
        assert found == pytest.approx(noisy_or(neighbours, leak=bool(other)).shrunk, abs=1e-9)
        assert not np.allclose(found, noisy_or(neighbours, leak=not other).shrunk, atol=1e-3)


def test_distance_one_alone_is_the_paper_s_index():
    rows, labels = xor_table(300, 5)
    counts = count_pairs(coded(rows, labels))
    assert score(rows, labels, 1).tolist() == (counts.changed / counts.pairs).tolist()


def test_auto_is_the_paper_s_index_where_all_pairs_are_at_distance_one():
    found = score([[0, 0], [1, 0], [2, 0], [0, 0], [1, 0]], [0, 1, 1, 0, 0])
    assert found[0] == 5 / 8
    assert np.isnan(found[1])


def test_auto_is_the_paper_s_index_where_distance_one_has_nearly_all_the_weight():
    rows, labels = [[0, 0]] * 30 + [[1, 0]] * 30 + [[0, 1]], [0, 1] * 30 + [1]
    counts = count_pairs(coded(rows, labels))
    assert counts.pairs.tolist() == [900, 30]
    assert score(rows, labels).tolist() == (counts.changed / counts.pairs).tolist()


def test_a_fixed_radius_leaves_out_the_pairs_beyond_it_and_weighs_the_others_as_auto_does():
    rows, labels = xor_table(200, 12)
    auto = reach_of(rows, labels)
    assert (score(rows, labels, auto.radius) == score(rows, labels)).all()
    wider = reach_of(rows, labels, 12)
    assert (wider.radius, wider.decay) == (12, auto.decay)
    assert (score(rows, labels, 12) != score(rows, labels)).any()


def test_a_table_without_variation_has_no_scores():
    assert np.isnan(score([[1, 1], [1, 1]], [0, 1])).all()


def test_it_is_deterministic_and_finds_an_exclusive_or_without_pairs(monkeypatch):
    rows, labels = xor_table()
    table = coded(rows, labels)
    assert not count_pairs(table).pairs.any()
    monkeypatch.setattr("analogical.estimate.sampling.MAX_PAIRS_KEPT", 20_000)
    one, two = (relaxed_scores(table, n_jobs=j) for j in (1, 2))
    assert (one == two).all()
    assert set(np.argsort(-one)[:2].tolist()) == {0, 1}


def test_features_that_only_change_together_stand_above_the_others():
    """Pairs at distance 1 keep the label; it changes only where two features change together."""
    rng = np.random.default_rng(0)
    kinds = rng.integers(0, 2, 300)
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        found = score(np.column_stack([kinds, kinds, rng.integers(0, 2, (300, 5))]), kinds)
    assert found[:2].min() > found[2:].max()


def test_a_whole_universe_without_noise_gives_nothing_to_features_that_do_nothing():
    rows = np.array(list(product([0, 1], repeat=6)))
    found = score(rows, rows[:, 0] ^ rows[:, 3])
    assert found[[0, 3]].min() > 0.2
    assert found[[1, 2, 4, 5]].max() < 1e-9


def test_renaming_values_and_labels_changes_nothing():
    rows, labels = xor_table(200, 12)
    assert score(rows, labels) == pytest.approx(score((rows + 1) % 3, 1 - labels), abs=1e-9)


# ---------------------------------------------------------------- weights, constants, numbers


def weighted_table(seed):
    """A small table in which half of the rows are near others, with weights from 1 to 20."""
    rng = np.random.default_rng(seed)
    n_rows, n_features = int(rng.integers(5, 30)), int(rng.choice([4, 8, 30, 80]))
    rows = rng.integers(0, 3, (n_rows, n_features))
    labels = rng.integers(0, 2, n_rows) if seed % 2 else (rows[:, 0] > 0) ^ (rng.random(n_rows) < 0.2)
    labels[:2] = 0, 1
    return rows, labels, rng.integers(1, 21, n_rows)


@pytest.mark.parametrize("seed", range(12))
def test_rows_with_a_weight_score_like_the_rows_repeated_in_any_order(seed):
    rows, labels, weights = weighted_table(seed)
    order = np.random.default_rng(seed).permutation(weights.sum())
    repeated = score(np.repeat(rows, weights, axis=0)[order], np.repeat(labels, weights)[order])
    assert repeated == pytest.approx(score(rows, labels, weights=weights), rel=1e-7, abs=1e-9, nan_ok=True)


def test_a_row_of_weight_0_is_no_row(monkeypatch):
    """Also where rows have to be drawn; here it contradicts another row, which would prove noise."""
    rows, labels = xor_table(200, 12)
    rows[199], labels[199] = rows[0], 1 - labels[0]
    weights = np.append(np.ones(199, int), 0)
    compare_a_hundred_rows(monkeypatch)
    expected = relaxed_scores(coded(rows[:199], labels[:199], weights[:199]))
    assert (relaxed_scores(coded(rows, labels, weights)) == expected).all()


@pytest.mark.parametrize("seed", range(8))
def test_a_constant_feature_changes_no_other_one(seed):
    rows, labels, weights = weighted_table(seed)
    place = seed % (rows.shape[1] + 1)
    found = score(np.insert(rows, place, 1, axis=1), labels, weights=weights)
    assert np.isnan(found[place])
    others = np.delete(found, place)
    assert others == pytest.approx(score(rows, labels, weights=weights), rel=1e-7, abs=1e-9, nan_ok=True)


def test_repeated_rows_are_compared_once_so_that_none_has_to_be_drawn(monkeypatch):
    rows, labels = xor_table(60, 12)
    often = coded(np.repeat(rows, 5, axis=0), np.repeat(labels, 5))
    expected = relaxed_scores(often, 4)
    compare_a_hundred_rows(monkeypatch)
    assert relaxed_scores(often, 4) == pytest.approx(expected, abs=1e-12)


@pytest.mark.parametrize("n", [5, 3])
def test_numbers_are_scored_by_the_mean_over_their_bins_and_coarser_ones(n):
    rng = np.random.default_rng(5)
    codes = np.column_stack([rng.integers(0, n, (80, 4)), rng.integers(0, 2, (80, 2))])
    rows = coded(codes, (codes[:, 0] > n // 2) ^ codes[:, 4].astype(bool))
    n_bins = np.array([n, n, n, n, 0, 0])
    single = [relaxed_scores(table, 3) for table in (rows, coarser(rows, n_bins, 3), coarser(rows, n_bins, 2))]
    mean = relaxed_scores(rows, 3, n_bins=n_bins)
    np.testing.assert_allclose(mean, np.mean(single, axis=0), atol=1e-6)
    assert not np.allclose(mean, single[0], atol=1e-3)


def test_weights_begin_to_fall_beyond_the_nearest_pairs_however_few_these_are():
    assert distance_weight(np.array([9.0, 0.0, 1.0, 4.0, 4.0]), 0.5).tolist() == [1, 1, 1, 0.5, 0.25]
    assert distance_weight(np.array([0.0, 3.0, 1.0]), 0.5).tolist() == [1, 1, 0.5]
    assert distance_weight(np.array([5.0, 0.0]), 0.5).tolist() == [1, 1]


# ---------------------------------------------------------------- fewer bins


FIVE_BINS = np.array([5, 0])


def binned(column, other=None):
    """One column of five bins beside one of categories."""
    other = np.arange(len(column)) % 2 if other is None else other
    return coded(np.column_stack([column, other]), np.arange(len(column)) % 2)


def test_neighbouring_bins_are_merged_to_about_equal_sizes_and_categories_stay():
    rows = binned(np.repeat([0, 1, 2, 3, 4], 20))
    merged = coarser(rows, FIVE_BINS, 2)
    assert np.unique(np.column_stack([rows.codes[:, 0], merged.codes[:, 0]]), axis=0).tolist() == [
        [0, 0],
        [1, 0],
        [2, 1],
        [3, 1],
        [4, 1],
    ]
    assert merged.codes[:, 1].tolist() == rows.codes[:, 1].tolist()
    assert merged.n_values.tolist() == [2, 2]
    assert rows.codes[:, 0].max() == 4  # the table itself is left alone


def test_missing_cells_are_never_merged_with_a_bin():
    rows = binned(np.repeat([0, 1, 2, 3, 4, 5], 10))  # the last code is missing
    merged = coarser(rows, FIVE_BINS, 3)
    missing = merged.codes[rows.codes[:, 0] == 5, 0]
    assert set(missing.tolist()) == {3}
    assert (merged.codes[rows.codes[:, 0] < 5, 0] < 3).all()
    assert merged.n_values[0] == 4


def test_a_bin_with_most_rows_keeps_them_apart_from_the_others_where_it_can():
    rows = binned(np.repeat([0, 1, 2, 3, 4], [92, 2, 2, 2, 2]))
    merged = coarser(rows, FIVE_BINS, 2).codes[:, 0]
    assert set(merged[:92].tolist()) == {0}
    assert set(merged[92:].tolist()) == {1}


def test_weights_count_as_rows():
    column, weights = np.array([0, 1, 2, 3, 4, 0]), np.array([5, 1, 3, 2, 7, 1])
    weighted = binned(column).weighted(weights)
    repeated = binned(np.repeat(column, weights), np.repeat(np.arange(6) % 2, weights))
    assert (
        np.repeat(coarser(weighted, FIVE_BINS, 3).codes, weights, axis=0).tolist()
        == coarser(repeated, FIVE_BINS, 3).codes.tolist()
    )
