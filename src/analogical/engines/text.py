"""Text columns of a table in an engine to missing cells, numbers and dates.

The rules are those of :mod:`analogical.io.typing`: the engine counts the cells that match each pattern, and converts
them. A column has one kind in all parts of the table.
"""

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from analogical._types import Note
from analogical.engines.relation import Relation
from analogical.io.typing import (
    FIRST_TESTS,
    FURTHER_TESTS,
    NUMBER,
    CellNotes,
    Converted,
    Reading,
    missing_words,
    needs_further_tests,
    settle,
)

__all__ = ["type_cells"]

SPACES = "".join(map(chr, (*range(9, 14), 32, 0x85, 0xA0, 0x1680, *range(0x2000, 0x200B), 0x2028, 0x2029, 0x202F)))
SPACES += "\u205f\u3000"
"""Characters that are stripped from cells."""

PLAIN = "^[0-9-][0-9.]*[0-9]$"
"""The usual spelling of numbers."""

Counts = dict[int, dict[str, int]]
"""By column, the number of cells that match each test."""


def type_cells(
    relation: Relation, names: Sequence[str], na: Sequence[str], separator: str, notes: list[Note]
) -> Relation:
    """The text columns ``c0``, ``c1``, ... as what they hold; ``names`` are the user's."""
    texts = _Texts(relation, names, missing_words(na))
    typed = texts.typed(separator)
    notes += texts.seen.notes()
    return typed


class _Texts:
    """Text columns, and notes on their cells."""

    def __init__(self, relation: Relation, names: Sequence[str], words: Sequence[str]) -> None:
        self.raw, self.names, self.words = relation, names, words
        self.dialect = relation.dialect
        self.seen = CellNotes()
        self.kept = self._find_kept()
        self.plain = relation.project(self.kept)

    def typed(self, separator: str) -> Relation:
        """All columns as what they hold."""
        counts = self._count_matches(range(len(self.names)), FIRST_TESTS)
        further = [k for k in counts if needs_further_tests(counts[k])]
        for k, more in self._count_matches(further, FURTHER_TESTS).items():
            counts[k] |= more
        columns = {}
        for k in counts:
            column = _EngineColumn(self.names[k], f"c{k}", self.plain)
            columns[column.cell] = column.converted(settle(column, counts[k], separator, self.seen))
        return self.plain.project(columns)

    def _stripped(self, name: str) -> str:
        return self.dialect.stripped.format(name, self.dialect.literal(SPACES))

    def _count_matches(self, places: Sequence[int], tests: Mapping[str, str]) -> Counts:
        """How many cells of each column match each test."""
        conditions = {
            f"c{k}": {"present": f"c{k} IS NOT NULL"}
            | {test: _matches(self.raw, f"c{k}", pattern) for test, pattern in tests.items()}
            for k in places
        }
        seen = self._count(self.kept, conditions)
        return {k: seen[f"c{k}"] for k in places}

    def _count(
        self, cells: Mapping[str, str], conditions: Mapping[str, Mapping[str, str]]
    ) -> dict[str, dict[str, int]]:
        """By column, how many cells meet each condition; conditions see the columns as the expressions ``cells``."""
        numbered = {
            column: {f"{column}_{i}": condition for i, condition in enumerate(own.values())}
            for column, own in conditions.items()
        }
        seen = self.raw.count_where(cells, numbered)
        return {
            column: {test: seen[f"{column}_{i}"] for i, test in enumerate(own)} for column, own in conditions.items()
        }

    def _find_kept(self) -> dict[str, str]:
        """Expressions that strip spaces and replace words for missing cells, in the columns that have any.

        Notes which words were read as missing, and whether spaces were stripped.
        """
        literals = {word: self.dialect.literal(word) for word in self.words}
        is_missing = f"IN ({', '.join(literals.values())})"
        stripped = {f"c{k}": self._stripped(f"c{k}") for k in range(len(self.names))}
        changes = {
            name: {
                "spaces": f"{self._may_change(name)} AND length({cell}) < length({name})",
                "words": f"{self._may_change(name)} AND lower({cell}) {is_missing}",
            }
            for name, cell in stripped.items()
        }
        seen = self._count({name: name for name in stripped}, changes)
        self.seen.has_spaces = any(own["spaces"] for own in seen.values())
        lower = {name: f"lower({cell})" for name, cell in stripped.items() if seen[name]["words"]}
        words = {name: {word: f"{name} = {literal}" for word, literal in literals.items()} for name in lower}
        for own in self._count(lower, words).values():
            self.seen.missing.update({word: n for word, n in own.items() if word and n})
        kept = {name: cell if seen[name]["spaces"] else name for name, cell in stripped.items()}
        return kept | {name: f"CASE WHEN NOT lower({kept[name]}) {is_missing} THEN {kept[name]} END" for name in lower}

    def _may_change(self, name: str) -> str:
        """A quick test whether a cell may have spaces around it or be a word for missing: most numbers have not."""
        is_number_missing = any(re.search(PLAIN, word) for word in self.words)
        return "true" if is_number_missing else f"NOT {_matches(self.raw, name, PLAIN)}"


@dataclass(frozen=True)
class _EngineColumn:
    """A column of text in an engine (see :class:`analogical.io.typing.TextColumn`)."""

    name: str
    cell: str
    """The name of the column in the engine."""
    relation: Relation

    def convert(self, reading: Reading) -> Converted:
        """What becomes of the cells that a reading accepts."""
        cell, converted = self.cell, self.converted(reading)
        is_accepted = "true" if reading.accepts is None else _matches(self.relation, cell, reading.accepts)
        wanted = {
            "failed": f"count(CASE WHEN {cell} IS NOT NULL AND {is_accepted} AND {converted} IS NULL THEN 1 END)",
            "different": self.relation.dialect.about_distinct.format(converted),
        }
        seen = self.relation.aggregate(wanted, "looking at numbers and dates")
        return Converted(seen["failed"], seen["different"])

    def count_words(self, pattern: str, limit: int) -> dict[str, int] | None:
        """Distinct cells that do not match a pattern, with their numbers; None if more than the limit."""
        words = self.relation.where(f"NOT {_matches(self.relation, self.cell, pattern)}")
        counted = words.count_values([self.cell], limit)[self.cell].sorted()
        return None if counted.is_full else dict(zip(counted.values.to_pylist(), counted.weights.tolist(), strict=True))

    def count_numbers(self) -> int:
        """Number of distinct plain numbers."""
        is_number = _matches(self.relation, self.cell, NUMBER)
        number = self.relation.dialect.cast(f"CASE WHEN {is_number} THEN {self.cell} END", "real")
        seen = self.relation.aggregate({"different": f"count(DISTINCT {number})"}, "looking at numbers")
        return int(seen["different"])

    def converted(self, reading: Reading) -> str:
        """The converted cells, as an expression; missing where that fails."""
        dialect, cell = self.relation.dialect, self.cell
        if reading.kind == "text":
            return cell
        if reading.accepts is not None:
            cell = f"CASE WHEN {_matches(self.relation, cell, reading.accepts)} THEN {cell} END"
        for pattern, by in reading.replacements:
            group = re.sub(r"\$(\d)", lambda found: dialect.group + found[1], by)
            cell = dialect.replaced.format(cell, *map(dialect.literal, (pattern, group)))
        return dialect.cast(cell, reading.kind)


def _matches(relation: Relation, cell: str, pattern: str) -> str:
    """Whether a cell matches a pattern, as an expression."""
    return relation.dialect.matches.format(cell, relation.dialect.literal(pattern))
