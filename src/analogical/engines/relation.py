"""A table that DuckDB or Spark holds, as :mod:`analogical.engines.encode` asks it: by column names and SQL expressions.

Expressions use only our own column names (``p0``, ``label``, ...) and functions that all databases share; what differs
is in a :class:`Dialect`. Column names of the user are never written into an expression.
"""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Literal, Protocol, TypeVar

if TYPE_CHECKING:
    import pyarrow as pa

    from analogical.engines.values import ValueCounts

__all__ = ["LABEL", "ROW", "UNIT", "WEIGHT", "Dialect", "Kind", "Relation", "Summing"]

LABEL, WEIGHT, UNIT, ROW = "label", "weight", "unit", "row"
"""Columns beside the features. ``row`` is the position in the user's table if rows have an order, else a number."""

Kind = Literal["text", "bool", "whole", "real", "decimal", "day", "time", "clock", "duration", "nothing", "other"]
"""What a column holds, by its type in the engine."""

Sum = TypeVar("Sum")


class Summing(Protocol[Sum]):
    """A sum over the rows of a table, made part by part; Spark sends it to the executors."""

    def count(self, batches: Iterator["pa.RecordBatch"]) -> Sum:
        """The sum of some of the rows."""
        ...

    def add(self, sums: Sequence[Sum]) -> Sum:
        """The sum of sums, of which there is at least one."""
        ...


@dataclass(frozen=True)
class Dialect:
    """SQL that differs between engines: formats with ``{}`` for the column."""

    weekday: str
    """Days since Monday."""
    about_distinct: str
    """The approximate number of distinct values."""
    distinct_error: float
    """The relative error of that number."""
    duration: str
    """A duration as a value that can be compared."""
    timestamp: str
    """The type of times without a time zone."""
    matches: str
    """Whether a text matches a regular expression; the second place is for the expression, as a literal."""
    replaced: str
    """A text with all matches of an expression replaced; expression and replacement are literals."""
    group: str
    """The character before the number of a group in a replacement."""
    stripped: str
    """A text without some characters at its ends; the characters are a literal."""
    escapes: Mapping[str, str]
    """Characters that must be escaped in a literal, and how."""

    def literal(self, text: str) -> str:
        """A text as an SQL literal."""
        return "'" + text.translate({ord(letter): written for letter, written in self.escapes.items()}) + "'"

    def cast(self, cell: str, kind: str) -> str:
        """A text as a number or a date ("whole", "real", "day" or "time"); missing if it is none."""
        types = {"whole": "BIGINT", "real": "DOUBLE", "day": "DATE", "time": self.timestamp}
        return f"TRY_CAST({cell} AS {types[kind]})"


class Relation(Protocol):
    """A table in an engine; nothing is read until something is asked."""

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
        """The types of the columns in the engine's words, for messages."""
        ...

    @property
    def dialect(self) -> Dialect:
        """The SQL of the engine."""
        ...

    @property
    def most_values(self) -> int:
        """Largest number of distinct values of a column that are collected."""
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

    def aggregate(self, numbers: Mapping[str, str], doing: str) -> dict[str, Any]:
        """One row of aggregates."""
        ...

    def count_where(self, cells: Mapping[str, str], conditions: Mapping[str, Mapping[str, str]]) -> dict[str, int]:
        """How many rows meet each condition, by its name; conditions see the columns as the expressions ``cells``."""
        ...

    def count_values(self, columns: Sequence[str], limit: int) -> "dict[str, ValueCounts]":
        """The values of columns and the rows of each, weighted by the column ``weight`` if there is one."""
        ...

    def quantiles(self, column: str, n_parts: int) -> "pa.Array":
        """Distinct quantiles that divide the rows into about ``n_parts`` equal parts, in the column's own type."""
        ...

    def sample(self, columns: Sequence[str], n_rows: int, of_rows: int) -> "pa.Table":
        """About ``n_rows`` of the ``of_rows`` rows, at random or evenly spaced; all of them if there are no more."""
        ...

    def sum_batches(self, columns: Sequence[str], summing: Summing[Sum], doing: str) -> Sum:
        """The sum over all rows."""
        ...
