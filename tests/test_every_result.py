"""What every result can do: text, HTML, dataframes, plain types, length, entries, and a view as plain data."""

import copy
import dataclasses
import json
import pickle

import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pytest

from analogical import (
    InputError,
    audit,
    compare,
    evidence,
    interactions,
    redundancies,
    relevance,
    report,
    select,
    squares,
    transitions,
)
from analogical.presenting.notes import describe_notes
from analogical.presenting.redundancies import describe_dropped
from analogical.presenting.relevance import describe_radius
from analogical.presenting.views import Cell, Heading, Table, View, view_of

FRAME = pd.DataFrame(
    {
        "town": ["Ulm", "Bonn", "Lyon", "Nice"] * 6,
        "country": ["DE", "DE", "FR", "FR"] * 6,
        "size": ["s", "l"] * 12,
        "old": (["no"] * 4 + ["yes"] * 4) * 3,
        "label": ["a", "b", "a", "a", "b", "b", "a", "b"] * 3,
    }
)
RESULTS = {
    "relevance": relevance(FRAME, "label"),
    "evidence": evidence(FRAME, "label", "old", given="all"),
    "transitions": transitions(FRAME, "label", "old", given="all"),
    "audit": audit(FRAME, "label", "old", given="all"),
    "redundancies": redundancies(FRAME.drop(columns="label")),
    "comparison": compare(FRAME, "label", methods=["ari", "chi2"]),
    "selection": select(FRAME, "label", 2),
    "interactions": interactions(FRAME, "label", ignore=["town"]),
    "squares": squares(FRAME, "label", "size", "old"),
    "report": report(FRAME, "label", protected="old"),
}
LENGTHS = {
    "relevance": 4,
    "evidence": 6,
    "transitions": 3,
    "audit": 1,
    "redundancies": 3,
    "comparison": 4,
    "selection": 2,
    "interactions": 3,
    "squares": 4,
    "report": 4,
}
FRAME_TYPES = {"pandas": pd.DataFrame, "polars": pl.DataFrame, "pyarrow": pa.Table}


@pytest.fixture(params=RESULTS)
def name(request):
    return request.param


@pytest.fixture
def result(name):
    return RESULTS[name]


def test_length_is_the_number_of_records(name, result):
    assert len(result) == len(result.records()) == LENGTHS[name]


@pytest.mark.parametrize("backend", FRAME_TYPES)
def test_to_frame_has_a_row_per_record_in_every_library(result, backend):
    frame = result.to_frame(backend)
    assert isinstance(frame, FRAME_TYPES[backend])
    assert pl.DataFrame(frame).columns == list(result.records()[0])
    assert len(pl.DataFrame(frame)) == len(result)


def test_to_frame_holds_the_numbers_of_the_records(result):
    frame = result.to_frame("polars")
    for name in frame.columns:
        for cell, record in zip(frame[name], result.records(), strict=True):
            if isinstance(record[name], int | float):
                assert cell == record[name]
            elif record[name] is None:
                assert cell is None or np.isnan(cell)


def test_to_frame_comes_in_the_library_of_the_table():
    table = pl.DataFrame(FRAME)
    assert isinstance(evidence(table, "label", "old").to_frame(), pl.DataFrame)
    assert isinstance(audit(table.to_arrow(), "label", "old").to_frame(), pa.Table)
    assert isinstance(redundancies(table.drop("label")).to_frame(), pl.DataFrame)
    assert isinstance(compare(table, "label", methods=["ari"]).to_frame(), pl.DataFrame)
    assert isinstance(interactions(table, "label").to_frame(), pl.DataFrame)
    assert isinstance(squares(table, "label", "size", "old").to_frame(), pl.DataFrame)


def test_a_result_without_entries_has_a_frame_with_columns():
    rows = [(0, 0), (1, 1)]
    nothing = {
        "evidence": evidence(rows, [0, 1], 0),
        "transitions": transitions(rows, [0, 1], 0),
        "audit": audit(rows, [0, 1], 0),
        "redundancies": redundancies(rows),
        "squares": squares(rows, [0, 1], 0, 1),
    }
    for name, result in nothing.items():
        assert len(result) == 0
        for backend in FRAME_TYPES:
            frame = pl.DataFrame(result.to_frame(backend))
            assert (frame.columns, len(frame)) == (RESULTS[name].to_frame("polars").columns, 0)


def test_to_dict_is_json_without_nan(result):
    content = json.loads(json.dumps(result.to_dict(), allow_nan=False))
    assert content == result.to_dict()


def test_text_fits_80_columns(result):
    assert repr(result).strip()
    assert max(len(line) for line in repr(result).splitlines()) <= 80


def test_html_says_what_the_text_says(result):
    html = result._repr_html_()
    assert html.startswith('<div class="analogical-result"><style>')
    assert html.endswith("</div>")
    for table in view_of(result).tables:
        for row in table.rows:
            for cell in row:
                assert cell.text.replace("&", "&amp;").replace("<", "&lt;") in html


