"""The rows behind an interaction: label shares by the values of two features, and broken and kept squares."""

import math
from collections.abc import Hashable, Sequence
from dataclasses import dataclass
from itertools import chain, islice
from typing import TYPE_CHECKING, Any, Unpack

import numpy as np

from analogical._checks import check_limit
from analogical._results import Result, entry_at, json_ready
from analogical._types import Ints, Note
from analogical.columns.columns import plain
from analogical.columns.rules import ColumnOptions
from analogical.count.groups import count_cells
from analogical.count.listing import find_squares, is_broken
from analogical.errors import InputError
from analogical.questions.compared import NamedContext, NamedRow, name_rows
from analogical.questions.interactions import sums_given
from analogical.study import Asked, Given, GivenColumns, Study, asked_about, check_given, study_of

if TYPE_CHECKING:
    from matplotlib.axes import Axes

__all__ = ["Square", "Squares", "squares"]

MAX_LISTED = 100_000
"""More squares than this are not listed."""


@dataclass(frozen=True)
class Square:
    """Four rows that agree on the given features and have two values of each feature in all four combinations.

    The order is a = (u, v), b = (u', v), c = (u, v'), d = (u', v'): a is to b as c is to d.

    Examples
    --------
    >>> from analogical import squares
    >>> result = squares([[0, 0], [0, 1], [1, 0], [1, 1]], [0, 1, 1, 0], 0, 1)
    >>> result[0].first_values, result[0].second_values, result[0].labels
    ((0, 1), (0, 1), (0, 1, 1, 0))
    """

    DERIVED = ("broken",)

    rows: tuple[int, int, int, int] | None
    """Positions of the four rows in the table, counted from 0; None on Spark, where rows have no order."""
    index: tuple[Hashable, ...]
    """Their row labels, if the dataframe has an index; otherwise the positions again; empty on Spark."""
    context: NamedContext
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
        return is_broken(self.labels)


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
    effect, given, same_as, notes
        As in :class:`analogical.Interactions`, for this pair.
    examples : tuple of Square
        Broken squares, then kept ones, in turn from each context, the most frequent ones first.
    asked : str or tuple of str
        The argument ``given``: ``"auto"``, ``"all"`` or names.

    Examples
    --------
    >>> from analogical import squares
    >>> result = squares([[0, 0], [0, 1], [1, 0], [1, 1]] * 5, [0, 1, 1, 0] * 5, 0, 1)
    >>> result.first, result.second, result.shares(1).tolist()
    ('x0', 'x1', [[0.0, 1.0], [1.0, 0.0]])
    """

    COLUMNS = ("rows", "first_values", "second_values", "labels", "broken", "times", "context")

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
    asked: Asked
    notes: tuple[Note, ...] = ()
    backend: str | None = None

    def __len__(self) -> int:
        return len(self.examples)

    def __getitem__(self, position: int) -> Square:
        return self.examples[position]

    def shares(self, label: Any) -> Any:
        """Shares of a label by the values of both features, as an array; NaN where there is no row."""
        rows = self.counts.sum(axis=2)
        held = self.counts[:, :, entry_at(label, self.classes, "class")]
        return np.where(rows > 0, held / np.maximum(rows, 1), np.nan)

    def plot(self, ax: "Axes | None" = None, *, label: Any = None) -> "Axes":
        """Draw label shares by the values of both features, with the number of rows; darker cells have larger shares.

        ``label`` is the class to show; by default the second of two, or of more the one whose share differs most. At
        most 12 values of each feature are shown, those with most rows. Without ``ax``, a new figure is made.
        """
        from analogical.plot.interactions import plot_squares

        return plot_squares(self, ax, label=label)

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
                "context": json_ready(dict(square.context)),
            }
            for square in self.examples
        ]


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
        Number of example squares, half of them broken and half kept; None for all that differ in values or labels.
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
    table = study.table
    i, j = table.find(first), table.find(second)
    if i == j:
        raise InputError(f"first and second are both {table.names[i]!r}; a square needs two different features.")
    asked = check_given(given)
    ((sums,), (context,)) = sums_given(study, [(i, j)], asked)
    return Squares(
        first=table.names[i],
        second=table.names[j],
        label=table.label,
        first_values=tuple(plain(value) for value in table.columns[i].values),
        second_values=tuple(plain(value) for value in table.columns[j].values),
        classes=table.classes,
        counts=count_cells(study.rows_of([i, j]), [0, 1]),
        n_squares=sums.squares,
        n_broken=sums.broken,
        effect=max(sums.effect(), 0.0) if sums.effect_squares else math.nan,
        examples=_examples(study, i, j, context, limit) if sums.squares else (),
        given=study.names_of(context.columns),
        same_as=study.name_of(context.same_as),
        asked=asked if isinstance(asked, str) else study.names_of(study.positions_of(asked)),
        notes=study.notes,
        backend=table.backend,
    )


def _examples(study: Study, i: int, j: int, context: GivenColumns, limit: int | None) -> tuple[Square, ...]:
    """Broken squares and kept ones, in turn from each context."""
    if limit == 0:
        return ()
    listed = study.listed([i, j], context.columns)
    n_each = MAX_LISTED if limit is None else limit
    broken, kept = (list(islice(find_squares(listed, wanted), n_each)) for wanted in (True, False))
    if limit is None and len(broken) + len(kept) >= MAX_LISTED:
        raise InputError(f"At least {MAX_LISTED:,} squares would be listed with limit=None; give a limit.")
    n_kept = len(kept) if limit is None else min(len(kept), max(limit // 2, limit - len(broken)))
    n_broken = len(broken) if limit is None else limit - n_kept
    found = [*broken[:n_broken], *kept[:n_kept]]
    named = name_rows(study, [i, j], context.columns, listed, chain.from_iterable(square.rows for square in found))
    return tuple(_named([named[row] for row in square.rows], square.times) for square in found)


def _named(four: Sequence[NamedRow], times: int) -> Square:
    """A square of four rows in the order a, b, c, d."""
    a, b, c, _ = four
    return Square(
        rows=None if a.position is None else tuple(row.position for row in four),  # type: ignore[arg-type]
        index=tuple(name for row in four for name in row.index),
        context=a.context,
        first_values=(a.values[0], b.values[0]),
        second_values=(a.values[1], c.values[1]),
        labels=tuple(row.label for row in four),  # type: ignore[arg-type]
        times=times,
    )
