"""The command line as a user types it: output, exit code, and no traceback."""

import csv
import gzip
import inspect
import io
import json
import re
import sys

import numpy as np
import polars as pl
import pytest

from analogical import rivals
from analogical.cli import COMMANDS, app_with, verbs

TITANIC_SCORE = """\
3 of 3 features have a significant effect on 'survived'.

feature  points    95% CI          share of 'yes'    ARI  p adj.  status
sex          49  44 to 55  ██████  female +49      0.578   <.001  effect
age          24  15 to 34  ██▉     child +19       0.403   <.001  effect
class        16  13 to 19  █▉      3rd -14         0.328   <.001  effect

Given the deciding set: sex, class and age. It explains 29.0 % of the label.
built-in table titanic, 2,201 rows, 3 features. Details: --explain.
"""
TITANIC_DETAILS = """\
feature  index  noise  pairs compared  given
sex      0.578  0.327         138,516  class, age
age      0.403  0.338          31,367  class, sex
class    0.328  0.307         944,789  sex, age
"""

XOR = "a,b,noise,y\n" + "\n".join(f"{a},{b},{c},{a ^ b}" for a in (0, 1) for b in (0, 1) for c in (0, 1)) + "\n"


@pytest.fixture
def xor(tmp_path):
    path = tmp_path / "xor.csv"
    path.write_text(XOR)
    return path


def trimmed(text):
    return "".join(f"{line.rstrip()}\n" for line in text.splitlines())


def test_the_list_of_commands_says_what_their_own_pages_say():
    pages = {command.callback.__name__: command for command in app_with(COMMANDS).registered_commands}
    assert list(pages) == list(COMMANDS)
    for name, command in pages.items():
        assert command.short_help == inspect.getdoc(command.callback).partition("\n\n")[0] == COMMANDS[name]


def test_compare_has_the_methods_and_the_limit_of_the_library():
    options = inspect.signature(verbs.compare).parameters
    classes, numbers = map(", ".join, (rivals.METHODS, rivals.METHODS_OF_NUMBERS))
    assert f": {classes}; for a number as label {numbers}. The" in options["methods"].annotation.__metadata__[0].help
    assert options["max_rows"].default == rivals.MAX_ROWS


def test_score_shows_a_table_between_what_was_read_and_what_it_means(run):
    code, out, err = run("score", "titanic")
    assert (code, err) == (0, "")
    assert trimmed(out) == TITANIC_SCORE
    code, out, err = run("score", "titanic", "--explain")
    assert (code, err) == (0, "")
    assert trimmed(out).startswith(TITANIC_SCORE.split("built-in", maxsplit=1)[0])
    assert "- sex: 'yes' is 49 points more frequent with female than with male (+44 to +54)." in out
    assert TITANIC_DETAILS in trimmed(out)


def test_score_takes_the_last_column_and_says_so(run, xor):
    code, out, err = run("score", xor)
    assert (code, err) == (0, "")
    assert out.splitlines()[0].endswith(" on 'y'.")
    assert "xor.csv, label: last column, " in " ".join(out.split())
    assert run("score", xor, "--csv")[2] == "label: the last column, 'y' (override with --label)\n"


@pytest.mark.parametrize(
    ("given", "found"),
    [
        ("all", [["class", "age"], 138516, "Given all other features"]),
        ("none", [[], 813570, "Given nothing (univariate)"]),
        ("class", [["class"], None, "Given class: compared rows agree on it."]),
        ("class,age", [["class", "age"], 138516, "Given class and age"]),
        ("auto", [["class", "age"], 138516, "Given the deciding set: sex, class and age."]),
    ],
)
def test_given_says_what_compared_rows_are_equal_on(run, given, found):
    names, compared, words = found
    content = json.loads(run("score", "titanic", "--given", given, "--json")[1])
    sex = next(feature for feature in content["features"] if feature["name"] == "sex")
    assert sorted(sex["given"]) == sorted(names)
    assert compared in (None, sex["compared"])
    assert words in " ".join(run("score", "titanic", "--given", given)[1].split())
    code, out, err = run("score", "titanic", "--given", "class,colour")
    assert (code, out) == (2, "")
    assert "no column 'colour'" in err


def test_the_paper_s_table_is_one_option_away(run):
    table = run("score", "monks-1", "--paper")[1].split("\n\n")[1]
    rows = {line.split()[0]: line.split()[1:] for line in table.splitlines()}
    assert rows["feature"] == ["ARI", "pairs", "changed", "in", "the", "paper"]
    assert rows["head_shape"] == rows["body_shape"] == ["0.500", "███", "432", "216", "relevant"]
    assert rows["jacket_color"] == ["0.333", "██", "648", "216", "relevant"]
    assert rows["has_tie"] == ["0.000", "216", "0", "irrelevant"]


