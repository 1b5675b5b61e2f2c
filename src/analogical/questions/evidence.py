"""The rows that are compared for one feature: pairs behind its effect, and their changes of value and label."""

import math
from collections.abc import Callable, Hashable, Sequence
from dataclasses import dataclass, replace
from functools import cached_property, partial
from typing import TYPE_CHECKING, Any, ClassVar, Unpack

import numpy as np

from analogical._checks import check_limit
from analogical._results import Result, entry_at, json_ready
from analogical._types import Bools, Floats, Ints, Note, Positions
from analogical.columns.binning import merge_bins, name_bins
from analogical.columns.columns import plain
from analogical.columns.roles import as_list
from analogical.columns.rules import ColumnOptions
from analogical.count.contexts import Contexts
from analogical.count.listing import MAX_LISTED, ListedRows, count_transitions, find_pairs
from analogical.errors import InputError
from analogical.estimate.differences import LabelPairs, means_by_values
from analogical.explain import GivenColumns
from analogical.study import Given, Study, asked_about, check_given, study_of

if TYPE_CHECKING:
    from matplotlib.axes import Axes

NamedContext = tuple[tuple[str, Any], ...]
"""Names and values of the given features."""
BINS = 256
"""Bins of labels that are numbers, in which their pairs are counted; of each two bins some pairs are compared."""
_CHANGE = ("value", "other_value", "label", "other_label", "changed")


@dataclass(frozen=True, eq=False, repr=False, kw_only=True)
class OfOneFeature(Result):
    """What all results about one feature say."""

    feature: str
    label: str
    given: tuple[str, ...]
    """The features on which compared rows agree."""
    scale: str = "classes"
    unit: str = ""
    """How labels are compared, as in :class:`analogical.Settings`."""
    same_as: str | None = None
    """The given feature that it copies; a copy has no rows that can be compared."""
    notes: tuple[Note, ...] = ()
    """What was done to the table before it was counted."""
    backend: str | None = None

    ITEMS: ClassVar[str]
    """The field with the entries, whose attributes are the columns; of two values, labels or rows the second is
    ``other_value``, ``other_label`` or ``other_row``."""

    def __len__(self) -> int:
        return len(getattr(self, self.ITEMS))

    def record(self, position: int) -> dict[str, Any]:
        """One entry in plain Python types; unknown numbers are None."""
        item = getattr(self, self.ITEMS)[position]
        cells: dict[str, Any] = {}
        for column in self.COLUMNS:
            name = column.removeprefix("other_")
            two: Any = getattr(item, {"row": "index"}.get(name, f"{name}s"), None)
            cell: Any = getattr(item, column) if two is None else (two or (None, None))[name != column]
            cells[column] = json_ready(dict(cell) if column == "context" else cell)
        return cells


@dataclass(frozen=True)
class ExampleRows:
    """Rows that agree on the given features: two that differ on one feature, or the four rows of a square.

    Examples
    --------
    >>> from analogical import evidence, load_table
    >>> first = evidence(load_table("titanic").to_frame(), "survived", "sex", weights="count")[0]
    >>> first.context, first.values, first.labels, first.weight
    ((('class', '1st'), ('age', 'adult')), ('male', 'female'), ('no', 'yes'), 16520)
    """

    DERIVED = ("changed",)

    rows: tuple[int, ...] | None
    """Their positions in the table, counted from 0; None on Spark, where rows have no order."""
    index: tuple[Hashable, ...]
    """Their row labels, if the dataframe has an index; otherwise the positions again; empty on Spark."""
    context: NamedContext
    """Names and values of the given features, on which they agree."""
    values: tuple[Any, ...]
    """The feature's value in each row; the two values in each row of a square."""
    labels: tuple[Any, ...]
    weight: int
    """Pairs or squares that these rows represent: the product of their weights."""

    @property
    def changed(self) -> bool:
        """Whether the labels differ."""
        return any(label != self.labels[0] for label in self.labels)


