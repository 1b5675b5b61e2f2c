"""The paper's figure: what four methods make of g8, "the row is a prime number"."""

from typing import TYPE_CHECKING

import numpy as np

from analogical.paper.published import published
from analogical.paper.results import ReproducedTable
from analogical.plot import bar_charts
from analogical.rivals import METHODS

if TYPE_CHECKING:
    from matplotlib.figure import Figure

__all__ = ["draw_figure"]


def draw_figure(table1: ReproducedTable) -> "Figure":
    """Bar charts of the g8 rows of Table 1, with the printed values of that table as marks."""
    printed = published("table1")["g8"]
    panels, marks = {}, {}
    for method in ("ari", "chi2", "mi", "relief"):
        cells = table1.cells_of("g8", method)
        title = METHODS[method].title
        panels[title] = np.array([np.nan if cell.ours is None else cell.ours for cell in cells])
        marks[title] = printed[method]
    names = [cell.column for cell in table1.cells_of("g8", "ari")]
    how = {
        "corrected": "every method on the same random thirds of the 1,024 numbers",
        "as-published": "the authors' samples, normalisation and Relief",
    }
    return bar_charts(
        names,
        panels,
        title="Which binary digits decide whether a number is prime (g8)",
        caption=f"{table1.variant}: {how[table1.variant]}; a10 is the last digit, the highest bar stands out",
        marks=marks,
        mark_label="printed in Table 1",
    )
