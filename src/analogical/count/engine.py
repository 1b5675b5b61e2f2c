"""What an engine must do, and nothing more."""

from collections.abc import Callable, Sequence
from typing import Protocol, TypeVar

from analogical._types import CodedRows
from analogical.count.contexts import Contexts
from analogical.count.counts import PairCounts
from analogical.count.pairs import ContextSums

__all__ = ["Engine"]

Summary = TypeVar("Summary")


class Engine(Protocol):
    """Counts a table: the same whole numbers whatever the engine, equal with ``==``.

    An engine never scores, ranks, warns or formats. One that cannot do something raises an error that says so; it never
    returns less.
    """

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
