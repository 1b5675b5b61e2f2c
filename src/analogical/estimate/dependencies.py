"""Functional dependencies between columns, with their support, and near-copies of columns.

Columns determine another one if rows that are equal on them are equal on it. Among such rows every row after the first
is a test. A dependency counts only if an unrelated column with the same values would rarely pass all tests: a column of
distinct numbers "determines" everything, because no row can show otherwise.

A column is a near-copy of another one that leaves little of its entropy, if chance does not explain that.
Columns that predict the label nearly alone may be leaks of it.
"""

import math
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass, replace
from itertools import combinations
from typing import Any, NamedTuple

import numpy as np

from analogical._types import Codes, Floats, Ints, Positions
from analogical.count.given import RowContexts, tables_given
from analogical.count.groups import CodedRows, equal_columns, number_groups
from analogical.estimate.sizes import ROUNDING
from analogical.estimate.status import LEVEL


def remaining_entropy(rows: CodedRows, feature: int, other: int) -> float:
    """Share of the entropy of a column that remains given another one; 1 for a constant column."""
    return float(remaining_entropies(rows.select([feature]), rows.codes[:, other])[0])


def remaining_entropies(rows: CodedRows, column: Codes) -> Floats:
    """The same for every feature of the rows, given one column.

    Of a feature with missing cells it is the share in the rows where it is known, if that is larger: two columns that
    are missing in the same rows tell each other that, but not what they hold.
    """
    remaining = np.ones(rows.n_features)
    unlabelled = replace(rows, labels=np.zeros(len(column), np.uint8), n_labels=1)
    for features, counts in tables_given(unlabelled, RowContexts.of([column], len(column)), range(rows.n_features)):
        tables = counts[..., 0]
        remaining[features] = _remaining(tables, np.ones(len(features)))
        if rows.has_missing is not None and (gaps := np.flatnonzero(rows.has_missing[features])).size:
            known = tables[gaps]
            known[np.arange(len(gaps)), :, rows.n_values[features][gaps] - 1] = 0
            place = np.asarray(features)[gaps]
            remaining[place] = np.maximum(remaining[place], _remaining(known, remaining[place]))
    return remaining


def _remaining(tables: Ints, otherwise: Floats) -> Floats:
    """Share of the entropy of the last axis that remains given the one before, and what it is if there is none."""
    whole = entropies(tables.sum(axis=1))
    together, alone = entropies(tables.reshape(len(tables), -1)), entropies(tables.sum(axis=2))
    return np.divide(np.maximum(together - alone, 0.0), whole, out=otherwise.copy(), where=whole > 0)


def entropies(sizes: Ints) -> Floats:
    """The entropy of each row of sizes."""
    from scipy.special import xlogy

    share = sizes / np.maximum(sizes.sum(axis=1, keepdims=True), 1)
    return np.asarray(-xlogy(share, share).sum(axis=1))


def explained_by_chance(rows: CodedRows, feature: int, n_values: int) -> float:
    """Expected share of the entropy of a column that an unrelated column of n_values explains (Miller and Madow)."""
    sizes = rows.value_sizes(feature)
    whole = float(entropies(sizes[None])[0])
    return (np.count_nonzero(sizes) - 1) * (n_values - 1) / (2 * sizes.sum() * whole) if whole > 0 else 0.0


N_HEAD = 1_000
"""Rows on which a dependency is tried before all rows: time."""
MAX_ONE = 30_000
"""Largest number of columns for dependencies on one column: about ten seconds."""
MAX_TWO = 464
"""Largest number of columns for dependencies on two columns: about ten seconds."""
NEAR = 0.25
"""A column is a near-copy if another one leaves at most this share of its entropy. In five bins that is what normal
numbers with a correlation of .995 leave. Radius, perimeter and area of the breast-cancer cells leave .07 to .23 of each
other, the next pair .33."""


class Determined(NamedTuple):
    """A column that others determine, by position."""

    column: int
    by: tuple[int, ...]
    support: int
    """Number of tests that the dependency passed."""


class Near(NamedTuple):
    """A column and the one that leaves least of its entropy, by position."""

    column: int
    of: int
    remaining: float
    """Share of its entropy that remains given the other one."""


@dataclass(frozen=True)
class Dependencies:
    """All dependencies among columns, by position."""

    renamings: tuple[tuple[int, ...], ...]
    """Groups of columns that divide the rows in the same way."""
    determined: tuple[Determined, ...]
    """With the first column of each group of renamings only."""
    near: tuple[Near, ...]
    """Near-copies, the nearest first; each column once."""
    searched_one: bool
    searched_two: bool
    searched_near: bool


