"""What every result can do: text, HTML, dataframes, plain types, length, entries, and a view as plain data."""

import copy
import dataclasses
import json
import math
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
    transitions,
)
from analogical._results import _storable, same
from analogical.show.notes import describe_notes
from analogical.show.selection import describe_dropped
from analogical.show.views import Cell, Heading, Table, View, view_of

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
    "interaction": interactions(FRAME, "label", ignore=["town"])["size", "old"],
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
    "interaction": 8,
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


@pytest.mark.parametrize(
    ("cells", "stored"),
    [
        ([1, 2.5, 3], [1, 2.5, 3]),
        ([1, None, 2], [1.0, math.nan, 2.0]),
        (["a", None], ["a", None]),
        (["a\ud800", "b"], ["a\\ud800", "b"]),  # half a character, which dataframes cannot store
        ([2**63, 1, None], [str(2**63), "1", None]),
        ([True, 1, "x", None], ["True", "1", "x", None]),
        ([["a", 1], None], ["a, 1", None]),
        ([{"a": 1, "b": "\ud800"}], ["a=1, b=\\ud800"]),
    ],
)
def test_the_cells_of_a_column_become_of_one_type(cells, stored):
    assert same(tuple(_storable(cells)), tuple(stored))


def test_to_frame_comes_in_the_library_of_the_table():
    table = pl.DataFrame(FRAME)
    assert isinstance(evidence(table, "label", "old").to_frame(), pl.DataFrame)
    assert isinstance(audit(table.to_arrow(), "label", "old").to_frame(), pa.Table)
    assert isinstance(redundancies(table.drop("label")).to_frame(), pl.DataFrame)
    assert isinstance(compare(table, "label", methods=["ari"]).to_frame(), pl.DataFrame)
    assert isinstance(interactions(table, "label").to_frame(), pl.DataFrame)
    assert isinstance(interactions(table, "label")["size", "old"].to_frame(), pl.DataFrame)


def test_a_result_without_entries_has_a_frame_with_columns():
    rows = [(0, 0), (1, 1)]
    nothing = {
        "evidence": evidence(rows, [0, 1], 0, given="all"),
        "transitions": transitions(rows, [0, 1], 0, given="all"),
        "audit": audit(rows, [0, 1], 0, given="all"),
        "redundancies": redundancies(rows),
    }
    for name, result in nothing.items():
        assert len(result) == 0
        for backend in FRAME_TYPES:
            frame = pl.DataFrame(result.to_frame(backend))
            assert (frame.columns, len(frame)) == (RESULTS[name].to_frame("polars").columns, 0)


ENTRIES = {
    "relevance": (
        "name status effect effect_low effect_high p_value p_adjusted direction slope given adjusted_for same_as index"
        " noise_rate compared ari pairs changed paper_status n_values n_missing edges"
    ),
    "interactions": (
        "first second status effect effect_low effect_high p_value p_adjusted index squares broken effect_squares"
        " effective_squares given same_as"
    ),
    "selection": "feature adds explained why partners",
}
KEYS = {
    "relevance": "label classes n_rows deciding notes settings features",
    "interactions": "names deciding n_possible label classes n_rows noise_index settings notes pairs",
    "selection": ("features stop next_feature k names label classes n_rows notes"),
}


@pytest.mark.parametrize("name", ENTRIES)
def test_columns_and_keys_have_a_fixed_order(name):
    result, entries = RESULTS[name], "pairs" if name == "interactions" else "features"
    more = " scale unit" if name == "relevance" else ""
    assert " ".join(result.columns()) == " ".join(result.to_frame().columns) == ENTRIES[name] + more
    assert " ".join(result.to_dict()) == KEYS[name]
    assert [" ".join(record) for record in result.to_dict()[entries]] == [ENTRIES[name]] * len(result)


