"""Pairs of rows at any distance: their number, and the pairs themselves by disagreement set.

The disagreement set of two rows is the set of features on which they differ. Distances are computed in tiles, on one
bit of 64 codes at a time, so a distance costs a few operations for each 64 features.
"""

from collections.abc import Iterator
from functools import partial
from typing import NamedTuple, TypeAlias

import numpy as np
from numpy.typing import NDArray

from analogical._types import CodedRows, Codes, Floats, Ints, Positions
from analogical.count.threads import run_tasks

__all__ = ["NearPairs", "count_distances", "find_near_pairs"]

Words: TypeAlias = NDArray[np.uint64]

STRIP = 1024
"""Rows whose pairs are drawn with the same seed; they are compared with as many others at a time."""
TILE = 128
"""Rows of a strip whose distances are computed together, so that arrays stay in cache."""
PAIRS_AT_ONCE = 100_000
"""Pairs whose disagreement sets are computed together."""


class NearPairs(NamedTuple):
    """Pairs of rows, sorted by disagreement set."""

    left: Positions
    right: Positions
    starts: Positions
    """Where each set begins among the pairs."""
    member: NDArray[np.uint8]
    """The sets as a 0/1 matrix of shape (sets, features)."""


def count_distances(rows: CodedRows) -> Ints:
    """Number of pairs of rows at each distance from 0 to the number of features, with weights."""
    weight, planes = rows.weights_or_ones().astype(np.float64), _planes(rows.codes)
    counts = np.zeros(rows.n_features + 2)  # the first entry is for distance -1
    for start in range(0, len(rows.codes), STRIP):
        for top, left, distance in _tiles(planes, len(rows.codes), start):
            n_tall, n_wide = distance.shape
            together = None
            if rows.weights is not None:
                together = (weight[top : top + n_tall, None] * weight[left : left + n_wide]).ravel()
            counts += np.bincount(distance.ravel() + 1, together, minlength=len(counts))
    if rows.weights is not None:
        counts[1] += int(rows.weights @ (rows.weights - 1)) // 2
    return counts[1:].astype(np.int64)


def find_near_pairs(codes: Codes, keep: Floats, seeds: np.random.SeedSequence, n_threads: int = 1) -> NearPairs:
    """Pairs of rows, each kept with probability ``keep[distance]``; the result does not depend on threads.

    Costs a few operations for each 64 features of each pair of rows, and a few hundred bytes per pair kept.
    """
    starts, planes = range(0, len(codes), STRIP), _planes(codes)
    kept = [np.zeros((2, 0), np.intp)] * len(starts)

    def search(strip: int, seed: np.random.SeedSequence) -> None:
        tiles = _tiles(planes, len(codes), starts[strip])
        kept[strip] = _kept_pairs(tiles, keep, np.random.default_rng(seed))

    run_tasks([partial(search, strip, seed) for strip, seed in enumerate(seeds.spawn(len(starts)))], n_threads)
    left, right = np.hstack(kept)
    sets = _disagreement_sets(codes, left, right)
    order = np.lexsort(sets.T)
    is_new = np.ones(len(order), np.bool_)
    is_new[1:] = (sets[order[1:]] != sets[order[:-1]]).any(axis=1)
    octets = sets[order[is_new]].astype("<u8", copy=False).view(np.uint8)
    member = np.unpackbits(octets, axis=1, count=codes.shape[1], bitorder="little")
    return NearPairs(left[order], right[order], np.flatnonzero(is_new), member)


def _planes(codes: Codes) -> list[Words]:
    """For each 64 features that vary, the bits of their codes as words of shape (bits of a code, rows).

    Two rows differ on a feature if one of its bits differs.
    """
    n_bits = np.array([int(top).bit_length() for top in codes.max(axis=0, initial=0).tolist()], np.int64)
    order = np.argsort(n_bits, kind="stable")  # so that few words need many bits
    order = order[np.count_nonzero(n_bits == 0) :]
    planes = []
    for start in range(0, len(order), 64):
        some = order[start : start + 64]
        octets = np.zeros((int(n_bits[some[-1]]), len(codes), 8), np.uint8)
        for place, plane in enumerate(octets):
            bits = np.packbits(codes[:, some] >> codes.dtype.type(place) & codes.dtype.type(1), axis=1)
            plane[:, : bits.shape[1]] = bits
        planes.append(octets.view(np.uint64)[:, :, 0])
    return planes


def _tiles(planes: list[Words], n_rows: int, start: int) -> Iterator[tuple[int, int, NDArray[np.int32]]]:
    """Distances between the rows of a strip and all rows from the strip on: first row, first other row, distances.

    The distance is -1 unless the other row comes later.
    """
    stop = min(start + STRIP, n_rows)
    for left in range(start, n_rows, STRIP):
        right = min(left + STRIP, n_rows)
        for top in range(start, stop, TILE):
            rows, others = slice(top, min(top + TILE, stop)), slice(max(top, left), right)
            differs, at_place = np.empty((2, rows.stop - top, right - others.start), np.uint64)
            distance = np.full((rows.stop - top, right - left), -1, np.int32)
            distance[:, others.start - left :] = 0
            for words in planes:
                np.bitwise_xor(words[0, rows, None], words[0, others], out=differs)
                for plane in words[1:]:
                    np.bitwise_xor(plane[rows, None], plane[others], out=at_place)
                    np.bitwise_or(differs, at_place, out=differs)
                distance[:, others.start - left :] += np.bitwise_count(differs)
            if left == start:
                distance[np.tri(*distance.shape, top - left, np.bool_)] = -1
            yield top, left, distance


def _kept_pairs(
    tiles: Iterator[tuple[int, int, NDArray[np.int32]]], keep: Floats, rng: np.random.Generator
) -> NDArray[np.intp]:
    """The pairs to keep, of shape (2, pairs)."""
    pairs = [np.zeros((2, 0), np.intp)]
    at_distance = np.append(keep, 0).astype(np.float32)  # distance -1 reads the last entry: never kept
    is_thinned = bool(((keep > 0) & (keep < 1)).any())
    for top, left, distance in tiles:
        bar = rng.random(distance.shape, dtype=np.float32) if is_thinned else np.float32(0)
        rows, others = np.nonzero(at_distance[distance] > bar)
        pairs.append(np.array([rows + top, others + left]))
    return np.hstack(pairs)


def _disagreement_sets(codes: Codes, left: Positions, right: Positions) -> Words:
    """One bit per feature: shape (pairs, words of 64 features); in chunks, to limit memory."""
    n = codes.shape[1]
    octets = np.zeros((len(left), 8 * (-(-n // 64))), np.uint8)
    for start in range(0, len(left), PAIRS_AT_ONCE):
        chunk = slice(start, start + PAIRS_AT_ONCE)
        differs = codes[left[chunk]] != codes[right[chunk]]
        octets[chunk, : -(-n // 8)] = np.packbits(differs, axis=1, bitorder="little")
    return octets.view("<u8").astype(np.uint64, copy=False)
