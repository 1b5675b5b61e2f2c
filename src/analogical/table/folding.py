"""Merging values that are spellings of one word: upper and lower case, spaces, and yes, y and true."""

from collections.abc import Sequence
from typing import NamedTuple

import numpy as np

from analogical._types import Ints, Note, NoteKind
from analogical.table.columns import MISSING, Column

__all__ = ["Folded", "Spellings", "fold_notes", "fold_values"]

MOST_VALUES = 2**16
"""Columns with more values are not merged."""
_MEANINGS = (("yes", "y", "true", "t", "1"), ("no", "n", "false", "f", "0"))

Merge = tuple[str, ...]
"""Values that become one, named after the first, which is the most frequent."""


class Spellings(NamedTuple):
    """The spellings of one value in a column."""

    merged: tuple[Merge, ...] = ()
    possible: tuple[Merge, ...] = ()
    """Those that ``fold_case=True`` would also merge."""


class Folded(NamedTuple):
    """A column after spellings were merged."""

    column: Column
    spellings: Spellings = Spellings()


def fold_values(column: Column, weights: Ints | None, fold_case: bool | None) -> Folded:
    """Merge the values of a column that differ only in case or spaces.

    By default (``fold_case`` is None) single letters are not merged, because they may be codes, such as the alleles A
    and a. ``fold_case=True`` merges them too, and all words for yes or no in a column that holds nothing else.
    """
    n = len(column.values)
    if fold_case is False or column.kind != "category" or not 2 <= n <= MOST_VALUES:
        return Folded(column)
    values = list(column.values)
    if not all(isinstance(value, str) for value in values):
        return Folded(column)
    folded = [" ".join(value.split()).casefold() for value in values]
    keys = _meanings(folded) or folded
    default_keys = [key if len(key) > 1 else " ".join(value.split()) for key, value in zip(folded, values, strict=True)]
    if len(set(keys)) == n:
        return Folded(column)
    sizes = column.count_values(weights).tolist()
    merges = _merges(keys, values, sizes)
    if fold_case:
        return Folded(_merge(column, keys, merges), Spellings(merges))
    merged = _merges(default_keys, values, sizes)
    possible = tuple(merge for merge in merges if merge not in merged)
    return Folded(_merge(column, default_keys, merged) if merged else column, Spellings(merged, possible))


def _meanings(keys: Sequence[str]) -> list[str] | None:
    """Yes or no for each word; None if some word means neither."""
    meaning_of = {word: words[0] for words in _MEANINGS for word in words}
    return [meaning_of[key] for key in keys] if all(key in meaning_of for key in keys) else None


def _merges(keys: Sequence[str], values: Sequence[str], sizes: Sequence[int]) -> tuple[Merge, ...]:
    """The values of each key that has several, most frequent first."""
    codes_of: dict[str, list[int]] = {}
    for code, key in enumerate(keys):
        codes_of.setdefault(key, []).append(code)
    return tuple(
        tuple(values[c] for c in sorted(codes, key=lambda c: (-sizes[c], values[c])))
        for _, codes in sorted(codes_of.items())
        if len(codes) > 1
    )


def _merge(column: Column, keys: Sequence[str], merges: Sequence[Merge]) -> Column:
    """The column with one code for all values of the same key, in the order of the first of them."""
    code_of: dict[str, int] = {}
    codes = np.array([*(code_of.setdefault(key, len(code_of)) for key in keys), MISSING], np.int64)
    name_of = {value: merge[0] for merge in merges for value in merge}
    names: dict[str, str] = {}
    for key, value in zip(keys, column.values, strict=True):
        names.setdefault(key, name_of.get(value, value))
    return Column(column.recoded(codes), list(names.values()))


def fold_notes(spellings: dict[str, Spellings]) -> list[Note]:
    """Notes on the spellings that were merged, and on those that could be, by name of the column."""
    merged = [(name, merge) for name, known in spellings.items() for merge in known.merged]
    possible = [(name, merge) for name, known in spellings.items() for merge in known.possible]
    return [*_fold_note("folded", merged), *_fold_note("may-fold", possible)]


def _fold_note(kind: NoteKind, merges: Sequence[tuple[str, Merge]]) -> list[Note]:
    words = tuple(", ".join(map(repr, merge)) for _, merge in merges)
    return [Note(kind, tuple(name for name, _ in merges), words=words)] if merges else []
