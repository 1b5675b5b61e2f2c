"""Beyond distance 1: which radius, which decay, and what they rest on, in numbers."""

import warnings
from dataclasses import replace
from itertools import product
from types import SimpleNamespace

import numpy as np
import pytest
from conftest import coded
from naive import naive_disagreements

from analogical import relevance
from analogical.counting.counts import PairCounts
from analogical.counting.neighbours import count_neighbours
from analogical.engines.memory import MemoryEngine
from analogical.scoring.attribution import ATTRIBUTIONS, noisy_or
from analogical.scoring.radius import choose_decay, choose_radius, distance_weight, score_within_radius


def score(rows, labels, *, engine=None, counts=None, **options):
    engine = engine or MemoryEngine()
    table = coded(rows, labels)
    return score_within_radius(engine, table, counts or engine.count_pairs(table), **options)


def xor_table(n_rows=500, n_features=30):
    rng = np.random.default_rng(4)
    rows = rng.integers(0, 3, (n_rows, n_features))
    return rows, ((rows[:, 0] > 0) ^ (rows[:, 1] > 0)).astype(int)


# ---------------------------------------------------------------- the constants


def reason_for(pairs, changed, n_rows):
    """Why a radius was chosen, from counts at distance 1 that are made up."""
    counts = PairCounts(np.array(pairs), np.array(changed), n_rows, n_rows, 0, 0)
    rows, labels = xor_table(30, 2)
    found = score(rows, labels, counts=counts)
    assert found.fewest_pairs == min(pairs)
    return found.reason


@pytest.mark.parametrize(
    ("pairs", "changed", "n_rows", "reason"),
    [
        ([100, 5000], [90, 10], 10**6, "enough-pairs"),
        ([99, 5000], [90, 10], 10**6, "few-pairs"),
        ([100, 5000], [90, 9], 10**6, "few-pairs"),
        ([100, 5000], [90, 10], 400, "enough-pairs"),
        ([10, 10], [5, 5], 40, "enough-pairs"),
        ([9, 10], [5, 5], 40, "few-pairs"),
        ([10, 10], [5, 4], 40, "few-pairs"),
        ([10, 10], [5, 5], 41, "few-pairs"),
        ([0, 0], [0, 0], 40, "no-pairs"),
        ([0, 500], [0, 0], 40, "none-changed"),
        ([0, 500], [0, 1], 40, "few-pairs"),
    ],
)
def test_a_hundred_pairs_or_a_quarter_of_the_rows_are_enough(pairs, changed, n_rows, reason):
    assert reason_for(pairs, changed, n_rows) == reason


def reason_with_noise(
    *, n_rows=100, told=(1500, 0), rows_told=40, rows_paired=40, identical=0, noisy=True, quiet=False
):
    """Why a radius was chosen if every feature has 100 pairs at distance 1, from contexts that are made up."""
    changed = np.array([1 if quiet else 2, 100])
    counts = PairCounts(np.array([100, 1000]), changed, n_rows, n_rows, identical, 1 if noisy else 0)
    summaries = [
        SimpleNamespace(
            profile=SimpleNamespace(n_paired_rows=rows),
            effect=SimpleNamespace(n_pairs=n_pairs, profile=SimpleNamespace(n_paired_rows=rows_of_effect)),
        )
        for rows, rows_of_effect, n_pairs in zip((n_rows, rows_paired), (n_rows, rows_told), told, strict=True)
    ]
    rows, labels = xor_table(30, 2)
    engine = MemoryEngine(max_compared=4_901)
    assert engine.rows_compared(2) == 100
    return score(rows, labels, engine=engine, counts=counts, summaries=summaries).reason


