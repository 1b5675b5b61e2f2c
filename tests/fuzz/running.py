"""How many cases are run, with which seeds, and what is said of a case that fails."""

import os
import re
import traceback
from collections.abc import Callable, Iterator
from typing import Any

from analogical.errors import AnalogicalError

FIXED_SEED = 20_240_229
"""The seed of the cases that every test run has."""
MOST_TESTS = 200
"""Cases are run in so many tests at most, so that processes share them."""
MAX_REPORTED = 5
"""Failing cases that one test describes."""
INTERNALS = re.compile(r"Traceback|File \"|narwhals|analogical\.|object at 0x|\bNoneType\b|\bdtype\(|\w+Error\b|panic")
"""What a message to a user does not hold."""
MAX_MESSAGE = 2_000


def seed() -> int:
    return int(os.environ.get("FUZZ_SEED", FIXED_SEED))


def batches(variable: str, few: int) -> list[range]:
    """Numbers of the cases of each test; ``FUZZ_ONLY`` runs one case alone."""
    only = os.environ.get("FUZZ_ONLY")
    if only is not None:
        return [range(int(only), int(only) + 1)]
    n_cases = int(os.environ.get(variable, few))
    size = max(25, -(-n_cases // MOST_TESTS))
    return [range(start, min(start + size, n_cases)) for start in range(0, n_cases, size)]


def name_batch(batch: range) -> str:
    return f"{batch.start}-{batch.stop - 1}"


def run_batch(batch: range, check: Callable[[int], None], file: str, describe: Callable[[int], str]) -> None:
    """Run the cases of a test, and fail with the first few that failed and how to run each alone."""
    failed = []
    for number in batch:
        try:
            check(number)
        except Exception:
            again = f"FUZZ_SEED={seed()} FUZZ_ONLY={number} python -m pytest --no-cov tests/fuzz/{file}"
            failed.append(f"case {number}; alone: {again}\n{describe(number)}\n{traceback.format_exc()}")
            if len(failed) == MAX_REPORTED:
                break
    assert not failed, "\n\n".join(failed)


def check_message(message: str, data: str = "") -> None:
    """One sentence for users; words of their own ``data`` may be anything but control characters."""
    assert message.strip(), "an empty message"
    assert len(message) <= MAX_MESSAGE, f"a message of {len(message)} characters: {message[:200]}"
    assert "\n" not in message, f"a message of several lines: {message!r}"
    found = [word for word in INTERNALS.findall(message) if word not in data]
    assert not found, f"a message that shows internals {found}: {message!r}"


def refusal(call: Callable[[], Any], data: str = "") -> tuple[Any, str | None]:
    """The result of a call, or the message with which it was refused; any other exception is the caller's failure."""
    try:
        return call(), None
    except AnalogicalError as error:
        check_message(str(error), data)
        return None, str(error)


def shrink(case: Any, smaller: Callable[[Any], Iterator[Any]], fails: Callable[[Any], bool], tries: int = 200) -> Any:
    """The smallest case found that still fails; ``smaller`` lists simpler ones, the boldest first."""
    while tries > 0:
        for candidate in smaller(case):
            tries -= 1
            if fails(candidate):
                case = candidate
                break
            if tries <= 0:
                return case
        else:
            return case
    return case
