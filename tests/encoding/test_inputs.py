"""Every kind of table gives the same result, and bad ones one clear sentence."""

import datetime
from decimal import Decimal

import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pytest
from naive import naive_counts
from scipy import sparse

from analogical import InputError, relevance

NAMES = ["colour", "size", "striped"]
ROWS = [
    ("red", 1, True),
    ("red", 2, True),
    ("red", 2, False),
    ("blue", 1, True),
    ("blue", 3, False),
    ("red", 1, True),
    ("green", 2, False),
    ("blue", 1, False),
]
LABELS = ["yes", "no", "no", "no", "yes", "yes", "no", "no"]
COLUMNS = {name: [row[i] for row in ROWS] for i, name in enumerate(NAMES)}


def pandas_frame(**dtypes):
    return pd.DataFrame(COLUMNS).astype(dtypes)


TABLES = {
    "list of tuples": ROWS,
    "list of lists": [list(row) for row in ROWS],
    "tuple of arrays": tuple(np.array(row, dtype=object) for row in ROWS),
    "numpy object": np.array(ROWS, dtype=object),
    "numpy string": np.array([[str(v) for v in row] for row in ROWS]),
    "numpy bytes": np.array([[str(v) for v in row] for row in ROWS], dtype="S"),
    "pandas plain": pandas_frame(),
    "pandas object": pandas_frame(colour=object, size=object, striped=object),
    "pandas category": pandas_frame(colour="category", size="category", striped="category"),
    "pandas nullable": pandas_frame(colour="string", size="Int64", striped="boolean"),
    "pandas arrow": pandas_frame(colour="string[pyarrow]", size="int64[pyarrow]", striped="bool[pyarrow]"),
    "pandas mixed": pandas_frame(colour="category", size=float),
    "polars plain": pl.DataFrame(COLUMNS),
    "polars categorical": pl.DataFrame(COLUMNS).cast({"colour": pl.Categorical}),
    "polars enum": pl.DataFrame(COLUMNS).cast({"colour": pl.Enum(["unused", "green", "red", "blue"])}),
    "polars float": pl.DataFrame(COLUMNS).cast({"size": pl.Float64}),
    "polars decimal": pl.DataFrame(COLUMNS).cast({"size": pl.Decimal(10, 2)}),
    "pyarrow plain": pa.table(COLUMNS),
    "pyarrow chunks": pa.concat_tables([pa.table(COLUMNS).slice(0, 3), pa.table(COLUMNS).slice(3)]),
    "pyarrow float": pa.table(COLUMNS | {"size": [float(v) for v in COLUMNS["size"]]}),
    "pyarrow dictionary": pa.table(
        {name: pa.chunked_array([pa.array(v[:5]), pa.array(v[5:])]).dictionary_encode() for name, v in COLUMNS.items()}
    ),
}


@pytest.mark.parametrize("kind", TABLES)
def test_every_kind_of_table_gives_the_same_counts(kind):
    result = relevance(TABLES[kind], LABELS)
    expected = naive_counts(ROWS, LABELS)
    assert result.pairs.tolist() == expected["pairs"]
    assert result.changed.tolist() == expected["changed"]
    assert result.n_values.tolist() == expected["n_values"]
    is_frame = hasattr(TABLES[kind], "columns")
    assert result.names == (tuple(NAMES) if is_frame else ("x0", "x1", "x2"))


@pytest.mark.parametrize(
    "label",
    [
        np.array([1, 1, 0, 0, 2, 2, 1, 0]),
        np.array([True, True, False, False, True, True, False, False]),
        np.array([1.5, 1.5, 0, 0, 2, 2, 1.5, 0]),
        [("a", 1), ("a", 1), ("b", 2), ("b", 2), "x", "x", ("a", 1), ("b", 2)],
        [datetime.date(2020, 1, d) for d in (1, 1, 2, 2, 3, 3, 1, 2)],
        [Decimal(d) for d in (1, 1, 2, 2, 3, 3, 1, 2)],
        pd.Series(list("aabbccab"), dtype="category", name="kind", index=range(10, 18)),
        pd.Series(pd.to_datetime([f"2020-01-0{d}" for d in (1, 1, 2, 2, 3, 3, 1, 2)])),
        pl.Series("kind", list("aabbccab")),
        pa.chunked_array([list("aabbccab")]),
        np.array([f"2020-01-0{d}" for d in (1, 1, 2, 2, 3, 3, 1, 2)], dtype="datetime64[D]"),
        tuple("aabbccab"),
    ],
    ids=lambda label: f"{type(label).__module__}-{type(label).__name__}",
)
def test_labels_of_any_hashable_kind(label):
    values = label.to_pylist() if isinstance(label, pa.ChunkedArray) else getattr(label, "tolist", lambda: label)()
    result = relevance(ROWS, label)
    assert result.changed.tolist() == naive_counts(ROWS, list(values))["changed"]
    assert set(result.classes) == set(values)
    assert len(result.classes) == len(set(values))
    assert result.label == (getattr(label, "name", None) or "y")


