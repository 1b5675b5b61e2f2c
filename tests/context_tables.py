"""Contexts as plain tables, and what goes wrong where an engine counts; this file imports nothing of ours."""

import os
import signal
import time
from collections import Counter
from pathlib import Path


def tables_of(contexts):
    """How often each table of (value, label) to rows occurs."""
    found = Counter()
    bounds = [*contexts.starts.tolist(), len(contexts.sizes)]
    for start, stop, times in zip(bounds[:-1], bounds[1:], contexts.times.tolist(), strict=True):
        cells = zip(contexts.values[start:stop].tolist(), contexts.labels[start:stop].tolist(), strict=True)
        found[tuple(zip(cells, contexts.sizes[start:stop].tolist(), strict=True))] += times
    return found


class CountAfter:
    """What another object makes of the batches of a partition, after something has happened."""

    def __init__(self, happen, count):
        self.happen, self.count = happen, count

    def __call__(self, batches):
        for counted in self.count(batches):
            self.happen()
            yield counted


def wait():
    """A while, so that there is time for something to die."""
    time.sleep(1.6)


class DieOnce:
    """The first process to get here kills itself."""

    def __init__(self, mark):
        self.mark = mark

    def __call__(self):
        try:
            os.close(os.open(self.mark, os.O_CREAT | os.O_EXCL))
        except FileExistsError:
            return
        os.kill(os.getpid(), signal.SIGKILL)


def die():
    """The process ends."""
    os._exit(1)


class SlowWhile:
    """The same rows, after a while as long as a file is there."""

    def __init__(self, mark):
        self.mark = mark

    def __call__(self, batches):
        if Path(self.mark).exists():
            time.sleep(0.6)
        yield from batches
