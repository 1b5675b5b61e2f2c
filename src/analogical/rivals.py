"""Relevance methods behind one interface: codes and labels in, one score per feature out.

NaN means that the method has no evidence for the feature; otherwise a higher score means more relevant. A new method
is one more function here, marked by :func:`_method`.
"""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from importlib.util import find_spec
from typing import Any

import numpy as np
from numpy.typing import NDArray

from analogical._types import Floats, Ints, Positions
from analogical.columns.columns import dense_codes
from analogical.count.groups import CodedRows, count_keys
from analogical.count.pairs import count_pairs
from analogical.errors import InputError, MissingDependencyError
from analogical.estimate.status import ari_of, score_pairs

__all__ = [
    "MAX_ROWS",
    "METHODS",
    "METHODS_OF_NUMBERS",
    "Method",
    "choose_methods",
    "normalise",
    "one_hot",
    "paper_index",
]

Codes = NDArray[Any]
"""Shape (rows, features); whole numbers from 0, compared for equality only."""
Labels = NDArray[Any]
Score = Callable[[CodedRows, Floats | None, np.random.Generator], Floats]
"""One score per feature, from coded rows, their labels if these are numbers, and a generator."""

MAX_ROWS = 3_000
"""Rows that slow methods are given by default."""


@dataclass(frozen=True)
class Method:
    """A way to score features; ``method(codes, labels, rng)`` gives one score per feature.

    ``labels`` are codes of classes, or the numbers themselves for a method of ``METHODS_OF_NUMBERS``. ``weights`` are
    how many rows each row stands for; slow methods ignore them.

    Examples
    --------
    >>> from analogical.rivals import METHODS
    >>> mi = METHODS["mi"]
    >>> mi.title, mi.is_slow, mi.is_available
    ('MI', False, True)
    >>> mi(np.array([[0, 1], [1, 1]]), np.array([0, 1]), np.random.default_rng(0)).round(3).tolist()
    [0.693, 0.0]
    """

    name: str
    title: str
    about: str
    score: Score | None
    """One score per feature; None if the method needs the table itself, as ours does to bin numbers again."""
    costs: tuple[float, float, float] = (0.0, 0.0, 0.0)
    """Seconds of one core per feature, per row and feature, and per pair of rows and feature, a little high; 0 for a
    fast method. Nothing is timed, so that the methods left out do not depend on the load of the machine."""
    package: str | None = None
    """Module of the optional extra ``compare`` that the method needs."""

    def __call__(self, codes: Codes, labels: Labels, rng: np.random.Generator, weights: Ints | None = None) -> Floats:
        """Score every feature."""
        if not self.is_available:
            raise MissingDependencyError(
                f"The method {self.name!r} needs {self.package}, which is not installed."
                ' Install it with: pip install "analogical[compare]"'
            )
        if self.score is None:
            raise InputError(f"The method {self.name!r} needs the table, not its codes; use analogical.compare.")
        numbers = None
        if METHODS_OF_NUMBERS.get(self.name) is self:
            numbers, labels = np.asarray(labels, np.float64), np.zeros(len(codes), np.int64)
        return self.score(_coded(codes, labels, weights), numbers, rng)

    @property
    def is_available(self) -> bool:
        """Whether the library that the method needs is installed."""
        return self.package is None or find_spec(self.package) is not None

    @property
    def is_slow(self) -> bool:
        """Whether large tables have to be sampled."""
        return any(self.costs)

    def seconds(self, n_rows: int, n_features: int) -> float:
        """About how long the method takes."""
        each, per_row, per_pair = self.costs
        return n_features * (each + per_row * n_rows + per_pair * n_rows**2)


def paper_index(codes: Codes, labels: Labels) -> Floats:
    """The paper's index of every feature: 0, a share, or 2.

    Unlike :func:`analogical.relevance` it accepts samples with a single class, which the paper's averages include.

    Examples
    --------
    >>> paper_index(np.array([[0, 7, 0], [0, 7, 1], [1, 7, 2]]), np.array([0, 1, 1])).tolist()
    [2.0, 0.0, 1.0]
    """
    rows = _coded(codes, labels)
    return ari_of(count_pairs(rows), rows.n_values)


