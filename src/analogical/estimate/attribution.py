"""The noisy-or fit: one score per feature from pairs of rows that differ on several features.

The model: each feature i on which two rows differ flips the label independently with probability t_i, so a pair with
disagreement set D has changed with probability 1 - prod over i in D of (1 - t_i). If every D holds one feature, the
maximum-likelihood t is the paper's index.

In the rates lambda_i = -log(1 - t_i) a pair stays unchanged with probability exp(-sum over i in D of lambda_i), and the
log-likelihood is concave. At its maximum most rates are 0 on wide tables. So Newton's method runs on a working set of
features, and the gradient of all others then shows which ones must join it: one pass over the sets per round, and an
exact maximum at the end.

scipy.optimize's L-BFGS-B takes nine times as long with 1,000 features (500 rows), leaves errors of 5e-8 in the scores,
and stops far from the maximum if its first step takes all features of a changed set to 0.
"""

from dataclasses import dataclass
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from analogical._types import Bools, Floats, Positions
from analogical.count.threads import one_blas_thread
from analogical.estimate.sampling import Neighbours

__all__ = ["Attribution", "noisy_or"]

RIDGE = 1e-7
"""Half of this times the sum of squared rates is subtracted from the mean log-likelihood of a pair. It decides what the
pairs leave open: features on which the same pairs differ get equal scores, and a feature that always changes the label
has a finite rate (t = 1 - 1e-6)."""
TOLERANCE = 1e-14
"""Newton's method stops when the mean log-likelihood of a pair can rise by no more than this: rounding."""
MAX_STEPS = 1000
"""Limit on Newton's steps; each one raises the likelihood, and some tens are usual."""
HALVINGS = 40
"""Limit on the halvings of a Newton step: what is left to gain is then below rounding."""
HIGHEST = 50.0
"""Limit on the rates during the search; at the maximum the ridge keeps all rates below 17."""
FEW = 64
"""Features that are fitted together from the start: time."""
ENTRIES_AT_ONCE = 2**18
"""Entries of the matrix of sets and features that are processed together: they stay in cache."""
EDGE = 1e-9
"""Scores of features with rate 0 are below this, in the order in which the features would join the fit."""
NEGLIGIBLE_WEIGHT = 1e-15
"""Changed sets with a smaller share of the weight are left out of the fit: rounding."""
RARE = 0.01
"""A feature on which only this share of the pairs differ keeps half its score: few rows hold a rare value."""


class Attribution(NamedTuple):
    """The fit; all scores are NaN without any pair."""

    score: Floats
    """Flip probability of each feature."""
    coverage: Floats
    """Share of the weight of the pairs that differ on the feature."""

    @property
    def shrunk(self) -> Floats:
        """The scores, shrunk for features on which hardly any pair differs."""
        return self.score * self.coverage / (self.coverage + RARE)


