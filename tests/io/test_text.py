"""CSV and similar text: what is detected, what is noted, and what is refused in one sentence."""

from datetime import date, datetime

import polars as pl
import pytest
from both_ways import parse_both_ways, read_bytes
from hypothesis import given, settings
from hypothesis import strategies as st

from analogical import InputError
from analogical._types import Note
from analogical.io.files import NA, TextFormat
from analogical.show.notes import describe_notes

TABLE = "a,b,y\n1,x,0\n2,z,1\n"
ROWS = [(1, "x", 0), (2, "z", 1)]


def parsed(text, **options):
    """The table and what is said about it."""
    content = text if isinstance(text, bytes) else text.encode()
    frame, found = parse_both_ways(content, "'t.csv'", TextFormat(**options))
    return frame, describe_notes(found)


def rows(text, **options):
    return parsed(text, **options)[0].rows()


def notes(text, **options):
    return parsed(text, **options)[1]


def column(*cells, separator=","):
    """The cells as the first column of a file, read."""
    lines = [f"a{separator}y", *(f"{cell}{separator}{k % 2}" for k, cell in enumerate(cells))]
    return parsed("\n".join(lines))[0]["a"]


# ---------------------------------------------------------------- characters and lines


@pytest.mark.parametrize(
    ("content", "note"),
    [
        (TABLE.encode(), None),
        (TABLE.encode("utf-8-sig"), None),
        (TABLE.encode("utf-16"), "read as UTF-16 text"),
        (TABLE.encode("utf-16-le"), "read as UTF-16 text"),
        (TABLE.encode("utf-16-be"), "read as UTF-16 text"),
        (b"\xfe\xff" + TABLE.encode("utf-16-be"), "read as UTF-16 text"),
        (TABLE.encode("utf-32"), "read as UTF-32 text"),
        (b"\0\0\xfe\xff" + TABLE.encode("utf-32-be"), "read as UTF-32 text"),
    ],
)
def test_encodings(content, note):
    frame, found = parsed(content)
    assert (frame.columns, frame.rows()) == (["a", "b", "y"], ROWS)
    assert found == (() if note is None else (note,))


@pytest.mark.parametrize(
    ("content", "letter"),
    [
        (TABLE.replace("x", "é").encode("latin-1"), "é"),
        (TABLE.replace("x", "€").encode("cp1252"), "€"),
        (TABLE.encode().replace(b"x", b"\x81"), "\x81"),
    ],
)
def test_latin_1_is_noted(content, letter):
    frame, found = parsed(content)
    assert frame["b"][0] == letter
    assert found == ("not UTF-8 (byte 8), so read as Latin-1 text; save it as UTF-8 if letters look wrong",)


@pytest.mark.parametrize(
    ("text", "found", "is_noted"),
    [
        ('a;1"\nb; \nc; ', [("b", None), ("c", None)], True),
        ('a;y\n1; x"\n2;z\n', [(1, 'x"'), (2, "z")], True),
        ('a;y\n1; "x;w"\n2;z\n', [(1, "x;w"), (2, "z")], False),
        ('a;y\n1;"; ""x"\n2;z\n', [(1, '; "x'), (2, "z")], False),
        ('a;y\n "1";x\n2;z\n', [(1, "x"), (2, "z")], False),
        (" \ra;y\r1;x\r2;z\r", [(1, "x"), (2, "z")], False),
        ("\t\na;y\n1;x\n2;z\n", [(1, "x"), (2, "z")], False),
        ("|,\n-\t;|-a\n\n\t", [("-\t;", "-a")], False),
        ('a;y";\n1;x;\n2;z;\n', [(1, "x"), (2, "z")], False),
    ],
)
def test_spaces_and_the_notes_about_them(text, found, is_noted):
    assert rows(text) == found
    assert ("spaces around values were stripped" in notes(text)) is is_noted


