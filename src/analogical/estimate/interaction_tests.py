"""Two tests of additive shares: of any interactions in the contexts, and of one that is the same in all of them.

The first one is the interaction sum of squares of different rows, and its tail.

In each context the cell means, times the root of their rows, are projected onto what is not additive in the two
features (``P`` below). The null hypothesis is that the shares of every label are additive in both features within
every context: main effects may have any size, and another one in every context. The statistic holds products of
different rows only, so its mean is exactly 0 under the null hypothesis, whatever the noise. Its variance and third
cumulant are those of a quadratic form in independent rows that have the additive shares which fit best, and its upper
tail is that of a shifted gamma distribution (Pearson's type III) with the same three cumulants.

Chosen by simulation (benchmarks/interactions/calibration.md) before the variances that each cell itself shows, which
make small p-values too frequent where cells are small.

The second one (``CommonSums``) adds the residuals of all contexts before it squares them, so that a small interaction
in many small contexts is seen: the true pair of the mixture of benchmarks/interactions (strength .2, 1,600 rows) comes
first in 8 of 12 tables with it, in 3 without.
"""

import math
from dataclasses import dataclass

import numpy as np

from analogical._types import Bools, Floats, Positions
from analogical.count.squares import PairTables

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
"""Labels up to which the third cumulant of single rows, which has as many entries cubed, is taken into account. Tables
have a place for each of so many."""
LEAST_ROWS = 0.5
"""Rows of the rarer labels for which a fitted share must leave room in a cell."""
LEAST_FREEDOM = 0.5
"""Degrees of freedom below which the tail of a statistic is not trusted near its mean."""
LEAST_VARIANCE = 1.0
"""Variance that the score of a cell, over all contexts, must have in the test of a common interaction: about four rows.
"""
LEAST_FREE = 0.1
"""Share of a row's noise that a fit must leave: noise is enlarged tenfold at most for the parameters of the fit."""


def tail_probability(statistic: float, variance: float, third: float) -> float:
    """Upper tail of a shifted gamma distribution with mean 0, this variance and this third cumulant.

    Textbook: chi-squared with nu = 8 / skewness^2 degrees of freedom, scaled to the variance. Without skewness it is
    the normal distribution. NaN if there is no variance. Where a single row could decide, skewness is so large that
    nearly all of the distribution is one point, which the statistic exceeds by chance; the tail with half a degree of
    freedom then counts if it is larger.
    """
    from scipy.special import chdtrc, ndtr

    if not variance > 0:
        return math.nan
    z, skewness = statistic / math.sqrt(variance), third / variance**1.5
    if skewness < 1e-3:
        return float(ndtr(-z))
    freedom = 8 / skewness**2
    tails = [chdtrc(nu, max(nu + z * math.sqrt(2 * nu), 0.0)) for nu in (freedom, max(freedom, LEAST_FREEDOM))]
    return float(max(tails))


@dataclass(frozen=True)
class AdditiveFits:
    """The additive shares that fit each context best, and what they leave of the observed shares.

    Single rows count as well, because the noise is that of the fitted shares.
    """

    root: Floats
    """Root of the rows of each cell, of shape (contexts, cells)."""
    left: Floats
    """Residuals times this root, of shape (contexts, cells, labels)."""
    projection: Floats
    """As :func:`interaction_projection` makes it."""
    noise: Floats
    """Variance of the label of one row, of shape (contexts, cells, labels)."""
    has_squares: Bools

    @classmethod
    def of(cls, counts: Floats) -> "AdditiveFits":
        """From rows of shape (contexts, values of i, values of j, labels)."""
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

    def of_some(self, contexts: Positions | slice) -> "AdditiveFits":
        """Those of some contexts."""
        return AdditiveFits(*(part[contexts] for part in vars(self).values()))


