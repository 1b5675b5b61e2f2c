"""CSV and similar text to a dataframe: encoding, separator, header, missing cells, numbers and dates are detected.

A text is read in pieces that end with a row, all cells as text; the pieces of a large one are stored as Parquet, column
by column. Then the columns are typed, each on all of its cells.
"""

import atexit
import csv
import io
import itertools
import re
import sys
import tempfile
from collections import Counter
from collections.abc import Iterator, Sequence
from contextlib import ExitStack
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

import numpy as np
import polars as pl

from analogical._types import Note
from analogical.errors import InputError
from analogical.io.files import MANY_CELLS, FileTable, Source, TextFormat
from analogical.io.typing import CellNotes, type_columns

PIECE_BYTES = 2**26
"""Bytes of a text that are read together."""
TYPED_CELLS = 2_000_000
"""Cells that are typed together."""
MOST_COLUMNS = 200_000
"""More are refused: reading takes about 25 microseconds per column, however few rows there are."""


def read_text(source: Source, text_format: TextFormat, *, lazy: bool | None = False) -> FileTable:
    """The table in a text file, and a note on everything that was detected or changed.

    With ``lazy`` (None: if there are many cells) the table is a lazy frame of temporary Parquet files.
    """
    notes: list[Note] = []
    try:
        return _read_pieces(_cleaned(_pieces(source, notes), notes), source.what, text_format, lazy, notes)
    except UnicodeDecodeError as error:  # a byte that is not UTF-8 changes how all are read
        content = source.read()
        try:
            text = content.decode("cp1252")
        except UnicodeDecodeError:
            text = content.decode("latin-1")
        notes[:] = [Note("not-utf-8", counts=(error.start,))]
        return _read_pieces(_cleaned(iter([(text, True)]), notes), source.what, text_format, lazy, notes)