def test_bytes_that_are_no_text():
    with pytest.raises(
        InputError, match=r"'t.csv' is binary, not text; give CSV or TSV, or a file named by its format"
    ):
        parsed(bytes(range(256)) * 4)
    with pytest.raises(InputError, match=r"'t.csv' begins as UTF-16 text, but byte 36 is not; save it as UTF-8"):
        parsed(TABLE.encode("utf-16")[:-1])


@pytest.mark.parametrize(
    ("text", "n_blank"),
    [
        (TABLE, 0),
        (TABLE.rstrip(), 0),
        (TABLE + "\n\n  \n", 0),
        ("\n\n" + TABLE, 2),
        (TABLE.replace("\n2", "\n\n \t\n2"), 2),
        (TABLE.replace("\n", "\r\n"), 0),
        (TABLE.replace("\n", "\r\n\r\n"), 2),
        (TABLE.replace("\n", "\r"), 0),
        (TABLE.replace("x,0", "x,0\r"), 0),
        (TABLE + "\x1a", 0),
        ('"a",b,y\n\n1,"x",0\n2,z,1\n', 1),
    ],
)
def test_line_ends_and_blank_lines(text, n_blank):
    frame, found = parsed(text)
    assert (frame.columns, frame.rows()) == (["a", "b", "y"], ROWS)
    assert found == (f"skipped {n_blank} blank line{'s' * (n_blank > 1)}",) * bool(n_blank)


@pytest.mark.parametrize(
    ("cell", "value"),
    [
        ('"x\n\n\nz"', "x\n\n\nz"),
        ('"x\r\nz"', "x\nz"),
        ('"x\rz"', "x\rz"),
        ("x\rz", "x\rz"),
        ('"x,z"', "x,z"),
        ('"q""q"', 'q"q'),
        ('""', None),
        ("x" * 200_000, "x" * 200_000),
        (f'"{"x" * 200_000}"', "x" * 200_000),
    ],
    ids=["blank lines", "crlf", "cr", "bare cr", "comma", "quotes", "nothing", "long", "long quoted"],
)
def test_cells_may_hold_anything_in_quotes(cell, value):
    frame, found = parsed(f"a,b,y\n1,{cell},0\n2,z,1\n")
    assert frame.rows() == [(1, value, 0), (2, "z", 1)]
    assert found == ()


# ---------------------------------------------------------------- separator


@pytest.mark.parametrize(("separator", "name"), [("\t", "tab"), (";", "semicolon"), ("|", "pipe")])
def test_the_separator_is_found_by_looking(separator, name):
    frame, found = parsed(TABLE.replace(",", separator))
    assert frame.rows() == ROWS
    assert found == (f"detected separator: {name} (override with --separator)",)


def test_the_separator_with_which_lines_are_even_is_taken():
    assert rows("a;b;y\nx,u;z;0\nx;z,z,z;1\n") == [("x,u", "z", 0), ("x", "z,z,z", 1)]
    assert rows("a,b,y\nx|u,z,0\nx|v,z,1\n") == [("x|u", "z", 0), ("x|v", "z", 1)]
    assert rows('a,b,y\n"x;u;v",z,0\n"x;v;w",z,1\n') == [("x;u;v", "z", 0), ("x;v;w", "z", 1)]


@pytest.mark.parametrize(
    ("given", "separator"),
    [
        ("\\t", "\t"),
        ("tab", "\t"),
        ("\t", "\t"),
        ("semicolon", ";"),
        (";", ";"),
        ("pipe", "|"),
        ("space", " "),
        (" ", " "),
        ("comma", ","),
        (":", ":"),
    ],
)
def test_a_separator_may_be_named(given, separator):
    frame, found = parsed(TABLE.replace(",", separator), separator=given)
    assert (frame.rows(), found) == (ROWS, ())


@pytest.mark.parametrize("given", ["", "ab", "é", "\n", "\r", '"'])
def test_other_separators_are_refused(given):
    with pytest.raises(InputError, match=r"--separator must be one ASCII character \(\\t for a tab\), got "):
        parsed(TABLE, separator=given)


