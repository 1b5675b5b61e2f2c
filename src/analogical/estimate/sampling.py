"""Pairs of similar rows with bounded work, by sampling rows and pairs of rows.

In large tables a sample of the rows is compared. If these have too many near pairs, each pair is kept with a
probability proportional to decay ** distance. Seeds are fixed, so a table always gives the same sample.
"""

from dataclasses import dataclass, replace

import numpy as np
from numpy.typing import NDArray

from analogical._types import CodedRows, Codes, Floats, Ints, Positions
from analogical.count.groups import draw_rows, merge_rows
from analogical.count.neighbours import count_distances, find_near_pairs

__all__ = ["Neighbours", "distance_weight", "estimate_distances", "find_neighbours", "rows_compared"]

N_SAMPLED = 1_000
"""Rows whose distances are counted to estimate those of all rows."""
MAX_COMPARED = 100_000_000
"""Largest number of pairs whose distance is computed, those of 14,142 rows: time."""
MAX_COMPARED_CODES = 200_000_000_000
"""The same times features, those of 2,000 rows of 100,000 features: about ten seconds."""
MAX_PAIRS_KEPT = 1_000_000
"""Largest number of pairs kept: memory."""
MAX_MEMBERS = 20_000_000
"""Largest number of pairs kept times features: memory."""
FEW_PAIRS = 5_000
MAX_MEMBERS_OF_FEW = 50_000_000
"""Very wide tables keep ``FEW_PAIRS`` pairs nevertheless, up to this number of pairs times features."""


@dataclass(frozen=True)
class Neighbours:
    """Pairs of rows within a radius, by disagreement set (the features on which the two rows differ).

    A pair weighs (share of one row's class * share of the other's) ** (-1 / (classes - 1)), divided by its probability
    of being kept. With two classes these are the counts, up to a factor, as if both classes were equally common; with
    many classes the weights hardly vary.
    """

    member: NDArray[np.uint8]
    """0/1 matrix of shape (sets, features)."""
    distance: Ints
    """Size of each set."""
    pairs: Floats
    """Weight of all pairs of each set."""
    changed: Floats
    """Weight of the pairs of each set whose labels differ."""

    def weighted(self, weight: Floats) -> "Neighbours":
        """The same pairs, multiplied by a weight for each distance from 0 to the number of features."""
        scale = weight[self.distance]
        return replace(self, pairs=self.pairs * scale, changed=self.changed * scale)


def rows_compared(n_features: int) -> int:
    """Largest number of rows that are compared with each other."""
    return int((2 * min(MAX_COMPARED, MAX_COMPARED_CODES // max(1, n_features))) ** 0.5) + 1


def pairs_kept(n_features: int) -> int:
    """Largest number of pairs that are kept."""
    fit_in_memory = max(MAX_MEMBERS // n_features, min(MAX_MEMBERS_OF_FEW // n_features, FEW_PAIRS), 1)
    return min(MAX_PAIRS_KEPT, fit_in_memory)


def estimate_distances(rows: CodedRows, seed: int = 0) -> Floats:
    """The number of pairs of rows at each distance 0 .. features, estimated from a sample if there are many rows."""
    n_rows = rows.n_rows
    if len(rows.codes) > N_SAMPLED:
        rows = draw_rows(rows, N_SAMPLED, np.random.default_rng(seed))
    n_drawn = rows.n_rows
    return np.asarray(count_distances(rows) * (n_rows * (n_rows - 1) / max(1, n_drawn * (n_drawn - 1))))


def distance_weight(distances: Floats, decay: float) -> Floats:
    """Decay ** distance, scaled to 1 at the nearest pairs; ``distances`` are the numbers of pairs at each distance."""
    nearest = max(1, int(np.argmax(distances[1:] > 0)) + 1)
    return np.asarray(decay ** np.maximum(np.arange(len(distances)) - float(nearest), 0.0), dtype=np.float64)


def find_neighbours(
    rows: CodedRows, radius: int, decay: float, *, merge: bool = True, n_threads: int = 1
) -> Neighbours:
    """Pairs at distance 1 to ``radius`` by disagreement set.

    ``merge`` compares identical rows with the same label as one row with their number.
    """
    seeds = np.random.SeedSequence(0)
    rng = np.random.default_rng(seeds)
    limit = rows_compared(rows.n_features)
    sample = draw_rows(rows, limit, rng) if len(rows.codes) > limit else rows
    sample = merge_rows(sample) if merge else sample
    keep = keep_probability(sample, radius, decay, pairs_kept(rows.n_features), rng)
    near = find_near_pairs(sample.codes, keep, seeds, n_threads)
    distance = near.member.sum(axis=1, dtype=np.int64)
    left, right, weights = near.left, near.right, sample.weights_or_ones()
    pairs = weights[left] * weights[right] * class_weights(sample.labels, weights, left, right)
    changed = pairs * (sample.labels[left] != sample.labels[right])
    if len(pairs):  # sums over the pairs of each set
        pairs, changed = (np.add.reduceat(of_pair, near.starts) for of_pair in (pairs, changed))
    scale = 1 / keep[distance]
    return Neighbours(near.member, distance, pairs * scale, changed * scale)


def keep_probability(rows: CodedRows, radius: int, decay: float, budget: int, rng: np.random.Generator) -> Floats:
    """Per distance, min(1, s * decay ** distance) within the radius, s such that about ``budget`` pairs are kept."""
    distances = np.arange(rows.n_features + 1)
    inside = (distances >= 1) & (distances <= radius)
    expected = estimate_distances(rows.weighted(None), int(rng.integers(2**31))) * inside
    shape = distance_weight(expected, decay)
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
