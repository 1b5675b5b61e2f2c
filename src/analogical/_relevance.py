"""The road from a table to its relevance: encode, count, score, and say how sure."""

from collections.abc import Hashable, Sequence
from dataclasses import asdict, dataclass, replace
from typing import Any, Literal

import numpy as np

from analogical._checks import (
    check_attribution,
    check_choice,
    check_confidence,
    check_radius,
    check_whole,
    seed_from,
)
from analogical._progress import progress_line
from analogical._results import Result, entry_at, json_ready
from analogical._types import CodedRows, Floats, Ints, Note, Positions
from analogical.counting.counts import PairCounts
from analogical.counting.groups import collapse_rows
from analogical.counting.pairs import ContextSums
from analogical.encoding.table import EncodedTable, encode_table
from analogical.engines.base import Engine
from analogical.engines.memory import MemoryEngine
from analogical.errors import InputError
from analogical.scoring.attribution import ATTRIBUTIONS, AttributionMethod
from analogical.scoring.dependencies import find_determinants
from analogical.scoring.index import Status, rank_features, score_pairs
from analogical.scoring.intervals import bootstrap_rows, rate_interval, share_interval
from analogical.scoring.radius import Radius, RadiusReason, score_within_radius
from analogical.scoring.summaries import FeatureSummary

__all__ = ["Duplicates", "NoiseFloor", "Relevance", "Settings", "ari_score", "relevance", "relevance_of"]

Duplicates = Literal["count", "once"]


@dataclass(frozen=True)
class Settings:
    """How a relevance was computed."""

    duplicates: Duplicates
    weighted: bool
    """Whether rows came with frequencies."""
    radius: int
    """On how many features two compared rows may differ for ``score``; at 1 it is the paper's index."""
    decay: float | None
    """What the weight of a pair falls to with each feature that it differs on; None at radius 1."""
    reason: RadiusReason
    """Why this radius."""
    fewest_pairs: int
    """Pairs at distance 1 of the varying feature that has the fewest."""
    attribution: AttributionMethod
    """How pairs that differ on several features are credited to them."""
    n_pairs_used: int
    """Pairs of rows that ``score`` rests on."""
    is_sampled: bool
    """Whether there are more pairs within the radius, of which those used are a random sample."""
    converged: bool
    confidence: float | None
    """Level of the intervals; None if there are none."""
    bootstrap: int | None
    """Resamples of the rows that the intervals of ``score`` come from; None if there are none."""
    redundancies: bool
    """Whether it was looked for what determines features without pairs."""


@dataclass(frozen=True)
class NoiseFloor:
    """How often identical rows have different labels: the index of "no feature at all"."""

    rate: float | None
    """Share of the pairs of identical rows whose labels differ; None if no row repeats."""
    rate_low: float | None = None
    rate_high: float | None = None


