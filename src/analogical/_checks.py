"""Checks of arguments; errors say what is wrong, what was expected and what was given."""

from collections.abc import Sequence
from typing import Any

import numpy as np

from analogical.errors import InputError


def brief(value: Any, limit: int = 60) -> str:
    """The repr of a value for a message, shortened if it is long."""
    text = repr(value)
    return text if len(text) <= limit else f"{text[: limit - 3]}..."


def listing(words: Sequence[str], limit: int = 8) -> str:
    """At most eight words, and how many more there are."""
    shown = ", ".join(words[:limit])
    return shown if len(words) <= limit else f"{shown} and {len(words) - limit} more"


def is_whole(value: Any) -> bool:
    """Whether a value is an integer of Python or numpy; True and False are not."""
    return isinstance(value, int | np.integer) and not isinstance(value, bool)


def check_whole(name: str, value: Any, *, low: int, high: int | None = None, about: str = "", other: str = "") -> int:
    """The value as an int if it is an integer within the bounds; otherwise an error.

    ``about`` follows the bounds in the message; ``other`` says what else the caller accepts.
    """
    if is_whole(value) and low <= value and (high is None or value <= high):
        return int(value)
    bounds = f"from {low}" if high is None else f"from {low} to {high}"
    raise InputError(f"{name} must be a whole number {bounds}{about}{other}, got {value!r}.")


def check_number(name: str, value: Any, *, expected: str, ends: bool = False, high: float = 1.0) -> float:
    """The value as a float if it is between 0 and ``high``; with ``ends``, these two are allowed."""
    is_number = isinstance(value, int | float | np.number) and not isinstance(value, bool)
    if is_number and (0 <= value <= high if ends else 0 < value < high):
        return float(value)
    raise InputError(f"{name} must be {expected}, got {value!r}.")


def check_choice(name: str, value: Any, choices: Sequence[str]) -> None:
    """Refuse a value that is not one of the choices."""
    if not (isinstance(value, str) and value in choices):
        *most, last = (f'"{choice}"' for choice in choices)
        raise InputError(f"{name} must be {', '.join(most)} or {last}, got {value!r}.")


def check_confidence(confidence: Any) -> float:
    """The level of the intervals."""
    return check_number("confidence", confidence, expected="a number between 0 and 1, such as 0.95")


def check_limit(limit: Any) -> int | None:
    """The number of pairs to show; None for all."""
    return None if limit is None else check_whole("limit", limit, low=0, other=", or None for all pairs")


def seed_from(random_state: Any) -> int | None:
    """A seed from scikit-learn's ``random_state``: None, an integer from 0, or a RandomState."""
    if random_state is None:
        return None
    if isinstance(random_state, np.random.RandomState):
        return int(random_state.randint(2**31))
    return check_whole(
        "random_state",
        random_state,
        low=0,
        high=2**32 - 1,
        other=", a numpy RandomState or None (a new seed each time)",
    )
