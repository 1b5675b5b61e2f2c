"""Which features act together: known rules, invariances, contexts, pairs, words and errors."""

import json
import math
import pickle
from copy import deepcopy
from dataclasses import replace
from itertools import combinations, product

import numpy as np
import pandas as pd
import polars as pl
import pytest
from naive import naive_interaction_effect, naive_squares
from saying import all_said

import analogical.questions.interactions as module
from analogical import InputError, Study, interactions, load_table
from analogical.show.views import view_of
from analogical.show.words import three_digits

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
    once = interactions(*labelled(rule), given="all")
    repeated = interactions(*labelled(rule, times=3), given="all")
    assert np.isnan(once.effect).all()
    for k, pair in enumerate(combinations(range(4), 2)):
        index, effect = expected.get(pair, (0, 0))
        assert once.index[k] == repeated.index[k] == index
        assert repeated.effect[k] == pytest.approx(effect, abs=1e-12)
        assert once.squares[k] == 4
        assert repeated.squares[k] == repeated.effect_squares[k] == 4 * 81
    assert {tuple(map(int, (a[1], b[1]))) for a, b in repeated.ranking()[: len(expected)]} == set(expected)


@pytest.mark.parametrize("name", ["xor", "and", "majority", "three-way parity"])
def test_pairs_of_known_rules_come_first_given_the_deciding_set(name):
    rule, expected = RULES[name]
    found = interactions(*labelled(rule, times=10))
    assert {tuple(map(int, (a[1], b[1]))) for a, b in found.ranking()[: len(expected)]} == set(expected)
    assert found.status.count("effect") == len(expected)


def test_additive_labels_of_three_classes_have_no_interaction():
    rows = UNIVERSE * 120
    found = interactions(rows, [str(a + 2 * c) for a, b, c, d in rows])
    assert found["x1", "x3"]["broken"] == found["x0", "x1"]["broken"] == 0
    assert found["x1", "x3"]["status"] == found["x0", "x1"]["status"] == "none"
    assert found["x0", "x1"]["effect_high"] <= 0.01


def random_case(seed, times=2):
    rng = np.random.default_rng(seed)
    rows = rng.integers(0, [2, 3, 2], size=(9, 3)).tolist() * times
    return rows, rng.integers(0, int(rng.integers(2, 4)), size=len(rows)).tolist()


@pytest.mark.parametrize("seed", range(12))
def test_numbers_are_those_of_the_definitions(seed):
    rows, labels = random_case(seed)
    labels[:2] = 0, 1
    for given, equal in (("all", [0, 1, 2]), ([], []), (["x2"], [2])):
        found = interactions(rows, labels, given=given)
        names = list(zip(found.first, found.second, strict=True))
        for k, (i, j) in enumerate((int(a[1]), int(b[1])) for a, b in names):
            others = [f for f in equal if f not in (i, j)]
            assert (found.squares[k], found.broken[k]) == naive_squares(rows, labels, i, j, others)
            effect, n = naive_interaction_effect(rows, labels, i, j, others)
            assert found.effect_squares[k] == n
            assert found.given[k] == tuple(f"x{f}" for f in others)
            assert found.effect[k] == pytest.approx(
                math.nan if effect is None else max(float(effect), 0), abs=1e-12, nan_ok=True
            )


def numbers_of(found):
    return [
        {key: value for key, value in record.items() if key not in ("first", "second")} for record in found.records()
    ]


def assert_same_numbers(one, other, names=None):
    for a, b in zip(one.first, one.second, strict=True):
        expected, found = one[a, b], other[tuple(sorted((names or {}).get(name, name) for name in (a, b)))]
        for key, value in expected.numbers.items():
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


@pytest.mark.parametrize("seed", [0, 2, 7])
def test_numbers_of_values_change_no_p_value_where_contexts_are_thin(seed):
    """Cells of many contexts are not connected with each other, so that matrices of additive shares have no inverse."""
    rng = np.random.default_rng(seed)
    X, y = rng.integers(0, [6, 5, 3, 3], size=(300, 4)), rng.integers(0, 2, 300)
    turned = np.column_stack([rng.permutation(6)[column] for column in X.T])
    expected = interactions(X, y, given="all").p_value
    assert interactions(turned, y, given="all").p_value == pytest.approx(expected, rel=1e-10, abs=0, nan_ok=True)


