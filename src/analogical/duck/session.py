"""A DuckDB of our own: in memory up to a limit, beyond it in a temporary folder."""

from collections.abc import Callable
from concurrent.futures import Future, wait
from itertools import count
from pathlib import Path
from shutil import rmtree
from tempfile import mkdtemp
from threading import Thread
from time import monotonic
from typing import TYPE_CHECKING, Any, TypeVar
from weakref import finalize

from analogical._progress import working_on
from analogical.errors import InputError, MissingDependencyError

if TYPE_CHECKING:
    from duckdb import DuckDBPyConnection

__all__ = ["Session", "ask"]

Answer = TypeVar("Answer")

MEMORY = 2**30
"""Bytes that DuckDB may take at first; what does not fit goes to the temporary folder."""
QUIET = "SET enable_progress_bar = false"
"""Setting of every connection: the bar would be written among the results."""
PATIENCE = 1.5
"""Seconds in which an interrupted statement has to end."""


class Session:
    """A connection with a memory limit; closed, and its folder removed, when nothing refers to it any more."""

    def __init__(self, memory: int = MEMORY) -> None:
        try:
            import duckdb
        except ModuleNotFoundError:
            raise MissingDependencyError("The engine duckdb needs DuckDB 2: pip install 'analogical[cli]'") from None
        self._numbers = count()
        self.folder = mkdtemp(prefix="analogical-")
        finalize(self, rmtree, self.folder, ignore_errors=True)
        self.connection: DuckDBPyConnection = duckdb.connect(
            config={"memory_limit": f"{memory}B", "temp_directory": self.folder}
        )
        self.connection.execute(QUIET)
        finalize(self, self.connection.close)  # finalizers run in reverse order: before the folder is removed

    def cursor(self) -> "DuckDBPyConnection":
        """A further connection to the same tables."""
        cursor = self.connection.cursor()
        cursor.execute(QUIET)
        return cursor

    def make_room(self, n_bytes: int) -> None:
        """Raise the memory limit for a table of this size, up to half of what is free: the folder is slower."""
        most = max(MEMORY, (free_memory() or 0) // 2)
        self.run(f"SET memory_limit = '{max(MEMORY, min(most, n_bytes * 5 // 4))}B'", "asking for memory")

    def run(self, query: str, doing: str) -> None:
        """Run a statement that has no result."""
        ask(self.connection, lambda: self.connection.execute(query).fetchall(), doing)

    def one(self, query: str, doing: str) -> Any:
        """The only cell of a result."""
        return ask(self.connection, lambda: self.connection.sql(query).fetchall()[0][0], doing)

    def arrow(self, query: str, doing: str, **tables: Any) -> Any:
        """A result as an Arrow table; the query may read Arrow tables by their names."""
        for name, table in tables.items():
            self.connection.register(name, table)
        try:
            return ask(self.connection, lambda: self.connection.sql(query).to_arrow_table(), doing)
        finally:
            for name in tables:
                self.connection.unregister(name)

    def new_name(self, what: str) -> str:
        """A new name."""
        return f"{what}_{next(self._numbers)}"

    def enum_type(self, texts: Any) -> str:
        """The name of a new ENUM type with these texts, in their order."""
        import pyarrow as pa

        name = self.new_name("texts")
        self.connection.register("texts", pa.table({"text": texts}))
        self.run(f"CREATE TYPE {name} AS ENUM (SELECT text FROM texts)", "looking at texts")  # noqa: S608
        self.connection.unregister("texts")
        return name


def free_memory() -> int | None:
    """Bytes of memory available without swapping; None if the system does not say."""
    try:
        lines = Path("/proc/meminfo").read_text(encoding="ascii").splitlines()
        return next(1024 * int(line.split()[1]) for line in lines if line.startswith("MemAvailable:"))
    except (OSError, StopIteration, ValueError):
        return None


def ask(connection: "DuckDBPyConnection | None", question: Callable[[], Answer], doing: str) -> Answer:
    """The answer of DuckDB, or an error that says in one sentence why there is none.

    ``connection`` is where it is asked; None for a relation of the user's, which does not tell its connection.
    """
    import duckdb

    try:
        with working_on(doing):
            return _in_thread(connection or duckdb.default_connection(), question)
    except duckdb.Error as error:
        reason = str(error).partition("\n")[0].rstrip(".")
        advice = _advice(error, is_own=connection is not None)
        raise InputError(f"DuckDB could not finish {doing} ({reason}). {advice}") from error


def _in_thread(connection: "DuckDBPyConnection", question: Callable[[], Answer]) -> Answer:
    """The answer from a thread of its own: in the main thread DuckDB misses about every second Ctrl-C.

    After a signal the statement is interrupted. One on a connection that is not known runs to its end in the
    background, so that at least the caller goes on.
    """
    future: Future[Answer] = Future()
    Thread(target=_answer, args=(future, question), daemon=True).start()
    try:
        return future.result()
    except BaseException:
        last = monotonic() + PATIENCE
        while not future.done() and monotonic() < last:
            connection.interrupt()  # more than once: the statement may begin only now
            wait([future], 0.1)
        raise
    finally:
        del future  # which holds the error, and the error this frame: the session would outlive both


def _answer(future: Future[Answer], question: Callable[[], Answer]) -> None:
    try:
        future.set_result(question())
    except BaseException as error:
        future.set_exception(error)
    finally:
        del future


def _advice(error: Exception, *, is_own: bool) -> str:
    """How to go on after an error."""
    import duckdb

    if not is_own:
        return "Check the query of the relation."
    if isinstance(error, duckdb.OutOfMemoryException):
        return "Leave out columns with --ignore, or set TMPDIR to a folder with more free space."
    return "Check the file, or use --engine memory."
