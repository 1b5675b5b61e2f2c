"""Results to the terminal: views with colours for people, JSON and CSV for machines."""

import csv
import json
import re
import sys
from collections.abc import Iterable, Sequence
from textwrap import wrap
from typing import TYPE_CHECKING, Annotated, Any

import typer

from analogical._results import Result
from analogical.cli.reading import Source
from analogical.cli.streams import can_write, is_fitted, say_note, start_output, stdout_width, writable
from analogical.show.fitting import EIGHTHS, fit_table
from analogical.show.views import Table, Tone, View, view_of
from analogical.show.words import shown

if TYPE_CHECKING:
    from rich.console import Console

__all__ = [
    "CsvSafe",
    "best_entries",
    "draw_result",
    "most_rows",
    "print_line",
    "show_result",
    "show_table",
    "write_csv",
    "write_json",
    "write_records",
    "write_result",
]

STYLES: dict[Tone, str] = {
    "plain": "",
    "strong": "bold",
    "good": "green",
    "warning": "yellow",
    "muted": "dim",
    "accent": "blue",
}
FORMULA_STARTS = ("=", "+", "-", "@", "\t", "\r", "\n", "＝", "＋", "－", "＠")
"""What makes a spreadsheet take a cell of text as a formula (OWASP, CSV injection)."""

CsvSafe = Annotated[
    bool,
    typer.Option(
        "--csv-safe",
        help="Print CSV for a spreadsheet: text that could be read as a formula (starting with =, +, - or @) gets a '"
        " in front. --csv leaves text unchanged.",
    ),
]


def show_result(
    result: Result, source: Source, *more: Result, notes: tuple[str, ...] = (), explain: bool = False, **options: Any
) -> None:
    """What was read, the result and its findings, in short or explained; more results follow."""
    _say_notes(source)
    console = _console()
    view = view_of(result, **options)
    title = shown(source.title)
    print_line(f"{title}: {view.summary}" if view.summary else title, "" if view.summary else "dim", console)
    for note in (*notes, *view.notes):
        print_line(shown(note), "dim", console)
    _print_view(console, view, explain)
    for other in more:
        console.print()
        _print_view(console, view_of(other), explain)


def _print_view(console: "Console", view: View, explain: bool) -> None:
    if view.headline and not view.summary:
        print_line(view.headline, "bold", console)
    for fact in view.facts:
        console.print()
        print_line(fact, "", console)
    for table in view.tables:
        if view.summary or view.facts:
            console.print()
        show_table(table, console, elsewhere="--json")
    findings = view.bullets if view.bullets and not explain else view.findings
    if findings:
        console.print()
    for finding in findings:
        if len(view.findings) == 1:
            print_line(finding, "bold", console)
        else:
            _print_bullet(console, finding)
    if view.bullets and not explain:
        print_line("Use --explain for details.", "dim", console)
    for table in view.details if explain else ():
        console.print()
        show_table(table, console, elsewhere="--json")
    for block in view.examples:
        console.print()
        print_line(block.title, "dim", console)
        show_table(block, console, indent=2, elsewhere="--json")
    if view.caveat:
        console.print()
        print_line(view.caveat, "dim", console)


def print_line(text: str, style: str = "", console: "Console | None" = None, *, in_one_piece: bool = False) -> None:
    """A paragraph in lines of the terminal, or in one piece, as paths are copied."""
    from rich.text import Text

    (console or _console()).print(Text(writable(text), style=style), soft_wrap=in_one_piece)


def _print_bullet(console: "Console", text: str) -> None:
    for k, line in enumerate(wrap(writable(text), max(20, console.width - 2), break_on_hyphens=False)):
        print_line(f"{'  ' if k else '- '}{line}", "", console)


def show_table(
    table: Table, console: "Console | None" = None, *, indent: int = 0, elsewhere: str | None = None
) -> None:
    """A table of a view, fitted to the terminal; columns without room are named, with the option that prints them."""
    from rich.text import Text

    console = console or _console()
    fitted = fit_table(
        table, console.width - indent, keeps_all=not is_fitted(), writable=writable, blocks=can_write(EIGHTHS)
    )
    for cells in fitted.lines:
        line = Text("  ").join(Text(cell.text, style=STYLES[cell.tone]) for cell in cells)
        line.rstrip()
        console.print(Text(" " * indent) + line, soft_wrap=True)
    if table.note:
        print_line(table.note, "dim", console)
    if fitted.left_out:
        other = f", or use {elsewhere}" if elsewhere else ""
        hint = f"Not shown at this width: {', '.join(fitted.left_out)}; widen the terminal{other}."
        print_line(hint, "dim", console)


