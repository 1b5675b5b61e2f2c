"""The test in any direction, exactly: enumeration of all deals of the labels, if they are few.

A context with given numbers of rows by value and by label can have a few different tables, each with a known
probability. What each adds to the statistic of ``deals``, minus the observed value, is summed over contexts.
"""

import math
from collections.abc import Iterator
from dataclasses import dataclass
from functools import lru_cache
from itertools import islice

import numpy as np

from analogical._types import Bools, Floats
from analogical.count.contexts import Contexts, Stack
from analogical.estimate.deals import DealMoments, is_informative, largest_parts
from analogical.estimate.laws import PValue

__all__ = ["FewDeals", "p_values_any_direction"]

MAX_DEALS = 500
"""Largest number of tables of all contexts together: some hundredths of a second. With more, the tail of ``deals`` is
used, or the test is left out. It depends on the rows by value and by label only. It also limits the depth of the
recursion: a context has at least as many tables as values, or labels."""
EQUAL_STATISTICS = 1e-9
"""Statistics closer than this, relative to their range, are equal up to rounding."""

Table = tuple[tuple[int, ...], ...]
"""Rows by value and label."""


@dataclass(frozen=True)
class FewDeals:
    """All deals of the labels of the informative contexts."""

    more: Floats
    """Statistic of each deal minus the observed one."""
    chances: Floats
    """Probability of each deal."""

    @classmethod
    def of(cls, contexts: Contexts, informative: Bools) -> "FewDeals | None":
        """The deals of the contexts marked in ``informative``; None if there are too many."""
        more, chances = np.zeros(1), np.ones(1)
        ends = np.append(contexts.starts, len(contexts.sizes))
        for c in np.flatnonzero(informative).tolist():
            cells = slice(ends[c], ends[c + 1])
            values, rows = np.unique(contexts.values[cells], return_inverse=True)
            labels, columns = np.unique(contexts.labels[cells], return_inverse=True)
            if max(len(values), len(labels)) > MAX_DEALS:
                return None
            table = np.zeros((len(values), len(labels)), np.int64)
            table[rows, columns] = contexts.sizes[cells]
            law = _law(tuple(map(tuple, table.tolist())), MAX_DEALS)
            for _ in range(int(contexts.times[c])):
                if law is None or len(more) * len(law.more) > MAX_DEALS:
                    return None
                more = (more[:, None] + law.more).ravel()
                chances = (chances[:, None] * law.chances).ravel()
        return cls(more, chances)

    @classmethod
    def of_stack(cls, stack: Stack) -> "list[FewDeals | None]":
        """For each of several features; None if there are too many deals."""
        contexts, informative = stack.contexts, is_informative(stack.contexts)
        log_deals = stack.sums(np.where(informative, contexts.times * np.log(_fewest_deals(contexts)), 0.0))
        may_be_few = log_deals <= math.log(MAX_DEALS) + EQUAL_STATISTICS
        deals: list[FewDeals | None] = [None] * stack.n_features
        if may_be_few.any():
            parts = stack.split()
            for k in np.flatnonzero(may_be_few).tolist():
                deals[k] = cls.of(parts[k], informative[stack.bounds[k] : stack.bounds[k + 1]])
        return deals

    def p_value(self) -> PValue:
        """Probability of a statistic of at least the observed one; NaN if no context is informative."""
        limit = EQUAL_STATISTICS * float(np.ptp(self.more))
        if not limit:
            return PValue(math.nan)
        p, smallest = (float(self.chances[self.more >= least - limit].sum()) for least in (0.0, self.more.max()))
        return PValue(min(p, 1.0), min(smallest, 1.0))


def p_values_any_direction(stack: Stack) -> list[PValue]:
    """The test in any direction of each feature: exact if deals are few, otherwise by its tail; NaN if not made."""
    moments = DealMoments.of_stack(stack)
    return [
        PValue(of_many.p_value()) if few is None else few.p_value()
        for few, of_many in zip(FewDeals.of_stack(stack), moments, strict=True)
    ]


def _fewest_deals(contexts: Contexts) -> Floats:
    """A lower limit of the number of tables of each context.

    1 + the smallest margin, if its most frequent value and label are compared with all others. And if k rows have
    another label than the most frequent one: the choices of k values (or half of the values, if k is more) with one
    such row each. Likewise with values and labels exchanged.
    """
    from scipy.special import binom

    rows, largest = contexts.n_rows, largest_parts(contexts)
    value, label = (np.minimum(most, rows - most) for most in largest)
    n_values, n_labels = (
        np.bincount(parts.owner, minlength=len(contexts)) for parts in (contexts.value_parts, contexts.label_parts)
    )
    by_value = binom(n_values, np.minimum(label, n_values // 2))
    by_label = binom(n_labels, np.minimum(value, n_labels // 2))
    return np.asarray(np.maximum(1 + np.minimum(value, label), np.maximum(by_value, by_label)))


@lru_cache(maxsize=4096)
def _law(table: Table, most: int) -> FewDeals | None:
    """The deals of one context; None if there are more than ``most``. Cached, because features share many tables.

    In integers up to the division: the differences can be very small relative to the statistics.
    """
    by_value, by_label = [sum(row) for row in table], tuple(map(sum, zip(*table, strict=True)))
    observed = [sum(x * x for x in row) for row in table]
    total = math.lgamma(sum(by_value) + 1) - sum(math.lgamma(n + 1) for n in by_label)
    more, chances = [], []
    for rows, log_ways in islice(_tables(by_value, by_label), most + 1):
        dealt = [sum(x * x for x in row) for row in rows]
        more.append(sum((x - y) / (2 * n) for x, y, n in zip(dealt, observed, by_value, strict=True)))
        chances.append(log_ways - total)
    weights = np.exp(np.array(chances))
    return FewDeals(np.array(more), weights / weights.sum()) if len(more) <= most else None


def _tables(by_value: list[int], by_label: tuple[int, ...]) -> Iterator[tuple[list[tuple[int, ...]], float]]:
    """All tables with these margins, with the logarithm of the number of deals that give each.

    Every choice of the first rows can be completed, so the search never has to go back.
    """
    if len(by_value) == 1:
        yield [by_label], math.lgamma(by_value[0] + 1) - sum(math.lgamma(x + 1) for x in by_label)
        return
    n = by_value[0]
    for row in _rows(n, by_label):
        log_ways = math.lgamma(n + 1) - sum(math.lgamma(x + 1) for x in row)
        remaining = tuple(a - b for a, b in zip(by_label, row, strict=True))
        for rest, more in _tables(by_value[1:], remaining):
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
