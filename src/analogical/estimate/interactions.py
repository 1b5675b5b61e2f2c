"""How strongly two features act together: effect of a pair, its interval and its p-value.

In the cells of a square let p_a .. p_d be the shares of a label. What a change of feature i does to the share depends
on feature j by p_a - p_b - p_c + p_d. The effect of a pair is the mean over its squares of

    sum over labels of (p_a - p_b - p_c + p_d)^2 / 8

1 for an exclusive or, 1/4 for an "and", 0 exactly where shares are additive in the two features: differences in
shares, not in odds. With the observed shares p of all cells of a context the sum over squares is p'Qp, which is too
large by the noise of the shares. What cells of n >= 2 rows tell about that noise, p (1 - p) / (n - 1), is taken out, so
that products of different rows remain and the effect has no bias. Q holds the signs of all squares, each weighted by
how many fours of rows it stands for.
"""

import math
from collections.abc import Sequence
from dataclasses import dataclass, replace
from statistics import NormalDist

import numpy as np

from analogical._progress import Progress
from analogical._types import Bools, CodedRows, Floats, Ints, Positions
from analogical.count.groups import number_groups
from analogical.count.squares import context_numbers, count_squares, pair_tables, repeated_cells
from analogical.count.threads import Task, one_blas_thread, run_tasks
from analogical.estimate.interaction_tests import (
    CommonSums,
    additive_cumulants,
    common_sums,
    covariances_of,
    interaction_projection,
    tail_probability,
)
from analogical.estimate.intervals import MANY, wilson
from analogical.estimate.status import Status

__all__ = ["MAX_MATRIX", "SquareSums", "noise_index", "rank_pairs", "square_matrix", "sum_pairs", "sum_squares"]

MAX_MATRIX = 512
"""Cells of a context, repeated ones, up to which matrices over all twos of them are made."""
MAX_ENTRIES = 2**18
"""Entries of such matrices that are made at a time: few enough to stay near the processor."""
PAIRS_AT_ONCE = 64
"""Pairs of features in one task."""
ENTRIES_WAITING = 2**16
"""Entries of tables of the same shape that are summed up together."""
LEAST_EXPECTED = 0.25
"""Rows of the rarer labels that a cell of the test is expected to hold."""
SMOOTHING = 0.25
"""Rows that each label has in addition, where the variance of shares is estimated for an interval."""
TINY = 1e-12
"""Relative size below which a sum is the rounding error of 0."""


