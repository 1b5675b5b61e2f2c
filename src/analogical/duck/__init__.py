"""Tables larger than memory on one machine: DuckDB reads files, and holds and groups their codes."""

from analogical.duck.opening import open_study

__all__ = ["open_study"]
