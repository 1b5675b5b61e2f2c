"""Interaction of two features: its effect, interval and p-value.

Let p_a .. p_d be the shares of a label in the four cells of a square. How much a change of feature i changes the share
depends on feature j by p_a - p_b - p_c + p_d. The effect of a pair of features is the mean over its squares of

    sum over labels of (p_a - p_b - p_c + p_d)^2 / 8

It is 1 for an exclusive or, 1/4 for an "and", and 0 if shares are additive in the two features: it measures differences
of shares, not of odds. With the observed shares p of all cells of a context the sum over squares is p'Qp, where Q holds
the signs of all squares, weighted by their numbers of rows. The variance of the shares, p (1 - p) / (n - 1) in cells of
n >= 2 rows, is subtracted, so that the effect is unbiased. A number stands for two columns, itself and its negative:
with the means m of the cells the effect of a square is (m_a - m_b - m_c + m_d)^2 / 4.

The null hypothesis of the test is that the shares of every label are additive in both features within every context;
main effects may have any size, and differ between contexts. In each context the cell means, times the root of their
rows, are projected onto what is not additive (``interaction_projection``). The statistic is the interaction sum of
squares over products of different rows, so its mean is exactly 0 under the null hypothesis, whatever the noise. Its
distribution is that of a scaled chi-squared variable, less its mean, with the mean and variance that the sum of squares
has with the best fitting additive shares (Satterthwaite).
"""

import math
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace
from functools import partial
from typing import NamedTuple

import numpy as np

from analogical._progress import Progress
from analogical._types import Floats, Ints, Positions
from analogical.count.given import RowContexts
from analogical.count.groups import CodedRows
from analogical.count.listing import ListedRows
from analogical.count.squares import FEW_LABELS, PairTable, count_squares, pair_tables
from analogical.count.threads import one_blas_thread, run_tasks
from analogical.estimate.sizes import t_quantile, wilson
from analogical.estimate.status import Status, status_ranks

MAX_MATRIX = 512
"""Largest number of cells of two features for which matrices over all pairs of cells are made: time and memory. With
more, only the effect is known."""
LEAST_EXPECTED = 0.25
"""Expected rows of the rarer labels that a cell needs in the test: with 0, p is at most .0001 in 1 % of additive tables
with 2,000 rows and a share of .002, because a single row decides."""
SMOOTHING = 0.25
"""Pseudo-rows of each label where the variance of shares is estimated for an interval. Numbers have those of two
classes, with the variance of the context, in the test too: with half or twice as many, p is at most .05 in .004 to .062
of simulated additive tables."""


