"""Figures with one row per feature: relevance, how firm the order is, what it rests on, and a selection."""

from collections.abc import Iterator, Sequence
from typing import TYPE_CHECKING, Any

import numpy as np

from analogical._checks import check_whole
from analogical._types import Floats
from analogical.errors import InputError
from analogical.plotting.canvas import (
    CHANGED,
    EFFECT,
    INK,
    LONGEST_TITLE,
    MOST_ROWS,
    MUTED,
    UNTOLD,
    add_legend,
    label_rows,
    mark_zero,
    new_row_axes,
    plain_text,
    short_name,
    write_beside,
)
from analogical.scoring.intervals import mean_ranks

if TYPE_CHECKING:
    from matplotlib.axes import Axes

    from analogical._relevance import AtDistance, Relevance
    from analogical._selection import Selection

__all__ = ["plot_radius", "plot_relevance", "plot_selection", "plot_stability"]

SMALLEST = 0.05
"""The axis of scores reaches at least so far, so that noise of a thousandth does not fill the figure."""
BAR = 0.66
"""How much of its row a bar fills."""


def plot_relevance(result: "Relevance", ax: "Axes | None" = None, *, top: int = MOST_ROWS) -> "Axes":
    """Draw the score of every feature as a bar with its interval, best first.

    Parameters
    ----------
    result : Relevance
        What :func:`analogical.relevance` found.
    ax : matplotlib Axes, optional
        Where to draw; a new figure if not given.
    top : int
        How many features to show, 20 at most.

    Returns
    -------
    matplotlib.axes.Axes
        A bar is what the features are ranked by: the effect, the index where labels show no noise, or the score beyond
        distance 1. Blue bars are told from noise, grey ones are not, and a hollow bar is an upper bound, because
        nothing shows the noise. A dash stands for a feature without evidence.

    Examples
    --------
    >>> from analogical import load_table, relevance
    >>> result = relevance(load_table("titanic").to_frame(), "survived", weights="count")
    >>> ax = result.plot()
    >>> [round(float(bar.get_width()), 3) for bar in ax.patches]
    [0.251, 0.067, 0.02]
    """
    top = check_whole("top", top, low=1, high=MOST_ROWS)
    order = result.order()[:top]
    n_more = len(result.names) - len(order)
    scores, low, high = _scores(result, order)
    with plain_text():
        ax = new_row_axes(len(order) + bool(n_more)) if ax is None else ax
        styles = [_style(result.status[i]) for i in order]
        for place, (score, style) in enumerate(zip(scores, styles, strict=True)):
            ax.barh(place, np.nan_to_num(score), BAR, zorder=2, **style)
        _whiskers(ax, scores, low, high)
        left, right = _reach(scores, low, high)
        ax.set_xlim(left, right)
        mark_zero(ax)
        label_rows(
            ax,
            [result.names[i] for i in order],
            title=f"Relevance for {short_name(result.label, LONGEST_TITLE)}",
            x_label=_what(result, order),
            n_more=n_more,
        )
        write_beside(ax, [_number(score) for score in scores])
        add_legend(ax, list(_legend({result.status[i] for i in order}, result.settings.noise_free)))
    return ax


def plot_stability(result: "Relevance", ax: "Axes | None" = None, *, top: int = MOST_ROWS) -> "Axes":
    """Draw between which ranks each feature moves when the rows are drawn again, best first.

    Parameters
    ----------
    result : Relevance
        From ``relevance(..., bootstrap=100)``: the ranks come from those resamples of the rows.
    ax : matplotlib Axes, optional
        Where to draw; a new figure if not given.
    top : int
        How many features to show, 20 at most.

    Returns
    -------
    matplotlib.axes.Axes
        A dot is the rank in the table, the line where the rank lies in the middle part of the resamples (95 % by
        default). Features whose lines overlap have no order that the rows settle. Equal scores share the mean of their
        ranks.

    Raises
    ------
    InputError
        If the result has no resamples.

    Examples
    --------
    >>> from analogical import load_table, relevance
    >>> found = relevance(load_table("titanic").to_frame(), "survived", weights="count", bootstrap=20, random_state=0)
    >>> [text.get_text() for text in plot_stability(found).get_yticklabels()]
    ['sex', 'age', 'class']
    """
    top = check_whole("top", top, low=1, high=MOST_ROWS)
    if result.rank_low is None or result.rank_high is None:
        raise InputError(
            "How firm the order is shows in resamples of the rows, and the result has none; compute it with"
            " relevance(..., bootstrap=100)."
        )
    order = result.order()[:top]
    n_more = len(result.names) - len(order)
    ranks, low, high = (numbers[order] for numbers in (mean_ranks(result.score), result.rank_low, result.rank_high))
    with plain_text():
        ax = new_row_axes(len(order) + bool(n_more)) if ax is None else ax
        for place, i in enumerate(order):
            colour = EFFECT if result.status[i] == "effect" else UNTOLD
            ax.hlines(place, low[place], high[place], color=colour, linewidth=5, alpha=0.55, zorder=2)
            ax.plot(ranks[place], place, "o", color=colour, markeredgecolor=INK, markersize=6, zorder=3)
        last = max(float(high.max()), float(ranks.max()), 2.0)
        ax.set_xlim(1 - 0.03 * last, last * 1.03)
        n_drawn = result.settings.bootstrap or 0
        level = 100 * (result.settings.confidence or 0)
        label_rows(
            ax,
            [result.names[i] for i in order],
            title=f"How firm the order is for {short_name(result.label, LONGEST_TITLE)}",
            x_label=f"rank, 1 for the best: dot in the table, line in {level:g} % of {n_drawn:,} resamples of the rows",
            n_more=n_more,
        )
        ax.set_xticks([tick for tick in ax.get_xticks() if 1 <= tick <= last and tick == round(tick)] or [1])
        ax.set_xticks(sorted({1.0, *ax.get_xticks()} - ({2.0} if last > 20 else set())))
        write_beside(ax, [f"{a:.0f}–{b:.0f}" for a, b in zip(low, high, strict=True)])
        add_legend(ax, list(_legend({result.status[i] for i in order}, result.settings.noise_free, hollow=False)))
    return ax


