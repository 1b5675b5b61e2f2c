"""Large text files to tables read in batches: every column as codes of its different cells.

The file is read once, some lines at a time. What ``text.py`` finds in a text as a whole is found here from its
beginning and from the different cells of each column. The codes, and the cells of a column with very many different
ones, are put aside on disk, in a folder that is removed with the table.
"""

import codecs
from collections import Counter
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from shutil import rmtree
from tempfile import gettempdir, mkdtemp
from typing import Any
from weakref import finalize

import numpy as np
import polars as pl
from numpy.typing import NDArray

from analogical._progress import Progress
from analogical._types import Note
from analogical.errors import InputError
from analogical.io.batches import CHUNK, BatchColumn, BatchTable, DictionaryColumn, TextCodes
from analogical.io.formats import TextFormat
from analogical.io.text import (
    TextShape,
    blank_characters,
    checked_records,
    drop_blank_lines,
    find_shape,
    frame_of,
    parse_fast,
    strip_end,
)
from analogical.io.typing import FIRST_TESTS, CellNotes, convert, count_matches, settle, strip_cells, type_columns

__all__ = ["Blocks", "WholeInstead", "open_text"]

RECORDS = 2**17
"""Records that are made a frame together, where polars cannot do it."""
LONGEST = 2**26
"""Characters after which a text is cut at any line end, though counting quotes says that it is in a quoted cell."""
LONGEST_LINE = 2**26
"""Characters of a line; a longer one is refused."""
N_HEAD = 2**16
"""Bytes that tell whether it is text."""
BEGINNING = 2**18
"""Characters that tell the separator and the names of the columns."""

BLANK = " \t\r\n\x1a"

Blocks = Callable[[], Iterator[bytes]]
"""Reads the bytes of a text, from the first to the last; may be called again."""


class WholeInstead(Exception):  # noqa: N818 - no error
    """The text is not one to be read in batches; reading it as a whole copes with it, or says what is wrong."""


class _NotCertain(Exception):  # noqa: N818 - no error
    """A part of the text that polars may read wrong."""


def open_text(
    blocks: Blocks, what: str, given: TextFormat, n_bytes: int, progress: Progress | None = None
) -> tuple[BatchTable, tuple[Note, ...]]:
    """The table in a text of about so many bytes, and a note for everything that was guessed or changed."""
    if b"\0" in next(blocks(), b"")[:N_HEAD]:  # UTF-16, or no text at all
        raise WholeInstead
    for encoding in ("utf-8-sig", "cp1252", "latin-1"):
        for is_fast in (True, False):
            reading = _Reading(blocks, what, given, n_bytes, progress, encoding, is_fast=is_fast)
            try:
                return reading.table()
            except _NotCertain:
                continue
            except UnicodeDecodeError:
                break
    raise WholeInstead


