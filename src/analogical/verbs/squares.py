"""The rows behind an interaction: label shares by the values of two features, and broken and kept squares."""

import math
from collections.abc import Hashable, Iterator, Sequence
from dataclasses import dataclass
from itertools import combinations, islice, product, zip_longest
from typing import TYPE_CHECKING, Any, Literal, Unpack

import numpy as np

from analogical._checks import check_limit
from analogical._results import Result, json_ready
from analogical._types import CodedRows, Ints, Note, Positions
from analogical.count.contexts import differs_from_last
from analogical.count.groups import number_groups
from analogical.count.squares import context_numbers
from analogical.errors import InputError
from analogical.estimate.interactions import SquareSums
from analogical.study import Given, Study, asked_about, check_given, study_of
from analogical.table.columns import plain
from analogical.table.rules import ColumnOptions
from analogical.verbs.interactions import asked_for, sums_given

if TYPE_CHECKING:
    from matplotlib.axes import Axes

__all__ = ["Square", "Squares", "squares", "squares_of"]

MAX_LISTED = 100_000
"""More squares than this are not listed."""
LISTED_PER_CONTEXT = 20_000
"""Kinds of squares that are looked at in one context, the values with most rows first."""


@dataclass(frozen=True)
class Square:
    """Four rows that agree on the given features and have two values of each feature in all four combinations.

    The order is a = (u, v), b = (u', v), c = (u, v'), d = (u', v'): a is to b as c is to d.

    Examples
    --------
    >>> from analogical import squares
    >>> found = squares([[0, 0], [0, 1], [1, 0], [1, 1]], [0, 1, 1, 0], 0, 1)
    >>> found[0].first_values, found[0].second_values, found[0].labels
    ((0, 1), (0, 1), (0, 1, 1, 0))
    """

    rows: tuple[int, int, int, int]
    """Positions of the four rows in the table, counted from 0."""
    index: tuple[Hashable, Hashable, Hashable, Hashable]
    """Their row labels, if the dataframe has an index; otherwise the positions again."""
    context: tuple[tuple[str, Any], ...]
    """Names and values of the features on which they agree."""
    first_values: tuple[Any, Any]
    """u and u', the values of the first feature."""
    second_values: tuple[Any, Any]
    """v and v', the values of the second feature."""
    labels: tuple[Any, Any, Any, Any]
    times: int
    """Squares of this context that have the same values and labels."""

    @property
    def broken(self) -> bool:
        """Whether the labels do not form an analogical proportion."""
        a, b, c, d = self.labels
        return not ((a == b and c == d) or (a == c and b == d))

    def to_dict(self) -> dict[str, Any]:
        """The square in plain Python types."""
        return {
            "rows": list(self.rows),
            "index": json_ready(self.index),
            "context": {name: json_ready(value) for name, value in self.context},
            "first_values": json_ready(self.first_values),
            "second_values": json_ready(self.second_values),
            "labels": json_ready(self.labels),
            "broken": self.broken,
            "times": self.times,
        }


@dataclass(frozen=True, eq=False, repr=False)
class Squares(Result):
    """Two features together: label shares by their values, and example squares.

    ``result[0]`` is the first example, ``len(result)`` how many there are.

    Attributes
    ----------
    first, second, label : str
        The two features and the label.
    first_values, second_values, classes : tuple
        Their values.
    counts : ndarray of int, of shape (first values, second values, classes)
        Rows of the whole table; :meth:`shares` divides them.
    n_squares, n_broken : int
        All squares, and those that are broken.
    effect : float
        As in :class:`analogical.Interactions`.
    examples : tuple of Square
        Broken squares, then kept ones, in turn from each context, the most frequent ones first.
    given : tuple of str
        The features on which the rows of a square agree.
    same_as : str or None
        The given feature that one of the two copies; there are no squares then.
    asked : str or tuple of str
        The argument ``given``: ``"auto"``, ``"all"`` or names.
    notes : tuple of Note
        What was done to the table before it was counted.

    Examples
    --------
    >>> from analogical import squares
    >>> found = squares([[0, 0], [0, 1], [1, 0], [1, 1]] * 5, [0, 1, 1, 0] * 5, 0, 1)
    >>> found.first, found.second, found.shares(1).tolist()
    ('x0', 'x1', [[0.0, 1.0], [1.0, 0.0]])
    """

    first: str
    second: str
    label: str
    first_values: tuple[Any, ...]
    second_values: tuple[Any, ...]
    classes: tuple[Any, ...]
    counts: Ints
    n_squares: int
    n_broken: int
    effect: float
    examples: tuple[Square, ...]
    given: tuple[str, ...]
    same_as: str | None
    asked: Literal["auto", "all"] | tuple[str, ...]
    notes: tuple[Note, ...] = ()
    backend: str | None = None

    def __len__(self) -> int:
        return len(self.examples)

    def __getitem__(self, position: int) -> Square:
        return self.examples[position]

    def shares(self, label: Any) -> Any:
        """Shares of a label by the values of both features, as an array; NaN where there is no row."""
        from analogical._results import entry_at

        rows = self.counts.sum(axis=2)
        held = self.counts[:, :, entry_at(label, self.classes, "class")]
        return np.where(rows > 0, held / np.maximum(rows, 1), np.nan)

    def plot(self, ax: "Axes | None" = None, *, label: Any = None) -> "Axes":
        """Label shares by the values of both features; see :func:`analogical.plot.plot_squares`."""
        from analogical.plot import plot_squares

        return plot_squares(self, label, ax)

    def records(self) -> list[dict[str, Any]]:
        """One dictionary per example: the four rows, the values and labels, then what the rows have in common."""
        return [
            {
                "rows": [str(name) for name in square.index],
                "first_values": [str(value) for value in square.first_values],
                "second_values": [str(value) for value in square.second_values],
                "labels": [str(label) for label in square.labels],
                "broken": square.broken,
                "times": square.times,
                "context": {name: json_ready(value) for name, value in square.context},
            }
            for square in self.examples
        ]

    def to_dict(self) -> dict[str, Any]:
        """Everything in plain Python types, ready for JSON."""
        names = ("first", "second", "label", "first_values", "second_values", "classes", "counts", "n_squares")
        others = ("n_broken", "effect", "given", "same_as", "asked", "notes")
        return {
            **{name: json_ready(getattr(self, name)) for name in (*names, *others)},
            "examples": [square.to_dict() for square in self.examples],
        }

    def columns(self) -> tuple[str, ...]:
        """Names of the columns of ``to_frame``."""
        return ("rows", "first_values", "second_values", "labels", "broken", "times", "context")


