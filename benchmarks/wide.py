"""Time and memory of `relevance(X, y)` on tables with far more features than rows, beside its peers.

    python benchmarks/wide.py             # all cases and peers, half an hour; writes results/wide.json and wide.md
    python benchmarks/wide.py --pairs     # the exclusive or of two among many again; the rest as it was recorded
    python benchmarks/wide.py --quick     # the cases of a few seconds, without peers; prints
    python benchmarks/wide.py --ours      # ours again, the peers as they were recorded

Every case runs in a process of its own, on arrays made before the clock starts, with all defaults: the
deciding set, effects, intervals and p-values included. Memory is the largest that the process held, Python
and the arrays included. A peer has a minute.
"""

import argparse
import json
import multiprocessing
import os
import resource
import sys
import time
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
from machine import describe_machine

RESULTS = Path(__file__).parent / "results"
PEER_SECONDS = 60
GROWTH = (1_000, 3_162, 10_000, 31_623, 100_000)
"""Features of the tables of 200 rows whose times show the growth."""
GROWTH_GOAL = 1.3

PAIR_FEATURES = (1_000, 2_000, 5_000, 10_000)
PAIR_SECONDS = 900
"""Seconds that a method has for an exclusive or of two among many features."""

Table = tuple[np.ndarray, np.ndarray]


@dataclass(frozen=True)
class Case:
    """What is measured, what is hoped for, and what runs: a function that makes the table and returns the job."""

    name: str
    seconds: float
    """Goal."""
    megabytes: float | None
    """Goal; None if there is none."""
    make: Callable[[], Table]
    quick: bool = True


# ---------------------------------------------------------------- tables


def noisy_table(n_rows: int, n_features: int, n_values: int) -> Table:
    """Random codes; the label is whether the first feature is above 0, flipped in one row of ten."""
    rng = np.random.default_rng(0)
    X = rng.integers(0, n_values, size=(n_rows, n_features), dtype=np.uint8)
    return X, ((X[:, 0] > 0) ^ (rng.random(n_rows) < 0.1)).astype(np.uint8)


def genotypes(n_rows: int, n_features: int) -> Table:
    """Genotypes 0, 1, 2 with minor allele frequencies from .05 to .5; the label follows the first one, with noise."""
    rng = np.random.default_rng(0)
    frequency = rng.uniform(0.05, 0.5, n_features)
    frequency[0] = 0.4
    X = np.zeros((n_rows, n_features), np.uint8)
    for start in range(0, n_features, 10_000):
        part = slice(start, start + 10_000)
        for _ in range(2):
            X[:, part] += rng.random((n_rows, len(frequency[part]))) < frequency[part]
    return X, ((X[:, 0] > 0) ^ (rng.random(n_rows) < 0.1)).astype(np.uint8)


def small_wide() -> Table:
    """Twenty rows, as of a pilot study."""
    return noisy_table(20, 5_000, 3)


def many_values() -> Table:
    """More features than fit 15 bits, with eight values each."""
    return noisy_table(20, 32_767, 8)


def snps_100() -> Table:
    """A hundred people."""
    return genotypes(100, 10_000)


def snps_500() -> Table:
    """Five hundred people."""
    return genotypes(500, 20_000)


def snps_1000() -> Table:
    """A small genome-wide study."""
    return genotypes(1_000, 100_000)


CASES = [
    Case("20 x 5,000, 3 values", 2.5, None, small_wide),
    Case("20 x 32,767, 8 values", 5.0, None, many_values),
    Case("100 x 10,000, genotypes", 2.5, None, snps_100),
    Case("500 x 20,000, genotypes", 10.0, None, snps_500),
    Case("1,000 x 100,000, genotypes", 120.0, 4_096, snps_1000, quick=False),
]


