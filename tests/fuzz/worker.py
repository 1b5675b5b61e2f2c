"""A process that reads damaged files and odd tables, one after another, with bounded memory and time.

Each line on stdin is a request as JSON, each line on stdout its outcome. A request that takes too long, or a crash,
ends the process by a signal, and whoever started it knows which request that was.
"""

import json
import os
import signal
import sys
import tempfile
import traceback
from pathlib import Path
from typing import Any

MAX_SECONDS = 10
"""Time of the processor that one request may take."""
MAX_MEMORY = {"memory": 2**31, "lazy": 2**32}
"""Bytes of addresses that requests may need beyond what the libraries take when they are loaded, for files read
at once and lazily; DuckDB reserves more for each thread than it uses."""


def main() -> None:
    """Answer requests until stdin ends."""
    import resource  # only Unix has it, and every module of the tests is imported to look for doctests

    replies = os.fdopen(os.dup(1), "w")
    os.dup2(2, 1)
    _warm_up()
    limit, hard = _virtual_memory() + MAX_MEMORY[sys.argv[1]], resource.getrlimit(resource.RLIMIT_AS)[1]
    resource.setrlimit(resource.RLIMIT_AS, (limit if hard == resource.RLIM_INFINITY else min(limit, hard), hard))
    for line in sys.stdin:
        request = json.loads(line)
        signal.setitimer(signal.ITIMER_PROF, request.get("seconds", MAX_SECONDS))
        try:
            outcome = ANSWERS[request["what"]](request)
        except MemoryError:
            outcome = {"failed": f"more than {MAX_MEMORY[sys.argv[1]]:,} bytes were needed\n{traceback.format_exc()}"}
        except BaseException:  # a panic of a library is no Exception
            outcome = {"failed": traceback.format_exc()}
        signal.setitimer(signal.ITIMER_PROF, 0)
        replies.write(f"{json.dumps(outcome)}\n")
        replies.flush()


def _warm_up() -> None:
    """Load every library once, so that their memory is not counted."""
    import fastexcel  # noqa: F401
    import fuzz.frames  # noqa: F401
    import polars as pl

    from analogical import cli, relevance  # noqa: F401
    from analogical.cli import verbs  # noqa: F401

    frame = pl.DataFrame({"a": [0, 1, 0, 1], "b": ["x", "y", "y", "x"], "c": [0, 1, 1, 0]})
    repr(relevance(frame, "c"))


def _virtual_memory() -> int:
    pages = int(Path("/proc/self/statm").read_text().split()[0])
    return pages * os.sysconf("SC_PAGE_SIZE")


def _answer_library(request: dict[str, Any]) -> dict[str, Any]:
    """Read a file and score its last column."""
    from analogical import relevance
    from analogical.errors import AnalogicalError
    from analogical.io.files import open_file

    try:
        frame = open_file(request["path"], lazy=sys.argv[1] == "lazy").frame
        result = relevance(frame, frame.collect_schema().names()[-1])
        return {"result": repr(result)}
    except AnalogicalError as error:
        return {"refused": str(error)}


def _answer_cli(request: dict[str, Any]) -> dict[str, Any]:
    """The command line as a user runs it, with what it writes."""
    from analogical import cli

    kept = os.dup(1), os.dup(2)
    with tempfile.TemporaryFile() as out, tempfile.TemporaryFile() as err:
        os.dup2(out.fileno(), 1)
        os.dup2(err.fileno(), 2)
        sys.argv = ["analogical", *request["arguments"]]
        try:
            cli.main()
            code: Any = 0
        except SystemExit as stop:
            code = stop.code or 0
        finally:
            sys.stdout.flush()
            sys.stderr.flush()
            for saved, place in zip(kept, (1, 2), strict=True):
                os.dup2(saved, place)
                os.close(saved)
        texts = []
        for stream in (out, err):
            stream.seek(0)
            texts.append(stream.read().decode("utf-8", "replace"))
    return {"code": code, "out": texts[0][-2000:], "err": texts[1][-4000:]}


def _answer_frame(request: dict[str, Any]) -> dict[str, Any]:
    """Ask the library about an odd table."""
    from fuzz.frames import odd_question

    from analogical.errors import AnalogicalError

    question = odd_question(*request["seed"])
    try:
        return {"result": repr(question.ask()), "story": question.story}
    except AnalogicalError as error:
        return {"refused": str(error), "story": question.story}
    except Exception:
        return {"failed": traceback.format_exc(), "story": question.story}


def _spin(request: dict[str, Any]) -> dict[str, Any]:
    """Never end, to see that somebody notices."""
    while True:
        request["turns"] = request.get("turns", 0) + 1


def _fill(request: dict[str, Any]) -> dict[str, Any]:
    """Take much memory, to see that somebody notices."""
    return {"result": str(len(bytearray(request["n_bytes"])))}


ANSWERS = {"library": _answer_library, "cli": _answer_cli, "frame": _answer_frame, "spin": _spin, "fill": _fill}

if __name__ == "__main__":
    main()
