"""CSV and similar text to a dataframe: encoding, separator, header, missing cells, numbers and dates are detected."""

import csv
import io
import re
import sys
from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
import polars as pl
from numpy.typing import NDArray

from analogical.errors import InputError
from analogical.io.formats import TextFormat

__all__ = ["parse_text"]

_SEPARATORS = {",": "comma", "\t": "tab", ";": "semicolon", "|": "pipe"}
_N_LINES = 100
"""Lines that are looked at to find the separator."""
NO_NUMBER = r"^[+-]?0[0-9]|[iI][nN]"
"""Codes with leading zeros, such as 007, and words that polars would read as infinite."""
LONG_NUMBER = r"^[+-]?[0-9]{19,}$"
"""Whole numbers that may not fit 64 bits: they stay text, because as floats different ones would be equal."""
_DECIMAL_COMMA = r"^[+-]?[0-9]+(,[0-9]+)?$"
_DATE = re.compile(r"\d{4}-\d{2}-\d{2}([ T]\d{2}:\d{2}(:\d{2}(\.\d+)?)?)?$")
EMPTY_END = "left out the last column, which is empty: lines end with a separator"
_MAX_LISTED = 6
_N_CELLS = 2_000_000
"""Cells of a file that are looked at together."""
_N_BYTES = 200_000
"""Characters that are looked at to find the separator, if the first lines are long."""


def parse_text(content: bytes, what: str, given: TextFormat) -> tuple[pl.DataFrame, tuple[str, ...]]:
    r"""The table in a text file, and a note for everything that was detected or changed.

    Examples
    --------
    >>> frame, notes = parse_text(b"a;label\n1;yes\n2;no\n", "the file", TextFormat())
    >>> frame["a"].to_list(), notes
    ([1, 2], ('detected separator: semicolon (override with --separator)',))
    """
    notes: list[str] = []
    text = _clean_lines(_decode(content, what, notes), notes)
    shape = find_shape(text, what, given, notes)
    frame = _parse(text, shape, what)
    frame.columns = list(shape.names)
    if not len(frame):
        raise InputError(f"{what} has a header and no rows; give at least two rows with different labels.")
    if shape.may_end_empty and frame[:, -1].is_null().all():
        notes.append(EMPTY_END)
        frame = frame[:, :-1]
    return _type_cells(frame, given.na, shape.separator != ",", notes), tuple(notes)


@dataclass(frozen=True)
class TextShape:
    """How the lines of a text become cells."""

    separator: str
    has_header: bool
    names: tuple[str, ...]
    may_end_empty: bool
    """Whether the last column has no name, as when lines end in a separator."""


def find_shape(text: str, what: str, given: TextFormat, notes: list[str]) -> TextShape:
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
    has_header = given.header and given.names is None
    if given.header and given.names is not None:
        notes.append("the first line is data, because --names was given")
    names = _name_columns(first, has_header, given.names, what, notes)
    return TextShape(separator, has_header, tuple(names), len(first) > 2 and not first[-1].strip())


# ---------------------------------------------------------------- characters and lines


def _decode(content: bytes, what: str, notes: list[str]) -> str:
    if content.startswith((b"\xff\xfe", b"\xfe\xff")) or _looks_like_utf_16(content):
        try:
            is_marked = content.startswith((b"\xff\xfe", b"\xfe\xff"))
            text = content.decode("utf-16" if is_marked else "utf-16-le" if content[1] == 0 else "utf-16-be")
        except UnicodeDecodeError as error:
            raise InputError(
                f"{what} begins as UTF-16 text, but byte {error.start:,} is not; save it as UTF-8."
            ) from None
        notes.append("read as UTF-16 text")
        return text.removeprefix("\ufeff")
    if b"\0" in content[:65536]:
        raise InputError(
            f"{what} is binary, not text; give CSV or TSV, or a file named by its format (.parquet, .arrow, .xlsx)."
        )
    try:
        return content.decode("utf-8-sig")
    except UnicodeDecodeError as error:
        notes.append(not_utf_8(error.start))
        try:
            return content.decode("cp1252")
        except UnicodeDecodeError:
            return content.decode("latin-1")


def not_utf_8(byte: int) -> str:
    """What to say about a text that is not UTF-8 from a byte on."""
    return f"not UTF-8 (byte {byte:,}), so read as Latin-1 text; save it as UTF-8 if letters look wrong"


def _looks_like_utf_16(content: bytes) -> bool:
    """Whether every second byte of the beginning is 0, as in text of Western letters without a mark."""
    start = content[:2000]
    if len(start) < 8:
        return False
    zeros = [start[k::2].count(0) / len(start[k::2]) for k in (0, 1)]
    return max(zeros) > 0.4 and min(zeros) < 0.05


def _clean_lines(text: str, notes: list[str]) -> str:
    """The text with one kind of line end and without blank lines; quoted cells are left as they are."""
    if "\r" in text:
        text = text.replace("\r\n", "\n") if "\n" in text else text.replace("\r", "\n")
    if not text.strip():
        return ""
    blank = blank_characters(text)
    cleaned, n_blank = drop_blank_lines(strip_end(text, blank), blank)
    notes += skipped_note(n_blank)
    return cleaned


