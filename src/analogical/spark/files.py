"""Files that a Spark cluster sees to a Spark table, by the rules of files on one machine."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import PurePosixPath
from typing import TYPE_CHECKING, Any

from analogical._types import Note
from analogical.errors import InputError, SparkError
from analogical.io.formats import TextFormat
from analogical.io.text import check_separator, find_separator
from analogical.io.typing import (
    FIRST_TESTS,
    FURTHER_TESTS,
    MOST_WORDS,
    CellNotes,
    Reading,
    decide,
    holds_words,
    missing_words,
    needs_further_tests,
)
from analogical.spark.session import collect, first_line

if TYPE_CHECKING:
    from pyspark.sql import DataFrame, SparkSession

__all__ = ["SparkFile", "read_spark_file"]

_TEXTS = (".csv", ".tsv", ".txt", ".tab", ".dat")


@dataclass(frozen=True)
class SparkFile:
    """The table in a file or folder, and what was guessed to read it."""

    frame: "DataFrame"
    notes: tuple[Note, ...] = ()


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
    return SparkFile(_type_cells(frame.toDF(*names), path, given, separator, notes), tuple(notes))


def _type_cells(frame: "DataFrame", path: str, given: TextFormat, separator: str, notes: list[Note]) -> "DataFrame":
    """Cells without spaces, missing where they say so, numbers and dates, by the rules of ``io/typing.py``."""
    from pyspark.sql import functions as F

    words = missing_words(given.na)
    names = frame.columns
    frame = frame.toDF(*(f"c{k}" for k in range(len(names))))  # by position: names may differ in case only

    def cell(name: str) -> Any:
        text = F.trim(name)
        return F.when(~F.lower(text).isin(words), text)

    plain = frame.select(*(cell(name).alias(name) for name in frame.columns))
    seen = CellNotes()
    counts = _count_matches(plain, range(len(names)), FIRST_TESTS, path)
    _count_changed_cells(frame, words, seen)
    further = [k for k in range(len(names)) if needs_further_tests(counts[k])]
    if further:
        for k, more in _count_matches(plain, further, FURTHER_TESTS, path).items():
            counts[k] |= more
    typed = []
    for k, name in enumerate(names):
        reading = _settled(plain, k, decide(counts[k], separator), counts[k], seen, name)
        typed.append(_convert(F.col(f"c{k}"), reading).alias(name))
    notes += seen.notes()
    return plain.select(*typed)


def _count_matches(
    frame: "DataFrame", places: Sequence[int], tests: Mapping[str, str], path: str
) -> dict[int, dict[str, int]]:
    """How many cells of each column match each test."""
    from pyspark.sql import functions as F

    wanted = []
    for k in places:
        wanted.append(F.count(f"c{k}").alias(f"present {k}"))
        wanted += [F.count_if(F.col(f"c{k}").rlike(pattern)).alias(f"{name} {k}") for name, pattern in tests.items()]
    found = _look(frame.agg(*wanted), path)
    return {k: {name: found[f"{name} {k}"] for name in ("present", *tests)} for k in places}


def _settled(
    frame: "DataFrame", place: int, reading: Reading, counts: Mapping[str, int], seen: CellNotes, name: str
) -> Reading:
    """The reading if all cells can be read like that, but for few different words; otherwise text."""
    from pyspark.sql import functions as F

    words: dict[str, int] = {}
    if reading.accepts is not None or not reading.is_sure:
        column = F.col(f"c{place}")
        accepted = F.lit(True) if reading.accepts is None else column.rlike(reading.accepts)
        converted = _convert(column, reading)
        checked = frame.agg(
            F.count_if(column.isNotNull() & accepted & converted.isNull()).alias("failed"),
            F.approx_count_distinct(converted).alias("distinct"),
        )
        found = collect(checked, "looking at numbers and dates").to_pylist()[0]
        others = frame.filter(~accepted).groupBy(column.alias("word")).count().limit(MOST_WORDS + 1)
        if reading.accepts is not None:
            words = {row["word"]: row["count"] for row in collect(others, "looking at words").to_pylist()}
        if found["failed"] or (words and not holds_words(words, found["distinct"])):
            return Reading()
    seen.add(name, reading, counts["present"] - counts["number"] - sum(words.values()), dict(sorted(words.items())))
    return reading


def _convert(column: Any, reading: Reading) -> Any:
    """The cells as what they are; missing where they cannot be that."""
    from pyspark.sql import functions as F

    if reading.kind == "text":
        return column
    if reading.accepts is not None:
        column = F.when(column.rlike(reading.accepts), column)
    for pattern, by in reading.steps:
        column = F.regexp_replace(column, pattern, by)
    return column.try_cast({"whole": "long", "real": "double", "day": "date", "time": "timestamp_ntz"}[reading.kind])


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


def _count_changed_cells(frame: "DataFrame", words: Sequence[str], seen: CellNotes) -> None:
    """Whether spaces were stripped, and which words were read as missing, with how often each occurs."""
    from pyspark.sql import functions as F

    texts = [F.lower(F.trim(name)) for name in frame.columns]
    numbers = [
        sum((F.count_if(text == word) for text in texts), F.lit(0)).alias(f"n{k}") for k, word in enumerate(words)
    ]
    spaces = sum((F.count_if(F.length(F.trim(name)) < F.length(name)) for name in frame.columns), F.lit(0))
    found = collect(frame.agg(*numbers, spaces.alias("spaces")), "looking for missing cells").to_pylist()[0]
    seen.missing.update({word: found[f"n{k}"] for k, word in enumerate(words) if word and found[f"n{k}"]})
    seen.has_spaces = bool(found["spaces"])
