"""Writes results: text with colours, JSON or CSV to stdout, figures to files."""

import csv
import json
import os
import re
import shutil
import sys
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from analogical._progress import stop_clock
from analogical._results import Result
from analogical.cli.streams import say_notes, writable
from analogical.errors import InputError
from analogical.show.views import EIGHTHS, Table, Tone, View, fit_table, view_of
from analogical.show.words import shown, wrap_sentence

if TYPE_CHECKING:
    from rich.console import Console

    from analogical.cli.options import Source

STYLES: dict[Tone, str] = {
    "plain": "",
    "strong": "bold",
    "good": "green",
    "warning": "yellow",
    "muted": "dim",
    "accent": "blue",
}


@dataclass(frozen=True)
class Output:
    """The options for writing a result, as typed."""

    top: Annotated[int | None, typer.Option(metavar="K", help="Show only the best K features.")] = None
    explain: Annotated[
        bool, typer.Option("--explain", help="Explain the result: what was done, assumptions and limits.")
    ] = False
    plot: Annotated[
        str | None,
        typer.Option(metavar="FILE", help="Also plot the result to a .png, .svg or .pdf file: the best 20 rows."),
    ] = None
    as_json: Annotated[bool, typer.Option("--json", help="Print JSON.")] = False
    as_csv: Annotated[bool, typer.Option("--csv", help="Print CSV.")] = False
    csv_safe: Annotated[
        bool,
        typer.Option(
            "--csv-safe",
            help="Print CSV for a spreadsheet: text that could be read as a formula (starting with =, +, - or @) gets"
            " a ' in front. --csv leaves text unchanged.",
        ),
    ] = False

    def __post_init__(self) -> None:
        if self.top is not None and self.top < 1:
            raise InputError(f"--top must be a whole number from 1, got {self.top}.")
        if self.as_json and (self.as_csv or self.csv_safe):
            raise InputError("--json and --csv cannot be used together; give one of them.")
        if self.plot is not None:
            from analogical.plot.canvas import check_target

            check_target(self.plot)

    def write(
        self,
        result: Result,
        source: "Source",
        *more: Result,
        notes: tuple[str, ...] = (),
        also: dict[str, Any] | None = None,
        **options: Any,
    ) -> None:
        """Write a result; in text, ``more`` results follow, ``also`` is added to JSON; the options are for the view."""
        if self.plot is not None:
            from analogical.plot import save_figure
            from analogical.plot.canvas import MAX_DRAWN_ROWS

            drawn = {} if self.top is None else {"top": min(self.top, MAX_DRAWN_ROWS)}
            save_figure(result.plot(**drawn).figure, self.plot)  # type: ignore[attr-defined]
            say_notes([f"drawn to {self.plot}"])
        if self.as_json:
            say_notes(source.notes)
            content = result.to_dict()
            if self.top is not None:
                best = {record["name"] for record in result.records()[: self.top]}
                content["features"] = [entry for entry in content["features"] if entry["name"] in best]
            about = {"title": source.title, "label": source.label, "notes": list(source.notes)}
            _write_json({"source": about, **content, **(also or {})})
        elif self.as_csv or self.csv_safe:
            say_notes((*source.notes, *notes, *view_of(result).notes))
            _write_records(result, top=self.top, csv_safe=self.csv_safe)
        else:
            if self.top is not None:
                options["top"] = self.top
            _print_views([view_of(result, **options), *map(view_of, more)], source, notes, explain=self.explain)


# ---------------------------------------------------------------- text


def _print_views(views: Sequence[View], source: "Source", notes: tuple[str, ...], *, explain: bool) -> None:
    """The views, then a line about the table, and with ``explain`` all notes."""
    console, first = _console(), views[0]
    for view in views:
        if view is not first:
            console.print()
        print_line(view.headline, "bold", console)
        for table in view.tables:
            console.print()
            show_table(table, console)
        for table in view.examples:
            console.print()
            print_line(table.title, "dim", console)
            show_table(table, console, indent=2)
        lines = (*first.lines, *source.warnings) if view is first else [n for n in view.lines if n not in first.lines]
        if lines:
            console.print()
        for line in lines:
            print_line(line, "", console)
        if explain:
            for table in view.details:
                console.print()
                show_table(table, console)
            if view.explanation:
                console.print()
            for text in view.explanation:
                _print_bullet(console, text)
    all_notes = (*source.notes, *notes, *first.notes)
    has_more = all_notes or any(view.explanation or view.details for view in views)
    about = ", ".join((shown(Path(source.title).name), *source.about, *first.about))
    if explain:
        console.print()
    print_line(f"{about}.{' Details: --explain.' if has_more and not explain else ''}", "dim", console)
    for note in all_notes if explain else ():
        _print_bullet(console, note)


