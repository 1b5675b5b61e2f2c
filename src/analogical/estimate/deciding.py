"""The deciding set: features that predict the label together, none of which can be left out.

Forward selection adds the feature with the largest gain in the votes of the others (``votes``), as long as the gain is
larger than chance explains; if no single feature has such a gain, two or three that act only together. Then the set is
revised: numbers get the number of bins that predicts best, a member whose gain beside the later ones is too small is
removed, and a member is replaced by an outside feature that predicts better. Outside features that would predict nearly
as well in the place of a member are listed as its stand-ins.
"""

import math
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Literal

import numpy as np

from analogical._types import Ints
from analogical.count.given import Cells
from analogical.count.groups import equal_columns
from analogical.estimate.entropies import remaining_entropy
from analogical.estimate.screening import SCREENED_ROWS, n_screened, screen_pairs, screen_threes
from analogical.estimate.votes import Candidate, State, Voting

__all__ = [
    "COPY",
    "MOST_MEMBERS",
    "MOST_TRIED",
    "Decider",
    "Deciding",
    "Step",
    "Why",
]

GATE = 2.0
"""Smallest gain of a feature, in units of ln(number of features) nats. With less, xor-like rules lose their features to
chance (recovery .929 with 1, .960 with 1.5, .971 with 2 and with 3); shuffled labels hardly ever reach it."""
FEWEST = 10
"""Smallest number of features in the gate: that of two or three features alone would be reached by chance too often."""
COPY = 0.08
"""A feature is a copy of a member that leaves less than this share of its entropy: no test can tell them apart."""
MOST_TRIED = 60
"""Outside features tried in the place of a member, and tested for small effects, those with the largest gain first:
time on wide tables. With 20, the verdicts on 120 known rules on real features are the same."""
MOST_STAND_INS = 3
"""Largest number of stand-ins listed for a member."""
ROWS_PER_CELL = 3.0
"""Rows per combination of the members' values, on average: with fewer, hardly two rows are equal on all members, and
nothing can be compared."""
MOST_MEMBERS = 10
"""Largest number of members: with more, contexts hold single rows in any table that fits in memory."""
MOST_CLASSES = 8
"""Classes whose residuals are screened, the most frequent ones."""
EQUAL_GAINS = 1e-9
"""Gains that differ by less than this share of the log-likelihood are equal: rounding must not decide."""

Why = Literal["gain", "interaction", "significant", "next"]
"""Why a feature was selected: its gain, its gain together with partners, its p-value, or because it comes next."""


@dataclass(frozen=True)
class Step:
    """One member of the deciding set."""

    column: int
    """A feature, or a number in another number of bins."""
    gain: float
    """Gain in nats beside the members before it."""
    value: float
    """Log-likelihood of the labels with it and the members before it."""
    why: Why
    partners: tuple[int, ...] = ()
    """Features that it acts with."""


@dataclass(frozen=True)
class Deciding:
    """The deciding set, the member with the largest gain first."""

    steps: tuple[Step, ...]
    stand_ins: Mapping[int, tuple[int, ...]]
    """For some members, outside features that would predict nearly as well in their place: within one gate."""

    @property
    def columns(self) -> tuple[int, ...]:
        """The members."""
        return tuple(step.column for step in self.steps)

    @property
    def together(self) -> frozenset[int]:
        """The members that act together with others."""
        return frozenset(step.column for step in self.steps if step.partners)


