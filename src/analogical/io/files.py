"""A file or a stream to a dataframe, with a note for all that was detected, or an error that says why it failed."""

import io
import lzma
import os
import signal
import sys
import threading
import zlib
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from functools import cached_property, partial
from pathlib import Path
from typing import Any, BinaryIO

import polars as pl

from analogical._progress import Progress
from analogical._types import Note
from analogical.datasets import table_names
from analogical.errors import InputError
from analogical.io.batches import BatchColumn, BatchTable
from analogical.io.formats import NA, TextFormat, refuse_text_options
from analogical.io.text import parse_text
from analogical.io.text_batches import WholeInstead, open_text
from analogical.io.typing import CellNotes, type_columns

__all__ = ["FileTable", "open_file", "quiet_stderr", "read_file"]

_KINDS = {".parquet": "parquet", ".pq": "parquet", ".arrow": "arrow", ".feather": "arrow", ".ipc": "arrow"}
"""Formats by the ending of the name."""
_MAGIC = {b"PAR1": "parquet", b"ARROW1": "arrow", b"PK\x03\x04": "workbook"}
"""Formats by the first bytes, which know better than the name."""
_WORKBOOKS = (".xlsx", ".xls", ".xlsb", ".ods")
_COMPRESSIONS = {b"\x1f\x8b": "gzip", b"BZh": "bzip2", b"\xfd7zXZ": "xz", b"\x28\xb5\x2f\xfd": "zstd"}
_SCANNERS: dict[str, Callable[[str], pl.LazyFrame]] = {
    "parquet": lambda file: pl.scan_parquet(file, glob=False, hive_partitioning=False),
    "arrow": lambda file: pl.scan_ipc(file, glob=False, hive_partitioning=False),
}
MANY_CELLS = 10_000_000
"""Cells of a Parquet or Arrow file from which on it is read in batches."""
MANY_BYTES = 30_000_000
"""Bytes of a text, after it was unpacked, from which on it is read in batches."""
MOST_UNPACKED = 500_000_000
"""Bytes that are unpacked at most where a text has to be read as a whole: a small file may hold any number."""
BATCH = 2**18
"""Rows that are read together."""
BLOCK = 2**24
"""Bytes that are read together."""


@dataclass(frozen=True)
class FileTable:
    r"""The table in a file, and notes on how it was read.

    Examples
    --------
    >>> import tempfile
    >>> from pathlib import Path
    >>> from analogical.io.files import read_file
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     path = Path(folder, "table.csv")
    ...     _ = path.write_text("a;label\n1;yes\n2;no\n")
    ...     table = read_file(str(path))
    >>> table.frame.shape, table.notes[0].kind, table.notes[0].words
    ((2, 2), 'separator', ('semicolon',))
    """

    frame: pl.DataFrame | BatchTable
    notes: tuple[Note, ...] = ()


def read_file(
    file: str,
    *,
    separator: str | None = None,
    header: bool = True,
    names: Sequence[str] | None = None,
    na: Sequence[str] = NA,
) -> FileTable:
    r"""The table in a file, or on standard input.

    Separator and encoding of text files are detected, and columns of numbers and dates are parsed. Parquet, Arrow
    and spreadsheets keep their own types.

    Examples
    --------
    >>> import tempfile
    >>> from pathlib import Path
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     path = Path(folder, "table.tsv")
    ...     _ = path.write_text("size\tlabel\n1\tyes\n?\tno\n")
    ...     table = read_file(str(path))
    >>> table.frame["size"].to_list()
    [1, None]
    >>> [note.kind for note in table.notes]
    ['separator', 'read-as-missing']
    """
    text_format = TextFormat(separator, header, None if names is None else tuple(names), tuple(na))
    return _read(_Source.of(file), text_format)


