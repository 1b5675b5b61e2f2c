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

from analogical import InputError, Study
from analogical._types import Margins
from analogical.columns.encode import EngineMeaning
from analogical.count.groups import collapse_rows, evenly, merge_rows
from analogical.count.pairs import ContextSums, sum_contexts
from analogical.engines.study import EngineStudy

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


def combinations_of(rows):
    """Values and label of each row."""
    return [(*row, label) for row, label in zip(rows.codes.tolist(), rows.labels.tolist(), strict=True)]


def first_of_each(rows):
    """The first row of each combination of values and label."""
    return {row: place for place, row in reversed(list(enumerate(combinations_of(rows))))}


class RowsHere:
    """The engine whose rows lie in this process: for comparison, and for what does not depend on who groups."""

    name = "memory"
    n_parts = 1
    origin = None
    """Positions of the rows in the user's table, if some were left out."""

    def __init__(self, rows, n_features=None, has_unit=False, *, has_order=True, n_jobs=None):
        self.rows, self.n_jobs, self.has_order = rows, n_jobs, has_order
        self.features = rows.select(range(rows.n_features if n_features is None else n_features))
        self.margins = margins_of(self.features)
        self.unit = rows.n_features - 1 if has_unit else None

    def n_values_of(self, column):
        return int(self.rows.n_values[column])

    def group(self, sets, limit):
        merged = [merge_rows(self.rows.select(columns)) for columns in sets]
        groups = [one.weighted(one.weights_or_ones()) for one in merged]
        return groups if sum(len(one.codes) for one in groups) <= limit else None

    def sum_contexts(self, most_cells):
        return sum_contexts(self.features, most_cells, n_jobs=self.n_jobs)

    def sample(self, n_rows):
        return self.rows.take(evenly(len(self.rows.codes), n_rows))

    def first_rows(self, columns, rows):
        if not self.has_order:
            return None
        first = first_of_each(self.rows.select(columns))
        places = np.array([first[row] for row in combinations_of(rows)], np.int64)
        return places if self.origin is None else self.origin[places]

    def distinct(self):
        return RowsHere(collapse_rows(self.features), has_order=self.has_order, n_jobs=self.n_jobs)


def engine_study(table, engine=RowsHere, *, duplicates="count", **limits):
    """The study of an encoded table that lies in an engine, with what its codes mean."""
    here = Study(table)
    rows = here.rows_of(range(len(here.owner) + (here.unit is not None)))
    meaning = EngineMeaning(
        columns=table.columns,
        label_meaning=table.label_meaning,
        notes=table.notes,
        is_weighted=table.weights is not None,
        n_units=here.n_groups,
        fine_sizes={i: here.fine_sizes[i] for i in table.fine},
    )
    holder = engine(rows, here.n_features, has_unit=table.groups is not None)
    holder.origin = table.origin
    study = EngineStudy.of(meaning, holder, duplicates=duplicates)
    for name, limit in limits.items():
        setattr(study, name, limit)
    return study


def listed(rows):
    """Rows as lists: values, label, weight."""
    return np.column_stack([rows.codes, rows.labels, rows.weights_or_ones()]).astype(int).tolist()


def counted(codes, labels, weights):
    """How many rows have each combination of values and label."""
    found = Counter()
    for row, label, weight in zip(codes.tolist(), labels.tolist(), weights.tolist(), strict=True):
        found[(*row, label)] += weight
    return {combination: n for combination, n in found.items() if n}


def table_with_more_columns(weights=False):
    """Rows with three features, two columns of bins and a unit, many of them equal; and the number of features."""
    rng = np.random.default_rng(3)
    codes = np.column_stack([rng.integers(0, n, 300) for n in (2, 3, 4, 3, 5, 40)])
    return coded(codes, rng.integers(0, 3, 300), rng.integers(1, 4, 300) if weights else None), 3


