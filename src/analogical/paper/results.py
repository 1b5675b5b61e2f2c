"""A reproduced table: printed value, our value, expected value, and whether they agree, cell by cell."""

import math
from collections.abc import Iterable
from dataclasses import asdict, dataclass
from typing import Any, NamedTuple

from scipy.stats import norm, t

from analogical.paper.texts import ABOUT, TITLES, Variant

__all__ = ["Agreement", "PrintedCell", "ReproducedTable", "estimated_bound", "known_bound"]

PAPER_RUNS = 10
"""Repetitions behind every printed average."""
HALF_CENT = 0.005
"""What rounding to two digits may change."""
Z = 3.0
"""Two numbers agree if they lie within three standard errors, plus the rounding error of the printed one."""


@dataclass(frozen=True)
class PrintedCell:
    """One number of a table: as printed, and as reproduced."""

    group: str
    row: str
    column: str
    printed: float | None
    ours: float | None
    sd: float | None = None
    """Standard deviation of our runs; None where nothing varies."""
    expected: float | None = None
    """Expected value of the average, where it is known exactly."""
    bound: float | None = None
    """How far the printed number may differ from the expected one (or ours, if that is unknown) by chance."""
    printed_sd: float | None = None

    @property
    def reference(self) -> float | None:
        """What the printed number is compared with: the expected value, or ours where that is unknown."""
        return self.ours if self.expected is None else self.expected

    @property
    def verdict(self) -> str:
        """``"agrees"`` or ``"differs"``; empty if there is no printed number or nothing to compare it with."""
        if self.printed is None or self.reference is None or self.bound is None:
            return ""
        return "agrees" if abs(self.printed - self.reference) <= self.bound + 1e-9 else "differs"

    def to_dict(self) -> dict[str, Any]:
        """Plain types, ready for JSON and CSV."""
        return {**asdict(self), "verdict": self.verdict}


class Agreement(NamedTuple):
    """How many printed numbers agree, and how many could be judged."""

    agreeing: int
    judged: int

    @classmethod
    def of(cls, cells: Iterable[PrintedCell]) -> "Agreement":
        """The agreement of these cells."""
        verdicts = [cell.verdict for cell in cells]
        return cls(verdicts.count("agrees"), verdicts.count("agrees") + verdicts.count("differs"))


@dataclass(frozen=True)
class ReproducedTable:
    """A table of the paper, reproduced."""

    name: str
    variant: Variant
    cells: tuple[PrintedCell, ...]
    notes: tuple[str, ...] = ()
    """Data that is missing or was left out."""

    @property
    def stem(self) -> str:
        """Name of its files without extension; Table 5 is arithmetic and has one variant."""
        return self.name if self.name == "table5" else f"{self.name}-{self.variant}"

    @property
    def title(self) -> str:
        """The title of the table."""
        return TITLES[self.name]

    @property
    def about(self) -> str:
        """How the numbers were computed, for a reader of the paper."""
        return ABOUT[self.name, self.variant]

    def agreement(self) -> Agreement:
        """How many printed numbers agree, and how many could be judged."""
        return Agreement.of(self.cells)

    def agreement_by_part(self) -> dict[str, Agreement]:
        """Agreement by method or sample size with printed numbers: by column in Tables 3 and 5, otherwise by row."""
        part = "column" if self.name in ("table3", "table5") else "row"
        parts = dict.fromkeys(getattr(cell, part) for cell in self.cells)
        counts = {name: Agreement.of(cell for cell in self.cells if getattr(cell, part) == name) for name in parts}
        return {name: count for name, count in counts.items() if count.judged}

    def groups(self) -> dict[str, dict[str, list[PrintedCell]]]:
        """The cells of each row of each group, in order of appearance."""
        groups: dict[str, dict[str, list[PrintedCell]]] = {}
        for cell in self.cells:
            groups.setdefault(cell.group, {}).setdefault(cell.row, []).append(cell)
        return groups

    def to_dict(self) -> dict[str, Any]:
        """Plain types, ready for JSON."""
        agreement = self.agreement()
        return {
            "table": self.name,
            "variant": self.variant,
            "title": self.title,
            "about": self.about,
            "notes": list(self.notes),
            "printed_cells_judged": agreement.judged,
            "printed_cells_agreeing": agreement.agreeing,
            "cells": [cell.to_dict() for cell in self.cells],
        }


def known_bound(sd: float) -> float:
    """How far a printed mean may differ from its expectation; ``sd`` is the exact one of a single run."""
    return Z * sd / math.sqrt(PAPER_RUNS) + HALF_CENT


def estimated_bound(sd: float, runs: int, *, share: float) -> float:
    """The same with ``sd`` estimated from our runs, by Student's distribution.

    ``share`` is the variance of the difference in units of one run: 1/10 for a printed mean of ten runs
    against its expectation, 1/10 + 1/runs against our mean, 1 + 1/runs for a single printed run.
    """
    quantile = float(t.ppf(norm.cdf(Z), df=runs - 1))
    return quantile * sd * math.sqrt(share) + HALF_CENT
