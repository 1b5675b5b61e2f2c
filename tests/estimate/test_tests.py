"""P-values from several tests, the pooled one against loops, and the correction for many features."""

import math
import sys
from dataclasses import replace
from itertools import combinations, product

import numpy as np
import pytest
from conftest import coded
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy.stats import chi2, false_discovery_control

from analogical import Study, relevance
from analogical.count.contexts import Stack
from analogical.count.given import RowContexts, count_given
from analogical.count.pairs import find_contexts
from analogical.estimate import tests as tests_module
from analogical.estimate.permutations import PValue, smallest_of
from analogical.estimate.tests import (
    Kinds,
    adjust_for_features,
    combine,
    p_values_of,
    pools_contexts,
    quadratic_forms,
    strata_p_values,
)


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


def slow_holm(p_values):
    """For each p-value the largest of those up to it, each times how many are not below it in order; at most 1."""
    order = sorted(range(len(p_values)), key=lambda i: p_values[i])
    times = [p_values[i] * (len(order) - place) for place, i in enumerate(order)]
    adjusted = [0.0] * len(order)
    for place, i in enumerate(order):
        adjusted[i] = min(1.0, max(times[: place + 1]))
    return adjusted


@pytest.mark.parametrize("seed", range(10))
def test_strictly_adjusted_p_values_are_those_of_holm_over_all_features(seed):
    rng = np.random.default_rng(seed)
    p, strictly = rng.random(9) ** 4, rng.random(9) < 0.5
    p[3] = p[5]
    by_share, holm = false_discovery_control(p), np.array(slow_holm(p.tolist()))
    expected = np.where(strictly, holm, by_share)
    assert (holm >= by_share - 1e-12).all()
    assert adjust_for_features(p, strictly) == pytest.approx(expected)
    assert adjust_for_features(p, np.ones(9, bool)) == pytest.approx(holm)
    assert adjust_for_features(p, np.zeros(9, bool)) == pytest.approx(by_share)
    places = [0, 4, 9]
    gaps, which = np.insert(p, places, np.nan), np.insert(strictly, places, [True, False, True])
    adjusted = adjust_for_features(gaps, which)
    assert np.isnan(adjusted).tolist() == np.isnan(gaps).tolist()
    assert adjusted[~np.isnan(gaps)] == pytest.approx(expected)


def test_a_single_significant_feature_is_strict_by_its_number():
    p = np.array([0.02, 0.9, 0.5, 0.001])
    strictly = np.array([True, False, False, False])
    assert adjust_for_features(p).tolist() == pytest.approx([0.04, 0.9, 2 / 3, 0.004])
    assert adjust_for_features(p, strictly).tolist() == pytest.approx([0.06, 0.9, 2 / 3, 0.004])


def test_unknown_p_values_alone_stay_unknown():
    unknown = np.full(3, np.nan)
    assert np.isnan(adjust_for_features(unknown)).all()
    assert np.isnan(adjust_for_features(unknown, np.ones(3, bool))).all()


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
        deviations, covariances, rooms = {}, {}, {}
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
            for c in range(n_labels):
                b = share[c] * size
                room = min(a * b / size - max(0, a + b - size), min(a, b) - a * b / size)
                rooms[stratum, c] = rooms.get((stratum, c), 0.0) + room
            covariances[stratum] = covariances.get(stratum, 0) + np.array(v)
        assert min(rooms.values()) >= 5
        statistic = sum(u @ np.linalg.solve(covariances[s], u) for s, u in deviations.items())
        found.append(chi2.sf(statistic, len(deviations) * (n_labels - 1)))
    return min(1.0, len(found) * min(found))


def stack_given_others(table, feature):
    """The contexts of a feature given all others, with their codes."""
    others = [j for j in range(table.n_features) if j != feature]
    ((_, stack),) = count_given(table, RowContexts.by(table, others), [feature], 1)
    return stack


def strata_p_value(table, feature):
    values, labels = Kinds.of(table.value_sizes(feature)), Kinds.of(table.label_sizes())
    return float(strata_p_values(stack_given_others(table, feature), [values], labels)[0])


