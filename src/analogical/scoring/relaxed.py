"""How sure the relaxed score is: an interval from the pairs it was fitted on, and a p-value against shuffled labels.

The fit maximises a weighted likelihood of pairs in lambda = -log(1 - t). Pairs that share a row are dependent, so the
variance is the sandwich H^-1 M H^-1, with H the curvature and M the variance of the gradient added up row by row: with
u_r the sum of the gradients g of the pairs of row r, M = sum over rows of u_r u_r' less sum over pairs of g g', which
the rows count twice (the dyadic correction of Aronow et al. 2015).
"""

import math
from dataclasses import dataclass

import numpy as np

from analogical._types import CodedRows, Codes, Floats, Positions
from analogical.counting.groups import number_groups
from analogical.counting.neighbours import CHUNK, Neighbours
from analogical.scoring.attribution import RARE, Attribution, fit_noisy_or

__all__ = ["ACTIVE", "RelaxedFit", "gamma_tail", "sandwich_interval", "shuffled_p_values"]

N_SHUFFLES = 5
"""Times that labels are shuffled; the scores of all features together show what noise alone gives."""
MAX_SHUFFLED = 100_000
"""Pairs that shuffled labels are fitted on."""
MAX_FEATURES = 500
"""Beyond so many features there is no interval: it inverts a matrix of features times features."""
ACTIVE = 1e-3
"""Flip probabilities below this lie at the edge, where the curvature says nothing."""


@dataclass(frozen=True)
class RelaxedFit:
    """What a relaxed score was fitted on."""

    found: Neighbours
    fit: Attribution
    weight: Floats
    """What a pair at each distance weighs."""
    leak: bool
    """Whether pairs may change without any feature's doing."""

    def interval(self, quantile: float) -> tuple[Floats, Floats, Floats]:
        """Standard error and interval of every score."""
        return sandwich_interval(self.found, self.fit, self.weight, quantile)

    def p_values(self, seed: int | None) -> Floats:
        """P-values against shuffled labels."""
        return shuffled_p_values(self.found, self.fit, self.weight, self.leak, seed)


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
    gradients, curvature = _derivatives(found, weight, rates, active)
    variance = np.linalg.pinv(curvature, hermitian=True) @ gradients @ np.linalg.pinv(curvature, hermitian=True)
    of_rates = np.sqrt(np.maximum(np.diag(variance), 0.0))
    shrink = fit.coverage / (fit.coverage + RARE)
    for place, i in enumerate(active.tolist()):
        if i < n:
            half = quantile * of_rates[place]
            std_error[i] = of_rates[place] * math.exp(-rates[i]) * shrink[i]
            low[i], high[i] = (-math.expm1(-max(rates[i] + sign * half, 0.0)) * shrink[i] for sign in (-1, 1))
    return std_error, low, high


def _derivatives(found: Neighbours, weight: Floats, rates: Floats, active: Positions) -> tuple[Floats, Floats]:
    """The variance of the gradient and the curvature of the log-likelihood, for the active features (and the leak)."""
    together = found.pair_weights()[1]
    probability = found.keep_probability[found.distance]
    scale = (weight[found.distance] / np.maximum(probability, 1e-300))[found.set_of_pair] * together
    scale /= scale.mean()
    changed = found.rows.labels[found.left] != found.rows.labels[found.right]
    k = len(active)
    of_rows = np.zeros((found.n_rows_used, k))
    of_pairs, curvature = np.zeros((k, k)), np.zeros((k, k))
    for start in range(0, len(scale), CHUNK):
        chunk = slice(start, start + CHUNK)
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
        of_pairs += gradient.T @ gradient
        curvature += (member * (scale[chunk] * changed[chunk] * stay / flip**2)[:, None]).T @ member
    crossed = of_rows.T @ of_rows
    middle = crossed - of_pairs
    return (middle if (np.diag(middle) > 0).all() else crossed / 2), curvature


def shuffled_p_values(found: Neighbours, fit: Attribution, weight: Floats, leak: bool, seed: int | None) -> Floats:
    """Probability of a score at least this large with shuffled labels; NaN for features without pairs.

    Shuffled labels give scores that noise alone would give. With them far more pairs change than in a table whose near
    rows mostly agree, so scores are compared as shares of the changes there are. The share above 0 and a gamma
    distribution with their mean and variance, over all features and shuffles, give the tail; where the table has
    fewer changes than the shuffled ones, they vary more, and the variance is taken as much larger.
    """
    rng = np.random.default_rng(seed)
    # Fewer pairs make scores of shuffled labels vary more, so the p-values err on the safe side.
    some = found.thinned(MAX_SHUFFLED, seed)
    units, unit_of_row = _units(found.rows)
    shuffled = [some.relabelled(rng.permutation(units)[unit_of_row]) for _ in range(N_SHUFFLES)]
    changes = float(np.mean([_share_changed(table, weight) for table in shuffled]))
    own_changes = _share_changed(found, weight)
    null = np.concatenate([fit_noisy_or(table, weight, leak).score for table in shuffled]) / max(changes, 1e-12)
    inflation = max(1.0, changes / max(own_changes, 1e-12))
    p_value = gamma_tail(fit.score / max(own_changes, 1e-12), null[~np.isnan(null)], inflation)
    with np.errstate(invalid="ignore"):
        return np.where(fit.score <= ACTIVE, 1.0, p_value)


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


def _units(rows: CodedRows) -> tuple[Codes, Positions]:
    """Labels of the distinct (row, label), in an order that no row order changes, and which of them each row is.

    They are shuffled as units: repeated rows, like rows with a weight, then do not look like independent evidence.
    """
    groups = number_groups(rows.codes, rows.n_values, range(rows.n_features), rows.labels)
    _, first, unit_of_row = np.unique(groups, return_index=True, return_inverse=True)
    return rows.labels[first], unit_of_row


def _share_changed(found: Neighbours, weight: Floats) -> float:
    """Share of the pairs that changed, as the fit weighs them."""
    scale = weight[found.distance] / np.maximum(found.keep_probability[found.distance], 1e-300)
    total = float(scale @ found.balanced_pairs)
    return float(scale @ found.balanced_changed) / total if total else 0.0
