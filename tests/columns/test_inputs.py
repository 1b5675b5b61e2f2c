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

from analogical import AnalogicalSelector, InputError, relevance

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
    assert [c.n_values for c in result.feature_columns] == expected["n_values"]
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
    assert [c.n_values for c in relevance(rows, [0, 1, 0, 1]).feature_columns] == [2, 3]


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
    "lengths": (ROWS, LABELS[:-1], "The label has 7 values and X has 8 rows; give one value per row"),
    "one class": (ROWS, ["no"] * 8, r"The label 'y' has one class only \('no', 8 rows\).*filter applied before"),
    "no label": (ROWS, None, r"label y is missing \(None\); give one label per row"),
    "missing label": (ROWS, [None] * 8, "label 'y' is missing in all 8 rows; choose another column as the label"),
    "NaN label": (ROWS, np.full(8, np.nan), "label 'y' is missing in all 8 rows"),
    "one class and gaps": (ROWS, [None, *["no"] * 7], r"one class only \('no', 7 rows\)"),
    "unknown label": (pd.DataFrame(COLUMNS), "colours", "no column 'colours' to take as label; did you mean 'colour'"),
    "far label": (pd.DataFrame(COLUMNS), "zzz", "no column 'zzz' to take as label; it has 'colour', 'size', 'strip"),
    "named label": (ROWS, "colour", "label 'colour' names a column, but X is not a dataframe; give the values"),
    "duplicate names": (
        pd.DataFrame(ROWS, columns=["a", "b", "a"]),
        LABELS,
        "Column names must differ, but 'a' occurs more than once; rename or drop",
    ),
    "sparse 1-d": (sparse.coo_array(np.arange(8)), LABELS, "two dimensions .*, got 1"),
    "sparse complex": (sparse.csr_array(np.eye(8) * 1j), LABELS, "feature 'x0' has dtype complex128"),
    "structured": (np.zeros(8, dtype=[("a", int)]), LABELS, r"structured array; give a dataframe, such as pandas"),
    "pyarrow names": (
        pa.Table.from_arrays([pa.array(range(8)), pa.array(range(8))], names=["a", "a"]),
        LABELS,
        "Column names must differ, but 'a' occurs more than once",
    ),
    "polars binary": (pl.DataFrame({"a": [b"u", b"v"]}), [0, 1], "feature 'a' has the type Binary, which is not one"),
    "polars struct": (pl.DataFrame({"a": [{"b": 1}, {"b": 2}]}), [0, 1], "feature 'a' has the type Struct"),
    "pyarrow list": (pa.table({"a": [[1], [2]]}), [0, 1], "feature 'a' has the type List"),
    "pyarrow binary": (pa.table({"a": pa.array([b"u", b"v"], pa.large_binary())}), [0, 1], "which is not one value"),
    "broken lazy frame": (
        pl.LazyFrame({"a": [1]}).select("b"),
        [0],
        "Polars could not finish looking at the columns: (unable|b)",
    ),
    "1-d": (np.arange(8), LABELS, r"two dimensions \(rows, features\), got 1: reshape it with X.reshape\(-1, 1\)"),
    "3-d": (np.zeros((8, 2, 2)), LABELS, "two dimensions .*, got 3: flatten each row"),
    "1-d list": ([1, 2, 3], [0, 1, 0], r"list of rows, each a list of values; row 0 is 1 \(int\)"),
    "list of text": (["abc", "abd"], [0, 1], r"row 0 is 'abc' \(str\)"),
    "series": (pd.Series([1, 2]), [0, 1], "X is a series, of one dimension; give a dataframe"),
    "ragged": ([(1, 2), (1,)], [0, 1], "ragged rows: row 0 has 2 values and row 1 has 1"),
    "unhashable": ([([1], 2), ([2], 2)], [0, 1], r"feature 'x0' holds .* row 0 is \[1\] \(list\); give strings"),
    "unhashable object": (pd.DataFrame({"a": [[1], [2]]}), [0, 1], "feature 'a' holds a value that cannot be compared"),
    "polars list": (pl.DataFrame({"a": [[1], [2]]}), [0, 1], r"feature 'a' has the type List\(Int64\), which is not"),
    "unhashable label": ([(1, 2), (2, 2)], [{}, {}], r"label 'y' holds .* row 0 is \{\} \(dict\)"),
    "constant": (np.zeros((4, 3)), [0, 1, 0, 1], "All 3 features have one value only in these 4 rows, so no two"),
    "complex": (np.array([[1j], [2]]), [0, 1], "dtype complex128, which has no categories"),
    "no table": (42, [0, 1], r"X must be a table \(dataframe, 2-d array or list of rows\), got int"),
    "dict": ({"a": [1, 2]}, [0, 1], "got dict"),
    "2-d label": (ROWS, np.zeros((8, 2)), r"label must have one dimension, got an array of shape \(8, 2\)"),
    "label frame": (ROWS, pd.DataFrame({"a": LABELS, "b": LABELS}), "dataframe of 2 columns .* give one of its col"),
    "label mapping": (ROWS, {0: 1}, "label must be one value per row, got dict; give a list or a series"),
    "label set": (ROWS, {0, 1}, "label must be one value per row, got set"),
    "label complex": (ROWS, 3j, "label must be one value per row, got complex"),
    "label date": (ROWS, datetime.date(2020, 1, 1), "label must be one value per row, got date"),
    "numbers of the rows": (
        ROWS * 3,
        range(24),
        "label 'y' holds whole numbers that identify the rows .*scale='number'",
    ),
    "one number": (ROWS, [1.5] * 8, "label 'y' has one class only"),
    "infinite numbers": (ROWS * 3, [float("inf"), *np.arange(23) / 7], "label 'y' has an infinite value"),
    "numbers as text": (
        ROWS * 3,
        [*(f"{k / 7:.3f}" for k in range(23)), "unknown"],
        "label 'y' holds numbers as text, but for 'unknown' and the like; convert it to numbers first",
    ),
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
        ({"weights": [1] * 7 + [float("nan")]}, "got a missing value in row 7"),
        ({"weights": ["a"] * 8}, "whole numbers from 0 .* got 'a' in row 0"),
        ({"weights": [0] * 8}, "at least one above 0; all 8 weights are zero"),
        ({"weights": {0: 1}}, "weights must be one value per row, got dict"),
        ({"weights": {1, 2}}, "weights must be one value per row, got set"),
        ({"weights": 2j}, "weights must be one value per row, got complex"),
        ({"groups": datetime.date(2020, 1, 1)}, "groups must be one value per row, got date"),
        ({"missing": "keep"}, 'missing must be "value", "drop" or "error", got .keep.'),
        ({"ids": None}, 'ids must be "drop" or "keep", got None'),
        ({"max_values": 0}, "max_values must be a whole number from 1, or None for no limit, got 0"),
        ({"classes": 1}, "classes must be a whole number from 2 to 1000, or None, got 1"),
        ({"classes": 2}, "label 'y' holds 'yes' and is not a number; leave out classes"),
        ({"scale": "log10"}, 'scale must be "auto", "classes", "number", "ranks" or "log", got .log10.'),
        ({"scale": "ranks"}, "label 'y' holds 'yes' and is not a number; leave out scale='ranks'"),
        ({"scale": "log", "classes": 2}, "classes and scale='log' cannot be used together"),
        ({"ordered": "yes,no"}, "ordered must be a list of the classes in increasing order, got 'yes,no'"),
        ({"ordered": ["no"]}, "ordered leaves out 'yes', which the label 'y' holds; name all of its classes"),
        ({"weights": "count"}, "weights 'count' names a column, but X is not a dataframe"),
        ({"weights": [1, 0, 0, 0, 0, 1, 0, 0]}, r"one class only \('yes', 2 rows\)"),
        (
            {"weights": [2**31] * 8},
            "stands for 17,179,869,184 rows; pairs are counted exactly in 64 bits up to 2,147,483,648",
        ),
        ({"given": "far"}, 'given must be "auto" or "all", got \'far\''),
        ({"given": 2}, 'given must be "auto", "all" or a list of features, got 2'),
        ({"given": ["far"]}, "no column 'far'"),
        ({"confidence": None}, "confidence must be a number between 0 and 1, such as 0.95, got None"),
        ({"n_jobs": 0}, r"n_jobs must be a whole number other than 0 \(-1: one per processor\) or None, got 0"),
        ({"n_jobs": "all"}, "got 'all'"),
        ({"duplicates": "never"}, 'duplicates must be "count" or "once", got \'never\''),
        ({"feature_names": ["a"]}, "one name for each of the 3 features, got a"),
        ({"feature_names": "abc"}, "one name for each of the 3 features, got 'abc'"),
        ({"feature_names": ["a", "b", "a"]}, "'a' occurs more than once"),
    ],
)
def test_bad_options_get_one_clear_sentence(options, message):
    with pytest.raises(InputError, match=message):
        relevance(ROWS, LABELS, **options)