@pytest.mark.parametrize("n_labels", [2, 3])
@pytest.mark.parametrize("seed", range(5))
def test_pooled_p_value_is_that_of_the_loops(seed, n_labels):
    rng = np.random.default_rng(seed)
    rows, labels = rng.integers(0, [2, 3, 2, 2], size=(400, 4)), rng.integers(0, n_labels, size=400)
    table = coded(rows, labels)
    for feature in (0, 2):
        expected = pooled_p_value(rows.tolist(), labels.tolist(), feature, n_labels)
        assert strata_p_value(table, feature) == pytest.approx(expected)


def test_pooled_test_sees_an_exclusive_or_without_repeated_rows():
    rng = np.random.default_rng(0)
    rows = np.array(list(product((0, 1), repeat=9)))[rng.permutation(512)[:400]]
    labels = (rows[:, 0] ^ rows[:, 1]) ^ (rng.random(400) < 0.1)
    p_values = [strata_p_value(coded(rows, labels), i) for i in range(9)]
    assert max(p_values[:2]) < 1e-6
    assert np.nanmin(p_values[2:]) > 0.02  # where labels hardly ever change in a context, no stratum has room
    assert np.isnan(relevance(rows, labels, given="all").noise_rate).all()


@pytest.mark.parametrize(
    ("rows", "labels"),
    [
        ([(0, 0), (1, 0), (0, 1), (1, 1)], [0, 0, 0, 1]),  # one context tells
        ([(0, 0), (1, 0), (0, 1), (1, 1)], [0, 1, 1, 0]),  # strata with a variance of 1/4 each
    ],
)
def test_too_little_tells_nothing_pooled(rows, labels):
    assert math.isnan(strata_p_value(coded(rows, labels), 0))


def test_strata_need_room():
    """Pairs with different labels have a room of 1/2 below and above: ten of them tell, nine do not."""

    def found(n):
        rows = [(value, stratum, number) for value in (0, 1) for stratum in (0, 1) for number in range(n)]
        labels = [value ^ stratum for value, stratum, _ in rows]
        return strata_p_value(coded(rows, labels), 0)

    assert math.isnan(found(9))
    # all ten pairs of a stratum go one way: 5^2 / (10/4) in each of two; feature 2 has strata of two pairs only
    assert found(10) == pytest.approx(chi2.sf(20, 2))


def test_a_stratum_with_a_rare_label_has_it_merged():
    """Three labels where the other feature is 0; where it is 1 the third has one row, and is merged with the second."""
    rng = np.random.default_rng(2)
    x, z = rng.integers(0, 2, 600), np.repeat([0, 1], 300)
    y = np.where(z == 0, rng.choice(3, 600, p=(0.5, 0.3, 0.2)), rng.choice(2, 600, p=(0.5, 0.5)))
    y[-1] = 2
    expected_statistic, freedom = 0.0, 0
    for stratum in (0, 1):
        table = np.zeros((2, 3))
        np.add.at(table, (x[z == stratum], y[z == stratum]), 1)
        if stratum:
            table = np.column_stack([table[:, 0], table[:, 1] + table[:, 2]])
        n = table.sum()
        e = table.sum(axis=1)[:, None] * table.sum(axis=0) / n
        expected_statistic += ((table - e) ** 2 / e).sum() * (n - 1) / n
        freedom += table.shape[1] - 1
    assert strata_p_value(coded(np.column_stack([x, z]), y), 0) == pytest.approx(chi2.sf(expected_statistic, freedom))


def test_with_more_than_ten_other_features_contexts_are_not_pooled():
    rng = np.random.default_rng(0)
    rows, labels = np.zeros((400, 12), int), rng.integers(0, 2, 400)
    rows[:, :3] = rng.integers(0, 2, (400, 3))
    for n_features, is_pooled in ((11, True), (12, False)):
        table = coded(rows[:, :n_features], labels)
        pooled = PValue(strata_p_value(table, 0))
        assert not math.isnan(pooled.p)
        tests = three_tests(table)
        expected = [smallest_of((*tests, *more)).p for more in ((), (pooled,))]
        assert expected[0] != pytest.approx(expected[1])
        found = Study(table.codes, labels).tested(0, range(1, n_features))
        assert found.p_value == pytest.approx(expected[is_pooled])
        assert pools_contexts(n_features) == is_pooled


