"""Figures of pairs of features: which act together, and label shares by their values."""

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from analogical.plot.canvas import (
    CHANGED,
    EFFECT,
    INK,
    MUTED,
    UNTOLD,
    new_axes,
    plain_text,
    set_title,
    short_name,
    short_names,
)

if TYPE_CHECKING:
    from matplotlib.axes import Axes

    from analogical.verbs.interactions import Interactions
    from analogical.verbs.squares import Squares

__all__ = ["plot_interactions", "plot_squares"]

MOST_IN_HEAT_MAP = 12
"""Features up to which all pairs are drawn; of more, the strongest pairs as a network."""
MOST_LINES = 20
"""Pairs that a network shows."""
MOST_VALUES = 12
"""Values of a feature that a card shows."""


def plot_interactions(result: "Interactions", ax: "Axes | None" = None) -> "Axes":
    """Draw which features act together: a heat map of up to 12 features, and otherwise a network.

    Parameters
    ----------
    result : Interactions
        What :func:`analogical.interactions` found.
    ax : matplotlib Axes, optional
        Where to draw; a new figure if not given.

    Returns
    -------
    matplotlib.axes.Axes
        The interaction effect of each pair, or its index where the effect is unknown. Significant pairs are
        framed in the heat map, and solid lines in the network, which shows the 20 strongest pairs.

    Examples
    --------
    >>> from analogical import interactions
    >>> found = interactions([[0, 0], [0, 1], [1, 0], [1, 1]] * 5, [0, 1, 1, 0] * 5)
    >>> plot_interactions(found).get_title("left")
    'effect of pairs on y'
    """
    what, strength = _strengths(result)
    used = {*result.first, *result.second}
    names = [name for name in result.names if name in used]
    with plain_text():
        if len(names) <= MOST_IN_HEAT_MAP:
            ax = new_axes(1.6 + 0.62 * len(names), 1.4 + 0.52 * len(names)) if ax is None else ax
            _heat_map(ax, result, names, strength)
        else:
            ax = new_axes(6.6, 5.7) if ax is None else ax
            _network(ax, result, names, strength)
        title = f"{what} of pairs on {short_name(result.label, 24)}"
        set_title(ax, title)
    return ax


def plot_squares(result: "Squares", label: Any = None, ax: "Axes | None" = None) -> "Axes":
    r"""Draw label shares by the values of two features, with the number of rows.

    Parameters
    ----------
    result : Squares
        What :func:`analogical.squares` found.
    label : class, optional
        The class to show; the last one by default.
    ax : matplotlib Axes, optional
        Where to draw; a new figure if not given.

    Examples
    --------
    >>> from analogical import squares
    >>> found = squares([[0, 0], [0, 1], [1, 0], [1, 1]] * 5, [0, 1, 1, 0] * 5, 0, 1)
    >>> [text.get_text() for text in plot_squares(found).texts]
    ['0 %\n5 rows', '100 %\n5 rows', '100 %\n5 rows', '0 %\n5 rows']
    """
    label = result.classes[-1] if label is None else label
    shares, rows = result.shares(label), result.counts.sum(axis=2)
    across, down = (_most_rows(rows.sum(axis=axis)) for axis in (1, 0))
    with plain_text():
        ax = new_axes(1.9 + 0.95 * len(across), 1.5 + 0.62 * len(down)) if ax is None else ax
        cells = shares[np.ix_(across, down)].T
        ax.imshow(np.ma.masked_invalid(cells), cmap=_shades(), vmin=0, vmax=1, aspect="auto")
        for (y, x), share in np.ndenumerate(cells):
            n = int(rows[across[x], down[y]])
            text = f"{100 * share:.0f} %\n{n:,} row{'' if n == 1 else 's'}" if n else "no rows"
            ax.text(x, y, text, ha="center", va="center", fontsize=8, color=_ink_on(share))
        _label_cells(
            ax,
            [short_name(result.first_values[u], 14) for u in across],
            [short_name(result.second_values[v], 14) for v in down],
        )
        ax.set_xlabel(short_name(result.first, 30), fontsize=9, color=MUTED)
        ax.set_ylabel(short_name(result.second, 30), fontsize=9, color=MUTED)
        title = f"share of {short_name(result.label, 20)} = {short_name(label, 20)}"
        set_title(ax, title)
    return ax


def _strengths(result: "Interactions") -> tuple[str, NDArray[np.float64]]:
    """What is drawn of each pair: its effect, or its index where no effect is known; NaN if unknown."""
    return ("index", result.index) if np.isnan(result.effect).all() else ("effect", result.effect)


