"""Draw the pictures of the README and the docs again, from runs of the library on built-in and generated tables.

    python docs/pictures.py    # or: make pictures

The pictures lie in docs/images; each is drawn by one function below and has the name of that function.
"""

import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np

from analogical import audit, compare, interactions, load_table, relevance, select
from analogical.experiments import sample
from analogical.plotting import plot_stability, save_figure

DPI = 130
"""Enough for a page, and below 100 kB a picture."""
FOLDER = Path(__file__).resolve().parent / "images"


def relevance_monks() -> Any:
    """Which features decide the label of the MONK's problem 1."""
    return relevance(_monks(), "class").plot()


def audit_berkeley() -> Any:
    """Admission by gender, all else equal, beside the crude difference and by department."""
    return audit(load_table("berkeley").to_frame("polars"), "admitted", "gender", weights="count").plot()


def interactions_network() -> Any:
    """Which of 16 features act together, in 600 rows with 10 % label noise."""
    X, y = sample("g2", 16, 3, 600, seed=0)
    noise = np.random.default_rng(0).random(len(y)) < 0.1
    return interactions(X, np.where(noise, 1 - y, y)).plot()


def stability_monks() -> Any:
    """How firm the order of features is in a fifth of the rows of the MONK's problem 3."""
    monks = load_table("monks-3").to_frame("pandas").drop(columns="count")
    return plot_stability(relevance(monks.iloc[::5], "class", bootstrap=100))


def compare_monks() -> Any:
    """Several methods on the MONK's problem 1."""
    return compare(_monks(), "class", methods=["ari", "chi2", "mi", "forest", "relief"]).plot()


def select_monks() -> Any:
    """What each chosen feature adds on the MONK's problem 1."""
    return select(_monks(), "class", 4).plot()


def _monks() -> Any:
    return load_table("monks-1").to_frame("polars").drop("count")


PICTURES: tuple[Callable[[], Any], ...] = (
    relevance_monks,
    audit_berkeley,
    interactions_network,
    stability_monks,
    compare_monks,
    select_monks,
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