def visits(n_people=40, n_visits=10):
    """A CSV in which each person has several equal rows, and the features do nothing."""
    lines = ["person,drug,ward,ill"]
    lines += [f"{p},{p % 2},{p // 2 % 3},{p * 7 % 11 % 2}" for p in range(n_people) for _ in range(n_visits)]
    return "\n".join(lines).encode() + b"\n"


def test_groups_are_the_independent_units(run):
    alone, grouped = (
        json.loads(run("score", "-", "--json", *options, stdin=visits())[1])
        for options in (["--ignore", "person"], ["--groups", "person"])
    )
    assert [f["name"] for f in grouped["features"]] == ["drug", "ward"]
    assert (alone["settings"]["n_groups"], grouped["settings"]["n_groups"]) == (None, 40)
    for one, other in zip(alone["features"], grouped["features"], strict=True):
        assert one["ari"] == other["ari"]
        assert one["p_value"] < 0.05 < other["p_value"]
    code, out, _ = run("score", "-", "--groups", "person", "--explain", stdin=visits())
    assert code == 0
    assert "Intervals and p assume 40 independent groups of rows." in " ".join(out.split())
    code, out, err = run("score", "-", "--groups", "people", stdin=visits())
    assert (code, out) == (2, "")
    assert "no column 'people' to take as groups" in err


def test_json_is_the_result_in_column_order(run, xor):
    code, out, err = run("score", xor, "--label", "y", "--json")
    content = json.loads(out)
    assert (code, err) == (0, "")
    assert [f["name"] for f in content["features"]] == ["a", "b", "noise"]
    assert [f["ari"] for f in content["features"]] == [1.0, 1.0, 0.0]
    assert content["source"]["notes"] == []
    top = json.loads(run("score", xor, "--json", "--top", "2")[1])
    assert [f["name"] for f in top["features"]] == ["a", "b"]


def test_csv_has_results_on_stdout_and_talk_on_stderr(run, xor):
    code, out, err = run("score", xor, "--csv", "--top", 2)
    assert code == 0
    rows = list(csv.DictReader(io.StringIO(out)))
    assert [(row["name"], row["ari"], row["pairs"]) for row in rows] == [("a", "1.0", "4"), ("b", "1.0", "4")]
    assert "the last column" in err


@pytest.mark.parametrize("kind", ["csv", "tsv", "csv.gz", "parquet", "arrow", "feather"])
def test_score_reads_every_format(run, xor, tmp_path, kind):
    path = tmp_path / f"table.{kind}"
    frame = pl.read_csv(xor)
    {
        "csv": lambda: frame.write_csv(path),
        "tsv": lambda: frame.write_csv(path, separator="\t"),
        "csv.gz": lambda: path.write_bytes(gzip.compress(XOR.encode())),
        "parquet": lambda: frame.write_parquet(path),
        "arrow": lambda: frame.write_ipc(path),
        "feather": lambda: frame.write_ipc(path),
    }[kind]()
    code, out, _ = run("score", path, "--json")
    assert code == 0
    assert [f["changed"] for f in json.loads(out)["features"]] == [4, 4, 0]


def test_score_reads_stdin_and_other_separators(run):
    code, out, _ = run("score", "-", "--json", stdin=XOR.encode())
    assert (code, json.loads(out)["source"]["title"]) == (0, "standard input")
    code, out, _ = run("score", "-", "--json", "--separator", ";", stdin=XOR.replace(",", ";").encode())
    assert (code, json.loads(out)["n_rows"]) == (0, 8)


def test_score_without_header_and_with_a_byte_order_mark(run):
    body = XOR.split("\n", 1)[1]
    code, out, _ = run("score", "-", "--json", "--no-header", stdin=b"\xef\xbb\xbf" + body.encode())
    content = json.loads(out)
    assert (code, content["n_rows"], content["label"]) == (0, 8, "x3")


def test_a_name_with_a_comma_is_a_name_if_the_table_has_it(run):
    table = b'"a,b",c,y\n0,0,0\n0,1,1\n1,0,1\n1,1,0\n'
    for option, typed, left in (("--features", "a,b", "a,b"), ("--ignore", '"a,b"', "c"), ("--ignore", "c", "a,b")):
        content = json.loads(run("score", "-", "--json", option, typed, stdin=table)[1])
        assert [feature["name"] for feature in content["features"]] == [left]
    given = json.loads(run("score", "-", "--json", "--given", "a,b", stdin=table)[1])["settings"]["given"]
    assert given == ["a,b"]