@dataclass(frozen=True, eq=False, repr=False, kw_only=True)
class Evidence(OfOneFeature):
    """Pairs of rows that agree on the given features and differ on one.

    ``evidence[0]`` is the first pair, ``len(evidence)`` how many are shown.

    Examples
    --------
    >>> from analogical import evidence, load_table
    >>> result = evidence(load_table("titanic").to_frame(), "survived", "sex", weights="count", limit=2)
    >>> result.n_pairs, result.n_changed, len(result), [pair.changed for pair in result.pairs]
    (138516, 80024, 2, [True, True])
    """

    COLUMNS = ("row", "other_row", *_CHANGE, "weight", "context")
    ITEMS = "pairs"

    n_pairs: int
    """All such pairs."""
    n_changed: int
    """Those whose labels differ."""
    pairs: tuple[ExampleRows, ...]
    """Example pairs, changed ones first, from as many contexts as possible; of labels that are numbers, one half with
    the largest differences of their contexts and the other half near the median difference."""
    index: float
    """Share of the pairs whose labels differ; of numbers, the mean squared difference; NaN without pairs."""
    median: float
    """Median difference of labels that are numbers, whatever its sign; with more than 256 of them, that of the means of
    256 bins. NaN for classes."""

    def __getitem__(self, position: int) -> ExampleRows:
        return self.pairs[position]

    def plot(self, ax: "Axes | None" = None) -> "Axes":
        """Draw example pairs of rows: the value and the label of each row, and what the two rows have in common.

        One line per pair, from one row to the other: orange if the labels differ, grey if not. On the left are the
        values of the given features, on the right the number of pairs like this one.
        """
        from analogical.plot.figures import plot_evidence

        return plot_evidence(self, ax)


@dataclass(frozen=True)
class Transition:
    """Pairs in which the feature goes from one value to another and the label from one class to another.

    Labels that are numbers have one transition for each change of value, between the mean labels of the two sides.

    Examples
    --------
    >>> from analogical import load_table, transitions
    >>> result = transitions(load_table("titanic").to_frame(), "survived", "sex", weights="count")
    >>> result.counts[0]
    Transition(values=('male', 'female'), labels=('no', 'no'), pairs=39522)
    >>> result.counts[0].changed
    False
    """

    DERIVED = ("changed",)

    values: tuple[Any, Any]
    labels: tuple[Any, Any]
    """Labels of the two rows; of numbers their means over the pairs, of logarithms the exponentials of the means."""
    pairs: int

    @property
    def changed(self) -> bool:
        """Whether the labels differ."""
        return bool(self.labels[0] != self.labels[1])


@dataclass(frozen=True, eq=False, repr=False, kw_only=True)
class Transitions(OfOneFeature):
    """Number of pairs of a feature for each change of value and label; the counts add up to its pairs.

    Labels that are numbers have their mean on either side of each change of value.

    ``transitions["red", "blue"]`` are those between two values, in either order. The rows of a pair agree on the
    features in ``given``; a feature that copies one of the deciding set (``same_as``) has no pairs.

    Examples
    --------
    >>> from analogical import load_table, transitions
    >>> result = transitions(load_table("titanic").to_frame(), "survived", "sex", weights="count")
    >>> result.n_pairs, result.n_changed, len(result["male", "female"])
    (138516, 80024, 4)
    """

    COLUMNS = (*_CHANGE, "pairs")
    ITEMS = "counts"
    DERIVED = ("n_pairs",)

    counts: tuple[Transition, ...]
    n_changed: int
    """Pairs whose labels differ."""

    def __getitem__(self, values: tuple[Any, Any]) -> tuple[Transition, ...]:
        between = tuple(t for t in self.counts if isinstance(values, tuple) and set(t.values) == set(values))
        if not between:
            entry_at(values, dict.fromkeys(t.values for t in self.counts), "change of value")
        return between

    @property
    def n_pairs(self) -> int:
        """All pairs."""
        return sum(t.pairs for t in self.counts)

    def plot(self, ax: "Axes | None" = None) -> "Axes":
        """Draw how often the label changes with each change of value, the changes with most pairs first.

        A bar shows the share of the pairs whose label changes, orange, and of those whose label stays, grey; with two
        classes the two directions have a part each. On the right is the number of pairs.
        """
        from analogical.plot.figures import plot_transitions

        return plot_transitions(self, ax)

    def to_dict(self) -> dict[str, Any]:
        """Everything in plain Python types, ready for JSON; the counts are called transitions."""
        content = super().to_dict()
        content["transitions"] = content.pop("counts")
        return content


# ---------------------------------------------------------------- the rows of one feature


