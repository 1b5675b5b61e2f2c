"""Pairs of rows at any distance: how many there are, and the pairs themselves by disagreement set.

The disagreement set of two rows is the set of features on which they differ. Pairs are found by blocks of rows. The
bits of 64 codes are compared at a time, so a distance costs a few operations for each 64 features.
"""

import threading
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from functools import cached_property
from typing import TypeAlias

import numpy as np
from numpy.typing import NDArray

from analogical._types import CodedRows, Codes, Floats, Ints, Positions

__all__ = ["NearPairs", "count_distances", "find_near_pairs"]

Words: TypeAlias = NDArray[np.uint64]

BLOCK = 1024
"""Positions on each side of a block: 4 MB of distances."""
TILE = 128
"""Rows of a block whose distances are made together: what they need stays in cache."""
CHUNK = 100_000
"""Pairs looked at together."""


@dataclass(frozen=True)
class NearPairs:
    """Pairs of rows, brought together by disagreement set."""

    left: Positions
    right: Positions
    starts: Positions
    """Where each set begins among the pairs."""
    sets: Words
    """Shape (sets, words): feature i is bit i % 64 of word i // 64."""
    n_features: int

    @cached_property
    def distance(self) -> Ints:
        """Size of each disagreement set."""
        return np.asarray(np.bitwise_count(self.sets).sum(axis=1), dtype=np.int64)

    @cached_property
    def member(self) -> NDArray[np.uint8]:
        """The sets as a 0/1 matrix of shape (sets, features)."""
        octets = np.ascontiguousarray(self.sets.astype("<u8", copy=False)).view(np.uint8)
        return np.unpackbits(octets, axis=1, count=self.n_features, bitorder="little")


def count_distances(rows: CodedRows) -> Ints:
    """How many pairs of rows lie at each distance 0 .. features; a row with a weight counts as that many rows."""
    weight = None if rows.weights is None else rows.weights.astype(np.float64)
    counts = np.zeros(rows.n_features + 2)  # the first entry takes what is no pair
    for a, b, distance in _Blocks(rows.codes).distances(0, len(rows.codes)):
        together = None if weight is None else (weight[a : a + BLOCK, None] * weight[b : b + BLOCK]).ravel()
        counts += np.bincount(distance.ravel() + 1, together, minlength=len(counts))
    if rows.weights is not None:
        counts[1] += int(rows.weights @ (rows.weights - 1)) // 2
    return counts[1:].astype(np.int64)


def find_near_pairs(codes: Codes, keep: Floats, seeds: np.random.SeedSequence, n_threads: int = 1) -> NearPairs:
    """Pairs of rows, each kept with the probability that its distance has in ``keep``; threads change nothing.

    Costs a few operations for each 64 features of each pair of rows, and a few hundred bytes per pair kept.
    """
    left, right = _find_pairs(_Blocks(codes), keep, seeds, n_threads)
    sets = _disagreement_sets(codes, left, right)
    order, starts = _group(sets, codes.shape[1])
    return NearPairs(left[order], right[order], starts, sets[order[starts]], codes.shape[1])


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
    blocks: _Blocks, keep: Floats, seeds: np.random.SeedSequence, n_threads: int
) -> tuple[Positions, Positions]:
    """All pairs to keep, strip by strip; each strip has its own seed."""
    strips = range(0, len(blocks), BLOCK)
    generators = [np.random.default_rng(seed) for seed in seeds.spawn(len(strips))]
    with ThreadPoolExecutor(n_threads) as pool:
        tasks = [pool.submit(_keep_pairs, blocks, a, keep, rng) for a, rng in zip(strips, generators, strict=True)]
        try:
            pairs = [task.result() for task in tasks]
        except BaseException:  # Ctrl-C: start no other strip, and end the ones under way
            blocks.stopped.set()
            pool.shutdown(wait=False, cancel_futures=True)
            raise
    return np.concatenate([left for left, _ in pairs]), np.concatenate([right for _, right in pairs])


def _keep_pairs(blocks: _Blocks, start: int, keep: Floats, rng: np.random.Generator) -> tuple[Positions, Positions]:
    """The pairs (left < right) to keep whose left row lies in the strip that begins at ``start``."""
    lefts, rights = [np.zeros(0, np.intp)], [np.zeros(0, np.intp)]
    at_distance = np.append(keep, 0).astype(np.float32)  # distance -1 reads the last entry: never kept
    is_thinned = bool(((keep > 0) & (keep < 1)).any())
    for a, b, distance in blocks.distances(start, min(start + BLOCK, len(blocks))):
        bar = rng.random(distance.shape, dtype=np.float32) if is_thinned else np.float32(0)
        left, right = np.nonzero(at_distance[distance] > bar)
        lefts.append(left + a)
        rights.append(right + b)
    return np.concatenate(lefts), np.concatenate(rights)


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
