"""The rows behind an effect: the pairs, and the number of pairs for each change of value and label."""

from collections.abc import Callable, Hashable, Iterator, Sequence
from dataclasses import dataclass
from functools import cached_property, lru_cache
from itertools import islice
from typing import TYPE_CHECKING, Any, Unpack

import numpy as np

from analogical._checks import check_limit
from analogical._results import Result, entry_at, json_ready
from analogical._types import Bools, CodedRows, Codes, Ints, Note, Positions
from analogical.count.contexts import Contexts, differs_from_last
from analogical.count.groups import rows_by_context
from analogical.errors import InputError
from analogical.study import Context, Given, Study, asked_about, check_given, study_of
from analogical.table.binning import name_bins
from analogical.table.choosing import as_list
from analogical.table.columns import plain
from analogical.table.encode import EncodedTable
from analogical.table.rules import ColumnOptions

if TYPE_CHECKING:
    from matplotlib.axes import Axes

__all__ = [
    "ComparedRows",
    "Evidence",
    "EvidencePair",
    "Transition",
    "Transitions",
    "compare_rows",
    "count_transitions",
    "evidence",
    "evidence_of",
    "first_rows",
    "name_contexts",
    "name_pairs",
    "transitions",
    "transitions_of",
]

N_REMEMBERED = 16
"""Values with a label for which the partners in a context are remembered."""
MAX_LISTED = 1_000_000
"""More pairs, or more changes of value and label, than this are not listed: each takes about a kilobyte."""


@dataclass(frozen=True)
class EvidencePair:
    """Two rows that agree on the given features and differ on one.

    Examples
    --------
    >>> from analogical import evidence, load_table
    >>> first = evidence(load_table("titanic").to_frame(), "survived", "sex", weights="count")[0]
    >>> first.context, first.values, first.labels, first.weight
    ((('class', '1st'), ('age', 'adult')), ('male', 'female'), ('no', 'yes'), 16520)
    """

    rows: tuple[int, int]
    """Positions of the two rows in the table, counted from 0."""
    index: tuple[Hashable, Hashable]
    """Their row labels, if the dataframe has an index; otherwise the positions again."""
    context: tuple[tuple[str, Any], ...]
    """Names and values of the given features, on which they agree."""
    values: tuple[Any, Any]
    """The feature's value in each row; of two values the one that occurs first in the table comes first."""
    labels: tuple[Any, Any]
    weight: int
    """Pairs that these two rows represent: the product of their weights."""

    @property
    def changed(self) -> bool:
        """Whether the labels differ."""
        return bool(self.labels[0] != self.labels[1])

    def to_dict(self) -> dict[str, Any]:
        """The pair in plain Python types."""
        return {
            "rows": list(self.rows),
            "index": json_ready(self.index),
            "context": {name: json_ready(value) for name, value in self.context},
            "values": json_ready(self.values),
            "labels": json_ready(self.labels),
            "changed": self.changed,
            "weight": self.weight,
        }