def find_dependencies(rows: CodedRows, max_determinants: int) -> Dependencies:
    """Features that are equal up to renaming of values, that one or two others determine, or that are near-copies.

    Examples
    --------
    >>> towns, countries = [0, 1, 2, 0, 1, 2] * 5, [0, 0, 1, 0, 0, 1] * 5
    >>> codes, no_labels = np.column_stack([towns, countries]).astype(np.uint8), np.zeros(30, np.uint8)
    >>> find_dependencies(CodedRows(codes, no_labels, np.array([3, 2]), 1), 1).determined
    (Determined(column=1, by=(0,), support=27),)
    """
    search, n_values = _Search(rows), rows.n_values
    varying = np.flatnonzero(n_values > 1).tolist()
    renamings = search.renamings(varying)
    left_out = {i for group in renamings for i in group[1:]}
    columns = np.array([i for i in varying if i not in left_out], np.intp)
    searched_one = len(columns) <= MAX_ONE
    searched_two = max_determinants == 2 and len(columns) <= MAX_TWO
    if searched_two:
        # With more combinations of values than this, hardly any of the first rows agree on two columns, so all rows
        # must be sorted: at most 400 million, about twenty seconds.
        n_sorted = int(np.count_nonzero(np.outer(n_values[columns], n_values[columns]) > 50_000)) // 2
        searched_two = n_sorted * len(rows.codes) <= 400_000_000
    determined: list[Determined] = []
    if searched_one:
        determined += search.by_one(columns)
    if searched_two:
        determined += search.by_two(columns, determined)
    determined.sort(key=lambda one: (len(one.by), one.column, one.by))
    near = _near_copies(rows, columns, determined)
    return Dependencies(
        tuple(renamings), tuple(determined), tuple(near or ()), searched_one, searched_two, near is not None
    )


class _Search:
    """The search for dependencies among the features of some rows."""

    def __init__(self, rows: CodedRows) -> None:
        self.rows, self.n_rows = rows, rows.n_rows
        some = np.random.default_rng(0).permutation(len(rows.codes))[:N_HEAD]
        self.head: Codes = np.ascontiguousarray(rows.codes[some])
        """Rows on which dependencies are tried first; no result depends on the choice."""
        self.evidence = np.array([self._evidence(i) for i in range(rows.n_features)])
        self._last: tuple[tuple[int, ...], _Sorted] | None = None
        """The rows sorted last, and by which columns."""

    def _sorted_by(self, by: tuple[int, ...]) -> "_Sorted":
        """The rows sorted by some columns."""
        if self._last is None or self._last[0] != by:
            self._last = by, _Sorted.of(self.rows.codes, self.rows.n_values, by)
        return self._last[1]

    def _shares(self, column: int) -> Floats:
        return np.asarray(self.rows.value_sizes(column) / self.n_rows)

    def _evidence(self, column: int) -> float:
        """Upper limit of the evidence of one test: minus the log of the sum of the squared shares of the values.

        An unrelated column passes in a group of rows with the probability sum over values of share^size. That is the
        mean of share^(size - 1), at least the (size - 1)-th power of the mean share, which is the sum of the squares.
        """
        return -math.log(min(float((self._shares(column) ** 2).sum()), 1.0))

    def renamings(self, varying: Sequence[int]) -> list[tuple[int, ...]]:
        """Groups of two or more columns that divide the rows in the same way, with enough support."""
        n_values = self.rows.n_values
        likely = [group for group in equal_columns(self.head, n_values, varying) if len(group) > 1]
        groups = [group for alike in likely for group in equal_columns(self.rows.codes, n_values, alike)]
        return sorted(g for g in groups if len(g) > 1 and self._supported((g[0],), [g[1]], len(varying) - 1))

    def by_one(self, columns: Positions) -> Iterator[Determined]:
        """All dependencies on one column."""
        n_candidates = len(columns) - 1
        needed = math.log(max(n_candidates, 1) / LEVEL)
        for i in columns.tolist():
            targets = self._determined((i,), columns[columns != i], needed)
            yield from self._supported((i,), targets, n_candidates)

    def by_two(self, columns: Positions, by_one: Sequence[Determined]) -> Iterator[Determined]:
        """All dependencies on two columns, neither of which determines the target alone."""
        alone = {i: self._determined((i,), columns[columns != i], 0.0) for i in columns.tolist()}
        n_known = np.bincount([one.column for one in by_one], minlength=self.rows.n_features)
        for a, b in combinations(columns.tolist(), 2):
            others = columns[(columns != a) & (columns != b)]
            for target in self._determined((a, b), others, math.log(1 / LEVEL)):
                if target not in alone[a] and target not in alone[b]:
                    n_candidates = math.comb(len(columns) - 1 - int(n_known[target]), 2)
                    yield from self._supported((a, b), [target], n_candidates)

    def _determined(self, by: tuple[int, ...], targets: Positions, needed: float) -> list[int]:
        """The targets that some columns determine, if the tests can give the evidence needed."""
        head, ordered = self.head, _Sorted.of(self.head, self.rows.n_values, by)
        # a few pairs of rows refute nearly all dependencies
        one, other = (head[ordered.order[ordered.repeats[:8] + step]] for step in (0, 1))
        agrees_at_first = (one == other).all(axis=0)
        likely = _agreeing(head, ordered, targets[agrees_at_first[targets]])
        if not len(likely):
            return []
        ordered = self._sorted_by(by)
        n_tests = self.n_rows - len(ordered.order) + len(ordered.repeats)
        can_have_evidence = n_tests * self.evidence[likely] >= needed - ROUNDING
        determined: list[int] = _agreeing(self.rows.codes, ordered, likely[can_have_evidence]).tolist()
        return determined

    def _supported(self, by: tuple[int, ...], targets: Sequence[int], n_candidates: int) -> list[Determined]:
        """The dependencies that an unrelated column would rarely show, with their support."""
        if not targets:
            return []
        ordered = self._sorted_by(by)
        starts = np.delete(np.arange(len(ordered.order)), ordered.repeats + 1)
        sizes = np.add.reduceat(self.rows.weights_or_ones()[ordered.order], starts)
        needed = math.log(max(n_candidates, 1) / LEVEL)
        supported = [t for t in targets if log_chance_of_constant(self._shares(t), sizes) <= -needed]
        return [Determined(target, by, self.n_rows - len(sizes)) for target in supported]