def noisy_or(neighbours: Neighbours, *, leak: bool = False) -> Attribution:
    """Maximum-likelihood flip probability of each feature.

    With ``leak`` a pair can also change without any of the features, P(changed | D) = 1 - (1 - t_0) prod (1 - t_i), so
    that label noise is not attributed to the features.
    """
    if not len(neighbours.member):
        nothing = np.zeros(neighbours.member.shape[1])
        return Attribution(np.full_like(nothing, np.nan), nothing)
    total = float(neighbours.pairs.sum()) or 1.0
    pairs, changed = neighbours.pairs / total, neighbours.changed / total
    one_of, kind = _distinct_columns(neighbours.member)
    member = np.ascontiguousarray(neighbours.member[:, one_of])
    coverage, changed_with = _sum_per_feature(member, pairs), _sum_per_feature(member, changed)
    is_changed = changed > NEGLIGIBLE_WEIGHT
    if not is_changed.any():
        return Attribution(np.where(coverage > 0, 0.0, np.nan)[kind], coverage[kind])
    n_alike, pairs_with, member = np.bincount(kind).astype(np.float64), coverage, member[is_changed]
    if leak:  # t_0 is the t of a feature on which all pairs differ
        member = np.hstack([member, np.ones((len(member), 1), np.uint8)])
        pairs_with, changed_with = np.append(coverage, 1.0), np.append(changed_with, changed.sum())
        n_alike = np.append(n_alike, 1.0)
    likelihood = _Likelihood(member, changed[is_changed], np.maximum(pairs_with - changed_with, 0.0), RIDGE / n_alike)
    start = -np.log1p(-min(float(changed.sum()), 0.99)) / (pairs_with @ n_alike)  # all features share the changed pairs
    with one_blas_thread():
        rates, gradient = _maximise(likelihood, start * n_alike)
    # The gradient orders features whose rate is 0: the nearer to 0 it is relative to the pairs of the feature, the
    # nearer the feature was to a positive rate. Rounded, so that equal features stay equal.
    slack = np.divide(gradient, pairs_with, out=np.zeros_like(pairs_with), where=pairs_with > 0)
    at_edge = EDGE * np.round(np.clip(1 + slack, 0, 1), 6)
    t = np.where(pairs_with > 0, np.maximum(-np.expm1(-rates / n_alike), at_edge), np.nan)
    return Attribution(t[kind], coverage[kind])


def _distinct_columns(member: NDArray[np.uint8]) -> tuple[Positions, Positions]:
    """The first of each group of features on which the same pairs differ, and the group of each feature."""
    packed = np.ascontiguousarray(np.packbits(member, axis=0).T)
    _, first, kind = np.unique(packed.view(np.dtype((np.void, packed.shape[1])))[:, 0], True, True)
    order = np.argsort(first)
    return first[order], np.argsort(order)[kind]


