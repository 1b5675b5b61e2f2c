"""Lazy frames of every library as one kind of table: columns by number, counted, sampled and written to a file.

Everything that differs between libraries is in this file; nothing else knows which one it is.
"""

import math
import re
import time
from collections.abc import Callable
from concurrent.futures import Future, wait
from dataclasses import dataclass, replace
from functools import cached_property, partial
from importlib import import_module
from pathlib import Path
from shutil import rmtree
from tempfile import gettempdir
from threading import Thread
from typing import Any, TypeVar
from uuid import uuid4
from weakref import WeakKeyDictionary, finalize

import narwhals.stable.v2 as nw

from analogical._checks import brief
from analogical._progress import working_on
from analogical.columns.frames import ENGINES, not_a_value, refuse_repeated
from analogical.errors import AnalogicalError, InputError, SparkError

Answer = TypeVar("Answer")
OWN: WeakKeyDictionary[Any, Any] = WeakKeyDictionary()
"""The connection of each table in a DuckDB of our own."""


@dataclass(frozen=True)
class LazyTable:
    """A table that a library reads when it is asked; its columns are named ``c0``, ``c1``, ... in the frame."""

    keys: tuple[str, ...]
    """The user's names of the columns."""
    engine: str
    """Name of the library."""
    frame: "nw.LazyFrame[Any]"
    is_plain: bool = False
    """Whether columns can be read one by one without work, from a file or from memory."""

    @classmethod
    def of(cls, X: Any) -> "LazyTable":
        """The table behind any lazy frame; durations are seconds, except on Polars."""
        native: Any = nw.to_native(X, pass_through=True)
        engine = type(native).__module__.partition(".")[0].lstrip("_")
        if getattr(native, "isStreaming", False):
            raise InputError("X is a streaming dataframe, which cannot be counted; write it to a table first.")
        schema = ask(engine, lambda: native.collect_schema() if engine == "polars" else None, "looking at the columns")
        keys = tuple(native.columns if schema is None else schema.names())
        refuse_repeated(keys)
        names = [f"c{k}" for k in range(len(keys))]
        if engine == "pyspark":
            native = _plain_in_spark(native.toDF(*names))  # names may differ in case only
        frame: nw.LazyFrame[Any] = nw.from_native(native)
        table = cls(keys, engine, frame.rename(dict(zip(frame.columns, names, strict=True))))
        if engine == "polars":
            plan = native.explain(optimized=False).strip().splitlines()
            is_plain = all(line.lstrip().startswith(("Parquet SCAN", "DF [", "PROJECT", "ESTIMATED")) for line in plan)
            return replace(table, is_plain=is_plain)
        changed = []
        for name, dtype in table.schema.items():
            if dtype == nw.Duration:
                changed.append(nw.col(name).dt.total_microseconds() / 1e6)
            elif dtype in (nw.Int128, nw.UInt128):  # what DuckDB makes of sums
                changed.append(nw.col(name).cast(nw.Int64))
            elif dtype == nw.Unknown:
                changed.append(nw.col(name).cast(nw.String))
        return table.with_frame(table.frame.with_columns(*changed)) if changed else table

    @cached_property
    def schema(self) -> dict[str, Any]:
        """The type of each column."""
        return dict(self.frame.collect_schema())

    def refuse_nested(self, position: int) -> None:
        """Refuse a column whose cells are not one value each."""
        dtype = self.schema[f"c{position}"]
        if dtype.is_nested() or dtype == nw.Binary:
            raise not_a_value(f"column {brief(self.keys[position])}", dtype)

    def with_frame(self, frame: Any) -> "LazyTable":
        """The table with other rows or further columns."""
        return replace(self, frame=frame)

    def collect(self, frame: Any, doing: str) -> Any:
        """A small frame, here."""
        backend: Any = "polars" if self.engine == "polars" else "pyarrow"
        return ask(self.engine, lambda: frame.collect(backend), doing)

    def n_rows(self) -> int:
        """Number of rows."""
        return int(self.collect(self.frame.select(nw.len().alias("n")), "counting the rows").item())

    def sample(self, n_rows: int, of_rows: int) -> Any:
        """About this many rows: evenly spaced where rows have an order, else random with a seed."""
        native: Any = self.frame.to_native()
        step = of_rows // n_rows
        if step > 1 and self.engine == "polars":
            native = native.gather_every(step)
        elif step > 1 and self.engine == "duckdb":
            numbered = native.project("*, row_number() OVER () AS place")
            native = numbered.filter(f"place % {step} = 0").project(", ".join(self.schema))
        elif step > 1:
            native = native.sample(n_rows / of_rows, seed=0)
        return self.collect(nw.from_native(native), "drawing a sample of the rows")

    def write(self, folder: Path) -> None:
        """Write the table as Parquet files to a folder, in the order of its rows if they have one."""
        native: Any = self.frame.to_native()
        master = getattr(getattr(getattr(native, "sparkSession", None), "sparkContext", None), "master", "")
        if self.engine != "pyspark":
            ask(self.engine, lambda: self.frame.sink_parquet(folder / "rows.parquet"), "reading the rows")
        elif master.startswith("local"):  # Spark writes where files are read
            ask(self.engine, lambda: native.write.parquet((folder / "rows").as_uri()), "reading the rows")
        else:
            ask(self.engine, lambda: _write_rows(native, folder / "rows.parquet"), "reading the rows")


