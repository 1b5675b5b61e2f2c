"""Which column is meant by a name, and which columns are features."""

from collections import Counter
from collections.abc import Hashable, Iterable, Sequence
from dataclasses import dataclass
from fnmatch import fnmatchcase
from typing import Any

import numpy as np

from analogical._checks import brief, is_whole
from analogical.columns.binning import BinRule
from analogical.columns.columns import plain
from analogical.columns.rules import Rules
from analogical.errors import InputError

__all__ = [
    "Chosen",
    "Names",
    "as_list",
    "choose_columns",
    "listing",
    "name_of",
    "refuse_repeated",
    "unknown_column",
]


def name_of(key: Hashable) -> str:
    """The name of a column as text; the levels of a pandas MultiIndex are joined."""
    return " / ".join(str(level) for level in key if str(level)) if isinstance(key, tuple) else str(key)


class Names:
    """Finds the columns of a table by the dataframe's own name, its text, a pattern or a position."""

    def __init__(self, keys: Sequence[Hashable]) -> None:
        self.texts = [name_of(key) for key in keys]
        self._by_key: dict[tuple[type, Hashable], int] = {}
        self._by_text: dict[str, int] = {}
        for place, (key, text) in enumerate(zip(keys, self.texts, strict=True)):
            self._by_key.setdefault((type(key), key), place)
            self._by_text.setdefault(text, place)

    def find(self, given: Any) -> int | None:
        """Place of a column by its name, None if there is none; with integer names, 3 is the column named 3."""
        given = plain(given)
        if isinstance(given, Hashable) and (place := self._by_key.get((type(given), given))) is not None:
            return place
        return self._by_text.get(given) if isinstance(given, str) else None

    def find_part(self, given: Any) -> tuple[int, str] | None:
        """Place of a column and part of its dates, for a name such as "sold.month"; None for any other name."""
        stem, _, part = given.rpartition(".") if isinstance(given, str) else ("", "", "")
        place = self.find(stem) if part in ("month", "weekday", "hour") and self.find(given) is None else None
        return None if place is None else (place, part)

    def find_one(self, given: Any, role: str) -> int:
        """Place of a column by its name."""
        place = self.find(given)
        if place is None:
            raise unknown_column(given, self.texts, role)
        return place

    def find_all(self, given: Any, role: str) -> list[int]:
        """Places of the columns that a name, a pattern such as "price_*" or a position stands for."""
        place = self.find(given)
        if place is not None:
            return [place]
        n = len(self.texts)
        if is_whole(given):
            if 0 <= given < n:
                return [int(given)]
            raise InputError(
                f"{role} must be a name or a position from 0 to {n - 1} (the table has {n} features), got {given}."
            )
        if not isinstance(given, str) or not any(sign in given for sign in "*?["):
            raise unknown_column(given, self.texts, role)
        matching = [place for place, name in enumerate(self.texts) if fnmatchcase(name, given)]
        if not matching:
            raise InputError(
                f"{role} has {given!r}, which no column matches; the table {_has(self.texts).removeprefix('it ')}"
            )
        return matching


@dataclass(frozen=True)
class Chosen:
    """The columns of a table that are read, by their position in the user's table, and what the user said of each."""

    names: dict[int, str]
    """Names of the columns that are read: features, and those of which only parts of dates are."""
    place_of: dict[int, int]
    """Places among all columns without a role."""
    features: set[int]
    parts: dict[int, set[str]]
    """Parts of dates that ``features`` or ``ignore`` names."""
    wanted: set[int]
    """Columns that are never set aside as ids."""
    bins: dict[int, BinRule]
    """Bin rules that the user gave for single columns."""


def choose_columns(
    keys: Sequence[Hashable],
    taken: dict[int, str],
    rules: Rules,
    keep: Sequence[Any] = (),
    label: Hashable | None = None,
) -> Chosen:
    """The columns to read.

    ``taken`` are the positions of the label, the weights and the groups, and ``keep`` are features that the user asked
    about, by name or by place among the columns without a role.
    """
    free = [position for position in range(len(keys)) if position not in taken]
    names = {p: name_of(keys[p]) for p in free}
    called = list(keys)
    if rules.feature_names is not None:
        names = dict(zip(free, _check_names(rules.feature_names, len(free)), strict=True))
        called = [names.get(p, key) for p, key in enumerate(keys)]
    features, parts = _choose_features(called, free, taken, rules)
    if not features and not parts:
        raise InputError("The table has no features; give at least one column besides the label.")
    known = Names([called[p] for p in features])
    wanted = set(features) if rules.features is not None else set[int]()
    for feature in keep:
        if (place := known.find(feature)) is not None:
            wanted.add(features[place])
        elif is_whole(feature) and 0 <= feature < len(free):
            wanted.add(free[feature])
    bins: dict[int, BinRule] = {}
    for given, rule in rules.bins_of:
        if label is not None and given == label and known.find(given) is None:
            raise InputError(f"bins names {given!r}, which is the label; bin it with bin_label (--bin-label).")
        bins |= {features[place]: rule for place in known.find_all(given, "bins")}
    read = {p: names[p] for p in sorted({*features, *parts})}
    return Chosen(read, {p: place for place, p in enumerate(free)}, set(features), parts, wanted | bins.keys(), bins)


def _check_names(names: Iterable[str], n_features: int) -> tuple[str, ...]:
    checked = () if isinstance(names, str) else tuple(str(name) for name in names)
    if len(checked) != n_features:
        raise InputError(
            f"feature_names must have one name for each of the {n_features} features, got"
            f" {listing(checked) or repr(names)}."
        )
    refuse_repeated(checked)
    return checked


def _choose_features(
    keys: Sequence[Hashable], free: list[int], taken: dict[int, str], rules: Rules
) -> tuple[list[int], dict[int, set[str]]]:
    """The columns that are features, increasing, and parts of dates that ``features`` or ``ignore`` names.

    Both may hold patterns and, with ``date_parts``, parts of dates such as ``"sold.month"``.
    """
    if rules.features is not None and rules.ignore is not None:
        raise InputError("features and ignore cannot be used together; name columns to keep, or columns to leave out.")
    role, given = ("features", rules.features) if rules.ignore is None else ("ignore", rules.ignore)
    if given is None:
        return free, {}
    names, roles = Names([keys[position] for position in free]), Names([keys[position] for position in taken])
    named, parts = set[int](), dict[int, set[str]]()
    for name in as_list(given, role):
        if rules.date_parts and (column_and_part := names.find_part(name)) is not None:
            place, part = column_and_part
            parts.setdefault(free[place], set()).add(part)
            continue
        if names.find(name) is None and (taken_place := roles.find(name)) is not None:
            what = list(taken.values())[taken_place]
            raise InputError(f"{role} names {name!r}, which is the {what}; leave it out of {role}.")
        named.update(free[place] for place in names.find_all(name, role))
    chosen = [position for position in free if (position in named) == (role == "features")]
    return chosen, {p: part for p, part in parts.items() if role == "features" or p in chosen}


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
    """Error for a column name that the table does not have, with the nearest one that it does."""
    from difflib import get_close_matches

    text, searched = str(given), names[:5_000]  # slow
    near = get_close_matches(text, searched, n=1) or get_close_matches(text.lower(), searched, n=1)
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