@pytest.mark.parametrize("library", ["pandas", "polars", "pyarrow"])
def test_label_and_weights_may_name_columns(library):
    columns = COLUMNS | {"class": LABELS, "count": [1, 2, 0, 4, 5, 6, 7, 8]}
    table = {"pandas": pd.DataFrame, "polars": pl.DataFrame, "pyarrow": pa.table}[library](columns)
    result = relevance(table, "class", weights="count")
    assert result.pairs.tolist() == naive_counts(ROWS, LABELS, columns["count"])["pairs"]
    assert (result.names, result.label, result.n_rows) == (tuple(NAMES), "class", 33)
    assert result.settings.weighted


def test_classes_come_in_the_same_order_from_every_kind_of_table():
    for label in (LABELS, np.array(LABELS), pd.Series(LABELS), pl.Series(LABELS), pa.chunked_array([LABELS])):
        assert relevance(ROWS, label).classes == ("no", "yes")
    assert relevance(ROWS, ["b", 1, "b", 1, "b", 1, "b", ("c",)]).classes == ("b", 1, ("c",))  # by appearance
    assert relevance(ROWS, pd.Categorical(LABELS, categories=["yes", "maybe", "no"])).classes == ("no", "yes")


def test_integer_and_text_column_names_become_text():
    result = relevance(pd.DataFrame(ROWS), LABELS)
    assert result.names == ("0", "1", "2")


@pytest.mark.parametrize("dtype", [np.int8, np.uint8, np.int16, np.uint16, np.int32, np.uint32, np.int64, np.uint64])
def test_integers_of_every_width_and_sign(dtype):
    low, high = int(np.iinfo(dtype).min), int(np.iinfo(dtype).max)
    rows = np.array([[low, 0], [high, 0], [low, 1], [high, 1], [low, 1]], dtype=dtype)
    labels = [0, 1, 0, 0, 0]
    assert relevance(rows, labels).changed.tolist() == naive_counts(rows.tolist(), labels)["changed"]


def test_values_that_python_calls_equal_are_equal():
    rows = [(1, "a"), (True, "b"), (1.0, "c"), ("1", "a")]
    assert relevance(rows, [0, 1, 0, 1]).n_values.tolist() == [2, 3]


def test_arrays_of_booleans():
    rows = np.array([[a, b, c] for a in (False, True) for b in (False, True) for c in (False, True)])
    assert relevance(rows, rows[:, 0] ^ rows[:, 2]).ari.tolist() == [1, 0, 1]
    assert relevance(rows, rows[:, 1]).classes == (False, True)


def test_strided_and_fortran_arrays():
    rows = np.random.default_rng(0).integers(0, 2, (40, 8)).astype(np.uint8)
    labels = rows[:, 0] ^ rows[:, 3]
    expected = relevance(rows[:, ::2].copy(), labels).pairs.tolist()
    assert relevance(rows[:, ::2], labels).pairs.tolist() == expected
    assert relevance(np.asfortranarray(rows[:, ::2]), labels).pairs.tolist() == expected


