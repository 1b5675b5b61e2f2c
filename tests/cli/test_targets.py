"""Files that commands write: nobody else's is overwritten, and a target that cannot be written is named."""

import os
import warnings

import pytest

from analogical import InputError, relevance
from analogical.paper.reproduce import refuse_foreign_folder
from analogical.plot import save_figure


def test_reproduce_does_not_overwrite_a_page_of_somebody_else(run, tmp_path):
    page = tmp_path / "README.md"
    page.write_text("# My project\n")
    code, out, err = run("reproduce", "table5", "--out", tmp_path)
    assert (code, out, err.count("\n")) == (2, "", 1)
    assert f"'{page}' was not written by analogical reproduce and would be overwritten; name another folder" in err
    assert page.read_text() == "# My project\n"
    assert list(tmp_path.iterdir()) == [page]


def test_reproduce_writes_over_what_it_wrote(run, tmp_path):
    for _ in range(2):
        code, out, _ = run("reproduce", "table5", "--out", tmp_path / "new", "--n-jobs", 1)
        assert code == 0
        assert "5 files were written" in out


def test_a_folder_that_cannot_be_used_is_refused_before_the_work(run, tmp_path, monkeypatch):
    file = tmp_path / "file"
    file.write_text("")
    code, _, err = run("reproduce", "table5", "--out", file)
    assert (code, "cannot be created: File exists; name another with --out." in err) == (2, True)
    (tmp_path / "README.md").mkdir()
    with pytest.raises(InputError, match="was not written by analogical"):
        refuse_foreign_folder(tmp_path)
    monkeypatch.setattr(os, "access", lambda *_: False)
    with pytest.raises(InputError, match="cannot be written to; name another with --out"):
        refuse_foreign_folder(tmp_path)


@pytest.mark.parametrize("name", ["folder.png", "nowhere/x.png", "x.docx"])
def test_a_figure_that_cannot_be_written_is_one_sentence(run, tmp_path, name):
    (tmp_path / "folder.png").mkdir()
    code, out, err = run("compare", "titanic", "--methods", "ari", "--plot", tmp_path / name)
    assert (code, out, err.count("\n")) == (2, "", 1)
    assert str(tmp_path) in err


def test_a_figure_that_cannot_be_written_is_refused_before_the_work(run, monkeypatch, tmp_path):
    monkeypatch.setattr("analogical.cli.options.Reading.read", lambda *_, **__: pytest.fail("the table was read"))
    for command in (["score"], ["select"], ["audit", "--feature", "sex"], ["interactions"], ["compare"]):
        code, out, err = run(*command, "titanic", "--plot", tmp_path / "x.docx")
        assert (code, out, err.count("\n")) == (2, "", 1)
        assert "name a file that ends in .png, .svg or .pdf" in err


def test_characters_that_the_font_lacks_are_one_warning(tmp_path):
    figure = relevance([(0, 0), (0, 1), (1, 0), (1, 1)], [0, 1, 1, 0], feature_names=["日本", "東京"]).plot().figure
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        save_figure(figure, tmp_path / "font.svg")
    assert len(caught) <= 1  # none where the font has them
    assert all("lacks some characters" in str(warning.message) for warning in caught)


@pytest.mark.parametrize("arguments", [["score", "--plot"], ["report", "--force", "--out"]])
def test_the_table_that_is_read_is_never_overwritten(run, tmp_path, arguments):
    table = tmp_path / "in.png"
    text = "a,b,y\n" + "0,0,0\n0,1,1\n1,0,1\n1,1,0\n" * 4
    table.write_text(text)
    (tmp_path / "link.png").symlink_to(table)
    for target in ("in.png", "link.png", "../" + tmp_path.name + "/in.png"):
        code, _, err = run(arguments[0], table, *arguments[1:], tmp_path / target)
        assert (code, "is the table that is read, which would be lost" in " ".join(err.split())) == (2, True)
    assert table.read_text() == text
