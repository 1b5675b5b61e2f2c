"""How sure a share of pairs is: standard errors and intervals, with rows as the independent units.

One row sits in many pairs, so pairs are not independent. For a feature with P pairs, C of them changed, and
theta = C / P, let row r sit in d_r pairs, c_r of them changed. Without row r the index is (C - c_r) / (P - d_r): the
jackknife over rows in closed form. A pair depends on two rows, so the jackknife counts the variance of the single
pairs,
theta (1 - theta) / P, twice; it is taken out once (Efron and Stein 1981; the same correction makes a variance robust to
dyads, Aronow et al. 2015).
"""

import math
from collections.abc import Callable
from statistics import NormalDist

import numpy as np

from analogical._progress import progress_line
from analogical._types import Floats, Ints
from analogical.counting.counts import RowProfile

ROUNDING = 1e-12
"""A variance smaller than this share of the variance of single pairs is the rounding error of 0."""
TINY = 1e-24
LEAST = 0.5
"""Kish's number of pairs that all lie within one group; rounding down half a pair would make it smaller, even 0."""
MANY = 30
"""Effective rows, or degrees of freedom, from which a sum counts as normal."""

__all__ = [
    "corrected_variance",
    "flip_rate",
    "jackknife_variance",
    "mean_ranks",
    "rank_interval",
    "resample_rows",
    "share_interval",
    "spread_of",
    "student_quantile",
    "wilson",
]


def share_interval(
    profile: RowProfile, n_rows: int, confidence: float, *, totals: tuple[int, int] | None = None
) -> tuple[float, float, float]:
    """Standard error of the share of changed pairs in a table of n_rows rows, and its interval.

    With ``totals``, pairs and changed pairs, the entries of the profile are groups of rows that are left out together.

    Wilson's interval for a share, on as many pairs as independent ones would have this variance. Where no pair or every
    pair changed the variance is 0 and says nothing; Kish's number of pairs then stands for independent ones. A row with
    a rare value sits in hundreds of pairs: where Kish's number is small, the interval rests on no more than that, and
    where few rows carry the variance, Student's quantile takes the place of the normal one.
    """
    n_pairs, n_changed = totals or (profile.n_pairs, profile.n_changed)
    share = n_changed / n_pairs
    pair_variance = share * (1 - share)
    variance = jackknife_variance(n_pairs, n_changed, profile.pairs, profile.changed, profile.rows, n_rows)
    variance = corrected_variance(variance, pair_variance / n_pairs if totals is None else 0.0)
    n_kish = max(profile.n_effective, LEAST)
    n = pair_variance / variance if variance > 0 and pair_variance > 0 else n_kish  # a share may be rounded to 1
    if n_kish < MANY:
        n = min(n, n_kish)
    pulls = np.asarray(share * profile.pairs - profile.changed, np.float64) * (variance > 0)
    quantile = student_quantile(pulls, profile.rows, confidence)
    low, high = wilson(share, min(n, n_pairs), quantile)
    return math.sqrt(variance), low, high


def flip_rate(
    repeats: RowProfile, n_rows: int, confidence: float | None
) -> tuple[float | None, float | None, float | None]:
    """How often identical rows differ in label, and its interval; None where it is unknown or not asked for."""
    if repeats.n_pairs == 0:
        return None, None, None
    rate = repeats.n_changed / repeats.n_pairs
    if confidence is None:
        return rate, None, None
    _, low, high = share_interval(repeats, n_rows, confidence)
    return rate, min(low, rate), max(high, rate)


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

    return float(stdtrit(max(freedom, 3.0), (1 + confidence) / 2))


def wilson(share: float, n: float, quantile: float) -> tuple[float, float]:
    """Wilson's interval for a share of n independent trials; n need not be whole."""
    z2 = quantile**2
    middle = (share + z2 / (2 * n)) / (1 + z2 / n)
    half = math.sqrt(z2 / n * (share * (1 - share) + z2 / (4 * n))) / (1 + z2 / n)
    return (0.0 if share == 0 else max(middle - half, 0.0)), (1.0 if share == 1 else min(middle + half, 1.0))


def resample_rows(
    score: Callable[[Ints], Floats],
    weights: Ints,
    n_resamples: int,
    seed: int | None = None,
    progress: bool = False,
) -> Floats:
    """Scores of so many tables whose rows are drawn again with repetition; shape (resamples, features).

    ``score`` takes how often each row was drawn (0 for not at all) and gives a score per feature, NaN where
    there is none; ``weights`` says how many rows each row stands for.
    """
    rng = np.random.default_rng(seed)
    n_rows = int(weights.sum())
    show = progress_line("resampling rows")
    scores = []
    for done in range(1, n_resamples + 1):
        scores.append(score(rng.multinomial(n_rows, weights / n_rows).astype(np.int64)))
        if progress:
            show(done, n_resamples)
    return np.array(scores)


def spread_of(drawn: Floats, confidence: float) -> tuple[Floats, Floats, Floats]:
    """Standard errors and percentile intervals of the scores of resamples.

    A feature without a score in more than half of the resamples gets none.
    """
    enough = np.isfinite(drawn).sum(axis=0) > len(drawn) / 2
    std_error, low, high = (np.full(drawn.shape[1], np.nan) for _ in range(3))
    if not enough.any():
        return std_error, low, high
    known = drawn[:, enough]
    std_error[enough] = np.nanstd(known, axis=0, ddof=1)
    low[enough], high[enough] = np.nanquantile(known, [(1 - confidence) / 2, (1 + confidence) / 2], axis=0)
    return std_error, low, high


def mean_ranks(scores: Floats) -> Floats:
    """Rank of every feature, 1 for the best; equal scores share the mean of their ranks, and NaN comes last.

    Examples
    --------
    >>> mean_ranks(np.array([0.5, np.nan, 0.0, 0.0])).tolist()
    [1.0, 4.0, 2.5, 2.5]
    """
    keys = np.where(np.isnan(scores), -np.inf, np.round(scores, 12))
    ordered = np.sort(keys)
    below, up_to = np.searchsorted(ordered, keys, "left"), np.searchsorted(ordered, keys, "right")
    return len(keys) - (below + up_to - 1) / 2


def rank_interval(drawn: Floats, confidence: float) -> tuple[Floats, Floats]:
    """Between which ranks a feature lies in the middle part of the resamples."""
    ranks = np.array([mean_ranks(scores) for scores in drawn])
    low, high = np.quantile(ranks, [(1 - confidence) / 2, (1 + confidence) / 2], axis=0)
    return low, high
