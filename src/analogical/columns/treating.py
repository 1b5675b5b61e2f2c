"""What is made of a column, decided on its distinct values: categories or bins, merged spellings, parts of dates."""

from collections.abc import Hashable, Mapping, Sequence
from dataclasses import dataclass, field
from functools import partial
from typing import Any, TypeAlias

import numpy as np
from numpy.typing import NDArray

from analogical._checks import brief
from analogical._types import Ints, Note
from analogical.columns.binning import FINE_BINS, BinRule, bin_values, name_bins
from analogical.columns.columns import MISSING, NO_CODES, Column, plain
from analogical.columns.rules import Rules
from analogical.errors import InputError

PARTS = {"month": 730, "weekday": 14, "hour": 2}
"""Parts of dates, with the days that dates must span, two cycles: within one, a part only repeats the bins of time."""

Spellings: TypeAlias = Mapping[str, Sequence[tuple[str, ...]]]
"""Values of a column that are one, the most frequent first: "folded" are merged, "may-fold" could be."""


@dataclass(frozen=True)
class ColumnMeaning:
    """The values that the codes of a column stand for, and how they were made."""

    key: Hashable
    """The user's own name of the column: the dataframe's, or its position in an array."""
    name: str
    values: Sequence[Any]
    """``values[c]`` is what code c stands for."""
    position: int = 0
    """Position among the features of the user's table, before some were left out; parts of dates come after them."""
    edges: tuple[Any, ...] | None = None
    """Where the bins except the first begin; None if every distinct value is a category."""
    n_missing: int = 0
    """Number of missing cells, which have the last code."""
    fine_ends: tuple[tuple[Any, Any], ...] = ()
    """The lowest and the highest number of each of the finer bins; empty for categories."""


@dataclass(frozen=True)
class Feature:
    """What was decided about a column, from its values: the code of each, and what the codes mean."""

    meaning: ColumnMeaning
    code_of: Ints
    """The code of each value, and last that of missing cells; MISSING if no cell is missing."""
    fine_of: Ints | None = None
    """The same for numbers in up to 120 bins; None for categories, and unless bins are quantiles."""
    spellings: Spellings = field(default_factory=dict)


def treat_column(
    column: Column,
    name: str,
    rules: Rules,
    own_rule: BinRule | None = None,
    *,
    position: int = 0,
    title: str = "",
) -> Feature:
    """One column as a feature; ``own_rule`` is the bin rule that the user gave for it, ``title`` is for messages."""
    if own_rule is not None and own_rule.method != "none" and column.kind == "category":
        raise InputError(f"bins names {name!r}, which does not hold numbers or dates; leave it out of bins.")
    rule, n_missing = rules.bin_rule_of(column, own_rule), column.n_missing
    meaning = partial(ColumnMeaning, name, name, position=position, n_missing=n_missing)
    if rule is None:
        merged, code_of, spellings = merge_spellings(column, rules.fold_case)
        known = merged.values
        if not isinstance(known, list | range):
            known = [plain(value) for value in known]  # of a column with very many numbers
        if n_missing:
            code_of[-1] = len(known)
            known = [*known, None]
        return Feature(meaning(known), code_of, spellings=spellings)
    what = title or f"feature {brief(name)}"
    binned = bin_values(column, rule, what)
    fine = bin_values(column, BinRule("quantiles", FINE_BINS), what) if rule.method == "quantiles" else None
    names: list[str | None] = [*name_bins(binned.ends)]
    if n_missing:
        names.append(None)
        for bins in filter(None, (binned, fine)):
            bins.code_of[-1] = len(bins.ends)
    ends = () if fine is None else tuple(fine.ends)
    return Feature(
        meaning(names, edges=binned.edges, fine_ends=ends), binned.code_of, None if fine is None else fine.code_of
    )


# ---------------------------------------------------------------- spellings of one value


def _find_spellings(column: Column, fold_case: bool | None) -> Spellings:
    """The values of a column that differ only in case or spaces.

    By default (``fold_case`` is None) single letters are not merged, because they may be codes, such as the alleles A
    and a. ``fold_case=True`` merges them too, and all words for yes or no in a column that holds nothing else.
    """
    texts = column.values
    if fold_case is False or column.kind != "category" or not 2 <= len(texts) <= 2**16:  # time
        return {}
    if not all(isinstance(text, str) for text in texts):
        return {}
    folded = [" ".join(text.split()).casefold() for text in texts]
    words = (("yes", "y", "true", "t", "1"), ("no", "n", "false", "f", "0"))
    meaning_of = {word: same[0] for same in words for word in same}
    keys = [meaning_of[key] for key in folded] if meaning_of.keys() >= set(folded) else folded
    if len(set(keys)) == len(texts):
        return {}
    sizes = column.sizes.tolist()
    merges = _merges(keys, texts, sizes)
    if fold_case:
        return {"folded": merges}
    is_word = [key if len(key) > 1 else " ".join(text.split()) for key, text in zip(folded, texts, strict=True)]
    merged = _merges(is_word, texts, sizes)
    return {"folded": merged, "may-fold": [merge for merge in merges if merge not in merged]}


