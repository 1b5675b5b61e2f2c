"""The same content in every kind of table gives the same categories, counts, edges and notes: those of the oracle."""

from datetime import datetime, timedelta

import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from naive import naive_counts, naive_treatment
from scipy import sparse

from analogical import InputError, relevance

DAY = datetime(2020, 2, 25)
CELLS = {
    "letter": ("category", st.sampled_from("abc")),
    "word": ("category", st.text("xyz", max_size=3)),
    "flag": ("category", st.booleans()),
    "few": ("whole", st.integers(0, 2)),
    "many": ("whole", st.integers(-50, 50)),
    "amount": ("real", st.sampled_from([0.0, -0.0, 0.0, 0.5, 1.25, 2.5, 7.0])),
    "price": ("real", st.integers(0, 999).map(lambda k: k / 8)),
    "count": ("real", st.integers(0, 3).map(float)),
    "day": ("time", st.integers(0, 9).map(lambda k: DAY + timedelta(days=k))),
    "constant": ("category", st.just("same")),
    "empty": ("category", st.none()),
}
NULLABLE = {"flag": "boolean", "few": "Int64", "many": "Int64", "row_id": "Int64"}
ARROW = {
    "flag": pa.bool_(),
    "few": pa.int16(),
    "many": pa.int64(),
    "row_id": pa.int64(),
    "amount": pa.float64(),
    "price": pa.float64(),
    "count": pa.float64(),
    "day": pa.timestamp("us"),
}


@st.composite
def tables(draw):
    """Columns of all kinds with gaps, labels with gaps, and weights."""
    n_rows = draw(st.integers(2, 24))
    names = draw(st.lists(st.sampled_from(sorted(CELLS)), min_size=1, max_size=4, unique=True))
    columns = {}
    for name in names:
        kind, cells = CELLS[name]
        has_gaps = draw(st.booleans())
        column = st.lists(st.one_of(st.none(), cells, cells) if has_gaps else cells, min_size=n_rows, max_size=n_rows)
        columns[name] = (kind, draw(column))
    if draw(st.booleans()):
        columns["row_id"] = ("whole", [7 * k for k in draw(st.permutations(range(n_rows)))])
    if draw(st.booleans()):
        columns["ticket"] = ("category", [f"t{k}" for k in range(n_rows)])
    labels = draw(st.lists(st.sampled_from(["no", "yes", "yes", None]), min_size=n_rows, max_size=n_rows))
    weights = draw(st.none() | st.lists(st.integers(0, 3), min_size=n_rows, max_size=n_rows))
    return columns, labels, weights


def arrow_table(cells):
    return pa.table({name: pa.array(column, ARROW.get(name, pa.string())) for name, column in cells.items()})


def pandas_frame(cells):
    floats = {name: "float64" for name in cells if CELLS.get(name, ("",))[0] == "real"}
    frame = pd.DataFrame(
        {name: pd.Series(column, dtype=(NULLABLE | floats).get(name)) for name, column in cells.items()}
    )
    return frame.set_axis([f"row {k}" for k in range(len(frame))])


def dictionaries(cells):
    """Text as dictionaries of Arrow and categories with one that does not occur; the rest as it is."""
    table = arrow_table(cells)
    return pa.table(
        {
            name: column.dictionary_encode() if pa.types.is_string(column.type) else column
            for name, column in zip(table.column_names, table.columns, strict=True)
        }
    )


def categories(cells):
    frame = pandas_frame(cells)
    for name, column in cells.items():
        if ARROW.get(name) is None:
            values = sorted({cell for cell in column if cell is not None})
            frame[name] = pd.Categorical(column, categories=["never", *values])
    return frame


FRAMES = {
    "pandas": pandas_frame,
    "pandas categories": categories,
    "pandas arrow": lambda cells: arrow_table(cells).to_pandas(types_mapper=pd.ArrowDtype),
    "polars": lambda cells: pl.from_arrow(arrow_table(cells)),
    "polars categorical": lambda cells: pl.from_arrow(arrow_table(cells)).with_columns(
        pl.col(pl.String).cast(pl.Categorical)
    ),
    "polars lazy": lambda cells: pl.from_arrow(arrow_table(cells)).lazy(),
    "pyarrow": arrow_table,
    "pyarrow chunks": lambda cells: pa.concat_tables([arrow_table(cells).slice(0, 2), arrow_table(cells).slice(2)]),
    "pyarrow dictionaries": dictionaries,
}
ARRAYS = {
    "list of rows": lambda cells: list(zip(*cells.values(), strict=True)),
    "numpy objects": lambda cells: np.array([*zip(*cells.values(), strict=True)], dtype=object),
}


