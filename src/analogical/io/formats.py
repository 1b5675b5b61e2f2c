"""What the user says about a text file; no library is needed to hold it."""

from dataclasses import dataclass

from analogical.errors import InputError

__all__ = ["NA", "TextFormat", "refuse_text_options"]

NA = ("", "?", "NA", "N/A", "#N/A", "<NA>", "NaN", "NaT", "null", "-")
"""Cells that are missing, in capital or small letters, with or without spaces around them."""


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


def refuse_text_options(given: TextFormat, what: str) -> None:
    """Options that say how text is read say nothing about what has types of its own.

    Examples
    --------
    >>> refuse_text_options(TextFormat(separator=";"), "'table.parquet'")
    Traceback (most recent call last):
        ...
    analogical.errors.InputError: --separator is for text files, and 'table.parquet' is not one; leave it out.
    """
    asked = {"--separator": given.separator, "--no-header": not given.header, "--names": given.names}
    asked["--na"] = given.na != NA
    for option, is_asked in asked.items():
        if is_asked:
            raise InputError(f"{option} is for text files, and {what} is not one; leave it out.")
