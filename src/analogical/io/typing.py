"""What the cells of a text column are: missing, numbers, dates or text. One rule set for every reader.

A rule is a pattern that cells match, and the patterns that are replaced before they are cast. polars and Spark read
these patterns alike (no look-around, no named groups), so that both only count matches, ask :func:`decide`, and apply
what it says. A column is decided as a whole: it has one kind, whichever batch or partition its cells are in.
"""

from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from functools import partial
from typing import Any, Literal

import numpy as np
import polars as pl
from numpy.typing import NDArray

from analogical._types import Note

__all__ = [
    "FIRST_TESTS",
    "FURTHER_TESTS",
    "MOST_NAMED",
    "MOST_WORDS",
    "NUMBER",
    "CellNotes",
    "Reading",
    "convert",
    "count_matches",
    "decide",
    "holds_words",
    "may_hold_numbers",
    "missing_words",
    "needs_further_tests",
    "settle",
    "strip_cells",
    "type_columns",
]

MOST_WORDS = 5
"""Different words that may stand among numbers or dates and are then missing cells; a word holds no digit."""
SHARE = 0.8
"""Share of the cells that must be numbers or dates if the others are such words."""
FEW_NUMBERS = 20
"""Numbers that differ, up to which words beside them are categories like the numbers: the column stays text."""

FEWEST = 0.1
"""Share of the cells that must be numbers for a column that stays text to be named, if the others are such words."""
MOST_NAMED = 1000
"""Different words among numbers up to which a column that stays text is named, if nearly all cells are numbers."""
N_NAMED = 3
"""Words that are named, the most frequent ones."""

_MARKS = r" '’\x{a0}\x{202f}"
"""Signs beside comma and point between thousands."""
_WITH_COMMAS, _WITH_POINTS = (
    rf"(?:[1-9][0-9]{{0,2}}(?:[{mark}{_MARKS}][0-9]{{3}})+|0|[1-9][0-9]*)" for mark in (",", ".")
)
"""Whole numbers, perhaps with a sign between thousands."""
_CURRENCY = r"(?:[$€£¥₹]|USD|EUR|GBP|CHF|JPY|CNY|INR|AUD|CAD|SEK|NOK|DKK|PLN|BRL|MXN|ZAR|KRW)"
_BEFORE = rf"^\(?[+−-]?[ \x{{a0}}]?{_CURRENCY}?[ \x{{a0}}]?[+−-]?"
_AFTER = rf"[ \x{{a0}}\x{{202f}}]?(?:%|{_CURRENCY})?\)?$"
_MONTHS = ("jan", "feb", "mar", "apr", "may", "jun", "jul", "aug", "sep", "oct", "nov", "dec")
_DAY, _MONTH = "(?:0?[1-9]|[12][0-9]|3[01])", "(?:0?[1-9]|1[0-2])"
_YEAR = "[12][0-9]{3}"
_NAME = rf"(?:{'|'.join(_MONTHS)})[a-z]*\.?"
_TIME = r"[0-9]{1,2}:[0-9]{2}(?::[0-9]{2}(?:\.[0-9]+)?)?(?: ?[AaPp][Mm])?"
_ZONE = r" ?(?:Z|UTC|[+-][0-9]{2}:?[0-9]{2})"
_CLOCK = rf"(?:(?:T|,? ){_TIME}(?:{_ZONE})?)?"

