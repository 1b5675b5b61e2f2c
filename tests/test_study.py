"""What rows must be equal on: contexts of the deciding set, copies, thin contexts, and what was given by name."""

import re
from collections import Counter
from dataclasses import replace

import numpy as np
import pandas as pd
import pytest

import analogical
from analogical import (
    InputError,
    Study,
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
from analogical import study as study_module
from analogical.estimate.tests import adjust_for_features
from analogical.questions import relevance as relevance_module
from analogical.show.views import QUESTIONS


@pytest.fixture(scope="module")
def confounded():
    """The label depends on z and w; x is a noisy copy of z, u is noise, c a copy of w with other names."""
    rng = np.random.default_rng(0)
    z, w, u = (rng.integers(0, 3, 1500) for _ in range(3))
    x = np.where(rng.random(1500) < 0.25, rng.integers(0, 3, 1500), z)
    y = (rng.random(1500) < 0.1 + 0.25 * z + 0.15 * (w == 2)).astype(int)
    return pd.DataFrame({"z": z, "w": w, "u": u, "x": x, "c": np.array(list("pqr"))[w]}), y


def test_what_is_only_correlated_with_a_true_feature_has_no_effect(confounded):
    X, y = confounded
    result = relevance(X, y)
    assert set(result.with_status("effect")) == {"z", "w"}
    assert relevance(X[["x"]], y).status == ("effect",)
    assert result["x"]["given"] == ["z", "w"]


def test_a_copy_is_named_and_not_tested(confounded):
    X, y = confounded
    result = relevance(X, y)
    assert result["c"]["status"] == "same"
    assert result["c"]["same_as"] == "w"
    assert result["c"]["p_value"] is None
    assert result["w"]["status"] == "effect"


def test_select_and_relevance_speak_of_the_same_set(confounded):
    X, y = confounded
    assert select(X, y).features == relevance(X, y).deciding


def test_given_features_by_name_are_counted_on_those_columns_alone(confounded):
    X, y = confounded
    named = relevance(X, y, given=["z"])
    alone = relevance(X[["u", "z"]], y, given="all")
    assert named["u"]["compared"] == alone["u"]["pairs"]
    assert named["u"]["p_value"] == alone["u"]["p_value"]
    assert named["z"]["given"] == []


def test_nothing_given_is_a_univariate_filter(confounded):
    X, y = confounded
    result = relevance(X, y, given=[])
    assert result["x"]["p_value"] == relevance(X[["x"]], y, given="all")["x"]["p_value"]
    assert result.deciding == ()


def test_irrelevant_features_have_an_index_of_0_where_labels_are_a_function_of_the_set():
    rng = np.random.default_rng(3)
    rows = rng.integers(0, 3, (400, 8))
    result = relevance(rows, (rows[:, 0] == rows[:, 1]).astype(int))
    assert set(result.deciding) == {"x0", "x1"}
    assert result.index[2:].tolist() == [0.0] * 6
    assert result.effect[0] == result.index[0]


def test_numbers_that_confound_within_five_bins_are_cut_finer():
    rng = np.random.default_rng(5)
    first = rng.normal(size=2000)
    second = 0.95 * first + np.sqrt(1 - 0.95**2) * rng.normal(size=2000)
    y = (rng.random(2000) < 1 / (1 + np.exp(-3 * first))).astype(int)
    result = relevance(pd.DataFrame({"first": first, "second": second}), y)
    assert result["first"]["status"] == "effect"
    assert result["second"]["status"] != "effect"


def test_a_study_reads_its_table_as_the_verbs_do():
    frame = pd.DataFrame(
        {"patient": [1000 + 17 * (k // 3) for k in range(150)], "a": [k % 2 for k in range(150)], "y": [0, 0, 1] * 50}
    )
    found = relevance(frame, "y")
    assert [note.kind for note in found.notes] == ["set-aside", "looks-like-groups"]
    assert relevance(Study(frame, "y")).notes == found.notes
    for weights in (None, [1, 2] * 75):
        study = Study(frame, "y", weights=weights)
        assert (study.table.weights is not None) == relevance(study).settings.weighted == (weights is not None)


def test_features_that_predict_equally_well_are_chosen_by_name():
    rng = np.random.default_rng(9)
    b, a, u = rng.integers(0, 2, (3, 400))
    half = np.tile([0, 1], 200)
    table = pd.DataFrame({"b": np.r_[b, a], "a": np.r_[a, b], "u": np.r_[u, u]})  # a and b play the same part
    y = np.r_[b ^ half, a ^ half]
    sets = [relevance(table[order], y).deciding for order in (["b", "a", "u"], ["u", "a", "b"])]
    assert sets[0] == sets[1]


@pytest.mark.parametrize("n_rows", [20_000, 20_001])
def test_tables_of_more_than_20_000_rows_choose_on_a_part_and_say_so(n_rows):
    rng = np.random.default_rng(2)
    rows = rng.integers(0, 3, (n_rows, 5))
    y = ((rows[:, 0] == 1) ^ (rng.random(n_rows) < 0.2)).astype(int)
    result = relevance(rows, y)
    assert result.settings.searched_rows == 20_000
    assert (result.deciding, result.n_rows) == (("x0",), n_rows)
    assert result.compared[0] == relevance(rows[:, :1], y, given="all").pairs[0]


def test_shuffled_labels_have_no_effect_in_nearly_all_tables():
    rng = np.random.default_rng(7)
    found = 0
    for _ in range(40):
        rows = rng.integers(0, 3, (150, 6))
        found += bool(relevance(rows, rng.integers(0, 2, 150)).with_status("effect"))
    assert found <= 5


@pytest.mark.parametrize("given", ["AUTO", 3, None])
def test_what_cannot_be_given_is_refused(given):
    with pytest.raises(InputError, match="given must be"):
        relevance([[0], [1]], [0, 1], given=given)


def test_unknown_names_are_refused():
    with pytest.raises(InputError, match="nothere"):
        relevance(pd.DataFrame({"a": [0, 1], "b": [0, 1]}), [0, 1], given=["nothere"])


def test_all_features_are_adjusted_by_holm_whatever_is_given():
    rng = np.random.default_rng(2)
    strong, weak, *others = (rng.integers(0, 2, 1000) for _ in range(4))
    y = (rng.random(1000) < 0.2 + 0.5 * strong + 0.2 * weak).astype(int)
    X = pd.DataFrame({"strong": strong, "weak": weak, "u": others[0], "v": others[1]})
    for given in ("auto", "all", ["u"]):
        found = relevance(X, y, given=given)
        p = found.p_value
        assert sorted(p)[:2] == [p[0], p[1]]
        assert found.p_adjusted[:2].tolist() == [4 * p[0], 3 * p[1]]
        assert found.p_adjusted.tolist() == adjust_for_features(p).tolist()


# ---------------------------------------------------------------- a study in place of a table

FOUND_BY = {
    "relevance": (),
    "select": (),
    "interactions": (),
    "audit": ("z",),
    "evidence": ("z",),
    "transitions": ("z",),
    "redundancies": (),
    "compare": (),
    "report": (),
}


@pytest.mark.parametrize("name", FOUND_BY)
def test_a_study_gives_the_results_of_its_table(confounded, name):
    X, y = confounded
    table = X.assign(label=y, n=2)
    verb, asked = getattr(analogical, name), FOUND_BY[name]
    data = (table.drop(columns="label"),) if name == "redundancies" else (table, "label")
    more = {"methods": ["ari", "mi"]} if name == "compare" else {}
    expected = verb(*data, *asked, weights="n", **more)
    found = verb(Study(table, "label", weights="n"), *asked, **more)
    if name == "report":
        assert found.command == "report(Study(X, 'label', weights='n'))"
        found = replace(found, command=expected.command)
    assert found == expected


def test_features_may_be_named_or_stand_in_the_place_of_the_label(confounded):
    study = Study(*confounded)
    assert evidence(study, "z") == evidence(study, feature="z") == evidence(*confounded, "z")
    assert audit(study, 0) == audit(study, feature="z", given="auto")
    assert interactions(study)["z", "w"] == interactions(*confounded)["w", "z"]


def test_options_of_a_question_are_asked_of_a_study(confounded):
    study = Study(*confounded)
    assert select(study, k=1) == select(*confounded, 1)
    assert relevance(study, given="all", confidence=0.9) == relevance(*confounded, given="all", confidence=0.9)
    some = interactions(study, features=["z", "w"])
    assert some == interactions(*confounded, features=["z", "w"])
    assert list(zip(some.first, some.second, strict=True)) == [("z", "w")]


@pytest.mark.parametrize(
    ("ask", "message"),
    [
        (lambda s: relevance(s, "y"), "A Study has its label; leave y out of relevance, and pass other arguments by"),
        (lambda s: select(s, 3), "A Study has its label; leave y out of select"),
        (lambda s: evidence(s, [0, 1], "z"), "A Study has its label; leave y out of evidence"),
        (lambda s: relevance(s, bins=3), "A Study has its options already; give bins to Study, not to relevance"),
        (lambda s: report(s, weights=[1], ids="keep"), "give weights and ids to Study, not to report"),
        (lambda s: redundancies(s, ignore="z"), "give ignore to Study, not to redundancies"),
        (lambda s: select(s, duplicates="once", n_jobs=2), "give duplicates and n_jobs to Study, not to select"),
        (lambda s: relevance(s, bin=3), r"relevance has no option 'bin' \(did you mean 'bins'\?\)"),
        (lambda s: select(s, groups=[1]), "select has no option 'groups'"),
        (evidence, r"evidence needs feature: evidence\(X, y, feature\) or evidence\(study, feature\)"),
        (lambda s: evidence(s.table.codes, [0]), "evidence needs feature"),
        (lambda s: audit(s, "no such"), "The table has no column 'no such' to take as feature"),
    ],
)
def test_what_a_study_has_already_is_refused_and_what_is_missing_is_asked_for(confounded, ask, message):
    with pytest.raises(InputError, match=message):
        ask(Study(*confounded))


def test_a_table_without_a_label_is_refused():
    for ask in (relevance, select, interactions, compare, report):
        with pytest.raises(InputError, match="The label y is missing"):
            ask([[0], [1]])


def test_a_column_that_was_set_aside_is_named_by_its_fate(confounded):
    X, y = confounded
    table = X.assign(id=np.arange(len(X)))
    for ask in (evidence, audit, transitions):
        with pytest.raises(InputError, match=r'feature names .id., which was set aside .* keep it with ids="keep"'):
            ask(Study(table, y), "id")
    with pytest.raises(InputError, match=r"feature names .id., which was set aside"):
        relevance(Study(table, y), given=["id"])
    assert evidence(Study(table, y, ids="keep"), "id") == evidence(table, y, "id", ids="keep")


def test_rows_that_count_once_answer_two_questions_only(confounded):
    X, y = confounded
    study = Study(X, y, duplicates="once")
    assert relevance(study) == relevance(X, y, duplicates="once")
    assert select(study) == select(X, y, duplicates="once")
    for name in set(FOUND_BY) - {"relevance", "select"}:
        with pytest.raises(InputError, match=f'{name} needs every row, and this Study has duplicates="once"'):
            getattr(analogical, name)(study, *FOUND_BY[name])
    assert questions(study) == ["relevance", "select"]


def test_groups_are_known_to_all_but_interactions(confounded):
    X, y = confounded
    groups = np.arange(len(y)) // 3
    study = Study(X, y, groups=groups)
    assert relevance(study) == relevance(X, y, groups=groups)
    assert audit(study, "z") == audit(X, y, "z", groups=groups)
    assert select(study) == report(X, y, groups=groups).selection
    with pytest.raises(InputError, match="interactions assumes independent rows, and this Study has groups"):
        interactions(study)
    assert questions(study) == [name for name in QUESTIONS if name != "interactions"]
    assert "500 groups" in repr(study)


def questions(study):
    """What a study says that it can be asked."""
    return re.findall(r"^(\w+)\(study", repr(study), re.MULTILINE)


def test_a_study_names_its_table_what_was_noted_and_its_questions(confounded):
    X, y = confounded
    study = Study(X.assign(id=np.arange(len(X))), pd.Series(y, name="ill"))
    text = repr(study)
    assert text.startswith("Study of 5 features for 'ill' (2 classes), 1,500 rows: z, w, u, x and c\n")
    assert text.endswith("1 column set aside.")
    assert max(map(len, text.splitlines())) <= 80
    assert questions(study) == list(QUESTIONS) == [*dict.fromkeys(questions(study))]
    assert {*FOUND_BY} == set(QUESTIONS)
    html = study._repr_html_()
    assert "evidence(study, feature)" in html
    assert "Study of 5 features" in html
    assert vars(study).keys().isdisjoint({"found", "deciding", "counts"})  # nothing was counted for it


def test_a_study_says_how_it_was_made(confounded):
    X, y = confounded
    assert Study(X, y).call == "Study(X, y)"
    assert Study(X.assign(y=y), "y", ignore=["u"], bins=5, duplicates="once").call == (
        "Study(X, 'y', ignore=['u'], duplicates='once')"
    )


# ---------------------------------------------------------------- each thing once


@pytest.fixture
def calls(monkeypatch):
    """How often a table is encoded, a deciding set searched for, and all features measured."""
    counted = Counter()
    for module, name in ((study_module, "encode_table"), (study_module, "Decider"), (relevance_module, "_relevance")):
        original = getattr(module, name)

        def count(*args, _name=name, _original=original, **more):
            counted[_name] += 1
            return _original(*args, **more)

        monkeypatch.setattr(module, name, count)
    return counted


def test_several_questions_encode_search_and_measure_once(confounded, calls):
    X, y = confounded
    study = Study(X, y)
    first = relevance(study)
    for ask in (select, interactions, report, relevance):
        ask(study)
    for ask in (audit, evidence, transitions):
        ask(study, "z")
    assert calls == {"encode_table": 1, "Decider": 1, "_relevance": 2}  # the report also measures with nothing given
    assert relevance(study) is first
    assert report(study).relevance is first


def test_what_was_found_is_kept_for_what_was_given_and_for_the_confidence(confounded, calls):
    study = Study(*confounded)
    asked = [{}, {"given": "all"}, {"given": ["z", "w"]}, {"given": ["w", "z"]}, {"given": []}, {"confidence": 0.9}]
    found = [relevance(study, **one) for one in asked]
    measured = calls["_relevance"]
    again = [relevance(study, **one) for one in asked]
    assert calls["_relevance"] == measured > 0
    assert all(one is other for one, other in zip(found, again, strict=True))
    assert relevance(study, given=("z", 1)) is found[2]
    assert found == [relevance(*confounded, **one) for one in asked]
    assert found[2]["u"]["given"] == ["z", "w"]
    assert found[3]["u"]["given"] == ["w", "z"]
