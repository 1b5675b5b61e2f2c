"""A file or a stream to a dataframe, with a note for all that was detected, or an error that says why it failed."""

import io
import lzma
import os
import signal
import subprocess
import sys
import threading
import zlib
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import Any, BinaryIO, cast

import polars as pl

from analogical._progress import Progress
from analogical.datasets import table_names
from analogical.errors import InputError
from analogical.io.batches import BatchColumn, BatchTable
from analogical.io.formats import NA, TextFormat, refuse_text_options
from analogical.io.text import parse_text
from analogical.io.text_batches import WholeInstead, open_text

__all__ = ["FileTable", "as_numbers", "open_file", "read_file"]

_READERS: dict[str, Callable[[io.BytesIO], pl.DataFrame]] = {
    ".parquet": pl.read_parquet,
    ".pq": pl.read_parquet,
    ".arrow": pl.read_ipc,
    ".feather": pl.read_ipc,
    ".ipc": pl.read_ipc,
}
_SCANNERS: dict[str, Callable[[str], pl.LazyFrame]] = {
    ".parquet": lambda file: pl.scan_parquet(file, glob=False, hive_partitioning=False),
    ".arrow": lambda file: pl.scan_ipc(file, glob=False, hive_partitioning=False),
}
"""By the kind that the first bytes say."""
MANY_CELLS = 10_000_000
"""Cells of a Parquet or Arrow file from which on it is read in batches."""
MANY_BYTES = 30_000_000
"""Bytes of a text file from which on it is read in batches."""
BATCH = 2**18
"""Rows that are read together."""
LARGEST_TRIED = 100_000_000
"""Bytes up to which an Arrow file is tried in a process of its own first."""
_DAMAGES = (EOFError, OSError, zlib.error, lzma.LZMAError)
"""What reading a damaged compressed file raises."""
_PACKED = (b"\x1f\x8b", b"BZh", b"\xfd7zXZ", b"\x28\xb5\x2f\xfd")
_MAGIC = {b"PAR1": ".parquet", b"ARROW1": ".arrow"}
_SHEETS = (".xlsx", ".xls", ".xlsb", ".ods")


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
    >>> table.frame.shape, table.notes
    ((2, 2), ('detected separator: semicolon (override with --separator)',))
    """

    frame: pl.DataFrame | BatchTable
    notes: tuple[str, ...] = ()


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
    >>> for note in table.notes:
    ...     print(note)
    detected separator: tab (override with --separator)
    read as missing: '?' (1); override with --na
    """
    text_format = TextFormat(separator, header, None if names is None else tuple(names), tuple(na))
    if file == "-":
        return FileTable(*parse_text(_standard_input(), "standard input", text_format))
    content = _read_bytes(file)
    suffix = _kind_by_magic(content) or Path(file).suffix.lower()
    if suffix in _READERS or suffix in _SHEETS or content.startswith(b"PK\x03\x04"):
        refuse_text_options(text_format, repr(file))
        return _read_binary(content, file, suffix) if suffix in _READERS else _read_sheet(content, file)
    content, inner = _decompress(content, file)
    if inner is not None and Path(Path(file).stem).suffix.lower() in _READERS:
        return _read_binary(content, file, Path(Path(file).stem).suffix.lower())
    return FileTable(*parse_text(content, repr(file), text_format))


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
    if file != "-":
        kind = _kind_by_magic(_first_bytes(file))
        if kind is not None:
            refuse_text_options(text_format, repr(file))
            table = _in_batches(file, kind, progress)
            if table is not None:
                return FileTable(table)
        elif _is_large_text(file):
            try:
                return FileTable(
                    *open_text(partial(_open_bytes, file), repr(file), text_format, Path(file).stat().st_size, progress)
                )
            except (WholeInstead, *_DAMAGES):  # reading it as a whole copes with it, or says what is wrong
                pass
    return read_file(file, **vars(text_format))


def _is_large_text(file: str) -> bool:
    """Whether a file is large, and neither a workbook nor of a kind that its name says."""
    path, first = Path(file), _first_bytes(file)
    many = MANY_BYTES // 5 if first.startswith(_PACKED) else MANY_BYTES
    try:
        if not path.is_file() or path.stat().st_size < many:
            return False
    except (OSError, ValueError):
        return False
    others = {*_READERS, *_SHEETS}
    return not first.startswith(b"PK\x03\x04") and others.isdisjoint(end.lower() for end in path.suffixes[-2:])


