"""The standard streams: their encoding and width, and what happens if they are closed or broken."""

import codecs
import errno
import io
import os
import sys
import warnings
from collections.abc import Iterable, Iterator
from contextlib import contextmanager

from analogical._progress import end_line, start_clock, stop_clock
from analogical.errors import InputError
from analogical.show.words import quoted, shown


class _Talk:
    """Whether notes and progress are kept off stderr; errors are always written."""

    is_quiet = False


def _substitute(error: UnicodeError) -> tuple[str | bytes, int]:
    """Error handler of streams: a character that cannot be encoded is replaced or escaped."""
    if not isinstance(error, UnicodeEncodeError):
        raise error
    own = {"→": "->", "…": "...", "–": "-", "•": "*", "±": "+-", "χ": "chi", "²": "^2", "×": "x"}  # of our texts
    if error.object[error.start] in own:
        return own[error.object[error.start]], error.start + 1
    first = UnicodeEncodeError(error.encoding, error.object, error.start, error.start + 1, error.reason)
    return codecs.backslashreplace_errors(first)


codecs.register_error("analogical", _substitute)


@contextmanager
def guarded_streams() -> Iterator[None]:
    """Prepare the standard streams for any text, and show elapsed seconds until the output starts.

    A closed pipe is not an error.
    """
    plain_warnings, _Talk.is_quiet = warnings.formatwarning, False
    sys.stdin = sys.stdin or io.TextIOWrapper(io.BytesIO())  # closed: the same as empty
    sys.stderr = sys.stderr or io.StringIO()
    if sys.stdout is None:
        raise InputError("Standard output is closed; leave it open, or send it to a file.")
    for stream in (sys.stdout, sys.stderr):
        if isinstance(stream, io.TextIOWrapper):
            stream.reconfigure(errors="analogical")
    warnings.formatwarning = lambda message, *_, **__: f"{shown(message)}\n"
    try:
        if sys.stderr.isatty():
            start_clock()
        yield
        sys.stdout.flush()
    except OSError as error:
        _give_up_stdout()
        if error.errno == errno.EPIPE:
            raise SystemExit(1) from None
        reason = error.strerror or str(error)
        if error.filename is None:
            raise InputError(f"Reading or writing failed: {reason}.") from None
        name = quoted(os.fsdecode(error.filename), 200)
        raise InputError(f"{name} cannot be read or written: {reason}.") from None
    finally:
        warnings.formatwarning = plain_warnings
        stop_clock()


def _give_up_stdout() -> None:
    """Redirect stdout to the null device, so that flushing its buffer at exit does not fail."""
    nowhere = os.open(os.devnull, os.O_WRONLY)
    os.dup2(nowhere, sys.__stdout__.fileno() if sys.__stdout__ else 1)
    os.close(nowhere)


def be_quiet() -> None:
    """Write only errors to stderr until the command ends."""
    _Talk.is_quiet = True
    stop_clock()


def shows_progress() -> bool:
    """Whether to show the progress of long work: on terminals, unless the user asked for quiet."""
    return sys.stderr.isatty() and not _Talk.is_quiet


def say_notes(notes: Iterable[str]) -> None:
    """Lines on stderr about what was guessed, done or written, unless the user asked for quiet."""
    if not _Talk.is_quiet:
        for note in notes:
            say(note)


def say(sentence: object) -> None:
    """One line on stderr, without control characters; errors in writing it are ignored."""
    try:
        end_line()
        sys.stderr.write(f"{shown(sentence)}\n")
        sys.stderr.flush()
    except OSError:
        pass


def writable(text: str) -> str:
    """A text with the replacements that the encoding of stdout needs."""
    encoding = sys.stdout.encoding or "utf-8"
    return text.encode(encoding, "analogical").decode(encoding)
