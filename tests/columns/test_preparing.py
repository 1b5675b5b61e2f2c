"""Missing cells of every kind in every library: a value of their own, rows left out, or an error."""

from datetime import date, datetime, time, timedelta
from decimal import Decimal

import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pytest
from naive import naive_counts
from scipy import sparse

from analogical import AnalogicalSelector, InputError, audit, evidence, redundancies, relevance
from analogical._types import Note

CODES = [0, None, 1, 0, None, 2, 1, None]
OTHER = [*"ababbaab"]
LABELS = [*"nynyynny"]
ROWS = list(zip(CODES, OTHER, strict=True))


def cells(*values):
    """The codes as three values of some kind."""
    return [None if code is None else values[code] for code in CODES]


NUMBERS = cells(1, 2, 3)
FLOATS = [np.nan if cell is None else float(cell) for cell in NUMBERS]
DAYS = [date(2020, 1, 1), date(2020, 1, 2), date(2020, 3, 1)]
TIMES = [datetime(2020, 1, 1), datetime(2020, 1, 2), datetime(2020, 3, 1, 12)]


def in_pandas(column):
    return pd.DataFrame({"f": column, "other": OTHER}, index=[5, 3, 1, 0, 2, 4, 6, 9])


def pandas_array(values, dtype):
    return in_pandas(pd.array(values, dtype=dtype))


def in_polars(column, dtype=None):
    return pl.DataFrame({"f": pl.Series(column, dtype=dtype), "other": OTHER})


def in_arrow(column, dtype=None):
    found = column if isinstance(column, pa.Array | pa.ChunkedArray) else pa.array(column, dtype)
    return pa.table({"f": found, "other": OTHER})


def dictionary(indices, values):
    return pa.DictionaryArray.from_arrays(pa.array(indices, pa.int8()), pa.array(values))


def arrow_dtype(dtype):
    return pd.ArrowDtype(dtype)


