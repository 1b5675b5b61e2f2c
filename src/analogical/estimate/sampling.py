"""Near pairs of rows of any table, with bounded work: a sample of its rows, and of their pairs.

Past ``max_compared`` pairs a sample of rows is compared; past ``max_pairs`` near pairs are kept with a probability
proportional to decay ** distance. Seeds are fixed, so the same table always has the same sample.
"""

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from analogical._types import CodedRows, Codes, Floats, Ints, Positions
from analogical.count.groups import draw_rows, merge_rows
from analogical.count.neighbours import NearPairs, count_distances, find_near_pairs

__all__ = ["MAX_COMPARED", "MAX_PAIRS", "Neighbours", "estimate_distances", "find_neighbours", "rows_compared"]

N_SAMPLED = 1_000
"""Rows whose distances are counted."""
MAX_COMPARED = 100_000_000
"""Pairs whose distance is looked at: those of 14,142 rows; past it, rows are sampled."""
MAX_COMPARED_CODES = 200_000_000_000
"""The same times features: on a table of 100,000 features those of 2,000 rows, about ten seconds."""
MAX_PAIRS = 1_000_000
"""Pairs kept; past it, pairs are sampled."""
MAX_MEMBERS = 20_000_000
"""Pairs kept times features."""
FEW_PAIRS = 5_000
MAX_MEMBERS_OF_FEW = 50_000_000
"""On very wide tables so many pairs are kept all the same, as long as pairs times features stay below the second."""


@dataclass(frozen=True)
class Neighbours:
    """Pairs of rows within a radius by disagreement set: as many as were found, each divided by how many it stands for.

    A pair weighs (share of one row's class * share of the other's) ** (-1 / (classes - 1)). With two classes these are
    the counts, up to a factor, if both classes were equally common; with many, hardly a change.
    """

    member: NDArray[np.uint8]
    """Shape (sets, features), 0 or 1."""
    distance: Ints
    """Size of each set."""
    pairs: Floats
    changed: Floats
    """Weight of all pairs of each set, and of those that differ in label."""

    @classmethod
    def of(cls, sample: CodedRows, near: NearPairs, keep: Floats) -> "Neighbours":
        """From pairs that were kept with a probability at each distance."""
        left, right, weights = near.left, near.right, sample.weights_or_ones()
        weight = weights[left] * weights[right] * class_weights(sample.labels, weights, left, right)
        changed = weight * (sample.labels[left] != sample.labels[right])
        stands_for = 1 / keep[near.distance]
        totals = (np.add.reduceat(numbers, near.starts) if len(left) else numbers for numbers in (weight, changed))
        return cls(near.member, near.distance, *(total * stands_for for total in totals))


def rows_compared(n_features: int, max_compared: int = MAX_COMPARED) -> int:
    """Rows that are compared with each other at most; past it, rows are sampled."""
    return int((2 * min(max_compared, MAX_COMPARED_CODES // max(1, n_features))) ** 0.5) + 1


def pairs_kept(n_features: int) -> int:
    """Pairs that are kept of a table with so many features, if it has more."""
    return max(MAX_MEMBERS // n_features, min(MAX_MEMBERS_OF_FEW // n_features, FEW_PAIRS), 1)


def estimate_distances(rows: CodedRows, seed: int = 0) -> Floats:
    """How many pairs of rows lie at each distance 0 .. features; estimated from a sample if there are more rows."""
    n_rows = rows.n_rows
    if len(rows.codes) > N_SAMPLED:
        rows = draw_rows(rows, N_SAMPLED, np.random.default_rng(seed))
    n_drawn = rows.n_rows
    return np.asarray(count_distances(rows) * (n_rows * (n_rows - 1) / max(1, n_drawn * (n_drawn - 1))))


def find_neighbours(
    rows: CodedRows,
    radius: int,
    decay: float,
    *,
    merge: bool = True,
    max_pairs: int = MAX_PAIRS,
    max_compared: int = MAX_COMPARED,
    n_threads: int = 1,
) -> Neighbours:
    """Pairs at distance 1 to ``radius`` by disagreement set.

    Without ``merge`` identical rows stay apart, in the order in which they came.
    """
    seeds = np.random.SeedSequence(0)
    rng = np.random.default_rng(seeds)
    limit = rows_compared(rows.n_features, max_compared)
    sample = draw_rows(rows, limit, rng) if len(rows.codes) > limit else rows
    sample = merge_rows(sample) if merge else sample
    keep = keep_probability(sample.codes, radius, decay, min(max_pairs, pairs_kept(rows.n_features)), rng)
    return Neighbours.of(sample, find_near_pairs(sample.codes, keep, seeds, n_threads), keep)


def keep_probability(codes: Codes, radius: int, decay: float, budget: int, rng: np.random.Generator) -> Floats:
    """Per distance, min(1, s * decay ** distance) within the radius, s such that about ``budget`` pairs are kept."""
    distances = np.arange(codes.shape[1] + 1)
    inside = (distances >= 1) & (distances <= radius)
    rows = CodedRows(codes, np.zeros(len(codes), np.uint8), np.zeros(codes.shape[1], np.int64), 1)
    expected = estimate_distances(rows, int(rng.integers(2**31))) * inside
    shape = decay ** np.maximum(distances - float(np.argmax(expected > 0)), 0.0)
    known = expected > 0
    pairs, weight = expected[known], shape[known]
    if pairs.sum() <= budget or not (pairs * weight).sum():
        return inside.astype(np.float64)
    low, high = 0.0, float(budget / (pairs * weight).sum()) * 1e6
    for _ in range(100):  # bisection: the expected number of pairs grows with s
        s = (low + high) / 2
        low, high = (low, s) if (pairs * np.minimum(1, s * weight)).sum() > budget else (s, high)
    return np.asarray(np.minimum(1, low * shape) * inside, dtype=np.float64)


def class_weights(labels: Codes, weights: Ints, left: Positions, right: Positions) -> Floats:
    """(share of one row's class * share of the other's) ** (-1 / (classes - 1)) for each pair."""
    n_rows = np.bincount(labels, weights)
    n_others = max(1, int(np.count_nonzero(n_rows)) - 1)
    of_row = (n_rows / n_rows.sum())[labels] ** (-1 / n_others)
    return np.asarray(of_row[left] * of_row[right], dtype=np.float64)
