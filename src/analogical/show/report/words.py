"""The user's words inside our sentences: marked, so that the page can set them apart and isolate their direction."""

from collections.abc import Sequence
from typing import Any

from analogical.show.words import marked, shown

__all__ = ["CLOSE", "LONG", "OPEN", "each", "in_points", "signed", "some", "unmarked", "value", "word"]

OPEN, CLOSE = "\ue000", "\ue001"
"""Around every word of the user's; ``shown`` lets no such character of the data through."""
LONG = 60
"""Names are cut to this length."""
LONG_VALUE = 40
"""Values are cut to this length."""


def word(name: Any, limit: int = LONG) -> str:
    """A name of the user's."""
    return f"{OPEN}{shown(name, limit)}{CLOSE}"


def value(cell: Any, limit: int = LONG_VALUE) -> str:
    """A value of the user's."""
    return f"{OPEN}{marked(cell, limit)}{CLOSE}"


def each(names: Sequence[Any]) -> str:
    """Names in a sentence: a, b and c."""
    *most, last = map(word, names)
    return f"{', '.join(most)} and {last}" if most else last


def some(names: Sequence[Any], limit: int = 6) -> str:
    """The first of some names, and how many more there are."""
    if len(names) <= limit:
        return each(names)
    return f"{', '.join(map(word, names[:limit]))} and {len(names) - limit:,} more"


def signed(points: float) -> str:
    """A difference in points, with its sign."""
    text = f"{points:+.1f}"
    return "0.0" if text in ("-0.0", "+0.0") else text.replace("-", "−")


def in_points(points: float) -> str:
    """A difference in points, without its sign."""
    text = f"{abs(points):.1f}".removesuffix(".0")
    return f"{text} point{'' if text == '1' else 's'}"


def unmarked(text: str) -> str:
    """A sentence as plain text."""
    return text.replace(OPEN, "").replace(CLOSE, "")
