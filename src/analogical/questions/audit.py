"""The audit of one feature: differences in label shares, or means, between its values, adjusted for given features."""

import math
from collections.abc import Sequence
from dataclasses import dataclass, fields, replace
from itertools import cycle
from typing import TYPE_CHECKING, Any, Literal, Unpack

import numpy as np

from analogical._checks import check_confidence, check_limit, listing
from analogical._results import entry_at, json_ready
from analogical._types import Floats
from analogical.columns.columns import plain
from analogical.columns.rules import ColumnOptions
from analogical.errors import InputError
from analogical.estimate.differences import (
    PairedDifference,
    base_rates,
    compared_with,
    contexts_of_two,
    crude_difference,
    largest_context,
    means_by_context,
    measure_difference,
    measure_difference_of_groups,
)
from analogical.estimate.sizes import EffectSums
from analogical.estimate.tests import adjust_for_features
from analogical.questions.evidence import (
    ComparedRows,
    Evidence,
    NamedContext,
    OfOneFeature,
    compare_rows,
    evidence_of,
    name_contexts,
)
from analogical.questions.relevance import DEFAULT_CONFIDENCE
from analogical.study import Given, Study

if TYPE_CHECKING:
    from matplotlib.axes import Axes

MAX_COMPARISONS = 50
"""Maximum number of values that are compared with the reference, and of labels: the most frequent ones."""

Finding = Literal["no-pairs", "too-few-pairs", "unclear", "mixed", "direction"]
"""The conclusion of an audit: no rows could be compared; nothing could have been significant, whatever the labels; no
direction is significant; none is, but the values differ in some contexts; or some direction is significant."""


@dataclass(frozen=True, kw_only=True)
class Difference(PairedDifference):
    """How much more often one value has a label than another, or how much larger the mean label is, all else equal.

    Examples
    --------
    >>> from analogical import audit, load_table
    >>> result = audit(load_table("berkeley").to_frame(), "admitted", "gender", weights="count")
    >>> (women,) = result["female"]
    >>> women.values, women.label, round(women.difference, 3), round(women.crude, 3)
    (('male', 'female'), 'yes', 0.018, -0.142)
    """

    values: tuple[Any, Any]
    """The reference, and the value that is compared with it."""
    label: Any
    """The label that is followed; None for labels that are numbers."""
    p_adjusted: float
    """``p_value`` after Holm's adjustment for all differences of the audit; NaN if unknown."""
    crude: float
    """The crude difference: between all rows of the two values, without adjustment."""


_MEASURED = tuple(field.name for field in fields(PairedDifference))


@dataclass(frozen=True)
class InContext:
    """The reference and another value in one context: rows of each, and how many have the label, or their means.

    Examples
    --------
    >>> from analogical import audit, load_table
    >>> result = audit(load_table("berkeley").to_frame(), "admitted", "gender", weights="count")
    >>> largest = result.contexts[0]
    >>> largest.context, largest.rows, largest.with_label, round(largest.difference, 3)
    ((('department', 'C'),), (325, 593), (120, 202), -0.029)
    """

    values: tuple[Any, Any]
    label: Any
    context: NamedContext
    """Names and values of the features on which the rows agree."""
    rows: tuple[int, int]
    with_label: tuple[int, int] | None
    """Rows that have the label; None for labels that are numbers."""
    means: tuple[float, float]
    """Shares of these rows, or means of numbers: of logarithms, ranks or places if these are compared."""

    @property
    def pairs(self) -> int:
        """Pairs of a row of each value."""
        return self.rows[0] * self.rows[1]

    @property
    def difference(self) -> float:
        """How much more often the second value has the label here, -1 to 1; of numbers, the difference of means."""
        return self.means[1] - self.means[0]


