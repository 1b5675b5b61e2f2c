"""One p-value per feature from tests that see different things, and the correction for many features.

All tests deal the labels of each context to its rows at random, and differ in what they see: ``deals`` a difference in
any direction, where rows repeat; ``directions`` one that has the same direction in many contexts, of frequent values
and labels together and of rare ones cell by cell; ``strata`` one that has the same direction where another feature has
the same value, which finds interactions without repeated rows. The smallest of their p-values is multiplied by how many
there are (Bonferroni), so the combination is valid whatever they share. Which tests are made is decided by how many
rows of each value and of each label the contexts hold, never by which go together.
"""

import sys
from collections.abc import Iterable, Sequence
from dataclasses import dataclass

import numpy as np

from analogical._types import Bools, CodedRows, Floats, Ints
from analogical.count.contexts import Contexts, Stack
from analogical.count.given import Counted
from analogical.estimate.directions import Kinds
from analogical.estimate.laws import PValue, smallest_of
from analogical.estimate.strata import MAX_OTHERS, strata_p_value, strata_p_values
from analogical.estimate.summaries import FeatureSummary, all_p_values, summarise_stack

__all__ = [
    "Tested",
    "adjust_for_features",
    "combine",
    "feature_p_values",
    "pools_contexts",
    "test_contexts",
    "test_counted",
]


@dataclass(frozen=True, slots=True)
class Tested:
    """What is kept of a feature in its contexts."""

    n_pairs: int
    n_changed: int
    noise_rate: float
    p_value: float
    """NaN if nothing can be tested."""

    @classmethod
    def of(cls, summary: FeatureSummary, p_values: Iterable[PValue]) -> "Tested":
        """From the summary of its contexts, and its p-values."""
        p = max(smallest_of(list(p_values)).p, sys.float_info.min)
        return cls(summary.profile.n_pairs, summary.profile.n_changed, summary.effect.noise_rate(), p)


def test_counted(counted: Counted, label_sizes: Ints) -> list[Tested | None]:
    """Several features in their contexts; None for those without pairs."""
    stack = counted.stack
    held = np.flatnonzero(np.diff(stack.bounds)).tolist()
    found: list[Tested | None] = [None] * stack.n_features
    if held:
        some, which = stack.part(held)
        values, labels = [Kinds.of(counted.value_sizes[k]) for k in held], Kinds.of(label_sizes)
        summaries = summarise_stack(some, values, labels)
        pooled = strata_p_values(some, counted.given[which], values, labels).tolist()
        for k, summary, p_values, p in zip(held, summaries, all_p_values(summaries), pooled, strict=True):
            found[k] = Tested.of(summary, (*p_values, PValue(p)))
    return found


def test_contexts(contexts: Contexts, value_sizes: Ints, label_sizes: Ints, rows: CodedRows | None) -> Tested:
    """One feature in its contexts, of which equal ones may be put together.

    Without the rows, which have the feature in column 0, the test that pools contexts is left out.
    """
    summary = summarise_stack(Stack.of([contexts]), [Kinds.of(value_sizes)], Kinds.of(label_sizes))[0]
    return Tested.of(summary, [*summary.p_values(), *([] if rows is None else [PValue(strata_p_value(rows, 0))])])


def feature_p_values(rows: CodedRows | None, summaries: Sequence[FeatureSummary | None]) -> Floats:
    """One p-value per feature; NaN for features without pairs, and where no context holds two labels.

    Without the rows, which may lie elsewhere, the test that pools contexts is left out.
    """
    found = np.full(len(summaries), np.nan)
    for i, summary in enumerate(summaries):
        if summary is not None:
            p_values = list(summary.p_values())
            if rows is not None:
                p_values.append(PValue(strata_p_value(rows, i)))
            found[i] = max(smallest_of(p_values).p, sys.float_info.min)
    return found


def pools_contexts(n_features: int) -> bool:
    """Whether the test that pools contexts, which needs the rows themselves, is made for such a table."""
    return n_features - 1 <= MAX_OTHERS


def combine(p_values: Iterable[float]) -> float:
    """The smallest p-value times their number; unknown ones (NaN) do not count, NaN if all are unknown."""
    return smallest_of([PValue(p) for p in p_values]).p


def adjust_for_features(p_values: Floats, strictly: Bools | None = None) -> Floats:
    """Benjamini and Hochberg's adjusted p-values, Holm's for some; unknown ones stay unknown and do not count.

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