class EngineContract:
    """The tests of an engine.

    A subclass has the fixture ``engine_of``: ``engine_of(rows, n_features, has_unit)`` makes one of coded rows, of
    which the first columns are the features, all by default, and the last one may be the unit of each row.
    """

    every = 1

    def test_contexts_come_with_the_same_counts_and_every_table_of_the_oracle(self, engine_of, case):
        rows, labels, weights = CASES[case]
        found = engine_of(coded(rows, labels, weights)).sum_contexts(10_000)
        assert isinstance(found, ContextSums)
        rows, labels = rows.tolist(), labels.tolist()
        assert_counts(found.counts, naive_counts(rows, labels, weights))
        for feature, kept in enumerate(found.kept):
            expected = [tuple(sorted(table.items())) for table in naive_context_tables(rows, labels, feature, weights)]
            assert tables_of(kept.contexts) == Counter(expected)

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
        many, none = engine.sum_contexts(10_000), engine.sum_contexts(0)
        assert many.counts.pairs.any()
        assert none.counts.pairs.tolist() == many.counts.pairs.tolist()
        for n_pairs, kept, dropped in zip(many.counts.pairs, many.kept, none.kept, strict=True):
            assert bool(len(kept.contexts)) == bool(n_pairs)
            assert (dropped.parts is None) == bool(n_pairs)

    def test_exact_up_to_two_to_the_31_rows_and_refused_beyond(self, engine_of):
        rows, labels = [[0, 1], [0, 0]], [0, 1]
        expected = naive_counts(rows, labels, [2**30, 2**30])
        assert expected["pairs"] == [0, 2**60]
        table = coded(rows, labels, [2**30, 2**30])
        assert_counts(engine_of(table).sum_contexts(10).counts, expected)
        with pytest.raises(InputError, match="counted exactly in 64 bits up to 2,147,483,648 rows"):
            engine_of(coded(rows, labels, [2**31, 1])).sum_contexts(0)

    @pytest.mark.parametrize("weights", [False, True])
    def test_bins_and_units_are_columns_that_rows_are_grouped_by(self, engine_of, weights):
        table, n_features = table_with_more_columns(weights)
        engine = engine_of(table, n_features, has_unit=True)
        assert (engine.unit, engine.margins.n_features) == (5, 3)
        assert [engine.n_values_of(c) for c in range(6)] == table.n_values.tolist()
        sets = [(0, 4), (2, 5), (3,)]
        for columns, one in zip(sets, engine.group(sets, 10_000), strict=True):
            expected = counted(table.codes[:, list(columns)], table.labels, table.weights_or_ones())
            assert counted(one.codes, one.labels, one.weights) == expected
        rows = table.codes[:, :3].tolist()
        assert_counts(engine.sum_contexts(0).counts, naive_counts(rows, table.labels.tolist(), table.weights))
        assert engine_of(table.select(range(3))).unit is None

    @pytest.mark.parametrize("weights", [False, True])
    def test_a_sample_has_all_columns_and_is_the_same_each_time(self, engine_of, weights):
        table, n_features = table_with_more_columns(weights)
        engine = engine_of(table, n_features, has_unit=True)
        whole, some, again = (listed(engine.sample(n)) for n in (10_000, 100, 100))
        assert sorted(whole) == sorted(listed(table))
        assert some == again
        if engine.first_rows([0], engine.group([[0]], 100)[0]) is None:
            assert 0 < len(some) <= 100
            some_rows, all_rows = (Counter(tuple(row[:-1]) for row in rows) for rows in (some, whole))
            assert not some_rows - all_rows
        else:
            assert whole == listed(table)
            assert some == listed(table.take(evenly(300, 100)))

    @pytest.mark.parametrize("weights", [False, True])
    def test_the_first_row_of_each_combination(self, engine_of, weights):
        table, n_features = table_with_more_columns(weights)
        engine = engine_of(table, n_features, has_unit=True)
        for columns in ([1], [0, 4], [5, 2]):
            (groups,) = engine.group([columns], 10_000)
            wanted = groups.take(np.arange(len(groups.codes))[::-2])
            found = engine.first_rows(columns, wanted)
            if found is not None:
                first = first_of_each(table.select(columns))
                assert found.tolist() == [first[row] for row in combinations_of(wanted)]

    @pytest.mark.parametrize("weights", [False, True])
    def test_each_row_of_the_features_once(self, engine_of, weights):
        table, n_features = table_with_more_columns(weights)
        engine = engine_of(table, n_features, has_unit=True).distinct()
        assert engine.unit is None
        once = collapse_rows(table.select(range(3)))
        assert sorted(listed(engine.sample(10_000))) == sorted(listed(once))
        expected = margins_of(once)
        assert engine.margins.label_sizes().tolist() == expected.label_sizes().tolist()
        assert [sizes.tolist() for sizes in engine.margins.by_value] == [s.tolist() for s in expected.by_value]
        (groups,) = engine.group([[0, 2]], 1000)
        assert counted(groups.codes, groups.labels, groups.weights) == counted(
            once.codes[:, [0, 2]], once.labels, once.weights_or_ones()
        )
        if engine.first_rows([0], engine.group([[0]], 100)[0]) is not None:
            assert listed(engine.sample(10_000)) == listed(once)
            assert listed(engine.sample(20)) == listed(once.take(evenly(len(once.codes), 20)))
