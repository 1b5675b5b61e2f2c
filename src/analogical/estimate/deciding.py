"""The deciding set: features that together predict the label, none of which can be spared.

It grows by the feature that adds most to the votes of the others (``votes``), as long as that is more than luck adds;
where no single feature does, by two or three that act only together. Then it is put right: numbers are cut into as
many bins as predict best, a member that no longer adds enough beside the later ones leaves, and an outside feature
that predicts better takes the place of one. Outside features that would do nearly as well in the place of a member are
named.
"""

import math
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Literal

import numpy as np

from analogical._types import CodedRows, Codes, Floats, Ints, Positions
from analogical.count.given import Cells, tables_given
from analogical.count.groups import equal_columns
from analogical.count.threads import one_blas_thread
from analogical.estimate.votes import Candidate, State, Voting

__all__ = [
    "COPY",
    "MOST",
    "MOST_TRIED",
    "Decider",
    "Deciding",
    "Step",
    "Why",
    "likely_pairs",
    "likely_threes",
    "share_left",
    "shares_left",
    "told_by_chance",
]

GATE = 2.0
"""A feature must add so many times ln(number of features) nats. Below, xor-like rules lose their features to luck
(recovery .929 with 1, .960 with 1.5, .971 with 2 and with 3); shuffled labels hardly ever pass it."""
FEWEST = 10
"""Fewer features count as so many: the gate of two or three features alone would be passed by luck too often."""
COPY = 0.08
"""A feature of whose entropy a member leaves less than this share is a copy of it: between copies no test can tell."""
MOST_TRIED = 60
"""Outside features that are tried in the place of a member, and tested for small effects, those that tell most first:
time on wide tables. With 20 the 120 known rules on real features have the same verdicts."""
MOST_STAND_INS = 3
"""Features named that would do nearly as well in the place of a member."""
ROWS_PER_CELL = 3.0
"""Rows that the members must leave in each combination of their values, on average: with fewer, hardly two rows are
equal on all of them, and nothing can be compared."""
MOST = 10
"""Members at most: beyond, contexts hold single rows on any table that fits in memory."""
SCREENED_ROWS, SCREENED_COLUMNS = 5_000, 1_500
"""Rows, and values of all features together, that pairs are screened on: a tenth of a second. Of more features the
first of the relaxed index are taken."""
ROWS_OF_THREES, COLUMNS_OF_THREES = 2_000, 200
"""The same for threes. Of 50 features of three values with 20 % noise, three that act only together were found in 8 of
8 tables of 2,000 rows; among the first ten features of the relaxed index, in three times as long, in 3 of 8."""
LIKELY = 4
"""Pairs, or threes, whose gain is computed after screening; the true pair was first or second on known tables, and with
12 no more of the known rules were found."""
TIE = 1e-9
"""Gains that differ by less, as a share of the log-likelihood, are equal: rounding must not decide."""

Why = Literal["gain", "interaction", "significant", "index"]
"""It adds enough to the members before it; it does so together with its partners; or the relaxed index put it next."""


@dataclass(frozen=True)
class Step:
    """One member, in the order of what it adds."""

    column: int
    """A feature, or a number in other bins."""
    gain: float
    """Nats that it adds to the members before it."""
    value: float
    """Log-likelihood of the labels after it."""
    why: Why
    partners: tuple[int, ...] = ()
    """Features that it acts together with."""


