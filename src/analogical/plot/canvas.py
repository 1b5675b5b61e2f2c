"""What all figures share: the colours and their meaning, axes with one row per name, names as plain text, and files."""

import sys
import warnings
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from textwrap import fill
from typing import TYPE_CHECKING, Any, NamedTuple, cast

from analogical._types import Floats
from analogical.errors import InputError, MissingDependencyError
from analogical.show.words import shorten, shorten_apart, shown

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure
    from matplotlib.layout_engine import ConstrainedLayoutEngine


class Palette(NamedTuple):
    """The colours of all figures, by what they mean."""

    ink: str = "#1f2933"
    muted: str = "#5f6b78"
    grid: str = "#e3e7eb"
    effect: str = "#3b6ea8"  # blue: a significant effect
    neutral: str = "#b4bcc6"  # grey: not significant, or nothing changed
    changed: str = "#d9822b"  # orange: what changed, or what stands out
    changed_back: str = "#f0c690"  # light orange: what changed in the other direction


COLOURS = Palette()
MAX_DRAWN_ROWS = 20
"""Maximum number of rows of a figure, which says how many more there are."""
BAR_HEIGHT = 0.66
"""Height of a bar as a share of its row."""
PLAIN_TEXT: dict[Any, bool] = {"text.parse_math": False, "text.usetex": False}
"""Names are drawn as they are: a dollar sign does not begin a formula."""


@contextmanager
def plain_text() -> Iterator[None]:
    """Draw text as it is, whatever the user's settings say about formulas."""
    require_matplotlib()
    import matplotlib as mpl

    # Not rc_context: it would also reset the backend, which is chosen with the first figure.
    before = {name: mpl.rcParams[name] for name in PLAIN_TEXT}
    mpl.rcParams.update(PLAIN_TEXT)
    try:
        yield
    finally:
        mpl.rcParams.update(before)


def require_matplotlib() -> "type[Figure]":
    """Matplotlib's class of figures, or an error that says how to install it."""
    try:
        from matplotlib.figure import Figure
    except ModuleNotFoundError:
        raise MissingDependencyError(
            'Figures need matplotlib, which is not installed. Install it with: pip install "analogical[plot]"'
        ) from None
    return Figure


def new_axes(width: float, height: float) -> "Axes":
    """Axes in a new figure of this size, in inches.

    Where pyplot is in use, and in notebooks, the figure is managed and shown by pyplot. Elsewhere, as on the command
    line, no window system is needed, and the figure is deleted with its last reference.
    """
    make = require_matplotlib()
    shell = sys.modules.get("IPython")
    if shell is not None and shell.get_ipython() is not None:
        import matplotlib.pyplot  # noqa: F401
    if (pyplot := sys.modules.get("matplotlib.pyplot")) is not None:
        make = pyplot.figure
    figure = make(figsize=(width, height), layout="constrained", facecolor="white")
    cast("ConstrainedLayoutEngine", figure.get_layout_engine()).set(w_pad=0.08, h_pad=0.08)
    return figure.subplots()


# ---------------------------------------------------------------- axes with one row per name


@contextmanager
def axes_with_rows(
    ax: "Axes | None",
    names: Sequence[Any],
    *,
    title: str,
    x_label: str,
    beside: Sequence[str] = (),
    legend: Sequence[Any] = (),
    n_more: int = 0,
    empty: str = "",
    above: int = 0,
    width: float = 7.6,
) -> "Iterator[Axes]":
    """Axes with one row per name, the first on top, to draw on; names, title, labels and legend are added at the end.

    ``beside`` are texts to the right of the rows, ``legend`` its handles in one line, ``n_more`` the number of rows
    left out, ``empty`` the text of a figure without rows, ``above`` the space between axes and legend, in points.
    """
    n_rows, muted = len(names), COLOURS.muted
    with plain_text():
        ax = new_axes(width, 1.25 + 0.27 * max(n_rows + bool(n_more), 2)) if ax is None else ax
        yield ax
        place: dict[str, Any] = {"xycoords": ax.get_yaxis_transform(), "textcoords": "offset points", "va": "center"}
        if not n_rows:
            ax.text(0.5, 0.5, empty, transform=ax.transAxes, ha="center", va="center", color=muted)
        ax.set_yticks(range(n_rows), short_names(names), fontsize=9, color=COLOURS.ink)
        ax.set_ylim(n_rows - 0.4 + bool(n_more), -0.6)
        if n_more:
            text = f"and {n_more:,} more"
            ax.annotate(text, (0, n_rows), (-4, 0), ha="right", fontsize=9, fontstyle="italic", color=muted, **place)
        for row, text in enumerate(beside):
            ax.annotate(text, (1, row), (6, 0), ha="left", fontsize=8.5, color=muted, **place)
        ax.tick_params(axis="x", labelsize=8.5, labelcolor=muted)
        ax.tick_params(length=0)
        ax.set_xlabel(fill(x_label, 64), fontsize=9, color=muted, loc="left")
        ax.grid(visible=False, axis="y")
        ax.grid(axis="x", color=COLOURS.grid, linewidth=0.8, zorder=0)
        ax.set_axisbelow(True)
        ax.spines[:].set_visible(False)
        set_title(ax, title, above=24 + above if legend else 6 + above)
        if legend:
            from matplotlib.transforms import ScaledTranslation

            ax.legend(
                handles=legend,
                loc="lower left",
                bbox_to_anchor=(0, 1),
                bbox_transform=ax.transAxes + ScaledTranslation(0, above / 72, ax.figure.dpi_scale_trans),
                ncols=len(legend),
                frameon=False,
                fontsize=8.5,
                labelcolor=muted,
                borderaxespad=0.3,
                borderpad=0,
                handlelength=1.1,
                handleheight=0.8,
                handletextpad=0.5,
                columnspacing=1.4,
            )
        for made_earlier in (*ax.get_yticklabels(), *ax.get_xticklabels(), ax.xaxis.label):  # on the user's axes
            made_earlier.set(parse_math=False, usetex=False)


