"""The all-else-equal audit: which value of a feature has which label more often, by how much, and how sure."""

from collections.abc import Sequence
from dataclasses import dataclass, replace
from statistics import NormalDist
from typing import TYPE_CHECKING, Any, Literal

import numpy as np

from analogical._checks import check_confidence, check_limit, seed_from
from analogical._evidence import Evidence, find_pairs, name_pairs
from analogical._relevance import NoiseFloor
from analogical._results import Result, entry_at, json_ready
from analogical._types import Bools, Floats, Ints, Note
from analogical.counting.contexts import Contexts
from analogical.counting.groups import rows_by_context
from analogical.counting.pairs import contexts_themselves
from analogical.encoding.binning import Bins
from analogical.encoding.choosing import as_list, listing
from analogical.encoding.columns import plain
from analogical.encoding.table import EncodedTable, encode_table
from analogical.encoding.treatment import Ids, Missing, Treatment
from analogical.engines.memory import MemoryEngine
from analogical.errors import InputError
from analogical.scoring.clusters import N_DRAWS, cluster_profile, draw_one_of_each
from analogical.scoring.differences import (
    PairedDifference,
    compared_with,
    holm,
    measure_difference,
    split_two_values,
)
from analogical.scoring.exact_deals import p_any_direction
from analogical.scoring.intervals import flip_rate, share_interval

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

Finding = Literal["no-pairs", "too-few-pairs", "unclear", "mixed", "direction"]
"""What an audit can say: no two rows could be compared; whatever the labels, nothing could have been significant;
no direction is significant; none is, but the values differ in some contexts; or some direction is significant."""


@dataclass(frozen=True, kw_only=True)
class Difference(PairedDifference):
    """How much more often one value has a label than another, in pairs that are equal but for that.

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
    """``p_value`` after Holm's correction for all differences of the audit."""
    crude: float
    """The difference between all rows of the two values, before like is compared with like."""


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
    """A column without which more rows could be compared.

    Examples
    --------
    >>> from analogical import audit
    >>> rows = [("m", 1, "a"), ("f", 1, "b"), ("m", 2, "c"), ("f", 2, "d"), ("m", 3, "e"), ("f", 3, "f")]
    >>> found = audit(rows, [1, 0, 1, 0, 1, 0], 0, ids="keep")
    >>> found.n_compared, found.obstacle
    (0, Obstacle(column='x2', n_compared=6))
    """

    column: str
    n_compared: int
    """Rows that could be compared if the column were left out."""


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
    reference : object
        The value that the others are compared with: the most frequent one unless another was asked for.
    n_rows, n_compared : int
        All rows, and those that sit in at least one pair.
    base_rates : dict
        For each label that is followed, its share among all rows and among those compared.
    n_contexts, largest_context : int, float
        Contexts that hold a pair, and the share of all pairs that the largest of them holds.
    effective_rows : float
        How many independent pairs the pairs are worth (Kish's number).
    obstacle : Obstacle or None
        The column that prevents most rows from being compared, if fewer than half are.
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
        For the reference and every other value, most frequent first; with two classes one label is followed, with very
        many the most frequent ones.
    n_comparisons : int
        How many differences there could be; more than ``differences`` if only those with the most frequent values and
        labels were looked at.
    contexts : tuple of InContext
        For each of the first 50 differences, the 18 contexts with most pairs: rows of both values, and how many of them
        have the label.
    examples : Evidence
        Some of the pairs.
    confidence : float
        Level of the intervals.
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
    classes: tuple[Any, ...]
    reference: Any
    n_rows: int
    n_compared: int
    base_rates: dict[Any, tuple[float, float]]
    n_contexts: int
    largest_context: float
    effective_rows: float
    obstacle: "Obstacle | None"
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
    contexts: tuple[InContext, ...] = ()
    n_groups: int | None = None
    """Groups of rows that depend on each other; None if all rows were taken as independent."""
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
        known = dict.fromkeys(value for difference in self.differences for value in difference.values)
        entry_at(value, known, "value")
        return tuple(difference for difference in self.differences if value in difference.values)

    def plot(self, ax: "Axes | None" = None, *, value: Any = None, label: Any = None) -> "Axes":
        """Matched beside crude, and by context; see :func:`analogical.plotting.plot_audit`."""
        from analogical.plotting import plot_audit

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
    y: Any,
    feature: str | int,
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
    reference: Any = None,
    confidence: float = 0.95,
    limit: int | None = 6,
    random_state: Any = 0,
    feature_names: Sequence[str] | None = None,
) -> Audit:
    """What changes with one feature when all else is equal, in which direction, and how sure that is.

    Parameters
    ----------
    X, y, weights, groups, missing, bins, max_values, ids, bin_label, feature_names
        As in :func:`analogical.relevance`.
    feature : str or int
        Name or position of the feature to audit.
    features : names of columns, optional
        Rows are compared if they are equal on these columns; on all others if not given.
    ignore : names of columns, optional
        Columns that do not define "equal", such as ids and time stamps; instead of ``features``.
    reference : value of the feature, optional
        The value that the others are compared with; the most frequent one if not given.
    confidence : float
        Level of the intervals, and 1 minus the level of the tests.
    limit : int or None
        How many example pairs to keep: those that show the strongest difference first, and one against it.
    random_state : int, RandomState or None
        Seed of the rows that are drawn from ``groups``.

    Returns
    -------
    Audit
        Pairs, changed pairs, differences with intervals and exact tests, and example pairs.

    Notes
    -----
    First come the numbers that auditors know: the Mantel-Haenszel difference, the pooled odds ratio, the exact
    Cochran-Mantel-Haenszel test and a test of homogeneity. The mean over all pairs stands beside them;
    it weighs large contexts more, and its interval takes rows as the unit of uncertainty, because a row sits in many
    pairs. Rows are taken as independent; several rows of one person need ``groups``.

    Equal means equal on the recorded columns. A difference that remains is an association: something not
    recorded may be behind it.

    Examples
    --------
    In 1973 Berkeley admitted 45 % of the men and 30 % of the women who applied to its six largest
    departments. Within departments the difference is small and has the other sign:

    >>> from analogical import audit, load_table
    >>> result = audit(load_table("berkeley").to_frame(), "admitted", "gender", weights="count")
    >>> found = result.differences[0]
    >>> found.values, found.label, round(found.crude, 3), round(found.difference, 3), round(found.p_value, 3)
    (('male', 'female'), 'yes', -0.142, 0.018, 0.228)
    """
    level = check_confidence(confidence)
    if level is None:
        raise InputError("confidence must be a number between 0 and 1 for an audit, such as 0.95, got None.")
    limit = check_limit(limit)
    seed = seed_from(random_state)
    table = _encode(
        X,
        y,
        feature,
        features,
        ignore,
        weights=weights,
        groups=groups,
        treatment=Treatment.of(missing, bins, max_values, ids, bin_label),
        feature_names=feature_names,
    )
    return audit_of(table, table.find(feature), reference=reference, level=level, limit=limit, seed=seed)