def test_weights_and_ignored_columns(run, tmp_path):
    path = tmp_path / "counts.csv"
    path.write_text("id,a,b,y,n\n1,0,0,0,3\n2,0,1,1,2\n3,1,0,1,0\n4,1,1,0,1\n")
    code, out, _ = run("score", path, "--label", "y", "--weights", "n", "--ignore", "id", "--json")
    content = json.loads(out)
    assert (code, content["n_rows"]) == (0, 6)
    assert [f["pairs"] for f in content["features"]] == [2, 6]
    assert content["source"]["notes"] == ["ignored: id"]


def test_a_wide_table_is_compared_given_what_matters(run):
    wide = run("generate", "g2", "--features", 20, "--values", 3, "--rows", 300, "--seed", 0)[1]
    code, out, _ = run("score", "-", stdin=wide.encode())
    assert code == 0
    words = " ".join(out.split())
    assert words.startswith("2 of 20 features have a significant effect on 'class'.")
    assert re.search("Given the deciding set: x[01] and x[01]. It explains", words)
    lines = [line.split()[0] for line in out.splitlines() if line.startswith("x")]
    assert set(lines[:2]) == {"x0", "x1"}
    assert max(len(line.rstrip()) for line in out.splitlines()) <= 80
    paper = json.loads(run("score", "-", "--given", "all", "--json", stdin=wide.encode())[1])
    assert paper["settings"]["given"] == "all"
    assert {feature["ari"] for feature in paper["features"]} == {2.0}  # no two rows differ on one feature only


def test_long_names_are_cut_and_numbers_are_not(run):
    table = run("generate", "g1", "--features", 4)[1].replace("x0", "a_name_" * 12)
    out = run("score", "-", "--given", "all", stdin=table.encode())[1]
    first = next(line for line in out.splitlines() if line.startswith("a_name"))
    assert first.split()[1:5] == ["87", "16", "to", "100"]
    assert "…" in first
    assert len(first.rstrip()) <= 80


def test_names_are_never_read_as_markup(run, tmp_path):
    path = tmp_path / "markup.csv"
    path.write_text("[red]x,[/bold],[link=foo]y\n[bold]1,a,[y]\n2,a,[/n]\n[bold]1,b,[y]\n2,b,[y]\n")
    for command in (
        ["score", path],
        ["evidence", path, "--feature", "[/bold]", "--given", "all"],
        ["audit", path, "--feature", "[red]x"],
    ):
        code, out, _ = run(*command)
        assert code == 0
        assert "[red]x" in out


def test_long_tables_of_transitions_show_the_largest(run, tmp_path):
    path = tmp_path / "many.csv"
    path.write_text("a,y\n" + "\n".join(f"{a},{a}" for a in range(12)))
    code, out, _ = run("evidence", path, "--feature", "a", "--limit", 1)
    assert code == 0
    assert "The 30 largest of 66 transitions." in " ".join(out.split())


def test_top_says_what_it_left_out(run):
    code, out, _ = run("score", "monks-1", "--top", 2)
    assert code == 0
    assert "... and 4 more; to_frame() and --json have all" in out
    assert "holding " not in out.split("Best 2")[0]


def test_duplicates_once(run):
    code, out, _ = run("score", "titanic", "--duplicates", "once")
    assert code == 0
    assert "None of 3 features has a significant effect on 'survived'." in out  # 24 distinct rows are left
    code, out, _ = run("score", "titanic", "--duplicates", "once", "--explain")
    assert "p assumes that no two independent rows are identical" in " ".join(out.split())


def test_generate_writes_a_table_that_score_reads(run):
    code, out, err = run("generate", "g3", "--features", 5, "--values", 3, "--rows", 100, "--seed", 1)
    assert (code, err) == (0, "")
    assert out == run("generate", "g3", "--features", 5, "--values", 3, "--rows", 100, "--seed", 1)[1]
    rows = list(csv.reader(io.StringIO(out)))
    assert (rows[0], len(rows)) == (["x0", "x1", "x2", "x3", "x4", "class"], 101)
    assert json.loads(run("score", "-", "--json", stdin=out.encode())[1])["n_rows"] == 100


def test_generate_writes_the_whole_universe_by_default(run):
    assert run("generate", "g2", "--features", 2)[1] == "x0,x1,class\n0,0,0\n0,1,1\n1,0,1\n1,1,0\n"


