"""Contexts that are kept beside a summary: all of them, equal ones once, or none if they are too many."""

import numpy as np
import pytest
from conftest import coded

from analogical._types import Margins
from analogical.count.pairs import contexts_themselves, sum_contexts
from analogical.estimate.kept import SummariseAndKeep
from analogical.estimate.summaries import summarise_contexts


def parts_of(most):
    """A table of two halves that share no context for feature 0, summarised as a whole and by halves."""
    rng = np.random.default_rng(0)
    rows, labels = rng.integers(0, 3, (200, 3)), rng.integers(0, 2, 200)
    rows[:100, 2], rows[100:, 2] = 0, 1
    rows[100:, :2], labels[100:] = rows[:100, :2], labels[:100]
    table = coded(rows, labels)
    margins = Margins(table.label_sizes(), tuple(table.value_sizes(i) for i in range(3)))
    halves = [table.take(rows[:, 2] == k) for k in (0, 1)]
    kept = [sum_contexts(half, SummariseAndKeep(margins, most), features=[0]).summaries[0] for half in halves]
    return table, kept


def test_contexts_of_parts_are_those_of_the_whole_table_and_equal_ones_are_one():
    table, (first, second) = parts_of(most=1000)
    whole = sum_contexts(table, contexts_themselves, features=[0]).summaries[0]
    added = (first + second).contexts
    assert added.profile.n_pairs == whole.profile.n_pairs
    assert added.profile.n_changed == whole.profile.n_changed
    assert added.times.tolist() == [2] * len(first.contexts)  # the halves look alike
    expected = sum_contexts(table, summarise_contexts(table), features=[0]).summaries[0].p_values()
    found = (first + second).summary.p_values()
    assert [one.p for one in found] == pytest.approx([one.p for one in expected], nan_ok=True)


def test_equal_contexts_are_put_together_where_cells_are_too_many_and_else_dropped_for_good():
    _, (first, second) = parts_of(most=1000)
    n_cells = len(first.contexts.sizes)
    _, (first, second) = parts_of(most=2 * n_cells)
    assert len((first + second).parts) == 2
    assert [len(part.sizes) for part in ((first + second) + first).parts] == [n_cells]
    _, (first, second) = parts_of(most=2 * n_cells - 1)
    dropped = first + second
    assert dropped.parts is None
    assert (dropped + first).parts is None
    assert (dropped + first).summary.profile.n_pairs == 3 * first.summary.profile.n_pairs