def test_order_of_columns_and_a_constant_change_nothing():
    frame, y = noisy_table()
    found = interactions(frame, y)
    turned = interactions(frame[list("dcba")].assign(e="same"), y)
    assert len(turned) == 6
    for a, b in zip(found.first, found.second, strict=True):
        for key, value in found[a, b].numbers.items():
            if key not in ("first", "second", "given"):
                expected = pytest.approx(value) if isinstance(value, float) else value
                assert turned[a, b][key] == turned[b, a][key] == expected


@pytest.mark.usefixtures("threads_for_small_work")
def test_threads_change_nothing():
    frame, y = noisy_table(2000)
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
    assert table.columns[:9] == (
        ["first", "second", "status", "effect", "effect_low", "effect_high", "p_value", "p_adjusted", "index"]
    )
    assert list(zip(table["first"], table["second"], strict=True)) == found.ranking()
    content = found.to_dict()
    assert content == json.loads(json.dumps(content, allow_nan=False))
    assert content["deciding"] == list(found.deciding)
    assert [pair["given"] for pair in content["pairs"]] == [list(given) for given in found.given]
    assert [(pair["first"], pair["second"]) for pair in content["pairs"]] == list(combinations("abcd", 2))


def test_status_says_what_is_known():
    rows = [(0, 0), (0, 1), (1, 0), (1, 1)]
    assert interactions(rows, [0, 0, 0, 1]).status == ("unclear",)
    assert interactions(rows[:3], [0, 0, 1]).status == ("unclear",)
    assert interactions(rows * 10, [0, 0, 0, 1] * 10).status == ("effect",)
    rng = np.random.default_rng(1)
    assert interactions(rows * 10, rng.integers(0, 2, 40)).status == ("unclear",)
    assert interactions(rows * 2000, rng.integers(0, 2, 8000)).status == ("none",)


def test_intervals_and_sizes_do_not_contradict_the_test():
    rng = np.random.default_rng(0)
    X, y = rng.integers(0, 3, size=(200, 12)), rng.integers(0, 2, 200)
    found = interactions(X, y, given=[])
    assert found.effect.min() == 0
    is_significant = found.p_value <= 0.05
    assert is_significant.any()
    assert (found.effect_low[~is_significant] == 0).all()
    assert (found.effect_low <= found.effect).all()
    assert (found.effect <= found.effect_high).all()


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
    named = interactions(X, y, features=["x0", "x5", "x6"])
    assert (len(named), named.n_possible) == (3, 3)
    assert named["x0", "x5"]["p_adjusted"] == pytest.approx(3 * named["x0", "x5"]["p_value"], abs=0)


def test_intervals_end_at_one():
    """A strong effect on few rows would reach beyond what is possible."""
    rng = np.random.default_rng(5)
    X = rng.integers(0, 2, size=(60, 2))
    y = X[:, 0] ^ X[:, 1] ^ (rng.random(60) < 0.1)
    found = interactions(X, y)
    assert found.effect[0] > 0.4
    assert found.effect_high[0] == 1.0


# ---------------------------------------------------------------- what rows are equal on


def wide_table(seed=0, n_rows=600, n_features=15):
    rng = np.random.default_rng(seed)
    return rng, rng.integers(0, 3, size=(n_rows, n_features))


def linked_table(n_rows=600):
    """Two features with main effects, each of which another one copies in most rows."""
    rng, X = wide_table(n_rows=n_rows)
    for source, copy in ((3, 4), (7, 8)):
        copied = rng.random(n_rows) < 0.6
        X[copied, copy] = X[copied, source]
    return X, rng.random(n_rows) < 0.02 + 0.24 * X[:, 3] + 0.24 * X[:, 7]


def test_pairs_are_compared_given_the_deciding_set_less_the_two():
    X, y = linked_table()
    found = interactions(X, y)
    assert set(found.deciding) == {"x3", "x7"}
    for a, b, given in zip(found.first, found.second, found.given, strict=True):
        assert given == tuple(name for name in found.deciding if name not in (a, b))
    assert "effect" not in found.status


def test_noise_is_given_nothing():
    rng, X = wide_table(seed=5)
    found = interactions(X, rng.integers(0, 2, 600))
    assert found.deciding == ()
    assert set(found.given) == {()}
    assert "Given nothing." in repr(found)


def test_an_exclusive_or_among_noise_columns_comes_first():
    rng = np.random.default_rng(2)
    X = rng.integers(0, 2, size=(300, 30))
    found = interactions(X, X[:, 4] ^ X[:, 20] ^ (rng.random(300) < 0.1))
    assert found.ranking()[0] == ("x4", "x20")
    assert found.status.count("effect") == 1


