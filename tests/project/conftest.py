"""The scripts of the benchmarks, for their tests."""

import importlib.util
import sys
from pathlib import Path

import pytest

BENCHMARKS = Path(__file__).parents[2] / "benchmarks"


@pytest.fixture
def benchmark(request, monkeypatch):
    """The script of the benchmark that a file of tests names as ``BENCHMARK``."""
    monkeypatch.setattr(sys, "path", [*sys.path])
    name = request.module.BENCHMARK
    spec = importlib.util.spec_from_file_location(f"{name}_run", BENCHMARKS / name / "run.py")
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module
