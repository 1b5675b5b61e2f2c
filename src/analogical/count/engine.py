"""What an engine must do, and nothing more: group the rows of one table that lie elsewhere."""

from collections.abc import Callable, Sequence
from typing import Protocol, TypeVar

from analogical._types import CodedRows, Margins
from analogical.count.contexts import Contexts
from analogical.count.pairs import ContextSums

__all__ = ["Engine"]

Summary = TypeVar("Summary")


class Engine(Protocol):
    """A labelled table in a database or on a cluster, encoded there: the same whole numbers whatever the engine.

    ``EngineStudy`` asks it and goes on in this process. An engine never scores, ranks, warns or formats. One that
    cannot do something raises an error that says so; it never returns less.
    """

    @property
    def margins(self) -> Margins:
        """How many rows have each label and each value."""
        ...

    @property
    def n_parts(self) -> int:
        """Parts of the table whose sums come to this process, at most."""
        ...

    def group(self, sets: Sequence[Sequence[int]], limit: int) -> list[CodedRows] | None:
        """For each set of columns one row for each combination of values and label that occurs, with its number.

        None if these are more than the limit, for all sets together.
        """
        ...

    def sum_contexts(self, summarise: Callable[[int, Contexts], Summary]) -> ContextSums[Summary]:
        """The paper's counts, and a summary of the contexts of every feature given all others.

        Summaries of parts of the table that share no context are added (see ``PairCounts.__add__``).
        """
        ...
