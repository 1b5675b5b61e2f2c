"""Counting on Spark beside one machine, DuckDB, Polars and the plan that comes to mind first, in one run, as ratios.

    make scale                                      # 10^5 to 10^7 rows, half an hour; writes results/scale.json and .md
    python benchmarks/scale/run.py --rows 20000     # prints the same page for smaller tables

Every method goes from a folder of Parquet files to the pairs and changed pairs of all features, and all counts are
compared with ``==``. This process, a local Spark session and a session on a real cluster of two workers on this machine
live side by side and take turns, one at a time.
"""

import argparse
import json
import math
import os
import sys
import tempfile
import time
import urllib.request
import warnings
from collections.abc import Callable, Iterator
from concurrent.futures import ProcessPoolExecutor
from contextlib import suppress
from importlib.metadata import version
from multiprocessing import get_context
from pathlib import Path
from typing import Any

import numpy as np

ROOT = Path(__file__).resolve().parents[2]
sys.path[:0] = [str(ROOT / "benchmarks"), str(ROOT / "benchmarks" / "scale"), str(ROOT / "tests")]

from machine import describe_machine  # noqa: E402
from scale_peers import Counts, duckdb_counts, explode_counts, polars_counts  # noqa: E402
from scale_tables import LABEL, N_FEATURES, N_FILES, N_VALUES, TABLES, write_table  # noqa: E402

RESULTS = ROOT / "benchmarks" / "results"
N_CORES = 2
SIZES = (10**5, 10**6, 10**7)
EXPLODED_MOST = 10**6
"""Rows up to which the naive plan is measured; it would take longer than everything else together beyond."""
GOAL, GOAL_ROWS = 5.0, 10**6
"""Times that our plan on Spark is to be as fast as the naive one, and the rows at which."""
BILLIONS, BILLIONS_FEATURES = 10**10, 100
"""The table whose costs are worked out on paper."""
MEMORY = "2g"
"""Heap of the local session, and of each executor of the cluster."""

MEMORY_METHOD, SPARK_LOCAL, SPARK_CLUSTER = (
    "analogical in memory",
    "analogical on Spark, local",
    "analogical on Spark, cluster",
)
EXPLODED = "Spark SQL, rows exploded"
EVERYTHING = {"memory": "relevance in memory", "duckdb": "relevance in DuckDB"}

Measured = dict[str, Any]


# ---------------------------------------------------------------- measuring, in a process of its own each


def best_of(repetitions: int, job: Callable[[], Any], shuffled: Callable[[], int] = lambda: 0) -> tuple[Measured, Any]:
    """Seconds of the first and of the best run, processor seconds and bytes shuffled of the last, and its answer."""
    times, answer, before, busy = [], None, 0, 0.0
    for _ in range(repetitions):
        before, busy = shuffled(), processor_seconds()
        began = time.perf_counter()
        answer = job()
        times.append(time.perf_counter() - began)
    found = {"seconds": min(times), "first": times[0], "processor": processor_seconds() - busy}
    return found | {"shuffled": shuffled() - before, "load": os.getloadavg()[0]}, answer


def processor_seconds() -> float:
    """Processor time so far of this process and of all that it started and that still run, as Spark's do."""
    children: dict[int, list[int]] = {}
    used = {}
    for folder in Path("/proc").glob("[0-9]*"):
        with suppress(OSError):
            fields = (folder / "stat").read_text().rsplit(")", 1)[1].split()
            children.setdefault(int(fields[1]), []).append(int(folder.name))
            used[int(folder.name)] = (int(fields[11]) + int(fields[12])) / os.sysconf("SC_CLK_TCK")
    total, waiting = 0.0, [os.getpid()]
    while waiting:
        process = waiting.pop()
        total += used.get(process, 0.0)
        waiting += children.get(process, [])
    return total


def counts_of(result: Any) -> Counts:
    """The counts of a relevance or of a count, in the order of the features."""
    return {"pairs": result.pairs.tolist(), "changed": result.changed.tolist()}