def _console() -> "Console":
    from rich.console import Console

    start_output()
    return Console(highlight=False, width=stdout_width())


def _say_notes(source: Source) -> None:
    """What was guessed to read the table, on stderr, so that no format of the result is disturbed."""
    for note in source.notes:
        say_note(note)


def most_rows(top: int | None) -> int:
    """How many features a figure shows if so many are asked for."""
    from analogical.plot.canvas import MOST_ROWS

    return MOST_ROWS if top is None else min(top, MOST_ROWS)


def best_entries(result: Result, top: int | None) -> list[dict[str, Any]]:
    """The features of a result for JSON, in column order; with ``top``, the best ones only."""
    entries: list[dict[str, Any]] = result.to_dict()["features"]
    if top is None:
        return entries
    best = {record["name"] for record in result.records()[:top]}
    return [entry for entry in entries if entry["name"] in best]


def draw_result(result: Result, path: str, **options: Any) -> None:
    """Draw a result to a file."""
    from analogical.plot import save_figure

    figure = result.plot(**options).figure  # type: ignore[attr-defined]
    save_figure(figure, path)
    say_note(f"drawn to {path}")


def write_result(
    result: Result,
    source: Source,
    *,
    as_json: bool,
    as_csv: bool = False,
    csv_safe: bool = False,
    notes: tuple[str, ...] = (),
    plot: str | None = None,
    **options: Any,
) -> None:
    """A result in the format that was asked for, and drawn to a file if one is named; options are those of its view."""
    if plot is not None:
        draw_result(result, plot)
    if as_json:
        write_json(result.to_dict(), source)
    elif as_csv or csv_safe:
        write_records(result, source, notes, csv_safe=csv_safe)
    else:
        show_result(result, source, notes=notes, **options)


def write_json(content: dict[str, Any], source: Source) -> None:
    """One JSON object on stdout, with what was read; characters that could do harm or cannot be written are escaped."""
    _say_notes(source)
    start_output()
    text = json.dumps({"source": source.to_dict(), **content}, indent=2, ensure_ascii=False)
    sys.stdout.write(re.sub(r"[^\x20-\x7e\n]", _json_character, text))
    sys.stdout.write("\n")


def _json_character(found: re.Match[str]) -> str:
    character = found[0]
    if character.isprintable() and can_write(character):
        return character
    return json.dumps(character)[1:-1] if character != "\x7f" else r"\u007f"


def write_records(
    result: Result, source: Source, notes: tuple[str, ...] = (), *, top: int | None = None, csv_safe: bool = False
) -> None:
    """One line of CSV per entry of a result; what was done goes to stderr."""
    _say_notes(source)
    for note in (*notes, *view_of(result).notes):
        say_note(note)
    records = result.records()[:top]
    nested = {
        name: list(cell) for record in reversed(records) for name, cell in record.items() if isinstance(cell, dict)
    }
    header = [column for name in records[0] for column in _columns_of(name, nested)] if records else result.columns()
    rows = (
        [cell for name, value in record.items() for cell in _cells_of(value, nested.get(name))] for record in records
    )
    write_csv(header, map(_defused, rows) if csv_safe else rows)


def _columns_of(name: str, nested: dict[str, list[str]]) -> list[str]:
    """The columns of an entry: one, or one for each part of it."""
    return [name if part == name else f"{name}_{part}" for part in nested.get(name, [name])]


def _cells_of(value: Any, parts: list[str] | None) -> list[Any]:
    """The cells of an entry; of one with parts, which may be missing, one for each."""
    if parts is not None:
        return [None if value is None else value[part] for part in parts]
    return [";".join(map(str, value)) if isinstance(value, list) else value]


def write_csv(header: Iterable[str], rows: Iterable[Sequence[Any]]) -> None:
    """CSV on stdout: text as it is for files and pipes, harmless for terminals."""
    start_output()
    writer = csv.writer(sys.stdout, lineterminator="\n")
    writer.writerow(header)
    writer.writerows(map(_harmless, rows) if sys.stdout.isatty() else rows)


def _harmless(row: Sequence[Any]) -> list[Any]:
    return [shown(cell) if isinstance(cell, str) else cell for cell in row]


def _defused(row: Sequence[Any]) -> list[Any]:
    return [f"'{cell}" if isinstance(cell, str) and _is_formula(cell) else cell for cell in row]


def _is_formula(text: str) -> bool:
    """Whether a spreadsheet may take a text as a formula; a number is none, whatever its sign."""
    if not text.startswith(FORMULA_STARTS):
        return False
    try:
        float(text)
    except ValueError:
        return True
    return False
