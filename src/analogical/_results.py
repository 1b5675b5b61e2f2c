"""The base class of results: text, HTML, a dataframe, plain types, and entries by name."""

import math
from abc import ABC, abstractmethod
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass, field, fields, is_dataclass
from typing import Any, ClassVar

import numpy as np

from analogical._types import Note, Positions, same
from analogical.columns.columns import plain
from analogical.errors import InputError

__all__ = ["EntryResult", "Result", "entry_at", "json_ready", "per_entry", "plain_fields"]

LARGEST = 2**63 - 1
"""Larger integers do not fit a dataframe column, and become text."""


class Result(ABC):
    """A result: small, frozen data. Its text is written by ``analogical.show``."""

    backend: str | None
    """Dataframe library of the table, for ``to_frame``."""
    COLUMNS: ClassVar[tuple[str, ...]] = ()
    """Names of the columns of ``to_frame``: the keys of a record."""

    @property
    @abstractmethod
    def notes(self) -> tuple[Note, ...]:
        """What was done to the table before counting."""

    @abstractmethod
    def records(self) -> list[dict[str, Any]]:
        """The entries of the result as plain dictionaries, in the order in which they are shown."""

    def to_dict(self) -> dict[str, Any]:
        """All fields in plain Python types, ready for JSON; NaN becomes None."""
        content = plain_fields(self)
        content.pop("backend", None)
        return content

    def columns(self) -> tuple[str, ...]:
        """Names of the columns of ``to_frame``, also if there is no entry."""
        return self.COLUMNS

    def to_frame(self, backend: str | None = None) -> Any:
        """One row per entry, in the dataframe library of the table.

        Parameters
        ----------
        backend : {"pandas", "polars", "pyarrow"}, optional
            Another library; pandas if the table was not a dataframe.
        """
        from analogical.columns.frames import build_frame

        records = self.records()
        columns = {name: _storable([record[name] for record in records]) for name in self.columns()}
        return build_frame(columns, backend or self.backend or "pandas")

    def __iter__(self) -> Iterator[dict[str, Any]]:
        return iter(self.records())

    def __contains__(self, key: object) -> bool:
        try:
            self[key]  # type: ignore[index]
        except (InputError, IndexError, TypeError):
            return False
        return True

    def __eq__(self, other: object) -> bool:
        if type(self) is not type(other):
            return NotImplemented
        return same(self, other)

    __hash__ = None  # type: ignore[assignment]

    def __repr__(self) -> str:
        from analogical.show import as_text

        return as_text(self)

    def _repr_html_(self) -> str:
        from analogical.show import as_html

        return as_html(self)


def per_entry(*columns: str) -> Any:
    """A field that holds one item per entry of the result; in a record it is the column of the same name.

    ``columns`` are other names: a single one, or those of the fields of the items, which are then columns of their own.
    """
    return field(metadata={"columns": columns})


@dataclass(frozen=True, eq=False, repr=False)
class EntryResult(Result):
    """A result whose entries are made of the items of its fields marked by :func:`per_entry`."""

    ENTRIES: ClassVar[str]
    """Key of the entries in ``to_dict``."""

    def __len__(self) -> int:
        first = next(iter(self._columns_of_fields()))
        return len(getattr(self, first))

    def order(self) -> Positions:
        """Positions of the entries, in the order in which they are shown."""
        return np.arange(len(self))

    @classmethod
    def columns(cls) -> tuple[str, ...]:
        """Names of the columns of ``to_frame``, also if there is no entry."""
        return tuple(column for columns in cls._columns_of_fields().values() for column in columns)

    def record(self, position: int) -> dict[str, Any]:
        """One entry in plain Python types; unknown numbers are None."""
        record: dict[str, Any] = {}
        for name, columns in self._columns_of_fields().items():
            item = json_ready(getattr(self, name)[position])
            record |= {columns[0]: item} if len(columns) == 1 else item
        return record

    def records(self) -> list[dict[str, Any]]:
        """One dictionary per entry, in the order in which they are shown."""
        return [self.record(position) for position in self.order().tolist()]

    def to_dict(self) -> dict[str, Any]:
        """Everything in plain Python types, ready for JSON; NaN becomes None."""
        content = super().to_dict()
        content[self.ENTRIES] = [self.record(position) for position in range(len(self))]
        in_entries = self._columns_of_fields().keys() - {self.ENTRIES}
        return {name: value for name, value in content.items() if name not in in_entries}

    @classmethod
    def _columns_of_fields(cls) -> dict[str, tuple[str, ...]]:
        """The fields that hold one item per entry, with the names of their columns."""
        return {f.name: f.metadata["columns"] or (f.name,) for f in fields(cls) if "columns" in f.metadata}


def entry_at(key: Any, names: Iterable[Any], what: str) -> int:
    """Position of an entry by its name; an error lists the names."""
    known = list(names)
    if key in known:
        return known.index(key)
    from analogical.columns.choosing import listing

    raise InputError(f"There is no {what} {key!r} in the result; it has {listing([repr(name) for name in known])}.")


def json_ready(value: Any) -> Any:
    """A value in JSON's types: NaN becomes None, and other types become text."""
    value = plain(value)
    if value is None or isinstance(value, bool | int | str):
        return value
    if isinstance(value, float):
        return value if math.isfinite(value) else None
    if isinstance(value, np.ndarray):
        return [json_ready(item) for item in value.tolist()]
    if isinstance(value, list | tuple):
        return [json_ready(item) for item in value]
    if isinstance(value, dict):
        return {str(key): json_ready(item) for key, item in value.items()}
    if isinstance(value, Result):
        return value.to_dict()
    return plain_fields(value) if is_dataclass(value) and not isinstance(value, type) else str(value)


def plain_fields(data: Any) -> dict[str, Any]:
    """The fields of a dataclass, and the properties named in its ``DERIVED``, ready for JSON.

    ``context``, which has pairs of names and values, becomes a dictionary.
    """
    names = (*(field.name for field in fields(data) if field.compare), *getattr(data, "DERIVED", ()))
    content = {name: getattr(data, name) for name in names}
    if "context" in content:
        content["context"] = dict(content["context"])
    return {name: json_ready(value) for name, value in content.items()}


# ---------------------------------------------------------------- records as columns of a dataframe


def _storable(cells: list[Any]) -> list[Any]:
    """Cells of one type, as dataframes store them: unknown numbers become NaN, lists and dictionaries text."""
    if any(isinstance(cell, int) and abs(cell) > LARGEST for cell in cells):
        return _as_text(cells, str)
    if any(isinstance(cell, list | dict) for cell in cells):
        return _as_text(cells, _joined)
    known = [cell for cell in cells if cell is not None]
    types = {type(cell) for cell in known}
    if types == {str} or (len(types) > 1 and not types <= {int, float}):
        return _as_text(cells, str)
    if len(known) < len(cells) and all(isinstance(cell, int | float) for cell in known):
        return [math.nan if cell is None else float(cell) for cell in cells]
    return cells


def _as_text(cells: list[Any], write: Callable[[Any], str]) -> list[str | None]:
    """Text that every library can store: lone surrogates are escaped."""
    return [None if cell is None else write(cell).encode("utf-8", "backslashreplace").decode("utf-8") for cell in cells]


def _joined(cell: Any) -> str:
    """The items of a list or a dictionary."""
    if isinstance(cell, dict):
        return ", ".join(f"{key}={value}" for key, value in cell.items())
    return ", ".join(map(str, cell))
