"""Codes to counts by disagreement set, for pairs of rows within a radius.

The disagreement set of two rows is the set of features on which they differ. Pairs are found by blocks of rows: a
product of two one-hot blocks counts the features on which rows agree, so all distances come at the speed of BLAS.
Arrays in, arrays out; nothing here knows a name or divides.
"""

from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, replace
from functools import cached_property
from typing import Any, TypeAlias

import numpy as np
from numpy.typing import NDArray

from analogical._progress import Progress
from analogical._types import CodedRows, Codes, Floats, Ints, Positions

__all__ = ["Neighbours", "count_distances", "count_neighbours", "rows_compared"]

Words: TypeAlias = NDArray[np.uint64]

BLOCK = 1024
"""Positions on each side of a block: 4 MB of distances."""
MAX_COMPARED = 100_000_000
"""Pairs whose distance is looked at: those of 14,142 rows; past it, rows are sampled."""
MAX_PAIRS = 1_000_000
"""Pairs kept; past it, pairs are sampled."""
MAX_MEMBERS = 20_000_000
"""Pairs kept times features."""
MAX_ONE_HOT = 32
"""Features with more values are compared directly: their one-hot blocks would be wide and empty."""
CHUNK = 100_000


@dataclass(frozen=True)
class Neighbours:
    """Pairs of rows within a radius, by disagreement set.

    Attributes
    ----------
    sets : uint64 array of shape (k, words)
        Feature i is bit i % 64 of word i // 64.
    n_pairs, n_changed : int64 arrays of shape (k,)
        Pairs with this disagreement set, and how many of them differ in label. Rows count with their weight.
    balanced_pairs, balanced_changed : float64 arrays of shape (k,)
        The same, a pair weighing (share of one row's class * share of the other's) ** (-1 / (classes - 1)). With two
        classes these are the counts, up to a factor, if both classes were equally common; with many, hardly a change.
    keep_probability : float64 array of shape (features + 1,)
        With which probability a pair at each distance was kept; 0 outside the radius.
    n_rows : int
        Rows given.
    left, right, set_of_pair : int32 arrays
        The two rows of each pair kept, among the rows that were compared, and its disagreement set.
    rows : CodedRows
        The rows that were compared with each other.
    """

    sets: Words
    n_pairs: Ints
    n_changed: Ints
    balanced_pairs: Floats
    balanced_changed: Floats
    keep_probability: Floats
    n_rows: int
    left: NDArray[np.int32]
    right: NDArray[np.int32]
    set_of_pair: NDArray[np.int32]
    rows: CodedRows

    @property
    def n_rows_used(self) -> int:
        """Rows compared with each other."""
        return len(self.rows.codes)

    @property
    def n_pairs_used(self) -> int:
        """Pairs of rows kept, with their weights."""
        return int(self.n_pairs.sum())

    @property
    def n_features(self) -> int:
        """Features of the table."""
        return len(self.keep_probability) - 1

    @property
    def is_sampled(self) -> bool:
        """Whether some pairs within the radius were left out."""
        return self.n_rows_used < self.n_rows or _is_thinned(self.keep_probability)

    @cached_property
    def distance(self) -> Ints:
        """Size of each disagreement set."""
        return np.asarray(np.bitwise_count(self.sets).sum(axis=1), dtype=np.int64)

    @cached_property
    def member(self) -> NDArray[np.uint8]:
        """The sets as a 0/1 matrix of shape (sets, features)."""
        octets = np.ascontiguousarray(self.sets.astype("<u8", copy=False)).view(np.uint8)
        return np.unpackbits(octets, axis=1, count=self.n_features, bitorder="little")

    def relabelled(self, labels: Codes) -> "Neighbours":
        """The same pairs of rows if the rows had other labels."""
        return _count_sets(
            self.sets,
            self.keep_probability,
            self.n_rows,
            self.left,
            self.right,
            self.set_of_pair,
            replace(self.rows, labels=labels),
        )

    def thinned(self, n_pairs: int, random_state: int | None = 0) -> "Neighbours":
        """A random sample of the pairs, if there are more."""
        if len(self.left) <= n_pairs:
            return self
        chosen = np.sort(np.random.default_rng(random_state).choice(len(self.left), n_pairs, replace=False))
        used, set_of_pair = np.unique(self.set_of_pair[chosen], return_inverse=True)
        return _count_sets(
            self.sets[used],
            self.keep_probability,
            self.n_rows,
            self.left[chosen],
            self.right[chosen],
            set_of_pair.astype(np.int32),
            self.rows,
        )

    def pair_weights(self) -> tuple[Ints, Floats]:
        """Pairs of rows that each pair stands for, and its weight when classes are balanced."""
        weight = self.rows.weights_or_ones()
        together = weight[self.left] * weight[self.right]
        return together, together * _class_weights(self.rows.labels, weight, self.left, self.right)


