"""Counts by disagreement set to one score per feature: whom to credit when two rows differ on several features.

The model (noisy-or): each feature i on which two rows differ flips the label on its own with probability t_i, so a pair
with disagreement set D has changed with probability 1 - prod over i in D of (1 - t_i). ``maximising`` finds the t of
the largest likelihood. Where every D holds one feature, t is the paper's index.
"""

import warnings
from dataclasses import dataclass, replace

import numpy as np

from analogical._types import Floats
from analogical.count.neighbours import Neighbours
from analogical.count.threads import one_blas_thread
from analogical.estimate.maximising import ENTRIES, Likelihood, Maximum

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


def noisy_or(
    found: Neighbours,
    weight: Floats | None = None,
    *,
    balanced: bool = False,
    leak: bool = False,
    tolerance: float = 1e-14,
    max_steps: int = 1000,
) -> Attribution:
    """Maximum-likelihood flip probability of each feature.

    Parameters
    ----------
    found : Neighbours
        Counts by disagreement set.
    weight : float64 array of shape (features + 1,), optional
        What a pair at each distance weighs in the likelihood; 1 if not given.
    balanced : bool
        Let all classes weigh the same (see ``Neighbours.balanced_pairs``).
    leak : bool
        Let a pair also change without any feature's doing, P(changed | D) = 1 - (1 - t_0) prod (1 - t_i), so that label
        noise is not attributed to the features.
    tolerance : float
        Stop when the mean log-likelihood of a pair is within this of its maximum.
    max_steps : int
        Steps after which to give up, with a warning.
    """
    pairs, changed = (found.balanced_pairs, found.balanced_changed) if balanced else (found.n_pairs, found.n_changed)
    probability = found.keep_probability
    scale = np.ones(len(probability)) if weight is None else weight.astype(np.float64)
    scale = np.divide(scale, probability, out=np.zeros_like(scale), where=probability > 0)[found.distance]
    return _maximise(found, pairs * scale, changed * scale, leak, tolerance, max_steps)


def _maximise(
    found: Neighbours, pairs: Floats, changed: Floats, leak: bool, tolerance: float, max_steps: int
) -> Attribution:
    """The fit to these masses of pairs and changed pairs of each set."""
    n, total = found.n_features, float(pairs.sum())
    if total > 0:
        pairs, changed = pairs / total, changed / total
    pairs_with, changed_with = _sum_per_feature(found, pairs), _sum_per_feature(found, changed)
    is_changed = changed > NEGLIGIBLE
    if not is_changed.any():
        return Attribution(np.where(pairs_with > 0, 0.0, np.nan), 0.0, pairs_with, (), True)
    member = found.member[is_changed]
    if leak:  # t_0 is the t of a feature on which all pairs differ
        member = np.hstack([member, np.ones((len(member), 1), np.uint8)])
        pairs_with, changed_with = np.append(pairs_with, 1.0), np.append(changed_with, changed.sum())
    likelihood = Likelihood(member, changed[is_changed], np.maximum(pairs_with - changed_with, 0.0))
    start = -np.log1p(-min(float(changed.sum()), 0.99)) / pairs_with.sum()  # all features share the changed pairs
    with one_blas_thread():
        maximum = likelihood.maximise(np.full(len(pairs_with), start), tolerance, max_steps)
    if not maximum.converged:
        warnings.warn(
            f"The noisy-or fit did not reach its tolerance {tolerance:g} within {max_steps} steps; the last ones"
            " still moved the scores a little.",
            ConvergenceWarning,
            stacklevel=3,
        )
    t = _flips(maximum, pairs_with)
    return Attribution(t[:n], float(t[n]) if leak else 0.0, pairs_with[:n], maximum.values, maximum.converged)


def _flips(maximum: Maximum, pairs_with: Floats) -> Floats:
    """Flip probabilities from rates; NaN for features without pairs.

    The gradient orders features whose rate is 0: the nearer to 0 it is beside the pairs of the feature, the less was
    missing for a credit. Rounded, so that features that are alike stay so.
    """
    has_pairs = pairs_with > 0
    slack = np.divide(maximum.gradient, pairs_with, out=np.zeros_like(pairs_with), where=has_pairs)
    at_edge = EDGE * np.round(np.clip(1 + slack, 0, 1), 6)
    return np.where(has_pairs, np.maximum(-np.expm1(-maximum.rates), at_edge), np.nan)


def fit_noisy_or(found: Neighbours, weight: Floats, leak: bool) -> Attribution:
    """Near pairs weigh more, all classes the same; features on which hardly any pair differs are believed less."""
    fit = noisy_or(found, weight, balanced=True, leak=leak)
    return replace(fit, score=fit.score * fit.coverage / (fit.coverage + RARE))


def _sum_per_feature(found: Neighbours, values: Floats) -> Floats:
    """Sum over the sets that hold each feature, in chunks."""
    sums = np.zeros(found.n_features)
    step = max(1, ENTRIES // max(1, found.n_features))
    for start in range(0, len(values), step):
        chunk = slice(start, start + step)
        sums += values[chunk] @ found.member[chunk].astype(np.float64)
    return sums
