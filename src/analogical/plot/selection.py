"""The figure of a selection: what each feature adds to those before it."""

from typing import TYPE_CHECKING

from analogical.plot.canvas import (
    CHANGED,
    EFFECT,
    MOST_ROWS,
    MUTED,
    NEUTRAL,
    axes_with_rows,
    draw_bars,
    key,
    short_name,
)
from analogical.show.selection import WORDS, selection_steps

if TYPE_CHECKING:
    from matplotlib.axes import Axes

    from analogical.verbs.select import Selection

__all__ = ["plot_selection"]

COLOURS = {"gain": EFFECT, "interaction": CHANGED, "significant": MUTED, "index": NEUTRAL}
"""By the reason for the selection."""


def plot_selection(result: "Selection", ax: "Axes | None") -> "Axes":
    """What each selected feature adds to those before it."""
    steps = selection_steps(result)
    shown = steps[:MOST_ROWS]
    adds = [100 * step.adds if step.adds is not None else 0.0 for step in shown]
    reasons = [step.reason for step in shown]
    with axes_with_rows(
        ax,
        [" × ".join(step.features) for step in shown],
        title=f"What each feature adds for {short_name(result.label)}",
        x_label="share of the uncertainty of the label that it adds, in %; right: explained so far",
        beside=[f"{100 * step.explained:.1f} %" for step in shown],
        legend=[key(colour, WORDS[reason]) for reason, colour in COLOURS.items() if reason in reasons],
        n_more=len(steps) - len(shown),
        empty="No feature was selected.",
    ) as ax:
        draw_bars(ax, adds, [COLOURS[reason] for reason in reasons])
        ax.set_xlim(min([0.0, *adds]) * 1.1, max([1.0, *adds]) * 1.04)
    return ax
