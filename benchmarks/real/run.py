"""How well two classifiers do on real tables with the 2, 4 and 8 features that each method chooses.

    make real                                              # all tables, five seeds; a rerun only pays for what is new
    python benchmarks/real/run.py --seeds 1 --tables car vote     # a look; writes no results
    python benchmarks/real/run.py --methods ranking CMIM          # some methods only; writes no results

The tables are in the folder ``real`` of the folder that the variable ANALOGICAL_DATA names, or --data. One line per
fitted model and per choice of a rival goes to a cache beside this file; accuracies go to results.json, the page to
results.md. One core.
"""

import argparse
import json
import sys
import time
from collections.abc import Callable, Iterator, Sequence
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray
from sklearn.ensemble import RandomForestClassifier
from sklearn.linear_model import LogisticRegression
from threadpoolctl import threadpool_limits

from analogical.columns.encode import EncodedTable
from analogical.paper.datasets import find_folder
from analogical.rivals import one_hot

sys.path.extend(str(folder) for folder in Path(__file__).parents[:2])
from choosers import CHOOSERS, RELIEF_ROWS
from machine import describe_machine
from sources import LEAKS, MAX_ROWS, SOURCES, Split, draw_split, load_table, missing_tables

HERE = Path(__file__).parent
CACHE = HERE / "cache.jsonl"
KS = (2, 4, 8)
SEEDS = 5
TIE = 0.05
"""Differences of less, in points, are ties."""
MODELS = {
    "logistic regression": lambda: LogisticRegression(C=1.0, max_iter=1000),
    "forest": lambda: RandomForestClassifier(100, min_samples_leaf=2, random_state=0, n_jobs=1),
}

Accuracies = dict[str, dict[str, dict[str, dict[str, list[float]]]]]
"""By table, method, model and k (as text): percent, one number per seed."""
Content = dict[str, Any]


# ---------------------------------------------------------------- measuring


class Cache:
    """Numbers of earlier runs by what they were computed from; new ones are written down at once."""

    def __init__(self, path: Path | None) -> None:
        self.path = path
        lines = path.read_text().splitlines() if path is not None and path.exists() else []
        self.known = {json.dumps(key): value for key, value in map(json.loads, lines)}

    def get(self, key: list[Any], compute: Callable[[], Any]) -> Any:
        """The value of a key, computed if it is not known."""
        text = json.dumps(key)
        if text not in self.known:
            self.known[text] = compute()
            if self.path is not None:
                with self.path.open("a") as file:
                    file.write(json.dumps([key, self.known[text]]) + "\n")
        return self.known[text]


def choices(
    name: str, split: Split, seed: int, methods: Sequence[str], cache: Cache
) -> Iterator[tuple[str, int, list[int]]]:
    """Method, k, and the k features that it chooses, in column order."""
    n_features = split.codes.shape[1]
    for method in methods:
        chooser = CHOOSERS[method]
        key = ["choice", name, seed, split.digest, method]
        if chooser.depends_on_k:
            for k in KS:
                yield method, k, sorted(chooser.choose(split.train, min(k, n_features), seed))
            continue
        choose = partial(chooser.choose, split.train, min(max(KS), n_features), seed)
        order = choose() if chooser.is_ours else cache.get(key, choose)
        yield from ((method, k, sorted(order[:k])) for k in KS)


def accuracy(
    model: str,
    features: Sequence[int],
    split: Split,
    indicators: tuple[NDArray[np.float64], NDArray[np.intp]],
) -> float:
    """Percent of the test rows that a model gets right with the indicators of these features."""
    columns, owner = indicators
    X, is_test = columns[:, np.isin(owner, features)], split.is_test
    fitted = MODELS[model]().fit(X[~is_test], split.labels[~is_test])
    return round(100 * float((fitted.predict(X[is_test]) == split.labels[is_test]).mean()), 4)


def measure_table(name: str, table: EncodedTable, n_seeds: int, methods: Sequence[str], cache: Cache) -> Any:
    """Accuracies of one table, by method, model and k."""
    found = {method: {model: {str(k): [] for k in KS} for model in MODELS} for method in methods}
    for seed in range(n_seeds):
        split = draw_split(table, seed)
        indicators = one_hot(split.codes)
        for method, k, features in choices(name, split, seed, methods, cache):
            for model in MODELS:
                key = ["accuracy", name, seed, split.digest, model, features]  # methods often choose the same ones
                value = cache.get(key, partial(accuracy, model, features, split, indicators))
                found[method][model][str(k)].append(value)
    return found


