"""Progress of long work, as one line on stderr that is overwritten."""

import sys
import threading
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import TypeAlias

__all__ = ["Clock", "Progress", "end_line", "progress_line", "timed", "working_on"]

WORKING = "working"
Progress: TypeAlias = Callable[[int, int], None]
"""Called with the number of steps done and their total."""


class _Line:
    """The line on stderr, shared by all threads."""

    def __init__(self) -> None:
        self.lock = threading.RLock()
        self.text = ""
        self.doing = WORKING
        self.is_counting = False
        """Whether the line shows a count, which the clock does not overwrite."""
        self.has_clock = False

    def show(self, text: str) -> None:
        with self.lock:
            sys.stderr.write(f"\r{text.ljust(len(self.text))}")
            sys.stderr.flush()
            self.text = text

    def end(self) -> None:
        """Erase the line on a terminal; elsewhere, end it."""
        with self.lock:
            if self.text:
                sys.stderr.write(f"\r{' ' * len(self.text)}\r" if sys.stderr.isatty() else "\n")
                sys.stderr.flush()
            self.text, self.is_counting = "", False


_LINE = _Line()


def progress_line(what: str) -> Progress:
    """Show "what: 3 of 10" on one line, and end the line when all is done."""

    def show(done: int, total: int) -> None:
        with _LINE.lock:
            _LINE.is_counting = True
            _LINE.show(f"{what}: {done:,} of {total:,}")
            if done == total:
                _LINE.end()

    return show


@contextmanager
def working_on(what: str) -> Iterator[None]:
    """Name the current work, for the clock."""
    _LINE.doing = what
    try:
        yield
    finally:
        _LINE.doing = WORKING


def end_line() -> None:
    """End the line before something else is printed."""
    _LINE.end()


@contextmanager
def timed(is_shown: bool) -> Iterator[None]:
    """Show once a second what is being done and for how long, unless a clock is running already."""
    if not is_shown or _LINE.has_clock:
        yield
        return
    clock = Clock()
    clock.run()
    try:
        yield
    finally:
        clock.stop()


class Clock:
    """Shows once a second how long the work has been going on, unless a count is shown."""

    def __init__(self) -> None:
        self._stopped = threading.Event()

    def start(self) -> None:
        """Run, if stderr is a terminal."""
        if sys.stderr.isatty():
            self.run()

    def run(self) -> None:
        """Show the time from now on."""
        self._stopped, _LINE.has_clock = threading.Event(), True
        threading.Thread(target=self._count, args=(self._stopped,), daemon=True).start()

    def stop(self) -> None:
        """Stop, and erase the line."""
        with _LINE.lock:
            self._stopped.set()
            _LINE.has_clock = False
            _LINE.end()

    @staticmethod
    def _count(stopped: threading.Event) -> None:
        began = time.monotonic()
        while not stopped.wait(1):
            with _LINE.lock:
                if not stopped.is_set() and not _LINE.is_counting:
                    _LINE.show(f"{_LINE.doing}: {time.monotonic() - began:,.0f} s")
