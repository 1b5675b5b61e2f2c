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


UNITS = {"classes": "points", "shares": "points", "log": "per cent", "ranks": "ranks", "ordered": "steps"}
"""What sizes are in, by the kind of measure; numbers have a unit of their own, if it is known."""
MEANS = {"log": "mean logarithm", "ranks": "mean rank", "ordered": "mean place"}
"""What differs between two values of a feature; of other numbers their mean."""


class Measure(NamedTuple):
    """How sizes and differences of labels are shown: shares in points, numbers in their unit, logs in per cent."""

    kind: str = "classes"
    """As in :class:`analogical.Settings`, or ``"shares"``: classes whose differences are not in points, but -1 to 1."""
    unit: str = ""

    @property
    def are_classes(self) -> bool:
        """Whether labels have no numbers."""
        return self.kind in ("classes", "shares")

    @property
    def name(self) -> str:
        """The unit of sizes: points, days; empty if it is not known."""
        return UNITS.get(self.kind, self.unit)

    @property
    def words(self) -> str:
        """The unit after a number."""
        return " %" if self.kind == "log" else f" {self.name}" if self.name else ""

    @property
    def mean(self) -> str:
        """What differs between two values: the mean label, or that of its logarithms, ranks or places."""
        return MEANS.get(self.kind, "mean")

    @property
    def average(self) -> str:
        """What the mean of some rows is called."""
        return "geometric mean" if self.kind == "log" else self.mean

    def shown(self, difference: float) -> float:
        """A difference in this unit: of logarithms in per cent."""
        if self.kind == "log":
            return 100 * math.expm1(min(difference, 700.0))
        return 100 * difference if self.kind == "shares" else difference

    def size(self, effect: float | None) -> float:
        """An effect in this unit: its root; NaN if unknown."""
        root = math.nan if effect is None else math.sqrt(effect)
        return 100 * root if self.are_classes else self.shown(root)

    def text(self, size: float) -> str:
        """A size in this unit, points with one decimal below 10; a dash if it is NaN."""
        if self.kind in ("number", "ordered") or size != size:
            return three_digits(size)
        text = f"{round(size, 1) + 0.0:.1f}"
        if self.kind == "shares":
            return text
        return f"{size:,.0f}" if abs(size) >= 9.95 else text.removesuffix(".0")

    def amount(self, size: float) -> str:
        """A size with its unit, whatever its sign."""
        return f"{self.text(abs(size))}{self.words}"

    def amount_of(self, effect: float | None) -> str:
        """The size of an effect with its unit."""
        return self.amount(self.size(effect))

    def signed(self, size: float) -> str:
        """A size with its sign."""
        text = self.text(size)
        return text if size < 0 or text in ("0", "0.0", "-") else f"+{text}"

    def change(self, difference: float) -> str:
        """A difference in this unit, with its sign."""
        return self.signed(self.shown(difference))

    def changes(self, low: float, high: float) -> str:
        """The interval of a difference, with signs."""
        return f"{self.change(low)} to {self.change(high)}"

    def interval(self, low: float, high: float) -> str:
        """The interval of a size; a dash if it is NaN."""
        return "-" if low != low else f"{self.text(low)} to {self.text(high)}"

    def label(self, value: Any, digits: int = 6) -> str:
        """A label, or a mean of labels: numbers with so many digits, durations in their unit, days without hours."""
        if isinstance(value, timedelta) and self.unit:
            return three_digits(value / timedelta(**{self.unit: 1}), digits)
        if isinstance(value, date) and self.unit:
            return marked(value, 24).removesuffix(" 00:00:00")
        if self.are_classes or isinstance(value, bool) or not isinstance(value, int | float):
            return marked(value, 24)
        return three_digits(value, digits) if isinstance(value, float) else f"{value:,}"

    def move(self, labels: Sequence[Any]) -> float:
        """The second of two labels less the first one, of logarithms in per cent; NaN if they are no numbers."""
        first, second = labels
        if all(isinstance(label, date | timedelta) for label in labels) and self.unit:
            return float((second - first) / timedelta(**{self.unit: 1}))
        if not all(isinstance(label, int | float) for label in labels):
            return math.nan
        return float(100 * (second / first - 1) if self.kind == "log" else second - first)


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
