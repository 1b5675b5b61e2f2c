"""``analogical compare`` and the comparison behind it."""

import csv
import io
import json
import tracemalloc
from dataclasses import replace
from pathlib import Path

import numpy as np
import pandas as pd
import pytest

from analogical import InputError, MissingDependencyError, Study, compare, load_table, relevance
from analogical.count.groups import CodedRows
from analogical.paper import sample
from analogical.questions import compare as _comparison
from analogical.questions import relevance as _relevance
from analogical.rivals import METHODS, Method
from analogical.show.views import view_of


def test_ranks_are_shared_by_equals_and_last_without_evidence():
    X, y = sample("g2", 3)
    found = compare(np.column_stack([X, X[:, 2]]), y, methods=["ari"])
    assert found.ranks["ari"].tolist() == [1, 1, 3, 3]
    assert np.isnan(found.scores["ari"][2:]).all()
    assert found.order().tolist() == [0, 1, 2, 3]
    assert [feature["ari"]["share"] for feature in found.to_dict()["features"]] == [0.5, 0.5, None, None]


def churn():
    return pd.read_csv(Path(__file__).parents[2] / "docs" / "data" / "churn.csv"), "churned", {}


def titanic():
    return load_table("titanic").to_frame(), "survived", {"weights": "count"}


def mixed():
    """Two features that matter, a copy, a constant, a number and some that do not matter."""
    rng = np.random.default_rng(3)
    X = rng.integers(0, 3, (400, 8))
    y = (X[:, 4] > 0) ^ (rng.random(400) < 0.1) ^ ((X[:, 6] == 1) & (rng.random(400) < 0.3))
    frame = pd.DataFrame(X.astype(str), columns=list("abcdefgh"))
    frame["copy"], frame["one"], frame["number"] = frame["e"].str.cat(["!"] * 400), "x", rng.normal(size=400)
    return frame.iloc[:, ::-1].assign(y=y), "y", {}


@pytest.mark.parametrize("table", [titanic, churn, mixed])
def test_ours_is_ranked_as_by_relevance(table):
    X, y, options = table()
    ours, found = relevance(X, y, **options), compare(X, y, methods=["effect", "chi2"], **options)
    assert [found.names[i] for i in found.order()] == ours.ranking()
    assert [record["name"] for record in found.records()] == ours.ranking()
    np.testing.assert_array_equal(found.scores["effect"], ours.effect)
    assert sorted(found.ranks["effect"].tolist()) == list(range(1, len(ours) + 1))
    assert [found[name]["effect"]["rank"] for name in ours.ranking()] == list(range(1, len(ours) + 1))
    assert "ranks of Effect are those of score." in view_of(found).lines[0]
    assert view_of(compare(X, y, methods=["chi2"], **options)).lines[0].endswith("in parentheses.")


def test_sample_without_some_classes_is_scored_as_a_table_of_its_own():
    """Of six classes, two are too rare to be in the sample."""
    rng = np.random.default_rng(2)
    X = rng.integers(0, 3, (600, 5))
    y = np.where(np.arange(600) < 3, 5, np.where(np.arange(600) > 596, 2, X[:, 1] + (X[:, 1] > 1)))
    rows = Study(X, y).rows
    drawn = _comparison._draw(rows, 60, np.random.default_rng(0))
    assert set(drawn.labels.tolist()) < set(rows.labels.tolist())
    for name in ("forest", "permutation", "relief", "relieff"):
        rng = np.random.default_rng(0)
        drawn = _comparison._draw(rows, 60, rng)
        expected = METHODS[name](drawn.codes, drawn.labels, rng)
        np.testing.assert_array_equal(compare(X, y, methods=[name], max_rows=60).scores[name], expected)


def test_method_that_is_not_installed_is_refused(monkeypatch):
    X, y, options = titanic()
    monkeypatch.setitem(METHODS, "relieff", replace(METHODS["relieff"], package="a_missing_package"))
    with pytest.raises(MissingDependencyError, match=r"The method 'relieff' needs a_missing_package, which is not"):
        compare(X, y, methods=["relieff"], **options)