NUMBER = r"^[+-]?(?:(?:0|[1-9][0-9]*)(?:\.[0-9]*)?|\.[0-9]+)(?:[eE][+-]?[0-9]+)?$"
"""Codes with leading zeros, such as 007, are not numbers."""
FIRST_TESTS = {
    "number": NUMBER,
    "integer": r"^[+-]?[0-9]+$",
    "long": r"^[+-]?[0-9]{19,}$",  # may not fit 64 bits, and as floats different ones would be equal
    "digit": "[0-9]",
    "compact": r"^(?:19|20)[0-9]{2}(?:0[1-9]|1[0-2])(?:0[1-9]|[12][0-9]|3[01])$",
}
"""Counted for every column."""
FURTHER_TESTS = {
    "point": rf"{_BEFORE}(?:{_WITH_COMMAS}(?:\.[0-9]*)?|\.[0-9]+){_AFTER}",
    "comma": rf"{_BEFORE}{_WITH_POINTS}(?:,[0-9]+)?{_AFTER}",
    "has comma": ",",
    "has point": r"\.",
    "currency": _CURRENCY,
    "percent": "%",
    "brackets": r"^\(",
    "thousands, point": rf"[0-9][,{_MARKS}][0-9]{{3}}",
    "thousands, comma": rf"[0-9][.{_MARKS}][0-9]{{3}}",
    "iso day": rf"^{_YEAR}-(?:0[1-9]|1[0-2])-(?:0[1-9]|[12][0-9]|3[01])$",
    "year first": rf"^{_YEAR}[-/.]{_MONTH}[-/.]{_DAY}{_CLOCK}$",
    "day first": rf"^{_DAY}(?:[-/.]{_MONTH}[-/.]{_YEAR}|/{_MONTH}/[0-9]{{2}}){_CLOCK}$",
    "month first": rf"^{_MONTH}(?:[-/.]{_DAY}[-/.]{_YEAR}|/{_DAY}/[0-9]{{2}}){_CLOCK}$",
    "day, month name": rf"(?i)^{_DAY}[- /]?{_NAME}[-, /]+{_YEAR}{_CLOCK}$",
    "month name, day": rf"(?i)^{_NAME} ?{_DAY},? {_YEAR}{_CLOCK}$",
    "dots": r"^[0-9]{1,2}\.[0-9]{1,2}\.",
    "clock": "[0-9]:[0-9]{2}",
    "half days": "[0-9] ?[AaPp][Mm]",
}
"""Counted for columns that are not plain numbers and have digits in most cells."""

Kind = Literal["text", "whole", "real", "day", "time"]


@dataclass(frozen=True)
class Reading:
    """What the cells of a column are, and what is replaced in them before they are cast."""

    kind: Kind = "text"
    steps: tuple[tuple[str, str], ...] = ()
    """Patterns, each with what takes its place, one after the other."""
    accepts: str | None = None
    """The pattern of the cells that are read, where others are words, which become missing; None if there are none."""
    forms: tuple[str, ...] = ()
    """How numbers or dates are written, for the note; nothing for plain ones."""
    is_sure: bool = True
    """Whether all cells of the form can be cast; a 30th of February and whole numbers beyond 64 bits cannot."""


TEXT = Reading()


def needs_further_tests(counts: Mapping[str, int]) -> bool:
    """Whether the first tests leave it open what a column holds."""
    n = counts["present"]
    return 0 < n != counts["number"] and counts["digit"] >= SHARE * n


def decide(counts: Mapping[str, int], separator: str) -> Reading:
    """What a column holds, from how many of its cells match each test; the further tests may not have been counted.

    A reading that accepts only some cells holds if the others are few different words (:func:`holds_words`), and one
    that is not sure if all cells can be cast; otherwise the column is text.
    """
    n = counts["present"]
    if not n:
        return TEXT
    if counts["number"] == n:
        if counts["compact"] == n:
            return _date("year first", counts)
        if counts["integer"] == n:
            return Reading("whole", is_sure=not counts["long"])
        return TEXT if counts["long"] else Reading("real")
    if "point" not in counts:
        return TEXT
    if counts["iso day"] == n:
        return Reading("day", is_sure=False)
    style = _style(counts, separator)
    if counts["number"] >= max(counts[style], SHARE * n):
        return Reading("real", accepts=NUMBER)
    if counts[style] >= SHARE * n:
        return _written_number(style, counts)
    order = _order(counts)
    return TEXT if order is None else _date(order, counts)


def _style(counts: Mapping[str, int], separator: str) -> str:
    """Whether numbers have a decimal point or a decimal comma; a tie, as with 1,234 alone, goes by the separator."""
    point, comma = counts["point"], counts["comma"]
    if separator == "," and not (counts["currency"] or counts["percent"] or counts["has point"]):
        comma = 0  # 1,5 in quotes may be a list of two
    if point == comma:
        return "comma" if counts["has comma"] and separator == ";" else "point"
    return "comma" if comma > point else "point"


def _written_number(style: str, counts: Mapping[str, int]) -> Reading:
    is_all = counts[style] == counts["present"]
    if counts["brackets"] and counts["brackets"] == counts[style]:
        return TEXT  # (1), (2) and (3) are not negative
    forms = [form for form in ("currency", f"thousands, {style}", "percent", "brackets") if counts[form]]
    forms = [form.split(",")[0] for form in forms]
    if style == "comma" and counts["has comma"]:
        forms.append("decimal commas")
    kept = "." if style == "point" else ","
    steps = [("−", "-"), (f"[^0-9{kept}()+-]", ""), *([(",", ".")] if style == "comma" else [])]
    if counts["brackets"]:
        steps.append((r"^\((.*)\)$", "-$1"))
    return Reading("real", tuple(steps), None if is_all else FURTHER_TESTS[style], tuple(forms))


