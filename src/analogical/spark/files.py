"""Files that a Spark cluster can read as a Spark table, by the rules for files on one machine."""

from pathlib import PurePosixPath
from typing import TYPE_CHECKING, cast

from analogical._types import Note
from analogical.engines.text import type_cells
from analogical.errors import InputError, SparkError
from analogical.io.files import FileTable, TextFormat
from analogical.io.text import check_separator, find_separator
from analogical.spark.relation import SparkRelation
from analogical.spark.session import collect, first_line

if TYPE_CHECKING:
    from pyspark.sql import DataFrame, SparkSession

__all__ = ["read_spark_file"]

_TEXTS = (".csv", ".tsv", ".txt", ".tab", ".dat")


def read_spark_file(session: "SparkSession", path: str, given: TextFormat) -> FileTable:
    """The table at a path that the cluster sees: Parquet or CSV, a file, a folder or a pattern."""
    suffixes = [suffix.lower() for suffix in PurePosixPath(path.rstrip("/")).suffixes]
    if not any(suffix in _TEXTS for suffix in suffixes):
        found = _try_parquet(session, path, is_named=".parquet" in suffixes or ".pq" in suffixes)
        if found is not None:
            return FileTable(found)
    return _read_text(session, path, given)


def _try_parquet(session: "SparkSession", path: str, *, is_named: bool) -> "DataFrame | None":
    try:
        return session.read.parquet(path)
    except Exception as error:
        if "PATH_NOT_FOUND" in str(error) or is_named:
            raise _unreadable(path, error) from None
        return None


def _unreadable(path: str, error: Exception) -> InputError:
    if "PATH_NOT_FOUND" in str(error):
        return InputError(f"Spark finds nothing at {path!r}; give a Parquet or CSV path that all its workers see.")
    return InputError(f"Spark cannot read {path!r} ({first_line(error)}); give Parquet or CSV.")


def _read_text(session: "SparkSession", path: str, given: TextFormat) -> FileTable:
    notes: list[Note] = []
    try:
        first = collect(session.read.text(path).filter("trim(value) != ''").limit(100), "reading the first lines")
    except Exception as error:
        raise _unreadable(path, error.__cause__ if isinstance(error.__cause__, Exception) else error) from None
    lines = first.column("value").to_pylist()
    if not lines:
        raise InputError(f"{path!r} is empty; give a header and rows.")
    separator = check_separator(given.separator) or find_separator("\n".join(lines), notes)
    has_header = given.header and given.names is None
    reader = session.read.options(
        header=str(has_header).lower(),
        sep=separator,
        quote='"',
        escape='"',
        mode="FAILFAST",
        columnPruning="false",
        enforceSchema="false",
    )
    try:
        frame = reader.csv(path)
    except Exception as error:
        raise _unreadable(path, error) from None
    names = [name.strip() for name in frame.columns] if has_header else [f"x{k}" for k in range(len(frame.columns))]
    if given.names is not None:
        if len(given.names) != len(frame.columns):
            raise InputError(
                f"--names has {len(given.names)} names and {path!r} has {len(frame.columns)} columns; give one each."
            )
        names = list(given.names)
    if len(names) == 1:
        raise InputError(f"{path!r} has one column only, {names[0][:60]!r}; a table needs features and a label.")
    return FileTable(_type_cells(frame.toDF(*names), path, given, separator, notes), tuple(notes))


def _type_cells(frame: "DataFrame", path: str, given: TextFormat, separator: str, notes: list[Note]) -> "DataFrame":
    """Typed cells, by the rules of ``io/typing.py``."""
    names = frame.columns
    numbered = frame.toDF(*(f"c{k}" for k in range(len(names))))  # by position: names may differ in case only
    try:
        typed = type_cells(SparkRelation(numbered), names, given.na, separator, notes)
    except SparkError as error:
        raise _bad_rows(path, error) from error
    return cast("SparkRelation", typed).frame.toDF(*names)


def _bad_rows(path: str, error: SparkError) -> Exception:
    """A sentence on what is wrong with a text file, if that is known."""
    text = str(error.__cause__)
    if "MALFORMED" in text:
        return InputError(
            f"{path!r} has rows with a different number of cells than the first line, or cells with line breaks, which"
            " Spark does not read; correct it, write it as Parquet, or use --engine memory."
        )
    if "header does not conform" in text:
        return InputError(
            f"The files at {path!r} have different headers, or column names that Spark treats as equal; give all of"
            " them the same columns in the same order, with distinct names."
        )
    return error