@dataclass(frozen=True)
class PairOfSnps:
    """1,500 rows of genotypes, made in the process that uses them: two act only together, one label of ten is wrong."""

    n_features: int
    seed: int

    def __call__(self) -> Table:
        """The table; features 0 and 1 are the two."""
        rng = np.random.default_rng([self.n_features, self.seed])
        X = rng.binomial(2, rng.uniform(0.05, 0.5, self.n_features), (1_500, self.n_features)).astype(np.uint8)
        X[:, :2] = rng.binomial(2, 1 - 0.5**0.5, (1_500, 2))  # half of the rows have the minor allele
        return X, ((X[:, 0] > 0) ^ (X[:, 1] > 0) ^ (rng.random(1_500) < 0.1)).astype(np.uint8)


# ---------------------------------------------------------------- what runs


def everything(X: np.ndarray, y: np.ndarray) -> float:
    """The place of the one relevant feature in our ranking."""
    from analogical import relevance

    return float(np.flatnonzero(relevance(X, y).order() == 0)[0] + 1)


def found_pair(X: np.ndarray, y: np.ndarray) -> float:
    """Whether our deciding set is the pair."""
    from analogical import select

    return float(set(select(X, y).features) == {"x0", "x1"})


def first_by_multisurf(X: np.ndarray, y: np.ndarray) -> float:
    """Whether the pair has the two largest scores of skrebate's MultiSURF."""
    from skrebate import MultiSURF

    scores = MultiSURF(n_jobs=1).fit(X.astype(np.float64), y).feature_importances_
    return float(set(np.argsort(scores)[-2:].tolist()) == {0, 1})


PAIR_METHODS = {"analogical": (found_pair, 2), "skrebate MultiSURF": (first_by_multisurf, 1)}
"""The methods, and on how many tables of each width they are run."""


def distance_one(X: np.ndarray, y: np.ndarray) -> float:
    """Every feature given all others: the paper's index, without the search for what matters."""
    from analogical import relevance

    return float(len(relevance(X, y, given="all")))


def mutual_information(X: np.ndarray, y: np.ndarray) -> float:
    """Mutual information of scikit-learn, for categories."""
    from sklearn.feature_selection import mutual_info_classif

    return place_of_first(mutual_info_classif(X, y, discrete_features=True))


def skrebate_multisurf(X: np.ndarray, y: np.ndarray) -> float:
    """MultiSURF of scikit-rebate."""
    from skrebate import MultiSURF

    return place_of_first(MultiSURF(n_jobs=2).fit(X.astype(np.float64), y).feature_importances_)


def fast_select_multisurf(X: np.ndarray, y: np.ndarray) -> float:
    """MultiSURF of fast-select; compiling is part of the time, as for any first call."""
    from fast_select import MultiSURF

    return place_of_first(MultiSURF(n_features_to_select=5).fit(X.astype(np.float64), y).feature_importances_)


def place_of_first(scores: np.ndarray) -> float:
    """The place of the first feature when features are ordered by score."""
    return float(np.count_nonzero(scores > scores[0]) + 1)


PEERS = {
    "mutual information": mutual_information,
    "skrebate MultiSURF": skrebate_multisurf,
    "fast-select MultiSURF": fast_select_multisurf,
}


def run_alone(
    make: Callable[[], Table], job: Callable[[np.ndarray, np.ndarray], float], limit: float
) -> dict[str, Any]:
    """Seconds, peak memory and answer of a job in a process of its own; or why there is none."""
    context = multiprocessing.get_context("spawn")
    receiver, sender = context.Pipe(duplex=False)
    process = context.Process(target=_measure, args=(sender, make, job))
    process.start()
    sender.close()
    found: dict[str, Any] = {"failed": f"not within {limit:.0f} s"}
    if receiver.poll(limit):
        try:
            found = receiver.recv()
        except EOFError:
            found = {"failed": "ended without an answer"}
    process.kill()
    process.join()
    return found


def _measure(sender: Any, make: Callable[[], Table], job: Callable[[np.ndarray, np.ndarray], float]) -> None:
    X, y = make()
    began, busy = time.perf_counter(), time.process_time()
    try:
        answer = job(X, y)
    except Exception as error:
        sender.send({"failed": f"{type(error).__name__}: {error}"[:80]})
        return
    seconds, busy = time.perf_counter() - began, time.process_time() - busy
    peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024
    sender.send({"seconds": seconds, "processor_seconds": busy, "megabytes": peak, "answer": answer})