def blank_characters(text: str) -> str:
    """Characters of which blank lines are made; a line of tabs may hold empty cells."""
    return " \r" if "\t" in text.lstrip().partition("\n")[0] else " \t\r"


def strip_end(text: str, blank: str) -> str:
    """The text up to its last cell, with one line end."""
    return text.rstrip(f"{blank}\n\x1a") + "\n"


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


def skipped_note(n_blank: int) -> list[str]:
    """What to say about blank lines."""
    return [f"skipped {n_blank:,} blank line{'s' if n_blank > 1 else ''}"] if n_blank else []


# ---------------------------------------------------------------- separator and header


def check_separator(given: str | None) -> str | None:
    """One ASCII character from what the user gave, None if nothing was given."""
    if given is None:
        return None
    separator = {"\\t": "\t", "tab": "\t", "comma": ",", "semicolon": ";", "pipe": "|", "space": " "}.get(given, given)
    if len(separator) != 1 or separator in '"\n\r' or not separator.isascii():
        raise InputError(f"--separator must be one ASCII character (\\t for a tab), got {given!r}.")
    return separator


def find_separator(text: str, notes: list[str]) -> str:
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
        notes.append(f"detected separator: {_SEPARATORS[best]} (override with --separator)")
    return best


def _records(text: str, separator: str) -> Any:
    return _reader(io.StringIO(text, newline=""), separator)


def _reader(lines: Iterable[str], separator: str) -> Any:
    csv.field_size_limit(min(sys.maxsize, 2**31 - 1))
    return csv.reader(lines, delimiter=separator, skipinitialspace=True)


def _name_columns(
    first: Sequence[str], has_header: bool, given: tuple[str, ...] | None, what: str, notes: list[str]
) -> list[str]:
    """One name for each column, no two the same."""
    if given is not None:
        if len(given) != len(first):
            raise InputError(f"--names has {len(given)} names, and {what} has {len(first)} columns; give one for each.")
        names = list(given)
    elif not has_header:
        return [f"x{k}" for k in range(1, len(first) + 1)]
    else:
        names = [name.strip() for name in first]
        if any(_is_number(name) for name in names):
            notes.append("the first line, used as column names, contains numbers; if it is data, use --no-header")
    unnamed = [k for k, name in enumerate(names) if not name]
    for k in unnamed:
        names[k] = f"x{k + 1}"
    if unnamed:
        notes.append(f"columns without a name: {_some([names[k] for k in unnamed])}")
    return _number_repeated(names, notes)


def _number_repeated(names: list[str], notes: list[str]) -> list[str]:
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
        notes.append(f"repeated column names were numbered: {_some(changed)}")
    return renamed


def _is_number(text: str) -> bool:
    try:
        float(text)
    except ValueError:
        return False
    return True


def _some(words: Sequence[str]) -> str:
    more = f" and {len(words) - _MAX_LISTED} more" if len(words) > _MAX_LISTED else ""
    return f"{', '.join(words[:_MAX_LISTED])}{more}"


# ---------------------------------------------------------------- cells


def _parse(text: str, shape: TextShape, what: str) -> pl.DataFrame:
    """All cells as text; lines with more or fewer cells than the first are refused by number."""
    frame = parse_fast(text, shape, what, has_header=shape.has_header)
    if frame is not None:
        return frame
    return frame_of(list(checked_records([text], shape, what)), shape)


def parse_fast(text: str, shape: TextShape, what: str, *, has_header: bool) -> pl.DataFrame | None:
    """All cells as text, if polars is certain to read them right; None where only the slower way does."""
    width = len(shape.names)
    if re.search(re.escape(shape.separator) + '[ \t]+"', text):  # polars takes such quotes as part of the cell
        return None
    try:
        frame = pl.read_csv(
            text.encode(), separator=shape.separator, has_header=has_header, infer_schema=False, raise_if_empty=False
        )
    except pl.exceptions.PolarsError:
        return None
    if frame.width != width:
        return None
    if _are_even(text, shape.separator, width, len(frame) + has_header):
        return frame
    n_records = sum(1 for _ in checked_records([text], replace(shape, has_header=False), what))
    return frame if len(frame) + has_header == n_records else None


def frame_of(records: list[list[str]], shape: TextShape) -> pl.DataFrame:
    """Records as a frame of texts."""
    return pl.DataFrame(records, schema={f"column_{k}": pl.String for k in range(len(shape.names))}, orient="row")


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


def checked_records(texts: Iterable[str], shape: TextShape, what: str) -> Iterator[list[str]]:
    """Records of a text that comes in parts, without its header, if all have as many cells as the first.

    Slower than polars, but it copes with every quote.
    """
    width, separator = len(shape.names), shape.separator
    lines = (line for text in texts for line in io.StringIO(text, newline=""))
    reader, line, is_header = _reader(lines, separator), 1, shape.has_header
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


