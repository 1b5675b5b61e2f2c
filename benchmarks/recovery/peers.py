"""Scores of the peers, on categories."""

import sys
from pathlib import Path

import numpy as np
from numpy.typing import NDArray
from sklearn.feature_selection import chi2, mutual_info_classif

sys.path.append(str(Path(__file__).parent.parent))
from reliefs import RELIEFS, Scores, fast_reliefs, one_hot, skrebate_reliefs

__all__ = ["PEERS", "all_peers", "skrebate_reliefs"]

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
