"""The audit of one feature: differences in label shares between its values, adjusted for the given features."""

import math
from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any, Literal, Unpack

import numpy as np
from scipy.special import stdtrit

from analogical._checks import check_limit, check_number
from analogical._results import Result, entry_at, json_ready
from analogical._types import Bools, Floats, Ints, Note
from analogical.count.contexts import Contexts
from analogical.errors import InputError
from analogical.estimate.clusters import unit_p_value
from analogical.estimate.differences import (
    PairedDifference,
    compared_with,
    difference_interval,
    holm,
    measure_difference,
    split_two_values,
)
from analogical.estimate.effect import EffectSums
from analogical.estimate.sizes import measure_size_of_units
from analogical.study import Given, Study
from analogical.table.choosing import listing
from analogical.table.columns import plain
from analogical.table.encode import EncodedTable
from analogical.table.rules import ColumnOptions
from analogical.verbs.evidence import ComparedRows, Evidence, compare_rows, name_contexts, name_pairs
from analogical.verbs.relevance import DEFAULT_CONFIDENCE

if TYPE_CHECKING:
    from matplotlib.axes import Axes

__all__ = ["Audit", "Difference", "Finding", "InContext", "Obstacle", "audit", "audit_of"]

MAX_COMPARISONS = 50
"""At most so many values are compared with the reference, the most frequent ones."""
MAX_FOLLOWED = 50
"""At most so many labels are followed, the most frequent ones."""
MAX_CONTEXTS = 18
"""Contexts of each difference that are listed, those with most pairs."""
MAX_LISTED = 50
"""Differences whose contexts are listed."""
MAX_OBSTACLES = 40
"""Columns that are tried as the one that prevents rows from being compared."""

ROUNDING = 1e-9
"""A standard error below this is a rounding error."""

Finding = Literal["no-pairs", "too-few-pairs", "unclear", "mixed", "direction"]
"""What an audit can say: no two rows could be compared; whatever the labels, nothing could have been significant;
no direction is significant; none is, but the values differ in some contexts; or some direction is significant."""


@dataclass(frozen=True, kw_only=True)
class Difference(PairedDifference):
    """How much more often one value has a label than another, adjusted for the given features.

    Examples
    --------
    >>> from analogical import audit, load_table
    >>> found = audit(load_table("berkeley").to_frame(), "admitted", "gender", weights="count")
    >>> (women,) = found["female"]
    >>> women.values, women.label, round(women.difference, 3), round(women.crude, 3)
    (('male', 'female'), 'yes', 0.018, -0.142)
    """

    values: tuple[Any, Any]
    """The reference, and the value that is compared with it."""
    label: Any
    """The label that is followed."""
    p_adjusted: float
    """``p_value`` after Holm's adjustment for all differences of the audit; NaN if unknown."""
    crude: float
    """The crude difference: between all rows of the two values, without adjustment."""


@dataclass(frozen=True)
class InContext:
    """The reference and another value in one context: how many rows of each, and how many of them have the label.

    Examples
    --------
    >>> from analogical import audit, load_table
    >>> found = audit(load_table("berkeley").to_frame(), "admitted", "gender", weights="count")
    >>> largest = found.contexts[0]
    >>> largest.context, largest.rows, largest.with_label, round(largest.difference, 3)
    ((('department', 'C'),), (325, 593), (120, 202), -0.029)
    """

    values: tuple[Any, Any]
    label: Any
    context: tuple[tuple[str, Any], ...]
    """Names and values of the features on which the rows agree."""
    rows: tuple[int, int]
    with_label: tuple[int, int]

    @property
    def pairs(self) -> int:
        """Pairs of a row of each value."""
        return self.rows[0] * self.rows[1]

    @property
    def difference(self) -> float:
        """How much more often the second value has the label here; -1 to 1."""
        return self.with_label[1] / self.rows[1] - self.with_label[0] / self.rows[0]


@dataclass(frozen=True)
class Obstacle:
    """A given column without which more rows could be compared.

    Examples
    --------
    >>> from analogical import audit
    >>> rows = [("m", 1, "a"), ("f", 1, "b"), ("m", 2, "c"), ("f", 2, "d"), ("m", 3, "e"), ("f", 3, "f")]
    >>> found = audit(rows, [1, 0, 1, 0, 1, 0], 0, given="all", ids="keep")
    >>> found.n_compared, found.obstacle
    (0, Obstacle(column='x2', n_compared=6))
    """

    column: str
    n_compared: int
    """Rows that could be compared if the column were not given."""


