"""The benchmark of counting on Spark: its peers count what we count."""

import numpy as np
import pytest
from naive import naive_counts

BENCHMARK = "scale"


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
