"""Counting in memory keeps the contract of all engines."""

from functools import partial

import numpy as np
import pytest
from conftest import coded
from engine_contract import CASES, EngineContract, RowsHere, assert_counts, pytest_generate_tests  # noqa: F401
from naive import naive_counts

from analogical import InputError
from analogical.count.pairs import count_pairs

pytestmark = pytest.mark.usefixtures("threads_for_small_work")


class TestRowsHere(EngineContract):
    @pytest.fixture(params=[None, 2], ids=["one thread", "two threads"])
    def engine_of(self, request):
        return partial(RowsHere, n_jobs=request.param)


class TestRowsWithoutOrder(EngineContract):
    every = 10

    @pytest.fixture
    def engine_of(self):
        return partial(RowsHere, has_order=False)


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
    assert_counts(RowsHere(table).sum_contexts(0).counts, expected)


def test_more_than_two_to_the_31_rows_are_refused():
    with pytest.raises(InputError, match="counted exactly in 64 bits up to 2,147,483,648 rows"):
        count_pairs(coded([[0, 1], [0, 0]], [0, 1], [2**31, 1]))
