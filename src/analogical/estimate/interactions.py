"""Interaction of two features: its effect, interval and p-value.

Let p_a .. p_d be the shares of a label in the four cells of a square. How much a change of feature i changes the share
depends on feature j by p_a - p_b - p_c + p_d. The effect of a pair of features is the mean over its squares of

    sum over labels of (p_a - p_b - p_c + p_d)^2 / 8

It is 1 for an exclusive or, 1/4 for an "and", and 0 if shares are additive in the two features: it measures differences
of shares, not of odds. With the observed shares p of all cells of a context the sum over squares is p'Qp, where Q holds
the signs of all squares, weighted by their numbers of rows. This is too large by the variance of the shares, which
cells of n >= 2 rows estimate by p (1 - p) / (n - 1). It is subtracted, so that the effect is unbiased.
"""

import math
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from enum import IntEnum
from functools import partial
from typing import NamedTuple

import numpy as np

from analogical._progress import Progress
from analogical._types import Bools, CodedRows, Floats, Ints, Positions
from analogical.count.given import Cells
from analogical.count.squares import PairTables, count_squares, pair_tables, repeated_cells
from analogical.count.threads import one_blas_thread, run_tasks
from analogical.estimate.interaction_tests import (
    AdditiveFits,
    CommonSums,
    additive_cumulants,
    interaction_projection,
    label_products,
    tail_probability,
)
from analogical.estimate.sizes import t_quantile, upper_end, wilson
from analogical.estimate.status import Status, status_ranks
from analogical.estimate.tests import adjust_for_features, combine

__all__ = [
    "MAX_MATRIX",
    "Moment",
    "PairSums",
    "PairTests",
    "SquareSums",
    "measure_pairs",
    "noise_index",
    "rank_pairs",
    "square_matrix",
    "sum_pairs",
]

MAX_MATRIX = 512
"""Largest number of cells of two features for which matrices over all pairs of cells are made: time and memory."""
MAX_COMMON = 2**24
"""Largest number of pairs of cells times labels for the test of a common interaction: memory."""
MAX_ENTRIES = 2**18
"""Entries of such matrices that are computed at a time: they stay in cache."""
PAIRS_AT_ONCE = 64
"""Pairs of features in one task."""
ENTRIES_AT_ONCE = 2**22
"""Entries of the matrices of all pairs of one task: memory."""
ENTRIES_WAITING = 2**16
"""Entries of tables of the same shape that are collected before they are summed; without this the census takes about
40 % longer."""
LEAST_EXPECTED = 0.25
"""Expected rows of the rarer labels that a cell needs in the test: with less, a single row would decide it."""
SMOOTHING = 0.25
"""Pseudo-rows of each label where the variance of shares is estimated for an interval."""
TINY = 1e-12
"""Relative size below which a sum is the rounding error of 0."""


class Moment(IntEnum):
    """Sums over contexts that effect, interval and test are computed from."""

    EFFECT = 0
    """Sum of the effects of all squares."""
    NOISE = 1
    """Rows times the label variance of their cells; 0 if every cell has a single label."""
    LABELS = 2
    """Variance of EFFECT from random labels; includes PRODUCTS twice."""
    PRODUCTS = 3
    """The part of that variance that remains without any effect."""
    PRODUCTS_ROOT = 4
    """The same for each context, to the power 3/2."""
    EFFECT_EFFECT = 5
    """Sums over cells of products of two of (sum of effects, number of squares), divided by the rows of the cell."""
    EFFECT_WEIGHT = 6
    WEIGHT_WEIGHT = 7
    TEST = 8
    """Statistic of the test of any interaction, followed by its variance and third cumulant."""
    TEST_VARIANCE = 9
    TEST_THIRD = 10


