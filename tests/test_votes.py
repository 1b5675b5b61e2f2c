"""Votes of rows on each other: log-likelihoods against slow loops, and what changes nothing."""

from collections import Counter

import numpy as np
import pytest
from conftest import coded
from naive import naive_follow, naive_log_likelihood

from analogical.search import Voting


def random_table(seed):
    """A table whose label depends on some of its columns, none of which is constant."""
    rng = np.random.default_rng(seed)
    n_rows, n_values = int(rng.integers(25, 60)), rng.integers(2, 4, 4)
    codes = np.column_stack([rng.integers(0, v, n_rows) for v in n_values])
    codes[:3] = [[a % v for v in n_values] for a in range(3)]
    n_labels = int(rng.integers(2, 4))
    noise = rng.integers(0, n_labels, n_rows)
    rule = [codes[:, 0] ^ codes[:, 1], codes[:, 0] + codes[:, 2], codes[:, 0] ^ codes[:, 1] ^ codes[:, 3], noise]
    labels = np.where(rng.random(n_rows) < 0.15, noise, rule[seed % 4] % n_labels)
    labels[:n_labels] = range(n_labels)
    return codes, labels


ORDERS = ([0, 1, 2, 3], [3, 2, 1, 0], [1, 3, 0, 2])


@pytest.mark.parametrize("seed", range(20))
@pytest.mark.parametrize("order", ORDERS)
def test_following_features_equals_slow_loops(seed, order):
    codes, labels = random_table(seed)
    voting = Voting(coded(codes, labels))
    found = [voting.follow(order[: k + 1]).value for k in range(4)]
    np.testing.assert_allclose(found, naive_follow(codes.tolist(), labels.tolist(), order), atol=1e-8)
    assert voting.start.value == pytest.approx(naive_log_likelihood(codes.tolist(), labels.tolist(), []))


def test_both_ways_of_voting_occur_among_the_random_tables():
    """Else the test above would say less than it seems to."""
    tables = [Voting(coded(*random_table(seed))) for seed in range(20)]
    ways = {way for v in tables for _, way in v._gains_of(v.follow([0, 1]), [2, 3])}
    assert ways == {"joint", "own"}


@pytest.mark.parametrize("seed", range(8))
def test_candidates_are_what_following_them_adds(seed):
    voting = Voting(coded(*random_table(seed)))
    state = voting.follow([2, 0])
    for feature, gain in voting.gains(state, [1, 3]).items():
        assert gain == pytest.approx(voting.follow([2, 0, feature]).value - state.value, abs=1e-8)


@pytest.mark.parametrize("seed", range(8))
def test_features_that_vote_together_add_what_slow_loops_say(seed):
    codes, labels = random_table(seed)
    expected = naive_log_likelihood(codes.tolist(), labels.tolist(), [1, 0, 3])
    assert Voting(coded(codes, labels)).follow([1, 0, 3], frozenset([0, 1, 3])).value == pytest.approx(expected)
    expected = naive_log_likelihood(codes.tolist(), labels.tolist(), [2, 0, 1])
    assert Voting(coded(codes, labels)).follow([2, 0, 1], frozenset([0, 1])).value == pytest.approx(expected)


@pytest.mark.parametrize("is_weighted", [False, True])
@pytest.mark.parametrize("seed", range(8))
def test_entries_are_the_distinct_values_and_labels(seed, is_weighted):
    codes, labels = random_table(seed)
    weights = np.random.default_rng(seed).integers(1, 4, len(codes)) if is_weighted else np.ones(len(codes), int)
    voting = Voting(coded(codes, labels, weights if is_weighted else None))
    keys = [(*row, label) for row, label in zip(codes[:, [3, 0, 2]].tolist(), labels.tolist(), strict=True)]
    for state, n_known in ((voting.start, 0), (voting.follow([3]), 1), (voting.follow([3, 0, 2]), 3)):
        known = [(*key[:n_known], key[-1]) for key in keys]
        sizes = Counter()
        for key, weight in zip(known, weights.tolist(), strict=True):
            sizes[key] += weight
        of_row = state.of_row.tolist()
        of_entry = [known[of_row.index(entry)] for entry in range(len(state.sizes))]
        assert len(set(of_entry)) == len(of_entry) == len(sizes)
        assert [of_entry[entry] for entry in of_row] == known
        assert dict(zip(of_entry, state.sizes.tolist(), strict=True)) == sizes
        assert state.labels.tolist() == [key[-1] for key in of_entry]


