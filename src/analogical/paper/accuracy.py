"""Table 3: accuracy of a logistic regression on the four features that a method ranks first."""

import warnings
from collections.abc import Sequence
from functools import cache
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray
from sklearn.exceptions import ConvergenceWarning
from sklearn.feature_selection import chi2, mutual_info_classif
from sklearn.linear_model import LogisticRegression
from sklearn.model_selection import StratifiedKFold

from analogical._types import Floats, Positions
from analogical.paper.datasets import Dataset
from analogical.paper.protocol import distance_to_nearest_miss
from analogical.rivals import Labels, Method, one_hot, paper_index

__all__ = ["accuracies", "accuracies_as_published", "best_features"]

FOLDS = 10
K = 4
"""Features that a method may choose."""


class Fold(NamedTuple):
    """Positions of the rows to train on and to test on."""

    train: Positions
    test: Positions


def accuracies(
    dataset: Dataset, rng: np.random.Generator, *, methods: Sequence[Method]
) -> dict[tuple[str, str], float]:
    """Accuracy in percent by (encoding, method), averaged over ten folds; the method "all" has all features.

    Features are chosen on the training fold only. A feature that scores 0 or has no evidence is never chosen; if none
    is chosen, the most frequent class is predicted. The paper's regression was given integer codes ("ordinal");
    categories need indicator columns ("one-hot").
    """
    folds = _folds(dataset, rng)
    every = np.arange(dataset.codes.shape[1])
    chosen: dict[str, list[Positions]] = {"all": [every] * FOLDS, **{method.name: [] for method in methods}}
    for train, _ in folds:
        for method in methods:
            scores = method(dataset.codes[train], dataset.labels[train], rng)
            chosen[method.name].append(best_features(scores))
    indicators, owners = one_hot(dataset.codes)

    @cache  # methods often choose the same features
    def accuracy(encoding: str, fold: int, kept: tuple[int, ...]) -> float:
        columns = dataset.codes[:, kept] if encoding == "ordinal" else indicators[:, np.isin(owners, kept)]
        return _accuracy(columns, columns, dataset.labels, folds[fold])

    return {
        (encoding, name): 100
        * float(np.mean([accuracy(encoding, fold, tuple(kept.tolist())) for fold, kept in enumerate(features)]))
        for encoding in ("ordinal", "one-hot")
        for name, features in chosen.items()
    }


def best_features(scores: Floats, k: int = K) -> Positions:
    """Positions of the k best positive scores, in column order; ties go to the earlier column.

    Examples
    --------
    >>> best_features(np.array([0.5, 0.0, np.nan, 0.5, 0.1]), k=2).tolist()
    [0, 3]
    """
    positive = np.nan_to_num(scores, nan=0.0)
    order = np.argsort(-positive, kind="stable")[:k]
    return np.sort(order[positive[order] > 0])


def accuracies_as_published(
    dataset: Dataset, rng: np.random.Generator, methods: Sequence[str] = ("all", "ari", "chi2", "mi", "relief")
) -> dict[tuple[str, str], float]:
    """Accuracy in percent as in the authors' notebook, on integer codes, by ("ordinal", method).

    The four features that ARI ranks first (a 2 before all others) are *deleted* and the rest is kept. chi2 and MI keep
    their best four. Relief keeps the best four of the training fold for training and the best four of the test fold,
    labels included, for testing. The baseline, "all", has its own folds.
    """
    X, y = dataset.codes.astype(np.float64), dataset.labels
    shared = _folds(dataset, rng)
    percent = {}
    for method in methods:
        accuracies = []
        for fold in _folds(dataset, rng) if method == "all" else shared:
            kept = _columns_as_published(method, X[fold.train], y[fold.train], rng)
            tested = _columns_as_published(method, X[fold.test], y[fold.test], rng) if method == "relief" else kept
            accuracies.append(_accuracy(X[:, kept], X[:, tested], y, fold, max_iter=100))
        percent["ordinal", method] = 100 * float(np.mean(accuracies))
    return percent


def _columns_as_published(method: str, X: Floats, y: Labels, rng: np.random.Generator) -> Positions:
    """Columns that the authors' notebook keeps."""
    match method:
        case "all":
            return np.arange(X.shape[1])
        case "ari":
            return np.sort(np.argsort(paper_index(X, y))[::-1][K:])
        case "relief":
            return np.argsort(distance_to_nearest_miss(X, y, rng))[::-1][:K]
    seed = int(rng.integers(2**31))
    scores = chi2(X, y)[0] if method == "chi2" else mutual_info_classif(X, y, random_state=seed)
    return np.sort(np.argsort(np.nan_to_num(scores, nan=-1), kind="stable")[::-1][:K])


def _folds(dataset: Dataset, rng: np.random.Generator) -> list[Fold]:
    splitter = StratifiedKFold(n_splits=FOLDS, shuffle=True, random_state=int(rng.integers(2**31)))
    with warnings.catch_warnings():  # some classes have fewer rows than folds
        warnings.filterwarnings("ignore", message="The least populated class", category=UserWarning)
        return [Fold(*rows) for rows in splitter.split(dataset.codes, dataset.labels)]


def _accuracy(X: NDArray[Any], X_test: NDArray[Any], y: Labels, fold: Fold, *, max_iter: int = 1000) -> float:
    """Test accuracy of a logistic regression; without columns, of the most frequent class."""
    train, test = fold
    if X.shape[1] == 0:
        return float((y[test] == np.bincount(y[train]).argmax()).mean())
    model = LogisticRegression(max_iter=max_iter)
    with warnings.catch_warnings():  # the published runs stop after 100 steps, converged or not
        warnings.simplefilter("ignore", ConvergenceWarning)
        model.fit(X[train], y[train])
    return float((model.predict(X_test[test]) == y[test]).mean())
