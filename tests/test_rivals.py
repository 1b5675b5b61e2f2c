"""Each method against its definition."""

from collections import Counter
from math import log

import numpy as np
import pytest
from conftest import random_table
from scipy.stats import chi2_contingency
from sklearn.ensemble import RandomForestClassifier
from sklearn.metrics import mutual_info_score
from sklearn.metrics.cluster import contingency_matrix

from analogical import InputError, MissingDependencyError, ari_score, relevance
from analogical.paper import protocol, sample
from analogical.paper.protocol import distance_to_nearest_miss
from analogical.rivals import (
    BLOCK,
    MAX_PICKS,
    METHODS,
    Method,
    choose_methods,
    greedy_order,
    one_hot,
    paper_index,
)

RNG = np.random.default_rng(0)


def tables(n=12):
    rng = np.random.default_rng(11)
    return [random_table(rng, n_rows=25, n_features=4, n_values=3) for _ in range(n)]


def test_ari_is_the_library_s_index():
    for codes, labels in tables():
        result = relevance(codes, labels, given="all")
        np.testing.assert_array_equal(METHODS["ari"](codes, labels, RNG), ari_score(codes, labels))
        np.testing.assert_array_equal(paper_index(codes, labels), result.ari)


def test_paper_index_takes_a_single_class():
    codes, labels = np.array([[0, 0], [0, 1], [1, 1]]), np.zeros(3, dtype=int)
    assert paper_index(codes, labels).tolist() == METHODS["ari"](codes, labels, RNG).tolist() == [0, 0]


def test_a_feature_without_pairs_has_index_two_and_no_score():
    codes, labels = np.array([[0, 7, 0], [0, 7, 1], [1, 7, 2]]), np.array([0, 1, 1])
    assert paper_index(codes, labels).tolist() == [2, 0, 1]
    np.testing.assert_array_equal(METHODS["ari"](codes, labels, RNG), [np.nan, np.nan, 1])


def test_chi2_is_pearson_s():
    for codes, labels in tables():
        scores = METHODS["chi2"](codes, labels, RNG)
        for column, score in zip(codes.T, scores, strict=True):
            table = np.array([[np.sum((column == v) & (labels == c)) for c in set(labels)] for v in set(column)])
            expected = chi2_contingency(table, correction=False).statistic if len(table) > 1 else 0
            assert score == pytest.approx(expected)


def test_mutual_information_is_that_of_categories():
    for codes, labels in tables():
        expected = [mutual_info_score(labels, column) for column in codes.T]
        np.testing.assert_allclose(METHODS["mi"](codes, labels, RNG), expected, atol=1e-12)


def naive_information(values, labels, given=None):
    """I(values; labels | given) by dictionaries: sum of p(v, l, g) log(p(v, l, g) p(g) / (p(v, g) p(l, g)))."""
    given = [0] * len(labels) if given is None else given
    rows = list(zip(values, labels, given, strict=True))
    cells, of_value, of_label, of_given = (
        Counter(part(row) for row in rows)
        for part in (lambda r: r, lambda r: (r[0], r[2]), lambda r: (r[1], r[2]), lambda r: r[2])
    )
    return sum(
        size / len(rows) * log(size * of_given[g] / (of_value[v, g] * of_label[c, g]))
        for (v, c, g), size in cells.items()
    )


def naive_order(codes, labels, criterion):
    """The features one after the other, by the textbook form of the criterion; the earlier column where equal."""
    columns, y, chosen = [column.tolist() for column in codes.T], labels.tolist(), []

    def value(f):
        if not chosen:
            return naive_information(columns[f], y)
        if criterion == "jmi":
            return sum(naive_information(list(zip(columns[f], columns[s], strict=True)), y) for s in chosen)
        return min(naive_information(columns[f], y, columns[s]) for s in chosen)

    while len(chosen) < len(columns):
        left = [f for f in range(len(columns)) if f not in chosen]
        best = max(value(f) for f in left)
        chosen.append(next(f for f in left if value(f) > best - 1e-9))
    return tuple(chosen)


GREEDY = ["jmi", "cmim"]


@pytest.mark.parametrize("criterion", GREEDY)
def test_greedy_order_is_the_textbook_s(criterion):
    wide = [random_table(np.random.default_rng(seed), n_rows=40, n_features=7, n_values=3) for seed in range(4)]
    for codes, labels in [*tables(), *wide]:
        expected = naive_order(codes, labels, criterion)
        for k in (1, 3, codes.shape[1]):
            assert greedy_order(codes, labels, k, criterion) == expected[:k]
        scores = METHODS[criterion](codes, labels, RNG)
        assert scores[list(expected)].tolist() == list(range(len(expected), 0, -1))


