"""Which features act together: known rules, invariances, contexts, pairs, words and errors."""

import json
import math
from itertools import combinations, product

import numpy as np
import pandas as pd
import polars as pl
import pytest
from naive import naive_interaction_effect, naive_squares

import analogical._interactions as module
from analogical import InputError, interactions, load_table, squares
from analogical.scoring.pair_contexts import (
    dependent_features,
    features_that_fit,
    label_tests,
    told_from_noise,
    try_all_others,
)

UNIVERSE = list(product((0, 1), repeat=4))


def labelled(rule, times=1):
    rows = UNIVERSE * times
    return rows, [int(rule(*row)) for row in rows]


RULES = {
    "xor": (lambda a, b, *_: a ^ b, {(0, 1): (1, 1)}),
    "and": (lambda a, b, *_: a & b, {(0, 1): (1, 1 / 4)}),
    "majority": (lambda a, b, c, _d: a + b + c > 1, {(0, 1): (1, 1 / 4), (0, 2): (1, 1 / 4), (1, 2): (1, 1 / 4)}),
    "one feature": (lambda _a, _b, c, _d: c, {}),
    "(a and b) or c": (
        lambda a, b, c, _d: (a & b) | c,
        {(0, 1): (0.5, 1 / 8), (0, 2): (0.5, 1 / 8), (1, 2): (0.5, 1 / 8)},
    ),
    "three-way parity": (lambda a, b, c, _d: a ^ b ^ c, {(0, 1): (1, 1), (0, 2): (1, 1), (1, 2): (1, 1)}),
}


@pytest.mark.parametrize("name", RULES)
def test_known_rules_have_known_numbers(name):
    rule, expected = RULES[name]
    once = interactions(*labelled(rule))
    repeated = interactions(*labelled(rule, times=3))
    assert once.contexts_reason == "no-noise"
    assert repeated.contexts_reason == "enough-repeats"
    assert np.isnan(once.effect).all()
    for k, pair in enumerate(combinations(range(4), 2)):
        index, effect = expected.get(pair, (0, 0))
        assert once.index[k] == repeated.index[k] == index
        assert repeated.effect[k] == pytest.approx(effect, abs=1e-12)
        assert once.squares[k] == 4
        assert repeated.squares[k] == repeated.effect_squares[k] == 4 * 81
    assert {tuple(map(int, (a[1], b[1]))) for a, b in repeated.ranking()[: len(expected)]} == set(expected)


def test_additive_labels_of_three_classes_have_no_interaction():
    rows = UNIVERSE * 2
    found = interactions(rows, [str(a) for a, b, c, d in rows])
    assert found.broken == (0,) * 6
    assert found.status == ("none-seen",) * 6


def random_case(seed, times=2):
    rng = np.random.default_rng(seed)
    rows = rng.integers(0, [2, 3, 2], size=(9, 3)).tolist() * times
    return rows, rng.integers(0, int(rng.integers(2, 4)), size=len(rows)).tolist()


@pytest.mark.parametrize("seed", range(12))
def test_numbers_are_those_of_the_definitions(seed):
    rows, labels = random_case(seed)
    labels[:2] = 0, 1
    for contexts, equal in (("all", [0, 1, 2]), (0, []), (["x2"], [2])):
        found = interactions(rows, labels, contexts=contexts)
        names = list(zip(found.first, found.second, strict=True))
        for k, (i, j) in enumerate((int(a[1]), int(b[1])) for a, b in names):
            others = [f for f in equal if f not in (i, j)]
            assert (found.squares[k], found.broken[k]) == naive_squares(rows, labels, i, j, others)
            effect, n = naive_interaction_effect(rows, labels, i, j, others)
            assert found.effect_squares[k] == n
            assert found.effect[k] == pytest.approx(
                math.nan if effect is None else float(effect), abs=1e-12, nan_ok=True
            )


def numbers_of(found):
    return [
        {key: value for key, value in record.items() if key not in ("first", "second")} for record in found.records()
    ]


def assert_same_numbers(one, other, names=None):
    for a, b in zip(one.first, one.second, strict=True):
        expected, found = one[a, b], other[tuple(sorted((names or {}).get(name, name) for name in (a, b)))]
        for key, value in expected.items():
            if key not in ("first", "second"):
                assert found[key] == (pytest.approx(value) if isinstance(value, float) else value), key