@dataclass(frozen=True, eq=False, repr=False)
class Evidence(Result):
    """Pairs of rows that agree on the given features and differ on one.

    ``evidence[0]`` is the first pair, ``len(evidence)`` how many are shown.

    Attributes
    ----------
    feature, label : str
        What differs, and what may change with it.
    given : tuple of str
        The features on which the rows of a pair agree.
    same_as : str or None
        The feature of the deciding set that this one copies: then it has no pairs.
    n_pairs, n_changed : int
        All such pairs, and those whose labels differ.
    pairs : tuple of EvidencePair
        Example pairs, changed ones first, from as many contexts as possible.
    notes : tuple of Note
        What was done to the table before it was counted.

    Examples
    --------
    >>> from analogical import evidence, load_table
    >>> found = evidence(load_table("titanic").to_frame(), "survived", "sex", weights="count", limit=2)
    >>> found.n_pairs, found.n_changed, len(found), [pair.changed for pair in found.pairs]
    (138516, 80024, 2, [True, True])
    """

    feature: str
    label: str
    given: tuple[str, ...]
    n_pairs: int
    n_changed: int
    pairs: tuple[EvidencePair, ...]
    same_as: str | None = None
    notes: tuple[Note, ...] = ()
    backend: str | None = None

    def __len__(self) -> int:
        return len(self.pairs)

    def __getitem__(self, position: int) -> EvidencePair:
        return self.pairs[position]

    def records(self) -> list[dict[str, Any]]:
        """One dictionary per pair: the two rows, the values and labels, then what the rows have in common."""
        return [
            {
                "row": pair.index[0],
                "other_row": pair.index[1],
                "value": json_ready(pair.values[0]),
                "other_value": json_ready(pair.values[1]),
                "label": json_ready(pair.labels[0]),
                "other_label": json_ready(pair.labels[1]),
                "changed": pair.changed,
                "weight": pair.weight,
                "context": {name: json_ready(value) for name, value in pair.context},
            }
            for pair in self.pairs
        ]

    def to_dict(self) -> dict[str, Any]:
        """Everything in plain Python types, ready for JSON."""
        return {
            "feature": self.feature,
            "label": self.label,
            "given": list(self.given),
            "same_as": self.same_as,
            "n_pairs": self.n_pairs,
            "n_changed": self.n_changed,
            "notes": json_ready(self.notes),
            "pairs": [pair.to_dict() for pair in self.pairs],
        }

    def columns(self) -> tuple[str, ...]:
        """Names of the columns of ``to_frame``."""
        rows = ("row", "other_row", "value", "other_value", "label", "other_label")
        return (*rows, "changed", "weight", "context")


@dataclass(frozen=True)
class Transition:
    """Pairs in which the feature goes from one value to another and the label from one class to another.

    Examples
    --------
    >>> from analogical import load_table, transitions
    >>> found = transitions(load_table("titanic").to_frame(), "survived", "sex", weights="count")
    >>> found.counts[0]
    Transition(values=('male', 'female'), labels=('no', 'no'), pairs=39522)
    >>> found.counts[0].changed
    False
    """

    values: tuple[Any, Any]
    labels: tuple[Any, Any]
    pairs: int

    @property
    def changed(self) -> bool:
        """Whether the labels differ."""
        return bool(self.labels[0] != self.labels[1])


@dataclass(frozen=True, eq=False, repr=False)
class Transitions(Result):
    """Number of pairs of a feature for each change of value and label; the counts add up to its pairs.

    ``transitions["red", "blue"]`` are those between two values, in either order. The rows of a pair agree on the
    features in ``given``; a feature that copies one of the deciding set (``same_as``) has no pairs.

    Examples
    --------
    >>> from analogical import load_table, transitions
    >>> found = transitions(load_table("titanic").to_frame(), "survived", "sex", weights="count")
    >>> found.n_pairs, found.n_changed, len(found["male", "female"])
    (138516, 80024, 4)
    """

    feature: str
    label: str
    given: tuple[str, ...]
    counts: tuple[Transition, ...]
    same_as: str | None = None
    notes: tuple[Note, ...] = ()
    backend: str | None = None

    def __len__(self) -> int:
        return len(self.counts)

    def __getitem__(self, values: tuple[Any, Any]) -> tuple[Transition, ...]:
        found = tuple(t for t in self.counts if isinstance(values, tuple) and set(t.values) == set(values))
        if not found:
            known = dict.fromkeys(t.values for t in self.counts)
            entry_at(values, known, "change of value")
        return found

    @property
    def n_pairs(self) -> int:
        """All pairs."""
        return sum(t.pairs for t in self.counts)

    @property
    def n_changed(self) -> int:
        """Pairs whose labels differ."""
        return sum(t.pairs for t in self.counts if t.changed)

    def plot(self, ax: "Axes | None" = None) -> "Axes":
        """How often the label changes with each value; see :func:`analogical.plot.plot_transitions`."""
        from analogical.plot import plot_transitions

        return plot_transitions(self, ax)

    def records(self) -> list[dict[str, Any]]:
        """One dictionary per change of value and label."""
        return [
            {
                "value": json_ready(t.values[0]),
                "other_value": json_ready(t.values[1]),
                "label": json_ready(t.labels[0]),
                "other_label": json_ready(t.labels[1]),
                "changed": t.changed,
                "pairs": t.pairs,
            }
            for t in self.counts
        ]

    def to_dict(self) -> dict[str, Any]:
        """Everything in plain Python types, ready for JSON."""
        return {
            "feature": self.feature,
            "label": self.label,
            "given": list(self.given),
            "same_as": self.same_as,
            "n_pairs": self.n_pairs,
            "n_changed": self.n_changed,
            "notes": json_ready(self.notes),
            "transitions": [json_ready(t) | {"changed": t.changed} for t in self.counts],
        }

    def columns(self) -> tuple[str, ...]:
        """Names of the columns of ``to_frame``."""
        return ("value", "other_value", "label", "other_label", "changed", "pairs")


