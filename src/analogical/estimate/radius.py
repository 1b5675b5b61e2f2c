"""The relaxed index: one score per feature from pairs of rows that differ on one feature or on several.

A pair of rows at distance d weighs decay ** d. The decay is the smallest one that leaves enough effective pairs: with
more rows near pairs dominate, and the index tends to the paper's, which uses distance 1 alone. A given radius leaves
out the pairs beyond it, with the same weights for the others. The noisy-or model attributes the changed pairs to the
features (see ``attribution``).
"""

from dataclasses import replace
from typing import Literal, NamedTuple

import numpy as np

from analogical._types import CodedRows, Floats, Ints, merge_bins
from analogical.count.groups import merge_rows
from analogical.count.pairs import count_pairs
from analogical.count.threads import n_threads_for
from analogical.estimate.attribution import noisy_or
from analogical.estimate.sampling import distance_weight, estimate_distances, find_neighbours, rows_compared
from analogical.estimate.status import score_pairs

__all__ = ["Radius", "Reach", "choose_reach", "relaxed_scores"]

Radius = int | Literal["auto"]

EVIDENCE = 3.0
"""Effective pairs aimed at, in units of rows ** 1.5; tuned on the training rules of benchmarks/recovery."""
COARSER = (3, 2)
"""Numbers are also merged to 3 and to 2 bins, and the scores averaged: no single number of bins suits every rule, and
fewer bins have more near pairs. See benchmarks/recovery/numeric.md."""
WEIGHT_INSIDE = 0.97
"""Share of the weight within the radius "auto"; what lies beyond hardly changes a score and costs as much as the rest.
"""


def relaxed_scores(
    rows: CodedRows, radius: Radius = "auto", *, n_bins: Ints | None = None, n_jobs: int | None = None
) -> Floats:
    """The relaxed index of every feature; NaN for constant features and without pairs.

    ``n_bins`` has the number of bins of each feature: codes below it are bins in order, another one is for missing
    cells. It is 0 for categories; None if no feature has bins.

    Identical rows with the same label count as one row with their weight, so repeated rows and weighted rows have the
    same scores. At distance 1 alone it is the paper's index. Large tables are sampled (see ``sampling``).
    """
    counts = count_pairs(rows, n_jobs=n_jobs)
    held = rows if rows.weights is None or rows.weights.all() else rows.take(rows.weights > 0)
    varying = np.flatnonzero(held.codes.max(axis=0) != held.codes.min(axis=0))
    if radius == 1 or not len(varying):
        return score_pairs(counts)
    limit = rows_compared(len(varying))
    compared = held.select(varying.tolist())
    if counts.n_distinct <= limit:  # otherwise rows are sampled in any case
        compared = merge_rows(compared)
    n_compared = compared.n_rows if len(compared.codes) <= limit else limit
    grids = [compared]
    if n_bins is not None and (n_bins[varying] > min(COARSER)).any():
        grids += [coarser(compared, n_bins[varying], most) for most in COARSER]
    by_grid = []
    for grid in grids:
        reach = choose_reach(estimate_distances(grid), n_compared, radius)
        if reach.radius == 1 and grid is compared:
            return score_pairs(counts)
        n_threads = n_threads_for(n_jobs, grid.codes.size)
        neighbours = find_neighbours(grid, reach.radius, reach.decay, merge=len(grids) == 1, n_threads=n_threads)
        # Identical rows with different labels prove label noise; without such rows a leak only slows the fit.
        has_noise = (counts if grid is compared else count_pairs(grid)).n_contradictions > 0
        by_grid.append(noisy_or(neighbours.weighted(reach.weight), leak=has_noise).shrunk)
    scores = np.full(rows.n_features, np.nan)
    scores[varying] = np.mean(by_grid, axis=0)
    return scores


def coarser(rows: CodedRows, n_bins: Ints, most: int) -> CodedRows:
    """Neighbouring bins merged into at most ``most`` of about equal size; columns of categories are unchanged."""
    codes, n_values = rows.codes.copy(), rows.n_values.copy()
    for i in np.flatnonzero(n_bins > most).tolist():
        merged = merge_bins(rows.value_sizes(i), most, has_missing=bool(n_values[i] > n_bins[i]))
        codes[:, i] = merged[codes[:, i]]
        n_values[i] = merged.max() + 1
    return replace(rows, codes=codes, n_values=n_values)


class Reach(NamedTuple):
    """Which pairs count, and how much."""

    radius: int
    decay: float
    weight: Floats
    """Weight of a pair at each distance."""


def choose_reach(distances: Floats, n_compared: int, radius: Radius = "auto") -> Reach:
    """From the number of pairs at each distance, and the number of rows compared."""
    decay = choose_decay(distances, distances[1:].sum() * min(1.0, 2 * EVIDENCE / n_compared**0.5))
    weight = distance_weight(distances, decay)
    return Reach(choose_radius(distances, decay) if radius == "auto" else radius, decay, weight)


def choose_decay(distances: Floats, n_effective: float) -> float:
    """The smallest decay at which (sum of weights)^2 / (sum of squared weights) is still ``n_effective`` pairs."""
    known = 1 + np.flatnonzero(distances[1:])
    pairs = distances[known]
    low, high = 0.0, 1.0
    for _ in range(50):
        decay = (low + high) / 2
        weight = distance_weight(distances, decay)[known]
        is_enough = (pairs * weight).sum() ** 2 >= n_effective * (pairs * weight**2).sum()
        low, high = (low, decay) if is_enough else (decay, high)
    return high


def choose_radius(distances: Floats, decay: float) -> int:
    """The smallest radius that holds nearly all the weight."""
    mass = distances * distance_weight(distances, decay)
    mass[0] = 0
    return max(1, int(np.searchsorted(np.cumsum(mass), WEIGHT_INSIDE * mass.sum())))