def check(table, columns, labels, weights, options, *, has_names):
    """The result of a table is that of the oracle, or both have nothing to compare."""
    expected = naive_treatment(columns, labels, weights=weights, **options)
    can_compare = len(set(expected["labels"])) > 1 and any(
        len({row[i] for row in expected["rows"]}) > 1 for i in range(len(expected["names"]))
    )
    given = {
        "missing": options["missing"],
        "bins": options["n_bins"],
        "max_values": options["max_values"],
        "ids": options["ids"],
        "weights": weights,
        "feature_names": None if has_names else list(columns),
        "given": "all",
    }
    if not can_compare:
        with pytest.raises(InputError) as error:
            relevance(table, labels, **given)
        assert "\n" not in str(error.value)
        return
    result = relevance(table, labels, **given)
    counts = naive_counts(expected["rows"], expected["labels"], expected["weights"])
    assert result.names == expected["names"]
    assert result.pairs.tolist() == counts["pairs"]
    assert result.changed.tolist() == counts["changed"]
    assert [c.n_values for c in result.feature_columns] == counts["n_values"]
    assert result.n_rows == counts["n_rows"]
    assert tuple(c.edges for c in result.feature_columns) == expected["edges"]
    assert [c.n_missing for c in result.feature_columns] == expected["n_missing"]
    noted = {note.kind: note.columns for note in result.notes}
    assert noted.get("set-aside", ()) == expected["aside"]
    is_binned = [name for name, edges in zip(expected["names"], expected["edges"], strict=True) if edges]
    assert [*noted.get("binned", ()), *noted.get("binned-time", ())] == sorted(
        is_binned, key=lambda name: columns[name][0] == "time"
    )
    assert ("label-missing" in noted) == (None in labels)
    assert ("missing-value" in noted) == any(expected["n_missing"])


OPTIONS = st.fixed_dictionaries(
    {
        "missing": st.sampled_from(["value", "drop"]),
        "n_bins": st.integers(2, 4),
        "max_values": st.integers(1, 5),
        "ids": st.sampled_from(["drop", "keep"]),
    }
)


@pytest.mark.parametrize("kind", [*FRAMES, *ARRAYS])
@settings(max_examples=30)
@given(table=tables(), options=OPTIONS)
def test_tables_are_read_as_the_oracle_reads_them(kind, table, options):
    """Whole numbers of arrays and lists are categories."""
    columns, labels, weights = table
    cells = {name: column for name, (_, column) in columns.items()}
    if weights is not None and not any(w and label is not None for w, label in zip(weights, labels, strict=True)):
        return
    if kind in ARRAYS:
        columns = {name: ("category" if k == "whole" else k, column) for name, (k, column) in columns.items()}
    check((FRAMES | ARRAYS)[kind](cells), columns, labels, weights, options, has_names=kind in FRAMES)


@st.composite
def number_tables(draw, *, whole):
    """Numbers alone, many of them 0, as an array, with gaps if they are floats."""
    n_rows, n_features = draw(st.integers(2, 20)), draw(st.integers(1, 3))
    cells = st.sampled_from([0, 0, 0, 1, 2, 3] if whole else [0.0, 0.0, 0.5, 1.5, 2.0, 3.0, None])
    rows = draw(st.lists(st.lists(cells, min_size=n_features, max_size=n_features), min_size=n_rows, max_size=n_rows))
    labels = draw(st.lists(st.sampled_from(["no", "yes"]), min_size=n_rows, max_size=n_rows))
    return rows, labels


def masked(X):
    return np.ma.masked_array(np.nan_to_num(X), mask=np.isnan(X))


NUMBERS = {
    "numpy": lambda X: X,
    "fortran": np.asfortranarray,
    "matrix": np.asmatrix,
    "masked": masked,
    "csr": sparse.csr_matrix,
    "csc": sparse.csc_matrix,
    "coo": sparse.coo_matrix,
    "csr array": sparse.csr_array,
    "csc array": sparse.csc_array,
    "coo array": sparse.coo_array,
}


@pytest.mark.filterwarnings("ignore:the matrix subclass:PendingDeprecationWarning")
@pytest.mark.parametrize("kind", NUMBERS)
@pytest.mark.parametrize("whole", [True, False], ids=["whole", "floats"])
@settings(max_examples=15)
@given(data=st.data(), options=OPTIONS)
def test_arrays_of_numbers_are_read_as_the_oracle_reads_them(kind, whole, data, options):
    rows, labels = data.draw(number_tables(whole=whole))
    X = np.array(rows, dtype=np.int64 if whole else np.float64)
    names = [f"x{i}" for i in range(X.shape[1])]
    columns = {name: ("category" if whole else "real", [row[i] for row in rows]) for i, name in enumerate(names)}
    check(NUMBERS[kind](X), columns, labels, None, options, has_names=True)
