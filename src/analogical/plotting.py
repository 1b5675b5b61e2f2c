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
    from matplotlib.figure import Figure
    from matplotlib.layout_engine import ConstrainedLayoutEngine

__all__ = ["bar_charts", "require_matplotlib", "save_figure"]

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


def _shortened(name: str, width: int = 18) -> str:
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
