"""Figures of one feature: adjusted and crude differences of an audit, and transitions."""

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

import numpy as np

from analogical.errors import InputError
from analogical.plot.canvas import (
    CHANGED,
    CHANGED_BACK,
    EFFECT,
    INK,
    MOST_ROWS,
    MUTED,
    UNTOLD,
    add_legend,
    label_rows,
    mark_zero,
    new_row_axes,
    plain_text,
    short_name,
    short_names,
    write_beside,
)

if TYPE_CHECKING:
    from matplotlib.axes import Axes

    from analogical.verbs.audit import Audit, Difference, InContext
    from analogical.verbs.evidence import Transition, Transitions

__all__ = ["plot_audit", "plot_transitions"]

NAME = 24
"""Characters of a value or a name in a title."""
TITLE = 42
"""Characters of a title that have room, less those between its words."""


def plot_audit(result: "Audit", ax: "Axes | None" = None, *, value: Any = None, label: Any = None) -> "Axes":
    """Draw adjusted and crude differences, in points; a single one also context by context.

    Parameters
    ----------
    result : Audit
        What :func:`analogical.audit` found.
    ax : matplotlib Axes, optional
        Where to draw; a new figure if not given.
    value, label : optional
        Show one comparison only, that of this value with the reference, or of this label; with its contexts.

    Returns
    -------
    matplotlib.axes.Axes
        A dot with its interval is the adjusted (Mantel-Haenszel) difference, blue if it is significant and otherwise
        grey; an orange diamond is the crude difference over all rows. A single comparison is followed by an open circle
        for each context, those with most pairs first, larger ones for more pairs.

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
    found = _chosen(result, value, label)
    found = sorted(found, key=lambda d: -abs(d.difference))
    contexts = _contexts_of(result, found[0]) if len(found) == 1 else []
    n_differences = min(len(found), MOST_ROWS)
    with plain_text():
        if contexts:
            n_all = result.n_contexts
            ax = new_row_axes(2 + len(contexts) + (n_all > len(contexts))) if ax is None else ax
            _forest(ax, result, found[0], contexts)
        else:
            n_more = len(found) - n_differences
            ax = new_row_axes(n_differences + bool(n_more)) if ax is None else ax
            _several(ax, result, sorted(found[:n_differences], key=lambda d: -d.difference), n_more)
        mark_zero(ax)
    return ax


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


def _contexts_of(result: "Audit", found: "Difference") -> "list[InContext]":
    mine = [c for c in result.contexts if c.values == found.values and c.label == found.label]
    return mine[: MOST_ROWS - 2]


def _forest(ax: "Axes", result: "Audit", found: "Difference", contexts: "Sequence[InContext]") -> None:
    """One comparison: adjusted, crude, and each context."""
    from analogical.show.words import marked, shown

    _adjusted(ax, 0, found, result.level)
    _crude(ax, 1, found)
    pairs = np.array([c.pairs for c in contexts], dtype=np.float64)
    differences = [100 * c.difference for c in contexts]
    sizes = 16 + 110 * pairs / pairs.max()
    places = 2 + np.arange(len(contexts))
    ax.scatter(differences, places, s=sizes, facecolor="white", edgecolor=MUTED, linewidth=1.3, zorder=3)
    names = [", ".join(marked(v) for _, v in c.context) or "all rows" for c in contexts]
    if len(result.given) == 1:
        names = [f"{shown(result.given[0])}={name}" for name in names]
    label_rows(
        ax,
        ["adjusted", "crude (all rows)", *names],
        title=_title(result, [found]),
        x_label=_axis_of(found),
        n_more=max(result.n_contexts - len(contexts), 0),
        more="contexts",
    )
    _set_reach(ax, [100 * d for d in (found.difference_low, found.difference_high, found.crude)] + differences)
    write_beside(
        ax,
        [
            f"{100 * found.difference:+.1f}",
            f"{100 * found.crude:+.1f}",
            *(f"{d:+.1f}  ({c.rows[0]:,} and {c.rows[1]:,} rows)" for d, c in zip(differences, contexts, strict=True)),
        ],
    )
    add_legend(ax, [*_legend([found], result.level), _marker("o", "white", MUTED, "one context")])


def _several(ax: "Axes", result: "Audit", found: "Sequence[Difference]", n_more: int) -> None:
    """Several comparisons: adjusted and crude in one row each."""
    for place, difference in enumerate(found):
        _crude(ax, place, difference)
        _adjusted(ax, place, difference, result.level)
    many_labels = len({d.label for d in result.differences}) > 1
    names = [_name_of(d, many_labels) for d in found]
    one_label = found[0] if len({d.label for d in found}) == 1 else None
    label_rows(
        ax,
        names,
        title=_title(result, found),
        x_label=_axis_of(found[0], one=one_label is not None),
        n_more=n_more,
    )
    ends = [100 * end for d in found for end in (d.difference_low, d.difference_high, d.crude)]
    _set_reach(ax, ends)
    write_beside(ax, [f"{100 * d.difference:+.1f}" for d in found])
    add_legend(ax, _legend(found, result.level))


def _name_of(found: "Difference", with_label: bool) -> str:
    from analogical.show.words import marked

    value = marked(found.values[1])
    return f"{value}: {marked(found.label)}" if with_label else value


def _title(result: "Audit", found: "Sequence[Difference]") -> str:
    feature, label = (short_name(name, NAME) for name in (result.feature, result.label))
    if len(found) == 1 and len(result.differences) > 1:
        return f"{label} by {feature}: {short_name(found[0].values[1], NAME)}"
    return f"{label} by {feature}{_given(result, TITLE - len(label) - len(feature))}"


def _given(result: "Audit | Transitions", room: int) -> str:
    """What rows agree on: a short name, or how many; nothing where there is no room for it."""
    n = len(result.given)
    words = (f", given {short_name(result.given[0], NAME)}",) if n == 1 else ()
    words = (*words, f", given {n} feature{'' if n == 1 else 's'}" if n else ", nothing given")
    return next((text for text in words if len(text) <= room), "")


def _axis_of(found: "Difference", one: bool = True) -> str:
    reference = short_name(found.values[0], NAME)
    what = short_name(found.label, NAME) if one else "the label"
    return f"difference in the share of {what} from {reference}, in points"


def _set_reach(ax: "Axes", ends: Sequence[float]) -> None:
    """Room for all marks, with 0 in sight."""
    lowest, highest = min([0.0, *ends]), max([0.0, *ends])
    room = 0.06 * max(highest - lowest, 1.0)
    ax.set_xlim(lowest - room, highest + room)
    ax.xaxis.set_major_formatter(lambda points, _: f"{points:+g}" if points else "0")


def _adjusted(ax: "Axes", place: int, found: "Difference", level: float) -> None:
    colour = EFFECT if _is_told(found, level) else UNTOLD
    low, middle, high = (100 * x for x in (found.difference_low, found.difference, found.difference_high))
    ax.hlines(place, low, high, color=colour, linewidth=2.4, zorder=3)
    ax.plot(middle, place, "o", color=colour, markeredgecolor=INK, markersize=7, zorder=5)


def _crude(ax: "Axes", place: int, found: "Difference") -> None:
    ax.plot(100 * found.crude, place, "D", markerfacecolor="white", markeredgecolor=CHANGED, markersize=6, zorder=4)


def _is_told(found: "Difference", level: float) -> bool:
    return found.smallest_p < level and found.p_adjusted < level


def _legend(found: "Sequence[Difference]", level: float) -> list[Any]:
    told = {_is_told(d, level) for d in found}
    words = {True: "significant", False: "not significant"}
    adjusted = [_marker("o", EFFECT if is_told else UNTOLD, INK, words[is_told]) for is_told in sorted(told)[::-1]]
    return [*adjusted, _marker("D", "white", CHANGED, "crude")]


def _marker(shape: str, face: str, edge: str, label: str) -> Any:
    from matplotlib.lines import Line2D

    return Line2D([], [], linestyle="", marker=shape, markerfacecolor=face, markeredgecolor=edge, label=label)


# ---------------------------------------------------------------- which change of value changes the label


def plot_transitions(result: "Transitions", ax: "Axes | None" = None) -> "Axes":
    """Draw how often the label changes with each change of value, the changes with most pairs first.

    Parameters
    ----------
    result : Transitions
        What :func:`analogical.transitions` found.
    ax : matplotlib Axes, optional
        Where to draw; a new figure if not given.

    Returns
    -------
    matplotlib.axes.Axes
        One bar for each change of value: the share of its pairs whose label changes, orange, and of those whose label
        stays, grey. With two classes the two directions have a part each. Beside it stands the number of pairs.

    Raises
    ------
    InputError
        If no two rows that agree on the given features differ on this one.

    Examples
    --------
    >>> from analogical import load_table, transitions
    >>> found = transitions(load_table("berkeley").to_frame(), "admitted", "gender", weights="count")
    >>> [round(float(bar.get_width()), 3) for bar in found.plot().patches]
    [0.2, 0.177, 0.623]
    """
    if not result.counts:
        raise InputError(f"No two rows were compared for {result.feature!r}, so it has no transitions to draw.")
    from analogical.show.words import marked

    by_values: dict[tuple[Any, Any], list[Transition]] = {}
    for transition in result.counts:
        by_values.setdefault(transition.values, []).append(transition)
    totals = {values: sum(t.pairs for t in found) for values, found in by_values.items()}
    shown = sorted(by_values, key=lambda values: -totals[values])[:MOST_ROWS]
    n_more = len(by_values) - len(shown)
    parts = _parts(result)
    feature, label = (short_name(name, NAME) for name in (result.feature, result.label))
    values = list(dict.fromkeys(value for two in shown for value in two))
    short = dict(zip(values, short_names([marked(value) for value in values], 12), strict=True))
    with plain_text():
        ax = new_row_axes(len(shown) + bool(n_more)) if ax is None else ax
        done = np.zeros(len(shown))
        for _, labels, colour in parts:
            widths = [
                sum(t.pairs for t in by_values[values] if (t.labels if t.changed else None) in labels) / totals[values]
                for values in shown
            ]
            ax.barh(range(len(shown)), widths, 0.66, left=done, color=colour, zorder=2)
            done += widths
        ax.set_xlim(0, 1)
        mark_zero(ax)
        label_rows(
            ax,
            [f"{short[a]} → {short[b]}" for a, b in shown],
            title=f"{label} by {feature}{_given(result, TITLE - len(label) - len(feature))}",
            x_label="share of the compared pairs",
            n_more=n_more,
        )
        ax.xaxis.set_major_formatter(lambda share, _: f"{100 * share:g} %")
        write_beside(ax, [f"{totals[values]:,} pair{'' if totals[values] == 1 else 's'}" for values in shown])
        from matplotlib.patches import Patch

        add_legend(ax, [Patch(color=colour, label=words) for words, _, colour in parts])
    return ax


def _parts(result: "Transitions") -> "list[tuple[str, set[Any], str]]":
    """The parts of a bar: words, changes of label, colour; what stays the same is None."""
    changes = list(dict.fromkeys(t.labels for t in result.counts if t.changed))
    stays = ("stays", {None}, UNTOLD)
    if len({label for t in result.counts for label in t.labels}) <= 2:
        colours = (CHANGED, CHANGED_BACK)
        each = [
            (f"{short_name(p, 10)} → {short_name(q, 10)}", {(p, q)}, colour)
            for (p, q), colour in zip(changes, colours, strict=False)
        ]
        return [*each, stays]
    return [("changes", set(changes), CHANGED), stays]
