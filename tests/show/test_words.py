"""How names, values and numbers are written for people."""

import math
from datetime import date, datetime, timedelta

import pytest

from analogical.show import words


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("Ulm", "Ulm"),
        ("a b", "a b"),
        ("été 日本", "été 日本"),
        ("\x1b[31mred", r"\x1b[31mred"),
        ("two\nlines\t", r"two\nlines\t"),
        ("\u202eright to left", r"\u202eright to left"),
        ("non\u00a0breaking", "non breaking"),
        (7, "7"),
        ("zero\u200bwidth", r"zero\u200bwidth"),
        ("filler\u3164", r"filler\u3164"),
        ("variant\ufe0e", r"variant\ufe0e"),
    ],
)
def test_no_word_of_the_data_steers_the_terminal(text, expected):
    assert words.shown(text) == expected


def test_long_words_are_cut_to_the_limit():
    assert words.shown("abcdefgh", 8) == "abcdefgh"
    assert words.shown("abcdefghi", 8) == "abcde..."
    assert words.quoted("abcdefghi", 8) == "'abcde...'"


def test_ranges_are_cut_after_a_whole_word():
    cut = [words.shorten_end(text, 12) for text in ("1 to 2", "13550 to 99999", "2015-05-30 to 2016-03-29", "x" * 20)]
    assert cut == ["1 to 2", "13550 to …", "2015-05-30 …", "xxxxxx…xxxxx"]


def test_unknown_numbers_are_dashes():
    assert (
        words.Measure().interval(math.nan, math.nan)
        == words.Measure().text(math.nan)
        == words.three_decimals(math.nan)
        == words.p_value(math.nan)
        == "-"
    )


def test_numbers_have_the_decimals_that_they_are_worth():
    assert words.Measure().interval(0.0, 9.96) == "0 to 10"
    assert [words.Measure().text(size) for size in (49.2, 9.94, 2.0, 0.04, -0.04, -3.14)] == [
        "49",
        "9.9",
        "2",
        "0",
        "0",
        "-3.1",
    ]
    assert [words.Measure().signed(size) for size in (49.2, 0.4, 0.0, -0.04, -14.4)] == ["+49", "+0.4", "0", "0", "-14"]
    assert words.Measure().size(0.25) == words.Measure("shares").size(0.25) == 50
    assert math.isnan(words.Measure().size(None))
    assert words.three_decimals(2 / 3) == "0.667"
    assert words.percent(0.1234) == "12.3 %"
    assert [words.percent(share) for share in (0, 0.0004, 0.0006, 0.9996, 1)] == [
        "0.0 %",
        "<0.1 %",
        "0.1 %",
        ">99.9 %",
        "100.0 %",
    ]
    assert [words.Measure("shares").change(share) for share in (0.018, -0.142, -0.0001, 0.0001)] == [
        "+1.8",
        "-14.2",
        "0.0",
        "0.0",
    ]
    assert (words.number(999_999_999), words.number(10**9)) == ("999,999,999", "1.000e+09")


def test_small_p_values_are_bounds():
    assert [words.p_value(p) for p in (0.0009, 0.001, 0.05, 1.0)] == ["<.001", ".001", ".050", "1.000"]
    assert [words.p_words(p) for p in (0.0009, 0.05)] == ["p < .001", "p = .050"]


def test_lists_read_as_sentences():
    assert [words.list_all(list(text)) for text in ("a", "ab", "abc")] == ["a", "a and b", "a, b and c"]
    assert words.list_first(list("abcdefgh")) == "a, b, c, d, e, f and 2 more"
    assert words.list_first(list("abcdef")) == "a, b, c, d, e and f"
    assert [words.counted(n, "row") for n in (0, 1, 1204)] == ["0 rows", "1 row", "1,204 rows"]
    assert words.counted(2, "class", "classes") == "2 classes"
    assert [words.verb(list(text), "is", "are") for text in ("a", "ab")] == ["is", "are"]


def test_values_whose_ends_cannot_be_seen_are_quoted():
    assert [words.marked(value, 8) for value in ("yes", "yes ", "", " ", "a b", 1, "x" * 9)] == [
        "yes",
        "'yes '",
        "''",
        "' '",
        "a b",
        "1",
        "xxxxx...",
    ]


def test_long_names_in_sentences_are_cut():
    assert words.list_all(["a", "x" * 100]) == f"a and {'x' * 57}..."
    assert words.list_first(["x" * 100]) == f"{'x' * 57}..."


def test_numbers_of_ten_digits_or_more_are_short():
    assert list(map(words.three_digits, (-2.5e8, 3.6e9, 1.5e-9))) == ["-250,000,000", "3.60e+09", "1.50e-09"]
    assert words.three_digits(13_725_012_345.0, 6) == "13,725,000,000"
    assert words.Measure("log").signed(42_439.2) == "+42,439"


def test_dates_and_durations_differ_by_numbers_in_their_unit():
    hours, days = words.Measure("number", "hours"), words.Measure("number", "days")
    assert hours.label(timedelta(minutes=90)) == "1.5"
    assert hours.move([timedelta(hours=2), timedelta(minutes=90)]) == -0.5
    assert days.label(datetime(2020, 1, 2)) == "2020-01-02"
    assert days.label(datetime(2020, 1, 2, 12)) == "2020-01-02 12:00:00"
    assert days.move([date(2020, 1, 1), date(2020, 3, 1)]) == 60
