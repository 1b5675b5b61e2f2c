"""select: the features by name, what each added, where it would have stopped, what was left out, and the words."""

import json
import warnings

import numpy as np
import pandas as pd
import polars as pl
import pytest
from sklearn.linear_model import LogisticRegression
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import OneHotEncoder

from analogical import AnalogicalSelector, InputError, load_table, relevance, select
from analogical._types import Note
from analogical.show.views import view_of


@pytest.fixture(scope="module")
def monks():
    return load_table("monks-1").to_frame("pandas").drop(columns="count")


@pytest.fixture(scope="module")
def survey():
    """Ten columns; the label depends on age, on town and on both shifts together; a copy, a number and a gap."""
    rng = np.random.default_rng(3)
    frame = pd.DataFrame({f"noise {i}": rng.integers(0, 3, 1500).astype(str) for i in range(4)})
    frame["age"] = rng.normal(40, 12, 1500)
    frame["town"] = rng.choice(["Ulm", "Bonn", None], 1500)
    frame["TOWN"] = frame["town"].str.upper()
    frame["early"], frame["late"] = rng.integers(0, 2, 1500), rng.integers(0, 2, 1500)
    logit = (frame["age"] > 45) * 2.0 + (frame["town"] == "Ulm") * 1.5 + (frame["early"] ^ frame["late"]) * 3.0 - 2.5
    frame["churned"] = np.where(rng.random(1500) < 1 / (1 + np.exp(-logit)), "yes", "no")
    return frame


def test_every_kind_of_feature_is_chosen_and_nothing_else(survey):
    found = select(survey, "churned")
    assert set(found.features) == {"age", "town", "early", "late"}
    whys = dict(zip(found.features, found.why, strict=True))
    assert whys == {"age": "gain", "town": "gain", "early": "interaction", "late": "interaction"}
    assert found["late"]["partners"] == ["early"]
    assert found.stop == len(found) == 4
    assert found.next_feature not in (*found.features, "TOWN")


def fitted_share(columns, labels):
    """Share of the variance that a ridge regression explains, each row predicted by a fit without it, one by one."""
    columns = np.column_stack([np.ones(len(labels)), *columns]).astype(float)
    left, nothing = [], []
    for row in range(len(labels)):
        others = np.arange(len(labels)) != row
        y, x = labels[others], columns[others]
        coefficients = np.linalg.solve(x.T @ x + 1e-9 * np.eye(x.shape[1]), x.T @ y)
        left.append(labels[row] - columns[row] @ coefficients)
        nothing.append(labels[row] - y.mean())
    return 1 - np.square(left).sum() / np.square(nothing).sum()


def test_what_is_explained_is_that_of_rows_left_out_one_by_one():
    """With effects on shares far from 0 and 1 a logistic fit is nearly linear."""
    rng = np.random.default_rng(5)
    rows = rng.integers(0, [2, 3, 2, 3, 2], (600, 5))
    labels = (rng.random(600) < 0.25 + 0.3 * rows[:, 0] + 0.1 * rows[:, 1]).astype(int)
    found = select(rows, labels)
    assert found.features == ("x0", "x1")
    first = [rows[:, 0]]
    both = [*first, rows[:, 1] == 1, rows[:, 1] == 2]
    expected = [fitted_share(columns, labels) for columns in (first, both)]
    assert found.explained == pytest.approx(expected, abs=0.002)
    assert found.adds.tolist() == np.diff(found.explained, prepend=0.0).tolist()


def test_what_follows_is_what_the_mean_of_other_rows_would_explain():
    rng = np.random.default_rng(8)
    rows, labels = rng.integers(0, 3, (120, 4)), rng.integers(0, 2, 120)
    found = select(rows, labels, 4)
    assert found.stop == 0
    assert found.why == ("next",) * 4
    assert found.explained.tolist() == [0.0] * 4
    nothing = [y - np.delete(labels, row).mean() for row, y in enumerate(labels)]
    for name, adds in zip(found.features, found.adds, strict=True):
        column, left = rows[:, int(name[1:])], []
        for row, value in enumerate(column):
            alike = [nothing[other] for other in range(120) if column[other] == value and other != row]
            left.append(nothing[row] - np.mean([*alike, 0.0]))
        assert adds == pytest.approx(1 - np.square(left).sum() / np.square(nothing).sum(), abs=1e-6)
    assert (np.diff(found.adds) <= 0).all()