@dataclass(frozen=True)
class SquareSums:
    """Counts and moments of a pair of features, summed over contexts."""

    squares: int
    broken: int
    effect_squares: int
    """Squares whose four cells all hold two rows or more."""
    moments: Floats
    """One for each :class:`Moment`; NaN where there are too many cells."""
    p_common: float = math.nan
    """P-value of the test of an interaction that is the same in all contexts; not additive over contexts."""

    @classmethod
    def none(cls) -> "SquareSums":
        """No context at all."""
        return cls(0, 0, 0, np.zeros(len(Moment)))

    def __add__(self, other: "SquareSums") -> "SquareSums":
        return SquareSums(
            self.squares + other.squares,
            self.broken + other.broken,
            self.effect_squares + other.effect_squares,
            self.moments + other.moments,
        )

    def _moment(self, moment: Moment) -> float:
        return float(self.moments[moment])

    def index(self) -> float:
        """Share of the squares that are broken; NaN without squares."""
        return self.broken / self.squares if self.squares else math.nan

    def effect(self) -> float:
        """The effect; NaN where no square has all cells repeated."""
        if not self.effect_squares:
            return math.nan
        effect = self._moment(Moment.EFFECT) / self.effect_squares
        return effect if abs(effect) > TINY else 0.0

    def n_effective(self) -> float:
        """Effective number of independent squares (Kish)."""
        spread = self._moment(Moment.WEIGHT_WEIGHT)
        return 4 * self.effect_squares**2 / spread if spread > 0 else 0.0

    def interval(self, confidence: float) -> tuple[float, float]:
        """Interval of the effect with rows as independent units; NaN where the effect is.

        The variance has two parts: random labels of the rows in each cell, and random numbers of rows in each cell.
        """
        if not self.effect_squares or not np.isfinite(self.moments).all():
            return math.nan, math.nan
        effect, n = self.effect(), self.n_effective()
        quantile = t_quantile(n, confidence)
        if self._moment(Moment.NOISE) == 0:  # a mean of numbers from 0 to 1
            low, high = wilson(min(max(effect, 0.0), 1.0), n, quantile)
            return min(low, effect), max(high, effect)
        rows = (
            self._moment(Moment.EFFECT_EFFECT)
            - 2 * effect * self._moment(Moment.EFFECT_WEIGHT)
            + effect**2 * self._moment(Moment.WEIGHT_WEIGHT)
        )
        size = float(self.effect_squares)
        least, rows = self._moment(Moment.PRODUCTS) / size**2, max(rows, 0.0) / size**2
        labels = max(self._moment(Moment.LABELS) / size**2 - least, least)
        steepest = 4 * self._moment(Moment.PRODUCTS_ROOT) / self._moment(Moment.PRODUCTS) / size
        return _interval(effect, labels, least, rows, steepest, quantile)

    def p_value(self) -> float:
        """Probability of labels at least this far from additive shares; NaN if it cannot be tested.

        Twice the smaller p-value of two tests: of any interaction, which needs repeated cells, and of an interaction
        that is the same in all contexts. In a single context both ask the same, and only the first is made.
        """
        cumulants = (Moment.TEST, Moment.TEST_VARIANCE, Moment.TEST_THIRD)
        p_any = tail_probability(*(self._moment(cumulant) for cumulant in cumulants))
        return combine((p_any, self.p_common))


def _interval(
    effect: float, labels: float, least: float, rows: float, steepest: float, quantile: float
) -> tuple[float, float]:
    """Interval of an effect whose variance grows with it.

    An effect is a mean of squares, so its variance from labels is b x + ``least`` at the effect x: for a single square
    with a difference of variance 4 s, 4 s x + 2 s^2. The upper end has its own variance. If the effect is large, the
    variance itself gives b; otherwise b is the ``steepest`` slope of squares with this ``least`` variance. The lower
    end is the usual one, and at least 0.
    """
    deviation = math.sqrt(labels + rows)
    slope = (labels - least) / effect if effect > 2 * deviation else steepest
    variance = slope * max(effect, 0.0) + least + rows
    return max(effect - quantile * deviation, 0.0), upper_end(effect, variance, slope, quantile)


