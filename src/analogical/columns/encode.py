"""Any table to codes, small whole numbers, together with what the codes mean.

Everything after this folder sees codes only, and nothing reads the user's table again: :class:`EncodedTable` knows
which value a code stands for, what was done to a column and where a row came from. Columns that have codes already
(pandas categories, polars Categorical and Enum, small integers) keep them. What cannot be encoded is refused here, in
one sentence.
"""

from collections.abc import Callable, Hashable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property
from typing import Any, TypeAlias

import numpy as np
from numpy.typing import NDArray

from analogical._checks import brief, is_whole, listing
from analogical._types import Codes, Ints, Note, Positions, RawCells, Scale
from analogical.columns.columns import MISSING, Column, Kind, code_type, dense_codes, plain
from analogical.columns.frames import Table, encode_cells, name_of, read_table
from analogical.columns.roles import Chosen, Names, Roles, choose_columns, read_roles
from analogical.columns.rules import FEW_GROUPS, Rules, looks_like_group
from analogical.columns.treating import ColumnMeaning, Feature, Spellings, note_spellings, parts_of, treat_column
from analogical.count.groups import CodedRows
from analogical.errors import InputError

LOOKED_ROWS, LOOKED_CELLS, LOOKED_UNITS = 20_000, 20_000_000, 100
"""Rows and cells that are kept as they were read, to look for rows that depend on each other, and columns that may name
units: time and memory."""

Watch: TypeAlias = Callable[[Ints, Codes, Ints | None], float | None]
"""Called with the ranks of the values of a number (-1 for missing cells), the labels and the weights."""


@dataclass(frozen=True, kw_only=True)
class EncodedTable:
    """A table as codes, with what they mean and where the rows came from."""

    columns: tuple[ColumnMeaning, ...]
    label_meaning: ColumnMeaning | None
    """The classes, or the numbers that codes stand for; None if the table was encoded without a label."""
    notes: tuple[Note, ...]
    """What was done that the user should know."""
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
    frame: Table | None
    """The user's dataframe, for the names of its rows; None for arrays and lists."""
    fine: Mapping[int, Codes] = field(default_factory=dict)
    """Numbers in up to 120 bins, by place among the features: contexts of other features may need finer bins."""
    fine_sizes: Mapping[int, Ints] | None = None
    """Rows of each of these bins, missing cells last, by place; None if they are those of ``fine``."""
    watched: Mapping[int, float] = field(default_factory=dict)
    """What was found out about binned numbers from their ranks, by place (see ``encode_table``)."""
    scale: Scale | None = None
    """How labels are compared; None for classes."""
    raw: RawCells | None = None
    """Some rows as they were read, to look for rows that depend on each other; None with weights or groups."""
    engine: str = "memory"
    """Where the rows lie."""
    has_order: bool = True
    """Whether rows have a position in the user's table."""
    source: Any = None
    """All rows, grouped where they lie, if only a sample of them is here."""

    @cached_property
    def n_values(self) -> Ints:
        """Number of values of every feature."""
        return np.array([len(column.values) for column in self.columns], dtype=np.int64)

    @cached_property
    def names(self) -> tuple[str, ...]:
        """Names of the features."""
        return tuple(column.name for column in self.columns)

    @property
    def keys(self) -> Sequence[Hashable]:
        """The user's own names of the features; for arrays, the names that we gave them."""
        return self.names if self.frame is None else [column.key for column in self.columns]

    @property
    def backend(self) -> str | None:
        """Name of the dataframe library of the user's table, for results in the same one."""
        return None if self.frame is None else self.frame.backend

    @cached_property
    def n_groups(self) -> int | None:
        """Number of groups; None if rows are independent."""
        return None if self.groups is None else int(self.groups.max()) + 1

    @property
    def label(self) -> str:
        """Name of the label."""
        return self._labelled.name

    @cached_property
    def classes(self) -> tuple[Hashable, ...]:
        """Values of the label."""
        return tuple(plain(value) for value in self._labelled.values)

    @property
    def _labelled(self) -> ColumnMeaning:
        if self.label_meaning is None:
            raise ValueError("the table was encoded without a label")
        return self.label_meaning

    def find(self, feature: Any) -> int:
        """Place of a feature given by name, or by its position among the features of the user's table."""
        for names in (self.names, self.keys):  # those given by feature_names come before the dataframe's own
            if any(type(name) is type(feature) and name == feature for name in names):
                return Names(names).find_one(feature, "feature")
        if is_whole(feature) and str(feature) in self.names:
            raise InputError(
                f"feature={feature} may be the name {str(feature)!r} or the position {feature}; give the name as text."
            )
        for place, column in enumerate(self.columns):
            if is_whole(feature) and column.position == feature:
                return place
        if not is_whole(feature):
            self.refuse_set_aside(feature, "feature")
            if self.label_meaning is not None and feature == self.label:
                raise InputError(f"feature names {feature!r}, which is the label; choose another column.")
            return Names(self.keys).find_one(feature, "feature")
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

    def named(self, feature: int, codes: Iterable[int]) -> list[Any]:
        """Values that codes of a feature stand for."""
        values = self.columns[feature].values
        return [plain(values[code]) for code in codes]

    def find_value(self, feature: int, value: Any) -> int | None:
        """Code of a value of a feature, given as it is or as text; None if the feature has no such value."""
        values = self.named(feature, range(len(self.columns[feature].values)))
        if value in values:
            return values.index(value)
        texts = [str(known) for known in values]
        return texts.index(value) if isinstance(value, str) and value in texts else None

    @property
    def coded(self) -> CodedRows:
        """The codes alone, for counting; without a label all rows have the same one."""
        labels = np.zeros(len(self.codes), np.uint8) if self.labels is None else self.labels
        n_labels = 1 if self.label_meaning is None else len(self.label_meaning.values)
        has_missing = np.array([column.n_missing > 0 for column in self.columns])
        return CodedRows(self.codes, labels, self.n_values, n_labels, self.weights, has_missing)

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


