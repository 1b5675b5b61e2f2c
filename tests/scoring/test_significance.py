"""P-values from several tests, the pooled one against loops, and the correction for many features."""

import math
from itertools import combinations, product

import numpy as np
import pytest
from conftest import coded
from scipy.stats import chi2, false_discovery_control

from analogical import relevance
from analogical.counting.pairs import sum_contexts
from analogical.scoring import strata, summaries
from analogical.scoring.directions import quadratic_forms
from analogical.scoring.significance import adjust_for_features, combine, feature_p_values
from analogical.scoring.strata import strata_p_value
from analogical.scoring.summaries import summarise_contexts


def test_the_smallest_of_the_known_p_values_counts_as_often_as_there_are():
    assert combine([0.2, 0.01]) == 0.02
    assert combine([0.2, 0.01, 0.5]) == 0.03
    assert combine([math.nan, 0.01]) == 0.01
    assert combine([0.7, 0.8]) == 1.0
    assert math.isnan(combine([math.nan, math.nan]))
    assert math.isnan(combine([]))


@pytest.mark.parametrize("seed", range(5))
def test_adjusted_p_values_are_those_of_benjamini_and_hochberg(seed):
    p = np.random.default_rng(seed).random(9) ** 3
    p[3] = p[5]
    assert adjust_for_features(p) == pytest.approx(false_discovery_control(p))
    gaps = np.insert(p, [0, 4, 9], np.nan)
    adjusted = adjust_for_features(gaps)
    assert np.isnan(adjusted).tolist() == np.isnan(gaps).tolist()
    assert adjusted[~np.isnan(gaps)] == pytest.approx(false_discovery_control(p))


def test_unknown_p_values_alone_stay_unknown():
    assert np.isnan(adjust_for_features(np.full(3, np.nan))).all()


# ---------------------------------------------------------------- contexts that share a value of another feature


def pooled_p_value(rows, labels, feature, n_labels):
    """The test in loops for two values: Mantel and Haenszel's statistic within each value of the other feature.

    With more than two labels it is generalised; the covariance is inverted without the last label.
    """
    n = len(rows[0])
    contexts = {}
    for row, label in zip(rows, labels, strict=True):
        context = tuple(value for i, value in enumerate(row) if i != feature)
        contexts.setdefault(context, []).append((row, label))
    found = []
    for j in (i for i in range(n) if i != feature):
        deviations, covariances = {}, {}
        for members in contexts.values():
            size = len(members)
            is_first = [row[feature] == 0 for row, _ in members]
            share = [sum(label == c for _, label in members) / size for c in range(n_labels)]
            if len({row[feature] for row, _ in members}) < 2 or max(share) == 1:
                continue
            a = sum(is_first)
            stratum = members[0][0][j]
            u = [
                sum(first and label == c for first, (_, label) in zip(is_first, members, strict=True)) - a * share[c]
                for c in range(n_labels - 1)
            ]
            factor = a * (size - a) / (size - 1)
            v = [
                [factor * (share[c] * (c == e) - share[c] * share[e]) for e in range(n_labels - 1)]
                for c in range(n_labels - 1)
            ]
            deviations[stratum] = deviations.get(stratum, 0) + np.array(u)
            covariances[stratum] = covariances.get(stratum, 0) + np.array(v)
        statistic = sum(u @ np.linalg.solve(covariances[s], u) for s, u in deviations.items())
        found.append(chi2.sf(statistic, len(deviations) * (n_labels - 1)))
    return min(1.0, len(found) * min(found))


@pytest.mark.parametrize("n_labels", [2, 3])
@pytest.mark.parametrize("seed", range(5))
def test_pooled_p_value_is_that_of_the_loops(seed, n_labels):
    rng = np.random.default_rng(seed)
    rows, labels = rng.integers(0, [2, 3, 2, 2], size=(200, 4)), rng.integers(0, n_labels, size=200)
    table = coded(rows, labels)
    sizes = np.bincount(labels)
    for feature in (0, 2):
        expected = pooled_p_value(rows.tolist(), labels.tolist(), feature, n_labels)
        assert strata_p_value(table, feature, sizes) == pytest.approx(expected)


def test_pooled_test_sees_an_exclusive_or_without_repeated_rows():
    rng = np.random.default_rng(0)
    rows = np.array(list(product((0, 1), repeat=9)))[rng.permutation(512)[:400]]
    labels = (rows[:, 0] ^ rows[:, 1]) ^ (rng.random(400) < 0.1)
    p_values = [strata_p_value(coded(rows, labels), i, np.bincount(labels)) for i in range(9)]
    assert max(p_values[:2]) < 1e-6
    assert min(p_values[2:]) > 0.02
    assert np.isnan(relevance(rows, labels, radius=1).noise_rate).all()


