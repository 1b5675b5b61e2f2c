"""Any table to small whole numbers, with what the numbers mean kept beside them.

Everything after this folder sees numbers only, and nothing reads the user's table again: :class:`EncodedTable` knows
which value a code stands for, what was done to a column and where a row came from. Columns that carry codes of their
own (pandas categories, polars Categorical and Enum, Arrow dictionaries, small integers) are used as they are. What
cannot be encoded is refused here, in one sentence.
"""

from collections.abc import Hashable, Iterable, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from typing import Any, Literal

import numpy as np
from numpy.typing import NDArray

from analogical._checks import is_whole
from analogical._types import Bools, CodedRows, Codes, Ints, Note, NoteKind, Positions
from analogical.counting.counts import refuse_too_many_rows
from analogical.encoding.choosing import choose_features, find_column, listing, refuse_repeated
from analogical.encoding.columns import Column, encode_array, encode_objects, plain
from analogical.encoding.frames import Frame, as_series, encode_series, is_series, open_frame
from analogical.encoding.integers import code_type, dense_codes
from analogical.errors import InputError

SURVEY_ROWS = 30
SURVEY_WEIGHT = 20
"""Weights of at least so many rows whose median is at least this, most of them different, are questioned."""

__all__ = ["ColumnMeaning", "EncodedTable", "encode_features", "encode_table"]


@dataclass(frozen=True)
class ColumnMeaning:
    """What the codes of a column stand for, and what was done to make them."""

    key: Hashable
    """The user's own name of the column: the dataframe's, or its position in an array."""
    name: str
    values: Sequence[Any]
    """``values[c]`` is what code c stands for."""
    position: int = 0
    """Position among the features of the user's table, before some were left out."""
    treatment: Literal["categories"] = "categories"
    """How values became codes: every distinct value is a category."""


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
    frame: Frame | None
    """The user's dataframe, for the names of its rows; None for arrays and lists."""
    notes: tuple[Note, ...]
    """What was done that the user should know."""

    @cached_property
    def n_values(self) -> Ints:
        """Number of values of every feature."""
        return np.array([len(column.values) for column in self.columns], dtype=np.int64)

    @property
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

    @property
    def classes(self) -> tuple[Hashable, ...]:
        """Values of the label."""
        return tuple(plain(value) for value in self._labelled.values)

    @property
    def coded(self) -> CodedRows:
        """The numbers alone, for counting."""
        if self.labels is None:
            raise ValueError("a table encoded without a label cannot be counted")
        return CodedRows(self.codes, self.labels, self.n_values, len(self._labelled.values), self.weights)

    @property
    def _labelled(self) -> ColumnMeaning:
        if self.label_meaning is None:
            raise ValueError("the table was encoded without a label")
        return self.label_meaning

    def select(self, features: Sequence[int]) -> "EncodedTable":
        """The table with some of its features, in the given order; nothing is encoded again."""
        codes = np.asfortranarray(self.codes[:, list(features)])
        return replace(self, codes=codes, columns=tuple(self.columns[i] for i in features))

    def find(self, feature: Any) -> int:
        """Place of a feature given by name, or by its position among the features of the user's table."""
        keys = [column.key if self.frame is not None else column.name for column in self.columns]
        for names in (keys, self.names):  # the dataframe's own names, and those given by feature_names
            if any(type(name) is type(feature) and name == feature for name in names):
                return find_column(feature, names, "feature")
        for place, column in enumerate(self.columns):
            if is_whole(feature) and column.position == feature:
                return place
        if not is_whole(feature):
            return find_column(feature, keys, "feature")
        last = max(column.position for column in self.columns)
        raise InputError(
            f"feature must be a name or a position from 0 to {last}, of a feature that is not left out, got {feature}."
        )

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
    *,
    weights: Any = None,
    groups: Any = None,
    features: Any = None,
    ignore: Any = None,
    feature_names: Sequence[str] | None = None,
) -> EncodedTable:
    """Turn a table and its label into codes, or say in one sentence why that cannot be done.

    ``y`` and ``weights`` may name columns of ``X`` when it is a dataframe; those are then not features. A series that
    is a column of ``X`` (same name, same rows together) is taken out of the features too, with a note.
    """
    if y is None:
        raise InputError("The label y is missing (None); give one label per row, or a column name.")
    raw = _read(X)
    label = _Role.of(raw, y, "label")
    others = (_Role.of(raw, weights, "weights"), _Role.of(raw, groups, "groups"))
    labels = _encode_labels(label.cells, label.name or "y", raw.n_rows)
    table = _encode(raw, others, label, labels, features, ignore, feature_names)
    if (table.n_values == 1).all():
        raise InputError(
            f"All {len(table.names)} features have one value only in these {raw.n_rows:,} rows, so no two rows can be"
            " compared; look at the filter applied before, or give columns that vary."
        )
    return table


