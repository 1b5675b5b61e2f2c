"""Coded rows, the input of counting: codes packed into one number per row, groups of equal rows, sizes of groups."""

import math
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace
from hashlib import sha256

import numpy as np

from analogical._types import Bools, Codes, Floats, Ints, Keys, Positions

PACKED_BITS = 53
"""Codes are packed by a matrix product in float64, exact below 2**53."""
AT_ONCE = 2**17
"""Codes or keys computed at a time: they stay in cache, and are too few for BLAS to start threads."""


@dataclass(frozen=True)
class CodedRows:
    """A labelled table as integer codes, the input of counting."""

    codes: Codes
    """Shape (m, n), in any memory order; column i is below ``n_values[i]``."""
    labels: Codes
    """Shape (m,); below ``n_labels``."""
    n_values: Ints
    n_labels: int
    weights: Ints | None = None
    """Number of rows that each row represents, 0 or more; None means one each."""
    has_missing: Bools | None = None
    """Whether the last code of a feature stands for missing cells; None if no feature has any."""

    @property
    def n_features(self) -> int:
        """Number of columns."""
        return int(self.codes.shape[1])

    @property
    def n_rows(self) -> int:
        """Number of rows: the total weight."""
        return len(self.codes) if self.weights is None else int(self.weights.sum())

    def take(self, rows: Positions | Bools) -> "CodedRows":
        """Some of the rows, with their weights."""
        weights = None if self.weights is None else self.weights[rows]
        return replace(self, codes=self.codes[rows], labels=self.labels[rows], weights=weights)

    def weights_or_ones(self) -> Ints:
        """Number of rows that each row represents."""
        return np.ones(len(self.codes), np.int64) if self.weights is None else self.weights

    def weighted(self, weights: Ints | None) -> "CodedRows":
        """The same rows with other weights."""
        return replace(self, weights=weights)

    def label_sizes(self) -> Ints:
        """Rows of each label, with their weights."""
        return _sizes(self.labels, self.weights, self.n_labels)

    def value_sizes(self, feature: int) -> Ints:
        """Rows of each value of a feature, with their weights."""
        return _sizes(self.codes[:, feature], self.weights, int(self.n_values[feature]))

    def select(self, features: Sequence[int]) -> "CodedRows":
        """Some of the features, in the given order."""
        chosen = list(features)
        if len(chosen) == self.n_features and chosen == list(range(self.n_features)):
            return self
        codes = np.asfortranarray(self.codes[:, chosen])
        has_missing = None if self.has_missing is None else self.has_missing[chosen]
        return CodedRows(codes, self.labels, self.n_values[chosen], self.n_labels, self.weights, has_missing)


def _sizes(codes: Codes, weights: Ints | None, n_codes: int) -> Ints:
    """Rows of each code, with their weights.

    Textbook: bincount; of few codes it is several times slower than comparing, because it converts them.
    """
    if weights is None and n_codes <= 8:
        together = np.ascontiguousarray(codes)
        return np.array([np.count_nonzero(together == code) for code in range(n_codes)], np.int64)
    return np.bincount(codes, weights, minlength=n_codes).astype(np.int64)