@pytest.mark.parametrize(
    ("case", "reason"),
    [
        ({"told": (1000, 500)}, "enough-pairs"),  # 1.5 * 100 ** 1.5
        ({"told": (1000, 499)}, "noisy-labels"),
        ({"n_rows": 400, "told": (1000, 500), "rows_told": 134}, "enough-pairs"),  # 100 rows are compared at most
        ({"n_rows": 400, "told": (1000, 499), "rows_told": 134}, "noisy-labels"),
        ({"rows_told": 34}, "enough-pairs"),
        ({"rows_told": 33}, "noisy-labels"),
        ({"rows_paired": 0}, "enough-pairs"),  # rows without repeats beside them tell nothing about noise
        ({"noisy": False, "told": (0, 0), "rows_told": 0, "rows_paired": 34}, "enough-pairs"),
        ({"noisy": False, "told": (0, 0), "rows_told": 0, "rows_paired": 33}, "noise-unknown"),
        ({"noisy": False, "rows_paired": 33, "identical": 99}, "noise-unknown"),
        ({"noisy": False, "rows_paired": 33, "identical": 100}, "enough-pairs"),
        ({"noisy": False, "rows_paired": 33, "quiet": True}, "enough-pairs"),
    ],
)
def test_noisy_labels_need_one_and_a_half_rows_to_the_power_of_one_and_a_half_and_a_third_of_the_rows(case, reason):
    assert reason_with_noise(**case) == reason


def noisy_table(n_rows, n_features, noise=0.2, seed=0):
    rng = np.random.default_rng(seed)
    rows = rng.integers(0, 2, (n_rows, n_features))
    return rows, rows[:, 0] ^ rows[:, 1] ^ (rng.random(n_rows) < noise)


def test_a_large_noisy_table_is_scored_beyond_distance_one_and_a_dense_one_by_its_effects():
    sparse = relevance(*noisy_table(1500, 9))
    assert sparse.pairs.min() > 1000
    assert (sparse.settings.reason, sparse.score_basis[0]) == ("noisy-labels", "pairs within the radius")
    dense = relevance(*noisy_table(1500, 3))
    assert (dense.settings.reason, dense.score_basis[0]) == ("enough-pairs", "effect")


def test_labels_said_to_have_no_noise_are_scored_by_the_index():
    rows, labels = noisy_table(1500, 9)
    free = relevance(rows, labels, noise_free=True)
    assert (free.settings.reason, free.settings.radius) == ("enough-pairs", 1)
    assert free.score.tolist() == free.ari.tolist()


def test_determined_features_do_not_make_noisy_labels_look_further():
    rows, labels = noisy_table(1500, 3)
    copied = relevance(np.column_stack([rows, rows[:, 2] * 7]), labels)
    assert (copied.settings.reason, copied.settings.radius) == ("enough-pairs", 1)


def test_resamples_are_scored_within_the_radius_of_the_table():
    """Rows without repeats repeat in a resample, which would then look as if its labels had no noise."""
    rng = np.random.default_rng(0)
    rows = np.unique(rng.integers(0, 3, (1100, 8)), axis=0)
    labels = (rows[:, 0] > 0) ^ (rng.random(len(rows)) < 0.3)
    result = relevance(rows, labels, bootstrap=5, confidence=0.9)
    assert (result.settings.reason, result.settings.radius > 1) == ("noise-unknown", True)
    assert (np.abs(result.score - result.score_low) < 0.1).all()
    assert (result.ari - result.score).min() > 0.1
    copied = relevance(np.column_stack([rows, rows[:, 7] * 5]), labels, confidence=None)
    assert copied.settings.reason == "noise-unknown"  # a copy has no pair, which does not show that labels are quiet


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
    found = score(rows, labels)
    assert found.reason in ("no-pairs", "few-pairs")
    assert effective_share(rows, found.decay) == pytest.approx(expected, rel=1e-6)


def test_rows_that_are_not_compared_do_not_steepen_the_decay():
    rows, labels = xor_table(400, 20)
    engine = MemoryEngine(max_compared=4_901)
    assert engine.rows_compared(20) == 100
    found = score(rows, labels, engine=engine)
    assert effective_share(rows, found.decay) == pytest.approx(0.6, rel=1e-6)