@dataclass(frozen=True, eq=False, repr=False, kw_only=True)
class Audit(OfOneFeature):
    """Differences in label shares, or means, between the values of one feature, all else equal.

    ``audit["female"]`` are the differences of one value, ``len(audit)`` the number of differences.

    The main fields:

    - ``finding``: the conclusion as one word, such as ``"direction"``
    - ``differences``: of each value from ``reference``, with intervals and p-values
    - ``given``: the features on which compared rows agree
    - ``n_pairs``, ``n_changed``: pairs of rows compared, and those whose labels differ
    - ``p_value``: of no difference in any direction
    - ``contexts``, ``examples``: the differences context by context; some pairs of rows

    Examples
    --------
    >>> from analogical import audit, load_table
    >>> result = audit(load_table("berkeley").to_frame(), "admitted", "gender", weights="count")
    >>> result.n_compared, result.n_pairs, result.reference, result.finding
    (4526, 654456, 'male', 'mixed')
    """

    COLUMNS = ("value", "other_value", "label", *_MEASURED, "p_adjusted", "crude")
    DERIVED = ("finding",)
    ITEMS = "differences"

    classes: tuple[Any, ...]
    """The classes; none if labels are numbers."""
    reference: Any
    """The value that the others are compared with: the most frequent one by default."""
    n_rows: int
    n_compared: int
    """Rows that are in at least one pair."""
    base_rates: dict[Any, tuple[float, float]]
    """For each label that is followed, its share among all rows and among those compared; of numbers their means, under
    the name of the label."""
    n_contexts: int
    """Contexts that hold a pair."""
    largest_context: float
    """Share of all pairs that the largest of them holds."""
    n_pairs: int
    """Pairs of rows that agree on the given features and differ on this one."""
    n_changed: int
    """Those whose labels differ."""
    index: float
    """Share of the pairs whose labels differ; of numbers, the mean squared difference; NaN without pairs."""
    noise_rate: float
    """As in :class:`analogical.Relevance`."""
    p_value: float
    """P-value of no difference in any direction: that of :func:`analogical.relevance`, given the same features."""
    adjusted_for: tuple[str, ...]
    """Members of the deciding set on which too few rows agree. ``p_value`` is that of labels less their contribution;
    the differences are not adjusted for them."""
    differences: tuple[Difference, ...]
    """For the reference and every other value, most frequent first; with two classes one label is followed, with very
    many the most frequent ones. Differences of numbers are in their unit, on the scale on which they are compared."""
    n_comparisons: int
    """Number of possible differences; more than ``differences`` if only those with the most frequent values and labels
    were computed."""
    examples: Evidence
    """Some of the pairs."""
    confidence: float
    contexts: tuple[InContext, ...] = ()
    """For each of the first 50 differences, the 18 contexts with most pairs: rows of both values, and how many of them
    have the label, or their means."""
    n_groups: int | None = None

    @property
    def finding(self) -> Finding:
        """The conclusion about the direction, as one word."""
        if self.n_pairs == 0:
            return "no-pairs"
        if not any(difference.smallest_p < self.level for difference in self.differences):
            return "too-few-pairs"
        if self.significant():
            return "direction"
        return "mixed" if self.p_value < self.level else "unclear"

    @property
    def level(self) -> float:
        """Level of the tests."""
        return 1 - self.confidence

    def significant(self) -> list[Difference]:
        """The differences whose adjusted p-value is below the level, if that of all differences is."""
        if not self.p_value < self.level:
            return []
        return [d for d in self.differences if d.smallest_p < self.level and d.p_adjusted < self.level]

    def __getitem__(self, value: Any) -> tuple[Difference, ...]:
        known = dict.fromkeys(value for difference in self.differences for value in difference.values)
        entry_at(value, known, "value")
        return tuple(difference for difference in self.differences if value in difference.values)

    def plot(self, ax: "Axes | None" = None, *, value: Any = None, label: Any = None) -> "Axes":
        """Draw the differences as a forest plot; a single one also context by context.

        Squares, intervals and diamonds are those of :func:`analogical.plot.plot_forest`. With ``value`` or ``label``,
        only the comparisons of this value with the reference, or of this label, are drawn. A single comparison is
        followed by an open circle for each context, those with most pairs first, larger ones for more pairs.
        """
        from analogical.plot.figures import plot_audit

        return plot_audit(self, ax, value=value, label=label)

    def to_dict(self) -> dict[str, Any]:
        """Everything in plain Python types, ready for JSON; unknown numbers are None."""
        return {**super().to_dict(), "examples": json_ready(self.examples.pairs)}


