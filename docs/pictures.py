"""Draw the pictures of the README and the docs again, from runs of the library on built-in and generated tables.

    python docs/pictures.py    # or: make pictures

The pictures lie in docs/images; each is drawn by one function below and has the name of that function.
"""

import sys
from collections.abc import Callable
from math import comb
from pathlib import Path
from typing import Any

import numpy as np

from analogical import Study, audit, compare, interactions, load_table, relevance, select
from analogical.paper import sample
from analogical.plot import plot_forest, save_figure
from analogical.plot.canvas import COLOURS, new_axes

DPI = 130
"""Enough for a page, and below 100 kB a picture."""
FOLDER = Path(__file__).resolve().parent / "images"


def relevance_monks() -> Any:
    """Which features decide the label of the MONK's problem 1."""
    return relevance(_monks(), "class").plot()


def audit_berkeley() -> Any:
    """Admission by gender, all else equal, beside the crude difference and by department."""
    return audit(load_table("berkeley").to_frame("polars"), "admitted", "gender", weights="count").plot()


def interactions_pairs() -> Any:
    """Which of 16 features act together, in 600 rows with 10 % label noise."""
    X, y = sample("g2", 16, 3, 600, seed=0)
    noise = np.random.default_rng(0).random(len(y)) < 0.1
    return interactions(X, np.where(noise, 1 - y, y)).plot()


def forest_titanic() -> Any:
    """Adjusted differences in survival on the Titanic, every value against its reference."""
    titanic = Study(load_table("titanic").to_frame("polars"), "survived", weights="count")
    return plot_forest(*(audit(titanic, feature=name) for name in ("class", "sex", "age")))


def compare_monks() -> Any:
    """Several methods on the MONK's problem 1."""
    return compare(_monks(), "class", methods=["ari", "chi2", "mi", "forest", "relief"]).plot()


def select_monks() -> Any:
    """What each chosen feature adds on the MONK's problem 1."""
    return select(_monks(), "class", 4).plot()


def counting_loans() -> Any:
    """How the pairs of a feature are counted by group sizes, on the five rows of how.md."""
    from matplotlib.patches import FancyBboxPatch

    rows = [("high", "none"), ("low", "none"), ("high", "much"), ("low", "much"), ("middle", "none")]
    labels = ["yes", "no", "no", "no", "yes"]
    everything = [list(range(len(rows)))]
    by_context = [[k for k in range(5) if rows[k][1] == debt] for debt in ("none", "much")]
    by_label = [[k for k in group if labels[k] == y] for group in by_context for y in ("yes", "no")]
    by_label = [group for group in by_label if group]
    pairs = sum(comb(len(group), 2) for group in by_context)
    unchanged = sum(comb(len(group), 2) for group in by_label)
    ax = new_axes(9.2, 3.3)
    ax.set_axis_off()
    ax.set_xlim(0, 100)
    ax.set_ylim(-1.0, 8.6)
    panels = (
        (0, "1  the table", everything, ""),
        (35, "2  same debt: the context", by_context, f"pairs = {_sum_of_twos(by_context)} = {pairs}"),
        (70, "3  same debt and label", by_label, f"unchanged = {_sum_of_twos(by_label)} = {unchanged}"),
    )
    for left, title, groups, sum_of_twos in panels:
        ax.text(left, 8.0, title, weight="bold", color=COLOURS.ink, fontsize=11)
        for at, word in zip((3, 11, 20), ("income", "debt", "approved"), strict=True):
            ax.text(left + at, 7.2, word, color=COLOURS.muted, fontsize=9)
        y = 6.4
        for group in groups:
            if left:
                box = (left + 0.2, y - len(group) + 0.48)
                style = "round,pad=0,rounding_size=0.25"
                ax.add_patch(
                    FancyBboxPatch(
                        box, 28.6, len(group) - 0.06, boxstyle=style, fc=COLOURS.grid, ec="none", mutation_aspect=0.3
                    )
                )
            for k in group:
                ax.text(left + 1, y, str(k), color=COLOURS.muted, fontsize=9, va="center")
                for at, word, colour in (
                    (3, rows[k][0], COLOURS.changed),
                    (11, rows[k][1], COLOURS.ink),
                    (20, labels[k], COLOURS.effect),
                ):
                    dropped = left and at == 3
                    ax.text(left + at, y, word, color=COLOURS.neutral if dropped else colour, fontsize=10, va="center")
                y -= 1
            y -= 0.25 if left else 0
        ax.text(left + 1, 0.5, sum_of_twos, color=COLOURS.ink, fontsize=10)
    changed = pairs - unchanged
    ax.text(
        0,
        -0.7,
        f"changed = {pairs} - {unchanged} = {changed}     index of income = {changed} / {pairs}",
        color=COLOURS.ink,
    )
    return ax


def _sum_of_twos(groups: list[list[int]]) -> str:
    return " + ".join(f"C2({len(group)})" for group in groups)


def _monks() -> Any:
    return load_table("monks-1").to_frame("polars").drop("count")


PICTURES: tuple[Callable[[], Any], ...] = (
    relevance_monks,
    audit_berkeley,
    interactions_pairs,
    forest_titanic,
    compare_monks,
    select_monks,
    counting_loans,
)


def main() -> int:
    """Draw all pictures."""
    FOLDER.mkdir(exist_ok=True)
    for draw in PICTURES:
        path = FOLDER / f"{draw.__name__}.png"
        save_figure(draw().figure, path, dpi=DPI)
        sys.stderr.write(f"{path.relative_to(FOLDER.parent.parent)}: {path.stat().st_size / 1000:.0f} kB\n")
    return 0


if __name__ == "__main__":
    sys.exit(main())
