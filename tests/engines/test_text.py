"""Texts in a table that lies elsewhere become what the same texts become in memory."""

import duckdb
import polars as pl
import pytest
from analogical.io.formats import TextFormat

from analogical.duck.relation import DuckRelation
from analogical.engines.text import type_cells
from analogical.io.typing import CellNotes, type_columns

NUMBERS = [str(k) for k in range(40)]
COLUMNS = {
    "whole": ("1", "2", "-3", "+4"),
    "number": ("1.5", "2e3", ".5", "5.", "+1E-3", "-0"),
    "word": ("a", "b", " a ", "a\u00a0", "\tb"),
    "gap": ("?", "NA", "7", "nan"),
    "code": ("007", "008", "9"),
    "long": ("12345678901234567890", "12345678901234567891", "1"),
    "nineteen digits": ("1234567890123456789", "1"),
    "day": ("2020-01-01", "2020-02-28", "2020-02-29"),
    "no day": ("2020-01-01", "2020-02-30", "2020-01-03"),
    "time": ("2020-01-01 10:00", "2020-01-02T11:00", "2020-01-03 12:00:01.25"),
    "zones": ("2024-05-01T13:00:00.5Z", "2024-05-02 9:00", "2024-05-02 09:00:00+02:00"),
    "infinite": ("inf", "1", "2"),
    "suffix": ("1d", "2", "3"),
    "nothing": ("?", "", "NA"),
    "quotes": ("it's", 'a "b"', "\\d+", "$1", "100 %"),
    "compact days": ("20240501", "20230101", "19991231"),
    "day first": ("31/12/2024", "1/2/2024", "3/4/2024"),
    "month first": ("12/31/2024 1:05 PM", "1/2/2024 12:07 AM", "1/2/2024 12:07 pm"),
    "ambiguous": ("1/2/2024", "3/4/2024"),
    "short years": ("31/12/24", "1/2/99"),
    "names of months": ("1-Dec-2024", "31-jan-1999", "5 Sept 2020"),
    "month name first": ("Dec 1, 2024", "January 31 1999"),
    "dots": ("1.2.2024", "30.12.2024"),
    "money": ("$1,234.50", "-$7", "\u20ac1,000,000", "(5)"),
    "percent": ("12 %", "7.5%", "\u22121 %"),
    "thousands": ("1 234", "12 345", "1'000"),
    "some words": (*NUMBERS, "unknown", "None"),
    "few numbers and words": (*"1234512345", "many", "few"),
    "dates and words": (*(f"2020-01-{k:02}" for k in range(1, 31)), "never"),
    "a third words": (*NUMBERS, *["none"] * 15, *["refused"] * 5),
    "mostly words": (*NUMBERS, *["none"] * 200),
    "nearly only words": (*NUMBERS, *["none"] * 1000),
    "many words": (*NUMBERS, *NUMBERS, *NUMBERS, *"abcdefgh"),
    "third of many words": (*NUMBERS, *"abcdefghijklmnop"),
    "words with digits": (*NUMBERS, *(f"{k}a" for k in range(15))),
}


NA = TextFormat().na


def both(columns, na=NA, separator=","):
    """What columns of texts become in memory and in DuckDB, and what is said."""
    length = max(map(len, columns.values()))
    frame = pl.DataFrame({name: [*cells, *[None] * (length - len(cells))] for name, cells in columns.items()})
    notes = CellNotes()
    expected = pl.DataFrame(type_columns(frame.get_columns(), na, separator, notes))
    numbered = frame.rename({name: f"c{k}" for k, name in enumerate(frame.columns)})
    said = []
    held = DuckRelation(duckdb.connect().from_arrow(numbered.to_arrow()))
    found = type_cells(held, frame.columns, na, separator, said)
    cells = pl.from_arrow(found.relation.to_arrow_table()).rename(dict(zip(numbered.columns, columns, strict=True)))
    return cells, expected, tuple(said), tuple(notes.notes())


@pytest.fixture(scope="module")
def typed():
    return both(COLUMNS)


def assert_same_cells(cells, expected):
    for name in expected.columns:
        assert cells[name].dtype == expected[name].dtype, name
        assert cells[name].to_list() == expected[name].to_list(), name


def test_every_column_of_text(typed):
    cells, expected, notes, expected_notes = typed
    assert_same_cells(cells, expected)
    assert notes == expected_notes


def test_decimal_commas():
    columns = {"comma": ("1,5", "2,25", "3"), "both": ("1.234,5", "2"), "money": ("1 000 \u20ac", "7,5")}
    cells, expected, notes, expected_notes = both(columns, separator=";")
    assert_same_cells(cells, expected)
    assert notes == expected_notes
    assert {note.kind for note in notes} == {"decimal-commas", "read-as-numbers"}


def test_other_words_for_missing_cells():
    cells, _, notes, expected_notes = both({"a": ("1", "it's", "2"), "b": ("x", "?", " It's ")}, na=("it's",))
    assert cells.to_dict(as_series=False) == {"a": [1, None, 2], "b": ["x", "?", None]}
    assert notes == expected_notes
    assert [note.kind for note in notes] == ["spaces-stripped", "read-as-missing"]


def test_numbers_with_too_many_words_are_named(typed):
    notes = typed[2]
    (note,) = [note for note in notes if note.kind == "numbers-and-words"]
    assert note.columns == ("a third words", "mostly words", "many words")
    assert note.counts == (33, 83, 6)
    assert note.words == ("'none', 'refused'", "'none'", "'a', 'b', 'c'")