def _coded(codes: Codes, labels: Labels, weights: Ints | None = None) -> CodedRows:
    """Coded rows, with codes and labels renumbered without gaps."""
    whole = (numbers if numbers.dtype.kind in "iu" else numbers.astype(np.int64) for numbers in (codes, labels))
    (dense, values), (classes, (known,)) = (dense_codes(numbers.reshape(len(codes), -1)) for numbers in whole)
    n_values = np.array([len(column) for column in values], dtype=np.int64)
    return CodedRows(dense, classes[:, 0], n_values, len(known), weights)


# ---------------------------------------------------------------- the methods

METHODS = {
    "effect": Method(
        "effect",
        "Effect",
        "size of the effect given the deciding set, ranked as score does: effects by size, then unclear ones by p",
        score=None,
    )
}
"""The methods by name, in the order in which they are shown."""
METHODS_OF_NUMBERS = dict(METHODS)
"""The same for labels that are numbers."""


def _method(
    name: str, title: str, about: str, among: dict[str, Method] = METHODS, **options: Any
) -> Callable[[Score], Score]:
    """Make a method of the function that scores the features."""

    def add(score: Score) -> Score:
        among[name] = Method(name, title, about, score, **options)
        return score

    return add


@_method("ari", "ARI", "share of pairs that differ on this feature only whose labels differ")
def _ari(rows: CodedRows, _: Any, __: np.random.Generator) -> Floats:
    return score_pairs(count_pairs(rows))


@_method("chi2", "χ²", "Pearson's chi-square of the feature's values and the label")
def _chi_square(rows: CodedRows, _: Any, __: np.random.Generator) -> Floats:
    """NaN with a single class. Textbook: scipy.stats.chi2_contingency."""
    scores = np.full(rows.n_features, np.nan)
    for feature in range(rows.n_features):
        sizes, value, of_value, of_label = _cells(rows, feature)
        n = float(sizes.sum())
        if (of_label < n).any():
            expected = of_value * of_label / n
            # a combination that does not occur contributes its expected count
            rows_of_value, rows_with_its_labels = (np.bincount(value, of) for of in (sizes, of_label))
            empty = rows_of_value * (n - rows_with_its_labels) / n
            scores[feature] = ((sizes - expected) ** 2 / expected).sum() + empty.sum()
    return scores


@_method("f", "F", "F of the label by the feature's values (analysis of variance)", METHODS_OF_NUMBERS)
def _f_of_values(rows: CodedRows, numbers: Any, _: np.random.Generator) -> Floats:
    """0 for a constant feature or label, NaN if no value has two rows. Textbook: scipy.stats.f_oneway."""
    weights, scores = rows.weights_or_ones().astype(np.float64), np.zeros(rows.n_features)
    left = numbers - np.average(numbers, weights=weights)
    total = float((weights * left**2).sum())
    for feature in range(rows.n_features):
        sizes = rows.value_sizes(feature).astype(np.float64)
        between = float((np.bincount(rows.codes[:, feature], weights * left, len(sizes)) ** 2 / sizes).sum())
        freedom, within = sizes.sum() - len(sizes), max(total - between, 1e-12 * total)
        if freedom <= 0:
            scores[feature] = np.nan
        elif len(sizes) > 1 and total > 0:
            scores[feature] = (between / (len(sizes) - 1)) / (within / freedom)
    return scores


@_method("mi", "MI", "mutual information of the feature and the label")
def _mutual_information(rows: CodedRows, _: Any, __: np.random.Generator) -> Floats:
    """In nats. Textbook: sklearn.metrics.mutual_info_score."""
    scores = np.zeros(rows.n_features)
    for feature in range(rows.n_features):
        sizes, _value, of_value, of_label = _cells(rows, feature)
        terms = sizes / sizes.sum() * np.log(sizes / of_value * (sizes.sum() / of_label))
        # smaller terms are the rounding error of 0, as in scikit-learn
        scores[feature] = max(float(terms[np.abs(terms) > np.finfo(np.float64).eps].sum()), 0.0)
    return scores


@_method(
    "mi",
    "MI",
    "mutual information of the feature's values and the number, from 3 neighbours (scikit-learn)",
    METHODS_OF_NUMBERS,
    costs=(0, 2e-6, 0),
)
def _mutual_information_of_numbers(rows: CodedRows, numbers: Any, rng: np.random.Generator) -> Floats:
    from sklearn.feature_selection import mutual_info_regression

    seed = int(rng.integers(2**31))
    found = mutual_info_regression(rows.codes, numbers, discrete_features=True, random_state=seed, n_jobs=1)
    return np.asarray(found, np.float64)


