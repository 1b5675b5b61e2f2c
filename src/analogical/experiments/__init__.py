"""The synthetic functions of the paper and samples of their universes."""

from analogical.experiments.functions import FUNCTIONS, Function
from analogical.experiments.sampling import sample, sample_rows, universe

__all__ = ["FUNCTIONS", "Function", "sample", "sample_rows", "universe"]
