"""The rows behind an effect: the pairs, and the number of pairs for each change of value and label."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Unpack

from analogical._checks import check_limit
from analogical._results import Result, entry_at, json_ready
from analogical._types import Note
from analogical.columns.columns import plain
from analogical.columns.rules import ColumnOptions
from analogical.count.listing import MAX_LISTED, count_transitions
from analogical.errors import InputError
from analogical.questions.compared import ComparedRows, ExampleRows, compare_rows, name_examples
from analogical.study import Given

if TYPE_CHECKING:
    from matplotlib.axes import Axes

__all__ = [
    "Evidence",
    "Transition",
    "Transitions",
    "evidence",
    "evidence_of",
    "list_transitions",
    "name_pairs",
    "transitions",
    "transitions_of",
]

_CHANGE = ("value", "other_value", "label", "other_label", "changed")


@dataclass(frozen=True, eq=False, repr=False)
class Evidence(Result):
    """Pairs of rows that agree on the given features and differ on one.

    ``evidence[0]`` is the first pair, ``len(evidence)`` how many are shown.

    Attributes
    ----------
    feature, label : str
        What differs, and what may change with it.
    given, same_as, notes
        As in :class:`analogical.Relevance`, for this feature. A copy has no pairs.
    n_pairs, n_changed : int
        All such pairs, and those whose labels differ.
    pairs : tuple of ExampleRows
        Example pairs, changed ones first, from as many contexts as possible.

    Examples
    --------
    >>> from analogical import evidence, load_table
    >>> result = evidence(load_table("titanic").to_frame(), "survived", "sex", weights="count", limit=2)
    >>> result.n_pairs, result.n_changed, len(result), [pair.changed for pair in result.pairs]
    (138516, 80024, 2, [True, True])
    """

    COLUMNS = ("row", "other_row", *_CHANGE, "weight", "context")

    feature: str
    label: str
    given: tuple[str, ...]
    n_pairs: int
    n_changed: int
    pairs: tuple[ExampleRows, ...]
    same_as: str | None = None
    notes: tuple[Note, ...] = ()
    backend: str | None = None

    def __len__(self) -> int:
        return len(self.pairs)

    def __getitem__(self, position: int) -> ExampleRows:
        return self.pairs[position]

    def plot(self, ax: "Axes | None" = None) -> "Axes":
        """Draw example pairs of rows: the value and the label of each row, and what the two rows have in common.

        One line per pair, from one row to the other: orange if the labels differ, grey if not. On the left are the
        values of the given features, on which the two rows agree, on the right the number of pairs like this one.
        Without ``ax``, a new figure is made.
        """
        from analogical.plot.pairs import plot_evidence

        return plot_evidence(self, ax)

    def records(self) -> list[dict[str, Any]]:
        """One dictionary per pair: the two rows, the values and labels, then what the rows have in common."""
        return [
            {
                "row": pair.index[0] if pair.index else None,
                "other_row": pair.index[1] if pair.index else None,
                **_change_record(pair),
                "weight": pair.weight,
                "context": json_ready(dict(pair.context)),
            }
            for pair in self.pairs
        ]


@dataclass(frozen=True)
class Transition:
    """Pairs in which the feature goes from one value to another and the label from one class to another.

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
    pairs: int

    @property
    def changed(self) -> bool:
        """Whether the labels differ."""
        return bool(self.labels[0] != self.labels[1])


def _change_record(change: ExampleRows | Transition) -> dict[str, Any]:
    """Values and labels of two rows as columns of a record."""
    cells = *json_ready(change.values), *json_ready(change.labels), change.changed
    return dict(zip(_CHANGE, cells, strict=True))


@dataclass(frozen=True, eq=False, repr=False)
class Transitions(Result):
    """Number of pairs of a feature for each change of value and label; the counts add up to its pairs.

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
    DERIVED = ("n_pairs", "n_changed")

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
        between = tuple(t for t in self.counts if isinstance(values, tuple) and set(t.values) == set(values))
        if not between:
            entry_at(values, dict.fromkeys(t.values for t in self.counts), "change of value")
        return between

    @property
    def n_pairs(self) -> int:
        """All pairs."""
        return sum(t.pairs for t in self.counts)

    @property
    def n_changed(self) -> int:
        """Pairs whose labels differ."""
        return sum(t.pairs for t in self.counts if t.changed)

    def plot(self, ax: "Axes | None" = None) -> "Axes":
        """Draw how often the label changes with each change of value, the changes with most pairs first.

        A bar shows the share of the pairs whose label changes, orange, and of those whose label stays, grey; with two
        classes the two directions have a part each. Beside it is the number of pairs. Without ``ax``, a new figure is
        made.
        """
        from analogical.plot.pairs import plot_transitions

        return plot_transitions(self, ax)

    def records(self) -> list[dict[str, Any]]:
        """One dictionary per change of value and label."""
        return [{**_change_record(t), "pairs": t.pairs} for t in self.counts]

    def to_dict(self) -> dict[str, Any]:
        """Everything in plain Python types, ready for JSON; the counts are called transitions."""
        content = super().to_dict()
        content["transitions"] = content.pop("counts")
        return content


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
    return evidence_of(compared, compared.find_pairs(limit))


def evidence_of(compared: ComparedRows, pairs: Sequence[tuple[int, int]]) -> Evidence:
    """The number of pairs of a feature, and some of its pairs."""
    table, profile = compared.study.table, compared.contexts.profile
    return Evidence(
        feature=table.names[compared.feature],
        label=table.label,
        given=compared.given,
        n_pairs=profile.n_pairs,
        n_changed=profile.n_changed,
        pairs=name_pairs(compared, pairs),
        same_as=compared.same_as,
        notes=compared.study.notes,
        backend=table.backend,
    )


def name_pairs(compared: ComparedRows, pairs: Sequence[tuple[int, int]]) -> tuple[ExampleRows, ...]:
    """Pairs of listed rows with the user's values, names and labels."""
    study, i, rows = compared.study, compared.feature, compared.rows
    first_row, weights = study.first_rows(i)[rows.codes[:, 0]], rows.weights_or_ones()
    ordered = [sorted(two, key=lambda row: first_row[row]) for two in pairs]  # by where their values occur first
    times = [int(weights[a] * weights[b]) for a, b in pairs]
    return name_examples(study, [i], compared.columns, compared.listed, ordered, times)


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
    table, counts = compared.study.table, list_transitions(compared)
    name = table.names[compared.feature]
    if counts is None:
        raise InputError(
            f"The pairs of {name!r} have more than {MAX_LISTED:,} distinct changes of value and label,"
            " too many to list; merge rare values or classes, or look at single pairs with evidence."
        )
    return Transitions(name, table.label, compared.given, counts, compared.same_as, compared.study.notes, table.backend)


def list_transitions(compared: ComparedRows) -> tuple[Transition, ...] | None:
    """The pairs of a feature by value and label; None if there are too many combinations to list."""
    if not len(compared.contexts):
        return ()
    table, i = compared.study.table, compared.feature
    counted = count_transitions(compared.contexts, len(table.classes), compared.study.first_rows(i))
    if counted is None:
        return None
    values, classes = [plain(value) for value in table.columns[i].values], table.classes
    rows = zip(*(side.tolist() for side in (*counted.values, *counted.labels, counted.pairs)), strict=True)
    return tuple(Transition((values[a], values[b]), (classes[p], classes[q]), pairs) for a, b, p, q, pairs in rows)
