"""The road from a table to its relevance: encode, count, score."""

from collections.abc import Hashable, Sequence
from dataclasses import asdict, dataclass, fields
from typing import Any, Literal

import numpy as np
from numpy.typing import NDArray

from analogical._counting import collapse_rows, count_pairs
from analogical._encoding import encode_table
from analogical._frames import frame_from_columns
from analogical._scoring import Status, rank_features, score_pairs
from analogical.errors import InputError

__all__ = ["Relevance", "Settings", "ari_score", "relevance"]

Duplicates = Literal["count", "once"]


@dataclass(frozen=True)
class Settings:
    """How a relevance was computed."""

    radius: int
    """On how many features two compared rows may differ; 1 is the paper's index."""
    duplicates: Duplicates
    weighted: bool
    """Whether rows came with frequencies."""


@dataclass(frozen=True, eq=False, repr=False)
class Relevance:
    """Relevance of every feature of a table for its label, in column order.

    Attributes
    ----------
    names : tuple of str
        The features.
    ari : ndarray of float
        The paper's index: the share of pairs whose labels differ; 0 for a constant feature, 2 if the
        feature varies but no two rows differ on it alone.
    score : ndarray of float
        What features are ranked by: ``ari`` where there is evidence, NaN where there is none.
    pairs, changed : ndarray of int
        Pairs of rows that differ on this feature only, and how many of them have different labels.
    n_values : ndarray of int
        Values that the feature takes in the table.
    status : tuple of str
        ``"relevant"`` (some pair changed its label), ``"irrelevant"`` (there are pairs and none did),
        ``"constant"`` (one value) or ``"no-pairs"`` (several values and no pair).
    label : str
        Name of the label.
    classes : tuple
        Its values.
    n_rows, n_distinct : int
        Rows, and rows that differ from each other on some feature.
    n_identical, n_contradictions : int
        Pairs of identical rows, and how many of them have different labels. No feature can explain
        a contradiction: it is noise, or a feature that is not in the table.
    settings : Settings
        How it was computed.

    Notes
    -----
    An index of 0.25 on 8 pairs is two changed labels, and a number on few pairs is an anecdote: read
    ``pairs`` beside ``ari``. On noisy labels every feature changes some labels: compare with the share
    of contradictions among identical rows.
    """

    names: tuple[str, ...]
    ari: NDArray[np.float64]
    score: NDArray[np.float64]
    pairs: NDArray[np.int64]
    changed: NDArray[np.int64]
    n_values: NDArray[np.int64]
    status: tuple[Status, ...]
    label: str
    classes: tuple[Hashable, ...]
    n_rows: int
    n_distinct: int
    n_identical: int
    n_contradictions: int
    settings: Settings
    backend: str | None = None

    def __eq__(self, other: object) -> bool:
        if not isinstance(other, Relevance):
            return NotImplemented
        return all(
            np.array_equal(mine, its, equal_nan=mine.dtype.kind == "f") if isinstance(mine, np.ndarray) else mine == its
            for mine, its in ((getattr(self, f.name), getattr(other, f.name)) for f in fields(self))
        )

    __hash__ = None  # type: ignore[assignment]

    def order(self) -> NDArray[np.intp]:
        """Positions of the features, best first; the order of :meth:`ranking`."""
        return rank_features(self.score, self.pairs, self.n_values)

    def ranking(self) -> list[str]:
        """Names of the features, best first.

        The order is total: by score, then by number of pairs, then by column order. Features without
        evidence come after all others, constant ones last.

        Examples
        --------
        >>> from analogical import relevance
        >>> rows = [(0, 0, 0), (0, 1, 1), (1, 0, 0), (1, 1, 1), (1, 1, 0)]
        >>> relevance(rows, ["a", "b", "b", "a", "b"]).ranking()
        ['x0', 'x2', 'x1']
        """
        return [self.names[i] for i in self.order()]

    def to_frame(self, backend: str | None = None) -> Any:
        """One row per feature, best first, in the dataframe library that the table came in.

        Parameters
        ----------
        backend : {"pandas", "polars", "pyarrow"}, optional
            Another library; pandas if the table was no dataframe.
        """
        rows = [self._feature(i) for i in self.order()]
        columns = {key: [row[key] for row in rows] for key in rows[0]}
        columns["score"] = [float("nan") if score is None else score for score in columns["score"]]
        return frame_from_columns(columns, backend or self.backend or "pandas")

    def to_dict(self) -> dict[str, Any]:
        """Everything in plain Python types, ready for JSON; the features in column order."""
        return {
            "label": self.label,
            "classes": [_plain(value) for value in self.classes],
            "n_rows": self.n_rows,
            "n_distinct": self.n_distinct,
            "n_identical": self.n_identical,
            "n_contradictions": self.n_contradictions,
            "settings": asdict(self.settings),
            "features": [self._feature(i) for i in range(len(self.names))],
        }

    def _feature(self, i: int | np.intp) -> dict[str, Any]:
        """One feature in plain Python types; a score without evidence is None."""
        return {
            "name": self.names[i],
            "ari": float(self.ari[i]),
            "score": None if np.isnan(self.score[i]) else float(self.score[i]),
            "pairs": int(self.pairs[i]),
            "changed": int(self.changed[i]),
            "n_values": int(self.n_values[i]),
            "status": self.status[i],
        }

    def __repr__(self) -> str:
        from analogical._presenting import as_text

        return as_text(self)

    def _repr_html_(self) -> str:
        from analogical._presenting import as_html

        return as_html(self)