def noise_index(label_sizes: Floats | Ints) -> float:
    """Expected share of broken squares if every row draws its label independently from the label shares of the table.

    Two rows agree with probability a = sum p^2, so both sides of a square agree in one direction with probability a^2;
    all four rows agree with probability sum p^4, which counts in both directions.

    Examples
    --------
    >>> noise_index(np.array([10, 10]))
    0.625
    """
    p = np.asarray(label_sizes, np.float64) / np.sum(label_sizes)
    return float(1 - 2 * (p**2).sum() ** 2 + (p**4).sum())


def rank_pairs(
    status: Sequence[Status], effect: Floats, low: Floats, index: Floats, p_value: Floats, squares: Floats
) -> Positions:
    """Positions of pairs, best first: effects by ``low``, then unclear pairs, then those without an effect, by p-value.

    ``low`` is the lower end of the interval. Pairs without a p-value follow those with one, by effect or index. Ties
    are broken by p-value, by the number of squares, then by position. Chosen by experiment: ranked by effect alone, the
    true pair of sparse tables comes first less often.
    """
    rank = status_ranks(status)
    has_p, has_effect = ~np.isnan(p_value), ~np.isnan(effect)
    known = np.select([has_p, has_effect, ~np.isnan(index)], [0, 1, 2], 3)
    by = np.select([rank == 0, known == 0, known == 1, known == 2], [-low, p_value, -effect, -index], 0.0)
    return np.lexsort((np.arange(len(by)), -squares, np.where(has_p, p_value, 0.0), by, known, rank))


@dataclass(frozen=True)
class PairTests:
    """Effects of pairs of features with their intervals and tests; NaN where unknown."""

    effect: Floats
    low: Floats
    high: Floats
    p_value: Floats
    p_adjusted: Floats


def measure_pairs(sums: Sequence[SquareSums], n_possible: int, confidence: float) -> PairTests:
    """Effects, intervals and p-values of pairs; the adjustment counts all possible pairs, also those left out."""
    p_value = np.array([pair.p_value() for pair in sums])
    p_adjusted = adjust_for_features(np.append(p_value, np.ones(n_possible - len(sums))))[: len(sums)]
    effect = np.array([pair.effect() for pair in sums])
    low, high = np.array([pair.interval(confidence) for pair in sums]).reshape(-1, 2).T
    return PairTests(
        effect=np.where(effect < 0, 0.0, effect),
        low=np.where(np.isnan(low) | (p_value <= 1 - confidence), low, 0.0),
        high=high,
        p_value=p_value,
        p_adjusted=p_adjusted,
    )


# ---------------------------------------------------------------- sums over contexts


class _Waiting(NamedTuple):
    """Tables of a pair, by its position, that are not summed yet."""

    pair: int
    tables: PairTables


