"""Rivals and ours: a table in, a score for every feature out, and the features that are called an effect, if it says.

Scores are only compared with each other: higher means more relevant. The rivals run with one thread.
"""

import sys
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
from numpy.typing import NDArray
from scipy.linalg import lstsq
from scipy.stats import chi2, f, false_discovery_control, t

sys.path.append(str(Path(__file__).parents[1]))
from reliefs import fast_reliefs, one_hot

__all__ = ["LEVEL", "METHODS", "SLOW_ROWS", "Answer", "Method"]

Answer = tuple[dict[str, float], set[str] | None]
"""Score by feature, and the features called an effect; None if the method only scores."""
Codes = NDArray[np.int64]
Label = Codes | NDArray[np.float64]
"""Classes from 0, or numbers, which are floats."""

LEVEL = 0.05
"""Of the false discovery rate, for the rivals that have p values."""
SLOW_ROWS = 2000
"""Rows that MultiSURF and Boruta are given at most: MultiSURF compares all rows with each other."""

FEW_VALUES = 20
"""Distinct values up to which analogical takes numbers for classes."""
RARE = 0.01
"""Share of the rows from which on D0CRT is shown a value: with fewer it would need hundreds of columns."""
MIN_CLASS = 10
"""Rows that D0CRT needs of a class: it fits in five folds."""


# ---------------------------------------------------------------- what the rivals see


def is_number(column: pd.Series) -> bool:
    """Whether a column holds numbers."""
    return column.dtype.kind in "if"


def words(column: pd.Series) -> Codes:
    """Every value as a whole number from 0; missing cells are a value of their own."""
    return pd.Categorical(column.astype("object").where(column.notna(), "?")).codes.astype(np.int64)


def as_codes(X: pd.DataFrame) -> Codes:
    """Whole numbers from 0 for methods of categories: numbers in five bins of about as many rows each."""

    def encode(column: pd.Series) -> Codes:
        if column.dtype.kind == "f" or (is_number(column) and column.nunique() > 20):
            column = pd.qcut(column, 5, labels=False, duplicates="drop").fillna(-1)
        return np.unique(column, return_inverse=True)[1] if is_number(column) else words(column)

    return np.column_stack([encode(X[name]) for name in X])


def as_numbers(X: pd.DataFrame) -> NDArray[np.float64]:
    """Numbers for forests: missing ones are the median, other values are numbered."""
    return np.column_stack(
        [X[name].fillna(X[name].median()) if is_number(X[name]) else words(X[name]) for name in X]
    ).astype(np.float64)


def some_rows(n_rows: int) -> NDArray[np.intp]:
    """All rows, or SLOW_ROWS random ones."""
    if n_rows <= SLOW_ROWS:
        return np.arange(n_rows)
    return np.random.default_rng(0).choice(n_rows, SLOW_ROWS, replace=False)


def by_feature(X: pd.DataFrame, scores: Sequence[float] | NDArray[np.float64]) -> dict[str, float]:
    """Scores with the names of the features."""
    return dict(zip(X, map(float, scores), strict=True))


def discoveries(X: pd.DataFrame, p: Sequence[float] | NDArray[np.float64]) -> set[str]:
    """Features whose p, adjusted as by Benjamini and Hochberg, is at most LEVEL."""
    adjusted = false_discovery_control(np.clip(p, 1e-300, 1))
    return {name for name, value in zip(X, adjusted, strict=True) if value <= LEVEL}


# ---------------------------------------------------------------- rivals


def mutual_information(X: pd.DataFrame, y: Codes) -> Answer:
    """Mutual information of each feature with the label."""
    from sklearn.feature_selection import mutual_info_classif

    return by_feature(X, mutual_info_classif(as_codes(X), y, discrete_features=True)), None


def multisurf(X: pd.DataFrame, y: Codes) -> Answer:
    """MultiSURF on categories."""
    rows = some_rows(len(X))
    codes = np.column_stack([np.unique(column, return_inverse=True)[1] for column in as_codes(X)[rows].T])
    return by_feature(X, fast_reliefs(codes.astype(np.uint16), y[rows], ["MultiSURF"])["MultiSURF"]), None


