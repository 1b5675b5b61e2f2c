"""Contexts that are kept of parts of a table: all of them, equal ones once, or none if they are too many."""

import numpy as np
import pytest
from conftest import coded
from context_tables import tables_of

from analogical.count.pairs import sum_contexts


def halves(most):
    """A table of two halves that look alike and share no context for feature 0; and what is kept of both."""
    rng = np.random.default_rng(0)
    rows, labels = rng.integers(0, 3, (200, 3)), rng.integers(0, 2, 200)
    rows[:100, 2], rows[100:, 2] = 0, 1
    rows[100:, :2], labels[100:] = rows[:100, :2], labels[:100]
    table = coded(rows, labels)
    parts = [table.take(rows[:, 2] == k) for k in (0, 1)]
    return table, [sum_contexts(part, most, features=[0]).kept[0] for part in parts]


def test_contexts_of_parts_are_those_of_the_whole_table_and_equal_ones_are_one():
    table, (first, second) = halves(most=1000)
    whole = sum_contexts(table, features=[0]).kept[0].contexts
    added = (first + second).contexts
    assert tables_of(added) == tables_of(whole)
    assert added.times.tolist() == [2] * len(first.contexts)


def test_equal_contexts_are_put_together_where_cells_are_too_many_and_else_dropped_for_good():
    _, (first, second) = halves(most=1000)
    n_cells = len(first.contexts.sizes)
    _, (first, second) = halves(most=2 * n_cells)
    assert len((first + second).parts) == 2
    assert [len(part.sizes) for part in ((first + second) + first).parts] == [n_cells]
    _, (first, second) = halves(most=2 * n_cells - 1)
    dropped = first + second
    assert dropped.parts is None
    assert (dropped + first).parts is None
    with pytest.raises(ValueError, match="too many cells to be kept"):
        dropped.contexts  # noqa: B018


def test_nothing_everything_or_as_much_as_fits_is_kept():
    n_cells = len(halves(most=None)[1][0].contexts.sizes)
    assert n_cells > 2
    assert [halves(most)[1][0].parts is None for most in (0, n_cells - 1, n_cells)] == [True, True, False]
    _, (first, second) = halves(most=None)
    assert first.contexts is first.contexts
    assert len(((first + second) + first).parts) == 3


def test_kept_contexts_have_no_cached_numbers():
    _, (first, _) = halves(most=None)
    assert vars(first.parts[0]).keys() == {"starts", "times", "values", "labels", "sizes"}
