"""The words behind the codes: columns chosen by name, and single cells as the user wrote them."""

from collections.abc import Hashable, Iterable, Sequence
from typing import Any

import narwhals.stable.v2 as nw
import numpy as np
from numpy.typing import NDArray

from analogical._encoding import EncodedTable, unknown_column
from analogical.errors import InputError

__all__ = ["Originals", "find_feature", "keep_columns", "plain"]


class Originals:
    """Single cells of the table that was encoded, and the names of its rows."""

    def __init__(self, X: Any, y: Any, weights: Any, table: EncodedTable) -> None:
        frame = nw.from_native(X, eager_only=True, pass_through=True)
        self._frame = frame if isinstance(frame, nw.DataFrame) else None
        self._rows: Any = X if self._frame is None else None
        self._columns: Sequence[Any] = ()
        if self._frame is not None:
            taken = [name for name in (y, weights) if isinstance(name, str)]
            self._columns = [name for name in self._frame.columns if name not in taken]
        self._positions = _kept_rows(self._frame, weights, len(table.codes))

    def positions(self, rows: Iterable[int]) -> list[int]:
        """Positions in the user's table of encoded rows; rows of weight 0 were left out of the encoding."""
        return [int(row) if self._positions is None else int(self._positions[row]) for row in rows]

    def row_names(self, rows: Iterable[int]) -> list[Hashable]:
        """Index labels of encoded rows, where the dataframe has an index; otherwise their positions."""
        positions = self.positions(rows)
        index = getattr(self._frame.to_native(), "index", None) if self._frame is not None else None
        if index is None or not hasattr(index, "take") or not index.is_unique:
            return list(positions)
        return [plain(name) for name in index.take(positions).tolist()]

    def values(self, rows: Iterable[int], feature: int) -> list[Any]:
        """Cells of a feature in encoded rows."""
        positions = self.positions(rows)
        if self._frame is not None:
            return [plain(value) for value in self._frame.get_column(self._columns[feature])[positions].to_list()]
        return [plain(self._rows[row][feature]) for row in positions]


def _kept_rows(frame: "nw.DataFrame[Any] | None", weights: Any, n_encoded: int) -> NDArray[np.intp] | None:
    """Positions of the rows that were encoded; None for all."""
    if weights is None:
        return None
    numbers = (
        frame.get_column(weights).to_numpy() if frame is not None and isinstance(weights, str) else np.asarray(weights)
    )
    kept = np.flatnonzero(numbers.astype(np.float64) > 0)
    return None if len(kept) == len(numbers) else kept[:n_encoded]


def find_feature(feature: Any, names: Sequence[str]) -> int:
    """Position of a feature given by name, or by position."""
    if isinstance(feature, int | np.integer) and not isinstance(feature, bool):
        if str(feature) in names:  # a dataframe whose columns are named by numbers
            return names.index(str(feature))
        if not 0 <= feature < len(names):
            raise InputError(
                f"feature must be a name or a position from 0 to {len(names) - 1} (the table has {len(names)}"
                f" features), got {feature}."
            )
        return int(feature)
    if not isinstance(feature, str) or feature not in names:
        raise unknown_column(str(feature), names, "feature")
    return names.index(feature)


def keep_columns(
    X: Any, y: Any, weights: Any, feature: Any, given: Any, ignore: Any, feature_names: Sequence[str] | None
) -> tuple[Any, Sequence[str] | None]:
    """The table with the feature and the columns that define "equal" only, and their names."""
    if given is None and ignore is None:
        return X, feature_names
    if given is not None and ignore is not None:
        raise InputError("given and ignore exclude each other; name the columns to be equal on, or those to leave out.")
    role = "given" if ignore is None else "ignore"
    wanted = _names(given if ignore is None else ignore, role)
    names, taken = _column_names(X, feature_names, y, weights)
    if names is None:
        return X, feature_names  # no table: encoding says what is wrong with it
    features = [name for name in names if name not in taken]
    chosen = features[find_feature(feature, features)]
    for name in wanted:
        if name in taken:
            raise InputError(f"{role} names {name!r}, which is the {taken[name]}; leave it out of {role}.")
        if name not in features:
            raise unknown_column(name, features, role)
        if name == chosen:
            raise InputError(f"{role} names {name!r}, the feature that is audited; leave it out of {role}.")
    kept = [
        i
        for i, name in enumerate(names)
        if name in taken or name == chosen or (name in wanted if ignore is None else name not in wanted)
    ]
    frame: Any = nw.from_native(X, eager_only=True, pass_through=True)
    if isinstance(frame, nw.DataFrame):
        renamed = None if feature_names is None else [names[i] for i in kept if names[i] not in taken]
        return frame[:, kept].to_native(), renamed
    kept_names = [names[i] for i in kept]
    return X[:, kept] if isinstance(X, np.ndarray) else [[row[i] for i in kept] for row in X], kept_names


def _column_names(
    X: Any, feature_names: Sequence[str] | None, y: Any, weights: Any
) -> tuple[list[str] | None, dict[str, str]]:
    """Names of all columns, None if this is no table; and the columns that hold the label or the weights."""
    try:
        frame: Any = nw.from_native(X, eager_only=True, pass_through=True)
        is_frame = isinstance(frame, nw.DataFrame)
        names = [str(name) for name in frame.columns] if is_frame else [f"x{i}" for i in range(len(X[0]))]
    except (nw.exceptions.DuplicateError, TypeError, IndexError, KeyError):
        return None, {}
    taken = {}
    if is_frame:
        for role, given in (("label", y), ("weights", weights)):
            if isinstance(given, str):
                if given not in names:
                    raise unknown_column(given, names, role)
                taken[given] = role
    n_features = len(names) - len(taken)
    if feature_names is not None:
        if isinstance(feature_names, str) or len(feature_names) != n_features:
            return None, {}
        given_names = iter(feature_names)
        names = [name if name in taken else str(next(given_names)) for name in names]
    return names, taken


def _names(columns: Any, role: str) -> tuple[str, ...]:
    if isinstance(columns, str):
        return (columns,)
    names = tuple(columns) if isinstance(columns, Iterable) else (columns,)
    if not all(isinstance(name, str) for name in names):
        raise InputError(f"{role} must be a list of column names, got {columns!r}.")
    return names


def plain(value: Any) -> Any:
    """A value without its numpy wrapping, so that it prints as the user wrote it."""
    return value.item() if isinstance(value, np.generic) else value
