"""The figure of every kind of result: features and pairs of features, audits, example pairs and transitions."""

import math
from collections import Counter
from collections.abc import Sequence
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from analogical._checks import check_whole
from analogical._results import entry_at
from analogical.errors import InputError
from analogical.plot.canvas import (
    BAR_HEIGHT,
    COLOURS,
    MAX_DRAWN_ROWS,
    axes_with_rows,
    draw_bars,
    key,
    mark_zero,
    new_axes,
    plain_text,
    set_title,
    short_name,
    short_names,
)
from analogical.show.interactions import share_grid
from analogical.show.relevance import Sizes, has_direction, measure_of, sizes_of
from analogical.show.selection import REASONS, selection_steps
from analogical.show.words import Measure, counted, marked, p_words, shorten, shown

if TYPE_CHECKING:
    from matplotlib.axes import Axes

    from analogical.questions.audit import Audit, Difference
    from analogical.questions.compare import Comparison
    from analogical.questions.evidence import Evidence, Transitions
    from analogical.questions.interactions import Interaction, Interactions
    from analogical.questions.redundancies import Redundancies
    from analogical.questions.relevance import Relevance
    from analogical.questions.select import Selection

REDUNDANCY_COLOURS = {
    "constant": COLOURS.neutral,
    "same information": COLOURS.changed,
    "determined": COLOURS.effect,
    "near-copy": COLOURS.changed_back,
}


def plot_relevance(result: "Relevance", ax: "Axes | None", *, top: int) -> "Axes":
    """Sizes in points with intervals, best first."""
    order = result.order()[: check_whole("top", top, low=1, high=MAX_DRAWN_ROWS)].tolist()
    measure = measure_of(result.settings)
    of_label = f" for {short_name(result.classes[1])}" if measure.are_classes and len(result.classes) == 2 else ""
    unit = "percentage points" if measure.are_classes else measure.name or f"the unit of {short_name(result.label)}"
    return _draw_sizes(
        result,
        ax,
        {i: sizes_of(result, i) for i in order},
        names=[result.names[i] for i in order],
        title=f"Effects on {short_name(result.label)}",
        x_label=f"size in {unit} (root of the effect), with {100 * result.settings.confidence:g} % interval;"
        f" right: size, and direction{of_label}",
        beside=[_size_and_direction(result, i) for i in order],
    )


def _draw_sizes(result: "Relevance | Interactions", ax: "Axes | None", sizes: dict[int, Sizes], **texts: Any) -> "Axes":
    """A bar with its interval for each of some entries, with their sizes; an end beyond the axis has no cap."""
    from matplotlib.ticker import MaxNLocator

    is_effect = [result.status[i] == "effect" for i in sizes]
    largest = max((one.size for one in sizes.values() if one.size == one.size), default=0.0)
    widest = max((one.high for one in sizes.values() if one.high == one.high), default=0.0)
    # At least 10 points or the largest negligible size, so that noise does not fill the figure; at most twice the
    # largest size, so that a wide interval does not make all bars tiny.
    measure = measure_of(result.settings)
    least = 10.0 if measure.are_classes else measure.size(result.settings.negligible)
    right = 1.03 * min(max(widest, least), max(2.0 * largest, least)) or 1.0
    legend, n_more = _significance_keys(is_effect), len(result) - len(sizes)
    with axes_with_rows(ax, legend=legend, n_more=n_more, **texts) as ax:
        lengths = np.nan_to_num([one.size for one in sizes.values()])
        draw_bars(ax, lengths, [COLOURS.effect if is_blue else COLOURS.neutral for is_blue in is_effect])
        for row, (_, low, high) in enumerate(sizes.values()):
            if low != low or high != high:
                continue
            colour = COLOURS.ink if is_effect[row] else COLOURS.muted
            ax.hlines(row, low, min(high, right), color=colour, linewidth=1.1, zorder=3)
            ends = [end for end in (low, high) if end <= right]
            ax.plot(ends, [row] * len(ends), "|", color=colour, markersize=5, markeredgewidth=1.1, zorder=3)
        ax.set_xlim(0, right)
        if not 0.01 <= right < 1_000:  # or numbers of the axis would touch each other
            ax.xaxis.set_major_locator(MaxNLocator(4))
        ax.xaxis.set_major_formatter("{x:,.10g}")
    return ax


