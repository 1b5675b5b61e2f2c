"""Contexts of many features given the same columns: every count against a dictionary of the rows."""

from collections import Counter
from itertools import pairwise

import numpy as np
import pytest
from conftest import coded, random_table

from analogical import InputError
from analogical.count.contexts import Stack
from analogical.count.given import RowContexts, count_given, count_one, tables_given


def contexts_by_hand(rows, labels, weights, feature, given):
    """Rows by value and label in each context that holds two values of the feature; by the codes that are given."""
    found = {}
    for row, label, weight in zip(rows, labels, weights, strict=True):
        if weight:
            found.setdefault(tuple(row[g] for g in given), Counter())[row[feature], label] += weight
    return {codes: dict(cells) for codes, cells in found.items() if len({value for value, _ in cells}) > 1}


def contexts_of(stack, place):
    """The same of what was counted."""
    contexts, found = stack.contexts, {}
    bounds = [*contexts.starts.tolist(), len(contexts.sizes)]
    for k, (start, stop) in enumerate(pairwise(bounds)):
        if stack.feature[k] == place:
            cells = zip(contexts.values[start:stop].tolist(), contexts.labels[start:stop].tolist(), strict=True)
            codes = tuple(code for code in stack.given[k].tolist() if code >= 0)
            assert codes not in found
            found[codes] = dict(zip(cells, contexts.sizes[start:stop].tolist(), strict=True))
    return found


def check(features, stack, rows, labels, weights, given):
    assert (stack.contexts.times == 1).all()
    assert stack.n_features == len(features)
    for place, feature in enumerate(features):
        assert contexts_of(stack, place) == contexts_by_hand(rows, labels, weights, feature, given)


@pytest.mark.parametrize("n_unseen", [0, 1000], ids=["table", "sorted"])
@pytest.mark.parametrize("seed", range(12))
def test_contexts_of_several_features_are_those_of_a_dictionary(seed, n_unseen):
    rng = np.random.default_rng(seed)
    rows, labels = random_table(rng, n_rows=60, n_features=6, n_values=4)
    weights = rng.integers(0, 4, 60) if seed % 2 else np.ones(60, int)
    n_values = rows.max(axis=0) + 1 + n_unseen
    table = coded(rows, labels, weights if seed % 2 else None, n_values=n_values)
    given = [5, 1][: seed % 3]
    features = [f for f in (4, 0, 3, 2) if f not in given]
    parts = list(count_given(table, RowContexts.by(table, given), features, n_threads=1 + seed % 2))
    counted = [feature for some, _ in parts for feature in some]
    assert sorted(counted) == sorted(features)
    plain = rows.tolist(), labels.tolist(), weights.tolist()
    for some, stack in parts:
        check(some, stack, *plain, given)
    check(counted, Stack.joined([stack for _, stack in parts]), *plain, given)
    columns = [9, 8, 7, 6, 5, 4]  # names of the columns that the rows have
    one = count_one(table, columns, 9, [columns[g] for g in given])
    assert contexts_of(one, 0) == contexts_by_hand(*plain, 0, given)


def test_features_with_different_columns_given_are_joined_with_gaps():
    rows, labels = random_table(np.random.default_rng(5), n_rows=80, n_features=4, n_values=3)
    table = coded(rows, labels)
    one, two = count_one(table, range(4), 0, [1, 2]), count_one(table, range(4), 3, [2])
    both = Stack.joined([one, two])
    assert (both.n_features, both.given.shape[1]) == (2, 2)
    assert contexts_of(both, 0) == contexts_of(one, 0)
    assert contexts_of(both, 1) == contexts_of(two, 0)


@pytest.mark.parametrize("apart", [1, 1000, 10**6])
def test_cells_are_the_different_values_on_the_columns(apart):
    """Values may lie so far apart that their combinations have no table, or no whole number of 64 bits."""
    rows = np.random.default_rng(0).integers(0, [3, 2, 4, 1], (50, 4)) * apart
    cells = RowContexts.by(coded(rows, np.zeros(50)), [2, 0, 1, 3])
    codes = [tuple(row) for row in rows[:, [2, 0, 1, 3]].tolist()]
    assert [tuple(row) for row in cells.codes[cells.of_row].tolist()] == codes
    assert len(cells) == len(cells.codes) == len(set(codes)) == len(set(cells.of_row.tolist()))


def test_without_columns_all_rows_are_one_cell():
    cells = RowContexts.by(coded([[1], [0], [1]], [0, 0, 1]), [])
    assert (cells.of_row.tolist(), cells.codes.shape) == ([0, 0, 0], (1, 0))


def test_merged_rows_are_the_different_cells_and_labels_with_their_rows():
    rows, labels = random_table(np.random.default_rng(2), n_rows=50, n_features=3, n_values=3)
    weights = np.random.default_rng(2).integers(0, 3, 50)
    merged = RowContexts.by(coded(rows, labels), [0, 2]).merged(coded(rows, labels, weights), np.array([3, 3]))
    expected = Counter()
    for (a, _, b), label, weight in zip(rows.tolist(), labels.tolist(), weights.tolist(), strict=True):
        expected[a, b, label] += weight
    found = zip(merged.codes.tolist(), merged.labels.tolist(), merged.weights.tolist(), strict=True)
    assert {(*codes, label): n for codes, label, n in found} == {key: n for key, n in expected.items() if n}


@pytest.mark.parametrize("n_threads", [1, 2])
@pytest.mark.parametrize("columns", [[1, 2], [1, 3]], ids=["beside each other", "apart"])
def test_long_tables_are_counted_in_parts(n_threads, columns):
    """Each thread counts tiles of 2^17 rows."""
    rng = np.random.default_rng(0)
    n_rows = 2 * 2**17 + 1001
    codes, labels = rng.integers(0, 3, (n_rows, 4), dtype=np.uint8), rng.integers(0, 2, n_rows, dtype=np.uint8)
    weights = rng.integers(0, 3, n_rows)
    table = coded(codes, labels, weights)
    cells = RowContexts.by(table, [0])
    ((features, counted),) = count_given(table, cells, columns, n_threads)
    assert features == columns
    for place, feature in enumerate(columns):
        expected = np.zeros((3, 3, 2), np.int64)
        np.add.at(expected, (codes[:, 0], codes[:, feature], labels), weights)
        found = contexts_of(counted, place)
        assert found == {(c,): dict(np.ndenumerate(expected[c])) for c in range(3)}
    for block, tables in tables_given(table, cells, columns):
        for feature, found in zip(block, tables, strict=True):
            expected = np.zeros((3, 3, 2), np.int64)
            np.add.at(expected, (codes[:, 0], codes[:, feature], labels), weights)
            assert found.tolist() == expected.tolist()


def test_more_than_two_to_the_31_rows_are_refused():
    table = coded([[0, 1], [0, 0]], [0, 1], [2**31, 1])
    with pytest.raises(InputError, match="up to 2,147,483,648 rows"):
        list(count_given(table, RowContexts.by(table, []), [0], 1))
