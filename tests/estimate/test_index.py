import numpy as np

from analogical.count.counts import PairCounts
from analogical.estimate.index import rank_features, score_pairs


def test_index_and_status_of_every_kind_of_feature():
    counts = PairCounts(np.array([4, 4, 0, 0]), np.array([1, 0, 0, 0]), 8, 8, 0, 0)
    found = score_pairs(counts, np.array([2, 2, 1, 3]))
    assert found.ari.tolist() == [0.25, 0.0, 0.0, 2.0]
    assert found.score[:2].tolist() == [0.25, 0.0]
    assert np.isnan(found.score[2:]).all()
    assert found.paper_status == ("relevant", "irrelevant", "constant", "no-pairs")


def test_rank_is_by_score_then_pairs_then_column_with_the_unknown_last():
    score = np.array([np.nan, 0.5, np.nan, 0.5, 0.5, 0.0, 0.9])
    pairs = np.array([0, 3, 0, 7, 3, 9, 1])
    n_values = np.array([1, 2, 2, 2, 2, 2, 2])
    assert rank_features(score, pairs, n_values).tolist() == [6, 3, 1, 4, 5, 2, 0]
