"""Relevance methods behind one interface: codes and labels in, one score per feature out.

Each is a thin adapter. NaN means that the method has no evidence for the feature; otherwise a higher score
means more relevant. A new method is one more entry in :data:`METHODS`.
"""

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from functools import partial
from importlib.util import find_spec
from typing import Any, Literal

import numpy as np
from numpy.typing import NDArray

from analogical._types import CodedRows, Floats, Ints, Positions
from analogical.count.pairs import count_pairs
from analogical.errors import InputError, MissingDependencyError
from analogical.estimate.index import score_pairs
from analogical.estimate.radius import relaxed_scores
from analogical.table.integers import dense_codes

__all__ = [
    "LONG",
    "MAX_ROWS",
    "METHODS",
    "Method",
    "choose_methods",
    "greedy_order",
    "normalise",
    "one_hot",
    "paper_index",
    "relaxed_index",
]

Codes = NDArray[Any]
"""Shape (rows, features); whole numbers from 0, compared for equality only."""
Labels = NDArray[Any]
Criterion = Literal["jmi", "cmim"]

MAX_ROWS = 3_000
"""Rows that slow methods are given, unless told otherwise."""
MAX_PICKS = 50
"""Features that JMI and CMIM choose one after the other; the cost is in proportion to it."""
LOOKUP = 4
"""Cells of a feature and the label are counted in a table of at most so many entries for each row; beyond, sorted."""
ROUNDING = float(np.finfo(np.float64).eps)
"""Terms of the mutual information that are smaller than this are the rounding error of 0."""
MAX_CLASSES = 100
"""ReliefF is not run on more classes: it takes minutes on a few thousand rows, in proportion to the classes."""
BLOCK = 1024
"""Rows compared with all others at a time by Relief."""
TREES = 100
"""Trees of the random forest: scikit-learn's default."""
LONG = 5.0
"""Seconds beyond which a method is run only if it is asked for by name."""
TIES = 1e-10
"""Information, in nats, that is equal up to rounding."""


def _no_time(n_rows: int, n_features: int) -> float:  # noqa: ARG001
    return 0.0


def _seconds_of_greedy(n_rows: int, n_features: int) -> float:
    return 1.6e-8 * n_rows * n_features * min(n_features, MAX_PICKS)


def _seconds_of_forest(n_rows: int, n_features: int) -> float:
    return 0.6 + 4e-6 * n_rows * n_features


def _seconds_of_relief(n_rows: int, n_features: int) -> float:
    return 6e-8 * n_rows**2 + 6e-10 * n_rows**2 * n_features


def _seconds_of_relieff(n_rows: int, n_features: int) -> float:
    return 5e-8 * n_rows**2 * n_features


