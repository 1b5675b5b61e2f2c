"""Spark for the command line: a session on a master that answers, and a table there."""

import atexit
import os
import re
import shutil
import socket
import struct
import subprocess
import threading
import time
import warnings
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import TYPE_CHECKING, Any
from urllib.parse import urlsplit

from analogical.errors import InputError, MissingDependencyError, SparkError
from analogical.outside.lazy import first_line

if TYPE_CHECKING:
    from pyspark.sql import DataFrame, SparkSession

__all__ = ["open_session", "read_parquet"]

OLDEST_JAVA = 17
MASTERS = r"local(\[(\*|\d+)(,\s*\d+)?\])?|spark://.+|yarn|k8s://.+|sc://.+"
PORTS = {"spark": 7077, "sc": 15002, "k8s": 443}
"""Default ports of masters and servers."""
NO_FILE = b"/files/none"
GREETINGS = {
    "spark": struct.pack(">QBI", 13 + len(NO_FILE), 6, len(NO_FILE)) + NO_FILE,
    "k8s": b"GET /version HTTP/1.0\r\n\r\n",
}
"""Requests that every such server answers, if only by an error: Spark's request for a file (length, type and name), and
HTTP, to which HTTPS servers also reply."""
SECONDS = 5
"""Time for all hosts of a master together to accept a connection, and again for their first answer."""
ANSWER_SECONDS = 8
"""Time for a master to register this process once Java has started here; on a busy machine twice as long as the start
took. Spark itself tries for more than a minute."""


def check_spark() -> None:
    """Refuse to go on without PySpark 4."""
    # PySpark 4.3 warns at every call that pandas 3 is untested; what is used of it here is tested.
    warnings.filterwarnings("ignore", "PySpark does not yet fully support pandas", FutureWarning)
    try:
        import pyspark
    except ModuleNotFoundError:
        raise MissingDependencyError(
            "Counting on Spark needs PySpark 4: pip install 'analogical[spark]', and Java 17 or newer."
        ) from None
    if int(pyspark.__version__.split(".")[0]) < 4:
        raise MissingDependencyError(
            f"Counting on Spark needs PySpark 4, and {pyspark.__version__} is installed:"
            " pip install --upgrade 'pyspark>=4'"
        )


def check_java() -> None:
    """Refuse to go on without a Java that Spark 4 runs on, with a sentence on how to get one."""
    home = os.environ.get("JAVA_HOME")
    program = str(Path(home) / "bin" / "java") if home else shutil.which("java")
    how = "install one, such as Debian's openjdk-17-jre-headless, or set JAVA_HOME"
    where = f"JAVA_HOME ({home})" if home else "PATH"
    try:
        if program is None:
            raise FileNotFoundError
        done = subprocess.run([program, "-version"], capture_output=True, text=True, check=False)  # noqa: S603
    except OSError:
        raise MissingDependencyError(
            f"Spark needs Java {OLDEST_JAVA} or newer; none was found on {where}: {how}."
        ) from None
    found = re.search(r'version "(?:1\.)?(\d+)', done.stderr + done.stdout)
    if found is None or int(found[1]) < OLDEST_JAVA:
        version = found[1] if found else (done.stderr.strip().splitlines() or ["an unknown version"])[0]
        raise MissingDependencyError(f"Spark needs Java {OLDEST_JAVA} or newer; {where} has {version}: {how}.")


def open_session(master: str) -> "SparkSession":
    """A session on a master: local[2], spark://host:7077, yarn, or sc://host:15002 for Spark Connect.

    An active session is used if it is there. No Python runs on the executors.

    Parameters
    ----------
    master : str
        Where Spark runs.

    Returns
    -------
    pyspark.sql.SparkSession

    Raises
    ------
    InputError
        If this is not a master.
    MissingDependencyError
        If PySpark 4 or Java 17 is missing; the message says how to get it.
    SparkError
        If Spark does not answer.

    Examples
    --------
    >>> from analogical.outside.spark import open_session
    >>> session = open_session("local[2]")             # doctest: +SKIP
    """
    if not re.fullmatch(MASTERS, master):
        raise InputError(
            "master must be local, local[2], spark://host:7077, yarn, k8s://host:443 or sc://host:15002,"
            f" got {master!r}."
        )
    _check_reached(master)
    check_spark()
    if master.startswith("sc://"):
        return _connect(master)
    check_java()
    if master == "yarn" and not (os.environ.get("HADOOP_CONF_DIR") or os.environ.get("YARN_CONF_DIR")):
        raise SparkError(
            "The master yarn needs HADOOP_CONF_DIR or YARN_CONF_DIR, the folder that says where YARN runs."
        )
    from pyspark.sql import SparkSession

    settings = {"spark.ui.showConsoleProgress": "false"}
    if master.startswith("local"):  # only this machine takes part
        address = "127.0.0.1"
        settings |= {"spark.driver.bindAddress": address, "spark.driver.host": address, "spark.ui.enabled": "false"}
    builder = SparkSession.builder.appName("analogical").master(master)
    for name, value in settings.items():
        builder = builder.config(name, value)
    try:
        with java_ends_without_session(master):
            return builder.getOrCreate()
    except SparkError:
        raise
    except Exception as error:
        raise SparkError(f"No Spark session on {master!r}: {first_line(error)}.") from error


