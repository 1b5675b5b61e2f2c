"""The paper's index and statuses, from counts of pairs."""

from typing import Literal

import numpy as np

from analogical._types import Floats, Ints
from analogical.count.counts import PairCounts

__all__ = ["PaperStatus", "ari_of", "paper_status_of", "score_pairs"]

PaperStatus = Literal["relevant", "irrelevant", "constant", "no-pairs"]
"""The paper's words: some pair changed its label; there are pairs and none did; one value; several and no pair."""


def score_pairs(counts: PairCounts) -> Floats:
    """Share of the pairs of each feature whose labels differ; NaN without pairs."""
    score = np.full(len(counts.pairs), np.nan)
    np.divide(counts.changed, counts.pairs, out=score, where=counts.pairs > 0)
    return score


def ari_of(counts: PairCounts, n_values: Ints) -> Floats:
    """The paper's index of each feature: 0 if it is constant, 2 without pairs, otherwise the share of changed pairs."""
    return np.select([n_values == 1, counts.pairs == 0], [0.0, 2.0], score_pairs(counts))


def paper_status_of(counts: PairCounts, n_values: Ints) -> tuple[PaperStatus, ...]:
    """The paper's word for each feature."""
    statuses: list[PaperStatus] = np.select(
        [n_values == 1, counts.pairs == 0, counts.changed > 0], ["constant", "no-pairs", "relevant"], "irrelevant"
    ).tolist()
    return tuple(statuses)
