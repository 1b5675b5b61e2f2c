"""What the cells of a text column are: missing, numbers, dates or text. One rule set for every reader.

A rule is a regular expression that cells match, and replacements to make before they are cast. The patterns mean the
same in polars, DuckDB and Spark (no look-around, no named groups): each reader counts matches, asks :func:`decide`, and
applies the answer. A column has one kind, decided on all of its cells.
"""

from collections import Counter
from collections.abc import Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Literal, NamedTuple, Protocol

import polars as pl

from analogical._types import Note

__all__ = [
    "FIRST_TESTS",
    "FURTHER_TESTS",
    "NUMBER",
    "CellNotes",
    "Converted",
    "Reading",
    "TextColumn",
    "decide",
    "holds_words",
    "missing_words",
    "needs_further_tests",
    "settle",
    "type_columns",
]

MOST_WORDS = 5
"""Distinct words allowed among numbers or dates, which then become missing cells; a word has no digit."""
SHARE = 0.8
"""Share of the cells that must be numbers or dates if the others are words."""
FEW_NUMBERS = 20
"""With at most this many distinct numbers, words and numbers are both categories: the column stays text."""
FEWEST = 0.1
"""Share of the cells that must be numbers for a note on a column that stays text because of its words."""
MOST_NAMED = 1000
"""Distinct words among numbers, up to which there is such a note."""
N_NAMED = 3
"""Words named in that note, the most frequent ones."""

