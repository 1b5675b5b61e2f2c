"""Contexts cell by cell against dictionaries, in every way of counting; with ==."""

from collections import Counter

import numpy as np
import pytest
from conftest import coded, random_table
from context_tables import tables_of
from naive import naive_context_tables, naive_profile

from analogical.count.contexts import Contexts, RowProfile
from analogical.count.pairs import count_pairs, find_contexts

CONTEXT_CONSTANTS = {
    "as they are": {},
    "contexts of two rows are packed": {"PACKED_BITS": 8},
    "no context is packed": {"PACKED_BITS": 0},
}


def tables_in_order(contexts):
    """How often each table of (value, label) to rows occurs; the cells of each are in order."""
    found = tables_of(contexts)
    for table in found:
        cells = [cell for cell, _ in table]
        assert cells == sorted(set(cells))
    return found


def expected_tables(rows, labels, feature, weights=None):
    tables = naive_context_tables(rows, labels, feature, weights)
    return Counter(tuple(sorted(table.items())) for table in tables)


def profile_of(profile):
    """How many rows sit in how many pairs; no two entries have the same numbers."""
    found = {
        (p, c): r
        for p, c, r in zip(profile.pairs.tolist(), profile.changed.tolist(), profile.rows.tolist(), strict=True)
        if p
    }
    assert len(found) == np.count_nonzero(profile.pairs)
    return found


def check(rows, labels, weights=None, **options):
    table = coded(rows, labels, weights)
    found = find_contexts(table, **options)
    rows, labels = np.asarray(rows).tolist(), np.asarray(labels).tolist()
    tables = [tables_in_order(contexts) for contexts in found]
    assert tables == [expected_tables(rows, labels, f, weights) for f in range(len(rows[0]))]
    counts = count_pairs(table, **options)
    assert [contexts.profile.n_pairs for contexts in found] == counts.pairs.tolist()
    assert [contexts.profile.n_changed for contexts in found] == counts.changed.tolist()


def weights_for(rng, labels, kind):
    if kind == "none":
        return None
    return rng.integers(1 if kind == "positive" else 0, 4, len(labels)).tolist()


@pytest.mark.parametrize("weights", ["none", "positive", "with zeros"])
@pytest.mark.parametrize("in_table", [True, False])
@pytest.mark.parametrize("seed", range(3))
def test_contexts_equal_the_oracle_on_random_tables(seed, in_table, weights, monkeypatch):
    if not in_table:
        monkeypatch.setattr("analogical.count.pairs.fits_in_table", lambda *_, **__: False)
    rng = np.random.default_rng(seed)
    for _ in range(80):
        rows, labels = random_table(rng)
        check(rows, labels, weights_for(rng, labels, weights))


@pytest.mark.parametrize("seed", range(20))
def test_contexts_do_not_depend_on_the_way_of_counting(regime, seed):
    rng = np.random.default_rng(seed)
    n_features, n_values = (int(rng.integers(1, 6)), 3) if regime == "table" else (int(rng.integers(1, 20)), None)
    rows, labels = random_table(rng, n_features=n_features, n_values=n_values)
    check(rows, labels, weights_for(rng, labels, ["none", "with zeros"][seed % 2]), n_jobs=1 + seed % 3)


@pytest.mark.parametrize("constants", CONTEXT_CONSTANTS)
@pytest.mark.parametrize("in_table", [True, False])
def test_contexts_do_not_depend_on_how_equal_ones_are_found(constants, in_table, monkeypatch):
    if not in_table:
        monkeypatch.setattr("analogical.count.pairs.fits_in_table", lambda *_, **__: False)
    for name, value in CONTEXT_CONSTANTS[constants].items():
        monkeypatch.setattr(f"analogical.count.contexts.{name}", value)
    rng = np.random.default_rng(1)
    for n_labels in (2, 3, 40):
        for n_values in (2, 5):
            for _ in range(25):
                rows, labels = random_table(rng, n_rows=40, n_features=3, n_values=n_values, n_labels=n_labels)
                check(rows, labels)


@pytest.mark.parametrize("n_features", [31, 32, 33, 53, 54, 63, 64, 65, 66, 128, 200])
@pytest.mark.parametrize("is_weighted", [False, True])
def test_contexts_of_tables_wider_than_a_word(n_features, is_weighted):
    rng = np.random.default_rng(n_features)
    rows, labels = random_table(rng, n_rows=60, n_features=n_features, n_values=2, n_labels=3)
    check(rows, labels, rng.integers(0, 4, 60).tolist() if is_weighted else None)


@pytest.mark.parametrize("is_weighted", [False, True])
def test_contexts_of_features_with_very_many_values(is_weighted):
    rng = np.random.default_rng(5)
    for largest in (300, 70_000, 2**30):
        for n_features in (1, 2, 7):
            rows = rng.integers(0, 3, (60, n_features)) * largest
            rows[30:] = rows[:30]
            rows[np.arange(30, 60), rng.integers(0, n_features, 30)] += rng.integers(0, 3, 30)
            labels = rng.integers(0, 50, 60)
            check(rows, labels, rng.integers(0, 4, 60).tolist() if is_weighted else None)


@pytest.mark.parametrize("weights", [[2**31, 0], [2**30, 2**30], [1, 2**31 - 1], [1_518_500_249, 5]])
@pytest.mark.parametrize("rows", [[[0, 1], [0, 1]], [[0, 1], [0, 0]]])
@pytest.mark.parametrize("labels", [[0, 0], [0, 1]])
def test_contexts_are_exact_up_to_the_limit_of_rows(regime, weights, rows, labels):
    check(rows, labels, weights)


