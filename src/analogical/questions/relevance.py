"""From a table to its relevance: find the deciding set, compare rows that agree on it, test and estimate."""

import math
from collections.abc import Hashable
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any, Unpack

import numpy as np

from analogical._checks import check_confidence
from analogical._progress import progress_line, timed
from analogical._results import Result, entry_at, per_entry
from analogical._types import Floats, Ints, Note, Positions
from analogical.columns.encode import encode_table
from analogical.columns.rules import ColumnOptions, Rules
from analogical.errors import InputError
from analogical.estimate.sizes import Size, t_quantile
from analogical.estimate.status import (
    LEVEL,
    PaperStatus,
    Status,
    ari_of,
    decide_status,
    largest_negligible,
    order_features,
    paper_status_of,
    score_pairs,
)
from analogical.estimate.tests import adjust_for_features
from analogical.study import Asked, Duplicates, Given, Study, check_given, study_of

if TYPE_CHECKING:
    from matplotlib.axes import Axes

__all__ = [
    "Direction",
    "Relevance",
    "Settings",
    "Slope",
    "Status",
    "ari_score",
    "relevance",
    "settings_of",
]

DEFAULT_CONFIDENCE = 1 - LEVEL


@dataclass(frozen=True)
class Settings:
    """How a relevance was computed.

    Examples
    --------
    >>> from analogical import load_table, relevance
    >>> settings = relevance(load_table("titanic").to_frame(), "survived", weights="count").settings
    >>> settings.given, settings.weighted, settings.searched_rows
    ('auto', True, 2201)
    """

    given: Asked
    """On which other features compared rows agree: the deciding set, all, or those named."""
    confidence: float
    """Confidence level of the intervals; tests use the level 1 - confidence."""
    duplicates: Duplicates
    weighted: bool
    """Whether rows came with frequencies."""
    searched_rows: int | None
    """Rows that the deciding set was chosen on; None if there is none."""
    negligible: float
    """Effect up to which a feature that is not significant may have the status none: a share of how often the labels of
    two rows differ."""
    scale: str = "classes"
    """How labels were compared: as ``"classes"``, as a ``"number"``, its ``"log"`` or ``"ranks"``, or ``"ordered"``."""
    unit: str = ""
    """Unit of a label that is a number, if it is known: days, hours, seconds."""
    explained: float | None = None
    """Share of the variance of the label that the deciding set explains; None if there is none."""
    n_groups: int | None = None
    """Groups of rows that depend on each other; None if rows are assumed independent."""
    engine: str = "memory"
    """Where the rows lie: in memory, or the name of an engine."""
    backend: str | None = None
    """Name of the dataframe library that the table came in."""


@dataclass(frozen=True)
class Direction:
    """How the label differs between two values of a feature: its share in percentage points, or the mean of a number.

    Given the same features as the effect, averaged over contexts (for two values the Mantel-Haenszel difference).

    Examples
    --------
    >>> from analogical import load_table, relevance
    >>> direction = relevance(load_table("titanic").to_frame(), "survived", weights="count")["sex"]["direction"]
    >>> direction["value"], direction["against"], direction["label"], round(direction["difference"])
    ('female', 'male', 'yes', 49)
    """

    value: Any
    against: Any
    label: Any
    """The class whose share is compared; None for a label that is a number."""
    difference: float
    """How much larger the share, or the mean, is with the value than with the other one."""
    low: float
    high: float


@dataclass(frozen=True)
class Slope:
    """How the label changes with a number: its share in percentage points, or its mean, by least squares.

    Given the same features as the effect; a bin counts as the mean of its numbers.

    Examples
    --------
    >>> from analogical import relevance
    >>> metres = [[0.5 * step] for step in range(400)]
    >>> slope = relevance(metres, [3 * step % 7 + 2.5 * step for step in range(400)]).slope[0]
    >>> slope.step, round(slope.difference, 1)
    (10, 50.1)
    """

    step: float
    """A power of ten near the standard deviation of the feature."""
    difference: float
    """How much larger the share, or the mean, is with so much more of the feature."""
    low: float
    high: float