def evidence(
    X: Any,
    y: Any = None,
    feature: str | int | None = None,
    *,
    given: Given = "auto",
    limit: int | None = 6,
    **columns: Unpack[ColumnOptions],
) -> Evidence:
    """The pairs of rows behind the effect of a feature.

    Parameters
    ----------
    X, y, given
        As in :func:`analogical.relevance`, whose pairs these are; or a :class:`analogical.Study`, without ``y``.
    feature : str or int
        Name or position of the feature.
    limit : int or None
        Number of pairs to show; None for all of them. More than a million are refused.
    **columns : options of columns
        See :class:`analogical.ColumnOptions`.

    Returns
    -------
    Evidence
        The pairs, changed ones first; in turn one from each context (by the first row of the context), then
        the second one from each, and so on, so that the first pairs come from different contexts.

    Examples
    --------
    >>> from analogical import evidence
    >>> rows = [("red", "cat"), ("red", "dog"), ("blue", "cat"), ("blue", "dog"), ("red", "eel")]
    >>> labels = ["tame", "tame", "tame", "wild", "wild"]
    >>> evidence(rows, labels, "animal", given="all", feature_names=["colour", "animal"])
    3 of 4 pairs that differ on 'animal' differ in 'y' (75.0 %).
    Pairs of rows that agree on colour.
    colour=red
      animal cat → eel  y tame → wild  rows 0, 4
      animal dog → eel  y tame → wild  rows 1, 4
      animal cat → dog  y tame = tame  rows 0, 1
    colour=blue
      animal cat → dog  y tame → wild  rows 2, 3
    """
    limit = check_limit(limit)
    return evidence_of(compare_rows(evidence, X, y, feature, given, columns), limit)


def transitions(
    X: Any,
    y: Any = None,
    feature: str | int | None = None,
    *,
    given: Given = "auto",
    **columns: Unpack[ColumnOptions],
) -> Transitions:
    """Number of pairs for each change of value and label, for one feature.

    Parameters
    ----------
    X, y, given
        As in :func:`analogical.relevance`, whose pairs these are; or a :class:`analogical.Study`, without ``y``.
    feature : str or int
        Name or position of the feature.
    **columns : options of columns
        See :class:`analogical.ColumnOptions`.

    Returns
    -------
    Transitions
        One count for each change of value, from the one that occurs first in the table, and of label.

    Examples
    --------
    >>> from analogical import load_table, transitions
    >>> transitions(load_table("berkeley").to_frame(), "admitted", "gender", weights="count")
    4 transitions of 'gender' and 'admitted' among 654,456 pairs of rows that agree
    on department.
    gender         admitted     pairs   share
    male → female  no = no    308,363  47.1 %
    male → female  no → yes   130,731  20.0 %
    male → female  yes → no   115,965  17.7 %
    male → female  yes = yes   99,397  15.2 %
    """
    return transitions_of(compare_rows(transitions, X, y, feature, given, columns))


# ---------------------------------------------------------------- the rows of one feature, grouped once


