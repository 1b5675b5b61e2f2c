"""Columns that may be finer than others: nothing is missed, and nearly nothing is found that is not there."""

import numpy as np
import pytest

from analogical.count.partitions import Divisions, Refuter, _mergings


def is_finer(fine, coarse):
    return len({*zip(fine.tolist(), coarse.tolist(), strict=True)}) == len(set(fine.tolist()))


def table(seed):
    """Random columns with 2 to 9 values, some merged or renamed from others; codes are dense."""
    rng = np.random.default_rng(seed)
    columns = [rng.integers(0, n, 40) for n in rng.integers(2, 10, 12)]
    columns += [column // 2 for column in columns] + [9 - column for column in columns[:4]]
    codes = np.column_stack([np.unique(column, return_inverse=True)[1] for column in columns]).astype(np.uint8)
    return codes, codes.max(axis=0).astype(np.int64) + 1


@pytest.mark.parametrize("seed", range(10))
def test_all_finer_columns_are_found(seed):
    codes, n_values = table(seed)
    everything = np.arange(codes.shape[1])
    expected = {
        (i, j) for i in everything for j in everything if n_values[i] > 1 and is_finer(codes[:, j], codes[:, i])
    }
    found = set(zip(*(part.tolist() for part in Divisions(codes, n_values).finer(everything, everything)), strict=True))
    assert {two for two in found if n_values[two[0]] > 1} == {two for two in expected if 2 <= n_values[two[1]] <= 6}
    refuter = Refuter(codes, everything, np.random.default_rng(0))
    possible = np.packbits(n_values > 1)
    for j in np.flatnonzero(n_values > 6).tolist():
        assert set(refuter.coarser_than(j, possible).tolist()) == {i for i, by in expected if by == j and i != j}


def test_renamed_columns_have_the_same_key_and_others_have_not():
    codes, n_values = table(0)
    keys = Divisions(codes, n_values).keys(np.arange(codes.shape[1]))
    for i in range(codes.shape[1]):
        for j in range(codes.shape[1]):
            same = is_finer(codes[:, i], codes[:, j]) and is_finer(codes[:, j], codes[:, i])
            assert (keys[i] == keys[j]) == same


def test_values_are_merged_in_all_ways():
    assert [len(list(_mergings(n))) for n in (1, 2, 3, 4, 5, 6)] == [1, 2, 5, 15, 52, 203]
    assert list(_mergings(3)) == [[0, 0, 0], [0, 0, 1], [0, 1, 0], [0, 1, 1], [0, 1, 2]]
