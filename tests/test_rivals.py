"""Each method against its definition."""

import numpy as np
import pytest
from conftest import random_table
from scipy.stats import chi2_contingency, f_oneway
from sklearn.ensemble import RandomForestClassifier, RandomForestRegressor
from sklearn.feature_selection import mutual_info_regression
from sklearn.metrics import mutual_info_score
from sklearn.metrics.cluster import contingency_matrix

from analogical import InputError, MissingDependencyError, ari_score, relevance
from analogical.paper import sample
from analogical.paper.tables import distance_to_nearest_miss
from analogical.rivals import (
    METHODS,
    METHODS_OF_NUMBERS,
    Method,
    choose_methods,
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


def test_forest_importance_is_scikit_learn_s_summed_over_indicators():
    codes, labels = sample("g1", 5, 3, 150, seed=1)
    scores = METHODS["forest"](codes, labels, np.random.default_rng(7))
    indicators = np.column_stack([column == value for column in codes.T for value in range(3)]).astype(float)
    seed = int(np.random.default_rng(7).integers(2**31))
    model = RandomForestClassifier(100, random_state=seed).fit(indicators, labels)
    np.testing.assert_allclose(scores, model.feature_importances_.reshape(5, 3).sum(axis=1))
    np.testing.assert_array_equal(METHODS["forest"](codes, labels, np.random.default_rng(7)), scores)
    assert METHODS["forest"](codes, np.zeros(150, int), RNG).tolist() == [0] * 5


def test_permutation_importance_is_what_a_forest_loses_on_held_out_rows():
    codes, labels = sample("g1", 5, 3, 240, seed=1)
    scores = METHODS["permutation"](codes, labels, np.random.default_rng(7))
    np.testing.assert_array_equal(METHODS["permutation"](codes, labels, np.random.default_rng(7)), scores)
    assert scores[:3].min() > 0.1 > 0.06 > abs(scores[3:]).max()
    assert METHODS["permutation"](codes, np.zeros(240, int), RNG).tolist() == [0] * 5
    assert np.isnan(METHODS["permutation"](codes[:1], labels[:1], RNG)).all()


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
    X, y = sample("g8", 9, 3, 1_200, seed=1)  # other rows in each of the two blocks
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


def test_published_relief_is_the_distance_to_the_nearest_miss():
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
    found = distance_to_nearest_miss(numbers, labels, np.random.default_rng(9), n_anchors=20_000)
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
        match=r"There is no method 'gini'; choose from effect, ari, chi2, mi, forest, permutation, relief, rel",
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


# ---------------------------------------------------------------- labels that are numbers


def of_numbers(name, codes, numbers, seed=7, **options):
    return METHODS_OF_NUMBERS[name](codes, numbers, np.random.default_rng(seed), **options)


def test_f_is_that_of_one_way_analysis_of_variance():
    rng = np.random.default_rng(0)
    for codes, labels in tables():
        numbers = 1e6 + labels + rng.normal(size=len(codes))
        scores = of_numbers("f", codes, numbers)
        for column, score in zip(codes.T, scores, strict=True):
            groups = [numbers[column == value] for value in set(column)]
            assert score == pytest.approx(f_oneway(*groups).statistic if len(groups) > 1 else 0, rel=1e-6)
        times = rng.integers(1, 4, len(codes))
        repeated = of_numbers("f", np.repeat(codes, times, axis=0), np.repeat(numbers, times))
        np.testing.assert_allclose(of_numbers("f", codes, numbers, weights=times), repeated, rtol=1e-9)


def test_f_of_a_constant_is_0_of_ids_unknown_and_of_what_determines_the_label_finite():
    ids, same, half = np.arange(8), np.zeros(8, int), np.arange(8) % 2
    scores = of_numbers("f", np.column_stack([ids, same, half]), half.astype(float))
    assert np.isnan(scores[0])
    assert scores[1] == 0
    assert 1e9 < scores[2] < np.inf
    assert of_numbers("f", half[:, None], np.full(8, 2.5)).tolist() == [0]


def test_other_methods_of_numbers_are_those_of_the_libraries():
    codes, labels = sample("g1", 5, 3, 240, seed=1)
    numbers = labels + np.random.default_rng(0).normal(size=240)
    seed = int(np.random.default_rng(7).integers(2**31))
    expected = mutual_info_regression(codes, numbers, discrete_features=True, random_state=seed)
    np.testing.assert_array_equal(of_numbers("mi", codes, numbers), expected)
    indicators = np.column_stack([column == value for column in codes.T for value in range(3)]).astype(float)
    model = RandomForestRegressor(100, random_state=seed).fit(indicators, numbers)
    expected = model.feature_importances_.reshape(5, 3).sum(axis=1)
    np.testing.assert_allclose(of_numbers("forest", codes, numbers), expected)
    wanted = codes[:, 0] + 0.5 * np.random.default_rng(0).normal(size=240)
    for name in ("mi", "forest", "permutation", "relieff"):
        scores = of_numbers(name, codes, wanted)
        assert scores.argmax() == 0
        assert scores[0] > 4 * abs(scores[1:]).max()
        np.testing.assert_array_equal(scores, of_numbers(name, codes, wanted))


def test_relieff_of_a_number_finds_the_exclusive_or():
    X = np.random.default_rng(0).integers(0, 2, (300, 6))
    scores = of_numbers("relieff", X, (X[:, 1] ^ X[:, 4]) + np.random.default_rng(1).normal(0, 0.2, 300))
    assert set(np.argsort(-scores)[:2]) == {1, 4}


def test_methods_of_classes_are_not_those_of_numbers():
    assert [m.name for m in choose_methods(None, METHODS_OF_NUMBERS)] == list(METHODS_OF_NUMBERS)
    with pytest.raises(
        InputError, match=r"no method 'chi2' for a label that is a number; choose from effect, f, mi, forest, perm"
    ):
        choose_methods(["chi2"], METHODS_OF_NUMBERS)
