"""The paper's index and its words."""

import numpy as np

from analogical.count.counts import PairCounts
from analogical.estimate.index import score_pairs


def test_index_and_status_of_every_kind_of_feature():
    counts = PairCounts(np.array([4, 4, 0, 0]), np.array([1, 0, 0, 0]), 8, 8, 0, 0)
    found = score_pairs(counts, np.array([2, 2, 1, 3]))
    assert found.ari.tolist() == [0.25, 0.0, 0.0, 2.0]
    assert found.score[:2].tolist() == [0.25, 0.0]
    assert np.isnan(found.score[2:]).all()
    assert found.paper_status == ("relevant", "irrelevant", "constant", "no-pairs")
