"""Other ways to order all pairs of features: MDR, FAST, interaction information, a likelihood-ratio test.

Features are whole numbers from 0 and the label is 0 or 1. Every function returns a score per pair, higher is stronger,
in the order of ``itertools.combinations``; the likelihood-ratio test returns p-values as well.
"""

import importlib.util
from itertools import combinations

import numpy as np
from scipy.special import chdtrc, expit

__all__ = ["FAST", "fast", "interaction_information", "likelihood_ratio", "mdr"]

FAST = importlib.util.find_spec("interpret") is not None
"""Whether interpret-core is installed."""


def _tables(X, y, weights=None):
    """Rows by pair, value, value and label, shape (pairs, K, K, 2)."""
    k = int(X.max()) + 1
    pairs = list(combinations(range(X.shape[1]), 2))
    found = np.empty((len(pairs), k, k, 2))
    for place, (i, j) in enumerate(pairs):
        keys = (X[:, i] * k + X[:, j]) * 2 + y
        found[place] = np.bincount(keys, weights, minlength=2 * k * k).reshape(k, k, 2)
    return found


def mdr(X, y, *, n_folds=10, seed=0):
    """Multifactor dimensionality reduction: balanced accuracy of "more cases than overall", cross-validated."""
    fold = np.random.default_rng(seed).permutation(len(y)) % n_folds
    whole = _tables(X, y)
    total = np.zeros(len(whole))
    for k in range(n_folds):
        held = _tables(X[fold == k], y[fold == k]) if (fold == k).any() else None
        if held.shape != whole.shape:  # a value does not occur among the rows held out
            held = _tables(np.vstack([X[fold == k], np.full((1, X.shape[1]), X.max())]), np.append(y[fold == k], 0))
            held[:, -1, -1, 0] -= 1
        trained = whole - held
        ratio = trained[..., 1].sum((1, 2)) / trained[..., 0].sum((1, 2))
        high = trained[..., 1] > ratio[:, None, None] * trained[..., 0]
        cases, controls = held[..., 1].sum((1, 2)), held[..., 0].sum((1, 2))
        total += (held[..., 1] * high).sum((1, 2)) / np.maximum(cases, 1)
        total += (held[..., 0] * ~high).sum((1, 2)) / np.maximum(controls, 1)
    return total / (2 * n_folds)


def interaction_information(X, y):
    """I(i, j; y) - I(i; y) - I(j; y) in nats."""
    tables = _tables(X, y)
    tables = tables / tables[0].sum()

    def entropy(p, axes):
        return -(p * np.log(np.where(p > 0, p, 1))).sum(axis=axes)

    def with_label(p, axes):
        return entropy(p.sum(-1), axes) + entropy(p.sum(axis=axes), (1,)) - entropy(p, (*axes, max(axes) + 1))

    return with_label(tables, (1, 2)) - with_label(tables.sum(2), (1,)) - with_label(tables.sum(1), (1,))


def likelihood_ratio(X, y, *, n_steps=12):
    """Logistic models with categorical main effects, with and without interaction: statistic as a p-value.

    The saturated model is fitted in closed form, the additive one by iteratively reweighted least squares, all pairs at
    once. Degrees of freedom: cells with rows less parameters of the additive model.
    """
    tables = _tables(X, y)
    n_pairs, k = len(tables), tables.shape[1]
    u, v = np.divmod(np.arange(k * k), k)
    design = np.zeros((k * k, 2 * k - 1))
    design[:, 0] = 1
    for value in range(1, k):
        design[u == value, value] = 1
        design[v == value, k - 1 + value] = 1
    cells = tables.reshape(n_pairs, k * k, 2)
    n, cases = cells.sum(2), cells[..., 1]
    beta = np.zeros((n_pairs, design.shape[1]))
    beta[:, 0] = np.log((cases.sum(1) + 0.5) / (n.sum(1) - cases.sum(1) + 0.5))
    for _ in range(n_steps):
        p = np.clip(expit(beta @ design.T), 1e-6, 1 - 1e-6)
        weight = n * p * (1 - p)
        hessian = np.einsum("ca,pc,cb->pab", design, weight, design) + 1e-6 * np.eye(design.shape[1])
        beta += np.linalg.solve(hessian, ((cases - n * p) @ design)[..., None])[..., 0]
    p = np.clip(expit(beta @ design.T), 1e-12, 1 - 1e-12)
    full = np.where(n > 0, cases / np.maximum(n, 1), 0.5)

    def likelihood(shares):
        shares = np.clip(shares, 1e-12, 1 - 1e-12)
        return (cases * np.log(shares) + (n - cases) * np.log(1 - shares)).sum(1)

    statistic = 2 * (likelihood(full) - likelihood(p))
    rows, columns = (tables.sum(axis) > 0 for axis in ((2, 3), (1, 3)))
    freedom = (n > 0).sum(1) - rows.sum(1) - columns.sum(1) + 1
    p_values = np.where(freedom > 0, chdtrc(np.maximum(freedom, 1), np.maximum(statistic, 0)), 1.0)
    return -p_values, p_values


def fast(X, y):
    """The interaction ranking of explainable boosting machines, on the residuals of an additive logistic model."""
    from interpret.utils import measure_interactions
    from sklearn.linear_model import LogisticRegression
    from sklearn.preprocessing import OneHotEncoder

    design = OneHotEncoder(drop="first").fit_transform(X)
    scores = LogisticRegression(C=1.0, max_iter=200).fit(design, y).decision_function(design)
    found = dict(
        measure_interactions(
            X.astype(float), y, init_score=scores, feature_types=["continuous"] * X.shape[1], objective="log_loss"
        )
    )
    return np.array([found.get(pair, found.get(pair[::-1], 0.0)) for pair in combinations(range(X.shape[1]), 2)])