def _type_cells(frame: pl.DataFrame, na: Sequence[str], has_decimal_commas: bool, notes: list[str]) -> pl.DataFrame:
    """Cells without spaces, missing where they say so, and as numbers or dates where a column has nothing else.

    Columns are looked at in groups, one below the other, because polars is slow with thousands of columns.
    """
    typed: list[pl.Series] = []
    seen = Seen()
    at_once = max(1, _N_CELLS // max(1, len(frame)))
    for start in range(0, frame.width, at_once):
        columns = frame.get_columns()[start : start + at_once]
        typed += type_group(columns, na, has_decimal_commas, seen)
    notes += seen.notes()
    return pl.DataFrame(typed)


class Seen:
    """What was changed in the cells of a file."""

    def __init__(self) -> None:
        self.has_spaces = False
        self.missing: Counter[str] = Counter()
        self.decimal_commas: list[str] = []

    def notes(self) -> Iterator[str]:
        """One line for each kind of change."""
        if self.has_spaces:
            yield "spaces around values were stripped"
        if self.missing:
            most_first = sorted(self.missing.items(), key=lambda item: (-item[1], item[0]))
            found = [f"{word!r} ({n:,})" for word, n in most_first]
            yield f"read as missing: {_some(found)}; override with --na"
        if self.decimal_commas:
            yield f"decimal commas in {_some(self.decimal_commas)}"


def strip_cells(raw: pl.Series, na: Sequence[str], seen: Seen, times: pl.Series | None = None) -> pl.Series:
    """Cells without spaces, missing where they say so; each stands for so many."""
    cells = raw.str.strip_chars()
    seen.has_spaces |= bool((cells.str.len_bytes() != raw.str.len_bytes()).any())
    small = cells.str.to_lowercase()
    is_na = small.is_in(sorted({word.strip().lower() for word in (*na, "")}))
    if is_na.any():
        is_word = is_na & (small != "")
        words = pl.DataFrame({"word": small, "n": 1 if times is None else times}).filter(is_word)
        seen.missing.update(dict(words.group_by("word").agg(pl.col("n").sum()).iter_rows()))
        cells = cells.set(is_na.fill_null(False), None)
    return cells


def type_group(
    columns: Sequence[pl.Series],
    na: Sequence[str],
    has_decimal_commas: bool,
    seen: Seen,
    times: pl.Series | None = None,
) -> list[pl.Series]:
    """The same columns with missing cells, numbers and dates; ``times`` says how many cells each cell stands for."""
    m = len(columns[0])
    cells = strip_cells(pl.concat([column.alias("") for column in columns]), na, seen, times)
    n_present = m - _sums(cells.is_null(), m)
    reals = cells.cast(pl.Float64, strict=False)
    is_number = (_sums(reals.is_not_null(), m) == n_present) & (n_present > 0)
    wholes, is_whole = reals, np.zeros(len(columns), np.bool_)
    if is_number.any():
        is_number &= _sums(cells.str.contains(NO_NUMBER).fill_null(False), m) == 0
        wholes = cells.cast(pl.Int64, strict=False)
        is_whole = is_number & (_sums(wholes.is_not_null(), m) == n_present)
        is_number &= is_whole | (_sums(cells.str.contains(LONG_NUMBER).fill_null(False), m) == 0)
    typed = []
    for k, column in enumerate(columns):
        place = k * m
        if is_number[k]:
            typed.append((wholes if is_whole[k] else reals).slice(place, m).alias(column.name))
            continue
        own = cells.slice(place, m).alias(column.name)
        if has_decimal_commas and n_present[k] and are_decimal_commas(own.drop_nulls()):
            seen.decimal_commas.append(column.name)
            typed.append(own.str.replace(",", ".", literal=True).cast(pl.Float64))
        else:
            typed.append(as_dates(own))
    return typed


def are_decimal_commas(cells: pl.Series, *, some: bool = True) -> bool:
    """Whether all cells are numbers, and some have a decimal comma if that is asked."""
    if not cells.str.contains(_DECIMAL_COMMA).all() or cells.str.contains(NO_NUMBER).any():
        return False
    return not some or bool(cells.str.contains(",", literal=True).any())


def _sums(cells: pl.Series, m: int) -> NDArray[np.int64]:
    """How many cells of each column are true."""
    sums: NDArray[np.int64] = cells.to_numpy().reshape(-1, m).sum(axis=1)
    return sums


def as_dates(column: pl.Series) -> pl.Series:
    """A column whose cells are all dates, or dates with times, in the order year, month, day, as such."""
    place = column.is_not_null().arg_max()
    if place is None or column[place] is None or not _DATE.match(column[place]):
        return column
    for kind in (pl.Date, pl.Datetime):
        found = parse_dates(column, kind)
        if found is not None:
            return found
    return column


def parse_dates(column: pl.Series, kind: Any) -> pl.Series | None:
    """The column as dates or as dates with times, if all of its cells are such."""
    try:
        found = column.str.strptime(kind, strict=False)
    except pl.exceptions.PolarsError:
        return None
    return found if found.null_count() == column.null_count() else None
