"""The k best together: gains against slow loops, what is chosen, and what changes nothing."""

import numpy as np
import pytest
from naive import naive_log_likelihood, naive_together

from analogical._types import CodedRows
from analogical.scoring.together import GATE, Index, choose_together


def coded(codes, labels, weights=None):
    codes, labels = np.asarray(codes, np.uint8), np.asarray(labels, np.uint8)
    return CodedRows(codes, labels, codes.max(axis=0).astype(np.int64) + 1, int(labels.max()) + 1, weights)


def by_columns(n, told=()):
    is_told = np.zeros(n, np.bool_)
    is_told[list(told)] = True
    return lambda: Index(np.arange(n), is_told)


def never():
    raise AssertionError("the index is not needed")


def steps(found):
    return [(step.feature, round(step.gain, 6), step.why) for step in found.steps]


def random_table(seed):
    """A table whose label depends on some of its columns, none of which is constant or determined by another one."""
    rng = np.random.default_rng(seed)
    n_rows, n_values = int(rng.integers(25, 60)), rng.integers(2, 4, 4)
    codes = np.column_stack([rng.integers(0, v, n_rows) for v in n_values])
    codes[:9] = [[a % v for a, v in zip((*divmod(i, 3), i, i // 2), n_values, strict=True)] for i in range(9)]
    n_labels = int(rng.integers(2, 4))
    noise = rng.integers(0, n_labels, n_rows)
    rule = [codes[:, 0] ^ codes[:, 1], codes[:, 0] + codes[:, 2], codes[:, 0] ^ codes[:, 1] ^ codes[:, 3], noise][
        seed % 4
    ]
    labels = np.where(rng.random(n_rows) < 0.15, noise, rule % n_labels)
    labels[:n_labels] = range(n_labels)
    return codes, labels


@pytest.mark.parametrize("seed", range(40))
def test_steps_and_gains_equal_those_of_slow_loops(seed):
    codes, labels = random_table(seed)
    found = choose_together(coded(codes, labels), 4, by_columns(4))
    expected = naive_together(codes.tolist(), labels.tolist(), 4, range(4))
    assert [(f, why) for f, _, why in steps(found)] == [(f, why) for f, _, why in expected]
    np.testing.assert_allclose([step.gain for step in found.steps], [gain for _, gain, _ in expected], atol=1e-8)
    alone = [
        naive_log_likelihood(codes.tolist(), labels.tolist(), [f])
        - naive_log_likelihood(codes.tolist(), labels.tolist(), [])
        for f in range(4)
    ]
    np.testing.assert_allclose(found.alone, alone, atol=1e-8)


def test_all_ways_of_choosing_occur_among_the_random_tables():
    """Else the test above would say less than it seems to."""
    whys = {
        why for seed in range(40) for _, _, why in steps(choose_together(coded(*random_table(seed)), 4, by_columns(4)))
    }
    assert whys == {"gain", "interaction", "index"}


@pytest.mark.parametrize("seed", range(12))
def test_features_stay_on_trial_while_others_earn_their_keep(seed, monkeypatch):
    """Pairs come into the pool late, and what was taken before them may still belong to a parity."""
    monkeypatch.setattr("analogical.scoring.together.POOL", 2)
    rng = np.random.default_rng(seed)
    codes = rng.integers(0, 2, (120, 6))
    parity, pair = codes[:, 0] ^ codes[:, 3] ^ codes[:, 4], codes[:, 1] ^ codes[:, 2]
    labels = np.where(rng.random(120) < 0.5, parity, pair) if seed % 2 else 2 * pair + parity
    found = choose_together(coded(codes, labels), 6, by_columns(6))
    expected = naive_together(codes.tolist(), labels.tolist(), 6, range(6), n_pool=2)
    assert [(f, why) for f, _, why in steps(found)] == [(f, why) for f, _, why in expected]
    np.testing.assert_allclose([step.gain for step in found.steps], [gain for _, gain, _ in expected], atol=1e-8)


def uniform(n_rows, n_features, n_values=2, seed=0):
    return np.random.default_rng(seed).integers(0, n_values, (n_rows, n_features))


def test_an_exclusive_or_is_found_as_a_pair():
    codes = uniform(200, 12)
    order = [7, 3, *(f for f in range(12) if f not in (3, 7))]
    found = choose_together(
        coded(codes, codes[:, 3] ^ codes[:, 7]), None, lambda: Index(np.array(order), np.zeros(12, np.bool_))
    )
    assert [(step.feature, step.why, step.partners) for step in found.steps] == [
        (7, "interaction", (3,)),
        (3, "interaction", (7,)),
    ]
    assert found.stop == 2
    assert (found.further[[f for f in range(12) if f not in (3, 7)]] < found.need).all()


def test_a_parity_of_three_is_confirmed_by_its_last_feature():
    codes = uniform(400, 10, seed=1)
    labels = codes[:, 0] ^ codes[:, 1] ^ codes[:, 2]
    found = choose_together(coded(codes, labels), None, by_columns(10, told=(0, 1, 2)))
    assert [(step.feature, step.why, step.partners) for step in found.steps] == [
        (0, "interaction", (1, 2)),
        (1, "interaction", (0, 2)),
        (2, "interaction", (0, 1)),
    ]
    assert found.steps[-1].value / found.log_likelihood < 0.2


def test_the_index_is_not_asked_while_features_earn_their_keep():
    codes = uniform(500, 6, 3, seed=2)
    labels = (codes[:, 0] + codes[:, 1] > 1).astype(int)
    found = choose_together(coded(codes, labels), 2, never)
    assert {(step.feature, step.why) for step in found.steps} == {(0, "gain"), (1, "gain")}


def test_without_k_it_ends_where_nothing_earns_its_keep():
    codes = uniform(500, 20, 3, seed=3)
    labels = (codes[:, 4] + codes[:, 11] > 1).astype(int)
    found = choose_together(coded(codes, labels), None, by_columns(20))
    assert {step.feature for step in found.steps} == {4, 11}
    assert found.stop == 2
    assert found.need == pytest.approx(GATE * np.log(20))


def test_shuffled_labels_keep_nothing():
    """The gate is passed by one of 200 tables of 20 features without any rule, or by none."""
    n_kept = 0
    for seed in range(200):
        rng = np.random.default_rng(seed)
        rows = coded(rng.integers(0, 3, (150, 20)), rng.integers(0, 2, 150))
        n_kept += len(choose_together(rows, None, by_columns(20)).steps) > 0
    assert n_kept <= 4


def test_irrelevant_features_earn_nothing_where_labels_have_no_noise():
    """Cells that agree on their label would only grow more certain if they were divided further."""
    for seed in range(20):
        codes = uniform(400, 8, 3, seed=seed)
        labels = ((codes[:, 0] == codes[:, 1]) | (codes[:, 2] == 0)).astype(int)
        found = choose_together(coded(codes, labels), None, by_columns(8))
        assert {step.feature for step in found.steps} <= {0, 1, 2}


def test_many_noisy_features_that_add_up_are_all_found():
    """Cells of many features are thin; their votes on their own still add."""
    rng = np.random.default_rng(4)
    codes = rng.integers(0, 3, (2000, 12))
    logit = (codes[:, :8] - 1).sum(axis=1) * 0.6
    labels = (rng.random(2000) < 1 / (1 + np.exp(-logit))).astype(int)
    found = choose_together(coded(codes, labels), None, by_columns(12))
    assert {step.feature for step in found.steps} == set(range(8))


def test_a_copy_adds_nothing_and_is_carried_by_its_original():
    codes = uniform(300, 5, 3, seed=5)
    labels = (codes[:, 1] == 2).astype(int) ^ (np.arange(300) % 10 == 0)
    codes = np.column_stack([codes, (codes[:, 1] + 1) % 3])
    found = choose_together(coded(codes, labels), None, by_columns(6))
    assert [step.feature for step in found.steps] == [1]
    assert found.carried_by[5] == (1,)
    assert found.carried_by[0] == ()
    assert found.alone[5] == pytest.approx(found.alone[1])


def test_a_copy_earns_nothing_by_making_votes_more_certain():
    """Every value has five rows, so their vote is far from certain, and the same vote again would sharpen it."""
    town = np.repeat(np.arange(40), 5)
    codes = np.column_stack([town, 39 - town, uniform(200, 1)[:, 0]])
    found = choose_together(coded(codes, town % 2), None, by_columns(3))
    assert [step.feature for step in found.steps] == [0]
    assert found.further[1] == 0.0
    assert found.carried_by[1] == (0,)


def test_what_is_carried_is_not_kept_because_the_index_tells_it_from_noise():
    rng = np.random.default_rng(12)
    codes = uniform(600, 4, seed=12)
    codes[:, 3] = np.where(rng.random(600) < 0.8, codes[:, 0], codes[:, 3])
    labels = np.where(rng.random(600) < 0.8, codes[:, 0], rng.integers(0, 2, 600))
    found = choose_together(coded(codes, labels), None, by_columns(4, told=(0, 3)))
    assert [step.feature for step in found.steps] == [0]
    assert found.carried_by[3] == (0,)


def test_one_of_two_that_act_together_is_not_chosen_for_that():
    codes = uniform(200, 4, seed=13)
    found = choose_together(coded(codes, codes[:, 0] ^ codes[:, 1]), 1, by_columns(4))
    assert [(step.feature, step.why) for step in found.steps] == [(0, "index")]


def test_what_only_several_chosen_features_carry_names_them_all():
    rng = np.random.default_rng(6)
    codes = uniform(4000, 2, seed=6)
    both = np.where(rng.random(4000) < 0.5, codes.sum(axis=1), rng.integers(0, 3, 4000))
    labels = rng.random(4000) < 0.1 + 0.4 * codes.sum(axis=1)
    found = choose_together(coded(np.column_stack([codes, both]), labels), None, by_columns(3))
    assert {step.feature for step in found.steps} == {0, 1}
    assert found.alone[2] > 100
    assert sorted(found.carried_by[2]) == [0, 1]


def test_a_copy_comes_last_where_features_must_be_taken():
    codes = uniform(100, 3, seed=7)
    codes = np.column_stack([codes[:, 0], codes, np.zeros(100, int)])
    found = choose_together(coded(codes, codes[:, 0]), 5, by_columns(5))
    assert [step.feature for step in found.steps] == [0, 2, 3, 1, 4]
    assert found.further.tolist() == [pytest.approx(np.nan, nan_ok=True)] * 5


def test_stop_is_none_while_the_next_feature_earns_its_keep():
    codes = uniform(500, 6, 3, seed=8)
    found = choose_together(coded(codes, (codes[:, 0] + codes[:, 1] > 1)), 1, never)
    assert found.stop is None
    assert int(np.nanargmax(found.further)) in (0, 1)


def test_stop_counts_the_features_before_the_index_took_over():
    codes = uniform(500, 6, 3, seed=8)
    found = choose_together(coded(codes, codes[:, 2] > 0), 4, by_columns(6))
    assert [step.why for step in found.steps] == ["gain", "index", "index", "index"]
    assert found.stop == 1


# ------------------------------------------------------------ what changes nothing


@pytest.mark.parametrize("seed", range(8))
def test_order_of_rows_renaming_and_constants_change_nothing(seed):
    codes, labels = random_table(seed)
    rng = np.random.default_rng(seed)
    expected = steps(choose_together(coded(codes, labels), 4, by_columns(4)))
    mixed = rng.permutation(len(codes))
    assert steps(choose_together(coded(codes[mixed], labels[mixed]), 4, by_columns(4))) == expected
    renamed = np.column_stack([rng.permutation(column.max() + 1)[column] for column in codes.T])
    names = rng.permutation(labels.max() + 1)
    assert steps(choose_together(coded(renamed, names[labels]), 4, by_columns(4))) == expected
    wider = np.column_stack([codes, np.zeros(len(codes), int)])
    assert steps(choose_together(coded(wider, labels), 4, by_columns(5))) == expected


@pytest.mark.parametrize("seed", range(8))
def test_order_of_columns_permutes_the_features(seed):
    codes, labels = random_table(seed)
    order = np.random.default_rng(seed).permutation(4)
    expected = steps(choose_together(coded(codes, labels), 4, by_columns(4)))
    index = Index(np.argsort(order), np.zeros(4, np.bool_))
    found = steps(choose_together(coded(codes[:, order], labels), 4, lambda: index))
    assert [(int(order[f]), gain, why) for f, gain, why in found] == expected


def test_ties_go_to_the_earlier_column():
    codes = uniform(100, 4, seed=9)
    labels = codes[:, 2]
    codes = np.column_stack([codes, 1 - codes[:, 2]])
    assert choose_together(coded(codes, labels), 1, never).steps[0].feature == 2
    assert choose_together(coded(codes[:, ::-1], labels), 1, never).steps[0].feature == 0


@pytest.mark.parametrize("seed", range(20))
def test_rounding_does_not_settle_ties(seed):
    """The same column with its values numbered otherwise adds the same, but for rounding."""
    rng = np.random.default_rng(seed)
    town = rng.integers(0, 30, 500)
    labels = (town % 3 == 0) ^ (rng.random(500) < 0.2)
    codes = np.column_stack([rng.permutation(30)[town], town])
    assert choose_together(coded(codes, labels), 1, never).steps[0].feature == 0


@pytest.mark.parametrize("seed", range(8))
def test_weights_stand_for_repeated_rows(seed):
    codes, labels = random_table(seed)
    weights = np.random.default_rng(seed).integers(0, 4, len(codes))
    weights[labels.argsort()[[0, -1]]] = 1
    weighted = choose_together(coded(codes, labels, weights), 4, by_columns(4))
    repeated = choose_together(coded(np.repeat(codes, weights, axis=0), np.repeat(labels, weights)), 4, by_columns(4))
    assert steps(weighted) == steps(repeated)
    np.testing.assert_allclose(weighted.further, repeated.further)


def test_threads_change_nothing(monkeypatch):
    monkeypatch.setattr("analogical.counting.threads.SMALL_WORK", 0)
    codes, labels = random_table(1)
    one, two = (choose_together(coded(codes, labels), 4, by_columns(4), n_jobs=n) for n in (1, 2))
    assert one.steps == two.steps


def test_columns_with_very_many_values_are_counted_by_sorting(monkeypatch):
    codes = uniform(200, 4, 3, seed=10)
    labels = (codes[:, 1] > 0).astype(int) ^ (np.arange(200) % 7 == 0)
    expected = choose_together(coded(codes, labels), 4, by_columns(4))
    monkeypatch.setattr("analogical.counting.entries.SPARSE", -1)
    wide = CodedRows(codes.astype(np.uint32), labels.astype(np.uint8), np.full(4, 10_000), 2)
    found = choose_together(wide, 4, by_columns(4))
    assert steps(found) == steps(expected)
    np.testing.assert_allclose(found.alone, expected.alone)


def test_rare_classes_vote_as_one(monkeypatch):
    monkeypatch.setattr("analogical.scoring.together.MANY_CLASSES", 10)
    codes = uniform(400, 3, 3, seed=11)
    labels = np.where(np.arange(400) < 360, codes[:, 0], 3 + np.arange(400) % 20)
    found = choose_together(coded(codes, labels), 2, by_columns(3))
    merged = choose_together(coded(codes, merge_rarest(labels, 9)), 2, by_columns(3))
    assert found.n_classes == 10
    assert steps(found) == steps(merged)


def merge_rarest(labels, n_kept):
    sizes = np.bincount(labels)
    kept = np.argsort(-sizes, kind="stable")[:n_kept].tolist()
    return np.array([kept.index(label) if label in kept else n_kept for label in labels.tolist()])
