"""Exact mean and standard deviation of the index over samples of a full universe.

With b values per feature and n features, a feature has L = b^(n-1) contexts of b rows each. A uniform sample of m
distinct rows has no pair for it with probability P0 = C(L, m) b^m / C(bL, m). If it has a pair, the expected index is
exactly the index p of the universe. The authors count a run without a pair as 2, so the expectation of their averages
is 2 P0 + p (1 - P0).
"""

import math
from dataclasses import dataclass
from fractions import Fraction
from functools import lru_cache
from typing import NamedTuple

import numpy as np

from analogical._types import Floats
from analogical.errors import InputError
from analogical.paper.functions import function_named
from analogical.paper.sampling import MAX_UNIVERSE, rows_at

__all__ = ["Expectation", "expectation", "no_pair_probability", "universe_index"]

BLOCK = 2**18
"""Rows of a universe that are labelled at once."""


@dataclass(frozen=True)
class Expectation:
    """Mean and standard deviation of one run, per feature, over all uniform samples of a size.

    Examples
    --------
    >>> expected = expectation("g1", 10, 2, 100)
    >>> expected.index[:2].tolist(), round(expected.no_pair, 3)
    ([0.75, 0.25], 0.005)
    """

    index: Floats
    """The index p of the universe: the mean over samples with a pair."""
    mean: Floats
    """Mean over all samples, with 2 for a sample without a pair: what the paper's averages estimate."""
    sd: Floats
    """Standard deviation over all samples, with 2 for a sample without a pair."""
    no_pair: float
    """Probability that a sample has no pair for a feature; the same for all features."""


def universe_index(function: str, n_features: int, n_values: int) -> tuple[Fraction, ...]:
    """Exact index of every feature on the whole universe.

    Only the features that enter the formula are enumerated.

    Examples
    --------
    >>> [str(p) for p in universe_index("g1", 10, 2)[:4]]
    ['3/4', '1/4', '1/4', '0']
    """
    n_contexts = n_values ** (n_features - 1)
    share = [Fraction(2 * k * (n_values - k), n_values * (n_values - 1)) for k in range(n_values + 1)]
    return tuple(
        sum((Fraction(count, n_contexts) * share[k] for k, count in enumerate(counts)), Fraction(0))
        for counts in _context_types(function, n_features, n_values)
    )


def no_pair_probability(n_features: int, n_values: int, n_rows: int) -> float:
    """Probability that a uniform sample of distinct rows has no pair for a feature.

    Examples
    --------
    >>> round(no_pair_probability(15, 3, 10_000), 6)
    0.000935
    """
    n_contexts = n_values ** (n_features - 1)
    if n_rows > n_contexts:
        return 0.0
    # Row j must be in a context without any of the j rows before it: (bL - bj) / (bL - j).
    j = np.arange(n_rows, dtype=np.float64)
    return float(np.exp(np.log1p(-(n_values - 1) * j / (float(n_values * n_contexts) - j)).sum()))


def expectation(function: str, n_features: int, n_values: int, n_rows: int) -> Expectation:
    """Mean and standard deviation of the index over all uniform samples of n_rows distinct rows.

    Exact, for two or three values per feature. Given the numbers of contexts with two and with three rows of the
    sample, these contexts are a random draw from all contexts. So the mean is p, and the variance is that of drawing
    without replacement.

    Examples
    --------
    >>> expected = expectation("g1", n_features=10, n_values=2, n_rows=100)
    >>> [round(float(x), 3) for x in (expected.index[0], expected.mean[0], expected.sd[0], expected.no_pair)]
    [0.75, 0.756, 0.235, 0.005]
    """
    if n_values not in (2, 3):
        raise InputError(f"The spread of a sample's index is known for 2 or 3 values per feature, got {n_values}.")
    types = _context_types(function, n_features, n_values)
    n_contexts = n_values ** (n_features - 1)
    share = np.array([2 * k * (n_values - k) / (n_values * (n_values - 1)) for k in range(n_values + 1)])
    frequency = np.array(types, dtype=np.float64) / n_contexts
    index = np.array([float(p) for p in universe_index(function, n_features, n_values)])
    between = frequency @ share**2 - index**2  # variance of the share between contexts
    twos, threes, probability = _occupancy(n_values, n_contexts, n_rows)
    pairs = twos + 3 * threes
    no_pair = no_pair_probability(n_features, n_values, n_rows)
    constant = _constant_probability(n_contexts, n_values, n_rows)
    with_pair = probability / max(float(probability.sum()), np.finfo(float).tiny)
    # Var(changed | twos, threes) / pairs^2, averaged: a pair alone in its context, three rows of one context,
    # and the covariance of different contexts, drawn without replacement.
    alone = float(with_pair @ (twos / pairs**2))
    triple = float(with_pair @ (9 * threes / pairs**2))
    apart = float(with_pair @ (1 - (twos + 9 * threes) / pairs**2)) / max(n_contexts - 1, 1)
    variance = np.maximum(index * (1 - index) * alone + between * (triple - apart), 0.0)
    mean = 2 * (no_pair - constant) + index * (1 - no_pair)
    square = 4 * (no_pair - constant) + (index**2 + variance) * (1 - no_pair)
    return Expectation(
        index=index,
        mean=mean,
        sd=np.sqrt(np.maximum(square - mean**2, 0.0)),
        no_pair=no_pair,
    )


