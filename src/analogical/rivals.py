"""Relevance methods behind one interface: codes and labels in, one score per feature out.

NaN means that the method has no evidence for the feature; otherwise a higher score means more relevant. A new method
is one more entry in :data:`METHODS`.
"""

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from importlib.util import find_spec
from typing import Any, Literal, NamedTuple

import numpy as np
from numpy.typing import NDArray

from analogical._types import Bools, CodedRows, Floats, Ints, Positions
from analogical.columns.columns import dense_codes
from analogical.count.groups import are_few, count_keys
from analogical.count.pairs import count_pairs
from analogical.errors import InputError, MissingDependencyError
from analogical.estimate.index import ari_of, score_pairs
from analogical.estimate.radius import relaxed_scores

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
]

Codes = NDArray[Any]
"""Shape (rows, features); whole numbers from 0, compared for equality only."""
Labels = NDArray[Any]
Criterion = Literal["jmi", "cmim"]

MAX_ROWS = 3_000
"""Rows that slow methods are given by default."""
MAX_PICKS = 50
"""Features that JMI and CMIM choose one after the other; the cost is proportional to it."""
ROUNDING = float(np.finfo(np.float64).eps)
"""Terms of the mutual information below this are the rounding error of 0, as in scikit-learn's mutual_info_score."""
MAX_CLASSES = 100
"""ReliefF is not run on more classes: it would take minutes on a few thousand rows."""
BLOCK = 1024
"""Rows that Relief compares with all others at a time."""
LONG = 5.0
"""Seconds beyond which a method is run only if it is requested by name."""
TIES = 1e-10
"""Differences of information, in nats, that count as ties."""


@dataclass(frozen=True)
class Method:
    """A way to score features; ``method(codes, labels, rng)`` gives one score per feature.

    ``weights`` are how many rows each row stands for; slow methods ignore them.

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
    score: Callable[[CodedRows, np.random.Generator], Floats] | None
    """One score per feature; None if the method needs the table itself, as ours does to bin numbers again."""
    is_slow: bool = False
    """Whether large tables have to be sampled."""
    seconds: Callable[[int, int], float] = lambda _rows, _features: 0.0
    """Estimated time for a number of rows and features, measured on one core, a little high. Nothing is timed, so that
    the methods left out do not depend on the load of the machine."""
    package: str | None = None
    """Module of the optional extra ``compare`` that the method needs."""

    def __call__(self, codes: Codes, labels: Labels, rng: np.random.Generator, weights: Ints | None = None) -> Floats:
        """Score every feature."""
        self.check_installed()
        if self.score is None:
            raise InputError(f"The method {self.name!r} needs the table, not its codes; use analogical.compare.")
        return self.score(_coded(codes, labels, weights), rng)

    def check_installed(self) -> None:
        """Refuse a method whose library is not installed."""
        if not self.is_available:
            raise MissingDependencyError(
                f"The method {self.name!r} needs {self.package}, which is not installed."
                ' Install it with: pip install "analogical[compare]"'
            )

    def __reduce__(self) -> tuple[Callable[[str], "Method"], tuple[str]]:
        """Pickle by name, as functions are."""
        return _method, (self.name,)

    @property
    def is_available(self) -> bool:
        """Whether the library that the method needs is installed."""
        return self.package is None or find_spec(self.package) is not None


# ---------------------------------------------------------------- the paper's index


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


# ---------------------------------------------------------------- chi-square, and information of one or two features


class Cells(NamedTuple):
    """The combinations of a value and a label that occur, with their numbers of rows."""

    rows: Floats
    value: Positions
    rows_of_value: Floats
    rows_of_label: Floats


def _cross(column: Codes, rows: CodedRows) -> Cells:
    """A column of codes crossed with the label, without combinations that do not occur: they may be very many."""
    keys = column.astype(np.int64) * rows.n_labels + rows.labels
    occurring, counts = count_keys(keys, int(keys.max()) + 1, rows.weights)
    sizes = counts.astype(np.float64)
    value, label = np.divmod(occurring, rows.n_labels)
    rows_of_value, rows_of_label = (np.bincount(of, sizes).astype(np.float64)[of] for of in (value, label))
    return Cells(sizes, value, rows_of_value, rows_of_label)


def _each(measure: Callable[[Cells], float], rows: CodedRows) -> Floats:
    """A measure of every feature with the label."""
    return np.array([measure(_cross(column, rows)) for column in rows.codes.T])


def _pearson(cells: Cells) -> float:
    """Pearson's chi-square statistic; NaN with a single class. An empty cell contributes its expected count."""
    n = float(cells.rows.sum())
    if (cells.rows_of_label == n).all():
        return np.nan
    expected = cells.rows_of_value * cells.rows_of_label / n
    rows_of_value, rows_with_its_labels = (
        np.bincount(cells.value, sizes) for sizes in (cells.rows, cells.rows_of_label)
    )
    empty = rows_of_value * (n - rows_with_its_labels) / n
    return float(((cells.rows - expected) ** 2 / expected).sum() + empty.sum())