@pytest.mark.parametrize(
    ("rows", "labels"),
    [
        ([(0, 0), (1, 0), (0, 1), (1, 1)], [0, 0, 0, 1]),  # one context tells
        ([(0, 0), (1, 0), (0, 1), (1, 1)], [0, 1, 1, 0]),  # strata with a variance of 1/4 each
    ],
)
def test_too_little_tells_nothing_pooled(rows, labels):
    assert math.isnan(strata_p_value(coded(rows, labels), 0, np.bincount(labels)))


def test_strata_need_a_variance_of_one(monkeypatch):
    """Pairs with different labels have a variance of 1/4 each: five of them tell, four do not."""

    def found(n):
        rows = [(value, stratum, number) for value in (0, 1) for stratum in (0, 1) for number in range(n)]
        labels = [value ^ stratum for value, stratum, _ in rows]
        return strata_p_value(coded(rows, labels).select([0, 1, 2]), 0, np.bincount(labels))

    assert math.isnan(found(4))
    # all five pairs of a stratum go one way: (5/2)^2 / (5/4) in each of two; feature 2 has strata of two pairs only
    assert found(5) == pytest.approx(chi2.sf(10, 2))
    monkeypatch.setattr(strata, "ENOUGH", 0.1)
    assert found(4) == pytest.approx(min(1.0, 2 * chi2.sf(8, 2)))


def test_four_values_or_labels_are_told_apart_and_the_rarest_of_more_taken_together():
    rng = np.random.default_rng(5)
    rows = rng.integers(0, [2, 2, 3], size=(300, 3))
    for n_labels, is_merged in ((5, True), (4, False)):
        labels = rng.choice(n_labels, size=300, p=np.arange(n_labels, 0, -1) / sum(range(n_labels + 1)))
        merged = np.minimum(labels, n_labels - 2)
        assert np.argsort(np.bincount(labels))[:2].tolist() == [n_labels - 1, n_labels - 2]
        for swap in (False, True):  # the second time labels are the values of the feature
            one, two = (
                coded(np.column_stack([other, rows[:, 1:]]), rows[:, 0]) if swap else coded(rows, other)
                for other in (labels, merged)
            )
            found = [strata_p_value(table, 0, np.bincount(table.labels)) for table in (one, two)]
            assert (found[0] == pytest.approx(found[1])) == is_merged


def test_constant_features_are_not_tried():
    rng = np.random.default_rng(3)
    rows, labels = rng.integers(0, 2, size=(150, 3)), rng.integers(0, 2, size=150)
    wider = np.hstack([rows, np.zeros((150, 1), int)])
    sizes = np.bincount(labels)
    assert strata_p_value(coded(wider, labels), 0, sizes) == strata_p_value(coded(rows, labels), 0, sizes)


@pytest.mark.parametrize("seed", range(3))
def test_a_weight_is_so_many_rows(seed):
    rng = np.random.default_rng(seed)
    rows, labels = rng.integers(0, 3, size=(60, 3)), rng.integers(0, 3, size=60)
    weights = rng.integers(1, 4, size=60)
    one = coded(rows, labels, weights)
    two = coded(np.repeat(rows, weights, axis=0), np.repeat(labels, weights))
    for feature in range(3):
        expected = strata_p_value(two, feature, np.bincount(two.labels))
        assert strata_p_value(one, feature, np.bincount(two.labels)) == pytest.approx(expected)


# ---------------------------------------------------------------- one p-value per feature


def summaries_of(table):
    return sum_contexts(table, summarise_contexts(table)).summaries


@pytest.mark.parametrize("seed", range(4))
def test_a_feature_has_the_combination_of_its_tests(seed):
    rng = np.random.default_rng(seed)
    table = coded(rng.integers(0, 2, size=(150, 3)), rng.integers(0, 2, size=150))
    found = summaries_of(table)
    p_values = feature_p_values(table, found)
    sizes = np.bincount(table.labels)
    for i, summary in enumerate(found):
        assert p_values[i] == pytest.approx(combine([*summary.p_values(), strata_p_value(table, i, sizes)]))


def test_features_without_pairs_have_no_p_value():
    table = coded([(0, 0), (1, 1), (2, 2)], [0, 1, 0])
    assert np.isnan(feature_p_values(table, summaries_of(table))).all()