@dataclass(frozen=True)
class Method:
    """A way to score features; ``method(codes, labels, rng)`` gives one score per feature.

    Methods that are not slow also take ``weights``: how many rows each row stands for.

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
    score: Callable[..., Floats]
    is_slow: bool = False
    """Whether large tables have to be sampled: it compares all rows with each other, or grows trees."""
    seconds: Callable[[int, int], float] = _no_time
    """About how long it takes on so many rows and features: measured on one core, a little high. What is left out
    must not depend on how busy a machine is, so nothing is timed."""
    package: str | None = None
    """Module of the optional extra ``compare`` that it needs."""

    def __call__(self, codes: Codes, labels: Labels, rng: np.random.Generator, weights: Ints | None = None) -> Floats:
        """Score every feature."""
        if not self.is_available:
            raise MissingDependencyError(
                f"The method {self.name!r} needs {self.package}, which is not installed."
                ' Install it with: pip install "analogical[compare]"'
            )
        return self.score(codes, labels, rng) if weights is None else self.score(codes, labels, rng, weights)

    @property
    def is_available(self) -> bool:
        """Whether the library that it needs is installed."""
        return self.package is None or find_spec(self.package) is not None


def paper_index(codes: Codes, labels: Labels, weights: Ints | None = None) -> tuple[Floats, Floats]:
    """The paper's index (0, a share, or 2) and the score (NaN without evidence) of every feature.

    Unlike :func:`analogical.relevance` it takes samples with a single class, which the paper averages over.

    Examples
    --------
    >>> ari, score = paper_index(np.array([[0, 7, 0], [0, 7, 1], [1, 7, 2]]), np.array([0, 1, 1]))
    >>> ari.tolist(), score.tolist()
    ([2.0, 0.0, 1.0], [nan, nan, 1.0])
    """
    rows = _coded(codes, labels, weights)
    scores = score_pairs(count_pairs(rows), rows.n_values)
    return scores.ari, scores.score


def relaxed_index(codes: Codes, labels: Labels, weights: Ints | None = None) -> Floats:
    """The relaxed index of every feature, of samples with a single class too; see :func:`analogical.relaxed_index`.

    Examples
    --------
    >>> relaxed_index(np.array([[0, 0], [0, 1], [1, 0], [1, 1]]), np.array([0, 0, 1, 1])).round(2).tolist()
    [0.99, 0.0]
    """
    return relaxed_scores(_coded(codes, labels, weights))


def _coded(codes: Codes, labels: Labels, weights: Ints | None) -> CodedRows:
    """Codes and labels without gaps."""
    whole = (numbers if numbers.dtype.kind in "iu" else numbers.astype(np.int64) for numbers in (codes, labels))
    (dense, values), (classes, (known,)) = (dense_codes(numbers.reshape(len(codes), -1)) for numbers in whole)
    n_values = np.array([len(column) for column in values], dtype=np.int64)
    return CodedRows(dense, classes[:, 0], n_values, len(known), weights)


def _ari(codes: Codes, labels: Labels, rng: np.random.Generator, weights: Ints | None = None) -> Floats:  # noqa: ARG001
    return paper_index(codes, labels, weights)[1]


def _relaxed(codes: Codes, labels: Labels, rng: np.random.Generator, weights: Ints | None = None) -> Floats:  # noqa: ARG001
    return relaxed_index(codes, labels, weights)


@dataclass(frozen=True)
class _Crossed:
    """A feature crossed with the label: the cells that hold rows. One entry per cell."""

    sizes: Floats
    values: Ints
    labels: Ints
    value_sizes: Floats
    """Rows with the value of the cell."""
    label_sizes: Floats
    """Rows with the label of the cell."""

    @classmethod
    def of_table(cls, codes: Codes, labels: Labels, weights: Ints | None) -> "Iterator[_Crossed]":
        """Every feature crossed with the label."""
        rows = _coded(codes, labels, weights)
        return (cls.of_column(column, rows) for column in rows.codes.T)

    @classmethod
    def of_column(cls, column: Codes, rows: CodedRows) -> "_Crossed":
        """A column of codes, of these rows, crossed with their label."""
        keys = column.astype(np.int64) * rows.n_labels + rows.labels
        if int(keys.max()) < LOOKUP * len(keys):
            counts = np.bincount(keys, rows.weights)
            known = np.flatnonzero(counts)
            sizes = counts[known].astype(np.float64)
        else:
            known, cell = np.unique(keys, return_inverse=True)
            sizes = np.bincount(cell, rows.weights).astype(np.float64)
        values, classes = np.divmod(known, rows.n_labels)
        value_sizes, label_sizes = np.bincount(values, sizes)[values], np.bincount(classes, sizes)[classes]
        return cls(sizes, values, classes, value_sizes.astype(np.float64), label_sizes.astype(np.float64))

    @property
    def information(self) -> float:
        """Sum of p(value, label) log(p(value, label) / (p(value) p(label))), in nats."""
        n = self.sizes.sum()
        terms = self.sizes / n * np.log(self.sizes / self.value_sizes * (n / self.label_sizes))
        return max(float(terms[np.abs(terms) > ROUNDING].sum()), 0.0)


def _chi2(codes: Codes, labels: Labels, rng: np.random.Generator, weights: Ints | None = None) -> Floats:  # noqa: ARG001
    """Pearson's statistic of the table values x classes; NaN with a single class."""
    return np.array([_pearson(crossed) for crossed in _Crossed.of_table(codes, labels, weights)])


def _pearson(cells: _Crossed) -> float:
    """Sum of (observed - expected)^2 / expected; in cells without rows that is the expected number."""
    n = float(cells.sizes.sum())
    if not cells.labels.any():
        return np.nan
    expected = cells.value_sizes * cells.label_sizes / n
    rows_of_value, rows_with_its_labels = (
        np.bincount(cells.values, sizes) for sizes in (cells.sizes, cells.label_sizes)
    )
    without_rows = rows_of_value * (n - rows_with_its_labels) / n
    return float(((cells.sizes - expected) ** 2 / expected).sum() + without_rows.sum())


def _mutual_information(
    codes: Codes,
    labels: Labels,
    rng: np.random.Generator,  # noqa: ARG001
    weights: Ints | None = None,
) -> Floats:
    return np.array([crossed.information for crossed in _Crossed.of_table(codes, labels, weights)])


