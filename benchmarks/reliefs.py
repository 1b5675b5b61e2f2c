"""The Relief family by matrix products that give scikit-rebate's numbers, for categories and any number of classes.

scikit-rebate itself takes minutes where this takes seconds; the tests compare with it.
"""

from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray
from scipy.spatial.distance import pdist, squareform

__all__ = ["RELIEFS", "Scores", "fast_reliefs", "one_hot", "skrebate_reliefs"]

Scores = dict[str, NDArray[np.float64]]
RELIEFS = ("ReliefF, 10 neighbours", "ReliefF, 100 neighbours", "MultiSURF", "SURF*")


def fast_reliefs(
    codes: NDArray[np.unsignedinteger], labels: NDArray[np.integer], names: Sequence[str] = RELIEFS
) -> Scores:
    """scikit-rebate's ReliefF (10 and 100 neighbours), MultiSURF and SURF*, or some of them; labels from 0."""
    m = len(codes)
    distance = squareform(pdist(codes.astype(float), metric="hamming"))
    other = ~np.eye(m, dtype=bool)
    scores: Scores = {}
    for k in (10, 100):
        name = f"ReliefF, {k} neighbours"
        if name in names:
            near = _nearest(distance, labels, k)
            if k < m // 3:  # beyond, scikit-rebate may count a row as its own hit, which never disagrees
                near &= other
            scores[name] = _disagreement(_relief_weights(near, labels), codes) / m
    if "MultiSURF" in names:
        others = distance[other].reshape(m, m - 1)
        near = (distance < (others.mean(1) - others.std(1) / 2)[:, None]) & other
        scores["MultiSURF"] = _disagreement(_relief_weights(near, labels), codes) / m
    if "SURF*" in names:
        mean = distance.ravel().mean()
        weights = _relief_weights((distance < mean) & other, labels)
        weights -= _relief_weights((distance > mean) & other, labels)
        scores["SURF*"] = _disagreement(weights, codes) / m
    return scores


def skrebate_reliefs(codes: NDArray[np.unsignedinteger], labels: NDArray[np.integer]) -> Scores:
    """The same from scikit-rebate itself."""
    from skrebate import MultiSURF, ReliefF, SURFstar

    models = (ReliefF(n_neighbors=10), ReliefF(n_neighbors=100), MultiSURF(), SURFstar())
    fitted = (model.fit(codes.astype(float), labels).feature_importances_ for model in models)
    return dict(zip(RELIEFS, fitted, strict=True))


def one_hot(codes: NDArray[np.integer]) -> tuple[NDArray[np.float32], NDArray[np.int64]]:
    """One column per value, and the first column of each feature."""
    n_values = codes.max(axis=0).astype(int) + 1
    first = np.concatenate([[0], np.cumsum(n_values)])
    hot = np.zeros((len(codes), first[-1]), np.float32)
    hot[np.arange(len(codes))[:, None], first[:-1] + codes] = 1
    return hot, first[:-1]


def _nearest(distance: NDArray[np.float64], labels: NDArray[np.integer], k: int) -> NDArray[np.bool_]:
    """The k nearest rows of each class, for every row; the row itself is the farthest."""
    key = distance.copy()
    np.fill_diagonal(key, float(2**63 - 1))
    order = np.argsort(key, axis=1)
    ordered = labels[order]
    is_near = np.zeros(distance.shape, bool)
    for label in np.unique(labels):
        is_label = ordered == label
        is_near |= is_label & (is_label.cumsum(1) <= k)
    near = np.empty_like(is_near)
    np.put_along_axis(near, order, is_near, 1)
    return near


def _relief_weights(near: NDArray[np.bool_], labels: NDArray[np.integer]) -> NDArray[np.float64]:
    """+ for a miss and - for a hit; hits sum to 1 in every row, and so do misses with two classes.

    With C classes a miss weighs C - 1 times the share of its class among the near misses, as in scikit-rebate.
    """
    hits = near & (labels[:, None] == labels)
    misses = near & ~hits
    members = (labels[:, None] == np.unique(labels)).astype(np.float64)
    by_class = misses @ members
    n_misses = np.maximum(by_class.sum(1, keepdims=True), 1)
    share = ((by_class / n_misses) @ members.T) * (members.shape[1] - 1)
    return misses * share / n_misses - hits / np.maximum(hits.sum(1, keepdims=True), 1)


def _disagreement(weights: NDArray[np.float64], codes: NDArray[np.unsignedinteger]) -> NDArray[np.float64]:
    """Sum over ordered pairs of rows of their weight, where they differ on the feature."""
    hot, first = one_hot(codes)
    hot64 = hot.astype(float)
    agree = np.add.reduceat(((weights @ hot64) * hot64).sum(0), first)
    return weights.sum() - agree
