"""Which columns are ids, which are numbers, and what becomes of them."""

from datetime import date, datetime, timedelta

import numpy as np
import pandas as pd
import polars as pl
import pytest

from analogical import Study, audit, evidence, interactions, redundancies, relevance, select
from analogical._types import Note
from analogical.columns.columns import encode_array, encode_objects
from analogical.columns.encode import encode_table
from analogical.columns.rules import Rules

N = 60
RNG = np.random.default_rng(0)
LETTERS = [*"abc" * 20]
LABELS = ["no", "yes", *RNG.choice(["no", "yes"], N - 2).tolist()]
STRINGS = [f"p-{k * 37 % N}" for k in range(N)]
DENSE = RNG.permutation(N).tolist()
SPREAD = (RNG.permutation(N) * 1000).tolist()


def encoded(columns, y=LABELS, library=pd.DataFrame, *, keep=(), **options):
    return encode_table(library(columns), y, Rules(**options), keep=keep)


def aside(columns, **options):
    notes = encoded(columns, **options).notes
    return next((note.columns for note in notes if note.kind == "set-aside"), ())


# ---------------------------------------------------------------- ids


@pytest.mark.parametrize("library", [pd.DataFrame, pl.DataFrame])
@pytest.mark.parametrize(
    ("name", "cells", "is_id"),
    [
        ("ticket", STRINGS, True),
        ("ticket", [*STRINGS[:30], *STRINGS[:30]], True),  # half of the rows
        ("ticket", [*STRINGS[:29], *STRINGS[:29], "p-0", "p-0"], False),
        ("row", [*DENSE[:57], *DENSE[:3]], True),  # 57 of 60 rows are 95 %
        ("row", [*DENSE[:56], *DENSE[:4]], False),
        ("ticket", [*STRINGS[:50], *[None] * 10], True),  # rows without a value say nothing
        ("row", DENSE, True),
        ("row", [k + 5000 for k in DENSE], True),
        ("row", [2 * k for k in DENSE], True),  # spans less than twice the number of values
        ("row", [3 * k for k in DENSE], False),
        ("income", SPREAD, False),  # a measurement
        ("customer_id", SPREAD, True),
        ("id", SPREAD, True),
        ("ID", SPREAD, True),
        ("Id", [*SPREAD[:30], *SPREAD[:30]], True),
        ("PATIENT_ID", SPREAD, True),
        ("patientid", SPREAD, True),
        ("USERID", [*SPREAD[:45], *SPREAD[:15]], True),
        ("Id_Student", SPREAD, True),
        ("PAID", SPREAD, False),
        ("Idaho", SPREAD, False),
        ("number", [*SPREAD[:45], *SPREAD[:15]], False),
        ("ID no", SPREAD, True),
        ("customerId", SPREAD, True),
        ("OrderNumber", SPREAD, True),
        ("idle", SPREAD, False),
        ("humidity", SPREAD, False),
        ("paid", SPREAD, False),
        ("north", SPREAD, False),
        ("id", [*range(29), *range(29), 0, 1], True),  # two rows each
        ("id", [k / 7 for k in range(N)], False),  # numbers with a fraction are measurements
        ("day", [date(2020, 1, 1) + timedelta(days=k) for k in range(N)], False),
        ("day", [datetime(2020, 1, 1) + timedelta(seconds=k) for k in range(N)], False),
        ("day", [19910101 + 100 * (k // 28 % 12) + 10_000 * (k // 336) + k % 28 for k in range(N)], False),
        ("day", [date(2020, 1, 1) + timedelta(days=k // 2) for k in range(N)], False),
    ],
)
def test_ids(library, name, cells, is_id):
    assert aside({name: cells, "letter": LETTERS}, library=library) == ((name,) if is_id else ())


def test_a_small_table_has_no_ids():
    for n in (5, 20):
        assert aside({"id": DENSE[:n], "letter": LETTERS[:n]}, y=LABELS[:n]) == ()
    assert aside({"id": DENSE[:21], "letter": LETTERS[:21]}, y=LABELS[:21]) == ("id",)
    assert aside({"id": DENSE[:5], "letter": LETTERS[:5]}, y=LABELS[:5], max_values=4) == ("id",)
    assert aside({"id": DENSE, "letter": LETTERS}, max_values=None) == ()


def test_rows_that_stand_for_several_have_no_ids():
    assert aside({"ticket": STRINGS, "letter": LETTERS}, weights=[1] * N) == ("ticket",)
    assert aside({"ticket": STRINGS, "letter": LETTERS}, weights=[3] * N) == ()
    weights = [1] * 30 + [0] * 30
    assert aside({"ticket": [*STRINGS[:30], *["p-0"] * 30], "letter": LETTERS}, weights=weights) == ("ticket",)


def test_ids_are_kept_if_they_are_asked_for():
    columns = {"ticket": STRINGS, "letter": LETTERS, "colour": ["r", "g"] * 30}
    assert aside(columns) == ("ticket",)
    assert aside(columns, ids="keep") == ()
    assert encoded(columns, features=["ticket", "letter"]).names == ("ticket", "letter")
    assert encoded(columns, keep=["ticket"]).names == ("ticket", "letter", "colour")
    assert encoded(columns, keep=[0]).names == ("ticket", "letter", "colour")
    assert encoded(columns, keep=["letter"]).names == ("letter", "colour")
    assert encoded({"row": DENSE, "letter": LETTERS}, bins={"row": 3}).columns[0].edges == (20, 40)


def test_positions_are_those_of_the_users_table():
    table = encoded({"ticket": STRINGS, "letter": LETTERS, "colour": ["r", "g"] * 30})
    assert [column.position for column in table.columns] == [1, 2]
    assert (table.find("colour"), table.find(2)) == (1, 1)


def test_if_all_columns_are_ids_none_is_set_aside():
    assert aside({"ticket": STRINGS, "row": DENSE}) == ()
    assert encoded({"ticket": STRINGS, "row": DENSE}).names == ("ticket", "row")


def test_all_functions_set_ids_aside_but_not_the_one_they_are_asked_about():
    frame = pd.DataFrame({"ticket": STRINGS, "letter": LETTERS, "colour": ["r", "g"] * 30})
    note = Note("set-aside", ("ticket",))
    assert note in relevance(frame, LABELS).notes
    assert note in redundancies(frame).notes
    assert audit(frame, LABELS, "letter", given="all").given == ("colour",)
    assert audit(frame, LABELS, "ticket", given="all").given == ("letter", "colour")
    assert note in audit(frame, LABELS, "letter").notes
    assert evidence(frame, LABELS, "ticket").feature == "ticket"
    assert evidence(frame, LABELS, 0).feature == "ticket"


# ---------------------------------------------------------------- units that come back

FIVE_EACH = [k % 12 for k in range(N)]
"""Twelve units of five rows."""


def units(columns, **options):
    notes = encoded(columns, **options).notes
    return [(note.columns, note.counts) for note in notes if note.kind == "looks-like-groups"]


@pytest.mark.parametrize(
    ("name", "cells", "is_named"),
    [
        ("subject", FIVE_EACH, True),
        ("subject", [f"s{k}" for k in FIVE_EACH], True),
        ("subject", [None, *FIVE_EACH[1:]], False),  # floats: a dataframe knows them as numbers
        ("patientId", FIVE_EACH, True),
        ("CUSTOMER NO", FIVE_EACH, True),
        ("id", FIVE_EACH, True),
        ("Students", FIVE_EACH, False),  # how many there are
        ("students_no", FIVE_EACH, True),
        ("age", FIVE_EACH, False),
        ("grid", FIVE_EACH, False),
        ("customer segment", FIVE_EACH, False),  # a property of a customer
        ("subject", [k % 9 for k in range(N)], False),  # few values: a category
        ("subject", [*range(50), *range(10)], False),  # most come once
        ("subject", [*range(30), *range(30)], True),
    ],
)
def test_a_column_that_names_units_which_come_back_is_pointed_to(name, cells, is_named):
    assert bool(units({name: cells, "letter": LETTERS})) == is_named


def test_one_note_names_the_column_with_most_units_and_the_rows_of_each():
    columns = {"person": FIVE_EACH, "patient": [k % 20 for k in range(N)], "letter": LETTERS}
    assert units(columns) == [(("patient",), (20, 3))]
    assert units(columns, weights=np.full(N, 2)) == [(("patient",), (20, 6))]


def test_nothing_is_done_to_a_column_that_names_units():
    columns = {"person": FIVE_EACH, "letter": LETTERS}
    told, silent = encoded(columns), encoded(columns, groups=FIVE_EACH[::-1])
    assert told.names == silent.names == ("person", "letter")
    assert np.array_equal(told.codes, silent.codes)
    assert [note.kind for note in told.notes] == ["looks-like-groups"]
    assert silent.notes == ()


def test_who_gives_groups_is_not_pointed_to_them():
    columns = {"person": FIVE_EACH, "patient": FIVE_EACH, "letter": LETTERS}
    assert units(columns, groups="person") == []


def test_all_functions_point_to_units_of_a_table_as_of_a_study():
    columns = pd.DataFrame({"person": FIVE_EACH, "letter": LETTERS})
    (note,) = (note for note in encoded(columns).notes if note.kind == "looks-like-groups")
    study = Study(columns, LABELS)
    for ask in (relevance, select, interactions):
        assert note in ask(columns, LABELS).notes
        assert ask(columns, LABELS).notes == ask(study).notes
    assert note in audit(columns, LABELS, "letter").notes
    assert note in redundancies(columns).notes


# ---------------------------------------------------------------- numbers and categories

CATEGORIES = {
    "text": LETTERS,
    "booleans": [True, False] * 30,
    "few whole numbers": [k % 20 for k in range(N)],
    "few whole floats": [float(k % 20) for k in range(N)],
    "few whole floats and gaps": [None if k == 3 else float(k % 20) for k in range(N)],
    "few dates": [date(2020, 1, 1 + k % 20) for k in range(N)],
    "five fractions": [k % 5 / 3 for k in range(N)],  # as many as bins
    "many words": [f"w{k % 29}" for k in range(N)],
    "mixed": [k % 28 if k % 2 else str(k % 28) for k in range(N)],
}
BINNED = {
    "many whole numbers": [k % 21 for k in range(N)],
    "six fractions": [k % 6 / 3 for k in range(N)],
    "many whole floats": [float(k % 21) for k in range(N)],
    "durations": [timedelta(seconds=k % 30 + 0.5) for k in range(N)],
    "numbers of two kinds": [k % 30 if k % 2 else k % 30 + 0.5 for k in range(N)],
}
TIMES = {
    "dates": [date(2020, 1, 1) + timedelta(days=k % 30) for k in range(N)],
    "times": [datetime(2020, 1, 1) + timedelta(hours=k % 30) for k in range(N)],
    "days as whole numbers": [19910101 + k % 28 for k in range(N)],
}


@pytest.mark.parametrize("kind", CATEGORIES)
def test_categories_stay_as_they_are(kind):
    table = encoded({"f": CATEGORIES[kind], "letter": LETTERS})
    assert table.columns[0].edges is None
    assert [note.kind for note in table.notes] == (["missing-value"] if None in CATEGORIES[kind] else [])


@pytest.mark.parametrize("kind", [*BINNED, *TIMES])
def test_numbers_and_times_are_binned_and_noted(kind):
    table = encoded({"f": (BINNED | TIMES)[kind], "letter": LETTERS}, date_parts=False)
    column = table.columns[0]
    assert (len(column.edges), len(column.values)) == (4, 5)
    (note,) = table.notes
    assert note == Note("binned-time" if kind in TIMES else "binned", ("f",), (5,), (column.edges,))


def test_whole_numbers_of_arrays_and_lists_are_categories():
    rows = [(k % 40, k % 3) for k in range(N)]
    for X in (rows, np.array(rows), np.array(rows, dtype=object), np.ma.masked_array(rows)):
        result = relevance(X, LABELS)
        assert [c.n_values for c in result.feature_columns] == [40, 3]
        assert result.notes == ()
    assert [c.n_values for c in relevance(pd.DataFrame(rows), LABELS).feature_columns] == [5, 3]
    assert [c.n_values for c in relevance(np.array(rows) / 3, LABELS).feature_columns] == [5, 3]


def test_max_values_says_what_few_means():
    columns = {"f": [k % 8 for k in range(N)], "letter": LETTERS}
    assert encoded(columns).columns[0].edges is None
    assert encoded(columns, max_values=7).columns[0].edges is not None
    assert encoded({"f": [k % 40 for k in range(N)], "letter": LETTERS}, max_values=None).n_values.tolist() == [40, 3]
    assert encoded(columns, max_values=7, bins=None).n_values.tolist() == [8, 3]
    assert encoded(columns, max_values=7, bins=8).columns[0].edges is None


@pytest.mark.parametrize(
    ("days", "are_days"),
    [
        ([19910108, 20240229], True),
        ([19910008], False),  # no month 0
        ([19911301], False),
        ([19910132], False),
        ([19910100], False),
        ([18991231], False),
        ([20991231, 19000101], True),
        ([21000101], False),
        ([5, 7], False),
    ],
)
def test_days_written_as_whole_numbers(days, are_days):
    assert encode_array(np.array(days), "feature 'x'").is_time is are_days
    assert encode_objects(days, "feature 'x'").is_time is are_days


def test_times_with_and_without_zone_are_no_times():
    zone = pd.Timestamp("2020-01-01", tz="UTC").tzinfo
    cells = [datetime(2020, 1, 1 + k % 30, tzinfo=zone if k % 2 else None) for k in range(N)]
    table = encoded({"f": pd.Series(cells, dtype=object), "letter": LETTERS})
    assert table.columns[0].edges is None


# ---------------------------------------------------------------- labels


def test_a_numeric_label_may_be_binned():
    table = encoded({"letter": LETTERS}, y=[k / 7 for k in range(N)], classes=3)
    assert table.classes == ("0 to 2.714", "2.857 to 5.571", "5.714 to 8.429")
    assert np.bincount(table.labels).tolist() == [20, 20, 20]
    assert table.notes == (Note("label-binned", ("y",), (3,), ((20 / 7, 40 / 7),)),)


def test_missing_labels_and_weights_are_no_part_of_the_bins_of_a_label():
    numbers = [None, *[float(k) for k in range(N - 2)], 1e9]
    table = encoded({"letter": LETTERS}, y=numbers, classes=2, weights=[1] * (N - 1) + [0])
    assert table.classes == ("0 to 28", "29 to 57")
    assert [note.kind for note in table.notes] == ["label-missing", "label-binned"]
    assert len(table.labels) == N - 2


def test_a_label_of_few_numbers_needs_no_bins():
    assert encoded({"letter": LETTERS}, y=[k % 20 for k in range(N)]).classes == tuple(range(20))
    assert encoded({"letter": LETTERS}, y=[f"c{k % 40:02}" for k in range(N)]).classes[-1] == "c39"
    assert len(encoded({"letter": LETTERS}, y=[k % 40 for k in range(N)], max_values=40).classes) == 40


def test_numbers_are_numbers_on_the_rows_that_are_left():
    cells = [k % 30 for k in range(N)]
    for options in ({"y": [None, *LABELS[1:]]}, {"weights": [0, *[1] * (N - 1)]}):
        assert len(encoded({"f": cells, "letter": LETTERS}, **options).columns[0].edges) == 4
    gaps = {"f": cells, "letter": [None, *LETTERS[1:]]}
    assert len(encoded(gaps, missing="drop").columns[0].edges) == 4


def test_weights_are_rows_for_the_bins_of_a_label():
    numbers = [float(k) for k in range(N)]
    weights = [5 if k < 10 else 1 for k in range(N)]
    weighted = encoded({"letter": LETTERS}, y=numbers, classes=2, weights=weights)
    repeated = encoded(
        {"letter": np.repeat(LETTERS, weights).tolist()}, y=np.repeat(numbers, weights).tolist(), classes=2
    )
    assert weighted.classes == repeated.classes == ("0 to 9", "10 to 59")


def test_whole_numbers_that_name_units_are_set_aside_and_offered_as_groups():
    frame = pl.DataFrame(
        {"patient": [1000 + 17 * (k // 3) for k in range(150)], "a": [k % 2 for k in range(150)], "y": [0, 0, 1] * 50}
    )
    result = relevance(frame, "y")
    assert result.names == ("a",)
    assert [(note.kind, note.columns) for note in result.notes] == [
        ("set-aside", ("patient",)),
        ("looks-like-groups", ("patient",)),
    ]
    assert relevance(frame, "y", ids="keep").names == ("patient", "a")
    assert relevance(frame, "y", features=["patient", "a"]).names == ("patient", "a")
    assert relevance(frame, "y", groups="patient").names == ("a",)
    text = frame.with_columns(pl.col("patient").cast(pl.String))
    assert relevance(text, "y").names == ("patient", "a")


N_CUT = 400


@pytest.mark.parametrize(
    ("number", "label", "share"),
    [
        (lambda k: (k * 37) % 401 / 7, lambda x, _: x < 20, 100),
        (lambda k: 2000 + 3 * ((k * 37) % 401), lambda x, _: x >= 2333, 100),
        (lambda k: (k * 37) % 401 / 7, lambda x, _: "low" if x < 10 else "mid" if x < 33 else "high", 100),
        (lambda k: (k * 37) % 401 / 7, lambda x, k: (x < 20) != (k % 50 == 0), 98),
        (lambda k: (k * 37) % 401 / 7, lambda x, k: (x < 20) != (k % 7 == 0), None),
        (lambda k: (k * 37) % 401 / 7, lambda x, _: 10 < x < 20, None),
        (lambda k: (k * 37) % 401 / 7, lambda _, k: k % 2, None),
        (lambda k: (k * 37) % 401 / 7, lambda x, _: int(x) % 3, None),
        (lambda k: None if k % 4 == 0 else (k * 37) % 401 / 7, lambda x, _: x is not None and x < 20, None),
    ],
)
def test_a_label_that_is_a_cut_of_a_number_is_a_leak(number, label, share):
    numbers = [number(k) for k in range(N_CUT)]
    labels = [label(x, k) for k, x in enumerate(numbers)]
    frame = pl.DataFrame({"x": numbers, "z": [k % 3 for k in range(N_CUT)]})
    leaks = [(note.columns, note.counts) for note in relevance(frame, labels).notes if note.kind == "leak"]
    assert leaks == ([] if share is None else [(("x",), (share,))])


def test_a_cut_is_found_with_weights_and_in_a_long_table():
    numbers = [(k * 7919) % 30_011 / 7 for k in range(30_000)]
    frame = pl.DataFrame({"x": numbers, "n": [1 + k % 3 for k in range(30_000)], "y": [x < 1234 for x in numbers]})
    notes = Study(frame, "y", weights="n").notes
    assert [note.counts for note in notes if note.kind == "leak"] == [(100,)]