def noisy_table(n_rows=400, seed=1):
    rng = np.random.default_rng(seed)
    X = rng.integers(0, [2, 3, 2, 4], size=(n_rows, 4))
    y = np.where(rng.random(n_rows) < 0.2, rng.integers(0, 3, n_rows), X[:, 0] * (X[:, 1] == 2))
    return pd.DataFrame(X, columns=list("abcd")).astype(str), y


def test_order_of_rows_names_of_values_and_weights_change_nothing():
    frame, y = noisy_table()
    found = interactions(frame, y)
    order = np.random.default_rng(0).permutation(len(y))
    assert_same_numbers(found, interactions(frame.iloc[order], y[order]))
    renamed = frame.replace({"0": "zero", "1": "aaa"})
    assert_same_numbers(found, interactions(renamed, np.array(["x", "z", "y"])[y]))
    counts = frame.assign(y=y).value_counts().reset_index(name="n")
    assert len(counts) < len(y)
    assert_same_numbers(found, interactions(counts.drop(columns=["y", "n"]), counts["y"], weights=counts["n"]))


def test_the_sample_of_a_large_table_does_not_depend_on_the_order_of_its_rows():
    X, y = linked_table(n_rows=1200)
    order = np.random.default_rng(0).permutation(1200)
    found, turned = interactions(X, y), interactions(X[order], y[order])
    assert found.n_ranked_rows == 500
    assert found == turned
    rows, times = np.unique(np.column_stack([X, y]), axis=0, return_counts=True)
    assert_same_numbers(found, interactions(rows[:, :-1], rows[:, -1], weights=times))


def test_order_of_columns_and_a_constant_change_nothing():
    frame, y = noisy_table()
    found = interactions(frame, y)
    turned = interactions(frame[list("dcba")].assign(e="same"), y)
    assert len(turned) == 6
    for a, b in zip(found.first, found.second, strict=True):
        for key, value in found[a, b].items():
            if key not in ("first", "second"):
                expected = pytest.approx(value) if isinstance(value, float) else value
                assert turned[a, b][key] == turned[b, a][key] == expected


def test_threads_change_nothing(monkeypatch):
    import analogical.counting.threads as threads

    frame, y = noisy_table(2000)
    monkeypatch.setattr(threads, "SMALL_WORK", 1)
    monkeypatch.setattr("analogical.scoring.interactions.PAIRS_AT_ONCE", 1)
    one, two = interactions(frame, y, n_jobs=1), interactions(frame, y, n_jobs=2)
    assert one == two


# ---------------------------------------------------------------- results


def test_a_pair_is_found_in_either_order():
    frame, y = noisy_table()
    found = interactions(frame, y)
    assert found["a", "c"] == found["c", "a"]
    assert found["a", "c"]["first"] == "a"
    assert ("b", "d") in found
    assert ("b", "e") not in found
    assert "a" not in found
    with pytest.raises(InputError, match=r"There is no pair \('a', 'e'\) in the result; it has \('a', 'b'\)"):
        found["a", "e"]


def test_frame_and_records_have_the_promised_columns():
    frame, y = noisy_table()
    found = interactions(pl.DataFrame(frame), y)
    table = found.to_frame()
    assert isinstance(table, pl.DataFrame)
    assert table.columns[:10] == (
        [
            "first",
            "second",
            "squares",
            "broken",
            "index",
            "effect",
            "effect_low",
            "effect_high",
            "p_value",
            "p_adjusted",
        ]
    )
    assert list(zip(table["first"], table["second"], strict=True)) == found.ranking()
    content = found.to_dict()
    assert content == json.loads(json.dumps(content, allow_nan=False))
    assert content["contexts"] == list(found.contexts)
    assert [(pair["first"], pair["second"]) for pair in content["pairs"]] == list(combinations("abcd", 2))


def test_without_a_level_there_are_no_intervals_and_no_tests():
    frame, y = noisy_table()
    found = interactions(frame, y, confidence=None)
    assert found.p_value is found.p_adjusted is found.effect_low is found.effect_high is None
    assert "effect" not in found.status
    assert found.ranking()[0] == ("a", "b")
    assert "p adj." not in repr(found)


def test_status_says_what_is_known():
    rows = [(0, 0), (0, 1), (1, 0), (1, 1)]
    assert interactions(rows, [0, 0, 0, 1]).status == ("noise-unknown",)
    assert interactions(rows, [0, 0, 1, 1]).status == ("none-seen",)
    assert interactions(rows[:3], [0, 0, 1]).status == ("no-squares",)
    assert interactions(rows * 10, [0, 0, 0, 1] * 10).status == ("effect",)
    rng = np.random.default_rng(1)
    assert interactions(rows * 10, rng.integers(0, 2, 40)).status == ("unclear",)


