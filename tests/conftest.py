"""Fixtures and small tables for all tests, and which process runs which tests."""

import io
import os
import sys
from pathlib import Path

import numpy as np
import pytest
from hypothesis import settings

from analogical.count.groups import CodedRows

# No test is timed. Examples are the same in every run, so that a green commit stays green; `make fuzz` has new ones.
settings.register_profile("analogical", deadline=None, derandomize="FUZZ_SEED" not in os.environ)
settings.load_profile("analogical")

DATASETS = ("breast-cancer", "hiv", "monks-1", "monks-2", "monks-3", "mushroom", "primary-tumor")


@pytest.hookimpl(optionalhook=True)  # pytest-xdist may not be installed
def pytest_xdist_make_scheduler(config, log):
    """Which tests one process runs: those of a file, and all of those on Spark, so that Java is started once.

    Cases of the fuzzer are shared by all processes. (Groups of ``--dist loadgroup`` are lost by pytest 9.2.)
    """
    from xdist.scheduler import LoadScopeScheduling

    class Scheduler(LoadScopeScheduling):
        def _split_scope(self, nodeid):
            file = nodeid.partition("::")[0]
            if file.startswith("tests/fuzz/"):
                return nodeid
            return "tests/spark" if file.startswith("tests/spark/") else file

    return Scheduler(config, log)


def random_table(rng, *, n_rows=None, n_features=None, n_values=None, n_labels=None):
    """A small table with many ties: few values, and rows repeated with the same or another label."""
    n_rows = n_rows or int(rng.integers(2, 30))
    n_features = n_features or int(rng.integers(1, 13))
    highest = rng.integers(1, 13 if n_values is None else n_values + 1, size=n_features)
    if n_values is None and rng.random() < 0.6:
        highest = rng.integers(1, 4, size=n_features)
    rows = rng.integers(0, highest, size=(n_rows, n_features))
    copies = rng.random(n_rows) < rng.random() * 0.7
    rows[copies] = rows[rng.integers(0, n_rows, size=copies.sum())]
    neighbours = rng.random(n_rows) < rng.random()
    for r in np.flatnonzero(neighbours):  # rows that differ from another one on a single feature
        rows[r] = rows[rng.integers(n_rows)]
        i = rng.integers(n_features)
        rows[r, i] = rng.integers(highest[i])
    labels = rng.integers(0, n_labels or rng.integers(2, 6), size=n_rows)
    labels[0], labels[-1] = 0, 1
    return rows, labels


def coded(rows, labels, weights=None, n_values=None, n_labels=None):
    """Whole numbers from 0 as coded rows; one more value than the largest code if the numbers are not given."""
    codes, labels = np.asarray(rows), np.asarray(labels)
    codes = codes if codes.dtype.kind == "u" else codes.astype(np.uint32)
    labels = labels if labels.dtype.kind == "u" else labels.astype(np.uint32)
    n_values = codes.max(axis=0, initial=0).astype(np.int64) + 1 if n_values is None else np.asarray(n_values, np.int64)
    n_labels = int(labels.max(initial=0)) + 1 if n_labels is None else n_labels
    return CodedRows(codes, labels, n_values, n_labels, None if weights is None else np.asarray(weights, np.int64))


@pytest.fixture(autouse=True)
def close_figures():
    """Figures of pyplot live until they are closed."""
    yield
    if "matplotlib.pyplot" in sys.modules:
        sys.modules["matplotlib.pyplot"].close("all")


@pytest.fixture
def threads_for_small_work(monkeypatch):
    """Threads are used however small the work is."""
    monkeypatch.setattr("analogical.count.threads.SMALL_WORK", 0)


@pytest.fixture
def data_folder():
    """The paper's data files; they are not part of the project."""
    return Path(os.environ["ANALOGICAL_DATA"])


def pytest_collection_modifyitems(config, items):
    """Tests of the paper's data files are collected where these are."""
    if not os.environ.get("ANALOGICAL_DATA"):
        left_out = [item for item in items if "data_folder" in getattr(item, "fixturenames", ())]
        config.hook.pytest_deselected(items=left_out)
        items[:] = [item for item in items if item not in left_out]


def pytest_report_header():
    if not os.environ.get("ANALOGICAL_DATA"):
        return "not collected: tests of the paper's data files; set ANALOGICAL_DATA to their folder"
    return None


@pytest.fixture
def run(monkeypatch, capfd):
    """Call the command line as a user does: exit code, output and errors on a plain terminal 80 columns wide."""
    from analogical import cli

    monkeypatch.setenv("COLUMNS", "80")
    monkeypatch.setenv("TERM", "dumb")
    monkeypatch.delenv("FORCE_COLOR", raising=False)

    def call(*arguments, stdin=b""):
        monkeypatch.setattr(sys, "argv", ["analogical", *map(str, arguments)])
        monkeypatch.setattr(sys, "stdin", io.TextIOWrapper(io.BytesIO(stdin)))
        try:
            cli.main()
            code = 0
        except SystemExit as stop:
            code = stop.code or 0
        out, err = capfd.readouterr()
        return code, out, err

    return call