def _cells(rows: CodedRows, feature: int) -> tuple[Floats, Positions, Floats, Floats]:
    """The combinations of a value and a label that occur: rows, value, rows of the value, rows of the label.

    Possible ones may be too many for a table, and rows have weights; scikit-learn's functions take neither.
    """
    keys = rows.codes[:, feature].astype(np.int64) * rows.n_labels + rows.labels
    occurring, counts = count_keys(keys, int(keys.max()) + 1, rows.weights)
    sizes = counts.astype(np.float64)
    value, label = np.divmod(occurring, rows.n_labels)
    of_value, of_label = (np.bincount(of, sizes).astype(np.float64)[of] for of in (value, label))
    return sizes, value, of_value, of_label


@_method(
    "forest",
    "Forest",
    "impurity importance in a random forest of 100 trees on indicators (scikit-learn)",
    costs=(0, 4e-6, 0),
)
@_method(
    "forest",
    "Forest",
    "variance importance in a random forest of 100 regression trees on indicators (scikit-learn)",
    METHODS_OF_NUMBERS,
    costs=(0, 4e-5, 0),
)
def _forest(rows: CodedRows, numbers: Floats | None, rng: np.random.Generator) -> Floats:
    indicators, owner = one_hot(rows.codes)  # the importance of a feature is the sum of that of its indicators
    labels = rows.labels if numbers is None else numbers
    model = _trees(numbers, int(rng.integers(2**31))).fit(indicators, labels)
    return np.bincount(owner, weights=model.feature_importances_, minlength=rows.n_features).astype(np.float64)


def _trees(numbers: Floats | None, seed: int) -> Any:
    """A random forest for classes, or for labels that are numbers."""
    from sklearn.ensemble import RandomForestClassifier, RandomForestRegressor

    return (RandomForestClassifier if numbers is None else RandomForestRegressor)(random_state=seed, n_jobs=1)


