"""Simulations behind every statistical claim of analogical; see README.md beside this file.

    python benchmarks/coverage/run.py intervals      coverage of the index's intervals
    python benchmarks/coverage/run.py discoveries    false discoveries and power of alpha=
    python benchmarks/coverage/run.py audit          coverage and error rate of the audit's difference
    python benchmarks/coverage/run.py redundancy     dependencies reported where there are none
    python benchmarks/coverage/run.py all            all of them
    python benchmarks/coverage/run.py all --quick    a small version, to try them out; records nothing

Each one writes NAME.json and NAME.md into this folder; the seeds are fixed. A setting whose result lies outside of
what is promised is run again with new draws, ten times as many, and that result is recorded: with hundreds of settings
some fall outside by the luck of the draw.
"""

import argparse
import json
import platform
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np
from scipy.stats import false_discovery_control

from analogical import audit, redundancies
from analogical._types import CodedRows
from analogical.counting.pairs import count_pairs, sum_contexts
from analogical.experiments import FUNCTIONS, universe
from analogical.scoring.intervals import share_interval
from analogical.scoring.summaries import FeatureSummary

HERE = Path(__file__).parent
SHAPES = {"10 binary": (10, 2), "7 ternary": (7, 3)}
DRAWS = (("with repetition", 150), ("without repetition", 341), ("with repetition", 500), ("with repetition", 2000))
ENOUGH = 30
"""Pairs from which on the promise of 92 to 98 % holds."""


def population(name: str, n_features: int, n_values: int, noise: float) -> tuple[Any, Any, Any]:
    """All rows, their labels before noise, and the expected index of each feature under the noise."""
    rows = universe(n_features, n_values)
    labels = FUNCTIONS[name](rows)
    counts = count_pairs(coded(rows, labels, n_values))
    index = counts.changed / counts.pairs
    flip = 2 * noise * (1 - noise)
    return rows, labels, index * (1 - flip) + (1 - index) * flip


def coded(rows: Any, labels: Any, n_values: int) -> CodedRows:
    """Rows whose features have so many values each, as the library counts them."""
    return CodedRows(rows, labels, np.full(rows.shape[1], n_values), 2)


def draw(rng: Any, rows: Any, labels: Any, how: str, n: int, noise: Any) -> tuple[Any, Any]:
    """A sample of rows with noisy labels."""
    at = rng.permutation(len(rows))[:n] if how == "without repetition" else rng.integers(len(rows), size=n)
    flips = rng.random(n) < (noise[at] if isinstance(noise, np.ndarray) else noise)
    return rows[at], (labels[at] ^ flips).astype(np.uint8)


def _repeat(n_draws: int) -> list[int]:
    """What sets the seed of a repeated setting apart."""
    return [n_draws] if n_draws > 1000 else []


def intervals(quick: bool) -> Iterator[dict[str, Any]]:
    """How often the 95 % interval of the index holds the index of the population."""
    n_draws = 100 if quick else 700
    for name in ("g1", "g8") if quick else FUNCTIONS:
        for shape, (n_features, n_values) in SHAPES.items():
            for noise in (0.0, 0.1):
                rows, labels, index = population(name, n_features, n_values, noise)
                for how, n in DRAWS:
                    setting = (name, shape, n_values, noise, rows, labels, index, how, n)
                    results = list(_intervals_of(*setting, n_draws))
                    if not quick and not all(_as_promised(r) for r in results):
                        again = {(r["index"], r["pairs"]): r for r in _intervals_of(*setting, 10 * n_draws)}
                        results = [r if _as_promised(r) else again[r["index"], r["pairs"]] for r in results]
                    yield from results


def _as_promised(result: dict[str, Any]) -> bool:
    """Whether coverage lies from 92 to 98 %, where that is promised."""
    promised = result["pairs"].startswith(f"{ENOUGH} ") and 0 < result["index"] < 1
    return not promised or 0.92 <= result["coverage"] <= 0.98


def _intervals_of(
    name: str,
    shape: str,
    n_values: int,
    noise: float,
    rows: Any,
    labels: Any,
    index: Any,
    how: str,
    n: int,
    n_draws: int,
) -> Iterator[dict[str, Any]]:
    rng = np.random.default_rng([20, int(name[1]), n_values, int(100 * noise), n, *_repeat(n_draws)])
    n_features = rows.shape[1]
    pairs = np.zeros((n_draws, n_features), dtype=int)
    covered = np.zeros((n_draws, n_features), dtype=bool)
    width = np.full((n_draws, n_features), np.nan)
    for t in range(n_draws):
        found = sum_contexts(coded(*draw(rng, rows, labels, how, n, noise), n_values), FeatureSummary.of)
        pairs[t] = found.counts.pairs
        for i, summary in enumerate(found.summaries):
            if summary is not None:
                _, low, high = share_interval(summary.profile, n, 0.95)
                width[t, i] = high - low
                covered[t, i] = low - 1e-12 <= index[i] <= high + 1e-12
    for value in np.unique(index.round(9)):
        mine = np.abs(index - value) < 1e-8
        for least, most in ((1, 5), (6, ENOUGH - 1), (ENOUGH, 10**9)):
            some = mine & (pairs >= least) & (pairs <= most)
            if some.sum() >= max(n_draws / 5, 1):
                yield {
                    "function": name,
                    "shape": shape,
                    "noise": noise,
                    "draw": how,
                    "rows": n,
                    "index": float(value),
                    "features": int(mine.sum()),
                    "pairs": f"{least} to {most}" if most < 10**9 else f"{least} or more",
                    "mean_pairs": float(pairs[some].mean()),
                    "intervals": int(some.sum()),
                    "coverage": float(covered[some].mean()),
                    "mean_width": float(width[some].mean()),
                }