BAD_TABLES = {
    "empty list": ([], [], r"table is empty \(0 rows\)"),
    "empty array": (np.empty((0, 3)), [], r"table is empty \(0 rows\)"),
    "empty frame": (pd.DataFrame({"a": []}), [], r"table is empty \(0 rows\)"),
    "no features": (np.empty((3, 0)), [0, 1, 0], "no features; give at least one column"),
    "empty rows": ([(), ()], [0, 1], "no features"),
    "only the label": (pd.DataFrame({"y": [0, 1]}), "y", "no features"),
    "lengths": (ROWS, LABELS[:-1], r"The label 'y' has 7 values and X has 8 rows; give one value per row"),
    "one class": (ROWS, ["no"] * 8, r"The label 'y' has one class only \('no', 8 rows\).*filter applied before"),
    "no label": (ROWS, None, r"label y is missing \(None\); give one label per row"),
    "missing label": (ROWS, [None, *LABELS[1:]], r"'y' is missing \(NaN or None\) in 1 of 8 rows, first in row 0"),
    "NaN label": (ROWS, np.array([np.nan, 0, 1, 0, 1, 0, 1, 0]), "is missing"),
    "unknown label": (pd.DataFrame(COLUMNS), "colours", "no column 'colours' to take as label; did you mean 'colour'"),
    "far label": (pd.DataFrame(COLUMNS), "zzz", "no column 'zzz' to take as label; it has 'colour', 'size', 'strip"),
    "named label": (ROWS, "colour", "label 'colour' names a column, but X is not a dataframe; give the values"),
    "duplicate names": (
        pd.DataFrame(ROWS, columns=["a", "b", "a"]),
        LABELS,
        "Column names must differ, but 'a' occurs more than once; rename or drop",
    ),
    "sparse": (sparse.csr_matrix(np.eye(8)), LABELS, r"sparse matrix.*dense table: give X.toarray\(\)"),
    "sparse array": (sparse.coo_array(np.eye(8)), LABELS, "sparse matrix"),
    "1-d": (np.arange(8), LABELS, r"two dimensions \(rows, features\), got 1: reshape it with X.reshape\(-1, 1\)"),
    "3-d": (np.zeros((8, 2, 2)), LABELS, "two dimensions .*, got 3: flatten each row"),
    "1-d list": ([1, 2, 3], [0, 1, 0], r"list of rows, each a list of values; row 0 is 1 \(int\)"),
    "list of text": (["abc", "abd"], [0, 1], r"row 0 is 'abc' \(str\)"),
    "series": (pd.Series([1, 2]), [0, 1], "two dimensions .*, got 1"),
    "ragged": ([(1, 2), (1,)], [0, 1], "ragged rows: row 0 has 2 values and row 1 has 1"),
    "None": ([(None, 1), ("a", 2), (None, 3)], [0, 1, 0], r"Missing .* in 'x0' \(2 of 3 rows, first in row 0\); every"),
    "NaN": (np.array([[1, np.nan], [2, 0]]), [0, 1], r"Missing values \(NaN or None\) in 'x1' \(1 of 2 rows, first"),
    "NA": (pd.DataFrame({"a": pd.array([1, None, 2], dtype="Int64"), "b": 1}), [0, 1, 0], "in 'a'"),
    "NA object": (pd.DataFrame({"a": np.array([1, pd.NA, 2], dtype=object)}), [0, 1, 0], "in 'a'"),
    "NA in array": (np.array([[1], [pd.NA], [2]], dtype=object), [0, 1, 0], "in 'x0'"),
    "NaT": (np.array([["2020"], ["NaT"]], dtype="datetime64[Y]"), [0, 1], "in 'x0'"),
    "category gap": (pd.DataFrame({"a": pd.Categorical(["u", None, "v"])}), [0, 1, 0], "in 'a'"),
    "polars null": (pl.DataFrame({"a": ["u", None, "v"], "b": [1, None, 2]}), [0, 1, 0], "in 'a' .*, 'b' "),
    "polars NaN": (pl.DataFrame({"a": [1.0, float("nan")]}), [0, 1], "in 'a'"),
    "arrow null": (pa.table({"a": ["u", None, "v"], "b": [float("nan"), 1, 2]}), [0, 1, 0], "in 'a' .*, 'b' "),
    "many gaps": (np.full((2, 12), np.nan), [0, 1], "'x7' .* and 4 more"),
    "unhashable": ([([1], 2), ([2], 2)], [0, 1], r"feature 'x0' holds .* row 0 is \[1\] \(list\); give strings"),
    "unhashable object": (pd.DataFrame({"a": [[1], [2]]}), [0, 1], "feature 'a' holds a value that cannot be compared"),
    "unhashable polars": (pl.DataFrame({"a": [[1], [2]]}), [0, 1], "feature 'a' holds a value that cannot be compared"),
    "unhashable label": ([(1, 2), (2, 2)], [{}, {}], r"label 'y' holds .* row 0 is \{\} \(dict\)"),
    "infinite": (
        np.array([[np.inf], [1.0]]),
        [0, 1],
        "feature 'x0' is infinite in row 0; an infinity is not a category",
    ),
    "infinite frame": (pl.DataFrame({"a": [1.0, float("-inf")]}), [0, 1], "feature 'a' is infinite in row 1"),
    "constant": (np.zeros((4, 3)), [0, 1, 0, 1], "All 3 features have one value only in these 4 rows, so no two"),
    "complex": (np.array([[1j], [2]]), [0, 1], "dtype complex128, which has no categories"),
    "no table": (42, [0, 1], r"X must be a table \(dataframe, 2-d array or list of rows\), got int"),
    "dict": ({"a": [1, 2]}, [0, 1], "got dict"),
    "lazy": (pl.LazyFrame({"a": [1, 2]}), [0, 1], r"lazy frame; call .collect\(\)"),
    "2-d label": (ROWS, np.zeros((8, 1)), r"label 'y' must have one dimension, got an array of shape \(8, 1\)"),
    "label scalar": (ROWS, 5, "must be one value per row, got int"),
}


