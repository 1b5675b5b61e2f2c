"""``analogical interactions``: the table of pairs, the card of one pair, formats and errors."""

import csv
import io
import json

import numpy as np
import pytest


@pytest.fixture
def noisy_file(tmp_path):
    """Two columns that act together among eight, 600 rows; the label is not the last column."""
    rng = np.random.default_rng(0)
    X = rng.integers(0, 3, size=(600, 8))
    for source, copy in ((1, 2), (4, 3)):  # others go with them
        X[::2, copy] = X[::2, source]
    y = ((X[:, 1] == 1) ^ (X[:, 4] == 1)) ^ (rng.random(600) < 0.1)
    path = tmp_path / "noisy.csv"
    lines = ["label," + ",".join(f"c{k}" for k in range(8))]
    lines += [
        ",".join(["yes" if label else "no", *(f"v{value}" for value in row)]) for label, row in zip(y, X, strict=True)
    ]
    path.write_text("\n".join(lines) + "\n")
    return path


def test_the_pair_comes_first_and_what_it_is_given_is_said(run, noisy_file):
    code, out, err = run("interactions", noisy_file, "--label", "label")
    assert (code, err) == (0, "")
    assert out.startswith("1 of 28 pairs of features acts together on 'label'.")
    said = "Given c1 and c4, except the pair itself. noisy.csv, 600 rows, 8 features."
    assert said in " ".join(out.split()).replace("c4 and c1", "c1 and c4")
    lines = out.splitlines()
    first = next(k for k, line in enumerate(lines) if line.startswith("feature "))
    assert lines[first + 1].split()[:2] == ["c1", "c4"]
    assert lines[first + 1].endswith("effect")
    assert max(map(len, lines)) <= 80


def test_json_and_csv_hold_all_pairs(run, noisy_file):
    code, out, _ = run("interactions", noisy_file, "--label", "label", "--json")
    content = json.loads(out)
    assert code == 0
    assert len(content["pairs"]) == 28
    assert sorted(content["deciding"]) == ["c1", "c4"]
    assert content["settings"]["given"] == "auto"
    code, out, _ = run("interactions", noisy_file, "--label", "label", "--csv")
    records = list(csv.DictReader(io.StringIO(out)))
    assert (records[0]["first"], records[0]["second"], records[0]["status"]) == ("c1", "c4", "effect")
    assert list(records[0])[:5] == ["first", "second", "status", "effect", "effect_low"]
    assert len(records) == 28


def test_features_choose_pairs(run, noisy_file):
    code, out, _ = run("interactions", noisy_file, "--label", "label", "--features", "c1,c4,c5", "--json")
    content = json.loads(out)
    assert (code, len(content["pairs"]), len(content["names"])) == (0, 3, 8)


@pytest.mark.parametrize(
    ("given", "names"),
    [("none", []), ("c2,c3", ["c2", "c3"]), ("all", ["c1", "c2", "c3", "c4", "c5", "c7"])],
)
def test_given_is_a_word_or_columns(run, noisy_file, given, names):
    _, out, _ = run("interactions", noisy_file, "--label", "label", "--given", given, "--features", "c0,c6", "--json")
    assert json.loads(out)["pairs"][0]["given"] == names


def test_a_pair_is_shown_as_a_card(run):
    command = ("interactions", "monks-1", "--pair", "head_shape,body_shape", "--given", "all")
    code, out, _ = run(*command)
    assert code == 0
    lines = out.splitlines()
    assert lines[0] == "324 of 432 squares of 'head_shape' and 'body_shape' are broken (75.0 %)."
    assert "body_shape=round       100.0 % of 48       25.0 % of 48        25.0 % of 48" in lines
    start = lines.index("broken: is_smiling=yes, holding=sword, jacket_color=yellow, has_tie=yes")
    assert lines[start + 1 : start + 4] == [
        "                     head_shape=round  head_shape=square",
        "  body_shape=round   1 (row 2)         0 (row 146)",
        "  body_shape=square  0 (row 50)        1 (row 194)",
    ]
    assert sum(line.startswith("broken:") for line in lines) == 4
    _, out, _ = run(*command, "--json")
    content = json.loads(out)
    assert (content["squares"], content["broken"], len(content["examples"])) == (432, 324, 4)
    assert content["counts"][0][0] == [0, 48]
    for limit in (0, 2, 6):
        _, out, _ = run(*command, "--limit", limit)
        assert out.splitlines()[:6] == lines[:6]
        assert sum(line.startswith("broken:") for line in out.splitlines()) == limit


@pytest.mark.parametrize(
    ("options", "message"),
    [
        (["--pair", "c1"], "--pair must name two columns, separated by a comma, got 'c1'."),
        (["--pair", "c1,c1"], "--pair must name two columns, separated by a comma, got 'c1,c1'."),
        (["--pair", "c1,c2", "--limit", "-1"], "--limit must be a whole number from 0, got -1"),
        (["--pair", "c1,nope"], "The table has no column 'nope' to take as feature"),
        (["--json", "--csv"], "--json and --csv cannot be used together"),
        (["--given", "z1"], "The table has no column 'z1' to take as feature"),
    ],
)
def test_errors_are_one_line(run, noisy_file, options, message):
    code, out, err = run("interactions", noisy_file, "--label", "label", *options)
    assert (code, out) == (2, "")
    assert message in err
    assert err.count("\n") == 1
