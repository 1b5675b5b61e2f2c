"""Parts of dates: month, weekday and hour, which bins of time do not show."""

from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from analogical._types import Ints
from analogical.columns.columns import MISSING, Values, plain

__all__ = [
    "PARTS",
    "PartOfDates",
    "days_of_numbers",
    "part_numbers",
    "part_values",
    "parts_of",
    "parts_that_may_vary",
]

PARTS = ("month", "weekday", "hour")
WEEKDAYS = ("Monday", "Tuesday", "Wednesday", "Thursday", "Friday", "Saturday", "Sunday")
CYCLES = {"month": 730, "weekday": 14, "hour": 2}
"""Days that dates must span, two cycles: within one cycle, a part only repeats the bins of time."""


class PartOfDates(NamedTuple):
    """The months, the weekdays or the hours of the dates in a column."""

    values: Values
    """Those that occur, with the rows of each."""
    numbers: Ints
    """Each of these as a number from 0."""
    code_of: Ints | None = None
    """For each date its place among these, and last MISSING for missing cells; None if an engine reads the dates."""


def parts_of(dates: Values) -> dict[str, PartOfDates]:
    """Month, weekday and hour of the dates in a column, where they vary over two cycles or more.

    There is no weekday for dates that are all on the same day of the month, such as the first.
    """
    times = _as_times(dates)
    if times is None or not len(times):
        return {}
    span = (times.max() - times.min()) / np.timedelta64(1, "D")
    days = times.astype("M8[D]")
    n_days_of_month = len(np.unique(days - days.astype("M8[M]").astype("M8[D]")))
    parts = {}
    for part in parts_that_may_vary(span, n_days_of_month):
        numbers, codes = np.unique(part_numbers(times, part), return_inverse=True)
        if len(numbers) > 1:
            sizes = np.bincount(codes, dates.sizes).astype(np.int64)
            values = part_values(part, numbers, sizes, dates.n_missing)
            parts[part] = PartOfDates(values, numbers, np.append(codes, MISSING))
    return parts


def parts_that_may_vary(span: float, n_days_of_month: int) -> list[str]:
    """Parts that may vary, for dates that span this many days and fall on this many days of the month."""
    return [p for p in PARTS if span >= CYCLES[p] and not (p == "weekday" and n_days_of_month == 1)]


def part_numbers(times: NDArray[Any], part: str) -> Ints:
    """The month, the weekday or the hour of dates, as numbers from 0."""
    days = times.astype("M8[D]")
    if part == "month":
        numbers = days.astype("M8[M]").astype(np.int64) % 12
    elif part == "weekday":
        numbers = (days.astype(np.int64) + 3) % 7  # January 1, 1970, was a Thursday
    else:
        numbers = (times - days).astype("m8[h]").astype(np.int64)
    return np.asarray(numbers)


def part_values(part: str, numbers: Ints, sizes: Ints, n_missing: int) -> Values:
    """The distinct numbers of a part, which increase, as the values of a column: months from 1, weekdays by name."""
    if part == "weekday":
        return Values([WEEKDAYS[k] for k in numbers], sizes, n_missing=n_missing, is_sorted=True)
    return Values((numbers + (part == "month")).tolist(), sizes, "whole", n_missing=n_missing, is_sorted=True)


def days_of_numbers(days: NDArray[Any]) -> NDArray[Any]:
    """Days written as numbers, such as 20240131, as numpy dates; February 30 becomes a day in March."""
    return np.asarray(_months_of_numbers(days).astype("M8[M]").astype("M8[D]") + (days % 100 - 1))


def _months_of_numbers(days: NDArray[Any]) -> NDArray[Any]:
    """Months since January 1970."""
    return np.asarray((days // 10000 - 1970) * 12 + days // 100 % 100 - 1)


def _as_times(dates: Values) -> NDArray[Any] | None:
    """The distinct dates as numpy dates, in local time; None if some are not in the calendar."""
    if dates.kind == "whole":  # days written as numbers: 20240131
        days = np.asarray(dates.values)
        times = days_of_numbers(days)
        is_day = times.astype("M8[M]").astype(np.int64) == _months_of_numbers(days)
        return times.astype("M8[us]") if is_day.all() else None
    known = [plain(value) for value in dates.values]
    zoned = any(getattr(value, "tzinfo", None) is not None for value in known)
    return np.array([value.replace(tzinfo=None) for value in known] if zoned else known, dtype="M8[us]")
