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
from analogical import InputError, _audit, audit
from analogical.presenting.views import view_of
from analogical.scoring import differences


def random_rows(seed, n=9, n_values=2, n_labels=2):
    rng = np.random.default_rng(seed)
    rows = [(int(a), int(b)) for a, b in rng.integers(0, [n_values, 2], size=(n, 2))]
    labels = rng.integers(0, n_labels, size=n).tolist()
    return [(0, 0), (1, 0), *rows], [0, 1, *labels]


def conclusion(result):
    """The sentence about the direction."""
    (sentence,) = view_of(result).findings
    return sentence


@pytest.mark.parametrize("seed", range(25))
def test_direction_and_test_equal_loops_over_pairs_and_deals(seed):
    rows, labels = random_rows(seed, n=5)
    (found,) = audit(rows, labels, 0).differences
    a, b = found.values
    gained, lost = naive_direction(rows, labels, 0, a, b, found.label)
    assert (found.gained, found.lost) == (gained, lost)
    assert found.difference == (gained - lost) / found.pairs
    dealt = [naive_direction(rows, deal, 0, a, b, found.label) for deal in naive_deals(rows, labels, 0)]
    sizes = [abs(g - k) for g, k in dealt]
    assert found.p_value == pytest.approx(sum(s >= abs(gained - lost) for s in sizes) / len(sizes))
    assert found.smallest_p == pytest.approx(sum(s == max(sizes) for s in sizes) / len(sizes) if max(sizes) else 1)
    assert found.difference_low <= found.difference_high


@pytest.mark.parametrize("seed", range(15))
def test_variance_of_the_difference_equals_deleting_one_row_at_a_time(seed, monkeypatch):
    rows, labels = random_rows(seed, n=12)
    seen = []
    original = differences.difference_interval
    monkeypatch.setattr(differences, "difference_interval", lambda *given: seen.append(given[3]) or original(*given))
    (found,) = audit(rows, labels, 0).differences
    without = []
    for r in range(len(rows)):
        left, kept = rows[:r] + rows[r + 1 :], labels[:r] + labels[r + 1 :]
        gained, lost = naive_direction(left, kept, 0, *found.values, found.label)
        n = sum(x[1] == y[1] and x[0] != y[0] for i, x in enumerate(left) for y in left[:i])
        without.append((gained - lost) / n if n else found.difference)
    in_pairs = [r for r, row in enumerate(rows) if any(o[1] == row[1] and o[0] != row[0] for o in rows)]
    moved = np.array(without)[in_pairs]  # rows without pairs move nothing
    n = len(moved)
    assert seen[0] == pytest.approx((n - 1) / n * ((moved - moved.mean()) ** 2).sum(), abs=1e-12)


ONE_SIGMA = 0.6826894921370859
"""Level at which the normal quantile is 1."""


@pytest.mark.parametrize(
    ("numbers", "expected"),
    [
        # As many independent pairs as pairs: (8 + .5) / 20 and (2 + .5) / 20; sqrt((.55 - .3**2) / 20) = .151658.
        ((18, 8, 2, 1e-9, 36, ONE_SIGMA), (0.3 - 0.151658, 0.3 + 0.151658)),
        # The same at 95 %: .151658 times 1.959964.
        ((18, 8, 2, 1e-9, 36, 0.95), (0.3 - 0.297243, 0.3 + 0.297243)),
        # Pairs of variance .5 - .3**2 = .41; .0451 - .41 / 100 = .041, so 10 independent pairs: 4.5 / 12 and 1.5 / 12.
        ((100, 40, 10, 0.0451, 50, ONE_SIGMA), (0.25 - 0.190941, 0.25 + 0.190941)),
        # The other direction mirrors it.
        ((100, 10, 40, 0.0451, 50, ONE_SIGMA), (-0.25 - 0.190941, -0.25 + 0.190941)),
        # Nothing changed: half of the 28 rows are 14 pairs; .5 / 16 twice; sqrt(.0625 / 16) = .0625.
        ((100, 0, 0, 0.0, 28, ONE_SIGMA), (-0.0625, 0.0625)),
        # Everything changed, 2 pairs: 2.5 / 4 and .5 / 4; .5 - 1.959964 * sqrt(.5 / 4); not above 1.
        ((2, 2, 0, 0.0, 4, 0.95), (0.5 - 0.692952, 1.0)),
        ((2, 0, 2, 0.0, 4, 0.95), (-1.0, 0.692952 - 0.5)),
    ],
)
def test_interval_of_the_difference_worked_out_by_hand(numbers, expected):
    assert differences.difference_interval(*numbers) == pytest.approx(expected, abs=2e-6)


