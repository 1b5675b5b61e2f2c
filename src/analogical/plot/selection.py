"""The figure of a selection: what each feature adds to those before it."""

from typing import TYPE_CHECKING

from analogical.plot.canvas import (
    BAR,
    CHANGED,
    EFFECT,
    MOST_ROWS,
    MUTED,
    UNTOLD,
    axes_with_rows,
    key,
    mark_zero,
    short_name,
)

if TYPE_CHECKING:
    from matplotlib.axes import Axes

    from analogical.verbs.select import Selection

__all__ = ["plot_selection"]

COLOURS = {"gain": EFFECT, "interaction": CHANGED, "significant": MUTED, "index": UNTOLD}
"""By the reason for the selection."""


def plot_selection(result: "Selection", ax: "Axes | None" = None) -> "Axes":
    """Draw the gain of each selected feature over those before it, in the order selected.

    Parameters
    ----------
    result : Selection
        The result of :func:`analogical.select`.
    ax : matplotlib Axes, optional
        Where to draw; a new figure if not given.

    Returns
    -------
    matplotlib.axes.Axes
        A bar is the log-likelihood gain, blue where it reaches the threshold, orange where it does so together with
        another feature, dark grey where it is lower but the feature is significant, light grey where the feature only
        follows the relaxed index. The numbers on the right are the share explained so far. The dashed line is the
        threshold.

    Examples
    --------
    >>> from analogical import load_table, select
    >>> selection = select(load_table("monks-1").to_frame().drop(columns="count"), "class")
    >>> [text.get_text() for text in selection.plot().get_yticklabels()]
    ['jacket_color', 'body_shape', 'head_shape']
    """
    from analogical.show.selection import WORDS

    features, gain, why = result.features[:MOST_ROWS], result.gain[:MOST_ROWS], result.why[:MOST_ROWS]
    words = {**WORDS, "interaction": "interaction"}
    with axes_with_rows(
        ax,
        features,
        title=f"Gain of each feature for {short_name(result.label)}",
        x_label=f"log-likelihood gain in nats (dashed: threshold {result.need:.1f}); right: explained so far",
        beside=[f"{100 * share:.1f} %" for share in result.explained[:MOST_ROWS]],
        legend=[key(colour, words[reason]) for reason, colour in COLOURS.items() if reason in why],
        n_more=len(result.features) - len(features),
    ) as ax:
        ax.barh(range(len(features)), gain, BAR, color=[COLOURS[reason] for reason in why], zorder=2)
        ax.set_xlim(min([0.0, *(gain * 1.1).tolist()]), max([result.need, *gain.tolist()]) * 1.04)
        mark_zero(ax)
        ax.axvline(result.need, color=MUTED, linewidth=1, linestyle=(0, (4, 3)), zorder=1)
        if not features:
            ax.text(0.5, 0.5, "No feature was selected.", transform=ax.transAxes, ha="center", va="center", color=MUTED)
    return ax