def test_p_values_are_adjusted_for_all_pairs():
    rng = np.random.default_rng(3)
    X = rng.integers(0, 2, size=(300, 8))
    y = X[:, 0] ^ X[:, 5] ^ (rng.random(300) < 0.2)
    whole = interactions(X, y)
    assert len(whole) == whole.n_possible == 28
    k = whole.ranking().index(("x0", "x5"))
    assert k == 0
    best = whole["x0", "x5"]
    assert best["p_adjusted"] == pytest.approx(28 * best["p_value"], abs=0)
    some = interactions(X, y, top=3)
    assert (len(some), some.n_possible, some.pairs_reason) == (3, 28, "top")
    assert some["x0", "x5"]["p_adjusted"] == pytest.approx(28 * some["x0", "x5"]["p_value"], abs=0)
    named = interactions(X, y, features=["x0", "x5", "x6"])
    assert (len(named), named.n_possible, named.pairs_reason) == (3, 3, "all")
    assert named["x0", "x5"]["p_adjusted"] == pytest.approx(3 * named["x0", "x5"]["p_value"], abs=0)


def test_intervals_end_at_one():
    """A strong effect on few rows would reach beyond what is possible."""
    rng = np.random.default_rng(5)
    X = rng.integers(0, 2, size=(60, 2))
    y = X[:, 0] ^ X[:, 1] ^ (rng.random(60) < 0.1)
    found = interactions(X, y)
    assert found.effect[0] > 0.4
    assert found.effect_high[0] == 1.0


def test_up_to_five_thousand_pairs_are_looked_at_and_of_more_those_of_a_hundred_features():
    rng = np.random.default_rng(0)
    X, y = rng.integers(0, 2, size=(60, 101)), rng.integers(0, 2, 60)
    assert len(interactions(X[:, :100], y, contexts=0)) == 4_950
    found = interactions(X, y, contexts=0)
    assert (len(found), found.n_possible, found.pairs_reason) == (4_950, 5_050, "too-many")


# ---------------------------------------------------------------- which contexts, which pairs


def test_all_other_features_form_the_contexts_where_rows_repeat_enough():
    frame, y = noisy_table(3000)
    found = interactions(frame, y)
    assert found.contexts_reason == "enough-repeats"
    assert found.contexts == ("a", "b", "c", "d")
    assert_same_numbers(found, interactions(frame, y, contexts="all"))
    assert interactions(frame, y, contexts="all").contexts_reason == "asked"


def wide_table(seed=0, n_rows=600, n_features=15):
    rng = np.random.default_rng(seed)
    return rng, rng.integers(0, 3, size=(n_rows, n_features))


def test_noise_is_tested_in_plain_tables():
    rng, X = wide_table(seed=1)
    found = interactions(X, rng.integers(0, 2, 600))
    assert (found.contexts, found.contexts_reason) == ((), "none-told")
    assert "Squares: any rows, because no feature is told from noise; all else is left to chance." in " ".join(
        repr(found).split()
    )


def linked_table(n_rows=600):
    """Two features with main effects, each of which another one copies in most rows."""
    rng, X = wide_table(n_rows=n_rows)
    for source, copy in ((3, 4), (7, 8)):
        copied = rng.random(n_rows) < 0.6
        X[copied, copy] = X[copied, source]
    return X, rng.random(n_rows) < 0.02 + 0.24 * X[:, 3] + 0.24 * X[:, 7]


def test_features_with_main_effects_that_go_with_others_are_held_equal():
    X, y = linked_table()
    found = interactions(X, y, features=["x3", "x7", "x1", "x4"])
    assert found.contexts_reason == "told-from-noise"
    assert {"x3", "x4"} <= {*found.contexts, *found.left_out}
    assert "effect" not in found.status
    fewer = interactions(X[:200], y[:200])
    assert len(fewer.contexts) == 1
    assert {*fewer.contexts, *fewer.left_out} >= {"x3", "x7"}
    said = f"told from noise (rows are too few for {', '.join(fewer.left_out)}); all else is left to chance."
    assert said in " ".join(repr(fewer).split())
    card = squares(X[:200], y[:200], "x1", fewer.contexts[0])
    assert (card.contexts, card.left_out) == ((), fewer.left_out)
    assert f"because rows are too few to hold {fewer.left_out[0]}" in " ".join(repr(card).split())


