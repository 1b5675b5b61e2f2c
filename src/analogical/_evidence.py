"""The rows behind a score: the very pairs, and how many go from which value and label to which."""

from collections.abc import Callable, Hashable, Iterator, Sequence
from dataclasses import dataclass
from itertools import islice
from typing import Any

import numpy as np
from numpy.typing import NDArray

from analogical._encoding import EncodedTable, encode_table
from analogical._originals import Originals, find_feature, plain
from analogical._presenting import aligned, counted, percent, shortened, wrapped
from analogical._uncertainty import Cells, Grouped, collapse_cells, group_by_context, sort_rows
from analogical.errors import InputError

__all__ = [
    "Evidence",
    "EvidencePair",
    "Transition",
    "Transitions",
    "evidence",
    "find_pairs",
    "json_value",
    "transitions",
]

Codes = NDArray[np.unsignedinteger[Any]]
Ints = NDArray[np.int64]
Only = Callable[[int, NDArray[np.intp]], NDArray[np.bool_]]


@dataclass(frozen=True)
class EvidencePair:
    """Two rows that are equal but for one feature."""

    rows: tuple[int, int]
    """Positions of the two rows in the table, counted from 0."""
    index: tuple[Hashable, Hashable]
    """Their index labels, where the dataframe has an index; otherwise the positions again."""
    context: tuple[tuple[str, Any], ...]
    """Names and values of the features on which they agree."""
    values: tuple[Any, Any]
    """The feature's value in each row; of two values the one that occurs first in the table comes first."""
    labels: tuple[Any, Any]
    weight: int
    """Pairs that these two rows stand for: the product of their weights."""

    @property
    def changed(self) -> bool:
        """Whether the labels differ."""
        return bool(self.labels[0] != self.labels[1])

    def to_dict(self) -> dict[str, Any]:
        """The pair in plain Python types."""
        return {
            "rows": list(self.rows),
            "index": [json_value(name) for name in self.index],
            "context": {name: json_value(value) for name, value in self.context},
            "values": [json_value(value) for value in self.values],
            "labels": [json_value(value) for value in self.labels],
            "changed": self.changed,
            "weight": self.weight,
        }


@dataclass(frozen=True)
class Evidence:
    """Pairs of rows that differ on one feature only.

    Attributes
    ----------
    feature, label : str
        What differs, and what may change with it.
    n_pairs, n_changed : int
        All such pairs, and those whose labels differ.
    pairs : tuple of EvidencePair
        The pairs asked for, changed ones first, from as many contexts as possible.
    """

    feature: str
    label: str
    n_pairs: int
    n_changed: int
    pairs: tuple[EvidencePair, ...]

    def to_dict(self) -> dict[str, Any]:
        """Everything in plain Python types, ready for JSON."""
        return {
            "feature": self.feature,
            "label": self.label,
            "n_pairs": self.n_pairs,
            "n_changed": self.n_changed,
            "pairs": [pair.to_dict() for pair in self.pairs],
        }

    def headline(self) -> str:
        """How many pairs there are and how many changed, in one line."""
        if self.n_pairs == 0:
            return f"No two rows differ on {self.feature!r} alone, so there is no evidence on it."
        return (
            f"{self.n_changed:,} of {counted(self.n_pairs, 'pair')} that differ on {self.feature!r} alone"
            f" {'differs' if self.n_changed == 1 else 'differ'} in {self.label!r}"
            f" ({percent(self.n_changed / self.n_pairs)})"
        )

    def blocks(self) -> list[tuple[str, list[tuple[str, ...]]]]:
        """The pairs as words, brought together by context: the context once, then a line for each pair."""
        blocks: dict[tuple[tuple[str, Any], ...], list[EvidencePair]] = {}
        for pair in self.pairs:
            blocks.setdefault(pair.context, []).append(pair)
        return [(context_words(context), [self._words(pair) for pair in pairs]) for context, pairs in blocks.items()]

    def _words(self, pair: EvidencePair) -> tuple[str, ...]:
        stands_for = f"{pair.weight:,} pairs" if pair.weight > 1 else ""
        return (
            change_words(self.feature, pair.values),
            change_words(self.label, pair.labels),
            f"rows {pair.index[0]}, {pair.index[1]}",
            stands_for,
        )

    def __repr__(self) -> str:
        lines = [wrapped(self.headline())]
        for context, pairs in self.blocks():
            lines.append(wrapped(context, "  "))
            lines += [f"  {line}" for line in aligned(pairs, [True, True, True, False])]
        return "\n".join(lines)


