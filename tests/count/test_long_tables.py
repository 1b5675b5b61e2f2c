"""What keeps long tables small in memory: codes changed when looked at, and rows that contradict each other."""

import numpy as np
import pytest

from analogical._types import CodedRows
from analogical.count import sorting
from analogical.count.pairs import count_pairs


def random_rows(seed, n_rows=None):
    rng = np.random.default_rng(seed)
    n_rows = int(rng.integers(2, 200)) if n_rows is None else n_rows
    n_values = rng.integers(1, 6, int(rng.integers(1, 40 if seed % 3 == 0 else 5)))
    codes = rng.integers(0, n_values, (n_rows, len(n_values))).astype(np.uint8)
    if seed % 2:
        codes[rng.integers(0, n_rows)] = codes[0]
    labels = rng.integers(0, 2, n_rows).astype(np.uint8)
    if seed % 5 == 0:
        labels = codes.sum(axis=1).astype(np.uint8) % 2
    return CodedRows(codes, labels, n_values, 2)


@pytest.mark.parametrize("seed", range(60))
def test_contradictions_are_found_where_identical_rows_have_different_labels(seed):
    rows = random_rows(seed)
    labels_of = {}
    for row, label in zip(rows.codes.tolist(), rows.labels.tolist(), strict=True):
        labels_of.setdefault(tuple(row), set()).add(label)
    assert (count_pairs(rows).n_contradictions > 0) == any(len(labels) > 1 for labels in labels_of.values())


@pytest.mark.parametrize("seed", range(12))
def test_counts_do_not_depend_on_the_size_of_chunks(seed, monkeypatch):
    rng = np.random.default_rng(seed)
    n_features = int(rng.integers(20, 60))
    codes = rng.integers(0, 4, (40, n_features)).astype(np.uint8)[rng.integers(0, 40, 600)]
    codes[np.arange(600), rng.integers(0, n_features, 600)] = rng.integers(0, 4, 600)  # few rows are alone
    rows = CodedRows(codes, rng.integers(0, 2, 600).astype(np.uint8), np.full(n_features, 4), 2)
    expected = count_pairs(rows)
    assert expected.pairs.sum() > 500
    monkeypatch.setattr(sorting, "KEYS_AT_ONCE", 7)
    found = count_pairs(rows)
    assert np.array_equal(found.pairs, expected.pairs)
    assert np.array_equal(found.changed, expected.changed)
    assert (found.n_distinct, found.n_identical) == (expected.n_distinct, expected.n_identical)