def encode_features(
    X: Any, *, weights: Any = None, features: Any = None, ignore: Any = None, feature_names: Sequence[str] | None = None
) -> EncodedTable:
    """Turn a table without a label into codes; all of its features may be constant."""
    raw = _read(X)
    others = (_Role.of(raw, weights, "weights"), _Role.of(raw, None, "groups"))
    return _encode(raw, others, None, None, features, ignore, feature_names)


def _encode(
    raw: "_RawTable",
    others: "tuple[_Role, _Role]",
    label: "_Role | None",
    labels: Column | None,
    features: Any,
    ignore: Any,
    feature_names: Sequence[str] | None,
) -> EncodedTable:
    """The road through this file: which columns, which rows, codes, meanings."""
    if raw.n_rows == 0:
        raise InputError("The table is empty (0 rows); give at least two rows with different labels.")
    weights, groups = others
    numbers = _encode_weights(weights.cells, raw.n_rows)
    group_of_row = _encode_groups(groups.cells, raw.n_rows)
    survey = _question_weights(numbers, weights.name or "weights")
    taken, notes = _taken_columns(raw, (label, weights, groups), labels)
    free = [position for position in range(len(raw.keys)) if position not in taken]
    place_of = {position: place for place, position in enumerate(free)}
    names = {p: str(raw.keys[p]) for p in free}
    if feature_names is not None:
        names = dict(zip(free, _check_names(feature_names, len(free)), strict=True))
    keys = [names.get(p, key) if feature_names is not None else key for p, key in enumerate(raw.keys)]
    chosen = choose_features(keys, taken, features, ignore)
    if not chosen:
        raise InputError("The table has no features; give at least one column besides the label.")
    kept = None if numbers is None or numbers.all() else numbers > 0
    if kept is not None and numbers is not None:
        numbers = numbers[kept]
        labels = None if labels is None else labels.take(kept)
        group_of_row = None if group_of_row is None else np.unique(group_of_row[kept], return_inverse=True)[1]
    if labels is not None and label is not None:
        labels = _sort_classes(labels)
        _refuse_single_class(labels, label.name or "y", numbers)
    codes, values = raw.encode(chosen, [names[p] for p in chosen], kept)
    if label is not None and labels is not None and label.name is None and raw.frame is not None:
        notes += _same_as_label(codes, labels, [names[p] for p in chosen], values)
    return EncodedTable(
        codes=codes,
        columns=tuple(
            ColumnMeaning(raw.keys[p], names[p], v, position=place_of[p]) for p, v in zip(chosen, values, strict=True)
        ),
        weights=numbers,
        labels=None if labels is None else labels.codes.astype(code_type(len(labels.values))),
        label_meaning=None
        if label is None or labels is None
        else ColumnMeaning(label.name, label.name or "y", labels.values),
        groups=group_of_row,
        origin=None if kept is None else np.flatnonzero(kept),
        frame=raw.frame,
        notes=(*notes, *survey),
    )


# ---------------------------------------------------------------- the table's shape


