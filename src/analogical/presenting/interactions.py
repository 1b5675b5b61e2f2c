"""Pairs of features that act together, and the squares behind one pair, as views."""

import math
from collections.abc import Callable
from typing import Any

import numpy as np

from analogical._interactions import Interactions
from analogical._squares import Square, Squares
from analogical.presenting.notes import describe_notes
from analogical.presenting.views import Cell, Heading, Table, Tone, View
from analogical.presenting.words import (
    LONG_NAME,
    counted,
    interval,
    listed,
    marked,
    number,
    p_value,
    percent,
    quoted,
    shares,
    shorten,
    shown,
    some_of,
    verb,
)

__all__ = ["describe_contexts", "view_interactions", "view_squares"]

MAX_SHOWN = 20
"""Pairs that a table shows."""
FEW_EFFECTIVE = 30
"""Effective squares below which intervals are rough."""
MAX_VALUES = 8
"""Values of a feature that a table of shares shows."""
MAX_LINES = 30
"""Combinations of values that a list of shares shows."""
ROOM = 80
"""Characters that a table of shares may take."""
MAX_CLASSES = 4
"""Classes for which a table of shares is shown."""
TONES: dict[str, Tone] = {
    "effect": "good",
    "unclear": "plain",
    "noise-unknown": "warning",
    "none-seen": "muted",
    "no-squares": "warning",
}
MAX_NAMED = 6
"""Features that form contexts which are named."""


def view_interactions(result: Interactions) -> View:
    """The table of pairs, strongest first, and what it says."""
    order = result.order()
    columns = _columns(result)
    n_more = max(len(order) - MAX_SHOWN, 0)
    table = Table(
        headings=tuple(heading for heading, _ in columns),
        rows=tuple(tuple(cell(int(k)) for _, cell in columns) for k in order[:MAX_SHOWN]),
        note=f"... and {n_more:,} more; to_frame() has all" if n_more else "",
    )
    n_features = len({*result.first, *result.second})
    about = (
        f"{counted(len(result), 'pair')} of {n_features:,} features for {quoted(result.label)}"
        f" ({counted(len(result.classes), 'class', 'classes')}), {counted(result.n_rows, 'row')}"
    )
    findings = (*_found(result), *_meaning(result))
    return View(
        headline=f"Interactions: {about}",
        summary=about,
        notes=describe_notes(result.notes),
        facts=tuple(text for text in (describe_contexts(result), _passed_over(result)) if text),
        tables=(table,),
        findings=findings,
    )


def _columns(result: Interactions) -> list[tuple[Heading, Callable[[int], Cell]]]:
    """Headings and cells; what is not known of any pair has no column."""
    found: list[tuple[Heading, Callable[[int], Cell]]] = [
        (Heading("feature", is_text=True, may_shorten=True), lambda k: Cell(shown(result.first[k], LONG_NAME))),
        (Heading("with", is_text=True, may_shorten=True), lambda k: Cell(shown(result.second[k], LONG_NAME))),
    ]
    low, high, p = result.effect_low, result.effect_high, result.p_adjusted
    if any(result.effect_squares):
        found.append((Heading("effect"), lambda k: Cell(shares(result.effect[k]), bar=float(result.effect[k]))))
        if low is not None and high is not None and p is not None:
            title = f"{100 * (result.confidence or 0):g}% CI"
            found.append((Heading(title, leaves=1), lambda k: Cell(interval(low[k], high[k]))))
            found.append((Heading("p adj."), lambda k: Cell(p_value(float(p[k])))))
    found.append(
        (Heading("index", leaves=2 if any(result.effect_squares) else 0), lambda k: Cell(shares(result.index[k])))
    )
    found.append((Heading("squares", leaves=3), lambda k: Cell(number(result.squares[k]))))
    if not any(result.effect_squares):
        found.append((Heading("broken", leaves=1), lambda k: Cell(number(result.broken[k]))))
    found.append((Heading("status", is_text=True), lambda k: Cell(result.status[k], TONES[result.status[k]])))
    return found