def test_weak_effects_are_members_and_a_constant_feature_comes_last():
    rng = np.random.default_rng(1)
    rows = rng.integers(0, 2, (800, 5))
    labels = (rng.random(800) < 0.1 + 0.3 * rows[:, 0] + 0.3 * rows[:, 1] + 0.09 * rows[:, 2]).astype(int)
    found = select(rows, labels)
    assert (found.features, found.why) == (("x1", "x0", "x2"), ("gain", "gain", "gain"))
    assert 0 < found.adds[2] < 0.02 < found.adds[1] < found.adds[0]
    rows[:, 4] = 1
    last = select(rows, labels, k=5)
    assert (last.features[-1], last.why[-1], last.adds[-1]) == ("x4", "next", 0.0)


def test_what_adds_nothing_to_the_prediction_is_said_to_be_significant_only():
    """In Berkeley gender is significant given the department, and predicts nothing beside it."""
    berkeley = load_table("berkeley").to_frame()
    found = select(berkeley, "admitted", weights="count")
    assert (found.features, found.why) == (("department", "gender"), ("gain", "significant"))
    assert found.adds[1] < 0
    assert "gender       0.0 %     17.0 %" in repr(found)
    assert "significant given the others" in " ".join(repr(found).split())


def test_members_that_act_together_beside_effects_of_their_own_share_a_line():
    rng = np.random.default_rng(1)
    rows = rng.integers(0, 2, (2000, 6))
    labels = (rng.random(2000) < 0.1 + 0.2 * rows[:, 0] + 0.4 * rows[:, 1] * rows[:, 2] + 0.2 * rows[:, 2]).astype(int)
    found = select(rows, labels)
    assert set(found.features) == {"x0", "x1", "x2"}
    assert found.partners[found.features.index("x1")] == ("x2",)
    assert "x2 × x1" in repr(found)
    added = select(rows[:, [0, 1, 2]], (rng.random(2000) < 0.1 + 0.2 * rows[:, :3].sum(axis=1)).astype(int))
    assert set(added.why) == {"gain"}


def test_without_k_it_is_the_deciding_set_of_relevance(survey, monks):
    for table, label in ((survey, "churned"), (monks, "class")):
        assert select(table, label).features == relevance(table, label).deciding
    census = load_table("titanic").to_frame()
    assert (
        select(census, "survived", weights="count").features == relevance(census, "survived", weights="count").deciding
    )


def test_what_is_significant_beside_the_set_joins_it_and_says_why():
    rng = np.random.default_rng(1)
    rows = rng.integers(0, 2, (4000, 8))
    labels = rng.random(4000) < 0.3 + 0.4 * rows[:, 0] + 0.055 * rows[:, 1]
    found, result = select(rows, labels), relevance(rows, labels)
    assert found.features == result.deciding == ("x0", "x1")
    assert 0 < found.adds[1] < 0.01
    assert select(rows, labels, 1).next_feature == "x1"


def test_k_features_are_chosen_if_asked_for(survey):
    whole = select(survey, "churned")
    for k in (1, 2, 3, 4):
        found = select(survey, "churned", k)
        assert found.features == whole.features[:k]
        np.testing.assert_allclose(found.adds, whole.adds[:k])
        assert found.stop == 4
    found = select(survey, "churned", 6)
    assert len(found) == found.k == 6
    assert found.features[:4] == whole.features
    assert found.why[4:] == ("next", "next")
    assert found.explained[3] == found.explained[5]
    everything = select(survey, "churned", 99)
    assert len(everything) == 9
    assert everything.features[-1] == "TOWN"  # a copy comes last
    assert everything.next_feature is None
    first = select(survey, "churned", 1)
    assert first.next_feature == whole.features[1]


def test_features_that_come_next_add_what_they_would_add(monks):
    found, whole = select(monks, "class", 6), select(monks, "class")
    assert set(found.features[3:]) == {"is_smiling", "holding", "has_tie"}
    np.testing.assert_allclose(found.adds[3:], 0.0, atol=1e-4)
    np.testing.assert_allclose(found.explained[3:], whole.explained[-1])


def test_one_of_two_that_act_together_names_the_other(monks):
    found = select(monks, "class", 2)
    assert (found.features, found.why) == (("jacket_color", "body_shape"), ("gain", "interaction"))
    assert found.partners[1] == ("head_shape",)
    assert (found.stop, found.next_feature) == (3, "head_shape")
    assert "Without k, 3 features would be selected; the next is head_shape." in " ".join(repr(found).split())


def test_an_exclusive_or_of_three_is_explained():
    rng = np.random.default_rng(2)
    rows = rng.integers(0, 2, (600, 15))
    found = select(rows, rows[:, 3] ^ rows[:, 6] ^ rows[:, 12])
    assert set(found.features) == {"x3", "x6", "x12"}
    assert set(found.why) == {"interaction"}
    assert found.explained[-1] > 0.95


