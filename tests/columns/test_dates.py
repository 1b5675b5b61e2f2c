"""Parts of dates: month, weekday and hour as further features, where bins of time do not tell them."""

from datetime import date, datetime, timedelta, timezone

import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pytest

from analogical import AnalogicalSelector, InputError, evidence, interactions, redundancies, relevance, report, select
from analogical.columns.columns import NO_CODES, Column
from analogical.columns.encode import encode_table
from analogical.columns.rules import Rules
from analogical.columns.treating import parts_of
from analogical.show.notes import describe_notes

N = 1200
RNG = np.random.default_rng(5)
TIMES = [datetime(2020, 1, 6) + timedelta(hours=int(k)) for k in RNG.integers(0, 24 * 1000, N)]
DAYS = [time.date() for time in TIMES]
X = RNG.integers(0, 3, N).tolist()
WEEKEND = [day.weekday() >= 5 for day in DAYS]


def frame(**columns):
    return pl.DataFrame({"day": DAYS, "x": X, **columns})


def parts(days, kind="time"):
    return {
        part: [found.values[code] for code in code_of[:-1]]
        for part, (found, code_of) in parts_of(Column(NO_CODES, days, kind, known_sizes=np.ones(len(days)))).items()
    }


def cells(table, name):
    return table.cells(range(len(table.codes)), table.names.index(name))


def test_parts_are_those_of_the_calendar():
    found = parts(TIMES)
    assert found["month"] == [time.month for time in TIMES]
    assert found["weekday"] == [f"{time:%A}" for time in TIMES]
    assert found["hour"] == [time.hour for time in TIMES]
    assert parts(DAYS) == {part: found[part] for part in ("month", "weekday")}


def test_dates_before_1970_have_the_same_parts():
    days = [date(1901, 1, 1) + timedelta(days=k) for k in range(0, 1500, 7)] + [date(1969, 12, 31)]
    assert parts(days)["month"] == [day.month for day in days]
    assert parts(days)["weekday"] == [f"{day:%A}" for day in days]


@pytest.mark.parametrize(
    ("step", "n", "expected"),
    [
        (timedelta(hours=1), 48, []),
        (timedelta(hours=1), 49, ["hour"]),
        (timedelta(days=1), 14, []),
        (timedelta(days=1), 15, ["weekday"]),
        (timedelta(days=7), 80, []),
        (timedelta(days=1), 730, ["weekday"]),
        (timedelta(days=1), 731, ["month", "weekday"]),
        (timedelta(hours=1), 24 * 731, ["month", "weekday", "hour"]),
    ],
)
def test_a_part_varies_over_two_cycles(step, n, expected):
    assert list(parts([datetime(2021, 1, 1) + k * step for k in range(n)])) == expected


