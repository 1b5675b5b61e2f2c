"""Any table to codes, small whole numbers, together with what the codes mean.

Everything after this folder sees codes only, and nothing reads the user's table again: :class:`EncodedTable` knows
which value a code stands for, what was done to a column and where a row came from. Columns that have codes already
(pandas categories, polars Categorical and Enum, small integers) keep them. What cannot be encoded is refused here, in
one sentence.
"""

from collections.abc import Hashable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property
from typing import TYPE_CHECKING, Any

import numpy as np

from analogical._checks import brief
from analogical._types import Bools, CodedRows, Codes, Ints, Note, Positions, code_type
from analogical.columns.choosing import ChosenColumns
from analogical.columns.columns import Column, plain
from analogical.columns.meaning import ColumnMeaning, TableMeaning
from analogical.columns.preparing import MemoryPreparer
from analogical.columns.reading import RawTable, read_table
from analogical.columns.roles import (
    Role,
    encode_groups,
    encode_label,
    encode_weights,
    sort_classes,
    taken_columns,
)
from analogical.columns.rules import Rules
from analogical.errors import InputError
from analogical.estimate.leaks import find_leaks

if TYPE_CHECKING:
    from analogical.columns.frames import Frame
    from analogical.columns.reading import NamedLists

__all__ = [
    "EncodedTable",
    "encode_features",
    "encode_table",
    "leak_notes",
    "refuse_constants",
    "refuse_single_class",
]


@dataclass(frozen=True, kw_only=True)
class EncodedTable(TableMeaning):
    """A table as codes, with what they mean and where the rows came from."""

    codes: Codes
    """Shape (rows, features); column i holds every code from 0 to n_values[i] - 1."""
    weights: Ints | None
    """How many rows each row stands for, all positive; None if each stands for one."""
    labels: Codes | None
    """Shape (rows,); positions in ``classes``. None if the table was encoded without a label."""
    groups: Ints | None
    """The number of the group of each row; None if all rows are independent."""
    origin: Positions | None
    """Positions of the encoded rows in the user's table; None if all rows were encoded."""
    frame: "Frame | NamedLists | None"
    """The user's dataframe, for the names of its rows; None for arrays and lists."""
    fine: Mapping[int, Codes] = field(default_factory=dict)
    """Numbers in up to 120 bins, by place among the features: contexts of other features may need finer bins."""
    fine_sizes: Mapping[int, Ints] | None = None
    """Rows of each of these bins, missing cells last, by place; None if they are those of ``fine``."""
    engine: str = "memory"
    """The library in which the table lies."""
    has_order: bool = True
    """Whether rows have positions in the user's table."""
    source: Any = None
    """All rows, grouped by the library, if they did not come home; the codes are then those of a sample."""

    @property
    def is_weighted(self) -> bool:
        """Whether rows have weights."""
        return self.weights is not None

    @cached_property
    def n_units(self) -> int | None:
        """Number of groups; None if rows are independent."""
        return None if self.groups is None else int(self.groups.max()) + 1

    @property
    def keys(self) -> Sequence[Hashable]:
        """The user's own names of the features; for arrays, the names that we gave them."""
        return self.names if self.frame is None else super().keys

    @property
    def backend(self) -> str | None:
        """Name of the dataframe library of the user's table, for results in the same one."""
        return None if self.frame is None else self.frame.backend

    @property
    def coded(self) -> CodedRows:
        """The codes alone, for counting; without a label all rows have the same one."""
        labels = np.zeros(len(self.codes), np.uint8) if self.labels is None else self.labels
        n_labels = 1 if self.label_meaning is None else len(self.label_meaning.values)
        return CodedRows(self.codes, labels, self.n_values, n_labels, self.weights)

    def select(self, features: Sequence[int]) -> "EncodedTable":
        """The table with some of its features, in the given order; nothing is encoded again."""
        codes = np.asfortranarray(self.codes[:, list(features)])
        fine = {place: self.fine[i] for place, i in enumerate(features) if i in self.fine}
        return replace(self, codes=codes, columns=tuple(self.columns[i] for i in features), fine=fine)

    def positions(self, rows: Iterable[int]) -> list[int]:
        """Positions of encoded rows in the user's table."""
        return [int(row) if self.origin is None else int(self.origin[row]) for row in rows]

    def row_names(self, rows: Iterable[int]) -> list[Hashable]:
        """Index labels of encoded rows, where the dataframe has an index; otherwise their positions."""
        positions = self.positions(rows)
        return list(positions) if self.frame is None else self.frame.row_names(positions)

    def cells(self, rows: Iterable[int], feature: int) -> list[Any]:
        """Values of a feature in encoded rows."""
        return self.named(feature, self.codes[list(rows), feature].tolist())


