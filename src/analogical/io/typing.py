"""What the cells of a text column are: missing, numbers, dates or text. One rule set for every file.

A rule is a regular expression that cells match, and replacements to make before they are cast. A column has one kind,
decided on its distinct texts and the number of cells with each: :func:`_decide`, then :func:`_type_texts`, which looks
whether all of them can be converted.
"""

from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from itertools import chain
from typing import Any, Literal

import numpy as np
import polars as pl

from analogical._types import Bools, Ints, Note

MOST_WORDS = 5
"""Distinct words allowed among numbers or dates, which then become missing cells; a word has no digit."""
SHARE = 0.8
"""Share of the cells that must be numbers or dates if the others are words."""
FEW_NUMBERS = 20
"""With at most this many distinct numbers, words and numbers are both categories: the column stays text."""
MONTHS = ("jan", "feb", "mar", "apr", "may", "jun", "jul", "aug", "sep", "oct", "nov", "dec")
NUMBER = r"^[+-]?(?:(?:0|[1-9][0-9]*)(?:\.[0-9]*)?|\.[0-9]+)(?:[eE][+-]?[0-9]+)?$"
"""A plain number; codes with leading zeros, such as 007, are not numbers."""
ZONED_TIME = (
    r"([0-9]{1,2}:[0-9]{2}(?::[0-9]{2}(?:\.[0-9]+)?)?(?: ?[AaPp][Mm])?)",
    r" ?(?:Z|UTC|[+-][0-9]{2}:?[0-9]{2})",
)
"""A time of day, and the time zone that may follow it and is left out."""


def _patterns() -> dict[str, str]:
    """What is counted of a column: the cells that match each of these patterns."""
    marks = r" '’\x{a0}\x{202f}"  # thousands separators other than comma and point
    with_commas, with_points = (rf"(?:[1-9][0-9]{{0,2}}(?:[{m}{marks}][0-9]{{3}})+|0|[1-9][0-9]*)" for m in (",", "."))
    currency = r"(?:[$€£¥₹]|USD|EUR|GBP|CHF|JPY|CNY|INR|AUD|CAD|SEK|NOK|DKK|PLN|BRL|MXN|ZAR|KRW)"
    before = rf"^\(?[+−-]?[ \x{{a0}}]?{currency}?[ \x{{a0}}]?[+−-]?"
    after = rf"[ \x{{a0}}\x{{202f}}]?(?:%|{currency})?\)?$"
    day, month, year = "(?:0?[1-9]|[12][0-9]|3[01])", "(?:0?[1-9]|1[0-2])", "[12][0-9]{3}"
    name = rf"(?:{'|'.join(MONTHS)})[a-z]*\.?"
    time, zone = ZONED_TIME
    clock = rf"(?:(?:T|,? ){time}(?:{zone})?)?"
    return {
        "number": NUMBER,
        "integer": r"^[+-]?[0-9]+$",
        "long": r"^[+-]?[0-9]{19,}$",  # may overflow 64 bits, and floats would merge distinct ones
        "digit": "[0-9]",
        "compact": r"^(?:19|20)[0-9]{2}(?:0[1-9]|1[0-2])(?:0[1-9]|[12][0-9]|3[01])$",
        "point": rf"{before}(?:{with_commas}(?:\.[0-9]*)?|\.[0-9]+){after}",
        "comma": rf"{before}{with_points}(?:,[0-9]+)?{after}",
        "has comma": ",",
        "has point": r"\.",
        "currency": currency,
        "percent": "%",
        "brackets": r"^\(",
        "thousands, point": rf"[0-9][,{marks}][0-9]{{3}}",
        "thousands, comma": rf"[0-9][.{marks}][0-9]{{3}}",
        "iso day": rf"^{year}-(?:0[1-9]|1[0-2])-(?:0[1-9]|[12][0-9]|3[01])$",
        "year first": rf"^{year}[-/.]{month}[-/.]{day}{clock}$",
        "day first": rf"^{day}(?:[-/.]{month}[-/.]{year}|/{month}/[0-9]{{2}}){clock}$",
        "month first": rf"^{month}(?:[-/.]{day}[-/.]{year}|/{day}/[0-9]{{2}}){clock}$",
        "day, month name": rf"(?i)^{day}[- /]?{name}[-, /]+{year}{clock}$",
        "month name, day": rf"(?i)^{name} ?{day},? {year}{clock}$",
        "dots": r"^[0-9]{1,2}\.[0-9]{1,2}\.",
        "clock": "[0-9]:[0-9]{2}",
        "half days": "[0-9] ?[AaPp][Mm]",
    }