@dataclass(frozen=True)
class ComparedRows:
    """The rows that are compared for one feature, grouped once for several questions."""

    study: Study
    feature: int
    given: GivenColumns

    def about(self) -> dict[str, Any]:
        """The fields of :class:`OfOneFeature`."""
        study, table = self.study, self.study.table
        return {
            "feature": table.names[self.feature],
            "label": table.label,
            "given": study.names_of(self.given.columns),
            "scale": "classes" if study.scale is None else study.scale.kind,
            "unit": "" if study.scale is None else study.scale.unit,
            "same_as": study.name_of(self.given.same_as),
            "notes": study.notes,
            "backend": table.backend,
        }

    @cached_property
    def contexts(self) -> Contexts:
        """Rows by context, value and label."""
        is_copy = self.given.same_as is not None
        return Contexts.none() if is_copy else self.study.contexts(self.feature, self.given.columns)

    @cached_property
    def listed(self) -> ListedRows:
        """The rows in the order in which they are listed, with the feature as their only column."""
        return self.study.listed([self.feature], self.given.columns)

    def has_value(self, value: Any) -> Bools:
        """Which rows have a value of the feature."""
        values = [plain(known) for known in self.study.table.columns[self.feature].values]
        return np.asarray(self.listed.rows.codes[:, 0] == values.index(value))

    def has_label(self, label: Any) -> Bools:
        """Which rows have a label."""
        return np.asarray(self.listed.rows.labels == self.study.table.classes.index(label))

    def find_pairs(self, limit: int | None, among: Bools | None = None) -> list[tuple[int, int]]:
        """Pairs of rows: changed ones first, in turn from each context; with ``among``, changed ones of those rows."""
        return find_pairs(self.listed, limit, among) if len(self.contexts) and limit != 0 else []

    @cached_property
    def _bin_of(self) -> Ints:
        """The bin of each label code of numbers by which pairs are counted: of up to 256 numbers the code itself."""
        sizes = self.study.label_sizes
        bins = np.arange(len(sizes)) if len(sizes) <= BINS else merge_bins(sizes, BINS, has_missing=False)
        return bins.astype(np.int64)

    @cached_property
    def label_pairs(self) -> LabelPairs:
        """The pairs by their labels, if these are numbers."""
        study = self.study
        return LabelPairs.of(self.contexts, study.label_scores[:, 0], study.label_sizes, self._bin_of)

    @cached_property
    def _in_bins(self) -> ListedRows:
        """The rows with the bins of their labels."""
        rows = self.listed.rows
        return replace(self.listed, rows=replace(rows, labels=self._bin_of[rows.labels].astype(np.uint32)))

    def example_pairs(self, limit: int | None) -> list[tuple[int, int]]:
        """Pairs to show: of classes changed ones first; of numbers the largest differences, then those near the median.

        Without a limit all of them, of numbers those with larger differences first.
        """
        if self.study.scale is None or not len(self.contexts) or limit == 0:
            return self.find_pairs(limit)
        largest = float(np.ptp(self.study.label_scores))
        if limit is None:
            return sorted(self.find_pairs(None), key=partial(self._off, largest))
        n_largest = limit - limit // 2
        known = self._nearest(largest, n_largest, self._largest_pairs()[:n_largest])
        return self._nearest(self.label_pairs.median(), limit, known)

    def _largest_pairs(self) -> list[tuple[int, int]]:
        """The pair of each context with the largest difference, larger ones first: one row is its first or its last."""
        listed, score = self.listed, self.study.label_scores[self.listed.rows.labels, 0]
        context, value = listed.context, listed.rows.codes[:, 0]

        def first(score: Floats, among: Bools) -> Positions:
            rows = np.flatnonzero(among)
            order = rows[np.argsort(score[rows], kind="stable")][::-1]
            found = np.full(len(listed.given), -1)
            found[context[order]] = order  # the last one stays
            return found

        pairs = []
        for sign in (1, -1):
            one = first(sign * score, np.ones(len(score), np.bool_))
            other = first(-sign * score, value != value[one][context])
            held = other >= 0
            pairs.append(np.sort(np.stack([one[held], other[held]]), axis=0))
        one, other = np.concatenate(pairs, axis=1)
        found: dict[int, tuple[int, int]] = {}
        for k in np.argsort(-abs(score[one] - score[other]), kind="stable").tolist():
            found.setdefault(int(context[one[k]]), (int(one[k]), int(other[k])))
        return list(found.values())

    def _off(self, wanted: float, two: tuple[int, int]) -> float:
        """How far the difference of two rows is from the wanted one."""
        one, other = self.study.label_scores[self.listed.rows.labels[list(two)], 0].tolist()
        return float(abs(abs(one - other) - wanted))

    def _nearest(self, wanted: float, n: int, known: list[tuple[int, int]]) -> list[tuple[int, int]]:
        """The known pairs, and others up to ``n`` whose differences are nearest to the wanted one.

        First each label, or bin of labels, once, to show many. Of each two bins up to 1,000 pairs are considered.
        """
        labels, found, used = self._in_bins.rows.labels, list(known), set[int]()
        order = np.argsort(abs(self.label_pairs.differences - wanted), kind="stable")
        for once in (True, False):
            for p, q in zip(*(side[order].tolist() for side in self.label_pairs.labels), strict=True):
                if len(found) >= n:
                    return found
                if not (once and used & {p, q}):
                    used |= {p, q}
                    some = find_pairs(self._in_bins, max(n, 1_000), (labels == p) | (labels == q), changed=p != q)
                    new = [two for two in sorted(some, key=partial(self._off, wanted)) if two not in found]
                    found += new[: 1 if once else n - len(found)]
        return found


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
    asked = check_given(given)
    named = () if isinstance(asked, str) else asked
    study = study_of(verb, X, y, columns, without=without, keep=[feature, *named])
    place = study.table.find(feature)
    return ComparedRows(study, place, study.given_of(place, asked))


