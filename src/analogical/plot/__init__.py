"""Figures: one function per result, and the same colours for the same meaning everywhere.

Blue is a significant effect, grey is what is not, orange is what changed or stands out. Every function
takes ``ax`` and returns the axes it drew on; features are rows, best first, and at most 20 are shown. matplotlib is
imported when a figure is drawn.
"""

from analogical.plot.audits import plot_audit, plot_transitions
from analogical.plot.canvas import require_matplotlib, save_figure
from analogical.plot.features import plot_relevance, plot_selection
from analogical.plot.methods import bar_charts, plot_comparison
from analogical.plot.pairs import plot_interactions, plot_squares

__all__ = [
    "bar_charts",
    "plot_audit",
    "plot_comparison",
    "plot_interactions",
    "plot_relevance",
    "plot_selection",
    "plot_squares",
    "plot_transitions",
    "require_matplotlib",
    "save_figure",
]