@dataclass(frozen=True)
class ComparedRows:
    """The rows that are compared for one feature: grouped once, for all that is said of them."""

    study: Study
    feature: int
    context: Context

    @classmethod
    def of(cls, study: Study, feature: int, given: Given = "auto") -> "ComparedRows":
        """The rows of a feature given the deciding set, all other features or those named."""
        return cls(study, feature, study.given_of(feature, check_given(given)))

    @property
    def columns(self) -> tuple[int, ...]:
        """The columns that are given."""
        return self.context.columns

    @property
    def given(self) -> tuple[str, ...]:
        """The names of the features that are given."""
        return self.study.names_of(self.columns)

    @property
    def same_as(self) -> str | None:
        """The feature that this one copies: then no rows are compared."""
        return None if self.context.same_as is None else self.study.table.names[self.context.same_as]

    @cached_property
    def rows(self) -> CodedRows:
        """All rows with the feature in column 0, and the given columns after it."""
        return self.study.rows_of([self.feature, *self.columns])

    @cached_property
    def contexts(self) -> Contexts:
        """Rows by context, value and label."""
        return Contexts.none() if self.same_as is not None else self.study.contexts(self.feature, self.columns)

    @cached_property
    def by_context(self) -> tuple[Positions, Positions]:
        """Positions of the rows, brought together by context, and where each context starts."""
        return rows_by_context(self.rows, 0)

    def find_pairs(self, limit: int | None, among: Bools | None = None) -> list[tuple[int, int]]:
        """Pairs of rows: changed ones first, in turn from each context.

        With ``among``, changed pairs of two of those rows only.
        """
        if not len(self.contexts) or limit == 0:
            return []
        return _find_pairs(self.rows.codes[:, 0], self.rows.labels, self.by_context, limit, among)


def compare_rows(
    verb: Callable[..., Any],
    X: Any,
    y: Any,
    feature: Any,
    given: Given,
    columns: ColumnOptions,
    *,
    without: Sequence[str] = (),
) -> ComparedRows:
    """The rows of one feature of a table or a study; columns that are named are never set aside as ids."""
    y, feature = asked_about(verb, X, y, feature=feature)
    ignore = columns.get("ignore")
    if ignore is not None and feature in as_list(ignore, "ignore"):
        raise InputError(f"ignore names {feature!r}, the feature in question; leave it out of ignore.")
    named = [] if isinstance(given, str) else list(check_given(given))
    study = study_of(verb, X, y, columns, without=without, keep=[feature, *named])
    return ComparedRows.of(study, study.table.find(feature), given)


def evidence_of(found: ComparedRows, limit: int | None = 6) -> Evidence:
    """How many pairs there are, and some of them by name."""
    table, profile = found.study.table, found.contexts.profile
    return Evidence(
        feature=table.names[found.feature],
        label=table.label,
        given=found.given,
        n_pairs=profile.n_pairs,
        n_changed=profile.n_changed,
        pairs=name_pairs(found.find_pairs(limit), found),
        same_as=found.same_as,
        notes=table.notes,
        backend=table.backend,
    )


def transitions_of(found: ComparedRows) -> Transitions:
    """The pairs by value and label."""
    table = found.study.table
    counts = count_transitions(table, found.feature, found.contexts) if len(found.contexts) else ()
    name = table.names[found.feature]
    return Transitions(name, table.label, found.given, counts, found.same_as, table.notes, table.backend)


def count_transitions(table: EncodedTable, i: int, contexts: Contexts) -> tuple[Transition, ...]:
    """Transitions of a feature: products of two cells of a context that have different values, added up."""
    n_classes = len(table.classes)
    kinds, kind = np.unique(contexts.values.astype(np.int64) * n_classes + contexts.labels, return_inverse=True)
    times = contexts.sizes * contexts.times[contexts.owner]
    # The partners of a cell run from the next value of its context to the end of the context.
    first = np.append(contexts.value_starts, len(kind))[contexts.value_of_cell + 1]
    n_partners = np.append(contexts.starts, len(kind))[contexts.owner + 1] - first
    keys, pairs = (np.zeros(0, np.int64) for _ in range(2))
    for cells in np.split(np.arange(len(kind)), _even_cuts(n_partners)):
        one = np.repeat(cells, n_partners[cells])
        place = np.arange(len(one)) - np.repeat(np.cumsum(n_partners[cells]) - n_partners[cells], n_partners[cells])
        other = first[one] + place
        keys = np.append(keys, kind[one] * len(kinds) + kind[other])
        pairs = np.append(pairs, times[one] * contexts.sizes[other])
        order = np.argsort(keys, kind="stable")
        starts = np.flatnonzero(differs_from_last(keys[order]))
        keys, pairs = keys[order[starts]], np.add.reduceat(pairs[order], starts)
        if len(keys) > MAX_LISTED:
            raise InputError(
                f"The pairs of {table.names[i]!r} have more than {MAX_LISTED:,} distinct changes of value and label,"
                " too many to list; merge rare values or classes, or look at single pairs with evidence."
            )
    rank = np.argsort(np.argsort(first_rows(table.codes[:, i], int(table.n_values[i]))))
    (a, p), (b, q) = (np.divmod(kinds[side], n_classes) for side in np.divmod(keys, len(kinds)))
    turned = rank[a] > rank[b]
    a, b, p, q = (np.where(turned, two, one) for one, two in ((a, b), (b, a), (p, q), (q, p)))
    order = np.lexsort((q, p, rank[b], rank[a]))
    values, classes = table.columns[i].values, table.classes
    return tuple(
        Transition((plain(values[a[k]]), plain(values[b[k]])), (classes[p[k]], classes[q[k]]), int(pairs[k]))
        for k in order.tolist()
    )