def name_examples(
    study: Study,
    features: Sequence[int],
    given: Sequence[int],
    listed: ListedRows,
    examples: Sequence[Sequence[int]],
    weights: Sequence[int],
) -> tuple[ExampleRows, ...]:
    """Examples of some listed rows each, with the user's values of the features and of the given columns."""
    wanted, table, coded = sorted({row for rows in examples for row in rows}), study.table, listed.rows
    place = {row: k for k, row in enumerate(wanted)}
    contexts = name_contexts(study, given, listed, listed.context[wanted].tolist())
    positions = None if listed.positions is None else listed.positions[wanted].tolist()
    names = [] if positions is None else table.row_names(wanted)
    columns = [table.named(i, coded.codes[wanted, k].tolist()) for k, i in enumerate(features)]
    values = columns[0] if len(columns) == 1 else list(zip(*columns, strict=True))
    labels = [table.classes[label] for label in coded.labels[wanted].tolist()]
    found = []
    for rows, weight in zip(examples, weights, strict=True):
        own = [place[row] for row in rows]
        found.append(
            ExampleRows(
                rows=None if positions is None else tuple(positions[k] for k in own),
                index=() if positions is None else tuple(names[k] for k in own),
                context=contexts[own[0]],
                values=tuple(values[k] for k in own),
                labels=tuple(labels[k] for k in own),
                weight=weight,
            )
        )
    return tuple(found)


def name_contexts(
    study: Study, given: Sequence[int], listed: ListedRows, contexts: Sequence[int]
) -> list[NamedContext]:
    """For each of some contexts of listed rows the names and values of the given columns."""
    codes = listed.given[list(contexts)]
    place = {column: k for k, column in enumerate(sorted(given))}
    cells = [
        [(name, value) for value in _values_of(study, column, codes[:, place[column]].tolist())]
        for name, column in zip(study.names_of(given), given, strict=True)
    ]
    return list(zip(*cells, strict=True)) if cells else [()] * len(contexts)


def _values_of(study: Study, column: int, codes: Sequence[int]) -> list[Any]:
    """The values of codes of a column; of a number in other bins than its own, the range of the bin."""
    if column < study.n_features:
        return study.table.named(column, codes)
    ends, bin_of = study.table.columns[int(study.owner[column])].fine_ends, study.bins_of_fine(column)
    fine_bins = [np.flatnonzero(bin_of == code) for code in range(int(bin_of.max()) + 1)]
    ranges = [(fine[0], fine[-1]) for fine in fine_bins if fine[0] < len(ends)]  # the last bin is that of missing cells
    names = name_bins([(ends[low][0], ends[high][1]) for low, high in ranges])
    return [names[code] if code < len(names) else None for code in codes]


# ---------------------------------------------------------------- questions


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
        the second one from each, and so on, so that the first pairs come from different contexts. Of labels that are
        numbers, half of the pairs have the largest differences, the others are near the median difference.

    Notes
    -----
    Rows on Spark and in databases have no positions. In a table that is too large to collect its rows, those that are
    equal on the feature, the given features and the label are one row with their number.

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
    compared = compare_rows(evidence, X, y, feature, given, columns)
    return evidence_of(compared, compared.example_pairs(limit))


