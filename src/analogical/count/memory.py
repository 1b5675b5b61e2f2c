"""The engine that counts a table in this process, in threads."""

from collections.abc import Callable, Sequence
from typing import TypeVar

from analogical._types import CodedRows
from analogical.count.contexts import Contexts
from analogical.count.counts import PairCounts
from analogical.count.pairs import ContextSums, count_pairs, sum_contexts

__all__ = ["MemoryEngine"]

Summary = TypeVar("Summary")


class MemoryEngine:
    """Counts in memory.

    Parameters
    ----------
    n_jobs : int, optional
        Threads, by joblib's conventions; the counts do not depend on it.
    """

    def __init__(self, n_jobs: int | None = None) -> None:
        self.n_jobs = n_jobs

    def count_pairs(self, rows: CodedRows) -> PairCounts:
        """Pairs at distance 1, for every feature."""
        return count_pairs(rows, n_jobs=self.n_jobs)

    def sum_contexts(
        self, rows: CodedRows, summarise: Callable[[int, Contexts], Summary], *, features: Sequence[int] | None = None
    ) -> ContextSums[Summary]:
        """The same counts and a summary of the contexts of every feature."""
        return sum_contexts(rows, summarise, features=features, n_jobs=self.n_jobs)