@dataclass(frozen=True)
class SquareSums:
    """What is known of a pair of features, as sums over contexts: they add over contexts."""

    squares: int
    broken: int
    effect_squares: int
    """Squares whose four cells all hold two rows or more."""
    moments: Floats
    """Sums that effect, interval and test are made of, in the order of ``_MOMENTS``."""
    common: CommonSums | None = None
    """Sums of the test of an interaction that is the same in all contexts."""
    p_common: float = math.nan
    """P-value of that test, once all contexts are added."""

    @classmethod
    def none(cls) -> "SquareSums":
        """No context at all."""
        return cls(0, 0, 0, np.zeros(len(_MOMENTS)))

    def __add__(self, other: "SquareSums") -> "SquareSums":
        return SquareSums(
            self.squares + other.squares,
            self.broken + other.broken,
            self.effect_squares + other.effect_squares,
            self.moments + other.moments,
            self.common + other.common if self.common and other.common else self.common or other.common,
        )

    def _moment(self, name: str) -> float:
        return float(self.moments[_MOMENTS.index(name)])

    def index(self) -> float:
        """Share of the squares that are broken; NaN without squares."""
        return self.broken / self.squares if self.squares else math.nan

    def effect(self) -> float:
        """The effect; NaN where no square has all cells repeated."""
        if not self.effect_squares:
            return math.nan
        effect = self._moment("effect") / self.effect_squares
        return effect if abs(effect) > TINY else 0.0

    def n_effective(self) -> float:
        """How many independent squares the squares of the effect are worth (Kish's number)."""
        spread = self._moment("weight_weight")
        return 4 * self.effect_squares**2 / spread if spread > 0 else 0.0

    def interval(self, confidence: float) -> tuple[float, float]:
        """Interval of the effect, rows being the independent units; NaN where the effect is.

        Two sources of variance are added: the labels that the rows of each cell happened to have, and the rows that
        each cell happened to have.
        """
        if not self.effect_squares or not np.isfinite(self.moments).all():
            return math.nan, math.nan
        effect, n = self.effect(), self.n_effective()
        quantile = _quantile(n, confidence)
        if self._moment("noise") == 0:  # a mean of numbers from 0 to 1
            low, high = wilson(min(max(effect, 0.0), 1.0), n, quantile)
            return min(low, effect), max(high, effect)
        rows = (
            self._moment("effect_effect")
            - 2 * effect * self._moment("effect_weight")
            + effect**2 * self._moment("weight_weight")
        )
        size = float(self.effect_squares)
        least, rows = self._moment("products") / size**2, max(rows, 0.0) / size**2
        labels = max(self._moment("labels") / size**2 - least, least)
        steepest = 4 * self._moment("products_root") / self._moment("products") / size
        return _interval(effect, labels, least, rows, steepest, quantile)

    def p_value(self) -> float:
        """Probability of labels at least this far from additive shares; NaN if unknown.

        Twice the smaller one of two tests: of any interactions in the contexts, which needs repeated cells, and of one
        that is the same in all of them. In a single context they ask the same, and the first one counts.
        """
        p = tail_probability(*(self._moment(name) for name in ("test", "test_variance", "test_third")))
        both = [one for one in (p, self.settled().p_common) if not math.isnan(one)]
        return min(1.0, len(both) * min(both)) if both else math.nan

    def settled(self) -> "SquareSums":
        """The same with the test of a common interaction done; its sums, which may be large, are let go."""
        if self.common is None:
            return self
        p_common = self.common.p_value() if self.common.n_contexts > 1 else math.nan
        return replace(self, common=None, p_common=p_common)


_MOMENTS = (
    "effect",
    "noise",
    "labels",
    "products",
    "products_root",
    "effect_effect",
    "effect_weight",
    "weight_weight",
    "test",
    "test_variance",
    "test_third",
)


def _interval(
    effect: float, labels: float, least: float, rows: float, steepest: float, quantile: float
) -> tuple[float, float]:
    """Interval of an effect whose variance grows with it.

    An effect is a mean of squares, so the variance that labels bring is b x + ``least`` at the effect x: for a single
    square with a difference of variance 4 s, 4 s x + 2 s^2. The upper end solves (x - effect)^2 = q^2 (b x + least +
    rows), as Wilson's interval does for a share. Where the effect is large, b is known from the variance itself; where
    it is not, the ``steepest`` slope of squares with this ``least`` variance takes its place. The lower end is the
    usual one, and effects are not negative.
    """
    deviation = math.sqrt(labels + rows)
    slope = (labels - least) / effect if effect > 2 * deviation else steepest
    start = max(effect, 0.0)
    half = quantile**2 * slope / 2
    high = start + half + math.sqrt(half**2 + quantile**2 * (slope * start + least + rows))
    return max(effect - quantile * deviation, 0.0), min(high, 1.0)


def _quantile(n: float, confidence: float) -> float:
    """Student's quantile where few squares are independent, from 30 on the normal one."""
    if n >= MANY:
        return NormalDist().inv_cdf((1 + confidence) / 2)
    from scipy.special import stdtrit

    return float(stdtrit(max(n, 3.0), (1 + confidence) / 2))


