"""Whether the features chosen together are the relevant ones, beside MultiSURF, CMIM and JMI.

    make recovery                                         # writes together.json and together.md (ten minutes or more)
    python benchmarks/recovery/together.py --samples 2    # a look; writes nothing

Rules, shapes and noises on seeds that nothing was chosen on. k is the number of relevant
features; then without k, what `select` finds by itself, also with shuffled labels.
"""

import argparse
import json
import sys
import time
from pathlib import Path

import numpy as np
from samples import HELD_OUT, NOISES, RULES, SHAPES, TUNED, draw_sample

from analogical import select

sys.path.append(str(Path(__file__).parent.parent))
from greedy import greedy_order
from machine import describe_machine
from reliefs import fast_reliefs

HERE = Path(__file__).parent
FIRST_SEED = 900_000
"""The rule was chosen on the seeds 300,000 to 300,004."""
SAMPLES = 5
WITHOUT_K = 2
"""Samples of these that are also looked at without k, which takes longer."""
METHODS = ("together", "MultiSURF", "CMIM", "JMI")
ALONE = ("relevant features found", "other features kept", "nothing kept, labels shuffled")

Cell = dict[str, list[float]]


def positions(names: list[str] | tuple[str, ...]) -> list[int]:
    """Of features called x0, x1, ..."""
    return [int(name[1:]) for name in names]


def measure(name: str, shape: tuple[int, int, int], noise: float, n_samples: int) -> Cell:
    """For every sample whether each method chose the relevant features, and what is found without k."""
    found: Cell = {what: [] for what in (*METHODS, *ALONE)}
    n_relevant = RULES[name].n_relevant
    relevant = set(range(n_relevant))
    for seed in range(FIRST_SEED, FIRST_SEED + n_samples):
        codes, labels = draw_sample(name, shape, noise, seed)
        multisurf = fast_reliefs(codes, labels, ["MultiSURF"])["MultiSURF"]
        chosen = {
            "together": positions(select(codes, labels, n_relevant).features),
            "MultiSURF": np.argsort(-multisurf, kind="stable")[:n_relevant].tolist(),
            "CMIM": greedy_order(codes, labels, n_relevant, "cmim"),
            "JMI": greedy_order(codes, labels, n_relevant, "jmi"),
        }
        for method, features in chosen.items():
            found[method].append(float(set(features) == relevant))
        if seed - FIRST_SEED >= WITHOUT_K:
            continue
        kept = set(positions(select(codes, labels).features))
        shuffled = select(codes, np.random.default_rng(seed).permutation(labels))
        for what, value in zip(
            ALONE, (len(kept & relevant) / n_relevant, len(kept - relevant), not len(shuffled)), strict=True
        ):
            found[what].append(float(value))
    return found


def table(
    cells: dict[tuple[str, tuple[int, int, int], float], Cell], rows: dict[str, list], columns: tuple[str, ...]
) -> list[str]:
    """Markdown: each row is the mean over some cells."""
    lines = ["| | " + " | ".join(columns) + " |", "|---|" + "---:|" * len(columns)]
    for title, keys in rows.items():
        means = [float(np.mean([np.mean(cells[key][column]) for key in keys])) for column in columns]
        lines.append(f"| {title} | " + " | ".join(f"{mean:.3f}" for mean in means) + " |")
    return lines


def page(cells: dict, n_samples: int) -> str:
    """What was measured, for reading."""
    groups = {"all rules": tuple(RULES), f"tuned on ({', '.join(TUNED)})": TUNED}
    groups[f"held out ({', '.join(HELD_OUT)})"] = HELD_OUT
    rows = {title: [key for key in cells if key[0] in names] for title, names in groups.items()}
    rows |= {name: [key for key in cells if key[0] == name] for name in RULES}
    rows |= {f"{noise:.0%} noise": [key for key in cells if key[2] == noise] for noise in NOISES}
    rows |= {" x ".join(map(str, shape)): [key for key in cells if key[1] == shape] for shape in SHAPES}
    lost = []
    for (name, shape, noise), cell in cells.items():
        means = {method: float(np.mean(cell[method])) for method in METHODS}
        best = max(METHODS[1:], key=lambda method: means[method])
        if means["together"] < means[best] - 0.05:
            where = f"{name}, {' x '.join(map(str, shape))}, {noise:.0%} noise"
            lost.append(f"- {where}: {means['together']:.2f}, {best} {means[best]:.2f}")
    return "\n".join(
        [
            "# Recovery: are the features chosen together the relevant ones?",
            "",
            f"Eight rules, shapes (features x values x rows) and noises, {n_samples} samples each,"
            " on seeds that nothing was chosen on. Share of samples in which the k chosen features are the k relevant"
            " ones. *MultiSURF*: the first k by its scores, from matrix products that give scikit-rebate's numbers.",
            "",
            "<!-- table -->",
            *table(cells, rows, METHODS),
            "<!-- end -->",
            "",
            "## Without k",
            "",
            f"`select(X, y)` stops by itself; {WITHOUT_K} samples each. Share of the relevant features that it finds,"
            " other features that it keeps per table, and share of tables with shuffled labels of which it keeps"
            " nothing.",
            "",
            *table(cells, rows, ALONE),
            "",
            "## Where it loses",
            "",
            f"{len(lost)} of {len(cells)} cells are more than .05 behind the best other method ({n_samples} samples a"
            " cell: read single cells with care):",
            "",
            *lost,
            "",
            f"Measured on {describe_machine()}.",
            "",
        ]
    )


def main() -> None:
    """Measure and write."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--samples", type=int, default=SAMPLES, help=f"fewer than {SAMPLES} only prints the page")
    options = parser.parse_args()
    cells = {}
    began = time.monotonic()
    for name in RULES:
        for shape in SHAPES:
            for noise in NOISES:
                cells[name, shape, noise] = measure(name, shape, noise, options.samples)
        sys.stderr.write(f"{name}: {time.monotonic() - began:.0f} s\n")
    text = page(cells, options.samples)
    if options.samples >= SAMPLES:
        content = [{"rule": n, "shape": s, "noise": z, "found": cell} for (n, s, z), cell in cells.items()]
        (HERE / "together.json").write_text(json.dumps({"samples": options.samples, "cells": content}, indent=1) + "\n")
        (HERE / "together.md").write_text(text)
    sys.stdout.write(text)


if __name__ == "__main__":
    main()
