"""select: the features by name, what each added, where it would have stopped, what was left out, and the words."""

import json
import warnings

import numpy as np
import pandas as pd
import polars as pl
import pytest
from sklearn.exceptions import NotFittedError
from sklearn.linear_model import LogisticRegression
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import OneHotEncoder

from analogical import AnalogicalSelector, InputError, SelectionWarning, load_table, relevance, select
from analogical.presenting.views import view_of


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
    assert found.next_gain < found.need
    assert [(item.feature, item.by) for item in found.carried] == [("TOWN", ("town",))]
    assert found.carried[0].further == 0.0


def test_gains_add_up_to_what_is_explained(survey):
    found = select(survey, "churned")
    share = (survey["churned"] == "yes").mean()
    uncertainty = -len(survey) * (share * np.log(share) + (1 - share) * np.log(1 - share))
    assert found.explained[-1] == pytest.approx(found.gain.sum() / uncertainty, rel=1e-3)
    assert (np.diff(found.explained) > -0.01).all()


def test_k_features_are_chosen_if_asked_for(survey):
    found = select(survey, "churned", 6)
    assert len(found) == found.k == 6
    assert found.why[4:] == ("index", "index")
    assert found.stop == 4
    assert len(select(survey, "churned", 99)) == 9
    first = select(survey, "churned", 1)
    assert first.stop is None
    assert first.next_gain >= first.need


def test_one_of_two_that_act_together_does_not_say_that_nothing_is_left(monks):
    found = select(monks, "class", 2)
    assert (found.features, found.why) == (("jacket_color", "head_shape"), ("gain", "index"))
    assert (found.stop, found.next_feature) == (None, "body_shape")
    assert found.next_gain > 100
    assert "More would earn their keep: body_shape would add" in repr(found)
    assert "No other single feature adds 4.6 nats" in repr(select(monks, "class", 1))


def test_more_than_there_are_is_said(monks):
    assert "9 were asked for; the table has 6 features." in repr(select(monks, "class", 9))


def test_a_leak_is_marked():
    rows = [(i % 2, i % 3, i % 5) for i in range(60)]
    labels = [row[0] if i else 1 for i, row in enumerate(rows)]
    assert "adds most, leak?" in repr(select(rows, labels, 1))


def test_shuffled_labels_keep_nothing_and_say_so(survey):
    shuffled = survey.assign(churned=np.random.default_rng(0).permutation(survey["churned"]))
    found = select(shuffled, "churned")
    assert len(found) == 0
    assert found.stop == 0
    assert "No feature is kept: none adds 4.6 nats" in repr(found)
    assert found.to_frame().columns.tolist() == ["feature", "gain", "explained", "why", "partners"]


def test_libraries_weights_and_repeated_rows_agree(monks):
    expected = select(monks, "class", 4)
    assert select(pl.DataFrame(monks), "class", 4).records() == expected.records()
    twice = pd.concat([monks, monks])
    weighted = select(monks.assign(n=2), "class", 4, weights="n")
    repeated = select(twice, "class", 4)
    assert (weighted.features, weighted.why) == (repeated.features, repeated.why)
    np.testing.assert_allclose(weighted.gain, repeated.gain)


def test_words_of_a_selection(monks, survey):
    text = repr(select(survey, "churned", 5))
    assert "Selection of 5 of 9 features for 'churned' (2 classes), 1,500 rows" in text
    assert "an interaction with early" in text
    assert "By what they add it would have stopped after 4: no other single feature adds 4.6" in text
    assert "nothing more beside the chosen feature in brackets: TOWN (town)." in " ".join(text.split())
    assert "More would earn their keep: " in repr(select(survey, "churned", 1))
    assert "All features were chosen." in repr(select(monks[["jacket_color", "class"]], "class"))
    assert max(map(len, text.splitlines())) <= 80


def test_rare_classes_are_said_to_vote_as_one():
    rng = np.random.default_rng(0)
    rows = rng.integers(0, 3, (900, 3))
    labels = np.where(np.arange(900) < 800, rows[:, 0], 3 + np.arange(900) % 80)
    found = select(rows, labels.astype(str), 1)
    assert found.n_classes == 50
    assert "The 34 rarest classes of 83 voted as one." in view_of(found).findings


@pytest.mark.parametrize("k", [0, -1, 2.0, "all", True])
def test_k_that_is_no_number_of_features_is_refused(monks, k):
    with pytest.raises(InputError, match="k must be a whole number from 1, or None to stop where nothing more earns"):
        select(monks, "class", k)


# ------------------------------------------------------------ the selector