def test_the_shapes_of_monks_1_come_first():
    table = load_table("monks-1").to_frame().drop(columns="count")
    found = interactions(table, "class")
    assert found.ranking()[0] == ("head_shape", "body_shape")
    assert found["head_shape", "body_shape"]["index"] == 0.75
    assert found["head_shape", "body_shape"]["given"] == ["jacket_color"]
    assert {pair for pair in found.ranking() if found[pair]["status"] == "effect"} == set(
        combinations(["head_shape", "body_shape", "jacket_color"], 2)
    )


def test_parity_of_three_is_found_with_the_third_one_held_equal():
    rng = np.random.default_rng(1)
    X = rng.integers(0, 2, size=(800, 15))
    y = X[:, 2] ^ X[:, 5] ^ X[:, 9] ^ (rng.random(800) < 0.1)
    found = interactions(X, y)
    assert set(found.deciding) >= {"x2", "x5", "x9"}
    assert set(found.ranking()[:3]) == set(combinations(("x2", "x5", "x9"), 2))
    assert interactions(X, y, given=[])["x2", "x5"]["status"] != "effect"


def thin_table():
    """Three features with an effect: one of 20 values that is tied to a, one of 30 that is not, and b."""
    rng = np.random.default_rng(0)
    a, free, b = rng.integers(0, 3, 2400), rng.integers(0, 30, 2400), rng.integers(0, 3, 2400)
    tied = np.where(rng.random(2400) < 0.5, a, rng.integers(0, 20, 2400))
    y = rng.random(2400) < 0.05 + 0.4 * (tied % 2) + 0.4 * (free % 2) + 0.1 * (b == 1)
    return pd.DataFrame({"a": a, "b": b, "tied": tied, "free": free}).astype(str), y


def test_of_thin_contexts_the_feature_that_tells_least_about_the_two_is_not_held_fixed():
    frame, y = thin_table()
    found = interactions(frame, y)
    assert {"tied", "free"} <= set(found.deciding)
    assert found["a", "b"]["given"] == ["tied"]
    assert found["a", "b"]["effective_squares"] >= 5
    assert interactions(frame, y, given=["tied", "free"])["a", "b"]["effective_squares"] < 5
    assert "there were too few rows to hold the whole deciding set fixed" in all_said(found)


def test_a_feature_that_is_tied_to_the_two_is_held_fixed_however_thin_contexts_are():
    """Both features follow the one that decides the label, so they would seem to act together without it."""
    rng = np.random.default_rng(0)
    decides = rng.integers(0, 4, 400)
    one, two = ((np.isin(decides, some) ^ (rng.random(400) < 0.02)).astype(int) for some in ([0, 1], [0, 2]))
    frame = pd.DataFrame({"one": one, "two": two, "decides": decides, "noise": rng.integers(0, 2, 400)}).astype(str)
    y = np.isin(decides, [0, 3])
    found = interactions(frame, y)
    assert found["one", "two"]["given"] == ["decides"]
    assert found["one", "two"]["effective_squares"] < 5
    assert found["one", "two"]["status"] == "unclear"
    assert interactions(frame, y, given=[])["one", "two"]["status"] == "effect"


def test_what_was_asked_for_is_given_however_thin_contexts_are():
    frame, y = thin_table()
    named = interactions(frame, y, given=["free", "tied"])
    assert named["a", "b"]["given"] == ["free", "tied"]
    assert named["a", "free"]["given"] == ["tied"]
    assert named.deciding == ()
    assert named.settings.given == ("free", "tied")
    every = interactions(frame, y, given="all")
    assert every["a", "b"]["given"] == ["tied", "free"]
    assert "Given all other features." in repr(every)
    assert "Given free and tied, except the pair itself." in repr(named)
    assert interactions(frame, y, given=[])["a", "b"]["given"] == []


def test_a_copy_of_a_deciding_feature_is_not_paired():
    rng = np.random.default_rng(3)
    X = rng.integers(0, 2, size=(500, 6))
    y = X[:, 1] ^ X[:, 4] ^ (rng.random(500) < 0.1)
    frame = pd.DataFrame(X, columns=list("abcdef")).assign(copy=X[:, 1])
    found = interactions(frame, y)
    copies = {"b", "copy"} - set(found.deciding)
    assert len(copies) == 1
    (copy,) = copies
    (kept,) = {"b", "copy"} - copies
    for other in "acdef":
        assert found[copy, other]["status"] == "same"
        assert found[copy, other]["same_as"] == kept
        assert found[copy, other]["squares"] == 0
    assert found.ranking()[0] == tuple(sorted((kept, "e"), key=list(frame.columns).index))
    assert found.status.count("effect") == 1
    assert (
        f"6 pairs could not be tested (a copy of another feature; no test can distinguish the two): {kept}."
        in all_said(found)
    )
    assert interactions(frame, y, given=[])[copy, "e"]["status"] == "effect"
    assert f"one of them is a copy of '{kept}'." in " ".join(repr(found[copy, "e"]).split())


