"""How to count a table on Spark: collect its distinct rows, or count it block by block.

If rows are divided by their values outside a block of features, all pairs for these features are within the parts, and
the counts add up (``PairCounts.__add__``). Two blocks are enough if the columns outside each of them vary enough.
Features are dealt to the blocks by their entropy, because a block whose outside hardly varies would put all rows into
one part; if one part is still much larger than the others, more blocks are tried.
"""

from dataclasses import dataclass
from typing import Any, Literal

import numpy as np

from analogical._types import CodedRows, Margins
from analogical.count.groups import number_groups
from analogical.engines.blocks import deal_features

__all__ = ["MOST_GROUPS", "SparkPlan", "choose_plan", "finishes_in_memory"]

MOST_BLOCKS = 4
EVEN = 2.0
"""Largest part over the mean beyond which more blocks are tried, and identical rows merged."""
CELLS_EACH = 5_000_000
MOST_CELLS = 20_000_000
"""Cells of a partition, preferred and at most. A task holds a partition as words, codes and sorted keys, about 10 bytes
a cell, outside the executor's heap."""
MOST_GROUPS = 1_000_000
"""Largest number of distinct rows that are collected."""
MERGED = 0.7
"""Identical rows are merged before the shuffle if that leaves at most this share of the rows."""


@dataclass(frozen=True)
class SparkPlan:
    """How the rows of a table are counted on Spark."""

    kind: Literal["collected", "grouped", "blocks"]
    """All rows are collected, or the distinct ones with their numbers, or rows are counted on Spark block by block."""
    blocks: tuple[tuple[Any, ...], ...]
    """Features of each block, by position; in a result, by name."""
    n_partitions: int
    skew: float
    """Estimated size of the largest partition over the mean."""
    is_merged: bool
    """Whether identical rows with the same label are merged before the shuffle."""


def finishes_in_memory(n_rows: int, n_distinct: float, needs_rows: bool) -> bool:
    """Whether the distinct rows are few enough to be collected.

    ``needs_rows`` says that the search or the tests use all rows.
    """
    return n_distinct <= MOST_GROUPS and (needs_rows or n_distinct <= n_rows / 2)


def choose_plan(margins: Margins, sample: CodedRows, n_distinct: float, shuffle_partitions: int) -> SparkPlan:
    """Blocks, partitions and merging for a table whose distinct rows are too many to collect."""
    n_cells = margins.n_rows * margins.n_features
    few = min(-(-n_cells // CELLS_EACH), shuffle_partitions)
    n_partitions = int(max(1, few, -(-n_cells // MOST_CELLS)))
    best: tuple[float, tuple[tuple[int, ...], ...]] | None = None
    for n_blocks in range(min(2, margins.n_features), min(MOST_BLOCKS, margins.n_features) + 1):
        blocks = deal_features(margins, n_blocks)
        skew = max(largest_part(sample, block, n_partitions) for block in blocks)
        if best is None or skew < best[0]:
            best = (skew, blocks)
        if skew <= EVEN:
            break
    assert best is not None  # noqa: S101 (a table has features)
    skew, blocks = best
    is_merged = skew > EVEN or n_distinct <= MERGED * margins.n_rows
    return SparkPlan("blocks", blocks, n_partitions, skew, is_merged)


def largest_part(sample: CodedRows, block: tuple[int, ...], n_partitions: int) -> float:
    """Size of the largest part over the mean, if rows are divided by their values outside a block."""
    outside = [i for i in range(sample.n_features) if i not in block]
    if not outside or not len(sample.codes):
        return float(n_partitions)
    groups = np.unique(number_groups(sample.codes, sample.n_values, outside), return_inverse=True)[1]
    rows = np.bincount(groups, sample.weights)
    return max(1.0, float(rows.max() / rows.sum()) * n_partitions)