def test_features_with_main_effects_that_are_independent_are_not_held_equal():
    rng, X = wide_table()
    y = rng.random(600) < 0.1 + 0.2 * X[:, 3] + 0.2 * X[:, 7]
    found = interactions(X, y)
    assert (found.contexts, found.contexts_reason, found.left_out) == ((), "independent", ())
    said = "Squares: any rows, because features that are told from noise are independent of the others; all else"
    assert said in " ".join(repr(found).split())
    assert "effect" not in found.status


def test_features_go_with_others_by_chi_squared_tests():
    X, y = linked_table()
    rows = coded_table(X, y.astype(int))
    assert dependent_features(rows, [1, 3, 7, 8], range(15), 0.01) == {3, 7, 8}
    assert dependent_features(rows, [3, 7], [1, 2, 8], 0.01) == {7}
    assert dependent_features(rows, [], range(15), 0.01) == set()
    assert dependent_features(coded_table([(0, 0), (0, 1)], [0, 1]), [1], [0, 1], 1 - 1e-9) == set()


def test_parity_of_three_is_found_with_the_third_one_held_equal():
    rng = np.random.default_rng(1)
    X = rng.integers(0, 2, size=(800, 15))
    y = X[:, 2] ^ X[:, 5] ^ X[:, 9] ^ (rng.random(800) < 0.1)
    found = interactions(X, y)
    assert set(found.contexts) >= {"x2", "x5", "x9"}
    assert set(found.ranking()[:3]) == set(combinations(("x2", "x5", "x9"), 2))
    assert interactions(X, y, contexts=0)["x2", "x5"]["status"] == "unclear"


def test_contexts_can_be_named_or_counted():
    rng, X = wide_table()
    y = rng.random(600) < 0.1 + 0.2 * X[:, 3] + 0.2 * X[:, 7]
    named = interactions(X, y, contexts=["x7", "x1"])
    assert (named.contexts, named.contexts_reason) == (("x1", "x7"), "asked")
    assert interactions(X, y, contexts=2).contexts == ("x3", "x7")
    assert interactions(X, y, contexts=0).contexts == ()
    assert interactions(X, y, contexts="x1*").contexts == ("x1", "x10", "x11", "x12", "x13", "x14")


def test_features_choose_pairs_and_leave_the_others_as_contexts():
    frame, y = noisy_table(3000)
    found = interactions(frame, y, features=["a", "d"])
    assert found.contexts == ("a", "b", "c", "d")
    assert found.ranking() == [("a", "d")]
    assert found["a", "d"]["squares"] == interactions(frame, y)["a", "d"]["squares"]
    assert interactions(frame, y, features="[ab]", ignore=["c"]).contexts == ("a", "b", "d")


def test_among_very_many_features_the_best_are_looked_at(monkeypatch):
    rng, X = wide_table()
    y = (X[:, 3] == 1) ^ (X[:, 7] == 1) ^ (rng.random(600) < 0.1)
    monkeypatch.setattr(module, "MAX_PAIRS", 100)
    monkeypatch.setattr(module, "BEST_FEATURES", 4)
    found = interactions(X, y)
    assert (len(found), found.n_possible, found.pairs_reason) == (6, 105, "too-many")
    assert found.ranking()[0] == ("x3", "x7")
    assert "Only pairs among the 4 best features of the relaxed index were looked at" in " ".join(repr(found).split())
    monkeypatch.setattr(module, "MAX_PAIRS", 105)
    assert len(interactions(X, y)) == 105


def test_the_relaxed_index_looks_at_a_sample_of_large_tables(monkeypatch):
    _, X = wide_table(n_rows=900)
    y = (X[:, 3] == 1) ^ (X[:, 7] == 1)
    assert interactions(X, y, top=2, contexts=0).n_ranked_rows == 900
    assert interactions(X, y).n_ranked_rows == 500
    monkeypatch.setattr(module, "RANKED_ROWS", 300)
    found = interactions(X, y, top=2, contexts=0)
    assert found.n_ranked_rows == 300
    assert found.ranking() == [("x3", "x7")]
    weighted = interactions(X[:200], y[:200], weights=np.full(200, 3), top=2, contexts=0)
    assert weighted.n_ranked_rows == 300
    assert interactions(X, y, features=["x3", "x7"], contexts=0).n_ranked_rows is None


