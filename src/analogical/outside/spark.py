"""Spark for the command line: a session on a master that answers, and a table there."""

import atexit
import os
import re
import socket
import subprocess
import threading
import time
import warnings
from contextlib import suppress
from importlib import import_module
from typing import TYPE_CHECKING, Any
from urllib.parse import urlsplit

from analogical.errors import InputError, SparkError
from analogical.outside.lazy import ask, first_line, in_thread

if TYPE_CHECKING:
    from pyspark.sql import DataFrame, SparkSession

__all__ = ["open_session", "read_parquet"]

SECONDS = 5
"""Time for all hosts of a master together to accept a connection and answer anything at all. A session may take three
times as long, or as long as Java took to start here; Spark itself tries for minutes."""


def open_session(master: str) -> "SparkSession":
    """A session on a master: local[2], spark://host:7077, yarn, or sc://host:15002 for Spark Connect.

    An active session is used if it is there. No Python runs on the executors. A master that does not answer is a
    SparkError.

    Parameters
    ----------
    master : str
        Where Spark runs.

    Examples
    --------
    >>> from analogical.outside.spark import open_session
    >>> session = open_session("local[2]")             # doctest: +SKIP
    """
    if not re.fullmatch(r"local(\[(\*|\d+)(,\s*\d+)?\])?|spark://.+|yarn|k8s://.+|sc://.+", master):
        raise InputError(
            "master must be local, local[2], spark://host:7077, yarn, k8s://host:443 or sc://host:15002,"
            f" got {master!r}."
        )
    _check_reached(master)
    # PySpark 4.3 warns at every call that pandas 3 is untested; what is used of it here is tested.
    warnings.filterwarnings("ignore", "PySpark does not yet fully support pandas", FutureWarning)
    ask("pyspark", lambda: import_module("pyspark"), "starting", "; pip install 'analogical[spark]'")
    if master == "yarn" and not (os.environ.get("HADOOP_CONF_DIR") or os.environ.get("YARN_CONF_DIR")):
        raise SparkError(
            "The master yarn needs HADOOP_CONF_DIR or YARN_CONF_DIR, the folder that says where YARN runs."
        )
    try:
        return _connect(master) if master.startswith("sc://") else _start(master)
    except TimeoutError:
        raise SparkError(f"What listens at {master!r} did not answer as Spark in time; give another master.") from None
    except Exception as error:
        raise SparkError(f"No Spark session on {master!r}: {first_line(error)}.") from error


def _connect(master: str) -> "SparkSession":
    """A session of Spark Connect, stopped with this process: servers would keep it for an hour."""
    from pyspark.sql import SparkSession

    def connect() -> "SparkSession":
        session = SparkSession.builder.remote(master).getOrCreate()
        _ = session.version  # asks the server
        return session

    session = in_thread(connect, 2 * SECONDS)
    atexit.register(session.stop)
    return session


def _start(master: str) -> "SparkSession":
    """A session of the Java process that PySpark starts, which ends here if there is no session in time.

    PySpark would leave it running, forever if it is interrupted while Java starts.
    """
    from pyspark import SparkContext, java_gateway
    from pyspark.sql import SparkSession

    settings: dict[str, Any] = {"spark.ui.showConsoleProgress": "false"}
    if master.startswith("local"):  # only this machine takes part
        address = "127.0.0.1"
        settings |= {"spark.driver.bindAddress": address, "spark.driver.host": address, "spark.ui.enabled": "false"}
    began, started, timer = time.monotonic(), list[Any](), None

    def start(*arguments: Any, **options: Any) -> Any:
        started.append(subprocess.Popen(*arguments, **options))  # noqa: S603 (PySpark's own command)
        return started[-1]

    java_gateway.Popen = start  # type: ignore[attr-defined,assignment]
    try:
        SparkContext._ensure_initialized()
        if started and master.startswith("spark://"):
            timer = threading.Timer(3 * max(SECONDS, time.monotonic() - began), started[0].terminate)
            timer.start()
        return SparkSession.builder.appName("analogical").master(master).config(map=settings).getOrCreate()
    except BaseException:
        for process in started:
            process.terminate()
            SparkContext._gateway = SparkContext._jvm = None  # of the process that has ended
        if timer is not None and not timer.is_alive():
            raise TimeoutError from None
        raise
    finally:
        java_gateway.Popen = subprocess.Popen  # type: ignore[attr-defined]
        if timer is not None:
            timer.cancel()


def _check_reached(master: str) -> None:
    """Refuse a master of which no host accepts a connection and answers, if only by closing it."""
    kind, _, hosts = master.partition("://")
    default_port = {"spark": 7077, "sc": 15002, "k8s": 443}.get(kind)
    if default_port is None:
        return
    reasons = []
    several = hosts.removeprefix("https://").removeprefix("http://").partition("/")[0].split(",")
    for host in several:
        try:
            place = urlsplit(f"//{host}")
            address = place.hostname or "", place.port or default_port
            with socket.create_connection(address, SECONDS / len(several)) as connection, suppress(ConnectionError):
                connection.sendall(b"GET /version HTTP/1.0\r\n\r\n")
                if connection.recv(5) == b"HTTP/" and kind == "spark":
                    raise ValueError("a web server answers there")
            return
        except (OSError, ValueError) as error:
            reasons.append(str(error))
    raise SparkError(
        f"Nothing answers at {master!r} ({'; '.join(reasons)}); start Spark there, or give another master."
    )


def read_parquet(session: "SparkSession", path: str) -> "DataFrame":
    """The table in Parquet files at a path that the cluster sees: a file, a folder or a pattern."""
    hint = "; give Parquet files at a path that all its workers see"
    return ask("pyspark", lambda: session.read.parquet(path), f"reading {path!r}", hint)