def log_chance_of_constant(shares: Floats, sizes: Ints) -> float:
    """Log of the probability that rows drawn by the shares of some values have one value in each group of these sizes.

    In a group it is the sum over values of share^size.
    """
    size, times = np.unique(sizes, return_counts=True)
    largest = float(shares.max())
    luck = size * math.log(largest) + np.log(((shares / largest) ** size[:, None]).sum(axis=1))
    return float((times * luck).sum())


def _near_copies(rows: CodedRows, columns: Positions, determined: Sequence[Determined]) -> list[Near] | None:
    """Columns of which another one leaves little entropy, each once; None if there are too many columns.

    In large tables pairs are searched on a sample of the rows; the entropy is then computed on all rows.
    """
    columns = columns[rows.n_values[columns] <= 1_000]  # more: memory
    n_looked_at = min(len(rows.codes), 500_000_000 // max(len(columns), 1) ** 2)
    if n_looked_at < min(len(rows.codes), N_HEAD) or rows.n_values[columns].sum() > 16_000:
        return None
    limits = np.array([_most_remaining(rows, int(column), rows.n_values[columns]) for column in columns])
    known = {frozenset((one.column, *one.by)) for one in determined}
    some = rows.select(columns.tolist())
    if n_looked_at < len(rows.codes):
        some = some.take(np.random.default_rng(0).permutation(len(rows.codes))[:n_looked_at])
    pairs = []
    for place, of in enumerate(columns.tolist()):
        remaining = remaining_entropies(some, some.codes[:, place])
        near = np.flatnonzero((remaining <= limits[:, place]) & (columns != of))
        pairs += [Near(int(columns[k]), of, float(remaining[k])) for k in near]
    pairs = [pair for pair in pairs if {pair.of, pair.column} not in known]
    # of two near-copies the first is kept
    pairs.sort(key=lambda pair: (round(pair.remaining, 2), pair.of, pair.column))
    return sorted(_each_once(rows, pairs), key=lambda pair: (round(pair.remaining, 2), pair.of, pair.column))


def _most_remaining(rows: CodedRows, column: int, n_values: Ints) -> Floats:
    """The shares of its entropy that columns with these numbers of values may leave: less where chance explains much.

    The mutual information of two unrelated columns of r and c values is at most ln(1 + X), where X is the mean square
    contingency, which is (r - 1) (c - 1) / (n - 1) on average over all orders of the rows.
    """
    entropy = entropies(rows.value_sizes(column)[None])
    by_chance = np.log1p((rows.n_values[column] - 1) * (n_values - 1) / (rows.n_rows - 1)) / entropy
    return np.asarray(NEAR * np.maximum(1 - by_chance, 0.0))


def _each_once(rows: CodedRows, pairs: Sequence[Near]) -> Iterator[Near]:
    """Every column with its nearest one; no cycles, and no pairs in which one determines the other."""
    chosen: dict[int, int] = {}
    for pair in pairs:
        last = pair.of
        while last in chosen and last != pair.column:
            last = chosen[last]
        if pair.column in chosen or last == pair.column:
            continue
        remaining = remaining_entropy(rows, pair.column, pair.of)  # on all rows
        is_exact = min(remaining, remaining_entropy(rows, pair.of, pair.column)) <= ROUNDING
        if remaining <= NEAR and not is_exact:
            chosen[pair.column] = pair.of
            yield Near(pair.column, pair.of, remaining)


@dataclass(frozen=True)
class _Sorted:
    """Rows sorted by some columns."""

    order: Positions
    repeats: Positions
    """Positions in ``order`` whose next row has the same values."""

    @classmethod
    def of(cls, codes: Codes, n_values: Ints, by: tuple[int, ...]) -> "_Sorted":
        """From the codes of all columns, and the columns to sort by."""
        joint = codes[:, by[0]].astype(np.int64)
        for i in by[1:]:
            joint = joint * int(n_values[i]) + codes[:, i]
        order = np.argsort(joint, kind="stable")
        ordered = joint[order]
        return cls(order, np.flatnonzero(ordered[1:] == ordered[:-1]))


def confirmed(found: Dependencies, rows_of: Callable[[Sequence[int]], CodedRows]) -> Dependencies:
    """What a sample shows and all rows show too; ``rows_of`` groups all rows by some columns.

    Of columns that are equal in the sample only the first is searched, so what holds for another one is not found.
    """

    def sizes(*columns: int) -> Ints:
        """Rows of each combination of values."""
        rows = rows_of(columns)
        ids = number_groups(rows.codes, rows.n_values, range(len(columns)))
        return np.bincount(np.unique(ids, return_inverse=True)[1], rows.weights).astype(np.int64)

    def is_determined(column: int, *by: int) -> bool:
        return len(sizes(*by)) == len(sizes(*by, column))

    renamings = []
    for first, *others in found.renamings:
        group = [i for i in others if is_determined(i, first) and is_determined(first, i)]
        renamings += [(first, *group)] if group else []
    determined = [
        one._replace(support=int(sizes().sum()) - len(sizes(*one.by)))
        for one in found.determined
        if is_determined(one.column, *one.by)
    ]
    near = [two._replace(remaining=remaining_entropy(rows_of((two.column, two.of)), 0, 1)) for two in found.near]
    near = [two for two in near if two.remaining <= NEAR]
    return replace(found, renamings=tuple(renamings), determined=tuple(determined), near=tuple(near))


def _agreeing(codes: Codes, ordered: _Sorted, columns: Positions) -> Positions:
    """The columns on which each repeated row agrees with the next one."""
    start = 0
    while start < len(ordered.repeats) and len(columns):
        # codes that stay in cache
        chunk = ordered.repeats[start : start + max(2**18 // len(columns), 1)]
        one, other = (codes[np.ix_(ordered.order[chunk + step], columns)] for step in (0, 1))
        columns = columns[(one == other).all(axis=0)]
        start += len(chunk)
    return columns


PREDICTED_SHARE = 0.9
"""Share of the rows outside the largest class that a column must predict to be named."""
FEWEST_ROWS = 50
"""In smaller tables a column may nearly predict the label by chance (fewer than 20 rows: be a copy of it)."""
MAX_VALUES = 64
"""Columns with more values are not tried: with few rows per value, they seem to predict anything."""
N_SAMPLE = 5_000
"""Rows that are tried first: time."""


def find_leaks(rows: CodedRows) -> dict[int, float]:
    """Columns that predict the label in nearly all rows, with the share of rows that they predict."""
    return dict(sorted((_nearly_tell(rows) | dict.fromkeys(_copies(rows), 1.0)).items()))


def _copies(rows: CodedRows) -> list[int]:
    """Columns that are the label with other names for its values, if there are enough rows."""
    possible = np.flatnonzero(rows.n_values == rows.n_labels).tolist() if rows.n_rows >= 20 else []
    for some in (slice(100), slice(None)):  # a few rows rule out nearly all columns
        codes = np.column_stack([rows.codes[some][:, possible], rows.labels[some]])
        alike = equal_columns(codes, np.full(len(possible) + 1, rows.n_labels), range(len(possible) + 1))
        possible = [possible[k] for k in next(group for group in alike if len(possible) in group)[:-1]]
    return possible


def _nearly_tell(rows: CodedRows) -> dict[int, float]:
    """Columns with few values that predict the label in nearly all rows."""
    if rows.n_rows < FEWEST_ROWS or not 2 <= rows.n_labels <= MAX_VALUES:
        return {}
    few = np.flatnonzero((rows.n_values > 1) & (rows.n_values <= MAX_VALUES)).tolist()
    n_sampled = max(200, min(N_SAMPLE, 4_000_000 // max(1, len(few))))
    step = -(-len(rows.codes) // n_sampled)
    likely = _telling(rows.take(np.arange(0, len(rows.codes), step)), few) if step > 1 else few
    return _telling(rows, likely)


def predicted_by_cut(ranks: Ints, labels: Codes, weights: Ints | None) -> float | None:
    """The share of the rows whose label a threshold of a number predicts; None unless that is nearly all.

    ``ranks`` are the ranks of the values, -1 for missing ones. With two classes one threshold may fail in a few rows,
    as after rounding; with more classes every class must be an interval of values. Of labels of very many codes, which
    are numbers, it is the squared rank correlation, unless that is below .98: a rounded price has more.
    """
    if len(ranks) < FEWEST_ROWS:
        return None
    if len(ranks) > 2 * N_SAMPLE:  # a few rows rule out nearly all columns
        some = slice(None, None, len(ranks) // N_SAMPLE)
        if predicted_by_cut(ranks[some], labels[some], None if weights is None else weights[some]) is None:
            return None
    n_labels = int(labels.max()) + 1
    if n_labels > MAX_VALUES:
        return _shared_order(ranks, labels, np.ones(len(ranks)) if weights is None else weights)
    if n_labels < 2:
        return None
    sizes = np.bincount(labels, weights, minlength=n_labels)
    n_rows, base = float(sizes.sum()), float(sizes.max())
    is_there = ranks >= 0
    _, places = np.unique(ranks[is_there], return_inverse=True)
    keys = places * n_labels + labels[is_there]
    table = np.bincount(
        keys, None if weights is None else weights[is_there], minlength=(places.max(initial=-1) + 1) * n_labels
    )
    table = table.reshape(-1, n_labels)
    if n_labels == 2:
        up_to = np.cumsum(table, axis=0)
        above = up_to[-1:] - up_to
        predicted = max((up_to[:, 0] + above[:, 1]).max(initial=0), (up_to[:, 1] + above[:, 0]).max(initial=0))
    else:
        of_value = table.argmax(axis=1)
        is_span = ((table > 0).sum(axis=1) == 1).all() and np.count_nonzero(np.diff(of_value)) == n_labels - 1
        predicted = table.sum() if is_span else 0
    return float(predicted) / n_rows if predicted - base >= PREDICTED_SHARE * (n_rows - base) else None


def _shared_order(ranks: Ints, labels: Codes, weights: Any) -> float | None:
    """The squared rank correlation of a number with labels in order; None unless that is nearly 1, as of rounding."""
    held = ranks >= 0
    if weights[held].sum() < PREDICTED_SHARE * weights.sum():
        return None
    places = []
    for codes in (np.unique(ranks[held], return_inverse=True)[1], labels[held]):
        sizes = np.bincount(codes, weights[held])
        places.append((np.cumsum(sizes) - sizes / 2)[codes])
    covariance = np.cov(np.stack(places), aweights=weights[held])
    variances = covariance[0, 0] * covariance[1, 1]
    shared = float(covariance[0, 1] ** 2 / variances) if variances > 0 else 0.0
    return min(shared, 1.0) if shared >= 0.98 else None


def _telling(rows: CodedRows, columns: Iterable[int]) -> dict[int, float]:
    """The columns that predict the label in nearly all rows, with the share of rows that they predict."""
    telling: dict[int, float] = {}
    sizes = rows.label_sizes()
    n_rows, base = int(sizes.sum()), int(sizes.max())
    for block, tables in tables_given(rows, RowContexts.of([], len(rows.codes)), columns):
        largest = tables[:, 0].max(axis=2)
        predicted = np.where(largest > 1, largest, 0).sum(axis=1)  # a value of one row predicts nothing
        is_leak = predicted - base >= PREDICTED_SHARE * (n_rows - base)
        telling |= {block[k]: float(predicted[k]) / max(n_rows, 1) for k in np.flatnonzero(is_leak).tolist()}
    return telling
