"""Any table to small whole numbers, with what the numbers mean kept beside them.

Everything after this folder sees numbers only, and nothing reads the user's table again: :class:`EncodedTable` knows
which value a code stands for, what was done to a column and where a row came from. Columns that carry codes of their
own (pandas categories, polars Categorical and Enum, small integers) are used as they are. What cannot be encoded is
refused here, in one sentence.
"""

from collections.abc import Hashable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property
from typing import TYPE_CHECKING, Any, Literal

import numpy as np

from analogical._checks import brief, is_whole
from analogical._types import Bools, CodedRows, Codes, Ints, Note, Positions
from analogical.errors import InputError
from analogical.estimate.leaks import find_leaks
from analogical.table.binning import BinRule
from analogical.table.choosing import Chosen, Names, choose_features, find_column, listing, name_of, refuse_repeated
from analogical.table.columns import Column, plain
from analogical.table.integers import code_type
from analogical.table.preparing import Preparation
from analogical.table.reading import ChosenColumns, RawTable, read_table
from analogical.table.roles import (
    Role,
    encode_groups,
    encode_label,
    encode_weights,
    sort_classes,
    taken_columns,
)
from analogical.table.rules import Rules

if TYPE_CHECKING:
    from analogical.table.frames import Rows

__all__ = [
    "ColumnMeaning",
    "EncodedTable",
    "encode_features",
    "encode_table",
    "own_bins",
    "refuse_constants",
    "refuse_single_class",
    "with_leaks",
]


@dataclass(frozen=True)
class ColumnMeaning:
    """What the codes of a column stand for, and what was done to make them."""

    key: Hashable
    """The user's own name of the column: the dataframe's, or its position in an array."""
    name: str
    values: Sequence[Any]
    """``values[c]`` is what code c stands for."""
    position: int = 0
    """Position among the features of the user's table, before some were left out; parts of dates come after them."""
    treatment: Literal["categories", "bins"] = "categories"
    """How values became codes: every distinct value is a category, or numbers and dates were binned."""
    edges: tuple[Any, ...] = ()
    """Where the bins but the first begin."""
    n_missing: int = 0
    """Rows without a value, for which the last code stands."""
    fine_ends: tuple[tuple[Any, Any], ...] = ()
    """The lowest and the highest number in each of the finer bins that the table holds; empty for categories."""


@dataclass(frozen=True)
class EncodedTable:
    """A table as codes, with what they mean and where the rows came from."""

    codes: Codes
    """Shape (rows, features); column i holds every code from 0 to n_values[i] - 1."""
    columns: tuple[ColumnMeaning, ...]
    weights: Ints | None
    """How many rows each row stands for, all positive; None means one each."""
    labels: Codes | None
    """Shape (rows,); codes into ``classes``. None if the table was encoded without a label."""
    label_meaning: ColumnMeaning | None
    groups: Ints | None
    """Which rows depend on each other: the number of the group of each row; None if all are independent."""
    origin: Positions | None
    """Positions of the encoded rows in the user's table; None means all rows, in order."""
    frame: "Rows | None"
    """The user's dataframe, or the file it is in, for the names of its rows; None for arrays and lists."""
    notes: tuple[Note, ...]
    """What was done that the user should know."""
    fine: Mapping[int, Codes] = field(default_factory=dict)
    """Numbers in many more bins, by place among the features: contexts of other features may need finer bins."""

    @cached_property
    def n_values(self) -> Ints:
        """Number of values of every feature."""
        return np.array([len(column.values) for column in self.columns], dtype=np.int64)

    @cached_property
    def names(self) -> tuple[str, ...]:
        """The features."""
        return tuple(column.name for column in self.columns)

    @property
    def backend(self) -> str | None:
        """Name of the dataframe library that the table came in, for results in the same one."""
        return None if self.frame is None else self.frame.backend

    @property
    def label(self) -> str:
        """Name of the label."""
        return self._labelled.name

    @cached_property
    def classes(self) -> tuple[Hashable, ...]:
        """Values of the label."""
        return tuple(plain(value) for value in self._labelled.values)

    @property
    def coded(self) -> CodedRows:
        """The numbers alone, for counting."""
        if self.labels is None:
            raise ValueError("a table encoded without a label cannot be counted")
        return CodedRows(self.codes, self.labels, self.n_values, len(self._labelled.values), self.weights, self._n_bins)

    @cached_property
    def _n_bins(self) -> Ints | None:
        """Bins of every feature, the value of missing cells not counted; 0 for categories, None if all are."""
        if all(column.treatment == "categories" for column in self.columns):
            return None
        sizes = [len(c.values) - (c.n_missing > 0) if c.treatment == "bins" else 0 for c in self.columns]
        return np.array(sizes, dtype=np.int64)

    @property
    def _labelled(self) -> ColumnMeaning:
        if self.label_meaning is None:
            raise ValueError("the table was encoded without a label")
        return self.label_meaning

    def select(self, features: Sequence[int]) -> "EncodedTable":
        """The table with some of its features, in the given order; nothing is encoded again."""
        codes = np.asfortranarray(self.codes[:, list(features)])
        fine = {place: self.fine[i] for place, i in enumerate(features) if i in self.fine}
        return replace(self, codes=codes, columns=tuple(self.columns[i] for i in features), fine=fine)

    def find(self, feature: Any) -> int:
        """Place of a feature given by name, or by its position among the features of the user's table."""
        keys = [column.key if self.frame is not None else column.name for column in self.columns]
        for names in (keys, self.names):  # the dataframe's own names, and those given by feature_names
            if any(type(name) is type(feature) and name == feature for name in names):
                return find_column(feature, names, "feature")
        if is_whole(feature) and str(feature) in self.names:
            raise InputError(
                f"feature={feature} may be the name {str(feature)!r} or the position {feature}; give the name as text."
            )
        for place, column in enumerate(self.columns):
            if is_whole(feature) and column.position == feature:
                return place
        if not is_whole(feature):
            self.refuse_set_aside(feature, "feature")
            return find_column(feature, keys, "feature")
        last = max(column.position for column in self.columns)
        raise InputError(
            f"feature must be a name or a position from 0 to {last}, of a feature that is not left out, got {feature}."
        )

    def refuse_set_aside(self, name: Any, role: str) -> None:
        """Refuse the name of a column that was set aside as an id."""
        if any(name in note.columns for note in self.notes if note.kind == "set-aside"):
            raise InputError(
                f"{role} names {name!r}, which was set aside as an identifier; keep it with"
                ' ids="keep" (--ids keep), or leave it out.'
            )

    def find_value(self, feature: int, value: Any) -> int | None:
        """Code of a value of a feature, given itself or as it is written; None if it has no such value."""
        values = [plain(known) for known in self.columns[feature].values]
        if value in values:
            return values.index(value)
        texts = [str(known) for known in values]
        return texts.index(value) if isinstance(value, str) and value in texts else None

    def positions(self, rows: Iterable[int]) -> list[int]:
        """Positions in the user's table of encoded rows."""
        return [int(row) if self.origin is None else int(self.origin[row]) for row in rows]

    def row_names(self, rows: Iterable[int]) -> list[Hashable]:
        """Index labels of encoded rows, where the dataframe has an index; otherwise their positions."""
        positions = self.positions(rows)
        return list(positions) if self.frame is None else self.frame.row_names(positions)

    def cells(self, rows: Iterable[int], feature: int) -> list[Any]:
        """What encoded rows hold in a feature."""
        values = self.columns[feature].values
        return [plain(values[code]) for code in self.codes[list(rows), feature].tolist()]