def _significance_keys(is_significant: Sequence[bool], edge: str | None = None) -> list[Any]:
    """Handles of a legend for those of the two colours that occur."""
    significant = [key(COLOURS.effect, "significant", edge=edge)] * any(is_significant)
    return significant + [key(COLOURS.neutral, "not significant", edge=edge)] * (not all(is_significant))


def _size_and_direction(result: "Relevance", i: int) -> str:
    """The size and the direction of an effect, or why there is none."""
    found, copied = result.direction[i], result.same_as[i]
    if copied is not None:
        return f"same as {short_name(copied)}"
    if np.isnan(result.effect[i]):
        return "–"
    measure = measure_of(result.settings)
    size = measure.text(sizes_of(result, i).size)
    if result.status[i] != "effect" or found is None:
        return size
    if not has_direction(found):
        return f"{size}   mixed direction"
    label = "" if found.label is None or len(result.classes) == 2 else f"{short_name(found.label, 12)} "
    slope, start = result.slope[i], f"{shorten(marked(found.value), 14)}: {label}"
    ends = found.difference, found.low, found.high
    if found.label is None and has_direction(slope):
        ends, start = (slope.difference, slope.low, slope.high), f"per {slope.step:,g}: "
    return f"{size}   {start}{_estimate(measure, [*map(measure.shown, ends)])}"


def _estimate(measure: Measure, ends: Sequence[float]) -> str:
    """A difference with its interval."""
    return f"{measure.signed(ends[0])} ({measure.interval(*ends[1:])})"


def plot_comparison(result: "Comparison", ax: "Axes | None", *, top: int) -> "Axes":
    """The scores of several methods side by side, all in the order of the first one."""
    top = check_whole("top", top, low=1, high=MAX_DRAWN_ROWS)
    order = result.order()[:top]
    n_methods = len(result.methods)
    by = f"{n_methods} methods" if n_methods > 1 else result.methods[0].title
    with axes_with_rows(
        ax,
        [result.names[i] for i in order],
        title=f"Relevance for {short_name(result.label)} by {by}",
        x_label=f"bars: score as a share of the method's best; numbers: ranks among {len(result.names):,} features",
        legend=[key(COLOURS.changed, "best of the method"), key(COLOURS.effect, "others")],
        n_more=len(result.names) - len(order),
        above=16,
        width=2.6 + 0.95 * max(n_methods, 3),
    ) as ax:
        for column, method in enumerate(result.methods):
            scores, ranks = np.maximum(result.scores[method.name], 0.0), result.ranks[method.name]
            lengths = 0.72 * scores[order] / (np.nanmax(scores, initial=0.0) or 1.0)
            for row, (i, length) in enumerate(zip(order, lengths, strict=True)):
                rank = "–" if np.isnan(length) else str(ranks[i])
                if rank != "–":
                    colour = COLOURS.changed if ranks[i] == 1 and length > 0 else COLOURS.effect
                    ax.barh(row, length, BAR_HEIGHT, left=column, color=colour, zorder=2)
                end = (column + np.nan_to_num(length), row)
                ax.annotate(
                    rank, end, (3, 0), textcoords="offset points", va="center", fontsize=7.5, color=COLOURS.muted
                )
            ax.axvline(column, color=COLOURS.neutral, linewidth=0.9, zorder=1)
        ax.set_xlim(0, n_methods)
        ax.set_xticks(range(n_methods), [method.title for method in result.methods])
        ax.xaxis.set_ticks_position("top")
    ax.grid(visible=False)
    for heading in ax.get_xticklabels():
        heading.set(ha="left", fontweight="bold", fontsize=9, color=COLOURS.ink)
    return ax