def relevance(
    X: Any,
    y: Any,
    *,
    weights: Any = None,
    duplicates: Duplicates = "count",
    feature_names: Sequence[str] | None = None,
    n_jobs: int | None = None,
) -> Relevance:
    """Relevance of every feature for the label: how often it alone changes the label.

    Two rows that differ on one feature only are a natural experiment: if their labels differ, that
    feature mattered. The index of a feature is the share of such pairs whose labels differ.

    Parameters
    ----------
    X : dataframe, 2-d array or list of rows
        A categorical table: pandas, polars or pyarrow; numpy of integers, booleans, strings or objects;
        rows as lists or tuples. Values are compared for equality only, so their coding does not matter.
    y : array-like of shape (rows,) or str
        The label, of any hashable kind and with two or more classes; or the name of a column of ``X``.
    weights : array-like of whole numbers, or str, optional
        How many rows each row stands for, so that a table of counts needs no expanding; or the name of
        a column of ``X``. A row with weight 0 is no row.
    duplicates : {"count", "once"}
        Whether identical rows with the same label count with their multiplicity, or once: the paper's
        formal reading, in which a sample is a set. Identical rows never form a pair.
    feature_names : sequence of str, optional
        Names for the features, instead of the dataframe's or ``x0, x1, ...``.
    n_jobs : int, optional
        Threads, by joblib's conventions: None is one (or what ``joblib.parallel_config`` says), -1 one per processor.
        The result does not depend on it.

    Returns
    -------
    Relevance
        Index, pairs, changed pairs and status of every feature.

    Raises
    ------
    InputError
        If the table or the label cannot be used; the message says what is wrong and how to go on.

    Notes
    -----
    The cost is one grouping of the rows per feature, never a comparison of all pairs. The result is
    exact: whole-number counts, divided once. The index says nothing about a feature without pairs (its
    ``ari`` is 2, its ``score`` NaN): the other features determine it, or there are too few rows.

    Examples
    --------
    The label is the exclusive or of two features; a third one is noise:

    >>> from analogical import relevance
    >>> rows = [(a, b, c) for a in (0, 1) for b in (0, 1) for c in (0, 1)]
    >>> relevance(rows, [a ^ b for a, b, c in rows], feature_names=["a", "b", "c"])
    Relevance of 3 features for 'y' (2 classes), 8 rows
    feature    ARI  pairs  changed  values  status
    a        1.000      4        4       2  relevant
    b        1.000      4        4       2  relevant
    c        0.000      4        0       2  irrelevant
    """
    if duplicates not in ("count", "once"):
        raise InputError(f'duplicates must be "count" or "once", got {duplicates!r}.')
    table = encode_table(X, y, weights=weights, feature_names=feature_names)
    codes, labels, counts = table.codes, table.labels, table.weights
    n_rows = len(codes) if counts is None else int(counts.sum())
    if duplicates == "once":
        firsts = collapse_rows(codes, labels, table.n_values)
        codes, labels, counts = codes[firsts], labels[firsts], None
    counted = count_pairs(codes, labels, table.n_values, len(table.classes), counts, n_jobs=n_jobs)
    scores = score_pairs(counted, table.n_values)
    return Relevance(
        names=table.names,
        ari=scores.ari,
        score=scores.score,
        pairs=counted.pairs,
        changed=counted.changed,
        n_values=table.n_values,
        status=scores.status,
        label=table.label,
        classes=table.classes,
        n_rows=n_rows,
        n_distinct=counted.n_distinct,
        n_identical=counted.n_identical,
        n_contradictions=counted.n_contradictions,
        settings=Settings(radius=1, duplicates=duplicates, weighted=weights is not None),
        backend=table.backend,
    )


def ari_score(X: Any, y: Any, *, n_jobs: int | None = None) -> NDArray[np.float64]:
    """Score of every feature, as a score function for scikit-learn's univariate selectors.

    For ``SelectKBest``, ``SelectPercentile`` and ``GenericUnivariateSelect``. A feature without evidence
    scores NaN, which those selectors rank last.

    Examples
    --------
    >>> import numpy as np
    >>> from sklearn.feature_selection import SelectKBest
    >>> from analogical import ari_score
    >>> X = np.array([[a, b, c] for a in (0, 1) for b in (0, 1) for c in (0, 1)])
    >>> SelectKBest(ari_score, k=2).fit(X, X[:, 0] ^ X[:, 2]).get_support()
    array([ True, False,  True])
    """
    return relevance(X, y, n_jobs=n_jobs).score


def _plain(value: Hashable) -> Any:
    """A label as a type that JSON has."""
    value = value.item() if isinstance(value, np.generic) else value
    return value if isinstance(value, bool | int | float | str) else str(value)
