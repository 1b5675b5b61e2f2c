"""Which features predict the label best together: rows that agree on the chosen features vote, each row left out.

A row is predicted by the other rows that agree with it on the chosen features. With N the rows of its cell and N_y
those of label y, the row itself left out, its prediction is

    q'(y) = (N_y + a q(y)) / (N + a)

where q is the prediction before the last feature was added: where few rows agree, the vote of fewer features counts
more. What a feature adds is the rise of the log-likelihood, in nats. A feature that divides the cells too finely may
earn more with a vote of its own, over all rows that share its value:

    q'(y) ~ q(y) * P(value | y) / P(value)

(naive Bayes, again with the row left out), so both ways are tried. Leaving out the row makes the gain of a feature that
does nothing negative on average, so a small gate keeps out what luck alone would find.

Where no single feature passes the gate, pairs among the best features of the index are tried, which finds features
that act only together. Where no pair does, the index decides: its next feature is taken on trial, and if a later one
passes the gate with it, both belong to an interaction of three or more.
"""

from collections.abc import Callable
from dataclasses import dataclass, replace
from functools import cached_property
from typing import Literal, NamedTuple

import numpy as np

from analogical._progress import Progress
from analogical._types import Bools, CodedRows, Floats, Positions
from analogical.counting.entries import Entries, Parts
from analogical.counting.threads import Task, n_threads_for, run_tasks

__all__ = ["Index", "Step", "Together", "Why", "choose_together"]

BACK_OFF = 3.0
"""Rows that the vote of fewer features stands for, the a above. From 1 to 5 real tables and recovery hardly differ."""
GATE = 2.0
"""A feature must earn so many times ln(number of features) nats. Below, xor-like rules lose their features to luck
(recovery .929 with 1, .960 with 1.5, .971 with 2 and with 3); shuffled labels hardly ever pass it."""
FEWEST = 10
"""Fewer features count as so many: the gate of two or three features alone would be passed by luck too often."""
POOL = 8
"""Best features of the index whose pairs are tried where no single feature earns its keep."""
FEW_CLASSES, MANY_CLASSES = 10, 50
"""Of more classes the most frequent ones vote by themselves and all others as one: 50, or on tall tables down to 10."""
VOTES = 50_000_000
"""Rows times classes that may vote."""
BLOCK = 2**18
"""Rows times features that are looked at together."""
TIE = 1e-9
"""Gains that differ by less, as a share of the log-likelihood, are equal: rounding must not decide."""

Why = Literal["gain", "interaction", "index"]
"""It adds enough to what was chosen before; it does so together with its partners; or the index put it next."""


class Step(NamedTuple):
    """One feature of the selection."""

    feature: int
    gain: float
    """Nats that it added to what was chosen before it."""
    value: float
    """Log-likelihood of the labels after it."""
    why: Why
    partners: tuple[int, ...] = ()
    """Features that it acts together with."""


class Index(NamedTuple):
    """What the index says, for where votes say nothing."""

    order: Positions
    """Features, best first."""
    is_told: Bools
    """Which of them are told from noise."""


@dataclass(frozen=True)
class Together:
    """The features in the order chosen, and what is left."""

    steps: tuple[Step, ...]
    need: float
    """Nats that a single feature must add."""
    alone: Floats
    """For every feature, nats that it adds to nothing; NaN for constant ones."""
    further: Floats
    """For every feature that was not chosen, nats that it would add to the chosen ones; NaN for the others."""
    carried_by: tuple[tuple[int, ...], ...]
    """For every feature that tells something alone and nothing more beside the chosen ones: the chosen one that tells
    the same, or several if only all of them do. Empty for other features."""
    log_likelihood: float
    """Of the labels, each predicted without itself, before the first feature; in nats."""
    n_classes: int
    """Classes that voted."""

    @property
    def stop(self) -> int | None:
        """After how many features no other single one earned its keep; None if the next one still does."""
        if (self.further >= self.need).any():
            return None
        by_index = [place for place, step in enumerate(self.steps) if step.why == "index"]
        return by_index[0] if by_index else len(self.steps)


