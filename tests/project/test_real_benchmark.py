"""The benchmark on real tables: what it draws, chooses, keeps and says."""

import os
import sys
from pathlib import Path

import numpy as np
import polars as pl
import pytest
from conftest import random_table

from analogical.columns.encode import encode_table

BENCHMARK = "real"


@pytest.fixture
def table():
    """The label is a of (a, b, amount) in three classes of 60, 45 and 1 rows; amount is binned, some cells missing."""
    rng = np.random.default_rng(0)
    a = np.repeat([0, 1, 2], [60, 45, 1])
    amount = rng.normal(size=106) + a
    frame = pl.DataFrame(
        {
            "b": rng.integers(0, 3, 106).astype(str),
            "a": a.astype(str),
            "amount": [None if i % 10 == 3 else x for i, x in enumerate(amount)],
            "label": ["xyz"[k] for k in a],
        }
    )
    return encode_table(frame, "label")


def test_a_third_of_every_class_is_for_testing(benchmark, table):
    for seed in range(4):
        split = benchmark.draw_split(table, seed)
        sizes = np.bincount(split.labels[split.is_test], minlength=3)
        assert sizes[:2].tolist() == [20, 15]
        assert len(split.train.codes) + split.is_test.sum() == len(split.labels) == 106
        np.testing.assert_array_equal(split.train.codes.max(axis=0) + 1, split.train.n_values)
        assert split.digest == benchmark.draw_split(table, seed).digest != benchmark.draw_split(table, seed + 1).digest
    small = benchmark.draw_split(table, 0, max_rows=50)
    assert (len(small.labels), small.is_test.sum()) in {(50, 16), (50, 17)}


def test_rows_of_a_table_are_a_table_of_their_own(benchmark, table):
    rows = np.flatnonzero((table.labels != 1) & (table.codes[:, 2] != 1))
    taken = sys.modules["sources"].take_rows(table, rows)
    assert taken.classes == ("x", "z")
    assert taken.names == ("b", "a", "amount")
    assert [column.edges is not None for column in taken.columns] == [False, False, True]
    assert len(taken.columns[2].values) == 5  # the last one is missing
    for feature in range(3):
        assert taken.cells(range(len(rows)), feature) == table.cells(rows.tolist(), feature)
    assert taken.columns[2].n_missing == taken.cells(range(len(rows)), 2).count(None) > 0
    (fine,) = taken.fine.values()
    assert np.unique(fine).tolist() == list(range(fine.max() + 1))
    np.testing.assert_array_equal(fine == fine.max(), taken.codes[:, 2] == taken.codes[:, 2].max())  # missing cells
    assert (np.diff(fine[np.argsort(table.fine[2][rows], kind="stable")].astype(int)) >= 0).all()


def test_best_features_are_chosen_whatever_their_scores(benchmark):
    best_first = sys.modules["choosers"].best_first
    scores = np.array([-1.0, np.nan, 0.0, 0.5, 0.0, -2.0])
    assert best_first(scores, 2) == (3, 2)
    assert best_first(scores, 9) == (3, 2, 4, 0, 5, 1)


def test_every_method_finds_the_feature_that_is_the_label(benchmark, table):
    split = benchmark.draw_split(table, 0)
    found = list(benchmark.choices("made up", split, 0, list(benchmark.CHOOSERS), benchmark.Cache(None)))
    methods = {"together", "ranking", "CMIM", "JMI", "forest importance", "ReliefF", "MultiSURF", "MI", "chi2"}
    assert {method for method, k, _ in found if k == 8} == methods
    assert all(1 in features for _, _, features in found)
    assert all(features == [0, 1, 2] for _, k, features in found if k >= 4)


