"""Figures: matplotlib is imported only when one is drawn."""

import warnings
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Any, cast

import numpy as np
from numpy.typing import NDArray

from analogical.errors import InputError, MissingDependencyError

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure
    from matplotlib.layout_engine import ConstrainedLayoutEngine

    from analogical._interactions import Interactions
    from analogical._squares import Squares

__all__ = ["bar_charts", "plot_interactions", "plot_squares", "require_matplotlib", "save_figure"]

INK = "#1f2933"
MUTED = "#6b7785"
GRID = "#e3e7eb"
BAR = "#3b6ea8"
BEST = "#d9822b"
CHARACTERS = 48
"""Labels of more characters than this do not fit beside each other under one chart."""
MAX_LABELS = 30
"""More features than this are numbered by every so many ticks only."""
MAX_TITLE = 120
"""Characters of a title; a longer one would squeeze the charts."""
PLAIN_TEXT: dict[Any, bool] = {"text.parse_math": False, "text.usetex": False}
"""Names are drawn as they are: a dollar sign does not begin a formula."""


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
    """
    figure_class = require_matplotlib()
    import matplotlib as mpl

    with mpl.rc_context(PLAIN_TEXT):
        return _draw_charts(figure_class, names, panels, title, caption, marks, mark_label)


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
    from analogical.presenting.words import shown

    if title:
        figure.suptitle(shown(title, MAX_TITLE), x=0.01, ha="left", fontsize=13, color=INK, fontweight="bold")
    if caption:
        figure.supxlabel(shown(caption, 3 * MAX_TITLE), x=0.01, ha="left", fontsize=9, color=MUTED)
    if marks:
        from matplotlib.lines import Line2D

        handle = Line2D([], [], color=INK, linewidth=1.6, label=mark_label)
        figure.legend(handles=[handle], loc="upper right", frameon=False, fontsize=9, labelcolor=MUTED)
    return figure


# ---------------------------------------------------------------- pairs of features

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
        The effect of each pair, or its index where no effect is known. Pairs that are told from noise stand out: they
        are framed in the heat map, and solid lines in the network, which shows the 20 strongest pairs.
    """
    require_matplotlib()
    import matplotlib as mpl

    what, strength = _strengths(result)
    used = {*result.first, *result.second}
    names = [name for name in result.names if name in used]
    with mpl.rc_context(PLAIN_TEXT):
        if len(names) <= MOST_IN_HEAT_MAP:
            ax = _new_axes(1.6 + 0.62 * len(names), 1.4 + 0.52 * len(names)) if ax is None else ax
            _heat_map(ax, result, names, strength)
        else:
            ax = _new_axes(6.4, 6.4) if ax is None else ax
            _network(ax, result, names, strength)
        title = f"{what} of pairs on {_shortened(result.label, 24)}"
        ax.set_title(title, loc="left", fontsize=11, color=INK, fontweight="bold")
    return ax


def plot_squares(result: "Squares", label: Any = None, ax: "Axes | None" = None) -> "Axes":
    """Draw the shares of a label by value and value of two features, with the number of rows.

    Parameters
    ----------
    result : Squares
        What :func:`analogical.squares` found.
    label : class, optional
        Whose shares; the last class if not given.
    ax : matplotlib Axes, optional
        Where to draw; a new figure if not given.
    """
    require_matplotlib()
    import matplotlib as mpl

    label = result.classes[-1] if label is None else label
    shares, rows = result.shares(label), result.counts.sum(axis=2)
    across, down = (_most_rows(rows.sum(axis=axis)) for axis in (1, 0))
    with mpl.rc_context(PLAIN_TEXT):
        ax = _new_axes(1.9 + 0.95 * len(across), 1.5 + 0.62 * len(down)) if ax is None else ax
        cells = shares[np.ix_(across, down)].T
        ax.imshow(np.ma.masked_invalid(cells), cmap=_shades(), vmin=0, vmax=1, aspect="auto")
        for (y, x), share in np.ndenumerate(cells):
            n = int(rows[across[x], down[y]])
            text = f"{100 * share:.0f} %\n{n:,} row{'' if n == 1 else 's'}" if n else "no rows"
            ax.text(x, y, text, ha="center", va="center", fontsize=8, color=_ink_on(share))
        _label_cells(
            ax,
            [_shortened(result.first_values[u], 14) for u in across],
            [_shortened(result.second_values[v], 14) for v in down],
        )
        ax.set_xlabel(_shortened(result.first, 30), fontsize=9, color=MUTED)
        ax.set_ylabel(_shortened(result.second, 30), fontsize=9, color=MUTED)
        title = f"share of {_shortened(result.label, 20)} = {_shortened(label, 20)}"
        ax.set_title(title, loc="left", fontsize=11, color=INK, fontweight="bold")
    return ax


def _strengths(result: "Interactions") -> tuple[str, NDArray[np.float64]]:
    """What is drawn of each pair: its effect, not below 0, or its index where no effect is known; NaN if unknown."""
    if np.isnan(result.effect).all():
        return "index", result.index
    return "effect", np.where(result.effect < 0, 0.0, result.effect)


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
        told = result.status[k] == "effect"
        text = "–" if np.isnan(strength[k]) else f"{strength[k]:.2f}".removeprefix("0")
        weight = "bold" if told else "normal"
        ax.text(x, y, text, ha="center", va="center", fontsize=8, color=_ink_on(strength[k] / highest), weight=weight)
        if told:
            ax.add_patch(Rectangle((x - 0.46, y - 0.46), 0.92, 0.92, fill=False, edgecolor=BEST, linewidth=1.8))
    words = [_shortened(name, 14) for name in names]
    _label_cells(ax, words, words)
    ax.set_xlim(-0.5, len(names) - 1.5)
    ax.set_ylim(len(names) - 0.5, 0.5)
    if "effect" in result.status:
        ax.set_xlabel("framed: told from noise", fontsize=8.5, color=MUTED, loc="left")


