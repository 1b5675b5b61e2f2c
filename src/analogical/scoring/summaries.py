"""What is kept of the contexts of a feature: small, and additive over parts of a table that share no context."""

from dataclasses import dataclass

from analogical.counting.contexts import Contexts
from analogical.counting.counts import RowProfile
from analogical.scoring.significance import DealMoments

__all__ = ["FeatureSummary"]


@dataclass(frozen=True)
class FeatureSummary:
    """All that intervals and tests of one feature need."""

    profile: RowProfile
    """How many rows sit in how many pairs: for the interval of the index."""
    deals: DealMoments
    """The statistic of the test against noise, and its moments."""

    @classmethod
    def of(cls, contexts: Contexts) -> "FeatureSummary":
        """From the contexts of a feature."""
        return cls(contexts.profile, DealMoments.of(contexts))

    def __add__(self, other: "FeatureSummary") -> "FeatureSummary":
        return FeatureSummary(self.profile + other.profile, self.deals + other.deals)