@contextmanager
def _open_bytes(file: str) -> Iterator[BinaryIO]:
    """The bytes of a file, or of what is compressed in it."""
    first = _first_bytes(file)
    if first.startswith(b"\x1f\x8b"):
        import gzip

        with gzip.open(file) as unpacked:
            yield cast("BinaryIO", unpacked)
    elif first.startswith(b"BZh"):
        import bz2

        with bz2.open(file) as unpacked:
            yield cast("BinaryIO", unpacked)
    elif first.startswith(b"\xfd7zXZ"):
        with lzma.open(file) as unpacked:
            yield cast("BinaryIO", unpacked)
    elif first.startswith(b"\x28\xb5\x2f\xfd"):
        raise WholeInstead  # of zstd, where a file that ends too early is not noticed
    else:
        with Path(file).open("rb") as stream:
            yield stream


def _in_batches(file: str, kind: str, progress: Progress | None) -> BatchTable | None:
    """The table in a Parquet or Arrow file, to be read in batches; None if it is small, or cannot be read at all."""
    if kind == ".arrow" and Path(file).stat().st_size <= LARGEST_TRIED:
        return None
    try:
        with quiet_stderr():
            scan = _SCANNERS[kind](file)
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
            try:
                with quiet_stderr():
                    batch = scan.select(pl.nth(position)).slice(start, BATCH).collect().to_series()
            except KeyboardInterrupt:
                raise
            except BaseException as error:
                raise _unreadable(file, kind, error) from None
            yield batch

    columns = [
        BatchColumn(name, dtype, n_rows, partial(read, position))
        for position, (name, dtype) in enumerate(schema.items())
    ]
    return BatchTable(columns, progress)


def _first_bytes(file: str) -> bytes:
    """The beginning of a file; nothing if it cannot be had, which reading it says."""
    try:
        with Path(file).open("rb") as stream:
            return stream.read(8)
    except (OSError, ValueError):
        return b""


def _kind_by_magic(content: bytes) -> str | None:
    return next((kind for magic, kind in _MAGIC.items() if content.startswith(magic)), None)


def _read_bytes(file: str) -> bytes:
    path = Path(file)
    try:
        content = None if path.is_dir() else path.read_bytes()
    except FileNotFoundError:
        raise InputError(
            f"There is no file {file!r}; give a CSV, TSV, Parquet or Arrow file, - for standard input, or a"
            f" built-in table ({', '.join(table_names())})."
        ) from None
    except (OSError, ValueError) as error:
        reason = getattr(error, "strerror", None) or str(error)
        raise InputError(f"{_short(file)} cannot be read: {reason}.") from None
    if content is None:
        raise InputError(f"{_short(file)} is a directory; give one file, or read the folder with --engine spark.")
    if not content:
        raise InputError(f"{_short(file)} is empty; give a file with a header and rows.")
    return content


def _standard_input() -> bytes:
    if hasattr(signal, "siginterrupt") and threading.current_thread() is threading.main_thread():  # not on Windows
        signal.siginterrupt(signal.SIGINT, True)  # otherwise Ctrl-C does not end the waiting for input
    try:
        content = sys.stdin.buffer.read() if sys.stdin is not None else b""
    except (OSError, ValueError) as error:
        raise InputError(f"Standard input cannot be read: {_first_line(error)}.") from None
    if not content:
        raise InputError("Standard input is empty; pipe a table into the command, or name a file.")
    return content


def _decompress(content: bytes, file: str) -> tuple[bytes, str | None]:
    """The content of a compressed file, found by its first bytes, and how it was compressed."""
    if content.startswith(b"\x1f\x8b"):
        import gzip

        return _unpack(gzip.decompress, content, file, "gzip"), "gzip"
    if content.startswith(b"BZh"):
        import bz2

        return _unpack(bz2.decompress, content, file, "bzip2"), "bzip2"
    if content.startswith(b"\xfd7zXZ"):
        return _unpack(lzma.decompress, content, file, "xz"), "xz"
    if content.startswith(b"\x28\xb5\x2f\xfd"):
        return _unpack(_unzstd, content, file, "zstd"), "zstd"
    return content, None