def _in_greedy_order(
    codes: Codes,
    labels: Labels,
    rng: np.random.Generator,  # noqa: ARG001
    weights: Ints | None = None,
    *,
    criterion: Criterion,
) -> Floats:
    """The place of every feature from the end: n for the feature chosen first, 1 for the last of n.

    The criterion itself depends on what was chosen before, so its values do not rank the features.
    """
    order = _Greedy(_coded(codes, labels, weights), criterion).order(MAX_PICKS)
    scores = np.empty(len(order), np.float64)
    scores[order] = np.arange(len(order), 0, -1)
    return scores


def greedy_order(
    codes: Codes, labels: Labels, k: int, criterion: Criterion, weights: Ints | None = None
) -> tuple[int, ...]:
    """The first k features that JMI or CMIM choose, in the order chosen; ties go to the earlier column.

    The first one has the most information on the label, I(f; y). Each further one has the largest sum over the
    chosen features s of I(f, s; y) (JMI), or the largest minimum over them of I(f; y | s) (CMIM). Costs O(k n m).

    Examples
    --------
    The label is 2a + b; the second column, a copy of a, adds nothing to a:

    >>> codes = np.array([(a, a, b) for a in (0, 1, 2) for b in (0, 1)])
    >>> greedy_order(codes, 2 * codes[:, 0] + codes[:, 2], 2, "cmim")
    (0, 2)
    """
    return tuple(_Greedy(_coded(codes, labels, weights), criterion).order(k)[:k].tolist())


@dataclass(frozen=True)
class _Greedy:
    """Features chosen one after the other.

    I(f, s; y) = I(f; y | s) + I(s; y), and the last term is the same for all f. So JMI adds up I(f; y | s) where CMIM
    takes its minimum (Brown et al., 2012).
    """

    rows: CodedRows
    criterion: Criterion

    def order(self, k: int) -> Positions:
        """All features: the first k as they are chosen, the others by the criterion after that."""
        alone = np.array([_Crossed.of_column(column, self.rows).information for column in self.rows.codes.T])
        value, chosen = alone, []
        is_left = np.ones(self.rows.n_features, np.bool_)
        for place in range(min(k, self.rows.n_features)):
            candidates = np.flatnonzero(is_left)
            pick = int(candidates[np.argmax(value[candidates] >= value[candidates].max() - TIES)])
            chosen.append(pick)
            is_left[pick] = False
            if place + 1 < k:
                given = self._given(pick, is_left) - alone[pick]
                value = given if place == 0 else value + given if self.criterion == "jmi" else np.minimum(value, given)
        rest = np.flatnonzero(is_left)
        return np.append(chosen, rest[np.argsort(-np.round(value[rest], 10), kind="stable")]).astype(np.intp)

    def _given(self, pick: int, is_left: NDArray[np.bool_]) -> Floats:
        """Information of each feature together with the pick; of those left only."""
        codes, n_values = self.rows.codes, self.rows.n_values
        picked = codes[:, pick].astype(np.int64)
        found = np.full(self.rows.n_features, -np.inf)
        for f in np.flatnonzero(is_left):
            pairs = picked * n_values[f] + codes[:, f]
            if n_values[pick] * n_values[f] > LOOKUP * len(codes):
                pairs = np.unique(pairs, return_inverse=True)[1]
            found[f] = _Crossed.of_column(pairs, self.rows).information
        return found


def _forest(codes: Codes, labels: Labels, rng: np.random.Generator) -> Floats:
    """Impurity importance in scikit-learn's random forest on indicator columns, summed over those of a feature."""
    from sklearn.ensemble import RandomForestClassifier

    indicators, owner = one_hot(codes)
    model = RandomForestClassifier(TREES, random_state=int(rng.integers(2**31)), n_jobs=1).fit(indicators, labels)
    return np.bincount(owner, weights=model.feature_importances_, minlength=codes.shape[1]).astype(np.float64)