def plot_selection(result: "Selection", ax: "Axes | None") -> "Axes":
    """What each selected feature adds to those before it."""
    steps = selection_steps(result)
    shown = steps[:MAX_DRAWN_ROWS]
    adds = [100 * step.adds for step in shown]
    reasons = [step.reason for step in shown]
    colours = (COLOURS.effect, COLOURS.changed, COLOURS.muted, COLOURS.neutral)
    colour_of = dict(zip(REASONS, colours, strict=True))
    with axes_with_rows(
        ax,
        [" × ".join(step.features) for step in shown],
        title=f"What each feature adds for {short_name(result.label)}",
        x_label="share of the variance of the label that it adds, in %; right: explained so far",
        beside=[f"{100 * step.explained:.1f} %" for step in shown],
        legend=[key(colour, REASONS[reason].meaning) for reason, colour in colour_of.items() if reason in reasons],
        n_more=len(steps) - len(shown),
        empty="No feature was selected.",
    ) as ax:
        draw_bars(ax, adds, [colour_of[reason] for reason in reasons])
        ax.set_xlim(0.0, max([1.0, *adds]) * 1.04)
    return ax


def plot_redundancies(result: "Redundancies", ax: "Axes | None") -> "Axes":
    """Every redundant column with the columns that determine it."""
    findings = result.records()[:MAX_DRAWN_ROWS]
    kinds = [finding["kind"] for finding in findings]
    shares = [
        100 * (1 - finding["left"] if finding["kind"] == "near-copy" else finding["support"] / result.n_rows)
        for finding in findings
    ]
    in_percent = "tests passed: rows that could have contradicted the finding, in percent of all rows"
    if result.near_copies:
        in_percent = "tests passed, in percent of the rows; of near-copies: share of the entropy that is not left open"
    with axes_with_rows(
        ax,
        [finding["feature"] for finding in findings],
        title=f"Redundant columns among {len(result.names):,}",
        x_label=in_percent,
        beside=[_determined_by(finding) for finding in findings],
        legend=[key(colour, kind) for kind, colour in REDUNDANCY_COLOURS.items() if kind in kinds],
        n_more=len(result) - len(findings),
        empty="No redundant column.",
    ) as ax:
        draw_bars(ax, shares, [REDUNDANCY_COLOURS[kind] for kind in kinds])
        ax.set_xlim(0, 100)
    return ax


def _determined_by(finding: dict[str, Any]) -> str:
    """Which columns carry the information."""
    others = " and ".join(short_name(name) for name in finding["determined_by"])
    return {
        "constant": "one value",
        "same information": f"= {others}",
        "determined": f"by {others}",
        "near-copy": f"{others} leaves {100 * finding['left']:.1f} % open",
    }[finding["kind"]]


def plot_interactions(result: "Interactions", ax: "Axes | None", *, top: int) -> "Axes":
    """The size of each interaction with its interval, best first."""
    order = result.order()[: check_whole("top", top, low=1, high=MAX_DRAWN_ROWS)].tolist()
    measure = measure_of(result.settings)
    unit = f", in {measure.name}" if measure.name else ""
    unit = ", in percentage points (200 for an exclusive or)" if measure.are_classes else unit
    firsts, seconds = (short_names([names[k] for k in order], 12) for names in (result.first, result.second))
    return _draw_sizes(
        result,
        ax,
        {k: sizes_of(result, k) for k in order},
        names=[f"{first} × {second}" for first, second in zip(firsts, seconds, strict=True)],
        title=f"Interactions for {short_name(result.label)}",
        x_label=f"how much the effect of one feature differs with the other{unit},"
        f" with {100 * result.settings.confidence:g} % interval",
        beside=[_beside(result, k) for k in order],
    )


def _beside(result: "Interactions", k: int) -> str:
    """The p-value of a pair, or what there is instead."""
    if result.same_as[k] is not None:
        return f"copy of {short_name(result.same_as[k])}"
    if not np.isnan(result.p_adjusted[k]):
        return p_words(result.p_adjusted[k])
    is_all = not np.isnan(result.effect[k]) or np.isnan(result.index[k])
    return "–" if is_all else f"index {result.index[k]:.2f}"


