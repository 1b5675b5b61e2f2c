"""What a score says in short: the answer first, dashes, the paper's numbers, and silence when it is asked for."""

import io
import json
import os
import re
import subprocess
import sys

import numpy as np
import pytest

from analogical import relevance
from analogical.show.views import view_of

TABLE = b"a,b,copy,k,y\n0,0,0,1,0\n0,1,1,1,1\n1,0,0,1,1\n1,1,1,1,0\n"


def rows_of(out):
    table = out.split("\n\n")[1]
    return {line.split()[0]: line.split()[1:] for line in table.splitlines()}


def result_of_every_status():
    """Two features with an effect, a copy of the first, a constant, a value too rare to tell, and noise."""
    rng = np.random.default_rng(0)
    rows = rng.integers(0, 2, (2000, 6))
    labels = rows[:, 0] ^ (rng.random(2000) < 0.2)
    labels[rows[:, 1] == 1] |= rng.random((rows[:, 1] == 1).sum()) < 0.3
    rows[:, 2], rows[:, 3], rows[:, 4] = rows[:, 0], 0, np.arange(2000) < 3
    return relevance(rows, labels)


def test_explanations_name_every_feature_by_its_status():
    result = result_of_every_status()
    assert result.status == ("effect", "effect", "same", "constant", "unclear", "none")
    view = view_of(result)
    assert view.headline == "2 of 6 features have a significant effect on 'y'."
    assert view.lines[0].startswith("Given the deciding set: x0 and x1.")
    named = {line.partition(":")[0]: re.findall(r"x\d", line) for line in view.explanation}
    assert {status: names for status, names in named.items() if status in result.status} == {
        "unclear": ["x4"],
        "none": ["x5"],
        "same": ["x2", "x0"],
        "constant": ["x3"],
    }


def test_the_answer_comes_first_and_three_sentences_follow(run):
    out = run("score", "monks-1")[1]
    headline, _, rest = out.split("\n\n")
    assert headline == "3 of 6 features have a significant effect on 'class'."
    assert " ".join(rest.split()) == (
        "Given the deciding set: jacket_color, body_shape and head_shape. It explains 99.8 % of the label. mixed: the"
        " direction depends on other features (head_shape and body_shape). built-in table monks-1, 432 rows, 6"
        " features. Details: --explain."
    )
    explained = run("score", "monks-1", "--explain")[1]
    assert explained.startswith(out.split("\n\n")[0])
    assert "Details:" not in explained
    sentences = json.loads(run("score", "monks-1", "--json")[1])["explanation"]
    said = " ".join(line.removeprefix("- ").strip() for line in explained.splitlines())
    assert all(sentence in said for sentence in sentences)
    assert sentences[0] == headline


def test_what_was_read_and_done_is_summed_up_and_explained(run, tmp_path):
    path = tmp_path / "t.csv"
    path.write_text("a;b;y\n" + "".join(f"{k / 7};{k % 2 or '?'};{k % 3 % 2}\n" for k in range(60)))
    code, out, err = run("score", path)
    last = " ".join(out.split("\n\n")[-1].split())
    assert (code, err) == (0, "")
    assert "t.csv, label: last column, separator detected, words read as missing, 60 rows, 2 features" in last
    assert "1 column with missing cells, 1 binned" in last
    bullets = " ".join(run("score", path, "--explain")[1].split())
    for note in ("- label: the last column, 'y'", "- detected separator: semicolon", "- numbers in 5 bins: a"):
        assert note in bullets


def test_a_first_line_of_numbers_is_questioned_beside_the_answer(run):
    rows = "".join(f"{k % 2},{k % 3},{'ab'[k % 2]}\n" for k in range(60))
    out = " ".join(run("score", "-", stdin=f"0,1,a\n{rows}".encode())[1].split())
    assert " The first line, used as column names, contains numbers; if it is data, use --no-header. standard" in out
    assert "first line" not in run("score", "-", "--no-header", stdin=rows.encode())[1]


def test_why_there_is_no_p_is_explained(run):
    said = " ".join(run("score", "monks-1", "--explain")[1].split())
    assert "No p (is_smiling, holding and has_tie): the labels of compared rows never differ" in said
    assert "No p" not in run("score", "titanic", "--explain")[1]


def test_a_line_that_two_views_share_is_said_once(run):
    out = run("evidence", "titanic", "--feature", "sex")[1]
    assert out.count("agree on class and age") == 1
    assert "numbers from 0" in run("evidence", "titanic", "--feature", "sex", "--explain")[1]