@dataclass(frozen=True, eq=False, repr=False)
class Audit(Result):
    """Differences in label shares between the values of one feature, all else equal.

    ``audit["female"]`` are the differences of one value, ``len(audit)`` the number of differences.

    Attributes
    ----------
    feature, label : str
        The feature audited, and the label that may change with it.
    given : tuple of str
        The features on which compared rows agree.
    same_as : str or None
        The feature of the deciding set that the audited one copies: then no rows can be compared.
    stand_ins : tuple of str
        Features that could replace the audited one in the deciding set, if it is not significant given them: the data
        do not show which of them matters.
    classes : tuple
        The label's classes.
    reference : object
        The value that the others are compared with: the most frequent one by default.
    n_rows, n_compared : int
        All rows, and those that are in at least one pair.
    base_rates : dict
        For each label that is followed, its share among all rows and among those compared.
    n_contexts, largest_context : int, float
        Contexts that hold a pair, and the share of all pairs that the largest of them holds.
    obstacle : Obstacle or None
        The given column that prevents most rows from being compared, if fewer than half are.
    n_pairs, n_changed : int
        Pairs of rows that agree on the given features and differ on this one, and those whose labels differ.
    index : float
        n_changed / n_pairs; NaN without pairs.
    noise_rate : float
        The same share for rows that agree on the feature as well, in the same contexts; NaN where no rows repeat.
    p_value : float
        P-value of no difference in any direction, as in :class:`analogical.Relevance`; NaN if unknown.
    differences : tuple of Difference
        For the reference and every other value, most frequent first; with two classes one label is followed, with very
        many the most frequent ones.
    n_comparisons : int
        Number of possible differences; more than ``differences`` if only those with the most frequent values and
        labels were computed.
    contexts : tuple of InContext
        For each of the first 50 differences, the 18 contexts with most pairs: rows of both values, and how many of them
        have the label.
    examples : Evidence
        Some of the pairs.
    confidence : float
        Level of the intervals.
    n_groups : int or None
        Groups of rows that depend on each other; None if rows are assumed independent.
    notes : tuple of Note
        What was done to the table before it was counted.

    Examples
    --------
    >>> from analogical import audit, load_table
    >>> found = audit(load_table("berkeley").to_frame(), "admitted", "gender", weights="count")
    >>> found.n_compared, found.n_pairs, found.reference, found.finding
    (4526, 654456, 'male', 'mixed')
    """

    feature: str
    label: str
    given: tuple[str, ...]
    same_as: str | None
    stand_ins: tuple[str, ...]
    classes: tuple[Any, ...]
    reference: Any
    n_rows: int
    n_compared: int
    base_rates: dict[Any, tuple[float, float]]
    n_contexts: int
    largest_context: float
    obstacle: Obstacle | None
    n_pairs: int
    n_changed: int
    index: float
    noise_rate: float
    p_value: float
    differences: tuple[Difference, ...]
    n_comparisons: int
    examples: Evidence
    confidence: float
    contexts: tuple[InContext, ...] = ()
    n_groups: int | None = None
    notes: tuple[Note, ...] = ()
    backend: str | None = None

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
        """The differences whose adjusted p-value is below the level."""
        return [d for d in self.differences if d.smallest_p < self.level and d.p_adjusted < self.level]

    def __len__(self) -> int:
        return len(self.differences)

    def __getitem__(self, value: Any) -> tuple[Difference, ...]:
        known = dict.fromkeys(value for difference in self.differences for value in difference.values)
        entry_at(value, known, "value")
        return tuple(difference for difference in self.differences if value in difference.values)

    def plot(self, ax: "Axes | None" = None, *, value: Any = None, label: Any = None) -> "Axes":
        """Adjusted and crude differences, and by context; see :func:`analogical.plot.plot_audit`."""
        from analogical.plot import plot_audit

        return plot_audit(self, ax, value=value, label=label)

    def records(self) -> list[dict[str, Any]]:
        """One dictionary per difference."""
        return [
            {
                "value": json_ready(difference.values[0]),
                "other_value": json_ready(difference.values[1]),
                **{name: json_ready(getattr(difference, name)) for name in _DIFFERENCE_FIELDS},
            }
            for difference in self.differences
        ]

    def to_dict(self) -> dict[str, Any]:
        """Everything in plain Python types, ready for JSON; unknown numbers are None."""
        nested = ("differences", "contexts", "examples", "backend")
        content = {name: json_ready(value) for name, value in vars(self).items() if name not in nested}
        return {
            **content,
            "finding": self.finding,
            "differences": json_ready(self.differences),
            "contexts": [
                json_ready(found) | {"context": {name: json_ready(value) for name, value in found.context}}
                for found in self.contexts
            ],
            "examples": self.examples.to_dict()["pairs"],
        }

    def columns(self) -> tuple[str, ...]:
        """Names of the columns of ``to_frame``."""
        return ("value", "other_value", *_DIFFERENCE_FIELDS)


