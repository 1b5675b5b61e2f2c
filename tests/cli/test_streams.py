"""Streams that cannot write everything, or nothing any more: one sentence, no traceback."""

import errno
import io
import json
import os
import subprocess
import sys
import warnings
from contextlib import contextmanager

import pytest

from analogical.cli.streams import guarded_streams

TABLE = "größe,日本→,y\nA,é,ja\nB,é,n–ö\nA,😀,ja\nB,😀,ja\n".encode()


@pytest.fixture
def run_in(run, monkeypatch):
    """Run a command whose stdout and stderr have an encoding; exit code and what was written."""

    def call(encoding, *arguments, stdin=b""):
        out, err = (io.TextIOWrapper(io.BytesIO(), encoding=encoding) for _ in range(2))
        with monkeypatch.context() as patch:
            patch.setattr(sys, "stdout", out)
            patch.setattr(sys, "stderr", err)
            code = run(*arguments, stdin=stdin)[0]
            out.flush()
            err.flush()
        return code, *(stream.buffer.getvalue().decode(encoding) for stream in (out, err))

    return call


@pytest.mark.parametrize("encoding", ["ascii", "cp1252"])
@pytest.mark.parametrize(
    "command",
    [
        ["score"],
        ["evidence", "--feature", "größe", "--given", "all"],
        ["audit", "--feature", "größe", "--given", "all"],
        ["redundancies"],
        ["select", "--k", "3"],
        ["compare", "--methods", "ari,chi2"],
        ["score", "--csv"],
    ],
)
def test_every_command_writes_to_every_encoding(run_in, encoding, command):
    code, out, err = run_in(encoding, command[0], "-", *command[1:], stdin=TABLE)
    assert code == 0, err
    assert r"\u65e5\u672c" in out or command[0] == "redundancies"


def test_arrows_bars_and_signs_have_substitutes(run_in):
    _, out, _ = run_in("ascii", "score", "titanic")
    assert [line.split()[5] for line in out.splitlines() if line.startswith(("sex", "age", "class"))] == [
        "######",
        "###",
        "##",
    ]
    _, out, _ = run_in("ascii", "evidence", "-", "--feature", "größe", "--given", "all", stdin=TABLE)
    assert r"gr\xf6\xdfe A -> B  y ja -> n-\xf6  rows 0, 1" in out
    _, out, _ = run_in("ascii", "compare", "titanic", "--methods", "ari,chi2")
    assert "feature        ARI      chi^2" in out


def test_columns_stay_aligned_where_characters_are_escaped(run_in):
    lines = [line for line in run_in("ascii", "score", "-", stdin=TABLE)[1].splitlines() if "0 to 100" in line]
    assert len(lines) == 2
    assert len({line.index("0 to 100") for line in lines}) == 1


@pytest.mark.parametrize("encoding", ["ascii", "cp1252", "utf-8"])
def test_json_reads_back_the_same_from_every_encoding(run_in, encoding):
    odd = TABLE.replace(b"A", "\x9b\x7f\u202e".encode())
    code, out, _ = run_in(encoding, "evidence", "-", "--feature", "größe", "--json", stdin=odd)
    content = json.loads(out)
    assert code == 0
    assert (content["feature"], content["pairs"][0]["labels"]) == ("größe", ["ja", "n–ö"])
    assert content["pairs"][0]["values"][0] == "\x9b\x7f\u202e"
    assert not set(out) & set("\x9b\x7f\u202e")


@pytest.mark.parametrize(
    "arguments", [["--help"], ["score", "--help"], ["generate", "-h"], ["score", "-", "--label", "ähm"]]
)
def test_help_and_errors_are_written_to_ascii(run_in, arguments):
    code, out, err = run_in("ascii", *arguments, stdin=TABLE)
    assert code == (2 if "--label" in arguments else 0)
    assert out + err
    if "--label" in arguments:
        assert r"no column '\xe4hm'" in err


class Full(io.RawIOBase):
    """A device that takes nothing."""

    def __init__(self, number):
        self.number = number

    def writable(self):
        return True

    def write(self, content):
        if self.number:
            raise OSError(self.number, os.strerror(self.number))
        return len(content)


