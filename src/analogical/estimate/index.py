"""The paper's index and statuses, from counts of pairs."""

from dataclasses import dataclass
from typing import Literal

import numpy as np

from analogical._types import Floats, Ints
from analogical.count.counts import PairCounts

__all__ = ["PaperStatus", "Scores", "score_pairs"]

PaperStatus = Literal["relevant", "irrelevant", "constant", "no-pairs"]
"""The paper's words: some pair changed its label; there are pairs and none did; one value; several and no pair."""


@dataclass(frozen=True)
class Scores:
    """Scores of all features, in column order."""

    ari: Floats
    """The paper's index: 0 for a constant feature, 2 without pairs, otherwise changed / pairs."""
    score: Floats
    """The same, NaN where there is no evidence."""
    paper_status: tuple[PaperStatus, ...]


def score_pairs(counts: PairCounts, n_values: Ints) -> Scores:
    """Turn counts into the paper's index and into the score that features are ranked by."""
    constant = n_values == 1
    without_pairs = counts.pairs == 0
    score = np.full(len(n_values), np.nan)
    np.divide(counts.changed, counts.pairs, out=score, where=~without_pairs)
    ari = np.where(constant, 0.0, np.where(without_pairs, 2.0, score))
    is_relevant = counts.changed > 0
    status = tuple(map(_paper_status, constant.tolist(), without_pairs.tolist(), is_relevant.tolist()))
    return Scores(ari, score, status)


def _paper_status(is_constant: bool, is_without_pairs: bool, is_relevant: bool) -> PaperStatus:
    if is_constant:
        return "constant"
    if is_without_pairs:
        return "no-pairs"
    return "relevant" if is_relevant else "irrelevant"