def test_a_number_of_the_deciding_set_is_not_held_fixed_for_its_own_pairs():
    rng = np.random.default_rng(0)
    frame = pd.DataFrame({"size": rng.normal(size=900), "town": rng.choice(["Ulm", "Bonn"], 900)})
    frame["other"] = rng.integers(0, 3, 900)
    y = (frame["size"].abs() < 0.7) ^ (rng.random(900) < 0.1)
    found = interactions(frame, y)
    assert "size" in found.deciding
    assert "size" not in found["size", "town"]["given"]
    assert found["town", "other"]["given"] == ["size"]
    assert [name for name, _ in found["town", "other"].examples[0].context] == ["size"]


def test_features_choose_pairs_and_leave_the_others_as_contexts():
    frame, y = noisy_table(3000)
    found = interactions(frame, y, features=["a", "d"])
    assert found.ranking() == [("a", "d")]
    one, among_all = found["a", "d"], interactions(frame, y)["a", "d"]
    assert one.numbers == among_all.numbers | {"p_adjusted": one["p_adjusted"]}
    assert one.counts.tolist() == among_all.counts.tolist()
    assert found["a", "d"]["given"] == ["b"]
    left = interactions(frame, y, features="[ab]", ignore=["c"], given="all")
    assert left["a", "b"]["given"] == ["d"]


# ---------------------------------------------------------------- which pairs


def test_up_to_five_thousand_pairs_are_all_looked_at():
    rng = np.random.default_rng(0)
    X, y = rng.integers(0, 2, size=(60, 100)), rng.integers(0, 2, 60)
    found = interactions(X, y, given=[])
    assert (len(found), found.n_possible) == (4_950, 4_950)


def test_of_more_pairs_the_deciding_set_and_the_likely_ones_are_looked_at():
    rng = np.random.default_rng(4)
    X = rng.integers(0, 2, size=(500, 120))
    y = X[:, 3] ^ X[:, 70] ^ (rng.random(500) < 0.2)
    found = interactions(X, y)
    assert len(found) < found.n_possible == 7_140
    assert len(found) <= 20
    assert set(combinations(sorted(found.deciding, key=lambda name: int(name[1:])), 2)) <= set(found.ranking())
    assert found.ranking()[0] == ("x3", "x70")
    best = found["x3", "x70"]
    assert best["p_adjusted"] == pytest.approx(7_140 * best["p_value"], abs=0)
    assert found.status.count("effect") == 1
    assert f"{len(found)} of 7,140 pairs were tested" in " ".join(repr(found).split())


def test_a_pair_with_a_feature_that_shows_nothing_alone_is_among_the_likely_ones():
    """One of the two has a main effect and is in the deciding set; the other changes only what that one does."""
    rng = np.random.default_rng(1)
    X = rng.integers(0, 2, size=(1000, 102))  # more than 5,000 pairs
    y = rng.random(1000) < np.where(X[:, 5] == 1, 0.7 + 0.25 * (2 * X[:, 30] - 1), 0.2 - 0.15 * (2 * X[:, 30] - 1))
    found = interactions(X, y)
    assert len(found) < found.n_possible
    assert found.ranking()[0] == ("x5", "x30")


def test_pairs_passed_over_do_not_make_noise_significant(monkeypatch):
    monkeypatch.setattr(module, "MAX_PAIRS", 10)
    n_found = 0
    for seed in range(30):
        rng = np.random.default_rng(seed)
        found = interactions(rng.integers(0, 2, size=(150, 20)), rng.integers(0, 2, 150))
        assert len(found) < found.n_possible
        n_found += "effect" in found.status
    assert n_found <= 5  # 1.5 are expected; more than 5 have a probability of .003


def test_a_table_of_two_features_has_one_pair():
    berkeley = load_table("berkeley").to_frame()
    found = interactions(berkeley, "admitted", weights="count")
    assert found.given == ((),)
    assert found.n_rows == 4526
    assert found["department", "gender"]["squares"] > 2**31


