"""Dataframes: whose rows belong to which labels, lazy frames, and types that only one library has."""

from datetime import datetime

import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pytest
from naive import naive_counts

from analogical import InputError, MissingDependencyError, relevance
from analogical._types import Note
from analogical.columns.columns import MISSING
from analogical.columns.encode import encode_table
from analogical.columns.frames import as_series, build_frame, encode_series, is_frame, open_frame
from analogical.columns.rules import Rules

LETTERS = [*"abcabc"]
LABELS = [0, 1, 1, 0, 0, 1]
INDEX = [*"uvwxyz"]


def labels_of(X, y, **options):
    table = encode_table(X, y, Rules(**options))
    return [table.classes[code] for code in table.labels], table.notes


# ---------------------------------------------------------------- labels, weights and groups with an index


@pytest.mark.parametrize("as_frame", [False, True])
def test_a_series_in_another_order_is_aligned(as_frame):
    frame = pd.DataFrame({"a": LETTERS}, index=INDEX)
    y = pd.Series(LABELS, index=INDEX, name="label").loc[[*"zuvwxy"]]  # not its own inverse, as turning round would be
    found, notes = labels_of(frame, y.to_frame() if as_frame else y)
    assert found == LABELS
    assert notes == (Note("aligned", ("label",)),)


def test_weights_and_groups_are_aligned_too():
    frame = pd.DataFrame({"a": LETTERS}, index=INDEX)
    weights = pd.Series([1, 2, 3, 4, 5, 6], index=INDEX)[::-1]
    table = encode_table(frame, LABELS, Rules(weights=weights, groups=pd.Series([*"ppqqrr"], index=INDEX)[::-1]))
    assert table.weights.tolist() == [1, 2, 3, 4, 5, 6]
    assert (
        table.groups.tolist() == [0, 0, 1, 1, 2, 2] or len(set(zip(table.groups.tolist(), "ppqqrr", strict=True))) == 3
    )
    assert table.notes == (Note("aligned", ("weights",)), Note("aligned", ("groups",)))


@pytest.mark.parametrize(
    ("ours", "theirs", "notes"),
    [
        (INDEX, INDEX, ()),
        (INDEX, range(6), (Note("index-differs", ("label",)),)),
        ([1, 1, 2, 2, 3, 3], [1, 1, 2, 2, 3, 3], ()),
        ([1, 1, 2, 2, 3, 3], [3, 3, 2, 2, 1, 1], (Note("index-differs", ("label",)),)),
        (range(6), range(6), ()),
        (range(6), [*range(1, 7)], (Note("index-differs", ("label",)),)),
    ],
)
def test_otherwise_rows_are_matched_by_position(ours, theirs, notes):
    frame = pd.DataFrame({"a": LETTERS}, index=ours)
    assert labels_of(frame, pd.Series(LABELS, index=theirs)) == (LABELS, notes)


def test_only_pandas_has_an_index_to_go_by():
    y = pd.Series(LABELS, index=INDEX)[::-1]
    for X in (pl.DataFrame({"a": LETTERS}), [(letter,) for letter in LETTERS], pa.table({"a": LETTERS})):
        assert labels_of(X, y) == (LABELS[::-1], ())
    assert labels_of(pd.DataFrame({"a": LETTERS}, index=INDEX), y.to_numpy()) == (LABELS[::-1], ())


@pytest.mark.parametrize("y", [pl.DataFrame({"k": LABELS}), pl.LazyFrame({"k": LABELS}), pa.table({"k": LABELS})])
def test_a_frame_of_one_column_is_a_label(y):
    table = encode_table([(letter,) for letter in LETTERS], y)
    assert (table.label, table.labels.tolist()) == ("k", LABELS)


# ---------------------------------------------------------------- frames


def test_a_lazy_frame_that_cannot_be_collected():
    with pytest.raises(InputError, match=r"X is a lazy frame that cannot be collected: (unable to find column|b)"):
        open_frame(pl.LazyFrame({"a": LETTERS}).select("b"))


def test_what_is_a_frame():
    assert is_frame(pd.DataFrame({"a": [1]}))
    assert is_frame(pl.LazyFrame({"a": [1]}))
    assert not is_frame(np.zeros((2, 2)))
    assert not is_frame([(1,)])
    assert open_frame([(1,)]) is None