def test_auto_is_the_weighed_balanced_and_shrunk_fit():
    rows, labels = xor_table(150, 8)
    labels[:5] ^= 1
    table = coded(rows, labels)
    found = score(rows, labels)
    distances = MemoryEngine().count_distances(table)
    neighbours = count_neighbours(table, radius=found.radius)
    fit = noisy_or(neighbours, distance_weight(distances, found.decay), balanced=True)
    assert found.radius == choose_radius(distances, found.decay)
    assert (found.score == fit.score * fit.coverage / (fit.coverage + 0.01)).all()
    assert found.n_pairs_used == neighbours.n_pairs_used


def test_there_is_a_leak_exactly_if_identical_rows_differ_in_label():
    rng = np.random.default_rng(0)
    rows = rng.integers(0, 2, (60, 7))
    rows[30:33] = rows[0]
    labels = rows[:, 0] ^ (rng.random(60) < 0.2)
    labels[[0, 30]] = 0, 1
    table = coded(rows, labels)
    counts = MemoryEngine().count_pairs(table)
    assert counts.n_contradictions > 0
    noisy = score(rows, labels)
    clean = score(rows, labels, counts=PairCounts(**vars(counts) | {"n_contradictions": 0}))
    weight = distance_weight(MemoryEngine().count_distances(table), noisy.decay)
    neighbours = count_neighbours(table, radius=noisy.radius)
    for found, leak in ((noisy, True), (clean, False)):
        assert (found.score == ATTRIBUTIONS["noisy-or"](neighbours, weight, leak).score).all()
    assert (noisy.score < clean.score).all()


def weighted_table(seed):
    """A small table in which half of the rows are near others, with weights from 1 to 20."""
    rng = np.random.default_rng(seed)
    n_rows, n_features = int(rng.integers(5, 30)), int(rng.choice([4, 8, 30, 80]))
    rows = rng.integers(0, 3, (n_rows, n_features))
    labels = rng.integers(0, 2, n_rows) if seed % 2 else (rows[:, 0] > 0) ^ (rng.random(n_rows) < 0.2)
    labels[:2] = 0, 1
    return rows, labels, rng.integers(1, 21, n_rows)


NUMBERS = ("score", "score_low", "score_high", "score_std_error", "p_value", "pairs_within", "changed_within")


def assert_same_relaxed(one, other, columns=slice(None)):
    assert other.settings.radius == one.settings.radius
    assert other.settings.decay == pytest.approx(one.settings.decay, abs=1e-12)
    for name in NUMBERS:
        mine, theirs = getattr(one, name), getattr(other, name)
        if mine is not None or theirs is not None:
            assert theirs[columns] == pytest.approx(mine, rel=1e-7, abs=1e-9, nan_ok=True), name


@pytest.mark.parametrize("seed", range(12))
def test_rows_with_a_weight_score_like_the_rows_repeated_in_any_order(seed):
    rows, labels, weights = weighted_table(seed)
    names = [f"x{i}" for i in range(rows.shape[1])]
    one = relevance(rows, labels, weights=weights, feature_names=names)
    order = np.random.default_rng(seed).permutation(weights.sum())
    repeated = np.repeat(rows, weights, axis=0)[order], np.repeat(labels, weights)[order]
    other = relevance(*repeated, feature_names=names)
    assert_same_relaxed(one, other)
    assert one.settings.n_pairs_used == other.settings.n_pairs_used
    assert one.ranking() == other.ranking()


