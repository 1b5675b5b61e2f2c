"""Pairs of features that act together, and the squares behind one pair, as views."""

import math
from collections.abc import Callable
from typing import Any

import numpy as np

from analogical.show.notes import describe_notes
from analogical.show.views import Cell, Heading, Table, Tone, View
from analogical.show.words import (
    LONG_NAME,
    and_more,
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
from analogical.verbs.interactions import Interactions
from analogical.verbs.squares import Square, Squares

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
TONES: dict[str, Tone] = {"effect": "good", "unclear": "plain", "none": "muted", "same": "muted"}
MAX_NAMED = 6
"""Features that are named in a sentence."""


def view_interactions(result: Interactions) -> View:
    """The table of pairs, strongest first, and what it says."""
    order = result.order()
    columns = _columns(result)
    n_more = max(len(order) - MAX_SHOWN, 0)
    table = Table(
        headings=tuple(heading for heading, _ in columns),
        rows=tuple(tuple(cell(int(k)) for _, cell in columns) for k in order[:MAX_SHOWN]),
        note=and_more(n_more),
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
        facts=tuple(text for text in (describe_contexts(result), _fewer(result), _passed_over(result)) if text),
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
        title = f"{100 * result.settings.confidence:g}% CI"
        found.append((Heading(title, leaves=2), lambda k: Cell(interval(low[k], high[k]))))
        found.append((Heading("p adj.", leaves=1), lambda k: Cell(p_value(float(p[k])))))
    found.append(
        (Heading("index", leaves=3 if any(result.effect_squares) else 0), lambda k: Cell(shares(result.index[k])))
    )
    found.append((Heading("squares", leaves=4), lambda k: Cell(number(result.squares[k]))))
    if not any(result.effect_squares):
        found.append((Heading("broken", leaves=1), lambda k: Cell(number(result.broken[k]))))
    found.append((Heading("status", is_text=True), lambda k: Cell(result.status[k], TONES[result.status[k]])))
    return found


def describe_contexts(result: Interactions | Squares) -> str:
    """On which features the rows of a square agree."""
    if isinstance(result, Interactions):
        asked, own = result.settings.given, " (except the pair itself)"
        names = result.deciding if asked == "auto" else asked
    else:
        asked, own, names = result.asked, "", result.given
        if result.same_as is not None:
            return f"One of the two features is a copy of {shown(result.same_as)}, so there are no squares to compare."
    if asked == "all":
        return "Rows of a square agree on all other features."
    if not names:
        return "Any four rows may form a square: no other feature was held fixed."
    some = listed([shown(name) for name in names]) if len(names) <= MAX_NAMED else some_of(names, MAX_NAMED)
    return f"Rows of a square agree on {'the deciding set: ' if asked == 'auto' else ''}{some}{own}."


def _fewer(result: Interactions) -> str:
    """For how many pairs fewer features were held fixed, and which features are copies."""
    said = []
    if result.settings.given == "auto":
        n_fewer = sum(
            len(given) < sum(name not in (a, b) for name in result.deciding)
            for a, b, given, same in zip(result.first, result.second, result.given, result.same_as, strict=True)
            if same is None
        )
        if n_fewer:
            said.append(
                f"For {counted(n_fewer, 'pair')} there were too few rows to hold all of them fixed; 'given' lists those"
                " that were."
            )
    n_same = sum(name is not None for name in result.same_as)
    if n_same:
        copied = list(dict.fromkeys(shown(name) for name in result.same_as if name is not None))
        said.append(f"{counted(n_same, 'pair')} could not be tested, because a feature is a copy of {some_of(copied)}.")
    return " ".join(said)


def _passed_over(result: Interactions) -> str:
    """Which pairs were not tested."""
    if len(result) == result.n_possible:
        return ""
    return (
        f"{len(result):,} of {result.n_possible:,} pairs were tested: those within the deciding set, and those that"
        " best explain what it does not. p is adjusted for all pairs."
    )


def _found(result: Interactions) -> list[str]:
    """Which pairs act together."""
    significant = [k for k in result.order().tolist() if result.status[k] == "effect"]
    if significant:
        pairs = [f"{shown(result.first[k])} × {shown(result.second[k])}" for k in significant]
        found = [
            f"{counted(len(significant), 'pair')} {verb(significant, 'is', 'are')} significant (adjusted p at"
            f" most {1 - result.settings.confidence:.2g}): {some_of(pairs)}. Significant pairs come first, by the lower"
            " end of the interval."
        ]
        if any(result.effect_low[k] <= 0 for k in significant):
            found.append(
                "Where the interval of a significant pair begins at 0, its size is uncertain: the test weights rows,"
                " the effect weights squares."
            )
        return found
    if not any(result.squares):
        return [
            "No four rows form a square, so nothing was tested; give fewer features, such as given=[] (--given none)."
        ]
    return ["No pair is significant."] if any(result.effect_squares) else []


def _meaning(result: Interactions) -> list[str]:
    """What the numbers mean, and where they mislead."""
    if not any(result.squares):
        return []
    if not any(result.effect_squares):
        return [
            f"Index: share of broken squares; {_coin(result)}. No rows repeat, so noise cannot be estimated: give fewer"
            " features, such as given=[] (--given none)."
        ]
    said = [
        "Effect: 1 for an exclusive or, 1/4 for a logical and, 0 where label shares are additive (in shares, not in"
        f" odds). Index: share of broken squares; {_coin(result)}."
    ]
    rough = [n for n in result.effective_squares if 0 < n < FEW_EFFECTIVE]
    if rough:
        said.append(
            f"{counted(len(rough), 'pair')} {verb(rough, 'is', 'are')} based on fewer than {FEW_EFFECTIVE} effective"
            f" squares; {verb(rough, 'its interval is', 'their intervals are')} rough."
        )
    return said


def _coin(result: Interactions) -> str:
    """The index of random labels."""
    fair = "random labels break .625 of the squares with two equal classes"
    here = p_value(result.noise_index)
    return fair if here == ".625" else f"{fair}, and {here} with these class shares"


# ---------------------------------------------------------------- the squares of one pair


def view_squares(result: Squares) -> View:
    """Label shares by the values of both features, and example squares as cards."""
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