def _network(ax: Any, result: "Interactions", names: Sequence[str], strength: NDArray[np.float64]) -> None:
    order = [k for k in result.order().tolist() if strength[k] > 0][:MOST_LINES]
    drawn = [name for name in names if any(name in (result.first[k], result.second[k]) for k in order)]
    angles = np.pi / 2 - 2 * np.pi * np.arange(len(drawn)) / max(len(drawn), 1)
    spots = {name: (np.cos(angle), np.sin(angle)) for name, angle in zip(drawn, angles, strict=True)}
    highest = max((strength[k] for k in order), default=1.0)
    for k in reversed(order):
        told = result.status[k] == "effect"
        (x, y), (other_x, other_y) = spots[result.first[k]], spots[result.second[k]]
        ax.plot(
            (x, other_x),
            (y, other_y),
            color=BEST if told else BAR,
            alpha=1.0 if told else 0.45,
            linestyle="-" if told else ":",
            linewidth=0.8 + 5 * strength[k] / highest,
            solid_capstyle="round",
            zorder=2 if told else 1,
        )
    for name, angle in zip(drawn, angles, strict=True):
        x, y = np.cos(angle), np.sin(angle)
        ax.plot(x, y, "o", color=INK, markersize=5, zorder=3)
        side = "center" if abs(x) < 0.2 else "left" if x > 0 else "right"
        ax.text(1.07 * x, 1.07 * y, _shortened(name, 16), ha=side, va="center", fontsize=8.5, color=INK)
    ax.set(xlim=(-1.5, 1.5), ylim=(-1.25, 1.25), aspect="equal")
    ax.axis("off")
    told = [k for k in order if result.status[k] == "effect"]
    note = f"the {len(order)} strongest of {len(result):,} pairs; solid: told from noise ({len(told)}), dotted: not"
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


def _new_axes(width: float, height: float) -> "Axes":
    figure = require_matplotlib()(figsize=(width, height), layout="constrained", facecolor="white")
    return figure.subplots()


def _shades() -> Any:
    from matplotlib.colors import LinearSegmentedColormap

    return LinearSegmentedColormap.from_list("analogical", ["#f4f6f8", BAR])


def _ink_on(share: float) -> str:
    return "white" if share > 0.6 else INK


def save_figure(figure: "Figure", path: str | Path) -> None:
    """Write a figure to a file; its ending (.png, .svg, .pdf) says how. The same figure gives the same bytes."""
    path = Path(path)
    supported = figure.canvas.get_supported_filetypes()
    kind = path.suffix.lower().lstrip(".")
    if kind not in supported:
        raise InputError(f"A figure cannot be written to {str(path)!r}; name a file that ends in .png, .svg or .pdf.")
    if not path.parent.is_dir():
        raise InputError(f"There is no folder {str(path.parent)!r} to write the figure to; create it first.")
    import matplotlib as mpl

    try:
        with mpl.rc_context({"svg.hashsalt": "analogical", "svg.fonttype": "path", **PLAIN_TEXT}), _glyph_warnings():
            figure.savefig(path, dpi=200, metadata={"Date": None} if kind == "svg" else None)
    except OSError as error:
        raise InputError(
            f"The figure cannot be written to {str(path)!r}: {error.strerror}; name another file."
        ) from None


@contextmanager
def _glyph_warnings() -> Iterator[None]:
    """One warning that names cannot be read, instead of one for each character that the font does not have."""
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        yield
    missing = [warning for warning in caught if "missing from font" in str(warning.message)]
    for warning in caught:
        if warning not in missing:
            warnings.warn_explicit(warning.message, warning.category, warning.filename, warning.lineno)
    if missing:
        warnings.warn(
            "The font of the figure lacks some characters of the names, which are drawn as boxes; set another with"
            " matplotlib's font.family.",
            stacklevel=4,
        )


def _bar_chart(axis: Any, names: Sequence[str], shares: NDArray[np.float64], marks: Sequence[float] | None) -> None:
    position = np.arange(len(names))
    known = ~np.isnan(shares)
    best = known & (np.nan_to_num(shares) == np.nanmax(shares, initial=0.0)) & (np.nan_to_num(shares) > 0)
    axis.bar(
        position,
        np.nan_to_num(shares),
        width=0.72 * min(1, 0.3 + len(names) / 10),
        color=np.where(best, BEST, BAR),
        zorder=2,
    )
    axis.scatter(position[~known], np.zeros((~known).sum()), marker="_", s=60, color=MUTED, zorder=3, clip_on=False)
    if marks is not None:
        axis.hlines(marks, position - 0.44, position + 0.44, color=INK, linewidth=1.6, zorder=3)
    every = -(-len(names) // MAX_LABELS)
    labels = [_shortened(name) for name in names[::every]]
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


def _shortened(name: Any, width: int = 18) -> str:
    from analogical.presenting.words import shorten, shown

    return shorten(shown(name), width)


def require_matplotlib() -> "type[Figure]":
    """The class of figures, or an error with the install line."""
    try:
        from matplotlib.figure import Figure
    except ModuleNotFoundError:
        raise MissingDependencyError(
            'Figures need matplotlib, which is not installed. Install it with: pip install "analogical[plot]"'
        ) from None
    return Figure
