"""Figures of several methods: a comparison in one order, and the upright charts of the paper's figure."""

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any, cast

import numpy as np
from numpy.typing import NDArray

from analogical._checks import check_whole
from analogical.plot.canvas import (
    CHANGED,
    EFFECT,
    GRID,
    INK,
    LONGEST_TITLE,
    MOST_ROWS,
    MUTED,
    UNTOLD,
    add_legend,
    label_rows,
    new_row_axes,
    plain_text,
    require_matplotlib,
    short_name,
)

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure
    from matplotlib.layout_engine import ConstrainedLayoutEngine

    from analogical.verbs.compare import Comparison

__all__ = ["bar_charts", "plot_comparison"]

BAND = 0.72
"""How much of its column a method's longest bar fills; the ranks stand behind the bars."""
CHARACTERS = 48
"""Labels of more characters than this do not fit beside each other under one chart."""
MAX_LABELS = 30
"""More features than this are numbered by every so many ticks only."""
MAX_TITLE = 120
"""Characters of a title; a longer one would squeeze the charts."""


def plot_comparison(result: "Comparison", ax: "Axes | None" = None, *, top: int = MOST_ROWS) -> "Axes":
    """Draw the scores of several methods side by side, all in the order of the first one.

    Parameters
    ----------
    result : Comparison
        What :func:`analogical.compare` found.
    ax : matplotlib Axes, optional
        Where to draw; a new figure if not given.
    top : int
        Number of features to show, at most 20.

    Returns
    -------
    matplotlib.axes.Axes
        One column per method and one row per feature. A bar is the score as a share of the method's highest one, the
        number beside it the rank; the best feature of each method is orange, a dash means no evidence.

    Examples
    --------
    >>> from analogical import compare, load_table
    >>> found = compare(load_table("monks-1").to_frame(), "class", weights="count", methods=["ari", "mi"])
    >>> [text.get_text() for text in found.plot().get_xticklabels()]
    ['ARI', 'MI']
    """
    top = check_whole("top", top, low=1, high=MOST_ROWS)
    order = result.order()[:top]
    n_more = len(result.names) - len(order)
    ranks = result.ranks
    n_methods = len(result.methods)
    with plain_text():
        width = 2.6 + 0.95 * max(n_methods, 3)
        ax = new_row_axes(len(order) + bool(n_more), width=width) if ax is None else ax
        for column, method in enumerate(result.methods):
            scores = np.maximum(result.scores[method.name], 0.0)
            highest = float(np.nanmax(scores, initial=0.0))
            for place, i in enumerate(order):
                share = scores[i] / highest if highest > 0 else scores[i]
                rank = int(ranks[method.name][i])
                known = share == share
                if known:
                    best = rank == 1 and share > 0
                    length = BAND * share
                    ax.barh(place, length, 0.66, left=column, color=CHANGED if best else EFFECT, zorder=2)
                ax.annotate(
                    str(rank) if known else "–",
                    (column + (BAND * share if known else 0.0), place),
                    xytext=(3, 0),
                    textcoords="offset points",
                    va="center",
                    fontsize=7.5,
                    color=MUTED,
                )
            ax.axvline(column, color=UNTOLD, linewidth=0.9, zorder=1)
        ax.set_xlim(0, n_methods)
        label_rows(
            ax,
            [result.names[i] for i in order],
            title=f"Relevance for {short_name(result.label, LONGEST_TITLE)} by {n_methods} methods"
            if n_methods > 1
            else f"Relevance for {short_name(result.label, LONGEST_TITLE)} by {result.methods[0].title}",
            x_label=f"bars: score as a share of the method's best; numbers: ranks among {len(result.names):,} features",
            n_more=n_more,
            above=40,
        )
        ax.grid(visible=False)
        ax.set_xticks(range(n_methods), [method.title for method in result.methods], fontsize=9, color=INK)
        ax.xaxis.set_ticks_position("top")
        ax.tick_params(length=0)
        for text in ax.get_xticklabels():
            text.set(ha="left", fontweight="bold", parse_math=False)
        from matplotlib.patches import Patch

        add_legend(
            ax, [Patch(color=CHANGED, label="best of the method"), Patch(color=EFFECT, label="others")], above=16
        )
    return ax


# ---------------------------------------------------------------- upright charts