def _even_cuts(n_partners: Ints) -> Positions:
    """Where to cut the cells so that the parts have about as many partners as are listed at most."""
    part = np.cumsum(n_partners) // MAX_LISTED
    return np.flatnonzero(np.diff(part)) + 1


def first_rows(column: Codes, n_values: int) -> Ints:
    """The row in which each value occurs first."""
    firsts = np.empty(n_values, dtype=np.int64)
    firsts[column[::-1]] = np.arange(len(column))[::-1]
    return firsts


# ---------------------------------------------------------------- pairs, one at a time


def _find_pairs(
    column: Codes, labels: Codes, by_context: tuple[Positions, Positions], limit: int | None, among: Bools | None
) -> list[tuple[int, int]]:
    """Pairs of rows with different values in the column, from rows that are brought together by context."""
    order, starts = by_context
    firsts = order[starts]
    owner = np.repeat(np.arange(len(starts)), np.diff(starts, append=len(order)))
    if among is not None:
        order, owner = order[among[order]], owner[among[order]]
    starts = np.flatnonzero(differs_from_last(owner))
    stops = np.append(starts[1:], len(order))
    found: list[tuple[int, int]] = []
    for changed in (True, False) if among is None else (True,):
        some = np.flatnonzero(_holds_pair(column[order], labels[order], owner, starts, changed))
        some = some[np.argsort(firsts[owner[starts[some]]])]  # by their first row
        left = None if limit is None else limit - len(found)
        streams = (_pairs_of(order[starts[c] : stops[c]], column, labels, changed) for c in some)
        found += islice(_in_turn(streams, left), min(MAX_LISTED + 1 if left is None else left, MAX_LISTED + 1))
        if len(found) > MAX_LISTED:
            raise InputError(
                f"More than {MAX_LISTED:,} pairs would be listed with limit={limit}; give a smaller limit,"
                " or use transitions, which counts them."
            )
    return found


def _holds_pair(values: Codes, labels: Codes, owner: Positions, starts: Positions, changed: bool) -> Bools:
    """Whether a context holds a pair whose labels differ, or one whose labels are the same."""
    if not len(starts):
        return np.zeros(0, np.bool_)
    if changed:  # two values and two labels in a context always make one
        return _varies(values, starts) & _varies(labels, starts)
    by_label = np.lexsort((labels, owner))
    is_new = differs_from_last(owner[by_label]) | differs_from_last(labels[by_label])
    parts = np.flatnonzero(is_new)
    holds = np.zeros(len(starts), np.bool_)
    context = np.cumsum(differs_from_last(owner[by_label]))[parts] - 1
    holds[context[_varies(values[by_label], parts)]] = True
    return holds


def _varies(values: Codes, starts: Positions) -> Bools:
    """Whether runs that begin at the starts hold two different values."""
    varies: Bools = np.minimum.reduceat(values, starts) != np.maximum.reduceat(values, starts)
    return varies