def test_ours_comes_first_by_default_and_asks_the_study_once(monkeypatch):
    X, y, options = titanic()
    study = Study(X, y, **options)
    ours = relevance(study)
    monkeypatch.setattr(_relevance, "_relevance", lambda *_, **__: pytest.fail("searched again"))
    found = compare(study)
    assert [method.name for method in found.methods][:3] == ["effect", "ari", "chi2"]
    assert [found.names[i] for i in found.order()] == ours.ranking()


def test_weights_stand_for_rows():
    titanic = load_table("titanic")
    methods = ["ari", "chi2", "mi", "forest", "permutation"]
    weighted = compare(titanic.X, titanic.y, weights=titanic.weights, methods=methods)
    spread_out = np.repeat(np.arange(len(titanic.y)), titanic.weights)
    repeated = compare(titanic.X[spread_out], titanic.y[spread_out], methods=methods)
    for method in methods:
        np.testing.assert_allclose(weighted.scores[method], repeated.scores[method])


def test_large_tables_are_sampled_for_slow_methods_and_say_so():
    X, y = sample("g1", 8)
    found = compare(X, y, methods=["ari", "relief"], max_rows=50, random_state=3)
    assert (found.sampled, found.n_rows, found.max_rows, found.seed) == (("relief",), 256, 50, 3)
    assert "Relief used 50 random rows of 256 (seed 3); set max_rows to change this." in view_of(found).lines
    assert found.scores["ari"].tolist() == compare(X, y, methods=["ari"]).scores["ari"].tolist()
    with pytest.raises(InputError, match=r"max_rows must be a whole number from 2, got 1\."):
        compare(X, y, max_rows=1)


def test_table_shows_shares_and_ranks(run):
    code, out, err = run("compare", "monks-1")
    assert (code, err) == (0, "")
    lines = [line.split() for line in out.splitlines()]
    assert ["feature", "Effect", "ARI", "χ²", "MI", "Forest", "Permutation"] in lines
    assert "Not shown at this width: Relief" in " ".join(out.split())
    assert next(line for line in lines if line[:1] == ["head_shape"])[3:5] == ["0.375", "(1)"]
    assert "0.000 (4)" in out
    assert "Relief: Kira and Rendell's Relief" in " ".join(run("compare", "monks-1", "--explain")[1].split())


def test_no_evidence_is_a_dash(run, tmp_path):
    table = tmp_path / "t.csv"
    table.write_text("a,copy,label\n1,1,x\n2,2,y\n1,1,y\n2,2,x\n")
    code, out, _ = run("compare", str(table), "--methods", "ari,chi2")
    assert code == 0
    assert next(line for line in out.splitlines() if line.startswith("copy")).split()[1] == "-"


def test_json_is_in_column_order(run):
    code, out, _ = run("compare", "titanic", "--json", "--methods", "mi,ari")
    content = json.loads(out)
    assert code == 0
    assert [feature["name"] for feature in content["features"]] == ["class", "sex", "age"]
    assert [method["name"] for method in content["methods"]] == ["mi", "ari"]
    assert content["source"]["label"] == "survived"
    assert content["features"][1]["ari"]["rank"] == 1


def test_csv_has_the_best_of_the_first_method_first(run, tmp_path):
    table = tmp_path / "t.csv"
    rows = "".join(f"{a},{b},{a}\n" for a in range(2) for b in range(3))
    table.write_text(f"x,z,label\n{rows}")
    code, out, err = run("compare", str(table), "--csv", "--methods", "ari,chi2")
    rows = list(csv.DictReader(io.StringIO(out)))
    assert code == 0
    assert "label: the last column" in err
    assert [row["name"] for row in rows] == ["x", "z"]
    assert (rows[0]["ari_score"], rows[0]["ari_rank"], rows[1]["ari_rank"]) == ("1.0", "1", "2")
    assert list(rows[0]) == ["name", *(f"{m}_{c}" for m in ("ari", "chi2") for c in ("score", "share", "rank"))]


@pytest.mark.parametrize(("ending", "start"), [("png", b"\x89PNG"), ("svg", b"<?xml"), ("pdf", b"%PDF")])
def test_charts_are_drawn(ending, start, run, tmp_path):
    path = tmp_path / f"methods.{ending}"
    code, _, err = run("compare", "monks-1", "--methods", "ari,chi2,mi", "--plot", str(path))
    assert code == 0
    assert path.read_bytes().startswith(start)
    assert f"drawn to {path}" in err