def _plain_in_spark(native: Any) -> Any:
    """Times without a time zone, and durations as seconds."""
    how = []
    for name, kind in native.dtypes:
        if kind == "timestamp":
            how.append(f"CAST({name} AS TIMESTAMP_NTZ) AS {name}")
        elif kind.startswith("interval") and not ("month" in kind or "year" in kind):
            how.append(f"unix_micros(TIMESTAMP'1970-01-01 00:00:00Z' + {name}) / 1e6D AS {name}")
        else:
            how.append(name)
    return native.selectExpr(*how)


def _write_rows(native: Any, path: Path) -> None:
    """Write the rows of a cluster, partition by partition: all at once might be more than the driver may collect."""
    from itertools import islice

    import pyarrow as pa
    import pyarrow.parquet as pq

    schema = native.limit(0).toArrow().schema
    rows = iter(native.toLocalIterator(prefetchPartitions=True))
    with pq.ParquetWriter(path, schema) as writer:
        while some := list(islice(rows, 2**16)):
            columns = [pa.array(cells, kind) for cells, kind in zip(zip(*some, strict=True), schema.types, strict=True)]
            writer.write_batch(pa.RecordBatch.from_arrays(columns, schema=schema))


def ask(engine: str, question: Callable[[], Answer], doing: str, hint: str = "") -> Answer:
    """The answer of a library, or an error that says in one sentence why there is none, and how to go on."""
    try:
        with working_on(f"{doing} on Spark" if engine == "pyspark" else doing):
            return in_thread(question) if engine in ("duckdb", "ibis") else question()
    except (KeyboardInterrupt, SystemExit, GeneratorExit, AnalogicalError):
        raise
    except BaseException as error:  # a panic of polars is not an Exception
        if engine == "pyspark" and _is_interrupted(error):
            raise KeyboardInterrupt from None
        kind = SparkError if engine == "pyspark" else InputError
        raise kind(f"{ENGINES.get(engine, engine)} could not finish {doing}: {first_line(error)}{hint}.") from error


def in_thread(question: Callable[[], Answer], seconds: float | None = None) -> Answer:
    """The answer from a thread of its own: in the main thread DuckDB misses about every second Ctrl-C.

    A statement of our own DuckDB is then stopped; one of the user's connection, which is not known here, runs to its
    end in the background. TimeoutError if there is no answer in some seconds.
    """
    future: Future[Answer] = Future()

    def answer() -> None:
        try:
            future.set_result(question())
        except BaseException as error:
            future.set_exception(error)

    Thread(target=answer, daemon=True).start()
    ends = math.inf if seconds is None else time.monotonic() + seconds
    try:
        while not wait([future], 0.1).done:  # a signal that reaches another thread does not end a longer wait
            if time.monotonic() > ends:
                raise TimeoutError
        return future.result()
    except (KeyboardInterrupt, SystemExit):
        for connection in OWN.values():
            connection.interrupt()
        wait([future], 5)
        raise


def _is_interrupted(error: BaseException | None) -> bool:
    """Whether an error came after Ctrl-C: PySpark cancels its jobs, and then says that they failed."""
    while error is not None and not isinstance(error, KeyboardInterrupt):
        error = error.__context__
    return error is not None


def first_line(error: BaseException) -> str:
    """What an error says, in one line, without the stack of Java."""
    text = str(error)
    if "JAVA_GATEWAY_EXITED" in text:
        return (
            "Java 17 or newer did not start; install one, such as Debian's openjdk-17-jre-headless, or set JAVA_HOME"
            " (spark-submit --version may say why)"
        )
    details = re.search(r'details = "(.+?)"\n', text)  # of gRPC
    lines = [details[1]] if details else [line.strip() for line in text.splitlines() if line.strip()]
    lines = [line.lstrip(": ").removeprefix("Caused by: ") for line in lines]
    told = [line for line in lines if re.match(r"[\w.$]*(Error|Exception)\b", line) and "awaitResult" not in line]
    return (told[-1] if told else lines[0] if lines else type(error).__name__)[:300].rstrip(".")


def hold_parquet(file: str) -> Any:
    """Parquet files, a folder of them, or all that match a pattern, in a DuckDB of our own with a limit of memory."""
    duckdb: Any = ask("duckdb", lambda: import_module("duckdb"), "starting", "; pip install 'analogical[cli]'")
    spill = f"{gettempdir()}/analogical-{uuid4().hex}"  # DuckDB makes this folder beyond the limit
    connection = duckdb.connect(config={"memory_limit": "1GiB", "temp_directory": spill})
    connection.execute("SET enable_progress_bar = false")
    is_folder, hint = Path(file).is_dir(), "; give Parquet files, or another --engine"
    pattern = f"{file}/**/*.parquet" if is_folder else file
    read = partial(connection.read_parquet, pattern, hive_partitioning=is_folder)
    relation = ask("duckdb", read, f"reading {file!r} as Parquet", hint)
    OWN[relation] = connection
    finalize(relation, rmtree, spill, ignore_errors=True)
    return relation