def open_file(
    file: str,
    *,
    separator: str | None = None,
    header: bool = True,
    names: Sequence[str] | None = None,
    na: Sequence[str] = NA,
    progress: Progress | None = None,
) -> FileTable:
    r"""The table in a file as :func:`read_file` reads it; a large one as a table whose columns are read in batches.

    Every function of the library takes such a table as X. Only codes are held then, never the cells of the file.
    ``progress`` is told how many columns, or megabytes of a text file, have been read.

    Examples
    --------
    >>> import tempfile
    >>> from pathlib import Path
    >>> from analogical import relevance
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     path = Path(folder, "table.csv")
    ...     _ = path.write_text("size,colour,sold\n1,red,yes\n1,blue,no\n2,red,yes\n2,blue,no\n")
    ...     relevance(open_file(str(path)).frame, "sold").ranking()
    ['colour', 'size']
    """
    text_format = TextFormat(separator, header, None if names is None else tuple(names), tuple(na))
    source = _Source.of(file)
    if source.kind in _SCANNERS and source.content is None:
        refuse_text_options(text_format, source.what)
        table = _in_batches(source, progress)
        if table is not None:
            return FileTable(table)
    elif source.kind == "text" and source.is_large():
        try:
            return FileTable(*open_text(source.blocks, source.what, text_format, source.size, progress))
        except WholeInstead:  # reading it as a whole copes with it, or says what is wrong
            pass
    return _read(source, text_format)


def _read(source: "_Source", text_format: TextFormat) -> FileTable:
    """The table as a whole."""
    if source.kind == "text":
        return FileTable(*parse_text(source.whole(), source.what, text_format))
    refuse_text_options(text_format, source.what)
    if source.kind == "workbook":
        return _read_workbook(source)
    return FileTable(_read_binary(source))


# ---------------------------------------------------------------- bytes


@dataclass(frozen=True)
class _Source:
    """The bytes of a file, read as often as needed; of a pipe, which can be read once, they are held."""

    path: str
    what: str
    """The file in messages."""
    content: bytes | None = None

    @classmethod
    def of(cls, file: str) -> "_Source":
        """Standard input, a pipe or a file, if it can be read and is not empty."""
        if file == "-":
            return cls(file, "standard input", _standard_input())
        what, path = repr(file if len(file) <= 80 else f"{file[:77]}..."), Path(file)
        try:
            is_folder, is_file = path.is_dir(), path.is_file()
            content = None if is_file or is_folder else path.read_bytes()  # of a pipe, which can be read once
            if is_file:
                with path.open("rb") as stream:
                    stream.read(1)
            is_empty = path.stat().st_size == 0 if content is None else not content
        except FileNotFoundError:
            raise InputError(
                f"There is no file {file!r}; give a CSV, TSV, Parquet or Arrow file, a workbook, - for standard input,"
                f" or a built-in table ({', '.join(table_names())})."
            ) from None
        except (OSError, ValueError) as error:
            reason = getattr(error, "strerror", None) or str(error)
            raise InputError(f"{what} cannot be read: {reason}.") from None
        if is_folder:
            raise InputError(f"{what} is a directory; give one file, or read the folder with --engine spark.")
        if is_empty:
            raise InputError(f"{what} is empty; give a file with a header and rows.")
        return cls(file, what, content)

    def open(self) -> BinaryIO:
        """The bytes as they are."""
        return Path(self.path).open("rb") if self.content is None else io.BytesIO(self.content)

    @cached_property
    def first(self) -> bytes:
        """The first bytes."""
        with self.open() as stream:
            return stream.read(8)

    @cached_property
    def size(self) -> int:
        """Number of bytes, as they are."""
        return Path(self.path).stat().st_size if self.content is None else len(self.content)

    @cached_property
    def compression(self) -> str | None:
        """How the bytes are compressed."""
        return next((name for magic, name in _COMPRESSIONS.items() if self.first.startswith(magic)), None)

    @cached_property
    def kind(self) -> str:
        """The format: parquet, arrow, workbook, or text."""
        by_magic = next((kind for magic, kind in _MAGIC.items() if self.first.startswith(magic)), None)
        suffixes = Path(self.path).suffixes
        suffix = suffixes[-1 if self.compression is None else -2 :][:1]
        by_name = _KINDS.get(suffix[0].lower()) if suffix else None
        is_workbook = self.compression is None and suffix and suffix[0].lower() in _WORKBOOKS
        return by_magic or by_name or ("workbook" if is_workbook else "text")

    def blocks(self) -> Iterator[bytes]:
        """What is in the file, unpacked, some bytes at a time."""
        with self.open() as stream:
            if self.compression is None:
                yield from iter(partial(stream.read, BLOCK), b"")
                return
            try:
                yield from _unpacked(stream, self.compression)
            except InputError:
                raise
            except (EOFError, OSError, ValueError, zlib.error, lzma.LZMAError, RuntimeError) as error:
                raise InputError(
                    f"{self.what} is a damaged {self.compression} file ({first_line(error)}); compress it again."
                ) from None

    def is_large(self) -> bool:
        """Whether what is in the file is large, which is known of a compressed one when it was unpacked so far."""
        if self.compression is None:
            return self.size >= MANY_BYTES
        n_bytes = 0
        for block in self.blocks():
            n_bytes += len(block)
            if n_bytes >= MANY_BYTES:
                return True
        return False

    def whole(self) -> bytes:
        """Everything in the file, unpacked."""
        parts, n_bytes = [], 0
        for block in self.blocks():
            parts.append(block)
            n_bytes += len(block)
            if self.compression is not None and n_bytes > MOST_UNPACKED:
                raise InputError(
                    f"{self.what} unpacks to more than {MOST_UNPACKED // 10**6:,} MB that cannot be read in parts; save"
                    " it as UTF-8 text with one row per line, or as Parquet."
                )
        content = b"".join(parts)
        if self.compression is not None and not content.strip():
            raise InputError(f"{self.what} is empty inside its {self.compression} compression; give a header and rows.")
        return content


