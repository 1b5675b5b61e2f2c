"""A real Spark cluster on the loopback address: one master and two workers, each a process of its own."""

import os
import re
import socket
import subprocess
import sys
import time
import urllib.request
from contextlib import suppress
from pathlib import Path

HOST = "127.0.0.1"


def free_port():
    with socket.socket() as found:
        found.bind((HOST, 0))
        return found.getsockname()[1]


def environment():
    """Executors run this interpreter, and everything binds to the loopback address."""
    return os.environ | {
        "SPARK_LOCAL_IP": HOST,
        "SPARK_LOCAL_HOSTNAME": HOST,
        "PYSPARK_PYTHON": sys.executable,
        "SPARK_NO_DAEMONIZE": "1",
        "SPARK_DAEMON_MEMORY": "256m",
        "SPARK_DAEMON_JAVA_OPTS": "-XX:TieredStopAtLevel=1 -XX:+UseSerialGC",
    }


def running():
    """For each process its parent and its command."""
    found = {}
    for folder in Path("/proc").glob("[0-9]*"):
        with suppress(OSError):
            parent = int((folder / "stat").read_text().rsplit(")", 1)[1].split()[1])
            found[int(folder.name)] = parent, (folder / "cmdline").read_bytes()
    return found


class Cluster:
    """A standalone cluster, started from the files of the PyPI package."""

    def __init__(self, folder, n_workers=2, memory="1g"):
        import pyspark

        self.folder, self.memory = Path(folder), memory
        self.program = Path(pyspark.__file__).parent / "bin" / "spark-class"
        self.port, self.page = free_port(), free_port()
        self.url = f"spark://{HOST}:{self.port}"
        self.processes = {}
        try:
            self._start(
                "master",
                "org.apache.spark.deploy.master.Master",
                *("--host", HOST, "--port", str(self.port), "--webui-port", str(self.page)),
            )
            self._wait(lambda: self._alive() is not None, "the master")
            for number in range(n_workers):
                self.add_worker(f"worker-{number}")
            self.wait_for_workers(n_workers)
        except BaseException:
            self.stop()
            raise

    def add_worker(self, name):
        folder = self.folder / name
        self._start(
            name,
            "org.apache.spark.deploy.worker.Worker",
            *("--host", HOST, "--cores", "1", "--memory", self.memory, "--work-dir", str(folder)),
            *("--webui-port", str(free_port()), self.url),
        )

    def wait_for_workers(self, number):
        self._wait(lambda: (self._alive() or 0) >= number, f"{number} workers")

    def _start(self, name, kind, *arguments):
        self.folder.mkdir(parents=True, exist_ok=True)
        options = "-Dspark.master.rest.enabled=false"
        with (self.folder / f"{name}.log").open("wb") as log:
            self.processes[name] = subprocess.Popen(
                [str(self.program), kind, *arguments],
                env=environment() | {"SPARK_MASTER_OPTS": options},
                stdout=log,
                stderr=subprocess.STDOUT,
                start_new_session=True,
            )

    def _alive(self):
        """Workers that the master knows of; None while it does not answer."""
        with suppress(OSError), urllib.request.urlopen(f"http://{HOST}:{self.page}/json/", timeout=2) as page:
            return int(re.search(rb'"aliveworkers"\s*:\s*(\d+)', page.read())[1])
        return None

    def _wait(self, is_ready, what, seconds=120):
        ends = time.monotonic() + seconds
        while not is_ready():
            if time.monotonic() > ends:
                raise TimeoutError(f"{what} did not start in {seconds} s; see {self.folder}")
            time.sleep(0.2)

    def executors(self):
        """Ids of the processes that run tasks, by the worker that they belong to."""
        owners = {process.pid: name for name, process in self.processes.items()}
        return {
            pid: owners[parent]
            for pid, (parent, line) in running().items()
            if b"CoarseGrainedExecutorBackend" in line and parent in owners
        }

    def python_workers(self):
        """Ids of the Python processes that work for executors: children of the daemons of these."""
        processes, executors = running(), self.executors()
        daemons = {pid for pid, (parent, line) in processes.items() if parent in executors and b"pyspark" in line}
        return [pid for pid, (parent, _) in processes.items() if parent in daemons]

    def kill_worker(self, name):
        """Lose a worker and its executors, as when a machine fails."""
        for pid, owner in self.executors().items():
            if owner == name:
                with suppress(ProcessLookupError):
                    os.kill(pid, 9)
        self.processes[name].kill()
        self.processes.pop(name).wait()

    def stop(self):
        for process in reversed(self.processes.values()):
            process.terminate()
        for process in self.processes.values():
            try:
                process.wait(10)
            except subprocess.TimeoutExpired:
                process.kill()
                process.wait()
        self.processes = {}
