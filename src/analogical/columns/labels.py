"""The label of each row: a class, or a number with a score for each code.

| label | compared as |
|---|---|
| texts, booleans, numbers with few values | classes |
| numbers, dates and durations with more values | numbers; in large tables in 256 codes, each for the mean of its rows |
| ordered categories of a dataframe, or classes whose order was given | places in the order: 0, 1, 2 |
"""

from collections.abc import Hashable, Sequence
from dataclasses import dataclass, replace
from datetime import timedelta
from typing import Any

import numpy as np

from analogical._checks import brief, listing
from analogical._types import Floats, Ints, Note, Positions, Scale
from analogical.columns.binning import BinRule, bin_values, merge_bins, name_bins
from analogical.columns.columns import MISSING, Column, compact, plain
from analogical.columns.frames import encode_cells, ordered_categories
from analogical.columns.rules import MOSTLY, NEARLY_ALL, Rules
from analogical.columns.treating import Spellings, as_times, merge_spellings, note_spellings
from analogical.errors import InputError

FEW_ROWS, MANY_CODES = 20_000, 256
"""In tables with more rows, a label with more distinct numbers has this many codes, each for the mean of about equally
many rows: time."""
FAR = 3.0
"""Robust standard deviations from the median beyond which a number counts as the bound: a few very large numbers would
decide otherwise. Of an effect of .4 in 400 rows, p is at most .05 in .94 of the tables with normal noise of 1 (without
bounds .94), .64 with lognormal noise (.30), .89 with one row in a hundred 100 times as far (.08). With 2 or 5 (of both
sides together) it was .89 and .91, .86 and .60, .94 and .88, where 3 gave .91, .77, .94."""
USUAL_ORDERS = (
    ("very low", "low", "medium", "high", "very high"),
    ("none", "mild", "moderate", "severe"),
    ("never", "rarely", "sometimes", "often", "always"),
    ("strongly disagree", "disagree", "neutral", "agree", "strongly agree"),
    ("poor", "fair", "good", "very good", "excellent"),
)
"""Words in an order that is usual; a label of three or more of them may be ordered."""


@dataclass(frozen=True)
class Labels:
    """The label of each row, which may be missing."""

    column: Column
    """Classes; or numbers in increasing order, or classes in their order."""
    scale: Scale | None
    """How numbers are compared, with the score of each value of the column; None for classes."""
    as_read: Column
    """The cells as they were read."""
    notes: tuple[Note, ...]

    def take(self, rows: Any) -> "Labels":
        """The labels of some rows, without the values that do not occur there."""
        if self.scale is None:
            return replace(self, column=_sorted(self.column.take(rows)))
        column = compact(self.column.codes[rows], range(len(self.column.values)))
        places = list(column.values)
        column = replace(column, values=[self.column.values[place] for place in places], is_sorted=True)
        return replace(self, column=column, scale=replace(self.scale, scores=self.scale.scores[places]))


def encode_label(cells: Any, name: str, weights: Ints | None, rules: Rules) -> Labels:
    """Classes or numbers of the rows; missing ones stay missing, and the caller drops their rows.

    Values may occur in rows of weight 0 only.
    """
    what = f"label {brief(name)}"
    column = encode_cells(cells, what).counted(weights)
    n_missing, n_rows = column.n_missing, len(column.codes)
    if n_missing == n_rows:
        raise InputError(f"The {what} is missing in all {n_rows:,} rows; choose another column as the label.")
    notes = [Note("label-missing", (name,), (n_missing,))] if n_missing else []
    merged, spellings = merged_spellings(column, rules.fold_case)
    notes += note_spellings({name: spellings})
    occurring = np.flatnonzero(merged.sizes > 0)
    kept = merged if len(occurring) == len(merged.values) else merged.pick(occurring)
    order = rules.ordered if rules.ordered is not None else ordered_categories(cells)
    if order is not None and rules.scale != "classes" and (rules.ordered is not None or len(kept.values) > 2):
        return _ordered(merged, order, what, notes, rules)
    is_number = kept.kind != "category"
    if (rules.classes is not None or rules.scale not in ("auto", "classes")) and not is_number:
        option = "classes" if rules.classes is not None else f"scale={rules.scale!r}"
        raise InputError(
            f"The {what} holds {plain(merged.values[0])!r} and is not a number; leave out {option}, or give the order"
            " of its classes with ordered (--ordered low,medium,high)."
        )
    if rules.classes is not None:
        binned = bin_values(kept, BinRule("quantiles", rules.classes), what)
        names = name_bins(binned.ends)
        notes.append(Note("label-binned", (name,), (len(names),), (binned.edges,)))
        return Labels(_recoded(column, occurring, binned.code_of, names), None, merged, tuple(notes))
    if is_number and rules.scale != "classes" and (rules.scale != "auto" or not rules.has_few_values(kept)):
        return _numbers(column, kept, occurring, name, notes, rules)
    if is_number and not rules.has_few_values(kept):
        raise InputError(
            f"The {what} has {len(kept.values):,} values, too many for classes: leave out scale='classes' to compare"
            f" its numbers, divide it with classes=4 (--classes 4), or raise max_values ({rules.max_values})."
        )
    is_many = not (Rules().has_few_values(kept) or rules.has_few_values(kept))  # few rows may all be different
    if not is_number and is_many:
        _refuse_texts(kept, what, rules)
    if not is_number and len(kept.values) > 2 and (usual := _usual_order(kept.values)):
        notes.append(Note("label-may-be-ordered", (name,), words=tuple(usual)))
    return Labels(merged, None, merged, tuple(notes))


