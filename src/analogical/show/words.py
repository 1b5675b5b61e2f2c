"""Numbers, names and lists as text; every text from the user's data goes through :func:`shown`."""

import math
import unicodedata
from collections.abc import Sequence
from datetime import date, timedelta
from itertools import zip_longest
from textwrap import wrap
from typing import Any, NamedTuple

INVISIBLE = frozenset(
    map(chr, (0x034F, 0x115F, 0x1160, 0x17B4, 0x17B5, 0x2800, 0x3164, 0xFFA0, *range(0xFE00, 0xFE10)))
)
"""Printable characters that show nothing: values that differ only by one would look the same."""
ELSEWHERE = "to_frame() and --json have all"
"""Where to find what a table leaves out."""
LONG_NAME = 60
"""Names in sentences are cut to this length."""


def shown(value: Any, limit: int | None = None) -> str:
    """A name or value as one line of printable text, cut to ``limit`` characters.

    Control characters, invisible ones and those that change the direction of writing become escape sequences.
    """
    text = "(missing)" if value is None else str(value)
    if not text.isascii() or not text.isprintable():
        text = "".join(c if c.isprintable() and c not in INVISIBLE else _escaped(c) for c in text)
    return text if limit is None or len(text) <= limit else text[: limit - 3] + "..."


def _escaped(character: str) -> str:
    if unicodedata.category(character) == "Zs":  # a space of another width
        return " "
    return character.encode("unicode_escape").decode("ascii")


def marked(value: Any, limit: int | None = None) -> str:
    """A value; in quotes if it is empty or has spaces around it."""
    text = shown(value, limit)
    return text if text and text == text.strip() else f"'{text}'"


def width_of(text: str) -> int:
    """Width of a text on a terminal: 2 for wide characters, 0 for combining accents."""
    if text.isascii():
        return len(text)
    return sum(0 if unicodedata.combining(c) else 2 if unicodedata.east_asian_width(c) in "WF" else 1 for c in text)


