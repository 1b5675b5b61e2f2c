"""The index beyond distance 1: which pairs to look at, and one score per feature from them.

All distances are looked at, near pairs weighing more, and the data say how much more: a pair at distance d weighs
decay ** d, and the decay is the steepest that leaves enough pairs in effect, so that it steepens as rows are added and
tends to distance 1 alone, the paper's index. A radius that is asked for leaves out the pairs beyond it, and weighs the
others in the same way.
"""

from collections.abc import Collection
from dataclasses import dataclass
from functools import partial
from typing import Literal

import numpy as np

from analogical._progress import Progress
from analogical._types import CodedRows, Floats, Ints
from analogical.counting.counts import PairCounts
from analogical.counting.groups import merge_rows, number_groups
from analogical.engines.base import Engine
from analogical.scoring.attribution import ATTRIBUTIONS, AttributionMethod, count_per_feature
from analogical.scoring.relaxed import GridFit, RelaxedFit, in_columns, mean_score

__all__ = ["Radius", "RadiusReason", "RelaxedScore", "score_within_radius"]

Radius = int | Literal["auto"]
RadiusReason = Literal[
    "asked", "enough-pairs", "no-variation", "nothing-further", "no-pairs", "none-changed", "few-pairs"
]
"""Why this radius: it was asked for; every feature has enough pairs at distance 1; no feature varies; no two rows
differ on more than one feature; or distance 1 has no pair, no changed pair, or for some feature too few pairs."""

ENOUGH_PAIRS = 100
"""Pairs at distance 1 per feature that settle its index: a standard error of .05 at most."""
ENOUGH_PER_ROW = 0.25
"""In a small table so many pairs per row settle it too: half of the rows have a partner for every feature."""
EVIDENCE = 3.0
"""Effective pairs aimed at, in units of rows ** 1.5."""
COARSER = (3, 2)
"""Bins of numbers are also merged to so many, and the scores averaged: no single set of bins suits every rule, and
fewer bins have more near pairs. See benchmarks/recovery/numeric.md."""
WEIGHT_INSIDE = 0.97
"""Share of the weight that the radius must hold."""


@dataclass(frozen=True)
class RelaxedScore:
    """The score of every feature, and what it rests on."""

    score: Floats
    radius: int
    decay: float | None
    """What a pair's weight falls to with each feature that it differs on; None at distance 1."""
    reason: RadiusReason
    fewest_pairs: int
    """Pairs at distance 1 of the feature that has the fewest, of those that vary and that no other ones determine."""
    pairs: Ints
    """Pairs used that differ on this feature, and perhaps on others."""
    changed: Ints
    n_pairs_used: int
    """Pairs of rows used in all."""
    is_sampled: bool
    """Whether some pairs within the radius were left out."""
    converged: bool
    coarser: tuple[int, ...] = ()
    """To how many bins numbers were merged for the fits that the score averages with that of the table's own bins."""
    fit: RelaxedFit | None = None
    """What it was fitted on, for intervals and p-values; None at distance 1 and for shares."""


