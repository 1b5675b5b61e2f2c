"""Parts of dates: month, weekday and hour, which bins of time do not tell."""

from typing import Any

import numpy as np
from numpy.typing import NDArray

from analogical.table.columns import MISSING, Column, plain

__all__ = ["PARTS", "parts_of"]

PARTS = ("month", "weekday", "hour")
WEEKDAYS = ("Monday", "Tuesday", "Wednesday", "Thursday", "Friday", "Saturday", "Sunday")
CYCLES = {"month": 730, "weekday": 14, "hour": 2}
"""Days that dates must span, two cycles: within one, a part only repeats the bins of time."""


def parts_of(column: Column) -> dict[str, Column]:
    """Month, weekday and hour of the dates in a column, those that vary over two cycles or more.

    The weekday of dates that are all on the same day of the month, such as the first, is not a part.
    """
    times = _as_times(column)
    if times is None or not len(times):
        return {}
    days = times.astype("M8[D]")
    months = days.astype("M8[M]")
    numbers = {
        "month": months.astype(np.int64) % 12 + 1,
        "weekday": (days.astype(np.int64) + 3) % 7,  # the first day, of 1970, was a Thursday
        "hour": (times - days).astype("m8[h]").astype(np.int64),
    }
    if len(np.unique(days - months.astype("M8[D]"))) == 1:
        del numbers["weekday"]
    span = (times.max() - times.min()) / np.timedelta64(1, "D")
    found = {}
    for part, number_of in numbers.items():
        if span >= CYCLES[part]:
            known, codes = np.unique(number_of, return_inverse=True)
            if len(known) > 1:
                found[part] = _as_column(column, part, known, codes)
    return found


def _as_column(column: Column, part: str, known: NDArray[Any], codes: NDArray[Any]) -> Column:
    """A part as a column: ``known`` are its values, ``codes`` those of each date."""
    of_row = column.recoded(np.append(codes, MISSING).astype(np.int8))
    if part == "weekday":
        return Column(of_row, [WEEKDAYS[k] for k in known], is_sorted=True)
    return Column(of_row, known.tolist(), "whole", is_sorted=True)


def _as_times(column: Column) -> NDArray[Any] | None:
    """The distinct dates as numpy's, in the time of their zones; None if they are not dates of the calendar."""
    values: Any = column.values
    if column.kind == "whole":  # days written as numbers: 20240131
        days = np.asarray(values)
        months = (days // 10000 - 1970) * 12 + days // 100 % 100 - 1
        times: NDArray[Any] = months.astype("M8[M]").astype("M8[D]") + (days % 100 - 1)
        return times.astype("M8[us]") if (times.astype("M8[M]").astype(np.int64) == months).all() else None
    if hasattr(values, "dt"):  # very many, of a column that was read in batches
        if getattr(values.dtype, "time_zone", None) is not None:
            values = values.dt.replace_time_zone(None)
        return np.asarray(values.to_numpy()).astype("M8[us]")
    known = [plain(value) for value in values]
    zoned = any(getattr(value, "tzinfo", None) is not None for value in known)
    return np.array([value.replace(tzinfo=None) for value in known] if zoned else known, dtype="M8[us]")
