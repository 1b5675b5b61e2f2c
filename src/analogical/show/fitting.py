"""Views as plain text: tables are fitted to a width; texts are wrapped or shortened, and numbers never cut."""

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, replace
from itertools import zip_longest
from typing import NamedTuple

from analogical.show.views import Cell, Heading, Table, View
from analogical.show.words import LONG_NAME, shorten_apart, width_of, wrap_sentence, wrap_words

__all__ = ["EIGHTHS", "FittedTable", "fit_table", "render_text"]

BAR_WIDTH = 6
EIGHTHS = " ▏▎▍▌▋▊▉█"


def render_text(view: View, width: int = 80) -> str:
    """A view as lines of text: the answer, the tables, and what they rest on."""

    def table_lines(table: Table) -> list[str]:
        lines = ["  ".join(cell.text for cell in cells).rstrip() for cells in fit_table(table, width).lines]
        return [*lines, *wrap_sentence(table.note, width)]

    lines = wrap_sentence(view.headline, width)
    for table in view.tables:
        lines += table_lines(table)
    for text in (*view.lines, f"{', '.join(view.about)}." if view.about else ""):
        lines += wrap_sentence(text, width)
    for block in view.examples:
        lines += wrap_sentence(block.title, width, "  ")
        lines += [f"  {line}" for line in table_lines(block)]
    return "\n".join(lines)


class FittedTable(NamedTuple):
    """Lines of padded cells, to be written one after the other."""

    lines: tuple[tuple[Cell, ...], ...]
    left_out: tuple[str, ...]
    """Titles of the columns for which there was no room."""


@dataclass(frozen=True)
class _Column:
    """A column with its cells; the first one is its title, if the table has a head."""

    heading: Heading
    cells: tuple[Cell, ...]

    @property
    def width(self) -> int:
        return max((width_of(cell.text) for cell in self.cells), default=0)

    @property
    def has_bar(self) -> bool:
        return any(cell.bar is not None for cell in self.cells)

    def narrowest(self, shortest_name: int) -> int:
        """How narrow the column may become; only long words are broken, so that they do not displace numbers."""
        if self.heading.may_shorten:
            return min(self.width, shortest_name)
        if self.heading.may_wrap:
            words = (word for cell in self.cells for word in cell.text.split())
            return min(24, max(map(width_of, words), default=0))
        return self.width


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
    all_columns = [_Column(heading, tuple(row[k] for row in cells)) for k, heading in enumerate(table.headings)]
    for columns, shortest_name in [(all_columns, LONG_NAME)] if keeps_all else _plans(all_columns):
        floors = [column.narrowest(shortest_name) for column in columns]
        room = width - 2 * (len(columns) - 1) - (2 + BAR_WIDTH) * sum(column.has_bar for column in columns)
        if sum(floors) <= room:
            break
    widths = [column.width for column in columns]
    while sum(widths) > room and (loose := [k for k, floor in enumerate(floors) if widths[k] > floor]):
        widths[max(loose, key=widths.__getitem__)] -= 1  # the widest that may be narrowed
    kept = {column.heading for column in columns}
    return FittedTable(
        lines=tuple(_lines(columns, widths, writable("…"), blocks)),
        left_out=tuple(column.heading.title for column in all_columns if column.heading not in kept),
    )


def _plans(columns: list[_Column]) -> Iterator[tuple[list[_Column], int]]:
    """Ways to show a table, the fullest first: its columns, and how far names may be shortened.

    Columns with drop orders from 4 go before bars, then names become shorter, then the others go.
    """
    orders = sorted({column.heading.drop_order for column in columns} - {0}, reverse=True)
    yield columns, 14
    for order in (order for order in orders if order >= 4):
        columns = [column for column in columns if column.heading.drop_order < order]
        yield columns, 14
    columns = [replace(column, cells=tuple(replace(cell, bar=None) for cell in column.cells)) for column in columns]
    yield columns, 14
    yield columns, 7
    for order in (order for order in orders if order < 4):
        yield [column for column in columns if column.heading.drop_order < order], 7


def _lines(
    columns: Sequence[_Column], widths: Sequence[int], ellipsis: str, blocks: bool
) -> Iterator[tuple[Cell, ...]]:
    """The lines of all rows; a row has as many lines as its tallest cell."""
    wrapped = []
    for column, width in zip(columns, widths, strict=True):
        texts = [cell.text for cell in column.cells]
        if width < column.width and not column.heading.may_wrap:
            texts = shorten_apart(texts, width, ellipsis)
        wrapped.append([wrap_words(text, width) if column.heading.may_wrap else [text] for text in texts])
    for r, parts in enumerate(zip(*wrapped, strict=True)):
        for n, line in enumerate(zip_longest(*parts, fillvalue="")):
            cells = []
            for column, text, width in zip(columns, line, widths, strict=True):
                cell, space = column.cells[r], " " * (width - width_of(text))
                cells.append(Cell(text + space if column.heading.is_text else space + text, cell.tone))
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
