"""How sure the relaxed score is: an interval from the pairs it was fitted on, and a p-value against shuffled labels.

The fit maximises a weighted likelihood of pairs in lambda = -log(1 - t). Pairs that share a row are dependent, so the
variance is the sandwich H^-1 M H^-1, with H the curvature and M the variance of the gradient added up row by row: with
u_r the sum of the gradients g of the pairs of row r, M = sum over rows of u_r u_r' less sum over pairs of g g', which
the rows count twice (the dyadic correction of Aronow et al. 2015). A row of weight w is w rows, each with a w-th of its
pairs.
"""

import math
import sys
from collections.abc import Sequence
from dataclasses import dataclass
from typing import TypeVar

import numpy as np

from analogical._progress import Progress
from analogical._types import Codes, Floats, Ints, Positions
from analogical.counting.neighbours import Neighbours
from analogical.counting.threads import one_blas_thread
from analogical.scoring.attribution import RARE, Attribution, fit_noisy_or

__all__ = ["ACTIVE", "RelaxedFit", "gamma_tail", "in_columns", "sandwich_interval", "shuffled_p_values"]

Numbers = TypeVar("Numbers", Ints, Floats)

N_SHUFFLES = 5
"""Times that labels are shuffled; the scores of all features together show what noise alone gives."""
MAX_SHUFFLED = 100_000
"""Pairs that shuffled labels are fitted on."""
ENTRIES = 5_000_000
"""Entries of a matrix of pairs and features that are looked at together."""
MAX_FEATURES = 500
"""Beyond so many features there is no interval: it inverts a matrix of features times features."""
OF_MEANS = 1.3
"""How much larger the variance of noise is taken if scores are means over sets of bins, some of which are 0: their tail
is longer than a gamma distribution's. With it p is at most .05 in 3 to 5 %, at most .01 in 1 to 2 % of noise."""
NOTHING = 1e-6
"""If the dyadic correction leaves less than this share of a variance, what is left is rounding, and it is not made."""
SINGULAR = 1e-8
"""Directions in which the curvature is so much smaller than in the steepest one are left to rounding, so left out."""
ACTIVE = 1e-3
"""Flip probabilities below this lie at the edge, where the curvature says nothing."""


@dataclass(frozen=True)
class GridFit:
    """What a relaxed score was fitted on, with numbers in one set of bins."""

    found: Neighbours
    fit: Attribution
    weight: Floats
    """What a pair at each distance weighs."""
    leak: bool
    """Whether pairs may change without any feature's doing."""


@dataclass(frozen=True)
class RelaxedFit:
    """The fits whose mean the score is: one, or with numbers one for each set of bins, the finest first."""

    grids: tuple[GridFit, ...]
    columns: Positions
    """Which columns of the table were fitted: those that vary."""
    n_columns: int

    def interval(self, quantile: float) -> tuple[Floats, Floats, Floats]:
        """Standard error and interval of the score of every column.

        The fits rest on the same rows, so the mean of their standard errors is at least that of the mean. A fit at its
        edge is 0 and adds nothing.
        """
        found = [sandwich_interval(grid.found, grid.fit, grid.weight, quantile) for grid in self.grids]
        unknown = np.all([np.isnan(std_error) for std_error, _, _ in found], axis=0)
        means = [np.mean([np.nan_to_num(x) for x in of_grids], axis=0) for of_grids in zip(*found, strict=True)]
        std_error, low, high = (self._placed(np.where(unknown, np.nan, mean)) for mean in means)
        return std_error, low, high

    def p_values(self, seed: int | None, progress: Progress | None = None) -> Floats:
        """P-values of every column against shuffled labels."""
        return self._placed(shuffled_p_values(self.grids, seed, progress))

    def _placed(self, numbers: Floats) -> Floats:
        return in_columns(self.n_columns, self.columns, numbers, np.nan)


