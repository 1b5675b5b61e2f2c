"""The result of `relevance`: its numbers, its words, its copies and its dataframes."""

import copy
import dataclasses
import json
import math
import pickle
import subprocess
import sys

import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pytest

import analogical
from analogical import InputError, load_table, relevance, select, table_names
from analogical.show.relevance import STATUSES, _list_given, describe_direction, has_direction, say_given
from analogical.show.views import view_of
from analogical.show.words import Measure

ROWS = [(0, 0, "c", 0), (0, 1, "c", 1), (1, 0, "c", 0), (1, 1, "c", 1), (0, 0, "c", 0), (0, 0, "c", 0)]
LABELS = ["no", "yes", "no", "yes", "no", "yes"]
MIXED = relevance(ROWS, LABELS, given="all", feature_names=["free", "b", "same", "<b>"])
TITANIC = relevance(load_table("titanic").to_frame(), "survived", weights="count")
MONKS = load_table("monks-1").to_frame("pandas").drop(columns="count")


def explain(result):
    return " ".join(view_of(result).explanation)


def sum_up(result):
    view = view_of(result)
    return " ".join((view.headline, *view.lines))


def test_status_says_why_there_is_no_size():
    assert MIXED.status == ("unclear", "unclear", "constant", "unclear")
    assert MIXED.paper_status == ("relevant", "no-pairs", "constant", "no-pairs")
    assert MIXED.ari.tolist() == [0.25, 2.0, 0.0, 2.0]
    assert np.isnan(MIXED.effect[1:]).all()
    assert MIXED.given == (("b", "same", "<b>"), ("free", "same", "<b>"), ("free", "b", "<b>"), ("free", "b", "same"))


def test_ranking_puts_constants_last():
    assert MIXED.ranking() == ["free", "b", "<b>", "same"]
    assert MIXED.with_status("constant") == ["same"]


def test_to_dict_is_ready_for_json():
    content = json.loads(json.dumps(MIXED.to_dict(), allow_nan=False))
    assert [feature["name"] for feature in content["features"]] == list(MIXED.names)
    assert content["features"][1] == {
        "name": "b",
        "status": "unclear",
        "effect": None,
        "effect_low": None,
        "effect_high": None,
        "p_value": None,
        "p_adjusted": None,
        "direction": None,
        "slope": None,
        "given": ["free", "same", "<b>"],
        "adjusted_for": [],
        "same_as": None,
        "index": None,
        "noise_rate": None,
        "compared": 0,
        "ari": 2.0,
        "pairs": 0,
        "changed": 0,
        "paper_status": "no-pairs",
        "n_values": 2,
        "n_missing": 0,
        "edges": [],
    }
    assert content["classes"] == ["no", "yes"]
    assert (content["label"], content["n_rows"], content["deciding"]) == ("y", 6, [])
    assert content["settings"] == {
        "given": "all",
        "confidence": 0.95,
        "duplicates": "count",
        "weighted": False,
        "searched_rows": None,
        "explained": None,
        "negligible": 0.02,
        "scale": "classes",
        "unit": "",
        "n_groups": None,
        "engine": "memory",
        "backend": None,
    }
    assert content["notes"] == []
    sex = json.loads(json.dumps(TITANIC.to_dict(), allow_nan=False))["features"][1]
    assert (sex["direction"]["value"], sex["direction"]["against"], sex["direction"]["label"]) == (
        "female",
        "male",
        "yes",
    )
    assert sex["direction"]["difference"] == pytest.approx(49.19, abs=0.01)


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
    assert frame["effect"].dtype == float
    assert frame["effect"].isna().tolist() == [False, True, True, True]
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