def test_installed_methods_are_the_default_and_the_others_are_named(run, monkeypatch):
    absent = Method("exotic", "Exotic", "", METHODS["ari"].score, package="no_such_library")
    monkeypatch.setitem(METHODS, "exotic", absent)
    code, out, _ = run("compare", "titanic", "--explain")
    assert code == 0
    assert 'Exotic left out: no_such_library is not installed (pip install "analogical[compare]")' in " ".join(
        out.split()
    )
    code, _, err = run("compare", "titanic", "--methods", "exotic")
    assert code == 2
    assert "The method 'exotic' needs no_such_library, which is not installed." in err


@pytest.mark.parametrize(
    ("words", "message"),
    [
        (
            ["titanic", "--methods", "ari,gini"],
            "no method 'gini'; choose from effect, ari, chi2, mi, forest, permutation, relief, relieff.",
        ),
        (["titanic", "--json", "--csv"], "--json and --csv cannot be used together; give one of them."),
        (["titanic", "--seed", "-1"], "--seed must be a whole number from 0, got -1."),
        (["titanic", "--max-rows", "0"], "max_rows must be a whole number from 2, got 0."),
        (["titanic", "--label", "nope"], "nope"),
        (["nowhere.csv"], "There is no file 'nowhere.csv'"),
        (
            ["titanic", "--methods", "ari", "--plot", "x.doc"],
            "A figure cannot be written to 'x.doc'; name a file that ends in",
        ),
        (["titanic", "--methods", "ari", "--plot", "no/x.png"], "There is no folder 'no' to write the figure to"),
    ],
)
def test_bad_requests_are_one_line_and_exit_code_2(words, message, run):
    code, out, err = run("compare", *words)
    assert (code, out) == (2, "")
    assert message in err
    assert "Traceback" not in err


def test_top_shows_the_best_of_the_first_method(run):
    code, out, _ = run("compare", "monks-1", "--methods", "mi,ari", "--top", "2")
    assert code == 0
    assert "sorted by MI." in out
    assert [line.split()[0] for line in out.splitlines() if line.startswith(("jacket", "head", "body", "has"))] == [
        "jacket_color",
        "head_shape",
    ]
    content = json.loads(run("compare", "monks-1", "--methods", "mi,ari", "--top", "2", "--json")[1])
    assert [f["name"] for f in content["features"]] == ["head_shape", "jacket_color"]  # in column order
    rows = list(csv.DictReader(io.StringIO(run("compare", "monks-1", "--methods", "mi", "--top", "1", "--csv")[1])))
    assert [row["name"] for row in rows] == ["jacket_color"]
    code, out, err = run("compare", "monks-1", "--top", "0")
    assert (code, out, err) == (2, "", "--top must be a whole number from 1, got 0.\n")


def test_ties_of_the_first_method_go_by_the_next_one():
    X, y = sample("g2", 3)
    rows = np.column_stack([np.arange(8), X])
    found = compare(rows, y, methods=["ari", "chi2"], ids="keep")
    assert np.isnan(found.scores["ari"]).all()
    assert found.order().tolist() == np.argsort(found.ranks["chi2"], kind="stable").tolist()


@pytest.fixture
def few_methods():
    """Two methods, and one that takes two seconds for each feature."""
    known = dict(METHODS)
    slow = Method("slow", "Slow", "", METHODS["ari"].score, costs=(2.0, 0.0, 0.0))
    METHODS.clear()
    METHODS.update(ari=known["ari"], chi2=known["chi2"], slow=slow)
    yield
    METHODS.clear()
    METHODS.update(known)


@pytest.mark.usefixtures("few_methods")
def test_a_method_that_takes_long_is_left_out_unless_asked_for(run):
    titanic = load_table("titanic").to_frame()
    found = compare(titanic, "survived", weights="count")
    assert found.left_out == ("slow",)
    assert "slow" not in found.scores
    assert found.to_dict()["left_out"] == ["slow"]
    assert view_of(found).lines[1] == (
        "Slow left out: it takes more than a few seconds on this table; request it by name, such as"
        " methods=['ari', 'slow'] (--methods ari,slow)."
    )
    assert compare(titanic, "survived", weights="count", methods=["slow"]).left_out == ()
    assert compare(titanic, "survived", weights="count", features=["sex", "age"]).left_out == ()
    out = " ".join(run("compare", "titanic")[1].split())
    assert "Slow left out: it takes more than a few seconds on this table" in out


