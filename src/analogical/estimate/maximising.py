"""The maximum of the likelihood of the noisy-or model.

In the rates lambda_i = -log(1 - t_i) a pair with disagreement set D stays unchanged with probability
exp(-sum over i in D of lambda_i), and the log-likelihood is concave. At its maximum many rates are 0, on wide tables
all but a few. So Newton's method runs on the few features that count so far, and the gradient of all others then
shows which ones must join them: one pass over the sets for each round, and an exact maximum at the end.

scipy.optimize's L-BFGS-B takes nine times as long with 1,000 features (500 rows) and leaves scores 5e-8 off; it stops
far from the maximum where its first step takes all features of a changed set to 0.
"""

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from analogical._types import Bools, Floats, Positions

__all__ = ["ENTRIES", "Likelihood", "Maximum"]

RIDGE = 1e-7
"""Half of this times the sum of squared rates is taken off the mean log-likelihood of a pair. It settles what the pairs
leave open: features on which the same pairs differ share alike, and a feature that always changes the label has a
finite rate (t = 1 - 1e-6)."""
FEW = 64
"""So many features are fitted together from the start."""
ENTRIES = 2**18
"""Entries of the matrix of sets and features that are looked at together: they stay in cache."""
HIGHEST = 50.0
"""No step leads to a higher rate; at the maximum the ridge keeps all rates below 17."""
HALVINGS = 40
"""A step of Newton's method is halved so often before it is given up."""


@dataclass(frozen=True)
class Maximum:
    """The rates at the maximum, and how they were found."""

    rates: Floats
    gradient: Floats
    """Of the mean log-likelihood of a pair: 0 where the rate is above 0, at most 0 elsewhere."""
    values: tuple[float, ...]
    """The mean log-likelihood of a pair, less the ridge, at every step."""
    converged: bool


