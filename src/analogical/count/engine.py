"""What an engine must do, and nothing more: group the rows of one table that lie elsewhere."""

from collections.abc import Callable, Sequence
from typing import Protocol, TypeVar

from analogical._types import CodedRows, EngineName, Ints, Margins
from analogical.count.contexts import Contexts
from analogical.count.pairs import ContextSums

__all__ = ["Engine"]

Summary = TypeVar("Summary")


class Engine(Protocol):
    """A labelled table in a database or on a cluster, encoded there: the same whole numbers whatever the engine.

    Its columns are those of the study: 0 to n - 1 the features; then every number in each of ``NUMBERS_OF_BINS``
    numbers of bins, feature by feature, for contexts; and last the unit of each row, if rows depend on each other.
    ``EngineStudy`` asks it and goes on in this process. An engine never scores, ranks, warns or formats. One that
    cannot do something raises an error that says so; it never returns less.
    """

    @property
    def name(self) -> EngineName:
        """Who counts."""
        ...

    @property
    def margins(self) -> Margins:
        """How many rows have each label and each value of the features."""
        ...

    @property
    def n_parts(self) -> int:
        """Parts of the table whose sums come to this process, at most."""
        ...

    @property
    def unit(self) -> int | None:
        """The column of units, which is the last one; None if rows are independent."""
        ...

    def n_values_of(self, column: int) -> int:
        """Codes of a column: they are below this number."""
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

    def sample(self, n_rows: int) -> CodedRows:
        """At most so many rows, with all columns: all of them in order, or those of ``evenly`` in a larger table.

        Rows with a weight keep it. Where rows have no order, they are drawn with a fixed seed.
        """
        ...

    def first_rows(self, columns: Sequence[int], rows: CodedRows) -> Ints | None:
        """For each combination of values of these columns and label its first row, by position in the user's table.

        ``rows`` are combinations that occur, once each, as :meth:`group` gives them. None where rows have no order.
        """
        ...

    def distinct(self) -> "Engine":
        """The table of the features alone, each row with its label once, without weights, in order of the first ones.

        It has no other columns.
        """
        ...