# ---------------------------------------------------------------- names


@pytest.mark.parametrize(
    ("header", "names", "note"),
    [
        ("a,b,y", ["a", "b", "y"], None),
        (" a ,b, y", ["a", "b", "y"], None),
        ('"a ""q""","b,c","y\nz"', ['a "q"', "b,c", "y\nz"], None),
        ("a,a,y", ["a", "a_2", "y"], "repeated column names were numbered: a_2"),
        ("a,a,a", ["a", "a_2", "a_3"], "repeated column names were numbered: a_2 and a_3"),
        ("a,a,a_2", ["a", "a_3", "a_2"], "repeated column names were numbered: a_3"),
        ("a,,y", ["a", "x1", "y"], "columns without a name: x1"),
        ("x1,,y", ["x1", "x1_2", "y"], "columns without a name: x1"),
        ("1,b,2.5", ["1", "b", "2.5"], "the first line, used as column names, contains numbers; if it is data"),
    ],
)
def test_names_of_columns(header, names, note):
    frame, found = parsed(f"{header}\n1,x,0\n2,z,1\n")
    assert frame.columns == names
    assert frame.rows() == ROWS
    assert (found == ()) if note is None else found[0].startswith(note)


def test_files_without_a_header():
    text = TABLE.removeprefix("a,b,y\n")
    frame, found = parsed(text, header=False)
    assert (frame.columns, frame.rows(), found) == (["x0", "x1", "x2"], ROWS, ())
    assert parsed(text, names=("p", "q", "r"))[0].columns == ["p", "q", "r"]
    assert parsed(text, names=("p", "p", ""))[0].columns == ["p", "p_2", "x2"]
    with pytest.raises(InputError, match=r"--names has 2 names, and 't.csv' has 3 columns; give one for each"):
        parsed(text, names=("p", "q"))
    assert rows("1,2", header=False) == [(1, 2)]


def test_lines_that_end_in_a_separator():
    frame, found = parsed("a,b,y,\n1,x,0,\n2,z,1,\n")
    assert (frame.columns, frame.rows()) == (["a", "b", "y"], ROWS)
    assert found[-1] == "left out the last column, which is empty: lines end with a separator"
    assert parsed("a,b,\n1,x,0\n2,z,1\n")[0].columns == ["a", "b", "x2"]  # it has cells
    assert parsed("a,b,y\n1,x,\n2,z,\n")[0].columns == ["a", "b", "y"]  # it has a name


# ---------------------------------------------------------------- cells


def test_missing_cells():
    words = ["", "?", "NA", "n/a", "#N/A", "<na>", "NaN", "nat", "NULL", "-", "  ", " ? "]
    frame, found = parsed("a,b,y\n" + "".join(f"{word},u,0\n" for word in words) + "7,v,1\n")
    assert frame["a"].to_list() == [None] * len(words) + [7]
    assert found[0] == "spaces around values were stripped"
    assert found[1].startswith("read as missing: '?' (2), ")
    assert found[1].endswith(" more; override with --na")
    assert len(found) == 2
    assert set(NA) == {"", "?", "NA", "N/A", "#N/A", "<NA>", "NaN", "NaT", "null", "-"}


def test_other_words_for_missing_cells():
    frame, found = parsed("a,b,y\n?,None,0\n999,x,1\n,x,1\n", na=("none", "999"))
    assert frame.rows() == [("?", None, 0), (None, "x", 1), (None, "x", 1)]
    assert sorted(found[0].removeprefix("read as missing: ").split(";")[0].split(" and ")) == [
        "'999' (1)",
        "'none' (1)",
    ]


