"""Pairs by disagreement set to one score per feature: whom to credit when two rows differ on several features.

The model (noisy-or): each feature i on which two rows differ flips the label on its own with probability t_i, so a pair
with disagreement set D has changed with probability 1 - prod over i in D of (1 - t_i). ``maximising`` finds the t of
the largest likelihood. Where every D holds one feature, t is the paper's index.
"""

import warnings
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from analogical._types import Floats, Positions
from analogical.count.threads import one_blas_thread
from analogical.estimate.maximising import ENTRIES, Likelihood, Maximum
from analogical.estimate.sampling import Neighbours

__all__ = ["Attribution", "ConvergenceWarning", "fit_noisy_or", "noisy_or"]

EDGE = 1e-9
"""Features that the fit credits with nothing have scores below this, in the order in which they would be credited."""
NEGLIGIBLE = 1e-15
"""Changed sets with so small a share of all pairs, as weighted, are not fitted."""
RARE = 0.01
"""A feature on which only this share of the pairs differ keeps half its score: few rows hold a rare value."""


class ConvergenceWarning(UserWarning):
    """The fit stopped before it reached its tolerance."""


@dataclass(frozen=True)
class Attribution:
    """One score per feature, NaN without any pair, and how the fit went."""

    score: Floats
    leak: float
    """How often labels differ without any feature's doing; 0 if that was not allowed for."""
    coverage: Floats
    """Share of the pairs, as weighted, that differ on the feature."""
    log_likelihood: tuple[float, ...]
    """Mean of a pair, at every step of the fit; it never falls."""
    converged: bool


def fit_noisy_or(neighbours: Neighbours, weight: Floats, leak: bool) -> Floats:
    """One score per feature; features on which hardly any pair differs are believed less."""
    fit = noisy_or(neighbours, weight, leak=leak)
    return fit.score * fit.coverage / (fit.coverage + RARE)


def noisy_or(
    neighbours: Neighbours,
    weight: Floats | None = None,
    *,
    leak: bool = False,
    tolerance: float = 1e-14,
    max_steps: int = 1000,
) -> Attribution:
    """Maximum-likelihood flip probability of each feature.

    Parameters
    ----------
    neighbours : Neighbours
        Pairs by disagreement set.
    weight : float64 array of shape (features + 1,), optional
        What a pair at each distance weighs in the likelihood; 1 if not given.
    leak : bool
        Let a pair also change without any feature's doing, P(changed | D) = 1 - (1 - t_0) prod (1 - t_i), so that label
        noise is not attributed to the features.
    tolerance : float
        Stop when the mean log-likelihood of a pair is within this of its maximum.
    max_steps : int
        Steps after which to give up, with a warning.
    """
    scale = 1.0 if weight is None else weight[neighbours.distance]
    pairs, changed = neighbours.pairs * scale, neighbours.changed * scale
    total = float(pairs.sum())
    if total > 0:
        pairs, changed = pairs / total, changed / total
    one_of, kind = _distinct_columns(neighbours.member)
    member = np.ascontiguousarray(neighbours.member[:, one_of])
    coverage, changed_with = _sum_per_feature(member, pairs), _sum_per_feature(member, changed)
    is_changed = changed > NEGLIGIBLE
    if not is_changed.any():
        return Attribution(np.where(coverage > 0, 0.0, np.nan)[kind], 0.0, coverage[kind], (), True)
    n_alike, pairs_with, member = np.bincount(kind).astype(np.float64), coverage, member[is_changed]
    if leak:  # t_0 is the t of a feature on which all pairs differ
        member = np.hstack([member, np.ones((len(member), 1), np.uint8)])
        pairs_with, changed_with = np.append(coverage, 1.0), np.append(changed_with, changed.sum())
        n_alike = np.append(n_alike, 1.0)
    likelihood = Likelihood(member, changed[is_changed], np.maximum(pairs_with - changed_with, 0.0), n_alike)
    start = -np.log1p(-min(float(changed.sum()), 0.99)) / (pairs_with @ n_alike)  # all features share the changed pairs
    with one_blas_thread():
        maximum = likelihood.maximise(start * n_alike, tolerance, max_steps)
    if not maximum.converged:
        warnings.warn(
            f"The noisy-or fit did not reach its tolerance {tolerance:g} within {max_steps} steps; the last ones"
            " still moved the scores a little.",
            ConvergenceWarning,
            stacklevel=3,
        )
    t = _flips(maximum, pairs_with, n_alike)
    return Attribution(t[kind], float(t[-1]) if leak else 0.0, coverage[kind], maximum.values, maximum.converged)


def _distinct_columns(member: NDArray[np.uint8]) -> tuple[Positions, Positions]:
    """One of every kind of feature on which the same pairs differ, in order, and the kind of each feature."""
    packed = np.ascontiguousarray(np.packbits(member, axis=0).T)
    _, first, kind = np.unique(packed.view(np.dtype((np.void, packed.shape[1])))[:, 0], True, True)
    order = np.argsort(first)
    return first[order], np.argsort(order)[kind]


def _flips(maximum: Maximum, pairs_with: Floats, n_alike: Floats) -> Floats:
    """Flip probabilities from rates, which features that are alike share; NaN for features without pairs.

    The gradient orders features whose rate is 0: the nearer to 0 it is beside the pairs of the feature, the less was
    missing for a credit. Rounded, so that features that are alike stay so.
    """
    has_pairs = pairs_with > 0
    slack = np.divide(maximum.gradient, pairs_with, out=np.zeros_like(pairs_with), where=has_pairs)
    at_edge = EDGE * np.round(np.clip(1 + slack, 0, 1), 6)
    return np.where(has_pairs, np.maximum(-np.expm1(-maximum.rates / n_alike), at_edge), np.nan)


def _sum_per_feature(member: NDArray[np.uint8], values: Floats) -> Floats:
    """Sum over the sets that hold each feature, in chunks."""
    sums = np.zeros(member.shape[1])
    step = max(1, ENTRIES // max(1, member.shape[1]))
    for start in range(0, len(values), step):
        chunk = slice(start, start + step)
        sums += values[chunk] @ member[chunk].astype(np.float64)
    return sums