def _connect(master: str) -> "SparkSession":
    """A session of Spark Connect, stopped with this process: servers would keep it for an hour."""
    from pyspark.sql import SparkSession

    try:
        import grpc  # type: ignore[import-untyped]
        from pyspark.sql.connect.client import DefaultChannelBuilder

        channel = DefaultChannelBuilder(master).toChannel()
        try:
            grpc.channel_ready_future(channel).result(SECONDS)
        except grpc.FutureTimeoutError:
            raise SparkError(
                f"No server of Spark Connect answers at {master!r}; start one there, or give another address."
            ) from None
        finally:
            channel.close()
        session = SparkSession.builder.remote(master).getOrCreate()
        _ = session.version  # asks the server
    except SparkError:
        raise
    except Exception as error:
        raise SparkError(f"No Spark session on {master!r}: {first_line(error)}.") from error
    atexit.register(session.stop)
    return session


@contextmanager
def java_ends_without_session(master: str) -> Iterator[None]:
    """End the Java process that was started for a session if that fails, is interrupted, or gets no answer in time.

    PySpark leaves it running, forever if it is interrupted while Java starts.
    """
    from pyspark import SparkContext, java_gateway

    started: list[Any] = []
    is_late = threading.Event()

    def start(*arguments: Any, **options: Any) -> Any:
        started.append(subprocess.Popen(*arguments, **options))  # noqa: S603 (PySpark's own command)
        return started[-1]

    def end() -> None:
        is_late.set()
        SparkContext._gateway.proc.terminate()  # type: ignore[union-attr]

    timer = None
    try:
        java_gateway.Popen = start  # type: ignore[attr-defined,assignment]
        if master.startswith("spark://"):
            began = time.monotonic()
            SparkContext._ensure_initialized()
            seconds = max(ANSWER_SECONDS, 2 * (time.monotonic() - began))
            timer = threading.Timer(seconds, end)
            timer.start()
        yield
    except BaseException:
        for process in started:
            process.terminate()
        if started or is_late.is_set():
            SparkContext._gateway = SparkContext._jvm = None  # of the process that has ended
        if is_late.is_set():
            raise SparkError(
                f"What listens at {master!r} did not answer as a Spark master in {seconds:.0f} s; give the address"
                " that the master's page shows."
            ) from None
        raise
    finally:
        java_gateway.Popen = subprocess.Popen  # type: ignore[attr-defined]
        if timer is not None:
            timer.cancel()
            timer.join()


def _check_reached(master: str) -> None:
    """Refuse a master that does not accept a connection, or does not answer."""
    kind, _, hosts = master.partition("://")
    if kind not in PORTS:
        return
    reasons = []
    several = hosts.removeprefix("https://").removeprefix("http://").partition("/")[0].split(",")
    for host in several:
        try:
            place = urlsplit(f"//{host}")
            address = place.hostname or "", place.port or PORTS[kind]
            with socket.create_connection(address, SECONDS / len(several)) as connection:
                if kind in GREETINGS:
                    _greet(connection, kind)
        except (OSError, ValueError) as error:
            reasons.append(str(error))
        else:
            return
    reason = "; ".join(dict.fromkeys(reasons))
    raise SparkError(f"Nothing answers at {master!r} ({reason}); start Spark there, or give another master.")


def _greet(connection: socket.socket, kind: str) -> None:
    """Wait for the first answer; a server that closes the connection may want a secret or encryption."""
    connection.sendall(GREETINGS[kind])
    with suppress(ConnectionError):
        if connection.recv(5) == b"HTTP/" and kind == "spark":
            raise ValueError("a web server answers there")


def read_parquet(session: "SparkSession", path: str) -> "DataFrame":
    """The table in Parquet files at a path that the cluster sees: a file, a folder or a pattern."""
    try:
        return session.read.parquet(path)
    except Exception as error:
        if "PATH_NOT_FOUND" in str(error):
            raise InputError(
                f"Spark finds nothing at {path!r}; give a Parquet path that all its workers see."
            ) from None
        raise InputError(
            f"Spark cannot read {path!r} as Parquet ({first_line(error)}); write it as Parquet, or use another engine."
        ) from None
