"""The deciding set: what is found, what is not, and what changes nothing."""

import math
from typing import NamedTuple

import numpy as np
import pytest
from conftest import coded
from naive import naive_log_likelihood

from analogical.count.groups import evenly
from analogical.search import GATE, MOST_MEMBERS, SCREENED_ROWS, Decider, Voting


class Found(NamedTuple):
    """What was decided."""

    columns: tuple[int, ...]
    partners: dict[int, tuple[int, ...]]
    value: float


def decided(search):
    columns = tuple(search.decide())
    return Found(columns, search.partners, search.voting.follow(columns, frozenset(search.partners)).value)


def decider(codes, labels, *, owner=None, rank=None, weights=None):
    codes = np.asarray(codes)
    owner = np.arange(codes.shape[1]) if owner is None else np.asarray(owner)
    rank = np.arange(owner.max() + 1) if rank is None else np.asarray(rank)
    voting = Voting(coded(codes, labels, weights))
    some = {size: evenly(len(voting.rows.codes), n) for size, n in SCREENED_ROWS.items()}
    return Decider(voting, owner, rank, some)


def uniform(n_rows, n_features, n_values=2, seed=0):
    return np.random.default_rng(seed).integers(0, n_values, (n_rows, n_features))


def flipped(labels, share, seed=0):
    labels = np.asarray(labels).astype(int)
    return np.where(np.random.default_rng(1000 + seed).random(len(labels)) < share, 1 - labels, labels)


# ------------------------------------------------------------ what is found


def test_features_that_add_up_are_found_and_no_others():
    codes = uniform(500, 20, 3, seed=3)
    search = decider(codes, codes[:, 4] + codes[:, 11] > 1)
    found = decided(search)
    assert set(found.columns) == {4, 11}
    assert found.partners == {}


@pytest.mark.parametrize("seed", range(10))
def test_an_exclusive_or_of_two_is_found(seed):
    codes = uniform(200, 14, seed=seed)
    found = decided(decider(codes, flipped(codes[:, 3] ^ codes[:, 7], 0.05, seed)))
    assert set(found.columns) == {3, 7}
    assert found.partners == {3: (7,), 7: (3,)}


@pytest.mark.parametrize("seed", range(6))
def test_an_exclusive_or_of_three_among_twelve_others_is_found(seed):
    codes = uniform(600, 15, seed=seed)
    labels = flipped(codes[:, 2] ^ codes[:, 5] ^ codes[:, 9], 0.05, seed)
    found = decided(decider(codes, labels))
    assert set(found.columns) == {2, 5, 9}
    assert set(found.partners) == {2, 5, 9}
    assert found.value > 0.5 * decider(codes, labels).voting.start.value


@pytest.mark.parametrize("n_features", [50, 65])
def test_three_features_that_act_only_together_are_found_among_many(n_features):
    codes = uniform(2_000, n_features, 3, seed=1)
    labels = flipped((codes[:, 2] + codes[:, 5] + codes[:, 9]) % 3 == 0, 0.2, 1)
    assert set(decided(decider(codes, labels)).columns) == {2, 5, 9}


def test_an_interaction_beside_a_main_effect_is_found():
    codes = uniform(800, 10, 3, seed=4)
    labels = (codes[:, 0] == 2) | (codes[:, 1] == codes[:, 2])
    found = decided(decider(codes, labels))
    assert set(found.columns) == {0, 1, 2}
    assert set(found.partners) == {1, 2}


def test_the_gain_of_a_second_pair_is_computed_with_the_first_pair_voting_together():
    codes = uniform(200, 5, 10, seed=1)
    labels = flipped(codes[:, 0] + codes[:, 1] > 9, 0.2)
    search = decider(codes, labels)
    search._members, search.partners = [0, 1], {0: (1,), 1: (0,)}
    assert search.voting.follow([0, 1]).value > search._follow([0, 1]).value  # the second one would vote on its own
    before, after = (naive_log_likelihood(codes.tolist(), labels.tolist(), f) for f in ([0, 1], [0, 1, 2, 3]))
    assert search._gain_together(search._follow([0, 1]), [2, 3]) == pytest.approx(after - before)


