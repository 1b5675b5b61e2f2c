"""Large files: read in batches, scored with the same numbers by every command, and nothing left on disk."""

import gzip
import json
import os
import signal
import subprocess
import sys
import tempfile

import numpy as np
import polars as pl
import pytest
from both_ways import CUTS, cut, outcome, same
from typer.testing import CliRunner

from analogical import InputError, relevance
from analogical.cli.app import app_with
from analogical.io import batches, files
from analogical.io.batches import BatchTable
from analogical.io.files import open_file, read_file


def some_rows(n_rows=400):
    rng = np.random.default_rng(11)
    words = ["red", "green ", "a longer word, with a comma", "NA", ""]
    return pl.DataFrame(
        {
            "word": [words[k] for k in rng.integers(0, 5, n_rows)],
            "whole": rng.integers(0, 6, n_rows),
            "real": np.round(rng.normal(size=n_rows), 3),
            "id": [f"row-{k}" for k in range(n_rows)],
            "day": [f"2024-01-{k + 1:02}" for k in rng.integers(0, 30, n_rows)],
            "at": [f"2024-01-01 10:{k // 60:02}:{k % 60:02}" for k in rng.permutation(n_rows)],
            "code": [f"00{k}" for k in rng.integers(0, 3, n_rows)],
            "comma": [f"{k / 10}".replace(".", ",") for k in rng.integers(0, 900, n_rows)],
            "n": rng.integers(1, 4, n_rows),
            "label": [["no", "yes"][k] for k in rng.integers(0, 2, n_rows)],
        }
    )


@pytest.fixture
def large(monkeypatch):
    """Every file is large, and cut often."""
    monkeypatch.setattr(files, "MANY_BYTES", 0)
    monkeypatch.setattr(files, "MANY_CELLS", 0)
    monkeypatch.setattr(files, "BATCH", 30)
    with cut(BLOCK=997, BEGINNING=2_000, FEW=100):
        yield


@pytest.fixture
def folder(tmp_path, monkeypatch):
    """Where temporary files go."""
    path = tmp_path / "temporary"
    path.mkdir()
    monkeypatch.setattr(tempfile, "tempdir", str(path))
    return path


@pytest.mark.parametrize("separator", [",", ";", "\t"])
def test_columns_of_every_kind_with_few_and_many_cells(tmp_path, large, separator):
    path = str(tmp_path / "t.csv")
    some_rows().write_csv(path, separator=separator)
    opened = open_file(path, separator=separator)
    assert isinstance(opened.frame, BatchTable)
    expected = read_file(path, separator=separator)
    same(outcome(lambda: (opened.frame, opened.notes)), (expected.frame, expected.notes))
    if separator != ",":
        assert expected.frame["comma"].dtype == pl.Float64
    assert expected.frame["at"].dtype == pl.Datetime


@pytest.mark.parametrize(
    "cells", [["1", "2.5", "x"], ["12345678901234567890", "1.5"], ["1.5", "2"], ["2024-01-01", "2024-01-01 10:00"]]
)
@pytest.mark.parametrize("sizes", CUTS)
def test_what_a_late_cell_changes(tmp_path, monkeypatch, cells, sizes):
    """The kind of a column is that of all its cells, whichever batch they are in and however many there are."""
    monkeypatch.setattr(files, "MANY_BYTES", 0)
    for order in (cells, cells[::-1]):
        lines = [f"{cell},{k}" for k, cell in enumerate([order[0]] * 30 + order[1:] + [order[0]] * 40)]
        path = str(tmp_path / "t.csv")
        (tmp_path / "t.csv").write_text("a,y\n" + "\n".join(lines) + "\n")
        expected = read_file(path, separator=",")
        with cut(**sizes):
            found = open_file(path, separator=",")
            same(outcome(lambda found=found: (found.frame, found.notes)), (expected.frame, expected.notes))


COMMANDS = [
    ["score"],
    ["score", "--weights", "n", "--ignore", "id,at", "--json"],
    ["score", "--features", "word,real", "--missing", "drop"],
    ["select", "-k", "2"],
    ["evidence", "--feature", "word"],
    ["audit", "--feature", "word"],
    ["interactions"],
    ["redundancies"],
    ["compare", "--methods", "ari,chi2"],
]


@pytest.mark.parametrize(
    ("name", "command"),
    [
        ("t.csv.gz", ["score"]),
        ("t.arrow", ["score"]),
        *((name, command) for name in ("t.csv", "t.parquet") for command in COMMANDS),
    ],
)
def test_every_command_says_the_same(tmp_path, monkeypatch, name, command):
    path = tmp_path / name
    frame = some_rows()
    if name.endswith("parquet"):
        frame.write_parquet(path, row_group_size=90)
    elif name.endswith("arrow"):
        frame.write_ipc(path)
    else:
        content = frame.write_csv().encode()
        path.write_bytes(gzip.compress(content) if name.endswith("gz") else content)
    arguments = [command[0], str(path), *command[1:]]
    whole = CliRunner().invoke(app_with(command[:1]), arguments)
    assert whole.exit_code == 0, whole.output
    opened = []
    monkeypatch.setattr(files, "MANY_BYTES", 0)
    monkeypatch.setattr(files, "MANY_CELLS", 0)
    monkeypatch.setattr(files, "BATCH", 70)
    monkeypatch.setattr(
        files, "open_file", lambda *given, **kept: opened.append(open_file(*given, **kept)) or opened[0]
    )
    with cut(BLOCK=2_000, FEW=100):
        found = CliRunner().invoke(app_with(command[:1]), arguments)
    assert isinstance(opened[0].frame, BatchTable)
    assert found.exit_code == 0
    if "--json" in command:  # values may be numbered in another order, which moves the last digits
        assert_same_but_for_rounding(json.loads(found.stdout), json.loads(whole.stdout))
    else:
        assert found.stdout == whole.stdout


