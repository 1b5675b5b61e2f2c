"""Values that are one word in several spellings: capital and small letters, spaces, yes and y and true."""

from collections.abc import Sequence
from typing import Any, NamedTuple

import numpy as np

from analogical._types import Ints, Note
from analogical.table.columns import MISSING, Column

__all__ = ["Folded", "fold_notes", "fold_values"]

MOST_VALUES = 2**16
"""Columns with more values are not looked at."""
_MEANINGS = (("yes", "y", "true", "t", "1"), ("no", "n", "false", "f", "0"))

Merge = tuple[str, ...]
"""Values that become one, the most frequent first, whose name it has."""


class Folded(NamedTuple):
    """A column with values merged."""

    column: Any
    """The :class:`Column`."""
    done: tuple[Merge, ...] = ()
    possible: tuple[Merge, ...] = ()
    """Those that ``fold_case=True`` would merge beside."""


def fold_values(column: Column, weights: Ints | None, fold_case: bool | None) -> Folded:
    """The column with values merged that differ only in case or spaces.

    By itself (``fold_case`` is None) single letters are left apart, which may be codes, such as the alleles A and a.
    ``fold_case=True`` merges them too, and all that means yes or no in a column that holds nothing else.
    """
    n = len(column.values)
    if fold_case is False or column.kind != "category" or not 2 <= n <= MOST_VALUES:
        return Folded(column)
    values = list(column.values)
    if not all(isinstance(value, str) for value in values):
        return Folded(column)
    folded = [" ".join(value.split()).casefold() for value in values]
    wide = _meanings(folded) or folded
    careful = [key if len(key) > 1 else " ".join(value.split()) for key, value in zip(folded, values, strict=True)]
    if len(set(wide)) == n:
        return Folded(column)
    sizes = column.count_values(weights).tolist()
    all_merges = _merges(wide, values, sizes)
    if fold_case:
        return Folded(_merged(column, wide, all_merges), all_merges)
    done = _merges(careful, values, sizes)
    possible = tuple(merge for merge in all_merges if merge not in done)
    return Folded(_merged(column, careful, done) if done else column, done, possible)


def _meanings(keys: Sequence[str]) -> list[str] | None:
    """Yes and no for words that all mean one of them; None if some word does not."""
    meaning_of = {word: words[0] for words in _MEANINGS for word in words}
    return [meaning_of[key] for key in keys] if all(key in meaning_of for key in keys) else None


def _merges(keys: Sequence[str], values: Sequence[str], sizes: Sequence[int]) -> tuple[Merge, ...]:
    """Values with the same key, most frequent first, of the keys that have several."""
    together: dict[str, list[int]] = {}
    for place, key in enumerate(keys):
        together.setdefault(key, []).append(place)
    return tuple(
        tuple(values[p] for p in sorted(places, key=lambda p: (-sizes[p], values[p])))
        for _, places in sorted(together.items())
        if len(places) > 1
    )


def _merged(column: Column, keys: Sequence[str], merges: Sequence[Merge]) -> Column:
    """One code for all values with the same key, in the order of the first of them."""
    code_of: dict[str, int] = {}
    codes = np.array([*(code_of.setdefault(key, len(code_of)) for key in keys), MISSING], np.int64)
    name_of = {value: merge[0] for merge in merges for value in merge}
    names: dict[str, str] = {}
    for key, value in zip(keys, column.values, strict=True):
        names.setdefault(key, name_of.get(value, value))
    return Column(column.recoded(codes), list(names.values()))


def fold_notes(folded: dict[str, Folded]) -> list[Note]:
    """What was merged in columns by name, and what could be."""
    notes = []
    done = [(name, _written(merge)) for name, one in folded.items() for merge in one.done]
    possible = [(name, _written(merge)) for name, one in folded.items() for merge in one.possible]
    if done:
        notes.append(Note("folded", tuple(name for name, _ in done), words=tuple(words for _, words in done)))
    if possible:
        notes.append(Note("may-fold", tuple(name for name, _ in possible), words=tuple(words for _, words in possible)))
    return notes


def _written(merge: Merge) -> str:
    return ", ".join(map(repr, merge))