def squares(
    X: Any,
    y: Any = None,
    first: str | int | None = None,
    second: str | int | None = None,
    *,
    given: Given = "auto",
    limit: int | None = 4,
    **columns: Unpack[ColumnOptions],
) -> Squares:
    """Two features together: label shares by their values, and example squares of rows.

    Parameters
    ----------
    X, y, given
        As in :func:`analogical.interactions`; or a :class:`analogical.Study`, without ``y``.
    first, second : str or int
        Names or positions of the two features.
    limit : int or None
        Number of example squares, half of them broken and half kept; None for all kinds of them.
    **columns : options of columns
        See :class:`analogical.ColumnOptions`; all but ``groups`` and ``features``.

    Returns
    -------
    Squares
        Label shares by the values of both features, and example squares.

    Examples
    --------
    >>> from analogical import squares
    >>> rows = [("off", "off"), ("on", "off"), ("off", "on"), ("on", "on")]
    >>> squares(rows, ["dark", "dark", "dark", "light"], "switch", "fuse", feature_names=["switch", "fuse"])
    1 of 1 square of 'switch' and 'fuse' is broken (100.0 %).
    share of 'light'  switch=off     switch=on
    fuse=off          0.0 % of 1    0.0 % of 1
    fuse=on           0.0 % of 1  100.0 % of 1
    Squares of all rows.
    broken
                switch=off    switch=on
      fuse=off  dark (row 0)  dark (row 1)
      fuse=on   dark (row 2)  light (row 3)
    """
    limit = check_limit(limit)
    y, first, second = asked_about(squares, X, y, first=first, second=second)
    study = study_of(squares, X, y, columns, without=("groups", "features"))
    i, j = study.table.find(first), study.table.find(second)
    if i == j:
        name = study.table.names[i]
        raise InputError(f"first and second are both {name!r}; a square needs two different features.")
    return squares_of(study, i, j, given, limit=limit)


def squares_of(study: Study, i: int, j: int, given: Given = "auto", *, limit: int | None = 4) -> Squares:
    """The road after encoding: the sums of one pair of columns, and its squares by name.

    Examples need a study of all rows (``duplicates="count"``).
    """
    check_given(given)
    table = study.table
    ((sums,), (context,)) = sums_given(study, [(i, j)], given)
    return Squares(
        first=table.names[i],
        second=table.names[j],
        label=table.label,
        first_values=tuple(plain(value) for value in table.columns[i].values),
        second_values=tuple(plain(value) for value in table.columns[j].values),
        classes=table.classes,
        counts=_value_counts(study.rows, i, j),
        n_squares=sums.squares,
        n_broken=sums.broken,
        effect=max(sums.effect(), 0.0) if sums.effect_squares else math.nan,
        examples=_examples(study, i, j, context.columns, sums, limit),
        given=study.names_of(context.columns),
        same_as=None if context.same_as is None else table.names[context.same_as],
        asked=asked_for(study, given),
        notes=table.notes,
        backend=table.backend,
    )


def _value_counts(rows: CodedRows, i: int, j: int) -> Ints:
    """Rows by value of i, value of j and label."""
    shape = (int(rows.n_values[i]), int(rows.n_values[j]), rows.n_labels)
    keys = (rows.codes[:, i].astype(np.int64) * shape[1] + rows.codes[:, j]) * shape[2] + rows.labels
    return np.bincount(keys, rows.weights, minlength=int(np.prod(shape))).astype(np.int64).reshape(shape)


