"""The road from a table to its relevance: encode, count, score, and say how sure."""

from collections.abc import Hashable, Sequence
from dataclasses import asdict, dataclass, fields, replace
from functools import partial
from typing import Any, Literal

import numpy as np
from numpy.typing import NDArray

from analogical._counting import collapse_rows, count_pairs, n_threads_for
from analogical._encoding import encode_table
from analogical._frames import frame_from_columns
from analogical._progress import progress_line
from analogical._redundancy import explain_silence
from analogical._relaxed import Attribute, Radius, relax
from analogical._scoring import Status, rank_features, score_pairs
from analogical._uncertainty import bootstrap_rows, uncertainty
from analogical.errors import InputError

__all__ = ["NoiseFloor", "Relevance", "Settings", "ari_score", "relevance"]

Duplicates = Literal["count", "once"]


@dataclass(frozen=True)
class Settings:
    """How a relevance was computed."""

    duplicates: Duplicates
    weighted: bool
    """Whether rows came with frequencies."""
    radius: int = 1
    """On how many features two compared rows may differ for ``score``; at 1 it is the paper's index."""
    reason: str = "radius 1: asked for"
    """Why this radius."""
    attribution: Attribute = "noisy-or"
    """How pairs that differ on several features are credited to them."""
    n_pairs_used: int = 0
    """Pairs of rows that ``score`` rests on."""
    is_sampled: bool = False
    """Whether there are more pairs within the radius, of which those used are a random sample."""
    converged: bool = True
    confidence: float | None = None
    """Level of the intervals; None if there are none."""
    bootstrap: int | None = None
    """Resamples of the rows that the intervals come from; None for the closed form."""