def encode_table(X: Any, y: Any, rules: Rules | None = None, *, keep: Sequence[Any] = ()) -> EncodedTable:
    """Encode a table and its label, or say in one sentence why that cannot be done.

    Label, weights and groups may name columns of ``X`` if it is a dataframe; those are then not features. A series that
    equals a column of ``X`` (same name, same groups of rows) is removed from the features too, with a note. ``keep``
    are features that the user asked about, which are never set aside as ids.
    """
    if y is None:
        raise InputError("The label y is missing (None); give one label per row, or a column name.")
    raw = read_table(X)
    rules = rules or Rules()
    label = Role.of(raw, y, "label")
    table, cuts = _encode(raw, label, rules, keep)
    refuse_constants(table.n_values, len(table.codes))
    return replace(table, notes=(*table.notes, *leak_notes(table.names, find_leaks(table.coded) | cuts)))


def leak_notes(names: Sequence[str], leaks: Mapping[int, float]) -> tuple[Note, ...]:
    """A note on the columns that predict the label in nearly all rows; ``leaks`` are shares of rows by place."""
    if not leaks:
        return ()
    shares = tuple(100 if share == 1 else min(99, round(100 * share)) for _, share in sorted(leaks.items()))
    return (Note("leak", tuple(names[i] for i in sorted(leaks)), shares),)


def encode_features(X: Any, rules: Rules | None = None) -> EncodedTable:
    """Encode a table without a label; all of its features may be constant."""
    return _encode(read_table(X), None, rules or Rules(), ())[0]


def _encode(
    raw: RawTable, label: Role | None, rules: Rules, keep: Sequence[Any]
) -> tuple[EncodedTable, dict[int, float]]:
    """The encoded table; and, by place, numbers that predict the label by a threshold, with their share of rows."""
    roles = _read_roles(raw, label, rules)
    work = _preparer(raw, roles, rules, keep)
    work.treat_all()
    codes = work.side_by_side()
    classes = _classes(roles, work)
    group_of_row = encode_groups(roles.groups)
    table = EncodedTable(
        codes=codes,
        columns=tuple(feature.meaning for feature in work.features),
        weights=work.weights,
        labels=None if classes is None else classes.codes.astype(code_type(len(classes.values))),
        label_meaning=None if classes is None else ColumnMeaning(roles.label_name, roles.label, classes.values),
        groups=None if group_of_row is None else np.unique(group_of_row[work.rows], return_inverse=True)[1],
        origin=None if work.rows.all() else np.flatnonzero(work.rows),
        frame=raw.frame,
        notes=(*raw.notes, *roles.notes, *work.notes),
        fine={place: feature.fine for place, feature in enumerate(work.features) if feature.fine is not None},
    )
    return table, work.cuts


@dataclass(frozen=True)
class _Roles:
    """Label, weights and groups of all rows."""

    label_name: str | None
    labels: Column | None
    weights: Ints | None
    groups: Any
    """One cell per row; None if rows are independent."""
    taken: dict[int, str]
    """Columns of the user's table that have a role, by position."""
    notes: tuple[Note, ...]

    @property
    def label(self) -> str:
        """Name of the label."""
        return self.label_name or "y"