def test_of_many_features_the_best_are_tried_as_contexts(monkeypatch):
    X, y = linked_table()
    monkeypatch.setattr(module, "BEST_FEATURES", 4)
    found = interactions(X, y, features=["x4", "x8"])
    assert {*found.contexts, *found.left_out} >= {"x3", "x7"}


def coded_table(X, y):
    from conftest import coded

    return coded(X, y)


def test_all_others_are_tried_by_how_many_rows_are_in_squares():
    rows, labels = labelled(lambda a, b, *_: a ^ b)
    pairs = list(combinations(range(4), 2))
    assert try_all_others(coded_table(rows, labels), pairs, range(4)) == "no-noise"
    assert try_all_others(coded_table(rows * 2, labels * 2), pairs, range(4)) == "enough-repeats"
    assert try_all_others(coded_table(rows, labels), [(0, 1)], [0, 1]) == "no-others"
    noise = np.random.default_rng(0).integers(0, 2, 16)
    assert try_all_others(coded_table(rows, noise), pairs, range(4)) == "no-noise"  # too few rows to tell
    larger = list(product((0, 1), repeat=6))
    noise = np.random.default_rng(0).integers(0, 2, 64)
    pairs_of_six = list(combinations(range(6), 2))
    assert try_all_others(coded_table(larger, noise), pairs_of_six, range(6)) is None
    rule = [a & b for a, b, *_ in larger]
    assert try_all_others(coded_table(larger, rule), pairs_of_six, range(6)) == "no-noise"
    parity = [sum(row) % 2 for row in larger]
    assert try_all_others(coded_table(larger, parity), pairs_of_six, range(6)) == "no-noise"
    _, X = wide_table()
    assert try_all_others(coded_table(X, X[:, 0]), [(0, 1), (1, 2)], range(15)) is None
    # identical rows that contradict each other show noise
    twice = np.concatenate([labels, np.roll(labels, 1)])
    assert try_all_others(coded_table(rows * 2, twice), pairs, range(4)) == "enough-repeats"
    assert try_all_others(coded_table([*rows, rows[0]], [*labels, 1 - labels[0]]), pairs, range(4)) is None


def test_label_tests_are_pearsons():
    from scipy.stats import chi2_contingency

    rng = np.random.default_rng(0)
    X, y = rng.integers(0, 4, size=(200, 2)), rng.integers(0, 3, 200)
    for i, p in enumerate(label_tests(coded_table(X, y), [0, 1])):
        table = pd.crosstab(X[:, i], y).to_numpy()
        assert p == pytest.approx(chi2_contingency(table, correction=False).pvalue)


def test_features_are_told_from_noise_alone_or_in_a_pair():
    from analogical.scoring.interactions import sum_pairs

    rng, X = wide_table(n_features=6)
    y = rng.random(600) < np.where((X[:, 1] == 1) == (X[:, 2] == 1), 0.1, 0.5) + 0.35 * (X[:, 4] > 0)
    rows, pairs = coded_table(X, y.astype(int)), list(combinations(range(6), 2))
    assert told_from_noise(rows, range(6), pairs, sum_pairs(rows, pairs, ()), 0.001) == {1, 2, 4}
    assert told_from_noise(rows, range(6), pairs[:1], sum_pairs(rows, pairs[:1], ()), 0.001) >= {4}


def test_features_fit_while_cells_hold_five_rows():
    rng = np.random.default_rng(0)
    X = rng.integers(0, [3, 3, 3, 5, 2, 2], size=(1000, 6))
    rows, pairs = coded_table(X, rng.integers(0, 2, 1000)), [(0, 1), (0, 2), (1, 2)]
    assert features_that_fit(rows, [4, 5], pairs) == [4, 5]  # 1,000 / (9 * 4) = 28 rows
    assert features_that_fit(rows, [3, 4, 5], pairs) == [3, 4, 5]  # 5.6 rows
    assert features_that_fit(rows, [3, 2, 4], pairs) == [3, 2]  # 7.4 rows, and 3.7 with the last one
    assert features_that_fit(rows, [0, 1, 2, 4], pairs) == [0, 1, 4]


def test_a_table_of_two_features_has_one_pair():
    berkeley = load_table("berkeley").to_frame()
    found = interactions(berkeley, "admitted", weights="count")
    assert found.contexts_reason == "no-others"
    assert found.n_rows == 4526
    assert found["department", "gender"]["squares"] > 2**31


