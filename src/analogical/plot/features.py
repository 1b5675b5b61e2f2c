"""Figures with one row per feature: relevance and a selection."""

from collections.abc import Iterator, Sequence
from typing import TYPE_CHECKING, Any

import numpy as np

from analogical._checks import check_whole
from analogical._types import Floats
from analogical.plot.canvas import (
    CHANGED,
    EFFECT,
    INK,
    LONGEST_TITLE,
    MOST_ROWS,
    MUTED,
    UNTOLD,
    add_legend,
    label_rows,
    mark_zero,
    new_row_axes,
    plain_text,
    short_name,
    write_beside,
)

if TYPE_CHECKING:
    from matplotlib.axes import Axes

    from analogical.verbs.relevance import Relevance
    from analogical.verbs.select import Selection

__all__ = ["plot_relevance", "plot_selection"]

SMALLEST = 0.05
"""The axis of scores reaches at least so far, so that noise of a thousandth does not fill the figure."""
REACH = 3.0
"""The axis ends at so many times the largest effect at most: a wide interval does not make all bars tiny."""
WIDE = 7.6
"""Inches that a figure with directions beside its bars is wide."""
BAR = 0.66
"""How much of its row a bar fills."""


def plot_relevance(result: "Relevance", ax: "Axes | None" = None, *, top: int = MOST_ROWS) -> "Axes":
    """Draw the effect of every feature as a bar with its interval, best first.

    Parameters
    ----------
    result : Relevance
        The result of :func:`analogical.relevance`.
    ax : matplotlib Axes, optional
        Where to draw; a new figure if not given.
    top : int
        Number of features to show, at most 20.

    Returns
    -------
    matplotlib.axes.Axes
        Blue bars are significant, grey ones are not. To the right of each bar are the effect and its direction in
        percentage points. A dash marks a copy, a constant feature, or one without pairs.

    Examples
    --------
    >>> from analogical import load_table, relevance
    >>> result = relevance(load_table("titanic").to_frame(), "survived", weights="count")
    >>> ax = result.plot()
    >>> [round(float(bar.get_width()), 3) for bar in ax.patches]
    [0.243, 0.058, 0.025]
    """
    top = check_whole("top", top, low=1, high=MOST_ROWS)
    order = result.order()[:top]
    n_more = len(result.names) - len(order)
    effect, low, high = (numbers[order] for numbers in (result.effect, result.effect_low, result.effect_high))
    with plain_text():
        ax = new_row_axes(len(order) + bool(n_more), width=WIDE) if ax is None else ax
        colours = [EFFECT if result.status[i] == "effect" else UNTOLD for i in order]
        ax.barh(range(len(order)), np.nan_to_num(effect), BAR, color=colours, zorder=2)
        right = _reach(effect, high)
        _whiskers(ax, low, high, right, [INK if result.status[i] == "effect" else MUTED for i in order])
        ax.set_xlim(0, right)
        mark_zero(ax)
        label_rows(
            ax,
            [result.names[i] for i in order],
            title=f"Effects on {short_name(result.label, LONGEST_TITLE)}",
            x_label=f"effect, with its {100 * result.settings.confidence:g} % interval{_of_points(result)}",
            n_more=n_more,
        )
        write_beside(ax, [_beside(result, int(i), size) for i, size in zip(order, effect, strict=True)])
        add_legend(ax, list(_legend({result.status[i] for i in order})))
    return ax


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
    >>> found = select(load_table("monks-1").to_frame().drop(columns="count"), "class")
    >>> [text.get_text() for text in found.plot().get_yticklabels()]
    ['jacket_color', 'body_shape', 'head_shape']
    """
    from analogical.show.selection import WORDS

    shown = result.features[:MOST_ROWS]
    n_more = len(result.features) - len(shown)
    gain = result.gain[: len(shown)]
    colours = {"gain": EFFECT, "interaction": CHANGED, "significant": MUTED, "index": UNTOLD}
    words = {**WORDS, "interaction": "interaction"}
    with plain_text():
        ax = new_row_axes(len(shown) + bool(n_more)) if ax is None else ax
        ax.barh(range(len(shown)), gain, BAR, color=[colours[why] for why in result.why[: len(shown)]], zorder=2)
        right = max([result.need, *gain.tolist()]) * 1.04
        ax.set_xlim(min([0.0, *(gain * 1.1).tolist()]), right)
        label_rows(
            ax,
            shown,
            title=f"Gain of each feature for {short_name(result.label, LONGEST_TITLE)}",
            x_label=f"log-likelihood gain in nats (dashed: threshold {result.need:.1f}); right: explained so far",
            n_more=n_more,
        )
        mark_zero(ax)
        ax.axvline(result.need, color=MUTED, linewidth=1, linestyle=(0, (4, 3)), zorder=1)
        write_beside(ax, [f"{100 * share:.1f} %" for share in result.explained[: len(shown)]])
        if not shown:
            ax.text(0.5, 0.5, "No feature was selected.", transform=ax.transAxes, ha="center", va="center", color=MUTED)
        used = [why for why in colours if why in result.why[: len(shown)]]
        add_legend(ax, [_patch(colours[why], words[why]) for why in used])
    return ax


# ---------------------------------------------------------------- parts of the figures


def _legend(statuses: set[str]) -> Iterator[Any]:
    """What the colours of the features shown mean."""
    if "effect" in statuses:
        yield _patch(EFFECT, "significant effect")
    if statuses & {"unclear", "none"}:
        yield _patch(UNTOLD, "unclear or none")


def _patch(colour: str, label: str) -> Any:
    from matplotlib.patches import Patch

    return Patch(color=colour, label=label)


def _whiskers(ax: "Axes", low: Floats, high: Floats, right: float, colours: Sequence[str]) -> None:
    """Intervals as thin lines with ends; one that leaves the axis has no end there."""
    for place in np.flatnonzero(~(np.isnan(low) | np.isnan(high))).tolist():
        ax.hlines(place, low[place], min(high[place], right), color=colours[place], linewidth=1.1, zorder=3)
        ends = [end for end in (low[place], high[place]) if end <= right]
        ax.plot(ends, [place] * len(ends), "|", color=colours[place], markersize=5, markeredgewidth=1.1, zorder=3)


def _reach(effect: Floats, high: Floats) -> float:
    """Where the axis ends: at the widest interval, unless that would make all bars tiny."""
    largest, widest = (float(np.nanmax(numbers, initial=0.0)) for numbers in (effect, high))
    return min(max(widest, SMALLEST), max(REACH * largest, SMALLEST)) * 1.03


def _of_points(result: "Relevance") -> str:
    """What the points are about, if there are two classes."""
    what = f" for {short_name(result.classes[1])}" if len(result.classes) == 2 else ""
    return f"; right: effect, and direction in percentage points{what}"


def _beside(result: "Relevance", i: int, effect: float) -> str:
    """The effect and its direction, or what there is instead."""
    from analogical.show.sentences import has_direction
    from analogical.show.words import marked, shares, shorten, signed

    found, copied = result.points[i], result.same_as[i]
    if copied is not None:
        return f"same as {short_name(copied)}"
    text = "–" if effect != effect else shares(effect)
    if result.status[i] != "effect" or found is None:
        return text
    if not has_direction(result, i):
        return f"{text}  mixed direction"
    label = "" if len(result.classes) == 2 else f"{short_name(found.label, 12)} "
    return f"{text}  {shorten(marked(found.value), 14)}: {label}{signed(found.points)}"