class PairSums:
    """Collects the sums of several pairs of features from tables of their contexts, in any order.

    Tables of the same shape are collected, whichever pair they belong to, and summed together.
    """

    def __init__(self, shapes: Sequence[tuple[int, int]], n_labels: int) -> None:
        """``shapes`` are the numbers of values of the two features of each pair."""
        self.sums = [SquareSums.none()] * len(shapes)
        n_cells = np.array([n_first * n_second for n_first, n_second in shapes], np.int64)
        self.has_matrix = n_cells <= MAX_MATRIX
        self.has_common = self.has_matrix & (n_cells**2 * n_labels <= MAX_COMMON)
        """Whether a common interaction is tested; set to False for pairs with a single context."""
        self._shapes, self._n_labels = shapes, n_labels
        self._common: dict[int, CommonSums] = {}
        self._waiting: dict[tuple[int, ...], list[_Waiting]] = {}

    def add(self, pair: int, tables: PairTables) -> None:
        """Add contexts of a pair."""
        shape = tables.counts.shape[1:]
        waiting = self._waiting.setdefault(shape, [])
        waiting.append(_Waiting(pair, tables))
        if sum(more.tables.counts.size for more in waiting) > ENTRIES_WAITING:
            self._sum(self._waiting.pop(shape))

    def finished(self) -> list[SquareSums]:
        """The sums of all pairs."""
        for shape in list(self._waiting):
            self._sum(self._waiting.pop(shape))
        for pair, common in self._common.items():
            self.sums[pair] = replace(self.sums[pair], p_common=common.p_value())
        self._common.clear()
        return self.sums

    def _sum(self, waiting: Sequence[_Waiting]) -> None:
        """Add contexts of one shape to the sums of their pairs."""
        counts = np.concatenate([part.tables.counts for part in waiting])
        sizes = [len(part.tables.counts) for part in waiting]
        ends = np.cumsum(sizes).tolist()
        own = [slice(end - size, end) for end, size in zip(ends, sizes, strict=True)]
        pair_of = np.repeat([part.pair for part in waiting], sizes)
        squares, broken = count_squares(counts)
        repeated = repeated_cells(counts)
        effect_squares, _ = count_squares(repeated.sum(axis=3, keepdims=True))
        moments = np.zeros((len(counts), len(Moment)))
        times = np.ones(counts.shape[3])
        times[-1] += self._n_labels - len(times)
        has_matrix = self.has_matrix[pair_of]
        for chunk in _chunks(np.flatnonzero(effect_squares > 0), counts[0]):
            moments[chunk] = _context_moments(repeated[chunk].astype(np.float64), has_matrix[chunk], times)
        for part, mine in zip(waiting, own, strict=True):
            self.sums[part.pair] += SquareSums(
                squares=sum(squares[mine].tolist()),
                broken=sum(broken[mine].tolist()),
                effect_squares=sum(effect_squares[mine].tolist()),
                moments=moments[mine].sum(axis=0),
            )
        part_of = np.repeat(np.arange(len(waiting)), sizes)
        for chunk in _chunks(np.flatnonzero((squares > 0) & self.has_common[pair_of]), counts[0]):
            fits = AdditiveFits.of(counts[chunk].astype(np.float64))
            for k in np.unique(part_of[chunk]).tolist():
                mine = part_of[chunk] == k
                self._add_common(waiting[k], chunk[mine] - own[k].start, fits.of_some(mine))

    def _add_common(self, waiting: _Waiting, contexts: Positions, fits: AdditiveFits) -> None:
        """Add some contexts of a pair to the sums of the test of a common interaction."""
        if waiting.pair not in self._common:
            self._common[waiting.pair] = CommonSums(*self._shapes[waiting.pair], self._n_labels)
        self._common[waiting.pair].add(waiting.tables.of_some(contexts), fits)