# ---------------------------------------------------------------- errors


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"top": 1}, r"top must be a whole number from 2 \(features\), or None, got 1."),
        ({"contexts": -1}, r'contexts must be a whole number from 0, "auto", "all" or a list of names, got -1.'),
        ({"contexts": ["z"]}, "The table has no column 'z' to take as contexts"),
        ({"features": ["a"]}, "Pairs need two features with two values or more, and there is 1; give more columns."),
        ({"features": ["a", "nope"]}, "The table has no column 'nope' to take as features"),
        ({"features": ["id", "a"]}, "features names 'id', which was set aside because nearly every row has another"),
        ({"confidence": 2}, "confidence must be a number between 0 and 1"),
    ],
)
def test_what_cannot_be_done_is_said(options, message):
    frame, y = noisy_table()
    with pytest.raises(InputError, match=message):
        interactions(frame.assign(id=[f"n{k}" for k in range(len(frame))]), y, **options)


def test_a_single_feature_has_no_pairs():
    with pytest.raises(InputError, match="and there is 1; give more columns"):
        interactions([(0, 1), (1, 1)], [0, 1])


# ---------------------------------------------------------------- the squares of one pair


def test_squares_show_shares_and_rows():
    frame = pd.DataFrame(
        {"switch": ["off", "on", "off", "on"] * 2, "fuse": ["out", "out", "in", "in"] * 2, "room": [1] * 4 + [2] * 4},
        index=list("abcdefgh"),
    )
    found = squares(frame, ["dark", "dark", "dark", "light"] * 2, "switch", "fuse", limit=None)
    assert (found.n_squares, found.n_broken, len(found)) == (2, 2, 2)
    assert found.contexts == ("room",)
    assert sorted(found.shares("light").ravel().tolist()) == [0, 0, 0, 1]
    one = found[0]
    assert one.broken
    assert dict(one.context) == {"room": 1}
    for name, row in zip(one.index, one.rows, strict=True):
        assert frame.index[row] == name
    corners = list(product(one.second_values, one.first_values))
    for row, label, (v, u) in zip(one.rows, one.labels, corners, strict=True):
        assert (frame["fuse"].iloc[row], frame["switch"].iloc[row]) == (v, u)
        assert label == ("light" if (u, v) == ("on", "in") else "dark")
    with pytest.raises(InputError, match="There is no class 'blue' in the result; it has 'dark', 'light'"):
        found.shares("blue")


def test_squares_name_rows_of_the_table_as_it_was_given():
    """Rows repeat and stand in no order, so their numbers in the table are not those of the distinct rows."""
    rng = np.random.default_rng(7)
    frame = pd.DataFrame(rng.choice(list("ab"), size=(60, 3)), columns=["x", "y", "z"], index=rng.permutation(60) + 100)
    labels = rng.choice(["no", "yes"], 60)
    found = squares(frame, labels, "x", "y", limit=None)
    assert len(found) > 10
    for square in found.examples:
        for row, name, label, (v, u) in zip(
            square.rows, square.index, square.labels, product(square.second_values, square.first_values), strict=True
        ):
            assert frame.index[row] == name
            assert labels[row] == label
            assert tuple(frame.iloc[row]) == (u, v, dict(square.context)["z"])


@pytest.mark.parametrize("seed", range(10))
def test_all_kinds_of_squares_add_up_to_the_counts(seed):
    rows, labels = random_case(seed)
    labels[:2] = 0, 1
    for contexts in ("all", 0):
        found = squares(rows, labels, 0, 1, contexts=contexts, limit=None)
        result = interactions(rows, labels, contexts=contexts)["x0", "x1"]
        assert sum(square.times for square in found.examples) == found.n_squares == result["squares"]
        assert sum(s.times for s in found.examples if s.broken) == found.n_broken == result["broken"]
        assert found.counts.sum() == len(rows)
        for square in found.examples:
            assert [labels[r] for r in square.rows] == list(square.labels)
            a, b, c, d = (rows[r] for r in square.rows)
            assert (a[0], b[0], c[0], d[0]) == square.first_values * 2
            assert (a[1], c[1]) == square.second_values == (b[1], d[1])
            assert contexts == 0 or a[2] == b[2] == c[2] == d[2]


def test_weights_count_in_squares():
    rows = [(0, 0), (1, 0), (0, 1), (1, 1)]
    found = squares(rows, [0, 0, 0, 1], 0, 1, weights=[1, 2, 3, 4])
    assert (found.n_squares, found[0].times) == (24, 24)
    assert found.counts[1, 1].tolist() == [0, 4]


