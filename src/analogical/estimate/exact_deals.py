"""The test in any direction, exactly: all ways to deal the labels, if they are few.

A context with given numbers of rows by value and by label can become one of a few tables, each with a known
probability. What they add to the statistic of ``deals``, less what was observed, is added up over contexts.
"""

import math
from collections.abc import Iterator
from dataclasses import dataclass
from functools import lru_cache
from itertools import islice

import numpy as np

from analogical._types import Bools, Floats
from analogical.count.contexts import Contexts, Stack
from analogical.estimate.deals import DealMoments, can_tell, largest_parts
from analogical.estimate.laws import PValue

__all__ = ["FewDeals", "p_values_any_direction"]

MAX_DEALS = 500
"""Tables that all contexts together may become: some hundredths of a second. With more, the tail of ``deals`` holds, or
the test in any direction is left out. The number depends on rows by value and by label only; a context has no fewer
deals than values, or labels, each of which is one more call of a function within another."""
TIE = 1e-9
"""Statistics closer than this, relative to their range, are equal but for rounding."""

Table = tuple[tuple[int, ...], ...]
"""Rows by value and label."""


@dataclass(frozen=True)
class FewDeals:
    """All ways to deal the labels of the contexts that hold two values, two labels and repeats; not too many."""

    more: Floats
    """By how much the statistic of each deal is larger than the observed one."""
    chances: Floats

    @classmethod
    def of(cls, contexts: Contexts, tells: Bools) -> "FewDeals | None":
        """The deals of the contexts that tell; None if they are too many."""
        more, chances = np.zeros(1), np.ones(1)
        ends = np.append(contexts.starts, len(contexts.sizes))
        for c in np.flatnonzero(tells).tolist():
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
        """For each of several features its contexts that tell; None if they have too many deals."""
        contexts, tells = stack.contexts, can_tell(stack.contexts)
        log_deals = stack.sums(np.where(tells, contexts.times * np.log(_fewest_deals(contexts)), 0.0))
        may_be_few = log_deals <= math.log(MAX_DEALS) + TIE
        deals: list[FewDeals | None] = [None] * stack.n_features
        if may_be_few.any():
            parts = stack.split()
            for k in np.flatnonzero(may_be_few).tolist():
                deals[k] = cls.of(parts[k], tells[stack.bounds[k] : stack.bounds[k + 1]])
        return deals

    def p_value(self) -> PValue:
        """Share of all deals whose statistic is at least the observed one; NaN if no context tells."""
        limit = TIE * float(np.ptp(self.more))
        if not limit:
            return PValue(math.nan)
        p, smallest = (float(self.chances[self.more >= least - limit].sum()) for least in (0.0, self.more.max()))
        return PValue(min(p, 1.0), min(smallest, 1.0))


def p_values_any_direction(stack: Stack) -> list[PValue]:
    """The test in any direction of each feature: over all deals if they are few, else by its tail; NaN without."""
    moments = DealMoments.of_stack(stack)
    return [
        PValue(of_many.p_value()) if few is None else few.p_value()
        for few, of_many in zip(FewDeals.of_stack(stack), moments, strict=True)
    ]


def _fewest_deals(contexts: Contexts) -> Floats:
    """Tables that each context can become, at least.

    So many if its most frequent value and label stand against all others; and if k rows have another label than most,
    the choices of k values, or of half of the values if k is more, that have one such row each: ways to share rows
    among values are the more, the nearer to half of all rows these are. Likewise with values and labels exchanged.
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
    """The deals of one context; None if there are more than so many. Features meet the same tables again and again.

    In whole numbers up to the division: next to the pairs of rows of a value that agree, whose number over the rows of
    the value is added up, the differences can be very small.
    """
    by_value, by_label = [sum(row) for row in table], tuple(map(sum, zip(*table, strict=True)))
    here = [sum(x * x for x in row) for row in table]
    total = math.lgamma(sum(by_value) + 1) - sum(math.lgamma(n + 1) for n in by_label)
    more, chances = [], []
    for rows, log_ways in islice(_tables(by_value, by_label), most + 1):
        dealt = [sum(x * x for x in row) for row in rows]
        more.append(sum((x - y) / (2 * n) for x, y, n in zip(dealt, here, by_value, strict=True)))
        chances.append(log_ways - total)
    weights = np.exp(np.array(chances))
    return FewDeals(np.array(more), weights / weights.sum()) if len(more) <= most else None


def _tables(by_value: list[int], by_label: tuple[int, ...]) -> Iterator[tuple[list[tuple[int, ...]], float]]:
    """All tables with these margins, with the logarithm of the number of deals that give each.

    Every choice of the first rows can be completed, so that the next one is found at once however many there are.
    """
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
