"""Tables and files of awkward shapes, each asked one question in a process of its own, with its time and memory.

    python tests/fuzz/shapes.py NAME SIZE    # prints what one shape took, as JSON; SIZE 1 is the shape at its full size

Every question must be answered within 30 s of the processor and 2 GB, or refused in one sentence within 5 s.
"""

import gzip
import json
import subprocess
import sys
import tempfile
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np

MAX_SECONDS, MAX_SECONDS_OF_REFUSAL = 30, 5
"""Time of the processor that an answer and a refusal may take."""
MAX_MEGABYTES = 2_048

Question = Callable[[], Any]
"""What is measured; the table was made before."""


def _ask(verb: str, X: Any, y: Any, *asked: Any, **options: Any) -> Question:
    import analogical

    def ask() -> str:
        result = getattr(analogical, verb)(X, y, *asked, **options)
        return str(result.html) if verb == "report" else repr(result)

    return ask


def _rows(n_rows: int, n_features: int, n_values: int) -> Any:
    return np.random.default_rng(0).integers(0, n_values, (max(n_rows, 4), max(n_features, 2)))


def _labels(n_rows: int, n_classes: int) -> Any:
    return np.char.add("class ", np.random.default_rng(1).integers(0, max(n_classes, 2), max(n_rows, 4)).astype(str))


def _copies(verb: str, n_rows: int, n_copies: int) -> Question:
    column = np.arange(max(n_rows, 3)) % 2
    return _ask(verb, np.tile(column[:, None], max(n_copies, 2)), np.arange(len(column)) // 2 % 2)


def _classes(verb: str, n_rows: int, n_features: int, n_classes: int, *asked: Any) -> Question:
    return _ask(verb, _rows(n_rows, n_features, 4), _labels(n_rows, n_classes), *asked)


def _values(verb: str, n_rows: int, n_values: int, *asked: Any) -> Question:
    return _ask(verb, _rows(n_rows, 2, max(n_values, 2)), _labels(n_rows, 2), *asked, ids="keep", max_values=None)


def _redundancies(n_rows: int, n_features: int) -> Question:
    import analogical

    X = _rows(n_rows, n_features, 30)
    return lambda: repr(analogical.redundancies(X))


def _file(blocks: Callable[[], Any], name: str) -> Question:
    """Score a text file, which is written before."""
    path = Path(tempfile.mkdtemp()) / name
    with gzip.open(path, "wb", 1) if path.suffix == ".gz" else path.open("wb") as file:
        file.writelines(blocks())
    from analogical import relevance
    from analogical.io.files import open_file

    def read() -> str:
        frame = open_file(str(path)).frame
        return repr(relevance(frame, frame.collect_schema().names()[-1]))

    return read


def _long_line(n_megabytes: float) -> Question:
    return _file(lambda: [b"a,b,y\n1,2,0\n", *[b"x" * 10**6] * int(n_megabytes), b",2,1\n"], "line.csv.gz")


def _many_rows(n_rows: float) -> Question:
    return _file(lambda: [b"a,b,y\n", *[b"1,2,0\n2,1,1\n2,2,0\n1,1,1\n" * 1000] * int(n_rows / 4000)], "rows.csv.gz")


def _commas(n_columns: int) -> Question:
    return _file(lambda: [b"," * n_columns + b"\n", b"," * n_columns + b"\n"], "commas.csv")


def _unnamed(n_columns: int) -> Question:
    rows = [b"0,1," * (n_columns // 2) + b"0\n", b"1,0," * (n_columns // 2) + b"1\n"] * 2
    return _file(lambda: [b"," * (n_columns // 2 * 2) + b"\n", *rows], "unnamed.csv")


SHAPES: dict[str, Callable[[float], Question]] = {
    "relevance, 3 x 50,000 copies": lambda size: _copies("relevance", 3, int(50_000 * size)),
    "relevance, 100 x 3,000 copies": lambda size: _copies("relevance", 100, int(3_000 * size)),
    "select, 100 x 3,000 copies": lambda size: _copies("select", 100, int(3_000 * size)),
    "interactions, 5,000 x 2, 800 classes": lambda size: _classes(
        "interactions", int(5_000 * size), 2, int(800 * size)
    ),
    "interactions, 10,000 x 4, 300 classes": lambda size: _classes(
        "interactions", int(10_000 * size), 4, int(300 * size)
    ),
    "report, 20,000 x 5, 1,000 classes": lambda size: _classes("report", int(20_000 * size), 5, int(1_000 * size)),
    "relevance, 20,000 x 5, 4,000 classes": lambda size: _classes(
        "relevance", int(20_000 * size), 5, int(4_000 * size)
    ),
    "interactions, 20,000 x 2, 300 values": lambda size: _values("interactions", int(20_000 * size), int(300 * size)),
    "relevance, 200,000 x 2, 100,000 values": lambda size: _values(
        "relevance", int(200_000 * size), int(100_000 * size)
    ),
    "interactions, 200,000 x 2, 100,000 values": lambda size: _values(
        "interactions", int(200_000 * size), int(100_000 * size)
    ),
    "audit, 200,000 x 2, 100,000 values": lambda size: _values("audit", int(200_000 * size), int(100_000 * size), 0),
    "redundancies, 20,000 x 400, 30 values": lambda size: _redundancies(int(20_000 * size), int(400 * size)),
    "file, 1,000,000 empty columns": lambda size: _commas(int(1_000_000 * size)),
    "file, 50,000 unnamed columns": lambda size: _unnamed(int(50_000 * size)),
    "gzip, a line of 500 MB": lambda size: _long_line(500 * size),
    "gzip, a line of 2 GB": lambda size: _long_line(2_000 * size),
    "gzip, 48,000,000 rows": lambda size: _many_rows(48_000_000 * size),
}


def measure(name: str, size: float) -> dict[str, Any]:
    """What a shape took in a process of its own: seconds of the processor, peak memory, and how it ended."""
    done = subprocess.run(
        [sys.executable, __file__, name, str(size)], capture_output=True, text=True, timeout=600, check=False
    )
    if done.returncode:
        return {"name": name, "failed": (done.stderr.strip().splitlines() or [f"exit {done.returncode}"])[-1]}
    found: dict[str, Any] = {"name": name, **json.loads(done.stdout)}
    return found


def is_within_limits(found: dict[str, Any]) -> bool:
    """Whether a shape was answered or refused in time and memory."""
    if "failed" in found:
        return False
    limit = MAX_SECONDS if found["refused"] is None else MAX_SECONDS_OF_REFUSAL
    return bool(found["seconds"] <= limit and found["megabytes"] <= MAX_MEGABYTES)


def main() -> None:
    """Ask the question of one shape, and print what it took."""
    import resource  # only Unix has it

    from analogical.errors import AnalogicalError

    name, size = sys.argv[1:]
    folder = tempfile.TemporaryDirectory()
    tempfile.tempdir = folder.name
    question = SHAPES[name](float(size))

    def used() -> float:
        usage = resource.getrusage(resource.RUSAGE_SELF)
        return usage.ru_utime + usage.ru_stime

    began, refused = used(), None
    try:
        question()
    except AnalogicalError as error:
        refused = str(error)
    # not ru_maxrss, which begins with that of the process that started this one
    status = dict(line.split(":", 1) for line in Path("/proc/self/status").read_text(encoding="utf-8").splitlines())
    peak = int(status["VmHWM"].split()[0]) / 1024
    folder.cleanup()
    sys.stdout.write(json.dumps({"seconds": used() - began, "megabytes": peak, "refused": refused}))


if __name__ == "__main__":
    main()