def test_fourteen_effects_that_add_up_are_members():
    rng = np.random.default_rng(4)
    rows = rng.integers(0, 3, (6000, 16))
    labels = rng.random(6000) < 1 / (1 + np.exp(-0.6 * (rows[:, :14] - 1).sum(axis=1)))
    found = select(rows, labels, 14)
    assert set(found.features) == {f"x{i}" for i in range(14)}
    assert set(found.why) == {"gain"}


def test_a_copy_comes_after_features_that_say_nothing():
    town = np.repeat(np.arange(40), 5)
    rows = pd.DataFrame({"other": np.random.default_rng(0).integers(0, 2, 200), "town": town, "code": 39 - town})
    assert select(rows, town % 2, 3, max_values=50).features == ("town", "other", "code")


@pytest.mark.parametrize("seed", range(4))
def test_order_of_columns_changes_no_selection(survey, seed):
    survey = survey.drop(columns="TOWN")  # of copies the first one is a member
    expected = select(survey, "churned", 9)
    columns = np.random.default_rng(seed).permutation(survey.columns)
    found = select(survey[columns], "churned", 9)
    assert (found.features, found.why) == (expected.features, expected.why)
    np.testing.assert_allclose(found.adds, expected.adds, atol=1e-7)


def test_more_than_there_are_is_said(monks):
    assert "k is 9, but the table has 6 features." in view_of(select(monks, "class", 9)).explanation


def test_a_leak_is_marked():
    rows = [(i % 2, i % 3, i % 5) for i in range(60)]
    labels = [row[0] if i else 1 for i, row in enumerate(rows)]
    assert "adds most, leak?" in repr(select(rows, labels, 1))


def test_shuffled_labels_keep_nothing_and_say_so(survey):
    shuffled = survey.assign(churned=np.random.default_rng(0).permutation(survey["churned"]))
    found = select(shuffled, "churned")
    assert len(found) == 0
    assert found.stop == 0
    assert repr(found).startswith("None of 9 features predicts 'churned', alone or with one or two others.")
    assert found.to_frame().columns.tolist() == ["feature", "adds", "explained", "why", "partners"]


def test_libraries_weights_and_repeated_rows_agree(monks):
    expected = select(monks, "class", 4)
    assert select(pl.DataFrame(monks), "class", 4).records() == expected.records()
    twice = pd.concat([monks, monks])
    weighted = select(monks.assign(n=2), "class", 4, weights="n")
    repeated = select(twice, "class", 4)
    assert (weighted.features, weighted.why) == (repeated.features, repeated.why)
    np.testing.assert_allclose(weighted.adds, repeated.adds)


def test_words_of_a_selection(monks, survey):
    text = repr(select(survey, "churned", 5))
    assert text.startswith("5 of 9 features explain 37.9 % of 'churned' together.")
    assert "act together" in text
    words = " ".join(text.split())
    assert "Without k, 4 features would be selected; the next is " in words
    assert "No other feature is significant given these; the next is " in " ".join(
        repr(select(survey, "churned")).split()
    )
    assert "All features were selected." in repr(select(monks[["jacket_color", "class"]], "class"))
    assert max(map(len, text.splitlines())) <= 80


def test_wide_tables_say_among_how_many_features_sets_were_tried():
    X = np.random.default_rng(0).integers(0, 3, (300, 400))
    y = (X[:, 40] > 0) ^ (X[:, 90] > 0)
    found = select(X, y)
    assert set(found.features) == {"x40", "x90"}
    assert relevance(X, y).notes == found.notes == (Note("screened", (), (400, 400, 107)),)
    assert relevance(X, y, given=[]).notes == select(X[:, :100], y).notes == ()
    assert view_of(found).notes == (
        "the search for the deciding set tried sets of three among 107 of 400 features, those that predict the label"
        " best alone",
    )
    assert "some sets of features not tried" in repr(found)


@pytest.mark.parametrize("k", [0, -1, 2.0, "all", True])
def test_k_that_is_no_number_of_features_is_refused(monks, k):
    with pytest.raises(InputError, match="k must be a whole number from 1, or None for the deciding set"):
        select(monks, "class", k)


# ------------------------------------------------------------ the selector


def test_the_selector_chooses_together_if_k_is_given(survey):
    X, y = survey.drop(columns="churned"), survey["churned"]
    selector = AnalogicalSelector(k=4).fit(X, y)
    assert selector.selection_ == select(survey, "churned", 4)
    assert set(selector.get_feature_names_out()) == {"age", "town", "early", "late"}
    chosen = dict(zip(selector.selection_.features, selector.selection_.adds.tolist(), strict=True))
    scores = dict(zip(X.columns, selector.scores_.tolist(), strict=True))
    assert {name: score for name, score in scores.items() if score == score} == chosen
    assert not hasattr(selector, "relevance_")


