"""How sure a share of pairs is: standard errors and intervals, with rows as the independent units.

One row sits in many pairs, so pairs are not independent. For a feature with P pairs, C of them changed, and
theta = C / P, let row r sit in d_r pairs, c_r of them changed. Without row r the index is (C - c_r) / (P - d_r): the
jackknife over rows in closed form. A pair depends on two rows, so the jackknife counts the variance of the single
pairs,
theta (1 - theta) / P, twice; it is taken out once (Efron and Stein 1981; the same correction makes a variance robust to
dyads, Aronow et al. 2015).
"""

import math
from statistics import NormalDist

import numpy as np

from analogical._types import Floats, Ints
from analogical.count.counts import RowProfile

ROUNDING = 1e-12
"""A variance smaller than this share of the variance of single pairs is the rounding error of 0."""
TINY = 1e-24
LEAST = 0.5
"""Kish's number of pairs that all lie within one group; rounding down half a pair would make it smaller, even 0."""
MANY = 30
"""Effective rows, pairs, or degrees of freedom, from which a sum counts as normal."""
FEWEST_FREE = 3.0
"""Degrees of freedom at least: with fewer, Student's quantile says nothing but that nothing is known."""

__all__ = [
    "corrected_variance",
    "jackknife_variance",
    "share_interval",
    "share_variance",
    "student_quantile",
    "wilson",
]


def share_interval(profile: RowProfile, n_rows: int, confidence: float) -> tuple[float, float]:
    """Interval of the share of changed pairs in a table of n_rows rows.

    Wilson's interval for a share, on as many pairs as independent ones would have this variance. Where no pair or every
    pair changed the variance is 0 and says nothing; Kish's number of pairs then stands for independent ones. A row with
    a rare value sits in hundreds of pairs: where Kish's number is small, the interval rests on no more than that, and
    where few rows carry the variance, Student's quantile takes the place of the normal one.
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

    ``rows`` rows sit in ``pairs`` pairs each, with which ``parts`` of ``total`` go; rows that sit in no pair may be
    left out of these arrays. A row that sits in every pair takes all of them away: without it there is no ratio, and
    since its pull on the ratio, parts - ratio * pairs, is 0, it counts as changing nothing.
    """
    ratio = total / n_pairs
    left = n_pairs - pairs
    moves = np.where(left > 0, (ratio * pairs - parts) / np.maximum(left, 1), 0.0)
    mean = float((rows * moves).sum()) / n_rows
    n_without = n_rows - int(rows.sum())  # rows that sit in no pair move nothing
    squares = float((rows * (moves - mean) ** 2).sum()) + n_without * mean**2
    return (n_rows - 1) / n_rows * squares


def corrected_variance(jackknife: float, pair_variance: float) -> float:
    """The jackknife variance less the variance of single pairs, which it counts twice.

    The truth lies between half of the jackknife variance and all of it, whatever the pairs share.
    """
    variance = min(max(jackknife - pair_variance, jackknife / 2), jackknife)
    return variance if variance > max(ROUNDING * pair_variance, TINY) else 0.0


def student_quantile(pulls: Floats, rows: Ints, confidence: float) -> float:
    """Quantile for an interval whose variance is a sum of squared pulls, of so many rows each.

    If few rows carry the sum, it varies itself: Student's t with Satterthwaite's degrees of freedom,
    (sum u^2)^2 / sum u^4, at least 3; from 30 on the normal quantile.
    """
    squares = pulls.astype(np.float64) ** 2
    fourth = float((rows * squares**2).sum())
    freedom = float((rows * squares).sum()) ** 2 / fourth if fourth > 0 else math.inf
    if freedom >= MANY:
        return NormalDist().inv_cdf((1 + confidence) / 2)
    from scipy.special import stdtrit

    return float(stdtrit(max(freedom, FEWEST_FREE), (1 + confidence) / 2))


def wilson(share: float, n: float, quantile: float) -> tuple[float, float]:
    """Wilson's interval for a share of n independent trials; n need not be whole."""
    z2 = quantile**2
    middle = (share + z2 / (2 * n)) / (1 + z2 / n)
    half = math.sqrt(z2 / n * (share * (1 - share) + z2 / (4 * n))) / (1 + z2 / n)
    return (0.0 if share == 0 else max(middle - half, 0.0)), (1.0 if share == 1 else min(middle + half, 1.0))
