"""What the pages show is what the program prints and what the benchmarks recorded."""

import importlib.util
import json
import subprocess
import sys
import tomllib
from importlib.metadata import version
from pathlib import Path

import pytest

ROOT = Path(__file__).parent.parent
COVERAGE = ROOT / "benchmarks" / "coverage"


def pinned():
    """Libraries on which the help pages depend, and the version for which they were written."""
    extras = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))["project"]["optional-dependencies"]
    return dict(need.removesuffix("*").split("==") for need in extras["test"] if need.endswith(".*"))


@pytest.mark.skipif(
    not all(version(name).startswith(start) for name, start in pinned().items()),
    reason="the help pages are compared with the versions of typer and rich in the extra test only",
)
def test_console_blocks_and_tables_show_what_the_program_prints_and_what_was_recorded():
    script = ROOT / "docs" / "refresh.py"
    done = subprocess.run([sys.executable, str(script), "--check"], check=False, capture_output=True, text=True)
    assert done.returncode == 0, f"{done.stderr}Run: make docs"


def test_pictures_are_small_and_drawn_by_the_script():
    spec = importlib.util.spec_from_file_location("pictures", ROOT / "docs" / "pictures.py")
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    drawn = {f"{draw.__name__}.png" for draw in module.PICTURES}
    kept = {path.name: path.stat().st_size for path in (ROOT / "docs" / "images").iterdir()}
    assert drawn <= set(kept)
    assert max(kept[name] for name in drawn) < 100_000
    pages = (ROOT / "README.md").read_text(encoding="utf-8") + (ROOT / "docs" / "seeing.md").read_text(encoding="utf-8")
    assert all(f"images/{name})" in pages for name in drawn)
    (first, *_) = module.PICTURES
    assert [round(bar.get_width(), 3) for bar in first().patches] == [0.5, 0.5, 0.333, 0.0, 0.0, 0.0]


@pytest.fixture(scope="module")
def simulations():
    spec = importlib.util.spec_from_file_location("coverage_run", COVERAGE / "run.py")
    module = importlib.util.module_from_spec(spec)
    sys.path.insert(0, str(COVERAGE))  # run.py imports its neighbours
    try:
        spec.loader.exec_module(module)
    finally:
        sys.path.remove(str(COVERAGE))
    return module


@pytest.mark.parametrize("name", sorted(path.stem for path in COVERAGE.glob("*.json")))
def test_simulated_numbers_are_the_recorded_ones(name, simulations):
    results = json.loads((COVERAGE / f"{name}.json").read_text(encoding="utf-8"))["results"]
    for line in simulations.summary(name, results):
        assert line in (COVERAGE / f"{name}.md").read_text(encoding="utf-8")


def test_intervals_cover_the_index_of_the_population(simulations):
    """A small part of the simulation, run anew: 200 samples of 500 rows with 10 % noise."""
    rows, labels, index = simulations.population("g1", 7, 3, 0.1)
    setting = ("g1", "7 ternary", 3, 0.1, rows, labels, index, "with repetition", 500)
    found = [r for r in simulations._intervals_of(*setting, 200) if r["pairs"] == "30 or more"]
    n = sum(r["intervals"] for r in found)
    assert n > 500
    coverage = sum(r["coverage"] * r["intervals"] for r in found) / n
    assert 0.93 <= coverage <= 0.97
    assert 0.05 < max(r["mean_width"] for r in found) < 0.5


def test_features_without_an_effect_rarely_have_small_p_values_and_are_rarely_kept(simulations):
    import numpy as np

    rows = simulations.universe(10, 2)
    labels, relevant = simulations.FUNCTIONS["g1"](rows), np.arange(10) < 3
    found = simulations._discoveries_of("g1", "10 binary", 2, "5 %", 0.05, rows, labels, relevant, 1000, 60)
    assert found["false_discovery_rate"] <= 0.08
    assert found["p_below_5_percent"] <= 0.06  # the combination of tests is conservative
    assert found["power"] > 0.9


def test_audits_cover_the_true_difference(simulations):
    settings = [r for r in simulations.audit_effect(quick=True) if r["contexts"] == 40]
    assert len(settings) == 6
    assert 0.92 <= sum(r["coverage"] for r in settings) / 6 <= 0.99
    assert max(r["p_below_5_percent"] for r in settings if r["effect"] == 0) <= 0.12
    assert min(r["p_below_5_percent"] for r in settings if r["effect"] == 0.3 and r["rows_per_context"] == 6) > 0.9