_MARKS = r" '’\x{a0}\x{202f}"
"""Thousands separators other than comma and point."""
_WITH_COMMAS, _WITH_POINTS = (
    rf"(?:[1-9][0-9]{{0,2}}(?:[{mark}{_MARKS}][0-9]{{3}})+|0|[1-9][0-9]*)" for mark in (",", ".")
)
"""Whole numbers with or without thousands separators."""
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
"""A plain number; codes with leading zeros, such as 007, are not numbers."""
FIRST_TESTS = {
    "number": NUMBER,
    "integer": r"^[+-]?[0-9]+$",
    "long": r"^[+-]?[0-9]{19,}$",  # may overflow 64 bits, and floats would merge distinct ones
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
    """What the cells of a column are, and how they are rewritten before they are cast."""

    kind: Kind = "text"
    replacements: tuple[tuple[str, str], ...] = ()
    """Patterns and their replacements, applied in order."""
    accepts: str | None = None
    """Pattern of the cells to read; all others are words, which become missing. None if all cells are read."""
    forms: tuple[str, ...] = ()
    """How numbers or dates are written, for the note; empty for plain ones."""
    is_sure: bool = True
    """Whether every matching cell can be cast; February 30 and whole numbers beyond 64 bits cannot."""


TEXT = Reading()


def needs_further_tests(counts: Mapping[str, int]) -> bool:
    """Whether the first tests do not settle what a column holds."""
    n = counts["present"]
    return 0 < n != counts["number"] and counts["digit"] >= SHARE * n


def decide(counts: Mapping[str, int], separator: str) -> Reading:
    """How to read a column, from the number of its cells that match each test; the further tests may be absent.

    The caller must check two readings: one with ``accepts`` is valid if the other cells are few distinct words
    (:func:`holds_words`), and one that is not sure if all cells can be cast. Otherwise the column is text.
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
    """Whether numbers have a decimal point or a decimal comma; the separator decides ties, such as 1,234 alone."""
    point, comma = counts["point"], counts["comma"]
    if separator == "," and not (counts["currency"] or counts["percent"] or counts["has point"]):
        comma = 0  # 1,5 in quotes may be a list of two
    if point == comma:
        return "comma" if counts["has comma"] and separator == ";" else "point"
    return "comma" if comma > point else "point"


def _written_number(style: str, counts: Mapping[str, int]) -> Reading:
    """Numbers with currency, percent, thousands separators, brackets for negatives, or decimal commas."""
    is_all = counts[style] == counts["present"]
    if counts["brackets"] and counts["brackets"] == counts[style]:
        return TEXT  # (1), (2) and (3) are not negative
    forms = [form for form in ("currency", f"thousands, {style}", "percent", "brackets") if counts[form]]
    forms = [form.split(",")[0] for form in forms]
    if style == "comma" and counts["has comma"]:
        forms.append("decimal commas")
    kept = "." if style == "point" else ","
    replacements = [("−", "-"), (f"[^0-9{kept}()+-]", ""), *([(",", ".")] if style == "comma" else [])]
    if counts["brackets"]:
        replacements.append((r"^\((.*)\)$", "-$1"))
    return Reading("real", tuple(replacements), None if is_all else FURTHER_TESTS[style], tuple(forms))


def _order(counts: Mapping[str, int]) -> str | None:
    """The order of day, month and year, if nearly all cells are dates in that order."""
    forms = ("year first", "day first", "month first", "day, month name", "month name, day")
    best = max(forms, key=lambda form: counts[form])  # the first one if several are equal
    if counts[best] < SHARE * counts["present"]:
        return None
    if counts["day first"] == counts["month first"] == counts[best]:
        return "day first" if counts["dots"] else "month first"
    return best


def _date(order: str, counts: Mapping[str, int]) -> Reading:
    """Dates in one order, rewritten as year-month-day and hour:minute:second."""
    if counts["compact"] == counts["present"]:
        return Reading("day", ((r"^(....)(..)(..)$", "$1-$2-$3"),), forms=("year, month, day",), is_sure=False)
    has_clock = bool(counts["clock"])
    replacements = [(f"({_TIME}){_ZONE}$", "$1")]
    if "name" in order:
        replacements += [(rf"(?i){name}[a-z]*\.?", f" {k} ") for k, name in enumerate(_MONTHS, 1)]
    places = {"year first": "$1-$2-$3", "day first": "$3-$2-$1", "day, month name": "$3-$2-$1"}
    replacements.append((r"^ *([0-9]+)[^0-9]+([0-9]+)[^0-9]+([0-9]+)", places.get(order, "$3-$1-$2")))
    replacements += [("^([0-6][0-9])-", "20$1-"), ("^([7-9][0-9])-", "19$1-")]
    replacements += [("-([0-9])-", "-0$1-"), ("-([0-9])([ T,]|$)", "-0$1$2"), (r"(?:T|,? )([0-9]):", " 0$1:")]
    if has_clock:
        replacements += [
            ("^(.{10})$", "$1 00:00:00"),
            ("^(.{10})(?:T|,? )", "$1 "),
            ("^(.{16})( ?[AaPp]|$)", "$1:00$2"),
        ]
    if counts["half days"]:
        replacements.append(("^(.{10}) 12(.*?) ?[aA][mM]$", "$1 00$2"))
        replacements += [(f"^(.{{10}}) {h:02}(.*?) ?[pP][mM]$", f"$1 {h + 12}$2") for h in range(1, 12)]
        replacements.append((" ?[AaPp][Mm]$", ""))
    is_iso = order == "year first"
    is_ambiguous = counts["day first"] == counts["month first"] == counts[order] and "name" not in order
    return Reading(
        "time" if has_clock else "day",
        tuple(replacements),
        None if counts[order] == counts["present"] else FURTHER_TESTS[order],
        () if is_iso else (f"{order}, not certain: no day above 12" if is_ambiguous else order,),
        is_sure=False,
    )


def holds_words(words: Collection[str], n_numbers: int) -> bool:
    """Whether cells that are not numbers or dates are few distinct words, among more than a few distinct numbers."""
    has_digit = any(c.isdigit() for word in words for c in word)
    return len(words) <= MOST_WORDS and not has_digit and n_numbers > FEW_NUMBERS


def may_hold_numbers(counts: Mapping[str, int]) -> bool:
    """Whether a column that stays text may hold numbers and words, where no word has a digit."""
    n = counts["number"]
    return counts["digit"] == n < counts["present"] and n >= FEWEST * counts["present"]


def missing_words(na: Sequence[str]) -> list[str]:
    """Words for missing cells, in lower case and without spaces around them."""
    return sorted({word.strip().lower() for word in (*na, "")})


@dataclass(frozen=True)
class Mixture:
    """Words among the numbers of a column that stays text."""

    share: int
    """Percentage of the present cells that are words."""
    words: tuple[str, ...]
    """The most frequent words."""


@dataclass
class CellNotes:
    """What was changed in the cells of a file."""

    has_spaces: bool = False
    missing: Counter[str] = field(default_factory=Counter)
    """Words read as missing, over all columns."""
    decimal_commas: list[str] = field(default_factory=list)
    numbers: dict[str, int] = field(default_factory=dict)
    """Number of cells that are not plain numbers, by column."""
    forms: dict[str, None] = field(default_factory=dict)
    dates: dict[str, str] = field(default_factory=dict)
    words: dict[tuple[str, str], int] = field(default_factory=dict)
    """Number of cells read as missing, by column and word among numbers or dates."""
    mixtures: dict[str, Mixture] = field(default_factory=dict)
    """Columns of numbers and words that stay text."""

    def add(self, name: str, reading: Reading, n_written: int, words: Mapping[str, int]) -> None:
        """Add how a column was read."""
        if reading.forms == ("decimal commas",):
            self.decimal_commas.append(name)
        elif reading.forms and reading.kind == "real":
            self.numbers[name] = n_written
            self.forms |= dict.fromkeys(reading.forms)
        elif reading.forms:
            self.dates[name] = reading.forms[0]
        self.words |= {(name, word): n for word, n in words.items()}

    def add_mixture(self, name: str, counts: Mapping[str, int], n_numbers: int, words: Mapping[str, int]) -> None:
        """Add a column that stays text, if it has more than a few distinct numbers and its words are few or rare."""
        is_mostly_numbers = counts["number"] >= SHARE * counts["present"]
        if n_numbers > FEW_NUMBERS and (len(words) <= MOST_WORDS or is_mostly_numbers):
            most_first = sorted(words, key=lambda word: (-words[word], word))[:N_NAMED]
            share = 1 - counts["number"] / counts["present"]
            self.mixtures[name] = Mixture(max(1, round(100 * share)), tuple(most_first))

    def notes(self) -> Iterator[Note]:
        """One note for each kind of change."""
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
            shares = tuple(mixture.share for mixture in self.mixtures.values())
            named = tuple(", ".join(map(repr, mixture.words)) for mixture in self.mixtures.values())
            yield Note("numbers-and-words", tuple(self.mixtures), shares, words=named)


# ---------------------------------------------------------------- how a column is read


class Converted(NamedTuple):
    """The cells of a column after they were converted."""

    n_failed: int
    """Cells that should be numbers or dates, and cannot be converted."""
    n_different: int
    """Number of distinct numbers or dates, possibly estimated; needed only if some cells are words."""


class TextColumn(Protocol):
    """A column of text, in memory or in an engine, without spaces around its cells and words for missing ones."""

    @property
    def name(self) -> str:
        """The user's name of the column."""
        ...

    def convert(self, reading: Reading) -> Converted:
        """What becomes of the cells that a reading accepts."""
        ...

    def count_words(self, pattern: str, limit: int) -> dict[str, int] | None:
        """Distinct cells that do not match a pattern, with their numbers; None if more than the limit."""
        ...

    def count_numbers(self) -> int:
        """Number of distinct plain numbers."""
        ...


def settle(column: TextColumn, counts: Mapping[str, int], separator: str, notes: CellNotes) -> Reading:
    """How a column is read: what :func:`decide` says, or as text if its cells cannot be read so; with notes."""
    reading = decide(counts, separator)
    words = _words_among(column, reading)
    if words is None:
        reading, words = TEXT, {}
    else:
        n_written = counts["present"] - counts["number"] - sum(words.values())
        notes.add(column.name, reading, n_written, dict(sorted(words.items())))
    if reading.kind == "text" and may_hold_numbers(counts):
        others = column.count_words(NUMBER, MOST_NAMED)
        if others is not None:
            notes.add_mixture(column.name, counts, column.count_numbers(), others)
    return reading


def _words_among(column: TextColumn, reading: Reading) -> dict[str, int] | None:
    """The few words among the numbers or dates of a column; None if it cannot be read so."""
    if reading.accepts is None and reading.is_sure:
        return {}
    converted = column.convert(reading)
    if converted.n_failed:
        return None
    if reading.accepts is None:
        return {}
    words = column.count_words(reading.accepts, MOST_WORDS)
    if words is None or (words and not holds_words(words, converted.n_different)):
        return None
    return words


# ---------------------------------------------------------------- cells in polars


def type_columns(columns: Sequence[pl.Series], na: Sequence[str], separator: str, notes: CellNotes) -> list[pl.Series]:
    """Columns of text as missing cells, numbers, dates and text; what was changed is added to the notes.

    The columns are stacked into one series for the tests of all cells: with 20,000 columns, one by one takes 60 times
    as long.
    """
    n_rows = len(columns[0])
    stacked = _strip_cells(pl.concat([column.alias("") for column in columns], rechunk=True), na, notes)
    first = {"present": stacked.is_not_null()}
    first |= {test: stacked.str.contains(pattern).fill_null(False) for test, pattern in FIRST_TESTS.items()}
    sums = {test: matches.to_numpy().reshape(-1, n_rows).sum(axis=1) for test, matches in first.items()}
    typed = []
    for k, column in enumerate(columns):
        cells = stacked.slice(k * n_rows, n_rows).alias(column.name)
        counts = {test: int(by_column[k]) for test, by_column in sums.items()}
        if needs_further_tests(counts):
            counts |= {test: int(cells.str.contains(pattern).sum()) for test, pattern in FURTHER_TESTS.items()}
        reading = settle(_PolarsColumn(column.name, cells), counts, separator, notes)
        typed.append(_convert(cells, reading))
    return typed


def _strip_cells(raw: pl.Series, na: Sequence[str], notes: CellNotes) -> pl.Series:
    """Cells without spaces around them, null where they are a word for missing."""
    cells = raw.str.strip_chars()
    notes.has_spaces |= bool((cells.str.len_bytes() != raw.str.len_bytes()).any())
    lower = cells.str.to_lowercase()
    is_na = lower.is_in(missing_words(na))
    if is_na.any():
        notes.missing.update(_count_words(lower.filter(is_na & (lower != ""))))
        cells = cells.set(is_na.fill_null(False), None)
    return cells


@dataclass(frozen=True)
class _PolarsColumn:
    """A column of text in memory (see :class:`TextColumn`)."""

    name: str
    cells: pl.Series

    def convert(self, reading: Reading) -> Converted:
        """What becomes of the cells that a reading accepts."""
        accepted, converted = _accepted(self.cells, reading), _convert(self.cells, reading)
        n_different = 0 if reading.accepts is None else converted.drop_nulls().n_unique()
        return Converted(converted.null_count() - accepted.null_count(), n_different)

    def count_words(self, pattern: str, limit: int) -> dict[str, int] | None:
        """Distinct cells that do not match a pattern, with their numbers; None if more than the limit."""
        words = _count_words(self.cells.filter(~self.cells.str.contains(pattern)), limit + 1)
        return words if len(words) <= limit else None

    def count_numbers(self) -> int:
        """Number of distinct plain numbers."""
        is_number = self.cells.str.contains(NUMBER)
        return self.cells.filter(is_number).cast(pl.Float64, strict=False).n_unique()


def _count_words(cells: pl.Series, limit: int | None = None) -> dict[str, int]:
    """Distinct cells with how often each occurs, at most ``limit`` of them."""
    counted = cells.alias("word").value_counts()
    return dict((counted if limit is None else counted.head(limit)).iter_rows())


def _accepted(cells: pl.Series, reading: Reading) -> pl.Series:
    """The cells, null where they are words among numbers or dates."""
    if reading.accepts is None:
        return cells
    return cells.set(~cells.str.contains(reading.accepts).fill_null(True), None)


def _convert(cells: pl.Series, reading: Reading) -> pl.Series:
    """The cells as numbers or dates, null where they cannot be read so; text as it is."""
    if reading.kind == "text":
        return cells
    cells = _accepted(cells, reading)
    for pattern, by in reading.replacements:
        cells = cells.str.replace_all(pattern, by)
    if reading.kind == "day":
        return cells.str.strptime(pl.Date, "%Y-%m-%d", strict=False)
    if reading.kind == "time":
        return cells.str.strptime(pl.Datetime("us"), "%Y-%m-%d %H:%M:%S%.f", strict=False)
    return cells.cast(pl.Int64 if reading.kind == "whole" else pl.Float64, strict=False)
