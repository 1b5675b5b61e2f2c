"""Constants, renamings, determinants and what to keep, against all subsets of columns."""

import time

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from naive import naive_near_copies, naive_redundancies

from analogical import InputError, redundancies, relevance
from analogical._types import Note
from analogical.count.groups import CodedRows
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


@pytest.mark.parametrize(("n_others", "is_supported"), [(2, True), (3, False)])
def test_a_renaming_among_more_columns_needs_more_support(n_others, is_supported):
    """Unrelated columns of two values agree on 8 rows with probability 1/64: below .05 / 3, but not below .05 / 4."""
    first = np.repeat([0, 1], 4)
    others = [[0, 1, 2, 3, 4, 5, 6, 6], [0, 1, 2, 3, 4, 5, 5, 6], [0, 0, 1, 2, 3, 4, 5, 6]][:n_others]
    codes = np.column_stack([first, 1 - first, *others]).astype(np.uint8)
    rows = CodedRows(codes, np.zeros(len(codes), np.uint8), codes.max(axis=0) + 1, 1)
    assert dependencies.find_dependencies(rows, 1).renamings == (((0, 1),) if is_supported else ())


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
        "near_copies": [],
        "searched_one": True,
        "searched_two": True,
        "searched_near": True,
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


def noisy(rng, column, share):
    """The column with some of its cells drawn anew."""
    return np.where(rng.random(len(column)) < share, rng.permutation(column), column)


@pytest.mark.parametrize("seed", range(20))
def test_near_copies_equal_entropies_by_hand(seed):
    rng = np.random.default_rng(seed)
    n = int(rng.integers(40, 200))
    a, b, many = (rng.integers(0, k, n) for k in (4, 2, n // 4))
    columns = [a, b, noisy(rng, a, 0.02), noisy(rng, a, 0.05), noisy(rng, b, 0.03), noisy(rng, many, 0.02), many]
    columns += [noisy(rng, many, 0.01) % 3, rng.integers(0, 3, n), a // 2]
    rows = np.column_stack(columns)[:, rng.permutation(len(columns))]
    result = redundancies(rows.astype(str))
    copies = {int(name[1:]) for group in result.renamings for name in group[1:]}
    expected = naive_near_copies([tuple(row) for row in rows.tolist()], copies)
    found = result.near_copies
    assert {(f"x{target}", f"x{by}") for target, by in expected} == {(near.feature, near.of) for near in found}
    for near in found:
        assert near.left == pytest.approx(expected[int(near.feature[1:]), int(near.of[1:])], abs=1e-12)
    assert [round(near.left, 2) for near in found] == sorted(round(near.left, 2) for near in found)


def test_a_group_of_near_copies_is_named_once():
    rng = np.random.default_rng(5)
    radius = rng.gamma(20, 1, 600)
    rows = np.column_stack([rng.normal(size=600), radius, 6.28 * radius + rng.normal(0, 0.4, 600), radius**2])
    found = redundancies(rows[:, [0, 1, 2, 3]], feature_names=["other", "radius", "perimeter", "area"])
    assert found.renamings == (("radius", "area"),)  # equal in their bins
    (near,) = found.near_copies
    assert (near.feature, near.of) == ("perimeter", "radius")
    assert 0.02 < near.left < 0.1
    assert "perimeter  radius leaves" in repr(found)
    assert "numbers are compared in their bins" in " ".join(repr(found).split())
    assert repr(found).startswith("1 of 4 columns is redundant; 1 more nearly is.")
    assert found["perimeter"] == [
        {"feature": "perimeter", "kind": "near-copy", "determined_by": ["radius"], "support": 0, "left": near.left}
    ]


def test_a_near_copy_of_one_direction_is_what_is_left_less_open():
    rng = np.random.default_rng(6)
    fee = rng.integers(0, 20, 2_000)
    plan = noisy(rng, fee // 5, 0.02)
    (near,) = redundancies(np.column_stack([plan, fee]).astype(str), feature_names=["plan", "fee"]).near_copies
    assert (near.feature, near.of) == ("plan", "fee")


def test_unrelated_columns_with_many_values_are_no_near_copies():
    rng = np.random.default_rng(7)
    rows = rng.integers(0, 300, size=(900, 6)).astype(str)  # three rows leave a fifth of the entropy open at most
    assert redundancies(rows).near_copies == ()
    rows[:, 5] = noisy(rng, rows[:, 2], 0.02)
    assert [(near.feature, near.of) for near in redundancies(rows).near_copies] == [("x5", "x2")]


def test_columns_that_are_equal_by_luck_are_not_near_copies():
    found = redundancies([("a", "x"), ("a", "x"), ("b", "y"), ("b", "y")], max_determinants=1)
    assert (found.renamings, found.dependencies, found.near_copies) == ((), (), ())


def test_weights_of_near_copies_are_rows():
    rng = np.random.default_rng(8)
    rows = np.unique(rng.integers(0, 3, size=(30, 3)), axis=0)
    weights = np.where(rows[:, 0] == rows[:, 1], 60, 1)
    weighted = redundancies(rows, weights=weights).near_copies
    assert weighted == redundancies(np.repeat(rows, weights, axis=0)).near_copies
    assert [(near.feature, near.of) for near in weighted] == [("x1", "x0")]


def test_near_copies_of_many_columns_take_seconds_and_are_counted_on_all_rows():
    rng = np.random.default_rng(9)
    X = rng.integers(0, 5, size=(20_000, 300))
    X[:, 200] = noisy(rng, X[:, 7], 0.02)
    X[:, 100] = X[:, 8]
    X[0, 100] = (X[0, 8] + 1) % 5  # one row; those that are looked at may all agree
    start = time.process_time()
    found = redundancies(X, max_determinants=1)
    assert time.process_time() - start < 15
    one, other = found.near_copies
    assert (one.feature, one.of, other.feature, other.of) == ("x100", "x8", "x200", "x7")
    assert one.left == pytest.approx(redundancies(X[:, [8, 100]]).near_copies[0].left, abs=1e-12)
    assert 0 < one.left < 0.001


def test_near_copies_are_not_searched_in_very_wide_tables_and_that_is_said():
    X = np.random.default_rng(10).integers(0, 2, size=(1_000, 710))
    found = redundancies(X)
    assert (found.near_copies, found.searched_near) == ((), False)
    assert "Dependencies on two columns and near-copies were not searched: there are too many columns." in " ".join(
        repr(found).split()
    )
    assert redundancies(X[:, :60], max_determinants=1).searched_near
