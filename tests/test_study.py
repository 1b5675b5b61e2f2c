"""What rows must be equal on: contexts of the deciding set, copies, thin contexts, and what was given by name."""

import numpy as np
import pandas as pd
import pytest

from analogical import InputError, relevance, select
from analogical.estimate.significance import adjust_for_features
from analogical.study import Study
from analogical.table.encode import encode_table


def study_of(X, y, **options):
    return Study(encode_table(X, y), **options)


@pytest.fixture(scope="module")
def confounded():
    """The label depends on z and w; x is a noisy copy of z, u is noise, c a copy of w with other names."""
    rng = np.random.default_rng(0)
    z, w, u = (rng.integers(0, 3, 1500) for _ in range(3))
    x = np.where(rng.random(1500) < 0.25, rng.integers(0, 3, 1500), z)
    y = (rng.random(1500) < 0.1 + 0.25 * z + 0.15 * (w == 2)).astype(int)
    return pd.DataFrame({"z": z, "w": w, "u": u, "x": x, "c": np.array(list("pqr"))[w]}), y


def test_what_is_only_correlated_with_a_true_feature_has_no_effect(confounded):
    X, y = confounded
    result = relevance(X, y)
    assert set(result.with_status("effect")) == {"z", "w"}
    assert relevance(X[["x"]], y).status == ("effect",)
    assert result["x"]["given"] == ["z", "w"]


def test_a_copy_is_named_and_not_tested(confounded):
    X, y = confounded
    result = relevance(X, y)
    assert result["c"]["status"] == "same"
    assert result["c"]["same_as"] == "w"
    assert result["c"]["p_value"] is None
    assert result["w"]["status"] == "effect"


def test_select_and_relevance_speak_of_the_same_set(confounded):
    X, y = confounded
    assert select(X, y).features == relevance(X, y).deciding


def test_given_features_by_name_are_counted_on_those_columns_alone(confounded):
    X, y = confounded
    named = relevance(X, y, given=["z"])
    alone = relevance(X[["u", "z"]], y, given="all")
    assert named["u"]["compared"] == alone["u"]["pairs"]
    assert named["u"]["p_value"] == alone["u"]["p_value"]
    assert named["z"]["given"] == []


def test_nothing_given_is_a_univariate_filter(confounded):
    X, y = confounded
    result = relevance(X, y, given=[])
    assert result["x"]["p_value"] == relevance(X[["x"]], y, given="all")["x"]["p_value"]
    assert result.deciding == ()


def test_irrelevant_features_have_an_index_of_0_where_labels_are_a_function_of_the_set():
    rng = np.random.default_rng(3)
    rows = rng.integers(0, 3, (400, 8))
    result = relevance(rows, (rows[:, 0] == rows[:, 1]).astype(int))
    assert set(result.deciding) == {"x0", "x1"}
    assert result.index[2:].tolist() == [0.0] * 6
    assert result.effect[0] == result.index[0]


def test_numbers_that_confound_within_five_bins_are_cut_finer():
    rng = np.random.default_rng(5)
    first = rng.normal(size=2000)
    second = 0.95 * first + np.sqrt(1 - 0.95**2) * rng.normal(size=2000)
    y = (rng.random(2000) < 1 / (1 + np.exp(-3 * first))).astype(int)
    result = relevance(pd.DataFrame({"first": first, "second": second}), y)
    assert result["first"]["status"] == "effect"
    assert result["second"]["status"] != "effect"


def tied_numbers():
    """The label depends on one number, which the set may cut coarsely, and x is a noisy copy of it; u is noise."""
    rng = np.random.default_rng(5)
    z, u = rng.random((2, 2000))
    x = z + 0.1 * rng.normal(size=2000)
    return pd.DataFrame({"z": z, "x": x, "u": u}), (rng.random(2000) < z).astype(int)


def test_a_number_is_cut_finer_for_a_feature_that_it_is_tied_to_and_not_for_others():
    study = study_of(*tied_numbers())
    coarse = next(c for c in study.decider.bins[0] if study.decider.voting.rows.n_values[c] == 2)
    finest = max(study.decider.bins[0], key=lambda c: study.decider.voting.rows.n_values[c])
    assert study._beside(1, [coarse]).columns == (finest,)
    assert study._beside(2, [coarse]).columns == (coarse,)


