"""Which column is what: the label, the weights, the groups, and the features, each given by name or as values."""

from collections.abc import Hashable, Iterable, Mapping, Sequence, Set
from dataclasses import dataclass
from fnmatch import fnmatchcase
from typing import Any, Literal, NamedTuple

import numpy as np

from analogical._checks import brief, is_whole, listing
from analogical._types import Floats, Ints, Note
from analogical.columns.binning import BinRule
from analogical.columns.columns import DAY_NUMBERS, MISSING, Column, plain
from analogical.columns.frames import Table, align, as_series, encode_cells, is_series, name_of, refuse_repeated
from analogical.columns.labels import Labels, encode_label, merged_spellings
from analogical.columns.rules import NEARLY_ALL, Rules, counts_rows
from analogical.columns.treating import PARTS
from analogical.count.contexts import refuse_too_many_rows
from analogical.errors import InputError

What = Literal["label", "weights", "groups"]


# ---------------------------------------------------------------- names


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
            known = listing([brief(name) for name in self.texts])
            raise InputError(f"{role} has {given!r}, which no column matches; the table has {known}.")
        return matching


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
    known = f"it has {listing([brief(name) for name in names])}."
    hint = f"did you mean {brief(near[0])}?" if near and near[0] != text else known
    return InputError(f"The table has no column {brief(given)} to take as {role}; {hint}")


# ---------------------------------------------------------------- label, weights and groups


@dataclass(frozen=True)
class Roles:
    """Label, weights and groups of all rows of a table."""

    label: str | None
    """Name of the label, if it has one."""
    labels: Labels | None
    """None if no label was given."""
    weights: Ints | None
    groups: Ints | None
    """The number of the group of each row; None if rows are independent."""
    taken: dict[int, str]
    """Columns of the table that have a role, by position."""
    notes: tuple[Note, ...]


class _Given(NamedTuple):
    """What was given for a role."""

    name: str | None
    cells: Any
    """One cell per row, in the order of the table."""
    position: int | None
    """Position of the column, if the user named one."""
    notes: tuple[Note, ...] = ()


def read_roles(table: Table, y: Any, rules: Rules) -> Roles:
    """The roles of columns, and of values given beside the table; without a label if ``y`` is None."""
    values: dict[What, Any] = {"label": y, "weights": rules.weights, "groups": rules.groups}
    given = {what: _find(table, value, what) for what, value in values.items() if value is not None}
    if table.n_rows == 0:
        raise InputError("The table is empty (0 rows); give at least two rows with different labels.")
    weights = _encode_weights(given["weights"]) if "weights" in given else None
    label = given["label"].name if "label" in given else None
    read = encode_label(given["label"].cells, label or "y", weights, rules) if "label" in given else None
    taken, notes = _taken_columns(table, given, None if read is None else read.as_read, rules)
    groups = None
    if "groups" in given:  # a row without a group is a group of its own
        column = encode_cells(given["groups"].cells, "groups")
        groups, alone = column.codes.astype(np.int64), np.flatnonzero(column.codes == MISSING)
        groups[alone] = len(column.values) + np.arange(len(alone))
    return Roles(label, read, weights, groups, taken, (*notes, *(() if read is None else read.notes)))


def _find(table: Table, given: Any, what: What) -> _Given:
    """Cells from the name of a column, or the values themselves."""
    is_text = isinstance(given, str)
    if table.backend is None:
        if is_text:
            raise InputError(
                f"The {what} {given!r} names a column, but X is not a dataframe; give the values, one per row."
            )
    elif is_text or is_whole(given) or (isinstance(given, tuple) and given in table.keys):
        position = Names(table.keys).find_one(given, what)
        return _Given(name_of(table.keys[position]), table[position], position)
    cells, is_aligned = _as_cells(given, what), None
    if table.backend is not None and not isinstance(cells, np.ndarray | list | tuple):
        cells, is_aligned = align(cells, table)
    name = getattr(cells, "name", None)
    if len(cells) != table.n_rows:
        raise InputError(
            f"The {what} has {len(cells):,} values and X has {table.n_rows:,} rows; give one value per row."
        )
    notes = () if is_aligned is None else (Note("aligned" if is_aligned else "index-differs", (what,)),)
    return _Given(name_of(name) if name is not None and name != "" else None, cells, None, notes)