class CommonSums:
    """What the test of a common interaction is made of, as sums over contexts.

    The statistic is the sum of squares that one interaction, the same in all contexts, explains beyond shares that are
    additive in every context. Textbook: with X_c = D^1/2 P D^1/2 p the residuals of a context times their rows (D), and
    M the sum of the matrices D^1/2 P D^1/2, it is T'M^-T for T the sum of the X_c. Of two labels one is counted.

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
        """Add contexts, from their tables and what fits them."""
        some = np.flatnonzero(fits.has_squares)
        fits = fits.of_some(some)
        scaled = fits.root[..., None] * fits.projection
        cells = (tables.first[some, :, None] * self.n_second + tables.second[some, None]).reshape(len(some), -1)
        twos = cells[:, :, None] * self.weight.shape[1] + cells[:, None]
        self.n_contexts += len(some)
        self._add_at(self.weight, twos, scaled * fits.root[:, None], tables.is_whole)
        for place in range(self.first_label, tables.labels.shape[1]):
            label = tables.labels[some, place] - self.first_label
            score = fits.root * fits.left[..., place]
            self._add_at(self.score, label[:, None] * self.score.shape[1] + cells, score, tables.is_whole)
            variance = (scaled * fits.noise[:, None, :, place]) @ scaled.transpose(0, 2, 1)
            self._add_at(self.variance, label[:, None, None] * self.weight.size + twos, variance, tables.is_whole)

    @staticmethod
    def _add_at(sums: Floats, places: Positions, numbers: Floats, is_whole: bool) -> None:
        """Add numbers at places of the sums; in whole tables all contexts have the same places."""
        if not len(numbers):
            return
        if is_whole:
            places, numbers = places[0], numbers.sum(axis=0)
        np.add.at(sums.reshape(-1), places.ravel(), numbers.ravel())

    def p_value(self) -> float:
        """Upper tail of a scaled chi-squared variable with the mean and variance of the statistic; NaN if unknown.

        Over several labels the variance is at most twice the sum of those of single labels (exactly so for two, of
        which one is counted): the covariances of a label with the others add up to its variance. In a single context
        this test asks what the other one asks, and is not done.
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


def label_products(shares: Floats, times: Floats | None = None) -> Floats:
    """tr(S S') for every two cells of a context, S and S' being the covariances diag(p) - pp' of the labels of a row.

    The sum over labels of p (1 - p) p' (1 - p'), plus all products p_l p'_l p_m p'_m of different labels: nothing is
    subtracted, so that rare labels keep their digits. Of many labels these products are (sum p p')^2 - sum (p p')^2,
    which costs three products of matrices. ``times`` is how many labels each one stands for, if there are many.
    """
    times = np.ones(shares.shape[2]) if times is None else times
    if times.sum() == 2:
        spread = 2 * shares[..., 0] * shares[..., 1]
        return np.asarray(spread[:, :, None] * spread[:, None])
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

    Textbook: I - H with H the hat matrix of the least squares fit of u + v, weighted by the rows n; 0 for cells
    without rows.
    """
    n_contexts, n_u, n_v = n.shape
    rows, columns = n.sum(axis=2), n.sum(axis=1)
    share = n / np.maximum(columns, 1)[:, None]  # of the rows of a value of j
    laplacian = -share @ n.transpose(0, 2, 1)
    u, v = np.arange(n_u), np.arange(n_v)
    laplacian[:, u, u] += np.where(rows > 0, rows, 1.0)
    # Its null space, equal numbers for all values of a part that is connected by values of j, is filled.
    in_part = _connected(n)
    in_part *= rows[:, None]
    laplacian += rows[:, :, None] * in_part / np.maximum(in_part.sum(axis=2), 1)[..., None]
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
    """For each context, 1 for values u, u' of i that a chain of values of j with rows connects, 0 for others."""
    held = (n > 0).astype(np.float64)
    connected = np.ones((len(n), n.shape[1], n.shape[1])) if held.all() else held @ held.transpose(0, 2, 1)
    n_links = 1
    while n_links < n.shape[1] and not connected.all():
        connected = (connected > 0).astype(np.float64)
        connected = connected @ connected
        n_links *= 2
    return (connected > 0).astype(np.float64)