def _read_roles(raw: RawTable, label: Role | None, rules: Rules) -> _Roles:
    """The roles of columns, and of values given beside the table."""
    weights, groups = Role.of(raw, rules.weights, "weights"), Role.of(raw, rules.groups, "groups")
    if raw.n_rows == 0:
        raise InputError("The table is empty (0 rows); give at least two rows with different labels.")
    numbers = encode_weights(weights)
    labels, label_notes = (None, ()) if label is None else encode_label(label, numbers, rules)
    taken, notes = taken_columns(raw, (label, weights, groups), labels, rules)
    label_name = None if label is None else label.name
    return _Roles(label_name, labels, numbers, groups.cells, taken, (*notes, *label_notes))


def _preparer(raw: RawTable, roles: _Roles, rules: Rules, keep: Sequence[Any]) -> MemoryPreparer:
    """What turns the columns without a role into features, on the rows that count."""
    chosen = ChosenColumns.of(raw.keys, roles.taken, rules)
    rows = _rows_that_count(raw.n_rows, roles.weights, roles.labels)
    return MemoryPreparer(
        raw,
        rows,
        weights=None if roles.weights is None else roles.weights[rows],
        labels=None if roles.labels is None else roles.labels.take(rows).codes,
        chosen=chosen,
        rules=rules,
        wanted=chosen.asked_for(keep),
        bins_of=chosen.own_bins(rules, roles.label_name),
    )


def _classes(roles: _Roles, work: MemoryPreparer) -> Column | None:
    """The classes of the rows that were not dropped, sorted; None if there is no label."""
    if roles.labels is None:
        return None
    classes = sort_classes(roles.labels.take(work.rows))
    n_rows = len(classes.codes) if work.weights is None else int(work.weights.sum())
    n_left_out = int((~work.rows).sum())
    refuse_single_class(classes, roles.label, n_rows, len(roles.labels.values), n_left_out=n_left_out)
    return classes


def _rows_that_count(n_rows: int, numbers: Ints | None, labels: Column | None) -> Bools:
    """Whether each row has a label and a weight above 0."""
    kept = np.ones(n_rows, np.bool_) if numbers is None else numbers > 0
    if labels is not None:
        kept &= ~labels.is_missing()
        if not kept.any():
            raise InputError("No row has both a label and a weight above 0; look at the label and the weights.")
    return kept


def refuse_constants(n_values: Ints, n_rows: int) -> None:
    """Refuse a table in which no feature varies."""
    if (n_values == 1).all():
        raise InputError(
            f"All {len(n_values)} features have one value only in these {n_rows:,} rows, so no two rows can be"
            " compared; look at the filter applied before, or give columns that vary."
        )


def refuse_single_class(labels: Column, label: str, n_rows: int, n_before: int = 1, n_left_out: int = 0) -> None:
    """Refuse a label with a single class, and say whether the rows that were left out had other labels."""
    if len(labels.values) > 1:
        return
    rows = "1 row" if n_rows == 1 else f"{n_rows:,} rows"
    only = f"{brief(plain(labels.values[0]))}, {rows}"
    if not n_left_out:
        raise InputError(
            f"The label {brief(label)} has one class only ({only}); relevance compares rows whose labels differ. Look"
            " at the filter applied before."
        )
    if n_before > 1:
        raise InputError(
            f"The label {brief(label)} has one class only ({only}): the {n_left_out:,} rows that were left out have the"
            ' other labels. Look at missing cells (missing="value", --missing value) and weights.'
        )
    raise InputError(
        f"The label {brief(label)} has one class only ({only}), and {n_left_out:,} rows without a label were left out;"
        " relevance compares rows whose labels differ. Fill in the other class if missing stands for it."
    )
