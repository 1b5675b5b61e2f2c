"""Speed and memory of the exact index beside its peers, in one run, as ratios.

    make bench         # quick, under two minutes: fewer repetitions, smaller growth, without scikit-rebate
    make bench-full    # all of it; these are the results that are committed
    python benchmarks/speed.py --relevance    # only relevance(X, y) with all defaults; prints
    python benchmarks/speed.py --relevance --full    # the same, written down beside what was recorded of the rest

Every answer is checked against an independent count first. Times of the index are the best of several runs in the same
process on the same arrays; ours and the peer's runs take turns, so that a busy machine slows both. What people call,
``relevance(X, y)`` with all defaults and the commands, is the first call in a process of its own each time: medians,
with the processor time beside the clock. The full profile writes results/speed.json, results/speed.md and the growth as
a picture; the quick one prints the same page.
"""

import argparse
import json
import os
import statistics
import subprocess
import sys
import time
import tracemalloc
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
from machine import describe_machine

from analogical import ari_score, relevance
from analogical.count.groups import CodedRows
from analogical.count.pairs import count_pairs
from analogical.paper import FUNCTIONS

RESULTS = Path(__file__).parent / "results"
N_JOBS = 2

Job = Callable[[], Any]


# ---------------------------------------------------------------- tables


def uniform_table(n_rows: int, n_features: int, n_values: int) -> tuple[np.ndarray, np.ndarray]:
    """Random codes with every value equally likely, labelled by g1."""
    rng = np.random.default_rng(0)
    X = rng.integers(0, n_values, size=(n_rows, n_features), dtype=np.uint8)
    return X, FUNCTIONS["g1"](X)


def with_noise(y: np.ndarray) -> np.ndarray:
    """The labels with 10 % of them flipped."""
    flips = np.random.default_rng(1).random(len(y)) < 0.1
    return (y ^ flips).astype(y.dtype)


def skewed_table(n_rows: int, n_features: int) -> tuple[np.ndarray, np.ndarray]:
    """Cardinalities from 2 to 5,000 and Zipf-distributed values, labelled by g1."""
    rng = np.random.default_rng(0)
    cardinalities = np.unique(np.geomspace(2, 5_000, n_features).astype(int), return_index=False)
    cardinalities = np.resize(cardinalities, n_features)
    columns = []
    for n_values in rng.permutation(cardinalities):
        shares = 1 / np.arange(1, n_values + 1)
        columns.append(rng.choice(n_values, size=n_rows, p=shares / shares.sum()))
    X = np.column_stack(columns).astype(np.uint16)
    return X, FUNCTIONS["g1"](X)


# ---------------------------------------------------------------- peers


def chi2_peer(X: np.ndarray, y: np.ndarray) -> Job:
    """Chi-square of scikit-learn."""
    from sklearn.feature_selection import chi2

    return lambda: chi2(X, y)


def mutual_information_peer(X: np.ndarray, y: np.ndarray) -> Job:
    """Mutual information of scikit-learn, for categories."""
    from sklearn.feature_selection import mutual_info_classif

    return lambda: mutual_info_classif(X, y, discrete_features=True)


def skrebate_peer(X: np.ndarray, y: np.ndarray) -> Job:
    """ReliefF of scikit-rebate."""
    from skrebate import ReliefF

    return lambda: ReliefF(n_neighbors=10, n_jobs=N_JOBS).fit(X.astype(np.float64), y)


def fast_select_peer(X: np.ndarray, y: np.ndarray) -> Job:
    """ReliefF of fast-select, compiled before it is timed."""
    from fast_select import ReliefF

    def fit(n_rows: int | None = None) -> None:
        ReliefF(n_features_to_select=5, n_neighbors=10).fit(X[:n_rows].astype(np.float64), y[:n_rows])

    fit(200)
    return fit