def _order(counts: Mapping[str, int]) -> str | None:
    """Where the day, the month and the year stand, if nearly all cells are dates of that form."""
    forms = ("year first", "day first", "month first", "day, month name", "month name, day")
    best = max(forms, key=lambda form: counts[form])  # the first of those that are equal
    if counts[best] < SHARE * counts["present"]:
        return None
    if counts["day first"] == counts["month first"] == counts[best]:
        return "day first" if counts["dots"] else "month first"
    return best


def _date(order: str, counts: Mapping[str, int]) -> Reading:
    """Dates of one form, rewritten as year-month-day and hour:minute:second."""
    if counts["compact"] == counts["present"]:
        return Reading("day", ((r"^(....)(..)(..)$", "$1-$2-$3"),), forms=("year, month, day",), is_sure=False)
    has_clock = bool(counts["clock"])
    steps = [(f"({_TIME}){_ZONE}$", "$1")]
    if "name" in order:
        steps += [(rf"(?i){name}[a-z]*\.?", f" {k} ") for k, name in enumerate(_MONTHS, 1)]
    places = {"year first": "$1-$2-$3", "day first": "$3-$2-$1", "day, month name": "$3-$2-$1"}
    steps.append((r"^ *([0-9]+)[^0-9]+([0-9]+)[^0-9]+([0-9]+)", places.get(order, "$3-$1-$2")))
    steps += [("^([0-6][0-9])-", "20$1-"), ("^([7-9][0-9])-", "19$1-")]
    steps += [("-([0-9])-", "-0$1-"), ("-([0-9])([ T,]|$)", "-0$1$2"), (r"(?:T|,? )([0-9]):", " 0$1:")]
    if has_clock:
        steps += [("^(.{10})$", "$1 00:00:00"), ("^(.{10})(?:T|,? )", "$1 "), ("^(.{16})( ?[AaPp]|$)", "$1:00$2")]
    if counts["half days"]:
        steps.append(("^(.{10}) 12(.*?) ?[aA][mM]$", "$1 00$2"))
        steps += [(f"^(.{{10}}) {h:02}(.*?) ?[pP][mM]$", f"$1 {h + 12}$2") for h in range(1, 12)]
        steps.append((" ?[AaPp][Mm]$", ""))
    is_iso = order == "year first"
    is_ambiguous = counts["day first"] == counts["month first"] == counts[order] and "name" not in order
    return Reading(
        "time" if has_clock else "day",
        tuple(steps),
        None if counts[order] == counts["present"] else FURTHER_TESTS[order],
        () if is_iso else (f"{order}, not certain: no day above 12" if is_ambiguous else order,),
        is_sure=False,
    )


def holds_words(words: Iterable[str], n_numbers: int) -> bool:
    """Whether cells that are not numbers or dates are few different words, beside more than a few different numbers."""
    some = list(words)
    return len(some) <= MOST_WORDS and not any(c.isdigit() for word in some for c in word) and n_numbers > FEW_NUMBERS


def may_hold_numbers(counts: Mapping[str, int]) -> bool:
    """Whether a column that stays text may hold numbers beside words, which have no digit."""
    n = counts["number"]
    return counts["digit"] == n < counts["present"] and n >= FEWEST * counts["present"]


def missing_words(na: Sequence[str]) -> list[str]:
    """Cells that are missing, in small letters and without spaces around them."""
    return sorted({word.strip().lower() for word in (*na, "")})


@dataclass(frozen=True)
class Mixture:
    """Words among the numbers of a column that is text."""

    share: int
    """Of the cells that are not missing, in per cent."""
    words: tuple[str, ...]
    """The most frequent ones."""


