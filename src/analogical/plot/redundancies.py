"""The figure of redundancies: which columns are constant, copies, or determined by others."""

from typing import TYPE_CHECKING

from analogical.plot.canvas import (
    BAR,
    CHANGED,
    EFFECT,
    MOST_ROWS,
    MUTED,
    UNTOLD,
    axes_with_rows,
    key,
    mark_zero,
    short_name,
)

if TYPE_CHECKING:
    from matplotlib.axes import Axes

    from analogical.verbs.redundancies import Redundancies

__all__ = ["plot_redundancies"]

COLOURS = {"constant": UNTOLD, "same information": CHANGED, "determined": EFFECT}
"""By the kind of redundancy."""


def plot_redundancies(result: "Redundancies", ax: "Axes | None" = None) -> "Axes":
    """Draw every redundant column with the columns that determine it.

    Parameters
    ----------
    result : Redundancies
        The result of :func:`analogical.redundancies`.
    ax : matplotlib Axes, optional
        Where to draw; a new figure if not given.

    Returns
    -------
    matplotlib.axes.Axes
        A bar is the share of the rows that could have contradicted the finding and did not: orange for columns that
        carry the same information as another, blue for columns that others determine. To its right are those columns.

    Examples
    --------
    >>> from analogical import redundancies
    >>> rows = [("Lyon", "FR", "+33"), ("Nice", "FR", "+33"), ("Turin", "IT", "+39")] * 10
    >>> ax = redundancies(rows, feature_names=["town", "country", "prefix"]).plot()
    >>> [text.get_text() for text in ax.texts]
    ['= country', 'by town']
    """
    findings = result.records()[:MOST_ROWS]
    kinds = [finding["kind"] for finding in findings]
    shares = [100 * finding["support"] / result.n_rows for finding in findings]
    with axes_with_rows(
        ax,
        [finding["feature"] for finding in findings],
        title=f"Redundant columns among {len(result.names):,}",
        x_label="tests passed: rows that could have contradicted the finding, in percent of all rows",
        beside=[_by(kind, finding["determined_by"]) for kind, finding in zip(kinds, findings, strict=True)],
        legend=[key(colour, kind) for kind, colour in COLOURS.items() if kind in kinds],
        n_more=len(result) - len(findings),
    ) as ax:
        ax.barh(range(len(findings)), shares, BAR, color=[COLOURS[kind] for kind in kinds], zorder=2)
        ax.set_xlim(0, 100)
        mark_zero(ax)
        if not findings:
            ax.text(0.5, 0.5, "No redundant column.", transform=ax.transAxes, ha="center", va="center", color=MUTED)
    return ax


def _by(kind: str, others: list[str]) -> str:
    """Which columns carry the information."""
    if kind == "constant":
        return "one value"
    return f"{'=' if kind == 'same information' else 'by'} {' and '.join(short_name(name) for name in others)}"