def forest_importance(X: pd.DataFrame, y: Codes) -> Answer:
    """Impurity importance in a random forest."""
    from sklearn.ensemble import RandomForestClassifier

    forest = RandomForestClassifier(200, min_samples_leaf=3, random_state=0, n_jobs=1)
    return by_feature(X, forest.fit(as_numbers(X), y).feature_importances_), None


def boosted_trees(X: pd.DataFrame, y: Label) -> Answer:
    """Boosted trees, and how much the loss on held-out rows rises when a feature is shuffled there.

    What a careful practitioner does. Five folds give five rises per feature; p is that of a one-sided t test.
    """
    from sklearn.ensemble import HistGradientBoostingClassifier, HistGradientBoostingRegressor
    from sklearn.inspection import permutation_importance
    from sklearn.model_selection import KFold, StratifiedKFold

    codes, are_numbers = np.minimum(as_codes(X), 254), y.dtype.kind == "f"  # scikit-learn's limit of values
    model = HistGradientBoostingRegressor if are_numbers else HistGradientBoostingClassifier
    kind = KFold if are_numbers or np.bincount(y).min() < 5 else StratifiedKFold
    scoring = "neg_mean_squared_error" if are_numbers else mean_log_share
    rises = []
    for train, test in kind(5, shuffle=True, random_state=0).split(codes, y):
        trees = model(max_iter=60, categorical_features=list(range(codes.shape[1])), random_state=0)
        trees.fit(codes[train], y[train])
        rises.append(
            permutation_importance(
                trees, codes[test], y[test], n_repeats=2, random_state=0, scoring=scoring
            ).importances.mean(axis=1)
        )
    mean, error = np.mean(rises, axis=0), np.std(rises, axis=0, ddof=1) / np.sqrt(len(rises))
    return by_feature(X, mean), discoveries(X, t.sf(mean / np.maximum(error, 1e-12), len(rises) - 1))


def mean_log_share(model: object, X: Codes, y: Codes) -> float:
    """Mean logarithm of the probability given to the label; labels that the model never saw are left out."""
    classes = model.classes_  # type: ignore[attr-defined]
    known = np.isin(y, classes)
    shares = model.predict_proba(X[known])[np.arange(known.sum()), np.searchsorted(classes, y[known])]  # type: ignore[attr-defined]
    return float(np.log(shares.clip(1e-12)).mean())


def boruta(X: pd.DataFrame, y: Codes) -> Answer:
    """Boruta: features that a forest uses more than the best of the shuffled copies, in 30 rounds."""
    from boruta import BorutaPy
    from sklearn.ensemble import RandomForestClassifier

    rows = some_rows(len(X))
    forest = RandomForestClassifier(n_jobs=1, max_depth=7)
    found = BorutaPy(forest, n_estimators=100, max_iter=30, random_state=0).fit(as_numbers(X)[rows], y[rows])
    return by_feature(X, -found.ranking_), {name for name, is_in in zip(X, found.support_, strict=True) if is_in}


def logistic_regression(X: pd.DataFrame, y: Codes) -> Answer:
    """Likelihood ratio of a logistic regression on indicators, with and without the feature; hardly any penalty."""
    from sklearn.linear_model import LogisticRegression

    indicators, first = one_hot(as_codes(X))
    owner = np.searchsorted(first, np.arange(indicators.shape[1]), side="right") - 1
    is_used = ~np.isin(np.arange(len(owner)), first)  # the first value of every feature is the one compared with
    place = np.unique(y, return_inverse=True)[1]

    def log_likelihood(columns: NDArray[np.bool_]) -> float:
        if not columns.any():
            return float(np.log(np.bincount(place) / len(y))[place].sum())
        hot = indicators[:, columns].astype(np.float64)
        shares = LogisticRegression(C=10, max_iter=300).fit(hot, y).predict_proba(hot)
        return float(np.log(shares[np.arange(len(y)), place].clip(1e-12)).sum())

    full = log_likelihood(is_used)
    p, ratios = [], []
    for feature in range(len(first)):
        degrees = max(int((is_used & (owner == feature)).sum()), 1) * place.max()
        ratio = max(2 * (full - log_likelihood(is_used & (owner != feature))), 0.0)
        p.append(float(chi2.sf(ratio, degrees)))
        ratios.append(ratio / degrees)
    # Many p round to 0: the ratio decides between equal ones.
    return by_feature(X, 1e-6 * np.array(ratios) - np.array(p)), discoveries(X, p)


