"""Rows brought together by values and label: every number against a dictionary of the rows."""

from collections import Counter

import numpy as np
import pytest
from conftest import coded, random_table

from analogical.count.entries import Entries


def made(seed):
    rng = np.random.default_rng(seed)
    rows, labels = random_table(rng, n_rows=40, n_features=5, n_values=4, n_labels=3)
    weights = rng.integers(0, 4, 40) if seed % 2 else np.ones(40, int)
    return rows, labels, weights, coded(rows, labels, weights if seed % 2 else None)


@pytest.mark.parametrize("seed", range(10))
def test_entries_are_the_different_values_and_labels(seed):
    rows, labels, weights, table = made(seed)
    entries = Entries.by_label(table).refined(table, [3]).refined(table, [0, 4])
    keys = [(*row, label) for row, label in zip(rows[:, [3, 0, 4]].tolist(), labels.tolist(), strict=True)]
    sizes = Counter()
    for key, weight in zip(keys, weights.tolist(), strict=True):
        sizes[key] += weight
    of_row = entries.of_row.tolist()
    of_entry = [keys[of_row.index(entry)] for entry in range(len(entries))]
    assert len(set(of_entry)) == len(entries) == len(sizes)
    assert [of_entry[entry] for entry in of_row] == keys
    assert dict(zip(of_entry, entries.sizes.tolist(), strict=True)) == sizes
    assert entries.labels.tolist() == [key[-1] for key in of_entry]


@pytest.mark.parametrize("features", [[1], [0, 2], [4, 1, 3]])
@pytest.mark.parametrize("seed", range(10))
def test_entries_are_divided_by_features_together_and_by_each(seed, features):
    rows, _, weights, table = made(seed)
    entries = Entries.by_label(table).refined(table, [2])
    together, each = entries.divided(table, features), entries.divided_by_each(table, features)
    n_values = (rows.max(axis=0) + 1).tolist()
    expected, expected_each = Counter(), Counter()
    for entry, row, weight in zip(entries.of_row.tolist(), rows.tolist(), weights.tolist(), strict=True):
        value = 0
        for owner, feature in enumerate(features):
            value = value * n_values[feature] + row[feature]  # the last one counts fastest
            expected_each[owner, entry, row[feature]] += weight
        expected[0, entry, value] += weight
    for parts, wanted in ((together, expected), (each, expected_each)):
        keys = zip(parts.owner.tolist(), parts.parent.tolist(), parts.value.tolist(), strict=True)
        assert dict(zip(keys, parts.sizes.tolist(), strict=True)) == {key: n for key, n in wanted.items() if n}
    assert (each.n_owners, together.n_owners) == (len(features), 1)