def test_a_value_of_weight_zero_does_not_occur():
    result = relevance([("a", 0), ("b", 0), ("c", 1), ("a", 1)], [0, 1, 0, 1], weights=[1, 1, 0, 2])
    assert [c.n_values for c in result.feature_columns] == [2, 2]
    assert result.n_rows == 4


def test_unused_categories_do_not_occur():
    table = pd.DataFrame({"a": pd.Categorical(["u", "u"], categories=["t", "u", "v"]), "b": [1, 2]})
    assert relevance(table, [0, 1]).paper_status == ("constant", "relevant")


def test_entries_of_a_sparse_table_that_are_stored_twice_are_added():
    stored = sparse.csc_matrix(([1, 1, 2, 0], [0, 0, 1, 2], [0, 4]), shape=(4, 1))
    before = stored.nnz
    result = relevance(stored, [0, 1, 1, 0])
    assert [c.n_values for c in result.feature_columns] == [2]
    assert result.pairs.tolist() == naive_counts([(2,), (2,), (0,), (0,)], [0, 1, 1, 0])["pairs"]
    assert stored.nnz == before  # the user's own is left as it was


def test_a_label_with_another_value_in_every_row_is_refused():
    frame = pl.DataFrame({"a": [k % 3 for k in range(60)], "name": [f"row {k}" for k in range(60)]})
    with pytest.raises(InputError, match=r"label 'name' has a different value in nearly every row \(60 values\)"):
        relevance(frame, "name")
    assert relevance(frame, "name", max_values=None).names == ("a",)


