"""A table that lies elsewhere, as :mod:`analogical.engines.encode` speaks to it: names of columns and SQL expressions.

Expressions use our own names of columns only (``p0``, ``label``, ...) and functions that all databases share; the few
that differ are in a :class:`Dialect`. No name and no value of the user's table is ever written into an expression.
"""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Literal, Protocol, TypeVar

if TYPE_CHECKING:
    import pyarrow as pa

    from analogical.engines.values import ValueCounts

__all__ = ["LABEL", "ROW", "UNIT", "WEIGHT", "Dialect", "Kind", "Relation", "Summing"]

LABEL, WEIGHT, UNIT, ROW = "label", "weight", "unit", "row"
"""Columns beside the features; ``row`` is the position of a row in the user's table, where rows have an order."""

Kind = Literal["text", "bool", "whole", "real", "decimal", "day", "time", "clock", "duration", "nothing", "other"]
"""What the cells of a column are, by the type that the engine gives them."""

Sum = TypeVar("Sum")


class Summing(Protocol[Sum]):
    """What is summed up over the rows of a table, part by part; it is sent to where the rows lie."""

    def count(self, batches: Iterator["pa.RecordBatch"]) -> Sum:
        """The sum of some of the rows."""
        ...

    def add(self, sums: Sequence[Sum]) -> Sum:
        """The sum of sums, of which there is at least one."""
        ...


@dataclass(frozen=True)
class Dialect:
    """What engines write differently: formats with ``{}`` for the column."""

    weekday: str
    """Days since Monday."""
    about_distinct: str
    """About how many different values there are."""
    distinct_error: float
    """How far that may be off, as a share."""
    duration: str
    """A duration as something that can be compared."""
    long: str
    """The type of whole numbers of 64 bits."""
    text: str
    """The type of texts."""
    matches: str
    """Whether a text matches a regular expression; the second place is for the expression, as a literal."""
    replaced: str
    """A text with all matches of an expression replaced; expression and replacement are literals."""
    group: str
    """What stands before the number of a group of an expression in what takes its place."""
    stripped: str
    """A text without some letters at its ends; the letters are a literal."""
    escapes: Mapping[str, str]
    """How letters are written in a literal that cannot stand there as they are."""
    casts: Mapping[str, str]
    """A text as a number or a date, missing where it is none, for "whole", "real", "day" and "time"."""

    def literal(self, text: str) -> str:
        """A text of our own, or a word that the user typed, as it stands in an expression."""
        return "'" + text.translate({ord(letter): written for letter, written in self.escapes.items()}) + "'"


class Relation(Protocol):
    """A table that lies elsewhere; nothing is read until something is asked."""

    @property
    def columns(self) -> tuple[str, ...]:
        """Names of the columns."""
        ...

    @property
    def kinds(self) -> Mapping[str, Kind]:
        """What each column holds."""
        ...

    @property
    def types(self) -> Mapping[str, str]:
        """The engine's own names of these, for messages."""
        ...

    @property
    def dialect(self) -> Dialect:
        """How the engine writes what differs."""
        ...

    @property
    def most_values(self) -> int:
        """Different values of a column that may come to this process."""
        ...

    def numbered(self) -> "Relation":
        """The columns as ``s0``, ``s1``, ... in their order, and ``row``, if the rows have an order."""
        ...

    def project(self, columns: Mapping[str, str]) -> "Relation":
        """Columns by name, each as an expression of the present ones."""
        ...

    def where(self, condition: str) -> "Relation":
        """The rows for which a condition is true."""
        ...

    def look(self, numbers: Mapping[str, str], doing: str) -> dict[str, Any]:
        """One row of aggregates."""
        ...

    def count_where(self, cells: Mapping[str, str], conditions: Mapping[str, Mapping[str, str]]) -> dict[str, int]:
        """How many rows meet each condition, by its name, on columns as expressions of themselves (``cells``)."""
        ...

    def count_values(self, columns: Sequence[str], limit: int) -> "dict[str, ValueCounts]":
        """The values of columns, with their rows; rows count with the column ``weight`` if there is one."""
        ...

    def steps(self, column: str, n_steps: int) -> "pa.Array":
        """Where steps of about equally many rows begin, the lowest value first, each once, as the column's own type."""
        ...

    def sample(self, columns: Sequence[str], n_rows: int, of_rows: int) -> "pa.Table":
        """About so many of so many rows, all of them if there are no more, by chance or evenly spaced."""
        ...

    def sum_batches(self, columns: Sequence[str], summing: Summing[Sum], doing: str) -> Sum:
        """Something summed up over all rows."""
        ...