@dataclass(frozen=True)
class Transition:
    """Pairs in which the feature goes from one value to another and the label from one class to another."""

    values: tuple[Any, Any]
    labels: tuple[Any, Any]
    pairs: int

    @property
    def changed(self) -> bool:
        """Whether the labels differ."""
        return bool(self.labels[0] != self.labels[1])


@dataclass(frozen=True)
class Transitions:
    """How many pairs of a feature go from which value and label to which; the counts add up to its pairs."""

    feature: str
    label: str
    counts: tuple[Transition, ...]

    @property
    def n_pairs(self) -> int:
        """All pairs."""
        return sum(t.pairs for t in self.counts)

    @property
    def n_changed(self) -> int:
        """Pairs whose labels differ."""
        return sum(t.pairs for t in self.counts if t.changed)

    def to_dict(self) -> dict[str, Any]:
        """Everything in plain Python types, ready for JSON."""
        return {
            "feature": self.feature,
            "label": self.label,
            "n_pairs": self.n_pairs,
            "n_changed": self.n_changed,
            "transitions": [
                {
                    "values": [json_value(v) for v in t.values],
                    "labels": [json_value(v) for v in t.labels],
                    "changed": t.changed,
                    "pairs": t.pairs,
                }
                for t in self.counts
            ],
        }

    def __repr__(self) -> str:
        if not self.counts:
            return f"No two rows differ on {self.feature!r} alone, so it has no transitions."
        heads = (self.feature, self.label, "pairs", "share")
        return "\n".join(aligned([heads, *self.rows()], [True, True, False, False]))

    def rows(self) -> list[tuple[str, str, str, str]]:
        """The counts as words: change of value, change of label, pairs, share of all pairs."""
        return [
            (change_words("", t.values), change_words("", t.labels), f"{t.pairs:,}", percent(t.pairs / self.n_pairs))
            for t in self.counts
        ]


def evidence(
    X: Any,
    y: Any,
    feature: str | int,
    limit: int | None = 10,
    *,
    weights: Any = None,
    feature_names: Sequence[str] | None = None,
) -> Evidence:
    """The very pairs of rows that a feature's index was counted on.

    Parameters
    ----------
    X, y, weights, feature_names
        As in :func:`analogical.relevance`.
    feature : str or int
        Name or position of the feature.
    limit : int or None
        How many pairs to show; None for all of them, which can be very many.

    Returns
    -------
    Evidence
        The pairs, changed ones first; in turn one from each context (by the first row of the context), then
        the second one from each, and so on, so that the first pairs come from different contexts.

    Examples
    --------
    >>> from analogical import evidence
    >>> rows = [("red", "cat"), ("red", "dog"), ("blue", "cat"), ("blue", "dog"), ("red", "eel")]
    >>> evidence(rows, ["tame", "tame", "tame", "wild", "wild"], "animal", feature_names=["colour", "animal"])
    3 of 4 pairs that differ on 'animal' alone differ in 'y' (75.0 %)
    colour=red
      animal cat → eel  y tame → wild  rows 0, 4
      animal dog → eel  y tame → wild  rows 1, 4
      animal cat → dog  y tame = tame  rows 0, 1
    colour=blue
      animal cat → dog  y tame → wild  rows 2, 3
    """
    whole = isinstance(limit, int | np.integer) and not isinstance(limit, bool)
    if limit is not None and not (whole and limit >= 1):
        raise InputError(f"limit must be a whole number from 1, or None for all pairs, got {limit!r}.")
    table = encode_table(X, y, weights=weights, feature_names=feature_names)
    i = find_feature(feature, table.names)
    originals = Originals(X, y, weights, table)
    cells = collapse_cells(table.codes, table.labels, table.n_values, table.weights)
    grouped = group_by_context(cells, i)
    n_pairs, n_changed = (
        int((cells.weights[grouped.order] * per_row).sum()) // 2 for per_row in (grouped.pairs, grouped.changed)
    )
    pairs = name_pairs(find_pairs(table, i, limit), table, i, originals)
    return Evidence(table.names[i], table.label, n_pairs, n_changed, pairs)


