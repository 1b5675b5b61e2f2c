"""The command redundancies, and --features of every command."""

import csv
import io
import json

import pytest

TOWNS = "town,country,size,union,label\n" + "\n".join(
    f"{town},{country},{size},EU,{n % 2}"
    for n, (town, country, size) in enumerate(
        [("Ulm", "DE", "s"), ("Bonn", "DE", "l"), ("Lyon", "FR", "l"), ("Nice", "FR", "s")] * 5
    )
)


@pytest.fixture
def towns(tmp_path):
    path = tmp_path / "towns.csv"
    path.write_text(TOWNS)
    return path


def test_findings_are_lines_with_their_tests(run, towns):
    code, out, err = run("redundancies", towns)
    assert (code, err) == (0, "")
    headline, table, _ = out.split("\n\n") if out.count("\n\n") == 2 else (*out.split("\n\n"), "")
    assert headline == "4 of 4 columns are redundant."
    assert [" ".join(line.split()) for line in table.splitlines()[1:5]] == [
        "union one value only",
        "country determined by town 16",
        "size determined by town 16",
        "town determined by country and size 16",
    ]


def test_one_determinant_only(run, towns):
    _, out, _ = run("redundancies", towns, "--max-determinants", "1")
    assert "country and size" not in out
    assert "size     determined by town" in out


def test_json_and_csv(run, towns):
    content = json.loads(run("redundancies", towns, "--json")[1])
    assert (content["names"], content["n_rows"], content["constants"]) == (
        ["town", "country", "size", "union"],
        20,
        ["union"],
    )
    assert content["dependencies"][0] == {"feature": "country", "determined_by": ["town"], "support": 16}
    assert content["source"]["label"] == "label"
    code, out, err = run("redundancies", towns, "--csv")
    rows = list(csv.DictReader(io.StringIO(out)))
    assert (code, "label: the last column" in err) == (0, True)
    assert [row["feature"] for row in rows] == ["union", "country", "size", "town"]
    assert rows[3]["determined_by"] == "country;size"


def test_no_redundancy_is_said(run):
    code, out, _ = run("redundancies", "titanic")
    assert code == 0
    assert "None of 3 columns is redundant." in out


def test_weights_of_a_built_in_table_are_rows(run):
    assert json.loads(run("redundancies", "berkeley", "--json")[1])["n_rows"] == 4_526


def test_csv_without_findings_is_a_header(run):
    code, out, _ = run("redundancies", "titanic", "--csv")
    assert code == 0
    assert out == "feature,kind,determined_by,support,left\n"


@pytest.mark.parametrize("command", ["score", "redundancies", "compare"])
def test_features_chooses_the_columns(run, towns, command):
    code, out, _ = run(command, towns, "--features", "town, size", "--json")
    content = json.loads(out)
    assert code == 0
    assert (content.get("names") or [f["name"] for f in content["features"]]) == ["town", "size"]


def test_features_of_evidence_are_the_columns_that_must_be_equal(run, towns):
    content = json.loads(run("evidence", towns, "--feature", "size", "--features", "country,size", "--json")[1])
    assert content["n_pairs"] == 50
    assert set(content["pairs"][0]["context"]) == {"country"}
    assert json.loads(run("evidence", towns, "--feature", "size", "--json")[1])["n_pairs"] == 0


@pytest.mark.parametrize(
    ("words", "message"),
    [
        (["--features", "twon"], "no column 'twon' to take as features; did you mean 'town'?"),
        (
            ["--features", "town", "--ignore", "size"],
            "features and ignore cannot be used together; name columns to keep, or columns to leave out.",
        ),
        (["--max-determinants", "3"], "max_determinants must be a whole number from 1 to 2, got 3"),
        (["--json", "--csv"], "--json and --csv cannot be used together"),
    ],
)
def test_bad_requests_are_one_line_and_exit_code_2(run, towns, words, message):
    code, out, err = run("redundancies", towns, *words)
    assert (code, out) == (2, "")
    assert message in err
    assert err.count("\n") == 1
