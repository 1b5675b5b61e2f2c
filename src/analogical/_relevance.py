"""The road from a table to its relevance: encode, count, score, and say how sure."""

import math
from collections.abc import Callable, Hashable, Iterable, Sequence
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any, Literal

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
from analogical._types import CodedRows, Floats, Ints, Margins, Note, Positions
from analogical.counting.groups import collapse_rows
from analogical.counting.pairs import ContextSums
from analogical.encoding.binning import Bins
from analogical.encoding.columns import plain
from analogical.encoding.table import EncodedTable, encode_table
from analogical.encoding.treatment import Ids, Missing, Treatment
from analogical.engines.base import Engine
from analogical.engines.memory import MemoryEngine
from analogical.errors import InputError
from analogical.scoring.attribution import ATTRIBUTIONS, AttributionMethod
from analogical.scoring.dependencies import Determinants, find_determinants
from analogical.scoring.index import PaperStatus, Scores, rank_features, score_pairs
from analogical.scoring.inference import infer, infer_from_groups
from analogical.scoring.intervals import flip_rate, rank_interval, resample_rows, spread_of
from analogical.scoring.noise import Basis
from analogical.scoring.radius import Radius, RadiusReason
from analogical.scoring.relaxed import ACTIVE
from analogical.scoring.score import FeatureScores, Scoring
from analogical.scoring.significance import adjust_for_features
from analogical.scoring.status import Status, decide_status
from analogical.scoring.summaries import MAX_COVERED, FeatureSummary, summarise_contexts

if TYPE_CHECKING:
    from matplotlib.axes import Axes

    from analogical.engines.spark.planning import SparkPlan

__all__ = ["AtDistance", "Duplicates", "NoiseFloor", "Relevance", "Settings", "ari_score", "relevance", "relevance_of"]

Duplicates = Literal["count", "once"]

MAX_LISTED = 20
"""Twos of values that were never compared, of each feature, that a result lists."""


@dataclass(frozen=True)
class Settings:
    """How a relevance was computed.

    Examples
    --------
    >>> from analogical import load_table, relevance
    >>> settings = relevance(load_table("titanic").to_frame(), "survived", weights="count").settings
    >>> settings.radius, settings.reason, settings.fewest_pairs
    (1, 'enough-pairs', 31367)
    """

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
    coarser: tuple[int, ...]
    """To how many bins numbers were merged as well beyond radius 1: the score is the mean over all sets of bins."""
    confidence: float | None
    """Level of the intervals; None if there are none."""
    bootstrap: int | None
    """Resamples of the rows that the intervals of ``score`` come from; None if there are none."""
    redundancies: bool
    """Whether it was looked for what determines features without pairs."""
    noise_free: bool = False
    """Whether labels were said to have no noise."""
    n_groups: int | None = None
    """Groups of rows that depend on each other; None if all rows were taken as independent."""
    pooled_noise: float | None = None
    """Noise that stands in where that of a feature's own contexts is not known well; None if it was not needed."""
    searched_one: bool = False
    """Whether every feature was tried as the one that determines a feature without pairs."""
    searched_two: bool = False
    """Whether all twos of features were tried as those that determine one; not among very many features."""
    engine: Literal["memory", "spark"] = "memory"
    """Who counted."""
    plan: "SparkPlan | None" = None
    """How the rows were counted on Spark."""


@dataclass(frozen=True)
class NoiseFloor:
    """How often identical rows have different labels: the index of "no feature at all".

    Examples
    --------
    >>> from analogical import relevance
    >>> relevance([["a"], ["a"], ["b"], ["b"]], [0, 1, 1, 1], confidence=None).noise
    NoiseFloor(rate=0.5, rate_low=None, rate_high=None)
    """

    rate: float | None
    """Share of the pairs of identical rows whose labels differ; None if no row repeats."""
    rate_low: float | None = None
    rate_high: float | None = None


