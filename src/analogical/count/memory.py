"""The engine that counts a table in this process, in threads."""

from collections.abc import Callable, Sequence
from typing import TypeVar

from analogical._progress import Progress
from analogical._types import CodedRows, Floats
from analogical.count.contexts import Contexts
from analogical.count.counts import PairCounts
from analogical.count.neighbours import (
    MAX_COMPARED,
    MAX_PAIRS,
    Neighbours,
    count_distances,
    count_neighbours,
    rows_compared,
)
from analogical.count.pairs import ContextSums, count_pairs, sum_contexts
from analogical.count.threads import n_threads_for

__all__ = ["MemoryEngine"]

Summary = TypeVar("Summary")


class MemoryEngine:
    """Counts in memory.

    Parameters
    ----------
    n_jobs : int, optional
        Threads, by joblib's conventions; the counts do not depend on it.
    max_pairs, max_compared : int
        Limits of the search beyond distance 1; past them pairs, or rows, are sampled.
    """

    def __init__(
        self, n_jobs: int | None = None, *, max_pairs: int = MAX_PAIRS, max_compared: int = MAX_COMPARED
    ) -> None:
        self.n_jobs = n_jobs
        self.max_pairs = max_pairs
        self.max_compared = max_compared

    def rows_compared(self, n_features: int) -> int:
        """Rows whose pairs are all compared; of more rows, this many are sampled."""
        return rows_compared(self.max_compared, n_features)

    def count_pairs(self, rows: CodedRows) -> PairCounts:
        """Pairs at distance 1, for every feature."""
        return count_pairs(rows, n_jobs=self.n_jobs)

    def sum_contexts(
        self, rows: CodedRows, summarise: Callable[[int, Contexts], Summary], *, features: Sequence[int] | None = None
    ) -> ContextSums[Summary]:
        """The same counts and a summary of the contexts of every feature."""
        return sum_contexts(rows, summarise, features=features, n_jobs=self.n_jobs)

    def count_distances(self, rows: CodedRows, *, random_state: int | None = 0) -> Floats:
        """Pairs of rows at each distance, estimated from a sample of large tables."""
        return count_distances(rows, random_state=random_state)

    def count_neighbours(
        self,
        rows: CodedRows,
        *,
        radius: int,
        decay: float = 1.0,
        merge: bool = True,
        random_state: int | None = 0,
        progress: Progress | None = None,
    ) -> Neighbours:
        """Pairs within a radius by the set of features on which they differ.

        Identical rows with the same label are compared as one, unless rows are to stay as they came.
        """
        return count_neighbours(
            rows,
            radius=radius,
            decay=decay,
            max_pairs=self.max_pairs,
            max_compared=self.max_compared,
            merge=merge,
            random_state=random_state,
            n_jobs=n_threads_for(self.n_jobs, rows.codes.size),
            progress=progress,
        )