def plot_interaction(result: "Interaction", ax: "Axes | None", *, label: Any) -> "Axes":
    """Label shares or means by the values of two features, as in the printed table."""
    grid = share_grid(result, label=label, most=12)
    shades = grid.shades()
    across, down = (short_names(values, 14) for values in (grid.across_values, grid.down_values))
    with plain_text():
        ax = new_axes(1.9 + 0.95 * len(across), 1.5 + 0.62 * len(down)) if ax is None else ax
        from matplotlib.colors import LinearSegmentedColormap

        colours = LinearSegmentedColormap.from_list("analogical", ["#f4f6f8", COLOURS.effect])
        ax.imshow(np.ma.masked_invalid(shades), cmap=colours, vmin=0, vmax=1, aspect="auto")
        for (y, x), shade in np.ndenumerate(shades):
            n = int(grid.rows[y, x])
            cell = f"{100 * shade:.0f} %" if grid.label is not None and n else grid.text(y, x) if n else ""
            text = f"{cell}\n{counted(n, 'row')}" if n else "no rows"
            ax.text(x, y, text, ha="center", va="center", fontsize=8, color="white" if shade > 0.6 else COLOURS.ink)
        turned: dict[str, Any] = {"rotation": 40, "ha": "right", "rotation_mode": "anchor"}
        is_long = max(map(len, across)) > 7
        ax.set_xticks(range(len(across)), across, fontsize=8.5, color=COLOURS.ink, **(turned if is_long else {}))
        ax.set_yticks(range(len(down)), down, fontsize=8.5, color=COLOURS.ink)
        ax.set_xticks(np.arange(len(across) - 1) + 0.5, minor=True)
        ax.set_yticks(np.arange(len(down) - 1) + 0.5, minor=True)
        ax.grid(which="minor", color="white", linewidth=2)
        ax.tick_params(which="both", length=0)
        ax.spines[:].set_visible(False)
        ax.set_xlabel(short_name(grid.across, 30), fontsize=9, color=COLOURS.muted)
        ax.set_ylabel(short_name(grid.down, 30), fontsize=9, color=COLOURS.muted)
        of_class = f"Share of {short_name(result.label, 20)} = {short_name(grid.label, 20)}"
        set_title(ax, of_class if grid.label is not None else f"{grid.what[0].upper()}{grid.what[1:]}")
    return ax


# ---------------------------------------------------------------- differences of an audit


class Row(NamedTuple):
    """A row of a forest plot: its name, a text beside it, and what is drawn in it; a heading has its name only."""

    name: str
    beside: str = ""
    adjusted: Sequence[float] = ()  # a square, and the ends of its interval
    is_significant: bool = False
    crude: float | None = None  # a diamond
    context: float | None = None  # the difference in one context: a circle, whose area shows the number of pairs
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
        A square with its interval is the adjusted (Mantel-Haenszel) difference in label shares in percentage points, or
        in the means of numbers, blue if it is significant and otherwise grey; an orange diamond is the crude difference
        over all rows. To the right are the difference, its interval and the adjusted p-value.

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
    of = f"{label} = {short_name(followed.pop())}" if len(followed) == 1 and followed != {None} else label
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
    few = [short_name(name) for name in result.given] or ["nothing"]
    given = f", given {few[0] if len(few) == 1 else f'{len(few)} features'}"
    if len(differences) > 1:
        followed = {difference.label for difference in differences}
        what = "the label" if len(followed) > 1 else _followed(result, differences[0])
        of = f"{what} from {short_name(result.reference)}"
        return _draw_forest(ax, result, _rows_of(result, differences), title=f"{title}{given}", of=of)
    (one,) = differences
    measure, named = measure_of(result), f"{shown(result.given[0])}=" if len(result.given) == 1 else ""
    (row,) = _rows_of(result, differences)
    rows = [
        row._replace(name="adjusted", beside=_estimate(measure, row.adjusted), crude=None),
        Row("crude (all rows)", measure.change(one.crude), crude=row.crude),
    ]
    contexts = [c for c in result.contexts if c.values == one.values and c.label == one.label][: MAX_DRAWN_ROWS - 2]
    for c in contexts:
        name = f"{named}{', '.join(marked(v) for _, v in c.context) or 'all rows'}"
        beside = f"{measure.change(c.difference)}  {c.rows[1]:,} vs. {c.rows[0]:,} rows"
        rows.append(Row(name, beside, context=measure.shown(c.difference), pairs=c.pairs))
    reference, compared = (short_name(name) for name in one.values)
    return _draw_forest(
        ax,
        result,
        rows,
        title=f"{title}: {compared}" if len(result.differences) > 1 else f"{title}{given}",
        of=f"{_followed(result, one)} between {compared} and {reference}",
        n_more=result.n_contexts - len(contexts),
    )