TESTS = _patterns()
"""The first five are counted for every column, the others for those with digits in most cells."""


@dataclass(frozen=True)
class Reading:
    """What the cells of a column are, and how they are rewritten before they are cast."""

    kind: Literal["text", "whole", "real", "day", "time"] = "text"
    replacements: tuple[tuple[str, str], ...] = ()
    """Patterns and their replacements, applied in order."""
    accepts: str | None = None
    """Pattern of the cells to read; all others are words, which become missing. None if all cells are read."""
    forms: tuple[str, ...] = ()
    """How numbers or dates are written, for the note; empty for plain ones."""


def _decide(counts: Mapping[str, int], separator: str) -> Reading:
    """How to read a column, from the number of its cells that match each test, and of those present.

    The caller must check that the accepted cells can be converted (February 30 and whole numbers beyond 64 bits
    cannot), and that the others are few distinct words. Otherwise the column is text.
    """
    n = counts["present"]
    if not n:
        return Reading()
    if counts["number"] == n:
        if counts["compact"] == n:
            return _date("year first", counts)
        if counts["integer"] == n:
            return Reading("whole")
        return Reading() if counts["long"] else Reading("real")
    if counts["digit"] < SHARE * n:
        return Reading()
    if counts["iso day"] == n:
        return Reading("day")
    style = _style(counts, separator)
    if counts["number"] >= max(counts[style], SHARE * n):
        return Reading("real", accepts=NUMBER)
    if counts[style] >= SHARE * n:
        return _written_number(style, counts)
    order = _order(counts)
    return Reading() if order is None else _date(order, counts)


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
        return Reading()  # (1), (2) and (3) are not negative
    forms = [form for form in ("currency", f"thousands, {style}", "percent", "brackets") if counts[form]]
    forms = [form.split(",")[0] for form in forms]
    if style == "comma" and counts["has comma"]:
        forms.append("decimal commas")
    kept = "." if style == "point" else ","
    replacements = [("−", "-"), (f"[^0-9{kept}()+-]", ""), *([(",", ".")] if style == "comma" else [])]
    if counts["brackets"]:
        replacements.append((r"^\((.*)\)$", "-$1"))
    return Reading("real", tuple(replacements), None if is_all else TESTS[style], tuple(forms))


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
        return Reading("day", ((r"^(....)(..)(..)$", "$1-$2-$3"),), forms=("year, month, day",))
    has_clock = bool(counts["clock"])
    replacements = [("".join(ZONED_TIME) + "$", "$1")]
    if "name" in order:
        replacements += [(rf"(?i){name}[a-z]*\.?", f" {k} ") for k, name in enumerate(MONTHS, 1)]
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
        None if counts[order] == counts["present"] else TESTS[order],
        () if is_iso else (f"{order}, not certain: no day above 12" if is_ambiguous else order,),
    )


