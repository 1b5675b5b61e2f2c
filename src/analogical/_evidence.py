"""The rows behind a score: the pairs, and how many go from which value and label to which."""

from collections.abc import Callable, Hashable, Iterator, Sequence
from dataclasses import dataclass
from itertools import islice
from typing import Any

import numpy as np

from analogical._checks import check_limit
from analogical._results import Result, entry_at, json_ready
from analogical._types import Bools, CodedRows, Codes, Ints, Note, Positions
from analogical.counting.contexts import Contexts
from analogical.counting.groups import rows_by_context
from analogical.counting.pairs import contexts_themselves
from analogical.encoding.columns import plain
from analogical.encoding.table import EncodedTable, encode_table
from analogical.engines.memory import MemoryEngine

__all__ = [
    "Evidence",
    "EvidencePair",
    "Only",
    "Transition",
    "Transitions",
    "evidence",
    "find_pairs",
    "first_rows",
    "name_pairs",
    "transitions",
]

Only = Callable[[int, Positions], Bools]
"""Which of some rows form a wanted pair with a row."""


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
            "index": json_ready(self.index),
            "context": {name: json_ready(value) for name, value in self.context},
            "values": json_ready(self.values),
            "labels": json_ready(self.labels),
            "changed": self.changed,
            "weight": self.weight,
        }


@dataclass(frozen=True, eq=False, repr=False)
class Evidence(Result):
    """Pairs of rows that differ on one feature only.

    ``evidence[0]`` is the first pair, ``len(evidence)`` how many are shown.

    Attributes
    ----------
    feature, label : str
        What differs, and what may change with it.
    n_pairs, n_changed : int
        All such pairs, and those whose labels differ.
    pairs : tuple of EvidencePair
        The pairs asked for, changed ones first, from as many contexts as possible.
    notes : tuple of Note
        What was done to the table before it was counted.
    """

    feature: str
    label: str
    n_pairs: int
    n_changed: int
    pairs: tuple[EvidencePair, ...]
    notes: tuple[Note, ...] = ()
    backend: str | None = None

    def __len__(self) -> int:
        return len(self.pairs)

    def __getitem__(self, position: int) -> EvidencePair:
        return self.pairs[position]

    def records(self) -> list[dict[str, Any]]:
        """One dictionary per pair: the two rows, the values and labels, then what the rows have in common."""
        return [
            {
                "row": pair.index[0],
                "other_row": pair.index[1],
                "value": json_ready(pair.values[0]),
                "other_value": json_ready(pair.values[1]),
                "label": json_ready(pair.labels[0]),
                "other_label": json_ready(pair.labels[1]),
                "changed": pair.changed,
                "weight": pair.weight,
                "context": {name: json_ready(value) for name, value in pair.context},
            }
            for pair in self.pairs
        ]

    def to_dict(self) -> dict[str, Any]:
        """Everything in plain Python types, ready for JSON."""
        return {
            "feature": self.feature,
            "label": self.label,
            "n_pairs": self.n_pairs,
            "n_changed": self.n_changed,
            "notes": json_ready(self.notes),
            "pairs": [pair.to_dict() for pair in self.pairs],
        }

    def columns(self) -> tuple[str, ...]:
        """Names of the columns of ``to_frame``."""
        rows = ("row", "other_row", "value", "other_value", "label", "other_label")
        return (*rows, "changed", "weight", "context")


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


@dataclass(frozen=True, eq=False, repr=False)
class Transitions(Result):
    """How many pairs of a feature go from which value and label to which; the counts add up to its pairs.

    ``transitions["red", "blue"]`` are those between two values, in either order.
    """

    feature: str
    label: str
    counts: tuple[Transition, ...]
    notes: tuple[Note, ...] = ()
    backend: str | None = None

    def __len__(self) -> int:
        return len(self.counts)

    def __getitem__(self, values: tuple[Any, Any]) -> tuple[Transition, ...]:
        found = tuple(t for t in self.counts if isinstance(values, tuple) and set(t.values) == set(values))
        if not found:
            known = dict.fromkeys(t.values for t in self.counts)
            entry_at(values, known, "change of value")
        return found

    @property
    def n_pairs(self) -> int:
        """All pairs."""
        return sum(t.pairs for t in self.counts)

    @property
    def n_changed(self) -> int:
        """Pairs whose labels differ."""
        return sum(t.pairs for t in self.counts if t.changed)

    def records(self) -> list[dict[str, Any]]:
        """One dictionary per change of value and label."""
        return [
            {
                "value": json_ready(t.values[0]),
                "other_value": json_ready(t.values[1]),
                "label": json_ready(t.labels[0]),
                "other_label": json_ready(t.labels[1]),
                "changed": t.changed,
                "pairs": t.pairs,
            }
            for t in self.counts
        ]

    def to_dict(self) -> dict[str, Any]:
        """Everything in plain Python types, ready for JSON."""
        return {
            "feature": self.feature,
            "label": self.label,
            "n_pairs": self.n_pairs,
            "n_changed": self.n_changed,
            "notes": json_ready(self.notes),
            "transitions": [json_ready(t) | {"changed": t.changed} for t in self.counts],
        }

    def columns(self) -> tuple[str, ...]:
        """Names of the columns of ``to_frame``."""
        return ("value", "other_value", "label", "other_label", "changed", "pairs")


