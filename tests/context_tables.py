"""Summaries for tests of engines, which must be found wherever an engine counts: this file imports nothing of ours."""

import os
import signal
import time
from collections import Counter
from pathlib import Path


def tables_of(feature, contexts):
    """How often each table of (value, label) to rows occurs."""
    found = Counter()
    bounds = [*contexts.starts.tolist(), len(contexts.sizes)]
    for start, stop, times in zip(bounds[:-1], bounds[1:], contexts.times.tolist(), strict=True):
        cells = zip(contexts.values[start:stop].tolist(), contexts.labels[start:stop].tolist(), strict=True)
        found[tuple(zip(cells, contexts.sizes[start:stop].tolist(), strict=True))] += times
    return found


def slow_tables(feature, contexts):
    """The same after a while, so that there is time for something to die."""
    time.sleep(0.4)
    return tables_of(feature, contexts)


class TablesAfterDeath:
    """The same, but the first process to get here kills itself."""

    def __init__(self, mark):
        self.mark = mark

    def __call__(self, feature, contexts):
        try:
            os.close(os.open(self.mark, os.O_CREAT | os.O_EXCL))
        except FileExistsError:
            return tables_of(feature, contexts)
        return os.kill(os.getpid(), signal.SIGKILL)


def die(feature, contexts):
    """Never anything: the process ends."""
    os._exit(1)


class SlowWhile:
    """The same rows, after a while as long as a file is there."""

    def __init__(self, mark):
        self.mark = mark

    def __call__(self, batches):
        if Path(self.mark).exists():
            time.sleep(0.6)
        yield from batches
