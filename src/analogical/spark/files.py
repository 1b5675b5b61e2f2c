"""Files that a Spark cluster sees to a Spark table, by the rules of files on one machine."""

from collections.abc import Callable
from dataclasses import dataclass
from pathlib import PurePosixPath
from typing import TYPE_CHECKING, Any

from analogical.errors import InputError, SparkError
from analogical.io.formats import TextFormat
from analogical.io.text import LONG_NUMBER, NO_NUMBER, check_separator, find_separator
from analogical.spark.session import collect, first_line

if TYPE_CHECKING:
    from pyspark.sql import DataFrame, SparkSession

__all__ = ["SparkFile", "read_spark_file"]

_NUMBER = r"^[+-]?([0-9]+\.?[0-9]*|\.[0-9]+)([eE][+-]?[0-9]+)?$"
_DECIMAL_COMMA = r"^[+-]?[0-9]+(,[0-9]+)?$"
_DAY = r"^[0-9]{4}-[0-9]{2}-[0-9]{2}$"
_TIME = r"^[0-9]{4}-[0-9]{2}-[0-9]{2}([ T][0-9]{2}:[0-9]{2}(:[0-9]{2}(\.[0-9]+)?)?)?$"
_TEXTS = (".csv", ".tsv", ".txt", ".tab", ".dat")


@dataclass(frozen=True)
class SparkFile:
    """The table in a file or folder, and what was guessed to read it."""

    frame: "DataFrame"
    notes: tuple[str, ...] = ()


def read_spark_file(session: "SparkSession", path: str, given: TextFormat) -> SparkFile:
    """The table at a path that the cluster sees: Parquet or CSV, a file, a folder or a pattern."""
    suffixes = [suffix.lower() for suffix in PurePosixPath(path.rstrip("/")).suffixes]
    if not any(suffix in _TEXTS for suffix in suffixes):
        found = _try_parquet(session, path, is_named=".parquet" in suffixes or ".pq" in suffixes)
        if found is not None:
            return SparkFile(found)
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


def _read_text(session: "SparkSession", path: str, given: TextFormat) -> SparkFile:
    notes: list[str] = []
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
    names = [name.strip() for name in frame.columns] if has_header else [f"x{k + 1}" for k in range(len(frame.columns))]
    if given.names is not None:
        if len(given.names) != len(frame.columns):
            raise InputError(
                f"--names has {len(given.names)} names and {path!r} has {len(frame.columns)} columns; give one each."
            )
        names = list(given.names)
    if len(names) == 1:
        raise InputError(f"{path!r} has one column only, {names[0][:60]!r}; a table needs features and a label.")
    return SparkFile(_type_cells(frame.toDF(*names), path, given, separator, notes), tuple(notes))


def _type_cells(frame: "DataFrame", path: str, given: TextFormat, separator: str, notes: list[str]) -> "DataFrame":
    """Cells without spaces, missing where they say so, and as numbers or dates where a column has nothing else."""
    from pyspark.sql import functions as F

    words = sorted({word.strip().lower() for word in (*given.na, "")})
    names = frame.columns
    frame = frame.toDF(*(f"c{k}" for k in range(len(names))))  # by position: names may differ in case only

    def cell(name: str) -> Any:
        text = F.trim(name)
        return F.when(~F.lower(text).isin(words), text)

    plain = frame.select(*(cell(name).alias(name) for name in frame.columns))
    tests: dict[str, Callable[[Any], Any]] = {
        "number": lambda c: c.rlike(_NUMBER) & ~c.rlike(NO_NUMBER),
        "whole": lambda c: c.try_cast("long").isNotNull() & c.rlike("^[+-]?[0-9]+$"),
        "long": lambda c: c.rlike(LONG_NUMBER),
        "comma": lambda c: c.rlike(_DECIMAL_COMMA) & ~c.rlike(NO_NUMBER),
        "day": lambda c: c.rlike(_DAY) & c.try_cast("date").isNotNull(),
        "time": lambda c: c.rlike(_TIME) & c.try_cast("timestamp_ntz").isNotNull(),
    }
    wanted = []
    for k in range(len(names)):
        column = F.col(f"c{k}")
        wanted.append(F.count(column).alias(f"n{k}"))
        wanted += [F.count_if(test(column)).alias(f"{name}{k}") for name, test in tests.items()]
    found = _look(plain.agg(*wanted), path)
    notes += _changed_cells(frame, [word for word in words if word])
    typed, commas = [], []
    for k, name in enumerate(names):
        n, column = found[f"n{k}"], F.col(f"c{k}")
        if n and found[f"number{k}"] == n and found[f"whole{k}"] == n:
            column = column.cast("long")
        elif n and found[f"number{k}"] == n and not found[f"long{k}"]:
            column = column.cast("double")
        elif n and separator != "," and found[f"comma{k}"] == n:
            commas.append(name)
            column = F.replace(column, F.lit(","), F.lit(".")).cast("double")
        elif n and found[f"day{k}"] == n:
            column = column.cast("date")
        elif n and found[f"time{k}"] == n:
            column = column.cast("timestamp_ntz")
        typed.append(column.alias(name))
    if commas:
        notes.append(f"decimal commas in {', '.join(commas[:6])}")
    return plain.select(*typed)


def _look(frame: "DataFrame", path: str) -> dict[str, int]:
    """One row of numbers about a text file, or a sentence on what is wrong with it."""
    try:
        found: dict[str, int] = collect(frame, "looking at the cells").to_pylist()[0]
    except SparkError as error:
        text = str(error.__cause__)
        if "MALFORMED" in text:
            raise InputError(
                f"{path!r} has rows with a different number of cells than the first line, or cells with line breaks,"
                " which Spark does not read; correct it, write it as Parquet, or use --engine memory."
            ) from error
        if "header does not conform" in text:
            raise InputError(
                f"The files at {path!r} have different headers, or column names that Spark treats as equal; give all of"
                " them the same columns in the same order, with distinct names."
            ) from error
        raise
    return found


def _changed_cells(frame: "DataFrame", words: list[str]) -> list[str]:
    """Notes on spaces that were stripped, and on the words that were read as missing with how often each occurs."""
    from pyspark.sql import functions as F

    texts = [F.lower(F.trim(name)) for name in frame.columns]
    numbers = [
        sum((F.count_if(text == word) for text in texts), F.lit(0)).alias(f"n{k}") for k, word in enumerate(words)
    ]
    spaces = sum((F.count_if(F.length(F.trim(name)) < F.length(name)) for name in frame.columns), F.lit(0))
    found = collect(frame.agg(*numbers, spaces.alias("spaces")), "looking for missing cells").to_pylist()[0]
    told = {word: found[f"n{k}"] for k, word in enumerate(words) if found[f"n{k}"]}
    listed = ", ".join(f"{word!r} ({n:,})" for word, n in sorted(told.items(), key=lambda item: (-item[1], item[0])))
    notes = ["spaces around values were stripped"] if found["spaces"] else []
    return notes + ([f"read as missing: {listed}; override with --na"] if told else [])