def test_contexts_without_codes_are_not_pooled():
    rng = np.random.default_rng(0)
    table = coded(rng.integers(0, 2, (400, 3)), rng.integers(0, 2, 400))
    stack = replace(stack_given_others(table, 0), given=None)
    kinds = [Kinds.of(table.value_sizes(0))], Kinds.of(table.label_sizes())
    assert np.isnan(strata_p_values(stack, *kinds)).tolist() == [True]


@pytest.mark.parametrize("apart", [100, 1_000_000])
def test_rows_are_grouped_alike_by_a_table_by_sorting_and_by_numbers_of_groups(apart):
    """Values that lie far apart have more combinations than a table holds, or than one whole number does."""
    rng = np.random.default_rng(4)
    rows, labels = rng.integers(0, [3, 4, 3, 2, 2], size=(300, 5)), rng.integers(0, 3, size=300)
    weights = rng.integers(0, 3, size=300)
    expected = strata_p_value(coded(rows, labels, weights), 0)
    assert 0 < expected < 1
    assert strata_p_value(coded(rows * [1, apart, apart, apart, apart], labels, weights), 0) == pytest.approx(expected)


def test_eight_values_or_labels_are_told_apart_and_the_rarest_of_more_taken_together():
    rng = np.random.default_rng(5)
    rows = rng.integers(0, [2, 2, 3], size=(9000, 3))
    for n_labels, is_merged in ((9, True), (8, False)):
        labels = rng.choice(n_labels, size=9000, p=np.arange(n_labels, 0, -1) / sum(range(n_labels + 1)))
        merged = np.minimum(labels, n_labels - 2)
        assert np.argsort(np.bincount(labels))[:2].tolist() == [n_labels - 1, n_labels - 2]
        for swap in (False, True):  # the second time labels are the values of the feature
            one, two = (
                coded(np.column_stack([other, rows[:, 1:]]), rows[:, 0]) if swap else coded(rows, other)
                for other in (labels, merged)
            )
            found = [strata_p_value(table, 0) for table in (one, two)]
            assert (found[0] == pytest.approx(found[1])) == is_merged


def test_constant_features_are_not_tried():
    rng = np.random.default_rng(3)
    rows, labels = rng.integers(0, 2, size=(150, 3)), rng.integers(0, 2, size=150)
    wider = np.hstack([rows, np.zeros((150, 1), int)])
    assert strata_p_value(coded(wider, labels), 0) == strata_p_value(coded(rows, labels), 0)


@pytest.mark.parametrize("seed", range(3))
def test_a_weight_is_so_many_rows(seed):
    rng = np.random.default_rng(seed)
    rows, labels = rng.integers(0, 3, size=(150, 3)), rng.integers(0, 3, size=150)
    weights = rng.integers(1, 4, size=150)
    one = coded(rows, labels, weights)
    two = coded(np.repeat(rows, weights, axis=0), np.repeat(labels, weights))
    for feature in range(3):
        expected = strata_p_value(two, feature)
        assert strata_p_value(one, feature) == pytest.approx(expected)


# ---------------------------------------------------------------- one p-value per feature


def feature_p_values(table):
    """One p-value per feature, all others given; NaN without."""
    found = []
    for i in range(table.n_features):
        stack = stack_given_others(table, i)
        (tested,) = tests_module.test_stack(stack, [table.value_sizes(i)], table.label_sizes())
        found.append(math.nan if tested is None else tested.p_value)
    return np.array(found)


def three_tests(table, feature=0):
    """The p-values of the three tests that need no rows."""
    contexts = find_contexts(table, [feature])[feature]
    values, labels = Kinds.of(table.value_sizes(feature)), Kinds.of(table.label_sizes())
    return p_values_of(Stack.of([contexts]), [values], labels)[0]


