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

from analogical._types import Bools, CodedRows, Floats, Positions
from analogical.count.entries import Entries, Parts
from analogical.count.groups import are_few, merge_rare
from analogical.count.threads import Task, run_tasks

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
    """Some features, and the prediction of every row by them."""

    features: tuple[int, ...]
    entries: Entries
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
        entries = Entries.by_label(self.rows)
        sizes = np.bincount(entries.labels, entries.sizes, minlength=self.rows.n_labels)
        self.class_sizes: Floats = sizes.astype(np.float64)
        ballot = self._vote_of_all(entries)
        value = float(entries.sizes @ _log_shares(ballot.shares, entries.labels))
        self.start = State((), entries, ballot, np.ones_like(ballot.shares), value)
        self.forget()

    def candidates(self, state: State, features: Iterable[int]) -> dict[int, Candidate]:
        """The gain of each of the features."""
        left = sorted(features, key=lambda f: int(self.rows.n_values[f]))  # a block has as many values as its last one
        at_once = max(1, BLOCK // len(self.rows.codes))
        candidates: dict[int, Candidate] = {}

        def look(block: list[int]) -> list[Task]:
            candidates.update(zip(block, self._candidates_of(state, block), strict=True))
            return []

        run_tasks([partial(look, left[k : k + at_once]) for k in range(0, len(left), at_once)], self.n_threads)
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

    def gain_of(self, state: State, features: Sequence[int]) -> float:
        """The gain of features that vote together."""
        parts = state.entries.divided(self.rows, list(features))
        votes = _PartVotes(self.rows.n_labels, state.entries.labels[parts.parent], parts)
        ballot, left = state.joint.of_parts(parts.parent), parts.value
        n_left = int(np.prod(self.rows.n_values[list(features)]))
        for feature in features:
            n_values = int(self.rows.n_values[feature])
            n_left //= n_values
            value, left = np.divmod(left, n_left)
            ballot = votes.joined(ballot, value, n_values)
        return float(votes.values(ballot.shares, state.own[parts.parent])[0]) - state.value

    def forget(self) -> None:
        """Empty the cache, which holds a number for each row and list of features."""
        self._known: dict[tuple[tuple[int, ...], frozenset[int]], State] = {}

    def _candidates_of(self, state: State, block: list[int]) -> list[Candidate]:
        """The gain of each feature of a block."""
        n_values = int(self.rows.n_values[block[-1]])
        parts = state.entries.divided_by_each(self.rows, block)
        votes = _PartVotes(self.rows.n_labels, state.entries.labels[parts.parent], parts)
        before, own = state.joint.of_parts(parts.parent), state.own[parts.parent]
        ways: dict[Way, Floats] = {"joint": votes.values(votes.joined(before, parts.value, n_values).shares, own)}
        if state.features:
            alone = votes.alone(parts.value, n_values, self.class_sizes)
            ways["own"] = votes.values(before.shares * own, alone)
        best = [max(ways, key=lambda way: ways[way][place]) for place in range(len(block))]
        return [Candidate(float(ways[way][place]) - state.value, way) for place, way in enumerate(best)]

    def _added(self, before: State, feature: int, way: Way) -> State:
        """The state with one more feature, which votes in this way."""
        n_values = int(self.rows.n_values[feature])
        parts = before.entries.divided(self.rows, [feature])
        entries = before.entries.refined(self.rows, [feature])
        votes = _PartVotes(self.rows.n_labels, entries.labels, parts)
        joint, own = before.joint.of_parts(parts.parent), before.own[parts.parent]
        if way == "joint":
            joint = votes.joined(joint, parts.value, n_values)
        else:
            own = own * votes.alone(parts.value, n_values, self.class_sizes)
            own /= own.sum(axis=1, keepdims=True)
        value = float(parts.sizes @ _log_shares(joint.shares * own, entries.labels))
        return State((*before.features, feature), entries, joint, own, value)

    def _vote_of_all(self, entries: Entries) -> Ballot:
        """The vote of all rows, plus one row of every class, so that none has probability 0."""
        shares = np.tile(self.class_sizes + 1, (len(entries), 1))
        shares[np.arange(len(entries)), entries.labels] -= 1
        shares /= self.rows.n_rows - 1 + self.rows.n_labels
        n = len(entries)
        return Ballot(np.zeros(n, np.intp), np.full(n, float(self.rows.n_rows)), shares, np.zeros(n, np.bool_))


class _PartVotes:
    """Votes for parts of entries, divided by one or more features."""

    def __init__(self, n_classes: int, labels: Positions, parts: Parts) -> None:
        self.n_classes, self.labels, self.parts = n_classes, labels, parts

    def joined(self, before: Ballot, value: Positions, n_values: int) -> Ballot:
        """The votes of cells divided by one more feature, backed off to the votes before.

        Rows of a cell that the feature does not divide, or in which all labels agree, keep their vote: counting the
        same rows again would only make the vote more certain.
        """
        n_before = int(before.cell.max(initial=0)) + 1
        cell, n_cells = _numbered((self.parts.owner * n_before + before.cell) * n_values + value)
        table = np.bincount(cell * self.n_classes + self.labels, self.parts.sizes, minlength=n_cells * self.n_classes)
        counts = table.reshape(n_cells, self.n_classes)
        sizes = counts.sum(axis=1)[cell]
        shares = counts[cell] + BACK_OFF * before.shares
        shares[np.arange(len(cell)), self.labels] -= 1
        shares /= (sizes - 1 + BACK_OFF)[:, None]
        kept = (sizes == before.cell_sizes) | before.is_settled
        shares[kept] = before.shares[kept]
        return Ballot(cell, sizes, shares, counts[cell, self.labels] == sizes)

    def alone(self, value: Positions, n_values: int, class_sizes: Floats) -> Floats:
        """P(value | label) / P(value) for each label, the row itself left out."""
        n_owners, key = self.parts.n_owners, self.parts.owner * n_values + value
        n_cells = n_owners * n_values
        table = np.bincount(key * self.n_classes + self.labels, self.parts.sizes, minlength=n_cells * self.n_classes)
        counts = table.reshape(n_cells, self.n_classes)
        with_value = counts[key]
        with_label = np.tile(class_sizes, (len(value), 1))
        mine = np.arange(len(value)), self.labels
        with_value[mine] -= 1
        with_label[mine] -= 1
        n_present = counts.any(axis=1).reshape(n_owners, n_values).sum(axis=1)[self.parts.owner]
        over_all = (with_value.sum(axis=1) + 1) / (class_sizes.sum() - 1 + n_present)
        shares = (with_value + BACK_OFF * over_all[:, None]) / (with_label + BACK_OFF)
        return np.asarray(shares / over_all[:, None])

    def values(self, votes: Floats, more: Floats) -> Floats:
        """Log-likelihood of the labels under the product of two votes, for each feature of a block."""
        logs = self.parts.sizes * _log_shares(votes * more, self.labels)
        return np.bincount(self.parts.owner, logs, minlength=self.parts.n_owners).astype(np.float64)


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