@dataclass(frozen=True)
class NoiseFloor:
    """How often identical rows have different labels: the index of "no feature at all"."""

    rate: float | None
    """Share of the pairs of identical rows whose labels differ; None if no row repeats."""
    ci_low: float | None = None
    ci_high: float | None = None


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
        What features are ranked by, NaN where there is no evidence: ``ari``, or beyond radius 1 the relaxed index,
        how often a change of the feature changes the label, estimated from pairs that may differ on others too.
    pairs, changed : ndarray of int
        Pairs of rows that differ on this feature only, and how many of them have different labels.
    pairs_within, changed_within : ndarray of int
        Pairs within the radius that differ on this feature, perhaps among others, and how many of them have different
        labels; at radius 1 the same as ``pairs`` and ``changed``.
    n_values : ndarray of int
        Values that the feature takes in the table.
    status : tuple of str
        ``"relevant"`` (some pair changed its label), ``"irrelevant"`` (there are pairs and none did),
        ``"constant"`` (one value) or ``"no-pairs"`` (several values and no pair); always about distance 1.
    label : str
        Name of the label.
    classes : tuple
        Its values.
    n_rows, n_distinct : int
        Rows, and rows that differ from each other on some feature.
    n_identical, n_contradictions : int
        Pairs of identical rows, and how many of them have different labels. No feature can explain
        a contradiction: it is noise, or a feature that is not in the table.
    std_error, ci_low, ci_high : ndarray of float, or None
        Standard error of ``ari`` and an interval for the index of the population that the rows were
        drawn from, with rows as the independent units; NaN without pairs, None if not asked for. From a
        bootstrap they are those of ``score``.
    p_value : ndarray of float, or None
        Chance of at least as many changed pairs if the feature did nothing and labels were noise: if the
        rows of each context had come by their labels in any order. NaN where no context holds a repeated
        row and two labels, because nothing then tells the feature from noise.
    noise : NoiseFloor
        How often identical rows differ in label, with its interval; unknown if no row repeats.
    determined_by : tuple, or None
        For each feature without pairs the one or two features that determine it, so that it is redundant;
        an empty tuple if nothing does and rows are too few, and for features with pairs.
    settings : Settings
        How it was computed.

    Notes
    -----
    An index of 0.25 on 8 pairs is two changed labels, and a number on few pairs is an anecdote: read
    the interval beside ``ari``. On noisy labels every feature changes some labels: compare with ``noise``.
    """

    names: tuple[str, ...]
    ari: NDArray[np.float64]
    score: NDArray[np.float64]
    pairs: NDArray[np.int64]
    changed: NDArray[np.int64]
    pairs_within: NDArray[np.int64]
    changed_within: NDArray[np.int64]
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
    std_error: NDArray[np.float64] | None = None
    ci_low: NDArray[np.float64] | None = None
    ci_high: NDArray[np.float64] | None = None
    p_value: NDArray[np.float64] | None = None
    noise: NoiseFloor = NoiseFloor(None)
    determined_by: tuple[tuple[str, ...], ...] | None = None

    def __eq__(self, other: object) -> bool:
        if not isinstance(other, Relevance):
            return NotImplemented
        return all(
            np.array_equal(mine, its, equal_nan=mine.dtype.kind == "f")
            if isinstance(mine, np.ndarray) and isinstance(its, np.ndarray)
            else mine is its or (not isinstance(mine, np.ndarray) and not isinstance(its, np.ndarray) and mine == its)
            for mine, its in ((getattr(self, f.name), getattr(other, f.name)) for f in fields(self))
        )

    __hash__ = None  # type: ignore[assignment]

    def order(self) -> NDArray[np.intp]:
        """Positions of the features, best first; the order of :meth:`ranking`."""
        return rank_features(self.score, self.pairs_within, self.n_values)

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
        for key in ("score", "std_error", "ci_low", "ci_high", "p_value"):
            columns[key] = [float("nan") if number is None else number for number in columns[key]]
        columns["determined_by"] = [", ".join(names) for names in columns["determined_by"]]
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
            "noise": asdict(self.noise),
            "settings": asdict(self.settings),
            "features": [self._feature(i) for i in range(len(self.names))],
        }

    def _feature(self, i: int | np.intp) -> dict[str, Any]:
        """One feature in plain Python types; a score without evidence is None."""
        return {
            "name": self.names[i],
            "ari": float(self.ari[i]),
            "score": _number(self.score, i),
            "pairs": int(self.pairs[i]),
            "changed": int(self.changed[i]),
            "pairs_within": int(self.pairs_within[i]),
            "changed_within": int(self.changed_within[i]),
            "n_values": int(self.n_values[i]),
            "status": self.status[i],
            "std_error": _number(self.std_error, i),
            "ci_low": _number(self.ci_low, i),
            "ci_high": _number(self.ci_high, i),
            "p_value": _number(self.p_value, i),
            "determined_by": list(self.determined_by[i]) if self.determined_by is not None else [],
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
    radius: Radius = 1,
    attribution: Attribute = "noisy-or",
    duplicates: Duplicates = "count",
    confidence: float | None = 0.95,
    bootstrap: int | None = None,
    random_state: int | None = 0,
    progress: bool = False,
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
    radius : int or "auto"
        On how many features two rows may differ and still be compared for ``score``. 1 is the paper's index; on
        wide tables hardly any rows differ on one feature only, and ``"auto"`` looks further, near pairs weighing
        more, as far as the table needs; ``settings.reason`` says why. ``ari`` is always the paper's index.
    attribution : {"noisy-or", "share"}
        Whom to credit when the rows of a pair differ on several features: the flip probabilities that explain
        all pairs best if each feature flips the label on its own, or every differing feature alike.
    duplicates : {"count", "once"}
        Whether identical rows with the same label count with their multiplicity, or once: the paper's
        formal reading, in which a sample is a set. Identical rows never form a pair.
    confidence : float or None
        Level of the intervals, between 0 and 1; None leaves out intervals, p-values and the search for
        what makes features redundant.
    bootstrap : int, optional
        Take standard errors and intervals of ``score`` from this many resamples of the rows instead of the closed
        form: slower by that factor, and an interval without width where every resample agrees.
    random_state : int or None
        Seed of the resamples and, past the limits of the search beyond radius 1, of the sample of pairs; None draws
        anew each time.
    progress : bool
        Show on stderr how far long work is.
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
    The cost is one grouping of the rows per feature, never a comparison of all pairs, and about one more
    for the intervals. The counts are exact whole numbers, divided once. The interval is Wilson's, on as
    many independent pairs as the jackknife over rows is worth. The index says nothing about a feature
    without pairs (its ``ari`` is 2, its ``score`` NaN): other features determine it, and ``determined_by``
    names them, or there are too few rows.

    Examples
    --------
    The label is the exclusive or of two features; a third one is noise:

    >>> from analogical import relevance
    >>> rows = [(a, b, c) for a in (0, 1) for b in (0, 1) for c in (0, 1)]
    >>> relevance(rows, [a ^ b for a, b, c in rows], feature_names=["a", "b", "c"])
    Relevance of 3 features for 'y' (2 classes), 8 rows
    feature    ARI       95% CI  pairs  changed  p  status
    a        1.000  0.510-1.000      4        4  -  relevant
    b        1.000  0.510-1.000      4        4  -  relevant
    c        0.000  0.000-0.490      4        0  -  irrelevant
    Noise floor: unknown, because no row repeats.
    """
    if duplicates not in ("count", "once"):
        raise InputError(f'duplicates must be "count" or "once", got {duplicates!r}.')
    check_confidence(confidence)
    _check_bootstrap(bootstrap, confidence)
    table = encode_table(X, y, weights=weights, feature_names=feature_names)
    _check_radius(radius, attribution, len(table.names))
    codes, labels, counts = table.codes, table.labels, table.weights
    n_rows = len(codes) if counts is None else int(counts.sum())
    once = duplicates == "once"
    if once:
        firsts = collapse_rows(codes, labels, table.n_values)
        codes, labels, counts = codes[firsts], labels[firsts], None
    counted = count_pairs(codes, labels, table.n_values, len(table.classes), counts, n_jobs=n_jobs)
    scores = score_pairs(counted, table.n_values)
    relax_rows = partial(
        relax,
        radius=radius,
        attribution=attribution,
        random_state=random_state,
        n_jobs=n_threads_for(n_jobs, codes.size),
    )
    relaxed = relax_rows(codes, labels, counts, counted, progress=progress_line("comparing rows") if progress else None)
    result = Relevance(
        names=table.names,
        ari=scores.ari,
        score=relaxed.score,
        pairs=counted.pairs,
        changed=counted.changed,
        pairs_within=relaxed.pairs,
        changed_within=relaxed.changed,
        n_values=table.n_values,
        status=scores.status,
        label=table.label,
        classes=table.classes,
        n_rows=n_rows,
        n_distinct=counted.n_distinct,
        n_identical=counted.n_identical,
        n_contradictions=counted.n_contradictions,
        settings=Settings(
            duplicates=duplicates,
            weighted=weights is not None,
            radius=relaxed.radius,
            reason=relaxed.reason,
            attribution=attribution,
            n_pairs_used=relaxed.n_pairs_used,
            is_sampled=relaxed.is_sampled,
            converged=relaxed.converged,
            confidence=confidence,
            bootstrap=bootstrap,
        ),
        backend=table.backend,
        noise=NoiseFloor(counted.n_contradictions / counted.n_identical if counted.n_identical and not once else None),
    )
    if confidence is None:
        return result
    # Rows counted once are no independent draws any more, so they cannot be tested against noise.
    sure = uncertainty(codes, labels, table.n_values, counts, confidence, pairs=counted.pairs, test=not once)
    if bootstrap is not None:

        def score_weighted(row_weights: NDArray[np.int64]) -> NDArray[np.float64]:
            drawn = row_weights > 0
            rows = codes[drawn], labels[drawn]
            again = count_pairs(*rows, table.n_values, len(table.classes), row_weights[drawn])
            return relax_rows(*rows, row_weights[drawn], again).score

        std_error, low, high = bootstrap_rows(
            score_weighted, len(codes) if counts is None else counts, bootstrap, confidence, random_state, progress
        )
        sure = replace(sure, std_error=std_error, ci_low=low, ci_high=high)
    silent = [i for i, status in enumerate(scores.status) if status == "no-pairs"]
    why = explain_silence(codes, table.n_values, counts, silent)
    return replace(
        result,
        std_error=sure.std_error,
        ci_low=sure.ci_low,
        ci_high=sure.ci_high,
        p_value=sure.p_value,
        noise=result.noise
        if result.noise.rate is None
        else replace(result.noise, ci_low=sure.noise_low, ci_high=sure.noise_high),
        determined_by=tuple(tuple(table.names[j] for j in why.get(i, ())) for i in range(len(table.names))),
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
    return relevance(X, y, confidence=None, n_jobs=n_jobs).score


def _check_radius(radius: Any, attribution: Any, n_features: int) -> None:
    whole = isinstance(radius, int | np.integer) and not isinstance(radius, bool)
    if not (radius == "auto" or (whole and 1 <= radius <= n_features)):
        raise InputError(
            f"radius must be a whole number from 1 to {n_features} (the table has {n_features} features) or"
            f' "auto", got {radius!r}.'
        )
    if attribution not in ("noisy-or", "share"):
        raise InputError(f'attribution must be "noisy-or" or "share", got {attribution!r}.')


def check_confidence(confidence: Any) -> None:
    """Refuse a level that is no share."""
    number = isinstance(confidence, int | float | np.number) and not isinstance(confidence, bool)
    if not (confidence is None or (number and 0 < confidence < 1)):
        raise InputError(f"confidence must be a number between 0 and 1, such as 0.95, or None, got {confidence!r}.")


def _check_bootstrap(bootstrap: Any, confidence: float | None) -> None:
    whole = isinstance(bootstrap, int | np.integer) and not isinstance(bootstrap, bool)
    if bootstrap is not None and not (whole and bootstrap >= 2):
        raise InputError(f"bootstrap must be a whole number of resamples from 2, or None, got {bootstrap!r}.")
    if bootstrap is not None and confidence is None:
        raise InputError("bootstrap needs a level for its intervals: give confidence, such as 0.95, instead of None.")


def _number(numbers: NDArray[np.float64] | None, i: int | np.intp) -> float | None:
    """A number as JSON has it: None where it is unknown or was not asked for."""
    return None if numbers is None or np.isnan(numbers[i]) else float(numbers[i])


def _plain(value: Hashable) -> Any:
    """A label as a type that JSON has."""
    value = value.item() if isinstance(value, np.generic) else value
    return value if isinstance(value, bool | int | float | str) else str(value)
