"""The interface of an engine, which groups the rows of a table in a database or on a cluster."""

from collections.abc import Sequence
from typing import Protocol

from analogical._types import CodedRows, EngineName, Ints, Margins
from analogical.count.pairs import ContextSums

__all__ = ["Engine"]


class Engine(Protocol):
    """A labelled table in a database or on a cluster, encoded there; counts do not depend on the engine.

    Its columns are those of the study: first the features; then every numeric feature in each of ``NUMBERS_OF_BINS``
    numbers of bins, feature by feature, for contexts; and last the unit of each row, if rows depend on each other.
    An engine never scores, ranks, warns or formats. If it cannot do something, it raises an error; it never returns a
    part of the answer.
    """

    @property
    def name(self) -> EngineName:
        """Name of the engine."""
        ...

    @property
    def margins(self) -> Margins:
        """Counts of rows by label and by value of each feature."""
        ...

    @property
    def n_parts(self) -> int:
        """Upper bound of the number of parts whose sums are collected."""
        ...

    @property
    def unit(self) -> int | None:
        """The column of units (the last one); None if rows are independent."""
        ...

    def n_values_of(self, column: int) -> int:
        """Number of codes of a column; codes are below it."""
        ...

    def group(self, sets: Sequence[Sequence[int]], limit: int) -> list[CodedRows] | None:
        """For each set of columns, the distinct rows by values and label, with their counts.

        None if all sets together have more than ``limit`` of them.
        """
        ...

    def sum_contexts(self, most_cells: int) -> ContextSums:
        """The paper's counts, and the contexts of every feature given all others.

        Of each feature, at most ``most_cells`` cells are kept. Sums of parts of the table that share no context are
        added (see ``PairCounts.__add__``).
        """
        ...

    def sample(self, n_rows: int) -> CodedRows:
        """At most ``n_rows`` rows with all columns and weights: all in order, or those of ``evenly`` in a larger table.

        If rows have no order, they are drawn with a fixed seed.
        """
        ...

    def first_rows(self, columns: Sequence[int], rows: CodedRows) -> Ints | None:
        """Position in the user's table of the first row with each combination of values of these columns and label.

        ``rows`` are distinct combinations that occur, as returned by :meth:`group`. None if rows have no order.
        """
        ...

    def distinct(self) -> "Engine":
        """The distinct rows by features and label, without weights or other columns, in order of first occurrence."""
        ...