def choose_together(
    rows: CodedRows,
    k: int | None,
    index: Callable[[], Index],
    *,
    n_jobs: int | None = None,
    progress: Progress | None = None,
) -> Together:
    """The k features that predict the label best together, by greedy choice.

    With ``k`` None it ends when nothing earns its keep and the index tells nothing else from noise. ``index`` is asked
    at most once, and only if votes do not decide. The cost is one count of the rows for each feature and step.
    """
    rows = rows if rows.weights is None or rows.weights.all() else rows.take(rows.weights > 0)
    search = _Search(_fewer_classes(rows), index, n_threads_for(n_jobs, rows.codes.size))
    limit = rows.n_features if k is None else min(k, rows.n_features)
    while len(search.steps) < limit:
        if progress is not None and k is not None:
            progress(len(search.steps), limit)
        if not search.take_next(limit - len(search.steps), must_take=k is not None):
            break
    if progress is not None and k is not None:
        progress(limit, limit)
    return search.result()


class _Votes(NamedTuple):
    """How the other rows of its cell vote on a row of each entry."""

    cell: Positions
    """Cell of each entry: rows that agree on the features that vote together."""
    cell_sizes: Floats
    """Rows in the cell of each entry."""
    shares: Floats
    """Shape (entries, classes)."""
    is_settled: Bools
    """Whether all rows of the cell have the same label: no feature can tell them more."""

    def of_parts(self, parent: Positions) -> "_Votes":
        """The same votes for the parts that entries are divided into."""
        return _Votes(self.cell[parent], self.cell_sizes[parent], self.shares[parent], self.is_settled[parent])


@dataclass(frozen=True)
class _State:
    """What was chosen so far, and how every row is predicted by it."""

    entries: Entries
    joint: _Votes
    """The vote of the features that vote together."""
    own: Floats
    """Shape (entries, classes): the product of the votes of features that vote on their own."""
    value: float
    """Log-likelihood of the labels."""
    trial: _Votes | None = None
    """The joint vote with the features on trial as well."""


Way = Literal["joint", "own", "trial"]
"""A feature votes together with others, on its own, or together with others and those on trial."""


class _Candidate(NamedTuple):
    """What a feature would add, and in which way."""

    gain: float
    way: Way


