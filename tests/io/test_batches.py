"""Tables read in batches give the same codes, values, notes and errors as the same tables read as a whole."""

from datetime import date, datetime, time, timedelta
from decimal import Decimal
from zoneinfo import ZoneInfo

import numpy as np
import polars as pl
import pytest

from analogical import InputError, relevance
from analogical.io import batches
from analogical.io.batches import BatchColumn, BatchTable
from analogical.table.encode import encode_table
from analogical.table.rules import Rules

M = 600


def in_batches(frame, size=37):
    """The frame as a table that is read in batches of so many rows."""

    def column(series):
        parts = [series.slice(start, size) for start in range(0, len(series), size)]
        return BatchColumn(series.name, series.dtype, len(series), lambda: iter(parts))

    return BatchTable([column(series) for series in frame.get_columns()])


def some(rng, values):
    return [values[k] for k in rng.integers(0, len(values), M)]


def columns(rng):
    """A column of every kind, with few and with many values."""
    day, instant = date(2020, 1, 1), datetime(2020, 10, 25, 0, 30)
    zone = ZoneInfo("Europe/Berlin")
    words = ["", "a", "b ", "ä", "a much longer text than that", None]
    floats = [0.0, -0.0, 1.5, float("nan"), float("inf"), -2.25, None]
    hours = pl.Series(some(rng, [instant + timedelta(minutes=30 * k) for k in range(8)]))
    return {
        "texts": pl.Series(some(rng, words)),
        "ids": pl.Series([f"row {k}" for k in range(M)]),
        "many texts": pl.Series([f"t{k}" for k in rng.integers(0, 400, M)]),
        "categories": pl.Series(some(rng, words)).cast(pl.Categorical),
        "enum": pl.Series(some(rng, ["z", "y", "x", None]), dtype=pl.Enum(["unused", "z", "x", "y"])),
        "small": pl.Series(rng.integers(-2, 3, M), dtype=pl.Int8),
        "whole": pl.Series([None if k % 7 == 0 else int(v) for k, v in enumerate(rng.integers(-5, 9, M))]),
        "large": pl.Series(rng.integers(2**63, 2**64 - 1, M, dtype=np.uint64)),
        "wide whole": pl.Series(some(rng, [2**70, -(2**70), 5, None]), dtype=pl.Int128),
        "counter": pl.Series(np.arange(M)),
        "floats": pl.Series(some(rng, floats), dtype=pl.Float64),
        "zeros": pl.Series(some(rng, [-0.0, 0.0, 1.0]), dtype=pl.Float32),
        "many floats": pl.Series(np.where(rng.random(M) < 0.1, np.nan, rng.normal(size=M))),
        "decimals": pl.Series(some(rng, [Decimal("1.50"), Decimal("-3.25"), None])),
        "days": pl.Series(some(rng, [day + timedelta(k) for k in range(30)])),
        "times": pl.Series(rng.integers(0, 10**9, M)).cast(pl.Datetime("us")),
        "zoned": hours.dt.replace_time_zone("UTC").dt.convert_time_zone("Europe/Berlin"),
        "nanoseconds": pl.Series(rng.integers(0, 3, M)).cast(pl.Datetime("ns")),
        "durations": pl.Series(some(rng, [timedelta(seconds=k) for k in range(40)])),
        "of day": pl.Series(some(rng, [time(3), time(4, 5), None])),
        "flags": pl.Series(some(rng, [True, False])),
        "flags with gaps": pl.Series(some(rng, [True, False, None])),
        "nothing": pl.Series([None] * M),
        "always": pl.Series(["x"] * M),
        "zone": pl.Series(some(rng, [datetime(2020, 1, k + 1, tzinfo=zone) for k in range(25)])),
    }


FRAME = pl.DataFrame(columns(np.random.default_rng(5)) | {"label": some(np.random.default_rng(6), ["n", "y", None])})
RULES = [
    Rules(),
    Rules(bins=3, max_values=2, ids="keep"),
    Rules(bins="widths:4"),
    Rules(bins=None, ids="keep"),
    Rules(bins={"floats": [-1.0, 1.0], "days": ["2020-01-05", "2020-01-20"], "small": [0, 2]}, ids="keep"),
]


