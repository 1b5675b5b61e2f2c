"""What an engine must do, and nothing more."""

from collections.abc import Callable, Sequence
from typing import Protocol, TypeVar

from analogical._progress import Progress
from analogical._types import CodedRows, Floats
from analogical.count.contexts import Contexts
from analogical.count.counts import PairCounts
from analogical.count.neighbours import Neighbours
from analogical.count.pairs import ContextSums

__all__ = ["Engine"]

Summary = TypeVar("Summary")


class Engine(Protocol):
    """Counts a table: the same whole numbers whatever the engine, equal with ``==``.

    An engine never scores, ranks, warns or formats. One that cannot do something raises an error that says so; it never
    returns less.
    """

    def rows_compared(self, n_features: int) -> int:
        """Rows that :meth:`count_neighbours` compares with each other at most; past it, rows are sampled."""
        ...

    def count_pairs(self, rows: CodedRows) -> PairCounts:
        """Pairs at distance 1, for every feature."""
        ...

    def sum_contexts(
        self, rows: CodedRows, summarise: Callable[[int, Contexts], Summary], *, features: Sequence[int] | None = None
    ) -> ContextSums[Summary]:
        """The same counts and a summary of the contexts of every feature, from one grouping of the rows.

        Summaries of parts of a table that share no context can be added (see ``PairCounts.__add__``).
        """
        ...

    def count_distances(self, rows: CodedRows, *, random_state: int | None = 0) -> Floats:
        """Pairs of rows at each distance, estimated from a sample of large tables."""
        ...

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
        ...
