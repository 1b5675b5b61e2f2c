"""The command line: parse, read, call, write, exit code."""

import atexit
import gc
import signal
import sys
from typing import NoReturn

__all__ = ["main"]


def main() -> None:
    """Run the command; an error of ours or of the system becomes one line on stderr and exit code 2."""
    gc.set_threshold(1_000_000)  # a short command makes hardly any garbage, and imports are faster without the search
    atexit.register(_skip_last_collection)
    try:
        from analogical.cli.app import app_for
        from analogical.cli.streams import guarded_streams, say
        from analogical.errors import AnalogicalError
    except KeyboardInterrupt:
        sys.stderr.write("Interrupted.\n")
        raise SystemExit(130) from None
    except ModuleNotFoundError as missing:
        if missing.name not in ("typer", "rich", "polars", "click"):
            raise
        sys.stderr.write(
            f"The command line needs {missing.name}, which is not installed."
            ' Install it with: pip install "analogical[cli]"\n'
        )
        raise SystemExit(2) from None
    signal.signal(signal.SIGTERM, _end)
    code: int | str | None = 0
    try:
        with guarded_streams():
            try:
                app_for(sys.argv[1:])()
            except SystemExit as stop:
                code = stop.code
    except AnalogicalError as refused:
        code = 2
        say(refused)
    except MemoryError:
        code = 2
        say(
            "There is not enough memory for this table; leave out columns with --ignore, use a sample of the rows, or"
            " a machine with more memory."
        )
    except KeyboardInterrupt:
        code = 130  # as in shells
    if code == 130:
        say("Interrupted.")
    raise SystemExit(code)


def _end(number: int, _: object) -> NoReturn:
    """Exit on SIGTERM as after an error, so that temporary folders are removed."""
    raise SystemExit(128 + number)


def _skip_last_collection() -> None:
    """Leave all objects to the end of the process: a last search for garbage takes a fifth of a short command."""
    if "duckdb" not in sys.modules:  # its bindings report objects that are not freed as leaks
        gc.freeze()