@dataclass(frozen=True)
class FeatureColumn:
    """A feature as a column: its values, missing cells and bins.

    Examples
    --------
    >>> from analogical import relevance
    >>> metres, is_far = [[0.5 * step] for step in range(40)], [step > 20 for step in range(40)]
    >>> relevance(metres, is_far, bins=4).feature_columns
    (FeatureColumn(n_values=4, n_missing=0, edges=(5.0, 10.0, 15.0)),)
    """

    n_values: int
    n_missing: int
    """Missing cells; they are a value of their own, None."""
    edges: tuple[Any, ...]
    """The lowest value of every bin but the first; empty for categories."""


@dataclass(frozen=True, eq=False, repr=False, kw_only=True)
class Relevance(Result):
    """Relevance of every feature of a table for its label, in column order.

    ``result["sex"]`` is one feature as a dictionary, ``len(result)`` the number of features.

    The main fields, with one item per feature:

    - ``names``: the features
    - ``status``: ``"effect"``, ``"none"``, ``"unclear"``, ``"same"`` (a copy) or ``"constant"``
    - ``effect``, ``effect_low``, ``effect_high``: how much label shares differ, with the interval
    - ``p_value``, ``p_adjusted``: of no effect; adjusted for the number of features
    - ``direction``: how the label differs between two values, in percentage points or the unit of the label
    - ``given``, ``adjusted_for``: the features on which compared rows agree; those that are subtracted instead
    - ``ari``: the paper's index

    Notes
    -----
    Intervals and p-values assume independent rows; use ``groups`` if they are not (several visits of a patient,
    copied rows).

    Examples
    --------
    >>> from analogical import load_table, relevance
    >>> result = relevance(load_table("titanic").to_frame(), "survived", weights="count")
    >>> result.ranking(), result.status
    (['sex', 'age', 'class'], ('effect', 'effect', 'effect'))
    >>> result.given[1], result.pairs.tolist(), result.changed.tolist()
    (('class', 'age'), [944789, 138516, 31367], [309473, 80024, 12651])
    """

    ENTRIES = "features"

    label: str
    classes: tuple[Hashable, ...]
    """The values of the label; none if it is a number."""
    n_rows: int
    deciding: tuple[str, ...]
    """The deciding set: features that are each significant given the others."""
    notes: tuple[Note, ...] = ()
    """What was done to the table before it was counted."""
    settings: Settings
    names: tuple[str, ...] = per_entry("name")
    """The features."""
    status: tuple[Status, ...] = per_entry()
    """``"effect"`` (``p_adjusted`` at most 1 - confidence), ``"none"`` (not so, and neither ``effect_high`` nor the
    clearest difference is above ``settings.negligible``), ``"unclear"`` (neither), ``"same"`` (a copy: see ``same_as``)
    or ``"constant"``."""
    effect: Floats = per_entry()
    """How much the label shares differ between two values of the feature among rows that agree on the given features:
    half the squared distance of the shares, averaged over pairs of rows. With two classes its square root is the
    difference in label shares; of a label that is a number it is the difference of means. 0 for no difference, NaN
    without pairs."""
    effect_low: Floats = per_entry()
    """Lower end of the interval of ``effect``; above 0 only if ``p_value`` is at most 1 - confidence."""
    effect_high: Floats = per_entry()
    p_value: Floats = per_entry()
    """P-value of no effect given the other features; NaN where nothing is tested."""
    p_adjusted: Floats = per_entry()
    """The same adjusted for the number of features, by Holm's method."""
    direction: tuple[Direction | None, ...] = per_entry()
    """How the label differs between two values. For numbers the highest vs. the lowest bin, otherwise the clearest
    difference from the most frequent value."""
    slope: tuple[Slope | None, ...] = per_entry()
    """How the label changes with a feature that is a number; None for other features, and for more than two classes."""
    given: tuple[tuple[str, ...], ...] = per_entry()
    """For each feature the features on which compared rows agree."""
    adjusted_for: tuple[tuple[str, ...], ...] = per_entry()
    """For each feature the members of the deciding set on which too few rows agree: their contribution is subtracted
    from the label."""
    same_as: tuple[str | None, ...] = per_entry()
    """For each feature the given feature that it copies: no test can distinguish the two."""
    index: Floats = per_entry()
    """Share of the compared pairs whose labels differ, or the mean squared difference of numbers; NaN without pairs."""
    noise_rate: Floats = per_entry()
    """The same share for rows that agree on the feature as well, in the same contexts; NaN where no rows repeat."""
    compared: Ints = per_entry()
    """Pairs of rows that agree on the given features and differ on this one."""
    ari: Floats = per_entry()
    """The paper's index: 0 for a constant feature, and 2 if the feature varies but has no pairs."""
    pairs: Ints = per_entry()
    """Pairs of rows that differ on this feature only."""
    changed: Ints = per_entry()
    """How many of them have different labels."""
    paper_status: tuple[PaperStatus, ...] = per_entry()
    """The paper's words: ``"relevant"`` (some pair changed its label), ``"irrelevant"`` (there are pairs and none did),
    ``"constant"`` or ``"no-pairs"``."""
    feature_columns: tuple[FeatureColumn, ...] = per_entry("n_values", "n_missing", "edges")

    def __getitem__(self, name: str) -> dict[str, Any]:
        return self.record(entry_at(name, self.names, "feature"))

    @classmethod
    def columns(cls) -> tuple[str, ...]:
        """Names of the columns of ``to_frame``; the last two say how labels are compared, as ``settings`` does."""
        return (*super().columns(), "scale", "unit")

    def records(self) -> list[dict[str, Any]]:
        """One dictionary per feature, best first."""
        own = {"scale": self.settings.scale, "unit": self.settings.unit}
        return [record | own for record in super().records()]

    def order(self) -> Positions:
        """Positions of the features, best first; the order of :meth:`ranking`."""
        return order_features(self.status, self.effect, self.p_value)

    def ranking(self) -> list[str]:
        """Names of the features, best first.

        The order is total: effects by size, then unclear features by p-value, those with none, copies, and constant
        features; ties by column order.
        """
        return [self.names[i] for i in self.order()]

    def with_status(self, status: Status) -> list[str]:
        """Names of the features with a status, best first."""
        return [self.names[i] for i in self.order() if self.status[i] == status]

    def plot(self, ax: "Axes | None" = None, *, top: int = 20) -> "Axes":
        """Draw the size of every effect in percentage points as a bar with its interval, best first.

        Blue bars are significant, grey ones are not. On the right are the size and the direction, with the interval of
        the latter; a dash marks a constant feature, or one without pairs. At most ``top`` features are shown, up to 20.
        """
        from analogical.plot.figures import plot_relevance

        return plot_relevance(self, ax, top=top)