def _merges(keys: Sequence[str], values: Sequence[str], sizes: Sequence[int]) -> list[tuple[str, ...]]:
    """The values of each key that has several, most frequent first."""
    codes_of: dict[str, list[int]] = {}
    for code, key in enumerate(keys):
        codes_of.setdefault(key, []).append(code)
    return [
        tuple(values[c] for c in sorted(codes, key=lambda c: (-sizes[c], values[c])))
        for _, codes in sorted(codes_of.items())
        if len(codes) > 1
    ]


def merge_spellings(column: Column, fold_case: bool | None) -> tuple[Column, Ints, Spellings]:
    """The column with one value for all spellings of a word, for each value before its place among these, and which.

    A merged value is named after the most frequent spelling, in the order of the first of them. The result has no codes
    of rows, and the last place is MISSING, for missing cells.
    """
    spellings = _find_spellings(column, fold_case)
    if not (merges := spellings.get("folded")):
        return column, np.append(np.arange(len(column.values)), MISSING), spellings
    name_of = {spelling: merge[0] for merge in merges for spelling in merge}
    code_of_name: dict[str, int] = {}
    codes = [code_of_name.setdefault(name_of.get(text, text), len(code_of_name)) for text in column.values]
    sizes = np.bincount(codes, column.sizes).astype(np.int64)
    merged = Column(NO_CODES, list(code_of_name), known_sizes=sizes, known_missing=column.n_missing)
    return merged, np.array([*codes, MISSING]), spellings


def note_spellings(spellings: Mapping[str, Spellings]) -> list[Note]:
    """Notes on the spellings that were merged, and on those that could be, by name of the column."""
    notes = []
    for kind in ("folded", "may-fold"):
        merges = [(name, merge) for name, known in spellings.items() for merge in known.get(kind, ())]
        if merges:
            words = tuple(", ".join(map(repr, merge)) for _, merge in merges)
            notes.append(Note(kind, tuple(name for name, _ in merges), words=words))
    return notes


# ---------------------------------------------------------------- parts of dates


def parts_of(dates: Column) -> dict[str, tuple[Column, Ints]]:
    """Month, weekday and hour of the dates in a column, where they vary over two cycles or more.

    Each is a column without codes of rows, and for each date its place among the values, last MISSING for missing
    cells. There is no weekday for dates that are all on the same day of the month, such as the first.
    """
    times = as_times(dates)
    if times is None or not len(times):
        return {}
    span = (times.max() - times.min()) / np.timedelta64(1, "D")
    days = times.astype("M8[D]")
    is_same_day = len(np.unique(days - days.astype("M8[M]").astype("M8[D]"))) == 1
    numbers_of = {
        "month": days.astype("M8[M]").astype(np.int64) % 12 + 1,
        "weekday": (days.astype(np.int64) + 3) % 7,  # January 1, 1970, was a Thursday
        "hour": (times - days).astype("m8[h]").astype(np.int64),
    }
    weekdays = ("Monday", "Tuesday", "Wednesday", "Thursday", "Friday", "Saturday", "Sunday")
    parts = {}
    for part, n_days in PARTS.items():
        numbers, codes = np.unique(numbers_of[part], return_inverse=True)
        if len(numbers) > 1 and span >= n_days and not (part == "weekday" and is_same_day):
            is_name = part == "weekday"
            column = Column(
                NO_CODES,
                [weekdays[k] for k in numbers] if is_name else numbers.tolist(),
                "category" if is_name else "whole",
                is_sorted=True,
                known_sizes=np.bincount(codes, dates.sizes).astype(np.int64),
                known_missing=dates.n_missing,
            )
            parts[part] = column, np.append(codes, MISSING)
    return parts


def as_times(dates: Column) -> NDArray[Any] | None:
    """The distinct dates as numpy dates, in local time; None if some are not in the calendar."""
    if dates.kind == "whole":  # days written as numbers: 20240131
        days = np.asarray(dates.values)
        months = (days // 10000 - 1970) * 12 + days // 100 % 100 - 1
        times = np.asarray(months.astype("M8[M]").astype("M8[D]") + (days % 100 - 1))  # February 30 is in March
        return times.astype("M8[us]") if (times.astype("M8[M]").astype(np.int64) == months).all() else None
    known = [plain(value) for value in dates.values]
    zoned = any(getattr(value, "tzinfo", None) is not None for value in known)
    return np.array([value.replace(tzinfo=None) for value in known] if zoned else known, dtype="M8[us]")
