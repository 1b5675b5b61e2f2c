"""A test that sees interactions without repeated rows: contexts that share a value of one other feature, together.

Without repeated rows the test in any direction knows no noise, and the Cochran-Mantel-Haenszel test is blind to changes
that cancel, as in an exclusive or. In between, contexts are pooled where they share a value of one other feature j:
within each value the deviations of ``directions`` add up, and their quadratic forms are added over the values of j.
With the feature that it interacts with as j, the change has one direction within each value. All of it is valid under
deals of the labels within contexts; the smallest p-value over the other features is multiplied by their number.
"""

import math
from typing import Any

import numpy as np
from numpy.typing import NDArray

from analogical._types import CodedRows, Floats, Ints
from analogical.count.contexts import differs_from_last
from analogical.count.groups import number_groups
from analogical.estimate.directions import (
    ENOUGH,
    Kinds,
    finest_first,
    hold_two,
    moments_of_tables,
    quadratic_forms,
    rooms_of_tables,
)

__all__ = ["MAX_OTHERS", "strata_p_value"]

MAX_KINDS = 4
"""Values, or labels, that are told apart here: a stratum holds few rows, and kinds cost degrees of freedom."""
MAX_OTHERS = 10
"""With more other features the test is not made: the smallest of so many p-values, multiplied by their number, finds
little, and the tests beside it would pay for it."""
CHUNK = 2_000_000
"""Numbers that are held at once for contexts."""
TABLE = 4
"""Cells for each row up to which rows are counted in a table of all possible contexts; beyond, they are sorted."""
LARGEST_KEY = 2**62
"""Possible contexts that one whole number tells apart."""


def strata_p_value(rows: CodedRows, feature: int) -> float:
    """Smallest p-value over the other features, times their number; NaN if no two strata of one tell."""
    others = [j for j in range(rows.n_features) if j != feature]
    if not 1 <= len(others) <= MAX_OTHERS:
        return math.nan
    values = Kinds.of(rows.value_sizes(feature), MAX_KINDS)
    labels = Kinds.of(rows.label_sizes(), MAX_KINDS)
    tables, partners = _tables(rows, feature, others, values, labels)
    found = []
    if len(tables) > 1 and values.n > 1 and labels.n > 1:
        strata = [np.unique(codes, return_inverse=True)[1].ravel() for codes in partners]
        sums = _sums(tables, strata, values, labels)
        found = [p for p in (_p_value(values, labels, *sums_of_j) for sums_of_j in sums) if not math.isnan(p)]
    return min(1.0, len(found) * min(found)) if found else math.nan


def _tables(
    rows: CodedRows, feature: int, others: list[int], values: Kinds, labels: Kinds
) -> tuple[Floats, list[NDArray[Any]]]:
    """Contexts with two kinds of values and of labels as tables, and the value of each other feature in each."""
    sizes = [int(rows.n_values[j]) for j in others]
    n_possible = math.prod(sizes)
    if n_possible <= LARGEST_KEY:
        context = np.zeros(len(rows.codes), np.int64)
        for j, size in zip(others, sizes, strict=True):
            context *= size
            context += rows.codes[:, j]
    else:
        context = number_groups(rows.codes, rows.n_values, others).astype(np.int64)
    codes, label_codes, weights = rows.codes[:, feature], rows.labels, rows.weights
    is_table = n_possible * values.n * labels.n <= TABLE * len(rows.codes)
    n_contexts = n_possible
    if not is_table:
        order = np.argsort(context, kind="stable")
        is_new = differs_from_last(context[order])
        order = order[~(is_new & np.append(is_new[1:], True))]  # without rows that are alone
        is_new = differs_from_last(context[order])
        first, context, n_contexts = order[is_new], np.cumsum(is_new) - 1, int(np.count_nonzero(is_new))
        codes, label_codes, weights = codes[order], label_codes[order], None if weights is None else weights[order]
    place = (context * values.n + values.of_value[codes]) * labels.n + labels.of_value[label_codes]
    flat = np.bincount(place, weights, minlength=n_contexts * values.n * labels.n)
    tables = flat.astype(np.float64).reshape(n_contexts, values.n, labels.n)
    tells = hold_two(tables)
    if is_table:
        return tables[tells], list(np.unravel_index(np.flatnonzero(tells), sizes))
    return tables[tells], [rows.codes[first[tells], j] for j in others]


def _sums(tables: Floats, strata: list[Ints], values: Kinds, labels: Kinds) -> list[list[Floats]]:
    """For each other feature, by its value: deviations, covariances and rooms."""
    from scipy.sparse import csr_array

    size = (values.n - 1) * (labels.n - 1)
    n_sets = len(values.sets()) * len(labels.sets())
    step = max(CHUNK // (size**2 + 4 * n_sets), 1)
    totals = [np.zeros((int(stratum.max()) + 1, size + size**2 + n_sets)) for stratum in strata]
    for start in range(0, len(tables), step):
        some = tables[start : start + step]
        parts = [*moments_of_tables(some), rooms_of_tables(some, values, labels)]
        flat = np.hstack([part.reshape(len(some), -1) for part in parts])
        for k, stratum in enumerate(strata):
            here = stratum[start : start + step]
            is_in = csr_array((np.ones(len(here)), (here, np.arange(len(here)))), shape=(len(totals[k]), len(here)))
            totals[k] = totals[k] + is_in.dot(flat)
    ends = np.cumsum([size, size**2])
    return [np.split(total, ends, axis=1) for total in totals]


def _p_value(values: Kinds, labels: Kinds, deviations: Floats, covariances: Floats, rooms: Floats) -> float:
    """From sums by stratum: each one in the finest table whose cells have room; NaN if fewer than two have one."""
    from scipy.special import chdtrc

    n_strata, size = deviations.shape
    covariances = covariances.reshape(n_strata, size, size)
    room = rooms.reshape(n_strata, len(values.sets()), len(labels.sets()))
    places = np.arange(size).reshape(values.n - 1, labels.n - 1)
    is_left = np.ones(n_strata, np.bool_)
    statistic, freedom = 0.0, 0
    for n_values, n_labels in finest_first(values, labels):
        cells = room[:, values.members(n_values)][:, :, labels.members(n_labels)]
        told = is_left & (cells.min(axis=(1, 2)) >= ENOUGH)
        if told.any():
            kept = places[: n_values - 1, : n_labels - 1].ravel()
            statistics, freedoms = quadratic_forms(deviations[told][:, kept], covariances[told][:, kept][:, :, kept])
            statistic, freedom = statistic + float(statistics.sum()), freedom + int(freedoms.sum())
            is_left &= ~told
    return float(chdtrc(freedom, statistic)) if np.count_nonzero(~is_left) > 1 else math.nan