@pytest.mark.parametrize("seed", range(30))
def test_a_profile_says_how_many_rows_sit_in_how_many_pairs(regime, seed):
    rng = np.random.default_rng(seed)
    rows, labels = random_table(rng, n_features=4, n_values=3)
    weights = weights_for(rng, labels, ["none", "with zeros"][seed % 2])
    plain = rows.tolist(), labels.tolist()
    for feature, contexts in enumerate(find_contexts(coded(rows, labels, weights))):
        profile, expected = contexts.profile, naive_profile(*plain, feature, weights)
        assert profile_of(profile) == expected
        assert profile.n_paired_rows == sum(expected.values())


@pytest.mark.parametrize("seed", range(20))
def test_only_the_features_asked_for_are_looked_at(regime, seed):
    rng = np.random.default_rng(seed)
    n_features = int(rng.integers(1, 7 if regime == "table" else 15))
    rows, labels = random_table(rng, n_features=n_features, n_values=2)
    table = coded(rows, labels)
    whole = find_contexts(table)
    chosen = np.flatnonzero(rng.random(n_features) < 0.4).tolist() if seed else []
    part = find_contexts(table, chosen)
    for f in range(n_features):
        assert tables_of(part[f]) == (tables_of(whole[f]) if f in chosen else {})


@pytest.mark.parametrize(("m", "n", "k"), [(3000, 30, 3), (10_000, 9, 3), (1000, 80, 2), (2000, 4, 2)])
@pytest.mark.parametrize("is_weighted", [False, True])
@pytest.mark.usefixtures("threads_for_small_work")
def test_threads_change_nothing(m, n, k, is_weighted):
    rng = np.random.default_rng(m)
    codes = rng.integers(0, k, (m // 10, n), dtype=np.uint8)[rng.integers(0, m // 10, m)]
    codes[rng.integers(0, m, m), rng.integers(0, n, m)] = 0
    table = coded(codes, rng.integers(0, 2, m), rng.integers(0, 3, m) if is_weighted else None)
    one, two = (find_contexts(table, n_jobs=n_jobs) for n_jobs in (1, 2))
    assert list(map(tables_of, one)) == list(map(tables_of, two))
    one, two = (vars(count_pairs(table, n_jobs=n_jobs)) for n_jobs in (1, 2))
    assert one.keys() == two.keys()
    assert all(np.array_equal(one[name], two[name]) for name in one)


def test_cells_know_their_context_value_and_label():
    """One context: value 0 has labels 0, 0, 1 and value 1 has labels 1, 2."""
    found = find_contexts(coded([[0], [0], [0], [1], [1]], [0, 0, 1, 1, 2]))[0]
    assert len(found) == 1
    assert found.values.tolist() == [0, 0, 1, 1]
    assert found.labels.tolist() == [0, 1, 1, 2]
    assert found.sizes.tolist() == [2, 1, 1, 1]
    assert found.owner.tolist() == [0, 0, 0, 0]
    assert found.n_rows.tolist() == [5]
    assert found.value_starts.tolist() == [0, 2]
    assert found.value_sizes.tolist() == [3, 3, 2, 2]
    assert found.label_sizes.tolist() == [2, 2, 2, 1]
    assert found.value_parts.sizes.tolist() == [3, 2]
    assert found.pairs.tolist() == [2, 2, 3, 3]
    assert found.changed.tolist() == [2, 1, 2, 3]


def test_equal_contexts_are_kept_once():
    rows = [(value, context) for context in range(100) for value in (0, 1)]
    found = find_contexts(coded(rows, [value for value, _ in rows]))[0]
    assert (len(found), found.times.tolist()) == (1, [100])


@pytest.mark.parametrize("largest", [3, 10**6])
def test_profiles_merge_equal_entries(largest):
    profile = RowProfile.of(np.array([largest, 1, largest]), np.array([1, 0, 1]), np.array([4, 5, 6]))
    assert profile_of(profile) == {(1, 0): 5, (largest, 1): 10}
    assert profile.rows.tolist() == [5, 10]


@pytest.mark.parametrize(
    "largest",
    [3, 10**6],
)
def test_profiles_drop_entries_without_rows(largest):
    profile = RowProfile.of(np.array([largest, 2]), np.array([1, 2]), np.array([4, 0]))
    assert profile_of(profile) == {(largest, 1): 4}


def test_a_profile_counts_each_pair_from_both_sides():
    profile = RowProfile(np.array([0, 1, 4]), np.array([0, 1, 2]), np.array([7, 4, 1]))
    assert (profile.n_pairs, profile.n_changed, profile.n_paired_rows) == (4, 3, 5)


def test_equal_contexts_of_added_parts_are_put_together():
    rng = np.random.default_rng(0)
    rows, labels = rng.integers(0, 3, (300, 4)), rng.integers(0, 3, 300)
    alone = find_contexts(coded(rows, labels), [1])[1]
    alone = Contexts(alone.starts, np.arange(1, len(alone) + 1), alone.values, alone.labels, alone.sizes)
    compacted = Contexts.joined([alone, alone]).compacted()
    once, twice = tables_of(alone), tables_of(compacted)
    assert twice == Counter({table: 2 * times for table, times in once.items()})
    assert len(compacted) == len(once)
    assert len(Contexts.none().compacted()) == 0
