"""What the user says about the format of a text file; imports no library."""

from dataclasses import dataclass

from analogical.errors import InputError

__all__ = ["NA", "TextFormat", "refuse_text_options"]

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