def _unpacked(stream: BinaryIO, compression: str) -> Iterator[bytes]:
    """The blocks of a compressed stream; a stream that ends too early is an error."""
    if compression == "zstd":
        yield from _from_zstd(stream)
        return
    import bz2
    import gzip

    openers: dict[str, Any] = {"gzip": gzip.open, "bzip2": bz2.open, "xz": lzma.open}
    with openers[compression](stream) as unpacked:
        yield from iter(partial(unpacked.read, BLOCK), b"")


def _from_zstd(stream: BinaryIO) -> Iterator[bytes]:
    """One frame after the other, in small pieces: a piece may unpack to thousands of times its size."""
    try:
        import zstandard
    except ModuleNotFoundError:
        raise InputError(
            "The file is compressed with zstd, which needs the package zstandard: pip install zstandard"
        ) from None
    try:
        frame, is_begun = zstandard.ZstdDecompressor().decompressobj(), False
        while piece := stream.read(2**14):
            while piece:
                yield frame.decompress(piece)
                piece, is_begun = frame.unused_data, not frame.eof
                if frame.eof:
                    frame = zstandard.ZstdDecompressor().decompressobj()
    except zstandard.ZstdError as error:
        raise ValueError(str(error)) from None
    if is_begun:
        raise EOFError("it ends in the middle")


def _standard_input() -> bytes:
    if hasattr(signal, "siginterrupt") and threading.current_thread() is threading.main_thread():  # not on Windows
        signal.siginterrupt(signal.SIGINT, True)  # otherwise Ctrl-C does not end the waiting for input
    try:
        content = sys.stdin.buffer.read() if sys.stdin is not None else b""
    except (OSError, ValueError) as error:
        raise InputError(f"Standard input cannot be read: {first_line(error)}.") from None
    if not content:
        raise InputError("Standard input is empty; pipe a table into the command, or name a file.")
    return content


# ---------------------------------------------------------------- formats with types of their own


