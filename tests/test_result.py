import copy
import dataclasses
import json
import os
import pickle
import re
import subprocess
import sys

import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pytest

import analogical
from analogical import InputError, load_table, relevance, table_names
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
    assert MIXED.status == ("noise-unknown", "no-pairs", "constant", "no-pairs")
    assert MIXED.paper_status == ("relevant", "no-pairs", "constant", "no-pairs")
    assert MIXED.score_basis == ("index", "none", "none", "none")  # three identical pairs tell no noise
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
        "effect": None,
        "noise_rate": None,
        "score": None,
        "p_value": None,
        "p_adjusted": None,
        "ari_low": None,
        "ari_high": None,
        "ari_std_error": None,
        "effect_low": None,
        "effect_high": None,
        "score_low": None,
        "score_high": None,
        "score_std_error": None,
        "rank_low": None,
        "rank_high": None,
        "pairs": 0,
        "changed": 0,
        "pairs_within": 0,
        "changed_within": 0,
        "effect_pairs": 0,
        "effective_rows": 0.0,
        "n_values": 2,
        "n_missing": 0,
        "value_pairs": 1,
        "value_pairs_compared": 0,
        "status": "no-pairs",
        "paper_status": "no-pairs",
        "score_basis": "none",
        "determined_by": [],
        "edges": [],
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
        "coarser": [],
        "confidence": 0.95,
        "bootstrap": None,
        "redundancies": True,
        "noise_free": False,
        "n_groups": None,
        "pooled_noise": None,
        "searched_one": True,
        "searched_two": True,
        "engine": "memory",
        "plan": None,
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