@dataclass(frozen=True)
class _RawTable:
    """The user's columns, not yet encoded."""

    keys: tuple[Hashable, ...]
    cells: Sequence[Any]
    n_rows: int
    frame: Frame | None = None
    matrix: NDArray[Any] | None = None
    """The whole table, if it is a numpy array of whole numbers or booleans, which is encoded in one go."""

    def encode(
        self, chosen: Sequence[int], names: Sequence[str], kept: Bools | None
    ) -> tuple[Codes, Sequence[Sequence[Any]]]:
        """Codes of the chosen columns on the kept rows, and what they stand for; bad columns are reported together."""
        if self.matrix is not None:
            is_whole_table = len(chosen) == len(self.keys)
            part = self.matrix if is_whole_table else self.matrix[:, list(chosen)]
            part = part if kept is None else part[kept]
            if part.dtype.kind != "b":
                return dense_codes(part)
            codes, values = dense_codes(part.view(np.uint8))
            return codes, [[bool(value) for value in known] for known in values]
        encoded = [_encode_cells(self.cells[p], f"feature {name!r}") for p, name in zip(chosen, names, strict=True)]
        _refuse_missing(encoded, names)
        if kept is not None:
            encoded = [column.take(kept) for column in encoded]
        return _stack(encoded), [column.values for column in encoded]


def _read(X: Any) -> _RawTable:
    """The columns of a dataframe, an array or a list of rows; anything else is refused."""
    if isinstance(X, np.ndarray):
        return _read_array(X)
    if type(X).__module__.startswith("scipy.sparse"):  # without importing it, which takes a quarter of a second
        raise InputError(
            "X is a sparse matrix; relevance compares whole rows and needs a dense table:"
            " give X.toarray(), or the categorical columns before they were one-hot encoded."
        )
    if isinstance(X, str | bytes | dict) or not hasattr(X, "__len__"):
        if hasattr(X, "collect"):
            raise InputError("X is a lazy frame; call .collect() on it first.")
        raise InputError(f"X must be a table (dataframe, 2-d array or list of rows), got {type(X).__name__}.")
    frame = open_frame(X)
    if frame is None:
        return _read_array(np.asarray(X)) if hasattr(X, "__array__") else _read_rows(list(X))
    refuse_repeated([str(key) for key in frame.keys])
    return _RawTable(frame.keys, list(frame.columns()), frame.n_rows, frame=frame)


def _read_array(X: NDArray[Any]) -> _RawTable:
    """Columns of a numpy array, as views."""
    if X.ndim != 2:
        how = "reshape it with X.reshape(-1, 1) if it is one feature" if X.ndim == 1 else "flatten each row"
        raise InputError(f"X must have two dimensions (rows, features), got {X.ndim}: {how}.")
    if X.dtype.names is not None or X.dtype.kind in "cV":
        raise InputError(f"X has dtype {X.dtype}, which has no categories; give numbers, strings or objects.")
    n_rows, n_features = X.shape
    keys = tuple(f"x{i}" for i in range(n_features))
    if X.dtype.kind in "iub" and n_rows and n_features:
        return _RawTable(keys, [], n_rows, matrix=X)
    return _RawTable(keys, list(X.T), n_rows)


def _read_rows(rows: list[Any]) -> _RawTable:
    """Columns of a list of rows."""
    for position, row in enumerate(rows):
        if isinstance(row, str | bytes | dict) or not hasattr(row, "__len__"):
            raise InputError(
                "X must have two dimensions: a list of rows, each a list of values;"
                f" row {position} is {row!r} ({type(row).__name__})."
            )
        if len(row) != len(rows[0]):
            raise InputError(
                f"X has ragged rows: row 0 has {len(rows[0])} values and row {position} has {len(row)};"
                " give every row the same number of values."
            )
    n_features = len(rows[0]) if rows else 0
    keys = tuple(f"x{i}" for i in range(n_features))
    return _RawTable(keys, [[row[i] for row in rows] for i in range(n_features)], len(rows))


# ---------------------------------------------------------------- label and weights


@dataclass(frozen=True)
class _Role:
    """The label, the weights or the groups: cells, name, and which column of the table they are if they named one."""

    what: Literal["label", "weights", "groups"]
    name: str | None
    cells: Any
    position: int | None = None

    @classmethod
    def of(cls, raw: _RawTable, given: Any, what: Literal["label", "weights", "groups"]) -> "_Role":
        """From a column's name, or from the values themselves."""
        is_text = isinstance(given, str)
        if raw.frame is None:
            if is_text:
                raise InputError(
                    f"The {what} {given!r} names a column, but X is not a dataframe; give the values, one per row."
                )
        elif is_text or is_whole(given) or (isinstance(given, tuple) and given in raw.keys):
            position = find_column(given, raw.keys, what)
            return cls(what, str(raw.keys[position]), raw.cells[position], position)
        name = getattr(given, "name", None)
        return cls(what, None if name is None else str(name), given)