_DIFFERENCE_FIELDS = (
    "label",
    "pairs",
    "changed",
    "gained",
    "lost",
    "difference",
    "difference_low",
    "difference_high",
    "p_value",
    "p_adjusted",
    "smallest_p",
    "p_homogeneity",
    "odds_ratio",
    "odds_low",
    "odds_high",
    "pair_difference",
    "pair_low",
    "pair_high",
    "crude",
)


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
    """Differences in label shares between the values of one feature, adjusted for the given features.

    Parameters
    ----------
    X, y
        As in :func:`analogical.relevance`; or a :class:`analogical.Study`, without ``y``.
    feature : str or int
        Name or position of the feature to audit.
    given : {"auto", "all"} or list of features
        On which other features compared rows agree: the deciding set, all others, or those named; an empty list for
        none.
    reference : value of the feature, optional
        The value that the others are compared with; the most frequent one by default.
    confidence : float
        Confidence level of the intervals; tests use the level 1 - confidence.
    limit : int or None
        Number of example pairs: those of the largest difference first, and one against it.
    **columns : options of columns
        See :class:`analogical.ColumnOptions`; all but ``features``.

    Returns
    -------
    Audit
        How many rows were compared, and how much more often each value has each label.

    Notes
    -----
    With ``groups`` the differences stay those of the rows, and their intervals assume independent groups. There are
    tests within and between groups; p is twice the smaller p-value.

    Examples
    --------
    >>> from analogical import audit, load_table
    >>> result = audit(load_table("berkeley").to_frame(), "admitted", "gender", weights="count")
    >>> found = result.differences[0]
    >>> found.values, found.label, round(found.crude, 3), round(found.difference, 3), round(found.p_value, 3)
    (('male', 'female'), 'yes', -0.142, 0.018, 0.228)
    """
    confidence = check_number("confidence", confidence, expected="a number between 0 and 1, such as 0.95")
    limit = check_limit(limit)
    found = compare_rows(audit, X, y, feature, given, columns, without=("features",))
    return _audit(found, reference, confidence, limit)


def audit_of(
    study: Study,
    feature: int,
    given: Given = "auto",
    *,
    reference: Any = None,
    confidence: float = DEFAULT_CONFIDENCE,
    limit: int | None = 6,
) -> Audit:
    """The audit of one feature of a study."""
    return _audit(ComparedRows.of(study, feature, given), reference, confidence, limit)


def _audit(found: ComparedRows, reference: Any, confidence: float, limit: int | None) -> Audit:
    """The road after encoding: contexts, differences, what they say, and examples."""
    study, i, contexts = found.study, found.feature, found.contexts
    table, profile = study.table, contexts.profile
    first = _reference(table, i, reference)
    followed = _followed(table)
    differences, n_comparisons = _differences(found, first, followed, confidence)
    n_rows, n_pairs, n_compared = study.rows.n_rows, profile.n_pairs, profile.n_paired_rows
    pairs_of_context = np.bincount(contexts.owner, contexts.sizes * contexts.pairs, minlength=1) / 2
    pairs = name_pairs(_examples(found, limit, differences), found)
    examples = Evidence(table.names[i], table.label, found.given, n_pairs, profile.n_changed, pairs, found.same_as)
    return Audit(
        feature=table.names[i],
        label=table.label,
        given=found.given,
        same_as=found.same_as,
        stand_ins=study.names_of(found.context.stand_ins),
        classes=table.classes,
        reference=plain(table.columns[i].values[first]),
        n_rows=n_rows,
        n_compared=n_compared,
        base_rates=_base_rates(table, contexts, followed),
        n_contexts=int(contexts.times.sum()),
        largest_context=float(pairs_of_context.max()) / n_pairs if n_pairs else np.nan,
        obstacle=_find_obstacle(found) if 2 * n_compared < n_rows else None,
        n_pairs=n_pairs,
        n_changed=profile.n_changed,
        index=profile.n_changed / n_pairs if n_pairs else np.nan,
        noise_rate=EffectSums.of(contexts).noise_rate() if n_pairs else np.nan,
        p_value=study.p_value(i, found.columns) if n_pairs else np.nan,
        differences=differences,
        n_comparisons=n_comparisons,
        examples=replace(examples, notes=table.notes, backend=table.backend),
        confidence=confidence,
        contexts=_largest_contexts(found, differences),
        n_groups=None if table.groups is None else int(table.groups.max()) + 1,
        notes=table.notes,
        backend=table.backend,
    )


