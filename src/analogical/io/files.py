"""A file or standard input to a table, with a note on everything that was detected, or an error that says why not."""

import glob
import io
import lzma
import os
import signal
import sys
import threading
import zlib
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from functools import cached_property, partial
from pathlib import Path
from typing import Any, BinaryIO

import polars as pl

from analogical._types import Note
from analogical.datasets import table_names
from analogical.errors import InputError
from analogical.io.formats import NA, FileTable, TextFormat, refuse_text_options
from analogical.io.text import parse_text
from analogical.io.typing import CellNotes, type_columns

__all__ = ["open_file", "quiet_stderr"]

_KINDS = {".parquet": "parquet", ".pq": "parquet", ".arrow": "arrow", ".feather": "arrow", ".ipc": "arrow"}
"""Formats by file extension."""
_MAGIC = {b"PAR1": "parquet", b"ARROW1": "arrow", b"PK\x03\x04": "workbook"}
"""Formats by the first bytes, which take precedence over the extension."""
_WORKBOOKS = (".xlsx", ".xls", ".xlsb", ".ods")
_COMPRESSIONS = {b"\x1f\x8b": "gzip", b"BZh": "bzip2", b"\xfd7zXZ": "xz", b"\x28\xb5\x2f\xfd": "zstd"}
MANY_CELLS = 50_000_000
"""Cells of a Parquet file from which on it is read column by column, with less memory."""
MOST_UNPACKED = 500_000_000
"""Limit for a compressed file that has to be read into memory: a small one may unpack to any size."""
BLOCK_BYTES = 2**24
"""Bytes read at once."""