def test_days_that_stand_for_months_have_no_weekday():
    assert list(parts([date(2020 + k // 12, k % 12 + 1, 1) for k in range(60)])) == ["month"]
    assert list(parts([date(2020 + k // 12, k % 12 + 1, 1 + k % 2) for k in range(60)])) == ["month", "weekday"]


def test_whole_numbers_that_are_days_have_parts_if_the_calendar_has_them():
    numbers = np.array([int(f"{day:%Y%m%d}") for day in DAYS])
    assert parts(numbers, "whole") == parts(DAYS)
    assert parts([*numbers, 20210231], "whole") == {}


def test_times_with_a_zone_have_the_hour_of_their_zone():
    zone = timezone(timedelta(hours=-5))
    assert parts([time.replace(tzinfo=zone) for time in TIMES])["hour"] == [time.hour for time in TIMES]


LIBRARIES = {
    "polars": pl.DataFrame({"day": DAYS, "x": X}),
    "polars zone": pl.DataFrame({"day": pl.Series(DAYS).cast(pl.Datetime("us", "Asia/Tokyo")), "x": X}),
    "pandas": pd.DataFrame({"day": pd.to_datetime(DAYS), "x": X}),
    "pandas objects": pd.DataFrame({"day": DAYS, "x": X}),
    "pandas zone": pd.DataFrame({"day": pd.to_datetime(DAYS).tz_localize("Europe/Rome"), "x": X}),
    "pandas Arrow": pd.DataFrame({"day": pd.array(DAYS, dtype=pd.ArrowDtype(pa.date32())), "x": X}),
    "Arrow": pa.table({"day": DAYS, "x": X}),
    "numbers": pd.DataFrame({"day": [int(f"{day:%Y%m%d}") for day in DAYS], "x": X}),
}


@pytest.mark.parametrize("library", LIBRARIES)
def test_every_library_has_the_same_parts_after_its_columns(library):
    table = encode_table(LIBRARIES[library], WEEKEND)
    assert table.names == ("day", "x", "day.month", "day.weekday")
    assert [column.position for column in table.columns] == [0, 1, 2, 3]
    if library == "polars zone":  # midnight of UTC is nine in the morning there
        assert encode_table(LIBRARIES[library], WEEKEND, Rules(max_values=5)).n_values[0] == 5
    assert cells(table, "day.month") == [day.month for day in DAYS]
    assert cells(table, "day.weekday") == [f"{day:%A}" for day in DAYS]


def test_arrays_and_lists_of_dates_have_parts():
    rows = [[day, x] for day, x in zip(DAYS, X, strict=True)]
    assert encode_table(rows, WEEKEND).names == ("x0", "x1", "x0.month", "x0.weekday")
    array = np.array(TIMES, "M8[s]").reshape(-1, 1)
    names = encode_table(array, WEEKEND, Rules(feature_names=["at"], ids="keep")).names
    assert names == ("at", "at.month", "at.weekday", "at.hour")


def test_a_weekday_that_decides_is_found_and_a_note_names_the_parts():
    result = relevance(frame(), WEEKEND)
    assert result.ranking()[0] == "day.weekday"
    assert result.status[result.names.index("day")] != "effect"
    assert (
        "parts of dates as features: day.month and day.weekday (none with date_parts=False, --no-date-parts)"
        in describe_notes(result.notes)
    )
    assert select(frame(), WEEKEND).features == ("day.weekday",)


def test_time_stamps_that_are_distinct_in_every_row_are_binned_and_have_parts():
    stamps = [datetime(2021, 3, 1) + timedelta(minutes=41 * k) for k in range(N)]
    night = [stamp.hour < 6 for stamp in stamps]
    table = encode_table(frame(at=stamps), night)
    assert table.names == ("day", "x", "at", "day.month", "day.weekday", "at.weekday", "at.hour")
    assert table.columns[2].edges is not None
    assert not [note for note in table.notes if note.kind == "set-aside"]
    assert relevance(frame(at=stamps), night).ranking()[0] == "at.hour"
    late = [stamp > datetime(2021, 3, 20) for stamp in stamps]
    assert relevance(frame(at=stamps), late).ranking()[0] == "at"
    named = encode_table(frame(at=stamps), night, Rules(features=["at.hour", "x"]))
    assert (named.names, [note.kind for note in named.notes]) == (("x", "at.hour"), ["date-parts"])
    alone = encode_table(pl.DataFrame({"at": stamps}), night)
    assert alone.names == ("at", "at.weekday", "at.hour")
    assert encode_table(pl.DataFrame({"at": stamps}), night, Rules(date_parts=False)).names == ("at",)


def test_hours_are_numbers_in_bins_and_others_are_categories():
    table = encode_table(pl.DataFrame({"at": TIMES}), WEEKEND, Rules(features=["at"]))
    assert [column.edges is None for column in table.columns] == [False, True, True, False]
    assert table.n_values.tolist() == [5, 12, 7, 5]
    assert sorted(table.fine) == [0, 3]
    plain = encode_table(pl.DataFrame({"at": TIMES}), WEEKEND, Rules(features=["at.hour"], bins=None))
    assert plain.n_values.tolist() == [24]


def test_dates_that_are_categories_have_no_parts():
    few = [DAYS[k % 15] for k in range(N)]
    assert encode_table(frame(few=few), WEEKEND, Rules(ignore="day")).names == ("x", "few")
    assert encode_table(frame(), WEEKEND, Rules(bins=None)).names == ("day", "x")


def test_parts_may_be_named():
    assert relevance(frame(), WEEKEND, date_parts=False).names == ("day", "x")
    assert relevance(frame(), WEEKEND, features=["day"]).names == ("day", "day.month", "day.weekday")
    assert relevance(frame(), WEEKEND, features=["day.weekday", "x"]).names == ("x", "day.weekday")
    assert relevance(frame(), WEEKEND, features=["day", "day.weekday"]).names == ("day", "day.month", "day.weekday")
    assert relevance(frame(), WEEKEND, ignore="day.month").names == ("day", "x", "day.weekday")
    assert relevance(frame(), WEEKEND, ignore=["day"]).names == ("x",)
    assert relevance(frame(), WEEKEND, ignore=["day", "day.month"]).names == ("x",)
    given = relevance(frame(), WEEKEND, given=["day.weekday"])
    assert given.given[0] == ("day.weekday",)
    assert evidence(frame(), WEEKEND, "day.weekday").feature == "day.weekday"


def test_a_column_that_has_the_name_of_a_part_is_left_alone():
    mine = [day.month % 2 for day in DAYS]
    table = encode_table(frame(**{"day.month": mine}), WEEKEND)
    assert table.names == ("day", "x", "day.month", "day.weekday")
    assert cells(table, "day.month") == mine


@pytest.mark.parametrize(
    ("options", "message"),
    [
        (
            {"features": ["x.month"]},
            "features names 'x.month', but 'x' has no month to compare: it must hold more dates",
        ),
        ({"features": ["x", "x.month"]}, "features names 'x.month', but 'x' has no month"),
        ({"ignore": ["day.hour"]}, "ignore names 'day.hour', but 'day' has no hour to compare"),
        ({"features": ["day.year"]}, "has no column 'day.year' to take as features"),
        ({"features": ["day.month"], "date_parts": False}, "has no column 'day.month' to take as features"),
        ({"date_parts": "month"}, "date_parts must be True or False, got 'month'"),
    ],
)
def test_parts_that_are_not_there_are_refused_by_name(options, message):
    with pytest.raises(InputError, match=message):
        relevance(frame(), WEEKEND, **options)


def test_missing_dates_are_missing_parts():
    days = [None if k % 10 == 0 else day for k, day in enumerate(DAYS)]
    table = encode_table(frame(day=days), WEEKEND)
    assert cells(table, "day.weekday") == [None if day is None else f"{day:%A}" for day in days]
    assert table.columns[3].n_missing == N // 10
    dropped = encode_table(frame(day=days), WEEKEND, Rules(missing="drop"))
    assert len(dropped.codes) == N - N // 10
    assert cells(dropped, "day.month") == [day.month for day in days if day is not None]


def test_missing_time_stamps_count():
    stamps = [None if k == 7 else datetime(2021, 3, 1) + timedelta(minutes=41 * k) for k in range(N)]
    for date_parts in (True, False):
        assert len(encode_table(frame(at=stamps), WEEKEND, Rules(missing="drop", date_parts=date_parts)).codes) == N - 1
    with pytest.raises(InputError, match=r"Missing values .NaN or None. in 'at' .1 of 1,200 rows, first in row 7"):
        encode_table(frame(at=stamps), WEEKEND, Rules(missing="error"))


def test_every_question_takes_parts():
    some = frame().head(400)
    labels = WEEKEND[:400]
    assert "day.weekday" in interactions(some, labels).names
    assert "day.weekday" in redundancies(some).names
    assert "day.weekday" in report(some, labels).html


def test_a_selector_keeps_columns_and_makes_no_parts():
    days = pd.DataFrame({"day": pd.to_datetime(DAYS), "x": X})
    selector = AnalogicalSelector(k=2).fit(days, WEEKEND)
    assert selector.get_feature_names_out().tolist() == ["day", "x"]
    assert selector.scores_.shape == (2,)


@pytest.mark.parametrize(
    ("kind", "number"),
    [(pl.Date, 2**31 - 1), (pl.Datetime("us"), 2**62), (pl.Datetime("ms"), -(2**62)), (pl.Duration("ms"), 2**62)],
)
@pytest.mark.parametrize("library", ["polars", "pyarrow"])
def test_dates_that_python_does_not_have_are_refused(kind, number, library):
    numbers = pl.Series("at", [*range(N - 1), number])
    table = numbers.cast(pl.Int32 if kind == pl.Date else pl.Int64).cast(kind).to_frame()
    with pytest.raises(InputError, match=r"The feature 'at' has dates outside of the years 1 to 9999, or durations"):
        encode_table(table if library == "polars" else table.to_arrow(), WEEKEND)


def test_the_first_and_the_last_date_are_dates():
    ends = pl.DataFrame({"day": [date.min, date.max] * 600, "at": [datetime.min, datetime.max] * 600})
    assert encode_table(ends, WEEKEND).columns[0].values == [date.min, date.max]
    assert encode_table(ends, WEEKEND).columns[1].values == [datetime.min, datetime.max]