@dataclass(frozen=True)
class SquareSums:
    """Counts of a pair of features, and the sums over contexts that its effect, interval and test are computed from."""

    squares: int = 0
    broken: int = 0
    effect_squares: int = 0
    """Squares whose four cells all hold two rows or more."""
    total: float = 0.0
    """Sum of the effects of all squares."""
    noise: float = 0.0
    """Rows times the label variance of their cells; 0 if every cell has a single label."""
    parts_parts: float = 0.0
    """Sums over cells of products of two of (sum of effects, number of squares), divided by the rows of the cell."""
    parts_weights: float = 0.0
    weights_weights: float = 0.0
    labels: float = 0.0
    """Variance of ``total`` from random labels; includes ``products`` twice. NaN, as what follows, for many cells."""
    products: float = 0.0
    """The part of that variance that remains without any effect."""
    products_root: float = 0.0
    """The same for each context, to the power 3/2."""
    statistic: float = 0.0
    """The statistic of the test; then the mean that is subtracted from it, and its variance, without interaction."""
    null_mean: float = 0.0
    null_variance: float = 0.0

    def __add__(self, other: "SquareSums") -> "SquareSums":
        return SquareSums(*(a + b for a, b in zip(vars(self).values(), vars(other).values(), strict=True)))

    def index(self) -> float:
        """Share of the squares that are broken; NaN without squares."""
        return self.broken / self.squares if self.squares else math.nan

    def effect(self) -> float:
        """The effect; NaN where no square has all cells repeated."""
        if not self.effect_squares:
            return math.nan
        effect = self.total / self.effect_squares
        return effect if abs(effect) > 1e-12 else 0.0  # the rounding error of 0

    def n_effective(self) -> float:
        """Effective number of independent squares (Kish)."""
        return 4 * self.effect_squares**2 / self.weights_weights if self.weights_weights > 0 else 0.0

    def interval(self, confidence: float) -> tuple[float, float]:
        """Interval of the effect with rows as independent units; NaN where the effect is.

        The variance has two parts: random labels of the rows in each cell, and random numbers of rows in each cell. The
        one from labels grows with the effect: it is b x + ``least`` at the effect x, because for a single square with a
        difference of variance 4 s it is 4 s x + 2 s^2. If the effect is large, the variance itself gives b; otherwise b
        is the ``steepest`` slope of squares with this ``least`` variance. The upper end x has its own variance, as in
        Wilson's interval for a share: (x - effect)^2 = q^2 (variance + slope (x - effect)). The lower end is the usual
        one.
        """
        if not self.effect_squares or not math.isfinite(self.labels):
            return math.nan, math.nan
        effect, n = self.effect(), self.n_effective()
        quantile = t_quantile(n, confidence)
        if self.noise == 0:  # a mean of numbers from 0 to 1
            low, high = wilson(min(max(effect, 0.0), 1.0), n, quantile)
            return min(low, effect), max(high, effect)
        size = float(self.effect_squares)
        rows = self.parts_parts - 2 * effect * self.parts_weights + effect**2 * self.weights_weights
        least, rows = self.products / size**2, max(rows, 0.0) / size**2
        labels = max(self.labels / size**2 - least, least)
        deviation = math.sqrt(labels + rows)
        steepest = 4 * self.products_root / self.products / size
        slope = (labels - least) / effect if effect > 2 * deviation else steepest
        half, at_least = quantile**2 * slope / 2, max(effect, 0.0)
        reach = half + math.sqrt(half**2 + quantile**2 * (slope * at_least + least + rows))
        return max(effect - quantile * deviation, 0.0), min(at_least + reach, 1.0)

    def p_value(self) -> float:
        """Probability of labels at least this far from additive shares; NaN if it cannot be tested."""
        if not self.null_variance > 0:
            return math.nan
        from scipy.special import chdtrc

        freedom = 2 * self.null_mean**2 / self.null_variance
        return float(chdtrc(freedom, max(1 + self.statistic / self.null_mean, 0.0) * freedom))


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


# ---------------------------------------------------------------- numbers: means and rows of a pair


def mean_numbers(rows: CodedRows, numbers: Floats) -> tuple[Ints, Floats]:
    """Rows by the values of two columns, and the mean of their numbers; NaN where there is no row."""
    shape, weights = tuple(rows.n_values.tolist()), rows.weights_or_ones()
    cell = np.ravel_multi_index(tuple(rows.codes.T), shape)
    n, sums = (np.bincount(cell, w, math.prod(shape)).reshape(shape) for w in (weights, weights * numbers[rows.labels]))
    return n.astype(np.int64), np.where(n > 0, sums / np.maximum(n, 1), math.nan)