def test_repr_is_the_answer_a_table_best_first_and_what_it_rests_on():
    assert repr(TITANIC).splitlines() == [
        "3 of 3 features have a significant effect on 'survived'.",
        "feature  points    95% CI          share of 'yes'    ARI  p adj.  status",
        "sex          49  44 to 55  ██████  female +49      0.578   <.001  effect",
        "age          24  15 to 34  ██▉     child +19       0.403   <.001  effect",
        "class        16  13 to 19  █▉      3rd -14         0.328   <.001  effect",
        "Given the deciding set: sex, class and age. It explains 29.0 % of the label.",
        "2,201 rows, 3 features.",
    ]
    assert (
        TITANIC.settings.explained
        == select(load_table("titanic").to_frame(), "survived", weights="count").explained[-1]
    )


def test_the_paper_has_a_table_of_its_own():
    view = view_of(MIXED, paper=True)
    assert view.headline == "1 of 4 features is relevant for 'y' as the paper defines it."
    assert [[cell.text for cell in row] for row in view.tables[0].rows] == [
        ["free", "0.250", "4", "1", "relevant"],
        ["b", "2.000", "0", "0", "no-pairs"],
        ["<b>", "2.000", "0", "0", "no-pairs"],
        ["same", "0.000", "0", "0", "constant"],
    ]
    assert [row[1].bar for row in view.tables[0].rows][:1] == [0.25]
    assert math.isnan(view.tables[0].rows[1][1].bar)  # 2 is not a share
    assert "ARI" not in [heading.title for heading in view_of(MIXED).tables[0].headings]  # some have no pairs


def test_monks_given_all_other_features_is_the_paper():
    result = relevance(MONKS, "class", given="all")
    found = {name: (one["ari"], one["pairs"], one["changed"]) for name, one in ((n, result[n]) for n in result.names)}
    assert found == {
        "head_shape": (0.5, 432, 216),
        "body_shape": (0.5, 432, 216),
        "is_smiling": (0.0, 216, 0),
        "holding": (0.0, 432, 0),
        "jacket_color": (1 / 3, 648, 216),
        "has_tie": (0.0, 216, 0),
    }
    assert set(result.with_status("effect")) == {"jacket_color"}  # no row repeats, and directions of the others cancel


def test_monks_is_equal_on_what_matters():
    result = relevance(MONKS, "class")
    assert set(result.deciding) == {"head_shape", "body_shape", "jacket_color"}
    assert result.ranking()[:3] == ["head_shape", "body_shape", "jacket_color"]
    assert result.effect[[0, 1, 4]] == pytest.approx([0.5, 0.5, 1 / 3])
    assert "mixed: the direction depends on other features (head_shape and body_shape)." in sum_up(result)


def test_repr_of_a_wide_table_is_short():
    rows = np.eye(100, dtype=int)
    text = repr(relevance(rows, [0, 1] * 50, given="all"))
    assert len(text.splitlines()) == 56
    assert "... and 50 more; to_frame() and --json have all" in text


def test_html_escapes_names_and_has_a_bar_per_feature():
    html = MIXED._repr_html_()
    assert "&lt;b&gt;" in html
    assert "<b>" not in html
    table, details = html.split("<details>")
    assert (table.count("<tr>"), details.count("<tr>")) == (5, 5)
    titanic = TITANIC._repr_html_()
    assert ('width:60px"></span>' in titanic, "width:29px" in titanic) == (True, True)  # 24 of 49 points


def test_results_are_frozen_equal_by_value_and_survive_copies():
    with pytest.raises(dataclasses.FrozenInstanceError):
        MIXED.label = "other"
    assert pickle.loads(pickle.dumps(MIXED)) == MIXED  # noqa: S301
    assert copy.deepcopy(MIXED) == MIXED
    assert relevance(ROWS, LABELS) != MIXED
    assert MIXED != "something else"