def _largest_contexts(found: ComparedRows, differences: Sequence[Difference]) -> tuple[InContext, ...]:
    """For each difference the contexts with most pairs, largest first."""
    if not differences:
        return ()
    table = found.study.table
    values = [plain(value) for value in table.columns[found.feature].values]
    order, starts = found.by_context
    owner = np.repeat(np.arange(len(starts)), np.diff(starts, append=len(order)))
    column, labels = found.rows.codes[order, 0], found.rows.labels[order]
    weights = found.rows.weights_or_ones()[order]

    def in_contexts(of: Bools) -> Ints:
        """Rows of each context, of some only; below 2**53."""
        return np.bincount(owner[of], weights[of], minlength=len(starts)).astype(np.int64)

    largest: list[InContext] = []
    for difference in differences[:MAX_LISTED]:
        sides = [column == values.index(value) for value in difference.values]
        has_label = labels == table.classes.index(difference.label)
        n_rows = [in_contexts(side) for side in sides]
        with_label = [in_contexts(side & has_label) for side in sides]
        pairs = n_rows[0].astype(np.float64) * n_rows[1]
        some = [c for c in np.argsort(-pairs, kind="stable")[:MAX_CONTEXTS].tolist() if pairs[c]]
        names = name_contexts(order[starts[some]].tolist(), found)
        for c, context in zip(some, names, strict=True):
            (a, b), (x, y) = ((int(side[c]) for side in both) for both in (n_rows, with_label))
            largest.append(InContext(difference.values, difference.label, context, (a, b), (x, y)))
    return tuple(largest)


def _reference(table: EncodedTable, i: int, reference: Any) -> int:
    """Code of the value that the others are compared with: the most frequent one, or the one asked for."""
    values = [plain(value) for value in table.columns[i].values]
    if reference is not None:
        code = table.find_value(i, reference)
        if code is None:
            known = listing([repr(value) for value in values])
            raise InputError(
                f"The feature {table.names[i]!r} has no value {reference!r} to compare with; it has {known}."
            )
        return code
    return int(np.bincount(table.codes[:, i], table.weights).argmax())


def _base_rates(table: EncodedTable, contexts: Contexts, followed: Sequence[int]) -> dict[Any, tuple[float, float]]:
    """For each label that is followed, its share among all rows and among those compared."""
    classes, n_classes = table.classes, len(table.classes)
    everybody = np.bincount(table.coded.labels, table.weights, minlength=n_classes)
    compared = np.bincount(contexts.labels, contexts.sizes * contexts.times[contexts.owner], minlength=n_classes)
    return {
        classes[label]: (
            float(everybody[label] / everybody.sum()),
            float(compared[label] / compared.sum()) if len(contexts) else np.nan,
        )
        for label in followed
    }


def _find_obstacle(found: ComparedRows) -> Obstacle | None:
    """The given column without which most rows could be compared; columns beyond the first 40 are not tried."""
    best = Obstacle("", found.contexts.profile.n_paired_rows)
    for name, column in list(zip(found.given, found.columns, strict=True))[:MAX_OBSTACLES]:
        left = [c for c in found.columns if c != column]
        n_compared = found.study.contexts(found.feature, left).profile.n_paired_rows
        if n_compared > best.n_compared:
            best = Obstacle(name, n_compared)
    return best if best.column else None


def _examples(found: ComparedRows, limit: int | None, differences: Sequence[Difference]) -> list[tuple[int, int]]:
    """Some pairs: those that show the strongest difference, and one against it at the end."""
    rows, table = found.rows, found.study.table
    if not differences:
        return found.find_pairs(limit)
    strongest = min(differences, key=lambda d: (math.isnan(d.p_adjusted), d.p_adjusted, -abs(d.difference)))
    values = [plain(value) for value in table.columns[found.feature].values]
    first, second = (values.index(value) for value in strongest.values)
    label = table.classes.index(strongest.label)
    if strongest.difference < 0:
        first, second = second, first
    column, has_label = rows.codes[:, 0], rows.labels == label

    def showing(gainer: int, loser: int) -> Bools:
        """Rows of the gainer that have the label and rows of the loser that have not: all their pairs show the same."""
        shown: Bools = np.where(has_label, column == gainer, column == loser)
        return shown

    some = found.find_pairs(limit, showing(second, first))
    against = [] if limit is not None and limit < 2 else found.find_pairs(1, showing(first, second))
    n_showing = None if limit is None else max(limit - len(against), 0)
    return [*some[:n_showing], *against] or found.find_pairs(limit)


