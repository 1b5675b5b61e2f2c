"""Exact p-values where few rows tell: all ways to deal the labels of each context to its rows, added up.

A context with given numbers of rows by value and by label can only become one of a few tables, each with a known
probability. Sums over contexts are added up one context after the other, equal sums taken together, as long as there
are not too many different ones; beyond that the approximations of ``deals`` and ``directions`` hold.
"""

import math
from collections.abc import Iterator

import numpy as np

from analogical._types import Floats

__all__ = ["exact_p_values"]

MAX_TABLES = 500
"""Tables that one context may become."""
MAX_WORK = 10_000
"""Additions, over all contexts, before the exact p-values are given up."""
TIE = 1e-9
"""Statistics closer than this are equal but for rounding."""


def exact_p_values(
    tables: Floats, times: Floats, deviation: Floats, covariance: Floats, *, with_any: bool = True
) -> tuple[float, float] | None:
    """Exact p-values of the test in any direction and of that in a common one; None if there are too many deals.

    ``tables`` has shape (contexts, values, labels), with how often each occurs; ``deviation`` and ``covariance`` are
    those of the direction test. The first p-value is NaN without ``with_any``.
    """
    sums: dict[tuple[float, ...], float] = {(0.0,) * (1 + len(deviation)): 1.0}
    observed_any = 0.0
    work = 0
    for table, n_times in zip(tables, times.astype(np.int64).tolist(), strict=True):
        deals = _deals(table, with_any=with_any)
        if deals is None:
            return None
        observed_any += n_times * _agreement(table) * with_any
        for _ in range(n_times):
            added: dict[tuple[float, ...], float] = {}
            work += len(sums) * len(deals)
            if work > MAX_WORK:
                return None
            for key, probability in sums.items():
                for step, chance in deals:
                    total = (round(key[0] + step[0], 9), *(a + b for a, b in zip(key[1:], step[1:], strict=True)))
                    added[total] = added.get(total, 0.0) + probability * chance
            sums = added
    keys, chances = np.array(list(sums)), np.array(list(sums.values()))
    p_any = float(chances[keys[:, 0] >= observed_any - TIE * max(1.0, observed_any)].sum()) if with_any else math.nan
    moves = keys[:, 1:] - (chances @ keys[:, 1:])
    inverse = np.linalg.pinv(covariance, hermitian=True)
    statistics = np.einsum("ij,jk,ik->i", moves, inverse, moves)
    observed = float(deviation @ inverse @ deviation)
    p_direction = float(chances[statistics >= observed - TIE * max(1.0, observed)].sum())
    return min(p_any, 1.0) if with_any else p_any, min(p_direction, 1.0)


def _agreement(table: Floats) -> float:
    """The statistic of the test in any direction: pairs of rows of a value that agree, over the rows of the value."""
    sizes = table.sum(axis=1)
    return float((table * (table - 1)).sum(axis=1)[sizes > 0] @ (0.5 / sizes[sizes > 0]))


def _deals(table: Floats, *, with_any: bool) -> list[tuple[tuple[float, ...], float]] | None:
    """What a table adds to the sums under each deal, with its probability; None if there are too many."""
    by_value = [int(n) for n in table.sum(axis=1)]
    by_label = tuple(int(n) for n in table.sum(axis=0))
    total = math.lgamma(sum(by_value) + 1) - sum(math.lgamma(n + 1) for n in by_label)
    found: dict[tuple[float, ...], float] = {}
    for n_found, (rows, log_ways) in enumerate(_tables(by_value, by_label)):
        if n_found == MAX_TABLES:
            return None
        agreement = sum(x * (x - 1) / (2 * n) for n, row in zip(by_value, rows, strict=True) if n for x in row)
        key = (agreement if with_any else 0.0, *(float(x) for row in rows[:-1] for x in row[:-1]))
        found[key] = found.get(key, 0.0) + math.exp(log_ways - total)
    return list(found.items())


def _tables(by_value: list[int], by_label: tuple[int, ...]) -> Iterator[tuple[list[tuple[int, ...]], float]]:
    """All tables with these margins, with the logarithm of the number of deals that give each."""
    if len(by_value) == 1:
        yield [by_label], math.lgamma(by_value[0] + 1) - sum(math.lgamma(x + 1) for x in by_label)
        return
    n = by_value[0]
    for row in _rows(n, by_label):
        log_ways = math.lgamma(n + 1) - sum(math.lgamma(x + 1) for x in row)
        left = tuple(a - b for a, b in zip(by_label, row, strict=True))
        for rest, more in _tables(by_value[1:], left):
            yield [row, *rest], log_ways + more


def _rows(n: int, limits: tuple[int, ...]) -> Iterator[tuple[int, ...]]:
    """All ways to write n as a sum of numbers within limits."""
    if len(limits) == 1:
        if n <= limits[0]:
            yield (n,)
        return
    for first in range(max(0, n - sum(limits[1:])), min(n, limits[0]) + 1):
        for rest in _rows(n - first, limits[1:]):
            yield (first, *rest)
