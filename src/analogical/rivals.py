"""Relevance methods behind one interface: codes and labels in, one score per feature out.

Each is a thin adapter. NaN means that the method has no evidence for the feature; otherwise a higher score
means more relevant. A new method is one more entry in :data:`METHODS`.
"""

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from importlib.util import find_spec
from typing import Any

import numpy as np
from numpy.typing import NDArray

from analogical._types import CodedRows, Floats, Ints
from analogical.encoding.integers import dense_codes
from analogical.engines.memory import MemoryEngine
from analogical.errors import InputError, MissingDependencyError
from analogical.scoring.index import score_pairs
from analogical.scoring.score import Scoring
from analogical.scoring.summaries import summarise_contexts

__all__ = ["MAX_ROWS", "METHODS", "Method", "choose_methods", "normalise", "one_hot", "paper_index", "relaxed_index"]

Codes = NDArray[Any]
"""Shape (rows, features); whole numbers from 0, compared for equality only."""
Labels = NDArray[Any]

MAX_ROWS = 3_000
"""Rows that methods which compare all rows with each other are given, unless told otherwise."""
LOOKUP = 4
"""Cells of a feature and the label are counted in a table of at most so many entries for each row; beyond, sorted."""
ROUNDING = float(np.finfo(np.float64).eps)
"""Terms of the mutual information that are smaller than this are the rounding error of 0."""
MAX_CLASSES = 100
"""ReliefF is not run on more classes: it takes minutes on a few thousand rows, in proportion to the classes."""
BLOCK = 1024
"""Rows compared with all others at a time by Relief."""


@dataclass(frozen=True)
class Method:
    """A way to score features; ``method(codes, labels, rng)`` gives one score per feature.

    Methods that are not quadratic also take ``weights``: how many rows each row stands for.
    """

    name: str
    title: str
    about: str
    score: Callable[..., Floats]
    is_quadratic: bool = False
    """Whether it compares every row with every other one, so that large tables have to be sampled."""
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
    """
    rows = _coded(codes, labels, weights)
    scores = score_pairs(MemoryEngine().count_pairs(rows), rows.n_values)
    return scores.ari, scores.score


def relaxed_index(codes: Codes, labels: Labels, weights: Ints | None = None) -> Floats:
    """The score of ``relevance(codes, labels, radius="auto")``, of samples with a single class too."""
    rows, engine = _coded(codes, labels, weights), MemoryEngine()
    scoring = Scoring(engine, "auto", "noisy-or", noise_free=False, seed=0)
    return scoring.score(rows, engine.sum_contexts(rows, summarise_contexts(rows))).score


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
        for column in rows.codes.T:
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
            yield cls(sizes, values, classes, value_sizes.astype(np.float64), label_sizes.astype(np.float64))


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
    """Sum of p(value, label) log(p(value, label) / (p(value) p(label)))."""
    found = []
    for cells in _Crossed.of_table(codes, labels, weights):
        n = cells.sizes.sum()
        terms = cells.sizes / n * np.log(cells.sizes / cells.value_sizes * (n / cells.label_sizes))
        found.append(max(float(terms[np.abs(terms) > ROUNDING].sum()), 0.0))
    return np.array(found)


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
    """Indicator columns, one per feature and value that at least ``fewest`` rows have, and the feature of each."""
    parts = []
    for column in codes.T:
        values, sizes = np.unique(column, return_counts=True)
        parts.append(column[:, None] == values[None, sizes >= fewest])
    owner = np.repeat(np.arange(len(parts)), [part.shape[1] for part in parts])
    return np.concatenate(parts, axis=1).astype(np.float64), owner


METHODS: dict[str, Method] = {
    method.name: method
    for method in (
        Method("ari", "ARI", "share of pairs, equal but for the feature, whose labels differ", _ari),
        Method("relaxed", "ARI relaxed", "ARI, with pairs at larger distances where it has too few", _relaxed),
        Method("chi2", "χ²", "Pearson's chi-square of the feature's values and the label", _chi2),
        Method("mi", "MI", "mutual information of the feature and the label", _mutual_information),
        Method(
            "relief",
            "Relief",
            "Kira and Rendell's Relief, all rows as anchors, equally near neighbours shared",
            _relief,
            is_quadratic=True,
        ),
        Method(
            "relieff",
            "ReliefF",
            "ReliefF with 10 neighbours (scikit-rebate)",
            _relieff,
            is_quadratic=True,
            package="skrebate",
        ),
    )
}
"""The methods by name, in the order in which they are shown."""


def choose_methods(names: Sequence[str] | None = None) -> tuple[Method, ...]:
    """The methods of these names; without names, all of them."""
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
