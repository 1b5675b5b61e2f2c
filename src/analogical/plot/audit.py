"""Figures of audits: adjusted differences with intervals as a forest plot, and one difference context by context."""

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from analogical.errors import InputError
from analogical.plot.canvas import (
    CHANGED,
    EFFECT,
    INK,
    MOST_ROWS,
    MUTED,
    UNTOLD,
    axes_with_rows,
    key,
    mark_zero,
    short_name,
    significance_keys,
)

if TYPE_CHECKING:
    from matplotlib.axes import Axes

    from analogical.verbs.audit import Audit, Difference

__all__ = ["plot_audit", "plot_forest"]

MOST_DIFFERENCES = 40
"""Rows of a forest plot; it says how many more there are."""


class Row(NamedTuple):
    """A row of a forest plot: a difference, or the name of a feature above its differences."""

    name: str
    difference: "Difference | None" = None
    is_significant: bool = False


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
    of = f" = {short_name(followed.pop())}" if len(followed) == 1 else ""
    return _forest(
        ax,
        rows,
        title=f"{label}{of}: adjusted differences",
        x_label=f"difference in the share of {label}{of}, in percentage points, with {_level(compared[0])} interval",
    )


def plot_audit(result: "Audit", ax: "Axes | None" = None, *, value: Any = None, label: Any = None) -> "Axes":
    """Draw the differences of one audit as a forest plot; a single difference also context by context.

    Parameters
    ----------
    result : Audit
        The result of :func:`analogical.audit`.
    ax : matplotlib Axes, optional
        Where to draw; a new figure if not given.
    value, label : optional
        Show one comparison only, that of this value with the reference, or of this label; with its contexts.

    Returns
    -------
    matplotlib.axes.Axes
        As :func:`plot_forest`. A single comparison is followed by an open circle for each context, those with most
        pairs first, larger ones for more pairs.

    Raises
    ------
    InputError
        If no rows could be compared, or the value or the label is not in the result.

    Examples
    --------
    >>> from analogical import audit, load_table
    >>> ax = audit(load_table("berkeley").to_frame(), "admitted", "gender", weights="count").plot()
    >>> [text.get_text() for text in ax.get_yticklabels()][:3]
    ['adjusted', 'crude (all rows)', 'department=C']
    """
    chosen = _chosen(result, value, label)
    if len(chosen) == 1:
        return _plot_contexts(result, chosen[0], ax)
    followed = {difference.label for difference in chosen}
    what = short_name(followed.pop()) if len(followed) == 1 else "the label"
    return _forest(
        ax,
        _rows_of(result, chosen),
        title=f"{short_name(result.label)} by {short_name(result.feature)}{_given(result.given)}",
        x_label=f"difference in the share of {what} from {short_name(result.reference)}, in percentage points,"
        f" with {_level(result)} interval",
        most=MOST_ROWS,
    )


def _chosen(result: "Audit", value: Any, label: Any) -> "list[Difference]":
    """The differences of a value and a label, or an error that says which there are."""
    from analogical._results import entry_at

    if not result.differences:
        raise InputError(
            f"No two rows could be compared, so there is no difference to draw for {result.feature!r}; name fewer"
            " features with given."
        )
    if value is not None:
        entry_at(value, dict.fromkeys(d.values[1] for d in result.differences), "value")
    if label is not None:
        entry_at(label, dict.fromkeys(d.label for d in result.differences), "label")
    return [
        d for d in result.differences if (value is None or d.values[1] == value) and (label is None or d.label == label)
    ]


def _rows_of(audit: "Audit", differences: "Sequence[Difference]") -> list[Row]:
    """One row per difference, the highest first."""
    from analogical.show.words import marked

    many_labels = len({d.label for d in audit.differences}) > 1
    significant = audit.significant()
    return [
        Row(marked(d.values[1]) + (f": {marked(d.label)}" if many_labels else ""), d, d in significant)
        for d in sorted(differences, key=lambda d: -d.difference)
    ]


def _forest(ax: "Axes | None", rows: list[Row], *, title: str, x_label: str, most: int = MOST_DIFFERENCES) -> "Axes":
    """The rows with the largest differences, in their order; names of features stay."""
    from analogical.show.words import p_words

    by_size = sorted(rows, key=lambda row: -np.inf if row.difference is None else -abs(row.difference.difference))
    shown = [row for row in rows if row in by_size[:most]]
    drawn = {place: row.difference for place, row in enumerate(shown) if row.difference is not None}
    is_significant = [shown[place].is_significant for place in drawn]
    with axes_with_rows(
        ax,
        [row.name for row in shown],
        title=title,
        x_label=x_label,
        beside=[
            "" if row.difference is None else f"{_estimate(row.difference)}   {p_words(row.difference.p_adjusted)}"
            for row in shown
        ],
        legend=[*significance_keys(is_significant, edge=INK), key("white", "crude", "D", CHANGED)],
        n_more=len(rows) - len(shown),
        width=8.0,
    ) as ax:
        for place, difference in drawn.items():
            _draw_crude(ax, place, difference)
            _draw_adjusted(ax, place, difference, shown[place].is_significant)
        _set_reach(ax, [100 * end for d in drawn.values() for end in (d.difference_low, d.difference_high, d.crude)])
    for row, text in zip(shown, ax.get_yticklabels(), strict=True):
        text.set_fontweight("bold" if row.difference is None else "normal")
    return ax