def _as_cells(given: Any, what: What) -> Any:
    """Cells of one dimension, as a series, an array or a list."""
    if isinstance(given, str | bytes | Mapping | Set):
        raise InputError(f"The {what} must be one value per row, got {type(given).__name__}; give a list or a series.")
    cells = given if isinstance(given, np.ndarray | list | tuple) else as_series(given)
    is_array = isinstance(cells, np.ndarray)
    if isinstance(cells, np.matrix | memoryview) or (
        hasattr(cells, "__array__") and not is_array and not is_series(cells)
    ):
        cells = np.asarray(cells)
    if isinstance(cells, np.ndarray) and cells.ndim == 2 and 1 in cells.shape:
        cells = cells.ravel()
    if isinstance(cells, np.ndarray) and cells.ndim != 1:
        raise InputError(f"The {what} must have one dimension, got an array of shape {cells.shape}; give one column.")
    if not hasattr(cells, "__len__"):
        raise InputError(f"The {what} must be one value per row, got {type(given).__name__}.")
    return cells if isinstance(cells, np.ndarray | list | tuple) or is_series(cells) else list(cells)


def _taken_columns(
    table: Table, roles: Mapping[What, _Given], labels: Column | None, rules: Rules
) -> tuple[dict[int, str], tuple[Note, ...]]:
    """The columns that are the label, the weights or the groups, by position, and notes about them."""
    taken: dict[int, str] = {}
    notes: list[Note] = []
    names = {name_of(key): position for position, key in enumerate(table.keys)} if table.backend is not None else {}
    for what, role in roles.items():
        notes += role.notes
        if role.position is not None:
            if role.position in taken:
                raise InputError(
                    f"The column {role.name!r} cannot be both the {taken[role.position]} and the {what}; choose another"
                    " one."
                )
            taken[role.position] = what
        elif role.name in names:
            position = names[role.name]
            column = encode_cells(table[position], f"{what} {role.name!r}")
            given = labels if what == "label" and labels is not None else encode_cells(role.cells, what)
            if what == "label":  # spellings are merged in the label
                column = merged_spellings(column, rules.fold_case)[0]
            is_same = column.has_same_groups_as(given)
            if is_same and what == "weights":  # numbers must be the same, not only the groups they make
                is_same = [plain(v) for v in column.values] == [plain(v) for v in given.values]
            if is_same:
                taken[position] = what
            notes.append(Note(f"{what}-taken-out" if is_same else f"{what}-name-kept", (str(role.name),)))
    return taken, tuple(notes)


def _encode_weights(weights: _Given) -> Ints:
    """Weights as int64; refused unless they are whole numbers from 0."""
    expected = "weights must be whole numbers from 0 (how many rows each row stands for)"
    where = "" if weights.name is None else f" of {brief(weights.name)}"
    column = encode_cells(weights.cells, "weights")
    values = [plain(value) for value in column.values]
    for code, value in enumerate(values):
        if not isinstance(value, int | float | np.number) and type(value).__name__ not in ("Decimal", "Fraction"):
            row = int((column.codes == code).argmax())
            raise InputError(f"{expected}, got {brief(value)} in row {row}{where}.")
    numbers = np.array(values, dtype=np.float64)
    with np.errstate(invalid="ignore"):
        is_bad = ~((numbers >= 0) & (numbers == np.floor(numbers)) & np.isfinite(numbers))
    bad_rows = np.append(is_bad, True)[column.codes]  # missing cells, whose code is -1, are bad
    if bad_rows.any():
        row = int(bad_rows.argmax())
        if column.codes[row] == MISSING:
            raise InputError(f"{expected}, got a missing value in row {row}{where}.")
        raise InputError(
            f"{expected}, got {numbers[column.codes[row]]:g} in row {row}{where}; use counts, not shares. Survey"
            " weights are not supported, because rows would count as more or less than the one independent answer they"
            " are: leave them out, and read the result as one about the sample."
        )
    of_row: Floats = numbers[column.codes]
    if not of_row.any():
        raise InputError(f"{expected}, and at least one above 0; all {len(of_row):,} weights are zero.")
    if weights.position is not None:
        above = numbers[numbers > 0]
        _refuse_no_counts(weights.name or "", int(np.count_nonzero(of_row)), len(above), above.min(), above.max())
    refuse_too_many_rows(float(of_row.sum()))
    return of_row.astype(np.int64)