def relevance(
    X: Any,
    y: Any = None,
    *,
    given: Given = "auto",
    duplicates: Duplicates = "count",
    confidence: float = DEFAULT_CONFIDENCE,
    progress: bool = False,
    n_jobs: int | None = None,
    **columns: Unpack[ColumnOptions],
) -> Relevance:
    """Relevance of every feature for the label, given the others.

    First finds the *deciding set*: features that are each significant given the others. Then compares rows that agree
    on it and differ on one feature: if their labels differ more often than those of equal rows, that feature has an
    effect. Members on which too few rows agree are subtracted from the label instead of held fixed.

    Parameters
    ----------
    X : dataframe, 2-d array, list of rows or Study
        pandas, polars (lazy frames too) or pyarrow; numpy arrays; scipy sparse matrices; rows as lists or tuples.
        Categories are compared for equality only, so their coding does not matter; numbers are binned first. Or a
        :class:`analogical.Study`, alone: it has its label and its columns. Or a table that lies
        elsewhere, as a lazy frame of DuckDB, PySpark, Ibis or SQLFrame; ``y``, ``weights`` and ``groups`` then name
        columns.
    y : array-like of shape (rows,), or name of a column
        The label, of any hashable kind and with two or more classes; or the name of a column of ``X``. A column of
        ``X`` that has the name of ``y`` and the same values is not a feature; ``notes`` says so.
    given : {"auto", "all"} or list of features
        On which other features compared rows agree: the deciding set, all others (the paper's index), or those named;
        an empty list for none, as in a univariate filter. Only with ``"auto"`` is anything subtracted.
    duplicates : {"count", "once"}
        Identical rows with the same label count as often as they occur, or once: the paper's definition over sets. Then
        p assumes that they are copies of one record, and that no two independent rows are identical.
    confidence : float
        Confidence level of the intervals; tests use the level 1 - confidence.
    progress : bool
        Show progress on stderr.
    n_jobs : int, optional
        Threads, by joblib's conventions: None is one (or what ``joblib.parallel_config`` says), -1 one per processor.
        The result does not depend on it.
    **columns : options of columns
        The roles of columns and how cells are encoded, which :class:`analogical.ColumnOptions` describes: ``weights``,
        ``groups``, ``features``, ``ignore``, ``missing``, ``bins``, ``max_values``, ``ids``, ``classes``,
        ``scale``, ``ordered``, ``date_parts``, ``fold_case`` and ``feature_names``.

    Returns
    -------
    Relevance
        Effect, interval, p-value, direction and status of every feature, and its given features.

    Raises
    ------
    InputError
        If the table or the label cannot be used; the message says what is wrong and how to go on.

    Notes
    -----
    The deciding set is searched on at most 20,000 rows, chosen by what is in them; all numbers come from all rows. So
    in larger tables it may differ from the features with the status ``"effect"``. P-values do not account for this
    search. The cost is one grouping of the rows per feature, the search, and, where members are subtracted, a
    regression.

    Examples
    --------
    The label is the exclusive or of two features; a third one is noise:

    >>> from analogical import relevance
    >>> rows = [(a, b, c) for a in (0, 1) for b in (0, 1) for c in (0, 1)] * 50
    >>> relevance(rows, [a ^ b for a, b, c in rows], feature_names=["a", "b", "c"]).status
    ('effect', 'effect', 'none')
    """
    with timed(progress):
        study = study_of(relevance, X, y, columns, duplicates=duplicates, n_jobs=n_jobs)
        settings = settings_of(study, check_given(given), check_confidence(confidence))
        question = "relevance", settings.given, settings.confidence
        return study.once(question, lambda: _relevance(study, settings, progress))