def conditional_randomization(X: pd.DataFrame, y: Codes) -> Answer:
    """The distilled test of hidimstat: what a column leaves unexplained of itself, beside what the label leaves.

    Numbers are one column each, other values indicators; p of a feature is the smallest of its columns (and classes,
    if there are more than two), times their number.
    """
    from hidimstat import D0CRT
    from sklearn.linear_model import LogisticRegressionCV

    columns, owner = [], []
    for i, name in enumerate(X):
        if is_number(X[name]):
            found = X[[name]].fillna(X[name].median()).to_numpy(np.float64)
        else:
            codes = words(X[name])
            counts = np.bincount(codes)
            is_used = counts >= RARE * len(X)
            is_used[counts.argmax()] = False  # the values compared with
            found = np.eye(len(counts))[codes][:, is_used]
        columns.append(found)
        owner += [i] * found.shape[1]
    table = np.column_stack(columns)
    table = (table - table.mean(axis=0)) / table.std(axis=0)
    counts = np.bincount(y)
    classes = [1] if len(counts) == 2 else np.flatnonzero(np.minimum(counts, len(y) - counts) >= MIN_CLASS)
    tests = []
    for of_class in classes:
        model = LogisticRegressionCV(Cs=10, l1_ratios=(1,), solver="liblinear", random_state=0)
        test = D0CRT(model, screening_threshold=None, random_state=0)
        test.fit_importance(table, (y == of_class).astype(np.int64))
        tests.append((test.pvalues_, np.abs(test.importances_)))
    p, size = np.ones(X.shape[1]), np.zeros(X.shape[1])
    for i in range(X.shape[1]):
        of_feature = np.equal(owner, i)
        if of_feature.any() and tests:
            p[i] = min(1, len(tests) * of_feature.sum() * min(values[of_feature].min() for values, _ in tests))
            size[i] = max(values[of_feature].max() for _, values in tests)
    # Many p round to 0: the statistic decides between equal ones.
    return by_feature(X, 1e-6 * size - p), discoveries(X, p)


def least_squares(X: pd.DataFrame, y: Label) -> Answer:
    """F test of a linear model on indicators, with and without the feature, adjusted as by Holm."""
    indicators, first = one_hot(as_codes(X))
    owner = np.searchsorted(first, np.arange(indicators.shape[1]), side="right") - 1
    hot = np.column_stack([np.ones(len(y)), indicators]).astype(np.float64)
    owner = np.append(-1, owner)

    def unexplained(columns: NDArray[np.bool_]) -> tuple[float, int]:
        found, _, rank, _ = lstsq(hot[:, columns], y, cond=1e-9, lapack_driver="gelsy")
        return float(((y - hot[:, columns] @ found) ** 2).sum()), int(rank)

    rest, rank = unexplained(owner >= -1)
    if rank == len(y):  # as many coefficients as rows: nothing can be tested
        return dict.fromkeys(X, 0.0), set()
    p, ratios = [], []
    for feature in range(len(first)):
        without, fewer = unexplained(owner != feature)
        freedom = max(rank - fewer, 1)
        ratio = max(without - rest, 0.0) / freedom / max(rest / max(len(y) - rank, 1), 1e-300)
        p.append(float(f.sf(ratio, freedom, max(len(y) - rank, 1))))
        ratios.append(ratio)
    order = np.argsort(p, kind="stable")
    adjusted = np.maximum.accumulate(np.array(p)[order] * np.arange(len(p), 0, -1))
    names = np.array(list(X))[order]
    called = {str(name) for name, value in zip(names, adjusted, strict=True) if value <= LEVEL}
    # Many p round to 0: the ratio decides between equal ones.
    return by_feature(X, 1e-9 * np.array(ratios) - np.array(p)), called


# ---------------------------------------------------------------- ours
# Labels that are classes are given as words: whole numbers of more than 20 values would be refused as no classes.


def from_order(X: pd.DataFrame, order: Sequence[str]) -> dict[str, float]:
    """Scores that give this order; the features that are not in it are last, all alike."""
    place = {name: i for i, name in enumerate(order)}
    return {name: -float(place.get(name, len(X.columns))) for name in X}