@pytest.mark.parametrize(
    ("cells", "values", "dtype"),
    [
        (["1", "2", "-3", "+4"], [1, 2, -3, 4], pl.Int64),
        (["1", "", "3"], [1, None, 3], pl.Int64),
        (["1", "2.5", "1e5"], [1, 2.5, 1e5], pl.Float64),
        (["0", "1"], [0, 1], pl.Int64),
        (["0.5", "-0.25"], [0.5, -0.25], pl.Float64),
        (["9007199254740993", "9007199254740992"], [2**53 + 1, 2**53], pl.Int64),
        (["007", "012"], ["007", "012"], pl.String),
        (["-07", "1"], ["-07", "1"], pl.String),
        (["00.5", "1"], ["00.5", "1"], pl.String),
        (["inf", "1"], ["inf", "1"], pl.String),
        (["Infinity", "-inf"], ["Infinity", "-inf"], pl.String),
        (["1_000", "1"], ["1_000", "1"], pl.String),
        (["1", "x"], ["1", "x"], pl.String),
        (["true", "false"], ["true", "false"], pl.String),
        (["?", "?"], [None, None], pl.String),
        (["18446744073709551615", "18446744073709551614"], ["18446744073709551615", "18446744073709551614"], pl.String),
        (["1" * 30, "1" * 29 + "2"], ["1" * 30, "1" * 29 + "2"], pl.String),
        (["2020-01-01", "2020-02-29"], [date(2020, 1, 1), date(2020, 2, 29)], pl.Date),
        (["", "2020-02-29"], [None, date(2020, 2, 29)], pl.Date),
        (["2020-01-01", "2020-02-30"], ["2020-01-01", "2020-02-30"], pl.String),
        (
            ["2020-01-01 10:00", "2020-01-01T11:30:05"],
            [datetime(2020, 1, 1, 10), datetime(2020, 1, 1, 11, 30, 5)],
            None,
        ),
        (["2020-01-01", "x"], ["2020-01-01", "x"], pl.String),
        (["20200101", "20200102"], [date(2020, 1, 1), date(2020, 1, 2)], pl.Date),
        (["20200101", "20200132"], [20200101, 20200132], pl.Int64),
        (["20200101", "20200230"], ["20200101", "20200230"], pl.String),
    ],
)
def test_numbers_and_dates(cells, values, dtype):
    found = column(*cells)
    assert found.to_list() == values
    assert dtype is None or found.dtype == dtype


@pytest.mark.parametrize(
    ("cells", "values"),
    [
        (["1,5", "2"], [1.5, 2]),
        (["-1,5", "?"], [-1.5, None]),
        (["1,5", "2.5"], ["1,5", "2.5"]),
        (["007", "012"], ["007", "012"]),
        (["007,5", "1,5"], ["007,5", "1,5"]),
        (["1" * 20, "2" * 20], ["1" * 20, "2" * 20]),
        (["1,5,5", "2"], ["1,5,5", "2"]),
    ],
)
def test_decimal_commas(cells, values):
    assert column(*cells, separator=";").to_list() == values
    _, found = parsed("a;y\n" + "".join(f"{cell};{k}\n" for k, cell in enumerate(cells)))
    assert ("decimal commas in a" in found) is isinstance(values[0], float)


def numbers(*cells):
    """More than a few different numbers, and some cells."""
    return [*(str(k) for k in range(100, 150)), *cells]


