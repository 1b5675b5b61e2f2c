"""Figures of pairs of features: which act together, and label shares by their values."""

from typing import TYPE_CHECKING, Any

import numpy as np

from analogical._checks import check_whole
from analogical.plot.canvas import (
    COLOURS,
    MAX_DRAWN_ROWS,
    axes_with_rows,
    draw_sizes,
    new_axes,
    plain_text,
    set_title,
    short_name,
    short_names,
    significance_keys,
)
from analogical.show.interactions import share_grid
from analogical.show.sentences import interaction_sizes
from analogical.show.words import counted, p_words

if TYPE_CHECKING:
    from matplotlib.axes import Axes

    from analogical.questions.interactions import Interaction, Interactions

__all__ = ["plot_interaction", "plot_interactions"]

MAX_GRID_VALUES = 12
"""Maximum number of values of each feature in a grid of shares."""


def plot_interactions(result: "Interactions", ax: "Axes | None", *, top: int) -> "Axes":
    """The size of each interaction with its interval, best first."""
    order = result.order()[: check_whole("top", top, low=1, high=MAX_DRAWN_ROWS)]
    is_effect = [result.status[k] == "effect" for k in order]
    firsts, seconds = (short_names([names[k] for k in order], 12) for names in (result.first, result.second))
    with axes_with_rows(
        ax,
        [f"{first} × {second}" for first, second in zip(firsts, seconds, strict=True)],
        title=f"Interactions for {short_name(result.label)}",
        x_label="how much the effect of one feature differs with the other, in percentage points (200 for an exclusive"
        f" or), with {100 * result.settings.confidence:g} % interval",
        beside=[_beside(result, int(k)) for k in order],
        legend=significance_keys(is_effect),
        n_more=len(result) - len(order),
    ) as ax:
        draw_sizes(ax, [interaction_sizes(result, k) for k in order], is_significant=is_effect)
    return ax


def _beside(result: "Interactions", k: int) -> str:
    """The p-value of a pair, or what there is instead."""
    if result.same_as[k] is not None:
        return f"copy of {short_name(result.same_as[k])}"
    if not np.isnan(result.p_adjusted[k]):
        return p_words(result.p_adjusted[k])
    is_all = not np.isnan(result.effect[k]) or np.isnan(result.index[k])
    return "–" if is_all else f"index {result.index[k]:.2f}"


def plot_interaction(result: "Interaction", ax: "Axes | None", *, label: Any) -> "Axes":
    """Label shares by the values of two features, as in the printed table."""
    grid = share_grid(result, label=label, most=MAX_GRID_VALUES)
    shares = grid.with_label / np.where(grid.rows > 0, grid.rows, np.nan)
    across, down = (short_names(values, 14) for values in (grid.across_values, grid.down_values))
    with plain_text():
        ax = new_axes(1.9 + 0.95 * len(across), 1.5 + 0.62 * len(down)) if ax is None else ax
        from matplotlib.colors import LinearSegmentedColormap

        shades = LinearSegmentedColormap.from_list("analogical", ["#f4f6f8", COLOURS.effect])
        ax.imshow(np.ma.masked_invalid(shares), cmap=shades, vmin=0, vmax=1, aspect="auto")
        for (y, x), share in np.ndenumerate(shares):
            n = int(grid.rows[y, x])
            text = f"{100 * share:.0f} %\n{counted(n, 'row')}" if n else "no rows"
            ax.text(x, y, text, ha="center", va="center", fontsize=8, color="white" if share > 0.6 else COLOURS.ink)
        turned: dict[str, Any] = {"rotation": 40, "ha": "right", "rotation_mode": "anchor"}
        is_long = max(map(len, across)) > 7
        ax.set_xticks(range(len(across)), across, fontsize=8.5, color=COLOURS.ink, **(turned if is_long else {}))
        ax.set_yticks(range(len(down)), down, fontsize=8.5, color=COLOURS.ink)
        ax.set_xticks(np.arange(len(across) - 1) + 0.5, minor=True)
        ax.set_yticks(np.arange(len(down) - 1) + 0.5, minor=True)
        ax.grid(which="minor", color="white", linewidth=2)
        ax.tick_params(which="both", length=0)
        ax.spines[:].set_visible(False)
        ax.set_xlabel(short_name(grid.across, 30), fontsize=9, color=COLOURS.muted)
        ax.set_ylabel(short_name(grid.down, 30), fontsize=9, color=COLOURS.muted)
        set_title(ax, f"Share of {short_name(result.label, 20)} = {short_name(grid.label, 20)}")
    return ax