TABLES = {
    "pandas float": in_pandas(FLOATS),
    "pandas float32": in_pandas(np.array(FLOATS, "f4")),
    "pandas object": in_pandas(np.array(cells("u", "v", "w"), dtype=object)),
    "pandas all gaps": in_pandas(np.array([0, None, 1, 0, np.nan, 2, 1, pd.NA], dtype=object)),
    "pandas NaT objects": in_pandas(np.array([0, pd.NaT, 1, 0, None, 2, 1, float("nan")], dtype=object)),
    "pandas str": in_pandas(pd.Series(cells("u", "v", "w"), dtype="str").to_numpy()),
    "pandas Int64": pandas_array(NUMBERS, "Int64"),
    "pandas UInt8": pandas_array(NUMBERS, "UInt8"),
    "pandas Float64": pandas_array(NUMBERS, "Float64"),
    "pandas string": pandas_array(cells("u", "v", "w"), "string"),
    "pandas category": in_pandas(pd.Categorical(cells("u", "v", "w"), categories=["x", "w", "u", "v"])),
    "pandas numbers as category": in_pandas(pd.Categorical(cells(1.5, 2.5, 3.5), categories=[9, 3.5, 1.5, 2.5])),
    "pandas datetime": in_pandas(pd.to_datetime(pd.Series(cells(*TIMES))).to_numpy()),
    "pandas zone": in_pandas(pd.DatetimeIndex(cells(*TIMES)).tz_localize("Europe/Berlin")),
    "pandas timedelta": in_pandas(pd.to_timedelta(FLOATS, unit="s")),
    "pandas period": in_pandas(pd.PeriodIndex(cells("2020-01", "2020-02", "2020-03"), freq="M")),
    "pandas sparse": in_pandas(pd.arrays.SparseArray(FLOATS)),
    "pandas interval": in_pandas(pd.cut(FLOATS, [0, 1, 2, 3])),
    "pandas arrow int": pandas_array(NUMBERS, "int64[pyarrow]"),
    "pandas arrow float": pandas_array(NUMBERS, "float64[pyarrow]"),
    "pandas arrow text": pandas_array(cells("u", "v", "w"), "string[pyarrow]"),
    "pandas arrow date": pandas_array(cells(*DAYS), arrow_dtype(pa.date32())),
    "pandas arrow decimal": pandas_array(cells(Decimal(1), Decimal(2), Decimal(3)), arrow_dtype(pa.decimal128(5, 2))),
    "pandas arrow dictionary": pandas_array(cells(*"uvw"), arrow_dtype(pa.dictionary(pa.int8(), pa.string()))),
    "polars int": in_polars(NUMBERS),
    "polars float": in_polars([1.0, None, 2.0, 1.0, float("nan"), 3.0, 2.0, None]),
    "polars text": in_polars(cells("u", "v", "w")),
    "polars categorical": in_polars(cells("u", "v", "w"), pl.Categorical),
    "polars enum": in_polars(cells("u", "v", "w"), pl.Enum(["x", "w", "v", "u"])),
    "polars int128": in_polars(cells(2**70, 1, -(2**70)), pl.Int128),
    "polars decimal": in_polars(cells(Decimal("1.10"), Decimal("1.20"), Decimal("3.00"))),
    "polars duration": in_polars(cells(timedelta(1), timedelta(2), timedelta(3))),
    "polars date": in_polars(cells(*DAYS)),
    "polars datetime": in_polars(cells(*TIMES)),
    "polars time": in_polars(cells(time(1), time(2), time(3))),
    "polars object": in_polars(cells((1, 2), (3,), ()), pl.Object),
    "polars lazy": in_polars(NUMBERS).lazy(),
    "arrow int": in_arrow(NUMBERS),
    "arrow float": in_arrow([1.0, None, 2.0, 1.0, float("nan"), 3.0, 2.0, None]),
    "arrow half float": in_arrow(pa.array([np.float16(c) if c else None for c in NUMBERS], pa.float16())),
    "arrow text": in_arrow(cells("u", "v", "w")),
    "arrow large text": in_arrow(cells("u", "v", "w"), pa.large_string()),
    "arrow text view": in_arrow(cells("u", "v", "w"), pa.string_view()),
    "arrow decimal128": in_arrow(cells(Decimal(1), Decimal(2), Decimal(3)), pa.decimal128(5, 2)),
    "arrow decimal256": in_arrow(cells(Decimal(1), Decimal(2), Decimal(3)), pa.decimal256(50, 2)),
    "arrow duration": in_arrow(cells(timedelta(1), timedelta(2), timedelta(3))),
    "arrow timestamp": in_arrow(cells(*TIMES)),
    "arrow nanoseconds": in_arrow(NUMBERS, pa.timestamp("ns")),
    "arrow time": in_arrow(cells(time(1), time(2), time(3))),
    "arrow dictionary": in_arrow(dictionary(CODES, ["u", "v", "w"])),
    "arrow repeated entries": in_arrow(dictionary([0, None, 1, 3, None, 2, 4, None], ["u", "v", "w", "u", "v"])),
    "arrow null entry": in_arrow(dictionary([0, 3, 1, 0, None, 2, 1, 3], ["u", "v", "w", None])),
    "arrow NaN entry": in_arrow(dictionary([0, 3, 1, 0, None, 2, 1, 3], [1.5, 2.5, 3.5, float("nan")])),
    "arrow chunks": in_arrow(
        pa.chunked_array([pa.array(NUMBERS[:3]), pa.array([], pa.int64()), pa.array(NUMBERS[3:])])
    ),
    "arrow dictionary chunks": in_arrow(
        pa.chunked_array([dictionary(CODES[:4], ["u", "v", "w"]), dictionary([None, 0, 1, None], ["w", "v"])])
    ),
    "arrow run ends": in_arrow(
        pa.RunEndEncodedArray.from_arrays(pa.array(range(1, 9), pa.int32()), pa.array(cells("u", "v", "w")))
    ),
    "numpy float": np.column_stack([FLOATS, [float(letter == "b") for letter in OTHER]]),
    "numpy object": np.array(ROWS, dtype=object),
    "numpy datetime": np.column_stack(
        [np.array(cells(*DAYS), "M8[D]"), np.array(["2020" if letter == "a" else "2021" for letter in OTHER], "M8[D]")]
    ),
    "numpy masked": np.ma.masked_array(
        [[code or 0, letter == "b"] for code, letter in ROWS], mask=[[code is None, False] for code, _ in ROWS]
    ),
    "numpy masked objects": np.ma.masked_array(
        np.array([[code or 0, letter] for code, letter in ROWS], dtype=object),
        mask=[[code is None, False] for code, _ in ROWS],
    ),
    "list": ROWS,
    "list with NaN": [(float("nan") if code is None else code, letter) for code, letter in ROWS],
    "list of series": [pd.Series({"f": code, "other": letter}, dtype=object) for code, letter in ROWS],
    "list of arrays": [np.array(row, dtype=object) for row in ROWS],
    "list of masked rows": [
        np.ma.masked_array([code or 0, int(letter == "b")], mask=[code is None, False]) for code, letter in ROWS
    ],
    "sparse csr": sparse.csr_matrix([[np.nan if c is None else c, float(letter == "b")] for c, letter in ROWS]),
    "sparse csc": sparse.csc_array([[np.nan if c is None else c + 1.0, float(letter == "b")] for c, letter in ROWS]),
    "sparse coo": sparse.coo_array([[np.nan if c is None else c, float(letter == "b")] for c, letter in ROWS]),
}
if hasattr(pa, "decimal32"):  # pyarrow 19
    TABLES["arrow decimal32"] = in_arrow(cells(Decimal(1), Decimal(2), Decimal(3)), pa.decimal32(5, 2))


