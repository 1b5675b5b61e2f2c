"""Spellings of one word: merged, noted, or left apart."""

import polars as pl
import pytest

from analogical._types import Note
from analogical.columns.encode import encode_table
from analogical.columns.rules import Rules
from analogical.show.notes import describe_notes


def encoded(cells, labels=None, **options):
    frame = pl.DataFrame({"a": cells, "b": [k % 3 for k in range(len(cells))]})
    return encode_table(frame, labels or [k % 2 for k in range(len(cells))], Rules(**options))


def values(table):
    return table.cells(range(len(table.codes)), 0)


def test_case_and_spaces_are_folded_into_the_most_frequent_spelling():
    table = encoded(["red", "Red", "RED ", "Red", "dark  blue", "dark blue", None, "green"])
    assert values(table) == ["Red", "Red", "Red", "Red", "dark  blue", "dark  blue", None, "green"]
    assert Note("folded", ("a", "a"), words=("'dark  blue', 'dark blue'", "'Red', 'RED ', 'red'")) in table.notes
    (sentence,) = describe_notes([note for note in table.notes if note.kind == "folded"])
    assert sentence == (
        "merged values that differ only in case or spaces: 'dark  blue', 'dark blue' of a and 'Red', 'RED ', 'red' of"
        " a; keep them apart with fold_case=False (--no-fold-case)"
    )


def test_nothing_is_folded_on_request():
    cells = ["red", "Red", "RED ", "Red"]
    table = encoded(cells, fold_case=False)
    assert values(table) == cells
    assert table.notes == ()


def test_single_letters_are_folded_on_request_only():
    cells = ["A", "a", "b", "B", "A", "x"]
    table = encoded(cells)
    assert values(table) == cells
    assert table.notes == (Note("may-fold", ("a", "a"), words=("'A', 'a'", "'B', 'b'")),)
    assert values(encoded(cells, fold_case=True)) == ["A", "A", "B", "B", "A", "x"]
    assert encoded(cells, fold_case=True).notes[0].kind == "folded"


def test_words_for_yes_and_no_are_folded_on_request_only():
    cells = ["yes", "Yes", "Y", "TRUE", "1 ", "no", "N", "no"]
    table = encoded([k % 2 for k in range(8)], cells)
    assert table.classes == ("1 ", "N", "TRUE", "Y", "Yes", "no")
    assert [note.kind for note in table.notes] == ["folded", "may-fold"]
    folded = encoded([k % 2 for k in range(8)], cells, fold_case=True)
    assert len(folded.classes) == 2
    assert "no" in folded.classes
    assert encoded(["yes", "y", "maybe", "no"], fold_case=True).n_values[0] == 4


def test_a_label_that_is_a_column_is_taken_out_with_all_its_spellings():
    frame = pl.DataFrame({"a": [0, 1] * 4, "y": ["Yes", "no", "yes", "no", "Yes", "NO", "no", "yes"]})
    table = encode_table(frame, frame["y"])
    assert table.names == ("a",)
    assert table.classes == ("Yes", "no")


@pytest.mark.parametrize("cells", [[1, 2, 3, 4], [1.5, 2.5, 1.5, 2.5], [True, False, True, True], ["x", "y", "z", "x"]])
def test_other_values_are_left_as_they_are(cells):
    assert encoded(cells).notes == encoded(cells, fold_case=False).notes


def test_weights_say_which_spelling_is_most_frequent():
    frame = pl.DataFrame({"a": ["red", "Red", "blue", "blue"], "n": [5, 1, 1, 1], "y": [0, 1, 0, 1]})
    assert encode_table(frame, "y", Rules(weights="n")).columns[0].values == ["red", "blue"]