def test_the_selector_chooses_together_if_k_is_given(survey):
    X, y = survey.drop(columns="churned"), survey["churned"]
    selector = AnalogicalSelector(k=4).fit(X, y)
    assert selector.selection_ == select(survey, "churned", 4)
    assert set(selector.get_feature_names_out()) == {"age", "town", "early", "late"}
    chosen = dict(zip(selector.selection_.features, selector.selection_.gain.tolist(), strict=True))
    scores = dict(zip(X.columns, selector.scores_.tolist(), strict=True))
    assert {name: score for name, score in scores.items() if score == score} == chosen
    assert not hasattr(selector, "relevance_")


def test_other_criteria_are_those_of_the_ranking(survey):
    X, y = survey.drop(columns="churned"), survey["churned"]
    for selector in (
        AnalogicalSelector(),
        AnalogicalSelector(k=2, threshold=0.0),
        AnalogicalSelector(k=2, alpha=0.05),
        AnalogicalSelector(k="all"),
        AnalogicalSelector(k=2, strategy="ranking"),
    ):
        assert hasattr(selector.fit(X, y), "relevance_")
        assert not hasattr(selector, "selection_")
    assert hasattr(AnalogicalSelector(k=2).fit(X, y, groups=np.arange(len(X)) // 2), "relevance_")


def test_without_k_together_stops_by_itself(survey):
    X, y = survey.drop(columns="churned"), survey["churned"]
    selector = AnalogicalSelector(strategy="together").fit(X, y)
    assert selector.get_support(indices=True).tolist() == [4, 5, 7, 8]
    with pytest.warns(
        SelectionWarning, match="No feature adds 4.6 nats to the prediction, alone or in a pair, and the"
    ):
        selector.fit(X, np.random.default_rng(0).permutation(y))
    assert not selector.get_support().any()


def test_the_fitted_selector_hands_on_its_result(survey):
    X, y = survey.drop(columns="churned"), survey["churned"]
    with pytest.raises(NotFittedError):
        AnalogicalSelector().to_dict()
    together, ranking = AnalogicalSelector(k=2).fit(X, y), AnalogicalSelector(k=2, strategy="ranking").fit(X, y)
    assert together.to_dict() == together.selection_.to_dict()
    assert ranking.to_dict() == ranking.relevance_.to_dict()
    assert together.to_frame("polars").columns == list(together.selection_.columns())
    assert len(ranking.to_frame()) == len(ranking.relevance_)


def test_priority_settles_ties(survey):
    X, y = survey.drop(columns="churned"), survey["churned"]
    plain, wanted = (AnalogicalSelector(k=4, priority=p).fit(X, y) for p in (None, ["TOWN"]))
    assert "town" in plain.get_feature_names_out()
    assert "TOWN" in wanted.get_feature_names_out()
    assert "town" not in wanted.get_feature_names_out()


def test_a_fit_with_another_strategy_leaves_nothing_behind(survey):
    X, y = survey.drop(columns="churned"), survey["churned"]
    selector = AnalogicalSelector(k=2).fit(X, y)
    selector.set_params(strategy="ranking").fit(X, y)
    assert not hasattr(selector, "selection_")
    assert selector.scores_[4] == relevance(X, y, redundancies=False, ignore="TOWN")["age"]["score"]
    selector.set_params(strategy="together").fit(X, y)
    assert not hasattr(selector, "relevance_")
    assert not hasattr(selector, "pvalues_")


@pytest.mark.parametrize(
    ("parameters", "groups", "message"),
    [
        ({"threshold": 0.1}, None, 'strategy="together" does not use threshold; leave threshold out, or set strategy='),
        ({"alpha": 0.1, "k": 3}, None, 'strategy="together" does not use alpha'),
        ({}, [0, 1] * 750, 'strategy="together" does not use groups'),
    ],
)
def test_criteria_that_together_cannot_use_are_refused(survey, parameters, groups, message):
    selector = AnalogicalSelector(strategy="together", **parameters)
    with pytest.raises(InputError, match=message):
        selector.fit(survey.drop(columns="churned"), survey["churned"], groups=groups)


def test_an_unknown_strategy_is_refused(monks):
    with pytest.raises(InputError, match='strategy must be "auto", "together" or "ranking", got \'best\''):
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
    assert "4 of 6 features chosen for 'class', 432 rows" in out
    content = json.loads(run("select", "monks-1", "-k", "4", "--json")[1])
    expected = select(monks, "class", 4)
    assert [entry["feature"] for entry in content["features"]] == list(expected.features)
    assert content["features"][0]["gain"] == expected.gain[0]
    assert content["need"] == expected.need
    lines = run("select", "monks-1", "--csv")[1].splitlines()
    assert lines[0] == "feature,gain,explained,why,partners"
    assert len(lines) == 4


def test_the_command_refuses_a_k_below_one(run):
    code, _, err = run("select", "monks-1", "--k", "0")
    assert code == 2
    assert "k must be a whole number from 1" in err
