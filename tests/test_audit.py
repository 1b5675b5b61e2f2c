"""The all-else-equal audit, against loops over pairs, rows and deals of labels."""

import json

import numpy as np
import pandas as pd
import pytest
from hypothesis import given
from hypothesis import strategies as st
from naive import naive_deals, naive_direction
from scipy.stats import binomtest, fisher_exact

import analogical
from analogical import InputError, audit
from analogical import _audit as module


def random_rows(seed, n=9, n_values=2, n_labels=2):
    rng = np.random.default_rng(seed)
    rows = [(int(a), int(b)) for a, b in rng.integers(0, [n_values, 2], size=(n, 2))]
    labels = rng.integers(0, n_labels, size=n).tolist()
    return [(0, 0), (1, 0), *rows], [0, 1, *labels]


@pytest.mark.parametrize("seed", range(25))
def test_direction_and_test_equal_loops_over_pairs_and_deals(seed):
    rows, labels = random_rows(seed, n=5)
    (effect,) = audit(rows, labels, 0).effects
    a, b = effect.values
    gained, lost = naive_direction(rows, labels, 0, a, b, effect.label)
    assert (effect.gained, effect.lost) == (gained, lost)
    assert effect.difference == (gained - lost) / effect.pairs
    dealt = [naive_direction(rows, deal, 0, a, b, effect.label) for deal in naive_deals(rows, labels, 0)]
    sizes = [abs(g - k) for g, k in dealt]
    assert effect.p_value == pytest.approx(sum(s >= abs(gained - lost) for s in sizes) / len(sizes))
    assert effect.smallest_p == pytest.approx(sum(s == max(sizes) for s in sizes) / len(sizes) if max(sizes) else 1)
    assert effect.ci_low <= effect.ci_high


@pytest.mark.parametrize("seed", range(15))
def test_variance_of_the_difference_equals_deleting_one_row_at_a_time(seed, monkeypatch):
    rows, labels = random_rows(seed, n=12)
    seen = []
    original = module.difference_interval
    monkeypatch.setattr(module, "difference_interval", lambda *given: seen.append(given[3]) or original(*given))
    (effect,) = audit(rows, labels, 0).effects
    without = []
    for r in range(len(rows)):
        left, kept = rows[:r] + rows[r + 1 :], labels[:r] + labels[r + 1 :]
        gained, lost = naive_direction(left, kept, 0, *effect.values, effect.label)
        n = sum(x[1] == y[1] and x[0] != y[0] for i, x in enumerate(left) for y in left[:i])
        without.append((gained - lost) / n if n else effect.difference)
    in_pairs = [r for r, row in enumerate(rows) if any(o[1] == row[1] and o[0] != row[0] for o in rows)]
    moved = np.array(without)[in_pairs]  # rows without pairs move nothing
    n = len(moved)
    assert seen[0] == pytest.approx((n - 1) / n * ((moved - moved.mean()) ** 2).sum(), abs=1e-12)


@given(st.integers(0, 12), st.integers(0, 12), st.integers(0, 5))
def test_one_row_of_each_value_per_context_is_mcnemars_exact_test(gained, lost, same):
    outcomes = [(0, 1)] * gained + [(1, 0)] * lost + [(1, 1)] * same + [(0, 0)]
    a, b = np.array(outcomes).T
    ones = np.ones(len(outcomes), dtype=np.int64)
    p, smallest = module.exact_test(ones, ones, a, b)
    n = gained + lost
    assert p == pytest.approx(binomtest(gained, n).pvalue if n else 1.0)
    assert smallest == pytest.approx(min(2 * 0.5**n, 1.0) if n else 1.0)


def test_one_context_is_fishers_exact_test():
    a, b, a_with, b_with = (np.array([n]) for n in (10, 10, 3, 8))
    assert module.exact_test(a, b, a_with, b_with)[0] == pytest.approx(fisher_exact([[3, 7], [8, 2]]).pvalue)


def test_a_long_test_is_close_to_the_exact_one(monkeypatch):
    rng = np.random.default_rng(0)
    a, b = rng.integers(1, 9, size=(2, 60))
    a_with, b_with = rng.binomial(a, 0.3), rng.binomial(b, 0.4)
    exact, _ = module.exact_test(a, b, a_with, b_with)
    monkeypatch.setattr(module, "MAX_WORK", 0)
    close, smallest = module.exact_test(a, b, a_with, b_with)
    assert close == pytest.approx(exact, rel=0.1)
    assert smallest == 0.0


