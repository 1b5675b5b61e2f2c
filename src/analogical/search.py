"""The search for the deciding set: features that predict the label together, none of which can be left out.

**Votes.** A row is predicted by the other rows that agree with it on the chosen features. With N the rows of its cell
and N_y those of label y, the row itself left out, its prediction is

    q'(y) = (N_y + a q(y)) / (N + a)

where q is the prediction before the last feature was added: the fewer rows agree, the more the vote of fewer features
counts. The gain of a feature is the rise of the log-likelihood in nats. A feature that divides the cells too finely may
have a larger gain with a vote of its own, over all rows that share its value:

    q'(y) ~ q(y) * P(value | y) / P(value)

(naive Bayes, again with the row left out), so both ways are tried. Because the row is left out, an unrelated feature
has a negative gain on average. Rows that depend on each other do not vote for each other: with groups, the whole group
of the row is left out, in its cell and everywhere else.

**Search.** Forward selection adds the feature with the largest gain, as long as it is larger than chance explains; if
no single feature has such a gain, two or three that act only together. Then the set is revised: numbers get the number
of bins that predicts best, a member whose gain beside the later ones is too small is removed, and a member is replaced
by an outside feature that predicts better.

**Screening** finds the sets that act only together. For each combination of values of two features the residuals (label
minus prediction) are summed, squared and divided by their variance; the sum over all combinations is about chi-square
if the pair explains nothing. The sums over all pairs are matrix products of indicator columns, made in blocks of
features, so memory does not grow with their number.
"""

import math
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import partial
from typing import Literal, NamedTuple, TypeAlias

import numpy as np
from numpy.typing import NDArray

from analogical._types import Bools, Codes, Floats, Ints, Positions
from analogical.count.given import RowContexts
from analogical.count.groups import CodedRows, are_few, count_keys, equal_columns, merge_rare
from analogical.count.threads import one_blas_thread, run_tasks
from analogical.estimate.dependencies import remaining_entropy

BACK_OFF = 3.0
"""The a above: pseudo-rows of the vote of fewer features. From 1 to 5 real tables and recovery hardly differ."""
GATE = 2.0
"""Smallest gain of a feature, in units of ln(number of features) nats. With less, xor-like rules lose their features to
chance (recovery .929 with 1, .960 with 1.5, .971 with 2 and with 3); shuffled labels hardly ever reach it."""
FEWEST = 10
"""Smallest number of features in the gate: that of two or three features alone would be reached by chance too often."""
COPY = 0.08
"""A feature is a copy of a member that leaves less than this share of its entropy: no test can tell them apart."""
MOST_TRIED = 60
"""Outside features tried in the place of a member, those with the largest gain first: time on wide tables. With 20, the
verdicts on 120 known rules on real features are the same."""
ROWS_PER_CELL = 3.0
"""Rows per combination of the members' values, on average: with fewer, hardly two rows are equal on all members, and
nothing can be compared."""
MOST_MEMBERS = 10
"""Largest number of members: with more, contexts hold single rows in any table that fits in memory."""
EQUAL_GAINS = 1e-9
"""Gains that differ by less than this share of the log-likelihood are equal: rounding must not decide."""
VOTING_CLASSES, SCREENED_CLASSES = 50, 8
"""Largest number of classes that vote, the rarest of more are merged; and of the classes that are screened."""
SCREENED_ROWS = {2: 5_000, 3: 2_000}
"""Rows on which sets of two and of three features are screened."""
WORK = {2: 1e12, 3: 1e9}
"""Products of two numbers that screening may take: half a minute, and a fifth of a second, of one core. That is all
pairs of 11,000 features of three values in 1,500 rows, and all sets of three of 74 such features. Of 50 features of
three values with 20 % noise, three that act only together were found in 8 of 8 tables of 2,000 rows."""
LIKELY = 4
"""Pairs, or sets of three, whose gain is computed after screening; the true pair was first or second in known tables,
and with 12 no more of the known rules were found."""


# ---------------------------------------------------------------- votes


Way = Literal["joint", "own"]
"""A feature votes together with others, or on its own."""