def settings_of(study: Study, given: Asked, confidence: float) -> Settings:
    """How the numbers of a study are computed."""
    return Settings(
        given=given if isinstance(given, str) else study.names_of(study.positions_of(given)),
        confidence=confidence,
        duplicates=study.duplicates,
        weighted=study.table.weights is not None,
        searched_rows=study.sample.rows.n_rows if given == "auto" else None,
        negligible=largest_negligible(study.label_sizes, None if study.scale is None else study.scale.scores),
        scale="classes" if study.scale is None else study.scale.kind,
        unit="" if study.scale is None else study.scale.unit,
        engine=study.table.engine,
        backend=study.table.backend,
    )


def _relevance(study: Study, settings: Settings, progress: bool) -> Relevance:
    """The contexts of every feature, its test and effect in these contexts, and its status."""
    table, level, explained = study.table, 1 - settings.confidence, None
    deciding = list[int]()
    if settings.given == "auto":
        deciding = study.explanation.columns
        explained = study.explanation.explained() if deciding else None
    contexts = study.given(settings.given)
    # NaN for a constant feature or a copy
    effect, effect_low, effect_high, p_value, index, noise_rate = np.full((6, study.n_features), np.nan)
    compared, direction = np.zeros(study.n_features, np.int64), list[Direction | None]([None] * study.n_features)
    slope = list[Slope | None]([None] * study.n_features)
    testable = [i for i, context in enumerate(contexts) if context.same_as is None and table.n_values[i] > 1]
    show = progress_line("comparing rows") if progress else None
    sizes = study.sizes({i: contexts[i] for i in testable}, settings.confidence)
    for n_done, (i, size) in enumerate(sizes, 1):
        tested = study.tested(i, contexts[i].columns)
        if tested is not None and size is not None:
            p_value[i] = study.p_value(i, contexts[i])
            is_significant = p_value[i] <= level
            effect[i] = max(size.effect, 0.0)
            if is_significant and effect[i] == 0:  # the test saw an effect whose size is uncertain
                effect[i] = min(size.common.squared, size.high)
            effect_low[i] = size.low if is_significant else 0.0
            effect_high[i] = max(size.high, effect[i])
            index[i], noise_rate[i] = tested.index, size.noise_rate
            compared[i], direction[i] = tested.n_pairs, _direction(study, i, size, settings.confidence)
            slope[i] = _slope(study, i, size, settings.confidence)
        if show is not None:
            show(n_done, len(testable))
    p_adjusted = adjust_for_features(p_value)
    return Relevance(
        names=table.names,
        status=tuple(
            decide_status(
                is_constant=bool(table.n_values[i] == 1),
                is_copy=context.same_as is not None,
                p_adjusted=float(p_adjusted[i]),
                high=max(float(effect_high[i]), _clear_effect(direction[i], settings.scale)),
                level=level,
                negligible=settings.negligible,
            )
            for i, context in enumerate(contexts)
        ),
        effect=effect,
        effect_low=effect_low,
        effect_high=effect_high,
        p_value=p_value,
        p_adjusted=p_adjusted,
        direction=tuple(direction),
        slope=tuple(slope),
        given=tuple(study.names_of(context.columns) for context in contexts),
        adjusted_for=tuple(study.names_of(context.adjusted_for) for context in contexts),
        same_as=tuple(study.name_of(context.same_as) for context in contexts),
        deciding=study.names_of(deciding),
        index=index,
        noise_rate=noise_rate,
        compared=compared,
        ari=ari_of(study.counts, table.n_values),
        pairs=study.counts.pairs,
        changed=study.counts.changed,
        paper_status=paper_status_of(study.counts, table.n_values),
        feature_columns=tuple(FeatureColumn(len(c.values), c.n_missing, c.edges or ()) for c in table.columns),
        label=table.label,
        classes=study.classes,
        n_rows=study.n_rows,
        settings=replace(settings, explained=explained, n_groups=study.n_groups),
        notes=study.search_notes if settings.given == "auto" else study.notes,
    )