def audit(
    X: Any,
    y: Any = None,
    feature: str | int | None = None,
    *,
    given: Given = "auto",
    reference: Any = None,
    confidence: float = DEFAULT_CONFIDENCE,
    limit: int | None = 6,
    **columns: Unpack[ColumnOptions],
) -> Audit:
    """Differences in label shares, or means, between the values of one feature, adjusted for the given features.

    Parameters
    ----------
    X, y, given, confidence
        As in :func:`analogical.relevance`; or a :class:`analogical.Study`, without ``y``.
    feature : str or int
        Name or position of the feature to audit.
    reference : value of the feature, optional
        The value that the others are compared with; the most frequent one by default.
    limit : int or None
        Number of example pairs: those of the largest difference first, and one against it. Of labels that are numbers,
        those of :func:`analogical.evidence`.
    **columns : options of columns
        See :class:`analogical.ColumnOptions`; all but ``features``.

    Returns
    -------
    Audit
        How many rows were compared, and how much more often each value has each label, or how much larger its mean is.

    Notes
    -----
    With ``groups`` the differences stay those of the rows, and their intervals assume independent groups. p is
    that of a score test whose variance comes from whole groups.

    Examples
    --------
    >>> from analogical import audit, load_table
    >>> result = audit(load_table("berkeley").to_frame(), "admitted", "gender", weights="count")
    >>> first = result.differences[0]
    >>> first.values, first.label, round(first.crude, 3), round(first.difference, 3), round(first.p_value, 3)
    (('male', 'female'), 'yes', -0.142, 0.018, 0.228)
    """
    confidence = check_confidence(confidence)
    limit = check_limit(limit)
    compared = compare_rows(audit, X, y, feature, given, columns, without=("features",))
    study, i, contexts = compared.study, compared.feature, compared.contexts
    table, profile = study.table, contexts.profile
    label_sizes = study.label_sizes
    followed = _followed(study)
    rates = base_rates(contexts, label_sizes, np.column_stack([score for _, score in followed]))
    sizes = study.value_sizes(i)
    against = int(sizes.argmax()) if reference is None else table.find_value(i, reference)
    if against is None:
        known = listing([repr(plain(value)) for value in table.columns[i].values])
        raise InputError(f"The feature {table.names[i]!r} has no value {reference!r} to compare with; it has {known}.")
    by_size = np.argsort(-sizes, kind="stable").tolist()
    others = compared_with(contexts, against, [value for value in by_size if value != against])
    differences = _differences(compared, against, others[:MAX_COMPARISONS], followed, confidence)
    examples = evidence_of(compared, _examples(compared, limit, differences))
    return Audit(
        **compared.about(),
        classes=study.classes,
        reference=plain(table.columns[i].values[against]),
        n_rows=study.n_rows,
        n_compared=profile.n_paired_rows,
        base_rates={
            table.label if label is None else label: (float(everybody), float(of_compared))
            for (label, _), everybody, of_compared in zip(followed, *rates, strict=True)
        },
        n_contexts=int(contexts.times.sum()),
        largest_context=largest_context(contexts),
        n_pairs=profile.n_pairs,
        n_changed=profile.n_changed,
        index=examples.index,
        noise_rate=EffectSums.of(contexts, study.label_scores).noise_rate(),
        p_value=study.p_value(i, compared.given) if len(contexts) else math.nan,
        adjusted_for=study.names_of(compared.given.adjusted_for),
        differences=differences,
        n_comparisons=len(others) * (1 if len(table.classes) == 2 or study.scale is not None else len(table.classes)),
        examples=examples,
        confidence=confidence,
        contexts=_largest_contexts(compared, differences, [score for _, score in followed]),
        n_groups=study.n_groups,
    )


def _followed(study: Study) -> list[tuple[Any, Floats]]:
    """The labels that are followed, with a score for each label code; of numbers None with the numbers.

    With two classes the one that sorts last (1 of 0 and 1, yes of no and yes); otherwise the most frequent ones.
    """
    if study.scale is not None:
        return [(None, study.label_scores[:, 0])]
    classes = study.classes
    followed = sorted(np.argsort(-study.label_sizes, kind="stable")[:MAX_COMPARISONS].tolist())
    if len(classes) == 2:
        try:
            followed = [int(classes[1] > classes[0])]
        except TypeError:
            followed = [int(str(classes[1]) > str(classes[0]))]
    return [(classes[label], (np.arange(len(classes)) == label).astype(np.float64)) for label in followed]


