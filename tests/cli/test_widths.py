"""Narrow terminals: no digit is cut, and no column vanishes without a word."""

import os
import re

import pytest

WIDTHS = (40, 50, 60, 72, 80, 100, 140)
COMMANDS = (
    "score titanic",
    "score monks-1",
    "score berkeley",
    "compare titanic --methods ari,chi2,mi,relief",
    "audit titanic --feature class",
    "evidence berkeley --feature gender",
    "redundancies monks-1",
    "select monks-1 --k 4",
    "select titanic",
    "score monks-1 --explain",
    "score berkeley --paper",
    "compare monks-1 --methods ari,mi --top 2",
    "interactions titanic",
    "interactions monks-1",
    "interactions titanic --pair class,sex",
    "tables",
)


def numbers(text):
    return {word.strip(".,;:()") for word in re.findall(r"[+-]?[\d.,]*\d[\d.,]*", text)}


@pytest.mark.parametrize("command", COMMANDS)
def test_every_number_is_whole_at_every_width(run, monkeypatch, command):
    monkeypatch.setenv("COLUMNS", "200")
    code, wide, err = run(*command.split())
    assert (code, err) == (0, "")
    assert "Not shown" not in wide
    for width in WIDTHS:
        monkeypatch.setenv("COLUMNS", str(width))
        code, out, err = run(*command.split())
        assert (code, err) == (0, "")
        assert max(map(len, out.splitlines())) <= width
        assert numbers(out) <= numbers(wide), width
        missing = numbers(wide) - numbers(out)
        assert not missing or "Not shown at this width: " in out


def test_columns_without_room_are_named_with_a_way_to_see_them(run, monkeypatch):
    monkeypatch.setenv("COLUMNS", "60")
    out = run("score", "monks-1")[1]
    assert "Not shown at this width: ARI; widen the terminal." in " ".join(out.split())
    line = next(line for line in out.splitlines() if line.startswith("jacket"))
    assert line.split()[1:] == ["58", "52", "to", "63", "yellow", "-67", "<.001", "effect"]
    monkeypatch.setenv("COLUMNS", "40")
    out = " ".join(run("tables")[1].split())
    assert "Not shown at this width: source; widen the terminal." in out
    out = run("score", "monks-1")[1]
    assert next(line for line in out.splitlines() if line.startswith("has_tie")).split()[-1] in ("none", "unclear")


@pytest.mark.parametrize("columns", [None, "", "0", "-3", "many"])
def test_a_pipe_gets_every_column_and_whole_names(run, monkeypatch, columns):
    monkeypatch.delenv("COLUMNS")
    if columns is not None:
        monkeypatch.setenv("COLUMNS", columns)
    monkeypatch.setattr("shutil.get_terminal_size", lambda fallback=(80, 24): os.terminal_size(fallback))
    name = "number_of_loans_in_the_last_twelve_months"
    table = run("generate", "g1", "--features", 4)[1].replace("x0", name)
    code, out, _ = run("score", "-", "--given", "all", stdin=table.encode())
    assert code == 0
    assert "Not shown" not in out
    first = next(line for line in out.splitlines() if line.startswith(name))
    assert first.split()[1:4] == ["87", "16", "to"]


def test_a_tiny_terminal_still_shows_whole_numbers(run, monkeypatch):
    monkeypatch.setenv("COLUMNS", "3")
    code, out, _ = run("score", "titanic")
    assert code == 0
    assert next(line for line in out.splitlines() if line.startswith("sex")).split() == ["sex", "49", "effect"]


def test_long_names_do_not_push_out_the_numbers(run):
    table = run("generate", "g1", "--features", 3)[1].replace("x0", "x" * 1000)
    for command in (
        ["score", "-"],
        ["evidence", "-", "--feature", "x2"],
        ["compare", "-", "--methods", "ari,chi2"],
        ["select", "-", "--k", "3"],
    ):
        code, out, _ = run(*command, stdin=table.encode())
        assert code == 0
        assert max(map(len, out.splitlines())) <= 80
