"""What keeps long tables small in memory: codes changed when looked at, and rows that contradict each other."""

import tracemalloc

import numpy as np
import pytest

from analogical.count import pairs
from analogical.count.groups import CodedRows
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
    monkeypatch.setattr(pairs, "AT_ONCE", 7)
    found = count_pairs(rows)
    assert np.array_equal(found.pairs, expected.pairs)
    assert np.array_equal(found.changed, expected.changed)
    assert (found.n_distinct, found.n_identical) == (expected.n_distinct, expected.n_identical)


@pytest.mark.parametrize("order", ["C", "F"])
def test_codes_mapped_from_a_file_are_not_copied(tmp_path, order):
    rng = np.random.default_rng(0)
    n_features, n_values = 100, np.full(100, 3)
    codes = rng.integers(0, 3, (2000, n_features), dtype=np.uint8)[rng.integers(0, 2000, 40_000)]
    codes[np.arange(40_000), rng.integers(0, n_features, 40_000)] = 0
    labels = rng.integers(0, 2, 40_000).astype(np.uint8)
    expected = count_pairs(CodedRows(codes, labels, n_values, 2))
    assert expected.pairs.min() > 100
    mapped = np.memmap(tmp_path / "codes", np.uint8, "w+", shape=codes.shape, order=order)
    mapped[:] = codes
    tracemalloc.start()
    found = count_pairs(CodedRows(mapped, labels, n_values, 2))
    peak = tracemalloc.get_traced_memory()[1]
    tracemalloc.stop()
    assert found.pairs.tolist() == expected.pairs.tolist()
    assert found.changed.tolist() == expected.changed.tolist()
    assert peak < codes.nbytes, peak