def test_broken_and_kept_squares_are_shown_in_equal_number():
    frame, y = noisy_table()
    found = squares(frame, y, "a", "b", limit=6)
    assert [square.broken for square in found.examples] == [True] * 3 + [False] * 3
    assert len({square.context for square in found.examples[:3]}) == 3
    kept_only = squares(UNIVERSE, [a for a, b, c, d in UNIVERSE], 0, 1, limit=3)
    assert [square.broken for square in kept_only.examples] == [False] * 3
    broken_only = squares(UNIVERSE, [a ^ b for a, b, c, d in UNIVERSE], 0, 1, limit=3)
    assert [square.broken for square in broken_only.examples] == [True] * 3
    assert len(squares(frame, y, "a", "b", limit=0)) == 0
    assert len(squares(frame, y, "a", "b", limit=1)) == 1


def test_squares_take_the_contexts_of_a_result():
    frame, y = noisy_table(150)
    result = interactions(frame, y, contexts=["c"])
    found = squares(frame, y, "a", "b", contexts=result.contexts)
    assert (found.n_squares, found.n_broken) == tuple(result["a", "b"][key] for key in ("squares", "broken"))
    assert found.effect == result["a", "b"]["effect"]
    assert squares(frame, y, "a", "b").contexts == tuple(c for c in interactions(frame, y).contexts if c not in "ab")


def test_squares_of_one_feature_are_refused():
    with pytest.raises(InputError, match="first and second are both 'x1'; a square needs two different features"):
        squares(UNIVERSE, [0, 1] * 8, 1, "x1")


def test_too_many_squares_are_refused(monkeypatch):
    import analogical._squares as squares_module

    monkeypatch.setattr(squares_module, "MAX_LISTED", 3)
    with pytest.raises(InputError, match="More than 3 squares would be listed with limit=None; give a limit"):
        squares(UNIVERSE, [a ^ b for a, b, c, d in UNIVERSE], 0, 1, limit=None)


# ---------------------------------------------------------------- words


def test_text_of_rules_says_that_noise_is_unknown():
    text = " ".join(repr(interactions(*labelled(lambda a, b, *_: a & b))).split())
    assert text.startswith("Interactions: 6 pairs of 4 features for 'y' (2 classes), 16 rows")
    assert "Squares: rows that are equal on all other features (labels show no noise)." in text
    assert "x0 x1 1.000 4 4 noise-unknown" in text
    assert "noise alone breaks .625 of the squares of a fair coin" in text


def test_text_names_the_pairs_that_act_together():
    frame, y = noisy_table(3000)
    text = " ".join(repr(interactions(frame, y)).split())
    assert "1 pair is told from noise (p adj. at most 0.05): a × b." in text
    assert "Effect: 1 for an exclusive or, 1/4 for an and" in text
    rng, X = wide_table(n_rows=60)
    noise = " ".join(repr(interactions(X, rng.integers(0, 2, 60))).split())
    assert "No pair is told from noise." in noise
    assert "... and 85 more; to_frame() has all" in noise
    assert "rest on fewer than 30 independent squares; their intervals are rough" in noise


def test_the_index_of_noise_is_that_of_the_shares_of_the_classes():
    rng = np.random.default_rng(0)
    X, y = rng.integers(0, 2, size=(3000, 2)), rng.choice(3, 3000, p=[0.6, 0.3, 0.1])
    found = interactions(X, y)
    assert found.noise_index == pytest.approx(found.index[0], abs=0.02)
    here = f"{found.noise_index:.3f}".removeprefix("0")
    assert f"of a fair coin, and {here} with the shares of these classes" in " ".join(repr(found).split())
    assert interactions(X, [0, 1] * 1500).noise_index == 0.625


def test_text_without_squares_says_how_to_go_on():
    text = " ".join(repr(interactions([(0, 0), (0, 1), (1, 0)], [0, 0, 1])).split())
    assert "No four rows form a square, so nothing is known; give fewer contexts" in text
    assert "No four rows form a square of 'x0' and 'x1'" in repr(squares([(0, 0), (0, 1), (1, 0)], [0, 0, 1], 0, 1))