class _Search:
    """The greedy search: its state, and what was chosen."""

    def __init__(self, rows: CodedRows, index: Callable[[], Index], n_threads: int) -> None:
        self.rows, self.n_threads = rows, n_threads
        self.ask_index = index
        self.varies = rows.codes.max(axis=0) != rows.codes.min(axis=0)
        n_varying = max(FEWEST, int(np.count_nonzero(self.varies)))
        self.need = GATE * float(np.log(n_varying))
        self.need_of_pair = GATE * float(np.log(n_varying * (n_varying - 1) // 2))
        self.steps: list[Step] = []
        self.on_trial: list[int] = []
        self.determined: set[int] = set()
        """Features that cannot divide what was chosen, because a chosen one determines them."""
        entries = Entries.by_label(rows)
        sizes = np.bincount(entries.labels, entries.sizes, minlength=rows.n_labels)
        self.class_sizes: Floats = sizes.astype(np.float64)
        votes = self._vote_of_all(entries)
        value = float(entries.sizes @ _log_shares(votes.shares, entries.labels))
        self.state = _State(entries, votes, np.ones_like(votes.shares), value)
        self.start = self.state.value
        self.candidates = self._candidates()
        self.alone = np.array([np.nan if c is None else c.gain for c in self.candidates])

    @property
    def chosen(self) -> list[int]:
        return [step.feature for step in self.steps]

    @cached_property
    def index(self) -> Index:
        return self.ask_index()

    def take_next(self, room: int, *, must_take: bool) -> bool:
        """Choose one more feature, or two that act together; False if none is worth it."""
        best = self._best()
        if best is not None and self._gain(best) >= self.need:
            self._take(best)
        elif room >= 2 and (pair := self._best_pair()) is not None:
            self._take_pair(*pair)
        elif (feature := self._next_of_index(must_take=must_take)) is not None:
            self._take_on_trial(feature)
        else:
            return False
        self.candidates = self._candidates()
        return True

    def result(self) -> Together:
        further = np.array([np.nan if c is None else c.gain for c in self.candidates])
        further[list(self.determined - set(self.chosen))] = 0.0
        return Together(
            tuple(self.steps),
            self.need,
            self.alone,
            further,
            tuple(self._carriers(f, float(further[f])) for f in range(self.rows.n_features)),
            self.start,
            self.rows.n_labels,
        )

    # ------------------------------------------------------------ what features would add

    def _candidates(self) -> list[_Candidate | None]:
        """What every feature would add; None for those that are chosen, constant or determined."""
        skip = {*self.chosen, *self.determined}
        left = [f for f in np.flatnonzero(self.varies).tolist() if f not in skip]
        left.sort(key=lambda f: int(self.rows.n_values[f]))  # a block of features has as many values as the last one
        at_once = max(1, BLOCK // len(self.rows.codes))
        found: list[_Candidate | None] = [None] * self.rows.n_features

        def task(block: list[int]) -> Task:
            def run() -> list[Task]:
                for feature, candidate in zip(block, self._candidates_of(block), strict=True):
                    found[feature] = candidate
                return []

            return run

        run_tasks([task(left[k : k + at_once]) for k in range(0, len(left), at_once)], self.n_threads)
        return found

    def _candidates_of(self, block: list[int]) -> list[_Candidate]:
        """What each feature of a block would add."""
        state, n_values = self.state, int(self.rows.n_values[block[-1]])
        parts = state.entries.divided_by_each(self.rows, block)
        votes = _PartVotes(self.rows.n_labels, state.entries.labels[parts.parent], parts)
        ways: dict[Way, Floats] = {"joint": votes.values(votes.joined(state.joint, parts.value, n_values), state.own)}
        if self.steps:
            own = votes.alone(parts.value, n_values, self.class_sizes)
            ways["own"] = votes.values(state.joint.shares[parts.parent], state.own, own)
        if state.trial is not None:
            ways["trial"] = votes.values(votes.joined(state.trial, parts.value, n_values), state.own)
        best = [max(ways, key=lambda way: ways[way][place]) for place in range(len(block))]
        return [_Candidate(float(ways[way][place]) - state.value, way) for place, way in enumerate(best)]

    def _gain(self, feature: int) -> float:
        candidate = self.candidates[feature]
        return -np.inf if candidate is None else candidate.gain

    def _best(self) -> int | None:
        """The feature that adds most, the first one of those that add the same; none that a chosen one determines."""
        while True:
            gains = np.array([self._gain(f) for f in range(self.rows.n_features)])
            best = int(np.argmax(gains >= gains.max() - TIE * abs(self.state.value)))
            if gains[best] == -np.inf:
                return None
            if gains[best] < self.need or not self._is_determined(best):
                return best
            self.determined.add(best)
            self.candidates[best] = None

    def _is_determined(self, feature: int) -> bool:
        """Whether a chosen feature, or those that vote together, have one value of this feature in every cell."""
        if not self.steps:
            return False
        entries = self.state.entries
        parts = entries.divided(self.rows, [feature])
        cells = [self.state.joint.cell[parts.parent]]
        cells += [self.rows.codes[entries.first_row[parts.parent], f].astype(np.intp) for f in self.chosen]
        return any(_determines(cell, parts.value) for cell in cells)

    def _best_pair(self) -> tuple[int, int] | None:
        """Two of the best features of the index that together add enough."""
        skip = {*self.chosen, *self.determined}
        pool = [f for f in self.index.order.tolist() if f not in skip and self.varies[f]][:POOL]
        best, most = None, self.need_of_pair - TIE * abs(self.state.value)
        for place, first in enumerate(pool):
            for second in pool[place + 1 :]:
                if self.rows.n_values[first] * self.rows.n_values[second] <= len(self.rows.codes):
                    gain = self._gain_of_pair(first, second)
                    if gain > most + TIE * abs(self.state.value):
                        best, most = (first, second), gain
        return best

    def _gain_of_pair(self, first: int, second: int) -> float:
        state, sizes = self.state, self.rows.n_values
        parts = state.entries.divided(self.rows, [first, second])
        votes = _PartVotes(self.rows.n_labels, state.entries.labels[parts.parent], parts)
        of_first, of_second = np.divmod(parts.value, int(sizes[second]))
        one = votes.joined(state.joint, of_first, int(sizes[first]))
        both = votes.joined(one, of_second, int(sizes[second]), is_of_parts=True)
        return votes.value(both, state.own) - state.value

    def _next_of_index(self, *, must_take: bool) -> int | None:
        """The next feature of the index; if none must be taken, one that it tells from noise and that is not carried.

        What tells something alone but adds nothing to the chosen features says the same as they do.
        """
        left = [f for f in self.index.order.tolist() if f not in self.chosen]
        new = (f for f in left if self.varies[f] and f not in self.determined and not self._is_determined(f))
        if must_take:
            return next(new, left[0] if left else None)
        return next((f for f in new if self.index.is_told[f] and self.alone[f] < self.need), None)

    # ------------------------------------------------------------ choosing

    def _take(self, feature: int) -> None:
        candidate = self.candidates[feature]
        if candidate is None:
            raise AssertionError("only what would add something is taken")
        before, n_values = self.state, int(self.rows.n_values[feature])
        entries, parts, votes = self._refine(feature)
        joint = before.joint.of_parts(parts.parent)
        own = before.own[parts.parent]
        trial = None if before.trial is None else before.trial.of_parts(parts.parent)
        partners: tuple[int, ...] = ()
        if candidate.way == "joint":
            joint = votes.joined(before.joint, parts.value, n_values)
            trial = None if before.trial is None else votes.joined(before.trial, parts.value, n_values)
        elif candidate.way == "own":
            own = own * votes.alone(parts.value, n_values, self.class_sizes)
            own /= own.sum(axis=1, keepdims=True)
        elif before.trial is not None:
            joint, trial = votes.joined(before.trial, parts.value, n_values), None
            partners = tuple(self.on_trial)
            self._confirm(feature)
        self.state = _State(entries, joint, own, before.value + candidate.gain, trial)
        why: Why = "interaction" if partners else "gain"
        self.steps.append(Step(feature, candidate.gain, self.state.value, why, partners))

    def _confirm(self, feature: int) -> None:
        """The features on trial act together with this one."""
        together = (*self.on_trial, feature)
        self.steps = [
            step._replace(why="interaction", partners=tuple(f for f in together if f != step.feature))
            if step.feature in self.on_trial
            else step
            for step in self.steps
        ]
        self.on_trial = []

    def _take_pair(self, first: int, second: int) -> None:
        for feature, partner in ((first, second), (second, first)):
            before, n_values = self.state, int(self.rows.n_values[feature])
            entries, parts, votes = self._refine(feature)
            joint = votes.joined(before.joint, parts.value, n_values)
            trial = None if before.trial is None else votes.joined(before.trial, parts.value, n_values)
            value = votes.value(joint, before.own)
            self.state = _State(entries, joint, before.own[parts.parent], value, trial)
            self.steps.append(Step(feature, value - before.value, value, "interaction", (partner,)))

    def _take_on_trial(self, feature: int) -> None:
        gain = self._gain(feature)
        before = self.state
        entries, parts, votes = self._refine(feature)
        trial = votes.joined(before.trial or before.joint, parts.value, int(self.rows.n_values[feature]))
        joint = before.joint.of_parts(parts.parent)
        self.state = _State(entries, joint, before.own[parts.parent], before.value, trial)
        self.steps.append(Step(feature, gain if np.isfinite(gain) else 0.0, before.value, "index"))
        self.on_trial.append(feature)

    def _refine(self, feature: int) -> tuple[Entries, Parts, "_PartVotes"]:
        before = self.state.entries
        entries, parts = before.refined(self.rows, [feature]), before.divided(self.rows, [feature])
        return entries, parts, _PartVotes(self.rows.n_labels, entries.labels, parts)

    # ------------------------------------------------------------ what was left out

    def _carriers(self, feature: int, further: float) -> tuple[int, ...]:
        """The chosen feature beside which this one adds least, if that is too little; else all, if they carry it."""
        is_carried = self.steps and self.alone[feature] >= self.need and further < self.need
        if not is_carried:
            return ()
        entries, n_values = self.state.entries, self.rows.n_values
        parts = entries.divided(self.rows, [feature])
        votes = _PartVotes(self.rows.n_labels, entries.labels[parts.parent], parts)
        root = self._vote_of_all(entries)
        added = []
        for step in self.steps:
            values = self.rows.codes[entries.first_row[parts.parent], step.feature].astype(np.intp)
            one = votes.joined(root, values, int(n_values[step.feature]))
            both = votes.joined(one, parts.value, int(n_values[feature]), is_of_parts=True)
            added.append(votes.value(both) - votes.value(one))
        best = int(np.argmin(added))
        return (self.steps[best].feature,) if added[best] < self.need else tuple(self.chosen)

    def _vote_of_all(self, entries: Entries) -> _Votes:
        """The vote of all rows, one more for every class, so that none has probability 0."""
        shares = np.tile(self.class_sizes + 1, (len(entries), 1))
        shares[np.arange(len(entries)), entries.labels] -= 1
        shares /= self.rows.n_rows - 1 + self.rows.n_labels
        n = len(entries)
        return _Votes(np.zeros(n, np.intp), np.full(n, float(self.rows.n_rows)), shares, np.zeros(n, np.bool_))


class _PartVotes:
    """Votes on parts: entries divided by one or two more features."""

    def __init__(self, n_classes: int, labels: Positions, parts: Parts) -> None:
        self.n_classes, self.labels, self.parts = n_classes, labels, parts

    def joined(self, votes: _Votes, value: Positions, n_values: int, *, is_of_parts: bool = False) -> _Votes:
        """The votes of cells divided by one more feature, backed off to the votes before.

        Rows of a cell that the feature does not divide, or in which all labels agree, keep their vote: the feature
        tells them nothing, and counting the same rows again would only make the vote more certain.
        """
        before = votes if is_of_parts else votes.of_parts(self.parts.parent)
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
        return _Votes(cell, sizes, shares, counts[cell, self.labels] == sizes)

    def alone(self, value: Positions, n_values: int, class_sizes: Floats) -> Floats:
        """How much likelier the feature's value is with each label than over all, the row itself left out."""
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

    def values(self, votes: "_Votes | Floats", own: Floats | None = None, more: Floats | None = None) -> Floats:
        """Log-likelihood of the labels under the product of the votes, for each feature of a block."""
        shares = votes.shares if isinstance(votes, _Votes) else votes
        shares = shares if own is None else shares * own[self.parts.parent]
        shares = shares if more is None else shares * more
        logs = self.parts.sizes * _log_shares(shares, self.labels)
        return np.bincount(self.parts.owner, logs, minlength=self.parts.n_owners).astype(np.float64)

    def value(self, votes: _Votes, own: Floats | None = None) -> float:
        """The same for a single feature."""
        return float(self.values(votes, own)[0])


def _log_shares(shares: Floats, labels: Positions) -> Floats:
    """Log of the share of each label, if shares of all classes, not scaled, predict it."""
    return np.asarray(np.log(shares[np.arange(len(labels)), labels]) - np.log(shares.sum(axis=1)))


def _numbered(cells: Positions) -> tuple[Positions, int]:
    """Cells by small numbers, and how many there are at most."""
    n_cells = int(cells.max(initial=-1)) + 1
    if n_cells <= max(4 * len(cells), 1024):
        return cells, n_cells
    found, places = np.unique(cells, return_inverse=True)
    return places, len(found)


def _determines(cells: Positions, values: Positions) -> bool:
    """Whether every cell holds one value only."""
    order = np.lexsort((values, cells))
    cells, values = cells[order], values[order]
    return not ((np.diff(cells) == 0) & (np.diff(values) != 0)).any()


def _fewer_classes(rows: CodedRows) -> CodedRows:
    """Rows in which rare classes beyond the most frequent ones are one class."""
    n_classes = int(np.clip(VOTES // max(1, len(rows.codes)), FEW_CLASSES, MANY_CLASSES))
    if rows.n_labels <= n_classes:
        return rows
    sizes = np.bincount(rows.labels, rows.weights, minlength=rows.n_labels)
    new = np.full(rows.n_labels, n_classes - 1, dtype=np.uint8)
    new[np.argsort(-sizes, kind="stable")[: n_classes - 1]] = np.arange(n_classes - 1)
    return replace(rows, labels=new[rows.labels], n_labels=n_classes)