def _differences(
    compared: ComparedRows,
    reference: int,
    others: Sequence[int],
    followed: Sequence[tuple[Any, Floats]],
    confidence: float,
) -> tuple[Difference, ...]:
    """Each of the other values compared with the reference, for each label."""
    study, i = compared.study, compared.feature
    values = study.table.named(i, range(len(study.table.columns[i].values)))
    by_group = None
    if study.group_column is not None and others:
        by_group = study.rows_of([i, *compared.given.columns, study.group_column])
    differences = []
    for other in others:
        two_values = reference, other
        of_two = contexts_of_two(compared.contexts, two_values)
        for label, score in followed:
            measured = measure_difference(of_two, two_values, score, confidence)
            if by_group is not None:
                measured = measure_difference_of_groups(measured, by_group, two_values, score, confidence)
            difference = Difference(
                **vars(measured),
                values=(values[reference], values[other]),
                label=label,
                p_adjusted=math.nan,
                crude=crude_difference(compared.listed.rows, 0, two_values, score),
            )
            differences.append(difference)
    p_values = np.array([difference.p_value for difference in differences], np.float64)
    p_adjusted = adjust_for_features(p_values).tolist()
    return tuple(replace(difference, p_adjusted=p) for difference, p in zip(differences, p_adjusted, strict=True))


def _examples(compared: ComparedRows, limit: int | None, differences: Sequence[Difference]) -> list[tuple[int, int]]:
    """Example pairs: those that show the clearest difference, and at the end one that shows the opposite."""
    if not differences or compared.study.scale is not None:
        return compared.example_pairs(limit)
    tested = [d for d in differences if not math.isnan(d.p_adjusted)]
    strongest = min(tested or differences, key=lambda d: (d.p_adjusted if tested else 0.0, -abs(d.difference)))
    has_rarer, has_more_frequent = (compared.has_value(value) for value in strongest.values)
    if strongest.difference < 0:
        has_rarer, has_more_frequent = has_more_frequent, has_rarer
    has_label = compared.has_label(strongest.label)
    # All pairs of a row of one value with the label and a row of the other without it show the same direction.
    showing = compared.find_pairs(limit, np.where(has_label, has_more_frequent, has_rarer))
    against: list[tuple[int, int]] = []
    if limit is None or limit >= 2:
        against = compared.find_pairs(1, np.where(has_label, has_rarer, has_more_frequent))
    n_showing = None if limit is None else max(limit - len(against), 0)
    return [*showing[:n_showing], *against] or compared.find_pairs(limit)


def _largest_contexts(
    compared: ComparedRows, differences: Sequence[Difference], scores: Sequence[Floats]
) -> tuple[InContext, ...]:
    """For each of the first 50 differences the 18 contexts with most pairs, largest first."""
    if not differences:
        return ()
    listed = compared.listed
    in_contexts: list[InContext] = []
    for difference, score in zip(differences[:50], cycle(scores), strict=False):
        sides = [compared.has_value(value) for value in difference.values]
        rows = [listed.count_by_context(side) for side in sides]
        means = [means_by_context(listed, side, score) for side in sides]
        with_label = [np.round(mean * n) for mean, n in zip(means, rows, strict=True)]
        pairs = rows[0].astype(np.float64) * rows[1]
        largest = [c for c in np.argsort(-pairs, kind="stable")[:18].tolist() if pairs[c]]
        names = name_contexts(compared.study, compared.given.columns, listed, largest)
        in_contexts += [
            InContext(
                values=difference.values,
                label=difference.label,
                context=context,
                rows=(int(rows[0][c]), int(rows[1][c])),
                with_label=None if difference.label is None else (int(with_label[0][c]), int(with_label[1][c])),
                means=(float(means[0][c]), float(means[1][c])),
            )
            for c, context in zip(largest, names, strict=True)
        ]
    return tuple(in_contexts)