@lru_cache(maxsize=64)
def _context_types(function: str, n_features: int, n_values: int) -> tuple[tuple[int, ...], ...]:
    """Per feature, the number of contexts with 0, 1, ..., b of their b rows labelled 1."""
    label = function_named(function)
    label.check_features(n_features)
    n_relevant = len(label.relevant(n_features))
    size = n_values**n_relevant
    if size > MAX_UNIVERSE:
        raise InputError(
            f"The exact index of {function} with {n_features} features of {n_values} values needs {size:,} rows; only"
            f" up to {MAX_UNIVERSE:,} are enumerated. Estimate it on a sample."
        )
    blocks = (np.arange(start, min(start + BLOCK, size)) for start in range(0, size, BLOCK))
    labels = np.concatenate([label(rows_at(block, n_relevant, n_values)) for block in blocks])
    labels = labels.reshape((n_values,) * n_relevant)  # one axis per feature
    others = n_values ** (n_features - n_relevant)
    types = [
        tuple(int(c) * others for c in np.bincount(labels.sum(axis=i, dtype=np.int64).ravel(), minlength=n_values + 1))
        for i in range(n_relevant)
    ]
    if n_relevant < n_features:  # the label never changes with the other features
        ones = int(labels.sum()) * others // n_values
        zeros = n_values ** (n_features - 1) - ones
        types += [(zeros, *(0,) * (n_values - 1), ones)] * (n_features - n_relevant)
    return tuple(types)


class Occupancy(NamedTuple):
    """The cases in which a sample has a pair for a feature."""

    twos: Floats
    """Number of contexts with two rows of the sample."""
    threes: Floats
    """Number of contexts with three rows."""
    probability: Floats
    """Probability of each case."""


def _occupancy(n_values: int, n_contexts: int, n_rows: int) -> Occupancy:
    """Numbers of contexts with two and with three rows of a sample, with the probability of each case.

    Probabilities are L! / (d0! d1! d2! d3!) b^d1 C(b,2)^d2 / C(bL, m); cases more than a dozen standard deviations from
    the mean are left out.
    """
    from scipy.special import gammaln

    density = n_rows / (n_values * n_contexts)
    tops = [n_contexts * math.comb(n_values, s) * density**s for s in (2, 3)]
    tops = [top + 12 * math.sqrt(top) + 12 for top in tops]
    d2, d3 = np.meshgrid(
        np.arange(min(n_rows // 2, n_contexts, int(tops[0])) + 1, dtype=np.float64),
        np.arange((min(n_rows // 3, n_contexts, int(tops[1])) if n_values == 3 else 0) + 1, dtype=np.float64),
    )
    d1 = n_rows - 2 * d2 - 3 * d3
    d0 = n_contexts - d1 - d2 - d3
    possible = (d1 >= 0) & (d0 >= 0) & (d2 + d3 > 0)
    d0, d1, d2, d3 = d0[possible], d1[possible], d2[possible], d3[possible]
    total = n_values * n_contexts
    log_ways = gammaln(n_contexts + 1) - sum(gammaln(d + 1) for d in (d0, d1, d2, d3))
    log_ways += d1 * math.log(n_values) + d2 * math.log(math.comb(n_values, 2))
    log_all = gammaln(total + 1) - gammaln(n_rows + 1) - gammaln(total - n_rows + 1)
    return Occupancy(d2, d3, np.exp(log_ways - log_all))


def _constant_probability(n_contexts: int, n_values: int, n_rows: int) -> float:
    """Probability that a feature has a single value in the sample: b C(L, m) / C(bL, m)."""
    if n_rows > n_contexts:
        return 0.0
    j = np.arange(n_rows, dtype=np.float64)
    return float(n_values * np.exp(np.log((n_contexts - j) / (n_values * n_contexts - j)).sum()))