def encode_table(
    X: Any,
    y: Any,
    rules: Rules | None = None,
    *,
    keep: Sequence[Any] = (),
    watch: Watch | None = None,
    needs_label: bool = True,
) -> EncodedTable:
    """Encode a table and its label, or say in one sentence why that cannot be done.

    Label, weights and groups may name columns of ``X`` if it is a dataframe; those are then not features. A series that
    equals a column of ``X`` (same name, same groups of rows) is removed from the features too, with a note. ``keep``
    are features that the user asked about, which are never set aside as ids. ``watch`` is called with the ranks of
    every number that is binned (-1 for missing cells), the labels and the weights; what it finds is kept in the table.
    Without ``needs_label``, there may be no label, and all features may be constant.
    """
    if needs_label and y is None:
        raise InputError("The label y is missing (None); give one label per row, or a column name.")
    rules, table = rules or Rules(), read_table(X)
    roles = read_roles(table, y, rules)
    work = _Encoder(table, roles, choose_columns(table.keys, roles.taken, rules, keep, roles.label), rules, watch)
    work.encode_columns()
    labels, name, rows = None if roles.labels is None else roles.labels.take(work.rows), roles.label or "y", work.rows
    if labels is not None and roles.labels is not None:
        n_rows = len(labels.column.codes) if work.weights is None else int(work.weights.sum())
        refuse_single_class(labels.column, name, n_rows, len(roles.labels.column.values), int((~rows).sum()))
    features = [*work.columns, *work.parts]
    encoded = EncodedTable(
        codes=work.side_by_side(),
        columns=tuple(feature.meaning for feature in features),
        weights=work.weights,
        labels=None if labels is None else labels.column.codes.astype(code_type(len(labels.column.values))),
        label_meaning=None if labels is None else ColumnMeaning(roles.label, name, labels.column.values),
        scale=None if labels is None else labels.scale,
        groups=None if roles.groups is None else np.unique(roles.groups[rows], return_inverse=True)[1],
        origin=None if rows.all() else np.flatnonzero(rows),
        frame=None if table.backend is None else table,
        notes=(*table.notes, *roles.notes, *work.notes),
        fine={place: feature.fine for place, feature in enumerate(features) if feature.fine is not None},
        watched=work.watched,
        raw=work.raw_cells(),
    )
    if needs_label and (encoded.n_values == 1).all():
        raise InputError(
            f"All {len(features)} features have one value only in these {len(encoded.codes):,} rows, so no two rows can"
            " be compared; look at the filter applied before, or give columns that vary."
        )
    return encoded