def _in_batches(source: _Source, progress: Progress | None) -> BatchTable | None:
    """The table in a Parquet or Arrow file, to be read in batches; None if it is small, or cannot be read at all."""
    try:
        with quiet_stderr():
            scan = _SCANNERS[source.kind](source.path)
            schema = scan.collect_schema()
            n_rows = int(scan.select(pl.len()).collect().item())
    except KeyboardInterrupt:
        raise
    except BaseException:  # a panic of polars is no Exception; reading the file as a whole says what is wrong
        return None
    if not n_rows or n_rows * len(schema) < MANY_CELLS:
        return None

    def read(position: int) -> Iterator[pl.Series]:
        for start in range(0, n_rows, BATCH):
            with _said_if_damaged(source), quiet_stderr():
                batch = scan.select(pl.nth(position)).slice(start, BATCH).collect().to_series()
            yield batch

    columns = [
        BatchColumn(name, dtype, n_rows, partial(read, position))
        for position, (name, dtype) in enumerate(schema.items())
    ]
    return BatchTable(columns, progress)


def _read_binary(source: _Source) -> pl.DataFrame:
    content = source.whole()
    with _said_if_damaged(source), quiet_stderr():
        if source.kind == "arrow":
            _check_arrow(content)
            frame = pl.read_ipc(io.BytesIO(content))
        else:
            frame = pl.read_parquet(io.BytesIO(content))
    if not frame.width:
        raise InputError(f"{source.what} has no columns; give a table with features and a label.")
    return frame


def _check_arrow(content: bytes) -> None:
    """Raise what is wrong with an Arrow file, as far as pyarrow can tell.

    polars trusts lengths and offsets: of 1,200 damaged files one ended the process. The check of pyarrow is made for
    files that are not to be trusted, and ended with none of them. Without pyarrow nothing is checked before.
    """
    try:
        import pyarrow as pa
        from pyarrow import ipc
    except ModuleNotFoundError:
        return
    try:
        ipc.open_file(pa.BufferReader(content)).read_all().validate(full=True)
    except pa.ArrowNotImplementedError:  # a type that only polars knows
        return


@contextmanager
def _said_if_damaged(source: _Source) -> Iterator[None]:
    """Make one sentence of what a reader raises; a panic of polars is no Exception."""
    try:
        yield
    except (KeyboardInterrupt, GeneratorExit):
        raise
    except BaseException as error:
        raise InputError(
            f"{source.what} cannot be read as {source.kind} ({first_line(error)}); it is damaged, or of another format:"
            " write it again, or give it the right file extension."
        ) from None


def _read_workbook(source: _Source) -> FileTable:
    """The first sheet of a workbook, if a reader is installed; cells that are text are read as those of a text file."""
    try:
        import fastexcel  # noqa: F401
    except ModuleNotFoundError:
        raise InputError(
            f"{source.what} is a workbook; save the sheet as CSV, or install a reader: pip install fastexcel"
        ) from None
    with _said_if_damaged(source), quiet_stderr():
        frame = pl.read_excel(io.BytesIO(source.whole()))
    texts = [column for column in frame.get_columns() if column.dtype == pl.String] if len(frame) else []
    notes = CellNotes()
    typed = [one for column in texts for one in type_columns([column], NA, "\t", notes)]
    return FileTable(frame.with_columns(typed), (Note("first-sheet"), *notes.notes()))


@contextmanager
def quiet_stderr() -> Iterator[None]:
    """Nothing on stderr meanwhile: polars writes there when a file surprises it, before it raises.

    Yields
    ------
    None
        What is written to stderr until the end of the block is lost.

    Examples
    --------
    >>> import os
    >>> with quiet_stderr():
    ...     os.write(2, b"lost")
    4
    """
    try:
        sys.stderr.flush()
        saved = os.dup(2)
    except (OSError, ValueError, AttributeError):  # there is no stderr to be kept quiet
        yield
        return
    nowhere = os.open(os.devnull, os.O_WRONLY)
    try:
        os.dup2(nowhere, 2)
        yield
    finally:
        os.dup2(saved, 2)
        os.close(nowhere)
        os.close(saved)


def first_line(error: BaseException) -> str:
    """What an error says, short."""
    lines = str(error).strip().splitlines()
    return lines[0][:200].rstrip(".") if lines else type(error).__name__