def test_information_is_that_of_a_loop_over_rows():
    for codes, labels in tables():
        found = METHODS["mi"](codes, labels, RNG)
        expected = [naive_information(column.tolist(), labels.tolist()) for column in codes.T]
        np.testing.assert_allclose(found, expected, atol=1e-12)


def test_copy_comes_last_in_cmim_and_the_partner_of_an_interaction_first():
    rows = np.array([(a, a, b, c) for a in range(2) for b in range(2) for c in range(2)] * 2)
    labels = rows[:, 0] ^ rows[:, 2]
    assert greedy_order(rows, labels, 4, "cmim") == (0, 2, 1, 3)
    assert greedy_order(rows, labels, 2, "jmi") == (0, 2)
    assert greedy_order(np.fliplr(rows), np.flipud(labels), 9, "jmi") == naive_order(
        np.fliplr(rows), np.flipud(labels), "jmi"
    )


@pytest.mark.parametrize("criterion", GREEDY)
def test_greedy_order_depends_on_neither_rows_nor_names(criterion):
    for seed, (codes, labels) in enumerate(tables()):
        rng = np.random.default_rng(seed)
        expected, shuffled = greedy_order(codes, labels, 4, criterion), rng.permutation(len(codes))
        assert greedy_order(codes[shuffled], labels[shuffled], 4, criterion) == expected
        renamed = np.column_stack([rng.permutation(50)[column] for column in codes.T])
        assert greedy_order(renamed, rng.permutation(9)[labels], 4, criterion) == expected


@pytest.mark.parametrize("criterion", GREEDY)
def test_weights_are_repeated_rows_in_greedy_order(criterion):
    for seed, (codes, labels) in enumerate(tables()):
        weights = np.random.default_rng(seed).integers(0, 4, len(codes))
        repeated = np.repeat(np.arange(len(codes)), weights)
        np.testing.assert_array_equal(
            METHODS[criterion](codes, labels, RNG, weights), METHODS[criterion](codes[repeated], labels[repeated], RNG)
        )


@pytest.mark.parametrize("criterion", GREEDY)
def test_greedy_order_is_the_same_where_cells_are_sorted(criterion):
    rng = np.random.default_rng(3)
    codes, labels = rng.integers(0, 30, (80, 5)), rng.integers(0, 20, 80)  # 30 x 30 x 20 cells, 80 rows
    assert greedy_order(codes, labels, 5, criterion) == naive_order(codes, labels, criterion)


@pytest.mark.parametrize("criterion", GREEDY)
def test_features_beyond_the_picks_follow_by_the_criterion(criterion):
    codes, labels = random_table(np.random.default_rng(5), n_rows=60, n_features=MAX_PICKS + 5, n_values=3)
    scores = METHODS[criterion](codes, labels, RNG)
    picked = greedy_order(codes, labels, MAX_PICKS, criterion)
    assert np.argsort(-scores)[:MAX_PICKS].tolist() == list(picked)
    assert sorted(scores.tolist()) == list(range(1, MAX_PICKS + 6))
    information = METHODS["mi"](codes, labels, RNG)
    assert greedy_order(codes, labels, 1, criterion) == (int(np.argmax(information)),)


def test_forest_importance_is_scikit_learn_s_summed_over_indicators():
    codes, labels = sample("g1", 5, 3, 150, seed=1)
    scores = METHODS["forest"](codes, labels, np.random.default_rng(7))
    indicators = np.column_stack([column == value for column in codes.T for value in range(3)]).astype(float)
    seed = int(np.random.default_rng(7).integers(2**31))
    model = RandomForestClassifier(100, random_state=seed).fit(indicators, labels)
    np.testing.assert_allclose(scores, model.feature_importances_.reshape(5, 3).sum(axis=1))
    np.testing.assert_array_equal(METHODS["forest"](codes, labels, np.random.default_rng(7)), scores)
    assert METHODS["forest"](codes, np.zeros(150, int), RNG).tolist() == [0] * 5


def naive_relief(codes, labels):
    """Mean of (differs from the nearest misses) - (differs from the nearest hits), equally near ones averaged."""
    weights = np.zeros(codes.shape[1])
    for r, row in enumerate(codes):
        for sign, wanted in ((1, labels != labels[r]), (-1, labels == labels[r])):
            others = [o for o in range(len(codes)) if o != r and wanted[o]]
            if others:
                nearest = min((codes[o] != row).sum() for o in others)
                tied = [codes[o] != row for o in others if (codes[o] != row).sum() == nearest]
                agreed = 1 - np.mean(tied, axis=0)
                weights -= sign * agreed
    return weights / len(codes)


def test_relief_is_kira_and_rendell_s():
    for codes, labels in tables():
        np.testing.assert_allclose(METHODS["relief"](codes, labels, RNG), naive_relief(codes, labels), atol=1e-12)


