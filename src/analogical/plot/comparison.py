"""The figure of a comparison: several methods side by side, in one order of the features."""

from typing import TYPE_CHECKING

import numpy as np

from analogical._checks import check_whole
from analogical.plot.canvas import BAR, CHANGED, EFFECT, INK, MOST_ROWS, MUTED, NEUTRAL, axes_with_rows, key, short_name

if TYPE_CHECKING:
    from matplotlib.axes import Axes

    from analogical.verbs.compare import Comparison

__all__ = ["plot_comparison"]

BAND = 0.72
"""Length of a method's longest bar as a share of its column; the ranks are beside the bars."""


def plot_comparison(result: "Comparison", ax: "Axes | None", *, top: int) -> "Axes":
    """The scores of several methods side by side, all in the order of the first one."""
    top = check_whole("top", top, low=1, high=MOST_ROWS)
    order = result.order()[:top]
    n_methods = len(result.methods)
    by = f"{n_methods} methods" if n_methods > 1 else result.methods[0].title
    with axes_with_rows(
        ax,
        [result.names[i] for i in order],
        title=f"Relevance for {short_name(result.label)} by {by}",
        x_label=f"bars: score as a share of the method's best; numbers: ranks among {len(result.names):,} features",
        legend=[key(CHANGED, "best of the method"), key(EFFECT, "others")],
        n_more=len(result.names) - len(order),
        above=16,
        width=2.6 + 0.95 * max(n_methods, 3),
    ) as ax:
        for column, method in enumerate(result.methods):
            scores, ranks = np.maximum(result.scores[method.name], 0.0), result.ranks[method.name]
            lengths = BAND * scores[order] / (np.nanmax(scores, initial=0.0) or 1.0)
            for row, (i, length) in enumerate(zip(order, lengths, strict=True)):
                is_known = not np.isnan(length)
                if is_known:
                    is_best = ranks[i] == 1 and length > 0
                    ax.barh(row, length, BAR, left=column, color=CHANGED if is_best else EFFECT, zorder=2)
                ax.annotate(
                    str(ranks[i]) if is_known else "–",
                    (column + np.nan_to_num(length), row),
                    xytext=(3, 0),
                    textcoords="offset points",
                    va="center",
                    fontsize=7.5,
                    color=MUTED,
                )
            ax.axvline(column, color=NEUTRAL, linewidth=0.9, zorder=1)
        ax.set_xlim(0, n_methods)
        ax.set_xticks(range(n_methods), [method.title for method in result.methods])
        ax.xaxis.set_ticks_position("top")
    ax.grid(visible=False)
    for text in ax.get_xticklabels():
        text.set(ha="left", fontweight="bold", fontsize=9, color=INK)
    return ax