def transitions(
    X: Any, y: Any, feature: str | int, *, weights: Any = None, feature_names: Sequence[str] | None = None
) -> Transitions:
    """How many pairs go from which value and label to which, for one feature.

    Parameters
    ----------
    X, y, weights, feature_names
        As in :func:`analogical.relevance`.
    feature : str or int
        Name or position of the feature.

    Returns
    -------
    Transitions
        One count for each change of value, from the one that occurs first in the table, and of label.

    Examples
    --------
    >>> from analogical import load_table, transitions
    >>> transitions(load_table("berkeley").to_frame(), "admitted", "gender", weights="count")
    gender         admitted     pairs   share
    male → female  no = no    308,363  47.1 %
    male → female  no → yes   130,731  20.0 %
    male → female  yes → no   115,965  17.7 %
    male → female  yes = yes   99,397  15.2 %
    """
    table = encode_table(X, y, weights=weights, feature_names=feature_names)
    i = find_feature(feature, table.names)
    cells = collapse_cells(table.codes, table.labels, table.n_values, table.weights)
    return Transitions(
        table.names[i],
        table.label,
        count_transitions(table, i, cells, group_by_context(cells, i), Originals(X, y, weights, table)),
    )


def count_transitions(
    table: EncodedTable, i: int, cells: Cells, grouped: Grouped, originals: Originals
) -> tuple[Transition, ...]:
    """Transitions of a feature, from the products of the cells of each context."""
    from scipy.sparse import csr_array

    n_classes = len(table.classes)
    n_contexts = len(grouped.starts)
    context = np.repeat(np.arange(n_contexts), np.diff(grouped.starts, append=len(grouped.order)))
    kind = cells.codes[grouped.order, i].astype(np.int64) * n_classes + cells.labels[grouped.order]
    counts = csr_array(
        (cells.weights[grouped.order], (context, kind)), shape=(n_contexts, int(table.n_values[i]) * n_classes)
    )
    together = (counts.T @ counts).tocoo()
    firsts = first_rows(table.codes[:, i], int(table.n_values[i]))
    rank = np.argsort(np.argsort(firsts))
    (a, p), (b, q) = (np.divmod(side, n_classes) for side in together.coords)
    forward = rank[a] < rank[b]
    found = sorted(zip(*(x[forward].tolist() for x in (rank[a], rank[b], p, q, a, b, together.data)), strict=True))
    words = originals.values(firsts, i)
    return tuple(
        Transition((words[a], words[b]), (plain(table.classes[p]), plain(table.classes[q])), pairs)
        for _, _, p, q, a, b, pairs in found
    )


def first_rows(column: Codes, n_values: int) -> Ints:
    """The row in which each value occurs first."""
    firsts = np.empty(n_values, dtype=np.int64)
    firsts[column[::-1]] = np.arange(len(column))[::-1]
    return firsts


# ---------------------------------------------------------------- pairs, one at a time


def find_pairs(table: EncodedTable, i: int, limit: int | None, only: Only | None = None) -> list[tuple[int, int]]:
    """Pairs of encoded rows for feature i: changed ones first, in turn from each context.

    With ``only``, changed pairs for which it is true: a row against an array of later ones.
    """
    column, labels = table.codes[:, i], table.labels
    order, new = sort_rows(table.codes, np.zeros_like(labels), table.n_values, i)
    starts = np.flatnonzero(new)
    varied = _varies(column[order], starts)
    stops = np.append(starts[1:], len(order))
    found: list[tuple[int, int]] = []
    for changed in (True, False) if only is None else (True,):
        # Two values and two labels in a context always make a changed pair; for an unchanged one we look.
        some = varied & _varies(labels[order], starts) if changed else varied
        chosen = np.flatnonzero(some)
        chosen = chosen[np.argsort(order[starts[chosen]])]  # by their first row
        left = None if limit is None else limit - len(found)
        streams = (_pairs_of(order[starts[c] : stops[c]], column, labels, changed, only) for c in chosen)
        found += islice(_in_turn(streams, left), left)
    return found


