"""Numbers and dates to bins: equal values stay together, heavy ones stay alone, and every bin has a name of its own."""

from collections import Counter
from datetime import date, datetime, timedelta
from decimal import Decimal
from fractions import Fraction
from types import SimpleNamespace

import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pytest
from hypothesis import given
from hypothesis import strategies as st
from naive import naive_bin, naive_quantile_edges

from analogical import InputError, relevance
from analogical.columns.binning import BinRule, bin_values, check_bins, merge_bins, name_bins
from analogical.columns.columns import MISSING, encode_objects
from analogical.columns.encode import encode_table
from analogical.columns.rules import Rules


def binned(cells, n_bins=5, *, method="quantiles", edges=(), weights=None):
    weights = None if weights is None else np.asarray(weights, np.int64)
    column = encode_objects(cells, "feature 'x'")
    found = bin_values(column.counted(weights), BinRule(method, n_bins, edges), "feature 'x'")
    return SimpleNamespace(codes=column.recoded(found.code_of), names=name_bins(found.ends), edges=found.edges)


def encoded(cells, bins=5, *, library=pd.DataFrame, max_values=20, name="f"):
    """A column of a dataframe in bins, beside a column of letters."""
    n = len(cells)
    frame = library({name: cells, "letter": [*"abc" * n][:n]})
    rules = Rules(bins=bins, max_values=max_values, ids="keep")
    return encode_table(frame, [k % 2 for k in range(n)], rules).columns[0]


NUMBERS = st.one_of(st.integers(-3, 3), st.sampled_from([0.0, -0.0, 0.5, 1.25, 1e300, -1e-300]), st.integers(0, 200))


@given(st.lists(st.tuples(NUMBERS, st.integers(1, 4)), min_size=1, max_size=60), st.integers(2, 7))
def test_quantiles_are_those_of_the_definition(weighted, n_bins):
    cells, weights = [cell for cell, _ in weighted], [weight for _, weight in weighted]
    found = binned(cells, n_bins, weights=weights)
    edges = naive_quantile_edges(cells, n_bins, weights)
    assert list(found.edges) == edges
    assert found.codes.tolist() == [naive_bin(cell, edges) for cell in cells]
    repeated = [cell for cell, weight in weighted for _ in range(weight)]
    assert binned(repeated, n_bins).edges == found.edges
    assert len(set(found.names)) == len(found.names) == len(edges) + 1


@given(st.lists(st.integers(0, 30), min_size=1, max_size=80), st.integers(2, 6))
def test_bins_are_about_equal_and_heavy_values_are_alone(cells, n_bins):
    found = binned(cells, n_bins)
    bin_of = dict(zip(cells, found.codes.tolist(), strict=True))
    sizes, times = Counter(found.codes.tolist()), Counter(cells)
    share = len(cells) / n_bins
    for cell, n in times.items():
        if n >= share:
            assert sizes[bin_of[cell]] == n
    if max(times.values()) < share:
        assert len(sizes) <= n_bins
        assert max(sizes.values()) <= 2 * share + max(times.values())
    if len(times) <= n_bins:
        assert len(sizes) == len(times)
    ordered = sorted(bin_of)
    assert [bin_of[cell] for cell in ordered] == sorted(bin_of.values())


def test_zeros_keep_a_bin_of_their_own():
    gains = [0] * 92 + [100, 200, 300, 400, 500, 600, 700, 800]
    found = binned(gains)
    assert found.edges == (100, 300, 500, 700)
    assert found.names == ["0", "100 to 200", "300 to 400", "500 to 600", "700 to 800"]
    middle = binned([*range(-40, 0), *[0] * 100, *range(1, 41)])
    assert middle.names.count("0") == 1
    assert Counter(middle.codes.tolist())[middle.names.index("0")] == 100


def test_bins_of_a_uniform_column_are_equal():
    found = binned([float(k) for k in range(100)])
    assert found.edges == (20.0, 40.0, 60.0, 80.0)
    assert set(Counter(found.codes.tolist()).values()) == {20}


