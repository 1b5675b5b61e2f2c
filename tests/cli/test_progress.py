"""The line that says how far a command is: on terminals only, and erased at the end."""

import io
import sys

import pytest

from analogical import _progress, interactions, relevance, report
from analogical._progress import end_line, progress_line, start_clock, stop_clock, working_on
from analogical.cli.streams import guarded_streams
from analogical.outside.lazy import ask


class Terminal(io.StringIO):
    def isatty(self):
        return True


class Seconds:
    """An event that is set after so many seconds, without waiting for them."""

    def __init__(self, n):
        self.left = n

    def wait(self, _):
        self.left -= 1
        return self.left < 0

    def is_set(self):
        return self.left < 0


@pytest.fixture
def use_terminal(monkeypatch):
    """Make a terminal of stderr; to be called in the test, after pytest has set its own streams."""

    def use():
        stream = Terminal()
        monkeypatch.setattr(sys, "stderr", stream)
        return stream

    yield use
    end_line()


def seen(stream):
    """What a reader sees in the end: later characters of a line cover earlier ones."""
    line = ""
    for part in stream.getvalue().split("\r"):
        line = part + line[len(part) :]
    return line.rstrip()


def test_progress_is_erased_when_all_is_done(use_terminal):
    terminal = use_terminal()
    show = progress_line("comparing rows")
    show(1, 1_000)
    show(999, 1_000)
    assert seen(terminal) == "comparing rows: 999 of 1,000"
    show(1_000, 1_000)
    assert seen(terminal) == ""
    assert "\n" not in terminal.getvalue()


def test_a_clock_says_the_seconds_and_is_erased(use_terminal):
    terminal = use_terminal()
    _progress._tick(Seconds(2))
    assert seen(terminal).startswith("working: ")
    stop_clock()
    assert seen(terminal) == ""


def test_a_clock_names_what_is_done(use_terminal):
    terminal = use_terminal()
    with working_on("looking at the columns"):
        _progress._tick(Seconds(2))
    assert seen(terminal).startswith("looking at the columns: ")
    _progress._tick(Seconds(2))
    assert seen(terminal).startswith("working: ")


def test_duckdb_says_what_it_does(use_terminal):
    terminal = use_terminal()
    ask("duckdb", lambda: _progress._tick(Seconds(1)), "grouping the rows")
    assert seen(terminal).startswith("grouping the rows: ")


def test_a_clock_does_not_cover_progress(use_terminal):
    terminal = use_terminal()
    progress_line("comparing rows")(1, 2)
    _progress._tick(Seconds(2))
    assert seen(terminal) == "comparing rows: 1 of 2"


def test_what_is_said_stands_on_a_line_of_its_own(run, monkeypatch, use_terminal):
    terminal = use_terminal()

    def stop(*_, **__):
        progress_line("comparing rows")(1, 2)
        raise KeyboardInterrupt

    monkeypatch.setattr("analogical.cli.writing._console", stop)
    assert run("score", "titanic")[0] == 130
    assert terminal.getvalue().endswith(f"\r{' ' * len('comparing rows: 1 of 2')}\rInterrupted.\n")


def test_a_call_with_progress_says_what_is_done_while_its_table_is_encoded(monkeypatch, use_terminal):
    terminal = use_terminal()
    clocks = []
    monkeypatch.setattr(_progress, "_tick", clocks.append)
    rows = [(a, b) for a in (0, 1) for b in (0, 1)] * 5
    labels = [a for a, b in rows]
    for function in (relevance, interactions, report):
        function(rows, labels, progress=True)
        function(rows, labels)
    assert len(clocks) == 3 + 1  # report asks relevance, after its own clock has stopped
    assert all(stopped.is_set() for stopped in clocks)
    start_clock()
    relevance(rows, labels, progress=True)  # a command has its own clock
    stop_clock()
    assert len(clocks) == 3 + 1 + 1
    assert seen(terminal) == ""


def test_no_terminal_gets_no_clock(monkeypatch):
    stream = io.StringIO()
    monkeypatch.setattr(sys, "stderr", stream)
    monkeypatch.setattr("threading.Thread.start", lambda _: pytest.fail("a thread was started"))
    with guarded_streams():
        pass
    assert stream.getvalue() == ""