@dataclass
class _Encoded:
    """A feature: what its codes mean, and the codes of all rows; for numbers also those of finer bins."""

    meaning: ColumnMeaning
    codes: NDArray[Any]
    fine: Codes | None = None


class _Encoder:
    """Turns columns into features, one at a time, on the rows that count, and notes what was done."""

    def __init__(self, table: Table, roles: Roles, chosen: Chosen, rules: Rules, watch: Watch | None) -> None:
        self.table, self.chosen, self.rules, self.watch = table, chosen, rules, watch
        self.rows = np.ones(table.n_rows, np.bool_) if roles.weights is None else roles.weights > 0
        """Which rows of the user's table count: with a label and a weight above 0, and not dropped."""
        if roles.labels is not None:
            self.rows &= roles.labels.column.codes != MISSING
            if not self.rows.any():
                raise InputError("No row has both a label and a weight above 0; look at the label and the weights.")
        self.n_rows = int(np.count_nonzero(self.rows))
        """Rows that count, before some were dropped."""
        self.weights = None if roles.weights is None else roles.weights[self.rows]
        self.labels = None if roles.labels is None or watch is None else roles.labels.take(self.rows).column.codes
        self.columns: list[_Encoded] = []
        self.parts: list[_Encoded] = []
        """Parts of dates, which come after all columns."""
        self.watched: dict[int, float] = {}
        self.notes: list[Note] = []
        self._groups: dict[str, tuple[int, int]] = {}
        """Columns that seem to identify groups of rows: how many, and about how many rows each has."""
        self._binned: dict[str, list[ColumnMeaning]] = {"binned": [], "binned-time": []}
        self._spellings: dict[str, Spellings] = {}
        self._looked: Positions | None = None
        """Positions of the rows, among those that count, of which cells are kept."""
        self._raw: list[tuple[str, NDArray[Any], int]] = []
        """Columns with these cells as codes from 1, and the numbers of their values."""
        if roles.labels is not None and roles.weights is None and roles.groups is None:
            most = min(self.n_rows, LOOKED_ROWS, LOOKED_CELLS // (len(chosen.names) + 1))
            self._looked = np.sort(np.random.default_rng(0).choice(self.n_rows, most, replace=False, shuffle=False))
            labels = roles.labels.column.codes[np.flatnonzero(self.rows)[self._looked]]
            self._label = roles.label or "y", labels.astype(np.int64) + 1, len(roles.labels.column.values)
        self._matrix: Codes | None = None
        """The codes of all columns, if they hold whole numbers or booleans without a missing cell."""
        self._of_matrix: dict[int, Column] = {}
        self._is_unchanged = True
        """Whether all features have the codes that the table was read with."""
        numbers = table.whole_numbers(list(chosen.names))
        if numbers is not None:
            is_bool = numbers.dtype.kind == "b"
            kind: Kind = "category" if table.backend is None else "whole"
            numbers = numbers if self.rows.all() else numbers[self.rows]
            self._matrix, values = dense_codes(numbers.view(np.uint8) if is_bool else numbers)
            for k, (position, known) in enumerate(zip(chosen.names, values, strict=True)):
                named = [bool(value) for value in known] if is_bool else known
                self._of_matrix[position] = Column(self._matrix[:, k], named, kind, is_sorted=True)

    def encode_columns(self, *, are_ids_kept: bool = False) -> None:
        """Turn all columns into features; ids are set aside, unless all columns are ids.

        With ``missing="drop"`` the columns are read twice: first for the rows with a missing cell.
        """
        self._raw, self._units = [], dict[int, bool]()
        ids, held, missing = list[str](), dict[int, Column](), dict[str, tuple[int, int]]()
        complete, problem = np.ones(self.n_rows, np.bool_), None
        for position, name in self.chosen.names.items():
            column = self._load(position)
            self._keep_cells(name, column)
            if position in self.chosen.may_be_ids and not are_ids_kept and self.rules.is_id(column, name):
                ids.append(name)
                self._note_group(column, name)
                continue
            if column.n_missing:
                is_missing = column.codes == MISSING
                missing[name] = column.n_missing, int(is_missing.argmax())
                complete &= ~is_missing
            if self.rules.missing == "drop":
                held[position] = column
            elif problem is None and not (missing and self.rules.missing == "error"):
                try:
                    self._add(position, name, column)
                except InputError as error:  # errors of reading and of missing cells come first
                    problem = error
        if len(ids) == len(self.chosen.names):
            self.encode_columns(are_ids_kept=True)
            return
        if ids:
            self.notes.append(Note("set-aside", tuple(ids)))
        if missing:
            self._treat_missing(missing, complete)
        if problem is not None:
            raise problem
        for position in list(held):
            column = held.pop(position)
            column = column.take(complete).counted(self.weights) if missing else column
            self._add(position, self.chosen.names[position], column)
        if self._groups and self.rules.groups is None:
            name = max(self._groups, key=lambda name: self._groups[name][0])
            self.notes.append(Note("looks-like-groups", (name,), self._groups[name]))
        for kind, binned in self._binned.items():
            if binned:
                n_bins = tuple(len(meaning.values) - (meaning.n_missing > 0) for meaning in binned)
                edges = tuple(meaning.edges or () for meaning in binned)
                self.notes.append(Note(kind, tuple(meaning.name for meaning in binned), n_bins, edges))
        if self.parts:
            self.notes.append(Note("date-parts", tuple(part.meaning.name for part in self.parts)))
        self.notes += note_spellings(self._spellings)

    def _load(self, position: int) -> Column:
        """A column, on the rows that count."""
        if position in self._of_matrix:
            return self._of_matrix[position].counted(self.weights)
        column = encode_cells(self.table[position], self.chosen.titles[position])
        if self.table.backend is None and column.kind == "whole":
            column = replace(column, kind="category")
        return (column if self.n_rows == len(self.rows) else column.take(self.rows)).counted(self.weights)

    def _keep_cells(self, name: str, column: Column) -> None:
        """Keep some cells of a column as they are; in increasing order, if they are numbers that may name units."""
        n_values, is_number = len(column.values), column.kind == "whole"
        if self._looked is None or len(column.codes) != self.n_rows or (is_number and n_values == self.n_rows):
            return  # cells that were not read, or numbers of the rows, which copies may have, too
        codes = column.codes[self._looked].astype(np.int64)
        may_be_unit = n_values >= FEW_GROUPS and (is_number or column.kind == "category") and not column.is_time
        if may_be_unit and len(self._units) < LOOKED_UNITS:
            self._units[len(self._raw)] = is_number or column.is_sorted
            codes = column.rank_of[codes] if is_number else codes
        self._raw.append((name, (codes + 1).astype(code_type(n_values + 1)), n_values))

    def raw_cells(self) -> RawCells | None:
        """The cells that were kept, with the labels."""
        if self._looked is None:
            return None
        names, columns, n_values = zip(*self._raw, self._label, strict=True)
        return RawCells(names, np.stack(columns).T, np.array(n_values) + 1, self._units)

    def _note_group(self, column: Column, name: str) -> None:
        """Remember a column that seems to identify groups of rows."""
        if looks_like_group(column, name):
            self._groups[name] = len(column.values), round(int(column.sizes.sum()) / len(column.values))

    def _treat_missing(self, missing: dict[str, tuple[int, int]], complete: NDArray[np.bool_]) -> None:
        """Refuse missing cells, drop their rows, or only note them: how many a column has, and the first row."""
        if self.rules.missing == "error":
            columns = [
                f"{name!r} ({n:,} of {self.n_rows:,} rows, first in row {first})"
                for name, (n, first) in missing.items()
            ]
            raise missing_cells(columns)
        if self.rules.missing == "value":
            self.notes.append(Note("missing-value", tuple(missing), tuple(n for n, _ in missing.values())))
            return
        n_left = int(complete.sum())
        if not n_left:
            raise no_complete_row()
        self.notes.append(Note("missing-dropped", tuple(missing), (self.n_rows - n_left, self.n_rows)))
        self.rows[np.flatnonzero(self.rows)[~complete]] = False
        self.weights = None if self.weights is None else self.weights[complete]
        self.labels = None if self.labels is None else self.labels[complete]

    def _add(self, position: int, name: str, column: Column) -> None:
        """Add a column and the parts of its dates; only the parts if only these were named."""
        has_column, has_parts = position in self.chosen.features, self.rules.date_parts and column.is_time
        if has_column:
            self._note_group(column, name)
            feature = treat_column(
                column,
                name,
                self.rules,
                self.chosen.bins.get(position),
                position=self.chosen.place_of[position],
                title=self.chosen.titles[position],
            )
            feature = replace(feature, meaning=replace(feature.meaning, key=self.table.keys[position]))
            if feature.meaning.edges is not None:
                self._binned["binned-time" if column.is_time else "binned"].append(feature.meaning)
                if self.watch is not None and self.labels is not None:
                    ranks = column.codes if column.is_sorted else column.recoded(column.rank_of)
                    found = self.watch(ranks, self.labels, self.weights)
                    self.watched |= {} if found is None else {len(self.columns): found}
            self.columns.append(self._encoded(column, feature))
            self._spellings[name] = feature.spellings
            has_parts = has_parts and feature.meaning.edges is not None
        named, is_asked = self.chosen.parts.get(position, set()), self.rules.features is not None
        if not has_parts and not named:
            return
        taken = {*map(name_of, self.table.keys), *self.chosen.names.values()}
        parts = {p: found for p, found in parts_of(column).items() if f"{name}.{p}" not in taken} if has_parts else {}
        for part in sorted(named - parts.keys()):
            raise InputError(
                f"{'features' if is_asked else 'ignore'} names {name + '.' + part!r}, but {brief(name)} has no {part}"
                f" to compare: it must hold more dates than max_values, and the {part} must vary over two cycles or"
                " more."
            )
        for part, (values, code_of) in parts.items():
            if (part in named) == is_asked or (has_column and is_asked):
                place = len(self.chosen.place_of) + len(self.parts)
                feature = treat_column(values, f"{name}.{part}", self.rules, position=place)
                fine_of = None if feature.fine_of is None else feature.fine_of[code_of]
                feature = replace(feature, code_of=feature.code_of[code_of], fine_of=fine_of)
                self.parts.append(self._encoded(column, feature, is_part=True))

    def _encoded(self, column: Column, feature: Feature, *, is_part: bool = False) -> _Encoded:
        """The rows of a column as the codes of a feature; the column's own if no value has another code."""
        meaning, dtype = feature.meaning, code_type(len(feature.meaning.values))
        if not is_part and meaning.edges is None and not meaning.n_missing and not feature.spellings.get("folded"):
            codes = column.codes if self._matrix is not None else column.codes.astype(dtype, copy=False)
            return _Encoded(meaning, codes)
        self._is_unchanged = False
        fine = None if feature.fine_of is None else column.recoded(feature.fine_of.astype(np.uint8))
        return _Encoded(meaning, column.recoded(feature.code_of.astype(dtype)), fine)

    def side_by_side(self) -> Codes:
        """The codes of all features: the table itself if it was read as whole numbers and nothing was changed."""
        features, matrix = [*self.columns, *self.parts], self._matrix
        if matrix is None or not self._is_unchanged or len(features) != matrix.shape[1]:
            widest = code_type(max(len(feature.meaning.values) for feature in features))
            matrix = np.empty((int(self.rows.sum()), len(features)), widest, order="F")
            for place, feature in enumerate(features):
                matrix[:, place] = feature.codes
                feature.codes = matrix[:, place]  # frees the column's own codes
        return matrix


def missing_cells(columns: Sequence[str]) -> InputError:
    """Error for columns with missing cells, where these are not allowed."""
    return InputError(
        f"Missing values (NaN or None) in {listing(columns)}; count them as a separate value with"
        ' missing="value", or leave out their rows with missing="drop" (--missing drop).'
    )


def no_complete_row() -> InputError:
    """Error for a table that has no row left without its rows with missing cells."""
    return InputError(
        'Every row has a missing value, so missing="drop" leaves none; leave out the columns that are mostly empty, or'
        ' use missing="value".'
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