@dataclass(frozen=True)
class Deciding:
    """The deciding set."""

    steps: tuple[Step, ...]
    stand_ins: Mapping[int, tuple[int, ...]]
    """For features among them, outside features that would do nearly as well in their place: within one gate."""

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

    ``owner`` says of which feature each column of the voting rows is: numbers stand there in several numbers of bins,
    the columns before ``n_features`` are the features as the user has them. ``index`` gives the features in the order
    of the relaxed index, to choose which are screened for acting together; it is asked at most once. Of features that
    predict equally well the first in ``rank`` is chosen, so that the order of columns decides nothing.
    """

    def __init__(self, voting: Voting, owner: Ints, index: Callable[[], Positions], rank: Ints) -> None:
        self.voting, self.owner, self.ask_index, self.rank = voting, owner, index, rank
        self.n_features = int(owner.max()) + 1
        self.bins: dict[int, list[int]] = {}
        for column, feature in enumerate(owner.tolist()):
            self.bins.setdefault(feature, []).append(column)
        varies, rows = np.flatnonzero(voting.varies[: self.n_features]).tolist(), voting.rows
        # which of two equal columns is chosen would be chance
        varying = [group[0] for group in equal_columns(rows.codes, rows.n_values, varies)]
        self.varying: list[int] = sorted(varying, key=lambda f: int(rank[f]))
        n = max(FEWEST, len(varying))
        self.need, self.need_of_pair, self.need_of_three = (GATE * math.log(math.comb(n, k)) for k in (1, 2, 3))
        self.alone = voting.candidates(voting.start, varying)
        self._order: Positions | None = None

    @property
    def index(self) -> Positions:
        """Features in the order of the relaxed index."""
        if self._order is None:
            self._order = self.ask_index()
        return self._order

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
        """Whether the rows are enough for so many members: some are equal on all of them."""
        rows = self.voting.rows
        return len(members) < 2 or len(Cells.by(rows, members)) * ROWS_PER_CELL <= rows.n_rows

    def explained(self, members: Sequence[int], together: frozenset[int]) -> float:
        """Share of the log-likelihood of the labels that members explain, of which some act together."""
        return 1 - self.voting.follow(members, together).value / self.voting.start.value

    def further(self, members: Sequence[int], together: frozenset[int] = frozenset()) -> dict[int, Candidate]:
        """What every feature outside would add to some members, of which some act together."""
        inside = {int(self.owner[c]) for c in members}
        state = self.voting.follow(members, together)
        return self.voting.candidates(state, [f for f in self.varying if f not in inside])


class _Search:
    """One search: the members so far."""

    def __init__(self, decider: Decider) -> None:
        self.decider, self.voting = decider, decider.voting
        self.allowed = list(decider.varying)
        self.members: list[int] = []
        self.partners: dict[int, tuple[int, ...]] = {}
        self.stand_ins: dict[int, tuple[int, ...]] = {}

    def features(self) -> set[int]:
        """The features that members are of."""
        return {int(self.decider.owner[c]) for c in self.members}

    def together(self, members: Sequence[int]) -> frozenset[int]:
        """Those of some members that act together with others of them."""
        owner = self.decider.owner
        inside = {int(owner[c]) for c in members}
        return frozenset(c for c in members if inside.issuperset(self.partners.get(int(owner[c]), (-1,))))

    def follow(self, members: Sequence[int]) -> State:
        return self.voting.follow(members, self.together(members))

    def state(self) -> State:
        return self.follow(self.members)

    def grow(self) -> None:
        """Add members as long as one, two or three features add enough."""
        while len(self.members) < MOST:
            best, gain = self._best_single()
            if best is not None and gain >= self.decider.need:
                is_copy = any(share_left(self.voting.rows, best, c) <= COPY for c in self.members)
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
        """Cut every number among the members into as many bins as predict best beside the others."""
        for place, column in enumerate(self.members):
            choices = self.decider.bins[int(self.decider.owner[column])]
            values = {c: self._value([*self.members[:place], c, *self.members[place + 1 :]]) for c in choices}
            best = max(choices, key=lambda c: values[c])
            if values[best] > values[column] + TIE * abs(values[column]):
                self.members[place] = best

    def spare_or_replace(self) -> None:
        """Drop the member that adds least, if that is too little; or put in the place of one what predicts better."""
        self.stand_ins = {}
        value = self._value(self.members)
        telling = sorted(self._outside(), key=lambda f: -self.decider.alone[f].gain)[:MOST_TRIED]
        best: tuple[float, list[int]] | None = None
        for column in self.members:
            feature = int(self.decider.owner[column])
            rest = [c for c in self.members if c != column]
            loss = value - self._value(rest)
            if loss < self.decider.need and feature not in self.partners:
                rise, changed = -loss, rest
            else:
                gains = self._gains(self.follow(rest), [f for f in telling if f != feature])
                order = sorted(gains, key=lambda f: -gains[f])
                near = [f for f in order if gains[f] > max(loss / 2, loss - self.decider.need)]
                if near:
                    self.stand_ins[feature] = tuple(near[:MOST_STAND_INS])
                if not order or gains[order[0]] - loss <= TIE * abs(value):
                    continue
                rise, changed = gains[order[0]] - loss, [*rest, order[0]]
            if best is None or rise > best[0]:
                best = rise, changed
        if best is not None:
            self.members = best[1]
            inside = self.features()
            self.partners = {f: p for f, p in self.partners.items() if f in inside and inside.issuperset(p)}

    def result(self) -> Deciding:
        """The members, the one that adds most first."""
        left, order, together = list(self.members), list[int](), self.together(self.members)
        while left:
            further = self.voting.candidates(self.voting.follow(order, together), left)
            order.append(max(left, key=lambda c: further[c].gain))
            left.remove(order[-1])
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

    def _value(self, members: Sequence[int]) -> float:
        return self.follow(members).value

    def _outside(self) -> list[int]:
        inside = self.features()
        return [f for f in self.allowed if f not in inside]

    def _gains(self, state: State, features: list[int]) -> dict[int, float]:
        """What each of some outside features adds."""
        candidates = self.decider.alone if not state.features else self.voting.candidates(state, features)
        return {f: candidates[f].gain for f in features}

    def _best_single(self) -> tuple[int | None, float]:
        """The outside feature that adds most, the first of those that add the same, and what it adds."""
        state = self.state()
        gains = self._gains(state, self._outside())
        most = max(gains.values(), default=-math.inf)
        return next((f for f, gain in gains.items() if gain >= most - TIE * abs(state.value)), None), most

    def _best_pair(self) -> list[int] | None:
        """Two outside features that together add enough."""
        state, rows = self.state(), self.voting.rows
        pairs = likely_pairs(rows, state, self._screened(SCREENED_COLUMNS))
        small = [p for p in pairs if math.prod(rows.n_values[list(p)].tolist()) <= len(rows.codes)]
        return self._best_of(state, small, self.decider.need_of_pair)

    def _best_three(self) -> list[int] | None:
        """Three outside features that together add enough."""
        state = self.state()
        threes = likely_threes(self.voting.rows, state, self._screened(COLUMNS_OF_THREES))
        return self._best_of(state, threes, self.decider.need_of_three)

    def _best_of(self, state: State, sets: Iterable[tuple[int, ...]], need: float) -> list[int] | None:
        """The set that adds most, if that is enough; the first in rank of those that add the same.

        What features add together depends a little on their order: the one that adds most alone comes first, so that
        the order of columns, or a copy of one, decides nothing.
        """
        alone, rank, tie = self.decider.alone, self.decider.rank, TIE * abs(state.value)
        ordered = [sorted(some, key=lambda f: (-round(alone[f].gain, 6), int(rank[f]))) for some in sets]
        gains = [self.voting.gain_of(state, some) for some in ordered]
        most = max(gains, default=-math.inf)
        if most < need - tie:
            return None
        equal = (some for some, gain in zip(ordered, gains, strict=True) if gain >= most - tie)
        best = min(equal, key=lambda some: sorted(rank[some].tolist()))
        return best if len(self.members) + len(best) <= MOST else None

    def _screened(self, n_columns: int) -> list[int]:
        """The outside features that are screened: all, or the first of the relaxed index if they have many values."""
        outside, n_values = self._outside(), self.voting.rows.n_values
        if n_values[outside].sum() <= n_columns:
            return outside
        inside = set(outside)
        order = [f for f in self.decider.index.tolist() if f in inside]
        return sorted(order[: int(np.searchsorted(np.cumsum(n_values[order]), n_columns))])


def likely_pairs(rows: CodedRows, state: State, features: Sequence[int]) -> list[tuple[int, int]]:
    """Pairs of features whose values, together, go with what the prediction leaves of the labels; the likeliest first.

    For every two values of two features, the labels less their prediction are added up, squared and divided by their
    variance; over the values of a pair that is about chi-square if the pair tells nothing.
    """
    if len(features) < 2:
        return []
    with one_blas_thread():
        unlikely = _unlikely(*_Screen(rows, state, features, SCREENED_ROWS).pairs([slice(None)]))
    return [(first, second) for first, second in _likeliest(unlikely, features)]


def likely_threes(rows: CodedRows, state: State, features: Sequence[int]) -> list[tuple[int, ...]]:
    """The same for three features: pairs among the rows of each value of a third one."""
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
    """Some rows: the values of some features, and what the prediction leaves of the labels."""

    def __init__(self, rows: CodedRows, state: State, features: Sequence[int], n_rows: int) -> None:
        some = np.arange(0, len(rows.codes), -(-len(rows.codes) // n_rows))
        self.codes = rows.codes[some][:, list(features)]
        sizes = rows.n_values[list(features)]
        self.starts = np.concatenate([[0], np.cumsum(sizes)[:-1]])
        """First column of each feature."""
        self.holds = np.zeros((len(some), int(sizes.sum())), np.float32)
        """Whether each row has each value: a column for each."""
        self.holds[np.arange(len(some))[:, None], self.codes.astype(np.intp) + self.starts] = 1
        labels, shares = rows.labels[some], state.shares()[state.entries.of_row[some]]
        weights = np.ones(len(some)) if rows.weights is None else rows.weights[some].astype(np.float64)
        classes = np.argsort(-np.bincount(labels, weights, minlength=rows.n_labels), kind="stable")[:8]
        self.left = []
        """For each class but the first, of which the others know all: its labels less their prediction, and their
        variance."""
        for label in classes[1:].tolist():
            rest, variance = (labels == label) - shares[:, label], shares[:, label] * (1 - shares[:, label])
            self.left.append(((weights * rest).astype(np.float32), (weights * variance).astype(np.float32)))

    def rows_by_value(self, feature: int) -> list[Positions]:
        """The rows of each value of a feature."""
        codes = self.codes[:, feature]
        order = np.argsort(codes, kind="stable")
        return np.split(order, np.flatnonzero(np.diff(codes[order])) + 1)

    def pairs(self, parts: Sequence[Positions | slice], first: int = 0) -> tuple[Floats, Floats]:
        """Statistic and degrees of freedom of every two features, from the first on, summed over parts of the rows."""
        holds, starts = self.holds[:, self.starts[first] :], self.starts[first:] - self.starts[first]
        statistic, freedom = (np.zeros((holds.shape[1], holds.shape[1])) for _ in range(2))
        for part in parts:
            held = holds[part]
            for rest, variance in self.left:
                summed = (held * rest[part, None]).T @ held
                spread = (held * variance[part, None]).T @ held
                told = spread > 1.0  # a variance of one: about four rows
                statistic += np.divide(summed**2, spread, out=np.zeros_like(summed), where=told)
                freedom += told
        return _by_pairs(statistic, starts), _by_pairs(freedom, starts)


def _unlikely(statistic: Floats, freedom: Floats) -> Floats:
    """Minus the log of the chance of so large a statistic for every two features; minus infinity if unknown."""
    from scipy.special import log_ndtr

    # Wilson and Hilferty: the cube root of chi-square over its freedom is nearly normal
    f = np.maximum(freedom, 1.0)
    z = (np.cbrt(statistic / f) - (1 - 2 / (9 * f))) / np.sqrt(2 / (9 * f))
    is_pair = np.triu(freedom > 0, 1)
    return np.where(is_pair, -log_ndtr(-z), -math.inf)


def _likeliest(unlikely: Floats, features: Sequence[int]) -> list[tuple[int, ...]]:
    """The sets of features that are least likely by chance."""
    known = np.nonzero(unlikely > -math.inf)
    best = np.argsort(-unlikely[known], kind="stable")[:LIKELY]
    return [tuple(features[place[k]] for place in known) for k in best.tolist()]


def _by_pairs(cells: Floats, starts: Positions) -> Floats:
    """Sums over the values of every two features."""
    return np.asarray(np.add.reduceat(np.add.reduceat(cells, starts, 0), starts, 1))


def share_left(rows: CodedRows, feature: int, other: int) -> float:
    """Share of the entropy of a column that is left when another one is known; 1 for a constant column."""
    return float(shares_left(rows.select([feature]), rows.codes[:, other])[0])


def shares_left(rows: CodedRows, column: Codes) -> Floats:
    """The same for every feature of the rows, when one more column is known."""
    left = np.ones(rows.n_features)
    unlabelled = replace(rows, labels=np.zeros(len(column), np.uint8), n_labels=1)
    for features, counts in tables_given(unlabelled, Cells.of([column], len(column)), range(rows.n_features)):
        tables = counts[..., 0]
        whole = _entropies(tables.sum(axis=1))
        together, alone = _entropies(tables.reshape(len(features), -1)), _entropies(tables.sum(axis=2))
        left[features] = np.divide(np.maximum(together - alone, 0.0), whole, out=np.ones_like(whole), where=whole > 0)
    return left


def _entropies(sizes: Ints) -> Floats:
    """The entropy of each line of sizes."""
    from scipy.special import xlogy

    share = sizes / sizes.sum(axis=1, keepdims=True)
    return np.asarray(-xlogy(share, share).sum(axis=1))


def told_by_chance(rows: CodedRows, feature: int, n_values: int) -> float:
    """Share of the entropy of a column that an unrelated one of so many values takes (Miller and Madow)."""
    sizes = rows.value_sizes(feature)
    whole = float(_entropies(sizes[None])[0])
    return (np.count_nonzero(sizes) - 1) * (n_values - 1) / (2 * sizes.sum() * whole) if whole > 0 else 0.0
