"""What the pages show is what the program prints and what the benchmarks recorded."""

import importlib.util
import json
import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).parent.parent
COVERAGE = ROOT / "benchmarks" / "coverage"


def test_console_blocks_and_tables_show_what_the_program_prints_and_what_was_recorded():
    script = ROOT / "docs" / "refresh.py"
    done = subprocess.run([sys.executable, str(script), "--check"], check=False, capture_output=True, text=True)
    assert done.returncode == 0, f"{done.stderr}Run: make docs"


@pytest.mark.parametrize("name", ["intervals", "discoveries", "audit", "redundancy"])
def test_simulated_numbers_are_the_recorded_ones(name):
    spec = importlib.util.spec_from_file_location("coverage_run", COVERAGE / "run.py")
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    results = json.loads((COVERAGE / f"{name}.json").read_text(encoding="utf-8"))["results"]
    for line in module.summary(name, results):
        assert line in (ROOT / "docs" / "trust.md").read_text(encoding="utf-8")
        assert line in (COVERAGE / f"{name}.md").read_text(encoding="utf-8")


def test_simulations_keep_what_is_promised():
    intervals, discoveries, redundancy = (
        json.loads((COVERAGE / f"{name}.json").read_text(encoding="utf-8"))["results"]
        for name in ("intervals", "discoveries", "redundancy")
    )
    promised = [r["coverage"] for r in intervals if r["pairs"] == "30 or more" and 0 < r["index"] < 1]
    assert len(promised) > 200
    assert 0.92 <= min(promised) <= max(promised) <= 0.98
    assert max(r["false_discovery_rate"] for r in discoveries) <= 0.05
    assert max(r["columns_wrongly_called"] for r in redundancy) <= 0.05