@pytest.mark.parametrize("seed", range(4))
def test_a_feature_has_the_combination_of_its_tests(seed):
    rng = np.random.default_rng(seed)
    table = coded(rng.integers(0, 2, size=(150, 3)), rng.integers(0, 2, size=150))
    p_values = feature_p_values(table)
    for i in range(3):
        tests = [*three_tests(table, i), PValue(strata_p_value(table, i))]
        assert sum(not math.isnan(one.p) for one in tests) == 3
        assert p_values[i] == pytest.approx(smallest_of(tests).p)


def test_features_without_pairs_have_no_p_value():
    table = coded([(0, 0), (1, 1), (2, 2)], [0, 1, 0])
    assert np.isnan(feature_p_values(table)).all()


def test_labels_that_never_differ_in_a_context_have_no_p_value():
    table = coded([(0, 0), (1, 0), (0, 1), (1, 1)], [0, 0, 1, 1])
    p_values = feature_p_values(table)
    assert math.isnan(p_values[0])
    assert p_values[1] == pytest.approx(0.5)  # two contexts: half of the four deals are as far


def smallest_possible(n_pairs):
    """Both-sided p-value of so many changed pairs, each of its own context, that all go one way."""
    return 2 * 0.5**n_pairs


@pytest.mark.parametrize("n_pairs", [1, 2, 3, 5, 8])
def test_no_p_value_lies_below_the_smallest_possible(n_pairs):
    rows = [(value, context) for context in range(n_pairs) for value in (0, 1)]
    labels = [value for value, _ in rows]
    p = relevance(rows, labels, given="all").p_value[0]
    assert p >= smallest_possible(n_pairs) - 1e-12


def test_no_deal_of_a_tiny_table_is_less_likely_than_its_p_value():
    """All twenty ways to give three of six rows one label: no p-value lies below 2 of 20."""
    rows = [(0,)] * 3 + [(1,)] * 3
    for chosen in combinations(range(6), 3):
        p = relevance(rows, [int(r in chosen) for r in range(6)], given="all").p_value[0]
        assert p >= 2 / 20 - 1e-12


@pytest.mark.parametrize(("n_ones", "expected"), [(997, 997 / 2000), (998, 998 / 2000), (20, 0.01), (1000, 1.0)])
def test_a_single_row_of_a_value_has_the_chance_of_its_label(n_ones, expected):
    rows, labels = [("b",)] + [("a",)] * 1999, [1] * n_ones + [0] * (2000 - n_ones)
    assert relevance(rows, labels, given="all").p_value[0] == pytest.approx(expected)


RARE = {
    "a single row, 50 classes": (lambda rng: (few_rows([1], 2000), rng.integers(0, 50, 2000))),
    "seven values of .3 %, seven classes of 1 %": (lambda rng: (drawn(rng, 1000, 0.003), drawn(rng, 1000, 0.01))),
    "five values of two rows, label of 3 %": (lambda rng: (few_rows([2] * 5, 2000), rng.random(2000) < 0.03)),
    "20 single rows, label of 10 %": (lambda rng: (few_rows([1] * 20, 2000), rng.random(2000) < 0.1)),
    "20 single rows, label of 3 %": (lambda rng: (few_rows([1] * 20, 2000), rng.random(2000) < 0.03)),
    "a single row, label of 16 %": (lambda rng: (few_rows([1], 2000), rng.random(2000) < 0.16)),
    "a single row, label of 10 %": (lambda rng: (few_rows([1], 2000), rng.random(2000) < 0.1)),
}


def few_rows(sizes, n):
    """A value that nearly all rows have, and others of the given sizes."""
    return np.repeat(np.arange(len(sizes) + 1), [n - sum(sizes), *sizes])


def drawn(rng, n, share):
    """Eight values, seven of them rare."""
    return rng.choice(8, size=n, p=[1 - 7 * share] + [share] * 7)


@pytest.mark.parametrize("setting", RARE)
def test_rare_values_and_labels_are_rarely_significant_by_chance(setting):
    """150 tables of each; many more are in benchmarks/coverage. The limit is three standard errors above .05."""
    rng = np.random.default_rng(23)
    p_values = []
    for _ in range(150):
        values, labels = RARE[setting](rng)
        table = coded(values[:, None], labels)
        p_values.append(feature_p_values(table)[0])
    assert min(p_values) > 0
    assert np.mean(np.array(p_values) <= 0.05) <= 0.05 + 3 * (0.05 * 0.95 / 150) ** 0.5
    assert np.mean(np.array(p_values) <= 0.01) <= 0.01 + 3 * (0.01 * 0.99 / 150) ** 0.5


