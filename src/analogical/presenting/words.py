"""Numbers, names and lists as words; every word of the user's data goes through :func:`shown`."""

import unicodedata
from collections.abc import Sequence
from typing import Any

__all__ = [
    "counted",
    "interval",
    "listed",
    "number",
    "p_value",
    "p_words",
    "percent",
    "points",
    "quoted",
    "shares",
    "shown",
    "some_of",
    "verb",
]


def shown(value: Any, limit: int | None = None) -> str:
    """A name or value of the user's as one line of printable text, cut to a length if asked for.

    Control characters, which a terminal would obey, and characters that turn the direction of writing are shown as
    escape sequences.
    """
    text = str(value)
    if not text.isprintable():
        text = "".join(c if c.isprintable() or c == " " else _escaped(c) for c in text)
    return text if limit is None or len(text) <= limit else text[: limit - 3] + "..."


def _escaped(character: str) -> str:
    if unicodedata.category(character) == "Zs":  # a space of another width
        return " "
    return character.encode("unicode_escape").decode("ascii")


def quoted(value: Any, limit: int | None = None) -> str:
    """A name in quotes."""
    return f"'{shown(value, limit)}'"


def number(n: int) -> str:
    """A count to read; very large ones in powers of ten."""
    return f"{n:,}" if n < 10**9 else f"{float(n):.3e}"


def interval(low: float, high: float) -> str:
    """An interval of shares; a dash where there is none."""
    return "-" if low != low else f"{low:.3f}-{high:.3f}"


def shares(share: float) -> str:
    """A share or a score with three decimals; a dash where there is none."""
    return "-" if share != share else f"{share:.3f}".replace("-0.000", "0.000")


def p_value(p: float) -> str:
    """A p-value to read; a dash where there is none."""
    if p != p:
        return "-"
    return "<.001" if p < 0.001 else f"{p:.3f}".removeprefix("0")


def p_words(p: float) -> str:
    """A p-value in a sentence."""
    return f"p {p_value(p)}".replace("<", "< ") if p < 0.001 else f"p = {p_value(p)}"


def percent(share: float) -> str:
    """A share in per cent, one decimal."""
    return f"{100 * share:.1f} %"


def points(difference: float) -> str:
    """A difference of shares in words: 2.3 points more often."""
    return f"{100 * abs(difference):.1f} points {'more' if difference >= 0 else 'less'} often"


def counted(n: int, word: str, plural: str | None = None) -> str:
    """A number with its noun: 1 row, 1,204 rows."""
    return f"{n:,} {word if n == 1 else plural or word + 's'}"


def verb(subjects: Sequence[Any], singular: str, plural: str) -> str:
    """The form of a verb that goes with one or several subjects."""
    return singular if len(subjects) == 1 else plural


def listed(words: Sequence[Any]) -> str:
    """Words in a sentence: a, b and c."""
    *most, last = (shown(word) for word in words)
    return f"{', '.join(most)} and {last}" if most else last


def some_of(words: Sequence[Any], limit: int = 6) -> str:
    """The first of some words, and how many more there are."""
    more = f" and {len(words) - limit} more" if len(words) > limit else ""
    return f"{', '.join(shown(word) for word in words[:limit])}{more}"