@pytest.mark.parametrize("kind", TABLES)
def test_a_missing_cell_is_a_value_of_its_own(kind):
    result = relevance(TABLES[kind], LABELS, given="all")
    expected = naive_counts(ROWS, LABELS)
    assert result.pairs.tolist() == expected["pairs"]
    assert result.changed.tolist() == expected["changed"]
    assert [c.n_values for c in result.feature_columns] == expected["n_values"] == [4, 2]
    assert [c.n_missing for c in result.feature_columns] == [3, 0]
    assert Note("missing-value", result.names[:1], (3,)) in result.notes
    assert [feature["n_missing"] for feature in result.to_dict()["features"]] == [3, 0]


@pytest.mark.parametrize("kind", TABLES)
def test_rows_with_missing_cells_may_be_left_out(kind):
    result = relevance(TABLES[kind], LABELS, given="all", missing="drop")
    rows, labels = zip(*[(row, y) for row, y in zip(ROWS, LABELS, strict=True) if None not in row], strict=True)
    expected = naive_counts(rows, labels)
    assert result.pairs.tolist() == expected["pairs"]
    assert result.changed.tolist() == expected["changed"]
    assert (
        result.n_rows,
        [c.n_values for c in result.feature_columns],
        [c.n_missing for c in result.feature_columns],
    ) == (5, [3, 2], [0, 0])
    assert Note("missing-dropped", result.names[:1], (3, 8)) in result.notes


@pytest.mark.parametrize("kind", TABLES)
def test_missing_cells_may_be_an_error(kind):
    name = "f" if kind.split()[0] in ("pandas", "polars", "arrow") else "x0"
    message = rf"Missing values \(NaN or None\) in '{name}' \(3 of 8 rows, first in row 1\); count them as a separate"
    with pytest.raises(InputError, match=message):
        relevance(TABLES[kind], LABELS, missing="error")


NOTHING = {
    "pandas float": in_pandas([np.nan] * 8),
    "pandas None": in_pandas([None] * 8),
    "pandas category": in_pandas(pd.Categorical([None] * 8, categories=["u"])),
    "pandas Int64": pandas_array([None] * 8, "Int64"),
    "pandas arrow": pandas_array([None] * 8, arrow_dtype(pa.null())),
    "polars null": in_polars([None] * 8),
    "polars text": in_polars([None] * 8, pl.String),
    "polars int": in_polars([None] * 8, pl.Int32),
    "polars enum": in_polars([None] * 8, pl.Enum(["u"])),
    "arrow null": in_arrow(pa.nulls(8)),
    "arrow int": in_arrow([None] * 8, pa.int8()),
    "arrow dictionary": in_arrow(dictionary([None] * 8, ["u"])),
    "list": [(None, letter) for letter in OTHER],
    "sparse": sparse.csr_matrix([[np.nan, float(letter == "b")] for letter in OTHER]),
}


@pytest.mark.parametrize("kind", NOTHING)
def test_a_column_without_any_value_is_constant(kind):
    result = relevance(NOTHING[kind], LABELS)
    assert [c.n_values for c in result.feature_columns] == [1, 2]
    assert result.status[0] == "constant"
    assert [c.n_missing for c in result.feature_columns] == [8, 0]
    with pytest.raises(InputError, match='Every row has a missing value, so missing="drop" leaves none; leave out'):
        relevance(NOTHING[kind], LABELS, missing="drop")


