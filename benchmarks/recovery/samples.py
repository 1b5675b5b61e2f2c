"""Synthetic samples whose relevant features are known: the grid of the recovery benchmark."""

import zlib
from collections.abc import Callable
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from analogical.paper import FUNCTIONS as PAPER_FUNCTIONS

Shape = tuple[int, int, int]


@dataclass(frozen=True)
class Rule:
    """The probability of label 1 given the rows and the number of values, and how many leading features it reads."""

    n_relevant: int
    probability: Callable[[NDArray[np.uint8], int], NDArray[np.float64]]


def _paper(name: str) -> Rule:
    function = PAPER_FUNCTIONS[name]
    return Rule(function.min_features, lambda x, _: function(x).astype(np.float64))


def _epistasis(x: NDArray[np.uint8], n_values: int) -> NDArray[np.float64]:
    """Two loci without marginal effects: penetrance .8 on a diagonal of the Latin square, .2 elsewhere."""
    return np.where((x[:, 0].astype(int) + x[:, 1]) % n_values == 0, 0.8, 0.2)


RULES: dict[str, Rule] = {name: _paper(name) for name in ("g1", "g2", "g3", "g5", "g6", "g7")} | {
    "epistasis": Rule(2, _epistasis),
    "majority": Rule(5, lambda x, _: ((x[:, :5] != 0).sum(axis=1) >= 3).astype(np.float64)),
}
TUNED = ("g1", "g3", "g5", "g6", "majority")
"""Looked at while the method was chosen."""
HELD_OUT = ("g2", "g7", "epistasis")
SHAPES: tuple[Shape, ...] = (  # features, values, rows
    (10, 2, 100),
    (15, 3, 300),
    (20, 2, 300),
    (30, 3, 400),
    (50, 3, 1000),
    (100, 2, 1000),
)
NOISES = (0.0, 0.05)


def draw_sample(name: str, shape: Shape, noise: float, seed: int) -> tuple[NDArray[np.uint8], NDArray[np.int64]]:
    """Distinct uniform rows, labelled by the rule, then each label flipped with probability ``noise``."""
    n_features, n_values, n_rows = shape
    rng = np.random.default_rng([seed, zlib.crc32(name.encode()), *shape, round(1000 * noise)])
    codes = np.empty((0, n_features), np.uint8)
    while len(codes) < n_rows:
        more = rng.integers(0, n_values, (n_rows, n_features), dtype=np.uint8)
        codes = np.unique(np.vstack([codes, more]), axis=0)
    codes = rng.permutation(codes)[:n_rows]
    labels = (rng.random(n_rows) < RULES[name].probability(codes, n_values)).astype(np.int64)
    labels ^= rng.random(n_rows) < noise
    return codes, labels
