"""The table as whole numbers: bins of numbers merged to fewer."""

from dataclasses import replace

import numpy as np
from conftest import coded


def binned(column, n_bins, other=None):
    """One column of bins beside one of categories."""
    other = np.arange(len(column)) % 2 if other is None else other
    rows = coded(np.column_stack([column, other]), np.arange(len(column)) % 2)
    return replace(rows, n_bins=np.array([n_bins, 0]))


def test_neighbouring_bins_are_merged_to_about_equal_sizes_and_categories_stay():
    rows = binned(np.repeat([0, 1, 2, 3, 4], 20), 5)
    merged = rows.coarser(2)
    assert np.unique(np.column_stack([rows.codes[:, 0], merged.codes[:, 0]]), axis=0).tolist() == [
        [0, 0],
        [1, 0],
        [2, 1],
        [3, 1],
        [4, 1],
    ]
    assert merged.codes[:, 1].tolist() == rows.codes[:, 1].tolist()
    assert (merged.n_values.tolist(), merged.n_bins.tolist()) == ([2, 2], [2, 0])
    assert rows.codes[:, 0].max() == 4  # the table itself is left alone


def test_missing_cells_are_never_merged_with_a_bin():
    rows = binned(np.repeat([0, 1, 2, 3, 4, 5], 10), 5)  # the last code is missing
    merged = rows.coarser(3)
    missing = merged.codes[rows.codes[:, 0] == 5, 0]
    assert set(missing.tolist()) == {3}
    assert (merged.codes[rows.codes[:, 0] < 5, 0] < 3).all()
    assert (merged.n_values[0], merged.n_bins[0]) == (4, 3)


def test_a_bin_with_most_rows_keeps_them_apart_from_the_others_where_it_can():
    rows = binned(np.repeat([0, 1, 2, 3, 4], [92, 2, 2, 2, 2]), 5)
    merged = rows.coarser(2).codes[:, 0]
    assert set(merged[:92].tolist()) == {0}
    assert set(merged[92:].tolist()) == {1}


def test_weights_count_as_rows():
    column, weights = np.array([0, 1, 2, 3, 4, 0]), np.array([5, 1, 3, 2, 7, 1])
    weighted = binned(column, 5).weighted(weights)
    repeated = binned(np.repeat(column, weights), 5, np.repeat(np.arange(6) % 2, weights))
    assert np.repeat(weighted.coarser(3).codes, weights, axis=0).tolist() == repeated.coarser(3).codes.tolist()


def test_parts_of_the_table_keep_their_bins():
    rows = binned(np.repeat([0, 1, 2], 4), 3)
    assert rows.take(np.arange(6)).n_bins.tolist() == [3, 0]
    assert rows.weighted(np.ones(12, np.int64)).n_bins.tolist() == [3, 0]
    assert rows.select([1, 0]).n_bins.tolist() == [0, 3]
    assert rows.has_numbers
    assert not rows.select([1]).has_numbers