def merged_spellings(column: Column, fold_case: bool | None) -> tuple[Column, Spellings]:
    """A column with one value for all spellings of a word, and these spellings."""
    merged, code_of, spellings = merge_spellings(column, fold_case)
    if merged is not column:
        merged = replace(merged, codes=column.recoded(code_of), known_missing=None)
    return merged, spellings


def _recoded(column: Column, occurring: Any, code_of_kept: Ints, values: Sequence[Any]) -> Column:
    """A column with new values, from the code of each of its values that occur."""
    code_of = np.full(len(column.values) + 1, MISSING)
    code_of[occurring] = code_of_kept[:-1]
    return Column(column.recoded(code_of), values, is_sorted=True)


def _refuse_texts(kept: Column, what: str, rules: Rules) -> None:
    """Refuse texts that are numbers, distinct in most rows, or distinct in nearly every row, as an identifier is."""
    texts = [str(value) for value in kept.values]
    example = next((text for text in texts if not _is_number(text)), None)
    is_distinct = len(texts) >= NEARLY_ALL * int(kept.sizes.sum())
    are_likely = len(texts) >= MOSTLY * int(kept.sizes.sum()) and rules.scale != "classes"
    if sum(map(_is_number, texts)) >= 0.5 * len(texts) and (is_distinct or are_likely):
        but = "" if example is None else f", but for {example!r} and the like"
        keep = "" if is_distinct else ", or keep them as classes with scale='classes' (--scale classes)"
        raise InputError(
            f"The {what} holds numbers as text{but}; convert it to numbers first, with missing cells for other"
            f" words{keep}."
        )
    if not is_distinct:
        return
    raise InputError(
        f"The {what} has a different value in nearly every row ({len(texts):,} values), as an identifier has; choose"
        " another column as the label (--label)."
    )


def _is_number(text: str) -> bool:
    try:
        float(text.replace(",", ""))
    except ValueError:
        return False
    return True


# ---------------------------------------------------------------- numbers and places in an order


def _numbers(column: Column, kept: Column, occurring: Any, name: str, notes: list[Note], rules: Rules) -> Labels:
    """Labels that are numbers: distinct ones, or the means of bins."""
    what = f"label {brief(name)}"
    numbers, unit = _as_numbers(kept, what)
    if rules.scale == "auto" and rules.is_id(kept, name):
        raise InputError(
            f"The {what} holds whole numbers that identify the rows or what they are about; choose another column as"
            " the label (--label), or compare its numbers with scale='number' (--scale number)."
        )
    if rules.scale == "log" and numbers.min() <= 0:
        raise InputError(
            f"The {what} holds {brief(plain(kept.values[int(numbers.argmin())]))}, which has no logarithm; give"
            " scale='number' or scale='ranks'."
        )
    kind = "number" if rules.scale in ("auto", "number") else rules.scale
    if kind == "number" and not 1e-60 <= (np.ptp(numbers) or 1.0) <= 1e60:  # their fourth powers are computed
        raise InputError(
            f"The numbers of the {what} are too {'large' if np.ptp(numbers) > 1 else 'close to each other'} for their"
            " squares: give them in another unit, or give scale='ranks' (--scale ranks)."
        )
    known, first, code_of = np.unique(numbers, return_index=True, return_inverse=True)
    rows = np.bincount(code_of, kept.sizes).astype(np.float64)
    values = [plain(kept.values[place]) for place in first.tolist()]
    scores = np.log(known) if kind == "log" else known
    if rules.scale == "auto":
        scores, n_beyond = _clipped(known, rows)
        ends = float(scores[0]), float(scores[-1])
        notes += [Note("label-clipped", (name,), (n_beyond, int(rows.sum())), (ends,))] if n_beyond else []
    if len(known) > MANY_CODES and rows.sum() > FEW_ROWS:
        merged = merge_bins(rows.astype(np.int64), MANY_CODES, has_missing=False).astype(np.intp)
        notes.append(Note("label-means", (name,), (len(known), int(merged[-1]) + 1)))
        code_of, values, scores = merged[code_of], _means(known, rows, merged).tolist(), _means(scores, rows, merged)
        rows = np.bincount(merged, rows).astype(np.float64)
    if kind == "ranks":
        scores = _percent_below(rows)
    scale = Scale(kind, unit if kind == "number" else "", np.asarray(scores, np.float64))
    return Labels(_recoded(column, occurring, np.append(code_of, MISSING), values), scale, column, tuple(notes))


