"""Two tests that label shares are additive in two features: of any interaction, and of a common one.

The null hypothesis is that the shares of every label are additive in both features within every context; main effects
may have any size, and differ between contexts. In each context the cell means, times the root of their rows, are
projected onto what is not additive in the two features (``P`` below).

The first test uses the interaction sum of squares over products of different rows, so its mean is exactly 0 under the
null hypothesis, whatever the noise. Its variance and third cumulant are those of a quadratic form in independent rows
with the best fitting additive shares, and its upper tail is that of a shifted gamma distribution (Pearson's type III)
with the same three cumulants. In simulations small p-values were too frequent with the variance
observed in each cell instead, if cells are small.

The second test (``CommonSums``) sums the residuals over contexts before it squares them, so that it detects a small
interaction in many small contexts: the true pair of the mixture of benchmarks/interactions (strength .2, 1,600 rows)
comes first in 8 of 12 tables with it, in 3 without.
"""

import math
from dataclasses import dataclass

import numpy as np

from analogical._types import Bools, Floats, Positions
from analogical.count.squares import PairTables
from analogical.estimate.permutations import pearson_tail

__all__ = [
    "AdditiveFits",
    "CommonSums",
    "additive_cumulants",
    "interaction_projection",
    "label_products",
    "mixed_shares",
    "null_cumulants",
    "tail_probability",
]

MAX_LABELS = 8
"""Largest number of labels for which the third cumulants of single rows, an array of labels cubed, are computed:
memory.
"""
LEAST_ROWS = 0.5
"""Rows of the rarer labels that the fitted shares of a cell must allow for. With 0, 110 instead of 106 pairs are
significant in 65 real and random tables."""
MOST_SKEWED = 4.0
"""Skewness, that of half a degree of freedom, above which the tail of a statistic is not trusted near its mean."""
LEAST_VARIANCE = 1.0
"""Variance that the score of a cell, summed over contexts, needs in the test of a common interaction: about four rows.
With 0, 111 instead of 106 pairs are significant in 65 real and random tables."""
LEAST_FREE = 0.1
"""Limits the correction of the noise for the parameters of the fit to a factor of ten."""


def tail_probability(statistic: float, variance: float, third: float) -> float:
    """Upper tail of a shifted gamma distribution with mean 0 and these cumulants; NaN without variance.

    If a single row can decide, the skewness is so large that nearly all of the distribution is one point, which the
    statistic exceeds by chance; the tail with the skewness ``MOST_SKEWED`` is then used if it is larger.
    """
    if not variance > 0:
        return math.nan
    z, skewness = statistic / math.sqrt(variance), third / variance**1.5
    if skewness < 1e-3:
        skewness = 0.0
    return max(pearson_tail(z, skewness), pearson_tail(z, min(skewness, MOST_SKEWED)))


@dataclass(frozen=True)
class AdditiveFits:
    """The best fitting additive shares of each context, and their residuals, from all cells, also those of one row."""

    root: Floats
    """Root of the rows of each cell: shape (contexts, cells)."""
    left: Floats
    """Residuals times this root: shape (contexts, cells, labels)."""
    projection: Floats
    """See :func:`interaction_projection`."""
    noise: Floats
    """Variance of the label of one row: shape (contexts, cells, labels)."""
    has_squares: Bools

    @classmethod
    def of(cls, counts: Floats) -> "AdditiveFits":
        """From counts of shape (contexts, values of i, values of j, labels)."""
        n = counts.sum(axis=3)
        cells = n.reshape(len(n), -1)
        size = np.maximum(cells, 1)
        p = counts.reshape(*cells.shape, -1) / size[..., None]
        projection = interaction_projection(n)
        root = np.sqrt(cells)
        left = projection @ (root[..., None] * p)
        diagonal = np.einsum("gcc->gc", projection)
        fit = p - left / np.sqrt(size)[..., None]
        noise = fit * (1 - fit) / np.maximum(1 - (1 - diagonal) / size, LEAST_FREE)[..., None]
        return cls(root, left, projection, noise, diagonal.sum(axis=1) > 0.5)

    def of_some(self, contexts: Positions | Bools) -> "AdditiveFits":
        """The fits of some contexts."""
        return AdditiveFits(*(part[contexts] for part in vars(self).values()))


