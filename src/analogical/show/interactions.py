"""Pairs of features that act together, and the label shares or means and rows of one pair, as views."""

import math
from collections.abc import Sequence
from dataclasses import dataclass
from functools import partial
from typing import Any

import numpy as np

from analogical._types import Floats, Ints, Positions
from analogical.questions.evidence import ExampleRows
from analogical.questions.interactions import Interaction, Interactions
from analogical.show.relevance import (
    NOT_ADJUSTED,
    STATUSES,
    agreeing_on,
    describe_context,
    held_fixed,
    measure_of,
    sizes_of,
    status_cell,
)
from analogical.show.views import Cell, Column, Table, View, number_column, tabulate, text_column
from analogical.show.words import (
    LONG_NAME,
    counted,
    list_first,
    marked,
    number,
    p_value,
    percent,
    quoted,
    shorten,
    shown,
    three_decimals,
    verb,
)

FEW_EFFECTIVE = 30
"""Effective squares below which intervals are rough."""
MAX_VALUES = 6
"""Maximum number of values of a feature in a table of shares."""
MAX_VALUE_LENGTH = 20
"""Values are cut to this length."""


def view_interactions(result: Interactions, *, top: int = 20) -> View:
    """The table of pairs, strongest first and no more than ``top``, and what it says."""
    acting, label = [status == "effect" for status in result.status], quoted(result.label)
    n_acting = sum(acting)
    if n_acting:
        pairs = counted(len(result), "pair")
        headline = f"{n_acting:,} of {pairs} of features {'acts' if n_acting == 1 else 'act'} together on {label}."
    elif any(result.squares):
        headline = f"No pair of features acts together significantly on {label}."
    else:
        headline = f"No pair of features could be tested for {label}: no four rows form a square."
    lines = ["Give fewer features, such as given=[] (--given none)."]
    if any(result.squares):
        given = held_fixed(result.settings.given, result.deciding)
        own = "" if given in ("all other features", "nothing") else ", except the pair itself"
        lines = [f"Given {given}{own}."]
    if len(result) < result.n_possible:
        lines.append(
            f"{len(result):,} of {result.n_possible:,} pairs were tested: those within the deciding set, and those that"
            " best explain what it does not. p is adjusted for all pairs."
        )
    return View(
        headline=headline,
        tables=(tabulate(result.order().tolist(), _columns(result), most=top),),
        lines=tuple(lines),
        about=(counted(result.n_rows, "row"), counted(len(result.names), "feature")),
        explanation=tuple(_explain(result)),
    )


def _columns(result: Interactions) -> list[Column]:
    """How much the effect of one feature depends on the other; the index if no rows repeat."""
    measure = measure_of(result.settings)
    largest = max((size for k in range(len(result)) if (size := sizes_of(result, k).size) > 0), default=1.0)

    def interval(k: int) -> Cell:
        size, low, high = sizes_of(result, k)
        return Cell(measure.interval(low, high), bar=size / (200 if measure.are_classes else largest))

    if any(result.effect_squares) or measure.kind != "classes":
        sizes = [
            number_column(measure.name or "size", lambda k: measure.text(sizes_of(result, k).size)),
            number_column(f"{100 * result.settings.confidence:g}% CI", interval, drop_order=2),
            number_column("p adj.", lambda k: p_value(float(result.p_adjusted[k])), drop_order=1),
        ]
    else:
        sizes = [
            number_column("index", lambda k: three_decimals(result.index[k])),
            number_column("broken", lambda k: number(result.broken[k] or 0), drop_order=1),
        ]
    return [
        text_column("feature", lambda k: shown(result.first[k], LONG_NAME), may_shorten=True),
        text_column("with", lambda k: shown(result.second[k], LONG_NAME), may_shorten=True),
        *sizes,
        number_column("squares", lambda k: number(result.squares[k]), drop_order=4),
        text_column("status", lambda k: status_cell(result.status[k])),
    ]