def test_tables_are_listed_with_rows_features_and_source(run):
    code, out, _ = run("tables")
    assert code == 0
    for words in ("titanic", "2,201", "berkeley", "4,526", "Bickel", "monks-3", "432"):
        assert words in out


def test_version_and_help(run):
    assert run("--version")[:2] == (0, "analogical 0.1.0\n")
    for arguments in (["--help"], ["score", "-h"], ["generate", "--help"], ["tables", "--help"], []):
        code, out, err = run(*arguments)
        assert "analogical" in out + err
        assert code == (0 if arguments else 2)


BAD_FILES = {
    "binary": (b"\x00\x01\x02" * 50, "x.csv", "is binary, not text; give CSV or TSV"),
    "empty": (b"", "x.csv", "is empty; give a file with a header and rows"),
    "blank": (b"\n\n", "x.csv", "is empty; give a header and rows"),
    "header only": (b"a,b\n", "x.csv", "has a header and no rows"),
    "long row": (b"a,b\n1,2\n1,2,3\n", "x.csv", "ragged rows: line 3 has 3 cells and the first line has 2; quote"),
    "short row": (b"a,b,c\n1,2,3\n1,2\n", "x.csv", "ragged rows: line 3 has 2 cells and the first line has 3"),
    "one column": (b"a:b\n1:2\n", "x.csv", "has one column only, 'a:b'.*see --separator"),
    "no label at all": (b"a,y\n1,\n2,\n", "x.csv", "The label 'y' is missing in all 2 rows"),
    "numeric label": (
        b"a,y\n" + b"".join(b"%d,%d\n" % (k % 2, k) for k in range(30)),
        "x.csv",
        "whole numbers that identify the rows",
    ),
    "one class": (b"a,y\n1,no\n2,no\n", "x.csv", "The label 'y' has one class only"),
    "constant": (b"a,y\n1,no\n1,yes\n", "x.csv", "All 1 features have one value only"),
    "no parquet": (b"a,y\n1,no\n1,yes\n", "x.parquet", "cannot be read as parquet"),
    "no arrow": (b"a,y\n1,no\n1,yes\n", "x.arrow", "cannot be read as arrow"),
    "open quote": (b'a,y\n"1,no\n2,yes\n', "x.csv", "x.csv' "),
}


@pytest.mark.parametrize("case", BAD_FILES)
def test_bad_files_get_one_sentence_and_exit_code_2(run, tmp_path, case):
    content, name, message = BAD_FILES[case]
    (tmp_path / name).write_bytes(content)
    code, out, err = run("score", tmp_path / name)
    assert (code, out) == (2, "")
    assert err.count("\n") == 1
    assert re.search(message, err), err


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (["score", "nowhere.csv"], "There is no file 'nowhere.csv'; give a CSV"),
        (["score", "."], "'.' is a directory without Parquet files; give one file, or a folder of Parquet files."),
        (
            ["score", "titanic", "--label", "survivd"],
            "no column 'survivd' to take as label; did you mean 'survived'?",
        ),
        (["score", "titanic", "--ignore", "sexx"], "no column 'sexx' to take as ignore; did you mean 'sex'?"),
        (["score", "titanic", "--label", "sex", "--ignore", "sex"], "ignore names 'sex', which is the label"),
        (["score", "titanic", "--weights", "age"], "The built-in table titanic has its weights, 'count'; leave out"),
        (["score", "titanic", "--ignore", "count"], "ignore names 'count', which is the weights"),
        (["score", "titanic", "--weights", "count", "--groups", "count"], "'count' cannot be both the weights and the"),
        (["score", "titanic", "--json", "--csv"], "--json and --csv cannot be used together"),
        (["score", "titanic", "--top", "0"], "--top must be a whole number from 1, got 0."),
        (["score", "titanic", "--given", "far"], "no column 'far'"),
        (["score", "-", "--separator", "::"], "--separator must be one ASCII character (\\t for a tab), got '::'"),
        (["score", "-"], "Standard input is empty"),
        (["generate", "g9"], "no function 'g9'"),
        (["generate", "g1", "--rows", "2000"], "from 1 to 1,024"),
    ],
)
def test_bad_arguments_get_one_sentence_and_exit_code_2(run, arguments, message):
    code, out, err = run(*arguments, stdin=b"a,b\n1,2\n" if "::" in arguments else b"")
    assert (code, out) == (2, "")
    assert message in err
    assert err.count("\n") == 1