@dataclass
class CellNotes:
    """What was changed in the cells of a file."""

    has_spaces: bool = False
    missing: Counter[str] = field(default_factory=Counter)
    """Words that were read as missing in all columns."""
    decimal_commas: list[str] = field(default_factory=list)
    numbers: dict[str, int] = field(default_factory=dict)
    """Columns with numbers that are not plain, and how many such cells there are."""
    forms: dict[str, None] = field(default_factory=dict)
    dates: dict[str, str] = field(default_factory=dict)
    words: dict[tuple[str, str], int] = field(default_factory=dict)
    """Words among numbers or dates, by column."""
    mixtures: dict[str, Mixture] = field(default_factory=dict)
    """Columns of numbers that are text."""

    def add(self, name: str, reading: Reading, n_written: int, words: Mapping[str, int]) -> None:
        """One column that was not read as it stands."""
        if reading.forms == ("decimal commas",):
            self.decimal_commas.append(name)
        elif reading.forms and reading.kind == "real":
            self.numbers[name] = n_written
            self.forms |= dict.fromkeys(reading.forms)
        elif reading.forms:
            self.dates[name] = reading.forms[0]
        self.words |= {(name, word): n for word, n in words.items()}

    def add_mixture(self, name: str, counts: Mapping[str, int], n_numbers: int, words: Mapping[str, int]) -> None:
        """A column that stays text, if it holds more than a few different numbers and the words are few or rare."""
        is_mostly_numbers = counts["number"] >= SHARE * counts["present"]
        if n_numbers > FEW_NUMBERS and (len(words) <= MOST_WORDS or is_mostly_numbers):
            most_first = sorted(words, key=lambda word: (-words[word], word))[:N_NAMED]
            share = 1 - counts["number"] / counts["present"]
            self.mixtures[name] = Mixture(max(1, round(100 * share)), tuple(most_first))

    def notes(self) -> Iterator[Note]:
        """One for each kind of change."""
        if self.has_spaces:
            yield Note("spaces-stripped")
        if self.missing:
            most_first = sorted(self.missing.items(), key=lambda item: (-item[1], item[0]))
            yield Note("read-as-missing", (), tuple(n for _, n in most_first), words=tuple(w for w, _ in most_first))
        if self.decimal_commas:
            yield Note("decimal-commas", tuple(self.decimal_commas))
        if self.numbers:
            yield Note("read-as-numbers", tuple(self.numbers), tuple(self.numbers.values()), words=tuple(self.forms))
        if self.dates:
            yield Note("read-as-dates", tuple(self.dates), words=tuple(self.dates.values()))
        if self.words:
            names, words = zip(*self.words, strict=True)
            yield Note("words-read-as-missing", names, tuple(self.words.values()), words=words)
        if self.mixtures:
            shares = tuple(one.share for one in self.mixtures.values())
            named = tuple(", ".join(map(repr, one.words)) for one in self.mixtures.values())
            yield Note("numbers-and-words", tuple(self.mixtures), shares, words=named)


# ---------------------------------------------------------------- cells of polars


def strip_cells(raw: pl.Series, na: Sequence[str], notes: CellNotes, times: pl.Series | None = None) -> pl.Series:
    """Cells without spaces, missing where they say so; each stands for so many."""
    cells = raw.str.strip_chars()
    notes.has_spaces |= bool((cells.str.len_bytes() != raw.str.len_bytes()).any())
    small = cells.str.to_lowercase()
    is_na = small.is_in(missing_words(na))
    if is_na.any():
        words = pl.DataFrame({"word": small, "n": 1 if times is None else times}).filter(is_na & (small != ""))
        notes.missing.update(dict(words.group_by("word").agg(pl.col("n").sum()).iter_rows()))
        cells = cells.set(is_na.fill_null(False), None)
    return cells


def count_matches(
    cells: pl.Series, tests: Mapping[str, str], n_rows: int, times: pl.Series | None = None
) -> dict[str, NDArray[np.int64]]:
    """For columns of so many rows, one below the other, the cells of each that match each test."""

    def sums(is_there: pl.Series) -> NDArray[np.int64]:
        places = is_there.fill_null(False).to_numpy().reshape(-1, n_rows)
        found: NDArray[np.int64] = (places if times is None else places * times.to_numpy()).sum(axis=1, dtype=np.int64)
        return found

    found = {"present": sums(cells.is_not_null())}
    return found | {name: sums(cells.str.contains(pattern)) for name, pattern in tests.items()}