@pytest.mark.parametrize("seed", range(8))
def test_order_of_rows_and_names_of_values_change_nothing(seed):
    codes, labels = random_table(seed)
    rng = np.random.default_rng(seed)
    expected = Voting(coded(codes, labels)).follow([0, 1, 2, 3]).value
    mixed = rng.permutation(len(codes))
    assert Voting(coded(codes[mixed], labels[mixed])).follow([0, 1, 2, 3]).value == pytest.approx(expected, rel=1e-9)
    renamed = np.column_stack([rng.permutation(column.max() + 1)[column] for column in codes.T])
    names = rng.permutation(labels.max() + 1)
    assert Voting(coded(renamed, names[labels])).follow([0, 1, 2, 3]).value == pytest.approx(expected, rel=1e-9)


@pytest.mark.parametrize("seed", range(8))
def test_weights_stand_for_repeated_rows(seed):
    codes, labels = random_table(seed)
    weights = np.random.default_rng(seed).integers(0, 4, len(codes))
    weights[:3] = 1
    weighted = Voting(coded(codes, labels, weights))
    repeated = Voting(coded(np.repeat(codes, weights, axis=0), np.repeat(labels, weights)))
    assert weighted.follow([2, 1, 0]).value == pytest.approx(repeated.follow([2, 1, 0]).value)


