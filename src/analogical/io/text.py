"""CSV and similar text to a dataframe: encoding, separator, header, missing cells, numbers and dates are detected."""

import csv
import io
import re
import sys
from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
import polars as pl

from analogical._types import Note
from analogical.errors import InputError
from analogical.io.formats import TextFormat
from analogical.io.typing import CellNotes, type_columns

__all__ = ["parse_text"]

_SEPARATORS = {",": "comma", "\t": "tab", ";": "semicolon", "|": "pipe"}
_N_LINES = 100
"""Lines that are looked at to find the separator."""
_N_CELLS = 2_000_000
"""Cells of a file that are looked at together."""
MOST_COLUMNS = 200_000
"""More are refused: reading them takes about 25 microseconds each, however few rows there are."""
_N_BYTES = 200_000
"""Characters that are looked at to find the separator, if the first lines are long."""


def parse_text(content: bytes, what: str, given: TextFormat) -> tuple[pl.DataFrame, tuple[Note, ...]]:
    r"""The table in a text file, and a note for everything that was detected or changed.

    Examples
    --------
    >>> frame, notes = parse_text(b"a;label\n1;yes\n2;no\n", "the file", TextFormat())
    >>> frame["a"].to_list(), [note.kind for note in notes]
    ([1, 2], ['separator'])
    """
    notes: list[Note] = []
    text = clean_lines(_decode(content, what, notes), notes)
    shape = find_shape(text, what, given, notes)
    frame = _parse(text, shape, what)
    frame.columns = list(shape.names)
    if not len(frame):
        raise InputError(f"{what} has a header and no rows; give at least two rows with different labels.")
    if shape.may_end_empty and frame[:, -1].is_null().all():
        notes.append(Note("empty-column"))
        frame = frame[:, :-1]
    return _type_cells(frame, given.na, shape.separator, notes), tuple(notes)


@dataclass(frozen=True)
class TextShape:
    """How the lines of a text become cells."""

    separator: str
    has_header: bool
    names: tuple[str, ...]
    may_end_empty: bool
    """Whether the last column has no name, as when lines end in a separator."""


def find_shape(text: str, what: str, given: TextFormat, notes: list[Note]) -> TextShape:
    """Separator and names of the columns, from the beginning of a text."""
    if not text.strip():
        raise InputError(f"{what} is empty; give a header and rows.")
    separator = check_separator(given.separator) or find_separator(text, notes)
    first = next(_records(text, separator))
    if len(first) == 1:
        raise InputError(
            f"{what} has one column only, {first[0][:60]!r}; a table needs features and a label"
            f" (separated by {separator!r}; see --separator)."
        )
    if len(first) > MOST_COLUMNS:
        raise InputError(
            f"{what} has {len(first):,} columns in its first line, more than {MOST_COLUMNS:,}; write one row per line,"
            " or give the table as an array."
        )
    has_header = given.header and given.names is None
    if given.header and given.names is not None:
        notes.append(Note("first-line-is-data"))
    names = _name_columns(first, has_header, given.names, what, notes)
    return TextShape(separator, has_header, tuple(names), len(first) > 2 and not first[-1].strip())


# ---------------------------------------------------------------- characters and lines


def _decode(content: bytes, what: str, notes: list[Note]) -> str:
    """The text, in the encoding that its mark, its zeros or its bytes tell."""
    wide = _wide_encoding(content)
    if wide is not None:
        name = wide[:6].upper()
        try:
            text = content.decode(wide)
        except UnicodeDecodeError as error:
            raise InputError(
                f"{what} begins as {name} text, but byte {error.start:,} is not; save it as UTF-8."
            ) from None
        notes.append(Note("encoding", words=(name,)))
        return text.removeprefix("\ufeff")
    if b"\0" in content[:65536]:
        raise InputError(
            f"{what} is binary, not text; give CSV or TSV, or a file named by its format (.parquet, .arrow, .xlsx)."
        )
    try:
        return content.decode("utf-8-sig")
    except UnicodeDecodeError as error:
        notes.append(Note("not-utf-8", counts=(error.start,)))
        try:
            return content.decode("cp1252")
        except UnicodeDecodeError:
            return content.decode("latin-1")