def same_table(one, other):
    """Whether two encoded tables say the same, up to the order of the values of texts."""
    assert one.names == other.names
    assert one.notes == other.notes
    assert one.classes == other.classes
    assert np.array_equal(one.labels, other.labels)
    assert (one.origin is None) == (other.origin is None)
    assert one.origin is None or np.array_equal(one.origin, other.origin)
    assert one.codes.dtype == other.codes.dtype
    for place, (mine, its) in enumerate(zip(one.columns, other.columns, strict=True)):
        assert (mine.treatment, mine.edges, mine.n_missing) == (its.treatment, its.edges, its.n_missing)
        assert mine.position == its.position
        assert list(map(repr, one.cells(range(len(one.codes)), place))) == list(
            map(repr, other.cells(range(len(other.codes)), place))
        )
        if FRAME.schema.get(mine.name) not in (pl.String, pl.Categorical):
            assert list(map(repr, mine.values)) == list(map(repr, its.values))
            assert np.array_equal(one.codes[:, place], other.codes[:, place])


@pytest.mark.parametrize("few", [2**16, 3, 0])
@pytest.mark.parametrize("rules", RULES)
def test_the_same_table_as_when_it_is_read_as_a_whole(rules, few, monkeypatch):
    monkeypatch.setattr(batches, "FEW", few)
    monkeypatch.setattr(batches, "PART", 100)
    monkeypatch.setattr(batches, "CHUNK", 64)
    frame = FRAME if rules.bin_rule.method != "widths" else FRAME.drop("floats")
    same_table(encode_table(in_batches(frame), "label", rules), encode_table(frame, "label", rules))


def test_rows_with_missing_cells_are_left_out_alike():
    frame = FRAME.drop("nothing")
    rules = Rules(missing="drop")
    found = encode_table(in_batches(frame), "label", rules)
    assert 0 < len(found.codes) < M
    same_table(found, encode_table(frame, "label", rules))


@pytest.mark.parametrize(
    ("extra", "options"),
    [
        ({"nested": [[1, 2]] * M}, {}),
        ({"parts": [{"a": 1}] * M}, {}),
        ({"raw": [b"x"] * M}, {}),
        ({}, {"missing": "error"}),
        ({}, {"bins": {"texts": 3}}),
        ({}, {"bins": {"days": [3, 4]}}),
        ({}, {"bins": "widths:3"}),
        ({}, {"features": ["text"]}),
        ({}, {"weights": "small"}),
        ({}, {"weights": "texts"}),
    ],
)
def test_the_same_refusal(extra, options):
    frame = FRAME.with_columns(**{name: pl.Series(cells) for name, cells in extra.items()})
    with pytest.raises(InputError) as expected:
        relevance(frame, "label", **options)
    with pytest.raises(InputError) as found:
        relevance(in_batches(frame), "label", **options)
    assert str(found.value) == str(expected.value)


def test_weights_groups_and_names_of_columns():
    rng = np.random.default_rng(3)
    frame = FRAME.select("texts", "small", "whole", "label").with_columns(
        n=pl.Series(rng.integers(0, 4, M)), g=pl.Series(rng.integers(0, 50, M))
    )
    options = {"weights": "n", "groups": "g", "ignore": ["small"], "given": "all"}
    one, other = (relevance(table, "label", **options) for table in (in_batches(frame), frame))
    assert (one.names, one.status, one.given) == (other.names, other.status, other.given)
    assert (one.pairs.tolist(), one.changed.tolist()) == (other.pairs.tolist(), other.changed.tolist())
    for name in ("effect", "effect_low", "effect_high", "p_value"):
        np.testing.assert_allclose(getattr(one, name), getattr(other, name), err_msg=name)


def test_a_column_is_read_cell_by_cell_only_when_asked():
    table = in_batches(FRAME)
    assert table.column("counter")[500] == 500
    with pytest.raises(IndexError):
        table.column("counter")[M]
    assert table.drop(["ids", "texts"]).collect().equals(FRAME.drop("ids", "texts"))
