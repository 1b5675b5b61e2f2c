"""Writes results: text with colours, JSON or CSV to stdout, figures to files."""

import csv
import json
import re
import sys
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

from analogical._results import Result
from analogical.cli.reading import Source
from analogical.cli.streams import can_write, has_fixed_width, say_notes, start_output, stdout_width, writable
from analogical.errors import InputError
from analogical.show.fitting import EIGHTHS, fit_table
from analogical.show.views import Table, Tone, View, view_of
from analogical.show.words import shown, wrap_sentence

if TYPE_CHECKING:
    from rich.console import Console

__all__ = ["Output", "print_line", "show_table", "write_csv"]

STYLES: dict[Tone, str] = {
    "plain": "",
    "strong": "bold",
    "good": "green",
    "warning": "yellow",
    "muted": "dim",
    "accent": "blue",
}
FORMULA_STARTS = ("=", "+", "-", "@", "\t", "\r", "\n", "＝", "＋", "－", "＠")
"""A spreadsheet reads text that starts with one of these as a formula (OWASP, CSV injection)."""


@dataclass(frozen=True)
class Output:
    """How a result is written: the options of a command."""

    top: int | None = None
    explain: bool = False
    plot: str | None = None
    as_json: bool = False
    as_csv: bool = False
    csv_safe: bool = False

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
        source: Source,
        *more: Result,
        notes: tuple[str, ...] = (),
        also: dict[str, Any] | None = None,
        **options: Any,
    ) -> None:
        """Write a result; in text, ``more`` results follow, ``also`` is added to JSON; the options are for the view."""
        if self.plot is not None:
            self._draw(result, self.plot)
        if self.as_json:
            say_notes(source.notes)
            _write_json({"source": source.to_dict(), **result.to_dict(), **self._best(result), **(also or {})})
        elif self.as_csv or self.csv_safe:
            say_notes((*source.notes, *notes, *view_of(result).notes))
            _write_records(result, top=self.top, csv_safe=self.csv_safe)
        else:
            if self.top is not None:
                options["top"] = self.top
            _print_views([view_of(result, **options), *map(view_of, more)], source, notes, explain=self.explain)

    def _draw(self, result: Result, path: str) -> None:
        from analogical.plot import save_figure
        from analogical.plot.canvas import MAX_DRAWN_ROWS

        options = {} if self.top is None else {"top": min(self.top, MAX_DRAWN_ROWS)}
        save_figure(result.plot(**options).figure, path)  # type: ignore[attr-defined]
        say_notes([f"drawn to {path}"])

    def _best(self, result: Result) -> dict[str, Any]:
        """With --top, the best features in column order, for JSON."""
        if self.top is None:
            return {}
        best = {record["name"] for record in result.records()[: self.top]}
        return {"features": [entry for entry in result.to_dict()["features"] if entry["name"] in best]}


# ---------------------------------------------------------------- text


def _print_views(views: Sequence[View], source: Source, notes: tuple[str, ...], *, explain: bool) -> None:
    """The views, then a line about the table, and with ``explain`` all notes."""
    console = _console()
    first, *others = views
    _print_view(console, replace(first, lines=(*first.lines, *source.warnings)), explain)
    for view in others:
        console.print()
        _print_view(
            console, replace(view, lines=tuple(line for line in view.lines if line not in first.lines)), explain
        )
    all_notes = (*source.notes, *notes, *first.notes)
    about = ", ".join((shown(Path(source.title).name), *source.about, *first.about))
    if explain:
        console.print()
        print_line(f"{about}.", "dim", console)
        for note in all_notes:
            _print_bullet(console, note)
    else:
        more = all_notes or any(view.explanation or view.details for view in views)
        print_line(f"{about}.{' Details: --explain.' if more else ''}", "dim", console)


def _print_view(console: "Console", view: View, explain: bool) -> None:
    print_line(view.headline, "bold", console)
    for table in view.tables:
        console.print()
        show_table(table, console)
    for block in view.examples:
        console.print()
        print_line(block.title, "dim", console)
        show_table(block, console, indent=2)
    if view.lines:
        console.print()
    for line in view.lines:
        print_line(line, "", console)
    if explain:
        for table in view.details:
            console.print()
            show_table(table, console)
        if view.explanation:
            console.print()
        for text in view.explanation:
            _print_bullet(console, text)


def print_line(text: str, style: str = "", console: "Console | None" = None, *, in_one_piece: bool = False) -> None:
    """A paragraph wrapped to the terminal, or on one line, so that paths can be copied."""
    from rich.text import Text

    console = console or _console()
    text = shown(writable(text))
    lines = [text] if in_one_piece else wrap_sentence(text, console.width)
    for line in lines:
        console.print(Text(line, style=style), soft_wrap=True)


def _print_bullet(console: "Console", text: str) -> None:
    for line in wrap_sentence(f"- {shown(writable(text))}", console.width, "  "):
        print_line(line, "", console, in_one_piece=True)


def show_table(table: Table, console: "Console | None" = None, *, indent: int = 0) -> None:
    """Print a table fitted to the terminal, and name the columns that were left out."""
    from rich.text import Text

    console = console or _console()
    fitted = fit_table(
        table, console.width - indent, keeps_all=not has_fixed_width(), writable=writable, blocks=can_write(EIGHTHS)
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
    from rich.console import Console

    start_output()
    return Console(highlight=False, width=stdout_width())


# ---------------------------------------------------------------- JSON and CSV


def _write_json(content: dict[str, Any]) -> None:
    """One JSON object on stdout; control characters and those that cannot be encoded are escaped."""
    start_output()
    text = json.dumps(content, indent=2, ensure_ascii=False)
    sys.stdout.write(re.sub(r"[^\x20-\x7e\n]", _json_character, text))
    sys.stdout.write("\n")


def _json_character(found: re.Match[str]) -> str:
    character = found[0]
    if character.isprintable() and can_write(character):
        return character
    return json.dumps(character)[1:-1] if character != "\x7f" else r"\u007f"


def _write_records(result: Result, *, top: int | None, csv_safe: bool) -> None:
    """One line of CSV per entry of a result."""
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
    """The columns of an entry: one, or one per part."""
    return [name if part == name else f"{name}_{part}" for part in nested.get(name, [name])]


def _cells_of(value: Any, parts: list[str] | None) -> list[Any]:
    """The cells of an entry: one, or one per part, empty if the entry is missing."""
    if parts is not None:
        return [None if value is None else value[part] for part in parts]
    return [";".join(map(str, value)) if isinstance(value, list) else value]


def write_csv(header: Iterable[str], rows: Iterable[Sequence[Any]]) -> None:
    """CSV on stdout: text unchanged for files and pipes, without control characters on terminals."""
    start_output()
    writer = csv.writer(sys.stdout, lineterminator="\n")
    writer.writerow(header)
    writer.writerows(map(_harmless, rows) if sys.stdout.isatty() else rows)


def _harmless(row: Sequence[Any]) -> list[Any]:
    return [shown(cell) if isinstance(cell, str) else cell for cell in row]


def _defused(row: Sequence[Any]) -> list[Any]:
    return [f"'{cell}" if isinstance(cell, str) and _is_formula(cell) else cell for cell in row]


def _is_formula(text: str) -> bool:
    """Whether a spreadsheet may read a text as a formula; a signed number is not one."""
    if not text.startswith(FORMULA_STARTS):
        return False
    try:
        float(text)
    except ValueError:
        return True
    return False
