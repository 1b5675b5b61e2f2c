"""The base class of results: text, HTML, a dataframe, plain types, and entries by name."""

import math
from abc import ABC, abstractmethod
from collections.abc import Iterable, Iterator
from dataclasses import field, fields, is_dataclass
from typing import Any, ClassVar

import numpy as np

from analogical._checks import listing
from analogical._types import Note, Positions
from analogical.columns.columns import plain
from analogical.errors import InputError


def per_entry(*columns: str) -> Any:
    """A field that holds one item per entry of the result; in a record it is the column of the same name.

    ``columns`` are other names: a single one, or those of the fields of the items, which are then columns of their own.
    """
    return field(metadata={"columns": columns})


class Result(ABC):
    """A result: small, frozen data. Its text is written by ``analogical.show``.

    Its entries are made of the items of the fields marked by :func:`per_entry`, or by a ``records`` of its own.
    """

    COLUMNS: ClassVar[tuple[str, ...]] = ()
    """Names of the columns of ``to_frame``, which are the keys of a record; by default those of the fields."""
    ENTRIES: ClassVar[str] = ""
    """Key of the entries in ``to_dict``, in place of the fields that they are made of."""

    @property
    def backend(self) -> str | None:
        """Name of the dataframe library that the table came in, for ``to_frame``."""
        settings: Any = getattr(self, "settings", None)
        return None if settings is None else settings.backend

    @property
    @abstractmethod
    def notes(self) -> tuple[Note, ...]:
        """What was done to the table before counting."""

    def __len__(self) -> int:
        return len(getattr(self, next(iter(self._fields_of_entries()))))

    def order(self) -> Positions:
        """Positions of the entries, in the order in which they are shown."""
        return np.arange(len(self))

    def record(self, position: int) -> dict[str, Any]:
        """One entry in plain Python types; unknown numbers are None."""
        record: dict[str, Any] = {}
        for name, columns in self._fields_of_entries().items():
            item = json_ready(getattr(self, name)[position])
            record |= {columns[0]: item} if len(columns) == 1 else item
        return record

    def records(self) -> list[dict[str, Any]]:
        """One dictionary per entry, in the order in which they are shown."""
        return [self.record(position) for position in self.order().tolist()]

    @classmethod
    def _fields_of_entries(cls) -> dict[str, tuple[str, ...]]:
        """The fields that hold one item per entry, with the names of their columns."""
        every: Any = fields(cls)  # type: ignore[arg-type]
        return {f.name: f.metadata["columns"] or (f.name,) for f in every if "columns" in f.metadata}

    @classmethod
    def columns(cls) -> tuple[str, ...]:
        """Names of the columns of ``to_frame``, also if there is no entry."""
        return cls.COLUMNS or tuple(column for columns in cls._fields_of_entries().values() for column in columns)

    def to_dict(self) -> dict[str, Any]:
        """All fields in plain Python types, ready for JSON; NaN becomes None."""
        content = _plain_fields(self)
        content.pop("backend", None)
        if self.ENTRIES:
            content[self.ENTRIES] = [self.record(position) for position in range(len(self))]
        in_entries = self._fields_of_entries().keys() - {self.ENTRIES}
        return {name: value for name, value in content.items() if name not in in_entries}

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
        return same(self, other) if type(self) is type(other) else NotImplemented

    __hash__ = None  # type: ignore[assignment]

    def __repr__(self) -> str:
        from analogical.show import as_text

        return as_text(self)

    def _repr_html_(self) -> str:
        from analogical.show import as_html

        return as_html(self)


def same(one: Any, other: Any) -> bool:
    """Whether two fields of a result are equal, element by element; NaN equals NaN."""
    if isinstance(one, np.ndarray) and isinstance(other, np.ndarray):
        return np.array_equal(one, other, equal_nan=one.dtype.kind == "f" and other.dtype.kind == "f")
    if isinstance(one, np.ndarray) or isinstance(other, np.ndarray):
        return False
    if isinstance(one, dict) and isinstance(other, dict):
        return one.keys() == other.keys() and all(same(value, other[key]) for key, value in one.items())
    if isinstance(one, tuple) and isinstance(other, tuple):
        return len(one) == len(other) and all(map(same, one, other))
    if is_dataclass(one) and type(one) is type(other):
        names = [f.name for f in fields(one) if f.compare]
        return all(same(getattr(one, name), getattr(other, name)) for name in names)
    is_nan = isinstance(one, float) and isinstance(other, float) and one != one and other != other
    return is_nan or bool(one == other)


def entry_at(key: Any, names: Iterable[Any], what: str) -> int:
    """Position of an entry by its name; an error lists the names."""
    known = list(names)
    if key in known:
        return known.index(key)
    raise InputError(f"There is no {what} {key!r} in the result; it has {listing([repr(name) for name in known])}.")


def json_ready(value: Any) -> Any:
    """A value in JSON's types: NaN becomes None, and other types become text."""
    value = plain(value)
    if value is None or isinstance(value, bool | int | str):
        return value
    if isinstance(value, float):
        return value if math.isfinite(value) else None
    if isinstance(value, np.ndarray | list | tuple):
        return [json_ready(item) for item in (value.tolist() if isinstance(value, np.ndarray) else value)]
    if isinstance(value, dict):
        return {str(key): json_ready(item) for key, item in value.items()}
    if isinstance(value, Result):
        return value.to_dict()
    return _plain_fields(value) if is_dataclass(value) and not isinstance(value, type) else str(value)


def _plain_fields(data: Any) -> dict[str, Any]:
    """The fields of a dataclass, and the properties named in its ``DERIVED``, ready for JSON.

    ``context``, which has pairs of names and values, becomes a dictionary.
    """
    names = (*(field.name for field in fields(data) if field.compare), *getattr(data, "DERIVED", ()))
    content = {name: getattr(data, name) for name in names}
    if "context" in content:
        content["context"] = dict(content["context"])
    return {name: json_ready(value) for name, value in content.items()}


def _storable(cells: list[Any]) -> list[Any]:
    """Cells of one type, as dataframes store them: unknown numbers become NaN; lists and very large numbers text."""
    known = [cell for cell in cells if cell is not None]
    types = {type(cell) for cell in known}
    is_mixed = len(types) > 1 and not types <= {int, float}
    if is_mixed or types & {str, list, dict} or any(isinstance(n, int) and abs(n) >= 2**63 for n in known):
        return [None if cell is None else _as_text(cell) for cell in cells]
    if len(known) < len(cells) and all(isinstance(cell, int | float) for cell in known):
        return [math.nan if cell is None else float(cell) for cell in cells]
    return cells


def _as_text(cell: Any) -> str:
    """Text that every library can store: the items of a list or a dictionary; lone surrogates are escaped."""
    if isinstance(cell, dict):
        cell = [f"{key}={value}" for key, value in cell.items()]
    text = ", ".join(map(str, cell)) if isinstance(cell, list) else str(cell)
    return text.encode("utf-8", "backslashreplace").decode("utf-8")
