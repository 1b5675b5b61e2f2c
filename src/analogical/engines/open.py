"""Which engine holds a table, and the study of such a table: the only place that distinguishes the engines."""

from collections.abc import Sequence
from importlib import import_module
from typing import TYPE_CHECKING, Any

from analogical._types import EngineName
from analogical.columns.rules import Rules
from analogical.errors import InputError

if TYPE_CHECKING:
    from analogical.study import Duplicates, Study

__all__ = ["engine_of", "engine_study_of", "refuse_elsewhere"]

PACKAGES: dict[str, EngineName] = {"pyspark": "spark", "duckdb": "duckdb", "_duckdb": "duckdb"}
"""Libraries whose dataframes are not read into this process, with the engine that counts them."""
PLACES: dict[EngineName, str] = {"duckdb": "in DuckDB", "spark": "on Spark"}


def engine_of(X: Any) -> EngineName:
    """The engine that counts a table, found without importing a library."""
    package, _, rest = type(X).__module__.partition(".")
    if package == "analogical" and rest.startswith("duck."):
        return "duckdb"
    return PACKAGES.get(package, "memory")


def engine_study_of(
    X: Any,
    y: Any,
    rules: Rules,
    *,
    keep: Sequence[Any] = (),
    duplicates: "Duplicates" = "count",
    n_jobs: int | None = None,
    needs_label: bool = True,
) -> "Study":
    """The study of a table that DuckDB or Spark holds, from ``open_study`` of ``duck`` or ``spark``.

    Without a label (``y`` is None, if none is needed) all rows have the same.
    """
    if y is None and needs_label:
        raise InputError("y is missing: give the name of the column with the label.")
    package = import_module("analogical.spark" if engine_of(X) == "spark" else "analogical.duck")
    study: Study = package.open_study(
        X,
        y,
        rules,
        keep=keep,
        duplicates=duplicates,
    )
    study.n_jobs = n_jobs
    return study


def refuse_elsewhere(verb: str, engine: EngineName) -> None:
    """Refuse a verb that needs whole rows in this process."""
    if engine != "memory":
        raise InputError(
            f"{verb} compares whole rows, and this table lies {PLACES[engine]}; give {verb} a sample of its rows as a"
            " dataframe."
        )