class CommonSums:
    """Sums over contexts for the test of a common interaction.

    The statistic is the sum of squares that one interaction, the same in all contexts, explains beyond shares that are
    additive in every context. With X_c = D^1/2 P D^1/2 p the residuals of a context times their rows (D), T the sum of
    the X_c, and M the sum of the matrices D^1/2 P D^1/2, it is T'M^-T. Only one of two labels is used.

    Attributes
    ----------
    score : ndarray of shape (labels, cells)
        T.
    weight : ndarray of shape (cells, cells)
        M.
    variance : ndarray of shape (labels, cells, cells)
        Covariances of T for each label.
    """

    def __init__(self, n_first: int, n_second: int, n_labels: int) -> None:
        self.n_second = n_second
        self.first_label = 1 if n_labels == 2 else 0
        n_cells, n_counted = n_first * n_second, n_labels - self.first_label
        self.score = np.zeros((n_counted, n_cells))
        self.weight = np.zeros((n_cells, n_cells))
        self.variance = np.zeros((n_counted, n_cells, n_cells))
        self.n_contexts = 0

    def add(self, tables: PairTables, fits: AdditiveFits) -> None:
        """Add contexts, from their tables and fits."""
        some = np.flatnonzero(fits.has_squares)
        fits = fits.of_some(some)
        scaled = fits.root[..., None] * fits.projection
        cells = (tables.first[some, :, None] * self.n_second + tables.second[some, None]).reshape(len(some), -1)
        pairs = cells[:, :, None] * self.weight.shape[1] + cells[:, None]
        self.n_contexts += len(some)
        self._add_at(self.weight, pairs, scaled * fits.root[:, None], tables.is_whole)
        for place in range(self.first_label, tables.labels.shape[1]):
            label = tables.labels[some, place] - self.first_label
            score = fits.root * fits.left[..., place]
            self._add_at(self.score, label[:, None] * self.score.shape[1] + cells, score, tables.is_whole)
            variance = (scaled * fits.noise[:, None, :, place]) @ scaled.transpose(0, 2, 1)
            self._add_at(self.variance, label[:, None, None] * self.weight.size + pairs, variance, tables.is_whole)

    @staticmethod
    def _add_at(sums: Floats, places: Positions, numbers: Floats, is_whole: bool) -> None:
        """Add numbers at flat positions of ``sums``; whole tables have the same positions in all contexts."""
        if not len(numbers):
            return
        if is_whole:
            places, numbers = places[0], numbers.sum(axis=0)
        np.add.at(sums.reshape(-1), places.ravel(), numbers.ravel())

    def p_value(self) -> float:
        """Upper tail of a scaled chi-squared variable with the mean and variance of the statistic; NaN if unknown.

        Over several labels the variance is at most twice the sum of the variances of single labels, because the
        covariances of a label with the others sum to minus its variance. In a single context this test is the same as
        the other one, and is not made.
        """
        from scipy.special import chdtrc

        cells = np.flatnonzero(np.einsum("lcc->c", self.variance) >= LEAST_VARIANCE)
        if self.n_contexts < 2 or not len(cells):
            return math.nan
        inverse = np.linalg.pinv(self.weight[np.ix_(cells, cells)], rcond=1e-7, hermitian=True)
        mean = spread = statistic = 0.0
        for score, variance in zip(self.score[:, cells], self.variance, strict=True):
            product = inverse @ variance[np.ix_(cells, cells)]
            mean += float(np.trace(product))
            spread += 2 * float((product * product.T).sum())
            statistic += float(score @ inverse @ score)
        spread *= 1 if len(self.score) == 1 else 2
        if not (mean > 0 and spread > 0):
            return math.nan
        return float(chdtrc(2 * mean**2 / spread, 2 * mean * statistic / spread))