def _chunks(contexts: Positions, table: Ints) -> Iterator[Positions]:
    """Contexts in chunks whose matrices, over all pairs of cells of a table, stay small."""
    at_once = max(MAX_ENTRIES // min(table.shape[0] * table.shape[1], MAX_MATRIX) ** 2, 1)
    for start in range(0, len(contexts), at_once):
        yield contexts[start : start + at_once]


def _context_moments(counts: Floats, has_matrix: Bools, times: Floats) -> Floats:
    """The moments of each context, from tables without cells of a single row; NaN for some without ``has_matrix``.

    ``times`` is the number of labels that each place of a table stands for.
    """
    if counts.shape[1] > counts.shape[2]:
        counts = counts.transpose(0, 2, 1, 3)
    n = counts.sum(axis=3)
    shares = counts / np.maximum(n, 1)[..., None]
    moments = np.full((len(counts), len(Moment)), np.nan)
    moments[:, Moment.EFFECT], parts, weights = _effect_sums(n, shares)
    noise = (n * (1 - (shares**2).sum(axis=3))).sum(axis=(1, 2))
    moments[:, Moment.NOISE] = noise * (noise > TINY * n.sum(axis=(1, 2)))
    each = np.where(n > 0, 1 / np.maximum(n, 1), 0.0)
    moments[:, Moment.EFFECT_EFFECT] = (parts**2 * each).sum(axis=(1, 2))
    moments[:, Moment.EFFECT_WEIGHT] = (parts * weights * each).sum(axis=(1, 2))
    moments[:, Moment.WEIGHT_WEIGHT] = (weights**2 * each).sum(axis=(1, 2))
    some = np.flatnonzero(has_matrix)
    if len(some):
        labels, products = _label_variance(n[some], shares[some], times)
        moments[some, Moment.LABELS] = labels
        moments[some, Moment.PRODUCTS] = products
        moments[some, Moment.PRODUCTS_ROOT] = (products / 2) ** 1.5
        moments[some, Moment.TEST :] = _test_sums(n[some], shares[some], times)
    return moments


def _test_sums(n: Floats, shares: Floats, times: Floats) -> Floats:
    """Statistic, variance and third cumulant of the test, from cells with enough rows (see ``LEAST_EXPECTED``)."""
    total = n.sum(axis=(1, 2))
    pooled = (n[..., None] * shares).sum(axis=(1, 2)) / total[:, None]
    spread = (1 - (pooled**2).sum(axis=1)) / 2
    n = n * (n * spread[:, None, None] >= LEAST_EXPECTED)
    cumulants = np.zeros((len(n), 3))
    left = np.flatnonzero(n.any(axis=(1, 2)))
    if len(left):
        cells, p = n[left].reshape(len(left), -1), shares[left].reshape(len(left), -1, shares.shape[3])
        cumulants[left] = additive_cumulants(cells, p, interaction_projection(n[left]), pooled[left], times)
    return cumulants


def _effect_sums(n: Floats, shares: Floats) -> tuple[Floats, Floats, Floats]:
    """Sum of the effects of all squares; and for each cell, the sum over its squares and the number of its squares.

    For two values u, u' of i and h_v = n_uv n_u'v, the squares of v and v' have the weight h_v h_v' and the difference
    d_v - d_v' with d_v = p_uv - p_u'v. So the sum over a cell's squares needs sums over v only: summed over labels,
    d_v^2 H - 2 d_v sum h d + sum h d^2, where H is the sum of h.
    """
    noise = np.where(n > 1, (1 - (shares**2).sum(axis=3)) / np.maximum(n - 1, 1), 0.0)  # of the shares of a cell
    parts, weights = np.zeros((2, *n.shape))
    for u in range(n.shape[1]):
        h = n[:, u, None] * n
        h[:, u] = 0
        total = h.sum(axis=2, keepdims=True)
        d = shares[:, u, None] - shares
        centre = h[:, :, None] @ d
        far = np.einsum("guvl,guvl->guv", d, d)
        squared = far * total - 2 * (d @ centre.transpose(0, 1, 3, 2))[..., 0] + (h * far).sum(axis=2, keepdims=True)
        v = noise[:, u, None] + noise
        squared -= (total - h) * v + (h * v).sum(axis=2, keepdims=True) - h * v
        parts[:, u] = (h * squared).sum(axis=1) / 8
        weights[:, u] = (h * (total - h)).sum(axis=1)
    return parts.sum(axis=(1, 2)) / 4, parts, weights


def square_matrix(n: Floats) -> Floats:
    """The matrix Q of each context, over all cells: p'Qp is the sum of (p_a - p_b - p_c + p_d)^2 over all squares.

    For two values u, u' of i, with h_v = n_uv n_u'v, H their sum and d_v = p_uv - p_u'v, the sum over squares is
    d'(H diag(h) - hh')d.
    """
    n_contexts, n_u, n_v = n.shape
    h = n[:, :, None] * n[:, None]
    same = np.arange(n_u)
    h[:, same, same] = 0
    blocks = h[..., :, None] * h[..., None, :]
    v = np.arange(n_v)
    blocks[..., v, v] -= h * h.sum(axis=-1, keepdims=True)
    blocks[:, same, same] = -blocks.sum(axis=2)
    return blocks.transpose(0, 1, 3, 2, 4).reshape(n_contexts, n_u * n_v, n_u * n_v)


def _label_variance(n: Floats, shares: Floats, times: Floats) -> tuple[Floats, Floats]:
    """Variance of p'Qp / 8 from random labels: 4 p'Q S Q p and 2 tr (Q S)^2, where S is the covariance of the shares.

    The first part includes the second twice, because p is observed with noise. ``SMOOTHING`` is used for S, because a
    small cell with a single label is not without noise.
    """
    cells, p = n.reshape(len(n), -1), shares.reshape(len(n), -1, shares.shape[3])
    matrix = square_matrix(n)
    spread = np.where(cells > 1, 1 / np.maximum(cells - 1, 1), 0.0)
    slope = matrix @ p
    p = (cells[..., None] * p + SMOOTHING) / (cells + times.sum() * SMOOTHING)[..., None]
    # Of the multinomial shares of a cell: g'Sg = (sum p g^2 - (sum p g)^2) / (n - 1); g is 0 for labels without rows
    own = ((p * slope**2).sum(axis=2) - (p * slope).sum(axis=2) ** 2) * spread
    products = label_products(p, times) * spread[:, :, None] * spread[:, None]
    return 4 * own.sum(axis=1) / 64, 2 * (matrix**2 * products).sum(axis=(1, 2)) / 64


# ---------------------------------------------------------------- over many pairs of features


def sum_pairs(
    rows: CodedRows,
    pairs: Sequence[tuple[int, int]],
    contexts: Sequence[Sequence[int]],
    *,
    n_threads: int = 1,
    progress: Progress | None = None,
) -> list[SquareSums]:
    """The sums of pairs of features; ``contexts`` are the columns on which the rows of each pair must be equal."""
    sums: list[SquareSums] = [SquareSums.none()] * len(pairs)
    n_values = rows.n_values.tolist()
    shapes = [(n_values[i], n_values[j]) for i, j in pairs]
    order = sorted(range(len(pairs)), key=lambda k: (tuple(contexts[k]), shapes[k]))
    n_done = [0]

    def look(part: list[int]) -> None:
        pair_sums = PairSums([shapes[k] for k in part], rows.n_labels)
        members: tuple[int, ...] | None = None
        for place, k in enumerate(part):
            if tuple(contexts[k]) != members:
                members = tuple(contexts[k])
                cells = Cells.by(rows, members)
            pair_sums.has_common[place] &= len(cells) > 1
            for tables in pair_tables(rows, cells, *pairs[k]):
                pair_sums.add(place, tables)
        for k, of_pair in zip(part, pair_sums.finished(), strict=True):
            sums[k] = of_pair
        n_done[0] += len(part)
        if progress is not None:
            progress(n_done[0], len(pairs))

    with one_blas_thread():  # the matrices are small, and the tasks have threads of their own
        run_tasks([partial(look, part) for part in reversed(_parts(order, shapes, rows.n_labels))], n_threads)
    return sums


def _parts(order: Sequence[int], shapes: Sequence[tuple[int, int]], n_labels: int) -> list[list[int]]:
    """Pairs of features for each task: at most ``PAIRS_AT_ONCE``, and ``ENTRIES_AT_ONCE`` entries of matrices."""
    parts: list[list[int]] = []
    room = 0
    for k in order:
        n_cells = shapes[k][0] * shapes[k][1]
        entries = n_cells**2 * n_labels if n_cells <= MAX_MATRIX else 0
        if not parts or entries > room or len(parts[-1]) == PAIRS_AT_ONCE:
            parts.append([])
            room = ENTRIES_AT_ONCE
        parts[-1].append(k)
        room -= entries
    return parts
