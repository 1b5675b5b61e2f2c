"""The command line: parse, read, call, write, exit code."""

import atexit
import gc
import sys

__all__ = ["main"]


def main() -> None:
    """Run the command line, or say what to install for it."""
    gc.set_threshold(1_000_000)  # a short command makes hardly any garbage, and imports are faster without the search
    atexit.register(_skip_last_collection)
    try:
        from analogical.cli.app import run
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
    run()


def _skip_last_collection() -> None:
    """Leave all objects to the end of the process: a last search for garbage takes a fifth of a short command."""
    if "duckdb" not in sys.modules:  # its bindings report objects that are not freed as leaks
        gc.freeze()
