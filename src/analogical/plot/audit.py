"""Figures of audits: adjusted differences with intervals as a forest plot, and one difference context by context."""

import math
from collections.abc import Sequence
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from analogical._results import entry_at
from analogical.errors import InputError
from analogical.plot.canvas import (
    CHANGED,
    EFFECT,
    INK,
    MAX_DRAWN_ROWS,
    MUTED,
    NEUTRAL,
    axes_with_rows,
    key,
    mark_zero,
    short_name,
    significance_keys,
)
from analogical.show.words import marked, p_words, shown

if TYPE_CHECKING:
    from matplotlib.axes import Axes

    from analogical.questions.audit import Audit, Difference

__all__ = ["plot_audit", "plot_forest"]

MAX_FOREST_ROWS = 40
"""Maximum number of rows of a forest plot, which says how many more there are."""


class Square(NamedTuple):
    """An adjusted difference with its interval, in points."""

    middle: float
    low: float
    high: float
    is_significant: bool


class Diamond(NamedTuple):
    """A crude difference, in points."""

    middle: float


class Circle(NamedTuple):
    """The difference in one context, in points; its area shows the number of pairs."""

    middle: float
    n_pairs: int


class Row(NamedTuple):
    """A row of a forest plot: its name, a text beside it, and what is drawn in it; a heading has its name only."""

    name: str
    beside: str = ""
    marks: tuple[Square | Diamond | Circle, ...] = ()

    @property
    def size(self) -> float:
        """The size of the adjusted difference; infinite without one, so that headings stay."""
        return next((abs(mark.middle) for mark in self.marks if isinstance(mark, Square)), math.inf)


def plot_forest(*audits: "Audit", ax: "Axes | None" = None) -> "Axes":
    """Draw the adjusted differences of one or more audits as a forest plot: every value against the reference.

    Parameters
    ----------
    *audits : Audit
        Results of :func:`analogical.audit` for the same label.
    ax : matplotlib Axes, optional
        Where to draw; a new figure if not given.

    Returns
    -------
    matplotlib.axes.Axes
        A square with its interval is the adjusted (Mantel-Haenszel) difference in label shares in percentage points,
        blue if it is significant and otherwise grey; an orange diamond is the crude difference over all rows. To the
        right are the difference, its interval and the adjusted p-value.

    Raises
    ------
    InputError
        If no audit is given, or no rows could be compared in any.

    Examples
    --------
    >>> from analogical import Study, audit, load_table
    >>> from analogical.plot import plot_forest
    >>> titanic = Study(load_table("titanic").to_frame(), "survived", weights="count")
    >>> ax = plot_forest(audit(titanic, feature="sex"), audit(titanic, feature="age"))
    >>> [text.get_text() for text in ax.get_yticklabels()]
    ['sex (reference: male)', '   female', 'age (reference: adult)', '   child']
    """
    compared = [audit for audit in audits if audit.differences]
    if not compared:
        names = ", ".join(repr(audit.feature) for audit in audits)
        raise InputError(
            f"There is no difference to draw{f' for {names}' if names else ''}: no two rows could be compared; give"
            " audits with fewer given features."
        )
    rows: list[Row] = []
    for audit in compared:
        rows.append(Row(f"{short_name(audit.feature, 14)} (reference: {short_name(audit.reference, 12)})"))
        rows += [row._replace(name=f"   {row.name}") for row in _rows_of(audit, audit.differences)]
    label = short_name(compared[0].label)
    followed = {difference.label for audit in compared for difference in audit.differences}
    of = f"{label} = {short_name(followed.pop())}" if len(followed) == 1 else label
    shown_rows = _largest(rows, MAX_FOREST_ROWS)
    n_more = len(rows) - len(shown_rows)
    return _draw(ax, compared[0], shown_rows, title=f"{of}: adjusted differences", of=of, n_more=n_more)


def plot_audit(result: "Audit", ax: "Axes | None", *, value: Any, label: Any) -> "Axes":
    """The differences of one audit; a single one also context by context."""
    if not result.differences:
        raise InputError(
            f"No two rows could be compared, so there is no difference to draw for {result.feature!r}; name fewer"
            " features with given."
        )
    differences = result.differences
    if value is not None:
        entry_at(value, dict.fromkeys(d.values[1] for d in differences), "value")
        differences = tuple(d for d in differences if d.values[1] == value)
    if label is not None:
        entry_at(label, dict.fromkeys(d.label for d in result.differences), "label")
        differences = tuple(d for d in differences if d.label == label)
    if len(differences) == 1:
        return _plot_contexts(result, differences[0], ax)
    followed = {difference.label for difference in differences}
    what = short_name(followed.pop()) if len(followed) == 1 else "the label"
    rows = _rows_of(result, differences)
    return _draw(
        ax,
        result,
        _largest(rows, MAX_DRAWN_ROWS),
        title=f"{short_name(result.label)} by {short_name(result.feature)}{_given(result.given)}",
        of=f"{what} from {short_name(result.reference)}",
        n_more=len(rows) - MAX_DRAWN_ROWS,
    )


