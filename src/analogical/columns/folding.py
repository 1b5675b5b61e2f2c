"""Merging values that are spellings of one word: upper and lower case, spaces, and yes, y and true."""

from collections.abc import Sequence
from typing import NamedTuple

import numpy as np

from analogical._types import Ints, Note, NoteKind
from analogical.columns.columns import MISSING, Values

__all__ = ["Merged", "Spellings", "find_spellings", "fold_notes", "merge_spellings"]

MOST_FOLDED = 2**16
"""Columns with more values are not merged."""
_MEANINGS = (("yes", "y", "true", "t", "1"), ("no", "n", "false", "f", "0"))

Merge = tuple[str, ...]
"""Values that become one, named after the first, which is the most frequent."""


class Merged(NamedTuple):
    """The values of a column after spellings were merged."""

    values: Values
    code_of: Ints
    """For each value before, its place among these, and last MISSING for missing cells."""


class Spellings(NamedTuple):
    """The spellings of one value in a column."""

    merged: tuple[Merge, ...] = ()
    possible: tuple[Merge, ...] = ()
    """Those that ``fold_case=True`` would also merge."""


def find_spellings(values: Values, fold_case: bool | None) -> Spellings:
    """The values of a column that differ only in case or spaces.

    By default (``fold_case`` is None) single letters are not merged, because they may be codes, such as the alleles A
    and a. ``fold_case=True`` merges them too, and all words for yes or no in a column that holds nothing else.
    """
    if fold_case is False or values.kind != "category" or not 2 <= len(values) <= MOST_FOLDED:
        return Spellings()
    texts = list(values.values)
    if not all(isinstance(text, str) for text in texts):
        return Spellings()
    folded = [" ".join(text.split()).casefold() for text in texts]
    keys = _meanings(folded) or folded
    default_keys = [key if len(key) > 1 else " ".join(text.split()) for key, text in zip(folded, texts, strict=True)]
    if len(set(keys)) == len(texts):
        return Spellings()
    sizes = values.sizes.tolist()
    merges = _merges(keys, texts, sizes)
    if fold_case:
        return Spellings(merges)
    merged = _merges(default_keys, texts, sizes)
    return Spellings(merged, tuple(merge for merge in merges if merge not in merged))


def merge_spellings(values: Values, merges: Sequence[Merge]) -> Merged:
    """One code for all spellings of a word, named after the most frequent one, in the order of the first of them."""
    if not merges:
        return Merged(values, np.append(np.arange(len(values)), MISSING))
    name_of = {spelling: merge[0] for merge in merges for spelling in merge}
    code_of_name: dict[str, int] = {}
    codes = [code_of_name.setdefault(name_of.get(text, text), len(code_of_name)) for text in values.values]
    sizes = np.bincount(codes, values.sizes).astype(np.int64)
    merged = Values(list(code_of_name), sizes, n_missing=values.n_missing)
    return Merged(merged, np.array([*codes, MISSING]))


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


def fold_notes(spellings: dict[str, Spellings]) -> list[Note]:
    """Notes on the spellings that were merged, and on those that could be, by name of the column."""
    merged = [(name, merge) for name, known in spellings.items() for merge in known.merged]
    possible = [(name, merge) for name, known in spellings.items() for merge in known.possible]
    return [*_fold_note("folded", merged), *_fold_note("may-fold", possible)]


def _fold_note(kind: NoteKind, merges: Sequence[tuple[str, Merge]]) -> list[Note]:
    words = tuple(", ".join(map(repr, merge)) for _, merge in merges)
    return [Note(kind, tuple(name for name, _ in merges), words=words)] if merges else []