def _plot_contexts(result: "Audit", difference: "Difference", ax: "Axes | None") -> "Axes":
    """One comparison: adjusted, crude, and each context."""
    from analogical.show.words import marked, shown

    is_significant = difference in result.significant()
    mine = [c for c in result.contexts if c.values == difference.values and c.label == difference.label]
    contexts = mine[: MOST_ROWS - 2]
    pairs = np.array([c.pairs for c in contexts], dtype=np.float64)
    differences = [100 * c.difference for c in contexts]
    names = [", ".join(marked(v) for _, v in c.context) or "all rows" for c in contexts]
    if len(result.given) == 1:
        names = [f"{shown(result.given[0])}={name}" for name in names]
    feature, label = (short_name(name) for name in (result.feature, result.label))
    one_of_many = len(result.differences) > 1
    with axes_with_rows(
        ax,
        ["adjusted", "crude (all rows)", *names],
        title=f"{label} by {feature}: {short_name(difference.values[1])}"
        if one_of_many
        else f"{label} by {feature}{_given(result.given)}",
        x_label=f"difference in the share of {short_name(difference.label)} between"
        f" {short_name(difference.values[1])} and {short_name(difference.values[0])}, in percentage points,"
        f" with {_level(result)} interval",
        beside=[
            _estimate(difference),
            f"{100 * difference.crude:+.1f}",
            *(f"{d:+.1f}  {c.rows[1]:,} vs. {c.rows[0]:,} rows" for d, c in zip(differences, contexts, strict=True)),
        ],
        legend=[
            *significance_keys([is_significant], edge=INK),
            key("white", "crude", "D", CHANGED),
            key("white", "one context", "o", MUTED),
        ],
        n_more=max(result.n_contexts - len(contexts), 0),
    ) as ax:
        _draw_adjusted(ax, 0, difference, is_significant)
        _draw_crude(ax, 1, difference)
        sizes = 16 + 110 * pairs / pairs.max(initial=1.0)
        places = 2 + np.arange(len(contexts))
        ax.scatter(differences, places, s=sizes, facecolor="white", edgecolor=MUTED, linewidth=1.3, zorder=3)
        ends = (difference.difference_low, difference.difference_high, difference.crude)
        _set_reach(ax, [100 * end for end in ends] + differences)
    return ax


def _level(result: "Audit") -> str:
    return f"{100 * result.confidence:g} %"


def _given(given: Sequence[str]) -> str:
    """What rows agree on: a name, or how many."""
    if len(given) == 1:
        return f", given {short_name(given[0])}"
    return f", given {len(given)} features" if given else ", nothing given"


def _estimate(difference: "Difference") -> str:
    """A difference with its interval, in points."""
    middle, low, high = (
        100 * x for x in (difference.difference, difference.difference_low, difference.difference_high)
    )
    return f"{middle:+.1f} ({low:.1f} to {high:.1f})"


def _draw_adjusted(ax: "Axes", place: int, difference: "Difference", is_significant: bool) -> None:
    colour = EFFECT if is_significant else UNTOLD
    ends = (100 * difference.difference_low, 100 * difference.difference_high)
    ax.hlines(place, *ends, color=colour, linewidth=2.4, zorder=3)
    ax.plot(100 * difference.difference, place, "s", color=colour, markeredgecolor=INK, markersize=7, zorder=5)


def _draw_crude(ax: "Axes", place: int, difference: "Difference") -> None:
    crude = 100 * difference.crude
    ax.plot(crude, place, "D", markerfacecolor="white", markeredgecolor=CHANGED, markersize=6, zorder=4)


def _set_reach(ax: "Axes", ends: Sequence[float]) -> None:
    """Room for all marks, with a line at 0."""
    lowest, highest = min([0.0, *ends]), max([0.0, *ends])
    room = 0.06 * max(highest - lowest, 1.0)
    ax.set_xlim(lowest - room, highest + room)
    mark_zero(ax)
    ax.xaxis.set_major_formatter(lambda points, _: f"{points:+g}" if points else "0")
