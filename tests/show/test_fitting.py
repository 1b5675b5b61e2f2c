"""Tables in few columns: numbers stay whole, and what has no room is named."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from analogical.show.views import Cell, Heading, Table, fit_table
from analogical.show.words import shorten, shorten_apart, width_of, wrap_words

NAME = Heading("feature", is_text=True, may_shorten=True)


def table_of(names, numbers, leaving):
    """Names, a column of numbers with bars that always stays, and others that leave in some order."""
    headings = (NAME, Heading("score"), *(Heading(f"n{k}", drop_order=k) for k in leaving))
    rows = tuple(
        (Cell(name), Cell(f"{n}", bar=0.5), *(Cell(f"{n + k}") for k in leaving))
        for name, n in zip(names, numbers, strict=True)
    )
    return Table(headings, rows)


def lines_of(table, width, **options):
    fitted = fit_table(table, width, **options)
    return ["  ".join(cell.text for cell in line).rstrip() for line in fitted.lines], fitted.left_out


TABLE = table_of(["previous_loans_until_2020", "age"], [123_456_789, 7], [1, 2, 3])


@pytest.mark.parametrize(
    ("width", "line", "left_out"),
    [
        (90, "previous_loans_until_2020  123456789  ███     123456790  123456791  123456792", ()),
        (70, "previous_…til_2020  123456789  ███     123456790  123456791  123456792", ()),
        (60, "previous…il_2020  123456789  123456790  123456791  123456792", ()),
        (51, "pre…020  123456789  123456790  123456791  123456792", ()),
        (50, "previous…til_2020  123456789  123456790  123456791", ("n3",)),
        (30, "prev…020  123456789  123456790", ("n2", "n3")),
        (20, "prev…2020  123456789", ("n1", "n2", "n3")),
        (5, "pre…020  123456789", ("n1", "n2", "n3")),
    ],
)
def test_names_are_shortened_then_bars_go_and_then_columns(width, line, left_out):
    lines, missing = lines_of(TABLE, width)
    assert (lines[1], missing) == (line, left_out)


@given(
    st.lists(st.text("ab日 ", max_size=40), min_size=1, max_size=4),
    st.integers(0, 10**12),
    st.sets(st.integers(1, 4)),
    st.integers(1, 120),
)
def test_numbers_are_whole_and_columns_are_shown_or_named(names, number, leaving, width):
    table = table_of(names, [number] * len(names), sorted(leaving))
    lines, left_out = lines_of(table, width, blocks=False)
    stays = [k for k in sorted(leaving) if f"n{k}" not in left_out]
    for line in lines[1:]:
        assert [word for word in line.split() if word.isdigit()] == [str(number + k) for k in (0, *stays)]
    assert [f"n{k}" for k in sorted(leaving) if k not in stays] == list(left_out)
    assert stays == sorted(leaving)[: len(stays)]
    if left_out != tuple(f"n{k}" for k in sorted(leaving)):
        assert max(map(width_of, lines)) <= width


def test_different_names_stay_different_when_they_are_cut():
    names = ["number_of_loans_before_2020_a", "number_of_loans_before_2020_b"]
    lines, _ = lines_of(table_of(names, [1, 2], []), 30)
    first, second = (line.split()[0] for line in lines[1:])
    assert first != second
    assert "…" in first
    assert first.endswith("_a")


RINGS = ["stalk-surface-above-ring", "stalk-surface-below-ring", "stalk-color-above-ring", "stalk-color-below-ring"]


@pytest.mark.parametrize("width", range(5, 30))
@pytest.mark.parametrize("names", [RINGS, [f"total_{k}_charge" for k in range(40)], ["x" * n for n in range(20, 40)]])
def test_shortened_names_are_never_equal(names, width):
    cut = shorten_apart(names, width, "…")
    assert len(set(cut)) == len(names)
    assert max(map(len, cut)) <= width
    assert [short for short, name in zip(cut, names, strict=True) if len(name) <= width] == [
        name for name in names if len(name) <= width
    ]


def test_names_that_differ_in_the_middle_show_where():
    assert shorten_apart(["total_day_charge", "total_eve_charge"], 10) == ["…l_day_ch…", "…l_eve_ch…"]


def test_cells_that_wrap_lose_no_word():
    words = "gender male → female, as it was recorded"
    table = Table((Heading("values", is_text=True, may_wrap=True), Heading("pairs")), ((Cell(words), Cell("27,857")),))
    lines, left_out = lines_of(table, 20)
    assert left_out == ()
    assert max(map(len, lines)) <= 20
    assert " ".join(lines).replace("27,857", "").split() == ["values", "pairs", *words.split()]


def test_nothing_goes_where_all_is_kept():
    lines, left_out = lines_of(TABLE, 20, keeps_all=True)
    assert left_out == ()
    assert lines[1].split() == ["previous_loans_until_2020", "123456789", "███", "123456790", "123456791", "123456792"]
    lines, _ = lines_of(table_of(["x" * 1000], [1], []), 80, keeps_all=True)
    assert max(map(len, lines)) < 80


def test_wide_characters_keep_columns_aligned():
    lines, _ = lines_of(table_of(["日本", "ab"], [1, 2], [1]), 80, blocks=False)
    assert {width_of(line[: line.index("#")]) for line in lines[1:]} == {len("feature      1  ")}


def test_bars_without_blocks():
    shares = (0.0, 0.02, 0.25, 1.0, 1.5, float("nan"), -0.1)
    table = Table((Heading("score"),), tuple((Cell("0", bar=share),) for share in shares))
    drawn = [line.removeprefix("    0").strip() for line in lines_of(table, 80, blocks=False)[0][1:]]
    assert drawn == ["", ".", "##", "######", "######", "", ""]
    drawn = [line.removeprefix("    0").strip() for line in lines_of(table, 80)[0][1:]]
    assert drawn == ["", "▏", "█▌", "██████", "██████", "", ""]


def test_texts_are_as_wide_as_they_will_be_written():
    table = Table((NAME, Heading("n")), ((Cell("größe"), Cell("1")), (Cell("a"), Cell("2"))))
    lines, _ = lines_of(table, 80, writable=lambda text: text.encode("ascii", "backslashreplace").decode())
    assert lines == ["feature      n", r"gr\xf6\xdfe  1", "a            2"]


def test_texts_are_cut_by_columns_and_not_by_characters():
    assert shorten("abcdef", 6) == "abcdef"
    assert shorten("abcdefg", 6) == "abc…fg"
    assert shorten("日本日本", 6) == "日…本"
    assert shorten("abcdefg", 6, "...") == "ab...g"
    assert shorten("abcdefg", 5) == "ab…fg"
    assert wrap_words("a  b", 9) == ["a  b"]
    assert wrap_words("to be or", 5) == ["to be", "or"]
    assert wrap_words("abcdefg hi", 3) == ["abc", "def", "g", "hi"]
    assert wrap_words("", 3) == [""]