def measure_here(path: str, repetitions: int, everything: bool) -> dict[str, Measured]:
    """Times and counts of the engine in memory and, on request, of DuckDB and Polars."""
    import polars as pl

    from analogical.columns.encode import encode_table
    from analogical.count.pairs import count_pairs

    def count() -> Counts:
        return counts_of(count_pairs(encode_table(pl.read_parquet(path), LABEL).coded, n_jobs=N_CORES))

    jobs: dict[str, Callable[[], Counts]] = {MEMORY_METHOD: count}
    if everything:
        coded = encode_table(pl.read_parquet(path), LABEL).coded
        jobs["analogical in memory, rows already encoded"] = lambda: counts_of(count_pairs(coded, n_jobs=N_CORES))
        jobs["DuckDB, a query for each feature"] = lambda: duckdb_counts(path, N_CORES)
        jobs["Polars, a query for each feature"] = lambda: polars_counts(path)
    found = {}
    for name, job in jobs.items():
        found[name], answer = best_of(repetitions, job)
        found[name]["counts"] = answer
    return found


def measure_relevance(path: str, repetitions: int, engine: str) -> dict[str, Measured]:
    """Time, counts and peak memory of ``relevance`` with all defaults, in a process of its own."""
    import resource

    import polars as pl

    from analogical import relevance
    from analogical.io.files import open_file

    def ask() -> Counts:
        table = pl.read_parquet(path) if engine == "memory" else open_file(path, engine="duckdb").frame
        return counts_of(relevance(table, LABEL))

    measured, answer = best_of(repetitions, ask)
    peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss * 1024
    return {EVERYTHING[engine]: measured | {"counts": answer, "peak": peak}}


def start_spark(master: str) -> Measured:
    """Seconds until a session is there, and until Python workers have answered for the first time."""
    from pyspark.sql import SparkSession

    warnings.simplefilter("ignore")  # PySpark's own about pandas 3
    began = time.perf_counter()
    spark = SparkSession.builder.master(master).getOrCreate()  # with the page that counts what is shuffled
    opened = time.perf_counter()
    spark.sparkContext.setLogLevel("ERROR")
    spark.range(N_CORES, numPartitions=N_CORES).mapInArrow(lambda batches: batches, "id long").toArrow()
    return {"session": opened - began, "first_job": time.perf_counter() - opened}


def measure_on_spark(
    name: str, path: str, repetitions: int, everything: bool = False, exploded: bool = False
) -> dict[str, Measured]:
    """Times and counts on the session of this process and, on request, of all of ``relevance`` and the naive plan."""
    from pyspark.sql import SparkSession

    from analogical import Study, relevance
    from analogical.spark import opening

    spark, here = SparkSession.active(), opening.HERE_BYTES

    def shuffled() -> int:
        """Bytes that all stages so far wrote for others to read."""
        context = spark.sparkContext
        context._jsc.sc().listenerBus().waitUntilEmpty()
        with urllib.request.urlopen(f"{context.uiWebUrl}/api/v1/applications/{context.applicationId}/stages") as page:  # noqa: S310
            return sum(stage["shuffleWriteBytes"] for stage in json.load(page))

    def count() -> tuple[Any, Any]:
        study = Study(spark.read.parquet(path), LABEL)
        return study.counts, study.plan

    found: dict[str, Measured] = {}
    opening.HERE_BYTES = 0  # as of tables that are too large to come here
    found[name], (counts, plan) = best_of(repetitions, count, shuffled)
    found[name] |= {"counts": counts_of(counts), "plan": describe_plan(plan)}
    for kept, where in ((0, ", rows stay there"), (here, "")) if everything else ():
        opening.HERE_BYTES = kept
        what = f"relevance{name.removeprefix('analogical')}{where}"
        found[what], result = best_of(repetitions, lambda: relevance(spark.read.parquet(path), LABEL), shuffled)
        found[what] |= {"counts": counts_of(result), "plan": describe_plan(result.settings.plan)}
    opening.HERE_BYTES = here
    if exploded:
        found[EXPLODED], answer = best_of(1, lambda: explode_counts(spark, path), shuffled)
        found[EXPLODED]["counts"] = answer
    return found