def test_text_of_squares_is_a_card():
    rows = [("off", "out"), ("on", "out"), ("off", "in"), ("on", "in")] * 2
    found = squares(rows, ["dark", "dark", "dark", "light"] * 2, 0, 1, feature_names=["switch", "fuse"])
    assert repr(found).splitlines() == [
        "16 of 16 squares of 'switch' and 'fuse' are broken (100.0 %)",
        "Squares: only the two features can differ, there are no others.",
        "Effect: 0.250.",
        "share of 'light'  switch=off  switch=on",
        "fuse=out          0.0 % of 2  0.0 % of 2",
        "fuse=in           0.0 % of 2  100.0 % of 2",
        "broken, 16 squares like this",
        "            switch=off    switch=on",
        "  fuse=out  dark (row 0)  dark (row 1)",
        "  fuse=in   dark (row 2)  light (row 3)",
    ]


def test_long_tables_of_shares_show_the_most_frequent_values():
    rng = np.random.default_rng(0)
    X = rng.integers(0, [12, 2], size=(500, 2))
    text = repr(squares(X[:, ::-1], rng.integers(0, 6, 500), 0, 1, limit=0))
    assert "Not shown: 4 rarer values of x1." in text
    assert text.count("share of") == 4
    assert max(map(len, text.splitlines())) <= 80


def test_wide_tables_of_shares_are_lists():
    rng = np.random.default_rng(0)
    frame = pd.DataFrame({"size": rng.normal(size=200), "town": rng.choice(["Ulm", "Bonn"], 200)})
    found = squares(frame, rng.integers(0, 2, 200), "size", "town", bins=8, limit=0)
    lines = repr(found).splitlines()
    assert max(map(len, lines)) <= 80
    head = next(k for k, line in enumerate(lines) if line.startswith("size "))
    assert lines[head].split() == ["size", "town", "share", "of", "'1'"]
    assert len(lines[head + 1 :]) == 16
    rows = found.counts[0, 0]
    assert lines[head + 1].endswith(f"{100 * rows[1] / rows.sum():.1f} % of {rows.sum()}")
    many = repr(squares(frame, rng.integers(0, 2, 200), "size", "town", bins=20, limit=0))
    assert "Not shown: 10 combinations with fewer rows." in many


# ---------------------------------------------------------------- promises


def test_progress_is_said_on_stderr(capsys):
    frame, y = noisy_table()
    interactions(frame, y, progress=True)
    assert "looking at pairs of features: 6 of 6" in capsys.readouterr().err
    interactions(frame, y)
    assert capsys.readouterr().err == ""


@pytest.mark.parametrize("kind", ["noise", "main effects"])
def test_tables_without_interactions_rarely_show_one(kind):
    n_found = 0
    for seed in range(40):
        rng = np.random.default_rng([seed, len(kind)])
        X = rng.binomial(2, 0.3, size=(200, 8))
        shares = 0.3 if kind == "noise" else 0.1 + 0.2 * X[:, 1] + 0.15 * X[:, 5]
        n_found += "effect" in interactions(X, rng.random(200) < shares).status
    assert n_found <= 7  # 2 are expected; more than 7 have a probability of .001


def test_the_recorded_numbers_are_those_of_the_benchmark():
    import importlib.util
    import sys
    from pathlib import Path

    folder = Path(__file__).parent.parent / "benchmarks" / "interactions"
    spec = importlib.util.spec_from_file_location("interactions_run", folder / "run.py")
    run = importlib.util.module_from_spec(spec)
    before = list(sys.path)
    sys.path.insert(0, str(folder))
    try:
        spec.loader.exec_module(run)
    finally:
        sys.path[:] = before
        for name in ("pair_peers", "pair_samples", "machine"):
            sys.modules.pop(name, None)
    results = json.loads((folder / "results.json").read_text(encoding="utf-8"))["results"]
    page = (folder / "results.md").read_text(encoding="utf-8")
    lines = run.summary(results)
    assert len(lines) >= 5
    assert all(line in page for line in lines)
    for row in results["discoveries"]:  # 5 % and simulation error
        assert row["any false analogical"] <= 0.05 + 3 * math.sqrt(0.05 * 0.95 / row["tables"]), row["setting"]
    n_tables = sum(row["tables"] for row in results["discoveries"])
    n_false = sum(row["tables"] * row["any false analogical"] for row in results["discoveries"])
    assert n_false / n_tables <= 0.05 + 2 * math.sqrt(0.05 * 0.95 / n_tables)
    assert max(row["p <= 0.05"] for row in results["calibration"]) <= 0.056
    assert min(row["coverage"] for row in results["coverage"]) >= 0.92
