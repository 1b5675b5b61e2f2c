"""Table 3's question: how well a logistic regression does with the four features that a method prefers."""

import warnings
from collections.abc import Sequence
from functools import cache
from typing import Any

import numpy as np
from numpy.typing import NDArray
from sklearn.exceptions import ConvergenceWarning
from sklearn.feature_selection import chi2, mutual_info_classif
from sklearn.linear_model import LogisticRegression
from sklearn.model_selection import StratifiedKFold
from sklearn.preprocessing import OneHotEncoder

from analogical.paper.datasets import Dataset
from analogical.paper.protocol import distance_to_nearest_miss
from analogical.rivals import Codes, Labels, Method, paper_index

__all__ = ["accuracies", "accuracies_as_published", "choose_features"]

FOLDS = 10
K = 4
"""Features that a method may choose."""

Folds = list[tuple[NDArray[np.intp], NDArray[np.intp]]]


def accuracies(dataset: Dataset, methods: Sequence[Method], rng: np.random.Generator) -> dict[tuple[str, str], float]:
    """Accuracy in percent by (encoding, method) and with all features, averaged over ten folds.

    Features are chosen on the training fold only; a score of 0 or without evidence is never chosen. With
    nothing chosen, the most frequent class is predicted. Integer codes ("ordinal") are what the paper fed to
    the regression; indicator columns ("one-hot") are what categories need.
    """
    chosen: dict[str, list[NDArray[np.intp]]] = {"all": []}
    folds = _folds(dataset.codes, dataset.labels, rng)
    for train, _ in folds:
        chosen["all"].append(np.arange(dataset.codes.shape[1]))
        for method in methods:
            scores = method(dataset.codes[train], dataset.labels[train], rng)
            chosen.setdefault(method.name, []).append(choose_features(scores))
    encoder = OneHotEncoder(sparse_output=False).fit(dataset.codes)
    owner = np.repeat(np.arange(dataset.codes.shape[1]), [len(values) for values in encoder.categories_])
    columns = {"ordinal": dataset.codes, "one-hot": encoder.transform(dataset.codes)}
    owners = {"ordinal": np.arange(dataset.codes.shape[1]), "one-hot": owner}

    @cache  # methods often choose the same features
    def fold_accuracy(encoding: str, fold: int, kept: tuple[int, ...]) -> float:
        chosen_columns = columns[encoding][:, np.isin(owners[encoding], kept)]
        return _accuracy(chosen_columns, dataset.labels, *folds[fold])

    return {
        (encoding, name): 100
        * float(np.mean([fold_accuracy(encoding, fold, tuple(kept.tolist())) for fold, kept in enumerate(features)]))
        for encoding in columns
        for name, features in chosen.items()
    }


def choose_features(scores: NDArray[np.float64], k: int = K) -> NDArray[np.intp]:
    """Positions of the k best positive scores, in column order; ties go to the earlier column.

    Examples
    --------
    >>> choose_features(np.array([0.5, 0.0, np.nan, 0.5, 0.1]), k=2).tolist()
    [0, 3]
    """
    positive = np.nan_to_num(scores, nan=0.0)
    order = np.argsort(-positive, kind="stable")[:k]
    return np.sort(order[positive[order] > 0])


def accuracies_as_published(
    dataset: Dataset, rng: np.random.Generator, methods: Sequence[str] = ("all", "ari", "chi2", "mi", "relief")
) -> dict[str, float]:
    """Accuracy in percent as the authors ran it, on integer codes.

    The four features that ARI ranks first (a 2 before all others) are *deleted* and the rest is kept;
    chi2 and MI keep their best four; Relief keeps the best four of the training fold for training and the
    best four of the test fold, labels included, for testing. The baseline, "all", has folds of its own.
    """
    X = dataset.codes.astype(np.float64)
    y = dataset.labels
    shared = _folds(X, y, rng)
    found = {}
    for method in methods:
        accuracies = []
        for train, test in _folds(X, y, rng) if method == "all" else shared:
            kept, kept_in_test = _columns_as_published(method, X, y, train, test, rng)
            accuracies.append(_accuracy(X[:, kept], y, train, test, max_iter=100, X_test=X[:, kept_in_test]))
        found[method] = 100 * float(np.mean(accuracies))
    return found


def _columns_as_published(
    method: str,
    X: NDArray[np.float64],
    y: Labels,
    train: NDArray[np.intp],
    test: NDArray[np.intp],
    rng: np.random.Generator,
) -> tuple[NDArray[np.intp], NDArray[np.intp]]:
    """Columns that the authors' notebook trains on, and those that it tests on."""
    if method == "all":
        kept = np.arange(X.shape[1])
    elif method == "ari":
        kept = np.sort(np.argsort(paper_index(X[train], y[train])[0])[::-1][K:])
    elif method == "relief":
        by_train, by_test = (
            np.argsort(distance_to_nearest_miss(X[rows], y[rows], rng))[::-1][:K] for rows in (train, test)
        )
        return by_train, by_test
    else:
        noise = int(rng.integers(2**31))
        scores = (
            chi2(X[train], y[train])[0]
            if method == "chi2"
            else mutual_info_classif(X[train], y[train], random_state=noise)
        )
        kept = np.sort(np.argsort(np.nan_to_num(scores, nan=-1), kind="stable")[::-1][:K])
    return kept, kept


def _folds(codes: Codes, labels: Labels, rng: np.random.Generator) -> Folds:
    splitter = StratifiedKFold(n_splits=FOLDS, shuffle=True, random_state=int(rng.integers(2**31)))
    with warnings.catch_warnings():  # classes with fewer rows than folds are spread as far as they go
        warnings.filterwarnings("ignore", message="The least populated class", category=UserWarning)
        return list(splitter.split(codes, labels))


def _accuracy(
    X: NDArray[Any],
    y: Labels,
    train: NDArray[np.intp],
    test: NDArray[np.intp],
    *,
    max_iter: int = 1000,
    X_test: NDArray[Any] | None = None,
) -> float:
    """Accuracy on the test rows of a logistic regression; without columns, of the most frequent class."""
    if X.shape[1] == 0:
        return float((y[test] == np.bincount(y[train]).argmax()).mean())
    model = LogisticRegression(max_iter=max_iter)
    with warnings.catch_warnings():  # the published runs stop after 100 steps, converged or not
        warnings.simplefilter("ignore", ConvergenceWarning)
        model.fit(X[train], y[train])
    return float((model.predict((X if X_test is None else X_test)[test]) == y[test]).mean())
