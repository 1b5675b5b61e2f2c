"""Results to the terminal: views with colours for people, JSON and CSV for machines."""

import csv
import json
import sys
from textwrap import wrap
from typing import TYPE_CHECKING, Any, Literal

from analogical._results import Result
from analogical.cli.reading import Source
from analogical.presenting.views import Cell, Table, Tone, View, view_of
from analogical.presenting.words import shown

if TYPE_CHECKING:
    from rich.console import Console

__all__ = ["show_result", "show_table", "write_csv", "write_json", "write_records", "write_result"]

STYLES: dict[Tone, str] = {"plain": "", "strong": "bold", "good": "green", "warning": "yellow", "muted": "dim"}
BAR_WIDTH = 6
EIGHTHS = " ▏▎▍▌▋▊▉█"


def show_result(result: Result, source: Source, *more: Result, notes: tuple[str, ...] = (), **options: Any) -> None:
    """What was read, the result, and what it means in words; more results follow below."""
    from rich.text import Text

    console = _console()
    view = view_of(result, **options)
    title = shown(source.title)
    console.print(Text(f"{title}: {view.summary}" if view.summary else title, style="" if view.summary else "dim"))
    for note in (*source.notes, *notes, *view.notes):
        console.print(Text(shown(note), style="dim"))
    _print_view(console, view)
    for other in more:
        console.print()
        _print_view(console, view_of(other))


def _print_view(console: "Console", view: View) -> None:
    from rich.text import Text

    if view.headline and not view.summary:
        console.print(Text(view.headline, style="bold"))
    for fact in view.facts:
        console.print()
        console.print(Text(fact))
    for table in view.tables:
        if view.summary or view.facts:
            console.print()
        show_table(table, console)
    if view.findings:
        console.print()
    for finding in view.findings:
        if len(view.findings) == 1:
            console.print(Text(finding, style="bold"))
        else:
            _print_bullet(console, finding)
    for block in view.examples:
        console.print()
        console.print(Text(block.title, style="dim"))
        show_table(block, console, indent=2)
    if view.caveat:
        console.print()
        console.print(Text(view.caveat, style="dim"))


def _print_bullet(console: "Console", text: str) -> None:
    from rich.text import Text

    for k, line in enumerate(wrap(text, max(20, console.width - 2), break_on_hyphens=False)):
        console.print(Text(f"{'  ' if k else '- '}{line}"))


def show_table(table: Table, console: "Console | None" = None, *, indent: int = 0) -> None:
    """A table of a view; on a narrow terminal names are shortened, numbers never."""
    from rich.table import Table as RichTable
    from rich.text import Text

    console = console or _console()
    has_bar = [any(row[k].bar is not None for row in table.rows) for k in range(len(table.headings))]
    widths = _widths(table, console.width - indent - (BAR_WIDTH + 2) * sum(has_bar))
    grid = RichTable(box=None, pad_edge=False, padding=(0, 2, 0, 0), header_style="bold", show_header=table.has_head)
    for heading, width, with_bar in zip(table.headings, widths, has_bar, strict=True):
        side: Literal["left", "right"] = "left" if heading.is_text else "right"
        if heading.may_wrap:
            grid.add_column(Text(heading.title), justify=side)
        else:
            grid.add_column(Text(heading.title), justify=side, no_wrap=True, min_width=width)
        if with_bar:
            grid.add_column("", no_wrap=True, min_width=BAR_WIDTH)
    for row in table.rows:
        cells: list[Text] = []
        for k, (heading, cell, width) in enumerate(zip(table.headings, row, widths, strict=True)):
            text = Text(cell.text, style=STYLES[cell.tone])
            if heading.may_shorten:
                text.truncate(width, overflow="ellipsis")
            cells.append(Text(" " * indent) + text if k == 0 else text)
            if has_bar[k]:
                cells.append(Text(_bar(cell), style="blue"))
        grid.add_row(*cells)
    console.print(grid)
    if table.note:
        console.print(Text(table.note, style="dim"))


def _widths(table: Table, width: int) -> list[int]:
    """Widths of the columns; those that may be shortened give up what is too much."""
    titles = [heading.title if table.has_head else "" for heading in table.headings]
    widths = [max([len(title), *(len(row[k].text) for row in table.rows)]) for k, title in enumerate(titles)]
    too_wide = sum(widths) + 2 * len(widths) - width
    for k, heading in enumerate(table.headings):
        if heading.may_shorten and too_wide > 0:
            shorter = max(min(7, widths[k]), widths[k] - too_wide)
            too_wide -= widths[k] - shorter
            widths[k] = shorter
    return widths


def _bar(cell: Cell) -> str:
    """A share from 0 to 1 as blocks, to an eighth of a character; nothing where it is unknown."""
    share = cell.bar
    if share is None or not share > 0:  # unknown, or an estimate below 0
        return ""
    eighths = round(share * BAR_WIDTH * 8)
    if share >= 0.0005:  # what is written as more than 0 is seen
        eighths = max(eighths, 1)
    whole, rest = divmod(eighths, 8)
    return "█" * whole + (EIGHTHS[rest] if rest else "")


def _console() -> "Console":
    from rich.console import Console

    return Console(highlight=False)


def write_result(
    result: Result, source: Source, *, as_json: bool, as_csv: bool = False, notes: tuple[str, ...] = ()
) -> None:
    """A result in the format that was asked for."""
    if as_json:
        write_json(result.to_dict(), source)
    elif as_csv:
        write_records(result, (*source.notes, *notes))
    else:
        show_result(result, source, notes=notes)


def write_json(content: dict[str, Any], source: Source) -> None:
    """One JSON object on stdout, with what was read."""
    json.dump({"source": source.to_dict(), **content}, sys.stdout, indent=2, ensure_ascii=False)
    sys.stdout.write("\n")


def write_records(result: Result, notes: tuple[str, ...], top: int | None = None) -> None:
    """One line of CSV per entry of a result; what was done goes to stderr."""
    for note in (*notes, *view_of(result).notes):
        sys.stderr.write(f"{shown(note)}\n")
    records = result.records()[:top]
    rows = ([";".join(cell) if isinstance(cell, list) else cell for cell in record.values()] for record in records)
    write_csv(records[0] if records else result.columns(), rows)


def write_csv(header: Any, rows: Any) -> None:
    """CSV on stdout."""
    writer = csv.writer(sys.stdout, lineterminator="\n")
    writer.writerow(header)
    writer.writerows(rows)