def print_line(text: str, style: str = "", console: "Console | None" = None, *, in_one_piece: bool = False) -> None:
    """A paragraph wrapped to the terminal, or on one line, so that paths can be copied."""
    from rich.text import Text

    console = console or _console()
    text = shown(writable(text))
    for line in [text] if in_one_piece else wrap_sentence(text, console.width):
        console.print(Text(line, style=style), soft_wrap=True)


def _print_bullet(console: "Console", text: str) -> None:
    for line in wrap_sentence(f"- {shown(writable(text))}", console.width, "  "):
        print_line(line, "", console, in_one_piece=True)


def show_table(table: Table, console: "Console | None" = None, *, indent: int = 0) -> None:
    """Print a table fitted to the terminal, and name the columns that were left out."""
    from rich.text import Text

    console, columns = console or _console(), os.environ.get("COLUMNS", "")
    fitted = fit_table(
        table,
        console.width - indent,
        keeps_all=not (sys.stdout.isatty() or (columns.isdecimal() and int(columns) > 0)),
        writable=str if console.encoding == "utf-8" else writable,
        blocks=writable(EIGHTHS) == EIGHTHS,
    )
    for cells in fitted.lines:
        line = Text("  ").join(Text(cell.text, style=STYLES[cell.tone]) for cell in cells)
        line.rstrip()
        console.print(Text(" " * indent) + line, soft_wrap=True)
    if table.note:
        print_line(table.note, "dim", console)
    if fitted.left_out:
        print_line(f"Not shown at this width: {', '.join(fitted.left_out)}; widen the terminal.", "dim", console)


def _console() -> "Console":
    """The terminal, or 80 columns; the variable COLUMNS comes first, and 20 are the least."""
    from rich.console import Console

    stop_clock()
    return Console(highlight=False, width=max(20, shutil.get_terminal_size((80, 24)).columns))


# ---------------------------------------------------------------- JSON and CSV


def _write_json(content: dict[str, Any]) -> None:
    """One JSON object on stdout; control characters and those that cannot be encoded are escaped."""
    stop_clock()
    text = json.dumps(content, indent=2, ensure_ascii=False)
    sys.stdout.write(re.sub(r"[^\x20-\x7e\n]", _json_character, text))
    sys.stdout.write("\n")


def _json_character(found: re.Match[str]) -> str:
    character = found[0]
    if character.isprintable() and writable(character) == character:
        return character
    return json.dumps(character)[1:-1] if character != "\x7f" else r"\u007f"


def _write_records(result: Result, *, top: int | None, csv_safe: bool) -> None:
    """One line of CSV per entry of a result; a dictionary in an entry has a column for each of its items."""
    records = result.records()[:top]
    items = {name: cell.keys() for record in records for name, cell in record.items() if isinstance(cell, dict)}

    def flat(record: dict[str, Any]) -> dict[str, Any]:
        cells: dict[str, Any] = {}
        for name, cell in record.items():
            if name in items:
                cells |= {n if n == name else f"{name}_{n}": None if cell is None else cell[n] for n in items[name]}
            else:
                cells[name] = ";".join(map(str, cell)) if isinstance(cell, list) else cell
        return cells

    rows = [flat(record) for record in records]
    cells = [[*row.values()] for row in rows]
    if csv_safe:
        cells = [[f"'{c}" if isinstance(c, str) and _is_formula(c) else c for c in row] for row in cells]
    write_csv(rows[0] if rows else result.columns(), cells)


def write_csv(header: Iterable[str], rows: Iterable[Sequence[Any]]) -> None:
    """CSV on stdout: text unchanged for files and pipes, without control characters on terminals."""
    stop_clock()
    if sys.stdout.isatty():
        rows = ([shown(cell) if isinstance(cell, str) else cell for cell in row] for row in rows)
    writer = csv.writer(sys.stdout, lineterminator="\n")
    writer.writerow(header)
    writer.writerows(rows)


def _is_formula(text: str) -> bool:
    """Whether a spreadsheet may read a text as a formula (OWASP, CSV injection); a signed number is not one."""
    if not text.startswith(("=", "+", "-", "@", "\t", "\r", "\n", "＝", "＋", "－", "＠")):
        return False
    try:
        float(text)
    except ValueError:
        return True
    return False
