"""CSV of the commands: text as it is, or safe for spreadsheets; never harmful on a terminal."""

import csv
import io
import sys

import pytest

from analogical.cli.writing import _is_formula

NAMES = ["=cmd|' /C calc'!A0", "+a", "@b", "-c", "-1.5", "plain"]


@pytest.fixture
def formulas(tmp_path):
    path = tmp_path / "formulas.csv"
    with path.open("w", newline="") as file:
        writer = csv.writer(file)
        writer.writerow([*NAMES, "y"])
        writer.writerows([*(n >> k & 1 for k in range(len(NAMES))), n & 1] for n in range(128))
    return path


def first_cells(text):
    header, *rows = csv.reader(io.StringIO(text))
    return header[0], sorted(row[0] for row in rows)


@pytest.mark.parametrize("command", [["score"], ["compare", "--methods", "ari"]])
def test_text_is_unchanged_unless_it_is_for_a_spreadsheet(run, formulas, command):
    code, out, _ = run(command[0], formulas, *command[1:], "--csv")
    assert code == 0
    assert first_cells(out)[1] == sorted(NAMES)
    code, safe, _ = run(command[0], formulas, *command[1:], "--csv-safe")
    assert code == 0
    expected = [name if name in ("-1.5", "plain") else f"'{name}" for name in NAMES]
    assert first_cells(safe)[1] == sorted(expected)
    numbers = [[row[k] for k in range(1, 4)] for row in csv.reader(io.StringIO(out))]
    assert [[row[k] for k in range(1, 4)] for row in csv.reader(io.StringIO(safe))] == numbers


def test_redundancies_for_a_spreadsheet(run):
    table = b"=a,@b,y\n" + b"\n".join(b"%d,%d,%d" % (n % 3, n % 3 * 2, n % 2) for n in range(30)) + b"\n"
    code, out, _ = run("redundancies", "-", "--csv-safe", stdin=table)
    assert code == 0
    assert {cell for row in csv.reader(io.StringIO(out)) for cell in row if cell[:1] == "'"} == {"'=a", "'@b"}


def test_only_one_format(run):
    code, out, err = run("compare", "titanic", "--json", "--csv-safe")
    assert (code, out) == (2, "")
    assert "--json and --csv cannot be used together" in err


def test_a_terminal_gets_no_control_characters(run, monkeypatch):
    class Terminal(io.StringIO):
        encoding = "utf-8"

        def isatty(self):
            return True

    table = b"\x1b[31mred,b,y\n0,0,0\n1,0,1\n0,1,0\n1,1,1\n"
    piped = run("score", "-", "--csv", stdin=table)[1]
    assert "\x1b[31mred" in piped
    stream = Terminal()
    monkeypatch.setattr(sys, "stdout", stream)
    assert run("score", "-", "--csv", stdin=table)[0] == 0
    assert stream.getvalue() == piped.replace("\x1b", r"\x1b")


def test_what_a_spreadsheet_takes_as_a_formula():
    assert all(map(_is_formula, ["=1", "+a", "-a", "@a", "\ta", "\ra", "\na", "＝1", "-1+1"]))
    assert not any(map(_is_formula, ["", "a", "1", "-1", "+1.5e3", "a=b", "'=1"]))


def test_an_audit_is_a_line_for_each_difference(run):
    code, out, _ = run("audit", "titanic", "--feature", "class", "--csv")
    rows = list(csv.DictReader(io.StringIO(out)))
    assert code == 0
    assert [(row["value"], row["other_value"], row["label"]) for row in rows] == [
        ("crew", value, "yes") for value in ("3rd", "1st", "2nd")
    ]
    assert float(rows[0]["difference"]) < 0 < float(rows[1]["difference"])
