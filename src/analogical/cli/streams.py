"""The standard streams: what they can write, how wide they are, and what happens if they are closed or broken."""

import codecs
import errno
import io
import os
import shutil
import sys
import warnings
from collections.abc import Iterator
from contextlib import contextmanager

from analogical._progress import Clock, end_line
from analogical.errors import InputError
from analogical.show.words import quoted, shown

__all__ = [
    "be_quiet",
    "can_write",
    "guarded_streams",
    "is_fitted",
    "say",
    "say_note",
    "shows_progress",
    "start_output",
    "stdout_width",
    "writable",
]

SUBSTITUTES = {"→": "->", "…": "...", "–": "-", "•": "*", "±": "+-", "χ": "chi", "²": "^2", "×": "x"}
"""Characters of our own texts, for streams that cannot write them."""
NARROWEST = 20
"""Columns that sentences need, whatever the terminal says."""
LONGEST_PATH = 200
"""Characters of a path in a message."""
HANDLER = "analogical.substitutes"
CLOCK = Clock()
"""Counts the seconds until there is something to write."""


class _Talk:
    """Whether the command may say on stderr how far it is and what it guessed; errors are said in any case."""

    is_quiet = False


def _substitute(error: UnicodeError) -> tuple[str | bytes, int]:
    """What a stream cannot write: a substitute, or the number of the character."""
    if isinstance(error, UnicodeEncodeError) and error.object[error.start] in SUBSTITUTES:
        return SUBSTITUTES[error.object[error.start]], error.start + 1
    if isinstance(error, UnicodeEncodeError):
        first = UnicodeEncodeError(error.encoding, error.object, error.start, error.start + 1, error.reason)
        return codecs.backslashreplace_errors(first)
    raise error


codecs.register_error(HANDLER, _substitute)


@contextmanager
def guarded_streams() -> Iterator[None]:
    """Make the streams fit to write anything, and count the seconds until there is something to write.

    Raises
    ------
    InputError
        If there is no stdout, or if it cannot take what is written; a reader that stopped reading is not an error.
    """
    plain_warnings = warnings.formatwarning
    try:
        _prepare_streams()
        _Talk.is_quiet = False
        CLOCK.start()
        yield
        sys.stdout.flush()
    except OSError as error:
        _give_up_stdout()
        if error.errno == errno.EPIPE:
            raise SystemExit(1) from None
        raise InputError(_describe(error)) from None
    finally:
        warnings.formatwarning = plain_warnings
        CLOCK.stop()


def _prepare_streams() -> None:
    """A stdin and a stderr, even if they are closed, and streams and warnings that can be written."""
    sys.stdin = sys.stdin or io.TextIOWrapper(io.BytesIO())  # closed: the same as empty
    sys.stderr = sys.stderr or io.StringIO()
    if sys.stdout is None:
        raise InputError("Standard output is closed; leave it open, or send it to a file.")
    for stream in (sys.stdout, sys.stderr):
        if isinstance(stream, io.TextIOWrapper):
            stream.reconfigure(errors=HANDLER)
    warnings.formatwarning = lambda message, *_, **__: f"{shown(message)}\n"


def _describe(error: OSError) -> str:
    reason = error.strerror or str(error)
    if error.filename is None:
        return f"Reading or writing failed: {reason}."
    return f"{quoted(os.fsdecode(error.filename), LONGEST_PATH)} cannot be read or written: {reason}."


def _give_up_stdout() -> None:
    """Send what is left in the buffer to nowhere, so that nobody complains about it at the end."""
    nowhere = os.open(os.devnull, os.O_WRONLY)
    os.dup2(nowhere, sys.__stdout__.fileno() if sys.__stdout__ else 1)
    os.close(nowhere)


def be_quiet() -> None:
    """Say nothing but errors on stderr from here on, until the command ends."""
    _Talk.is_quiet = True
    CLOCK.stop()


def shows_progress() -> bool:
    """Whether to show how far long work is: on terminals, unless the user wants it quiet."""
    return sys.stderr.isatty() and not _Talk.is_quiet


def say_note(sentence: object) -> None:
    """One line on stderr about what was guessed, done or written, unless the user wants it quiet."""
    if not _Talk.is_quiet:
        say(sentence)


def start_output() -> None:
    """Stop counting seconds; to be called before anything is written to stdout."""
    CLOCK.stop()


def say(sentence: object) -> None:
    """One line on stderr, whatever the sentence holds; a stderr that cannot be written is left alone."""
    try:
        end_line()
        sys.stderr.write(f"{shown(sentence)}\n")
        sys.stderr.flush()
    except OSError:
        pass


def stdout_width() -> int:
    """Columns of the terminal, or of the variable COLUMNS; 80 where there is neither."""
    return max(NARROWEST, shutil.get_terminal_size((80, 24)).columns)


def is_fitted() -> bool:
    """Whether somebody set a width; what goes to a file or a pipe is otherwise as wide as it needs to be."""
    columns = os.environ.get("COLUMNS", "")
    return sys.stdout.isatty() or (columns.isdecimal() and int(columns) > 0)


def writable(text: str) -> str:
    """A text as stdout will write it."""
    encoding = sys.stdout.encoding or "utf-8"
    return text.encode(encoding, HANDLER).decode(encoding)


def can_write(text: str) -> bool:
    """Whether stdout can write a text as it is."""
    return writable(text) == text