@dataclass
class CellNotes:
    """What was changed in the cells of a file."""

    has_spaces: bool = False
    missing: Counter[str] = field(default_factory=Counter)
    """Words read as missing, over all columns."""
    commas: list[str] = field(default_factory=list)
    """Columns with decimal commas."""
    numbers: dict[str, tuple[int, Sequence[str]]] = field(default_factory=dict)
    """Number of cells that are not plain numbers, and how they are written, by column."""
    dates: dict[str, str] = field(default_factory=dict)
    """How dates are written, by column."""
    words: list[tuple[str, int, str]] = field(default_factory=list)
    """Columns of numbers or dates, with the number of cells of a word in them that was read as missing."""
    mixtures: list[tuple[str, int, str]] = field(default_factory=list)
    """Columns of numbers and words that stay text: the percentage of words, and the most frequent ones."""

    def notes(self) -> Iterator[Note]:
        """One note for each kind of change."""
        if self.has_spaces:
            yield Note("spaces-stripped")
        if self.missing:
            words, counts = zip(*sorted(self.missing.items(), key=lambda item: (-item[1], item[0])), strict=True)
            yield Note("read-as-missing", (), counts, words=words)
        if self.commas:
            yield Note("decimal-commas", tuple(self.commas))
        if self.numbers:
            counts, forms = zip(*self.numbers.values(), strict=True)
            yield Note("read-as-numbers", tuple(self.numbers), counts, words=tuple(dict.fromkeys(chain(*forms))))
        if self.dates:
            yield Note("read-as-dates", tuple(self.dates), words=tuple(self.dates.values()))
        for kind, cells in (("words-read-as-missing", self.words), ("numbers-and-words", self.mixtures)):
            if cells:
                names, counts, words = zip(*cells, strict=True)
                yield Note(kind, names, counts, words=words)


# ---------------------------------------------------------------- columns


def type_columns(columns: Sequence[pl.Series], na: Sequence[str], separator: str, notes: CellNotes) -> list[pl.Series]:
    """Columns of text as missing cells, numbers, dates and text; what was changed is added to the notes.

    Columns of plain numbers are cast as they are. The others are stacked, so that their distinct texts are found and
    stripped together: with 20,000 columns, one by one takes 60 times as long.
    """
    n_rows = len(columns[0])
    is_other = ~pl.concat([column.alias("") for column in columns], rechunk=True).str.contains(NUMBER)
    n_others = is_other.fill_null(False).to_numpy().reshape(-1, n_rows).sum(axis=1)
    is_number_missing = bool(pl.Series(na, dtype=pl.String).str.contains(NUMBER).any())
    typed = [None if n or is_number_missing else _plain_numbers(c) for c, n in zip(columns, n_others, strict=True)]
    rest = [k for k, numbers in enumerate(typed) if numbers is None]
    if not rest:
        return [numbers for numbers in typed if numbers is not None]
    cells = pl.concat([columns[k].alias("") for k in rest], rechunk=True)
    raw = cells.drop_nulls().unique(maintain_order=True)
    places = cells.cast(pl.Enum(raw)).to_physical().cast(pl.UInt32).fill_null(len(raw)).to_numpy()
    texts = _strip(raw, np.bincount(places, minlength=len(raw))[: len(raw)], na, notes)
    texts = texts.extend_constant(None, 1)  # the place of cells without text
    has_digit, is_present = texts.str.contains("[0-9]").fill_null(False).to_numpy(), texts.is_not_null().to_numpy()
    for k, own in zip(rest, places.reshape(-1, n_rows), strict=True):
        name = columns[k].name
        if np.count_nonzero(has_digit[own]) < max(1, 0.1 * np.count_nonzero(is_present[own])):  # too few for a note
            typed[k] = texts.gather(own).alias(name)
            continue
        occurring, inverse, sizes = np.unique(own, return_inverse=True, return_counts=True)
        typed[k] = _type_texts(name, texts.gather(occurring), sizes, separator, notes).gather(inverse).alias(name)
    return [column for column in typed if column is not None]


def _plain_numbers(cells: pl.Series) -> pl.Series | None:
    """Plain numbers as whole numbers or floats; None without any, and if they may be days or have too many digits."""
    whole = cells.cast(pl.Int64, strict=False)
    low: Any = whole.min()
    high: Any = whole.max()
    if whole.null_count() > cells.null_count():
        numbers = cells.cast(pl.Float64, strict=False)
        return None if (numbers.abs() >= 1e18).any() else numbers
    return None if low is None or (low > 19_000_000 and high < 21_000_000) else whole


