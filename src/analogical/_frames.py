"""Results as dataframes, in the library that the user works with."""

from collections.abc import Mapping, Sequence
from typing import Any

from analogical.errors import InputError, MissingDependencyError

__all__ = ["frame_from_columns"]


_LIBRARIES = ("pandas", "polars", "pyarrow", "modin", "cudf")


def frame_from_columns(columns: Mapping[str, Sequence[Any]], backend: str) -> Any:
    """A dataframe of the named library, or one sentence on why that cannot be had."""
    import narwhals.stable.v2 as nw

    if backend not in _LIBRARIES:
        raise InputError(f"backend must be one of {', '.join(_LIBRARIES)}, got {backend!r}.")
    library: Any = backend
    try:
        return nw.from_dict(columns, backend=library).to_native()
    except ModuleNotFoundError:
        raise MissingDependencyError(
            f"A dataframe of {backend} was asked for, which is not installed. Install it with: pip install {backend}"
        ) from None