def measure(
    tables: Iterator[tuple[str, EncodedTable]], n_seeds: int, methods: Sequence[str], cache: Cache
) -> tuple[Accuracies, dict[str, list[int]]]:
    """All tables with a line on stderr for each; and the rows, features and classes of each."""
    found, shapes = {}, {}
    for name, table in tables:
        started = time.monotonic()
        with threadpool_limits(1):
            found[name] = measure_table(name, table, n_seeds, methods, cache)
        shapes[name] = [len(table.codes), len(table.names), len(table.classes)]
        means = ", ".join(f"{m} {overall(found[name][m]).mean():.2f}" for m in methods)
        sys.stderr.write(f"{name}: {means}; {time.monotonic() - started:.0f} s\n")
    return found, shapes


# ---------------------------------------------------------------- what it says


def overall(runs: dict[str, dict[str, list[float]]]) -> NDArray[np.float64]:
    """Mean over the models and k, one number per seed."""
    return np.mean([values for by_k in runs.values() for values in by_k.values()], axis=0)


def methods_of(found: Accuracies) -> tuple[list[str], list[str]]:
    """Our methods and the rivals."""
    methods = list(next(iter(found.values())))
    return [m for m in methods if CHOOSERS[m].is_ours], [m for m in methods if not CHOOSERS[m].is_ours]


def with_best(numbers: Sequence[float]) -> list[str]:
    """Numbers with one digit, the best in bold."""
    best = max(round(number, 1) for number in numbers)
    return [f"**{number:.1f}**" if round(number, 1) == best else f"{number:.1f}" for number in numbers]


def main_table(found: Accuracies) -> list[str]:
    """Mean over the tables by method, model and k; the best of each column is bold."""
    ours, rivals = methods_of(found)
    cells = [(model, str(k)) for model in MODELS for k in KS]
    columns = [
        with_best([np.mean([runs[method][model][k] for runs in found.values()]) for method in (*ours, *rivals)])
        for model, k in cells
    ]
    columns.append(with_best([np.mean([overall(runs[m]) for runs in found.values()]) for m in (*ours, *rivals)]))
    return [
        "| | " + " | ".join(f"{model}, k = {k}" for model, k in cells) + " | mean |",
        "|---|" + "---:|" * (len(cells) + 1),
        *(
            f"| {method} | {' | '.join(column[place] for column in columns)} |"
            for place, method in enumerate((*ours, *rivals))
        ),
    ]


def gaps(found: Accuracies, method: str, rival: str) -> NDArray[np.float64]:
    """By how many points a method is ahead of a rival on each table, mean over seeds, models and k."""
    return np.array([float((overall(runs[method]) - overall(runs[rival])).mean()) for runs in found.values()])


def duel_table(found: Accuracies, method: str) -> list[str]:
    """One of our methods against every other: mean difference, standard error over the tables, wins and losses."""
    lines = ["| against | difference | standard error | wins | losses | ties |", "|---|---:|---:|---:|---:|---:|"]
    for rival in next(iter(found.values())):
        if rival != method:
            gap = gaps(found, method, rival)
            error = f"{gap.std(ddof=1) / np.sqrt(len(gap)):.2f}" if len(gap) > 1 else "–"
            wins, losses = int((gap >= TIE).sum()), int((gap <= -TIE).sum())
            lines.append(f"| {rival} | {gap.mean():+.2f} | {error} | {wins} | {losses} | {len(gap) - wins - losses} |")
    return lines


def table_by_table(found: Accuracies, shapes: dict[str, list[int]]) -> list[str]:
    """Accuracy on every table, mean over seeds, models and k; the best is bold."""
    methods = list(next(iter(found.values())))
    lines = [
        "| | rows | features | classes | " + " | ".join(methods) + " |",
        "|---|" + "---:|" * (len(methods) + 3),
    ]
    for name, runs in found.items():
        rows, features, classes = shapes[name]
        words = " | ".join(with_best([float(overall(runs[method]).mean()) for method in methods]))
        lines.append(f"| {name} | {rows:,} | {features} | {classes} | {words} |")
    return lines


def losses(found: Accuracies, method: str) -> Iterator[str]:
    """One line for every table on which some rival is ahead, with how many seeds agree."""
    for name, runs in found.items():
        ahead = {rival: overall(runs[rival]) - overall(runs[method]) for rival in methods_of(found)[1]}
        ahead = {rival: gap for rival, gap in ahead.items() if gap.mean() >= TIE}
        if ahead:
            words = (
                f"{rival} by {gap.mean():.1f} (in {int((gap > 0).sum())} of {len(gap)} seeds)"
                for rival, gap in sorted(ahead.items(), key=lambda item: -item[1].mean())
            )
            yield f"- {name}: {', '.join(words)}"


