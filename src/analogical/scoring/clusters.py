"""Dependent rows: several visits of a patient, or copies of a row, are one unit and not several.

Intervals leave out one group of rows at a time. Tests and effects take one row of each group at random, so that the
rows left are independent, and do so several times: within-cluster resampling (Hoffman, Sen and Weinberg 2001). Twice
the median of the p-values is valid whatever they share (Rüschendorf 1982).
"""

from collections.abc import Iterator
from dataclasses import dataclass
from statistics import NormalDist
from typing import Any

import numpy as np
from numpy.typing import NDArray

from analogical._types import CodedRows, Floats, Ints, Positions
from analogical.counting.counts import RowProfile
from analogical.counting.groups import rows_by_context
from analogical.engines.base import Engine
from analogical.scoring.effect import skewed_interval
from analogical.scoring.significance import feature_p_values
from analogical.scoring.summaries import summarise_contexts

__all__ = ["N_DRAWS", "ClusterSums", "cluster_profile", "draw_one_of_each", "resample_clusters"]

N_DRAWS = 21
"""Times that one row of each group is drawn."""


@dataclass(frozen=True)
class ClusterSums:
    """Effects, noise and p-values of tables with one row of each group, put together."""

    effect: Floats
    effect_low: Floats
    effect_high: Floats
    noise_rate: Floats
    effect_pairs: Ints
    """Pairs that the effect rests on, in a draw."""
    p_value: Floats


def cluster_profile(rows: CodedRows, feature: int, groups: Ints) -> RowProfile:
    """How many pairs touch each group, and how many of them changed; one entry per group."""
    order, starts = rows_by_context(rows, feature)
    context = np.repeat(np.arange(len(starts)), np.diff(starts, append=len(order)))
    value, label, group = rows.codes[order, feature], rows.labels[order], groups[order]
    weight = rows.weights_or_ones()[order]

    def partners(*keys: NDArray[Any]) -> Ints:
        """For each row, rows that agree with it on the context and all keys."""
        sorting = np.lexsort((*keys, context))
        is_new = np.zeros(len(order), np.bool_)
        is_new[0] = True
        for key in (context, *keys):
            is_new[1:] |= key[sorting][1:] != key[sorting][:-1]
        first = np.flatnonzero(is_new)
        found = np.empty(len(order), np.int64)
        found[sorting] = np.repeat(np.add.reduceat(weight[sorting], first), np.diff(first, append=len(order)))
        return found

    pairs = partners() - partners(value)
    changed = pairs - (partners(label) - partners(value, label))
    inside = partners(group) - partners(group, value)  # pairs within the group, seen from each of their rows
    changed_inside = inside - (partners(group, label) - partners(group, value, label))
    n_groups = int(groups.max()) + 1
    of_group = [
        np.bincount(group, weight * number, minlength=n_groups)
        for number in (2 * pairs - inside, 2 * changed - changed_inside)
    ]
    touched, changed_touched = (np.asarray(total / 2, dtype=np.int64) for total in of_group)
    return RowProfile.of(touched, changed_touched, np.ones(n_groups, np.int64))


def draw_one_of_each(groups: Ints, seed: int | None) -> Iterator[Positions]:
    """Positions of one row of each group, drawn at random, several times."""
    rng = np.random.default_rng(seed)
    for _ in range(N_DRAWS):
        shuffled = rng.permutation(len(groups))
        yield np.sort(shuffled[np.unique(groups[shuffled], return_index=True)[1]])


def resample_clusters(
    engine: Engine, rows: CodedRows, groups: Ints, confidence: float, seed: int | None
) -> ClusterSums:
    """Draw one row of each group, again and again, and put effects, noise and p-values together."""
    n = rows.n_features
    effects, variances, noises, p_values = (np.full((N_DRAWS, n), np.nan) for _ in range(4))
    pairs = np.zeros((N_DRAWS, n))
    for draw, picked in enumerate(draw_one_of_each(groups, seed)):
        one_each = rows.weighted(None).take(picked)
        sums = engine.sum_contexts(one_each, summarise_contexts(one_each))
        p_values[draw] = feature_p_values(one_each, sums.summaries)
        for i, summary in enumerate(sums.summaries):
            if summary is not None and summary.effect.n_pairs:
                effects[draw, i], noises[draw, i] = summary.effect.effect(), summary.effect.noise_rate()
                variances[draw, i] = summary.effect.variance(len(picked))
                pairs[draw, i] = summary.effect.n_pairs
    known = np.count_nonzero(~np.isnan(effects), axis=0) > N_DRAWS / 2
    effect, low, high, noise_rate, p_value = (np.full(n, np.nan) for _ in range(5))
    quantile = NormalDist().inv_cdf((1 + confidence) / 2)
    for i in range(n):
        tested = p_values[:, i][~np.isnan(p_values[:, i])]
        if len(tested) > N_DRAWS / 2:
            p_value[i] = min(1.0, 2 * float(np.median(tested)))
        if known[i]:
            effect[i], noise_rate[i] = float(np.nanmean(effects[:, i])), float(np.nanmean(noises[:, i]))
            within, between = float(np.nanmean(variances[:, i])), float(np.nanvar(effects[:, i], ddof=1))
            low[i], high[i] = skewed_interval(effect[i], max(within - between, within / N_DRAWS), quantile)
    return ClusterSums(effect, low, high, noise_rate, pairs.mean(axis=0).astype(np.int64), p_value)