def _differences(
    found: ComparedRows, reference: int, followed: Sequence[int], confidence: float
) -> tuple[tuple[Difference, ...], int]:
    """The reference against every other value that it meets, most frequent first, and how many there are."""
    table, contexts = found.study.table, found.contexts
    column, labels, weights = found.rows.codes[:, 0], found.rows.labels, found.rows.weights_or_ones()
    values, classes = table.columns[found.feature].values, table.classes
    sizes = np.bincount(column, weights, minlength=len(values))

    def shares(value: int) -> Floats:
        """Share of each label among all rows of a value."""
        mine = column == value
        share: Floats = np.bincount(labels[mine], weights[mine], minlength=len(classes)) / sizes[value]
        return share

    others = [value for value in np.argsort(-sizes, kind="stable").tolist() if value != reference]
    met = compared_with(contexts, reference, others)
    every: list[Difference] = []
    for other in met[:MAX_COMPARISONS]:
        rows = split_two_values(contexts, reference, other, len(classes))
        crude = shares(other) - shares(reference)
        measured = {label: measure_difference(rows, label, confidence) for label in followed}
        if table.groups is not None:
            measured = {
                label: _of_units(found, (reference, other), label, one, confidence) for label, one in measured.items()
            }
        every += [
            Difference(
                **vars(one),
                values=(plain(values[reference]), plain(values[other])),
                label=classes[label],
                p_adjusted=1.0,
                crude=float(crude[label]),
            )
            for label, one in measured.items()
        ]
    n_labels = 1 if len(classes) == 2 else len(classes)
    return _adjusted(every), len(met) * n_labels


def _of_units(
    found: ComparedRows, values: tuple[int, int], label: int, rows: PairedDifference, confidence: float
) -> PairedDifference:
    """A difference whose test and interval take whole groups as independent; what needs independent rows is unknown."""
    column, groups = found.rows.codes[:, 0], found.study.groups
    some = np.flatnonzero((column == values[0]) | (column == values[1]))
    if groups is None:
        return rows
    unit = np.unique(groups[some], return_inverse=True)[1]
    part = found.rows.take(some)
    part = replace(part, labels=(part.labels == label).astype(np.uint8), n_labels=2)
    p_value = unit_p_value(part, unit)
    n_units = int(unit.max()) + 1
    error = measure_size_of_units(part, unit, confidence).common.between(*values, 1)[1] if n_units > 1 else 0.0
    reach = float(stdtrit(max(n_units - 1, 1), (1 + confidence) / 2)) * error
    low, high = rows.difference - reach, rows.difference + reach
    if error <= ROUNDING:  # no unit differs from another: as if half of them made a pair each with the other half
        low, high = difference_interval(rows.pairs, rows.gained, rows.lost, 0.0, n_units, confidence)
    return replace(
        rows,
        difference_low=max(low, -1.0),
        difference_high=min(high, 1.0),
        odds_low=math.nan,
        odds_high=math.nan,
        p_value=p_value,
        smallest_p=math.nan if math.isnan(p_value) else rows.smallest_p,
        p_homogeneity=math.nan,
        pair_low=math.nan,
        pair_high=math.nan,
    )


def _adjusted(found: Sequence[Difference]) -> tuple[Difference, ...]:
    """The differences with Holm's correction for those that are tested."""
    adjusted = iter(holm([d.p_value for d in found if not math.isnan(d.p_value)]))
    return tuple(replace(d, p_adjusted=math.nan if math.isnan(d.p_value) else next(adjusted)) for d in found)


def _followed(table: EncodedTable) -> list[int]:
    """With two classes the one whose name sorts last (1 of 0 and 1, yes of no and yes); otherwise the frequent ones."""
    classes: Sequence[Any] = table.classes
    if len(classes) > 2:
        sizes = np.bincount(table.coded.labels, table.weights, minlength=len(classes))
        return sorted(np.argsort(-sizes, kind="stable")[:MAX_FOLLOWED].tolist())
    try:
        return [int(classes[1] > classes[0])]
    except TypeError:
        return [int(str(classes[1]) > str(classes[0]))]