def test_berkeley_within_departments():
    result = audit(analogical.load_table("berkeley").to_frame("polars"), "admitted", "gender", weights="count")
    (effect,) = result.effects
    assert (result.n_pairs, result.n_changed, result.n_compared) == (654_456, 246_696, 4_526)
    assert (effect.gained, effect.lost) == (130_731, 115_965)
    assert effect.crude == pytest.approx(557 / 1835 - 1198 / 2691)
    assert effect.p_value > 0.1
    assert "No direction can be told from chance" in result.conclusion()
    assert "in one direction or the other (p = .001)" in result.conclusion()
    assert "female has 'yes' 2.3 points more often than male" in repr(result)
    assert "14.2 points less often" in repr(result)


def loans(n=6000, bias=0.12, seed=11):
    rng = np.random.default_rng(seed)
    frame = pd.DataFrame(
        {
            "id": np.arange(n),
            "income": rng.choice(["low", "middle", "high"], n),
            "debt": rng.choice(["no", "some", "much"], n),
            "gender": rng.choice(["woman", "man"], n),
        }
    )
    chance = (
        0.3 + 0.2 * (frame["income"] == "high") - 0.1 * (frame["debt"] == "much") + bias * (frame["gender"] == "man")
    )
    return frame.assign(approved=np.where(rng.random(n) < chance, "yes", "no"))


def test_planted_bias_is_found_with_its_size():
    result = audit(loans(), "approved", "gender", ignore=["id"])
    (effect,) = result.effects
    sign = 1 if effect.values == ("woman", "man") else -1
    low, high = sorted((sign * effect.ci_low, sign * effect.ci_high))
    assert low < 0.12 < high
    assert high - low < 0.06
    assert result.conclusion() == "man gains 'yes': this direction is not chance."
    assert result.given == ("income", "debt")
    fair = audit(loans(bias=0.0), "approved", "gender", given="income")
    assert fair.effects[0].p_value > 0.05
    assert fair.given == ("income",)


def test_without_ignoring_the_id_nothing_is_equal():
    result = audit(loans(n=50), "approved", "gender")
    assert result.n_pairs == 0
    assert result.effects == ()
    assert result.conclusion().startswith("Nothing can be said: no two rows are equal on id, income and debt")
    content = json.loads(json.dumps(result.to_dict()))
    assert content["share"] is content["p_value"] is content["noise"]["rate"] is None


def test_too_few_pairs_are_said_to_be_too_few():
    rows = [(value, context) for context in range(4) for value in "ab"]
    result = audit(rows, [0, 1] * 4, 0)
    assert result.effects[0].p_value == pytest.approx(2 * 0.5**4)
    assert result.conclusion().startswith("Too few pairs to tell: whatever the labels of these 8 rows had done")
    enough = audit([(v, c) for c in range(8) for v in "ab"], [0, 1] * 8, 0)
    assert enough.conclusion() == "b gains 1: this direction is not chance."


def test_many_values_and_labels_get_a_table():
    rng = np.random.default_rng(12)
    frame = pd.DataFrame({"town": rng.choice(list("abc"), 300), "size": rng.choice(["s", "l"], 300)})
    label = np.where(frame["town"] == "a", "red", rng.choice(["red", "green", "blue"], 300))
    result = audit(frame, label, "town")
    assert len(result.effects) == 9
    assert {effect.label for effect in result.effects} == {"red", "green", "blue"}
    for two in {effect.values for effect in result.effects}:
        some = [effect for effect in result.effects if effect.values == two]
        assert sum(effect.difference for effect in some) == pytest.approx(0, abs=1e-12)
        assert sum(effect.gained for effect in some) == some[0].changed
    assert all(effect.p_value <= effect.p_adjusted <= 1 for effect in result.effects)
    assert "a gains 'red' on" in result.conclusion()
    assert "from  to  label" in repr(result)
    assert max(len(line) for line in repr(result).splitlines()) <= 80


def test_long_tables_show_the_largest_differences():
    rng = np.random.default_rng(13)
    result = audit(rng.integers(0, 12, size=(400, 1)), rng.integers(0, 2, 400), 0)
    assert len(result.effects) == 66
    assert len(result.table()) == 31
    assert "The 30 largest are shown; to_dict() and --json have the other 36." in result.table_note()


def test_very_many_values_are_compared_where_there_are_most_pairs(monkeypatch):
    monkeypatch.setattr(module, "MAX_COMPARISONS", 3)
    rows = [(value,) for value, n in zip("abcde", (1, 2, 3, 4, 5), strict=True) for _ in range(n)]
    result = audit(rows, [r % 2 for r in range(len(rows))], 0)
    assert [effect.values for effect in result.effects] == [("b", "e"), ("c", "d"), ("c", "e"), ("d", "e")][1:]
    assert result.n_comparisons == 10
    assert "Of 10 comparisons those with the most pairs were made." in result.table_note()


