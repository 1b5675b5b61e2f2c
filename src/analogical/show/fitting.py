"""Fits tables to a width: texts are wrapped or shortened, columns left out, and numbers never cut."""

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, replace
from itertools import zip_longest
from typing import NamedTuple

from analogical.show.views import Cell, Heading, Table
from analogical.show.words import LONG_NAME, shorten_apart, width_of, wrap_words

__all__ = ["FittedTable", "fit_table"]

GAP = 2
"""Spaces between two columns."""
READABLE_NAME = 14
"""Names are shortened to this width before bars are dropped."""
EXTRA = 4
"""Columns with this drop order or a higher one are dropped before bars are."""
SHORTEST_NAME = 7
"""Names are shortened to this width before a column of numbers is dropped."""
LONGEST_WORD = 24
"""Longer words of wrapped cells are broken, so that one long name does not displace the numbers."""
BAR_WIDTH = 6
EIGHTHS = " ▏▎▍▌▋▊▉█"


@dataclass(frozen=True)
class FittedTable:
    """Lines of padded cells, to be written one after the other."""

    lines: tuple[tuple[Cell, ...], ...]
    left_out: tuple[str, ...]
    """Titles of the columns for which there was no room."""


@dataclass(frozen=True)
class _FilledColumn:
    """A column with its cells; the first one is its title, if the table has a head."""

    heading: Heading
    cells: tuple[Cell, ...]

    @property
    def width(self) -> int:
        return max((width_of(cell.text) for cell in self.cells), default=0)

    @property
    def has_bar(self) -> bool:
        return any(cell.bar is not None for cell in self.cells)

    def without_bars(self) -> "_FilledColumn":
        return _FilledColumn(self.heading, tuple(replace(cell, bar=None) for cell in self.cells))

    def narrowest(self, shortest_name: int) -> int:
        """How narrow the column may become."""
        if self.heading.may_shorten:
            return min(self.width, shortest_name)
        if self.heading.may_wrap:
            words = (word for cell in self.cells for word in cell.text.split())
            return min(LONGEST_WORD, max(map(width_of, words), default=0))
        return self.width

    def blocks(self, width: int, ellipsis: str) -> list[list[str]]:
        """The lines of each cell."""
        texts = [cell.text for cell in self.cells]
        if self.heading.may_wrap:
            return [wrap_words(text, width) for text in texts]
        if width < self.width:
            texts = shorten_apart(texts, width, ellipsis)
        return [[text] for text in texts]


class _Plan(NamedTuple):
    """Columns to show, and how far names may be shortened."""

    columns: tuple[_FilledColumn, ...]
    shortest_name: int


def fit_table(
    table: Table, width: int, *, keeps_all: bool = False, writable: Callable[[str], str] = str, blocks: bool = True
) -> FittedTable:
    """A table as lines of a width.

    If there is not enough room, cells are wrapped and names shortened, as far as their headings allow; then bars and
    columns are dropped, in the order that the headings say. Lines may still be too wide. With ``keeps_all`` nothing is
    dropped and only very long names are shortened. ``writable`` makes the replacements that the encoding of the output
    needs; bars are drawn with ``blocks``, or with ``#``.
    """
    titles = [tuple(Cell(heading.title, "strong") for heading in table.headings)] if table.has_head else []
    cells = [[replace(cell, text=writable(cell.text)) for cell in row] for row in (*titles, *table.rows)]
    all_columns = tuple(
        _FilledColumn(heading, tuple(row[k] for row in cells)) for k, heading in enumerate(table.headings)
    )
    for columns, shortest_name in _plans(all_columns, keeps_all):
        floors = [column.narrowest(shortest_name) for column in columns]
        room = width - GAP * (len(columns) - 1) - (GAP + BAR_WIDTH) * sum(column.has_bar for column in columns)
        if sum(floors) <= room:
            break
    widths = _shrink([column.width for column in columns], floors, room)
    kept = {column.heading for column in columns}
    return FittedTable(
        lines=tuple(_lines(columns, widths, writable("…"), blocks)),
        left_out=tuple(column.heading.title for column in all_columns if column.heading not in kept),
    )


def _plans(columns: tuple[_FilledColumn, ...], keeps_all: bool) -> Iterator[_Plan]:
    """Ways to show a table, the fullest first."""
    if keeps_all:
        yield _Plan(columns, LONG_NAME)
        return
    orders = sorted({column.heading.drop_order for column in columns} - {0}, reverse=True)
    yield _Plan(columns, READABLE_NAME)
    for order in orders:
        if order >= EXTRA:
            columns = tuple(column for column in columns if column.heading.drop_order < order)
            yield _Plan(columns, READABLE_NAME)
    columns = tuple(column.without_bars() for column in columns)
    yield _Plan(columns, READABLE_NAME)
    yield _Plan(columns, SHORTEST_NAME)
    for order in orders:
        if order < EXTRA:
            yield _Plan(tuple(column for column in columns if column.heading.drop_order < order), SHORTEST_NAME)


def _shrink(widths: list[int], floors: Sequence[int], room: int) -> list[int]:
    """Narrow the widest column that may be narrowed, until all fit."""
    widths = list(widths)
    while sum(widths) > room and (loose := [k for k, floor in enumerate(floors) if widths[k] > floor]):
        widths[max(loose, key=widths.__getitem__)] -= 1
    return widths


def _lines(
    columns: Sequence[_FilledColumn], widths: Sequence[int], ellipsis: str, blocks: bool
) -> Iterator[tuple[Cell, ...]]:
    """The lines of all rows; a row has as many lines as its tallest cell."""
    texts = [column.blocks(width, ellipsis) for column, width in zip(columns, widths, strict=True)]
    for r, parts in enumerate(zip(*texts, strict=True)):
        for n, line in enumerate(zip_longest(*parts, fillvalue="")):
            cells = []
            for column, text, width in zip(columns, line, widths, strict=True):
                cell = column.cells[r]
                cells.append(Cell(_padded(text, width, column.heading.is_text), cell.tone))
                if column.has_bar:
                    cells.append(Cell(_bar(cell.bar if n == 0 else None, blocks).ljust(BAR_WIDTH), "accent"))
            yield tuple(cells)


def _bar(share: float | None, blocks: bool) -> str:
    """A share from 0 to 1 as blocks, to an eighth of a character; empty if it is unknown."""
    if share is None or not share > 0:  # unknown, or an estimate below 0
        return ""
    eighths = min(round(share * BAR_WIDTH * 8), BAR_WIDTH * 8)
    if share >= 0.0005:  # not written as 0, so the bar must be visible
        eighths = max(eighths, 1)
    whole, rest = divmod(eighths, 8)
    if blocks:
        return "█" * whole + (EIGHTHS[rest] if rest else "")
    return "#" * round(eighths / 8) or "." * (eighths > 0)


def _padded(word: str, width: int, left: bool) -> str:
    """A word padded to the width of its column."""
    space = " " * (width - width_of(word))
    return word + space if left else space + word
