"""The relaxed index: one score per feature from pairs of rows that differ on one feature or on more.

All distances are looked at, near pairs weighing more, and the data say how much more: a pair at distance d weighs
decay ** d, and the decay is the steepest that leaves enough pairs in effect, so that it steepens as rows are added and
tends to distance 1 alone, the paper's index. A radius that is asked for leaves out the pairs beyond it, and weighs the
others in the same way. The noisy-or model credits the pairs to the features (see ``attribution``).
"""

from dataclasses import dataclass
from typing import Literal

import numpy as np

from analogical._types import CodedRows, Floats
from analogical.count.groups import merge_rows
from analogical.count.pairs import count_pairs
from analogical.count.threads import n_threads_for
from analogical.estimate.attribution import fit_noisy_or
from analogical.estimate.index import score_pairs
from analogical.estimate.sampling import MAX_COMPARED, MAX_PAIRS, estimate_distances, find_neighbours, rows_compared

__all__ = ["Radius", "Reach", "choose_reach", "relaxed_scores"]

Radius = int | Literal["auto"]

EVIDENCE = 3.0
"""Effective pairs aimed at, in units of rows ** 1.5: chosen on the rules *tuned on* of benchmarks/recovery."""
COARSER = (3, 2)
"""Bins of numbers are also merged to so many, and the scores averaged: no single set of bins suits every rule, and
fewer bins have more near pairs. See benchmarks/recovery/numeric.md."""
WEIGHT_INSIDE = 0.97
"""Share of the weight that "auto" must hold; what lies beyond hardly moves a score and costs as much as the rest."""


def relaxed_scores(
    rows: CodedRows,
    radius: Radius = "auto",
    *,
    n_jobs: int | None = None,
    max_compared: int = MAX_COMPARED,
    max_pairs: int = MAX_PAIRS,
) -> Floats:
    """The relaxed index of every feature; NaN where there is none.

    Constant features take no part. Identical rows with the same label are one row with their weight, so rows that are
    repeated and rows with a weight give the same scores. At distance 1 alone it is the paper's index. Past
    ``max_compared`` rows, and past ``max_pairs`` pairs, are sampled.
    """
    counts = count_pairs(rows, n_jobs=n_jobs)
    held = rows if rows.weights is None or rows.weights.all() else rows.take(rows.weights > 0)
    varying = np.flatnonzero(held.codes.max(axis=0) != held.codes.min(axis=0))
    if radius == 1 or not len(varying):
        return score_pairs(counts, rows.n_values).score
    limit = rows_compared(len(varying), max_compared)
    compared = held.select(varying.tolist())
    if counts.n_distinct <= limit:  # else there are too many rows in any case
        compared = merge_rows(compared)
    n_compared = compared.n_rows if len(compared.codes) <= limit else limit
    grids = [compared, *(compared.coarser(k) for k in COARSER)] if compared.has_numbers else [compared]
    by_grid = []
    for grid in grids:
        reach = choose_reach(estimate_distances(grid), n_compared, radius)
        if reach.radius == 1 and grid is compared:
            return score_pairs(counts, rows.n_values).score
        neighbours = find_neighbours(
            grid,
            reach.radius,
            reach.decay,
            merge=len(grids) == 1,
            max_pairs=max_pairs,
            max_compared=max_compared,
            n_threads=n_threads_for(n_jobs, grid.codes.size),
        )
        # Identical rows with different labels prove label noise; without such rows a leak only slows the fit.
        has_noise = (counts if grid is compared else count_pairs(grid)).n_contradictions > 0
        by_grid.append(fit_noisy_or(neighbours, reach.weight, has_noise))
    scores = np.full(rows.n_features, np.nan)
    scores[varying] = np.mean(by_grid, axis=0)
    return scores


@dataclass(frozen=True)
class Reach:
    """How far the index looks."""

    radius: int
    decay: float
    weight: Floats
    """What a pair at each distance weighs."""


def choose_reach(distances: Floats, n_compared: int, radius: Radius = "auto") -> Reach:
    """From the number of pairs at each distance, and the number of rows compared."""
    decay = choose_decay(distances, distances[1:].sum() * min(1.0, 2 * EVIDENCE / n_compared**0.5))
    weight = distance_weight(distances, decay)
    return Reach(choose_radius(distances, decay) if radius == "auto" else radius, decay, weight)


def choose_decay(distances: Floats, n_effective: float) -> float:
    """The steepest decay under which (sum of weights)^2 / (sum of squared weights) is still ``n_effective`` pairs."""
    known = 1 + np.flatnonzero(distances[1:])
    pairs, beyond = distances[known], (known - known.min(initial=len(distances))).astype(np.float64)
    low, high = 0.0, 1.0
    for _ in range(50):
        decay = (low + high) / 2
        weight = decay**beyond
        is_enough = (pairs * weight).sum() ** 2 >= n_effective * (pairs * weight**2).sum()
        low, high = (low, decay) if is_enough else (decay, high)
    return high


def choose_radius(distances: Floats, decay: float) -> int:
    """The smallest radius that holds nearly all the weight."""
    mass = distances * distance_weight(distances, decay)
    mass[0] = 0
    return max(1, int(np.searchsorted(np.cumsum(mass), WEIGHT_INSIDE * mass.sum())))


def distance_weight(distances: Floats, decay: float) -> Floats:
    """Decay ** distance, scaled to 1 at the nearest pairs."""
    nearest = max(1, int(np.argmax(distances[1:] > 0)) + 1)
    return np.asarray(decay ** np.maximum(np.arange(len(distances)) - float(nearest), 0.0), dtype=np.float64)