@pytest.mark.parametrize("name", ENTRIES)
def test_records_are_in_the_order_shown_and_entries_of_json_in_that_of_the_fields(name):
    result, entries = RESULTS[name], "pairs" if name == "interactions" else "features"
    in_json = result.to_dict()[entries]
    own = {"scale": "classes", "unit": ""} if name == "relevance" else {}  # of all entries, so in the settings there
    assert result.records() == [in_json[position] | own for position in result.order()]
    in_order = {"relevance": "names", "interactions": "first", "selection": "features"}[name]
    assert [next(iter(record.values())) for record in in_json] == list(getattr(result, in_order))


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
        "interaction": "effect",
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


def test_views_have_one_shape(result):
    view = view_of(result)
    assert view.headline
    assert len(view.lines) <= 3
    assert all(text[-1] in ".?" for text in view.lines)


def test_view_of_a_relevance():
    result = relevance(FRAME, "label", ignore=["town"], given="all")
    view = view_of(result)
    assert view.headline == "3 of 3 features have a significant effect on 'label'."
    assert view.about == ("24 rows", "3 features")
    (table,) = view.tables
    titles = ["feature", "points", "95% CI", "share of 'b'", "ARI", "p adj.", "status"]
    assert [h.title for h in table.headings] == titles
    assert [h.is_text for h in table.headings] == [True, False, False, True, False, False, True]
    first, best = table.rows[0], result[result.ranking()[0]]
    assert [cell.text for cell in first[:2]] == [best["name"], f"{100 * best['effect'] ** 0.5:.0f}"]
    assert first[2].bar == 1
    assert first[-1] == Cell("effect", "good")
    assert view_of(result, top=1).tables[0].note == "... and 2 more; to_frame() and --json have all"


def test_view_of_an_evidence():
    view = view_of(RESULTS["evidence"])
    assert view.headline == "18 of 36 pairs that differ on 'old' differ in 'label' (50.0 %)."
    assert view.lines == ("Pairs of rows that agree on town, country and size.",)
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
    assert view.headline == "'label' = 'b' is 50.0 points more frequent with yes than with no (p = .010)."
    assert view.lines == (
        "Compared: 24 of 24 rows (100.0 %) have a partner with another 'old' among rows that agree on town, country and"
        " size.",
        "Differences are associations given the recorded features, not causes.",
    )
    assert "36 pairs in 4 contexts, of which the largest holds 25.0 %." in view.explanation
    assert "'b' occurs in 50.0 % of the compared rows and in 50.0 % of all." in view.explanation
    assert [cell.text for cell in view.tables[0].rows[0]][:2] == ["yes", "+50.0"]
    assert len(view.examples) > 0


def test_view_of_redundancies():
    view = view_of(RESULTS["redundancies"])
    assert view.headline == "3 of 4 columns are redundant."
    assert [tuple(cell.text for cell in row) for row in view.tables[0].rows] == [
        ("country", "determined by town", "20"),
        ("size", "determined by town", "20"),
        ("town", "determined by country and size", "20"),
    ]


def test_view_of_a_comparison():
    view = view_of(RESULTS["comparison"])
    assert view.headline == "4 features for 'label' by 2 methods, sorted by ARI."
    (table,) = view.tables
    assert [h.title for h in table.headings] == ["feature", "ARI", "χ²"]
    assert table.rows[0][:2] == (Cell("old"), Cell("1.000 (1)", "good"))
    assert table.rows[1][1] == Cell("-")
    assert view.explanation[0].startswith("ARI: share of pairs")


def test_notes_are_said_in_words():
    result = relevance(FRAME, FRAME["label"])
    assert "label" not in result.names
    assert describe_notes(result.notes) == (
        "the column 'label' of X is the label or a recoding of it, so it is not a feature",
    )
    assert view_of(result).notes == describe_notes(result.notes)
    assert repr(result).splitlines()[-1].endswith("1 more note.")
    (note,) = result.to_dict()["notes"]
    assert (note["kind"], note["columns"], note["counts"]) == ("label-taken-out", ["label"], [])
    assert relevance(FRAME, "label").notes == ()


def test_dropped_features_are_described():
    from analogical import Dropped

    assert describe_dropped(Dropped("a", "constant")) == "a: one value only"
    assert describe_dropped(Dropped("a", "id")) == "a: an identifier, distinct in most rows"
    assert str(Dropped("a", "same information", ("b",))) == "a: the same information as b"