def test_audit_reports_that_interval():
    """Eighteen contexts with a row of each value: 8 gain the label, 2 lose it, 8 keep it."""
    rows = [(value, context) for context in range(18) for value in "ab"]
    labels = [label for two in [(0, 1)] * 8 + [(1, 0)] * 2 + [(1, 1)] * 8 for label in two]
    (found,) = audit(rows, labels, 0, confidence=ONE_SIGMA).differences
    # Without a row its pair is gone: both rows of a pair move the difference 1/3 by (1/3 - part) / 17. The parts have
    # the variance 10/18 - 1/9 = 4/9, so the jackknife is 35/36 * 36 * 4/9 / 17**2 = .053825, less 4/9 / 18 = .029134,
    # which is worth 15.2552 pairs: (6.78009 + .5) / 17.2552 = .421907 and (1.69502 + .5) / 17.2552 = .127209.
    half = np.sqrt((0.421907 + 0.127209 - 0.294698**2) / 17.2552)
    assert (found.gained, found.lost, found.pairs) == (8, 2, 18)
    assert found.difference == pytest.approx(1 / 3)
    assert found.difference_low == pytest.approx(0.294698 - half, abs=1e-5)
    assert found.difference_high == pytest.approx(0.294698 + half, abs=1e-5)


@given(st.integers(0, 12), st.integers(0, 12), st.integers(0, 5))
def test_one_row_of_each_value_per_context_is_mcnemars_exact_test(gained, lost, same):
    outcomes = [(0, 1)] * gained + [(1, 0)] * lost + [(1, 1)] * same + [(0, 0)]
    a, b = np.array(outcomes).T
    ones = np.ones(len(outcomes), dtype=np.int64)
    p, smallest = differences.exact_test(ones, ones, a, b)
    n = gained + lost
    assert p == pytest.approx(binomtest(gained, n).pvalue if n else 1.0)
    assert smallest == pytest.approx(min(2 * 0.5**n, 1.0) if n else 1.0)


def test_one_context_is_fishers_exact_test():
    a, b, a_with, b_with = (np.array([n]) for n in (10, 10, 3, 8))
    assert differences.exact_test(a, b, a_with, b_with)[0] == pytest.approx(fisher_exact([[3, 7], [8, 2]]).pvalue)


def test_a_long_test_is_close_to_the_exact_one(monkeypatch):
    rng = np.random.default_rng(0)
    a, b = rng.integers(1, 9, size=(2, 60))
    a_with, b_with = rng.binomial(a, 0.3), rng.binomial(b, 0.4)
    exact, _ = differences.exact_test(a, b, a_with, b_with)
    monkeypatch.setattr(differences, "MAX_WORK", 0)
    close, smallest = differences.exact_test(a, b, a_with, b_with)
    assert close == pytest.approx(exact, rel=0.1)
    assert smallest == 0.0


