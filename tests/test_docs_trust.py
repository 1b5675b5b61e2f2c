"""The terminal sessions in the documentation are real; its Python examples run as doctests."""

import importlib.util
import json
import re
from pathlib import Path

import pytest
from typer.testing import CliRunner

from analogical.cli.app import app

PAGE = Path(__file__).parents[1] / "docs" / "trust.md"
SESSIONS = re.findall(r"```console\n\$ analogical ([^\n]*)\n(.*?)```", PAGE.read_text(encoding="utf-8"), re.DOTALL)


def test_the_page_has_sessions():
    assert SESSIONS


@pytest.mark.parametrize(("arguments", "expected"), SESSIONS)
def test_sessions_print_what_the_page_says(arguments, expected):
    result = CliRunner().invoke(app, arguments.split(), env={"COLUMNS": "80"})
    assert result.exit_code == 0
    assert [line.rstrip() for line in result.output.splitlines()] == expected.splitlines()


@pytest.mark.parametrize("name", ["intervals", "discoveries", "audit", "redundancy"])
def test_simulated_numbers_are_the_recorded_ones(name):
    folder = PAGE.parents[1] / "benchmarks" / "coverage"
    if not folder.exists():
        pytest.skip("the benchmarks are not part of this copy")
    spec = importlib.util.spec_from_file_location("coverage_run", folder / "run.py")
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    results = json.loads((folder / f"{name}.json").read_text(encoding="utf-8"))["results"]
    for line in module.summary(name, results):
        assert line in PAGE.read_text(encoding="utf-8")
        assert line in (folder / f"{name}.md").read_text(encoding="utf-8")


def test_simulations_keep_what_is_promised():
    folder = PAGE.parents[1] / "benchmarks" / "coverage"
    if not folder.exists():
        pytest.skip("the benchmarks are not part of this copy")
    intervals, discoveries, redundancy = (
        json.loads((folder / f"{name}.json").read_text(encoding="utf-8"))["results"]
        for name in ("intervals", "discoveries", "redundancy")
    )
    promised = [r["coverage"] for r in intervals if r["pairs"] == "30 or more" and 0 < r["index"] < 1]
    assert len(promised) > 200
    assert 0.92 <= min(promised) <= max(promised) <= 0.98
    assert max(r["false_discovery_rate"] for r in discoveries) <= 0.05
    assert max(r["columns_wrongly_called"] for r in redundancy) <= 0.05