def _refuse_no_counts(name: str, n_rows: int, n_values: int, low: float, high: float) -> None:
    """Refuse a column of weights that look like years, dates or identifiers, by the range of its positive numbers."""
    if n_rows < 20 or n_values == 1:  # too few to judge
        return
    if low >= 1900 and high <= 2100:
        what = "years"
    elif low >= DAY_NUMBERS[0] and high <= DAY_NUMBERS[1]:
        what = "dates"
    elif n_values >= NEARLY_ALL * n_rows and counts_rows(name, n_values, low, high):
        what = "identifiers"
    else:
        return
    raise InputError(
        f"weights must be how many rows each row stands for, and those of {brief(name)} look like {what} ({low:.0f} to"
        f" {high:.0f}); leave out weights, or name another column."
    )


# ---------------------------------------------------------------- features


@dataclass(frozen=True)
class Chosen:
    """The columns of a table that are read, by their position in the user's table, and what the user said of each."""

    names: dict[int, str]
    """Names of the columns that are read: features, and those of which only parts of dates are."""
    titles: dict[int, str]
    """What messages call these columns: feature 'age'."""
    place_of: dict[int, int]
    """Places among all columns without a role."""
    features: set[int]
    parts: dict[int, set[str]]
    """Parts of dates that ``features`` or ``ignore`` names."""
    may_be_ids: set[int]
    """Columns that are set aside if they look like ids: all but those that the user named."""
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
    if (given_names := rules.feature_names) is not None:
        own = () if isinstance(given_names, str) else tuple(str(name) for name in given_names)
        if len(own) != len(free):
            raise InputError(
                f"feature_names must have one name for each of the {len(free)} features, got"
                f" {listing(own) or repr(given_names)}."
            )
        refuse_repeated(own)
        names = dict(zip(free, own, strict=True))
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
            raise InputError(f"bins names {given!r}, which is the label; divide it with classes (--classes).")
        bins |= {features[place]: rule for place in known.find_all(given, "bins")}
    read = {p: names[p] for p in sorted({*features, *parts})}
    may_be_ids = set(features) - wanted - bins.keys() if rules.ids == "drop" else set[int]()
    titles = {p: f"feature {brief(name)}" for p, name in read.items()}
    return Chosen(read, titles, {p: place for place, p in enumerate(free)}, set(features), parts, may_be_ids, bins)


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
        is_known = names.find(name) is not None
        stem, _, part = name.rpartition(".") if isinstance(name, str) else ("", "", "")
        place = names.find(stem) if rules.date_parts and part in PARTS and not is_known else None
        if place is not None:
            parts.setdefault(free[place], set()).add(part)
            continue
        if not is_known and (taken_place := roles.find(name)) is not None:
            what = list(taken.values())[taken_place]
            raise InputError(f"{role} names {name!r}, which is the {what}; leave it out of {role}.")
        named.update(free[place] for place in names.find_all(name, role))
    chosen = [position for position in free if (position in named) == (role == "features")]
    return chosen, {p: part for p, part in parts.items() if role == "features" or p in chosen}