def encode_table(
    X: Any,
    y: Any,
    rules: Rules | None = None,
    *,
    keep: Sequence[Any] = (),
    look_for_leaks: bool = True,
    look_for_units: bool = False,
) -> EncodedTable:
    """Turn a table and its label into codes, or say in one sentence why that cannot be done.

    Label, weights and groups may name columns of ``X`` when it is a dataframe; those are then not features. A series
    that is a column of ``X`` (same name, same rows together) is taken out of the features too, with a note. ``keep``
    are features that are asked about, and so are never set aside as ids. ``look_for_units`` is for functions that offer
    groups: without any, a note names a column that looks like them.
    """
    if y is None:
        raise InputError("The label y is missing (None); give one label per row, or a column name.")
    raw = read_table(X)
    rules = rules or Rules()
    label = Role.of(raw, y, "label")
    table, cuts = _encode(raw, label, rules, keep, look_for_units=look_for_units and rules.groups is None)
    refuse_constants(table.n_values, len(table.codes))
    return with_leaks(table, dict(sorted((find_leaks(table.coded) | cuts).items()))) if look_for_leaks else table


def with_leaks(table: EncodedTable, leaks: dict[int, float]) -> EncodedTable:
    """The table with a note on the columns that tell the label in nearly all rows."""
    if not leaks:
        return table
    shares = tuple(100 if share == 1 else min(99, round(100 * share)) for share in leaks.values())
    return replace(table, notes=(*table.notes, Note("leak", tuple(table.names[i] for i in leaks), shares)))


def encode_features(X: Any, rules: Rules | None = None) -> EncodedTable:
    """Turn a table without a label into codes; all of its features may be constant."""
    return _encode(read_table(X), None, rules or Rules(), ())[0]


