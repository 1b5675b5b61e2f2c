"""Figures of the rows behind an effect: example pairs, and how often the label changes with each change of value."""

from collections import Counter
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from analogical.errors import InputError
from analogical.plot.canvas import (
    BAR_HEIGHT,
    CHANGED,
    CHANGED_BACK,
    INK,
    MAX_DRAWN_ROWS,
    NEUTRAL,
    axes_with_rows,
    key,
    mark_zero,
    short_name,
    short_names,
)
from analogical.show.words import counted, marked

if TYPE_CHECKING:
    from matplotlib.axes import Axes

    from analogical.questions.evidence import Evidence, Transitions

__all__ = ["plot_evidence", "plot_transitions"]


def plot_evidence(result: "Evidence", ax: "Axes | None") -> "Axes":
    """Example pairs: the value and the label of each row, and what the two rows have in common."""
    if not result.pairs:
        raise InputError(f"There are no pairs of rows to draw for {result.feature!r}.")
    pairs = result.pairs[:MAX_DRAWN_ROWS]
    agree = f"agree on {short_name(' and '.join(result.given), 40)}" if result.given else "are compared"
    with axes_with_rows(
        ax,
        [", ".join(marked(value, 20) for _, value in pair.context) or "any two rows" for pair in pairs],
        title=f"{short_name(result.feature)} and {short_name(result.label)} in pairs of rows",
        x_label=f"labels differ in {100 * result.n_changed / result.n_pairs:.0f} % of {result.n_pairs:,} pairs of rows"
        f" that {agree} and differ on {short_name(result.feature)}",
        beside=[counted(pair.weight, "pair") for pair in pairs],
        legend=[key(CHANGED, "labels differ")] * any(pair.changed for pair in pairs)
        + [key(NEUTRAL, "same label")] * (not all(pair.changed for pair in pairs)),
        n_more=len(result.pairs) - len(pairs),
    ) as ax:
        for row, pair in enumerate(pairs):
            ax.plot(
                (0, 1),
                (row, row),
                "o-",
                color=CHANGED if pair.changed else NEUTRAL,
                markersize=5,
                linewidth=1.8,
            )
            for x, side in enumerate(("right", "left")):
                text = f"{marked(pair.values[x], 14)}: {marked(pair.labels[x], 12)}"
                ax.text(x + (0.04 if x else -0.04), row, text, ha=side, va="center", fontsize=9, color=INK)
        ax.set_xlim(-1.1, 2.1)
        ax.set_xticks([])
    return ax


def plot_transitions(result: "Transitions", ax: "Axes | None") -> "Axes":
    """How often the label changes with each change of value, the changes with most pairs first."""
    if not result.counts:
        raise InputError(f"No two rows were compared for {result.feature!r}, so it has no transitions to draw.")
    pairs: dict[tuple[Any, Any], Counter[Any]] = {}
    for transition in result.counts:
        pairs.setdefault(transition.values, Counter())[transition.labels] += transition.pairs
    shown = sorted(pairs, key=lambda values: -pairs[values].total())[:MAX_DRAWN_ROWS]
    totals = np.array([pairs[values].total() for values in shown])
    parts = _parts(result)
    names = list(dict.fromkeys(value for values in shown for value in values))
    short = dict(zip(names, short_names([marked(name) for name in names], 12), strict=True))
    with axes_with_rows(
        ax,
        [f"{short[a]} → {short[b]}" for a, b in shown],
        title=f"{short_name(result.label)} by {short_name(result.feature)}",
        x_label="share of the compared pairs, in percent",
        beside=[counted(total, "pair") for total in totals.tolist()],
        legend=[key(part.colour, part.name) for part in parts],
        n_more=len(pairs) - len(shown),
    ) as ax:
        drawn = np.zeros(len(shown))
        for part in parts:
            widths = 100 * np.array([sum(pairs[values][labels] for labels in part.labels) for values in shown]) / totals
            ax.barh(range(len(shown)), widths, BAR_HEIGHT, left=drawn, color=part.colour, zorder=2)
            drawn += widths
        mark_zero(ax)
        ax.set_xlim(0, 100)
    return ax


class Part(NamedTuple):
    """A part of a bar of transitions: its name, its colour, and the labels of the two rows that it counts."""

    name: str
    colour: str
    labels: list[tuple[Any, Any]]


def _parts(result: "Transitions") -> list[Part]:
    """The parts of a bar; with two classes one for each direction."""
    labels = list(dict.fromkeys(t.labels for t in result.counts))
    changes = [two for two in labels if two[0] != two[1]]
    stays = Part("label stays", NEUTRAL, [two for two in labels if two[0] == two[1]])
    if len({label for two in labels for label in two}) > 2:
        return [Part("label changes", CHANGED, changes), stays]
    directions = [
        Part(f"{short_name(before, 12)} → {short_name(after, 12)}", colour, [(before, after)])
        for (before, after), colour in zip(changes, (CHANGED, CHANGED_BACK), strict=False)
    ]
    return [*directions, stays]
