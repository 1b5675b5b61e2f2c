"""CSV and similar text: what is detected, what is noted, and what is refused in one sentence."""

from datetime import date, datetime

import polars as pl
import pytest
from both_ways import parse_both_ways
from hypothesis import given
from hypothesis import strategies as st

from analogical import InputError
from analogical.io.formats import NA, TextFormat

TABLE = "a,b,y\n1,x,0\n2,z,1\n"
ROWS = [(1, "x", 0), (2, "z", 1)]


def parsed(text, **options):
    content = text if isinstance(text, bytes) else text.encode()
    return parse_both_ways(content, "'t.csv'", TextFormat(**options))


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
        ("a,a,a", ["a", "a_2", "a_3"], "repeated column names were numbered: a_2, a_3"),
        ("a,a,a_2", ["a", "a_3", "a_2"], "repeated column names were numbered: a_3"),
        ("a,,y", ["a", "x2", "y"], "columns without a name: x2"),
        ("x2,,y", ["x2", "x2_2", "y"], "columns without a name: x2"),
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
    assert (frame.columns, frame.rows(), found) == (["x1", "x2", "x3"], ROWS, ())
    assert parsed(text, names=("p", "q", "r"))[0].columns == ["p", "q", "r"]
    assert parsed(text, names=("p", "p", ""))[0].columns == ["p", "p_2", "x3"]
    with pytest.raises(InputError, match=r"--names has 2 names, and 't.csv' has 3 columns; give one for each"):
        parsed(text, names=("p", "q"))
    assert rows("1,2", header=False) == [(1, 2)]


def test_lines_that_end_in_a_separator():
    frame, found = parsed("a,b,y,\n1,x,0,\n2,z,1,\n")
    assert (frame.columns, frame.rows()) == (["a", "b", "y"], ROWS)
    assert found[-1] == "left out the last column, which is empty: lines end with a separator"
    assert parsed("a,b,\n1,x,0\n2,z,1\n")[0].columns == ["a", "b", "x3"]  # it has cells
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
    assert sorted(found[0].removeprefix("read as missing: ").split(";")[0].split(", ")) == ["'999' (1)", "'none' (1)"]


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
        (["20200101", "20200102"], [20200101, 20200102], pl.Int64),
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
        (["1.234,5", "2"], ["1.234,5", "2"]),
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


def test_many_columns_are_typed_alike(monkeypatch):
    """Columns are looked at in groups; the size of a group changes nothing."""
    text = "a,b,c,d,y\n1,x,1.5,2020-01-01,0\n2, z,?,2020-01-02,1\n"
    whole = parsed(text)
    monkeypatch.setattr("analogical.io.text._N_CELLS", 2)
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