def audit_of(
    table: EncodedTable,
    i: int,
    *,
    reference: Any = None,
    level: float = 0.95,
    limit: int | None = 6,
    seed: int | None = 0,
) -> Audit:
    """The road after encoding: contexts, differences, what they say, and examples."""
    rows, engine = table.coded, MemoryEngine()
    sums = engine.sum_contexts(rows, contexts_themselves, features=[i])
    counts = sums.counts
    contexts = sums.summaries[i] or Contexts.none()
    first = _reference(table, i, reference)
    followed = _followed(table)
    differences, n_comparisons = _differences(table, i, contexts, first, followed, level)
    if table.groups is not None:
        differences = _regrouped(table, i, differences, first, followed, level, seed)
    n_pairs, n_changed = int(counts.pairs[i]), int(counts.changed[i])
    low, high, p_value = _index_inference(table, i, contexts, counts.n_rows, level)
    n_compared = contexts.profile.n_paired_rows
    pairs_of_context = np.bincount(contexts.owner, contexts.sizes * contexts.pairs, minlength=1) / 2
    examples = name_pairs(_examples(table, i, limit, differences), table, i)
    return Audit(
        feature=table.names[i],
        label=table.label,
        given=tuple(name for j, name in enumerate(table.names) if j != i),
        classes=table.classes,
        reference=plain(table.columns[i].values[first]),
        n_rows=counts.n_rows,
        n_compared=n_compared,
        base_rates=_base_rates(table, contexts, followed),
        n_contexts=int(contexts.times.sum()),
        largest_context=float(pairs_of_context.max()) / n_pairs if n_pairs else np.nan,
        effective_rows=contexts.profile.n_effective,
        obstacle=_find_obstacle(table, i, n_compared) if 2 * n_compared < counts.n_rows else None,
        n_pairs=n_pairs,
        n_changed=n_changed,
        ari=n_changed / n_pairs if n_pairs else np.nan,
        ari_low=low,
        ari_high=high,
        p_value=p_value,
        noise=NoiseFloor(*flip_rate(sums.repeats, counts.n_rows, level)),
        differences=differences,
        n_comparisons=n_comparisons,
        examples=Evidence(table.names[i], table.label, n_pairs, n_changed, examples, table.notes, table.backend),
        confidence=level,
        contexts=_largest_contexts(table, i, differences),
        n_groups=None if table.groups is None else int(table.groups.max()) + 1,
        notes=table.notes,
        backend=table.backend,
    )


