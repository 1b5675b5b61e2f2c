"""The squares of one pair of features as a view: label shares by the values of both, and example squares."""

from dataclasses import dataclass
from functools import partial
from typing import Any

from analogical.show.sentences import agreeing_on
from analogical.show.views import Cell, Table, View, figures, tabulate, words
from analogical.show.words import (
    LONG_NAME,
    counted,
    in_points,
    marked,
    number,
    percent,
    points_of,
    quoted,
    shorten,
    shown,
)
from analogical.verbs.squares import Square, Squares

__all__ = ["ShareGrid", "share_grid", "view_squares"]

MAX_VALUES = 6
"""Values of a feature that are shown."""
LONG_VALUE = 20


@dataclass(frozen=True)
class ShareGrid:
    """Shares of one class by the values of two features: the one with fewer values across, the other one down."""

    label: Any
    across: str
    down: str
    across_values: tuple[Any, ...]
    down_values: tuple[Any, ...]
    rows: tuple[tuple[int, ...], ...]
    """Rows of the table, by value down and value across."""
    with_label: tuple[tuple[int, ...], ...]
    """How many of them have the label."""
    left_out: str
    """Which values are not shown."""


def share_grid(result: Squares) -> ShareGrid:
    """Shares of the second of two classes; of more, of the class whose share differs most between cells."""
    sides = [
        (result.first, result.first_values, _frequent(result.counts.sum(axis=(1, 2)))),
        (result.second, result.second_values, _frequent(result.counts.sum(axis=(0, 2)))),
    ]
    is_turned = len(sides[0][2]) > len(sides[1][2])
    (across, across_values, columns), (down, down_values, lines) = sides[::-1] if is_turned else sides
    counts = result.counts.swapaxes(0, 1) if is_turned else result.counts
    label = _class_shown(result)
    rarer = [
        f"{counted(len(values) - MAX_VALUES, 'rarer value')} of {shown(name, LONG_NAME)}"
        for name, values, _ in sides
        if len(values) > MAX_VALUES
    ]
    return ShareGrid(
        result.classes[label],
        across,
        down,
        tuple(across_values[u] for u in columns),
        tuple(down_values[v] for v in lines),
        tuple(tuple(int(counts[u, v].sum()) for u in columns) for v in lines),
        tuple(tuple(int(counts[u, v, label]) for u in columns) for v in lines),
        f"Not shown: {' and '.join(rarer)}." if rarer else "",
    )


def _frequent(sizes: Any) -> list[int]:
    """Positions of the values with most rows, in order."""
    return sorted(sorted(range(len(sizes)), key=lambda k: -int(sizes[k]))[:MAX_VALUES])


def _class_shown(result: Squares) -> int:
    if len(result.classes) == 2:
        return 1
    rows = result.counts.sum(axis=2)
    filled = result.counts[rows > 0] / rows[rows > 0][:, None]
    weights = rows[rows > 0]
    means = (filled * weights[:, None]).sum(axis=0) / weights.sum()
    return int(((filled - means) ** 2 * weights[:, None]).sum(axis=0).argmax())


def view_squares(result: Squares) -> View:
    """Label shares by the values of both features, and example squares as cards."""
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
    size = 2 * points_of(result.effect)
    return View(
        headline=headline,
        tables=(_share_table(share_grid(result)),),
        lines=(
            f"Squares of {agreeing_on(result.given)}.",
            *([f"The effect of one differs by {in_points(size)} points with the other."] if size == size else []),
        ),
        examples=tuple(_card(result, square) for square in result.examples),
    )


def _share_table(grid: ShareGrid) -> Table:
    def share(u: int, v: int) -> Cell:
        rows = grid.rows[v][u]
        return Cell(f"{percent(grid.with_label[v][u] / rows)} of {rows:,}") if rows else Cell("no rows", "muted")

    columns = [
        words(
            f"share of {quoted(grid.label, LONG_VALUE)}",
            lambda v: Cell(_valued(grid.down, grid.down_values[v]), "strong"),
            may_wrap=True,
        ),
        *(
            figures(_valued(grid.across, value), partial(share, u), may_wrap=True, leaves=u)
            for u, value in enumerate(grid.across_values)
        ),
    ]
    return tabulate(range(len(grid.down_values)), columns, note=grid.left_out)


def _card(result: Squares, square: Square) -> Table:
    """A square as a card: values of the first feature across, of the second one down, labels inside."""

    def inside(u: int, v: int) -> Cell:
        corner = 2 * v + u
        row = "" if square.index is None else f" (row {shown(square.index[corner], LONG_VALUE)})"
        return Cell(f"{marked(square.labels[corner], LONG_VALUE)}{row}", "good" if square.broken else "plain")

    context = ", ".join(f"{shown(name, LONG_NAME)}={marked(value, 30)}" for name, value in square.context)
    times = f", {counted(square.times, 'square')} like this" if square.times > 1 else ""
    columns = [
        words("", lambda k: Cell(_valued(result.second, square.second_values[k]), "strong")),
        *(
            words(_valued(result.first, value), partial(inside, u), may_wrap=True)
            for u, value in enumerate(square.first_values)
        ),
    ]
    return tabulate(
        range(2), columns, title=f"{'broken' if square.broken else 'kept'}{times}{': ' if context else ''}{context}"
    )


def _valued(name: str, value: Any) -> str:
    """A feature with its value."""
    return f"{shorten(shown(name), LONG_VALUE)}={marked(value, LONG_VALUE)}"