def _explain(result: Interactions) -> list[str]:
    """What the numbers mean, and their limits."""
    if not any(result.squares):
        return []
    measure, index = measure_of(result.settings), []
    size = (
        "points: by how much the effect of one feature differs with the other: 200 for an exclusive or, 100 for a"
        " logical and, 0 where label shares are additive (in shares, not in odds)."
    )
    if measure.are_classes:
        here = p_value(result.noise_index)
        end = "." if here == ".625" else f", and {here} with these class shares."
        index = [f"index: share of broken squares; random labels break .625 of the squares with two equal classes{end}"]
    else:
        unit = {"log": ", as a ratio less 1", "number": ", in its unit"}.get(measure.kind, "")
        size = (
            f"{measure.name or 'size'}: by how much the difference in the {measure.mean} of {quoted(result.label)}"
            " between two values of one feature differs with the other (root mean square over the squares"
            f"{unit}); 0 where the two effects add up."
        )
    if not any(result.effect_squares):
        no_noise = "No rows repeat, so noise cannot be estimated: give fewer features, such as given=[] (--given none)."
        return [" ".join([*index, no_noise])]
    sentences = [
        f"{size} A square is four rows that agree on the given features and have two values of each of the two in all"
        " four combinations.",
        *index,
        f"p is adjusted for {counted(result.n_possible, 'pair')}. {NOT_ADJUSTED}",
    ]
    if any(result.status[k] == "effect" and result.effect_low[k] <= 0 for k in range(len(result))):
        sentences.append(
            "Where the interval of a significant pair begins at 0, its size is uncertain: the test weights rows, the"
            " effect weights squares."
        )
    rough = [n for n in result.effective_squares if 0 < n < FEW_EFFECTIVE]
    if rough:
        sentences.append(
            f"{counted(len(rough), 'pair')} {verb(rough, 'is', 'are')} based on fewer than {FEW_EFFECTIVE} effective"
            f" squares; {verb(rough, 'its interval is', 'their intervals are')} rough."
        )
    if result.settings.given == "auto":
        n_fewer = sum(
            len(given) < sum(name not in (a, b) for name in result.deciding)
            for a, b, given, same in zip(result.first, result.second, result.given, result.same_as, strict=True)
            if same is None
        )
        if n_fewer:
            sentences.append(
                f"For {counted(n_fewer, 'pair')} there were too few rows to hold the whole deciding set fixed."
            )
    copied = [name for name in result.same_as if name is not None]
    if copied:
        sentences.append(
            f"{counted(len(copied), 'pair')} could not be tested ({STATUSES['same'].meaning}):"
            f" {list_first(list(dict.fromkeys(copied)))}."
        )
    return sentences


# ---------------------------------------------------------------- one pair


@dataclass(frozen=True)
class ShareGrid:
    """Label shares, or means, by the values of two features: the one with fewer values across, the other down."""

    what: str
    """What is shown, in words."""
    label: Any
    """The class whose shares they are; None for means."""
    across: str
    down: str
    across_values: list[Any]
    down_values: list[Any]
    rows: Ints
    """Rows of the table, by value down and value across."""
    cells: Floats
    """Shares or means of these rows; NaN where there are none."""
    left_out: str
    """Which values are not shown."""

    def shades(self) -> Floats:
        """The strength of the colour of each cell, from 0 to 1."""
        if self.label is not None:
            return self.cells
        low, high = np.nanmin(self.cells), np.nanmax(self.cells)
        return (self.cells - low) / (high - low or 1.0)

    def text(self, v: int, u: int) -> str:
        """A share in per cent, or a mean with three digits of how much the means differ."""
        mean, spread = float(self.cells[v, u]), float(np.nanmax(self.cells) - np.nanmin(self.cells))
        if self.label is not None:
            return percent(mean)
        n_decimals = 2 - math.floor(math.log10(spread or abs(mean) or 1.0))
        return f"{round(mean, n_decimals):,.{max(n_decimals, 0)}f}"


def share_grid(pair: Interaction, *, label: Any = None, most: int = MAX_VALUES) -> ShareGrid:
    """Counts for the most frequent values. ``label`` defaults to the second of two classes, or the most varied one."""
    names, values, counts = (pair.first, pair.second), (pair.first_values, pair.second_values), pair.counts
    rows = counts.sum(axis=2)
    sizes = [rows.sum(axis=1), rows.sum(axis=0)]
    kept = [_in_order(known, np.argsort(-n, kind="stable")[:most]) for known, n in zip(values, sizes, strict=True)]
    rarer = [
        f"{counted(len(n) - most, 'rarer value')} of {shown(name, LONG_NAME)}"
        for n, name in zip(sizes, names, strict=True)
        if len(n) > most
    ]
    if pair.means is not None:
        label = None
        unit, mean = pair.settings.unit, measure_of(pair.settings).average
        what, cells = f"{mean} of {quoted(pair.label, MAX_VALUE_LENGTH)}{f' ({unit})' if unit else ''}", pair.means
    else:
        if label is None and len(pair.classes) == 2:
            label = pair.classes[1]
        elif label is None:
            shares, means = counts / np.maximum(rows, 1)[..., None], counts.sum(axis=(0, 1)) / rows.sum()
            label = pair.classes[int((rows[..., None] * (shares - means) ** 2).sum(axis=(0, 1)).argmax())]
        what, cells = f"share of {quoted(label, MAX_VALUE_LENGTH)}", pair.shares(label)
    across, down = (1, 0) if len(kept[0]) > len(kept[1]) else (0, 1)
    return ShareGrid(
        what=what,
        label=label,
        across=names[across],
        down=names[down],
        across_values=[values[across][k] for k in kept[across]],
        down_values=[values[down][k] for k in kept[down]],
        rows=rows[np.ix_(*kept)].transpose(down, across),
        cells=cells[np.ix_(*kept)].transpose(down, across),
        left_out=f"Not shown: {' and '.join(rarer)}." if rarer else "",
    )


