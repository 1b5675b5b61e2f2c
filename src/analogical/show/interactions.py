"""Pairs of features that act together, and the label shares and rows of one pair, as views."""

from dataclasses import dataclass
from functools import partial
from typing import Any

import numpy as np

from analogical._results import entry_at
from analogical._types import Ints
from analogical.questions.evidence import ExampleRows
from analogical.questions.interactions import Interaction, Interactions
from analogical.show.relevance import (
    NOT_ADJUSTED,
    STATUSES,
    agreeing_on,
    describe_context,
    held_fixed,
    interaction_sizes,
    status_cell,
)
from analogical.show.views import Cell, Column, Table, View, number_column, tabulate, text_column
from analogical.show.words import (
    LONG_NAME,
    counted,
    in_points,
    interaction_points,
    list_first,
    marked,
    number,
    p_value,
    percent,
    point_interval,
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
    """How much the effect of one feature depends on the other, in points; the index if no rows repeat."""

    def interval(k: int) -> Cell:
        size, low, high = interaction_sizes(result, k)
        return Cell(point_interval(low, high), bar=size / 200)

    if any(result.effect_squares):
        sizes = [
            number_column("points", lambda k: in_points(interaction_sizes(result, k).size)),
            number_column(f"{100 * result.settings.confidence:g}% CI", interval, drop_order=2),
            number_column("p adj.", lambda k: p_value(float(result.p_adjusted[k])), drop_order=1),
        ]
    else:
        sizes = [
            number_column("index", lambda k: three_decimals(result.index[k])),
            number_column("broken", lambda k: number(result.broken[k]), drop_order=1),
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
    index = "index: share of broken squares; random labels break .625 of the squares with two equal classes"
    here = p_value(result.noise_index)
    index += "." if here == ".625" else f", and {here} with these class shares."
    if not any(result.effect_squares):
        return [
            f"{index} No rows repeat, so noise cannot be estimated: give fewer features, such as given=[] (--given"
            " none)."
        ]
    sentences = [
        "points: by how much the effect of one feature differs with the other: 200 for an exclusive or, 100 for a"
        " logical and, 0 where label shares are additive (in shares, not in odds). A square is four rows that agree on"
        " the given features and have two values of each of the two in all four combinations.",
        index,
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


def share_grid(pair: Interaction, *, label: Any = None, most: int = MAX_VALUES) -> ShareGrid:
    """Counts for the most frequent values. ``label`` defaults to the second of two classes, or the most varied one."""
    names, values, counts = (pair.first, pair.second), (pair.first_values, pair.second_values), pair.counts
    sizes = [counts.sum(axis=(1, 2)), counts.sum(axis=(0, 2))]
    kept = [np.sort(np.argsort(-n, kind="stable")[:most]) for n in sizes]
    rarer = [
        f"{counted(len(n) - most, 'rarer value')} of {shown(name, LONG_NAME)}"
        for n, name in zip(sizes, names, strict=True)
        if len(n) > most
    ]
    if label is not None:
        chosen = entry_at(label, pair.classes, "class")
    elif len(pair.classes) == 2:
        chosen = 1
    else:
        rows = counts.sum(axis=2, keepdims=True)
        shares, means = counts / np.maximum(rows, 1), counts.sum(axis=(0, 1)) / rows.sum()
        chosen = int((rows * (shares - means) ** 2).sum(axis=(0, 1)).argmax())
    across, down = (1, 0) if len(kept[0]) > len(kept[1]) else (0, 1)
    counts = counts[np.ix_(*kept)].transpose(down, across, 2)
    return ShareGrid(
        label=pair.classes[chosen],
        across=names[across],
        down=names[down],
        across_values=[values[across][k] for k in kept[across]],
        down_values=[values[down][k] for k in kept[down]],
        rows=counts.sum(axis=2),
        with_label=counts[:, :, chosen],
        left_out=f"Not shown: {' and '.join(rarer)}." if rarer else "",
    )


def view_interaction(pair: Interaction) -> View:
    """Label shares by the values of both features, and the rows of some broken squares."""
    names, n_squares, n_broken = f"{quoted(pair.first)} and {quoted(pair.second)}", pair["squares"], pair["broken"]
    if n_squares:
        headline = (
            f"{number(n_broken)} of {number(n_squares)} {'square' if n_squares == 1 else 'squares'} of {names}"
            f" {'is' if n_broken == 1 else 'are'} broken ({percent(n_broken / n_squares)})."
        )
    else:
        copied = "" if pair["same_as"] is None else f": one of them is a copy of {quoted(pair['same_as'])}"
        headline = f"No four rows form a square of {names}{copied}."
    lines = [f"Squares of {agreeing_on(pair['given'])}."]
    if pair["effect"] is not None:
        lines.append(
            f"The effect of one differs by {in_points(interaction_points(pair['effect']))} points with the other."
        )
    return View(
        headline=headline,
        tables=(share_table(share_grid(pair)),),
        lines=tuple(lines),
        examples=tuple(_square_of_rows(pair, square) for square in pair.examples),
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


def _square_of_rows(pair: Interaction, square: ExampleRows) -> Table:
    """A square: values of the first feature across, of the second one down, labels inside."""
    (u, v), (w, _), (_, x), _ = square.values

    def inside(across: int, down: int) -> Cell:
        corner = 2 * down + across
        row = f" (row {shown(square.index[corner], MAX_VALUE_LENGTH)})" if square.index else ""
        return Cell(f"{marked(square.labels[corner], MAX_VALUE_LENGTH)}{row}", "good")

    columns = [
        text_column("", lambda down: Cell(_valued(pair.second, (v, x)[down]), "strong")),
        *(
            text_column(_valued(pair.first, value), partial(inside, across), may_wrap=True)
            for across, value in enumerate((u, w))
        ),
    ]
    times = f", {counted(square.weight, 'square')} like this" if square.weight > 1 else ""
    context = describe_context(square.context)
    return tabulate(range(2), columns, title=f"broken{times}{': ' if context else ''}{context}")


def _valued(name: str, value: Any) -> str:
    """A feature with its value."""
    return f"{shorten(shown(name), MAX_VALUE_LENGTH)}={marked(value, MAX_VALUE_LENGTH)}"