def _read_pieces(
    pieces: Iterator[str], what: str, text_format: TextFormat, lazy: bool | None, notes: list[Note]
) -> FileTable:
    """The table in the pieces of a text, and all notes; the pieces are noted when the last one was read."""
    first: list[str] = []
    while sum(map(len, first)) < 200_000 and (piece := next(pieces, None)) is not None:
        first.append(piece)  # enough to find the separator and the names of columns
    shape_notes: list[Note] = []
    shape = _find_shape("".join(first), what, text_format, shape_notes)
    names = list(shape.names)
    with ExitStack() as stack:
        folder = Path(stack.enter_context(tempfile.TemporaryDirectory(prefix="analogical-")))
        frames = _parse_pieces(itertools.chain(first, pieces), shape, what)
        whole, second = next(frames), next(frames, None)
        if second is not None:
            for k, frame in enumerate(itertools.chain([whole, second], frames)):
                frame.write_parquet(folder / f"rows-{k:06}.parquet", compression="lz4")
        raw = whole.lazy() if second is None else pl.scan_parquet(folder / "rows-*.parquet")
        del whole, second
        n_rows = int(raw.select(pl.len()).collect().item())
        if not n_rows:
            raise InputError(f"{what} has a header and no rows; give at least two rows with different labels.")
        if shape.may_end_empty and not raw.select(pl.col(names[-1]).count()).collect().item():
            shape_notes.append(Note("empty-column"))
            names.pop()
        is_lazy = lazy or (lazy is None and n_rows * len(names) >= MANY_CELLS)
        typed, cell_notes, step = list[pl.Series](), CellNotes(), max(1, TYPED_CELLS // n_rows)
        for start in range(0, len(names), step):
            columns = raw.select(names[start : start + step]).collect().get_columns()
            typed += type_columns(columns, text_format.na, shape.separator, cell_notes)
            if is_lazy:
                pl.DataFrame(typed).write_parquet(folder / f"columns-{start:06}.parquet")
                typed.clear()
        table: Any = pl.DataFrame(typed)
        if is_lazy:
            parts = [pl.scan_parquet(path) for path in sorted(folder.glob("columns-*"))]
            pl.concat(parts, how="horizontal").sink_parquet(folder / "table.parquet")
            table = pl.scan_parquet(folder / "table.parquet")
            atexit.register(stack.pop_all().close)
    return FileTable(table, (*notes, *shape_notes, *cell_notes.notes()))


# ---------------------------------------------------------------- characters and lines


def _pieces(source: Source, notes: list[Note]) -> Iterator[tuple[str, bool]]:
    """The text in pieces that end with a row, and whether each is the last; UnicodeDecodeError if it is not UTF-8."""
    blocks, n_before = list[bytes](), 0
    for block in itertools.chain(source.blocks(), [b""]):
        blocks.append(block)
        if block and sum(map(len, blocks)) < PIECE_BYTES:
            continue
        held = b"".join(blocks)
        if n_before == 0 and (encoding := _utf_16_or_32(held)) is not None:
            name = encoding[:6].upper()
            try:
                text = source.read().decode(encoding)
            except UnicodeDecodeError as error:
                raise InputError(
                    f"{source.what} begins as {name} text, but byte {error.start:,} is not; save it as UTF-8."
                ) from None
            notes.append(Note("encoding", words=(name,)))
            yield text.removeprefix("\ufeff"), True
            return
        if n_before == 0 and b"\0" in held[:65536]:
            raise InputError(
                f"{source.what} is binary, not text; give CSV or TSV, or a file named by its format (.parquet, .arrow,"
                " .xlsx)."
            )
        end = _end_of_rows(held) if block else len(held)
        if end or not block:
            try:
                text = held[:end].decode("utf-8" if n_before else "utf-8-sig")
            except UnicodeDecodeError as error:
                error.start += n_before
                raise
            yield text, not block
        blocks, n_before = [held[end:]], n_before + end


def _end_of_rows(content: bytes) -> int:
    """The end of the last line before more than blanks, outside of quotes; 0 if only blank lines are before it."""
    kept = len(content.rstrip(b" \t\r\n\x1a"))
    end = content.rfind(b"\n", 0, kept) + 1
    if b'"' in content:
        characters = np.frombuffer(content, np.uint8)[:kept]
        is_inside = np.bitwise_xor.accumulate(characters == ord('"'))
        end = int(np.flatnonzero((characters == ord("\n")) & ~is_inside).max(initial=-1)) + 1
    return end if content[:end].strip() else 0


def _utf_16_or_32(content: bytes) -> str | None:
    """UTF-32 or UTF-16, by the byte order mark or, as in text of Western letters, by zeros in every second byte."""
    marks = {b"\xff\xfe\0\0": "utf-32", b"\0\0\xfe\xff": "utf-32", b"\xff\xfe": "utf-16", b"\xfe\xff": "utf-16"}
    marked = next((name for mark, name in marks.items() if content.startswith(mark)), None)
    start = content[:2000]
    if marked is not None or len(start) < 8:
        return marked
    zeros = [start[k::2].count(0) / len(start[k::2]) for k in (0, 1)]
    if max(zeros) <= 0.4 or min(zeros) >= 0.05:
        return None
    return "utf-16-le" if content[1] == 0 else "utf-16-be"


def _cleaned(pieces: Iterator[tuple[str, bool]], notes: list[Note]) -> Iterator[str]:
    """Pieces with one kind of line end and without blank lines; line breaks in quoted cells stay."""
    blank, n_blank = "", 0
    for k, (piece, is_last) in enumerate(pieces):
        text = piece
        if "\r" in text:
            text = text.replace("\r\n", "\n") if k or "\n" in text else text.replace("\r", "\n")
        if not k:  # a line of tabs may hold empty cells
            blank = " \r" if "\t" in text.lstrip().partition("\n")[0] else " \t\r"
        if is_last:  # up to its last line that is not blank, with one line end
            kept = len(text.rstrip(f"{blank}\n\x1a"))
            text = text[:kept] + re.split(r"[\r\n\x1a]", text[kept:], maxsplit=1)[0] + "\n" if text.strip() else ""
        text, n_dropped = _drop_blank_lines(text, blank)
        n_blank += n_dropped
        if is_last and n_blank:
            notes.append(Note("blank-lines", counts=(n_blank,)))
        if text:
            yield text


def _drop_blank_lines(text: str, blank: str) -> tuple[str, int]:
    """The text without its blank lines, and how many there were; those within quoted cells stay."""
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


@dataclass(frozen=True)
class _Shape:
    """How the lines of a text are divided into cells, and what its columns are called."""

    separator: str
    has_header: bool
    names: tuple[str, ...]
    may_end_empty: bool
    """Whether the last column has no name, as when lines end in a separator."""


def _find_shape(text: str, what: str, text_format: TextFormat, notes: list[Note]) -> _Shape:
    """Separator and column names, from the beginning of a text."""
    if not text.strip():
        raise InputError(f"{what} is empty; give a header and rows.")
    separator = _check_separator(text_format.separator) or _find_separator(text, notes)
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
    has_header = text_format.header and text_format.names is None
    if text_format.header and text_format.names is not None:
        notes.append(Note("first-line-is-data"))
    names = _name_columns(first, has_header, text_format.names, what, notes)
    return _Shape(separator, has_header, tuple(names), len(first) > 2 and not first[-1].strip())


def _check_separator(given: str | None) -> str | None:
    """The separator given by the user, as one ASCII character; None if none was given."""
    if given is None:
        return None
    separator = {"\\t": "\t", "tab": "\t", "comma": ",", "semicolon": ";", "pipe": "|", "space": " "}.get(given, given)
    if len(separator) != 1 or separator in '"\n\r' or not separator.isascii():
        raise InputError(f"--separator must be one ASCII character (\\t for a tab), got {given!r}.")
    return separator


def _find_separator(text: str, notes: list[Note]) -> str:
    """The separator that divides most of the first 100 lines into equally many cells, at least two; else a comma."""
    end = 0
    for n_lines in range(100):
        if end >= len(text) or (end > 200_000 and n_lines > 1):
            break
        end = text.find("\n", end) + 1 or len(text)
    names, best, best_score = {",": "comma", "\t": "tab", ";": "semicolon", "|": "pipe"}, ",", (0.0, 0)
    for separator in names:
        widths = Counter(len(cells) for cells in _records(text[:end], separator) if cells)
        width, n_lines = widths.most_common(1)[0]
        score = (round(n_lines / widths.total(), 2), width)
        if width > 1 and score > best_score:
            best, best_score = separator, score
    if best != ",":
        notes.append(Note("separator", words=(names[best],)))
    return best


def _records(text: str, separator: str) -> Any:
    """A CSV reader of a text; it drops spaces before quotes, and cells are stripped of all others later."""
    csv.field_size_limit(min(sys.maxsize, 2**31 - 1))
    lines = io.StringIO(text, newline="")
    return csv.reader(lines, delimiter=separator, skipinitialspace=has_space_before_quote(text, separator))


def has_space_before_quote(text: str, separator: str) -> bool:
    """Whether a cell may begin with spaces and a quote, which CSV readers treat differently."""
    return re.search(rf'(^|\n|{re.escape(separator)})[ \t]+"', text) is not None


def _name_columns(
    first: Sequence[str], has_header: bool, given: tuple[str, ...] | None, what: str, notes: list[Note]
) -> list[str]:
    """A distinct name for each column."""
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
    """Distinct names: the second column called a becomes a_2."""
    used, counts, distinct, changed = set(names), Counter[str](), [], []
    for name in names:
        counts[name] += 1
        new_name = name
        while counts[name] > 1 and new_name in used:
            new_name = f"{name}_{counts[name]}"
            counts[name] += new_name in used
        if new_name != name:
            used.add(new_name)
            changed.append(new_name)
        distinct.append(new_name)
    if changed:
        notes.append(Note("numbered-names", tuple(changed)))
    return distinct


def _is_number(text: str) -> bool:
    try:
        float(text)
    except ValueError:
        return False
    return True


# ---------------------------------------------------------------- cells


def _parse_pieces(pieces: Iterator[str], shape: _Shape, what: str) -> Iterator[pl.DataFrame]:
    """The rows of each piece, all cells as text; a line with more or fewer cells than the first is refused."""
    before = 0  # lines before the piece
    for text in pieces:
        frame = _parse_fast(text, shape, what, before)
        if frame is None:
            records = [[cell or None for cell in cells] for cells in _checked_records(text, shape, what, before)]
            frame = pl.DataFrame(records, schema=dict.fromkeys(shape.names, pl.String), orient="row")
        frame.columns = list(shape.names)
        yield frame
        shape = replace(shape, has_header=False)
        before += text.count("\n") + text.count("\r") - text.count("\r\n")


def _parse_fast(text: str, shape: _Shape, what: str, before: int) -> pl.DataFrame | None:
    """All cells as text, read by polars; None if it may not read them right."""
    if has_space_before_quote(text, shape.separator):  # polars keeps such quotes in the cell
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
    n_records = sum(1 for _ in _checked_records(text, replace(shape, has_header=False), what, before))
    return frame if n_lines == n_records else None


def _are_even(text: str, separator: str, width: int, n_lines: int) -> bool:
    """Whether it is certain that every line has as many cells as the first; not known of text with quotes."""
    if '"' in text:
        return False
    content = np.frombuffer(text.encode(), np.uint8)
    ends = np.flatnonzero(content == ord("\n"))
    if len(ends) != n_lines:
        return False
    n_separators = np.searchsorted(np.flatnonzero(content == ord(separator)), ends)
    return bool((np.diff(n_separators, prepend=0) == width - 1).all())


def _checked_records(text: str, shape: _Shape, what: str, before: int) -> Iterator[list[str]]:
    """Records of a text without its header, if all have as many cells as the first; slower, but handles all quotes."""
    width, separator = len(shape.names), shape.separator
    reader, line, is_header = _records(text, separator), before + 1, shape.has_header
    for cells in reader:
        if cells and cells[-1].endswith("\n"):  # a cell does not end in the line end of its record, unless quoted
            raise InputError(f"{what} has a quote in line {line} or later that is never closed; close or remove it.")
        if cells and len(cells) != width:
            raise InputError(
                f"{what} has ragged rows: line {before + reader.line_num} has {len(cells)} cells and the first line has"
                f" {width}; quote cells that hold {separator!r}, or name another --separator."
            )
        if cells and not is_header:
            yield cells
        is_header &= not cells
        line = before + reader.line_num + 1