def test_what_is_left_out_depends_on_the_size_of_the_table_alone():
    long = {n: [name for name, method in METHODS.items() if method.seconds(3_000, n) > 5] for n in (6, 57, 1_000)}
    assert long == {6: [], 57: ["permutation", "relieff"], 1_000: ["forest", "permutation", "relief", "relieff"]}
    assert METHODS["mi"].seconds(10**9, 1_000) == 0


def test_long_tables_are_shortened():
    rng = np.random.default_rng(0)
    found = compare(rng.integers(0, 2, (50, 70)), rng.integers(0, 2, 50), methods=["mi"])
    (table,) = view_of(found).tables
    assert (len(table.rows), table.note) == (50, "... and 20 more; to_frame() and --json have all")


def test_large_weights_and_ids_fit_in_memory():
    """Rows are not repeated, and neither values x rows nor values x classes become a table."""
    X = np.array([(k, k % 3) for k in range(3000)])
    y, weights = [f"class {k % 1000}" for k in range(3000)], np.arange(3000) * 100
    tracemalloc.start()
    found = compare(X, y, weights=weights, methods=["ari", "chi2", "mi"], ids="keep", max_values=None)
    peak = tracemalloc.get_traced_memory()[1]
    tracemalloc.stop()
    assert peak < 2**24
    assert found.n_rows == weights.sum()
    assert found.scores["chi2"][0] == pytest.approx(weights.sum() * 999)  # an id determines the class


def test_weights_scale_chi2_and_leave_mi():
    rng = np.random.default_rng(0)
    X, y, weights = rng.integers(0, 3, (30, 2)), rng.integers(0, 2, 30), rng.integers(1, 9, 30)
    one, large = (compare(X, y, weights=weights * k, methods=["chi2", "mi"]) for k in (1, 10**6))
    np.testing.assert_allclose(large.scores["chi2"], 10**6 * one.scores["chi2"])
    np.testing.assert_allclose(large.scores["mi"], one.scores["mi"])


@pytest.mark.parametrize("times", [1, 10_000])
def test_rows_are_drawn_as_often_as_their_weight_says(times):
    weights = times * np.array([1, 5000, 2, 3000, 4])
    rows = CodedRows(np.arange(5, dtype=np.uint8)[:, None], np.zeros(5, np.uint8), np.array([5]), 1, weights)
    drawn = _comparison._draw(rows, 1000, np.random.default_rng(0)).codes[:, 0]
    times = np.bincount(drawn, minlength=5)
    assert times.sum() == 1000
    assert (times <= weights).all()
    assert times[1] / times[3] == pytest.approx(5 / 3, rel=0.2)
    assert _comparison._draw(rows.weighted(np.array([1, 3, 0, 2, 1])), 7, np.random.default_rng(0)).codes[
        :, 0
    ].tolist() == [
        0,
        1,
        1,
        1,
        3,
        3,
        4,
    ]


def test_numbers_are_compared_by_methods_of_numbers():
    rng = np.random.default_rng(0)
    X = rng.integers(0, 3, (400, 5))
    price = 1e5 * (X[:, 1] + 2.0 * (X[:, 3] == 2)) + 2e4 * rng.normal(size=400)
    found = compare(X, price)
    assert [method.name for method in found.methods][:5] == ["effect", "f", "mi", "forest", "permutation"]
    assert found.scale == "number"
    for method in found.methods:
        assert set(found.order()[:2]) == {1, 3} == set(np.argsort(found.ranks[method.name])[:2])
    logs = compare(X, price - price.min() + 1, methods=["effect", "f"], scale="log")
    assert logs.scale == "log"
    assert logs.scores["f"].tolist() != found.scores["f"].tolist()
    with pytest.raises(InputError, match="There is no method 'ari' for a label that is a number"):
        compare(X, price, methods=["ari"])


def test_numbers_0_and_1_have_the_effect_of_two_classes():
    X, y, options = titanic()
    y = (X[y] == "yes").astype(int)
    X = X.drop(columns="survived")
    of_classes = compare(X, y, methods=["effect"], **options)
    of_numbers = compare(X, y, methods=["effect"], scale="number", **options)
    np.testing.assert_allclose(of_numbers.scores["effect"], of_classes.scores["effect"], rtol=1e-9)