def as_label(y: Label) -> dict[str, Any]:
    """The label as an argument: classes as words, numbers with few values said to be numbers."""
    if y.dtype.kind != "f":
        return {"y": y.astype(str)}
    return {"y": y} if len(np.unique(y)) > FEW_VALUES else {"y": y, "scale": "number"}


def our_relevance(X: pd.DataFrame, y: Label, **options: Any) -> Answer:
    """analogical.relevance with its defaults."""
    from analogical import relevance

    found = relevance(X, **(as_label(y) | options))
    effects = {name for name, status in zip(found.names, found.status, strict=True) if status == "effect"}
    return from_order(X, [str(name) for name in found.ranking()]), effects


def in_five_classes(X: pd.DataFrame, y: Label) -> Answer:
    """analogical.relevance with a number divided into classes."""
    fifths = np.unique(np.quantile(y, [0.2, 0.4, 0.6, 0.8]))
    return our_relevance(X, np.searchsorted(fifths, y, side="right"))


def our_select(X: pd.DataFrame, y: Label) -> Answer:
    """analogical.select: chosen without k; ordered as chosen with k = 10."""
    from analogical import select

    order = select(X, **as_label(y), k=min(10, X.shape[1])).features
    return from_order(X, order), set(select(X, **as_label(y)).features)


@dataclass(frozen=True)
class Method:
    """A function, what the page says about it, whether it names effects and is ours, and for which labels it is."""

    run: Callable[[pd.DataFrame, Any], Answer]
    about: str
    has_verdicts: bool
    is_ours: bool = False
    for_classes: bool = True
    for_numbers: bool = False


METHODS = {
    "relevance": Method(
        our_relevance,
        "`analogical.relevance(X, y)`; an effect is a feature with the status effect, the order is `ranking()`.",
        True,
        True,
        for_numbers=True,
    ),
    "select": Method(
        our_select,
        "`analogical.select(X, y)`; what it chooses counts as called an effect, the order is that of choosing ten.",
        True,
        True,
        for_numbers=True,
    ),
    "five classes": Method(
        in_five_classes,
        "`analogical.relevance` with the number divided into five classes of about as many rows each.",
        True,
        True,
        for_classes=False,
        for_numbers=True,
    ),
    "boosted trees": Method(
        boosted_trees,
        "scikit-learn's HistGradientBoostingClassifier (60 rounds); how much the log loss on held-out rows rises when a"
        " feature is shuffled, in five folds; effects by a t test over the folds, adjusted as by Benjamini and Hochberg"
        f" at {LEVEL}. For numbers HistGradientBoostingRegressor and the squared error.",
        True,
        for_numbers=True,
    ),
    "least squares": Method(
        least_squares,
        "F tests of a linear model on indicators with and without the feature; effects adjusted as by Holm at"
        f" {LEVEL}. It cannot see interactions.",
        True,
        for_classes=False,
        for_numbers=True,
    ),
    "Boruta": Method(
        boruta,
        "boruta's BorutaPy with forests of 100 trees of depth 7, 30 rounds; its order is the rank, with many ties."
        " It looks for every feature that tells anything about the label:"
        " by its own aim, copies of true ones are not false.",
        True,
    ),
    "logistic regression": Method(
        logistic_regression,
        "the likelihood ratio of a logistic regression on indicators with and without the feature; effects adjusted as"
        f" by Benjamini and Hochberg at {LEVEL}. It cannot see interactions.",
        True,
    ),
    "D0CRT": Method(
        conditional_randomization,
        "hidimstat's distilled conditional randomization test (Liu and others 2022) with logistic lassos and without"
        " screening; numbers as they are, other values as indicators; effects adjusted as by Benjamini and Hochberg"
        f" at {LEVEL}. It is linear: it cannot see interactions, nor numbers that act in both directions.",
        True,
    ),
    "forest importance": Method(
        forest_importance, "impurity importance of 200 trees with three rows per leaf; no verdicts.", False
    ),
    "MultiSURF": Method(multisurf, "scikit-rebate's numbers by matrix products; no verdicts.", False),
    "MI": Method(mutual_information, "mutual information with the label; no verdicts.", False),
}
