"""One p-value per feature from tests that see different things, and the correction for many features.

Three tests deal the labels of each context to its rows at random, and differ in what they see: ``deals`` a difference
in any direction, where rows repeat; ``directions`` one that has the same direction in many contexts; ``strata`` one
that has the same direction where another feature has the same value, which finds interactions without repeated rows.
The smallest of their p-values is multiplied by how many there are (Bonferroni), so the combination is valid whatever
they share.
"""

import math
from collections.abc import Iterable, Sequence

import numpy as np

from analogical._types import Bools, CodedRows, Floats
from analogical.scoring.strata import strata_p_value
from analogical.scoring.summaries import FeatureSummary

__all__ = ["adjust_for_features", "combine", "feature_p_values", "pools_contexts"]

STRATA_WORK = 40_000_000
STRATA_ROWS = 1_000_000
"""The test that pools contexts is run up to so many rows, and if rows times features squared stay below the former.

Rows count with their weights, so that repeated rows and rows with a weight are tested alike."""


def feature_p_values(rows: CodedRows | None, summaries: Sequence[FeatureSummary | None]) -> Floats:
    """One p-value per feature; NaN for features without pairs, and where no context holds two labels.

    Without the rows, which may lie elsewhere, the test that pools contexts is left out.
    """
    pooled = rows if rows is not None and pools_contexts(rows.n_rows, rows.n_features) else None
    found = np.full(len(summaries), np.nan)
    for i, summary in enumerate(summaries):
        if summary is not None:
            p_values = list(summary.p_values())
            if pooled is not None and not math.isnan(p_values[1]):
                p_values.append(strata_p_value(pooled, i, pooled.label_sizes()))
            found[i] = combine(p_values)
    return found


def pools_contexts(n_rows: int, n_features: int) -> bool:
    """Whether the test that pools contexts, which needs the rows themselves, is run for such a table."""
    return n_rows <= STRATA_ROWS and n_rows * n_features**2 <= STRATA_WORK


def combine(p_values: Iterable[float]) -> float:
    """The smallest p-value times their number; unknown ones (NaN) do not count, NaN if all are unknown."""
    known = [p for p in p_values if not math.isnan(p)]
    return min(1.0, len(known) * min(known)) if known else math.nan


def adjust_for_features(p_values: Floats) -> Floats:
    """Benjamini and Hochberg's adjusted p-values; unknown ones stay unknown and do not count.

    Textbook: the k-th smallest of n is multiplied by n / k, and then no one is larger than a later one.

    Examples
    --------
    >>> adjust_for_features(np.array([0.01, np.nan, 0.04, 0.03])).tolist()
    [0.03, nan, 0.04, 0.04]
    """
    adjusted = np.full(len(p_values), np.nan)
    known: Bools = ~np.isnan(p_values)
    n = int(np.count_nonzero(known))
    if not n:
        return adjusted
    order = np.argsort(p_values[known], kind="stable")
    scaled = p_values[known][order] * n / np.arange(1, n + 1)
    sorted_back = np.empty(n)
    sorted_back[order] = np.minimum.accumulate(scaled[::-1])[::-1]
    adjusted[known] = np.minimum(sorted_back, 1.0)
    return adjusted