def test_results_are_frozen(result):
    with pytest.raises(dataclasses.FrozenInstanceError):
        setattr(result, dataclasses.fields(result)[0].name, "other")


@pytest.mark.parametrize("name", RESULTS)
def test_results_are_equal_by_value_and_survive_copies(name):
    result = RESULTS[name]
    assert copy.deepcopy(result) == result
    assert pickle.loads(pickle.dumps(result)) == result  # noqa: S301
    assert result != "something else"


def test_entries_are_found_by_name():
    assert RESULTS["relevance"]["old"]["pairs"] == RESULTS["relevance"].pairs[3] == 36
    assert RESULTS["comparison"]["old"]["ari"]["rank"] == 1
    assert RESULTS["evidence"][0] == RESULTS["evidence"].pairs[0]
    assert RESULTS["audit"]["no"] == RESULTS["audit"].differences
    assert [t.pairs for t in RESULTS["transitions"]["yes", "no"]] == [9, 18, 9]
    assert [entry["determined_by"] for entry in RESULTS["redundancies"]["country"]] == [["town"]]
    assert RESULTS["redundancies"]["old"] == []


def test_results_are_iterated_record_by_record(name, result):
    assert list(result) == result.records()
    first = {
        "evidence": 0,
        "squares": 0,
        "audit": "no",
        "transitions": ("no", "yes"),
        "interactions": ("old", "country"),
        "selection": "town",
    }
    assert first.get(name, "size") in result
    assert "nonsense" not in result
    assert object() not in result


def test_an_unknown_value_is_named_with_those_there_are():
    with pytest.raises(InputError, match="There is no value 'maybe' in the result; it has 'no', 'yes'"):
        RESULTS["audit"]["maybe"]


@pytest.mark.parametrize("name", ["relevance", "comparison"])
def test_an_unknown_entry_is_named_with_those_there_are(name):
    with pytest.raises(InputError, match="There is no feature 'age' in the result; it has 'town', 'country', 'size'"):
        RESULTS[name]["age"]


def test_views_are_plain_data(result):
    view = view_of(result)
    assert isinstance(view, View)
    assert view == view_of(result)
    for table in (*view.tables, *view.examples):
        assert isinstance(table, Table)
        assert all(isinstance(heading, Heading) for heading in table.headings)
        assert all(len(row) == len(table.headings) for row in table.rows)
        assert all(isinstance(cell, Cell) and isinstance(cell.text, str) for row in table.rows for cell in row)
    json.dumps(dataclasses.asdict(view))


def test_view_of_a_relevance():
    result = relevance(FRAME, "label", ignore=["town"], radius=1)
    view = view_of(result)
    assert view.headline == "Relevance of 3 features for 'label' (2 classes), 24 rows"
    assert view.summary == (
        "24 rows, 3 features, label 'label' with 2 classes (a, b), 8 distinct rows (16 repeated), no contradictions"
    )
    (table,) = view.tables
    assert [h.title for h in table.headings] == ["feature", "ARI", "95% CI", "pairs", "changed", "p", "status"]
    assert [h.is_text for h in table.headings] == [True, False, False, False, False, False, True]
    first = table.rows[0]
    assert [cell.text for cell in first[:2]] == [result.ranking()[0], f"{result.score.max():.3f}"]
    assert first[1].bar == result.score.max()
    assert first[-1] == Cell("effect", "good")
    assert view_of(result, top=1).tables[0].note == "Best 1 of 3 features shown."


def test_view_of_an_evidence():
    view = view_of(RESULTS["evidence"])
    words = "18 of 36 pairs that differ on 'old' differ in 'label' (50.0 %), given town, country and size"
    assert view.headline == words
    assert view.tables == ()
    block = view.examples[0]
    assert block.title == "town=Ulm, country=DE, size=s"
    assert block.rows[0][:3] == (
        Cell("old no → yes", "strong"),
        Cell("label a → b", "good"),
        Cell("rows 0, 4", "muted"),
    )


def test_view_of_transitions():
    (table,) = view_of(RESULTS["transitions"]).tables
    assert [tuple(cell.text for cell in row) for row in table.rows] == [
        ("no → yes", "a = a", "9", "25.0 %"),
        ("no → yes", "a → b", "18", "50.0 %"),
        ("no → yes", "b = b", "9", "25.0 %"),
    ]
    assert [row[0].tone for row in table.rows] == ["plain", "good", "plain"]


def test_view_of_an_audit():
    view = view_of(RESULTS["audit"])
    assert view.headline == "Audit of 'old' for 'label', given town, country and size"
    assert view.facts[0] == (
        "Compared: 24 of 24 rows (100.0 %) are equal on these features to a row with another 'old': 36 pairs in"
        " 4 contexts, the largest of which holds 25.0 % of them. 'b' occurs in 50.0 % of the rows compared and in"
        " 50.0 % of all."
    )
    assert view.facts[1].startswith("Given these features, yes has 'b' 50.0 points more often than no")
    assert view.findings == ("'b' is significantly more frequent for yes.",)
    assert "not proof of cause" in view.caveat
    assert len(view.examples) > 0