def test_without_k_and_in_a_ranking_the_selector_asks_relevance(survey):
    X, y = survey.drop(columns="churned"), survey["churned"]
    result = relevance(X, y)
    for selector in (
        AnalogicalSelector(),
        AnalogicalSelector(strategy="ranking"),
        AnalogicalSelector(k=2, strategy="ranking"),
        AnalogicalSelector(k="all", strategy="ranking"),
    ):
        assert selector.fit(X, y).relevance_ == result
        assert not hasattr(selector, "selection_")
        np.testing.assert_array_equal(selector.scores_, result.effect)
        np.testing.assert_array_equal(selector.pvalues_, result.p_value)
    kept = AnalogicalSelector().fit(X, y).get_feature_names_out().tolist()
    assert sorted(kept) == sorted(result.with_status("effect")) == ["age", "early", "late", "town"]


def test_the_ranking_keeps_the_first_of_relevance(survey):
    X, y = survey.drop(columns="churned"), survey["churned"]
    for k in (1, 3, 6):
        selector = AnalogicalSelector(k=k, strategy="ranking").fit(X, y)
        assert set(selector.get_feature_names_out()) == set(relevance(X, y).ranking()[:k])


def test_given_reaches_relevance(survey):
    X, y = survey.drop(columns="churned"), survey["churned"]
    for given in ("all", [], ["age", "town"]):
        selector = AnalogicalSelector(given=given).fit(X, y)
        assert selector.relevance_ == relevance(X, y, given=given)
    assert "early" not in AnalogicalSelector(given=[]).fit(X, y).get_feature_names_out()  # it acts only with late


def test_a_fit_with_another_strategy_leaves_nothing_behind(survey):
    X, y = survey.drop(columns="churned"), survey["churned"]
    selector = AnalogicalSelector(k=2).fit(X, y)
    selector.set_params(strategy="ranking").fit(X, y)
    assert not hasattr(selector, "selection_")
    assert selector.scores_[4] == relevance(X, y)["age"]["effect"]
    selector.set_params(strategy="together").fit(X, y)
    assert not hasattr(selector, "relevance_")
    assert not hasattr(selector, "pvalues_")


@pytest.mark.parametrize(
    ("parameters", "message"),
    [
        ({"threshold": 0.1}, "together does not use threshold; leave threshold out, or set strategy="),
        ({"given": "all"}, "together does not use given"),
        ({"given": []}, "together does not use given"),
    ],
)
def test_criteria_that_together_cannot_use_are_refused(survey, parameters, message):
    with pytest.raises(InputError, match=message):
        AnalogicalSelector(k=3, **parameters).fit(survey.drop(columns="churned"), survey["churned"])


def test_an_unknown_strategy_is_refused(monks):
    with pytest.raises(InputError, match='strategy must be "together" or "ranking", got \'best\''):
        AnalogicalSelector(strategy="best").fit(monks.drop(columns="class"), monks["class"])


def test_a_pipeline_predicts_with_what_was_chosen(survey):
    X, y = survey.drop(columns=["churned", "age"]).astype(str), survey["churned"]
    model = make_pipeline(AnalogicalSelector(k=3), OneHotEncoder(), LogisticRegression())
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        assert model.fit(X, y).score(X, y) > (y == "no").mean() + 0.05
    assert model[0].transform(X).shape == (1500, 3)


# ------------------------------------------------------------ the command


def test_the_command_prints_what_the_function_finds(run, monks):
    code, out, _ = run("select", "monks-1", "--k", "4")
    assert code == 0
    assert "4 of 6 features explain 99.8 % of 'class' together." in out
    assert "body_shape × head_shape  67.4 %" in out  # no line for one of two that act only together
    content = json.loads(run("select", "monks-1", "-k", "4", "--json")[1])
    expected = select(monks, "class", 4)
    assert [entry["feature"] for entry in content["features"]] == list(expected.features)
    assert content["features"][0]["adds"] == expected.adds[0]
    lines = run("select", "monks-1", "--csv")[1].splitlines()
    assert lines[0] == "feature,adds,explained,why,partners"
    assert len(lines) == 4


def test_the_command_refuses_a_k_below_one(run):
    code, _, err = run("select", "monks-1", "--k", "0")
    assert code == 2
    assert "k must be a whole number from 1" in err
