"""What goes wrong with tables elsewhere is one sentence, and nothing is left behind."""

import socket
import tempfile
import time
from pathlib import Path

import numpy as np
import polars as pl
import pytest

from analogical import InputError, MissingDependencyError, SparkError, outside, relevance
from analogical.outside import encoding
from analogical.outside.lazy import LazyTable

ROWS = pl.DataFrame({"a": [0, 1] * 40, "b": [0, 1, 1, 0] * 20, "y": ["no", "yes"] * 40})


def test_a_label_is_needed():
    with pytest.raises(InputError, match="y is missing: give the name of the column with the label"):
        relevance(ROWS.lazy(), None)


def test_no_rows_are_refused():
    with pytest.raises(InputError, match="The table is empty"):
        relevance(ROWS.lazy().filter(pl.col("a") > 1), "y")


def test_nested_columns_are_refused_unless_they_are_left_out():
    lazy = ROWS.lazy().with_columns(c=pl.concat_list("a", "b"))
    with pytest.raises(InputError, match=r"column 'c' has the type List.*, which is not one value per row"):
        relevance(lazy, "y")
    assert relevance(lazy, "y", ignore=["c"]).ranking() == relevance(ROWS, "y").ranking()


@pytest.mark.parametrize("few", [0, 10**6])
def test_a_table_that_changed_is_refused(monkeypatch, few):
    monkeypatch.setattr(encoding, "FEW_CELLS", few)
    monkeypatch.setattr(LazyTable, "n_rows", lambda _: 79)
    with pytest.raises(InputError, match="The table changed while it was read"):
        relevance(ROWS.lazy().filter(pl.col("a") >= 0), "y")


def test_no_file_is_left_behind(monkeypatch, tmp_path):
    monkeypatch.setattr(tempfile, "tempdir", str(tmp_path))
    monkeypatch.setattr(encoding, "FEW_CELLS", 0)
    lazy = ROWS.lazy().filter(pl.col("a") >= 0)
    relevance(lazy, "y")
    with pytest.raises(InputError):
        relevance(lazy.with_columns(y=pl.lit("no")), "y")
    assert list(Path(tmp_path).iterdir()) == []


def test_very_many_texts_are_set_aside_and_very_many_numbers_are_binned_by_a_sample(monkeypatch):
    monkeypatch.setattr(encoding, "FEW_CELLS", 0)
    monkeypatch.setattr(encoding, "MANY", 50)
    rng = np.random.default_rng(0)
    x = rng.normal(size=2000)
    table = pl.DataFrame(
        {"word": [f"w{k // 2}" for k in range(2000)], "x": x, "a": rng.integers(0, 3, 2000), "y": x > 0}
    )
    found, expected = relevance(table.lazy(), "y"), relevance(table, "y", ignore=["word"])
    kinds = {note.kind: note.columns for note in found.notes}
    assert kinds["many-texts"] == ("word",)
    assert kinds["edges-of-sample"] == ("x",)
    assert found.ranking() == expected.ranking()
    assert "word" in relevance(table.lazy(), "y", ids="keep").ranking()


@pytest.mark.parametrize("budget", [0, 10**9])
def test_a_table_of_very_many_texts_only_is_refused(monkeypatch, budget):
    monkeypatch.setattr(encoding, "FEW_CELLS", 0)
    monkeypatch.setattr(encoding, "MANY", 50)
    monkeypatch.setattr(outside, "BUDGET", budget)
    table = pl.LazyFrame({"word": [f"w{k}" for k in range(400)], "y": ["no", "yes"] * 200})
    with pytest.raises(InputError, match="'word' has more than 50 distinct texts, and there is no other to compare"):
        relevance(table, "y")


def test_rows_with_weights_are_grouped_where_another_column_has_gaps(monkeypatch):
    table = pl.DataFrame({"a": [0, 1, None, 1] * 20, "b": [0, 1, 1, 0] * 20, "n": [1, 2] * 40, "y": ["no", "yes"] * 40})
    expected = relevance(table, "y", weights="n")
    monkeypatch.setattr(outside, "BUDGET", 0)
    found = relevance(table.lazy(), "y", weights="n")
    assert np.array_equal(found.pairs, expected.pairs)
    assert np.array_equal(found.changed, expected.changed)


def test_a_master_that_does_not_answer_is_one_sentence():
    pytest.importorskip("pyspark", reason="pyspark is not installed")
    from analogical.outside.spark import open_session

    began = time.monotonic()
    with socket.socket() as silent:
        silent.bind(("127.0.0.1", 0))
        silent.listen()
        with pytest.raises((SparkError, MissingDependencyError), match="Nothing answers at"):
            open_session(f"spark://127.0.0.1:{silent.getsockname()[1]}")
    assert time.monotonic() - began < 15
    with pytest.raises(InputError, match="master must be local"):
        open_session("mars")