def _pairs_of(rows: Positions, column: Codes, labels: Codes, changed: bool) -> Iterator[tuple[int, int]]:
    """Changed, or unchanged, pairs of one context, by the first row and then the second."""
    values, classes = column[rows], labels[rows]
    n_partners = _n_later(classes) - _n_later(values, classes)
    if changed:
        n_partners = np.arange(len(rows))[::-1] - _n_later(values) - n_partners

    @lru_cache(maxsize=N_REMEMBERED)
    def partners(value: int, label: int) -> Positions:
        found: Positions = rows[(values != value) & ((classes != label) == changed)]
        return found

    for k in np.flatnonzero(n_partners).tolist():
        later = partners(int(values[k]), int(classes[k]))[-n_partners[k] :]
        yield from ((int(rows[k]), partner) for partner in later.tolist())


def _n_later(*keys: Codes) -> Ints:
    """For each row, how many later rows agree with it on all keys."""
    order = np.lexsort(keys)
    starts = np.flatnonzero(np.logical_or.reduce([differs_from_last(key[order]) for key in keys]))
    sizes = np.diff(starts, append=len(order))
    n_later = np.empty(len(order), np.int64)
    n_later[order] = np.repeat(starts + sizes, sizes) - 1 - np.arange(len(order))
    return n_later


def _in_turn(streams: Iterator[Iterator[tuple[int, int]]], enough: int | None) -> Iterator[tuple[int, int]]:
    """The first of each stream, then the second of each; no more streams are opened than are needed."""
    alive = []
    n_given = 0
    for stream in streams:
        if n_given == enough:
            return
        first = next(stream, None)
        if first is not None:
            yield first
            alive.append(stream)
            n_given += 1
    while alive:
        following = []
        for stream in alive:
            pair = next(stream, None)
            if pair is not None:
                yield pair
                following.append(stream)
        alive = following


def name_pairs(pairs: Sequence[tuple[int, int]], found: ComparedRows) -> tuple[EvidencePair, ...]:
    """Pairs of encoded rows with the user's values, names and labels."""
    table, i, weights = found.study.table, found.feature, found.rows.weights_or_ones()
    firsts = first_rows(table.codes[:, i], int(table.n_values[i]))
    two = np.array(pairs, dtype=np.intp).reshape(-1, 2)
    is_turned = firsts[table.codes[two[:, 0], i]] > firsts[table.codes[two[:, 1], i]]
    two[is_turned] = two[is_turned, ::-1]
    first, second = two.T.tolist()

    def of_both(what: Callable[[list[int]], Sequence[Any]]) -> Iterator[tuple[Any, Any]]:
        return zip(what(first), what(second), strict=True)

    return tuple(
        EvidencePair(places, index, context, values, labels, weight * other_weight)
        for places, index, context, values, labels, (weight, other_weight) in zip(
            of_both(table.positions),
            of_both(table.row_names),
            name_contexts(first, found),
            of_both(lambda some: table.cells(some, i)),
            of_both(lambda some: [table.classes[code] for code in found.rows.labels[some].tolist()]),
            of_both(lambda some: weights[some].tolist()),
            strict=True,
        )
    )


def name_contexts(rows: Sequence[int], found: ComparedRows) -> list[tuple[tuple[str, Any], ...]]:
    """For each of some rows the names and values of what is given."""
    named = zip(found.given, found.columns, strict=True)
    cells = [[(name, cell) for cell in _cells(found.study, rows, column)] for name, column in named]
    return list(zip(*cells, strict=True)) if cells else [()] * len(rows)


def _cells(study: Study, rows: Sequence[int], column: int) -> list[Any]:
    """What rows hold in a column; of a number in other bins than its own, the range of the bin."""
    if column < study.n_features:
        return study.table.cells(rows, column)
    feature, codes = int(study.owner[column]), study.codes(column)
    ends, fine = study.table.columns[feature].fine_ends, study.table.fine[feature]
    known = [np.unique(fine[codes == code]) for code in range(int(codes.max()) + 1)]
    bins = [(some[0], some[-1]) for some in known if some[0] < len(ends)]  # the last one is that of missing cells
    names = name_bins([ends[low][0] for low, _ in bins], [ends[high][1] for _, high in bins])
    return [names[code] if code < len(names) else None for code in codes[list(rows)].tolist()]
