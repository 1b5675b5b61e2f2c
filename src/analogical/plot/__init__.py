"""Figures: one function per result, and the same colours for the same meaning everywhere.

Blue is a significant effect, grey is what is not, orange is what changed or stands out. Every function
takes ``ax`` and returns the axes it drew on; features are rows, best first, and at most 20 are shown. matplotlib is
imported when a figure is drawn.
"""

from analogical.plot.audit import plot_audit, plot_forest
from analogical.plot.canvas import require_matplotlib, save_figure
from analogical.plot.comparison import plot_comparison
from analogical.plot.evidence import plot_evidence, plot_transitions
from analogical.plot.interactions import plot_interactions, plot_squares
from analogical.plot.redundancies import plot_redundancies
from analogical.plot.relevance import plot_relevance
from analogical.plot.selection import plot_selection

__all__ = [
    "plot_audit",
    "plot_comparison",
    "plot_evidence",
    "plot_forest",
    "plot_interactions",
    "plot_redundancies",
    "plot_relevance",
    "plot_selection",
    "plot_squares",
    "plot_transitions",
    "require_matplotlib",
    "save_figure",
]
