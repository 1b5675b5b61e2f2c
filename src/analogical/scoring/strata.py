"""A test that sees interactions without repeated rows: contexts that share a value of one other feature, together.

Without repeated rows the test in any direction knows no noise, and the Cochran-Mantel-Haenszel test is blind to changes
that cancel, as in an exclusive or. In between, contexts are pooled where they share a value of one other feature j:
within each value the deviations of ``directions`` add up, and their quadratic forms are added over the values of j.
With the feature that it interacts with as j, the change has one direction within each value. All of it is valid under
deals of the labels within contexts; the smallest p-value over the other features is multiplied by their number.
"""

import math

import numpy as np

from analogical._types import Bools, CodedRows, Floats, Ints
from analogical.counting.groups import rows_by_context
from analogical.scoring.directions import hold_two, margins, merge_rare, moments_of_tables, quadratic_forms

__all__ = ["strata_p_value"]

ENOUGH = 4.0
"""Variance that a stratum must hold, over all values and labels: that of four pairs whose labels differ."""
MAX_KINDS = 4
"""Values, or labels, that are told apart here."""


def strata_p_value(rows: CodedRows, feature: int, label_sizes: Ints) -> float:
    """Smallest p-value over the other features, times their number; NaN if no stratum tells."""
    value_sizes = np.bincount(rows.codes[:, feature], rows.weights, minlength=int(rows.n_values[feature]))
    value_kinds = merge_rare(value_sizes.astype(np.int64), MAX_KINDS)
    label_kinds = merge_rare(label_sizes, MAX_KINDS)
    order, starts = rows_by_context(rows, feature)
    n_values, n_labels = int(value_kinds.max()) + 1, int(label_kinds.max()) + 1
    owner = np.repeat(np.arange(len(starts)), np.diff(starts, append=len(order)))
    place = (owner * n_values + value_kinds[rows.codes[order, feature]]) * n_labels + label_kinds[rows.labels[order]]
    flat = np.bincount(place, rows.weights_or_ones()[order], minlength=len(starts) * n_values * n_labels)
    tables = flat.astype(np.float64).reshape(len(starts), n_values, n_labels)
    tells = hold_two(tables)
    if np.count_nonzero(tells) < 2:
        return math.nan
    tables, first = tables[tells], order[starts[tells]]
    by_value, by_label = margins(tables)
    n = by_value.sum(axis=1)
    variance = (n**2 - (by_value**2).sum(axis=1)) * (n**2 - (by_label**2).sum(axis=1)) / (n**2 * (n - 1))
    codes = {j: rows.codes[first, j].astype(np.int64) for j in range(rows.n_features) if j != feature}
    told = {j: np.bincount(values, variance) > ENOUGH for j, values in codes.items()}
    pooled = [j for j in codes if np.count_nonzero(told[j]) > 1]
    if not pooled:
        return math.nan
    is_used = np.logical_or.reduce([told[j][codes[j]] for j in pooled])
    moments = moments_of_tables(tables[is_used])
    smallest = min(_pooled_p_value(moments, codes[j][is_used], told[j]) for j in pooled)
    return min(1.0, len(pooled) * smallest)


def _pooled_p_value(moments: tuple[Floats, Floats], values: Ints, told: Bools) -> float:
    """P-value from the moments of contexts, added up over those that share a value; only some values are told."""
    from scipy.special import chdtrc

    mine = told[values]
    stratum = (np.cumsum(told) - 1)[values[mine]]
    sums = [np.zeros((np.count_nonzero(told), *moment.shape[1:])) for moment in moments]
    for total, moment in zip(sums, moments, strict=True):
        np.add.at(total, stratum, moment[mine])
    statistics, freedoms = quadratic_forms(sums[0], sums[1])
    return float(chdtrc(int(freedoms.sum()), float(statistics.sum())))
