"""The figure of redundancies: which columns are constant, copies, determined by others, or near-copies."""

from typing import TYPE_CHECKING, Any

from analogical.plot.canvas import (
    CHANGED,
    CHANGED_BACK,
    EFFECT,
    MOST_ROWS,
    UNTOLD,
    axes_with_rows,
    draw_bars,
    key,
    short_name,
)

if TYPE_CHECKING:
    from matplotlib.axes import Axes

    from analogical.verbs.redundancies import Redundancies

__all__ = ["plot_redundancies"]

COLOURS = {"constant": UNTOLD, "same information": CHANGED, "determined": EFFECT, "near-copy": CHANGED_BACK}
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
        carry the same information as another, blue for columns that others determine. Of near-copies, light orange, it
        is the share of their entropy that another column does not leave open. To its right are those columns.

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
        beside=[_by(finding) for finding in findings],
        legend=[key(colour, kind) for kind, colour in COLOURS.items() if kind in kinds],
        n_more=len(result) - len(findings),
        empty="No redundant column.",
    ) as ax:
        draw_bars(ax, shares, [COLOURS[kind] for kind in kinds])
        ax.set_xlim(0, 100)
    return ax


def _by(finding: dict[str, Any]) -> str:
    """Which columns carry the information."""
    others = " and ".join(short_name(name) for name in finding["determined_by"])
    return {
        "constant": "one value",
        "same information": f"= {others}",
        "determined": f"by {others}",
        "near-copy": f"{others} leaves {100 * finding['left']:.1f} % open",
    }[finding["kind"]]