def test_the_error_names_all_columns_with_gaps():
    X = np.full((4, 12), np.nan)
    X[2:] = 1
    with pytest.raises(InputError, match=r"in 'x0' \(2 of 4 rows, first in row 0\), 'x1' .* and 4 more; count them"):
        relevance(X, [0, 1, 0, 1], missing="error")


def test_rows_without_a_label_are_left_out_with_a_note():
    labels = ["n", None, "n", "y", "y", None, "n", "y"]
    rows, left = zip(*[(row, y) for row, y in zip(ROWS, labels, strict=True) if y], strict=True)
    for given in (labels, pd.Series(labels), pl.Series(labels), np.array(labels, dtype=object), pa.array(labels)):
        result = relevance(ROWS, given, given="all")
        assert result.changed.tolist() == naive_counts(rows, left)["changed"]
        assert (result.n_rows, [c.n_missing for c in result.feature_columns]) == (6, [2, 0])
        assert result.notes[0] == Note("label-missing", ("y",), (2,))
    numbers = np.ma.masked_array([0, 5, 0, 1, 1, 5, 0, 1], mask=[y is None for y in labels])
    assert relevance(ROWS, numbers).classes == (0, 1)


def test_missing_cells_are_counted_after_rows_without_label_or_weight():
    result = relevance(ROWS, [None, *LABELS[1:]], weights=[1, 0, 1, 1, 2, 1, 1, 1])
    assert [c.n_missing for c in result.feature_columns] == [2, 0]
    with pytest.raises(InputError, match="No row has both a label and a weight above 0"):
        relevance(ROWS, [None, *LABELS[1:]], weights=[1, *[0] * 7])
    with pytest.raises(InputError, match=r"one class only \('y', 5 rows\)"):
        relevance(ROWS, ["y" if code is not None else "n" for code in CODES], missing="drop")


def test_all_functions_treat_missing_cells_alike():
    frame = pd.DataFrame({"f": pd.array(NUMBERS, "Int64"), "other": OTHER})
    note = Note("missing-value", ("f",), (3,))
    assert note in audit(frame, LABELS, "f").notes
    assert note in redundancies(frame).notes
    shown = evidence(frame, LABELS, "f", given="all", limit=None)
    assert shown.n_pairs == naive_counts(ROWS, LABELS)["pairs"][0]
    assert None in {value for pair in shown.pairs for value in pair.values}
    for ask in (lambda: audit(frame, LABELS, "f", missing="error"), lambda: redundancies(frame, missing="error")):
        with pytest.raises(InputError, match="Missing values"):
            ask()
    assert audit(frame, LABELS, "f", missing="drop").n_rows == 5
    selector = AnalogicalSelector(k=1, missing="drop").fit(frame, LABELS)
    assert selector.selection_.n_rows == 5


def test_missing_cells_and_bins_together():
    values = [None if k % 7 == 0 else k / 4 for k in range(42)]
    frame = pl.DataFrame({"f": values, "g": ["u", "v", "w"] * 14})
    result = relevance(frame, [k % 2 for k in range(42)])
    assert ([c.n_values for c in result.feature_columns], [c.n_missing for c in result.feature_columns]) == (
        [6, 3],
        [6, 0],
    )
    assert [note.kind for note in result.notes] == ["missing-value", "binned"]
    assert result.notes[1].counts == (5,)


def test_groups_may_be_missing():
    groups = ["p", None, "p", "q", None, "q", "r", "r"]
    assert relevance(ROWS, LABELS, groups=groups).settings.n_groups == 5


def test_rows_that_are_left_keep_their_weights():
    weights = [1, 2, 3, 4, 5, 6, 7, 8]
    result = relevance(ROWS, LABELS, weights=weights, given="all", missing="drop")
    rows, labels, left = zip(
        *[(row, y, w) for row, y, w in zip(ROWS, LABELS, weights, strict=True) if None not in row], strict=True
    )
    assert result.pairs.tolist() == naive_counts(rows, labels, left)["pairs"]
    assert result.n_rows == sum(left)


def test_the_feature_that_is_asked_about_by_position_is_kept_whatever_is_ignored():
    from analogical import evidence

    rng = np.random.default_rng(0)
    X = np.column_stack([rng.integers(0, 2, (60, 2)), np.arange(60)])
    assert evidence(X, rng.integers(0, 2, 60), feature=2, ignore=["x0"]).feature == "x2"