def test_examples_show_both_directions():
    result = audit(loans(), "approved", "gender", ignore="id", limit=4)
    assert len({pair.labels for pair in result.examples.pairs}) == 2
    assert audit(loans(), "approved", "gender", ignore="id", limit=0).examples.pairs == ()
    concordant = audit([(0, 0), (1, 0), (0, 1), (0, 2)], [1, 1, 0, 0], 0)
    assert len(concordant.examples.pairs) == 1


def test_arrays_and_lists_choose_columns_by_name():
    X = np.array([[0, 0, 5], [1, 0, 6], [0, 1, 7], [1, 1, 8]])
    y = [0, 1, 0, 1]
    for table in (X, X.tolist()):
        assert audit(table, y, "x0", ignore=["x2"]).given == ("x1",)
        assert audit(table, y, "a", given=["b"], feature_names=["a", "b", "c"]).n_pairs == 2
    assert audit(X, y, 0).n_pairs == 0


def test_labels_that_cannot_be_sorted_are_followed_by_name():
    assert audit([(0,), (1,)], ["a", 1], 0).effects[0].label == "a"


def test_noise_is_unknown_without_repeated_rows():
    assert "unknown, because no row repeats" in repr(audit([(0, 0), (1, 0), (0, 1)], [0, 1, 1], 0))


def test_many_given_columns_are_counted_not_listed():
    rows = np.zeros((4, 9), dtype=int)
    rows[:, 0] = 0, 1, 0, 1
    rows[2:, 1] = 1
    assert "the 8 other features" in repr(audit(rows, [0, 1, 0, 0], 0))
    assert "equal on no feature at all" in repr(audit(rows[:, :1], [0, 1, 0, 0], 0))


@pytest.mark.parametrize(
    ("settings", "message"),
    [
        ({"given": ["b"], "ignore": ["c"]}, "given and ignore exclude each other"),
        ({"given": ["z"]}, "The table has no column 'z' to take as given"),
        ({"ignore": ["a"]}, "ignore names 'a', the feature that is audited; leave it out of ignore"),
        ({"ignore": 3}, "ignore must be a list of column names, got 3"),
        ({"feature": "z"}, "The table has no column 'z' to take as feature"),
        ({"feature": 0, "given": ["b"]}, "feature must be a name when given or ignore choose columns by name"),
        ({"given": ["y"]}, "given names 'y', which is the label; leave it out of given"),
        ({"y": "z", "given": ["b"]}, "The table has no column 'z' to take as label"),
        ({"confidence": None}, "confidence must be a number between 0 and 1 for an audit"),
        ({"confidence": 95}, "confidence must be a number between 0 and 1"),
        ({"limit": -1}, "limit must be a whole number from 0, got -1"),
    ],
)
def test_bad_input_is_refused(settings, message):
    frame = pd.DataFrame({"a": [0, 1, 1], "b": [0, 0, 1], "c": [0, 0, 0], "y": [0, 1, 1]})
    with pytest.raises(InputError, match=message):
        audit(frame, **{"feature": "a", "y": "y"} | settings)


@pytest.mark.parametrize(
    ("X", "settings", "message"),
    [
        (np.arange(3), {}, "X must have two dimensions"),
        ([], {}, "The table is empty"),
        (None, {}, "X must be a table"),
        ([(0, 1), (1, 1)], {"feature_names": ["a"]}, "feature_names must have one name for each of the 2 features"),
        (pd.DataFrame([(0, 1), (1, 1)], columns=["x0", "x0"]), {}, "Column names must differ"),
    ],
)
def test_what_is_no_table_is_refused_as_everywhere(X, settings, message):
    with pytest.raises(InputError, match=message):
        audit(X, [0, 1], "x0", given=["x1"], **settings)


def test_names_given_for_the_columns_of_a_dataframe():
    frame = pd.DataFrame({"a": [0, 1, 1, 0], "b": [0, 0, 1, 1], "n": [1, 2, 0, 3], "y": [0, 1, 1, 0]})
    assert audit(frame, "y", "a", given="b", weights="n").n_pairs == 2
    named = audit(frame, "y", "p", ignore="q", weights="n", feature_names=["p", "q"])
    assert (named.feature, named.given, named.n_pairs) == ("p", (), 8)


@given(st.permutations("pqr"), st.integers(0, 200))
def test_renaming_values_changes_no_effect(names, seed):
    rows, labels = random_rows(seed, n=10, n_values=3)
    plain = audit(rows, labels, 0)
    renamed = audit([(names[a], b) for a, b in rows], labels, 0)
    numbers = ("pairs", "changed", "gained", "lost", "difference", "ci_low", "ci_high", "p_value", "p_adjusted")
    assert [[getattr(e, n) for n in numbers] for e in plain.effects] == [
        [getattr(e, n) for n in numbers] for e in renamed.effects
    ]
