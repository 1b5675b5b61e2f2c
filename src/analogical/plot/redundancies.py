"""The figure of redundancies: which columns are constant, copies, determined by others, or near-copies."""

from typing import TYPE_CHECKING, Any

from analogical.plot.canvas import (
    CHANGED,
    CHANGED_BACK,
    EFFECT,
    MOST_ROWS,
    NEUTRAL,
    axes_with_rows,
    draw_bars,
    key,
    short_name,
)

if TYPE_CHECKING:
    from matplotlib.axes import Axes

    from analogical.verbs.redundancies import Redundancies

__all__ = ["plot_redundancies"]

COLOURS = {"constant": NEUTRAL, "same information": CHANGED, "determined": EFFECT, "near-copy": CHANGED_BACK}
"""By the kind of redundancy."""


def plot_redundancies(result: "Redundancies", ax: "Axes | None") -> "Axes":
    """Every redundant column with the columns that determine it."""
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
