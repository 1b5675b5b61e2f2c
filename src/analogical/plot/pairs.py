"""Figures of compared rows: differences of an audit as a forest plot, example pairs, and transitions."""

import math
from collections import Counter
from collections.abc import Sequence
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from analogical._results import entry_at
from analogical.errors import InputError
from analogical.plot.canvas import (
    BAR_HEIGHT,
    COLOURS,
    MAX_DRAWN_ROWS,
    axes_with_rows,
    key,
    mark_zero,
    short_name,
    short_names,
    significance_keys,
)
from analogical.show.words import counted, marked, p_words, shown

if TYPE_CHECKING:
    from matplotlib.axes import Axes

    from analogical.questions.audit import Audit, Difference
    from analogical.questions.evidence import Evidence, Transitions

__all__ = ["plot_audit", "plot_evidence", "plot_forest", "plot_transitions"]


class Row(NamedTuple):
    """A row of a forest plot: its name, a text beside it, and what is drawn in it; a heading has its name only."""

    name: str
    beside: str = ""
    adjusted: "Difference | None" = None
    """A square with its interval."""
    is_significant: bool = False
    crude: float | None = None
    """A diamond."""
    context: float | None = None
    """The difference in one context: a circle, whose area shows the number of pairs."""
    pairs: int = 0


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
    return _draw_forest(ax, compared[0], rows, title=f"{of}: adjusted differences", of=of, most=40)


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
    title = f"{short_name(result.label)} by {short_name(result.feature)}"
    given = f", given {len(result.given)} features" if result.given else ", nothing given"
    if len(result.given) == 1:
        given = f", given {short_name(result.given[0])}"
    if len(differences) > 1:
        followed = {difference.label for difference in differences}
        what = short_name(followed.pop()) if len(followed) == 1 else "the label"
        of = f"{what} from {short_name(result.reference)}"
        return _draw_forest(ax, result, _rows_of(result, differences), title=f"{title}{given}", of=of)
    (one,) = differences
    named = f"{shown(result.given[0])}=" if len(result.given) == 1 else ""
    rows = [
        Row("adjusted", _estimate(one), one, one in result.significant()),
        Row("crude (all rows)", f"{100 * one.crude:+.1f}", crude=one.crude),
    ]
    contexts = [c for c in result.contexts if c.values == one.values and c.label == one.label][: MAX_DRAWN_ROWS - 2]
    for c in contexts:
        name = f"{named}{', '.join(marked(v) for _, v in c.context) or 'all rows'}"
        beside = f"{100 * c.difference:+.1f}  {c.rows[1]:,} vs. {c.rows[0]:,} rows"
        rows.append(Row(name, beside, context=c.difference, pairs=c.pairs))
    reference, compared = (short_name(name) for name in one.values)
    return _draw_forest(
        ax,
        result,
        rows,
        title=f"{title}: {compared}" if len(result.differences) > 1 else f"{title}{given}",
        of=f"{short_name(one.label)} between {compared} and {reference}",
        n_more=result.n_contexts - len(contexts),
    )


def _rows_of(audit: "Audit", differences: "Sequence[Difference]") -> list[Row]:
    """One row per difference, the highest first."""
    many_labels = len({d.label for d in audit.differences}) > 1
    significant = audit.significant()
    return [
        Row(
            marked(d.values[1]) + (f": {marked(d.label)}" if many_labels else ""),
            f"{_estimate(d)}   {p_words(d.p_adjusted)}",
            d,
            d in significant,
            crude=d.crude,
        )
        for d in sorted(differences, key=lambda d: -d.difference)
    ]


def _estimate(d: "Difference") -> str:
    """A difference with its interval, in points."""
    return f"{100 * d.difference:+.1f} ({100 * d.difference_low:.1f} to {100 * d.difference_high:.1f})"


def _draw_forest(
    ax: "Axes | None",
    result: "Audit",
    rows: list[Row],
    *,
    title: str,
    of: str,
    n_more: int = 0,
    most: int = MAX_DRAWN_ROWS,
) -> "Axes":
    """The rows with the largest differences, in their order; headings stay. ``n_more`` were left out before."""
    sizes = [math.inf if row.adjusted is None else abs(row.adjusted.difference) for row in rows]
    kept = sorted(sorted(range(len(rows)), key=lambda place: -sizes[place])[:most])
    n_more += len(rows) - len(kept)
    rows = [rows[place] for place in kept]
    contexts = [(place, row) for place, row in enumerate(rows) if row.context is not None]
    with axes_with_rows(
        ax,
        [row.name for row in rows],
        title=title,
        x_label=f"difference in the share of {of}, in percentage points, with {100 * result.confidence:g} % interval",
        beside=[row.beside for row in rows],
        legend=[
            *significance_keys([row.is_significant for row in rows if row.adjusted is not None], edge=COLOURS.ink),
            key("white", "crude", "D", COLOURS.changed),
            *([key("white", "one context", "o", COLOURS.muted)] if contexts else []),
        ],
        n_more=n_more,
        width=8.0,
    ) as ax:
        ends = [0.0, *(100 * d for row in rows for d in (row.crude, row.context) if d is not None)]
        for place, row in enumerate(rows):
            if row.crude is not None:
                mark = ax.plot(100 * row.crude, place, "D", markersize=6, zorder=4)[0]
                mark.set(markerfacecolor="white", markeredgecolor=COLOURS.changed)
            if row.adjusted is not None:
                low, high = 100 * row.adjusted.difference_low, 100 * row.adjusted.difference_high
                colour, middle = COLOURS.effect if row.is_significant else COLOURS.neutral, row.adjusted.difference
                ax.hlines(place, low, high, color=colour, linewidth=2.4, zorder=3)
                ax.plot(100 * middle, place, "s", color=colour, markeredgecolor=COLOURS.ink, markersize=7, zorder=5)
                ends += [low, high]
        if contexts:
            pairs = np.array([row.pairs for _, row in contexts])
            points, places = [100 * (row.context or 0.0) for _, row in contexts], [place for place, _ in contexts]
            area = 16 + 110 * pairs / pairs.max()
            ax.scatter(points, places, s=area, facecolor="white", edgecolor=COLOURS.muted, linewidth=1.3, zorder=3)
        room = 0.06 * max(max(ends) - min(ends), 1.0)
        ax.set_xlim(min(ends) - room, max(ends) + room)
        ax.xaxis.set_major_formatter(lambda points, _: f"{points:+g}" if points else "0")
        mark_zero(ax)
    for row, text in zip(rows, ax.get_yticklabels(), strict=True):
        text.set_fontweight("normal" if row.beside else "bold")
    return ax


