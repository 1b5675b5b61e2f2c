"""The all-else-equal audit: which value of a feature has which label more often, by how much, and how sure."""

from collections.abc import Sequence
from dataclasses import dataclass, replace
from itertools import zip_longest
from typing import Any, Literal

import numpy as np

from analogical._checks import check_confidence, check_limit
from analogical._evidence import Evidence, find_pairs, first_rows, name_pairs
from analogical._relevance import NoiseFloor
from analogical._results import Result, json_ready
from analogical._types import Bools, CodedRows, Note, Positions
from analogical.counting.contexts import Contexts
from analogical.encoding.choosing import as_list
from analogical.encoding.columns import plain
from analogical.encoding.table import EncodedTable, encode_table
from analogical.engines.memory import MemoryEngine
from analogical.errors import InputError
from analogical.scoring.differences import compared_values, holm, measure_difference, split_two_values
from analogical.scoring.intervals import rate_interval, share_interval
from analogical.scoring.significance import DealMoments

__all__ = ["Audit", "Difference", "Finding", "audit"]

MAX_COMPARISONS = 300
"""At most so many twos of values are compared, those with the most pairs."""

Finding = Literal["no-pairs", "too-few-pairs", "unclear", "mixed", "direction"]
"""What an audit can say: no two rows could be compared; whatever the labels, nothing could have been significant;
no direction is significant; none is, but the values differ in some contexts; or some direction is significant."""


@dataclass(frozen=True)
class Difference:
    """How much more often one value has a label than another, in pairs that are equal but for that."""

    values: tuple[Any, Any]
    """The two values compared, the one that occurs first in the table first."""
    label: Any
    """The label that is followed."""
    pairs: int
    changed: int
    """Pairs whose labels differ, in whatever way."""
    gained: int
    """Pairs in which the second value has the label and the first one has not."""
    lost: int
    """Pairs in which the first value has the label and the second one has not."""
    difference: float
    """(gained - lost) / pairs: how much more often the second value has the label; -1 to 1."""
    difference_low: float
    difference_high: float
    p_value: float
    """Probability of a difference at least this large, in either direction, if the feature had no effect."""
    p_adjusted: float
    """The same after Holm's correction for all differences of the audit."""
    smallest_p: float
    """The smallest p-value that these rows could have given, whatever their labels did."""
    crude: float
    """The difference between all rows of the two values, before like is compared with like."""


@dataclass(frozen=True, eq=False, repr=False)
class Audit(Result):
    """What changes with one feature when all else is equal.

    ``audit["female"]`` are the differences of one value, ``len(audit)`` the number of differences.

    Attributes
    ----------
    feature, label : str
        The feature audited, and the label that may change with it.
    given : tuple of str
        The features on which compared rows are equal.
    classes : tuple
        The label's classes.
    n_rows, n_compared : int
        All rows, and those that sit in at least one pair.
    n_pairs, n_changed : int
        Pairs of rows that differ on the feature alone, and those whose labels differ.
    ari, ari_low, ari_high : float
        The index: n_changed / n_pairs, with its interval; NaN without pairs.
    p_value : float
        Probability of a difference between the values at least this large, in any direction, if the feature had no
        effect, as in :class:`analogical.Relevance`; NaN if unknown.
    noise : NoiseFloor
        How often rows that are equal on the feature and on everything given differ in label.
    differences : tuple of Difference
        For every two values; with two classes one label is followed, with more every one.
    n_comparisons : int
        How many differences there could be; more than ``differences`` if only the comparisons with the most
        pairs were made.
    examples : Evidence
        Some of the pairs.
    confidence : float
        Level of the intervals.
    notes : tuple of Note
        What was done to the table before it was counted.
    """

    feature: str
    label: str
    given: tuple[str, ...]
    classes: tuple[Any, ...]
    n_rows: int
    n_compared: int
    n_pairs: int
    n_changed: int
    ari: float
    ari_low: float
    ari_high: float
    p_value: float
    noise: NoiseFloor
    differences: tuple[Difference, ...]
    n_comparisons: int
    examples: Evidence
    confidence: float
    notes: tuple[Note, ...] = ()
    backend: str | None = None

    @property
    def finding(self) -> Finding:
        """What can be said about the direction."""
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
        return tuple(difference for difference in self.differences if value in difference.values)

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
        nested = ("differences", "examples", "backend")
        content = {name: json_ready(value) for name, value in vars(self).items() if name not in nested}
        return {
            **content,
            "finding": self.finding,
            "differences": json_ready(self.differences),
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
    "crude",
)