def _rows_of(audit: "Audit", differences: "Sequence[Difference]") -> list[Row]:
    """One row per difference, the highest first."""
    many_labels = len({d.label for d in audit.differences}) > 1
    significant, measure, rows = audit.significant(), measure_of(audit), list[Row]()
    for d in sorted(differences, key=lambda d: -d.difference):
        name = marked(d.values[1]) + (f": {marked(d.label)}" if many_labels else "")
        *ends, crude = map(measure.shown, (d.difference, d.difference_low, d.difference_high, d.crude))
        rows.append(Row(name, f"{_estimate(measure, ends)}   {p_words(d.p_adjusted)}", ends, d in significant, crude))
    return rows


def _followed(audit: "Audit", d: "Difference") -> str:
    """The label of a difference, of numbers the name of the column."""
    return short_name(audit.label if d.label is None else d.label)


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
    sizes = [abs(row.adjusted[0]) if row.adjusted else math.inf for row in rows]
    kept = sorted(sorted(range(len(rows)), key=lambda place: -sizes[place])[:most])
    n_more += len(rows) - len(kept)
    rows = [rows[place] for place in kept]
    contexts = [(place, row) for place, row in enumerate(rows) if row.context is not None]
    measure = measure_of(result)
    what = f"{measure.mean} of {of}{f', in {measure.name}' if measure.name else ''}"
    what = f"share of {of}, in percentage points" if measure.are_classes else what
    with axes_with_rows(
        ax,
        [row.name for row in rows],
        title=title,
        x_label=f"difference in the {what}, with {100 * result.confidence:g} % interval",
        beside=[row.beside for row in rows],
        legend=[
            *_significance_keys([row.is_significant for row in rows if row.adjusted], edge=COLOURS.ink),
            key("white", "crude", "D", COLOURS.changed),
            *([key("white", "one context", "o", COLOURS.muted)] if contexts else []),
        ],
        n_more=n_more,
        width=8.0,
    ) as ax:
        ends = [0.0, *(end for row in rows for end in (*row.adjusted[1:], row.crude, row.context) if end is not None)]
        for place, row in enumerate(rows):
            if row.crude is not None:
                mark = ax.plot(row.crude, place, "D", markersize=6, zorder=4)[0]
                mark.set(markerfacecolor="white", markeredgecolor=COLOURS.changed)
            if row.adjusted:
                middle, low, high = row.adjusted
                colour = COLOURS.effect if row.is_significant else COLOURS.neutral
                ax.hlines(place, low, high, color=colour, linewidth=2.4, zorder=3)
                ax.plot(middle, place, "s", color=colour, markeredgecolor=COLOURS.ink, markersize=7, zorder=5)
        if contexts:
            pairs, places = np.array([row.pairs for _, row in contexts]), [place for place, _ in contexts]
            points = [row.context or 0.0 for _, row in contexts]
            area = 16 + 110 * pairs / pairs.max()
            ax.scatter(points, places, s=area, facecolor="white", edgecolor=COLOURS.muted, linewidth=1.3, zorder=3)
        room = 0.06 * max(max(ends) - min(ends), 1.0 if measure.are_classes else 1e-9)
        ax.set_xlim(min(ends) - room, max(ends) + room)
        ax.xaxis.set_major_formatter(lambda points, _: f"{points:+,g}" if points else "0")
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
    measure = measure_of(result)
    differ = f"labels differ in {100 * result.n_changed / result.n_pairs:.0f} % of"
    if not measure.are_classes:
        differ = f"labels differ by {measure.amount_of(result.index)} (root mean square) in"
    agree = f"agree on {short_name(' and '.join(result.given), 40)}" if result.given else "are compared"
    with axes_with_rows(
        ax,
        [", ".join(marked(value, 20) for _, value in pair.context) or "any two rows" for pair in pairs],
        title=f"{short_name(result.feature)} and {short_name(result.label)} in pairs of rows",
        x_label=f"{differ} {result.n_pairs:,} pairs of rows that {agree} and differ on {short_name(result.feature)}",
        beside=[counted(pair.weight, "pair") for pair in pairs],
        legend=[key(COLOURS.changed, "labels differ")] * any(pair.changed for pair in pairs)
        + [key(COLOURS.neutral, "same label")] * (not all(pair.changed for pair in pairs)),
        n_more=len(result.pairs) - len(pairs),
    ) as ax:
        for row, pair in enumerate(pairs):
            colour = COLOURS.changed if pair.changed else COLOURS.neutral
            ax.plot((0, 1), (row, row), "o-", color=colour, markersize=5, linewidth=1.8)
            for x, side in enumerate(("right", "left")):
                label = marked(pair.labels[x], 12) if measure.are_classes else measure.label(pair.labels[x])
                text = f"{marked(pair.values[x], 14)}: {label}"
                ax.text(x + (0.04 if x else -0.04), row, text, ha=side, va="center", fontsize=9, color=COLOURS.ink)
        ax.set_xlim(-1.1, 2.1)
        ax.set_xticks([])
    return ax