def _information(cells: Cells) -> float:
    """Mutual information: sum of p(value, label) log(p(value, label) / (p(value) p(label))), in nats."""
    n = cells.rows.sum()
    terms = cells.rows / n * np.log(cells.rows / cells.rows_of_value * (n / cells.rows_of_label))
    return max(float(terms[np.abs(terms) > ROUNDING].sum()), 0.0)


# ---------------------------------------------------------------- features chosen one after the other


def greedy_order(codes: Codes, labels: Labels, k: int, criterion: Criterion) -> tuple[int, ...]:
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
    return tuple(_greedy_order(_coded(codes, labels), k, criterion)[:k].tolist())


def _greedy_order(rows: CodedRows, k: int, criterion: Criterion) -> Positions:
    """All features: the first k in the order chosen, then the others by the criterion.

    I(f, s; y) = I(f; y | s) + I(s; y), and the last term is the same for all f. So JMI adds up I(f; y | s) where CMIM
    takes its minimum (Brown et al., 2012).
    """
    alone = _each(_information, rows)
    value, chosen = alone, []
    is_left = np.ones(rows.n_features, np.bool_)
    for place in range(min(k, rows.n_features)):
        candidates = np.flatnonzero(is_left)
        pick = int(candidates[np.argmax(value[candidates] >= value[candidates].max() - TIES)])
        chosen.append(pick)
        is_left[pick] = False
        if place + 1 < k:
            given = _together_with(pick, is_left, rows) - alone[pick]
            value = given if place == 0 else value + given if criterion == "jmi" else np.minimum(value, given)
    rest = np.flatnonzero(is_left)
    return np.append(chosen, rest[np.argsort(-np.round(value[rest], 10), kind="stable")]).astype(np.intp)


def _together_with(pick: int, is_left: Bools, rows: CodedRows) -> Floats:
    """Joint information of the pick with each feature that is left; -inf for the others."""
    picked = rows.codes[:, pick].astype(np.int64)
    information = np.full(rows.n_features, -np.inf)
    for f in np.flatnonzero(is_left):
        pairs = picked * rows.n_values[f] + rows.codes[:, f]
        if not are_few(int(rows.n_values[pick] * rows.n_values[f]), len(pairs)):
            pairs = np.unique(pairs, return_inverse=True)[1]
        information[f] = _information(_cross(pairs, rows))
    return information


def _places(rows: CodedRows, criterion: Criterion) -> Floats:
    """The rank of every feature from the end: n for the feature chosen first, 1 for the last of n.

    Values of the criterion cannot be compared, because they depend on the features chosen before.
    """
    order = _greedy_order(rows, MAX_PICKS, criterion)
    scores = np.empty(len(order), np.float64)
    scores[order] = np.arange(len(order), 0, -1)
    return scores


# ---------------------------------------------------------------- forests and neighbours


def _forest(rows: CodedRows, rng: np.random.Generator) -> Floats:
    """Impurity importance in scikit-learn's random forest on indicator columns, summed by feature."""
    from sklearn.ensemble import RandomForestClassifier

    indicators, owner = one_hot(rows.codes)
    model = RandomForestClassifier(random_state=int(rng.integers(2**31)), n_jobs=1).fit(indicators, rows.labels)
    return np.bincount(owner, weights=model.feature_importances_, minlength=rows.n_features).astype(np.float64)


