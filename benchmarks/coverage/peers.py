"""Counts, effects and tests written a second time, in plain numpy, to compare the library with."""

import math
from typing import Any

import numpy as np
from scipy.stats import chi2

__all__ = ["cmh", "context_tables", "effect_sums", "index_sums", "kish", "shuffle_test"]


def context_tables(X: Any, y: Any, n_values: tuple[int, ...], feature: int) -> Any:
    """Rows by context, value and label; shape (contexts, values, 2), with contexts of two values or more."""
    context = np.zeros(len(X), dtype=np.int64)
    for j, size in enumerate(n_values):
        if j != feature:
            context = context * size + X[:, j]
    n_contexts = math.prod(n_values) // n_values[feature]
    cell = (context * n_values[feature] + X[:, feature]) * 2 + y
    n = np.bincount(cell, minlength=n_contexts * n_values[feature] * 2).reshape(n_contexts, -1, 2)
    return n[np.count_nonzero(n.sum(axis=2), axis=1) > 1]


def index_sums(n: Any) -> tuple[float, float]:
    """Changed pairs and pairs."""
    size, values, labels = n.sum(axis=(1, 2)), n.sum(axis=2), n.sum(axis=1)
    pairs = (size**2 - (values**2).sum(axis=1)).sum() / 2
    unchanged = ((labels**2).sum(axis=1) - (n**2).sum(axis=(1, 2))).sum() / 2
    return float(pairs - unchanged), float(pairs)


def _told(n: Any) -> Any:
    """Only the values with two rows or more."""
    return np.where((n.sum(axis=2) > 1)[:, :, None], n, 0)


def effect_sums(n: Any) -> tuple[float, float]:
    """Sum of effects over pairs, and pairs, where both values have two rows or more."""
    told = _told(n)
    changed, pairs = index_sums(told)
    values = told.sum(axis=2)
    within = 1 - (told * (told - 1)).sum(axis=2) / np.maximum(values * (values - 1), 1)
    others = values.sum(axis=1)[:, None] - values
    return changed - float((values * within * others).sum()) / 2, pairs


def kish(n: Any) -> float:
    """Kish's number of independent pairs of the effect: 2 P^2 over the sum of squared pairs of each row."""
    values = _told(n).sum(axis=2)
    others = values.sum(axis=1)[:, None] - values
    squares = float((values * others**2).sum())
    return 2 * (float((values * others).sum()) / 2) ** 2 / squares if squares else 0.0


def cmh(n: Any) -> float:
    """Generalised Cochran-Mantel-Haenszel test, p by chi-square; NaN if no context tells."""
    n = n[np.count_nonzero(n.sum(axis=1), axis=1) > 1].astype(float)
    if not len(n):
        return math.nan
    size, values, yes = n.sum(axis=(1, 2)), n.sum(axis=2), n[:, :, 1].sum(axis=1)
    deviation = (n[:, :, 1] - values * (yes / size)[:, None]).sum(axis=0)
    factor = yes * (size - yes) / (size**2 * (size - 1))
    covariance = np.diag((factor * size) @ values) - np.einsum("c,cv,cw->vw", factor, values, values)
    statistic = float(deviation @ np.linalg.pinv(covariance, hermitian=True) @ deviation)
    freedom = int(np.linalg.matrix_rank(covariance, hermitian=True))
    return float(chi2.sf(statistic, freedom)) if freedom else math.nan


def shuffle_test(n: Any, rng: Any, n_shuffles: int = 199) -> float:
    """Conditional mutual information against labels that are shuffled within contexts; NaN if no context tells.

    Shuffled labels are drawn as counts: from the hypergeometric distribution, value by value.
    """
    n = n[np.count_nonzero(n.sum(axis=1), axis=1) > 1]
    if not len(n):
        return math.nan
    values = n.sum(axis=2)
    yes = np.tile(n[:, :, 1].sum(axis=1), (n_shuffles, 1))
    left = np.tile(values.sum(axis=1), (n_shuffles, 1))
    information = np.zeros(n_shuffles)
    for v in range(values.shape[1]):
        drawn = rng.hypergeometric(yes, left - yes, np.broadcast_to(values[:, v], left.shape))
        information += _n_log_n(drawn).sum(axis=1) + _n_log_n(values[:, v] - drawn).sum(axis=1)
        yes, left = yes - drawn, left - values[:, v]
    observed = float(_n_log_n(n).sum())
    return (1 + int(np.count_nonzero(information >= observed - 1e-9))) / (1 + n_shuffles)


def _n_log_n(n: Any) -> Any:
    return n * np.log(np.maximum(n, 1))
