"""The deciding set: features that predict the label together, none of which can be left out.

Forward selection adds the feature with the largest gain in the votes of the others (``votes``), as long as the gain is
larger than chance explains; if no single feature has such a gain, two or three that act only together. Then the set is
revised: numbers get the number of bins that predicts best, a member whose gain beside the later ones is too small is
removed, and a member is replaced by an outside feature that predicts better. Outside features that would predict nearly
as well in the place of a member are listed as its stand-ins.
"""

import math
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Literal

import numpy as np

from analogical._types import CodedRows, Floats, Ints, Positions
from analogical.count.given import Cells
from analogical.count.groups import equal_columns
from analogical.count.threads import one_blas_thread
from analogical.estimate.dependencies import remaining_entropy
from analogical.estimate.votes import Candidate, State, Voting

__all__ = [
    "COPY",
    "MOST_MEMBERS",
    "MOST_TRIED",
    "Decider",
    "Deciding",
    "Step",
    "Why",
    "likely_pairs",
    "likely_threes",
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
SCREENED_ROWS, SCREENED_COLUMNS = 5_000, 1_500
"""Rows, and values of all features together, on which pairs are screened: a tenth of a second. If there are more
values, the first features of the relaxed index are taken."""
ROWS_OF_THREES, COLUMNS_OF_THREES = 2_000, 200
"""The same for sets of three. Of 50 features of three values with 20 % noise, three that act only together were found
in 8 of 8 tables of 2,000 rows; among the first ten features of the relaxed index, in three times as long, in 3 of 8."""
LIKELY = 4
"""Pairs, or sets of three, whose gain is computed after screening; the true pair was first or second in known tables,
and with 12 no more of the known rules were found."""
EQUAL_GAINS = 1e-9
"""Gains that differ by less than this share of the log-likelihood are equal: rounding must not decide."""

Why = Literal["gain", "interaction", "significant", "index"]
"""Why a feature was selected: its gain, its gain together with partners, its p-value, or its relaxed index."""


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
    numbers of bins. ``index`` returns the features in the order of the relaxed index; it is called at most once, if
    there are too many features to screen all pairs. Of features that predict equally well the first in ``rank`` is
    chosen, so that the order of columns does not matter.
    """

    def __init__(self, voting: Voting, owner: Ints, index: Callable[[], Positions], rank: Ints) -> None:
        self.voting, self.owner, self._find_index, self.rank = voting, owner, index, rank
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

    @cached_property
    def index(self) -> Positions:
        """Features in the order of the relaxed index."""
        return self._find_index()

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

    def screened(self, features: Sequence[int], n_columns: int, first: Sequence[int] = ()) -> list[int]:
        """The features to screen: all, or as many as have ``n_columns`` values together.

        Then those in ``first`` are preferred, followed by the order of the relaxed index.
        """
        allowed, n_values = set(features), self.voting.rows.n_values
        if n_values[list(features)].sum() <= n_columns:
            return list(features)
        order = [f for f in dict.fromkeys([*first, *self.index.tolist()]) if f in allowed]
        return sorted(order[: int(np.searchsorted(np.cumsum(n_values[order]), n_columns))])


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
            together = self._best_pair() or self._best_three()
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

    def _best_pair(self) -> list[int] | None:
        """Two outside features with enough gain together."""
        state, rows = self.follow(self.members), self.voting.rows
        pairs = likely_pairs(rows, state, self.decider.screened(self._outside(), SCREENED_COLUMNS))
        small = [p for p in pairs if math.prod(rows.n_values[list(p)].tolist()) <= len(rows.codes)]
        return self._best_of(state, small, self.decider.need_of_pair)

    def _best_three(self) -> list[int] | None:
        """Three outside features with enough gain together."""
        state = self.follow(self.members)
        threes = likely_threes(self.voting.rows, state, self.decider.screened(self._outside(), COLUMNS_OF_THREES))
        return self._best_of(state, threes, self.decider.need_of_three)

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


def likely_pairs(rows: CodedRows, state: State, features: Sequence[int]) -> list[tuple[int, int]]:
    """The pairs of features whose values together explain most of the residuals of the labels, best first.

    For each combination of values of two features the residuals (label minus prediction) are summed, squared and
    divided by their variance; the sum over all combinations is about chi-square if the pair explains nothing.
    """
    if len(features) < 2:
        return []
    with one_blas_thread():
        unlikely = _unlikely(*_Screen(rows, state, features, SCREENED_ROWS).pairs([slice(None)]))
    return [(first, second) for first, second in _likeliest(unlikely, features)]


def likely_threes(rows: CodedRows, state: State, features: Sequence[int]) -> list[tuple[int, ...]]:
    """The same for three features: pairs within the rows of each value of a third one."""
    if len(features) < 3:
        return []
    screen, n, n_values = _Screen(rows, state, features, ROWS_OF_THREES), len(features), rows.n_values[list(features)]
    unlikely = np.full((n, n, n), -math.inf)
    with one_blas_thread():
        for i in range(n - 2):
            unlikely[i, i + 1 :, i + 1 :] = _unlikely(*screen.pairs(screen.rows_by_value(i), i + 1))
    n_cells = n_values[:, None, None] * n_values[:, None] * n_values
    return _likeliest(np.where(n_cells <= len(rows.codes), unlikely, -math.inf), features)


class _Screen:
    """Some rows: the values of some features, and the residuals of the labels."""

    def __init__(self, rows: CodedRows, state: State, features: Sequence[int], n_rows: int) -> None:
        some = np.arange(0, len(rows.codes), -(-len(rows.codes) // n_rows))
        self.codes = rows.codes[some][:, list(features)]
        sizes = rows.n_values[list(features)]
        self.starts = np.concatenate([[0], np.cumsum(sizes)[:-1]])
        """First column of each feature in ``holds``."""
        self.holds = np.zeros((len(some), int(sizes.sum())), np.float32)
        """Indicators of shape (rows, values of all features)."""
        self.holds[np.arange(len(some))[:, None], self.codes.astype(np.intp) + self.starts] = 1
        labels, shares = rows.labels[some], state.shares()[state.of_row[some]]
        weights = np.ones(len(some)) if rows.weights is None else rows.weights[some].astype(np.float64)
        classes = np.argsort(-np.bincount(labels, weights, minlength=rows.n_labels), kind="stable")[:8]
        self.residuals = []
        """For each class but the most frequent, which follows from the others: residuals, and their variances."""
        for label in classes[1:].tolist():
            residual, variance = (labels == label) - shares[:, label], shares[:, label] * (1 - shares[:, label])
            self.residuals.append(((weights * residual).astype(np.float32), (weights * variance).astype(np.float32)))

    def rows_by_value(self, feature: int) -> list[Positions]:
        """The rows of each value of a feature."""
        codes = self.codes[:, feature]
        order = np.argsort(codes, kind="stable")
        return np.split(order, np.flatnonzero(np.diff(codes[order])) + 1)

    def pairs(self, parts: Sequence[Positions | slice], first: int = 0) -> tuple[Floats, Floats]:
        """Statistic and degrees of freedom of each pair of features from ``first`` on, summed over parts."""
        holds, starts = self.holds[:, self.starts[first] :], self.starts[first:] - self.starts[first]
        statistic, freedom = (np.zeros((holds.shape[1], holds.shape[1])) for _ in range(2))
        for part in parts:
            held = holds[part]
            for residual, variance in self.residuals:
                summed = (held * residual[part, None]).T @ held
                spread = (held * variance[part, None]).T @ held
                is_enough = spread > 1.0  # a variance of one: about four rows
                statistic += np.divide(summed**2, spread, out=np.zeros_like(summed), where=is_enough)
                freedom += is_enough
        return _by_pairs(statistic, starts), _by_pairs(freedom, starts)


def _unlikely(statistic: Floats, freedom: Floats) -> Floats:
    """Minus the log p-value of each pair of features; minus infinity if unknown."""
    from scipy.special import log_ndtr

    # Wilson and Hilferty: the cube root of chi-square divided by its degrees of freedom is nearly normal
    f = np.maximum(freedom, 1.0)
    z = (np.cbrt(statistic / f) - (1 - 2 / (9 * f))) / np.sqrt(2 / (9 * f))
    is_pair = np.triu(freedom > 0, 1)
    return np.where(is_pair, -log_ndtr(-z), -math.inf)


def _likeliest(unlikely: Floats, features: Sequence[int]) -> list[tuple[int, ...]]:
    """The sets of features with the smallest p-values."""
    known = np.nonzero(unlikely > -math.inf)
    best = np.argsort(-unlikely[known], kind="stable")[:LIKELY]
    return [tuple(features[place[k]] for place in known) for k in best.tolist()]


def _by_pairs(cells: Floats, starts: Positions) -> Floats:
    """Sums over the values of each pair of features."""
    return np.asarray(np.add.reduceat(np.add.reduceat(cells, starts, 0), starts, 1))
