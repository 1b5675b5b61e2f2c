"""Columns that determine others, in a table that an engine holds: found in a sample, confirmed on all rows."""

from collections.abc import Sequence
from itertools import combinations
from typing import TYPE_CHECKING

import numpy as np

from analogical._types import CodedRows, Codes, Floats, Ints, Positions
from analogical.count.groups import number_groups
from analogical.estimate.dependencies import Near, TableRows, near_among
from analogical.estimate.entropies import remaining_entropy
from analogical.table_counts import MergedRows

if TYPE_CHECKING:
    from analogical.engines.study import EngineStudy

__all__ = ["GroupedRows"]

SLACK = 0.05
"""How much higher the remaining entropy may be in the sample than on all rows: ten standard errors of 20,000 rows."""


class GroupedRows(TableRows):
    """Rows that an engine groups: what a sample shows is confirmed on all rows."""

    def __init__(self, study: "EngineStudy", sample: CodedRows) -> None:
        super().__init__(sample.codes, study.margins.n_values, sample.weights)
        self.study = study
        self.n_rows = self.n_listed = study.margins.n_rows
        self.head: Codes = np.ascontiguousarray(sample.codes)
        self.uncounted: set[int] = set()
        """Numbers of determinants for which some combinations of values were too many to be counted."""
        self.is_near_complete = True
        """Whether all columns that are near-copies in the sample were counted on all rows."""

    def value_sizes(self, column: int) -> Ints:
        """Rows of each value of a column."""
        return self.study.value_sizes(column)

    def group_sizes(self, by: tuple[int, ...]) -> Ints:
        """Rows of each combination of values of some columns; all 1 if these are too many."""
        if len(by) == 1:
            return self.value_sizes(by[0])
        sizes = self._sizes([by])[0]
        if sizes is None:
            self.uncounted.add(len(by))
        return np.broadcast_to(np.int64(1), self.n_rows) if sizes is None else sizes

    def agreeing(self, by: tuple[int, ...], targets: Positions) -> list[int]:
        """The targets that these columns determine."""
        n_groups = len(self.group_sizes(by))
        joined = dict(zip(targets.tolist(), self._sizes([(*by, target) for target in targets.tolist()]), strict=True))
        if any(sizes is None for sizes in joined.values()):
            self.uncounted.add(len(by))
        return [target for target, sizes in joined.items() if sizes is not None and len(sizes) == n_groups]

    def alike(self, columns: Sequence[int]) -> list[tuple[int, ...]]:
        """Groups of two or more columns that hold the same information."""
        twos = list(combinations(columns, 2))
        n_groups = {two: len(sizes) for two, sizes in zip(twos, self._sizes(twos), strict=True) if sizes is not None}
        groups: list[tuple[int, ...]] = []
        for column in columns:
            n_values = self.n_values[column]
            mine = next(
                (
                    k
                    for k, (first, *_) in enumerate(groups)
                    if n_groups.get((first, column)) == n_values == self.n_values[first]
                ),
                None,
            )
            if mine is None:
                groups.append((column,))
            else:
                groups[mine] = (*groups[mine], column)
        return [group for group in groups if len(group) > 1]

    def near_pairs(self, columns: Positions, limits: Floats, n_looked_at: int) -> list[Near]:  # noqa: ARG002
        """The same on all rows, among those near in the sample."""
        likely = near_among(self.rows.select(columns.tolist()), columns, limits + SLACK)
        place = {column: k for k, column in enumerate(columns.tolist())}
        counted = {}
        for merged in self.study.merged_by([(two.column, two.of) for two in likely], refuse=False):
            for two in (likely[member] for member in merged.members):
                counted[two] = _remaining_entropy(merged, two.column, two.of)
        self.is_near_complete = len(counted) == len(likely)
        pairs = [two._replace(remaining=remaining) for two, remaining in counted.items()]
        return [two for two in pairs if two.remaining <= limits[place[two.column], place[two.of]]]

    def remaining_entropy(self, column: int, of: int) -> float:
        """Share of the entropy of a column that another one leaves open."""
        return next(_remaining_entropy(merged, column, of) for merged in self.study.merged_by([(column, of)]))

    def _sizes(self, sets: Sequence[tuple[int, ...]]) -> list[Ints | None]:
        """For each set of columns the rows of each combination of values; None where these are too many."""
        sizes: list[Ints | None] = [None] * len(sets)
        for merged in self.study.merged_by(sets, refuse=False):
            place = {column: k for k, column in enumerate(merged.columns)}
            for member in merged.members:
                ids = number_groups(merged.rows.codes, merged.rows.n_values, [place[c] for c in sets[member]])
                of_row = np.unique(ids, return_inverse=True)[1]
                sizes[member] = np.bincount(of_row, merged.rows.weights).astype(np.int64)
        return sizes


def _remaining_entropy(merged: MergedRows, column: int, of: int) -> float:
    return remaining_entropy(merged.rows, merged.columns.index(column), merged.columns.index(of))
