"""The squares of one pair of features as a view: label shares by the values of both, and example squares."""

from dataclasses import dataclass
from functools import partial
from typing import Any

import numpy as np

from analogical._results import entry_at
from analogical._types import Ints
from analogical.questions.squares import Square, Squares
from analogical.show.sentences import agreeing_on, describe_context
from analogical.show.views import Cell, Table, View, number_column, tabulate, text_column
from analogical.show.words import (
    LONG_NAME,
    counted,
    in_points,
    interaction_points,
    marked,
    number,
    percent,
    quoted,
    shorten,
    shown,
)

__all__ = ["ShareGrid", "share_grid", "share_table", "view_squares"]

MAX_VALUES = 6
"""Maximum number of values of a feature."""
MAX_VALUE_LENGTH = 20
"""Values are cut to this length."""


@dataclass(frozen=True)
class ShareGrid:
    """Numbers of rows by the values of two features: the one with fewer values across, the other down."""

    label: Any
    across: str
    down: str
    across_values: list[Any]
    down_values: list[Any]
    rows: Ints
    """Rows of the table, by value down and value across."""
    with_label: Ints
    """How many of them have the label."""
    left_out: str
    """Which values are not shown."""


def share_grid(result: Squares, *, label: Any = None, most: int = MAX_VALUES) -> ShareGrid:
    """Counts for the most frequent values. ``label`` defaults to the second of two classes, or the most varied one."""
    names, values = (result.first, result.second), (result.first_values, result.second_values)
    kept = [_frequent(result.counts.sum(axis=(1 - side, 2)), most) for side in (0, 1)]
    across, down = (1, 0) if len(kept[0]) > len(kept[1]) else (0, 1)
    counts = result.counts[np.ix_(*kept)].transpose(down, across, 2)
    chosen = _most_varied(result) if label is None else entry_at(label, result.classes, "class")
    rarer = [
        f"{counted(len(values[side]) - most, 'rarer value')} of {shown(names[side], LONG_NAME)}"
        for side in (0, 1)
        if len(values[side]) > most
    ]
    return ShareGrid(
        label=result.classes[chosen],
        across=names[across],
        down=names[down],
        across_values=[values[across][k] for k in kept[across]],
        down_values=[values[down][k] for k in kept[down]],
        rows=counts.sum(axis=2),
        with_label=counts[:, :, chosen],
        left_out=f"Not shown: {' and '.join(rarer)}." if rarer else "",
    )


def _frequent(sizes: Ints, most: int) -> list[int]:
    """Positions of the values with most rows, in order."""
    return sorted(np.argsort(-sizes, kind="stable")[:most].tolist())


def _most_varied(result: Squares) -> int:
    """The class whose share differs most between cells; of two classes the second."""
    if len(result.classes) == 2:
        return 1
    rows = result.counts.sum(axis=2, keepdims=True)
    shares, means = result.counts / np.maximum(rows, 1), result.counts.sum(axis=(0, 1)) / rows.sum()
    return int((rows * (shares - means) ** 2).sum(axis=(0, 1)).argmax())


def view_squares(result: Squares) -> View:
    """Label shares by the values of both features, and example squares."""
    names = f"{quoted(result.first)} and {quoted(result.second)}"
    if result.n_squares:
        headline = (
            f"{number(result.n_broken)} of {number(result.n_squares)}"
            f" {'square' if result.n_squares == 1 else 'squares'} of {names} {'is' if result.n_broken == 1 else 'are'}"
            f" broken ({percent(result.n_broken / result.n_squares)})."
        )
    elif result.same_as is not None:
        headline = f"No four rows form a square of {names}: one of them is a copy of {quoted(result.same_as)}."
    else:
        headline = f"No four rows form a square of {names}."
    size = interaction_points(result.effect)
    return View(
        headline=headline,
        tables=(share_table(share_grid(result)),),
        lines=(
            f"Squares of {agreeing_on(result.given)}.",
            *([f"The effect of one differs by {in_points(size)} points with the other."] if size == size else []),
        ),
        examples=tuple(_card(result, square) for square in result.examples),
    )


def share_table(grid: ShareGrid, *, head: str = "") -> Table:
    """Shares of the label with their numbers of rows; with ``head``, values are shown without feature names."""

    def share(u: int, v: int) -> Cell:
        if not (rows := int(grid.rows[v, u])):
            return Cell("no rows", "muted")
        held = int(grid.with_label[v, u]) / rows
        return Cell(f"{percent(held)} of {rows:,}", shade=held)

    def value_name(name: str, value: Any) -> str:
        return marked(value, MAX_VALUE_LENGTH) if head else _valued(name, value)

    columns = [
        text_column(
            head or f"share of {quoted(grid.label, MAX_VALUE_LENGTH)}",
            lambda v: Cell(value_name(grid.down, grid.down_values[v]), "strong"),
            may_wrap=True,
        ),
        *(
            number_column(value_name(grid.across, value), partial(share, u), may_wrap=True, drop_order=u)
            for u, value in enumerate(grid.across_values)
        ),
    ]
    return tabulate(range(len(grid.down_values)), columns, note=grid.left_out)


def _card(result: Squares, square: Square) -> Table:
    """A square: values of the first feature across, of the second one down, labels inside."""

    def inside(u: int, v: int) -> Cell:
        corner = 2 * v + u
        row = f" (row {shown(square.index[corner], MAX_VALUE_LENGTH)})" if square.index else ""
        return Cell(f"{marked(square.labels[corner], MAX_VALUE_LENGTH)}{row}", "good" if square.broken else "plain")

    context = describe_context(square.context)
    times = f", {counted(square.times, 'square')} like this" if square.times > 1 else ""
    columns = [
        text_column("", lambda k: Cell(_valued(result.second, square.second_values[k]), "strong")),
        *(
            text_column(_valued(result.first, value), partial(inside, u), may_wrap=True)
            for u, value in enumerate(square.first_values)
        ),
    ]
    return tabulate(
        range(2), columns, title=f"{'broken' if square.broken else 'kept'}{times}{': ' if context else ''}{context}"
    )


def _valued(name: str, value: Any) -> str:
    """A feature with its value."""
    return f"{shorten(shown(name), MAX_VALUE_LENGTH)}={marked(value, MAX_VALUE_LENGTH)}"