def plot_radius(result: "Relevance", ax: "Axes | None" = None) -> "Axes":
    """Draw what the score rests on by distance: on how many features the compared rows differ.

    Parameters
    ----------
    result : Relevance
        What :func:`analogical.relevance` found.
    ax : matplotlib Axes, optional
        Where to draw; a new figure if not given.

    Returns
    -------
    matplotlib.axes.Axes
        A bar is the share of the evidence that pairs at this distance carry; near pairs weigh more. Beside it stand the
        pairs used and how many of them changed the label. More than 20 distances are taken together.

    Raises
    ------
    InputError
        If the result does not hold pairs by distance, as with ``attribution="share"``.

    Examples
    --------
    >>> from analogical import relevance
    >>> found = relevance([[0, 0], [0, 1], [1, 0], [1, 1]], [0, 0, 1, 1], radius=2)
    >>> [text.get_text() for text in plot_radius(found).get_yticklabels()]
    ['1 feature', '2 features']
    """
    if not result.by_distance:
        raise InputError(
            'The result does not hold pairs by distance: attribution="share" weighs all pairs alike. Use'
            ' attribution="noisy-or".'
        )
    parts = _taken_together(result.by_distance)
    with plain_text():
        ax = new_row_axes(len(parts)) if ax is None else ax
        weights = [sum(at.weight for at in part) for part in parts]
        ax.barh(range(len(parts)), weights, BAR, color=EFFECT, zorder=2)
        ax.set_xlim(0, max(weights) * 1.03)
        mark_zero(ax)
        label_rows(
            ax,
            [_span(part) for part in parts],
            title=f"What the score for {short_name(result.label, LONGEST_TITLE)} rests on",
            x_label="share of the evidence, by the number of features on which two compared rows differ",
            above=8,
        )
        ax.xaxis.set_major_formatter(lambda share, _: f"{100 * share:g} %")
        write_beside(ax, [_describe_pairs(part) for part in parts])
    return ax


def plot_selection(result: "Selection", ax: "Axes | None" = None) -> "Axes":
    """Draw what each chosen feature added to those before it, in the order chosen.

    Parameters
    ----------
    result : Selection
        What :func:`analogical.select` chose.
    ax : matplotlib Axes, optional
        Where to draw; a new figure if not given.

    Returns
    -------
    matplotlib.axes.Axes
        A bar is the rise of the log-likelihood in nats, blue where the feature adds enough, orange where it does so
        together with another one, dark grey where it adds less but is significant, light grey where it only follows the
        relaxed index. Beside it stands how much of the label is explained so far. The dashed line is what a feature
        must add.

    Examples
    --------
    >>> from analogical import load_table, select
    >>> found = select(load_table("monks-1").to_frame().drop(columns="count"), "class")
    >>> [text.get_text() for text in found.plot().get_yticklabels()]
    ['jacket_color', 'head_shape', 'body_shape']
    """
    shown = result.features[:MOST_ROWS]
    n_more = len(result.features) - len(shown)
    gain = result.gain[: len(shown)]
    colours = {"gain": EFFECT, "interaction": CHANGED, "significant": MUTED, "index": UNTOLD}
    words = {
        "gain": "adds most",
        "interaction": "an interaction",
        "significant": "significant given the others",
        "index": "next by the relaxed index",
    }
    with plain_text():
        ax = new_row_axes(len(shown) + bool(n_more)) if ax is None else ax
        ax.barh(range(len(shown)), gain, BAR, color=[colours[why] for why in result.why[: len(shown)]], zorder=2)
        right = max([result.need, *gain.tolist()]) * 1.04
        ax.set_xlim(min([0.0, *(gain * 1.1).tolist()]), right)
        label_rows(
            ax,
            shown,
            title=f"What each feature adds for {short_name(result.label, LONGEST_TITLE)}",
            x_label=f"log-likelihood gained, in nats (dashed: {result.need:.1f} needed); right: explained so far",
            n_more=n_more,
        )
        mark_zero(ax)
        ax.axvline(result.need, color=MUTED, linewidth=1, linestyle=(0, (4, 3)), zorder=1)
        write_beside(ax, [f"{100 * share:.1f} %" for share in result.explained[: len(shown)]])
        if not shown:
            ax.text(0.5, 0.5, "No feature is chosen.", transform=ax.transAxes, ha="center", va="center", color=MUTED)
        used = [why for why in colours if why in result.why[: len(shown)]]
        add_legend(ax, [_patch(colours[why], words[why]) for why in used])
    return ax


