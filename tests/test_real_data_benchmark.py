"""The benchmark on real data: what it chooses, counts and says."""

import importlib.util
import sys
from pathlib import Path

import numpy as np
import pytest

from analogical.experiments.datasets import load_dataset

SCRIPT = Path(__file__).parent.parent / "benchmarks" / "recovery" / "real_data.py"
pytestmark = pytest.mark.skipif(not SCRIPT.exists(), reason="the benchmarks are no part of the source package")


@pytest.fixture
def benchmark(monkeypatch):
    monkeypatch.setattr(sys, "path", [*sys.path])
    spec = importlib.util.spec_from_file_location("real_data", SCRIPT)
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


def test_four_features_are_chosen_whatever_their_scores(benchmark):
    scores = np.array([-1.0, np.nan, 0.0, 0.5, 0.0, -2.0])
    assert benchmark.top_features(scores) == (0, 2, 3, 4)
    assert benchmark.top_features(scores, k=2) == (2, 3)


def test_accuracy_of_monks_1_is_what_an_additive_model_can_reach(benchmark):
    found = benchmark.measure([load_dataset("monks-1")], n_seeds=1)
    assert found == {"monks-1": {method: [75.0] for method in benchmark.METHOD_NAMES}}


def test_copy_of_the_label_is_no_feature(benchmark, data_folder):
    assert "breast-cancer-class" in benchmark.NAMES
    dataset = load_dataset("breast-cancer-class", data_folder)
    assert dataset.codes.shape == (277, 8)
    assert np.unique(dataset.codes, axis=1).shape == (277, 8)  # no two columns are equal
    assert np.bincount(dataset.labels).tolist() == [196, 81]


def test_page_says_where_the_index_loses(benchmark):
    level = {method: [50.0, 60.0] for method in benchmark.METHOD_NAMES}
    found = {"even": level, "lost": level | {"ReliefF": [51.0, 60.0], "mutual information": [49.0, 60.0]}}
    text = benchmark.page(found)
    assert "- lost: ReliefF by 0.5 (in 1 of 2 seeds)\n" in text
    assert "- even:" not in text
    assert "- behind ReliefF by 0.25 points; better on 0, worse on 1 of 2 data sets" in text
    assert "- ahead of mutual information by 0.25 points; better on 1, worse on 0 of 2 data sets" in text
    assert "- level with chi2, one-hot; better on 0, worse on 0 of 2 data sets" in text
    assert "| lost | 55.0 | 55.0 | 55.0 | 55.0 | 54.5 | **55.5** |" in text
    assert "No real data were held out." in text
    assert "No peer is ahead" in benchmark.page({"even": level})


def test_recorded_page_is_that_of_the_recorded_numbers(benchmark):
    import json

    recorded = json.loads(SCRIPT.with_suffix(".json").read_text())
    assert list(recorded["accuracy"]) == list(benchmark.NAMES)
    assert all(len(v) == benchmark.SEEDS for runs in recorded["accuracy"].values() for v in runs.values())
    page = SCRIPT.with_suffix(".md").read_text()
    assert "\n".join(benchmark.table(recorded["accuracy"])) in page
    assert all(
        line in page for line in (*benchmark.verdict(recorded["accuracy"]), *benchmark.losses(recorded["accuracy"]))
    )


def test_missing_data_is_said_in_one_line(benchmark, tmp_path, monkeypatch):
    monkeypatch.setattr("sys.argv", ["real_data.py", "--data", str(tmp_path)])
    with pytest.raises(
        SystemExit, match=r"Missing data: monks-2\.csv, .*mushroom\.csv\. Name the folder that holds them"
    ):
        benchmark.main()