def _in_order(values: Sequence[Any], kept: Positions) -> list[int]:
    """Places of some values, numbers in increasing order, others as they are coded."""
    places = sorted(kept.tolist())
    if all(isinstance(value, int | float) or value is None for value in values):
        places.sort(key=lambda k: (values[k] is None, values[k] or 0))
    return places


def view_interaction(pair: Interaction) -> View:
    """Label shares or means by the values of both features, and the rows of some squares."""
    names, n_squares, n_broken = f"{quoted(pair.first)} and {quoted(pair.second)}", pair["squares"], pair["broken"]
    lines = [f"Squares of {agreeing_on(pair['given'])}."]
    differs = f"differs by {measure_of(pair.settings).amount_of(4 * (pair['effect'] or 0.0))} with the other."
    if not n_squares:
        copied = "" if pair["same_as"] is None else f": one of them is a copy of {quoted(pair['same_as'])}"
        headline = f"No four rows form a square of {names}{copied}."
    elif n_broken is None:
        headline = f"{names}: the effect of one on {quoted(pair.label)} {differs}"
        if pair["effect"] is None:
            headline = f"No rows repeat in the squares of {names}, so noise cannot be estimated."
    else:
        headline = (
            f"{number(n_broken)} of {number(n_squares)} {'square' if n_squares == 1 else 'squares'} of {names}"
            f" {'is' if n_broken == 1 else 'are'} broken ({percent(n_broken / n_squares)})."
        )
        lines += [f"The effect of one {differs}"] * (pair["effect"] is not None)
    return View(
        headline=headline,
        tables=(share_table(share_grid(pair)),),
        lines=tuple(lines),
        examples=tuple(_square_of_rows(pair, square) for square in pair.examples),
    )


def share_table(grid: ShareGrid, *, head: str = "") -> Table:
    """Shares or means with their numbers of rows; with ``head``, values are shown without feature names."""
    shades = grid.shades()

    def share(u: int, v: int) -> Cell:
        if not (rows := int(grid.rows[v, u])):
            return Cell("no rows", "muted")
        n_rows = f"({rows:,})" if grid.label is None else f"of {rows:,}"
        return Cell(f"{grid.text(v, u)} {n_rows}", shade=float(shades[v, u]))

    def value_name(name: str, value: Any) -> str:
        return marked(value, MAX_VALUE_LENGTH) if head else _valued(name, value)

    columns = [
        text_column(
            head or grid.what,
            lambda v: Cell(value_name(grid.down, grid.down_values[v]), "strong"),
            may_wrap=True,
        ),
        *(
            number_column(value_name(grid.across, value), partial(share, u), may_wrap=True, drop_order=u)
            for u, value in enumerate(grid.across_values)
        ),
    ]
    return tabulate(range(len(grid.down_values)), columns, note=grid.left_out)


def _square_of_rows(pair: Interaction, square: ExampleRows) -> Table:
    """A square: values of the first feature across, of the second one down, labels inside."""
    (u, v), (w, _), (_, x), _ = square.values

    def inside(across: int, down: int) -> Cell:
        corner = 2 * down + across
        row = f" (row {shown(square.index[corner], MAX_VALUE_LENGTH)})" if square.index else ""
        label = square.labels[corner]
        label = (
            f"{label:,.10g}" if isinstance(label, float) and pair.means is not None else marked(label, MAX_VALUE_LENGTH)
        )
        return Cell(f"{label}{row}", "good")

    columns = [
        text_column("", lambda down: Cell(_valued(pair.second, (v, x)[down]), "strong")),
        *(
            text_column(_valued(pair.first, value), partial(inside, across), may_wrap=True)
            for across, value in enumerate((u, w))
        ),
    ]
    times = f", {counted(square.weight, 'square')} like this" if square.weight > 1 else ""
    context = describe_context(square.context)
    kind = "broken" if pair.means is None else "rows near the means"
    return tabulate(range(2), columns, title=f"{kind}{times}{': ' if context else ''}{context}")


def _valued(name: str, value: Any) -> str:
    """A feature with its value."""
    return f"{shorten(shown(name), MAX_VALUE_LENGTH)}={marked(value, MAX_VALUE_LENGTH)}"