# ---------------------------------------------------------------- parts of the figures


def _scores(result: "Relevance", order: Any) -> tuple[Floats, Floats, Floats]:
    """What features are ranked by, with its interval; NaN where there is none."""
    unknown = np.full(len(order), np.nan)
    low, high = result.score_low, result.score_high
    return result.score[order], unknown if low is None else low[order], unknown if high is None else high[order]


def _what(result: "Relevance", order: Any) -> str:
    """What the bars are, in words."""
    bases = {result.score_basis[i] for i in order} - {"none"}
    level = "" if result.settings.confidence is None else f", with its {100 * result.settings.confidence:g} % interval"
    if bases == {"effect"}:
        return f"effect: index less noise{level}"
    if bases == {"index"}:
        return f"index (ARI): share of pairs whose labels differ{level}"
    if bases == {"pairs within the radius"}:
        return f"score from pairs that differ on up to {result.settings.radius} features{level}"
    return f"score: index less noise where it is known{level}"


def _style(status: str) -> dict[str, Any]:
    """How the bar of a feature is drawn."""
    if status == "effect":
        return {"color": EFFECT}
    if status == "noise-unknown":
        return {"facecolor": "white", "edgecolor": MUTED, "linewidth": 1.2}
    return {"color": UNTOLD}


def _legend(statuses: set[str], noise_free: bool, *, hollow: bool = True) -> Iterator[Any]:
    """What the colours of the features shown mean."""
    from matplotlib.patches import Patch

    if "effect" in statuses:
        yield _patch(EFFECT, "changes the label" if noise_free else "told from noise")
    if statuses - {"effect"} - ({"noise-unknown"} if hollow else set()):
        yield _patch(UNTOLD, "no change seen" if noise_free else "not told from noise")
    if hollow and "noise-unknown" in statuses:
        yield Patch(**_style("noise-unknown"), label="noise unknown: an upper bound")


def _patch(colour: str, label: str) -> Any:
    from matplotlib.patches import Patch

    return Patch(color=colour, label=label)


def _whiskers(ax: "Axes", scores: Floats, low: Floats, high: Floats) -> None:
    """Intervals as thin lines with ends."""
    known = ~(np.isnan(scores) | np.isnan(low) | np.isnan(high))
    if known.any():
        middle, half = (low[known] + high[known]) / 2, (high[known] - low[known]) / 2
        ax.errorbar(
            middle,
            np.flatnonzero(known),
            xerr=half,
            fmt="none",
            ecolor=INK,
            elinewidth=1.1,
            capsize=2.5,
            capthick=1.1,
            zorder=3,
        )


def _reach(*numbers: Floats) -> tuple[float, float]:
    """Where the axis of scores begins and ends."""
    together = np.concatenate(numbers)
    lowest, highest = (float(limit(together, initial=0.0)) for limit in (np.nanmin, np.nanmax))
    highest = max(highest, SMALLEST)
    return (lowest - 0.03 * highest if lowest < 0 else 0.0), highest * 1.03


def _number(score: float) -> str:
    from analogical.presenting.words import shares

    return "–" if score != score else shares(score)


def _taken_together(by_distance: "Sequence[AtDistance]") -> "list[list[AtDistance]]":
    """Neighbouring distances, so that there are not too many rows."""
    every = -(-len(by_distance) // MOST_ROWS)
    return [list(by_distance[start : start + every]) for start in range(0, len(by_distance), every)]


def _span(part: "Sequence[AtDistance]") -> str:
    first, last = part[0].distance, part[-1].distance
    return f"{first}–{last} features" if first < last else "1 feature" if first == 1 else f"{first} features"


def _describe_pairs(part: "Sequence[AtDistance]") -> str:
    pairs, changed = (sum(getattr(at, name) for at in part) for name in ("pairs", "changed"))
    return f"{pairs:,} pair{'' if pairs == 1 else 's'}, {100 * changed / pairs:.0f} % changed"
