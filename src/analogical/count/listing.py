"""Lists of pairs and squares of rows, and pairs by values and labels."""

import math
from collections import Counter, defaultdict
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from functools import cached_property, lru_cache
from itertools import combinations, islice, pairwise, product
from typing import Any, TypeVar

import numpy as np
from numpy.typing import NDArray

from analogical._types import Bools, Codes, Ints, Positions
from analogical.count.contexts import Contexts, differs_from_last
from analogical.count.given import RowContexts
from analogical.count.groups import CodedRows, first_rows
from analogical.errors import InputError

MAX_LISTED = 1_000_000
"""Most pairs, or kinds of pairs, that are listed: each takes about a kilobyte."""
SQUARES_PER_CONTEXT = 20_000
"""Most kinds of squares that are considered in one context."""

Item = TypeVar("Item")


@dataclass(frozen=True)
class ListedRows:
    """Rows in the order in which they are listed, and the context of each; contexts are numbered by their first row."""

    rows: CodedRows
    """The rows with the features that are listed."""
    context: Positions
    """Context of each row."""
    given: NDArray[Any]
    """Code of each context on each given column."""
    positions: Ints | None
    """Position of each row in the user's table, of the first one for merged rows; None if it is not known."""

    @classmethod
    def of(cls, rows: CodedRows, cells: RowContexts, positions: Ints | None) -> "ListedRows":
        """From the rows divided by the given columns."""
        by_first_row = np.argsort(first_rows(cells.of_row, len(cells)))
        return cls(rows, np.argsort(by_first_row)[cells.of_row], cells.codes[by_first_row], positions)

    @cached_property
    def order(self) -> Positions:
        """The rows sorted by context."""
        return np.argsort(self.context, kind="stable")

    def count_by_context(self, chosen: Bools) -> Ints:
        """Number of the chosen rows in each context, with their weights."""
        weights = None if self.rows.weights is None else self.rows.weights[chosen]
        return np.bincount(self.context[chosen], weights, minlength=len(self.given)).astype(np.int64)


def find_pairs(
    listed: ListedRows, limit: int | None, among: Bools | None = None, *, changed: bool = True
) -> list[tuple[int, int]]:
    """Pairs of rows of one context with different values in column 0: changed pairs first, in turn from each context.

    With ``among``, only changed pairs of these rows, or only unchanged ones.
    """
    rows, order = listed.rows, listed.order if among is None else listed.order[among[listed.order]]
    starts = np.flatnonzero(differs_from_last(listed.context[order]))
    stops = np.append(starts[1:], len(order))
    column, labels = rows.codes[:, 0], rows.labels
    varies = _varies(column[order], starts)
    pairs: list[tuple[int, int]] = []
    for is_changed in (True, False) if among is None else (changed,):
        some = np.flatnonzero(varies & _varies(labels[order], starts) if is_changed else varies)
        streams = (_pairs_of(order[starts[c] : stops[c]], column, labels, is_changed) for c in some)
        left = MAX_LISTED + 1 if limit is None else min(limit, MAX_LISTED + 1) - len(pairs)
        pairs += islice(_in_turn(streams), left)
        if len(pairs) > MAX_LISTED:
            raise InputError(
                f"More than {MAX_LISTED:,} pairs would be listed with limit={limit}; give a smaller limit,"
                " or use transitions, which counts them."
            )
    return pairs


def _varies(values: Codes, starts: Positions) -> Bools:
    """Whether the values from each start to the next differ."""
    if not len(starts):
        return np.zeros(0, np.bool_)
    return np.asarray(np.minimum.reduceat(values, starts) != np.maximum.reduceat(values, starts))


def _pairs_of(rows: Positions, column: Codes, labels: Codes, changed: bool) -> Iterator[tuple[int, int]]:
    """Changed, or unchanged, pairs of one context, ordered by first and second row."""
    values, classes = column[rows], labels[rows]

    @lru_cache(maxsize=16)
    def partners(value: int, label: int) -> Positions:
        return np.flatnonzero((values != value) & ((classes != label) == changed))

    for k, (value, label) in enumerate(zip(values.tolist(), classes.tolist(), strict=True)):
        mine = partners(value, label)
        later = mine[np.searchsorted(mine, k) :] if len(mine) else mine
        yield from ((int(rows[k]), partner) for partner in rows[later].tolist())


def _in_turn(streams: Iterable[Iterator[Item]]) -> Iterator[Item]:
    """The first item of each stream, then the second of each, and so on; streams are opened when needed."""
    while streams:
        alive = []
        for stream in streams:
            for item in islice(stream, 1):
                yield item
                alive.append(stream)
        streams = alive


@dataclass(frozen=True)
class TransitionCounts:
    """Number of pairs by the values and labels of their two rows; one entry per combination that occurs."""

    values: tuple[Ints, Ints]
    labels: tuple[Ints, Ints]
    pairs: Ints