def _relieff(codes: Codes, labels: Labels, rng: np.random.Generator) -> Floats:  # noqa: ARG001
    """ReliefF with 10 neighbours, every feature and the label treated as categories, by scikit-rebate.

    NaN with very many classes, most of which hold too few rows to have neighbours.
    """
    from skrebate import ReliefF

    sizes = np.bincount(labels)
    if np.count_nonzero(sizes) > MAX_CLASSES:
        return np.full(codes.shape[1], np.nan)
    model = ReliefF(
        n_features_to_select=codes.shape[1],
        n_neighbors=max(1, min(10, int(sizes[sizes > 0].min()) - 1)),
        categorical_features=list(range(codes.shape[1])),
        label_type="binary" if (sizes > 0).sum() == 2 else "multiclass",
        n_jobs=1,
    )
    return np.asarray(model.fit(codes.astype(np.float64), labels).feature_importances_, dtype=np.float64)


def _relief(codes: Codes, labels: Labels, rng: np.random.Generator) -> Floats:  # noqa: ARG001
    """Relief of Kira and Rendell (1992): differs from the nearest miss, minus differs from the nearest hit.

    Every row is an anchor, no row is its own neighbour, and where several rows are equally near their mean
    is taken, so that neither a seed nor the order of the rows matters.
    """
    indicators, owner = one_hot(codes, fewest=2)  # a value of one row agrees with nobody
    small = indicators.astype(np.float32)  # whole numbers, so agreements stay exact
    total = np.zeros(indicators.shape[1])
    for start in range(0, len(codes), BLOCK):
        anchors = indicators[start : start + BLOCK]
        agreements = small[start : start + BLOCK] @ small.T
        agreements[np.arange(len(anchors)), np.arange(start, start + len(anchors))] = -1
        same = labels[start : start + BLOCK, None] == labels[None, :]
        for sign, is_candidate in ((1, same), (-1, ~same)):  # agreeing with hits counts for, with misses against
            near = np.where(is_candidate, agreements, -1)
            best = near.max(axis=1, keepdims=True)
            nearest = ((near == best) & (best >= 0)).astype(np.float64)
            nearest /= np.maximum(nearest.sum(axis=1, keepdims=True), 1)
            total += sign * ((nearest @ indicators) * anchors).sum(axis=0)
    return np.bincount(owner, weights=total, minlength=codes.shape[1]) / len(codes)


def one_hot(codes: Codes, fewest: int = 1) -> tuple[NDArray[np.float64], NDArray[np.intp]]:
    """Indicator columns, one per feature and value that at least ``fewest`` rows have, and the feature of each.

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


METHODS: dict[str, Method] = {
    method.name: method
    for method in (
        Method("ari", "ARI", "share of pairs that differ on this feature only whose labels differ", _ari),
        Method(
            "relaxed",
            "ARI relaxed",
            "the index with rows at larger distances compared too, near ones with more weight",
            _relaxed,
        ),
        Method("chi2", "χ²", "Pearson's chi-square of the feature's values and the label", _chi2),
        Method("mi", "MI", "mutual information of the feature and the label", _mutual_information),
        Method(
            "jmi",
            "JMI",
            "joint mutual information with the features chosen before, summed; the score is the place in that order",
            partial(_in_greedy_order, criterion="jmi"),
            seconds=_seconds_of_greedy,
        ),
        Method(
            "cmim",
            "CMIM",
            "smallest mutual information given one of the features chosen before; the score is the place in that order",
            partial(_in_greedy_order, criterion="cmim"),
            seconds=_seconds_of_greedy,
        ),
        Method(
            "forest",
            "Forest",
            "impurity importance in a random forest of 100 trees on indicators (scikit-learn)",
            _forest,
            is_slow=True,
            seconds=_seconds_of_forest,
        ),
        Method(
            "relief",
            "Relief",
            "Kira and Rendell's Relief over all rows, averaged over equally near neighbours",
            _relief,
            is_slow=True,
            seconds=_seconds_of_relief,
        ),
        Method(
            "relieff",
            "ReliefF",
            "ReliefF with 10 neighbours (scikit-rebate)",
            _relieff,
            is_slow=True,
            seconds=_seconds_of_relieff,
            package="skrebate",
        ),
    )
}
"""The methods by name, in the order in which they are shown."""


def choose_methods(names: Sequence[str] | None = None) -> tuple[Method, ...]:
    """The methods of these names; without names, all of them.

    Examples
    --------
    >>> [method.title for method in choose_methods(["mi", "ari"])]
    ['MI', 'ARI']
    """
    if names is None:
        return tuple(METHODS.values())
    unknown = [name for name in names if name not in METHODS]
    if unknown or not names:
        what = f"There is no method {unknown[0]!r}" if unknown else "No method was named"
        raise InputError(f"{what}; choose from {', '.join(METHODS)}.")
    return tuple(METHODS[name] for name in dict.fromkeys(names))


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