def test_to_frame_names_a_library_that_is_not_there():
    code = (
        "import sys\n"
        "sys.modules['pandas'] = None  # in a process of its own: narwhals may hold on to pandas\n"
        "import analogical\n"
        "try:\n    analogical.relevance([[0], [1]], [0, 1]).to_frame()\n"
        "except analogical.MissingDependencyError as refused:\n    print(refused)"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert "pandas was asked for, which is not installed. Install it with: pip install pandas" in done.stdout
    with pytest.raises(InputError, match="backend must be one of pandas, polars, pyarrow, modin, cudf, got 'excel'"):
        MIXED.to_frame("excel")


def test_noise_of_all_features_together_is_named_where_it_is_taken_off():
    noisy = relevance(ROWS + ROWS[:1] * 6, LABELS + ["no", "yes"] * 3, radius=1, feature_names=MIXED.names)
    assert noisy.score_basis[0] == "index less pooled noise"
    pooled = f"{100 * noisy.settings.pooled_noise:.1f} %"
    assert (
        f"Ranked by the index less {pooled}, the noise in the contexts of all features, because its own noise rests on"
        " too few repeated rows: free." in explain(noisy)
    )


def test_repr_is_a_table_best_first():
    assert repr(MIXED).splitlines() == [
        "Relevance of 4 features for 'y' (2 classes), 6 rows",
        "feature    ARI       95% CI  pairs  changed      p  status",
        "free     0.250  0.013-0.895      4        1  1.000  noise-unknown",
        "b            -            -      0        0      -  no-pairs",
        "<b>          -            -      0        0      -  no-pairs",
        "same         -            -      0        0      -  constant",
        "Noise: identical rows differ in label in 66.7 % (1.9 % to 99.5 %) of 3 pairs.",
    ]
    assert repr(relevance(ROWS, LABELS, radius=1, confidence=None)).splitlines()[1:3] == [
        "feature    ARI  pairs  changed  status",
        "x0       0.250      4        1  noise-unknown",
    ]
    assert repr(relevance(ROWS, LABELS, radius=1, noise_free=True)).splitlines()[1:3] == [
        "feature    ARI       95% CI  pairs  changed  status",
        "x0       0.250  0.013-0.895      4        1  effect",
    ]


def test_repr_of_a_wide_table_is_short():
    rows = np.eye(100, dtype=int)
    text = repr(relevance(rows, [0, 1] * 50, radius=1))
    assert len(text.splitlines()) == 54
    assert "... and 50 more; to_frame() has all" in text


def test_html_escapes_names_and_has_a_bar_per_feature():
    html = relevance(ROWS, LABELS, radius=1, noise_free=True, feature_names=MIXED.names)._repr_html_()
    assert "&lt;b&gt;" in html
    assert "<b>" not in html
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
    words = explain(MIXED)
    assert words.startswith("No effect beyond noise was found among 4 features. 1 changed labels, but nothing ")
    for sentence in (
        "(free): the index is an upper bound of the effect. If labels have no noise, say so with noise_free",
        "2 have no pair of rows that differ on them alone, so the index says nothing (b, <b>): not enough rows (the"
        " paper writes 2). 1 has one value only (same).",
        "the pairs are worth fewer than 30 independent ones (effective rows: free 2).",
        "Noise: identical rows differ in label in 66.7 % (1.9 % to 99.5 %) of 3 pairs.",
        "Intervals and p take rows as independent; rows that belong together need groups (--groups).",
    ):
        assert sentence in words
    assert summarise(MIXED) == (
        "6 rows, 4 features, label 'y' with 2 classes (no, yes), 4 distinct rows (2 repeated), 2 contradictions"
        " in 3 pairs of identical rows"
    )
    once = relevance(ROWS, LABELS, radius=1, duplicates="once")
    assert "(2 repeated, counted once), 1 contradiction in 1 pair" in summarise(once)
    assert "Noise: unknown, because repeated rows were counted once." in explain(once)
    quiet = relevance([(0, 0), (0, 0), (0, 1), (1, 1)], ["a" * 30, "a" * 30, "a" * 30, "b"])
    assert "(aaaaaaaaaaaaaaaaa..., b), 3 distinct rows (1 repeated), no contradictions" in summarise(quiet)
    many = relevance([(i,) for i in range(9)], range(9))
    assert "9 classes (0, 1, 2, 3, 4, 5, ...)" in summarise(many)
    still = relevance([(0, 0), (0, 1), (1, 2), (1, 3)], [0, 0, 1, 1], radius=1)
    assert explain(still).startswith(
        "No effect beyond noise was found among 2 features. 1 changed no label in its pairs"
    )
    assert "Not all of their values were compared: x1: 2 of 6 value pairs, 0 never with 2." in explain(still)


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
    assert "number has a different value in every row, so no two rows are equal on it: ignore what is an id" in text


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
    headings = repr(result).splitlines()[1].split()
    assert headings == ["feature", "score", "95%", "CI", "ARI", "pairs", "p", "status"]
    assert result.status == ("effect", "effect", *("none-seen",) * 18)
    assert set(result.paper_status) == {"no-pairs"}
    assert set(result.score_basis) == {"pairs within the radius"}
    assert (result.score_low[:2] < result.score[:2]).all()
    assert (result.score[:2] < result.score_high[:2]).all()
    assert (result.p_value[:2] < 0.001).all()
    assert (result.p_value[2:] > 0.05).all()
    assert "score</th>" in result._repr_html_()
    content = result.to_dict()
    assert content["settings"]["radius"] == result.settings.radius
    assert content["features"][0]["pairs_within"] > 0
    assert (result.pairs_within >= result.pairs).all()
    share = relevance(X, y, radius=10, attribution="share", confidence=None)
    assert share.score.tolist() == (share.changed_within / share.pairs_within).tolist()
    assert repr(share).splitlines()[1].split() == ["feature", "score", "ARI", "pairs", "status"]


def test_radius_one_is_ari_whatever_the_attribution():
    for attribution in ("noisy-or", "share"):
        result = relevance(ROWS, LABELS, radius=1, attribution=attribution, noise_free=True)
        assert result.score[0] == result.ari[0]
        assert result.pairs_within.tolist() == result.pairs.tolist()


@pytest.mark.parametrize(
    ("name", "label", "points"),
    [
        ("titanic", "survived", {"sex": 50.1, "age": 25.8, "class": 14.3}),
        ("berkeley", "admitted", {"department": 30.9, "gender": 7.0}),
    ],
)
def test_the_root_of_an_effect_is_a_difference_in_points(name, label, points):
    result = relevance(load_table(name).to_frame(), label, weights="count")
    assert result.ranking() == list(points)
    for feature, expected in points.items():
        assert 100 * np.sqrt(result[feature]["effect"]) == pytest.approx(expected, abs=0.05)
        assert result[feature]["effect_low"] <= result[feature]["effect"] <= result[feature]["effect_high"]
        assert result[feature]["score"] == result[feature]["effect"]
    assert set(result.status) == {"effect"}
    assert set(result.score_basis) == {"effect"}
    # the effect rests on values with repeated rows, which are nearly all here
    assert result.noise_rate + result.effect == pytest.approx(result.ari, abs=0.002)


def by_hand(cells):
    """Rows and labels of a table given as {(value, context): (rows with label 0, rows with label 1)}."""
    rows = [row for row, (zeros, ones) in cells.items() for _ in range(zeros + ones)]
    labels = [label for zeros, ones in cells.values() for label in [0] * zeros + [1] * ones]
    return rows, labels


def test_index_noise_and_effect_worked_out_by_hand():
    """The table of docs/meaning.md."""
    rows, labels = by_hand({("a", "x"): (3, 1), ("b", "x"): (1, 3)})
    result = relevance(rows, labels, radius=1, feature_names=["drug", "ward"])
    drug = result["drug"]
    assert (drug["pairs"], drug["changed"]) == (16, 10)  # 3 * 3 + 1 * 1
    assert drug["ari"] == 10 / 16
    assert drug["noise_rate"] == pytest.approx(3 / 6)  # in each value 3 of 6 pairs differ
    assert drug["effect"] == pytest.approx(10 / 16 - 3 / 6)
    assert drug["effect_pairs"] == 16


def test_every_status_has_its_table():
    rng = np.random.default_rng(0)
    # a decides, but for a tenth of the rows; b does nothing; c copies d; e is constant
    a, b, d = rng.integers(0, 2, size=(3, 400))
    noisy = relevance(
        np.column_stack([a, b, d, d, np.zeros_like(a)]), np.where(rng.random(400) < 0.1, 1 - a, a), radius=1
    )
    assert noisy.status == ("effect", "unclear", "no-pairs", "no-pairs", "constant")
    assert noisy.paper_status == ("relevant", "relevant", "no-pairs", "no-pairs", "constant")
    few = [(0, 0), (1, 0), (0, 1)]
    assert relevance(few, [0, 1, 0], radius=1).status == ("noise-unknown", "none-seen")
    assert relevance(few, [0, 1, 0], radius=1, noise_free=True).status == ("effect", "none-seen")
    assert relevance(few, [0, 1, 0], radius=1).paper_status == ("relevant", "irrelevant")


def test_p_values_exist_without_repeated_rows():
    """All 256 rows of eight features, the label one of them with a tenth of the labels wrong."""
    X = np.array([[r >> k & 1 for k in range(8)] for r in range(256)])
    rng = np.random.default_rng(5)
    result = relevance(X, np.where(rng.random(256) < 0.1, 1 - X[:, 0], X[:, 0]), radius=1)
    assert result.n_identical == 0
    assert result.p_value[0] < 0.001
    assert result.status[0] == "effect"
    assert "effect" not in result.status[1:]
    assert (result.p_adjusted >= result.p_value).all()


def test_never_compared_values_are_known():
    rows = [("foul", "x"), ("none", "y"), ("almond", "y"), ("anise", "y"), ("foul", "z"), ("foul", "x")]
    result = relevance(rows, [1, 0, 0, 0, 1, 1], radius=1, feature_names=["odor", "place"])
    assert (result.value_pairs[0], result.value_pairs_compared[0]) == (6, 3)
    assert set(map(frozenset, result.never_compared("odor"))) == {
        frozenset({"foul", other}) for other in ("none", "almond", "anise")
    }
    assert "odor: 3 of 6 value pairs, foul never with none" in explain(result)
    with pytest.raises(InputError, match="There is no feature 'smell'"):
        result.never_compared("smell")


@pytest.mark.skipif("ANALOGICAL_DATA" not in os.environ, reason="needs the paper's data files: ANALOGICAL_DATA")
def test_no_feature_of_mushroom_is_dismissed_without_its_value_coverage():
    from analogical.experiments.datasets import find_folder, load_dataset

    data = load_dataset("mushroom", find_folder())
    assert data is not None
    result = relevance(data.codes, data.labels, radius=1, feature_names=data.feature_names)
    partly = [
        i
        for i, status in enumerate(result.status)
        if status == "none-seen" and result.value_pairs_compared[i] < result.value_pairs[i]
    ]
    assert partly
    sentence = next(words for words in view_of(result).findings if words.startswith("Not all of their values"))
    assert sentence.count("value pairs") + sum(map(int, re.findall(r"and (\d+) more", sentence))) == len(partly)
    for i in partly:
        assert result.not_compared[i]


def copies(seed, n_people=60, n_visits=60):
    """People with several equal rows; the first feature does nothing."""
    rng = np.random.default_rng(seed)
    person = np.repeat(np.arange(n_people), n_visits)
    return rng.integers(0, 2, size=(n_people, 2))[person], rng.integers(0, 2, n_people)[person], person


def test_copied_rows_look_like_evidence_without_groups():
    """Of 30 tables in which the features do nothing."""
    alone, grouped, covered = [], [], []
    for seed in range(30):
        X, y, person = copies(seed)
        alone.append(relevance(X, y, radius=1).p_value[0] <= 0.05)
        result = relevance(X, y, radius=1, groups=person)
        grouped.append(result.p_value[0] <= 0.05)
        covered.append(result.effect_low[0] <= 0)
    assert sum(alone) >= 27
    assert sum(grouped) <= 2
    assert sum(covered) >= 27
    assert result.settings.n_groups == 60
    assert "60 groups of rows: intervals leave out whole groups; p and effect take one row of each" in explain(result)


def test_groups_widen_the_interval_of_the_index():
    X, y, person = copies(0)
    alone, grouped = relevance(X, y, radius=1), relevance(X, y, radius=1, groups=person)
    assert grouped.ari.tolist() == alone.ari.tolist()
    assert (grouped.ari_high - grouped.ari_low > 2 * (alone.ari_high - alone.ari_low)).all()
    with pytest.raises(InputError, match=r'groups and duplicates="once"'):
        relevance(X, y, groups=person, duplicates="once")


def test_a_table_that_may_be_the_whole_population_says_so():
    monks = load_table("monks-1").to_frame("pandas").drop(columns="count")
    assert "if these rows are the whole population, there is no sampling error" in explain(relevance(monks, "class"))
    assert "whole population" not in explain(relevance(monks[1:], "class"))


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
