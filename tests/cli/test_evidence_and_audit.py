"""The commands evidence and audit, as typed."""

import json

import pytest

from analogical import study


def test_evidence_prints_the_context_once_and_the_changes(run):
    code, out, _ = run("evidence", "berkeley", "--feature", "gender", "--limit", "8")
    assert code == 0
    assert out.count("department=A") == 1
    assert "gender male → female  admitted no → yes  rows 1, 2  27,857 pairs" in out
    assert "male → female  no = no    308,363  47.1 %" in out
    assert all(len(line) <= 80 for line in out.splitlines())


def test_evidence_as_json(run):
    _, out, _ = run("evidence", "monks-1", "--feature", "has_tie", "--given", "all", "--limit", "2", "--json")
    content = json.loads(out)
    assert (content["n_pairs"], content["n_changed"], len(content["pairs"])) == (216, 0, 2)
    assert len(content["given"]) == 5
    assert sum(t["pairs"] for t in content["transitions"]) == 216
    assert content["source"]["title"] == "built-in table monks-1"


@pytest.mark.parametrize(
    ("given", "expected"),
    [
        ((), ["body_shape", "head_shape", "jacket_color"]),
        (("--given", "none"), []),
        (("--given", "holding,jacket_color"), ["holding", "jacket_color"]),
        (("--given", "all"), ["head_shape", "body_shape", "is_smiling", "holding", "jacket_color"]),
    ],
)
def test_what_is_given_can_be_typed(run, given, expected):
    for command in ("evidence", "audit"):
        code, out, _ = run(command, "monks-1", "--feature", "has_tie", *given, "--json")
        assert code == 0
        assert json.loads(out)["given"] == expected


def test_evidence_reads_and_groups_once(run, monkeypatch):
    calls = []
    for module, name in ((study, "encode_table"), (study.RowContexts, "of"), (study, "count_given")):
        original = getattr(module, name)

        def counted(*args, name=name, original=original, **more):
            if name != "of" or args[0]:  # divided by no column, the rows stay as they are
                calls.append(name)
            return original(*args, **more)

        monkeypatch.setattr(module, name, counted)
    assert run("evidence", "titanic", "--feature", "sex", "--given", "all")[0] == 0
    assert sorted(calls) == ["count_given", "encode_table", "of"]
    calls.clear()
    assert run("audit", "titanic", "--feature", "sex", "--given", "all")[0] == 0
    assert sorted(calls) == ["count_given", "encode_table", "of"]


def test_audit_of_berkeley(run):
    code, out, _ = run("audit", "berkeley", "--label", "admitted", "--feature", "gender")
    assert code == 0
    words = " ".join(out.split())
    assert words.startswith(
        "No significant difference of 'admitted' by 'gender', but single contexts differ (p = .002)."
    )
    assert "female +1.8 -1.1 to +4.7 .228 1.11 -14.2 654,456" in words
    assert "among rows that agree on department. Differences are associations" in words
    explained = " ".join(run("audit", "berkeley", "--label", "admitted", "--feature", "gender", "--explain")[1].split())
    assert "Mean over pairs: 2.3 points more often" in explained
    assert "assume independent rows" in explained
    assert all(len(line) <= 80 for line in out.splitlines())


def test_audit_prints_a_table_for_many_values(run):
    _, out, _ = run("audit", "titanic", "--feature", "class")
    lines = out.splitlines()
    start = next(k for k, line in enumerate(lines) if line.startswith("vs. crew  points for 'yes'"))
    assert lines[start + 1].split() == ["3rd", "-8.2", "-12.5", "to", "-4.0", "<.001", "0.60", "+1.3", "402,039"]


def test_long_values_of_an_audit_stay_readable_at_80_columns(run):
    names = ["a widow with two children", "a widow with three children", "married"]
    table = "status,town,y\n" + "".join(f"{names[k % 3]},{k // 3 % 2},{k * 7 % 5 % 2}\n" for k in range(60))
    code, out, _ = run("audit", "-", "--feature", "status", stdin=table.encode())
    assert code == 0
    lines = [line for line in out.splitlines() if line.startswith(("a widow", "married"))]
    assert [line.split("  ")[0] for line in lines] == ["a widow…ildren", "married"]
    assert max(map(len, out.splitlines())) <= 80


def test_audit_against_another_reference(run):
    code, out, _ = run("audit", "titanic", "--feature", "class", "--reference", "1st")
    assert code == 0
    assert "vs. 1st  points for 'yes'" in out
    content = json.loads(run("audit", "titanic", "--feature", "class", "--reference", "1st", "--json")[1])
    assert content["reference"] == "1st"
    assert [d["values"][0] for d in content["differences"]] == ["1st"] * 3