def _rows_of(audit: "Audit", differences: "Sequence[Difference]") -> list[Row]:
    """One row per difference, the highest first."""
    many_labels = len({d.label for d in audit.differences}) > 1
    significant = audit.significant()
    return [
        Row(
            name=marked(d.values[1]) + (f": {marked(d.label)}" if many_labels else ""),
            beside=f"{_estimate(d)}   {p_words(d.p_adjusted)}",
            marks=(Diamond(100 * d.crude), _square(d, is_significant=d in significant)),
        )
        for d in sorted(differences, key=lambda d: -d.difference)
    ]


def _square(difference: "Difference", *, is_significant: bool) -> Square:
    low, high = 100 * difference.difference_low, 100 * difference.difference_high
    return Square(100 * difference.difference, low, high, is_significant)


def _largest(rows: list[Row], most: int) -> list[Row]:
    """The rows with the largest differences, in their order; headings stay."""
    largest = sorted(rows, key=lambda row: -row.size)[:most]
    return [row for row in rows if row in largest]


def _plot_contexts(result: "Audit", difference: "Difference", ax: "Axes | None") -> "Axes":
    """One comparison: adjusted, crude, and each context."""
    mine = [c for c in result.contexts if c.values == difference.values and c.label == difference.label]
    contexts = mine[: MAX_DRAWN_ROWS - 2]
    named = f"{shown(result.given[0])}=" if len(result.given) == 1 else ""
    adjusted = _square(difference, is_significant=difference in result.significant())
    rows = [
        Row("adjusted", _estimate(difference), (adjusted,)),
        Row("crude (all rows)", f"{100 * difference.crude:+.1f}", (Diamond(100 * difference.crude),)),
        *(
            Row(
                f"{named}{', '.join(marked(v) for _, v in c.context) or 'all rows'}",
                f"{100 * c.difference:+.1f}  {c.rows[1]:,} vs. {c.rows[0]:,} rows",
                (Circle(100 * c.difference, c.pairs),),
            )
            for c in contexts
        ),
    ]
    reference, value = (short_name(name) for name in difference.values)
    about = f": {value}" if len(result.differences) > 1 else _given(result.given)
    return _draw(
        ax,
        result,
        rows,
        title=f"{short_name(result.label)} by {short_name(result.feature)}{about}",
        of=f"{short_name(difference.label)} between {value} and {reference}",
        n_more=result.n_contexts - len(contexts),
    )


def _draw(ax: "Axes | None", result: "Audit", rows: list[Row], *, title: str, of: str, n_more: int) -> "Axes":
    """Squares with intervals are adjusted differences, diamonds crude ones, circles those of single contexts."""
    marks = [(place, mark) for place, row in enumerate(rows) for mark in row.marks]
    squares = [mark for _, mark in marks if isinstance(mark, Square)]
    circles = {place: mark for place, mark in marks if isinstance(mark, Circle)}
    with axes_with_rows(
        ax,
        [row.name for row in rows],
        title=title,
        x_label=f"difference in the share of {of}, in percentage points, with {100 * result.confidence:g} % interval",
        beside=[row.beside for row in rows],
        legend=[
            *significance_keys([square.is_significant for square in squares], edge=INK),
            key("white", "crude", "D", CHANGED),
            *([key("white", "one context", "o", MUTED)] if circles else []),
        ],
        n_more=max(n_more, 0),
        width=8.0,
    ) as ax:
        for place, mark in marks:
            if isinstance(mark, Square):
                colour = EFFECT if mark.is_significant else NEUTRAL
                ax.hlines(place, mark.low, mark.high, color=colour, linewidth=2.4, zorder=3)
                ax.plot(mark.middle, place, "s", color=colour, markeredgecolor=INK, markersize=7, zorder=5)
            elif isinstance(mark, Diamond):
                ax.plot(
                    mark.middle, place, "D", markerfacecolor="white", markeredgecolor=CHANGED, markersize=6, zorder=4
                )
        if circles:
            points = [circle.middle for circle in circles.values()]
            pairs = np.array([circle.n_pairs for circle in circles.values()])
            sizes = 16 + 110 * pairs / pairs.max()
            ax.scatter(points, [*circles], s=sizes, facecolor="white", edgecolor=MUTED, linewidth=1.3, zorder=3)
        ends = [0.0, *(mark.middle for _, mark in marks if not isinstance(mark, Square))]
        ends += [end for square in squares for end in (square.low, square.high)]
        room = 0.06 * max(max(ends) - min(ends), 1.0)
        ax.set_xlim(min(ends) - room, max(ends) + room)
        ax.xaxis.set_major_formatter(lambda points, _: f"{points:+g}" if points else "0")
        mark_zero(ax)
    for row, text in zip(rows, ax.get_yticklabels(), strict=True):
        text.set_fontweight("normal" if row.marks else "bold")
    return ax


def _given(given: Sequence[str]) -> str:
    """The given features as the end of a title: a name, or their number."""
    if len(given) == 1:
        return f", given {short_name(given[0])}"
    return f", given {len(given)} features" if given else ", nothing given"


def _estimate(difference: "Difference") -> str:
    """A difference with its interval, in points."""
    low, high = 100 * difference.difference_low, 100 * difference.difference_high
    return f"{100 * difference.difference:+.1f} ({low:.1f} to {high:.1f})"
