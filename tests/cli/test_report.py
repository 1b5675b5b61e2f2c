"""``analogical report``: where the page is written, what is refused, and what the page says about itself."""

import json
import re

import pytest


def embedded(page):
    return json.loads(re.search(r'(?s)id="result">(.*?)</script>', page)[1])


def test_the_page_is_written_and_its_place_is_said(run, tmp_path):
    target = tmp_path / "page.html"
    code, out, err = run("report", "titanic", "--out", target, "--protected", "sex", "--protected", "age,class")
    assert (code, out) == (0, "")
    assert re.fullmatch(rf"written to {target} \(\d+ kB\)\n", err)
    found = embedded(target.read_text(encoding="utf-8"))
    assert found["source"] == "built-in table titanic"
    assert [audit["feature"] for audit in found["audits"]] == ["class", "sex", "age"]
    assert found["command"] == f"analogical report titanic --out {target} --protected sex --protected age,class"


def test_report_html_is_the_default_and_is_written_again(run, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    pages = []
    for _ in range(2):
        code, _, err = run("report", "titanic")
        assert (code, err.startswith("written to report.html (")) == (0, True)
        pages.append((tmp_path / "report.html").read_bytes())
    assert pages[0] == pages[1]
    assert [path.name for path in tmp_path.iterdir()] == ["report.html"]


def test_a_file_of_somebody_else_is_not_overwritten_without_force(run, tmp_path):
    target = tmp_path / "index.html"
    target.write_text("<!doctype html><title>mine</title>")
    code, out, err = run("report", "titanic", "--out", target)
    assert (code, out, err.count("\n")) == (2, "", 1)
    assert f"'{target}' was not written by analogical report and would be overwritten" in err
    assert "--force" in err
    assert target.read_text() == "<!doctype html><title>mine</title>"
    code, _, err = run("report", "titanic", "--out", target, "--force")
    assert (code, err.startswith("written to")) == (0, True)


@pytest.mark.parametrize(
    ("name", "message"), [(".", "is a folder; name a file with --out"), ("nowhere/x.html", "does not exist; create it")]
)
def test_a_target_that_cannot_be_written_is_refused_before_the_work(run, tmp_path, name, message):
    code, out, err = run("report", "titanic", "--out", tmp_path / name)
    assert (code, out, err.count("\n")) == (2, "", 1)
    assert message in err


@pytest.mark.parametrize("column", ["survived", "count", "nowhere"])
def test_a_protected_column_must_be_a_feature(run, tmp_path, column):
    code, out, err = run("report", "titanic", "--out", tmp_path / "x.html", "--protected", column)
    assert (code, out, err.count("\n")) == (2, "", 1)
    assert column in err
    assert not (tmp_path / "x.html").exists()


def test_quiet_says_nothing(run, tmp_path):
    assert run("report", "titanic", "--out", tmp_path / "x.html", "--quiet") == (0, "", "")
    assert (tmp_path / "x.html").exists()


def test_guesses_of_reading_are_said_and_kept(run, tmp_path):
    table = "a;b;y\n" + "".join(f"{a};{b};{a ^ b}\n" for a in (0, 1) for b in (0, 1)) * 4
    code, _, err = run("report", "-", "--out", tmp_path / "x.html", "--title", "My <table>", stdin=table.encode())
    assert code == 0
    assert "label: the last column, 'y'" in err
    page = (tmp_path / "x.html").read_text(encoding="utf-8")
    assert "<title>My &lt;table&gt;</title>" in page
    assert "Label: the last column, &#39;y&#39; (override with --label)." in page
    assert embedded(page)["source"] == "standard input"


@pytest.mark.parametrize(
    ("given", "known"), [("auto", "auto"), ("all", "all"), ("none", []), ("age,class", ["age", "class"])]
)
def test_given_is_handed_on(run, tmp_path, given, known):
    code, _, _ = run("report", "titanic", "--given", given, "--out", tmp_path / "x.html")
    page = (tmp_path / "x.html").read_text(encoding="utf-8")
    assert (code, embedded(page)["relevance"]["settings"]["given"]) == (0, known)