def test_the_answer_comes_first_and_every_status_has_its_line():
    rng = np.random.default_rng(0)
    a, b, c = rng.integers(0, 2, size=(3, 800))
    few = np.where(rng.random(800) < 0.005, 1, 0)
    X = np.column_stack([a, b, 1 - a, np.zeros_like(a), few, c])
    names = ["a", "b", "copy", "one", "few", "c"]
    y = np.where(rng.random(800) < 0.1, 1 - a, a)
    result = relevance(X, y, feature_names=names)
    assert result.status == ("effect", "none", "same", "constant", "unclear", "none")
    assert result.same_as == (None, None, "a", None, None, None)
    assert sum_up(result).startswith("1 of 6 features has a significant effect on 'y'. Given the deciding set: a. It")
    assert [text for text in view_of(result).explanation if text.partition(":")[0] in STATUSES] == [
        "unclear: not significant, but an effect of 14 points or more is not ruled out (few).",
        "none: not significant, and the interval ends at or below 14 points ({} and {}).".format(
            *result.with_status("none")
        ),
        "same: a copy of another feature; no test can distinguish the two (copy of a).",
        "constant: one value only (one).",
    ]
    (table,) = view_of(result).tables
    copied = next(row for row in table.rows if row[0].text == "copy")
    assert [cell.text for cell in copied] == ["copy", "-", "-", "same as a", "-", "same"]
    nothing = relevance(X[:, [1, 5]], np.random.default_rng(1).integers(0, 2, 800))
    assert sum_up(nothing).startswith("None of 2 features has a significant effect on 'y'.")
    assert "Given nothing: no set of features predicts the label" in sum_up(nothing)


@pytest.mark.parametrize(
    ("given", "words"),
    [
        ("all", "Given all other features: compared rows differ on one feature only, as in the paper."),
        ([], "Given nothing (univariate): all rows are compared, whatever their other values."),
        (["class"], "Given class: compared rows agree on it."),
        (["class", "age"], "Given class and age: compared rows agree on these."),
        ("auto", "Given the deciding set: sex, class and age. It explains 29.0 % of the label."),
    ],
)
def test_one_line_says_what_was_given(given, words):
    result = relevance(load_table("titanic").to_frame(), "survived", weights="count", given=given)
    assert say_given(result) == words
    assert words in view_of(result).lines
    assert words in " ".join(repr(result).split())


def test_a_set_that_was_chosen_on_a_part_of_the_rows_says_so():
    part = dataclasses.replace(TITANIC, settings=dataclasses.replace(TITANIC.settings, searched_rows=1000))
    assert "The deciding set was chosen on 1,000 of the rows; all numbers come from all rows." in explain(part)
    assert "was chosen on" not in explain(TITANIC)


def test_directions_are_said_in_words():
    assert describe_direction(TITANIC.direction[1], Measure()) == (
        "'yes' is 49 points more frequent with female than with male (+44 to +54)"
    )
    assert "class: 'yes' is 14 points less frequent with 3rd than with crew (-19 to -8.8)." in explain(TITANIC)
    berkeley = relevance(load_table("berkeley").to_frame(), "admitted", weights="count")
    gender = berkeley.names.index("gender")
    assert berkeley.direction[gender].low < 0 < berkeley.direction[gender].high
    assert not has_direction(berkeley.direction[gender])
    (table,) = view_of(berkeley).tables
    assert [row[3].text for row in table.rows] == ["F -59", "mixed"]
    assert "mixed: the direction depends on other features (gender)." in sum_up(berkeley)
    three = relevance([(0,), (1,), (2,)] * 40, ["x", "y", "z"] * 40)
    assert view_of(three).tables[0].headings[3].title == "value: label"
    assert view_of(three).tables[0].rows[0][3].text == "1: 'y' +100"