def test_view_of_redundancies():
    view = view_of(RESULTS["redundancies"])
    assert view.headline == "Redundancies among 4 columns, 24 rows"
    assert view.findings == (
        "town determines country (20 tests)",
        "town determines size (20 tests)",
        "country and size determine town (20 tests)",
    )


def test_view_of_a_comparison():
    view = view_of(RESULTS["comparison"])
    assert view.headline == "Relevance for 'label' by 2 methods"
    (table,) = view.tables
    assert [h.title for h in table.headings] == ["feature", "ARI", "χ²"]
    assert table.rows[0][:2] == (Cell("old"), Cell("1.000 (1)", "good"))
    assert table.rows[1][1] == Cell("–")
    assert view.findings[1].startswith("ARI: share of pairs")


@pytest.mark.parametrize(
    ("rows", "settings", "reason", "words"),
    [
        ([(0, 0), (0, 1), (1, 0), (2, 0)], {"radius": 1}, "asked", "radius 1: set by the user (4 pairs used)"),
        (
            [(a, b) for a in (0, 1) for b in (0, 1)] * 10,
            {},
            "enough-pairs",
            "radius 1: every feature has at least 200 pairs at distance 1 (400 pairs used)",
        ),
        (
            [(0,)] * 11 + [(1,)],
            {},
            "nothing-further",
            "radius 1: no two rows differ on more than one feature (11 pairs used)",
        ),
    ],
)
def test_describe_radius_says_why(rows, settings, reason, words):
    labels = [0, 1, 1, 0] * 10 if len(rows) == 40 else [1] + [0] * (len(rows) - 1)
    result = relevance(rows, labels, **settings)
    assert result.settings.reason == reason
    assert describe_radius(result) == words


@pytest.mark.parametrize(
    ("reason", "words"),
    [
        ("noisy-labels", "labels are noisy, and distance 1 compares too few repeated rows to stand for all"),
        (
            "noise-unknown",
            "labels may be noisy, since few rows repeat, and distance 1 compares too few to stand for all",
        ),
        ("enough-weight", "other pairs have next to no weight"),
        ("few-pairs", "at distance 1 some feature has only 4 pairs"),
    ],
)
def test_every_reason_has_its_words(reason, words):
    result = relevance([(0, 0), (0, 1), (1, 0), (2, 0)], [0, 1, 1, 0], radius=1)
    settings = dataclasses.replace(result.settings, reason=reason, fewest_pairs=4)
    assert describe_radius(dataclasses.replace(result, settings=settings)) == f"radius 1: {words} (4 pairs used)"


def test_effects_stand_beside_the_score_where_noise_makes_it_look_further():
    rng = np.random.default_rng(0)
    X = rng.integers(0, 2, size=(1500, 9))
    y = X[:, 0] ^ X[:, 1] ^ (rng.random(1500) < 0.2)
    (table,) = view_of(relevance(X, y)).tables
    titles = ["feature", "score", "95% CI", "effect", "ARI", "pairs", "p", "status"]
    assert [heading.title for heading in table.headings] == titles
    (wide,) = view_of(relevance(X[:80], y[:80])).tables
    assert [heading.title for heading in wide.headings] == [title for title in titles if title != "effect"]


def test_describe_radius_beyond_distance_one():
    rng = np.random.default_rng(0)
    X = rng.integers(0, 3, size=(150, 12))
    y = X[:, 0] == X[:, 1]
    auto = relevance(X, y)
    reach, decay, used = auto.settings.radius, auto.settings.decay, auto.settings.n_pairs_used
    assert auto.settings.reason in ("no-pairs", "few-pairs", "none-changed")
    assert describe_radius(auto).startswith(
        f"radius {reach}, a pair's weight falling to {decay:.2f} with each feature it differs on: "
    )
    assert describe_radius(auto).endswith(f"({used:,} pairs used)")
    asked = relevance(X, y, radius=3, attribution="share")
    assert describe_radius(asked) == f"radius 3: set by the user ({asked.settings.n_pairs_used:,} pairs used)"


def test_notes_are_said_in_words():
    result = relevance(FRAME, FRAME["label"])
    assert "label" not in result.names
    assert describe_notes(result.notes) == (
        "the column 'label' of X holds the label, or a recoding of it, so it is not a feature",
    )
    assert describe_notes(result.notes)[0] in " ".join(repr(result).split())
    assert result.to_dict()["notes"] == [{"kind": "label-taken-out", "columns": ["label"], "counts": [], "edges": []}]
    assert relevance(FRAME, "label").notes == ()


def test_dropped_features_are_described():
    from analogical import Dropped

    assert describe_dropped(Dropped("a", "constant", (), 0)) == "a: one value only"
    assert describe_dropped(Dropped("a", "determined", ("b", "c"), 1)) == "a: determined by b and c (1 test)"
    assert str(Dropped("a", "same information", ("b",), 1200)) == "a: the same information as b (1,200 tests)"
