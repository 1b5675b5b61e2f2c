"""Which column is meant by a name, and which columns are features."""

from collections import Counter
from collections.abc import Hashable, Iterable, Sequence
from fnmatch import fnmatchcase
from typing import Any, NamedTuple

import numpy as np

from analogical._checks import brief, is_whole
from analogical.errors import InputError
from analogical.table.columns import plain
from analogical.table.dates import PARTS

MAX_LOOKED_AT = 5_000
"""Names among which one that was perhaps meant is looked for, which is slow."""

__all__ = [
    "Chosen",
    "Names",
    "as_list",
    "choose_features",
    "find_column",
    "listing",
    "name_of",
    "refuse_repeated",
    "unknown_column",
]


def name_of(key: Hashable) -> str:
    """A column's own name as text; the levels of a name with several are joined."""
    return " / ".join(str(level) for level in key if str(level)) if isinstance(key, tuple) else str(key)


class Names:
    """The columns of a table by name: the dataframe's own name, its text, a pattern or a position."""

    def __init__(self, keys: Sequence[Hashable]) -> None:
        self.texts = [name_of(key) for key in keys]
        self._by_key: dict[tuple[type, Hashable], int] = {}
        self._by_text: dict[str, int] = {}
        for place, (key, text) in enumerate(zip(keys, self.texts, strict=True)):
            self._by_key.setdefault((type(key), key), place)
            self._by_text.setdefault(text, place)

    def find(self, given: Any) -> int | None:
        """Place of a column by its name; with integer names, 3 is the column named 3."""
        given = plain(given)
        if isinstance(given, Hashable) and (place := self._by_key.get((type(given), given))) is not None:
            return place
        return self._by_text.get(given) if isinstance(given, str) else None

    def find_part(self, given: Any) -> tuple[int, str] | None:
        """Place of a column and the part of its dates that a name such as "sold.month" stands for."""
        stem, _, part = given.rpartition(".") if isinstance(given, str) else ("", "", "")
        place = self.find(stem) if part in PARTS and self.find(given) is None else None
        return None if place is None else (place, part)

    def find_one(self, given: Any, role: str, *, by_position: bool = False) -> int:
        """Place of a column by its name or, on request, by its position."""
        place = self.find(given)
        if place is not None:
            return place
        if by_position and is_whole(given):
            if 0 <= given < len(self.texts):
                return int(given)
            raise InputError(
                f"{role} must be a name or a position from 0 to {len(self.texts) - 1} (the table has"
                f" {len(self.texts)} features), got {given}."
            )
        raise unknown_column(given, self.texts, role)

    def find_all(self, given: Any, role: str) -> list[int]:
        """Places of the columns that a name, a pattern such as "price_*" or a position stands for."""
        is_pattern = isinstance(given, str) and any(sign in given for sign in "*?[")
        if not is_pattern or self.find(given) is not None:
            return [self.find_one(given, role, by_position=True)]
        found = [place for place, name in enumerate(self.texts) if fnmatchcase(name, given)]
        if found:
            return found
        raise InputError(
            f"{role} has {given!r}, which no column matches; the table {_has(self.texts).removeprefix('it ')}"
        )


def find_column(given: Any, keys: Sequence[Hashable], role: str, *, by_position: bool = False) -> int:
    """Position of a column given by its name, by the text of its name or, on request, by its position."""
    return Names(keys).find_one(given, role, by_position=by_position)


class Chosen(NamedTuple):
    """Positions of the features, in column order, and parts of dates that were named."""

    columns: list[int]
    named_parts: dict[int, set[str]]
    """Parts of columns that ``features`` names, the column itself or not, or that ``ignore`` names."""


def choose_features(
    keys: Sequence[Hashable],
    taken: dict[int, str],
    features: Any = None,
    ignore: Any = None,
    *,
    date_parts: bool = False,
) -> Chosen:
    """The columns that are features.

    ``taken`` says which columns are the label or the weights. ``features`` names those to keep, ``ignore`` those to
    leave out; both may hold patterns and, with ``date_parts``, parts of dates such as ``"sold.month"``.
    """
    if features is not None and ignore is not None:
        raise InputError("features and ignore cannot be used together; name columns to keep, or columns to leave out.")
    free = [position for position in range(len(keys)) if position not in taken]
    role = "features" if ignore is None else "ignore"
    given = features if ignore is None else ignore
    if given is None:
        return Chosen(free, {})
    names, roles = Names([keys[position] for position in free]), Names([keys[position] for position in taken])
    named: set[int] = set()
    parts: dict[int, set[str]] = {}
    for name in as_list(given, role):
        if date_parts and (found := names.find_part(name)) is not None:
            parts.setdefault(free[found[0]], set()).add(found[1])
            continue
        if names.find(name) is None and (place := roles.find(name)) is not None:
            what = list(taken.values())[place]
            raise InputError(f"{role} names {name!r}, which is the {what}; leave it out of {role}.")
        named.update(free[place] for place in names.find_all(name, role))
    chosen = [position for position in free if (position in named) == (role == "features")]
    return Chosen(chosen, {p: some for p, some in parts.items() if role == "features" or p in chosen})


def as_list(given: Any, role: str) -> list[Any]:
    """Names of columns given as a list, or as one name."""
    if isinstance(given, str) or is_whole(given):
        return [given]
    if not isinstance(given, Iterable):
        raise InputError(f"{role} must be a list of column names, got {given!r}.")
    names = given.tolist() if isinstance(given, np.ndarray) else list(given)
    if not all(isinstance(name, Hashable) for name in names):
        raise InputError(f"{role} must be a list of column names, got {given!r}.")
    return names


def unknown_column(given: Any, names: Sequence[str], role: str) -> InputError:
    """Error for a column name that the table does not have, with the nearest one that it has."""
    from difflib import get_close_matches

    text, some = str(given), names[:MAX_LOOKED_AT]
    near = get_close_matches(text, some, n=1) or get_close_matches(text.lower(), some, n=1)
    hint = f"did you mean {brief(near[0])}?" if near and near[0] != text else _has(names)
    return InputError(f"The table has no column {brief(given)} to take as {role}; {hint}")


def _has(names: Sequence[str]) -> str:
    return f"it has {listing([brief(name) for name in names])}."


def listing(words: Sequence[str], limit: int = 8) -> str:
    """At most eight words, and how many more there are."""
    shown = ", ".join(words[:limit])
    return shown if len(words) <= limit else f"{shown} and {len(words) - limit} more"


def refuse_repeated(names: Sequence[str]) -> None:
    """Refuse names that occur more than once."""
    repeated = sorted(name for name, times in Counter(names).items() if times > 1)
    if repeated:
        raise InputError(
            f"Column names must differ, but {listing([repr(name) for name in repeated])}"
            f" {'occurs' if len(repeated) == 1 else 'occur'} more than once; rename or drop the repeated columns."
        )