@pytest.mark.parametrize(
    ("cells", "values", "note"),
    [
        (["$1,234.50", "$7"], [1234.5, 7], "a: 2 cells read as numbers (currency, thousands)"),
        (["1,234.50", "12,345", "7"], [1234.5, 12345, 7], "a: 2 cells read as numbers (thousands)"),
        (["1.234,50 EUR", "EUR 7"], [1234.5, 7], "a: 2 cells read as numbers (currency, thousands, decimal commas)"),
        (["1.234.567", "7"], [1234567, 7], "a: 1 cell read as numbers (thousands)"),
        (["12 %", "7.5%"], [12, 7.5], "a: 2 cells read as numbers (percent)"),
        (["(1,200)", "7"], [-1200, 7], "a: 1 cell read as numbers (thousands, brackets)"),
        (["-$5", "$-6", "+£7"], [-5, -6, 7], "a: 3 cells read as numbers (currency)"),
        (["\u22125", "6"], [-5, 6], None),
        (["1 234 567", "1'234", "7"], [1234567, 1234, 7], "a: 2 cells read as numbers (thousands)"),
        (["1\u202f234,5 \u20ac", "7"], [1234.5, 7], "a: 1 cell read as numbers (currency, thousands, decimal commas)"),
        (["(1)", "(2)"], ["(1)", "(2)"], None),
        (["1,23", "4,5"], ["1,23", "4,5"], None),
        (["1,2,3", "4"], ["1,2,3", "4"], None),
        (["12,34.5", "1"], ["12,34.5", "1"], None),
        (["$007", "$1"], ["$007", "$1"], None),
        (["10.0.0.1", "192.168.100.200"], ["10.0.0.1", "192.168.100.200"], None),
        (["12 kg", "7 kg"], ["12 kg", "7 kg"], None),
    ],
)
def test_numbers_as_people_write_them(cells, values, note):
    frame, found = parsed("a,y\n" + "".join(f'"{cell}",{k % 2}\n' for k, cell in enumerate(cells)))
    assert frame["a"].to_list() == values
    assert [words for words in found if note] == [note] * (note is not None)


@pytest.mark.parametrize(("separator", "value"), [(";", 1.234), ("\t", 1234.0), ("|", 1234.0)])
def test_one_comma_before_three_digits_is_decimal_beside_semicolons_only(separator, value):
    assert column("1,234", "12,345", separator=separator)[0] == value
    assert column("1,234", "0,5", separator=separator)[0] == 1.234
    assert column("1,234", "1,234,567", separator=separator)[0] == 1234


def test_thousands_and_decimal_commas():
    frame, found = parsed("a;y\n1.234,5;0\n2;1\n")
    assert frame["a"].to_list() == [1234.5, 2]
    assert found[-1] == "a: 1 cell read as numbers (thousands, decimal commas)"
    frame, found = parsed('a,b,y\n$1,"1,000",0\n2,7,1\n')
    assert found == ("cells read as numbers (currency, thousands): a (1) and b (1)",)


@pytest.mark.parametrize("first", ["100", "$100", "2020-01-01"])
def test_words_beside_numbers_and_dates_are_missing(first):
    cells = numbers() if first != "2020-01-01" else [f"2020-{k:02}-{d:02}" for k in range(1, 6) for d in range(1, 11)]
    cells[0] = first
    frame, found = parsed("a,y\n" + "".join(f"{cell},0\n" for cell in [*cells, "unknown", "None", "unknown"]))
    assert frame["a"].dtype == (pl.Date if first == "2020-01-01" else pl.Float64)
    assert frame["a"].to_list()[-3:] == [None, None, None]
    assert frame["a"].null_count() == 3
    assert found[-1] == "read as missing beside numbers or dates: 'None' in a (1) and 'unknown' in a (2)"


@pytest.mark.parametrize(
    "cells",
    [
        numbers(*"bcdefg"),  # more than five words
        numbers("12a"),  # a word with a digit
        numbers(">150"),
        numbers(*["unknown"] * 13),  # more than a fifth
        ["1", "2", "3", "3", "3", "unknown"],  # few numbers, which are categories
    ],
)
def test_other_words_beside_numbers_leave_a_column_text(cells):
    assert column(*cells).to_list() == cells


