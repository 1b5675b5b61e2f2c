"""How far long work is, as one line on stderr."""

import sys
from collections.abc import Callable
from typing import TypeAlias

__all__ = ["Progress", "progress_line"]

Progress: TypeAlias = Callable[[int, int], None]
"""Called with what is done and what there is to do."""


def progress_line(what: str) -> Progress:
    """Write "what: 3 of 10" over and over on the same line, and end the line when all is done."""

    def show(done: int, total: int) -> None:
        sys.stderr.write(f"\r{what}: {done:,} of {total:,}" + ("\n" if done == total else ""))
        sys.stderr.flush()

    return show
