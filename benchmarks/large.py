"""Time and peak memory of ``analogical score`` on large files, as a user runs it: a process of its own, all defaults.

    python benchmarks/large.py            # about ten minutes; 3 GB of disk; writes results/large.json and large.md
    python benchmarks/large.py --quick    # tables of a tenth, nothing is written

The files are made first, in a folder that is removed: strings of 1 to 20 letters with 2 to 50 values, whole numbers,
two columns of measurements, some cells missing. The goal is at most 2 GB up to 20,000,000 rows; with 100,000,000 rows,
whose rows are grouped where they are, it is to complete. Processor time is printed too: other work on the machine
changes it less.
"""

import argparse
import json
import os
import subprocess
import sys
import tempfile
import time
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
import polars as pl
from machine import describe_machine

RESULTS = Path(__file__).parent / "results"
STEP = 1_000_000
"""Rows that are made together."""
N_VALUES = (2, 2, 3, 3, 4, 5, 2, 3, 6, 8, 10, 12, 2, 2, 3, 4, 20, 50, 30, 3, 2, 4, 3, 2)
"""Of the columns of strings."""
DECIDES = 3
"""The column of strings that changes the label."""
GOAL = 2048
"""Megabytes at most, up to GOAL_ROWS."""
GOAL_ROWS = 20_000_000
RUN = """
import resource, subprocess, sys
done = subprocess.run([sys.executable, "-c", "from analogical.cli import main; main()", "score", *sys.argv[1:]],
                      stdout=subprocess.DEVNULL)
used = resource.getrusage(resource.RUSAGE_CHILDREN)
print(done.returncode, used.ru_maxrss / 1024, used.ru_utime + used.ru_stime)
"""


@dataclass(frozen=True)
class Case:
    """A file."""

    name: str
    kind: str
    n_rows: int
    n_strings: int = len(N_VALUES)
    has_id: bool = False

    @property
    def n_features(self) -> int:
        """Columns that are scored: the id is set aside."""
        return self.n_strings + 6


CASES = (
    Case("Parquet, 20,000,000 rows", "parquet", 20_000_000),
    Case("Parquet, 20,000,000 rows, with an id of 20 letters", "parquet", 20_000_000, has_id=True),
    Case("CSV, 5,000,000 rows", "csv", 5_000_000),
    Case("Parquet, 100,000,000 rows", "parquet", 100_000_000, n_strings=14),
)


def make_rows(case: Case, start: int, n_rows: int) -> pl.DataFrame:
    """The next rows of a table."""
    rng = np.random.default_rng([7, start])
    words = np.random.default_rng(7)
    columns: dict[str, Any] = {}
    decides = np.zeros(n_rows, np.int64)
    if case.has_id:
        columns["customer"] = pl.Series(np.arange(start, start + n_rows)).cast(pl.String).str.pad_start(20, "c")
    for k in range(case.n_strings):
        values = [
            "".join(map(chr, words.integers(97, 123, words.integers(1, 20)))) + str(v) for v in range(N_VALUES[k])
        ]
        codes = rng.integers(0, N_VALUES[k], (2, n_rows)).min(axis=0)
        cells = pl.Series(values).gather(codes)
        columns[f"s{k}"] = cells if k % 5 else cells.set(pl.Series(rng.random(n_rows) < 0.02), None)
        if k == DECIDES:
            decides = codes
    amount = np.round(rng.gamma(2.0, 100.0, n_rows), 4)
    columns |= {
        "i0": rng.integers(0, 5, n_rows),
        "i1": rng.integers(0, 15, n_rows),
        "i2": rng.poisson(40, n_rows),
        "amount": pl.Series(amount).set(pl.Series(rng.random(n_rows) < 0.01), None),
        "measured": rng.normal(size=n_rows),
        "flag": rng.random(n_rows) < 0.3,
        "label": pl.Series(["no", "yes"]).gather((decides + (amount > 150) + (rng.random(n_rows) < 0.1)) % 2),
    }
    return pl.DataFrame(columns)


def make_file(case: Case, folder: Path) -> Path:
    """The file of a case; Parquet in one file from parts, which polars does without holding them all."""
    path = folder / f"table.{case.kind}"
    parts = []
    with (folder / "rows.csv").open("wb") as stream:
        for start in range(0, case.n_rows, STEP):
            rows = make_rows(case, start, min(STEP, case.n_rows - start))
            if case.kind == "csv":
                rows.write_csv(stream, include_header=start == 0)
            else:
                parts.append(folder / f"part-{start}.parquet")
                rows.write_parquet(parts[-1])
    if case.kind == "csv":
        (folder / "rows.csv").rename(path)
    else:
        pl.scan_parquet(parts).sink_parquet(path)
        for part in parts:
            part.unlink()
    return path


def run_score(path: Path, *options: str) -> dict[str, float]:
    """Seconds and megabytes of the command on a file."""
    began = time.perf_counter()
    done = subprocess.run([sys.executable, "-c", RUN, str(path), *options], capture_output=True, text=True, check=True)
    seconds = time.perf_counter() - began
    code, peak, processor = done.stdout.split()
    if code != "0":
        raise SystemExit(f"{path.name}: {done.stderr}")
    return {"seconds": seconds, "peak": float(peak), "processor": float(processor)}


def measure(case: Case) -> dict[str, Any]:
    """The command with all defaults."""
    with tempfile.TemporaryDirectory() as folder:
        path = make_file(case, Path(folder))
        size, found = path.stat().st_size / 2**20, run_score(path)
    goal = GOAL if case.n_rows <= GOAL_ROWS else None
    return found | {"file": size, "codes": case.n_rows * case.n_features / 2**20, "goal": goal}


def line(case: Case, found: dict[str, Any]) -> str:
    """One line of the page."""
    goal = "completes"
    if found["goal"] is not None:
        goal = f"<= {found['goal']:,.0f} MB" + ("" if found["peak"] <= found["goal"] else " (missed)")
    return (
        f"| {case.name} | {case.n_features} | {found['file']:,.0f} MB | {found['codes']:,.0f} MB |"
        f" {found['peak']:,.0f} MB | {goal} | {found['seconds']:.0f} s |"
    )


def main() -> None:
    """Measure and write the page."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--quick", action="store_true", help="tables of a tenth; print only")
    is_quick = parser.parse_args().quick
    cases = [Case(c.name, c.kind, c.n_rows // (10 if is_quick else 1), c.n_strings, c.has_id) for c in CASES]
    load = os.getloadavg()[0]
    results = {}
    for case in cases:
        results[case.name] = measure(case)
        sys.stderr.write(f"{line(case, results[case.name])} {results[case.name]['processor']:.0f} s of processor\n")
    page = [
        "# Large files: peak memory and time of `analogical score`",
        "",
        f"{describe_machine()}. The command with all defaults, in a process of its own;",
        f"memory is the most that it held. Each case ran once; the load of the machine was {load:.1f} at first.",
        "",
        "<!-- table -->",
        "| table | features | file | codes | peak memory | goal | time |",
        "|---|---|---|---|---|---|---|",
        *(line(case, results[case.name]) for case in cases),
        "<!-- end -->",
        "",
        f"Codes: one byte for each row and feature. Goal: {GOAL:,} MB.",
    ]
    if is_quick:
        return
    (RESULTS / "large.json").write_text(json.dumps(results, indent=1) + "\n")
    (RESULTS / "large.md").write_text("\n".join(page) + "\n")


if __name__ == "__main__":
    main()