def assert_same_but_for_rounding(one, other):
    if isinstance(one, dict):
        assert one.keys() == other.keys()
        for key in one:
            assert_same_but_for_rounding(one[key], other[key])
    elif isinstance(one, list):
        assert len(one) == len(other)
        for pair in zip(one, other, strict=True):
            assert_same_but_for_rounding(*pair)
    elif isinstance(one, float):
        assert one == pytest.approx(other, rel=1e-9, abs=1e-12)
    else:
        assert one == other


def test_python_takes_an_opened_file(tmp_path, large):
    some_rows().write_parquet(tmp_path / "t.parquet")
    table = open_file(str(tmp_path / "t.parquet")).frame
    assert isinstance(table, BatchTable)
    assert_same_but_for_rounding(relevance(table, "label").to_dict(), relevance(some_rows(), "label").to_dict())


def test_nothing_is_left_on_disk(tmp_path, large, folder):
    some_rows().write_csv(tmp_path / "t.csv")
    opened = open_file(str(tmp_path / "t.csv"))
    assert list(folder.glob("analogical-*/*.parquet"))
    assert list(folder.glob("analogical-*/*.codes"))
    relevance(opened.frame, "label")
    del opened
    assert not list(folder.iterdir())


def test_nothing_is_left_on_disk_by_a_refusal(tmp_path, large, folder):
    (tmp_path / "t.csv").write_text(some_rows().write_csv() + "1,2\n")
    with pytest.raises(InputError, match="ragged rows: line 402 has 2 cells and the first line has 10"):
        open_file(str(tmp_path / "t.csv"))
    assert not list(folder.iterdir())


def test_nothing_is_left_on_disk_after_ctrl_c(tmp_path, folder):
    code = (
        "import signal; signal.signal(signal.SIGINT, signal.default_int_handler)\n"  # may be ignored in the background
        "import sys, analogical.io.text_batches as t, analogical.io.files as f; f.MANY_BYTES = 0\n"
        "typed = t._Cells.typed\n"
        "def wait(self, *given):\n"
        "    found = typed(self, *given); print('here', flush=True); __import__('time').sleep(30); return found\n"
        "t._Cells.typed = wait\n"
        "from analogical.cli import main; main()"
    )
    some_rows().write_csv(tmp_path / "t.csv")
    process = subprocess.Popen(
        [sys.executable, "-c", code, "score", str(tmp_path / "t.csv")],
        env={**os.environ, "TMPDIR": str(folder)},
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
    )
    assert process.stdout.readline() == b"here\n"
    assert list(folder.iterdir())
    process.send_signal(signal.SIGINT)
    process.communicate(timeout=20)
    assert process.returncode == 130
    assert not list(folder.iterdir())


def test_a_disk_without_room_is_said(tmp_path, large, monkeypatch):
    monkeypatch.setattr(tempfile, "tempdir", str(tmp_path / "nowhere"))
    some_rows().write_csv(tmp_path / "t.csv")
    with pytest.raises(InputError, match=r"room for temporary files.*TMPDIR"):
        open_file(str(tmp_path / "t.csv"))


def test_progress_counts_columns_and_megabytes(tmp_path, large):
    some_rows().write_parquet(tmp_path / "t.parquet")
    seen = []
    table = open_file(str(tmp_path / "t.parquet"), progress=lambda done, total: seen.append((done, total))).frame
    relevance(table, "label")
    assert seen == [(k + 1, 9) for k in range(9)]
    some_rows().write_csv(tmp_path / "t.csv")
    seen.clear()
    open_file(str(tmp_path / "t.csv"), progress=lambda done, total: seen.append((done, total)))
    assert len(seen) > 10


def test_texts_of_an_id_are_never_read_again(monkeypatch):
    monkeypatch.setattr(batches, "FEW", 10)
    monkeypatch.setattr(batches, "PART", 100)
    n_read = []
    cells = pl.Series("id", [f"row {k}" for k in [*range(950), *range(49, -1, -1)]])

    def read():
        n_read.append(1)
        return iter([cells[:600], cells[600:]])

    column = batches.BatchColumn("id", pl.String, 1_000, read).encode("id")
    before = len(n_read)
    assert len(column.values) == 950
    assert len(n_read) == before
    assert list(column.values) == cells[:950].to_list()  # in the order in which they occur first
    assert [column.values[code] for code in column.codes] == cells.to_list()
