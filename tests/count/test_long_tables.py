"""What keeps long tables small in memory: codes changed when looked at, and rows that contradict each other."""

import numpy as np
import pytest

from analogical import _types
from analogical._types import CodedRows, RecodedMatrix
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


@pytest.mark.parametrize(
    "index",
    [
        slice(None),
        slice(3, 9),
        np.array([5, 1, 5]),
        (slice(2, 30), slice(1, 4)),
        (np.array([7, 0]), slice(0, 3)),
        (slice(None), [3, 1]),
        (slice(None), 2),
        (slice(None), 0),
        (np.arange(20) % 3 == 0, slice(None)),
    ],
)
def test_a_matrix_recoded_when_looked_at_is_the_recoded_matrix(index):
    codes = np.asfortranarray(np.random.default_rng(0).integers(0, 5, (20, 4)).astype(np.uint8))
    tables = {0: np.array([4, 3, 2, 1, 0], np.uint8), 2: np.array([0, 0, 1, 1, 2], np.uint8)}
    expected = codes.copy()
    for column, table in tables.items():
        expected[:, column] = [table[code] for code in codes[:, column]]
    matrix = RecodedMatrix(codes, tables)
    before = codes.copy()
    assert np.array_equal(matrix[index], expected[index])
    assert np.array_equal(codes, before)
    assert (len(matrix), matrix.shape, matrix.size, matrix.dtype) == (20, (20, 4), 80, np.uint8)


def test_coarser_bins_of_a_long_table_are_the_same(monkeypatch):
    rng = np.random.default_rng(1)
    codes = rng.integers(0, 5, (500, 3)).astype(np.uint8)
    rows = CodedRows(codes, codes[:, 0] % 2, np.array([5, 5, 5]), 2, n_bins=np.array([5, 0, 4]))
    short = rows.coarser(2)
    monkeypatch.setattr(_types, "LONG", 100)
    long = rows.coarser(2)
    assert isinstance(long.codes, RecodedMatrix)
    assert np.array_equal(long.codes[:], short.codes)
    drawn = np.array([3, 400, 77])
    assert np.array_equal(long.take(drawn).codes, short.codes[drawn])
    assert count_pairs(long).n_contradictions == count_pairs(short).n_contradictions


@pytest.mark.parametrize("seed", range(12))
def test_counts_do_not_depend_on_the_size_of_chunks(seed, monkeypatch):
    rng = np.random.default_rng(seed)
    n_features = int(rng.integers(20, 60))
    codes = rng.integers(0, 4, (40, n_features)).astype(np.uint8)[rng.integers(0, 40, 600)]
    codes[np.arange(600), rng.integers(0, n_features, 600)] = rng.integers(0, 4, 600)  # few rows are alone
    rows = CodedRows(codes, rng.integers(0, 2, 600).astype(np.uint8), np.full(n_features, 4), 2)
    expected = count_pairs(rows)
    assert expected.pairs.sum() > 500
    monkeypatch.setattr(sorting, "CHUNK", 7)
    found = count_pairs(rows)
    assert np.array_equal(found.pairs, expected.pairs)
    assert np.array_equal(found.changed, expected.changed)
    assert (found.n_distinct, found.n_identical) == (expected.n_distinct, expected.n_identical)