def _strip(raw: pl.Series, sizes: Ints, na: Sequence[str], notes: CellNotes) -> pl.Series:
    """Texts without spaces around them, null where they are a word for missing."""
    texts = raw.str.strip_chars()
    notes.has_spaces |= bool((texts.str.len_bytes() != raw.str.len_bytes()).any())
    lower = texts.str.to_lowercase()
    is_na = lower.is_in(sorted({word.strip().lower() for word in (*na, "")})).fill_null(False)
    if is_na.any():
        for word, n in zip(lower.filter(is_na), sizes[is_na.to_numpy()].tolist(), strict=True):
            notes.missing.update({word: n} if word else {})
        texts = texts.set(is_na, None)
    return texts


def _type_texts(name: str, texts: pl.Series, sizes: Ints, separator: str, notes: CellNotes) -> pl.Series:
    """What the texts of one column stand for: as decided, or text if they cannot be converted; with notes."""
    is_present = texts.is_not_null().to_numpy()
    n_present = int(sizes[is_present].sum())
    counts = {"present": n_present}
    for test, pattern in TESTS.items():
        if test == "point" and (counts["number"] == n_present or counts["digit"] < SHARE * n_present):
            break  # the first tests settle what it is
        counts[test] = int(sizes[texts.str.contains(pattern).fill_null(False).to_numpy()].sum())
    reading = _decide(counts, separator)
    accepted = texts
    if reading.accepts is not None:
        accepted = texts.set(~texts.str.contains(reading.accepts).fill_null(True), None)
    typed = _convert(accepted, reading)
    words = _count(texts, sizes, is_present & accepted.is_null().to_numpy())
    are_words = len(words) <= MOST_WORDS and not any(c.isdigit() for word in words for c in word)
    if typed.null_count() > accepted.null_count() or (
        words and not (are_words and typed.drop_nulls().n_unique() > FEW_NUMBERS)
    ):
        reading, typed = Reading(), texts
    else:
        notes.words += [(name, n, word) for word, n in sorted(words.items())]
        if reading.forms == ("decimal commas",):
            notes.commas.append(name)
        elif reading.forms and reading.kind == "real":
            notes.numbers[name] = n_present - counts["number"] - sum(words.values()), reading.forms
        elif reading.forms:
            notes.dates[name] = reading.forms[0]
    n_numbers = counts["number"]
    if reading.kind == "text" and counts["digit"] == n_numbers < n_present <= 10 * n_numbers:
        is_number = texts.str.contains(NUMBER).fill_null(False)
        words = _count(texts, sizes, is_present & ~is_number.to_numpy())
        n_different = texts.filter(is_number).cast(pl.Float64, strict=False).n_unique()
        # more than a few distinct numbers, and few or rare words: the user may want to know
        is_mixed = len(words) <= MOST_WORDS or (len(words) <= 1000 and n_numbers >= SHARE * n_present)
        if n_different > FEW_NUMBERS and is_mixed:
            most_first = sorted(words, key=lambda word: (-words[word], word))[:3]
            share = max(1, round(100 * (1 - n_numbers / n_present)))
            notes.mixtures.append((name, share, ", ".join(map(repr, most_first))))
    return typed


def _count(texts: pl.Series, sizes: Ints, which: Bools) -> dict[str, int]:
    """The number of cells with each of some texts, which may be alike after they were stripped."""
    counted = Counter[str]()
    for text, n in zip(texts.filter(pl.Series(which)), sizes[which].tolist(), strict=True):
        counted[text] += n
    return counted


def _convert(texts: pl.Series, reading: Reading) -> pl.Series:
    """Texts as numbers or dates, null where they cannot be read so."""
    if reading.kind == "text":
        return texts
    for pattern, by in reading.replacements:
        texts = texts.str.replace_all(pattern, by)
    if reading.kind == "day":
        return texts.str.strptime(pl.Date, "%Y-%m-%d", strict=False)
    if reading.kind == "time":
        return texts.str.strptime(pl.Datetime("us"), "%Y-%m-%d %H:%M:%S%.f", strict=False)
    return texts.cast(pl.Int64 if reading.kind == "whole" else pl.Float64, strict=False)