def test_berkeley_within_departments():
    result = audit(analogical.load_table("berkeley").to_frame("polars"), "admitted", "gender", weights="count")
    (found,) = result.differences
    assert (result.n_pairs, result.n_changed, result.n_compared) == (654_456, 246_696, 4_526)
    assert (found.gained, found.lost) == (130_731, 115_965)
    assert found.crude == pytest.approx(557 / 1835 - 1198 / 2691)
    assert found.p_value > 0.1
    assert result.finding == "mixed"
    assert conclusion(result).startswith("No direction is significant; the interval shows what is still possible.")
    assert "in one direction or the other (p = .001)" in conclusion(result)
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
    (found,) = result.differences
    sign = 1 if found.values == ("woman", "man") else -1
    low, high = sorted((sign * found.difference_low, sign * found.difference_high))
    assert low < 0.12 < high
    assert high - low < 0.06
    assert result.finding == "direction"
    assert conclusion(result) == "'yes' is significantly more frequent for man."
    assert result.given == ("income", "debt")
    fair = audit(loans(bias=0.0), "approved", "gender", features="income")
    assert fair.differences[0].p_value > 0.05
    assert fair.given == ("income",)


def test_without_ignoring_the_id_nothing_is_equal():
    result = audit(loans(n=50), "approved", "gender")
    assert result.n_pairs == 0
    assert result.differences == ()
    assert result.finding == "no-pairs"
    assert conclusion(result).startswith("Nothing can be said: no two rows are equal on id, income and debt")
    content = json.loads(json.dumps(result.to_dict()))
    assert content["ari"] is content["p_value"] is content["noise"]["rate"] is None


def test_too_few_pairs_are_said_to_be_too_few():
    rows = [(value, context) for context in range(4) for value in "ab"]
    result = audit(rows, [0, 1] * 4, 0)
    assert result.differences[0].p_value == pytest.approx(2 * 0.5**4)
    assert result.finding == "too-few-pairs"
    assert conclusion(result).startswith("Too few pairs to tell: whatever the labels of these 8 rows had been")
    enough = audit([(v, c) for c in range(8) for v in "ab"], [0, 1] * 8, 0)
    assert conclusion(enough) == "'1' is significantly more frequent for b."


def test_many_values_and_labels_get_a_table():
    rng = np.random.default_rng(12)
    frame = pd.DataFrame({"town": rng.choice(list("abc"), 300), "size": rng.choice(["s", "l"], 300)})
    label = np.where(frame["town"] == "a", "red", rng.choice(["red", "green", "blue"], 300))
    result = audit(frame, label, "town")
    assert len(result.differences) == 9
    assert {found.label for found in result.differences} == {"red", "green", "blue"}
    for two in {found.values for found in result.differences}:
        some = [found for found in result.differences if found.values == two]
        assert sum(found.difference for found in some) == pytest.approx(0, abs=1e-12)
        assert sum(found.gained for found in some) == some[0].changed
    assert all(found.p_value <= found.p_adjusted <= 1 for found in result.differences)
    assert "the largest: 'red' is more frequent for a than for" in conclusion(result)
    assert "from  to  label" in repr(result)
    assert max(len(line) for line in repr(result).splitlines()) <= 80


def test_long_tables_show_the_largest_differences():
    rng = np.random.default_rng(13)
    result = audit(rng.integers(0, 12, size=(400, 1)), rng.integers(0, 2, 400), 0)
    assert len(result.differences) == 66
    (table,) = view_of(result).tables
    assert len(table.rows) == 30
    points = [abs(float(row[6].text)) for row in table.rows]
    assert points == sorted(points, reverse=True)
    assert "The 30 largest are shown; to_dict() and --json have the other 36." in table.note


def test_very_many_values_are_compared_where_there_are_most_pairs(monkeypatch):
    monkeypatch.setattr(_audit, "MAX_COMPARISONS", 3)
    rows = [(value,) for value, n in zip("abcde", (1, 2, 3, 4, 5), strict=True) for _ in range(n)]
    result = audit(rows, [r % 2 for r in range(len(rows))], 0)
    assert [found.values for found in result.differences] == [("b", "e"), ("c", "d"), ("c", "e"), ("d", "e")][1:]
    assert result.n_comparisons == 10
    assert "Of 10 comparisons those with the most pairs were made." in view_of(result).tables[0].note


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
        assert audit(table, y, "a", features=["b"], feature_names=["a", "b", "c"]).n_pairs == 2
    assert audit(X, y, 0).n_pairs == 0