@dataclass(frozen=True, eq=False, repr=False)
class Relevance(Result):
    """Relevance of every feature of a table for its label, in column order.

    ``result["sex"]`` is one feature as a dictionary, ``len(result)`` the number of features.

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
    ari_std_error, ari_low, ari_high : ndarray of float, or None
        Standard error of ``ari`` and an interval for the index of the population that the rows were
        drawn from, with rows as the independent units; NaN without pairs, None if not asked for.
    score_std_error, score_low, score_high : ndarray of float, or None
        The same for ``score``, from a bootstrap; None if not asked for.
    p_value : ndarray of float, or None
        Probability of a difference between the values at least this large if the feature had no effect: if the
        rows of each context had received their labels in any order. NaN where no context holds a repeated
        row and two labels, because nothing then tells the feature from noise.
    noise : NoiseFloor
        How often identical rows differ in label, with its interval; unknown if no row repeats.
    determined_by : tuple, or None
        For each feature without pairs the one or two features that determine it, so that it is redundant;
        an empty tuple if nothing does and rows are too few, and for features with pairs. None if not asked for.
    notes : tuple of Note
        What was done to the table before it was counted.
    settings : Settings
        How it was computed.

    Notes
    -----
    An index of 0.25 on 8 pairs is two changed labels, and a number on few pairs is an anecdote: read
    the interval beside ``ari``. On noisy labels every feature changes some labels: compare with ``noise``.
    """

    names: tuple[str, ...]
    ari: Floats
    score: Floats
    pairs: Ints
    changed: Ints
    pairs_within: Ints
    changed_within: Ints
    n_values: Ints
    status: tuple[Status, ...]
    label: str
    classes: tuple[Hashable, ...]
    n_rows: int
    n_distinct: int
    n_identical: int
    n_contradictions: int
    settings: Settings
    noise: NoiseFloor
    notes: tuple[Note, ...] = ()
    backend: str | None = None
    ari_std_error: Floats | None = None
    ari_low: Floats | None = None
    ari_high: Floats | None = None
    score_std_error: Floats | None = None
    score_low: Floats | None = None
    score_high: Floats | None = None
    p_value: Floats | None = None
    determined_by: tuple[tuple[str, ...], ...] | None = None

    def __len__(self) -> int:
        return len(self.names)

    def __getitem__(self, name: str) -> dict[str, Any]:
        return self._feature(entry_at(name, self.names, "feature"))

    def order(self) -> Positions:
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
        >>> relevance(rows, ["a", "b", "b", "a", "b"], radius=1).ranking()
        ['x0', 'x2', 'x1']
        """
        return [self.names[i] for i in self.order()]

    def records(self) -> list[dict[str, Any]]:
        """One dictionary per feature, best first."""
        return [self._feature(i) for i in self.order()]

    def to_dict(self) -> dict[str, Any]:
        """Everything in plain Python types, ready for JSON; the features in column order."""
        return {
            "label": self.label,
            "classes": json_ready(self.classes),
            "n_rows": self.n_rows,
            "n_distinct": self.n_distinct,
            "n_identical": self.n_identical,
            "n_contradictions": self.n_contradictions,
            "noise": json_ready(self.noise),
            "notes": json_ready(self.notes),
            "settings": asdict(self.settings),
            "features": [self._feature(i) for i in range(len(self.names))],
        }

    def _feature(self, i: int | np.intp) -> dict[str, Any]:
        """One feature in plain Python types; unknown numbers are None."""
        numbers = {name: getattr(self, name) for name in _FEATURE_NUMBERS}
        return {
            "name": self.names[i],
            **{name: None if array is None else json_ready(array[i]) for name, array in numbers.items()},
            "status": self.status[i],
            "determined_by": list(self.determined_by[i]) if self.determined_by is not None else [],
        }

    def columns(self) -> tuple[str, ...]:
        """Names of the columns of ``to_frame``."""
        return ("name", *_FEATURE_NUMBERS, "status", "determined_by")


_FEATURE_NUMBERS = (
    "ari",
    "score",
    "pairs",
    "changed",
    "pairs_within",
    "changed_within",
    "n_values",
    "ari_std_error",
    "ari_low",
    "ari_high",
    "score_std_error",
    "score_low",
    "score_high",
    "p_value",
)


def relevance(
    X: Any,
    y: Any,
    *,
    weights: Any = None,
    features: Any = None,
    ignore: Any = None,
    radius: Radius = "auto",
    attribution: AttributionMethod = "noisy-or",
    duplicates: Duplicates = "count",
    confidence: float | None = 0.95,
    bootstrap: int | None = None,
    redundancies: bool = True,
    random_state: Any = 0,
    progress: bool = False,
    feature_names: Sequence[str] | None = None,
    n_jobs: int | None = None,
) -> Relevance:
    """Relevance of every feature for the label: how often it alone changes the label.

    Rows that differ on one feature only are compared: if their labels differ, that feature may have mattered.
    The index of a feature is the share of such pairs whose labels differ.

    Parameters
    ----------
    X : dataframe, 2-d array or list of rows
        A categorical table: pandas, polars or pyarrow; numpy of integers, booleans, strings or objects;
        rows as lists or tuples. Values are compared for equality only, so their coding does not matter.
    y : array-like of shape (rows,), or name of a column
        The label, of any hashable kind and with two or more classes; or the name of a column of ``X``. A column of
        ``X`` that has the name of ``y`` and the same values is not a feature; ``notes`` says so.
    weights : array-like of whole numbers, or name of a column, optional
        How many rows each row stands for, so that a table of counts needs no expanding; or the name of
        a column of ``X``. A row with weight 0 is not a row.
    features : names of columns, optional
        The features; all columns but the label and the weights if not given.
    ignore : names of columns, optional
        Columns that are not features, such as ids and time stamps; instead of ``features``.
    radius : int or "auto"
        On how many features two rows may differ and still be compared for ``score``. 1 is the paper's index; on
        wide tables hardly any rows differ on one feature only, and ``"auto"`` looks further, near pairs weighing
        more, as far as the table needs; ``settings.reason`` says why. A larger number leaves out the pairs beyond it.
        ``ari`` is always the paper's index.
    attribution : {"noisy-or", "share"}
        Whom to credit when the rows of a pair differ on several features: the flip probabilities that explain
        all pairs best if each feature flips the label on its own, or every differing feature alike, all pairs weighing
        the same.
    duplicates : {"count", "once"}
        Whether identical rows with the same label count with their multiplicity, or once: the paper's
        formal reading, in which a sample is a set. Identical rows never form a pair.
    confidence : float or None
        Level of the intervals, between 0 and 1; None leaves out intervals and p-values.
    bootstrap : int, optional
        Add standard errors and intervals of ``score`` from this many resamples of the rows: slower by that factor, and
        an interval without width where every resample agrees.
    redundancies : bool
        Look for the features that determine those without pairs.
    random_state : int, RandomState or None
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
    The cost is one grouping of the rows per feature, never a comparison of all pairs. Intervals are Wilson's intervals
    on as many independent pairs as the jackknife over rows is worth. The index says nothing about a feature
    without pairs (its ``ari`` is 2, its ``score`` at radius 1 NaN): other features determine it, and ``determined_by``
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
    level = check_confidence(confidence)
    if bootstrap is not None:
        bootstrap = check_whole("bootstrap", bootstrap, low=2, about=" (resamples)", other=", or None")
        if level is None:
            raise InputError("bootstrap needs a level for its intervals: give confidence, such as 0.95, not None.")
    table = encode_table(X, y, weights=weights, features=features, ignore=ignore, feature_names=feature_names)
    return relevance_of(
        table,
        MemoryEngine(n_jobs),
        radius=radius,
        attribution=attribution,
        duplicates=duplicates,
        confidence=level,
        bootstrap=bootstrap,
        redundancies=redundancies,
        seed=seed_from(random_state),
        progress=progress,
    )