def mean_score(fits: Sequence[Attribution]) -> Floats:
    """Mean over the sets of bins."""
    return fits[0].score if len(fits) == 1 else np.mean([fit.score for fit in fits], axis=0)


def in_columns(n_columns: int, columns: Positions, numbers: Numbers, otherwise: float) -> Numbers:
    """Numbers of some columns of a table at their places among all columns."""
    placed = np.full(n_columns, otherwise, numbers.dtype)
    placed[columns] = numbers
    return placed


def sandwich_interval(
    found: Neighbours, fit: Attribution, weight: Floats, quantile: float
) -> tuple[Floats, Floats, Floats]:
    """Standard error and interval of every score; NaN where the fit is at its edge or there are too many features."""
    n = found.n_features
    std_error = np.full(n, np.nan)
    low, high = std_error.copy(), std_error.copy()
    flips = np.nan_to_num(np.append(fit.flips, fit.leak))  # a feature without pairs flips nothing
    active = np.flatnonzero(flips > ACTIVE)
    if n > MAX_FEATURES or not len(active):
        return std_error, low, high
    rates = -np.log1p(-np.minimum(flips, 1 - 1e-9))
    with one_blas_thread():
        gradients, uncorrected, curvature = _derivatives(found, weight, rates, active)
    inverse = np.linalg.pinv(curvature, rcond=SINGULAR, hermitian=True)
    variance, safe = (np.diag(inverse @ middle @ inverse) for middle in (gradients, uncorrected))
    of_rates = np.sqrt(
        np.where(variance > NOTHING * safe, variance, np.maximum(safe, 0.0))
    )  # the correction may take off too much
    shrink = fit.coverage / (fit.coverage + RARE)
    for place, i in enumerate(active.tolist()):
        if i < n:
            half = quantile * of_rates[place]
            std_error[i] = of_rates[place] * math.exp(-rates[i]) * shrink[i]
            low[i], high[i] = (-math.expm1(-max(rates[i] + sign * half, 0.0)) * shrink[i] for sign in (-1, 1))
    return std_error, low, high


