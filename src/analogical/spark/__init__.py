"""Relevance of a table on Apache Spark, counted there: the same result as in memory.

>>> from analogical.spark import relevance                           # doctest: +SKIP
>>> relevance(spark.read.parquet("visits"), "readmitted")            # doctest: +SKIP
"""

from importlib import import_module
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from analogical.spark.session import open_session
    from analogical.spark.verbs import relevance

__all__ = ["open_session", "relevance"]

_HOMES = {"open_session": "session", "relevance": "verbs"}


def __getattr__(name: str) -> Any:
    """Import a name when it is asked for: executors import files of this package and have numpy only."""
    if name in _HOMES:
        return getattr(import_module(f"analogical.spark.{_HOMES[name]}"), name)
    raise AttributeError(f"module 'analogical.spark' has no attribute {name!r}")