def test_audit_with_groups(run, tmp_path):
    file = tmp_path / "visits.csv"
    lines = [f"{p},{'ab'[p % 2]},{p // 2 % 3},{p * 7 % 11 % 2}" for p in range(40) for _ in range(10)]
    file.write_text("person,drug,ward,ill\n" + "\n".join(lines) + "\n")
    code, out, _ = run("audit", file, "--feature", "drug", "--groups", "person", "--explain")
    assert code == 0
    assert "assume 40 independent groups of rows" in " ".join(out.split())
    grouped, alone = (
        json.loads(run("audit", file, "--feature", "drug", "--given", "ward", *options, "--json")[1])
        for options in (["--groups", "person"], ["--ignore", "person"])
    )
    assert grouped["given"] == alone["given"] == ["ward"]
    (one,), (other,) = alone["differences"], grouped["differences"]
    assert one["p_value"] <= other["p_value"] + 1e-9
    assert one["difference_high"] - one["difference_low"] < other["difference_high"] - other["difference_low"]


def test_audit_as_json_with_given_and_ignore(run, tmp_path):
    file = tmp_path / "loans.csv"
    file.write_text("id,job,sex,ok\n1,a,f,no\n2,a,m,yes\n3,b,f,no\n4,b,m,yes\n5,b,m,no\n")
    by_ignoring = run("audit", str(file), "--feature", "sex", "--given", "all", "--ignore", "id", "--json")
    by_naming = run("audit", str(file), "--feature", "sex", "--given", "job", "--json")
    first, second = (json.loads(out) for _, out, _ in (by_ignoring, by_naming))
    assert first["given"] == second["given"] == ["job"]
    assert first["differences"] == second["differences"]
    assert first["n_pairs"] == 3
    assert "label: the last column, 'ok'" in first["source"]["notes"][0]
    nothing = run("audit", str(file), "--feature", "sex", "--given", "all")
    assert "No two rows differ on 'sex' among rows that agree on id and job." in " ".join(nothing[1].split())


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (("evidence", "berkeley", "--feature", "sex"), "The table has no column 'sex' to take as feature"),
        (
            ("evidence", "berkeley", "--feature", "gender", "--limit", "-1"),
            "--limit must be a whole number from 0, got -1",
        ),
        (("evidence", "berkeley", "--feature", "admitted"), "feature names 'admitted', which is the label"),
        (("audit", "berkeley", "--feature", "count"), "no column 'count' to take as feature; it has"),
        (("audit", "berkeley", "--feature", "gender", "--given", "town"), "no column 'town' to take as feature"),
        (
            ("evidence", "berkeley", "--feature", "gender", "--given", "admitted"),
            "feature names 'admitted', which is the label",
        ),
        (
            ("audit", "berkeley", "--feature", "gender", "--reference", "other"),
            "The feature 'gender' has no value 'other' to compare with; it has 'male', 'female'",
        ),
        (("audit", "berkeley", "--feature", "gender", "--confidence", "2"), "confidence must be a number between"),
        (("audit", "nowhere.csv", "--feature", "gender"), "There is no file 'nowhere.csv'"),
    ],
)
def test_bad_input_is_one_sentence_and_exit_code_2(run, arguments, message):
    code, out, err = run(*arguments)
    assert (code, out) == (2, "")
    assert len(err.strip().splitlines()) == 1
    assert message in err


def staff():
    """A table of pay by gender, job and grade, where women get 1,500 less."""
    lines = []
    for k in range(400):
        gender, job, grade = k % 2, k // 2 % 4, k // 8 % 3
        pay = 30_000 + 4_000 * job + 2_500 * grade - 1_500 * gender + (k * 7919 % 101) * 40
        lines.append(f"{['male', 'female'][gender]},{['clerk', 'cook', 'driver', 'guard'][job]},{grade},{pay}")
    return ("gender,job,grade,pay\n" + "\n".join(lines) + "\n").encode()


def test_audit_and_evidence_of_pay_fit_80_columns(run):
    code, out, _ = run("audit", "-", "--feature", "gender", "--given", "job,grade", "--limit", "2", stdin=staff())
    assert code == 0
    assert out.startswith(("'pay' is 1,4", "'pay' is 1,5"))
    assert "lower with female than with male (p < .001)." in out
    assert "vs. male  difference" in out
    assert "odds" not in out
    assert max(map(len, out.splitlines())) <= 80
    code, out, _ = run("evidence", "-", "--feature", "gender", "--given", "job,grade", "--limit", "2", stdin=staff())
    assert code == 0
    words = " ".join(out.split())
    assert "pairs that differ on 'gender' differ in 'pay' by" in words
    assert "1 transition of 'gender', with the mean of 'pay' on either side" in words
    assert max(map(len, out.splitlines())) <= 80
    _, out, _ = run("audit", "-", "--feature", "gender", "--given", "job", "--json", stdin=staff())
    content = json.loads(out)
    assert (content["scale"], content["differences"][0]["label"]) == ("number", None)
    assert content["contexts"][0]["with_label"] is None
