"""A reproduced table: printed value, our value, expected value, and whether they agree, cell by cell."""

import math
from collections import Counter
from collections.abc import Iterable
from dataclasses import asdict, dataclass
from typing import Any, Literal

from scipy.stats import norm, t

__all__ = ["Cell", "ReproducedTable", "Variant", "estimated_bound", "known_bound"]

Variant = Literal["as-published", "corrected"]

PAPER_RUNS = 10
"""Repetitions behind every printed average."""
Z = 3.0
"""Two numbers agree when they lie within three standard errors, and the rounding of the printed one."""


@dataclass(frozen=True)
class Cell:
    """One number of a table."""

    group: str
    row: str
    column: str
    printed: float | None
    ours: float | None
    sd: float | None = None
    """Standard deviation of our runs; None where nothing varies."""
    expected: float | None = None
    """What the average of ever more runs tends to, where it is known exactly."""
    bound: float | None = None
    """How far the printed number may lie from the expected one (or ours, if that is unknown) by chance."""
    printed_sd: float | None = None

    @property
    def reference(self) -> float | None:
        """What the printed number is held against: the expected value, or ours where that is unknown."""
        return self.ours if self.expected is None else self.expected

    @property
    def verdict(self) -> str:
        """``"agrees"``, ``"differs"``, or nothing if there is no printed number or nothing to hold it against."""
        if self.printed is None or self.reference is None or self.bound is None:
            return ""
        return "agrees" if abs(self.printed - self.reference) <= self.bound + 1e-9 else "differs"

    def to_dict(self) -> dict[str, Any]:
        """Plain types, ready for JSON and CSV."""
        return {**asdict(self), "verdict": self.verdict}


@dataclass(frozen=True)
class ReproducedTable:
    """A table of the paper, run again."""

    name: str
    variant: Variant
    title: str
    about: str
    """How the numbers came about, for a reader of the paper."""
    cells: tuple[Cell, ...]
    row_titles: dict[str, str]
    decimals: int | None = 2
    """Digits to show after the point; None means four significant ones."""
    parts: Literal["row", "column"] = "row"
    """Whether the methods, or sizes, that are counted one by one are the rows or the columns."""
    notes: tuple[str, ...] = ()
    """What was left out or chosen, to be said next to the numbers."""

    def agreement(self) -> tuple[int, int]:
        """How many printed numbers agree, and how many could be judged."""
        return _agreement(self.cells)

    def agreement_by_part(self) -> dict[str, tuple[int, int]]:
        """The same for each method or sample size that has printed numbers."""
        parts: dict[str, list[Cell]] = {}
        for cell in self.cells:
            parts.setdefault(getattr(cell, self.parts), []).append(cell)
        counts = {part: _agreement(cells) for part, cells in parts.items()}
        return {part: count for part, count in counts.items() if count[1]}

    def groups(self) -> list[str]:
        """Groups of rows, in order of appearance."""
        return list(dict.fromkeys(cell.group for cell in self.cells))

    def rows(self, group: str | None = None) -> list[str]:
        """Rows of a group (or of all), in order of appearance."""
        return list(dict.fromkeys(cell.row for cell in self.cells if group in (None, cell.group)))

    def cells_of(self, group: str, row: str) -> list[Cell]:
        """Cells of one row."""
        return [cell for cell in self.cells if (cell.group, cell.row) == (group, row)]

    def to_dict(self) -> dict[str, Any]:
        """Plain types, ready for JSON."""
        agrees, judged = self.agreement()
        return {
            "table": self.name,
            "variant": self.variant,
            "title": self.title,
            "about": self.about,
            "notes": list(self.notes),
            "printed_cells_judged": judged,
            "printed_cells_agreeing": agrees,
            "cells": [cell.to_dict() for cell in self.cells],
        }


def _agreement(cells: Iterable[Cell]) -> tuple[int, int]:
    verdicts = Counter(cell.verdict for cell in cells)
    return verdicts["agrees"], verdicts["agrees"] + verdicts["differs"]


def known_bound(sd: float, runs: int = PAPER_RUNS, half_unit: float = 0.0) -> float:
    """How far a printed mean of runs may lie from its expectation; sd, known exactly, is that of one run."""
    return Z * sd / math.sqrt(runs) + half_unit


def estimated_bound(sd: float, runs: int, *, share: float, half_unit: float = 0.0) -> float:
    """The same with sd estimated from our runs, by Student's distribution.

    ``share`` is the variance of the difference in units of one run: 1/10 for a printed mean of ten runs
    against its expectation, 1/10 + 1/runs against our mean, 1 + 1/runs for a single printed run.
    """
    quantile = float(t.ppf(norm.cdf(Z), df=runs - 1))
    return quantile * sd * math.sqrt(share) + half_unit