def test_relief_does_not_depend_on_the_order_of_rows():
    X, y = sample("g8", 9, 3, BLOCK + 200, seed=1)  # other rows in each of the two blocks
    shuffled = np.random.default_rng(2).permutation(len(X))
    first, second = (METHODS["relief"](X[rows], y[rows], RNG) for rows in (np.arange(len(X)), shuffled))
    np.testing.assert_allclose(first, second)


def test_relieff_finds_the_exclusive_or():
    X, y = sample("g2", 6, 2, 60, seed=0)
    scores = METHODS["relieff"](X.astype(int), y.astype(int), RNG)
    assert set(np.argsort(scores)[-2:]) == {0, 1}
    assert scores[:2].min() > 0.3


def test_relieff_takes_many_classes():
    codes = np.random.default_rng(0).integers(0, 12, size=(120, 3))
    scores = METHODS["relieff"](codes, codes[:, 1], RNG)
    assert scores.argmax() == 1


def test_published_relief_is_the_distance_to_the_nearest_miss(monkeypatch):
    rng = np.random.default_rng(4)
    numbers = rng.normal(size=(30, 3))  # no ties, so that nothing is left to chance but the anchors
    labels = rng.integers(0, 2, size=30)
    weights = np.zeros(3)
    for row, label in zip(numbers, labels, strict=True):
        misses = [other for other, its in zip(numbers, labels, strict=True) if its != label]
        nearest = min(misses, key=lambda miss: abs(miss - row).sum())
        weights += abs(nearest - row) / 30
    np.testing.assert_array_equal(
        *(distance_to_nearest_miss(numbers, labels, np.random.default_rng(9)) for _ in range(2))
    )
    monkeypatch.setattr(protocol, "ANCHORS", 20_000)
    found = distance_to_nearest_miss(numbers, labels, np.random.default_rng(9))
    np.testing.assert_allclose(found, weights, atol=0.02)


def test_missing_library_is_named_with_the_install_line():
    method = Method("exotic", "Exotic", "", METHODS["ari"].score, package="no_such_library")
    with pytest.raises(
        MissingDependencyError,
        match=r"The method 'exotic' needs no_such_library, which is not installed\. Install it with:"
        r' pip install "analogical\[compare\]"',
    ):
        method(np.zeros((2, 1)), np.zeros(2), RNG)


def test_methods_are_chosen_by_name_and_once():
    assert [m.name for m in choose_methods(["mi", "ari", "mi"])] == ["mi", "ari"]
    assert [m.name for m in choose_methods()] == list(METHODS)
    with pytest.raises(
        InputError,
        match=r"There is no method 'gini'; choose from effect, ari, chi2, mi, jmi, cmim, forest, relief, rel",
    ):
        choose_methods(["ari", "gini"])
    with pytest.raises(InputError, match=r"No method was named; choose from effect"):
        choose_methods([])


def test_ours_needs_the_table():
    with pytest.raises(InputError, match="The method 'effect' needs the table, not its codes"):
        METHODS["effect"](np.zeros((2, 1), int), np.array([0, 1]), RNG)


def test_many_values_and_classes_give_the_statistics_of_the_libraries():
    rng = np.random.default_rng(3)
    codes, labels = rng.integers(0, 40, (60, 3)), rng.integers(0, 12, 60)  # 480 cells, 60 rows
    for column, chi2, mi in zip(codes.T, *(METHODS[name](codes, labels, RNG) for name in ("chi2", "mi")), strict=True):
        table = contingency_matrix(column, labels)
        assert chi2 == pytest.approx(chi2_contingency(table, correction=False).statistic)
        assert mi == pytest.approx(mutual_info_score(labels, column), abs=1e-12)


def test_a_single_class_has_no_chi2_and_no_information():
    codes, labels = np.array([[0, 1], [1, 1], [2, 0]]), np.zeros(3, int)
    assert np.isnan(METHODS["chi2"](codes, labels, RNG)).all()
    assert METHODS["mi"](codes, labels, RNG).tolist() == [0, 0]


def test_relief_of_ids_needs_no_column_for_each():
    """A value of one row agrees with nobody, so it says nothing."""
    ids = np.random.default_rng(0).permutation(50)
    codes, labels = np.column_stack([ids, ids % 2, ids % 3]), ids % 2
    np.testing.assert_allclose(METHODS["relief"](codes, labels, RNG), naive_relief(codes, labels), atol=1e-12)
    assert one_hot(codes, fewest=2)[0].shape == (50, 5)


def test_relieff_is_not_run_on_hundreds_of_classes(monkeypatch):
    codes = np.random.default_rng(0).integers(0, 3, (101, 2))
    assert np.isnan(METHODS["relieff"](codes, np.arange(101), RNG)).all()