# ---------------------------------------------------------------- measuring


@dataclass(frozen=True)
class Genotypes:
    """A table of genotypes of 200 people, to be made in the process that uses it."""

    n_features: int

    def __call__(self) -> Table:
        """The table."""
        return genotypes(200, self.n_features)


def measure_case(case: Case) -> dict[str, Any]:
    """Ours."""
    found: dict[str, Any] = {"name": case.name, "goal_seconds": case.seconds, "goal_megabytes": case.megabytes}
    return found | {"ours": run_alone(case.make, everything, 10 * case.seconds + 60), "peers": {}}


def measure_pairs() -> list[dict[str, Any]]:
    """Seconds, memory and answers on tables of each width; a method that took too long is not run on wider ones."""
    lines: list[dict[str, Any]] = [{"features": n, "methods": {}} for n in PAIR_FEATURES]
    for name, (job, n_tables) in PAIR_METHODS.items():
        for line in lines:
            n = line["features"]
            runs = [run_alone(PairOfSnps(n, seed), job, PAIR_SECONDS) for seed in range(n_tables)]
            line["methods"][name] = runs
            sys.stderr.write(f"{n:,} features, {name}: {runs}\n")
            if "failed" in runs[-1]:
                break
    return lines


def measure_growth(features: tuple[int, ...]) -> dict[str, Any]:
    """Times at distance 1 by number of features, and the slope of a line through them, both in logarithms."""
    times = [run_alone(Genotypes(n), distance_one, 600).get("seconds", np.nan) for n in features]
    slope = float(np.polyfit(np.log(features), np.log(times), 1)[0])
    return {"features": list(features), "seconds": times, "slope": slope, "goal": GROWTH_GOAL}


# ---------------------------------------------------------------- the page


def goal_cell(value: float, goal: float, unit: str) -> str:
    """The goal, marked if it was missed."""
    return f"{'' if value <= goal else '**missed** '}<= {goal:,g} {unit}"


def case_line(found: dict[str, Any]) -> str:
    """One line of the table of cases."""
    ours = found["ours"]
    cells = [found["name"]]
    if "failed" in ours:
        cells += [ours["failed"], f"**missed** <= {found['goal_seconds']:g} s", "", "", ""]
    else:
        limit = found["goal_megabytes"]
        memory = f"{ours['megabytes']:,.0f} MB"
        cells += [f"{ours['seconds']:.1f} s", goal_cell(ours["seconds"], found["goal_seconds"], "s")]
        cells += [f"{ours['processor_seconds']:.1f} s"]
        cells += [memory if limit is None else f"{memory}, {goal_cell(ours['megabytes'], limit, 'MB')}"]
        cells += [f"{ours['answer']:.0f}"]
    for name in PEERS if found["peers"] else ():
        peer = found["peers"].get(name, {"failed": "not measured"})
        times = peer.get("failed") or f"{peer['seconds']:.1f} s, {peer['megabytes']:,.0f} MB, {peer['answer']:.0f}"
        cells.append(times)
    return f"| {' | '.join(cells)} |"


def pair_cell(runs: list[dict[str, Any]]) -> str:
    """How many of the pairs were found, in how long."""
    done = [run for run in runs if "failed" not in run]
    if len(done) < max(len(runs), 1):
        return runs[-1]["failed"] if runs else "left out: too slow"
    seconds, memory = (np.median([run[what] for run in done]) for what in ("processor_seconds", "megabytes"))
    return f"{sum(run['answer'] for run in done):.0f} of {len(done)}, {seconds:.1f} s, {memory:,.0f} MB"


