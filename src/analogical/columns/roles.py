"""The label, the weights and the groups: given as values, or as the name of a column, which is then not a feature."""

from collections.abc import Mapping, Sequence, Set
from dataclasses import dataclass
from typing import Any, Literal, NamedTuple, cast

import numpy as np

from analogical._checks import brief, is_whole
from analogical._types import Floats, Ints, Note, NoteKind
from analogical.columns.binning import BinRule, bin_values, name_bins
from analogical.columns.choosing import Names, name_of
from analogical.columns.columns import MISSING, Column, plain
from analogical.columns.frames import Table, align, as_series, encode_cells, is_series
from analogical.columns.rules import DAY_NUMBERS, NEARLY_ALL, Rules, counts_rows
from analogical.columns.treating import find_spellings, merge_spellings, note_spellings
from analogical.count.counts import refuse_too_many_rows
from analogical.errors import InputError

__all__ = ["Roles", "read_roles", "sort_classes", "treat_label"]

What = Literal["label", "weights", "groups"]


@dataclass(frozen=True)
class Roles:
    """Label, weights and groups of all rows of a table."""

    label: str | None
    """Name of the label, if it has one."""
    labels: Column | None
    """The class of each row, which may be missing; None if no label was given."""
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
    labels, label_notes = _encode_label(given["label"], weights, rules) if "label" in given else (None, ())
    taken, notes = _taken_columns(table, given, labels, rules)
    label = given["label"].name if "label" in given else None
    groups = _encode_groups(given["groups"].cells) if "groups" in given else None
    return Roles(label, labels, weights, groups, taken, (*notes, *label_notes))


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
    kind: NoteKind = "aligned" if is_aligned else "index-differs"
    notes = () if is_aligned is None else (Note(kind, (what,)),)
    return _Given(name_of(name) if name is not None and name != "" else None, cells, None, notes)


def _as_cells(given: Any, what: What) -> Any:
    """Cells of one dimension, as a series, an array or a list."""
    if isinstance(given, str | bytes | Mapping | Set):
        raise InputError(f"The {what} must be one value per row, got {type(given).__name__}; give a list or a series.")
    cells = given if isinstance(given, np.ndarray | list | tuple) else _as_series_or_list(given, what)
    if isinstance(cells, np.matrix):
        cells = np.asarray(cells)
    if isinstance(cells, np.ndarray) and cells.ndim == 2 and 1 in cells.shape:
        cells = cells.ravel()
    if isinstance(cells, np.ndarray) and cells.ndim != 1:
        raise InputError(f"The {what} must have one dimension, got an array of shape {cells.shape}; give one column.")
    return cells


def _as_series_or_list(given: Any, what: What) -> Any:
    """Cells of a dataframe library as a series, any others as an array or a list."""
    cells = as_series(given)
    if is_series(cells):
        return cells
    if hasattr(cells, "__array__") or isinstance(cells, memoryview):
        return np.asarray(cells)
    if not hasattr(cells, "__len__"):
        raise InputError(f"The {what} must be one value per row, got {type(given).__name__}.")
    return list(cells)


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
                merged, code_of = merge_spellings(column, find_spellings(column, rules.fold_case))
                column = column if merged is column else Column(column.recoded(code_of), merged.values)
            is_same = column.has_same_groups_as(given)
            if is_same and what == "weights":  # numbers must be the same, not only the groups they make
                is_same = [plain(v) for v in column.values] == [plain(v) for v in given.values]
            if is_same:
                taken[position] = what
            kind = f"{what}-taken-out" if is_same else f"{what}-name-kept"
            notes.append(Note(cast("NoteKind", kind), (str(role.name),)))
    return taken, tuple(notes)


# ---------------------------------------------------------------- the label


def _encode_label(label: _Given, weights: Ints | None, rules: Rules) -> tuple[Column, tuple[Note, ...]]:
    """Classes of the rows; missing ones stay missing, and the caller drops their rows."""
    name = label.name or "y"
    column = encode_cells(label.cells, f"label {brief(name)}")
    n_missing, n_rows = column.n_missing, len(column.codes)
    if n_missing == n_rows:
        raise InputError(
            f"The label {brief(name)} is missing in all {n_rows:,} rows; choose another column as the label."
        )
    missing = (Note("label-missing", (name,), (n_missing,)),) if n_missing else ()
    classes, code_of, notes = treat_label(column.counted(weights), name, rules)
    if classes is not column.values:
        column = Column(column.recoded(code_of), classes)
    return column, (*missing, *notes)


def treat_label(column: Column, name: str, rules: Rules) -> tuple[Sequence[Any], Ints, tuple[Note, ...]]:
    """The classes of a label, the class of each value and last MISSING for missing cells, and notes.

    Numbers are binned on request; values may occur in rows of weight 0 only.
    """
    what = f"label {brief(name)}"
    spellings = find_spellings(column, rules.fold_case)
    merged, code_of = merge_spellings(column, spellings)
    notes = tuple(note_spellings({name: spellings}))
    occurring = np.flatnonzero(merged.sizes > 0)
    kept = merged if len(occurring) == len(merged.values) else merged.pick(occurring)
    if rules.bin_label is not None:
        if column.kind == "category":
            raise InputError(
                f"The {what} holds {plain(merged.values[0])!r} and is not numeric, so it cannot be binned; leave out"
                " bin_label."
            )
        binned = bin_values(kept, BinRule("quantiles", rules.bin_label), what)
        names = name_bins(binned.ends)
        code_of = np.full(len(column.values) + 1, MISSING)
        code_of[occurring] = binned.code_of[:-1]
        return names, code_of, (*notes, Note("label-binned", (name,), (len(names),), (binned.edges,)))
    if column.kind != "category" and not rules.has_few_values(kept):
        raise InputError(
            f"The {what} is {'a time' if column.kind == 'time' else 'numeric'} and has {len(kept.values):,} values,"
            " too many for classes: bin it with bin_label=4 (--bin-label 4), choose another label (--label), or raise"
            f" max_values ({rules.max_values})."
        )
    is_many = not Rules().has_few_values(kept)  # in a small table every row may have another value
    if column.kind == "category" and is_many and rules.is_id(kept, name):
        raise InputError(
            f"The {what} has a different value in nearly every row ({len(kept.values):,} values), as an identifier has;"
            " choose another column as the label (--label)."
        )
    return merged.values, code_of, notes


def sort_classes(labels: Column) -> Column:
    """Classes in increasing order, or in order of appearance if they cannot be sorted, for every kind of table."""
    values = list(labels.values)
    try:
        order = sorted(range(len(values)), key=values.__getitem__)
    except TypeError:
        order = np.argsort(labels.first_positions()).tolist()
    if order == list(range(len(values))):
        return labels
    return Column(np.argsort(order)[labels.codes], [values[c] for c in order])


# ---------------------------------------------------------------- weights and groups


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


def _encode_groups(cells: Any) -> Ints:
    """The number of the group of each row; a row without a group is a group of its own."""
    column = encode_cells(cells, "groups")
    groups = column.codes.astype(np.int64)
    alone = np.flatnonzero(column.is_missing())
    groups[alone] = len(column.values) + np.arange(len(alone))
    return groups
