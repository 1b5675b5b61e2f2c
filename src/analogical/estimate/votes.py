"""How well features predict the label together: votes of the rows that agree on them, leaving one row out.

A row is predicted by the other rows that agree with it on the chosen features. With N the rows of its cell and N_y
those of label y, the row itself left out, its prediction is

    q'(y) = (N_y + a q(y)) / (N + a)

where q is the prediction before the last feature was added: the fewer rows agree, the more the vote of fewer features
counts. The gain of a feature is the rise of the log-likelihood in nats. A feature that divides the cells too finely may
have a larger gain with a vote of its own, over all rows that share its value:

    q'(y) ~ q(y) * P(value | y) / P(value)

(naive Bayes, again with the row left out), so both ways are tried. Because the row is left out, an unrelated feature
has a negative gain on average.
"""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace
from functools import partial
from typing import Literal, NamedTuple

import numpy as np

from analogical._types import Bools, CodedRows, Floats, Ints, Positions
from analogical.count.groups import are_few, count_keys, merge_rare
from analogical.count.threads import run_tasks

__all__ = ["Candidate", "State", "Voting"]

BACK_OFF = 3.0
"""The a above: pseudo-rows of the vote of fewer features. From 1 to 5 real tables and recovery hardly differ."""
MANY_CLASSES = 50
"""Largest number of classes that are kept apart; the rarest of more are merged: memory."""
BLOCK = 2**18
"""Rows times features that are processed together: memory."""

Way = Literal["joint", "own"]
"""A feature votes together with others, or on its own."""


class Candidate(NamedTuple):
    """The gain of a feature in nats, and the way of voting with the larger gain."""

    gain: float
    way: Way


class Ballot(NamedTuple):
    """The votes of the other rows of its cell, for a row of each entry."""

    cell: Positions
    """Cell of each entry: the rows that agree on the features that vote together."""
    cell_sizes: Floats
    """Rows in the cell of each entry."""
    shares: Floats
    """Shape (entries, classes)."""
    is_settled: Bools
    """Whether all rows of the cell have the same label, so that no feature can improve the vote."""

    def of_parts(self, parent: Positions) -> "Ballot":
        """The same votes for parts of the entries."""
        return Ballot(self.cell[parent], self.cell_sizes[parent], self.shares[parent], self.is_settled[parent])


@dataclass(frozen=True)
class State:
    """Some features, and the prediction of every row by them.

    Rows with the same values on the features and the same label have the same prediction, and are one entry.
    """

    features: tuple[int, ...]
    of_row: Positions
    """Entry of each row."""
    labels: Positions
    """Label of each entry."""
    sizes: Ints
    """Rows of each entry, with their weights."""
    joint: Ballot
    """The vote of the features that vote together."""
    own: Floats
    """Product of the votes of features that vote on their own: shape (entries, classes)."""
    value: float
    """Log-likelihood of the labels, in nats."""

    def shares(self) -> Floats:
        """Predicted label shares of each entry."""
        both = self.joint.shares * self.own
        return np.asarray(both / both.sum(axis=1, keepdims=True))