def write_markdown(results: dict[str, Any]) -> str:
    """The page."""
    has_peers = any(found["peers"] for found in results["cases"])
    heads = ["table", "ours", "goal", "processor time", "peak memory", "place of the relevant feature"]
    heads += [f"{name}: time, memory, place" for name in PEERS] if has_peers else []
    growth = results["growth"]
    lines = [
        "# Wide tables: far more features than rows",
        "",
        f"{results['machine']}. `relevance(X, y)` with all defaults on arrays of uint8:",
        "the deciding set, effects, intervals and p-values included. Each case ran once, in a process of its",
        "own; imports are part of the time. Memory is the largest that the process held, Python and the table",
        "included. One feature is relevant, with one label of ten flipped; the last number of a peer is its place for",
        f"that feature. Peers have {PEER_SECONDS} s. The load of the machine was {results['load']:.1f} before the",
        "first case. Where that is well above 0, other work slowed ours and the peers, and elapsed times mean little;",
        "processor time, of all threads together, depends on it less.",
        "",
        f"| {' | '.join(heads)} |",
        f"|{'---|' * len(heads)}",
        *map(case_line, results["cases"]),
        "",
        *([results["note"], ""] if "note" in results else []),
        "## Growth in the number of features",
        "",
        '200 rows of genotypes, `relevance(X, y, given="all")`.',
        "",
        "| features | time |",
        "|---|---|",
        *(f"| {n:,} | {t:.2f} s |" for n, t in zip(growth["features"], growth["seconds"], strict=True)),
        "",
        f"Slope of time against features: {growth['slope']:.2f}"
        f" ({'' if growth['slope'] <= growth['goal'] else '**missed** '}goal: at most {growth['goal']:g}).",
        "",
        "## Two SNPs that act only together",
        "",
        "An exhaustive epistasis scan: `select` screens all pairs, which MultiSURF only approximates by nearest"
        " neighbours. 1,500 rows of genotypes, the label is the exclusive or of two of them (whether a minor allele is"
        " there), one label of ten is wrong: in how many tables the deciding set of `select(X, y)` is the pair,"
        " or the pair has the two largest scores of MultiSURF; median processor seconds, of all threads together, and"
        " peak memory of one process. The machine was shared with other work, so times are rough. A method has"
        f" {PAIR_SECONDS} s of elapsed time, and is left out of wider tables once it took longer.",
        "",
        "<!-- table -->",
        f"| features | {' | '.join(PAIR_METHODS)} |",
        f"|---:|{'---|' * len(PAIR_METHODS)}",
        *(
            f"| {line['features']:,} | {' | '.join(pair_cell(line['methods'].get(m, [])) for m in PAIR_METHODS)} |"
            for line in results["pairs"]
        ),
        "<!-- end -->",
    ]
    return "\n".join(lines) + "\n"


def main() -> None:
    """Measure, and write or print the page."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument(
        "--quick", action="store_true", help="the cases of a few seconds, without peers; writes nothing"
    )
    parser.add_argument("--ours", action="store_true", help="measure ours again, and keep the peers as recorded")
    parser.add_argument("--pairs", action="store_true", help="measure the exclusive or of two again, keep the rest")
    options = parser.parse_args()
    quick = options.quick
    if options.pairs:
        save(json.loads((RESULTS / "wide.json").read_text()) | {"pairs": measure_pairs()})
        return
    cases = [case for case in CASES if case.quick or not quick]
    results: dict[str, Any] = {"machine": describe_machine(), "load": os.getloadavg()[0]}
    results["cases"] = [measure_case(case) for case in cases]
    results["growth"] = measure_growth(GROWTH[:3] if quick else GROWTH)
    results["pairs"] = [] if quick else measure_pairs()
    if quick:
        sys.stdout.write(write_markdown(results))
        return
    if options.ours:
        recorded = json.loads((RESULTS / "wide.json").read_text())["cases"]
        for found, before in zip(results["cases"], recorded, strict=True):
            found["peers"] = before["peers"]
        save(results)
        return
    save(results)
    for name, job in PEERS.items():
        for case, found in zip(cases, results["cases"], strict=True):
            sys.stderr.write(f"{case.name}: {name}\n")
            found["peers"][name] = run_alone(case.make, job, PEER_SECONDS)
            save(results)


def save(results: dict[str, Any]) -> None:
    """Write numbers and page, after every step, so that a run that is stopped leaves what it has."""
    (RESULTS / "wide.json").write_text(json.dumps(results, indent=1) + "\n")
    (RESULTS / "wide.md").write_text(write_markdown(results))


if __name__ == "__main__":
    main()