def measure_partition(kind: str) -> Measured:
    """Memory that counting the largest partition adds to a Python worker, its seconds, and the bytes of its sums."""
    import resource

    import pyarrow as pa
    from analogical.engines.blocks import deal_features
    from analogical.spark.parts import CountPart
    from analogical.spark.planning import MOST_CELLS
    from analogical.spark.words import LABEL as LABELS
    from analogical.spark.words import Layout

    from analogical._types import CodedRows, Margins

    def batches() -> Any:
        """Ten thousand rows at a time, as Spark hands them over."""
        for start in range(0, n_rows, 10_000):
            cells = [*(word[start : start + 10_000] for word in words), labels[start : start + 10_000]]
            yield pa.RecordBatch.from_arrays([pa.array(cell.copy()) for cell in cells], names=[*layout.names, LABELS])

    n_rows = MOST_CELLS // TABLES[kind](10)[0].shape[1]
    X, y = TABLES[kind](n_rows)
    n_features = X.shape[1]
    rows = CodedRows(X.astype("u1"), y.astype("u1"), X.max(axis=0).astype(np.int64) + 1, 2)
    margins = Margins(rows.label_sizes(), tuple(rows.value_sizes(i) for i in range(n_features)))
    layout = Layout(tuple(rows.n_values.tolist()), deal_features(margins, 2))
    words, labels = layout.pack(list(rows.codes.T)), rows.labels.astype(np.int64)
    del X, rows
    count = CountPart(0, layout, 2, MOST_CELLS // n_features)
    list(count(iter(list(batches())[:3])))  # what is imported on the way is not memory of a partition
    Path("/proc/self/clear_refs").write_text("5")  # the peak so far is forgotten
    held = int(Path("/proc/self/statm").read_text().split()[1]) * resource.getpagesize()
    began = time.perf_counter()
    (sums,) = count(batches())
    seconds = time.perf_counter() - began
    peak = next(line for line in Path("/proc/self/status").read_text().splitlines() if line.startswith("VmHWM"))
    return {
        "features": n_features,
        "rows": n_rows,
        "words": len(layout.words),
        "bytes": int(peak.split()[1]) * 1024 - held,
        "seconds": seconds,
        "sums": len(sums.column("sums")[0].as_py()),
    }


def describe_plan(plan: Any) -> str:
    """How rows were counted, in words."""
    if plan.kind != "blocks":
        return "identical rows grouped, then in memory" if plan.kind == "grouped" else "all rows come here"
    merged = ", identical rows merged first" if plan.is_merged else ""
    return (
        f"{len(plan.blocks)} blocks of columns, {plan.n_partitions} partitions each, the largest about"
        f" {plan.skew:.1f} x the mean{merged}"
    )


# ---------------------------------------------------------------- the run


def refuse_other_counts(rows: str, found: dict[str, Measured]) -> None:
    """All methods must have the same counts; they are not kept."""
    counts = {name: one.pop("counts") for name, one in found.items()}
    expected = counts[MEMORY_METHOD]
    for name, answer in counts.items():
        if answer != expected:
            raise SystemExit(f"wrong counts, {rows}, {name}: {answer}, expected {expected}")


class Places:
    """Where rows are counted: a process without Spark, one with a local session, and one on a cluster."""

    def __init__(self, folder: Path) -> None:
        from standalone import Cluster, environment

        options = f"--driver-memory {MEMORY} --executor-memory {MEMORY} pyspark-shell"
        os.environ.update(environment() | {"PYSPARK_SUBMIT_ARGS": options})
        self.here, self.local, self.remote = (ProcessPoolExecutor(1, mp_context=get_context("spawn")) for _ in range(3))
        began = time.perf_counter()
        self.cluster = Cluster(folder / "cluster", n_workers=N_CORES, memory=MEMORY)
        self.start = {"cluster": time.perf_counter() - began}

    def __enter__(self) -> "Places":
        self.start |= {
            "local": self.local.submit(start_spark, f"local[{N_CORES}]").result(),
            "standalone": self.remote.submit(start_spark, self.cluster.url).result(),
        }
        return self

    def __exit__(self, *_: object) -> None:
        for process in (self.here, self.local, self.remote):
            process.shutdown()
        self.cluster.stop()

    def measure_size(self, path: str, n_rows: int) -> Measured:
        """All methods on one table, taking turns."""
        repetitions, load = 1 if n_rows >= 10**7 else 3, os.getloadavg()[0]
        methods = self.here.submit(measure_here, path, repetitions, True).result()
        for engine in EVERYTHING:
            with ProcessPoolExecutor(1, mp_context=get_context("spawn")) as alone:
                methods |= alone.submit(measure_relevance, path, repetitions, engine).result()
        for name, process in ((SPARK_LOCAL, self.local), (SPARK_CLUSTER, self.remote)):
            exploded = name == SPARK_LOCAL and n_rows <= EXPLODED_MOST
            methods |= process.submit(measure_on_spark, name, path, repetitions, True, exploded).result()
        refuse_other_counts(f"{n_rows:,} rows", methods)
        for name, one in methods.items():
            say(f"  {name}: {one['seconds']:.2f} s, first {one['first']:.2f} s, {one['shuffled'] / 1e6:.1f} MB")
        return {"load": load, "methods": methods}

    def measure_plan(self, path: str, kind: str, n_rows: int) -> Measured:
        """The count alone in memory and on the local session, and which plan it took."""
        load = os.getloadavg()[0]
        methods = self.here.submit(measure_here, path, 1, False).result()
        methods |= self.local.submit(measure_on_spark, SPARK_LOCAL, path, 1).result()
        refuse_other_counts(kind, methods)
        say(f"{kind}: {methods[SPARK_LOCAL]['seconds']:.2f} s, {methods[SPARK_LOCAL]['plan']}")
        return {"rows": n_rows, "load": load, "methods": methods}


def measure(sizes: tuple[int, ...], folder: Path) -> Iterator[dict[str, Any]]:
    """What was measured so far, again and again; the largest table comes last."""
    libraries = ", ".join(f"{name} {version(name)}" for name in ("pyspark", "duckdb", "polars"))
    results: dict[str, Any] = {"machine": f"{describe_machine()}, {libraries}"}
    results |= {"rows": {}, "partitions": {}, "plans": {}}
    with Places(folder) as places:
        results["start"] = places.start
        for n_rows in sizes:
            if n_rows == sizes[-1]:
                for kind in TABLES:
                    with ProcessPoolExecutor(1, mp_context=get_context("spawn")) as alone:
                        results["partitions"][kind] = alone.submit(measure_partition, kind).result()
                    few = min(10**6, n_rows)
                    path = write_table(kind, few, folder / "plans")
                    results["plans"][kind] = places.measure_plan(path, kind, few)
            say(f"{n_rows:,} rows, load {os.getloadavg()[0]:.1f}")
            results["rows"][str(n_rows)] = places.measure_size(write_table("uniform", n_rows, folder), n_rows)
            yield results


def say(line: str) -> None:
    """How far the run is."""
    sys.stderr.write(f"{time.strftime('%H:%M:%S')} {line}\n")


# ---------------------------------------------------------------- writing


def growth(sizes: tuple[int, int], seconds: tuple[float, float]) -> float:
    """Growth of the time with the rows, as a power."""
    return math.log(seconds[1] / seconds[0]) / math.log(sizes[1] / sizes[0])


def as_seconds(seconds: float) -> str:
    """Seconds with three digits or so."""
    return f"{seconds:,.0f} s" if seconds >= 100 else f"{seconds:.1f} s" if seconds >= 10 else f"{seconds:.2f} s"


def as_bytes(n_bytes: int, n_rows: int) -> str:
    """Bytes shuffled, and by row."""
    return f"{n_bytes / 1e6:,.1f} MB ({n_bytes / n_rows:.1f} a row)" if n_bytes else ""


def as_megabytes(n_bytes: int | None) -> str:
    """Peak memory, where it is known."""
    return "" if n_bytes is None else f"{n_bytes / 1e6:,.0f} MB"


def points(results: dict[str, Any]) -> list[str]:
    """What the run says, in a few sentences."""
    rows = {int(size): row["methods"] for size, row in results["rows"].items()}
    last = max(rows)
    lines = []
    n_rows = min(GOAL_ROWS, last)
    exploded, ours = rows[n_rows].get(EXPLODED), rows[n_rows][SPARK_LOCAL]
    if exploded:
        times, busy = exploded["seconds"] / ours["seconds"], exploded["processor"] / ours["processor"]
        lines.append(
            f"- At {n_rows:,} x {N_FEATURES} our plan on Spark is {times:.1f} times as fast as the naive one, which"
            f" makes a row of every (row, feature) and groups them; the goal is {GOAL:.0f} times"
            f"{'' if times >= GOAL else ' (**missed**)'}. In processor time, which the load of the machine changes"
            f" less, it is {busy:.1f} times. It shuffles {ours['shuffled'] / n_rows:.0f} bytes a row"
            f" instead of {exploded['shuffled'] / n_rows:.0f}."
        )
    ratios = {
        n: min(m[SPARK_LOCAL]["seconds"], m[SPARK_CLUSTER]["seconds"]) / m[MEMORY_METHOD]["seconds"]
        for n, m in rows.items()
    }
    listed = ", ".join(f"{ratio:.1f} times at {n:,} rows" for n, ratio in ratios.items())
    lines.append(
        f"- The better of the two Spark sessions takes longer than the count in memory on the same {N_CORES} cores:"
        f" {listed}. By the last ratio a cluster needs about {N_CORES * ratios[last]:.0f} such cores to be as fast as"
        f" this machine with {N_CORES}. Spark pays where the table does not fit the memory of one machine, or"
        " lies on the cluster anyway."
    )
    if len(rows) > 1:
        before = sorted(rows)[-2]
        memory, local, cluster = (
            growth((before, last), (rows[before][name]["seconds"], rows[last][name]["seconds"]))
            for name in (MEMORY_METHOD, SPARK_LOCAL, SPARK_CLUSTER)
        )
        lines.append(
            f"- From {before:,} to {last:,} rows the time grows like the rows to the power of {local:.2f} on Spark"
            f" local, {cluster:.2f} on the cluster and {memory:.2f} in memory; below 1 where starting jobs is still"
            " part of the time."
        )
    each = rows[last][SPARK_LOCAL]["processor"] / (last * N_FEATURES)
    lines.append(
        f"- {last:,} rows cost {each * 1e6:.2f} microseconds of processor time for each cell on Spark local. If that"
        f" stays so, {BILLIONS:,} rows x {BILLIONS_FEATURES} features cost"
        f" {each * BILLIONS * BILLIONS_FEATURES / 3600:,.0f} hours of one such core. That is {BILLIONS // last:,} times"
        " the rows that were measured, so take it as a guess that may be off by a factor of three either way."
    )
    return lines


def everything(results: dict[str, Any]) -> list[str]:
    """The section on ``relevance`` with all defaults."""
    lines = []
    for size, row in results["rows"].items():
        memory = row["methods"][EVERYTHING["memory"]]
        lines += [
            f"| {int(size):,} | {name.partition(' ')[2]} | {as_seconds(one['seconds'])} |"
            f" {one['seconds'] / memory['seconds']:.2f} | {as_seconds(one['first'])} |"
            f" {'' if 'cluster' in name else as_seconds(one['processor'])} |"
            f" {as_megabytes(one.get('peak'))} |"
            for name, one in row["methods"].items()
            if name.startswith("relevance")
        ]
    return [
        "## Everything: `relevance(...)` with all defaults, as people call it",
        "",
        "With the deciding set, effects, intervals and p-values. A Spark dataframe of at most half a gigabyte, as all",
        "these are, comes to the process that asks; *rows stay there* shows what a larger one costs.",
        "",
        "| rows | where | time | x in memory | first run | processor time | peak memory |",
        "|---|---|---|---|---|---|---|",
        *lines,
        "",
    ]


def write_markdown(results: dict[str, Any]) -> str:
    """The results as a page."""
    start = results["start"]
    lines = [
        "# Counting on Spark, beside one machine",
        "",
        f"{results['machine']}.",
        f"Tables of {N_FEATURES} features with {N_VALUES} values and two labels by a rule with 10 % noise, in",
        f"{N_FILES} Parquet files. From the files to the pairs and changed pairs of all features, intervals and tests",
        "not asked for; all counts are compared with `==`. Best of three runs, one at 10^7 rows;",
        "the naive plan once. DuckDB, Polars and the naive plan group by one whole number that holds a row, which",
        f"suits them best. Spark has {MEMORY} of heap; the cluster is one master and {N_CORES} workers of one core on",
        "this machine. Rows stay on Spark here, as those of tables over half a gigabyte do.",
        "",
        *points(results),
        "",
        "<!-- table -->",
        "| rows | method | time | x in memory | first run | processor time | load | shuffled |",
        "|---|---|---|---|---|---|---|---|",
    ]
    for size, row in results["rows"].items():
        memory = row["methods"][MEMORY_METHOD]["seconds"]
        lines += [
            f"| {int(size):,} | {name} | {as_seconds(one['seconds'])} | {one['seconds'] / memory:.2f} |"
            f" {as_seconds(one['first'])} | {'' if name == SPARK_CLUSTER else as_seconds(one['processor'])} |"
            f" {one['load']:.1f} | {as_bytes(one['shuffled'], int(size))} |"
            for name, one in row["methods"].items()
            if not name.startswith("relevance")
        ]
    lines += ["<!-- end -->", ""]
    left_out = [f"{int(n):,}" for n, row in results["rows"].items() if EXPLODED not in row["methods"]]
    if left_out:
        lines += [f"The naive plan was left out at {', '.join(left_out)} rows: too slow.", ""]
    lines += [
        f"Load is that of the machine, of {N_CORES} cores, after the last run: others used it, too. Processor time is",
        "of the last run, and not known of the cluster's processes.",
        "",
        *everything(results),
        "## The plan that is chosen",
        "",
        "Counted on the local session, rows staying there.",
        "",
        "| table | rows | plan | on Spark | in memory | shuffled |",
        "|---|---|---|---|---|---|",
    ]
    for kind, one in results["plans"].items():
        spark = one["methods"][SPARK_LOCAL]
        lines.append(
            f"| {kind} | {one['rows']:,} | {spark['plan']} | {as_seconds(spark['seconds'])} |"
            f" {as_seconds(one['methods'][MEMORY_METHOD]['seconds'])} | {as_bytes(spark['shuffled'], one['rows'])} |"
        )
    lines += [
        "",
        "## The largest partition",
        "",
        "Memory that counting one block of the largest partition adds to a Python worker, outside the heap of Spark.",
        "",
        "| table | rows x features | words a row | memory | bytes a cell | sums sent back | time |",
        "|---|---|---|---|---|---|---|",
        *(
            f"| {kind} | {one['rows']:,} x {one['features']} | {one['words']} | {one['bytes'] / 1e6:,.0f} MB |"
            f" {one['bytes'] / one['rows'] / one['features']:.1f} | {one['sums'] / 1e3:,.0f} KB |"
            f" {as_seconds(one['seconds'])} |"
            for kind, one in results["partitions"].items()
        ),
        "",
        "## The start of a session",
        "",
        "Not part of the times above; the first runs above are with a session that has just started.",
        "",
        "| session | until it is there | until the first Python workers answered |",
        "|---|---|---|",
        f"| local[{N_CORES}] | {as_seconds(start['local']['session'])} | {as_seconds(start['local']['first_job'])} |",
        f"| cluster, after {as_seconds(start['cluster'])} for its own start |"
        f" {as_seconds(start['standalone']['session'])} | {as_seconds(start['standalone']['first_job'])} |",
    ]
    return "\n".join(lines) + "\n"


def main() -> None:
    """Measure all sizes and record them, or some and print."""
    parser = argparse.ArgumentParser()
    parser.add_argument("--rows", type=lambda cell: int(float(cell)), nargs="+", help="rows of the tables; prints")
    parser.add_argument("--page", action="store_true", help="write the page again from the record")
    parser.add_argument("--out", type=Path, default=RESULTS, help="folder to write to")
    arguments = parser.parse_args()
    if arguments.page:
        results = json.loads((arguments.out / "scale.json").read_text(encoding="utf-8"))
        (arguments.out / "scale.md").write_text(write_markdown(results), encoding="utf-8")
        return
    with tempfile.TemporaryDirectory() as folder:
        for results in measure(tuple(arguments.rows or SIZES), Path(folder)):
            page = write_markdown(results)
            if not arguments.rows:
                (arguments.out / "scale.json").write_text(json.dumps(results, indent=1) + "\n", encoding="utf-8")
                (arguments.out / "scale.md").write_text(page, encoding="utf-8")
    if arguments.rows:
        sys.stdout.write(page)


if __name__ == "__main__":
    main()