def _wide_encoding(content: bytes) -> str | None:
    """UTF-32 or UTF-16, by their marks or, as in text of Western letters, by zeros in every second byte."""
    marks = {b"\xff\xfe\0\0": "utf-32", b"\0\0\xfe\xff": "utf-32", b"\xff\xfe": "utf-16", b"\xfe\xff": "utf-16"}
    marked = next((name for mark, name in marks.items() if content.startswith(mark)), None)
    start = content[:2000]
    if marked is not None or len(start) < 8:
        return marked
    zeros = [start[k::2].count(0) / len(start[k::2]) for k in (0, 1)]
    if max(zeros) <= 0.4 or min(zeros) >= 0.05:
        return None
    return "utf-16-le" if content[1] == 0 else "utf-16-be"


def clean_lines(text: str, notes: list[Note]) -> str:
    """The text with one kind of line end and without blank lines; quoted cells are left as they are."""
    if "\r" in text:
        text = text.replace("\r\n", "\n") if "\n" in text else text.replace("\r", "\n")
    if not text.strip():
        return ""
    blank = blank_characters(text)
    cleaned, n_blank = drop_blank_lines(strip_end(text, blank), blank)
    notes += [Note("blank-lines", counts=(n_blank,))] * bool(n_blank)
    return cleaned


def blank_characters(text: str) -> str:
    """Characters of which blank lines are made; a line of tabs may hold empty cells."""
    return " \r" if "\t" in text.lstrip().partition("\n")[0] else " \t\r"


def strip_end(text: str, blank: str) -> str:
    """The text up to its last line that is not blank, with one line end."""
    kept = len(text.rstrip(f"{blank}\n\x1a"))
    return text[:kept] + re.split(r"[\r\n\x1a]", text[kept:], maxsplit=1)[0] + "\n"


def drop_blank_lines(text: str, blank: str) -> tuple[str, int]:
    """Whole lines without the blank ones, and how many these were; lines of quoted cells are left as they are."""
    if not re.match(rf"[{blank}]*\n", text) and not re.search(rf"\n[{blank}]*\n", text):
        return text, 0
    if '"' not in text:
        return re.subn(rf"(?m)^[{blank}]*\n", "", text)
    lines, is_quoted, n_blank = [], False, 0
    for line in io.StringIO(text, newline="\n"):
        if not is_quoted and not line.strip(f"{blank}\n"):
            n_blank += 1
            continue
        is_quoted ^= line.count('"') % 2 == 1
        lines.append(line)
    return "".join(lines), n_blank


# ---------------------------------------------------------------- separator and header


def check_separator(given: str | None) -> str | None:
    """One ASCII character from what the user gave, None if nothing was given."""
    if given is None:
        return None
    separator = {"\\t": "\t", "tab": "\t", "comma": ",", "semicolon": ";", "pipe": "|", "space": " "}.get(given, given)
    if len(separator) != 1 or separator in '"\n\r' or not separator.isascii():
        raise InputError(f"--separator must be one ASCII character (\\t for a tab), got {given!r}.")
    return separator


def find_separator(text: str, notes: list[Note]) -> str:
    """The separator with which the first lines have the same number of cells, more than one; a comma if none has."""
    end = 0
    for n_lines in range(_N_LINES):
        if end >= len(text) or (end > _N_BYTES and n_lines > 1):
            break
        end = text.find("\n", end) + 1 or len(text)
    best, best_worth = ",", (0.0, 0)
    for separator in _SEPARATORS:
        widths = Counter(len(cells) for cells in _records(text[:end], separator) if cells)
        width, times = widths.most_common(1)[0]
        worth = (times / widths.total(), width)
        if width > 1 and (round(worth[0], 2), width) > (round(best_worth[0], 2), best_worth[1]):
            best, best_worth = separator, worth
    if best != ",":
        notes.append(Note("separator", words=(_SEPARATORS[best],)))
    return best


def _records(text: str, separator: str) -> Any:
    """Records of a text; spaces before a quote are dropped here, all others where cells are stripped."""
    csv.field_size_limit(min(sys.maxsize, 2**31 - 1))
    lines = io.StringIO(text, newline="")
    return csv.reader(lines, delimiter=separator, skipinitialspace=has_space_before_quote(text, separator))


def has_space_before_quote(text: str, separator: str) -> bool:
    """Whether a cell may begin with a quote after spaces, which readers take in different ways."""
    return re.search(rf'(^|\n|{re.escape(separator)})[ \t]+"', text) is not None


