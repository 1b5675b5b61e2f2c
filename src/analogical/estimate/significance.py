"""One p-value per feature, combined from several tests, and the correction for many features.

All tests assign the labels of each context to its rows at random, and detect different changes: ``deals`` a difference
in any direction, where rows repeat; ``directions`` one that has the same direction in many contexts, of frequent values
and labels together and of rare cells one by one; ``strata`` one that has the same direction where another feature has
the same value, which finds interactions without repeated rows. The smallest p-value is multiplied by the number of
tests (Bonferroni), which is valid however they depend on each other. Which tests are made depends on the numbers of
rows by value and by label in the contexts only, never on which labels go with which values.
"""

import math
import sys
from collections.abc import Iterable, Sequence
from dataclasses import dataclass

import numpy as np

from analogical._types import Bools, Floats, Ints
from analogical.count.contexts import Stack
from analogical.estimate.directions import DirectionTests, Kinds
from analogical.estimate.exact_deals import p_values_any_direction
from analogical.estimate.laws import PValue, smallest_of
from analogical.estimate.strata import strata_p_values

__all__ = ["Tested", "adjust_for_features", "combine", "p_values_of", "pools_contexts", "test_stack"]


@dataclass(frozen=True, slots=True)
class Tested:
    """Pairs and p-value of a feature in its contexts."""

    n_pairs: int
    n_changed: int
    p_value: float
    """NaN if no test can be made."""


def test_stack(stack: Stack, value_sizes: Sequence[Ints], label_sizes: Ints) -> list[Tested | None]:
    """Test several features; None for those without pairs.

    The sizes are the rows of each value of each feature, and of each label, in the table. The test that pools contexts
    is made if their codes are known.
    """
    held = np.flatnonzero(np.diff(stack.bounds)).tolist()
    if not held:
        return [None] * stack.n_features
    values, labels = [Kinds.of(value_sizes[k]) for k in held], Kinds.of(label_sizes)
    some = stack.part(held)
    pooled = strata_p_values(some, values, labels).tolist()
    p_values = [(*tests, PValue(p)) for tests, p in zip(p_values_of(some.merged, values, labels), pooled, strict=True)]
    tested = dict(zip(held, _tested(some.merged, p_values), strict=True))
    return [tested.get(k) for k in range(stack.n_features)]


def p_values_of(stack: Stack, values: Sequence[Kinds], labels: Kinds) -> list[tuple[PValue, ...]]:
    """For each feature the p-values in any direction, and in a common one for frequent values and for rare cells.

    NaN where a test is not made. The first one is left out where the others detect differences in any direction too.
    """
    both = zip(DirectionTests.of_stack(stack, values, labels), p_values_any_direction(stack), strict=True)
    return [(PValue(math.nan) if tests.sees_all else p_any, tests.frequent, tests.rare) for tests, p_any in both]


def _tested(stack: Stack, p_values: Iterable[Iterable[PValue]]) -> list[Tested]:
    """Pairs and the combined p-value of several features."""
    contexts = stack.contexts
    rows = contexts.sizes * contexts.times[contexts.owner]
    pairs, changed = (stack.sums_of_cells(rows * of_row) // 2 for of_row in (contexts.pairs, contexts.changed))
    combined = [max(smallest_of(tests).p, sys.float_info.min) for tests in p_values]
    return list(map(Tested, pairs.tolist(), changed.tolist(), combined))


def pools_contexts(n_features: int) -> bool:
    """Whether the test that pools contexts, which needs the rows, is made for a table with this number of features."""
    return n_features <= 11  # as many others as the deciding set has members at most


def combine(p_values: Iterable[float]) -> float:
    """The smallest p-value times the number of p-values; NaNs do not count, NaN if all are NaN."""
    return smallest_of(PValue(p) for p in p_values).p


def adjust_for_features(p_values: Floats, strictly: Bools | None = None) -> Floats:
    """P-values adjusted by Benjamini and Hochberg's method, by Holm's where ``strictly``; NaNs stay NaN.

    Examples
    --------
    >>> adjust_for_features(np.array([0.01, np.nan, 0.04, 0.03])).tolist()
    [0.03, nan, 0.04, 0.04]
    >>> adjust_for_features(np.array([0.01, 0.04, 0.03]), np.array([False, True, True])).tolist()
    [0.03, 0.06, 0.06]
    """
    adjusted = np.full(len(p_values), np.nan)
    known = np.flatnonzero(~np.isnan(p_values))
    order = known[np.argsort(p_values[known], kind="stable")]
    p, n = p_values[order], len(order)
    # Textbook: scipy.stats.false_discovery_control; importing scipy.stats takes a second.
    shared = p * (n / np.arange(1, n + 1))
    adjusted[order] = np.minimum(np.minimum.accumulate(shared[::-1])[::-1], 1.0)
    if strictly is not None:
        # Holm's: the smallest of n p-values is multiplied by n, the next one by n - 1
        strict = np.minimum(np.maximum.accumulate(p * np.arange(n, 0, -1)), 1.0)
        adjusted[order] = np.where(strictly[order], strict, adjusted[order])
    return adjusted