@pytest.mark.parametrize("at", [0, 5])
def test_a_copy_is_not_chosen_and_changes_no_gain(at):
    codes = uniform(300, 5, 3, seed=5)
    labels = flipped(codes[:, 1] == 2, 0.1)
    plain = decided(decider(codes, labels))
    found = decided(decider(np.insert(codes, at, (codes[:, 1] + 1) % 3, axis=1), labels))
    assert found.value == pytest.approx(plain.value)
    assert found.columns == ((0,) if at == 0 else (1,))


def test_a_proxy_that_came_first_leaves_when_the_true_features_are_in():
    rng = np.random.default_rng(0)
    a, b = rng.integers(0, 2, (2, 3000))
    proxy = np.where(rng.random(3000) < 0.9, a + b, rng.integers(0, 3, 3000))
    labels = (rng.random(3000) < 0.1 + 0.4 * (a + b)).astype(int)
    codes = np.column_stack([proxy, a, b, uniform(3000, 5, seed=1)])
    search = decider(codes, labels)
    assert search.alone[0] > max(search.alone[1], search.alone[2])  # greedy choice takes the proxy first
    assert set(decided(search).columns) == {1, 2}


def test_every_member_adds_enough_beside_the_others():
    for seed in range(10):
        rng = np.random.default_rng(seed)
        hidden = rng.integers(0, 3, 1500)
        codes = np.column_stack([np.where(rng.random(1500) < 0.7, hidden, rng.integers(0, 3, 1500)) for _ in range(8)])
        labels = flipped(codes[:, 0] + codes[:, 3] > 2, 0.1, seed)
        search = decider(codes, labels)
        members = decided(search).columns
        whole = search.voting.follow(members).value
        for column in members:
            rest = search.voting.follow([c for c in members if c != column]).value
            assert whole - rest >= search.need


def test_a_number_is_cut_into_as_many_bins_as_predict_best():
    rng = np.random.default_rng(2)
    x = rng.random(1200)
    labels = flipped(np.isin((x * 4).astype(int), (0, 2)), 0.05)
    cuts = [(x * n).astype(int) for n in (5, 2, 3, 4, 16)]
    codes = np.column_stack([uniform(1200, 3, seed=3), *cuts])
    owner = [0, 1, 2, 3, 3, 3, 3, 3]
    found = decided(decider(codes, labels, owner=owner))
    assert found.columns == (6,)  # four bins


def test_members_are_at_most_so_many():
    rng = np.random.default_rng(4)
    codes = rng.integers(0, 2, (8000, 16))
    labels = rng.random(8000) < 1 / (1 + np.exp(-0.9 * (codes[:, :14] - 0.5).sum(axis=1)))
    found = decided(decider(codes, labels))
    assert len(found.columns) == MOST_MEMBERS
    assert set(found.columns) <= set(range(14))


def test_members_leave_three_rows_in_each_combination_of_their_values():
    rng = np.random.default_rng(4)
    codes = rng.integers(0, 4, (600, 8))
    labels = rng.random(600) < 1 / (1 + np.exp(-0.8 * (codes[:, :6] - 1.5).sum(axis=1)))
    search = decider(codes, labels)
    members = list(decided(search).columns)
    assert 2 <= len(members) < 5
    assert len(np.unique(codes[:, members], axis=0)) * 3 <= 600
    assert not search.has_room([0, 1, 2, 3, 4])


# ------------------------------------------------------------ what is not found


def test_shuffled_labels_choose_nothing():
    n_empty = 0
    for seed in range(100):
        rng = np.random.default_rng(seed)
        n_empty += not decided(decider(rng.integers(0, 3, (150, 12)), rng.integers(0, 2, 150))).columns
    assert n_empty >= 95


def test_irrelevant_features_are_not_chosen_where_labels_have_no_noise():
    """Cells that agree on their label would only grow more certain if they were divided further."""
    for seed in range(10):
        codes = uniform(400, 8, 3, seed=seed)
        labels = (codes[:, 0] == codes[:, 1]) | (codes[:, 2] == 0)
        assert set(decided(decider(codes, labels)).columns) <= {0, 1, 2}


def test_constant_columns_are_not_looked_at_and_do_not_count():
    codes = uniform(300, 12, 3, seed=7)
    labels = codes[:, 2] > 0
    search = decider(np.column_stack([codes, np.zeros(300, int)]), labels)
    assert search.varying == list(range(12))
    assert search.need == decider(codes, labels).need == pytest.approx(GATE * math.log(12))
    assert decider(codes[:, :3], labels).need == pytest.approx(GATE * math.log(10))
    assert decided(search).columns == (2,)


