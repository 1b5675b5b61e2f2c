"""What the codes of a table mean, in memory or elsewhere."""

from collections.abc import Hashable, Iterable, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any, Literal

import numpy as np

from analogical._checks import is_whole
from analogical._types import Ints, Note
from analogical.columns.choosing import Names
from analogical.columns.columns import plain
from analogical.errors import InputError

__all__ = ["ColumnMeaning", "TableMeaning"]


@dataclass(frozen=True)
class ColumnMeaning:
    """The values that the codes of a column stand for, and how they were made."""

    key: Hashable
    """The user's own name of the column: the dataframe's, or its position in an array."""
    name: str
    values: Sequence[Any]
    """``values[c]`` is what code c stands for."""
    position: int = 0
    """Position among the features of the user's table, before some were left out; parts of dates come after them."""
    edges: tuple[Any, ...] | None = None
    """Where the bins except the first begin; None if every distinct value is a category."""
    n_missing: int = 0
    """Number of missing cells, which have the last code."""
    fine_ends: tuple[tuple[Any, Any], ...] = ()
    """The lowest and the highest number of each of the finer bins; empty for categories."""

    @property
    def treatment(self) -> Literal["categories", "bins"]:
        """Whether every distinct value is a category, or numbers and dates were binned."""
        return "categories" if self.edges is None else "bins"


@dataclass(frozen=True, kw_only=True)
class TableMeaning:
    """Features and label of a table, and what was done to it."""

    columns: tuple[ColumnMeaning, ...]
    label_meaning: ColumnMeaning | None
    """None if the table was encoded without a label."""
    notes: tuple[Note, ...]
    """What was done that the user should know."""

    @cached_property
    def n_values(self) -> Ints:
        """Number of values of every feature."""
        return np.array([len(column.values) for column in self.columns], dtype=np.int64)

    @cached_property
    def n_bins(self) -> Ints | None:
        """Number of bins of every feature, without the code of missing cells; 0 for categories, None if all are."""
        if all(column.treatment == "categories" for column in self.columns):
            return None
        sizes = [len(c.values) - (c.n_missing > 0) if c.treatment == "bins" else 0 for c in self.columns]
        return np.array(sizes, dtype=np.int64)

    @cached_property
    def names(self) -> tuple[str, ...]:
        """Names of the features."""
        return tuple(column.name for column in self.columns)

    @property
    def keys(self) -> Sequence[Hashable]:
        """The user's own names of the features."""
        return [column.key for column in self.columns]

    @property
    def backend(self) -> str | None:
        """Name of the dataframe library of the user's table, for results in the same one."""
        return None

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
