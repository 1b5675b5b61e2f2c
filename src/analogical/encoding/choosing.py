"""Which column is meant by a name, and which columns are features."""

from collections import Counter
from collections.abc import Hashable, Iterable, Sequence
from typing import Any

import numpy as np

from analogical._checks import is_whole
from analogical.encoding.columns import plain
from analogical.errors import InputError

__all__ = ["as_list", "choose_features", "find_column", "listing", "refuse_repeated", "unknown_column"]


def find_column(given: Any, keys: Sequence[Hashable], role: str, *, by_position: bool = False) -> int:
    """Position of a column given by its name, by the text of its name or, on request, by its position.

    The dataframe's own name comes first: with integer names, 3 is the column named 3.
    """
    given = plain(given)
    for position, key in enumerate(keys):
        if type(key) is type(given) and key == given:
            return position
    names = [str(key) for key in keys]
    if isinstance(given, str) and given in names:
        return names.index(given)
    if by_position and is_whole(given):
        if 0 <= given < len(keys):
            return int(given)
        raise InputError(
            f"{role} must be a name or a position from 0 to {len(keys) - 1} (the table has {len(keys)} features),"
            f" got {given}."
        )
    raise unknown_column(given, names, role)


def choose_features(
    keys: Sequence[Hashable], taken: dict[int, str], features: Any = None, ignore: Any = None
) -> list[int]:
    """Positions of the features, in column order.

    ``taken`` says which columns are the label or the weights. ``features`` names those to keep, ``ignore`` those to
    leave out.
    """
    if features is not None and ignore is not None:
        raise InputError("features and ignore cannot be used together; name columns to keep, or columns to leave out.")
    free = [position for position in range(len(keys)) if position not in taken]
    role = "features" if ignore is None else "ignore"
    given = features if ignore is None else ignore
    if given is None:
        return free
    named = {_find_free(name, keys, taken, free, role) for name in as_list(given, role)}
    return [position for position in free if (position in named) == (role == "features")]


def _find_free(name: Any, keys: Sequence[Hashable], taken: dict[int, str], free: list[int], role: str) -> int:
    """Position among all columns of a name, or of a position among the features."""
    if name in (keys[position] for position in taken):
        position = next(position for position in taken if keys[position] == name)
        raise InputError(f"{role} names {name!r}, which is the {taken[position]}; leave it out of {role}.")
    return free[find_column(name, [keys[position] for position in free], role, by_position=True)]


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

    text = str(given)
    near = get_close_matches(text, names, n=1) or get_close_matches(text.lower(), names, n=1)
    hint = f"did you mean {near[0]!r}?" if near else f"it has {listing([repr(name) for name in names])}."
    return InputError(f"The table has no column {given!r} to take as {role}; {hint}")


def listing(words: Sequence[str], limit: int = 8) -> str:
    """At most eight words, and how many more there are."""
    shown = ", ".join(words[:limit])
    return shown if len(words) <= limit else f"{shown} and {len(words) - limit} more"


def refuse_repeated(names: Sequence[str]) -> None:
    """Refuse names that occur more than once."""
    repeated = sorted(name for name, times in Counter(names).items() if times > 1)
    if repeated:
        raise InputError(
            f"Column names must differ, but {listing([repr(name) for name in repeated])} occurs more than"
            " once; rename or drop the repeated columns."
        )