def noise_index(label_sizes: Floats | Ints) -> float:
    """Share of the squares that are broken if every row draws its label anew, from the shares of the table.

    Two rows agree with probability a = sum p^2, so both sides of a square in one direction do with a^2; all four rows
    agree with sum p^4, which counts in both directions.

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
    """Positions of pairs, strongest first: effects by ``low``, then unclear pairs, then those without an effect, by p.

    ``low`` is the lower end of the effect. Pairs without a p-value follow those with one, by effect or index. Ties are
    broken by p-value, by the number of squares, then by position. Chosen by experiment: by effect alone the true pair
    of sparse tables comes first less often.
    """
    words: tuple[Status, ...] = ("effect", "unclear", "none", "same", "constant")
    rank = np.array([words.index(word) for word in status], np.int64)
    has_p, has_effect = ~np.isnan(p_value), ~np.isnan(effect)
    known = np.select([has_p, has_effect, ~np.isnan(index)], [0, 1, 2], 3)
    by = np.select([rank == 0, known == 0, known == 1, known == 2], [-low, p_value, -effect, -index], 0.0)
    return np.lexsort((np.arange(len(by)), -squares, np.where(has_p, p_value, 0.0), by, known, rank))


# ---------------------------------------------------------------- sums over contexts


def sum_squares(tables: Ints, starts: Ints) -> list[SquareSums]:
    """The sums of several pairs of features whose tables have the same shape.

    Parameters
    ----------
    tables : ndarray of shape (contexts, values of i, values of j, labels)
        Rows; the contexts of one pair after those of another.
    starts : ndarray of int
        The first context of each pair.
    """
    squares, broken = count_squares(tables)
    told = repeated_cells(tables)
    effect_squares, _ = count_squares(told.sum(axis=3, keepdims=True))
    moments = np.zeros((len(tables), len(_MOMENTS)))
    holds = np.flatnonzero(effect_squares > 0)
    n_cells = tables.shape[1] * tables.shape[2]
    at_once = max(MAX_ENTRIES // min(n_cells, MAX_MATRIX) ** 2, 1)
    for k in range(0, len(holds), at_once):
        some = holds[k : k + at_once]
        moments[some] = _context_moments(told[some].astype(np.float64))
    ends = [*starts[1:].tolist(), len(tables)]
    common = _common_of_pairs(tables, squares > 0, starts) if n_cells <= MAX_MATRIX else [None] * len(starts)
    return [
        SquareSums(
            sum(squares[a:b].tolist()),
            sum(broken[a:b].tolist()),
            sum(effect_squares[a:b].tolist()),
            moments[a:b].sum(axis=0),
            same,
        )
        for a, b, same in zip(starts.tolist(), ends, common, strict=True)
    ]


def _common_of_pairs(tables: Ints, has_squares: Bools, starts: Ints) -> list[CommonSums | None]:
    """The sums of the test of a common interaction, of every pair."""
    found: list[CommonSums | None] = [None] * len(starts)
    owner = np.searchsorted(starts, np.arange(len(tables)), side="right") - 1
    holds = np.flatnonzero(has_squares)
    at_once = max(MAX_ENTRIES // (tables.shape[1] * tables.shape[2]) ** 2, 1)
    for k in range(0, len(holds), at_once):
        some = holds[k : k + at_once]
        first = int(owner[some[0]])
        parts = common_sums(tables[some].astype(np.float64), owner[some] - first, int(owner[some[-1]]) - first + 1)
        for place, part in enumerate(parts, first):
            known = found[place]
            found[place] = part if known is None else known + part
    return found


def _context_moments(tables: Floats) -> Floats:
    """The moments of each context, from tables without cells of a single row."""
    if tables.shape[1] > tables.shape[2]:
        tables = tables.transpose(0, 2, 1, 3)
    n = tables.sum(axis=3)
    shares = tables / np.maximum(n, 1)[..., None]
    n_cells = n.shape[1] * n.shape[2]
    found = np.full((len(tables), len(_MOMENTS)), np.nan)
    effect, parts, weights = _effect_sums(n, shares)
    found[:, 0] = effect
    with np.errstate(divide="ignore", invalid="ignore"):
        each = np.where(n > 0, 1 / n, 0.0)
    found[:, 1] = (n * (1 - (shares**2).sum(axis=3))).sum(axis=(1, 2))
    found[:, 1] *= found[:, 1] > TINY * n.sum(axis=(1, 2))
    found[:, 5] = (parts**2 * each).sum(axis=(1, 2))
    found[:, 6] = (parts * weights * each).sum(axis=(1, 2))
    found[:, 7] = (weights**2 * each).sum(axis=(1, 2))
    if n_cells > MAX_MATRIX:
        return found
    cells, p = n.reshape(len(n), n_cells), shares.reshape(len(n), n_cells, -1)
    found[:, 2:4] = _label_variance(cells, p, square_matrix(n))
    found[:, 4] = (found[:, 3] / 2) ** 1.5
    found[:, 8:11] = _test_sums(n, shares)
    return found


def _test_sums(n: Floats, shares: Floats) -> Floats:
    """Statistic, variance and third cumulant of the test, from the cells that can tell something.

    In a cell where less than ``LEAST_EXPECTED`` rows are expected to have another label than most rows of the context,
    a single such row would decide the test.
    """
    total = n.sum(axis=(1, 2))
    pooled = (n[..., None] * shares).sum(axis=(1, 2)) / total[:, None]
    spread = (1 - (pooled**2).sum(axis=1)) / 2
    n = n * (n * spread[:, None, None] >= LEAST_EXPECTED)
    found = np.zeros((len(n), 3))
    left = np.flatnonzero(n.any(axis=(1, 2)))
    if not len(left):
        return found
    cells, p = n[left].reshape(len(left), -1), shares[left].reshape(len(left), -1, shares.shape[3])
    found[left] = additive_cumulants(cells, p, interaction_projection(n[left]), pooled[left])
    return found


def _effect_sums(n: Floats, shares: Floats) -> tuple[Floats, Floats, Floats]:
    """Sum of the effects of all squares; and for each cell, that of its squares, and how many they are.

    For two values u, u' of i and h_v = n_uv n_u'v, the squares of v and v' weigh h_v h_v', and their differences are
    d_v - d_v' with d_v = p_uv - p_u'v. So what a cell's squares sum up to needs sums over v only.
    """
    n_contexts, n_u, n_v, n_labels = shares.shape
    noise = np.where(n > 1, (1 - (shares**2).sum(axis=3)) / np.maximum(n - 1, 1), 0.0)  # of the shares of a cell
    parts, weights = np.zeros((2, n_contexts, n_u, n_v))
    for u in range(n_u):
        h = n[:, u, None] * n
        h[:, u] = 0
        total = h.sum(axis=2, keepdims=True)
        squared = np.zeros_like(h)  # d_v^2 H - 2 d_v sum h d + sum h d^2, summed over labels
        for label in range(n_labels):
            d = shares[:, u, None, :, label] - shares[..., label]
            hd = h * d
            squared += d * (total * d - 2 * hd.sum(axis=2, keepdims=True)) + (hd * d).sum(axis=2, keepdims=True)
        v = noise[:, u, None] + noise
        squared -= (total - h) * v + (h * v).sum(axis=2, keepdims=True) - h * v
        parts[:, u] = (h * squared).sum(axis=1) / 8
        weights[:, u] = (h * (total - h)).sum(axis=1)
    return parts.sum(axis=(1, 2)) / 4, parts, weights


def square_matrix(n: Floats) -> Floats:
    """The matrix Q of each context, over all cells: p'Qp is the sum of (p_a - p_b - p_c + p_d)^2 over all squares.

    For two values u, u' of i, with h_v = n_uv n_u'v and H their sum, the squares have the differences of the numbers
    d_v = p_uv - p_u'v, so that their sum is d'(H diag(h) - hh')d.
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


def _label_variance(n: Floats, p: Floats, matrix: Floats) -> Floats:
    """Variance of p'Qp / 8 that the labels bring, in two parts: 4 p'Q S Q p, and 2 tr (Q S)^2, S that of the shares.

    The first one holds the second one twice, because p itself is observed with noise. For S each label has a quarter of
    a row more in each cell: a small cell that happens to have one label only is not without noise.
    """
    spread = np.where(n > 1, 1 / np.maximum(n - 1, 1), 0.0)
    slope = matrix @ p
    n_labels = p.shape[2]
    p = (n[..., None] * p + SMOOTHING) / (n + n_labels * SMOOTHING)[..., None]
    # Of the multinomial shares of a cell: g'Sg = (sum p g^2 - (sum p g)^2) / (n - 1)
    own = ((p * slope**2).sum(axis=2) - (p * slope).sum(axis=2) ** 2) * spread
    covariances = covariances_of(p) * spread[..., None]
    products = covariances @ covariances.transpose(0, 2, 1)
    return np.stack([4 * own.sum(axis=1), 2 * (matrix**2 * products).sum(axis=(1, 2))], axis=1) / 64


# ---------------------------------------------------------------- over many pairs of features


def sum_pairs(
    rows: CodedRows,
    pairs: Sequence[tuple[int, int]],
    contexts: Sequence[Sequence[int]],
    *,
    n_threads: int = 1,
    progress: Progress | None = None,
) -> list[SquareSums]:
    """The sums of pairs of features, rows being compared where they are equal on the ``contexts`` of the pair."""
    found: list[SquareSums] = [SquareSums.none()] * len(pairs)
    n_values = rows.n_values.tolist()

    def kind(k: int) -> tuple[tuple[int, ...], tuple[int, int]]:
        """Pairs with the same contexts and shape stand together."""
        i, j = pairs[k]
        return tuple(contexts[k]), (n_values[i], n_values[j])

    order = sorted(range(len(pairs)), key=kind)
    parts = [order[k : k + PAIRS_AT_ONCE] for k in range(0, len(order), PAIRS_AT_ONCE)]
    n_done = [0]

    def task(part: list[int]) -> Task:
        def run() -> list[Task]:
            _sum_some(rows, pairs, part, contexts, found)
            n_done[0] += len(part)
            if progress is not None:
                progress(n_done[0], len(pairs))
            return []

        return run

    with one_blas_thread():  # the matrices are small, and the tasks have threads of their own
        run_tasks([task(part) for part in reversed(parts)], n_threads)
    return found


def _sum_some(
    rows: CodedRows,
    pairs: Sequence[tuple[int, int]],
    part: Sequence[int],
    contexts: Sequence[Sequence[int]],
    found: list[SquareSums],
) -> None:
    """Sums of some of the pairs; small tables of the same shape are summed up together."""
    waiting: list[tuple[int, Ints]] = []
    members: tuple[int, ...] | None = None
    groups, n_groups = np.zeros(len(rows.codes), np.intp), 1

    def sum_waiting(unfinished: int | None = None) -> None:
        if waiting:
            sizes = [len(table) for _, table in waiting]
            starts = np.cumsum([0, *sizes[:-1]])
            sums = sum_squares(np.concatenate([table for _, table in waiting]), starts)
            for (k, _), more in zip(waiting, sums, strict=True):
                found[k] = found[k] + more
            for k in {k for k, _ in waiting} - {unfinished}:
                found[k] = found[k].settled()
            waiting.clear()

    for k in part:
        i, j = pairs[k]
        if tuple(contexts[k]) != members:
            members = tuple(contexts[k])
            groups, n_groups = context_numbers(number_groups(rows.codes, rows.n_values, members))
        for table in pair_tables(rows, groups, n_groups, i, j):
            if waiting and waiting[-1][1].shape[1:] != table.shape[1:]:
                sum_waiting()
            waiting.append((k, table))
            if sum(more.size for _, more in waiting) > ENTRIES_WAITING:
                sum_waiting(unfinished=k)
    sum_waiting()
    for k in part:
        found[k] = found[k].settled()