def label_products(shares: Floats, times: Floats) -> Floats:
    """tr(S S') for each pair of cells of a context, where S = diag(p) - pp' is the covariance of the labels of a row.

    It is the sum over labels of p (1 - p) p' (1 - p'), plus all products p_l p'_l p_m p'_m of different labels: nothing
    is subtracted, so rare labels keep their digits. With many labels these products are (sum p p')^2 - sum (p p')^2,
    three matrix products. ``times`` is the number of labels that each one stands for.
    """
    if times.sum() > MAX_LABELS:
        own, squared, together = (
            (times * part) @ part.transpose(0, 2, 1) for part in (shares * (1 - shares), shares**2, shares)
        )
        return np.asarray(own + together**2 - squared)
    total, before = np.zeros((2, len(shares), shares.shape[1], shares.shape[1]))
    for label in range(shares.shape[2]):
        p = shares[..., label]
        own = p * (1 - p)
        both = p[:, :, None] * p[:, None]
        total += own[:, :, None] * own[:, None] + 2 * both * before
        before += both
    return total


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


def additive_cumulants(n: Floats, p: Floats, projection: Floats, pooled: Floats, times: Floats) -> Floats:
    """The interaction sum of squares over different rows, and its variance and third cumulant under additivity.

    From the rows n of each cell (0, or 2 or more), the observed shares p (contexts, cells, labels), the
    :func:`interaction_projection`, the shares of the whole contexts, and the number of labels that each label stands
    for. Returns shape (contexts, 3). The covariances of the fitted shares are too small by the share (1 - P_cc) / n,
    the variance of the fit, and are enlarged accordingly: by rows / (rows - parameters) if all cells are alike.
    """
    size = np.maximum(n, 2)
    left = projection @ (np.sqrt(n)[..., None] * p)
    diagonal = np.einsum("gcc->gc", projection)
    within = (1 - (p**2).sum(axis=2)) * size / (size - 1) * (n > 0)
    statistic = (np.sqrt(n)[..., None] * p * left).sum(axis=(1, 2)) - (diagonal * within).sum(axis=1)
    n_rows = n.sum(axis=1)
    larger = 1 / (1 - (1 - diagonal) / size)
    fit = _possible_shares(p - left / np.sqrt(size)[..., None], n_rows, times)
    fit = mixed_shares(fit, pooled, n, larger, times)
    variance, third = null_cumulants(n, fit, projection, larger, times)
    has_squares = diagonal.sum(axis=1) > 0.5  # degrees of freedom, a whole number up to rounding
    cumulants: Floats = np.stack([statistic, variance, third], axis=1) * has_squares[:, None]
    return cumulants


def null_cumulants(
    n: Floats, shares: Floats, projection: Floats, larger: Floats, times: Floats
) -> tuple[Floats, Floats]:
    """Variance and third cumulant of the statistic for these shares, with covariances multiplied by ``larger``.

    With e the deviations of the labels of single rows from their shares, the statistic is the sum over rows r != s of
    a_rs e_r.e_s, where a_rs = P_cc' / sqrt(n_c n_c') between cells and P_cc / (n_c - 1) within one. With S the
    covariance of a row's labels and K its third cumulants, its cumulants are

        2 sum a_rs^2 tr(S_r S_s)    and    8 sum a_rs a_st a_tr tr(S_r S_s S_t) + 4 sum a_rs^3 K_r.K_s

    over different rows. With more than two labels the trace of three covariances is computed as if all were
    proportional to their mean in the context.
    """
    size = np.maximum(n, 2)
    c = np.arange(n.shape[1])
    diagonal = np.einsum("gcc->gc", projection)
    factor = larger * (n > 0)
    products = label_products(shares, times) * factor[:, :, None] * factor[:, None]
    second = projection**2 * products
    second[:, c, c] *= size / (size - 1)
    s = np.sqrt(np.einsum("gcc->gc", products))
    own = diagonal * s
    # Over all rows tr(A^3), minus the terms in which two rows are the same.
    matrix = projection * np.sqrt(s[:, :, None] * s[:, None])
    matrix[:, c, c] = own * size / (size - 1)
    twice = matrix @ matrix
    d = own / (size - 1)
    cubes = (twice * matrix).sum(axis=(1, 2)) - 3 * (np.einsum("gcc->gc", twice) * d).sum(axis=1)
    cubes += 2 * (n * d**3).sum(axis=1)
    third = 8 * _three_to_two(shares, factor, n, times) * cubes
    if times.sum() <= MAX_LABELS:
        third += 4 * _skewness_part(shares, factor, projection, diagonal, size)
    return 2 * second.sum(axis=(1, 2)), third