# ---------------------------------------------------------------- pairs of rows


def plot_evidence(result: "Evidence", ax: "Axes | None") -> "Axes":
    """Example pairs: the value and the label of each row, and what the two rows have in common."""
    if not result.pairs:
        raise InputError(f"There are no pairs of rows to draw for {result.feature!r}.")
    pairs = result.pairs[:MAX_DRAWN_ROWS]
    agree = f"agree on {short_name(' and '.join(result.given), 40)}" if result.given else "are compared"
    with axes_with_rows(
        ax,
        [", ".join(marked(value, 20) for _, value in pair.context) or "any two rows" for pair in pairs],
        title=f"{short_name(result.feature)} and {short_name(result.label)} in pairs of rows",
        x_label=f"labels differ in {100 * result.n_changed / result.n_pairs:.0f} % of {result.n_pairs:,} pairs of rows"
        f" that {agree} and differ on {short_name(result.feature)}",
        beside=[counted(pair.weight, "pair") for pair in pairs],
        legend=[key(COLOURS.changed, "labels differ")] * any(pair.changed for pair in pairs)
        + [key(COLOURS.neutral, "same label")] * (not all(pair.changed for pair in pairs)),
        n_more=len(result.pairs) - len(pairs),
    ) as ax:
        for row, pair in enumerate(pairs):
            colour = COLOURS.changed if pair.changed else COLOURS.neutral
            ax.plot((0, 1), (row, row), "o-", color=colour, markersize=5, linewidth=1.8)
            for x, side in enumerate(("right", "left")):
                text = f"{marked(pair.values[x], 14)}: {marked(pair.labels[x], 12)}"
                ax.text(x + (0.04 if x else -0.04), row, text, ha=side, va="center", fontsize=9, color=COLOURS.ink)
        ax.set_xlim(-1.1, 2.1)
        ax.set_xticks([])
    return ax


def plot_transitions(result: "Transitions", ax: "Axes | None") -> "Axes":
    """How often the label changes with each change of value, the changes with most pairs first.

    With two classes, each direction of change is a part of the bar, with its own colour.
    """
    if not result.counts:
        raise InputError(f"No two rows were compared for {result.feature!r}, so it has no transitions to draw.")
    pairs: dict[tuple[Any, Any], Counter[Any]] = {}
    for transition in result.counts:
        pairs.setdefault(transition.values, Counter())[transition.labels] += transition.pairs
    largest = sorted(pairs, key=lambda values: -pairs[values].total())[:MAX_DRAWN_ROWS]
    totals = np.array([pairs[values].total() for values in largest])
    labels = list(dict.fromkeys(t.labels for t in result.counts))
    changes = [two for two in labels if two[0] != two[1]]
    parts = [("label changes", COLOURS.changed, changes)]
    if len({label for two in labels for label in two}) <= 2:
        parts = [
            (f"{short_name(before, 12)} → {short_name(after, 12)}", colour, [(before, after)])
            for (before, after), colour in zip(changes, (COLOURS.changed, COLOURS.changed_back), strict=False)
        ]
    parts.append(("label stays", COLOURS.neutral, [two for two in labels if two[0] == two[1]]))
    names = list(dict.fromkeys(value for values in largest for value in values))
    short = dict(zip(names, short_names([marked(name) for name in names], 12), strict=True))
    with axes_with_rows(
        ax,
        [f"{short[a]} → {short[b]}" for a, b in largest],
        title=f"{short_name(result.label)} by {short_name(result.feature)}",
        x_label="share of the compared pairs, in percent",
        beside=[counted(total, "pair") for total in totals.tolist()],
        legend=[key(colour, name) for name, colour, _ in parts],
        n_more=len(pairs) - len(largest),
    ) as ax:
        drawn = np.zeros(len(largest))
        for _, colour, counted_labels in parts:
            widths = 100 * np.array([sum(pairs[values][two] for two in counted_labels) for values in largest]) / totals
            ax.barh(range(len(largest)), widths, BAR_HEIGHT, left=drawn, color=colour, zorder=2)
            drawn += widths
        mark_zero(ax)
        ax.set_xlim(0, 100)
    return ax