def open_file(
    file: str,
    *,
    separator: str | None = None,
    header: bool = True,
    names: Sequence[str] | None = None,
    na: Sequence[str] = NA,
    lazy: bool | None = None,
) -> FileTable:
    r"""The table in a file, or on standard input (``"-"``): in memory, or a lazy frame if it is large.

    Separator and encoding of text files are detected, and columns of numbers and dates are parsed. Parquet, Arrow and
    spreadsheets keep their own types. With ``lazy``, or by default for large Parquet files and the Parquet files that
    a folder or a pattern stands for, the table is a lazy frame of polars. Every function takes either as X.

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
    pattern = None if lazy is False else _parquet_pattern(file)
    if pattern is not None and any(glob.iglob(pattern, recursive=True)):  # noqa: PTH207 (any pattern, also an absolute one)
        refuse_text_options(text_format, repr(file))
        return FileTable(pl.scan_parquet(pattern, hive_partitioning="**" in pattern))
    source = _Source.of(file)
    is_file = source.kind == "parquet" and source.content is None and source.compression is None
    if is_file and lazy is not False and (lazy or source.is_large()):
        refuse_text_options(text_format, source.what)
        with _refuse_damaged(source), quiet_stderr():
            frame = pl.scan_parquet(source.path)
            n_columns = len(frame.collect_schema())
        if n_columns:
            return FileTable(frame)
    return _read_into_memory(source, text_format)


# ---------------------------------------------------------------- tables read when they are needed


def _parquet_pattern(file: str) -> str | None:
    """The pattern of the Parquet files that a folder or a pattern stands for; None for the name of one file."""
    try:
        path = Path(file)
        if path.is_dir():
            is_partitioned = not any(path.glob("*.parquet")) and any(path.glob("*=*"))  # by columns, as Hive does
            return str(path / "**" / "*.parquet") if is_partitioned else str(path / "*.parquet")
        return file if any(c in file for c in "*?[") and not path.exists() else None
    except (OSError, ValueError):
        return None


def _read_into_memory(source: "_Source", text_format: TextFormat) -> FileTable:
    """The table as a polars dataframe."""
    if source.kind == "text":
        return parse_text(source.read(), source.what, text_format)
    refuse_text_options(text_format, source.what)
    if source.kind == "workbook":
        return _read_workbook(source)
    return FileTable(_read_binary(source))


# ---------------------------------------------------------------- bytes


@dataclass(frozen=True)
class _Source:
    """The bytes of a file, a pipe or standard input, its format and its compression."""

    path: str
    what: str
    """How messages call the file."""
    content: bytes | None = None
    """The bytes of a pipe or standard input, which can be read only once; None for a file."""

    @classmethod
    def of(cls, file: str) -> "_Source":
        """The source that a name stands for; refused if it cannot be read or is empty."""
        if file == "-":
            return cls(file, "standard input", _standard_input())
        what, path = repr(file if len(file) <= 80 else f"{file[:77]}..."), Path(file)
        try:
            is_folder, is_file = path.is_dir(), path.is_file()
            content = None if is_file or is_folder else path.read_bytes()
            if is_file:
                with path.open("rb") as stream:
                    stream.read(1)  # fails without permission
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
            raise InputError(
                f"{what} is a directory without Parquet files; give one file, or a folder of Parquet files."
            )
        if is_empty:
            raise InputError(f"{what} is empty; give a file with a header and rows.")
        return cls(file, what, content)

    def open(self) -> BinaryIO:
        """A stream of the bytes, not unpacked."""
        return Path(self.path).open("rb") if self.content is None else io.BytesIO(self.content)

    @cached_property
    def first(self) -> bytes:
        """The first bytes."""
        with self.open() as stream:
            return stream.read(8)

    @cached_property
    def compression(self) -> str | None:
        """The compression, by the first bytes; None if there is none."""
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
        """The content, unpacked, in blocks, none of which is empty."""
        with self.open() as stream:
            if self.compression is None:
                yield from iter(partial(stream.read, BLOCK_BYTES), b"")
                return
            try:
                yield from _unpack(stream, self.compression)
            except InputError:
                raise
            except (EOFError, OSError, ValueError, zlib.error, lzma.LZMAError, RuntimeError) as error:
                raise InputError(
                    f"{self.what} is a damaged {self.compression} file ({first_line(error)}); compress it again."
                ) from None

    def is_large(self) -> bool:
        """Whether the table in a Parquet file is large."""
        n_cells = self._n_cells()
        return n_cells > 0 and n_cells >= MANY_CELLS

    def _n_cells(self) -> int:
        """Number of cells of a Parquet or Arrow file; 0 if it cannot be read, so that reading it says why.

        Not with polars: its threads would keep hundreds of megabytes that DuckDB and counting need later.
        """
        if self.kind not in ("parquet", "arrow") or self.compression is not None:
            return 0
        import pyarrow as pa
        from pyarrow import ipc, parquet

        try:
            with pa.memory_map(self.path) as mapped:
                if self.kind == "parquet":
                    metadata = parquet.read_metadata(mapped)
                    return int(metadata.num_rows * metadata.num_columns)
                arrow_file = ipc.open_file(mapped)
                n_rows = sum(arrow_file.get_batch(k).num_rows for k in range(arrow_file.num_record_batches))
                return int(len(arrow_file.schema) * n_rows)
        except (pa.ArrowException, OSError, UnicodeDecodeError):
            return 0

    def read(self) -> bytes:
        """The whole content, unpacked."""
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


def _unpack(stream: BinaryIO, compression: str) -> Iterator[bytes]:
    """The blocks of a compressed stream; EOFError if it is truncated."""
    if compression == "zstd":
        yield from _unpack_zstd(stream)
        return
    import bz2
    import gzip

    openers: dict[str, Any] = {"gzip": gzip.open, "bzip2": bz2.open, "xz": lzma.open}
    with openers[compression](stream) as content:
        yield from iter(partial(content.read, BLOCK_BYTES), b"")


def _unpack_zstd(stream: BinaryIO) -> Iterator[bytes]:
    """Unpack all frames, in small pieces: a piece may unpack to thousands of times its size."""
    try:
        import zstandard
    except ModuleNotFoundError:
        raise InputError(
            "The file is compressed with zstd, which needs the package zstandard: pip install zstandard"
        ) from None
    try:
        frame, is_in_frame = zstandard.ZstdDecompressor().decompressobj(), False
        while piece := stream.read(2**14):
            while piece:
                if block := frame.decompress(piece):
                    yield block
                piece, is_in_frame = frame.unused_data, not frame.eof
                if frame.eof:
                    frame = zstandard.ZstdDecompressor().decompressobj()
    except zstandard.ZstdError as error:
        raise ValueError(str(error)) from None
    if is_in_frame:
        raise EOFError("it ends in the middle")


def _standard_input() -> bytes:
    if hasattr(signal, "siginterrupt") and threading.current_thread() is threading.main_thread():  # not on Windows
        signal.siginterrupt(signal.SIGINT, True)  # otherwise Ctrl-C does not stop waiting for input
    try:
        content = sys.stdin.buffer.read() if sys.stdin is not None else b""
    except (OSError, ValueError) as error:
        raise InputError(f"Standard input cannot be read: {first_line(error)}.") from None
    if not content:
        raise InputError("Standard input is empty; pipe a table into the command, or name a file.")
    return content


# ---------------------------------------------------------------- formats with types of their own


def _read_binary(source: _Source) -> pl.DataFrame:
    """The dataframe in a Parquet or Arrow file."""
    content = source.read()
    with _refuse_damaged(source), quiet_stderr():
        if source.kind == "arrow":
            _check_arrow(content)
            frame = pl.read_ipc(io.BytesIO(content))
        else:
            frame = pl.read_parquet(io.BytesIO(content))
    if not frame.width:
        raise InputError(f"{source.what} has no columns; give a table with features and a label.")
    return frame


def _check_arrow(content: bytes) -> None:
    """Raise an error if pyarrow finds an Arrow file invalid; without pyarrow nothing is checked."""
    try:
        import pyarrow as pa
        from pyarrow import ipc
    except ModuleNotFoundError:
        return
    try:
        _check_batches(ipc.open_file(pa.BufferReader(content)))
    except pa.ArrowNotImplementedError:  # a type that only polars reads
        return


def _check_batches(arrow_file: Any) -> None:
    """Raise an error if pyarrow finds a batch of an Arrow file invalid.

    polars and DuckDB trust lengths and offsets: one or two of 1,200 damaged files crashed the process. pyarrow
    validates untrusted files, and crashed with none of them.
    """
    for k in range(arrow_file.num_record_batches):
        arrow_file.get_batch(k).validate(full=True)


@contextmanager
def _refuse_damaged(source: _Source) -> Iterator[None]:
    """Turn what a reader raises into one sentence; a panic of polars is not an Exception."""
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
    """The first sheet of a workbook, if a reader is installed; cells of text are typed as in a text file."""
    try:
        import fastexcel  # noqa: F401
    except ModuleNotFoundError:
        raise InputError(
            f"{source.what} is a workbook; save the sheet as CSV, or install a reader: pip install fastexcel"
        ) from None
    with _refuse_damaged(source), quiet_stderr():
        frame = pl.read_excel(io.BytesIO(source.read()))
    texts = [column for column in frame.get_columns() if column.dtype == pl.String]
    notes = CellNotes()
    typed = type_columns(texts, NA, "\t", notes) if texts and len(frame) else []
    return FileTable(frame.with_columns(typed), (Note("first-sheet"), *notes.notes()))


@contextmanager
def quiet_stderr() -> Iterator[None]:
    """Discard what is written to stderr: polars writes there when it cannot read a file, before it raises.

    Yields
    ------
    None
        Nothing; stderr is restored at the end of the block.

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
    except (OSError, ValueError, AttributeError):  # there is no stderr
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
    """The first line of an error's message, at most 200 characters."""
    lines = str(error).strip().splitlines()
    return lines[0][:200].rstrip(".") if lines else type(error).__name__
