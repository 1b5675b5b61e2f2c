"""Counting in memory has the counts of the oracle, whatever the table."""

import numpy as np
import pytest
from conftest import coded, random_table
from naive import naive_counts

from analogical import InputError
from analogical.count.pairs import count_pairs

pytestmark = pytest.mark.usefixtures("threads_for_small_work")

TOTALS = ("n_rows", "n_distinct", "n_identical", "n_contradictions")


def cases():
    """Tables (rows, labels, weights) with many ties: narrow, wide, with many values, labels and repeats."""
    rng = np.random.default_rng(7)
    tables = [random_table(rng) for _ in range(25)]
    tables += [random_table(rng, n_rows=40, n_features=n, n_values=2) for n in (40, 64, 65, 130)]
    tables += [random_table(rng, n_rows=40, n_features=3, n_values=v) for v in (2, 300)]
    tables += [random_table(rng, n_rows=60, n_features=4, n_values=2, n_labels=k) for k in (2, 30)]
    tables.append((np.zeros((9, 3), int), np.arange(9) % 2))
    for rows, labels in tables:
        yield rows, labels, None
        yield rows, labels, rng.integers(0, 5, len(rows))


CASES = list(cases())


def assert_counts(found, expected):
    assert found.pairs.dtype == found.changed.dtype == np.int64
    assert found.pairs.tolist() == expected["pairs"]
    assert found.changed.tolist() == expected["changed"]
    assert [getattr(found, name) for name in TOTALS] == [expected[name] for name in TOTALS]
    assert all(type(getattr(found, name)) is int for name in TOTALS)


@pytest.mark.parametrize("n_jobs", [None, 2])
def test_counts_without_contexts_are_those_of_the_oracle(n_jobs):
    for rows, labels, weights in CASES:
        found = count_pairs(coded(rows, labels, weights), n_jobs=n_jobs)
        assert_counts(found, naive_counts(rows.tolist(), labels, weights))


@pytest.mark.parametrize("order", ["C", "F"])
@pytest.mark.parametrize("dtype", [np.uint8, np.uint16, np.uint32])
def test_memory_order_and_type_of_the_codes_change_nothing(order, dtype):
    rows, labels, weights = CASES[1]
    table = coded(np.asarray(rows.astype(dtype), order=order), labels, weights)
    expected = naive_counts(rows.tolist(), labels, weights)
    assert_counts(count_pairs(table), expected)


def test_more_than_two_to_the_31_rows_are_refused():
    with pytest.raises(InputError, match="counted exactly in 64 bits up to 2,147,483,648 rows"):
        count_pairs(coded([[0, 1], [0, 0]], [0, 1], [2**31, 1]))
