"""Parquet files in a DuckDB of our own, for the command line: with a memory limit, beyond it in a temporary folder."""

from pathlib import Path
from shutil import rmtree
from tempfile import mkdtemp
from typing import TYPE_CHECKING
from weakref import finalize

from analogical.errors import InputError, MissingDependencyError
from analogical.outside.lazy import first_line

if TYPE_CHECKING:
    from duckdb import DuckDBPyRelation

__all__ = ["hold_parquet"]


def hold_parquet(file: str) -> "DuckDBPyRelation":
    """The table in a Parquet file, in a folder of them, or in all that match a pattern, in the order of their names.

    The folder is removed when nothing refers to the table any more, or with the process.
    """
    try:
        import duckdb
    except ModuleNotFoundError:
        raise MissingDependencyError("The engine duckdb needs DuckDB 2: pip install 'analogical[cli]'") from None
    path = Path(file)
    pattern = f"{file}/**/*.parquet" if path.is_dir() else file
    folder = mkdtemp(prefix="analogical-")
    connection = duckdb.connect(config={"memory_limit": "1GiB", "temp_directory": folder})
    connection.execute("SET enable_progress_bar = false")
    try:
        relation = connection.read_parquet(pattern, hive_partitioning=path.is_dir())
    except duckdb.Error as error:
        rmtree(folder, ignore_errors=True)
        raise InputError(
            f"DuckDB cannot read {file!r} as Parquet ({first_line(error)}); give Parquet files, or another --engine."
        ) from None
    finalize(relation, rmtree, folder, ignore_errors=True)
    return relation
