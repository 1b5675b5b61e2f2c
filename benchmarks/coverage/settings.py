"""Tables drawn from known populations; the first feature is studied, and a strength of 0 takes its effect away."""

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np

from analogical.paper import universe

Table = tuple[Any, Any]

__all__ = ["SETTINGS", "Setting"]


@dataclass(frozen=True)
class Setting:
    """A population with independent rows and two classes."""

    name: str
    n_rows: int
    n_values: tuple[int, ...]
    """Values of each feature; the first one is studied."""
    draw: Callable[[Any, int, float], Table]
    """Generator of random numbers, number of rows and strength of the first feature to rows and labels."""
    idle: tuple[int, ...] = ()
    """Features that do nothing, whatever the strength; with them the strength is never 0."""
    n_tables: int = 150


def _yes(rng: Any, chance: Any) -> Any:
    return (rng.random(len(chance)) < chance).astype(np.int64)


def _independent(rng: Any, n: int, *shares: Any) -> Any:
    """Columns drawn independently: each by the shares of its values, or by their number."""
    return np.column_stack(
        [rng.integers(0, s, size=n) if isinstance(s, int) else rng.choice(len(s), size=n, p=s) for s in shares]
    )


def _rare(share: float) -> Callable[[Any, int, float], Table]:
    def draw(rng: Any, n: int, strength: float) -> Table:
        X = _independent(rng, n, (1 - share, share), 4, 3)
        return X, _yes(rng, 0.2 + 0.1 * X[:, 1] + 0.3 * strength * X[:, 0])

    return draw


def _one_rare_value(share: float, usual: float, with_it: float) -> Callable[[Any, int, float], Table]:
    """One feature; its second value is rare and changes the chance of the label."""

    def draw(rng: Any, n: int, strength: float) -> Table:
        X = _independent(rng, n, (1 - share, share))
        return X, _yes(rng, usual + (with_it - usual) * strength * X[:, 0])

    return draw


def _rare_class(chance: float) -> Callable[[Any, int, float], Table]:
    """A class of this share; the second value has it three times as often."""

    def draw(rng: Any, n: int, strength: float) -> Table:
        X = _independent(rng, n, 2, 3, 3)
        return X, _yes(rng, chance * (1 + strength * (X[:, 0] - 0.5)))

    return draw


def _correlated(rng: Any, n: int, strength: float) -> Table:
    second = rng.choice(4, size=n, p=(0.6, 0.25, 0.1, 0.05))
    first = np.where(rng.random(n) < 0.7, np.minimum(second, 2), rng.choice(3, size=n, p=(0.7, 0.2, 0.1)))
    third = np.where(rng.random(n) < 0.8, first > 0, rng.random(n) < 0.3).astype(np.int64)
    return np.column_stack([first, second, third]), _yes(rng, 0.2 + 0.1 * second + 0.15 * strength * first)


def _one_context(rng: Any, n: int, strength: float) -> Table:
    X = _independent(rng, n, 2, 10)
    return X, _yes(rng, 0.3 + 0.03 * X[:, 1] + 0.4 * strength * (X[:, 0] * (X[:, 1] == 0)))


def _many_values(rng: Any, n: int, strength: float) -> Table:
    X = _independent(rng, n, 20, 3, 2)
    return X, _yes(rng, 0.25 + 0.1 * X[:, 1] + 0.015 * strength * X[:, 0])


def _unequal(rng: Any, n: int, strength: float) -> Table:
    """40 contexts, the largest 40 times the smallest, with different shares of the value and of the label."""
    sizes = 1 / np.arange(1, 41)
    context = rng.choice(40, size=n, p=sizes / sizes.sum())
    second = (rng.random(n) < 0.2 + 0.6 * (context % 7) / 6).astype(np.int64)
    return np.column_stack([second, context]), _yes(rng, 0.1 + 0.6 * (context % 5) / 4 + 0.2 * strength * second)


def _many_contexts(rng: Any, n: int, strength: float) -> Table:
    X = _independent(rng, n, 2, 300)
    return X, _yes(rng, 0.2 + 0.4 * (X[:, 1] % 10) / 9 + 0.2 * strength * X[:, 0])


ALL_ROWS = universe(6, 3).astype(np.int64)


def _no_repeats(rule: Callable[[Any], Any]) -> Callable[[Any, int, float], Table]:
    """Rows drawn without repetition, labelled by a rule on the first two features with 10 % noise."""

    def draw(rng: Any, n: int, _: float) -> Table:
        X = ALL_ROWS[rng.permutation(len(ALL_ROWS))[:n]]
        return X, rule(X).astype(np.int64) ^ _yes(rng, np.full(n, 0.1))

    return draw


def _exclusive_or(X: Any) -> Any:
    return (X[:, 0] != 0) ^ (X[:, 1] != 0)


def _equal(X: Any) -> Any:
    return X[:, 0] == X[:, 1]


def _small(rng: Any, n: int, strength: float) -> Table:
    X = _independent(rng, n, 2, 2, 2)
    return X, _yes(rng, 0.25 + 0.5 * strength * X[:, 0])


SETTINGS = (
    Setting("rare value, .2 %", 5000, (2, 4, 3), _rare(0.002)),
    Setting("rare value, .5 %", 5000, (2, 4, 3), _rare(0.005)),
    Setting("rare value, 2 %", 2000, (2, 4, 3), _rare(0.02)),
    Setting("skewed and correlated", 1500, (3, 4, 2), _correlated),
    Setting("class of 1 %", 4000, (2, 3, 3), _rare_class(0.01)),
    Setting("class of 5 %", 2000, (2, 3, 3), _rare_class(0.05)),
    Setting("effect in 1 of 10 contexts", 2000, (2, 10), _one_context),
    Setting("20 values", 2000, (20, 3, 2), _many_values),
    Setting("unequal strata", 1000, (2, 40), _unequal),
    Setting("20 points in 300 contexts", 600, (2, 300), _many_contexts),
    Setting("no repeated row, xor of 2 of 6", 400, (3,) * 6, _no_repeats(_exclusive_or), (2, 3, 4, 5)),
    Setting("no repeated row, 2 of 6 equal", 400, (3,) * 6, _no_repeats(_equal), (2, 3, 4, 5)),
    Setting("24 rows", 24, (2, 2, 2), _small),
    Setting("one feature, value of .1 %", 2000, (2,), _one_rare_value(0.001, 0.5, 0.9)),
    Setting("one feature, value of .2 %, class of 3 %", 2000, (2,), _one_rare_value(0.002, 0.03, 0.5)),
)
