"""What becomes of a column: which values are categories, which numbers are binned, what is set aside as an id.

| column | becomes |
|---|---|
| booleans, strings, categories, whole numbers of an array or a list | categories |
| whole numbers of a dataframe or file with few values | categories |
| whole numbers that a dataframe stores as floats, with few values | categories |
| other numbers, durations, decimals | bins |
| dates and times with few values | categories; otherwise bins of time |
| another value in nearly every row (not numbers with a fraction) | set aside as an id or a time stamp |
| missing cells | a value of their own, or their rows are left out, or an error |
"""

import re
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, Literal

import numpy as np

from analogical._checks import check_choice, check_whole
from analogical._types import Ints
from analogical.table.binning import Binned, BinRule, bin_column, check_bins
from analogical.table.columns import Column, plain

__all__ = ["NEARLY_ALL", "Ids", "Missing", "Treatment", "counts_rows", "is_time", "looks_like_unit"]

Missing = Literal["value", "drop", "error"]
Ids = Literal["drop", "keep"]

DEFAULT_BINS = BinRule("quantiles", 5)
NEARLY_ALL = 0.95
"""Share of the rows that have a value of their own, from which on a column is taken for an id."""
FIRST_DAY, LAST_DAY = 19000101, 20991231
"""Whole numbers between these that are all days of the calendar are taken for dates."""
DENSE = 2
"""Whole numbers, another one in every row, are ids if they span at most so many times their number."""
ID_NAME = re.compile(
    r"(^|[^A-Za-z])(id|ids|uid|uuid|guid|key|index|idx|rownum|identifier|no|nr|num|number|serial)($|[^A-Za-z])"
    r"|[a-z](Id|ID|Key|Index|No|Nr|Number)$",
)
"""Names that say that a column of whole numbers counts or names the rows."""
UNITS = "subject|person|patient|participant|respondent|customer|client|user|student|pupil|animal|individual|household"
UNIT_NAME = re.compile(
    rf"(^|[^A-Za-z])(id|uid|uuid|guid|identifier|({UNITS})s?([^A-Za-z]*(no|nr|num|number|key|code|name))?)$",
    re.IGNORECASE,
)
"""Names that say whom a row is about, the last words of a name in words."""
FEW_UNITS = 10
"""A column with fewer values is a category, whatever its name."""


@dataclass(frozen=True)
class Treatment:
    """How columns become codes, the same for all functions."""

    missing: Missing = "value"
    bins: BinRule = DEFAULT_BINS
    bins_of: tuple[tuple[Any, BinRule], ...] = ()
    """Rules of single columns, by their names."""
    max_values: int | None = 20
    ids: Ids = "drop"
    bin_label: int | None = None

    @classmethod
    def of(cls, missing: Any, bins: Any, max_values: Any, ids: Any, bin_label: Any = None) -> "Treatment":
        """From the arguments of a public function."""
        check_choice("missing", missing, ("value", "drop", "error"))
        check_choice("ids", ids, ("drop", "keep"))
        if max_values is not None:
            max_values = check_whole("max_values", max_values, low=1, other=", or None for no limit")
        if bin_label is not None:
            bin_label = check_whole("bin_label", bin_label, low=2, high=1000, other=", or None")
        own: tuple[tuple[Any, BinRule], ...] = ()
        if isinstance(bins, Mapping):
            own = tuple((name, check_bins(rule, f"bins of {name!r}")) for name, rule in bins.items() if name != "*")
            bins = bins.get("*", DEFAULT_BINS.n_bins)
        return cls(missing, check_bins(bins), own, max_values, ids, bin_label)

    def has_few_values(self, column: Column) -> bool:
        """Whether a column has so few values that numbers and dates are categories."""
        return self.max_values is None or len(column.values) <= self.max_values

    def is_id(self, column: Column, name: str, weights: Ints | None) -> bool:
        """Whether nearly every row has another value, and the values are no measurements."""
        if column.kind == "real" or self.has_few_values(column):
            return False
        if len(column.values) < NEARLY_ALL * int(column.count_values(weights).sum()):
            return False
        if column.kind != "whole":
            return True
        ends = (column.values[0], column.values[-1]) if column.is_sorted else column.values
        return counts_rows(name, len(column.values), min(ends), max(ends))

    def group(self, column: Column, rule: BinRule | None, weights: Ints | None, what: str) -> Binned | None:
        """The column in bins, if it holds numbers or times to be binned; ``rule`` is the user's own for it."""
        if rule is None:
            rule = self.bins
            if column.kind == "category":
                return None
            if self.has_few_values(column) and (column.kind != "real" or _are_whole(column)):
                return None
        if rule.method == "quantiles" and len(column.values) <= rule.n_bins:
            return None  # every value would have a bin of its own
        return None if rule.method == "none" else bin_column(column, rule, weights, what)

    def group_label(self, column: Column, weights: Ints | None, what: str) -> Binned:
        """The label in ``bin_label`` classes of about equally many rows."""
        return bin_column(column, BinRule("quantiles", self.bin_label or 2), weights, what)


def counts_rows(name: str, n_values: int, low: Any, high: Any) -> bool:
    """Whether whole numbers, another one in nearly every row, count or name the rows, as name or span tell."""
    return bool(ID_NAME.search(name)) or int(high) - int(low) < DENSE * n_values


def looks_like_unit(column: Column, name: str, weights: Ints | None) -> bool:
    """Whether values name whom a row is about and most of them come back: several rows of one person, perhaps."""
    if column.kind not in ("category", "whole") or len(column.values) < FEW_UNITS:
        return False
    words = re.sub(r"(?<=[a-z])(?=[A-Z])", "_", name)
    return bool(UNIT_NAME.search(words)) and float(np.median(column.count_values(weights))) >= 2


def is_time(column: Column) -> bool:
    """Whether a column holds dates or times, perhaps written as whole numbers."""
    return column.kind == "time" or (column.kind == "whole" and _are_days(column))


def _are_days(column: Column) -> bool:
    """Whether whole numbers are days written as year, month and day: 19910108."""
    days = np.asarray(column.values)
    if days.dtype.kind not in "iu" or not len(days) or days.min() < FIRST_DAY or days.max() > LAST_DAY:
        return False
    months, of_month = days // 100 % 100, days % 100
    return bool(((months >= 1) & (months <= 12) & (of_month >= 1) & (of_month <= 31)).all())


def _are_whole(column: Column) -> bool:
    """Whether numbers are all whole: counts that a dataframe stores as floats, because some are missing."""
    return all(isinstance(value, int | float) and float(value).is_integer() for value in map(plain, column.values))
