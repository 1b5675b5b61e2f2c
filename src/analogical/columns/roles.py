"""The label, the weights and the groups: given as values, or as the name of a column, which is then not a feature."""

from collections.abc import Mapping, Sequence, Set
from dataclasses import dataclass
from typing import Any, Literal, NamedTuple, cast

import numpy as np

from analogical._checks import brief, is_whole
from analogical._types import Floats, Ints, Note, NoteKind
from analogical.columns.binning import BinRule, bin_values, name_bins
from analogical.columns.choosing import Names, name_of
from analogical.columns.columns import MISSING, Column, Values, plain
from analogical.columns.folding import find_spellings, fold_notes, merge_spellings
from analogical.columns.reading import RawTable, encode_cells
from analogical.columns.rules import FIRST_DAY_NUMBER, LAST_DAY_NUMBER, NEARLY_ALL, Rules, counts_rows
from analogical.count.counts import refuse_too_many_rows
from analogical.errors import InputError

__all__ = [
    "Role",
    "TreatedLabel",
    "encode_groups",
    "encode_label",
    "encode_weights",
    "refuse_no_counts",
    "sort_classes",
    "taken_columns",
    "treat_label",
]

What = Literal["label", "weights", "groups"]

FEWEST_JUDGED = 20
"""With fewer rows, a column of weights is not judged by its values."""
YEARS = (1900, 2100)


@dataclass(frozen=True)
class Role:
    """The label, the weights or the groups."""

    what: What
    name: str | None
    cells: Any
    """One cell per row, in the order of the table; None if nothing was given."""
    position: int | None = None
    """Position of the column, if the user named one."""
    notes: tuple[Note, ...] = ()

    @classmethod
    def of(cls, raw: RawTable, given: Any, what: What) -> "Role":
        """From the name of a column, or from the values themselves."""
        if given is None:
            return cls(what, None, None)
        is_text = isinstance(given, str)
        if raw.frame is None:
            if is_text:
                raise InputError(
                    f"The {what} {given!r} names a column, but X is not a dataframe; give the values, one per row."
                )
        elif is_text or is_whole(given) or (isinstance(given, tuple) and given in raw.keys):
            position = Names(raw.keys).find_one(given, what)
            return cls(what, name_of(raw.keys[position]), raw.cells[position], position)
        cells, is_aligned = _as_cells(given, what), None
        if raw.frame is not None and not isinstance(cells, np.ndarray | list | tuple):
            from analogical.columns.frames import align

            cells, is_aligned = align(cells, raw.frame)
        name = getattr(cells, "name", None)
        if len(cells) != raw.n_rows:
            raise InputError(
                f"The {what} has {len(cells):,} values and X has {raw.n_rows:,} rows; give one value per row."
            )
        kind: NoteKind = "aligned" if is_aligned else "index-differs"
        notes = () if is_aligned is None else (Note(kind, (what,)),)
        return cls(what, name_of(name) if name is not None and name != "" else None, cells, notes=notes)


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
    from analogical.columns.frames import as_series, is_series

    cells = as_series(given)
    if is_series(cells):
        return cells
    if hasattr(cells, "__array__") or isinstance(cells, memoryview):
        return np.asarray(cells)
    if not hasattr(cells, "__len__"):
        raise InputError(f"The {what} must be one value per row, got {type(given).__name__}.")
    return list(cells)


def taken_columns(
    raw: RawTable, roles: tuple[Role | None, ...], labels: Column | None, rules: Rules
) -> tuple[dict[int, str], tuple[Note, ...]]:
    """The columns that are the label, the weights or the groups, by position, and notes about them."""
    taken: dict[int, str] = {}
    notes: list[Note] = []
    names = {name_of(key): position for position, key in enumerate(raw.keys)} if raw.frame is not None else {}
    for role in roles:
        if role is None or role.cells is None:
            continue
        notes += role.notes
        if role.position is not None:
            if role.position in taken:
                raise InputError(
                    f"The column {role.name!r} cannot be both the {taken[role.position]} and the {role.what}; choose"
                    " another one."
                )
            taken[role.position] = role.what
        elif role.name in names:
            position = names[role.name]
            column = encode_cells(raw.cells[position], f"{role.what} {role.name!r}")
            if role.what == "label" and labels is not None:
                column, given = _folded(column, rules), labels
            else:
                given = encode_cells(role.cells, role.what)
            is_same = column.has_same_groups_as(given)
            if is_same and role.what == "weights":  # numbers must be the same, not only the groups they make
                is_same = [plain(v) for v in column.values] == [plain(v) for v in given.values]
            if is_same:
                taken[position] = role.what
            kind = f"{role.what}-taken-out" if is_same else f"{role.what}-name-kept"
            notes.append(Note(cast("NoteKind", kind), (str(role.name),)))
    return taken, tuple(notes)


def _folded(column: Column, rules: Rules) -> Column:
    """A column with spellings of one value merged."""
    values = column.counted()
    merged, code_of = merge_spellings(values, find_spellings(values, rules.fold_case).merged)
    return column if merged is values else Column(column.recoded(code_of), merged.values)


class TreatedLabel(NamedTuple):
    """The classes of a label, decided on its values."""

    classes: Sequence[Any]
    code_of: Ints
    """The class of each value, and last MISSING for missing cells."""
    notes: tuple[Note, ...]