def test_weights_that_are_not_numbers(run, xor):
    xor.write_text("a,n,y\n1,two,0\n2,1,1\n")
    code, _, err = run("score", xor, "--weights", "n")
    assert code == 2
    assert "weights must be whole numbers from 0 (how many rows each row stands for), got 'two' in row 0 of 'n'" in err


def test_usage_errors_have_exit_code_2(run):
    for arguments in (["score"], ["bogus"], ["score", "titanic", "--duplicates", "some"]):
        code, _, err = run(*arguments)
        assert code == 2
        assert "Traceback" not in err


def test_missing_extra_names_the_install_line(run, monkeypatch):
    for name in [n for n in sys.modules if n.startswith("analogical.cli.")]:
        monkeypatch.delitem(sys.modules, name)
    monkeypatch.setitem(sys.modules, "typer", None)
    code, _, err = run("--version")
    assert code == 2
    assert 'needs typer, which is not installed. Install it with: pip install "analogical[cli]"' in err


def test_an_unreadable_file_is_named(run, xor, monkeypatch):
    from pathlib import Path

    def refuse(*_, **__):
        raise PermissionError(13, "Permission denied")

    monkeypatch.setattr(Path, "stat", refuse)
    code, _, err = run("score", xor)
    assert (code, "cannot be read: Permission denied." in err) == (2, True)


def test_a_first_column_that_may_be_the_label_is_named(run):
    rows = b"0,0,0\n0,1,1\n1,0,1\n1,1,0\n" * 4
    _, out, _ = run("score", "-", stdin=b"class,a,b\n" + rows)
    assert "label: last column, or 'class'?" in " ".join(out.split())
    _, _, err = run("score", "-", "--csv", stdin=b"class,a,b\n" + rows)
    assert "label: the last column, 'b' (override with --label; is it 'class', the first column?)" in " ".join(
        err.split()
    )
    _, _, err = run("score", "-", "--csv", stdin=b"class,a,y\n" + rows)
    assert "label: the last column, 'y' (override with --label)" in " ".join(err.split())


@pytest.mark.parametrize(
    ("options", "said", "words"),
    [
        ([], "'rent' is a number: sizes are differences of its mean, in its unit.", "floor +"),
        (
            ["--scale", "log"],
            "'rent' is compared by its logarithm: sizes are differences of its geometric mean",
            "per cent",
        ),
        (["--scale", "ranks"], "'rent' is compared by its rank (per cent of all rows below): sizes are", "ranks"),
        (["--classes", "2"], "label in classes", "points"),
    ],
)
def test_the_first_lines_say_how_a_number_is_compared(options, said, words, run, tmp_path):
    rng = np.random.default_rng(0)
    rooms, floor = rng.integers(1, 4, 200), rng.choice(["ground", "upper"], 200)
    rent = (400 + 200 * rooms + 80 * (floor == "upper") + 40 * rng.normal(size=200)).round()
    path = tmp_path / "flats.csv"
    path.write_text(
        "".join(f"{a},{b},{c}\n" for a, b, c in [("rooms", "floor", "rent"), *zip(rooms, floor, rent, strict=True)])
    )
    code, out, _ = run("score", str(path), *options)
    assert code == 0
    assert said in " ".join(out.split())
    assert words.split()[0] in out
    content = json.loads(run("score", str(path), "--json", *options)[1])
    scale = options[1] if options[:1] == ["--scale"] else "classes" if options else "number"
    assert content["settings"]["scale"] == scale
    rows = csv.DictReader(io.StringIO(run("score", str(path), "--csv", *options)[1]))
    assert {row["scale"] for row in rows} == {scale}


def test_classes_in_order_are_offered_and_compared_in_steps(run, tmp_path):
    rng = np.random.default_rng(0)
    dose = rng.integers(0, 3, 300)
    pain = np.array(["low", "medium", "high"])[np.clip(dose + rng.integers(-1, 2, 300), 0, 2)]
    path = tmp_path / "pain.csv"
    path.write_text("dose,pain\n" + "".join(f"d{a},{b}\n" for a, b in zip(dose, pain, strict=True)))
    out = run("score", str(path))[1]
    assert "label may have an order" in out
    out = " ".join(run("score", str(path), "--explain")[1].split())
    assert "to compare places in it, give ordered=['low', 'medium', 'high'] (--ordered low,medium,high)" in out
    out = run("score", str(path), "--ordered", "low,medium,high")[1]
    assert "'pain' has 3 classes in order, low to high: sizes are in steps from one to the next." in " ".join(
        out.split()
    )
    assert re.search(r"steps .*95% CI", out)
