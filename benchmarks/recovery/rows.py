"""Whether more rows give a better answer: the order of features by rows, with and without noise.

    python benchmarks/recovery/rows.py                 # about ten minutes; writes rows.md
    python benchmarks/recovery/rows.py --samples 1     # a quick look; only prints

Three orders are compared: by ``relevance(X, y)``, by the relaxed index, and by the paper's index. The census table is
read from the folder that ANALOGICAL_DATA names.
"""

import argparse
import os
import sys
import time
import warnings
import zlib
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
from numpy.typing import NDArray
from peers import one_hot
from samples import RULES, recovery
from sklearn.linear_model import LogisticRegression
from sklearn.metrics import roc_auc_score

from analogical import ari_score, relaxed_index, relevance
from analogical.columns.encode import encode_table

HERE = Path(__file__).parent
VARIABLE = "ANALOGICAL_DATA"
FIRST_SEED = 700_000
"""Seeds that no recorded experiment has."""
SHAPES = ((6, 2), (8, 2), (10, 2), (8, 3))  # features, values
ROWS = (300, 1000, 3000, 10_000)
NOISES = (0.0, 0.05, 0.2)
CENSUS_ROWS = (500, 1000, 2000, 4000, 8000, 16_000, 21_707)
CENSUS_COLUMNS = (
    "age",
    "workclass",
    "weight",
    "education",
    "education-num",
    "marital",
    "occupation",
    "relationship",
    "race",
    "sex",
    "gain",
    "loss",
    "hours",
    "country",
    "income",
)
ORDERS = ("relevance", "relaxed index", "paper's index")
WEAK = {"weak effects of four features": (0.8, 0.5, 0.3, 0.2), "weak interactions of two and two": (0.6, 0.35)}
"""Coefficients of a logistic rule: of single features, or of the exclusive or of two."""

Codes = NDArray[np.uint8]


def draw_repeated(rule: str, n_features: int, n_values: int, n_rows: int, noise: float, seed: int) -> Any:
    """Uniform rows that may repeat, and their labels; with how many leading features matter."""
    rng = np.random.default_rng([seed, zlib.crc32(rule.encode()), n_features, n_values, n_rows, round(1000 * noise)])
    codes = rng.integers(0, n_values, (n_rows, n_features), dtype=np.uint8)
    if rule in WEAK:
        above, sizes = codes > 0, WEAK[rule]
        if len(sizes) == 4:
            logit = sum(size * (above[:, j] - 0.5) for j, size in enumerate(sizes))
        else:
            logit = sum(size * ((above[:, 2 * j] ^ above[:, 2 * j + 1]) - 0.5) for j, size in enumerate(sizes))
        return codes, (rng.random(n_rows) < 1 / (1 + np.exp(-logit))).astype(np.int64), 4
    labels = (rng.random(n_rows) < RULES[rule].probability(codes, n_values)).astype(np.int64)
    return codes, labels ^ (rng.random(n_rows) < noise), RULES[rule].n_relevant


def orders_of(X: Any, y: Any) -> dict[str, NDArray[np.float64]]:
    """Scores by all three; of relevance, the places from the end of its order."""
    order = relevance(X, y).order()
    places = np.empty(len(order))
    places[order] = np.arange(len(order), 0, -1)
    return {ORDERS[0]: places, ORDERS[1]: relaxed_index(X, y), ORDERS[2]: ari_score(*_split(X, y))}


def _split(X: Any, y: Any) -> tuple[Any, Any]:
    """Features and labels, if the label is a column."""
    return (X.drop(columns=y), X[y]) if isinstance(y, str) else (X, y)


def simulated(rules: tuple[str, ...], noise: float, n_samples: int) -> list[str]:
    """Lines of a table: for each shape and number of rows, how often all relevant features are on top."""
    lines = ["| | rows | " + " | ".join(ORDERS) + " |", "|---|---:|" + "---:|" * 3]
    for n_features, n_values in SHAPES:
        for n_rows in ROWS:
            found: dict[str, list[tuple[float, float]]] = {name: [] for name in ORDERS}
            for rule in rules:
                if rule in RULES and RULES[rule].n_relevant >= n_features:
                    continue
                for seed in range(FIRST_SEED, FIRST_SEED + n_samples):
                    codes, labels, n_relevant = draw_repeated(rule, n_features, n_values, n_rows, noise, seed)
                    if len(np.unique(labels)) == 2:
                        for name, scores in orders_of(codes, labels).items():
                            found[name].append(recovery(scores, n_relevant))
            means = (np.mean(found[name], axis=0) for name in ORDERS)
            words = " | ".join(f"{top:.2f} ({auc:.3f})" for top, auc in means)
            lines.append(f"| {n_features} x {n_values} | {n_rows:,} | {words} |")
    return lines


