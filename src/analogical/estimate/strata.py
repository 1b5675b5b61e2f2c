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

from analogical._types import CodedRows, Floats, Ints, Positions
from analogical.count.contexts import Stack
from analogical.count.given import Cells, count_given
from analogical.estimate.deciding import MOST
from analogical.estimate.directions import (
    Kinds,
    finest_first,
    has_room,
    informative_tables,
    moments_of_tables,
    quadratic_forms,
    rooms_of_tables,
)

__all__ = ["strata_p_value", "strata_p_values"]

CHUNK = 2_000_000
"""Numbers that are held at once for contexts."""


def strata_p_value(rows: CodedRows, feature: int) -> float:
    """P-value of one feature of a table, all others given; NaN if it is not made or no two strata of one tell."""
    others = [j for j in range(rows.n_features) if j != feature]
    if not 1 <= len(others) <= MOST:
        return math.nan
    cells = Cells.of([rows.codes[:, j] for j in others], len(rows.codes))
    (found,) = count_given(rows, cells, [feature], 1)
    values = [Kinds.of(found.value_sizes[0])]
    return float(strata_p_values(found.stack, found.given, values, Kinds.of(rows.label_sizes()))[0])


def strata_p_values(stack: Stack, given: NDArray[np.int64], values: Sequence[Kinds], labels: Kinds) -> Floats:
    """For each feature the smallest p-value over the given columns, times their number; NaN if none has one.

    With too many of them the test is not made. ``given`` is the code of each context on each given column, -1 beyond
    the last one of its feature.
    """
    found = np.full((stack.n_features, given.shape[1]), math.nan)
    if given.shape[1] > MOST:
        return found[:, 0]
    for features, tables, which in informative_tables(stack, values, labels):
        kinds = values[features[0]]
        if kinds.n < 2 or labels.n < 2 or not len(tables):
            continue
        place = np.searchsorted(features, stack.feature[which])
        strata = [_Strata.of(place, given[which, j]) for j in range(given.shape[1])]
        for j, sums in enumerate(_sums(tables, strata, kinds, labels)):
            found[features, j] = _p_values(kinds, labels, strata[j].feature, len(features), *sums)
    n_found = np.count_nonzero(~np.isnan(found), axis=1)
    smallest = np.min(found, axis=1, initial=math.inf, where=~np.isnan(found))
    return np.where(n_found > 0, np.minimum(1.0, n_found * np.where(n_found > 0, smallest, 1.0)), math.nan)


class _Strata:
    """Contexts of a feature that share a value of a given column, as numbers without gaps."""

    def __init__(self, of_context: Positions, feature: Positions, is_given: NDArray[np.bool_]) -> None:
        self.of_context = of_context
        self.feature = feature
        """Place of the feature that each stratum is of."""
        self.is_given = is_given
        """Which contexts are in one: those of features that are given this column."""

    @classmethod
    def of(cls, feature: Positions, code: Ints) -> "_Strata":
        """From the feature of each context, and its code on the column."""
        n_codes = int(code.max(initial=0)) + 1
        is_given = code >= 0
        known, of_context = np.unique(feature[is_given] * n_codes + code[is_given], return_inverse=True)
        return cls(of_context, known // n_codes, is_given)


def _sums(tables: Floats, strata: Sequence[_Strata], values: Kinds, labels: Kinds) -> list[list[Floats]]:
    """For each given column, by stratum: deviations, covariances and rooms."""
    from scipy.sparse import csr_array

    size = (values.n - 1) * (labels.n - 1)
    n_sets = len(values.sets()) * len(labels.sets())
    step = max(CHUNK // (size**2 + 4 * n_sets), 1)
    totals = [np.zeros((len(column.feature), size + size**2 + n_sets)) for column in strata]
    n_before = [0] * len(strata)
    for start in range(0, len(tables), step):
        some = tables[start : start + step]
        parts = [*moments_of_tables(some), rooms_of_tables(some, values, labels)]
        flat = np.hstack([part.reshape(len(some), -1) for part in parts])
        for k, column in enumerate(strata):
            given = np.flatnonzero(column.is_given[start : start + step])
            here = column.of_context[n_before[k] : n_before[k] + len(given)]
            n_before[k] += len(given)
            is_in = csr_array((np.ones(len(given)), (here, given)), shape=(len(totals[k]), len(some)))
            totals[k] = totals[k] + is_in.dot(flat)
    ends = np.cumsum([size, size**2])
    return [np.split(total, ends, axis=1) for total in totals]


def _p_values(
    values: Kinds,
    labels: Kinds,
    feature: Positions,
    n_features: int,
    deviations: Floats,
    covariances: Floats,
    rooms: Floats,
) -> Floats:
    """From sums by stratum: each one in the finest table whose cells have room; NaN if fewer than two have one."""
    from scipy.special import chdtrc

    n_strata, size = deviations.shape
    covariances = covariances.reshape(n_strata, size, size)
    room = rooms.reshape(n_strata, len(values.sets()), len(labels.sets()))
    places = np.arange(size).reshape(values.n - 1, labels.n - 1)
    is_left = np.ones(n_strata, np.bool_)
    statistic, freedom = np.zeros((2, n_features))
    for n_values, n_labels in finest_first(values, labels):
        cells = room[:, values.members(n_values)][:, :, labels.members(n_labels)]
        told = is_left & has_room(cells)
        if told.any():
            kept = places[: n_values - 1, : n_labels - 1].ravel()
            statistics, freedoms = quadratic_forms(deviations[told][:, kept], covariances[told][:, kept][:, :, kept])
            statistic += np.bincount(feature[told], statistics, minlength=n_features)
            freedom += np.bincount(feature[told], freedoms, minlength=n_features)
            is_left &= ~told
    n_told = np.bincount(feature[~is_left], minlength=n_features)
    return np.where(n_told > 1, chdtrc(freedom, statistic), math.nan)