def _varies(values: Codes, starts: NDArray[np.intp]) -> NDArray[np.bool_]:
    """Whether a context holds two different values."""
    varies: NDArray[np.bool_] = np.minimum.reduceat(values, starts) != np.maximum.reduceat(values, starts)
    return varies


def _pairs_of(
    rows: NDArray[np.intp], column: Codes, labels: Codes, changed: bool, only: Only | None
) -> Iterator[tuple[int, int]]:
    """Changed, or unchanged, pairs of one context, by the first row and then the second."""
    for k, row in enumerate(rows.tolist()):
        later = rows[k + 1 :]
        wanted = (column[later] != column[row]) & ((labels[later] != labels[row]) == changed)
        if only is not None:
            wanted &= only(row, later)
        yield from ((row, other) for other in later[wanted].tolist())


def _in_turn(streams: Iterator[Iterator[tuple[int, int]]], enough: int | None) -> Iterator[tuple[int, int]]:
    """The first of each stream, then the second of each; no more streams are opened than are needed."""
    alive = []
    n_given = 0
    for stream in streams:
        first = next(stream, None)
        if first is not None:
            yield first
            alive.append(stream)
            n_given += 1
            if n_given == enough:
                return
    while alive:
        following = []
        for stream in alive:
            pair = next(stream, None)
            if pair is not None:
                yield pair
                following.append(stream)
        alive = following


def name_pairs(
    pairs: Sequence[tuple[int, int]], table: EncodedTable, i: int, originals: Originals
) -> tuple[EvidencePair, ...]:
    """Pairs of encoded rows with the user's values, names and labels."""
    if not pairs:
        return ()
    firsts = first_rows(table.codes[:, i], int(table.n_values[i]))
    turned = [(r, s) if firsts[table.codes[r, i]] < firsts[table.codes[s, i]] else (s, r) for r, s in pairs]
    left, right = ([pair[side] for pair in turned] for side in (0, 1))
    others = [j for j in range(len(table.names)) if j != i]
    contexts = zip(*(originals.values(left, j) for j in others), strict=True) if others else [()] * len(pairs)
    names = [table.names[j] for j in others]
    weights = table.weights
    return tuple(
        EvidencePair(
            rows=rows,
            index=index,
            context=tuple(zip(names, context, strict=True)),
            values=values,
            labels=(plain(table.classes[table.labels[r]]), plain(table.classes[table.labels[s]])),
            weight=1 if weights is None else int(weights[r]) * int(weights[s]),
        )
        for (r, s), rows, index, context, values in zip(
            turned,
            zip(originals.positions(left), originals.positions(right), strict=True),
            zip(originals.row_names(left), originals.row_names(right), strict=True),
            contexts,
            zip(originals.values(left, i), originals.values(right, i), strict=True),
            strict=True,
        )
    )


def context_words(context: Sequence[tuple[str, Any]]) -> str:
    """A context in one line: name=value, name=value."""
    if not context:
        return "(no other features)"
    return ", ".join(f"{name}={shortened(str(value), 30)}" for name, value in context)


def change_words(name: str, two: tuple[Any, Any]) -> str:
    """A change from one word to another, or that it stayed the same."""
    a, b = (shortened(str(word), 24) for word in two)
    return f"{name} {a} {'→' if two[0] != two[1] else '='} {b}".strip()


def json_value(value: Any) -> Any:
    """A value as a type that JSON has."""
    value = plain(value)
    return value if value is None or isinstance(value, bool | int | float | str) else str(value)