# ------------------------------------------------------------ what changes nothing


def rule_of(seed):
    codes = uniform(400, 7, 3, seed=seed)
    rules = [
        codes[:, 0] + codes[:, 1] > 2,
        (codes[:, 2] == codes[:, 4]) | (codes[:, 6] == 0),
        codes[:, 3] == codes[:, 5],
        codes[:, 1] > 0,
    ]
    return codes, flipped(rules[seed % 4], 0.08, seed)


def facts(found, names=None):
    names = np.arange(100) if names is None else names
    return [(int(names[c]), {int(names[p]) for p in found.partners.get(c, ())}) for c in found.columns]


@pytest.mark.parametrize("seed", range(8))
def test_order_of_rows_and_names_of_values_change_nothing(seed):
    codes, labels = rule_of(seed)
    rng = np.random.default_rng(seed)
    expected = decided(decider(codes, labels))
    again = decided(decider(codes, labels))
    assert again == expected
    mixed = rng.permutation(len(codes))
    renamed = np.column_stack([rng.permutation(column.max() + 1)[column] for column in codes.T])
    for found in (decided(decider(codes[mixed], labels[mixed])), decided(decider(renamed, 1 - labels))):
        assert facts(found) == facts(expected)
        assert found.value == pytest.approx(expected.value)


@pytest.mark.parametrize("seed", range(8))
def test_order_of_columns_permutes_the_members(seed):
    codes, labels = rule_of(seed)
    order = np.random.default_rng(seed).permutation(7)
    expected = decided(decider(codes, labels))
    found = decided(decider(codes[:, order], labels, rank=order))
    assert {f for f, _ in facts(found, order)} == {f for f, _ in facts(expected)}
    assert found.value == pytest.approx(expected.value)


def test_weights_stand_for_repeated_rows():
    codes, labels = rule_of(1)
    weights = np.random.default_rng(1).integers(0, 4, len(codes))
    weighted = decided(decider(codes, labels, weights=weights))
    repeated = decided(decider(np.repeat(codes, weights, axis=0), np.repeat(labels, weights)))
    assert facts(weighted) == facts(repeated)
    assert weighted.value == pytest.approx(repeated.value)


@pytest.mark.parametrize("seed", range(20))
def test_rounding_does_not_settle_ties(seed):
    """The same column with its values numbered otherwise adds the same, but for rounding."""
    rng = np.random.default_rng(seed)
    town = rng.integers(0, 30, 500)
    labels = (town % 3 == 0) ^ (rng.random(500) < 0.2)
    assert decided(decider(np.column_stack([rng.permutation(30)[town], town]), labels)).columns == (0,)


# ---------------------------------------------------------------- sets that are screened


def test_of_pairs_and_threes_those_that_are_least_likely_by_chance_come_first():
    codes = uniform(800, 9, seed=4)
    pair, three = codes[:, 2] ^ codes[:, 7], codes[:, 1] ^ codes[:, 4] ^ codes[:, 8]
    features = [0, 1, 2, 4, 7, 8]
    for labels, size, expected in ((pair, 2, (2, 7)), (three, 3, (1, 4, 8))):
        search = decider(codes, flipped(labels, 0.1))
        found = search.likely(search.voting.start, features, size)
        assert found[0] == expected
        assert len(found) == len(set(found)) == 4
        assert search.likely(search.voting.start, features[: size - 1], size) == []


def test_all_features_are_screened_up_to_a_limit_of_work_and_then_those_with_the_largest_gains(monkeypatch):
    codes = uniform(300, 12, 3, seed=8)
    labels = flipped(codes[:, 9] + codes[:, 4] > 2, 0.1)
    everything = decider(codes, labels)
    assert {size: set(features) for size, features in everything.screened.items()} == {
        2: set(range(12)),
        3: set(range(12)),
    }
    monkeypatch.setattr("analogical.search.WORK", {2: 700 * 14**2, 3: (300 * 2 + 100 * 9) * 6**2 / 3})
    search = decider(codes, labels)
    by_gain = sorted(range(12), key=lambda f: -search.alone[f])
    assert search.screened == {2: by_gain[:7], 3: by_gain[:3]}
    found = search.likely(search.voting.start, range(12), 2)
    assert set().union(*found) <= set(by_gain[:7])
    assert search.likely(search.voting.start, by_gain[2:], 3) == []
