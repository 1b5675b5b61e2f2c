"""The definitions of the paper, in plain Python, to be read beside it.

This is the teaching version: it compares every row with every other one and is slow on purpose.
:func:`analogical.relevance` counts the same pairs without making them. Features are positions from 0 (the paper: 1).

Examples
--------
>>> a = ("A", "yellow", 45, "male", 0)
>>> b = ("A", "red", 51, "female", 0)
>>> sorted(agreement_set(a, b)), sorted(disagreement_set(a, b)), hamming_distance(a, b)
([0, 4], [1, 2, 3], 3)
"""

from collections.abc import Hashable, Sequence
from itertools import combinations

from analogical.errors import InputError

__all__ = [
    "agreement_set",
    "ari",
    "dif",
    "dif_eq",
    "disagreement_set",
    "hamming_distance",
    "is_analogical_proportion",
    "is_irrelevant",
    "is_relevant",
    "values",
]

Row = Sequence[Hashable]
Pair = tuple[int, int]


def agreement_set(a: Row, b: Row) -> frozenset[int]:
    """Features on which two rows have the same value: the paper's Ag(a, b).

    Examples
    --------
    >>> sorted(agreement_set("xyz", "xyw"))
    [0, 1]
    """
    return frozenset(i for i in _positions(a, b) if a[i] == b[i])


def disagreement_set(a: Row, b: Row) -> frozenset[int]:
    """Features on which two rows have different values: the paper's Dag(a, b).

    Examples
    --------
    >>> sorted(disagreement_set("xyz", "xyw"))
    [2]
    """
    return frozenset(i for i in _positions(a, b) if a[i] != b[i])


def hamming_distance(a: Row, b: Row) -> int:
    """Number of features on which two rows differ: the paper's H(a, b) = abs(Dag(a, b)).

    Examples
    --------
    >>> hamming_distance("xyz", "xvw")
    2
    """
    return len(disagreement_set(a, b))


def is_analogical_proportion(a: Row, b: Row, c: Row, d: Row) -> bool:
    """Whether "a is to b as c is to d" holds on every feature, written a:b::c:d.

    On one feature it holds when both sides stay the same (s:s::t:t) or make the same change (s:t::s:t). It implies
    that a, b and c, d have the same agreement set; the reverse is not true.

    Examples
    --------
    A calf is to a cow as a foal is to a mare (age, kind); the second pair reversed has the same agreement set.

    >>> calf, cow, foal, mare = ("young", "cattle"), ("grown", "cattle"), ("young", "horse"), ("grown", "horse")
    >>> is_analogical_proportion(calf, cow, foal, mare), is_analogical_proportion(calf, cow, mare, foal)
    (True, False)
    """
    features = _positions(a, b, c, d)
    return all((a[i] == b[i] and c[i] == d[i]) or (a[i] == c[i] and b[i] == d[i]) for i in features)


def values(rows: Sequence[Row], feature: int) -> set[Hashable]:
    """Values that a feature takes in a sample: the paper's Val(i).

    Examples
    --------
    >>> sorted(values(["ax", "bx"], 0)), values(["ax", "bx"], 1)
    (['a', 'b'], {'x'})
    """
    return {row[feature] for row in rows}


def dif(rows: Sequence[Row], feature: int) -> list[Pair]:
    """Pairs of rows that differ on this feature and on no other: the paper's Dif(i).

    Pairs are positions (r, s) with r < s. The paper's ordered pairs are twice as many and give the same index.

    Examples
    --------
    >>> dif([(0, 0), (1, 0), (1, 1)], feature=0)
    [(0, 1)]
    """
    every = combinations(range(len(rows)), 2)
    return [(r, s) for r, s in every if disagreement_set(rows[r], rows[s]) == {feature}]


def dif_eq(rows: Sequence[Row], labels: Sequence[Hashable], feature: int) -> list[Pair]:
    """Pairs of ``dif`` whose labels are equal: the paper's Dif_Eq(i).

    Examples
    --------
    >>> dif_eq([(0, 0), (1, 0), (1, 1)], ["no", "no", "yes"], feature=0)
    [(0, 1)]
    """
    return [(r, s) for r, s in dif(rows, feature) if labels[r] == labels[s]]


def is_relevant(rows: Sequence[Row], labels: Sequence[Hashable], feature: int) -> bool:
    """Whether some pair that differs on this feature only has different labels.

    Examples
    --------
    >>> is_relevant([(0, 0), (1, 0), (1, 1)], ["no", "no", "yes"], feature=1)
    True
    """
    return any(labels[r] != labels[s] for r, s in dif(rows, feature))


def is_irrelevant(rows: Sequence[Row], labels: Sequence[Hashable], feature: int) -> bool:
    """Whether there are pairs that differ on this feature only, and all keep their label.

    A feature without any pair is neither relevant nor irrelevant: the sample says nothing about it.

    Examples
    --------
    >>> is_irrelevant([(0, 0), (1, 0), (1, 1)], ["no", "no", "yes"], feature=0)
    True
    """
    return bool(dif(rows, feature)) and not is_relevant(rows, labels, feature)


def ari(rows: Sequence[Row], labels: Sequence[Hashable], feature: int) -> float:
    """Analogical Relevance Index of one feature, read off its definition.

    0 if the feature has one value, 2 if it has several and there is no pair, otherwise the share of pairs whose labels
    differ.

    Examples
    --------
    >>> xor = [(0, 0), (0, 1), (1, 0), (1, 1)]
    >>> ari(xor, [0, 1, 1, 0], feature=0)
    1.0
    """
    if len(values(rows, feature)) == 1:
        return 0.0
    pairs = dif(rows, feature)
    if not pairs:
        return 2.0
    return (len(pairs) - len(dif_eq(rows, labels, feature))) / len(pairs)


def _positions(a: Row, *others: Row) -> range:
    """Feature positions of rows, which must have equal lengths."""
    for b in others:
        if len(a) != len(b):
            raise InputError(f"Rows of {len(a)} and {len(b)} features cannot be compared; give rows of equal length.")
    return range(len(a))
