"""The whole road: parts in, a folder of results out; and the command that walks it."""

import json
import re
from functools import cache

import pytest
from typer.testing import CliRunner

import analogical.paper.reproduce
from analogical import InputError, MissingDependencyError
from analogical.cli import app_with, main
from analogical.paper import Plan
from analogical.paper.reproduce import PARTS, reproduce
from analogical.paper.tables import build_table, run_samples

QUICK = Plan(repetitions=2, leave_out=("relieff",))
built = cache(build_table)


@pytest.fixture
def built_once(monkeypatch):
    """Tables that several tests write are computed once."""
    monkeypatch.setattr("analogical.paper.reproduce.build_table", built)


@pytest.fixture
def command(monkeypatch, capsys):
    """Run the command line in this process; exit code, stdout and stderr."""

    def call(*words):
        monkeypatch.setattr("sys.argv", ["analogical", *words])
        with pytest.raises(SystemExit) as stopped:
            main()
        out = capsys.readouterr()
        return stopped.value.code or 0, out.out, out.err

    return call


@pytest.mark.usefixtures("built_once")
def test_parts_are_written_in_every_format_with_a_page_to_read_first(tmp_path):
    done = reproduce(["figure", "table4", "table5"], tmp_path / "new" / "results", plan=QUICK)
    names = {path.name for path in done.files}
    stems = ("table4-as-published", "table4-corrected", "table5")
    assert names == {
        "README.md",
        *(f"{stem}.{ending}" for stem in stems for ending in ("md", "csv", "json", "tex")),
        *(f"figure-{variant}.{ending}" for variant in ("as-published", "corrected") for ending in ("png", "svg")),
    }
    assert all(path.stat().st_size > 0 for path in done.files)
    page = done.files[0].read_text()
    assert "| table4 | as-published | 319 | 320 |" in page
    assert "| table5 | arithmetic | 9 | 12 |" in page
    assert "![Bar charts of g8, corrected](figure-corrected.png)" in page
    assert "g1, 100 rows" in page or "g5, 100 rows" in page  # the cell that differs
    for name in names - {"README.md"}:
        assert name in page or not name.endswith((".md", ".png"))
    content = json.loads((done.files[0].parent / "table4-corrected.json").read_text())
    assert len(content["cells"]) == 320


@pytest.mark.usefixtures("built_once")
def test_page_shows_the_largest_differences_only(tmp_path):
    done = reproduce(["table1"], tmp_path, variants=["corrected"], plan=QUICK)
    (table,) = done.tables
    agrees, judged = table.agreement()
    assert judged - agrees > 12
    page = done.files[0].read_text()
    assert f"These are the 12 largest of {judged - agrees} differences." in page
    assert len(re.findall(r"^\| g\d, .* \|$", page, re.MULTILINE)) == 12


def test_page_of_a_table_that_agrees_lists_no_differences(tmp_path):
    done = reproduce(["table3"], tmp_path, variants=["as-published"], plan=Plan(repetitions=4), data=tmp_path)
    assert "**5 of 5 printed numbers agree**." in done.files[0].read_text()
    assert "may differ by" not in done.files[0].read_text()


@pytest.mark.usefixtures("built_once")
def test_figure_files_are_an_image_and_a_drawing(tmp_path):
    done = reproduce(["figure"], tmp_path, variants=["corrected"], plan=QUICK)
    png, svg = done.files[1:]
    assert png.read_bytes().startswith(b"\x89PNG")
    drawing = svg.read_text()
    assert drawing.lstrip().startswith("<?xml")
    again = reproduce(["figure"], tmp_path / "again", variants=["corrected"], plan=QUICK)
    assert again.files[2].read_text() == drawing
    assert "Printed numbers that agree" not in done.files[0].read_text()


def test_bad_requests_are_refused_in_one_sentence(tmp_path):
    with pytest.raises(InputError, match=r"There is no part 'table7'; choose from table1, .*, table6, figure\."):
        reproduce(["table7"], tmp_path)
    with pytest.raises(InputError, match=r"No part was named; choose from table1"):
        reproduce([], tmp_path)
    (tmp_path / "file").write_text("")
    with pytest.raises(
        InputError, match=r"The folder '.*file' cannot be created: File exists; name another with --out\."
    ):
        reproduce(["table5"], tmp_path / "file")


def test_missing_matplotlib_is_said_before_the_work(tmp_path, monkeypatch):
    monkeypatch.setitem(__import__("sys").modules, "matplotlib.figure", None)
    with pytest.raises(
        MissingDependencyError,
        match=r'Figures need matplotlib, which is not installed\. Install it with: pip install "analogical\[plot\]"',
    ):
        reproduce(PARTS, tmp_path, plan=QUICK)
    assert list(tmp_path.iterdir()) == []


