"""The paper's experiments: functions, samples, exact expectations, tables and the figure."""

from analogical.paper.functions import (
    FUNCTIONS,
    Expectation,
    Function,
    expectation,
    no_pair_probability,
    sample,
    sample_rows,
    universe,
    universe_index,
)
from analogical.paper.tables import Plan

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