class _Reading:
    """One way through the file."""

    def __init__(
        self,
        blocks: Blocks,
        what: str,
        given: TextFormat,
        n_bytes: int,
        progress: Progress | None,
        encoding: str,
        *,
        is_fast: bool,
    ) -> None:
        self.blocks, self.what, self.given, self.encoding, self.is_fast = blocks, what, given, encoding, is_fast
        self.n_bytes, self.progress = n_bytes, progress
        self.n_blank = 0
        self.n_read = 0

    def table(self) -> tuple[BatchTable, tuple[Note, ...]]:
        """All columns."""
        texts = self.texts()
        beginning = ""
        for text in texts:
            beginning += text
            if len(beginning) > BEGINNING:
                break
        notes: list[Note] = []
        shape = find_shape(beginning, self.what, self.given, notes)
        folder = _Folder()
        n_rows = self.n_bytes * beginning.count("\n") // len(beginning)
        columns = [_Cells(n_rows, folder) for _ in shape.names]
        with_beginning = (text for part in ([beginning], texts) for text in part)
        for frame in self.frames(with_beginning, shape):
            for column, cells in zip(columns, frame.get_columns(), strict=True):
                column.add(cells)
        if not columns[0].n_rows:
            raise WholeInstead
        names = list(shape.names)
        if shape.may_end_empty and columns[-1].is_empty():
            notes.append(Note("empty-column"))
            columns, names = columns[:-1], names[:-1]
        seen = CellNotes()
        done = [
            column.typed(name, self.given.na, shape.separator, seen)
            for column, name in zip(columns, names, strict=True)
        ]
        lines = [Note("blank-lines", counts=(self.n_blank,))] if self.n_blank else []
        if self.encoding != "utf-8-sig":
            lines.insert(0, Note("not-utf-8", counts=(self._first_that_is_not_utf_8(),)))
        return BatchTable(done), (*lines, *notes, *seen.notes())

    def frames(self, texts: Iterator[str], shape: TextShape) -> Iterator[pl.DataFrame]:
        """The cells of the text, some lines at a time."""
        if self.is_fast:
            has_header = shape.has_header
            for text in texts:
                try:
                    frame = parse_fast(text, shape, self.what, has_header=has_header)
                except InputError:  # with the number of a line that counts from here
                    frame = None
                if frame is None:
                    raise _NotCertain
                has_header = False
                yield frame
            return
        records: list[list[str]] = []
        for cells in checked_records(texts, shape, self.what):
            records.append(cells)
            if len(records) == RECORDS:
                yield frame_of(records, shape)
                records = []
        if records:
            yield frame_of(records, shape)

    def texts(self) -> Iterator[str]:
        """Whole lines without blank ones, some at a time; no quoted cell is cut."""
        blank = ""
        for text, is_last in self.parts():
            blank = blank or blank_characters(text)
            cleaned, n_blank = drop_blank_lines(strip_end(text, blank) if is_last else text, blank)
            self.n_blank += n_blank
            if cleaned:
                yield cleaned

    def parts(self) -> Iterator[tuple[str, bool]]:
        """Whole lines, with one kind of line end, and whether they are the last ones.

        Lines are kept back until others follow that are not blank: blank lines at the end belong to the last ones.
        """
        held, rest = "", ""
        for text in self.characters():
            rest += text
            cut = _last_line_end(rest) or (rest.rfind("\n") + 1 if len(rest) > LONGEST else 0)
            if len(rest) > LONGEST_LINE and not cut:
                raise self._too_long(rest)
            part, rest = rest[:cut].replace("\r\n", "\n"), rest[cut:]
            if held.strip(BLANK) and part.strip(BLANK):
                yield held, False
                held = ""
            held += part
        if not held:  # there are no lines, or their ends are not the usual ones
            raise WholeInstead
        yield held + rest.replace("\r\n", "\n"), True

    def characters(self) -> Iterator[str]:
        """The text in blocks."""
        decoder = codecs.getincrementaldecoder(self.encoding)()
        for block in self.blocks():
            self.n_read += len(block)
            if self.progress is not None:
                self.progress(min(self.n_read, self.n_bytes) // 2**20, max(1, self.n_bytes // 2**20))
            yield decoder.decode(block)
        yield decoder.decode(b"", final=True)

    def _too_long(self, line: str) -> Exception:
        """What to raise for a line without an end."""
        if "\r" in line:  # where lines end as on old machines
            return WholeInstead()
        return InputError(
            f"{self.what} has a line of more than {LONGEST_LINE:,} characters, too long for a row of a table; give a"
            " text with one row per line."
        )

    def _first_that_is_not_utf_8(self) -> int:
        decoder, place = codecs.getincrementaldecoder("utf-8-sig")(), 0
        for block in self.blocks():
            kept = len(decoder.getstate()[0])
            try:
                decoder.decode(block)
            except UnicodeDecodeError as error:
                return place - kept + error.start
            place += len(block)
        return place - len(decoder.getstate()[0])


def _last_line_end(text: str) -> int:
    """Behind the last line end that is in no quoted cell, as far as counting quotes can tell; 0 if there is none."""
    cut = text.rfind("\n") + 1
    is_quoted = text.count('"', 0, cut) % 2 == 1
    while cut and is_quoted:
        quote = text.rfind('"', 0, cut)
        earlier = text.rfind("\n", 0, quote) + 1
        is_quoted ^= text.count('"', earlier, cut) % 2 == 1
        cut = earlier
    return cut


class _Folder:
    """A folder for temporary files that is removed when nobody needs it any more, or at the end of the program."""

    def __init__(self) -> None:
        with self.writing():
            self.path = Path(mkdtemp(prefix="analogical-"))
        finalize(self, rmtree, self.path, ignore_errors=True)

    @contextmanager
    def writing(self) -> Iterator[None]:
        """Say what to do if there is no room."""
        try:
            yield
        except (OSError, pl.exceptions.PolarsError) as error:
            reason = (str(error).strip().splitlines() or [type(error).__name__])[0]
            raise InputError(
                f"A large text file needs room for temporary files in {gettempdir()!r}, which cannot be written:"
                f" {reason}; make room, or name another folder in the environment variable TMPDIR."
            ) from None


class _Cells:
    """One column of texts as it is read: codes of its different cells or, if these are too many, files of them."""

    def __init__(self, n_rows: int, folder: _Folder) -> None:
        self.texts: TextCodes | None = TextCodes(n_rows)
        self.folder = folder
        self.files: list[Path] = []
        self.n_rows = 0

    def add(self, cells: pl.Series) -> None:
        """The next rows."""
        self.n_rows += len(cells)
        if self.texts is not None and not self.texts.add(cells):
            codes, known = self.texts.codes, pl.Series(self.texts.known, dtype=pl.String)
            self.texts = None
            held = DictionaryColumn.of(lambda: codes, len(codes), known)
            for batch in held.batches():
                self._write(batch)
        if self.texts is None:
            self._write(cells)

    def _write(self, cells: pl.Series) -> None:
        self.files.append(self.folder.path / f"{id(self)}-{len(self.files)}.parquet")
        with self.folder.writing():
            pl.DataFrame({"cells": cells}).write_parquet(self.files[-1], compression="lz4")

    def is_empty(self) -> bool:
        """Whether no row has a cell."""
        return self.texts is not None and not self.texts.known

    def typed(self, name: str, na: tuple[str, ...], separator: str, notes: CellNotes) -> BatchColumn:
        """The column with missing cells, numbers and dates, decided on its different cells."""
        if self.texts is None:
            return self._typed_from_files(name, na, separator, notes)
        codes = self.texts.codes
        times = np.zeros(len(self.texts.known) + 1, np.int64)
        for start in range(0, len(codes), CHUNK):
            times += np.bincount(codes[start : start + CHUNK].astype(np.intp) + 1, minlength=len(times))
        cells = pl.Series(name, self.texts.known, dtype=pl.String)
        typed = cells
        if len(cells):
            (typed,) = type_columns([cells], na, separator, notes, pl.Series(times[1:]))
        return DictionaryColumn.of(self._put_aside(codes), len(codes), typed)

    def _typed_from_files(self, name: str, na: tuple[str, ...], separator: str, notes: CellNotes) -> BatchColumn:
        """The same for very many different cells, looked at one file after the other."""

        def stripped(notes: CellNotes) -> Iterator[pl.Series]:
            for path in self.files:
                yield strip_cells(pl.read_parquet(path).to_series(), na, notes)

        counts: Counter[str] = Counter(dict.fromkeys(("present", *FIRST_TESTS), 0))
        for cells in stripped(notes):
            counts.update({test: int(sums[0]) for test, sums in count_matches(cells, FIRST_TESTS, len(cells)).items()})
        reading = settle(counts, lambda: stripped(CellNotes()), separator, notes, name)

        def batches() -> Iterator[pl.Series]:
            for cells in stripped(CellNotes()):
                yield convert(cells, reading).alias(name)

        dtype = convert(pl.Series([None], dtype=pl.String), reading).dtype
        return BatchColumn(name, dtype, self.n_rows, batches)

    def _put_aside(self, codes: NDArray[Any]) -> Callable[[], NDArray[Any]]:
        """Codes in a file, and what reads them again."""
        self.texts, folder, dtype = None, self.folder, codes.dtype
        path = folder.path / f"{id(self)}.codes"
        with folder.writing():
            codes.tofile(path)
        return lambda: np.fromfile(folder.path / path.name, dtype)
