"""The functions g1..g8 of the paper, universes of rows, samples of them, and what their index is expected to be.

Features are x0, x1, ..., counted from 0 (the paper counts from 1). Values are 0, 1, .... With more than two values the
functions are those of the published experiments: g1, g5 and g6 distinguish zero and not zero; g2 and g3 are the
exclusive or of "not zero"; g4 and g7 sum the values; g8 reads the row as a binary number and is 1 if it is prime.

Exact expectations: with b values per feature and n features, a feature has L = b^(n-1) contexts of b rows each. A
uniform sample of m distinct rows has no pair for it with probability P0 = C(L, m) b^m / C(bL, m). If it has a pair,
the expected index is exactly the index p of the universe. The authors count a run without a pair as 2, so the
expectation of their averages is 2 P0 + p (1 - P0).
"""

import math
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from fractions import Fraction
from functools import lru_cache
from typing import Any

import numpy as np
from numpy.typing import NDArray

from analogical._types import Bools, Floats
from analogical.errors import InputError

Rows = NDArray[Any]

MAX_UNIVERSE = 2**26
"""Most rows of a universe that is enumerated, and the largest number that g8 tests: a byte each."""


@dataclass(frozen=True)
class Function:
    """A labelling function of the paper.

    Examples
    --------
    >>> import numpy as np
    >>> from analogical.paper import FUNCTIONS
    >>> FUNCTIONS["g2"](np.array([[0, 0, 1], [0, 1, 1], [1, 1, 0]]))
    array([0, 1, 0], dtype=uint8)
    """

    name: str
    formula: str
    min_features: int
    rule: Callable[[Sequence[Rows]], Bools]
    """From the columns of a table to a label for each row."""
    uses_all: bool = False
    """Whether every feature enters the formula; otherwise only the first ``min_features`` do."""

    def __call__(self, rows: Rows) -> NDArray[np.uint8]:
        """Label 0 or 1 of each row."""
        self.check_features(rows.shape[1])
        return self.rule(rows.T).astype(np.uint8)  # type: ignore[arg-type]

    def check_features(self, n_features: int) -> None:
        """Refuse too few features."""
        if n_features < self.min_features:
            raise InputError(f"{self.name} needs at least {self.min_features} features, got {n_features}.")

    def relevant(self, n_features: int) -> tuple[int, ...]:
        """Positions of the features that enter the formula, counted from 0: the first ones."""
        return tuple(range(n_features if self.uses_all else self.min_features))


def _sum(x: Iterable[Rows]) -> NDArray[np.int64]:
    return sum((column.astype(np.int64) for column in x), np.zeros((), np.int64))


def _g8(x: Sequence[Rows]) -> Bools:
    largest = max(int(column.max(initial=0)) for column in x) * (2 ** len(x) - 1)
    if largest > MAX_UNIVERSE:
        raise InputError(
            f"g8 tests numbers up to {MAX_UNIVERSE:,}, and rows of {len(x)} features reach {largest:,}; use fewer"
            " features."
        )
    return is_prime(_sum(column.astype(np.int64) << place for place, column in enumerate(x[::-1])))


def is_prime(numbers: NDArray[np.int64]) -> Bools:
    """Which of the numbers are prime, by the sieve of Eratosthenes."""
    largest = int(numbers.max(initial=0))
    sieve = np.ones(max(largest + 1, 2), dtype=np.bool_)
    sieve[:2] = False
    for factor in range(2, int(largest**0.5) + 1):
        if sieve[factor]:
            sieve[factor * factor :: factor] = False
    return sieve[numbers]