def test_labels_that_cannot_be_sorted_are_followed_by_name():
    assert audit([(0,), (1,)], ["a", 1], 0).differences[0].label == "a"


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
        ({"features": ["b"], "ignore": ["c"]}, "features and ignore exclude each other"),
        ({"features": ["z"]}, "The table has no column 'z' to take as features"),
        ({"ignore": ["a"]}, "ignore names 'a', the feature that is audited; leave it out of ignore"),
        ({"features": ["a"]}, "features names 'a', the feature that is audited; leave it out of features"),
        ({"ignore": 3}, r"ignore must be a name or a position from 0 to 2 \(the table has 3 features\), got 3"),
        ({"feature": "z"}, "The table has no column 'z' to take as feature"),
        ({"features": ["y"]}, "features names 'y', which is the label; leave it out of features"),
        ({"y": "z", "features": ["b"]}, "The table has no column 'z' to take as label"),
        ({"confidence": None}, "confidence must be a number between 0 and 1 for an audit"),
        ({"confidence": 95}, "confidence must be a number between 0 and 1"),
        ({"limit": -1}, "limit must be a whole number from 0, or None for all pairs, got -1"),
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
        ([], {}, "The label 'y' has 2 values and X has 0 rows"),
        (np.empty((2, 0), int), {}, "The table has no column 'x0' to take as features|The table has no features"),
        (None, {}, "X must be a table"),
        ([(0, 1), (1, 1)], {"feature_names": ["a"]}, "feature_names must have one name for each of the 2 features"),
        (pd.DataFrame([(0, 1), (1, 1)], columns=["x0", "x0"]), {}, "Column names must differ"),
    ],
)
def test_what_is_not_a_table_is_refused_as_everywhere(X, settings, message):
    with pytest.raises(InputError, match=message):
        audit(X, [0, 1], "x0", features=["x1"], **settings)


def test_names_given_for_the_columns_of_a_dataframe():
    frame = pd.DataFrame({"a": [0, 1, 1, 0], "b": [0, 0, 1, 1], "n": [1, 2, 0, 3], "y": [0, 1, 1, 0]})
    assert audit(frame, "y", "a", features="b", weights="n").n_pairs == 2
    named = audit(frame, "y", "p", ignore="q", weights="n", feature_names=["p", "q"])
    assert (named.feature, named.given, named.n_pairs) == ("p", (), 8)


def test_a_position_counts_all_columns_of_the_table():
    X = np.array([[a, b, c] for a in (0, 1) for b in (0, 1) for c in (0, 1)])
    assert audit(X, X[:, 1], 1).feature == "x1"
    assert audit(X, X[:, 1], 1, ignore=["x0"]).feature == "x1"
    assert audit(X, X[:, 1], 2, features=["x0"]).feature == "x2"


@pytest.mark.parametrize("wrong", [3.5, object()])
@pytest.mark.parametrize("option", ["features", "ignore"])
def test_what_is_not_a_list_of_columns_is_refused(option, wrong):
    with pytest.raises(InputError, match=f"{option} must be a list of column names, got"):
        audit([(0, 1), (1, 1)], [0, 1], 0, **{option: wrong})


@given(st.permutations("pqr"), st.integers(0, 200))
def test_renaming_values_changes_no_effect(names, seed):
    rows, labels = random_rows(seed, n=10, n_values=3)
    plain = audit(rows, labels, 0)
    renamed = audit([(names[a], b) for a, b in rows], labels, 0)
    numbers = (
        "pairs",
        "changed",
        "gained",
        "lost",
        "difference",
        "difference_low",
        "difference_high",
        "p_value",
        "p_adjusted",
    )
    assert [[getattr(e, n) for n in numbers] for e in plain.differences] == [
        [getattr(e, n) for n in numbers] for e in renamed.differences
    ]