def test_one_class_left_says_where_the_others_went():
    labels = ["yes", None] * 30
    frame = pl.DataFrame({"a": [k % 3 for k in range(60)], "b": [None if k % 2 else 1 for k in range(60)]})
    with pytest.raises(InputError, match=r"one class only \('yes', 30 rows\).* 30 rows without a label were left out"):
        relevance(frame, labels)
    with pytest.raises(
        InputError, match=r"the 30 rows that were left out have the other labels. Look at missing cells"
    ):
        relevance(frame, ["yes", "no"] * 30, missing="drop")
    with pytest.raises(InputError, match=r"Look at the filter applied before"):
        relevance(frame, ["yes"] * 60)


@pytest.mark.filterwarnings("ignore:A column-vector y was passed")
@pytest.mark.parametrize("X", [np.arange(120).reshape(60, 2) % 5, pd.DataFrame({"a": [k % 5 for k in range(60)]})])
def test_a_label_may_be_a_frame_of_one_column(X):
    labels = [k % 2 for k in range(60)]
    expected = relevance(X, labels).p_value
    for y in (pd.DataFrame({"y": labels}), pl.DataFrame({"y": labels}), np.array(labels)[:, None]):
        assert relevance(X, y).p_value == pytest.approx(expected, nan_ok=True)
        assert AnalogicalSelector(k=1).fit(X, y).get_support().sum() == 1


def test_repeated_names_are_refused_by_the_selector():
    frame = pd.DataFrame([[0, 1, 2], [1, 0, 1]] * 30, columns=["a", "a", "b"])
    with pytest.raises(InputError, match="Column names must differ, but 'a' occurs more than once"):
        AnalogicalSelector().fit(frame, [0, 1] * 30)
