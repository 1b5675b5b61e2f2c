import copy
import dataclasses
import json
import pickle

import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pytest

import analogical
from analogical import InputError, MissingDependencyError, load_table, relevance, table_names
from analogical.presenting.relevance import describe_radius
from analogical.presenting.views import view_of

ROWS = [(0, 0, "c", 0), (0, 1, "c", 1), (1, 0, "c", 0), (1, 1, "c", 1), (0, 0, "c", 0), (0, 0, "c", 0)]
LABELS = ["no", "yes", "no", "yes", "no", "yes"]
MIXED = relevance(ROWS, LABELS, radius=1, feature_names=["free", "b", "same", "<b>"])


def explain(result):
    return " ".join(view_of(result).findings)


def summarise(result):
    return view_of(result).summary


def test_status_says_why_there_is_no_score():
    assert MIXED.status == ("relevant", "no-pairs", "constant", "no-pairs")
    assert MIXED.ari.tolist()[1:] == [2.0, 0.0, 2.0]
    assert np.isnan(MIXED.score[1:]).all()


def test_ranking_puts_constants_last():
    assert MIXED.ranking() == ["free", "b", "<b>", "same"]


def test_to_dict_is_ready_for_json():
    content = json.loads(json.dumps(MIXED.to_dict(), allow_nan=False))
    assert [feature["name"] for feature in content["features"]] == list(MIXED.names)
    assert content["features"][1] == {
        "name": "b",
        "ari": 2.0,
        "score": None,
        "pairs": 0,
        "changed": 0,
        "pairs_within": 0,
        "changed_within": 0,
        "n_values": 2,
        "ari_std_error": None,
        "ari_low": None,
        "ari_high": None,
        "score_std_error": None,
        "score_low": None,
        "score_high": None,
        "p_value": None,
        "status": "no-pairs",
        "determined_by": [],
    }
    assert content["classes"] == ["no", "yes"]
    assert (content["n_rows"], content["n_distinct"]) == (6, 4)
    assert (content["n_identical"], content["n_contradictions"]) == (3, 2)
    assert content["settings"] == {
        "duplicates": "count",
        "weighted": False,
        "radius": 1,
        "decay": None,
        "reason": "asked",
        "fewest_pairs": 0,
        "attribution": "noisy-or",
        "n_pairs_used": 4,
        "is_sampled": False,
        "converged": True,
        "confidence": 0.95,
        "bootstrap": None,
        "redundancies": True,
    }
    assert content["noise"]["rate"] == pytest.approx(2 / 3)
    assert content["notes"] == []


@pytest.mark.parametrize("labels", [np.array([1, 0, 1, 0, 1, 1]), [(1, 2), None.__class__] * 3, [True, False] * 3])
def test_labels_of_any_kind_become_json(labels):
    json.dumps(relevance(ROWS, labels).to_dict())


@pytest.mark.parametrize(
    ("library", "kind"), [(pd.DataFrame, pd.DataFrame), (pl.DataFrame, pl.DataFrame), (pa.table, pa.Table)]
)
def test_to_frame_comes_in_the_users_library(library, kind):
    table = library({"a": [0, 1, 0, 1], "b": [0, 0, 1, 1], "y": [0, 1, 1, 0]})
    frame = relevance(table, "y").to_frame()
    assert isinstance(frame, kind)
    assert list(pl.DataFrame(frame)["name"]) == ["a", "b"]


def test_to_frame_of_an_array_is_pandas_best_first():
    frame = MIXED.to_frame()
    assert isinstance(frame, pd.DataFrame)
    assert frame["name"].tolist() == MIXED.ranking()
    assert frame["score"].dtype == float
    assert frame["score"].isna().tolist() == [False, True, True, True]
    assert isinstance(MIXED.to_frame("polars"), pl.DataFrame)


def test_to_frame_names_a_library_that_is_not_there(monkeypatch):
    monkeypatch.setitem(__import__("sys").modules, "pandas", None)
    with pytest.raises(
        MissingDependencyError, match=r"pandas was asked for, which is not installed.*pip install pandas"
    ):
        MIXED.to_frame()
    with pytest.raises(InputError, match="backend must be one of pandas, polars, pyarrow, modin, cudf, got 'excel'"):
        MIXED.to_frame("excel")


