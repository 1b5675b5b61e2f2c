"""The command line: parse, read, call, write, exit code."""

import atexit
import gc
import sys

__all__ = ["main"]


def main() -> None:
    """Run the command line, or say what to install for it."""
    # A short command makes hardly any garbage, but searching for it during imports and at exit took a quarter of its time.
    gc.set_threshold(1_000_000)
    atexit.register(gc.freeze)
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