# ---------------------------------------------------------------- errors


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"given": "some"}, 'given must be "auto" or "all", got \'some\'.'),
        ({"given": 3}, 'given must be "auto", "all" or a list of features, got 3.'),
        ({"given": ["z"]}, "The table has no column 'z' to take as feature"),
        ({"features": ["a"]}, "Pairs need at least two features with two or more values, got 1; give more columns."),
        ({"features": ["a", "nope"]}, "The table has no column 'nope' to take as features"),
        ({"features": ["id", "a"]}, "features names 'id', which was set aside as an identifier"),
        ({"confidence": 2}, "confidence must be a number between 0 and 1"),
    ],
)
def test_what_cannot_be_done_is_said(options, message):
    frame, y = noisy_table()
    with pytest.raises(InputError, match=message):
        interactions(frame.assign(id=[f"n{k}" for k in range(len(frame))]), y, **options)


def test_a_single_feature_has_no_pairs():
    with pytest.raises(InputError, match="got 1; give more columns"):
        interactions([(0, 1), (1, 1)], [0, 1])


# ---------------------------------------------------------------- shares and rows of one pair


def test_a_pair_has_its_shares_and_rows():
    frame = pd.DataFrame(
        {"switch": ["off", "on", "off", "on"] * 2, "fuse": ["out", "out", "in", "in"] * 2, "room": [1] * 4 + [2] * 4},
        index=list("abcdefgh"),
    )
    result = interactions(frame, ["dark", "dark", "dark", "light"] * 2, given="all")
    found = result["fuse", "switch"]
    assert (found["squares"], found["broken"], len(found.examples)) == (2, 2, 2)
    assert (found.first, found.second, found["given"]) == ("switch", "fuse", ["room"])
    assert sorted(found.shares("light").ravel().tolist()) == [0, 0, 0, 1]
    one = found.examples[0]
    assert one.changed
    assert dict(one.context) == {"room": 1}
    (u, v), (w, _), (_, x), _ = one.values
    assert one.values == ((u, v), (w, v), (u, x), (w, x))
    for name, row, label, values in zip(one.index, one.rows, one.labels, one.values, strict=True):
        assert frame.index[row] == name
        assert tuple(frame[["switch", "fuse"]].iloc[row]) == values
        assert label == ("light" if values == ("on", "in") else "dark")
    with pytest.raises(InputError, match="There is no class 'blue' in the result; it has 'dark', 'light'"):
        found.shares("blue")
    with pytest.raises(InputError, match="There is no number 'size' in the result; it has 'first', 'second', 'status'"):
        found["size"]


def test_the_frame_of_a_pair_is_its_table_of_shares():
    rows = [("off", 1), ("on", 1), ("off", 2), ("off", 2)]
    table = interactions(rows, ["no", "no", "no", "yes"])["x0", "x1"].to_frame()
    assert table.to_numpy().tolist()[:4] == [
        ["off", 1, "no", 1, 1.0],
        ["off", 1, "yes", 0, 0.0],
        ["off", 2, "no", 1, 0.5],
        ["off", 2, "yes", 1, 0.5],
    ]
    assert table["rows"].sum() == 4
    assert table["share"].isna().tolist() == [False] * 6 + [True] * 2


def test_example_rows_are_those_of_the_table_as_it_was_given():
    """Rows repeat and stand in no order, so their numbers in the table are not those of the distinct rows."""
    rng = np.random.default_rng(7)
    frame = pd.DataFrame(rng.choice(list("ab"), size=(60, 3)), columns=["x", "y", "z"], index=rng.permutation(60) + 100)
    labels = rng.choice(["no", "yes"], 60)
    found = interactions(frame, labels, given="all")["x", "y"]
    assert len(found.examples) == 4
    for square in found.examples:
        for row, name, label, values in zip(square.rows, square.index, square.labels, square.values, strict=True):
            assert frame.index[row] == name
            assert labels[row] == label
            assert tuple(frame.iloc[row]) == (*values, dict(square.context)["z"])


@pytest.mark.parametrize("seed", range(10))
def test_all_kinds_of_broken_squares_add_up_to_the_counts(monkeypatch, seed):
    monkeypatch.setattr(module, "MAX_EXAMPLES", 10**6)
    rows, labels = random_case(seed)
    labels[:2] = 0, 1
    for given in ("all", []):
        found = interactions(rows, labels, given=given)["x0", "x1"]
        assert sum(square.weight for square in found.examples) == found["broken"]
        assert found.counts.sum() == len(rows)
        for square in found.examples:
            a, b, c, d = square.labels
            assert (a, c) != (b, d)
            assert (a, b) != (c, d)
            assert [labels[r] for r in square.rows] == [a, b, c, d]
            assert [tuple(rows[r][:2]) for r in square.rows] == list(square.values)
            assert given == [] or len({rows[r][2] for r in square.rows}) == 1