def _encode(
    raw: RawTable, label: Role | None, rules: Rules, keep: Sequence[Any], *, look_for_units: bool = False
) -> tuple[EncodedTable, dict[int, float]]:
    """The road through this file: which columns and rows, codes, meanings; and numbers of which the label is a cut."""
    weights, groups = Role.of(raw, rules.weights, "weights"), Role.of(raw, rules.groups, "groups")
    if raw.n_rows == 0:
        raise InputError("The table is empty (0 rows); give at least two rows with different labels.")
    numbers = encode_weights(weights)
    labels, label_notes = (None, ()) if label is None else encode_label(label, numbers, rules)
    taken, notes = taken_columns(raw, (label, weights, groups), labels, rules)
    free = [position for position in range(len(raw.keys)) if position not in taken]
    names, keys, chosen = _choose(raw, taken, free, rules)
    kept = _rows_that_count(raw.n_rows, numbers, labels)
    work = Preparation(
        ChosenColumns(raw, {p: names[p] for p in sorted({*chosen.columns, *chosen.named_parts})}, kept),
        None if numbers is None else numbers[kept],
        rules,
        wanted=set(chosen.columns) if rules.features is not None else _columns_asked_for(keep, keys, chosen, free),
        bins_of=own_bins(rules, keys, chosen.columns, None if label is None else label.name),
        chosen=chosen,
        labels=None if labels is None else labels.take(kept).codes,
    )
    codes = work.run(look_for_units=look_for_units)
    if work.rows is not None:
        kept[np.flatnonzero(kept)[~work.rows]] = False
    meaning = None
    if label is not None and labels is not None:
        n_before = len(labels.values)
        labels = sort_classes(labels.take(kept))
        meaning = ColumnMeaning(label.name, label.name or "y", labels.values)
        n_rows = len(labels.codes) if work.weights is None else int(work.weights.sum())
        refuse_single_class(labels, meaning.name, n_rows, n_before, n_left_out=int((~kept).sum()))
    group_of_row = encode_groups(groups.cells)
    table = EncodedTable(
        codes=codes,
        columns=_meanings(raw, work, free),
        weights=work.weights,
        labels=None if labels is None else labels.codes.astype(code_type(len(labels.values))),
        label_meaning=meaning,
        groups=None if group_of_row is None else np.unique(group_of_row[kept], return_inverse=True)[1],
        origin=None if kept.all() else np.flatnonzero(kept),
        frame=raw.frame,
        notes=(*raw.notes, *notes, *label_notes, *work.notes),
        fine={place: feature.fine for place, feature in enumerate(work.features()) if feature.fine is not None},
    )
    return table, {place: work.cuts[p] for place, p in enumerate(work.treated) if p in work.cuts}


def _meanings(raw: RawTable, work: Preparation, free: Sequence[int]) -> tuple[ColumnMeaning, ...]:
    """What the codes of each column stand for; parts of dates come after the columns of the user's table."""
    place_of = {p: place for place, p in enumerate(free)}
    own = [(raw.keys[p], work.names[p], place_of[p]) for p in work.treated]
    parts = [(name, name, len(free) + k) for k, name in enumerate(work.parts)]
    return tuple(
        ColumnMeaning(
            key=key,
            name=name,
            values=feature.values,
            position=position,
            treatment="categories" if feature.edges is None else "bins",
            edges=feature.edges or (),
            n_missing=feature.n_missing,
            fine_ends=feature.fine_ends,
        )
        for (key, name, position), feature in zip([*own, *parts], work.features(), strict=True)
    )


def _choose(
    raw: RawTable, taken: dict[int, str], free: list[int], rules: Rules
) -> tuple[dict[int, str], list[Hashable], Chosen]:
    """Names of the free columns by position, what each column is called by the user, and the features."""
    names = {p: name_of(raw.keys[p]) for p in free}
    keys = list(raw.keys)
    if rules.feature_names is not None:
        names = dict(zip(free, _check_names(rules.feature_names, len(free)), strict=True))
        keys = [names.get(p, key) for p, key in enumerate(raw.keys)]
    chosen = choose_features(keys, taken, rules.features, rules.ignore, date_parts=rules.date_parts)
    if not chosen.columns and not chosen.named_parts:
        raise InputError("The table has no features; give at least one column besides the label.")
    return names, keys, chosen


def _columns_asked_for(keep: Sequence[Any], keys: Sequence[Hashable], chosen: Chosen, free: Sequence[int]) -> set[int]:
    """Columns that the user asked about by name or position, which are never set aside; ``free`` are all features."""
    names = Names([keys[p] for p in chosen.columns])
    asked: set[int] = set()
    for feature in keep:
        if (place := names.find(feature)) is not None:
            asked.add(chosen.columns[place])
        elif is_whole(feature) and 0 <= feature < len(free):
            asked.add(free[feature])
    return asked


def own_bins(
    rules: Rules, keys: Sequence[Hashable], chosen: Sequence[int], label: Hashable | None
) -> dict[int, BinRule]:
    """The columns that have a rule of their own, by position."""
    names = Names([keys[p] for p in chosen])
    for given, _ in rules.bins_of:
        if label is not None and given == label and names.find(given) is None:
            raise InputError(f"bins names {given!r}, which is the label; bin it with bin_label (--bin-label).")
    return {chosen[place]: rule for given, rule in rules.bins_of for place in names.find_all(given, "bins")}


def _rows_that_count(n_rows: int, numbers: Ints | None, labels: Column | None) -> Bools:
    """Rows with a weight above 0 and with a label."""
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
    """Refuse a label that does not vary in these rows, and say whether rows that were left out had other labels."""
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


def _check_names(names: Iterable[str], n_features: int) -> tuple[str, ...]:
    checked = () if isinstance(names, str) else tuple(str(name) for name in names)
    if len(checked) != n_features:
        raise InputError(
            f"feature_names must have one name for each of the {n_features} features, got"
            f" {listing(checked) or repr(names)}."
        )
    refuse_repeated(checked)
    return checked