def _clear_effect(direction: Direction | None, scale: str) -> float:
    """The largest effect of the value with the clearest difference, if it differs; other values may dilute it."""
    if direction is None or direction.low <= 0 <= direction.high:
        return 0.0
    return max(direction.low**2, direction.high**2) / (10_000 if scale == "classes" else 1)


def _direction(study: Study, feature: int, size: Size, confidence: float) -> Direction | None:
    """Direction of a feature: of its compared values the two whose labels differ most clearly.

    Two bins are compared, the lowest and the highest, or all values with the most frequent one.
    """
    column, classes = study.table.columns[feature], study.table.classes
    values = [v for v in range(len(column.values)) if size.common.pairs[size.values[v]].any()]
    if len(values) < 2:
        return None
    if column.edges is not None:
        bins = [v for v in values if column.n_missing == 0 or v < len(column.values) - 1]
        lowest, *_, highest = bins if len(bins) > 1 else values
        twos = [(lowest, highest)]
    else:
        n_rows = study.value_sizes(feature)
        most_frequent = max(values, key=lambda v: int(n_rows[v]))
        twos = [(most_frequent, v) for v in values if size.values[v] != size.values[most_frequent]]
    scores = study.label_scores
    columns = [0]
    if study.scale is None:  # not the rarest of many classes, which share a column
        columns = np.flatnonzero(scores.sum(axis=0) == 1).tolist() if len(classes) > 2 else [1]
    clearest = size.clearest_difference(twos, columns)
    if clearest is None:
        return None
    value, against = study.table.named(feature, [clearest.value, clearest.against])
    largest = float(np.ptp(scores))
    n_compared = len(twos) * len(columns)  # the clearest of so many
    ends = [min(max(end, -largest), largest) for end in clearest.interval(1 - (1 - confidence) / n_compared)]
    if study.scale is not None:  # rounded, because the order of rows must not matter
        return Direction(value, against, None, *(float(f"{end:.12g}") for end in ends))
    label = classes[int(scores[:, clearest.column].argmax())]
    return Direction(value, against, label, *(round(100 * end, 9) for end in ends))