def describe_contexts(result: Interactions | Squares) -> str:
    """On which features the rows of a square are equal, and why."""
    names, reason = result.contexts, result.contexts_reason
    if reason == "no-others":
        return "Squares: only the two features can differ, there are no others."
    if reason in ("enough-repeats", "no-noise"):
        why = "rows repeat enough" if reason == "enough-repeats" else "labels show no noise"
        return f"Squares: rows that are equal on all other features ({why})."
    chance = "all else is left to chance"
    own = " (less the pair's own)" if isinstance(result, Interactions) else ""
    some = listed(names) if 0 < len(names) <= MAX_NAMED else some_of(names, MAX_NAMED)
    some += own
    if reason == "asked":
        if names:
            return f"Squares: rows that are equal on {some}, as asked for; {chance}."
        return f"Squares: any rows, as asked for; {chance}."
    left = result.left_out
    if not names:
        if left:
            why = f"rows are too few to hold {some_of(left, MAX_NAMED)} equal"
        elif reason == "independent":
            why = "features that are told from noise are independent of the others"
        else:
            other = "no other feature could mislead" if reason == "told-from-noise" else "no feature is told from noise"
            why = other
        return f"Squares: any rows, because {why}; {chance}."
    more = f" (rows are too few for {some_of(left, MAX_NAMED)})" if left else ""
    whom = f"which {verb(names, 'is', 'are')} told from noise{more}"
    return f"Squares: rows that are equal on {some}, {whom}; {chance}."


def _passed_over(result: Interactions) -> str:
    """Which pairs were not looked at."""
    if len(result) == result.n_possible:
        return ""
    n_features = len({*result.first, *result.second})
    why = "as asked for" if result.pairs_reason == "top" else "because there are too many"
    return (
        f"Only pairs among the {n_features:,} best features of the relaxed index were looked at, {why}; p adj. counts"
        f" all {result.n_possible:,} pairs."
    )


def _found(result: Interactions) -> list[str]:
    """Which pairs act together."""
    told = [k for k in result.order().tolist() if result.status[k] == "effect"]
    if told:
        pairs = [f"{shown(result.first[k])} × {shown(result.second[k])}" for k in told]
        level = 1 - (result.confidence or 0)
        found = [
            f"{counted(len(told), 'pair')} {verb(told, 'is', 'are')} told from noise (p adj. at most {level:.2g}):"
            f" {some_of(pairs)}. Such pairs come first, by the lower end of their effect."
        ]
        if result.effect_low is not None and any(result.effect_low[k] <= 0 for k in told):
            found.append(
                "Where the interval of such a pair begins at 0, the pair is told from noise, but how strongly it acts"
                " is not: the test weighs all rows alike, the effect all squares."
            )
        return found
    if not any(result.squares):
        return [
            "No four rows form a square, so nothing is known; give fewer contexts, such as contexts=0 (--contexts 0)."
        ]
    if result.p_adjusted is not None and any(result.effect_squares):
        return ["No pair is told from noise."]
    return []


def _meaning(result: Interactions) -> list[str]:
    """What the numbers mean, and where they mislead."""
    if not any(result.squares):
        return []
    if not any(result.effect_squares):
        return [
            f"Index: share of the squares that are broken. No cell repeats, so noise is unknown: {_coin(result)}."
            " With fewer contexts, such as contexts=0 (--contexts 0), cells repeat and there are tests."
        ]
    said = [
        "Effect: 1 for an exclusive or, 1/4 for an and, 0 where label shares add up (differences in shares, not in"
        f" odds). Index: share of the squares that are broken; {_coin(result)}."
    ]
    rough = [n for n in result.effective_squares if 0 < n < FEW_EFFECTIVE]
    if rough and result.effect_low is not None:
        said.append(
            f"{counted(len(rough), 'pair')} {'rests' if len(rough) == 1 else 'rest'} on fewer than {FEW_EFFECTIVE}"
            f" independent squares; {'its interval is' if len(rough) == 1 else 'their intervals are'} rough."
        )
    return said


def _coin(result: Interactions) -> str:
    """What noise does to the index."""
    fair = "noise alone breaks .625 of the squares of a fair coin"
    here = p_value(result.noise_index)
    return fair if here == ".625" else f"{fair}, and {here} with the shares of these classes"


# ---------------------------------------------------------------- the squares of one pair


def view_squares(result: Squares) -> View:
    """Shares by value and value, and example squares as cards."""
    names = f"{quoted(result.first)} and {quoted(result.second)}"
    if not result.n_squares:
        headline = f"No four rows form a square of {names}"
    else:
        headline = (
            f"{number(result.n_broken)} of {number(result.n_squares)}"
            f" {'square' if result.n_squares == 1 else 'squares'} of {names}"
            f" {'is' if result.n_broken == 1 else 'are'} broken"
            f" ({percent(result.n_broken / result.n_squares)})"
        )
    effect = "" if math.isnan(result.effect) else f"Effect: {shares(result.effect)}."
    return View(
        headline=headline,
        notes=describe_notes(result.notes),
        facts=tuple(text for text in (describe_contexts(result), effect) if text),
        tables=tuple(_shares_of(result, c) for c in _classes_shown(result)),
        examples=tuple(_card(result, square) for square in result.examples),
    )


