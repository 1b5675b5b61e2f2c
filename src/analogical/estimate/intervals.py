"""Standard errors and intervals of shares of pairs, with rows as the independent units.

One row is in many pairs, so pairs are not independent. For a feature with P pairs, C of them changed, theta = C / P,
and a row r in d_r pairs, c_r of them changed, the index without row r is (C - c_r) / (P - d_r): the jackknife over rows
in closed form. A pair depends on two rows, so the jackknife counts the variance of single pairs, theta (1 - theta) / P,
twice; it is subtracted once (Efron and Stein 1981; the same correction makes a variance robust to dyads, Aronow et al.
2015).
"""

import math
from statistics import NormalDist

import numpy as np

from analogical._types import Floats, Ints
from analogical.count.counts import RowProfile

ROUNDING_SHARE = 1e-12
"""A variance below this share of the variances that it is computed from is rounding error."""
ZERO_VARIANCE = 1e-24
"""A variance below this is rounding error."""
LEAST = 0.5
"""Smallest effective number of pairs (Kish), that of pairs within one group."""
MANY = 30
"""Effective rows, pairs, or degrees of freedom, from which a sum is treated as normal: the usual convention."""
FEWEST_FREE = 3.0
"""Smallest degrees of freedom: with fewer, Student's quantile is too large to be useful."""

__all__ = [
    "corrected_variance",
    "jackknife_variance",
    "share_interval",
    "share_variance",
    "student_quantile",
    "t_quantile",
    "upper_end",
    "wilson",
]


def share_interval(profile: RowProfile, n_rows: int, confidence: float) -> tuple[float, float]:
    """Interval of the share of changed pairs in a table of n_rows rows.

    Wilson's interval for a share, on the number of independent pairs that would have this variance. Where no pair or
    every pair changed the variance is 0, and Kish's effective number of pairs is used. A row with a rare value is in
    hundreds of pairs: where Kish's number is small, it is an upper limit, and where few rows dominate the variance,
    Student's quantile replaces the normal one.
    """
    share, variance = profile.n_changed / profile.n_pairs, share_variance(profile, n_rows)
    pair_variance, n_kish = share * (1 - share), max(profile.n_effective, LEAST)
    n = pair_variance / variance if variance > 0 and pair_variance > 0 else n_kish  # a share may be rounded to 1
    if n_kish < MANY:
        n = min(n, n_kish)
    pulls = np.asarray(share * profile.pairs - profile.changed, np.float64) * (variance > 0)
    return wilson(share, min(n, profile.n_pairs), student_quantile(pulls, profile.rows, confidence))


def share_variance(profile: RowProfile, n_rows: int) -> float:
    """Variance of the share of changed pairs in a table of n_rows rows."""
    n_pairs, n_changed = profile.n_pairs, profile.n_changed
    share = n_changed / n_pairs
    variance = jackknife_variance(n_pairs, n_changed, profile.pairs, profile.changed, profile.rows, n_rows)
    return corrected_variance(variance, share * (1 - share) / n_pairs)


def jackknife_variance(n_pairs: int, total: float, pairs: Ints, parts: Ints | Floats, rows: Ints, n_rows: int) -> float:
    """Variance of total / n_pairs by leaving out one row of n_rows at a time.

    ``rows`` rows are in ``pairs`` pairs each, which contribute ``parts`` to ``total``; rows without pairs may be left
    out of these arrays. A row that is in every pair leaves no pairs: since parts - ratio * pairs is 0 for it, it counts
    as changing nothing.
    """
    ratio = total / n_pairs
    remaining = n_pairs - pairs
    moves = np.where(remaining > 0, (ratio * pairs - parts) / np.maximum(remaining, 1), 0.0)
    mean = float((rows * moves).sum()) / n_rows
    n_without = n_rows - int(rows.sum())  # rows without pairs change nothing
    squares = float((rows * (moves - mean) ** 2).sum()) + n_without * mean**2
    return (n_rows - 1) / n_rows * squares


def corrected_variance(jackknife: float, pair_variance: float) -> float:
    """The jackknife variance minus the variance of single pairs, which it counts twice.

    The true variance is between half of the jackknife variance and all of it, whatever the pairs share.
    """
    variance = min(max(jackknife - pair_variance, jackknife / 2), jackknife)
    return variance if variance > max(ROUNDING_SHARE * pair_variance, ZERO_VARIANCE) else 0.0


def student_quantile(pulls: Floats, rows: Ints, confidence: float) -> float:
    """Quantile for an interval whose variance is the sum of squared ``pulls``, of ``rows`` rows each.

    If few rows dominate the sum, it is uncertain itself: Student's t with Satterthwaite's degrees of freedom,
    (sum u^2)^2 / sum u^4.
    """
    squares = pulls.astype(np.float64) ** 2
    fourth = float((rows * squares**2).sum())
    return t_quantile(float((rows * squares).sum()) ** 2 / fourth if fourth > 0 else math.inf, confidence)


def t_quantile(freedom: float, confidence: float) -> float:
    """Two-sided quantile of Student's t with 3 degrees of freedom or more, from 30 on of the normal distribution."""
    if freedom >= MANY:
        return NormalDist().inv_cdf((1 + confidence) / 2)
    from scipy.special import stdtrit

    return float(stdtrit(max(freedom, FEWEST_FREE), (1 + confidence) / 2))


def upper_end(effect: float, variance: float, slope: float, quantile: float) -> float:
    """Upper end of the interval of an effect whose variance grows with it, at most 1.

    The end x solves (x - effect)^2 = q^2 (variance + slope (x - effect)), as in Wilson's interval for a share. A
    negative effect counts as 0.
    """
    half = quantile**2 * slope / 2
    return min(max(effect, 0.0) + half + math.sqrt(half**2 + quantile**2 * variance), 1.0)


def wilson(share: float, n: float, quantile: float) -> tuple[float, float]:
    """Wilson's interval for a share of n independent trials; n need not be whole."""
    z2 = quantile**2
    middle = (share + z2 / (2 * n)) / (1 + z2 / n)
    half = math.sqrt(z2 / n * (share * (1 - share) + z2 / (4 * n))) / (1 + z2 / n)
    return (0.0 if share == 0 else max(middle - half, 0.0)), (1.0 if share == 1 else min(middle + half, 1.0))
