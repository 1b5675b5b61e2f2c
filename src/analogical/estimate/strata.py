"""A test that sees interactions without repeated rows: contexts that share a value of one other feature, together.

Without repeated rows the test in any direction knows no noise, and the Cochran-Mantel-Haenszel test is blind to changes
that cancel, as in an exclusive or. In between, contexts are pooled where they share a value of one other feature j:
within each value the deviations of ``directions`` add up, and their quadratic forms are added over the values of j.
With the feature that it interacts with as j, the change has one direction within each value. All of it is valid under
deals of the labels within contexts; the smallest p-value over the other features is multiplied by their number. With
more others than a deciding set has members it would find little, and the tests beside it would pay for it.
"""

import math
from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray

from analogical._types import CodedRows, Floats, Positions
from analogical.count.contexts import Stack
from analogical.count.given import Cells, count_given
from analogical.estimate.deciding import MOST
from analogical.estimate.directions import Kinds, TableSums, informative_tables

__all__ = ["strata_p_value", "strata_p_values"]


def strata_p_value(rows: CodedRows, feature: int) -> float:
    """P-value of one feature of a table, all others given; NaN if it is not made or no two strata of one tell."""
    others = [j for j in range(rows.n_features) if j != feature]
    if not 1 <= len(others) <= MOST:
        return math.nan
    (counted,) = count_given(rows, Cells.by(rows, others), [feature], 1)
    values = [Kinds.of(counted.value_sizes[0])]
    return float(strata_p_values(counted.stack, counted.given, values, Kinds.of(rows.label_sizes()))[0])


def strata_p_values(stack: Stack, given: NDArray[np.int64], values: Sequence[Kinds], labels: Kinds) -> Floats:
    """For each feature the smallest p-value over the given columns, times their number; NaN if none has one.

    With too many of them the test is not made. ``given`` is the code of each context on each given column, -1 beyond
    the last one of its feature.
    """
    p_values = np.full((stack.n_features, given.shape[1]), math.nan)
    if given.shape[1] > MOST:
        return p_values[:, 0]
    for features, tables, which in informative_tables(stack, values, labels):
        kinds = values[features[0]]
        if kinds.n > 1 and labels.n > 1 and len(tables):
            place = np.searchsorted(features, stack.feature[which])
            p_values[features] = _p_values(tables, place, given[which], len(features), kinds, labels)
    is_known = ~np.isnan(p_values)
    n_known = np.count_nonzero(is_known, axis=1)
    smallest = np.min(p_values, axis=1, initial=1.0, where=is_known)
    return np.where(n_known > 0, np.minimum(1.0, n_known * smallest), math.nan)


def _p_values(
    tables: Floats, feature: Positions, given: NDArray[np.int64], n_features: int, values: Kinds, labels: Kinds
) -> Floats:
    """For each feature and given column, each stratum in the finest table that has room; NaN if fewer than two have.

    A stratum is the contexts of a feature that share a value of the column.
    """
    from scipy.sparse import csc_array
    from scipy.special import chdtrc

    n_codes = int(given.max(initial=0)) + 1
    owners, groupings = [], []
    for code in given.T:
        is_given = np.flatnonzero(code >= 0)
        strata, stratum = np.unique(feature[is_given] * n_codes + code[is_given], return_inverse=True)
        owners.append(strata // n_codes)
        groupings.append(csc_array((np.ones(len(is_given)), (stratum, is_given)), shape=(len(strata), len(tables))))
    p_values = np.full((n_features, len(owners)), math.nan)
    for j, sums in enumerate(TableSums.of(tables, groupings, values, labels)):
        finest = sums.finest()
        n_told, statistic, freedom = (
            np.bincount(owners[j], numbers, minlength=n_features)
            for numbers in (finest.n_values > 0, finest.statistic, finest.freedom)
        )
        p_values[:, j] = np.where(n_told > 1, chdtrc(freedom, statistic), math.nan)
    return p_values
