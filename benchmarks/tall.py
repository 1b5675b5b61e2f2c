"""Time and memory on tables with very many rows, values or classes, where a careless way would never end.

    python benchmarks/tall.py    # two minutes; writes results/tall.json and tall.md

Every case runs in a process of its own, on arrays made before the clock starts. Memory is what the job added to the
largest that the process held.
"""

import json
import os
import resource
from collections.abc import Callable
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np
from machine import describe_machine
from wide import goal_cell, run_alone

RESULTS = Path(__file__).parent / "results"
LIMIT = 120
"""Seconds that a case has."""
MEGABYTES = 1_024
"""Goal: what a case may add."""
KEEP: dict[str, Any] = {"ids": "keep", "max_values": None, "bins": None}
"""Every value is a category, and nothing is set aside: the hard way."""

Table = tuple[np.ndarray, np.ndarray]


def many_values() -> Table:
    """10^6 rows, one column of two with 400,000 values."""
    rng = np.random.default_rng(0)
    return np.column_stack([rng.integers(0, 400_000, 10**6), rng.integers(0, 4, 10**6)]), rng.integers(0, 2, 10**6)


def many_strata() -> Table:
    """10^6 rows, 100,000 values of ten rows each."""
    rng = np.random.default_rng(0)
    return np.column_stack([np.arange(10**6) // 10, rng.integers(0, 3, 10**6)]), rng.integers(0, 3, 10**6)


def one_context(n_values: int | None) -> Table:
    """200,000 rows that are equal but for one column; None for another value in every row."""
    rng = np.random.default_rng(0)
    m = 200_000
    column = rng.permutation(m) if n_values is None else rng.integers(0, n_values, m)
    return np.column_stack([column, np.zeros(m, np.int64)]), rng.integers(0, 2, m)


def one_direction() -> Table:
    """200,000 rows in one context; one of the two values never has the label."""
    X, y = one_context(2)
    return X, ((X[:, 0] == 1) & (y == 1)).astype(np.int64)


def few_changed() -> Table:
    """200,000 rows in one context, a single one with the other value: fewer changed pairs than are shown."""
    m = 200_000
    X = np.zeros((m, 2), np.int64)
    X[-1, 0] = 1
    y = np.zeros(m, np.int64)
    y[: m // 2], y[-1] = 1, 1
    return X, y


def many_classes() -> Table:
    """200,000 rows with 10^5 classes and 50,000 values, in contexts of four rows."""
    m = 200_000
    return np.column_stack([np.arange(m) % 50_000, np.arange(m) // 4]), np.arange(m) % 100_000


def ids() -> Table:
    """200,000 rows: an id and two columns with few values."""
    rng = np.random.default_rng(0)
    m = 200_000
    return np.column_stack([rng.permutation(m), rng.integers(0, 5, m), rng.integers(0, 3, m)]), rng.integers(0, 2, m)


def heavy() -> Table:
    """40 rows; the job gives them weights of up to 5 x 10^7."""
    rng = np.random.default_rng(0)
    return rng.integers(0, 3, (40, 4)), rng.integers(0, 2, 40)


def added(call: Callable[[], Any]) -> float:
    """Megabytes that a call adds to the peak of the process."""
    before = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
    call()
    return (resource.getrusage(resource.RUSAGE_SELF).ru_maxrss - before) / 1024


def do(X: np.ndarray, y: np.ndarray, *, verb: str, feature: int | None = None, **options: Any) -> float:
    """One function of the library."""
    import analogical

    call = getattr(analogical, verb)
    arguments = () if feature is None else (feature,)
    return added(lambda: call(X, y, *arguments, **KEEP, **options))


def do_weighted(X: np.ndarray, y: np.ndarray, *, verb: str) -> float:
    """The same with large weights."""
    return do(X, y, verb=verb, weights=np.random.default_rng(0).integers(1, 50_000_000, len(X)))


@dataclass(frozen=True)
class Case:
    """What is measured and hoped for."""

    name: str
    seconds: float | None
    """Goal; None where it is a ratio to another case."""
    make: Callable[[], Table]
    job: Callable[[np.ndarray, np.ndarray], float]


CASES = [
    Case(
        'relevance, given="all": 10^6 rows, 400,000 values',
        None,
        many_values,
        partial(do, verb="relevance", given="all"),
    ),
    Case("relevance: 10^6 rows, 400,000 values", None, many_values, partial(do, verb="relevance")),
    Case("relevance: 10^6 rows, 100,000 values of ten rows", None, many_strata, partial(do, verb="relevance")),
    Case("evidence: 200,000 rows in one context", 2, partial(one_context, 3), partial(do, verb="evidence", feature=0)),
    Case("evidence: few changed pairs, the others unchanged", 2, few_changed, partial(do, verb="evidence", feature=0)),
    Case("audit: 200,000 rows in one context", 2, partial(one_context, 3), partial(do, verb="audit", feature=0)),
    Case("audit: one direction never occurs", 2, one_direction, partial(do, verb="audit", feature=0)),
    Case("audit of an id", 2, partial(one_context, None), partial(do, verb="audit", feature=0)),
    Case("transitions: 10^5 classes, 50,000 values", None, many_classes, partial(do, verb="transitions", feature=0)),
    Case("evidence: 10^5 classes, 50,000 values", None, many_classes, partial(do, verb="evidence", feature=0)),
    Case("audit: 10^5 classes, 50,000 values", None, many_classes, partial(do, verb="audit", feature=0)),
    Case("compare, all methods: an id among the columns", None, ids, partial(do, verb="compare")),
    Case(
        "compare, chi2 and MI: an id among the columns",
        None,
        ids,
        partial(do, verb="compare", methods=["ari", "chi2", "mi"]),
    ),
    Case("compare, all methods: weights up to 5 x 10^7", None, heavy, partial(do_weighted, verb="compare")),
]


def line(case: Case, found: dict[str, Any]) -> str:
    """One line of the page."""
    if "failed" in found:
        return f"| {case.name} | {found['failed']} | | | |"
    time_goal = "" if case.seconds is None else goal_cell(found["seconds"], case.seconds, "s")
    memory_goal = goal_cell(found["answer"], MEGABYTES, "MB")
    return f"| {case.name} | {found['seconds']:.1f} s | {time_goal} | {found['answer']:,.0f} MB | {memory_goal} |"


def main() -> None:
    """Measure and write the page."""
    load = os.getloadavg()[0]
    results = [run_alone(case.make, case.job, LIMIT) for case in CASES]
    page = [
        "# Tall tables: very many rows, values or classes",
        "",
        f"{describe_machine()}. All values are categories and ids are kept, which is the hard way. Each case ran once,",
        f"in a process of its own; imports are part of the time. The load of the machine was {load:.1f} at first.",
        "",
        "| case | time | goal | memory added | goal |",
        "|---|---|---|---|---|",
        *map(line, CASES, results),
    ]
    (RESULTS / "tall.json").write_text(
        json.dumps({case.name: found for case, found in zip(CASES, results, strict=True)}, indent=1) + "\n"
    )
    (RESULTS / "tall.md").write_text("\n".join(page) + "\n")


if __name__ == "__main__":
    main()
