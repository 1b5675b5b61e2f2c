"""What a table must give, by comparing all rows with all; imports nothing from analogical."""

import math
from bisect import bisect_right
from collections import Counter
from dataclasses import dataclass
from datetime import date, datetime
from fractions import Fraction
from itertools import combinations
from typing import Any

MISSING = ("missing",)
"""Stands for a missing cell; all of them are one value."""


def plain_cell(cell: Any) -> Any:
    """A cell as it is compared: missing ones are equal, and a day is its midnight."""
    if cell is None or cell != cell:
        return MISSING
    return datetime(cell.year, cell.month, cell.day) if type(cell) is date else cell


@dataclass(frozen=True)
class Counted:
    """Rows as tuples with their labels and weights, and every pair of rows that differs on one feature or none."""

    rows: list[tuple[Any, ...]]
    labels: list[Any]
    weights: list[int]
    origin: list[int]
    """Where each row stands in the table."""
    pairs: list[list[tuple[int, int]]]
    """For each feature the pairs of rows that differ on it alone."""
    identical: list[tuple[int, int]]

    @classmethod
    def of(cls, columns: list[list[Any]], labels: list[Any], weights: list[int] | None) -> "Counted":
        """Rows of weight 0 and rows without a label are no rows."""
        weights = [1] * len(labels) if weights is None else weights
        origin = [r for r, label in enumerate(labels) if weights[r] and plain_cell(label) is not MISSING]
        numbered = [_number([plain_cell(column[r]) for r in origin]) for column in columns]
        codes = list(zip(*numbered, strict=True)) if columns else [()] * len(origin)
        pairs: list[list[tuple[int, int]]] = [[] for _ in columns]
        identical = []
        for r, s in combinations(range(len(origin)), 2):
            differing = -1
            for i, (one, other) in enumerate(zip(codes[r], codes[s], strict=True)):
                if one != other:
                    if differing >= 0:
                        break
                    differing = i
            else:
                (pairs[differing] if differing >= 0 else identical).append((r, s))
        rows = [tuple(plain_cell(column[r]) for column in columns) for r in origin]
        return cls(rows, [labels[r] for r in origin], [weights[r] for r in origin], origin, pairs, identical)

    @property
    def is_refused(self) -> bool:
        """Whether nothing can be compared: no row, one class, or no feature that varies."""
        return len(set(self.labels)) < 2 or all(n < 2 for n in self.n_values)

    @property
    def n_values(self) -> list[int]:
        return [len(set(column)) for column in zip(*self.rows, strict=True)]

    def weigh(self, pairs: list[tuple[int, int]], *, changed: bool = False) -> int:
        """How many pairs of rows these stand for; with ``changed``, those with different labels."""
        return sum(
            self.weights[r] * self.weights[s] for r, s in pairs if not changed or self.labels[r] != self.labels[s]
        )

    def counts(self) -> dict[str, Any]:
        """All counts of the table."""
        return {
            "pairs": [self.weigh(pairs) for pairs in self.pairs],
            "changed": [self.weigh(pairs, changed=True) for pairs in self.pairs],
            "n_values": self.n_values,
            "n_rows": sum(self.weights),
        }

    def effect(self, feature: int) -> tuple[int, float, float]:
        """Pairs of rows that are both repeated, the effect on them and their noise, as fractions until the end."""
        labels_of: dict[tuple[Any, ...], Counter[Any]] = {}
        for row, label, weight in zip(self.rows, self.labels, self.weights, strict=True):
            labels_of.setdefault(row, Counter())[label] += weight
        n_pairs = changed = 0
        noise = Fraction(0)
        for r, s in self.pairs[feature]:
            one, other = (labels_of[self.rows[k]] for k in (r, s))
            if one.total() > 1 and other.total() > 1:
                together = self.weights[r] * self.weights[s]
                n_pairs += together
                changed += together * (self.labels[r] != self.labels[s])
                noise += together * (_rate(one) + _rate(other)) / 2
        if not n_pairs:
            return 0, math.nan, math.nan
        return n_pairs, float((changed - noise) / n_pairs), float(noise / n_pairs)

    def transitions(self, feature: int) -> Counter[Any]:
        """Pairs by values and labels, the value that occurs first in the table first."""
        order = list(dict.fromkeys(row[feature] for row in self.rows))
        found: Counter[Any] = Counter()
        for pair in self.pairs[feature]:
            r, s = sorted(pair, key=lambda row: order.index(self.rows[row][feature]))
            key = self.rows[r][feature], self.rows[s][feature], self.labels[r], self.labels[s]
            found[key] += self.weights[r] * self.weights[s]
        return found

    def evidence(self, feature: int) -> set[tuple[int, int, bool, int]]:
        """Pairs by the places of their rows in the table, whether their labels differ, and what they stand for."""
        return {
            (
                self.origin[r],
                self.origin[s],
                self.labels[r] != self.labels[s],
                self.weights[r] * self.weights[s],
            )
            for r, s in self.pairs[feature]
        }

    def difference(self, feature: int, a: Any, b: Any, label: Any) -> dict[str, Any]:
        """What an audit says of two values and a label; the Mantel-Haenszel difference by its formula."""
        sizes: dict[Any, Counter[Any]] = {}
        crude = {a: Counter[bool](), b: Counter[bool]()}
        for row, mine, weight in zip(self.rows, self.labels, self.weights, strict=True):
            if row[feature] in (a, b):
                context = row[:feature] + row[feature + 1 :]
                sizes.setdefault(context, Counter())[row[feature] == b, mine == label] += weight
                crude[row[feature]][mine == label] += weight
        gained = lost = n_pairs = 0
        above = below = Fraction(0)
        for size in sizes.values():
            n_a, n_b = size[False, False] + size[False, True], size[True, False] + size[True, True]
            gained += size[True, True] * size[False, False]
            lost += size[True, False] * size[False, True]
            n_pairs += n_a * n_b
            above += Fraction(size[True, True] * n_a - size[False, True] * n_b, n_a + n_b)
            below += Fraction(n_a * n_b, n_a + n_b)
        shares = {value: Fraction(found[True], found.total()) for value, found in crude.items()}
        return {
            "pairs": n_pairs,
            "gained": gained,
            "lost": lost,
            "difference": float(above / below),
            "crude": float(shares[b] - shares[a]),
            "pair_difference": float(Fraction(gained - lost, n_pairs)),
        }


def _number(cells: list[Any]) -> list[int]:
    """Cells as numbers that are equal where the cells are."""
    number: dict[Any, int] = {}
    return [number.setdefault(cell, len(number)) for cell in cells]


def _rate(labels: Counter[Any]) -> Fraction:
    """How often two different rows of a group differ in label."""
    n = labels.total()
    return 1 - Fraction(sum(k * (k - 1) for k in labels.values()), n * (n - 1))


def binned(cells: list[Any], edges: list[Any]) -> list[Any]:
    """The number of the bin of each cell; missing ones stay missing."""
    return [None if cell is None else bisect_right(edges, cell) for cell in cells]