# ---------------------------------------------------------------- squares, one at a time


def _examples(
    study: Study, i: int, j: int, equal: Sequence[int], sums: SquareSums, limit: int | None
) -> tuple[Square, ...]:
    """Broken squares and kept ones, in turn from each context."""
    if limit == 0 or not sums.squares:
        return ()
    n_each = MAX_LISTED if limit is None else limit
    broken = list(islice(_in_turn(_streams(study, i, j, equal, True)), n_each))
    kept = list(islice(_in_turn(_streams(study, i, j, equal, False)), n_each))
    if limit is None:
        if len(broken) + len(kept) >= MAX_LISTED:
            raise InputError(f"More than {MAX_LISTED:,} squares would be listed with limit=None; give a limit.")
        return (*broken, *kept)
    n_kept = min(len(kept), max(limit // 2, limit - len(broken)))
    return (*broken[: limit - n_kept], *kept[:n_kept])


def _streams(study: Study, i: int, j: int, equal: Sequence[int], broken: bool) -> Iterator[Iterator[Square]]:
    """For each context that holds two values of both features, its squares; contexts by their first row."""
    rows = study.rows
    held = study.rows_of(equal) if equal else rows
    groups, _ = context_numbers(number_groups(held.codes, held.n_values, range(len(equal))))
    order = np.argsort(groups, kind="stable")
    starts = np.flatnonzero(differs_from_last(groups[order]))
    stops = np.append(starts[1:], len(order))
    for c in np.argsort(order[starts], kind="stable"):
        some = order[starts[c] : stops[c]]
        if len(some) > 3 and _varies(rows.codes[some, i]) and _varies(rows.codes[some, j]):
            yield _squares_of(study, i, j, equal, some, broken)


def _varies(values: Any) -> bool:
    return bool((values != values[0]).any())


def _in_turn(streams: Iterator[Iterator[Square]]) -> Iterator[Square]:
    """The first of each stream, then the second of each, and so on."""
    alive = []
    for stream in streams:
        first = next(stream, None)
        if first is not None:
            yield first
            alive.append(stream)
    for several in zip_longest(*alive):
        yield from (square for square in several if square is not None)


def _squares_of(study: Study, i: int, j: int, equal: Sequence[int], some: Positions, broken: bool) -> Iterator[Square]:
    """The kinds of squares of one context, the most frequent first; rows are the first ones of their cell and label."""
    rows = study.rows
    weights = rows.weights_or_ones()[some].tolist()
    cells: dict[tuple[int, int], dict[int, tuple[int, int]]] = {}  # by value, value and label: first row, rows
    for row, weight in zip(some.tolist(), weights, strict=True):
        cell = cells.setdefault((int(rows.codes[row, i]), int(rows.codes[row, j])), {})
        first, n = cell.get(int(rows.labels[row]), (row, 0))
        cell[int(rows.labels[row])] = first, n + weight
    found: list[tuple[int, tuple[int, ...], tuple[int, ...]]] = []
    for u, w in combinations(sorted({u for u, _ in cells}), 2):
        for v, x in combinations(sorted({v for _, v in cells}), 2):
            corners = [cells.get(key) for key in ((u, v), (w, v), (u, x), (w, x))]
            if None in corners or len(found) > LISTED_PER_CONTEXT:
                continue
            for labels in product(*(sorted(corner) for corner in corners if corner)):
                a, b, c, d = labels
                if broken == (not ((a == b and c == d) or (a == c and b == d))):
                    held = [corner[label] for corner, label in zip(corners, labels, strict=True) if corner]
                    times = int(np.prod([n for _, n in held], dtype=object))
                    found.append((-times, tuple(row for row, _ in held), labels))
    for negative, four, labels in sorted(found):
        yield _named(study, i, j, equal, four, labels, -negative)


def _named(study: Study, i: int, j: int, equal: Sequence[int], four: Any, labels: Any, times: int) -> Square:
    """A square with the user's values, names and labels."""
    table = study.table
    first, second = table.cells(four, i), table.cells(four, j)
    return Square(
        rows=tuple(table.positions(four)),  # type: ignore[arg-type]
        index=tuple(table.row_names(four)),  # type: ignore[arg-type]
        context=tuple((name, _shared(study, four, c)) for name, c in zip(study.names_of(equal), equal, strict=True)),
        first_values=(first[0], first[1]),
        second_values=(second[0], second[2]),
        labels=tuple(table.classes[label] for label in labels),
        times=times,
    )


def _shared(study: Study, four: Sequence[int], column: int) -> Any:
    """What four rows have in common on a column; of a number in wider bins, all its own bins that occur."""
    cells = list(dict.fromkeys(study.table.cells(four, int(study.owner[column]))))
    return cells[0] if len(cells) == 1 else " or ".join(str(cell) for cell in cells)
