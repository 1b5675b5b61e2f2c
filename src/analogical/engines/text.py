"""Text columns of a table in an engine to missing cells, numbers and dates.

The rules are those of :mod:`analogical.io.typing`: the engine counts the cells that match each pattern, and converts
them. A column has one kind in all parts of the table.
"""

import re
from collections.abc import Mapping, Sequence

from analogical._types import Note
from analogical.engines.relation import Relation
from analogical.io.typing import (
    FIRST_TESTS,
    FURTHER_TESTS,
    MOST_NAMED,
    MOST_WORDS,
    NUMBER,
    CellNotes,
    Reading,
    decide,
    holds_words,
    may_hold_numbers,
    missing_words,
    needs_further_tests,
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
            reading = self._settled(k, decide(counts[k], separator), counts[k])
            if reading.kind == "text":
                self._name_words(k, counts[k])
            columns[f"c{k}"] = self._converted(f"c{k}", reading)
        return self.plain.project(columns)

    def _stripped(self, name: str) -> str:
        return self.dialect.stripped.format(name, self.dialect.literal(SPACES))

    def _matches(self, name: str, pattern: str) -> str:
        return self.dialect.matches.format(name, self.dialect.literal(pattern))

    def _count_matches(self, places: Sequence[int], tests: Mapping[str, str]) -> Counts:
        """How many cells of each column match each test."""
        conditions = {}
        for k in places:
            own = {f"t{k}_{i}": self._matches(f"c{k}", pattern) for i, pattern in enumerate(tests.values())}
            conditions[f"c{k}"] = {f"t{k}_present": f"c{k} IS NOT NULL"} | own
        seen = self.raw.count_where(self.kept, conditions)
        return {
            k: {"present": seen[f"t{k}_present"]} | {name: seen[f"t{k}_{i}"] for i, name in enumerate(tests)}
            for k in places
        }

    def _find_kept(self) -> dict[str, str]:
        """Expressions that strip spaces and replace words for missing cells, in the columns that have any.

        Notes which words were read as missing, and whether spaces were stripped.
        """
        literals = [self.dialect.literal(word) for word in self.words]
        names = {f"c{k}": self._stripped(f"c{k}") for k in range(len(self.names))}
        itself = {name: name for name in names}
        changes = {
            name: {
                f"{name}_spaces": f"{self._may_change(name)} AND length({cell}) < length({name})",
                f"{name}_words": f"{self._may_change(name)} AND lower({cell}) IN ({', '.join(literals)})",
            }
            for name, cell in names.items()
        }
        seen = self.raw.count_where(itself, changes)
        worded = {name: cell for name, cell in names.items() if seen[f"{name}_words"]}
        words = {name: {f"{name}_{i}": f"{name} = {w}" for i, w in enumerate(literals)} for name in worded}
        counts = self.raw.count_where({name: f"lower({cell})" for name, cell in worded.items()}, words)
        for i, word in enumerate(self.words):
            n = sum(counts[f"{name}_{i}"] for name in worded)
            self.seen.missing.update({word: n} if word and n else {})
        self.seen.has_spaces = any(seen[f"{name}_spaces"] for name in names)
        kept = {name: cell if seen[f"{name}_spaces"] else name for name, cell in names.items()}
        without = {
            name: f"CASE WHEN lower({kept[name]}) NOT IN ({', '.join(literals)}) THEN {kept[name]} END"
            for name in worded
        }
        return kept | without

    def _may_change(self, name: str) -> str:
        """A quick test whether a cell may have spaces around it or be a word for missing: most numbers have not."""
        is_number_missing = any(re.search(PLAIN, word) for word in self.words)
        return "true" if is_number_missing else f"NOT {self._matches(name, PLAIN)}"

    def _settled(self, place: int, reading: Reading, counts: Mapping[str, int]) -> Reading:
        """The reading if all cells but a few distinct words can be converted; otherwise text."""
        cell, words = f"c{place}", dict[str, int]()
        if reading.accepts is not None or not reading.is_sure:
            is_accepted = "true" if reading.accepts is None else self._matches(cell, reading.accepts)
            converted = self._converted(cell, reading)
            wanted = {
                "failed": f"count(CASE WHEN {cell} IS NOT NULL AND {is_accepted} AND {converted} IS NULL THEN 1 END)",
                "different": self.dialect.about_distinct.format(converted),
            }
            seen = self.plain.look(wanted, "looking at numbers and dates")
            if seen["failed"]:
                return Reading()
            if reading.accepts is not None:
                others = self._words(place, f"NOT {is_accepted}", MOST_WORDS)
                if others is None or (others and not holds_words(others, seen["different"])):
                    return Reading()
                words = others
        n_written = counts["present"] - counts["number"] - sum(words.values())
        self.seen.add(self.names[place], reading, n_written, dict(sorted(words.items())))
        return reading

    def _words(self, place: int, condition: str, limit: int) -> dict[str, int] | None:
        """Distinct cells of a column that meet a condition, with their numbers; None if more than the limit."""
        counted = self.plain.where(condition).count_values([f"c{place}"], limit)[f"c{place}"].sorted()
        return None if counted.is_full else dict(zip(counted.values.to_pylist(), counted.weights.tolist(), strict=True))

    def _name_words(self, place: int, counts: Mapping[str, int]) -> None:
        """Note a column of numbers that stays text because it holds too many words."""
        if not may_hold_numbers(counts):
            return
        is_number = self._matches(f"c{place}", NUMBER)
        number = self.dialect.cast(f"CASE WHEN {is_number} THEN c{place} END", "real")
        seen = self.plain.look({"different": f"count(DISTINCT {number})"}, "looking at numbers")
        words = self._words(place, f"NOT {is_number}", MOST_NAMED)
        if words is not None:
            self.seen.add_mixture(self.names[place], counts, seen["different"], words)

    def _converted(self, cell: str, reading: Reading) -> str:
        """The converted cells; missing where that fails."""
        if reading.kind == "text":
            return cell
        if reading.accepts is not None:
            cell = f"CASE WHEN {self._matches(cell, reading.accepts)} THEN {cell} END"
        for pattern, by in reading.steps:
            group = re.sub(r"\$(\d)", lambda found: self.dialect.group + found[1], by)
            cell = self.dialect.replaced.format(cell, *map(self.dialect.literal, (pattern, group)))
        return self.dialect.cast(cell, reading.kind)