def treat_label(values: Values, name: str, rules: Rules) -> TreatedLabel:
    """The class of each value of the label, binned on request; values may occur in rows of weight 0 only."""
    what = f"label {brief(name)}"
    spellings = find_spellings(values, rules.fold_case)
    merged, code_of = merge_spellings(values, spellings.merged)
    notes = tuple(fold_notes({name: spellings}))
    occurring = np.flatnonzero(merged.sizes > 0)
    kept = merged if len(occurring) == len(merged) else merged.take(occurring)
    if rules.bin_label is not None:
        if values.kind == "category":
            raise InputError(
                f"The {what} holds {plain(merged.values[0])!r} and is not numeric, so it cannot be binned; leave out"
                " bin_label."
            )
        binned = bin_values(kept, BinRule("quantiles", rules.bin_label), what)
        names = name_bins(binned.ends)
        code_of = np.full(len(values) + 1, MISSING)
        code_of[occurring] = binned.code_of[:-1]
        return TreatedLabel(names, code_of, (*notes, Note("label-binned", (name,), (len(names),), (binned.edges,))))
    if values.kind != "category" and not rules.has_few_values(kept):
        raise InputError(
            f"The {what} is {'a time' if values.kind == 'time' else 'numeric'} and has {len(kept):,} values,"
            " too many for classes: bin it with bin_label=4 (--bin-label 4), choose another label (--label), or raise"
            f" max_values ({rules.max_values})."
        )
    is_many = not Rules().has_few_values(kept)  # in a small table every row may have another value
    if values.kind == "category" and is_many and rules.is_id(kept, name):
        raise InputError(
            f"The {what} has a different value in nearly every row ({len(kept):,} values), as an identifier has;"
            " choose another column as the label (--label)."
        )
    return TreatedLabel(merged.values, code_of, notes)


def encode_label(label: Role, weights: Ints | None, rules: Rules) -> tuple[Column, tuple[Note, ...]]:
    """Classes of the rows; missing ones stay missing, and the caller drops their rows."""
    name = label.name or "y"
    column = encode_cells(label.cells, f"label {brief(name)}")
    n_missing, n_rows = column.n_missing, len(column.codes)
    if n_missing == n_rows:
        raise InputError(
            f"The label {brief(name)} is missing in all {n_rows:,} rows; choose another column as the label."
        )
    notes = (Note("label-missing", (name,), (n_missing,)),) if n_missing else ()
    treated = treat_label(column.counted(weights), name, rules)
    if treated.classes is not column.values:
        column = Column(column.recoded(treated.code_of), treated.classes)
    return column, (*notes, *treated.notes)


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


def encode_weights(weights: Role) -> Ints | None:
    """Weights as int64, None if there are none; refused unless they are whole numbers from 0."""
    if weights.cells is None:
        return None
    expected = "weights must be whole numbers from 0 (how many rows each row stands for)"
    where = "" if weights.name is None else f" of {brief(weights.name)}"
    column = encode_cells(weights.cells, "weights")
    values = [plain(value) for value in column.values]
    for code, value in enumerate(values):
        if not _is_number(value):
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
        raise InputError(f"{expected}, got {numbers[column.codes[row]]:g} in row {row}{where}; {_FRACTIONS}")
    of_row: Floats = numbers[column.codes]
    if not of_row.any():
        raise InputError(f"{expected}, and at least one above 0; all {len(of_row):,} weights are zero.")
    if weights.position is not None:
        above = numbers[numbers > 0]
        refuse_no_counts(weights.name or "", int(np.count_nonzero(of_row)), len(above), above.min(), above.max())
    refuse_too_many_rows(float(of_row.sum()))
    return of_row.astype(np.int64)


_FRACTIONS = (
    "use counts, not shares. Survey weights are not supported, because rows would count as more or less than the one"
    " independent answer they are: leave them out, and read the result as one about the sample."
)


def refuse_no_counts(name: str, n_rows: int, n_values: int, low: float, high: float) -> None:
    """Refuse a column of weights that look like years, dates or identifiers, by the range of its positive numbers."""
    if n_rows < FEWEST_JUDGED or n_values == 1:
        return
    if low >= YEARS[0] and high <= YEARS[1]:
        what = "years"
    elif low >= FIRST_DAY_NUMBER and high <= LAST_DAY_NUMBER:
        what = "dates"
    elif n_values >= NEARLY_ALL * n_rows and counts_rows(name, n_values, low, high):
        what = "identifiers"
    else:
        return
    raise InputError(
        f"weights must be how many rows each row stands for, and those of {brief(name)} look like {what} ({low:.0f} to"
        f" {high:.0f}); leave out weights, or name another column."
    )


def _is_number(cell: Any) -> bool:
    return isinstance(cell, int | float | np.number) or type(cell).__name__ in ("Decimal", "Fraction")


def encode_groups(cells: Any) -> Ints | None:
    """The number of the group of each row; a row without a group is a group of its own."""
    if cells is None:
        return None
    column = encode_cells(cells, "groups")
    groups = column.codes.astype(np.int64)
    alone = np.flatnonzero(column.is_missing())
    groups[alone] = len(column.values) + np.arange(len(alone))
    return groups
