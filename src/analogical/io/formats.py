"""What the user says about the format of a text file, and the table in it; imports no library."""

from dataclasses import dataclass
from typing import Any, NamedTuple

from analogical._types import Note
from analogical.errors import InputError

__all__ = ["NA", "FileTable", "TextFormat", "refuse_text_options"]

NA = ("", "?", "NA", "N/A", "#N/A", "<NA>", "NaN", "NaT", "null", "-")
"""Words for missing cells, in upper or lower case, with or without spaces around them."""


@dataclass(frozen=True)
class TextFormat:
    """What the user said about a text file.

    Examples
    --------
    >>> TextFormat(separator=";").header
    True
    """

    separator: str | None = None
    """None to detect it."""
    header: bool = True
    names: tuple[str, ...] | None = None
    """Names of the columns of a file without a header."""
    na: tuple[str, ...] = NA


class FileTable(NamedTuple):
    r"""The table in a file, and notes on how it was read.

    Examples
    --------
    >>> import tempfile
    >>> from pathlib import Path
    >>> from analogical.io.files import open_file
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     path = Path(folder, "table.csv")
    ...     _ = path.write_text("size;label\n1;yes\n?;no\n")
    ...     table = open_file(str(path))
    >>> table.frame["size"].to_list(), [note.kind for note in table.notes], table.notes[0].words
    ([1, None], ['separator', 'read-as-missing'], ('semicolon',))
    """

    frame: Any
    """A polars dataframe, or a table that DuckDB or Spark reads when it is needed."""
    notes: tuple[Note, ...] = ()


def refuse_text_options(given: TextFormat, what: str) -> None:
    """Refuse options for text files if the table is not in a text file.

    Examples
    --------
    >>> refuse_text_options(TextFormat(separator=";"), "'table.parquet'")
    Traceback (most recent call last):
        ...
    analogical.errors.InputError: --separator is for text files, and 'table.parquet' is not one; leave it out.
    """
    values = {"--separator": given.separator, "--no-header": not given.header, "--names": given.names}
    values["--na"] = given.na != NA
    for option, value in values.items():
        if value:
            raise InputError(f"{option} is for text files, and {what} is not one; leave it out.")