def discoveries(quick: bool) -> Iterator[dict[str, Any]]:
    """False discoveries, power and the p-values of features that do nothing."""
    n_draws = 50 if quick else 250
    for name in ("g1",) if quick else ("g1", "g2", "g5", "g7"):
        for shape, (n_features, n_values), sizes in (
            ("10 binary", (10, 2), (300, 1000, 3000)),
            ("7 ternary", (7, 3), (500, 2000, 6000)),
        ):
            rows = universe(n_features, n_values)
            labels = FUNCTIONS[name](rows)
            relevant = np.isin(np.arange(n_features), FUNCTIONS[name].relevant(n_features))
            uneven = np.where(rows[:, 0] == 0, 0.35, 0.02)  # noise that goes with a relevant feature
            for n in sizes:
                for noise, level in (("5 %", 0.05), ("20 %", 0.2), ("35 % or 2 %, by x1", uneven)):
                    setting = (name, shape, n_values, noise, level, rows, labels, relevant, n)
                    result = _discoveries_of(*setting, n_draws)
                    if not quick and result["false_discovery_rate"] > 0.05:
                        result = _discoveries_of(*setting, 10 * n_draws)
                    yield result


def _discoveries_of(
    name: str,
    shape: str,
    n_values: int,
    noise: str,
    level: Any,
    rows: Any,
    labels: Any,
    relevant: Any,
    n: int,
    n_draws: int,
) -> dict[str, Any]:
    rng = np.random.default_rng([21, int(name[1]), n_values, len(noise), n, *_repeat(n_draws)])
    shares, power, small, known = [], [], [], 0
    for _ in range(n_draws):
        drawn = coded(*draw(rng, rows, labels, "with repetition", n, level), n_values)
        summaries = sum_contexts(drawn, FeatureSummary.of).summaries
        p = np.array([np.nan if summary is None else summary.deals.p_value() for summary in summaries])
        found = np.zeros(len(p), dtype=bool)
        is_known = ~np.isnan(p)
        if is_known.any():
            found[is_known] = false_discovery_control(p[is_known]) <= 0.05
        shares.append(found[~relevant].sum() / max(found.sum(), 1))
        power.append(found[relevant].mean())
        nothing = p[~relevant & is_known]
        known += len(nothing)
        small.append((nothing <= 0.05).sum())
    return {
        "function": name,
        "shape": shape,
        "noise": noise,
        "rows": n,
        "samples": n_draws,
        "false_discovery_rate": float(np.mean(shares)),
        "power": float(np.mean(power)),
        "p_below_5_percent": float(np.sum(small) / max(known, 1)),
        "p_known": known / (n_draws * int((~relevant).sum())),
    }


def audit_effect(quick: bool) -> Iterator[dict[str, Any]]:
    """Coverage of the audit's difference and how often its test finds an effect."""
    n_draws = 50 if quick else 500
    for contexts, rows_each in ((10, 2), (10, 20), (40, 2), (40, 6), (200, 2), (200, 6), (6, 300)):
        for effect in (0.0, 0.1, 0.3):
            rng = np.random.default_rng([22, contexts, rows_each, int(100 * effect)])
            covered, found, adjusted, width, pairs = [], [], 0, [], []
            for _ in range(n_draws):
                # Contexts differ in size, in the share of the second value and in how often they say yes.
                sizes = 2 + rng.poisson(rows_each - 2, size=contexts)
                context = np.repeat(np.arange(contexts), sizes)
                second = rng.random(len(context)) < rng.uniform(0.2, 0.8, size=contexts)[context]
                base = rng.uniform(0.1, 0.9 - effect, size=contexts)[context]
                label = rng.random(len(context)) < base + effect * second
                if label.all() or not label.any() or second.all() or not second.any():
                    continue
                result = audit(np.column_stack([second, context]).astype(np.int64), label.astype(int), "x0", limit=0)
                if not result.differences:
                    continue
                got = result.differences[0]
                sign = 1 if got.values == (0, 1) else -1
                low, high = sorted((sign * got.difference_low, sign * got.difference_high))
                covered.append(low <= effect <= high)
                width.append(high - low)
                found.append(got.p_value <= 0.05)
                pairs.append(got.pairs)
                adjusted += 1
            yield {
                "contexts": contexts,
                "rows_per_context": rows_each,
                "effect": effect,
                "audits": adjusted,
                "mean_pairs": float(np.mean(pairs)),
                "coverage": float(np.mean(covered)),
                "mean_width": float(np.mean(width)),
                "p_below_5_percent": float(np.mean(found)),
            }