def test_weights_count_in_squares():
    rows = [(0, 0), (1, 0), (0, 1), (1, 1)]
    found = interactions(rows, [0, 0, 0, 1], weights=[1, 2, 3, 4])["x0", "x1"]
    assert (found["squares"], found.examples[0].weight) == (24, 24)
    assert found.counts[1, 1].tolist() == [0, 4]


def test_four_broken_squares_are_shown_in_turn_from_each_context():
    frame, y = noisy_table()
    found = interactions(frame, y, given="all")["a", "b"]
    assert len(found.examples) == len({square.context for square in found.examples}) == 4
    kept_only = interactions(UNIVERSE, [a for a, b, c, d in UNIVERSE], given="all")["x0", "x1"]
    assert kept_only["squares"] > 0
    assert kept_only.examples == ()


def test_the_rows_of_a_pair_agree_on_what_it_is_given():
    frame, y = thin_table()
    found = interactions(frame, y)["a", "b"]
    assert [[name for name, _ in square.context] for square in found.examples] == [["tied"]] * 4
    assert found["given"] == ["tied"]


def test_copies_of_a_result_have_the_shares_and_rows_of_their_pairs():
    frame, y = noisy_table()
    found = interactions(frame, y)
    for copied in (deepcopy(found), pickle.loads(pickle.dumps(found))):  # noqa: S301
        assert copied["a", "b"] == found["a", "b"]
    with pytest.raises(InputError, match="This copy of a result does not hold its table; ask interactions again"):
        replace(found, study=None)["a", "b"]


# ---------------------------------------------------------------- words


def test_text_of_rules_says_that_noise_cannot_be_estimated():
    text = all_said(interactions(*labelled(lambda a, b, *_: a & b), given="all"))
    assert text.startswith("No pair of features acts together significantly on 'y'.")
    assert "Given all other features." in text
    assert "x0 x1 1.000 4 4 unclear" in text
    assert "No rows repeat, so noise cannot be estimated" in text
    assert "random labels break .625 of the squares with two equal classes" in text


def test_text_names_the_pairs_that_act_together():
    frame, y = noisy_table(3000)
    text = all_said(interactions(frame, y))
    assert text.startswith("1 of 6 pairs of features acts together on 'y'. a b 6")
    assert "200 for an exclusive or, 100 for a logical and" in text
    rng, X = wide_table(n_rows=60)
    noise = all_said(interactions(X, rng.integers(0, 2, 60)))
    assert noise.startswith("No pair of features acts together significantly on 'y'.")
    assert "... and 85 more; to_frame() and --json have all" in noise
    assert "are based on fewer than 30 effective squares; their intervals are rough" in noise


def test_the_index_of_noise_is_that_of_the_shares_of_the_classes():
    rng = np.random.default_rng(0)
    X, y = rng.integers(0, 2, size=(3000, 2)), rng.choice(3, 3000, p=[0.6, 0.3, 0.1])
    found = interactions(X, y)
    assert found.noise_index == pytest.approx(found.index[0], abs=0.02)
    here = f"{found.noise_index:.3f}".removeprefix("0")
    assert f"two equal classes, and {here} with these class shares" in all_said(found)
    assert interactions(X, [0, 1] * 1500).noise_index == 0.625


def test_text_without_squares_says_how_to_go_on():
    text = " ".join(repr(interactions([(0, 0), (0, 1), (1, 0)], [0, 0, 1])).split())
    assert "No pair of features could be tested for 'y': no four rows form a square." in text
    assert "Give fewer features, such as given=[] (--given none)." in text
    pair = interactions([(0, 0), (0, 1), (1, 0)], [0, 0, 1])["x0", "x1"]
    assert "No four rows form a square of 'x0' and 'x1'" in repr(pair)


def test_text_of_a_pair_is_a_card():
    rows = [("off", "out"), ("on", "out"), ("off", "in"), ("on", "in")] * 2
    found = interactions(rows, ["dark", "dark", "dark", "light"] * 2, feature_names=["switch", "fuse"])
    assert repr(found["switch", "fuse"]).splitlines() == [
        "16 of 16 squares of 'switch' and 'fuse' are broken (100.0 %).",
        "share of 'light'  switch=off     switch=on",
        "fuse=out          0.0 % of 2    0.0 % of 2",
        "fuse=in           0.0 % of 2  100.0 % of 2",
        "Squares of all rows.",
        "The effect of one differs by 100 points with the other.",
        "broken, 16 squares like this",
        "            switch=off    switch=on",
        "  fuse=out  dark (row 0)  dark (row 1)",
        "  fuse=in   dark (row 2)  light (row 3)",
    ]