def page(content: Content) -> str:
    """What was measured, for reading."""
    found, shapes = content["accuracy"], content["shapes"]
    ours, _ = methods_of(found)
    lines = [
        "# Real tables: accuracy with 2, 4 and 8 features",
        "",
        "Percent of test rows that a classifier gets right with the k features that a method chooses, mean over"
        f" {len(found)} tables (UCI's, and ProPublica's two-year file compas) and over seeds ({content['seeds']})."
        " Bold: the best of a column.",
        "",
        "<!-- table -->",
        *main_table(found),
        "<!-- end -->",
    ]
    for method in ours:
        lines += [
            "",
            f"## {method} against the others",
            "",
            "Points of accuracy, mean over seeds, models and k; the standard error is over the tables. Differences of"
            f" less than {TIE} points are ties.",
            "",
            *duel_table(found, method),
        ]
    lines += [
        "",
        "## Table by table",
        "",
        "Mean over seeds, models and k. Bold: the best of a row.",
        "",
        *table_by_table(found, shapes),
        "",
        "## Where we lose",
    ]
    for method in ours:
        lines += [
            "",
            f"### {method}",
            "",
            *(list(losses(found, method)) or [f"No rival is ahead by {TIE} points or more on any table."]),
        ]
    lines += [
        "",
        "## How it was measured",
        "",
        "- Every table is encoded once by the library with its default settings: missing cells are a value, numbers are"
        " in 5 bins, ids are set aside. Bins do not depend on the label, but on all rows.",
        "- Each seed draws a third of the rows of every class, as far as that goes, for testing. Features are chosen on"
        f" the other rows. From tables with more than {MAX_ROWS:,} rows a seed first draws {MAX_ROWS:,}.",
        "- The classifiers see indicators of the chosen features: logistic regression (C = 1) and a random forest"
        " (100 trees, two rows per leaf). Where a table has fewer than k features, all are used.",
        "- adult is the census table, whose last column is the label. Left out of compas because they were only known"
        f" after the label: {', '.join(LEAKS)}.",
        *(f"- *{method}*: {CHOOSERS[method].about}" for method in next(iter(found.values()))),
        f"- ReliefF and MultiSURF see at most {RELIEF_ROWS:,} training rows, drawn at random. They are computed by"
        " matrix products that give scikit-rebate's numbers.",
        "",
        "## How to read this",
        "",
        "Our methods were developed with these tables in sight, and the rivals were not tuned: read our rows as fitted,"
        " and a difference of less than two standard errors as none. The splits of one table overlap, so the spread"
        " over seeds is not a standard error. A logistic regression on indicators cannot use an interaction; the forest"
        " can.",
        "",
        f"Measured on {content['machine']}; one core.{content.get('note', '')}",
    ]
    return "\n".join(lines) + "\n"


def main() -> None:
    """Measure and write."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--data", metavar="DIR", help="folder that holds the folder real (default: ANALOGICAL_DATA)")
    parser.add_argument("--seeds", type=int, default=SEEDS, help=f"fewer than {SEEDS} only prints the page")
    parser.add_argument("--tables", nargs="+", choices=list(SOURCES), metavar="NAME", help="some tables; only prints")
    parser.add_argument(
        "--methods", nargs="+", choices=list(CHOOSERS), metavar="NAME", help="some methods; only prints"
    )
    parser.add_argument("--cache", type=Path, default=CACHE, metavar="FILE", help="what earlier runs computed")
    options = parser.parse_args()
    names, methods = options.tables or list(SOURCES), options.methods or list(CHOOSERS)
    folder = (find_folder(options.data) or Path()) / "real"
    missing = missing_tables(folder, names)
    if missing:
        files = ", ".join(f"{name}.csv" for name in missing)
        raise SystemExit(f"Missing data: {files}. Name the folder that holds real/ with --data or ANALOGICAL_DATA.")
    tables = ((name, load_table(name, folder)) for name in names)
    found, shapes = measure(tables, options.seeds, methods, Cache(options.cache))
    content = {"seeds": options.seeds, "k": KS, "machine": describe_machine(), "shapes": shapes, "accuracy": found}
    if options.seeds >= SEEDS and not options.tables and not options.methods:
        (HERE / "results.json").write_text(json.dumps(content, indent=1) + "\n")
        (HERE / "results.md").write_text(page(content))
    sys.stdout.write(page(content))


if __name__ == "__main__":
    main()
