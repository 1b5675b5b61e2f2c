"""The index beyond distance 1: which pairs to look at, and one score per feature from them.

At a fixed radius every pair within it counts alike. ``radius="auto"`` looks at all distances, near pairs weighing more,
and lets the data say how much more: a pair at distance d weighs decay ** d, and the decay is the steepest that leaves
enough pairs in effect, so that it steepens as rows are added and tends to distance 1 alone, the paper's index.
"""

from dataclasses import dataclass
from typing import Literal

import numpy as np

from analogical._attribution import count_per_feature, noisy_or, share
from analogical._counting import PairCounts
from analogical._integers import Codes
from analogical._neighbours import MAX_COMPARED, MAX_PAIRS, Floats, Ints, count_distances, count_neighbours
from analogical._progress import Progress

__all__ = ["Attribute", "Radius", "Relaxed", "relax"]

Radius = int | Literal["auto"]
Attribute = Literal["noisy-or", "share"]

ENOUGH_PAIRS = 100
"""Pairs at distance 1 per feature that settle its index: a standard error of .05 at most."""
ENOUGH_PER_ROW = 0.25
"""In a small table so many pairs per row settle it too: half of the rows have a partner for every feature."""
EVIDENCE = 3.0
"""Effective pairs aimed at, in units of rows ** 1.5."""
RARE = 0.01
"""A feature on which only this share of the pairs differ keeps half its score."""
WEIGHT_INSIDE = 0.97
"""Share of the weight that the radius must hold."""


@dataclass(frozen=True)
class Relaxed:
    """The relaxed score of every feature, and what it rests on."""

    score: Floats
    radius: int
    reason: str
    """Why this radius, in words."""
    pairs: Ints
    """Pairs used that differ on this feature, and perhaps on others."""
    changed: Ints
    n_pairs_used: int
    """Pairs of rows used in all."""
    n_rows_used: int
    is_sampled: bool
    """Whether some pairs within the radius were left out."""
    converged: bool


def relax(
    codes: Codes,
    labels: Codes,
    weights: Ints | None,
    counts: PairCounts,
    *,
    radius: Radius = "auto",
    attribution: Attribute = "noisy-or",
    max_pairs: int = MAX_PAIRS,
    max_compared: int = MAX_COMPARED,
    random_state: int | None = 0,
    n_jobs: int = 1,
    progress: Progress | None = None,
) -> Relaxed:
    """Score every feature from pairs within a radius; ``counts`` are those at distance 1."""
    if radius == 1:
        return _at_distance_one(counts, "radius 1: asked for")
    varies = codes.max(axis=0) != codes.min(axis=0)
    if not varies.any():  # a resample may be so
        return _at_distance_one(counts, "radius 1: no feature has a second value")
    if radius == "auto":
        least, enough = int(counts.pairs[varies].min()), min(ENOUGH_PAIRS, ENOUGH_PER_ROW * counts.n_rows)
        if least >= enough and counts.changed.sum() >= enough:
            return _at_distance_one(counts, f"radius 1: every feature has at least {least:,} pairs at distance 1")
        distances = count_distances(codes, random_state=random_state)
        n_compared = min(len(codes), int((2 * max_compared) ** 0.5) + 1)
        n_effective = distances[1:].sum() * min(1.0, 2 * EVIDENCE / n_compared**0.5)
        decay = choose_decay(distances, n_effective)
        reach = choose_radius(distances, decay)
        if reach == 1:
            return _at_distance_one(counts, "radius 1: no two rows differ on more than one feature")
        reason = (
            f"radius {reach}, a pair's weight falling to {decay:.2f} with each feature it differs on:"
            f" {_why_not_one(counts.pairs[varies], counts.changed)}"
        )
    else:
        decay, reach, reason = 1.0, radius, f"radius {radius}: asked for"
    found = count_neighbours(
        codes,
        labels,
        weights,
        radius=reach,
        decay=decay,
        max_pairs=max_pairs,
        max_compared=max_compared,
        random_state=random_state,
        n_jobs=n_jobs,
        progress=progress,
    )
    if attribution == "share":
        fit = share(found)
    elif radius == "auto":
        # Identical rows with different labels prove label noise; without such rows a leak only slows the fit.
        leak = counts.n_contradictions > 0
        fit = noisy_or(found, distance_weight(distances, decay), balanced=True, leak=leak)
    else:
        fit = noisy_or(found)
    score = fit.score
    if radius == "auto":  # few rows hold a rare value: believe it less
        score = score * fit.coverage / (fit.coverage + RARE)
    pairs, changed = count_per_feature(found)
    return Relaxed(
        score=score,
        radius=reach,
        reason=reason,
        pairs=pairs,
        changed=changed,
        n_pairs_used=found.n_pairs_used,
        n_rows_used=found.n_rows_used,
        is_sampled=found.is_sampled,
        converged=fit.converged,
    )


def choose_decay(distances: Floats, n_effective: float) -> float:
    """The steepest decay under which (sum of weights)^2 / (sum of squared weights) is still ``n_effective`` pairs."""
    pairs = distances.copy()
    pairs[0] = 0
    low, high = 0.0, 1.0
    for _ in range(50):
        decay = (low + high) / 2
        weight = distance_weight(distances, decay)
        is_enough = (pairs @ weight) ** 2 >= n_effective * (pairs @ weight**2)
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


def _at_distance_one(counts: PairCounts, reason: str) -> Relaxed:
    """The paper's index itself, from the exact counts."""
    score = np.full(len(counts.pairs), np.nan)
    np.divide(counts.changed, counts.pairs, out=score, where=counts.pairs > 0)
    return Relaxed(
        score=score,
        radius=1,
        reason=reason,
        pairs=counts.pairs,
        changed=counts.changed,
        n_pairs_used=int(counts.pairs.sum()),
        n_rows_used=counts.n_rows,
        is_sampled=False,
        converged=True,
    )


def _why_not_one(pairs: Ints, changed: Ints) -> str:
    """What distance 1 lacks."""
    if not pairs.sum():
        return "there is no pair at distance 1"
    if not changed.sum():
        return "at distance 1 no pair changed its label"
    least = int(pairs.min())
    return f"at distance 1 some feature has {f'only {least:,} pairs' if least > 1 else 'hardly a pair'}"