FUNCTIONS = {
    function.name: function
    for function in (
        Function("g1", "x0 != 0 and (x1 != 0 or x2 != 0)", 3, lambda x: (x[0] != 0) & ((x[1] != 0) | (x[2] != 0))),
        Function("g2", "xor(x0, x1)", 2, lambda x: (x[0] != 0) ^ (x[1] != 0)),
        Function("g3", "xor(xor(x0, x1), x2)", 3, lambda x: (x[0] != 0) ^ (x[1] != 0) ^ (x[2] != 0)),
        Function("g4", "x0 + ... + x(n-1) = 3", 1, lambda x: _sum(x) == 3, uses_all=True),
        Function(
            "g5",
            "(x0 != 0 or x1 != 0 or x2 != 0) and (x3 != 0 or x4 = 0 or x5 != 0)",
            6,
            lambda x: ((x[0] != 0) | (x[1] != 0) | (x[2] != 0)) & ((x[3] != 0) | (x[4] == 0) | (x[5] != 0)),
        ),
        Function("g6", "x0 != 0 and (x1 != 0 or x2 = 0)", 3, lambda x: (x[0] != 0) & ((x[1] != 0) | (x[2] == 0))),
        Function("g7", "x0 + x1 + x2 = 2", 3, lambda x: _sum(x[:3]) == 2),
        Function("g8", "2^(n-1) x0 + ... + 2 x(n-2) + x(n-1) is prime", 1, _g8, uses_all=True),
    )
}
"""The functions by name, ``"g1"`` to ``"g8"``."""


def _named(name: str) -> Function:
    """A function by name; an error lists the names."""
    if name not in FUNCTIONS:
        raise InputError(f"There is no function {name!r}; choose from {', '.join(FUNCTIONS)}.")
    return FUNCTIONS[name]


# ---------------------------------------------------------------- universes and samples


def universe(n_features: int, n_values: int) -> Rows:
    """All rows with n_values values per feature, in lexicographic order.

    Examples
    --------
    >>> universe(2, 2).tolist()
    [[0, 0], [0, 1], [1, 0], [1, 1]]
    """
    _check_shape(n_features, n_values)
    size = n_values**n_features
    if size > MAX_UNIVERSE:
        raise InputError(
            f"The universe of {n_features} features with {n_values} values has {size:,} rows;"
            f" only up to {MAX_UNIVERSE:,} are enumerated. Draw a sample of it instead."
        )
    return _rows_at(np.arange(size), n_features, n_values)


def sample_rows(n_features: int, n_values: int, n_rows: int, rng: np.random.Generator) -> Rows:
    """Distinct rows drawn uniformly from the universe, in random order.

    The universe is not enumerated: values are drawn, and repeated rows are drawn again. If the sample is a large part
    of the universe, positions are drawn without replacement.

    Examples
    --------
    >>> sample_rows(40, 3, 5, np.random.default_rng(0)).shape
    (5, 40)
    """
    _check_shape(n_features, n_values)
    size = n_values**n_features
    if not 1 <= n_rows <= size:
        raise InputError(
            f"rows must be a whole number from 1 to {size:,} (all rows of {n_features} features with"
            f" {n_values} values), got {n_rows:,}."
        )
    if size <= 8 * n_rows:
        return _rows_at(rng.permutation(size)[:n_rows], n_features, n_values)
    rows = np.empty((0, n_features), dtype=np.uint8)
    while len(rows) < n_rows:
        drawn = rng.integers(n_values, size=(n_rows - len(rows), n_features), dtype=np.uint8)
        rows = np.concatenate([rows, drawn])
        rows = rows[np.sort(np.unique(rows, axis=0, return_index=True)[1])]
    return rows


def sample(
    function: str, n_features: int, n_values: int = 2, n_rows: int | None = None, seed: int | None = None
) -> tuple[Rows, NDArray[np.uint8]]:
    """Rows and labels of one of the functions g1..g8: the whole universe, or a uniform sample without replacement.

    Examples
    --------
    >>> X, y = sample("g2", n_features=3)
    >>> y.tolist()
    [0, 0, 1, 1, 1, 1, 0, 0]
    """
    label, shape = _named(function), (n_features, n_values)
    rows = universe(*shape) if n_rows is None else sample_rows(*shape, n_rows, np.random.default_rng(seed))
    return rows, label(rows)


def _rows_at(positions: NDArray[np.int64], n_features: int, n_values: int) -> Rows:
    """Rows of the universe at these positions in lexicographic order."""
    rows = np.empty((len(positions), n_features), dtype=np.uint8)
    for i in reversed(range(n_features)):
        positions, rows[:, i] = np.divmod(positions, n_values)
    return rows