class Ballot(NamedTuple):
    """The votes of the other rows of its cell, for a row of each entry."""

    cell: Positions
    """Cell of each entry: the rows that agree on the features that vote together."""
    voters: Floats
    """Rows that vote for a row of each entry."""
    shares: Floats
    """Shape (entries, classes)."""
    is_settled: Bools
    """Whether all rows of the cell have the same label, so that no feature can improve the vote."""

    def of_parts(self, parent: Positions) -> "Ballot":
        """The same votes for parts of the entries."""
        return Ballot(self.cell[parent], self.voters[parent], self.shares[parent], self.is_settled[parent])


@dataclass(frozen=True)
class State:
    """Some features, and the prediction of every row by them.

    Rows with the same values on the features, the same label and the same group have the same prediction, and are one
    entry.
    """

    features: tuple[int, ...]
    of_row: Positions
    """Entry of each row."""
    labels: Positions
    """Label of each entry."""
    groups: Positions | None
    """Group of each entry; None if rows are independent."""
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
    """The votes of the rows of a table, with a cache of the states of lists of features.

    ``groups`` are codes of rows that depend on each other: a row is predicted by the rows of other groups only.
    """

    def __init__(self, rows: CodedRows, n_threads: int = 1, groups: Codes | None = None) -> None:
        if rows.weights is not None and not rows.weights.all():
            held = rows.weights > 0
            rows, groups = rows.take(held), None if groups is None else groups[held]
        if rows.n_labels > VOTING_CLASSES:
            labels = merge_rare(rows.label_sizes(), VOTING_CLASSES).astype(np.uint8)[rows.labels]
            rows = replace(rows, labels=labels, n_labels=VOTING_CLASSES)
        self.rows, self.n_threads, self.groups = rows, n_threads, groups
        self.varies = rows.codes.max(axis=0) != rows.codes.min(axis=0)
        self.class_sizes: Floats = self.rows.label_sizes().astype(np.float64)
        self.start = self._vote_of_all()
        self._known: dict[tuple[tuple[int, ...], frozenset[int]], State] = {}

    def gains(self, state: State, features: Iterable[int]) -> dict[int, float]:
        """The gain of each of the features beside those of a state."""
        ordered = sorted(features, key=lambda f: int(self.rows.n_values[f]))  # so that blocks have similar features
        at_once = max(1, 2**18 // len(self.rows.codes))  # memory
        gains: dict[int, float] = {}

        def look(block: list[int]) -> None:
            gains.update(zip(block, (gain for gain, _ in self._gains_of(state, block)), strict=True))

        run_tasks([partial(look, ordered[k : k + at_once]) for k in range(0, len(ordered), at_once)], self.n_threads)
        return gains

    def follow(self, features: Sequence[int], together: frozenset[int] = frozenset()) -> State:
        """The state with these features in order, each voting in the way with the larger gain.

        Features in ``together`` vote together, whatever their gain without the others.
        """
        if not features:
            return self.start
        key = tuple(features), together.intersection(features)
        if key not in self._known:
            before, last = self.follow(key[0][:-1], together), key[0][-1]
            way: Way = "joint" if last in together else self._gains_of(before, [last])[0][1]
            self._known[key] = self._added(before, last, way)
        return self._known[key]

    def _gains_of(self, state: State, block: list[int]) -> list[tuple[float, Way]]:
        """The gain of each feature of a block, and the way of voting with it."""
        parts = _Parts(self.rows, state, block)
        before, own = state.joint.of_parts(parts.parent), state.own[parts.parent]
        ways: dict[Way, Floats] = {"joint": parts.values(parts.joined(before).shares, own)}
        if state.features:
            ways["own"] = parts.values(before.shares * own, parts.alone(self.class_sizes))
        best = [max(ways, key=lambda way: ways[way][place]) for place in range(len(block))]
        return [(float(ways[way][place]) - state.value, way) for place, way in enumerate(best)]

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
        features = *before.features, feature
        return State(features, of_row, parts.labels, parts.groups, parts.sizes, joint, own, value)

    def _vote_of_all(self) -> State:
        """The vote of all rows, plus one row of every class, so that none has probability 0."""
        n_labels, n_groups = self.rows.n_labels, 1 if self.groups is None else int(self.groups.max()) + 1
        keys = self.rows.labels.astype(np.intp) + (0 if self.groups is None else self.groups.astype(np.intp) * n_labels)
        held, sizes = count_keys(keys, n_labels * n_groups, self.rows.weights)
        group, labels = np.divmod(held, n_labels)
        groups, cell = None if self.groups is None else group, np.zeros(len(held), np.intp)
        left_out = _left_out(cell, groups, labels, sizes, n_labels)
        voters = self.rows.n_rows - left_out.sum(axis=1)
        shares = (self.class_sizes + 1 - left_out) / (voters + n_labels)[:, None]
        ballot = Ballot(cell, voters, shares, np.zeros(len(held), np.bool_))
        value = float(sizes @ _log_shares(shares, labels))
        return State((), np.searchsorted(held, keys), labels, groups, sizes, ballot, np.ones_like(shares), value)


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
        self.groups = None if state.groups is None else state.groups[self.parent]

    def joined(self, before: Ballot) -> Ballot:
        """The votes of cells divided by one more feature, backed off to the votes before.

        Rows whose voters the feature does not divide, or of a cell in which all labels agree, keep their vote: counting
        the same rows again would only make the vote more certain.
        """
        n_before = int(before.cell.max(initial=0)) + 1
        cell, n_cells = _numbered((self.feature * n_before + before.cell) * self.n_values + self.value)
        counts = self._by_class(cell, n_cells)
        sizes, left_out = counts.sum(axis=1)[cell], self._left_out(cell)
        voters = sizes - left_out.sum(axis=1)
        shares = (counts[cell] + BACK_OFF * before.shares - left_out) / (voters + BACK_OFF)[:, None]
        kept = (voters == before.voters) | before.is_settled
        shares[kept] = before.shares[kept]
        return Ballot(cell, voters, shares, counts[cell, self.labels] == sizes)

    def alone(self, class_sizes: Floats) -> Floats:
        """P(value | label) / P(value) for each label, the row itself left out, or its group."""
        cell = self.feature * self.n_values + self.value
        counts = self._by_class(cell, self.n_features * self.n_values)
        with_value, with_label = counts[cell] - self._left_out(cell), class_sizes - self._left_out(self.feature)
        n_present = counts.any(axis=1).reshape(self.n_features, self.n_values).sum(axis=1)[self.feature]
        over_all = (with_value.sum(axis=1) + 1) / (with_label.sum(axis=1) + n_present)
        shares = (with_value + BACK_OFF * over_all[:, None]) / (with_label + BACK_OFF)
        return np.asarray(shares / over_all[:, None])

    def values(self, votes: Floats, more: Floats) -> Floats:
        """Log-likelihood of the labels under the product of two votes, for each of the features."""
        logs = self.sizes * _log_shares(votes * more, self.labels)
        return np.bincount(self.feature, logs, minlength=self.n_features).astype(np.float64)

    def _left_out(self, cell: Positions) -> Floats:
        """Rows of the cell of each entry that do not vote for it."""
        return _left_out(cell, self.groups, self.labels, self.sizes, self.n_classes)

    def _by_class(self, cell: Positions, n_cells: int) -> Floats:
        """Rows of each cell by class."""
        return _by_class(cell, n_cells, self.labels, self.sizes, self.n_classes)


def _by_class(cell: Positions, n_cells: int, labels: Positions, sizes: Ints, n_classes: int) -> Floats:
    """Rows of each cell by class: shape (cells, classes)."""
    table = np.bincount(cell * n_classes + labels, sizes, minlength=n_cells * n_classes)
    return table.reshape(n_cells, n_classes).astype(np.float64, copy=False)


def _left_out(cell: Positions, groups: Positions | None, labels: Positions, sizes: Ints, n_classes: int) -> Floats:
    """Rows of the cell of each entry that do not vote for its rows: the row itself, or all of its group, by class."""
    if groups is None:
        return np.asarray(labels[:, None] == np.arange(n_classes), np.float64)
    places, place = np.unique(cell * (groups.max(initial=0) + 1) + groups, return_inverse=True)
    return _by_class(place, len(places), labels, sizes, n_classes)[place]


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


# ---------------------------------------------------------------- screening

Screened: TypeAlias = tuple[float, tuple[int, ...]]
"""A normal score, and the features of a set."""
Indicators: TypeAlias = NDArray[np.float32]
"""Shape (rows, values - 1, features): 1 where a row has the value; the last value follows from the others."""


def n_screened(n_values: Ints, n_rows: int, n_classes: int, size: int) -> int:
    """How many features, the first ones, are screened in sets of two or three; ``n_values`` are in their order.

    ``n_classes`` is the number of columns of residuals. Dividing and summing a cell takes as long as some hundred rows;
    threes are pairs within the rows of each value of the third feature.
    """
    columns, rows = np.cumsum(n_values - 1.0) ** 2, min(n_rows, SCREENED_ROWS[size])
    if size == 2:
        products = n_classes * (rows + 400) * columns
    else:
        products = (rows * np.arange(len(n_values)) + 100 * np.cumsum(n_values)) * columns / 3
    return int(np.searchsorted(products, WORK[size], side="right"))


def screen_pairs(codes: Codes, n_values: Ints, residuals: Floats, variances: Floats) -> list[Screened]:
    """The pairs of features that explain most of some residuals, best first; of equal ones, those of earlier columns.

    ``codes`` has shape (rows, features); ``residuals`` and their ``variances`` have shape (rows, classes), with the
    weight of the row. One class may be left out: its residuals follow from the others.
    """
    blocks, best = _blocks(n_values), _Best()
    with one_blas_thread():
        for place, first in enumerate(blocks):
            left = _indicators(codes, n_values, first)
            for second in blocks[place:]:
                right = left if second is first else _indicators(codes, n_values, second)
                z = _z_scores(*_chi_square(left, right, residuals, variances))
                best.add(_above_diagonal(z) if second is first else z, first, second)
    return best.found


def screen_threes(codes: Codes, n_values: Ints, residuals: Floats, variances: Floats) -> list[Screened]:
    """The same for three features: pairs within the rows of each value of a third one.

    Sets with more combinations of values than rows are left out.
    """
    blocks, best = _blocks(n_values), _Best()
    held = [_indicators(codes, n_values, block) for block in blocks]
    with one_blas_thread():
        for place, block in enumerate(blocks):
            for k, third in enumerate(block.tolist()):
                parts = [np.flatnonzero(codes[:, third] == value) for value in np.unique(codes[:, third])]
                later = [(block[k + 1 :], held[place][:, :, k + 1 :])] if k + 1 < len(block) else []
                later += zip(blocks[place + 1 :], held[place + 1 :], strict=True)
                for i, (first, left) in enumerate(later):
                    for j, (second, right) in enumerate(later[i:]):
                        sums = [_chi_square(left[p], right[p], residuals[p], variances[p]) for p in parts]
                        z = _z_scores(*np.sum(sums, axis=0))
                        n_cells = n_values[third] * n_values[first][:, None] * n_values[second]
                        z[n_cells > len(codes)] = -math.inf
                        best.add(z if j else _above_diagonal(z), first, second, third)
    return best.found


def _blocks(n_values: Ints) -> list[Positions]:
    """Features of similar numbers of values, together of about 400 indicator columns: their products stay in cache."""
    blocks: list[list[int]] = []
    for feature in np.argsort(n_values, kind="stable").tolist():
        n = int(n_values[feature])  # the most of the block: the others have columns of 0
        if not blocks or n > 2 * n_values[blocks[-1][0]] or len(blocks[-1]) * (n - 1) >= 400:
            blocks.append([])
        blocks[-1].append(feature)
    return [np.array(block) for block in blocks]


def _indicators(codes: Codes, n_values: Ints, features: Positions) -> Indicators:
    """The indicators of some features."""
    values = np.arange(max(int(n_values[features].max()) - 1, 1))
    held: Indicators = (codes[:, None, features] == values[:, None]).astype(np.float32)
    return held


def _chi_square(left: Indicators, right: Indicators, residuals: Floats, variances: Floats) -> tuple[Floats, Floats]:
    """Statistic and degrees of freedom of each feature on the left with each on the right."""
    statistic, freedom = np.zeros((2, left.shape[2], right.shape[2]))
    for residual, variance in zip(residuals.T, variances.T, strict=True):
        summed, spread = _cells(left, right, residual), _cells(left, right, variance)
        is_enough = spread > 1.001  # about five rows; rounding must not decide about four
        summed *= summed
        statistic += np.divide(summed, spread, out=np.zeros_like(summed), where=is_enough).sum(axis=(0, 2))
        freedom += np.count_nonzero(is_enough, axis=(0, 2))
    return statistic, freedom


def _cells(left: Indicators, right: Indicators, weights: Floats) -> NDArray[np.float32]:
    """Sums of weights by value of two features: shape (values, features on the left, values, features on the right).

    Textbook: a product of the indicators of all values. That of the last value is what the others leave.
    """
    (_, a, n), (_, b, m) = left.shape, right.shape
    weights = weights.astype(np.float32)
    weighted = (left * weights[:, None, None]).reshape(len(weights), -1)
    cells = np.empty((a + 1, n, b + 1, m), np.float32)
    cells[:-1, :, :-1] = (weighted.T @ right.reshape(len(weights), -1)).reshape(a, n, b, m)
    cells[:-1, :, -1] = weighted.sum(axis=0).reshape(a, n, 1) - cells[:-1, :, :-1].sum(axis=2)
    of_right = (weights @ right.reshape(len(weights), -1)).reshape(b, m)
    of_right = np.concatenate([of_right, weights.sum() - of_right.sum(axis=0, keepdims=True)])
    cells[-1] = of_right - cells[:-1].sum(axis=0)
    return cells


def _z_scores(statistic: Floats, freedom: Floats) -> Floats:
    """How far chi-square lies above its mean, as a normal score; minus infinity without degrees of freedom."""
    # Wilson and Hilferty: the cube root of chi-square divided by its degrees of freedom is nearly normal
    f = np.maximum(freedom, 1.0)
    z = (np.cbrt(statistic / f) - (1 - 2 / (9 * f))) / np.sqrt(2 / (9 * f))
    return np.where(freedom > 0, z, -math.inf)


def _above_diagonal(z: Floats) -> Floats:
    """Each pair once."""
    return np.where(np.tri(*z.shape, dtype=np.bool_), -math.inf, z)


class _Best:
    """The sets of features with the smallest p-values so far."""

    def __init__(self) -> None:
        self.found: list[Screened] = []

    def add(self, z: Floats, first: Positions, second: Positions, *third: int) -> None:
        """Add the pairs of a block by their z-scores, which rounding may change by 1e-4."""
        least = self.found[-1][0] if len(self.found) == LIKELY else -math.inf
        if z.size > LIKELY:
            least = max(least, float(np.partition(z, -LIKELY, axis=None)[-LIKELY]))
        for i, j in np.argwhere((z >= least - 1e-4) & (z > -math.inf)).tolist():
            self.found.append((round(float(z[i, j]), 4), tuple(sorted((int(first[i]), int(second[j]), *third)))))
        self.found = sorted(self.found, key=lambda one: (-one[0], one[1]))[:LIKELY]


# ---------------------------------------------------------------- the deciding set


class Decider:
    """The search for the deciding set of one table.

    ``owner`` is the feature of each column of the voting rows: columns from ``n_features`` on are numbers in other
    numbers of bins. Of features that predict equally well the first in ``rank`` is chosen, so that the order of columns
    does not matter. ``some_rows`` are the voting rows on which sets of two and of three are screened.
    """

    def __init__(self, voting: Voting, owner: Ints, rank: Ints, some_rows: Mapping[int, Positions]) -> None:
        self.voting, self.owner, self.rank, self.some_rows = voting, owner, rank, some_rows
        self.bins: dict[int, list[int]] = {}
        for column, feature in enumerate(owner.tolist()):
            self.bins.setdefault(feature, []).append(column)
        varies, rows = np.flatnonzero(voting.varies[: len(self.bins)]).tolist(), voting.rows
        # of equal columns only the first takes part
        equal = equal_columns(rows.codes, rows.n_values, varies)
        varying = [group[0] for group in equal]
        self.original = {copy: group[0] for group in equal for copy in group[1:]}
        """For each copy the first of the equal columns."""
        self.varying: list[int] = sorted(varying, key=lambda f: int(rank[f]))
        n = max(FEWEST, len(varying))
        self.needs = {size: GATE * math.log(math.comb(n, size)) for size in (1, 2, 3)}
        """Smallest gain of one, two and three features."""
        self.need = self.needs[1]
        self.alone = voting.gains(voting.start, varying)
        by_gain = sorted(varying, key=lambda f: (-round(self.alone[f], 6), int(rank[f])))
        shape = len(rows.codes), min(rows.n_labels, SCREENED_CLASSES) - 1
        self.screened = {size: by_gain[: n_screened(rows.n_values[by_gain], *shape, size)] for size in (2, 3)}
        """The features that are screened in sets of two and of three: all, or those with the largest gains alone."""
        self._n_cells: dict[frozenset[int], int] = {}
        self.has_refused = False
        """Whether features that act together found no room."""
        self._members: list[int] = []
        self.partners: dict[int, tuple[int, ...]] = {}
        """The features that each feature acts with."""

    def decide(self) -> list[int]:
        """The deciding set: features, or numbers in another number of bins."""
        self._members, self.partners, allowed = [], {}, list(self.varying)
        self._grow(allowed)
        seen: set[tuple[int, ...]] = set()
        while tuple(self._members) not in seen:
            seen.add(tuple(self._members))
            grown = list(self._members)
            self._choose_bins()
            self._spare_or_replace(allowed)
            if self._members != grown:  # else nothing was found to add
                self._grow(allowed)
        return self._members

    def has_room(self, members: Sequence[int]) -> bool:
        """Whether there are enough rows per combination of the members' values."""
        rows, key = self.voting.rows, frozenset(members)
        if key not in self._n_cells:
            self._n_cells[key] = 1 if len(members) < 2 else len(RowContexts.by(rows, sorted(members)))
        return len(members) < 2 or self.is_enough(self._n_cells[key], rows.n_rows)

    def is_enough(self, n_cells: int, n_rows: int) -> bool:
        """Whether there are enough rows for this number of combinations."""
        return n_cells * ROWS_PER_CELL <= n_rows

    def likely(self, state: State, features: Sequence[int], size: int) -> list[tuple[int, ...]]:
        """The sets of two or three features that best explain what a state leaves of the labels, best first."""
        rows, tried = self.voting.rows, list(features)
        if len(self.screened[size]) < len(self.varying):
            screened = set(self.screened[size])
            tried = [f for f in tried if f in screened]
        if len(tried) < size:
            return []
        some = self.some_rows[size]
        labels, shares = rows.labels[some], state.shares()[state.of_row[some]]
        weights = np.ones(len(some)) if rows.weights is None else rows.weights[some].astype(np.float64)
        # the residuals of the most frequent class follow from those of the others
        classes = np.argsort(-np.bincount(labels, weights, minlength=rows.n_labels), kind="stable")
        classes = classes[1:SCREENED_CLASSES]
        best = (screen_pairs if size == 2 else screen_threes)(
            rows.codes[some][:, tried],
            rows.n_values[tried],
            weights[:, None] * ((labels[:, None] == classes) - shares[:, classes]),
            weights[:, None] * (shares * (1 - shares))[:, classes],
        )
        return [tuple(tried[place] for place in places) for _, places in best]

    def _together(self, members: Sequence[int]) -> frozenset[int]:
        """Those of some members whose partners are all among them."""
        inside = {int(self.owner[c]) for c in members}
        return frozenset(c for c in members if inside.issuperset(self.partners.get(int(self.owner[c]), (-1,))))

    def _follow(self, members: Sequence[int]) -> State:
        """The votes of some members."""
        return self.voting.follow(members, self._together(members))

    def _outside(self, members: Sequence[int], features: Sequence[int]) -> list[int]:
        """Those of some features that are not the features of members."""
        inside = {int(self.owner[c]) for c in members}
        return [f for f in features if f not in inside]

    def _grow(self, allowed: list[int]) -> None:
        """Add members as long as one, two or three features have enough gain."""
        while len(self._members) < MOST_MEMBERS:
            state, outside = self._follow(self._members), self._outside(self._members, allowed)
            gains = self.voting.gains(state, outside) if state.features else self.alone
            most = max((gains[f] for f in outside), default=-math.inf)
            if most >= self.need:
                # the first of equal ones
                best = next(f for f in outside if gains[f] >= most - EQUAL_GAINS * abs(state.value))
                is_copy = any(remaining_entropy(self.voting.rows, best, c) <= COPY for c in self._members)
                if is_copy or not self.has_room([*self._members, best]):
                    allowed.remove(best)  # a copy's vote would only count the same rows twice
                else:
                    self._members.append(best)
                continue
            together = self._best_set(state, outside, 2) or self._best_set(state, outside, 3)
            if together is None:
                return
            if not self.has_room([*self._members, *together]):
                self.has_refused = True
                return
            self._members += together
            for feature in together:
                self.partners[feature] = tuple(f for f in together if f != feature)

    def _best_set(self, state: State, outside: Sequence[int], size: int) -> list[int] | None:
        """Two or three outside features with the largest gain together if that is enough; the first of equal ones.

        The gain depends a little on the order of the features: the one with the largest gain alone comes first, so that
        the order of columns, or a copy of one, does not matter.
        """
        rows, tie, gains = self.voting.rows, EQUAL_GAINS * abs(state.value), list[tuple[float, list[int]]]()
        for features in self.likely(state, outside, size):
            if math.prod(rows.n_values[list(features)].tolist()) <= len(rows.codes):
                ordered = sorted(features, key=lambda f: (-round(self.alone[f], 6), int(self.rank[f])))
                gains.append((self._gain_together(state, ordered), ordered))
        most = max((gain for gain, _ in gains), default=-math.inf)
        if most < self.needs[size] - tie or len(self._members) + size > MOST_MEMBERS:
            return None
        equal = (features for gain, features in gains if gain >= most - tie)
        return min(equal, key=lambda features: sorted(self.rank[features].tolist()))

    def _gain_together(self, state: State, features: Sequence[int]) -> float:
        """The gain of outside features that vote together."""
        together = self._together(self._members).union(features)
        return self.voting.follow([*self._members, *features], together).value - state.value

    def _choose_bins(self) -> None:
        """Give every number among the members the number of bins that predicts best beside the others."""
        for place, column in enumerate(self._members):
            choices = self.bins[int(self.owner[column])]
            values = {c: self._follow([*self._members[:place], c, *self._members[place + 1 :]]).value for c in choices}
            best = max(choices, key=lambda c: values[c])
            if values[best] > values[column] + EQUAL_GAINS * abs(values[column]):
                self._members[place] = best

    def _spare_or_replace(self, allowed: Sequence[int]) -> None:
        """Drop the member with the smallest gain if that is too small, or replace a member by a better feature."""
        value = self._follow(self._members).value
        tried = sorted(self._outside(self._members, allowed), key=lambda f: -self.alone[f])[:MOST_TRIED]
        best: tuple[float, list[int]] | None = None
        for column in self._members:
            feature = int(self.owner[column])
            rest = [c for c in self._members if c != column]
            state = self._follow(rest)
            loss = value - state.value
            if loss < self.need and feature not in self.partners:
                rise, changed = -loss, rest
            else:
                gains = self.voting.gains(state, tried) if rest else self.alone
                order = sorted(tried, key=lambda f: -gains[f])
                if not order or gains[order[0]] - loss <= EQUAL_GAINS * abs(value):
                    continue
                rise, changed = gains[order[0]] - loss, [*rest, order[0]]
            if best is None or rise > best[0]:
                best = rise, changed
        if best is not None:
            self._members = best[1]
            inside = {int(self.owner[c]) for c in self._members}
            self.partners = {f: p for f, p in self.partners.items() if f in inside and inside.issuperset(p)}
