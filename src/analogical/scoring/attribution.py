"""Counts by disagreement set to one score per feature: whom to credit when two rows differ on several features.

The model (noisy-or): each feature i on which two rows differ flips the label on its own with probability t_i, so a pair
with disagreement set D has changed with probability 1 - prod over i in D of (1 - t_i). In -log(1 - t_i) the
log-likelihood is concave, so there is one maximum and EM climbs to it. Where every D holds one feature, t is the
paper's index.
"""

import warnings
from collections.abc import Callable
from dataclasses import dataclass, replace
from typing import Any, Literal, TypeVar

import numpy as np
from numpy.typing import NDArray

from analogical._types import Floats, Ints
from analogical.counting.neighbours import CHUNK, Neighbours

__all__ = [
    "ATTRIBUTIONS",
    "Attribution",
    "AttributionMethod",
    "ConvergenceWarning",
    "count_per_feature",
    "fit_noisy_or",
    "noisy_or",
    "share",
]

AttributionMethod = Literal["noisy-or", "share"]

Numbers = TypeVar("Numbers", Ints, Floats)

TINY = 1e-200
ALMOST_ONE = 1 - 1e-12
LARGE = 5_000_000
"""Entries of the matrix of changed sets above which it is kept in single precision: scores good to about 1e-6."""
RARE = 0.01
"""A feature on which only this share of the pairs differ keeps half its score: few rows hold a rare value."""


class ConvergenceWarning(UserWarning):
    """The fit stopped before it reached its tolerance."""


@dataclass(frozen=True)
class Attribution:
    """One score per feature, NaN without any pair, and how the fit went."""

    score: Floats
    flips: Floats
    """How often each feature flips the label on its own, before rare features are believed less."""
    leak: float
    """How often labels differ without any feature's doing; 0 if that was not allowed for."""
    coverage: Floats
    """Share of the pairs, as weighted, that differ on the feature."""
    log_likelihood: tuple[float, ...]
    """At every step of the fit; it never falls."""
    converged: bool


def share(found: Neighbours) -> Attribution:
    """Changed pairs over pairs among those that differ on the feature, whatever else they differ on."""
    if found.is_sampled:  # pairs that stand for others count for them
        probability = found.keep_probability[found.distance]
        pairs: Floats = _sum_per_feature(found, found.n_pairs / probability)
        changed: Floats = _sum_per_feature(found, found.n_changed / probability)
        total = float((found.n_pairs / probability).sum())
    else:
        n_pairs, n_changed = count_per_feature(found)
        pairs, changed, total = n_pairs.astype(np.float64), n_changed.astype(np.float64), float(found.n_pairs.sum())
    score = np.full(found.n_features, np.nan)
    np.divide(changed, pairs, out=score, where=pairs > 0)
    return Attribution(score, score, 0.0, pairs / max(1.0, total), (), True)


def count_per_feature(found: Neighbours) -> tuple[Ints, Ints]:
    """Pairs and changed pairs that differ on each feature."""
    return _sum_per_feature(found, found.n_pairs), _sum_per_feature(found, found.n_changed)


