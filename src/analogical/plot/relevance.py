"""The figure of a relevance: sizes in points with intervals, best first."""

from typing import TYPE_CHECKING

import numpy as np

from analogical._checks import check_whole
from analogical.plot.canvas import MOST_ROWS, axes_with_rows, draw_sizes, short_name, significance_keys, size_in_points
from analogical.show.words import marked, shorten, signed

if TYPE_CHECKING:
    from matplotlib.axes import Axes

    from analogical.verbs.relevance import Relevance

__all__ = ["plot_relevance"]


def plot_relevance(result: "Relevance", ax: "Axes | None", *, top: int) -> "Axes":
    """Sizes in points with intervals, best first."""
    top = check_whole("top", top, low=1, high=MOST_ROWS)
    order = result.order()[:top]
    is_effect = [result.status[i] == "effect" for i in order]
    of_label = f" for {short_name(result.classes[1])}" if len(result.classes) == 2 else ""
    with axes_with_rows(
        ax,
        [result.names[i] for i in order],
        title=f"Effects on {short_name(result.label)}",
        x_label=f"size in percentage points (root of the effect), with {100 * result.settings.confidence:g} % interval;"
        f" right: size, and direction{of_label}",
        beside=[_size_and_direction(result, int(i)) for i in order],
        legend=significance_keys(is_effect),
        n_more=len(result.names) - len(order),
    ) as ax:
        effects = (result.effect, result.effect_low, result.effect_high)
        draw_sizes(ax, *(size_in_points(effect[order]) for effect in effects), is_significant=is_effect)
    return ax


def _size_and_direction(result: "Relevance", i: int) -> str:
    """The size and the direction of an effect, or why there is none."""
    points, copied = result.points[i], result.same_as[i]
    if copied is not None:
        return f"same as {short_name(copied)}"
    if np.isnan(result.effect[i]):
        return "–"
    size = signed(float(size_in_points(result.effect[i]))).removeprefix("+")
    if result.status[i] != "effect" or points is None:
        return size
    if points.low <= 0 <= points.high:
        return f"{size}   mixed direction"
    label = "" if len(result.classes) == 2 else f"{short_name(points.label, 12)} "
    interval = f"({points.low:.0f} to {points.high:.0f})"
    return f"{size}   {shorten(marked(points.value), 14)}: {label}{signed(points.points)} {interval}"