def count_transitions(contexts: Contexts, n_labels: int, first_row: Ints) -> TransitionCounts | None:
    """The pairs of a feature by values and labels; None if there are more than ``MAX_LISTED`` kinds.

    The value that occurs first in the table comes first; ``first_row`` is the first row of each value.
    """
    kinds, kind = np.unique(contexts.values.astype(np.int64) * n_labels + contexts.labels, return_inverse=True)
    times = contexts.sizes * contexts.times[contexts.owner]
    # The partners of a cell run from the next value of its context to the end of the context.
    first = np.append(contexts.value_starts, len(kind))[contexts.value_of_cell + 1]
    n_partners = np.append(contexts.starts, len(kind))[contexts.owner + 1] - first
    keys, pairs = np.zeros((2, 0), np.int64)
    cuts = (
        np.flatnonzero(np.diff(np.cumsum(n_partners) // MAX_LISTED)) + 1
    )  # parts of about MAX_LISTED partners, to limit memory
    for cells in np.split(np.arange(len(kind)), cuts):
        one = np.repeat(cells, n_partners[cells])
        place = np.arange(len(one)) - np.repeat(np.cumsum(n_partners[cells]) - n_partners[cells], n_partners[cells])
        other = first[one] + place
        keys = np.append(keys, kind[one] * len(kinds) + kind[other])
        pairs = np.append(pairs, times[one] * contexts.sizes[other])
        order = np.argsort(keys, kind="stable")
        starts = np.flatnonzero(differs_from_last(keys[order]))
        keys, pairs = keys[order[starts]], np.add.reduceat(pairs[order], starts)
        if len(keys) > MAX_LISTED:
            return None
    rank = np.argsort(np.argsort(first_row))
    (a, p), (b, q) = (np.divmod(kinds[side], n_labels) for side in np.divmod(keys, len(kinds)))
    turned = rank[a] > rank[b]
    a, b, p, q = (np.where(turned, two, one) for one, two in ((a, b), (b, a), (p, q), (q, p)))
    order = np.lexsort((q, p, rank[b], rank[a]))
    return TransitionCounts((a[order], b[order]), (p[order], q[order]), pairs[order])


def count_label_pairs(contexts: Contexts, n_labels: int) -> Ints:
    """The pairs of a feature by the labels of their two rows, in either order: shape (labels, labels)."""
    from scipy.sparse import csr_array

    counts = np.zeros((n_labels, n_labels), np.int64)
    for of_cell, times, sign in (
        (contexts.owner, contexts.times, 1),
        (contexts.value_of_cell, contexts.times[contexts.value_parts.owner], -1),
    ):
        shape = len(times), n_labels
        rows: Any = csr_array((contexts.sizes, (of_cell, contexts.labels.astype(np.int64))), shape=shape)
        counts += sign * (rows.multiply(times[:, None]).T @ rows).toarray().astype(np.int64)
    return counts


# ---------------------------------------------------------------- squares


def find_squares(listed: ListedRows) -> Iterator[tuple[int, tuple[int, ...]]]:
    """Broken squares of columns 0 and 1, in turn from each context, the most frequent first.

    Squares of one context with the same values and labels are one: their number, and the first row at each corner
    (a, b, c, d as in ``count.squares``).
    """
    starts = np.flatnonzero(differs_from_last(listed.context[listed.order]))
    bounds = pairwise([*starts.tolist(), len(listed.order)])
    contexts = (listed.order[start:stop] for start, stop in bounds if stop - start > 3)
    return _in_turn(iter(_squares_of(listed.rows, context)) for context in contexts)


def _squares_of(rows: CodedRows, context: Positions) -> list[tuple[int, tuple[int, ...]]]:
    """The broken squares among the rows of one context, the most frequent first.

    If there are very many, only those of the first values and the most frequent labels.
    """
    by_label = defaultdict[tuple[int, int], Counter[int]](Counter)
    seconds_of = defaultdict[int, set[int]](set)
    first_row: dict[tuple[int, int, int], int] = {}
    weights = rows.weights_or_ones()[context].tolist()
    codes = zip(*rows.codes[context].T.tolist(), rows.labels[context].tolist(), strict=True)
    for row, weight, (u, v, label) in zip(context.tolist(), weights, codes, strict=True):
        by_label[u, v][label] += weight
        seconds_of[u].add(v)
        first_row.setdefault((u, v, label), row)
    found: list[tuple[int, tuple[int, ...]]] = []
    for u, w in combinations(sorted(seconds_of), 2):
        for v, x in combinations(sorted(seconds_of[u] & seconds_of[w]), 2):
            corners = ((u, v), (w, v), (u, x), (w, x))
            kinds = product(*([label for label, _ in by_label[corner].most_common()] for corner in corners))
            for a, b, c, d in islice(kinds, SQUARES_PER_CONTEXT):
                if not ((a == b and c == d) or (a == c and b == d)):
                    cells = list(zip(corners, (a, b, c, d), strict=True))
                    times = math.prod(by_label[corner][label] for corner, label in cells)
                    found.append((times, tuple(first_row[*corner, label] for corner, label in cells)))
            if len(found) > SQUARES_PER_CONTEXT:
                break
        if len(found) > SQUARES_PER_CONTEXT:
            break
    return sorted(found, key=lambda square: (-square[0], square[1]))