def _taken_columns(
    raw: _RawTable, roles: "tuple[_Role | None, ...]", labels: Column | None
) -> tuple[dict[int, str], tuple[Note, ...]]:
    """Which columns are the label, the weights or the groups, by position, and what to say about it."""
    taken: dict[int, str] = {}
    notes: list[Note] = []
    for role in roles:
        if role is None:
            continue
        if role.position is not None:
            taken[role.position] = role.what
        elif role.name is not None and raw.frame is not None and role.name in map(str, raw.keys):
            position = find_column(role.name, raw.keys, role.what)
            column = _encode_cells(raw.cells[position], f"{role.what} {role.name!r}")
            cells = _as_cells(role.cells, role.what, raw.n_rows)
            given = labels if role.what == "label" and labels is not None else _encode_cells(cells, role.what)
            is_same = column.has_same_groups_as(given)
            if is_same and role.what == "weights":  # numbers must be the same, not only the groups they make
                is_same = [plain(v) for v in column.values] == [plain(v) for v in given.values]
            if is_same:
                taken[position] = role.what
            kinds: dict[str, tuple[NoteKind, NoteKind]] = {
                "label": ("label-name-kept", "label-taken-out"),
                "weights": ("weights-name-kept", "weights-taken-out"),
                "groups": ("groups-name-kept", "groups-taken-out"),
            }
            notes.append(Note(kinds[role.what][is_same], (role.name,)))
    return taken, tuple(notes)


def _same_as_label(
    codes: Codes, labels: Column, names: Sequence[str], values: Sequence[Sequence[Any]]
) -> tuple[Note, ...]:
    """A note on features that equal a label that came without a name; a few rows rule out nearly all of them."""
    found = []
    for i, name in enumerate(names):
        if len(values[i]) == len(labels.values):
            column = Column(codes[:, i], values[i])
            some = slice(0, 1000)
            partner = dict(zip(codes[some, i].tolist(), labels.codes[some].tolist(), strict=True))
            agrees = all(
                partner[c] == k for c, k in zip(codes[some, i].tolist(), labels.codes[some].tolist(), strict=True)
            )
            if agrees and column.has_same_groups_as(labels):
                found.append(name)
    return (Note("label-equals-column", tuple(found)),) if found else ()


def _encode_labels(cells: Any, label: str, n_rows: int) -> Column:
    column = _encode_cells(_as_cells(cells, f"The label {label!r}", n_rows), f"label {label!r}")
    gaps = column.is_missing()
    if gaps.any():
        raise InputError(
            f"The label {label!r} is missing (NaN or None) in {int(gaps.sum()):,} of {n_rows:,} rows,"
            f" first in row {gaps.argmax()}; drop those rows, or give them a class of their own."
        )
    return column


def _sort_classes(labels: Column) -> Column:
    """Classes sorted, or in order of appearance if they cannot be: the same for every kind of table."""
    values = list(labels.values)
    try:
        order = sorted(range(len(values)), key=values.__getitem__)
    except TypeError:
        order = np.argsort(labels.first_positions()).tolist()
    if order == list(range(len(values))):
        return labels
    return Column(np.argsort(order)[labels.codes], [values[c] for c in order])


def _refuse_single_class(labels: Column, label: str, weights: Ints | None) -> None:
    if len(labels.values) == 1:
        n_rows = len(labels.codes) if weights is None else int(weights.sum())
        raise InputError(
            f"The label {label!r} has one class only ({plain(labels.values[0])!r}, {n_rows:,} rows); relevance compares"
            " rows whose labels differ. Look at the filter applied before."
        )