def count_distances(codes: Codes, *, n_sampled: int = 1000, random_state: int | None = 0) -> Floats:
    """How many pairs of rows lie at each distance 0 .. features; estimated from a sample if there are more rows."""
    m, n = codes.shape
    rows = _sample_rows(m, n_sampled, np.random.default_rng(random_state))
    blocks = _Blocks(codes[rows])
    counts = np.zeros(n + 2, np.int64)
    for _, _, distance in blocks.distances(0, len(rows)):
        counts += np.bincount(distance.ravel() + 1, minlength=n + 2)  # the first entry takes what is no pair
    return np.asarray(counts[1:] * (m * (m - 1) / max(1, len(rows) * (len(rows) - 1))), dtype=np.float64)


def count_neighbours(
    rows: CodedRows,
    *,
    radius: int,
    decay: float = 1.0,
    max_pairs: int = MAX_PAIRS,
    max_compared: int = MAX_COMPARED,
    random_state: int | None = 0,
    n_jobs: int = 1,
    progress: Progress | None = None,
) -> Neighbours:
    """Count pairs and changed pairs by disagreement set, for pairs at distance 1 to ``radius``.

    Past ``max_compared`` a sample of rows is compared; past ``max_pairs`` (or MAX_MEMBERS) pairs are kept with a
    probability proportional to decay ** distance. ``n_jobs`` threads change nothing. Costs one multiplication of the
    one-hot table with itself plus a few hundred bytes per pair kept; memory does not grow with the rows beyond the
    limits.
    """
    m, n = rows.codes.shape
    seeds = np.random.SeedSequence(random_state)
    rng = np.random.default_rng(seeds)
    sample = rows.take(_sample_rows(m, rows_compared(max_compared), rng))
    codes = sample.codes
    probability = _keep_probability(codes, radius, decay, min(max_pairs, MAX_MEMBERS // n), rng)
    left, right = _find_pairs(_Blocks(codes), probability, seeds, n_jobs, progress)
    sets = _disagreement_sets(codes, left, right)
    order, starts = _group(sets)
    set_of_pair = np.repeat(np.arange(len(starts), dtype=np.int32), np.diff(starts, append=len(order)))
    return _count_sets(
        sets[order[starts]],
        probability,
        m,
        left[order].astype(np.int32),
        right[order].astype(np.int32),
        set_of_pair,
        sample,
    )


def _count_sets(
    sets: Words,
    probability: Floats,
    n_rows: int,
    left: NDArray[np.int32],
    right: NDArray[np.int32],
    set_of_pair: NDArray[np.int32],
    rows: CodedRows,
) -> Neighbours:
    """Add up the pairs of each set; pairs are ordered by set."""
    weight = rows.weights_or_ones()
    together = weight[left] * weight[right]
    changed = rows.labels[left] != rows.labels[right]
    balanced = together * _class_weights(rows.labels, weight, left, right)
    starts = np.searchsorted(set_of_pair, np.arange(len(sets)))
    return Neighbours(
        sets=sets,
        n_pairs=_sums(together, starts),
        n_changed=_sums(together * changed, starts),
        balanced_pairs=_sums(balanced, starts),
        balanced_changed=_sums(balanced * changed, starts),
        keep_probability=probability,
        n_rows=n_rows,
        left=left,
        right=right,
        set_of_pair=set_of_pair,
        rows=rows,
    )


def rows_compared(max_compared: int) -> int:
    """Rows that have about so many pairs."""
    return int((2 * max_compared) ** 0.5) + 1


class _Blocks:
    """Distances between blocks of rows; features with few values by a matrix product, the others one by one."""

    def __init__(self, codes: Codes) -> None:
        n_values = codes.max(axis=0, initial=0).astype(np.int64) + 1
        self.n_features = codes.shape[1]
        self.few = codes[:, n_values <= MAX_ONE_HOT]
        self.many = codes[:, n_values > MAX_ONE_HOT]
        self.first = np.concatenate([[0], np.cumsum(n_values[n_values <= MAX_ONE_HOT])])

    def __len__(self) -> int:
        return len(self.few)

    def one_hot(self, start: int) -> NDArray[np.float32]:
        """The rows of a block, one column per value."""
        columns = self.few[start : start + BLOCK] + self.first[:-1]
        hot = np.zeros((len(columns), self.first[-1]), np.float32)
        np.put_along_axis(hot, columns, 1, axis=1)
        return hot

    def distances(self, start: int, stop: int) -> Iterator[tuple[int, int, NDArray[np.int16]]]:
        """Blocks (a, b, distances) on and above the diagonal, for rows start to stop; -1 marks what is no pair."""
        for a in range(start, stop, BLOCK):
            left = self.one_hot(a)
            for b in range(a, len(self), BLOCK):
                distance = (self.few.shape[1] - left @ self.one_hot(b).T).astype(np.int16)
                for column in self.many.T:
                    distance += column[a : a + BLOCK, None] != column[b : b + BLOCK]
                if a == b:
                    distance[np.tril_indices(len(distance))] = -1
                yield a, b, distance


def _find_pairs(
    blocks: _Blocks, probability: Floats, seeds: np.random.SeedSequence, n_jobs: int, progress: Progress | None
) -> tuple[Positions, Positions]:
    """All pairs to keep, strip by strip; each strip has its own seed, so threads change nothing."""
    strips = range(0, len(blocks), BLOCK)
    generators = [np.random.default_rng(seed) for seed in seeds.spawn(len(strips))]
    found = []
    with ThreadPoolExecutor(n_jobs) as pool:
        tasks = [
            pool.submit(_keep_pairs, blocks, a, probability, rng) for a, rng in zip(strips, generators, strict=True)
        ]
        try:
            for number, task in enumerate(tasks, start=1):
                found.append(task.result())
                if progress is not None:
                    progress(number, len(tasks))
        except BaseException:  # Ctrl-C: finish the strips under way, start no other
            pool.shutdown(wait=False, cancel_futures=True)
            raise
    return np.concatenate([left for left, _ in found]), np.concatenate([right for _, right in found])


def _keep_pairs(
    blocks: _Blocks, start: int, probability: Floats, rng: np.random.Generator
) -> tuple[Positions, Positions]:
    """The pairs (left < right) to keep whose left row lies in the strip that begins at ``start``."""
    lefts, rights = [], []
    at_distance = np.append(probability, 0).astype(np.float32)  # distance -1 reads the last entry: never kept
    is_thinned = _is_thinned(probability)
    for a, b, distance in blocks.distances(start, min(start + BLOCK, len(blocks))):
        bar = rng.random(distance.shape, dtype=np.float32) if is_thinned else np.float32(0)
        left, right = np.nonzero(at_distance[distance] > bar)
        lefts.append(left + a)
        rights.append(right + b)
    return np.concatenate(lefts), np.concatenate(rights)


def _is_thinned(probability: Floats) -> bool:
    """Whether some pairs within the radius are left out."""
    return bool(((probability > 0) & (probability < 1)).any())


def _sample_rows(m: int, n_sampled: int, rng: np.random.Generator) -> Positions:
    """All rows, or a sorted sample of them."""
    return np.arange(m) if m <= n_sampled else np.sort(rng.choice(m, n_sampled, replace=False))


def _keep_probability(codes: Codes, radius: int, decay: float, budget: int, rng: np.random.Generator) -> Floats:
    """Per distance, min(1, s * decay ** distance) within the radius, s such that about ``budget`` pairs are kept."""
    distances = np.arange(codes.shape[1] + 1)
    inside = (distances >= 1) & (distances <= radius)
    expected = count_distances(codes, random_state=int(rng.integers(2**31))) * inside
    shape = decay ** np.maximum(distances - float(np.argmax(expected > 0)), 0.0)
    if expected.sum() <= budget or not (expected @ shape):
        return inside.astype(np.float64)
    low, high = 0.0, float(budget / (expected @ shape)) * 1e6
    for _ in range(100):  # bisection: the expected number of pairs grows with s
        s = (low + high) / 2
        low, high = (low, s) if expected @ np.minimum(1, s * shape) > budget else (s, high)
    return np.asarray(np.minimum(1, low * shape) * inside, dtype=np.float64)


def _disagreement_sets(codes: Codes, left: Positions, right: Positions) -> Words:
    """One bit-packed row of ceil(features / 64) words per pair, made in chunks so that memory stays bounded."""
    n = codes.shape[1]
    octets = np.zeros((len(left), 8 * (-(-n // 64))), np.uint8)
    for start in range(0, len(left), CHUNK):
        chunk = slice(start, start + CHUNK)
        differs = codes[left[chunk]] != codes[right[chunk]]
        octets[chunk, : -(-n // 8)] = np.packbits(differs, axis=1, bitorder="little")
    return octets.view("<u8").astype(np.uint64, copy=False)


def _group(sets: Words) -> tuple[Positions, Positions]:
    """An order of the pairs that brings equal sets together, and where each set starts in it."""
    order = np.argsort(sets[:, 0], kind="stable") if sets.shape[1] == 1 else np.lexsort(sets.T)
    is_new = np.ones(len(order), np.bool_)
    is_new[1:] = (sets[order[1:]] != sets[order[:-1]]).any(axis=1)
    return order, np.flatnonzero(is_new)


def _class_weights(labels: Codes, weight: Ints, left: NDArray[np.int32], right: NDArray[np.int32]) -> Floats:
    """(share of one row's class * share of the other's) ** (-1 / (classes - 1)) for each pair."""
    n_rows = np.bincount(labels, weight)
    n_others = max(1, int(np.count_nonzero(n_rows)) - 1)
    of_row = (n_rows / n_rows.sum())[labels] ** (-1 / n_others)
    return np.asarray(of_row[left] * of_row[right], dtype=np.float64)


def _sums(values: NDArray[Any], starts: Positions) -> NDArray[Any]:
    """Sums over runs of values, exact for whole numbers."""
    return np.add.reduceat(values, starts) if len(starts) else values[:0]