@dataclass(frozen=True)
class AtDistance:
    """The pairs of rows that differ on so many features, as far as the score rests on them.

    Examples
    --------
    >>> from analogical import relevance
    >>> by_distance = relevance([[0, 0], [0, 1], [1, 0], [1, 1]], [0, 0, 1, 1], radius=2).by_distance
    >>> [(found.distance, found.pairs, found.changed, round(found.weight, 3)) for found in by_distance]
    [(1, 4, 2, 0.667), (2, 2, 2, 0.333)]
    """

    distance: int
    pairs: int
    """Pairs used, with the weights of their rows."""
    changed: int
    """How many of them differ in label."""
    weight: float
    """Share of the score's evidence that they carry: near pairs weigh more, and the shares add up to 1."""


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
    effect : ndarray of float
        The index less the noise of the same contexts: how much of it the feature explains. Without bias, so it may lie
        slightly below 0; NaN where no two compared values both have repeated rows. With two classes its root is the
        root mean square of the difference in label shares.
    noise_rate : ndarray of float
        How often labels differ by noise alone in the contexts of the feature: ``ari`` on the pairs of ``effect_pairs``
        less ``effect``.
    score : ndarray of float
        What features are ranked by, NaN where there is no evidence; ``score_basis`` says what it is. At radius 1 the
        effect, or the index where labels show no noise; beyond, the relaxed index: how often a change of the feature
        changes the label, estimated from pairs that may differ on others too.
    score_basis : tuple of str
        ``"index"``, ``"effect"``, ``"index less pooled noise"`` (the effect rests on too few pairs, and the noise in
        the contexts of all features stands in), ``"pairs within the radius"`` or ``"none"``.
    status : tuple of str
        ``"effect"`` (the labels changed more than noise explains: ``p_adjusted`` at most 1 - confidence),
        ``"unclear"`` (they changed, but not significantly), ``"noise-unknown"`` (they changed, the tests do not tell,
        and no repeated row shows the noise), ``"none-seen"`` (no pair changed or, beyond
        radius 1, other features explain all that did: the score is 0, or below 1e-9 to keep an order), ``"no-pairs"``
        or ``"constant"``. About the pairs that ``score`` rests on.
    paper_status : tuple of str
        The paper's words, about distance 1: ``"relevant"`` (some pair changed its label), ``"irrelevant"`` (there are
        pairs and none did), ``"constant"`` or ``"no-pairs"``.
    pairs, changed : ndarray of int
        Pairs of rows that differ on this feature only, and how many of them have different labels.
    pairs_within, changed_within : ndarray of int
        Pairs within the radius that differ on this feature, perhaps among others, and how many of them have different
        labels; at radius 1 the same as ``pairs`` and ``changed``.
    effect_pairs : ndarray of int
        Pairs that the effect rests on: both values have repeated rows in the context.
    effective_rows : ndarray of float
        How many independent pairs the pairs are worth (Kish's number): few if some rows sit in most of them. Intervals
        on less than 30 are rough.
    n_values : ndarray of int
        Values that the feature takes in the table.
    n_missing : ndarray of int
        Missing cells of the feature; they are a value of their own, None.
    edges : tuple of tuples
        For each feature that was binned, the lowest value of every bin but the first; empty for categories.
    value_pairs, value_pairs_compared : ndarray of int
        Twos of values that there are, and those that some context holds both of; -1 for features with more than 64
        values. About what was never compared nothing is known; see :meth:`never_compared`.
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
    effect_low, effect_high : ndarray of float, or None
        Interval of ``effect``.
    score_std_error, score_low, score_high : ndarray of float, or None
        Interval of ``score``: that of what it is, or from a bootstrap; NaN where there is none. The standard error is
        known beyond radius 1 and from a bootstrap.
    rank_low, rank_high : ndarray of float, or None
        Between which ranks (1 for the best) the feature lies in the resamples of a ``bootstrap``, at the level of
        ``confidence``; equal scores share the mean of their ranks. None without a bootstrap.
    p_value, p_adjusted : ndarray of float, or None
        Probability of labels that go with the values at least this much if the feature had no effect, and the same
        after Benjamini and Hochberg's correction for the number of features. At radius 1 the rows of each context
        receive their labels in any order; beyond, labels are shuffled over all rows, and where noise alone makes the
        score look further, both count: twice the smaller one.
    noise : NoiseFloor
        How often identical rows differ in label over the whole table; unknown if no row repeats. An index is not to be
        compared with it, but with ``noise_rate``.
    determined_by : tuple, or None
        For each feature without pairs the one or two features that determine it, so that it is redundant;
        an empty tuple if nothing does and rows are too few, and for features with pairs. None if not asked for.
    by_distance : tuple of AtDistance
        What the score rests on: for each distance up to the radius the pairs used, how many changed, and which share
        of the evidence they carry; empty where ``attribution="share"`` looks beyond distance 1.
    notes : tuple of Note
        What was done to the table before it was counted.
    settings : Settings
        How it was computed.

    Notes
    -----
    Intervals and p-values take rows as independent; rows that are not (several visits of a patient, copied rows) need
    ``groups``. A number on few pairs is an anecdote: read the interval beside it.

    Examples
    --------
    >>> from analogical import load_table, relevance
    >>> result = relevance(load_table("titanic").to_frame(), "survived", weights="count")
    >>> result.names, result.pairs.tolist(), result.changed.tolist()
    (('class', 'sex', 'age'), [944789, 138516, 31367], [309473, 80024, 12651])
    >>> result.ranking()[0], result["sex"]["status"]
    ('sex', 'effect')
    """

    names: tuple[str, ...]
    ari: Floats
    effect: Floats
    noise_rate: Floats
    score: Floats
    score_basis: tuple[Basis, ...]
    status: tuple[Status, ...]
    paper_status: tuple[PaperStatus, ...]
    pairs: Ints
    changed: Ints
    pairs_within: Ints
    changed_within: Ints
    effect_pairs: Ints
    effective_rows: Floats
    n_values: Ints
    n_missing: Ints
    edges: tuple[tuple[Any, ...], ...]
    value_pairs: Ints
    value_pairs_compared: Ints
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
    effect_low: Floats | None = None
    effect_high: Floats | None = None
    score_std_error: Floats | None = None
    score_low: Floats | None = None
    score_high: Floats | None = None
    rank_low: Floats | None = None
    rank_high: Floats | None = None
    p_value: Floats | None = None
    p_adjusted: Floats | None = None
    by_distance: tuple[AtDistance, ...] = ()
    determined_by: tuple[tuple[str, ...], ...] | None = None
    not_compared: tuple[tuple[tuple[Any, Any], ...], ...] = ()

    def __len__(self) -> int:
        return len(self.names)

    def __getitem__(self, name: str) -> dict[str, Any]:
        return self._feature_and_edges(entry_at(name, self.names, "feature"))

    def known_p_values(self) -> Floats:
        """The p-values, NaN for all features if none were asked for."""
        return np.full(len(self.names), np.nan) if self.p_value is None else self.p_value

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

    def never_compared(self, name: str) -> tuple[tuple[Any, Any], ...]:
        """Twos of values of a feature that no context holds both of, so that nothing is known about them.

        The first 20, most frequent values first; empty for a feature without any pair.

        Examples
        --------
        >>> from analogical import relevance
        >>> rows = [("a", 0), ("b", 0), ("c", 1), ("c", 0)]
        >>> result = relevance(rows, [0, 1, 0, 1], feature_names=["letter", "digit"])
        >>> result.never_compared("letter"), int(result.value_pairs_compared[0])
        ((), 3)
        """
        return self.not_compared[entry_at(name, self.names, "feature")]

    def plot(self, ax: "Axes | None" = None, *, top: int = 20) -> "Axes":
        """Bars with intervals, best first; see :func:`analogical.plotting.plot_relevance`."""
        from analogical.plotting import plot_relevance

        return plot_relevance(self, ax, top=top)

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
            "settings": json_ready(self.settings),
            "by_distance": json_ready(self.by_distance),
            "features": [self._feature_and_edges(i) for i in range(len(self.names))],
        }

    def _feature_and_edges(self, i: int) -> dict[str, Any]:
        return {**self._feature(i), "edges": json_ready(self.edges[i])}

    def _feature(self, i: int | np.intp) -> dict[str, Any]:
        """One feature in plain Python types; unknown numbers are None."""
        numbers = {name: getattr(self, name) for name in _FEATURE_NUMBERS}
        return {
            "name": self.names[i],
            **{name: None if array is None else json_ready(array[i]) for name, array in numbers.items()},
            **{name: getattr(self, name)[i] for name in _FEATURE_WORDS},
            "determined_by": list(self.determined_by[i]) if self.determined_by is not None else [],
        }

    def columns(self) -> tuple[str, ...]:
        """Names of the columns of ``to_frame``."""
        return ("name", *_FEATURE_NUMBERS, *_FEATURE_WORDS, "determined_by")


_FEATURE_NUMBERS = (
    "ari",
    "effect",
    "noise_rate",
    "score",
    "p_value",
    "p_adjusted",
    "ari_low",
    "ari_high",
    "ari_std_error",
    "effect_low",
    "effect_high",
    "score_low",
    "score_high",
    "score_std_error",
    "rank_low",
    "rank_high",
    "pairs",
    "changed",
    "pairs_within",
    "changed_within",
    "effect_pairs",
    "effective_rows",
    "n_values",
    "n_missing",
    "value_pairs",
    "value_pairs_compared",
)
_FEATURE_WORDS = ("status", "paper_status", "score_basis")


def relevance(
    X: Any,
    y: Any,
    *,
    weights: Any = None,
    groups: Any = None,
    features: Any = None,
    ignore: Any = None,
    missing: Missing = "value",
    bins: Bins = 5,
    max_values: int | None = 20,
    ids: Ids = "drop",
    bin_label: int | None = None,
    radius: Radius = "auto",
    attribution: AttributionMethod = "noisy-or",
    duplicates: Duplicates = "count",
    noise_free: bool = False,
    confidence: float | None = 0.95,
    bootstrap: int | None = None,
    redundancies: bool = True,
    random_state: Any = 0,
    progress: bool = False,
    feature_names: Iterable[str] | None = None,
    n_jobs: int | None = None,
) -> Relevance:
    """Relevance of every feature for the label: how often it alone changes the label.

    Rows that differ on one feature only are compared: if their labels differ, that feature may have mattered.
    The index of a feature is the share of such pairs whose labels differ.

    Parameters
    ----------
    X : dataframe, 2-d array or list of rows
        pandas, polars (lazy frames too) or pyarrow; numpy arrays; scipy sparse matrices; rows as lists or tuples.
        Categories are compared for equality only, so their coding does not matter; numbers are binned first.
    y : array-like of shape (rows,), or name of a column
        The label, of any hashable kind and with two or more classes; or the name of a column of ``X``. A column of
        ``X`` that has the name of ``y`` and the same values is not a feature; ``notes`` says so.
    weights : array-like of whole numbers, or name of a column, optional
        How many rows each row stands for, so that a table of counts needs no expanding; or the name of
        a column of ``X``. A row with weight 0 is not a row.
    groups : array-like, or name of a column, optional
        Which rows depend on each other, such as the visits of one patient: one value per row, equal within a group.
        Intervals then leave out whole groups, and tests and effects take one row of each. Without it rows are taken as
        independent, which makes copies and repeated measurements look like evidence.
    features : names of columns, optional
        The features; all columns but the label, the weights and the groups if not given.
    ignore : names of columns, optional
        Columns that are not features; instead of ``features``. Both take patterns such as ``"price_*"``.
    missing : {"value", "drop", "error"}
        What becomes of missing cells (None, NaN, NaT, NA): a value of their own, shown as None; their rows are left
        out; or an error that names their columns. Rows without a label are left out. ``notes`` says what was done.
    bins : int, "widths:K", None or dict
        How numbers and dates become categories: so many groups of about equal size, in which equal values stay together
        and a value that fills a group alone has it for itself; K bins of equal width; or every distinct value by
        itself. A dictionary gives single columns one of these, or a list of edges, and ``"*"`` one to the others.
        ``edges`` in the result says where bins begin. Numbers are floats, decimals, durations, and whole numbers of
        dataframes with many values; booleans, strings, category columns and whole numbers of arrays and lists are
        categories.
    max_values : int or None
        Whole numbers and dates with at most so many values are categories; a numeric label with more is refused.
    ids : {"drop", "keep"}
        Whether columns with another value in nearly every row are set aside: they leave no two rows to compare.
        Columns named in ``features`` are kept.
    bin_label : int, optional
        Make so many classes of about equally many rows from a numeric label.
    radius : int or "auto"
        On how many features two rows may differ and still be compared for ``score``. 1 is the paper's index; on
        wide tables hardly any rows differ on one feature only, and where labels are noisy those that do may tell
        little; then ``"auto"`` looks further, near pairs weighing more, as far as the table needs;
        ``settings.reason`` says why. A larger number leaves out the pairs beyond it.
        ``ari`` is always the paper's index.
    attribution : {"noisy-or", "share"}
        Whom to credit when the rows of a pair differ on several features: the flip probabilities that explain
        all pairs best if each feature flips the label on its own, or every differing feature alike, all pairs weighing
        the same.
    duplicates : {"count", "once"}
        Whether identical rows with the same label count with their multiplicity, or once: the paper's
        formal reading, in which a sample is a set. Identical rows never form a pair.
    noise_free : bool
        Say that the labels have no noise, as in a table of a rule: then one changed pair shows an effect, and features
        are ranked by the index.
    confidence : float or None
        Level of the intervals, between 0 and 1, and 1 minus the level of the tests; None leaves out intervals and
        p-values.
    bootstrap : int, optional
        Add standard errors and intervals of ``score`` from this many resamples of the rows: slower by that factor, and
        an interval without width where every resample agrees.
    redundancies : bool
        Look for the features that determine those without pairs. Such features do not make the score look further.
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
    >>> relevance(rows, [a ^ b for a, b, c in rows], feature_names=["a", "b", "c"], noise_free=True)
    Relevance of 3 features for 'y' (2 classes), 8 rows
    feature    ARI       95% CI  pairs  changed  status
    a        1.000  0.510-1.000      4        4  effect
    b        1.000  0.510-1.000      4        4  effect
    c        0.000  0.000-0.490      4        0  none-seen
    Noise: unknown, because no row repeats.
    """
    level = check_confidence(confidence)
    if bootstrap is not None:
        bootstrap = check_whole("bootstrap", bootstrap, low=2, about=" (resamples)", other=", or None")
        if level is None:
            raise InputError("bootstrap needs a level for its intervals: give confidence, such as 0.95, not None.")
    table = encode_table(
        X,
        y,
        weights=weights,
        groups=groups,
        features=features,
        ignore=ignore,
        treatment=Treatment.of(missing, bins, max_values, ids, bin_label),
        feature_names=feature_names,
    )
    return relevance_of(
        table,
        MemoryEngine(n_jobs),
        radius=radius,
        attribution=attribution,
        duplicates=duplicates,
        noise_free=noise_free,
        confidence=level,
        bootstrap=bootstrap,
        redundancies=redundancies,
        seed=seed_from(random_state),
        progress=progress,
    )


@dataclass(frozen=True)
class Counted:
    """A table that was counted: its sums, and its rows as far as they are at hand."""

    n_rows: int
    """Rows of the table, repeated ones included."""
    sums: ContextSums[FeatureSummary]
    margins: CodedRows | Margins
    """How many of the counted rows have each label and value."""
    rows: CodedRows
    """The rows that were counted, or a sample of them where they lie elsewhere."""
    check: Callable[[Determinants], Determinants] | None = None
    """Keeps of the dependencies that were found in a sample those that hold in all rows."""

    @classmethod
    def in_memory(cls, rows: CodedRows, engine: Engine, duplicates: Duplicates) -> "Counted":
        """Count rows that are all at hand."""
        counted = collapse_rows(rows) if duplicates == "once" else rows
        return cls(rows.n_rows, engine.sum_contexts(counted, summarise_contexts(counted)), counted, counted)


def relevance_of(
    table: EncodedTable,
    engine: Engine,
    *,
    counted: Counted | None = None,
    radius: Radius = "auto",
    attribution: AttributionMethod = "noisy-or",
    duplicates: Duplicates = "count",
    noise_free: bool = False,
    confidence: float | None = 0.95,
    bootstrap: int | None = None,
    redundancies: bool = True,
    seed: int | None = 0,
    progress: bool = False,
) -> Relevance:
    """The road after encoding: contexts, index, effect, score, intervals and tests, what makes features redundant.

    The table is counted by the engine, unless that has been done where its rows lie.
    """
    check_choice("duplicates", duplicates, ("count", "once"))
    check_attribution(attribution, tuple(ATTRIBUTIONS))
    radius = check_radius(radius, len(table.names))
    if table.groups is not None and duplicates == "once":
        raise InputError('groups and duplicates="once" cannot be used together; groups need every row.')
    counted = counted or Counted.in_memory(table.coded, engine, duplicates)
    rows, sums = counted.rows, counted.sums
    index = score_pairs(sums.counts, table.n_values)
    search = None
    if redundancies:
        silent = [i for i, status in enumerate(index.paper_status) if status == "no-pairs"]
        show = progress_line("looking for redundant features") if progress else None
        search = find_determinants(rows, silent, progress=show)
        search = counted.check(search) if counted.check is not None else search
    show = progress_line("comparing rows") if progress else None
    determined = () if search is None else tuple(search.by)
    scoring = Scoring(engine, radius, attribution, noise_free or duplicates == "once", seed, determined)
    score = scoring.score(rows, sums, progress=show)
    result = _assemble(table, counted, index, score)
    result = replace(
        result,
        settings=replace(
            result.settings,
            duplicates=duplicates,
            attribution=attribution,
            confidence=confidence,
            bootstrap=bootstrap,
            redundancies=redundancies,
            noise_free=noise_free,
        ),
        noise=_noise(sums, confidence, duplicates),
    )
    if confidence is not None:
        if table.groups is not None:
            found = infer_from_groups(engine, rows, table.groups, sums, score, confidence, seed=seed)
        else:  # rows counted once are not independent draws any more, so they cannot be tested against noise
            shuffling = progress_line("shuffling labels") if progress else None
            is_tested = duplicates == "count"
            found = infer(rows, sums, score, confidence, test=is_tested, seed=seed, progress=shuffling)
        result = replace(result, **vars(found))
    result = replace(result, status=_status(result))
    if bootstrap is not None and confidence is not None:
        weights = rows.weights_or_ones()
        alike = replace(scoring, radius=score.relaxed.radius)  # resamples repeat rows, so "auto" may choose another one
        drawn = resample_rows(alike.rescorer(rows), weights, bootstrap, seed, progress)
        std_error, low, high = spread_of(drawn, confidence)
        rank_low, rank_high = rank_interval(drawn, confidence)
        result = replace(
            result,
            score_std_error=std_error,
            score_low=low,
            score_high=high,
            rank_low=rank_low,
            rank_high=rank_high,
        )
    if search is not None:
        names = table.names
        result = replace(
            result,
            determined_by=tuple(tuple(names[j] for j in search.by.get(i, ())) for i in range(len(names))),
            settings=replace(result.settings, searched_one=search.searched_one, searched_two=search.searched_two),
        )
    return result


def _assemble(table: EncodedTable, counted: Counted, index: Scores, score: FeatureScores) -> Relevance:
    """The result without intervals and tests."""
    counts, summaries, relaxed = counted.sums.counts, counted.sums.summaries, score.relaxed
    effects = [None if summary is None else summary.effect for summary in summaries]
    n_values = table.n_values
    compared, not_compared = _coverage(table, counted.margins, summaries)
    return Relevance(
        names=table.names,
        ari=index.ari,
        effect=np.array([np.nan if effect is None else effect.effect() for effect in effects]),
        noise_rate=np.array([np.nan if effect is None else effect.noise_rate() for effect in effects]),
        score=score.score,
        score_basis=score.basis,
        status=(),
        paper_status=index.paper_status,
        pairs=counts.pairs,
        changed=counts.changed,
        pairs_within=relaxed.pairs,
        changed_within=relaxed.changed,
        effect_pairs=np.array([0 if effect is None else effect.n_pairs for effect in effects]),
        effective_rows=np.array([0.0 if summary is None else summary.profile.n_effective for summary in summaries]),
        n_values=n_values,
        n_missing=np.array([column.n_missing for column in table.columns]),
        edges=tuple(column.edges for column in table.columns),
        value_pairs=n_values * (n_values - 1) // 2,
        value_pairs_compared=compared,
        label=table.label,
        classes=table.classes,
        n_rows=counted.n_rows,
        n_distinct=counts.n_distinct,
        n_identical=counts.n_identical,
        n_contradictions=counts.n_contradictions,
        settings=Settings(
            duplicates="count",
            weighted=table.weights is not None,
            radius=relaxed.radius,
            decay=relaxed.decay,
            reason=relaxed.reason,
            fewest_pairs=relaxed.fewest_pairs,
            attribution="noisy-or",
            n_pairs_used=relaxed.n_pairs_used,
            is_sampled=relaxed.is_sampled,
            converged=relaxed.converged,
            coarser=relaxed.coarser,
            confidence=None,
            bootstrap=None,
            redundancies=False,
            n_groups=None if table.groups is None else int(table.groups.max()) + 1,
            pooled_noise=None if math.isnan(score.pooled_noise) else score.pooled_noise,
        ),
        noise=NoiseFloor(None),
        notes=table.notes,
        backend=table.backend,
        by_distance=_by_distance(score),
        not_compared=not_compared,
    )


def _by_distance(score: FeatureScores) -> tuple[AtDistance, ...]:
    """What the score rests on, distance by distance; with several sets of bins, in the table's own."""
    relaxed = score.relaxed
    if relaxed.radius == 1:
        n_changed = int(relaxed.changed.sum())  # a pair at distance 1 belongs to one feature
        return (AtDistance(1, relaxed.n_pairs_used, n_changed, 1.0),)
    if relaxed.fit is None:
        return ()
    grid = relaxed.fit.grids[0]
    found, distance = grid.found, grid.found.distance
    stands_for = grid.weight / np.maximum(found.keep_probability, 1e-300)  # of a pair that was kept, by distance
    pairs, changed = (
        np.bincount(distance, counts, minlength=len(stands_for)) for counts in (found.n_pairs, found.n_changed)
    )
    mass = np.bincount(distance, found.balanced_pairs, minlength=len(stands_for)) * stands_for
    return tuple(
        AtDistance(d, int(pairs[d]), int(changed[d]), float(mass[d] / mass.sum()))
        for d in np.flatnonzero(pairs).tolist()
    )


def _coverage(
    table: EncodedTable, margins: CodedRows | Margins, summaries: Sequence[FeatureSummary | None]
) -> tuple[Ints, tuple[tuple[tuple[Any, Any], ...], ...]]:
    """How many twos of values were compared, and the first of those that never were, most frequent values first."""
    compared = np.where(table.n_values > MAX_COVERED, -1, 0)
    missing: list[tuple[tuple[Any, Any], ...]] = [()] * len(summaries)
    for i, summary in enumerate(summaries):
        if summary is None or summary.compared is None:
            continue
        n_values = int(table.n_values[i])
        compared[i] = np.count_nonzero(summary.compared) // 2
        if compared[i] < n_values * (n_values - 1) // 2:
            order = np.argsort(-margins.value_sizes(i), kind="stable")
            twos = np.argwhere(np.triu(~summary.compared[np.ix_(order, order)], 1))
            twos = twos[np.argsort(twos.sum(axis=1), kind="stable")][:MAX_LISTED]
            values = table.columns[i].values
            missing[i] = tuple((plain(values[order[a]]), plain(values[order[b]])) for a, b in twos.tolist())
    return compared, tuple(missing)


def _noise(sums: ContextSums[FeatureSummary], confidence: float | None, duplicates: Duplicates) -> NoiseFloor:
    """How often identical rows differ in label, unknown if none repeats or repeats were counted once."""
    return (
        NoiseFloor(None)
        if duplicates == "once"
        else NoiseFloor(*flip_rate(sums.repeats, sums.counts.n_rows, confidence))
    )


def _status(result: Relevance) -> tuple[Status, ...]:
    """One word per feature, about the pairs that its score rests on."""
    settings = result.settings
    p_adjusted = adjust_for_features(result.known_p_values())
    level = 0.05 if settings.confidence is None else 1 - settings.confidence
    is_relaxed = settings.radius > 1
    return decide_status(
        result.n_values,
        result.pairs_within,
        (result.score > ACTIVE) | (p_adjusted <= level) if is_relaxed else result.changed > 0,
        p_adjusted,
        ~np.isnan(p_adjusted) if is_relaxed else ~np.isnan(result.noise_rate),
        level=level,
        noise_free=settings.noise_free,
    )


def ari_score(X: Any, y: Any, *, n_jobs: int | None = None) -> Floats:
    """The exact index of every feature, as a score function for scikit-learn's univariate selectors.

    For ``SelectKBest``, ``SelectPercentile`` and ``GenericUnivariateSelect``. It looks at distance 1 only, as the paper
    does: a feature without pairs scores NaN, which those selectors rank last. On wide tables, where hardly any
    feature has pairs, use :class:`analogical.AnalogicalSelector`, which looks further.

    Parameters
    ----------
    X, y
        As in :func:`analogical.relevance`.
    n_jobs : int, optional
        Threads, by joblib's conventions; the scores do not depend on it.

    Returns
    -------
    ndarray of float
        One score per feature: a share, or NaN for a feature that has no pairs or is constant.

    Examples
    --------
    >>> import numpy as np
    >>> from sklearn.feature_selection import SelectKBest
    >>> from analogical import ari_score
    >>> X = np.array([[a, b, c] for a in (0, 1) for b in (0, 1) for c in (0, 1)])
    >>> SelectKBest(ari_score, k=2).fit(X, X[:, 0] ^ X[:, 2]).get_support()
    array([ True, False,  True])
    """
    table = encode_table(X, y, look_for_leaks=False)
    return score_pairs(MemoryEngine(n_jobs).count_pairs(table.coded), table.n_values).score
