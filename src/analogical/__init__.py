"""Which features decide the label, all else being equal: the Analogical Relevance Index."""

from typing import TYPE_CHECKING, Any

from analogical._relevance import Relevance, Settings, ari_score, relevance
from analogical._tables import Table, load_table, table_names
from analogical.errors import AnalogicalError, InputError, MissingDependencyError

if TYPE_CHECKING:
    from analogical._selector import AnalogicalSelector

__all__ = [
    "AnalogicalError",
    "AnalogicalSelector",
    "InputError",
    "MissingDependencyError",
    "Relevance",
    "Settings",
    "Table",
    "ari_score",
    "load_table",
    "relevance",
    "table_names",
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
