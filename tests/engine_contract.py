"""What every engine must return: exactly the counts of the oracle, whatever the table.

A new engine joins by a class of its own in ``tests/engines`` that says how it is made.
"""

from collections import Counter

import numpy as np
import pytest
from conftest import coded, random_table
from context_tables import tables_of
from naive import naive_context_tables, naive_counts, naive_profile

from analogical import InputError
from analogical.count.pairs import ContextSums, contexts_themselves
from analogical.estimate.summaries import summarise_contexts

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


def pytest_generate_tests(metafunc):
    """Tables for the tests that take one: all of them, or every so many where a table takes long."""
    if "case" in metafunc.fixturenames:
        metafunc.parametrize("case", range(0, len(CASES), metafunc.cls.every))


class EngineContract:
    """The tests of an engine; a subclass has the fixture ``make_engine``."""

    every = 1

    @pytest.fixture
    def engine(self, make_engine):
        return make_engine()

    def some_cases(self):
        return CASES[:: self.every]

    def test_counts_are_those_of_the_oracle(self, engine, case):
        rows, labels, weights = CASES[case]
        assert_counts(engine.count_pairs(coded(rows, labels, weights)), naive_counts(rows.tolist(), labels, weights))

    def test_contexts_come_with_the_same_counts_and_every_table_of_the_oracle(self, engine, case):
        rows, labels, weights = CASES[case]
        found = engine.sum_contexts(coded(rows, labels, weights), tables_of)
        assert isinstance(found, ContextSums)
        rows, labels = rows.tolist(), labels.tolist()
        assert_counts(found.counts, naive_counts(rows, labels, weights))
        for feature, tables in enumerate(found.summaries):
            expected = [tuple(sorted(table.items())) for table in naive_context_tables(rows, labels, feature, weights)]
            assert tables == (Counter(expected) if expected else None)

    def test_identical_rows_are_profiled(self, engine):
        for rows, labels, weights in self.some_cases():
            repeats = engine.sum_contexts(coded(rows, labels, weights), contexts_themselves).repeats
            numbers = zip(repeats.pairs.tolist(), repeats.changed.tolist(), repeats.rows.tolist(), strict=True)
            expected = naive_profile(rows.tolist(), labels.tolist(), None, weights)
            assert {(pairs, changed): n for pairs, changed, n in numbers if pairs} == expected

    def test_features_that_are_not_asked_for_are_left_out(self, engine):
        rows, labels, _ = CASES[0]
        whole = engine.sum_contexts(coded(rows, labels), tables_of)
        last = rows.shape[1] - 1
        part = engine.sum_contexts(coded(rows, labels), tables_of, features=[last])
        assert part.summaries == (*[None] * last, whole.summaries[last])
        assert part.counts.pairs.tolist() == [*[0] * last, whole.counts.pairs[last]]

    def test_summaries_that_relevance_needs_can_be_had(self, engine):
        rows, labels, _ = CASES[0]
        table = coded(rows, labels)
        summary = engine.sum_contexts(table, summarise_contexts(table))
        for f, found in enumerate(summary.summaries):
            assert (found is None) == (summary.counts.pairs[f] == 0)
            if found is not None:
                assert found.profile.n_pairs == summary.counts.pairs[f]

    @pytest.mark.parametrize("order", ["C", "F"])
    @pytest.mark.parametrize("dtype", [np.uint8, np.uint16, np.uint32])
    def test_memory_order_and_type_of_the_codes_change_nothing(self, engine, order, dtype):
        rows, labels, weights = CASES[1]
        codes = np.asarray(rows.astype(dtype), order=order)
        assert_counts(engine.count_pairs(coded(codes, labels, weights)), naive_counts(rows.tolist(), labels, weights))

    def test_exact_up_to_two_to_the_31_rows_and_refused_beyond(self, engine):
        rows, labels = [[0, 1], [0, 0]], [0, 1]
        weights = [2**30, 2**30]
        expected = naive_counts(rows, labels, weights)
        assert expected["pairs"] == [0, 2**60]
        assert_counts(engine.count_pairs(coded(rows, labels, weights)), expected)
        assert_counts(engine.sum_contexts(coded(rows, labels, weights), contexts_themselves).counts, expected)
        for count in (engine.count_pairs, lambda table: engine.sum_contexts(table, contexts_themselves)):
            with pytest.raises(InputError, match="counted exactly in 64 bits up to 2,147,483,648 rows"):
                count(coded(rows, labels, [2**31, 1]))