def _heat_map(ax: Any, result: "Interactions", names: Sequence[str], strength: NDArray[np.float64]) -> None:
    from matplotlib.patches import Rectangle

    place = {name: k for k, name in enumerate(names)}
    cells = np.full((len(names), len(names)), np.nan)
    highest = max(float(np.nanmax(strength, initial=0.0)), 0.05)
    for k, (a, b) in enumerate(zip(result.first, result.second, strict=True)):
        x, y = sorted((place[a], place[b]))
        cells[y, x] = strength[k]
    ax.imshow(np.ma.masked_invalid(cells), cmap=_shades(), vmin=0, vmax=highest, aspect="auto")
    for k, (a, b) in enumerate(zip(result.first, result.second, strict=True)):
        x, y = sorted((place[a], place[b]))
        is_significant = result.status[k] == "effect"
        text = "–" if np.isnan(strength[k]) else f"{strength[k]:.2f}".removeprefix("0")
        weight = "bold" if is_significant else "normal"
        ax.text(x, y, text, ha="center", va="center", fontsize=8, color=_ink_on(strength[k] / highest), weight=weight)
        if is_significant:
            ax.add_patch(Rectangle((x - 0.46, y - 0.46), 0.92, 0.92, fill=False, edgecolor=CHANGED, linewidth=1.8))
    words = short_names(names, 14)
    _label_cells(ax, words, words)
    ax.set_xlim(-0.5, len(names) - 1.5)
    ax.set_ylim(len(names) - 0.5, 0.5)
    if "effect" in result.status:
        ax.set_xlabel("framed: significant", fontsize=8.5, color=MUTED, loc="left")


def _network(ax: Any, result: "Interactions", names: Sequence[str], strength: NDArray[np.float64]) -> None:
    order = [k for k in result.order().tolist() if strength[k] > 0][:MOST_LINES]
    drawn = [name for name in names if any(name in (result.first[k], result.second[k]) for k in order)]
    angles = np.pi / 2 - 2 * np.pi * np.arange(len(drawn)) / max(len(drawn), 1)
    spots = {name: (np.cos(angle), np.sin(angle)) for name, angle in zip(drawn, angles, strict=True)}
    highest = max((strength[k] for k in order), default=1.0)
    for k in reversed(order):
        is_significant = result.status[k] == "effect"
        (x, y), (other_x, other_y) = spots[result.first[k]], spots[result.second[k]]
        ax.plot(
            (x, other_x),
            (y, other_y),
            color=EFFECT if is_significant else UNTOLD,
            linestyle="-" if is_significant else ":",
            linewidth=0.8 + 5 * strength[k] / highest,
            solid_capstyle="round",
            zorder=2 if is_significant else 1,
        )
    for name, angle in zip(short_names(drawn, 16), angles, strict=True):
        x, y = np.cos(angle), np.sin(angle)
        ax.plot(x, y, "o", color=INK, markersize=5, zorder=3)
        side = "center" if abs(x) < 0.2 else "left" if x > 0 else "right"
        ax.text(1.07 * x, 1.07 * y, name, ha=side, va="center", fontsize=8.5, color=INK)
    ax.set(xlim=(-1.5, 1.5), ylim=(-1.25, 1.25), aspect="equal")
    ax.axis("off")
    significant = [k for k in order if result.status[k] == "effect"]
    note = f"the {len(order)} strongest of {len(result):,} pairs; solid: significant ({len(significant)}), dotted: not"
    ax.text(0, -0.02, note, transform=ax.transAxes, fontsize=8.5, color=MUTED, va="top")


def _label_cells(ax: Any, across: Sequence[str], down: Sequence[str]) -> None:
    """Names along both sides of a grid of cells, without lines."""
    ax.set_xticks(range(len(across)), across, fontsize=8.5, color=INK)
    ax.set_yticks(range(len(down)), down, fontsize=8.5, color=INK)
    if max(map(len, across)) > 7:
        for label in ax.get_xticklabels():
            label.set(rotation=40, ha="right", rotation_mode="anchor")
    ax.tick_params(length=0)
    ax.set_xticks(np.arange(len(across) - 1) + 0.5, minor=True)
    ax.set_yticks(np.arange(len(down) - 1) + 0.5, minor=True)
    ax.grid(which="minor", color="white", linewidth=2)
    ax.tick_params(which="minor", length=0)
    for side in ax.spines.values():
        side.set_visible(False)


def _most_rows(sizes: NDArray[np.int64]) -> list[int]:
    """Positions of the values with most rows, in order."""
    return sorted(np.argsort(-sizes, kind="stable")[:MOST_VALUES].tolist())


def _shades() -> Any:
    from matplotlib.colors import LinearSegmentedColormap

    return LinearSegmentedColormap.from_list("analogical", ["#f4f6f8", EFFECT])


def _ink_on(share: float) -> str:
    return "white" if share > 0.6 else INK