def bar_charts(
    names: Sequence[str],
    panels: Mapping[str, NDArray[np.float64]],
    *,
    title: str | None = None,
    caption: str | None = None,
    marks: Mapping[str, Sequence[float]] | None = None,
    mark_label: str = "printed in the paper",
) -> "Figure":
    """One bar chart per method, side by side on the same scale.

    Parameters
    ----------
    names : sequence of str
        The features.
    panels : mapping of str to ndarray
        Title of each chart and one share per feature; NaN (no evidence) is drawn as a dash on the axis.
    title, caption : str, optional
        Words above and below the charts.
    marks : mapping of str to sequence of float, optional
        Other values to compare the bars with, drawn as short lines, by title of the chart.
    mark_label : str
        What the marks are.

    Returns
    -------
    matplotlib.figure.Figure
        The best feature of each chart stands out.

    Examples
    --------
    >>> import numpy as np
    >>> figure = bar_charts(["a", "b"], {"ARI": np.array([0.7, 0.3]), "MI": np.array([0.4, 0.6])})
    >>> [ax.get_title("left") for ax in figure.axes]
    ['ARI', 'MI']
    """
    with plain_text():
        return _draw_charts(require_matplotlib(), names, panels, title, caption, marks, mark_label)


def _draw_charts(
    figure_class: "type[Figure]",
    names: Sequence[str],
    panels: Mapping[str, NDArray[np.float64]],
    title: str | None,
    caption: str | None,
    marks: Mapping[str, Sequence[float]] | None,
    mark_label: str,
) -> "Figure":
    n_columns = 1 if len(panels) == 1 else 2 if len(panels) in (2, 4) else 3
    n_rows = -(-len(panels) // n_columns)
    width = float(np.clip(0.34 * len(names) + 1.2, 4.4, 11))
    figure = figure_class(figsize=(width * n_columns, 2.5 * n_rows + 1.0), layout="constrained", facecolor="white")
    cast("ConstrainedLayoutEngine", figure.get_layout_engine()).set(w_pad=0.12, h_pad=0.1)
    axes = figure.subplots(n_rows, n_columns, sharey=True, squeeze=False)
    highest = max([0.05, *(float(np.nanmax(shares)) for shares in panels.values() if not np.isnan(shares).all())])
    if marks:
        highest = max(highest, *(max(values) for values in marks.values()))
    for axis, (panel, shares) in zip(axes.flat, panels.items(), strict=False):
        _bar_chart(axis, names, shares, (marks or {}).get(panel))
        axis.set_title(panel, loc="left", fontsize=11, color=INK, fontweight="bold")
        axis.set_ylim(0, highest * 1.05)
    for axis in axes.flat[len(panels) :]:
        axis.set_visible(False)
    for axis in axes[:, 0]:
        axis.set_ylabel("share of the score", fontsize=9, color=MUTED)
    from analogical.show.words import shown

    if title:
        figure.suptitle(shown(title, MAX_TITLE), x=0.01, ha="left", fontsize=13, color=INK, fontweight="bold")
    if caption:
        figure.supxlabel(shown(caption, 3 * MAX_TITLE), x=0.01, ha="left", fontsize=9, color=MUTED)
    if marks:
        from matplotlib.lines import Line2D

        handle = Line2D([], [], color=INK, linewidth=1.6, label=mark_label)
        figure.legend(handles=[handle], loc="upper right", frameon=False, fontsize=9, labelcolor=MUTED)
    return figure


def _bar_chart(axis: Any, names: Sequence[str], shares: NDArray[np.float64], marks: Sequence[float] | None) -> None:
    position = np.arange(len(names))
    known = ~np.isnan(shares)
    best = known & (np.nan_to_num(shares) == np.nanmax(shares, initial=0.0)) & (np.nan_to_num(shares) > 0)
    axis.bar(
        position,
        np.nan_to_num(shares),
        width=0.72 * min(1, 0.3 + len(names) / 10),
        color=np.where(best, CHANGED, EFFECT),
        zorder=2,
    )
    axis.scatter(position[~known], np.zeros((~known).sum()), marker="_", s=60, color=MUTED, zorder=3, clip_on=False)
    if marks is not None:
        axis.hlines(marks, position - 0.44, position + 0.44, color=INK, linewidth=1.6, zorder=3)
    every = -(-len(names) // MAX_LABELS)
    labels = [short_name(name) for name in names[::every]]
    tilted = max(map(len, labels)) * len(labels) > CHARACTERS
    axis.set_xticks(position[::every], labels, fontsize=8.5, color=INK)
    if tilted:
        for label in axis.get_xticklabels():
            label.set(rotation=40, ha="right", rotation_mode="anchor")
    axis.tick_params(axis="y", labelsize=8.5, labelcolor=MUTED)
    axis.tick_params(length=0)
    axis.grid(axis="y", color=GRID, linewidth=0.8, zorder=0)
    axis.margins(x=0.02)
    for side in ("top", "right", "left"):
        axis.spines[side].set_visible(False)
    axis.spines["bottom"].set_color(MUTED)