def test_command_reproduces_and_says_what_agrees(command, tmp_path):
    code, out, err = command(
        "reproduce", "table4", "table5", "--corrected", "--quick", "--n-jobs", "1", "--out", str(tmp_path)
    )
    assert code == 0
    assert "319 of 320" in out
    assert "9 of 12" in out
    assert f"Read {tmp_path}/README.md first; 9 files were written." in out
    assert err == ""


def test_command_shows_its_progress_on_a_terminal_unless_it_is_quiet(command, tmp_path, monkeypatch):
    monkeypatch.setattr("analogical.cli.streams.sys.stderr.isatty", lambda: True)
    run_samples.cache_clear()  # an earlier run would be read again, without progress
    words = ("reproduce", "table4", "--corrected", "--quick", "--n-jobs", "1", "--out", str(tmp_path))
    _, _, err = command(*words)
    assert "table4: 1 of 96" in err
    assert "table4: 96 of 96" in err
    run_samples.cache_clear()
    _, _, err = command(*words, "--quiet")
    assert err == ""


def test_command_passes_its_options_on(monkeypatch, tmp_path):
    seen = {}

    def fake(parts, out, *, variants, plan, data):
        seen.update(parts=parts, out=out, variants=variants, plan=plan, data=data)
        return analogical.paper.reproduce.Reproduction((), (tmp_path / "README.md",))

    monkeypatch.setattr("analogical.paper.reproduce.reproduce", fake)
    words = ["reproduce", "--as-published", "--repetitions", "7", "--seed", "3", "--data", str(tmp_path), "--out", "x"]
    outcome = CliRunner().invoke(app_with(["reproduce"]), words)
    assert outcome.exit_code == 0, outcome.output
    assert list(seen["parts"]) == list(PARTS)
    assert (seen["variants"], seen["data"], seen["out"]) == (["as-published"], tmp_path, "x")
    assert (seen["plan"].repetitions, seen["plan"].seed, seen["plan"].n_jobs, seen["plan"].leave_out) == (7, 3, -1, ())
    assert CliRunner().invoke(app_with(["reproduce"]), ["reproduce", "all", "--quick"]).exit_code == 0
    assert list(seen["variants"]) == ["as-published", "corrected"]
    slow = ("mushroom", "primary-tumor-class", "monks-2-rule", "monks-3-rule", "relieff")
    assert (seen["plan"].repetitions, seen["plan"].leave_out) == (3, slow)


def test_command_downloads_only_when_told(monkeypatch, command, tmp_path):
    fetched = []
    monkeypatch.delenv("ANALOGICAL_DATA", raising=False)
    monkeypatch.setattr("analogical.paper.datasets.download_datasets", lambda folder: fetched.append(folder) or ["hiv"])
    folder = tmp_path / "out" / "data"
    folder.mkdir(parents=True)
    words = ("reproduce", "table5", "--n-jobs", "1", "--out", str(tmp_path / "out"))
    assert command(*words)[0] == 0
    assert fetched == []
    code, _, err = command(*words, "--download")
    assert code == 0
    assert fetched == [folder]
    assert "downloaded hiv.csv" in err


def test_missing_data_is_said_on_the_terminal(command, tmp_path, monkeypatch):
    monkeypatch.delenv("ANALOGICAL_DATA", raising=False)
    code, out, _ = command(
        "reproduce", "table2", "--as-published", "--repetitions", "2", "--n-jobs", "1", "--out", str(tmp_path)
    )
    assert code == 0
    assert "Missing data: monks-2.csv, monks-3.csv, hiv.csv, primary-tumor.csv." in out
    assert "--download" in (tmp_path / "README.md").read_text()


@pytest.mark.parametrize(
    ("words", "message"),
    [
        (["table9"], "There is no part 'table9'; choose from table1, table2"),
        (["table5", "--repetitions", "1"], "repetitions must be a whole number from 2"),
        (["table5", "--n-jobs", "0"], "n_jobs must be a whole number from 1, or -1"),
        (["table5", "--seed", "-4"], "seed must be a whole number from 0, got -4."),
        (["table5", "--data", "nowhere"], "--data names 'nowhere', which is not a folder"),
    ],
)
def test_bad_options_are_one_line_and_exit_code_2(words, message, command, tmp_path):
    code, out, err = command("reproduce", *words, "--out", str(tmp_path / "out"))
    assert (code, out) == (2, "")
    assert message in err
    assert "Traceback" not in err
