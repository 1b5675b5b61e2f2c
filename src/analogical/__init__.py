"""Which features the label depends on, given the others: the Analogical Relevance Index."""

from importlib import import_module
from typing import TYPE_CHECKING, Any

from analogical.errors import AnalogicalError, InputError, MissingDependencyError, SparkError

if TYPE_CHECKING:
    from analogical.columns.rules import ColumnOptions
    from analogical.datasets import BuiltInTable, load_table, table_names
    from analogical.questions.audit import Audit, Difference, InContext, audit
    from analogical.questions.compare import Comparison, compare
    from analogical.questions.evidence import Evidence, ExampleRows, Transition, Transitions, evidence, transitions
    from analogical.questions.interactions import Interaction, Interactions, interactions
    from analogical.questions.redundancies import Dependency, NearCopy, Redundancies, redundancies
    from analogical.questions.relevance import (
        Direction,
        FeatureColumn,
        Relevance,
        Settings,
        Slope,
        ari_score,
        relevance,
    )
    from analogical.questions.report import Report, report
    from analogical.questions.select import Selection, select
    from analogical.questions.selector import AnalogicalSelector, Dropped, SelectionWarning
    from analogical.study import Study

__all__ = [
    "AnalogicalError",
    "AnalogicalSelector",
    "Audit",
    "BuiltInTable",
    "ColumnOptions",
    "Comparison",
    "Dependency",
    "Difference",
    "Direction",
    "Dropped",
    "Evidence",
    "ExampleRows",
    "FeatureColumn",
    "InContext",
    "InputError",
    "Interaction",
    "Interactions",
    "MissingDependencyError",
    "NearCopy",
    "Redundancies",
    "Relevance",
    "Report",
    "Selection",
    "SelectionWarning",
    "Settings",
    "Slope",
    "SparkError",
    "Study",
    "Transition",
    "Transitions",
    "ari_score",
    "audit",
    "compare",
    "evidence",
    "interactions",
    "load_table",
    "redundancies",
    "relevance",
    "report",
    "select",
    "table_names",
    "transitions",
]


_HOMES = {
    "questions.audit": ("Audit", "Difference", "InContext", "audit"),
    "questions.compare": ("Comparison", "compare"),
    "questions.evidence": ("Evidence", "ExampleRows", "Transition", "Transitions", "evidence", "transitions"),
    "questions.interactions": ("Interaction", "Interactions", "interactions"),
    "questions.redundancies": ("Dependency", "NearCopy", "Redundancies", "redundancies"),
    "questions.relevance": ("Direction", "FeatureColumn", "Relevance", "Settings", "Slope", "ari_score", "relevance"),
    "questions.report": ("Report", "report"),
    "questions.select": ("Selection", "select"),
    "questions.selector": ("AnalogicalSelector", "Dropped", "SelectionWarning"),
    "study": ("Study",),
    "columns.rules": ("ColumnOptions",),
    "datasets": ("BuiltInTable", "load_table", "table_names"),
}
"""The module of each public name; it is imported when one of its names is used."""


def __getattr__(name: str) -> Any:
    """Import the module of a public name, so that scikit-learn, for example, is loaded for the selector only."""
    for home, names in _HOMES.items():
        if name in names:
            globals()[name] = getattr(import_module(f"analogical.{home}"), name)
            return globals()[name]
    if name == "__version__":
        from importlib.metadata import version

        return version("analogical")
    raise AttributeError(f"module 'analogical' has no attribute {name!r}")


def __dir__() -> list[str]:
    return [*__all__, "__version__", "errors", "paper", "plot"]
