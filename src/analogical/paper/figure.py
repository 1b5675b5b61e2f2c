"""The paper's figure: the scores of four methods on g8, "the number is prime"."""

from typing import TYPE_CHECKING, cast

import numpy as np

from analogical.paper.results import PrintedCell, ReproducedTable
from analogical.paper.texts import FIGURE
from analogical.plot.canvas import COLOURS, plain_text, require_matplotlib
from analogical.rivals import METHODS

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure
    from matplotlib.layout_engine import ConstrainedLayoutEngine

__all__ = ["draw_figure"]


def draw_figure(table1: ReproducedTable) -> "Figure":
    """Bar charts of the g8 rows of Table 1, with the printed values of that table as marks."""
    with plain_text():
        figure = require_matplotlib()(figsize=(9.2, 6.0), layout="constrained", facecolor="white")
        cast("ConstrainedLayoutEngine", figure.get_layout_engine()).set(w_pad=0.12, h_pad=0.1)
        axes = figure.subplots(2, 2, sharey=True)
        highest = 0.05
        rows = table1.groups()["g8"]
        for ax, method in zip(axes.flat, ("ari", "chi2", "mi", "relief"), strict=True):
            cells = rows[method]
            _bar_chart(ax, METHODS[method].title, cells)
            highest = max(highest, *(cell.ours or 0.0 for cell in cells), *(cell.printed or 0.0 for cell in cells))
        for ax in axes.flat:
            ax.set_ylim(0, highest * 1.05)
        for ax in axes[:, 0]:
            ax.set_ylabel("share of the score", fontsize=9, color=COLOURS.muted)
        title = "Which binary digits decide whether a number is prime (g8)"
        figure.suptitle(title, x=0.01, ha="left", fontsize=13, color=COLOURS.ink, fontweight="bold")
        caption = f"{table1.variant}: {FIGURE[table1.variant]}; a10 is the last digit, the highest bar stands out"
        figure.supxlabel(caption, x=0.01, ha="left", fontsize=9, color=COLOURS.muted)
        from matplotlib.lines import Line2D

        handle = Line2D([], [], color=COLOURS.ink, linewidth=1.6, label="printed in Table 1")
        figure.legend(handles=[handle], loc="upper right", frameon=False, fontsize=9, labelcolor=COLOURS.muted)
    return figure


def _bar_chart(ax: "Axes", title: str, cells: list[PrintedCell]) -> None:
    """Our shares as bars, the highest one highlighted; a dash where there is no evidence; printed ones as lines."""
    places = np.arange(len(cells))
    shares = np.array([np.nan if cell.ours is None else cell.ours for cell in cells])
    is_best = (shares == np.nanmax(shares, initial=0.0)) & (shares > 0)
    ax.bar(
        places,
        np.nan_to_num(shares),
        width=0.72,
        color=np.where(is_best, COLOURS.changed, COLOURS.effect).tolist(),
        zorder=2,
    )
    unknown = places[np.isnan(shares)]
    ax.scatter(unknown, np.zeros(len(unknown)), marker="_", s=60, color=COLOURS.muted, zorder=3, clip_on=False)
    printed = [cell.printed or 0.0 for cell in cells]
    ax.hlines(printed, places - 0.44, places + 0.44, color=COLOURS.ink, linewidth=1.6, zorder=3)
    ax.set_xticks(places, [cell.column for cell in cells], fontsize=8.5, color=COLOURS.ink)
    ax.tick_params(axis="y", labelsize=8.5, labelcolor=COLOURS.muted)
    ax.tick_params(length=0)
    ax.grid(axis="y", color=COLOURS.grid, linewidth=0.8, zorder=0)
    ax.margins(x=0.02)
    for side in ("top", "right", "left"):
        ax.spines[side].set_visible(False)
    ax.spines["bottom"].set_color(COLOURS.muted)
    ax.set_title(title, loc="left", fontsize=11, color=COLOURS.ink, fontweight="bold")
