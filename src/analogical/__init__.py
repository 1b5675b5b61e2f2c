"""Which features decide the label, all else being equal: the Analogical Relevance Index."""

from typing import TYPE_CHECKING, Any

from analogical._audit import Audit, Effect, audit
from analogical._evidence import Evidence, EvidencePair, Transition, Transitions, evidence, transitions
from analogical._redundancy import Dependency, Dropped, Redundancies, redundancies
from analogical._relevance import NoiseFloor, Relevance, Settings, ari_score, relevance
from analogical._tables import Table, load_table, table_names
from analogical.errors import AnalogicalError, InputError, MissingDependencyError

if TYPE_CHECKING:
    from analogical._selector import AnalogicalSelector

__all__ = [
    "AnalogicalError",
    "AnalogicalSelector",
    "Audit",
    "Dependency",
    "Dropped",
    "Effect",
    "Evidence",
    "EvidencePair",
    "InputError",
    "MissingDependencyError",
    "NoiseFloor",
    "Redundancies",
    "Relevance",
    "Settings",
    "Table",
    "Transition",
    "Transitions",
    "ari_score",
    "audit",
    "evidence",
    "load_table",
    "redundancies",
    "relevance",
    "table_names",
    "transitions",
]


def __getattr__(name: str) -> Any:
    """Import scikit-learn, and with it pandas, only when its part of the library is asked for."""
    if name == "AnalogicalSelector":
        from analogical._selector import AnalogicalSelector

        return AnalogicalSelector
    if name == "__version__":
        from importlib.metadata import version

        return version("analogical")
    raise AttributeError(f"module 'analogical' has no attribute {name!r}")


def __dir__() -> list[str]:
    return [*__all__, "__version__", "definitions", "errors", "experiments"]