@pytest.mark.parametrize(
    ("cells", "first", "how"),
    [
        (["31/12/2024", "1/2/2024"], date(2024, 12, 31), "day first"),
        (["1/2/2024", "31/12/2024"], date(2024, 2, 1), "day first"),
        (["12/31/2024", "1/2/2024"], date(2024, 12, 31), "month first"),
        (["1/2/2024", "3/4/2024"], date(2024, 1, 2), "month first, not certain: no day above 12"),
        (["1.2.2024", "3.4.2024"], date(2024, 2, 1), "day first, not certain: no day above 12"),
        (["31.12.2024", "01.02.2024"], date(2024, 12, 31), "day first"),
        (["31-12-2024", "1-2-2024"], date(2024, 12, 31), "day first"),
        (["31/12/99", "1/2/24"], date(1999, 12, 31), "day first"),
        (["31-Dec-2024", "1-feb-2024"], date(2024, 12, 31), "day, month name"),
        (["31 December 2024", "1 Feb. 2024"], date(2024, 12, 31), "day, month name"),
        (["Dec 31, 2024", "May 1, 2024"], date(2024, 12, 31), "month name, day"),
        (["20240501", "20240531"], date(2024, 5, 1), "year, month, day"),
        (["2024/5/1", "2024/12/31"], date(2024, 5, 1), None),
        (["2024-05-01T13:00:00Z", "2024-05-02T13:00:00Z"], datetime(2024, 5, 1, 13), None),
        (["2024-05-01T13:00:00+01:00", "2024-05-02 13:00:00.5-0330"], datetime(2024, 5, 1, 13), None),
        (["2024-05-01", "2024-05-02 13:00"], datetime(2024, 5, 1), None),
        (["31/12/2024 9:05", "1/2/2024 10:00:07"], datetime(2024, 12, 31, 9, 5), "day first"),
        (["12/31/2024 1:05 PM", "1/2/2024 12:07 am"], datetime(2024, 12, 31, 13, 5), "month first"),
        (["12/31/2024 12:05:09 AM", "1/2/2024 12:07:00 PM"], datetime(2024, 12, 31, 0, 5, 9), "month first"),
    ],
)
def test_dates_as_people_write_them(cells, first, how):
    frame, found = parsed("a,y\n" + "".join(f'"{cell}",{k % 2}\n' for k, cell in enumerate(cells)))
    assert frame["a"].dtype == (pl.Datetime("us") if isinstance(first, datetime) else pl.Date)
    assert frame["a"][0] == first
    assert frame["a"].null_count() == 0
    assert found == (() if how is None else (f"read as dates: a ({how})",))


@pytest.mark.parametrize(
    "cells",
    [
        ["31/12/2024", "12/31/2024"],
        ["30/02/2024", "1/2/2024"],
        ["2024-13-01", "2024-01-01"],
        ["1.2.3", "1.2.4"],
        ["555-1234", "555-1235"],
        ["2024-05-01", "31/12/2024"],
        ["12:30", "13:00"],
    ],
)
def test_what_is_no_date_is_text(cells):
    assert column(*cells).to_list() == cells


def test_many_columns_are_typed_alike(monkeypatch):
    """Columns are looked at in groups; the size of a group changes nothing."""
    text = "a,b,c,d,y\n1,x,1.5,2020-01-01,0\n2, z,?,2020-01-02,1\n"
    whole = parsed(text)
    monkeypatch.setattr("analogical.io.text.TYPED_CELLS", 2)
    parts = parsed(text)
    assert whole[0].equals(parts[0])
    assert whole[0].schema == parts[0].schema
    assert whole[1] == parts[1]


# ---------------------------------------------------------------- what is refused


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("", "'t.csv' is empty; give a header and rows"),
        (" \n\t\n", "'t.csv' is empty; give a header and rows"),
        (b"\xef\xbb\xbf", "'t.csv' is empty; give a header and rows"),
        ("a,b,y\n", "'t.csv' has a header and no rows; give at least two rows with different labels"),
        ("a,b,y", "'t.csv' has a header and no rows"),
        ("a\n1\n2\n", r"'t.csv' has one column only, 'a'; a table needs features and a label \(separated by"),
        (
            "a,b,y\n1,x,0\n2,z,1,5\n3,x,1\n",
            "'t.csv' has ragged rows: line 3 has 4 cells and the first line has 3; quote",
        ),
        ("a,b,y\n1,x,0\n2,z\n3,x,1\n", "line 3 has 2 cells and the first line has 3"),
        ("a,b,y\n1,x,0\n2,z", "line 3 has 2 cells and the first line has 3"),
        ("a,b,y\n1,x,0\n2,z,1,5", "line 3 has 4 cells and the first line has 3"),
        ("a,b,y\n1,x,0\n2,z,1,", "line 3 has 4 cells and the first line has 3"),
        ('a,b,y\n1,"x\nz",0\n2,z\n', "line 4 has 2 cells and the first line has 3"),
        ('a,b,y\n1,"x,0\n2,z,1\n', "never closed"),
        ('a,b,y\n1,x,0\n2,z,"1\n', "never closed"),
    ],
)
def test_what_is_no_table_is_refused_in_one_sentence(text, message):
    with pytest.raises(InputError, match=message) as error:
        parsed(text)
    assert "\n" not in str(error.value)
    assert str(error.value).endswith(".")


