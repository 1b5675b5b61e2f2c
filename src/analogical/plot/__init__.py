"""Figures of results, with the same colours for the same meaning everywhere.

Every result but a report has a ``plot(ax)`` that draws it, without ``ax`` in a new figure, and returns the axes. Blue
is a significant effect, grey is what is not, orange is what changed or stands out. Features are rows, best first, and
at most 20 are shown. matplotlib is imported when a figure is drawn.
"""

from analogical.plot.canvas import save_figure
from analogical.plot.figures import plot_forest

__all__ = ["plot_forest", "save_figure"]
