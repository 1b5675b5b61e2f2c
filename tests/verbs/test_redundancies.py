"""Constants, renamings, determinants and what to keep, against all subsets of columns."""

import time

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from naive import naive_redundancies

from analogical import InputError, redundancies, relevance
from analogical._types import Note
from analogical.estimate import dependencies


def named(positions):
    return tuple(f"x{i}" for i in positions)


def assert_equal_to_oracle(rows):
    found = redundancies(rows)
    constants, groups, dependencies = naive_redundancies([tuple(row) for row in np.asarray(rows).tolist()])
    assert found.constants == named(constants)
    assert found.renamings == tuple(named(group) for group in groups)
    got = {(d.feature, d.determined_by, d.support) for d in found.dependencies}
    assert got == {(f"x{target}", named(by), support) for target, by, support in dependencies}


@pytest.mark.parametrize("seed", range(40))
def test_redundancies_equal_all_subsets(seed):
    rng = np.random.default_rng(seed)
    n = int(rng.integers(6, 60))
    base = rng.integers(0, [2, 3, 4], size=(n, 3))
    columns = [base[:, 0], base[:, 1], base[:, 2], base[:, 2] // 2, (base[:, 0] + base[:, 1]) % 2, 5 - base[:, 1]]
    columns += [np.zeros(n, int), np.arange(n), rng.integers(0, 2, n)]
    rows = np.column_stack(columns)[:, rng.permutation(len(columns))]
    assert_equal_to_oracle(rows[:, : int(rng.integers(2, len(columns) + 1))])


def test_unique_numbers_determine_nothing():
    rng = np.random.default_rng(0)
    rows = np.column_stack([np.arange(50), rng.integers(0, 2, size=(50, 3))])
    assert redundancies(rows, ids="keep").dependencies == ()
    assert repr(redundancies(rows, ids="keep")) == "None of 4 columns is redundant.\n50 rows, 4 columns."
    assert redundancies(rows).names == ("x1", "x2", "x3")
    assert redundancies(rows).notes == (Note("set-aside", ("x0",)),)


def test_support_counts_rows_that_could_have_broken_the_dependency():
    rows = [(city, city % 3) for city in range(10)] * 4
    (found,) = redundancies(rows).dependencies
    assert (found.feature, found.determined_by, found.support) == ("x1", ("x0",), 30)


def test_weights_are_rows():
    rows = [(city, city % 3) for city in range(10)]
    assert redundancies(rows).dependencies == ()
    assert redundancies(rows, weights=[4] * 10).dependencies == redundancies(rows * 4).dependencies


def test_one_determinant_only_if_asked():
    rng = np.random.default_rng(1)
    a, b = rng.integers(0, 2, size=(2, 100))
    rows = np.column_stack([a, b, a ^ b])
    assert redundancies(rows, max_determinants=1).dependencies == ()
    assert {d.feature for d in redundancies(rows).dependencies} == {"x0", "x1", "x2"}


def test_wide_joint_values_are_handled():
    rng = np.random.default_rng(2)
    a, b = rng.integers(0, 3000, size=(2, 40))
    rows = np.column_stack([np.tile(a, 5), np.tile(b, 5), np.tile((a + b) % 7, 5)])
    assert_equal_to_oracle(rows)


def test_many_columns_of_many_rows():
    rng = np.random.default_rng(3)
    X = rng.integers(0, 4, size=(5_000, 60))
    X[:, 30] = X[:, 3] // 2
    X[:, 40] = (X[:, 5] + 1) % 4
    found = redundancies(X, max_determinants=1)
    assert found.renamings == (("x5", "x40"),)
    assert [(d.feature, d.determined_by) for d in found.dependencies] == [("x30", ("x3",))]


def test_what_one_column_determines_is_found_among_thousands_of_columns():
    rng = np.random.default_rng(8)
    X = rng.integers(0, 3, size=(60, 3_000))
    X[:, 1_000] = X[:, 3] // 2
    X[:, 2_000] = 2 - X[:, 5]
    X[:, 2_500] = rng.integers(0, 9, 60)
    X[:, 2_600] = X[:, 2_500] // 3
    found = redundancies(X)
    assert found.renamings == (("x5", "x2000"),)
    assert [(d.feature, d.determined_by) for d in found.dependencies] == [("x1000", ("x3",)), ("x2600", ("x2500",))]
    assert (found.searched_one, found.searched_two) == (True, False)


def test_a_search_that_is_cut_short_says_so(monkeypatch):
    rows = [(town, town // 3) for town in range(9)] * 6
    assert redundancies(rows).searched_one
    monkeypatch.setattr(dependencies, "MAX_ONE", 1)
    found = redundancies(rows)
    assert (found.searched_one, found.dependencies) == (False, ())


def test_two_determinants_of_many_values_are_searched_in_seconds():
    # every pair of columns is looked at once for all targets: one look for each target took a minute
    rng = np.random.default_rng(5)
    X = rng.integers(0, 30, size=(5_000, 120))
    X[:, 100] = (X[:, 3] + X[:, 7]) % 30
    start = time.process_time()
    found = redundancies(X)
    assert time.process_time() - start < 10
    assert {(d.feature, d.determined_by) for d in found.dependencies} == {
        ("x100", ("x3", "x7")),
        ("x3", ("x7", "x100")),
        ("x7", ("x3", "x100")),
    }


def test_two_determinants_are_not_searched_among_columns_of_very_many_values():
    rng = np.random.default_rng(5)
    X = rng.integers(0, 3_000, size=(20_000, 250))
    start = time.process_time()
    found = redundancies(X, ids="keep")
    assert time.process_time() - start < 10
    assert (found.searched_one, found.searched_two) == (True, False)
    assert redundancies(X[:, :20], ids="keep").searched_two


def test_one_row_is_a_table_of_constants():
    found = redundancies([(1, 2)])
    assert (found.constants, found.renamings, found.dependencies) == (("x0", "x1"), (), ())


def test_redundancies_as_dict_and_text():
    found = redundancies([(t, t // 2, 0) for t in range(4)] * 5, feature_names=["a", "b", "c"])
    assert found.to_dict() == {
        "names": ["a", "b", "c"],
        "n_rows": 20,
        "constants": ["c"],
        "renamings": [],
        "dependencies": [{"feature": "b", "determined_by": ["a"], "support": 16}],
        "searched_one": True,
        "searched_two": True,
        "notes": [],
    }
    assert "b       determined by a     16" in repr(found)


@pytest.mark.parametrize(
    ("X", "settings", "message"),
    [
        ([(1, 2), (2, 1)], {"max_determinants": 3}, "max_determinants must be a whole number from 1 to 2, got 3"),
        (3, {}, "X must be a table"),
    ],
)
def test_bad_input_is_refused(X, settings, message):
    with pytest.raises(InputError, match=message):
        redundancies(X, **settings)


def test_what_has_no_pair_is_determined_or_has_too_few_rows():
    rng = np.random.default_rng(4)
    town = rng.integers(0, 6, 80)
    rows = np.column_stack([town, town // 2, rng.integers(0, 2, 80)])
    result = relevance(rows, rng.integers(0, 2, 80), given="all", feature_names=["town", "county", "size"])
    assert result.paper_status == ("relevant", "no-pairs", "relevant")
    (found,) = redundancies(rows, feature_names=["town", "county", "size"]).dependencies
    assert (found.feature, found.determined_by, found.support) == ("county", ("town",), 74)
    few = rng.integers(0, 3, size=(12, 10))
    assert set(relevance(few, [0, 1] * 6, given="all").paper_status) == {"no-pairs"}
    assert len(redundancies(few)) == 0


def test_each_of_three_columns_is_determined_by_the_other_two():
    rng = np.random.default_rng(6)
    a, b = rng.integers(0, 3, size=(2, 60))
    found = redundancies(np.column_stack([a, b, (a + b) % 3])).dependencies
    assert [(d.feature, d.determined_by) for d in found] == [
        ("x0", ("x1", "x2")),
        ("x1", ("x0", "x2")),
        ("x2", ("x0", "x1")),
    ]


@given(st.lists(st.tuples(*[st.integers(0, 2)] * 3), min_size=3, max_size=25), st.permutations(range(3)))
def test_renaming_values_changes_no_redundancy(rows, names):
    rows = [*rows, (0, 0, 0), (1, 1, 1)]
    assert redundancies(rows) == redundancies([(names[a], "abc"[b], c) for a, b, c in rows])