def audit(
    X: Any,
    y: Any,
    feature: str | int,
    *,
    weights: Any = None,
    features: Any = None,
    ignore: Any = None,
    confidence: float = 0.95,
    limit: int | None = 6,
    feature_names: Sequence[str] | None = None,
) -> Audit:
    """What changes with one feature when all else is equal, in which direction, and how sure that is.

    Parameters
    ----------
    X, y, weights, feature_names
        As in :func:`analogical.relevance`.
    feature : str or int
        Name or position of the feature to audit.
    features : names of columns, optional
        Rows are compared if they are equal on these columns; on all others if not given.
    ignore : names of columns, optional
        Columns that do not define "equal", such as ids and time stamps; instead of ``features``.
    confidence : float
        Level of the intervals, and 1 minus the level of the tests.
    limit : int or None
        How many example pairs to keep; of two values and two classes, as many of each direction.

    Returns
    -------
    Audit
        Pairs, changed pairs, differences with intervals and exact tests, and example pairs.

    Notes
    -----
    The interval takes rows as the unit of uncertainty, because a row sits in many pairs: a jackknife over
    rows gives the number of independent pairs that the data are worth, and Agresti and Min's interval for
    matched pairs is taken on that number. The test is McNemar's exact test in its form for
    groups of several rows: the labels of each context are dealt to its rows at random.

    Equal means equal on the recorded columns. A difference that remains is an association: something not
    recorded may be behind it.

    Examples
    --------
    In 1973 Berkeley admitted 45 % of the men and 30 % of the women who applied to its six largest
    departments. Within departments the difference is gone:

    >>> from analogical import audit, load_table
    >>> result = audit(load_table("berkeley").to_frame(), "admitted", "gender", weights="count")
    >>> found = result.differences[0]
    >>> found.values, found.label, round(found.crude, 3), round(found.difference, 3), round(found.p_value, 3)
    (('male', 'female'), 'yes', -0.142, 0.023, 0.145)
    """
    level = check_confidence(confidence)
    if level is None:
        raise InputError("confidence must be a number between 0 and 1 for an audit, such as 0.95, got None.")
    limit = check_limit(limit)
    table = _encode(X, y, feature, weights, features, ignore, feature_names)
    i = table.find(feature)
    sums = MemoryEngine().sum_contexts(table.coded, lambda contexts: contexts, features=[i])
    counts = sums.counts
    contexts = sums.summaries[i] or Contexts.none()
    noise = NoiseFloor(None)
    if counts.n_identical:
        rate = counts.n_contradictions / counts.n_identical
        noise = NoiseFloor(rate, *rate_interval(sums.repeats, counts.n_rows, level))
    differences, n_comparisons = _differences(table, i, contexts, level)
    pairs = _examples(table.coded, i, limit, both_ways=len(differences) == 1)
    n_pairs, n_changed = int(counts.pairs[i]), int(counts.changed[i])
    result = Audit(
        feature=table.names[i],
        label=table.label,
        given=tuple(name for j, name in enumerate(table.names) if j != i),
        classes=table.classes,
        n_rows=counts.n_rows,
        n_compared=contexts.profile.n_paired_rows,
        n_pairs=n_pairs,
        n_changed=n_changed,
        ari=np.nan,
        ari_low=np.nan,
        ari_high=np.nan,
        p_value=np.nan,
        noise=noise,
        differences=differences,
        n_comparisons=n_comparisons,
        examples=Evidence(table.names[i], table.label, n_pairs, n_changed, name_pairs(pairs, table, i)),
        confidence=level,
        notes=table.notes,
        backend=table.backend,
    )
    if not n_pairs:
        return result
    _, low, high = share_interval(contexts.profile, counts.n_rows, level)
    p_value = DealMoments.of(contexts).p_value()
    return replace(result, ari=n_changed / n_pairs, ari_low=low, ari_high=high, p_value=p_value)