def pack_codes(codes: Codes, features: Sequence[int], places: Sequence[int], rows: Positions | None = None) -> Keys:
    """Sum over the features of place times code, for the given rows (None: all); must be below 2**53."""
    n_rows = len(codes) if rows is None else len(rows)
    keys = np.zeros(n_rows, np.uint64)
    if not features:
        return keys
    first, width = min(features), max(features) + 1 - min(features)
    if width > 8 * len(features):  # many other columns between them
        codes, first, width = codes[:, features], 0, len(features)
        factors = np.array(places, np.float64)
    else:
        factors = np.zeros(width)
        factors[np.subtract(features, first)] = places
    step = max(1024, AT_ONCE // width)
    for start in range(0, n_rows, step):
        chunk = slice(start, start + step)
        part = codes[chunk if rows is None else rows[chunk], first : first + width]
        keys[chunk] = part.astype(np.float64) @ factors
    return keys


def number_groups(codes: Codes, n_values: Ints, features: Sequence[int], start: Codes | None = None) -> Keys:
    """A number for each row, equal for rows that agree on the features and on ``start``.

    As many features as fit are packed into one key, which divides the groups found so far; then the next ones, until
    every row has its own group. The numbers do not depend on the order of the rows.
    """
    ids = np.zeros(len(codes), np.uint64) if start is None else start.astype(np.uint64)
    bits = [int(n - 1).bit_length() for n in n_values.tolist()]
    left = [feature for feature in features if bits[feature]]
    n_groups = 0
    while left and n_groups < len(codes):
        places = np.cumsum([0, *(bits[feature] for feature in left)])
        n_taken = max(int(np.searchsorted(places[1:], PACKED_BITS, side="right")), 1)
        keys = pack_codes(codes, left[:n_taken], [1 << place for place in places[:n_taken].tolist()])
        order = np.lexsort((keys, ids))
        is_new = (np.diff(ids[order], prepend=0) != 0) | (np.diff(keys[order], prepend=0) != 0)
        is_new[:1] = True
        ids = np.empty(len(codes), np.uint64)
        ids[order] = np.cumsum(is_new) - 1
        left, n_groups = left[n_taken:], int(np.count_nonzero(is_new))
    return ids


def collapse_rows(rows: CodedRows) -> CodedRows:
    """The first of each distinct (row, label), in order, without weights."""
    ids = number_groups(rows.codes, rows.n_values, range(rows.n_features), rows.labels)
    return rows.weighted(None).take(np.sort(np.unique(ids, return_index=True)[1]))


def merge_rows(rows: CodedRows) -> CodedRows:
    """The distinct (row, label) with their counts, in an order that is independent of the row order."""
    ids = number_groups(rows.codes, rows.n_values, range(rows.n_features), rows.labels)
    _, first, group = np.unique(ids, return_index=True, return_inverse=True)
    weights = np.bincount(group, rows.weights, minlength=len(first)).astype(np.int64)
    held = weights > 0
    merged = rows.weighted(None).take(first[held])
    return merged if (weights == 1).all() else merged.weighted(weights[held])


def evenly(n_rows: int, n_taken: int) -> Positions:
    """Positions of at most ``n_taken`` rows, evenly spaced."""
    return np.arange(n_rows) if n_rows <= n_taken else np.linspace(0, n_rows - 1, n_taken).astype(np.intp)


def order_by_contents(
    columns: Sequence[tuple[Codes, Ints, Ints | None]], labels: Codes, weights: Ints | None, groups: Codes | None
) -> Positions:
    """The rows in a seeded random order that only depends on what is in them; rows that are alike follow each other.

    So an evenly spaced part has its share of the copies of each row. Neither the order of rows and columns nor names
    matter: values are known by their numbers of rows, bins by their order, columns by their values, and groups by their
    rows. ``columns`` are codes, the rows of each, and the order of codes with equally many rows; None for bins. Their
    own order decides between equal ones.
    """
    rng, blocks = np.random.default_rng(0), [slice(k, k + 2**14) for k in range(0, len(labels), 2**14)]
    sizes = np.bincount(labels, weights)
    of_label = np.argsort(np.argsort(sizes, kind="stable"))
    of_row = rng.integers(2**11, 2**12, len(sizes))[of_label][labels] * 1.0
    of_row *= 1.0 if weights is None else weights
    known = list[tuple[list[int], float, Codes, Positions]]()
    for codes, rows, ties in columns:
        order = np.arange(len(rows)) if ties is None else np.lexsort((ties, rows))
        with_label = sum(float(of_row[block] @ codes[block]) for block in blocks) if ties is None else 0.0
        known.append((rows[order].tolist(), with_label, codes, np.argsort(order)))
    known.sort(key=lambda column: column[:2])
    salts = [rng.integers(2**63, size=len(column[3]), dtype=np.uint64)[column[3]] for column in known]
    keys = of_row.astype(np.uint64) + rng.integers(2**63, size=len(sizes), dtype=np.uint64)[of_label][labels]
    for block in blocks:
        for column, salt in zip(known, salts, strict=True):
            keys[block] += salt[column[2][block]]
        keys[block] = _mixed(keys[block])
    if groups is not None:  # sums below 2**53
        keys = _mixed(keys + np.bincount(groups, (keys >> np.uint64(40)).astype(np.float64)).astype(np.uint64)[groups])
    return np.argsort(keys)


def _mixed(keys: Keys) -> Keys:
    """Keys of which every bit depends on all bits (the finalizer of splitmix64)."""
    for shift, factor in ((30, 0xBF58476D1CE4E5B9), (27, 0x94D049BB133111EB)):
        keys = (keys ^ (keys >> np.uint64(shift))) * np.uint64(factor)
    return keys ^ (keys >> np.uint64(31))


def count_cells(rows: CodedRows, features: Sequence[int]) -> Ints:
    """Counts of rows, with one axis for each of the features and one for the label."""
    shape = (*(int(rows.n_values[i]) for i in features), rows.n_labels)
    keys = np.ravel_multi_index((*(rows.codes[:, i] for i in features), rows.labels), shape)
    return np.bincount(keys, rows.weights, minlength=math.prod(shape)).astype(np.int64).reshape(shape)


def first_rows(column: Codes | Positions, n_values: int) -> Ints:
    """The first row of each value; undefined for a value that does not occur."""
    firsts = np.empty(n_values, dtype=np.int64)
    firsts[column[::-1]] = np.arange(len(column))[::-1]
    return firsts


def equal_columns(codes: Codes, n_values: Ints, columns: Iterable[int]) -> list[tuple[int, ...]]:
    """Groups of columns that are equal up to renaming their values."""
    groups: dict[bytes, list[int]] = {}
    for column in columns:
        first = first_rows(codes[:, column], int(n_values[column])).astype(np.uint32)
        groups.setdefault(sha256(first[codes[:, column]].tobytes()).digest(), []).append(column)
    return [tuple(group) for group in groups.values()]


def merge_rare(sizes: Ints | Floats, most: int) -> Ints:
    """A place below ``most`` for each code, from its rows; if there are more codes, the rarest share the last place."""
    if len(sizes) <= most:
        return np.arange(len(sizes))
    places = np.full(len(sizes), most - 1)
    places[np.argsort(-sizes, kind="stable")[: most - 1]] = np.arange(most - 1)
    return places


def are_few(n_keys: int, n_rows: int) -> bool:
    """Whether to count rows in a table of ``n_keys`` entries; otherwise keys are sorted."""
    return n_keys <= max(4 * n_rows, 1024)


def count_keys(keys: Positions, n_keys: int, weights: Ints | None) -> tuple[Positions, Ints]:
    """The distinct keys, sorted, and their total weights; keys of weight 0 are left out.

    Keys are below ``n_keys``.
    """
    if are_few(n_keys, len(keys)):
        sizes = np.bincount(keys, weights, minlength=n_keys)
        held = np.flatnonzero(sizes)
        return held, sizes[held].astype(np.int64)
    if weights is None:
        held, sizes = np.unique(keys, return_counts=True)
        return held, sizes.astype(np.int64)
    held, places = np.unique(keys, return_inverse=True)
    sizes = np.bincount(places, weights).astype(np.int64)  # sums of weights are below 2**53
    return held[sizes > 0], sizes[sizes > 0]
