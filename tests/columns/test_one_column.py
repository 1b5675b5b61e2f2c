"""Columns treated one at a time: alone, in a stack, and which error is said first."""

import numpy as np
import polars as pl
import pytest

from analogical import InputError, relevance
from analogical.columns.columns import MISSING, NO_CODES, Column, encode_array, encode_objects
from analogical.columns.encode import encode_table
from analogical.columns.rules import Rules
from analogical.columns.treating import treat_column

LABELS = [*"nynyynny"] * 50


def test_a_column_is_treated_by_its_values_and_their_counts_in_any_order():
    rng = np.random.default_rng(0)
    cells = np.round(rng.gamma(2.0, 2.0, 500), 1)
    cells[::7] = np.nan
    column = encode_array(cells, "x")
    whole = treat_column(column, "x", Rules())
    n_missing = int(np.isnan(cells).sum())
    values = rng.permutation(np.unique(cells[~np.isnan(cells)]))
    sizes = np.array([int((cells == value).sum()) for value in values])
    alone = treat_column(
        Column(NO_CODES, values.tolist(), "real", known_sizes=sizes, known_missing=n_missing), "x", Rules()
    )
    assert alone.meaning == whole.meaning
    assert (len(whole.meaning.edges), whole.meaning.values[-1], whole.meaning.n_missing) == (4, None, n_missing)
    for of_values, of_cells in ((alone.code_of, whole.code_of), (alone.fine_of, whole.fine_of)):
        bin_of = dict(zip(values.tolist(), of_values.tolist(), strict=False))
        expected = [of_values[-1] if np.isnan(cell) else bin_of[cell] for cell in cells.tolist()]
        assert column.recoded(of_cells).tolist() == expected
        assert of_values[-1] == of_values[:-1].max() + 1


def test_values_are_counted_only_when_their_sizes_are_needed():
    letters = encode_objects(["a", "b", "a"], "x")
    treated = treat_column(letters, "x", Rules())
    assert (treated.code_of.tolist(), treated.meaning.values) == ([0, 1, MISSING], ["a", "b"])
    assert "sizes" not in vars(letters)
    words = encode_objects(["a", "A ", "bc", "BC"], "x")
    treat_column(words, "x", Rules())
    assert vars(words)["sizes"].tolist() == [1, 1, 1, 1]


def test_sizes_that_are_known_come_before_those_of_the_codes():
    """The codes may be those of a sample of the rows."""
    column = Column(np.array([0, 1, 0]), ["a", "b", "c"], known_sizes=np.array([7, 8, 9]), known_missing=2)
    part = column.take(np.array([True, False, True])).counted(np.array([3, 4]))
    assert (part.codes.tolist(), part.values, part.sizes.tolist()) == ([0, 0], ["a", "b", "c"], [7, 8, 9])
    assert treat_column(part, "x", Rules()).meaning.values == ["a", "b", "c", None]


def test_spellings_and_missing_cells_get_their_codes_in_one_table():
    column = encode_objects(["red", None, "blue", "RED", "red "], "x")
    treated = treat_column(column, "x", Rules())
    assert treated.code_of.tolist() == [0, 1, 0, 0, 2]
    assert treated.meaning.values == ["RED", "blue", None]


def test_values_without_spellings_keep_their_codes():
    treated = treat_column(encode_objects(["a", "b", "a"], "x"), "x", Rules())
    assert treated.code_of.tolist() == [0, 1, MISSING]


def test_a_whole_matrix_is_used_as_it_is_and_copied_once_a_column_is_set_aside():
    rng = np.random.default_rng(1)
    X = rng.integers(0, 3, (400, 4)).astype(np.uint8)
    assert encode_table(X, LABELS).codes is X
    frame = pl.DataFrame({"a": X[:, 0], "row_id": np.arange(400), "b": X[:, 1], "wide": X[:, 2] * np.int64(100)})
    table = encode_table(frame, LABELS)
    assert table.names == ("a", "b", "wide")
    assert table.codes.dtype == np.uint8
    assert np.array_equal(table.codes, X[:, :3])


def test_codes_widen_when_a_later_column_has_many_values():
    rng = np.random.default_rng(2)
    names = [f"v{k}" for k in rng.integers(0, 300, 2_000)]
    first, last = rng.integers(0, 2, 2_000), rng.integers(0, 2, 2_000)
    frame = pl.DataFrame({"a": first.astype(str), "many": names, "b": last.astype(str)})
    table = encode_table(frame, LABELS * 5)
    assert table.codes.dtype == np.uint16
    for place, cells in enumerate((first.astype(str).tolist(), names, last.astype(str).tolist())):
        assert table.cells(range(2_000), place) == cells


@pytest.mark.parametrize(
    ("options", "said"),
    [
        ({"missing": "error", "bins": {"word": 3}}, "Missing values .* in 'gap' .3 of 400 rows, first in row 5"),
        ({"bins": {"word": 3}}, "bins names 'word'"),
        ({"missing": "drop", "bins": {"word": 3}}, "bins names 'word'"),
    ],
)
def test_missing_cells_are_said_before_bins_that_cannot_be(options, said):
    gap = [None if row in (5, 9, 77) else row % 3 for row in range(400)]
    frame = pl.DataFrame({"word": [*"ab"] * 200, "gap": gap})
    with pytest.raises(InputError, match=said):
        relevance(frame, LABELS, **options)


def test_a_column_that_cannot_be_read_is_said_before_all_else():
    frame = pl.DataFrame({"word": [*"ab"] * 200, "gap": [None, 1] * 200, "nested": [[1]] * 400})
    with pytest.raises(InputError, match="nested"):
        relevance(frame, LABELS, missing="error", bins={"word": 3})


def test_ids_only_are_kept_with_all_their_missing_cells():
    names = [None if row % 50 == 0 else f"n{row}" for row in range(400)]
    frame = pl.DataFrame({"one": names, "two": [f"t{row}" for row in range(400)]})
    table = encode_table(frame, LABELS)
    assert table.names == ("one", "two")
    assert [note.kind for note in table.notes] == ["missing-value"]
    dropped = encode_table(frame, LABELS, Rules(missing="drop"))
    assert dropped.names == ("one", "two")
    assert len(dropped.codes) == 392