def _check_shape(n_features: int, n_values: int) -> None:
    if n_features < 1:
        raise InputError(f"features must be a whole number from 1, got {n_features}.")
    if not 2 <= n_values <= 256:
        raise InputError(f"values must be a whole number from 2 to 256, got {n_values}.")


# ---------------------------------------------------------------- exact expectations


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
    from scipy.special import gammaln

    types = _context_types(function, n_features, n_values)
    n_contexts = n_values ** (n_features - 1)
    total = n_values * n_contexts
    share = np.array([2 * k * (n_values - k) / (n_values * (n_values - 1)) for k in range(n_values + 1)])
    frequency = np.array(types, dtype=np.float64) / n_contexts
    index = np.array([float(p) for p in universe_index(function, n_features, n_values)])
    between = frequency @ share**2 - index**2  # variance of the share between contexts

    # Numbers of contexts with two and with three rows of the sample, up to a dozen standard deviations from the mean.
    tops = [n_contexts * math.comb(n_values, s) * (n_rows / total) ** s for s in (2, 3)]
    tops = [top + 12 * math.sqrt(top) + 12 for top in tops]
    twos, threes = np.meshgrid(
        np.arange(min(n_rows // 2, n_contexts, int(tops[0])) + 1, dtype=np.float64),
        np.arange((min(n_rows // 3, n_contexts, int(tops[1])) if n_values == 3 else 0) + 1, dtype=np.float64),
    )
    ones = n_rows - 2 * twos - 3 * threes
    empty = n_contexts - ones - twos - threes
    possible = (ones >= 0) & (empty >= 0) & (twos + threes > 0)
    empty, ones, twos, threes = empty[possible], ones[possible], twos[possible], threes[possible]
    # Each case has the probability L! / (d0! d1! d2! d3!) b^d1 C(b,2)^d2 / C(bL, m).
    log_ways = gammaln(n_contexts + 1) - sum(gammaln(d + 1) for d in (empty, ones, twos, threes))
    log_ways += ones * math.log(n_values) + twos * math.log(math.comb(n_values, 2))
    probability = np.exp(log_ways - (gammaln(total + 1) - gammaln(n_rows + 1) - gammaln(total - n_rows + 1)))
    with_pair = probability / max(float(probability.sum()), np.finfo(float).tiny)

    # Var(changed | twos, threes) / pairs^2, averaged: a pair alone in its context, three rows of one context,
    # and the covariance of different contexts, drawn without replacement.
    pairs = twos + 3 * threes
    alone = float(with_pair @ (twos / pairs**2))
    triple = float(with_pair @ (9 * threes / pairs**2))
    apart = float(with_pair @ (1 - (twos + 9 * threes) / pairs**2)) / max(n_contexts - 1, 1)
    variance = np.maximum(index * (1 - index) * alone + between * (triple - apart), 0.0)

    no_pair = no_pair_probability(n_features, n_values, n_rows)
    constant = 0.0  # probability of a single value, whose index is 0 and not 2: b C(L, m) / C(bL, m)
    if n_rows <= n_contexts:
        j = np.arange(n_rows, dtype=np.float64)
        constant = float(n_values * np.exp(np.log((n_contexts - j) / (total - j)).sum()))
    mean = 2 * (no_pair - constant) + index * (1 - no_pair)
    square = 4 * (no_pair - constant) + (index**2 + variance) * (1 - no_pair)
    return Expectation(index, mean, np.sqrt(np.maximum(square - mean**2, 0.0)), no_pair)


@lru_cache(maxsize=64)
def _context_types(function: str, n_features: int, n_values: int) -> tuple[tuple[int, ...], ...]:
    """Per feature, the number of contexts with 0, 1, ..., b of their b rows labelled 1."""
    label = _named(function)
    label.check_features(n_features)
    n_relevant = len(label.relevant(n_features))
    size = n_values**n_relevant
    if size > MAX_UNIVERSE:
        raise InputError(
            f"The exact index of {function} with {n_features} features of {n_values} values needs {size:,} rows; only"
            f" up to {MAX_UNIVERSE:,} are enumerated. Estimate it on a sample."
        )
    labels = label.rule(np.ogrid[(slice(n_values),) * n_relevant])  # one axis per feature
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