def test_long_tables_of_shares_show_the_most_frequent_values():
    rng = np.random.default_rng(0)
    X = rng.integers(0, [12, 2], size=(500, 2))
    text = repr(interactions(X[:, ::-1], rng.integers(0, 6, 500))["x0", "x1"])
    assert "Not shown: 6 rarer values of x1." in text
    assert text.count("share of") == 1
    assert max(map(len, text.splitlines())) <= 80


def test_wide_tables_of_shares_are_turned():
    rng = np.random.default_rng(0)
    frame = pd.DataFrame({"size": rng.normal(size=200), "town": rng.choice(["Ulm", "Bonn"], 200)})
    found = interactions(frame, rng.integers(0, 2, 200), bins=6)["size", "town"]
    lines = repr(found).splitlines()
    assert max(map(len, lines)) <= 80
    assert lines[1].split() == ["share", "of", "'1'", "town=Bonn", "town=Ulm"]
    rows = found.counts[0, 0]
    assert f"  {100 * rows[1] / rows.sum():.1f} % of {rows.sum()}  " in lines[2]


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


def test_a_view_shows_so_many_pairs_and_names_the_rest():
    rng = np.random.default_rng(0)
    X = rng.integers(0, 2, (200, 8))
    found = interactions(X, X[:, 0] ^ X[:, 1])
    (table,) = view_of(found, top=3).tables
    assert (len(table.rows), table.note) == (3, "... and 25 more; to_frame() and --json have all")
    assert len(view_of(found).tables[0].rows) == 20
    said = " ".join(view_of(found).explanation)
    assert "p is adjusted for 28 pairs. Intervals are not adjusted: one may exclude 0" in said


# ---------------------------------------------------------------- labels that are numbers


def houses(n_rows=1200, seed=0):
    """Simulated prices: a garden is worth 60,000 in Kiel and nothing elsewhere."""
    rng = np.random.default_rng(seed)
    frame = pd.DataFrame(
        {
            "area": np.round(rng.gamma(9, 9, n_rows)),
            "rooms": rng.integers(1, 6, n_rows),
            "city": rng.choice(["Ulm", "Bonn", "Kiel"], n_rows),
            "garden": rng.choice(["yes", "no"], n_rows),
        }
    )
    worth = 60_000 * ((frame.garden == "yes") & (frame.city == "Kiel"))
    price = 2000 * frame.area + 8000 * frame.rooms + 40_000 * (frame.city == "Bonn") + worth
    return frame, (price + rng.lognormal(10, 0.6, n_rows)).round(-2).rename("price")


@pytest.mark.parametrize("given", ["auto", "all", []])
@pytest.mark.parametrize("weighted", [False, True])
def test_the_numbers_0_and_1_act_as_two_classes(given, weighted):
    rng = np.random.default_rng(4)
    X = rng.integers(0, 3, (400, 4))
    y = (rng.random(400) < np.where(X[:, 0] == X[:, 1], 0.7, 0.2)).astype(int)
    options = {"given": given, "weights": rng.integers(1, 3, 400) if weighted else None}
    classes, numbers = interactions(X, y, **options), interactions(X, y, scale="number", **options)
    for name in ("first", "second", "status", "squares", "effect_squares", "given", "deciding"):
        assert getattr(numbers, name) == getattr(classes, name)
    for name in ("effect", "effect_low", "effect_high", "p_value", "p_adjusted", "effective_squares"):
        assert getattr(numbers, name) == pytest.approx(getattr(classes, name), rel=1e-9, nan_ok=True)
    assert np.isnan(numbers.index).all()
    assert set(numbers.broken) == {None}
    assert numbers["x0", "x1"].means == pytest.approx(classes["x0", "x1"].shares(1), nan_ok=True)
    tens = interactions(X, 10 * y, scale="number", **options)
    assert tens.effect == pytest.approx(100 * numbers.effect, nan_ok=True)
    assert tens.status == numbers.status