def evidence_of(compared: ComparedRows, pairs: Sequence[tuple[int, int]]) -> Evidence:
    """The number of pairs of a feature, and some of its pairs."""
    found, named = compared.contexts.profile, name_pairs(compared, pairs)
    index, median = found.n_changed / found.n_pairs if found.n_pairs else math.nan, math.nan
    if compared.study.scale is not None:
        tested = compared.study.tested(compared.feature, compared.given.columns)
        index, median = math.nan if tested is None else tested.index, compared.label_pairs.median()
    about = {**compared.about(), "n_pairs": found.n_pairs, "n_changed": found.n_changed}
    return Evidence(**about, pairs=named, index=index, median=median)


def name_pairs(compared: ComparedRows, pairs: Sequence[tuple[int, int]]) -> tuple[ExampleRows, ...]:
    """Pairs of listed rows with the user's values, names and labels."""
    study, i, rows = compared.study, compared.feature, compared.listed.rows
    first_row, weights = study.first_rows(i)[rows.codes[:, 0]], rows.weights_or_ones()
    ordered = [sorted(two, key=lambda row: first_row[row]) for two in pairs]  # by where their values occur first
    times = [int(weights[a] * weights[b]) for a, b in pairs]
    return name_examples(study, [i], compared.given.columns, compared.listed, ordered, times)


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
        One count for each change of value, from the one that occurs first in the table, and of label; of labels that
        are numbers one for each change of value, with the mean label on either side.

    Examples
    --------
    >>> from analogical import load_table, transitions
    >>> transitions(load_table("berkeley").to_frame(), "admitted", "gender", weights="count")
    4 transitions of 'gender' and 'admitted' in 654,456 pairs.
    gender         admitted     pairs   share
    male → female  no = no    308,363  47.1 %
    male → female  no → yes   130,731  20.0 %
    male → female  yes → no   115,965  17.7 %
    male → female  yes = yes   99,397  15.2 %
    Pairs of rows that agree on department.
    """
    return transitions_of(compare_rows(transitions, X, y, feature, given, columns))


def transitions_of(compared: ComparedRows) -> Transitions:
    """The pairs of a feature by value and label."""
    counts = list_transitions(compared)
    if counts is None:
        raise InputError(
            f"The pairs of {compared.study.table.names[compared.feature]!r} have more than {MAX_LISTED:,} distinct"
            " changes of value and label, too many to list; merge rare values or classes, or look at single pairs with"
            " evidence."
        )
    return Transitions(**compared.about(), counts=counts, n_changed=compared.contexts.profile.n_changed)


def list_transitions(compared: ComparedRows) -> tuple[Transition, ...] | None:
    """The pairs of a feature by value and label; None if there are too many combinations to list."""
    if not len(compared.contexts):
        return ()
    table, i = compared.study.table, compared.feature
    values, classes = [plain(value) for value in table.columns[i].values], table.classes
    first_rows = compared.study.first_rows(i)
    if compared.study.scale is not None:
        return _mean_transitions(compared, values, first_rows.tolist())
    counted = count_transitions(compared.contexts, len(table.classes), first_rows)
    if counted is None:
        return None
    rows = zip(*(side.tolist() for side in (*counted.values, *counted.labels, counted.pairs)), strict=True)
    return tuple(Transition((values[a], values[b]), (classes[p], classes[q]), pairs) for a, b, p, q, pairs in rows)


def _mean_transitions(
    compared: ComparedRows, values: Sequence[Any], first_row: Sequence[int]
) -> tuple[Transition, ...]:
    """The pairs of a feature by value, with the mean label of either side."""
    found = means_by_values(compared.contexts, compared.study.label_scores[:, 0])
    shown = math.exp if compared.study.scale is not None and compared.study.scale.kind == "log" else float
    transitions = {}
    for a, b, of_a, of_b, pairs in zip(*(column.tolist() for column in found), strict=True):
        (u, of_u), (v, of_v) = sorted([(a, of_a), (b, of_b)], key=lambda side: first_row[side[0]])
        transitions[first_row[u], first_row[v]] = Transition((values[u], values[v]), (shown(of_u), shown(of_v)), pairs)
    return tuple(transitions[place] for place in sorted(transitions))