def relevance_of(
    table: EncodedTable,
    engine: Engine,
    *,
    radius: Radius = "auto",
    attribution: AttributionMethod = "noisy-or",
    duplicates: Duplicates = "count",
    confidence: float | None = 0.95,
    bootstrap: int | None = None,
    redundancies: bool = True,
    seed: int | None = 0,
    progress: bool = False,
) -> Relevance:
    """The road after encoding: counts, index, score, intervals and tests, what makes features redundant."""
    check_choice("duplicates", duplicates, ("count", "once"))
    check_attribution(attribution, tuple(ATTRIBUTIONS))
    radius = check_radius(radius, len(table.names))
    rows = collapse_rows(table.coded) if duplicates == "once" else table.coded
    sums = None if confidence is None else engine.sum_contexts(rows, FeatureSummary.of)
    counts = engine.count_pairs(rows) if sums is None else sums.counts
    index = score_pairs(counts, table.n_values)
    show = progress_line("comparing rows") if progress else None
    score = score_within_radius(
        engine, rows, counts, radius=radius, attribution=attribution, random_state=seed, progress=show
    )
    result = Relevance(
        names=table.names,
        ari=index.ari,
        score=score.score,
        pairs=counts.pairs,
        changed=counts.changed,
        pairs_within=score.pairs,
        changed_within=score.changed,
        n_values=table.n_values,
        status=index.status,
        label=table.label,
        classes=table.classes,
        n_rows=table.coded.n_rows,
        n_distinct=counts.n_distinct,
        n_identical=counts.n_identical,
        n_contradictions=counts.n_contradictions,
        settings=Settings(
            duplicates=duplicates,
            weighted=table.weights is not None,
            radius=score.radius,
            decay=score.decay,
            reason=score.reason,
            fewest_pairs=score.fewest_pairs,
            attribution=attribution,
            n_pairs_used=score.n_pairs_used,
            is_sampled=score.is_sampled,
            converged=score.converged,
            confidence=confidence,
            bootstrap=bootstrap,
            redundancies=redundancies,
        ),
        noise=_noise(counts, sums, confidence, duplicates),
        notes=table.notes,
        backend=table.backend,
    )
    if sums is not None and confidence is not None:
        # Rows counted once are not independent draws any more, so they cannot be tested against noise.
        result = _with_intervals(result, sums, confidence, test=duplicates == "count")
    if bootstrap is not None and confidence is not None:
        options = {"radius": radius, "attribution": attribution, "random_state": seed}
        drawn = bootstrap_rows(
            _Rescore(engine, rows, options), rows.weights_or_ones(), bootstrap, confidence, seed, progress
        )
        result = replace(result, score_std_error=drawn[0], score_low=drawn[1], score_high=drawn[2])
    if redundancies:
        silent = [i for i, status in enumerate(index.status) if status == "no-pairs"]
        by = find_determinants(rows, silent)
        names = table.names
        result = replace(result, determined_by=tuple(tuple(names[j] for j in by.get(i, ())) for i in range(len(names))))
    return result


