"""Names, values and labels of the user's reach a terminal or a notebook as harmless text."""

import html as html_library

import polars as pl
import pytest

from analogical import (
    AnalogicalSelector,
    audit,
    compare,
    evidence,
    interactions,
    redundancies,
    relevance,
    report,
    select,
    transitions,
)

MARKUP = ("[unknown]x", "[red]x", "[/]x", "[link=http://e.org]y[/link]", "<b>&'\"</b>", "<script>alert(1)</script>")
CONTROLS = ("\x1b[31mred", "\x1b]0;title\x07", "\x9b31mred", "a\u202eb", "a\u2066b", "line\nline", "a\rb", "\x08\x7f")
INVISIBLE = ("a\u200bb", "a\ufe0fb", "a\u3164b", "a\u2028b")
FORBIDDEN = "\x1b\x9b\x07\x08\x7f\r\u202e\u2066\u200b\ufe0f\u3164\u2028"


def odd_frame(word, library=pl.DataFrame):
    """A table with an odd word as the name of a column, of another one, as a value and as a label."""
    rows = [(a, b, a if c else word, c) for a in ("u", word) for b in ("v", word + "2") for c in (0, 1)] * 2
    columns = {word: [r[0] for r in rows], "b": [r[1] for r in rows], word + "copy": [r[0] for r in rows]}
    labels = [f"{word}{r[3]}" if r[1] == "v" else f"{word}1" for r in rows]
    return library(columns | {word + "label": labels})


def results_of(word):
    frame, label = odd_frame(word), word + "label"
    plain = {"ignore": [word + "copy"]}
    return {
        "relevance": relevance(frame, label),
        "relevance given all": relevance(frame, label, given="all", **plain),
        "evidence": evidence(frame, label, word, **plain),
        "transitions": transitions(frame, label, word, **plain),
        "audit": audit(frame, label, "b"),
        "redundancies": redundancies(frame.drop(label)),
        "comparison": compare(frame, label, methods=["ari", "chi2"]),
        "selection": select(frame, label, 3),
        "interactions": interactions(frame, label),
        "interaction": interactions(frame, label, given=[])[word, "b"],
        "report": report(frame, label),
    }


def assert_harmless(text):
    assert not set(text) & set(FORBIDDEN), [hex(ord(c)) for c in set(text) & set(FORBIDDEN)]


@pytest.mark.parametrize("word", [*MARKUP, *CONTROLS, *INVISIBLE])
def test_text_and_html_are_harmless(word):
    results = results_of(word)
    for result in results.values():
        assert_harmless(repr(result))
        html = result._repr_html_()
        assert_harmless(html)
        assert "<script" not in html
        assert word not in html or "<" not in word
    if word in MARKUP:
        shown = " ".join(repr(result) for result in results.values())
        assert word in " ".join(shown.split())
        assert word in html_library.unescape(results["evidence"]._repr_html_())


def test_a_line_break_in_a_value_does_not_break_the_table():
    result = results_of("line\nline")["relevance given all"]
    assert r"line\nline" in repr(result)


def test_dropped_features_are_harmless():
    frame = odd_frame("\x1b[31m")
    labels = frame["\x1b[31m"].to_list()
    selector = AnalogicalSelector(k=1, strategy="ranking").fit(frame.drop("\x1b[31mlabel"), labels)
    assert len(selector.dropped_) == 1
    assert_harmless(" ".join(map(str, selector.dropped_)))


@pytest.mark.parametrize("word", [*MARKUP, *CONTROLS, *INVISIBLE])
def test_every_command_is_harmless(run, tmp_path, word):
    path = tmp_path / "odd.csv"
    odd_frame(word).write_csv(path)
    header = odd_frame(word).columns
    name = header[0]
    commands = [
        ["score", path],
        ["score", path, "--given", "all", "--ignore", header[2]],
        ["evidence", path, "--feature", name, "--ignore", header[2]],
        ["audit", path, "--feature", "b"],
        ["redundancies", path],
        ["select", path, "--k", "3"],
        ["interactions", path],
        ["interactions", path, "--pair", f'"{name.replace(chr(34), chr(34) * 2)}",b', "--given", "none"],
        ["compare", path, "--methods", "ari,chi2"],
        ["report", path, "--out", tmp_path / "page.html", "--protected", "b"],
    ]
    for command in commands:
        code, out, err = run(*command)
        assert code == 0, err
        assert_harmless(out + err)
        if word in MARKUP and command[0] not in ("redundancies", "report"):
            assert word[:5] in out


@pytest.mark.parametrize(
    "command", ["score", "select", "evidence", "audit", "redundancies", "interactions", "compare", "report"]
)
def test_errors_are_harmless(run, tmp_path, command):
    path = tmp_path / "odd.csv"
    odd_frame("\x1b[31m").write_csv(path)
    extra = ["--feature", "b"] if command in ("evidence", "audit") else []
    code, out, err = run(command, path, *extra, "--label", "\x1b[31m\u202enowhere")
    assert (code, out) == (2, "")
    assert_harmless(err)
    assert err.count("\n") == 1


def test_the_name_of_a_file_is_harmless(run, tmp_path):
    path = tmp_path / "a\u202e\x1b[31m[red].csv"
    odd_frame("x").write_csv(path)
    code, out, _ = run("score", path)
    assert code == 0
    assert_harmless(out)
    assert "[red].csv" in "".join(out.split())


@pytest.mark.parametrize(
    "words",
    [
        ["\x1b[31m"],
        ["score", "titanic", "--\x1b[31m"],
        ["score", "titanic", "--top", "\x1b[31m"],
        ["generate", "\x1b[31m"],
        ["compare", "titanic", "--methods", "\x1b[31m"],
        ["reproduce", "\x1b[31m"],
        ["reproduce", "table5", "--data", "\x1b[31m"],
        ["audit", "titanic", "--feature", "sex", "--reference", "\x1b[31m"],
    ],
)
def test_what_was_typed_is_harmless(run, words):
    code, out, err = run(*words)
    assert (code, out) == (2, "")
    assert_harmless(err)


def test_the_name_of_a_figure_is_harmless(run, tmp_path):
    code, _, err = run("compare", "titanic", "--methods", "ari", "--plot", tmp_path / "\x1b[31m.png")
    assert (code, err) == (0, f"drawn to {tmp_path}/\\x1b[31m.png\n")


def test_very_long_values_are_cut(run):
    table = "a,b,y\n" + "".join(f"{'v' * 1000}{a},{b},{'w' * 1000}{a}\n" for a in "12" for b in "12")
    for command in (["score", "-"], ["evidence", "-", "--feature", "a"], ["audit", "-", "--feature", "a"]):
        code, out, _ = run(*command, stdin=table.encode())
        assert code == 0
        assert max(map(len, out.splitlines())) <= 80
