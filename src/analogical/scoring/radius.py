"""The index beyond distance 1: which pairs to look at, and one score per feature from them.

All distances are looked at, near pairs weighing more, and the data say how much more: a pair at distance d weighs
decay ** d, and the decay is the steepest that leaves enough pairs in effect, so that it steepens as rows are added and
tends to distance 1 alone, the paper's index. A radius that is asked for leaves out the pairs beyond it, and weighs the
others in the same way.
"""

from collections.abc import Collection, Sequence
from dataclasses import dataclass
from functools import partial
from typing import Literal

import numpy as np

from analogical._progress import Progress
from analogical._types import CodedRows, Floats, Ints
from analogical.counting.counts import PairCounts
from analogical.counting.groups import merge_rows
from analogical.counting.sorting import has_contradictions
from analogical.engines.base import Engine
from analogical.scoring.attribution import ATTRIBUTIONS, AttributionMethod, count_per_feature
from analogical.scoring.relaxed import GridFit, RelaxedFit, in_columns, mean_score
from analogical.scoring.summaries import FeatureSummary

__all__ = ["Radius", "RadiusReason", "RelaxedScore", "relaxed_scores", "score_within_radius"]

Radius = int | Literal["auto"]
RadiusReason = Literal[
    "asked",
    "enough-pairs",
    "enough-weight",
    "no-variation",
    "nothing-further",
    "no-pairs",
    "none-changed",
    "few-pairs",
    "noisy-labels",
    "noise-unknown",
]
"""Why this radius: it was asked for; every feature has enough pairs at distance 1; distance 1 has nearly all the
weight; no feature varies; no two rows differ on more than one feature; distance 1 has no pair, no changed pair, or for
some feature too few pairs; or it has enough for labels without noise, but labels are noisy, or may be."""

ENOUGH_PAIRS = 100
"""Pairs at distance 1 per feature that settle its index: a standard error of .05 at most."""
ENOUGH_PER_ROW = 0.25
"""In a small table so many pairs per row settle it too: half of the rows have a partner for every feature."""
EVIDENCE = 3.0
"""Effective pairs aimed at, in units of rows ** 1.5."""
NOISY_EVIDENCE = EVIDENCE / 2
"""Pairs of repeated rows at distance 1, in the same units, that settle the effects where labels are noisy.

Chosen by experiment: with fewer, pairs at larger distances gave the better order, on simulated tables with weak effects
and on columns drawn from real tables; with more, effects did. See benchmarks/recovery/rows.md.
"""
MIN_COMPARED = 1 / 3
"""Share of the rows that must be compared at distance 1, for every feature, if labels are noisy or may be: fewer do not
stand for the others. In the census table it is .2 to 24 %, of people in the most common circumstances."""
QUIET = 0.01
"""If a feature changes the label this rarely, so does noise."""
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

    @property
    def has_contexts(self) -> bool:
        """Whether distance 1, not used for the score, has pairs enough for the tests within contexts."""
        return self.reason in ("noisy-labels", "noise-unknown")