def test_a_number_is_cut_finer_as_far_as_rows_allow(monkeypatch):
    study = study_of(*tied_numbers())
    two, three = (next(c for c in study.decider.bins[0] if study.decider.voting.rows.n_values[c] == n) for n in (2, 3))
    monkeypatch.setattr("analogical.estimate.deciding.ROWS_PER_CELL", 2000 / 3 / 5)  # three by five combinations
    u = 2
    assert study._beside(1, [two, u]).columns == (three, u)


def test_features_that_predict_equally_well_are_chosen_by_name():
    rng = np.random.default_rng(9)
    b, a, u = rng.integers(0, 2, (3, 400))
    half = np.tile([0, 1], 200)
    table = pd.DataFrame({"b": np.r_[b, a], "a": np.r_[a, b], "u": np.r_[u, u]})  # a and b play the same part
    y = np.r_[b ^ half, a ^ half]
    sets = [relevance(table[order], y).deciding for order in (["b", "a", "u"], ["u", "a", "b"])]
    assert sets[0] == sets[1]


def test_large_tables_choose_on_a_part_and_say_so(monkeypatch):
    monkeypatch.setattr("analogical.study.SEARCH_ROWS", 500)
    rng = np.random.default_rng(2)
    rows = rng.integers(0, 3, (2000, 5))
    y = ((rows[:, 0] == 1) ^ (rng.random(2000) < 0.2)).astype(int)
    result = relevance(rows, y)
    assert result.settings.searched_rows == 500
    assert (result.deciding, result.n_rows) == (("x0",), 2000)
    assert result.compared[0] == relevance(rows[:, :1], y, given="all").pairs[0]


def test_shuffled_labels_have_no_effect_in_nearly_all_tables():
    rng = np.random.default_rng(7)
    found = 0
    for _ in range(40):
        rows = rng.integers(0, 3, (150, 6))
        found += bool(relevance(rows, rng.integers(0, 2, 150)).with_status("effect"))
    assert found <= 5


@pytest.mark.parametrize("given", ["AUTO", 3, None])
def test_what_cannot_be_given_is_refused(given):
    with pytest.raises(InputError, match="given must be"):
        relevance([[0], [1]], [0, 1], given=given)


def test_unknown_names_are_refused():
    with pytest.raises(InputError, match="nothere"):
        relevance(pd.DataFrame({"a": [0, 1], "b": [0, 1]}), [0, 1], given=["nothere"])


def strong_and_weak():
    """The label depends much on the first feature and little on the second: too little for the search to choose it."""
    rng = np.random.default_rng(2)
    strong, weak, *others = (rng.integers(0, 2, 1000) for _ in range(4))
    y = (rng.random(1000) < 0.2 + 0.5 * strong + 0.1 * weak).astype(int)
    return pd.DataFrame({"strong": strong, "weak": weak, "u": others[0], "v": others[1]}), y


def test_what_joins_the_set_by_its_test_is_outside_all_the_same():
    study = study_of(*strong_and_weak())
    assert study.found.columns == (0,)
    assert study.deciding == (0, 1)
    assert study.is_outside.tolist() == [False, True, True, True]


def test_features_outside_are_adjusted_by_holm_and_only_where_the_set_was_searched_for():
    X, y = strong_and_weak()
    found, every = relevance(X, y), relevance(X, y, given="all")
    p = found.p_value
    assert found.p_adjusted[0] == 4 * p[0]
    assert found.p_adjusted[1] == 3 * p[1]  # Holm: the second smallest of four
    assert adjust_for_features(p)[1] == 2 * p[1]
    assert every.p_adjusted.tolist() == adjust_for_features(every.p_value).tolist()


def test_a_number_that_was_chosen_in_other_bins_is_not_outside():
    rng = np.random.default_rng(6)
    number, other = rng.random(1200), rng.random(1200)
    y = np.isin((number * 4).astype(int), (0, 2)) ^ (rng.random(1200) < 0.05)
    study = study_of(pd.DataFrame({"other": other, "number": number}), y)
    assert min(study.found.columns) >= study.n_features
    assert study.is_outside.tolist() == [True, False]


def test_without_a_deciding_set_every_feature_is_outside():
    rng = np.random.default_rng(8)
    study = study_of(rng.integers(0, 3, (100, 3)), rng.integers(0, 2, 100))
    assert study.found.columns == ()
    assert study.is_outside.tolist() == [True, True, True]