def test_repr_is_a_table_best_first():
    assert repr(MIXED).splitlines() == [
        "Relevance of 4 features for 'y' (2 classes), 6 rows",
        "feature    ARI       95% CI  pairs  changed     p  status",
        "free     0.250  0.031-0.774      4        1  .677  relevant",
        "b        2.000            -      0        0     -  no-pairs",
        "<b>      2.000            -      0        0     -  no-pairs",
        "same     0.000            -      0        0     -  constant",
        "Noise floor: identical rows differ in label in 66.7 % (4.8 % to 98.7 %) of 3",
        "pairs.",
    ]
    assert repr(relevance(ROWS, LABELS, radius=1, confidence=None)).splitlines()[1:3] == [
        "feature    ARI  pairs  changed  values  status",
        "x0       0.250      4        1       2  relevant",
    ]


def test_repr_of_a_wide_table_is_short():
    rows = np.eye(100, dtype=int)
    text = repr(relevance(rows, [0, 1] * 50, radius=1))
    assert len(text.splitlines()) == 54
    assert "... and 50 more; to_frame() has all" in text


def test_html_escapes_names_and_has_a_bar_per_feature():
    html = MIXED._repr_html_()
    assert "&lt;b&gt;" in html
    assert html.count("<b>") == html.count("</b>") == 1  # the headline
    assert html.count("<tr>") == 5
    assert "width:15px" in html  # a quarter of sixty


def test_results_are_frozen_equal_by_value_and_survive_copies():
    with pytest.raises(dataclasses.FrozenInstanceError):
        MIXED.label = "other"
    assert pickle.loads(pickle.dumps(MIXED)) == MIXED  # noqa: S301
    assert copy.deepcopy(MIXED) == MIXED
    assert relevance(ROWS, LABELS) != MIXED
    assert MIXED != "something else"


def test_explain_counts_every_kind_of_feature():
    assert explain(MIXED) == (
        "1 of 4 features changes the label with all else equal (free). Noise alone could explain 1 of them"
        " (p > .05: free). 2 have no pair of rows that differ on them alone, so the index says nothing (b, <b>): not"
        " enough rows (the paper writes 2). 1 has one value only (same)."
        " Noise floor: identical rows differ in label in 66.7 % (4.8 % to 98.7 %) of 3 pairs. An index near it may be"
        " noise; p is the probability of a difference at least this large if the feature had no effect."
    )
    assert summarise(MIXED) == (
        "6 rows, 4 features, label 'y' with 2 classes (no, yes), 4 distinct rows (2 repeated), 2 contradictions"
        " in 3 pairs of identical rows"
    )
    once = relevance(ROWS, LABELS, radius=1, duplicates="once")
    assert "(2 repeated, counted once), 1 contradiction in 1 pair" in summarise(once)
    assert "Noise floor: unknown, because repeated rows were counted once." in explain(once)
    quiet = relevance([(0, 0), (0, 0), (0, 1), (1, 1)], ["a" * 30, "a" * 30, "a" * 30, "b"])
    assert "(aaaaaaaaaaaaaaaaa..., b), 3 distinct rows (1 repeated), no contradictions" in summarise(quiet)
    many = relevance([(i,) for i in range(9)], range(9))
    assert "9 classes (0, 1, 2, 3, 4, 5, ...)" in summarise(many)
    still = relevance([(0, 0), (0, 1), (1, 2), (1, 3)], [0, 0, 1, 1], radius=1)
    assert explain(still).startswith("None of the 2 features was seen to change the label")
    assert "1 never does, in the pairs there are (x1)" in explain(still)


@pytest.mark.parametrize(
    ("name", "rows", "features"), [("berkeley", 4526, 2), ("titanic", 2201, 3), ("monks-2", 432, 6)]
)
def test_built_in_tables_have_their_public_totals(name, rows, features):
    table = load_table(name)
    assert (table.n_rows, table.X.shape[1]) == (rows, features)
    result = relevance(table.to_frame(), table.label, weights="count")
    assert result.n_rows == rows