def _chunks(member: NDArray[np.uint8]) -> list[slice]:
    """Slices of the sets that are processed together."""
    step = max(1, ENTRIES_AT_ONCE // max(1, member.shape[1]))
    return [slice(begin, begin + step) for begin in range(0, len(member), step)]


def _sum_per_feature(member: NDArray[np.uint8], values: Floats) -> Floats:
    """Sum over the sets that hold each feature."""
    sums = np.zeros(member.shape[1])
    for chunk in _chunks(member):
        sums += values[chunk] @ member[chunk].astype(np.float64)
    return sums


@dataclass(frozen=True)
class _Likelihood:
    """Pairs by disagreement set, with masses that add up to 1 over all pairs.

    Features on which the same pairs differ are one column, whose rate is the sum of their equal rates.
    """

    member: NDArray[np.uint8]
    """Shape (changed sets, features), 0 or 1: the sets in which some pair has changed."""
    changed: Floats
    """Mass of the changed pairs of each of these sets."""
    unchanged_with: Floats
    """Mass of the unchanged pairs that differ on each feature."""
    ridge: Floats
    """``RIDGE`` divided by the number of features of each column."""

    def of_features(self, columns: Positions) -> "_Likelihood":
        """Restricted to some features."""
        if len(columns) == self.member.shape[1]:
            return self
        member = np.ascontiguousarray(self.member[:, columns])
        return _Likelihood(member, self.changed, self.unchanged_with[columns], self.ridge[columns])

    def value(self, rates: Floats) -> float:
        """The mean log-likelihood of a pair, less the ridge; minus infinity where some changed set has no rate."""
        total = -float(self.unchanged_with @ rates) - float(self.ridge @ rates**2) / 2
        for chunk in _chunks(self.member):
            exponent = self.member[chunk].astype(np.float64) @ rates
            if not (exponent > 0).all():
                return -np.inf
            total += float(self.changed[chunk] @ np.log(-np.expm1(-exponent)))
        return total

    def gradient(self, rates: Floats) -> Floats:
        """Its derivatives."""
        total = -self.unchanged_with - self.ridge * rates
        for chunk in _chunks(self.member):
            part = self.member[chunk].astype(np.float64)
            total += (self.changed[chunk] * _odds(part @ rates)) @ part
        return total

    def derivatives(self, rates: Floats) -> tuple[Floats, Floats]:
        """Its derivatives, and minus its second derivatives."""
        gradient = -self.unchanged_with - self.ridge * rates
        curvature = np.diag(self.ridge)
        for chunk in _chunks(self.member):
            part = self.member[chunk].astype(np.float64)
            odds = _odds(part @ rates)
            mass = self.changed[chunk] * odds
            gradient += mass @ part
            curvature += (part * (mass * (1 + odds))[:, None]).T @ part
        return gradient, curvature


def _odds(exponent: Floats) -> Floats:
    """Probability that a pair stays unchanged, divided by that of a change."""
    return np.asarray(1 / np.expm1(np.clip(exponent, 1e-12, 500.0)))  # limits: rounding and overflow


def _maximise(likelihood: _Likelihood, start: Floats) -> tuple[Floats, Floats]:
    """The rates at the maximum, and the gradient there: 0 where the rate is above 0, at most 0 elsewhere."""
    working = _first_features(likelihood, start)
    rates = np.where(working, start, 0.0)
    while True:
        columns = np.flatnonzero(working)
        rates[columns] = _newton(likelihood.of_features(columns), rates[columns])
        gradient = likelihood.gradient(rates)
        joins = ~working & (gradient > RIDGE / 100)
        if not joins.any():
            return rates, gradient
        working = (working & (rates > 0)) | _largest(np.where(joins, gradient, 0.0), max(FEW, len(columns) // 2))


def _first_features(likelihood: _Likelihood, start: Floats) -> Bools:
    """All features if they are few; otherwise those with the largest gradient, and one of every changed set."""
    if len(start) <= FEW:
        return np.ones(len(start), np.bool_)
    gradient, member = likelihood.gradient(start), likelihood.member
    working = _largest(gradient, FEW)
    without = np.flatnonzero(~member[:, working].any(axis=1))
    for chunk in _chunks(member[without]):
        working[np.where(member[without[chunk]], gradient, -np.inf).argmax(axis=1)] = True
    return working


def _largest(x: Floats, n_wanted: int) -> Bools:
    """Mask of the largest positive numbers, with all that equal the smallest of these."""
    n_wanted = min(n_wanted, len(x))
    bar = max(float(np.partition(x, len(x) - n_wanted)[len(x) - n_wanted]), np.finfo(float).tiny)
    return np.asarray(x >= bar)


def _newton(likelihood: _Likelihood, rates: Floats) -> Floats:
    """The rates at the maximum by projected Newton steps (Bertsekas 1982): rates that would fall below 0 stay at 0."""
    value = likelihood.value(rates)
    for _ in range(MAX_STEPS):
        gradient, curvature = likelihood.derivatives(rates)
        step = gradient / curvature.diagonal()
        moved = rates - np.maximum(rates + step, 0)
        bound = (rates <= min(1e-3, float(np.abs(moved).max()))) & (gradient < 0)
        free = np.flatnonzero(~bound)
        step[free] = _solve(curvature[np.ix_(free, free)], gradient[free])
        gain = float(gradient[free] @ step[free]) - float(gradient[bound] @ rates[bound])
        if gain <= TOLERANCE:
            return np.where(bound, 0.0, rates)
        for halving in range(HALVINGS):
            tried = np.clip(rates + step / 2**halving, 0, HIGHEST)
            better = likelihood.value(tried)
            if better > value:
                break
        else:
            return rates
        rates, value = tried, better
    return rates


def _solve(matrix: Floats, vector: Floats) -> Floats:
    """The solution of linear equations; by least squares if rounding has made the matrix singular."""
    try:
        return np.asarray(np.linalg.solve(matrix, vector))
    except np.linalg.LinAlgError:
        return np.asarray(np.linalg.lstsq(matrix, vector, rcond=None)[0])