@_method(
    "permutation",
    "Permutation",
    "accuracy that such a forest loses on held-out rows if the feature is permuted (scikit-learn)",
    costs=(0.06, 5e-5, 0),
)
@_method(
    "permutation",
    "Permutation",
    "R² that such a forest loses on held-out rows if the feature is permuted (scikit-learn)",
    METHODS_OF_NUMBERS,
    costs=(0.1, 1e-4, 0),
)
def _permutation(rows: CodedRows, numbers: Floats | None, rng: np.random.Generator) -> Floats:
    """What the same forest, fitted on two thirds of the rows, loses on the others if a feature is permuted."""
    from sklearn.inspection import permutation_importance
    from sklearn.pipeline import make_pipeline
    from sklearn.preprocessing import OneHotEncoder

    labels = rows.labels if numbers is None else numbers
    seed, order = int(rng.integers(2**31)), rng.permutation(len(rows.codes))
    held_out, train = np.split(order, [max(len(order) // 3, 1)])
    if not len(train):
        return np.full(rows.n_features, np.nan)
    model = make_pipeline(OneHotEncoder(handle_unknown="ignore"), _trees(numbers, seed))
    model.fit(rows.codes[train], labels[train])
    found = permutation_importance(model, rows.codes[held_out], labels[held_out], random_state=seed)
    return np.asarray(found.importances_mean, dtype=np.float64)


@_method(
    "relief",
    "Relief",
    "Kira and Rendell's Relief over all rows, averaged over equally near neighbours",
    costs=(0, 0, 1.5e-9),
)
def _relief(rows: CodedRows, _: Any, __: np.random.Generator) -> Floats:
    """Relief (1992): differences to the nearest miss, minus differences to the nearest hit.

    Every row is an anchor, no row is its own neighbour, and equally near rows are averaged, so the result does not
    depend on a seed or on the order of the rows.
    """
    codes, labels = rows.codes, rows.labels
    indicators, owner = one_hot(codes, fewest=2)  # a value of a single row agrees with no other row
    small = indicators.astype(np.float32)  # whole numbers, so agreements stay exact
    total = np.zeros(indicators.shape[1])
    for start in range(0, len(codes), 1024):
        anchors = indicators[start : start + 1024]
        agreements = small[start : start + 1024] @ small.T
        agreements[np.arange(len(anchors)), np.arange(start, start + len(anchors))] = -1
        same = labels[start : start + 1024, None] == labels[None, :]
        for sign, is_candidate in ((1, same), (-1, ~same)):  # agreeing with hits counts for, with misses against
            near = np.where(is_candidate, agreements, -1)
            best = near.max(axis=1, keepdims=True)
            nearest = ((near == best) & (best >= 0)).astype(np.float64)
            nearest /= np.maximum(nearest.sum(axis=1, keepdims=True), 1)
            total += sign * ((nearest @ indicators) * anchors).sum(axis=0)
    return np.bincount(owner, weights=total, minlength=codes.shape[1]) / len(codes)


@_method("relieff", "ReliefF", "ReliefF with 10 neighbours (scikit-rebate)", costs=(0, 0, 5e-8), package="skrebate")
@_method(
    "relieff",
    "RReliefF",
    "ReliefF of a number with 10 neighbours (scikit-rebate)",
    METHODS_OF_NUMBERS,
    costs=(0, 0, 5e-8),
    package="skrebate",
)
def _relieff(rows: CodedRows, numbers: Floats | None, _: np.random.Generator) -> Floats:
    """Every feature is a category, and so is the label if it is no number.

    NaN with more than 100 classes: most have too few rows for neighbours, and it would take minutes.
    """
    from skrebate import ReliefF

    labels, kind, n_others = numbers, "continuous", len(rows.codes) - 1
    if labels is None:
        class_sizes = np.bincount(rows.labels)
        class_sizes = class_sizes[class_sizes > 0]  # a sample of rows may lack some classes
        if len(class_sizes) > 100:
            return np.full(rows.n_features, np.nan)
        kind = "binary" if len(class_sizes) == 2 else "multiclass"
        labels, n_others = rows.labels.astype(np.int64), int(class_sizes.min()) - 1
    model = ReliefF(
        n_features_to_select=rows.n_features,
        n_neighbors=max(1, min(10, n_others)),
        categorical_features=list(range(rows.n_features)),
        label_type=kind,
        n_jobs=1,
    )
    model.fit(rows.codes.astype(np.float64), labels)
    return np.asarray(model.feature_importances_, dtype=np.float64)


def one_hot(codes: Codes, fewest: int = 1) -> tuple[Floats, Positions]:
    """Indicator columns, one per value with at least ``fewest`` rows, and the feature of each.

    Examples
    --------
    >>> indicators, owner = one_hot(np.array([[0, 5], [1, 5]]))
    >>> indicators.tolist(), owner.tolist()
    ([[1.0, 0.0, 1.0], [0.0, 1.0, 1.0]], [0, 0, 1])
    """
    parts = []
    for column in codes.T:
        values, sizes = np.unique(column, return_counts=True)
        parts.append(column[:, None] == values[None, sizes >= fewest])
    owner = np.repeat(np.arange(len(parts)), [part.shape[1] for part in parts])
    return np.concatenate(parts, axis=1).astype(np.float64), owner


def choose_methods(names: Sequence[str] | None = None, methods: Mapping[str, Method] = METHODS) -> tuple[Method, ...]:
    """The methods of these names; without names, all of them.

    Examples
    --------
    >>> [method.title for method in choose_methods(["mi", "ari"])]
    ['MI', 'ARI']
    """
    names = tuple(methods) if names is None else names
    unknown = [name for name in names if name not in methods]
    if unknown or not names:
        kind = "" if methods is METHODS else " for a label that is a number"
        what = f"There is no method {unknown[0]!r}{kind}" if unknown else "No method was named"
        raise InputError(f"{what}; choose from {', '.join(methods)}.")
    return tuple(methods[name] for name in dict.fromkeys(names))


def normalise(scores: Floats) -> Floats:
    """Scores as shares of their sum; a negative score counts as 0, NaN stays NaN.

    Examples
    --------
    >>> normalise(np.array([3.0, -1.0, 1.0, np.nan])).tolist()
    [0.75, 0.0, 0.25, nan]
    """
    positive = np.maximum(scores, 0)
    total = np.nansum(positive)
    return positive / total if total > 0 else positive