def _encode_weights(cells: Any, n_rows: int) -> Ints | None:
    """Whole-number frequencies as int64, None if there are none."""
    if cells is None:
        return None
    cells = _as_cells(cells, "weights", n_rows)
    expected = "weights must be whole numbers from 0 (how many rows each row stands for)"
    try:
        numbers = np.asarray(cells, dtype=np.float64)
    except (TypeError, ValueError):
        raise InputError(f"{expected}, got {cells[0]!r} in row 0.") from None
    with np.errstate(invalid="ignore"):
        bad = ~((numbers >= 0) & (numbers == np.floor(numbers)) & np.isfinite(numbers))
    if bad.any():
        row = int(bad.argmax())
        raise InputError(f"{expected}, got {numbers[row]:g} in row {row}; use counts, not shares.")
    if not numbers.any():
        raise InputError(f"{expected}, and at least one above 0; all {n_rows:,} weights are zero.")
    refuse_too_many_rows(float(numbers.sum()))
    return numbers.astype(np.int64)


def _encode_groups(cells: Any, n_rows: int) -> Ints | None:
    """The number of the group of each row; a row without a group is one of its own."""
    if cells is None:
        return None
    column = _encode_cells(_as_cells(cells, "groups", n_rows), "groups")
    groups = column.codes.astype(np.int64)
    alone = np.flatnonzero(column.is_missing())
    groups[alone] = len(column.values) + np.arange(len(alone))
    return groups


def _question_weights(numbers: Ints | None, name: str) -> tuple[Note, ...]:
    """A note if weights look like survey weights: large, and different in most rows."""
    if numbers is None or len(numbers) < SURVEY_ROWS or np.median(numbers) < SURVEY_WEIGHT:
        return ()
    is_varied = 2 * len(np.unique(numbers)) > len(numbers)
    return (Note("weights-look-like-survey", (name,)),) if is_varied else ()


def _as_cells(cells: Any, what: str, n_rows: int) -> Any:
    """One-dimensional cells of the right length, as a series, an array or a list."""
    series = as_series(cells)
    if not (is_series(series) or isinstance(series, np.ndarray | list | tuple)):
        if hasattr(series, "__array__"):
            series = np.asarray(series)
        elif isinstance(series, str | bytes) or not hasattr(series, "__len__"):
            raise InputError(f"{what} must be one value per row, got {type(cells).__name__}.")
        else:
            series = list(series)
    if isinstance(series, np.ndarray) and series.ndim != 1:
        raise InputError(f"{what} must have one dimension, got an array of shape {series.shape}; give one column.")
    if len(series) != n_rows:
        raise InputError(f"{what} has {len(series):,} values and X has {n_rows:,} rows; give one value per row.")
    return series


# ---------------------------------------------------------------- columns


def _encode_cells(cells: Any, what: str) -> Column:
    """Codes of one column of any kind."""
    if is_series(cells):
        return encode_series(cells, what)
    return encode_array(cells, what) if isinstance(cells, np.ndarray) else encode_objects(cells, what)


def _refuse_missing(columns: Sequence[Column], names: Sequence[str]) -> None:
    """Report all columns with missing cells together."""
    missing = []
    for name, column in zip(names, columns, strict=True):
        gaps = column.is_missing()
        if gaps.any():
            missing.append(f"{name!r} ({int(gaps.sum()):,} of {len(gaps):,} rows, first in row {gaps.argmax()})")
    if missing:
        raise InputError(
            f"Missing values (NaN or None) in {listing(missing)}; every cell needs a value:"
            " drop those rows, or give the gap a value of its own, such as 'missing'."
        )


def _stack(columns: Sequence[Column]) -> Codes:
    """All columns in one matrix of the narrowest unsigned type, column after column in memory."""
    widest = max(len(column.values) for column in columns)
    codes = np.empty((len(columns[0].codes), len(columns)), dtype=code_type(widest), order="F")
    for i, column in enumerate(columns):
        codes[:, i] = column.codes
    return codes


def _check_names(names: Sequence[str], n_features: int) -> tuple[str, ...]:
    if isinstance(names, str) or len(names) != n_features:
        raise InputError(f"feature_names must have one name for each of the {n_features} features, got {names!r}.")
    checked = tuple(str(name) for name in names)
    refuse_repeated(checked)
    return checked