def test_a_garden_is_worth_something_in_one_city():
    frame, price = houses()
    found = interactions(frame, price, scale="number")  # the plain means
    assert found.status.count("effect") == 1
    assert found.ranking()[0] == ("city", "garden")
    pair = found["garden", "city"]
    truth = 60_000 * math.sqrt(2 / 3)  # of three pairs of cities one does not differ
    assert 2 * math.sqrt(pair["effect_low"]) < truth < 2 * math.sqrt(pair["effect_high"])
    said = frame.assign(price=price).groupby(["city", "garden"]).price.agg(["size", "mean"])
    table = pair.to_frame()
    assert list(table.columns) == ["first_value", "second_value", "rows", "mean"]
    for _, row in table.iterrows():
        assert said.loc[(row.first_value, row.second_value)].tolist() == pytest.approx([row["rows"], row["mean"]])
    with pytest.raises(InputError, match="The label 'price' is compared as a number and has no shares; see means"):
        pair.shares(1)
    assert len(pair.examples) == 4
    for square in pair.examples:
        (u, v), (w, _), (_, x), _ = square.values
        assert square.values == ((u, v), (w, v), (u, x), (w, x))
        assert "Kiel" in (u, w)
        agree = frame.loc[list(square.rows)]
        assert agree.rooms.nunique() == 1
        assert price[list(square.rows)].tolist() == list(square.labels)


def test_example_rows_of_a_number_are_those_nearest_to_the_means():
    frame, price = houses()
    examples = interactions(frame, price, given=["rooms"])["city", "garden"].examples
    weights = []
    for square in examples:
        ((_, rooms),) = square.context
        cells = [price[(frame.city == u) & (frame.garden == v) & (frame.rooms == rooms)] for u, v in square.values]
        for label, cell in zip(square.labels, cells, strict=True):
            assert abs(label - cell.mean()) == abs(cell - cell.mean()).min()
        assert square.weight == math.prod(map(len, cells))
        weights.append(square.weight)
    assert len(weights) == 4
    assert weights == sorted(weights, reverse=True)


def test_text_and_figures_of_numbers_are_in_their_unit():
    frame, price = houses()
    found = interactions(frame, price)
    text = all_said(found)
    assert f"city garden {three_digits(2 * math.sqrt(np.nanmax(found.effect)))} " in text
    assert "size: by how much the difference in the mean of 'price' between two values of one feature differs" in text
    assert "index" not in text
    pair = found["city", "garden"]
    lines = repr(pair).splitlines()
    assert lines[0].startswith("'city' and 'garden': the effect of one on 'price' differs by ")
    assert max(map(len, lines)) <= 80
    n, mean = pair.counts[0, 0, 0], pair.means[0, 0]
    assert f"{round(mean, -2):,.0f} ({n})" in repr(pair)
    assert "rows near the means, " in repr(pair)
    ax = pair.plot()
    assert ax.get_title(loc="left") == "Mean of 'price'"
    assert f"{round(mean, -2):,.0f}\n{n} rows" in [text.get_text() for text in ax.texts]
    assert found.plot().get_xlim()[1] < 2.1 * 2 * math.sqrt(np.nanmax(found.effect))
    log = interactions(frame, price, scale="log")["city", "garden"]
    ulm = np.log(price[(frame.city == log.first_values[0]) & (frame.garden == log.second_values[0])])
    assert log.means[0, 0] == pytest.approx(math.exp(ulm.mean()))
    many = repr(log)
    assert "geometric mean of 'price'" in many
    assert " % with the" in many
    assert "mean rank of 'price'" in repr(interactions(frame, price, scale="ranks")["city", "garden"])


def test_of_many_pairs_those_are_tested_that_explain_what_is_left_of_a_number():
    rng = np.random.default_rng(1)
    X = rng.integers(0, 2, size=(1000, 102))
    y, screened = 2 * X[:, 7] + (X[:, 5] ^ X[:, 30]) + rng.normal(size=1000), []
    for unit in (1e-4, 1e4):
        study = Study(X, unit * y)
        found = interactions(study)
        assert len(found) < found.n_possible
        assert found.ranking()[0] == ("x5", "x30")
        screened.append({pair: z for z, pair in study.explanation.likely(range(102))})
    assert screened[0] == pytest.approx(screened[1], abs=1e-3)


def test_classes_in_order_have_mean_places():
    rng = np.random.default_rng(2)
    X = rng.integers(0, 2, size=(300, 2))
    place = X[:, 0] * X[:, 1] + rng.integers(0, 2, 300)
    found = interactions(X, np.array(["low", "medium", "high"])[place], ordered=["low", "medium", "high"])["x0", "x1"]
    means = [[place[((u, v) == X).all(axis=1)].mean() for v in (0, 1)] for u in (0, 1)]
    assert found.means == pytest.approx(np.array(means))
    assert 0.8 < 2 * math.sqrt(found["effect"]) < 1.2
    assert "differs by" in repr(found)
    assert "steps with the other" in " ".join(repr(found).split())