def _largest_contexts(table: EncodedTable, i: int, differences: Sequence[Difference]) -> tuple[InContext, ...]:
    """For each difference the contexts with most pairs, largest first."""
    if not differences:
        return ()
    rows, values = table.coded, [plain(value) for value in table.columns[i].values]
    order, starts = rows_by_context(rows, i)
    owner = np.repeat(np.arange(len(starts)), np.diff(starts, append=len(order)))
    column, labels, weights = rows.codes[order, i], rows.labels[order], rows.weights_or_ones()[order]

    def in_contexts(of: Bools) -> Ints:
        """Rows of each context, of some only; below 2**53."""
        return np.bincount(owner[of], weights[of], minlength=len(starts)).astype(np.int64)

    found: list[InContext] = []
    for difference in differences[:MAX_LISTED]:
        sides = [column == values.index(value) for value in difference.values]
        has_label = labels == table.classes.index(difference.label)
        n_rows = [in_contexts(side) for side in sides]
        with_label = [in_contexts(side & has_label) for side in sides]
        pairs = n_rows[0].astype(np.float64) * n_rows[1]
        for c in np.argsort(-pairs, kind="stable")[:MAX_CONTEXTS].tolist():
            if not pairs[c]:
                break
            row = int(order[starts[c]])
            context = tuple(
                (name, plain(table.columns[j].values[table.codes[row, j]]))
                for j, name in enumerate(table.names)
                if j != i
            )
            (a, b), (x, y) = ((int(side[c]) for side in both) for both in (n_rows, with_label))
            found.append(InContext(difference.values, difference.label, context, (a, b), (x, y)))
    return tuple(found)


def _index_inference(
    table: EncodedTable, i: int, contexts: Contexts, n_rows: int, level: float
) -> tuple[float, float, float]:
    """Interval of the index and the p-value of the test in any direction, which needs independent rows."""
    if not len(contexts):
        return np.nan, np.nan, np.nan
    if table.groups is None:
        _, low, high = share_interval(contexts.profile, n_rows, level)
        return low, high, p_any_direction(contexts)
    totals = contexts.profile.n_pairs, contexts.profile.n_changed
    profile = cluster_profile(table.coded, i, table.groups)
    _, low, high = share_interval(profile, int(table.groups.max()) + 1, level, totals=totals)
    return low, high, np.nan


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


def _find_obstacle(table: EncodedTable, i: int, n_compared: int) -> Obstacle | None:
    """The column without which most rows could be compared; columns beyond the first 40 are not tried."""
    best = Obstacle("", n_compared)
    others = [j for j in range(len(table.names)) if j != i]
    for j in others[:MAX_OBSTACLES]:
        left = [k for k in range(len(table.names)) if k != j]
        rows = table.coded.select(left)
        contexts = MemoryEngine().sum_contexts(rows, contexts_themselves, features=[left.index(i)])
        found = contexts.summaries[left.index(i)]
        n_found = 0 if found is None else found.profile.n_paired_rows
        if n_found > best.n_compared:
            best = Obstacle(table.names[j], n_found)
    return best if best.column else None


def _encode(
    X: Any,
    y: Any,
    feature: Any,
    features: Any,
    ignore: Any,
    **options: Any,
) -> EncodedTable:
    """The table with the audited feature and the columns that define "equal"."""
    if features is not None:
        named = as_list(features, "features")
        _refuse_audited(feature, named, "features")
        features = [feature, *named]
    if ignore is not None:
        _refuse_audited(feature, as_list(ignore, "ignore"), "ignore")
    return encode_table(X, y, features=features, ignore=ignore, keep=feature, **options)


def _refuse_audited(feature: Any, named: Sequence[Any], role: str) -> None:
    if feature in named:
        raise InputError(f"{role} names {feature!r}, the feature that is audited; leave it out of {role}.")