def score_within_radius(
    engine: Engine,
    rows: CodedRows,
    counts: PairCounts,
    *,
    radius: Radius = "auto",
    attribution: AttributionMethod = "noisy-or",
    determined: Collection[int] = (),
    random_state: int | None = 0,
    progress: Progress | None = None,
) -> RelaxedScore:
    """Score every feature from pairs within a radius; ``counts`` are those at distance 1.

    Features that others determine never have a pair at distance 1, so they say nothing about how far to look.
    Constant features take no part. Identical rows with the same label are one row with their weight, so rows that are
    repeated and rows with a weight give the same scores.
    """
    held = rows if rows.weights is None or rows.weights.all() else rows.take(rows.weights > 0)
    varies = held.codes.max(axis=0) != held.codes.min(axis=0)
    able = varies.copy()
    able[list(determined)] = False
    able = able if able.any() else varies
    fewest = int(counts.pairs[able].min()) if able.any() else 0
    if radius == 1:
        return _at_distance_one(counts, "asked", fewest)
    if not varies.any():  # a resample may be so
        return _at_distance_one(counts, "no-variation", fewest)
    reason: RadiusReason = "asked" if radius != "auto" else _why_not_one(counts, fewest)
    if reason == "enough-pairs":
        return _at_distance_one(counts, reason, fewest)
    varying = np.flatnonzero(varies)
    compared = held.select(varying.tolist())
    limit = engine.rows_compared(len(varying))
    if counts.n_distinct <= limit:  # else there are too many rows in any case
        compared = merge_rows(compared)
    n_compared = compared.n_rows if len(compared.codes) <= limit else limit
    # Several sets of bins must hold the same rows in the same order, so that labels can be shuffled alike in all.
    has_grids = compared.has_numbers and attribution == "noisy-or"
    fit_grid = partial(
        _fit_grid,
        engine,
        merge=not has_grids,
        n_compared=n_compared,
        radius=radius,
        attribution=attribution,
        random_state=random_state,
    )
    # Identical rows with different labels prove label noise; without such rows a leak only slows the fit.
    base, reach, decay = fit_grid(compared, leak=counts.n_contradictions > 0, progress=progress)
    if reach == 1:
        return _at_distance_one(counts, "nothing-further", fewest)
    fits = [base]
    if has_grids:
        coarser = (compared.coarser(n_bins) for n_bins in COARSER)
        fits += [fit_grid(grid, leak=_has_contradictions(grid), progress=progress)[0] for grid in coarser]
    pairs, changed = count_per_feature(base.found)
    place = partial(in_columns, rows.n_features, varying)
    return RelaxedScore(
        score=place(mean_score([grid.fit for grid in fits]), np.nan),
        radius=reach,
        decay=decay,
        reason=reason,
        fewest_pairs=fewest,
        pairs=place(pairs, 0),
        changed=place(changed, 0),
        n_pairs_used=base.found.n_pairs_used,
        is_sampled=base.found.is_sampled,
        converged=all(grid.fit.converged for grid in fits),
        coarser=COARSER if len(fits) > 1 else (),
        fit=RelaxedFit(tuple(fits), varying, rows.n_features) if attribution == "noisy-or" else None,
    )


def _fit_grid(
    engine: Engine,
    rows: CodedRows,
    *,
    n_compared: int,
    merge: bool,
    leak: bool,
    radius: Radius,
    attribution: AttributionMethod,
    random_state: int | None,
    progress: Progress | None,
) -> tuple[GridFit, int, float]:
    """Find the pairs and credit them to the features; with how far it looked, and the decay."""
    distances = engine.count_distances(rows, random_state=random_state)
    decay = choose_decay(distances, distances[1:].sum() * min(1.0, 2 * EVIDENCE / n_compared**0.5))
    reach = choose_radius(distances, decay) if radius == "auto" else radius
    found = engine.count_neighbours(
        rows, radius=reach, decay=decay, merge=merge, random_state=random_state, progress=progress
    )
    weight = distance_weight(distances, decay)
    return GridFit(found, ATTRIBUTIONS[attribution](found, weight, leak), weight, leak), reach, decay


def _has_contradictions(rows: CodedRows) -> bool:
    """Whether identical rows have different labels."""
    groups = number_groups(rows.codes, rows.n_values, range(rows.n_features))
    both = number_groups(rows.codes, rows.n_values, range(rows.n_features), rows.labels)
    return len(np.unique(both)) > len(np.unique(groups))


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


def _at_distance_one(counts: PairCounts, reason: RadiusReason, fewest_pairs: int) -> RelaxedScore:
    """The paper's index itself, from the exact counts."""
    score = np.full(len(counts.pairs), np.nan)
    np.divide(counts.changed, counts.pairs, out=score, where=counts.pairs > 0)
    return RelaxedScore(
        score=score,
        radius=1,
        decay=None,
        reason=reason,
        fewest_pairs=fewest_pairs,
        pairs=counts.pairs,
        changed=counts.changed,
        n_pairs_used=int(counts.pairs.sum()),
        is_sampled=False,
        converged=True,
    )


def _why_not_one(counts: PairCounts, fewest_pairs: int) -> RadiusReason:
    """What distance 1 lacks, if anything."""
    enough = min(ENOUGH_PAIRS, ENOUGH_PER_ROW * counts.n_rows)
    n_changed = int(counts.changed.sum())
    if fewest_pairs >= enough and n_changed >= enough:
        return "enough-pairs"
    if not counts.pairs.any():
        return "no-pairs"
    return "few-pairs" if n_changed else "none-changed"
