"""Squares and broken squares against a loop over all fours of rows, with ``==``."""

import numpy as np
import pytest
from conftest import coded
from naive import naive_squares

from analogical import InputError
from analogical.count import squares as module
from analogical.count.given import RowContexts
from analogical.count.squares import count_squares, pair_tables


def table_with_squares(rng):
    """Few values, so that there are squares; rows repeat, with the same label or another one."""
    n_features = int(rng.integers(2, 5))
    n_rows = int(rng.integers(6, 13))
    n_values = [*rng.integers(2, 4, size=2), *rng.integers(1, 3, size=n_features - 2)]
    rows = rng.integers(0, n_values, size=(n_rows, n_features))
    labels = rng.integers(0, rng.integers(1, 4), size=n_rows)
    return rows, labels


def counted(rows, labels, i, j, equal=None, weights=None):
    table = coded(rows, labels, weights)
    equal = [f for f in range(table.n_features) if f not in (i, j)] if equal is None else equal
    contexts = RowContexts.by(table, equal)
    squares = broken = 0
    for tables, *_ in pair_tables(table, contexts, i, j):
        found, bad = count_squares(tables)
        squares, broken = squares + sum(found.tolist()), broken + sum(bad.tolist())
    return squares, broken


@pytest.mark.parametrize("seed", range(40))
def test_counts_are_those_of_all_fours_of_rows(seed):
    n_with_squares = 0
    for k in range(50):
        rng = np.random.default_rng([seed, k])
        rows, labels = table_with_squares(rng)
        expected = naive_squares(rows.tolist(), labels.tolist(), 0, 1)
        assert counted(rows, labels, 0, 1) == expected
        n_with_squares += expected[0] > 0
    assert n_with_squares > 10


@pytest.mark.parametrize("seed", range(30))
def test_counts_with_weights_and_some_contexts_are_those_of_all_fours_of_rows(seed):
    rng = np.random.default_rng([seed, 99])
    rows, labels = table_with_squares(rng)
    weights = rng.integers(0, 4, size=len(rows))
    plain = rows.tolist(), labels.tolist()
    assert counted(rows, labels, 1, 0, weights=weights) == naive_squares(*plain, 0, 1, weights=weights)
    assert counted(rows, labels, 0, 1, equal=[]) == naive_squares(*plain, 0, 1, equal=[])
    last = rows.shape[1] - 1
    if last > 1:
        assert counted(rows, labels, 0, 1, equal=[last]) == naive_squares(*plain, 0, 1, equal=[last])


def many_rows(seed=5, n_labels=3, n_rows=300):
    rng = np.random.default_rng(seed)
    rows, labels = rng.integers(0, [3, 4, 3, 5], size=(n_rows, 4)), rng.integers(0, n_labels, size=n_rows)
    return rows, labels, rng.integers(1, 4, size=n_rows)


@pytest.mark.parametrize("at_once", [40, 60, 200])
def test_counts_do_not_depend_on_how_many_tables_are_made_at_a_time(monkeypatch, at_once):
    whole = counted(*many_rows()[:2], 0, 1, weights=many_rows()[2])
    monkeypatch.setattr(module, "MAX_CELLS", at_once)
    assert counted(*many_rows()[:2], 0, 1, weights=many_rows()[2]) == whole
    assert whole[0] > 1000


@pytest.mark.parametrize("n_labels", [2, 20])
@pytest.mark.parametrize("at_once", [2**22, 60])
def test_small_tables_hold_the_rows_of_contexts_that_may_have_squares(monkeypatch, n_labels, at_once):
    rows, labels, weights = many_rows(n_labels=n_labels)
    table = coded(rows, labels, weights)
    contexts = RowContexts.by(table, [2, 3])
    expected = np.zeros((len(contexts), 3, 4, n_labels), np.int64)
    np.add.at(expected, (contexts.of_row, rows[:, 0], rows[:, 1], labels), weights)
    expected = [
        one for one in expected if (one.sum(axis=(1, 2)) > 0).sum() > 1 and (one.sum(axis=(0, 2)) > 0).sum() > 1
    ]
    monkeypatch.setattr(module, "MAX_CELLS", at_once)
    found = []
    for tables, *_ in pair_tables(table, contexts, 0, 1):
        assert tables.shape[3] == n_labels or n_labels == 20
        found += [without_empty_places(counts) for counts in tables]
    assert sorted(found) == sorted(map(without_empty_places, expected))


def without_empty_places(counts):
    """A table with its values and labels that hold rows."""
    for axis in range(3):
        counts = counts.compress(counts.sum(axis=tuple({0, 1, 2} - {axis})) > 0, axis=axis)
    return counts.tolist()


def test_few_contexts_have_tables_of_all_values():
    rows, labels, weights = many_rows()
    table = coded(rows, labels, weights)
    ((tables, *_),) = pair_tables(table, RowContexts.by(table, [2]), 0, 1)
    assert tables.shape == (3, 3, 4, 3)
    assert tables.sum() == weights.sum()


def test_contexts_of_few_rows_or_of_one_value_have_no_tables():
    rows = [
        (0, 0, 0),
        (1, 1, 0),
        (0, 1, 1),
        (0, 2, 1),
        (0, 0, 1),
        (0, 1, 1),
    ]  # few rows; one value of the first feature
    table = coded(rows, [0, 1, 0, 1, 0, 1])
    assert list(pair_tables(table, RowContexts.by(table, [2]), 0, 1)) == []


@pytest.mark.parametrize("shape", [(2, 3, 2), (5, 2, 3), (2, 9, 2), (3, 3, 12), (1, 4, 2)])
def test_large_contexts_and_small_ones_are_counted_alike(shape):
    cells = np.random.default_rng(1).integers(0, 4, size=(5, *shape))
    squares, broken = count_squares(cells)
    mixed = cells.copy()
    mixed[[1, 3]] *= 10**7
    found, bad = count_squares(mixed)
    factor = [1, 10**28, 1, 10**28, 1]
    assert found.tolist() == [n * times for n, times in zip(squares.tolist(), factor, strict=True)]
    assert bad.tolist() == [n * times for n, times in zip(broken.tolist(), factor, strict=True)]


def test_counts_are_exact_beyond_64_bits():
    cells = np.array([[[[3, 5], [7, 2]], [[4, 1], [6, 6]]]])
    squares, broken = (int(n[0]) for n in count_squares(cells))
    many, many_broken = (int(n[0]) for n in count_squares(cells * 10**6))
    assert (squares, broken) == (8 * 9 * 5 * 12, many_broken // 10**24 if many_broken % 10**24 == 0 else -1)
    assert many == squares * 10**24
    assert many > 2**63


def test_the_largest_tables_of_float64_are_exact():
    for n in (module.EXACT // 8, module.EXACT // 8 + 1):
        squares, broken = count_squares(np.full((1, 2, 2, 2), n))
        assert squares.dtype == (np.int64 if 8 * n <= module.EXACT else object)
        assert int(squares[0]) == (2 * n) ** 4
        assert int(broken[0]) * 16 == 10 * (2 * n) ** 4  # fair coins: 10 of 16


def test_two_features_with_very_many_values_are_refused():
    table = coded([(0, 0), (4, 2)], [0, 1], n_values=[4096, 2049])
    with pytest.raises(
        InputError, match="4,096 and 2,049 values have too many combinations to count squares; bin them"
    ):
        next(pair_tables(table, RowContexts.by(table, []), 0, 1))