def type_columns(
    columns: Sequence[pl.Series],
    na: Sequence[str],
    separator: str,
    notes: CellNotes,
    times: pl.Series | None = None,
) -> list[pl.Series]:
    """Columns of texts with missing cells, numbers and dates; ``times`` says how many cells each cell stands for.

    They are looked at one below the other, because polars is slow with thousands of columns.
    """
    m = len(columns[0])
    cells = strip_cells(pl.concat([column.alias("") for column in columns], rechunk=True), na, notes, times)
    first = count_matches(cells, FIRST_TESTS, m, times)
    typed = []
    for k, column in enumerate(columns):
        own = cells.slice(k * m, m).alias(column.name)
        counts = {name: int(sums[k]) for name, sums in first.items()}
        reading = settle(counts, partial(list, [own]), separator, notes, column.name, times)
        typed.append(convert(own, reading))
    return typed


def settle(
    first: Mapping[str, int],
    batches: Callable[[], Iterable[pl.Series]],
    separator: str,
    notes: CellNotes,
    name: str,
    times: pl.Series | None = None,
) -> Reading:
    """How a column is read, from its first tests and a look at all of its cells where these do not settle it."""
    reading = _settle(first, batches, separator, notes, name, times)
    if reading.kind == "text" and may_hold_numbers(first):
        _name_words(first, batches, notes, name, times)
    return reading


def _settle(
    first: Mapping[str, int],
    batches: Callable[[], Iterable[pl.Series]],
    separator: str,
    notes: CellNotes,
    name: str,
    times: pl.Series | None,
) -> Reading:
    """How a column is read."""
    counts = Counter(first)
    if needs_further_tests(counts):
        counts.update(dict.fromkeys(FURTHER_TESTS, 0))
        for cells in batches():
            further = count_matches(cells, FURTHER_TESTS, len(cells), times)
            counts.update({test: int(further[test][0]) for test in FURTHER_TESTS})
    reading = decide(counts, separator)
    words: Counter[str] = Counter()
    if reading.accepts is not None or not reading.is_sure:
        numbers: set[Any] = set()
        for cells in batches():
            accepted = accept(cells, reading)
            others = pl.DataFrame({"cell": cells, "n": 1 if times is None else times}).filter(
                cells.is_not_null() & accepted.is_null()
            )
            words.update(dict(others.group_by("cell").agg(pl.col("n").sum()).head(MOST_WORDS + 1).iter_rows()))
            converted = convert(cells, reading)
            numbers.update(converted.drop_nulls().unique().head(FEW_NUMBERS + 1))
            is_read = converted.null_count() == accepted.null_count()
            if not is_read or (words and not holds_words(words, FEW_NUMBERS + 1)):
                return TEXT
        if words and not holds_words(words, len(numbers)):
            return TEXT
    notes.add(name, reading, counts["present"] - counts["number"] - words.total(), dict(sorted(words.items())))
    return reading


def _name_words(
    counts: Mapping[str, int],
    batches: Callable[[], Iterable[pl.Series]],
    notes: CellNotes,
    name: str,
    times: pl.Series | None,
) -> None:
    """Keep in mind a column of numbers that is text, because there are too many words among them."""
    words, numbers = Counter[str](), set[float]()
    for cells in batches():
        is_number = cells.str.contains(NUMBER)
        others = pl.DataFrame({"cell": cells, "n": 1 if times is None else times}).filter(~is_number)
        words.update(dict(others.group_by("cell").agg(pl.col("n").sum()).iter_rows()))
        numbers.update(cells.filter(is_number).cast(pl.Float64, strict=False).unique().head(FEW_NUMBERS + 1))
        if len(words) > MOST_NAMED:
            return
    notes.add_mixture(name, counts, len(numbers), words)


def accept(cells: pl.Series, reading: Reading) -> pl.Series:
    """The cells without words that are missing beside numbers or dates."""
    if reading.accepts is None:
        return cells
    return cells.set(~cells.str.contains(reading.accepts).fill_null(True), None)


def convert(cells: pl.Series, reading: Reading) -> pl.Series:
    """The cells as what they are; missing where they cannot be that."""
    if reading.kind == "text":
        return cells
    cells = accept(cells, reading)
    for pattern, by in reading.steps:
        cells = cells.str.replace_all(pattern, by)
    if reading.kind == "day":
        return cells.str.strptime(pl.Date, "%Y-%m-%d", strict=False)
    if reading.kind == "time":
        return cells.str.strptime(pl.Datetime("us"), "%Y-%m-%d %H:%M:%S%.f", strict=False)
    return cells.cast(pl.Int64 if reading.kind == "whole" else pl.Float64, strict=False)
