"""A file or a stream to a dataframe, or one sentence on why it cannot be read."""

import csv
import gzip
import io
import sys
from pathlib import Path

import polars as pl

from analogical.datasets import table_names
from analogical.errors import InputError

__all__ = ["as_numbers", "read_file"]

_SEPARATORS = {".csv": ",", ".tsv": "\t", ".tab": "\t", ".txt": ","}
_READERS = {
    ".parquet": pl.read_parquet,
    ".pq": pl.read_parquet,
    ".arrow": pl.read_ipc,
    ".feather": pl.read_ipc,
    ".ipc": pl.read_ipc,
}


def read_file(file: str, separator: str | None, header: bool) -> pl.DataFrame:
    """The table in a file, or on standard input; cells of text files stay text."""
    path = Path(file)
    suffix = path.suffix.lower()
    if file == "-":
        return _parse_text(sys.stdin.buffer.read(), "standard input", separator or ",", header)
    if not path.exists():
        raise InputError(
            f"There is no file {file!r}; give a CSV, TSV, Parquet or Arrow file, - for standard input, or a"
            f" built-in table ({', '.join(table_names())})."
        )
    if path.is_dir():
        raise InputError(f"{file!r} is a directory; give one file.")
    try:
        content = path.read_bytes()
    except OSError as error:
        raise InputError(f"{file!r} cannot be read: {error.strerror}.") from None
    if not content:
        raise InputError(f"{file!r} is empty; give a file with a header and rows.")
    if suffix in _READERS:
        try:
            return _READERS[suffix](io.BytesIO(content))
        except Exception as error:
            reason = str(error).splitlines()[0]
            raise InputError(
                f"{file!r} is named {suffix} and cannot be read as such ({reason}); give it its right ending."
            ) from None
    if content[:2] == b"\x1f\x8b":
        content = gzip.decompress(content)
        suffix = Path(path.stem).suffix.lower()
    return _parse_text(content, repr(file), separator or _SEPARATORS.get(suffix, ","), header)


def _parse_text(content: bytes, what: str, separator: str, header: bool) -> pl.DataFrame:
    """CSV as text cells: a category is what is written, so 1 and 1.0 are two values."""
    try:
        text = content.decode("utf-8-sig")
    except UnicodeDecodeError as error:
        raise InputError(
            f"{what} is not UTF-8 text (byte {error.start:,}); give CSV or TSV text, or name a binary file by its"
            " format (.parquet, .arrow, .feather)."
        ) from None
    if "\0" in text[:65536]:
        raise InputError(f"{what} is binary, not text; give CSV or TSV, or name it .parquet, .arrow or .feather.")
    if not text.strip():
        raise InputError(f"{what} is empty; give a header and rows.")
    if len(separator) != 1:
        raise InputError(f"--separator must be one character, got {separator!r}.")
    names = next(csv.reader(io.StringIO(text), delimiter=separator))
    if header:
        repeated = sorted({name for name in names if names.count(name) > 1})
        if repeated:
            raise InputError(
                f"{what} has more than one column named {', '.join(map(repr, repeated))}; rename or drop them"
                " (if the first line holds values, use --no-header)."
            )
    if len(names) == 1:
        raise InputError(
            f"{what} has one column only, {names[0][:60]!r}; a table needs features and a label"
            f" (columns are taken as separated by {separator!r}; see --separator)."
        )
    try:
        frame = pl.read_csv(
            text.encode(),
            separator=separator,
            has_header=header,
            infer_schema=False,
            new_columns=None if header else [f"column_{i}" for i in range(1, len(names) + 1)],
        )
    except pl.exceptions.PolarsError as error:
        _refuse_ragged(text, what, separator, len(names))
        raise InputError(f"{what} cannot be read as CSV: {str(error).splitlines()[0]}.") from None
    if any(frame.null_count().row(0)):
        _refuse_ragged(text, what, separator, len(names))
    return frame


def _refuse_ragged(text: str, what: str, separator: str, width: int) -> None:
    reader = csv.reader(io.StringIO(text), delimiter=separator)
    for cells in reader:
        if cells and len(cells) != width:
            raise InputError(
                f"{what} has ragged rows: line {reader.line_num} has {len(cells)} cells and the first line has"
                f" {width}; quote cells that hold {separator!r}, or name another --separator."
            )


def as_numbers(column: pl.Series) -> pl.Series:
    """Weights as numbers; the library checks that they are whole."""
    try:
        return column.cast(pl.Float64)
    except pl.exceptions.PolarsError:
        raise InputError(
            f"The weights in {column.name!r} must be whole numbers, and some are not; the first cell is {column[0]!r}."
        ) from None