def redundancy(quick: bool) -> Iterator[dict[str, Any]]:
    """How often columns drawn at random are called redundant."""
    n_tables = 30 if quick else 300
    for n_rows, n_columns, n_values in ((8, 4, 2), (20, 6, 3), (50, 8, 5), (100, 10, 20), (300, 10, 50)):
        rng = np.random.default_rng([23, n_rows, n_columns, n_values])
        wrong = n_targets = 0
        for _ in range(n_tables):
            X = rng.integers(0, n_values, size=(n_rows, n_columns))
            X[0, 0], X[1, 0] = 0, 1
            found = redundancies(X)
            called = {d.feature for d in found.dependencies} | {name for g in found.renamings for name in g[1:]}
            wrong += len(called)
            n_targets += n_columns
        yield {
            "rows": n_rows,
            "columns": n_columns,
            "values": n_values,
            "tables": n_tables,
            "columns_wrongly_called": wrong / n_targets,
        }


SIMULATIONS = {
    "intervals": intervals,
    "discoveries": discoveries,
    "audit": audit_effect,
    "redundancy": redundancy,
}


def summary(name: str, results: list[dict[str, Any]]) -> list[str]:
    """What a simulation says in a few lines."""
    if name == "intervals":
        lines = []
        for pairs in sorted(dict.fromkeys(r["pairs"] for r in results), key=lambda words: -int(words.split()[0])):
            some = [r for r in results if r["pairs"] == pairs and 0 < r["index"] < 1]
            shares = [r["coverage"] for r in some]
            all_of = np.average(shares, weights=[r["intervals"] for r in some])
            lines.append(
                f"- {pairs} pairs: nominal 95 %, observed {all_of:.1%} of"
                f" {sum(r['intervals'] for r in some):,} intervals;"
                f" in single settings ({len(some)}) from {min(shares):.1%} to {max(shares):.1%}"
            )
        extreme = [r for r in results if not 0 < r["index"] < 1]
        missed = sum(round((1 - r["coverage"]) * r["intervals"]) for r in extreme)
        lines.append(
            f"- index of the population exactly 0 or 1 (apart from these): {missed} of"
            f" {sum(r['intervals'] for r in extreme):,} intervals miss it"
        )
        return lines
    if name == "discoveries":
        rates = [r["false_discovery_rate"] for r in results]
        lines = [
            f"- nominal false discovery rate 5 %: observed {np.mean(rates):.1%} over all {len(results)} settings,"
            f" at most {max(rates):.1%} in one",
            f"- features that do nothing have p <= 5 % in {np.mean([r['p_below_5_percent'] for r in results]):.1%}",
        ]
        for shape in dict.fromkeys(r["shape"] for r in results):
            mine = [r for r in results if r["shape"] == shape]
            powers = [
                f"{np.mean([r['power'] for r in mine if r['rows'] == n]):.0%} at {n:,} rows"
                for n in dict.fromkeys(r["rows"] for r in mine)
            ]
            lines.append(f"- power, {shape} features: {', '.join(powers)}")
        return lines
    if name == "audit":
        nothing = [r["p_below_5_percent"] for r in results if r["effect"] == 0]
        shares = [r["coverage"] for r in results]
        return [
            f"- coverage of the 95 % interval: from {min(shares):.1%} to {max(shares):.1%}",
            f"- test at 5 % without an effect: finds one in {min(nothing):.1%} to {max(nothing):.1%}",
        ]
    return [f"- columns wrongly called redundant: at most {max(r['columns_wrongly_called'] for r in results):.1%}"]


def record(name: str, results: list[dict[str, Any]]) -> None:
    """Write the results as JSON and as a table."""
    content = {
        "simulation": name,
        "python": platform.python_version(),
        "numpy": np.__version__,
        "results": results,
    }
    (HERE / f"{name}.json").write_text(json.dumps(content, indent=1) + "\n")
    heads = list(results[0])
    lines = [f"# {SIMULATIONS[name].__doc__}", "", *summary(name, results), ""]
    lines += [f"Made by `python benchmarks/coverage/run.py {name}`.", ""]
    lines += ["| " + " | ".join(head.replace("_", " ") for head in heads) + " |", "|" + "---|" * len(heads)]
    lines += ["| " + " | ".join(_cell(row[head]) for head in heads) + " |" for row in results]
    (HERE / f"{name}.md").write_text("\n".join(lines) + "\n")


def _cell(value: Any) -> str:
    return f"{value:.3f}" if isinstance(value, float) else f"{value:,}" if isinstance(value, int) else str(value)


def main() -> None:
    """Run what was asked for."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("simulation", choices=[*SIMULATIONS, "all"])
    parser.add_argument("--quick", action="store_true", help="few draws, recorded nowhere")
    asked = parser.parse_args()
    for name in SIMULATIONS if asked.simulation == "all" else [asked.simulation]:
        results = list(SIMULATIONS[name](asked.quick))
        if not asked.quick:
            record(name, results)
        sys.stdout.write("\n".join([f"{name}:", *summary(name, results)]) + "\n")


if __name__ == "__main__":
    main()
