"""Figures of pairs of features: which act together, and label shares by their values."""

from typing import TYPE_CHECKING, Any

import numpy as np

from analogical.plot.canvas import (
    EFFECT,
    INK,
    MOST_ROWS,
    MUTED,
    axes_with_rows,
    draw_sizes,
    new_axes,
    plain_text,
    set_title,
    short_name,
    short_names,
    significance_keys,
)

if TYPE_CHECKING:
    from matplotlib.axes import Axes

    from analogical._types import Ints
    from analogical.verbs.interactions import Interactions
    from analogical.verbs.squares import Squares

__all__ = ["plot_interactions", "plot_squares"]

MOST_VALUES = 12
"""Values of a feature that a card shows."""


def plot_interactions(result: "Interactions", ax: "Axes | None" = None) -> "Axes":
    """Draw how strongly features act together: the size of each interaction as a bar with its interval, best first.

    Parameters
    ----------
    result : Interactions
        The result of :func:`analogical.interactions`.
    ax : matplotlib Axes, optional
        Where to draw; a new figure if not given.

    Returns
    -------
    matplotlib.axes.Axes
        The 20 pairs of features that come first. Blue bars are significant, grey ones are not. On the right is the
        adjusted p-value, or the index where neither effect nor p-value is known.

    Examples
    --------
    >>> from analogical import interactions
    >>> together = interactions([[0, 0], [0, 1], [1, 0], [1, 1]] * 5, [0, 1, 1, 0] * 5)
    >>> [round(float(bar.get_width())) for bar in plot_interactions(together).patches]
    [100]
    """
    order = result.order()[:MOST_ROWS]
    is_effect = [result.status[k] == "effect" for k in order]
    firsts, seconds = (short_names([names[k] for k in order], 16) for names in (result.first, result.second))
    with axes_with_rows(
        ax,
        [f"{first} × {second}" for first, second in zip(firsts, seconds, strict=True)],
        title=f"Interactions for {short_name(result.label)}",
        x_label="size in percentage points (root of the effect; 100 for an exclusive or), with"
        f" {100 * result.settings.confidence:g} % interval",
        beside=[_beside(result, int(k)) for k in order],
        legend=significance_keys(is_effect),
        n_more=len(result) - len(order),
    ) as ax:
        draw_sizes(ax, result.effect[order], result.effect_low[order], result.effect_high[order], is_effect)
    return ax


def _beside(result: "Interactions", k: int) -> str:
    """The p-value of a pair, or what there is instead."""
    from analogical.show.words import p_words

    if result.same_as[k] is not None:
        return f"copy of {short_name(result.same_as[k])}"
    if not np.isnan(result.p_adjusted[k]):
        return p_words(result.p_adjusted[k])
    is_all = not np.isnan(result.effect[k]) or np.isnan(result.index[k])
    return "–" if is_all else f"index {result.index[k]:.2f}"


def plot_squares(result: "Squares", ax: "Axes | None" = None, *, label: Any = None) -> "Axes":
    r"""Draw label shares by the values of two features, with the number of rows.

    Parameters
    ----------
    result : Squares
        The result of :func:`analogical.squares`.
    ax : matplotlib Axes, optional
        Where to draw; a new figure if not given.
    label : class, optional
        The class to show; the last one by default.

    Returns
    -------
    matplotlib.axes.Axes
        One cell for each combination of values, darker where the label is more frequent; at most 12 values of each
        feature, those with most rows.

    Examples
    --------
    >>> from analogical import squares
    >>> pair = squares([[0, 0], [0, 1], [1, 0], [1, 1]] * 5, [0, 1, 1, 0] * 5, 0, 1)
    >>> [text.get_text() for text in plot_squares(pair).texts]
    ['0 %\n5 rows', '100 %\n5 rows', '100 %\n5 rows', '0 %\n5 rows']
    """
    from analogical.show.words import counted

    label = result.classes[-1] if label is None else label
    rows = result.counts.sum(axis=2)
    across, down = (_most_rows(rows.sum(axis=axis)) for axis in (1, 0))
    shares = result.shares(label)[np.ix_(across, down)].T
    with plain_text():
        ax = new_axes(1.9 + 0.95 * len(across), 1.5 + 0.62 * len(down)) if ax is None else ax
        from matplotlib.colors import LinearSegmentedColormap

        shades = LinearSegmentedColormap.from_list("analogical", ["#f4f6f8", EFFECT])
        ax.imshow(np.ma.masked_invalid(shares), cmap=shades, vmin=0, vmax=1, aspect="auto")
        for (y, x), share in np.ndenumerate(shares):
            n = int(rows[across[x], down[y]])
            text = f"{100 * share:.0f} %\n{counted(n, 'row')}" if n else "no rows"
            ax.text(x, y, text, ha="center", va="center", fontsize=8, color="white" if share > 0.6 else INK)
        names = short_names([result.first_values[u] for u in across], 14)
        ax.set_xticks(range(len(across)), names, fontsize=8.5, color=INK)
        if max(map(len, names)) > 7:
            for name in ax.get_xticklabels():
                name.set(rotation=40, ha="right", rotation_mode="anchor")
        ax.set_yticks(
            range(len(down)), short_names([result.second_values[v] for v in down], 14), fontsize=8.5, color=INK
        )
        ax.set_xticks(np.arange(len(across) - 1) + 0.5, minor=True)
        ax.set_yticks(np.arange(len(down) - 1) + 0.5, minor=True)
        ax.grid(which="minor", color="white", linewidth=2)
        ax.tick_params(which="both", length=0)
        for side in ax.spines.values():
            side.set_visible(False)
        ax.set_xlabel(short_name(result.first, 30), fontsize=9, color=MUTED)
        ax.set_ylabel(short_name(result.second, 30), fontsize=9, color=MUTED)
        set_title(ax, f"Share of {short_name(result.label, 20)} = {short_name(label, 20)}")
    return ax


def _most_rows(sizes: "Ints") -> list[int]:
    """Positions of the values with most rows, in order."""
    return sorted(np.argsort(-sizes, kind="stable")[:MOST_VALUES].tolist())