def test_no_p_value_is_zero():
    values = np.repeat([0, 1], 100_000)
    table = coded(values[:, None], values)
    assert feature_p_values(table)[0] == sys.float_info.min


def test_in_one_context_a_difference_is_not_tested_twice():
    rng = np.random.default_rng(0)
    values, labels = rng.integers(0, 3, 200), rng.integers(0, 2, 200)
    one = three_tests(coded(values[:, None], labels))
    assert [math.isnan(found.p) for found in one] == [True, False, True]
    two = three_tests(coded(np.column_stack([values, np.arange(200) % 2]), labels))
    assert [math.isnan(found.p) for found in two] == [False, False, True]
    values[:3] = 3  # a rare value is merged, so the test in any direction sees more
    rare = three_tests(coded(values[:, None], labels))
    assert [math.isnan(found.p) for found in rare] == [False, False, False]


# ---------------------------------------------------------------- what must not change a p-value


def p_of(rows, labels, weights=None, feature=0):
    table = coded(rows, labels, weights)
    return feature_p_values(table)[feature]


@st.composite
def tables(draw):
    """Tables with rare values, ties and contexts of all sizes."""
    rng = np.random.default_rng(draw(st.integers(0, 10_000)))
    n = draw(st.sampled_from([8, 30, 120, 400]))
    n_values, n_labels = draw(st.sampled_from([2, 3, 5, 12])), draw(st.sampled_from([2, 3, 10]))
    steep = draw(st.sampled_from([0.0, 0.5, 1.5]))
    columns = [
        rng.choice(k, size=n, p=np.exp(-steep * np.arange(k)) / np.exp(-steep * np.arange(k)).sum())
        for k in (n_values, draw(st.sampled_from([1, 2, 4])), draw(st.sampled_from([1, 3])), n_labels)
    ]
    return np.column_stack(columns[:3]), columns[3], rng


@settings(max_examples=60)
@given(tables())
def test_numbering_and_order_do_not_change_p(table):
    rows, labels, rng = table
    expected = p_of(rows, labels)
    renamed = np.column_stack([rng.permutation(int(column.max()) + 1)[column] for column in rows.T])
    relabelled = rng.permutation(int(labels.max()) + 1)[labels]
    order = rng.permutation(len(rows))
    for other in (
        p_of(renamed, labels),
        p_of(rows, relabelled),
        p_of(rows[order], labels[order]),
        p_of(rows[:, [0, 2, 1]], labels),
        p_of(rows[:, [2, 1, 0]], labels, feature=2),
    ):
        assert other == pytest.approx(expected, rel=1e-6, nan_ok=True)


@settings(max_examples=40)
@given(tables())
def test_a_weight_is_so_many_rows_for_p(table):
    rows, labels, rng = table
    weights = rng.integers(0, 4, len(rows))
    weights[labels.argmax()], weights[rows[:, 0].argmax()] = 1, 1
    expected = p_of(np.repeat(rows, weights, axis=0), np.repeat(labels, weights))
    assert p_of(rows, labels, weights) == pytest.approx(expected, rel=1e-6, nan_ok=True)


# ---------------------------------------------------------------- summaries


def test_strata_of_a_feature_are_taken_together(monkeypatch):
    """One set of eigenvalues for all strata of a feature, not one call for each of many."""
    calls = []

    def forms(deviations, covariances):
        calls.append(len(deviations))
        return quadratic_forms(deviations, covariances)

    monkeypatch.setattr(tests_module, "quadratic_forms", forms)
    rng = np.random.default_rng(0)
    rows, labels = np.column_stack([rng.integers(0, 2, 8000), np.arange(8000) // 80]), rng.integers(0, 2, 8000)
    assert 0 < strata_p_value(coded(rows, labels), 0) <= 1
    assert calls == [100]