@pytest.mark.parametrize("case", BAD_TABLES)
def test_bad_tables_get_one_clear_sentence(case):
    X, y, message = BAD_TABLES[case]
    with pytest.raises(InputError, match=message) as error:
        relevance(X, y)
    assert "\n" not in str(error.value)
    assert str(error.value).endswith((".", "?"))


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"weights": [1] * 7}, "weights has 7 values and X has 8 rows"),
        ({"weights": [0.5] * 8}, r"whole numbers from 0 .* got 0.5 in row 0; use counts, not shares"),
        ({"weights": [1] * 7 + [-1]}, "got -1 in row 7"),
        ({"weights": [1] * 7 + [float("nan")]}, "got nan in row 7"),
        ({"weights": ["a"] * 8}, "whole numbers from 0 .* got 'a' in row 0"),
        ({"weights": [0] * 8}, "at least one above 0; all 8 weights are zero"),
        ({"weights": "count"}, "weights 'count' names a column, but X is not a dataframe"),
        ({"weights": [1, 0, 0, 0, 0, 1, 0, 0]}, r"one class only \('yes', 2 rows\)"),
        (
            {"weights": [2**31] * 8},
            "stands for 17,179,869,184 rows; pairs are counted exactly in 64 bits up to 2,147,483,648",
        ),
        ({"radius": 0}, r"radius must be a whole number from 1 to 3 \(the table has 3 features\) or .auto., got 0"),
        ({"radius": 4}, "got 4"),
        ({"radius": 1.5}, "got 1.5"),
        ({"radius": "far"}, "got 'far'"),
        ({"attribution": "all"}, 'attribution must be "noisy-or" or "share", got \'all\''),
        ({"n_jobs": 0}, r"n_jobs must be a whole number other than 0 \(-1: one per processor\) or None, got 0"),
        ({"n_jobs": "all"}, "got 'all'"),
        ({"duplicates": "never"}, 'duplicates must be "count" or "once", got \'never\''),
        ({"feature_names": ["a"]}, r"one name for each of the 3 features, got \['a'\]"),
        ({"feature_names": "abc"}, "one name for each of the 3 features, got 'abc'"),
        ({"feature_names": ["a", "b", "a"]}, "'a' occurs more than once"),
    ],
)
def test_bad_options_get_one_clear_sentence(options, message):
    with pytest.raises(InputError, match=message):
        relevance(ROWS, LABELS, **options)


def test_a_value_of_weight_zero_does_not_occur():
    result = relevance([("a", 0), ("b", 0), ("c", 1), ("a", 1)], [0, 1, 0, 1], weights=[1, 1, 0, 2])
    assert result.n_values.tolist() == [2, 2]
    assert result.n_distinct == 3


def test_unused_categories_do_not_occur():
    table = pd.DataFrame({"a": pd.Categorical(["u", "u"], categories=["t", "u", "v"]), "b": [1, 2]})
    assert relevance(table, [0, 1]).paper_status == ("constant", "relevant")
