"""What all figures share: the colours and their meaning, axes with one row per name, names as plain text, and files."""

import sys
import warnings
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from textwrap import fill
from typing import TYPE_CHECKING, Any, cast

from analogical.errors import InputError, MissingDependencyError

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure
    from matplotlib.layout_engine import ConstrainedLayoutEngine
    from matplotlib.text import Text

__all__ = [
    "MOST_ROWS",
    "add_legend",
    "check_target",
    "label_rows",
    "mark_zero",
    "new_axes",
    "new_row_axes",
    "plain_text",
    "require_matplotlib",
    "save_figure",
    "set_title",
    "short_name",
    "short_names",
    "write_beside",
]

INK = "#1f2933"
MUTED = "#5f6b78"
GRID = "#e3e7eb"
EFFECT = "#3b6ea8"
"""Blue: a significant effect."""
UNTOLD = "#b4bcc6"
"""Grey: not significant, or nothing changed."""
CHANGED = "#d9822b"
"""Orange: what changed, or what stands out."""
CHANGED_BACK = "#f0c690"
"""Light orange: what changed in the other direction."""

MOST_ROWS = 20
"""Features that a figure shows, best first; it says how many more there are."""
LONGEST_NAME = 28
"""Characters of a name beside its row."""
LONGEST_LINE = 56
"""Characters of a line below the axes."""
LONGEST_TITLE = 36
"""Characters of a name in a title."""
WIDTH = 6.6
"""Inches that a figure with one row per feature is wide."""
ROW = 0.27
"""Inches that each row is high."""
PLAIN_TEXT: dict[Any, bool] = {"text.parse_math": False, "text.usetex": False}
"""Names are drawn as they are: a dollar sign does not begin a formula."""


@contextmanager
def plain_text() -> Iterator[None]:
    """Draw text as it is, whatever the user's settings say about formulas; matplotlib is needed from here on."""
    require_matplotlib()
    import matplotlib as mpl

    # Not rc_context: it would also undo that the backend, which is set up with the first figure, is interactive.
    before = {name: mpl.rcParams[name] for name in PLAIN_TEXT}
    mpl.rcParams.update(PLAIN_TEXT)
    try:
        yield
    finally:
        mpl.rcParams.update(before)


def require_matplotlib() -> "type[Figure]":
    """The class of figures, or an error with the install line.

    Examples
    --------
    >>> require_matplotlib().__name__
    'Figure'
    """
    try:
        from matplotlib.figure import Figure
    except ModuleNotFoundError:
        raise MissingDependencyError(
            'Figures need matplotlib, which is not installed. Install it with: pip install "analogical[plot]"'
        ) from None
    return Figure


def new_axes(width: float, height: float) -> "Axes":
    """Axes in a figure of their own, of so many inches.

    Where pyplot is in use, the figure is one of pyplot's and is shown as all others are. Elsewhere, as on the command
    line, no window system is needed, and the figure is gone when it is dropped.
    """
    pyplot = _pyplot_in_use()
    make = require_matplotlib() if pyplot is None else pyplot.figure
    figure = make(figsize=(width, height), layout="constrained", facecolor="white")
    cast("ConstrainedLayoutEngine", figure.get_layout_engine()).set(w_pad=0.08, h_pad=0.08)
    return figure.subplots()


def _pyplot_in_use() -> Any:
    """Pyplot where someone uses it, and in notebooks, which show its figures; otherwise None."""
    shell = sys.modules.get("IPython")
    if shell is not None and shell.get_ipython() is not None:
        import matplotlib.pyplot  # noqa: F401
    return sys.modules.get("matplotlib.pyplot")


def new_row_axes(n_rows: int, *, width: float = WIDTH) -> "Axes":
    """Axes in a figure of their own, with room for so many rows."""
    return new_axes(width, 1.25 + ROW * max(n_rows, 2))


def short_name(name: Any, width: int = 18) -> str:
    """A name of the user's as one harmless line, cut to a number of characters."""
    from analogical.show.words import shorten, shown

    return shorten(shown(name), width)


def short_names(names: Sequence[Any], width: int = LONGEST_NAME) -> list[str]:
    """Names of the user's, cut so that different ones still look different where that is possible."""
    from analogical.show.words import shorten_apart, shown

    return shorten_apart([shown(name) for name in names], width, "…")


def set_title(ax: "Axes", title: str, *, above: int = 6) -> None:
    """A title on the left, so many points above the axes."""
    _as_it_is(ax.set_title(title, loc="left", fontsize=11, color=INK, fontweight="bold", pad=above))