def key(colour: str, label: str, marker: str = "s", edge: str | None = None) -> Any:
    """A handle of a legend: a marker with its colour and label."""
    from matplotlib.lines import Line2D

    mark = Line2D([], [], linestyle="", marker=marker, markersize=7, label=label)
    mark.set(markerfacecolor=colour, markeredgecolor=edge or colour)
    return mark


def draw_bars(ax: "Axes", lengths: Sequence[float] | Floats, colours: Sequence[str]) -> None:
    """One bar per row, and a line at zero."""
    ax.barh(range(len(lengths)), lengths, BAR_HEIGHT, color=colours, zorder=2)
    mark_zero(ax)


def mark_zero(ax: "Axes") -> None:
    """A line at zero."""
    ax.axvline(0, color=COLOURS.muted, linewidth=0.9, zorder=2.5)


def set_title(ax: "Axes", title: str, *, above: int = 6) -> None:
    """A title on the left, ``above`` points above the axes."""
    ax.set_title(
        title, loc="left", fontsize=11, color=COLOURS.ink, fontweight="bold", pad=above, parse_math=False, usetex=False
    )


def short_name(name: Any, width: int = 24) -> str:
    """A name as one line without control characters, cut to ``width`` characters."""
    return shorten(shown(name), width)


def short_names(names: Sequence[Any], width: int = 28) -> list[str]:
    """Names cut to ``width`` characters, different ones in different ways where possible."""
    return shorten_apart([shown(name) for name in names], width)


# ---------------------------------------------------------------- files


def check_target(path: str | Path) -> str:
    """The format of a figure that is written to this file; refused if it cannot be."""
    require_matplotlib()
    from matplotlib.backend_bases import FigureCanvasBase

    path = Path(path)
    kind = path.suffix.lower().lstrip(".")
    if kind not in FigureCanvasBase.get_supported_filetypes():
        raise InputError(f"A figure cannot be written to {str(path)!r}; name a file that ends in .png, .svg or .pdf.")
    if not path.parent.is_dir():
        raise InputError(f"There is no folder {str(path.parent)!r} to write the figure to; create it first.")
    return kind


def save_figure(figure: "Figure", path: str | Path, *, dpi: int = 200) -> None:
    """Write a figure to a file in the format of its suffix (.png, .svg, .pdf); the same figure gives the same bytes.

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
    metadata = {"Date": None} if check_target(path) == "svg" else None
    import matplotlib as mpl

    settings = {"svg.hashsalt": "analogical", "svg.fonttype": "path", **PLAIN_TEXT}
    try:
        with mpl.rc_context(settings), warnings.catch_warnings(record=True) as caught:
            warnings.simplefilter("always")
            figure.savefig(path, dpi=dpi, metadata=metadata)
    except OSError as error:
        raise InputError(
            f"The figure cannot be written to {str(path)!r}: {error.strerror}; name another file."
        ) from None
    missing = [warning for warning in caught if "missing from font" in str(warning.message)]
    for warning in caught:
        if warning not in missing:
            warnings.warn_explicit(warning.message, warning.category, warning.filename, warning.lineno)
    if missing:  # one warning instead of one for each character
        warnings.warn(
            "The font of the figure lacks some characters of the names, which are drawn as boxes; set another with"
            " matplotlib's font.family.",
            stacklevel=2,
        )
