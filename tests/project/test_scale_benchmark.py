"""The benchmark of counting on Spark: its page is made from its record, and its peers count what we count."""

import importlib.util
import json
import sys
from pathlib import Path

import numpy as np
import pytest
from naive import naive_counts

ROOT = Path(__file__).parents[2]
SCRIPT = ROOT / "benchmarks" / "scale" / "run.py"
RECORD = ROOT / "benchmarks" / "results" / "scale.json"
pytestmark = pytest.mark.skipif(not SCRIPT.exists(), reason="the benchmarks are no part of the source package")


@pytest.fixture
def benchmark(monkeypatch):
    monkeypatch.setattr(sys, "path", [*sys.path])
    spec = importlib.util.spec_from_file_location("scale_run", SCRIPT)
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


def test_the_page_is_made_from_the_record(benchmark):
    results = json.loads(RECORD.read_text(encoding="utf-8"))
    assert RECORD.with_suffix(".md").read_text(encoding="utf-8") == benchmark.write_markdown(results)
    assert [int(size) for size in results["rows"]] == list(benchmark.SIZES)


@pytest.mark.parametrize("peer", ["duckdb", "polars"])
def test_peers_count_the_pairs_of_the_definition(benchmark, peer, tmp_path, monkeypatch):
    pytest.importorskip(peer, reason=f"{peer} comes with the extra bench")
    rows = np.random.default_rng(0).integers(0, 3, (6, 20))
    rows = rows[np.random.default_rng(1).integers(0, 6, 60)]
    rows[np.arange(60), np.random.default_rng(2).integers(0, 20, 60)] = 0
    labels = np.random.default_rng(3).integers(0, 2, 60)
    monkeypatch.setitem(benchmark.TABLES, "small", lambda _: (rows.astype(np.int8), labels.astype(np.int8)))
    path = benchmark.write_table("small", 60, tmp_path)
    found = benchmark.duckdb_counts(path, 1) if peer == "duckdb" else benchmark.polars_counts(path)
    expected = naive_counts(rows.tolist(), labels.tolist())
    assert sum(expected["pairs"]) > 20
    assert found == {name: list(expected[name]) for name in ("pairs", "changed")}


def test_other_counts_stop_the_run(benchmark):
    same = {"pairs": [3], "changed": [1]}
    found = {name: {"seconds": 1.0, "counts": dict(same)} for name in (benchmark.MEMORY_METHOD, "another")}
    benchmark.refuse_other_counts("10 rows", found)
    assert found["another"] == {"seconds": 1.0}
    found = {name: {"counts": dict(same)} for name in (benchmark.MEMORY_METHOD, "another")}
    found["another"]["counts"]["changed"] = [2]
    with pytest.raises(SystemExit, match="wrong counts, 10 rows, another"):
        benchmark.refuse_other_counts("10 rows", found)