def _name_columns(
    first: Sequence[str], has_header: bool, given: tuple[str, ...] | None, what: str, notes: list[Note]
) -> list[str]:
    """One name for each column, no two the same."""
    if given is not None:
        if len(given) != len(first):
            raise InputError(f"--names has {len(given)} names, and {what} has {len(first)} columns; give one for each.")
        names = list(given)
    elif not has_header:
        return [f"x{k}" for k in range(len(first))]
    else:
        names = [name.strip() for name in first]
        if any(_is_number(name) for name in names):
            notes.append(Note("header-has-numbers"))
    unnamed = [k for k, name in enumerate(names) if not name]
    for k in unnamed:
        names[k] = f"x{k}"
    if unnamed:
        notes.append(Note("unnamed-columns", tuple(names[k] for k in unnamed)))
    return _number_repeated(names, notes)


def _number_repeated(names: list[str], notes: list[Note]) -> list[str]:
    """Names that occur again with a number behind them, a and a_2."""
    used, counts, renamed, changed = set(names), Counter[str](), [], []
    for name in names:
        counts[name] += 1
        fresh = name
        while counts[name] > 1 and fresh in used:
            fresh = f"{name}_{counts[name]}"
            counts[name] += fresh in used
        if fresh != name:
            used.add(fresh)
            changed.append(fresh)
        renamed.append(fresh)
    if changed:
        notes.append(Note("numbered-names", tuple(changed)))
    return renamed


def _is_number(text: str) -> bool:
    try:
        float(text)
    except ValueError:
        return False
    return True


# ---------------------------------------------------------------- cells


def _parse(text: str, shape: TextShape, what: str) -> pl.DataFrame:
    """All cells as text; lines with more or fewer cells than the first are refused by number."""
    frame = _parse_fast(text, shape, what)
    if frame is not None:
        return frame
    schema = {f"column_{k}": pl.String for k in range(len(shape.names))}
    records = [[cell or None for cell in cells] for cells in _checked_records(text, shape, what)]
    return pl.DataFrame(records, schema=schema, orient="row")


def _parse_fast(text: str, shape: TextShape, what: str) -> pl.DataFrame | None:
    """All cells as text, if polars is certain to read them right; None where only the slower way does."""
    if has_space_before_quote(text, shape.separator):  # polars takes such quotes as part of the cell
        return None
    try:
        frame = pl.read_csv(
            text.encode(),
            separator=shape.separator,
            has_header=shape.has_header,
            infer_schema=False,
            raise_if_empty=False,
        )
    except pl.exceptions.PolarsError:
        return None
    width, n_lines = len(shape.names), len(frame) + shape.has_header
    if frame.width != width:
        return None
    if _are_even(text, shape.separator, width, n_lines):
        return frame
    n_records = sum(1 for _ in _checked_records(text, replace(shape, has_header=False), what))
    return frame if n_lines == n_records else None


def _are_even(text: str, separator: str, width: int, n_lines: int) -> bool:
    """Whether it is certain that every line has as many cells as the first."""
    if '"' in text:
        return False
    cells = np.frombuffer(text.encode(), np.uint8)
    ends = np.flatnonzero(cells == ord("\n"))
    if len(ends) != n_lines:
        return False
    before = np.searchsorted(np.flatnonzero(cells == ord(separator)), ends)
    return bool((np.diff(before, prepend=0) == width - 1).all())


def _checked_records(text: str, shape: TextShape, what: str) -> Iterator[list[str]]:
    """Records of a text without its header, if all have as many cells as the first.

    Slower than polars, but it copes with every quote.
    """
    width, separator = len(shape.names), shape.separator
    reader, line, is_header = _records(text, separator), 1, shape.has_header
    for cells in reader:
        if cells and cells[-1].endswith("\n"):  # a cell does not end in the line end of its record, unless quoted
            raise InputError(f"{what} has a quote in line {line} or later that is never closed; close or remove it.")
        if cells and len(cells) != width:
            raise InputError(
                f"{what} has ragged rows: line {reader.line_num} has {len(cells)} cells and the first line has"
                f" {width}; quote cells that hold {separator!r}, or name another --separator."
            )
        if cells and not is_header:
            yield cells
        is_header &= not cells
        line = reader.line_num + 1


def _type_cells(frame: pl.DataFrame, na: Sequence[str], separator: str, notes: list[Note]) -> pl.DataFrame:
    """Cells with their kinds, some columns at a time."""
    typed: list[pl.Series] = []
    seen = CellNotes()
    at_once = max(1, _N_CELLS // max(1, len(frame)))
    for start in range(0, frame.width, at_once):
        typed += type_columns(frame.get_columns()[start : start + at_once], na, separator, seen)
    notes += seen.notes()
    return pl.DataFrame(typed)