def label_rows(
    ax: "Axes",
    names: Sequence[Any],
    *,
    title: str,
    x_label: str,
    n_more: int = 0,
    more: str = "",
    above: int = 24,
) -> None:
    """One row per name, the first one on top; a title above, what the axis means below, and how many more there are.

    Above the axes so many points are left free for the legend.
    """
    n_rows = len(names)
    ax.set_yticks(range(n_rows), short_names(names), fontsize=9, color=INK)
    ax.set_ylim(n_rows - 0.4 + bool(n_more), -0.6)
    if n_more:
        note = ax.annotate(
            f"and {n_more:,} more{f' {more}' if more else ''}",
            (0, n_rows),
            xycoords=ax.get_yaxis_transform(),
            xytext=(-4, 0),
            textcoords="offset points",
            ha="right",
            va="center",
            fontsize=9,
            color=MUTED,
            style="italic",
        )
        _as_it_is(note)
    ax.tick_params(axis="x", labelsize=8.5, labelcolor=MUTED)
    ax.tick_params(length=0)
    ax.set_xlabel(fill(x_label, LONGEST_LINE), fontsize=9, color=MUTED, loc="left")
    ax.locator_params(axis="x", nbins=6)
    ax.grid(visible=False, axis="y")
    ax.grid(axis="x", color=GRID, linewidth=0.8, zorder=0)
    ax.set_axisbelow(True)
    for side in ax.spines.values():
        side.set_visible(False)
    set_title(ax, title, above=above)
    for text in (*ax.get_yticklabels(), *ax.get_xticklabels(), ax.xaxis.label):
        _as_it_is(text)


def mark_zero(ax: "Axes") -> None:
    """A line where bars begin."""
    ax.axvline(0, color=MUTED, linewidth=0.9, zorder=2.5)


def write_beside(ax: "Axes", texts: Sequence[str]) -> None:
    """A text to the right of each row."""
    for place, text in enumerate(texts):
        note = ax.annotate(
            text,
            (1, place),
            xycoords=ax.get_yaxis_transform(),
            xytext=(6, 0),
            textcoords="offset points",
            ha="left",
            va="center",
            fontsize=8.5,
            color=MUTED,
        )
        _as_it_is(note)


def add_legend(ax: "Axes", handles: Sequence[Any], *, above: int = 0) -> None:
    """The one legend of a figure: a line between the title and the axes, so many points above them."""
    if not handles:
        return
    from matplotlib.transforms import ScaledTranslation

    legend = ax.legend(
        handles=handles,
        loc="lower left",
        bbox_to_anchor=(0, 1),
        bbox_transform=ax.transAxes + ScaledTranslation(0, above / 72, ax.figure.dpi_scale_trans),
        ncols=len(handles),
        frameon=False,
        fontsize=8.5,
        labelcolor=MUTED,
        borderaxespad=0.3,
        borderpad=0,
        handlelength=1.1,
        handleheight=0.8,
        handletextpad=0.5,
        columnspacing=1.4,
    )
    for text in legend.get_texts():
        _as_it_is(text)


def _as_it_is(text: "Text") -> None:
    """Text that was made before, on the user's axes, may still take a dollar sign as the start of a formula."""
    text.set_parse_math(False)
    text.set_usetex(False)


def check_target(path: str | Path) -> None:
    """Refuse a file that no figure can be written to, before the work."""
    require_matplotlib()
    from matplotlib.backend_bases import FigureCanvasBase

    path = Path(path)
    if path.suffix.lower().lstrip(".") not in FigureCanvasBase.get_supported_filetypes():
        raise InputError(f"A figure cannot be written to {str(path)!r}; name a file that ends in .png, .svg or .pdf.")
    if not path.parent.is_dir():
        raise InputError(f"There is no folder {str(path.parent)!r} to write the figure to; create it first.")


def save_figure(figure: "Figure", path: str | Path, *, dpi: int = 200) -> None:
    """Write a figure to a file; its ending (.png, .svg, .pdf) says how. The same figure gives the same bytes.

    Examples
    --------
    >>> import tempfile
    >>> from analogical import load_table, relevance
    >>> ax = relevance(load_table("titanic").to_frame(), "survived", weights="count").plot()
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     save_figure(ax.figure, Path(folder, "titanic.svg"))
    ...     [path.name for path in Path(folder).iterdir()]
    ['titanic.svg']
    """
    check_target(path)
    path = Path(path)
    kind = path.suffix.lower().lstrip(".")
    import matplotlib as mpl

    try:
        with mpl.rc_context({"svg.hashsalt": "analogical", "svg.fonttype": "path", **PLAIN_TEXT}), _glyph_warnings():
            figure.savefig(path, dpi=dpi, metadata={"Date": None} if kind == "svg" else None)
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
