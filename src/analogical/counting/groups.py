"""Numbers for groups of equal rows, exactly, however many features there are."""

from collections.abc import Sequence

import numpy as np

from analogical._types import CodedRows, Codes, Ints, Keys, Positions
from analogical.counting.packing import PACKED_BITS, pack_codes

__all__ = ["collapse_rows", "number_groups", "rows_by_context"]


def number_groups(codes: Codes, n_values: Ints, features: Sequence[int], start: Codes | None = None) -> Keys:
    """A number for each row, the same exactly for rows that agree on the features and on ``start``.

    As many features as fit are packed into one key, and the groups found so far are divided by it, word by word.
    """
    ids = np.zeros(len(codes), np.uint64) if start is None else start.astype(np.uint64)
    bits = [int(n - 1).bit_length() for n in n_values]
    for word in _words([f for f in features if bits[f]], bits):
        places = np.cumsum([0, *(bits[feature] for feature in word[:-1])])
        ids = _divide(ids, pack_codes(codes, word, [1 << place for place in places.tolist()]))
    return ids


def collapse_rows(rows: CodedRows) -> CodedRows:
    """The first of each distinct (row, label), in order, each counted once."""
    ids = number_groups(rows.codes, rows.n_values, range(rows.n_features), rows.labels)
    return rows.weighted(None).take(np.sort(np.unique(ids, return_index=True)[1]))


def rows_by_context(rows: CodedRows, feature: int) -> tuple[Positions, Positions]:
    """Positions of the rows, brought together by their context for a feature, and where each context starts."""
    others = [f for f in range(rows.n_features) if f != feature]
    ids = number_groups(rows.codes, rows.n_values, others)
    order = np.argsort(ids, kind="stable")
    return order, np.flatnonzero(np.append(True, np.diff(ids[order]) != 0))


def _words(features: Sequence[int], bits: Sequence[int]) -> list[list[int]]:
    """Runs of features that go into one key together."""
    words: list[list[int]] = []
    used = PACKED_BITS + 1
    for feature in features:
        if used + bits[feature] > PACKED_BITS:
            words.append([])
            used = 0
        words[-1].append(feature)
        used += bits[feature]
    return words


def _divide(ids: Keys, keys: Keys) -> Keys:
    """Numbers of the groups that agree on both, each number below the number of rows."""
    order = np.lexsort((keys, ids))
    is_new = (np.diff(ids[order]) != 0) | (np.diff(keys[order]) != 0)
    divided = np.empty(len(ids), np.uint64)
    divided[order] = np.append(0, np.cumsum(is_new))
    return divided