def test_minus_zero_is_zero_and_infinities_are_values():
    zeros = encoded([0.0, -0.0, 0.5, 1.5] * 10, bins=2)
    assert zeros.edges == (0.5,)
    assert encoded([0.0, -0.0, 0.5] * 10, library=pl.DataFrame).values == [0.0, 0.5]
    assert list(encoded([0.0, -0.0, 0.5] * 10, library=pa.table).values) == [0.0, 0.5]
    infinite = encoded([float("-inf"), *np.arange(50) / 7, float("inf")], bins=4)
    assert infinite.values[0].startswith("-inf to ")
    assert infinite.values[-1].endswith(" to inf")
    assert all(np.isfinite(edge) for edge in infinite.edges)


@pytest.mark.parametrize(
    "cells",
    [
        [2**53 + k for k in range(40)],
        [2**63 - 40 + k for k in range(40)],
        [2**64 + k for k in range(40)],
        [10**30 + k for k in range(40)],
        [Decimal(k) / 7 for k in range(40)],
        [Fraction(k, 7) for k in range(40)],
        [timedelta(seconds=k * k) for k in range(40)],
        [date(2020, 1, 1) + timedelta(days=k) for k in range(40)],
        [datetime(2020, 1, 1) + timedelta(microseconds=k) for k in range(40)],
        [datetime(2020, 1, 1) + timedelta(hours=k) for k in range(40)],
        [1 + k * 1e-15 for k in range(40)],
    ],
    ids=["2^53", "2^63", "2^64", "10^30", "decimals", "fractions", "durations", "dates", "us", "hours", "near 1"],
)
def test_all_kinds_of_numbers_and_times_are_binned_exactly(cells):
    found = binned(cells[::-1])
    assert list(found.edges) == [sorted(set(cells))[k] for k in (8, 16, 24, 32)] == naive_quantile_edges(cells, 5)
    assert found.codes.tolist() == [4 - k // 8 for k in range(40)]
    assert len(set(found.names)) == 5


@pytest.mark.parametrize(
    "dtype", ["datetime64[ns]", "datetime64[s]", "datetime64[D]", "timedelta64[ns]", "datetime64[as]"]
)
def test_times_of_numpy_keep_their_meaning(dtype):
    X = np.arange(40).astype(dtype).reshape(-1, 1)
    column = encode_table(X, [0, 1] * 20, Rules(ids="keep")).columns[0]
    assert [np.array(edge, dtype) for edge in column.edges] == [X[k, 0] for k in (8, 16, 24, 32)]
    assert not any(value.isdecimal() for value in column.values)


# ---------------------------------------------------------------- widths and own edges


def test_bins_of_equal_width():
    assert binned([0, 1, 2, 3, 10], 5, method="widths").names == ["0 to 1", "2 to 3", "10"]
    assert binned([0, 1, 2, 3, 10], 5, method="widths").edges == (2, 4, 6, 8)
    times = binned([date(2020, 1, 1), date(2020, 1, 5), date(2020, 1, 11)], 2, method="widths")
    assert times.edges == (date(2020, 1, 6),)
    assert binned([0.5, 0.5], 3, method="widths").names == ["0.5"]
    with pytest.raises(InputError, match="feature 'x' has an infinite value, so it has no bins of equal width"):
        binned([0.5, float("inf")], 3, method="widths")


@pytest.mark.parametrize(
    ("cells", "edge"), [([-1.5e308, 0.5, 1.5e308], 0), ([-(2**63), 1, 2**63 - 1], 0), ([-(10**30), 5, 10**30], 0)]
)
def test_widths_of_a_span_beyond_the_type(cells, edge):
    column = encoded(cells * 10, {"f": "widths:2"})
    assert len(column.edges) == 1
    assert abs(column.edges[0] - edge) <= 1
    assert len(column.values) == 2


@pytest.mark.parametrize("library", [pd.DataFrame, pl.DataFrame, pa.table])
def test_own_edges_begin_bins(library):
    cells = [k / 4 for k in range(40)]
    column = encoded(cells, {"f": [2, 5.5]}, library=library)
    assert column.edges == (2, 5.5)
    assert list(column.values) == ["0 to 1.75", "2 to 5.25", "5.5 to 9.75"]
    unused = encoded(cells, {"f": [-5, 4, 100]}, library=library)
    assert len(unused.values) == 2
    few = encoded([1, 2, 3] * 9, {"f": [2]}, library=library)  # whole numbers with few values, because it was asked for
    assert list(few.values) == ["1", "2 to 3"]


DAYS = [date(2020, 1, 1) + timedelta(days=k // 2) for k in range(60)]
TIMES = [datetime(day.year, day.month, day.day) for day in DAYS]


@pytest.mark.parametrize(
    "frame",
    [
        pl.DataFrame({"f": DAYS}),
        pl.DataFrame({"f": TIMES}),
        pl.DataFrame({"f": TIMES}).cast(pl.Datetime("us", "UTC")),
        pd.DataFrame({"f": DAYS}),
        pd.DataFrame({"f": pd.to_datetime(TIMES)}),
        pd.DataFrame({"f": pd.to_datetime(TIMES).tz_localize("Asia/Tokyo")}),
        pa.table({"f": DAYS}),
        pa.table({"f": TIMES}),
    ],
    ids=["pl date", "pl datetime", "pl zone", "pd object", "pd datetime", "pd zone", "pa date", "pa timestamp"],
)
def test_edges_of_dates_may_be_text(frame):
    rules = Rules(bins={"f": ["2020-01-10", "2020-01-20"]}, ids="keep")
    column = encode_table(frame, [0, 1] * 30, rules).columns[0]
    assert column.values == ["2020-01-01 to 2020-01-09", "2020-01-10 to 2020-01-19", "2020-01-20 to 2020-01-30"]


@pytest.mark.parametrize(
    ("cells", "edges", "message"),
    [
        (DAYS, ["hello"], r"edges of the feature 'f' must have .* such as datetime.date\(2020, 1, 1\), got 'hello'"),
        (DAYS, [1, 2], "edges of the feature 'f' must have the type of its values, .* got 1"),
        ([k / 7 for k in range(60)], ["a"], "edges of the feature 'f' must have the type of its values, .* got 'a'"),
        (["u", "v"] * 30, [1], "bins names 'f', which does not hold numbers or dates; leave it out of bins"),
    ],
)
def test_edges_of_another_kind_are_refused(cells, edges, message):
    with pytest.raises(InputError, match=message):
        encoded(cells, {"f": edges}, library=pl.DataFrame)


# ---------------------------------------------------------------- what the user may give


@pytest.mark.parametrize(
    ("given", "rule"),
    [
        (None, BinRule("none")),
        (5, BinRule("quantiles", 5)),
        (np.int64(5), BinRule("quantiles", 5)),
        ("widths:4", BinRule("widths", 4)),
        ("quantiles:4", BinRule("quantiles", 4)),
        ([1, 2.5], BinRule("edges", 3, (1, 2.5))),
        ((0,), BinRule("edges", 2, (0,))),
        (np.array([1, 2]), BinRule("edges", 3, (1, 2))),
    ],
)
def test_rules(given, rule):
    assert check_bins(given) == rule


@pytest.mark.parametrize(
    "given",
    [1, 0, -3, 1001, 2.5, True, "5", "widths", "widths:", "widths:1", "widths:x", "widths:5000", {5}, object()],
)
def test_other_rules_are_refused(given):
    with pytest.raises(
        InputError, match='bins must be a whole number from 2, "quantiles:K", "widths:K", a list of increasing edges or'
    ):
        check_bins(given)


@pytest.mark.parametrize("edges", [[], [2, 1], [1, 1], [1, "a"], [float("nan")], [1, float("nan")]])
def test_edges_that_do_not_increase_are_refused(edges):
    with pytest.raises(InputError, match="a list of increasing edges or None, got"):
        check_bins(edges)


def test_rules_of_single_columns():
    rng = np.random.default_rng(0)
    frame = pd.DataFrame({name: rng.random(60) for name in ("price_a", "price_b", "width")})
    y = [0, 1] * 30
    result = relevance(frame, y, bins={"price_*": [0.5], "width": None, "*": 3})
    assert (
        result.feature_columns[0].edges,
        result.feature_columns[1].edges,
        result.feature_columns[2].edges,
    ) == ((0.5,), (0.5,), ())
    assert [c.n_values for c in result.feature_columns] == [2, 2, 60]
    assert [c.n_values for c in relevance(frame, y, bins={"*": 3, "width": "widths:2"}).feature_columns] == [3, 3, 2]
    assert [c.n_values for c in relevance(frame, y, bins={"width": 2}).feature_columns] == [5, 5, 2]
    assert [c.n_values for c in relevance(frame, y, bins=None).feature_columns] == [60, 60, 60]
    for bins, message in (
        ({"depth": 3}, "no column 'depth' to take as bins"),
        ({"d*": 3}, r"bins has 'd\*', which no column matches; the table has 'price_a'"),
        ({"width": 1}, "bins of 'width' must be a whole number from 2"),
    ):
        with pytest.raises(InputError, match=message):
            relevance(frame, y, bins=bins)


def test_missing_cells_are_in_no_bin():
    found = binned([0.5, None, 1.5, 2.5, float("nan")], 2)
    assert found.codes.tolist()[1] == found.codes.tolist()[4] == MISSING
    assert found.edges == (2.5,)


def test_edges_are_in_the_result_and_its_dictionary():
    frame = pd.DataFrame({"f": np.arange(40) / 4, "g": ["u", "v"] * 20})
    result = relevance(frame, [0, 0, 1, 1] * 10)
    assert tuple(c.edges for c in result.feature_columns) == ((2.0, 4.0, 6.0, 8.0), ())
    features = result.to_dict()["features"]
    assert [feature["edges"] for feature in features] == [[2.0, 4.0, 6.0, 8.0], []]
    assert result["f"]["edges"] == [2.0, 4.0, 6.0, 8.0]


def test_bins_are_named_with_as_few_digits_as_tell_them_apart():
    assert binned([0.123456, 0.123457, 0.2, 0.3], 2).names == ["0.123456 to 0.123457", "0.2 to 0.3"]
    assert binned([1.0, 2.0, 3.0, 4.5], 2).names == ["1 to 2", "3 to 4.5"]
    hours = [datetime(2020, 1, 1, hour) for hour in range(4)]
    assert binned(hours, 2).names == [
        "2020-01-01 00:00 to 2020-01-01 01:00",
        "2020-01-01 02:00 to 2020-01-01 03:00",
    ]


@pytest.mark.parametrize(
    ("sizes", "n_bins", "has_missing", "expected"),
    [
        ([4, 4, 4, 4], 2, False, [0, 0, 1, 1]),
        ([4, 4, 4, 4, 9], 2, True, [0, 0, 1, 1, 2]),
        ([10, 1, 1, 1], 2, False, [0, 1, 1, 1]),
        ([1, 1, 10, 1, 1], 4, False, [0, 0, 1, 2, 2]),  # a bin that would be empty is not there
        ([3], 8, False, [0]),
    ],
)
def test_fine_bins_are_merged_by_where_their_middle_lies(sizes, n_bins, has_missing, expected):
    assert merge_bins(np.array(sizes), n_bins, has_missing).tolist() == expected


@pytest.mark.parametrize("written", ["{}", "quantiles:{}", "widths:{}"])
def test_bins_are_2_to_1000(written):
    for number, is_allowed in ((1, False), (2, True), (1000, True), (1001, False)):
        bins = number if written == "{}" else written.format(number)
        if is_allowed:
            assert check_bins(bins).n_bins == number
        else:
            with pytest.raises(InputError, match="bins must be a whole number from 2"):
                check_bins(bins)


@pytest.mark.parametrize("bins", [3, None])
@pytest.mark.parametrize("missing", ["value", "drop"])
def test_numbers_that_are_no_python_objects_give_the_same_result(bins, missing, monkeypatch):
    rng = np.random.default_rng(0)
    cells = rng.integers(0, 12, (60, 2)) / 4
    cells[::7, 0] = np.nan
    labels, weights = rng.integers(0, 2, 60), rng.integers(0, 3, 60)

    def answer():
        result = relevance(cells, labels, bins=bins, missing=missing, weights=weights, given="all")
        return result.to_dict(), result.to_frame().to_dict()

    expected = answer()
    monkeypatch.setattr("analogical.columns.columns.MANY_NUMBERS", 2)
    np.testing.assert_equal(answer(), expected)