@pytest.mark.parametrize("dtype", [pl.Int128] + ([pl.UInt128] if hasattr(pl, "UInt128") else []))
def test_whole_numbers_of_128_bits(dtype):
    numbers = [2**100, 1, 2**100, 5, 1, 0]
    frame = pl.DataFrame({"a": pl.Series(numbers, dtype=dtype), "b": [1, 2, 1, 2, 1, 1]})
    result = relevance(frame, LABELS, given="all")
    assert result.pairs.tolist() == naive_counts([*zip(numbers, frame["b"], strict=True)], LABELS)["pairs"]
    many = pl.DataFrame({"a": pl.Series([2**100 + k * 3 for k in range(40)], dtype=dtype), "b": ["u", "v"] * 20})
    assert relevance(many, [0, 0, 1, 1] * 10).feature_columns[0].edges == tuple(2**100 + k * 3 for k in (8, 16, 24, 32))


def test_zeros_with_a_sign_are_zeros():
    for frame in (pd.DataFrame, pl.DataFrame, pa.table):
        assert [c.n_values for c in relevance(frame({"a": [0.0, -0.0, 0.5] * 2}), LABELS).feature_columns] == [2]


def test_nanoseconds_are_told_apart():
    cells = pa.array([1, 2, 1, 3, 2, 1], pa.timestamp("ns"))
    assert [c.n_values for c in relevance(pa.table({"a": cells}), LABELS).feature_columns] == [3]
    assert [
        c.n_values for c in relevance(np.array([1, 2, 1, 3, 2, 1], "M8[ns]").reshape(-1, 1), LABELS).feature_columns
    ] == [3]
    times = np.array([datetime(2020, 1, 1)] * 3 + [datetime(2021, 1, 1)] * 3, "M8[ns]").reshape(-1, 1)
    assert encode_table(times, LABELS).columns[0].values == [datetime(2020, 1, 1), datetime(2021, 1, 1)]


@pytest.mark.parametrize(
    ("series", "kind"),
    [
        (pl.Series([1, 2]), "whole"),
        (pl.Series([1, None]), "whole"),
        (pl.Series([1.0]), "real"),
        (pl.Series(["a"]), "category"),
        (pl.Series([True]), "category"),
        (pl.Series([datetime(2020, 1, 1)]), "time"),
        (pd.Series([1.0, None]), "real"),
        (pd.Series([1, None], dtype="Int64"), "whole"),
        (pd.Series([1, "a"], dtype=object), "category"),
        (pd.Series([1, 2], dtype=object), "whole"),
        (pd.Series([1, 2]).astype("category"), "category"),
        (pa.chunked_array([[1, 2]]), "whole"),
        (pa.chunked_array([pa.array([1, 2]).dictionary_encode()]), "category"),
    ],
)
def test_kinds_of_columns(series, kind):
    assert encode_series(as_series(series), "feature 'x'").kind == kind


def test_an_empty_dictionary_has_no_values():
    column = encode_series(as_series(pa.chunked_array([pa.array([None, None], pa.string())])), "feature 'x'")
    assert (column.codes.tolist(), list(column.values)) == ([MISSING, MISSING], [])


def test_names_of_rows():
    frame = open_frame(pd.DataFrame({"a": LETTERS}, index=INDEX))
    assert frame.row_names([0, 5]) == ["u", "z"]
    assert open_frame(pl.DataFrame({"a": LETTERS})).row_names([0, 5]) == [0, 5]


def test_frames_are_built_in_the_library_that_is_asked_for():
    assert isinstance(build_frame({"a": [1]}, "polars"), pl.DataFrame)
    with pytest.raises(InputError, match="backend must be one of pandas, polars, pyarrow, modin, cudf, got 'excel'"):
        build_frame({"a": [1]}, "excel")
    with pytest.raises(MissingDependencyError, match="modin was asked for, which is not installed"):
        build_frame({"a": [1]}, "modin")


def test_words_of_polars_are_in_the_order_of_their_rows_whatever_else_is_held():
    held = pl.Series(["c", "b", "a"], dtype=pl.Categorical)
    column = encode_series(as_series(pl.Series(["a", None, "c", "b", "a"])), "feature")
    assert (column.values, column.codes.tolist(), len(held)) == (["a", "c", "b"], [0, -1, 1, 2, 0], 3)
