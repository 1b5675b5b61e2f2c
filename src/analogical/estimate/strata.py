"""A test that detects interactions without repeated rows: contexts pooled by the value of one other feature.

Without repeated rows the test in any direction has no estimate of the noise, and the Cochran-Mantel-Haenszel test
misses changes that cancel, as in an exclusive or. Here, contexts that share a value of one other feature j form a
stratum: the deviations of ``directions`` are summed within each stratum, and the quadratic forms of the strata are
summed. If j is the feature that it interacts with, the change has one direction within each stratum. The test is valid
if labels are assigned at random within contexts. The smallest p-value over the other features is multiplied by their
number. With more other features than a deciding set has members it would detect little, and is not made.
"""

import math
from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray

from analogical._types import CodedRows, Floats
from analogical.count.contexts import Stack
from analogical.count.given import Cells, count_given
from analogical.estimate.deciding import MOST_MEMBERS
from analogical.estimate.directions import AlikeTables, Kinds, TableSums, informative_tables

__all__ = ["strata_p_value", "strata_p_values"]


def strata_p_value(rows: CodedRows, feature: int) -> float:
    """P-value of one feature of a table given all others; NaN if the test is not made or too few strata have room."""
    others = [j for j in range(rows.n_features) if j != feature]
    (counted,) = count_given(rows, Cells.by(rows, others), [feature], 1)
    values = [Kinds.of(counted.value_sizes[0])]
    return float(strata_p_values(counted.stack, counted.given, values, Kinds.of(rows.label_sizes()))[0])


def strata_p_values(stack: Stack, given: NDArray[np.int64], values: Sequence[Kinds], labels: Kinds) -> Floats:
    """For each feature the smallest p-value over the given columns, times their number; NaN if none has one.

    ``given`` is the code of each context on each given column, and -1 in the unused columns of its feature.
    """
    p_values = np.full((stack.n_features, given.shape[1]), math.nan)
    if given.shape[1] > MOST_MEMBERS:
        return p_values[:, 0]
    for some in informative_tables(stack, values, labels):
        kinds = values[some.features[0]]
        if kinds.n > 1 and labels.n > 1 and len(some.tables):
            p_values[some.features] = _p_values(some, given[some.contexts], kinds, labels)
    is_known = ~np.isnan(p_values)
    n_known = np.count_nonzero(is_known, axis=1)
    smallest = np.min(p_values, axis=1, initial=1.0, where=is_known)
    return np.where(n_known > 0, np.minimum(1.0, n_known * smallest), math.nan)


def _p_values(some: AlikeTables, given: NDArray[np.int64], values: Kinds, labels: Kinds) -> Floats:
    """The p-value of each feature and given column; NaN if fewer than two strata have a table with room.

    A stratum is the contexts of a feature that share a value of the column.
    """
    from scipy.sparse import csc_array
    from scipy.special import chdtrc

    n_codes = int(given.max(initial=0)) + 1
    owners, groupings = [], []
    for code in given.T:
        is_given = np.flatnonzero(code >= 0)
        strata, stratum = np.unique(some.owner[is_given] * n_codes + code[is_given], return_inverse=True)
        owners.append(strata // n_codes)
        groupings.append(csc_array((np.ones(len(is_given)), (stratum, is_given)), shape=(len(strata), len(code))))
    n_features = len(some.features)
    p_values = np.full((n_features, len(owners)), math.nan)
    for j, sums in enumerate(TableSums.of(some.tables, groupings, values, labels)):
        finest = sums.finest()
        n_strata, statistic, freedom = (
            np.bincount(owners[j], numbers, minlength=n_features)
            for numbers in (finest.n_values > 0, finest.statistic, finest.freedom)
        )
        p_values[:, j] = np.where(n_strata > 1, chdtrc(freedom, statistic), math.nan)
    return p_values