def _examples(
    table: EncodedTable, i: int, limit: int | None, differences: Sequence[Difference]
) -> list[tuple[int, int]]:
    """Some pairs: those that show the strongest difference, and one against it at the end."""
    rows = table.coded
    if not differences:
        return find_pairs(rows, i, limit)
    strongest = min(differences, key=lambda d: (d.p_adjusted, -abs(d.difference)))
    values = [plain(value) for value in table.columns[i].values]
    first, second = (values.index(value) for value in strongest.values)
    label = table.classes.index(strongest.label)
    if strongest.difference < 0:
        first, second = second, first
    column, has_label = rows.codes[:, i], rows.labels == label

    def showing(gainer: int, loser: int) -> Bools:
        """Rows of the gainer that have the label and rows of the loser that have not: all their pairs show the same."""
        shown: Bools = np.where(has_label, column == gainer, column == loser)
        return shown

    found = find_pairs(rows, i, limit, showing(second, first))
    against = [] if limit is not None and limit < 2 else find_pairs(rows, i, 1, showing(first, second))
    n_showing = None if limit is None else max(limit - len(against), 0)
    return [*found[:n_showing], *against] or find_pairs(rows, i, limit)


def _differences(
    table: EncodedTable, i: int, contexts: Contexts, reference: int, followed: Sequence[int], confidence: float
) -> tuple[tuple[Difference, ...], int]:
    """The reference against every other value that it meets, most frequent first, and how many there are."""
    column, labels, weights = table.codes[:, i], table.coded.labels, table.coded.weights_or_ones()
    values, classes = table.columns[i].values, table.classes
    sizes = np.bincount(column, weights, minlength=len(values))

    def shares(value: int) -> Floats:
        """Share of each label among all rows of a value; a draw of one row per group may lack the value."""
        mine = column == value
        found: Floats = np.bincount(labels[mine], weights[mine], minlength=len(classes)) / max(sizes[value], 1)
        return found

    others = [value for value in np.argsort(-sizes, kind="stable").tolist() if value != reference]
    met = compared_with(contexts, reference, others)
    found: list[Difference] = []
    for other in met[:MAX_COMPARISONS]:
        rows = split_two_values(contexts, reference, other, len(classes))
        crude = shares(other) - shares(reference)
        found += [
            Difference(
                **vars(measure_difference(rows, label, confidence)),
                values=(plain(values[reference]), plain(values[other])),
                label=classes[label],
                p_adjusted=1.0,
                crude=float(crude[label]),
            )
            for label in followed
        ]
    n_labels = 1 if len(classes) == 2 else len(classes)
    return _adjusted(found), len(met) * n_labels


def _adjusted(found: Sequence[Difference]) -> tuple[Difference, ...]:
    """The differences with Holm's correction."""
    adjusted = holm([difference.p_value for difference in found])
    return tuple(replace(difference, p_adjusted=p) for difference, p in zip(found, adjusted, strict=True))


def _regrouped(
    table: EncodedTable,
    i: int,
    differences: Sequence[Difference],
    reference: int,
    followed: Sequence[int],
    confidence: float,
    seed: int | None,
) -> tuple[Difference, ...]:
    """The differences with intervals and tests from tables that hold one row of each group, drawn several times."""
    if table.groups is None or not differences:
        return tuple(differences)
    drawn: dict[tuple[Any, Any], list[Difference]] = {}
    for picked in draw_one_of_each(table.groups, seed):
        part = replace(
            table,
            codes=table.codes[picked],
            labels=table.coded.labels[picked],
            weights=None,
            groups=None,
            origin=None,
        )
        sums = MemoryEngine().sum_contexts(part.coded, contexts_themselves, features=[i])
        contexts = sums.summaries[i] or Contexts.none()
        for difference in _differences(part, i, contexts, reference, followed, confidence)[0]:
            drawn.setdefault((difference.values[1], difference.label), []).append(difference)
    quantile = NormalDist().inv_cdf((1 + confidence) / 2)
    found = []
    for difference in differences:
        some = drawn.get((difference.values[1], difference.label), [])
        if len(some) <= N_DRAWS / 2:
            found.append(
                replace(
                    difference,
                    difference_low=-1.0,
                    difference_high=1.0,
                    odds_low=np.nan,
                    odds_high=np.nan,
                    p_value=1.0,
                    smallest_p=1.0,
                    p_homogeneity=np.nan,
                )
            )
            continue
        centre = float(np.mean([d.difference for d in some]))
        within = float(np.mean([((d.difference_high - d.difference_low) / (2 * quantile)) ** 2 for d in some]))
        between = float(np.var([d.difference for d in some], ddof=1))
        half = quantile * max(within - between, within / N_DRAWS) ** 0.5
        found.append(
            replace(
                difference,
                difference=centre,
                difference_low=max(centre - half, -1.0),
                difference_high=min(centre + half, 1.0),
                odds_low=np.nan,
                odds_high=np.nan,
                pair_low=np.nan,
                pair_high=np.nan,
                p_homogeneity=np.nan,
                p_value=min(1.0, 2 * float(np.median([d.p_value for d in some]))),
                smallest_p=float(np.median([d.smallest_p for d in some])),
            )
        )
    return _adjusted(found)


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
