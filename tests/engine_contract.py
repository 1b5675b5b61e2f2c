"""What every engine must return: exactly the counts of the oracle, whatever the table.

A new engine joins by a class of its own that says how it comes by a table; see ``tests/spark/test_engine.py``.
"""

from collections import Counter

import numpy as np
import pandas as pd
import pytest
from conftest import coded, random_table
from context_tables import tables_of
from naive import naive_context_tables, naive_counts

from analogical import InputError
from analogical._types import Margins
from analogical.count.groups import merge_rows
from analogical.count.kept import KeepContexts
from analogical.count.pairs import ContextSums, contexts_themselves, no_summary, sum_contexts

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


def rule_of_three(n):
    """A frame of twelve features of three values, three of which decide the label y but for noise; and a copy."""
    rng = np.random.default_rng(0)
    rows = rng.integers(0, 3, (n, 12))
    y = ((rows[:, 0] == rows[:, 1]) | (rows[:, 2] == 2)) ^ (rng.random(n) < 0.1)
    return pd.DataFrame(rows, columns=[f"f{i}" for i in range(12)]).assign(copy=rows[:, 0], y=y.astype(int))


def assert_counts(found, expected):
    assert found.pairs.dtype == found.changed.dtype == np.int64
    assert found.pairs.tolist() == expected["pairs"]
    assert found.changed.tolist() == expected["changed"]
    assert [getattr(found, name) for name in TOTALS] == [expected[name] for name in TOTALS]
    assert all(type(getattr(found, name)) is int for name in TOTALS)


def pytest_generate_tests(metafunc):
    """Tables for the tests that take one: all of them, or every so many where a table takes long."""
    if "case" in metafunc.fixturenames:
        metafunc.parametrize("case", range(0, len(CASES), metafunc.cls.every))


def margins_of(rows):
    return Margins(rows.label_sizes(), tuple(rows.value_sizes(i) for i in range(rows.n_features)))


class RowsHere:
    """The engine whose rows lie in this process: for comparison, and for what does not depend on who groups."""

    n_parts = 1

    def __init__(self, rows, n_jobs=None):
        self.rows, self.n_jobs, self.margins = rows, n_jobs, margins_of(rows)

    def group(self, sets, limit):
        merged = [merge_rows(self.rows.select(features)) for features in sets]
        groups = [one.weighted(one.weights_or_ones()) for one in merged]
        return groups if sum(len(one.codes) for one in groups) <= limit else None

    def sum_contexts(self, summarise):
        return sum_contexts(self.rows, summarise, n_jobs=self.n_jobs)


def counted(codes, labels, weights):
    """How many rows have each combination of values and label."""
    found = Counter()
    for row, label, weight in zip(codes.tolist(), labels.tolist(), weights.tolist(), strict=True):
        found[(*row, label)] += weight
    return {combination: n for combination, n in found.items() if n}


class EngineContract:
    """The tests of an engine; a subclass has the fixture ``engine_of``, which makes one of coded rows."""

    every = 1

    def test_contexts_come_with_the_same_counts_and_every_table_of_the_oracle(self, engine_of, case):
        rows, labels, weights = CASES[case]
        found = engine_of(coded(rows, labels, weights)).sum_contexts(tables_of)
        assert isinstance(found, ContextSums)
        rows, labels = rows.tolist(), labels.tolist()
        assert_counts(found.counts, naive_counts(rows, labels, weights))
        for feature, tables in enumerate(found.summaries):
            expected = [tuple(sorted(table.items())) for table in naive_context_tables(rows, labels, feature, weights)]
            assert tables == (Counter(expected) if expected else None)

    def test_rows_are_grouped_by_several_sets_of_columns_at_once(self, engine_of):
        rng = np.random.default_rng(7)
        codes = np.column_stack([rng.integers(0, n, 400) for n in (2, 3, 1, 40_000, 40_000, 70_000, 70_000)])
        codes[:, 3:] = codes[rng.integers(0, 5, 400), 3:]
        sets = ((1, 0), (3, 4, 5, 6), (2,), (), (0,))  # the second needs more than 64 bits
        for weights in (None, rng.integers(0, 9, 400)):
            table = coded(codes, rng.integers(0, 3, 400), weights)
            engine = engine_of(table)
            found = engine.group(sets, 1000)
            for features, one in zip(sets, found, strict=True):
                expected = counted(table.codes[:, list(features)], table.labels, table.weights_or_ones())
                assert counted(one.codes, one.labels, one.weights) == expected
                assert len(one.codes) == len(expected)
                assert one.n_values.tolist() == table.n_values[list(features)].tolist()
            total = sum(len(one.codes) for one in found)
            assert engine.group(sets, total) is not None
            assert engine.group(sets, total - 1) is None

    def test_margins_are_the_rows_of_each_label_and_value(self, engine_of):
        rows, labels, weights = CASES[1]
        table = coded(rows, labels, weights)
        found, expected = engine_of(table).margins, margins_of(table)
        assert found.label_sizes().tolist() == expected.label_sizes().tolist()
        assert [s.tolist() for s in found.by_value] == [s.tolist() for s in expected.by_value]

    def test_contexts_are_kept_as_long_as_they_are_few(self, engine_of):
        rows, labels, weights = CASES[3]
        engine = engine_of(coded(rows, labels, weights))
        kept = engine.sum_contexts(KeepContexts(10_000)).summaries
        tables = engine.sum_contexts(tables_of).summaries
        assert [None if one is None else tables_of(0, one.contexts) for one in kept] == list(tables)
        none = engine.sum_contexts(KeepContexts(0)).summaries
        assert all(one is None or one.contexts is None for one in none)

    def test_exact_up_to_two_to_the_31_rows_and_refused_beyond(self, engine_of):
        rows, labels = [[0, 1], [0, 0]], [0, 1]
        expected = naive_counts(rows, labels, [2**30, 2**30])
        assert expected["pairs"] == [0, 2**60]
        table = coded(rows, labels, [2**30, 2**30])
        assert_counts(engine_of(table).sum_contexts(contexts_themselves).counts, expected)
        with pytest.raises(InputError, match="counted exactly in 64 bits up to 2,147,483,648 rows"):
            engine_of(coded(rows, labels, [2**31, 1])).sum_contexts(no_summary)
