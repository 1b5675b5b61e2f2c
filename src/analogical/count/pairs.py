"""Exact counts of pairs at distance 1, without making pairs.

Two rows with the same context for a feature are either a pair for it or identical. So, with C2(c) = c (c - 1) / 2
summed over groups of c equal rows,

    pairs(i)     = sum of C2 over groups by context  -  sum of C2 over groups by whole row
    unchanged(i) = the same with the label added to both groupings
    changed(i)   = pairs(i) - unchanged(i)

and only the sizes of groups are needed. They come from a dense table of all possible rows if these are few
(``tabulating``), otherwise from sorting (``sorting``). Both also give the contexts themselves, for what depends on more
than pair counts.
"""

from collections.abc import Sequence
from dataclasses import dataclass, replace

import numpy as np

from analogical._types import CodedRows, Ints
from analogical.count.contexts import Contexts
from analogical.count.counts import EqualRows, PairCounts, refuse_too_many_rows
from analogical.count.kept import KeptContexts
from analogical.count.sorting import contexts_by_sorting
from analogical.count.tabulating import contexts_in_table, count_in_table, fits_in_table
from analogical.count.threads import n_threads_for

__all__ = ["ContextSums", "count_pairs", "join_blocks", "sum_contexts"]


@dataclass(frozen=True)
class ContextSums:
    """The counts of a table and the contexts of each feature."""

    counts: PairCounts
    kept: tuple[KeptContexts, ...]
    """One per feature; no contexts for features without pairs or not asked for."""

    def __add__(self, other: "ContextSums") -> "ContextSums":
        """Sums of two parts of a table that share no context (see ``PairCounts.__add__``)."""
        kept = tuple(one + two for one, two in zip(self.kept, other.kept, strict=True))
        return ContextSums(self.counts + other.counts, kept)


def join_blocks(sums: Sequence[ContextSums], blocks: Sequence[Sequence[int]]) -> ContextSums:
    """The sums of a table from those of its blocks of features, each counted on all rows."""
    whole = sums[0]
    pairs, changed, kept = whole.counts.pairs.copy(), whole.counts.changed.copy(), list(whole.kept)
    for part, block in zip(sums, blocks, strict=True):
        for i in block:
            pairs[i], changed[i], kept[i] = part.counts.pairs[i], part.counts.changed[i], part.kept[i]
    return ContextSums(replace(whole.counts, pairs=pairs, changed=changed), tuple(kept))


def count_pairs(rows: CodedRows, *, n_jobs: int | None = None) -> PairCounts:
    """Pairs of rows that differ on one feature only, for every feature.

    Parameters
    ----------
    rows : CodedRows
        Values that do not occur are allowed.
    n_jobs : int, optional
        Threads, by joblib's conventions: None is 1, -1 is one per CPU. The counts do not depend on it.

    Raises
    ------
    InputError
        If the total weight exceeds 2**31, where the number of pairs may leave int64.

    Notes
    -----
    Time is close to linear in rows and features; no array has more than a few entries per row.

    Examples
    --------
    >>> codes = np.array([[0, 0], [0, 1], [1, 1], [1, 1]], dtype=np.uint8)
    >>> labels = np.array([0, 1, 1, 0], dtype=np.uint8)
    >>> count_pairs(CodedRows(codes, labels, n_values=np.array([2, 2]), n_labels=2))
    PairCounts(pairs=array([2, 1]), changed=array([1, 1]), n_rows=4, n_distinct=3, n_identical=1, n_contradictions=1)
    """
    counted, total = _without_weight_zero(rows)
    if not fits_in_table(counted):
        return sum_contexts(counted, 0, n_jobs=n_jobs).counts
    return _counts(*count_in_table(counted, n_threads_for(n_jobs, counted.codes.size)), total)


def sum_contexts(
    rows: CodedRows,
    most_cells: int | None = None,
    *,
    features: Sequence[int] | None = None,
    n_jobs: int | None = None,
) -> ContextSums:
    """The counts of :func:`count_pairs`, and the contexts of each feature that has at most so many cells in them.

    By default all contexts are kept. With ``features``, only pairs for these features are counted.

    Examples
    --------
    >>> codes = np.array([[0, 0], [0, 1], [1, 1], [1, 1]], dtype=np.uint8)
    >>> labels = np.array([0, 1, 1, 0], dtype=np.uint8)
    >>> rows = CodedRows(codes, labels, n_values=np.array([2, 2]), n_labels=2)
    >>> sums = sum_contexts(rows)
    >>> sums.counts.pairs, sums.kept[0].contexts.sizes
    (array([2, 1]), array([1, 1, 1]))
    """
    rows, total = _without_weight_zero(rows)
    order = _together(rows.n_features, features)
    rows = rows.select(order)
    pairs, changed = (np.zeros(rows.n_features, np.int64) for _ in range(2))
    kept = [KeptContexts((), most_cells)] * rows.n_features

    def visit(place: int, contexts: Contexts) -> None:
        if len(contexts):
            feature = order[place]
            pairs[feature], changed[feature] = contexts.profile.n_pairs, contexts.profile.n_changed
            kept[feature] = KeptContexts.of(contexts, most_cells)

    places = None if features is None else range(len(features))
    visit_all = contexts_in_table if fits_in_table(rows, for_contexts=True) else contexts_by_sorting
    identical = visit_all(rows, n_threads_for(n_jobs, rows.codes.size), visit, places)
    return ContextSums(_counts(pairs, changed, identical, total), tuple(kept))


def _counts(pairs: Ints, changed: Ints, identical: EqualRows, n_rows: int) -> PairCounts:
    return PairCounts(pairs, changed, n_rows, identical.n_distinct, identical.n_pairs, identical.n_contradictions)


def _together(n_features: int, features: Sequence[int] | None) -> list[int]:
    """All features, those asked for first: one search for rows that agree serves neighbouring features."""
    chosen = list(features or ())
    return chosen + [i for i in range(n_features) if i not in chosen]


def _without_weight_zero(rows: CodedRows) -> tuple[CodedRows, int]:
    """The rows of positive weight, without weights if all are 1, and their total weight."""
    weights = rows.weights
    if weights is None:
        refuse_too_many_rows(len(rows.codes))
        return rows, len(rows.codes)
    total = float(weights.sum(dtype=np.float64))  # exact up to 2**53
    refuse_too_many_rows(total)
    if not weights.all():
        rows = rows.take(np.flatnonzero(weights))
        weights = rows.weights
    return (rows.weighted(None) if weights is not None and (weights == 1).all() else rows), int(total)