@dataclass(frozen=True)
class _Rescore:
    """Scores of a resample of the rows, from how often each was drawn."""

    engine: Engine
    rows: CodedRows
    options: dict[str, Any]

    def __call__(self, times: Ints) -> Floats:
        drawn = self.rows.weighted(times).take(np.flatnonzero(times))
        return score_within_radius(self.engine, drawn, self.engine.count_pairs(drawn), **self.options).score


def _noise(
    counts: PairCounts, sums: ContextSums[FeatureSummary] | None, confidence: float | None, duplicates: Duplicates
) -> NoiseFloor:
    """How often identical rows differ in label, unknown if none repeats or repeats were counted once."""
    if not counts.n_identical or duplicates == "once":
        return NoiseFloor(None)
    rate = counts.n_contradictions / counts.n_identical
    if sums is None or confidence is None:
        return NoiseFloor(rate)
    return NoiseFloor(rate, *rate_interval(sums.repeats, counts.n_rows, confidence))


def _with_intervals(
    result: Relevance, sums: ContextSums[FeatureSummary], confidence: float, *, test: bool
) -> Relevance:
    """The result with standard errors, intervals and p-values of the features that have pairs."""
    std_error, low, high, p_value = (np.full(len(result.names), np.nan) for _ in range(4))
    for i, summary in enumerate(sums.summaries):
        if summary is not None:
            std_error[i], low[i], high[i] = share_interval(summary.profile, sums.counts.n_rows, confidence)
            if test:
                p_value[i] = summary.deals.p_value()
    return replace(result, ari_std_error=std_error, ari_low=low, ari_high=high, p_value=p_value)


def ari_score(X: Any, y: Any, *, n_jobs: int | None = None) -> Floats:
    """The exact index of every feature, as a score function for scikit-learn's univariate selectors.

    For ``SelectKBest``, ``SelectPercentile`` and ``GenericUnivariateSelect``. It looks at distance 1 only, as the paper
    does: a feature without pairs scores NaN, which those selectors rank last. On wide tables, where hardly any
    feature has pairs, use :class:`analogical.AnalogicalSelector`, which looks further.

    Examples
    --------
    >>> import numpy as np
    >>> from sklearn.feature_selection import SelectKBest
    >>> from analogical import ari_score
    >>> X = np.array([[a, b, c] for a in (0, 1) for b in (0, 1) for c in (0, 1)])
    >>> SelectKBest(ari_score, k=2).fit(X, X[:, 0] ^ X[:, 2]).get_support()
    array([ True, False,  True])
    """
    table = encode_table(X, y)
    return score_pairs(MemoryEngine(n_jobs).count_pairs(table.coded), table.n_values).score
