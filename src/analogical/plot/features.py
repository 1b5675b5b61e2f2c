"""Figures with a row per feature: relevance, comparison, selection redundancies; and pairs of features."""

from typing import TYPE_CHECKING, Any

import numpy as np

from analogical._checks import check_whole
from analogical.plot.canvas import (
    BAR_HEIGHT,
    COLOURS,
    MAX_DRAWN_ROWS,
    axes_with_rows,
    draw_bars,
    draw_sizes,
    key,
    new_axes,
    plain_text,
    set_title,
    short_name,
    short_names,
    significance_keys,
)
from analogical.show.interactions import share_grid
from analogical.show.relevance import has_direction, interaction_sizes, sizes_in_points
from analogical.show.selection import REASONS, selection_steps
from analogical.show.words import counted, in_points, marked, p_words, shorten, signed

if TYPE_CHECKING:
    from matplotlib.axes import Axes

    from analogical.questions.compare import Comparison
    from analogical.questions.interactions import Interaction, Interactions
    from analogical.questions.redundancies import Redundancies
    from analogical.questions.relevance import Relevance
    from analogical.questions.select import Selection

__all__ = [
    "plot_comparison",
    "plot_interaction",
    "plot_interactions",
    "plot_redundancies",
    "plot_relevance",
    "plot_selection",
]

REDUNDANCY_COLOURS = {
    "constant": COLOURS.neutral,
    "same information": COLOURS.changed,
    "determined": COLOURS.effect,
    "near-copy": COLOURS.changed_back,
}


def plot_relevance(result: "Relevance", ax: "Axes | None", *, top: int) -> "Axes":
    """Sizes in points with intervals, best first."""
    top = check_whole("top", top, low=1, high=MAX_DRAWN_ROWS)
    order = result.order()[:top]
    is_effect = [result.status[i] == "effect" for i in order]
    of_label = f" for {short_name(result.classes[1])}" if len(result.classes) == 2 else ""
    with axes_with_rows(
        ax,
        [result.names[i] for i in order],
        title=f"Effects on {short_name(result.label)}",
        x_label=f"size in percentage points (root of the effect), with {100 * result.settings.confidence:g} % interval;"
        f" right: size, and direction{of_label}",
        beside=[_size_and_direction(result, int(i)) for i in order],
        legend=significance_keys(is_effect),
        n_more=len(result.names) - len(order),
    ) as ax:
        draw_sizes(ax, [sizes_in_points(result, i) for i in order], is_significant=is_effect)
    return ax


def _size_and_direction(result: "Relevance", i: int) -> str:
    """The size and the direction of an effect, or why there is none."""
    points, copied = result.points[i], result.same_as[i]
    if copied is not None:
        return f"same as {short_name(copied)}"
    if np.isnan(result.effect[i]):
        return "–"
    size = in_points(sizes_in_points(result, i).size)
    if result.status[i] != "effect" or points is None:
        return size
    if not has_direction(result, i):
        return f"{size}   mixed direction"
    label = "" if len(result.classes) == 2 else f"{short_name(points.label, 12)} "
    interval = f"({points.low:.0f} to {points.high:.0f})"
    return f"{size}   {shorten(marked(points.value), 14)}: {label}{signed(points.points)} {interval}"


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
                beside: dict[str, Any] = {
                    "textcoords": "offset points",
                    "va": "center",
                    "fontsize": 7.5,
                    "color": COLOURS.muted,
                }
                ax.annotate(rank, end, (3, 0), **beside)
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
    adds = [100 * step.adds if step.adds is not None else 0.0 for step in shown]
    reasons = [step.reason for step in shown]
    colours = (COLOURS.effect, COLOURS.changed, COLOURS.muted, COLOURS.neutral)
    colour_of = dict(zip(REASONS, colours, strict=True))
    with axes_with_rows(
        ax,
        [" × ".join(step.features) for step in shown],
        title=f"What each feature adds for {short_name(result.label)}",
        x_label="share of the uncertainty of the label that it adds, in %; right: explained so far",
        beside=[f"{100 * step.explained:.1f} %" for step in shown],
        legend=[key(colour, REASONS[reason].meaning) for reason, colour in colour_of.items() if reason in reasons],
        n_more=len(steps) - len(shown),
        empty="No feature was selected.",
    ) as ax:
        draw_bars(ax, adds, [colour_of[reason] for reason in reasons])
        ax.set_xlim(min([0.0, *adds]) * 1.1, max([1.0, *adds]) * 1.04)
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


# ---------------------------------------------------------------- pairs of features

MAX_GRID_VALUES = 12
"""Maximum number of values of each feature in a grid of shares."""


def plot_interactions(result: "Interactions", ax: "Axes | None", *, top: int) -> "Axes":
    """The size of each interaction with its interval, best first."""
    order = result.order()[: check_whole("top", top, low=1, high=MAX_DRAWN_ROWS)]
    is_effect = [result.status[k] == "effect" for k in order]
    firsts, seconds = (short_names([names[k] for k in order], 12) for names in (result.first, result.second))
    with axes_with_rows(
        ax,
        [f"{first} × {second}" for first, second in zip(firsts, seconds, strict=True)],
        title=f"Interactions for {short_name(result.label)}",
        x_label="how much the effect of one feature differs with the other, in percentage points (200 for an exclusive"
        f" or), with {100 * result.settings.confidence:g} % interval",
        beside=[_beside(result, int(k)) for k in order],
        legend=significance_keys(is_effect),
        n_more=len(result) - len(order),
    ) as ax:
        draw_sizes(ax, [interaction_sizes(result, k) for k in order], is_significant=is_effect)
    return ax


def _beside(result: "Interactions", k: int) -> str:
    """The p-value of a pair, or what there is instead."""
    if result.same_as[k] is not None:
        return f"copy of {short_name(result.same_as[k])}"
    if not np.isnan(result.p_adjusted[k]):
        return p_words(result.p_adjusted[k])
    is_all = not np.isnan(result.effect[k]) or np.isnan(result.index[k])
    return "–" if is_all else f"index {result.index[k]:.2f}"


def plot_interaction(result: "Interaction", ax: "Axes | None", *, label: Any) -> "Axes":
    """Label shares by the values of two features, as in the printed table."""
    grid = share_grid(result, label=label, most=MAX_GRID_VALUES)
    shares = grid.with_label / np.where(grid.rows > 0, grid.rows, np.nan)
    across, down = (short_names(values, 14) for values in (grid.across_values, grid.down_values))
    with plain_text():
        ax = new_axes(1.9 + 0.95 * len(across), 1.5 + 0.62 * len(down)) if ax is None else ax
        from matplotlib.colors import LinearSegmentedColormap

        shades = LinearSegmentedColormap.from_list("analogical", ["#f4f6f8", COLOURS.effect])
        ax.imshow(np.ma.masked_invalid(shares), cmap=shades, vmin=0, vmax=1, aspect="auto")
        for (y, x), share in np.ndenumerate(shares):
            n = int(grid.rows[y, x])
            text = f"{100 * share:.0f} %\n{counted(n, 'row')}" if n else "no rows"
            ax.text(x, y, text, ha="center", va="center", fontsize=8, color="white" if share > 0.6 else COLOURS.ink)
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
        set_title(ax, f"Share of {short_name(result.label, 20)} = {short_name(grid.label, 20)}")
    return ax
