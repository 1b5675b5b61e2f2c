"""The paper's experiments: functions, samples, exact expectations, methods, tables and the figure."""

from analogical.experiments.comparison import Comparison, compare_methods
from analogical.experiments.exact import Expectation, expectation, no_pair_probability, universe_index
from analogical.experiments.functions import FUNCTIONS, Function
from analogical.experiments.methods import METHODS, Method
from analogical.experiments.protocol import Plan
from analogical.experiments.sampling import sample, sample_rows, universe

__all__ = [
    "FUNCTIONS",
    "METHODS",
    "Comparison",
    "Expectation",
    "Function",
    "Method",
    "Plan",
    "compare_methods",
    "expectation",
    "no_pair_probability",
    "sample",
    "sample_rows",
    "universe",
    "universe_index",
]