def _slope(study: Study, feature: int, size: Size, confidence: float) -> Slope | None:
    """How the label changes with a feature that is a number, by weighted least squares on its values or bins."""
    numbers = _numbers_of(study, feature)
    if numbers is None or study.label_scores.shape[1] > 2 or not np.abs(numbers).max(initial=0) < 1e100:
        return None  # the squares of such numbers overflow
    places = size.values[: len(numbers)]
    rows = study.value_sizes(feature)[: len(numbers)] * size.common.pairs[places].any(axis=1)
    away = numbers - rows @ numbers / max(rows.sum(), 1)
    squares = float(rows @ away**2)
    if np.count_nonzero(rows) < 3 or not squares > 0:
        return None
    step = 10.0 ** math.floor(math.log10(math.sqrt(squares / rows.sum())))
    contrast = np.bincount(places, step * rows * away / squares, minlength=size.common.means.shape[1])
    difference, error = size.common.along(contrast.astype(np.float64), -1)
    reach, unit = t_quantile(math.inf, confidence) * error, 100 if study.scale is None else 1
    found = (float(f"{unit * end:.12g}") for end in (difference, difference - reach, difference + reach))
    return Slope(int(step) if step >= 1 else step, *found)


def _numbers_of(study: Study, feature: int) -> Floats | None:
    """The number that each value of a feature stands for, of a bin about the mean of its rows; without missing cells.

    None if values are not numbers.
    """
    column = study.table.columns[feature]
    values = list(column.values)[: len(column.values) - (column.n_missing > 0)]
    if column.edges is None:
        are_numbers = all(isinstance(value, int | float) and not isinstance(value, bool) for value in values)
        return np.array(values, np.float64) if are_numbers else None
    fine_rows = study.fine_sizes.get(feature)
    if fine_rows is None or not isinstance(column.fine_ends[0][0], int | float):
        return None
    ends = np.array(column.fine_ends, np.float64)
    bins = np.searchsorted(np.array(column.edges, np.float64), ends[:, 0], side="right")
    rows = np.zeros(len(ends))  # the last bins may have no rows
    rows[: len(fine_rows)] = fine_rows[: len(ends)]
    return np.asarray(np.bincount(bins, rows * ends.mean(axis=1)) / np.maximum(np.bincount(bins, rows), 1.0))


def ari_score(X: Any, y: Any, *, n_jobs: int | None = None) -> Floats:
    """The exact index of every feature, as a score function for scikit-learn's univariate selectors.

    For ``SelectKBest``, ``SelectPercentile`` and ``GenericUnivariateSelect``. It compares rows that differ on one
    feature only, as the paper does, and asks whether their labels are equal: a feature without pairs scores NaN, which
    those selectors rank last. On wide tables, where few features have pairs, and for a label that is a number, use
    :class:`analogical.AnalogicalSelector`.

    Parameters
    ----------
    X, y, n_jobs
        As in :func:`analogical.relevance`.

    Returns
    -------
    ndarray of float
        One score per feature: a share, or NaN for a feature that has no pairs, is constant or is an identifier.

    Raises
    ------
    InputError
        If the label is a number with many values, which are hardly ever equal, or the table cannot be used.

    Examples
    --------
    >>> import numpy as np
    >>> from sklearn.feature_selection import SelectKBest
    >>> from analogical import ari_score
    >>> X = np.array([[a, b, c] for a in (0, 1) for b in (0, 1) for c in (0, 1)])
    >>> SelectKBest(ari_score, k=2).fit(X, X[:, 0] ^ X[:, 2]).get_support()
    array([ True, False,  True])
    """
    study = Study(encode_table(X, y, Rules(date_parts=False)), n_jobs=n_jobs)
    table = study.table
    if study.scale is not None and study.scale.kind != "ordered":
        raise InputError(
            "ari_score asks whether labels are equal, and y is a number, whose values hardly ever are; use"
            " AnalogicalSelector, which compares numbers, or divide y into classes before."
        )
    n_set_aside = sum(len(note.columns) for note in table.notes if note.kind == "set-aside")
    scores = np.full(study.n_features + n_set_aside, np.nan)
    scores[[column.position for column in table.columns]] = score_pairs(study.counts)
    return scores