def _relieff(rows: CodedRows, _: np.random.Generator) -> Floats:
    """ReliefF with 10 neighbours, every feature and the label treated as categories, by scikit-rebate.

    NaN with very many classes, most of which have too few rows for neighbours.
    """
    from skrebate import ReliefF

    class_sizes = np.bincount(rows.labels)
    class_sizes = class_sizes[class_sizes > 0]  # a sample of rows may lack some classes
    if len(class_sizes) > MAX_CLASSES:
        return np.full(rows.n_features, np.nan)
    model = ReliefF(
        n_features_to_select=rows.n_features,
        n_neighbors=max(1, min(10, int(class_sizes.min()) - 1)),
        categorical_features=list(range(rows.n_features)),
        label_type="binary" if len(class_sizes) == 2 else "multiclass",
        n_jobs=1,
    )
    model.fit(rows.codes.astype(np.float64), rows.labels.astype(np.int64))
    return np.asarray(model.feature_importances_, dtype=np.float64)


def _relief(rows: CodedRows, _: np.random.Generator) -> Floats:
    """Relief of Kira and Rendell (1992): differences to the nearest miss, minus differences to the nearest hit.

    Every row is an anchor, no row is its own neighbour, and equally near rows are averaged, so the result does not
    depend on a seed or on the order of the rows.
    """
    codes, labels = rows.codes, rows.labels
    indicators, owner = one_hot(codes, fewest=2)  # a value of a single row agrees with no other row
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


# ---------------------------------------------------------------- the table of methods


def _greedy_seconds(n_rows: int, n_features: int) -> float:
    return 1.6e-8 * n_rows * n_features * min(n_features, MAX_PICKS)


def _method(name: str) -> Method:
    return METHODS[name]


METHODS = {
    method.name: method
    for method in (
        Method(
            "effect",
            "Effect",
            "size of the effect given the deciding set, ranked as score does: effects by size, then unclear ones by p",
            None,
        ),
        Method(
            "ari",
            "ARI",
            "share of pairs that differ on this feature only whose labels differ",
            lambda rows, _: score_pairs(count_pairs(rows)),
        ),
        Method(
            "relaxed",
            "ARI relaxed",
            "the index with rows at larger distances compared too, near ones with more weight",
            lambda rows, _: relaxed_scores(rows),
        ),
        Method(
            "chi2",
            "χ²",
            "Pearson's chi-square of the feature's values and the label",
            lambda rows, _: _each(_pearson, rows),
        ),
        Method(
            "mi", "MI", "mutual information of the feature and the label", lambda rows, _: _each(_information, rows)
        ),
        Method(
            "jmi",
            "JMI",
            "joint mutual information with the features chosen before, summed; the score is the place in that order",
            lambda rows, _: _places(rows, "jmi"),
            seconds=_greedy_seconds,
        ),
        Method(
            "cmim",
            "CMIM",
            "smallest mutual information given one of the features chosen before; the score is the place in that order",
            lambda rows, _: _places(rows, "cmim"),
            seconds=_greedy_seconds,
        ),
        Method(
            "forest",
            "Forest",
            "impurity importance in a random forest of 100 trees on indicators (scikit-learn)",
            _forest,
            is_slow=True,
            seconds=lambda n_rows, n_features: 0.6 + 4e-6 * n_rows * n_features,
        ),
        Method(
            "relief",
            "Relief",
            "Kira and Rendell's Relief over all rows, averaged over equally near neighbours",
            _relief,
            is_slow=True,
            seconds=lambda n_rows, n_features: 6e-8 * n_rows**2 + 6e-10 * n_rows**2 * n_features,
        ),
        Method(
            "relieff",
            "ReliefF",
            "ReliefF with 10 neighbours (scikit-rebate)",
            _relieff,
            is_slow=True,
            seconds=lambda n_rows, n_features: 5e-8 * n_rows**2 * n_features,
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