def test_an_index_beside_unknown_noise_is_an_upper_bound_and_not_an_effect():
    """An exclusive or in which no row repeats: nothing shows the noise, and no direction is common."""
    result = relevance(MONKS, "class", given="all")
    head = result.names.index("head_shape")
    assert (result.status[head], result.effect[head], result.effect_low[head]) == ("unclear", 0.5, 0.0)
    assert result.p_value[head] == 1.0
    (table,) = view_of(result).tables
    row = next(row for row in table.rows if row[0].text == "head_shape")
    assert [cell.text for cell in row][1:5] == ["71", "0 to 74", "-", "0.500"]
    assert (
        "Upper bounds (head_shape and body_shape): no rows repeat, so noise cannot be estimated, and the effect"
        " is at most the index."
    ) in explain(dataclasses.replace(result, status=("effect", "effect", *result.status[2:])))
    assert "Upper bounds" not in explain(TITANIC)


def test_the_table_is_described_in_a_few_words():
    assert view_of(MIXED).about == ("6 rows", "4 features")
    frame = pd.DataFrame({"a": [0.5 * k for k in range(60)], "b": ["x", None] * 30, "c": [f"id{k}" for k in range(60)]})
    result = relevance(frame, [0, 1, 1] * 20)
    assert view_of(result).about == (
        "60 rows",
        "2 features",
        "1 column set aside",
        "1 with missing cells",
        "1 binned",
    )
    assert len(view_of(result).notes) == 3


def test_explain_says_what_the_numbers_rest_on():
    words = explain(MIXED)
    assert "2 features have no pairs (b and <b>): the given features determine them, or there are" in words
    assert "Intervals and p assume independent rows; use groups (--groups) if they are not." in words
    assert "Intervals are not adjusted: one may exclude 0 beside a p that is not significant." in words
    assert "associations given the recorded features, not causes" in words
    (details,) = view_of(TITANIC).details
    assert [heading.title for heading in details.headings] == ["feature", "index", "noise", "pairs compared", "given"]
    assert [cell.text for cell in details.rows[0]] == ["sex", "0.578", "0.327", "138,516", "class, age"]


def test_features_in_thin_contexts_are_named():
    given = tuple(tuple(g for g in names if g != "age") for names in TITANIC.given)
    thin = explain(dataclasses.replace(TITANIC, given=given))
    assert "2 features were compared given a part of the deciding set, because too few rows agree on all of it" in thin
    assert "(sex and class)" in thin
    assert "given fewer" not in explain(TITANIC)


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


@pytest.mark.parametrize(
    ("name", "label", "points"),
    [
        ("titanic", "survived", {"sex": 49.3, "age": 24.1, "class": 15.8}),
        ("berkeley", "admitted", {"department": 31.1, "gender": 6.3}),
    ],
)
def test_the_root_of_an_effect_is_a_difference_in_points(name, label, points):
    result = relevance(load_table(name).to_frame(), label, weights="count")
    assert result.ranking() == list(points)
    for feature, expected in points.items():
        assert 100 * np.sqrt(result[feature]["effect"]) == pytest.approx(expected, abs=0.05)
        assert result[feature]["effect_low"] <= result[feature]["effect"] <= result[feature]["effect_high"]
    assert set(result.status) == {"effect"}


def by_hand(cells):
    """Rows and labels of a table given as {(value, context): (rows with label 0, rows with label 1)}."""
    rows = [row for row, (zeros, ones) in cells.items() for _ in range(zeros + ones)]
    labels = [label for zeros, ones in cells.values() for label in [0] * zeros + [1] * ones]
    return rows, labels


def test_index_noise_and_effect_worked_out_by_hand():
    """The table of docs/meaning.md."""
    rows, labels = by_hand({("a", "x"): (3, 1), ("b", "x"): (1, 3)})
    drug = relevance(rows, labels, given="all", feature_names=["drug", "ward"])["drug"]
    assert (drug["pairs"], drug["changed"]) == (16, 10)  # 3 * 3 + 1 * 1
    assert drug["ari"] == drug["index"] == 10 / 16
    assert drug["noise_rate"] == pytest.approx(3 / 6)  # in each value 3 of 6 pairs differ
    common = (1 / 2) ** 2 - 13 / 72  # the squared difference of the shares 1/4 and 3/4, less its variance
    assert common < drug["effect"] < drug["index"] - drug["noise_rate"]
    assert drug["effect"] == pytest.approx(0.0700, abs=5e-5)  # on so few rows hardly more than the common part
    many = relevance(rows, labels, given="all", weights=[1000] * 8)
    assert many.index[0] - many.noise_rate[0] == pytest.approx(10 / 16 - 3 / 8, abs=1e-3)
    assert many.effect[0] == pytest.approx(1 / 4, abs=1e-3)


