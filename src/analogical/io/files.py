"""A file or standard input to a table, with a note on everything that was detected, or an error that says why not.

polars is imported when a file is read: built-in tables need no library.
"""

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
from typing import Any, BinaryIO, NamedTuple

from analogical._types import Note
from analogical.datasets import table_names
from analogical.errors import InputError

NA = ("", "?", "NA", "N/A", "#N/A", "<NA>", "NaN", "NaT", "null", "-")
"""Words for missing cells, in upper or lower case, with or without spaces around them."""
MANY_CELLS = 50_000_000
"""Cells of a table from which on it is read lazily (benchmarks/results/large.md)."""
MOST_UNPACKED = 500_000_000
"""Limit for a compressed file that has to be read into memory: a small one may unpack to any size."""
BLOCK_BYTES = 2**24
"""Bytes read at once."""


@dataclass(frozen=True)
class TextFormat:
    """What the user said about a text file."""

    separator: str | None = None
    """None to detect it."""
    header: bool = True
    names: tuple[str, ...] | None = None
    """Names of the columns of a file without a header."""
    na: tuple[str, ...] = NA


class FileTable(NamedTuple):
    """The table in a file, and notes on how it was read."""

    frame: Any
    """A polars dataframe, or a lazy one."""
    notes: tuple[Note, ...] = ()


def refuse_text_options(given: TextFormat, what: str) -> None:
    """Refuse options for text files if the table is not in a text file."""
    values = {"--separator": given.separator, "--no-header": not given.header, "--names": given.names}
    values["--na"] = given.na != NA
    for option, value in values.items():
        if value:
            raise InputError(f"{option} is for text files, and {what} is not one; leave it out.")


def open_file(
    file: str,
    *,
    separator: str | None = None,
    header: bool = True,
    names: Sequence[str] | None = None,
    na: Sequence[str] = NA,
    lazy: bool | None = None,
) -> FileTable:
    """The table in a file, or on standard input (``"-"``): a polars dataframe, or a lazy one if it is large.

    Separator and encoding of text files are detected, and columns of numbers and dates are parsed. Parquet, Arrow and
    spreadsheets keep their own types. By default large files are lazy, and the Parquet files that a folder or a pattern
    stands for; ``lazy`` says what all are. Every function of the library takes either as X.
    """
    text_format = TextFormat(separator, header, None if names is None else tuple(names), tuple(na))
    paths, is_partitioned = _parquet_files(file)
    if paths:
        import polars as pl

        refuse_text_options(text_format, repr(file))
        frame = pl.scan_parquet(paths, glob=False, hive_partitioning=is_partitioned)
        return FileTable(frame.collect() if lazy is False else frame)
    source = Source.of(file)
    if source.kind == "text":
        from analogical.io.text import read_text

        return read_text(source, text_format, lazy=lazy)
    refuse_text_options(text_format, source.what)
    return _read_workbook(source) if source.kind == "workbook" else FileTable(_read_binary(source, lazy))


def _parquet_files(file: str) -> tuple[list[str], bool]:
    """The Parquet files that a folder or a pattern stands for, by name, and whether folders are values of columns."""
    try:
        path, is_partitioned, pattern = Path(file), False, file
        if path.is_dir():
            is_partitioned = not any(path.glob("*.parquet")) and any(path.glob("*=*"))  # by columns, as Hive does
            pattern = str(path / "**" / "*.parquet") if is_partitioned else str(path / "*.parquet")
        elif not any(c in file for c in "*?[") or path.exists():
            return [], False
        return sorted(glob.glob(pattern, recursive=True)), is_partitioned  # noqa: PTH207 (also an absolute pattern)
    except (OSError, ValueError):
        return [], False


# ---------------------------------------------------------------- bytes