def _unpack(unpack: Any, content: bytes, file: str, kind: str) -> bytes:
    try:
        unpacked: bytes = unpack(content)
    except InputError:
        raise
    except Exception as error:
        raise InputError(f"{file!r} is a damaged {kind} file ({_first_line(error)}); compress it again.") from None
    if not unpacked.strip():
        raise InputError(f"{file!r} is empty inside its {kind} compression; give a header and rows.")
    return unpacked


def _unzstd(content: bytes) -> bytes:
    try:
        import zstandard
    except ModuleNotFoundError:
        raise InputError(
            "The file is compressed with zstd, which needs the package zstandard: pip install zstandard"
        ) from None
    parts: list[bytes] = []
    while content:  # one frame after the other
        frame = zstandard.ZstdDecompressor().decompressobj()
        parts.append(frame.decompress(content))
        if not frame.eof:
            raise EOFError("it ends in the middle")
        content = frame.unused_data
    return b"".join(parts)


def _read_binary(content: bytes, file: str, suffix: str) -> FileTable:
    reader = _READERS[suffix]
    if reader is pl.read_ipc and len(content) <= LARGEST_TRIED and _ends_a_process(content):
        raise InputError(f"{file!r} is a damaged {suffix} file; write it again.")
    try:
        with quiet_stderr():
            frame = reader(io.BytesIO(content))
    except KeyboardInterrupt:
        raise
    except BaseException as error:  # a panic of polars is no Exception
        raise _unreadable(file, suffix, error) from None
    if not frame.width:
        raise InputError(f"{file!r} has no columns; give a table with features and a label.")
    return FileTable(frame)


def _unreadable(file: str, suffix: str, error: BaseException) -> InputError:
    return InputError(
        f"{file!r} cannot be read as {suffix} ({_first_line(error)}); it is damaged, or of another format: write it"
        " again, or give it the right file extension."
    )


def _ends_a_process(content: bytes) -> bool:
    """Whether reading an Arrow file kills the process that does it: damaged ones may, whichever library reads them."""
    code = "import sys, polars; polars.read_ipc(sys.stdin.buffer.read())"
    done = subprocess.run([sys.executable, "-c", code], input=content, capture_output=True, check=False)  # noqa: S603
    return done.returncode < 0


def _read_sheet(content: bytes, file: str) -> FileTable:
    """The first sheet of a workbook, if a reader is installed."""
    try:
        import fastexcel  # noqa: F401
    except ModuleNotFoundError:
        raise InputError(
            f"{file!r} is a workbook; save the sheet as CSV, or install a reader: pip install fastexcel"
        ) from None
    try:
        with quiet_stderr():
            frame = pl.read_excel(io.BytesIO(content))
    except KeyboardInterrupt:
        raise
    except BaseException as error:
        raise InputError(f"{file!r} cannot be read as a workbook ({_first_line(error)}); save it as CSV.") from None
    return FileTable(frame, ("read the first sheet of the workbook",))


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


def _first_line(error: BaseException) -> str:
    lines = str(error).strip().splitlines()
    return lines[0][:200].rstrip(".") if lines else type(error).__name__


def _short(file: str) -> str:
    return repr(file if len(file) <= 80 else f"{file[:77]}...")


def with_numbers(frame: pl.DataFrame | BatchTable, name: str) -> pl.DataFrame | BatchTable:
    """The table with a column of weights as numbers; the library checks that they are whole.

    Examples
    --------
    >>> with_numbers(pl.DataFrame({"a": ["u", "v"], "count": ["1", "2"]}), "count")["count"].to_list()
    [1.0, 2.0]
    """
    if isinstance(frame, BatchTable):
        return frame.replaced(as_numbers(frame.column(name).collect()))
    return frame.with_columns(as_numbers(frame[name]))


def as_numbers(column: pl.Series) -> pl.Series:
    """Weights as numbers; the library checks that they are whole.

    Examples
    --------
    >>> as_numbers(pl.Series("count", ["1", "2"])).to_list()
    [1.0, 2.0]
    """
    try:
        return column.cast(pl.Float64)
    except pl.exceptions.PolarsError:
        raise InputError(
            f"The weights in {column.name!r} must be whole numbers, and some are not; the first cell is {column[0]!r}."
        ) from None