class Decider:
    """The search for the deciding set of one table.

    ``owner`` is the feature of each column of the voting rows: columns from ``n_features`` on are numbers in other
    numbers of bins. Of features that predict equally well the first in ``rank`` is chosen, so that the order of columns
    does not matter.
    """

    def __init__(self, voting: Voting, owner: Ints, rank: Ints) -> None:
        self.voting, self.owner, self.rank = voting, owner, rank
        self.n_features = int(owner.max()) + 1
        self.bins: dict[int, list[int]] = {}
        for column, feature in enumerate(owner.tolist()):
            self.bins.setdefault(feature, []).append(column)
        varies, rows = np.flatnonzero(voting.varies[: self.n_features]).tolist(), voting.rows
        # of equal columns only the first takes part
        varying = [group[0] for group in equal_columns(rows.codes, rows.n_values, varies)]
        self.varying: list[int] = sorted(varying, key=lambda f: int(rank[f]))
        n = max(FEWEST, len(varying))
        self.need, self.need_of_pair, self.need_of_three = (GATE * math.log(math.comb(n, k)) for k in (1, 2, 3))
        self.alone = voting.candidates(voting.start, varying)
        by_gain = sorted(varying, key=lambda f: (-round(self.alone[f].gain, 6), int(rank[f])))
        shape = len(rows.codes), min(rows.n_labels, MOST_CLASSES) - 1
        self.screened = {size: by_gain[: n_screened(rows.n_values[by_gain], *shape, size)] for size in (2, 3)}
        """The features that are screened in sets of two and of three: all, or those with the largest gains alone."""

    def decide(self) -> Deciding:
        """The deciding set."""
        search = _Search(self)
        search.grow()
        seen: set[tuple[int, ...]] = set()
        while tuple(search.members) not in seen:
            seen.add(tuple(search.members))
            grown = list(search.members)
            search.choose_bins()
            search.spare_or_replace()
            if search.members != grown:  # else nothing was found to add
                search.grow()
        return search.result()

    def has_room(self, members: Sequence[int]) -> bool:
        """Whether there are enough rows per combination of the members' values."""
        rows = self.voting.rows
        return len(members) < 2 or len(Cells.by(rows, members)) * ROWS_PER_CELL <= rows.n_rows

    def explained(self, members: Sequence[int], together: frozenset[int]) -> float:
        """Share of the log-likelihood of the labels that members explain; those in ``together`` vote together."""
        return 1 - self.voting.follow(members, together).value / self.voting.start.value

    def further(self, members: Sequence[int], together: frozenset[int] = frozenset()) -> dict[int, Candidate]:
        """The gain of every outside feature beside some members; those in ``together`` vote together."""
        inside = {int(self.owner[c]) for c in members}
        state = self.voting.follow(members, together)
        return self.voting.candidates(state, [f for f in self.varying if f not in inside])

    def likely(self, state: State, features: Sequence[int], size: int) -> list[tuple[int, ...]]:
        """The sets of two or three features that best explain what a state leaves of the labels, best first."""
        rows, tried = self.voting.rows, list(features)
        if len(self.screened[size]) < len(self.varying):
            screened = set(self.screened[size])
            tried = [f for f in tried if f in screened]
        if len(tried) < size:
            return []
        some = np.arange(0, len(rows.codes), -(-len(rows.codes) // SCREENED_ROWS[size]))
        labels, shares = rows.labels[some], state.shares()[state.of_row[some]]
        weights = np.ones(len(some)) if rows.weights is None else rows.weights[some].astype(np.float64)
        # the residuals of the most frequent class follow from those of the others
        classes = np.argsort(-np.bincount(labels, weights, minlength=rows.n_labels), kind="stable")[1:MOST_CLASSES]
        found = (screen_pairs if size == 2 else screen_threes)(
            rows.codes[some][:, tried],
            rows.n_values[tried],
            weights[:, None] * ((labels[:, None] == classes) - shares[:, classes]),
            weights[:, None] * (shares * (1 - shares))[:, classes],
        )
        return [tuple(tried[place] for place in places) for places in found]


class _Search:
    """The state of one search: the members so far."""

    def __init__(self, decider: Decider) -> None:
        self.decider, self.voting = decider, decider.voting
        self.allowed = list(decider.varying)
        self.members: list[int] = []
        self.partners: dict[int, tuple[int, ...]] = {}
        self.stand_ins: dict[int, tuple[int, ...]] = {}

    def features(self) -> set[int]:
        """The features of the members."""
        return {int(self.decider.owner[c]) for c in self.members}

    def together(self, members: Sequence[int]) -> frozenset[int]:
        """Those of some members whose partners are all among them."""
        owner = self.decider.owner
        inside = {int(owner[c]) for c in members}
        return frozenset(c for c in members if inside.issuperset(self.partners.get(int(owner[c]), (-1,))))

    def follow(self, members: Sequence[int]) -> State:
        """The votes of some members."""
        return self.voting.follow(members, self.together(members))

    def grow(self) -> None:
        """Add members as long as one, two or three features have enough gain."""
        while len(self.members) < MOST_MEMBERS:
            best, gain = self._best_single()
            if best is not None and gain >= self.decider.need:
                is_copy = any(remaining_entropy(self.voting.rows, best, c) <= COPY for c in self.members)
                if is_copy or not self.decider.has_room([*self.members, best]):
                    self.allowed.remove(best)  # a copy's vote would only count the same rows twice
                else:
                    self.members.append(best)
                continue
            need_of_pair, need_of_three = self.decider.need_of_pair, self.decider.need_of_three
            together = self._best_set(2, need_of_pair) or self._best_set(3, need_of_three)
            if together is None or not self.decider.has_room([*self.members, *together]):
                return
            self.members += together
            for feature in together:
                self.partners[feature] = tuple(f for f in together if f != feature)

    def choose_bins(self) -> None:
        """Give every number among the members the number of bins that predicts best beside the others."""
        for place, column in enumerate(self.members):
            choices = self.decider.bins[int(self.decider.owner[column])]
            values = {c: self.follow([*self.members[:place], c, *self.members[place + 1 :]]).value for c in choices}
            best = max(choices, key=lambda c: values[c])
            if values[best] > values[column] + EQUAL_GAINS * abs(values[column]):
                self.members[place] = best

    def spare_or_replace(self) -> None:
        """Drop the member with the smallest gain if that is too small, or replace a member by a better feature."""
        self.stand_ins = {}
        value = self.follow(self.members).value
        candidates = sorted(self._outside(), key=lambda f: -self.decider.alone[f].gain)[:MOST_TRIED]
        best: tuple[float, list[int]] | None = None
        for column in self.members:
            feature = int(self.decider.owner[column])
            rest = [c for c in self.members if c != column]
            loss = value - self.follow(rest).value
            if loss < self.decider.need and feature not in self.partners:
                rise, changed = -loss, rest
            else:
                gains = self._gains(self.follow(rest), [f for f in candidates if f != feature])
                order = sorted(gains, key=lambda f: -gains[f])
                near = [f for f in order if gains[f] > max(loss / 2, loss - self.decider.need)]
                if near:
                    self.stand_ins[feature] = tuple(near[:MOST_STAND_INS])
                if not order or gains[order[0]] - loss <= EQUAL_GAINS * abs(value):
                    continue
                rise, changed = gains[order[0]] - loss, [*rest, order[0]]
            if best is None or rise > best[0]:
                best = rise, changed
        if best is not None:
            self.members = best[1]
            inside = self.features()
            self.partners = {f: p for f, p in self.partners.items() if f in inside and inside.issuperset(p)}

    def result(self) -> Deciding:
        """The members, the one with the largest gain first."""
        remaining, order, together = list(self.members), list[int](), self.together(self.members)
        while remaining:
            further = self.voting.candidates(self.voting.follow(order, together), remaining)
            order.append(max(remaining, key=lambda c: further[c].gain))
            remaining.remove(order[-1])
        values = [self.voting.follow(order[:k], together).value for k in range(len(order) + 1)]
        owner = self.decider.owner
        return Deciding(
            tuple(
                Step(
                    c,
                    values[k + 1] - values[k],
                    values[k + 1],
                    "interaction" if int(owner[c]) in self.partners else "gain",
                    self.partners.get(int(owner[c]), ()),
                )
                for k, c in enumerate(order)
            ),
            self.stand_ins,
        )

    def _outside(self) -> list[int]:
        inside = self.features()
        return [f for f in self.allowed if f not in inside]

    def _gains(self, state: State, features: list[int]) -> dict[int, float]:
        """The gain of each of some outside features."""
        candidates = self.decider.alone if not state.features else self.voting.candidates(state, features)
        return {f: candidates[f].gain for f in features}

    def _best_single(self) -> tuple[int | None, float]:
        """The outside feature with the largest gain, the first of equal ones, and its gain."""
        state = self.follow(self.members)
        gains = self._gains(state, self._outside())
        most = max(gains.values(), default=-math.inf)
        return next((f for f, gain in gains.items() if gain >= most - EQUAL_GAINS * abs(state.value)), None), most

    def _best_set(self, size: int, need: float) -> list[int] | None:
        """Two or three outside features with enough gain together."""
        state, rows = self.follow(self.members), self.voting.rows
        likely = self.decider.likely(state, self._outside(), size)
        small = [some for some in likely if math.prod(rows.n_values[list(some)].tolist()) <= len(rows.codes)]
        return self._best_of(state, small, need)

    def _best_of(self, state: State, sets: Iterable[tuple[int, ...]], need: float) -> list[int] | None:
        """The set with the largest gain if that is enough; the first in rank of equal ones.

        The gain depends a little on the order of the features: the one with the largest gain alone comes first, so that
        the order of columns, or a copy of one, does not matter.
        """
        alone, rank, tie = self.decider.alone, self.decider.rank, EQUAL_GAINS * abs(state.value)
        ordered = [sorted(members, key=lambda f: (-round(alone[f].gain, 6), int(rank[f]))) for members in sets]
        gains = [self._gain_together(state, members) for members in ordered]
        most = max(gains, default=-math.inf)
        if most < need - tie:
            return None
        equal = (members for members, gain in zip(ordered, gains, strict=True) if gain >= most - tie)
        best = min(equal, key=lambda members: sorted(rank[members].tolist()))
        return best if len(self.members) + len(best) <= MOST_MEMBERS else None

    def _gain_together(self, state: State, features: list[int]) -> float:
        """The gain of outside features that vote together."""
        together = self.together(self.members).union(features)
        return self.voting.follow([*self.members, *features], together).value - state.value