def read_census() -> pd.DataFrame | None:
    """The census table of 1994, or None if it is not there."""
    path = Path(os.environ.get(VARIABLE, "")) / "adult.csv"
    if not path.is_file():
        return None
    return pd.read_csv(path, header=None, names=list(CENSUS_COLUMNS), skipinitialspace=True, na_values="?")


def census(table: pd.DataFrame, n_draws: int) -> list[str]:
    """Lines of a table: AUC on a held-out third, of a logistic regression on the first k features of each order."""
    coded = encode_table(table, "income").coded
    hot, first = one_hot(coded.codes.astype(np.int64))
    bounds = [*first.tolist(), hot.shape[1]]
    lines = ["| rows | " + " | ".join(ORDERS) + " |", "|---:|" + "---|" * 3]
    for n_rows in CENSUS_ROWS:
        found: dict[str, list[list[float]]] = {name: [] for name in ORDERS}
        for seed in range(FIRST_SEED, FIRST_SEED + n_draws):
            order = np.random.default_rng(seed).permutation(len(table))
            held_out, train = order[: len(table) // 3], order[len(table) // 3 :][:n_rows]
            for name, scores in orders_of(table.iloc[train], "income").items():
                chosen = np.argsort(-np.nan_to_num(scores, nan=-1.0), kind="stable")
                areas = []
                for k in (2, 3, 4):
                    used = np.concatenate([np.arange(bounds[i], bounds[i + 1]) for i in chosen[:k]])
                    model = LogisticRegression(max_iter=300).fit(hot[np.ix_(train, used)], coded.labels[train])
                    predicted = model.decision_function(hot[np.ix_(held_out, used)])
                    areas.append(float(roc_auc_score(coded.labels[held_out], predicted)))
                found[name].append(areas)
        words = (" / ".join(f"{area:.3f}" for area in np.mean(found[name], axis=0)) for name in ORDERS)
        lines.append(f"| {n_rows:,} | " + " | ".join(words) + " |")
    return lines


def page(n_samples: int, n_draws: int) -> str:
    """All tables; what they show is written by hand below a line that the script keeps."""
    table = read_census()
    missing = f"The census table was not measured: {VARIABLE} names no folder that holds adult.csv."
    lines = [
        "# More rows: does the order of features get better?",
        "",
        "`relevance(X, y)` compares rows that are equal on what matters; beside it `relaxed_index(X, y)`, rows at all"
        " distances, and `ari_score(X, y)`, distance 1 alone. Written by `rows.py`, but for the last section.",
        "",
        "## Census income",
        "",
        "AUC on a held-out third, of a logistic regression on indicators of the first 2 / 3 / 4 features, which were"
        f" chosen from so many of the other rows; means of {n_draws} draws.",
        "",
        *([missing] if table is None else census(table, n_draws)),
        "",
        "## Simulated tables",
        "",
        "Rows are drawn uniformly and may repeat. Share of samples with all relevant features on top, and in brackets"
        f" the AUC of the ranking; {n_samples} samples of each rule.",
    ]
    for noise in NOISES:
        lines += ["", f"### The rules of the recovery benchmark, {noise:.0%} of the labels flipped", ""]
        lines += simulated(tuple(RULES), noise, n_samples)
    for rule in WEAK:
        lines += ["", f"### {rule.capitalize()}", "", *simulated((rule,), 0.0, 4 * n_samples)]
    return "\n".join(lines) + "\n"


def main() -> None:
    """Measure, print, and write the page."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--samples", type=int, default=2, help="samples of each rule; fewer than 2 only prints")
    parser.add_argument("--draws", type=int, default=3, help="draws of the census rows")
    options = parser.parse_args()
    warnings.simplefilter("ignore")
    started = time.monotonic()
    measured = page(options.samples, options.draws)
    if options.samples >= 2:
        target = HERE / "rows.md"
        _, mark, by_hand = target.read_text().partition(MARK) if target.exists() else ("", MARK, "\n")
        target.write_text(f"{measured}\n{mark or MARK}{by_hand}")
    sys.stdout.write(measured)
    sys.stderr.write(f"{time.monotonic() - started:.0f} s\n")


MARK = "<!-- by hand -->"

if __name__ == "__main__":
    main()