def shorten(text: str, width: int, ellipsis: str = "…") -> str:
    """A text shortened to a width, in the middle."""
    if width_of(text) <= width:
        return text
    left = width - width_of(ellipsis)
    end = _head(text[::-1], left // 2)[::-1]
    return f"{_head(text, left - width_of(end))}{ellipsis}{end}"


def shorten_end(text: str, width: int) -> str:
    """A text shortened to a width, after a whole word if the first one fits."""
    if width_of(text) <= width:
        return text
    head = _head(text, width - 2)
    whole = head if text[len(head)] == " " else head.rpartition(" ")[0]
    return f"{whole} …" if whole else shorten(text, width)


def shorten_apart(names: Sequence[str], width: int, ellipsis: str = "…") -> list[str]:
    """Names shortened to a width; names that would look the same show the part in which they differ."""
    cut = {name: shorten(name, width, ellipsis) for name in names}
    alike: dict[str, list[str]] = {}
    for name, short in cut.items():
        alike.setdefault(short, []).append(name)
    for group in alike.values():
        if len(group) > 1:
            cut |= _from_difference(group, width, ellipsis)
    taken: set[str] = set()
    for name, short in cut.items():
        n = 1
        while cut[name] in taken:  # the last resort: numbers
            n += 1
            cut[name] = f"{_head(short, max(width - width_of(ellipsis) - len(str(n)), 0))}{ellipsis}{n}"
        taken.add(cut[name])
    return [cut[name] for name in names]


def _from_difference(names: Sequence[str], width: int, ellipsis: str) -> dict[str, str]:
    """Names that would look the same, from a little before the character where they first differ."""
    same = next(k for k, letters in enumerate(zip_longest(*names)) if len(set(letters)) > 1)
    left = width - width_of(ellipsis)
    ends = {name: name[max(same - left // 4, 0) :] for name in names}
    return {
        name: ellipsis + (end if width_of(end) <= left else _head(end, left - width_of(ellipsis)) + ellipsis)
        for name, end in ends.items()
    }


def _head(text: str, width: int) -> str:
    """The first characters of a text, as many as fit."""
    n, left = 0, width
    while n < len(text) and (left := left - width_of(text[n])) >= 0:
        n += 1
    return text[:n]


def wrap_words(text: str, width: int) -> list[str]:
    """A text wrapped to a width; words longer than a line are broken."""
    if width_of(text) <= width:
        return [text]
    lines: list[str] = []
    for word in text.split():
        rest = word
        if lines and width_of(f"{lines[-1]} {word}") <= width:
            lines[-1] += f" {word}"
            continue
        while width_of(rest) > width and (part := _head(rest, width)):
            lines.append(part)
            rest = rest[len(part) :]
        lines.append(rest)
    return lines or [""]


def wrap_sentence(text: str, width: int, indent: str = "") -> list[str]:
    """A sentence wrapped to a width; further lines are indented, and a % sign stays with its number."""
    lines = wrap(text.replace(" %", "\xa0%"), max(width, 20), subsequent_indent=indent, break_on_hyphens=False)
    return [line.replace("\xa0%", " %") for line in lines]


def quoted(value: Any, limit: int | None = None) -> str:
    """A name in quotes."""
    return f"'{shown(value, limit)}'"


def number(n: int) -> str:
    """A count; very large ones in powers of ten."""
    return f"{n:,}" if n < 10**9 else f"{float(n):.3e}"


def three_decimals(share: float) -> str:
    """A share or a score with three decimals; a dash if it is NaN."""
    return "-" if share != share else f"{share:.3f}".replace("-0.000", "0.000")


def p_value(p: float) -> str:
    """A p-value with three decimals; a dash if it is NaN."""
    if p != p:
        return "-"
    return "<.001" if p < 0.001 else f"{p:.3f}".removeprefix("0")


def p_words(p: float) -> str:
    """A p-value in a sentence."""
    return f"p {p_value(p)}".replace("<", "< ") if p < 0.001 else f"p = {p_value(p)}"


def percent(share: float) -> str:
    """A share in per cent with one decimal; only 0 and 1 become 0.0 % and 100.0 %."""
    if 0 < share < 0.0005:
        return "<0.1 %"
    return ">99.9 %" if 0.9995 <= share < 1 else f"{100 * share:.1f} %".replace("-0.0", "0.0")


def signed_share(difference: float) -> str:
    """A difference of shares in points with its sign, one decimal: +1.8, -14.2."""
    text = f"{100 * difference:+.1f}"
    return "0.0" if text in ("+0.0", "-0.0") else text


def points_of(effect: float | None) -> float:
    """An effect as a difference of label shares in points: 100 times its root; NaN if unknown."""
    return math.nan if effect is None else 100 * math.sqrt(effect)


class Measure(NamedTuple):
    """How sizes and differences of labels are shown: shares in points, numbers in their unit, logs in per cent."""

    kind: str = "classes"
    """As in :class:`analogical.Settings`."""
    unit: str = ""

    @property
    def name(self) -> str:
        """Name of the size, as the heading of a column."""
        return {"classes": "points", "log": "per cent", "ranks": "ranks", "ordered": "steps"}.get(
            self.kind, self.unit or "size"
        )

    @property
    def words(self) -> str:
        """The unit after a number: points, days; empty if it is not known."""
        return {"classes": " points", "log": " %", "ranks": " ranks", "ordered": " steps"}.get(
            self.kind, f" {self.unit}" if self.unit else ""
        )

    def size(self, effect: float | None) -> float:
        """An effect in this unit: its root; NaN if unknown."""
        if effect is None:
            return math.nan
        return self.shown(math.sqrt(effect) * (100 if self.kind == "classes" else 1))

    def shown(self, difference: float) -> float:
        """A difference of scores as it is shown: of logarithms in per cent."""
        return 100 * math.expm1(min(difference, 700.0)) if self.kind == "log" else difference

    @property
    def mean(self) -> str:
        """What differs between two values: the mean label, or that of its logarithms, ranks or places."""
        return {"log": "mean logarithm", "ranks": "mean rank", "ordered": "mean place"}.get(self.kind, "mean")

    def label(self, value: Any) -> str:
        """A label, or a mean of labels: numbers with up to six digits, durations in their unit, days without hours."""
        if isinstance(value, timedelta) and self.unit:
            return three_digits(value / timedelta(**{self.unit: 1}), 6)
        if isinstance(value, date) and self.unit:
            return marked(value, 24).removesuffix(" 00:00:00")
        if self.kind == "classes" or isinstance(value, bool) or not isinstance(value, int | float):
            return marked(value, 24)
        return three_digits(value, 6) if isinstance(value, float) else f"{value:,}"

    def between(self, labels: Sequence[Any]) -> str:
        """The second of two labels less the first one, with its sign; empty if they are no numbers."""
        first, second = labels
        if all(isinstance(label, date | timedelta) for label in labels) and self.unit:
            return self.signed((second - first) / timedelta(**{self.unit: 1}))
        if not all(isinstance(label, int | float) for label in labels):
            return ""
        return self.signed(100 * (second / first - 1) if self.kind == "log" else second - first)

    def text(self, size: float) -> str:
        """A size in this unit; a dash if it is NaN."""
        return three_digits(size) if self.kind in ("number", "ordered") else in_points(size)

    def signed(self, size: float) -> str:
        """A difference with its sign."""
        text = self.text(size)
        return text if size < 0 or text in ("0", "-") else f"+{text}"

    def interval(self, low: float, high: float) -> str:
        """An interval; a dash if it is NaN."""
        return "-" if low != low else f"{self.text(low)} to {self.text(high)}"


def three_digits(number: float, digits: int = 3) -> str:
    """A number with three digits, or another number of them: 12,400, 3.14, 0.00012, 3.60e+09; a dash if it is NaN."""
    if number != number:
        return "-"
    if number == 0 or not 1e-4 <= abs(number) < 10.0 ** (digits + 6):
        return "0" if number == 0 else f"{number:.{digits - 1}e}"
    rounded = float(f"{number:.{digits}g}")
    n_decimals = max(digits - 1 - math.floor(math.log10(abs(rounded))), 0)
    text = f"{rounded:,.{n_decimals}f}"
    return text.rstrip("0").rstrip(".") if "." in text else text


def in_points(size: float) -> str:
    """Points, with one decimal below 10; a dash if they are NaN."""
    if size != size:
        return "-"
    text = f"{size:,.0f}" if abs(size) >= 9.95 else f"{size:.1f}".removesuffix(".0")
    return "0" if text == "-0" else text


def signed(points: float) -> str:
    """Points with their sign: +49, -3.1."""
    text = in_points(points)
    return text if points < 0 or text in ("0", "-") else f"+{text}"


def counted(n: int, word: str, plural: str | None = None) -> str:
    """A number with its noun: 1 row, 1,204 rows."""
    return f"{n:,} {word if n == 1 else plural or word + 's'}"


def verb(subjects: Sequence[Any], singular: str, plural: str) -> str:
    """The form of a verb that goes with one or several subjects."""
    return singular if len(subjects) == 1 else plural


def count_left_out(n: int) -> str:
    """How many items are left out, and where to find them; empty if none."""
    return f"... and {n:,} more; {ELSEWHERE}" if n > 0 else ""


def list_all(words: Sequence[Any], last: str = "and") -> str:
    """All words in a sentence: a, b and c."""
    names = [shown(word, LONG_NAME) for word in words]
    return f"{', '.join(names[:-1])} {last} {names[-1]}" if len(names) > 1 else "".join(names)


def list_first(words: Sequence[Any], limit: int = 6) -> str:
    """The first words in a sentence, and how many more there are (a single one is named): a, b and 2 more."""
    n_more = len(words) - limit
    return list_all([*words[:limit], f"{n_more:,} more"] if n_more > 1 else words)
