"""Progress of long work, as one line on stderr that is overwritten."""

import sys
import threading
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import TypeAlias

Progress: TypeAlias = Callable[[int, int], None]
"""Called with the number of steps done and their total."""


class _Line:
    """The line on stderr, shared by all threads."""

    lock = threading.RLock()
    text = ""
    doing = "working"
    is_counting = False
    """Whether the line shows a count, which the clock does not overwrite."""
    clock: threading.Event | None = None
    """Stops the clock that is running."""


def _show(text: str) -> None:
    with _Line.lock:
        sys.stderr.write(f"\r{text.ljust(len(_Line.text))}")
        sys.stderr.flush()
        _Line.text = text


def end_line() -> None:
    """End the line before something else is printed: on a terminal it is erased."""
    with _Line.lock:
        if _Line.text:
            sys.stderr.write(f"\r{' ' * len(_Line.text)}\r" if sys.stderr.isatty() else "\n")
            sys.stderr.flush()
        _Line.text, _Line.is_counting = "", False


def progress_line(what: str) -> Progress:
    """Show "what: 3 of 10" on one line, and end the line when all is done."""

    def show(done: int, total: int) -> None:
        with _Line.lock:
            _Line.is_counting = True
            _show(f"{what}: {done:,} of {total:,}")
            if done == total:
                end_line()

    return show


@contextmanager
def working_on(what: str) -> Iterator[None]:
    """Name the current work, for the clock."""
    before, _Line.doing = _Line.doing, what
    try:
        yield
    finally:
        _Line.doing = before


def start_clock() -> None:
    """Show once a second what is being done and for how long, unless a count is shown."""
    _Line.clock = threading.Event()
    threading.Thread(target=_tick, args=(_Line.clock,), daemon=True).start()


def stop_clock() -> None:
    """Stop, and erase the line."""
    with _Line.lock:
        if _Line.clock is not None:
            _Line.clock.set()
        _Line.clock = None
        end_line()


@contextmanager
def timed(is_shown: bool) -> Iterator[None]:
    """Run a clock, unless one is running already."""
    if not is_shown or _Line.clock is not None:
        yield
        return
    start_clock()
    try:
        yield
    finally:
        stop_clock()


def _tick(stopped: threading.Event) -> None:
    began = time.monotonic()
    while not stopped.wait(1):
        with _Line.lock:
            if not stopped.is_set() and not _Line.is_counting:
                _show(f"{_Line.doing}: {time.monotonic() - began:,.0f} s")
