"""Time of choosing features together, beside mutual information, CMIM and JMI in one run.

    python benchmarks/together.py    # about three minutes; writes results/together.json and together.md

What people call, all defaults: `select(X, y, k)` on an array of codes, scikit-learn's mutual_info_classif with
discrete_features=True, and `greedy_order` of greedy.py for CMIM and JMI. Best of three runs in one process.
"""

import json
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
from greedy import greedy_order
from machine import describe_machine
from sklearn.feature_selection import mutual_info_classif

from analogical import select

RESULTS = Path(__file__).parent / "results"
REPEATS = 3
GOAL = 1.5
"""Times mutual_info_classif that the first case may take."""

Table = tuple[np.ndarray, np.ndarray]


def additive(n_rows: int, n_features: int, n_values: int, n_relevant: int) -> Table:
    """Noisy labels that so many of the features add to."""
    rng = np.random.default_rng(0)
    codes = rng.integers(0, n_values, (n_rows, n_features), dtype=np.uint8)
    logit = 1.5 * (codes[:, :n_relevant] / (n_values - 1) - 0.5).sum(axis=1)
    return codes, (rng.random(n_rows) < 1 / (1 + np.exp(-logit))).astype(np.int64)


def interaction(n_rows: int, n_features: int, n_values: int) -> Table:
    """Noisy labels that two features only tell together."""
    rng = np.random.default_rng(0)
    codes = rng.integers(0, n_values, (n_rows, n_features), dtype=np.uint8)
    return codes, ((codes[:, 0] + codes[:, 1]) % 2 ^ (rng.random(n_rows) < 0.2)).astype(np.int64)


CASES: dict[str, tuple[Callable[[], Table], int]] = {
    "1,000,000 x 20, 3 values, k = 4": (lambda: additive(1_000_000, 20, 3, 6), 4),
    "1,000,000 x 20, 10 values, k = 4": (lambda: additive(1_000_000, 20, 10, 6), 4),
    "1,000,000 x 20, 3 values, k = 4, an interaction": (lambda: interaction(1_000_000, 20, 3), 4),
    "100,000 x 50, 5 values, k = 8": (lambda: additive(100_000, 50, 5, 10), 8),
    "10,000 x 100, 5 values, k = 8": (lambda: additive(10_000, 100, 5, 10), 8),
    "10,000 x 100, 3 values, k = 8, an interaction": (lambda: interaction(10_000, 100, 3), 8),
    "1,000 x 1,000, 3 values, k = 8": (lambda: additive(1_000, 1_000, 3, 10), 8),
}


def seconds(job: Callable[[], Any]) -> float:
    """Best of some runs."""
    times = []
    for _ in range(REPEATS):
        began = time.perf_counter()
        job()
        times.append(time.perf_counter() - began)
    return min(times)


def measure(make: Callable[[], Table], k: int) -> dict[str, float]:
    """Seconds of every method on one table."""
    codes, labels = make()
    return {
        "together": seconds(lambda: select(codes, labels, k)),
        "MI": seconds(lambda: mutual_info_classif(codes, labels, discrete_features=True)),
        "CMIM": seconds(lambda: greedy_order(codes, labels, k, "cmim")),
        "JMI": seconds(lambda: greedy_order(codes, labels, k, "jmi")),
    }


def page(found: dict[str, dict[str, float]]) -> str:
    """What was measured, for reading."""
    lines = [
        "# Time of choosing features together",
        "",
        "`select(X, y, k)` with all defaults, beside one call of scikit-learn's `mutual_info_classif` (which ranks and"
        " chooses nothing together) and k picks of CMIM and JMI; best of three runs, one thread.",
        "",
        "<!-- table -->",
        "| table | together | x MI | x CMIM | x JMI | MI | CMIM | JMI |",
        "|---|---:|---:|---:|---:|---:|---:|---:|",
    ]
    for title, times in found.items():
        ratios = " | ".join(f"{times['together'] / times[peer]:.2f}" for peer in ("MI", "CMIM", "JMI"))
        rest = " | ".join(f"{times[peer]:.2f} s" for peer in ("MI", "CMIM", "JMI"))
        lines.append(f"| {title} | {times['together']:.2f} s | {ratios} | {rest} |")
    first = next(iter(found.values()))
    ratio = first["together"] / first["MI"]
    lines += [
        "<!-- end -->",
        "",
        f"Goal for the first table: at most {GOAL} x MI; {'reached' if ratio <= GOAL else 'missed'} ({ratio:.2f}).",
        "",
        "Features are chosen on at most 20,000 rows.",
        "",
        f"Measured on {describe_machine()}.",
    ]
    return "\n".join(lines) + "\n"


def main() -> None:
    """Measure and write."""
    found = {title: measure(make, k) for title, (make, k) in CASES.items()}
    RESULTS.mkdir(exist_ok=True)
    content = {"machine": describe_machine(), "seconds": found}
    (RESULTS / "together.json").write_text(json.dumps(content, indent=1) + "\n")
    (RESULTS / "together.md").write_text(page(found))
    print(page(found))  # noqa: T201


if __name__ == "__main__":
    main()
