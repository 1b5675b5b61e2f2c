"""The eight functions g1..g8 of the paper, for any number of features and values.

Features are x0, x1, ..., counted from 0 (the paper counts from 1). Values are 0, 1, .... With more than two values the
functions are those of the published experiments: g1, g5 and g6 distinguish zero and not zero; g2 and g3 are the
exclusive or of "not zero"; g4 and g7 sum the values; g8 reads the row as a binary number and is 1 if it is prime.
"""

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from analogical._types import Bools
from analogical.errors import InputError

__all__ = ["FUNCTIONS", "Function", "function_named"]

Rows = NDArray[Any]

MAX_SIEVE = 2**26
"""Largest number that g8 tests: the sieve takes a byte per number."""


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
    rule: Callable[[Rows], Bools]
    """From the columns of a table to a label for each row."""
    uses_all: bool = False
    """Whether every feature enters the formula; otherwise only the first ``min_features`` do."""

    def __call__(self, rows: Rows) -> NDArray[np.uint8]:
        """Label 0 or 1 of each row."""
        self.check_features(rows.shape[1])
        return self.rule(rows.T).astype(np.uint8)

    def check_features(self, n_features: int) -> None:
        """Refuse too few features."""
        if n_features < self.min_features:
            raise InputError(f"{self.name} needs at least {self.min_features} features, got {n_features}.")

    def relevant(self, n_features: int) -> tuple[int, ...]:
        """Positions of the features that enter the formula, counted from 0."""
        return tuple(range(n_features if self.uses_all else self.min_features))


def _g8(x: Rows) -> Bools:
    n = len(x)
    largest = int(x.max(initial=0)) * (2**n - 1)
    if largest > MAX_SIEVE:
        raise InputError(
            f"g8 tests numbers up to {MAX_SIEVE:,}, and rows of {n} features reach {largest:,}; use fewer features."
        )
    return is_prime((1 << np.arange(n - 1, -1, -1, dtype=np.int64)) @ x.astype(np.int64))


def is_prime(numbers: NDArray[np.int64]) -> Bools:
    """Which of the numbers are prime, by the sieve of Eratosthenes.

    Examples
    --------
    >>> is_prime(np.array([0, 1, 2, 9, 97])).tolist()
    [False, False, True, False, True]
    """
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
        Function("g4", "x0 + ... + x(n-1) = 3", 1, lambda x: x.sum(axis=0, dtype=np.int64) == 3, uses_all=True),
        Function(
            "g5",
            "(x0 != 0 or x1 != 0 or x2 != 0) and (x3 != 0 or x4 = 0 or x5 != 0)",
            6,
            lambda x: ((x[0] != 0) | (x[1] != 0) | (x[2] != 0)) & ((x[3] != 0) | (x[4] == 0) | (x[5] != 0)),
        ),
        Function("g6", "x0 != 0 and (x1 != 0 or x2 = 0)", 3, lambda x: (x[0] != 0) & ((x[1] != 0) | (x[2] == 0))),
        Function("g7", "x0 + x1 + x2 = 2", 3, lambda x: x[:3].sum(axis=0, dtype=np.int64) == 2),
        Function("g8", "2^(n-1) x0 + ... + 2 x(n-2) + x(n-1) is prime", 1, _g8, uses_all=True),
    )
}
"""The functions by name, ``"g1"`` to ``"g8"``."""


def function_named(name: str) -> Function:
    """A function by name; an error lists the names."""
    if name not in FUNCTIONS:
        raise InputError(f"There is no function {name!r}; choose from {', '.join(FUNCTIONS)}.")
    return FUNCTIONS[name]