@dataclass(frozen=True)
class Source:
    """The bytes of a file, a pipe or standard input, its format and its compression."""

    path: str
    what: str
    """How messages call the file."""
    content: bytes | None = None
    """The bytes of a pipe or standard input, which can be read only once; None for a file."""

    @classmethod
    def of(cls, file: str) -> "Source":
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
        magics = {b"\x1f\x8b": "gzip", b"BZh": "bzip2", b"\xfd7zXZ": "xz", b"\x28\xb5\x2f\xfd": "zstd"}
        return next((name for magic, name in magics.items() if self.first.startswith(magic)), None)

    @cached_property
    def kind(self) -> str:
        """The format: parquet, arrow, workbook, or text, by the first bytes before the file extension."""
        magics = {b"PAR1": "parquet", b"ARROW1": "arrow", b"PK\x03\x04": "workbook"}
        if (
            by_magic := next((kind for magic, kind in magics.items() if self.first.startswith(magic)), None)
        ) is not None:
            return by_magic
        extension = "".join(Path(self.path).suffixes[-1 if self.compression is None else -2 :][:1]).lower()
        if extension in (".xlsx", ".xls", ".xlsb", ".ods"):
            return "text" if self.compression else "workbook"
        arrow = dict.fromkeys((".arrow", ".feather", ".ipc"), "arrow")
        return {".parquet": "parquet", ".pq": "parquet", **arrow}.get(extension, "text")

    def blocks(self) -> Iterator[bytes]:
        """The content, unpacked, in blocks, none of which is empty."""
        with self.open() as stream:
            if self.compression is None:
                yield from iter(partial(stream.read, BLOCK_BYTES), b"")
                return
            n_bytes = 0
            try:
                for block in _unpack(stream, self.compression):
                    n_bytes += len(block)
                    yield block
            except InputError:
                raise
            except (EOFError, OSError, ValueError, zlib.error, lzma.LZMAError, RuntimeError) as error:
                raise InputError(
                    f"{self.what} is a damaged {self.compression} file ({first_line(error)}); compress it again."
                ) from None
        if not n_bytes:
            raise InputError(f"{self.what} is empty inside its {self.compression} compression; give a header and rows.")

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
        return b"".join(parts)


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


def _read_binary(source: Source, lazy: bool | None) -> Any:
    """The dataframe in a Parquet or Arrow file, lazy if it is large."""
    import polars as pl

    with _refuse_damaged(source), quiet_stderr():
        is_file = source.content is None and source.compression is None
        content = source.path if is_file else io.BytesIO(source.read())
        if source.kind == "arrow":
            _check_arrow(content)
        scanned = pl.scan_ipc(content) if source.kind == "arrow" else pl.scan_parquet(content, glob=False)
        n_columns = len(scanned.collect_schema())
        n_cells = n_columns * int(scanned.select(pl.len()).collect().item()) if n_columns else 0
        is_lazy = lazy or (lazy is None and n_cells >= MANY_CELLS)
        frame = scanned if is_lazy or not n_columns else scanned.collect()
    if not n_columns:
        raise InputError(f"{source.what} has no columns; give a table with features and a label.")
    return frame


def _check_arrow(content: Any) -> None:
    """Raise an error if pyarrow finds a batch of an Arrow file invalid; without pyarrow nothing is checked.

    polars trusts lengths and offsets: one or two of 1,200 damaged files crashed the process. pyarrow validates
    untrusted files, and crashed with none of them.
    """
    try:
        import pyarrow as pa
        from pyarrow import ipc
    except ModuleNotFoundError:
        return
    try:
        with pa.memory_map(content) if isinstance(content, str) else pa.BufferReader(content.getvalue()) as stream:
            arrow_file = ipc.open_file(stream)
            for k in range(arrow_file.num_record_batches):
                arrow_file.get_batch(k).validate(full=True)
    except pa.ArrowNotImplementedError:  # a type that only polars reads
        return


@contextmanager
def _refuse_damaged(source: Source) -> Iterator[None]:
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


def _read_workbook(source: Source) -> FileTable:
    """The first sheet of a workbook, if a reader is installed; cells of text are typed as in a text file."""
    try:
        import fastexcel  # noqa: F401
    except ModuleNotFoundError:
        raise InputError(
            f"{source.what} is a workbook; save the sheet as CSV, or install a reader: pip install fastexcel"
        ) from None
    import polars as pl

    from analogical.io.typing import CellNotes, type_columns

    with _refuse_damaged(source), quiet_stderr():
        frame = pl.read_excel(io.BytesIO(source.read()))
    texts = [column for column in frame.get_columns() if column.dtype == pl.String]
    notes = CellNotes()
    typed = type_columns(texts, NA, "\t", notes) if texts and len(frame) else []
    return FileTable(frame.with_columns(typed), (Note("first-sheet"), *notes.notes()))


@contextmanager
def quiet_stderr() -> Iterator[None]:
    """Discard what is written to stderr: polars writes there when it cannot read a file, before it raises."""
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
