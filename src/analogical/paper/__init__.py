"""The paper's experiments: functions, samples, exact expectations, tables and the figure."""

from importlib import import_module
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from analogical.paper.exact import Expectation, expectation, no_pair_probability, universe_index
    from analogical.paper.functions import FUNCTIONS, Function
    from analogical.paper.protocol import Plan
    from analogical.paper.sampling import sample, sample_rows, universe

__all__ = [
    "FUNCTIONS",
    "Expectation",
    "Function",
    "Plan",
    "expectation",
    "no_pair_probability",
    "sample",
    "sample_rows",
    "universe",
    "universe_index",
]

_HOMES = {
    "exact": ("Expectation", "expectation", "no_pair_probability", "universe_index"),
    "functions": ("FUNCTIONS", "Function"),
    "protocol": ("Plan",),
    "sampling": ("sample", "sample_rows", "universe"),
}


def __getattr__(name: str) -> Any:
    """Import the module of a public name: some need scipy.stats or scikit-learn."""
    for home, names in _HOMES.items():
        if name in names:
            return getattr(import_module(f"analogical.paper.{home}"), name)
    raise AttributeError(f"module 'analogical.paper' has no attribute {name!r}")