def test_labels_that_never_differ_in_a_context_have_no_p_value():
    table = coded([(0, 0), (1, 0), (0, 1), (1, 1)], [0, 0, 1, 1])
    p_values = feature_p_values(table, summaries_of(table))
    assert math.isnan(p_values[0])
    assert p_values[1] == pytest.approx(0.5)  # two contexts: half of the four deals are as far


def smallest_possible(n_pairs):
    """Both-sided p-value of so many changed pairs, each of its own context, that all go one way."""
    return 2 * 0.5**n_pairs


@pytest.mark.parametrize("n_pairs", [1, 2, 3, 5, 8])
def test_no_p_value_lies_below_the_smallest_possible(n_pairs):
    rows = [(value, context) for context in range(n_pairs) for value in (0, 1)]
    labels = [value for value, _ in rows]
    p = relevance(rows, labels, radius=1).p_value[0]
    assert p >= smallest_possible(n_pairs) - 1e-12


def test_no_deal_of_a_tiny_table_is_less_likely_than_its_p_value():
    """All twenty ways to give three of six rows one label: no p-value lies below 2 of 20."""
    rows = [(0,)] * 3 + [(1,)] * 3
    for chosen in combinations(range(6), 3):
        p = relevance(rows, [int(r in chosen) for r in range(6)], radius=1).p_value[0]
        assert p >= 2 / 20 - 1e-12


def test_p_values_of_few_rows_are_exact_and_of_many_approximate(monkeypatch):
    rows, labels = [(0,)] * 8 + [(1,)] * 8, [0] * 6 + [1] * 2 + [1] * 5 + [0] * 3
    table = coded(rows, labels)
    exact = summaries_of(table)[0]
    assert exact.few is not None
    monkeypatch.setattr(summaries, "FEW_ROWS", 15)
    rough = summaries_of(table)[0]
    assert rough.few is None
    assert rough.p_values() == (rough.deals.p_value(), rough.direction.p_value())
    assert exact.p_values() != rough.p_values()
    assert exact.p_values()[1] == pytest.approx(rough.p_values()[1], abs=0.2)


# ---------------------------------------------------------------- summaries


@pytest.mark.parametrize("seed", range(6))
def test_summaries_add_over_parts_that_share_no_context(seed):
    rng = np.random.default_rng(seed)
    rows, labels = rng.integers(0, [3, 2, 2], (40, 3)), rng.integers(0, 3, 40)
    table = coded(rows, labels)
    is_first = rows[:, 1] == 0
    whole, one, two = (summaries_of(part)[0] for part in (table, table.take(is_first), table.take(~is_first)))
    together = one + two
    assert together.effect.effect() == pytest.approx(whole.effect.effect())
    assert together.direction.deviation == pytest.approx(whole.direction.deviation)
    assert together.direction.covariance == pytest.approx(whole.direction.covariance)
    assert together.p_values() == pytest.approx(whole.p_values())
    assert (together.compared == whole.compared).all()
    assert together.n_told == pytest.approx(whole.n_told) == whole.effect.n_pairs / whole.profile.n_pairs
    assert sum(together.few[1]) == sum(whole.few[1])


def test_sums_of_many_rows_are_not_kept_as_tables(monkeypatch):
    rng = np.random.default_rng(0)
    rows, labels = rng.integers(0, 2, (60, 3)), rng.integers(0, 2, 60)
    table = coded(rows, labels)
    is_first = rows[:, 1] == 0
    monkeypatch.setattr(summaries, "FEW_ROWS", 45)
    one, two = (summaries_of(part)[0] for part in (table.take(is_first), table.take(~is_first)))
    assert one.few is not None
    assert two.few is not None
    assert (one + two).few is None
    assert (one + two + one).few is None


def test_strata_of_a_feature_are_taken_together(monkeypatch):
    """One set of eigenvalues for all strata of a feature, not one call for each of many."""
    calls = []

    def forms(deviations, covariances):
        calls.append(len(deviations))
        return quadratic_forms(deviations, covariances)

    monkeypatch.setattr(strata, "quadratic_forms", forms)
    rng = np.random.default_rng(0)
    rows, labels = np.column_stack([rng.integers(0, 2, 4000), np.arange(4000) // 40]), rng.integers(0, 2, 4000)
    assert 0 < strata_p_value(coded(rows, labels), 0, np.bincount(labels)) <= 1
    assert calls == [100]