@pytest.mark.parametrize("seed", range(8))
def test_a_constant_feature_changes_no_other_one(seed):
    rows, labels, weights = weighted_table(seed)
    place = seed % (rows.shape[1] + 1)
    with_constant = relevance(np.insert(rows, place, 1, axis=1), labels, weights=weights)
    others = [i for i in range(rows.shape[1] + 1) if i != place]
    assert_same_relaxed(relevance(rows, labels, weights=weights), with_constant, others)
    assert np.isnan(with_constant.score[place])
    assert np.isnan(with_constant.p_value[place])
    assert with_constant.pairs_within[place] == 0


def test_a_repeated_table_is_sampled_only_if_its_distinct_rows_are_too_many():
    rows, labels = xor_table(60, 12)
    engine = MemoryEngine(max_compared=4_901)
    assert engine.rows_compared(12) == 100
    once, often = (score(np.repeat(rows, n, axis=0), np.repeat(labels, n), engine=engine) for n in (1, 5))
    assert not once.is_sampled
    assert not often.is_sampled
    assert often.n_pairs_used == 25 * once.n_pairs_used or often.radius != once.radius


# ---------------------------------------------------------------- the road


def test_auto_is_ari_on_a_whole_universe():
    rows = np.array(list(product([0, 1, 2], [0, 1, 2], [0, 1], [0, 1, 2], [0, 1, 2, 3], [0, 1])))
    labels = (rows[:, 0] == rows[:, 1]) | (rows[:, 4] == 0)
    counts = MemoryEngine().count_pairs(coded(rows, labels))
    found = score(rows, labels)
    assert (found.radius, found.reason, found.fewest_pairs, found.decay) == (1, "enough-pairs", 216, None)
    assert (found.score == counts.changed / counts.pairs).all()
    assert found.n_pairs_used == counts.pairs.sum()


def test_auto_is_ari_where_all_pairs_are_at_distance_one():
    rows, labels = [[0, 0], [1, 0], [2, 0], [0, 0], [1, 0]], [0, 1, 1, 0, 0]
    counts = MemoryEngine().count_pairs(coded(rows, labels))
    found = score(rows, labels, counts=PairCounts(**vars(counts) | {"n_rows": 1000}))
    assert (found.radius, found.reason) == (1, "nothing-further")
    assert found.score[0] == counts.changed[0] / counts.pairs[0] == 5 / 8
    assert np.isnan(found.score[1])


def test_distance_one_is_used_where_it_has_nearly_all_the_weight():
    rows, labels = [[0, 0]] * 30 + [[1, 0]] * 30 + [[0, 1]], [0, 1] * 30 + [1]
    found = score(rows, labels, counts=PairCounts(np.array([99, 99]), np.array([50, 15]), 10**6, 3, 870, 450))
    assert (found.radius, found.reason) == (1, "enough-weight")


def test_auto_is_ari_on_a_small_table_where_half_of_the_rows_have_partners():
    rows = np.array(list(product([0, 1], repeat=3)))
    found = score(rows, rows[:, 0] ^ rows[:, 2])
    assert (found.radius, found.score.tolist()) == (1, [1.0, 0.0, 1.0])


def test_a_table_without_variation_has_no_scores():
    found = score([[1, 1], [1, 1]], [0, 1])
    assert (found.reason, found.radius, found.fewest_pairs) == ("no-variation", 1, 0)
    assert np.isnan(found.score).all()


def test_auto_is_deterministic_and_finds_an_xor_without_pairs():
    rows, labels = xor_table()
    one, two = (score(rows, labels, engine=MemoryEngine(j, max_pairs=20_000), random_state=7) for j in (1, 2))
    assert (one.score == two.score).all()
    assert set(np.argsort(-one.score)[:2].tolist()) == {0, 1}
    assert one.is_sampled
    assert one.reason == "no-pairs"
    assert 1 < one.radius <= 30


def test_renaming_values_and_labels_changes_nothing():
    rows, labels = xor_table(200, 12)
    one, two = score(rows, labels), score((rows + 1) % 3, 1 - labels)
    assert one.score == pytest.approx(two.score, abs=1e-9)
    assert one.pairs.tolist() == two.pairs.tolist()


