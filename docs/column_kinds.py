"""The table of docs/tables.md: every kind of column, and what becomes of it, found by encoding one of each."""

import datetime as dt
from decimal import Decimal
from typing import Any

import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa

from analogical import InputError
from analogical.columns.encode import EncodedTable, encode_table

M = 60
DAYS = [dt.date(2024, 1, 1) + dt.timedelta(days=k // 2) for k in range(M)]
YEARS = [dt.date(2021, 1, 1) + dt.timedelta(days=29 * (k // 2)) for k in range(M)]
WEEKS = [dt.datetime(2024, 1, 1) + dt.timedelta(hours=7 * k) for k in range(M)]
STAMPS = [dt.datetime(2024, 1, 1) + dt.timedelta(minutes=17 * k) for k in range(M)]

KINDS: list[tuple[str, Any]] = [
    ("booleans", pl.Series([k % 2 == 0 for k in range(M)])),
    ("strings", pl.Series(["red", "blue", "green"] * 20)),
    ("pandas category, polars Categorical or Enum, Arrow dictionary", pd.Series(["a", "b"] * 30, dtype="category")),
    ("whole numbers of a numpy array or a list", np.arange(M) // 2),
    ("whole numbers of a dataframe or file, at most 20 values", pl.Series([k % 20 for k in range(M)])),
    ("whole numbers of a dataframe or file, more values", pl.Series([17 * (k // 2) for k in range(M)])),
    ("whole numbers, distinct in every row, 1 to m", pl.Series(range(M))),
    ("whole numbers named as an identifier, distinct in half of the rows", pl.Series("ID", [k * k for k in range(M)])),
    ("whole numbers named as an identifier, several rows each", pl.Series("patient", [7 * (k // 2) for k in range(M)])),
    ("strings that differ in case or spaces", pl.Series(["Yes", "yes ", "no", "no"] * 15)),
    ("whole numbers that are days, such as 20240131", pl.Series([int(f"{day:%Y%m%d}") for day in DAYS])),
    ("floats", pl.Series([0.5 * k for k in range(M)])),
    ("floats that are whole, at most 20 values", pl.Series([float(k % 3) for k in range(M)])),
    ("floats, most of them 0", pl.Series([0.0] * 48 + [0.5 * k for k in range(1, 13)])),
    ("decimals", pa.array([Decimal(k // 2) / 4 for k in range(M)])),
    ("durations", pl.Series([dt.timedelta(hours=k // 2) for k in range(M)])),
    ("dates and times, at most 20 values", pl.Series([DAYS[k % 5] for k in range(M)])),
    ("dates and times, more values", pl.Series(DAYS)),
    ("dates over two years or more", pl.Series(YEARS)),
    ("time stamps, distinct in every row", pl.Series(STAMPS)),
    ("time stamps, distinct in every row, over two weeks", pl.Series(WEEKS)),
    ("strings, distinct in half of the rows or more", pl.Series([f"customer {k // 2}" for k in range(M)])),
    ("missing cells (None, NaN, NaT, NA, null; in files also ?, NA, -, ...)", pl.Series(["a", "b", None] * 20)),
    ("nothing but missing cells", pl.Series([None] * M)),
    ("lists, structs and other nested types", pl.Series([[k] for k in range(M)])),
    ("binary", pl.Series([b"x"] * M)),
]


def table() -> str:
    """The kinds as a table of markdown."""
    lines = ["| column | becomes | values |", "|---|---|---|"]
    lines += [f"| {kind} | {' | '.join(_fate(cells))} |" for kind, cells in KINDS]
    return "".join(f"{line}\n" for line in lines)


def _fate(cells: Any) -> tuple[str, str]:
    """What becomes of a column beside one of two values, and which values it then has."""
    labels = [k * k % 7 % 2 for k in range(M)]
    other = [k % 2 for k in range(M)]
    try:
        encoded = encode_table(_frame(cells, other), labels)
    except InputError:
        return "refused by name", ""
    column = encoded.columns[0]
    parts = [name.rpartition(".")[2] for note in encoded.notes if note.kind == "date-parts" for name in note.columns]
    beside = f"; parts: {', '.join(parts)}" if parts else ""
    if column.position != 0:
        return f"set aside, with a note{beside}", ""
    what = f"{'categories' if column.edges is None else 'bins'}{beside}"
    return (what if len(column.values) > 1 else "constant"), _shown(encoded)


def _frame(cells: Any, other: list[int]) -> Any:
    if isinstance(cells, np.ndarray):
        return np.column_stack([cells, other])
    if isinstance(cells, pd.Series):
        return pd.DataFrame({"column": cells, "other": other})
    if isinstance(cells, pa.Array):
        return pa.table({"column": cells, "other": other})
    return pl.DataFrame({cells.name or "column": cells, "other": other})


def _shown(encoded: EncodedTable) -> str:
    values = ["(missing)" if value is None else str(value) for value in encoded.columns[0].values]
    return ", ".join(values if len(values) <= 6 else [*values[:2], "...", values[-1]])