def clearest_squares(listed: ListedRows, numbers: Floats, limit: int) -> list[tuple[int, tuple[int, ...]]]:
    """Squares of the values whose means have the largest difference of differences, for their numbers of rows.

    Those of the contexts with the most of them. As from ``count.listing.find_squares``: how many have these values, and
    at each corner a row, the one nearest to the mean of its cell.
    """
    rows, context, weights = listed.rows, listed.context, listed.rows.weights_or_ones()
    n, means = mean_numbers(rows, numbers)
    if n.size > MAX_MATRIX:
        return []
    each = 1 / np.where(n > 0, n, math.nan)
    d, e = means[:, None] - means, each[:, None] + each  # by u, u' and v
    sizes = np.nan_to_num((d[..., None] - d[:, :, None]) / np.sqrt(e[..., None] + e[:, :, None]))
    u, w, v, x = np.unravel_index(int(np.round(sizes, 9).argmax()), sizes.shape)
    corners = [np.flatnonzero((rows.codes == corner).all(axis=1)) for corner in ((u, v), (w, v), (u, x), (w, x))]
    inside = [np.bincount(context[own], weights[own], len(listed.given)) for own in corners]
    times, found = np.prod(inside, axis=0), list[tuple[int, tuple[int, ...]]]()
    for place in np.argsort(-times, kind="stable")[: min(limit, np.count_nonzero(times))].tolist():
        cells = [own[context[own] == place] for own in corners]
        far = [
            np.abs(one - np.average(one, weights=weights[own])) for own in cells for one in [numbers[rows.labels[own]]]
        ]
        four = (int(own[one.argmin()]) for own, one in zip(cells, far, strict=True))
        found.append((int(times[place]), tuple(four)))
    return found


# ---------------------------------------------------------------- sums over contexts


class Cells(NamedTuple):
    """The labels in the cells of two features; arrays have the shape (contexts, values of i, values of j).

    All but ``counts`` are about cells with two rows or more, and 0 for others.
    """

    counts: Ints
    """Rows; those of classes by label, a fourth axis."""
    n: Ints
    means: Floats
    """Mean scores, on a fourth axis: for classes, their shares."""
    spread: Floats
    """Variance of the scores of a row, summed over that axis."""
    n_labels: int = 0
    """Number of classes; 0 for numbers."""

    @classmethod
    def of_classes(cls, counts: Ints, n_labels: int | None = None) -> "Cells":
        """From the rows of each class, some of which may have no place in the table."""
        rows = counts.sum(axis=3)
        n = rows * (rows > 1)
        shares = counts * (n > 0)[..., None] / np.maximum(n, 1)[..., None]
        return cls(counts, n, shares, 1 - (shares**2).sum(axis=3), n_labels or counts.shape[3])

    @classmethod
    def of_numbers(cls, table: PairTable, numbers: Floats, weights: Ints) -> "Cells":
        """From the number of each row, which stands for itself and its negative: one column, times the root of 2."""
        n, scores = (table.counts * (table.counts > 1))[..., 0], math.sqrt(2) * numbers
        each: Floats = np.where(n > 0, 1 / np.maximum(n, 1), 0.0).ravel()
        means: Floats = each * np.bincount(table.places, weights * scores, n.size)
        spread: Floats = each * np.bincount(table.places, weights * (scores - means[table.places]) ** 2, n.size)
        return cls(table.counts, n, means.reshape(*n.shape, 1), spread.reshape(n.shape))


def sum_pairs(
    rows: CodedRows,
    pairs: Sequence[tuple[int, int]],
    given: Sequence[Sequence[int]],
    numbers: Floats | None = None,
    *,
    n_threads: int = 1,
    progress: Progress | None = None,
) -> list[SquareSums]:
    """The sums of pairs of features; ``given`` are the columns on which the rows of each pair must be equal.

    ``numbers`` are those of the labels, if they are numbers; effects are then shares of their squared range. Two
    numbers are two classes.
    """
    sums = [SquareSums()] * len(pairs)
    n_done = [0]
    weights, of_row, n_labels = rows.weights_or_ones(), None, rows.n_labels
    if numbers is not None and n_labels > 2:
        of_row = ((numbers - numbers.min()) / np.ptp(numbers))[rows.labels]
        rows = replace(rows, labels=np.zeros_like(rows.labels), n_labels=1)

    def look(columns: tuple[int, ...], members: list[int]) -> None:
        contexts = RowContexts.by(rows, columns)
        for k in members:
            tables = pair_tables(rows, contexts, *pairs[k])
            sums[k] = sum_squares(
                (
                    Cells.of_classes(table.counts, n_labels)
                    if of_row is None
                    else Cells.of_numbers(table, of_row[table.rows], weights[table.rows])
                    for table in tables
                ),
                math.prod(rows.n_values[list(pairs[k])].tolist()),
            )
        n_done[0] += len(members)
        if progress is not None:
            progress(n_done[0], len(pairs))

    alike: dict[tuple[int, ...], list[int]] = {}
    for k, columns in enumerate(given):
        alike.setdefault(tuple(columns), []).append(k)
    tasks = [
        partial(look, columns, members[start : start + 64])
        for columns, members in alike.items()
        for start in range(0, len(members), 64)
    ]
    with one_blas_thread():  # the matrices are small, and the tasks have threads of their own
        run_tasks(tasks[::-1], n_threads)
    return sums


