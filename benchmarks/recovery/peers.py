"""Scores of the peers. The Relief family is computed by matrix products that give scikit-rebate's numbers.

scikit-rebate itself would take hours for the whole grid; ``python benchmarks/recovery/run.py --check-peers`` compares
with it on samples of every shape.
"""

import numpy as np
from numpy.typing import NDArray
from scipy.spatial.distance import pdist, squareform
from sklearn.feature_selection import chi2, mutual_info_classif

Scores = dict[str, NDArray[np.float64]]
RELIEFS = ("ReliefF, 10 neighbours", "ReliefF, 100 neighbours", "MultiSURF", "SURF*")
PEERS = (*RELIEFS, "chi2", "mutual information")


def all_peers(codes: NDArray[np.uint8], labels: NDArray[np.int64]) -> Scores:
    """Scores of all peers."""
    return fast_reliefs(codes, labels) | {
        "chi2": one_hot_chi2(codes, labels),
        "mutual information": mutual_info_classif(codes, labels, discrete_features=True),
    }


def one_hot_chi2(codes: NDArray[np.integer], labels: NDArray[np.integer]) -> NDArray[np.float64]:
    """The textbook chi-square of each feature up to a factor: summed over its one-hot columns."""
    hot, first = one_hot(codes)
    return np.add.reduceat(np.nan_to_num(chi2(hot, labels)[0]), first)


def fast_reliefs(codes: NDArray[np.uint8], labels: NDArray[np.int64]) -> Scores:
    """scikit-rebate's ReliefF (10 and 100 neighbours), MultiSURF and SURF* for two classes and categories."""
    m = len(codes)
    distance = squareform(pdist(codes.astype(float), metric="hamming"))
    same = labels[:, None] == labels
    other = ~np.eye(m, dtype=bool)
    key = distance.copy()
    np.fill_diagonal(key, float(2**63 - 1))
    order = np.argsort(key, axis=1)
    same_ordered = np.take_along_axis(same, order, 1)
    rank = np.where(same_ordered, same_ordered.cumsum(1), (~same_ordered).cumsum(1))
    scores: Scores = {}
    for k in (10, 100):
        near = np.zeros((m, m), bool)
        np.put_along_axis(near, order, rank <= k, 1)
        if k < m // 3:  # beyond, scikit-rebate may count a row as its own hit, which never disagrees
            near &= other
        scores[f"ReliefF, {k} neighbours"] = _disagreement(_relief_weights(near, same), codes) / m
    others = distance[other].reshape(m, m - 1)
    near = (distance < (others.mean(1) - others.std(1) / 2)[:, None]) & other
    scores["MultiSURF"] = _disagreement(_relief_weights(near, same), codes) / m
    mean = distance.ravel().mean()
    weights = _relief_weights((distance < mean) & other, same) - _relief_weights((distance > mean) & other, same)
    scores["SURF*"] = _disagreement(weights, codes) / m
    return scores


def skrebate_reliefs(codes: NDArray[np.uint8], labels: NDArray[np.int64]) -> Scores:
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


def _relief_weights(near: NDArray[np.bool_], same: NDArray[np.bool_]) -> NDArray[np.float64]:
    """+ for a miss and - for a hit, each kind summing to 1 in every row."""
    hits, misses = near & same, near & ~same
    return misses / np.maximum(misses.sum(1, keepdims=True), 1) - hits / np.maximum(hits.sum(1, keepdims=True), 1)


def _disagreement(weights: NDArray[np.float64], codes: NDArray[np.uint8]) -> NDArray[np.float64]:
    """Sum over ordered pairs of rows of their weight, where they differ on the feature."""
    hot, first = one_hot(codes)
    hot64 = hot.astype(float)
    agree = np.add.reduceat(((weights @ hot64) * hot64).sum(0), first)
    return weights.sum() - agree