def score_within_radius(
    engine: Engine,
    rows: CodedRows,
    counts: PairCounts,
    *,
    radius: Radius = "auto",
    attribution: AttributionMethod = "noisy-or",
    determined: Collection[int] = (),
    summaries: Sequence[FeatureSummary | None] | None = None,
    random_state: int | None = 0,
    progress: Progress | None = None,
) -> RelaxedScore:
    """Score every feature from pairs within a radius; ``counts`` are those at distance 1, ``summaries`` its contexts.

    Without summaries labels are taken to have no noise. Features that others determine never have a pair at distance 1,
    so they say nothing about how far to look. Constant features take no part. Identical rows with the same label are
    one row with their weight, so rows that are repeated and rows with a weight give the same scores. ``rows`` may be a
    sample of those that were counted: then only what lies beyond distance 1 rests on the sample.
    """
    held = rows if rows.weights is None or rows.weights.all() else rows.take(rows.weights > 0)
    varies = held.codes.max(axis=0) != held.codes.min(axis=0)
    is_part = held.n_rows < counts.n_rows
    known_to_vary = rows.n_values > 1 if is_part else varies
    able = known_to_vary.copy()
    able[list(determined)] = False
    able = able if able.any() else known_to_vary
    fewest = int(counts.pairs[able].min()) if able.any() else 0
    if radius == 1:
        return _at_distance_one(counts, "asked", fewest)
    if not varies.any():  # a resample may be so
        return _at_distance_one(counts, "no-variation", fewest)
    varying = np.flatnonzero(varies)
    limit = engine.rows_compared(len(varying))
    reason: RadiusReason = "asked" if radius != "auto" else _why_not_one(counts, fewest)
    if reason == "enough-pairs" and summaries is not None:
        reason = _why_noise_matters(counts, summaries, limit) or reason
    if reason == "enough-pairs":
        return _at_distance_one(counts, reason, fewest)
    compared = held.select(varying.tolist())
    if is_part or counts.n_distinct <= limit:  # else there are too many rows in any case
        compared = merge_rows(compared)
    n_compared = compared.n_rows if len(compared.codes) <= limit else limit
    # Several sets of bins must hold the same rows in the same order, so that labels can be shuffled alike in all.
    has_grids = compared.has_numbers and attribution == "noisy-or"
    look = partial(_look, engine, n_compared=n_compared, radius=radius, random_state=random_state)
    fit_grid = partial(
        _fit_grid, engine, merge=not has_grids, attribution=attribution, random_state=random_state, progress=progress
    )
    distances, decay, reach = look(compared)
    if reach == 1:
        return _at_distance_one(counts, "enough-weight" if distances[2:].any() else "nothing-further", fewest)
    # Identical rows with different labels prove label noise; without such rows a leak only slows the fit.
    base = fit_grid(compared, distances, decay, reach, leak=counts.n_contradictions > 0)
    fits = [base]
    if has_grids:
        coarser = (compared.coarser(n_bins) for n_bins in COARSER)
        fits += [fit_grid(grid, *look(grid), leak=has_contradictions(grid)) for grid in coarser]
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
        is_sampled=base.found.is_sampled or is_part,
        converged=all(grid.fit.converged for grid in fits),
        coarser=COARSER if len(fits) > 1 else (),
        fit=RelaxedFit(tuple(fits), varying, rows.n_features) if attribution == "noisy-or" else None,
    )


def relaxed_scores(engine: Engine, rows: CodedRows, radius: Radius = "auto") -> Floats:
    """The relaxed index of every feature; NaN where there is none."""
    return score_within_radius(engine, rows, engine.count_pairs(rows), radius=radius).score


def _look(
    engine: Engine, rows: CodedRows, *, n_compared: int, radius: Radius, random_state: int | None
) -> tuple[Floats, float, int]:
    """Pairs at each distance, the decay, and how far to look."""
    distances = engine.count_distances(rows, random_state=random_state)
    decay = choose_decay(distances, distances[1:].sum() * min(1.0, 2 * EVIDENCE / n_compared**0.5))
    return distances, decay, choose_radius(distances, decay) if radius == "auto" else radius


def _fit_grid(
    engine: Engine,
    rows: CodedRows,
    distances: Floats,
    decay: float,
    reach: int,
    *,
    merge: bool,
    leak: bool,
    attribution: AttributionMethod,
    random_state: int | None,
    progress: Progress | None,
) -> GridFit:
    """Find the pairs and credit them to the features."""
    found = engine.count_neighbours(
        rows, radius=reach, decay=decay, merge=merge, random_state=random_state, progress=progress
    )
    weight = distance_weight(distances, decay)
    return GridFit(found, ATTRIBUTIONS[attribution](found, weight, leak), weight, leak)


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


def _why_noise_matters(
    counts: PairCounts, summaries: Sequence[FeatureSummary | None], limit: int
) -> RadiusReason | None:
    """What distance 1 lacks for labels with noise, if they have noise or may have it, and if it lacks anything.

    ``limit`` is how many rows are compared beyond distance 1: the fit has no more evidence in larger tables.
    """
    known = [summary for summary in summaries if summary is not None]
    if counts.n_contradictions:
        n_told = sum(summary.effect.n_pairs for summary in known)
        is_settled = n_told >= NOISY_EVIDENCE * min(counts.n_rows, limit) ** 1.5
        n_compared = min(summary.effect.profile.n_paired_rows for summary in known)
        return None if is_settled and n_compared >= MIN_COMPARED * counts.n_rows else "noisy-labels"
    rarely = (counts.pairs > 0) & (counts.changed <= QUIET * counts.pairs)
    is_quiet = counts.n_identical >= ENOUGH_PAIRS or rarely.any()
    n_compared = min(summary.profile.n_paired_rows for summary in known)
    return None if is_quiet or n_compared >= MIN_COMPARED * counts.n_rows else "noise-unknown"
