"""What all results have in common: text, HTML, a dataframe, plain types, and one entry by its name."""

import math
from abc import ABC, abstractmethod
from collections.abc import Iterable, Iterator
from dataclasses import fields, is_dataclass
from typing import Any, ClassVar

import numpy as np

from analogical._types import same
from analogical.errors import InputError
from analogical.table.columns import plain

__all__ = ["Result", "entry_at", "json_ready", "plain_fields"]


class Result(ABC):
    """A result: small, frozen data. Its texts are made in ``analogical.show``."""

    backend: str | None
    """Name of the dataframe library that the table came in, for ``to_frame``."""
    COLUMNS: ClassVar[tuple[str, ...]] = ()
    """Names of the columns of ``to_frame``, which are the keys of a record."""

    @abstractmethod
    def records(self) -> list[dict[str, Any]]:
        """The entries of the result as plain dictionaries, in the order in which they are shown."""

    def to_dict(self) -> dict[str, Any]:
        """Everything in plain Python types, ready for JSON; unknown numbers are None."""
        content = plain_fields(self)
        content.pop("backend", None)
        return content

    def columns(self) -> tuple[str, ...]:
        """Names of the columns of ``to_frame``, also where there is no entry."""
        return self.COLUMNS

    def to_frame(self, backend: str | None = None) -> Any:
        """One row per entry, in the dataframe library that the table came in.

        Parameters
        ----------
        backend : {"pandas", "polars", "pyarrow"}, optional
            Another library; pandas if the table was not a dataframe.
        """
        from analogical.show.frames import frame_of_records

        return frame_of_records(self.records(), self.columns(), backend or self.backend or "pandas")

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
        return vars(self).keys() == vars(other).keys() and all(
            same(value, vars(other)[name]) for name, value in vars(self).items()
        )

    __hash__ = None  # type: ignore[assignment]

    def __repr__(self) -> str:
        from analogical.show import as_text

        return as_text(self)

    def _repr_html_(self) -> str:
        from analogical.show import as_html

        return as_html(self)


def entry_at(key: Any, names: Iterable[Any], what: str) -> int:
    """Position of an entry by its name, or an error that says which names there are."""
    known = list(names)
    if key in known:
        return known.index(key)
    from analogical.table.choosing import listing

    raise InputError(f"There is no {what} {key!r} in the result; it has {listing([repr(name) for name in known])}.")


def json_ready(value: Any) -> Any:
    """A value in types that JSON has: NaN becomes None, and other types become their text."""
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
    """The fields of a dataclass ready for JSON, and the properties that are named in its ``DERIVED``.

    ``context``, which holds names and values, becomes a dictionary.
    """
    names = (*(field.name for field in fields(data)), *getattr(data, "DERIVED", ()))
    content = {name: getattr(data, name) for name in names}
    if "context" in content:
        content["context"] = dict(content["context"])
    return {name: json_ready(value) for name, value in content.items()}