@pytest.mark.parametrize("attribution", ["noisy-or", "share"])
def test_a_fixed_radius_leaves_out_the_pairs_beyond_it(attribution):
    rows, labels = xor_table(120, 8)
    counts = MemoryEngine().count_pairs(coded(rows, labels))
    one = score(rows, labels, radius=1, attribution=attribution)
    assert (one.pairs.tolist(), one.reason) == (counts.pairs.tolist(), "asked")
    five = score(rows, labels, radius=5, attribution=attribution)
    assert (five.radius, five.reason) == (5, "asked")
    expected = naive_disagreements(rows.tolist(), labels.tolist(), 5)
    assert five.pairs.tolist() == [sum(p for d, (p, _) in expected.items() if i in d) for i in range(8)]
    assert five.changed.tolist() == [sum(c for d, (_, c) in expected.items() if i in d) for i in range(8)]
    assert five.n_pairs_used == sum(p for p, _ in expected.values())
    if attribution == "share":
        assert five.score.tolist() == (five.changed / five.pairs).tolist()


def test_a_fixed_radius_weighs_pairs_as_auto_does():
    rows, labels = xor_table(200, 12)
    auto = score(rows, labels)
    fixed = score(rows, labels, radius=auto.radius)
    assert (fixed.decay, fixed.radius) == (auto.decay, auto.radius)
    assert (fixed.score == auto.score).all()
    wider = score(rows, labels, radius=12)
    assert wider.decay == auto.decay
    assert (wider.score != auto.score).any()


def test_no_changed_pair_at_distance_one_is_the_reason_given():
    """Pairs at distance 1 keep the label; it changes only where two features change together."""
    rng = np.random.default_rng(0)
    kinds = rng.integers(0, 2, 300)
    rows = np.column_stack([kinds, kinds, rng.integers(0, 2, (300, 5))])
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        found = score(rows, kinds)
    assert (found.reason, found.fewest_pairs) == ("none-changed", 0)
    assert found.score[:2].min() > found.score[2:].max()


def test_numbers_are_scored_by_the_mean_over_their_bins_and_coarser_ones():
    rng = np.random.default_rng(5)
    codes = np.column_stack([rng.integers(0, 5, (80, 4)), rng.integers(0, 2, (80, 2))])
    rows = coded(codes, (codes[:, 0] > 2) ^ codes[:, 4].astype(bool))
    numbers = replace(rows, n_bins=np.array([5, 5, 5, 5, 0, 0]))

    def score(table):
        counts = MemoryEngine().count_pairs(table)
        return score_within_radius(MemoryEngine(), table, counts, radius=3)

    mean = score(numbers)
    single = [score(replace(table, n_bins=None)) for table in (numbers, numbers.coarser(3), numbers.coarser(2))]
    np.testing.assert_allclose(mean.score, np.mean([one.score for one in single], axis=0), atol=1e-6)
    assert not np.allclose(mean.score, single[0].score, atol=1e-3)
    assert (mean.coarser, single[0].coarser) == ((3, 2), ())
    assert (mean.pairs.tolist(), mean.n_pairs_used) == (single[0].pairs.tolist(), single[0].n_pairs_used)


def test_a_copy_of_a_column_does_not_make_the_score_look_further():
    rng = np.random.default_rng(2)
    codes = rng.integers(0, 2, (400, 4))
    labels = codes[:, 0] & codes[:, 1]
    plain = relevance(codes, labels)
    copied = relevance(np.column_stack([codes, codes[:, 3] * 7]), labels)
    assert (plain.settings.radius, copied.settings.radius) == (1, 1)
    assert copied.settings.reason == "enough-pairs"
    assert copied.status[3:] == ("no-pairs", "no-pairs")
    unknown = relevance(np.column_stack([codes, codes[:, 3] * 7]), labels, redundancies=False)
    assert unknown.settings.radius > 1