def _derivatives(found: Neighbours, weight: Floats, rates: Floats, active: Positions) -> tuple[Floats, Floats, Floats]:
    """The variance of the gradient, half of the sum over rows alone, and the curvature of the log-likelihood.

    For the active features (and the leak).
    """
    n_pairs, together = found.pair_weights()
    probability = found.keep_probability[found.distance]
    scale = (weight[found.distance] / np.maximum(probability, 1e-300))[found.set_of_pair] * together
    scale /= scale.mean()
    changed = found.rows.labels[found.left] != found.rows.labels[found.right]
    row_weight = found.rows.weights_or_ones()
    k = len(active)
    of_rows = np.zeros((len(row_weight), k))
    of_pairs, curvature = np.zeros((k, k)), np.zeros((k, k))
    step = max(1, ENTRIES // found.n_features)
    for start in range(0, len(scale), step):
        chunk = slice(start, start + step)
        member = found.member[found.set_of_pair[chunk]]
        member = np.hstack([member, np.ones((len(member), 1), np.uint8)]).astype(np.float64)
        stay = np.exp(-(member @ rates))
        flip = np.maximum(1 - stay, 1e-9)
        member = member[:, active]
        gradient = member * (scale[chunk] * np.where(changed[chunk], stay / flip, -1.0))[:, None]
        for side in (found.left[chunk], found.right[chunk]):
            order = np.argsort(side, kind="stable")
            starts = np.flatnonzero(np.diff(side[order], prepend=-1))
            of_rows[side[order][starts]] += np.add.reduceat(gradient[order], starts, axis=0)
        of_pairs += (gradient / n_pairs[chunk, None]).T @ gradient
        curvature += (member * (scale[chunk] * changed[chunk] * stay / flip**2)[:, None]).T @ member
    crossed = (of_rows / row_weight[:, None]).T @ of_rows
    middle = crossed - of_pairs
    return (middle if (np.diag(middle) > 0).all() else crossed / 2), crossed / 2, curvature


def shuffled_p_values(grids: Sequence[GridFit], seed: int | None, progress: Progress | None = None) -> Floats:
    """Probability of a score at least this large with shuffled labels; NaN for features without pairs.

    Shuffled labels give scores that noise alone would give. With them far more pairs change than in a table whose near
    rows mostly agree, so scores are compared as shares of the changes there are. The share above 0 and a gamma
    distribution with their mean and variance, over all features and shuffles, give the tail; where the table has
    fewer changes than the shuffled ones, they vary more, and the variance is taken as much larger.

    The distinct (row, label) are shuffled as units: repeated rows, like rows with a weight, then do not look like
    independent evidence. All sets of bins hold the same rows in the same order and see the same shuffles, so their
    scores go together as those of the table do, and are averaged in the same way.
    """
    null, own, inflation = [], [], []
    for grid in grids:
        rng = np.random.default_rng(seed)
        # Fewer pairs make scores of shuffled labels vary more, so the p-values err on the safe side.
        some = grid.found.thinned(MAX_SHUFFLED, seed)
        changes, noise = [], []
        for number in range(1, N_SHUFFLES + 1):
            table = some.relabelled(rng.permutation(grid.found.rows.labels))
            changes.append(_share_changed(table, grid.weight))
            noise.append(fit_noisy_or(table, grid.weight, grid.leak).score)
            if progress is not None:
                progress(number, N_SHUFFLES)
        mean_changes, own_changes = float(np.mean(changes)), _share_changed(grid.found, grid.weight)
        null.append(np.concatenate(noise) / max(mean_changes, 1e-12))
        own.append(grid.fit.score / max(own_changes, 1e-12))
        inflation.append(max(1.0, mean_changes / max(own_changes, 1e-12)))
    noise_scores, score = np.mean(null, axis=0), mean_score([grid.fit for grid in grids])
    wider = float(np.mean(inflation)) * (OF_MEANS if len(grids) > 1 else 1.0)
    p_value = gamma_tail(np.mean(own, axis=0), noise_scores[~np.isnan(noise_scores)], wider)
    with np.errstate(invalid="ignore"):
        return np.where(score <= ACTIVE, 1.0, np.maximum(p_value, _least_p_value(grids[0].found.rows.labels)))


def _least_p_value(labels: Codes) -> float:
    """One in as many ways as there are to deal the labels: no shuffle can show less."""
    sizes = np.bincount(labels)
    n_ways = math.lgamma(len(labels) + 1) - sum(math.lgamma(size + 1) for size in sizes.tolist())
    return max(math.exp(-n_ways), sys.float_info.min)


def gamma_tail(scores: Floats, null: Floats, inflation: float) -> Floats:
    """Probability that noise gives at least each score, from scores that noise gave; NaN stays NaN.

    The share of the latter above 0, times the tail of a gamma distribution with their mean and, ``inflation`` times,
    their variance.
    """
    from scipy.special import gammaincc

    positive = null[null > ACTIVE]
    share = (len(positive) + 1) / (len(null) + 1)
    if len(positive) < 2 or positive.var() == 0:
        return np.where(np.isnan(scores), np.nan, share)
    mean, variance = float(positive.mean()), float(positive.var(ddof=1)) * inflation
    tail = share * gammaincc(mean**2 / variance, np.maximum(scores, 0.0) * mean / variance)
    return np.minimum(np.asarray(tail, np.float64), 1.0)


def _share_changed(found: Neighbours, weight: Floats) -> float:
    """Share of the pairs that changed, as the fit weighs them."""
    scale = weight[found.distance] / np.maximum(found.keep_probability[found.distance], 1e-300)
    total = float(scale @ found.balanced_pairs)
    return float(scale @ found.balanced_changed) / total if total else 0.0