def sum_squares(tables: Iterable[Cells], n_cells: int) -> SquareSums:
    """The sums of a pair of features from the cells of its contexts.

    ``n_cells`` is the number of combinations of values of the two features.
    """
    sums = SquareSums()
    for cells in tables:
        squares, broken = count_squares(cells.counts)
        effect_squares, _ = count_squares(cells.n[..., None])
        sums += SquareSums(sum(squares.tolist()), sum(broken.tolist()), sum(effect_squares.tolist()))
        some = np.flatnonzero(effect_squares > 0)
        # As many contexts at a time as keep the matrices over all pairs of cells in cache
        at_once = max(2**18 // min(math.prod(cells.n.shape[1:]), MAX_MATRIX) ** 2, 1)
        for start in range(0, len(some), at_once):
            own = some[start : start + at_once]
            n, means, spread = cells.n[own].astype(np.float64), cells.means[own], cells.spread[own]
            sums += _context_sums(n, means, spread, cells.n_labels, n_cells)
    return sums


def _context_sums(n: Floats, means: Floats, spread: Floats, n_labels: int, n_cells: int) -> SquareSums:
    """The sums of contexts for effect, interval and test, from the parts of ``Cells``."""
    if n.shape[1] > n.shape[2]:
        n, means, spread = (part.swapaxes(1, 2) for part in (n, means, spread))
    total, parts, weights = _effect_sums(n, means, spread)
    noise, rows = (n * spread).sum(axis=(1, 2)), n.sum(axis=(1, 2))
    each = np.where(n > 0, 1 / np.maximum(n, 1), 0.0)
    products = [(one * other * each).sum() for one, other in ((parts, parts), (parts, weights), (weights, weights))]
    noise = noise[noise > 1e-12 * rows]  # the others are rounding errors of 0
    variances = [math.nan] * 6
    if n_cells <= MAX_MATRIX:
        variances = [*_label_variance(n, means, spread, n_labels), *_test_sums(n, means, spread, n_labels)]
    return SquareSums(0, 0, 0, *map(float, [total.sum(), noise.sum(), *products, *variances]))


def _effect_sums(n: Floats, means: Floats, spread: Floats) -> tuple[Floats, Floats, Floats]:
    """Sum of the effects of all squares; and for each cell, the sum over its squares and the number of its squares.

    For two values u, u' of i and h_v = n_uv n_u'v, the squares of v and v' have the weight h_v h_v' and the difference
    d_v - d_v' with d_v = p_uv - p_u'v. So the sum over a cell's squares needs sums over v only: summed over labels,
    d_v^2 H - 2 d_v sum h d + sum h d^2, where H is the sum of h.
    """
    noise = np.where(n > 1, spread / np.maximum(n - 1, 1), 0.0)  # of the means of a cell
    parts, weights = np.zeros((2, *n.shape))
    for u in range(n.shape[1]):
        h = n[:, u, None] * n
        h[:, u] = 0
        total = h.sum(axis=2, keepdims=True)
        d = means[:, u, None] - means
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


def label_products(shares: Floats, times: Floats | float = 1.0) -> Floats:
    """tr(S S') for each pair of cells of a context, where S = diag(p) - pp' is the covariance of the labels of a row.

    It is (sum p p') + (sum p p')^2 - (sum p^2 p') - (sum p p'^2), summed over labels; each stands for ``times`` labels.
    """
    if shares.shape[2] == 2 and isinstance(times, float):
        own = 2 * shares[..., 0] * shares[..., 1]
        return np.asarray(own[:, :, None] * own[:, None])
    both, squared = ((times * part) @ shares.transpose(0, 2, 1) for part in (shares, shares**2))
    products = both + both**2 - squared - squared.transpose(0, 2, 1)
    return np.maximum(products, 0.0)  # a difference of nearly equal numbers where labels are rare


def _label_variance(n: Floats, means: Floats, spread: Floats, n_labels: int) -> tuple[float, float, float]:
    """Variance of p'Qp / 8 from random labels: 4 p'Q S Q p and 2 tr (Q S)^2, where S is the covariance of the means.

    The first part includes the second twice, because p is observed with noise. The third number is the sum over
    contexts of (tr (Q S)^2)^1.5. ``SMOOTHING`` is used for S, because a small cell with a single label is not without
    noise; labels without a place in the tables have their pseudo-rows, too.
    """
    matrix = square_matrix(n)
    n, spread, p = n.reshape(len(n), -1), spread.reshape(len(n), -1), means.reshape(len(n), -1, means.shape[3])
    each = np.where(n > 1, 1 / np.maximum(n - 1, 1), 0.0)
    slope = matrix @ p
    if n_labels:
        n_absent, size = n_labels - p.shape[2], (n + n_labels * SMOOTHING)[..., None]
        p = (n[..., None] * p + SMOOTHING) / size
        # Of multinomial shares: g'Sg = (sum p g^2 - (sum p g)^2) / (n - 1); g is 0 for labels without rows
        own = (p * slope**2).sum(axis=2) - (p * slope).sum(axis=2) ** 2
        times = np.append(np.ones(p.shape[2]), n_absent) if n_absent else 1.0
        pairs = label_products(np.concatenate([p, SMOOTHING / size], axis=2) if n_absent else p, times)
    else:
        spread = _smoothed(spread, n)
        own, pairs = spread * slope[..., 0] ** 2, spread[:, :, None] * spread[:, None]
    products = (matrix**2 * pairs * each[:, :, None] * each[:, None]).sum(axis=(1, 2)) / 64
    return float((own * each).sum()) / 16, float(2 * products.sum()), float((products**1.5).sum())


def _smoothed(spread: Floats, n: Floats) -> Floats:
    """Variances of numbers in cells, with as many pseudo-rows as for two classes, of the variance of the context."""
    pooled = (n * spread).sum(axis=1, keepdims=True) / n.sum(axis=1, keepdims=True)
    return np.asarray((n * spread + 2 * SMOOTHING * pooled) / (n + 2 * SMOOTHING))


# ---------------------------------------------------------------- the test


def _test_sums(n: Floats, means: Floats, spread: Floats, n_labels: int) -> tuple[float, float, float]:
    """The interaction sum of squares over different rows, and its mean and variance under additivity if rows count.

    From cells with enough rows (see ``LEAST_EXPECTED``). With e the deviations of the scores of single rows from their
    means, the statistic is the sum over rows r != s of a_rs e_r.e_s, where a_rs = P_cc' / sqrt(n_c n_c') between cells
    and P_cc / (n_c - 1) within one; P is the ``interaction_projection``. So its variance is 2 sum a_rs^2 tr(S_r S_s),
    with S the covariance of a row's scores: that of fitted shares, which are at least half a row of the context away
    from 0 and 1; of numbers, their mean square about the fit. These are too small by the share (1 - P_cc) / n, the
    variance of the fit, and are enlarged accordingly.
    """
    if n_labels:
        pooled = (n[..., None] * means).sum(axis=(1, 2)) / n.sum(axis=(1, 2))[:, None]
        rarer = (1 - (pooled**2).sum(axis=1)) / 2
        n = n * (n * rarer[:, None, None] >= LEAST_EXPECTED)
    projection = interaction_projection(n)
    diagonal = np.einsum("gcc->gc", projection)
    n, spread, p = n.reshape(len(n), -1), spread.reshape(len(n), -1), means.reshape(len(n), -1, means.shape[3])
    has_squares = diagonal.sum(axis=1) > 0.5  # degrees of freedom, a whole number up to rounding
    size = np.maximum(n, 2)
    left = projection @ (np.sqrt(n)[..., None] * p)
    within = spread * size / (size - 1) * (n > 0)
    statistic = (np.sqrt(n)[..., None] * p * left).sum(axis=(1, 2)) - (diagonal * within).sum(axis=1)
    larger = (n > 0) / (1 - (1 - diagonal) / size)
    if n_labels:
        # Of many labels only those that occur in a context are possible there
        is_possible = p.any(axis=1, keepdims=True) | (n_labels <= FEW_LABELS)
        least = (0.5 / (n.sum(axis=1) + 1))[:, None, None]
        fit = np.clip(p - left / np.sqrt(size)[..., None], least, 1 - least) * is_possible
        fit /= fit.sum(axis=2, keepdims=True)
        spread, products = 1 - (fit**2).sum(axis=2), label_products(fit)
    else:
        spread = _smoothed(spread + left[..., 0] ** 2 / size, n)
        products = spread[:, :, None] * spread[:, None]
    mean = (diagonal * spread * larger).sum(axis=1)
    squared = projection**2 * products * larger[:, :, None] * larger[:, None]
    cell = np.arange(n.shape[1])
    squared[:, cell, cell] *= size / (size - 1)
    variance = 2 * squared.sum(axis=(1, 2))
    return float(statistic @ has_squares), float(mean @ has_squares), float(variance @ has_squares)


def interaction_projection(n: Floats) -> Floats:
    """For each context, the projection of cell means, times the root of their rows, onto what is not additive.

    It is I - H, where H is the hat matrix of the least squares fit of u + v weighted by the rows n; 0 for empty cells.
    """
    n_contexts, n_u, n_v = n.shape
    rows, columns = n.sum(axis=2), n.sum(axis=1)
    share = n / np.maximum(columns, 1)[:, None]  # of the rows with a value of j
    laplacian = -share @ n.transpose(0, 2, 1)
    u, v = np.arange(n_u), np.arange(n_v)
    laplacian[:, u, u] += np.where(rows > 0, rows, 1.0)
    # Its null space, constant on each connected set of values, is filled, so that the matrix can be inverted.
    connected = _connected(n) * rows[:, None]
    laplacian += rows[:, :, None] * connected / np.maximum(connected.sum(axis=2), 1)[..., None]
    inverse = np.linalg.inv(laplacian)
    across = -inverse @ share
    other = share.transpose(0, 2, 1) @ inverse @ share
    other[:, v, v] += np.where(columns > 0, 1 / np.maximum(columns, 1), 0.0)
    fit = inverse[:, :, None, :, None] + other[:, None, :, None, :]
    fit = fit + across[:, :, None, None, :] + across.transpose(0, 2, 1)[:, None, :, :, None]
    cells = n.reshape(n_contexts, -1)
    root = np.sqrt(cells)
    projection: Floats = -fit.reshape(n_contexts, n_u * n_v, n_u * n_v) * root[:, :, None] * root[:, None]
    c = np.arange(n_u * n_v)
    projection[:, c, c] += cells > 0
    return projection


def _connected(n: Floats) -> Floats:
    """For each context, 1 for values u, u' of i that are connected by a chain of nonempty cells, 0 for others."""
    held = (n > 0).astype(np.float64)
    connected = np.ones((len(n), n.shape[1], n.shape[1])) if held.all() else held @ held.transpose(0, 2, 1)
    n_links = 1
    while n_links < n.shape[1] and not connected.all():
        connected = (connected > 0).astype(np.float64)
        connected = connected @ connected
        n_links *= 2
    return (connected > 0).astype(np.float64)