def _classes_shown(result: Squares) -> list[int]:
    """The second of two classes; of more, the most frequent ones."""
    if len(result.classes) == 2:
        return [1]
    sizes = result.counts.sum(axis=(0, 1))
    return sorted(sorted(range(len(sizes)), key=lambda c: -int(sizes[c]))[:MAX_CLASSES])


def _shares_of(result: Squares, c: int) -> Table:
    """Shares of one class by value and value; as a list where that is too wide to read."""
    table = _share_table(result, c)
    widest = (max(len(h.title), *(len(row[k].text) for row in table.rows)) for k, h in enumerate(table.headings))
    return table if sum(widest) + 2 * len(table.headings) <= ROOM else _share_list(result, c)


def _share_list(result: Squares, c: int) -> Table:
    """Shares of one class, a line for each combination of values, those with most rows."""
    rows = result.counts.sum(axis=2)
    order = sorted(np.ndindex(rows.shape), key=lambda cell: (-int(rows[cell]), cell))
    held = [cell for cell in order if rows[cell]]
    left_out = len(held) - MAX_LINES
    return Table(
        headings=(
            Heading(shorten(shown(result.first), 24), is_text=True, may_wrap=True),
            Heading(shorten(shown(result.second), 24), is_text=True, may_wrap=True),
            Heading(f"share of {quoted(result.classes[c], 16)}"),
        ),
        rows=tuple(
            (
                Cell(marked(result.first_values[u], 24)),
                Cell(marked(result.second_values[v], 24)),
                _share(result.counts[u, v], c),
            )
            for u, v in sorted(held[:MAX_LINES])
        ),
        note=f"Not shown: {counted(left_out, 'combination')} with fewer rows." if left_out > 0 else "",
    )


def _share_table(result: Squares, c: int) -> Table:
    """Shares of one class: values of the first feature across, of the second one down."""
    across, down = (_most_frequent(result.counts.sum(axis=axes)) for axes in ((1, 2), (0, 2)))
    left_out = [
        f"{counted(len(values) - MAX_VALUES, 'rarer value', 'rarer values')} of {shown(name, LONG_NAME)}"
        for name, values in ((result.first, result.first_values), (result.second, result.second_values))
        if len(values) > MAX_VALUES
    ]
    return Table(
        headings=(
            Heading(f"share of {quoted(result.classes[c], 20)}", is_text=True, may_wrap=True),
            *(
                Heading(_valued(result.first, result.first_values[u]), is_text=True, may_wrap=True, leaves=place)
                for place, u in enumerate(across)
            ),
        ),
        rows=tuple(
            (
                Cell(_valued(result.second, result.second_values[v]), "strong"),
                *(_share(result.counts[u, v], c) for u in across),
            )
            for v in down
        ),
        note=f"Not shown: {' and '.join(left_out)}." if left_out else "",
    )


def _most_frequent(sizes: Any) -> list[int]:
    """Positions of the values with most rows, in order."""
    return sorted(sorted(range(len(sizes)), key=lambda k: -int(sizes[k]))[:MAX_VALUES])


def _share(by_label: Any, c: int) -> Cell:
    rows = int(by_label.sum())
    if not rows:
        return Cell("no rows", "muted")
    return Cell(f"{percent(by_label[c] / rows)} of {rows:,}")


def _card(result: Squares, square: Square) -> Table:
    """A square as a card: values of the first feature across, of the second one down, labels inside."""
    u, w = square.first_values
    v, x = square.second_values
    inside = [
        Cell(f"{marked(label, 20)} (row {shown(row, 20)})", "good" if square.broken else "plain")
        for label, row in zip(square.labels, square.index, strict=True)
    ]
    context = ", ".join(f"{shown(name, LONG_NAME)}={marked(value, 30)}" for name, value in square.context)
    times = f", {counted(square.times, 'square')} like this" if square.times > 1 else ""
    return Table(
        headings=(
            Heading("", is_text=True),
            *(Heading(_valued(result.first, value), is_text=True, may_wrap=True) for value in (u, w)),
        ),
        rows=(
            (Cell(_valued(result.second, v), "strong"), *inside[:2]),
            (Cell(_valued(result.second, x), "strong"), *inside[2:]),
        ),
        title=f"{'broken' if square.broken else 'kept'}{times}{': ' if context else ''}{context}",
    )


def _valued(name: str, value: Any) -> str:
    """A feature with its value."""
    return f"{shorten(shown(name), 20)}={marked(value, 20)}"