def _possible_shares(fit: Floats, n_rows: Floats, times: Floats) -> Floats:
    """Shares at least half a row of the context away from 0 and 1, and with the sum 1."""
    least = (0.5 / (n_rows + 1))[:, None, None]
    clipped = np.clip(fit, least, 1 - least)
    shares: Floats = clipped / (clipped * times).sum(axis=2, keepdims=True)
    return shares


def mixed_shares(fit: Floats, pooled: Floats, n: Floats, larger: Floats, times: Floats) -> Floats:
    """Fitted shares, mixed with those of the context where they leave less than one row to the rarer labels.

    The best fit has too little noise in small cells with rare labels, because a share of 0 may fit by chance. The
    spread 1 - sum p^2 of a cell is raised to that of the context, or to one row of the cell if that is less.
    """
    own = 1 - (fit**2 * times).sum(axis=2)
    whole = 1 - (pooled**2).sum(axis=1)[:, None]
    wanted = np.minimum(whole, 2 * LEAST_ROWS / np.maximum(n, 1)) / larger
    lacking = np.where((own < wanted) & (whole > own), (wanted - own) / np.where(whole > own, whole - own, 1.0), 0.0)
    return fit + lacking[..., None] * (pooled[:, None] - fit)


def _three_to_two(shares: Floats, factor: Floats, n: Floats, times: Floats) -> Floats:
    """tr(S^3) / tr(S^2)^1.5 of the mean covariance S of each context: 1 with two labels, less with more.

    Equal labels, ``times`` of them, are one row of S: their sum has one eigenvector, and the other eigenvectors have
    their mean share as eigenvalue.
    """
    if times.sum() == 2:
        return np.ones(len(shares))
    weights = factor * n / n.sum(axis=1, keepdims=True)
    share = np.einsum("gc,gcl->gl", weights, shares)
    scaled = shares * np.sqrt(times)
    mean = -(weights[..., None] * scaled).transpose(0, 2, 1) @ scaled
    label = np.arange(len(times))
    mean[:, label, label] += share
    squared = mean @ mean
    three = (squared * mean).sum(axis=(1, 2)) + share**3 @ (times - 1)
    two = np.einsum("gll->g", squared) + share**2 @ (times - 1)
    ratio: Floats = three / two**1.5
    return ratio


def _skewness_part(shares: Floats, factor: Floats, projection: Floats, diagonal: Floats, size: Floats) -> Floats:
    """Sum over different rows of a_rs^3 K_r.K_s times ``factor``, where K are the third cumulants of a row's labels.

    These are E[(x_a - p_a)(x_b - p_b)(x_d - p_d)] for one draw x of a multinomial distribution.
    """
    n_contexts, n_cells, n_labels = shares.shape
    if n_labels == 2:  # K_r.K_s is 8 k_r k_s, k = p (1 - p) (1 - 2 p)
        p = shares[..., 1]
        third = (np.sqrt(8) * p * (1 - p) * (1 - 2 * p) * factor)[..., None]
    else:
        same = np.eye(n_labels)
        pairs = shares[..., :, None] * shares[..., None, :]
        cubes = 2 * pairs[..., None] * shares[..., None, None, :]
        cubes += np.einsum("ab,bd,gca->gcabd", same, same, shares)
        for axes in ("ab,gcad->gcabd", "ad,gcab->gcabd", "bd,gcab->gcabd"):
            cubes -= np.einsum(axes, same, pairs)
        third = cubes.reshape(n_contexts, n_cells, -1) * factor[..., None]
    scaled = third / np.sqrt(size)[..., None]
    between = projection**3 * (scaled @ scaled.transpose(0, 2, 1))
    c = np.arange(n_cells)
    between[:, c, c] = diagonal**3 * size / (size - 1) ** 2 * (third**2).sum(axis=2)
    total: Floats = between.sum(axis=(1, 2))
    return total