def test_p_values_exist_without_repeated_rows():
    """All 256 rows of eight features, the label one of them with a tenth of the labels wrong."""
    X = np.array([[r >> k & 1 for k in range(8)] for r in range(256)])
    rng = np.random.default_rng(5)
    result = relevance(X, np.where(rng.random(256) < 0.1, 1 - X[:, 0], X[:, 0]), given="all")
    assert np.isnan(result.noise_rate).all()
    assert result.p_value[0] < 0.001
    assert result.status[0] == "effect"
    assert "effect" not in result.status[1:]
    assert (result.p_adjusted >= result.p_value).all()


def copies(seed, n_people=60, n_visits=60):
    """People with several equal rows; the first feature does nothing."""
    rng = np.random.default_rng(seed)
    person = np.repeat(np.arange(n_people), n_visits)
    return rng.integers(0, 2, size=(n_people, 2))[person], rng.integers(0, 2, n_people)[person], person


def test_copied_rows_look_like_evidence_without_groups():
    """Of 30 tables in which the features do nothing."""
    alone, grouped = [], []
    for seed in range(30):
        X, y, person = copies(seed)
        alone.append(relevance(X, y, given="all").p_value[0] <= 0.05)
        result = relevance(X, y, given="all", groups=person)
        grouped.append(result.p_value[0] <= 0.05)
        assert (result.effect_low[0] > 0) <= grouped[-1]
    assert sum(alone) >= 27
    assert sum(grouped) <= 2
    assert result.settings.n_groups == 60
    assert "Intervals and p assume 60 independent groups of rows." in explain(result)


def test_groups_widen_the_interval():
    X, y, person = copies(0)
    alone, grouped = relevance(X, y, given="all"), relevance(X, y, given="all", groups=person)
    assert grouped.ari.tolist() == alone.ari.tolist()
    wide, narrow = (result.direction[0].high - result.direction[0].low for result in (grouped, alone))
    assert wide > 5 * narrow
    with pytest.raises(InputError, match=r'groups and duplicates="once"'):
        relevance(X, y, groups=person, duplicates="once")


@pytest.mark.parametrize("given", ["some", 3, None])
def test_other_contexts_are_refused(given):
    with pytest.raises(InputError, match="given must be"):
        relevance(ROWS, LABELS, given=given)
    with pytest.raises(InputError, match="no column 'colour'"):
        relevance(ROWS, LABELS, given=["colour"])


@pytest.mark.parametrize("confidence", [None, 0, 1, 95, True])
def test_other_levels_are_refused(confidence):
    with pytest.raises(InputError, match=r"confidence must be a number between 0 and 1, such as 0\.95, got"):
        relevance(ROWS, LABELS, confidence=confidence)


def test_progress_is_one_line_on_stderr(capsys):
    relevance(ROWS, LABELS, given="all", progress=True)
    assert capsys.readouterr().err.endswith("\rcomparing rows: 3 of 3\n")  # one of the four is constant


def test_what_is_subtracted_is_listed_beside_what_is_given():
    result = dataclasses.replace(TITANIC, given=(("class",), ("sex",), ()), adjusted_for=(("age",), (), ("sex",)))
    assert [_list_given(result, i) for i in range(3)] == ["class; subtracted: age", "sex", "-; subtracted: sex"]
