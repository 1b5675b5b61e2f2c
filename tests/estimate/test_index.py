"""The paper's index and its words."""

import numpy as np

from analogical.count.contexts import PairCounts
from analogical.estimate.status import ari_of, paper_status_of, score_pairs


def test_index_and_status_of_every_kind_of_feature():
    counts = PairCounts(np.array([4, 4, 0, 0]), np.array([1, 0, 0, 0]), 8, 8, 0, 0)
    n_values = np.array([2, 2, 1, 3])
    assert ari_of(counts, n_values).tolist() == [0.25, 0.0, 0.0, 2.0]
    assert score_pairs(counts)[:2].tolist() == [0.25, 0.0]
    assert np.isnan(score_pairs(counts)[2:]).all()
    assert paper_status_of(counts, n_values) == ("relevant", "irrelevant", "constant", "no-pairs")