class Voting:
    """The votes of the rows of a table, with a cache of the states of lists of features."""

    def __init__(self, rows: CodedRows, n_threads: int = 1) -> None:
        rows = rows if rows.weights is None or rows.weights.all() else rows.take(rows.weights > 0)
        self.rows, self.n_threads = _fewer_classes(rows), n_threads
        self.varies = rows.codes.max(axis=0) != rows.codes.min(axis=0)
        self.class_sizes: Floats = self.rows.label_sizes().astype(np.float64)
        self.start = self._vote_of_all()
        self._known: dict[tuple[tuple[int, ...], frozenset[int]], State] = {}

    def candidates(self, state: State, features: Iterable[int]) -> dict[int, Candidate]:
        """The gain of each of the features."""
        ordered = sorted(features, key=lambda f: int(self.rows.n_values[f]))  # so that blocks have similar features
        at_once = max(1, BLOCK // len(self.rows.codes))
        candidates: dict[int, Candidate] = {}

        def look(block: list[int]) -> None:
            candidates.update(zip(block, self._candidates_of(state, block), strict=True))

        run_tasks([partial(look, ordered[k : k + at_once]) for k in range(0, len(ordered), at_once)], self.n_threads)
        return candidates

    def follow(self, features: Sequence[int], together: frozenset[int] = frozenset()) -> State:
        """The state with these features in order, each voting in the way with the larger gain.

        Features in ``together`` vote together, whatever their gain without the others.
        """
        if not features:
            return self.start
        key = tuple(features), together.intersection(features)
        if key not in self._known:
            before, last = self.follow(key[0][:-1], together), key[0][-1]
            way: Way = "joint" if last in together else self._candidates_of(before, [last])[0].way
            self._known[key] = self._added(before, last, way)
        return self._known[key]

    def _candidates_of(self, state: State, block: list[int]) -> list[Candidate]:
        """The gain of each feature of a block."""
        parts = _Parts(self.rows, state, block)
        before, own = state.joint.of_parts(parts.parent), state.own[parts.parent]
        ways: dict[Way, Floats] = {"joint": parts.values(parts.joined(before).shares, own)}
        if state.features:
            ways["own"] = parts.values(before.shares * own, parts.alone(self.class_sizes))
        best = [max(ways, key=lambda way: ways[way][place]) for place in range(len(block))]
        return [Candidate(float(ways[way][place]) - state.value, way) for place, way in enumerate(best)]

    def _added(self, before: State, feature: int, way: Way) -> State:
        """The state with one more feature, which votes in this way."""
        parts = _Parts(self.rows, before, [feature])
        joint, own = before.joint.of_parts(parts.parent), before.own[parts.parent]
        if way == "joint":
            joint = parts.joined(joint)
        else:
            own = own * parts.alone(self.class_sizes)
            own /= own.sum(axis=1, keepdims=True)
        keys = before.of_row * parts.n_values + self.rows.codes[:, feature]
        of_row = np.searchsorted(parts.parent * parts.n_values + parts.value, keys)  # parts are in this order
        value = float(parts.values(joint.shares, own)[0])
        return State((*before.features, feature), of_row, parts.labels, parts.sizes, joint, own, value)

    def _vote_of_all(self) -> State:
        """The vote of all rows, plus one row of every class, so that none has probability 0."""
        labels = np.flatnonzero(self.class_sizes)
        n, sizes, of_row = len(labels), self.rows.label_sizes()[labels], np.searchsorted(labels, self.rows.labels)
        shares = np.tile(self.class_sizes + 1, (n, 1))
        shares[np.arange(n), labels] -= 1
        shares /= self.rows.n_rows - 1 + self.rows.n_labels
        ballot = Ballot(np.zeros(n, np.intp), np.full(n, float(self.rows.n_rows)), shares, np.zeros(n, np.bool_))
        value = float(sizes @ _log_shares(shares, labels))
        return State((), of_row, labels, sizes, ballot, np.ones_like(shares), value)


class _Parts:
    """The entries of a state divided by the values of each of several features separately, and votes for these parts.

    Empty parts are left out. Parts are ordered by feature, entry and value.
    """

    def __init__(self, rows: CodedRows, state: State, features: list[int]) -> None:
        self.n_classes, self.n_features = rows.n_labels, len(features)
        self.n_values = int(rows.n_values[features].max())
        """Number of values of the feature with most values."""
        n_keys = len(state.sizes) * self.n_values
        keys = (state.of_row * self.n_values)[:, None] + rows.codes[:, features] + np.arange(len(features)) * n_keys
        weights = None if rows.weights is None else np.repeat(rows.weights, len(features))
        held, self.sizes = count_keys(keys.ravel(), n_keys * len(features), weights)
        self.feature, held = np.divmod(held, n_keys)
        """Position among the features of the one that divides."""
        self.parent, self.value = np.divmod(held, self.n_values)
        """Entry that is divided, and value of the feature."""
        self.labels = state.labels[self.parent]

    def joined(self, before: Ballot) -> Ballot:
        """The votes of cells divided by one more feature, backed off to the votes before.

        Rows of a cell that the feature does not divide, or in which all labels agree, keep their vote: counting the
        same rows again would only make the vote more certain.
        """
        n_before = int(before.cell.max(initial=0)) + 1
        cell, n_cells = _numbered((self.feature * n_before + before.cell) * self.n_values + self.value)
        counts = self._by_class(cell, n_cells)
        sizes = counts.sum(axis=1)[cell]
        shares = counts[cell] + BACK_OFF * before.shares
        shares[np.arange(len(cell)), self.labels] -= 1
        shares /= (sizes - 1 + BACK_OFF)[:, None]
        kept = (sizes == before.cell_sizes) | before.is_settled
        shares[kept] = before.shares[kept]
        return Ballot(cell, sizes, shares, counts[cell, self.labels] == sizes)

    def alone(self, class_sizes: Floats) -> Floats:
        """P(value | label) / P(value) for each label, the row itself left out."""
        cell = self.feature * self.n_values + self.value
        counts = self._by_class(cell, self.n_features * self.n_values)
        with_value = counts[cell]
        with_label = np.tile(class_sizes, (len(cell), 1))
        mine = np.arange(len(cell)), self.labels
        with_value[mine] -= 1
        with_label[mine] -= 1
        n_present = counts.any(axis=1).reshape(self.n_features, self.n_values).sum(axis=1)[self.feature]
        over_all = (with_value.sum(axis=1) + 1) / (class_sizes.sum() - 1 + n_present)
        shares = (with_value + BACK_OFF * over_all[:, None]) / (with_label + BACK_OFF)
        return np.asarray(shares / over_all[:, None])

    def values(self, votes: Floats, more: Floats) -> Floats:
        """Log-likelihood of the labels under the product of two votes, for each of the features."""
        logs = self.sizes * _log_shares(votes * more, self.labels)
        return np.bincount(self.feature, logs, minlength=self.n_features).astype(np.float64)

    def _by_class(self, cell: Positions, n_cells: int) -> Floats:
        """Rows of each cell by class: shape (cells, classes)."""
        table = np.bincount(cell * self.n_classes + self.labels, self.sizes, minlength=n_cells * self.n_classes)
        return table.reshape(n_cells, self.n_classes).astype(np.float64, copy=False)


def _log_shares(shares: Floats, labels: Positions) -> Floats:
    """Log of the predicted share of each label; ``shares`` need not sum to 1."""
    return np.asarray(np.log(shares[np.arange(len(labels)), labels]) - np.log(shares.sum(axis=1)))


def _numbered(cells: Positions) -> tuple[Positions, int]:
    """Cells numbered from 0, and an upper limit of their number."""
    n_cells = int(cells.max(initial=-1)) + 1
    if are_few(n_cells, len(cells)):
        return cells, n_cells
    known, places = np.unique(cells, return_inverse=True)
    return places, len(known)


def _fewer_classes(rows: CodedRows) -> CodedRows:
    """The rows with the rarest classes merged."""
    if rows.n_labels <= MANY_CLASSES:
        return rows
    labels = merge_rare(rows.label_sizes(), MANY_CLASSES).astype(np.uint8)[rows.labels]
    return replace(rows, labels=labels, n_labels=MANY_CLASSES)