def additive_cumulants(n: Floats, p: Floats, projection: Floats, pooled: Floats, times: Floats | None = None) -> Floats:
    """The interaction sum of squares of different rows, and its variance and third cumulant if shares are additive.

    Parameters
    ----------
    n : ndarray of shape (contexts, cells)
        Rows, 0 or from 2.
    p : ndarray of shape (contexts, cells, labels)
        Observed shares of the labels.
    projection : ndarray of shape (contexts, cells, cells)
        As :func:`interaction_projection` makes it.
    pooled : ndarray of shape (contexts, labels)
        Shares of the labels in the whole context.
    times : ndarray of shape (labels,), optional
        How many labels each of these stands for: labels that no row has are kept once, if there are many.

    Returns
    -------
    ndarray of shape (contexts, 3)
        The covariances of the fitted shares are too small by the variance of the fit, the share (1 - P_cc) / n of
        them, and are enlarged by it: by rows / (rows - parameters) where all cells are alike.
    """
    times = np.ones(p.shape[2]) if times is None else times
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
    n: Floats, shares: Floats, projection: Floats, larger: Floats, times: Floats | None = None
) -> tuple[Floats, Floats]:
    """Variance and third cumulant of the statistic if rows have these shares, and covariances larger by factors.

    With e the deviations of the labels of single rows from their shares, the statistic is the sum over rows r != s of
    a_rs e_r.e_s, where a_rs = P_cc' / sqrt(n_c n_c') between cells and P_cc / (n_c - 1) within one. With S the
    covariance of a row's labels and K its third cumulants, its cumulants are

        2 sum a_rs^2 tr(S_r S_s)    and    8 sum a_rs a_st a_tr tr(S_r S_s S_t) + 4 sum a_rs^3 K_r.K_s

    over different rows. With more than two labels the trace of three covariances is taken as if all had the shape of
    their mean in the context.
    """
    times = np.ones(shares.shape[2]) if times is None else times
    size = np.maximum(n, 2)
    c = np.arange(n.shape[1])
    diagonal = np.einsum("gcc->gc", projection)
    factor = larger * (n > 0)
    products = label_products(shares, times) * factor[:, :, None] * factor[:, None]
    second = projection**2 * products
    second[:, c, c] *= size / (size - 1)
    s = np.sqrt(np.einsum("gcc->gc", products))
    own = diagonal * s
    # Over all rows tr(A^3), less the terms in which two rows are the same one.
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
    """Shares of labels away from 0 and 1 by half a row of the context, adding up to 1."""
    least = (0.5 / (n_rows + 1))[:, None, None]
    clipped = np.clip(fit, least, 1 - least)
    shares: Floats = clipped / (clipped * times).sum(axis=2, keepdims=True)
    return shares


def mixed_shares(fit: Floats, pooled: Floats, n: Floats, larger: Floats, times: Floats | None = None) -> Floats:
    """Fitted shares, mixed with those of the whole context where they leave less than one row to the rarer labels.

    What fits best has too little noise in small cells with rare labels: a share of 0 may fit by chance. The spread
    1 - sum p^2 of a cell is raised to that of the context, or to one row of the cell if that is less.
    """
    times = np.ones(fit.shape[2]) if times is None else times
    own = 1 - (fit**2 * times).sum(axis=2)
    whole = 1 - (pooled**2).sum(axis=1)[:, None]
    wanted = np.minimum(whole, 2 * LEAST_ROWS / np.maximum(n, 1)) / larger
    lacking = np.where((own < wanted) & (whole > own), (wanted - own) / np.where(whole > own, whole - own, 1.0), 0.0)
    return fit + lacking[..., None] * (pooled[:, None] - fit)


def _three_to_two(shares: Floats, factor: Floats, n: Floats, times: Floats) -> Floats:
    """tr(S^3) / tr(S^2)^1.5 of the mean covariance S of each context: 1 with two labels, less with more.

    Labels that are alike, of which there are ``times``, share one line of S: their sum has one eigenvector, and the
    others of them have the eigenvalue of their mean share.
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
    """Sum over different rows of a_rs^3 K_r.K_s, K the third cumulants of a row's labels, times a factor.

    Textbook: E[(x_a - p_a)(x_b - p_b)(x_d - p_d)] for one draw x of a multinomial distribution.
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