def noisy_or(
    found: Neighbours,
    weight: Floats | None = None,
    *,
    balanced: bool = False,
    leak: bool = False,
    tolerance: float = 5e-3,
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
        Stop when a step moves no score by more than this share of the score from which all features start (the one at
        which they would together explain the share of changed pairs).
    max_steps : int
        Steps after which to give up, with a warning.

    Notes
    -----
    EM: t_i <- t_i * (sum over changed pairs with i of weight / P(changed | D)) / (sum over pairs with i of weight).
    Every third step extrapolates along the last two (SQUAREM, Varadhan and Roland 2008) and is taken back when the
    likelihood would fall. A step costs two products with the matrix of changed sets and features.
    """
    distance = found.distance
    if distance.max(initial=1) <= 1 and not balanced:
        return share(found)  # the maximum in closed form, whatever distance 1 weighs: the paper's index to the last bit
    pairs, changed = (found.balanced_pairs, found.balanced_changed) if balanced else (found.n_pairs, found.n_changed)
    probability = found.keep_probability
    scale = np.ones(len(probability)) if weight is None else weight.astype(np.float64)
    scale = np.divide(scale, probability, out=np.zeros_like(scale), where=probability > 0)[distance]
    if len(scale):
        scale = scale / (pairs * scale).mean()
    fit = _Likelihood.of(found, pairs * scale, changed * scale, leak).maximise(tolerance, max_steps)
    n = found.n_features
    return replace(
        fit,
        score=fit.score[:n],
        flips=fit.score[:n],
        leak=float(fit.score[n]) if leak else 0.0,
        coverage=fit.coverage[:n],
    )


def fit_noisy_or(found: Neighbours, weight: Floats, leak: bool) -> Attribution:
    """Near pairs weigh more, all classes the same; features on which hardly any pair differs are believed less."""
    fit = noisy_or(found, weight, balanced=True, leak=leak)
    return replace(fit, score=fit.score * fit.coverage / (fit.coverage + RARE))


def _fit_share(found: Neighbours, weight: Floats, leak: bool) -> Attribution:  # noqa: ARG001 - it weighs nothing
    return share(found)


ATTRIBUTIONS: dict[AttributionMethod, Callable[[Neighbours, Floats, bool], Attribution]] = {
    "noisy-or": fit_noisy_or,
    "share": _fit_share,
}
"""Ways to credit pairs that differ on several features to them: (pairs, weight by distance, leak) to scores."""


def _sum_per_feature(found: Neighbours, values: Numbers) -> Numbers:
    """Sum over the sets that hold each feature, in chunks and in the type of the values, so that int64 stays exact."""
    sums = np.zeros(found.n_features, values.dtype)
    for start in range(0, len(values), CHUNK):
        chunk = slice(start, start + CHUNK)
        sums += values[chunk] @ found.member[chunk].astype(values.dtype)
    return sums


@dataclass(frozen=True)
class _Likelihood:
    """What EM needs: the changed sets as a matrix with their masses, and the masses per feature."""

    member: NDArray[Any]
    """Shape (changed sets, features), 0 or 1."""
    changed: Floats
    """Mass of changed pairs per changed set."""
    unchanged_with: Floats
    """Mass of unchanged pairs that differ on each feature."""
    pairs_with: Floats
    """Mass of pairs that differ on each feature."""
    coverage: Floats
    share_changed: float

    @classmethod
    def of(cls, found: Neighbours, pairs: Floats, changed: Floats, leak: bool) -> "_Likelihood":
        """Collect it from counts, weighted or not."""
        pairs_with, changed_with = _sum_per_feature(found, pairs), _sum_per_feature(found, changed)
        is_changed = found.n_changed > 0
        total = max(float(pairs.sum()), TINY)
        is_large = np.count_nonzero(is_changed) * found.n_features >= LARGE
        member = found.member[is_changed].astype(np.float32 if is_large else np.float64)
        if leak:  # t_0 is the t of a feature on which all pairs differ
            member = np.hstack([member, np.ones((len(member), 1), member.dtype)])
            pairs_with, changed_with = np.append(pairs_with, pairs.sum()), np.append(changed_with, changed.sum())
        return cls(
            member=member,
            changed=changed[is_changed],
            unchanged_with=pairs_with - changed_with,
            pairs_with=pairs_with,
            coverage=pairs_with / total,
            share_changed=float(changed.sum()) / total,
        )

    def step(self, t: Floats) -> tuple[Floats, float]:
        """One step of EM, and the mean log-likelihood at the t it started from."""
        t = np.clip(t, TINY, ALMOST_ONE)
        log_stay = np.log1p(-t)
        p_changed = -np.expm1(self.member @ log_stay.astype(self.member.dtype)).astype(np.float64)
        np.maximum(p_changed, 1e-12, out=p_changed)
        log_likelihood = float(self.changed @ np.log(p_changed) + self.unchanged_with @ log_stay)
        blame = (self.changed / p_changed).astype(self.member.dtype) @ self.member
        return np.clip(t * blame / self.pairs_with, TINY, ALMOST_ONE), log_likelihood / len(self.changed)

    def maximise(self, tolerance: float, max_steps: int) -> Attribution:
        """The maximum, from a start at which all features share the changed pairs equally."""
        has_pairs = self.pairs_with > 0
        if not len(self.changed):
            flips = np.where(has_pairs, 0.0, np.nan)
            return Attribution(flips, flips, 0.0, self.coverage, (), True)
        likelihood = replace(self, pairs_with=np.maximum(self.pairs_with, TINY))
        start = -np.expm1(np.log1p(-min(self.share_changed, 0.99)) / self.coverage.sum())
        t, trace, converged = _squarem(likelihood, np.full(len(has_pairs), start), tolerance * start, max_steps)
        if not converged:
            warnings.warn(
                f"The noisy-or fit did not reach its tolerance {tolerance:g} within {max_steps} steps; the last ones"
                " still moved the scores a little.",
                ConvergenceWarning,
                stacklevel=2,
            )
        flips = np.where(has_pairs, t, np.nan)
        return Attribution(flips, flips, 0.0, self.coverage, tuple(trace), converged)


def _squarem(likelihood: _Likelihood, t: Floats, tolerance: float, max_steps: int) -> tuple[Floats, list[float], bool]:
    """EM with squared extrapolation, kept monotone; the trace holds the likelihood of each t gone through."""
    t1, value = likelihood.step(t)
    trace = [value]
    n_steps = 1
    while n_steps < max_steps:
        t2, value1 = likelihood.step(t1)
        trace.append(value1)
        n_steps += 1
        if np.abs(t2 - t1).max() < tolerance:
            return t2, trace, True
        r, v = t1 - t, t2 - 2 * t1 + t
        length = max(1.0, float(np.linalg.norm(r)) / max(float(np.linalg.norm(v)), TINY))
        jump = np.clip(t + 2 * length * r + length**2 * v, t2 / 10, ALMOST_ONE)  # a score may shrink, not cross 0
        after, value_jump = likelihood.step(jump)
        n_steps += 1
        if value_jump >= value1:
            t, t1 = jump, after
            trace.append(value_jump)
        else:
            t, t1 = t1, t2
    return t1, trace, False