@given(st.text(st.sampled_from('a1,;\t|"\n\r ?-.'), max_size=40))
def test_any_text_is_read_or_refused_in_one_sentence(text):
    try:
        frame, found = parsed(text)
    except InputError as error:
        message = str(error)
    else:
        message = ""
    assert "\n" not in message
    if message:
        return
    assert frame.height > 0
    assert frame.width > 1
    assert len(set(frame.columns)) == frame.width
    assert all("\n" not in note for note in found)


CELL = st.text(st.sampled_from('ab0 ,"\n'), max_size=4)


@settings(max_examples=40)
@given(st.lists(st.tuples(CELL, CELL), min_size=1, max_size=6))
def test_quoted_cells_come_back(cells):
    """What is written with quotes is read again, without spaces around it and with empty cells as missing."""
    quoted = ['"' + cell.replace('"', '""') + '"' for pair in cells for cell in pair]
    lines = [f"{one},{two},k{k}" for k, (one, two) in enumerate(zip(quoted[::2], quoted[1::2], strict=True))]
    frame, _ = parsed("\n".join(["first,second,y", *lines]))
    for name, written in zip(("first", "second"), zip(*cells, strict=True), strict=True):
        if frame[name].dtype == pl.String:
            assert frame[name].to_list() == [cell.strip() or None for cell in written]


@pytest.mark.parametrize(
    ("text", "rows"),
    [
        ('a,b,y\n5" pipe,1,0\n"x" z,2,1\n', [('5" pipe', 1, 0), ("x z", 2, 1)]),
        ('a, "b", y\n1, "x, z", 0\n2, "w", 1\n', [(1, "x, z", 0), (2, "w", 1)]),
        ('a,b,y\n"1\n\n2",x,0\n3,z,1\n', [("1\n\n2", "x", 0), ("3", "z", 1)]),
    ],
)
def test_quotes_inside_cells_and_after_spaces_are_read_as_people_mean_them(text, rows):
    frame, _ = parse_both_ways(text.encode(), "file", TextFormat())
    assert (frame.rows(), frame.columns) == (rows, ["a", "b", "y"])


def test_a_line_of_very_many_columns_is_refused():
    with pytest.raises(InputError, match=r"commas has 200,001 columns in its first line, more than 200,000; write one"):
        read_bytes(b"," * 200_000 + b"\n" + b"," * 200_000 + b"\n", "commas")


def test_a_column_of_numbers_that_is_text_is_named_with_its_words():
    rows = [f"{k},{k % 5},{k}" for k in range(30)] + ["none,none,30"] * 9 + ["refused,refused,31"]
    content = ("income,children,c\n" + "\n".join(rows) + "\n").encode()
    frame, notes = parse_both_ways(content, "file", TextFormat())
    assert frame.schema["income"] == pl.String
    # the numbers of children are few: categories, like the words
    assert notes == (Note("numbers-and-words", ("income",), (25,), words=("'none', 'refused'",)),)
    frame, notes = parse_both_ways(content, "file", TextFormat(na=("none", "refused")))
    assert frame.schema["income"] == pl.Int64
    assert [note.kind for note in notes] == ["read-as-missing"]