def all_pairs_peer(X: np.ndarray, y: np.ndarray) -> Job:
    """The index as its definition reads, one pair after another."""
    rows, labels = X.tolist(), y.tolist()

    def loop() -> list[list[int]]:
        n_features = len(rows[0])
        pairs, changed = [0] * n_features, [0] * n_features
        for r in range(len(rows)):
            for s in range(r + 1, len(rows)):
                differing = [i for i in range(n_features) if rows[r][i] != rows[s][i]]
                if len(differing) == 1:
                    pairs[differing[0]] += 1
                    changed[differing[0]] += labels[r] != labels[s]
        return [pairs, changed]

    return loop


ROWS: list[dict[str, Any]] = [
    {"table": "1,000,000 x 20, 2 values", "make": lambda: uniform_table(10**6, 20, 2), "peers": {"chi2": 0.5}},
    {"table": "1,000,000 x 10, 4 values", "make": lambda: uniform_table(10**6, 10, 4), "peers": {"chi2": 1.0}},
    {"table": "1,000,000 x 15, 3 values", "make": lambda: uniform_table(10**6, 15, 3), "peers": {"chi2": 2.0}},
    {"table": "1,000,000 x 50, 3 values", "make": lambda: uniform_table(10**6, 50, 3), "peers": {"chi2": 0.5}},
    {"table": "200,000 x 500, 3 values", "make": lambda: uniform_table(200_000, 500, 3), "peers": {"chi2": 0.3}},
    {
        "table": "1,000,000 x 20, 2 to 5,000 values, Zipf",
        "make": lambda: skewed_table(10**6, 20),
        "peers": {"mutual information": 0.3},
    },
    {
        "table": "10,000 x 50, 3 values",
        "make": lambda: uniform_table(10_000, 50, 3),
        "peers": {"skrebate ReliefF": 1 / 1000, "fast-select ReliefF": 1 / 100},
    },
    {
        "table": "2,000 x 20, 2 values",
        "make": lambda: uniform_table(2_000, 20, 2),
        "peers": {"all-pairs loop": 1 / 10_000},
    },
]
EVERYTHING = {
    (10**6, 20, 2): 3.0,
    (10**6, 20, 3): 3.0,
    (10**6, 10, 4): 3.0,
    (10**6, 15, 3): 2.0,
    (10**6, 50, 3): 3.0,
    (200_000, 500, 3): 3.0,
}
"""Rows, features and values, and the most that relevance with all defaults may cost, in times of chi2."""
ROWS_OF_GROWTH = (10**4, 10**5, 10**6, 10**7)
CENSUS = "real/adult.csv"
"""In the folder named by ANALOGICAL_DATA: 32,561 rows, 14 features, without names."""
PEERS = {
    "chi2": chi2_peer,
    "mutual information": mutual_information_peer,
    "skrebate ReliefF": skrebate_peer,
    "fast-select ReliefF": fast_select_peer,
    "all-pairs loop": all_pairs_peer,
}
SLOW = ("skrebate ReliefF", "all-pairs loop")


# ---------------------------------------------------------------- measuring