def test_no_index_is_a_dash_and_the_paper_s_number_if_asked(run):
    found = rows_of(run("score", "-", "--given", "all", stdin=TABLE)[1])
    assert (found["b"][0], found["k"][0]) == ("-", "-")
    found = rows_of(run("score", "-", "--paper", stdin=TABLE)[1])
    assert (found["b"], found["k"]) == (["2.000", "0", "0", "no-pairs"], ["0.000", "0", "0", "constant"])
    content = json.loads(run("score", "-", "--given", "all", "--json", stdin=TABLE)[1])
    assert [f["ari"] for f in content["features"]] == [1.0, 2.0, 2.0, 0.0]


@pytest.mark.parametrize(
    "command",
    [
        ["score", "-"],
        ["score", "-", "--csv"],
        ["score", "-", "--json"],
        ["select", "-"],
        ["evidence", "-", "--feature", "a"],
        ["interactions", "-"],
        ["audit", "-", "--feature", "a"],
        ["redundancies", "-"],
        ["compare", "-", "--methods", "ari,chi2"],
    ],
)
def test_quiet_leaves_stderr_empty_and_stdout_as_it_is(run, command):
    code, out, err = run(*command, stdin=TABLE)
    is_for_machines = {"--json", "--csv"} & set(command)
    assert (code, err) == (0, "label: the last column, 'y' (override with --label)\n" if is_for_machines else "")
    assert run(*command, "--quiet", stdin=TABLE) == (0, out, "")
    assert run(*command, "-q", stdin=TABLE) == (0, out, "")


def test_quiet_does_not_hide_errors_and_ends_with_the_command(run):
    code, _, err = run("score", "nowhere.csv", "--quiet")
    assert (code, err.count("\n")) == (2, 1)
    assert "label: the last column" in run("score", "-", "--csv", stdin=TABLE)[2]


def test_quiet_shows_no_progress_on_a_terminal(run, monkeypatch):
    class Terminal(io.StringIO):
        def isatty(self):
            return True

    asked = []
    name = "analogical.relevance"
    monkeypatch.setattr(name, lambda *_, progress, **__: asked.append(progress) or 1 / 0)
    for options in ([], ["--quiet"]):
        monkeypatch.setattr(sys, "stderr", Terminal())
        with pytest.raises(ZeroDivisionError):
            run("score", "titanic", *options)
    assert asked == [True, False]


@pytest.mark.parametrize(
    "command",
    [
        ["score", "titanic"],
        ["select", "monks-1"],
        ["audit", "titanic", "--feature", "class"],
        ["interactions", "monks-1"],
        ["interactions", "monks-1", "--pair", "head_shape,body_shape"],
        ["compare", "titanic", "--methods", "ari,mi"],
        ["evidence", "titanic", "--feature", "sex"],
    ],
)
def test_results_are_drawn_beside_what_is_printed(run, tmp_path, command):
    path = tmp_path / "result.png"
    plain = run(*command)
    code, out, err = run(*command, "--plot", path)
    assert (code, out, err) == (0, plain[1], f"drawn to {path}\n")
    assert path.read_bytes().startswith(b"\x89PNG")
    assert run(*command, "--plot", path, "--quiet")[2] == ""


def test_redundancies_are_drawn(run, tmp_path):
    table, path = tmp_path / "t.csv", tmp_path / "result.png"
    table.write_text("a,copy,b,y\n" + "".join(f"{k % 3},{'xyz'[k % 3]},{k % 2},{k % 5 > 2}\n" for k in range(60)))
    code, out, err = run("redundancies", table, "--label", "y", "--plot", path)
    assert (code, err) == (0, f"drawn to {path}\n")
    assert "copy" in out
    assert path.read_bytes().startswith(b"\x89PNG")


def test_a_figure_shows_no_more_than_was_asked_for(run, tmp_path, monkeypatch):
    drawn = []
    monkeypatch.setattr("analogical.plot.save_figure", lambda figure, _: drawn.append(figure))
    for command in (["score", "monks-1"], ["compare", "monks-1", "--methods", "ari"]):
        assert run(*command, "--top", 2, "--plot", tmp_path / "x.png")[0] == 0
        assert run(*command, "--top", 50, "--plot", tmp_path / "x.png")[0] == 0
    assert [len(figure.axes[0].get_yticks()) for figure in drawn] == [2, 6, 2, 6]


def test_completion_is_offered(run):
    assert "--install-completion" in run("--help")[1]
    code = "import sys; sys.argv = ['analogical']; from analogical.cli import main; main()"
    asked = {"_ANALOGICAL_COMPLETE": "complete_bash", "COMP_WORDS": "analogical sc", "COMP_CWORD": "1"}
    done = subprocess.run([sys.executable, "-c", code], env=os.environ | asked, capture_output=True, check=True)
    assert done.stdout.split() == [b"score"]