def test_what_was_computed_is_not_computed_again(benchmark, table, monkeypatch, tmp_path):
    path, methods = tmp_path / "cache.jsonl", ["ranking", "MI"]
    found, shapes = benchmark.measure([("made up", table)], 2, methods, benchmark.Cache(path))
    assert shapes == {"made up": [106, 3, 3]}
    for runs in found["made up"].values():
        assert list(runs) == ["logistic regression", "forest"]
        for by_k in runs.values():
            assert all(len(values) == 2 and min(values) > 95 for values in by_k.values())
    n_lines = len(path.read_text().splitlines())
    monkeypatch.setattr(benchmark, "MODELS", dict.fromkeys(benchmark.MODELS))  # None cannot be fitted
    assert benchmark.measure([("made up", table)], 2, methods, benchmark.Cache(path))[0] == found
    assert len(path.read_text().splitlines()) == n_lines


def test_fast_reliefs_are_scikit_rebate_s_with_many_classes(benchmark):
    reliefs = sys.modules["reliefs"]
    for seed in range(3):
        codes, labels = random_table(np.random.default_rng(seed), n_rows=90, n_features=5, n_values=3, n_labels=4)
        fast, slow = (f(codes.astype(np.uint8), labels) for f in (reliefs.fast_reliefs, reliefs.skrebate_reliefs))
        for name in ("ReliefF, 10 neighbours", "MultiSURF"):
            np.testing.assert_allclose(fast[name], slow[name], atol=1e-12)


def made_up(benchmark, **points):
    """Accuracies of all methods on one table: 50 and 60 with two seeds, and so many points more for some."""
    return {
        method: {
            model: {str(k): [50 + points.get(method, 0), 60.0] for k in benchmark.KS} for model in benchmark.MODELS
        }
        for method in ("ranking", "CMIM", "ReliefF", "MI")
    }


def test_page_says_where_we_lose(benchmark):
    found = {"even": made_up(benchmark), "lost": made_up(benchmark, ReliefF=1.0, MI=-1.0)}
    content = {"seeds": 2, "machine": "a machine", "accuracy": found, "shapes": {key: [9, 8, 7] for key in found}}
    text = benchmark.page(content)
    assert "- lost: ReliefF by 0.5 (in 1 of 2 seeds)\n" in text
    assert "- even:" not in text
    assert "| ReliefF | -0.25 | 0.25 | 0 | 1 | 1 |" in text
    assert "| MI | +0.25 | 0.25 | 1 | 0 | 1 |" in text
    assert "| CMIM | +0.00 | 0.00 | 0 | 0 | 2 |" in text
    assert "| lost | 9 | 8 | 7 | 55.0 | 55.0 | **55.5** | 54.5 |" in text
    assert "| ReliefF |" + " **55.2** |" * 7 in text
    assert "Measured on a machine; one core." in text
    even = benchmark.page(content | {"accuracy": {"even": found["even"]}})
    assert "No rival is ahead by 0.05 points or more on any table." in even
    assert "| CMIM | +0.00 | – | 0 | 0 | 1 |" in even


def test_missing_data_is_said_in_one_line(benchmark, tmp_path, monkeypatch):
    monkeypatch.setattr("sys.argv", ["run.py", "--data", str(tmp_path)])
    with pytest.raises(SystemExit, match=r"Missing data: adult\.csv, .*vote\.csv\. Name the folder that holds real/"):
        benchmark.main()


def test_leaks_of_compas_are_left_out_and_the_census_has_no_header(benchmark):
    folder = Path(os.environ.get("ANALOGICAL_DATA", "")) / "real"
    if not os.environ.get("ANALOGICAL_DATA") or benchmark.missing_tables(folder, ["adult", "compas"]):
        pytest.skip("set ANALOGICAL_DATA to a folder that holds real/adult.csv and real/compas.csv to run this test")
    compas, adult = (benchmark.load_table(name, folder) for name in ("compas", "adult"))
    assert not [note for note in compas.notes if note.kind == "leak"]
    assert not {"is_recid", "r_offense_date", "vr_charge_degree", "event"} & set(compas.names)
    assert "priors_count" in compas.names
    assert (adult.codes.shape, adult.classes) == ((32_561, 14), ("<=50K", ">50K"))