def some_groups(seed, n_rows):
    """Groups of one row up to several."""
    return np.random.default_rng([seed, 1]).integers(0, n_rows // 3 + 5 * (seed % 3), n_rows)


@pytest.mark.parametrize("seed", range(20))
@pytest.mark.parametrize("order", ORDERS)
def test_rows_of_a_group_do_not_vote_for_each_other_as_slow_loops_say(seed, order):
    codes, labels = random_table(seed)
    groups = some_groups(seed, len(codes))
    voting = Voting(coded(codes, labels), groups=groups)
    arguments = codes.tolist(), labels.tolist()
    found = [voting.follow(order[: k + 1]).value for k in range(4)]
    np.testing.assert_allclose(found, naive_follow(*arguments, order, groups.tolist()), atol=1e-9)
    start = naive_log_likelihood(*arguments, [], groups=groups.tolist())
    assert voting.start.value == pytest.approx(start, abs=1e-9)
    together = naive_log_likelihood(*arguments, order[:3], groups=groups.tolist())
    assert voting.follow(order[:3], frozenset(order)).value == pytest.approx(together, abs=1e-9)


def test_both_ways_of_voting_occur_with_groups():
    """Else the test above would say less than it seems to."""
    tables = [random_table(seed) for seed in range(20)]
    votings = [Voting(coded(*table), groups=some_groups(seed, len(table[0]))) for seed, table in enumerate(tables)]
    assert {way for v in votings for _, way in v._gains_of(v.follow([0, 1]), [2, 3])} == {"joint", "own"}


@pytest.mark.parametrize("seed", range(8))
def test_groups_of_one_row_change_nothing(seed):
    codes, labels = random_table(seed)
    groups = np.random.default_rng(seed).permutation(len(codes))
    one, other = Voting(coded(codes, labels)), Voting(coded(codes, labels), groups=groups)
    for features in ([], [2], [1, 0], [3, 1, 0, 2]):
        assert other.follow(features).value == pytest.approx(one.follow(features).value, abs=1e-9)


@pytest.mark.parametrize("seed", range(8))
def test_copies_in_a_group_multiply_the_votes_of_all(seed):
    """Three copies of every row count three times, and those of a row itself never vote for it."""
    codes, labels = random_table(seed)
    groups = some_groups(seed, len(codes))
    rows = coded(np.repeat(codes, 3, axis=0), np.repeat(labels, 3))
    weighted = coded(codes, labels, np.full(len(codes), 3))
    copied, counted = Voting(rows, groups=np.repeat(groups, 3)), Voting(weighted, groups=groups)
    for features in ([], [2], [1, 0], [3, 1, 0, 2]):
        assert copied.follow(features).value == pytest.approx(counted.follow(features).value, abs=1e-9)


def test_rows_of_weight_0_have_no_group():
    codes, labels = random_table(3)
    groups, weights = some_groups(3, len(codes)), np.ones(len(codes), int)
    weights[5:9] = 0
    held = weights > 0
    some = Voting(coded(codes[held], labels[held], n_values=codes.max(axis=0) + 1), groups=groups[held])
    assert Voting(coded(codes, labels, weights), groups=groups).follow([2, 0]).value == some.follow([2, 0]).value


def test_two_rows_of_a_unit_do_not_explain_each_other():
    """Units of two equal rows, and features that do nothing: without groups, twins explain nearly all."""
    rng = np.random.default_rng(12)
    unit = np.repeat(np.arange(150), 2)
    rows = coded(rng.integers(0, 4, (150, 6))[unit], rng.integers(0, 2, 150)[unit])
    explained = [
        1 - voting.follow(range(6), frozenset(range(6))).value / voting.start.value
        for voting in (Voting(rows), Voting(rows, groups=unit))
    ]
    assert explained[0] > 0.25
    assert explained[1] < 0


def test_threads_and_sorting_change_nothing():
    codes, labels = random_table(1)
    one = Voting(coded(codes, labels))
    many_values = Voting(coded(codes, labels, n_values=[10_000] * 4))
    assert gains(many_values) == pytest.approx(gains(one))
    repeated = coded(np.tile(codes, (4000, 1)), np.tile(labels, 4000))  # too many rows for one block of features
    assert gains(Voting(repeated, n_threads=2)) == pytest.approx(gains(Voting(repeated)))


def gains(voting):
    """What each further feature adds to the first one."""
    return voting.gains(voting.follow([0]), [1, 2, 3])


def test_a_feature_that_tells_nothing_loses_on_average():
    gains = []
    for seed in range(60):
        rng = np.random.default_rng(seed)
        voting = Voting(coded(rng.integers(0, 3, (200, 1)), rng.integers(0, 2, 200)))
        gains.append(voting.gains(voting.start, [0])[0])
    assert np.mean(gains) < 0


def test_a_copy_adds_nothing_to_a_vote_together():
    codes = np.random.default_rng(0).integers(0, 3, (200, 1))
    voting = Voting(coded(np.column_stack([codes, 2 - codes]), codes[:, 0] > 0))
    together = voting.follow([0, 1], frozenset([1]))
    assert together.value - voting.follow([0]).value == pytest.approx(0.0, abs=1e-9)


@pytest.mark.parametrize("seed", range(4))
def test_votes_of_an_entry_are_shares(seed):
    codes, labels = random_table(seed)
    voting = Voting(coded(codes, labels))
    for state in (voting.start, voting.follow([2]), voting.follow([1, 0, 3])):
        shares = state.shares()
        assert shares.shape == (len(state.sizes), labels.max() + 1)
        assert shares.sum(axis=1) == pytest.approx(np.ones(len(shares)))
        assert (shares >= 0).all()


def test_classes_beyond_the_49_most_frequent_vote_as_one():
    codes = np.random.default_rng(11).integers(0, 3, (400, 3))
    labels = np.where(np.arange(400) < 260, codes[:, 0], 3 + np.arange(400) % 60)
    voting = Voting(coded(codes, labels))
    sizes = np.bincount(labels)
    kept = np.argsort(-sizes, kind="stable")[:49].tolist()
    merged = [kept.index(label) if label in kept else 49 for label in labels.tolist()]
    assert voting.rows.n_labels == 50
    assert Voting(coded(codes, np.arange(400) % 50)).rows.n_labels == 50
    assert voting.follow([0, 1]).value == pytest.approx(Voting(coded(codes, merged)).follow([0, 1]).value)