def evidence(
    X: Any,
    y: Any,
    feature: str | int,
    *,
    weights: Any = None,
    features: Any = None,
    ignore: Any = None,
    limit: int | None = 6,
    feature_names: Sequence[str] | None = None,
) -> Evidence:
    """The pairs of rows that a feature's index was counted on.

    Parameters
    ----------
    X, y, weights, features, ignore, feature_names
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
    limit = check_limit(limit)
    table = encode_table(X, y, weights=weights, features=features, ignore=ignore, feature_names=feature_names)
    i = table.find(feature)
    counts = MemoryEngine().sum_contexts(table.coded, contexts_themselves, features=[i]).counts
    pairs = name_pairs(find_pairs(table.coded, i, limit), table, i)
    return Evidence(
        feature=table.names[i],
        label=table.label,
        n_pairs=int(counts.pairs[i]),
        n_changed=int(counts.changed[i]),
        pairs=pairs,
        notes=table.notes,
        backend=table.backend,
    )


def transitions(
    X: Any,
    y: Any,
    feature: str | int,
    *,
    weights: Any = None,
    features: Any = None,
    ignore: Any = None,
    feature_names: Sequence[str] | None = None,
) -> Transitions:
    """How many pairs go from which value and label to which, for one feature.

    Parameters
    ----------
    X, y, weights, features, ignore, feature_names
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
    table = encode_table(X, y, weights=weights, features=features, ignore=ignore, feature_names=feature_names)
    i = table.find(feature)
    sums = MemoryEngine().sum_contexts(table.coded, contexts_themselves, features=[i])
    contexts = sums.summaries[i]
    counts = () if contexts is None else _count_transitions(table, i, contexts)
    return Transitions(table.names[i], table.label, counts, table.notes, table.backend)


def _count_transitions(table: EncodedTable, i: int, contexts: Contexts) -> tuple[Transition, ...]:
    """Transitions of a feature, from the products of the cells of each context."""
    from scipy.sparse import csr_array

    n_classes, n_values = len(table.classes), int(table.n_values[i])
    kind = contexts.values.astype(np.int64) * n_classes + contexts.labels
    shape = (len(contexts), n_values * n_classes)
    rows = csr_array((contexts.sizes, (contexts.owner, kind)), shape=shape)
    times = csr_array((contexts.sizes * contexts.times[contexts.owner], (contexts.owner, kind)), shape=shape)
    together = (rows.T @ times).tocoo()
    rank = np.argsort(np.argsort(first_rows(table.codes[:, i], n_values)))
    (a, p), (b, q) = (np.divmod(side, n_classes) for side in together.coords)
    order = np.lexsort((q, p, rank[b], rank[a]))
    forward = order[rank[a[order]] < rank[b[order]]]
    values, classes = table.columns[i].values, table.classes
    return tuple(
        Transition((plain(values[a[k]]), plain(values[b[k]])), (classes[p[k]], classes[q[k]]), int(together.data[k]))
        for k in forward.tolist()
    )


def first_rows(column: Codes, n_values: int) -> Ints:
    """The row in which each value occurs first."""
    firsts = np.empty(n_values, dtype=np.int64)
    firsts[column[::-1]] = np.arange(len(column))[::-1]
    return firsts


# ---------------------------------------------------------------- pairs, one at a time


def find_pairs(rows: CodedRows, i: int, limit: int | None, only: Only | None = None) -> list[tuple[int, int]]:
    """Pairs of rows for feature i: changed ones first, in turn from each context.

    With ``only``, changed pairs for which it is true: a row against an array of later ones.
    """
    column, labels = rows.codes[:, i], rows.labels
    order, starts = rows_by_context(rows, i)
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


def _varies(values: Codes, starts: Positions) -> Bools:
    """Whether a context holds two different values."""
    varies: Bools = np.minimum.reduceat(values, starts) != np.maximum.reduceat(values, starts)
    return varies


def _pairs_of(
    rows: Positions, column: Codes, labels: Codes, changed: bool, only: Only | None
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
        if n_given == enough:
            return
        first = next(stream, None)
        if first is not None:
            yield first
            alive.append(stream)
            n_given += 1
    while alive:
        following = []
        for stream in alive:
            pair = next(stream, None)
            if pair is not None:
                yield pair
                following.append(stream)
        alive = following


def name_pairs(pairs: Sequence[tuple[int, int]], table: EncodedTable, i: int) -> tuple[EvidencePair, ...]:
    """Pairs of encoded rows with the user's values, names and labels."""
    firsts = first_rows(table.codes[:, i], int(table.n_values[i]))
    rows = table.coded
    others = [j for j in range(len(table.names)) if j != i]

    def name(r: int, s: int) -> EvidencePair:
        if firsts[rows.codes[r, i]] > firsts[rows.codes[s, i]]:
            r, s = s, r
        row, other_row = table.positions((r, s))
        index, other_index = table.row_names((r, s))
        value, other_value = table.cells((r, s), i)
        label, other_label = (table.classes[rows.labels[k]] for k in (r, s))
        return EvidencePair(
            rows=(row, other_row),
            index=(index, other_index),
            context=tuple((table.names[j], table.cells((r,), j)[0]) for j in others),
            values=(value, other_value),
            labels=(label, other_label),
            weight=1 if rows.weights is None else int(rows.weights[r]) * int(rows.weights[s]),
        )

    return tuple(name(r, s) for r, s in pairs)
