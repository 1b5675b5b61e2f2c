"""Codes to counts by disagreement set, for pairs of rows within a radius.

The disagreement set of two rows is the set of features on which they differ. Pairs are found by blocks of rows. The
bits of 64 codes are compared at a time, so a distance costs a few operations for each 64 features. A row with a weight
counts as that many rows. Arrays in, arrays out; nothing here knows a name or divides.
"""

import threading
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from functools import cached_property
from typing import Any, TypeAlias

import numpy as np
from numpy.typing import NDArray

from analogical._progress import Progress
from analogical._types import CodedRows, Codes, Floats, Ints, Positions
from analogical.count.groups import draw_rows, merge_rows

__all__ = ["Neighbours", "count_distances", "count_neighbours", "pairs_kept", "rows_compared"]

Words: TypeAlias = NDArray[np.uint64]

BLOCK = 1024
"""Positions on each side of a block: 4 MB of distances."""
TILE = 128
"""Rows of a block whose distances are made together: what they need stays in cache."""
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
CHUNK = 100_000
"""Pairs looked at together."""


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
    n_rows, n_rows_used : int
        Rows given, and rows compared with each other, with their weights.
    """

    sets: Words
    n_pairs: Ints
    n_changed: Ints
    balanced_pairs: Floats
    balanced_changed: Floats
    keep_probability: Floats
    n_rows: int
    n_rows_used: int

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


def count_distances(rows: CodedRows, *, n_sampled: int = 1000, random_state: int | None = 0) -> Floats:
    """How many pairs of rows lie at each distance 0 .. features; estimated from a sample if there are more rows."""
    n_rows, n = rows.n_rows, rows.n_features
    if len(rows.codes) > n_sampled:
        rows = draw_rows(rows, n_sampled, np.random.default_rng(random_state))
    weight = None if rows.weights is None else rows.weights.astype(np.float64)
    counts = np.zeros(n + 2)  # the first entry takes what is no pair
    for a, b, distance in _Blocks(rows.codes).distances(0, len(rows.codes)):
        together = None if weight is None else (weight[a : a + BLOCK, None] * weight[b : b + BLOCK]).ravel()
        counts += np.bincount(distance.ravel() + 1, together, minlength=n + 2)
    if weight is not None:
        counts[1] += float(weight @ (weight - 1)) / 2
    n_drawn = rows.n_rows
    return np.asarray(counts[1:] * (n_rows * (n_rows - 1) / max(1, n_drawn * (n_drawn - 1))), dtype=np.float64)


def count_neighbours(
    rows: CodedRows,
    *,
    radius: int,
    decay: float = 1.0,
    max_pairs: int = MAX_PAIRS,
    max_compared: int = MAX_COMPARED,
    merge: bool = True,
    random_state: int | None = 0,
    n_jobs: int = 1,
    progress: Progress | None = None,
) -> Neighbours:
    """Count pairs and changed pairs by disagreement set, for pairs at distance 1 to ``radius``.

    Past ``max_compared`` (or MAX_COMPARED_CODES) a sample of rows is compared; past ``max_pairs`` (or MAX_MEMBERS)
    pairs are kept with a probability proportional to decay ** distance. ``n_jobs`` threads change nothing. Costs a few
    operations for each 64 features of each pair compared and a few hundred bytes per pair kept; memory does not grow
    with the rows beyond the limits. Without ``merge`` identical rows stay apart, in the order in which they came.
    """
    n_rows, n = rows.n_rows, rows.n_features
    seeds = np.random.SeedSequence(random_state)
    rng = np.random.default_rng(seeds)
    limit = rows_compared(max_compared, n)
    sample = draw_rows(rows, limit, rng) if len(rows.codes) > limit else rows
    sample = merge_rows(sample) if merge else sample
    codes = sample.codes
    probability = _keep_probability(codes, radius, decay, min(max_pairs, pairs_kept(n)), rng)
    left, right = _find_pairs(_Blocks(codes), probability, seeds, n_jobs, progress)
    sets = _disagreement_sets(codes, left, right)
    order, starts = _group(sets, n)
    left, right = left[order], right[order]
    weight = sample.weights_or_ones()
    together = np.ones(len(left), np.int64) if sample.weights is None else weight[left] * weight[right]
    changed = sample.labels[left] != sample.labels[right]
    balanced = together * _class_weights(sample.labels, weight, left, right)
    return Neighbours(
        sets=sets[order[starts]],
        n_pairs=_sums(together, starts),
        n_changed=_sums(together * changed, starts),
        balanced_pairs=_sums(balanced, starts),
        balanced_changed=_sums(balanced * changed, starts),
        keep_probability=probability,
        n_rows=n_rows,
        n_rows_used=sample.n_rows,
    )


def pairs_kept(n_features: int) -> int:
    """Pairs that are kept of a table with so many features, if it has more."""
    return max(MAX_MEMBERS // n_features, min(MAX_MEMBERS_OF_FEW // n_features, FEW_PAIRS), 1)


def rows_compared(max_compared: int, n_features: int) -> int:
    """Rows that have about so many pairs, or fewer on a very wide table."""
    return int((2 * min(max_compared, MAX_COMPARED_CODES // max(1, n_features))) ** 0.5) + 1


class _Blocks:
    """Distances between blocks of rows.

    Bit k of the codes of 64 features goes into one word, its plane k. Two rows differ on a feature if they do so on
    some plane.
    """

    def __init__(self, codes: Codes) -> None:
        self.n_rows = len(codes)
        self.stopped = threading.Event()
        """Set to end the work of other threads early."""
        n_bits = np.array([int(top).bit_length() for top in codes.max(axis=0, initial=0).tolist()], np.int64)
        order = np.argsort(n_bits, kind="stable")
        order = order[np.count_nonzero(n_bits == 0) :]
        self.words = [
            _planes(codes[:, features], int(n_bits[features[-1]]))
            for features in (order[start : start + 64] for start in range(0, len(order), 64))
        ]
        """For each 64 features their planes, shape (planes, rows)."""

    def __len__(self) -> int:
        return self.n_rows

    def distances(self, start: int, stop: int) -> Iterator[tuple[int, int, NDArray[np.int32]]]:
        """Blocks (a, b, distances) on and above the diagonal, for rows start to stop; -1 marks what is no pair."""
        for a in range(start, stop, BLOCK):
            for b in range(a, len(self), BLOCK):
                distance = np.full((min(BLOCK, len(self) - a), min(BLOCK, len(self) - b)), -1, np.int32)
                for top in range(0, len(distance), TILE):
                    if self.stopped.is_set():
                        return
                    left = top if a == b else 0  # what lies below the diagonal is not needed
                    distance[top : top + TILE, left:] = self._tile(a + top, min(a + BLOCK, a + top + TILE), b + left)
                if a == b:
                    distance[np.tril_indices(len(distance))] = -1
                yield a, b, distance

    def _tile(self, top: int, bottom: int, left: int) -> NDArray[np.int32]:
        """Distances between the rows from top to bottom and those from left to the end of its block."""
        rows, others = slice(top, bottom), slice(left, (left // BLOCK + 1) * BLOCK)
        shape = min(bottom, len(self)) - top, min(others.stop, len(self)) - left
        distance = np.zeros(shape, np.int32)
        differs, on_plane = np.empty(shape, np.uint64), np.empty(shape, np.uint64)
        for planes in self.words:
            np.bitwise_xor(planes[0, rows, None], planes[0, others], out=differs)
            for plane in planes[1:]:
                np.bitwise_xor(plane[rows, None], plane[others], out=on_plane)
                np.bitwise_or(differs, on_plane, out=differs)
            distance += np.bitwise_count(differs)
        return distance


def _planes(codes: Codes, n_planes: int) -> Words:
    """The bits of up to 64 columns, one word per row for each place of the bits."""
    planes = np.zeros((n_planes, len(codes), 8), np.uint8)
    for place in range(n_planes):
        bits = np.packbits(codes >> codes.dtype.type(place) & codes.dtype.type(1), axis=1)
        planes[place, :, : bits.shape[1]] = bits
    return planes.view(np.uint64)[:, :, 0]


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
        except BaseException:  # Ctrl-C: start no other strip, and end the ones under way
            blocks.stopped.set()
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
    empty = [np.zeros(0, np.intp)]  # if it was stopped
    return np.concatenate(lefts or empty), np.concatenate(rights or empty)


def _is_thinned(probability: Floats) -> bool:
    """Whether some pairs within the radius are left out."""
    return bool(((probability > 0) & (probability < 1)).any())


def _keep_probability(codes: Codes, radius: int, decay: float, budget: int, rng: np.random.Generator) -> Floats:
    """Per distance, min(1, s * decay ** distance) within the radius, s such that about ``budget`` pairs are kept."""
    distances = np.arange(codes.shape[1] + 1)
    inside = (distances >= 1) & (distances <= radius)
    rows = CodedRows(codes, np.zeros(len(codes), np.uint8), np.zeros(codes.shape[1], np.int64), 1)
    expected = count_distances(rows, random_state=int(rng.integers(2**31))) * inside
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


def _disagreement_sets(codes: Codes, left: Positions, right: Positions) -> Words:
    """One bit-packed row of ceil(features / 64) words per pair, made in chunks so that memory stays bounded."""
    n = codes.shape[1]
    octets = np.zeros((len(left), 8 * (-(-n // 64))), np.uint8)
    for start in range(0, len(left), CHUNK):
        chunk = slice(start, start + CHUNK)
        differs = codes[left[chunk]] != codes[right[chunk]]
        octets[chunk, : -(-n // 8)] = np.packbits(differs, axis=1, bitorder="little")
    return octets.view("<u8").astype(np.uint64, copy=False)


def _group(sets: Words, n_features: int) -> tuple[Positions, Positions]:
    """An order of the pairs that brings equal sets together, and where each set starts in it.

    Textbook: np.lexsort(sets.T); digits of 16 bits, which numpy sorts by counting, are several times quicker.
    """
    order = np.arange(len(sets))
    for first in range(0, n_features, 16):
        digits = (sets[:, first // 64] >> np.uint64(first % 64)).astype(np.uint16)
        order = order[np.argsort(digits[order], kind="stable")]
    is_new = np.ones(len(order), np.bool_)
    is_new[1:] = (sets[order[1:]] != sets[order[:-1]]).any(axis=1)
    return order, np.flatnonzero(is_new)


def _class_weights(labels: Codes, weight: Ints, left: Positions, right: Positions) -> Floats:
    """(share of one row's class * share of the other's) ** (-1 / (classes - 1)) for each pair."""
    n_rows = np.bincount(labels, weight)
    n_others = max(1, int(np.count_nonzero(n_rows)) - 1)
    of_row = (n_rows / n_rows.sum())[labels] ** (-1 / n_others)
    return np.asarray(of_row[left] * of_row[right], dtype=np.float64)


def _sums(values: NDArray[Any], starts: Positions) -> NDArray[Any]:
    """Sums over runs of values, exact for whole numbers."""
    return np.add.reduceat(values, starts) if len(starts) else values[:0]
