"""Damaged files and odd tables: a result, or one sentence; never a traceback, a hang or much memory."""

import json
import os
import select
import signal
import subprocess
import sys
import tempfile
from pathlib import Path

import pytest
from fuzz.files import damaged_file
from fuzz.frames import KEPT
from fuzz.keeping import CASES
from fuzz.running import batches, check_message, name_batch, refusal, run_batch, seed

pytestmark = pytest.mark.skipif(sys.platform != "linux", reason="the worker bounds its memory as Linux does")

TESTS = Path(__file__).parents[1]
MAX_WAIT = 120
"""Seconds after which a worker that uses no time of the processor either is taken to hang."""
COMMANDS = (
    ["score"],
    ["score", "--json"],
    ["score", "--csv", "--given", "all"],
    ["score", "--no-header"],
    ["redundancies"],
    ["select", "--k", "2"],
    ["interactions", "--json"],
    ["evidence", "--feature", "f0"],
    ["audit", "--feature", "f0"],
    ["score", "--label", "label", "--missing", "drop"],
    ["score", "--engine", "duckdb"],
    ["select", "--k", "2", "--engine", "duckdb"],
)
LEFT = Path(tempfile.gettempdir()) / "analogical-fuzz"
"""Where files that failed are left, to be looked at and kept as cases."""


class Worker:
    """A process that answers one request after another, and a new one after a crash."""

    def __init__(self, way):
        self.way = way
        self.process = None

    def start(self):
        environment = {
            **os.environ,
            "PYTHONPATH": os.pathsep.join([str(TESTS), os.environ.get("PYTHONPATH", "")]),
            "POLARS_MAX_THREADS": "1",
            "OMP_NUM_THREADS": "1",
            "OPENBLAS_NUM_THREADS": "1",
            "COLUMNS": "100",
            "RUST_BACKTRACE": "0",
        }
        command = [sys.executable, "-W", "error", str(TESTS / "fuzz" / "worker.py"), self.way]
        pipes = {"stdin": subprocess.PIPE, "stdout": subprocess.PIPE, "stderr": subprocess.PIPE}
        self.process = subprocess.Popen(command, text=True, env=environment, **pipes)

    def ask(self, request):
        """What became of a request; a crash is a failure that says how the process ended."""
        if self.process is None:
            self.start()
        self.process.stdin.write(f"{json.dumps(request)}\n")
        self.process.stdin.flush()
        ready, _, _ = select.select([self.process.stdout], [], [], MAX_WAIT)
        line = self.process.stdout.readline() if ready else ""
        if line:
            return json.loads(line)
        return {"failed": self.stop() if ready else f"no answer within {MAX_WAIT} s; {self.stop()}"}

    def stop(self):
        """End the process, and say how it ended."""
        if self.process is None:
            return ""
        self.process.stdin.close()
        try:
            code = self.process.wait(5)
        except subprocess.TimeoutExpired:
            self.process.kill()
            code = self.process.wait()
        said = self.process.stderr.read()[-1500:]
        self.process.stdout.close()
        self.process.stderr.close()
        self.process = None
        how = f"signal {signal.Signals(-code).name}" if code < 0 else f"exit code {code}"
        if code == -signal.SIGPROF:
            how = "its own clock: it took more time than a request may"
        return f"the worker ended by {how}\n{said}"


@pytest.fixture(scope="module")
def workers():
    """A process that reads files at once, and one that reads them lazily, with more memory."""
    by_way = {way: Worker(way) for way in ("memory", "lazy")}
    yield by_way
    for it in by_way.values():
        it.stop()


@pytest.fixture
def worker(workers):
    return workers["memory"]


def check_outcome(outcome):
    """A result, or one sentence; for the command line with exit code 2."""
    assert "failed" not in outcome, outcome["failed"]
    if "refused" in outcome:
        check_message(outcome["refused"], outcome["refused"].partition("(")[2])
    if "code" in outcome:
        assert outcome["code"] in (0, 2), outcome
        assert "Traceback" not in outcome["err"], outcome["err"]
        lines = outcome["err"].strip().splitlines()
        if outcome["code"] == 2:
            assert len(lines) == 1, f"not one sentence: {outcome['err']!r}"
            assert not outcome["out"], f"refused, and yet it wrote {outcome['out']!r}"
        else:
            assert outcome["out"].strip(), "no result"


def request_for(path, number):
    """Every fourth file goes through the command line, one command after the other."""
    if number % 4:
        return {"what": "library", "path": str(path)}
    command, *options = COMMANDS[number // 4 % len(COMMANDS)]
    return {"what": "cli", "arguments": [command, str(path), *options]}


def describe(number):
    """What was done to the file; a copy of it is left to be looked at."""
    file = damaged_file(seed(), number)
    LEFT.mkdir(exist_ok=True)
    copy = LEFT / f"{seed()}-{number}-{file.name}"
    copy.write_bytes(file.content)
    return f"{' / '.join(file.story)}; {len(file.content):,} bytes in {copy}"


@pytest.mark.parametrize("batch", batches("FUZZ_FILES", 150), ids=name_batch)
def test_damaged_files_give_a_result_or_one_sentence(batch, workers, tmp_path):
    def run(number):
        file = damaged_file(seed(), number)
        path = tmp_path / file.name
        path.write_bytes(file.content)
        request = request_for(path, number)
        check_outcome(workers["lazy" if "duckdb" in request.get("arguments", ()) else "memory"].ask(request))
        path.unlink()

    run_batch(batch, run, "test_files.py -k damaged_files", describe)


@pytest.mark.parametrize("batch", batches("FUZZ_FRAMES", 100), ids=name_batch)
def test_odd_tables_give_a_result_or_one_sentence(batch, worker):
    def run(number):
        outcome = worker.ask({"what": "frame", "seed": [seed(), number]})
        story = outcome.get("story", "")
        assert "failed" not in outcome, f"{story}\n{outcome['failed']}"
        if "refused" in outcome:
            check_message(outcome["refused"], f"{story}{ODD_WORDS}")

    run_batch(batch, run, "test_files.py -k odd_tables", str)


@pytest.mark.parametrize("name", KEPT)
def test_questions_that_found_a_bug(name):
    refusal(KEPT[name]().ask, ODD_WORDS)


ODD_WORDS = "object at 0x NoneType dtype("
"""Words of messages that show a value of the user's own."""


@pytest.mark.parametrize("path", sorted((CASES / "files").glob("*")), ids=lambda path: path.name)
@pytest.mark.parametrize(("what", "way"), [("library", "memory"), ("library", "lazy"), ("cli", "memory")])
def test_files_that_found_a_bug(path, what, way, workers):
    check_outcome(workers[way].ask({"what": what, "path": str(path), "arguments": ["score", str(path)]}))


def test_the_command_itself_refuses_a_damaged_file_in_one_line(run, tmp_path):
    path = tmp_path / "table.parquet"
    path.write_bytes(b"PAR1" + bytes(100))
    code, out, err = run("score", path)
    check_outcome({"code": code, "out": out, "err": err})
    assert code == 2


@pytest.mark.parametrize(
    ("request_", "word"),
    [
        ({"what": "library", "path": 3}, "Traceback"),
        ({"what": "unknown"}, "KeyError"),
        ({"what": "fill", "n_bytes": 2**31}, "bytes were needed"),
        ({"what": "spin", "seconds": 0.1}, "its own clock"),
    ],
)
def test_the_worker_reports_what_goes_wrong(request_, word, worker):
    assert word in worker.ask(request_)["failed"]
