"""The test in any direction, exactly: all ways to deal the labels, if they are few.

A context with given numbers of rows by value and by label can become one of a few tables, each with a known
probability. What they add to the statistic of ``deals``, less what was observed, is added up over contexts.
"""

import math
from collections.abc import Iterator
from dataclasses import dataclass

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


@dataclass(frozen=True)
class FewDeals:
    """Contexts that hold two values, two labels and repeats, as tables of rows by value and label; not too many."""

    tables: tuple[tuple[Table, int], ...]
    """Each with how many contexts look like it."""
    n_deals: int

    @classmethod
    def of(cls, contexts: Contexts, tells: Bools) -> "FewDeals | None":
        """The contexts that tell; None if they have too many deals."""
        chosen = np.flatnonzero(tells)
        if 2 ** min(int(contexts.times[chosen].sum()), 64) > MAX_DEALS:  # every one has two deals at least
            return None
        tables, n_deals = [], 1
        ends = np.append(contexts.starts, len(contexts.sizes))
        for c in chosen.tolist():
            cells = slice(ends[c], ends[c + 1])
            values, rows = np.unique(contexts.values[cells], return_inverse=True)
            labels, columns = np.unique(contexts.labels[cells], return_inverse=True)
            if max(len(values), len(labels)) > MAX_DEALS:
                return None
            table = np.zeros((len(values), len(labels)), np.int64)
            table[rows, columns] = contexts.sizes[cells]
            found: Table = tuple(tuple(row) for row in table.tolist())
            n_deals *= _n_tables(*_margins(found)) ** int(contexts.times[c])
            if n_deals > MAX_DEALS:
                return None
            tables.append((found, int(contexts.times[c])))
        return cls(tuple(tables), n_deals)

    @classmethod
    def of_stack(cls, stack: Stack) -> "list[FewDeals | None]":
        """For each of several features its contexts that tell; None if they have too many deals."""
        contexts, tells = stack.contexts, can_tell(stack.contexts)
        # With its most frequent value and label against all others, a context can become so many tables at least.
        rows = contexts.n_rows
        value, label = largest_parts(contexts)
        least = 1 + np.minimum(np.minimum(value, rows - value), np.minimum(label, rows - label))
        log_deals = stack.sums(np.where(tells, contexts.times * np.log(least), 0.0))
        may_be_few = log_deals <= math.log(MAX_DEALS) + TIE
        found: list[FewDeals | None] = [None] * stack.n_features
        if may_be_few.any():
            parts = stack.split()
            for k in np.flatnonzero(may_be_few).tolist():
                found[k] = cls.of(parts[k], tells[stack.bounds[k] : stack.bounds[k + 1]])
        return found

    def p_value(self) -> PValue:
        """Share of all deals whose statistic is at least the observed one; NaN if no context tells."""
        if not self.tables:
            return PValue(math.nan)
        more, chances = np.zeros(1), np.ones(1)
        for table, times in self.tables:
            steps, step_chances = _law(table)
            for _ in range(times):
                more = (more[:, None] + steps).ravel()
                chances = (chances[:, None] * step_chances).ravel()
        limit = TIE * float(np.ptp(more))
        if not limit:
            return PValue(math.nan)
        p, smallest = (float(chances[more >= least - limit].sum()) for least in (0.0, more.max()))
        return PValue(min(p, 1.0), min(smallest, 1.0))


def p_values_any_direction(stack: Stack) -> list[PValue]:
    """The test in any direction of each feature: over all deals if they are few, else by its tail; NaN without."""
    moments = DealMoments.of_stack(stack)
    return [
        PValue(of_many.p_value()) if few is None else few.p_value()
        for few, of_many in zip(FewDeals.of_stack(stack), moments, strict=True)
    ]


def _margins(table: Table) -> tuple[list[int], tuple[int, ...]]:
    return [sum(row) for row in table], tuple(map(sum, zip(*table, strict=True)))


def _law(table: Table) -> tuple[Floats, Floats]:
    """By how much each deal of a table has more pairs of rows of a value that agree, over the rows of the value.

    In whole numbers up to the division: next to the pairs themselves the differences can be very small.
    """
    by_value, by_label = _margins(table)
    here = [sum(x * x for x in row) for row in table]
    total = math.lgamma(sum(by_value) + 1) - sum(math.lgamma(n + 1) for n in by_label)
    steps, chances = [], []
    for rows, log_ways in _tables(by_value, by_label):
        dealt = [sum(x * x for x in row) for row in rows]
        steps.append(sum((x - y) / (2 * n) for x, y, n in zip(dealt, here, by_value, strict=True)))
        chances.append(log_ways - total)
    weights = np.exp(np.array(chances))
    return np.array(steps), weights / weights.sum()


def _n_tables(by_value: list[int], by_label: tuple[int, ...]) -> int:
    """Tables with these margins, or some number above the limit: every choice of the first rows can be completed."""
    of_two = _n_tables_of_two(by_value, max(by_label))
    if len(by_label) == 2 or of_two > MAX_DEALS:  # there are no fewer of more labels
        return of_two
    left = {by_label: 1}
    for n in by_value[:-1]:
        after: dict[tuple[int, ...], int] = {}
        n_found = 0
        for limits, ways in left.items():
            for row in _rows(n, limits):
                rest = tuple(a - b for a, b in zip(limits, row, strict=True))
                after[rest] = after.get(rest, 0) + ways
                n_found += ways
                if n_found > MAX_DEALS:
                    return n_found
        left = after
    return sum(left.values())


def _n_tables_of_two(by_value: list[int], of_label: int) -> int:
    """Tables with two labels, of which one has so many rows; some number above the limit if they are more.

    The ways to share rows with the rarer label among values are added up value by value, as running sums; the most
    frequent value gets the rest, so that huge values and labels cost nothing.
    """
    *others, largest = sorted(by_value)
    of_label = min(of_label, sum(by_value) - of_label)
    most = min(of_label, sum(others))
    if most >= MAX_DEALS:
        return MAX_DEALS + 1
    ways = np.zeros(most + 1)
    ways[0] = 1
    for n in others:
        running = np.cumsum(np.minimum(ways, MAX_DEALS + 1.0))
        ways = running.copy()
        ways[n + 1 :] -= running[: max(most - n, 0)]
    return int(min(ways[max(of_label - largest, 0) :].sum(), MAX_DEALS + 1.0))


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