def test_public_counts_of_berkeley_and_titanic():
    berkeley = load_table("berkeley").to_frame("pandas")
    admitted = berkeley[berkeley["admitted"] == "yes"].groupby("gender")["count"].sum()
    assert admitted.to_dict() == {"female": 557, "male": 1198}
    assert len(berkeley) == 24
    titanic = load_table("titanic").to_frame("pandas")
    assert titanic.groupby("survived")["count"].sum().to_dict() == {"no": 1490, "yes": 711}
    assert titanic.groupby("class")["count"].sum().to_dict() == {"1st": 325, "2nd": 285, "3rd": 706, "crew": 885}
    assert len(titanic) == 32


def test_an_unknown_table_is_named_with_those_there_are():
    with pytest.raises(InputError, match="no built-in table 'monk'; choose from monks-1, monks-2"):
        load_table("monk")
    assert "titanic" in table_names()


def test_public_names_are_all_there():
    assert set(analogical.__all__) <= set(dir(analogical))
    for name in analogical.__all__:
        assert getattr(analogical, name) is not None
    assert analogical.__version__.count(".") == 2
    with pytest.raises(AttributeError, match="no attribute 'nothing'"):
        _ = analogical.nothing


def test_a_column_that_is_unique_in_every_row_is_named():
    rows = [(i, i % 2) for i in range(5)]
    text = explain(relevance(rows, [0, 1, 1, 0, 1], feature_names=["number", "parity"]))
    assert "number is unique in every row, so that no two rows are equal on it: leave out what is an id." in text


def test_a_relaxed_result_says_how_far_it_looked_and_why():
    from analogical.experiments import sample

    X, y = sample("g2", n_features=20, n_values=3, n_rows=300, seed=0)
    result = relevance(X, y, radius="auto", feature_names=[f"f{i}" for i in range(20)])
    assert set(result.ranking()[:2]) == {"f0", "f1"}
    assert set(result.ari.tolist()) == {2.0}
    assert result.settings.radius > 1
    assert result.settings.reason == "no-pairs"
    assert describe_radius(result) in " ".join(repr(result).split())
    assert "there is no pair at distance 1" in describe_radius(result)
    assert "It ranks f0 and f1 highest." in explain(result) or "It ranks f1 and f0 highest." in explain(result)
    assert repr(result).splitlines()[1].split() == [
        "feature",
        "score",
        "ARI",
        "95%",
        "CI",
        "pairs",
        "changed",
        "status",
    ]
    assert "score</th>" in result._repr_html_()
    content = result.to_dict()
    assert content["settings"]["radius"] == result.settings.radius
    assert content["features"][0]["pairs_within"] > 0
    assert (result.pairs_within >= result.pairs).all()
    share = relevance(X, y, radius=10, attribution="share", confidence=None)
    assert share.score.tolist() == (share.changed_within / share.pairs_within).tolist()
    assert repr(share).splitlines()[1].split() == ["feature", "score", "ARI", "pairs", "changed", "values", "status"]


def test_radius_one_is_ari_whatever_the_attribution():
    for attribution in ("noisy-or", "share"):
        result = relevance(ROWS, LABELS, radius=1, attribution=attribution)
        assert result.score[0] == result.ari[0]
        assert result.pairs_within.tolist() == result.pairs.tolist()


def test_bootstrap_of_the_relaxed_score_covers_it():
    from analogical.experiments import sample

    X, y = sample("g2", n_features=12, n_values=3, n_rows=150, seed=1)
    result = relevance(X, y, radius="auto", bootstrap=20)
    assert (result.score_low[:2] <= result.score_high[:2]).all()
    assert result.score_low[0] > result.score_high[2:].mean()
    again = relevance(X, y, radius="auto", bootstrap=20)
    assert again == result


def test_progress_is_one_line_on_stderr(capsys):
    from analogical.experiments import sample

    X, y = sample("g2", n_features=12, n_values=3, n_rows=150, seed=1)
    relevance(X, y, radius="auto", confidence=None, progress=True)
    assert capsys.readouterr().err == "\rcomparing rows: 1 of 1\n"