def plot_transitions(result: "Transitions", ax: "Axes | None") -> "Axes":
    """How often the label changes with each change of value, the changes with most pairs first.

    With two classes, each direction of change is a part of the bar, with its own colour; of numbers, a bar is the
    difference of means.
    """
    if not result.counts:
        raise InputError(f"No two rows were compared for {result.feature!r}, so it has no transitions to draw.")
    measure, label = measure_of(result), short_name(result.label)
    pairs: dict[tuple[Any, Any], Counter[Any]] = {}
    for transition in result.counts:
        pairs.setdefault(transition.values, Counter())[transition.labels] += transition.pairs
    largest = sorted(pairs, key=lambda values: -pairs[values].total())[:MAX_DRAWN_ROWS]
    totals = np.array([pairs[values].total() for values in largest])
    beside, parts = [counted(total, "pair") for total in totals.tolist()], []
    if measure.are_classes:
        x_label = "share of the compared pairs, in percent"
        labels = list(dict.fromkeys(t.labels for t in result.counts))
        changes = [two for two in labels if two[0] != two[1]]
        parts = [("label changes", COLOURS.changed, changes)]
        if len({label for two in labels for label in two}) <= 2:
            parts = [
                (f"{short_name(before, 12)} → {short_name(after, 12)}", colour, [(before, after)])
                for (before, after), colour in zip(changes, (COLOURS.changed, COLOURS.changed_back), strict=False)
            ]
        parts.append(("label stays", COLOURS.neutral, [two for two in labels if two[0] == two[1]]))
    else:
        x_label = f"difference in the {measure.mean} of {label}{f', in {measure.name}' if measure.name else ''}"
        moves = [measure.move(means) for values in largest for means in pairs[values]]
        beside = [f"{measure.signed(move)}   {text}" for move, text in zip(moves, beside, strict=True)]
    names = list(dict.fromkeys(value for values in largest for value in values))
    short = dict(zip(names, short_names([marked(name) for name in names], 12), strict=True))
    with axes_with_rows(
        ax,
        [f"{short[a]} → {short[b]}" for a, b in largest],
        title=f"{label} by {short_name(result.feature)}",
        x_label=x_label,
        beside=beside,
        legend=[key(colour, name) for name, colour, _ in parts],
        n_more=len(pairs) - len(largest),
    ) as ax:
        drawn = np.zeros(len(largest))
        for _, colour, counted_labels in parts:
            widths = 100 * np.array([sum(pairs[values][two] for two in counted_labels) for values in largest]) / totals
            ax.barh(range(len(largest)), widths, BAR_HEIGHT, left=drawn, color=colour, zorder=2)
            drawn += widths
        if parts:
            mark_zero(ax)
            ax.set_xlim(0, 100)
        else:
            draw_bars(ax, moves, [COLOURS.effect] * len(moves))
    return ax