@contextmanager
def stdout_to(number, monkeypatch):
    """A stdout that fails with an error for a while."""
    device = Full(number)
    with monkeypatch.context() as patch:
        patch.setattr("analogical.cli.streams._give_up_stdout", lambda: None)
        patch.setattr(sys, "stdout", io.TextIOWrapper(io.BufferedWriter(device), encoding="utf-8"))
        yield
        device.number = 0


@pytest.mark.parametrize(
    "command", [["score", "titanic"], ["score", "titanic", "--json"], ["generate", "g1"], ["--help"]]
)
def test_a_full_disk_is_one_sentence(run, monkeypatch, command):
    with stdout_to(errno.ENOSPC, monkeypatch):
        code, _, err = run(*command)
    assert (code, err) == (2, "Reading or writing failed: No space left on device.\n")


def test_a_reader_that_stops_reading_is_no_error(run, monkeypatch):
    with stdout_to(errno.EPIPE, monkeypatch):
        code, _, err = run("generate", "g1")
    assert (code, err) == (1, "")


def test_closed_streams(run, monkeypatch):
    with monkeypatch.context() as patch:
        patch.setattr(sys, "stdout", None)
        code, _, err = run("score", "titanic")
    assert (code, err) == (2, "Standard output is closed; leave it open, or send it to a file.\n")
    with monkeypatch.context() as patch:
        patch.setattr(sys, "stderr", None)
        code, out, _ = run("score", "nowhere.csv")
    assert (code, out) == (2, "")


@pytest.mark.skipif(not os.path.exists("/dev/full"), reason="needs /dev/full")  # noqa: PTH110
def test_the_process_ends_without_a_complaint_of_python():
    command = f"{sys.executable} -c 'from analogical.cli import main; main()'"
    script = (
        f"{command} generate g1 --features 12 > /dev/full; echo $?;"
        f"{command} generate g1 --features 12 | true; echo ${{PIPESTATUS[0]}};"
        f"{command} score - <&-; echo $?"
    )
    done = subprocess.run(["bash", "-c", script], capture_output=True, text=True, check=True)
    assert done.stdout.split() == ["2", "1", "2"]
    full, empty = done.stderr.splitlines()
    assert full == "Reading or writing failed: No space left on device."
    assert "tandard input is empty" in empty


@pytest.mark.parametrize(
    ("error", "code", "sentence"),
    [
        (KeyboardInterrupt(), 130, "Interrupted."),
        (MemoryError(), 2, "There is not enough memory for this table; leave out columns"),
        (
            PermissionError(13, "Permission denied", "x\x1b.csv"),
            2,
            r"'x\x1b.csv' cannot be read or written: Permission",
        ),
    ],
)
@pytest.mark.parametrize("command", [["score"], ["compare", "--methods", "ari,chi2"], ["redundancies"]], ids=" ".join)
def test_what_stops_a_command_is_one_sentence(run, monkeypatch, command, error, code, sentence):
    def stop(*_, **__):
        raise error

    monkeypatch.setattr("analogical.cli.writing._console", stop)
    stopped, out, err = run(*command, "titanic")
    assert (stopped, out, err.count("\n")) == (code, "", 1)
    assert err.startswith(sentence)


def test_a_bug_is_not_hidden(run, monkeypatch):
    def fail(*_, **__):
        raise KeyError("a bug")

    monkeypatch.setattr("analogical.cli.writing._console", fail)
    with pytest.raises(KeyError, match="a bug"):
        run("score", "titanic")


def test_warnings_are_one_line_without_a_place_in_the_code():
    before = warnings.formatwarning
    with guarded_streams():
        assert warnings.formatwarning("odd\x1b", UserWarning, "file.py", 7) == "odd\\x1b\n"
    assert warnings.formatwarning is before


def test_standard_input_is_read_where_signals_do_not_interrupt(run, monkeypatch):
    monkeypatch.delattr("signal.siginterrupt")  # as on Windows
    code, out, _ = run("score", "-", stdin=TABLE)
    assert code == 0
    assert "größe" in out