def _encode(
    X: Any, y: Any, feature: Any, weights: Any, features: Any, ignore: Any, feature_names: Sequence[str] | None
) -> EncodedTable:
    """The table with the audited feature and the columns that define "equal"."""
    if features is not None:
        named = as_list(features, "features")
        _refuse_audited(feature, named, "features")
        features = [feature, *named]
    if ignore is not None:
        _refuse_audited(feature, as_list(ignore, "ignore"), "ignore")
    return encode_table(X, y, weights=weights, features=features, ignore=ignore, feature_names=feature_names)


def _refuse_audited(feature: Any, named: Sequence[Any], role: str) -> None:
    if feature in named:
        raise InputError(f"{role} names {feature!r}, the feature that is audited; leave it out of {role}.")


def _examples(rows: CodedRows, i: int, limit: int | None, *, both_ways: bool) -> list[tuple[int, int]]:
    """Some pairs; of a feature and a label with one possible change each, as many in either direction."""
    if not both_ways:
        return find_pairs(rows, i, limit)
    column, labels = rows.codes[:, i], rows.labels

    def same_way(row: int, others: Positions) -> Bools:
        same: Bools = (column[others] > column[row]) == (labels[others] > labels[row])
        return same

    gained = find_pairs(rows, i, limit, same_way)
    lost = find_pairs(rows, i, limit, lambda row, others: ~same_way(row, others))
    some = [pair for two in zip_longest(gained, lost) for pair in two if pair is not None][:limit]
    return some or find_pairs(rows, i, limit)


def _differences(
    table: EncodedTable, i: int, contexts: Contexts, confidence: float
) -> tuple[tuple[Difference, ...], int]:
    """Differences of every two values that some context holds and every label that is followed; how many there are."""
    n_values, n_classes = int(table.n_values[i]), len(table.classes)
    by_first = np.argsort(first_rows(table.codes[:, i], n_values)).tolist()
    values = [plain(value) for value in table.columns[i].values]
    shares = np.zeros((n_values, n_classes))
    np.add.at(shares, (table.codes[:, i], table.coded.labels), table.coded.weights_or_ones())
    shares /= shares.sum(axis=1, keepdims=True)
    followed = _followed(table.classes)
    twos, n_twos = compared_values(contexts, by_first, MAX_COMPARISONS)
    found = []
    for a, b in twos:
        rows = split_two_values(contexts, a, b, n_classes)
        for label in followed:
            measured = measure_difference(rows, label, confidence)
            crude = float(shares[b, label] - shares[a, label])
            found.append(
                Difference((values[a], values[b]), table.classes[label], **vars(measured), p_adjusted=1.0, crude=crude)
            )
    adjusted = holm([difference.p_value for difference in found])
    return (
        tuple(replace(difference, p_adjusted=p) for difference, p in zip(found, adjusted, strict=True)),
        n_twos * len(followed),
    )


def _followed(classes: Sequence[Any]) -> list[int]:
    """With two classes the one whose name sorts last (1 of 0 and 1, yes of no and yes); otherwise all."""
    if len(classes) > 2:
        return list(range(len(classes)))
    try:
        return [int(classes[1] > classes[0])]
    except TypeError:
        return [int(str(classes[1]) > str(classes[0]))]
