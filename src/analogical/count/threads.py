"""Threads: tasks that may return more tasks, and the number of threads."""

from collections.abc import Callable, Iterable, Iterator
from concurrent.futures import FIRST_COMPLETED, Future, ThreadPoolExecutor, wait
from contextlib import contextmanager
from functools import cache
from typing import Any, TypeAlias

from analogical._checks import is_whole
from analogical.errors import InputError

Task: TypeAlias = Callable[[], "list[Task] | None"]
"""Does some work, and may return further tasks."""

SMALL_WORK = 2**21  # codes; below this, threads cost more than they save


def run_tasks(tasks: Iterable[Task], n_threads: int) -> None:
    """Run tasks and the tasks that they return, the latest first to free memory early.

    Tasks are submitted when a thread is free, so that Ctrl-C waits for the running ones only.
    """
    stack = list(tasks)
    if n_threads == 1:
        while stack:
            stack.extend(stack.pop()() or ())
        return
    with ThreadPoolExecutor(n_threads) as pool:
        running: set[Future[list[Task] | None]] = set()
        while stack or running:
            while stack and len(running) < n_threads:
                running.add(pool.submit(stack.pop()))
            done, running = wait(running, return_when=FIRST_COMPLETED)
            for task in done:
                stack.extend(task.result() or ())


def n_threads_for(n_jobs: int | None, n_codes: int) -> int:
    """Threads for n_jobs, by joblib's conventions; one if the work is small."""
    if n_jobs is not None and (not is_whole(n_jobs) or n_jobs == 0):
        raise InputError(f"n_jobs must be a whole number other than 0 (-1: one per processor) or None, got {n_jobs!r}.")
    if n_jobs == 1 or n_codes < SMALL_WORK:  # so executors of Spark need no joblib
        return 1
    from joblib import effective_n_jobs

    return int(effective_n_jobs(n_jobs))


@contextmanager
def one_blas_thread() -> Iterator[None]:
    """Limit BLAS to one thread, for many small matrix products: on a busy machine up to a hundred times faster."""
    with _blas().limit(limits=1):
        yield


@cache
def _blas() -> Any:
    """The BLAS of this process; looking for it takes some milliseconds."""
    from threadpoolctl import ThreadpoolController  # type: ignore[import-untyped]  # scikit-learn brings it

    return ThreadpoolController().select(user_api="blas")