def check_answer(X: np.ndarray, y: np.ndarray, features: list[int]) -> None:
    """Compare the counts of some features with an independent count: polars groups the rows by their context."""
    import polars as pl

    frame = pl.DataFrame({f"f{i}": X[:, i] for i in range(X.shape[1])} | {"y": y})
    every = [name for name in frame.columns if name != "y"]

    def pairs_within(names: list[str]) -> int:
        sizes = frame.lazy().group_by(names or pl.lit(0)).len().collect(engine="streaming")["len"].cast(pl.Int64)
        return int((sizes * (sizes - 1) // 2).sum())

    identical, same_label = pairs_within(every), pairs_within([*every, "y"])
    result = count_pairs(CodedRows(X, y, X.max(axis=0).astype(np.int64) + 1, int(y.max()) + 1))
    for i in features:
        context = [name for name in every if name != f"f{i}"]
        pairs = pairs_within(context) - identical
        changed = pairs - (pairs_within([*context, "y"]) - same_label)
        found = (int(result.pairs[i]), int(result.changed[i]))
        if found != (pairs, changed):
            raise SystemExit(f"wrong answer for feature {i}: {found}, expected {(pairs, changed)}")


def best_times(jobs: dict[str, Job], repetitions: int, slow: tuple[str, ...] = SLOW) -> dict[str, float]:
    """Best time of each job; the jobs take turns, slow ones run once."""
    best = dict.fromkeys(jobs, float("inf"))
    for turn in range(repetitions):
        for name, job in jobs.items():
            if turn and name in slow:
                continue
            started = time.perf_counter()
            job()
            best[name] = min(best[name], time.perf_counter() - started)
    return best


def peak_memory(job: Job) -> int:
    """Bytes allocated at the peak of a job, beyond what was there before."""
    tracemalloc.start()
    before = tracemalloc.get_traced_memory()[0]
    job()
    peak = tracemalloc.get_traced_memory()[1]
    tracemalloc.stop()
    return peak - before


def measure_row(row: dict[str, Any], repetitions: int) -> list[dict[str, Any]]:
    """All peers of one row of the table."""
    X, y = row["make"]()
    n = X.shape[1]
    check_answer(X, y, sorted({0, n // 2, n - 1}))
    jobs: dict[str, Job] = {
        "ours": lambda: ari_score(X, y, n_jobs=N_JOBS),
        "ours, one core": lambda: ari_score(X, y),
        "one read": X.sum,
    }
    jobs |= {peer: PEERS[peer](X, y) for peer in row["peers"]}
    times = best_times(jobs, repetitions)
    memory = peak_memory(jobs["ours"])
    return [
        {
            "table": row["table"],
            "peer": peer,
            "ours_ms": 1000 * times["ours"],
            "ours_one_core_ms": 1000 * times["ours, one core"],
            "peer_ms": 1000 * times[peer],
            "ratio": times["ours"] / times[peer],
            "goal": goal,
            "ratio_to_one_read": times["ours"] / times["one read"],
            "peak_mb": memory / 1e6,
            "peak_limit_mb": (4 * X.shape[0] * n + 200e6) / 1e6,
        }
        for peer, goal in row["peers"].items()
    ]


def timed(job: Job) -> tuple[float, float]:
    """Seconds by the clock, and of the processor, that a job takes."""
    clock, processor = time.perf_counter(), time.process_time()
    job()
    return time.perf_counter() - clock, time.process_time() - processor


def measure_call(what: str, n_rows: int, n_features: int, n_values: int, noise: bool) -> dict[str, tuple[float, float]]:
    """The first call in this process, and for ``relevance`` the index alone and chi2 after it on the same array."""
    from sklearn.feature_selection import chi2

    from analogical import select

    X, y = uniform_table(n_rows, n_features, n_values)
    y = with_noise(y) if noise else y
    if what == "select":
        return {"ours": timed(lambda: select(X, y, k=8))}
    times = {"ours": timed(lambda: relevance(X, y))}
    if X.size <= 10**8 and n_features <= 1_000:
        times["index"] = min(timed(lambda: ari_score(X, y)) for _ in range(2))
    times["chi2"] = sorted(timed(lambda: chi2(X, y)) for _ in range(3))[1]
    return times


def in_new_processes(runs: int, what: str, *table: Any) -> dict[str, Any]:
    """Medians over processes: seconds of each job by clock and processor, and of the ratios to chi2 in one process.

    BLAS has one thread: on a busy machine its threads wait for each other, which costs chi2 many times its own work.
    """
    command = [sys.executable, __file__, "--call", json.dumps([what, *table])]
    env = os.environ | {"OMP_NUM_THREADS": "1", "OPENBLAS_NUM_THREADS": "1"}
    found = [json.loads(subprocess.run(command, capture_output=True, check=True, env=env).stdout) for _ in range(runs)]

    def median(of: Callable[[dict[str, Any]], float]) -> float:
        return statistics.median(of(one) for one in found)

    medians: dict[str, Any] = {}
    for place, clock in enumerate(("wall", "cpu")):
        for name in found[0]:
            medians[f"{name}_{clock}"] = median(lambda one, name=name, place=place: one[name][place])
            if "chi2" in found[0]:
                medians[f"{name}_ratio_{clock}"] = median(
                    lambda one, name=name, place=place: one[name][place] / one["chi2"][place]
                )
    return medians


def measure_everything(runs: int, full: bool) -> dict[str, Any]:
    """The deciding set, effects, intervals, p-values and directions in one call, beside chi2.

    The labels of g1 with 10 % of them flipped: without noise many contexts hold one label only and are quickly done.
    """
    found: dict[str, Any] = {"load": os.getloadavg()[0], "runs": runs, "rows": [], "calls": [], "growth": {}}
    for table, goal in EVERYTHING.items():
        row = {"table": "{:,} x {}, {} values".format(*table), "goal": goal}
        found["rows"].append(row | in_new_processes(runs, "relevance", *table, True))
        sys.stderr.write(f"{row['table']}: {found['rows'][-1]['ours_ratio_cpu']:.2f} x chi2\n")
    if full:
        seconds = [in_new_processes(1, "relevance", n_rows, 20, 3, True)["ours_cpu"] for n_rows in ROWS_OF_GROWTH]
        slope = float(np.polyfit(np.log(ROWS_OF_GROWTH), np.log(seconds), 1)[0])
        found["growth"] = {"rows": ROWS_OF_GROWTH, "cpu": seconds, "slope": slope}
        found["calls"] = measure_calls(runs)
    return found


def measure_calls(runs: int) -> list[dict[str, Any]]:
    """Other calls that people make, and the commands on the census as they are typed."""
    calls = [
        {
            "what": "`relevance`, 1,000 x 100,000",
            "goal": 120.0,
            **in_new_processes(1, "relevance", 1000, 10**5, 3, True),
        },
        {"what": "`select(k=8)`, 10,000 x 100", "goal": 1.0, **in_new_processes(runs, "select", 10**4, 100, 3, False)},
    ]
    folder = os.environ.get("ANALOGICAL_DATA")
    for command, goal in (("score", 3.0), ("report", 6.0)) if folder else ():
        words = [command, str(Path(folder or "") / CENSUS), "--no-header"]
        words += ["--out", os.devnull, "--force"] if command == "report" else []
        times = [time_of_command(words) for _ in range(runs)]
        wall, cpu = (statistics.median(clock) for clock in zip(*times, strict=True))
        calls.append({"what": f"`analogical {command}`, census", "goal": goal, "ours_wall": wall, "ours_cpu": cpu})
    return calls


def time_of_command(words: list[str]) -> tuple[float, float]:
    """Seconds by the clock, and of the processor, of the command line in a process of its own, import included."""
    import resource

    before, started = resource.getrusage(resource.RUSAGE_CHILDREN), time.perf_counter()
    code = f"import sys; sys.argv = {['analogical', *words]!r}; from analogical.cli import main; main()"
    subprocess.run([sys.executable, "-c", code], capture_output=True, check=True)
    after = resource.getrusage(resource.RUSAGE_CHILDREN)
    return time.perf_counter() - started, after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime


def measure_frames(repetitions: int, n_rows: int) -> list[dict[str, Any]]:
    """Scoring dataframes of strings and categories, beside OrdinalEncoder and chi2 on the same table."""
    import pandas as pd
    import polars as pl
    from sklearn.feature_selection import chi2
    from sklearn.preprocessing import OrdinalEncoder

    codes, y = uniform_table(n_rows, 20, 4)
    words = np.array(["north", "east", "south", "west"])
    strings = {f"f{i}": words[codes[:, i]] for i in range(20)}
    frame = pl.DataFrame({name: pl.Series(column.tolist()) for name, column in strings.items()})
    tables = {
        "pandas strings": pd.DataFrame({name: column.tolist() for name, column in strings.items()}),
        "pandas categories": pd.DataFrame({n: pd.Categorical(c) for n, c in strings.items()}),
        "polars strings": frame,
        "polars categories": frame.cast(pl.Categorical),
    }
    rows = []
    for kind, table in tables.items():
        jobs: dict[str, Job] = {
            "ours": lambda table=table: ari_score(table, y, n_jobs=N_JOBS),
            "peer": lambda table=table: chi2(OrdinalEncoder().fit_transform(table), y),
        }
        times = best_times(jobs, repetitions, slow=("peer",))
        rows.append(
            {
                "table": f"{n_rows:,} x 20, {kind}",
                "ours_ms": 1000 * times["ours"],
                "peer_ms": 1000 * times["peer"],
                "ratio": times["ours"] / times["peer"],
                "goal": 1.0,
            }
        )
    return rows


def measure_growth(full: bool) -> dict[str, Any]:
    """Time against rows (20 features) and against features (100,000 rows), ours and the peers that can follow."""
    sizes = {
        "rows": [10**4, 10**5, 10**6, *([10**7] if full else [])],
        "features": [10, 30, 100, 300, *([1000] if full else [])],
    }
    growth: dict[str, Any] = {}
    for axis, steps in sizes.items():
        for n_values in (2, 3):
            series: dict[str, list[float | None]] = {"ours": [], "chi2": [], "mutual information": []}
            for size in steps:
                X, y = uniform_table(*((size, 20) if axis == "rows" else (10**5, size)), n_values)
                jobs: dict[str, Job] = {
                    "ours": lambda X=X, y=y: ari_score(X, y, n_jobs=N_JOBS),
                    "chi2": chi2_peer(X, y),
                }
                if full and X.size <= 10**8:
                    jobs["mutual information"] = mutual_information_peer(X, y)
                times = best_times(jobs, 5 if X.size <= 3 * 10**7 else 2, slow=("mutual information",))
                for name, seconds in series.items():
                    seconds.append(times.get(name))
            slope = float(np.polyfit(np.log(steps), np.log(series["ours"]), 1)[0])  # type: ignore[arg-type]
            growth[f"{axis}, {n_values} values"] = {"sizes": steps, "seconds": series, "slope": slope}
    return growth


def measure_small() -> dict[str, float]:
    """A small table after import, and the import itself beside scikit-learn's."""
    X, y = uniform_table(1_000, 20, 3)
    ari_score(X, y)
    small = best_times({"ours": lambda: ari_score(X, y)}, 50)["ours"]

    def import_time(module: str) -> float:
        code = f"import time; t = time.perf_counter(); import {module}; print(time.perf_counter() - t)"
        runs = [
            subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True) for _ in range(5)
        ]
        return min(float(run.stdout) for run in runs)

    ours, peer = import_time("analogical"), import_time("sklearn.feature_selection")
    return {"small_ms": 1000 * small, "import_ms": 1000 * ours, "import_ratio": ours / peer}


# ---------------------------------------------------------------- writing


def as_fraction(ratio: float) -> str:
    """A ratio as people say it."""
    return f"{ratio:.2f}" if ratio >= 0.05 else f"1/{1 / ratio:,.0f}"


def goal_cell(value: float, goal: float, goal_words: str) -> str:
    """A goal, and whether it was missed."""
    return f"{'' if value <= goal else '**missed** '}<= {goal_words}"


def everything_lines(everything: dict[str, Any]) -> list[str]:
    """The part of the page about relevance with all defaults."""
    lines = [
        "## Everything: `relevance(X, y)` with all defaults",
        "",
        "The deciding set, effects, intervals, p-values and directions, beside the index alone (`ari_score`) and chi2;",
        "labels of g1, 10 % of them flipped. The first call in a process of its own; medians of",
        f"{everything['runs']} processes. Ratios to chi2 (BLAS with one thread) in the same process, by clock and of",
        f"processor time; the latter has the goal. The load of the machine was {everything['load']:.1f} at the start.",
        *(["Measured after the rest of this page."] if everything.get("is_later") else []),
        "",
        "| table | everything | chi2 | ratio | of processor time | index alone | goal |",
        "|---|---|---|---|---|---|---|",
        *(
            f"| {r['table']} | {1000 * r['ours_wall']:,.0f} ms |"
            f" {1000 * r['chi2_wall']:,.0f} ms | {r['ours_ratio_wall']:.2f} | {r['ours_ratio_cpu']:.2f} |"
            f" {r['index_ratio_cpu']:.2f} | {goal_cell(r['ours_ratio_cpu'], r['goal'], as_fraction(r['goal']))} |"
            for r in everything["rows"]
        ),
    ]
    if everything["calls"]:
        growth = everything["growth"]
        lines += [
            "",
            "| call | seconds | of processor time | goal |",
            "|---|---|---|---|",
            *(
                f"| {c['what']} | {c['ours_wall']:.1f} | {c['ours_cpu']:.1f} |"
                f" {goal_cell(c['ours_cpu'], c['goal'], format(c['goal'], '.0f'))} |"
                for c in everything["calls"]
            ),
            "",
            f"Processor time of `relevance` on {', '.join(f'{n:,}' for n in growth['rows'])} rows x 20 (three values,",
            f"10 % noise): {', '.join(f'{s:.2f}' for s in growth['cpu'])} s; slope {growth['slope']:.2f}, over the last"
            f" tenfold {np.log10(growth['cpu'][-1] / growth['cpu'][-2]):.2f} (goal: at most 1.1).",
        ]
    return lines


def write_markdown(results: dict[str, Any]) -> str:
    """The results as a page."""
    lines = [
        "# Speed of the exact index",
        "",
        f"{results['machine']}. Profile: {results['profile']}. Best of several runs in one process, taking turns;",
        f"`ari_score(X, y, n_jobs={N_JOBS})`; answers checked against an independent count first.",
        "",
        "<!-- table -->",
        "| table | ours | beside | its time | ratio | goal | one core | x one read of X | peak memory (limit) |",
        "|---|---|---|---|---|---|---|---|---|",
    ]
    lines += [
        f"| {r['table']} | {r['ours_ms']:,.1f} ms | {r['peer']} | {r['peer_ms']:,.0f} ms |"
        f" {as_fraction(r['ratio'])} | {'' if r['ratio'] <= r['goal'] else '**missed** '}<= {as_fraction(r['goal'])} |"
        f" {r['ours_one_core_ms']:,.1f} ms | {r['ratio_to_one_read']:,.1f} |"
        f" {r['peak_mb']:,.0f} MB ({r['peak_limit_mb']:,.0f}) |"
        for r in results["rows"]
    ]
    lines += ["<!-- end -->", "", "## From a dataframe, beside `OrdinalEncoder` and `chi2` on the same table", ""]
    lines += ["| table | ours | peer | ratio | goal |", "|---|---|---|---|---|"]
    lines += [
        f"| {r['table']} | {r['ours_ms']:,.0f} ms | {r['peer_ms']:,.0f} ms | {as_fraction(r['ratio'])} |"
        f" {'' if r['ratio'] <= r['goal'] else '**missed** '}<= {as_fraction(r['goal'])} |"
        for r in results["frames"]
    ]
    lines += ["", *everything_lines(results["everything"])]
    small = results["small"]
    lines += [
        "",
        "## Small tables and import",
        "",
        f"1,000 x 20 takes {small['small_ms']:.2f} ms after import (goal: 5 ms). `import analogical` takes"
        f" {small['import_ms']:.0f} ms, {small['import_ratio']:.2f} x of `import sklearn.feature_selection`"
        " (goal: 1.3 x).",
        "",
        "## Growth",
        "",
        "![growth](growth.png)",
        "",
        "| time against | slope (goal: at most 1.15) |",
        "|---|---|",
    ]
    lines += [f"| {name} | {series['slope']:.2f} |" for name, series in results["growth"].items()]
    return "\n".join(lines) + "\n"


def draw_growth(growth: dict[str, Any], path: Path) -> None:
    """Log-log picture of the growth in rows and in features."""
    import matplotlib as mpl

    mpl.use("Agg")
    import matplotlib.pyplot as plt

    colours = {"ours": "#1f5fae", "chi2": "#c4572e", "mutual information": "#7a7a7a"}
    names = {"ours": "analogical (exact index)", "chi2": "chi2", "mutual information": "mutual information"}
    figure, axes = plt.subplots(1, 2, figsize=(9.6, 3.8), sharey=True, layout="constrained")
    titles = {"rows": "20 three-valued features", "features": "100,000 rows, three-valued features"}
    for axis, panel in zip(("rows", "features"), axes, strict=True):
        series = growth[f"{axis}, 3 values"]
        for name, seconds in series["seconds"].items():
            known = [(size, s) for size, s in zip(series["sizes"], seconds, strict=True) if s is not None]
            if not known:
                continue
            xs, ys = zip(*known, strict=True)
            width = 2.4 if name == "ours" else 1.4
            panel.loglog(xs, ys, marker="o", markersize=4, lw=width, color=colours[name], label=names[name])
        panel.set_title(titles[axis], fontsize=11)
        panel.set_xlabel(axis)
        panel.grid(True, which="major", color="#e4e4e4")
        panel.spines[["top", "right"]].set_visible(False)
    axes[0].set_ylabel("seconds")
    axes[0].legend(frameon=False)
    figure.savefig(path, dpi=150)
    plt.close(figure)


def main() -> None:
    """Measure and write."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--full", action="store_true", help="more repetitions, larger growth, all peers; written down")
    parser.add_argument("--relevance", action="store_true", help="relevance(X, y) only")
    parser.add_argument("--call", help=argparse.SUPPRESS)
    asked = parser.parse_args()
    if asked.call:
        sys.stdout.write(json.dumps(measure_call(*json.loads(asked.call))))
        return
    full = asked.full
    if asked.relevance:
        everything = measure_everything(3 if full else 1, full)
        if full:
            save(json.loads((RESULTS / "speed.json").read_text()) | {"everything": everything | {"is_later": True}})
        sys.stdout.write("\n".join(everything_lines(everything)) + "\n")
        return
    rows = []
    for row in ROWS:
        if not full:
            row["peers"].pop("skrebate ReliefF", None)
        rows += measure_row(row, repetitions=7 if full else 4)
        for r in rows[-len(row["peers"]) :]:
            sys.stderr.write(f"{r['table']}: {r['ours_ms']:.1f} ms, {as_fraction(r['ratio'])} x {r['peer']}\n")
    results = {
        "machine": describe_machine(),
        "profile": "full" if full else "quick",
        "rows": rows,
        "everything": measure_everything(3 if full else 1, full),
        "frames": measure_frames(2, 10**6 if full else 10**5),
        "small": measure_small(),
        "growth": measure_growth(full),
    }
    if full:
        save(results)
        draw_growth(results["growth"], RESULTS / "growth.png")
    sys.stdout.write(write_markdown(results))


def save(results: dict[str, Any]) -> None:
    """Write numbers and page."""
    RESULTS.mkdir(exist_ok=True)
    (RESULTS / "speed.json").write_text(json.dumps(results, indent=1) + "\n")
    (RESULTS / "speed.md").write_text(write_markdown(results))


if __name__ == "__main__":
    main()