@dataclass(frozen=True)
class Likelihood:
    """Pairs by disagreement set, with masses that add up to 1 over all pairs.

    Features on which the same pairs differ are one column; its rate is the sum of theirs, and they share it alike.
    """

    member: NDArray[np.uint8]
    """Shape (changed sets, features), 0 or 1: the sets in which some pair has changed."""
    changed: Floats
    """Mass of the changed pairs of each of these sets."""
    unchanged_with: Floats
    """Mass of the unchanged pairs that differ on each feature."""
    n_alike: Floats
    """Features that each column stands for."""

    @property
    def ridge(self) -> Floats:
        """What the sum of squares of equal parts of a rate, times ``RIDGE``, is beside the square of the rate."""
        return RIDGE / self.n_alike

    def maximise(self, start: Floats, tolerance: float, max_steps: int) -> Maximum:
        """The maximum, from rates above 0; the mean log-likelihood of a pair is then within ``tolerance`` of it."""
        working = self._first_features(start)
        rates = np.where(working, start, 0.0)
        values: list[float] = []
        while True:
            columns = np.flatnonzero(working)
            fit = _newton(self._select(columns), rates[columns], tolerance, max_steps - len(values))
            rates[columns] = fit.rates
            values += fit.values
            gradient = self._gradient(rates)
            joins = ~working & (gradient > RIDGE / 100)
            if not joins.any() or not fit.converged:
                return Maximum(rates, gradient, tuple(values), fit.converged)
            working = (working & (rates > 0)) | _largest(np.where(joins, gradient, 0.0), max(FEW, len(columns) // 2))

    def _first_features(self, start: Floats) -> Bools:
        """All features if they are few; else those that one step of EM credits most, and one of every changed set."""
        n_features = len(start)
        if n_features <= FEW:
            return np.ones(n_features, np.bool_)
        credit = self._gradient(start)
        working = _largest(credit, FEW)
        left = np.flatnonzero(~self.member[:, working].any(axis=1))
        for begin in range(0, len(left), step := max(1, ENTRIES // n_features)):
            part = self.member[left[begin : begin + step]]
            working[np.where(part, credit, -np.inf).argmax(axis=1)] = True
        return working

    def _select(self, columns: Positions) -> "Likelihood":
        if len(columns) == self.member.shape[1]:
            return self
        member = np.ascontiguousarray(self.member[:, columns])
        return Likelihood(member, self.changed, self.unchanged_with[columns], self.n_alike[columns])

    def _chunks(self) -> list[slice]:
        step = max(1, ENTRIES // max(1, self.member.shape[1]))
        return [slice(begin, begin + step) for begin in range(0, len(self.member), step)]

    def _gradient(self, rates: Floats) -> Floats:
        """Of the log-likelihood, in all features."""
        used = np.flatnonzero(rates)
        total = -self.unchanged_with - self.ridge * rates
        for chunk in self._chunks():
            part = self.member[chunk].astype(np.float64)
            odds = _odds(part[:, used] @ rates[used])
            total += (self.changed[chunk] * odds) @ part
        return total

    def value(self, rates: Floats) -> float:
        """The log-likelihood less the ridge; minus infinity where some changed set has no rate."""
        total = -float(self.unchanged_with @ rates) - float(self.ridge @ rates**2) / 2
        for chunk in self._chunks():
            exponent = self.member[chunk].astype(np.float64) @ rates
            if not (exponent > 0).all():
                return -np.inf
            total += float(self.changed[chunk] @ np.log(-np.expm1(-exponent)))
        return total

    def derivatives(self, rates: Floats) -> tuple[Floats, Floats]:
        """The gradient of the log-likelihood and minus its second derivatives."""
        gradient = -self.unchanged_with - self.ridge * rates
        curvature = np.diag(self.ridge)
        for chunk in self._chunks():
            part = self.member[chunk].astype(np.float64)
            odds = _odds(part @ rates)
            mass = self.changed[chunk] * odds
            gradient += mass @ part
            curvature += (part * (mass * (1 + odds))[:, None]).T @ part
        return gradient, curvature


def _newton(likelihood: Likelihood, rates: Floats, tolerance: float, max_steps: int) -> Maximum:
    """Projected Newton steps (Bertsekas 1982): rates that would fall below 0 stay there."""
    value = likelihood.value(rates)
    values = [value]
    while True:
        gradient, curvature = likelihood.derivatives(rates)
        diagonal = curvature.diagonal()
        moved = rates - np.maximum(rates + gradient / diagonal, 0)
        bound = (rates <= min(1e-3, float(np.abs(moved).max()))) & (gradient < 0)
        step = gradient / diagonal
        free = np.flatnonzero(~bound)
        step[free] = _solve(curvature[np.ix_(free, free)], gradient[free])
        gain = float(gradient[free] @ step[free]) - float(gradient[bound] @ rates[bound])
        if gain <= tolerance:
            return Maximum(np.where(bound, 0.0, rates), gradient, tuple(values), True)
        if len(values) >= max_steps:
            return Maximum(rates, gradient, tuple(values), False)
        for halving in range(HALVINGS):
            tried = np.clip(rates + step / 2**halving, 0, HIGHEST)
            better = likelihood.value(tried)
            if better > value:
                break
        else:
            return Maximum(rates, gradient, tuple(values), True)  # what is left to gain is below rounding
        rates, value = tried, better
        values.append(value)


def _solve(matrix: Floats, vector: Floats) -> Floats:
    """The solution of linear equations; the shortest of the best ones where rounding has left the matrix singular."""
    try:
        return np.asarray(np.linalg.solve(matrix, vector))
    except np.linalg.LinAlgError:
        return np.asarray(np.linalg.lstsq(matrix, vector, rcond=None)[0])


def _odds(exponent: Floats) -> Floats:
    """Probability that a pair stays unchanged over that of a change."""
    return np.asarray(1 / np.expm1(np.clip(exponent, 1e-12, 500.0)))  # beyond, it is 0 next to any other


def _largest(x: Floats, n_wanted: int) -> Bools:
    """Where the largest positive numbers stand, and all others equal to the last of them."""
    n_wanted = min(n_wanted, len(x))
    bar = max(float(np.partition(x, len(x) - n_wanted)[len(x) - n_wanted]), np.finfo(float).tiny)
    return np.asarray(x >= bar)
