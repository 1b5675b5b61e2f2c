"""Tables that lie elsewhere, in a database or on a cluster: a stand-in until they are read here."""

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

from analogical.errors import InputError

if TYPE_CHECKING:
    from analogical.columns.encode import EncodedTable
    from analogical.columns.rules import Rules

__all__ = ["encode_outside", "is_outside"]


def is_outside(X: Any) -> bool:
    """Whether a table lies elsewhere, found without importing a library."""
    return type(X).__module__.partition(".")[0] in ("duckdb", "_duckdb", "pyspark")


def encode_outside(
    X: Any,  # noqa: ARG001
    y: Any,  # noqa: ARG001
    rules: "Rules",  # noqa: ARG001
    *,
    keep: Sequence[Any] = (),  # noqa: ARG001
    duplicates: str = "count",  # noqa: ARG001
    needs_label: bool = True,  # noqa: ARG001
) -> "EncodedTable":
    """The codes of a table that lies elsewhere."""
    raise InputError("Tables outside of memory cannot be read yet.")