def _clipped(numbers: Floats, rows: Floats) -> tuple[Floats, int]:
    """Sorted numbers, those far from the median at a bound; and how many rows these have.

    On either side, the bound is ``FAR`` times the robust standard deviation away, which is 1.4826 times the median
    distance of the rows on that side. Rows at the median do not count, because it may be the number of most, such as 0.
    """
    middle, bounded, n_beyond = numbers[np.searchsorted(np.cumsum(rows), rows.sum() / 2)], numbers.copy(), 0
    for side in (-1, 1):
        distance = side * (numbers - middle)
        places = np.flatnonzero(distance > 0)[::side]
        if len(places):
            up_to = np.cumsum(rows[places])
            reach = FAR * 1.4826 * distance[places[np.searchsorted(up_to, up_to[-1] / 2)]]
            bounded[distance > reach] = middle + side * reach
            n_beyond += int(rows[distance > reach].sum())
    return bounded, n_beyond


def _means(numbers: Floats, rows: Floats, code_of: Positions) -> Floats:
    """The mean of each code; about the middle, so that large numbers that differ little keep their digits."""
    middle = numbers[len(numbers) // 2]
    return np.asarray(middle + np.bincount(code_of, rows * (numbers - middle)) / np.bincount(code_of, rows))


def _as_numbers(kept: Column, what: str) -> tuple[Floats, str]:
    """The values as numbers, with their unit: days of dates, days, hours or seconds of durations."""
    if kept.is_time:
        times = as_times(kept)
        if times is not None:
            return (times - times.min()) / np.timedelta64(1, "D"), "days"
    first = kept.values[0]
    if isinstance(first, timedelta | np.timedelta64):
        seconds = np.asarray(kept.values, "m8[us]") / np.timedelta64(1, "s")
        longest = float(np.abs(seconds).max())
        unit = "days" if longest > 2 * 86_400 else "hours" if longest > 2 * 3_600 else "seconds"
        return seconds / {"days": 86_400, "hours": 3_600, "seconds": 1}[unit], unit
    numbers = np.array([float(value) for value in kept.values], np.float64)
    if not np.isfinite(numbers).all():
        raise InputError(f"The {what} has an infinite value; leave out its rows, or give scale='ranks' a finite one.")
    return numbers, ""


def _ordered(merged: Column, order: Sequence[Hashable], what: str, notes: list[Note], rules: Rules) -> Labels:
    """Labels that are places in an order of classes."""
    known = {plain(value): place for place, value in enumerate(order)}
    texts = {str(value): place for value, place in known.items()}
    place_of = [known.get(plain(value), texts.get(str(value))) for value in merged.values]
    if unknown := [value for value, place in zip(merged.values, place_of, strict=True) if place is None]:
        raise InputError(
            f"ordered leaves out {listing([repr(plain(value)) for value in unknown])}, which the {what} holds; name all"
            " of its classes in increasing order."
        )
    if rules.scale not in ("auto", "number", "ranks"):
        raise InputError(f"scale={rules.scale!r} needs numbers, and the {what} has classes in order; leave out scale.")
    places = np.array([place for place in place_of if place is not None])
    by_place = np.argsort(places, kind="stable")
    column = Column(merged.recoded(np.append(np.argsort(by_place), MISSING)), [merged.values[k] for k in by_place])
    if rules.scale == "ranks":
        scale = Scale("ranks", "", _percent_below(merged.sizes[by_place].astype(np.float64)))
    else:
        scale = Scale("ordered", "", np.arange(len(by_place), dtype=np.float64))
    return Labels(column, scale, merged, tuple(notes))


def _percent_below(rows: Any) -> Floats:
    """Share of the rows below the middle of each value, in per cent."""
    return np.asarray(100 * (np.cumsum(rows) - rows / 2) / rows.sum())


def _usual_order(values: Sequence[Any]) -> list[Any]:
    """The values in a usual order of words; empty if they are not such words."""
    words = {str(value).strip().lower(): value for value in values}
    for usual in USUAL_ORDERS:
        if words.keys() <= set(usual):
            return [words[word] for word in usual if word in words]
    return []


def _sorted(labels: Column) -> Column:
    """Classes in increasing order, or in order of appearance if they cannot be sorted, for every kind of table."""
    values = list(labels.values)
    try:
        order = sorted(range(len(values)), key=values.__getitem__)
    except TypeError:
        order = np.argsort(labels.first_positions()).tolist()
    if order == list(range(len(values))):
        return labels
    return Column(np.argsort(order)[labels.codes], [values[c] for c in order])
